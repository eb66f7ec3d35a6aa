/* examples/spring.c: two discs on a springy shaft, twisted to and fro. */
#include "mechanism.h"
#define main spring_main
#include "../../../examples/spring.c"

static const mdyn_model twisted = {
    .bodies = discs, .body_count = 2, .couplings = shaft, .coupling_count = 1,
    .dt = MDYN_C(0.001),
};

static void command(mdyn_sim *s, int16_t step) {
    static const mdyn_real twist[] = { MDYN_R(0.5), MDYN_R(-0.75), MDYN_R(0.0) };
    s->tau[LEFT] = IN_TURN(twist, 150, step);
}

const specimen mechanism_spring = { "spring", &twisted, command, NULL };
