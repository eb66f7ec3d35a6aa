/* The 2F-85 gripper of examples/robots/ with an object between its pads, as in examples/demo.c:
   a drive that closes it past the object and opens it. */
#include "mechanism.h"
#include "../../../examples/robots/robotiq_2f85.h"

static const mdyn_coupling couplings[] = {
    ROBOTIQ_2F85_MIMICS,
    { .terms = { MDYN_TERM(ROBOTIQ_LEFT_INNER_KNUCKLE, 0.0625),
                 MDYN_TERM(ROBOTIQ_RIGHT_INNER_KNUCKLE, -0.0625) },
      .offset = MDYN_C(-0.0546875), .softness = MDYN_SPRING(20000, 200),
      .lower = -MDYN_UNLIMITED, .upper = MDYN_C(0) },
};
static const mdyn_model gripper = {
    .bodies = robotiq_2f85_bodies, .body_count = ROBOTIQ_BODIES,
    .couplings = couplings, .coupling_count = ROBOTIQ_MIMICS + 1,
    .gravity = MDYN_V3(0, 0, -9.81), .dt = MDYN_C(0.001),
};

static void command(mdyn_sim *s, int16_t step) {
    static const mdyn_real goal[] = { MDYN_R(0.25), MDYN_R(0.6875), MDYN_R(0.0) };
    s->target[0] = IN_TURN(goal, 300, step); /* finger_joint has the first speed */
}

const specimen mechanism_robotiq = { "robotiq", &gripper, command, NULL };
