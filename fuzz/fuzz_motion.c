/* Bytes become a valid mechanism and a few steps of it; what each step did is held against the
   equations of motion, which this file writes down for itself (rigid.h: M, C and J).

   clang -std=c99 -g -O1 -DMIMICDYN_SCALAR=F32 -DEXPECT_SCALAR_F32=1 -I. -fsanitize=fuzzer \
       fuzz/fuzz_motion.c -lm -o build/fuzz_motion && build/fuzz_motion

   Without libFuzzer: fuzz/standalone.c. Where the bytes end, a hash of them goes on: every input is
   a whole experiment. FUZZ_MEASURE prints the largest error of each oracle beside its tolerance.

   Oracles of a step, with the impulses lambda and the states v, v' that the library reports:
      momentum      M (v' - v) = dt (tau - C - D u) + sum J^T lambda, u = theta v' + (1 - theta) v
      rows          v_lo <= J v' + cfm lambda <= v_hi with complementarity, where iteration ended
      bounds        of limits, friction, drives, couplings, ranges, closures, user rows, contacts
      position      q' follows from v' where no position error is corrected
      trees         momentum of floating trees, and the path of their mass centers
      reports       flags, sticky flags and counts agree with each other
   and of a sim (see `theme`): a copy at another address, a query, an error, a reset, the order and
   the scale of couplings leave the motion; friction of two stages; energy; bad models are refused.
   Explicit: M, C, J at q and v, theta = 1. Midpoint: M, C, J at the middle of the step, C of the
   velocity that the last step leads to, v and v' in the axes that bodies have there; see
   evaluate_scheme. */
#ifndef PLATFORMIO /* which would compile it into the firmware */
#include "tests/knobs_few.h"
#include "tests/check.h"
#include "tests/sims.h"
#include "fuzz/bytes.h"
#include "fuzz/rigid.h"

#include <time.h>

enum {
    BODIES = 4, DOFS = MIMICDYN_MAX_DOFS, COUPLINGS = 3, TERMS = 3, CONTACTS = 2, USER_ROWS = 2,
    ROWS = MIMICDYN_MAX_ROWS + COUPLINGS
};
#ifndef FUZZ_STEPS
#define FUZZ_STEPS 5
#endif

/*                       F64   F32  FIXED */
TOLERANCE(MOMENTUM,    1e-10, 2e-3, 5e-3); /* parts of the momentum that moves */
TOLERANCE(ROW,          1e-8, 2e-3, 1e-4); /* parts of the velocities */
TOLERANCE(BOUND,       1e-12, 1e-5, 1e-5); /* parts of a bound */
TOLERANCE(POSITION,    1e-12, 4e-6, 1e-8); /* parts of coordinates */
TOLERANCE(ENERGY,       1e-9, 1e-3, 1e-5); /* parts of an energy */
TOLERANCE(SAME,         1e-7, 1e-2, 1e-3); /* parts of the velocities, between two formulations */
TOLERANCE(FLOOR,       1e-13, 1e-6, 1e-6); /* sqrt of an energy, at rest */
TOLERANCE(CANCELED, 2.9e-14, 1.6e-5, 1.2e-7); /* 128 roundings of a sum */
TOLERANCE(DIGIT,     2.3e-16, 6e-8, 1e-11); /* of a coordinate */
TOLERANCE(OPERAND,         0,    0, 1e-9); /* of a number that is subtracted: floats are exact */
TOLERANCE(COUNTS_AS_0, 2e-15, 5e-7, 1e-9); /* of C: erp times MD_EPSILON of its terms */
TOLERANCE(DEPENDENT,   1e-11, 2e-5, 4e-6); /* parts of its length that a row of rank has alone */

static struct { unsigned long inputs, accepted, steps, refused, rows; double began; } tally;

static double seconds(void) { return (double)clock() / (double)CLOCKS_PER_SEC; }

static void print_tally(void)
{
    const double time = seconds() - tally.began;
    if (tally.inputs == 0) return;
    fprintf(stderr, "%lu executions, %.0f per second of processor time, %.1f %% pass mdyn_init, "
            "%lu steps, %lu refused; %lu rows held against their conditions\n",
            tally.inputs, (double)tally.inputs / (time > 0 ? time : 1),
            100.0 * (double)tally.accepted / (double)tally.inputs, tally.steps, tally.refused,
            tally.rows);
}

/* ---- bytes ---- */

static int take_int(input *in, int low, int high) /* both may be had */
{
    return low + (int)(take_u8(in) % (unsigned)(high - low + 1));
}

static int one_in(input *in, int n) { return take_int(in, 1, n) == 1; }

static double take_double(input *in, double low, double high)
{
    unsigned a = take_u8(in) << 8;
    a |= take_u8(in);
    return low + (high - low) * (double)a / 65535.0;
}

static mdyn_wide take_wide(input *in, double low, double high)
{
    return wide(take_double(in, low, high));
}

static mdyn_wide3 take_wide3(input *in, double size)
{
    mdyn_wide3 v;
    v.x = take_wide(in, -size, size);
    v.y = take_wide(in, -size, size);
    v.z = take_wide(in, -size, size);
    return v;
}

static mdyn_real3 take_real3(input *in, double size)
{
    mdyn_real3 v;
    v.x = real(take_double(in, -size, size));
    v.y = real(take_double(in, -size, size));
    v.z = real(take_double(in, -size, size));
    return v;
}

/* ---- bytes to a mechanism ---- */

/* What an input is about, beside the oracles of every step. */
typedef enum theme {
    PLAIN, DISTURBED, RESCALED, RESET, FRESH_KEYS, TWO_STAGES, COASTING, BAD_MODEL, STOPS, LOADED,
    THEMES
} theme;

typedef struct specimen {
    mdyn_body body[BODIES];
    mdyn_coupling coupling[COUPLINGS];
    mdyn_closure closure;
    mdyn_user_row user_row[USER_ROWS];
    mdyn_contact contact[CONTACTS];
    int contact_count, contacts_given; /* given: of the next step */
    int released[COUPLINGS];
    int engages_often;
    mdyn_model model;
    theme theme;
} specimen;

/* Any a, b, c > 0 make the inertia of a real body: b + c, a + c, a + b. */
static mdyn_inertia take_inertia(input *in)
{
    const double a = take_double(in, 2e-3, 2e-2), b = take_double(in, 2e-3, 2e-2);
    const double c = take_double(in, 2e-3, 2e-2);
    mdyn_inertia i;
    i.xx = wide(b + c);
    i.yy = wide(a + c);
    i.zz = wide(a + b);
    i.xy = take_wide(in, -2e-4, 2e-4);
    i.xz = take_wide(in, -2e-4, 2e-4);
    i.yz = take_wide(in, -2e-4, 2e-4);
    return i;
}

/* What a joint has beside its body's mass. */
static void take_joint(input *in, const specimen *s, mdyn_body *b)
{
    const int one = r_dofs_of(b->joint) == 1, coasts = s->theme == COASTING;
    const unsigned parts = take_u8(in), more = take_u8(in);
    if ((parts & 1) && b->joint != MDYN_FREE) b->armature = take_wide(in, 0.001, 0.1);
    if (parts & 2) b->damping = take_wide(in, 0, 0.5);
    if ((parts & 12) == 4) b->friction = take_wide(in, 0, 1);
    if (((parts & 16) || s->theme == STOPS) && one && !coasts && s->theme != TWO_STAGES) {
        b->lower = take_wide(in, -1, -0.1);
        b->upper = take_wide(in, 0.1, 1);
        if ((more & 7) == 1) b->upper = MDYN_UNLIMITED;
    }
    if ((parts & 96) == 32) b->effort = take_wide(in, 0.1, 3);
    if (coasts || s->theme == FRESH_KEYS || s->theme == STOPS || s->theme == LOADED) return;
    if ((parts & 128) && one && (more & 128)) b->drive_kp = take_wide(in, 0, 50);
    if ((parts & 128) && one && (more & 192)) b->drive_kd = take_wide(in, 0.01, 1);
}

static void take_body(input *in, specimen *s, int index)
{
    static const mdyn_joint joints[] = {
        MDYN_REVOLUTE, MDYN_REVOLUTE, MDYN_REVOLUTE, MDYN_REVOLUTE, MDYN_PRISMATIC, MDYN_PRISMATIC,
        MDYN_HELICAL, MDYN_FIXED, MDYN_SPHERICAL, MDYN_FREE
    };
    mdyn_body *b = &s->body[index];
    const unsigned parts = take_u8(in);
    b->joint = joints[take_u8(in) % 10];
    if (s->theme == COASTING) b->joint = joints[take_u8(in) % 6];
    b->parent = (int16_t)(s->theme == COASTING || b->joint == MDYN_FREE
                          ? MDYN_WORLD : take_int(in, MDYN_WORLD, index - 1));
    if (parts & 1) b->axis = take_wide3(in, 1);
    if (b->joint == MDYN_HELICAL) b->pitch = take_wide(in, -0.2, 0.2);
    if (parts & 2) b->position = take_wide3(in, 0.5);
    if (parts & 4) {
        b->rotation.w = take_wide(in, 0.2, 1);
        b->rotation.x = take_wide(in, -1, 1);
        b->rotation.y = take_wide(in, -1, 1);
        b->rotation.z = take_wide(in, -1, 1);
    }
    b->mass = take_wide(in, 0.1, 2);
    b->inertia = take_inertia(in);
    if (parts & 16) b->com = take_wide3(in, 0.1);
    take_joint(in, s, b);
}

static void take_softness(input *in, mdyn_softness *s)
{
    s->kind = (mdyn_softness_kind)(take_u8(in) % 5);
    if (s->kind == MDYN_ERP_CFM || s->kind == MDYN_ODE_CFM) {
        s->a = take_wide(in, 0, 1);
        s->b = one_in(in, 2) ? take_wide(in, 0.001, 1) : wide(0);
    } else if (s->kind != MDYN_DEFAULT) {
        s->a = take_wide(in, 1, 100);
        s->b = take_wide(in, 0.1, 2);
    }
}

/* Different DoF that are there; 0 if there are none. */
static int take_terms(input *in, const specimen *s, mdyn_coupling *c)
{
    mdyn_term all[DOFS + 6];
    int n = 0;
    for (int i = 0; i < s->model.body_count; i++) {
        const int dofs = r_dofs_of(s->body[i].joint);
        if (c->level == MDYN_POSITION && dofs > 1) continue;
        for (int j = 0; j < dofs && n < DOFS; j++) {
            all[n].curve = 0;
            all[n].body = (int16_t)i;
            all[n++].axis = (int8_t)j;
        }
    }
    const int count = take_int(in, 2, TERMS), first = take_int(in, 0, n > 0 ? n - 1 : 0);
    if (n < 2) return 0;
    for (int i = 0; i < count && i < n; i++) {
        const double sign = one_in(in, 2) ? -1 : 1;
        c->terms[i] = all[(first + i) % n];
        c->terms[i].coefficient = wide(sign * take_double(in, 0.3, 3));
    }
    return 1;
}

static int take_coupling(input *in, const specimen *s, int index, mdyn_coupling *c)
{
    const unsigned parts = take_u8(in), more = take_u8(in);
    const int simple = s->theme == RESCALED || s->theme == COASTING || s->theme == FRESH_KEYS;
    memset(c, 0, sizeof *c);
    c->level = (parts & 3) == 3 ? MDYN_VELOCITY : MDYN_POSITION;
    if (!take_terms(in, s, c)) return 0;
    if (s->theme == COASTING) return 1;
    if (parts & 4) c->offset = take_wide(in, -0.1, 0.1);
    if (parts & 8) take_softness(in, &c->softness);
    if (s->theme == FRESH_KEYS) return 1;
    if ((parts & 48) == 48 && s->theme != TWO_STAGES) {
        c->lower = (more & 1) ? wide(-1e12) : take_wide(in, -0.3, 0);
        c->upper = take_wide(in, 0.01, 0.3);
    }
    if ((parts & 192) == 64) c->target_velocity = take_wide(in, -1, 1);
    if ((parts & 128) != 0) c->effort = take_wide(in, 0.1, 5);
    if (simple) return 1;
    c->breaks = (int16_t)((more & 6) == 2);
    if ((more & 24) == 8) c->efficiency = take_wide(in, 0.3, 1);
    if ((more & 224) == 32 && index > 0) {
        c->mu = take_wide(in, 0.1, 2);
        c->mu_of = (int16_t)(take_u8(in) % (unsigned)index);
    }
    return 1;
}

static int16_t take_index(input *in, const specimen *s, int least)
{
    return (int16_t)take_int(in, least, s->model.body_count - 1);
}

static void take_closure(input *in, specimen *s)
{
    static const mdyn_closure_kind kinds[] = {
        MDYN_CLOSE_POINT, MDYN_CLOSE_WELD, MDYN_CLOSE_DISTANCE
    };
    mdyn_closure *c = &s->closure;
    c->kind = kinds[take_u8(in) % 3];
    c->a = take_index(in, s, 0);
    c->b = take_index(in, s, MDYN_WORLD);
    c->b = c->a == c->b ? MDYN_WORLD : c->b;
    c->point_a = take_wide3(in, 0.5);
    c->point_b = take_wide3(in, 0.5);
    c->distance = take_wide(in, 0.1, 1);
    if (one_in(in, 2)) c->effort = take_wide(in, 0.1, 20);
    if (one_in(in, 2)) take_softness(in, &c->softness);
    s->model.closures = c;
    s->model.closure_count = 1;
}

static void take_user_row(input *in, const specimen *s, mdyn_user_row *r, int index)
{
    const unsigned parts = take_u8(in);
    for (int i = 0; i < TERMS; i++) {
        r->terms[i].body = MDYN_WORLD;
        if (i > (int)(parts & 1)) continue;
        r->terms[i].body = take_index(in, s, i == 0 ? 0 : MDYN_WORLD);
        r->terms[i].axes = (mdyn_axes)(take_u8(in) % 3);
        r->terms[i].angular = take_wide3(in, 1);
        r->terms[i].linear = take_wide3(in, 1);
    }
    r->value = take_wide(in, -0.05, 0.05);
    if (parts & 2) take_softness(in, &r->softness);
    if ((parts & 4) && s->theme != TWO_STAGES) {
        r->lower = take_wide(in, -0.1, 0);
        r->upper = take_wide(in, 0.01, 0.1);
    }
    if ((parts & 24) == 8) r->level = MDYN_VELOCITY;
    if (parts & 32) r->target_velocity = take_wide(in, -1, 1);
    if (parts & 64) {
        r->force_min = take_wide(in, -5, 0);
        r->force_max = take_wide(in, 0, 5);
    }
    if ((parts & 128) && index > 0) r->mu = take_wide(in, 0.1, 1);
}

static void take_solver(input *in, specimen *s)
{
    mdyn_solver *o = &s->model.solver;
    const unsigned parts = take_u8(in), more = take_u8(in);
    o->method = (parts & 3) == 3 ? MDYN_TGS : (parts & 3) == 2 ? MDYN_DANTZIG : MDYN_PGS;
    o->iterations = 400;
    if (parts & 4) o->start = MDYN_COLD;
    o->scheme = one_in(in, 3) ? MDYN_EXPLICIT : MDYN_MIDPOINT;
    o->correction = (parts & 24) == 8 ? MDYN_RELAX : MDYN_BAUMGARTE;
    if (o->scheme == MDYN_MIDPOINT && (parts & 16)) o->correction = MDYN_CORRECTION_DEFAULT;
    if ((parts & 96) == 32) o->equality = MDYN_ITERATED;
    if ((parts & 128) || s->theme == STOPS) o->limits = MDYN_ENGAGED;
    if ((parts & 128) || s->theme == STOPS) o->deadband = take_wide(in, 0, 0.02);
    o->friction_law = (mdyn_friction_law)((more >> 2) % 3);
    if ((more & 192) == 64) o->relaxation = take_wide(in, 0.7, 1.3);
    if ((more & 192) == 128) o->forces = MDYN_ON_REQUEST;
    if (s->theme == RESCALED) { /* a deadband has the unit of C */
        o->method = MDYN_DANTZIG;
        o->deadband = wide(0);
    }
    if (s->theme == TWO_STAGES) o->friction_law = MDYN_TWO_STAGE;
    if (s->theme == TWO_STAGES && o->method == MDYN_TGS) o->method = MDYN_PGS;
    if (s->theme == TWO_STAGES) o->start = MDYN_COLD; /* normals and friction of one solve */
    if (o->method == MDYN_TGS) o->substeps = (uint16_t)(2 + (more & 3));
    if (o->method == MDYN_TGS && s->theme == COASTING) o->substeps = 12;
    if (o->method == MDYN_DANTZIG && o->friction_law == MDYN_CONE) o->friction_law = MDYN_PYRAMID;
    if (s->theme == FRESH_KEYS) { /* few iterations: the start shows */
        memset(o, 0, sizeof *o);
        o->scheme = MDYN_EXPLICIT; /* a reset drops what the other one extrapolates */
        o->correction = MDYN_BAUMGARTE;
        o->iterations = 1;
    }
    if (s->theme == LOADED) o->start = MDYN_COLD; /* impulses of a load that is gone leave digits */
    if (s->theme == COASTING) {
        o->correction = MDYN_RELAX;
        o->limits = MDYN_SPECULATIVE;
    }
}

static void take_specimen(input *in, specimen *s)
{
    memset(s, 0, sizeof *s);
    mdyn_model *m = &s->model;
    s->theme = (theme)(take_u8(in) % THEMES);
    m->bodies = s->body;
    m->body_count = take_int(in, 1, BODIES);
    for (int i = 0; i < m->body_count; i++) take_body(in, s, i);
    const int couplings = take_int(in, 0, COUPLINGS);
    m->couplings = s->coupling;
    if (s->theme == STOPS || s->theme == LOADED) in->state += 0; /* none: limits alone */
    else
        while (m->coupling_count < couplings && take_coupling(in, s, m->coupling_count,
                                                              &s->coupling[m->coupling_count]))
            m->coupling_count++;
    m->dt = take_wide(in, 1e-4, 1e-2);
    const unsigned parts = take_u8(in);
    take_solver(in, s);
    s->engages_often = (parts & 128) != 0;
    if (s->theme == COASTING || s->theme == LOADED) return;
    if (parts & 1) m->gravity = take_wide3(in, 10);
    if (s->theme == STOPS) return;
    if ((parts & 6) == 2 && s->theme != FRESH_KEYS) take_closure(in, s);
    m->user_rows = s->user_row;
    if ((parts & 24) == 8 && s->theme != FRESH_KEYS) {
        m->user_row_count = m->closure_count && s->closure.kind == MDYN_CLOSE_WELD
            ? 1 : take_int(in, 1, USER_ROWS);
        for (int i = 0; i < m->user_row_count; i++) take_user_row(in, s, &s->user_row[i], i);
        s->user_row[0].mu = wide(0);
    }
    if ((parts & 96) == 32 || s->theme == FRESH_KEYS || s->theme == TWO_STAGES)
        s->contact_count = take_int(in, 1, CONTACTS);
}

static int dofs_of(const specimen *s)
{
    int n = 0;
    for (int i = 0; i < s->model.body_count; i++) n += r_dofs_of(s->body[i].joint);
    return n;
}

/* ---- the rows, written down from the tables ---- */

typedef struct row {
    mdyn_row_kind kind;
    int index, leader;   /* leader: the row whose impulse times mu bounds this one; -1: none */
    double J[RN], J_size[RN], C, C_size, lo, hi, cfm, least, most, mu;
    double bound_rounding; /* of least and most, where they are differences */
    int judged;          /* lo, hi and cfm are known */
    int exact;           /* a hard coupling without a bound, lo = hi */
    int hard_equality;   /* the same, of positions: erp */
    double erp, target, inverse_mass, lambda, speed;
    double damper;       /* the part of the target velocity that counts: of a spring kd's */
    mdyn_row_report report;
} row;

/* What C's velocity has beside v, by the changes of v in the last two steps: nothing, dv/2, or
   2/3 dv - 1/6 before. An impact is not extrapolated: three steps from a push on, it may be ANY of
   the three; nor is what exact rows take away of a v that the user gave, in two steps from there.
   Of the root of a floating tree nobody can tell then; its change stays UNKNOWN. */
typedef struct change {
    double dv[RN], before[RN];
    enum { NOTHING, HALF, BOTH, ANY, UNKNOWN } state;
    int doubts; /* steps until it is sure */
    enum { CONTINUED, GIVEN, ENGAGED } fresh; /* v was given before this step; couplings changed */
} change;

static struct trial {
    mdyn_sim a, other, before;
    struct { char shift[24]; mdyn_sim sim; } b; /* at another distance from a page */
    specimen s, second;
    rigid r;
    row row[ROWS];
    int rows, sticky, dofs;
    double missed[RN];        /* momentum that the rows do not explain */
    int by_pose;              /* v_after by q': known if nothing but v moved q */
    double v_after[RN], size; /* size of the step's velocities, sqrt of an energy */
    double targets;           /* of those that correct position errors */
    int undirected;           /* a distance is so near 0 that its direction has no digits */
    double origin[RB][3];     /* of the bodies, where contacts were set */
    double damping[RN], theta[RN]; /* dt D; weight of v' in it */
    change last;              /* of v in the last step */
    mdyn_real v_last[RN];     /* v as that step left it */
} t;

/* ---- findings ---- */

#define REQUIRE(condition) ((condition) ? (void)0 : broken(__LINE__, #condition))

/* x M^-1 y^T */
static double through_inverse_mass(const double *x, const double *y)
{
    double both[RN], apart[RN];
    for (int i = 0; i < t.r.dofs; i++) {
        both[i] = x[i] + y[i];
        apart[i] = x[i] - y[i];
    }
    return (rigid_inverse_mass(&t.r, both) - rigid_inverse_mass(&t.r, apart)) / 4;
}

/* The impulse of a row that would explain most of the missing momentum. */
static double missed_by(const row *r)
{
    return through_inverse_mass(t.missed, r->J) / (r->inverse_mass + 1e-30);
}

/* J M^-1 J^T of what a row has beyond the other hard couplings without a bound; of them only those
   before it, if `before`. */
static double free_inverse_mass(const row *r, int before)
{
    double basis[ROWS][RN], e[RN];
    int n = 0;
    for (int i = 0; i <= t.rows; i++) {
        const row *other = i < t.rows ? &t.row[i] : r;
        if (i < t.rows && (!other->exact || (before ? other >= r : other == r))) continue;
        memcpy(e, other->J, sizeof e);
        for (int k = 0; k < n; k++) {
            const double part = through_inverse_mass(basis[k], e);
            for (int j = 0; j < t.r.dofs; j++) e[j] -= part * basis[k][j];
        }
        const double square = rigid_inverse_mass(&t.r, e);
        if (i == t.rows) return square;
        if (square < 1e-9 * other->inverse_mass) continue;
        for (int j = 0; j < t.r.dofs; j++) basis[n][j] = e[j] / sqrt(square);
        n++;
    }
    return 0;
}

/* The step at hand, as far as it is known. */
static void describe(void)
{
    const mdyn_solver *o = &t.s.model.solver;
    fprintf(stderr, "theme %d, method %d, equality %d, start %d, correction %d, limits %d, "
            "friction law %d, substeps %d, scheme %d, dt %g; code %d, "
            "redundant %d, contradictory %d, %d iterations\n",
            t.s.theme, o->method, o->equality, o->start, o->correction, o->limits, o->friction_law,
            o->substeps, o->scheme, of_wide(t.s.model.dt), t.a.culprit.code, t.a.report.redundant,
            t.a.report.contradictory, t.a.report.iterations);
    for (int i = 0; i < t.dofs; i++)
        fprintf(stderr, "  DoF %d: v %.9g -> %.9g, tau %.9g, C %.6g, M %.4g; missed %.3g\n", i,
                of_real(t.before.v[i]), of_real(t.a.v[i]), of_real(t.a.tau[i]), t.r.C[i],
                t.r.M[i][i], t.missed[i]);
    for (int i = 0; i < t.r.bodies; i++) {
        const rigid_body *b = &t.r.body[i];
        fprintf(stderr, "  body %d: joint %d, parent %d, dt damping %g, theta %g\n", i,
                b->joint, b->parent, t.damping[b->dof], t.theta[b->dof]);
    }
    for (int i = 0; i < t.rows; i++) {
        const row *r = &t.row[i];
        fprintf(stderr, "  kind %d index %d: C %.6g, v %.9g in [%.9g, %.9g], lambda %.9g in "
                "[%.6g, %.6g], cfm %.3g, J M^-1 J' %.3g, leader %d, flags %d; missed %.3g\n",
                r->kind, r->index,
                r->C, r->speed, r->lo, r->hi, r->lambda, r->least, r->most, r->cfm,
                r->inverse_mass, r->leader, r->report.flags, missed_by(r));
    }
}

static void broken(int line, const char *condition)
{
    describe();
    fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, line, condition);
    fflush(stderr);
    abort();
}

#ifdef FUZZ_MEASURE
static void require_small(int line, double error, double allowed)
{
    static double worst[2000];
    const double ratio = error / allowed;
    if (!(ratio <= worst[line])) {
        worst[line] = ratio;
        fprintf(stderr, "line %d: %.3g of what is allowed (error %.3g)\n", line, ratio, error);
    }
}
#else
static void require_small(int line, double error, double allowed)
{
    if (!(error <= allowed)) {
        fprintf(stderr, "error %.3g, allowed %.3g\n", error, allowed);
        broken(line, "the error is small");
    }
}
#endif
#define REQUIRE_SMALL(error, allowed) require_small(__LINE__, error, allowed)

static int is_unlimited(double x) { return fabs(x) >= of_wide(MDYN_UNLIMITED) * (1 - 1e-6); }

static row *add_row(mdyn_row_kind kind, int index)
{
    row *r = &t.row[t.rows++];
    memset(r, 0, sizeof *r);
    r->kind = kind;
    r->index = index;
    r->leader = -1;
    r->least = -HUGE_VAL;
    r->most = HUGE_VAL;
    r->lo = -HUGE_VAL;
    r->hi = HUGE_VAL;
    r->judged = 1;
    return r;
}

static row *find_row(mdyn_row_kind kind, int index)
{
    for (int i = 0; i < t.rows; i++)
        if (t.row[i].kind == kind && t.row[i].index == index) return &t.row[i];
    return NULL;
}

static void spring(double kp, double kd, double dt, double *erp, double *cfm)
{
    *erp = dt * kp / (dt * kp + kd);
    *cfm = 1 / (dt * (dt * kp + kd));
}

static int is_midpoint(const specimen *s) { return s->model.solver.scheme == MDYN_MIDPOINT; }

/* Whether position errors move q and leave v. */
static int is_relaxed(const specimen *s)
{
    const mdyn_solver *o = &s->model.solver;
    return o->correction == MDYN_RELAX || o->limits == MDYN_ENGAGED ||
           (o->correction == MDYN_CORRECTION_DEFAULT && is_midpoint(s));
}

/* erp and cfm of a softness; a row that can exert no force gets bounds of 0. */
static void soften(row *r, const mdyn_softness *s, double dt)
{
    double a = of_wide(s->a), b = of_wide(s->b);
    r->erp = 0.2;
    r->damper = 1;
    if (s->kind == MDYN_ERP_CFM || s->kind == MDYN_ODE_CFM) {
        r->erp = a;
        r->cfm = s->kind == MDYN_ODE_CFM ? b / dt : b;
    } else if (s->kind != MDYN_DEFAULT) {
        const double m = rigid_inverse_mass(&t.r, r->J);
        if (s->kind == MDYN_OMEGA_ZETA) {
            if (m < 1e-9) {
                r->judged = 0; /* moves no mass, or only by rounding */
                return;
            }
            b = 2 * a * b / m;
            a = a * a / m;
        }
        spring(a, b, dt, &r->erp, &r->cfm);
        r->damper = 1 - r->erp;
    }
}

/* lower <= C <= upper: to a bound within a step, or erp of the way back to it. */
static void aim_range(row *r, double lower, double upper, double dt)
{
    if (!is_unlimited(lower))
        r->lo = (r->C < lower ? r->erp : 1) * (lower - r->C) / dt;
    if (!is_unlimited(upper))
        r->hi = (r->C > upper ? r->erp : 1) * (upper - r->C) / dt;
}

static void aim_velocity(row *r, double target, double lower, double upper)
{
    r->C = r->C_size = 0;
    if (!is_unlimited(lower)) r->lo = target + lower;
    if (!is_unlimited(upper)) r->hi = target + upper;
}

static void aim(row *r, mdyn_level level, double target, double lower, double upper, double dt)
{
    r->target = target;
    if (level == MDYN_VELOCITY) aim_velocity(r, target, lower, upper);
    else if (lower != upper) aim_range(r, lower, upper, dt);
    else r->lo = r->hi = r->damper * target - r->erp * (r->C - lower) / dt;
}

static void bound(row *r, double force, double dt)
{
    r->most = dt * force;
    r->least = -r->most;
}

static void write_coupling(const specimen *s, int i, double dt)
{
    const mdyn_coupling *c = &s->coupling[i];
    const double lower = of_wide(c->lower), upper = of_wide(c->upper), e = of_wide(c->efficiency);
    row *r = add_row(MDYN_ROW_COUPLING, i), *loss;
    r->C = of_wide(c->offset);
    r->C_size = fabs(r->C) + (is_unlimited(lower) ? 0 : fabs(lower)) +
                (is_unlimited(upper) ? 0 : fabs(upper));
    for (int k = 0; k < TERMS; k++) {
        const double f = of_wide(c->terms[k].coefficient);
        const rigid_body *b = &t.r.body[c->terms[k].body];
        if (f == 0) continue;
        r->J[b->dof + c->terms[k].axis] = f;
        r->C += f * t.r.q[b->coordinate] * (c->level == MDYN_POSITION);
        r->C_size += fabs(f * t.r.q[b->coordinate]);
    }
    soften(r, &c->softness, dt);
    aim(r, c->level, of_wide(c->target_velocity), lower, upper, dt);
    if (of_wide(c->effort) > 0) bound(r, of_wide(c->effort), dt);
    r->mu = of_wide(c->mu);
    r->leader = r->mu > 0 ? c->mu_of : -1;
    r->exact = lower == upper && r->cfm == 0 && r->judged && r->most == HUGE_VAL && r->mu == 0;
    r->hard_equality = r->exact && c->level == MDYN_POSITION;
    if (s->released[i]) bound(r, 0, dt);
    if (e == 0) return;
    loss = add_row(MDYN_ROW_LOSS, i);
    for (int k = 0; k < TERMS; k++) {
        const rigid_body *b = &t.r.body[c->terms[k].body];
        const double f = of_wide(c->terms[k].coefficient);
        if (f != 0) loss->J[b->dof + c->terms[k].axis] = k == 0 ? f / 2 : -f / 2;
    }
    loss->lo = loss->hi = 0;
    loss->mu = 2 * (1 - e) / (1 + e);
    loss->leader = (int)(find_row(MDYN_ROW_COUPLING, i) - t.row);
    if (s->released[i]) bound(loss, 0, dt);
}

static double clamped_tau(const mdyn_body *b, double tau)
{
    const double effort = of_wide(b->effort);
    return effort > 0 ? fmax(-effort, fmin(effort, tau)) : tau;
}

static void write_joint(const specimen *s, int i, const mdyn_sim *sim, double dt)
{
    const mdyn_body *b = &s->body[i];
    const rigid_body *rb = &t.r.body[i];
    const double kp = of_wide(b->drive_kp), kd = of_wide(b->drive_kd), effort = of_wide(b->effort);
    const double lower = of_wide(b->lower), upper = of_wide(b->upper);
    const double friction = of_wide(b->friction);
    for (int k = rb->dof; k < rb->dof + rb->dofs; k++) {
        if (kp > 0 || kd > 0) {
            row *r = add_row(MDYN_ROW_DRIVE, k);
            const double tau = clamped_tau(b, of_real(sim->tau[k]));
            r->J[k] = 1;
            spring(kp, kd, dt, &r->erp, &r->cfm);
            r->C = t.r.q[rb->coordinate] - of_real(sim->target[k]);
            r->C_size = fabs(t.r.q[rb->coordinate]) + fabs(of_real(sim->target[k]));
            r->lo = r->hi = (1 - r->erp) * of_real(sim->target_velocity[k]) - r->erp * r->C / dt;
            if (effort > 0) r->most = dt * (effort - tau);
            if (effort > 0) r->least = -dt * (effort + tau);
            r->bound_rounding = OPERAND * dt * effort;
        }
        if (friction > 0) {
            row *r = add_row(MDYN_ROW_FRICTION, k);
            r->J[k] = 1;
            r->lo = r->hi = 0;
            bound(r, friction, dt);
        }
        if (lower != 0 || upper != 0) {
            row *r = add_row(MDYN_ROW_LIMIT, k);
            r->J[k] = 1;
            r->erp = 0.2;
            r->C = t.r.q[rb->coordinate];
            r->C_size = fabs(r->C);
            aim_range(r, lower, upper, dt);
        }
    }
}

/* J += the velocity of a point (arm from the origin, world axes) along n, or turning about n. */
static void add_point(row *r, int body, const double arm[3], const double n[3], double sign)
{
    for (int j = 0; j < t.r.dofs && body >= 0; j++) {
        double u[3];
        memcpy(u, t.r.body[body].Jo[j], sizeof u);
        r_cross(u, t.r.body[body].Jw[j], arm);
        r->J[j] += sign * r_dot(u, n);
        r->J_size[j] = fmax(r->J_size[j], r_size(t.r.body[body].Jo[j]) +
                                          r_size(t.r.body[body].Jw[j]) * r_size(arm));
    }
}

static void add_turning(row *r, int body, const double n[3], double sign)
{
    for (int j = 0; j < t.r.dofs && body >= 0; j++) {
        r->J[j] += sign * r_dot(t.r.body[body].Jw[j], n);
        r->J_size[j] = fmax(r->J_size[j], r_size(t.r.body[body].Jw[j]));
    }
}

/* Where a point of a body is; its arm from the body's origin. */
static void point_of(int body, const double point[3], double arm[3], double at[3])
{
    memcpy(arm, point, 3 * sizeof *arm);
    if (body >= 0) r_turn(arm, t.r.body[body].R, point);
    for (int k = 0; k < 3; k++) at[k] = arm[k] + (body >= 0 ? t.r.body[body].o[k] : 0);
}

static void write_closure(const specimen *s, double dt)
{
    const mdyn_closure *c = &s->closure;
    double pa[3], pb[3], arm_a[3], arm_b[3], at_a[3], at_b[3], gap[3], n[3];
    const int rows = c->kind == MDYN_CLOSE_WELD ? 6 : c->kind == MDYN_CLOSE_POINT ? 3 : 1;
    r_wide3(pa, &c->point_a);
    r_wide3(pb, &c->point_b);
    point_of(c->a, pa, arm_a, at_a);
    point_of(c->b, pb, arm_b, at_b);
    for (int k = 0; k < 3; k++) gap[k] = at_a[k] - at_b[k];
    for (int i = 0; i < rows; i++) {
        row *r = add_row(MDYN_ROW_CLOSURE, i);
        for (int k = 0; k < 3; k++)
            n[k] = rows == 1 ? gap[k] / (r_size(gap) + 1e-30) : k == i % 3;
        if (i < 3) {
            add_point(r, c->a, arm_a, n, 1);
            add_point(r, c->b, arm_b, n, -1);
        } else {
            add_turning(r, c->a, n, 1);
            add_turning(r, c->b, n, -1);
        }
        r->C = rows == 1 ? r_size(gap) - of_wide(c->distance) : i < 3 ? gap[i] : 0;
        r->C_size = 4 * (r_size(at_a) + r_size(at_b) + 1);
        soften(r, &c->softness, dt);
        if (i >= 3) r->judged = 0; /* the rotation's error is not written down here */
        if (rows == 1 && r_size(gap) < 0.05) r->judged = 0;
        if (rows == 1 && r_size(gap) < 1e4 * DIGIT) t.undirected = 1;
        aim(r, MDYN_POSITION, 0, 0, 0, dt);
        if (of_wide(c->effort) > 0) bound(r, of_wide(c->effort), dt);
    }
}

static void write_user_row(const specimen *s, int i, double dt)
{
    const mdyn_user_row *u = &s->user_row[i];
    const double least = of_wide(u->force_min), most = of_wide(u->force_max);
    row *r = add_row(MDYN_ROW_USER, i);
    for (int k = 0; k < TERMS; k++) {
        const mdyn_body_term *term = &u->terms[k];
        const double none[3] = { 0 };
        double w[3], l[3];
        r_wide3(w, &term->angular);
        r_wide3(l, &term->linear);
        if (term->body < 0) continue;
        rigid_body *b = &t.r.body[term->body];
        if (term->axes == MDYN_JOINT_VELOCITIES) {
            for (int j = 0; j < b->dofs; j++) r->J[b->dof + j] += j < 3 ? w[j] : l[j - 3];
            continue;
        }
        if (term->axes == MDYN_BODY_AXES) r_turn(w, b->R, w);
        if (term->axes == MDYN_BODY_AXES) r_turn(l, b->R, l);
        add_turning(r, term->body, w, 1);
        add_point(r, term->body, none, l, 1);
    }
    r->C = of_wide(u->value);
    r->C_size = fabs(r->C);
    soften(r, &u->softness, dt);
    aim(r, u->level, of_wide(u->target_velocity), of_wide(u->lower), of_wide(u->upper), dt);
    if (least != 0 || most != 0) {
        r->least = dt * least;
        r->most = dt * most;
    }
    r->mu = of_wide(u->mu);
    if (r->mu > 0) {
        r->leader = (int)(find_row(MDYN_ROW_USER, u->mu_of) - t.row);
        r->least = -HUGE_VAL;
        r->most = HUGE_VAL;
    }
}

/* The tangents of a contact: the coordinate axis farthest from the normal n made orthogonal to it,
   and n x that. The two are a convention of the header, not a result. */
static void tangents(const double n[3], double x[3], double y[3])
{
    int k = fabs(n[1]) >= fabs(n[0]) && fabs(n[2]) >= fabs(n[0]) ? 0
        : fabs(n[2]) >= fabs(n[1]) ? 1 : 2;
    double l;
    for (int i = 0; i < 3; i++) x[i] = (i == k) - n[k] * n[i];
    l = r_size(x);
    for (int i = 0; i < 3; i++) x[i] /= l;
    y[0] = y[1] = y[2] = 0;
    r_cross(y, n, x);
}

/* The body with a joint that moves to which a body is fixed, or itself; -1: the world. */
static int carrier_of(int body)
{
    return body < 0 || t.r.body[body].dofs > 0 ? body : t.r.body[body].carrier;
}

/* The nearest body that carries both a and b; -1: the world. */
static int common_of(const specimen *s, int a, int b)
{
    while (a != b) {
        if (a > b) a = s->body[a].parent;
        else b = s->body[b].parent;
    }
    return a;
}

static void write_contact(const specimen *s, int i, double dt)
{
    const mdyn_contact *c = &s->contact[i];
    double at[3], d[3][3], arm_a[3], arm_b[3], apart[3], depth = of_real(c->depth);
    const int normal = t.rows, common = common_of(s, c->a, c->b);
    r_real3(at, &c->point);
    r_real3(d[0], &c->normal);
    const double length = r_size(d[0]);
    for (int k = 0; k < 3; k++) {
        d[0][k] /= length;
        arm_a[k] = at[k] - (c->a >= 0 ? t.origin[c->a][k] : 0);
        arm_b[k] = at[k] - (c->b >= 0 ? t.origin[c->b][k] : 0);
        apart[k] = (c->a >= 0 ? t.r.body[c->a].o[k] : 0) + arm_a[k] -
                   (c->b >= 0 ? t.r.body[c->b].o[k] : 0) - arm_b[k];
    }
    tangents(d[0], d[1], d[2]);
    for (int k = 0; k < 3; k++) {
        row *r = add_row(MDYN_ROW_CONTACT, 3 * i + k);
        if (carrier_of(c->a) != carrier_of(c->b)) { /* nothing moves between fixed bodies */
            add_point(r, c->a, arm_a, d[k], 1);
            add_point(r, c->b, arm_b, d[k], -1);

            /* the arms keep their directions in a step, so the points come apart */
            double moment[3] = { 0 };
            r_cross(moment, d[k], apart);
            add_turning(r, common, moment, 1);
        }
        if (k == 0) {
            soften(r, &c->softness, dt);
            r->C = -depth;
            r->C_size = fabs(depth);
            r->lo = (depth > 0 ? r->erp : 1) * depth / dt;
            r->least = 0;
        } else {
            r->lo = r->hi = 0;
            r->mu = of_wide(c->mu);
            r->leader = normal;
            if (r->mu == 0) bound(r, 0, dt);
        }
    }
}

static void write_rows(const specimen *s, const mdyn_sim *sim, double dt)
{
    t.rows = t.undirected = 0;
    for (int i = 0; i < s->model.coupling_count; i++) write_coupling(s, i, dt);
    for (int i = 0; i < s->model.coupling_count; i++) { /* numbers of couplings to rows */
        row *r = find_row(MDYN_ROW_COUPLING, i);
        if (r->leader >= 0) r->leader = (int)(find_row(MDYN_ROW_COUPLING, r->leader) - t.row);
    }
    for (int i = 0; i < s->model.body_count; i++) write_joint(s, i, sim, dt);
    if (s->model.closure_count) write_closure(s, dt);
    for (int i = 0; i < s->model.user_row_count; i++) write_user_row(s, i, dt);
    for (int i = 0; i < s->contacts_given; i++) write_contact(s, i, dt);
}

/* ---- the step, by the scheme ---- */

/* What the oracles of a specimen need before its first step. theta = (3 + y)/(6 + y) with
   y = dt D / M_kk, M at q = 0, and 1 with MDYN_EXPLICIT. */
static void open_scheme(const specimen *s)
{
    const double dt = of_wide(s->model.dt);
    rigid_init(&t.r, &s->model);
    memset(&t.last, 0, sizeof t.last);
    memset(t.v_last, 0, sizeof t.v_last);
    for (int i = 0; i < t.r.bodies; i++)
        if (t.r.body[i].dofs >= 3)
            t.r.q[t.r.body[i].coordinate + (t.r.body[i].dofs == 6 ? 3 : 0)] = 1;
    rigid_update(&t.r);
    for (int i = 0; i < t.r.bodies; i++)
        for (int k = t.r.body[i].dof; k < t.r.body[i].dof + t.r.body[i].dofs; k++) {
            const double y = dt * of_wide(s->body[i].damping), M = t.r.M[k][k];
            t.theta[k] = is_midpoint(s) && M > 0 ? (3 * M + y) / (6 * M + y) : 1;
            t.damping[k] = y;
        }
    t.r.turned = is_midpoint(s);
}

/* M, C at q and v of t.r, C with the velocity as extrapolated. 0 if M is singular. */
static int evaluate_dynamics(int state)
{
    double v[RN], damping[RN];
    memcpy(v, t.r.v, sizeof v);
    for (int k = 0; k < t.dofs; k++) {
        if (state == HALF) t.r.v[k] += t.last.dv[k] / 2;
        if (state >= BOTH) t.r.v[k] += 2 * t.last.dv[k] / 3 - t.last.before[k] / 6;
        damping[k] = t.theta[k] * t.damping[k];
    }
    rigid_update(&t.r);
    memcpy(t.r.v, v, sizeof v);
    return rigid_factor(&t.r, damping);
}

/* All that depends on the time step's scheme: t.r at the place where M, C and J are taken, t.r.v
   and t.v_after in the axes of that place. 0 if it cannot be evaluated. */
static int evaluate_scheme(const specimen *s, const mdyn_sim *before, const mdyn_sim *after)
{
    const double half = of_wide(s->model.dt) / 2;
    double q_after[RQ];
    rigid_read(&t.r, before);
    for (int i = 0; i < t.r.bodies; i++) {
        r_place(&t.r, i);
        memcpy(t.origin[i], t.r.body[i].o, sizeof t.origin[i]);
    }
    for (int k = 0; k < t.dofs; k++) t.v_after[k] = of_real(after->v[k]);
    for (int k = 0; k < t.r.coordinates; k++) q_after[k] = of_real(after->q[k]);
    t.by_pose = 0;
    if (!is_midpoint(s)) return evaluate_dynamics(NOTHING);
    if (memcmp(t.v_last, before->v, (size_t)t.dofs * sizeof *before->v) != 0)
        t.last = (change){ .fresh = GIVEN }; /* the user gave another v */
    rigid_drift(&t.r, t.r.q, t.r.v, half);
    t.by_pose = !rigid_undrift(&t.r, q_after, t.v_after, half);
    return evaluate_dynamics((int)t.last.state);
}

/* Whether a row of one side pushes: an impact, if it is its first step. In substeps it may be at
   either bound in turn, and its impulses add up to 0. */
static int has_stop(void)
{
    const int parts = t.s.model.solver.method == MDYN_TGS;
    for (int i = 0; i < t.rows; i++) {
        const row *r = &t.row[i];
        const int normal = r->kind == MDYN_ROW_CONTACT && r->index % 3 == 0;
        const int range = r->lo != r->hi && r->kind != MDYN_ROW_CONTACT;
        const int both = parts && r->most > 0 && (r->report.flags & MDYN_ROW_SATURATED);
        if ((r->lambda != 0 || both) && (normal || range)) return 1;
    }
    return 0;
}

/* Whether a body turns so far in a midpoint step that it is solved twice: C is then that of the
   first solve's v + dv/2, which nobody sees. */
static int turns_far(const specimen *s)
{
    for (int i = 0; i < t.r.bodies && is_midpoint(s); i++) {
        double w[3][3] = { { 0 } }, most = r_size(t.r.body[i].w);
        for (int j = 0; j < t.dofs; j++)
            for (int k = 0; k < 3; k++) {
                const double *J = t.r.body[i].Jw[j], dv = t.last.dv[j];
                w[0][k] += J[k] * t.r.v[j];
                w[1][k] += J[k] * (t.r.v[j] + dv / 2);
                w[2][k] += J[k] * (t.r.v[j] + 2 * dv / 3 - t.last.before[j] / 6);
            }
        most = fmax(most, r_size(w[0]));
        if (t.last.state >= ANY) most = fmax(most, fmax(r_size(w[1]), r_size(w[2])));
        if (most * of_wide(s->model.dt) > 0.15) return 1;
    }
    return 0;
}

/* The change of v that the next step extrapolates. */
static void close_scheme(const specimen *s, const mdyn_sim *after)
{
    int unknown = 0;
    for (int i = 0; i < t.r.bodies && (t.last.state >= ANY || turns_far(s)); i++)
        unknown |= t.r.body[i].floating;
    int jumps = t.last.fresh == ENGAGED;
    memcpy(t.last.before, t.last.dv, sizeof t.last.dv);
    for (int k = 0; k < t.dofs; k++) {
        t.last.dv[k] = t.v_after[k] - t.r.v[k];
        /* how the speeds of joints are weighed against each other is not asked here */
        jumps |= t.last.fresh == GIVEN && fabs(t.last.dv[k]) > fabs(t.r.v[k]) / 10;
    }
    t.last.doubts = has_stop() ? 3 : jumps ? 2 : t.last.doubts > 0 ? t.last.doubts - 1 : 0;
    t.last.fresh = CONTINUED;
    t.last.state = unknown ? UNKNOWN : t.last.doubts ? ANY : t.last.state == NOTHING ? HALF : BOTH;
    memcpy(t.v_last, after->v, sizeof t.v_last);
}

/* Whether q moves by dt v' alone: then no position error may have been corrected apart from v. */
static int moves_plainly(const specimen *s)
{
    const mdyn_solver *o = &s->model.solver;
    if (o->method == MDYN_TGS) return 0;
    if (!is_relaxed(s)) return 1;
    const double band = o->limits == MDYN_ENGAGED ? of_wide(o->deadband) : 0;
    for (int i = 0; i < t.rows; i++) {
        const row *r = &t.row[i];
        double lower, upper;
        if (r->kind == MDYN_ROW_LOSS || r->kind == MDYN_ROW_FRICTION || r->kind == MDYN_ROW_DRIVE)
            continue;
        if (r->kind != MDYN_ROW_LIMIT) return 0;
        for (int b = 0; b < t.r.bodies; b++) {
            if (t.r.body[b].dof != r->index || t.r.body[b].dofs != 1) continue;
            lower = of_wide(s->body[b].lower);
            upper = of_wide(s->body[b].upper);
            if (r->C < lower - 0.9 * band || r->C > upper + 0.9 * band) return 0;
        }
    }
    return 1;
}

/* ---- what must hold after a step ---- */

static double energy_size(const double *v)
{
    double sum = 0;
    for (int i = 0; i < t.r.dofs; i++)
        for (int j = 0; j < t.r.dofs; j++) sum += v[i] * t.r.M[i][j] * v[j];
    return sqrt(sum > 0 ? sum : 0);
}

/* sqrt(e' (M + dt D)^-1 e): a momentum as the energy weighs it. */
static double momentum_size(const double *e) { return sqrt(rigid_inverse_mass(&t.r, e)); }

/* Reads impulses and reports; t.size becomes the size of all that moved in the step. */
static void read_rows(const specimen *s, const mdyn_sim *sim)
{
    const int parts = s->model.solver.substeps;
    const double h = of_wide(s->model.dt) / (parts ? parts : 1);
    t.size = energy_size(t.r.v) + energy_size(t.v_after);
    t.targets = 0;
    for (int i = 0; i < t.rows; i++) {
        row *r = &t.row[i];
        REQUIRE(mdyn_report_row(sim, r->kind, r->index, &r->report) == MDYN_OK);
        r->lambda = of_wide(r->report.impulse);
        REQUIRE(isfinite(r->lambda) && isfinite(of_wide(r->report.residual)));
        REQUIRE(isfinite(of_wide(r->report.power)) && isfinite(of_wide(r->report.error)));
        r->inverse_mass = rigid_inverse_mass(&t.r, r->J);
        t.size += sqrt(r->inverse_mass) * fabs(r->lambda);
        if (r->inverse_mass > 1e-6)
            t.targets += fabs(r->erp * r->C) / h / sqrt(r->inverse_mass + r->cfm);
    }
    /* in fixed point a block holds the targets too */
    if (MDYN_SCALAR == MDYN_SCALAR_FIXED) t.size += t.targets;
}

/* What the rows and forces do not explain of the change of momentum, in e; the size of the forces'
   impulses in part. */
static void miss_momentum(const specimen *s, const mdyn_sim *before, double *e, double *part)
{
    const double dt = of_wide(s->model.dt);
    for (int i = 0; i < t.r.bodies; i++)
        for (int k = t.r.body[i].dof; k < t.r.body[i].dof + t.r.body[i].dofs; k++) {
            const double tau = clamped_tau(&s->body[i], of_real(before->tau[k]));
            e[k] = t.damping[k] * (t.theta[k] * t.v_after[k] + (1 - t.theta[k]) * t.r.v[k]);
            e[k] -= dt * (tau - t.r.C[k]);
            part[k] = dt * (fabs(tau) + t.r.C_size[k]);
            for (int j = 0; j < t.r.dofs; j++)
                e[k] += t.r.M[k][j] * (t.v_after[j] - t.r.v[j]);
            for (int j = 0; j < t.rows; j++) {
                /* J as a sum; one that is not above its rounding becomes 0: what bodies that are
                   welded to each other would give each other. Of a loop stretched out it is 1e-10
                   of its terms, and by q without tails it is off by 6 roundings of them */
                const double J = t.row[j].J[k], canceled = CANCELED * t.row[j].J_size[k];
                const double off = fabs(J) < canceled ? fabs(J) : canceled / 16;
                e[k] -= J * t.row[j].lambda;
                part[k] += off * fabs(t.row[j].lambda) / MOMENTUM;
            }
        }
}

/* The root of a floating tree reports the velocity that belongs to the tree's momentum at q', not
   that which the step's equations give: it is solved from the root's own six equations, so that
   the others stand; check_trees has the momentum. */
static void find_root_velocity(const rigid_body *b, double *e)
{
    double A[RN][RN], x[RN];
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) A[i][j] = t.r.M[b->dof + i][b->dof + j];
        A[i][i] += t.theta[b->dof + i] * t.damping[b->dof + i];
        x[i] = -e[b->dof + i];
    }
    r_solve(6, A, x);
    for (int j = 0; j < 6; j++) {
        t.v_after[b->dof + j] += x[j];
        e[b->dof + j] += t.theta[b->dof + j] * t.damping[b->dof + j] * x[j];
        for (int k = 0; k < t.r.dofs; k++) e[k] += t.r.M[k][b->dof + j] * x[j];
    }
}

/* What an iteration may round of the impulses of eliminated couplings. Where v of a follower is off
   its coupling by C', it goes back C'/J_k in the step, beside all else that moves; the impulse is
   what its equation of motion then misses. Which joint is the follower nobody tells. */
static double rounding_of_return(void)
{
    double sum = 0;
    for (int i = 0; i < t.rows; i++) {
        const row *r = &t.row[i];
        double off = 0, most = 0;
        if (r->kind != MDYN_ROW_COUPLING || !r->hard_equality) continue;
        for (int k = 0; k < t.dofs; k++) off += r->J[k] * t.r.v[k];
        for (int k = 0; k < t.dofs; k++)
            if (r->J[k] != 0) most = fmax(most, t.r.M[k][k] / (r->J[k] * r->J[k]));
        sum += check_epsilon * fabs(off) * most * sqrt(r->inverse_mass);
    }
    return sum;
}

/* Parts of what is allowed that the momentum is off by. */
static double momentum_error(const specimen *s, const mdyn_sim *before)
{
    double e[RN] = { 0 }, part[RN] = { 0 };
    miss_momentum(s, before, e, part);
    for (int i = 0; i < t.r.bodies && is_midpoint(s); i++)
        if (t.r.body[i].floating) find_root_velocity(&t.r.body[i], e);
    memcpy(t.missed, e, sizeof e);
    /* F32: iterated equalities with substeps lose more digits than they should; in fixed point
       impulses of a relaxation have those of the block that moved q, and contradictory ones are
       large */
    const int loses = MDYN_SCALAR == MDYN_SCALAR_F32 && s->model.solver.method == MDYN_TGS &&
                      s->model.solver.equality == MDYN_ITERATED;
    const int coarse = MDYN_SCALAR == MDYN_SCALAR_FIXED &&
                       (is_relaxed(s) || t.a.report.contradictory > 0);
    const double allowed = (loses ? 100 : coarse ? 10 : 1) * MOMENTUM;
    /* the solve for v goes on from that which moves q, and keeps its roundings; so does a substep
       from the one before, which may have gone all the way */
    const int goes_on = is_relaxed(s) || s->model.solver.method == MDYN_TGS;
    const double kept = (goes_on ? 64 * check_epsilon * t.targets : 0) +
                        t.a.report.iterations * rounding_of_return();
    return momentum_size(e) / (allowed * (t.size + momentum_size(part)) + kept + FLOOR);
}

/* Friction that jams may raise its impulses without end: where the iteration did not end, and rows
   bound each other, they may have been far larger than they are. */
static void check_momentum(const specimen *s, const mdyn_sim *before, int converged)
{
    double v_after[RN], error;
    int judged = t.last.state != UNKNOWN && !turns_far(s) && (!t.by_pose || moves_plainly(s));
    for (int i = 0; i < t.rows && !converged; i++) judged &= t.row[i].leader < 0;
    memcpy(v_after, t.v_after, sizeof v_after);
    error = momentum_error(s, before);
    if (is_midpoint(s) && t.last.state == ANY) { /* that which fits best */
        int best = BOTH;
        for (int state = NOTHING; state <= BOTH + 1; state++) {
            memcpy(t.v_after, v_after, sizeof v_after);
            (void)evaluate_dynamics(state > BOTH ? best : state);
            const double now = momentum_error(s, before);
            if (state <= BOTH && now < error) best = state;
            error = state > BOTH ? now : fmin(error, now);
        }
    }
    if (judged) REQUIRE_SMALL(error, 1);
    for (int i = 0; i < t.rows; i++)
        for (int k = 0; k < t.r.dofs; k++) t.row[i].speed += t.row[i].J[k] * t.v_after[k];
}

/* Whether a row acts between two bodies of one tree, with a force and its opposite at one point.
   The points of a soft closure are apart. */
static int is_internal(const specimen *s, const row *r)
{
    const int contact = r->kind == MDYN_ROW_CONTACT ? r->index / 3 : 0;
    const int a = r->kind == MDYN_ROW_CLOSURE ? s->closure.a : s->contact[contact].a;
    const int b = r->kind == MDYN_ROW_CLOSURE ? s->closure.b : s->contact[contact].b;
    return (r->kind == MDYN_ROW_CONTACT || (r->kind == MDYN_ROW_CLOSURE && r->cfm == 0)) &&
           b >= 0 && t.r.body[a].root == t.r.body[b].root;
}

/* Force and moment about `at`, times dt, of all that acts on the tree of root b from outside. */
static void impulse_on_tree(const specimen *s, const mdyn_sim *before, int b, const double *at,
                            double P[3], double L[3], double *size)
{
    const double dt = of_wide(s->model.dt);
    const rigid_body *root = &t.r.body[b];
    double g[6], arm[3], R[3][3], moment[3] = { 0 };
    for (int j = 0; j < 6; j++) {
        const int k = root->dof + j;
        g[j] = dt * clamped_tau(&s->body[b], of_real(before->tau[k]));
        g[j] -= t.damping[k] * (t.theta[k] * t.v_after[k] + (1 - t.theta[k]) * t.r.v[k]);
        for (int i = 0; i < t.rows; i++) {
            if (!is_internal(s, &t.row[i])) g[j] += t.row[i].J[k] * t.row[i].lambda;
            /* the terms of a row round before they cancel, as those of a soft weld do */
            *size += fmax(fabs(t.row[i].J[k]), t.row[i].J_size[k]) * fabs(t.row[i].lambda);
        }
        *size += fabs(g[j]);
    }
    memcpy(R, root->R, sizeof R);
    r_turn(P, R, g + 3);
    r_turn(L, R, g);
    for (int k = 0; k < 3; k++) arm[k] = root->o[k] - at[k];
    r_cross(L, arm, P);
    for (int i = 0; i < t.r.bodies; i++) {
        const rigid_body *a = &t.r.body[i];
        if (a->root != b) continue;
        for (int k = 0; k < 3; k++) {
            arm[k] = dt * (a->o[k] - at[k]);
            P[k] += dt * (a->force[k] + a->mass * t.r.gravity[k]);
            moment[k] += dt * a->moment[k];
            *size += dt * (fabs(a->force[k]) + a->mass * fabs(t.r.gravity[k]) +
                           fabs(a->moment[k]));
        }
        r_cross(moment, arm, a->force);
    }
    for (int k = 0; k < 3; k++) L[k] += moment[k];
}

/* The momentum of a floating tree changes by what acts from outside, and its mass center goes by
   the mean of the momenta. */
static void check_trees(const specimen *s, const mdyn_sim *before, const mdyn_sim *after,
                        int converged)
{
    static rigid was, is;
    for (int i = 0; i < t.rows && !converged; i++) if (t.row[i].leader >= 0) return;
    for (int k = 0; k < t.dofs; k++)
        if (fabs(t.v_after[k]) > 1000) return; /* arms of kilometers, all digits cancel */
    for (int b = 0; b < t.r.bodies && is_midpoint(s); b++) {
        double p0[3], p1[3], L0[3], L1[3], c0[3], c1[3], cm[3], P[3], L[3], p[3], size = 0;
        if (!t.r.body[b].floating) continue;
        /* what the damping of the root takes depends on which C it was */
        if ((t.last.state >= ANY || turns_far(s)) && t.damping[t.r.body[b].dof] > 0) continue;
        is = was = t.r;
        rigid_read(&was, before);
        rigid_read(&is, after);
        was.turned = is.turned = 0;
        rigid_update(&was);
        rigid_update(&is);
        (void)rigid_momentum(&t.r, b, p, L, cm);
        impulse_on_tree(s, before, b, cm, P, L, &size);
        (void)rigid_momentum(&was, b, p0, L0, c0);
        const double mass = rigid_momentum(&is, b, p1, L1, c1), dt = of_wide(s->model.dt);
        size += rigid_momentum_size(&was, b, c0) + rigid_momentum_size(&is, b, c1);
        for (int k = 0; k < 3; k++) {
            REQUIRE_SMALL(fabs(p1[k] - p0[k] - P[k]), MOMENTUM * size);
            REQUIRE_SMALL(fabs(L1[k] - L0[k] - L[k]), MOMENTUM * size);
            if (!moves_plainly(s)) continue;
            REQUIRE_SMALL(fabs(c1[k] - c0[k] - dt * (p0[k] + P[k] / 2) / mass),
                          POSITION * (1 + fabs(c1[k])) + MOMENTUM * size / mass * dt);
        }
    }
}

/* Bounds of impulse. Those that another row's impulse gives follow it in each visit; where the
   iteration goes on, or the step has parts, they are not known. */
static void check_bounds(const specimen *s, int converged)
{
    const mdyn_solver *o = &s->model.solver;
    for (int i = 0; i < t.rows; i++) {
        row *r = &t.row[i];
        const double least = 1e-9 + 1e-4 * t.size / sqrt(r->inverse_mass + 1e-3) * BOUND * 1e3;
        double most = HUGE_VAL;
        const double rounding = r->bound_rounding + 1e-12;
        if (isfinite(r->most))
            REQUIRE_SMALL(r->lambda - r->most, BOUND * fabs(r->most) + rounding);
        if (isfinite(r->least))
            REQUIRE_SMALL(r->least - r->lambda, BOUND * fabs(r->least) + rounding);
        if (r->kind != MDYN_ROW_DRIVE && r->hi == HUGE_VAL && r->lo == -HUGE_VAL)
            REQUIRE(r->lambda == 0);
        if (r->hi == HUGE_VAL) REQUIRE_SMALL(-r->lambda, least);
        if (r->lo == -HUGE_VAL) REQUIRE_SMALL(r->lambda, least);
        if (r->leader < 0 || o->friction_law == MDYN_TWO_STAGE || is_relaxed(s) ||
            s->theme == FRESH_KEYS) continue;
        if (free_inverse_mass(r, 0) < 1e-3) continue; /* couplings hold it, or small in its block */
        most = r->mu * fabs(t.row[r->leader].lambda);
        if (o->method == MDYN_TGS && r->kind != MDYN_ROW_CONTACT) continue;
        if (o->limits == MDYN_ENGAGED || (!converged && r->kind != MDYN_ROW_CONTACT)) continue;
        if (!converged && MDYN_SCALAR == MDYN_SCALAR_FIXED) continue; /* a coarse block */
        REQUIRE_SMALL(fabs(r->lambda) - most, 1000 * BOUND * most + least);
        if (r->kind == MDYN_ROW_CONTACT && r->index % 3 == 2 && o->friction_law == MDYN_CONE &&
            o->method != MDYN_TGS)
            REQUIRE_SMALL(hypot(r->lambda, t.row[i - 1].lambda) - most,
                          1000 * BOUND * most + least);
    }
}

/* By how much a row misses its conditions, as a velocity: lambda times inverse_mass is one. */
static double row_violation(const row *r)
{
    const double a = r->inverse_mass + r->cfm, w = r->speed + r->cfm * r->lambda;
    double worst = 0;
    double most = r->most, least = r->least;
    if (r->leader >= 0) {
        most = fmin(most, r->mu * fabs(t.row[r->leader].lambda));
        least = fmax(least, -most);
    }
    worst = fmax(worst, fmin(r->lambda * a, w - r->lo));
    worst = fmax(worst, fmin(-r->lambda * a, r->hi - w));
    worst = fmax(worst, fmin(r->lo - w, (most - r->lambda) * a));
    worst = fmax(worst, fmin(w - r->hi, (r->lambda - least) * a));
    return isnan(w) ? HUGE_VAL : worst;
}

/* Whether a range of positions of a joint or coupling: exact rows that agree with it do so to their
   own errors of positions only. */
static int is_range_of_position(const row *r)
{
    return (r->kind == MDYN_ROW_LIMIT || r->kind == MDYN_ROW_COUPLING) && r->C_size > 0 &&
           r->lo != r->hi;
}

/* Whether a row that depends on exact ones is within its targets, or pulls with its bound: a hard
   one of velocities that has a bound, and a hard range of positions; without a bound it would be
   contradictory. Others have no impulse then. */
static int is_held_to_targets(const row *r)
{
    const int is_bounded = r->leader >= 0 || (isfinite(r->most) && isfinite(r->least));
    return r->cfm == 0 &&
           (is_range_of_position(r) || (r->C_size == 0 && r->lo == r->hi && is_bounded));
}

/* Rows of a converged solve meet their conditions. */
static void check_rows(const specimen *s, int converged)
{
    const mdyn_solver *o = &s->model.solver;
    const double dt = of_wide(s->model.dt);
    if (is_midpoint(s) || !converged || o->method == MDYN_TGS || is_relaxed(s) ||
        t.a.report.contradictory > 0) return;
    for (int i = 0; i < t.rows; i++) {
        const row *r = &t.row[i];
        const int slack = r->leader >= 0 && o->friction_law != MDYN_PYRAMID;
        const int redundant = r->report.flags & MDYN_ROW_REDUNDANT;
        double size = sqrt(r->inverse_mass + r->cfm) * t.size + r->cfm * fabs(r->lambda);
        if (!r->judged || slack || (r->report.flags & MDYN_ROW_CONTRADICTORY)) continue;
        if (redundant && !is_held_to_targets(r)) continue;
        if (redundant) size += 4 * check_epsilon / ROW / dt; /* at rest to the rounding of C */
        for (int k = 0; k < t.dofs && redundant && is_range_of_position(r); k++)
            size += 1e-4 * fabs(r->J[k]) / ROW / dt;
        if (r->inverse_mass < 1e-9) continue; /* moves nothing */
        if (s->model.solver.friction_law == MDYN_CONE && r->kind == MDYN_ROW_CONTACT &&
            r->index % 3 != 0) continue;
        size += fabs(isfinite(r->lo) && r->lambda >= 0 ? r->lo : isfinite(r->hi) ? r->hi : 0);
        tally.rows++;
        REQUIRE_SMALL(row_violation(r), ROW * size + 8 * DIGIT * r->C_size / dt + 1e-9);
    }
}

/* With substeps: C of a hard equality at the start of the last one follows from q' and v'. */
static void check_substeps(const specimen *s, const mdyn_sim *after)
{
    const mdyn_solver *o = &s->model.solver;
    const double h = of_wide(s->model.dt) / o->substeps;
    if (is_midpoint(s) || o->method != MDYN_TGS || is_relaxed(s) || o->equality != MDYN_EXACT ||
        o->limits == MDYN_ENGAGED || after->report.redundant > 0) return;
    for (int i = 0; i < t.rows; i++) {
        const row *r = &t.row[i];
        double C, size = sqrt(r->inverse_mass) * t.size;
        if (r->kind != MDYN_ROW_COUPLING || !r->hard_equality || s->released[r->index]) continue;
        if (of_wide(s->coupling[r->index].efficiency) > 0) continue;
        int leads = 0;
        for (int k = 0; k < t.rows; k++) leads |= t.row[k].leader == i;
        if (leads) continue;
        C = of_wide(s->coupling[r->index].offset) - of_wide(s->coupling[r->index].lower);
        for (int b = 0; b < t.r.bodies; b++)
            if (t.r.body[b].dofs == 1)
                C += r->J[t.r.body[b].dof] * of_real(after->q[t.r.body[b].coordinate]);
        C -= h * r->speed;
        REQUIRE_SMALL(fabs(r->speed - (r->target - r->erp * C / h)),
                      ROW * (size + fabs(r->erp * C / h)) + 16 * DIGIT * (1 + r->C_size) / h);
    }
}

/* What rounding leaves open of the turn of a single body in the first half of a midpoint step. */
static double turn_rounding(const rigid_body *b)
{
    double I[3][3], w[3];
    if (!is_midpoint(&t.s) || !b->single) return 0;
    r_single_inertia(b, I);
    for (int k = 0; k < 3; k++) w[k] = of_real(t.before.v[b->dof + k]);
    return 4 * check_epsilon * r_euler_roundings(I, of_wide(t.s.model.dt) / 2, w);
}

static void check_positions(const specimen *s, const mdyn_sim *after)
{
    double q[RQ], v[RN], moved = 1;
    const double dt = of_wide(s->model.dt);
    if (!moves_plainly(s) || t.by_pose) return;
    for (int i = 0; i < t.dofs; i++) moved += dt * fabs(t.v_after[i]);
    memcpy(q, t.r.q, sizeof q);
    memcpy(v, t.v_after, sizeof v);
    if (is_midpoint(s)) rigid_drift(&t.r, q, v, dt / 2);
    else rigid_move(&t.r, q, v, dt);
    for (int i = 0; i < t.r.bodies; i++) {
        const rigid_body *b = &t.r.body[i];
        const int n = b->dofs + (b->dofs >= 3), turn = n - 4;
        const double turned = turn_rounding(b);
        double length = 1;
        if (n >= 4) length = sqrt(r_dot(q + b->coordinate + turn, q + b->coordinate + turn) +
                                  q[b->coordinate + turn + 3] * q[b->coordinate + turn + 3]);
        for (int k = 0; k < n; k++) {
            const double want = q[b->coordinate + k] / (n >= 4 && k >= turn ? length : 1);
            const double most = POSITION * (moved + fabs(want)) + turned;
            if (is_midpoint(s) && b->floating) continue; /* see check_trees */
            REQUIRE_SMALL(fabs(of_real(after->q[b->coordinate + k]) - want), most);
        }
    }
}

/* Flags, counts and what couplings did that broke. */
static void check_reports(specimen *s, const mdyn_sim *after)
{
    const int at_bounds = MDYN_ROW_AT_LOWER | MDYN_ROW_AT_UPPER; /* sticky while they are engaged */
    const int asked = s->model.solver.limits == MDYN_ENGAGED ? 0 : at_bounds;
    int redundant = 0, contradictory = 0, broke = 0;
    for (int i = 0; i < t.rows; i++) {
        const row *r = &t.row[i];
        const int flags = r->report.flags;
        const int broken_now = r->kind == MDYN_ROW_COUPLING && (flags & MDYN_ROW_RELEASED) &&
                               !s->released[r->index];
        t.sticky |= flags & ~(MDYN_ROW_RELEASED | asked);
        redundant += (flags & MDYN_ROW_REDUNDANT) != 0;
        contradictory += (flags & MDYN_ROW_CONTRADICTORY) != 0;
        if (!broken_now) continue;
        REQUIRE(s->coupling[r->index].breaks);
        if (s->model.solver.method != MDYN_TGS && r->leader < 0) /* of a substep it may be one */
            REQUIRE_SMALL(r->most - fabs(r->lambda), 100 * BOUND * r->most);
        s->released[r->index] = 1;
        t.sticky |= MDYN_ROW_RELEASED;
        broke++;
    }
    REQUIRE(after->report.broken == broke);
    REQUIRE(after->report.redundant == redundant && after->report.contradictory == contradictory);
    if (after->culprit.sticky != t.sticky)
        fprintf(stderr, "sticky %d, want %d\n", after->culprit.sticky, t.sticky);
    REQUIRE(after->culprit.sticky == t.sticky);
    REQUIRE(after->report.entries >= 0 && after->report.entries <= MIMICDYN_MAX_ENTRIES);
    REQUIRE(of_wide(after->report.residual) >= 0);
}

/* The velocity, sqrt of an energy, that corrects C of a hard row on rotors and sliders, if it
   counts as 0: not above the rounding of its terms. */
static double rounding_corrected(const row *r)
{
    double rounding = 0;
    for (int k = 0; k < t.dofs; k++)
        rounding += check_epsilon * fabs(r->J[k]) * (1 + fabs(t.r.q[k]));
    if (fabs(r->C) > 1.1 * rounding) return 0;
    return r->erp * fabs(r->C) / of_wide(t.s.model.dt) /
           sqrt(fmax(free_inverse_mass(r, 0), DEPENDENT * DEPENDENT * r->inverse_mass));
}

/* Kinetic energy of rotors and sliders on the world that nothing drives: rows only take it. Rows
   that are nearly dependent leave v' open as far as the rounding of J v' goes, which is that of the
   motion and the impulses: of a velocity along what a row has alone they see that part. An error of
   C below its rounding is corrected by v, along what the other rows leave of that row. */
static void check_coasting(const specimen *s)
{
    if (s->theme != COASTING) return;
    const double was = energy_size(t.r.v), is = energy_size(t.v_after);
    double alone = 1, rounding = 0; /* a position error up to C's rounding, taken back with v */
    for (int k = 0; k < t.dofs; k++)
        rounding += COUNTS_AS_0 * (1 + fabs(t.r.q[k])) / of_wide(s->model.dt) * sqrt(t.r.M[k][k]);
    for (int i = 0; i < t.rows && s->model.solver.equality == MDYN_EXACT; i++) {
        const row *r = &t.row[i];
        if (!r->exact || (r->report.flags & MDYN_ROW_REDUNDANT)) continue;
        alone = fmin(alone, sqrt(fmax(0, free_inverse_mass(r, 1)) / r->inverse_mass));
        rounding += rounding_corrected(r);
    }
    rounding += check_epsilon * t.size / fmax(alone, DEPENDENT);
    REQUIRE_SMALL(is - was, ENERGY * was + FLOOR + rounding);
}

static int is_converged(const specimen *s, const mdyn_sim *after, int code)
{
    const mdyn_solver *o = &s->model.solver;
    if (code != MDYN_OK || s->theme == FRESH_KEYS) return 0;
    if (o->method == MDYN_DANTZIG) return 1;
    return after->report.iterations < (o->iterations ? o->iterations : 100);
}

static int same_motion(const mdyn_sim *a, const mdyn_sim *b)
{
    return memcmp(a->q, b->q, (size_t)mdyn_coordinates(a) * sizeof a->q[0]) == 0 &&
           memcmp(a->v, b->v, (size_t)mdyn_dofs(a) * sizeof a->v[0]) == 0;
}

static int same_reports(const mdyn_sim *a, const mdyn_sim *b)
{
    return a->report.iterations == b->report.iterations && a->report.pivots == b->report.pivots &&
           a->report.unsolved == b->report.unsolved &&
           memcmp(&a->report.residual, &b->report.residual, sizeof a->report.residual) == 0 &&
           a->culprit.sticky == b->culprit.sticky;
}

/* Sum of the moments of inertia, about three axes through the origin of body i, of all that its
   joint moves. */
static double carried_inertia(int i)
{
    double sum = 0;
    for (int k = i; k < t.r.bodies; k++) {
        rigid_body *b = &t.r.body[k];
        double arm[3];
        int on = k;
        while (on > i) on = t.r.body[on].parent;
        if (on != i) continue;
        r_turn(arm, b->R, b->com);
        for (int j = 0; j < 3; j++) arm[j] += b->o[j] - t.r.body[i].o[j];
        sum += 2 * b->mass * r_dot(arm, arm);
        for (int j = 0; j < 3; j++) sum += b->inertia[j][j];
    }
    return sum;
}

/* Whether M leaves a DoF no digits: what is free of it beside the other DoF, 1/(M^-1)_kk, is within
   16 roundings of what M_kk is found from. That is the inertia about the axes of space, whose
   elements have the digits of the largest one, about whatever axis the joint turns. */
static int loses_rank(const specimen *s, const mdyn_sim *sim)
{
    int lost = !evaluate_scheme(s, sim, sim);
    for (int i = 0; i < t.r.bodies; i++)
        for (int k = 0; k < t.r.body[i].dofs && !lost; k++) {
            const int axes = t.r.body[i].dofs == 1 ? 1 : 3, dof = t.r.body[i].dof + k;
            double unit[RN] = { 0 }, size = 0;
            for (int j = dof - k % axes; j < dof - k % axes + axes; j++) size += t.r.M[j][j];
            if (axes == 1 && t.r.body[i].joint != MDYN_PRISMATIC)
                size = fmax(size, carried_inertia(i));
            unit[dof] = 1;
            lost = 16 * check_epsilon * size * rigid_inverse_mass(&t.r, unit) > 1;
        }
    return lost;
}

/* Errors that this state and these rows may bring. */
static void check_refusal(const specimen *s, const mdyn_sim *before, const mdyn_sim *after,
                          int code)
{
    const mdyn_model *m = &s->model;
    double largest = 0;
    for (int i = 0; i < t.dofs; i++) largest = fmax(largest, fabs(of_real(before->tau[i])));
    for (int i = 0; i < t.dofs; i++)
        largest = fmax(largest, 1e3 * fabs(of_real(before->v[i])) - 2e4);
    tally.refused++;
    REQUIRE(same_motion(before, after));
    REQUIRE(code == MDYN_ERR_OVERFLOW || code == MDYN_ERR_CAPACITY_ENTRIES ||
            code == MDYN_ERR_CAPACITY_DANTZIG ||
            (code == MDYN_ERR_SINGULAR && loses_rank(s, before)));
    if (code == MDYN_ERR_CAPACITY_ENTRIES) REQUIRE(m->closure_count || m->user_row_count ||
                                                   s->contacts_given);
    if (code == MDYN_ERR_OVERFLOW)
        REQUIRE(largest > 1e4 || m->solver.method == MDYN_TGS || m->coupling_count > 1 ||
                m->closure_count || m->user_row_count || s->contacts_given);
}

/* Whether a coordinate is so far out that the digits of q beyond an mdyn_real, which only the
   library has, are a part of the pose; or arms are so long that all digits cancel. */
static int is_far_out(void)
{
    for (int i = 0; i < t.r.coordinates; i++)
        if (fabs(t.r.q[i]) > 160) return 1;
    return 0;
}

/* After a step that was refused the sim is as before it: couplings engage where the joints are,
   and two steps under other commands are the same bits. */
static void check_after_refusal(const specimen *s, mdyn_sim *refused, mdyn_sim *before)
{
    for (int i = 0; i < t.r.bodies && is_midpoint(s); i++) /* may be refused after it has turned */
        if (t.r.body[i].dofs >= 3)
            REQUIRE(mdyn_reset(refused) == MDYN_OK && mdyn_reset(before) == MDYN_OK);
    if (s->model.coupling_count > 0) {
        const int code = mdyn_engage(refused, 0, MDYN_ENGAGE_HERE);
        REQUIRE(code == mdyn_engage(before, 0, MDYN_ENGAGE_HERE));
    }
    for (int i = 0; i < t.dofs; i++) refused->tau[i] = before->tau[i] = real(0.25);
    for (int i = 0; i < 2; i++) {
        const int code = mdyn_step(refused);
        REQUIRE(code == mdyn_step(before) && same_motion(refused, before));
    }
}

/* One step of a and of its copy at another address. Returns the code. */
static int step(specimen *s)
{
    const double dt = of_wide(s->model.dt);
    memcpy(&t.before, &t.a, sizeof t.a);
    memcpy(&t.b.sim, &t.a, sizeof t.a);
    const int code = mdyn_step(&t.a), again = mdyn_step(&t.b.sim);
    tally.steps++;
    REQUIRE(code == again && same_motion(&t.a, &t.b.sim) && same_reports(&t.a, &t.b.sim));
    if (code < 0) {
        check_refusal(s, &t.before, &t.a, code);
        t.b.sim = t.a;
        t.other = t.before;
        check_after_refusal(s, &t.b.sim, &t.other);
        return code;
    }
    REQUIRE(code == MDYN_OK || code == MDYN_WARN_NOT_CONVERGED || code == MDYN_WARN_LONG_STEP
        || (MDYN_SCALAR == MDYN_SCALAR_FIXED && code == MDYN_WARN_DIGITS)
        || (s->model.solver.method == MDYN_DANTZIG && code == MDYN_WARN_NO_SOLUTION));
    for (int i = 0; i < t.dofs; i++) REQUIRE(fabs(of_real(t.a.v[i])) <= 8388608);
    if (code == MDYN_WARN_LONG_STEP) return MDYN_ERR_OVERFLOW; /* its bias force is not known */
    if (!evaluate_scheme(s, &t.before, &t.a)) return MDYN_ERR_OVERFLOW; /* nothing can be said */
    if (is_far_out()) return MDYN_ERR_OVERFLOW;
    write_rows(s, &t.before, dt);
    if (t.undirected) return MDYN_ERR_OVERFLOW;
    read_rows(s, &t.b.sim); /* which no query has been given: forces may wait */
    const int converged = is_converged(s, &t.a, code);
    check_momentum(s, &t.before, converged);
    check_trees(s, &t.before, &t.a, converged);
    check_bounds(s, converged);
    check_rows(s, converged);
    check_substeps(s, &t.a);
    check_positions(s, &t.a);
    check_coasting(s);
    check_reports(s, &t.a);
    close_scheme(s, &t.a);
    s->contacts_given = 0;
    double fastest = 0;
    for (int i = 0; i < t.dofs; i++) fastest = fmax(fastest, fabs(t.v_after[i]));
    return fastest > 1000 && s->theme != LOADED ? MDYN_ERR_OVERFLOW /* exploded: the last step */
                                                : code;
}

/* ---- themes ---- */

static void give_contacts(input *in, specimen *s)
{
    for (int i = 0; i < s->contact_count; i++) {
        mdyn_contact *c = &s->contact[i];
        memset(c, 0, sizeof *c);
        c->a = take_index(in, s, 0);
        c->b = take_index(in, s, MDYN_WORLD);
        c->b = c->a == c->b ? MDYN_WORLD : c->b;
        c->key = (uint16_t)i;
        c->point = take_real3(in, 0.5);
        c->normal = take_real3(in, 1);
        c->normal.z = real(1.5);
        if (fabs(of_real(c->normal.x)) == fabs(of_real(c->normal.y))) /* rounding would decide */
            c->normal.y = real(0.999 * of_real(c->normal.y));
        c->depth = real(s->theme == FRESH_KEYS ? 0 : take_double(in, -0.002, 0.004));
        c->mu = take_wide(in, 0.01, 1);
        if (s->theme != FRESH_KEYS && one_in(in, 3)) take_softness(in, &c->softness);
    }
    s->contacts_given = 0;
    const int code = mdyn_set_contacts(&t.a, s->contact, s->contact_count);
    REQUIRE(code == MDYN_OK || code == MDYN_ERR_CAPACITY_ROWS);
    if (code == MDYN_OK) s->contacts_given = s->contact_count;
}

static void query(input *in, mdyn_sim *sim)
{
    static mdyn_wide n[RN * RN + 6 * RN];
    static mdyn_real3 p;
    static mdyn_real4 turn;
    char text[200];
    const int body = take_int(in, 0, t.s.model.body_count - 1), kind = take_int(in, 0, 7);
    switch (take_u8(in) % 14) {
    case 0: REQUIRE(mdyn_mass_matrix(sim, n) == MDYN_OK); break;
    case 1: REQUIRE(mdyn_bias_force(sim, n) == MDYN_OK); break;
    case 2: (void)mdyn_forward_dynamics(sim, n); break;
    case 3:
    case 4: (void)mdyn_constrained_dynamics(sim, n); break;
    case 5: REQUIRE(mdyn_jacobian(sim, body, NULL, n) == MDYN_OK); break;
    case 6: REQUIRE(mdyn_pose(sim, body, &p, &turn) == MDYN_OK); break;
    case 7: REQUIRE(mdyn_energy(sim, &n[0], &n[1]) == MDYN_OK); break;
    case 8: (void)mdyn_range(sim, body, &n[0], &n[1]); break;
    case 9: (void)mdyn_explain(sim, (mdyn_row_kind)kind, body, text, (int)sizeof text); break;
    case 10: (void)mdyn_coupling_force(sim, kind & 1, kind >> 1 & 1, n); break;
    case 11: /* of accelerations that no earlier input has left */
        for (int i = 0; i < t.dofs; i++) n[i] = wide(i - 1);
        REQUIRE(mdyn_inverse_dynamics(sim, n, n + RN) == MDYN_OK);
        break;
    case 12: (void)mdyn_inverse_mass_column(sim, take_int(in, 0, t.dofs - 1), n); break;
    default: (void)mdyn_impulse_response(sim, take_int(in, 0, t.dofs - 1), 0, n); break;
    }
}

/* Calls that must fail, with inputs that are restored after them. */
static void err(input *in, mdyn_sim *sim)
{
    const int dof = take_int(in, 0, t.dofs - 1);
    const mdyn_real tau = sim->tau[dof], force = sim->wrench[0].force.y;
    const mdyn_real speed = sim->target_velocity[dof];
    int drives = 0;
    for (int i = 0; i < t.rows; i++) drives |= t.row[i].kind == MDYN_ROW_DRIVE;
    mdyn_coupling c = t.s.coupling[0];
    mdyn_contact bad = t.s.contact[0];
    bad.a = BODIES + 3;
    switch (take_u8(in) % 5) {
    case 1: /* without a drive nobody looks at it: the step is as with the good number */
        t.b.sim = t.a;
        bad_real(&sim->target_velocity[dof], 0);
        if (drives) REQUIRE(mdyn_step(sim) < 0);
        else REQUIRE(mdyn_step(sim) == mdyn_step(&t.b.sim) && same_motion(sim, &t.b.sim));
        if (!drives) *sim = t.a;
        break;
    case 0:
        bad_real(&sim->tau[dof], 0);
        REQUIRE(mdyn_step(sim) < 0);
        break;
    case 2:
        bad_real(&sim->wrench[0].force.y, 0);
        REQUIRE(mdyn_step(sim) < 0);
        break;
    case 3:
        bad_wide(&c.effort, 2);
        REQUIRE(mdyn_set_coupling(sim, 0, &c) < 0);
        break;
    default:
        REQUIRE(mdyn_set_contacts(sim, &bad, 1) < 0);
        break;
    }
    sim->tau[dof] = tau;
    sim->target_velocity[dof] = speed;
    sim->wrench[0].force.y = force;
}

/* A load beyond all range is refused at the end of a step, in which a coupling that is released
   lets its joints go apart. */
static void check_refused_load(void)
{
    t.b.sim = t.a;
    if (t.s.model.coupling_count > 0) (void)mdyn_engage(&t.b.sim, 0, MDYN_RELEASE);
    for (int i = 0; i < t.dofs; i++) t.b.sim.tau[i] = real(i % 2 ? -8e6 : 8e6);
    t.other = t.b.sim;
    if (mdyn_step(&t.other) < 0) check_after_refusal(&t.s, &t.other, &t.b.sim);
}

/* A query or an error does not change the next two steps, bit for bit. */
static void check_disturbed(input *in)
{
    check_refused_load();
    const int errs = one_in(in, 2);
    t.other = t.a;
    if (errs) err(in, &t.other);
    else query(in, &t.other);
    REQUIRE(same_motion(&t.other, &t.a));
    for (int i = 0; i < 2; i++) {
        t.b.sim = t.a;
        const int code = mdyn_step(&t.b.sim), other = mdyn_step(&t.other);
        REQUIRE(code == other && same_motion(&t.b.sim, &t.other));
        t.before = t.b.sim;
        if (i == 0 && code >= 0) {
            const mdyn_sim first = t.b.sim;
            const int next = mdyn_step(&t.b.sim);
            REQUIRE(next == mdyn_step(&t.other) && same_motion(&t.b.sim, &t.other));
            t.b.sim = first;
        }
        break;
    }
}

/* After mdyn_reset, the motion is that of a sim just set up. */
static void check_reset(void)
{
    for (int i = 0; i < t.s.model.coupling_count; i++)
        if (t.s.released[i]) return;
    t.b.sim = t.a;
    memset(&t.other, 0x5A, sizeof t.other);
    REQUIRE(mdyn_init(&t.other, &t.s.model) >= 0 && mdyn_reset(&t.b.sim) == MDYN_OK);
    copy_inputs(&t.other, &t.b.sim);
    for (int i = 0; i < 2; i++) {
        const int code = mdyn_step(&t.b.sim);
        REQUIRE(code == mdyn_step(&t.other));
        REQUIRE(same_motion(&t.b.sim, &t.other) && same_reports(&t.b.sim, &t.other));
    }
}

static void require_same_velocities(const mdyn_sim *a, const mdyn_sim *b)
{
    double off[RN];
    for (int i = 0; i < t.dofs; i++) off[i] = of_real(a->v[i]) - of_real(b->v[i]);
    REQUIRE_SMALL(energy_size(off), SAME * (t.size + 1e-2));
}

/* Contacts with keys that were not there a step before start from no impulse, as after a reset:
   with one iteration, the start shows. */
static void check_fresh_keys(void)
{
    const specimen *s = &t.s;
    mdyn_contact fresh[CONTACTS];
    for (int i = 0; i < s->model.body_count; i++)
        if (of_wide(s->body[i].friction) > 0 || of_wide(s->body[i].lower) != 0) return;
    if (s->contacts_given == 0) return;
    memcpy(fresh, s->contact, sizeof fresh);
    for (int i = 0; i < CONTACTS; i++) fresh[i].key = (uint16_t)(fresh[i].key + 77);
    t.b.sim = t.a;
    t.other = t.a;
    REQUIRE(mdyn_reset(&t.other) == MDYN_OK);
    REQUIRE(mdyn_set_contacts(&t.b.sim, fresh, s->contacts_given) == MDYN_OK);
    REQUIRE(mdyn_set_contacts(&t.other, fresh, s->contacts_given) == MDYN_OK);
    if (mdyn_step(&t.b.sim) == MDYN_OK && mdyn_step(&t.other) == MDYN_OK)
        require_same_velocities(&t.b.sim, &t.other);
}

/* MDYN_TWO_STAGE: a sliding tangent is at mu times the normal impulse of the step without
   friction, one that sticks below. Returns the code of the step, if it is taken. */
static int check_two_stages(void)
{
    specimen *s = &t.s;
    mdyn_contact smooth[CONTACTS];
    double n[CONTACTS];
    mdyn_row_report report;
    if (s->contacts_given == 0 || is_relaxed(s)) return MDYN_OK;
    memcpy(smooth, s->contact, sizeof smooth);
    for (int i = 0; i < CONTACTS; i++) smooth[i].mu = wide(0);
    for (int i = 0; i < s->model.user_row_count; i++)
        if (of_wide(s->user_row[i].mu) > 0) return MDYN_OK;
    t.other = t.a;
    REQUIRE(mdyn_set_contacts(&t.other, smooth, s->contacts_given) == MDYN_OK);
    if (mdyn_step(&t.other) != MDYN_OK) return MDYN_OK;
    for (int i = 0; i < s->contacts_given; i++) {
        REQUIRE(mdyn_report_row(&t.other, MDYN_ROW_CONTACT, 3 * i, &report) == MDYN_OK);
        n[i] = of_wide(report.impulse);
    }
    const int given = s->contacts_given;
    /* of this step, not of the next */
    const int known = t.last.state != UNKNOWN && evaluate_scheme(s, &t.a, &t.other) &&
                      !turns_far(s);
    const int code = step(s);
    if (!known || !is_converged(s, &t.a, code) || !is_converged(s, &t.other, MDYN_OK) ||
        t.a.report.contradictory > 0) return code;
    for (int i = 0; i < given; i++)
        for (int k = 1; k < 3; k++) {
            const row *r = find_row(MDYN_ROW_CONTACT, 3 * i + k);
            const double most = of_wide(s->contact[i].mu) * n[i], a = r->inverse_mass;
            const double size = SAME * (sqrt(a) * t.size + a * most) + 1e-9;
            if (a < 1e-9 || (r->report.flags & MDYN_ROW_REDUNDANT)) continue;
            REQUIRE_SMALL((fabs(r->lambda) - most) * a, size);
            REQUIRE_SMALL(fmin(fabs(r->speed), (most - fabs(r->lambda)) * a), size);
        }
    return code;
}

/* The same couplings in another order, each with its equation multiplied by a number. */
static void rescale(input *in)
{
    const mdyn_model *m = &t.s.model;
    const int n = m->coupling_count, turn = take_int(in, 0, COUPLINGS);
    t.second = t.s;
    for (int i = 0; i < n; i++) {
        mdyn_coupling *c = &t.second.coupling[(i + turn) % n];
        const double f = (one_in(in, 2) ? -1 : 1) * pow(10, take_double(in, -3, 3));
        double lower, upper;
        *c = t.s.coupling[i];
        lower = of_wide(c->lower), upper = of_wide(c->upper);
        for (int k = 0; k < TERMS; k++)
            c->terms[k].coefficient = wide(f * of_wide(c->terms[k].coefficient));
        c->offset = wide(f * of_wide(c->offset));
        c->target_velocity = wide(f * of_wide(c->target_velocity));
        c->effort = wide(of_wide(c->effort) / fabs(f));
        lower = is_unlimited(lower) ? lower * (f < 0 ? -1 : 1) : f * lower;
        upper = is_unlimited(upper) ? upper * (f < 0 ? -1 : 1) : f * upper;
        c->lower = wide(f < 0 ? upper : lower);
        c->upper = wide(f < 0 ? lower : upper);
        if (c->softness.kind == MDYN_ERP_CFM || c->softness.kind == MDYN_ODE_CFM)
            c->softness.b = wide(f * f * of_wide(c->softness.b));
        if (c->softness.kind == MDYN_KP_KD) {
            c->softness.a = wide(of_wide(c->softness.a) / (f * f));
            c->softness.b = wide(of_wide(c->softness.b) / (f * f));
        }
    }
    t.second.model.bodies = t.second.body;
    t.second.model.couplings = t.second.coupling;
    t.second.model.closures = &t.second.closure;
    t.second.model.user_rows = t.second.user_row;
}

/* Whether rounding decides which rows take part: MDYN_ENGAGED, and one is just at its bound. */
static int engages_by_rounding(void)
{
    const double dt = of_wide(t.s.model.dt);
    if (t.s.model.solver.limits != MDYN_ENGAGED) return 0;
    for (int i = 0; i < t.rows; i++) {
        const row *r = &t.row[i];
        if (r->lo < r->hi && dt * fmin(fabs(r->lo), fabs(r->hi)) < POSITION * (1 + fabs(r->C)))
            return 1;
    }
    return 0;
}

/* Whether it decides the motion which of the couplings is eliminated: one of several is not met.
   The follower that was put off its coupling goes back alone. */
static int goes_back_otherwise(void)
{
    if (mdyn_independent_dofs(&t.a) == t.dofs || t.s.model.coupling_count == 1) return 0;
    for (int i = 0; i < t.rows; i++) {
        const row *r = &t.row[i];
        if (r->kind == MDYN_ROW_COUPLING && r->lo == r->hi && fabs(r->C) > 10 * POSITION) return 1;
    }
    return 0;
}

/* Whether friction follows an impulse that is not determined, since other rows hold the same joint:
   how they share it decides how much slips. Rows on bodies have the same numbers in both sims. */
static int follows_otherwise(void)
{
    mdyn_row_report report;
    for (int i = 0; i < t.rows; i++) {
        const row *leader = t.row[i].leader < 0 ? NULL : &t.row[t.row[i].leader];
        if (leader == NULL || leader->kind == MDYN_ROW_COUPLING) continue;
        if (mdyn_report_row(&t.other, leader->kind, leader->index, &report) != MDYN_OK) return 1;
        if (fabs(of_wide(report.impulse) - leader->lambda) > SAME * (t.size + fabs(leader->lambda)))
            return 1;
    }
    return 0;
}

static void check_rescaled(input *in)
{
    if (t.s.model.coupling_count == 0) return;
    rescale(in);
    memset(&t.other, 0x5A, sizeof t.other);
    if (mdyn_init(&t.other, &t.second.model) < 0) return; /* other fill-in: more entries */
    copy_inputs(&t.other, &t.a);
    if (t.s.contacts_given)
        REQUIRE(mdyn_set_contacts(&t.other, t.s.contact, t.s.contacts_given) == MDYN_OK);
    REQUIRE(mdyn_reset(&t.a) == MDYN_OK);
    t.sticky = 0;
    if (t.s.contacts_given)
        REQUIRE(mdyn_set_contacts(&t.a, t.s.contact, t.s.contacts_given) == MDYN_OK);
    const int code = step(&t.s);
    if (code == MDYN_OK && mdyn_step(&t.other) == MDYN_OK && t.a.report.redundant == 0 &&
        t.other.report.redundant == 0 && t.a.report.contradictory == 0 && !engages_by_rounding() &&
        !goes_back_otherwise() && !follows_otherwise())
        require_same_velocities(&t.a, &t.other);
}

/* ---- models that must be refused ---- */

typedef enum sort { NEGATIVE, NO_NUMBER, ABOVE_ONE, SORTS } sort;
static void spoil(input *in, mdyn_wide *number, int sorts)
{
    int which = take_int(in, 0, SORTS - 1);
    while (!(sorts >> which & 1)) which = (which + 1) % SORTS;
    if (which == NEGATIVE) *number = wide(-take_double(in, 0.001, 2));
    else if (which == ABOVE_ONE) *number = wide(take_double(in, 1.01, 1.9));
    else bad_wide(number, take_int(in, 0, 5));
}

static void spoil_coupling(input *in, specimen *s)
{
    const int negative = 1 << NEGATIVE, none = 1 << NO_NUMBER, above = 1 << ABOVE_ONE;
    mdyn_coupling *c = &s->coupling[take_int(in, 0, s->model.coupling_count - 1)];
    switch (take_u8(in) % 9) {
    case 0: spoil(in, &c->effort, negative | none); break;
    case 1: spoil(in, &c->efficiency, negative | none | above); break;
    case 2: spoil(in, &c->mu, negative | none); break;
    case 3: spoil(in, &c->target_velocity, none); break;
    case 4: spoil(in, &c->offset, none); break;
    case 5: spoil(in, &c->terms[1].coefficient, none); break;
    case 6: c->terms[0].body = (int16_t)(s->model.body_count + take_int(in, 0, 5)); break;
    case 7:
        c->softness.kind = MDYN_ERP_CFM;
        spoil(in, &c->softness.a, negative | none | above);
        break;
    default: c->terms[1] = c->terms[0]; break;
    }
}

static void spoil_body(input *in, specimen *s)
{
    const int bad = 1 << NEGATIVE | 1 << NO_NUMBER;
    mdyn_body *b = &s->body[take_int(in, 0, s->model.body_count - 1)];
    switch (take_u8(in) % 11) {
    case 0: spoil(in, &b->armature, bad); break;
    case 1: spoil(in, &b->damping, bad); break;
    case 2: spoil(in, &b->friction, bad); break;
    case 3: spoil(in, &b->effort, bad); break;
    case 4: spoil(in, &b->drive_kp, bad); break;
    case 5: spoil(in, &b->drive_kd, bad); break;
    case 6: spoil(in, &b->mass, bad); break;
    case 7: spoil(in, &b->inertia.yy, bad); break;
    case 8: b->lower = wide(0.5), b->upper = wide(-0.5); break;
    case 9: b->parent = (int16_t)(s->model.body_count + 1); break;
    default: b->joint = (mdyn_joint)6; break;
    }
}

static void spoil_model(input *in, specimen *s)
{
    mdyn_model *m = &s->model;
    switch (take_u8(in) % 8) {
    case 0: spoil(in, &m->dt, 1 << NEGATIVE | 1 << NO_NUMBER | 1 << ABOVE_ONE); break;
    case 1: spoil(in, &m->gravity.y, 1 << NO_NUMBER); break;
    case 2: m->solver.relaxation = wide(2.5); break;
    case 3: spoil(in, &m->solver.tolerance, 1 << NEGATIVE | 1 << NO_NUMBER); break;
    case 4: spoil(in, &m->solver.deadband, 1 << NEGATIVE | 1 << NO_NUMBER); break;
    case 5: m->solver.method = (mdyn_method)7; break;
    case 6: m->body_count = take_int(in, 0, 1) ? 0 : MIMICDYN_MAX_BODIES + 1; break;
    default: m->bodies = NULL; break;
    }
}

static void check_bad_model(input *in)
{
    t.second = t.s;
    t.second.model.bodies = t.second.body;
    t.second.model.couplings = t.second.coupling;
    t.second.model.closures = &t.second.closure;
    t.second.model.user_rows = t.second.user_row;
    const int which = take_int(in, 0, 2);
    if (which == 0) spoil_model(in, &t.second);
    else if (which == 1 || t.second.model.coupling_count == 0) spoil_body(in, &t.second);
    else spoil_coupling(in, &t.second);
    REQUIRE(mdyn_init(&t.other, &t.second.model) < 0);
    REQUIRE(mdyn_step(&t.other) == MDYN_ERR_NOT_READY);
}

/* ---- an input ---- */

static void take_quaternion(input *in, mdyn_real *q)
{
    double x[4], length = 0;
    for (int k = 0; k < 4; k++) {
        x[k] = take_double(in, -1, 1) + (k == 0 ? 0.01 : 0);
        length += x[k] * x[k];
    }
    for (int k = 0; k < 4; k++) q[k] = real(x[k] / sqrt(length));
}

/* Coordinates, often near or beyond a limit; velocities; commands. */
static void take_state(input *in, specimen *s, mdyn_sim *sim)
{
    int c = 0, coasts = s->theme == COASTING;
    for (int i = 0; i < s->model.body_count; i++) {
        const mdyn_body *b = &s->body[i];
        const int n = r_dofs_of(b->joint), where = take_int(in, 0, 3);
        const double lower = of_wide(b->lower), upper = of_wide(b->upper);
        double q = take_double(in, -1, 1);
        if (lower != 0 || upper != 0) {
            q *= 0.1;
            if (where == 1) q = lower + take_double(in, -0.03, 0.01);
            if (where == 2 && !is_unlimited(upper)) q = upper + take_double(in, -0.01, 0.03);
        }
        if (n == 1) sim->q[c] = real(coasts ? 0 : q);
        for (int k = 0; k < 3 && n == 6; k++) sim->q[c + k] = real(take_double(in, -1, 1));
        if (n >= 3) take_quaternion(in, &sim->q[c + (n == 6 ? 3 : 0)]);
        c += n + (n >= 3);
        if (!coasts && one_in(in, 2)) {
            sim->wrench[i].moment = take_real3(in, 1);
            sim->wrench[i].force = take_real3(in, 5);
        }
    }
    const double load = s->theme == LOADED ? pow(10, take_double(in, 3, 6.9)) : 2;
    for (int i = 0; i < t.dofs; i++) {
        sim->v[i] = real(take_double(in, -3, 3));
        sim->target[i] = real(take_double(in, -1, 1));
        sim->target_velocity[i] = real(take_double(in, -1, 1));
        if (!coasts) sim->tau[i] = real(take_double(in, -load, load));
    }
}

/* mdyn_engage, mdyn_set_coupling: what the harness knows of the couplings follows them. */
static void change_coupling(input *in, specimen *s)
{
    const int n = s->model.coupling_count, i = take_int(in, 0, n > 0 ? n - 1 : 0);
    if (n == 0 || s->theme == COASTING || s->theme == RESET) return;
    mdyn_coupling *c = &s->coupling[i];
    const double lower = of_wide(c->lower), upper = of_wide(c->upper);
    const int on = one_in(in, 2);
    double C = of_wide(c->offset);
    const int code = mdyn_engage(&t.a, i, on);
    REQUIRE(mdyn_verify(&t.a) != MDYN_ERR_MEMORY); /* offsets in the tables were edited before */
    if (code < 0) return;
    t.last.fresh = ENGAGED;
    s->released[i] = !on;
    if (!on || c->level == MDYN_VELOCITY) return;
    for (int k = 0; k < TERMS; k++)
        if (of_wide(c->terms[k].coefficient) != 0)
            C += of_wide(c->terms[k].coefficient) *
                 of_real(t.a.q[mdyn_first_coordinate(&t.a, c->terms[k].body)]);
    if (C < lower) c->offset = wide(of_wide(c->offset) + lower - C);
    if (C > upper) c->offset = wide(of_wide(c->offset) + upper - C);
}

static void change_state(input *in)
{
    const int i = take_int(in, 0, t.dofs - 1);
    if (t.s.theme == COASTING) return;
    if (one_in(in, 2)) query(in, &t.a);
    if (one_in(in, 2)) t.a.v[i] = real(take_double(in, -3, 3));
    else t.a.tau[i] = real(take_double(in, -3, 3));
}

static void run_steps(input *in, specimen *s)
{
    for (int i = 0; i < FUZZ_STEPS; i++) {
        const unsigned what = take_u8(in);
        if (s->contact_count > 0 && (s->theme == FRESH_KEYS || s->theme == TWO_STAGES || i % 2))
            give_contacts(in, s);
        if ((what & 7) == 1) change_state(in);
        if ((what & 56) == 8 || (s->engages_often && (what & 8))) change_coupling(in, s);
        if (s->theme == DISTURBED && i == FUZZ_STEPS - 2) check_disturbed(in);
        if ((s->theme == TWO_STAGES && i == 2 ? check_two_stages() : step(s)) < 0) return;
        if (s->theme == RESET && i == FUZZ_STEPS - 3) check_reset();
        if (s->theme == FRESH_KEYS && i == 1) {
            give_contacts(in, s);
            if (step(s) < 0) return;
            s->contacts_given = s->contact_count;
            check_fresh_keys();
            s->contacts_given = 0;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = input_of(data, size);
    specimen *s = &t.s;
    if (tally.inputs++ == 0) {
        atexit(print_tally);
        tally.began = seconds();
    }
    take_specimen(&in, s);
    memset(&t.a, 0xA5, sizeof t.a);
    t.dofs = dofs_of(s);
    t.sticky = 0;
    const int code = mdyn_init(&t.a, &s->model);
    REQUIRE(code >= 0 || code == MDYN_ERR_CAPACITY_ROWS || code == MDYN_ERR_CAPACITY_ENTRIES ||
            code == MDYN_ERR_CAPACITY_DOFS || code == MDYN_ERR_CAPACITY_DANTZIG);
    REQUIRE((code == MDYN_ERR_CAPACITY_DOFS) == (t.dofs > DOFS));
    if (code < 0) return 0;
    tally.accepted++;
    if (s->theme == BAD_MODEL) check_bad_model(&in);
    if (t.dofs == 0) return 0;
    open_scheme(s);
    take_state(&in, s, &t.a);
    if (s->theme == RESCALED) {
        if (s->contact_count > 0) give_contacts(&in, s);
        check_rescaled(&in);
    }
    run_steps(&in, s);
    return 0;
}
#endif
