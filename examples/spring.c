/* spring.c - two discs on a springy shaft: a coupling with a frequency and a damping ratio.
   Checked: every step against the spring at the middle of the step that the softness is defined to
   be, to rounding; the angular momentum; that the distance to the analytic oscillation shrinks with
   dt^2, as second order must.
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

/* x" + 2 zeta omega x' + omega^2 x = 0 from x = TWIST, x' = 0 */
static double analytic(double t)
{
    const double decay = ZETA * OMEGA, w = OMEGA * sqrt(1 - ZETA * ZETA);
    return TWIST * exp(-decay * t) * (cos(w * t) + decay / w * sin(w * t));
}

/* One run; returns the largest distances of the twist to the two others. */
typedef struct distance { double discrete, continuous, momentum; } distance;

static distance run(double dt, int table)
{
    static mdyn_model model; /* must outlive the sim's use of it */
    const int steps = (int)(SECONDS / dt + 0.5);
    const double damping = 2 * ZETA * OMEGA, theta = (3 + dt * damping) / (6 + dt * damping);
    double x = TWIST, v = 0;
    distance worst = { 0, 0, 0 };
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

        /* x_m = x + dt/2 v,  x' = x_m + dt/2 v',
           v' = v - dt (omega^2 (x_m + dt (v' - v)/12) + 2 zeta omega (theta v' + (1 - theta) v)) */
        x += dt / 2 * v;
        v = (v - dt * (OMEGA * OMEGA * (x - dt * v / 12) + damping * (1 - theta) * v))
            / (1 + dt * (OMEGA * OMEGA * dt / 12 + damping * theta));
        x += dt / 2 * v;

        worst.discrete = worse(worst.discrete, fabs(twist - x));
        worst.continuous = worse(worst.continuous, fabs(twist - analytic(t)));
        worst.momentum = worse(worst.momentum, fabs(J_LEFT * real(sim.v[LEFT])
                                                    + J_RIGHT * real(sim.v[RIGHT])));
        if (table && k % (steps / 10) == 0) {
            printf("%7.2f %10.6f %17.6f %10.6f\n", t, twist, x, analytic(t));
        }
    }
    return worst;
}

int main(void)
{
    const double rounding = BY_SCALAR(1e-13, 1e-6, 5e-8);
    distance coarse, fine;

    printf("  t [s]  twist [rad]  midpoint spring   analytic\n");
    coarse = run(0.002, 1);
    fine = run(0.001, 0);

    CHECK("from the midpoint spring [rad]", coarse.discrete, 0, rounding);
    CHECK("... at half the step [rad]", fine.discrete, 0, rounding);
    CHECK("angular momentum [N m s]", coarse.momentum, 0, BY_SCALAR(3e-16, 1e-7, 5e-9));
    printf("  to the analytic oscillation: %.2e rad at 2 ms, %.2e rad at 1 ms\n",
           coarse.continuous, fine.continuous);
    CHECK("distance, 2 ms over 1 ms: second order", coarse.continuous / fine.continuous, 4, 0.4);
    return check_result();
}
