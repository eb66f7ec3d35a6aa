/* robot_pr2_wrist.c - the PR2's wrist from its description: two motors and a differential.
   Checked: flex = (left - right) / (2 N) and roll = -(right + left) / (2 N) with N = 60.1714285714
   at every step; in the first one flex and roll get N times the torques of the motors, less what
   accelerates the rotors.
   By hand: cc -O2 examples/robot_pr2_wrist.c -lm -o robot && ./robot */

#include "robots/pr2_wrist.h"
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "robots/pr2_wrist.h"
#include "check.h"

static mdyn_sim sim;

int main(void)
{
    const double n = 60.1714285714, torque = 0.01;
    mdyn_model model = pr2_wrist_model;
    mdyn_wide right_on[2], left_on[2];
    double flex = 0, roll = 0, right, left;
    int step;

    model.gravity.z = MDYN_C(0);
    must(&sim, mdyn_init(&sim, &model));
    for (step = 0; step < 500; step++) {
        sim.tau[PR2_WRIST_RIGHT] = MDYN_R(0.01);
        sim.tau[PR2_WRIST_LEFT] = -MDYN_R(0.01);
        must(&sim, mdyn_step(&sim));
        right = real(sim.q[PR2_WRIST_RIGHT]);
        left = real(sim.q[PR2_WRIST_LEFT]);
        flex = worse(flex, fabs(real(sim.q[PR2_WRIST_FLEX]) - (left - right) / (2 * n)));
        roll = worse(roll, fabs(real(sim.q[PR2_WRIST_ROLL]) + (right + left) / (2 * n)));
        if (step > 0) continue;
        must(&sim, mdyn_coupling_force(&sim, 0, 1, &right_on[0])); /* flex, then roll */
        must(&sim, mdyn_coupling_force(&sim, 0, 2, &right_on[1]));
        must(&sim, mdyn_coupling_force(&sim, 1, 1, &left_on[0]));
        must(&sim, mdyn_coupling_force(&sim, 1, 2, &left_on[1]));
        printf("  the belts give flex %.4f N m, roll %.4f N m\n",
               wide(right_on[0]) + wide(left_on[0]), wide(right_on[1]) + wide(left_on[1]));
        CHECK("flex gets N times what the rotors leave [N m]", wide(right_on[0]) + wide(left_on[0]),
              n * (1e-6 * (real(sim.v[PR2_WRIST_RIGHT]) - real(sim.v[PR2_WRIST_LEFT])) / 0.001
                   - 2 * torque), BY_SCALAR(1e-12, 1e-5, 1e-6));
        CHECK("roll gets the sum of both [N m]", wide(right_on[1]) + wide(left_on[1]),
              n * 1e-6 * (real(sim.v[PR2_WRIST_RIGHT]) + real(sim.v[PR2_WRIST_LEFT])) / 0.001,
              BY_SCALAR(1e-12, 1e-5, 1e-6));
    }
    printf("  flex %.4f rad, roll %.4f rad\n", real(sim.q[PR2_WRIST_FLEX]),
           real(sim.q[PR2_WRIST_ROLL]));
    CHECK("flex is off the differential by [rad]", flex, 0, BY_SCALAR(1e-14, 1e-6, 1e-11));
    CHECK("roll is off the differential by [rad]", roll, 0, BY_SCALAR(1e-14, 1e-6, 1e-11));
    return check_result();
}
