/* Nonlinear couplings: value, slope and curvature of curves against closed forms and differences;
   couplings with curves against dense algebra; what is refused. */
#include "knobs.h"
#include "check.h"
#include "truth.h"
#include "truth_step.h"
#include "random_couplings.h"

/* What the checks allow, three to ten times the worst of -s 1, 2 and 3. */
/*                          F64    F32  FIXED */
TOLERANCE(VALUE,          1e-14,  1e-6,  3e-8);
TOLERANCE(DIFFERENCE,      1e-6,  3e-2,  1e-4);
TOLERANCE(ACCELERATION,   1e-11,  2e-2,  1e-3);
TOLERANCE(POWER,          2.0e-5, 2e-5, 2.0e-5);
TOLERANCE(RUNGE_KUTTA,      1e-6,  2e-5,  1e-6);
TOLERANCE(ENERGY,           1e-5, 2e-5,  1e-5);
TOLERANCE(STEP,            1e-11,  2e-3,  1e-4);
TOLERANCE(STEP_FORCE,       1e-9,  2e-1,  2e-2);
TOLERANCE(PLACE,          1e-13,  2e-6,  1e-8);
TOLERANCE(SPEED,          1e-12,  2e-5,  1e-7);
TOLERANCE(LEVEL,          1e-12,  1e-5,  1e-7);

/* ---- the curves of this file, in long double ---- */

enum { KNOTS = 17, CURVES = 6 };
static mdyn_knot knots[KNOTS], uneven[KNOTS];
static mdyn_wide scratch[KNOTS];

static void two_sin(mdyn_real q, mdyn_curve_point *p, void *user) {
    ld x = (ld)of_real(q), a = (ld)*(const double *)user;
    p->value = real((double)(a * sinl(x)));
    p->slope = wide((double)(a * cosl(x)));
    p->curvature = wide((double)(-a * sinl(x)));
}

/* f = q_0 + sin q_1 cos q_2, of terms in that order. */
static void knot_of_three(const mdyn_real *q, const mdyn_real *v, mdyn_coupler_point *p,
                          void *user) {
    ld y = (ld)of_real(q[1]), z = (ld)of_real(q[2]);
    ld vy = (ld)of_real(v[1]), vz = (ld)of_real(v[2]);
    (void)user;
    p->value = real((double)((ld)of_real(q[0]) + sinl(y) * cosl(z)));
    p->gradient[0] = wide(1);
    p->gradient[1] = wide((double)(cosl(y) * cosl(z)));
    p->gradient[2] = wide((double)(-sinl(y) * sinl(z)));
    p->rate = wide((double)(-sinl(y) * cosl(z) * (vy * vy + vz * vz)
                            - 2 * cosl(y) * sinl(z) * vy * vz));
}

static double two = 2;
static mdyn_curve curves[CURVES] = {
    MDYN_POLYNOMIAL(0.25, 0.5, -1.5, 0.75, 0.5, -0.125), MDYN_SPLINE(knots), MDYN_SPLINE(uneven),
    MDYN_FUNCTION(two_sin, &two), MDYN_COUPLER(knot_of_three, NULL),
    MDYN_POLYNOMIAL(0, 0.125, 2.54, 0, 0, 0)
};

/* f, f' and f'' by the formulae of the header's comments, in long double. */
static void exact(int curve, ld x, ld f[3]) {
    const mdyn_curve *c = &curves[curve];
    if (c->kind == MDYN_CURVE_POLYNOMIAL) {
        ld r = x - (ld)of_wide(c->reference);
        f[0] = f[1] = f[2] = 0;
        for (int k = 4; k >= 0; k--) {
            f[2] = f[2] * r + 2 * f[1];
            f[1] = f[1] * r + f[0];
            f[0] = f[0] * r + (ld)of_wide(c->a[k]);
        }
        return;
    }
    if (c->kind == MDYN_CURVE_FUNCTION) {
        f[0] = 2 * sinl(x);
        f[1] = 2 * cosl(x);
        f[2] = -f[0];
        return;
    }
    int k = 0;
    while (k < KNOTS - 2 && x > (ld)of_wide(c->knots[k + 1].q)) {
        k++;
    }
    const mdyn_knot *a = &c->knots[k], *b = a + 1;
    ld h = (ld)of_wide(b->q) - (ld)of_wide(a->q), m = (ld)of_wide(a->curvature);
    ld n = (ld)of_wide(b->curvature), u = x - (ld)of_wide(a->q);
    ld s = ((ld)of_wide(b->value) - (ld)of_wide(a->value)) / h - h * (2 * m + n) / 6;
    ld at = u < 0 ? 0 : u > h ? h : u; /* beyond: a line from the end */
    f[0] = (ld)of_wide(a->value) + at * (s + at * (m / 2 + at * (n - m) / (6 * h)));
    f[1] = s + at * (m + at * (n - m) / (2 * h));
    f[2] = at == u ? m + at * (n - m) / h : 0;
    f[0] += (u - at) * f[1];
}

static void fill_tables(void) {
    for (int k = 0; k < KNOTS; k++) {
        double x = -2 + 0.25 * k, y = x + 0.1 * sin(5.0 * k) * (k > 0 && k < KNOTS - 1);
        knots[k].q = wide(x);
        knots[k].value = wide(sin(x));
        uneven[k].q = wide(y);
        uneven[k].value = wide(0.5 * y * y - y);
    }
    CHECK_EQUAL(mdyn_fill_spline(knots, KNOTS, scratch), MDYN_OK);
    CHECK_EQUAL(mdyn_fill_spline(uneven, KNOTS, scratch), MDYN_OK);
}

/* ---- curves by themselves ---- */

static void test_values(void) {
    for (int n = 0; n < 2000; n++) {
        int curve = random_int(4);
        mdyn_real q = real(random_in(-2.5, 2.5));
        mdyn_curve_point p, after, before;
        ld f[3];
        exact(curve, (ld)of_real(q), f);
        CHECK_EQUAL(mdyn_evaluate_curve(&curves[curve], q, &p), MDYN_OK);
        CHECK_NEAR(of_real(p.value), (double)f[0], VALUE * 8);
        CHECK_NEAR(of_wide(p.slope), (double)f[1], VALUE * 20);
        CHECK_NEAR(of_wide(p.curvature), (double)f[2], VALUE * 100);

        /* differences, across knots too */
        double h = BY_SCALAR(1e-4, 1e-2, 1e-3);
        mdyn_real up = real(of_real(q) + h), down = real(of_real(q) - h);
        h = (of_real(up) - of_real(down)) / 2;
        mdyn_evaluate_curve(&curves[curve], up, &after);
        mdyn_evaluate_curve(&curves[curve], down, &before);
        CHECK_NEAR((of_real(after.value) - of_real(before.value)) / (2 * h), of_wide(p.slope),
                   DIFFERENCE);
        if (fabs(of_real(q)) < 1.9) { /* a natural spline has a bend in f'' at its ends */
            CHECK_NEAR((of_wide(after.slope) - of_wide(before.slope)) / (2 * h),
                       of_wide(p.curvature), BY_SCALAR(1e-2, 0.5, 5e-2));
        }
    }
}

/* A natural spline: f' is continuous at the knots, f'' is 0 at the ends; sin is met to h^4 away
   from them. */
static void test_spline(void) {
    for (int k = 1; k < KNOTS - 1; k++) {
        for (int c = 1; c < 3; c++) {
            const mdyn_knot *a = curves[c].knots + k - 1, *b = a + 1, *d = a + 2;
            double h = of_wide(b->q) - of_wide(a->q), g = of_wide(d->q) - of_wide(b->q);
            double left = (of_wide(b->value) - of_wide(a->value)) / h
                + h * (of_wide(a->curvature) + 2 * of_wide(b->curvature)) / 6;
            double right = (of_wide(d->value) - of_wide(b->value)) / g
                - g * (2 * of_wide(b->curvature) + of_wide(d->curvature)) / 6;
            CHECK_NEAR(left, right, VALUE * 20);
        }
    }
    CHECK_NEAR(of_wide(knots[0].curvature), 0, 0);
    CHECK_NEAR(of_wide(knots[KNOTS - 1].curvature), 0, 0);
    for (int n = 0; n < 100; n++) {
        mdyn_real q = real(random_in(-0.75, 0.75));
        mdyn_curve_point p;
        mdyn_evaluate_curve(&curves[1], q, &p);
        CHECK_NEAR(of_real(p.value), sin(of_real(q)), 2e-4);
        CHECK_NEAR(of_wide(p.slope), cos(of_real(q)), 2e-3);
    }
    mdyn_knot two_knots[] = { MDYN_KNOT(0, 1, 9), MDYN_KNOT(2, 5, 9) };
    CHECK_EQUAL(mdyn_fill_spline(two_knots, 2, scratch), MDYN_OK);
    CHECK_NEAR(of_wide(two_knots[0].curvature), 0, 0);
    CHECK_NEAR(of_wide(two_knots[1].curvature), 0, 0);
}

static void test_refused_curves(void) {
    mdyn_curve_point p;
    mdyn_curve c = curves[1];
    mdyn_knot bad[] = { MDYN_KNOT(0, 1, 0), MDYN_KNOT(0, 5, 0) };
    CHECK_EQUAL(mdyn_evaluate_curve(NULL, 0, &p), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_evaluate_curve(&c, 0, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_evaluate_curve(&curves[4], 0, &p), MDYN_ERR_CURVE);
    c.knot_count = 1;
    CHECK_EQUAL(mdyn_evaluate_curve(&c, 0, &p), MDYN_ERR_CURVE);
    c.knot_count = 2;
    c.knots = bad;
    CHECK_EQUAL(mdyn_evaluate_curve(&c, 0, &p), MDYN_ERR_CURVE);
    CHECK_EQUAL(mdyn_fill_spline(bad, 2, scratch), MDYN_ERR_CURVE);
    CHECK_EQUAL(mdyn_fill_spline(bad, 1, scratch), MDYN_ERR_CURVE);
    CHECK_EQUAL(mdyn_fill_spline(NULL, 2, scratch), MDYN_ERR_NULL);
    c = curves[0];
    c.a[4] = wide(1e6);
    CHECK_EQUAL(mdyn_evaluate_curve(&c, real(1000), &p), MDYN_ERR_RESULT);
    c.a[0] = wide(1e7); /* beyond all coordinates */
    CHECK_EQUAL(mdyn_evaluate_curve(&c, 0, &p), MDYN_ERR_RESULT);
    bad_wide(&c.a[4], 0);
    CHECK_EQUAL(mdyn_evaluate_curve(&c, 0, &p), MDYN_ERR_CURVE);
}

/* ---- random couplings of random trees, against dense algebra ---- */

/* The terms of a coupling are those of a random one, and each names a curve or none. */
static int draw(int count, mdyn_softness softness) {
    random_tree(4 + random_int(6), ARMATURES | (random_int(2) ? FLOATING : FOREST));
    mech.model.curves = curves;
    mech.model.curve_count = CURVES;
    mech.model.coupling_count = 0;
    for (int i = 0; i < count; i++) {
        mdyn_coupling *c = &mech.coupling[mech.model.coupling_count];
        int terms = 0;
        for (int tries = 0; tries < 50 && terms < 2; tries++) {
            random_coupling(c, 0.3);
            for (int k = terms = 0; k < MIMICDYN_MAX_TERMS && c->level == MDYN_POSITION; k++) {
                terms += of_wide(c->terms[k].coefficient) != 0;
            }
        }
        if (terms < 2) {
            break;
        }
        c->softness = softness;
        c->target_velocity = wide(0);
        for (int k = 0; k < terms; k++) {
            c->terms[k].curve = (uint8_t)(k == 0 ? 0 : random_int(5));
        }
        if (terms == 3 && random_int(2)) {
            c->terms[0].curve = c->terms[1].curve = c->terms[2].curve = 5;
        }
        mech.model.coupling_count++;
    }
    mech.model.solver.scheme = MDYN_MIDPOINT;
    int code = mdyn_init(&sim, &mech.model);
    CHECK(code >= 0);
    return code >= 0 && mech.model.coupling_count > 0;
}

/* J and J' v of a coupling at the truth's q and v; returns C. */
static ld row_of(const mdyn_coupling *c, ld *J, ld *rate) {
    ld C = (ld)of_wide(c->offset), q[3], v[3], f[3];
    int dof[3];
    memset(J, 0, TN * sizeof *J);
    *rate = 0;
    for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        const mdyn_term *term = &c->terms[k];
        ld a = (ld)of_wide(term->coefficient);
        if (a == 0) {
            continue;
        }
        int d = t.dof[term->body];
        ld x = t.q[t.coordinate[term->body]];
        if (term->curve == 5) {
            dof[k] = d;
            q[k] = x;
            v[k] = t.v[d];
            continue;
        }
        f[0] = x;
        f[1] = 1;
        f[2] = 0;
        if (term->curve) {
            exact(term->curve - 1, x, f);
        }
        C += a * f[0];
        J[d] = a * f[1];
        *rate += a * f[2] * t.v[d] * t.v[d];
    }
    if (c->terms[0].curve == 5) {
        ld a = (ld)of_wide(c->terms[0].coefficient);
        C += a * (q[0] + sinl(q[1]) * cosl(q[2]));
        J[dof[0]] = a;
        J[dof[1]] = a * cosl(q[1]) * cosl(q[2]);
        J[dof[2]] = -a * sinl(q[1]) * sinl(q[2]);
        *rate = a * (-sinl(q[1]) * cosl(q[2]) * (v[1] * v[1] + v[2] * v[2])
                     - 2 * cosl(q[1]) * sinl(q[2]) * v[1] * v[2]);
    }
    return C;
}

/* a := M^-1 (tau - C + J^T lambda) with J a = -J' v. Returns 0 if the rows nearly depend. */
static int dense_accelerations(ld *a) {
    static ld L[TN][TN], B[TC][TN], J[TC][TN];
    static truth_system e;
    int n = t.dofs;
    truth_copy(&t, &sim);
    truth_update(&t, &mech.model);
    memcpy(L, t.M, sizeof L);
    CHECK(truth_cholesky(L, n));
    for (int i = 0; i < n; i++) {
        a[i] = t.tau[i] - t.C[i];
    }
    truth_back(L, n, a);
    e.n = mech.model.coupling_count;
    for (int i = 0; i < e.n; i++) {
        row_of(&mech.coupling[i], J[i], &e.b[i]);
        e.b[i] = -e.b[i];
        memcpy(B[i], J[i], sizeof B[0]);
        truth_back(L, n, B[i]);
        for (int k = 0; k < n; k++) {
            e.b[i] -= J[i][k] * a[k];
        }
    }
    for (int i = 0; i < e.n; i++) {
        for (int j = 0; j < e.n; j++) {
            e.A[i][j] = 0;
            for (int k = 0; k < n; k++) {
                e.A[i][j] += J[i][k] * B[j][k];
            }
        }
    }
    for (int i = 0; i < e.n; i++) { /* rows of length 1 */
        ld s = 1 / sqrtl(e.A[i][i]);
        e.b[i] *= s;
        for (int j = 0; j < e.n; j++) {
            e.A[i][j] *= s;
        }
    }
    if (truth_solve(&e, 0.02L) < e.n) {
        return 0;
    }
    for (int i = 0; i < e.n; i++) {
        for (int k = 0; k < n; k++) {
            a[k] += e.x[i] * B[i][k];
        }
    }
    return 1;
}

static const mdyn_softness row_form = MDYN_HARD(0.2), as_it_is = { MDYN_DEFAULT, 0, 0 };

static void against_dense(mdyn_softness softness) {
    int compared = 0, measured = 0;
    for (int n = 0; n < 400; n++) {
        random_seed(1000 + (uint64_t)n);
        if (!draw(1 + random_int(3), softness)) {
            continue;
        }
        random_seed(5000 + (uint64_t)n);
        sim_random(&sim, &mech.model, 2, 5);
        if (mdyn_project(&sim, MDYN_FOLLOWERS) != MDYN_OK) {
            continue; /* two couplings want the same follower */
        }
        static mdyn_wide got[TN];
        ld a[TN], d[TN];
        CHECK_EQUAL(mdyn_constrained_dynamics(&sim, got), MDYN_OK);
        if (!dense_accelerations(a)) {
            continue;
        }
        for (int i = 0; i < t.dofs; i++) {
            d[i] = (ld)of_wide(got[i]) - a[i];
        }
        CHECK_NEAR(norm_speed(&t, d), 0, ACCELERATION * (norm_speed(&t, a) + 1));
        compared++;

        /* C and C' after steps, from the curves' own numbers; reported the same */
        static ld middle[TC][TN];
        for (int i = 0; i < 3; i++) {
            truth_copy(&t, &sim);
            truth_move(&t, &mech.model, t.v, (ld)of_wide(mech.model.dt) / 2);
            for (int k = 0; k < mech.model.coupling_count; k++) {
                ld rate;
                row_of(&mech.coupling[k], middle[k], &rate);
            }
            int code = mdyn_step(&sim);
            CHECK(code == MDYN_OK || code == MDYN_WARN_LONG_STEP);
        }
        truth_copy(&t, &sim);
        for (int i = 0; i < mech.model.coupling_count; i++) {
            mdyn_row_report r;
            ld J[TN], rate, C = row_of(&mech.coupling[i], J, &rate);
            CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, i, &r), MDYN_OK);
            CHECK_NEAR(of_wide(r.error), (double)C, VALUE * 100);
            for (int k = 0; k < 3; k++) {
                mdyn_wide force;
                if (of_wide(mech.coupling[i].terms[k].coefficient) == 0) {
                    continue;
                }
                CHECK_EQUAL(mdyn_coupling_force(&sim, i, k, &force), MDYN_OK);
                double slope = (double)middle[i][t.dof[mech.coupling[i].terms[k].body]];
                CHECK_NEAR(of_wide(force), slope * of_wide(r.force),
                           100 * VALUE * fabs(of_wide(r.force)));
                measured++;
            }
        }
    }
    printf("%d mechanisms, %d forces\n", compared, measured);
    CHECK(compared >= 80 && measured >= 300);
}

static void test_rows(void) { against_dense(row_form); }
static void test_default(void) { against_dense(as_it_is); }

/* The same mechanism eliminated and as rows: speeds and forces of the couplings after one step. Not
   of floating trees, whose root takes its velocity from q at the end, nor where a coupling stays a
   row beside eliminated ones and takes its value from their q: followers are on their curve there,
   rows leave it by dt^3. */
static void test_row_form(void) {
    int compared = 0, eliminated = 0;
    for (int n = 0; n < 800; n++) {
        random_seed(40000 + (uint64_t)n);
        if (!draw(1 + random_int(3), as_it_is)) {
            continue;
        }
        sim_random(&sim, &mech.model, 1, 5);
        if (mdyn_project(&sim, MDYN_FOLLOWERS) != MDYN_OK) {
            continue;
        }
        ld a[TN], v[TN], d[TN];
        int floats = 0;
        for (int i = 0; i < mech.model.body_count; i++) {
            int parent = mech.body[i].parent;
            while (parent >= 0 && mech.body[parent].joint == MDYN_FIXED) {
                parent = mech.body[parent].parent;
            }
            floats |= mech.body[i].joint == MDYN_FREE && parent == MDYN_WORLD;
        }
        int mixed = sim.tie_count > 0 && sim.tie_count < mech.model.coupling_count;
        if (floats || mixed || !dense_accelerations(a)) {
            continue;
        }
        static mechanism rows;
        rows = mech;
        rows.model.bodies = rows.body;
        rows.model.couplings = rows.coupling;
        for (int i = 0; i < rows.model.coupling_count; i++) {
            rows.coupling[i].softness = row_form;
        }
        CHECK(mdyn_init(&other, &rows.model) >= 0);
        memcpy(other.q, sim.q, sizeof sim.q);
        memcpy(other.v, sim.v, sizeof sim.v);
        memcpy(other.tau, sim.tau, sizeof sim.tau);
        memcpy(other.wrench, sim.wrench, sizeof sim.wrench);
        int code = mdyn_step(&sim);
        CHECK(code == MDYN_OK || code == MDYN_WARN_LONG_STEP);
        CHECK(mdyn_step(&other) >= 0);
        for (int i = 0; i < t.dofs; i++) {
            v[i] = (ld)of_real(other.v[i]);
            d[i] = (ld)of_real(sim.v[i]) - v[i];
        }
        CHECK_NEAR(norm_speed(&t, d), 0, STEP * (norm_speed(&t, v) + 1));
        for (int i = 0; i < mech.model.coupling_count; i++) {
            mdyn_row_report x, y;
            CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, i, &x), MDYN_OK);
            CHECK_EQUAL(mdyn_report_row(&other, MDYN_ROW_COUPLING, i, &y), MDYN_OK);
            CHECK_NEAR(of_wide(x.force), of_wide(y.force),
                       STEP_FORCE * (1 + norm_speed(&t, v)) * (1 + fabs(of_wide(y.force))));
        }
        eliminated += sim.tie_count;
        compared++;
    }
    printf("%d mechanisms, %d couplings eliminated\n", compared, eliminated);
    CHECK(compared >= 80 && eliminated >= 80);
}

/* Steps with couplings on curves work their forces out, with MDYN_ON_REQUEST too: after a query
   they are still those of the step. */
static void test_on_request(void) {
    int compared = 0;
    for (int n = 0; n < 200; n++) {
        random_seed(40000 + (uint64_t)n);
        if (!draw(1 + random_int(3), as_it_is)) {
            continue;
        }
        mdyn_model model = mech.model;
        model.solver.forces = MDYN_ON_REQUEST;
        CHECK(mdyn_init(&other, &model) >= 0);
        sim_random(&sim, &mech.model, 1, 5);
        memcpy(other.q, sim.q, sizeof sim.q);
        memcpy(other.v, sim.v, sizeof sim.v);
        memcpy(other.tau, sim.tau, sizeof sim.tau);
        memcpy(other.wrench, sim.wrench, sizeof sim.wrench);
        CHECK_EQUAL(mdyn_step(&sim), mdyn_step(&other));
        int curved = 0;
        for (int i = 0; i < sim.tie_count; i++) {
            curved |= sim.curve_part.is_curved[i];
        }
        mdyn_wide kinetic, potential;
        CHECK_EQUAL(mdyn_energy(&other, &kinetic, &potential), MDYN_OK);
        for (int i = 0; curved && i < mech.model.coupling_count; i++) {
            mdyn_row_report x, y;
            CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, i, &x), MDYN_OK);
            CHECK_EQUAL(mdyn_report_row(&other, MDYN_ROW_COUPLING, i, &y), MDYN_OK);
            CHECK(mdyn_compare(x.force, y.force) == 0);
            compared++;
        }
    }
    CHECK(compared >= 50);
}

/* Both projections: C and J v are 0 to rounding, by the curves' own numbers. */
static void test_projection(void) {
    int done = 0;
    for (int n = 0; n < 100; n++) {
        random_seed(8000 + (uint64_t)n);
        if (!draw(1, row_form)) {
            continue;
        }
        sim_random(&sim, &mech.model, 1, 0);
        if (mdyn_project(&sim, n % 2 ? MDYN_MASS_METRIC : MDYN_FOLLOWERS) != MDYN_OK) {
            continue; /* no solution near: an even curve may not reach 0 */
        }
        ld J[TN], rate, Jv = 0, C, size = 1;
        truth_copy(&t, &sim);
        C = row_of(&mech.coupling[0], J, &rate);
        for (int k = 0; k < t.dofs; k++) {
            Jv += J[k] * t.v[k];
            size += fabsl(J[k] * t.v[k]) + fabsl(J[k]) * 4;
        }
        CHECK_NEAR((double)C, 0, 100 * PLACE * (double)size);
        CHECK_NEAR((double)Jv, 0, 100 * SPEED * (double)size);
        done++;
    }
    CHECK(done >= 70);
}

/* ---- planar2g: two rods of 1 m and 1 kg, q_2 = 2 sin q_1, no gravity ---- */

static const mdyn_body rods[] = {
    MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 0, 1), MDYN_AT(0, 0, 0),
              MDYN_RIGID(1, 0.5, 0, 0, MDYN_INERTIA(0, 1.0 / 12, 1.0 / 12, 0, 0, 0)),
              MDYN_PASSIVE, "upper"),
    MDYN_BODY(0, MDYN_TURNS(0, 0, 1), MDYN_AT(1, 0, 0),
              MDYN_RIGID(1, 0.5, 0, 0, MDYN_INERTIA(0, 1.0 / 12, 1.0 / 12, 0, 0, 0)),
              MDYN_PASSIVE, "lower"),
};
static mdyn_coupling follows[] = { MDYN_FOLLOWS(1, 0, 3) };
static mdyn_model planar2g = MDYN_MODEL(rods, 2, follows, 1, MDYN_V3(0, 0, 0), 0.001);

static void begin_planar2g(mdyn_softness softness) {
    follows[0].softness = softness;
    planar2g.curves = curves;
    planar2g.curve_count = CURVES;
    planar2g.solver.corrections = 1;
    CHECK_EQUAL(mdyn_init(&sim, &planar2g), MDYN_OK);
}

/* The work of a torque of 1 N m is q_1: so is the kinetic energy. Force-free it is constant. */
static void run_planar2g(mdyn_softness softness) {
    double worst = 0, first;
    mdyn_wide kinetic, potential;
    begin_planar2g(softness);
    for (int step = 0; step < 5000; step++) {
        sim.tau[0] = real(1);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        mdyn_energy(&sim, &kinetic, &potential);
        worst = fmax(worst, fabs(of_wide(kinetic) - of_real(sim.q[0])));
    }
    CHECK_NEAR(of_real(sim.q[0]), 3.9466, 1e-3);
    CHECK_NEAR(worst, 0, POWER);

    begin_planar2g(softness);
    sim.v[0] = real(1.5);
    CHECK_EQUAL(mdyn_project(&sim, MDYN_FOLLOWERS), MDYN_OK);
    CHECK_NEAR(of_real(sim.v[1]), 3, SPEED);
    mdyn_energy(&sim, &kinetic, &potential);
    first = of_wide(kinetic);
    worst = 0;
    for (int step = 0; step < 60000; step++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        mdyn_energy(&sim, &kinetic, &potential);
        worst = fmax(worst, fabs(of_wide(kinetic) / first - 1));
    }
    CHECK_NEAR(worst, 0, ENERGY);
    printf("planar2g: energy of 60 s to %.1e\n", worst);
}

static void test_planar2g(void) {
    run_planar2g(row_form);
    run_planar2g(as_it_is);
}

/* Rotors on the curve, which have no bias force, and no call between their steps: the energy from q
   and v is constant. */
static const mdyn_body rotors[] = {
    MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 0, 1), MDYN_AT(0, 0, 0), MDYN_NO_MASS, MDYN_ROTOR(1),
              "leader"),
    MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 0, 1), MDYN_AT(0, 0, 0), MDYN_NO_MASS, MDYN_ROTOR(1),
              "follower"),
};

static void test_rotors(void) {
    mdyn_model m = planar2g;
    double worst = 0;
    follows[0].softness = as_it_is;
    m.bodies = rotors;
    m.curves = curves;
    m.curve_count = CURVES;
    m.dt = wide(0.0005);
    CHECK_EQUAL(mdyn_init(&sim, &m), MDYN_OK);
    sim.v[0] = real(1.5);
    CHECK_EQUAL(mdyn_project(&sim, MDYN_FOLLOWERS), MDYN_OK);
    for (int step = 0; step < 10000; step++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        double slope = 2 * cos(of_real(sim.q[0])), v = of_real(sim.v[0]);
        worst = fmax(worst, fabs((1 + slope * slope) * v * v / (5 * 1.5 * 1.5) - 1));
    }
    CHECK_NEAR(worst, 0, ENERGY);
}

/* Rotors on the curve, the follower driven towards 0, by Runge and Kutta: with s = 2 cos q_1,
      (1 + s^2) q_1'' + s s' q_1'^2 = -s (kp q_2 + kd s q_1') */
static double driven_rotor(double q, double v, double kp, double kd, double time) {
    static const double weight[] = { 1, 2, 2, 1 }, part[] = { 0, 0.5, 0.5, 1 };
    const double dt = time / 1000;
    for (int step = 0; step < 1000; step++) {
        double kq = 0, kv = 0, dq = 0, dv = 0;
        for (int stage = 0; stage < 4; stage++) {
            const double at = q + part[stage] * dt * kq, rate = v + part[stage] * dt * kv;
            const double s = 2 * cos(at), f = 2 * sin(at);
            kq = rate;
            kv = s * (f * rate * rate - kp * f - kd * s * rate) / (1 + s * s);
            dq += dt / 6 * weight[stage] * kq;
            dv += dt / 6 * weight[stage] * kv;
        }
        q += dq;
        v += dv;
    }
    return q;
}

/* Substeps are of second order too: each has its share of J' v of an eliminated coupling, and rows
   on the follower see it. The drive with an effort is a row with a bound. */
static void test_substeps(void) {
    for (int form = 0; form < 8; form++) {
        const double kp = form & 1 ? 20 : 0, kd = form & 1 ? 1.5 : 0;
        const int steps = form & 2 ? 128 : 64;
        const double dt = 1.0 / steps;
        mdyn_body bodies[2] = { rotors[0], rotors[1] };
        mdyn_model m = planar2g;
        bodies[1].drive_kp = wide(kp);
        bodies[1].drive_kd = wide(kd);
        bodies[1].effort = wide(form & 4 ? 1000 : 0);
        follows[0].softness = as_it_is;
        m.bodies = bodies;
        m.curves = curves;
        m.curve_count = CURVES;
        m.dt = wide(dt);
        m.solver.method = MDYN_TGS;
        m.solver.iterations = 10;
        CHECK_EQUAL(mdyn_init(&sim, &m), MDYN_OK);
        CHECK_EQUAL(mdyn_independent_dofs(&sim), 1);
        sim.q[0] = real(0.5);
        sim.v[0] = real(0.75);
        CHECK_EQUAL(mdyn_project(&sim, MDYN_FOLLOWERS), MDYN_OK);
        for (int step = 0; step < steps; step++) {
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        }
        CHECK_NEAR(of_real(sim.q[0]), driven_rotor(0.5, 0.75, kp, kd, 1), dt * dt);
    }
}

static mdyn_real no_number(void) {
    const uint64_t bits = EXPECT_SCALAR == MDYN_SCALAR_F64 ? 0x7FF8000000000000u
                                                           : 0x8000000000000000u;
    const uint32_t bits_of_float = 0x7FC00000u;
    mdyn_real x;
    memcpy(&x, sizeof x == 4 ? (const void *)&bits_of_float : &bits, sizeof x);
    return x;
}

/* 0 up to 0, then 1e7 q^3, up to the end where user_data says so. */
static void cliff(mdyn_real q, mdyn_curve_point *p, void *user) {
    const double end = *(const double *)user, x = fmax(of_real(q), 0);
    p->value = x < end ? real(1e7 * x * x * x) : no_number();
    p->slope = wide(3e7 * x * x);
    p->curvature = wide(6e7 * x);
}

/* A step from -2 to 0.99 on a curve that is level at its middle, and at its end of a value of which
   twice is beyond 2^23, or without a value, is refused with the follower's coordinate or the
   coupling; the state, all digits of it, is that before. */
static void test_beyond_range(void) {
    for (int form = 0; form < 4; form++) {
        double end = form & 1 ? 0.5 : 2;
        mdyn_curve steep;
        mdyn_coupling c = follows[0];
        mdyn_model m = planar2g;
        memset(&steep, 0, sizeof steep);
        steep.kind = MDYN_CURVE_FUNCTION;
        steep.function = cliff;
        steep.user_data = &end;
        c.terms[1].coefficient = wide(-2);
        c.terms[1].curve = 1;
        c.softness = as_it_is;
        m.bodies = rotors;
        m.couplings = &c;
        m.curves = &steep;
        m.curve_count = 1;
        m.dt = wide(0x1p-5);
        CHECK_EQUAL(mdyn_init(&sim, &m), MDYN_OK);
        CHECK_EQUAL(mdyn_independent_dofs(&sim), 1);
        sim.q[0] = real(form & 2 ? -5.2 : -2.2);
        sim.v[0] = real(96);
        sim.tau[0] = real(1e-3 / 3);
        if (form & 2) CHECK_EQUAL(mdyn_step(&sim), MDYN_OK); /* now there are digits beyond v */
        mdyn_sim kept = sim, twin = sim;
        CHECK_EQUAL(mdyn_step(&sim), form & 1 ? MDYN_ERR_NOT_FINITE : MDYN_ERR_OVERFLOW);
        CHECK_EQUAL(sim.culprit.index, form & 1 ? 0 : 1);
        CHECK(memcmp(sim.q, kept.q, sizeof sim.q) == 0 && memcmp(sim.v, kept.v, sizeof sim.v) == 0);
        CHECK(memcmp(sim.q_tail, kept.q_tail, sizeof sim.q_tail) == 0);
        CHECK(memcmp(sim.v_tail, kept.v_tail, sizeof sim.v_tail) == 0);
        sim.v[0] = twin.v[0] = real(1); /* and so is the next step */
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&twin), MDYN_OK);
        CHECK(memcmp(sim.q, twin.q, sizeof sim.q) == 0 && memcmp(sim.v, twin.v, sizeof sim.v) == 0);
        sim.q[0] = real(0.6);
        sim.v[0] = real(-32);
        if (form & 1) CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_NOT_FINITE);
    }
}

/* FDgq for a program that integrates by itself: planar2g by the classical Runge-Kutta method of q
   and v, with gs of T. */
static void test_runge_kutta(void) {
    static const double weight[] = { 1, 2, 2, 1 }, part[] = { 0, 0.5, 0.5, 1 };
    const double dt = 0.004;
    double worst = 0, q[2] = { 0, 0 }, v[2] = { 0, 0 };
    begin_planar2g(as_it_is);
    CHECK_EQUAL(mdyn_independent_dofs(&sim), 1);
    for (int step = 0; step < 1250; step++) {
        double dq[2] = { 0, 0 }, dv[2] = { 0, 0 }, kq[2] = { 0, 0 }, kv[2] = { 0, 0 };
        for (int stage = 0; stage < 4; stage++) {
            mdyn_wide a[2];
            for (int k = 0; k < 2; k++) {
                sim.q[k] = real(q[k] + part[stage] * dt * kq[k]);
                sim.v[k] = real(v[k] + part[stage] * dt * kv[k]);
            }
            sim.tau[0] = real(1);
            CHECK_EQUAL(mdyn_stabilized_dynamics(&sim, MDYN_C(0.1), a), MDYN_OK);
            for (int k = 0; k < 2; k++) {
                kq[k] = v[k] + part[stage] * dt * kv[k]; /* by kv of the stage before */
                kv[k] = of_wide(a[k]);
                dq[k] += dt / 6 * weight[stage] * kq[k];
                dv[k] += dt / 6 * weight[stage] * kv[k];
            }
        }
        mdyn_wide kinetic, potential;
        for (int k = 0; k < 2; k++) {
            q[k] += dq[k];
            v[k] += dv[k];
            sim.q[k] = real(q[k]);
            sim.v[k] = real(v[k]);
        }
        mdyn_energy(&sim, &kinetic, &potential);
        worst = fmax(worst, fabs(of_wide(kinetic) - q[0]));
    }
    printf("planar2g by Runge-Kutta: %.1e\n", worst);
    CHECK_NEAR(worst, 0, RUNGE_KUTTA);
}

/* ---- calls ---- */

/* A sim goes on bit for bit after save and restore, by tables that stand elsewhere; other numbers
   are another model. */
static void test_save(void) {
    static unsigned char bytes[sizeof(mdyn_sim) + 24];
    mdyn_curve copy[CURVES];
    mdyn_knot table[KNOTS];
    mdyn_model elsewhere;
    begin_planar2g(as_it_is);
    for (int step = 0; step < 100; step++) {
        sim.tau[0] = real(1);
        mdyn_step(&sim);
    }
    CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
    CHECK_EQUAL(mdyn_save(&sim, bytes, MDYN_SAVED_SIZE), MDYN_OK);
    memcpy(copy, curves, sizeof copy);
    memcpy(table, knots, sizeof table);
    copy[1].knots = table;
    elsewhere = planar2g;
    elsewhere.curves = copy;
    CHECK_EQUAL(mdyn_restore(&other, &elsewhere, bytes, MDYN_SAVED_SIZE), MDYN_OK);
    for (int step = 0; step < 100; step++) {
        mdyn_step(&sim);
        mdyn_step(&other);
    }
    CHECK(memcmp(sim.q, other.q, sizeof sim.q) == 0 && memcmp(sim.v, other.v, sizeof sim.v) == 0);
    CHECK_EQUAL(mdyn_verify(&other), MDYN_OK);
    table[3].value = wide(7);
    CHECK_EQUAL(mdyn_verify(&other), MDYN_ERR_TABLES);
    table[3] = knots[3];
    CHECK_EQUAL(mdyn_verify(&other), MDYN_OK);

    /* more knots than there are: none is read */
    static const int counts[] = { INT32_MAX, 4096, 0, -1 };
    for (int i = 0; i < 4; i++) {
        copy[1].knot_count = counts[i];
        CHECK_EQUAL(mdyn_verify(&other), MDYN_ERR_TABLES);
        CHECK_EQUAL(mdyn_save(&other, bytes, MDYN_SAVED_SIZE), MDYN_ERR_TABLES);
    }
    copy[1] = curves[1];
    copy[1].knots = table;
    CHECK_EQUAL(mdyn_save(&sim, bytes, MDYN_SAVED_SIZE), MDYN_OK);
    table[3].value = wide(7);
    CHECK_EQUAL(mdyn_restore(&other, &elsewhere, bytes, MDYN_SAVED_SIZE), MDYN_ERR_SAVED_MODEL);
    table[3] = knots[3];
    copy[3].lower = wide(-2); /* the function would be called within them only */
    copy[3].upper = wide(2);
    CHECK_EQUAL(mdyn_restore(&other, &elsewhere, bytes, MDYN_SAVED_SIZE), MDYN_ERR_SAVED_MODEL);
    copy[3] = curves[3];
    CHECK_EQUAL(mdyn_restore(&other, &elsewhere, bytes, MDYN_SAVED_SIZE), MDYN_OK);

    /* models that no sim can be of; a spline that no coupling names is not checked, and not read */
    copy[1].knot_count = -1;
    CHECK_EQUAL(mdyn_restore(&other, &elsewhere, bytes, MDYN_SAVED_SIZE), MDYN_ERR_SAVED_MODEL);
    CHECK_EQUAL(mdyn_init(&other, &elsewhere), MDYN_OK);
    CHECK_EQUAL(mdyn_verify(&other), MDYN_OK);
    elsewhere.curves = NULL;
    CHECK_EQUAL(mdyn_restore(&other, &elsewhere, bytes, MDYN_SAVED_SIZE), MDYN_ERR_NULL);
    elsewhere.curve_count = -1;
    CHECK_EQUAL(mdyn_restore(&other, &elsewhere, bytes, MDYN_SAVED_SIZE), MDYN_ERR_INDEX);
    elsewhere.curve_count = 256;
    CHECK_EQUAL(mdyn_restore(&other, &elsewhere, bytes, MDYN_SAVED_SIZE), MDYN_ERR_INDEX);
}

/* While a row's callback asks for the pose of a body, no curve is evaluated, and a call that would
   change the sim, here from a curve as if from an interrupt, is refused. */
static int asks, evaluated, accepted;

static void interrupted_sin(mdyn_real q, mdyn_curve_point *p, void *user) {
    evaluated += asks;
    accepted += asks && mdyn_set_tau(&sim, 0, 0, real(0)) == MDYN_OK;
    two_sin(q, p, user);
}

static void asking_row(mdyn_sim *s, int index, mdyn_user_row *row, void *user) {
    mdyn_wide jacobian[6 * 2];
    mdyn_real3 a, b;
    mdyn_real4 r;
    asks = 1;
    CHECK_EQUAL(mdyn_pose(s, 1, &a, &r), MDYN_OK);
    CHECK_EQUAL(mdyn_velocity(s, 1, NULL, &a, &b), MDYN_OK);
    CHECK_EQUAL(mdyn_point(s, 1, NULL, &a), MDYN_OK);
    CHECK_EQUAL(mdyn_jacobian(s, 1, NULL, jacobian), MDYN_OK);
    CHECK_EQUAL(mdyn_jacobian(s, 2, NULL, jacobian), MDYN_ERR_INDEX);
    asks = 0;
    for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        row->terms[k].body = MDYN_WORLD;
    }
    (void)index; (void)user;
}

static void test_callback(void) {
    mdyn_model m = planar2g;
    mdyn_curve own[CURVES];
    memcpy(own, curves, sizeof own);
    own[3].function = interrupted_sin;
    m.curves = own;
    m.curve_count = CURVES;
    m.user_row_count = 1;
    m.row_function = asking_row;
    CHECK_EQUAL(mdyn_init(&sim, &m), MDYN_OK);
    sim.v[0] = real(1);
    for (int step = 0; step < 20; step++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    CHECK_EQUAL(evaluated, 0);
    CHECK_EQUAL(accepted, 0);
}

static int refused(const mdyn_coupling *c) {
    mdyn_model m = planar2g;
    m.couplings = c;
    return mdyn_init(&other, &m);
}

static void not_a_number(mdyn_real q, mdyn_curve_point *p, void *user) {
    bad_wide(&p->slope, 0);
    (void)q; (void)user;
}

static void test_refused(void) {
    mdyn_coupling c = follows[0];
    mdyn_curve own[CURVES];
    mdyn_model m = planar2g;
    mdyn_body limited[2];
    int32_t turns;
    begin_planar2g(as_it_is);
    c.terms[1].curve = CURVES + 1;
    CHECK_EQUAL(refused(&c), MDYN_ERR_CURVE);
    c.terms[1].curve = 5; /* a coupler of one term */
    CHECK_EQUAL(refused(&c), MDYN_ERR_CURVE);
    c.terms[0].curve = 5;
    c.terms[1].curve = 0;
    CHECK_EQUAL(refused(&c), MDYN_ERR_CURVE);
    c.terms[1].curve = 5;
    CHECK_EQUAL(refused(&c), MDYN_OK);
    c = follows[0];
    c.level = MDYN_VELOCITY;
    CHECK_EQUAL(refused(&c), MDYN_ERR_CURVE);
    CHECK_EQUAL(mdyn_set_coupling(&sim, 0, &c), MDYN_ERR_CURVE);
    CHECK_EQUAL(mdyn_rebase(&sim, 0, &turns), MDYN_ERR_CURVED);
    CHECK_EQUAL(mdyn_rebase(&sim, 1, &turns), MDYN_OK);

    /* the slope of the first term: cos q vanishes at 1.57 */
    memcpy(limited, rods, sizeof limited);
    m.bodies = limited;
    c = follows[0];
    c.terms[0].curve = 4;
    m.couplings = &c;
    limited[1].lower = wide(-1.5);
    limited[1].upper = wide(1.5);
    CHECK(mdyn_init(&other, &m) >= 0);
    limited[1].upper = wide(1.7);
    CHECK_EQUAL(mdyn_init(&other, &m), MDYN_ERR_SLOPE);
    CHECK_EQUAL(other.culprit.index, 0);
    CHECK_NEAR(of_real(other.culprit.place), 1.5707963267948966, LEVEL);

    /* a function that gives no number; one that begins to */
    memcpy(own, curves, sizeof own);
    m = planar2g;
    m.curves = own;
    own[3].function = not_a_number;
    CHECK_EQUAL(mdyn_init(&other, &m), MDYN_ERR_NOT_FINITE);
    own[3].function = two_sin;
    CHECK_EQUAL(mdyn_init(&other, &m), MDYN_OK);
    own[3].function = not_a_number;
    CHECK_EQUAL(mdyn_step(&other), MDYN_ERR_NOT_FINITE);
    CHECK_EQUAL(other.culprit.index, 0);
    own[3].function = NULL;
    CHECK_EQUAL(mdyn_init(&other, &m), MDYN_ERR_CURVE);
    own[3].kind = (mdyn_curve_kind)(MDYN_CURVE_COUPLER + 1);
    CHECK_EQUAL(mdyn_init(&other, &m), MDYN_ERR_CURVE);
    m.curves = NULL;
    CHECK_EQUAL(mdyn_init(&other, &m), MDYN_ERR_NULL);
    m.curve_count = 256;
    CHECK_EQUAL(mdyn_init(&other, &m), MDYN_ERR_INDEX);
}

/* ---- the place at which a slope vanishes ---- */

enum { LEVEL_KNOTS = 9 };
static mdyn_knot level_knots[LEVEL_KNOTS];

static ld slope_at(const mdyn_curve *c, ld q) {
    ld x = q - (ld)of_wide(c->reference), s = 0, h;
    int k = 0;
    if (c->kind == MDYN_CURVE_POLYNOMIAL) {
        for (k = 4; k > 0; k--) {
            s = k * (ld)of_wide(c->a[k]) + x * s;
        }
        return s;
    }
    while (k + 2 < c->knot_count && (ld)of_wide(c->knots[k + 1].q) <= q) {
        k++;
    }
    const mdyn_knot *a = c->knots + k;
    ld ma = (ld)of_wide(a->curvature), mb = (ld)of_wide(a[1].curvature);
    h = (ld)of_wide(a[1].q) - (ld)of_wide(a->q);
    x = fminl(fmaxl(q - (ld)of_wide(a->q), 0), h);
    return ((ld)of_wide(a[1].value) - (ld)of_wide(a->value)) / h - h * (2 * ma + mb) / 6
        + ma * x + (mb - ma) * x * x / (2 * h);
}

/* A random curve as first term: refused at the first change of sign that 20001 places show. */
static void test_level_places(void) {
    static mdyn_curve curve[1];
    mdyn_coupling c = follows[0];
    mdyn_body limited[2];
    int level = 0, kept = 0, grazing = 0;
    memcpy(limited, rods, sizeof limited);
    mdyn_model m = planar2g;
    m.bodies = limited;
    m.couplings = &c;
    m.curves = curve;
    m.curve_count = 1;
    c.terms[0].curve = 1;
    c.terms[1].curve = 0;
    for (int n = 0; n < 400; n++) {
        double lower = random_in(-2, 0), upper = random_in(0.1, 2), q = -2.5;
        memset(curve, 0, sizeof curve);
        curve->kind = n % 2 ? MDYN_CURVE_SPLINE : MDYN_CURVE_POLYNOMIAL;
        curve->reference = wide(random_in(-1, 1));
        for (int k = 0; k < 5; k++) {
            curve->a[k] = wide(random_in(-1, 1) / (k > 1 ? k * k : 1));
        }
        for (int k = 0; k < LEVEL_KNOTS; k++) {
            q += random_in(0.2, 0.9);
            level_knots[k].q = wide(q);
            level_knots[k].value = wide(q + random_in(-0.4, 0.4));
        }
        curve->knots = level_knots;
        curve->knot_count = LEVEL_KNOTS;
        CHECK_EQUAL(mdyn_fill_spline(level_knots, LEVEL_KNOTS, scratch), MDYN_OK);
        limited[1].lower = wide(lower);
        limited[1].upper = wide(upper);
        lower = of_wide(limited[1].lower);
        upper = of_wide(limited[1].upper);

        ld first = slope_at(curve, (ld)lower), least = fabsl(first), change = 1e9L;
        for (int k = 1; k <= 20000 && change > 1e8L; k++) {
            ld place = (ld)lower + ((ld)upper - (ld)lower) * k / 20000, s = slope_at(curve, place);
            least = fminl(least, fabsl(s));
            change = s * first <= 0 ? place : change;
        }
        int code = mdyn_init(&other, &m);
        if (change > 1e8L && least < BY_SCALAR(1e-6L, 3e-3L, 1e-3L)) { /* rounding decides */
            grazing++;
            continue;
        }
        if (change > 1e8L) {
            CHECK(code >= 0);
            kept++;
            continue;
        }
        level++;
        if (CHECK_EQUAL(code, MDYN_ERR_SLOPE)) {
            CHECK_EQUAL(other.culprit.index, 0);
            CHECK_NEAR(of_real(other.culprit.place), (double)change, 2.1e-4);
            CHECK_NEAR((double)slope_at(curve, (ld)of_real(other.culprit.place)), 0,
                       LEVEL);
        }
    }
    CHECK(level > 100 && kept > 50 && grazing < 20);

    /* x^3 + 1 touches; half a line; no limits: not asked */
    static const mdyn_curve cube = MDYN_POLYNOMIAL(0.25, 1, 0, 0, 1, 0);
    static const mdyn_curve far = MDYN_POLYNOMIAL(0, 0, 1, -0.0001, 0, 0);
    curve[0] = cube;
    limited[1].lower = wide(-1);
    limited[1].upper = wide(1);
    CHECK_EQUAL(mdyn_init(&other, &m), MDYN_ERR_SLOPE);
    CHECK_NEAR(of_real(other.culprit.place), 0.25, PLACE);
    limited[1].lower = wide(0.5);
    CHECK(mdyn_init(&other, &m) >= 0);

    /* limits of a running sim that would let it vanish are refused as at init */
    mdyn_body wider = limited[1];
    wider.lower = wide(-1);
    mdyn_sim before = other;
    CHECK_EQUAL(mdyn_set_body(&other, 1, &wider), MDYN_ERR_SLOPE);
    CHECK_EQUAL(other.culprit.index, 0);
    CHECK_NEAR(of_real(other.culprit.place), 0.25, PLACE);
    other.culprit = before.culprit;
    CHECK(memcmp(&other, &before, sizeof other) == 0);
    wider.lower = wide(0.3);
    CHECK(mdyn_set_body(&other, 1, &wider) >= 0);
    curve[0] = far;
    CHECK(mdyn_init(&other, &m) >= 0);
    limited[1].upper = MDYN_UNLIMITED;
    CHECK_EQUAL(mdyn_init(&other, &m), MDYN_ERR_SLOPE);
    CHECK_NEAR(of_real(other.culprit.place), 5000, 5000 * LEVEL);
    limited[1].lower = limited[1].upper = wide(0);
    CHECK(mdyn_init(&other, &m) >= 0);
}

/* ---- ranges through curves ---- */

/* A chain: q_1 = 0.7 q_0 + 0.1, 2 q_2 = f(q_1) - 0.2, q_3 = -1.5 q_2 + 0.2, all with limits. */
static mdyn_body chain[4];
static mdyn_curve bent[1];

/* Limits of the chain, and a curve of each kind in turn. */
static void draw_bent_chain(int n) {
    double q = -2.5;
    for (int i = 0; i < 4; i++) {
        chain[i] = rods[i > 0];
        chain[i].parent = (int16_t)(i - 1);
        chain[i].lower = wide(random_in(-2, -0.2));
        chain[i].upper = wide(random_in(0.2, 2));
    }
    bent->kind = (mdyn_curve_kind)(n % 3);
    bent->reference = wide(random_in(-1, 1));
    for (int k = 0; k < 5; k++) {
        bent->a[k] = wide(random_in(-2, 2));
    }
    for (int k = 0; k < LEVEL_KNOTS; k++) {
        q += random_in(0.2, 0.9);
        level_knots[k].q = wide(q);
        level_knots[k].value = wide(random_in(-3, 3));
    }
    CHECK_EQUAL(mdyn_fill_spline(level_knots, LEVEL_KNOTS, scratch), MDYN_OK);
    bent->knots = level_knots;
    bent->knot_count = LEVEL_KNOTS;
    bent->function = two_sin;
    bent->user_data = &two;
}

static double bent_at(double q) {
    mdyn_curve_point p;
    CHECK_EQUAL(mdyn_evaluate_curve(bent, real(q), &p), MDYN_OK);
    return of_real(p.value);
}

static int chain_is_within(ld q0) {
    ld q[4] = { q0, 0.7L * q0 + 0.1L };
    q[2] = ((ld)bent_at((double)q[1]) - 0.2L) / 2;
    q[3] = -1.5L * q[2] + 0.2L;
    for (int i = 0; i < 4; i++) {
        if (q[i] < (ld)of_wide(chain[i].lower) || q[i] > (ld)of_wide(chain[i].upper)) {
            return 0;
        }
    }
    return 1;
}

static void test_ranges(void) {
    static const mdyn_coupling couplings[] = {
        MDYN_MIMIC(1, 0, 0.7, 0.1),
        { { MDYN_TERM(2, 2), MDYN_CURVED_TERM(1, -1, 0) }, MDYN_C(0.2), MDYN_COUPLING_END_ },
        MDYN_MIMIC(3, 2, -1.5, 0.2),
    };
    enum { PLACES = 3000 };
    mdyn_model m = planar2g;
    int several = 0, empty = 0, narrowed = 0;
    m.bodies = chain;
    m.body_count = 4;
    m.couplings = couplings;
    m.coupling_count = 3;
    m.curves = bent;
    m.curve_count = 1;
    for (int n = 0; n < 200; n++) {
        draw_bent_chain(n);
        CHECK(mdyn_init(&other, &m) >= 0);
        const double here = random_in(-2, 2);
        other.q[0] = real(here);
        other.q[1] = real(0.7 * here + 0.1);

        /* runs of places within all limits; the one nearest to here */
        double first = 0, want_first = 0, want_last = 0, nearest = 1e9, step = 5.0 / PLACES;
        int runs = 0, inside = 0;
        for (int k = 0; k <= PLACES + 1; k++) {
            double place = -2.5 + step * k;
            int now = k <= PLACES && chain_is_within((ld)place);
            if (now && !inside) {
                first = place;
            }
            if (inside && !now) {
                double last = place - step;
                double off = here < first ? first - here : here > last ? here - last : 0;
                runs++;
                if (off < nearest) {
                    nearest = off;
                    want_first = first;
                    want_last = last;
                }
            }
            inside = now;
        }
        mdyn_wide lower, upper;
        int code = mdyn_range(&other, 0, &lower, &upper);
        if (runs == 0) { /* or less than a step wide */
            CHECK(code == MDYN_WARN_EMPTY_RANGE || of_wide(upper) - of_wide(lower) < 2 * step);
            empty++;
            continue;
        }
        several += runs > 1;
        CHECK_EQUAL(code, MDYN_OK);
        if (fabs(of_wide(lower) - want_first) > 2 * step
            && of_wide(upper) - of_wide(lower) < 2 * step) {
            continue; /* an interval between two places is nearer */
        }
        CHECK_NEAR(of_wide(lower), want_first, 1.01 * step);
        CHECK_NEAR(of_wide(upper), want_last, 1.01 * step);
        narrowed++;
    }
    CHECK(several > 20 && narrowed > 100);

    /* the posture goes where the follower may be */
    CHECK(mdyn_settle(&other) >= 0);
}

/* 2 q_2 - f(q_1) + q_0/2 + 0.2 = 0, or within a range and then also without q_0, and
   q_3 = 0.2 - 1.5 q_2: each joint is left what the ranges of the others leave it, f having all
   values between its least and its most. */
static void test_ranges_of_several(void) {
    mdyn_coupling couplings[] = {
        { { MDYN_TERM(2, 2), MDYN_CURVED_TERM(1, -1, 0), MDYN_TERM(0, 0.5) }, MDYN_C(0.2),
          MDYN_COUPLING_END_ },
        MDYN_MIMIC(3, 2, -1.5, 0.2),
    };
    enum { PLACES = 4000 };
    mdyn_model m = planar2g;
    int narrowed = 0;
    m.bodies = chain;
    m.body_count = 4;
    m.couplings = couplings;
    m.coupling_count = 2;
    m.curves = bent;
    m.curve_count = 1;
    for (int n = 0; n < 200; n++) {
        double low[4], high[4], f[PLACES + 1], least = HUGE_VAL, most = -HUGE_VAL;
        draw_bent_chain(n);
        for (int i = 0; i < 4; i++) {
            low[i] = of_wide(chain[i].lower);
            high[i] = of_wide(chain[i].upper);
        }
        const double lo = n % 4 > 1 ? random_in(-1, -0.1) : 0, hi = n % 4 > 1 ? 0.2 : 0;
        const double half = n % 4 == 3 ? 0 : 0.5;
        couplings[0].lower = wide(lo);
        couplings[0].upper = wide(hi);
        couplings[0].terms[2].coefficient = wide(half);
        CHECK(mdyn_init(&other, &m) >= 0);

        /* of joint 2 by 3, of f by places */
        const double step = (high[1] - low[1]) / PLACES;
        double steepest = 1;
        low[2] = fmax(low[2], (0.2 - high[3]) / 1.5);
        high[2] = fmin(high[2], (0.2 - low[3]) / 1.5);
        for (int k = 0; k <= PLACES; k++) {
            f[k] = bent_at(low[1] + step * k);
            least = fmin(least, f[k]);
            most = fmax(most, f[k]);
            steepest = k ? fmax(steepest, fabs(f[k] - f[k - 1]) / step) : 1;
        }
        const double below = 2 * low[2] + half * low[0] + 0.2 - hi, room = 2 * steepest * step;
        const double above = 2 * high[2] + half * high[0] + 0.2 - lo;
        double left[4][2] = {
            { 2 * (least - 0.2 - 2 * high[2] + lo), 2 * (most - 0.2 - 2 * low[2] + hi) },
            { HUGE_VAL, -HUGE_VAL },
            { (least - 0.2 - half * high[0] + lo) / 2, (most - 0.2 - half * low[0] + hi) / 2 },
        };
        double touched[2] = { HUGE_VAL, -HUGE_VAL }; /* also what it touches between places */
        for (int k = 0; k <= PLACES; k++) {
            double place = low[1] + step * k;
            if (f[k] >= below - room && f[k] <= above + room) {
                touched[0] = fmin(touched[0], place - step);
                touched[1] = fmax(touched[1], place + step);
            }
            if (f[k] >= below && f[k] <= above) {
                left[1][0] = fmin(left[1][0], place);
                left[1][1] = fmax(left[1][1], place);
            }
        }
        int is_empty = left[1][0] > left[1][1];
        for (int i = 0; i < 3; i++) {
            int counts = i > 0 || half > 0;
            left[i][0] = fmax(counts ? left[i][0] : -HUGE_VAL, low[i]);
            left[i][1] = fmin(counts ? left[i][1] : HUGE_VAL, high[i]);
            is_empty |= left[i][1] - left[i][0] < room;
        }
        left[3][0] = 0.2 - 1.5 * left[2][1];
        left[3][1] = 0.2 - 1.5 * left[2][0];
        for (int i = 0; i < 4 && !is_empty; i++) {
            mdyn_wide lower, upper;
            CHECK_EQUAL(mdyn_range(&other, i, &lower, &upper), MDYN_OK);
            CHECK(of_wide(lower) < left[i][0] + 1e-6 && of_wide(upper) > left[i][1] - 1e-6);
            if (i == 1) {
                CHECK(of_wide(lower) > touched[0] && of_wide(upper) < touched[1]);
                continue;
            }
            CHECK_NEAR(of_wide(lower), left[i][0], 2 * room);
            CHECK_NEAR(of_wide(upper), left[i][1], 2 * room);
            narrowed += left[i][0] > low[i] + 0.01;
        }
    }
    CHECK(narrowed > 50);
}

/* ---- a function with bounds ---- */

/* An arc: (q - 2)^2 + f^2 = 1, from 1.25 to 2.75; no number elsewhere. */
static double asked_low = 2, asked_high = 2;
static void arc(mdyn_real q, mdyn_curve_point *p, void *user) {
    ld x = (ld)of_real(q) - 2, f = sqrtl(1 - x * x);
    (void)user;
    asked_low = fmin(asked_low, of_real(q));
    asked_high = fmax(asked_high, of_real(q));
    p->value = real((double)f);
    p->slope = wide((double)(-x / f));
    p->curvature = wide((double)(-1 / (f * f * f)));
}
static const mdyn_curve bounded[] = { MDYN_FUNCTION_WITHIN(1.25, 2.75, arc, NULL) };

static void test_bounds(void) {
    mdyn_coupling c = MDYN_FOLLOWS(1, 0, 0);
    mdyn_model m = planar2g;
    mdyn_curve own = bounded[0];
    mdyn_curve_point p;
    mdyn_body limited[2];
    mdyn_row_report r;
    for (int n = 0; n < 1000; n++) {
        mdyn_real q = real(random_in(-2, 6));
        ld at = (ld)of_real(q), x = fminl(fmaxl(at, 1.25L), 2.75L);
        ld f = sqrtl(1 - (x - 2) * (x - 2)), bend = x < at || at < x ? 0 : -1 / (f * f * f);
        CHECK_EQUAL(mdyn_evaluate_curve(bounded, q, &p), MDYN_OK);
        CHECK_NEAR(of_real(p.value), (double)(f - (x - 2) / f * (at - x)), VALUE * 8);
        CHECK_NEAR(of_wide(p.slope), (double)(-(x - 2) / f), VALUE * 8);
        CHECK_NEAR(of_wide(p.curvature), (double)bend, VALUE * 20);
    }
    CHECK_EQUAL(mdyn_evaluate_curve(bounded, real(8e6), &p), MDYN_ERR_RESULT);

    /* a mechanism that begins beyond a bound, and comes in */
    m.curves = bounded;
    m.curve_count = 1;
    m.couplings = &c;
    CHECK_EQUAL(mdyn_init(&other, &m), MDYN_WARN_OFF_COUPLING);
    CHECK_EQUAL(mdyn_project(&other, MDYN_FOLLOWERS), MDYN_OK);
    other.v[0] = real(1);
    CHECK_EQUAL(mdyn_project(&other, MDYN_FOLLOWERS), MDYN_OK);
    for (int n = 0; n < 2000 && of_real(other.q[0]) < 1.5; n++) {
        CHECK(mdyn_step(&other) >= 0);
        CHECK_EQUAL(mdyn_report_row(&other, MDYN_ROW_COUPLING, 0, &r), MDYN_OK);
        CHECK_NEAR(of_wide(r.error), 0, 10 * VALUE);
    }
    CHECK_NEAR(of_real(other.q[0]), 1.5, 0.01);
    CHECK(asked_low >= 1.25 && asked_high <= 2.75);

    /* as the curve of a follower: level at 2, where the bounds let it be */
    memcpy(limited, rods, sizeof limited);
    c.terms[0].curve = 1;
    c.terms[1].curve = 0;
    CHECK_EQUAL(mdyn_init(&other, &m), MDYN_ERR_SLOPE);
    CHECK_NEAR(of_real(other.culprit.place), 2, LEVEL);
    m.curves = &own;
    own.upper = wide(1.75);
    CHECK(mdyn_init(&other, &m) >= 0);
    own.upper = wide(1);
    CHECK_EQUAL(mdyn_init(&other, &m), MDYN_ERR_CURVE);
    CHECK_EQUAL(mdyn_evaluate_curve(&own, real(1), &p), MDYN_ERR_CURVE);
    bad_wide(&own.upper, 0);
    CHECK_EQUAL(mdyn_init(&other, &m), MDYN_ERR_CURVE);
}

/* A bound may have more digits than what the library reckons with. The function is asked beyond it
   by no more than what a coordinate is rounded by, 2^-41 in fixed point. */
static mdyn_real lowest, highest;
static void line(mdyn_real q, mdyn_curve_point *p, void *user) {
    (void)user;
    lowest = q < lowest ? q : lowest;
    highest = q > highest ? q : highest;
    p->value = q;
    p->slope = wide(1);
}

static void test_asked_within(void) {
    const double rounding = BY_SCALAR(0.0, 0.0, ldexp(1, -41));
    mdyn_curve own = MDYN_FUNCTION(line, NULL);
    mdyn_curve_point p;
    for (int n = 0; n < 1000; n++) {
        double bound = random_in(0.1, 50), beyond = bound + random_in(0, 1);
        own.lower = wide(-bound);
        own.upper = wide(bound);
        lowest = highest = real(0);
        for (int sign = -1; sign < 2; sign += 2) {
            CHECK_EQUAL(mdyn_evaluate_curve(&own, real(sign * beyond), &p), MDYN_OK);
            CHECK_NEAR(of_real(p.value), sign * beyond, 50 * VALUE);
        }
        CHECK(of_real(lowest) >= of_wide(own.lower) - rounding
              && of_real(highest) <= of_wide(own.upper) + rounding);
    }
}

/* f' = q^2 - 0.01 vanishes twice within narrow limits of the joint, whose function has far ones. */
static void wavy(mdyn_real q, mdyn_curve_point *p, void *user) {
    double x = of_real(q);
    (void)user;
    p->value = real(x * x * x / 3 - 0.01 * x);
    p->slope = wide(x * x - 0.01);
    p->curvature = wide(2 * x);
}

static void test_level_within(void) {
    static const mdyn_curve curve[] = { MDYN_FUNCTION_WITHIN(-100, 100, wavy, NULL) };
    mdyn_coupling c = MDYN_FOLLOWS(1, 0, 0);
    mdyn_body limited[2];
    mdyn_model m = planar2g;
    memcpy(limited, rods, sizeof limited);
    limited[1].lower = wide(-0.5);
    limited[1].upper = wide(0.5);
    c.terms[0].curve = 1;
    c.terms[1].curve = 0;
    m.bodies = limited;
    m.couplings = &c;
    m.curves = curve;
    m.curve_count = 1;
    CHECK_EQUAL(mdyn_init(&other, &m), MDYN_ERR_SLOPE);
    CHECK_NEAR(of_real(other.culprit.place), -0.1, LEVEL);
}

/* ---- a step that ends where a curve has no value ---- */

static void ends_at_1(mdyn_real q, mdyn_curve_point *p, void *user) {
    (void)user;
    p->value = q;
    p->slope = wide(1);
    if (of_real(q) > 1) bad_wide(&p->slope, 0);
}

static void both_end_at_1(const mdyn_real *q, const mdyn_real *v, mdyn_coupler_point *p,
                          void *user) {
    (void)v; (void)user;
    p->value = q[0] - q[1];
    p->gradient[0] = wide(1);
    p->gradient[1] = wide(-1);
    if (of_real(q[1]) > 1) bad_wide(&p->rate, 0);
}

/* What the row has exerted is known, its error is not. */
static void test_report_without_value(void) {
    static const mdyn_curve ends[] = { MDYN_FUNCTION(ends_at_1, NULL),
                                       MDYN_COUPLER(both_end_at_1, NULL) };
    static const mdyn_softness row = MDYN_HARD(0.2);
    mdyn_model m = planar2g;
    mdyn_row_report r;
    m.curves = ends;
    m.curve_count = 2;
    for (int coupler = 0; coupler < 2; coupler++) {
        mdyn_coupling c = MDYN_PHYSX_MIMIC(0, 1, -1, 0);
        c.softness = row;
        c.terms[0].curve = coupler ? 2 : 0;
        c.terms[1].curve = coupler ? 2 : 1;
        m.couplings = &c;
        CHECK_EQUAL(mdyn_init(&other, &m), MDYN_OK);
        other.q[0] = other.q[1] = real(0.9995);
        other.v[0] = other.v[1] = real(0.3);
        CHECK_EQUAL(mdyn_step(&other), MDYN_OK);
        CHECK_EQUAL(mdyn_report_row(&other, MDYN_ROW_COUPLING, 0, &r), MDYN_OK);
        CHECK_NEAR(of_wide(r.error), of_real(other.q[0]) - of_real(other.q[1]), VALUE);
        CHECK_EQUAL(mdyn_step(&other), MDYN_OK);
        CHECK(of_real(other.q[1]) > 1);
        CHECK_EQUAL(mdyn_report_row(&other, MDYN_ROW_COUPLING, 0, &r), MDYN_ERR_RESULT);
        CHECK_EQUAL(mdyn_step(&other), MDYN_ERR_NOT_FINITE);
    }
}

/* ---- a term that does not count ---- */

/* 1e9 q_0 = 1e-37 f_0(q_1) + 1e9 f_1(q_2): in F32 the ratio of the second term is 0, and the third
   one keeps the slope of its own curve. */
static void test_vanishing_ratio(void) {
    static const mdyn_curve lines[] = { MDYN_POLYNOMIAL(0, 0, 3, 0, 0, 0),
                                        MDYN_POLYNOMIAL(0, 0, 1, 0, 0, 0) };
    static const mdyn_coupling c[] = { { { MDYN_TERM(0, 1e9), MDYN_CURVED_TERM(1, -1e-37, 0),
                                           MDYN_CURVED_TERM(2, -1e9, 1) }, MDYN_C(0),
                                         MDYN_COUPLING_END_ } };
    mdyn_body sliders[3];
    for (int i = 0; i < 3; i++) {
        static const mdyn_body slider = MDYN_BODY(MDYN_WORLD, MDYN_SLIDES(1, 0, 0),
            MDYN_AT(0, 0, 0), MDYN_POINT_MASS(1), MDYN_PASSIVE, NULL);
        sliders[i] = slider;
    }
    mdyn_model m = MDYN_MODEL(sliders, 3, c, 1, MDYN_V3(0, 0, 0), 0.001);
    m.curves = lines;
    m.curve_count = 2;
    CHECK(mdyn_init(&other, &m) >= 0);
    other.tau[2] = real(2);
    CHECK(mdyn_step(&other) >= 0);
    CHECK_NEAR(of_real(other.v[2]), 0.001, SPEED);
    CHECK_NEAR(of_real(other.v[0]), 0.001, SPEED);
}

/* The range of a leader without limits, in places from -40 to 40: polynomials, splines and a
   function that go straight on or rise out of range beyond; limits of the follower on one side or
   on both. */
static void test_open_ranges(void) {
    enum { PLACES = 8000 };
    static const double step = 80.0 / PLACES;
    mdyn_coupling c = MDYN_FOLLOWS(1, 0, 0);
    mdyn_model m = planar2g;
    mdyn_body limited[2];
    mdyn_wide lower, upper;
    int open = 0, narrowed = 0;
    memcpy(limited, rods, sizeof limited);
    m.bodies = limited;
    m.couplings = &c;
    m.curves = bent;
    m.curve_count = 1;
    for (int n = 0; n < 300; n++) {
        double q = -2.5, first = -40, wanted[2] = { 0, 0 }, nearest = 1e9;
        int inside = 0;
        bent[0] = bounded[0];
        bent->kind = (mdyn_curve_kind)(n % 3);
        for (int k = 0; k < 5; k++) {
            bent->a[k] = wide(k > 2 && n % 2 ? 0 : random_in(-3, 3));
        }
        for (int k = 0; k < LEVEL_KNOTS; k++) {
            q += random_in(0.2, 0.9);
            level_knots[k].q = wide(q);
            level_knots[k].value = wide(random_in(-3, 3));
        }
        CHECK_EQUAL(mdyn_fill_spline(level_knots, LEVEL_KNOTS, scratch), MDYN_OK);
        bent->knots = level_knots;
        bent->knot_count = LEVEL_KNOTS;
        const int side = random_int(3);
        const double low = side == 1 ? -1e12 : random_in(-2, -0.2);
        const double high = side == 2 ? 1e12 : random_in(0.2, 2);
        limited[1].lower = wide(low);
        limited[1].upper = wide(high);
        CHECK(mdyn_init(&other, &m) >= 0);
        const double here = random_in(-2, 4);
        other.q[0] = real(here);

        /* runs of places within the limits; the one nearest to here */
        for (int k = 0; k <= PLACES + 1; k++) {
            const double place = -40 + step * k;
            mdyn_curve_point p;
            int now = k <= PLACES && mdyn_evaluate_curve(bent, real(place), &p) == MDYN_OK
                && of_real(p.value) >= low && of_real(p.value) <= high;
            if (now && !inside) {
                first = place;
            }
            if (inside && !now) {
                const double off = fmax(fmax(first - here, here - (place - step)), 0);
                if (off < nearest) {
                    nearest = off;
                    wanted[0] = first;
                    wanted[1] = place - step;
                }
            }
            inside = now;
        }
        int code = mdyn_range(&other, 0, &lower, &upper);
        const double got[2] = { of_wide(lower), of_wide(upper) };
        if (nearest > 1e8 || (got[1] - got[0] < 2 * step && fabs(got[0] - wanted[0]) > 2 * step)) {
            continue; /* an interval between two places */
        }
        CHECK_EQUAL(code, MDYN_OK);
        for (int k = 0; k < 2; k++) {
            if (fabs(wanted[k]) > 40 - step / 2) {
                CHECK(k ? got[1] > 39 : got[0] < -39);
                open++;
            } else {
                CHECK_NEAR(got[k], wanted[k], 1.01 * step);
                narrowed++;
            }
        }
    }
    printf("%d ends open, %d narrowed\n", open, narrowed);
    CHECK(open > 50 && narrowed > 200);
}

/* The same of curves that are level nowhere and out of range at both ends: a x + b x^3 is within
   the limits of the follower. By bisection; the library halves 2^23 rad 64 times. */
static void test_monotone_ranges(void) {
    mdyn_coupling c = MDYN_FOLLOWS(1, 0, 0);
    mdyn_model m = planar2g;
    mdyn_body limited[2];
    memcpy(limited, rods, sizeof limited);
    memset(bent, 0, sizeof bent);
    m.bodies = limited;
    m.couplings = &c;
    m.curves = bent;
    m.curve_count = 1;
    for (int n = 0; n < 40; n++) {
        const double a = random_in(1, 5), b = n % 2 ? random_in(0, 3) : 0;
        const double bound[2] = { random_in(-4, -0.2), random_in(0.2, 4) };
        mdyn_wide left[2];
        bent->a[1] = wide(a);
        bent->a[3] = wide(b);
        limited[1].lower = wide(bound[0]);
        limited[1].upper = wide(bound[1]);
        CHECK_EQUAL(mdyn_init(&other, &m), MDYN_OK);
        CHECK_EQUAL(mdyn_range(&other, 0, &left[0], &left[1]), MDYN_OK);
        for (int k = 0; k < 2; k++) {
            double low = -5, high = 5;
            for (int i = 0; i < 60; i++) {
                const double x = (low + high) / 2;
                *(a * x + b * x * x * x < bound[k] ? &low : &high) = x;
            }
            CHECK_NEAR(of_wide(left[k]), low, BY_SCALAR(1e-12, 1e-6, 1e-8));
        }
    }
}

/* Two ranges that lie closer together than floats of 2^23, where the places without a limit end:
   f = 10000 (q - 1)^2 from 1 to 4, so that q is 1 +- 0.01 to 0.02. */
static void test_ranges_side_by_side(void) {
    static const mdyn_curve parabola = MDYN_POLYNOMIAL(1, 0, 0, 10000, 0, 0);
    mdyn_coupling c = MDYN_FOLLOWS(1, 0, 0);
    mdyn_model m = planar2g;
    mdyn_body limited[2];
    memcpy(limited, rods, sizeof limited);
    m.bodies = limited;
    m.couplings = &c;
    m.curves = &parabola;
    m.curve_count = 1;
    limited[1].lower = wide(1);
    limited[1].upper = wide(4);
    CHECK(mdyn_init(&other, &m) >= 0);
    for (int side = -1; side <= 1; side += 2) {
        mdyn_wide lower, upper;
        other.q[0] = real(1 + 3 * side);
        CHECK_EQUAL(mdyn_range(&other, 0, &lower, &upper), MDYN_OK);
        CHECK_NEAR(of_wide(lower), side < 0 ? 0.98 : 1.01, BY_SCALAR(1e-14, 1e-6, 1e-8));
        CHECK_NEAR(of_wide(upper), side < 0 ? 0.99 : 1.02, BY_SCALAR(1e-14, 1e-6, 1e-8));
    }
}

/* Texts, capacity, and a curve that takes the place of another while the mechanism moves. */
static void test_texts(void) {
    char text[200];
    mdyn_capacity need;
    mdyn_coupling c = follows[0];
    begin_planar2g(row_form);
    CHECK_EQUAL(mdyn_explain(&sim, MDYN_ROW_COUPLING, 0, text, sizeof text), MDYN_OK);
    CHECK_TEXT(text, "coupling 0: q(lower) - curve 3(q(upper)) = 0 [rad]; hard, erp 0.2");
    CHECK_EQUAL(mdyn_required(&planar2g, &need), MDYN_OK);
    CHECK_EQUAL(need.curves, 1);
    c.terms[0].curve = c.terms[1].curve = 5;
    c.terms[0].coefficient = wide(2);
    c.offset = wide(0.5);
    CHECK(mdyn_set_coupling(&sim, 0, &c) >= 0);
    CHECK_EQUAL(mdyn_explain(&sim, MDYN_ROW_COUPLING, 0, text, sizeof text), MDYN_OK);
    CHECK_TEXT(text, "coupling 0: 2 curve 4(q(lower), q(upper)) + 0.5 = 0 [rad]; hard, erp 0.2");
    CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
}

/* MuJoCo's polycoef with references: the macro against the formula. */
static void test_polycoef(void) {
    static const mdyn_curve polycoef[] = { MDYN_MUJOCO_POLYCOEF(0.3, -2.54, 0.5, 0.25, 0.125,
                                                                0.7, -0.4) };
    static const mdyn_coupling couplings[] = { MDYN_FOLLOWS(1, 0, 0) };
    mdyn_model m = planar2g;
    m.couplings = couplings;
    m.curves = polycoef;
    m.curve_count = 1;
    CHECK(mdyn_init(&sim, &m) >= 0);
    for (int n = 0; n < 20; n++) {
        double q = random_in(-1, 1), x = q + 0.4, y;
        sim.q[0] = real(q);
        CHECK_EQUAL(mdyn_project(&sim, MDYN_FOLLOWERS), MDYN_OK);
        y = 0.3 - 2.54 * x + 0.5 * x * x + 0.25 * x * x * x + 0.125 * x * x * x * x;
        CHECK_NEAR(of_real(sim.q[1]) - 0.7, y, 10 * PLACE);
    }
}

/* ---- a ring, around which passes lead away ---- */

/* q_1 = 2 q_2 + q_0, q_2 = 3 q_1 + q_1^3: putting each right by its first joint in turn leaves the
   range of the curve. From any q_0, and again where all holds, it is settled as other rings are. */
static void test_settled_ring(void) {
    static const mdyn_body wheels[] = {
        MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 0, 1), MDYN_AT(0, 0, 0), MDYN_NO_MASS, MDYN_ROTOR(1),
                  "base"),
        MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 0, 1), MDYN_AT(0, 0, 0), MDYN_NO_MASS, MDYN_ROTOR(1),
                  "first"),
        MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 0, 1), MDYN_AT(0, 0, 0), MDYN_NO_MASS, MDYN_ROTOR(1),
                  "second"),
    };
    static const mdyn_curve cubic[] = { MDYN_POLYNOMIAL(0, 0, 3, 0, 1, 0) };
    static const mdyn_coupling ring[] = { MDYN_GEAR3(1, 1, 2, -2, 0, -1, 0),
                                          MDYN_FOLLOWS(2, 1, 0) };
    mdyn_model m = MDYN_MODEL(wheels, 3, ring, 2, MDYN_V3(0, 0, 0), 0.001);
    m.curves = cubic;
    m.curve_count = 1;
    for (int n = 0; n < 20; n++) {
        const double from = random_in(-1, 1);
        CHECK_EQUAL(mdyn_init(&sim, &m), MDYN_OK);
        sim.q[0] = sim.v[0] = real(from);
        for (int k = 0; k < 2; k++) {
            const double before = of_real(sim.q[0]);
            CHECK_EQUAL(mdyn_settle(&sim), MDYN_OK);
            const double x = of_real(sim.q[1]), v = of_real(sim.v[1]), y = 3 * x + x * x * x;
            CHECK_NEAR(of_real(sim.q[2]), y, 100 * PLACE);
            CHECK_NEAR(of_real(sim.q[0]), x - 2 * y, 100 * PLACE);
            CHECK_NEAR(of_real(sim.v[0]), v - 2 * (3 + 3 * x * x) * v, 100 * SPEED);
            CHECK_NEAR(of_real(sim.q[0]), k ? before : from, k ? 100 * PLACE : 0.1);
        }
    }
}

/* 2 sin q, but for one call. */
static int calls_left;
static void absent_once(mdyn_real q, mdyn_curve_point *p, void *user) {
    const double x = of_real(q);
    (void)user;
    p->value = --calls_left == 0 ? no_number() : real(2 * sin(x));
    p->slope = wide(2 * cos(x));
    p->curvature = wide(-2 * sin(x));
}

/* A swinging chain whose second joint follows the first, on the world or on a free base, refused at
   whichever call of the curve's function gives no value that is read: the step after it is the one
   that would have come; on the world to the last bit. */
static void next_step(int floats) {
    static const mdyn_curve curve[] = { MDYN_FUNCTION(absent_once, NULL) };
    static const mdyn_coupling tie[2][1] = { { MDYN_FOLLOWS(1, 0, 0) }, { MDYN_FOLLOWS(2, 1, 0) } };
    static mdyn_sim straight;
    static const mdyn_body floating[] = {
        MDYN_BODY(MDYN_WORLD, MDYN_FLOATS, MDYN_AT(0, 0, 0),
                  MDYN_RIGID(2, 0, 0, 0, MDYN_INERTIA(0.1, 0.2, 0.3, 0, 0, 0)), MDYN_PASSIVE,
                  "base"),
        MDYN_BODY(0, MDYN_TURNS(0, 1, 0), MDYN_AT(0, 0, 0), MDYN_POINT_MASS(0), MDYN_ROTOR(0.1),
                  "upper"),
        MDYN_BODY(1, MDYN_TURNS(0, 1, 0), MDYN_AT(0.5, 0, 0),
                  MDYN_RIGID(1, 0.25, 0, 0, MDYN_INERTIA(0.01, 0.02, 0.02, 0, 0, 0)),
                  MDYN_PASSIVE, "lower"),
    };
    mdyn_body body[3];
    mdyn_model m = MDYN_MODEL(body, 2 + floats, tie[floats], 1, MDYN_V3(0, 0, -9.81), 0x1p-8);
    int refused = 0, first;
    memcpy(body, floating + !floats, (size_t)(2 + floats) * sizeof *body);
    for (int i = 0; i < 2 && !floats; i++) body[i].parent--;
    m.curves = curve;
    m.curve_count = 1;
    calls_left = 0;
    CHECK_EQUAL(mdyn_init(&sim, &m), MDYN_OK);
    first = mdyn_first_dof(&sim, floats);
    sim.v[first] = real(3);
    if (floats) sim.v[3] = sim.v[4] = real(2);
    CHECK_EQUAL(mdyn_project(&sim, MDYN_INDEPENDENT), MDYN_OK);
    for (int i = 0; i < 10; i++) CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    for (int k = 1; k < 20; k++) {
        other = sim;
        calls_left = k;
        int code = mdyn_step(&other);
        if (calls_left > 0) break; /* a step calls the function less often */
        if (code != MDYN_OK) { /* where the value is read */
            CHECK_EQUAL(code, MDYN_ERR_NOT_FINITE);
            CHECK_EQUAL(mdyn_step(&other), MDYN_OK);
            refused++;
        }
        straight = sim;
        CHECK_EQUAL(mdyn_step(&straight), MDYN_OK);
        for (int i = 0; i < mdyn_dofs(&sim); i++)
            CHECK_NEAR(of_real(other.v[i]), of_real(straight.v[i]), floats ? SPEED : 0);
        for (int i = 0; i < mdyn_coordinates(&sim); i++)
            CHECK_NEAR(of_real(other.q[i]), of_real(straight.q[i]), floats ? PLACE : 0);
    }
    CHECK(refused > 1);
}
static void test_next_step(void) {
    next_step(0);
    next_step(1);
}

/* A follower on a curve that rests at its limit: the force of the limit balances the torques, over
   f'. Its place is known to the rounding of f, so that in a step the force is off by m/dt^2 times
   that: 5 N m of F32 at 0.1 ms, 5e-4 at 10 ms. The mean is not. */
static void test_rest_on_curve(void) {
    for (int n = 0; n < 2; n++) {
        const double dt = n ? 0.01 : 1e-4;
        static mdyn_body b[2];
        const mdyn_coupling c = MDYN_FOLLOWS(1, 0, 0);
        mdyn_model m = MDYN_MODEL(b, 2, &c, 1, MDYN_V3(0, 0, 0), 0.0001);
        double mean = 0, least = 1e9, most = -1e9;
        memset(b, 0, sizeof b);
        b[0].parent = b[1].parent = MDYN_WORLD;
        b[0].joint = b[1].joint = MDYN_REVOLUTE;
        b[0].armature = wide(0.5);
        b[1].armature = wide(0.8);
        b[1].lower = wide(-0.9);
        b[1].upper = wide(0.75);
        m.curves = curves;
        m.curve_count = 1;
        m.dt = wide(dt);
        CHECK(mdyn_init(&sim, &m) >= 0);
        CHECK_EQUAL(mdyn_settle(&sim), MDYN_OK);
        sim.tau[0] = real(-2);
        sim.tau[1] = real(0.3);
        for (int k = 0; k < (int)(4/dt); k++) {
            mdyn_row_report r;
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            if (k < (int)(3/dt)) continue;
            CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_LIMIT, 1, &r), MDYN_OK);
            mean += of_wide(r.force) * dt;
            if (of_wide(r.force) < least) least = of_wide(r.force);
            if (of_wide(r.force) > most) most = of_wide(r.force);
        }
        ld f[3];
        exact(0, (ld)of_real(sim.q[0]), f);
        const double force = 2/(double)f[1] - 0.3;
        CHECK_NEAR(of_real(sim.q[1]), 0.75, BY_SCALAR(1e-12, 1e-6, 1e-8));
        CHECK_NEAR(mean, force, BY_SCALAR(1e-6, 2e-2, 1e-3));
        CHECK(most - least < (n ? BY_SCALAR(1e-9, 5e-3, 1e-4) : BY_SCALAR(1e-6, 30, 0.3)));
    }
}

/* What a step takes for rounding on a curve is of the state that it begins with: after mdyn_reset a
   sim that was elsewhere moves as a new one. Of 1e6 the rounding hid how far a follower was put off
   its curve at 0. */
static void test_after_reset(void) {
    static const mdyn_curve square = MDYN_POLYNOMIAL(0, 0, 0.5, 1, 0, 0);
    static mdyn_sim fresh;
    mdyn_coupling c = MDYN_FOLLOWS(1, 0, 0);
    mdyn_model m = planar2g;
    m.couplings = &c;
    m.curves = &square;
    m.curve_count = 1;
    for (int n = 0; n < 200; n++) {
        const double x = random_in(-1, 1), off = pow(10, random_in(-15, -3));
        CHECK_EQUAL(mdyn_init(&sim, &m), MDYN_OK);
        CHECK_EQUAL(mdyn_init(&fresh, &m), MDYN_OK);
        sim.q[0] = real(1000);
        CHECK(mdyn_step(&sim) >= 0);
        CHECK_EQUAL(mdyn_reset(&sim), MDYN_OK);
        sim.q[0] = fresh.q[0] = real(x);
        sim.q[1] = fresh.q[1] = real(0.5 * x + x * x + off);
        for (int k = 0; k < 4; k++) {
            CHECK_EQUAL(mdyn_step(&sim), mdyn_step(&fresh));
            CHECK(memcmp(sim.q, fresh.q, 2 * sizeof sim.q[0]) == 0);
            CHECK(memcmp(sim.v, fresh.v, 2 * sizeof sim.v[0]) == 0);
        }
    }
}

int main(int argc, char **argv) {
    static void (*const tests[])(void) = {
        test_values, test_spline, test_refused_curves, test_rows, test_default, test_row_form,
        test_projection,
        test_planar2g, test_runge_kutta, test_save, test_refused, test_level_places,
        test_ranges, test_ranges_of_several, test_bounds, test_open_ranges, test_texts,
        test_polycoef, test_on_request, test_ranges_side_by_side, test_monotone_ranges,
        test_rotors, test_substeps, test_beyond_range, test_asked_within, test_level_within,
        test_report_without_value, test_vanishing_ratio, test_callback, test_settled_ring,
        test_next_step, test_rest_on_curve, test_after_reset
    };
    check_begin(argc, argv);
    fill_tables();
    for (int i = 0; i < (int)(sizeof tests / sizeof *tests); i++) {
        random_seed((uint64_t)i + 1);
        tests[i]();
    }
    return check_end();
}
