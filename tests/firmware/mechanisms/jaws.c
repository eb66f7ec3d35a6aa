/* The two jaws of examples/gripper.c, pushed to and fro. */
#include "mechanism.h"
#define main jaws_main
#include "../../../examples/gripper.c"

static void command(mdyn_sim *s, int16_t step) {
    static const mdyn_real push[] = { MDYN_R(2.0), MDYN_R(-3.5), MDYN_R(1.0) };
    s->tau[LEFT_JAW] = IN_TURN(push, 37, step);
}

const specimen mechanism_jaws = { "jaws", &gripper, command, NULL };
