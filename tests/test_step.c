/* A whole step with rows of all kinds: the order in which they are solved, relaxation, what is kept
   from step to step, conservation of momentum, and that no row adds energy. */
#include "knobs.h"
#include "check.h"
#include "explicit.h"
#include "truth.h"
#include "truth_step.h"
#include "rows_on_bodies.h"

enum { TIED = 5 };

/* What the checks allow, as parts of the motion: some three times the worst of -s 1, 2 and 3. */
/*                         F64    F32  FIXED */
TOLERANCE(ONE_ITERATION, 3e-13,  3e-4,  1e-5);
TOLERANCE(RELAXED,       2e-13,  4e-5,  3e-6);
TOLERANCE(RELAXED_PLACE, 7e-14,  4e-5,  4e-6);

/* A one-speed joint that is not taken yet; -1: none was found. */
static int spare_joint(int *taken) {
    for (int tries = 0; tries < 50; tries++) {
        int body = random_int(mech.model.body_count);
        if (t.dofs_of[body] == 1 && !(*taken >> body & 1)) {
            *taken |= 1 << body;
            return body;
        }
    }
    return -1;
}

/* A row of every kind that there is room for: couplings, drives, friction, limits that are
   passed. */
static void rows_of_joints(void) {
    int a, b, taken = 0;
    look();
    a = spare_joint(&taken);
    b = spare_joint(&taken);
    for (int k = 0; k < 2 && b >= 0; k++) {
        mdyn_coupling *c = &mech.coupling[mech.model.coupling_count++];
        memset(c, 0, sizeof *c);
        *c = mimic_of(a, b, random_in(-2, 2), random_in(-0.1, 0.1));
        c->effort = wide(k ? random_in(1, 50) : 0);
    }
    taken = 0;
    a = spare_joint(&taken);
    b = spare_joint(&taken);
    if (a >= 0) {
        mech.body[a].drive_kp = wide(random_in(1, 100));
        mech.body[a].drive_kd = wide(random_in(0.1, 5));
        mech.body[a].effort = wide(random_int(2) ? random_in(5, 50) : 0);
        mech.body[a].friction = wide(random_in(0.1, 20));
    }
    if (b >= 0) {
        mech.body[b].friction = wide(random_in(0.1, 20));
        mech.body[b].upper = wide(0.001);
        mech.body[b].lower = wide(-1);
    }
}

/* One iteration over rows of all kinds, from impulses of zero: the order in which they are solved,
   and what each sees of those before it. */
static void order_of_rows(void) {
    outcomes o = { 0 };
    double worst = 0;
    int kinds[MDYN_ROW_CONTACT + 1] = { 0 };
    for (int n = 0; n < 100; n++) {
        random_seed(2500 + (uint64_t)n);
        draw_mechanism(4 + random_int(4), 25, random_int(2) ? FOREST : FLOATING);
        rows_of_joints();
        mech.model.solver.iterations = 1;
        mech.model.solver.start = MDYN_COLD;
        mech.model.solver.equality = MDYN_ITERATED;
        mech.model.solver.relaxation = wide(n % 2 ? 1.3 : 1);
        mech.model.user_row_count = mech.model.closure_count = 0;
        start();
        sim_random(&sim, &mech.model, 2, 5);
        for (int i = 0; i < mech.model.body_count; i++) { /* beyond their limits */
            if (of_wide(mech.body[i].lower) < 0) {
                sim.q[t.coordinate[i]] = real(random_in(0.01, 0.1));
                sim.v[t.dof[i]] = real(random_in(0, 2));
            }
        }
        look();
        truth_step_begin(&dense, &t, &mech.model, &sim);
        hits = 2;
        random_hit(&hit[0]);
        random_hit(&hit[1]);
        mdyn_sim kept = sim;
        mech.model.closure_count = 1;
        random_closure(&closure[0], (mdyn_closure_kind)random_int(4), 0.01);
        closure[0].effort = wide(random_in(1, 50));
        mech.model.user_row_count = 2;
        random_user_row(&user_row[0], random_int(6));
        random_user_row(&user_row[1], 3);
        user_row[1].mu = wide(random_int(2) ? 0.5 : 0);
        start_again(&kept);
        CHECK(step_goes(&o));
        CHECK_EQUAL(sim.report.iterations, 1);
        dense_rows(&o);
        truth_step_iteration(&dense, t.dofs, (ld)of_wide(mech.model.solver.relaxation));
        CHECK_NEAR(gap_of_speeds(), 0.0, ONE_ITERATION);
        worst = worse(worst, gap_of_speeds());
        for (int i = 0; i < dense.rows; i++) {
            kinds[dense.row[i].kind] += dense.lambda[i] != 0;
        }
    }
    hits = 0;
    for (int k = 0; k <= MDYN_ROW_CONTACT; k++) { /* no coupling has an efficiency here */
        CHECK(k == MDYN_ROW_LOSS || kinds[k] >= 50);
    }
    if (check.measure) {
        printf("order of rows: worst %.2g\n", worst);
    }
}

/* Limits of one-speed joints, and couplings between them that share them: hard, soft, a range. Some
   are off. */
static void tied_limits(void) {
    int joint[TIED], joints = 0;
    truth_init(&t, &mech.model);
    for (int i = 0; i < mech.model.body_count && joints < TIED; i++) {
        if (t.dofs_of[i] == 1) {
            joint[joints++] = i;
        }
    }
    for (int i = 0; i < joints; i++) {
        mech.body[joint[i]].lower = wide(-0.5);
        mech.body[joint[i]].upper = wide(0.5);
    }
    for (int i = 0; i + 1 < joints; i++) {
        mdyn_coupling *c = &mech.coupling[mech.model.coupling_count++];
        *c = mimic_of(joint[i], joint[i + 1], random_in(0.5, 2), 0);
        if (i == 1) {
            c->softness.kind = MDYN_KP_KD;
            c->softness.a = wide(random_in(10, 1000));
            c->softness.b = wide(random_in(1, 10));
        } else if (i == 2) {
            c->lower = wide(-0.01);
            c->upper = wide(0.01);
        }
    }
}

static void off_a_little(void) {
    double near = random_in(0.45, 0.51);
    for (int i = 0; i < mech.model.body_count; i++) {
        if (of_wide(mech.body[i].upper) > 0) {
            sim.q[t.coordinate[i]] = real(near + random_in(-0.01, 0.01));
        }
    }
}

/* What rows ask of the way of a step that relaxes, and of the speeds after it. An engaged range
   stops at its bound, and all that lies outside is taken back; one that is not engaged is not
   there. */
static void relax_rows(int engaged, int speeds) {
    ld dt = (ld)of_wide(mech.model.dt);
    for (int i = 0; i < dense.rows; i++) {
        truth_row *r = &dense.row[i];
        if (r->low == r->high) {
            if (speeds && r->cfm == 0) {
                r->low = r->high = 0;
            }
            continue;
        }
        if (engaged) {
            r->low = r->error < 0 ? -r->error / dt : -HUGE_VALL;
            r->high = r->error > 0 ? -r->error / dt : HUGE_VALL;
        }
        if (speeds && r->error < 0) {
            r->low = 0;
        }
        if (speeds && r->error > 0) {
            r->high = 0;
        }
    }
}

/* Whether a range inside its bounds pushes that did not on the way before: the step leaves it to
   the next one, for q has not reached it. */
static int pushes_late(const ld *on_the_way) {
    for (int i = 0; i < dense.rows; i++) {
        if (dense.row[i].error == 0 && on_the_way[i] == 0 && dense.lambda[i] != 0) {
            return 1;
        }
    }
    return 0;
}

/* q moves by the speeds that take errors back, v becomes those that leave them alone: the dense
   solution of each. */
static void relaxed_against_dense(mdyn_method method) {
    outcomes o = { 0 };
    int late = 0;
    for (int n = 0; n < 80; n++) {
        int engaged = n % 2, solved = 1;
        ld lambda[TR];
        random_seed(6000 + (uint64_t)n);
        draw_mechanism(4 + random_int(4), 20, random_int(2) ? FOREST : FLOATING);
        tied_limits();
        solve_well(method);
        mech.model.solver.correction = MDYN_RELAX;
        mech.model.solver.limits = engaged ? MDYN_ENGAGED : MDYN_SPECULATIVE;
        mech.model.user_row_count = mech.model.closure_count = 0;
        start();
        sim_random(&sim, &mech.model, 2, 5);
        off_a_little();
        if (!step_goes(&o) || of_wide(sim.report.residual) > BY_SCALAR(1e-12, 1e-5, 1e-5)) {
            continue;
        }
        dense_rows(&o);
        for (int speeds = 0; speeds < 2 && solved; speeds++) {
            relax_rows(engaged, speeds);
            truth_step_solve(&dense, t.dofs);
            solved = dense.violation < 1e-9L;
            if (!speeds) {
                truth_move(&t, &mech.model, dense.v, (ld)of_wide(mech.model.dt));
                memcpy(lambda, dense.lambda, sizeof lambda);
            }
        }
        if (!solved) {
            continue;
        }
        o.compared++;
        if (pushes_late(lambda)) {
            late++;
        } else {
            CHECK_NEAR(gap_of_speeds(), 0.0, RELAXED);
            o.worst = worse(o.worst, gap_of_speeds());
        }
        for (int i = 0; i < t.coordinates; i++) {
            CHECK_NEAR(of_real(sim.q[i]), (double)t.q[i], RELAXED_PLACE);
        }
    }
    CHECK(o.compared >= 78 && o.unsolved <= 2 && late <= 6);
    tell_outcomes("relaxed", &o);
    if (check.measure) {
        printf("relaxed: %d push late\n", late);
    }
}

/* ---- laws ---- */

/* Momentum and angular momentum about the world's origin of speeds v in the pose of t. */
static void momentum(const ld *v, ld p[3], ld l[3]) {
    memset(p, 0, 3 * sizeof p[0]);
    memset(l, 0, 3 * sizeof l[0]);
    for (int i = 0; i < t.bodies; i++) {
        const mdyn_body *b = &mech.body[i];
        ld w[3] = { 0 }, u[3] = { 0 }, c[3], x[3], I[3], m = (ld)of_wide(b->mass), W[3];
        ld in[3][3] = { { (ld)of_wide(b->inertia.xx), (ld)of_wide(b->inertia.xy),
                          (ld)of_wide(b->inertia.xz) },
                        { (ld)of_wide(b->inertia.xy), (ld)of_wide(b->inertia.yy),
                          (ld)of_wide(b->inertia.yz) },
                        { (ld)of_wide(b->inertia.xz), (ld)of_wide(b->inertia.yz),
                          (ld)of_wide(b->inertia.zz) } };
        for (int k = 0; k < t.dofs; k++) {
            for (int j = 0; j < 3; j++) {
                w[j] += t.Jw[i][k][j] * v[k];
                u[j] += t.Jo[i][k][j] * v[k];
            }
        }
        t_wide3(c, &b->com);
        t_turn(c, t.R[i], c);
        t_cross_add(u, w, c);
        turned_back(W, i, w);
        t_turn(I, in, W);
        t_turn(I, t.R[i], I);
        for (int j = 0; j < 3; j++) {
            u[j] *= m;
            p[j] += u[j];
            x[j] = t.o[i][j] + c[j];
            l[j] += I[j];
        }
        t_cross_add(l, x, u);
    }
}

/* Free bodies, with two joints between some, and rows of every kind between them; no gravity. */
static void free_bodies(int n) {
    draw_mechanism(5, 26, FLOATING);
    for (int i = 1; i < 5; i++) {
        if (mech.body[i].parent == MDYN_WORLD || i == 3) {
            mech.body[i].joint = MDYN_FREE;
            mech.body[i].parent = MDYN_WORLD;
        }
        if (mech.body[i].joint == MDYN_FREE && i != 3) {
            mech.body[i].joint = MDYN_SPHERICAL;
        }
    }
    memset(&mech.model.gravity, 0, sizeof mech.model.gravity);
    mech.model.solver.iterations = (uint16_t)(1 + n % 7); /* a law of every iteration */
    mech.model.solver.friction_law = (mdyn_friction_law)(n % 3);
    mech.model.user_row_count = mech.model.closure_count = 0;
}

/* What rows between bodies give and take is equal and opposite. */
static void momentum_stays(void) {
    for (int n = 0; n < 60; n++) {
        mdyn_contact contact[3];
        ld before[TN], p0[3], l0[3], p1[3], l1[3], v[TN], size = 0;
        random_seed(2000 + (uint64_t)n);
        free_bodies(n);
        start();
        sim_random(&sim, &mech.model, 2, 0);
        look();
        mdyn_sim kept = sim;
        CHECK_EQUAL(mdyn_step(&kept), MDYN_OK);
        for (int k = 0; k < t.dofs; k++) {
            before[k] = (ld)of_real(kept.v[k]);
        }
        kept = sim;
        mech.model.closure_count = 1;
        do {
            random_closure(&closure[0], (mdyn_closure_kind)(n % 4), 0); /* no gap, no couple */
        } while (closure[0].b < 0);
        mech.model.user_row_count = 1;
        random_user_row(&user_row[0], n % 6); /* equal and opposite at one point, and a moment */
        for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
            user_row[0].terms[k].body = MDYN_WORLD;
        }
        mdyn_real3 at = random_real3(1);
        mdyn_wide3 f = random_vector(1), m = random_vector(1);
        for (int side = 0; side < 2; side++) {
            mdyn_body_term *part = &user_row[0].terms[side];
            int body = side ? 4 : 1;
            ld arm[3] = { (ld)of_real(at.x), (ld)of_real(at.y), (ld)of_real(at.z) }, F[3], M[3];
            for (int j = 0; j < 3; j++) {
                arm[j] -= t.o[body][j];
            }
            t_wide3(F, &f);
            t_wide3(M, &m);
            t_cross_add(M, arm, F);
            part->body = (int16_t)body;
            part->axes = MDYN_WORLD_AXES;
            part->angular.x = wide((double)(side ? -M[0] : M[0]));
            part->angular.y = wide((double)(side ? -M[1] : M[1]));
            part->angular.z = wide((double)(side ? -M[2] : M[2]));
            part->linear.x = wide((double)(side ? -F[0] : F[0]));
            part->linear.y = wide((double)(side ? -F[1] : F[1]));
            part->linear.z = wide((double)(side ? -F[2] : F[2]));
        }
        start();
        memcpy(sim.q, kept.q, sizeof sim.q);
        memcpy(sim.v, kept.v, sizeof sim.v);
        for (int k = 0; k < 3; k++) {
            random_contact(&contact[k], (k + 1) % 3);
            contact[k].a = (int16_t)(2 + k % 3 == contact[k].b ? 4 : 2 + k % 3);
        }
        CHECK_EQUAL(mdyn_set_contacts(&sim, contact, 3), MDYN_OK);
        int code = mdyn_step(&sim);
        CHECK(code == MDYN_OK || code == MDYN_WARN_NOT_CONVERGED);
        get_speeds(v);
        momentum(before, p0, l0);
        momentum(v, p1, l1);
        for (int k = 0; k < t.dofs; k++) {
            size = fmaxl(size, sqrtl(t.M[k][k]) * fabsl(v[k]));
        }
        for (int k = 0; k < 6 + 1 + 9; k++) { /* what was given and taken */
            mdyn_row_report r;
            if (k < 6 && mdyn_report_row(&sim, MDYN_ROW_CLOSURE, k, &r) != MDYN_OK) {
                continue;
            }
            if (k >= 6) {
                CHECK_EQUAL(mdyn_report_row(&sim, k == 6 ? MDYN_ROW_USER : MDYN_ROW_CONTACT,
                                     k == 6 ? 0 : k - 7, &r), MDYN_OK);
            }
            size = fmaxl(size, fabsl((ld)of_wide(r.impulse)));
        }
        for (int j = 0; j < 3; j++) {
            CHECK_NEAR((double)((p1[j] - p0[j]) / size), 0.0, BY_SCALAR(3e-14, 2e-5, 5e-5));
            CHECK_NEAR((double)((l1[j] - l0[j]) / size), 0.0, BY_SCALAR(7e-14, 7e-5, 7e-5));
        }
    }
}

static ld kinetic(const ld *v) {
    ld sum = 0;
    for (int i = 0; i < t.dofs; i++) {
        for (int j = 0; j < t.dofs; j++) {
            sum += v[i] * t.M[i][j] * v[j] / 2;
        }
    }
    return sum;
}

/* Slides, on each other, and balls that turn about their center: M is constant, and without load
   the free motion keeps its speeds. */
static void make_constant(void) {
    memset(&mech.model.gravity, 0, sizeof mech.model.gravity);
    for (int i = 0; i < mech.model.body_count; i++) {
        mdyn_body *b = &mech.body[i];
        int ball = random_int(2);
        b->joint = ball ? MDYN_SPHERICAL : MDYN_PRISMATIC;
        b->armature = wide(0.01);
        if (ball || (b->parent >= 0 && mech.body[b->parent].joint == MDYN_SPHERICAL)) {
            b->parent = MDYN_WORLD;
        }
        if (ball) {
            memset(&b->com, 0, sizeof b->com);
            memset(&b->inertia, 0, sizeof b->inertia);
            b->inertia.xx = b->inertia.yy = b->inertia.zz = wide(random_in(0.01, 0.1));
        }
    }
}

/* Rows that want nothing to move faster do not add energy, after any number of iterations; those
   that are off, and relax, neither. Substeps are asked of what has a constant M, so that each part
   of a step may only take. */
static void energy_is_never_gained(mdyn_method method, int most_unsolved) {
    int lost = 0, unsolved = 0;
    for (int n = 0; n < 200; n++) {
        mdyn_contact contact[4];
        ld free[TN], v[TN];
        int parts = method == MDYN_TGS;
        random_seed(3000 + (uint64_t)n);
        int relax = random_int(2);
        draw_mechanism(2 + random_int(6), 25, random_int(2) ? FOREST : FLOATING);
        if (parts) {
            make_constant();
        }
        mech.model.user_row_count = mech.model.closure_count = 0;
        mech.model.solver.iterations = (uint16_t)(1 + n % 9);
        mech.model.solver.start = MDYN_COLD;
        mech.model.solver.method = method;
        mech.model.solver.substeps = (uint16_t)(parts ? 2 + n % 7 : 1);
        mech.model.solver.friction_law = (mdyn_friction_law)random_int(3);
        if (method == MDYN_DANTZIG && mech.model.solver.friction_law == MDYN_CONE) {
            mech.model.solver.friction_law = MDYN_PYRAMID;
        }
        mech.model.solver.correction = relax ? MDYN_RELAX : MDYN_BAUMGARTE;
        start();
        sim_random(&sim, &mech.model, 2, parts ? 0 : 5);
        look();
        mdyn_sim kept = sim;
        CHECK_EQUAL(mdyn_step(&kept), MDYN_OK);
        for (int k = 0; k < t.dofs; k++) {
            free[k] = (ld)of_real(kept.v[k]);
        }
        kept = sim;
        mech.model.closure_count = 1;
        random_closure(&closure[0], (mdyn_closure_kind)random_int(4), relax ? 0.01 : 0);
        closure[0].softness.kind = MDYN_ERP_CFM;
        closure[0].softness.a = wide(relax ? 0.2 : 0);
        closure[0].effort = wide(random_int(3) ? 0 : 20);
        mech.model.user_row_count = 2;
        for (int i = 0; i < 2; i++) {
            random_user_row(&user_row[i], random_int(6));
            user_row[i].target_velocity = wide(0);
            if (!relax || user_row[i].softness.kind != MDYN_DEFAULT) {
                user_row[i].value = wide(0); /* a spring would give what it has */
            }
        }
        if (random_int(2)) {
            user_row[1].mu = wide(0.5);
            user_row[1].lower = user_row[1].upper = wide(0);
        }
        start_again(&kept);
        for (int k = 0; k < 4; k++) {
            random_contact(&contact[k], MDYN_WORLD);
            contact[k].depth = real(relax ? 0.001 * k : 0);
        }
        CHECK_EQUAL(mdyn_set_contacts(&sim, contact, 4), MDYN_OK);
        int code = mdyn_step(&sim);
        CHECK(code == MDYN_WARN_NOT_CONVERGED || (code >= 0 && !code == !sim.report.unsolved));
        unsolved += sim.report.unsolved > 0;
        get_speeds(v);
        CHECK((double)((kinetic(v) - kinetic(free)) / kinetic(free))
              < BY_SCALAR(1e-12, 1e-5, 1e-6));
        lost += kinetic(v) < 0.9L * kinetic(free);
    }
    CHECK(lost > 100); /* and mostly they take some */
    if (check.measure) {
        printf("energy: %d unsolved\n", unsolved);
    }
    CHECK(unsolved <= most_unsolved); /* closures may press contacts into each other, or jam them */
}

/* A step whose iterations may end before its rows hold. */
static int steps_early(mdyn_sim *one) {
    int code = mdyn_step(one);
    return code == MDYN_OK || code == MDYN_WARN_NOT_CONVERGED;
}

/* What a sim keeps of closures, user rows, contacts, limits that engage: after mdyn_reset it goes
   on as a new one in that state, to the last bit; without, the iterations begin elsewhere. */
static void reset_forgets(void) {
    static mdyn_sim fresh, warm;
    int differs = 0;
    for (int n = 0; n < 40; n++) {
        mdyn_contact contact[3];
        random_seed(7000 + (uint64_t)n);
        draw_mechanism(4 + random_int(3), 25, n % 2 ? FOREST : FLOATING);
        mech.model.closure_count = mech.model.user_row_count = 0;
        start();
        sim_random(&sim, &mech.model, 1, 2);
        look();
        mdyn_sim kept = sim;
        mech.model.closure_count = 1;
        random_closure(&closure[0], (mdyn_closure_kind)(n % 4), 0.001);
        closure[0].effort = wide(5);
        mech.model.user_row_count = 2;
        random_user_row(&user_row[0], 3);
        random_user_row(&user_row[1], 5);
        mech.model.solver.iterations = 5;
        mech.model.solver.limits = n % 3 ? MDYN_SPECULATIVE : MDYN_ENGAGED;
        mech.model.solver.correction = n / 3 % 2 ? MDYN_RELAX : MDYN_BAUMGARTE;
        start();
        memcpy(sim.q, kept.q, sizeof sim.q);
        memcpy(sim.v, kept.v, sizeof sim.v);
        for (int k = 0; k < 3; k++) {
            random_contact(&contact[k], MDYN_WORLD);
        }
        for (int k = 0; k < 3; k++) {
            CHECK_EQUAL(mdyn_set_contacts(&sim, contact, 3), MDYN_OK);
            CHECK(steps_early(&sim));
        }
        warm = sim;
        CHECK_EQUAL(mdyn_reset(&sim), MDYN_OK);
        CHECK(init_explicit(&fresh, &mech.model) >= 0);
        CHECK(warm.report.entries > 0);
        CHECK(memcmp(&sim.report, &fresh.report, sizeof sim.report) == 0);
        memcpy(fresh.q, sim.q, sizeof fresh.q);
        memcpy(fresh.v, sim.v, sizeof fresh.v);
        CHECK_EQUAL(mdyn_set_contacts(&sim, contact, 3), MDYN_OK);
        CHECK_EQUAL(mdyn_set_contacts(&warm, contact, 3), MDYN_OK);
        CHECK_EQUAL(mdyn_set_contacts(&fresh, contact, 3), MDYN_OK);
        CHECK(steps_early(&sim));
        CHECK(steps_early(&warm));
        CHECK(steps_early(&fresh));
        CHECK(memcmp(sim.v, fresh.v, sizeof sim.v) == 0);
        CHECK(memcmp(sim.q, fresh.q, sizeof sim.q) == 0);
        differs += memcmp(sim.v, warm.v, sizeof sim.v) != 0;
    }
    CHECK(differs > 20);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    relaxed_against_dense(MDYN_PGS);
    relaxed_against_dense(MDYN_DANTZIG);
    order_of_rows();
    momentum_stays();
    energy_is_never_gained(MDYN_PGS, 0);
    energy_is_never_gained(MDYN_TGS, 0);
    energy_is_never_gained(MDYN_DANTZIG, (int)BY_SCALAR(40, 40, 60));
    reset_forgets();
    return check_end();
}
