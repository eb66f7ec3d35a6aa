/* Reference motion of small mechanisms with dry friction, clutches, losses and play, in double and
   without the library. The equations of motion M a = f(t, q, v) + J^T lambda are integrated by
   Gragg's modified midpoint method with Richardson extrapolation of order 10; the modes of the
   elements (sliding forwards, sticking, sliding backwards) are constant within a step and change
   at events, which are located by bisection. Where several elements may change at once, all
   combinations of modes are tried and the first consistent one, sticking before sliding, is taken.
   Included after check.h. */
#ifndef HYBRID_H
#define HYBRID_H

enum { HYBRID_DOFS = 4, HYBRID_ELEMENTS = 3 };

/* A state at time t. Commands that jump do so between steps of the test: `middle` is the middle of
   the step that t belongs to, by which they are looked up. */
typedef struct moment {
    double t, middle;
    double q[HYBRID_DOFS], v[HYBRID_DOFS];
} moment;

/* Force that an element may give along its row: while sticking, and while sliding forwards
   (C' > 0, `low`) or backwards (`high`). */
typedef struct capacity {
    double stick_low, stick_high, low, high;
} capacity;

/* mode[k]: 1 sliding forwards, 0 sticking, -1 sliding backwards; or a number of a smooth piece of
   the force law, where jacobian[k] is 0. margin[k] < 0: that mode is impossible at this moment. */
typedef struct mechanism {
    int dofs, elements;
    double mass[HYBRID_DOFS][HYBRID_DOFS];
    double jacobian[HYBRID_ELEMENTS][HYBRID_DOFS];
    void (*force)(const moment *x, const int *mode, double *f);
    void (*capacities)(const moment *x, capacity *c); /* NULL: none sticks */
    /* NULL: M a = f and the capacities; otherwise all of the equations of motion */
    void (*accelerate)(const struct mechanism *m, const moment *x, const int *mode, double *a,
                       double *margin);
    void (*pieces)(const moment *x, const int *mode, double *margin); /* NULL: one */
} mechanism;

typedef struct motion {
    const mechanism *m;
    moment x;
    int mode[HYBRID_ELEMENTS];
    long events;
    int unresolved; /* no consistent modes were found */
} motion;

static const double HYBRID_AT_REST = 2e-10;  /* C' below this may stick */
static const double HYBRID_CROSSED = -1e-10; /* C' against its mode beyond this is an event */
static const double HYBRID_AHEAD = 1e-9;     /* modes are judged this much after an event [s] */

/* A x = b by elimination with row pivoting; 0 if A is singular. */
static int hybrid_eliminate(int n, double a[][HYBRID_DOFS + HYBRID_ELEMENTS], double *b) {
    for (int i = 0; i < n; i++) {
        int pivot = i;
        for (int r = i + 1; r < n; r++) {
            pivot = fabs(a[r][i]) > fabs(a[pivot][i]) ? r : pivot;
        }
        if (fabs(a[pivot][i]) < 1e-13) {
            return 0;
        }
        for (int c = 0; c < n; c++) {
            double t = a[i][c];
            a[i][c] = a[pivot][c];
            a[pivot][c] = t;
        }
        double t = b[i];
        b[i] = b[pivot];
        b[pivot] = t;
        for (int r = 0; r < n; r++) {
            double f = r == i ? 0 : a[r][i] / a[i][i];
            for (int c = i; c < n; c++) {
                a[r][c] -= f * a[i][c];
            }
            b[r] -= f * b[i];
        }
    }
    for (int i = 0; i < n; i++) {
        b[i] /= a[i][i];
    }
    return 1;
}

static double hybrid_along(const mechanism *m, int k, const double *v) {
    double sum = 0;
    for (int i = 0; i < m->dofs; i++) {
        sum += m->jacobian[k][i] * v[i];
    }
    return sum;
}

/* Whether mode k is one of sticking and sliding, and not a piece of the force law. */
static int hybrid_slides(const mechanism *m, int k) {
    double sum = 0;
    for (int i = 0; i < m->dofs; i++) {
        sum += fabs(m->jacobian[k][i]);
    }
    return sum > 0;
}

/* Accelerations and forces of the elements that stick: [M -J^T; J 0] (a, lambda) = (f, 0). */
static void hybrid_coulomb(const mechanism *m, const moment *x, const int *mode, double *a,
                           double *margin) {
    double matrix[HYBRID_DOFS + HYBRID_ELEMENTS][HYBRID_DOFS + HYBRID_ELEMENTS] = { { 0 } };
    double b[HYBRID_DOFS + HYBRID_ELEMENTS] = { 0 };
    capacity c[HYBRID_ELEMENTS];
    int n = m->dofs, row[HYBRID_ELEMENTS];
    m->force(x, mode, b);
    if (m->capacities) {
        m->capacities(x, c);
    }
    for (int i = 0; i < m->dofs; i++) {
        for (int j = 0; j < m->dofs; j++) {
            matrix[i][j] = m->mass[i][j];
        }
    }
    for (int k = 0; k < m->elements && m->capacities; k++) {
        row[k] = mode[k] ? -1 : n++;
        for (int i = 0; i < m->dofs; i++) {
            if (mode[k]) {
                b[i] += m->jacobian[k][i] * (mode[k] > 0 ? c[k].low : c[k].high);
            } else {
                matrix[row[k]][i] = m->jacobian[k][i];
                matrix[i][row[k]] = -m->jacobian[k][i];
            }
        }
    }
    int solved = hybrid_eliminate(n, matrix, b);
    memcpy(a, b, (size_t)m->dofs * sizeof *a);
    for (int k = 0; k < m->elements && m->capacities; k++) {
        double lambda = mode[k] ? 0 : b[row[k]];
        margin[k] = mode[k] ? mode[k] * hybrid_along(m, k, a)
                            : fmin(lambda - c[k].stick_low, c[k].stick_high - lambda) + 1e-12;
        margin[k] = solved ? margin[k] : -1;
    }
    if (m->pieces) {
        m->pieces(x, mode, margin);
    }
}

static void hybrid_accelerate(const mechanism *m, const moment *x, const int *mode, double *a,
                              double *margin) {
    if (m->accelerate) {
        m->accelerate(m, x, mode, a, margin);
    } else {
        hybrid_coulomb(m, x, mode, a, margin);
    }
}

/* `step` of the modified midpoint method in `parts`, with Gragg's smoothing. */
static void hybrid_midpoint(const motion *s, double step, int parts, moment *out) {
    double a[HYBRID_DOFS], margin[HYBRID_ELEMENTS], h = step / parts;
    int n = s->m->dofs;
    moment before = s->x, now = s->x, after;
    for (int p = 0; p <= parts; p++) {
        hybrid_accelerate(s->m, &now, s->mode, a, margin);
        double length = p == 0 ? h : 2 * h;
        after = p == parts ? now : before;
        for (int i = 0; i < n && p < parts; i++) {
            after.q[i] = before.q[i] + length * now.v[i];
            after.v[i] = before.v[i] + length * a[i];
        }
        after.t = s->x.t + (p + 1) * h;
        for (int i = 0; i < n && p == parts; i++) {
            after.q[i] = (now.q[i] + before.q[i] + h * now.v[i]) / 2;
            after.v[i] = (now.v[i] + before.v[i] + h * a[i]) / 2;
        }
        before = now;
        now = after;
    }
    *out = now;
}

/* The state after `step`, modes held. */
static moment hybrid_advance(const motion *s, double step) {
    enum { COLUMNS = 5 };
    static const int parts[COLUMNS] = { 2, 4, 6, 8, 10 };
    moment table[COLUMNS];
    for (int j = 0; j < COLUMNS; j++) {
        hybrid_midpoint(s, step, parts[j], &table[j]);
        for (int k = j - 1; k >= 0; k--) {
            double r = (double)parts[j] / parts[k], w = 1 / (r * r - 1);
            for (int i = 0; i < s->m->dofs; i++) {
                table[k].q[i] = table[k + 1].q[i] + w * (table[k + 1].q[i] - table[k].q[i]);
                table[k].v[i] = table[k + 1].v[i] + w * (table[k + 1].v[i] - table[k].v[i]);
            }
        }
    }
    table[0].t = s->x.t + step;
    return table[0];
}

/* Whether the modes still hold at x. */
static int hybrid_holds(const motion *s, const moment *x) {
    double a[HYBRID_DOFS], margin[HYBRID_ELEMENTS];
    hybrid_accelerate(s->m, x, s->mode, a, margin);
    for (int k = 0; k < s->m->elements; k++) {
        if (s->mode[k] && hybrid_slides(s->m, k)
                ? s->mode[k] * hybrid_along(s->m, k, x->v) < HYBRID_CROSSED
                : margin[k] < 0) {
            return 0;
        }
    }
    return 1;
}

/* Modes that hold from now on: those that slide go on sliding, all others are looked for. */
static void hybrid_choose(motion *s) {
    static const int order[3] = { 0, 1, -1 };
    double a[HYBRID_DOFS], margin[HYBRID_ELEMENTS];
    moment x = s->x;
    int count = 1, open[HYBRID_ELEMENTS];
    x.t += HYBRID_AHEAD;
    for (int i = 0; i < s->m->dofs; i++) {
        x.q[i] += HYBRID_AHEAD * x.v[i];
    }
    for (int k = 0; k < s->m->elements; k++) {
        double along = hybrid_along(s->m, k, x.v);
        open[k] = !hybrid_slides(s->m, k) || fabs(along) <= HYBRID_AT_REST;
        s->mode[k] = open[k] ? 0 : along > 0 ? 1 : -1;
        count *= 3;
    }
    for (int c = 0; c < count; c++) {
        int digits = c, consistent = 1;
        for (int k = 0; k < s->m->elements; k++, digits /= 3) {
            s->mode[k] = open[k] ? order[digits % 3] : s->mode[k];
        }
        hybrid_accelerate(s->m, &x, s->mode, a, margin);
        for (int k = 0; k < s->m->elements; k++) {
            consistent = consistent && (!open[k] || margin[k] >= 0);
        }
        if (consistent) {
            return;
        }
    }
    s->unresolved = 1;
}

static void hybrid_begin(motion *s, const mechanism *m, const double *q, const double *v) {
    memset(s, 0, sizeof *s);
    s->m = m;
    for (int i = 0; i < m->dofs; i++) {
        s->x.q[i] = q[i];
        s->x.v[i] = v[i];
    }
}

/* From t to t + step, over any events between. */
static void hybrid_step(motion *s, double t, double step, double middle) {
    double left = step;
    s->x.t = t;
    s->x.middle = middle;
    if (!hybrid_holds(s, &s->x) || s->events == 0) {
        s->events++;
        hybrid_choose(s);
    }
    for (int guard = 0; left > 0 && guard < 1000; guard++) {
        moment end = hybrid_advance(s, left);
        if (hybrid_holds(s, &end)) {
            s->x = end;
            return;
        }
        double low = 0, high = left;
        for (int i = 0; i < 60; i++) {
            double half = (low + high) / 2;
            end = hybrid_advance(s, half);
            if (hybrid_holds(s, &end)) {
                low = half;
            } else {
                high = half;
            }
        }
        s->x = hybrid_advance(s, high);
        left -= high;
        s->events++;
        hybrid_choose(s);
    }
}

#endif
