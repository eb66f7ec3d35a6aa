/* The wrench that a joint transmits, mdyn_joint_wrench: against the change of momentum of what the
   joint carries, by differences in long double, on random trees with rows of every kind; and where
   it is known in closed form. */
#include "knobs.h"
#include "check.h"
#include "truth.h"
#include "truth_step.h"
#include "rows_on_bodies.h"

/* What the checks allow, some three times the worst of -s 1, 2 and 3, as parts of the forces that
   are summed: joints of one DoF; with turning axes, in which v is known to second order; where
   impacts and corrections of position move bodies; closed forms. */
/*                       F64      F32   FIXED */
TOLERANCE(EXACT,       1e-11,    2e-6,   1e-7);
TOLERANCE(TURNING,      2e-5,    5e-3,   3e-4);
TOLERANCE(DISPLACED,    5e-4,    3e-3,   2e-3);
TOLERANCE(CLOSED,      1e-12,    1e-5,   1e-8);

/* Of the tests: steps by which dt^2 is small, and v/dt has digits. */
static const double DT = BY_SCALAR(0x1p-14, 0x1p-10, 0x1p-12);

static ld v_middle[TN], a_middle[TN];
static truth start_of_step;
static double largest_force; /* of the rows on bodies in this step */
static int compared;

/* ---- the truth: Newton and Euler by differences of momentum ---- */

static int carries_body(int body, int other) {
    while (other > body) {
        other = mech.model.bodies[other].parent;
    }
    return other == body;
}

/* Momentum of a body and of all that it carries, about a point of the world: moment, linear. */
static void momentum(ld p[6], int body, const ld point[3]) {
    memset(p, 0, 6 * sizeof *p);
    for (int i = body; i < t.bodies; i++) {
        const mdyn_body *b = &mech.model.bodies[i];
        ld mass = (ld)of_wide(b->mass), c[3], u[3], w[3] = { 0 }, L[3] = { 0 }, arm[3];
        if (!carries_body(body, i)) {
            continue;
        }
        t_wide3(c, &b->com);
        t_turn(c, t.R[i], c);
        memcpy(u, t.u[i], sizeof u);
        t_cross_add(u, t.w[i], c);
        for (int k = 0; k < 3; k++) {
            arm[k] = t.o[i][k] + c[k] - point[k];
            u[k] *= mass;
            p[3 + k] += u[k];
        }

        /* R I R' w + arm x m u */
        ld I[3][3] = { { (ld)of_wide(b->inertia.xx), (ld)of_wide(b->inertia.xy),
                         (ld)of_wide(b->inertia.xz) },
                       { (ld)of_wide(b->inertia.xy), (ld)of_wide(b->inertia.yy),
                         (ld)of_wide(b->inertia.yz) },
                       { (ld)of_wide(b->inertia.xz), (ld)of_wide(b->inertia.yz),
                         (ld)of_wide(b->inertia.zz) } };
        for (int j = 0; j < 3; j++) {
            for (int k = 0; k < 3; k++) {
                w[j] += t.R[i][k][j] * t.w[i][k];
            }
        }
        t_turn(L, I, w);
        t_turn(L, t.R[i], L);
        t_cross_add(L, arm, u);
        for (int k = 0; k < 3; k++) {
            p[k] += L[k];
        }
    }
}

/* t := the state h later than the middle of the step, of constant acceleration. */
static void move_to(truth *middle, ld h) {
    ld d[TN];
    t = *middle;
    for (int i = 0; i < t.bodies; i++) {
        int k = t.dof[i];
        ld turn[3] = { 0 };
        if (t.dofs_of[i] == 6) { /* its linear velocity turns with the body */
            t_cross(turn, v_middle + k, v_middle + k + 3);
        }
        for (int j = 0; j < t.dofs_of[i]; j++) {
            d[k + j] = v_middle[k + j] + h / 2 * (a_middle[k + j] + (j < 3 ? 0 : turn[j - 3]));
            t.v[k + j] = v_middle[k + j] + h * a_middle[k + j];
        }
    }
    truth_move(&t, &mech.model, d, h);
    truth_update(&t, &mech.model);
}

/* A wrench on body i of `want`, if the body of the joint carries it; about the origin of i. */
static void subtract(ld want[6], ld *size, int body, truth *middle, int i, const ld moment[3],
                     const ld force[3]) {
    ld arm[3], m[3];
    if (i < 0 || !carries_body(body, i)) {
        return;
    }
    for (int k = 0; k < 3; k++) {
        arm[k] = middle->o[i][k] - middle->o[body][k];
        m[k] = moment[k];
    }
    t_cross_add(m, arm, force);
    for (int k = 0; k < 3; k++) {
        want[k] -= m[k];
        want[3 + k] -= force[k];
        *size += fabsl(m[k]) + fabsl(force[k]);
    }
}

static ld force_of(mdyn_row_kind kind, int index) {
    mdyn_row_report r;
    CHECK_EQUAL(mdyn_report_row(&sim, kind, index, &r), MDYN_OK);
    largest_force = worse(largest_force, fabs(of_wide(r.force)));
    return (ld)of_wide(r.force);
}

/* A force f on a at its arm, the opposite one on b at its own; `moment`: a moment. */
static void subtract_pair(ld want[6], ld *size, int body, truth *middle, int a, int b,
                          ld arm[2][3], const ld n[3], ld f, int moment) {
    for (int side = 0; side < 2; side++) {
        ld force[3], m[3], none[3] = { 0 };
        for (int k = 0; k < 3; k++) {
            force[k] = (side ? -f : f) * n[k];
        }
        t_cross(m, arm[side], force);
        subtract(want, size, body, middle, side ? b : a, moment ? force : m,
                 moment ? none : force);
    }
}

static void subtract_rows(ld want[6], ld *size, int body, truth *middle) {
    static const ld axes[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    ld arm[2][3], gap[3], n[3];
    t = *middle;
    for (int i = 0; i < mech.model.closure_count; i++) {
        const mdyn_closure *c = &closure[i];
        dense_loop(c, arm, gap);
        for (int k = 0; k < 3; k++) {
            n[k] = gap[k] / sqrtl(t_dot(gap, gap));
        }
        if (c->kind == MDYN_CLOSE_DISTANCE) {
            ld f = force_of(MDYN_ROW_CLOSURE, 6 * i);
            subtract_pair(want, size, body, middle, c->a, c->b, arm, n, f, 0);
            continue;
        }
        for (int k = 0; k < (c->kind == MDYN_CLOSE_WELD ? 6 : 3); k++) {
            ld f = force_of(MDYN_ROW_CLOSURE, 6 * i + k);
            subtract_pair(want, size, body, middle, c->a, c->b, arm, axes[k % 3], f, k >= 3);
        }
    }
    for (int i = 0; i < mech.model.user_row_count; i++) {
        ld f = force_of(MDYN_ROW_USER, i);
        for (int p = 0; p < MIMICDYN_MAX_TERMS; p++) {
            const mdyn_body_term *term = &user_row[i].terms[p];
            ld angular[3], linear[3];
            t_wide3(angular, &term->angular);
            t_wide3(linear, &term->linear);
            if (term->axes == MDYN_BODY_AXES) {
                turned(angular, term->body, angular);
                turned(linear, term->body, linear);
            }
            for (int k = 0; k < 3; k++) {
                angular[k] *= f;
                linear[k] *= f;
            }
            if (term->axes != MDYN_JOINT_VELOCITIES) {
                subtract(want, size, body, middle, term->body, angular, linear);
            }
        }
    }
    for (int i = 0; i < hits; i++) { /* arms of the poses in which the contacts were found */
        const mdyn_real *point = &hit[i].point.x;
        ld way[3][3];
        for (int k = 0; k < 3; k++) {
            arm[0][k] = (ld)of_real(point[k]) - start_of_step.o[hit[i].a][k];
            arm[1][k] = (ld)of_real(point[k])
                - (hit[i].b < 0 ? 0 : start_of_step.o[hit[i].b][k]);
            way[0][k] = (ld)of_real((&hit[i].normal.x)[k]);
        }
        unit(way[0]);
        across(way[0], way[1], way[2]);
        for (int k = 0; k < 3; k++) {
            ld f = force_of(MDYN_ROW_CONTACT, 3 * i + k);
            subtract_pair(want, size, body, middle, hit[i].a, hit[i].b, arm, way[k], f, 0);
        }
    }
}

/* The digits of a velocity. */
static ld speed(int k) {
    return (ld)of_real(sim.v[k]) + BY_SCALAR((ld)sim.v_tail[k], (ld)sim.v_tail[k], 0);
}

/* Compares all joints after one step from the present state. */
static void compare_step(double allowed) {
    static truth middle;
    const ld dt = (ld)of_wide(mech.model.dt), h = 2e-5L;
    const int explicitly = mech.model.solver.scheme == MDYN_EXPLICIT;
    ld v[TN];
    truth_copy(&start_of_step, &sim);
    truth_update(&start_of_step, &mech.model);
    for (int k = 0; k < t.dofs; k++) {
        v[k] = speed(k);
    }
    if (!CHECK(mdyn_step(&sim) >= 0)) {
        return;
    }
    for (int k = 0; k < t.dofs; k++) {
        a_middle[k] = (speed(k) - v[k]) / dt;
        v_middle[k] = explicitly ? v[k] : (speed(k) + v[k]) / 2;
    }
    middle = start_of_step;
    truth_move(&middle, &mech.model, v, explicitly ? 0 : dt / 2);
    truth_update(&middle, &mech.model);

    for (int i = 0; i < t.bodies; i++) {
        ld want[6], p[4][6], size = 0, g[3], c[3];
        mdyn_wide3 moment, force;
        for (int side = 0; side < 4; side++) { /* four points: exact to h^4 */
            static const int steps[] = { -2, -1, 1, 2 };
            move_to(&middle, steps[side] * h);
            momentum(p[side], i, middle.o[i]);
        }
        for (int k = 0; k < 6; k++) {
            want[k] = (8 * (p[2][k] - p[1][k]) - (p[3][k] - p[0][k])) / (12 * h);
            size += fabsl(want[k]);
        }
        for (int j = i; j < t.bodies; j++) {
            ld weight[3], pull[3];
            t_wide3(g, &mech.model.gravity);
            t_wide3(c, &mech.model.bodies[j].com);
            t_turn(c, middle.R[j], c);
            for (int k = 0; k < 3; k++) {
                weight[k] = (ld)of_wide(mech.model.bodies[j].mass) * g[k];
            }
            t_cross(pull, c, weight);
            subtract(want, &size, i, &middle, j, pull, weight);
            subtract(want, &size, i, &middle, j, middle.moment[j], middle.force[j]);
        }
        largest_force = 0;
        subtract_rows(want, &size, i, &middle);
        if (largest_force > 1e5) { /* a loop at a dead point */
            return;
        }
        if (!CHECK_EQUAL(mdyn_joint_wrench(&sim, i, &moment, &force), MDYN_OK)) {
            return;
        }
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(of_wide((&moment.x)[k]), (double)want[k], allowed * (1 + (double)size));
            CHECK_NEAR(of_wide((&force.x)[k]), (double)want[3 + k], allowed * (1 + (double)size));
        }
        compared++;
    }
}

/* ---- random trees ---- */

static int turns_axes(void) {
    int any = 0;
    for (int i = 0; i < mech.model.body_count; i++) {
        any |= t_dofs_of(mech.body[i].joint) >= 3;
    }
    return any;
}

/* Drives, friction, damping, limits within reach; a coupling of two joints. */
static void random_rows_on_joints(void) {
    int last = -1;
    for (int i = 0; i < mech.model.body_count; i++) {
        mdyn_body *b = &mech.body[i];
        b->damping = wide(random_in(0, 1));
        b->friction = wide(random_in(0, 2));
        if (t_dofs_of(b->joint) != 1) {
            continue;
        }
        b->lower = wide(random_in(-2, 0));
        b->upper = wide(random_in(0, 2));
        b->drive_kp = wide(random_in(0, 50));
        b->drive_kd = wide(random_in(0, 5));
        b->effort = wide(random_in(1, 20));
        if (last >= 0 && mech.model.coupling_count < 2) {
            mech.coupling[mech.model.coupling_count] =
                mimic_of(i, last, random_in(-2, 2), random_in(-1, 1));
            if (random_int(2)) {
                mech.coupling[mech.model.coupling_count].softness.kind = MDYN_KP_KD;
                mech.coupling[mech.model.coupling_count].softness.a = wide(100);
                mech.coupling[mech.model.coupling_count].softness.b = wide(5);
            }
            mech.model.coupling_count++;
        }
        last = last < 0 ? i : -1;
    }
}

static void begin_random(int n, int kind, mdyn_scheme scheme) {
    memset(&closure, 0, sizeof closure);
    random_seed(70000 + (uint64_t)n);
    mechanism_random(&mech, 2 + random_int(8), 16, kind);
    mech.model.dt = wide(DT);
    mech.model.solver.scheme = scheme;
    hits = 0;
}

/* An impact turns the axes in which v of a free joint is given, and the root of a floating tree
   makes up for the bias force that it has made wrong: no free joints in the tests of impacts. */
static void hold_free_joints(void) {
    for (int i = 0; i < mech.model.body_count; i++) {
        if (mech.body[i].joint == MDYN_FREE) {
            mech.body[i].joint = MDYN_SPHERICAL;
        }
    }
}

static void begin_state(double speeds) {
    CHECK(mdyn_init(&sim, &mech.model) >= 0);
    truth_init(&t, &mech.model);
    start_of_step = t;
    sim_random(&sim, &mech.model, speeds, 5);
}

static void test_trees(void) {
    for (int n = 0; n < 200; n++) {
        begin_random(n, (n & 1 ? ONE_SPEED : 0) | (n & 2 ? FOREST : 0) | (n & 4 ? ARMATURES : 0)
                     | (n % 5 == 0 && !(n & 1) ? FLOATING : 0),
                     n & 8 ? MDYN_EXPLICIT : MDYN_MIDPOINT);
        begin_state(3);
        /* before the bias force is extrapolated, roots make up for it: one step, and another if v
           has changed by much in it */
        for (int step = 0; turns_axes() && step < 2; step++) {
            CHECK(mdyn_step(&sim) >= 0);
        }
        for (int step = 0; step < 2; step++) {
            compare_step(turns_axes() ? TURNING : EXACT);
        }
    }
}

static void test_rows_on_joints(void) {
    int settled = 0;
    for (int n = 0; n < 100; n++) {
        begin_random(1000 + n, (n & 1 ? ONE_SPEED : 0) | ARMATURES,
                     n & 2 ? MDYN_EXPLICIT : MDYN_MIDPOINT);
        hold_free_joints();
        random_rows_on_joints();
        begin_state(1);
        if (mdyn_settle(&sim) != MDYN_OK) { /* limits and couplings leave no position */
            continue;
        }
        settled++;
        for (int k = 0; k < t.dofs; k++) {
            sim.target[k] = real(random_in(-1, 1));
        }
        for (int step = 0; step < 3; step++) {
            compare_step(DISPLACED);
        }
    }
    CHECK(settled > 60);
}

static void test_rows_on_bodies(void) {
    compared = 0;
    for (int n = 0; n < 100; n++) {
        begin_random(2000 + n, (n & 1 ? ONE_SPEED : 0) | ARMATURES, MDYN_MIDPOINT);
        hold_free_joints();
        int moving = 0;
        for (int i = 0; i < mech.model.body_count; i++) {
            moving += t_dofs_of(mech.body[i].joint);
        }
        if (moving < 2) {
            continue;
        }
        begin_state(0.1);
        truth_copy(&t, &sim);
        truth_update(&t, &mech.model);
        static const mdyn_closure_kind kinds[] = {
            MDYN_CLOSE_POINT, MDYN_CLOSE_DISTANCE, MDYN_CLOSE_WELD
        };
        mdyn_sim kept = sim;
        random_closure(&closure[0], kinds[n % 3], 0);
        random_user_row(&user_row[0], n % 6);
        user_row[0].value = wide(0);
        mech.model.closures = closure;
        mech.model.closure_count = n % 4 != 0;
        mech.model.user_rows = user_row;
        mech.model.user_row_count = n % 4 != 1;
        CHECK(mdyn_init(&sim, &mech.model) >= 0);
        memcpy(sim.q, kept.q, sizeof sim.q);
        memcpy(sim.v, kept.v, sizeof sim.v);
        memcpy(sim.tau, kept.tau, sizeof sim.tau);
        memcpy(sim.wrench, kept.wrench, sizeof sim.wrench);
        for (int step = 0; step < 3; step++) {
            truth_copy(&t, &sim);
            truth_update(&t, &mech.model);
            hits = n % 3;
            for (int i = 0; i < hits; i++) {
                random_contact(&hit[i], random_int(2) - 1);
                hit[i].a = (int16_t)(t.bodies - 1);
                hit[i].key = (uint16_t)i;
                hit[i].point.x = real(of_real(hit[i].point.x) + (double)t.o[hit[i].a][0]);
                hit[i].point.y = real(of_real(hit[i].point.y) + (double)t.o[hit[i].a][1]);
                hit[i].point.z = real(of_real(hit[i].point.z) + (double)t.o[hit[i].a][2]);
                hit[i].b = MDYN_WORLD;
            }
            CHECK_EQUAL(mdyn_set_contacts(&sim, hit, hits), MDYN_OK);
            compare_step(DISPLACED);
        }
    }
    CHECK(compared > 1000);
}

/* ---- closed forms ---- */

static const mdyn_body hanging[] = { /* a rod with a weight welded to its end, a hook on that */
    MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 1, 0), MDYN_AT(0, 0, 1),
              MDYN_RIGID(2, 0, 0, -0.25, MDYN_INERTIA(0.01, 0.01, 0.001, 0, 0, 0)), MDYN_PASSIVE,
              "rod"),
    MDYN_BODY(0, MDYN_WELDED, MDYN_AT(0, 0, -0.5), MDYN_POINT_MASS(3), MDYN_PASSIVE, "weight"),
    MDYN_BODY(1, MDYN_WELDED, MDYN_AT(0.1, 0, 0), MDYN_POINT_MASS(0.5), MDYN_PASSIVE, "hook"),
};

static void expect(int body, double mx, double my, double mz, double fx, double fy, double fz,
                   double size) {
    mdyn_wide3 m, f;
    CHECK_EQUAL(mdyn_joint_wrench(&sim, body, &m, &f), MDYN_OK);
    CHECK_NEAR(of_wide(m.x), mx, CLOSED * size);
    CHECK_NEAR(of_wide(m.y), my, CLOSED * size);
    CHECK_NEAR(of_wide(m.z), mz, CLOSED * size);
    CHECK_NEAR(of_wide(f.x), fx, CLOSED * size);
    CHECK_NEAR(of_wide(f.y), fy, CLOSED * size);
    CHECK_NEAR(of_wide(f.z), fz, CLOSED * size);
}

/* Held by tau against the hook's moment, 0.5 g 0.1: every joint carries what hangs on it. */
static void test_weights(void) {
    const double g = 9.81;
    static const mdyn_model model = MDYN_MODEL(hanging, 3, NULL, 0, MDYN_V3(0, 0, -9.81), 0.001);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    sim.tau[0] = real(-0.05 * g);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    expect(0, 0, -0.05 * g, 0, 0, 0, 5.5 * g, 100);
    expect(1, 0, -0.05 * g, 0, 0, 0, 3.5 * g, 100);
    expect(2, 0, 0, 0, 0, 0, 0.5 * g, 100);
}

/* The same while the weight is pressed off the rod with 100 N, at 0.1 beside and above its origin:
   the weld holds it. Nothing moves, and no other joint has a part in it. */
static void test_contact_within_a_weld(void) {
    const double g = 9.81;
    static const mdyn_model model = MDYN_MODEL(hanging, 3, NULL, 0, MDYN_V3(0, 0, -9.81), 0.001);
    mdyn_contact c;
    memset(&c, 0, sizeof c);
    c.b = 1;
    c.point.x = real(0.1);
    c.point.z = real(0.6);
    c.normal.x = real(1);
    c.depth = real(0.01);
    c.mu = wide(0.5);
    c.softness.kind = MDYN_KP_KD;
    c.softness.a = wide(1e4);
    c.softness.b = wide(10);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    sim.tau[0] = real(-0.05 * g);
    CHECK_EQUAL(mdyn_set_contacts(&sim, &c, 1), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(of_real(sim.v[0]), 0, 1e-6);
    expect(0, 0, -0.05 * g, 0, 0, 0, 5.5 * g, 200);
    expect(1, 0, -0.05 * g + 10, 0, 100, 0, 3.5 * g, 200);
    expect(2, 0, 0, 0, 0, 0, 0.5 * g, 200);
}

/* A wheel of which the rotor is a part, on a motor: moment I a about the axis, of which tau gives
   the rotor's share too; its weight on the bearing. Two wheels that mesh: the coupling is part of
   what goes through each joint. */
static void test_wheels(void) {
    static const mdyn_body wheels[] = {
        MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 0, 1), MDYN_AT(0, 0, 0),
                  MDYN_RIGID(2, 0, 0, 0, MDYN_INERTIA(0.01, 0.01, 0.02, 0, 0, 0)),
                  MDYN_ROTOR(0.03), "wheel"),
        MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 0, 1), MDYN_AT(0.3, 0, 0),
                  MDYN_RIGID(1, 0, 0, 0, MDYN_INERTIA(0.01, 0.01, 0.01, 0, 0, 0)),
                  MDYN_PASSIVE, "pinion"),
    };
    static const mdyn_coupling mesh[] = { MDYN_GEAR(0, 2, 1, 1, 0) };
    static const mdyn_model model = MDYN_MODEL(wheels, 2, mesh, 1, MDYN_V3(0, 0, -9.81), 0.001);
    mdyn_wide force;
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    sim.tau[0] = real(0.9);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    const double a = 0.9 / (0.05 + 4 * 0.01); /* q_1 = -2 q_0 */
    expect(0, 0, 0, 0.02 * a, 0, 0, 2 * 9.81, 20);
    expect(1, 0, 0, -2 * 0.01 * a, 0, 0, 9.81, 20);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 0, &force), MDYN_OK);
    CHECK_NEAR(0.9 + of_wide(force) - 0.03 * a, 0.02 * a, CLOSED * 20);
}

/* A free body that spins holds what is welded to it: m r w^2 inwards. */
static void test_spin(void) {
    static const mdyn_body satellite[] = {
        MDYN_BODY(MDYN_WORLD, MDYN_FLOATS, MDYN_AT(0, 0, 0),
                  MDYN_RIGID(4, 0, 0, 0, MDYN_INERTIA(0.1, 0.1, 0.15, 0, 0, 0)), MDYN_PASSIVE, ""),
        MDYN_BODY(0, MDYN_WELDED, MDYN_AT(0.5, 0, 0), MDYN_POINT_MASS(1), MDYN_PASSIVE, "left"),
        MDYN_BODY(0, MDYN_WELDED, MDYN_AT(-0.5, 0, 0), MDYN_POINT_MASS(1), MDYN_PASSIVE, "right"),
    };
    static const mdyn_model model = MDYN_MODEL(satellite, 3, NULL, 0, MDYN_V3(0, 0, -9.81), 1e-4);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    sim.v[2] = real(10);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    const double turn = 10 * 0.5e-4, f = 0.5 * 100;
    expect(0, 0, 0, 0, 0, 0, 0, 100);
    expect(1, 0, 0, 0, -f * cos(turn), -f * sin(turn), 0, 1000);
    expect(2, 0, 0, 0, f * cos(turn), f * sin(turn), 0, 1000);
}

/* ---- when there is none, and that nothing else changes ---- */

static void test_refusals(void) {
    static const mdyn_model model = MDYN_MODEL(hanging, 3, NULL, 0, MDYN_V3(0, 0, -9.81), 0.001);
    static mdyn_sim before;
    const mdyn_wide3 g = MDYN_V3(0, 0, -1);
    mdyn_wide3 m, f;
    mdyn_solver solver;
    CHECK_EQUAL(mdyn_joint_wrench(NULL, 0, &m, &f), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    CHECK_EQUAL(mdyn_joint_wrench(&sim, 0, &m, &f), MDYN_ERR_NO_STEP);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(mdyn_joint_wrench(&sim, 0, NULL, &f), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_joint_wrench(&sim, 0, &m, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_joint_wrench(&sim, -1, &m, &f), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_joint_wrench(&sim, 3, &m, &f), MDYN_ERR_INDEX);
    before = sim;
    CHECK_EQUAL(mdyn_joint_wrench(&sim, 0, &m, &f), MDYN_OK);
    CHECK(memcmp(before.q, sim.q, sizeof sim.q) == 0);
    CHECK(memcmp(before.v, sim.v, sizeof sim.v) == 0);
    CHECK(memcmp(before.q_tail, sim.q_tail, sizeof sim.q_tail) == 0);
    CHECK(memcmp(before.v_tail, sim.v_tail, sizeof sim.v_tail) == 0);

    sim.q[0] = real(0.1);
    CHECK_EQUAL(mdyn_joint_wrench(&sim, 0, &m, &f), MDYN_ERR_NO_STEP);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(mdyn_joint_wrench(&sim, 0, &m, &f), MDYN_OK);
    sim.v[0] = real(0.1);
    CHECK_EQUAL(mdyn_joint_wrench(&sim, 0, &m, &f), MDYN_ERR_NO_STEP);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(mdyn_set_gravity(&sim, &g), MDYN_OK);
    CHECK_EQUAL(mdyn_joint_wrench(&sim, 0, &m, &f), MDYN_ERR_NO_STEP);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(mdyn_set_dt(&sim, MDYN_C(0.002)), MDYN_OK);
    CHECK_EQUAL(mdyn_joint_wrench(&sim, 0, &m, &f), MDYN_ERR_NO_STEP);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    solver = model.solver;
    solver.scheme = MDYN_EXPLICIT;
    CHECK_EQUAL(mdyn_set_solver(&sim, &solver), MDYN_OK);
    CHECK_EQUAL(mdyn_joint_wrench(&sim, 0, &m, &f), MDYN_ERR_NO_STEP);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(mdyn_set_contacts(&sim, NULL, 0), MDYN_OK);
    CHECK_EQUAL(mdyn_joint_wrench(&sim, 0, &m, &f), MDYN_ERR_NO_STEP);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(mdyn_reset(&sim), MDYN_OK);
    CHECK_EQUAL(mdyn_joint_wrench(&sim, 0, &m, &f), MDYN_ERR_NO_STEP);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    bad_real(&sim.wrench[2].force.x, 0);
    CHECK_EQUAL(mdyn_joint_wrench(&sim, 0, &m, &f), MDYN_ERR_STATE);
}

/* A sim that is asked continues bit for bit as one that is not. */
static void test_same_motion(void) {
    static mdyn_sim other;
    mdyn_wide3 m, f;
    for (int n = 0; n < 10; n++) {
        begin_random(3000 + n, FLOATING, MDYN_MIDPOINT);
        begin_state(2);
        other = sim;
        for (int step = 0; step < 20; step++) {
            CHECK(mdyn_step(&sim) >= 0);
            CHECK(mdyn_step(&other) >= 0);
            CHECK_EQUAL(mdyn_joint_wrench(&sim, step % t.bodies, &m, &f), MDYN_OK);
            CHECK(memcmp(other.q, sim.q, sizeof sim.q) == 0);
            CHECK(memcmp(other.v, sim.v, sizeof sim.v) == 0);
        }
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_trees();
    test_rows_on_joints();
    test_rows_on_bodies();
    test_weights();
    test_contact_within_a_weld();
    test_wheels();
    test_spin();
    test_refusals();
    test_same_motion();
    return check_end();
}
