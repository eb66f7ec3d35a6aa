/* Bytes become rotors and sliders with couplings, in a build without trees, then calls. Whatever
   they are, calls end with a code: an error leaves the motion as it was, and what moves stays
   finite and in range. Of mechanisms with numbers of usual size a step of code 0 obeys
      M (v' - v) = dt (tau - damping) + J^T impulses
   by the impulses that rows report and the J and M of the tables.

   clang -std=c99 -g -O1 -DMIMICDYN_SCALAR=F32 -DEXPECT_SCALAR_F32=1 -I. \
       -fsanitize=fuzzer,address,undefined,float-cast-overflow -fno-sanitize-recover=all \
       fuzz/fuzz_rotors.c -lm -o build/fuzz_rotors && build/fuzz_rotors fuzz/corpus/fuzz_rotors

   Without libFuzzer: fuzz/standalone.c. */
#ifndef PLATFORMIO /* which would compile it into the firmware */
#define MIMICDYN_TREE 0
#define MIMICDYN_SETTINGS 0
#define MIMICDYN_LOSSES 0
#define MIMICDYN_MAX_BODIES 5
#define MIMICDYN_MAX_COUPLINGS 5
#define MIMICDYN_IMPLEMENTATION
#include "mimicdyn.h"
#include "tests/check.h"
#include "fuzz/bytes.h"

#define REQUIRE(condition) ((condition) ? (void)0 : broken(__LINE__, #condition))

static void broken(int line, const char *condition) {
    fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, line, condition);
    abort();
}

enum { JOINTS = 5, COUPLINGS = 5 };
/* Parts of the impulses. In fixed point MDYN_WARN_DIGITS speaks from 1/256 on. */
TOLERANCE(BALANCED, 1e-9, 2e-3, 1.0 / 256);

static mdyn_body bodies[JOINTS];
static mdyn_coupling couplings[COUPLINGS], present[COUPLINGS];
static mdyn_model model;
static mdyn_sim sim, before;
static input in;
static int is_usual;  /* numbers of usual size */
static int has_digits; /* no call has said that forces of couplings have few */

/* ---- numbers ---- */

static int one_in(int n) { return take_u8(&in) % (unsigned)n == 0; }

/* low to high; of a sim of unusual numbers sometimes anything. */
static mdyn_wide number(double low, double high) {
    static const double odd[] = { 0, -1, 1e-9, 1e9, 1e12, -1e12, 1e-20, 3 };
    mdyn_wide x = wide(low + (high - low) * take_u8(&in) / 255);
    if (is_usual || !one_in(8)) return x;
    if (one_in(4)) bad_wide(&x, (int)take_u8(&in) % CHECK_BAD_WIDES);
    else x = wide(odd[take_u8(&in) % 8]);
    return x;
}

static mdyn_real state(double low, double high) {
    mdyn_real x = real(low + (high - low) * take_u8(&in) / 255);
    if (is_usual || !one_in(16)) return x;
    if (one_in(4)) bad_real(&x, (int)take_u8(&in) % CHECK_BAD_REALS);
    else x = real(one_in(2) ? 8388607 : -1e6);
    return x;
}

/* ---- tables ---- */

static void take_body(mdyn_body *b) {
    const mdyn_joint joint = b->joint;
    memset(b, 0, sizeof *b);
    b->parent = (int16_t)(is_usual || !one_in(30) ? MDYN_WORLD : (int)take_u8(&in) % 7 - 1);
    b->joint = joint;
    b->armature = number(0.0005, 0.02);
    if (one_in(3)) b->damping = number(0, 0.5);
    if (one_in(3)) b->friction = number(0, 0.2);
    if (one_in(3)) b->effort = number(0.01, 1);
    if (one_in(3)) b->drive_kp = number(0, 20);
    if (one_in(3)) b->drive_kd = number(0.001, 0.5);
    if (one_in(3)) {
        b->lower = number(-0.5, 0);
        b->upper = number(0.1, 0.5);
    }
}

static void take_coupling(mdyn_coupling *c) {
    memset(c, 0, sizeof *c);
    for (int k = 0; k < 4; k++) {
        mdyn_term *t = &c->terms[k];
        if (k > 0 && one_in(2)) continue;
        t->body = (int16_t)(take_u8(&in) % (unsigned)model.body_count);
        t->coefficient = number(-3, 3);
        if (!is_usual && one_in(40)) t->body = (int16_t)((int)take_u8(&in) - 3);
        for (int j = 0; j < k && is_usual; j++) /* one term of a joint */
            if (c->terms[j].body == t->body) t->coefficient = wide(0);
    }
    if (one_in(3)) c->effort = number(0.01, 0.5);
    if (one_in(3)) c->softness.kind = (mdyn_softness_kind)(take_u8(&in) % 5);
    if (c->softness.kind != MDYN_DEFAULT) {
        c->softness.a = number(0.1, c->softness.kind == MDYN_KP_KD ? 30 : 1);
        c->softness.b = number(0, 1);
    }
    if (one_in(4)) {
        c->lower = number(-0.1, 0);
        c->upper = number(0.01, 0.1);
    }
    if (one_in(5)) c->level = MDYN_VELOCITY;
    if (one_in(5)) c->target_velocity = number(-1, 1);
    if (one_in(5)) c->breaks = (int16_t)!one_in(2);
}

static void take_model(void) {
    memset(&model, 0, sizeof model);
    memset(bodies, 0, sizeof bodies);
    model.bodies = bodies;
    model.couplings = couplings;
    model.body_count = 1 + (int)(take_u8(&in) % JOINTS);
    model.coupling_count = (int)(take_u8(&in) % (COUPLINGS + 1));
    model.dt = number(0.0005, 0.002);
    model.solver.iterations = (uint16_t)(take_u8(&in) * 4);
    for (int i = 0; i < model.body_count; i++) {
        bodies[i].joint = one_in(3) ? MDYN_PRISMATIC : MDYN_REVOLUTE;
        if (!is_usual && one_in(30)) bodies[i].joint = (mdyn_joint)(take_u8(&in) % 7);
        take_body(&bodies[i]);
    }
    for (int i = 0; i < model.coupling_count; i++) take_coupling(&couplings[i]);
    memcpy(present, couplings, sizeof present);
}

/* ---- what a step leaves ---- */

/* J^T impulse of row `index` of a kind, if there is one. */
static void add_impulse(mdyn_row_kind kind, int index, double *sum, double *size) {
    mdyn_row_report r;
    const int code = mdyn_report_row(&sim, kind, index, &r);
    if (code != MDYN_OK) {
        REQUIRE(code == MDYN_ERR_INDEX || code == MDYN_ERR_RESULT || code == MDYN_ERR_REPLACED);
        return;
    }
    REQUIRE(isfinite(of_wide(r.force)) && isfinite(of_wide(r.residual)));
    REQUIRE(isfinite(of_wide(r.error)) && isfinite(of_wide(r.power)));
    if (kind != MDYN_ROW_COUPLING) {
        sum[index] += of_wide(r.impulse);
        size[index] += fabs(of_wide(r.impulse));
        return;
    }
    for (int k = 0; k < 4; k++) {
        const double c = of_wide(present[index].terms[k].coefficient) * of_wide(r.impulse);
        sum[present[index].terms[k].body] += c;
        size[present[index].terms[k].body] += fabs(c);
    }
}

/* The lowest joint that couplings tie to joint k, over others too. In fixed point all joints share
   a block: MDYN_WARN_DIGITS tells when that takes the digits of one of them. */
static int find_tied(int k) {
    if (MDYN_SCALAR == MDYN_SCALAR_FIXED) return 0;
    for (int tied[JOINTS] = { 0 }, more = 1; more;) {
        more = 0;
        tied[k] = 1;
        for (int i = 0; i < model.coupling_count; i++)
            for (int a = 0; a < 4; a++)
                for (int b = 0; b < 4; b++) {
                    const mdyn_term *from = &present[i].terms[a], *to = &present[i].terms[b];
                    if (of_wide(from->coefficient) == 0 || of_wide(to->coefficient) == 0) continue;
                    if (!tied[from->body] || tied[to->body]) continue;
                    tied[to->body] = more = 1;
                }
        for (int b = 0; b <= k && !more; b++)
            if (tied[b]) return b;
    }
    return k;
}

/* The impulse of a soft coupling is its velocity over cfm. In fixed point that is a difference of
   the block's numbers: where v before the step does not fit hard couplings, they make speeds larger
   by the ratio of their coefficients of it, and forces by the same of what is rounded. 0 where all
   v fits: nothing large cancels then. */
static double rounding_of_soft(void) {
    double ratio = 1, rounding = 0;
    int fits = 1;
    for (int i = 0; i < model.coupling_count && MDYN_SCALAR == MDYN_SCALAR_FIXED; i++) {
        const mdyn_coupling *c = &present[i];
        double speed = 0, speeds = 0, sum = 0, least = HUGE_VAL, most = 0;
        for (int k = 0; k < 4; k++) {
            const double x = of_wide(c->terms[k].coefficient);
            const double v = of_real(before.v[c->terms[k].body]);
            speed += x * v;
            speeds += fabs(x * v);
            sum += fabs(x);
            if (x != 0) least = fmin(least, fabs(x));
            most = fmax(most, fabs(x));
        }
        if (c->softness.kind == MDYN_DEFAULT && of_wide(c->effort) == 0) {
            ratio = fmax(ratio, most / least);
            fits &= fabs(speed) <= 1e-6 * speeds;
        }
        if (c->softness.kind == MDYN_ERP_CFM && of_wide(c->softness.b) > 0)
            rounding = fmax(rounding, speeds * sum / of_wide(c->softness.b));
    }
    return fits ? 0 : check_epsilon * ratio * ratio * rounding;
}

/* A coupling gives the roundings of the joint at its one end to that at its other: what is missed
   is held, as the energy weighs it, against all joints that are tied to each other. */
static void check_balance(int code) {
    static const mdyn_row_kind kinds[] = { MDYN_ROW_COUPLING, MDYN_ROW_DRIVE, MDYN_ROW_FRICTION,
                                           MDYN_ROW_LIMIT };
    double sum[JOINTS] = { 0 }, size[JOINTS] = { 0 }, missed[JOINTS] = { 0 }, all[JOINTS] = { 0 };
    const double dt = of_wide(model.dt);
    if (!is_usual || !has_digits || code != MDYN_OK) return;
    for (int kind = 0; kind < 4; kind++)
        for (int k = 0; k < JOINTS; k++) add_impulse(kinds[kind], k, sum, size);
    for (int k = 0; k < model.body_count; k++) {
        const mdyn_body *b = &bodies[k];
        const double I = of_wide(b->armature), D = of_wide(b->damping), y = dt * D;
        const double M = I + y * (3 * I + y) / (6 * I + y), effort = of_wide(b->effort);
        const double v = of_real(before.v[k]), dv = of_real(sim.v[k]) - v;
        double tau = of_real(before.tau[k]);
        if (effort > 0) tau = fmax(-effort, fmin(effort, tau));
        missed[k] = fabs(M * dv - dt * (tau - D * v) - sum[k]) / sqrt(M);
        all[find_tied(k)] += (size[k] + M * (fabs(v) + fabs(dv) + 1)) / sqrt(M);
    }
    const double soft = rounding_of_soft();
    for (int k = 0; k < model.body_count; k++)
        REQUIRE(missed[k] <= BALANCED * all[find_tied(k)]
                                 + soft / sqrt(of_wide(bodies[k].armature)));
}

static void step(void) {
    int code;
    before = sim;
    code = mdyn_step(&sim);
    REQUIRE(code >= MDYN_ERR_RESULT - 100 && code <= MDYN_WARN_DIGITS);
    if (code < 0) {
        REQUIRE(memcmp(sim.q, before.q, sizeof sim.q) == 0);
        REQUIRE(memcmp(sim.v, before.v, sizeof sim.v) == 0);
        for (int k = 0; k < JOINTS; k++) { /* what it did not like */
            sim.q[k] = sim.v[k] = sim.tau[k] = real(0);
            sim.target[k] = sim.target_velocity[k] = real(0);
        }
        return;
    }
    for (int k = 0; k < JOINTS; k++) {
        REQUIRE(fabs(of_real(sim.q[k])) < 8388608);
        REQUIRE(fabs(of_real(sim.v[k])) < 8388608);
    }
    check_balance(code);
}

/* ---- calls ---- */

static int note(int code) {
    if (code == MDYN_WARN_NEARLY_REDUNDANT || code == MDYN_WARN_CONTRADICTION) has_digits = 0;
    return code;
}

static void change(void) {
    const int i = (int)take_u8(&in) % (COUPLINGS + 1), k = (int)take_u8(&in) % JOINTS;
    int32_t turns;
    mdyn_coupling c;
    mdyn_body b = bodies[k];
    mdyn_wide dt;
    switch (take_u8(&in) % 12) {
    case 0:
        take_coupling(&c);
        if (note(mdyn_set_coupling(&sim, i, &c)) >= 0) present[i] = c;
        break;
    case 1:
        take_body(&b);
        if (note(mdyn_set_body(&sim, k, &b)) >= 0) bodies[k] = b;
        break;
    case 2:
        dt = number(0.0005, 0.002);
        if (mdyn_set_dt(&sim, dt) >= 0) model.dt = dt;
        break;
    case 3: (void)note(mdyn_engage(&sim, i, (int)take_u8(&in) % 4)); break;
    case 4: (void)mdyn_project(&sim, MDYN_MASS_METRIC); break;
    case 5: (void)mdyn_project(&sim, MDYN_FOLLOWERS); break;
    case 6: (void)mdyn_reset(&sim); break;
    case 7: (void)mdyn_rebase(&sim, k, &turns); break;
    case 8: {
        const mdyn_real target = state(-1, 1);
        (void)mdyn_set_coupling_target(&sim, i, target, state(-1, 1));
        break;
    }
    case 9: sim.q[k] = k < model.body_count ? state(-2, 2) : real(0); break;
    case 10: sim.v[k] = k < model.body_count ? state(-20, 20) : real(0); break;
    default: sim.target[k] = k < model.body_count ? state(-1, 1) : real(0); break;
    }
    REQUIRE(mdyn_verify(&sim) != MDYN_ERR_MEMORY); /* the tables were edited as well */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    in = input_of(data, size);
    is_usual = take_u8(&in) % 2;
    take_model();
    has_digits = 1;
    if (note(mdyn_init(&sim, &model)) < 0) {
        REQUIRE(mdyn_step(&sim) == MDYN_ERR_NOT_READY);
        return 0;
    }
    for (int n = 0; n < 60; n++) {
        if (one_in(6)) change();
        if (one_in(4)) {
            const mdyn_real tau = state(-1, 1);
            sim.tau[take_u8(&in) % (unsigned)model.body_count] = tau;
        }
        step();
    }
    return 0;
}
#endif
