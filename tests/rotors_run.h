/* Random rotors and sliders on the world, with rows of every kind and changes of every number on
   the way, and how they move. Included after mimicdyn.h by builds with and without trees. */
#ifndef ROTORS_RUN_H
#define ROTORS_RUN_H

enum { ROTORS = 5, ROTORS_COUPLINGS = 5, ROTORS_STEPS = 120 };

/* What a step leaves: numbers of all scalars as they are. */
typedef struct rotors_state {
    mdyn_real q[ROTORS], v[ROTORS];
    mdyn_row_report rows[4 * ROTORS_COUPLINGS];
    int code, row_count, iterations;
} rotors_state;

/* The same motion by the build with trees. */
int rotors_run_tree(uint32_t seed, int plain, rotors_state state[ROTORS_STEPS]);

static uint32_t rotors_seed;
static int rotors_are_plain;
static mdyn_body rotors_bodies[ROTORS];
static mdyn_coupling rotors_couplings[ROTORS_COUPLINGS];

/* 0 to n - 1 */
static int rotors_any(int n) {
    rotors_seed = (uint32_t)((rotors_seed * (uint64_t)1664525 + 1013904223) & UINT32_MAX);
    return (int)((rotors_seed >> 16) % (uint32_t)n);
}

/* lowest to highest, in steps that float has too */
static double rotors_between(double lowest, double highest) {
    return lowest + (highest - lowest) * rotors_any(4096) / 4096;
}

static mdyn_wide rotors_wide(double x) { return mdyn_wide_from(x); }

static mdyn_softness rotors_softness(void) {
    mdyn_softness s;
    memset(&s, 0, sizeof s);
    s.kind = (mdyn_softness_kind)rotors_any(5);
    switch (s.kind) {
    case MDYN_KP_KD:
        s.a = rotors_wide(rotors_between(0, 20));
        s.b = rotors_wide(rotors_between(0.001, 0.1));
        break;
    case MDYN_OMEGA_ZETA:
        s.a = rotors_wide(rotors_between(10, 200));
        s.b = rotors_wide(rotors_between(0.1, 1));
        break;
    case MDYN_ODE_CFM: case MDYN_ERP_CFM:
        s.a = rotors_wide(rotors_between(0.1, 0.8));
        s.b = rotors_wide(rotors_between(0.01, 1));
        break;
    default: break;
    }
    return s;
}

static void rotors_make_coupling(mdyn_coupling *c, int count) {
    int k, terms = 1 + rotors_any(3), first = rotors_any(count);
    memset(c, 0, sizeof *c);
    for (k = 0; k < terms && k < count; k++) {
        c->terms[k].body = (int16_t)((first + k) % count);
        c->terms[k].coefficient = rotors_wide(rotors_between(-3, 3) + 0.001);
    }
    if (rotors_any(3) == 0) c->effort = rotors_wide(rotors_between(0.01, 0.3));
    if (rotors_any(3) == 0) c->softness = rotors_softness();
    if (rotors_any(4) == 0) {
        c->lower = rotors_wide(rotors_between(-0.1, 0));
        c->upper = rotors_wide(rotors_between(0.001, 0.1));
    }
    if (rotors_any(5) == 0) c->level = MDYN_VELOCITY;
    if (rotors_any(6) == 0) c->target_velocity = rotors_wide(rotors_between(-1, 1));
    if (rotors_any(8) == 0 && !rotors_are_plain)
        c->efficiency = rotors_wide(rotors_between(0.5, 0.9));
}

static void rotors_make_body(mdyn_body *b) {
    const mdyn_joint joint = b->joint;
    memset(b, 0, sizeof *b);
    b->parent = MDYN_WORLD;
    b->joint = joint;
    b->armature = rotors_wide(rotors_between(0.0001, 0.01));
    if (rotors_any(3) == 0) b->damping = rotors_wide(rotors_between(0, 0.2));
    if (rotors_any(3) == 0) b->friction = rotors_wide(rotors_between(0, 0.05));
    if (rotors_any(3) == 0) b->effort = rotors_wide(rotors_between(0.1, 1));
    if (rotors_any(2) == 0) {
        b->drive_kp = rotors_wide(rotors_between(0.1, 5));
        b->drive_kd = rotors_wide(rotors_between(0.001, 0.05));
    }
    if (rotors_any(3) == 0) {
        b->lower = rotors_wide(rotors_between(-0.4, 0));
        b->upper = rotors_wide(rotors_between(0.1, 0.5));
    }
}

/* One of the calls that change what rows are made of. */
static int rotors_change(mdyn_sim *sim, mdyn_model *model) {
    const int i = rotors_any(model->coupling_count), b = rotors_any(model->body_count);
    mdyn_wide a[ROTORS];
    mdyn_coupling c = rotors_couplings[i];
    mdyn_body body = rotors_bodies[b];
    mdyn_solver solver = model->solver;
    switch (rotors_any(13)) {
    case 0: rotors_make_coupling(&c, model->body_count); return mdyn_set_coupling(sim, i, &c);
    case 1: c.softness = rotors_softness(); return mdyn_set_coupling(sim, i, &c);
    case 2:
        c.effort = rotors_wide(rotors_between(0.01, 0.5));
        return mdyn_set_coupling(sim, i, &c);
    case 3: rotors_make_body(&body); return mdyn_set_body(sim, b, &body);
    case 4:
        body.drive_kp = rotors_wide(rotors_between(0.1, 9));
        return mdyn_set_body(sim, b, &body);
    case 5: return mdyn_set_dt(sim, rotors_wide(rotors_between(0.0005, 0.002)));
    case 6: return mdyn_engage(sim, i, rotors_any(2) ? MDYN_RELEASE : MDYN_ENGAGE_HERE);
    case 7: return mdyn_project(sim, MDYN_MASS_METRIC);
    case 8: return mdyn_constrained_dynamics(sim, a);
    case 9: return mdyn_reset(sim);
    case 10: return mdyn_forward_dynamics(sim, a);
    case 11:
        return mdyn_set_coupling_target(sim, i, mdyn_real_from(rotors_between(-0.2, 0.2)),
                                        mdyn_real_from(rotors_between(-1, 1)));
    default: break;
    }
    if (rotors_are_plain) return MDYN_OK;
    if (rotors_any(2)) solver.scheme = MDYN_EXPLICIT;
    if (rotors_any(2)) solver.equality = MDYN_ITERATED;
    if (rotors_any(2)) solver.correction = MDYN_RELAX;
    if (rotors_any(2)) solver.limits = MDYN_ENGAGED;
    if (rotors_any(2)) {
        solver.method = MDYN_TGS;
        solver.substeps = (uint16_t)(1 + rotors_any(3));
    }
    return mdyn_set_solver(sim, &solver);
}

static void rotors_note(mdyn_sim *sim, rotors_state *s, int code) {
    int kind, k;
    memset(s, 0, sizeof *s);
    memcpy(s->q, sim->q, sizeof s->q);
    memcpy(s->v, sim->v, sizeof s->v);
    s->code = code;
    s->iterations = sim->report.iterations;
    for (kind = MDYN_ROW_COUPLING; kind <= MDYN_ROW_LIMIT; kind++)
        for (k = 0; k < ROTORS; k++) {
            mdyn_row_report *r = &s->rows[s->row_count];
            s->row_count += mdyn_report_row(sim, (mdyn_row_kind)kind, k, r) >= 0
                && s->row_count < 4 * ROTORS_COUPLINGS - 1;
        }
}

/* Moves the mechanism of a seed; a `plain` one has nothing that builds with MIMICDYN_LOSSES and
   MIMICDYN_SETTINGS 0 refuse. `before_step` and `after_step` may be NULL. Returns the steps made, 0
   where mdyn_init refused it. */
static int rotors_run(mdyn_sim *sim, uint32_t seed, int plain, rotors_state state[ROTORS_STEPS],
                      void (*before_step)(mdyn_sim *), void (*after_step)(mdyn_sim *)) {
    static mdyn_model model;
    int i, n;
    rotors_are_plain = plain;
    memset(&model, 0, sizeof model);
    memset(rotors_bodies, 0, sizeof rotors_bodies);
    rotors_seed = seed;
    model.bodies = rotors_bodies;
    model.couplings = rotors_couplings;
    model.body_count = 2 + rotors_any(ROTORS - 1);
    model.coupling_count = 1 + rotors_any(ROTORS_COUPLINGS);
    model.dt = MDYN_C(0.001);
    for (i = 0; i < model.body_count; i++) {
        rotors_bodies[i].joint = rotors_any(4) ? MDYN_REVOLUTE : MDYN_PRISMATIC;
        rotors_make_body(&rotors_bodies[i]);
    }
    for (i = 0; i < model.coupling_count; i++)
        rotors_make_coupling(&rotors_couplings[i], model.body_count);
    if (mdyn_init(sim, &model) < 0) return 0;

    for (n = 0; n < ROTORS_STEPS; n++) {
        if (rotors_any(10) == 0) (void)rotors_change(sim, &model);
        for (i = 0; i < model.body_count; i++) {
            if (rotors_any(20) == 0) sim->tau[i] = mdyn_real_from(rotors_between(-0.5, 0.5));
            if (rotors_any(20) == 0) sim->target[i] = mdyn_real_from(rotors_between(-0.5, 0.5));
        }
        if (before_step) before_step(sim);
        i = mdyn_step(sim);
        rotors_note(sim, &state[n], i);
        if (after_step) after_step(sim);
    }
    return n;
}

#endif
