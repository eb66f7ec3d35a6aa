/* robot_2f85.c - the Robotiq 2F-85 from its description: closes with a constant torque.
   Checked: each follower is at its multiplier times the leader; the fingertips keep their
   direction; after the first step the leader has the velocity dt tau / I, I from the kinetic energy
   of all
   links at 1 rad/s.
   By hand: cc -O2 examples/robot_2f85.c -lm -o robot && ./robot */

#include "robots/robotiq_85.h"
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "robots/robotiq_85.h"
#include "check.h"

static mdyn_sim sim;

/* The angle of a body about the y axis of the world; the quaternion has w >= 0. */
static double pitch(int body)
{
    mdyn_real3 p;
    mdyn_real4 r;
    must(&sim, mdyn_pose(&sim, body, &p, &r));
    return 2 * atan2(sqrt(real(r.y) * real(r.y) + real(r.x) * real(r.x)),
                     sqrt(real(r.w) * real(r.w) + real(r.z) * real(r.z)));
}

/* Twice the kinetic energy at 1 rad/s of the leader. */
static double reflected_inertia(const double *rate)
{
    mdyn_wide kinetic, potential;
    int i;
    for (i = 0; i < ROBOTIQ_85_BODIES; i++)
        sim.v[i] = rate[i] < 0 ? -MDYN_R(1.0) : MDYN_R(1.0);
    must(&sim, mdyn_energy(&sim, &kinetic, &potential));
    for (i = 0; i < ROBOTIQ_85_BODIES; i++) sim.v[i] = MDYN_R(0.0);
    return 2 * wide(kinetic);
}

int main(void)
{
    const double rate[] = { 1, 1, -1, -1, 1, -1 };
    double inertia, tip, worst = 0;
    mdyn_model model = robotiq_85_model;
    int step, i;

    model.gravity.z = MDYN_C(0);
    must(&sim, mdyn_init(&sim, &model));
    inertia = reflected_inertia(rate);
    tip = pitch(ROBOTIQ_85_LEFT_INNER_FINGER_JOINT);
    sim.tau[ROBOTIQ_85_FINGER_JOINT] = MDYN_R(0.0001);
    must(&sim, mdyn_step(&sim));
    CHECK("velocity after one step [rad/s]", real(sim.v[0]), 0.001 * 0.0001 / inertia,
          BY_SCALAR(1e-12, 1e-8, 1e-9));
    for (step = 1; step < 400; step++) {
        sim.tau[ROBOTIQ_85_FINGER_JOINT] = MDYN_R(0.0001);
        must(&sim, mdyn_step(&sim));
        for (i = 0; i < ROBOTIQ_85_BODIES; i++)
            worst = worse(worst, fabs(real(sim.q[i]) - rate[i] * real(sim.q[0])));
    }
    printf("  finger_joint after 0.4 s: %.4f rad\n", real(sim.q[0]));
    CHECK("followers off their leader [rad]", worst, 0, BY_SCALAR(1e-14, 1e-6, 1e-11));
    CHECK("fingertip turned by [rad]", pitch(ROBOTIQ_85_LEFT_INNER_FINGER_JOINT) - tip, 0,
          BY_SCALAR(1e-7, 1e-3, 1e-4));
    return check_result();
}
