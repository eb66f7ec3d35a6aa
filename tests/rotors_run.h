/* Random rotors and sliders on the world, with rows of every kind and changes of every number on
   the way, and how they move, as doubles. Included after mimicdyn.h and check.h by builds with and
   without trees and of several scalars: all inputs have at most 24 bits, so that every scalar
   starts from the same numbers. */
#ifndef ROTORS_RUN_H
#define ROTORS_RUN_H

enum { ROTORS = 5, ROTORS_COUPLINGS = 5, ROTORS_STEPS = 120, ROTORS_KINDS = 4 };
enum { ROTORS_ITERATIONS = 5000 };

/* What mechanisms have more of than others. */
typedef enum rotors_family {
    ROTORS_MIXED,     /* anything */
    ROTORS_TRAINS,    /* hard couplings: chains, joints of three, redundant ones */
    ROTORS_CONTRARY,  /* hard couplings that contradict each other */
    ROTORS_SOFT,      /* every softness */
    ROTORS_BOUNDED,   /* couplings of limited effort, some of which break */
    ROTORS_BACKLASH,  /* ranges, of positions and velocities, hard and soft */
    ROTORS_DRIVEN,    /* drive, friction and limit of every joint */
    ROTORS_FAR,       /* hundred thousand radians from 0 */
    ROTORS_FAMILIES
} rotors_family;

/* What a row says after a step. `code`: that of mdyn_report_row. */
typedef struct rotors_row {
    double force, power, error, velocity, residual;
    int code, flags;
} rotors_row;

/* C' = sum of ratio v of a coupling as it is now. */
typedef struct rotors_link {
    double ratio[ROTORS], effort;
    int hard, is_range;      /* hard: its force does not follow from the motion of its joints */
} rotors_link;

typedef struct rotors_state {
    double q[ROTORS], v[ROTORS];
    rotors_row row[ROTORS_KINDS][ROTORS]; /* coupling, drive, friction, limit */
    rotors_link link[ROTORS_COUPLINGS];
    double share[ROTORS_COUPLINGS];       /* of the first term: mdyn_coupling_force */
    int code, index, iterations, redundant, contradictory, broken;
    int project_code, change, change_code, turns; /* change before this step: its number, or -1 */
} rotors_state;

typedef struct rotors_motion {
    int init_code, init_index, bodies, couplings, steps;
    rotors_state state[ROTORS_STEPS];
} rotors_motion;

/* The same motion by the build with trees: in the scalar of the program, and in F64. */
void rotors_run_tree(uint32_t seed, rotors_family family, rotors_motion *m);
void rotors_run_exact(uint32_t seed, rotors_family family, rotors_motion *m);

/* What mdyn_init and a replacement say of tables that are spoilt in one or two places, and whether
   what follows is finite. */
typedef struct rotors_verdict {
    int code, index, body_code, coupling_code, finite;
} rotors_verdict;
void rotors_judge_tree(uint32_t seed, rotors_verdict *verdict);

static uint32_t rotors_seed;
static mdyn_body rotors_bodies[ROTORS];
static mdyn_coupling rotors_couplings[ROTORS_COUPLINGS], rotors_present[ROTORS_COUPLINGS];
static mdyn_real rotors_start[ROTORS];
static mdyn_model rotors_model;
static int rotors_projects; /* positions are put on couplings before each step that may be off */

/* 0 to n - 1 */
static int rotors_any(int n) {
    rotors_seed = (uint32_t)((rotors_seed * (uint64_t)1664525 + 1013904223) & UINT32_MAX);
    return (int)((rotors_seed >> 16) % (uint32_t)n);
}

static int rotors_one_in(int n) { return rotors_any(n) == 0; }

/* lowest to highest, a float */
static double rotors_between(double lowest, double highest) {
    return (double)(float)(lowest + (highest - lowest) * rotors_any(4096) / 4096);
}

/* the same, a multiple of 2^-16: states and commands */
static mdyn_real rotors_real(double lowest, double highest) {
    return real(floor(65536 * rotors_between(lowest, highest)) / 65536);
}

static mdyn_softness rotors_softness(void) {
    mdyn_softness s;
    double a = 0, b = 0;
    memset(&s, 0, sizeof s);
    s.kind = (mdyn_softness_kind)rotors_any(5);
    switch (s.kind) {
    case MDYN_KP_KD:
        a = rotors_one_in(4) ? 0 : rotors_between(0, 20);
        b = rotors_between(0.001, 0.1);
        break;
    case MDYN_OMEGA_ZETA:
        a = rotors_between(10, 200);
        b = rotors_between(0.1, 1);
        break;
    case MDYN_ODE_CFM: case MDYN_ERP_CFM:
        a = rotors_between(0.1, 0.8);
        b = rotors_one_in(3) ? 0 : rotors_between(0.01, 1);
        break;
    default: break;
    }
    s.a = wide(a);
    s.b = wide(b);
    return s;
}

static int rotors_is_hard(const mdyn_softness *s) {
    const double a = of_wide(s->a), b = of_wide(s->b);
    return s->kind == MDYN_DEFAULT || (s->kind == MDYN_OMEGA_ZETA && a <= 0)
        || ((s->kind == MDYN_ERP_CFM || s->kind == MDYN_ODE_CFM) && b <= 0);
}

/* Far from 0, and where rows shall contradict each other, ratios that rounding does not touch. */
static double rotors_ratio(rotors_family family) {
    static const double exact[] = { 1, -1, 2, -2, 3, -0.5 };
    if (family == ROTORS_FAR || family == ROTORS_CONTRARY) return exact[rotors_any(6)];
    return rotors_between(-3, 3) + 1.0 / 1024;
}

static void rotors_make_terms(mdyn_coupling *c, int count, rotors_family family) {
    const int most = family == ROTORS_TRAINS || family == ROTORS_CONTRARY ? 2 + rotors_one_in(3)
                                                                          : 1 + rotors_any(3);
    const int first = rotors_any(count);
    double offset = family == ROTORS_CONTRARY ? rotors_any(3) / 16.0 : 0;
    for (int k = 0; k < most && k < count; k++) {
        const double ratio = rotors_ratio(family);
        const int b = (first + k) % count;
        c->terms[k].body = (int16_t)b;
        c->terms[k].coefficient = wide(ratio);
        if (family == ROTORS_FAR) offset -= ratio * of_real(rotors_start[b]);
    }
    c->offset = wide(offset);
}

/* Which joint of a coupling of default softness moves to correct its position is a matter of the
   build. So such a coupling is either put where it holds, or corrected by all of its joints. */
static void rotors_choose_correction(mdyn_coupling *c) {
    if (c->softness.kind != MDYN_DEFAULT) return;
    if (rotors_projects && !(fabs(of_wide(c->target_velocity)) > 0)) return;
    c->softness.kind = MDYN_ERP_CFM;
    c->softness.a = wide(rotors_between(0.1, 0.8));
}

static void rotors_make_coupling(mdyn_coupling *c, int count, rotors_family family) {
    const int rest = family == ROTORS_TRAINS || family == ROTORS_CONTRARY ? 12 : 3;
    memset(c, 0, sizeof *c);
    rotors_make_terms(c, count, family);
    if (rotors_one_in(family == ROTORS_BOUNDED ? 1 : rest)) {
        c->effort = wide(rotors_between(0.01, 0.3));
        c->breaks = (int16_t)rotors_one_in(family == ROTORS_BOUNDED ? 3 : 20);
    }
    if (rotors_one_in(family == ROTORS_SOFT ? 1 : rest)) c->softness = rotors_softness();
    if (rotors_one_in(family == ROTORS_BACKLASH ? 1 : rest + 1)) {
        c->lower = wide(rotors_between(-0.1, 0));
        c->upper = rotors_one_in(6) ? MDYN_UNLIMITED : wide(rotors_between(0.001, 0.1));
    }
    if (rotors_one_in(rest + 2)) c->level = MDYN_VELOCITY;
    if (rotors_one_in(rest + 3)) c->target_velocity = wide(rotors_between(-1, 1));
    rotors_choose_correction(c);
}

/* As coupling i, or one that says the same as the one before. */
static void rotors_make_first_coupling(int i, int count, rotors_family family) {
    mdyn_coupling *c = &rotors_couplings[i];
    rotors_make_coupling(c, count, family);
    if (i == 0 || family != ROTORS_TRAINS || !rotors_one_in(4)) return;
    *c = c[-1];
    for (int k = 0; k < MIMICDYN_MAX_TERMS; k++)
        c->terms[k].coefficient = wide(-2 * of_wide(c->terms[k].coefficient));
    c->offset = wide(-2 * of_wide(c->offset));
}

static void rotors_make_body(mdyn_body *b, rotors_family family) {
    const mdyn_joint joint = b->joint;
    const int rest = family == ROTORS_DRIVEN ? 1 : 3;
    memset(b, 0, sizeof *b);
    b->parent = MDYN_WORLD;
    b->joint = joint;
    b->armature = wide(rotors_between(0.0001, 0.01));
    if (rotors_one_in(3)) b->damping = wide(rotors_between(0, 0.2));
    if (rotors_one_in(rest)) b->friction = wide(rotors_between(0, 0.05));
    if (rotors_one_in(rest)) b->effort = wide(rotors_between(0.1, 1));
    if (rotors_one_in(rest)) {
        b->drive_kp = wide(rotors_one_in(5) ? 0 : rotors_between(0.1, 5));
        b->drive_kd = wide(rotors_between(0.001, 0.05));
    }
    if (family != ROTORS_FAR && rotors_one_in(rest)) {
        b->lower = wide(rotors_between(-0.4, 0));
        b->upper = wide(rotors_between(0.1, 0.5));
    }
}

static int rotors_replace(mdyn_sim *sim, int i, const mdyn_coupling *c) {
    const int code = mdyn_set_coupling(sim, i, c);
    if (code >= 0) rotors_present[i] = *c;
    return code;
}

enum { ROTORS_CHANGES = 13 };

/* One of the calls that change what rows are made of, or the state. The offsets of couplings far
   from 0 follow what mdyn_rebase does, so there a coupling is not replaced. */
static int rotors_change(mdyn_sim *sim, int change, rotors_family family, int *turns) {
    const int i = rotors_any(rotors_model.coupling_count), b = rotors_any(rotors_model.body_count);
    int32_t whole = 0;
    mdyn_coupling c = rotors_present[i];
    mdyn_body body = rotors_bodies[b];
    if (change < 3 && family == ROTORS_FAR) change = 6;
    switch (change) {
    case 0: rotors_make_coupling(&c, rotors_model.body_count, family); break;
    case 1: c.softness = rotors_softness(); rotors_choose_correction(&c); break;
    case 2: c.effort = wide(rotors_between(0.01, 0.5)); break;
    case 3: rotors_make_body(&body, family); return mdyn_set_body(sim, b, &body);
    case 4: body.drive_kp = wide(rotors_between(0.1, 9)); return mdyn_set_body(sim, b, &body);
    case 5: return mdyn_set_dt(sim, wide(rotors_between(0.0005, 0.002)));
    case 6: return mdyn_engage(sim, i, rotors_any(3));
    case 7: return mdyn_project(sim, MDYN_MASS_METRIC);
    case 8: return mdyn_project(sim, MDYN_FOLLOWERS);
    case 9: return mdyn_reset(sim);
    case 10: {
        const mdyn_real target = rotors_real(-0.2, 0.2);
        if (family == ROTORS_FAR || rotors_projects) return mdyn_engage(sim, i, MDYN_ENGAGE_HERE);
        return mdyn_set_coupling_target(sim, i, target, rotors_real(-1, 1));
    }
    case 11: {
        const int code = mdyn_rebase(sim, b, &whole);
        *turns = code == MDYN_OK ? (int)whole : 0;
        return code;
    }
    default:
        sim->q[b] += rotors_real(-0.1, 0.1);
        sim->v[b] = rotors_real(-2, 2);
        return MDYN_OK;
    }
    return rotors_replace(sim, i, &c);
}

static void rotors_note_link(rotors_link *link, const mdyn_coupling *c) {
    link->effort = of_wide(c->effort);
    link->hard = rotors_is_hard(&c->softness);
    link->is_range = of_wide(c->lower) < of_wide(c->upper);
    for (int k = 0; k < MIMICDYN_MAX_TERMS; k++)
        link->ratio[c->terms[k].body] += of_wide(c->terms[k].coefficient);
}

static void rotors_note_row(const mdyn_sim *sim, mdyn_row_kind kind, int k, rotors_row *to) {
    mdyn_row_report r;
    memset(&r, 0, sizeof r);
    to->code = mdyn_report_row(sim, kind, k, &r);
    if (to->code != MDYN_OK) return;
    to->force = of_wide(r.force);
    to->power = of_wide(r.power);
    to->error = of_wide(r.error);
    to->velocity = of_wide(r.velocity);
    to->residual = of_wide(r.residual);
    to->flags = r.flags;
}

static void rotors_note(mdyn_sim *sim, rotors_state *s, int code) {
    static const mdyn_row_kind kinds[ROTORS_KINDS] = { MDYN_ROW_COUPLING, MDYN_ROW_DRIVE,
                                                       MDYN_ROW_FRICTION, MDYN_ROW_LIMIT };
    s->code = code;
    s->index = code == MDYN_OK ? -1 : sim->culprit.index;
    s->iterations = sim->report.iterations;
    s->redundant = sim->report.redundant;
    s->contradictory = sim->report.contradictory;
    s->broken = sim->report.broken;
    for (int k = 0; k < rotors_model.body_count; k++) {
        s->q[k] = of_real(sim->q[k]);
        s->v[k] = of_real(sim->v[k]);
    }
    for (int k = 0; k < rotors_model.coupling_count; k++) {
        mdyn_wide share = wide(0);
        rotors_note_link(&s->link[k], &rotors_present[k]);
        (void)mdyn_coupling_force(sim, k, 0, &share);
        s->share[k] = of_wide(share);
    }
    for (int kind = 0; kind < ROTORS_KINDS; kind++)
        for (int k = 0; k < ROTORS; k++)
            rotors_note_row(sim, kinds[kind], k, &s->row[kind][k]);
}

/* The tables of a seed. */
static void rotors_make(uint32_t seed, rotors_family family) {
    mdyn_model *m = &rotors_model;
    memset(m, 0, sizeof *m);
    memset(rotors_bodies, 0, sizeof rotors_bodies);
    memset(rotors_couplings, 0, sizeof rotors_couplings);
    rotors_seed = seed;
    rotors_projects = rotors_one_in(2);
    m->bodies = rotors_bodies;
    m->couplings = rotors_couplings;
    m->start = rotors_start;
    m->body_count = 2 + rotors_any(ROTORS - 1);
    m->coupling_count = 1 + rotors_any(ROTORS_COUPLINGS);
    m->dt = wide((double)0.001f);
    m->solver.iterations = ROTORS_ITERATIONS;
    for (int i = 0; i < ROTORS; i++) {
        rotors_start[i] = real(0);
        if (family == ROTORS_FAR) rotors_start[i] = real(2 * rotors_any(65536) - 65536);
        else if (rotors_one_in(4)) rotors_start[i] = rotors_real(-0.1, 0.1);
    }
    for (int i = 0; i < m->body_count; i++) {
        rotors_bodies[i].joint = rotors_any(4) ? MDYN_REVOLUTE : MDYN_PRISMATIC;
        rotors_make_body(&rotors_bodies[i], family);
    }
    for (int i = 0; i < m->coupling_count; i++)
        rotors_make_first_coupling(i, m->body_count, family);
    memcpy(rotors_present, rotors_couplings, sizeof rotors_present);
}

/* Moves the mechanism of a seed until a step is refused. m->steps: 0 where mdyn_init refused it. */
static void rotors_run(mdyn_sim *sim, uint32_t seed, rotors_family family, rotors_motion *m) {
    memset(m, 0, sizeof *m);
    rotors_make(seed, family);
    m->bodies = rotors_model.body_count;
    m->couplings = rotors_model.coupling_count;
    m->init_code = mdyn_init(sim, &rotors_model);
    m->init_index = m->init_code == MDYN_OK ? -1 : sim->culprit.index;
    if (m->init_code < 0) return;
    for (int i = 0; i < m->bodies && family == ROTORS_FAR; i++) sim->target[i] = rotors_start[i];

    while (m->steps < ROTORS_STEPS) {
        rotors_state *s = &m->state[m->steps];
        int code;
        s->change = rotors_one_in(10) ? rotors_any(ROTORS_CHANGES) : -1;
        if (s->change >= 0) s->change_code = rotors_change(sim, s->change, family, &s->turns);
        if (rotors_projects && (s->change >= 0 || m->steps == 0))
            s->project_code = mdyn_project(sim, MDYN_MASS_METRIC);
        for (int i = 0; i < m->bodies; i++) {
            if (rotors_one_in(20)) sim->tau[i] = rotors_real(-0.5, 0.5);
            if (rotors_one_in(20) && family != ROTORS_FAR) sim->target[i] = rotors_real(-0.5, 0.5);
        }
        code = mdyn_step(sim);
        rotors_note(sim, s, code);
        m->steps++;
        if (code < 0) return;
    }
}

/* ---- spoilt tables ---- */

/* Of every kind that no field expects. */
static void rotors_spoil_number(mdyn_wide *x) {
    static const double odd[] = { -1, 1e-12, 1e12, -1e12, 1e15, 2, 1e-30, 0 };
    const int n = rotors_any(CHECK_BAD_WIDES + 8);
    if (n < CHECK_BAD_WIDES) bad_wide(x, n);
    else *x = wide(odd[n - CHECK_BAD_WIDES]);
}

static void rotors_spoil_body(mdyn_body *b) {
    mdyn_wide *numbers[] = { &b->armature, &b->damping, &b->friction, &b->lower, &b->upper,
                             &b->effort, &b->drive_kp, &b->drive_kd };
    if (rotors_one_in(6)) b->joint = (mdyn_joint)(rotors_one_in(2) ? MDYN_FREE + 1 : -1);
    else rotors_spoil_number(numbers[rotors_any(8)]);
}

static void rotors_spoil_coupling(mdyn_coupling *c) {
    mdyn_wide *numbers[] = { &c->offset, &c->softness.a, &c->softness.b, &c->lower, &c->upper,
                             &c->target_velocity, &c->effort, &c->terms[0].coefficient,
                             &c->terms[1].coefficient };
    mdyn_term *term = &c->terms[rotors_any(MIMICDYN_MAX_TERMS)];
    switch (rotors_any(12)) {
    case 0: term->body = (int16_t)(rotors_any(12) - 3); break;
    case 1: term->axis = (int8_t)(rotors_any(5) - 2); break;
    case 2: c->softness.kind = (mdyn_softness_kind)(rotors_any(9) - 2); break;
    case 3: c->level = (mdyn_level)(rotors_any(5) - 1); break;
    case 4: memset(c->terms, 0, sizeof c->terms); break;
    case 5: term->body = c->terms[0].body; break;
    case 6: term->curve = 1; break;
    default: rotors_spoil_number(numbers[rotors_any(9)]); break;
    }
}

static void rotors_spoil(void) {
    switch (rotors_any(6)) {
    case 0: rotors_spoil_number(&rotors_model.dt); break;
    case 1: rotors_spoil_body(&rotors_bodies[rotors_any(rotors_model.body_count)]); break;
    case 2: rotors_spoil_number(&rotors_model.solver.accuracy); break;
    default:
        rotors_spoil_coupling(&rotors_couplings[rotors_any(rotors_model.coupling_count)]);
        break;
    }
}

static int rotors_is_finite(const mdyn_sim *sim) {
    rotors_state s;
    int finite = 1;
    memset(&s, 0, sizeof s);
    rotors_note((mdyn_sim *)sim, &s, 0);
    for (int k = 0; k < rotors_model.body_count; k++) {
        finite &= isfinite(s.q[k]) && isfinite(s.v[k]) && fabs(s.q[k]) < 8388608;
        for (int kind = 0; kind < ROTORS_KINDS; kind++)
            finite &= isfinite(s.row[kind][k].force) && isfinite(s.row[kind][k].residual);
    }
    return finite;
}

static void rotors_judge(mdyn_sim *sim, uint32_t seed, rotors_verdict *to) {
    mdyn_body body;
    mdyn_coupling coupling;
    memset(to, 0, sizeof *to);
    to->finite = 1;
    rotors_make(seed, ROTORS_MIXED);
    body = rotors_bodies[0];
    coupling = rotors_couplings[0];
    rotors_spoil();
    if (rotors_one_in(3)) rotors_spoil();
    to->code = mdyn_init(sim, &rotors_model);
    to->index = to->code == MDYN_OK ? -1 : sim->culprit.index;

    /* where the tables were not refused, replacements may be */
    if (to->code < 0) return;
    memcpy(rotors_present, rotors_couplings, sizeof rotors_present);
    for (int n = 0; n < 10; n++) (void)mdyn_step(sim);
    rotors_spoil_body(&body);
    rotors_spoil_coupling(&coupling);
    to->body_code = mdyn_set_body(sim, 0, &body);
    to->coupling_code = rotors_replace(sim, 0, &coupling);
    for (int n = 0; n < 10; n++) (void)mdyn_step(sim);
    to->finite = rotors_is_finite(sim);
}

#endif
