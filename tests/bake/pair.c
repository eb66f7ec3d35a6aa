/* A part of a program for bake.py: two motors geared 5 : 2 by a limited force, one with a drive,
   the other with friction. */
#define MIMICDYN_TREE 0
#define MIMICDYN_MAX_BODIES 2
#define MIMICDYN_MAX_COUPLINGS 1
#define MIMICDYN_MAX_ROWS 3
#define MIMICDYN_MAX_TERMS 2
#define MIMICDYN_MAX_ENTRIES 20
#define MIMICDYN_WARNINGS 0
#define MIMICDYN_SETTINGS 0
#define MIMICDYN_LOSSES 0
#define MIMICDYN_LCP 0
#include "mimicdyn.h"

static const mdyn_body pair_bodies[] = {
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .armature = MDYN_C(2e-4),
      .drive_kp = MDYN_C(2), .drive_kd = MDYN_C(0.02), .effort = MDYN_C(0.5) },
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .armature = MDYN_C(3e-4),
      .friction = MDYN_C(0.01) },
};
static const mdyn_coupling pair_couplings[] = {
    { .terms = { MDYN_TERM(0, 2), MDYN_TERM(1, -5) }, .effort = MDYN_C(0.15) },
};
static const mdyn_model pair = {
    .bodies = pair_bodies, .body_count = 2, .couplings = pair_couplings, .coupling_count = 1,
    .dt = MDYN_C(0.001),
};
