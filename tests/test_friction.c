/* Coulomb friction of user rows and contacts: in two stages against the dense solution of
   truth_step.h; on an incline, and of a cone, in closed form. Dry friction and bounded rows where
   exact rows alone decide the motion. */
#include "knobs.h"
#include "check.h"
#include "truth.h"
#include "truth_step.h"
#include "rows_on_bodies.h"
#include "boxes.h"

/* The bound of friction by the dense impulse of its leader in s; 0: none yet. */
static void bound_friction(int stage) {
    for (int i = 0; i < dense.rows; i++) {
        truth_row *r = &dense.row[i];
        if (r->leader >= 0) {
            r->most = stage ? r->mu * fabsl(dense.lambda[r->leader]) : 0;
            r->least = -r->most;
        }
    }
}

/* Friction in two stages: first without, then with the bounds that this gave. */
static void two_stages(mdyn_method method) {
    outcomes o = { 0 };
    for (int n = 0; n < 50; n++) {
        random_seed(500 + (uint64_t)n);
        draw_mechanism(4, 20, FLOATING);
        solve_well(method);
        mech.model.solver.friction_law = MDYN_TWO_STAGE;
        mech.model.user_row_count = 2;
        random_user_row(&user_row[0], 5);
        random_user_row(&user_row[1], 3);
        user_row[1].mu = wide(0.5);
        start();
        sim_random(&sim, &mech.model, 2, 5);
        look();
        truth_step_begin(&dense, &t, &mech.model, &sim);
        hits = n % 2;
        random_hit(&hit[0]);
        if (!step_goes(&o)) {
            continue;
        }
        dense_rows(&o);
        for (int stage = 0; stage < 2; stage++) {
            bound_friction(stage);
            truth_step_solve(&dense, t.dofs);
        }
        o.worst = worse(o.worst, gap_of_speeds());
        CHECK_NEAR(gap_of_speeds(), 0.0, BY_SCALAR(5e-13, 3e-4, 5e-5));
        o.compared++;
    }
    hits = 0;
    CHECK_EQUAL(o.compared, 50);
    tell_outcomes("two stages", &o);
}

/* ---- boxes ---- */

/* A box sticks below the angle atan mu, and slides above it with g (sin - mu cos); along the
   diagonal a pyramid holds sqrt 2 times as much, a cone does not. */
static void incline(mdyn_method method) {
    static const double angles[] = { 26, 27, 34, 36 };
    for (int n = 0; n < 24; n++) {
        mdyn_friction_law law = (mdyn_friction_law)(n % 3);
        if (method == MDYN_DANTZIG && law == MDYN_CONE) {
            continue;
        }
        double angle = angles[n / 6] * 3.141592653589793 / 180, s = sin(angle), c = cos(angle);
        int diagonal = n / 3 % 2, steps = method == MDYN_TGS ? 75 : 300;
        double hold = 0.5 * (diagonal && law != MDYN_CONE ? sqrt(2) : 1);
        double want = fmax(0, 9.81 * (s - hold * c)) * steps * 0x1p-10;
        boxes(1, law);
        solve_by(method);
        mech.model.gravity.x = wide(9.81 * s * (diagonal ? sqrt(0.5) : 1));
        mech.model.gravity.y = wide(9.81 * s * (diagonal ? sqrt(0.5) : 0));
        mech.model.gravity.z = wide(-9.81 * c);
        CHECK_EQUAL(mdyn_set_gravity(&sim, &mech.model.gravity), MDYN_OK);
        for (int k = 0; k < steps; k++) {
            touch(1, 0.5, k % 2);
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        }
        CHECK_NEAR(hypot(of_real(sim.v[3]), of_real(sim.v[4])), want, BY_SCALAR(1e-14, 5e-6, 5e-7));
        CHECK_NEAR(of_real(sim.q[2]), 0.05, BY_SCALAR(1e-15, 3e-8, 2e-9));
    }
}

/* A cone's friction is against the slip, whatever its direction; a body's weight times mu. */
static void cone(void) {
    for (int n = 0; n < 16; n++) {
        double angle = 0.3 + n * 0.39, v = 2;
        mdyn_contact c;
        memset(&c, 0, sizeof c);
        boxes(1, MDYN_CONE);
        sim.v[3] = real(v * cos(angle));
        sim.v[4] = real(v * sin(angle));
        c.b = MDYN_WORLD; /* at the center of mass: nothing turns */
        c.normal.z = real(1);
        c.point.z = real(0.05);
        c.mu = wide(0.5);
        CHECK_EQUAL(mdyn_set_contacts(&sim, &c, 1), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        v -= 0.5 * 9.81 * 0x1p-10;
        CHECK_NEAR(of_real(sim.v[3]), v * cos(angle), BY_SCALAR(2e-15, 1e-6, 3e-8));
        CHECK_NEAR(of_real(sim.v[4]), v * sin(angle), BY_SCALAR(2e-15, 1e-6, 3e-8));
    }
}

/* ---- slides ---- */

/* Row 0 drives slide 0 at 1 m/s and yields a little to slide 1; row 1 stops the weight, slide 2,
   and row 2 is its friction on slide 0, over a gear of `ratio`. To stop slide 0 would take 1/yield
   m/s of slide 1: friction is far from that, and has all its digits. */
static void driven_slide(double yield, double ratio) {
    const double dt = 0x1p-10, weight = 10 * dt, most = 0.5 * weight;
    mdyn_row_report report;
    memset(&mech, 0, sizeof mech);
    memset(user_row, 0, sizeof user_row);
    for (int i = 0; i < 3; i++) {
        mech.body[i].parent = MDYN_WORLD;
        mech.body[i].joint = MDYN_PRISMATIC;
        mech.body[i].mass = wide(1);
        user_row[i].level = MDYN_VELOCITY;
        user_row[i].terms[0].body = (int16_t)(i == 1 ? 2 : 0);
        user_row[i].terms[0].axes = user_row[i].terms[1].axes = MDYN_JOINT_VELOCITIES;
        user_row[i].terms[0].angular.x = wide(1);
    }
    user_row[0].terms[1].body = 1;
    user_row[0].terms[1].angular.x = wide(yield);
    user_row[0].target_velocity = wide(1);
    user_row[1].force_max = MDYN_UNLIMITED;
    user_row[2].terms[0].angular.x = wide(ratio);
    user_row[2].mu = wide(0.5);
    user_row[2].mu_of = 1;
    mech.model.bodies = mech.body;
    mech.model.body_count = 3;
    mech.model.dt = wide(dt);
    mech.model.user_row_count = 3;
    start();
    sim.v[0] = real(1);
    sim.tau[2] = real(-10);
    for (int step = 0; step < 5; step++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_USER, 1, &report), MDYN_OK);
        CHECK_NEAR(of_wide(report.impulse), weight, BY_SCALAR(1e-15, 1e-8, 1e-8));
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_USER, 2, &report), MDYN_OK);
        CHECK_NEAR(of_wide(report.impulse), -most, BY_SCALAR(1e-15, 1e-8, 3e-8));
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_USER, 0, &report), MDYN_OK);
        CHECK_NEAR(of_wide(report.impulse), ratio * most / (1 + yield * yield),
                   ratio * BY_SCALAR(1e-12, 1e-4, 1e-6));
    }
}

/* ---- prescribed motion ---- */

/* Joint 0 is prescribed; q_0 = 2 q_1 and q_2 = -3 q_0. Their friction is what drives them at a
   constant speed, opposes each direction, and is none at rest. */
static void prescribed(void) {
    static const double speed[] = { 1, 1, 1, -1, -1, -1, 0.5, 0.5, 0, 0 };
    static const double friction[] = { 1, 2, 0.5 }, rate[] = { 1, 0.5, -3 };
    const double total = 1 + 2 * 0.5 + 0.5 * 3, inertia = 0.01 * (1 + 0.25 + 9);
    double at = 0, before = 0;
    memset(&mech, 0, sizeof mech);
    for (int i = 0; i < 3; i++) {
        mech.body[i].parent = MDYN_WORLD;
        mech.body[i].joint = MDYN_REVOLUTE;
        mech.body[i].axis.z = wide(1);
        mech.body[i].armature = wide(0.01);
        mech.body[i].friction = wide(friction[i]);
    }
    mech.coupling[0] = (mdyn_coupling)MDYN_PRESCRIBED(0);
    mech.coupling[1] = (mdyn_coupling)MDYN_GEAR(0, 1, 1, -2, 0);
    mech.coupling[2] = (mdyn_coupling)MDYN_GEAR(2, 1, 0, 3, 0);
    mech.model.bodies = mech.body;
    mech.model.body_count = 3;
    mech.model.couplings = mech.coupling;
    mech.model.coupling_count = 3;
    mech.model.dt = wide(0x1p-10);
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    for (unsigned n = 0; n < sizeof speed / sizeof speed[0]; n++) {
        const double v = speed[n], sign = (v > 0) - (v < 0), accelerates = (v - before) * 0x1p10;
        mdyn_row_report row;
        mdyn_wide force;
        at += v * 0x1p-10;
        CHECK_EQUAL(mdyn_set_coupling_target(&sim, 0, real(at), real(v)), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 0, &force), MDYN_OK);
        CHECK_NEAR(of_wide(force), sign * total + inertia * accelerates,
                   BY_SCALAR(1e-11, 1e-3, 3e-6));
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(of_real(sim.v[i]), v * rate[i], BY_SCALAR(1e-13, 1e-5, 5e-8));
            CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_FRICTION, i, &row), MDYN_OK);
            CHECK_NEAR(of_wide(row.impulse), sign * (rate[i] < 0 ? 1 : -1) * friction[i] * 0x1p-10,
                       1e-10);
            CHECK_EQUAL(row.flags, MDYN_ROW_REDUNDANT | (v != 0 ? MDYN_ROW_SATURATED : 0));
        }
        before = v;
    }
}

/* Joint 0 is prescribed against a brake of 2 N m, coupling 1, which presses on joint 1 with mu 0.5
   and on joint 0 with mu 0.25: joint 1 slows down by 1 N m while joint 0 turns. The brake lets go
   below `idle`: a range, which the motion before the prescribed one may not leave. */
static void pressed(mdyn_method method, double idle) {
    static const double speed[] = { 1, 1, -1, -1, 0, 0, 2, 2 }, mu[] = { 0, 0, 0.5, 0.25 };
    const double dt = 0x1p-10, inertia = 0.01;
    double at = 0, v = 3, before = 0;
    memset(&mech, 0, sizeof mech);
    for (int i = 0; i < 2; i++) {
        mech.body[i].parent = MDYN_WORLD;
        mech.body[i].joint = MDYN_REVOLUTE;
        mech.body[i].armature = wide(inertia);
    }
    mech.coupling[0] = (mdyn_coupling)MDYN_PRESCRIBED(0);
    for (int i = 1; i < 4; i++) {
        mech.coupling[i].terms[0].body = (int16_t)(i == 2);
        mech.coupling[i].terms[0].coefficient = wide(1);
        mech.coupling[i].level = MDYN_VELOCITY;
        mech.coupling[i].mu = wide(mu[i]);
        mech.coupling[i].mu_of = 1;
    }
    mech.coupling[1].mu_of = 0;
    mech.coupling[1].effort = wide(2);
    mech.coupling[1].lower = wide(-idle);
    mech.coupling[1].upper = wide(idle);
    mech.model.bodies = mech.body;
    mech.model.body_count = 2;
    mech.model.couplings = mech.coupling;
    mech.model.coupling_count = 4;
    mech.model.dt = wide(dt);
    mech.model.solver.method = method;
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    sim.v[1] = real(v);
    for (unsigned n = 0; n < sizeof speed / sizeof speed[0]; n++) {
        const double u = speed[n], sign = (u > 0) - (u < 0), accelerates = (u - before) / dt;
        mdyn_row_report row;
        at += u * dt;
        v -= dt * fabs(sign) * 0.5 * 2 / inertia;
        CHECK_EQUAL(mdyn_set_coupling_target(&sim, 0, real(at), real(u)), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.v[1]), v, BY_SCALAR(1e-13, 2e-6, 1e-7));
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 3, &row), MDYN_OK);
        CHECK_NEAR(of_wide(row.force), -sign * 0.25 * 2, BY_SCALAR(1e-13, 1e-6, 1e-6));
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &row), MDYN_OK);
        CHECK_NEAR(of_wide(row.force), sign * 1.25 * 2 + inertia * accelerates,
                   BY_SCALAR(1e-11, 1e-3, 3e-6));
        before = u;
    }
}

/* An exact row holds joints 0 and 1 together; a bounded one, which depends on it, pulls them apart
   with `effort`, and presses on joint 2 with mu 0.1: far more than the motion that stops it. */
static void strong_leader(mdyn_method method, int of_user, double effort) {
    const double speed = 1e-3, dt = 0x1p-10;
    mdyn_row_report row;
    memset(&mech, 0, sizeof mech);
    for (int i = 0; i < 3; i++) {
        mech.body[i].parent = MDYN_WORLD;
        mech.body[i].joint = MDYN_PRISMATIC;
        mech.body[i].armature = wide(1);
    }
    mech.coupling[0] = (mdyn_coupling)MDYN_MIMIC_WITH(0, 1, 1, 0, MDYN_HARD(0.2), 0, NULL);
    mech.coupling[1] = mech.coupling[0];
    mech.coupling[1].level = MDYN_VELOCITY;
    mech.coupling[1].target_velocity = wide(1);
    mech.coupling[1].effort = wide(effort);
    mech.coupling[2] = (mdyn_coupling)MDYN_PRESCRIBED(2);
    mech.coupling[2].level = MDYN_VELOCITY;
    mech.coupling[2].mu = wide(0.1);
    mech.coupling[2].mu_of = 1;
    memset(user_row, 0, sizeof user_row);
    for (int i = 0; i < 3; i++) {
        mdyn_body_term *term = &user_row[i / 2].terms[i % 2];
        term->body = (int16_t)i;
        term->axes = MDYN_JOINT_VELOCITIES;
        term->angular.x = wide(i == 1 ? -1 : 1);
        user_row[i].level = MDYN_VELOCITY;
    }
    for (int j = 2; j < MIMICDYN_MAX_TERMS; j++) {
        user_row[0].terms[j].body = user_row[1].terms[j].body = MDYN_WORLD;
    }
    user_row[1].terms[1].body = MDYN_WORLD;
    user_row[0].target_velocity = wide(1);
    user_row[0].force_min = wide(-effort);
    user_row[0].force_max = wide(effort);
    user_row[1].mu = wide(0.1);
    mech.model.bodies = mech.body;
    mech.model.body_count = 3;
    mech.model.couplings = mech.coupling;
    mech.model.coupling_count = of_user ? 1 : 3;
    mech.model.user_rows = user_row;
    mech.model.user_row_count = of_user ? 2 : 0;
    mech.model.dt = wide(dt);
    mech.model.solver.method = method;
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    sim.v[2] = real(speed);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(of_real(sim.v[2]), 0, BY_SCALAR(1e-15, 1e-9, 1e-9));
    mdyn_row_kind kind = of_user ? MDYN_ROW_USER : MDYN_ROW_COUPLING;
    CHECK_EQUAL(mdyn_report_row(&sim, kind, of_user ? 0 : 1, &row), MDYN_OK);
    CHECK_NEAR(of_wide(row.force), effort, 1e-6 * effort);
    CHECK_EQUAL(mdyn_report_row(&sim, kind, of_user ? 1 : 2, &row), MDYN_OK);
    CHECK_NEAR(of_wide(row.impulse), -speed, BY_SCALAR(1e-15, 1e-9, 1e-9));
    CHECK_EQUAL(row.flags, 0);
}

/* ---- a range of velocities that exact rows leave no choice ---- */

/* q_0 is held by a coupling, eliminated or a row; another one asks for at least 1 m/s (side 1), or
   at most -1. With a bound of 3 N on its force it pulls with that, and the first one bears it;
   without, it is contradictory. */
static void held_range(mdyn_level level, int is_row, int side, double effort) {
    const double dt = 0x1p-10;
    mdyn_row_report report;
    memset(&mech, 0, sizeof mech);
    mech.body[0].parent = MDYN_WORLD;
    mech.body[0].joint = MDYN_PRISMATIC;
    mech.body[0].mass = wide(1);
    for (int i = 0; i < 2; i++) {
        mech.coupling[i].terms[0].coefficient = wide(i ? 1 : 2);
    }
    if (is_row) {
        mech.coupling[0].softness.kind = MDYN_ERP_CFM;
        mech.coupling[0].softness.a = wide(0.2);
    }
    mech.coupling[1].level = level;
    mech.coupling[1].lower = side > 0 ? wide(1) : wide(-1e12);
    mech.coupling[1].upper = side > 0 ? wide(1e12) : wide(-1);
    mech.coupling[1].effort = wide(effort);
    mech.model.bodies = mech.body;
    mech.model.body_count = 1;
    mech.model.couplings = mech.coupling;
    mech.model.coupling_count = 2;
    mech.model.dt = wide(dt);
    for (int method = 0; method < 3; method++) {
        mech.model.solver.method = (mdyn_method)method;
        CHECK(mdyn_init(&sim, &mech.model) >= 0);
        CHECK_EQUAL(sim.tie_count, !is_row);
        for (int step = 0; step < 3; step++) {
            const int at = side > 0 ? MDYN_ROW_AT_LOWER : MDYN_ROW_AT_UPPER;
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            CHECK_EQUAL(sim.report.contradictory, effort == 0);
            CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 1, &report), MDYN_OK);
            CHECK_EQUAL(report.flags, MDYN_ROW_REDUNDANT | (effort > 0 ? MDYN_ROW_SATURATED | at
                                                                       : MDYN_ROW_CONTRADICTORY));
            CHECK(level == MDYN_POSITION ? of_wide(report.error) == -side
                                         : of_wide(report.residual) == -side);
            CHECK_NEAR(of_wide(report.force), side * effort, BY_SCALAR(1e-15, 1e-7, 1e-9));
            CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &report), MDYN_OK);
            CHECK_NEAR(of_wide(report.force), -side * effort / 2,
                       BY_SCALAR(1e-15, 1e-7, 1e-9));
            CHECK(of_real(sim.v[0]) == 0);
        }
    }
}

/* A joint whose motion is prescribed takes itself, or a joint tied to it, past a limit: within it
   nothing is said, beyond it the limit is CONTRADICTORY in every step. */
static void passed_limit(int is_row, int side, double ratio) {
    const double dt = 0x1p-10, limit = 0.05;
    mdyn_row_report report;
    memset(&mech, 0, sizeof mech);
    for (int i = 0; i < 2; i++) {
        mech.body[i].parent = MDYN_WORLD;
        mech.body[i].joint = MDYN_REVOLUTE;
        mech.body[i].armature = wide(0.01);
    }
    mech.body[1].lower = wide(-limit);
    mech.body[1].upper = wide(limit);
    mech.coupling[0].terms[0].coefficient = wide(1);
    mech.coupling[1].terms[0].body = 1;
    mech.coupling[1].terms[0].coefficient = wide(1);
    mech.coupling[1].terms[1].coefficient = wide(-ratio);
    for (int i = 0; i < 2 && is_row; i++) {
        mech.coupling[i].softness.kind = MDYN_ERP_CFM;
        mech.coupling[i].softness.a = wide(1);
    }
    mech.model.bodies = mech.body;
    mech.model.body_count = 2;
    mech.model.couplings = mech.coupling;
    mech.model.coupling_count = 2;
    mech.model.dt = wide(dt);
    CHECK(mdyn_init(&sim, &mech.model) >= 0);
    sim.v[0] = real(side * 0.5);
    sim.v[1] = real(side * 0.5 * ratio);
    for (int step = 1; step <= 200; step++) {
        const double q = side * 0.5 * dt * step, rate = side * 0.5;
        CHECK_EQUAL(mdyn_set_coupling_target(&sim, 0, real(q - dt / 2 * rate), real(rate)),
                    MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.q[1]), ratio * q, 1e-6);
        if (fabs(fabs(ratio * q) - limit) < ratio * dt) continue;
        CHECK_EQUAL(sim.report.contradictory, fabs(ratio * q) > limit);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_LIMIT, 1, &report), MDYN_OK);
        CHECK_EQUAL((report.flags & MDYN_ROW_CONTRADICTORY) != 0, fabs(ratio * q) > limit);
        CHECK(of_wide(report.force) == 0);
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    prescribed();
    for (int i = 0; i < 2; i++) {
        pressed(MDYN_PGS, 0.5 * i);
        pressed(MDYN_TGS, 0.5 * i);
        pressed(MDYN_DANTZIG, 0.5 * i);
    }
    driven_slide(0, 1);
    driven_slide(0, 4000);
    driven_slide(1e-2, 1);
    driven_slide(1e-3, 1);
    for (int i = 0; i < 8; i++) {
        held_range(MDYN_VELOCITY, i & 1, i & 2 ? 1 : -1, i & 4 ? 3 : 0);
        held_range(MDYN_POSITION, i & 1, i & 2 ? 1 : -1, i & 4 ? 3 : 0);
        passed_limit(i & 1, i & 2 ? 1 : -1, i & 4 ? 4 : 1);
    }
    for (int method = MDYN_PGS; method <= MDYN_DANTZIG; method++) {
        for (int of_user = 0; of_user < 2; of_user++) {
            strong_leader((mdyn_method)method, of_user, 100);
            strong_leader((mdyn_method)method, of_user, 1e5);
        }
    }
    two_stages(MDYN_PGS);
    two_stages(MDYN_DANTZIG);
    incline(MDYN_PGS);
    incline(MDYN_TGS);
    incline(MDYN_DANTZIG);
    cone();
    return check_end();
}
