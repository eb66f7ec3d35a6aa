/* planar2g.c - two rods, the second on a curve of the first: q_2 = 2 sin q_1, without gravity, a
   torque of 1 N m on the first joint. Whatever the curve makes of the motion, the torque does the
   work of q_1: so the kinetic energy is q_1. The example of Featherstone's text on gamma_q.
   Checked: energy and q_1 at each step; q_2 against the sine; that the error shrinks with dt^2.
   By hand: cc -O2 examples/planar2g.c -lm -o planar2g && ./planar2g */

#define MIMICDYN_MAX_BODIES 2
#define MIMICDYN_MAX_CURVES 1
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

enum { UPPER, LOWER };
#define SECONDS 5.0
#define KNOTS 65 /* from -1.5 to 4.5 rad, one of them at 0 */

/* Rods of 1 m and 1 kg. */
static const mdyn_body rods[] = {
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .mass = MDYN_C(1), .com = MDYN_V3(0.5, 0, 0),
      .inertia = MDYN_INERTIA(0, 1.0 / 12, 1.0 / 12, 0, 0, 0), .name = "upper" },
    { .parent = UPPER, .joint = MDYN_REVOLUTE, .position = MDYN_V3(1, 0, 0), .mass = MDYN_C(1),
      .com = MDYN_V3(0.5, 0, 0), .inertia = MDYN_INERTIA(0, 1.0 / 12, 1.0 / 12, 0, 0, 0),
      .name = "lower" },
};

/* The curve as a table, which is C2: any scalar can hold it, and no function is called. */
static mdyn_knot sine[KNOTS];
static const mdyn_curve curves[] = { MDYN_SPLINE(sine) };
static const mdyn_coupling couplings[] = { MDYN_FOLLOWS(LOWER, UPPER, 0) };
static mdyn_sim sim;

static void fill_table(void)
{
    static mdyn_wide scratch[KNOTS];
    int k;
    for (k = 0; k < KNOTS; k++) {
        const double q = -1.5 + 6.0 * k / (KNOTS - 1);
        sine[k].q = MDYN_C(q);
        sine[k].value = MDYN_C(2 * sin(q));
    }
    must(&sim, mdyn_fill_spline(sine, KNOTS, scratch));
}

/* One run; returns the largest distance of the energy to q_1 [J]. */
static double run(double dt, int table)
{
    static mdyn_model model; /* must outlive the sim's use of it */
    const int steps = (int)(SECONDS / dt + 0.5);
    double error = 0, off = 0;
    mdyn_wide kinetic, potential;
    int k;
    model.bodies = rods;
    model.body_count = 2;
    model.couplings = couplings;
    model.coupling_count = 1;
    model.curves = curves;
    model.curve_count = 1;
    model.dt = MDYN_C(dt);
    model.solver.corrections = 1;
    must(&sim, mdyn_init(&sim, &model));

    for (k = 1; k <= steps; k++) {
        double q;
        sim.tau[UPPER] = MDYN_R(1);
        must(&sim, mdyn_step(&sim));
        must(&sim, mdyn_energy(&sim, &kinetic, &potential));
        q = real(sim.q[UPPER]);
        error = worse(error, fabs(wide(kinetic) - q));
        off = worse(off, fabs(real(sim.q[LOWER]) - 2 * sin(q)));
        if (table && k % (steps / 10) == 0) {
            printf("%7.2f %10.6f %10.6f %17.6f\n", k * dt, q, real(sim.q[LOWER]), wide(kinetic));
        }
    }
    CHECK("q_2 from 2 sin q_1: a spline [rad]", off, 0, 2e-4);
    return error;
}

int main(void)
{
    double coarse, fine;
    fill_table();
    printf("  t [s]  q_1 [rad]  q_2 [rad]  kinetic energy [J]\n");
    coarse = run(0.002, 1);
    fine = run(0.001, 0);
    CHECK("kinetic energy from q_1, 1 ms [J]", fine, 0, 2e-5);
    CHECK("error, 2 ms over 1 ms: second order", coarse / fine, 4, 0.6);
    return check_result();
}
