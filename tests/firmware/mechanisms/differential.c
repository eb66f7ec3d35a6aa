/* examples/differential.c: two wheels and a ring gear under changing loads. */
#include "mechanism.h"
#define main differential_main
#include "../../../examples/differential.c"

static void command(mdyn_sim *s, int16_t step) {
    static const mdyn_real engine[] = { MDYN_R(120.0), MDYN_R(-40.0), MDYN_R(7.5) };
    static const mdyn_real load[] = { MDYN_R(-60.0), MDYN_R(20.25) };
    s->tau[RING] = IN_TURN(engine, 110, step);
    s->tau[LEFT] = IN_TURN(load, 130, step);
}

const specimen mechanism_differential = { "differential", &axle, command, NULL };
