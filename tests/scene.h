/* Mechanisms of other projects' examples, beside their reference motion. Included after check.h and
   hybrid.h. Models are written from the public descriptions. At the end of each step of 1 ms every
   coordinate and joint velocity is within 0.2 % of the range that its reference has. Commands that
   change with time are given for the middle of the step, t + dt/2. */
#ifndef SCENE_H
#define SCENE_H

static const double DT = 1e-3, BAR = 2e-3, PI = 3.14159265358979323846;
static const double REFERENCE = 1e-9; /* of the reference at steps of 1 ms and 0.5 ms */

enum { BODIES = 4, ROWS = 4, SIGNALS = 2 * BODIES };
static mdyn_body body[BODIES];
static mdyn_coupling row[ROWS];
static mdyn_model model;
static mdyn_sim sim;
static double bound_now[ROWS];        /* < 0: as in the table */
static double velocity_before[BODIES]; /* at the start of the last step */

/* ---- a scene: the mechanism of the reference and the table of the library ---- */

typedef struct scene {
    mechanism m;
    double q[HYBRID_DOFS], v[HYBRID_DOFS], end;
    double map[BODIES][HYBRID_DOFS]; /* joints of the library from coordinates of the reference */
    void (*joints)(const moment *x, double *q, double *v); /* NULL: map */
    void (*command)(double middle); /* NULL: none */
    void (*closed)(moment *x); /* what else is known of x at x->t: a closed form
                                  of q[0], v[0], or checks of its own; NULL: nothing */
    double missed; /* how far the library is off where it is known to miss the bar, for the reason
                      said there: it fails if that ends, or doubles; 0: held to the bar */
} scene;

static inline scene begin(int dofs, double end) {
    scene s;
    memset(&s, 0, sizeof s);
    memset(body, 0, sizeof body);
    memset(row, 0, sizeof row);
    memset(&model, 0, sizeof model);
    memset(velocity_before, 0, sizeof velocity_before);
    model.bodies = body;
    model.couplings = row;
    model.dt = wide(DT);
    for (int k = 0; k < ROWS; k++) {
        bound_now[k] = -1;
    }
    for (int i = 0; i < dofs; i++) {
        s.map[i][i] = 1;
    }
    s.m.dofs = dofs;
    s.end = end;
    return s;
}

static inline void rotor(double inertia) {
    mdyn_body *b = &body[model.body_count++];
    b->parent = MDYN_WORLD;
    b->joint = MDYN_REVOLUTE;
    b->armature = wide(inertia);
}

/* C = ca q_a + cb q_b; b < 0: one joint. */
static mdyn_coupling *tie(int a, double ca, int b, double cb) {
    mdyn_coupling *c = &row[model.coupling_count++];
    c->terms[0].body = (int16_t)a;
    c->terms[0].coefficient = wide(ca);
    if (b >= 0) {
        c->terms[1].body = (int16_t)b;
        c->terms[1].coefficient = wide(cb);
    }
    return c;
}

static inline void spring(int a, double ca, int b, double cb, double kp, double kd) {
    mdyn_coupling *c = tie(a, ca, b, cb);
    c->softness.kind = MDYN_KP_KD;
    c->softness.a = wide(kp);
    c->softness.b = wide(kd);
}

/* Coulomb friction on C'; `bound` sets its force. */
static inline void rubbing(int a, double ca, int b, double cb) {
    mdyn_coupling *c = tie(a, ca, b, cb);
    c->level = MDYN_VELOCITY;
    c->effort = wide(1);
}

static inline void bound(int k, double force) {
    mdyn_coupling c = row[k];
    if (force == bound_now[k]) {
        return;
    }
    if (force <= 0 || bound_now[k] <= 0) {
        CHECK_EQUAL(mdyn_engage(&sim, k, force > 0), MDYN_OK);
    }
    if (force > 0) {
        c.effort = wide(force);
        CHECK_EQUAL(mdyn_set_coupling(&sim, k, &c), MDYN_OK);
    }
    bound_now[k] = force;
}

/* Of a joint in the middle of the step, extrapolated. */
static inline double middle_velocity(int i) {
    double v = of_real(sim.v[i]);
    return v + (v - velocity_before[i]) / 2;
}

static inline void joints_of(const scene *s, const moment *x, double *signal) {
    double *q = signal, *v = signal + model.body_count;
    if (s->joints) {
        s->joints(x, q, v);
        return;
    }
    for (int i = 0; i < model.body_count; i++) {
        q[i] = v[i] = 0;
        for (int j = 0; j < s->m.dofs; j++) {
            q[i] += s->map[i][j] * x->q[j];
            v[i] += s->map[i][j] * x->v[j];
        }
    }
}

/* ---- the comparison ---- */

typedef struct span { double low, high, off, unsure; } span; /* of a signal */

static inline void widen(span *s, double want, double got, double again) {
    s->low = fmin(s->low, want);
    s->high = fmax(s->high, want);
    s->off = worse(fabs(got - want), s->off);
    s->unsure = worse(fabs(again - want), s->unsure);
}

/* What a closed form of the first coordinate says. */
static inline void join_closed_form(const scene *s, const moment *x, double *signal) {
    moment form = *x;
    if (s->closed) {
        s->closed(&form);
    }
    joints_of(s, &form, signal);
}

static inline int start(const scene *s, const motion *reference, span *spans) {
    double signal[SIGNALS];
    joints_of(s, &reference->x, signal);
    if (!CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK)) {
        return 0;
    }
    for (int i = 0; i < model.body_count; i++) {
        sim.q[i] = real(signal[i]);
        sim.v[i] = real(signal[model.body_count + i]);
        velocity_before[i] = signal[model.body_count + i];
    }
    for (int i = 0; i < 2 * model.body_count; i++) {
        spans[i].low = spans[i].high = signal[i];
        spans[i].off = spans[i].unsure = 0;
    }
    return 1;
}

static inline int step_of_library(const scene *s, double middle) {
    double now[BODIES];
    for (int i = 0; i < model.body_count; i++) {
        now[i] = of_real(sim.v[i]);
    }
    if (s->command) {
        s->command(middle);
    }
    memcpy(velocity_before, now, sizeof now);
    return CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
}

static inline void compare(const scene *s, const span *spans, const char *name,
                           const motion *reference) {
    double worst = 0, unsure = 0;
    int at = 0, n = model.body_count;
    for (int i = 0; i < 2 * n; i++) {
        double range = spans[i].high - spans[i].low;
        at = worse(spans[i].off / range, worst) > worst ? i : at;
        worst = worse(spans[i].off / range, worst);
        unsure = worse(spans[i].unsure / range, unsure);
    }
    printf("%-24s %6.1f s  %8.2e  %c[%d]  range %-9.3g %8.1e  %5ld%s\n", name, s->end, worst,
           at < n ? 'q' : 'v', at % n, spans[at].high - spans[at].low, unsure, reference->events,
           s->missed > 0 ? "  misses the bar" : "");
    CHECK_NEAR(unsure, 0, REFERENCE);
    if (s->missed > 0 ? !CHECK(worst > BAR && worst < 2 * s->missed)
                      : !CHECK_NEAR(worst, 0, BAR)) {
        CHECK_NOTE("%s\n", name);
    }
}

static inline void run(const char *name, const scene *s) {
    motion whole, halves;
    span spans[SIGNALS];
    double want[SIGNALS], again[SIGNALS], form[SIGNALS];
    int n = model.body_count, steps = (int)lround(s->end / DT);
    hybrid_begin(&whole, &s->m, s->q, s->v);
    halves = whole;
    if (!start(s, &whole, spans)) {
        return;
    }
    for (int k = 0; k < steps; k++) {
        double t = k * DT, middle = t + DT / 2;
        hybrid_step(&whole, t, DT, middle);
        hybrid_step(&halves, t, DT / 2, middle);
        hybrid_step(&halves, t + DT / 2, DT / 2, middle);
        if (!step_of_library(s, middle)) {
            return;
        }
        joints_of(s, &whole.x, want);
        joints_of(s, &halves.x, again);
        join_closed_form(s, &whole.x, form);
        for (int i = 0; i < 2 * n; i++) {
            widen(&spans[i], want[i], of_real(i < n ? sim.q[i] : sim.v[i - n]), again[i]);
            spans[i].unsure = worse(fabs(form[i] - want[i]), spans[i].unsure);
        }
    }
    CHECK(!whole.unresolved && !halves.unresolved);
    compare(s, spans, name, &whole);
}

static inline void heading(void) {
    printf("%-24s %8s  %-8s  at    %-16s %-8s  events\n", "1 ms", "until", "of range", "of signal",
           "unsure");
}

#endif
