/* A part of a program for bake.py: three rotors and a slider without a tree, with rows of most
   kinds: couplings eliminated, soft, and of limited effort; drive, friction, limit. */
#define MIMICDYN_TREE 0
#define MIMICDYN_MAX_BODIES 4
#define MIMICDYN_MAX_COUPLINGS 3
#define MIMICDYN_MAX_ROWS 6
#define MIMICDYN_MAX_TERMS 2
#define MIMICDYN_MAX_ENTRIES 24
#define MIMICDYN_WARNINGS 0
#define MIMICDYN_SETTINGS 0
#define MIMICDYN_LOSSES 0
#define MIMICDYN_LCP 0
#include "mimicdyn.h"

static const mdyn_body gear_bodies[] = {
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .armature = MDYN_C(2e-4),
      .drive_kp = MDYN_C(2), .drive_kd = MDYN_C(0.02), .effort = MDYN_C(0.5) },
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .armature = MDYN_C(3e-4),
      .friction = MDYN_C(0.01) },
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .armature = MDYN_C(1e-4),
      .damping = MDYN_C(0.001) },
    { .parent = MDYN_WORLD, .joint = MDYN_PRISMATIC, .armature = MDYN_C(0.2),
      .lower = MDYN_C(-0.003), .upper = MDYN_C(0.004) },
};
static const mdyn_coupling gear_couplings[] = {
    { .terms = { MDYN_TERM(0, 2), MDYN_TERM(1, -5) }, .effort = MDYN_C(0.15) },
    { .terms = { MDYN_TERM(1, 12), MDYN_TERM(2, 30) } },
    { .terms = { MDYN_TERM(2, 0.01), MDYN_TERM(3, -1) }, .softness = MDYN_SPRING(900, 3) },
};
static const mdyn_real gear_start[] = { MDYN_R(0.01), MDYN_R(0.004), MDYN_R(-0.0016), MDYN_R(0) };
static const mdyn_model gear = {
    .bodies = gear_bodies, .body_count = 4, .couplings = gear_couplings, .coupling_count = 3,
    .start = gear_start, .dt = MDYN_C(0.001),
};
