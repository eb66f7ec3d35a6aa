/* robot_shadow_fingers.c - two fingers of the Shadow hand from their description; one tendon pulls
   the middle and the distal joint of each.
   Checked: after two seconds the tendon's force is its stiffness times what is left of the way, and
   each of its joints balances it with gravity and dry friction; the other finger stays.
   By hand: cc -O2 examples/robot_shadow_fingers.c -lm -o robot && ./robot */

#include "robots/shadow_fingers.h"
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "robots/shadow_fingers.h"
#include "check.h"

static mdyn_sim sim;

int main(void)
{
    const int middle = SHADOW_FINGERS_FFJ2, distal = SHADOW_FINGERS_FFJ1;
    mdyn_wide bias[SHADOW_FINGERS_BODIES], on_middle, on_distal;
    double way;
    int step;

    must(&sim, mdyn_init(&sim, &shadow_fingers_model));
    must(&sim, mdyn_set_coupling_target(&sim, 0, MDYN_R(1.2), MDYN_R(0)));
    for (step = 0; step < 2000; step++) must(&sim, mdyn_step(&sim));

    must(&sim, mdyn_coupling_force(&sim, 0, 0, &on_middle));
    must(&sim, mdyn_coupling_force(&sim, 0, 1, &on_distal));
    must(&sim, mdyn_bias_force(&sim, bias));
    way = real(sim.q[middle]) + real(sim.q[distal]);
    printf("  middle %.4f rad, distal %.4f rad, tendon %.4f N m\n", real(sim.q[middle]),
           real(sim.q[distal]), wide(on_middle));
    CHECK("force on the middle joint [N m]", wide(on_middle), 0.5 * (1.2 - way), 1e-4);
    CHECK("the distal joint gets the same [N m]", wide(on_distal), wide(on_middle), 1e-7);
    CHECK("the distal joint is in balance [N m]", wide(on_distal) - wide(bias[distal]), 0, 0.0101);
    CHECK("the other finger's middle joint [rad]", real(sim.q[SHADOW_FINGERS_MFJ2]), 0, 1e-3);
    return check_result();
}
