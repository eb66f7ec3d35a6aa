/* robot_planetary.c - a planetary actuator from its description: sun 12, planets 18, ring 48 teeth.
   Checked: the sun turns 1 + 48/12 = 5 times as far as the carrier, a planet 48/18 times as far
   against it; the sun's velocity is that of one inertia, all wheels seen at the sun.
   By hand: cc -O2 examples/robot_planetary.c -lm -o robot && ./robot */

#include "robots/planetary.h"
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "robots/planetary.h"
#include "check.h"

static mdyn_sim sim;

int main(void)
{
    /* At the carrier's unit rate a planet turns 1 - 48/18 in space, and travels at 15 mm. */
    const double turn = 1 - 48.0 / 18, torque = 0.01;
    const double carrier = 4e-5 + 3 * (0.015 * 0.015 * 0.015 + 6e-7 * turn * turn);
    const double inertia = 3.6e-7 + carrier / 25;
    double ratio = 0, spin = 0;
    int step;

    must(&sim, mdyn_init(&sim, &planetary_model));
    for (step = 0; step < 1000; step++) {
        sim.tau[PLANETARY_MOTOR] = step < 100 ? MDYN_R(0.01) : MDYN_R(0.0);
        must(&sim, mdyn_step(&sim));
        if (step == 99) {
            CHECK("velocity of the sun [rad/s]", real(sim.v[PLANETARY_MOTOR]),
                  0.1 * torque / inertia, BY_SCALAR(1e-10, 1e-2, 1e-4));
        }
        ratio = worse(ratio, fabs(real(sim.q[PLANETARY_MOTOR])
                                  - 5 * real(sim.q[PLANETARY_OUTPUT])));
        spin = worse(spin, fabs(real(sim.q[PLANETARY_SPIN3])
                                + 48.0 / 18 * real(sim.q[PLANETARY_OUTPUT])));
    }
    printf("  sun %.3f rad, carrier %.3f rad\n", real(sim.q[PLANETARY_MOTOR]),
           real(sim.q[PLANETARY_OUTPUT]));
    CHECK("the sun is off 5 carriers by [rad]", ratio, 0, BY_SCALAR(1e-11, 1e-3, 1e-9));
    CHECK("a planet is off by [rad]", spin, 0, BY_SCALAR(1e-11, 1e-3, 1e-9));
    return check_result();
}
