/* spring.c - two discs on a springy shaft: a coupling with a frequency and a damping ratio.
   Checked: every step against the implicit Euler spring that the softness is defined to be, to
   rounding; the angular momentum; that the distance to the analytic oscillation shrinks with dt as
   first order must, and that the added damping of about omega dt / 2 explains it.
   By hand: cc -O2 examples/spring.c -lm -o spring && ./spring */

#define MIMICDYN_MAX_BODIES 2
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

enum { LEFT, RIGHT };
#define OMEGA 15.0 /* of the two discs against each other [rad/s], not [Hz] */
#define ZETA 0.05
#define J_LEFT 0.02 /* [kg m^2] */
#define J_RIGHT 0.005
#define TWIST 0.4 /* at the start [rad] */
#define SECONDS 1.0

static const mdyn_body discs[] = {
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE,
      .inertia = MDYN_INERTIA(0.01, 0.01, J_LEFT, 0, 0, 0) },
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE,
      .inertia = MDYN_INERTIA(0.003, 0.003, J_RIGHT, 0, 0, 0) },
};
static const mdyn_coupling shaft[] = {
    { .terms = { MDYN_TERM(LEFT, 1), MDYN_TERM(RIGHT, -1) },
      .softness = MDYN_FREQUENCY(OMEGA, ZETA) },
};
static mdyn_sim sim;

/* x" + 2 zeta omega x' + omega^2 x = 0 from x = TWIST, x' = 0; with dt > 0 the same as implicit
   Euler steps of dt solve it, but for terms of dt^2: its poles s become s + dt s^2 / 2, which
   is more damping (about omega dt / 2), and x' begins at x" dt / 2. */
static double analytic(double t, double dt)
{
    const double omega_d = OMEGA * sqrt(1 - ZETA * ZETA);
    const double decay = ZETA * OMEGA + dt / 2 * OMEGA * OMEGA * (1 - 2 * ZETA * ZETA);
    const double w = omega_d * (1 - dt * ZETA * OMEGA);
    const double speed = -dt / 2 * OMEGA * OMEGA;
    return TWIST * exp(-decay * t) * (cos(w * t) + (decay + speed) / w * sin(w * t));
}

/* One run; returns the largest distances of the twist to the three others. */
typedef struct distance { double discrete, continuous, second_order, momentum; } distance;

static distance run(double dt, int table)
{
    static mdyn_model model; /* must outlive the sim's use of it */
    const int steps = (int)(SECONDS / dt + 0.5);
    double x = TWIST, v = 0;
    distance worst = { 0, 0, 0, 0 };
    int k;

    model.bodies = discs;
    model.body_count = 2;
    model.couplings = shaft;
    model.coupling_count = 1;
    model.dt = MDYN_C(dt);
    must(&sim, mdyn_init(&sim, &model));
    sim.q[LEFT] = MDYN_R(TWIST);

    for (k = 1; k <= steps; k++) {
        const double t = k * dt;
        double twist;
        must(&sim, mdyn_step(&sim));
        twist = real(sim.q[LEFT]) - real(sim.q[RIGHT]);

        /* v' = v - dt (omega^2 (x + dt v') + 2 zeta omega v'),  x' = x + dt v' */
        v = (v - dt * OMEGA * OMEGA * x) / (1 + 2 * ZETA * OMEGA * dt + OMEGA * OMEGA * dt * dt);
        x += dt * v;

        worst.discrete = worse(worst.discrete, fabs(twist - x));
        worst.continuous = worse(worst.continuous, fabs(twist - analytic(t, 0)));
        worst.second_order = worse(worst.second_order, fabs(twist - analytic(t, dt)));
        worst.momentum = worse(worst.momentum, fabs(J_LEFT * real(sim.v[LEFT])
                                                    + J_RIGHT * real(sim.v[RIGHT])));
        if (table && k % (steps / 10) == 0) {
            printf("%7.2f %10.6f %15.6f %14.6f %14.6f\n", t, twist, x,
                   analytic(t, dt), analytic(t, 0));
        }
    }
    return worst;
}

int main(void)
{
    const double rounding = BY_SCALAR(1e-13, 1e-6, 5e-8);
    distance coarse, fine;

    printf("  t [s]  twist [rad]  implicit Euler   more damping     analytic\n");
    coarse = run(0.001, 1);
    fine = run(0.0005, 0);

    CHECK("from the implicit Euler spring [rad]", coarse.discrete, 0, rounding);
    CHECK("... at half the step [rad]", fine.discrete, 0, rounding);
    CHECK("angular momentum [N m s]", coarse.momentum, 0, BY_SCALAR(3e-16, 1e-7, 5e-9));
    printf("  to the analytic oscillation: %.4f rad at 1 ms, %.4f rad at 0.5 ms\n",
           coarse.continuous, fine.continuous);
    printf("  to the one with more damping: %.5f and %.5f rad\n", coarse.second_order,
           fine.second_order);
    CHECK("distance, 1 ms over 0.5 ms: first order", coarse.continuous / fine.continuous, 2, 0.2);
    CHECK("with the damping: second order", coarse.second_order / fine.second_order, 4, 0.4);
    return check_result();
}
