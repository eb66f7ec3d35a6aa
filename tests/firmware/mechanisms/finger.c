/* examples/finger.c: a tendon that pulls three joints past a stop, and lets go. */
#include "mechanism.h"
#define main finger_main
#include "../../../examples/finger.c"

static void command(mdyn_sim *s, int16_t step) {
    static const mdyn_real wind[] = { MDYN_R(0.0625), MDYN_R(-0.03125) };
    s->tau[MOTOR] = IN_TURN(wind, 400, step);
}

const specimen mechanism_finger = { "finger", &finger, command, NULL };
