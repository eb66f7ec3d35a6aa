/* The model BAKE_MODEL as mdyn_init sets it up, and as bake.py wrote it: both move the same to the
   last bit, with equal reports. Prints a hash of the motion of the baked one, the same on every
   processor in FIXED. With MIMICDYN_BAKED there is no mdyn_init: the hash, and what is refused.
   With BAKE_FIRST the bake says what the sim has (MIMICDYN_HAS), and mdyn_init takes the model. */
#define MIMICDYN_STATIC 1
#define MIMICDYN_IMPLEMENTATION
#ifdef BAKE_FIRST
#include BAKE_HEADER
#endif
#include BAKE_SOURCE
#include BAKE_HEADER
#include "port.h"

enum { STEPS = 400, SETTLED = MIMICDYN_BAKED || MIMICDYN_HAS != MDYN_HAS_ALL };
static mdyn_sim sim, other;
static uint32_t hash = 2166136261u;

static void add(const void *bytes, size_t n) {
    const unsigned char *p = (const unsigned char *)bytes;
    while (n--) hash = (hash ^ *p++) * 16777619u;
}

static int differ(const void *a, const void *b, size_t n) {
    const unsigned char *x = (const unsigned char *)a, *y = (const unsigned char *)b;
    while (n--)
        if (*x++ != *y++) return 1;
    return 0;
}

static void command(mdyn_sim *s, int n) {
    s->target[0] = n / 90 % 2 ? MDYN_R(0.5) : MDYN_R(-0.25);
    if (n == 300) s->q[0] = MDYN_R(0.125);
    s->tau[1] = n / 37 % 2 ? MDYN_R(0.0625) : MDYN_R(-0.03125);
}

/* Whether the last body of both stands at the same place, before a step has been taken. */
static int stand_alike(mdyn_sim *a, mdyn_sim *b) {
#if MIMICDYN_TREE
    mdyn_real3 at, is;
    mdyn_real4 turned, other_turned;
    if (mdyn_pose(a, BAKE_MODEL.body_count - 1, &at, &turned) != MDYN_OK
        || mdyn_pose(b, BAKE_MODEL.body_count - 1, &is, &other_turned) != MDYN_OK) return 0;
    return !differ(&at, &is, sizeof at) && !differ(&turned, &other_turned, sizeof turned);
#else
    (void)a;
    (void)b;
    return 1;
#endif
}

/* q, v, the forces and errors of the couplings, into the hash */
static int note(mdyn_sim *s) {
    int i;
    add(s->q, sizeof s->q);
    add(s->v, sizeof s->v);
    for (i = 0; i < MIMICDYN_MAX_COUPLINGS; i++) {
        mdyn_row_report r;
        if (mdyn_report_row(s, MDYN_ROW_COUPLING, i, &r) < 0) return 0;
        add(&r.force, sizeof r.force);
        add(&r.error, sizeof r.error);
    }
    return 1;
}

static void print_hash(void) {
    char text[10];
    int i;
    for (i = 0; i < 8; i++) text[i] = "0123456789abcdef"[hash >> (28 - 4 * i) & 15];
    text[8] = '\n';
    text[9] = 0;
    port_text(text);
}

int main(void) {
    mdyn_model less = BAKE_MODEL;
    int n, code;
    if (BAKE_BEGIN(NULL, NULL) != MDYN_ERR_NULL) port_exit(1);
    code = BAKE_BEGIN(&sim, NULL); /* steps read curves alone from the tables */
    if (MIMICDYN_MAX_CURVES > 0 && code == MDYN_ERR_NULL) code = BAKE_BEGIN(&sim, &BAKE_MODEL);
    if (code < 0) port_exit(1);
    less.body_count--;
    if (BAKE_BEGIN(&other, &less) != MDYN_ERR_SAVED_MODEL || mdyn_step(&other) >= 0) port_exit(9);
    if (MIMICDYN_BAKED && mdyn_init(&other, &BAKE_MODEL) != MDYN_ERR_LEFT_OUT) port_exit(2);
    if (!MIMICDYN_BAKED && mdyn_init(&other, &BAKE_MODEL) < 0) port_exit(3);
    for (n = 0; n < STEPS; n++) {
        command(&sim, n);
        code = mdyn_step(&sim);
        if (code < 0 || !note(&sim)) port_exit(4);
        if (MIMICDYN_BAKED) continue;
        command(&other, n);
        if (mdyn_step(&other) != code || differ(sim.q, other.q, sizeof sim.q)
            || differ(sim.v, other.v, sizeof sim.v)
            || differ(sim.row_result, other.row_result, sizeof sim.row_result)) port_exit(5);
    }
    print_hash();

    /* with the tables everything works as after mdyn_init; a change that needs a new set-up is
       refused where that is left out, and moves nothing */
    (void)BAKE_BEGIN(&sim, &BAKE_MODEL);
    if (mdyn_verify(&sim) != MDYN_OK) port_exit(8);
    if (MIMICDYN_TREE && (mdyn_init(&other, &BAKE_MODEL) < 0 || !stand_alike(&sim, &other)))
        port_exit(11);
    code = mdyn_set_dt(&sim, MDYN_C(0.002));
    if (code != (MIMICDYN_BAKED ? MDYN_ERR_LEFT_OUT : MDYN_OK)) port_exit(6);
    if (mdyn_step(&sim) != MDYN_OK) port_exit(10);
    code = mdyn_set_coupling(&sim, 0, &BAKE_MODEL.couplings[0]);
    if (SETTLED ? code != MDYN_ERR_LEFT_OUT : code < 0) port_exit(7);
    port_exit(0);
}
