/* Bytes become a model, a sim and a row of calls; what must hold whatever they say is checked.

   clang -std=c99 -g -O1 -DMIMICDYN_SCALAR=F32 -DEXPECT_SCALAR_F32=1 -I. \
       -fsanitize=fuzzer,address,undefined,float-cast-overflow -fno-sanitize-recover=all \
       fuzz/fuzz_model.c -lm -o build/fuzz_model && build/fuzz_model fuzz/corpus/fuzz_model

   Without libFuzzer: fuzz/standalone.c. The first byte says whether the input is CALM: a valid
   model of ordinary size, which must be accepted and must obey the equations of motion. In any
   other every number may be anything. All is done twice, with two sims that began as different
   garbage: what is read before it was written shows as a difference. */
#ifndef PLATFORMIO /* which would compile it into the firmware */
#include "tests/knobs_few.h"
#include "tests/check.h"

enum {
    BODIES = MIMICDYN_MAX_BODIES, DOFS = MIMICDYN_MAX_DOFS, COORDINATES = MDYN_MAX_COORDINATES,
    COUPLINGS = MIMICDYN_MAX_COUPLINGS, TERMS = MIMICDYN_MAX_TERMS, CALLS = 60,
    CLOSURES = 3, OWN_ROWS = 4, CONTACTS = 3
};

/* What the checks allow; FUZZ_MEASURE below prints what they see. */
/*                          F64   F32  FIXED */
TOLERANCE(QUATERNION,     2e-15, 1e-6, 1e-7);
TOLERANCE(THERE_AND_BACK, 1e-12, 5e-4, 2e-5);
TOLERANCE(INVERSE,        5e-12, 5e-3, 5e-3);
TOLERANCE(JACOBIAN,       1e-14, 5e-6, 2e-6);
TOLERANCE(EXACT_ROW,       1e-8, 2e-2, 2e-2);
TOLERANCE(BOUND,          1e-15, 5e-7, 5e-8);

#define REACH 8388608.0 /* coordinates, speeds and commands stay below */

/* Not assert: a build with -DNDEBUG must check as well. */
#define REQUIRE(condition) ((condition) ? (void)0 : broken(__LINE__, #condition))

static void broken(int line, const char *condition) {
    fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, line, condition);
    abort();
}

/* Errors of arithmetic: `error` beside `size`, the sum of the magnitudes that went into it.
   FUZZ_MEASURE prints the largest of each place: that is how the tolerances were found. */
#ifdef FUZZ_MEASURE
static void require_small(int line, double error, double size, double tolerance) {
    static double worst[2000];
    (void)tolerance;
    if (!(error <= worst[line] * size)) {
        worst[line] = error / size;
        fprintf(stderr, "line %d: %.3g\n", line, worst[line]);
    }
}
#else
static void require_small(int line, double error, double size, double tolerance) {
    if (!(error <= tolerance * size)) {
        fprintf(stderr, "error %.3g, size %.3g, allowed %.3g of it\n", error, size, tolerance);
        broken(line, "the error is small");
    }
}
#endif
#define REQUIRE_SMALL(error, size, tolerance) require_small(__LINE__, error, size, tolerance)

/* ---- bytes ---- */

typedef struct input {
    const uint8_t *data;
    size_t size, at;
    int calm;
} input;

static unsigned take_u8(input *in) {
    return in->at < in->size ? in->data[in->at++] : 0;
}

static unsigned take_u16(input *in) {
    unsigned high = take_u8(in) << 8;
    return high | take_u8(in);
}

static int take_int(input *in, int low, int high) { /* both may be had */
    return low + (int)(take_u8(in) % (unsigned)(high - low + 1));
}

static double take_scaled(input *in, double low, double high) {
    return low + (high - low) * (double)take_u16(in) / 65535.0;
}

static void take_bits(input *in, void *number, size_t size) {
    uint8_t byte[8];
    for (size_t i = 0; i < sizeof byte; i++) {
        byte[i] = (uint8_t)take_u8(in);
    }
    memcpy(number, byte, size);
}

/* Mutated bytes hardly ever spell an infinity or a power of two by chance: the first one says
   which sort of number follows. */
typedef enum sort { ANY_BITS, SPECIAL, SPECIAL_TOO, WHOLE, BAD_NUMBER, ZERO, IN_RANGE } sort;

static sort take_sort(input *in) {
    unsigned which = in->calm ? IN_RANGE : take_u8(in) & 31;
    return which < IN_RANGE ? (sort)which : IN_RANGE;
}

static double take_number(input *in, sort which, double low, double high) {
    static const double special[] = {
        0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-3, 1e-7, 1e-12, 1e-30, 1e-38, 1e-45, 1e3, 1e6, 1e12,
        2e12, -1e12, 1e18, 1e30, 3.4028234e38, -3.4028234e38, 3.14159265358979, 6.28318530717959,
        1.57079632679490, 8388607.5, 8388608.0, -8388608.0, 8388609.0, 16777216.0, 32767.0,
        65536.0, 1.1920929e-7, 2.2204460492503131e-16, 1.17549435e-38, 2147483648.0
    };
    switch (which) {
    case SPECIAL:
    case SPECIAL_TOO: return special[take_u8(in) % (sizeof special / sizeof special[0])];
    case WHOLE: return (double)take_int(in, -127, 127);
    case ZERO: return 0.0;
    default: return take_scaled(in, low, high);
    }
}

/* Any bits, and those of numbers that are none, do not go by way of a double. */
static mdyn_wide take_wide(input *in, double low, double high) {
    sort which = take_sort(in);
    mdyn_wide x;
    if (which == ANY_BITS) {
        take_bits(in, &x, sizeof x);
    } else if (which == BAD_NUMBER) {
        bad_wide(&x, take_int(in, 0, CHECK_BAD_WIDES - 1));
    } else {
        x = wide(take_number(in, which, low, high));
    }
    return x;
}

static mdyn_real take_real(input *in, double low, double high) {
    sort which = take_sort(in);
    mdyn_real x;
    if (which == ANY_BITS) {
        take_bits(in, &x, sizeof x);
    } else if (which == BAD_NUMBER) {
        bad_real(&x, take_int(in, 0, CHECK_BAD_REALS - 1));
    } else {
        x = real(take_number(in, which, low, high));
    }
    return x;
}

static mdyn_wide3 take_wide3(input *in, double size) {
    mdyn_wide3 v;
    v.x = take_wide(in, -size, size);
    v.y = take_wide(in, -size, size);
    v.z = take_wide(in, -size, size);
    return v;
}

static mdyn_real3 take_real3(input *in, double size) {
    mdyn_real3 v;
    v.x = take_real(in, -size, size);
    v.y = take_real(in, -size, size);
    v.z = take_real(in, -size, size);
    return v;
}

/* ---- bytes to a model ---- */

typedef struct specimen {
    mdyn_body body[BODIES + 1];
    mdyn_coupling coupling[COUPLINGS + 1];
    mdyn_closure closure[CLOSURES];
    mdyn_user_row row[OWN_ROWS];
    int spoiled; /* user row that the callback spoils now and then; -1: none */
    mdyn_wide spoil;
    mdyn_model model;
} specimen;

static int speeds_of(mdyn_joint joint) {
    return joint == MDYN_FIXED ? 0 : joint == MDYN_SPHERICAL ? 3 : joint == MDYN_FREE ? 6 : 1;
}

static int coordinates_of(mdyn_joint joint) {
    return joint == MDYN_SPHERICAL ? 4 : joint == MDYN_FREE ? 7 : speeds_of(joint);
}

/* Any a, b, c >= 0 make the inertia of a real body: b + c, a + c, a + b. */
static mdyn_inertia take_inertia(input *in) {
    double a = of_wide(take_wide(in, 1e-3, 1e-2)), b = of_wide(take_wide(in, 1e-3, 1e-2));
    double c = of_wide(take_wide(in, 1e-3, 1e-2));
    mdyn_inertia i;
    i.xx = wide(b + c);
    i.yy = wide(a + c);
    i.zz = wide(a + b);
    i.xy = take_wide(in, -2e-4, 2e-4);
    i.xz = take_wide(in, -2e-4, 2e-4);
    i.yz = take_wide(in, -2e-4, 2e-4);
    return i;
}

/* What a joint may have beside its body's mass; a calm one only what its kind allows. */
static void take_joint(input *in, mdyn_body *b) {
    unsigned parts = take_u8(in);
    int one = speeds_of(b->joint) == 1 || !in->calm;
    if ((parts & 1) != 0 && (b->joint != MDYN_FREE || !in->calm)) {
        b->armature = take_wide(in, 0, 0.1);
    }
    if ((parts & 2) != 0) {
        b->damping = take_wide(in, 0, 0.5);
    }
    if ((parts & 4) != 0) {
        b->friction = take_wide(in, 0, 1);
    }
    if ((parts & 8) != 0 && one) {
        b->lower = take_wide(in, -1, -0.1);
        b->upper = take_wide(in, 0.1, 1);
    }
    if ((parts & 16) != 0) {
        b->effort = take_wide(in, 0.1, 3);
    }
    if ((parts & 32) != 0 && one) {
        b->drive_kp = take_wide(in, 0, 20);
    }
    if ((parts & 64) != 0 && one) {
        b->drive_kd = take_wide(in, 0, 1);
    }
}

static void take_body(input *in, specimen *s, int index) {
    mdyn_body *b = &s->body[index];
    unsigned joint = take_u8(in);
    b->joint = joint < 128 ? MDYN_REVOLUTE : (mdyn_joint)(joint % 6);
    b->parent = (int16_t)take_int(in, MDYN_WORLD, index - 1);
    unsigned parts = take_u8(in);
    if (!in->calm && parts == 255) {
        b->joint = (mdyn_joint)take_u8(in);
        b->parent = (int16_t)take_u16(in);
    }
    if ((parts & 1) != 0) {
        b->axis = take_wide3(in, 1);
    }
    if (b->joint == MDYN_HELICAL) {
        b->pitch = take_wide(in, -0.1, 0.1);
    }
    if ((parts & 2) != 0) {
        b->position = take_wide3(in, 0.5);
    }
    if ((parts & 4) != 0) {
        b->rotation.w = take_wide(in, 0.2, 1);
        b->rotation.x = take_wide(in, -1, 1);
        b->rotation.y = take_wide(in, -1, 1);
        b->rotation.z = take_wide(in, -1, 1);
    }
    if ((parts & 8) != 0 || in->calm) {
        b->mass = take_wide(in, 0.1, 2);
        b->inertia = take_inertia(in);
    }
    if ((parts & 16) != 0) {
        b->com = take_wide3(in, 0.1);
    }
    take_joint(in, b);
    b->name = (parts & 32) != 0 ? "part" : NULL;
}

static void take_softness(input *in, mdyn_softness *s) {
    unsigned kind = take_u8(in) % 6;
    s->kind = (mdyn_softness_kind)(kind > MDYN_ODE_CFM && in->calm ? MDYN_DEFAULT : kind);
    if (s->kind == MDYN_ERP_CFM || s->kind == MDYN_ODE_CFM) {
        s->a = take_wide(in, 0, 1);
        s->b = (take_u8(in) & 1) != 0 ? take_wide(in, 0, 1) : wide(0);
    } else if (s->kind != MDYN_DEFAULT) {
        s->a = take_wide(in, 1, 100);
        s->b = take_wide(in, 0.1, 2);
    }
}

/* A calm coupling names each speed once and only speeds that are there; 0 if there are none. */
static int take_terms(input *in, const specimen *s, mdyn_coupling *c) {
    mdyn_term speed[DOFS + 6];
    int speeds = 0;
    for (int i = 0; i < s->model.body_count && i < BODIES; i++) {
        int count = speeds_of(s->body[i].joint);
        if (c->level == MDYN_POSITION && count > 1) {
            continue;
        }
        for (int j = 0; j < count && speeds < DOFS; j++) {
            speed[speeds].curve = 0;
            speed[speeds].body = (int16_t)i;
            speed[speeds++].axis = (int8_t)j;
        }
    }
    if (speeds == 0) {
        return 0;
    }
    int count = take_int(in, 1, TERMS), first = take_int(in, 0, speeds - 1);
    for (int i = 0; i < count && i < speeds; i++) {
        c->terms[i] = speed[(first + i) % speeds];
        double sign = (take_u8(in) & 1) != 0 ? -1 : 1;
        c->terms[i].coefficient = wide(sign * of_wide(take_wide(in, 0.25, 4)));
        if (!in->calm && take_u8(in) > 240) {
            c->terms[i].body = (int16_t)take_u16(in);
            c->terms[i].axis = (int8_t)take_int(in, -2, 7);
        }
    }
    return 1;
}

static int take_coupling(input *in, const specimen *s, mdyn_coupling *c) {
    memset(c, 0, sizeof *c);
    unsigned parts = take_u8(in);
    c->level = (parts & 1) != 0 ? MDYN_VELOCITY : MDYN_POSITION;
    if (!take_terms(in, s, c)) {
        return 0;
    }
    if ((parts & 2) != 0) {
        c->offset = take_wide(in, -0.1, 0.1);
    }
    take_softness(in, &c->softness);
    if ((parts & 4) != 0 && (c->level == MDYN_POSITION || !in->calm)) {
        c->lower = (parts & 128) != 0 ? wide(-1e12) : take_wide(in, -0.5, 0);
        c->upper = take_wide(in, 0.01, 0.5);
    }
    if ((parts & 8) != 0) {
        c->target_velocity = take_wide(in, -1, 1);
    }
    if ((parts & 16) != 0) {
        c->effort = take_wide(in, 0.1, 5);
    }
    c->name = (parts & 32) != 0 ? "gear" : NULL;
    if ((parts & 64) != 0) {
        unsigned more = take_u8(in);
        c->breaks = (int16_t)(more & 1);
        c->efficiency = (more & 2) != 0 ? take_wide(in, 0.2, 1) : wide(0);
        int i = (int)(c - s->coupling), of = (int)(more >> 4);
        if ((more & 4) != 0 && (i > 0 || !in->calm)) {
            c->mu = take_wide(in, 0, 2);
            c->mu_of = (int16_t)(in->calm ? of % i : of);
        }
    }
    return 1;
}

/* A body of the model or the world; in a wild one, any index now and then. */
static int16_t take_body_index(input *in, const specimen *s, int least) {
    int bodies = s->model.body_count > 0 ? s->model.body_count : 1;
    unsigned wild = in->calm ? 0 : take_u8(in);
    return (int16_t)(wild > 240 ? (int)take_u16(in) : take_int(in, least, bodies - 1));
}

static void take_closure(input *in, const specimen *s, mdyn_closure *c) {
    memset(c, 0, sizeof *c);
    c->kind = (mdyn_closure_kind)(take_u8(in) % (in->calm ? 4 : 5));
    c->a = take_body_index(in, s, 0);
    c->b = take_body_index(in, s, MDYN_WORLD);
    if (in->calm && c->a == c->b) {
        c->b = MDYN_WORLD;
    }
    unsigned parts = take_u8(in);
    if ((parts & 1) != 0) {
        c->point_a = take_wide3(in, 0.5);
        c->point_b = take_wide3(in, 0.5);
    }
    if ((parts & 2) != 0) {
        c->axis_a = take_wide3(in, 1);
        c->rotation.w = take_wide(in, 0.2, 1);
        c->rotation.x = take_wide(in, -1, 1);
    }
    if ((parts & 4) != 0) {
        c->effort = take_wide(in, 0.1, 20);
    }
    c->distance = take_wide(in, 0.1, 1);
    take_softness(in, &c->softness);
    c->name = (parts & 8) != 0 ? "loop" : NULL;
}

static void take_own_row(input *in, const specimen *s, mdyn_user_row *r, int index) {
    memset(r, 0, sizeof *r);
    unsigned parts = take_u8(in);
    for (int i = 0; i < TERMS; i++) {
        r->terms[i].body = MDYN_WORLD;
        if (i <= (int)(parts & 3)) {
            r->terms[i].body = take_body_index(in, s, MDYN_WORLD);
            r->terms[i].axes = (mdyn_axes)(take_u8(in) % (in->calm ? 3 : 4));
            r->terms[i].angular = take_wide3(in, 1);
            r->terms[i].linear = take_wide3(in, 1);
        }
    }
    r->value = take_wide(in, -0.1, 0.1);
    take_softness(in, &r->softness);
    if ((parts & 4) != 0) {
        r->lower = take_wide(in, -0.5, 0);
        r->upper = (parts & 8) != 0 ? MDYN_UNLIMITED : take_wide(in, 0, 0.5);
    }
    if ((parts & 16) != 0) {
        r->level = MDYN_VELOCITY;
        r->target_velocity = take_wide(in, -1, 1);
    }
    if ((parts & 32) != 0) {
        r->force_min = take_wide(in, -5, 0);
        r->force_max = take_wide(in, 0, 5);
    }
    if ((parts & 64) != 0 && (index > 0 || !in->calm)) {
        r->mu = take_wide(in, 0, 1);
        r->mu_of = (int16_t)(in->calm ? 0 : take_int(in, -1, OWN_ROWS));
    }
    r->name = (parts & 128) != 0 ? "own" : NULL;
    if (in->calm && index == 0) {
        r->mu = wide(0); /* others may follow it */
    }
}

/* A user row that looks at the sim; one of them is spoiled on one side of a state. */
static void own_row(mdyn_sim *sim, int index, mdyn_user_row *row, void *user) {
    const specimen *s = (const specimen *)user;
    mdyn_real3 position;
    mdyn_real4 turn;
    if (mdyn_pose(sim, s->model.body_count - 1, &position, &turn) == MDYN_OK) {
        row->terms[0].linear.x = mdyn_wide_of(turn.x);
    }
    if (index == s->spoiled && of_real(sim->q[0]) > 0.25) {
        row->value = row->terms[0].angular.y = s->spoil;
    }
}

/* Loops and user rows. */
static void take_rows_on_bodies(input *in, specimen *s) {
    mdyn_model *m = &s->model;
    unsigned parts = take_u8(in);
    m->closures = s->closure;
    m->user_rows = s->row;
    m->closure_count = (int)(parts & 3) % (in->calm ? 2 : CLOSURES + 1);
    m->user_row_count = (int)(parts >> 2 & 3);
    if (in->calm && m->body_count == 0) {
        m->closure_count = m->user_row_count = 0;
    }
    for (int i = 0; i < m->closure_count; i++) {
        take_closure(in, s, &s->closure[i]);
    }
    for (int i = 0; i < m->user_row_count; i++) {
        take_own_row(in, s, &s->row[i], i);
    }
    s->spoiled = -1;
    if ((parts & 16) != 0) {
        m->row_function = own_row;
        m->user_data = s;
        if (!in->calm) {
            s->spoiled = take_int(in, 0, OWN_ROWS);
            s->spoil = take_wide(in, -1e6, 1e6);
        }
    }
    m->solver.friction_law = (mdyn_friction_law)((parts >> 5) % (in->calm ? 3 : 5));
}

static void take_specimen(input *in, specimen *s) {
    memset(s, 0, sizeof *s);
    mdyn_model *m = &s->model;
    m->bodies = s->body;
    m->body_count = in->calm ? take_int(in, 1, BODIES) : take_int(in, 0, BODIES + 1);
    int speeds = 0;
    for (int i = 0; i < m->body_count; i++) {
        take_body(in, s, i);
        speeds += speeds_of(s->body[i].joint);
        if (in->calm && speeds > DOFS) { /* the rest would not fit */
            m->body_count = i;
        }
    }
    int couplings = in->calm ? take_int(in, 0, COUPLINGS) : take_int(in, 0, COUPLINGS + 1);
    m->couplings = s->coupling;
    while (m->coupling_count < couplings &&
           take_coupling(in, s, &s->coupling[m->coupling_count])) {
        m->coupling_count++;
    }
    m->dt = take_wide(in, 1e-4, 1e-2);
    unsigned parts = take_u8(in);
    if ((parts & 1) != 0) {
        m->gravity = take_wide3(in, 10);
    }
    if ((parts & 2) != 0) {
        m->solver.relaxation = take_wide(in, 0.5, 1.5);
        m->solver.iterations = (uint16_t)take_u8(in);
        m->solver.tolerance = take_wide(in, 0, 1e-3);
    }
    m->solver.equality = (parts & 4) != 0 ? MDYN_ITERATED : MDYN_EXACT;
    m->solver.start = (parts & 8) != 0 ? MDYN_COLD : MDYN_WARM;
    m->solver.correction = (parts & 16) != 0 ? MDYN_RELAX : MDYN_BAUMGARTE;
    m->solver.scheme = (parts & 32) != 0 ? MDYN_MIDPOINT : MDYN_EXPLICIT;
    m->solver.limits = (parts & 48) == 48 ? MDYN_ENGAGED : MDYN_SPECULATIVE;
    m->solver.method = (parts & 64) != 0 ? MDYN_TGS : (parts & 128) != 0 ? MDYN_DANTZIG : MDYN_PGS;
    m->solver.substeps = (uint16_t)((parts & 64) != 0 ? parts / 16 : 0);
    if ((parts & 128) != 0) {
        take_rows_on_bodies(in, s);
    }
    if (in->calm && m->solver.method == MDYN_DANTZIG && m->solver.friction_law == MDYN_CONE) {
        m->solver.friction_law = MDYN_PYRAMID; /* pivoting knows no cones */
    }
    if (!in->calm && parts > 250) {
        m->bodies = (parts & 1) != 0 ? NULL : s->body;
        m->couplings = NULL;
        m->body_count = (int)take_u16(in) - 100;
        m->bodies = m->body_count > BODIES ? s->body : m->bodies;
    }
}

/* ---- calls ---- */

typedef enum call_kind {
    CALL_STEP, CALL_PROJECT, CALL_RESET, CALL_COUPLING, CALL_ROW, CALL_SHARE, CALL_RANGE,
    CALL_EXPLAIN, CALL_NUMBERS, CALL_POSE, CALL_VELOCITY, CALL_JACOBIAN, CALL_MASS, CALL_BIAS,
    CALL_INVERSE, CALL_FORWARD, CALL_COUPLED, CALL_RESPONSE, CALL_COLUMN, CALL_ENERGY,
    CALL_ENGAGE, CALL_CONTACTS,
    CALL_KINDS
} call_kind;

typedef struct call {
    call_kind kind;
    int i, j;
    mdyn_real3 point;
    mdyn_wide a[DOFS];
    mdyn_coupling coupling;
    int contacts;
    mdyn_contact contact[CONTACTS + 1];
} call;

enum { NUMBERS = DOFS * DOFS + 6 * DOFS };
typedef struct result {
    mdyn_wide number[NUMBERS];
    mdyn_real real[13];
    char text[300];
} result;

static void take_contact(input *in, const specimen *s, mdyn_contact *c) {
    memset(c, 0, sizeof *c);
    c->a = take_body_index(in, s, 0);
    c->b = take_body_index(in, s, MDYN_WORLD);
    if (in->calm && c->a == c->b) {
        c->b = MDYN_WORLD;
    }
    c->key = (uint16_t)(take_u8(in) & 3);
    c->point = take_real3(in, 0.5);
    c->normal = take_real3(in, 1);
    if (in->calm) {
        c->normal.z = real(1);
    }
    c->depth = take_real(in, -0.01, 0.01);
    c->mu = take_wide(in, 0, 1);
    take_softness(in, &c->softness);
}

static void take_call(input *in, const specimen *s, int dofs, call *c) {
    unsigned kind = take_u8(in);
    memset(c, 0, sizeof *c);
    c->kind = kind < 100 ? CALL_STEP : (call_kind)(kind % CALL_KINDS);
    c->i = take_int(in, in->calm ? 0 : -1, 15);
    c->j = take_int(in, in->calm ? 0 : -1, 15);
    if (c->kind == CALL_VELOCITY || c->kind == CALL_JACOBIAN) {
        c->point = take_real3(in, 1);
    } else if (c->kind == CALL_COUPLED) {
        c->a[0] = wide(0.1); /* the time of mdyn_stabilized_dynamics */
    } else if (c->kind == CALL_INVERSE) {
        for (int i = 0; i < dofs; i++) {
            c->a[i] = take_wide(in, -5, 5);
        }
    } else if (c->kind == CALL_CONTACTS) {
        c->contacts = in->calm ? c->i % (CONTACTS + 1) : c->i % (CONTACTS + 2);
        for (int i = 0; i < c->contacts; i++) {
            take_contact(in, s, &c->contact[i]);
        }
        if (s->model.body_count <= 0) {
            c->kind = CALL_STEP;
        }
    } else if (c->kind == CALL_COUPLING && !take_coupling(in, s, &c->coupling)) {
        c->kind = CALL_STEP;
    }
}

/* As many numbers of the report as were written: all or, on an error, none. */
static int call_row(const mdyn_sim *sim, const call *c, result *r) {
    mdyn_row_report row;
    memset(&row, 0xA5, sizeof row);
    mdyn_row_report untouched = row;
    int code = mdyn_report_row(sim, (mdyn_row_kind)c->j, c->i, &row);
    if (code < 0) {
        REQUIRE(memcmp(&row, &untouched, sizeof row) == 0);
        return code;
    }
    REQUIRE(row.flags < 64);
    r->number[0] = row.impulse;
    r->number[1] = row.force;
    r->number[2] = row.power;
    r->number[3] = row.error;
    r->number[4] = row.velocity;
    r->number[5] = row.residual;
    return code;
}

static int call_numbers(const mdyn_sim *sim, const call *c) {
    int dof = mdyn_first_dof(sim, c->i), coordinate = mdyn_first_coordinate(sim, c->i);
    REQUIRE(dof <= mdyn_dofs(sim) && coordinate <= mdyn_coordinates(sim));
    REQUIRE((dof < 0) == (coordinate < 0));
    REQUIRE((dof < 0) == (c->i < 0 || c->i >= sim->model->body_count ||
                          sim->model->bodies[c->i].joint == MDYN_FIXED));
    return dof < 0 ? dof : 0;
}

static int call_pose(mdyn_sim *sim, const call *c, result *r) {
    mdyn_real3 position, *p = &position;
    mdyn_real4 rotation;
    memset(&position, 0xA5, sizeof position);
    memset(&rotation, 0xA5, sizeof rotation);
    int code = mdyn_pose(sim, c->i, p, &rotation);
    memcpy(r->real, &position, sizeof position);
    memcpy(r->real + 3, &rotation, sizeof rotation);
    return code;
}

static int call_velocity(mdyn_sim *sim, const call *c, result *r) {
    mdyn_real3 v[2];
    memset(v, 0xA5, sizeof v);
    int code = mdyn_velocity(sim, c->i, (c->j & 1) != 0 ? &c->point : NULL, &v[0], &v[1]);
    memcpy(r->real, v, sizeof v);
    return code;
}

static int call_wrench(mdyn_sim *sim, const call *c, result *r) {
    mdyn_wide3 f[2];
    memset(f, 0xA5, sizeof f);
    int code = mdyn_joint_wrench(sim, c->i, &f[0], &f[1]);
    memcpy(r->number, f, sizeof f);
    return code;
}

static int call_inverse(mdyn_sim *sim, const call *c, mdyn_wide *n) {
    switch (c->j & 7) {
    case 1: return mdyn_reduced_inverse_dynamics(sim, c->a, n);
    case 2: return mdyn_reduced_inverse_dynamics_with_losses(sim, c->a, n);
    case 3: return mdyn_expand_velocity(sim, c->a, n);
    case 4: return mdyn_expand_acceleration(sim, c->a, n);
    case 5: return mdyn_reduced_force(sim, c->a, n);
    default: return mdyn_inverse_dynamics(sim, c->a, n);
    }
}

static int perform(mdyn_sim *sim, const call *c, result *r) {
    mdyn_wide *n = r->number;
    const mdyn_real3 *point = (c->j & 1) != 0 ? &c->point : NULL;
    switch (c->kind) {
    case CALL_STEP: return mdyn_step(sim);
    case CALL_PROJECT: return mdyn_project(sim, (c->i & 1) == 0 ? MDYN_MASS_METRIC
                                                : (c->j & 1) != 0 ? MDYN_INDEPENDENT
                                                                  : MDYN_FOLLOWERS);
    case CALL_RESET: return mdyn_reset(sim);
    case CALL_COUPLING:
        return (c->j & 3) != 3 ? mdyn_set_coupling(sim, c->i, &c->coupling)
            : mdyn_set_coupling_target(sim, c->i, mdyn_real_of(c->coupling.offset),
                                       mdyn_real_of(c->coupling.target_velocity));
    case CALL_ROW: return call_row(sim, c, r);
    case CALL_SHARE: return mdyn_coupling_force(sim, c->i, c->j, n);
    case CALL_RANGE: return mdyn_range(sim, c->i, &n[0], &n[1]);
    case CALL_EXPLAIN:
        return mdyn_explain(sim, (mdyn_row_kind)(c->j & 7), c->i, r->text,
                            c->j < 0 ? 0 : c->j < 8 ? c->j * 8 : (int)sizeof r->text);
    case CALL_NUMBERS: return call_numbers(sim, c);
    case CALL_POSE: return call_pose(sim, c, r);
    case CALL_VELOCITY: return call_velocity(sim, c, r);
    case CALL_JACOBIAN: return mdyn_jacobian(sim, c->i, point, n);
    case CALL_MASS: return (c->j & 1) != 0 ? mdyn_reduced_mass_matrix(sim, n)
                                           : mdyn_mass_matrix(sim, n);
    case CALL_BIAS: return (c->j & 1) != 0 ? mdyn_reduced_bias_force(sim, n)
                                           : mdyn_bias_force(sim, n);
    case CALL_INVERSE: return call_inverse(sim, c, n);
    case CALL_FORWARD: return mdyn_forward_dynamics(sim, n);
    case CALL_COUPLED: return (c->j & 1) != 0 ? mdyn_stabilized_dynamics(sim, c->a[0], n)
                                              : mdyn_constrained_dynamics(sim, n);
    case CALL_RESPONSE: return mdyn_impulse_response(sim, c->i, c->j, n);
    case CALL_COLUMN: return mdyn_inverse_mass_column(sim, c->i, n);
    case CALL_ENGAGE: return (c->j & 4) != 0 ? mdyn_engage_closure(sim, c->i, c->j & 3)
                                             : mdyn_engage(sim, c->i, c->j & 1);
    case CALL_CONTACTS: return mdyn_set_contacts(sim, c->contact, c->contacts);
    default: return (c->j & 1) != 0 ? call_wrench(sim, c, r) : mdyn_energy(sim, &n[0], &n[1]);
    }
}

/* ---- what must hold ---- */

static int is_code(int code) {
    switch (code) {
#define CODE(name, value, sentence, remedy) case MDYN_##name: return 1;
    MDYN_CODES(CODE)
#undef CODE
    default: return 0;
    }
}

/* The part that belongs to the user; the caches around it may change with any call. */
static int same_before_culprit(const mdyn_sim *a, const mdyn_sim *b) {
    const size_t from = offsetof(mdyn_sim, q);
    return memcmp((const char *)a + from, (const char *)b + from,
                  offsetof(mdyn_sim, culprit) - from) == 0;
}

static int same_bits(const void *a, const void *b, size_t count, size_t size) {
    return memcmp(a, b, count * size) == 0;
}

/* Bounded, bad, or so near the border that either answer is right. */
typedef enum verdict { BAD, BORDER, GOOD } verdict;

static verdict judge(double x) {
    return fabs(x) < REACH - 1 ? GOOD : fabs(x) <= REACH + 1 ? BORDER : BAD;
}

static verdict judge_all(const mdyn_real *x, int count) {
    verdict worst = GOOD;
    for (int i = 0; i < count; i++) {
        verdict one = judge(of_real(x[i]));
        worst = one < worst ? one : worst;
    }
    return worst;
}

static verdict judge_quaternion(const mdyn_real *q) {
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        sum += of_real(q[i]) * of_real(q[i]);
    }
    return sum > 1e-4 && sum < 1e6 ? GOOD : sum == 0 ? BAD : BORDER;
}

static verdict judge_state(const mdyn_sim *sim, const specimen *s) {
    int dofs = mdyn_dofs(sim), at = 0;
    verdict v[6];
    v[0] = judge_all(sim->q, mdyn_coordinates(sim));
    v[1] = judge_all(sim->v, dofs);
    v[2] = judge_all(sim->tau, dofs);
    v[3] = judge_all(sim->target, dofs);
    v[4] = judge_all(sim->target_velocity, dofs);
    v[5] = GOOD;
    int drives = 0;
    for (int i = 0; i < s->model.body_count; i++) {
        drives += of_wide(s->body[i].drive_kp) != 0 || of_wide(s->body[i].drive_kd) != 0;
        mdyn_real x[6];
        memcpy(x, &sim->wrench[i], sizeof x);
        verdict one = judge_all(x, 6);
        int count = coordinates_of(s->body[i].joint);
        if (count >= 4) {
            verdict turn = judge_quaternion(sim->q + at + count - 4);
            one = turn < one ? turn : one;
        }
        at += count;
        v[5] = one < v[5] ? one : v[5];
    }
    verdict worst = GOOD;
    v[3] = drives ? v[3] : GOOD; /* without any drive nobody looks at targets */
    v[4] = drives ? v[4] : GOOD;
    for (int i = 0; i < 6; i++) {
        worst = v[i] < worst ? v[i] : worst;
    }
    return worst;
}

static double largest(const mdyn_real *x, int count) {
    double most = 0;
    for (int i = 0; i < count; i++) {
        most = fabs(of_real(x[i])) > most ? fabs(of_real(x[i])) : most;
    }
    return most;
}

/* ---- the trial ---- */

static struct {
    mdyn_sim a, b, before;
    specimen specimen[2];
    int now; /* the specimen in use */
    result result[2];
} trial;

/* Finite what was written, nothing written on an error. */
static void check_result(const result *r, int code) {
    result untouched;
    memset(&untouched, 0xA5, sizeof untouched);
    if (code < 0) {
        REQUIRE(memcmp(r->number, untouched.number, sizeof untouched.number) == 0);
        REQUIRE(memcmp(r->real, untouched.real, sizeof untouched.real) == 0);
        REQUIRE(memcmp(r->text, untouched.text, sizeof untouched.text) == 0 ||
                code == MDYN_ERR_ROOM);
        return;
    }
    for (int i = 0; i < NUMBERS; i++) {
        REQUIRE(isfinite(of_wide(r->number[i])));
    }
    for (size_t i = 0; i < sizeof r->real / sizeof r->real[0]; i++) {
        REQUIRE(isfinite(of_real(r->real[i])));
    }
}

static void check_same(int code_a, int code_b) {
    const mdyn_sim *a = &trial.a, *b = &trial.b;
    size_t dofs = (size_t)mdyn_dofs(a), coordinates = (size_t)mdyn_coordinates(a);
    REQUIRE(code_a == code_b);
    REQUIRE(memcmp(&trial.result[0], &trial.result[1], sizeof trial.result[0]) == 0);
    REQUIRE(same_bits(a->q, b->q, coordinates, sizeof a->q[0]));
    REQUIRE(same_bits(a->v, b->v, dofs, sizeof a->v[0]));
    REQUIRE(a->report.iterations == b->report.iterations);
    REQUIRE(a->report.redundant == b->report.redundant);
    REQUIRE(a->report.contradictory == b->report.contradictory);
    REQUIRE(a->report.entries == b->report.entries);
    REQUIRE(same_bits(&a->report.residual, &b->report.residual, 1, sizeof a->report.residual));
    REQUIRE(a->culprit.code == b->culprit.code && a->culprit.index == b->culprit.index);
}

/* A step leads quaternions back to length 1, however far they turn: all of a large error, all but
   its square of one up to 1e-3. */
static void check_quaternions(const specimen *s) {
    const mdyn_real *q = trial.a.q, *before = trial.before.q;
    for (int i = 0; i < s->model.body_count; i++) {
        int count = coordinates_of(s->body[i].joint);
        q += count;
        before += count;
        if (count >= 4) {
            double sum = -1, was = -1;
            for (int k = -4; k < 0; k++) {
                sum += of_real(q[k]) * of_real(q[k]);
                was += of_real(before[k]) * of_real(before[k]);
            }
            was = fmin(fabs(was), 1e-3);
            REQUIRE_SMALL(fabs(sum), was * was + QUATERNION, 1);
        }
    }
}

static void check_after_step(const specimen *s, verdict state, int code) {
    const mdyn_sim *sim = &trial.a;
    const int pivots = s->model.solver.method == MDYN_DANTZIG;
    int spoiled = s->model.user_row_count > 0 && (code == MDYN_ERR_NOT_FINITE ||
                                             code == MDYN_ERR_COEFFICIENT ||
                                             code == MDYN_ERR_USER_ROW);
    REQUIRE(code == MDYN_OK || code == MDYN_ERR_STATE || code == MDYN_ERR_BEYOND ||
            code == MDYN_ERR_OVERFLOW || code == MDYN_ERR_SINGULAR ||
            code == MDYN_ERR_CAPACITY_ENTRIES || spoiled || code == MDYN_WARN_LONG_STEP ||
            (MDYN_SCALAR == MDYN_SCALAR_FIXED && code == MDYN_WARN_DIGITS) ||
            (pivots && code == MDYN_WARN_NO_SOLUTION) || code == MDYN_WARN_NOT_CONVERGED);
    REQUIRE(state != GOOD || code != MDYN_ERR_STATE);
    REQUIRE(state != BAD || code == MDYN_ERR_STATE || code == MDYN_ERR_BEYOND || spoiled);
    if (code >= 0) {
        REQUIRE(sim->report.unsolved == 0 || code != MDYN_OK);
        REQUIRE(sim->report.unsolved != 0 || code != MDYN_WARN_NO_SOLUTION);
        REQUIRE(judge_all(sim->q, mdyn_coordinates(sim)) != BAD);
        REQUIRE(judge_all(sim->v, mdyn_dofs(sim)) != BAD);
        check_quaternions(s);
        REQUIRE(sim->report.iterations >= 0 && sim->report.entries >= 0);
        REQUIRE(sim->report.entries <= MIMICDYN_MAX_ENTRIES);
        REQUIRE(of_wide(sim->report.residual) >= 0 && isfinite(of_wide(sim->report.residual)));
    }
}

/* M a + C = tau there and back, M M^-1 = 1, J v = velocity: of an ordinary model. */
static void check_dynamics(void) {
    static mdyn_wide M[DOFS * DOFS], C[DOFS], a[DOFS], back[DOFS], column[DOFS], J[6 * DOFS];
    mdyn_sim *sim = &trial.a;
    int n = mdyn_dofs(sim), last = trial.specimen[trial.now].model.body_count - 1;
    REQUIRE(mdyn_mass_matrix(sim, M) == MDYN_OK && mdyn_bias_force(sim, C) == MDYN_OK);
    REQUIRE(mdyn_forward_dynamics(sim, a) == MDYN_OK);
    REQUIRE(mdyn_inverse_dynamics(sim, a, back) == MDYN_OK);
    double size = 1; /* the wrenches and weights that cancel in C are of this order */
    for (int i = 0; i < n; i++) {
        double sum = fabs(of_wide(C[i])) + fabs(of_real(sim->tau[i]));
        for (int j = 0; j < n; j++) {
            REQUIRE(same_bits(&M[i * n + j], &M[j * n + i], 1, sizeof M[0]));
            sum += fabs(of_wide(M[i * n + j]) * of_wide(a[j]));
        }
        REQUIRE(of_wide(M[i * n + i]) > 0);
        size = sum > size ? sum : size;
    }
    for (int i = 0; i < n; i++) {
        REQUIRE_SMALL(fabs(of_wide(back[i]) - of_real(sim->tau[i])), size, THERE_AND_BACK);
    }
    for (int k = 0; k < n; k++) {
        REQUIRE(mdyn_inverse_mass_column(sim, k, column) == MDYN_OK);
        for (int i = 0; i < n; i++) {
            double sum = i == k ? -1 : 0, parts = 1;
            for (int j = 0; j < n; j++) {
                sum += of_wide(M[i * n + j]) * of_wide(column[j]);
                parts += fabs(of_wide(M[i * n + j]) * of_wide(column[j]));
            }
            REQUIRE_SMALL(fabs(sum), parts, INVERSE);
        }
    }
    mdyn_real3 v[2];
    mdyn_real linear[6];
    REQUIRE(mdyn_jacobian(sim, last, NULL, J) == MDYN_OK);
    REQUIRE(mdyn_velocity(sim, last, NULL, &v[0], &v[1]) == MDYN_OK);
    memcpy(linear, v, sizeof linear);
    for (int i = 0; i < 6; i++) {
        double sum = -of_real(linear[i]), parts = 1;
        for (int j = 0; j < n; j++) {
            sum += of_wide(J[i * n + j]) * of_real(sim->v[j]);
            parts += fabs(of_wide(J[i * n + j]) * of_real(sim->v[j]));
        }
        REQUIRE_SMALL(fabs(sum), parts, JACOBIAN);
    }
}

/* A row without a bound on its impulse does what was asked. Bounded rows that fight each other
   with no way out may push very hard, and what they push cancels: `most` is their size. */
static void check_exact_row(const mdyn_coupling *c, const mdyn_row_report *row, double dt,
                            double most) {
    double size = 1 + fabs(of_wide(c->target_velocity)) + fabs(of_wide(row->error)) / dt
                + 1000 * most;
    for (int j = 0; j < TERMS; j++) {
        if (of_wide(c->terms[j].coefficient) != 0) {
            int dof = mdyn_first_dof(&trial.a, c->terms[j].body) + c->terms[j].axis;
            size += fabs(of_wide(c->terms[j].coefficient) * of_real(trial.a.v[dof]));
        }
    }
    REQUIRE_SMALL(fabs(of_wide(row->residual)), size, EXACT_ROW);
}

/* Whether a joint of a coupling has velocities that turn with it: after a midpoint step they are in
   other axes than those of the row. */
static int turns(const specimen *s, const mdyn_coupling *c) {
    for (int j = 0; j < TERMS; j++) {
        if (of_wide(c->terms[j].coefficient) != 0 &&
            speeds_of(s->body[c->terms[j].body].joint) > 1) {
            return 1;
        }
    }
    return 0;
}

/* Rows of an ordinary model after a step: bounds kept, equations met. */
static void check_rows(const specimen *s) {
    const mdyn_sim *sim = &trial.a;
    mdyn_row_report row;
    double most = 0;
    for (int i = 0; i < DOFS + COUPLINGS; i++) {
        for (int kind = MDYN_ROW_COUPLING; kind <= MDYN_ROW_CONTACT; kind++) {
            if (mdyn_report_row(sim, (mdyn_row_kind)kind, i, &row) == MDYN_OK) {
                most = worse(most, fabs(of_wide(row.impulse)));
            }
        }
    }
    const mdyn_solver *solver = &s->model.solver;
    int plain = solver->equality == MDYN_EXACT && solver->correction == MDYN_BAUMGARTE &&
                solver->limits == MDYN_SPECULATIVE && solver->method != MDYN_TGS;
    for (int i = 0; i < s->model.coupling_count; i++) {
        plain &= of_wide(s->coupling[i].mu) == 0; /* which may make another one bounded */
    }
    for (int i = 0; i < s->model.coupling_count; i++) {
        const mdyn_coupling *c = &s->coupling[i];
        double effort = of_wide(c->effort);
        const int told = mdyn_report_row(sim, MDYN_ROW_COUPLING, i, &row);
        if (told == MDYN_ERR_REPLACED) { /* its terms are those of the next step */
            continue;
        }
        REQUIRE(told == MDYN_OK);
        if (effort > 0) {
            REQUIRE_SMALL(fabs(of_wide(row.force)) - effort, effort, BOUND);
        } else if (of_wide(c->lower) == 0 && of_wide(c->upper) == 0 && plain &&
                   (solver->scheme == MDYN_EXPLICIT || !turns(s, c)) &&
                   of_wide(c->efficiency) == 0 && sim->report.contradictory == 0) {
            check_exact_row(c, &row, of_wide(s->model.dt), most);
        }
    }
    for (int i = 0; i < s->model.body_count; i++) {
        double friction = of_wide(s->body[i].friction);
        for (int j = 0; j < speeds_of(s->body[i].joint) && friction > 0; j++) {
            int code = mdyn_report_row(sim, MDYN_ROW_FRICTION, mdyn_first_dof(sim, i) + j, &row);
            REQUIRE(code == MDYN_OK);
            REQUIRE_SMALL(fabs(of_wide(row.force)) - friction, friction, BOUND);
        }
    }
}

static void call_both(const call *c, int calm) {
    specimen *s = &trial.specimen[trial.now];
    mdyn_sim *sim = &trial.a;
    verdict state = judge_state(sim, s);
    /* Beyond, an explicit scheme may explode, and rightly so. */
    int ordinary = calm && state == GOOD && largest(sim->v, mdyn_dofs(sim)) < 20 &&
                   largest(sim->q, mdyn_coordinates(sim)) < 50;
    memcpy(&trial.before, sim, sizeof *sim);
    memset(trial.result, 0xA5, sizeof trial.result);
    int code = perform(sim, c, &trial.result[0]);
    int again = perform(&trial.b, c, &trial.result[1]);
    check_same(code, again);
    REQUIRE(is_code(code));
    check_result(&trial.result[0], code);
    if (code < 0) {
        REQUIRE(same_before_culprit(sim, &trial.before));
    }
    if (c->kind == CALL_STEP) {
        check_after_step(s, state, code);
        /* rows that are almost the same and want different things may ask for any speed */
        int rows = s->model.coupling_count + 2 * s->model.closure_count + s->model.user_row_count;
        REQUIRE(!ordinary || code >= 0 || code == MDYN_ERR_CAPACITY_ENTRIES ||
                code == MDYN_ERR_BEYOND ||
                (code == MDYN_ERR_OVERFLOW && (rows > 1 || sim->contacts > 0)));
        if (ordinary && code == MDYN_OK) {
            check_rows(s);
        }
    } else if (c->kind == CALL_COUPLING && code >= 0) {
        mdyn_coupling *now = &s->coupling[c->i];
        if ((c->j & 3) != 3) *now = c->coupling;
        now->offset = sim->coupling[c->i].offset;
        now->target_velocity = sim->coupling[c->i].target_velocity;
    } else if (c->kind == CALL_MASS && ordinary) {
        check_dynamics();
    }
}

/* A few numbers of the state or the commands, the same in both sims. */
static void set_inputs(input *in) {
    mdyn_sim *a = &trial.a, *b = &trial.b;
    const specimen *s = &trial.specimen[trial.now];
    unsigned what = take_u8(in);
    int dof = (int)(what >> 3) % DOFS, at = (int)(what >> 3) % COORDINATES;
    switch (what & 7) {
    case 0: a->q[at] = b->q[at] = take_real(in, 0.1, 2); break;
    case 1: a->v[dof] = b->v[dof] = take_real(in, -5, 5); break;
    case 2: a->target[dof] = b->target[dof] = take_real(in, -2, 2); break;
    case 3: a->target_velocity[dof] = b->target_velocity[dof] = take_real(in, -2, 2); break;
    case 4:
        dof = dof % (s->model.body_count > 0 ? s->model.body_count : 1);
        a->wrench[dof].moment = take_real3(in, 1);
        a->wrench[dof].force = take_real3(in, 5);
        b->wrench[dof] = a->wrench[dof];
        break;
    default: a->tau[dof] = b->tau[dof] = take_real(in, -2, 2); break;
    }
}

/* mdyn_init of both sims: an answer in words; a refused model leaves a sim that is not ready,
   and all else as it was unless it took a try to find out. */
static int init_both(const specimen *s, int calm) {
    int code = mdyn_init(&trial.a, &s->model), again = mdyn_init(&trial.b, &s->model);
    REQUIRE(code == again && is_code(code));
    REQUIRE(trial.a.culprit.code == code && trial.b.culprit.code == code);
    REQUIRE(trial.a.culprit.index == trial.b.culprit.index && trial.a.culprit.index >= -1);
    REQUIRE(mdyn_text(code)[0] != 0 && mdyn_remedy(code)[0] != 0);
    REQUIRE(code >= 0 || mdyn_step(&trial.a) == MDYN_ERR_NOT_READY);
    REQUIRE(code < 0 || (of_wide(s->model.dt) > 0.999e-9 && of_wide(s->model.dt) <= 1));
    if (calm) {
        REQUIRE(code >= 0 || code == MDYN_ERR_CAPACITY_ROWS || code == MDYN_ERR_CAPACITY_ENTRIES);
    }
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = { data, size, 0, 0 };
    in.calm = (take_u8(&in) & 1) != 0;
    memset(&trial.a, 0x00, sizeof trial.a);
    memset(&trial.b, 0xA5, sizeof trial.b);
    REQUIRE(mdyn_step(&trial.a) == MDYN_ERR_NOT_READY);
    REQUIRE(mdyn_step(&trial.b) == MDYN_ERR_NOT_READY);
    trial.now = 0;
    take_specimen(&in, &trial.specimen[0]);
    if (init_both(&trial.specimen[0], in.calm) < 0) {
        return 0;
    }
    for (int i = 0; i < CALLS && in.at < in.size; i++) {
        const specimen *s = &trial.specimen[trial.now];
        call c;
        unsigned what = take_u8(&in);
        if (what < 100) {
            set_inputs(&in);
        } else if (what == 255) { /* another model in a sim that is in use */
            take_specimen(&in, &trial.specimen[!trial.now]);
            trial.now = !trial.now;
            if (init_both(&trial.specimen[trial.now], in.calm) < 0) {
                return 0;
            }
        } else {
            take_call(&in, s, mdyn_dofs(&trial.a), &c);
            call_both(&c, in.calm);
        }
    }
    return 0;
}
#endif
