/* Rows on bodies: closures, own rows, contacts. One step against the dense solution of
   truth_step.h, conservation laws, closed forms, and what is refused. */
#define MIMICDYN_MAX_BODIES 10
#define MIMICDYN_MAX_DOFS 60
#define MIMICDYN_MAX_COUPLINGS 4
#define MIMICDYN_MAX_BODY_ROWS 16
#define MIMICDYN_MAX_CONTACTS 40
#define MIMICDYN_MAX_DANTZIG 60
#define MIMICDYN_MAX_ENTRIES 8000
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include "truth.h"
#include "truth_step.h"

enum { OWN = MIMICDYN_MAX_BODY_ROWS, HITS = 3 };

/* What the checks of rows allow, as parts of the motion: some three times the worst of -s 1, 2
   and 3. */
/*                         F64    F32  FIXED */
TOLERANCE(OWN_ROWS,      1e-12,  5e-4,  2e-4);
TOLERANCE(CLOSURES,      2e-12,  3e-3,  1e-3);
TOLERANCE(CONTACTS,      1e-13,  1e-4,  1e-4);
TOLERANCE(ROW_IMPULSES,  3e-12,  2e-3,  8e-5);
TOLERANCE(ROW_ERROR,     2e-14,  4e-6,  1e-7);
TOLERANCE(ONE_SWEEP,     3e-13,  3e-4,  1e-5);
TOLERANCE(RELAXED,       2e-13,  4e-5,  3e-6);
TOLERANCE(RELAXED_PLACE, 7e-14,  4e-5,  4e-6);
TOLERANCE(LOOP_TURNS,    1e-11,  1e-4,  5e-5);

static mdyn_sim sim;
static mechanism mech;
static truth t;
static truth_step dense;
static mdyn_body_row own[OWN];
static mdyn_closure closure[4];
static mdyn_contact hit[HITS];
static int hits;
static int refused, unsolved; /* steps: see step_goes */
static int edges, firm_steps, loose_steps; /* see compare_reports */
static int hard_idle, hopeless; /* of the last dense_rows; of those that ask for a speed */
static int idle_rows, against, doubtful, jammed; /* see dense_rows, step_compares */
static const ld IDLE = 1e-12L; /* J M^-1 J' of a row that is 0 but for rounding */

/* A tree that can move. */
static void draw_mechanism(int bodies, int dofs, int kind) {
    int speeds;
    do {
        mechanism_random(&mech, bodies, dofs, kind);
        speeds = 0;
        for (int i = 0; i < bodies; i++) {
            speeds += t_dofs_of(mech.body[i].joint);
        }
    } while (speeds < 2);
}

static void start(void) {
    mech.model.rows = own;
    mech.model.closures = closure;
    CHECK(mdyn_init(&sim, &mech.model) >= 0);
}

static void look(void) {
    truth_init(&t, &mech.model);
    truth_copy(&t, &sim);
    truth_update(&t, &mech.model);
}

/* ---- rows, densely ---- */

/* J += angular . omega + linear . velocity of the origin of a body */
static void add_wrench(truth_row *r, int body, const ld angular[3], const ld linear[3]) {
    for (int k = 0; body >= 0 && k < t.dofs; k++) {
        r->J[k] += t_dot(angular, t.Jw[body][k]) + t_dot(linear, t.Jo[body][k]);
    }
}

/* Unit force along n at the points of two bodies, in world axes from their origins; or a unit
   moment (arms NULL): on a, and the opposite on b. */
static void add_pair(truth_row *r, int a, int b, ld arm[2][3], const ld n[3]) {
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

static void soften(truth_row *r, const mdyn_softness *s, ld dt, ld *erp) {
    ld a = (ld)of_wide(s->a), b = (ld)of_wide(s->b);
    *erp = 0.2L;
    if (s->kind == MDYN_ERP_CFM) {
        *erp = a;
        r->cfm = b;
    } else if (s->kind == MDYN_KP_KD) {
        t_spring(a, b, dt, erp, &r->cfm);
    } else if (s->kind == MDYN_OMEGA_ZETA && a > 0) {
        ld inertia = fmaxl(t_row_inertia(&dense, &t, r), IDLE);
        t_spring(a * a / inertia, 2 * a * b / inertia, dt, erp, &r->cfm);
    }
}

/* Friction: no more impulse than mu times what `report` says of the row that it follows. */
static void follow(truth_row *r, int leader, mdyn_wide mu) {
    mdyn_row_report n;
    CHECK_EQUAL(mdyn_row(&sim, r->kind, leader, &n), MDYN_OK);
    r->mu = (ld)of_wide(mu);
    r->most = fabsl(r->mu * (ld)of_wide(n.impulse));
    r->least = -r->most;
    r->leader = dense.rows - 1;
    while (dense.row[r->leader].kind != r->kind || dense.row[r->leader].index != leader) {
        r->leader--;
    }
}

/* The own rows; friction with the bounds that `report` says. */
static void dense_own_rows(void) {
    ld dt = (ld)of_wide(mech.model.dt), erp;
    for (int i = 0; i < mech.model.row_count; i++) {
        const mdyn_body_row *o = &own[i];
        truth_row *r = t_add_row(&dense, MDYN_ROW_BODY, i);
        ld lower = (ld)of_wide(o->lower), upper = (ld)of_wide(o->upper), C = (ld)of_wide(o->value);
        for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
            const mdyn_part *p = &o->parts[k];
            ld ang[3], lin[3];
            t_wide3(ang, &p->angular);
            t_wide3(lin, &p->linear);
            if (p->body < 0) {
                continue;
            }
            if (p->axes == MDYN_JOINT_SPEEDS) {
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
            r->low = r->high = (ld)of_wide(o->speed);
        } else if (lower < upper) {
            t_range(r, C, lower, upper, erp, dt);
        } else {
            r->error = C - lower;
            r->low = r->high = (ld)of_wide(o->speed) - erp * r->error / dt;
        }
        if (of_wide(o->friction) > 0) {
            follow(r, o->normal, o->friction);
        } else if (of_wide(o->least) != 0 || of_wide(o->most) != 0) {
            r->least = t_unlimited((ld)of_wide(o->least)) ? -HUGE_VALL : dt * (ld)of_wide(o->least);
            r->most = t_unlimited((ld)of_wide(o->most)) ? HUGE_VALL : dt * (ld)of_wide(o->most);
        }
    }
}

/* Arms of a closure's points, and the gap between them. */
static void dense_loop(const mdyn_closure *c, ld arm[2][3], ld gap[3]) {
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
static void dense_closure_row(const mdyn_closure *c, int k, ld arm[2][3], const ld n[3], ld C) {
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

static void unit(ld x[3]) {
    ld length = sqrtl(t_dot(x, x));
    for (int k = 0; k < 3; k++) {
        x[k] /= length;
    }
}

/* Two directions across the unit vector n, as hinges and contacts take them: the axis of
   coordinates that is farthest from it, made orthogonal to it, and n x that. */
static void across(const ld n[3], ld x[3], ld y[3]) {
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
static void turned(ld r[3], int body, const ld x[3]) {
    if (body >= 0) {
        t_turn(r, t.R[body], x);
        return;
    }
    for (int k = 0; k < 3; k++) {
        r[k] = x[k];
    }
}

static void turned_back(ld r[3], int body, const ld x[3]) {
    ld y[3] = { 0 };
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < 3; j++) {
            y[k] += (body >= 0 ? t.R[body][j][k] : j == k) * x[j];
        }
    }
    memcpy(r, y, sizeof y);
}

/* The turn that is left between the bodies of a weld, as 2 sin(angle/2) along its axis. */
static void weld_turn(const mdyn_closure *c, ld e[3]) {
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

static void dense_closures(void) {
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
            t_cross(lean, b, a);
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
static void dense_hit(const mdyn_contact *c, int i) {
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
static void dense_contacts(void) {
    for (int i = 0; i < hits; i++) {
        dense_hit(&hit[i], i);
        for (int k = 2; k > 0; k--) {
            follow(&dense.row[dense.rows - k], 3 * i, hit[i].friction);
        }
    }
}

/* All rows, in the order in which they are solved; but those in which no joint has a part: they
   move nothing, and hard ones carry no impulse whatever they ask. */
static void dense_rows(void) {
    int moving = 0, now[TR];
    hard_idle = hopeless = 0;
    truth_step_begin(&dense, &t, &mech.model, &sim);
    dense_closures();
    dense_own_rows();
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
        CHECK_EQUAL(mdyn_row(&sim, r->kind, r->index, &got), MDYN_OK);
        CHECK(r->cfm > 0 || (got.flags & MDYN_ROW_REDUNDANT && of_wide(got.impulse) == 0));
        hard_idle += r->cfm == 0;
        hopeless += r->cfm == 0 && fabsl(r->low) > BY_SCALAR(1e-3L, 1, 1);
        idle_rows++;
    }
    dense.rows = moving;
    t_row_products(&dense, t.dofs);
}

/* The root of twice the energy of speeds. */
static ld length_of(const ld *v) {
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
static ld size_of_motion(void) {
    ld size = fmaxl(length_of(dense.v), length_of(dense.free));
    for (int i = 0; i < dense.rows; i++) {
        size = fmaxl(size, sqrtl(dense.A[i][i]) * fabsl(dense.lambda[i]));
    }
    return size;
}

/* Length of the difference between the speeds of the sim and the dense ones, relative to that. */
static double gap_of_speeds(void) {
    ld gap[TN];
    for (int k = 0; k < t.dofs; k++) {
        gap[k] = (ld)of_real(sim.v[k]) - dense.v[k];
    }
    return (double)(length_of(gap) / size_of_motion());
}

static void get_speeds(ld *v) {
    for (int k = 0; k < t.dofs; k++) {
        v[k] = (ld)of_real(sim.v[k]);
    }
}

/* One step; 0 if rows that (nearly) contradict asked for more than the numbers hold, and it was
   refused, or if pivoting says that it has not solved them. */
static int step_goes(void) {
    look();
    if (hits > 0) {
        CHECK_EQUAL(mdyn_set_contacts(&sim, hit, hits), MDYN_OK);
    }
    int code = mdyn_step(&sim);
    CHECK(code == MDYN_OK || code == MDYN_ERR_OVERFLOW || code > 0);
    CHECK((code > 0) == (code >= 0 && sim.report.unsolved > 0));
    refused += code < 0;
    unsolved += code > 0;
    return code == MDYN_OK;
}

/* Sweeps that end at the solution; what pivoting does not solve is not compared. */
static void solve_well(mdyn_method method) {
    mech.model.solver.method = method;
    mech.model.solver.sweeps = method == MDYN_DANTZIG ? 100 : 20000;
}

/* What is told of the rows against the dense ones; impulses where these are independent. An
   impulse is weighed by the inertia of its row alone. */
static void compare_reports(double allowed) {
    ld size = size_of_motion(), dt = (ld)of_wide(mech.model.dt), part = (ld)allowed * size;
    int firm = truth_step_rank(&dense, 1e-3L) == dense.rows;
    for (int k = 0; k < dense.rows; k++) {
        const truth_row *r = &dense.row[k];
        mdyn_row_report got;
        CHECK_EQUAL(mdyn_row(&sim, r->kind, r->index, &got), MDYN_OK);
        ld length = sqrtl(dense.A[k][k]), total = dense.A[k][k] + r->cfm, missed, w;
        ld lambda = (ld)of_wide(got.impulse), speed = t_row_speed(r, dense.v, t.dofs);
        double force = of_wide(got.force), power = force * of_wide(got.speed);
        CHECK_NEAR(force * (double)dt, (double)lambda, 4 * check_epsilon * fabs((double)lambda));
        CHECK_NEAR(of_wide(got.power), power, 2 * check_epsilon * fabs(power));
        CHECK_NEAR(of_wide(got.error), (double)r->error, ROW_ERROR);
        CHECK_NEAR((double)(((ld)of_wide(got.speed) - speed) / (length * size)), 0, allowed);
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
            edges++;
        }
    }
    firm_steps += firm;
    loose_steps += !firm;
}

/* The largest residual that rows tell of, or the sweeps. */
static double largest_residual(void) {
    double worst = of_wide(sim.report.residual);
    for (int k = 0; k < dense.rows; k++) {
        mdyn_row_report got;
        CHECK_EQUAL(mdyn_row(&sim, dense.row[k].kind, dense.row[k].index, &got), MDYN_OK);
        worst = worse(worst, fabs(of_wide(got.residual)));
    }
    return worst;
}

/* One step of the sim against the dense one; 0 if there is nothing to compare: see step_goes; or
   rows contradict each other, or are so near to it that rounding says which; or friction jams, and
   sweeps do not end. */
static int step_compares(double allowed, double *worst) {
    if (!step_goes()) {
        return 0;
    }
    dense_rows();
    if (truth_step_rank(&dense, 1e-6L) != truth_step_rank(&dense, 1e-12L)) {
        doubtful++;
        return 0;
    }
    truth_step_solve(&dense, t.dofs);
    if (dense.violation > 1e-9L) {
        CHECK(largest_residual() > 1e-5);
        against++;
        return 0;
    }
    if (of_wide(sim.report.residual) > BY_SCALAR(1e-12, 1e-5, 1e-5)) {
        jammed++;
        return 0;
    }
    double error = gap_of_speeds();
    CHECK_NEAR(error, 0.0, allowed);
    *worst = worse(*worst, error);
    compare_reports(allowed);
    return 1;
}

/* ---- own rows ---- */

static void random_parts(mdyn_body_row *r) {
    int parts = 1 + random_int(3);
    for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        mdyn_part *p = &r->parts[k];
        p->body = (int16_t)(k < parts ? random_int(mech.model.body_count + 1) - 1 : MDYN_WORLD);
        p->axes = (mdyn_axes)random_int(3);
        p->angular = random_vector(1);
        p->linear = random_vector(1);
    }
    r->parts[0].body = (int16_t)random_int(mech.model.body_count);
    while (t_dofs_of(mech.body[r->parts[0].body].joint) == 0) {
        r->parts[0].body = (int16_t)random_int(mech.model.body_count);
    }
}

static void random_own_row(mdyn_body_row *r, int kind) {
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
        r->speed = wide(random_in(-1, 1));
        r->least = random_int(2) ? wide(random_in(-20, 0)) : wide(-1e12);
        r->most = random_int(2) ? wide(random_in(0, 20)) : MDYN_UNLIMITED;
    } else if (kind == 5) { /* a range */
        r->lower = wide(random_in(-0.01, 0));
        r->upper = random_int(2) ? MDYN_UNLIMITED : wide(random_in(0, 0.01));
    }
}

/* Counts of what was and was not compared, from here on. */
static void count_from_zero(void) {
    refused = unsolved = edges = firm_steps = loose_steps = 0;
    idle_rows = against = doubtful = jammed = 0;
}

static void tell_counts(const char *what, double worst, int compared) {
    if (check.measure) {
        printf("%s: worst %.2g in %d; %d refused, %d unsolved, %d contradict, %d nearly, %d jam; "
               "independent in %d, not in %d; rows: %d idle, %d at the edge of a bound\n", what,
               worst, compared, refused, unsolved, against, doubtful, jammed, firm_steps,
               loose_steps, idle_rows, edges);
    }
}

/* Rows of every kind on random trees; a friction row after a bounded one. */
static void own_rows_against_dense(mdyn_method method) {
    double worst = 0;
    int compared = 0;
    count_from_zero();
    for (int n = 0; n < 300; n++) {
        random_seed(100 + (uint64_t)n);
        draw_mechanism(2 + random_int(6), 20, n % 2 ? FOREST : FLOATING);
        mech.model.row_count = 1 + random_int(4);
        for (int i = 0; i < mech.model.row_count; i++) {
            random_own_row(&own[i], i == 0 && n % 3 == 0 ? 3 : random_int(6));
        }
        if (n % 3 == 0 && mech.model.row_count < 5) {
            mdyn_body_row *r = &own[mech.model.row_count++];
            random_own_row(r, 3);
            r->friction = wide(random_in(0.1, 1));
            r->speed = wide(0);
        }
        solve_well(method);
        start();
        sim_random(&sim, &mech.model, 2, 5);
        compared += step_compares(OWN_ROWS, &worst);
    }
    CHECK(compared >= 297 && unsolved <= 1);
    tell_counts("own rows", worst, compared);
}

/* ---- closures ---- */

/* The turn of a seen from b, now; and off by as much. */
static mdyn_wide4 present_turn(int a, int b, double off) {
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
static void random_closure(mdyn_closure *c, mdyn_closure_kind kind, double off) {
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

/* Where the sim was, after a start with more rows. */
static void start_again(const mdyn_sim *kept) {
    start();
    memcpy(sim.q, kept->q, sizeof sim.q);
    memcpy(sim.v, kept->v, sizeof sim.v);
    memcpy(sim.tau, kept->tau, sizeof sim.tau);
    memcpy(sim.wrench, kept->wrench, sizeof sim.wrench);
}

static void random_softness(mdyn_softness *s) {
    s->kind = (mdyn_softness_kind)(random_int(2) * random_int(4));
    s->a = wide(s->kind == MDYN_KP_KD ? random_in(10, 1000) : s->kind == MDYN_OMEGA_ZETA
                ? random_in(10, 100) : random_in(0, 0.5));
    s->b = wide(s->kind == MDYN_KP_KD ? random_in(1, 10) : random_in(0, 1));
}

/* Closures of every kind, on trees of both, hard, soft or with a bound; few nearly decide each
   other (see the header). Which do is told by the dense rows alone. */
static void closures_against_dense(mdyn_method method) {
    double worst = 0;
    int compared = 0, redundant = 0;
    count_from_zero();
    for (int n = 0; n < 200; n++) {
        random_seed(700 + (uint64_t)n);
        draw_mechanism(4 + random_int(4), 30, random_int(2) ? FOREST : FLOATING);
        solve_well(method);
        mech.model.row_count = mech.model.closure_count = 0;
        start();
        sim_random(&sim, &mech.model, 2, 5);
        look();
        mdyn_sim kept = sim;
        mech.model.closure_count = 1 + (random_int(3) == 0);
        memset(closure, 0, sizeof closure);
        for (int i = 0; i < mech.model.closure_count; i++) {
            mdyn_closure *c = &closure[i];
            random_closure(c, i ? MDYN_CLOSE_DISTANCE : (mdyn_closure_kind)random_int(4), 0.01);
            random_softness(&c->softness);
            if (c->kind == MDYN_CLOSE_WELD && random_int(2)) { /* far off */
                c->rotation.x = wide(random_in(-1, 1));
                c->rotation.z = wide(random_in(-1, 1));
                c->softness.kind = MDYN_ERP_CFM;
                c->softness.a = wide(0.005);
            }
            if (random_int(3) == 0) {
                c->effort = wide(random_in(1, 50));
            }
        }
        mdyn_closure *twin = &closure[1];
        if (random_int(4) == 0 && closure[0].kind != MDYN_CLOSE_DISTANCE) { /* the same points */
            memset(&closure[0].softness, 0, sizeof closure[0].softness);
            *twin = closure[0];
            twin->kind = MDYN_CLOSE_POINT;
            mech.model.closure_count = 2;
        }
        start_again(&kept);
        if (!step_compares(CLOSURES, &worst)) {
            continue;
        }
        compared++;
        if (of_wide(closure[0].effort) == 0 && of_wide(twin->effort) == 0) {
            int decided = hard_idle + dense.rows - truth_step_rank(&dense, 1e-6L);
            CHECK_EQUAL(sim.report.redundant, decided);
            CHECK(sim.report.contradictory >= hopeless && sim.report.contradictory <= hard_idle);
            redundant += decided;
        }
    }
    CHECK(redundant >= 40);
    CHECK(compared >= 166 && doubtful <= 6 && unsolved + refused + jammed == 0);
    tell_counts("closures", worst, compared);
}

/* ---- contacts ---- */

/* A contact that can press: its rows are felt by the joints. */
static void random_hit(mdyn_contact *c) {
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
        c->friction = wide(random_in(0, 0.4));
        random_softness(&c->softness);
        dense.rows = 0;
        dense_hit(c, 0);
        t_row_products(&dense, t.dofs);
    } while (dense.A[0][0] < 1e-3L || dense.A[1][1] < 1e-3L || dense.A[2][2] < 1e-3L);
}

/* Contacts with friction on trees, with a closure or an own row. */
static void contacts_against_dense(mdyn_method method) {
    double worst = 0;
    int compared = 0;
    count_from_zero();
    for (int n = 0; n < 120; n++) {
        random_seed(1500 + (uint64_t)n);
        draw_mechanism(3 + random_int(4), 20, random_int(2) ? FOREST : FLOATING);
        solve_well(method);
        mech.model.row_count = mech.model.closure_count = 0;
        start();
        sim_random(&sim, &mech.model, 2, 5);
        look();
        truth_step_begin(&dense, &t, &mech.model, &sim);
        hits = 1 + random_int(2);
        for (int i = 0; i < hits; i++) {
            random_hit(&hit[i]);
        }
        mdyn_sim kept = sim;
        mech.model.row_count = random_int(2);
        random_own_row(&own[0], random_int(6));
        mech.model.closure_count = random_int(2);
        random_closure(&closure[0], (mdyn_closure_kind)random_int(4), 0.01);
        closure[0].softness.kind = MDYN_KP_KD;
        closure[0].softness.a = wide(500);
        closure[0].softness.b = wide(5);
        start_again(&kept);
        compared += step_compares(CONTACTS, &worst);
    }
    hits = 0;
    CHECK(compared >= 108 && unsolved <= 12);
    tell_counts("contacts", worst, compared);
}

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

/* One sweep over rows of all kinds, from impulses of zero: the order in which they are solved, and
   what each sees of those before it. */
static void order_of_rows(void) {
    double worst = 0;
    int kinds[MDYN_ROW_CONTACT + 1] = { 0 };
    for (int n = 0; n < 100; n++) {
        random_seed(2500 + (uint64_t)n);
        draw_mechanism(4 + random_int(4), 25, random_int(2) ? FOREST : FLOATING);
        rows_of_joints();
        mech.model.solver.sweeps = 1;
        mech.model.solver.start = MDYN_COLD;
        mech.model.solver.equality = MDYN_ITERATED;
        mech.model.solver.relaxation = wide(n % 2 ? 1.3 : 1);
        mech.model.row_count = mech.model.closure_count = 0;
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
        mech.model.row_count = 2;
        random_own_row(&own[0], random_int(6));
        random_own_row(&own[1], 3);
        own[1].friction = wide(random_int(2) ? 0.5 : 0);
        start_again(&kept);
        CHECK(step_goes());
        CHECK_EQUAL(sim.report.sweeps, 1);
        dense_rows();
        truth_step_sweep(&dense, t.dofs, (ld)of_wide(mech.model.solver.relaxation));
        CHECK_NEAR(gap_of_speeds(), 0.0, ONE_SWEEP);
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
    double worst = 0;
    int compared = 0;
    count_from_zero();
    for (int n = 0; n < 50; n++) {
        random_seed(500 + (uint64_t)n);
        draw_mechanism(4, 20, FLOATING);
        solve_well(method);
        mech.model.solver.friction = MDYN_TWO_STAGE;
        mech.model.row_count = 2;
        random_own_row(&own[0], 5);
        random_own_row(&own[1], 3);
        own[1].friction = wide(0.5);
        start();
        sim_random(&sim, &mech.model, 2, 5);
        look();
        truth_step_begin(&dense, &t, &mech.model, &sim);
        hits = n % 2;
        random_hit(&hit[0]);
        if (!step_goes()) {
            continue;
        }
        dense_rows();
        for (int stage = 0; stage < 2; stage++) {
            bound_friction(stage);
            truth_step_solve(&dense, t.dofs);
        }
        worst = worse(worst, gap_of_speeds());
        CHECK_NEAR(gap_of_speeds(), 0.0, BY_SCALAR(5e-13, 3e-4, 5e-5));
        compared++;
    }
    hits = 0;
    CHECK_EQUAL(compared, 50);
    tell_counts("two stages", worst, compared);
}

/* Limits of one-speed joints, and couplings between them that share them: hard, soft, a range. Some
   are off. */
static void tied_limits(void) {
    int joint[MIMICDYN_MAX_BODIES], joints = 0;
    truth_init(&t, &mech.model);
    for (int i = 0; i < mech.model.body_count && joints < 5; i++) {
        if (t.dofs_of[i] == 1) {
            joint[joints++] = i;
        }
    }
    for (int i = 0; i < joints; i++) {
        mech.body[joint[i]].lower = wide(-0.5);
        mech.body[joint[i]].upper = wide(0.5);
    }
    for (int i = 0; i + 1 < joints && i < MIMICDYN_MAX_COUPLINGS; i++) {
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
    double worst = 0;
    int compared = 0, late = 0;
    count_from_zero();
    for (int n = 0; n < 80; n++) {
        int engaged = n % 2, solved = 1;
        ld lambda[TR];
        random_seed(6000 + (uint64_t)n);
        draw_mechanism(4 + random_int(4), 20, random_int(2) ? FOREST : FLOATING);
        tied_limits();
        solve_well(method);
        mech.model.solver.correction = MDYN_RELAX;
        mech.model.solver.limits = engaged ? MDYN_ENGAGED : MDYN_SPECULATIVE;
        mech.model.row_count = mech.model.closure_count = 0;
        start();
        sim_random(&sim, &mech.model, 2, 5);
        off_a_little();
        if (!step_goes() || of_wide(sim.report.residual) > BY_SCALAR(1e-12, 1e-5, 1e-5)) {
            continue;
        }
        dense_rows();
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
        compared++;
        if (pushes_late(lambda)) {
            late++;
        } else {
            CHECK_NEAR(gap_of_speeds(), 0.0, RELAXED);
            worst = worse(worst, gap_of_speeds());
        }
        for (int i = 0; i < t.coordinates; i++) {
            CHECK_NEAR(of_real(sim.q[i]), (double)t.q[i], RELAXED_PLACE);
        }
    }
    CHECK(compared >= 78 && unsolved <= 2 && late <= 6);
    tell_counts("relaxed", worst, compared);
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
    mech.model.solver.sweeps = (uint16_t)(1 + n % 7); /* a law of every sweep */
    mech.model.solver.friction = (mdyn_friction)(n % 3);
    mech.model.row_count = mech.model.closure_count = 0;
}

static void random_contact(mdyn_contact *c, int b) {
    memset(c, 0, sizeof *c);
    c->a = (int16_t)random_int(mech.model.body_count);
    c->b = (int16_t)b;
    c->point = random_real3(1);
    c->normal = random_real3(1);
    c->friction = wide(random_in(0, 1));
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
        mech.model.row_count = 1;
        random_own_row(&own[0], n % 6); /* equal and opposite at one point, and a moment */
        for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
            own[0].parts[k].body = MDYN_WORLD;
        }
        mdyn_real3 at = random_real3(1);
        mdyn_wide3 f = random_vector(1), m = random_vector(1);
        for (int side = 0; side < 2; side++) {
            mdyn_part *part = &own[0].parts[side];
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
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        get_speeds(v);
        momentum(before, p0, l0);
        momentum(v, p1, l1);
        for (int k = 0; k < t.dofs; k++) {
            size = fmaxl(size, sqrtl(t.M[k][k]) * fabsl(v[k]));
        }
        for (int k = 0; k < 6 + 1 + 9; k++) { /* what was given and taken */
            mdyn_row_report r;
            if (k < 6 && mdyn_row(&sim, MDYN_ROW_CLOSURE, k, &r) != MDYN_OK) {
                continue;
            }
            if (k >= 6) {
                CHECK_EQUAL(mdyn_row(&sim, k == 6 ? MDYN_ROW_BODY : MDYN_ROW_CONTACT,
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

/* Slides, on each other, and balls that turn about their centre: M is constant, and without load
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

/* Rows that want nothing to move faster do not add energy, after any number of sweeps; those that
   are off, and relax, neither. Substeps are asked of what has a constant M, so that each part of a
   step may only take. */
static void energy_is_never_gained(mdyn_method method, int most_unsolved) {
    int lost = 0;
    count_from_zero();
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
        mech.model.row_count = mech.model.closure_count = 0;
        mech.model.solver.sweeps = (uint16_t)(1 + n % 9);
        mech.model.solver.start = MDYN_COLD;
        mech.model.solver.method = method;
        mech.model.solver.substeps = (uint16_t)(parts ? 2 + n % 7 : 1);
        mech.model.solver.friction = (mdyn_friction)random_int(3);
        if (method == MDYN_DANTZIG && mech.model.solver.friction == MDYN_CONE) {
            mech.model.solver.friction = MDYN_PYRAMID;
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
        mech.model.row_count = 2;
        for (int i = 0; i < 2; i++) {
            random_own_row(&own[i], random_int(6));
            own[i].speed = wide(0);
            if (!relax || own[i].softness.kind != MDYN_DEFAULT) {
                own[i].value = wide(0); /* a spring would give what it has */
            }
        }
        if (random_int(2)) {
            own[1].friction = wide(0.5);
            own[1].lower = own[1].upper = wide(0);
        }
        start_again(&kept);
        for (int k = 0; k < 4; k++) {
            random_contact(&contact[k], MDYN_WORLD);
            contact[k].depth = real(relax ? 0.001 * k : 0);
        }
        CHECK_EQUAL(mdyn_set_contacts(&sim, contact, 4), MDYN_OK);
        int code = mdyn_step(&sim);
        CHECK(code >= 0 && (code != MDYN_OK) == (sim.report.unsolved > 0));
        unsolved += code != MDYN_OK;
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

/* What a sim keeps of closures, own rows, contacts, limits that engage: after mdyn_reset it goes on
   as a new one in that state, to the last bit; without, the sweeps begin elsewhere. */
static void reset_forgets(void) {
    static mdyn_sim fresh, warm;
    int differs = 0;
    for (int n = 0; n < 40; n++) {
        mdyn_contact contact[3];
        random_seed(7000 + (uint64_t)n);
        draw_mechanism(4 + random_int(3), 25, n % 2 ? FOREST : FLOATING);
        mech.model.closure_count = mech.model.row_count = 0;
        start();
        sim_random(&sim, &mech.model, 1, 2);
        look();
        mdyn_sim kept = sim;
        mech.model.closure_count = 1;
        random_closure(&closure[0], (mdyn_closure_kind)(n % 4), 0.001);
        closure[0].effort = wide(5);
        mech.model.row_count = 2;
        random_own_row(&own[0], 3);
        random_own_row(&own[1], 5);
        mech.model.solver.sweeps = 5;
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
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        }
        warm = sim;
        CHECK_EQUAL(mdyn_reset(&sim), MDYN_OK);
        CHECK(mdyn_init(&fresh, &mech.model) >= 0);
        memcpy(fresh.q, sim.q, sizeof fresh.q);
        memcpy(fresh.v, sim.v, sizeof fresh.v);
        CHECK_EQUAL(mdyn_set_contacts(&sim, contact, 3), MDYN_OK);
        CHECK_EQUAL(mdyn_set_contacts(&warm, contact, 3), MDYN_OK);
        CHECK_EQUAL(mdyn_set_contacts(&fresh, contact, 3), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&warm), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&fresh), MDYN_OK);
        CHECK(memcmp(sim.v, fresh.v, sizeof sim.v) == 0);
        CHECK(memcmp(sim.q, fresh.q, sizeof sim.q) == 0);
        differs += memcmp(sim.v, warm.v, sizeof sim.v) != 0;
    }
    CHECK(differs > 20);
}

/* ---- a planar four-bar in space ---- */

/* Cranks of 0.3 and 0.4 m, 0.45 m apart, a coupler of 0.5 m; turned as a whole by a quaternion. */
static void four_bar(mdyn_closure_kind kind, const double *turn) {
    static const double length[] = { 0.3, 0.5, 0.4 }, mass[] = { 0.6, 1.0, 0.8 };
    memset(&mech, 0, sizeof mech);
    memset(closure, 0, sizeof closure);
    for (int i = 0; i < 3; i++) {
        mdyn_body *b = &mech.body[i];
        b->parent = (int16_t)(i == 1 ? 0 : MDYN_WORLD);
        b->joint = MDYN_REVOLUTE;
        b->axis.y = wide(1);
        b->mass = wide(mass[i]);
        b->com.z = wide(-length[i] / 2);
        b->inertia.xx = b->inertia.yy = wide(mass[i] * length[i] * length[i] / 12);
        b->inertia.zz = wide(1e-4);
    }
    mech.body[1].position.z = wide(-0.3);
    for (int i = 0; i < 3; i += 2) { /* the frame of the roots */
        ld q[4] = { (ld)turn[0], (ld)turn[1], (ld)turn[2], (ld)turn[3] }, R[3][3];
        ld x[3] = { i == 2 ? 0.45L : 0, 0, 0 };
        mech.body[i].rotation.w = wide(turn[0]);
        mech.body[i].rotation.x = wide(turn[1]);
        mech.body[i].rotation.y = wide(turn[2]);
        mech.body[i].rotation.z = wide(turn[3]);
        t_quaternion(R, q);
        t_turn(x, R, x);
        mech.body[i].position.x = wide((double)x[0]);
        mech.body[i].position.y = wide((double)x[1]);
        mech.body[i].position.z = wide((double)x[2]);
        t_turn(x, R, (const ld[3]){ 0, 0, -9.81L });
        mech.model.gravity.x = wide((double)x[0]);
        mech.model.gravity.y = wide((double)x[1]);
        mech.model.gravity.z = wide((double)x[2]);
    }
    closure[0].kind = kind;
    closure[0].a = 1;
    closure[0].b = 2;
    closure[0].point_a.z = wide(-0.5);
    closure[0].point_b.z = wide(-0.4);
    closure[0].axis_a.y = closure[0].axis_b.y = wide(1);
    closure[0].distance = wide(0.05);
    closure[0].rotation.w = wide(cos(0.5321 / 2)); /* of the coupler against the rocker, now */
    closure[0].rotation.y = wide(-sin(0.5321 / 2));
    mech.model.bodies = mech.body;
    mech.model.body_count = 3;
    mech.model.dt = wide(0x1p-10);
    mech.model.closure_count = 1;
    start();
    sim.q[0] = real(-1.0);
    sim.q[1] = real(-0.3403014857573752);
    sim.q[2] = real(-0.8082002360264687);
}

static double loop_gap(void) {
    ld arm[2][3], gap[3];
    look();
    dense_loop(&closure[0], arm, gap);
    return (double)sqrtl(t_dot(gap, gap));
}

/* Of the 5 rows of a hinge 3 hold anyway, of the 3 of a point one: dropped and said so, in any
   attitude, and with the motion of the rows that are needed. */
static void redundant_rows(void) {
    static const double turns[2][4] = { { 1, 0, 0, 0 }, { 0.5, 0.3, -0.7, 0.2 } };
    double q[3][3];
    for (int i = 0; i < 4; i++) {
        int hinge = i % 2;
        mdyn_wide kin, pot, first;
        four_bar(hinge ? MDYN_CLOSE_HINGE : MDYN_CLOSE_POINT, turns[i / 2]);
        CHECK_EQUAL(mdyn_energy(&sim, &kin, &first), MDYN_OK);
        for (int n = 0; n < 500; n++) {
            mdyn_row_report r;
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            CHECK_EQUAL(sim.report.contradictory, 0);
            if (i < 2) { /* else the rows along the axes of the world are all mixed */
                CHECK_EQUAL(sim.report.redundant, hinge ? 3 : 1);
                CHECK_EQUAL(mdyn_row(&sim, MDYN_ROW_CLOSURE, 1, &r), MDYN_OK);
                CHECK_EQUAL(r.flags, MDYN_ROW_REDUNDANT);
                CHECK_EQUAL(mdyn_row(&sim, MDYN_ROW_CLOSURE, 0, &r), MDYN_OK);
                CHECK_EQUAL(r.flags, 0);
                CHECK_NEAR(of_wide(r.residual), 0.0, BY_SCALAR(1e-14, 5e-6, 7e-8));
            } else {
                CHECK_EQUAL(sim.report.redundant, hinge ? 3 : 1);
            }
        }
        CHECK_NEAR(loop_gap(), 0.0, 1e-4); /* of the step, 1 ms */
        CHECK_EQUAL(mdyn_energy(&sim, &kin, &pot), MDYN_OK);
        CHECK_NEAR(of_wide(kin) + of_wide(pot) - of_wide(first), 0.0, 0.05); /* likewise */
        for (int k = 0; k < 3; k++) {
            q[i / 2][k] = of_real(sim.q[k]);
            if (i > 0) {
                CHECK_NEAR(q[i / 2][k], q[0][k], BY_SCALAR(3e-14, 3e-5, 7e-7));
            }
        }
    }
}

/* From far off, the loop is closed and its speeds fit; where it cannot be, it says so. */
static void projected_loops(void) {
    static const double straight[4] = { 1, 0, 0, 0 };
    for (int kind = MDYN_CLOSE_POINT; kind <= MDYN_CLOSE_DISTANCE; kind++) {
        for (int n = 0; n < 20; n++) {
            mdyn_row_report r;
            ld turn[3];
            random_seed(4000 + (uint64_t)n);
            four_bar((mdyn_closure_kind)kind, straight);
            sim.q[0] = real(-1 + random_in(-0.4, 0.4));
            sim.q[1] = real(-0.34 + random_in(-0.4, 0.4));
            sim.q[2] = real(-0.8 + random_in(-0.4, 0.4));
            sim.v[0] = real(1);
            CHECK_EQUAL(mdyn_project(&sim, MDYN_MASS_METRIC), MDYN_OK);
            look();
            weld_turn(&closure[0], turn);
            for (int k = 0; k < 3 && kind == MDYN_CLOSE_WELD; k++) { /* the angle is given too */
                CHECK_NEAR((double)turn[k], 0.0, BY_SCALAR(3e-15, 1e-6, 5e-8));
                CHECK_NEAR(of_real(sim.v[k]), 0.0, BY_SCALAR(6e-15, 4e-6, 5e-8));
            }
            CHECK_NEAR(loop_gap(), kind == MDYN_CLOSE_DISTANCE ? 0.05 : 0.0,
                       BY_SCALAR(3e-15, 1e-6, 5e-8));
            mech.model.gravity.x = mech.model.gravity.z = wide(0);
            ld before[TN];
            get_speeds(before);
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK); /* speeds that fit need no impulse but J' v */
            CHECK_EQUAL(mdyn_row(&sim, MDYN_ROW_CLOSURE, 0, &r), MDYN_OK);
            for (int k = 0; k < 3; k++) {
                CHECK_NEAR(of_real(sim.v[k]), (double)before[k], 0.02);
            }
        }
    }
    four_bar(MDYN_CLOSE_POINT, straight);
    closure[0].point_b.z = wide(-3); /* no way to reach */
    start();
    CHECK_EQUAL(mdyn_project(&sim, MDYN_MASS_METRIC), MDYN_WARN_CONTRADICTION);
}

/* Accelerations of a body when its joints have a: angular, and of the point at `arm`; velocities
   beside them. The largest number among them goes into size. */
typedef struct kinematics {
    ld w[3], u[3], alpha[3], acc[3];
} kinematics;

static kinematics accelerated(int body, const mdyn_wide *a, const ld arm[3], ld *size) {
    kinematics r = { { 0 }, { 0 }, { 0 }, { 0 } };
    ld spin[3];
    if (body < 0) {
        return r;
    }
    for (int j = 0; j < 3; j++) {
        r.w[j] = t.w[body][j];
        r.u[j] = t.u[body][j];
        r.alpha[j] = t.alpha[body][j];
        r.acc[j] = t.a[body][j];
        for (int k = 0; k < t.dofs; k++) {
            ld linear = t.Jo[body][k][j] * (ld)of_wide(a[k]);
            ld angular = t.Jw[body][k][j] * (ld)of_wide(a[k]);
            r.acc[j] += linear;
            r.alpha[j] += angular;
            *size = fmaxl(*size, fmaxl(fabsl(linear), fabsl(angular)));
        }
    }
    t_cross(spin, r.w, arm);
    t_cross_add(r.u, r.w, arm);
    t_cross_add(r.acc, r.alpha, arm);
    t_cross_add(r.acc, r.w, spin);
    for (int j = 0; j < 3; j++) {
        *size = fmaxl(*size, fabsl(r.acc[j]));
    }
    return r;
}

/* The second derivative of a unit vector that turns with a body. */
static void axis_acceleration(int body, const mdyn_wide3 *axis, const kinematics *k, ld r[3]) {
    ld x[3], rate[3];
    t_wide3(x, axis);
    unit(x);
    turned(x, body, x);
    t_cross(rate, k->w, x);
    t_cross(r, k->alpha, x);
    t_cross_add(r, k->w, rate);
}

/* What a closure keeps at 0 stays there: its second derivatives, as parts of what they consist of
   or of 1 (m/s^2, rad/s^2), by truth.h. */
static void check_loop_acceleration(const mdyn_closure *c, const mdyn_wide *a) {
    ld arm[2][3], gap[3], acc[3], u[3], axis[2][3] = { { 0 } }, size = 1;
    dense_loop(c, arm, gap);
    kinematics k[2] = { accelerated(c->a, a, arm[0], &size), accelerated(c->b, a, arm[1], &size) };
    for (int j = 0; j < 3; j++) {
        acc[j] = k[0].acc[j] - k[1].acc[j];
        u[j] = k[0].u[j] - k[1].u[j];
    }
    if (c->kind == MDYN_CLOSE_DISTANCE) { /* |d|'' = 0 */
        ld d = sqrtl(t_dot(gap, gap)), along = t_dot(u, gap) / d;
        ld side = t_dot(u, u) - along * along;
        CHECK_NEAR((double)((t_dot(acc, gap) / d + side / d) / size), 0.0,
                   BY_SCALAR(1e-13, 5e-6, 2e-7));
        return;
    }
    axis_acceleration(c->a, &c->axis_a, &k[0], axis[0]);
    axis_acceleration(c->b, &c->axis_b, &k[1], axis[1]);
    for (int j = 0; j < 3; j++) {
        CHECK_NEAR((double)(acc[j] / size), 0.0, BY_SCALAR(5e-11, 5e-4, 2e-3));
        if (c->kind == MDYN_CLOSE_HINGE) {
            CHECK_NEAR((double)((axis[0][j] - axis[1][j]) / size), 0.0, LOOP_TURNS);
        } else if (c->kind == MDYN_CLOSE_WELD) {
            CHECK_NEAR((double)((k[0].alpha[j] - k[1].alpha[j]) / size), 0.0, LOOP_TURNS);
        }
    }
}

/* J a + J' v = 0. A row that the others nearly decide is left to them, and so off by the part that
   counts as nothing. */
static void accelerations_of_loops(void) {
    int done[4] = { 0 };
    for (int n = 0; n < 160; n++) {
        mdyn_wide a[TN];
        random_seed(5000 + (uint64_t)n);
        draw_mechanism(4 + random_int(4), 30, FLOATING);
        mech.model.row_count = mech.model.closure_count = 0;
        start();
        sim_random(&sim, &mech.model, 2, 5);
        look();
        mdyn_sim kept = sim;
        mech.model.closure_count = 1;
        random_closure(&closure[0], (mdyn_closure_kind)(n % 4), 0);
        start_again(&kept);
        memset(sim.wrench, 0, sizeof sim.wrench);
        if (mdyn_project(&sim, MDYN_MASS_METRIC) != MDYN_OK) {
            continue; /* joints that cannot be held together like that */
        }
        CHECK_EQUAL(mdyn_coupled_dynamics(&sim, a), MDYN_OK);
        look();
        check_loop_acceleration(&closure[0], a);
        done[n % 4]++;
    }
    for (int kind = 0; kind < 4; kind++) {
        CHECK(done[kind] >= 38);
    }
    if (check.measure) {
        printf("accelerations of %d points, %d hinges, %d welds, %d distances\n", done[0], done[1],
               done[2], done[3]);
    }
}

/* ---- contacts ---- */

enum { CORNERS = 4 };

/* `boxes` free boxes of mass 1, 2, ... and half sizes 0.1, 0.1, 0.05 on each other. */
static void boxes(int count, mdyn_friction law) {
    memset(&mech, 0, sizeof mech);
    for (int i = 0; i < count; i++) {
        mech.body[i] = free_box(1 + i);
    }
    mech.model.bodies = mech.body;
    mech.model.body_count = count;
    mech.model.gravity.z = wide(-9.81);
    mech.model.dt = wide(0x1p-10);
    mech.model.solver.friction = law;
    mech.model.solver.sweeps = 1000;
    start();
    for (int i = 0; i < count; i++) {
        sim.q[7 * i + 2] = real(0.05 + 0.1 * i);
    }
}

static int key_shift; /* in units of the keys of a box */

/* The corners of each box against the top of what is below it; in any order. */
static void touch(int count, double friction, int backwards) {
    mdyn_contact c[MIMICDYN_MAX_CONTACTS];
    memset(c, 0, sizeof c);
    for (int n = 0; n < CORNERS * count; n++) {
        mdyn_contact *to = &c[backwards ? CORNERS * count - 1 - n : n];
        int i = n / CORNERS, corner = n % CORNERS;
        mdyn_real3 at, w, u, p;
        mdyn_real4 turn;
        memset(&at, 0, sizeof at);
        CHECK_EQUAL(mdyn_pose(&sim, i, &p, &turn), MDYN_OK);
        ld q[4] = { (ld)of_real(turn.w), (ld)of_real(turn.x), (ld)of_real(turn.y),
                    (ld)of_real(turn.z) }, R[3][3];
        ld x[3] = { corner & 1 ? 0.1L : -0.1L, corner & 2 ? 0.1L : -0.1L, -0.05L };
        t_quaternion(R, q);
        t_turn(x, R, x);
        at.x = real(of_real(p.x) + (double)x[0]);
        at.y = real(of_real(p.y) + (double)x[1]);
        at.z = real(of_real(p.z) + (double)x[2]);
        CHECK_EQUAL(mdyn_velocity(&sim, i, NULL, &w, &u), MDYN_OK);
        to->a = (int16_t)i;
        to->b = (int16_t)(i - 1); /* the box below, or the world */
        to->key = (uint16_t)(corner + 4 * key_shift);
        to->point = at;
        to->normal.z = real(2);
        to->depth = real(0.1 * i - of_real(at.z));
        if (i > 0) {
            to->depth = real(of_real(sim.q[7 * (i - 1) + 2]) + 0.05 - of_real(at.z));
        }
        to->friction = wide(friction);
    }
    CHECK_EQUAL(mdyn_set_contacts(&sim, c, CORNERS * count), MDYN_OK);
}

/* The method of the next steps. */
static void solve_by(mdyn_method method) {
    mech.model.solver.method = method;
    mdyn_sim kept = sim;
    start_again(&kept);
}

/* A box sticks below the angle atan mu, and slides above it with g (sin - mu cos); along the
   diagonal a pyramid holds sqrt 2 times as much, a cone does not. */
static void incline(mdyn_method method) {
    static const double angles[] = { 26, 27, 34, 36 };
    for (int n = 0; n < 24; n++) {
        mdyn_friction law = (mdyn_friction)(n % 3);
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
        c.b = MDYN_WORLD; /* at the centre of mass: nothing turns */
        c.normal.z = real(1);
        c.point.z = real(0.05);
        c.friction = wide(0.5);
        CHECK_EQUAL(mdyn_set_contacts(&sim, &c, 1), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        v -= 0.5 * 9.81 * 0x1p-10;
        CHECK_NEAR(of_real(sim.v[3]), v * cos(angle), BY_SCALAR(2e-15, 1e-6, 3e-8));
        CHECK_NEAR(of_real(sim.v[4]), v * sin(angle), BY_SCALAR(2e-15, 1e-6, 3e-8));
    }
}

/* A block m on a wedge M of slope a, on rails: N = m g cos a/(1 + m/M sin^2 a) without friction;
   with mu > tan a nothing moves. */
static void wedge(mdyn_method method) {
    for (int rough = 0; rough < 2; rough++) {
        double a = 0.5235987755982988, m = 1, M = 3, dt = 0x1p-10;
        double N = m * 9.81 * cos(a) / (1 + m / M * sin(a) * sin(a));
        mdyn_contact c;
        mdyn_row_report r;
        memset(&c, 0, sizeof c);
        boxes(1, MDYN_PYRAMID);
        mech.body[1].parent = MDYN_WORLD;
        mech.body[1].joint = MDYN_PRISMATIC;
        mech.body[1].axis.x = wide(1);
        mech.body[1].mass = wide(M);
        mech.model.body_count = 2;
        mech.model.solver.sweeps = 5000;
        mech.model.solver.method = method;
        start();
        c.b = 1;
        c.normal.x = real(sin(a));
        c.normal.z = real(cos(a));
        c.friction = wide(rough ? 0.6 : 0);
        CHECK_EQUAL(mdyn_set_contacts(&sim, &c, 1), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_row(&sim, MDYN_ROW_CONTACT, 0, &r), MDYN_OK);
        CHECK_NEAR(of_real(sim.v[6]), rough ? 0 : -dt * N * sin(a) / M,
                   BY_SCALAR(5e-18, 3e-9, 1e-10));
        CHECK_NEAR(of_wide(r.force), rough ? 9.81 * m * cos(a) : N, BY_SCALAR(2e-14, 3e-6, 1e-7));
        CHECK_NEAR(of_real(sim.v[3]), rough ? 0 : dt * N * sin(a) / m,
                   BY_SCALAR(5e-18, 5e-9, 2e-10));
        CHECK_NEAR(of_real(sim.v[5]), rough ? 0 : dt * (N * cos(a) / m - 9.81),
                   BY_SCALAR(1e-17, 3e-9, 2e-10));
    }
}

/* Boxes on each other stay, just touching and exactly aligned; every joint of the stack carries
   what is above it. Without contacts they fall. */
static void stack(void) {
    for (int n = 0; n < 6; n++) {
        int count = 5;
        double above = 0;
        mdyn_row_report r;
        boxes(count, (mdyn_friction)(n % 3));
        for (int k = 0; k < 300; k++) {
            touch(count, 0.5, n < 3 ? 0 : k % 2);
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        }
        for (int i = count - 1; i >= 0; i--) {
            double force = 0;
            for (int k = 0; k < CORNERS; k++) {
                int contact = CORNERS * i + k;
                contact = n < 3 ? contact : CORNERS * count - 1 - contact;
                CHECK_EQUAL(mdyn_row(&sim, MDYN_ROW_CONTACT, 3 * contact, &r), MDYN_OK);
                force += of_wide(r.force);
            }
            above += (1 + i) * 9.81;
            CHECK_NEAR(force / above, 1.0, BY_SCALAR(2e-11, 2e-2, 7e-4));
            CHECK_NEAR(of_real(sim.q[7 * i + 2]), 0.05 + 0.1 * i, BY_SCALAR(1e-15, 5e-7, 2e-8));
            CHECK_NEAR(of_real(sim.q[7 * i]), 0.0, BY_SCALAR(1e-7, 1e-7, 3e-8)); /* 1000 sweeps */
        }
        CHECK(of_wide(sim.report.residual) < BY_SCALAR(1e-12, 1e-4, 1e-4));
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK); /* no contacts any more */
        CHECK_EQUAL(mdyn_row(&sim, MDYN_ROW_CONTACT, 0, &r), MDYN_ERR_INDEX);
        CHECK_NEAR(of_real(sim.v[5]), -9.81 * 0x1p-10, BY_SCALAR(4e-14, 1e-5, 3e-7));
    }
}

/* How far the top of five boxes sinks in 30 steps of 20 sweeps, which are too few; with keys that
   change by `shift` in each step. */
static double sunk(int shift) {
    boxes(5, MDYN_PYRAMID);
    mech.model.solver.sweeps = 20;
    for (int k = 0; k < 30; k++) {
        key_shift = shift * k;
        touch(5, 0.5, k % 2);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    key_shift = 0;
    return 0.45 - of_real(sim.q[7 * 4 + 2]);
}

/* Impulses are found again by key, in whatever order: sweeps go on where they were. */
static void contacts_are_recognised(void) {
    double same = sunk(0), other = sunk(1);
    CHECK(same > 0 && 5 * same < other);
}

/* ---- warm starts where the sweeps do not suffice ---- */

/* Boxes on each other that overlap by 1 mm, of which a step of 4 sweeps takes back 0.2: how far one
   comes to be off its place then. */
static double stack_drifts(mdyn_start begin, int count) {
    double worst = 0;
    boxes(count, MDYN_PYRAMID);
    mech.model.solver.sweeps = 4;
    mech.model.solver.start = begin;
    start();
    for (int i = 0; i < count; i++) {
        sim.q[7 * i + 2] = real(0.05 + 0.099 * i);
    }
    for (int n = 0; n < 512; n++) {
        touch(count, 0.5, n % 2);
        if (!CHECK_EQUAL(mdyn_step(&sim), MDYN_OK)) {
            break;
        }
        for (int i = 0; i < count; i++) {
            worst = worse(worst, fabs(of_real(sim.q[7 * i + 2]) - 0.05 - 0.1 * i));
        }
    }
    return worst;
}

/* Row i: slide i rests on the one below it, the first on the ground. */
static void pile_row(mdyn_sim *s, int index, mdyn_body_row *row, void *user) {
    CHECK(user == NULL);
    row->value = wide(of_real(s->q[index]) - (index > 0 ? of_real(s->q[index - 1]) : 0) - 0.1);
    row->upper = MDYN_UNLIMITED;
    for (int k = 0; k < 2; k++) {
        row->parts[k].body = (int16_t)(index - k);
        row->parts[k].axes = MDYN_JOINT_SPEEDS;
        row->parts[k].angular.x = wide(1 - 2 * k);
    }
}

/* The same of slides of 1, 2, ... kg and own rows between them. */
static double pile_drifts(mdyn_start begin, int count) {
    double worst = 0;
    memset(&mech, 0, sizeof mech);
    for (int i = 0; i < count; i++) {
        mech.body[i].parent = MDYN_WORLD;
        mech.body[i].joint = MDYN_PRISMATIC;
        mech.body[i].mass = wide(1 + i);
    }
    mech.model.bodies = mech.body;
    mech.model.body_count = count;
    mech.model.dt = wide(0x1p-10);
    mech.model.gravity.z = wide(-9.81);
    mech.model.row_count = count;
    mech.model.row_function = pile_row;
    mech.model.solver.start = begin;
    mech.model.solver.sweeps = 4;
    memset(own, 0, sizeof own);
    start();
    for (int i = 0; i < count; i++) {
        sim.q[i] = real(0.099 * (i + 1));
    }
    for (int n = 0; n < 512; n++) {
        if (!CHECK_EQUAL(mdyn_step(&sim), MDYN_OK)) {
            break;
        }
        for (int i = 0; i < count; i++) {
            worst = worse(worst, fabs(of_real(sim.q[i]) - 0.1 * (i + 1)));
        }
    }
    return worst;
}

/* Had the warm start kept what takes errors back, both would come off twice as far or more. */
static void warm_rows_stay(void) {
    double pile = pile_drifts(MDYN_WARM, 10), stacked = stack_drifts(MDYN_WARM, 5);
    CHECK_NEAR(pile, 0, 0.015);
    CHECK(pile < 1.1 * pile_drifts(MDYN_COLD, 10));
    CHECK_NEAR(stacked, 0, 0.0057);
    CHECK(stacked < 1.1 * stack_drifts(MDYN_COLD, 5));
}

/* ---- refusals and texts ---- */

static void refused_contact(mdyn_contact c, int code) {
    mdyn_contact two[2];
    memset(two, 0, sizeof two);
    two[0].b = MDYN_WORLD;
    two[0].normal.x = real(1);
    two[1] = c;
    CHECK_EQUAL(mdyn_set_contacts(&sim, two, 2), code);
    CHECK_EQUAL(sim.culprit.code, code);
    CHECK_EQUAL(sim.culprit.index, 1);
}

static void refused_contacts(void) {
    mdyn_contact good, c;
    boxes(2, MDYN_CONE);
    memset(&good, 0, sizeof good);
    good.a = 1;
    good.b = MDYN_WORLD;
    good.normal.z = real(1);
    CHECK_EQUAL(mdyn_set_contacts(NULL, &good, 1), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_set_contacts(&sim, NULL, 1), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_set_contacts(&sim, NULL, 0), MDYN_OK);
    CHECK_EQUAL(mdyn_set_contacts(&sim, &good, -1), MDYN_ERR_CAPACITY_BODY_ROWS);
    CHECK_EQUAL(mdyn_set_contacts(&sim, &good, MIMICDYN_MAX_CONTACTS + 1),
                MDYN_ERR_CAPACITY_BODY_ROWS);
    c = good; c.a = 2; refused_contact(c, MDYN_ERR_CONTACT);
    c = good; c.a = -2; refused_contact(c, MDYN_ERR_CONTACT);
    c = good; c.b = 1; refused_contact(c, MDYN_ERR_CONTACT);
    c = good; c.normal.z = real(0); refused_contact(c, MDYN_ERR_CONTACT);
    c = good; c.friction = wide(-1); refused_contact(c, MDYN_ERR_CONTACT);
    c = good; c.softness.kind = (mdyn_softness_kind)9; refused_contact(c, MDYN_ERR_SOFTNESS);
    for (int i = 0; i < CHECK_BAD_REALS; i++) {
        c = good; bad_real(&c.point.x, i); refused_contact(c, MDYN_ERR_STATE);
        c = good; bad_real(&c.normal.y, i); refused_contact(c, MDYN_ERR_STATE);
        c = good; bad_real(&c.depth, i); refused_contact(c, MDYN_ERR_STATE);
    }
    for (int i = 0; i < CHECK_BAD_WIDES; i++) {
        c = good; bad_wide(&c.friction, i); refused_contact(c, MDYN_ERR_NOT_FINITE);
        c = good; bad_wide(&c.softness.b, i); refused_contact(c, MDYN_ERR_NOT_FINITE);
    }
}

static void refused_model(int code, int index) {
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), code);
    CHECK_EQUAL(sim.culprit.code, code);
    CHECK_EQUAL(sim.culprit.index, index);
}

static int breaking; /* what the callback does wrong */

static void broken(mdyn_sim *s, int index, mdyn_body_row *row, void *user) {
    CHECK(s == &sim && user == &breaking);
    row->parts[0].linear.z = wide(1);
    row->level = MDYN_VELOCITY;
    if (index == 0) {
        return;
    }
    switch (breaking) {
    case 1: bad_wide(&row->value, 0); break;
    case 2: bad_wide(&row->parts[1].angular.y, 3); break;
    case 3: row->parts[0].body = 2; break;
    case 4: row->parts[0].axes = (mdyn_axes)7; break;
    case 5: row->friction = wide(1); row->normal = 1; break;
    case 6: row->friction = wide(1); row->normal = 2; break;
    case 7: row->least = wide(1); break;
    case 8: row->softness.kind = (mdyn_softness_kind)-1; break;
    case 9: row->level = (mdyn_level)5; break;
    default: break;
    }
}

static void refused_rows(void) {
    static const int codes[] = { MDYN_OK, MDYN_ERR_NOT_FINITE, MDYN_ERR_NOT_FINITE,
        MDYN_ERR_BODY_ROW, MDYN_ERR_BODY_ROW, MDYN_ERR_BODY_ROW, MDYN_ERR_BODY_ROW,
        MDYN_ERR_BODY_ROW, MDYN_ERR_SOFTNESS, MDYN_ERR_BODY_ROW };
    boxes(2, MDYN_PYRAMID);
    mech.model.rows = NULL;
    mech.model.row_count = 2;
    refused_model(MDYN_ERR_NULL, -1);
    mech.model.row_function = broken;
    mech.model.row_user = &breaking;
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    for (int i = 1; i <= 10; i++) {
        mdyn_sim before = sim;
        breaking = i % 10;
        CHECK_EQUAL(mdyn_step(&sim), codes[breaking]);
        if (breaking != 0) {
            CHECK_EQUAL(sim.culprit.code, codes[breaking]);
            CHECK_EQUAL(sim.culprit.index, 1);
            CHECK(memcmp(before.q, sim.q, sizeof sim.q) == 0);
            CHECK(memcmp(before.v, sim.v, sizeof sim.v) == 0);
        }
    }
    mech.model.row_count = OWN + 1;
    refused_model(MDYN_ERR_CAPACITY_BODY_ROWS, -1);
    mech.model.row_count = -1;
    refused_model(MDYN_ERR_CAPACITY_BODY_ROWS, -1);
}

static void refused_closures(void) {
    static const double straight[4] = { 1, 0, 0, 0 };
#define REFUSED(code, change) \
    do { \
        four_bar(MDYN_CLOSE_POINT, straight); \
        closure[1] = closure[0]; \
        mech.model.closure_count = 2; \
        change; \
        refused_model(code, 1); \
    } while (0)
    REFUSED(MDYN_ERR_CLOSURE, closure[1].a = 2);
    REFUSED(MDYN_ERR_CLOSURE, closure[1].a = 3);
    REFUSED(MDYN_ERR_CLOSURE, closure[1].b = -2);
    REFUSED(MDYN_ERR_CLOSURE, closure[1].a = closure[1].b = MDYN_WORLD);
    REFUSED(MDYN_ERR_CLOSURE, closure[1].kind = (mdyn_closure_kind)4);
    REFUSED(MDYN_ERR_CLOSURE, (closure[1].kind = MDYN_CLOSE_DISTANCE,
                               closure[1].distance = wide(0)));
    REFUSED(MDYN_ERR_NEGATIVE, closure[1].effort = wide(-1));
    REFUSED(MDYN_ERR_SOFTNESS, (closure[1].softness.kind = MDYN_ERP_CFM,
                                closure[1].softness.a = wide(2)));
    for (int i = 0; i < CHECK_BAD_WIDES; i++) {
        REFUSED(MDYN_ERR_NOT_FINITE, bad_wide(&closure[1].point_a.y, i));
        REFUSED(MDYN_ERR_NOT_FINITE, bad_wide(&closure[1].axis_b.z, i));
        REFUSED(MDYN_ERR_NOT_FINITE, bad_wide(&closure[1].rotation.w, i));
        REFUSED(MDYN_ERR_NOT_FINITE, bad_wide(&closure[1].distance, i));
    }
#undef REFUSED
    four_bar(MDYN_CLOSE_WELD, straight);
    closure[1] = closure[2] = closure[0];
    mech.model.closure_count = 3; /* 18 rows */
    refused_model(MDYN_ERR_CAPACITY_BODY_ROWS, -1);
    mech.model.closures = NULL;
    refused_model(MDYN_ERR_NULL, -1);
}

static void explained(mdyn_row_kind kind, int index, const char *want) {
    char text[200];
    CHECK_EQUAL(mdyn_explain(&sim, kind, index, text, sizeof text), MDYN_OK);
    CHECK_TEXT(text, want);
}

static void texts(void) {
    static const double straight[4] = { 1, 0, 0, 0 };
    mdyn_contact c;
    four_bar(MDYN_CLOSE_HINGE, straight);
    closure[0].name = "rocker";
    mech.body[1].name = "coupler";
    closure[1].kind = MDYN_CLOSE_DISTANCE;
    closure[1].a = 2;
    closure[1].b = MDYN_WORLD;
    closure[1].distance = wide(0.25);
    closure[1].effort = wide(10);
    closure[2].kind = MDYN_CLOSE_WELD;
    closure[2].b = MDYN_WORLD;
    closure[2].effort = wide(7);
    closure[2].name = "plate";
    mech.model.closure_count = 3;
    memset(own, 0, sizeof own);
    own[0].name = "brake";
    own[0].parts[0].angular.x = wide(1);
    own[0].level = MDYN_VELOCITY;
    own[0].least = wide(-3);
    own[0].most = MDYN_UNLIMITED;
    own[1].parts[1].body = 2;
    own[1].parts[1].linear.x = wide(1);
    own[1].friction = wide(0.5);
    own[1].value = wide(0.125);
    mech.model.row_count = 2;
    start();
    memset(&c, 0, sizeof c);
    c.b = 2;
    c.normal.y = real(1);
    c.friction = wide(0.5);
    CHECK_EQUAL(mdyn_set_contacts(&sim, &c, 1), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    explained(MDYN_ROW_CLOSURE, 15, "closure 15 plate: turn of 0 and world, about x = 0 [rad];"
              " hard, erp 0.2, |force| <= 7");
    explained(MDYN_ROW_CLOSURE, 16, "closure 16 plate: turn of 0 and world, about y = 0 [rad];"
              " hard, erp 0.2, |force| <= 7");
    explained(MDYN_ROW_CLOSURE, 17, "closure 17 plate: turn of 0 and world, about z = 0 [rad];"
              " hard, erp 0.2, |force| <= 7");
    explained(MDYN_ROW_CLOSURE, 2,
              "closure 2 rocker: gap of coupler and 2, along z = 0 [m]; hard, erp 0.2");
    explained(MDYN_ROW_CLOSURE, 4, "closure 4 rocker: lean of the axes of coupler and 2, second"
              " = 0 [rad]; hard, erp 0.2");
    explained(MDYN_ROW_CLOSURE, 6, "closure 6: distance of 2 and world = 0.25 [m]; hard, erp 0.2,"
              " |force| <= 10");
    explained(MDYN_ROW_BODY, 0, "row 0 brake: row on 0; speed 0; hard, erp 0.2, force >= -3");
    explained(MDYN_ROW_BODY, 1, "row 1: row on 2; C 0.125; speed 0; hard, erp 0.2,"
              " |force| <= 0.5 |force of row 0|");
    explained(MDYN_ROW_CONTACT, 0, "contact 0: gap of 0 and 2 >= 0 [m]; hard, erp 0.2");
    explained(MDYN_ROW_CONTACT, 2,
              "contact 2: slip of 0 and 2 = 0 while |force| <= 0.5 force of contact 0");
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    for (int i = 0; i < 2; i++) {
        const mdyn_method method = i ? MDYN_DANTZIG : MDYN_PGS;
        own_rows_against_dense(method);
        closures_against_dense(method);
        contacts_against_dense(method);
        two_stages(method);
        relaxed_against_dense(method);
    }
    order_of_rows();
    momentum_stays();
    energy_is_never_gained(MDYN_PGS, 0);
    energy_is_never_gained(MDYN_TGS, 0);
    energy_is_never_gained(MDYN_DANTZIG, (int)BY_SCALAR(40, 40, 60));
    reset_forgets();
    redundant_rows();
    projected_loops();
    accelerations_of_loops();
    for (int i = 0; i < 3; i++) {
        static const mdyn_method methods[] = { MDYN_PGS, MDYN_TGS, MDYN_DANTZIG };
        incline(methods[i]);
        wedge(methods[i]);
    }
    cone();
    stack();
    contacts_are_recognised();
    warm_rows_stay();
    refused_contacts();
    refused_rows();
    refused_closures();
    texts();
    return check_end();
}
