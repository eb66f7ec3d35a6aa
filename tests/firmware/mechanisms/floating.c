/* A body that floats free, carries a wheel on a screw thread and a ball joint with a pendulum, and
   tumbles: couplings of speeds, across joints of several speeds. */
#include "mechanism.h"

enum { HULL, NUT, BALL, PENDULUM, BODIES };

static const mdyn_body bodies[BODIES] = {
    { .parent = MDYN_WORLD, .joint = MDYN_FREE, .mass = MDYN_C(12), .com = MDYN_V3(0.01, 0, -0.02),
      .inertia = MDYN_INERTIA(0.31, 0.42, 0.55, 0.01, -0.02, 0.015), .name = "hull" },
    { .parent = HULL, .joint = MDYN_HELICAL, .axis = MDYN_V3(1, 0, 0), .pitch = MDYN_C(0.002),
      .position = MDYN_V3(0.2, 0, 0), .mass = MDYN_C(0.7),
      .inertia = MDYN_INERTIA(0.002, 0.0012, 0.0012, 0, 0, 0), .friction = MDYN_C(0.02),
      .name = "nut" },
    { .parent = HULL, .joint = MDYN_SPHERICAL, .position = MDYN_V3(0, 0, -0.15),
      .mass = MDYN_C(1.5), .com = MDYN_V3(0.02, 0.01, -0.2),
      .inertia = MDYN_INERTIA(0.021, 0.022, 0.003, 0, 0.001, 0), .damping = MDYN_C(0.01),
      .name = "ball" },
    { .parent = BALL, .joint = MDYN_REVOLUTE, .axis = MDYN_V3(0.6, 0.8, 0),
      .position = MDYN_V3(0, 0, -0.4), .mass = MDYN_C(0.4), .com = MDYN_V3(0, 0, -0.1),
      .inertia = MDYN_INERTIA(0.002, 0.002, 0.0004, 0, 0, 0),
      .lower = MDYN_C(-1), .upper = MDYN_C(1), .name = "pendulum" },
};
static const mdyn_coupling couplings[] = {
    { .terms = { { NUT, 0, 0, MDYN_C(1) }, { BALL, 2, 0, MDYN_C(-3) },
                 { HULL, 0, 0, MDYN_C(0.5) } },
      .level = MDYN_VELOCITY, .effort = MDYN_C(0.75) },
    { .terms = { { BALL, 0, 0, MDYN_C(1) }, { PENDULUM, 0, 0, MDYN_C(0.5) } },
      .level = MDYN_VELOCITY },
};
static const mdyn_model adrift = {
    .bodies = bodies, .body_count = BODIES, .couplings = couplings, .coupling_count = 2,
    .gravity = MDYN_V3(0.5, 0, -2), .dt = MDYN_C(0.001),
};

static void command(mdyn_sim *s, int16_t step) {
    static const mdyn_real turn[] = { MDYN_R(1.5), MDYN_R(-2.25), MDYN_R(0.5) };
    static const mdyn_real lift[] = { MDYN_R(30.0), MDYN_R(24.0) };
    s->tau[0] = IN_TURN(turn, 170, step);
    s->tau[2] = IN_TURN(turn, 230, step);
    s->tau[6] = IN_TURN(turn, 310, step);
    s->wrench[BALL].force.z = IN_TURN(lift, 250, step);
}

const specimen mechanism_floating = { "floating", &adrift, command, NULL };
