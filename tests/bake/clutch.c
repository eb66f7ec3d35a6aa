/* A part of a program for bake.py: rotors with couplings of all kinds that are not eliminated: a
   spring, two that say the same, a range, one of velocities with a bound, one that breaks, a speed
   that is wanted; and a differential, whose leaders share inertia. */
#define MIMICDYN_TREE 0
#define MIMICDYN_MAX_BODIES 9
#define MIMICDYN_MAX_COUPLINGS 8
#define MIMICDYN_MAX_ROWS 16
#define MIMICDYN_MAX_TERMS 3
#define MIMICDYN_MAX_ENTRIES 160
#define MIMICDYN_WARNINGS 0
#define MIMICDYN_SETTINGS 0
#define MIMICDYN_LOSSES 0
#define MIMICDYN_LCP 0
#include "mimicdyn.h"

#define CLUTCH_ROTOR .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .armature = MDYN_C(2e-4)
static const mdyn_body clutch_bodies[] = {
    { CLUTCH_ROTOR, .drive_kp = MDYN_C(2), .drive_kd = MDYN_C(0.02) },
    { CLUTCH_ROTOR },
    { CLUTCH_ROTOR, .damping = MDYN_C(0.001) },
    { CLUTCH_ROTOR, .friction = MDYN_C(0.002) },
    { CLUTCH_ROTOR, .lower = MDYN_C(-0.1), .upper = MDYN_C(0.1) },
    { CLUTCH_ROTOR },
    { CLUTCH_ROTOR },
    { CLUTCH_ROTOR },
};
static const mdyn_coupling clutch_couplings[] = {
    { .terms = { MDYN_TERM(0, 1), MDYN_TERM(1, 1), MDYN_TERM(2, -2) } },
    { .terms = { MDYN_TERM(2, 1), MDYN_TERM(3, -1) }, .softness = MDYN_FREQUENCY(300, 1) },
    { .terms = { MDYN_TERM(3, 1), MDYN_TERM(4, -1) }, .lower = MDYN_C(-0.05),
      .upper = MDYN_C(0.05) },
    { .terms = { MDYN_TERM(5, 1), MDYN_TERM(1, -2) }, .softness = MDYN_HARD(0.3) },
    { .terms = { MDYN_TERM(5, 2), MDYN_TERM(1, -4) }, .softness = MDYN_HARD(0.3) },
    { .terms = { MDYN_TERM(4, 1), MDYN_TERM(5, 1) }, .effort = MDYN_C(0.02), .breaks = 1 },
    { .terms = { MDYN_TERM(6, 1), MDYN_TERM(5, 1) }, .level = MDYN_VELOCITY,
      .target_velocity = MDYN_C(0.5) },
    { .terms = { MDYN_TERM(7, 1), MDYN_TERM(6, -1) }, .level = MDYN_VELOCITY,
      .lower = MDYN_C(-0.25), .upper = MDYN_C(0.5), .effort = MDYN_C(0.05) },
};
static const mdyn_model clutch = {
    .bodies = clutch_bodies, .body_count = 8, .couplings = clutch_couplings, .coupling_count = 8,
    .dt = MDYN_C(0.001),
};
