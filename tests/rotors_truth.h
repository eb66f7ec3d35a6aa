/* One step of rotors on the world, densely, in double: what the rows ask is written out from the
   tables, and bounded rows are solved by trying every choice of which row is where. Included after
   check.h by programs of a build without trees. */
#ifndef ROTORS_TRUTH_H
#define ROTORS_TRUTH_H

enum { TRUTH_DOFS = 5, TRUTH_ROWS = 20 };

/* low <= J v' + cfm lambda <= high, lambda > 0 only at low or at `most`, < 0 only at high or at
   `least` [impulses]. */
typedef struct truth_row {
    mdyn_row_kind kind;
    int index, is_hard; /* an equality without bound and compliance */
    double J[TRUTH_DOFS], low, high, cfm, least, most;
    double lambda;
} truth_row;

typedef struct rotors_truth {
    int dofs, rows, has_error; /* has_error: the step also moves q to correct a position */
    double mass[TRUTH_DOFS];   /* armature + dt theta damping */
    double free[TRUTH_DOFS];   /* v' without rows */
    double v[TRUTH_DOFS];      /* v' */
    truth_row row[TRUTH_ROWS];
    double violation;          /* of the best choice: of the order of rounding if it is solved */
} rotors_truth;

/* ---- linear algebra ---- */

/* A x = b by elimination with column pivoting; 0 if A is singular to 1e-12. */
static int truth_solve(int n, double A[TRUTH_ROWS][TRUTH_ROWS], double *b) {
    for (int i = 0; i < n; i++) {
        int pivot = i;
        for (int j = i + 1; j < n; j++)
            if (fabs(A[j][i]) > fabs(A[pivot][i])) pivot = j;
        if (fabs(A[pivot][i]) < 1e-12 * (1 + fabs(A[i][i]))) return 0;
        for (int k = 0; k < n; k++) {
            const double t = A[i][k];
            A[i][k] = A[pivot][k];
            A[pivot][k] = t;
        }
        const double t = b[i];
        b[i] = b[pivot];
        b[pivot] = t;
        for (int j = i + 1; j < n; j++) {
            const double f = A[j][i] / A[i][i];
            for (int k = i; k < n; k++) A[j][k] -= f * A[i][k];
            b[j] -= f * b[i];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) b[i] -= A[i][k] * b[k];
        b[i] /= A[i][i];
    }
    return 1;
}

/* J M^-1 K^T */
static double truth_product(const rotors_truth *t, const double *J, const double *K) {
    double sum = 0;
    for (int k = 0; k < t->dofs; k++) sum += J[k] * K[k] / t->mass[k];
    return sum;
}

/* J M^-1 J^T over the motions that the hard rows leave. */
static double truth_inverse_mass(const rotors_truth *t, const double *J) {
    double A[TRUTH_ROWS][TRUTH_ROWS], b[TRUTH_ROWS];
    int hard[TRUTH_ROWS], n = 0;
    double r = truth_product(t, J, J);
    for (int i = 0; i < t->rows; i++)
        if (t->row[i].is_hard) hard[n++] = i;
    for (int i = 0; i < n; i++) {
        b[i] = truth_product(t, t->row[hard[i]].J, J);
        for (int j = 0; j < n; j++)
            A[i][j] = truth_product(t, t->row[hard[i]].J, t->row[hard[j]].J);
    }
    if (n > 0 && truth_solve(n, A, b))
        for (int i = 0; i < n; i++) r -= truth_product(t, t->row[hard[i]].J, J) * b[i];
    return r > 0 ? r : 0;
}

/* ---- what the rows ask ---- */

/* A spring and damper over a step of h:
      force = -kp (C + h (al J v' - be J v)) - kd (theta J v' + (1 - theta) J v - target)
   C is that of the middle of the step; `springs` act on joints that couplings connect. */
static void truth_spring(truth_row *r, double kp, double kd, double inverse_mass, int springs,
                         double h, double C, double Jv, double target) {
    const double s = h * h * kp * inverse_mass, y = h * kd * inverse_mass;
    const double theta = kd > 0 ? (3 + y) / (6 + y) : 1, sum = springs * s;
    double spread = sum <= 0.5 ? 1.0 / 3 : sum >= 1 ? 1 : 1.0 / 3 + 4.0 / 3 * (sum - 0.5);
    double al = spread / 4, be = spread / 4;
    if (s > 1) {
        al = s / (3 + s);
        be = 1 / (3 + s);
    }
    const double all = h * al * kp + theta * kd;
    r->cfm = 1 / (h * all);
    r->low = r->high = ((h * be * kp - (1 - theta) * kd) * Jv - kp * C + kd * target) / all;
}

/* lower <= C <= upper of the middle of the step: C may go as far as its bound within h. */
static void truth_range(rotors_truth *t, truth_row *r, double C, double lower, double upper,
                        double h) {
    r->low = lower <= -1e12 ? -HUGE_VAL : C < lower ? 0 : (lower - C) / h;
    r->high = upper >= 1e12 ? HUGE_VAL : C > upper ? 0 : (upper - C) / h;
    t->has_error |= C < lower || C > upper;
}

static truth_row *truth_add(rotors_truth *t, mdyn_row_kind kind, int index, double bound) {
    truth_row *r = &t->row[t->rows++];
    memset(r, 0, sizeof *r);
    r->kind = kind;
    r->index = index;
    r->most = bound > 0 ? bound : HUGE_VAL;
    r->least = -r->most;
    return r;
}

static int truth_is_hard(const mdyn_softness *s) {
    const double a = of_wide(s->a), b = of_wide(s->b);
    return s->kind == MDYN_DEFAULT || (s->kind == MDYN_OMEGA_ZETA && !(a > 0))
        || ((s->kind == MDYN_ERP_CFM || s->kind == MDYN_ODE_CFM) && !(b > 0));
}

/* Hard couplings, so that springs find what they leave: J, target, bounds. */
static void truth_coupling(rotors_truth *t, const mdyn_model *m, const mdyn_sim *sim, int i) {
    const mdyn_coupling *c = &m->couplings[i];
    const double h = of_wide(m->dt), lower = of_wide(c->lower), upper = of_wide(c->upper);
    const double wanted = of_wide(c->target_velocity);
    truth_row *r = truth_add(t, MDYN_ROW_COUPLING, i, h * of_wide(c->effort));
    const int is_range = lower < upper;
    double C = of_wide(c->offset);
    for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        const int b = c->terms[k].body;
        const double f = of_wide(c->terms[k].coefficient);
        r->J[b] += f;
        C += f * (of_real(sim->q[b]) + h / 2 * of_real(sim->v[b]));
    }
    if (c->level == MDYN_VELOCITY) {
        r->low = lower <= -1e12 ? -HUGE_VAL : wanted + lower;
        r->high = upper >= 1e12 ? HUGE_VAL : wanted + upper;
    } else if (is_range) {
        truth_range(t, r, C, lower, upper, h);
    } else {
        r->low = r->high = wanted;
        t->has_error |= truth_is_hard(&c->softness)
            && fabs(C - lower) > BY_SCALAR(1e-14, 1e-7, 1e-11);
    }
    r->is_hard = truth_is_hard(&c->softness) && !is_range && !(of_wide(c->effort) > 0);
}

/* The force of a soft coupling of positions; needs all hard rows. */
static void truth_soften(rotors_truth *t, const mdyn_model *m, const mdyn_sim *sim, truth_row *r,
                         int springs) {
    const mdyn_coupling *c = &m->couplings[r->index];
    const double h = of_wide(m->dt), inverse = truth_inverse_mass(t, r->J);
    double a = of_wide(c->softness.a), b = of_wide(c->softness.b), C = 0, Jv = 0;
    for (int k = 0; k < t->dofs; k++) {
        C += r->J[k] * (of_real(sim->q[k]) + h / 2 * of_real(sim->v[k]));
        Jv += r->J[k] * of_real(sim->v[k]);
    }
    C += of_wide(c->offset) - of_wide(c->lower);
    if (c->softness.kind == MDYN_ERP_CFM || c->softness.kind == MDYN_ODE_CFM) {
        r->cfm = c->softness.kind == MDYN_ODE_CFM ? b / h : b;
        r->low = r->high = of_wide(c->target_velocity) - a * C / h;
        return;
    }
    if (c->softness.kind == MDYN_OMEGA_ZETA) {
        b = 2 * a * b / inverse;
        a = a * a / inverse;
    }
    truth_spring(r, a, b, inverse, springs, h, C, Jv, of_wide(c->target_velocity));
}

/* Drive, dry friction and limit of joint k. */
static void truth_joint(rotors_truth *t, const mdyn_model *m, const mdyn_sim *sim, int k,
                        int springs) {
    const mdyn_body *b = &m->bodies[k];
    const double h = of_wide(m->dt), effort = of_wide(b->effort), kp = of_wide(b->drive_kp);
    const double kd = of_wide(b->drive_kd), friction = of_wide(b->friction);
    const double lower = of_wide(b->lower), upper = of_wide(b->upper), v = of_real(sim->v[k]);
    const double q = of_real(sim->q[k]) + h / 2 * v;
    truth_row *r;
    if (kp > 0 || kd > 0) {
        const double tau = fmax(-effort, fmin(effort, of_real(sim->tau[k])));
        r = truth_add(t, MDYN_ROW_DRIVE, k, 0);
        r->J[k] = 1;
        truth_spring(r, kp, kd, truth_inverse_mass(t, r->J), springs, h,
                     q - of_real(sim->target[k]), v, of_real(sim->target_velocity[k]));
        if (effort > 0) {
            r->least = -h * (effort + tau);
            r->most = h * (effort - tau);
        }
    }
    if (friction > 0) truth_add(t, MDYN_ROW_FRICTION, k, h * friction)->J[k] = 1;
    if (lower < 0 || upper > 0) {
        r = truth_add(t, MDYN_ROW_LIMIT, k, 0);
        r->J[k] = 1;
        truth_range(t, r, q, lower, upper, h);
    }
}

/* Soft couplings and drives, of joints that couplings connect with the first term of a row. */
static int truth_springs(const mdyn_model *m, const double *J) {
    int group[TRUTH_DOFS], springs = 0, of = 0;
    for (int k = 0; k < m->body_count; k++) group[k] = k;
    for (int pass = 0; pass < TRUTH_DOFS; pass++)
        for (int i = 0; i < m->coupling_count; i++)
            for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
                const mdyn_term *x = &m->couplings[i].terms[0], *y = &m->couplings[i].terms[k];
                if (!(fabs(of_wide(y->coefficient)) > 0)) continue;
                const int least = group[x->body] < group[y->body] ? group[x->body]
                                                                  : group[y->body];
                group[x->body] = group[y->body] = least;
            }
    while (!(fabs(J[of]) > 0)) of++;
    for (int i = 0; i < m->coupling_count; i++)
        springs += !truth_is_hard(&m->couplings[i].softness)
            && group[m->couplings[i].terms[0].body] == group[of];
    for (int k = 0; k < m->body_count; k++)
        springs += (of_wide(m->bodies[k].drive_kp) > 0 || of_wide(m->bodies[k].drive_kd) > 0)
            && group[k] == group[of];
    return springs;
}

/* Masses, free motion and rows of the step that comes. */
static void truth_rows(rotors_truth *t, const mdyn_model *m, const mdyn_sim *sim) {
    const double h = of_wide(m->dt);
    memset(t, 0, sizeof *t);
    t->dofs = m->body_count;
    for (int k = 0; k < t->dofs; k++) {
        const mdyn_body *b = &m->bodies[k];
        const double I = of_wide(b->armature), D = of_wide(b->damping), y = h * D;
        const double effort = of_wide(b->effort), v = of_real(sim->v[k]);
        double tau = of_real(sim->tau[k]);
        if (effort > 0) tau = fmax(-effort, fmin(effort, tau));
        t->mass[k] = I + y * (3 * I + y) / (6 * I + y);
        t->free[k] = v + h * (tau - D * v) / t->mass[k];
    }
    for (int i = 0; i < m->coupling_count; i++) truth_coupling(t, m, sim, i);
    for (int i = 0; i < m->coupling_count; i++)
        if (!truth_is_hard(&m->couplings[i].softness))
            truth_soften(t, m, sim, &t->row[i], truth_springs(m, t->row[i].J));
    for (int k = 0; k < t->dofs; k++) {
        double J[TRUTH_DOFS] = { 0 };
        J[k] = 1;
        truth_joint(t, m, sim, k, truth_springs(m, J));
    }
}

/* ---- every choice ---- */

enum { AT_LOW, AT_HIGH, AT_LEAST, AT_MOST, AT_NOTHING, PLACES };

/* The impulse of a row at a place, if it is known there; else 0 and *target is what C' shall be. */
static int truth_place(const truth_row *r, int place, double *impulse, double *target) {
    *impulse = place == AT_LEAST ? r->least : place == AT_MOST ? r->most : 0;
    *target = place == AT_LOW ? r->low : r->high;
    return place >= AT_LEAST;
}

/* Whether a row can be at a place. */
static int truth_can_be(const truth_row *r, int place) {
    const int is_equality = r->low >= r->high;
    switch (place) {
    case AT_LOW: return r->low > -HUGE_VAL;
    case AT_HIGH: return !is_equality && r->high < HUGE_VAL;
    case AT_LEAST: return r->least > -HUGE_VAL;
    case AT_MOST: return r->most < HUGE_VAL;
    default: return !is_equality;
    }
}

/* How far a row is from its law, as a velocity and an impulse times its inverse mass. */
static double truth_miss(const rotors_truth *t, const truth_row *r, const double *v,
                         double lambda) {
    double x = r->cfm * lambda, worst;
    const double r_mass = truth_product(t, r->J, r->J) + r->cfm;
    for (int k = 0; k < t->dofs; k++) x += r->J[k] * v[k];
    worst = r_mass * fmax(0, fmax(lambda - r->most, r->least - lambda));
    /* below its target unless its impulse is the most; above unless it is the least */
    if (lambda < r->most) worst = fmax(worst, fmin(r->low - x, r_mass * (r->most - lambda)));
    if (lambda > r->least) worst = fmax(worst, fmin(x - r->high, r_mass * (lambda - r->least)));
    if (lambda > 0) worst = fmax(worst, fmin(x - r->low, r_mass * lambda));
    if (lambda < 0) worst = fmax(worst, fmin(r->high - x, r_mass * -lambda));
    return worst;
}

/* v and impulses of one choice; 0 if the rows in it depend on each other. */
static int truth_try(rotors_truth *t, const int *place, double *v, double *lambda) {
    double A[TRUTH_ROWS][TRUTH_ROWS], b[TRUTH_ROWS];
    int of[TRUTH_ROWS], n = 0;
    memcpy(v, t->free, sizeof t->free);
    for (int i = 0; i < t->rows; i++) {
        if (!truth_place(&t->row[i], place[i], &lambda[i], &b[n])) {
            of[n++] = i;
            continue;
        }
        for (int k = 0; k < t->dofs; k++) v[k] += t->row[i].J[k] * lambda[i] / t->mass[k];
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < t->dofs; k++) b[i] -= t->row[of[i]].J[k] * v[k];
        for (int j = 0; j < n; j++) A[i][j] = truth_product(t, t->row[of[i]].J, t->row[of[j]].J);
        A[i][i] += t->row[of[i]].cfm;
    }
    if (!truth_solve(n, A, b)) return 0;
    for (int i = 0; i < n; i++) {
        lambda[of[i]] = b[i];
        for (int k = 0; k < t->dofs; k++) v[k] += t->row[of[i]].J[k] * b[i] / t->mass[k];
    }
    return 1;
}

/* Keeps a choice if none before was better. */
static void truth_keep(rotors_truth *t, const int *place) {
    double v[TRUTH_DOFS], lambda[TRUTH_ROWS], worst = 0;
    if (!truth_try(t, place, v, lambda)) return;
    for (int i = 0; i < t->rows; i++)
        worst = fmax(worst, truth_miss(t, &t->row[i], v, lambda[i]));
    if (worst >= t->violation) return;
    t->violation = worst;
    memcpy(t->v, v, sizeof t->v);
    for (int i = 0; i < t->rows; i++) t->row[i].lambda = lambda[i];
}

/* v' and the impulses of the rows, by trying every choice, as numbers of t->rows digits. */
static void truth_solve_rows(rotors_truth *t) {
    int place[TRUTH_ROWS] = { 0 }, i;
    t->violation = HUGE_VAL;
    for (i = 0; i < t->rows; i++)
        while (!truth_can_be(&t->row[i], place[i])) place[i]++;
    do {
        truth_keep(t, place);
        for (i = 0; i < t->rows; i++) {
            do place[i]++;
            while (place[i] < PLACES && !truth_can_be(&t->row[i], place[i]));
            if (place[i] < PLACES) break;
            place[i] = 0;
            while (!truth_can_be(&t->row[i], place[i])) place[i]++;
        }
    } while (i < t->rows);
}

#endif
