/* A part of a program for bake.py: sun, ring and carrier of a planetary gear as rotors. */
#define MIMICDYN_TREE 0
#define MIMICDYN_MAX_BODIES 3
#define MIMICDYN_MAX_COUPLINGS 1
#define MIMICDYN_MAX_ROWS 1
#define MIMICDYN_MAX_TERMS 3
#define MIMICDYN_MAX_ENTRIES 12
#define MIMICDYN_WARNINGS 0
#define MIMICDYN_SETTINGS 0
#define MIMICDYN_LOSSES 0
#define MIMICDYN_LCP 0
#include "mimicdyn.h"

static const mdyn_body planet_bodies[] = {
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .armature = MDYN_C(1e-5) },
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .armature = MDYN_C(4e-4) },
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .armature = MDYN_C(2e-4),
      .damping = MDYN_C(0.001) },
};
static const mdyn_coupling planet_couplings[] = {
    { .terms = { MDYN_TERM(0, 12), MDYN_TERM(1, 36), MDYN_TERM(2, -48) } },
};
static const mdyn_model planet = {
    .bodies = planet_bodies, .body_count = 3, .couplings = planet_couplings, .coupling_count = 1,
    .dt = MDYN_C(0.001),
};
