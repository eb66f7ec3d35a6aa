/* Rows on bodies (closures, user rows, contacts) on random mechanisms: the same rows written out
   densely for truth_step.h, and one step of a sim against them. Included after check.h, truth.h and
   truth_step.h by the programs that test these rows. */
#ifndef ROWS_ON_BODIES_H
#define ROWS_ON_BODIES_H

#include "explicit.h"

enum { USER_ROWS = MIMICDYN_MAX_BODY_ROWS, HITS = 3 };

/* What the checks of rows allow, as parts of the motion: some three times the worst of -s 1, 2
   and 3. */
/*                         F64    F32  FIXED */
TOLERANCE(ROW_IMPULSES,  3e-12,  2e-3,  8e-5);
TOLERANCE(ROW_ERROR,     2e-14,  4e-6,  1e-7);

static mdyn_sim sim;
static mechanism mech;
static truth t;
static truth_step dense;
static mdyn_user_row user_row[USER_ROWS];
static mdyn_closure closure[4];
static mdyn_contact hit[HITS];
static int hits;
static const ld IDLE = 1e-12L; /* J M^-1 J' of a row that is 0 but for rounding */

/* What became of the steps of a test: each is one of the first six. */
typedef struct outcomes {
    int compared;      /* with the dense solution, and found equal */
    int refused;       /* with MDYN_ERR_OVERFLOW */
    int unsolved;      /* the solver says so */
    int doubtful;      /* rounding decides whether rows contradict each other */
    int contradictory; /* rows contradict each other, and the sim says so */
    int jammed;        /* friction jams, and iterations do not end */
    int independent, dependent; /* of those compared: the rows are linearly independent, or not */
    int idle_rows;     /* rows in which no joint has a part */
    int edges;         /* rows at the edge of a bound, of which flags are not compared */
    int last_idle;     /* of the last step: idle rows that are hard or by frequency */
    int last_hopeless; /* and of these, those that ask for a velocity */
    double worst;      /* largest gap of those compared */
} outcomes;

/* A tree that can move. */
static inline void draw_mechanism(int bodies, int dofs, int kind) {
    int speeds;
    do {
        mechanism_random(&mech, bodies, dofs, kind);
        speeds = 0;
        for (int i = 0; i < bodies; i++) {
            speeds += t_dofs_of(mech.body[i].joint);
        }
    } while (speeds < 2);
}

static inline void start(void) {
    mech.model.user_rows = user_row;
    mech.model.closures = closure;
    CHECK(init_explicit(&sim, &mech.model) >= 0);
}

static inline void look(void) {
    truth_init(&t, &mech.model);
    truth_copy(&t, &sim);
    truth_update(&t, &mech.model);
}

/* ---- rows, densely ---- */

/* J += angular . omega + linear . velocity of the origin of a body */
static inline void add_wrench(truth_row *r, int body, const ld angular[3], const ld linear[3]) {
    for (int k = 0; body >= 0 && k < t.dofs; k++) {
        r->J[k] += t_dot(angular, t.Jw[body][k]) + t_dot(linear, t.Jo[body][k]);
    }
}

/* Unit force along n at the points of two bodies, in world axes from their origins; or a unit
   moment (arms NULL): on a, and the opposite on b. */
static inline void add_pair(truth_row *r, int a, int b, ld arm[2][3], const ld n[3]) {
    for (int side = 0; side < 2; side++) {
        ld f[3], m[3] = { 0 }, zero[3] = { 0 };
        for (int k = 0; k < 3; k++) {
            f[k] = side ? -n[k] : n[k];
        }
        if (arm) {
            t_cross(m, arm[side], f);
        }
        add_wrench(r, side ? b : a, arm ? m : f, arm ? f : zero);
    }
}

static inline void soften(truth_row *r, const mdyn_softness *s, ld dt, ld *erp) {
    ld a = (ld)of_wide(s->a), b = (ld)of_wide(s->b);
    *erp = 0.2L;
    if (s->kind == MDYN_ERP_CFM) {
        *erp = a;
        r->cfm = b;
    } else if (s->kind == MDYN_KP_KD) {
        t_spring(a, b, dt, erp, &r->cfm);
    } else if (s->kind == MDYN_OMEGA_ZETA && a > 0) {
        ld inertia = t_row_inertia(&dense, &t, r);
        r->cfm = HUGE_VALL; /* an idle row has no force */
        if (inertia > IDLE) {
            t_spring(a * a / inertia, 2 * a * b / inertia, dt, erp, &r->cfm);
        }
    }
}

/* Friction: no more impulse than mu times what `report` says of the row that it follows. */
static inline void follow(truth_row *r, int leader, mdyn_wide mu) {
    mdyn_row_report n;
    CHECK_EQUAL(mdyn_report_row(&sim, r->kind, leader, &n), MDYN_OK);
    r->mu = (ld)of_wide(mu);
    r->most = fabsl(r->mu * (ld)of_wide(n.impulse));
    r->least = -r->most;
    r->leader = dense.rows - 1;
    while (dense.row[r->leader].kind != r->kind || dense.row[r->leader].index != leader) {
        r->leader--;
    }
}

/* The user rows; friction with the bounds that `report` says. */
static inline void dense_user_rows(void) {
    ld dt = (ld)of_wide(mech.model.dt), erp;
    for (int i = 0; i < mech.model.user_row_count; i++) {
        const mdyn_user_row *o = &user_row[i];
        truth_row *r = t_add_row(&dense, MDYN_ROW_USER, i);
        ld lower = (ld)of_wide(o->lower), upper = (ld)of_wide(o->upper), C = (ld)of_wide(o->value);
        for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
            const mdyn_body_term *p = &o->terms[k];
            ld ang[3], lin[3];
            t_wide3(ang, &p->angular);
            t_wide3(lin, &p->linear);
            if (p->body < 0) {
                continue;
            }
            if (p->axes == MDYN_JOINT_VELOCITIES) {
                for (int j = 0; j < t.dofs_of[p->body]; j++) {
                    r->J[t.dof[p->body] + j] += j < 3 ? ang[j] : lin[j - 3];
                }
                continue;
            }
            if (p->axes == MDYN_BODY_AXES) {
                t_turn(ang, t.R[p->body], ang);
                t_turn(lin, t.R[p->body], lin);
            }
            add_wrench(r, p->body, ang, lin);
        }
        soften(r, &o->softness, dt, &erp);
        if (o->level == MDYN_VELOCITY) {
            r->low = r->high = (ld)of_wide(o->target_velocity);
        } else if (lower < upper) {
            t_range(r, C, lower, upper, erp, dt);
        } else {
            r->error = C - lower;
            r->low = r->high = (ld)of_wide(o->target_velocity) - erp * r->error / dt;
        }
        if (of_wide(o->mu) > 0) {
            follow(r, o->mu_of, o->mu);
        } else if (of_wide(o->force_min) != 0 || of_wide(o->force_max) != 0) {
            ld least = (ld)of_wide(o->force_min), most = (ld)of_wide(o->force_max);
            r->least = t_unlimited(least) ? -HUGE_VALL : dt * least;
            r->most = t_unlimited(most) ? HUGE_VALL : dt * most;
        }
    }
}

/* Arms of a closure's points, and the gap between them. */
static inline void dense_loop(const mdyn_closure *c, ld arm[2][3], ld gap[3]) {
    memset(gap, 0, 3 * sizeof gap[0]);
    for (int side = 0; side < 2; side++) {
        int body = side ? c->b : c->a;
        t_wide3(arm[side], side ? &c->point_b : &c->point_a);
        if (body >= 0) {
            t_turn(arm[side], t.R[body], arm[side]);
        }
        for (int k = 0; k < 3; k++) {
            gap[k] += (side ? -1 : 1) * (arm[side][k] + (body >= 0 ? t.o[body][k] : 0));
        }
    }
}

/* Row k of a closure. */
static inline void dense_closure_row(const mdyn_closure *c, int k, ld arm[2][3], const ld n[3],
                                     ld C) {
    truth_row *r = t_add_row(&dense, MDYN_ROW_CLOSURE, 6 * (int)(c - closure) + k);
    ld dt = (ld)of_wide(mech.model.dt), erp, effort = (ld)of_wide(c->effort);
    add_pair(r, c->a, c->b, arm, n);
    soften(r, &c->softness, dt, &erp);
    r->error = C;
    r->low = r->high = -erp * C / dt;
    if (effort > 0) {
        r->most = dt * effort;
        r->least = -r->most;
    }
}

static inline void unit(ld x[3]) {
    ld length = sqrtl(t_dot(x, x));
    for (int k = 0; k < 3; k++) {
        x[k] /= length;
    }
}

/* Two directions across the unit vector n, as hinges and contacts take them: the axis of
   coordinates that is farthest from it, made orthogonal to it, and n x that. */
static inline void across(const ld n[3], ld x[3], ld y[3]) {
    int far = 0;
    for (int k = 1; k < 3; k++) {
        far = fabsl(n[k]) < fabsl(n[far]) ? k : far;
    }
    for (int k = 0; k < 3; k++) {
        x[k] = (k == far) - n[far] * n[k];
    }
    unit(x);
    t_cross(y, n, x);
}

/* A direction of a body's axes in those of the world; the world's stay. */
static inline void turned(ld r[3], int body, const ld x[3]) {
    if (body >= 0) {
        t_turn(r, t.R[body], x);
        return;
    }
    for (int k = 0; k < 3; k++) {
        r[k] = x[k];
    }
}

static inline void turned_back(ld r[3], int body, const ld x[3]) {
    ld y[3] = { 0 };
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < 3; j++) {
            y[k] += (body >= 0 ? t.R[body][j][k] : j == k) * x[j];
        }
    }
    memcpy(r, y, sizeof y);
}

/* The turn that is left between the bodies of a weld, as 2 sin(angle/2) along its axis. */
static inline void weld_turn(const mdyn_closure *c, ld e[3]) {
    ld q[4] = { (ld)of_wide(c->rotation.w), (ld)of_wide(c->rotation.x), (ld)of_wide(c->rotation.y),
                (ld)of_wide(c->rotation.z) };
    ld F[3][3], a[3][3], b[3][3], E[3][3], trace = 0, s;
    t_quaternion(F, q);
    for (int k = 0; k < 3; k++) { /* columns: axes of a, and where b holds them */
        ld x[3] = { k == 0, k == 1, k == 2 }, f[3] = { F[0][k], F[1][k], F[2][k] };
        turned(a[k], c->a, x);
        turned(b[k], c->b, f);
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            E[i][j] = a[0][i] * b[0][j] + a[1][i] * b[1][j] + a[2][i] * b[2][j];
        }
        trace += E[i][i];
    }
    s = sqrtl(1 + trace); /* 2 cos(angle/2) */
    e[0] = (E[2][1] - E[1][2]) / s;
    e[1] = (E[0][2] - E[2][0]) / s;
    e[2] = (E[1][0] - E[0][1]) / s;
}

static inline void dense_closures(void) {
    static const ld axes[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    for (int i = 0; i < mech.model.closure_count; i++) {
        const mdyn_closure *c = &closure[i];
        ld arm[2][3], gap[3], a[3], b[3], n[3], d;
        dense_loop(c, arm, gap);
        d = sqrtl(t_dot(gap, gap));
        for (int k = 0; k < 3 && c->kind != MDYN_CLOSE_DISTANCE; k++) {
            dense_closure_row(c, k, arm, axes[k], gap[k]);
        }
        if (c->kind == MDYN_CLOSE_DISTANCE) {
            for (int k = 0; k < 3; k++) {
                n[k] = gap[k] / d;
            }
            dense_closure_row(c, 0, arm, n, d - (ld)of_wide(c->distance));
        } else if (c->kind == MDYN_CLOSE_HINGE) {
            t_wide3(a, &c->axis_a);
            t_wide3(b, &c->axis_b);
            unit(a);
            unit(b);
            ld lean[3], m[3];
            across(b, n, m);
            turned(n, c->b, n);
            turned(m, c->b, m);
            turned(a, c->a, a);
            turned(b, c->b, b);
            t_cross(lean, t_dot(a, b) < 0 ? a : b, t_dot(a, b) < 0 ? b : a); /* or opposite */
            dense_closure_row(c, 3, NULL, n, t_dot(n, lean));
            dense_closure_row(c, 4, NULL, m, t_dot(m, lean));
        } else if (c->kind == MDYN_CLOSE_WELD) {
            weld_turn(c, a);
            for (int k = 0; k < 3; k++) {
                dense_closure_row(c, 3 + k, NULL, axes[k], a[k]);
            }
        }
    }
}

/* The three rows of contact i; friction yet without a bound. */
static inline void dense_hit(const mdyn_contact *c, int i) {
    ld p[3] = { (ld)of_real(c->point.x), (ld)of_real(c->point.y), (ld)of_real(c->point.z) };
    ld way[3][3] = { { (ld)of_real(c->normal.x), (ld)of_real(c->normal.y),
                       (ld)of_real(c->normal.z) } }, arm[2][3], erp;
    for (int k = 0; k < 3; k++) {
        arm[0][k] = p[k] - (c->a >= 0 ? t.o[c->a][k] : 0);
        arm[1][k] = p[k] - (c->b >= 0 ? t.o[c->b][k] : 0);
    }
    unit(way[0]);
    across(way[0], way[1], way[2]);
    for (int k = 0; k < 3; k++) {
        truth_row *r = t_add_row(&dense, MDYN_ROW_CONTACT, 3 * i + k);
        add_pair(r, c->a, c->b, arm, way[k]);
        if (k == 0) {
            ld dt = (ld)of_wide(mech.model.dt);
            soften(r, &c->softness, dt, &erp);
            t_range(r, -(ld)of_real(c->depth), 0, HUGE_VALL, erp, dt);
        }
    }
}

/* The contacts; friction with the bounds that `report` says. */
static inline void dense_contacts(void) {
    for (int i = 0; i < hits; i++) {
        dense_hit(&hit[i], i);
        for (int k = 2; k > 0; k--) {
            follow(&dense.row[dense.rows - k], 3 * i, hit[i].mu);
        }
    }
}

/* All rows, in the order in which they are solved; but those in which no joint has a part: they
   move nothing, and hard ones carry no impulse whatever they ask. */
static inline void dense_rows(outcomes *o) {
    int moving = 0, now[TR];
    o->last_idle = o->last_hopeless = 0;
    truth_step_begin(&dense, &t, &mech.model, &sim);
    dense_closures();
    dense_user_rows();
    dense_contacts();
    for (int k = 0; k < dense.rows; k++) {
        const truth_row *r = &dense.row[k];
        mdyn_row_report got;
        now[k] = -1;
        if (t_row_inertia(&dense, &t, r) > IDLE) {
            now[k] = moving++;
            dense.row[now[k]] = *r;
            dense.row[now[k]].leader = r->leader < 0 ? -1 : now[r->leader];
            continue;
        }
        CHECK_EQUAL(mdyn_report_row(&sim, r->kind, r->index, &got), MDYN_OK);
        int soft = r->cfm > 0 && isfinite(r->cfm);
        CHECK(soft || (got.flags & MDYN_ROW_REDUNDANT && of_wide(got.impulse) == 0));
        o->last_idle += !soft;
        o->last_hopeless += r->cfm == 0 && fabsl(r->low) > BY_SCALAR(1e-3L, 1, 1);
        o->idle_rows++;
    }
    dense.rows = moving;
    t_row_products(&dense, t.dofs);
}

/* ---- one step against the dense rows ---- */

/* The root of twice the energy of speeds. */
static inline ld length_of(const ld *v) {
    ld sum = 0;
    for (int i = 0; i < t.dofs; i++) {
        for (int j = 0; j < t.dofs; j++) {
            sum += v[i] * t.M[i][j] * v[j];
        }
    }
    return sqrtl(fmaxl(sum, 0));
}

/* The motion, and what the impulses would make of it one by one: in light joints of heavy trees
   speeds are as uncertain as this leaves them. */
static inline ld size_of_motion(void) {
    ld size = fmaxl(length_of(dense.v), length_of(dense.free));
    for (int i = 0; i < dense.rows; i++) {
        size = fmaxl(size, sqrtl(dense.A[i][i]) * fabsl(dense.lambda[i]));
    }
    return size;
}

/* Length of the difference between the speeds of the sim and the dense ones, relative to that. */
static inline double gap_of_speeds(void) {
    ld gap[TN];
    for (int k = 0; k < t.dofs; k++) {
        gap[k] = (ld)of_real(sim.v[k]) - dense.v[k];
    }
    return (double)(length_of(gap) / size_of_motion());
}

static inline void get_speeds(ld *v) {
    for (int k = 0; k < t.dofs; k++) {
        v[k] = (ld)of_real(sim.v[k]);
    }
}

/* One step; 0 if rows that (nearly) contradict asked for more than the numbers hold, and it was
   refused, or if pivoting says that it has not solved them. */
static inline int step_goes(outcomes *o) {
    look();
    if (hits > 0) {
        CHECK_EQUAL(mdyn_set_contacts(&sim, hit, hits), MDYN_OK);
    }
    int code = mdyn_step(&sim);
    CHECK(code == MDYN_OK || code == MDYN_ERR_OVERFLOW || code > 0);
    int unsolved = code >= 0 && sim.report.unsolved > 0;
    CHECK(code <= 0 || unsolved || code == MDYN_WARN_NOT_CONVERGED /* iterations ended early */
          || BY_SCALAR(0, 0, code == MDYN_WARN_DIGITS)); /* light beside heavy */
    CHECK(code > 0 || !unsolved);
    o->refused += code < 0;
    o->unsolved += unsolved;
    return code >= 0 && !unsolved;
}

/* Iterations that end at the solution; what pivoting does not solve is not compared. */
static inline void solve_well(mdyn_method method) {
    mech.model.solver.method = method;
    mech.model.solver.iterations = method == MDYN_DANTZIG ? 100 : 20000;
}

/* What is told of the rows against the dense ones; impulses where these are independent. An
   impulse is weighed by the inertia of its row alone. */
static inline void compare_reports(double allowed, outcomes *o) {
    ld size = size_of_motion(), dt = (ld)of_wide(mech.model.dt), part = (ld)allowed * size;
    int firm = truth_step_rank(&dense, 1e-3L) == dense.rows;
    for (int k = 0; k < dense.rows; k++) {
        const truth_row *r = &dense.row[k];
        mdyn_row_report got;
        CHECK_EQUAL(mdyn_report_row(&sim, r->kind, r->index, &got), MDYN_OK);
        ld length = sqrtl(dense.A[k][k]), total = dense.A[k][k] + r->cfm, missed, w;
        ld lambda = (ld)of_wide(got.impulse), speed = t_row_speed(r, dense.v, t.dofs);
        double force = of_wide(got.force), power = force * of_wide(got.velocity);
        CHECK_NEAR(force * (double)dt, (double)lambda, 4 * check_epsilon * fabs((double)lambda));
        CHECK_NEAR(of_wide(got.power), power, 2 * check_epsilon * fabs(power));
        CHECK_NEAR(of_wide(got.error), (double)r->error, ROW_ERROR);
        CHECK_NEAR((double)(((ld)of_wide(got.velocity) - speed) / (length * size)), 0, allowed);
        if (!firm) {
            continue;
        }
        w = speed + r->cfm * dense.lambda[k];
        missed = w < r->low ? w - r->low : w > r->high ? w - r->high : 0;
        CHECK_NEAR((double)((lambda - dense.lambda[k]) * total / (length * size)), 0,
                   ROW_IMPULSES);
        CHECK_NEAR((double)(((ld)of_wide(got.residual) - missed) / (length * size)), 0, allowed);
        ld left = fminl(r->most - dense.lambda[k], dense.lambda[k] - r->least) * total / length;
        if (fabsl(missed) > part * length) { /* it would push more if it could */
            CHECK_EQUAL(got.flags, MDYN_ROW_SATURATED);
        } else if (left > part) {
            CHECK_EQUAL(got.flags, 0);
        } else {
            o->edges++;
        }
    }
    o->independent += firm;
    o->dependent += !firm;
}

/* The largest residual that rows tell of, or the iterations. */
static inline double largest_residual(void) {
    double worst = of_wide(sim.report.residual);
    for (int k = 0; k < dense.rows; k++) {
        mdyn_row_report got;
        CHECK_EQUAL(mdyn_report_row(&sim, dense.row[k].kind, dense.row[k].index, &got), MDYN_OK);
        worst = worse(worst, fabs(of_wide(got.residual)));
    }
    return worst;
}

/* One step of the sim against the dense one; 0 if there is nothing to compare: see step_goes; or
   rows contradict each other, or are so near to it that rounding says which; or friction jams, and
   iterations do not end. */
static inline int step_compares(double allowed, outcomes *o) {
    if (!step_goes(o)) {
        return 0;
    }
    dense_rows(o);
    if (truth_step_rank(&dense, 1e-6L) != truth_step_rank(&dense, 1e-12L)) {
        o->doubtful++;
        return 0;
    }
    truth_step_solve(&dense, t.dofs);
    if (dense.violation > 1e-9L) {
        CHECK(largest_residual() > 1e-5);
        o->contradictory++;
        return 0;
    }
    if (of_wide(sim.report.residual) > BY_SCALAR(1e-12, 1e-5, 1e-5)) {
        o->jammed++;
        return 0;
    }
    double error = gap_of_speeds();
    CHECK_NEAR(error, 0.0, allowed);
    o->worst = worse(o->worst, error);
    o->compared++;
    compare_reports(allowed, o);
    return 1;
}

static inline void tell_outcomes(const char *what, const outcomes *o) {
    if (check.measure) {
        printf("%s: worst %.2g in %d; %d refused, %d unsolved, %d contradict, %d nearly, %d jam; "
               "independent in %d, not in %d; rows: %d idle, %d at the edge of a bound\n", what,
               o->worst, o->compared, o->refused, o->unsolved, o->contradictory, o->doubtful,
               o->jammed, o->independent, o->dependent, o->idle_rows, o->edges);
    }
}

/* ---- random rows ---- */

static inline void random_parts(mdyn_user_row *r) {
    const int parts = 1 + random_int(3);
    for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) r->terms[k].body = MDYN_WORLD;
    for (int k = 0; k < 4; k++) { /* the same numbers for any MIMICDYN_MAX_TERMS */
        mdyn_body_term *p = &r->terms[k];
        if (k < parts) p->body = (int16_t)(random_int(mech.model.body_count + 1) - 1);
        p->axes = (mdyn_axes)random_int(3);
        p->angular = random_vector(1);
        p->linear = random_vector(1);
    }
    r->terms[0].body = (int16_t)random_int(mech.model.body_count);
    while (t_dofs_of(mech.body[r->terms[0].body].joint) == 0) {
        r->terms[0].body = (int16_t)random_int(mech.model.body_count);
    }
}

static inline void random_user_row(mdyn_user_row *r, int kind) {
    memset(r, 0, sizeof *r);
    random_parts(r);
    r->value = wide(random_in(-0.01, 0.01));
    if (kind == 1 || kind == 4) { /* soft */
        r->softness.kind = MDYN_KP_KD;
        r->softness.a = wide(random_in(10, 1000));
        r->softness.b = wide(random_in(1, 10));
    } else if (kind == 2) {
        r->softness.kind = MDYN_OMEGA_ZETA;
        r->softness.a = wide(random_in(10, 100));
        r->softness.b = wide(random_in(0.2, 1));
    }
    if (kind == 3 || kind == 4) { /* bounded, on one or both sides */
        r->level = MDYN_VELOCITY;
        r->target_velocity = wide(random_in(-1, 1));
        r->force_min = random_int(2) ? wide(random_in(-20, 0)) : wide(-1e12);
        r->force_max = random_int(2) ? wide(random_in(0, 20)) : MDYN_UNLIMITED;
    } else if (kind == 5) { /* a range */
        r->lower = wide(random_in(-0.01, 0));
        r->upper = random_int(2) ? MDYN_UNLIMITED : wide(random_in(0, 0.01));
    }
}

/* The turn of a seen from b, now; and off by as much. */
static inline mdyn_wide4 present_turn(int a, int b, double off) {
    mdyn_real3 place;
    mdyn_real4 q[2];
    ld x[2][4] = { { 1 }, { 1 } }, turn[3];
    mdyn_wide4 r;
    for (int side = 0; side < 2; side++) {
        if ((side ? b : a) < 0) {
            continue;
        }
        CHECK_EQUAL(mdyn_pose(&sim, side ? b : a, &place, &q[side]), MDYN_OK);
        x[side][0] = (ld)of_real(q[side].w);
        x[side][1] = (ld)of_real(q[side].x);
        x[side][2] = (ld)of_real(q[side].y);
        x[side][3] = (ld)of_real(q[side].z);
    }
    t_cross(turn, x[0] + 1, x[1] + 1); /* of b conjugate, times that of a */
    for (int k = 0; k < 3; k++) {
        turn[k] += x[1][0] * x[0][k + 1] - x[0][0] * x[1][k + 1] + (ld)random_in(-off, off);
    }
    r.w = wide((double)(x[0][0] * x[1][0] + t_dot(x[0] + 1, x[1] + 1)));
    r.x = wide((double)turn[0]);
    r.y = wide((double)turn[1]);
    r.z = wide((double)turn[2]);
    return r;
}

/* A closure that the present state nearly satisfies. */
static inline void random_closure(mdyn_closure *c, mdyn_closure_kind kind, double off) {
    ld arm[2][3], gap[3], x[3];
    memset(c, 0, sizeof *c);
    c->kind = kind;
    do {
        c->a = (int16_t)random_int(mech.model.body_count);
        c->b = (int16_t)(random_int(mech.model.body_count + 1) - 1);
    } while (c->a == c->b);
    c->point_a = random_vector(0.3);
    if (kind == MDYN_CLOSE_DISTANCE) {
        c->point_b = random_vector(0.3);
        dense_loop(c, arm, gap);
        c->distance = wide((double)sqrtl(t_dot(gap, gap)) + random_in(-off, off));
        return;
    }
    dense_loop(c, arm, gap); /* b's point is still its origin: it goes where a's is */
    for (int k = 0; k < 3; k++) {
        x[k] = gap[k] + (ld)random_in(-off, off);
    }
    turned_back(x, c->b, x);
    c->point_b.x = wide((double)x[0]);
    c->point_b.y = wide((double)x[1]);
    c->point_b.z = wide((double)x[2]);
    c->axis_a = random_vector(1);
    t_wide3(arm[0], &c->axis_a);
    turned(arm[0], c->a, arm[0]);
    for (int k = 0; k < 3; k++) {
        arm[0][k] += (ld)random_in(-10, 10) * (ld)off;
    }
    turned_back(arm[1], c->b, arm[0]);
    c->axis_b.x = wide((double)arm[1][0]);
    c->axis_b.y = wide((double)arm[1][1]);
    c->axis_b.z = wide((double)arm[1][2]);
    c->rotation = present_turn(c->a, c->b, off);
}

/* The mechanism by itself in motion, as truth.h sees it: rows are drawn there, and start_again()
   goes on with them. */
static inline mdyn_sim start_without_rows(double speed) {
    mech.model.user_row_count = mech.model.closure_count = 0;
    start();
    sim_random(&sim, &mech.model, speed, 5);
    look();
    return sim;
}

/* Where the sim was, after a start with more rows. */
static inline void start_again(const mdyn_sim *kept) {
    start();
    memcpy(sim.q, kept->q, sizeof sim.q);
    memcpy(sim.v, kept->v, sizeof sim.v);
    memcpy(sim.tau, kept->tau, sizeof sim.tau);
    memcpy(sim.wrench, kept->wrench, sizeof sim.wrench);
}

static inline void random_softness(mdyn_softness *s) {
    s->kind = (mdyn_softness_kind)(random_int(2) * random_int(4));
    s->a = wide(s->kind == MDYN_KP_KD ? random_in(10, 1000) : s->kind == MDYN_OMEGA_ZETA
                ? random_in(10, 100) : random_in(0, 0.5));
    s->b = wide(s->kind == MDYN_KP_KD ? random_in(1, 10) : random_in(0, 1));
}

/* A contact that can press: its rows are felt by the joints. */
static inline void random_hit(mdyn_contact *c) {
    do {
        memset(c, 0, sizeof *c);
        do {
            c->a = (int16_t)random_int(mech.model.body_count);
            c->b = (int16_t)(random_int(mech.model.body_count + 1) - 1);
        } while (c->a == c->b);
        c->point = random_real3(0.3);
        c->point.x = real(of_real(c->point.x) + (double)t.o[c->a][0]);
        c->point.y = real(of_real(c->point.y) + (double)t.o[c->a][1]);
        c->point.z = real(of_real(c->point.z) + (double)t.o[c->a][2]);
        c->normal = random_real3(2);
        c->depth = real(random_in(-0.002, 0.01));
        c->mu = wide(random_in(0, 0.4));
        random_softness(&c->softness);
        dense.rows = 0;
        dense_hit(c, 0);
        t_row_products(&dense, t.dofs);
    } while (dense.A[0][0] < 1e-3L || dense.A[1][1] < 1e-3L || dense.A[2][2] < 1e-3L);
}

static inline void random_contact(mdyn_contact *c, int b) {
    memset(c, 0, sizeof *c);
    c->a = (int16_t)random_int(mech.model.body_count);
    c->b = (int16_t)b;
    c->point = random_real3(1);
    c->normal = random_real3(1);
    c->mu = wide(random_in(0, 1));
}

#endif
