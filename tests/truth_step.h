/* One time step, densely, in long double: the rows written out from the model's tables, the
   free motion from the dense M and C of truth.h, and the rows solved by trying every choice of
   which bounded rows are at which bound. Included after truth.h. */
#ifndef TRUTH_STEP_H
#define TRUTH_STEP_H

/* low <= J v' + cfm lambda <= high, lambda > 0 only at low or at `most`, ... */
typedef struct truth_row {
    mdyn_row_kind kind;
    int index, leader;       /* row whose impulse times mu bounds this one; -1: none */
    ld J[TN], error, low, high, cfm, least, most, mu;
} truth_row;

typedef struct truth_step {
    int rows;
    truth_row row[TR];
    ld L[TN][TN];            /* Cholesky factor of M + dt damping */
    ld free[TN], v[TN];      /* v' without rows, and with them */
    ld B[TR][TN], A[TR][TR]; /* rows of J M^-1, and J M^-1 J' */
    ld lambda[TR];
    ld violation;            /* how far the solution is off; of the order of rounding */
} truth_step;

static inline truth_row *t_add_row(truth_step *s, mdyn_row_kind kind, int index) {
    truth_row *r = &s->row[s->rows++];
    memset(r, 0, sizeof *r);
    r->kind = kind;
    r->index = index;
    r->leader = -1;
    r->least = -HUGE_VALL;
    r->most = HUGE_VALL;
    return r;
}

static inline int t_unlimited(ld bound) {
    return fabsl(bound) >= (ld)of_wide(MDYN_UNLIMITED);
}

static inline void t_spring(ld kp, ld kd, ld dt, ld *erp, ld *cfm) {
    *erp = dt * kp / (dt * kp + kd);
    *cfm = 1 / (dt * (dt * kp + kd));
}

/* J M^-1 J' of one row. */
static inline ld t_row_inertia(truth_step *s, const truth *t, const truth_row *r) {
    ld x[TN], sum = 0;
    memcpy(x, r->J, sizeof x);
    truth_back(s->L, t->dofs, x);
    for (int i = 0; i < t->dofs; i++) {
        sum += x[i] * r->J[i];
    }
    return sum;
}

/* lower <= C <= upper: inside, C may go as far as its bound in a step; outside, erp of the way
   is taken back. */
static inline void t_range(truth_row *r, ld C, ld lower, ld upper, ld erp, ld dt) {
    r->error = C < lower ? C - lower : C > upper ? C - upper : 0;
    r->low = t_unlimited(lower) ? -HUGE_VALL : (C < lower ? erp : 1) * (lower - C) / dt;
    r->high = t_unlimited(upper) ? HUGE_VALL : (C > upper ? erp : 1) * (upper - C) / dt;
}

static inline void t_coupling_row(truth_step *s, const truth *t, const mdyn_coupling *c, int index,
                                  ld dt) {
    truth_row *r = t_add_row(s, MDYN_ROW_COUPLING, index);
    ld C = (ld)of_wide(c->offset), erp = 0.2L, a = (ld)of_wide(c->softness.a);
    ld b = (ld)of_wide(c->softness.b), speed = (ld)of_wide(c->target_velocity);
    ld lower = (ld)of_wide(c->lower), upper = (ld)of_wide(c->upper);
    for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        ld f = (ld)of_wide(c->terms[k].coefficient);
        if (f != 0) {
            int body = c->terms[k].body;
            r->J[t->dof[body] + c->terms[k].axis] = f;
            C += f * t->q[t->coordinate[body]] * (c->level == MDYN_POSITION);
        }
    }
    C = c->level == MDYN_POSITION ? C : 0;
    if (c->softness.kind == MDYN_ERP_CFM) {
        erp = a;
        r->cfm = b;
    } else if (c->softness.kind == MDYN_KP_KD) {
        t_spring(a, b, dt, &erp, &r->cfm);
    } else if (c->softness.kind == MDYN_OMEGA_ZETA) {
        ld inertia = t_row_inertia(s, t, r);
        if (a > 0) {
            t_spring(a * a / inertia, 2 * a * b / inertia, dt, &erp, &r->cfm);
        }
    }
    r->error = C;
    if (lower != upper) {
        t_range(r, C, lower, upper, erp, dt);
    } else {
        r->error -= lower;
        /* of a spring the target is that of the damper: kd/(dt kp + kd) = 1 - erp */
        if (r->cfm > 0 && c->level == MDYN_POSITION && c->softness.kind != MDYN_ERP_CFM) {
            speed *= 1 - erp;
        }
        r->low = r->high = speed - erp * r->error / dt;
    }
    if (of_wide(c->effort) > 0) {
        r->most = dt * (ld)of_wide(c->effort);
        r->least = -r->most;
    }
}

/* Drive, dry friction and limit of the joint of one body. */
static inline void t_joint_rows(truth_step *s, const truth *t, const mdyn_body *b, int body,
                                const mdyn_sim *sim, ld dt, mdyn_row_kind kind) {
    ld kp = (ld)of_wide(b->drive_kp), kd = (ld)of_wide(b->drive_kd);
    ld effort = (ld)of_wide(b->effort), friction = (ld)of_wide(b->friction);
    ld lower = (ld)of_wide(b->lower), upper = (ld)of_wide(b->upper);
    for (int k = 0; k < t->dofs_of[body]; k++) {
        int i = t->dof[body] + k;
        ld q = t->q[t->coordinate[body]], tau = t->tau[i];
        if (kind == MDYN_ROW_DRIVE && (kp > 0 || kd > 0)) {
            truth_row *r = t_add_row(s, kind, i);
            ld erp;
            r->J[i] = 1;
            t_spring(kp, kd, dt, &erp, &r->cfm);
            r->error = q - (ld)of_real(sim->target[i]);
            r->low = (1 - erp) * (ld)of_real(sim->target_velocity[i]) - erp * r->error / dt;
            r->high = r->low;
            if (effort > 0) {
                tau = tau > effort ? effort : tau < -effort ? -effort : tau;
                r->most = dt * (effort - tau);
                r->least = -dt * (effort + tau);
            }
        } else if (kind == MDYN_ROW_FRICTION && friction > 0) {
            truth_row *r = t_add_row(s, kind, i);
            r->J[i] = 1;
            r->most = dt * friction;
            r->least = -r->most;
        } else if (kind == MDYN_ROW_LIMIT && (lower != 0 || upper != 0)) {
            truth_row *r = t_add_row(s, kind, i);
            r->J[i] = 1;
            t_range(r, q, lower, upper, 0.2L, dt);
        }
    }
}

/* B and A of all rows. */
static inline void t_row_products(truth_step *s, int n) {
    memset(s->A, 0, sizeof s->A);
    for (int i = 0; i < s->rows; i++) {
        memcpy(s->B[i], s->row[i].J, sizeof s->B[i]);
        truth_back(s->L, n, s->B[i]);
        for (int j = 0; j <= i; j++) {
            for (int k = 0; k < n; k++) {
                s->A[i][j] += s->B[i][k] * s->row[j].J[k];
            }
            s->A[j][i] = s->A[i][j];
        }
    }
}

/* The free motion and all rows, in the order in which the library solves them. */
static inline void truth_step_begin(truth_step *s, const truth *t, const mdyn_model *m,
                                    const mdyn_sim *sim) {
    ld dt = (ld)of_wide(m->dt), x[TN];
    int n = t->dofs;
    memset(s, 0, sizeof *s);
    memcpy(s->L, t->M, sizeof s->L);
    for (int b = 0; b < t->bodies; b++) {
        ld damping = (ld)of_wide(m->bodies[b].damping), effort = (ld)of_wide(m->bodies[b].effort);
        for (int i = t->dof[b]; i < t->dof[b] + t->dofs_of[b]; i++) {
            ld tau = t->tau[i];
            if (effort > 0) {
                tau = tau > effort ? effort : tau < -effort ? -effort : tau;
            }
            s->L[i][i] += dt * damping;
            x[i] = dt * (tau - t->C[i] - damping * t->v[i]);
        }
    }
    if (!truth_cholesky(s->L, n)) {
        s->violation = HUGE_VALL;
    }
    truth_back(s->L, n, x);
    for (int i = 0; i < n; i++) {
        s->free[i] = t->v[i] + x[i];
    }
    for (int k = 0; k < m->coupling_count; k++) {
        t_coupling_row(s, t, &m->couplings[k], k, dt);
    }
    for (int kind = MDYN_ROW_DRIVE; kind <= MDYN_ROW_LIMIT; kind++) {
        for (int b = 0; b < t->bodies; b++) {
            t_joint_rows(s, t, &m->bodies[b], b, sim, dt, (mdyn_row_kind)kind);
        }
    }
    t_row_products(s, n);
}

static inline ld t_row_speed(const truth_row *r, const ld *v, int n) {
    ld sum = 0;
    for (int i = 0; i < n; i++) {
        sum += r->J[i] * v[i];
    }
    return sum;
}

/* What a row may be: at its lower or upper speed, without impulse, at its least or most. */
typedef enum t_state { AT_LOW, AT_HIGH, AT_NONE, AT_LEAST, AT_MOST, T_STATES } t_state;

static inline int t_possible(const truth_row *r, t_state state) {
    switch (state) {
    case AT_LOW: return r->low > -HUGE_VALL;
    case AT_HIGH: return r->high < HUGE_VALL && r->high > r->low;
    case AT_NONE: return r->high > r->low;
    case AT_LEAST: return r->least > -HUGE_VALL;
    case AT_MOST: return r->most < HUGE_VALL;
    case T_STATES: break;
    }
    return 0;
}

/* How far a row is off what its lambda and speed should be; lambda times its A_ii is a speed. */
static inline ld t_violation(const truth_row *r, ld lambda, ld w, ld inertia) {
    ld worst = 0, low = r->low - w, high = w - r->high;
    ld below = (r->least - lambda) * inertia, above = (lambda - r->most) * inertia;
    ld up = lambda * inertia, down = -lambda * inertia;
    ld slack_low = w - r->low, slack_high = r->high - w;
    if (isnan(lambda + w)) {
        return HUGE_VALL; /* which fmaxl would forget */
    }
    ld left_most = (r->most - lambda) * inertia, left_least = (lambda - r->least) * inertia;
    worst = fmaxl(below, above);
    worst = fmaxl(worst, fminl(up, slack_low));     /* pushes up, though above low */
    worst = fmaxl(worst, fminl(down, slack_high));  /* pushes down, though below high */
    worst = fmaxl(worst, fminl(low, left_most));    /* too slow, though it could push more */
    worst = fmaxl(worst, fminl(high, left_least));
    return worst;
}

/* One choice of states: lambda, v and the largest violation. */
static inline ld t_try(const truth_step *s, int n, const t_state *state, ld *lambda, ld *v) {
    static truth_system e;
    int rows = s->rows;
    e.n = rows;
    for (int i = 0; i < rows; i++) {
        const truth_row *r = &s->row[i];
        int moving = state[i] == AT_LOW || state[i] == AT_HIGH;
        ld scale = moving ? 1 / sqrtl(s->A[i][i] + r->cfm + 1e-300L) : 1;
        for (int j = 0; j < rows; j++) {
            e.A[i][j] = moving ? scale * (s->A[i][j] + (i == j ? r->cfm : 0)) : i == j;
        }
        e.b[i] = state[i] == AT_LOW ? r->low : state[i] == AT_HIGH ? r->high :
                 state[i] == AT_LEAST ? r->least : state[i] == AT_MOST ? r->most : 0;
        if (moving) {
            e.b[i] = scale * (e.b[i] - t_row_speed(r, s->free, n));
        }
    }
    /* Columns scaled likewise: ratios up to 1e6 make entries of very different size. */
    for (int j = 0; j < rows; j++) {
        ld scale = 1 / sqrtl(s->A[j][j] + s->row[j].cfm + 1e-300L);
        for (int i = 0; i < rows; i++) {
            e.A[i][j] *= scale;
        }
    }
    truth_solve(&e, 1e-13L);
    memcpy(v, s->free, sizeof s->free);
    for (int j = 0; j < rows; j++) {
        lambda[j] = e.x[j] / sqrtl(s->A[j][j] + s->row[j].cfm + 1e-300L);
        for (int k = 0; k < n; k++) {
            v[k] += s->B[j][k] * lambda[j];
        }
    }
    ld worst = 0;
    for (int i = 0; i < rows; i++) {
        const truth_row *r = &s->row[i];
        ld inertia = s->A[i][i] + r->cfm;
        ld w = t_row_speed(r, v, n) + r->cfm * lambda[i];
        worst = fmaxl(worst, t_violation(r, lambda[i], w, inertia) / sqrtl(inertia + 1e-300L));
    }
    return worst;
}

/* Tries all choices and keeps the one that violates least; the speeds are unique. */
static inline void truth_step_solve(truth_step *s, int n) {
    t_state state[TR];
    static ld lambda[TR], v[TN];
    int rows = s->rows, i;
    for (i = 0; i < rows; i++) {
        state[i] = AT_LOW;
        while (!t_possible(&s->row[i], state[i])) {
            state[i] = (t_state)(state[i] + 1);
        }
    }
    s->violation = HUGE_VALL;
    do {
        ld violation = t_try(s, n, state, lambda, v);
        if (violation < s->violation) {
            s->violation = violation;
            memcpy(s->lambda, lambda, sizeof s->lambda);
            memcpy(s->v, v, sizeof s->v);
        }
        for (i = 0; i < rows; i++) { /* the next choice, like an odometer */
            do {
                state[i] = (t_state)(state[i] + 1);
            } while (state[i] < T_STATES && !t_possible(&s->row[i], state[i]));
            if (state[i] < T_STATES) {
                break;
            }
            state[i] = AT_LOW;
            while (!t_possible(&s->row[i], state[i])) {
                state[i] = (t_state)(state[i] + 1);
            }
        }
    } while (i < rows);
}

/* How many rows are independent, by the angles between them in the metric of the step: one of which
   the others leave less than this part of its squared length is not. Every row moves something. */
static inline int truth_step_rank(const truth_step *s, ld part) {
    static truth_system e;
    e.n = s->rows;
    for (int i = 0; i < e.n; i++) {
        ld row = s->A[i][i] + s->row[i].cfm;
        for (int j = 0; j < e.n; j++) {
            ld column = s->A[j][j] + s->row[j].cfm;
            e.A[i][j] = (s->A[i][j] + (i == j ? s->row[i].cfm : 0)) / sqrtl(row * column);
        }
        e.b[i] = 0;
    }
    return truth_solve(&e, part);
}

/* Whether two rows are those of drive, friction or limit of one joint velocity. */
static inline int t_same_joint(const truth_row *a, const truth_row *b) {
    return a->index == b->index && a->kind >= MDYN_ROW_DRIVE && a->kind <= MDYN_ROW_LIMIT
        && b->kind >= MDYN_ROW_DRIVE && b->kind <= MDYN_ROW_LIMIT;
}

/* The order of an iteration: that of s, but rows of one joint velocity behind the first of them. */
static inline void t_visit_order(const truth_step *s, int *order) {
    for (int i = 0, n = 0; i < s->rows; i++) {
        int to = n++;
        while (to > 0 && !t_same_joint(&s->row[order[to - 1]], &s->row[i])) {
            to--;
        }
        to = to > 0 ? to : n - 1;
        memmove(order + to + 1, order + to, (size_t)(n - 1 - to) * sizeof *order);
        order[to] = i;
    }
}

/* Gives row i the impulse that holds it alone, within its bounds or those that its leader has by
   now, with over-relaxation. Returns how much that changes it. */
static inline ld t_visit(truth_step *s, int n, int i, ld relaxation) {
    truth_row *r = &s->row[i];
    const ld old = s->lambda[i], w = t_row_speed(r, s->v, n) + r->cfm * old;
    const ld f = relaxation / (s->A[i][i] + r->cfm);
    const ld low = old + f * (r->low - w), high = old + f * (r->high - w);
    if (r->leader >= 0) {
        r->most = r->mu * fabsl(s->lambda[r->leader]);
        r->least = -r->most;
    }
    s->lambda[i] = low > 0 ? fminl(r->most, low) : high < 0 ? fmaxl(r->least, high) : 0;
    for (int k = 0; k < n; k++) {
        s->v[k] += s->B[i][k] * (s->lambda[i] - old);
    }
    return fabsl(s->lambda[i] - old);
}

/* One iteration over the rows of s, from impulses of zero: a visit of each, but those of one joint
   velocity together, until each of them holds. */
static inline void truth_step_iteration(truth_step *s, int n, ld relaxation) {
    int order[TR];
    t_visit_order(s, order);
    memset(s->lambda, 0, sizeof s->lambda);
    memcpy(s->v, s->free, sizeof s->v);
    for (int from = 0, to; from < s->rows; from = to) {
        for (to = from + 1; to < s->rows
             && t_same_joint(&s->row[order[from]], &s->row[order[to]]); to++) {
        }
        if (to == from + 1) {
            t_visit(s, n, order[from], relaxation);
            continue;
        }
        ld moved = 1, largest = 0;
        for (int round = 0; round < 1000000 && moved > 1e-18L * largest; round++) {
            moved = 0;
            for (int k = from; k < to; k++) {
                moved = fmaxl(moved, t_visit(s, n, order[k], 1));
                largest = fmaxl(largest, fabsl(s->lambda[order[k]]));
            }
        }
    }
}

/* How large the speeds of the step are that t and s speak of: errors are parts of it. */
static inline double truth_step_size(const truth_step *s, const truth *t) {
    return norm_speed(t, s->v) + norm_speed(t, s->free) + norm_speed(t, t->v);
}

/* The dense solution of the step that the sim is about to do. Returns by how much it misses
   its conditions, as a part of its speeds: more than rounding if there is no solution, as
   when ranges of a joint and of a coupling leave no speed. */
static inline double truth_step_of(truth_step *s, truth *t, const mdyn_model *m,
                                   const mdyn_sim *sim) {
    truth_copy(t, sim);
    truth_update(t, m);
    truth_step_begin(s, t, m, sim);
    truth_step_solve(s, t->dofs);
    return (double)s->violation / (1 + norm_speed(t, s->v));
}

/* By what part the rows of one step from a random state, without forces, enlarge the speed:
   above rounding if they give energy. */
static inline double truth_step_gain(truth_step *s, truth *t, const mdyn_model *m, mdyn_sim *sim) {
    sim_random(sim, m, 3, 0);
    truth_copy(t, sim);
    truth_update(t, m);
    truth_step_begin(s, t, m, sim);
    CHECK_EQUAL(mdyn_step(sim), MDYN_OK);
    truth_copy(t, sim);
    return norm_speed(t, t->v) / norm_speed(t, s->free) - 1;
}

/* Takes the speeds of the step from the sim that has done it. Returns truth_step_size. */
static inline double truth_step_taken(truth_step *s, const truth *t, const mdyn_sim *sim) {
    for (int i = 0; i < t->dofs; i++) {
        s->v[i] = (ld)of_real(sim->v[i]);
    }
    return truth_step_size(s, t);
}

/* By how much row k violates its conditions with the impulse lambda at the speeds s->v, as a speed.
   What lambda does is added to s->free. */
static inline double truth_step_miss(truth_step *s, const truth *t, int k, ld lambda) {
    const truth_row *r = &s->row[k];
    const ld inertia = s->A[k][k] + r->cfm, speed = t_row_speed(r, s->v, t->dofs);
    for (int i = 0; i < t->dofs; i++) {
        s->free[i] += s->B[k][i] * lambda;
    }
    return (double)(t_violation(r, lambda, speed + r->cfm * lambda, inertia) / sqrtl(inertia));
}

#endif
