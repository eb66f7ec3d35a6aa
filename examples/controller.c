/* controller.c - the three places where the header runs in a product. The plant is a folding arm: a
   motor turns the shoulder, a belt turns the elbow by -2 of it, both rub. The firmware has the same
   tables and sees nothing but the counts of the motor's encoder.
      plant in the loop   the desktop steps the plant and calls the firmware's tick
      observer            the measured joint overwrites the state, the other one follows
      feed-forward        computed torque of the reduced system: the motor gives what all joints
                          need, each by its ratio, G^T (M G y'' + C + damping v + friction sign(v))
   What to see: with feed-forward the arm is where it should be, without it lags and sags.
   Checked: the largest error with and without; the observer's tip against the plant's.
   By hand: cc -O2 examples/controller.c -lm -o controller && ./controller */

#define MIMICDYN_MAX_BODIES 2
#define MIMICDYN_MAX_COUPLINGS 1
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

enum { SHOULDER, ELBOW, JOINTS };
#define BELT -2.0                                 /* q_elbow = BELT q_shoulder */
#define COUNT MDYN_C(6.283185307179586 / 65536.0) /* of the encoder [rad] */
#define DT 1e-3

static const mdyn_body bodies[] = {
    MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 1, 0), MDYN_AT(0, 0, 0.5),
              MDYN_RIGID(1.2, 0.2, 0, 0, MDYN_INERTIA(0.001, 0.016, 0.016, 0, 0, 0)),
              MDYN_JOINT(0.02, 0.1, 0.3, 0, 0, 0, 0, 0), "shoulder"),
    MDYN_BODY(SHOULDER, MDYN_TURNS(0, 1, 0), MDYN_AT(0.4, 0, 0),
              MDYN_RIGID(0.8, 0.15, 0, 0, MDYN_INERTIA(0.001, 0.006, 0.006, 0, 0, 0)),
              MDYN_JOINT(0, 0.05, 0.1, 0, 0, 0, 0, 0), "elbow"),
};
static const mdyn_coupling couplings[] = { MDYN_MIMIC(ELBOW, SHOULDER, BELT, 0.0) };
static const mdyn_model arm = MDYN_MODEL(bodies, JOINTS, couplings, 1, MDYN_V3(0, 0, -9.81), DT);
static const mdyn_real3 tip = { MDYN_R(0.3), MDYN_R(0), MDYN_R(0) };

/* ---- the firmware: two sims of the same tables, where the arm should be and where it is ---- */

static mdyn_sim wanted, seen;
static int feeds_forward;

/* y, y' and y'' that the motor is to have. */
static void plan(double t, double *y, double *rate, double *acceleration)
{
    *y = 0.6 * sin(2 * t);
    *rate = 1.2 * cos(2 * t);
    *acceleration = -2.4 * sin(2 * t);
}

/* The torque of the motor for this tick: feed-forward, and a weak PD loop on the rest. */
static mdyn_real tick(double t, int32_t counts)
{
    mdyn_wide a, tau[JOINTS], torque = MDYN_C(0);
    const mdyn_real last = seen.q[SHOULDER];
    double y, rate, acceleration;

    /* observer */
    seen.q[SHOULDER] = mdyn_of_counts(counts, COUNT);
    seen.v[SHOULDER] = mdyn_real_from((real(seen.q[SHOULDER]) - real(last)) / DT);
    must(&seen, mdyn_project(&seen, MDYN_INDEPENDENT));

    /* computed torque at the middle of the coming step */
    plan(t + DT / 2, &y, &rate, &acceleration);
    if (feeds_forward) {
        wanted.q[SHOULDER] = mdyn_real_from(y);
        wanted.v[SHOULDER] = mdyn_real_from(rate);
        must(&wanted, mdyn_project(&wanted, MDYN_INDEPENDENT));
        a = mdyn_wide_from(acceleration);
        must(&wanted, mdyn_reduced_inverse_dynamics_with_losses(&wanted, &a, tau));
        torque = tau[SHOULDER];
    }

    /* PD on what is measured now: 40 N m/rad, 1 N m s/rad */
    plan(t, &y, &rate, &acceleration);
    torque = mdyn_plus(torque, mdyn_wide_from(40 * (y - real(seen.q[SHOULDER]))
                                              + (rate - real(seen.v[SHOULDER]))));
    return mdyn_real_of(torque);
}

/* ---- the desktop: the plant ---- */

static mdyn_sim plant;

/* The largest error of the motor's angle from 1 s to 7 s; *off: of the observer's tip [m]. */
static double run(int forward, double *off)
{
    double worst = 0, y, rate, acceleration;
    mdyn_real3 at, believed;
    int k;
    feeds_forward = forward;
    must(&plant, mdyn_init(&plant, &arm));
    must(&wanted, mdyn_init(&wanted, &arm));
    must(&seen, mdyn_init(&seen, &arm));
    plant.v[SHOULDER] = MDYN_R(1.2);
    plant.v[ELBOW] = MDYN_R(1.2 * BELT);
    printf("\nfeed-forward: %s\n  t [s]   wanted [rad]   arm [rad]   tip z [m]   torque [N m]\n",
           forward ? "yes" : "no");
    for (k = 0, *off = 0; k < 7000; k++) {
        plant.tau[SHOULDER] = tick(k * DT, mdyn_to_counts(plant.q[SHOULDER], COUNT));
        must(&plant, mdyn_point(&plant, ELBOW, &tip, &at));
        must(&seen, mdyn_point(&seen, ELBOW, &tip, &believed));
        *off = worse(*off, hypot(real(at.x) - real(believed.x), real(at.z) - real(believed.z)));
        must(&plant, mdyn_step(&plant));
        plan((k + 1) * DT, &y, &rate, &acceleration);
        worst = k < 1000 ? 0 : worse(worst, fabs(real(plant.q[SHOULDER]) - y));
        if (k % 1000 == 999) {
            printf("%7.2f %14.6f %11.6f %11.6f %14.6f\n", (k + 1) * DT, y,
                   real(plant.q[SHOULDER]), real(at.z), real(plant.tau[SHOULDER]));
        }
    }
    return worst;
}

int main(void)
{
    double off[2];
    const double alone = run(0, &off[0]), forward = run(1, &off[1]);
    CHECK("largest error with feed-forward [rad]", forward, 0, 1.5e-4);
    CHECK("without it: over 500 times as large", alone > 500 * forward, 1, 0);
    /* half a count of the motor, at the arm lengths 0.7 and 2 0.3 */
    CHECK("tip of the observer [m]", worse(off[0], off[1]), 0, 1e-4);
    return check_result();
}
