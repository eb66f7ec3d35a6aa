/* robot_panda.c - the Panda with its hand from its description: holds its home position against
   gravity while the hand closes.
   Checked: the torque against gravity of each joint is the slope of the potential energy (central
   difference); the fingers move alike and stop at their limit.
   By hand: cc -O2 examples/robot_panda.c -lm -o robot && ./robot */

#include "robots/panda_hand.h"
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "robots/panda_hand.h"
#include "check.h"
#include <string.h>

static mdyn_sim sim;

static double potential_with(int joint, mdyn_real change)
{
    mdyn_wide kinetic, potential;
    sim.q[joint] += change;
    must(&sim, mdyn_energy(&sim, &kinetic, &potential));
    sim.q[joint] -= change;
    return wide(potential);
}

int main(void)
{
    mdyn_wide bias[PANDA_HAND_BODIES];
    double worst = 0, unlike = 0;
    int i, step;

    must(&sim, mdyn_init(&sim, &panda_hand_model));
    memcpy(sim.target, panda_hand_start, sizeof panda_hand_start);
    must(&sim, mdyn_bias_force(&sim, bias));
    for (i = 0; i < 7; i++) {
        double rise = potential_with(i, MDYN_R(0.01)) - potential_with(i, -MDYN_R(0.01));
        worst = worse(worst, fabs(rise / (2 * sin(0.01)) - wide(bias[i])));
    }
    CHECK("gravity's torque against the energy [N m]", worst, 0, BY_SCALAR(1e-11, 1e-3, 1e-5));
    for (step = 0; step < 500; step++) {
        for (i = 0; i < 7; i++) sim.tau[i] = mdyn_real_of(bias[i]);
        sim.tau[PANDA_HAND_FINGER_JOINT1] = -MDYN_R(10.0);
        must(&sim, mdyn_step(&sim));
        unlike = worse(unlike, fabs(real(sim.q[PANDA_HAND_FINGER_JOINT1])
                                    - real(sim.q[PANDA_HAND_FINGER_JOINT2])));
    }
    CHECK("fingers differ by [m]", unlike, 0, BY_SCALAR(1e-14, 1e-8, 1e-11));
    CHECK("fingers stop at [m]", real(sim.q[PANDA_HAND_FINGER_JOINT1]), 0,
          BY_SCALAR(1e-9, 1e-7, 1e-9));
    for (worst = 0, i = 0; i < 7; i++)
        worst = worse(worst, fabs(real(sim.q[i]) - real(panda_hand_start[i])));
    CHECK("the arm has moved by [rad]", worst, 0, BY_SCALAR(1e-4, 1e-4, 1e-4));
    return check_result();
}
