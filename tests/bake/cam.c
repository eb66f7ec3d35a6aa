/* A part of a program for bake.py: a cam that lifts a follower by a curve, which drags a spring. */
#define MIMICDYN_TREE 0
#define MIMICDYN_MAX_BODIES 3
#define MIMICDYN_MAX_COUPLINGS 2
#define MIMICDYN_MAX_CURVES 1
#define MIMICDYN_MAX_TERMS 2
#define MIMICDYN_SETTINGS 0
#define MIMICDYN_LCP 0
#include "mimicdyn.h"

static const mdyn_body cam_bodies[] = {
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .armature = MDYN_C(2e-3),
      .drive_kp = MDYN_C(5), .drive_kd = MDYN_C(0.05), .effort = MDYN_C(2), .name = "cam" },
    { .parent = MDYN_WORLD, .joint = MDYN_PRISMATIC, .armature = MDYN_C(0.1),
      .friction = MDYN_C(0.01), .name = "lifter" },
    { .parent = MDYN_WORLD, .joint = MDYN_PRISMATIC, .armature = MDYN_C(0.2), .name = "load" },
};
static const mdyn_curve cam_curves[] = { MDYN_POLYNOMIAL(0, 0, 0.02, 0.05, 0, 0) };
static const mdyn_coupling cam_couplings[] = {
    MDYN_FOLLOWS(1, 0, 0), MDYN_MIMIC_WITH(2, 1, 1, 0, MDYN_SPRING(200, 1), 0, "spring"),
};
static const mdyn_model cam = {
    .bodies = cam_bodies, .body_count = 3, .couplings = cam_couplings, .coupling_count = 2,
    .curves = cam_curves, .curve_count = 1, .dt = MDYN_C(0.001),
};
