/* A part of a program for bake.py: bodies on a slider, a screw and hinges, one of them driven by a
   spring; a stop. */
#define MIMICDYN_MAX_BODIES 4
#define MIMICDYN_MAX_COUPLINGS 2
#define MIMICDYN_MAX_ROWS 5
#define MIMICDYN_MAX_TERMS 2
#define MIMICDYN_MAX_ENTRIES 80
#define MIMICDYN_QUATERNIONS 0
#define MIMICDYN_WARNINGS 0
#define MIMICDYN_SETTINGS 0
#define MIMICDYN_LOSSES 0
#define MIMICDYN_LCP 0
#include "mimicdyn.h"

#define PRESS_BODY(on, kind) .parent = on, .joint = kind, .mass = MDYN_C(0.5), \
    .position = MDYN_V3(0.1, 0, 0.05), .com = MDYN_V3(0.05, 0, 0.02), \
    .inertia = MDYN_INERTIA(1e-3, 2e-3, 2e-3, 0, 0, 0)
static const mdyn_body press_bodies[] = {
    { PRESS_BODY(MDYN_WORLD, MDYN_PRISMATIC), .lower = MDYN_C(-0.02), .upper = MDYN_C(0.03),
      .drive_kp = MDYN_C(400), .drive_kd = MDYN_C(10) },
    { PRESS_BODY(0, MDYN_HELICAL), .pitch = MDYN_C(0.01) },
    { PRESS_BODY(1, MDYN_REVOLUTE), .axis = MDYN_V3(0, 1, 0), .friction = MDYN_C(0.01) },
    { PRESS_BODY(2, MDYN_REVOLUTE), .axis = MDYN_V3(1, 0, 1) },
};
static const mdyn_coupling press_couplings[] = {
    { .terms = { MDYN_TERM(2, 1), MDYN_TERM(3, -1) }, .softness = MDYN_SPRING(5, 0.05) },
    { .terms = { MDYN_TERM(0, 50), MDYN_TERM(1, -1) }, .effort = MDYN_C(0.5) },
};
static const mdyn_model press = {
    .bodies = press_bodies, .body_count = 4, .couplings = press_couplings, .coupling_count = 2,
    .gravity = MDYN_V3(0, 0, -9.81), .dt = MDYN_C(0.001),
};
