/* A part of a program for bake.py: four axes with drives, friction and stops, two of them one
   beam. */
#define MIMICDYN_TREE 0
#define MIMICDYN_MAX_BODIES 4
#define MIMICDYN_MAX_COUPLINGS 1
#define MIMICDYN_MAX_ROWS 13
#define MIMICDYN_MAX_TERMS 2
#define MIMICDYN_MAX_ENTRIES 60
#define MIMICDYN_WARNINGS 0
#define MIMICDYN_SETTINGS 0
#define MIMICDYN_LOSSES 0
#define MIMICDYN_LCP 0
#include "mimicdyn.h"

#define GANTRY_AXIS(inertia) { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, \
    .armature = MDYN_C(inertia), .drive_kp = MDYN_C(5), .drive_kd = MDYN_C(0.05), \
    .effort = MDYN_C(2), .friction = MDYN_C(0.01), .lower = MDYN_C(-0.2), .upper = MDYN_C(0.3) }
static const mdyn_body gantry_bodies[] = {
    GANTRY_AXIS(2e-4), GANTRY_AXIS(2.4e-4), GANTRY_AXIS(3e-4), GANTRY_AXIS(1e-4),
};
static const mdyn_coupling gantry_couplings[] = {
    { .terms = { MDYN_TERM(0, 1), MDYN_TERM(1, -1) } },
};
static const mdyn_model gantry = {
    .bodies = gantry_bodies, .body_count = 4, .couplings = gantry_couplings, .coupling_count = 1,
    .dt = MDYN_C(0.001),
};
