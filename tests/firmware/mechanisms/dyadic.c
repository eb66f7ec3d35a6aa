/* Three bodies whose every constant is a fraction of few binary digits: a compiler whose double has
   32 bits makes the same tables of them in every scalar. A cart drives a pendulum; a flywheel is
   geared to the cart through a soft link. Limit, friction, drive, damping. */
#include "mechanism.h"

enum { CART, PENDULUM, WHEEL, BODIES };

static const mdyn_body bodies[BODIES] = {
    { .parent = MDYN_WORLD, .joint = MDYN_PRISMATIC, .axis = MDYN_V3(1, 0, 0),
      .mass = MDYN_C(0.75), .damping = MDYN_C(0.5), .lower = MDYN_C(-0.25), .upper = MDYN_C(0.25),
      .effort = MDYN_C(8), .drive_kp = MDYN_C(64), .drive_kd = MDYN_C(4), .name = "cart" },
    { .parent = CART, .joint = MDYN_REVOLUTE, .axis = MDYN_V3(0, 1, 0),
      .position = MDYN_V3(0, 0.125, 0), .mass = MDYN_C(0.375), .com = MDYN_V3(0.0625, 0, -0.5),
      .inertia = MDYN_INERTIA(0.03125, 0.03125, 0.001953125, 0, 0.0009765625, 0),
      .friction = MDYN_C(0.015625), .name = "pendulum" },
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .armature = MDYN_C(0.001953125),
      .name = "wheel" },
};
static const mdyn_coupling couplings[] = {
    { .terms = { MDYN_TERM(WHEEL, 0.0625), MDYN_TERM(CART, -1) },
      .softness = MDYN_SPRING(512, 8), .effort = MDYN_C(4) },
};
static const mdyn_model model = {
    .bodies = bodies, .body_count = BODIES, .couplings = couplings, .coupling_count = 1,
    .gravity = MDYN_V3(0, 0, -9.75), .dt = MDYN_C(0.0009765625),
};

static void command(mdyn_sim *s, int16_t step) {
    static const mdyn_real goal[] = { MDYN_R(0.1875), MDYN_R(-0.5), MDYN_R(0.375) };
    s->target[CART] = IN_TURN(goal, 500, step);
}

const specimen mechanism_dyadic = { "dyadic", &model, command, NULL };
