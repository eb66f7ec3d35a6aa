/* A part of a program for bake.py: the 2F-85 gripper. */
#define MIMICDYN_MAX_BODIES 9
#define MIMICDYN_MAX_DOFS 6
#define MIMICDYN_MAX_COUPLINGS 5
#define MIMICDYN_MAX_ROWS 7 /* 5 couplings, 1 drive, 1 limit */
#define MIMICDYN_MAX_TERMS 2
#define MIMICDYN_MAX_ENTRIES 50
#define MIMICDYN_QUATERNIONS 0
#define MIMICDYN_WRENCHES 0
#define MIMICDYN_WARNINGS 0
#define MIMICDYN_SETTINGS 0
#define MIMICDYN_LOSSES 0
#define MIMICDYN_LCP 0
#include "mimicdyn.h"
#include "examples/robots/robotiq_2f85.h"

static const mdyn_coupling gripper_couplings[] = { ROBOTIQ_2F85_MIMICS };
static const mdyn_model gripper = {
    .bodies = robotiq_2f85_bodies, .body_count = ROBOTIQ_BODIES,
    .couplings = gripper_couplings, .coupling_count = ROBOTIQ_MIMICS,
    .gravity = MDYN_V3(0, 0, -9.81), .dt = MDYN_C(0.001),
};
