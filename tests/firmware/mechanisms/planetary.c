/* examples/planetary.c: sun, ring and carrier, nothing held. */
#include "mechanism.h"
#define main planetary_main
#include "../../../examples/planetary.c"

static void command(mdyn_sim *s, int16_t step) {
    static const mdyn_real on_sun[] = { MDYN_R(0.25), MDYN_R(-0.125), MDYN_R(0.0625) };
    static const mdyn_real on_carrier[] = { MDYN_R(-0.375), MDYN_R(0.5) };
    s->tau[SUN] = IN_TURN(on_sun, 70, step);
    s->tau[CARRIER] = IN_TURN(on_carrier, 90, step);
}

const specimen mechanism_planetary = { "planetary", &without_brake, command, NULL };
