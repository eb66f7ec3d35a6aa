/* Eliminated couplings against the same couplings as rows, and M_y against a dense G^T M G, with G
   found by Gaussian elimination of the couplings' own numbers. */
#include "knobs.h"
#include "check.h"
#include "truth.h"
#include "truth_step.h"
#include "random_ties.h"

/* What the checks allow, some three to ten times the worst of -s 1, 2 and 3: parts of speeds,
   accelerations and forces. */
/*                          F64    F32  FIXED */
TOLERANCE(SPEED,          1e-11,  2e-3,  2e-4);
TOLERANCE(ACCELERATION,   2e-11,  2e-2,  2e-3);
TOLERANCE(FORCE,           2e-9,  2e-1,  2e-2);
TOLERANCE(BOUNDED,       1e-11,   3e-3,  2e-4);
TOLERANCE(RESIDUAL,       1e-9,   1e-5,  1e-9);
TOLERANCE(MASS,           1e-13,  1e-4,  1e-5);
TOLERANCE(PLACE,          1e-14,  2e-6, 1e-11);
TOLERANCE(ROTOR,          1e-12,  1e-4,  1e-6);

static int eliminated, kept; /* couplings of all mechanisms */

/* The same mechanism with all couplings as rows. */
static void draw_rows(void) {
    static mechanism rows;
    rows = mech;
    rows.model.bodies = rows.body;
    rows.model.couplings = rows.coupling;
    for (int i = 0; i < rows.model.coupling_count; i++) {
        if (rows.coupling[i].softness.kind == MDYN_DEFAULT) {
            rows.coupling[i].softness.kind = MDYN_ERP_CFM;
            rows.coupling[i].softness.a = wide(0.2);
        }
    }
    CHECK(mdyn_init(&other, &rows.model) >= 0);
    CHECK_EQUAL(other.tie_count, 0);
    memcpy(other.q, sim.q, sizeof sim.q);
    memcpy(other.v, sim.v, sizeof sim.v);
    memcpy(other.tau, sim.tau, sizeof sim.tau);
    memcpy(other.wrench, sim.wrench, sizeof sim.wrench);
}

static double size_of_speeds(const mdyn_sim *of, double *difference) {
    ld v[TN], d[TN];
    for (int i = 0; i < t.dofs; i++) {
        v[i] = (ld)of_real(of->v[i]);
        d[i] = (ld)of_real(sim.v[i]) - v[i];
    }
    *difference = norm_speed(&t, d);
    return norm_speed(&t, v);
}

/* a := M^-1 (tau - C + J^T lambda) with J a = 0, for the hard couplings. Returns 0 if these nearly
   depend on each other. */
static int dense_accelerations(ld *a) {
    static ld L[TN][TN], B[TC][TN], J[TC][TN];
    static truth_system e;
    int n = t.dofs;
    memcpy(L, t.M, sizeof L);
    CHECK(truth_cholesky(L, n));
    for (int i = 0; i < n; i++) {
        a[i] = t.tau[i] - t.C[i];
    }
    truth_back(L, n, a);
    e.n = 0;
    for (int i = 0; i < mech.model.coupling_count; i++) {
        const mdyn_coupling *c = &mech.coupling[i];
        if (c->softness.kind == MDYN_KP_KD || of_wide(c->softness.b) != 0) {
            continue;
        }
        ld *row = J[e.n];
        memset(row, 0, sizeof J[0]);
        for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
            if (of_wide(c->terms[k].coefficient) != 0) {
                int dof = mdyn_first_dof(&sim, c->terms[k].body);
                row[dof] = (ld)of_wide(c->terms[k].coefficient);
            }
        }
        memcpy(B[e.n], row, sizeof B[0]);
        truth_back(L, n, B[e.n++]);
    }
    for (int i = 0; i < e.n; i++) {
        e.b[i] = 0;
        for (int k = 0; k < n; k++) {
            e.b[i] -= J[i][k] * a[k];
        }
        for (int j = 0; j < e.n; j++) {
            e.A[i][j] = 0;
            for (int k = 0; k < n; k++) {
                e.A[i][j] += J[i][k] * B[j][k];
            }
        }
    }
    if (truth_solve(&e, BY_SCALAR(1e-6L, 1e-3L, 1e-4L)) < e.n) {
        return 0;
    }
    for (int i = 0; i < e.n; i++) {
        for (int k = 0; k < n; k++) {
            a[k] += B[i][k] * e.x[i];
        }
    }
    return 1;
}

/* Returns 0 if the couplings depend on each other so nearly that nothing can be said. */
static int compare_accelerations(void) {
    static mdyn_wide a[TN], b[TN];
    ld dense[TN], d[TN];
    CHECK_EQUAL(mdyn_constrained_dynamics(&sim, a), MDYN_OK);
    CHECK_EQUAL(mdyn_constrained_dynamics(&other, b), MDYN_OK);
    if (!dense_accelerations(dense)) {
        return 0;
    }
    double size = norm_speed(&t, dense) + 1;
    for (int i = 0; i < t.dofs; i++) {
        d[i] = (ld)of_wide(a[i]) - dense[i];
    }
    CHECK_NEAR(norm_speed(&t, d), 0, ACCELERATION * size);
    for (int i = 0; i < t.dofs; i++) {
        d[i] = (ld)of_wide(b[i]) - dense[i];
    }
    CHECK_NEAR(norm_speed(&t, d), 0, ACCELERATION * size);
    return 1;
}

static void compare_forces(void) {
    double worst = 0, largest = 1;
    for (int i = 0; i < mech.model.coupling_count; i++) {
        mdyn_row_report a, b;
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, i, &a), MDYN_OK);
        CHECK_EQUAL(mdyn_report_row(&other, MDYN_ROW_COUPLING, i, &b), MDYN_OK);
        double force = of_wide(b.force), coefficient = 0;
        for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
            coefficient = fmax(coefficient,
                               fabs(of_wide(mech.coupling[i].terms[k].coefficient)));
        }
        largest = fmax(largest, fabs(force) * coefficient);
        worst = fmax(worst, fabs(of_wide(a.force) - force) * coefficient);
    }
    CHECK_NEAR(worst, 0, FORCE * largest);
}

static int has_floating_tree(void) {
    for (int i = 0; i < mech.model.body_count; i++) {
        int parent = mech.body[i].parent; /* a fixed body on the world is a part of it */
        while (parent >= 0 && mech.body[parent].joint == MDYN_FIXED) {
            parent = mech.body[parent].parent;
        }
        if (parent == MDYN_WORLD && mech.body[i].joint == MDYN_FREE) {
            return 1;
        }
    }
    return 0;
}

/* v and forces of one step, from a state off the couplings, whose impact the step takes in. */
static void test_row_form(void) {
    static mdyn_wide accelerations[TN];
    int compared = 0, judged = 0, singular = 0, told = 0, coarse = 0;
    for (int n = 0; n < 1000; n++) {
        random_seed(9000 + (uint64_t)n);
        if (!draw(1 + random_int(6), n % 2)) {
            continue;
        }
        eliminated += sim.tie_count;
        kept += mech.model.coupling_count - sim.tie_count;
        sim_random(&sim, &mech.model, 2, 5);
        if (has_floating_tree()) { /* the velocity of its root depends on the new pose */
            CHECK_EQUAL(mdyn_project(&sim, MDYN_MASS_METRIC), MDYN_OK);
        }
        draw_rows();
        truth_init(&t, &mech.model);
        truth_copy(&t, &sim);
        truth_update(&t, &mech.model);
        if (MDYN_SCALAR == MDYN_SCALAR_FIXED &&
            mdyn_constrained_dynamics(&other, accelerations) == MDYN_ERR_SINGULAR) {
            singular++;
            continue;
        }
        const int independent = compare_accelerations();
        double difference, before = size_of_speeds(&other, &difference), after;
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        const int code = mdyn_step(&other);
        coarse += code == MDYN_WARN_DIGITS;
        CHECK(code == MDYN_OK || code == MDYN_WARN_DIGITS);
        after = size_of_speeds(&other, &difference);
        CHECK_NEAR(difference, 0, SPEED * (before + after + 1));
        if (!nearly_redundant) { /* or mdyn_init has told that forces have few digits */
            compare_forces();
        }
        told += nearly_redundant;
        judged += independent;
        compared++;
    }
    CHECK(compared >= 600 && judged >= 500 && singular <= 3 && coarse <= BY_SCALAR(0, 0, 3));
    CHECK(told <= 40 && (told > 0 || MDYN_SCALAR != MDYN_SCALAR_F32));
    printf("%d mechanisms, %d of them with independent couplings\n", compared, judged);
    printf("%d couplings eliminated, %d rows\n", eliminated, kept);
    CHECK(4 * eliminated >= 5 * kept);
}

/* The same with drives, dry friction and stops on all joints, which act through G: the stop of a
   follower loads its coupling. One step from rest, at the stops of many. */
static void test_bounded_rows(void) {
    int compared = 0, loaded = 0;
    double worst = 0;
    for (int n = 0; n < 400; n++) {
        random_seed(12000 + (uint64_t)n);
        if (!draw(1 + random_int(4), 0)) {
            continue;
        }
        for (int i = 0; i < mech.model.body_count; i++) {
            mdyn_body *b = &mech.body[i];
            if (t_dofs_of(b->joint) != 1) {
                continue;
            }
            if (random_int(2)) {
                b->lower = wide(random_in(-1e-5, 0));
                b->upper = wide(random_in(0, 1e-5));
            }
            b->friction = wide(random_int(2) ? random_in(0, 1) : 0);
            b->drive_kp = wide(random_int(2) ? random_in(0, 100) : 0);
            b->drive_kd = wide(of_wide(b->drive_kp) / 50);
            b->effort = wide(random_int(2) ? random_in(0.1, 5) : 0);
        }
        for (int i = 0; i < mech.model.coupling_count; i++) {
            mech.coupling[i].offset = wide(0);
        }
        mech.model.solver.iterations = 20000;
        if (mdyn_init(&sim, &mech.model) < 0) {
            continue;
        }
        for (int k = 0; k < mdyn_dofs(&sim); k++) {
            sim.tau[k] = real(random_in(-10, 10));
        }
        draw_rows();
        truth_init(&t, &mech.model);
        truth_copy(&t, &sim);
        truth_update(&t, &mech.model);
        double difference, size;
        CHECK(mdyn_step(&sim) >= 0);
        CHECK(mdyn_step(&other) >= 0);
        if (fmax(of_wide(sim.report.residual), of_wide(other.report.residual)) > RESIDUAL) {
            continue;
        }
        size = size_of_speeds(&other, &difference);
        CHECK_NEAR(difference, 0, BOUNDED * (size + 1e-3));
        worst = fmax(worst, difference / (size + 1e-3));
        for (int k = 0; k < mdyn_dofs(&sim); k++) {
            mdyn_row_report r;
            loaded += sim.tie_of[k] >= 0 &&
                      mdyn_report_row(&sim, MDYN_ROW_LIMIT, k, &r) == MDYN_OK &&
                      of_wide(r.force) != 0;
        }
        compared++;
    }
    printf("%d with bounded rows, %d stops of followers loaded, %.1e\n", compared, loaded, worst);
    CHECK(compared >= 100 && loaded >= 50);
}

/* Two couplings of three rotors, the second of which differs from the first by a hundredth in one
   ratio: its own part is 1e-4 of its length squared. Forces then lose four digits, of seven in F32
   and nine in FIXED; mdyn_init and mdyn_set_coupling tell so. */
static void test_nearly_redundant(void) {
    static const double own[] = { 0.5, 0.01 };
    mdyn_body rotors[3];
    mdyn_coupling rows[2];
    mdyn_model model;
    memset(rotors, 0, sizeof rotors);
    memset(rows, 0, sizeof rows);
    memset(&model, 0, sizeof model);
    for (int i = 0; i < 3; i++) {
        rotors[i].parent = MDYN_WORLD;
        rotors[i].joint = MDYN_REVOLUTE;
        rotors[i].armature = wide(1);
        for (int k = 0; k < 2; k++) {
            rows[k].terms[i].body = (int16_t)i;
            rows[k].terms[i].coefficient = wide(i == 0 ? 1 : -1);
        }
    }
    model.bodies = rotors;
    model.body_count = 3;
    model.couplings = rows;
    model.coupling_count = 2;
    model.dt = wide(0.001);
    for (int n = 0; n < 2; n++) {
        const int tells = n == 1 && MDYN_SCALAR != MDYN_SCALAR_F64;
        const int code = tells ? MDYN_WARN_NEARLY_REDUNDANT : MDYN_OK;
        rows[1].terms[2].coefficient = wide(-1 - own[n]);
        CHECK_EQUAL(mdyn_init(&sim, &model), code);
        CHECK_EQUAL(sim.culprit.index, tells ? 1 : -1);
        rows[1].terms[2].coefficient = wide(-1.5);
        CHECK_EQUAL(mdyn_init(&other, &model), MDYN_OK);
        rows[1].terms[2].coefficient = wide(-1 - own[n]);
        CHECK_EQUAL(mdyn_set_coupling(&other, 1, &rows[1]), code);
    }
}

/* ---- engaged couplings: an impact ---- */

/* Two rotors of 2 and 3 kg m^2 that turn at 5 and -1 rad/s, coupled 2:1 while they turn: momentum
   along the motion that is left stays, and the impulse is reported. Released, both keep turning. */
static void test_engaged(void) {
    static const mdyn_body rotors[] = {
        { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .armature = MDYN_C(2) },
        { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .armature = MDYN_C(3) },
    };
    static const mdyn_coupling gear[] = { MDYN_MIMIC(1, 0, 2.0, 0.0) };
    mdyn_model model;
    mdyn_row_report r;
    memset(&model, 0, sizeof model);
    model.bodies = rotors;
    model.body_count = 2;
    model.couplings = gear;
    model.coupling_count = 1;
    model.dt = MDYN_C(0.001);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    CHECK_EQUAL(sim.tie_count, 1);
    CHECK_EQUAL(mdyn_engage(&sim, 0, MDYN_RELEASE), MDYN_OK);
    CHECK_EQUAL(sim.tie_count, 0);
    sim.v[0] = MDYN_R(5);
    sim.v[1] = MDYN_R(-1);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(of_real(sim.v[1]), -1, 0);
    CHECK_EQUAL(mdyn_engage(&sim, 0, MDYN_ENGAGE_HERE), MDYN_OK);
    CHECK_EQUAL(sim.tie_count, 1);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    double v = (2 * 5 - 2 * 3 * 1) / (2.0 + 4 * 3); /* G^T M v = G^T M G y' */
    CHECK_NEAR(of_real(sim.v[0]), v, 40 * check_epsilon);
    CHECK_NEAR(of_real(sim.v[1]), 2 * v, 80 * check_epsilon);
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &r), MDYN_OK);
    CHECK_NEAR(of_wide(r.impulse), 3 * (2 * v + 1), 240 * check_epsilon);
    for (int i = 0; i < 300; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &r), MDYN_OK);
    CHECK_NEAR(of_wide(r.error), 0, PLACE);
    CHECK_NEAR(of_wide(r.force), 0, 1e4 * check_epsilon);
}

/* ---- M_y ---- */

/* Element p of row k of L: its diagonal first, whose square is stored, then the ancestors j of k in
   the elimination tree. In fixed point in units of 2^-s of DoF j. */
static ld factor_element(int k, int p, int j) {
    md_unit x = sim.shared.entry[sim.L_first[k] + p];
#if MDYN_SCALAR == MDYN_SCALAR_FIXED
    ld value = ldexpl((ld)x, -30);
    return ldexpl(p ? value : sqrtl(value), sim.dof[j].scale);
#else
    (void)j;
    return p ? (ld)x : sqrtl((ld)x);
#endif
}

/* A += L^T L, as the sim has L. */
static void add_squared_factor(ld A[TN][TN]) {
    for (int k = 0; k < sim.dofs; k++) {
        if (sim.tie_of[k] >= 0) {
            continue;
        }
        for (int i = k, p = 0; i >= 0; i = sim.y_parent[i], p++) {
            for (int j = k, r = 0; j >= 0; j = sim.y_parent[j], r++) {
                A[i][j] += factor_element(k, p, i) * factor_element(k, r, j);
            }
        }
    }
}

/* M_y, by the factor that the sim has after a query of accelerations. */
static void test_mass(void) {
    static ld G[TN][TN], My[TN][TN], LtL[TN][TN];
    static mdyn_wide M[TN * TN], a[TN];
    int compared = 0;
    for (int n = 0; n < 300; n++) {
        random_seed(20000 + (uint64_t)n);
        if (!draw(1 + random_int(6), 0)) {
            continue;
        }
        sim_random(&sim, &mech.model, 2, 5);
        truth_init(&t, &mech.model);
        CHECK_EQUAL(mdyn_mass_matrix(&sim, M), MDYN_OK);
        CHECK_EQUAL(mdyn_constrained_dynamics(&sim, a), MDYN_OK);
        if (sim.tie_count == 0) { /* of deep trees L is kept otherwise: test_whiten */
            continue;
        }
        dense_G(G);
        for (int i = 0; i < t.dofs; i++) {
            for (int j = 0; j < t.dofs; j++) {
                My[i][j] = LtL[i][j] = 0;
                for (int k = 0; k < t.dofs; k++) {
                    for (int l = 0; l < t.dofs; l++) {
                        My[i][j] += G[k][i] * (ld)of_wide(M[k * t.dofs + l]) * G[l][j];
                    }
                }
            }
        }
        add_squared_factor(LtL);
        for (int k = 0; k < t.dofs; k++) {
            for (int j = 0; j < k; j++) { /* what has no place is 0 */
                int on_path = 0;
                for (int i = sim.y_parent[k]; i >= 0; i = sim.y_parent[i]) {
                    on_path |= i == j;
                }
                CHECK(on_path || sim.tie_of[k] >= 0 ||
                      fabsl(My[k][j]) <= (ld)MASS * sqrtl(My[k][k] * My[j][j]));
            }
            for (int j = k; j >= 0 && sim.tie_of[k] < 0; j = sim.y_parent[j]) {
                CHECK_NEAR((double)LtL[k][j], (double)My[k][j],
                           MASS * (double)sqrtl(My[k][k] * My[j][j]));
            }
        }
        compared++;
    }
    CHECK(compared >= 150);
}

/* ---- state ---- */

/* 2000 steps under random forces: followers are where C = 0 puts them. */
static void test_places(void) {
    for (int n = 0; n < 20; n++) {
        random_seed(30000 + (uint64_t)n);
        if (!draw(1 + random_int(4), 0)) {
            continue;
        }
        for (int step = 0; step < 2000; step++) {
            for (int k = 0; k < mdyn_dofs(&sim); k++) {
                sim.tau[k] = real(random_in(-1, 1));
            }
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        }
        for (int i = 0; i < sim.tie_count; i++) {
            mdyn_row_report r;
            double size = 1;
            int coupling = sim.tie[i].coupling;
            CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, coupling, &r), MDYN_OK);
            for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
                const mdyn_term *term = &mech.coupling[coupling].terms[k];
                if (of_wide(term->coefficient) != 0) {
                    size += fabs(of_wide(term->coefficient) * of_real(mdyn_q(&sim, term->body, 0)));
                }
            }
            CHECK_NEAR(of_wide(r.error), 0, PLACE * size);
        }
    }
}

/* ---- rotors ---- */

/* Three wheels on the world, the mass centers on their axes, and with `arm` two links beside them;
   two or three couplings. `welded`: a body without mass on each wheel, which then is no rotor. */
static void make_wheels(uint64_t seed, int arm, int welded) {
    random_seed(seed);
    memset(&mech, 0, sizeof mech);
    const int links = arm ? 5 : 3;
    for (int i = 0; i < links; i++) {
        mdyn_body *b = &mech.body[i];
        double along = random_in(-0.1, 0.1), x = random_in(-1, 1), y = random_in(-1, 1);
        b->parent = (int16_t)(i < 4 ? MDYN_WORLD : 3);
        b->joint = MDYN_REVOLUTE;
        b->axis = wide3(x, i == 0 ? 0 : y, i == 0 ? 0 : 1);
        b->position = wide3(0.3 * i, 0.1, 0);
        b->mass = wide(0.5);
        b->com = i < 3 ? wide3(along * x, i == 0 ? 0 : along * y, i == 0 ? 0 : along)
                       : wide3(0.1, 0.05, 0);
        b->inertia.xx = b->inertia.yy = wide(0.02);
        b->inertia.zz = wide(0.03);
        b->armature = wide(0.01);
        b->damping = wide(0.02);
    }
    for (int i = 0; i < 3 && welded; i++) {
        mech.body[links + i].parent = (int16_t)i;
        mech.body[links + i].joint = MDYN_FIXED;
    }
    for (int i = 0; i < 2 + arm; i++) {
        mdyn_coupling *c = &mech.coupling[i];
        c->terms[0].body = (int16_t)(i + 1);
        c->terms[0].coefficient = wide(1);
        c->terms[1].body = (int16_t)i;
        c->terms[1].coefficient = wide(random_in(-2, 2));
    }
    mech.model.bodies = mech.body;
    mech.model.body_count = links + (welded ? 3 : 0);
    mech.model.couplings = mech.coupling;
    mech.model.coupling_count = 2 + arm;
    mech.model.dt = wide(0x1p-9);
    mech.model.gravity = wide3(1, -2, -9);
    mech.model.solver.scheme = MDYN_MIDPOINT;
}

/* Both sims alike but for the bodies without mass: the same motion and coupling forces, and the
   poses of where the wheels are. */
static void compare_wheels(int couplings) {
    mdyn_real3 at, at_other;
    mdyn_real4 turn, turn_other;
    for (int k = 0; k < mdyn_dofs(&sim); k++) {
        CHECK_NEAR(of_real(sim.q[k]), of_real(other.q[k]), ROTOR);
        CHECK_NEAR(of_real(sim.v[k]), of_real(other.v[k]), ROTOR);
    }
    for (int i = 0; i < couplings; i++) {
        mdyn_row_report a, b;
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, i, &a), MDYN_OK);
        CHECK_EQUAL(mdyn_report_row(&other, MDYN_ROW_COUPLING, i, &b), MDYN_OK);
        CHECK_NEAR(of_wide(a.force), of_wide(b.force), ROTOR * (1 + fabs(of_wide(b.force))));
    }
    CHECK_EQUAL(mdyn_pose(&sim, 1, &at, &turn), MDYN_OK);
    CHECK_EQUAL(mdyn_pose(&other, 1, &at_other, &turn_other), MDYN_OK);
    CHECK_NEAR(of_real(turn.w), of_real(turn_other.w), ROTOR);
    CHECK_NEAR(of_real(at.x), of_real(at_other.x), ROTOR);
}

/* A rotor is a number in a step, with wrenches on it too; not any more with its mass center moved
   off its axis. */
static void test_wheels(void) {
    for (int n = 0; n < 12; n++) {
        static mechanism welded;
        const int arm = n % 3 != 0;
        make_wheels(40000 + (uint64_t)n, arm, 1);
        welded = mech;
        welded.model.bodies = welded.body;
        welded.model.couplings = welded.coupling;
        make_wheels(40000 + (uint64_t)n, arm, 0);
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        CHECK_EQUAL(mdyn_init(&other, &welded.model), MDYN_OK);
        CHECK_EQUAL(sim.link[0].traits & MD_ROTOR, MD_ROTOR);
        CHECK_EQUAL(other.link[0].traits & MD_ROTOR, 0);
        for (int step = 0; step < 200; step++) {
            for (int k = 0; k < mdyn_dofs(&sim); k++) {
                sim.tau[k] = other.tau[k] = real(random_in(-1, 1));
                sim.wrench[k].moment.x = other.wrench[k].moment.x = real(n % 2 * random_in(-1, 1));
                sim.wrench[k].force.y = other.wrench[k].force.y = real(n % 2 * random_in(-1, 1));
            }
            if (step == 100) {
                mech.body[0].com = welded.body[0].com = wide3(0, 0.01, 0.02);
                CHECK_EQUAL(mdyn_set_body(&sim, 0, &mech.body[0]), MDYN_OK);
                CHECK_EQUAL(mdyn_set_body(&other, 0, &welded.body[0]), MDYN_OK);
                CHECK_EQUAL(sim.link[0].traits & MD_ROTOR, 0);
            }
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            CHECK_EQUAL(mdyn_step(&other), MDYN_OK);
            if (step % 50 == 0) {
                compare_wheels(2 + arm);
            }
        }
        compare_wheels(2 + arm);
    }
}

/* ---- limits ---- */

static double limit_force(int joint) {
    mdyn_row_report r;
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_LIMIT, joint, &r), MDYN_OK);
    return of_wide(r.force);
}

/* Drives the wheels by `torque` on joint 0 until they rest: at the stop of joint `stop`, whose
   place is `at`, and which alone carries the torque, through the couplings between. */
static void check_stop(double torque, int stop, double at, const double *ratio) {
    sim.tau[0] = real(torque);
    for (int step = 0; step < 3000; step++) {
        CHECK(mdyn_step(&sim) >= 0);
    }
    double total = 1;
    for (int i = 0; i < stop; i++) {
        total *= ratio[i];
    }
    CHECK_NEAR(of_real(sim.q[stop]), at, 4 * ROTOR);
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(limit_force(i), i == stop ? -torque / total : 0, 1e3 * ROTOR);
    }
    for (int i = 0; i < 2; i++) { /* q_(i + 1) = ratio q_i */
        mdyn_row_report r;
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, i, &r), MDYN_OK);
        double before = i == 0 ? 1 : ratio[0];
        CHECK_NEAR(of_wide(r.force), i < stop ? torque / (before * ratio[i]) : 0, 1e3 * ROTOR);
    }
}

/* Of the limits of joints tied to each other the first one acts, and its joint's coupling carries
   the force; also with limits changed while the sim runs, and a ratio below 0. */
static void test_limits_of_tied(void) {
    static const double ratio[2] = { -2, 0.5 };
    make_wheels(50000, 0, 0);
    mech.model.gravity = wide3(0, 0, 0);
    for (int i = 0; i < 2; i++) {
        mech.coupling[i].terms[1].coefficient = wide(-ratio[i]);
    }
    for (int i = 0; i < 3; i++) { /* joint 0 meets: 1 and -1, 0.6 and -0.8, 0.9 and -0.7 */
        static const double lower[3] = { -1, -1.2, -0.9 }, upper[3] = { 1, 1.6, 0.7 };
        mech.body[i].lower = wide(lower[i]);
        mech.body[i].upper = wide(upper[i]);
        mech.body[i].damping = wide(0.2);
    }
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    CHECK_EQUAL(sim.tie_count, 2);
    check_stop(1, 1, -1.2, ratio);
    CHECK_EQUAL(sim.active_count, 1);
    check_stop(-1, 2, 0.7, ratio);
    CHECK_EQUAL(sim.active_count, 1);

    mech.body[2].upper = wide(2); /* then joint 1 is the first one there */
    CHECK_EQUAL(mdyn_set_body(&sim, 2, &mech.body[2]), MDYN_OK);
    check_stop(-1, 1, 1.6, ratio);
    mech.body[0].upper = wide(0.25);
    CHECK_EQUAL(mdyn_set_body(&sim, 0, &mech.body[0]), MDYN_OK);
    check_stop(1, 0, 0.25, ratio);
    mdyn_coupling c = mech.coupling[0]; /* q_1 = -2 q_0 + 1.5: its lower limit is at 1.35 */
    c.offset = wide(-1.5);
    sim.q[1] = real(of_real(sim.q[1]) + 1.5);
    sim.q[2] = real(of_real(sim.q[2]) + 0.75);
    CHECK(mdyn_set_coupling(&sim, 0, &c) >= 0);
    check_stop(-1, 1, 1.6, ratio);
}

/* q_0 is 123 times q_1, q_2 50 times q_0: a joint that leads by so much would have all that is
   rounded at the others in the impulse of its coupling, and the larger shares follow. A ratio of
   50 leaves the first joint to follow. */
static void test_outweighed(void) {
    static const double I[3] = { 0.012, 0.018, 0.016 };
    static const double c[2][2] = { { 0.0118, -1.45 }, { 2.95, -0.059 } };
    const double g0 = -c[0][1] / c[0][0], g2 = -c[1][0] / c[1][1] * g0, torque = 10;
    const double dy = 1e-3 * g2 * torque / (I[1] + I[0] * g0 * g0 + I[2] * g2 * g2);
    static const mdyn_body rotor = { 0 };
    mdyn_body body[3] = { rotor, rotor, rotor };
    mdyn_coupling pair[2] = { MDYN_MIMIC(0, 1, 0, 0), MDYN_MIMIC(0, 2, 0, 0) };
    mdyn_model m = MDYN_MODEL(body, 3, pair, 2, MDYN_V3(0, 0, 0), 0.001);
    mdyn_row_report r;
    for (int i = 0; i < 3; i++) {
        body[i].parent = MDYN_WORLD;
        body[i].joint = MDYN_REVOLUTE;
        body[i].armature = wide(I[i]);
    }
    for (int i = 0; i < 2; i++) {
        pair[i].terms[0].coefficient = wide(c[i][0]);
        pair[i].terms[1].coefficient = wide(c[i][1]);
    }
    CHECK_EQUAL(mdyn_init(&sim, &m), MDYN_OK);
    CHECK_EQUAL(sim.tie_count, 2);
    sim.tau[2] = real(torque);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(of_real(sim.v[1]) / dy, 1, ROTOR);
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &r), MDYN_OK);
    CHECK_NEAR(of_wide(r.impulse) / (I[1] * dy / c[0][1]), 1, ROTOR);

    m.coupling_count = 1;
    pair[0].terms[0].coefficient = wide(1);
    pair[0].terms[1].coefficient = wide(-50);
    CHECK_EQUAL(mdyn_init(&sim, &m), MDYN_OK);
    CHECK_EQUAL(sim.tie[0].dof, 0);
}

/* The tips of two chains turn against each other: eliminated, the one would make M_y of both chains
   full. The coupling is a row, and both tips move as their own speeds say: one that was found to be
   led, before the elimination was given up, once stayed behind. */
static void test_given_up(void) {
    enum { LINKS = 6, TIP = LINKS - 1 };
    static const mdyn_coupling pair[1] = { MDYN_MIMIC(2 * LINKS - 1, TIP, -1, 0) };
    double worst = 0;
    memset(&mech, 0, sizeof mech);
    for (int i = 0; i < 2 * LINKS; i++) {
        mdyn_body *b = &mech.body[i];
        b->parent = (int16_t)(i % LINKS ? i - 1 : MDYN_WORLD);
        b->joint = MDYN_REVOLUTE;
        b->axis = wide3(0, 1, 0);
        b->position = wide3(0.1, 0, 0);
        b->mass = wide(0.2);
        b->com = wide3(0.05, 0, 0);
        b->inertia.xx = b->inertia.yy = b->inertia.zz = wide(1e-3);
    }
    const mdyn_model m = MDYN_MODEL(mech.body, 2 * LINKS, pair, 1, MDYN_V3(0, 0, 0), 0.001);
    CHECK_EQUAL(mdyn_init(&sim, &m), MDYN_OK);
    CHECK_EQUAL(sim.tie_count, 0);
    CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
    for (int n = 0; n < 50; n++) {
        sim.tau[TIP] = real(0.01);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        worst = worse(worst, fabs(of_real(sim.q[TIP]) + of_real(sim.q[LINKS + TIP])));
    }
    CHECK(of_real(sim.q[TIP]) > 1e-3);
    CHECK_NEAR(worst, 0, PLACE);
}

int main(int argc, char **argv) {
    static void (*const tests[])(void) = {
        test_row_form, test_bounded_rows, test_nearly_redundant, test_engaged, test_mass,
        test_places, test_wheels, test_limits_of_tied, test_outweighed,
        test_given_up
    };
    check_begin(argc, argv);
    for (int i = 0; i < (int)(sizeof tests / sizeof *tests); i++) {
        random_seed((uint64_t)i + 1);
        tests[i]();
    }
    return check_end();
}
