/* fourbar_gamma.c - the four-bar of fourbar.c twice: as a loop that a hinge closes, and by its
   closed form, the angles of finger and rocker as functions of the driver's. The functions give
   slope and curvature too; the couplings are part of the mechanism, which has one independent
   joint and no row to solve. Both swing, y pointing down, without any loss.
   Checked: slopes and curvatures against differences, in both ways to put the linkage together;
   the driver's range, which a stop of the rocker ends; that both motions agree; their energy, of
   which the error falls with dt^2; how far the loop is from the closed form.
   By hand: cc -O2 examples/fourbar_gamma.c -lm -o fourbar_gamma && ./fourbar_gamma */

#define MIMICDYN_MAX_BODIES 3
#define MIMICDYN_MAX_BODY_ROWS 5
#define MIMICDYN_MAX_CURVES 2
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include <time.h>

enum { DRIVER, FINGER, ROCKER };
#define A 0.030 /* lengths: driver, coupler, rocker, ground [m] */
#define B 0.024
#define C 0.036
#define D 0.022
/* Coupler and rocker are in line at 0.3503 and 2 pi less that: there the driver stops dead, and the
   slopes are infinite. */
#define FIRST 0.4
#define LAST 5.88
#define START 2.4
#define STOP 2.7 /* of the rocker */

#define ROD(length) \
    MDYN_RIGID(0.02, (length) / 2, 0, 0, MDYN_INERTIA(1e-7, 0.02 * (length) * (length) / 12, \
                                                      0.02 * (length) * (length) / 12, 0, 0, 0))
static const mdyn_body bodies[] = {
    MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 0, 1), MDYN_AT(0, 0, 0), ROD(A),
              MDYN_LIMITS(FIRST, LAST), "driver"),
    MDYN_BODY(DRIVER, MDYN_TURNS(0, 0, 1), MDYN_AT(A, 0, 0), ROD(B), MDYN_PASSIVE, "finger"),
    MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 0, 1), MDYN_AT(D, 0, 0), ROD(C), MDYN_LIMITS(0.5, STOP),
              "rocker"),
};

/* ---- the closed form ---- */

enum { ANGLE, SLOPE, CURVATURE };
typedef struct linkage { double of[3][3]; } linkage; /* of[FINGER][SLOPE], ... */

/* The triangle of the driver's end P, the rocker's pivot and the pin, on one side of their line or
   the other. The angles against the ground never jump: at the driver's angle 0, where that of P
   does, there is no linkage. Their slopes come from the loop A + B = D + C, derived once and twice,
   along coupler and rocker. */
static linkage closed_form(double a, double way)
{
    const double x = A * cos(a) - D, y = A * sin(a), e = sqrt(x * x + y * y);
    const double to_p = 3.141592653589793 - atan2(y, -x); /* from the rocker's pivot */
    const double r = to_p - way * acos((C * C + e * e - B * B) / (2 * C * e));
    const double f = to_p + 3.141592653589793 + way * acos((B * B + e * e - C * C) / (2 * B * e));
    const double across = sin(f - r), along = cos(f - r);
    const double dr = A * sin(f - a) / (C * across), df = A * sin(r - a) / (B * across);
    const linkage l = { {
        { a, 1, 0 },
        { f - a, df - 1, (C * dr * dr - A * cos(r - a) - B * df * df * along) / (B * across) },
        { r, dr, (C * dr * dr * along - A * cos(f - a) - B * df * df) / (C * across) },
    } };
    return l;
}

static void give(mdyn_curve_point *p, mdyn_real q, int joint, const void *way)
{
    const linkage l = closed_form(real(q), *(const double *)way);
    p->value = mdyn_real_from(l.of[joint][ANGLE]);
    p->slope = mdyn_wide_from(l.of[joint][SLOPE]);
    p->curvature = mdyn_wide_from(l.of[joint][CURVATURE]);
}

static void finger_of(mdyn_real q, mdyn_curve_point *p, void *way) { give(p, q, FINGER, way); }
static void rocker_of(mdyn_real q, mdyn_curve_point *p, void *way) { give(p, q, ROCKER, way); }

static double open_way = 1; /* -1: crossed, the pin on the other side */
static const mdyn_curve curves[] = {
    MDYN_FUNCTION_WITHIN(FIRST, LAST, finger_of, &open_way),
    MDYN_FUNCTION_WITHIN(FIRST, LAST, rocker_of, &open_way),
};
static const mdyn_coupling couplings[] = {
    MDYN_FOLLOWS(FINGER, DRIVER, 0), MDYN_FOLLOWS(ROCKER, DRIVER, 1)
};
static const mdyn_closure closures[] = {
    { .kind = MDYN_CLOSE_HINGE, .a = FINGER, .b = ROCKER, .point_a = MDYN_V3(B, 0, 0),
      .point_b = MDYN_V3(C, 0, 0), .name = "pin" },
};
static mdyn_model tied_model, loop_model;
static mdyn_sim tied, loop;


/* Of both ways: the largest difference of slopes (curvatures) from what angles (slopes) change. */
static double off_differences(int what)
{
    const double h = 1e-5;
    double error = 0;
    int k, i;
    for (k = 0; k < 400; k++) {
        const double way = k % 2 ? 1 : -1, a = FIRST + h + k / 399.0 * (LAST - FIRST - 2 * h);
        const linkage l = closed_form(a, way), more = closed_form(a + h, way);
        const linkage less = closed_form(a - h, way);
        for (i = FINGER; i <= ROCKER; i++) {
            const double change = (more.of[i][what - 1] - less.of[i][what - 1]) / (2 * h);
            error = worse(error, fabs(change - l.of[i][what]) / (1 + fabs(l.of[i][CURVATURE])));
        }
    }
    return error;
}

/* A sim at rest with the driver at START. */
static void begin(mdyn_sim *sim, mdyn_model *model, double dt)
{
    const linkage l = closed_form(START, open_way);
    model->bodies = bodies;
    model->body_count = 3;
    model->gravity.y = MDYN_C(9.81);
    model->dt = mdyn_wide_from(dt);
    if (mdyn_init(sim, model) != MDYN_WARN_START) { /* q = 0 is beyond the driver's limits */
        must(sim, sim->culprit.code);
    }
    sim->q[DRIVER] = mdyn_real_from(START);
    sim->q[FINGER] = mdyn_real_from(l.of[FINGER][ANGLE]);
    sim->q[ROCKER] = mdyn_real_from(l.of[ROCKER][ANGLE]);
    must(sim, mdyn_settle(sim));
}

static double energy(mdyn_sim *sim)
{
    mdyn_wide kinetic, potential;
    must(sim, mdyn_energy(sim, &kinetic, &potential));
    return wide(kinetic) + wide(potential);
}

typedef struct errors { double apart, tied, loop, off; } errors;

/* A second of both: how far the drivers are apart, what the energies change, how far the loop's
   rocker is from the closed form. */
static errors swing(double dt, int table)
{
    const int steps = (int)(1 / dt + 0.5);
    errors e = { 0, 0, 0, 0 };
    double tied_start, loop_start;
    int k;
    begin(&tied, &tied_model, dt);
    begin(&loop, &loop_model, dt);
    tied_start = energy(&tied);
    loop_start = energy(&loop);
    for (k = 1; k <= steps; k++) {
        double q, off;
        must(&tied, mdyn_step(&tied));
        must(&loop, mdyn_step(&loop));
        q = real(loop.q[DRIVER]);
        off = real(loop.q[ROCKER]) - closed_form(q, open_way).of[ROCKER][ANGLE];
        e.off = worse(e.off, fabs(off));
        e.apart = worse(e.apart, fabs(q - real(tied.q[DRIVER])));
        e.tied = worse(e.tied, fabs(energy(&tied) - tied_start));
        e.loop = worse(e.loop, fabs(energy(&loop) - loop_start));
        if (table && k % (steps / 10) == 0) {
            printf("%7.2f %14.6f %10.6f %14.6f %10.6f %12.2f\n", k * dt,
                   real(tied.q[DRIVER]), q, real(tied.q[ROCKER]), real(loop.q[ROCKER]), off * 1e9);
        }
    }
    return e;
}

/* [us], of this machine. */
static double cost(mdyn_sim *sim)
{
    const clock_t start = clock();
    int k;
    for (k = 0; k < 2000; k++) {
        must(sim, mdyn_step(sim));
    }
    return (double)(clock() - start) / CLOCKS_PER_SEC * 1e6 / 2000;
}

int main(void)
{
    mdyn_wide lower, upper;
    errors coarse, fine;
    tied_model.curves = curves;
    tied_model.curve_count = 2;
    tied_model.couplings = couplings;
    tied_model.coupling_count = 2;
    loop_model.closures = closures;
    loop_model.closure_count = 1;
    CHECK("slopes from differences", off_differences(SLOPE), 0, 1e-8);
    CHECK("curvatures from differences", off_differences(CURVATURE), 0, 1e-6);

    begin(&tied, &tied_model, 0.001);
    CHECK("independent joints", mdyn_independent_dofs(&tied), 1, 0);
    must(&tied, mdyn_range(&tied, DRIVER, &lower, &upper));
    CHECK("the driver's range begins at its limit [rad]", wide(lower), FIRST, 1e-6);
    CHECK("... and ends where the rocker stops [rad]",
          closed_form(wide(upper), open_way).of[ROCKER][ANGLE], STOP, 1e-6);

    printf("  t [s]   driver [rad]       loop   rocker [rad]       loop   loop's error [nrad]\n");
    coarse = swing(0.001, 1);
    fine = swing(0.0005, 0);
    CHECK("drivers apart, 1 ms [rad]", coarse.apart, 0, 1.5e-5);
    CHECK("drivers apart, 0.5 ms [rad]", fine.apart, 0, 4e-6);
    CHECK("loop's rocker from the closed form [rad]", coarse.off, 0, 2e-6);
    CHECK("energy kept by the closed form, 1 ms [J]", coarse.tied, 0, 4e-7);
    CHECK("energy kept by the loop, 1 ms [J]", coarse.loop, 0, 4e-7);
    CHECK("closed form: error, 1 ms over 0.5 ms", coarse.tied / fine.tied, 4, 0.4);
    printf("a step: %.2f us by the closed form, %.2f us as a loop; numbers in M and rows: %d, %d\n",
           cost(&tied), cost(&loop), tied.report.entries, loop.report.entries);
    return check_result();
}
