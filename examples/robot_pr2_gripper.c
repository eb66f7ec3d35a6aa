/* robot_pr2_gripper.c - the PR2's gripper from its description: a motor turns a screw with a left-
   and a right-handed thread, four four-bars carry the fingertips.
   Checked: each fingertip moves along the screw by its pitch, 1/3141.6 m/rad, and neither turns;
   the fingers are each other's mirror; the motor's way is that of its inertia and damping.
   By hand: cc -O2 examples/robot_pr2_gripper.c -lm -o robot && ./robot */

#include "robots/pr2_gripper.h"
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "robots/pr2_gripper.h"
#include "check.h"

static mdyn_sim sim;

static mdyn_real3 position(int body, mdyn_real4 *turn)
{
    mdyn_real3 p;
    must(&sim, mdyn_pose(&sim, body, &p, turn));
    return p;
}

int main(void)
{
    mdyn_real3 left, right;
    mdyn_real4 turn, other;
    double start;
    int step;

    must(&sim, mdyn_init(&sim, &pr2_gripper_model));
    start = real(position(PR2_GRIPPER_L_TIP_JOINT, &turn).y);
    for (step = 0; step < 1000; step++) {
        sim.tau[PR2_GRIPPER_MOTOR] = MDYN_R(0.002);
        must(&sim, mdyn_step(&sim));
    }
    left = position(PR2_GRIPPER_L_TIP_JOINT, &turn);
    right = position(PR2_GRIPPER_R_TIP_JOINT, &other);
    printf("  motor %.3f rad, fingers %.4f rad, gap %.2f mm\n", real(sim.q[PR2_GRIPPER_MOTOR]),
           real(sim.q[PR2_GRIPPER_L_FINGER_JOINT]), 1000 * (real(left.y) - real(right.y)));
    CHECK("left fingertip moved by [mm]", 1000 * (real(left.y) - start),
          1000 * fabs(real(sim.q[PR2_GRIPPER_MOTOR])) / 3141.6, BY_SCALAR(1e-6, 2e-3, 1e-4));
    CHECK("the tips mirror each other: y + y [mm]", 1000 * (real(left.y) + real(right.y)), 0,
          BY_SCALAR(1e-6, 2e-3, 1e-4));
    CHECK("left fingertip turned by [rad]", 2 * real(turn.z), 0, BY_SCALAR(1e-6, 1e-3, 1e-5));
    CHECK("right fingertip turned by [rad]", 2 * real(other.z), 0, BY_SCALAR(1e-6, 1e-3, 1e-5));
    /* J v' = torque - damping v with J = 1e-4 and damping 1e-4: 20 / e rad after 1 s, but for the
       1 % that the fingers add to J. */
    CHECK("way of the motor [rad]", real(sim.q[PR2_GRIPPER_MOTOR]), 20 * exp(-1), 0.02);
    return check_result();
}
