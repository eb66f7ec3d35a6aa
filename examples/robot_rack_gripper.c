/* robot_rack_gripper.c - a gripper of a pinion and two racks from its description.
   Checked: each jaw has moved by radius times angle; the work of the motor is the kinetic energy of
   pinion and jaws, so the pinion's velocity is that of one inertia, I + 2 m r^2.
   By hand: cc -O2 examples/robot_rack_gripper.c -lm -o robot && ./robot */

#include "robots/rack_gripper.h"
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "robots/rack_gripper.h"
#include "check.h"

static mdyn_sim sim;

int main(void)
{
    const double radius = 0.012, inertia = 1.44e-6 + 2 * 0.06 * radius * radius, torque = 0.001;
    double angle;
    int step;

    must(&sim, mdyn_init(&sim, &rack_gripper_model));
    for (step = 0; step < 200; step++) {
        sim.tau[RACK_GRIPPER_MOTOR] = MDYN_R(0.001);
        must(&sim, mdyn_step(&sim));
    }
    angle = real(sim.q[RACK_GRIPPER_MOTOR]);
    printf("  pinion %.4f rad, jaws %.3f mm and %.3f mm\n", angle,
           1000 * real(sim.q[RACK_GRIPPER_LEFT_RACK]), 1000 * real(sim.q[RACK_GRIPPER_RIGHT_RACK]));
    CHECK("velocity of the pinion [rad/s]", real(sim.v[RACK_GRIPPER_MOTOR]),
          0.2 * torque / inertia, BY_SCALAR(1e-10, 1e-4, 1e-5));
    CHECK("left jaw [m]", real(sim.q[RACK_GRIPPER_LEFT_RACK]), radius * angle,
          BY_SCALAR(1e-15, 1e-8, 1e-11));
    CHECK("right jaw [m]", real(sim.q[RACK_GRIPPER_RIGHT_RACK]), -radius * angle,
          BY_SCALAR(1e-15, 1e-8, 1e-11));
    for (; step < 1000; step++) {
        sim.tau[RACK_GRIPPER_MOTOR] = MDYN_R(0.001);
        must(&sim, mdyn_step(&sim));
    }
    CHECK("left jaw stops at its limit [m]", real(sim.q[RACK_GRIPPER_LEFT_RACK]), 0.04,
          BY_SCALAR(1e-9, 1e-6, 1e-8));
    return check_result();
}
