/* Rows of the user's own: one step against the dense solution of truth_step.h, warm starts, rows in
   other units, another order and in parts, what is refused, texts. */
#include "knobs.h"
#include "check.h"
#include "explicit.h"
#include "truth.h"
#include "truth_step.h"
#include "rows_on_bodies.h"
#include "boxes.h"

/* What the checks allow, as parts of the motion: some three times the worst of -s 1, 2 and 3. */
/*                           F64    F32  FIXED */
TOLERANCE(USER_ROW_SPEEDS, 1e-12,  5e-4,  2e-4);
TOLERANCE(OTHER_UNITS,     2e-9,   6e-3,  2e-4);
TOLERANCE(SPEED_OF_ROW,    1e-14,  1e-6,  1e-8);
TOLERANCE(PULL,            1e-14,  1e-6,  3e-8); /* [kg m/s] of 2 */

/* Rows of every kind on random trees; a friction row after a bounded one. */
static void user_rows_against_dense(mdyn_method method) {
    outcomes o[3] = { { 0 } }; /* of the first, second and third state */
    for (int n = 0; n < 300; n++) {
        random_seed(100 + (uint64_t)n);
        draw_mechanism(2 + random_int(6), 20, n % 2 ? FOREST : FLOATING);
        mech.model.user_row_count = 1 + random_int(4);
        for (int i = 0; i < mech.model.user_row_count; i++) {
            random_user_row(&user_row[i], i == 0 && n % 3 == 0 ? 3 : random_int(6));
        }
        if (n % 3 == 0 && mech.model.user_row_count < 5) {
            mdyn_user_row *r = &user_row[mech.model.user_row_count++];
            random_user_row(r, 3);
            r->mu = wide(random_in(0.1, 1));
            r->target_velocity = wide(0);
        }
        solve_well(method);
        start();
        sim_random(&sim, &mech.model, 2, 5);
        for (int again = 0; again < 3; again++) { /* nothing of the step before is left */
            step_compares(USER_ROW_SPEEDS, &o[again]);
            CHECK_EQUAL(mdyn_reset(&sim), MDYN_OK);
            sim_random(&sim, &mech.model, 2, 5);
        }
    }
    CHECK(o[0].compared >= 297 && o[0].unsolved <= 1);
    for (int again = 0; again < 3; again++) {
        CHECK(o[again].compared >= 294 && o[again].unsolved <= 2);
        tell_outcomes("user rows", &o[again]);
    }
}

/* The model of mech.body with user rows that a callback fills, steps of 2^-10 s. */
static void rows_of_callback(int bodies, int rows, mdyn_row_function function) {
    mech.model.bodies = mech.body;
    mech.model.body_count = bodies;
    mech.model.dt = wide(0x1p-10);
    mech.model.user_row_count = rows;
    mech.model.row_function = function;
    memset(user_row, 0, sizeof user_row);
}

/* ---- warm starts where the iterations do not suffice ---- */

/* Row i: slide i rests on the one below it, the first on the ground. */
static void pile_row(mdyn_sim *s, int index, mdyn_user_row *row, void *user) {
    CHECK(user == NULL);
    row->value = wide(of_real(s->q[index]) - (index > 0 ? of_real(s->q[index - 1]) : 0) - 0.1);
    row->upper = MDYN_UNLIMITED;
    for (int k = 0; k < 2; k++) {
        row->terms[k].body = (int16_t)(index - k);
        row->terms[k].axes = MDYN_JOINT_VELOCITIES;
        row->terms[k].angular.x = wide(1 - 2 * k);
    }
}

/* How far slides of 1, 2, ... kg come to be off their places, which overlap by 1 mm, with user rows
   between them and 4 iterations a step, of which each takes back 0.2. */
static double pile_drifts(mdyn_start begin, int count) {
    double worst = 0;
    memset(&mech, 0, sizeof mech);
    for (int i = 0; i < count; i++) {
        mech.body[i].parent = MDYN_WORLD;
        mech.body[i].joint = MDYN_PRISMATIC;
        mech.body[i].mass = wide(1 + i);
    }
    rows_of_callback(count, count, pile_row);
    mech.model.gravity.z = wide(-9.81);
    mech.model.solver.start = begin;
    mech.model.solver.iterations = 4;
    start();
    for (int i = 0; i < count; i++) {
        sim.q[i] = real(0.099 * (i + 1));
    }
    for (int n = 0; n < 512; n++) {
        int code = mdyn_step(&sim); /* 4 iterations are few */
        if (!CHECK(code == MDYN_OK || code == MDYN_WARN_NOT_CONVERGED)) {
            break;
        }
        for (int i = 0; i < count; i++) {
            worst = worse(worst, fabs(of_real(sim.q[i]) - 0.1 * (i + 1)));
        }
    }
    return worst;
}

/* Had the warm start kept what takes errors back, they would come off twice as far or more. */
static void warm_rows_stay(void) {
    double pile = pile_drifts(MDYN_WARM, 10);
    CHECK_NEAR(pile, 0, 0.015);
    CHECK(pile < 1.1 * pile_drifts(MDYN_COLD, 10));
}

/* ---- a frequency on what moves, and on what does not ---- */

static double slope; /* C' of the row over q_0'; 0: it moves nothing */

static void sloped_row(mdyn_sim *s, int index, mdyn_user_row *row, void *user) {
    CHECK(s == &sim && index == 0 && user == NULL);
    row->value = wide(1);
    row->terms[0].body = 0;
    row->terms[0].axes = MDYN_JOINT_VELOCITIES;
    row->terms[0].angular.x = wide(slope);
}

static int iterations_on_nothing(int moved_before) {
    start();
    slope = 1;
    if (moved_before) CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    slope = 0;
    sim.q[0] = sim.v[0] = real(0);
    sim.tau[0] = real(3);
    CHECK_EQUAL(mdyn_reset(&sim), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    return sim.report.iterations;
}

/* A row that moves nothing any more is solved as one that never did: it has no stiffness. */
static void rows_of_no_stiffness(void) {
    memset(&mech, 0, sizeof mech);
    mech.body[0].parent = MDYN_WORLD;
    mech.body[0].joint = MDYN_PRISMATIC;
    mech.body[0].mass = wide(1);
    mech.body[0].friction = wide(1);
    rows_of_callback(1, 1, sloped_row);
    mech.model.solver.correction = MDYN_RELAX; /* solves twice if a row has an error */
    user_row[0].softness.kind = MDYN_OMEGA_ZETA;
    user_row[0].softness.a = wide(30);
    user_row[0].softness.b = wide(1);
    CHECK_EQUAL(iterations_on_nothing(1), iterations_on_nothing(0));
}

/* ---- rows of one body, of which one comes and goes ---- */

/* x' = 1, z >= 0, y' = 1 of a free body. */
static void corner_row(mdyn_sim *s, int index, mdyn_user_row *row, void *user) {
    mdyn_body_term *term = &row->terms[0];
    CHECK(user == NULL);
    term->body = 0;
    if (index == 1) {
        term->linear.z = wide(1);
        row->value = wide(of_real(s->q[2]));
        row->upper = MDYN_UNLIMITED;
        return;
    }
    *(index == 0 ? &term->linear.x : &term->linear.y) = wide(1);
    row->level = MDYN_VELOCITY;
    row->target_velocity = wide(1);
    row->force_min = wide(-0x1p14);
    row->force_max = wide(0x1p14);
}

/* Once the row between them has pushed and no longer takes part, the two others hold as before. */
static void rows_behind_an_idle_one(mdyn_method method) {
    mdyn_row_report of_range;
    memset(&mech, 0, sizeof mech);
    mech.body[0].parent = MDYN_WORLD;
    mech.body[0].joint = MDYN_FREE;
    mech.body[0].mass = wide(1);
    mech.body[0].inertia.xx = mech.body[0].inertia.yy = mech.body[0].inertia.zz = wide(1);
    rows_of_callback(1, 3, corner_row);
    mech.model.solver.method = method;
    mech.model.solver.start = MDYN_COLD; /* or the impulses before do it all */
    mech.model.solver.limits = MDYN_ENGAGED;
    start();
    for (int n = 0; n < 6; n++) {
        sim.q[2] = real(n < 2 ? -0x1p-10 : 1);
        sim.v[3] = sim.v[4] = real(0);
        sim.v[5] = real(n < 2 ? -1 : 1); /* out of the range, then back */
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.v[3]), 1, SPEED_OF_ROW);
        CHECK_NEAR(of_real(sim.v[4]), 1, SPEED_OF_ROW);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_USER, 1, &of_range), MDYN_OK);
        CHECK_EQUAL(of_wide(of_range.force) > 0, n < 2);
    }
}

/* ---- a row that pulls two bodies of one floating tree the same way ---- */

static void pull_row(mdyn_sim *s, int index, mdyn_user_row *row, void *user) {
    CHECK(s == &sim && index == 0 && user == NULL);
    for (int k = 0; k < 2; k++) {
        row->terms[k].body = (int16_t)k;
        row->terms[k].linear.x = wide(1);
    }
    row->level = MDYN_VELOCITY;
    row->target_velocity = wide(1000);
    row->force_min = wide(-1);
    row->force_max = wide(1);
}

/* Unlike a contact within the tree it changes the momentum: by 1 N on each of the two. A spring
   sets them against each other at the same time. */
static void pulled_tree(mdyn_method method) {
    memset(&mech, 0, sizeof mech);
    for (int i = 0; i < 2; i++) {
        mech.body[i].parent = (int16_t)(i - 1);
        mech.body[i].joint = i == 0 ? MDYN_FREE : MDYN_PRISMATIC;
        mech.body[i].mass = wide(2 - i);
        mech.body[i].axis.x = wide(1);
        mech.body[i].inertia.xx = mech.body[i].inertia.yy = mech.body[i].inertia.zz = wide(1);
    }
    mech.body[1].drive_kp = wide(100);
    mech.body[1].drive_kd = wide(0.5);
    rows_of_callback(2, 1, pull_row);
    mech.model.solver.method = method;
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    sim.target[6] = real(0.25);
    for (int n = 1; n <= 1024; n++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        double first = of_real(sim.v[3]), second = first + of_real(sim.v[6]);
        CHECK_NEAR(2 * first + second, n * 0x1p-9, PULL);
    }
}

/* ---- the same rows in other units, in another order, in parts ---- */

/* C = a0 q_i + a1 q_j + offset, on joints of one DoF each. */
typedef struct joint_row {
    int joint[2];
    double a[2], offset;
} joint_row;

static joint_row of_joints[2][USER_ROWS];  /* as drawn, and as changed */
static mdyn_user_row changed_row[USER_ROWS];
static mechanism changed;
static mdyn_closure changed_closure[4];
static mdyn_sim twin;

static void joint_row_value(mdyn_sim *s, int index, mdyn_user_row *row, void *user) {
    const joint_row *r = (const joint_row *)user + index;
    double C = r->offset;
    for (int k = 0; k < 2; k++) {
        C += r->a[k] * of_real(s->q[r->joint[k]]);
    }
    row->value = wide(C);
}

/* Terms, and an offset with which C is within 0.01. */
static void draw_terms(joint_row *r) {
    r->joint[0] = random_int(mech.model.body_count);
    r->joint[1] = (r->joint[0] + 1 + random_int(mech.model.body_count - 1))
                  % mech.model.body_count;
    r->offset = random_in(-0.01, 0.01);
    for (int k = 0; k < 2; k++) {
        r->a[k] = (random_int(2) ? 1 : -1) * random_in(0.3, 2);
        r->offset -= r->a[k] * of_real(sim.q[r->joint[k]]);
    }
}

static void give_terms(mdyn_user_row *row, const joint_row *r) {
    for (int k = 0; k < 2; k++) {
        row->terms[k].body = (int16_t)r->joint[k];
        row->terms[k].axes = MDYN_JOINT_VELOCITIES;
        row->terms[k].angular.x = wide(r->a[k]);
    }
}

/* A tree in motion with 2 couplings, 2 user rows and 1 or 2 closures. */
static void draw_rows(mdyn_method method, mdyn_scheme scheme) {
    mechanism_random(&mech, 6, 6, ONE_SPEED | ARMATURES);
    solve_well(method);
    mech.model.solver.scheme = scheme;
    mech.model.user_row_count = mech.model.closure_count = 0;
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    sim_random(&sim, &mech.model, 1, 5);
    look();
    for (int i = 0; i < 2; i++) {
        mdyn_coupling *c = &mech.coupling[i];
        joint_row r;
        random_softness(&c->softness);
        draw_terms(&r);
        for (int k = 0; k < 2; k++) {
            c->terms[k].body = (int16_t)r.joint[k];
            c->terms[k].coefficient = wide(r.a[k]);
        }
        c->offset = wide(r.offset);
        c->effort = wide(random_int(3) ? 0 : random_in(5, 50));
        random_user_row(&user_row[i], random_int(6));
        memset(user_row[i].terms, 0, sizeof user_row[i].terms);
        draw_terms(&of_joints[0][i]);
        give_terms(&user_row[i], &of_joints[0][i]);
        random_closure(&closure[i], MDYN_CLOSE_DISTANCE, 0.01);
        random_softness(&closure[i].softness);
        closure[i].effort = wide(random_int(3) ? 0 : random_in(5, 50));
    }
    mech.model.coupling_count = mech.model.user_row_count = 2;
    mech.model.closure_count = 1 + random_int(2);
    mech.model.closures = closure;
    mech.model.user_rows = user_row;
    mech.model.row_function = joint_row_value;
    mech.model.user_data = of_joints[0];
}

static mdyn_wide times(mdyn_wide x, double f) {
    const double y = of_wide(x);
    return fabs(y) >= of_wide(MDYN_UNLIMITED) ? (f < 0 ? wide(-y) : x) : wide(f * y);
}

/* The 1/parts of a user row, with C multiplied by f. */
static void rescale(mdyn_user_row *to, joint_row *terms, const mdyn_user_row *r, double f,
                    int parts) {
    const double stiffness = 1 / (f * f * parts), force = 1 / (f * parts);
    *to = *r;
    for (int k = 0; k < 2; k++) {
        terms->a[k] *= f;
    }
    terms->offset *= f;
    give_terms(to, terms);
    to->target_velocity = times(r->target_velocity, f);
    to->lower = times(f < 0 ? r->upper : r->lower, f);
    to->upper = times(f < 0 ? r->lower : r->upper, f);
    to->force_min = times(f < 0 ? r->force_max : r->force_min, force);
    to->force_max = times(f < 0 ? r->force_min : r->force_max, force);
    if (r->softness.kind == MDYN_KP_KD) {
        to->softness.a = times(r->softness.a, stiffness);
        to->softness.b = times(r->softness.b, stiffness);
    } else if (r->softness.kind == MDYN_OMEGA_ZETA) {
        to->softness.a = times(r->softness.a, sqrt(1.0 / parts));
        to->softness.b = times(r->softness.b, sqrt(1.0 / parts));
    } else if (r->softness.kind != MDYN_DEFAULT) {
        to->softness.b = times(r->softness.b, 1 / stiffness);
    }
}

/* Couplings and closures turned by one place; user rows likewise, in other units and in parts. */
static void change_rows(int parts) {
    const int n = mech.model.closure_count;
    changed = mech;
    changed.model.bodies = changed.body;
    changed.model.couplings = changed.coupling;
    changed.model.closures = changed_closure;
    changed.model.user_rows = changed_row;
    changed.model.user_row_count = 2 * parts;
    changed.model.user_data = of_joints[1];
    for (int i = 0; i < 2; i++) {
        changed.coupling[1 - i] = mech.coupling[i];
        changed_closure[(i + 1) % n] = closure[i % n];
        for (int k = 0; k < parts; k++) {
            const int to = 2 * k + 1 - i;
            of_joints[1][to] = of_joints[0][i];
            rescale(&changed_row[to], &of_joints[1][to], &user_row[i],
                    (random_int(2) ? 1 : -1) * pow(10, random_in(-6, 6)), parts);
        }
    }
}

/* Whether rows that can hardly be met throw the joints about: rounding is as large then. */
static int moves_wildly(void) {
    double most = 0;
    for (int k = 0; k < mdyn_dofs(&sim); k++) {
        most = worse(most, fabs(of_real(sim.v[k])));
    }
    for (int i = 0; i < mech.model.closure_count; i++) {
        mdyn_row_report r;
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CLOSURE, 6 * i, &r), MDYN_OK);
        most = worse(most, fabs(of_wide(r.impulse)));
    }
    return most > 50;
}

/* How far the two sims are apart: of 1 rad or m, of the largest velocity or 1. */
static double apart(void) {
    double dq = 0, dv = 0, v = 1;
    for (int k = 0; k < mdyn_dofs(&sim); k++) {
        dq = worse(dq, fabs(of_real(sim.q[k]) - of_real(twin.q[k])));
        dv = worse(dv, fabs(of_real(sim.v[k]) - of_real(twin.v[k])));
        v = worse(v, fabs(of_real(sim.v[k])));
    }
    return worse(dq, dv / v);
}

/* Random mechanisms and their changed twins for 50 steps, from a state that fits hard couplings and
   closures: which joint takes their errors back may depend on the order of couplings. Until a
   closure out of reach throws the joints about. Parts of springs at the middle of the step are not
   one spring: their law depends on how many act on a joint. */
static void rows_in_other_units(mdyn_method method, int parts) {
    int steps = 0;
    double worst = 0;
    for (int n = 0; n < 60; n++) {
        random_seed(8000 + (uint64_t)n);
        draw_rows(method, n % 2 || parts > 1 ? MDYN_EXPLICIT : MDYN_MIDPOINT);
        mdyn_sim kept = sim;
        change_rows(parts);
        if (!CHECK(but_for_start(mdyn_init(&sim, &mech.model)) >= 0) ||
            !CHECK(but_for_start(mdyn_init(&twin, &changed.model)) >= 0)) {
            continue;
        }
        copy_inputs(&sim, &kept);
        if (mdyn_project(&sim, MDYN_MASS_METRIC) != MDYN_OK) {
            continue; /* joints that cannot be held together like that */
        }
        copy_inputs(&twin, &sim);
        for (int s = 0; s < 50; s++) {
            int code = mdyn_step(&sim);
            CHECK_EQUAL(mdyn_step(&twin), code);
            if (code != MDYN_OK || sim.report.contradictory > 0 || moves_wildly()) {
                break;
            }
            double gap = apart();
            if (!CHECK_NEAR(gap, 0, OTHER_UNITS)) {
                CHECK_NOTE("mechanism %d, step %d, %d parts\n", n, s, parts);
                break;
            }
            worst = worse(worst, gap);
            steps++;
        }
    }
    CHECK(steps > 2600);
    if (check.measure) {
        printf("other units, %d parts: %d steps, %.2e\n", parts, steps, worst);
    }
}

/* Two slides of 10 t tied by one row, one of them pushed: v = dt F/(2 m) in whatever unit, or the
   row is refused. Without any coefficient it does nothing. */
static void row_in_any_unit(void) {
    for (int e = -34; e <= 15; e++) {
        const double k = pow(10, e), dt = 0x1p-10;
        memset(&mech, 0, sizeof mech);
        memset(user_row, 0, sizeof user_row);
        for (int i = 0; i < 2; i++) {
            mech.body[i].parent = MDYN_WORLD;
            mech.body[i].joint = MDYN_PRISMATIC;
            mech.body[i].mass = wide(1e4);
            user_row[0].terms[i].body = (int16_t)i;
            user_row[0].terms[i].linear.z = wide(e == -34 ? 0 : i ? -k : k);
        }
        mech.model.bodies = mech.body;
        mech.model.body_count = 2;
        mech.model.dt = wide(dt);
        mech.model.user_rows = user_row;
        mech.model.user_row_count = 1;
        const int fits = e == -34 || e >= -12;
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), fits ? MDYN_OK : MDYN_ERR_COEFFICIENT);
        for (int step = 1; fits && step <= 10; step++) {
            const double v = step * dt * 100 / 1e4;
            sim.tau[0] = real(100);
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            CHECK_NEAR(of_real(sim.v[0]), e == -34 ? v : v / 2, 1e-5 * v);
            CHECK_NEAR(of_real(sim.v[1]), e == -34 ? 0 : v / 2, 1e-5 * v);
        }
    }
}

/* ---- refusals and texts ---- */

static int breaking; /* what the callback does wrong */

static void broken(mdyn_sim *s, int index, mdyn_user_row *row, void *user) {
    CHECK(s == &sim && user == &breaking);
    row->terms[0].linear.z = wide(1);
    row->level = MDYN_VELOCITY;
    if (index == 0) {
        return;
    }
    switch (breaking) {
    case 1: bad_wide(&row->value, 0); break;
    case 2: bad_wide(&row->terms[1].angular.y, 3); break;
    case 3: row->terms[0].body = 2; break;
    case 4: row->terms[0].axes = (mdyn_axes)7; break;
    case 5: row->mu = wide(1); row->mu_of = 1; break;
    case 6: row->mu = wide(1); row->mu_of = 2; break;
    case 7: row->force_min = wide(1); break;
    case 8: row->softness.kind = (mdyn_softness_kind)-1; break;
    case 9: row->level = (mdyn_level)5; break;
    case 10: row->terms[0].linear.z = wide(1e-13); break;
    case 11: bad_wide(&row->lower, 1); break;
    case 12: bad_wide(&row->force_max, 2); break;
    case 13: bad_wide(&row->mu, 0); break;
    case 14: bad_wide(&row->softness.a, 2); break;
    default: break;
    }
}

static void refused_rows(void) {
    static const int codes[] = { MDYN_OK, MDYN_ERR_NOT_FINITE, MDYN_ERR_NOT_FINITE,
        MDYN_ERR_USER_ROW, MDYN_ERR_USER_ROW, MDYN_ERR_USER_ROW, MDYN_ERR_USER_ROW,
        MDYN_ERR_USER_ROW, MDYN_ERR_SOFTNESS, MDYN_ERR_USER_ROW, MDYN_ERR_COEFFICIENT,
        MDYN_ERR_NOT_FINITE, MDYN_ERR_NOT_FINITE, MDYN_ERR_NOT_FINITE, MDYN_ERR_NOT_FINITE };
    boxes(2, MDYN_PYRAMID);
    mech.model.user_rows = NULL;
    mech.model.user_row_count = 2;
    refused_model(MDYN_ERR_NULL, -1);
    mech.model.row_function = broken;
    mech.model.user_data = &breaking;
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    for (int i = 1; i <= 15; i++) {
        mdyn_sim before = sim;
        breaking = i % 15;
        CHECK_EQUAL(mdyn_step(&sim), codes[breaking]);
        if (breaking != 0) {
            CHECK_EQUAL(sim.culprit.code, codes[breaking]);
            CHECK_EQUAL(sim.culprit.index, 1);
            CHECK(memcmp(before.q, sim.q, sizeof sim.q) == 0);
            CHECK(memcmp(before.v, sim.v, sizeof sim.v) == 0);
        }
    }
    mech.model.user_row_count = USER_ROWS + 1;
    refused_model(MDYN_ERR_CAPACITY_BODY_ROWS, -1);
    mech.model.user_row_count = -1;
    refused_model(MDYN_ERR_INDEX, -1);
}

static void texts(void) {
    boxes(3, MDYN_PYRAMID);
    memset(user_row, 0, sizeof user_row);
    user_row[0].name = "brake";
    user_row[0].terms[0].angular.x = wide(1);
    user_row[0].level = MDYN_VELOCITY;
    user_row[0].force_min = wide(-3);
    user_row[0].force_max = MDYN_UNLIMITED;
    user_row[1].terms[1].body = 2;
    user_row[1].terms[1].linear.x = wide(1);
    user_row[1].mu = wide(0.5);
    user_row[1].value = wide(0.125);
    mech.model.user_row_count = 2;
    start();
    explained(MDYN_ROW_USER, 0, "user row 0 brake: on no body"); /* no step has set it up yet */
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    explained(MDYN_ROW_USER, 0, "user row 0 brake: on 0; target velocity 0; hard, erp 0.2,"
              " force >= -3");
    explained(MDYN_ROW_USER, 1, "user row 1: on 2; C 0.125; target velocity 0; hard, erp 0.2,"
              " |force| <= 0.5 |force of user row 0|");
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    user_rows_against_dense(MDYN_PGS);
    user_rows_against_dense(MDYN_DANTZIG);
    warm_rows_stay();
    rows_of_no_stiffness();
    rows_behind_an_idle_one(MDYN_PGS);
    rows_behind_an_idle_one(MDYN_DANTZIG);
    pulled_tree(MDYN_PGS);
    pulled_tree(MDYN_DANTZIG);
    for (int parts = 1; parts < 3; parts++) {
        rows_in_other_units(MDYN_PGS, parts);
        rows_in_other_units(MDYN_DANTZIG, parts);
    }
    row_in_any_unit();
    refused_rows();
    texts();
    return check_end();
}
