/* Rows with a bound: limits, dry friction, drives, couplings with a range or a bounded effort.
   One step against trying every choice of what is at which bound (truth_step.h), and mechanisms
   whose motion is known in closed form. */
#include "knobs.h"
#include "check.h"
#include "explicit.h"
#include "truth.h"
#include "truth_step.h"
#include "rails.h"
#include "sims.h"

enum { DOFS = 20, COUPLINGS = 10 }; /* of random mechanisms */

/* What the checks allow, some three to ten times the worst of -s 1, 2 and 3. */
/*                              F64      F32  FIXED */
TOLERANCE(BRUTE_FORCE,        2e-13,    2e-4,  6e-5);
TOLERANCE(CONDITIONS,         1e-12,    8e-4,  3e-4);
TOLERANCE(PIVOTED_CONDITIONS, 1e-12,    8e-4,  1e-3);
TOLERANCE(WARM_AND_COLD,      1e-14,    5e-6,  7e-7);
TOLERANCE(REST_SPEED,         1e-22,   5e-15, 4e-12);
TOLERANCE(REST_PLACE,         1e-23,   3e-16, 4e-12);
TOLERANCE(REST_FORCE,         1e-15,    1e-7,  5e-8);
TOLERANCE(SLIDING_SPEED,      3e-16,    1e-7, 2e-10);
TOLERANCE(SLIDING_POWER,      1e-16,    1e-7,  2e-9);
TOLERANCE(STOPPING_SPEED,     2e-16,    1e-7, 2e-10);
TOLERANCE(STOPPED_SPEED,      1e-25,   1e-17, 5e-11); /* a few digits of v */
TOLERANCE(STOP_PLACE,         1e-16,    6e-8, 3e-11);
TOLERANCE(STOP_SPEED,         1e-17, 1.5e-13, 4e-12);
TOLERANCE(STOP_FORCE,         1e-15,    1e-5,  5e-8);
TOLERANCE(STOP_LEAVING,       4e-17,    1e-9, 4e-12);
TOLERANCE(EXTRAPOLATED,       1e-15,    4e-7,  1e-8);
TOLERANCE(PENETRATION,        2e-15,    6e-7,  2e-7);
TOLERANCE(DRIVE_SPEED,        3e-14,    6e-7,  2e-8);
TOLERANCE(DRIVE_PLACE,        1e-14,    4e-7,  4e-9);
TOLERANCE(DRIVE_FORCE,        1e-12,    4e-5,  5e-7);
TOLERANCE(EFFORT_OF_COMMAND,  2e-17,    5e-9,  4e-9);
TOLERANCE(CLUTCH_LEADER,      5e-15,    2e-6, 4e-12);
TOLERANCE(CLUTCH_FOLLOWER,    3e-15,    6e-7, 4e-12);
TOLERANCE(CLUTCH_FORCE,       1e-15,    1e-7,  6e-9);
TOLERANCE(CLUTCH_CLOSED,      1e-15,    1e-7, 4e-12);
TOLERANCE(CLUTCH_TOGETHER,    5e-15,    1e-6, 4e-12);
TOLERANCE(BACKLASH_GAP,       5e-16,    7e-8, 2e-10);
TOLERANCE(BACKLASH_FREE,      2e-15,    6e-7, 4e-12);
TOLERANCE(BACKLASH_SUM,       1e-14,    1e-6,  5e-8);
TOLERANCE(BACKLASH_CLOSED,    1e-15,    1e-6, 4e-10);
TOLERANCE(LATE_ROWS,          1e-16,    6e-8,  3e-8);
TOLERANCE(SOLVED_LATE,        3e-11,    4e-2,     2);
TOLERANCE(CONFLICT,           3e-13,    5e-6,  2e-6);
TOLERANCE(FEW_ITERATIONS,         1e-13,    5e-8,  5e-9);
TOLERANCE(LATE_BIAS,          2e-14,    4e-6,  2e-8);
TOLERANCE(PASSIVE,            1e-15,    5e-7, 3e-10);

static mdyn_sim other;
static truth t;
static truth_step want;

/* ---- random rows ---- */

static int one_speed_body(void) {
    for (int tries = 0; tries < 50; tries++) {
        int body = random_int(t.bodies);
        if (t.dofs_of[body] == 1) {
            return body;
        }
    }
    return -1;
}

/* One bounded row somewhere; 0 if there was no place for it. */
static int random_bounded_row(void) {
    int body = one_speed_body(), other_body = one_speed_body();
    mdyn_body *b = body >= 0 ? &mech.body[body] : NULL;
    if (b == NULL) {
        return 0;
    }
    int kind = random_int(5);
    if (kind == 0 && of_wide(b->lower) == 0 && of_wide(b->upper) == 0) {
        b->lower = wide(random_in(-2, -0.001));
        b->upper = random_int(3) ? wide(random_in(0.001, 2)) : MDYN_UNLIMITED;
        return 1;
    }
    if (kind == 1 && of_wide(b->friction) == 0) {
        b->friction = wide(random_in(0.1, 20));
        return 1;
    }
    if (kind == 2 && of_wide(b->drive_kd) == 0) {
        b->drive_kp = wide(random_int(2) ? random_in(0, 1000) : 0);
        b->drive_kd = wide(random_in(1, 50));
        b->effort = wide(random_in(5, 50));
        return 1;
    }
    int k = mech.model.coupling_count;
    if (kind >= 3 && body != other_body && k < COUPLINGS) {
        double multiplier = random_in(-2, 2), offset = random_in(-0.1, 0.1);
        mdyn_coupling c = mimic_of(body, other_body, multiplier, offset);
        if (kind == 3) {
            c.effort = wide(random_in(1, 50));
            c.softness.kind = MDYN_ERP_CFM;
            c.softness.a = wide(random_in(0, 0.5));
            c.softness.b = wide(random_int(2) ? random_in(0, 1) : 0);
        } else {
            c.lower = wide(random_in(-1, 0));
            c.upper = wide(random_int(2) ? random_in(0, 1) : 1e12);
        }
        mech.coupling[k] = c;
        mech.model.coupling_count++;
        return 1;
    }
    return 0;
}

/* Random tree, up to two couplings without a bound, `bounded` rows with one. */
static void random_bounded(int bounded) {
    int bodies = 3 + random_int(6), kind = random_int(32) | ARMATURES;
    kind |= random_int(2) ? ONE_SPEED : 0;
    mechanism_random(&mech, bodies, DOFS, kind);
    truth_init(&t, &mech.model);
    for (int k = random_int(3); k > 0; k--) {
        int a = one_speed_body(), b = one_speed_body();
        if (a >= 0 && a != b) {
            mdyn_coupling c = mimic_of(a, b, random_in(-2, 2), 0);
            c.softness.kind = MDYN_ERP_CFM;
            c.softness.a = wide(0.1);
            c.softness.b = wide(random_int(2) ? 0 : 0.5);
            mech.coupling[mech.model.coupling_count++] = c;
        }
    }
    for (int i = 0; i < bounded; i++) {
        random_bounded_row();
    }
    for (int b = 0; b < t.bodies; b++) {
        mech.body[b].damping = wide(random_int(3) ? 0 : random_in(0, 1));
    }
    mech.model.solver.iterations = 5000; /* the limit of the iterations is what is compared here */
}

static void random_bounded_state(double dt) {
    sim_random(&sim, &mech.model, 3, 20);
    for (int b = 0; b < t.bodies; b++) {
        const mdyn_body *body = &mech.body[b];
        int q = t.coordinate[b], v = t.dof[b];
        double lower = of_wide(body->lower), upper = of_wide(body->upper);
        if (t.dofs_of[b] == 1) {
            sim.target[v] = real(random_in(-1, 1));
            sim.target_velocity[v] = real(random_in(-1, 1));
        }
        if (lower != 0 && upper > 1e6) {
            sim.q[q] = real(lower + random_in(-2, 10) * dt);
        } else if (lower != 0) {
            double near = upper - random_in(-2, 10) * dt;
            sim.q[q] = real(random_int(2) ? random_in(lower, upper) : near);
        }
    }
}

/* The reports of all rows satisfy the conditions themselves, with the library's own impulses. A
   redundant row of one target brakes: what corrects its position is no target there. */
static void check_conditions(double allowed) {
    ld v[TN], got[TN];
    double size = norm_speed(&t, want.v) + norm_speed(&t, want.free), dt = of_wide(mech.model.dt);
    for (int i = 0; i < t.dofs; i++) {
        v[i] = (ld)of_real(sim.v[i]);
        got[i] = want.free[i];
    }
    for (int k = 0; k < want.rows; k++) {
        truth_row *r = &want.row[k];
        mdyn_row_report report;
        CHECK_EQUAL(mdyn_report_row(&sim, r->kind, r->index, &report), MDYN_OK);
        ld lambda = (ld)of_wide(report.impulse), inertia = want.A[k][k] + r->cfm;
        if ((report.flags & MDYN_ROW_REDUNDANT) && lambda == 0) { /* the others may hold it */
            continue;
        }
        if ((report.flags & MDYN_ROW_REDUNDANT) && r->low == r->high) {
            r->low = r->high = 0;
        }
        ld w = t_row_speed(r, v, t.dofs) + r->cfm * lambda;
        double scale = allowed * size * (double)sqrtl(inertia);
        CHECK_NEAR((double)t_violation(r, lambda, w, inertia), 0, scale / 10);
        CHECK_NEAR(of_wide(report.force) * dt, of_wide(report.impulse),
                   4 * check_epsilon * fabs(of_wide(report.impulse)));
        int at_bound = lambda >= r->most || lambda <= r->least;
        CHECK(!at_bound || (report.flags & MDYN_ROW_SATURATED));
        CHECK(fabsl(lambda) * inertia < (ld)scale || r->most - lambda < (ld)scale / inertia ||
              lambda - r->least < (ld)scale / inertia || !(report.flags & MDYN_ROW_SATURATED));
        for (int i = 0; i < t.dofs; i++) {
            got[i] += want.B[k][i] * lambda;
        }
    }
    CHECK_NEAR(speed_error(&t, &sim, got), 0, allowed * size); /* they account for the motion */
}

/* Also with all rows in the iterations, which end at the same motion, with over-relaxation too; and
   by pivoting. Few of the mechanisms have no solution, and are made anew. */
static void test_brute_force(void) {
    int without = -480, told = 0;
    for (int k = 0; k < 480; k++) {
        int exact = k % 240 < 200;
        do {
            without++;
            random_bounded(1 + random_int(6));
            mech.model.solver.equality = exact ? MDYN_EXACT : MDYN_ITERATED;
            mech.model.solver.relaxation = wide(k % 10 == 9 ? 1.3 : 0);
            mech.model.solver.iterations = exact ? 5000 : 65535;
            mech.model.solver.method = k < 240 ? MDYN_PGS : MDYN_DANTZIG;
            CHECK(init_explicit(&sim, &mech.model) >= 0);
            random_bounded_state(of_wide(mech.model.dt));
        } while (truth_step_of(&want, &t, &mech.model, &sim) > 1e-9);
        const int code = mdyn_step(&sim);
        told += code == MDYN_WARN_DIGITS;
        CHECK(code == MDYN_OK || code == MDYN_WARN_DIGITS);
        double size = truth_step_size(&want, &t);
        if (!CHECK_NEAR(speed_error(&t, &sim, want.v), 0, BRUTE_FORCE * size)) {
            CHECK_NOTE("mechanism %d, %d iterations, residual %g\n", k, sim.report.iterations,
                   of_wide(sim.report.residual));
        }
        check_conditions(k < 240 ? CONDITIONS : PIVOTED_CONDITIONS);
    }
    CHECK(without <= 10 && told <= BY_SCALAR(0, 0, 4));
}

/* One step; 0 if its rows contradict each other, of which it has to tell. */
static int step_or_no_solution(void) {
    truth_copy(&t, &sim);
    truth_update(&t, &mech.model);
    const int code = mdyn_step(&sim);
    if (code == MDYN_WARN_NOT_CONVERGED) {
        CHECK(truth_step_of(&want, &t, &mech.model, &sim) > 1e-9);
        return 0;
    }
    return CHECK_EQUAL(code, MDYN_OK);
}

/* Where the iterations start is not where they end. */
static void test_warm_and_cold(void) {
    for (int k = 0; k < 20; k++) {
        random_bounded(5);
        init_explicit(&sim, &mech.model);
        random_bounded_state(of_wide(mech.model.dt));
        mdyn_model cold = mech.model;
        cold.solver.start = MDYN_COLD;
        init_explicit(&other, &cold);
        for (int s = 0; s < 20; s++) {
            copy_inputs(&other, &sim);
            if (!step_or_no_solution()) {
                break;
            }
            CHECK_EQUAL(mdyn_step(&other), MDYN_OK);
            double size = norm_speed(&t, t.v);
            truth_copy(&t, &other);
            size += norm_speed(&t, t.v);
            CHECK_NEAR(speed_error(&t, &sim, t.v), 0, WARM_AND_COLD * size);
        }
    }
}

/* A warm start is worth something, and after mdyn_reset the iterations begin anew: as many as those
   of a sim that always starts cold. */
static void test_iterations(void) {
    int fewer = 0, more = 0;
    for (int k = 0; k < 20; k++) {
        int steps = 0;
        random_bounded(6);
        mdyn_model always_cold = mech.model;
        always_cold.solver.start = MDYN_COLD;
        init_explicit(&sim, &mech.model);
        init_explicit(&other, &always_cold);
        random_bounded_state(of_wide(mech.model.dt));
        for (; steps < 20; steps++) {
            if (steps == 19) {
                CHECK_EQUAL(mdyn_reset(&sim), MDYN_OK);
                CHECK_EQUAL(mdyn_reset(&other), MDYN_OK);
            }
            copy_inputs(&other, &sim);
            if (!step_or_no_solution()) {
                break;
            }
            CHECK_EQUAL(mdyn_step(&other), MDYN_OK);
            fewer += sim.report.iterations < other.report.iterations;
            more += sim.report.iterations > other.report.iterations;
        }
        if (steps == 20) {
            CHECK_EQUAL(sim.report.iterations, other.report.iterations);
        }
    }
    if (!CHECK(fewer > 3 * more)) {
        CHECK_NOTE("%d times fewer iterations, %d times more\n", fewer, more);
    }
}

/* Rows that have nothing to do do it quickly, though the rest of the mechanism moves: three slides
   on each other, the first driven, the others at right angles to it but not to each other. Their
   impulses are rounding errors of that motion, and no iteration makes them more exact. */
static void test_nothing_to_do(void) {
    for (int k = 0; k < 50; k++) {
        mechanism_random(&mech, 3, 3, ONE_SPEED);
        for (int i = 0; i < 3; i++) {
            mdyn_wide3 along = { wide(i == 0), wide(i > 0), wide(i == 2) };
            mdyn_wide4 none = { wide(0), wide(0), wide(0), wide(0) };
            mech.body[i].parent = (int16_t)(i - 1);
            mech.body[i].joint = MDYN_PRISMATIC;
            mech.body[i].axis = along;
            mech.body[i].rotation = i > 0 ? none : mech.body[i].rotation;
            mech.body[i].friction = wide(i > 0 ? 5 : 0);
        }
        memset(&mech.model.gravity, 0, sizeof mech.model.gravity);
        CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
        for (int s = 0; s < 10; s++) {
            sim.tau[0] = real(random_in(-30, 30));
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            CHECK(sim.report.iterations <= 20);
        }
    }
}

#define NUMBERS_OF(r) \
    { of_wide(r.impulse), of_wide(r.force), of_wide(r.power), of_wide(r.error), \
      of_wide(r.velocity), of_wide(r.residual) }

/* What the last step did is told until the next one, whatever is asked in between; but for the
   speed, which is that of sim.v. */
static void test_reports_stay(void) {
    static mdyn_wide many[TN * TN];
    for (int k = 0; k < 20; k++) {
        random_bounded(6);
        init_explicit(&sim, &mech.model);
        random_bounded_state(of_wide(mech.model.dt));
        if (!step_or_no_solution()) {
            continue;
        }
        truth_copy(&t, &sim);
        truth_update(&t, &mech.model);
        truth_step_begin(&want, &t, &mech.model, &sim);
        memcpy(&other, &sim, sizeof sim);
        int code = mdyn_constrained_dynamics(&sim, many) | mdyn_forward_dynamics(&sim, many)
                 | mdyn_mass_matrix(&sim, many) | mdyn_inverse_dynamics(&sim, many, many + TN)
                 | mdyn_inverse_mass_column(&sim, 0, many) | mdyn_energy(&sim, many, many + 1);
        CHECK_EQUAL(code, MDYN_OK);
        CHECK(memcmp(&sim.report, &other.report, sizeof sim.report) == 0);
        for (int i = 0; i < want.rows; i++) {
            mdyn_row_report now, then;
            CHECK_EQUAL(mdyn_report_row(&sim, want.row[i].kind, want.row[i].index, &now), MDYN_OK);
            CHECK_EQUAL(mdyn_report_row(&other, want.row[i].kind, want.row[i].index, &then),
                        MDYN_OK);
            double a[] = NUMBERS_OF(now), b[] = NUMBERS_OF(then);
            CHECK(memcmp(a, b, sizeof a) == 0 && now.flags == then.flags);
        }
    }
}

/* ---- mechanisms of known motion ---- */

/* Dry friction of 3 N: at rest below it, (F - 3)/m above it, and a sliding block stops and stays,
   in the step in which friction can take all its speed. */
static void test_friction(void) {
    double dt = 0x1p-10, m = 2;
    mdyn_row_report report;
    blocks(1, dt);
    mech.body[0].friction = wide(3);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    sim.tau[0] = real(2.75);
    for (int i = 0; i < 100; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    CHECK_NEAR(of_real(sim.v[0]), 0, REST_SPEED);
    CHECK_NEAR(of_real(sim.q[0]), 0, REST_PLACE);
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_FRICTION, 0, &report), MDYN_OK);
    CHECK_NEAR(of_wide(report.force), -2.75, REST_FORCE);
    CHECK_EQUAL(report.flags, 0);
    sim.tau[0] = real(5);
    for (int i = 1; i <= 100; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.v[0]), i * dt * (5 - 3) / m, SLIDING_SPEED);
    }
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_FRICTION, 0, &report), MDYN_OK);
    CHECK_EQUAL(report.flags, MDYN_ROW_SATURATED);
    CHECK_NEAR(of_wide(report.power), -3 * of_real(sim.v[0]), SLIDING_POWER);
    sim.tau[0] = real(0);
    double v = of_real(sim.v[0]), stop = dt * 3 / m;
    for (int i = 0; i < 100; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        v = v > stop * 1.000001 ? v - stop : 0;
        CHECK_NEAR(of_real(sim.v[0]), v, v > 0 ? STOPPING_SPEED : STOPPED_SPEED);
    }
}

/* A block runs into its stop: it stands exactly there, never beyond, and the stop only pushes. */
static void test_stop(void) {
    double dt = 0x1p-8, upper = 0.7;
    mdyn_row_report report;
    blocks(1, dt);
    mech.body[0].lower = wide(-0.3);
    mech.body[0].upper = wide(upper);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    sim.tau[0] = real(10);
    upper = of_wide(mech.body[0].upper);
    for (int i = 0; i < 300; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(worse(of_real(sim.q[0]) - upper, 0), 0, STOP_PLACE);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_LIMIT, 0, &report), MDYN_OK);
        CHECK(of_wide(report.impulse) <= 0);
    }
    CHECK_NEAR(of_real(sim.q[0]), upper, STOP_PLACE);
    CHECK_NEAR(of_real(sim.v[0]), 0, STOP_SPEED);
    CHECK_NEAR(of_wide(report.force), -10, STOP_FORCE);
    sim.tau[0] = real(-10);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(of_real(sim.v[0]), -dt * 5, STOP_LEAVING); /* it does not stick */
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_LIMIT, 0, &report), MDYN_OK);
    CHECK_NEAR(of_wide(report.impulse), 0, 0);
}

/* Random mechanisms thrown into their limits. Every joint that was inside stays inside. */
static void test_no_penetration(void) {
    double worst = 0;
    for (int k = 0; k < 60; k++) {
        mechanism_random(&mech, 6, 8, ONE_SPEED | ARMATURES | (k % 2 ? FOREST : 0));
        for (int b = 0; b < 6; b++) {
            mech.body[b].lower = wide(random_in(-0.5, 0));
            mech.body[b].upper = wide(random_in(0.1, 0.5));
        }
        mech.model.solver.iterations = 2000;
        CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
        for (int i = 0; i < 6; i++) {
            sim.v[i] = real(random_in(-20, 20));
        }
        for (int s = 0; s < 200; s++) {
            for (int i = 0; i < 6; i++) {
                sim.tau[i] = real(random_in(-50, 50));
            }
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            for (int i = 0; i < 6; i++) {
                worst = worse(worst, of_real(sim.q[i]) - of_wide(mech.body[i].upper));
                worst = worse(worst, of_wide(mech.body[i].lower) - of_real(sim.q[i]));
            }
        }
    }
    CHECK_NEAR(worst, 0, PENETRATION);
}

/* A drive held by its effort: constant acceleration, until the spring asks for less; then the
   implicit spring and damper, exactly. */
static void test_drive(void) {
    double dt = 0x1p-9, m = 2, kp = 50, kd = 20, most = 4, target = 0.5, q = 0, v = 0;
    int held = 0;
    mdyn_row_report report;
    blocks(1, dt);
    mech.body[0].drive_kp = wide(kp);
    mech.body[0].drive_kd = wide(kd);
    mech.body[0].effort = wide(most);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    sim.target[0] = real(target);
    sim.target_velocity[0] = real(0.25);
    sim.tau[0] = real(1);
    for (int i = 0; i < 2000; i++) {
        /* f = kp (target - q') + kd (0.25 - v'), q' = q + dt v', m (v' - v) = dt (f + 1) */
        double free = m * v + dt * (kp * (target - q) + kd * 0.25 + 1);
        double next = free / (m + dt * (dt * kp + kd));
        double force = m * (next - v) / dt; /* drive and command together */
        force = force > most ? most : force < -most ? -most : force;
        held += force >= most;
        v += dt * force / m;
        q += dt * v;
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.v[0]), v, DRIVE_SPEED);
        CHECK_NEAR(of_real(sim.q[0]), q, DRIVE_PLACE);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_DRIVE, 0, &report), MDYN_OK);
        CHECK_NEAR(of_wide(report.force) + 1, force, DRIVE_FORCE);
    }
    CHECK(held > 10 && held < 1000);
}

/* A command beyond the effort counts as the effort. */
static void test_effort_of_command(void) {
    blocks(1, 0x1p-8);
    mech.body[0].effort = wide(4);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    sim.tau[0] = real(100);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(of_real(sim.v[0]), 2.0 / 256, EFFORT_OF_COMMAND);
    CHECK_NEAR(of_real(sim.tau[0]), 100, 0);
}

/* A slip clutch: a coupling of bounded effort drags the follower with that force and no more. */
static void test_clutch(void) {
    double dt = 0x1p-8;
    mdyn_row_report report;
    blocks(2, dt);
    mdyn_coupling c = MDYN_MIMIC(1, 0, 1.0, 0.0);
    c.level = MDYN_VELOCITY;
    c.effort = wide(1.5);
    couple(c);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    sim.tau[0] = real(6);
    for (int i = 1; i <= 256; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.v[0]), i * dt * (6 - 1.5) / 2, CLUTCH_LEADER);
        CHECK_NEAR(of_real(sim.v[1]), i * dt * 1.5 / 2, CLUTCH_FOLLOWER);
    }
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &report), MDYN_OK);
    CHECK_EQUAL(report.flags, MDYN_ROW_SATURATED);
    CHECK_NEAR(of_wide(report.force), 1.5, CLUTCH_FORCE);
    sim.tau[0] = real(0); /* slips until both have the same speed, then holds it */
    for (int i = 0; i < 600; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    CHECK_NEAR(of_real(sim.v[0]), of_real(sim.v[1]), CLUTCH_CLOSED);
    CHECK_NEAR(of_real(sim.v[0]), 3.0 / 2, CLUTCH_TOGETHER);
}

/* Backlash: inside its range a coupling is not there; at its end it drives. */
static void test_backlash(void) {
    double dt = 0x1p-8, gap = 0.25;
    blocks(2, dt);
    mdyn_coupling c = MDYN_MIMIC(1, 0, 1.0, 0.0);
    c.lower = wide(-gap);
    c.upper = wide(gap);
    couple(c);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    sim.tau[0] = real(4);
    int touched = 0;
    for (int i = 1; i < 400; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        double slack = of_real(sim.q[1]) - of_real(sim.q[0]);
        CHECK_NEAR(worse(-gap - slack, 0), 0, BACKLASH_GAP);
        if (!touched && slack > -gap + 1e-4) {
            CHECK_NEAR(of_real(sim.v[1]), 0, 0);
            CHECK_NEAR(of_real(sim.v[0]), i * dt * 2, BACKLASH_FREE);
        } else {
            touched = 1;
            CHECK_NEAR(of_real(sim.v[0]) + of_real(sim.v[1]), i * dt * 2, BACKLASH_SUM);
        }
    }
    CHECK(touched);
    CHECK_NEAR(of_real(sim.v[0]), of_real(sim.v[1]), BACKLASH_CLOSED);
}

/* Rows that are needed only by the motion that the others leave have iterations of their own. A
   joint with dry friction carries 1e6 times the mass of its own on a second one with friction:
   their iterations close a millionth of the gap each and use up all there are, unless they follow
   the direction that is left. Beside them, two slides on each other run into their stops in the
   same step, which closes half of the gap in an iteration. */
static int step_late_rows(double relaxation) {
    enum { BASE, LOAD, SLIDE, TOP };
    double dt = 0x1p-8;
    blocks(4, dt);
    mech.model.solver.relaxation = wide(relaxation);
    mech.body[LOAD].parent = BASE;
    mech.body[BASE].mass = wide(1e-3);
    mech.body[LOAD].mass = wide(1e3);
    mech.body[BASE].friction = mech.body[LOAD].friction = wide(1e8);
    mech.body[TOP].parent = SLIDE;
    for (int i = SLIDE; i <= TOP; i++) {
        mech.body[i].lower = wide(-1);
        mech.body[i].upper = wide(0.25);
    }
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    sim.v[BASE] = sim.v[LOAD] = real(1);
    sim.q[SLIDE] = sim.q[TOP] = real(0.125);
    sim.tau[SLIDE] = real((2 + 2 * 2) * 64 / dt); /* to speeds of 64 in this step */
    sim.tau[TOP] = real(2 * 2 * 64 / dt);
    return mdyn_step(&sim);
}

static void test_late_rows(void) {
    CHECK_EQUAL(step_late_rows(1), MDYN_WARN_NOT_CONVERGED);
    /* in fixed point the solve begins anew with the late rows: they need a larger block */
    CHECK(sim.report.iterations > BY_SCALAR(100, 100, 99) && sim.report.iterations <= 200 + 6);
    for (int i = 2; i < 4; i++) {
        CHECK_NEAR(of_real(sim.q[i]), 0.25, LATE_ROWS);
    }

    /* base and load come to rest; in fixed point their impulses leave the velocities few digits */
    CHECK_EQUAL(step_late_rows(0), BY_SCALAR(MDYN_OK, MDYN_OK, MDYN_WARN_DIGITS));
    CHECK(sim.report.iterations < 100);
    for (int i = 0; i < 4; i++) { /* the slides as far as their stops in this step */
        CHECK_NEAR(of_real(sim.v[i]), i < 2 ? 0 : 0.125 * 256, SOLVED_LATE);
    }
}

/* A block of 2 kg between a stop at 0.1 and a coupling that wants it at 0.2 and more. */
static void begin_conflict(double dt, int iterations) {
    mdyn_coupling c = MDYN_MIMIC(0, 0, 0, 0);
    c.lower = wide(0.2);
    c.upper = wide(0.3);
    blocks(1, dt);
    mech.body[0].lower = wide(-0.1);
    mech.body[0].upper = wide(0.1);
    couple(c);
    mech.model.solver.iterations = (uint16_t)iterations;
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_WARN_EMPTY_RANGE);
    sim.q[0] = real(0.15);
}

/* Rows that cannot all hold end the step all the same, however many iterations are allowed; the
   step says that one of them misses. */
static void test_most_iterations(void) {
    begin_conflict(0x1p-8, UINT16_MAX);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_WARN_NOT_CONVERGED);
    CHECK_EQUAL(sim.culprit.code, MDYN_WARN_NOT_CONVERGED);
    CHECK_EQUAL(sim.report.iterations, INT16_MAX);
    CHECK(of_wide(sim.report.residual) > 1e-6);
}

/* An iteration pushes the one against the other by what takes back 0.2 of the 0.1 m in a step, 2 kg
   0.2 0.1 m/dt, and no warm start makes it more than the iterations of one step, and the 6 N that
   shake the block. */
static void test_conflict_stays(void) {
    double dt = 0x1p-10, iteration = 2 * 0.2 * 0.1 / dt, most = 0;
    mdyn_row_report report;
    begin_conflict(dt, 5);
    for (int i = 0; i < 1000000; i++) {
        sim.tau[0] = real((i * 7) % 13 - 6);
        int code = mdyn_step(&sim);
        code |= mdyn_report_row(&sim, MDYN_ROW_LIMIT, 0, &report);
        most = worse(most, code == MDYN_WARN_NOT_CONVERGED ? fabs(of_wide(report.impulse))
                                                           : HUGE_VAL);
    }
    CHECK_NEAR(most, 5 * iteration, CONFLICT * iteration);
}

/* Two motors geared 5 : 2 by at most 0.15 N m, with a drive and dry friction: where the drive turns
   back iterations creep along one direction, which is followed to its end. The motion is that of
   pivoting, and of iterations that creep. */
static void test_extrapolated(void) {
    static mdyn_sim creeping;
    int most = 0, most_creeping = 0;
    double worst = 0, fastest = 0;
    memset(&mech, 0, sizeof mech);
    for (int i = 0; i < 2; i++) {
        mech.body[i].parent = MDYN_WORLD;
        mech.body[i].joint = MDYN_REVOLUTE;
        mech.body[i].armature = wide(i == 0 ? 2e-4 : 3e-4);
    }
    mech.body[0].drive_kp = wide(2);
    mech.body[0].drive_kd = wide(0.02);
    mech.body[0].effort = wide(0.5);
    mech.body[1].friction = wide(0.01);
    mech.coupling[0] = (mdyn_coupling){ .terms = { MDYN_TERM(0, 2), MDYN_TERM(1, -5) } };
    mech.coupling[0].effort = wide(0.15);
    mech.model.bodies = mech.body;
    mech.model.body_count = 2;
    mech.model.couplings = mech.coupling;
    mech.model.coupling_count = 1;
    mech.model.dt = wide(0.001);
    mech.model.solver.iterations = 400;
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    mdyn_solver plain = mech.model.solver;
    plain.relaxation = wide(1);
    for (int s = 0; s < 500; s++) {
        sim.target[0] = real(s / 100 % 2 ? 0.5 : -0.25);
        sim.tau[1] = real(s / 37 % 2 ? 0.0625 : -0.03125);
        creeping = sim;
        CHECK_EQUAL(mdyn_set_solver(&creeping, &plain), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&creeping), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        most = sim.report.iterations > most ? sim.report.iterations : most;
        most_creeping = creeping.report.iterations > most_creeping ? creeping.report.iterations
                                                                   : most_creeping;
        for (int i = 0; i < 2; i++) {
            worst = worse(worst, of_real(sim.v[i]) - of_real(creeping.v[i]));
            fastest = worse(fastest, of_real(sim.v[i]));
        }
    }
    CHECK(most <= 16 && most_creeping >= 50);
    CHECK_NEAR(worst / fastest, 0, EXTRAPOLATED);
}

/* Three couplings that lock three blocks and nearly depend on each other, iterated, at velocities
   that a float has no squares for: they bring the blocks to rest, or leave that motion; they add
   none. */
static void test_dust(void) {
    static const double mass[] = { 0.09, 0.0173, 1.366 };
    static const double v[] = { 6.3e-21, -9.2e-21, -1.04e-20 };
    static const double ties[][3] = { { 1, 1.2, 0 }, { 0, -2.35, 1.07 }, { -1.74, 1.54, -2.43 } };
    double fastest = 0, strongest = 0;
    mdyn_row_report report;
    blocks(3, 0x1p-8);
    for (int i = 0; i < 3; i++) {
        mdyn_coupling c = { .offset = wide(0) };
        for (int k = 0; k < 3; k++)
            c.terms[k] = (mdyn_term){ .body = (int16_t)k, .coefficient = wide(ties[i][k]) };
        couple(c);
        mech.body[i].mass = wide(mass[i]);
    }
    mech.model.solver.equality = MDYN_ITERATED;
    mech.model.solver.start = MDYN_COLD;
    mech.model.solver.iterations = 400;
    CHECK(init_explicit(&sim, &mech.model) >= 0);
    for (int s = 0; s < 20; s++) {
        for (int i = 0; i < 3; i++) sim.v[i] = real(v[i] * (1 + s));
        CHECK(mdyn_step(&sim) >= 0);
        for (int i = 0; i < 3; i++) {
            CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, i, &report), MDYN_OK);
            fastest = worse(fastest, of_real(sim.v[i]));
            strongest = worse(strongest, of_wide(report.impulse));
        }
    }
    CHECK(fastest <= 1e-17 && strongest <= 1e-17);
}

/* Warm starts make up for few iterations: two slides pressed against their stops, 2 iterations in a
   solve, each of which closes half of the gap. Two solves, one for the warm start, share those of a
   step. Cold starts, of one solve, get nowhere near. */
static void test_few_iterations(void) {
    for (int cold = 0; cold < 2; cold++) {
        double past = 0;
        blocks(2, 0x1p-8);
        mech.body[1].parent = 0;
        mech.body[0].upper = mech.body[1].upper = wide(0.25);
        mech.body[0].lower = mech.body[1].lower = wide(-1);
        mech.model.solver.iterations = cold ? 2 : 4;
        mech.model.solver.start = cold ? MDYN_COLD : MDYN_WARM;
        CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
        sim.q[0] = sim.q[1] = real(0.25);
        sim.tau[0] = real(3);
        sim.tau[1] = real(5);
        int told = 0;
        for (int i = 0; i < 400; i++) {
            int code = mdyn_step(&sim);
            CHECK(code == MDYN_OK || code == MDYN_WARN_NOT_CONVERGED);
            told += code != MDYN_OK;
            past = fabs(of_real(sim.q[0]) - 0.25);
        }
        CHECK(cold ? past > 1e-5 && told == 400 : past <= FEW_ITERATIONS && told < 40);
    }
}

/* A block found 0.01 m past its stop, in a step after one that did not converge: its row is
   activated late, in the solve without biases, and still takes back a fifth of the way. */
static void test_late_bias(void) {
    const double dt = 0x1p-8;
    blocks(3, dt);
    mech.body[1].parent = 0;
    for (int i = 0; i < 3; i++) {
        mech.body[i].upper = wide(0.25);
        mech.body[i].lower = wide(-1);
    }
    mech.model.solver.iterations = 2;
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    sim.q[0] = sim.q[1] = real(0.26);
    sim.tau[0] = real(3);
    sim.tau[1] = real(5);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_WARN_NOT_CONVERGED);
    sim.q[0] = sim.q[1] = sim.tau[0] = sim.tau[1] = real(0);
    sim.q[2] = real(0.26);
    CHECK(mdyn_step(&sim) >= 0);
    CHECK_NEAR(of_real(sim.v[2]), -0.2 * 0.01 / dt, LATE_BIAS);
}

/* ---- limits seen through couplings ---- */

/* Friction, stops and damping take energy, they never give it. */
static void test_passive(void) {
    for (int k = 0; k < 40; k++) {
        random_bounded(0);
        for (int b = 0; b < t.bodies; b++) {
            mech.body[b].friction = wide(t.dofs_of[b] == 1 ? random_in(0, 10) : 0);
            mech.body[b].lower = wide(t.dofs_of[b] == 1 ? -3 : 0);
            mech.body[b].upper = wide(t.dofs_of[b] == 1 ? 3 : 0);
        }
        for (int i = 0; i < mech.model.coupling_count; i++) {
            mech.coupling[i].softness.a = wide(0);
        }
        memset(&mech.model.gravity, 0, sizeof mech.model.gravity);
        init_explicit(&sim, &mech.model);
        CHECK_NEAR(worse(truth_step_gain(&want, &t, &mech.model, &sim), 0), 0, PASSIVE);
    }
}

int main(int argc, char **argv) {
    static const struct {
        uint64_t seed;
        void (*run)(void);
    } tests[] = {
        { 1, test_brute_force }, { 2, test_warm_and_cold }, { 3, test_iterations },
        { 4, test_nothing_to_do }, { 5, test_reports_stay }, { 6, test_friction }, { 7, test_stop },
        { 8, test_no_penetration }, { 9, test_drive }, { 10, test_effort_of_command },
        { 11, test_clutch }, { 12, test_backlash }, { 13, test_late_rows },
        { 14, test_most_iterations }, { 15, test_conflict_stays }, { 16, test_few_iterations },
        { 17, test_late_bias }, { 18, test_extrapolated },
        { 19, test_dust }, { 20, test_passive }
    };
    check_begin(argc, argv);
    for (int i = 0; i < (int)(sizeof tests / sizeof *tests); i++) {
        random_seed(tests[i].seed);
        tests[i].run();
    }
    return check_end();
}
