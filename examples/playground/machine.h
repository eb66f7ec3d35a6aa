/* machine.h - what the machines of the page share: numbers as double, the hand that takes hold of a
   joint, the hash of a motion. */

#ifndef PLAYGROUND_MACHINE_H
#define PLAYGROUND_MACHINE_H

/* The header's numbers as double. */
#if MDYN_SCALAR == MDYN_SCALAR_FIXED
static double real(mdyn_real x) { return (double)x / 1099511627776.0; }
static double wide(mdyn_wide x)
{
    double value = (double)(x >> 8);
    int e = (int)(x & 255);
    for (e = e < 128 ? e : e - 256; e > 0; e--) value *= 2;
    for (; e < 0; e++) value /= 2;
    return value;
}
#else
static double real(mdyn_real x) { return (double)x; }
static double wide(mdyn_wide x) { return (double)x; }
#endif

/* x within bound of 0. An mdyn_real is compared and added like any number in every scalar. */
static mdyn_real within(mdyn_real x, mdyn_real bound)
{
    return x > bound ? bound : x < -bound ? -bound : x;
}

/* A mechanism with tables of its own, since the page changes limits, drives and couplings. */
typedef struct machine {
    mdyn_sim sim;
    mdyn_model model;
    mdyn_body bodies[MIMICDYN_MAX_BODIES];
    mdyn_coupling couplings[MIMICDYN_MAX_COUPLINGS];
    mdyn_coupling now[MIMICDYN_MAX_COUPLINGS]; /* with what was set since the start */
    int code;      /* of mdyn_init */
    int culprit;   /* its index */
    int held;      /* body in the hand; -1: none */
    mdyn_real goal; /* where the motor shall go, in the unit of the machine's setting */
    uint64_t hash; /* of all states since the start */
    double joules[8]; /* energies since the start, see hoist.h */
} machine;

/* From the tables and the model that the machine's file has filled in. */
static void machine_begin(machine *m)
{
    int i;
    m->model.bodies = m->bodies;
    m->model.couplings = m->couplings;
    for (i = 0; i < MIMICDYN_MAX_COUPLINGS; i++) m->now[i] = m->couplings[i];
    m->code = mdyn_init(&m->sim, &m->model);
    m->culprit = m->code ? m->sim.culprit.index : -1;
    m->held = -1;
    m->goal = 0;
    m->hash = 14695981039346656037u;
}

/* FNV-1a over the bits of q and v, bytes of each number from the lowest up. */
static uint64_t hash_of(uint64_t hash, const mdyn_real *x, int count)
{
    int i;
    unsigned k;
    for (i = 0; i < count; i++) {
        union { mdyn_real number; uint64_t all; uint32_t low; } u;
        u.all = 0;
        u.number = x[i];
        if (sizeof u.number < 8) u.all = u.low;
        for (k = 0; k < 8 * sizeof u.number; k += 8) {
            hash = (hash ^ (u.all >> k & 255u)) * 1099511628211u;
        }
    }
    return hash;
}

static int machine_step(machine *m)
{
    const int code = mdyn_step(&m->sim);
    m->hash = hash_of(m->hash, m->sim.q, mdyn_coordinates(&m->sim));
    m->hash = hash_of(m->hash, m->sim.v, mdyn_dofs(&m->sim));
    return code;
}

/* The hand is a drive at the joint that it holds: a spring towards sim.target with a damper, solved
   with the mechanism, and no stronger than `effort`. */
typedef struct hand { double kp, kd, effort; } hand;

static int machine_drive(machine *m, int body, hand h)
{
    mdyn_body b = m->bodies[body];
    b.drive_kp = mdyn_wide_from(h.kp);
    b.drive_kd = mdyn_wide_from(h.kd);
    b.effort = mdyn_wide_from(h.effort);
    return mdyn_set_body(&m->sim, body, &b);
}

/* Takes hold of a body's joint where it is; -1 lets go. */
static int machine_hold(machine *m, int body, hand h)
{
    int code = MDYN_OK;
    if (body >= m->model.body_count) return MDYN_ERR_INDEX;
    if (m->held == body) return MDYN_OK;
    if (m->held >= 0) code = mdyn_set_body(&m->sim, m->held, &m->bodies[m->held]);
    if (code < 0) return code;
    m->held = body;
    if (body < 0) return MDYN_OK;
    code = mdyn_set_target(&m->sim, body, mdyn_q(&m->sim, body, 0));
    if (code >= 0) code = mdyn_set_target_velocity(&m->sim, body, 0);
    return code < 0 ? code : machine_drive(m, body, h);
}

/* A row of the last step. */
static mdyn_row_report row_of(const machine *m, mdyn_row_kind kind, int index)
{
    mdyn_row_report row = { 0 };
    if (mdyn_report_row(&m->sim, kind, index, &row) < 0) row.flags = MDYN_ROW_RELEASED;
    return row;
}

#endif
