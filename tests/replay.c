/* replay.c - plays mechanisms that are written down as text through the library.

   build   cc -std=c99 -O2 -DMIMICDYN_SCALAR=F64 -DEXPECT_SCALAR_F64=1 -I. tests/replay.c -lm -o
           build/replay-f64
   run     build/replay-f64 CASES RESULTS

   CASES holds one mechanism after the other: bodies, state, commands, coupling rows. RESULTS gets
   what the library makes of each: mass matrix, accelerations, one step, a whole motion. Both
   formats are described in tests/cases/README. With it a mechanism can be compared with another
   program, a float build with a double build, today's library with last year's.

   CASES of the kind `log` are logs that a program has written (examples/log.h): they are played
   again, command by command. RESULTS is such a log too, with the states of this run; a state that
   differs from that of CASES is named on the standard output.

   A case that the library has nothing for is left out and named on the standard output with the
   reason; the last line there counts them. A mechanism that mdyn_init refuses gets the line
   `rejected` and is named likewise.

   Exit: 0 the file was read to its end, 1 it was not, or RESULTS could not be written, or a state
   of a log differs, or a log was not played to its end, 2 usage. */

#define MIMICDYN_MAX_BODIES 128
#define MIMICDYN_MAX_DOFS 192
#define MIMICDYN_MAX_COUPLINGS 64
#define MIMICDYN_MAX_CURVES 16
#define MIMICDYN_MAX_ROWS 416
#define MIMICDYN_MAX_BODY_ROWS 64
#define MIMICDYN_MAX_CONTACTS 32
#define MIMICDYN_MAX_DANTZIG MIMICDYN_MAX_ROWS
#define MIMICDYN_MAX_TERMS 8
#define MIMICDYN_MAX_ENTRIES 32767
#define MIMICDYN_IMPLEMENTATION
#include "mimicdyn.h"
#include "check.h" /* real, wide: the scalars */
#include "explicit.h"
#include "../examples/slotted_hinge.h"

enum {
    DOFS = MIMICDYN_MAX_DOFS,
    BODIES = MIMICDYN_MAX_BODIES,
    COUPLINGS = MIMICDYN_MAX_COUPLINGS,
    BODY_ROWS = MIMICDYN_MAX_BODY_ROWS,
    MOST_ROWS = COUPLINGS + BODY_ROWS, /* lines of them */
    MOST_LINES = 65536,
    MOST_KNOTS = 4096,
    MOST_WAVES = 64
};

/* ------------------------------------------------------------------------------- numbers */

static mdyn_wide3 wide3_of(const double x[3])
{
    mdyn_wide3 r;
    r.x = wide(x[0]);
    r.y = wide(x[1]);
    r.z = wide(x[2]);
    return r;
}

static mdyn_real3 real3_of(const double x[3])
{
    mdyn_real3 r;
    r.x = real(x[0]);
    r.y = real(x[1]);
    r.z = real(x[2]);
    return r;
}

static void from_real3(double x[3], mdyn_real3 r)
{
    x[0] = of_real(r.x);
    x[1] = of_real(r.y);
    x[2] = of_real(r.z);
}

/* Taylor about the nearest multiple of pi, and no libm: 5e-16 for |x| < 1e4. */
static double sine(double x)
{
    /* pi in two parts; products of the first with |k| < 2^20 are exact */
    const double pi = 3.14159265346825122833, pi_tail = 1.21542010130123849864e-10;
    double turns = x / pi, term, sum;
    long k;
    int n;
    if (!(turns > -1e9 && turns < 1e9))
        return 0; /* no digit of the angle is left, or it is no number */
    k = (long)(turns + (turns < 0 ? -0.5 : 0.5));
    x = (x - (double)k * pi) - (double)k * pi_tail;
    term = sum = x;
    for (n = 2; n < 24; n += 2) {
        term *= -x * x / (double)(n * (n + 1));
        sum += term;
    }
    return k % 2 != 0 ? -sum : sum;
}

/* world axes to the axes of a body whose unit quaternion is (w,x,y,z) */
static void to_body_axes(double r[3], const double q[4], const double a[3])
{
    double tx = 2 * (a[1] * q[3] - a[2] * q[2]);
    double ty = 2 * (a[2] * q[1] - a[0] * q[3]);
    double tz = 2 * (a[0] * q[2] - a[1] * q[1]);
    r[0] = a[0] + q[0] * tx + ty * q[3] - tz * q[2];
    r[1] = a[1] + q[0] * ty + tz * q[1] - tx * q[3];
    r[2] = a[2] + q[0] * tz + tx * q[2] - ty * q[1];
}

/* ---------------------------------------------------------------------------------- text */

struct text_case {
    char id[64], group[64];
    const char *line[MOST_LINES];
    int lines;
};

static int text_is_bad; /* a number was wanted where there was none */

/* What stands behind the k-th `key` of the case, or NULL. */
static const char *find(const struct text_case *c, const char *key, int k)
{
    size_t length = strlen(key);
    int i;
    for (i = 0; i < c->lines; i++) {
        const char *s = c->line[i];
        if (strncmp(s, key, length) == 0 && (s[length] == ' ' || s[length] == 0) && k-- == 0)
            return s + length;
    }
    return NULL;
}

static double number(const char **at)
{
    char *end;
    double x = strtod(*at, &end);
    if (end == *at) {
        text_is_bad = 1;
        return 0;
    }
    *at = end;
    return x;
}

static void numbers(const char **at, double *x, int n)
{
    int i;
    for (i = 0; i < n; i++)
        x[i] = number(at);
}

static int integer(const char **at)
{
    double x = number(at);
    if (x > -1e9 && x < 1e9)
        return (int)x;
    text_is_bad = 1;
    return 0;
}

static void word(const char **at, char *to, size_t size)
{
    size_t n = 0;
    while (**at == ' ')
        ++*at;
    for (; **at != 0 && **at != ' '; ++*at)
        if (n + 1 < size)
            to[n++] = **at;
    to[n] = 0;
}

/* -------------------------------------------------------------------------------- results */

static FILE *out;
static const struct text_case *now; /* the case that is being played */
static int cases_seen, cases_skipped, calls_refused, states_differ, logs_stopped;

static void skip(const char *reason)
{
    printf("%s (%s): skipped: %s\n", now->id, now->group, reason);
    cases_skipped++;
}

static void refused(const char *call, int code, int index)
{
    printf("%s (%s): %s: code %d, index %d: %s\n", now->id, now->group, call, code, index,
           mdyn_text(code));
    calls_refused++;
}

static void put_values(const double *x, int n)
{
    int i;
    for (i = 0; i < n; i++)
        fprintf(out, " %.17g", x[i]);
}

static void put_line(const char *key, const double *x, int n)
{
    fprintf(out, "%s", key);
    put_values(x, n);
    fprintf(out, "\n");
}

static void put_wide(const char *key, const mdyn_wide *x, int n)
{
    int i;
    fprintf(out, "%s", key);
    for (i = 0; i < n; i++)
        fprintf(out, " %.17g", of_wide(x[i]));
    fprintf(out, "\n");
}

static void put_reals(const mdyn_real *x, int n)
{
    int i;
    for (i = 0; i < n; i++)
        fprintf(out, " %.17g", of_real(x[i]));
}

/* ------------------------------------------------------------------------------ mechanism */

struct row_note {
    mdyn_row_kind kind;
    int index;  /* of the coupling, closure or user row that the line became */
    int a, b;   /* the two speeds of a mimic row; -1: another row */
    int hard;   /* an equality without softness and without a bound on its impulse */
    int limit;
    double most; /* bound of its impulse, dt times the force; 0: none */
};

static mdyn_body bodies[BODIES];
static mdyn_coupling couplings[COUPLINGS];
static struct row_note notes[MOST_ROWS]; /* for each line of a row */
static int row_lines;
static mdyn_model model;
static mdyn_sim sim;
static int dofs, dof_body[DOFS], dof_axis[DOFS];
static double start_q[MDYN_MAX_COORDINATES], start_v[DOFS], start_tau[DOFS], time_step;

/* link K PARENT TYPE axis pitch armature position rotation mass com inertia */
static const char *read_link(const char *at, mdyn_body *b, int k)
{
    static const mdyn_joint joints[] = { MDYN_FIXED, MDYN_REVOLUTE, MDYN_PRISMATIC,
                                         MDYN_HELICAL, MDYN_SPHERICAL, MDYN_FREE };
    static const int speeds[] = { 0, 1, 1, 1, 3, 6 };
    double x[22];
    int index = integer(&at), parent = integer(&at), type = integer(&at), i;
    numbers(&at, x, 22);
    if (text_is_bad || index != k || parent < -1 || parent >= k || type < 0 || type > 5)
        return "a link line is wrong";
    memset(b, 0, sizeof *b);
    b->parent = (int16_t)parent;
    b->joint = joints[type];
    b->axis = wide3_of(x);
    b->pitch = wide(x[3]);
    b->armature = wide(type == 5 ? 0.0 : x[4]); /* by the format free joints have none */
    b->position = wide3_of(x + 5);
    b->rotation.w = wide(x[8]);
    b->rotation.x = wide(x[9]);
    b->rotation.y = wide(x[10]);
    b->rotation.z = wide(x[11]);
    b->mass = wide(x[12]);
    b->com = wide3_of(x + 13);
    b->inertia.xx = wide(x[16]);
    b->inertia.yy = wide(x[17]);
    b->inertia.zz = wide(x[18]);
    b->inertia.xy = wide(x[19]);
    b->inertia.xz = wide(x[20]);
    b->inertia.yz = wide(x[21]);
    b->inertia_as_given = 1; /* some cases have inertias that no body has */
    if (dofs + speeds[type] > DOFS)
        return "more speeds than MIMICDYN_MAX_DOFS";
    for (i = 0; i < speeds[type]; i++, dofs++) {
        dof_body[dofs] = k;
        dof_axis[dofs] = i;
    }
    return NULL;
}

static const char *read_vector(const char *key, double *x, int n)
{
    const char *at = find(now, key, 0);
    if (at == NULL)
        return "q, v, tau or gravity is missing";
    numbers(&at, x, n);
    return NULL;
}

/* Bodies and state of the case; NULL or what is wrong. */
static const char *read_mechanism(void)
{
    const char *at, *wrong = NULL;
    double gravity[3];
    int count = 0, nq, nv;
    text_is_bad = 0;
    dofs = 0;
    memset(&model, 0, sizeof model);
    while (wrong == NULL && (at = find(now, "link", count)) != NULL) {
        if (count == BODIES)
            return "more links than MIMICDYN_MAX_BODIES";
        wrong = read_link(at, &bodies[count], count);
        count++;
    }
    if (wrong != NULL)
        return wrong;
    at = find(now, "dims", 0);
    if (at == NULL)
        return "the line dims is missing";
    nq = integer(&at);
    nv = integer(&at);
    if (nv != dofs || nq < nv || nq > MDYN_MAX_COORDINATES)
        return "dims does not fit the links";
    if ((wrong = read_vector("gravity", gravity, 3)) != NULL ||
        (wrong = read_vector("q", start_q, nq)) != NULL ||
        (wrong = read_vector("v", start_v, nv)) != NULL ||
        (wrong = read_vector("tau", start_tau, nv)) != NULL)
        return wrong;
    at = find(now, "dt", 0);
    time_step = at != NULL ? number(&at) : 0.001;
    model.dt = wide(time_step);
    model.gravity = wide3_of(gravity);
    model.bodies = bodies;
    model.body_count = count;
    model.couplings = couplings;
    return text_is_bad ? "a number is missing" : NULL;
}

/* ----------------------------------------------------------------------------------- rows */

struct terms {
    int count, dof[MIMICDYN_MAX_TERMS];
    double coefficient[MIMICDYN_MAX_TERMS];
};

/* A user row of the library: of joints, C = sum of the terms + gamma; or of bodies, whose vectors p
   act on the velocity of the center of mass and q on the angular velocity. */
struct own_row {
    struct terms terms;
    double gamma;
    int bodies, body[MIMICDYN_MAX_TERMS];
    double p[MIMICDYN_MAX_TERMS][3], q[MIMICDYN_MAX_TERMS][3];
};
static struct own_row own_rows[BODY_ROWS];
static mdyn_user_row row_table[BODY_ROWS];
static mdyn_closure closures[BODY_ROWS];

/* What the row has of the state: C, and the arms of the centers of mass. */
static void fill_own_row(mdyn_sim *s, int index, mdyn_user_row *row, void *user)
{
    const struct own_row *o = &((const struct own_row *)user)[index];
    double C = o->gamma;
    int i, k;
    for (i = 0; i < o->terms.count; i++) {
        int dof = o->terms.dof[i];
        C += o->terms.coefficient[i] * of_real(s->q[mdyn_first_coordinate(s, dof_body[dof])]);
    }
    if (o->bodies == 0) row->value = wide(C);
    for (i = 0; i < o->bodies; i++) {
        mdyn_real3 position;
        mdyn_real4 turn;
        const mdyn_body *b = &bodies[o->body[i]];
        double u[4], c[3], r[3], angular[3];
        mdyn_pose(s, o->body[i], &position, &turn);
        u[0] = of_real(turn.w);
        u[1] = -of_real(turn.x); /* back: from body axes to those of the world */
        u[2] = -of_real(turn.y);
        u[3] = -of_real(turn.z);
        c[0] = of_wide(b->com.x);
        c[1] = of_wide(b->com.y);
        c[2] = of_wide(b->com.z);
        to_body_axes(r, u, c);
        for (k = 0; k < 3; k++)
            angular[k] = o->q[i][k] + r[(k + 1) % 3] * o->p[i][(k + 2) % 3]
                       - r[(k + 2) % 3] * o->p[i][(k + 1) % 3];
        row->terms[i].body = (int16_t)o->body[i];
        row->terms[i].angular = wide3_of(angular);
        row->terms[i].linear = wide3_of(o->p[i]);
    }
}

/* A speed that is named twice, as a joint tied to itself, gets the sum. */
static const char *add_term(struct terms *t, int dof, double coefficient)
{
    int i;
    if (dof < 0 || dof >= dofs)
        return "a row names a speed that is not there";
    for (i = 0; i < t->count; i++) {
        if (t->dof[i] == dof) {
            t->coefficient[i] += coefficient;
            return NULL;
        }
    }
    if (t->count == MIMICDYN_MAX_TERMS)
        return "a row has more terms than MIMICDYN_MAX_TERMS";
    t->dof[t->count] = dof;
    t->coefficient[t->count++] = coefficient;
    return NULL;
}

static const char *read_terms(const char **at, struct terms *t)
{
    const char *wrong = NULL;
    int n = integer(at), i;
    for (i = 0; i < n && wrong == NULL && !text_is_bad; i++) {
        int dof = integer(at);
        wrong = add_term(t, dof, number(at));
    }
    return wrong;
}

static void set_softness(mdyn_softness *s, mdyn_softness_kind kind, double a, double b)
{
    s->kind = kind;
    s->a = wide(a);
    s->b = wide(b);
}

/* erp E CFM, kpkd KP KD or freq MU ZETA */
static const char *read_softness(const char **at, mdyn_coupling *c, struct row_note *note)
{
    char mode[8];
    double a, b;
    word(at, mode, sizeof mode);
    a = number(at);
    b = number(at);
    note->hard = strcmp(mode, "erp") == 0 && !(b > 0);
    if (strcmp(mode, "erp") == 0)
        set_softness(&c->softness, MDYN_ERP_CFM, a, b);
    else if (strcmp(mode, "kpkd") == 0)
        set_softness(&c->softness, MDYN_KP_KD, a, b);
    else if (strcmp(mode, "freq") == 0)
        set_softness(&c->softness, MDYN_OMEGA_ZETA, a, b);
    else
        return "the softness of a row is unknown";
    return NULL;
}

/* A force bound of 0 in the text means no force, in the library no bound. */
static void set_effort(mdyn_coupling *c, struct row_note *note, double most)
{
    c->effort = wide(most > 1e30 ? 0.0 : most > 0 ? most : 1e-30);
    note->most = most > 1e30 ? 0.0 : most * time_step;
}

static const char *read_mimic(const char **at, mdyn_coupling *c, struct row_note *note,
                              struct terms *t)
{
    const char *wrong;
    note->a = integer(at);
    note->b = integer(at);
    if ((wrong = add_term(t, note->a, 1.0)) != NULL ||
        (wrong = add_term(t, note->b, number(at))) != NULL)
        return wrong;
    c->offset = wide(number(at));
    return read_softness(at, c, note);
}

static const char *read_gear(const char **at, mdyn_coupling *c, struct row_note *note,
                             struct terms *t)
{
    const char *wrong = read_terms(at, t);
    c->offset = wide(number(at));
    return wrong != NULL ? wrong : read_softness(at, c, note);
}

/* The velocity target, 0 for dry friction, with all the force there is. */
static const char *read_motor(const char **at, mdyn_coupling *c, struct row_note *note,
                              struct terms *t, int has_target)
{
    const char *wrong = add_term(t, integer(at), 1.0);
    c->level = MDYN_VELOCITY;
    c->target_velocity = wide(has_target ? number(at) : 0.0);
    set_effort(c, note, number(at));
    set_softness(&c->softness, MDYN_ERP_CFM, 0.0, 0.0);
    return wrong;
}

/* side (q - bound) >= 0; the coefficient is the side, so that the impulse has the text's sign */
static const char *read_limit(const char **at, mdyn_coupling *c, struct row_note *note,
                              struct terms *t)
{
    int dof = integer(at);
    double bound = number(at), side = number(at);
    c->lower = wide(side * bound);
    c->upper = MDYN_UNLIMITED;
    set_softness(&c->softness, MDYN_ERP_CFM, number(at), 0.0);
    note->limit = 1;
    return add_term(t, dof, side);
}

static const char *read_uni(const char **at, mdyn_coupling *c, struct terms *t)
{
    const char *wrong = read_terms(at, t);
    c->offset = wide(number(at));
    c->upper = MDYN_UNLIMITED;
    set_softness(&c->softness, MDYN_ERP_CFM, number(at), 0.0);
    return wrong;
}

/* A new user row; NULL if there is no room. */
static struct own_row *add_own_row(struct row_note *note)
{
    struct own_row *o;
    if (model.user_row_count == BODY_ROWS)
        return NULL;
    note->kind = MDYN_ROW_USER;
    note->index = model.user_row_count;
    o = &own_rows[model.user_row_count];
    memset(o, 0, sizeof *o);
    memset(&row_table[model.user_row_count++], 0, sizeof row_table[0]);
    return o;
}

/* The terms of a user row of joints, as parts of them. */
static void set_parts(const struct own_row *o, mdyn_user_row *r)
{
    int i;
    for (i = 0; i < o->terms.count; i++) {
        mdyn_body_term *p = &r->terms[i];
        int axis = dof_axis[o->terms.dof[i]];
        mdyn_wide c = wide(o->terms.coefficient[i]);
        p->body = (int16_t)dof_body[o->terms.dof[i]];
        p->axes = MDYN_JOINT_VELOCITIES;
        if (axis == 0) p->angular.x = c;
        else if (axis == 1) p->angular.y = c;
        else if (axis == 2) p->angular.z = c;
        else if (axis == 3) p->linear.x = c;
        else if (axis == 4) p->linear.y = c;
        else p->linear.z = c;
    }
}

/* uni N d1 c1 ... gamma ERP as a user row, which friction can follow */
static const char *read_own_uni(const char **at, struct row_note *note)
{
    struct own_row *o = add_own_row(note);
    mdyn_user_row *r = &row_table[note->index];
    const char *wrong = o == NULL ? "more rows than MIMICDYN_MAX_BODY_ROWS"
                                  : read_terms(at, &o->terms);
    if (wrong != NULL)
        return wrong;
    o->gamma = number(at);
    set_softness(&r->softness, MDYN_ERP_CFM, number(at), 0.0);
    r->upper = MDYN_UNLIMITED;
    set_parts(o, r);
    return NULL;
}

/* fric N d1 c1 ... MU ROW */
static const char *read_fric(const char **at, struct row_note *note)
{
    struct own_row *o = add_own_row(note);
    mdyn_user_row *r = &row_table[note->index];
    const char *wrong = o == NULL ? "more rows than MIMICDYN_MAX_BODY_ROWS"
                                  : read_terms(at, &o->terms);
    int line;
    if (wrong != NULL)
        return wrong;
    r->level = MDYN_VELOCITY;
    r->mu = wide(number(at));
    line = integer(at);
    if (text_is_bad || line < 0 || line >= note - notes || notes[line].kind != MDYN_ROW_USER)
        return "a friction row follows no uni row before it";
    r->mu_of = (int16_t)notes[line].index;
    set_parts(o, r);
    return NULL;
}

/* point A ra B rb ERP */
static const char *read_point(const char **at, struct row_note *note)
{
    mdyn_closure *c = &closures[model.closure_count];
    double r[3];
    if (model.closure_count == BODY_ROWS / 3)
        return "more rows than MIMICDYN_MAX_BODY_ROWS";
    memset(c, 0, sizeof *c);
    note->kind = MDYN_ROW_CLOSURE;
    note->index = 6 * model.closure_count++;
    c->a = (int16_t)integer(at);
    numbers(at, r, 3);
    c->point_a = wide3_of(r);
    c->b = (int16_t)integer(at);
    numbers(at, r, 3);
    c->point_b = wide3_of(r);
    set_softness(&c->softness, MDYN_ERP_CFM, number(at), 0.0);
    return NULL;
}

/* body N {LINK p q}*N c CFM lo hi findex, as ODE has them: CFM, lo, hi are of a force. Rows of the
   text count from 0 and all become user rows, so findex is `normal`. */
static const char *read_body_row(const char **at, struct row_note *note)
{
    struct own_row *o = add_own_row(note);
    mdyn_user_row *r = &row_table[note->index];
    double lo, hi;
    int i, findex;
    if (o == NULL)
        return "more rows than MIMICDYN_MAX_BODY_ROWS";
    o->bodies = integer(at);
    if (text_is_bad || o->bodies < 0 || o->bodies > MIMICDYN_MAX_TERMS)
        return "a row has more bodies than MIMICDYN_MAX_TERMS";
    for (i = 0; i < o->bodies; i++) {
        o->body[i] = integer(at);
        if (text_is_bad || o->body[i] < 0 || o->body[i] >= model.body_count)
            return "a row names a body that is not there";
        numbers(at, o->p[i], 3);
        numbers(at, o->q[i], 3);
    }
    for (; i < MIMICDYN_MAX_TERMS; i++)
        r->terms[i].body = MDYN_WORLD;
    r->level = MDYN_VELOCITY;
    r->target_velocity = wide(number(at));
    set_softness(&r->softness, MDYN_ODE_CFM, 0.0, number(at));
    lo = number(at);
    hi = number(at);
    findex = integer(at);
    if (findex >= 0) {
        r->mu = wide(hi);
        r->mu_of = (int16_t)findex;
    } else if (lo > -1e30 || hi < 1e30) {
        r->force_min = lo > -1e30 ? wide(lo) : wide(-1e12);
        r->force_max = hi < 1e30 ? wide(hi) : MDYN_UNLIMITED;
    }
    return NULL;
}

/* Whether a line `fric` follows line `line`. */
static int is_followed(int line)
{
    const char *at;
    int i, k;
    for (i = 0; (at = find(now, "row", i)) != NULL; i++) {
        char kind[16];
        int n;
        word(&at, kind, sizeof kind);
        if (strcmp(kind, "fric") != 0)
            continue;
        for (n = integer(&at), k = 0; k < 2 * n + 1 && !text_is_bad; k++)
            number(&at);
        if (integer(&at) == line)
            return 1;
    }
    return 0;
}

/* A line that becomes a coupling. */
static const char *read_coupling(const char *kind, const char **at, mdyn_coupling *c,
                                 struct row_note *note)
{
    struct terms t = { 0, { 0 }, { 0 } };
    const char *wrong;
    int i;
    memset(c, 0, sizeof *c);
    note->index = model.coupling_count++;
    if (strcmp(kind, "mimic") == 0)
        wrong = read_mimic(at, c, note, &t);
    else if (strcmp(kind, "gear") == 0)
        wrong = read_gear(at, c, note, &t);
    else if (strcmp(kind, "motor") == 0)
        wrong = read_motor(at, c, note, &t, 1);
    else if (strcmp(kind, "friction") == 0)
        wrong = read_motor(at, c, note, &t, 0);
    else if (strcmp(kind, "limit") == 0)
        wrong = read_limit(at, c, note, &t);
    else if (strcmp(kind, "uni") == 0)
        wrong = read_uni(at, c, &t);
    else
        wrong = "a row of unknown kind";
    for (i = 0; i < t.count; i++) {
        c->terms[i].body = (int16_t)dof_body[t.dof[i]];
        c->terms[i].axis = (int8_t)dof_axis[t.dof[i]];
        c->terms[i].coefficient = wide(t.coefficient[i]);
    }
    return wrong;
}

static const char *read_row(const char *at, int line)
{
    struct row_note *note = &notes[line];
    char kind[16];
    memset(note, 0, sizeof *note);
    note->a = note->b = -1;
    word(&at, kind, sizeof kind);
    if (strcmp(kind, "point") == 0)
        return read_point(&at, note);
    if (strcmp(kind, "fric") == 0)
        return read_fric(&at, note);
    if (strcmp(kind, "body") == 0)
        return read_body_row(&at, note);
    if (strcmp(kind, "uni") == 0 && is_followed(line))
        return read_own_uni(&at, note);
    if (model.coupling_count == COUPLINGS)
        return "more rows than MIMICDYN_MAX_COUPLINGS";
    note->kind = MDYN_ROW_COUPLING;
    return read_coupling(kind, &at, &couplings[model.coupling_count], note);
}

static const char *read_rows(void)
{
    const char *at, *wrong;
    row_lines = 0;
    model.closures = closures;
    model.user_rows = row_table;
    model.row_function = fill_own_row;
    model.user_data = own_rows;
    while ((at = find(now, "row", row_lines)) != NULL) {
        if (row_lines == MOST_ROWS)
            return "more rows than the program holds";
        wrong = read_row(at, row_lines);
        if (wrong != NULL)
            return wrong;
        row_lines++;
    }
    return text_is_bad ? "a number is missing in a row" : NULL;
}

static int all_rows_hard(void)
{
    int i;
    for (i = 0; i < row_lines; i++)
        if (!notes[i].hard)
            return 0;
    return row_lines > 0;
}

/* ---------------------------------------------------------------------------------- start */

/* A fresh sim of the model in the state of the case. Returns the library's code. */
static int start(mdyn_method method, mdyn_equality equality, int iterations, double relaxation)
{
    const char *at;
    double w[6];
    int i, code;
    model.solver.method = method;
    model.solver.equality = equality;
    model.solver.start = MDYN_COLD;
    model.solver.iterations = (uint16_t)iterations;
    model.solver.relaxation = wide(relaxation);
    model.solver.tolerance = wide(0.0); /* a few rounding errors */
    code = init_explicit(&sim, &model);
    if (code < 0) {
        refused("mdyn_init", code, sim.culprit.index);
        return code;
    }
    for (i = 0; i < mdyn_coordinates(&sim); i++)
        sim.q[i] = real(start_q[i]);
    for (i = 0; i < mdyn_dofs(&sim); i++) {
        sim.v[i] = real(start_v[i]);
        sim.tau[i] = real(start_tau[i]);
    }
    for (i = 0; (at = find(now, "wrench", i)) != NULL; i++) {
        int body = integer(&at);
        numbers(&at, w, 6);
        if (text_is_bad || body < 0 || body >= model.body_count)
            continue; /* read_wrenches has refused it */
        sim.wrench[body].moment = real3_of(w);
        sim.wrench[body].force = real3_of(w + 3);
    }
    return code;
}

/* By pivoting: 65535 iterations are too few where limits oppose each other, or friction a limit. */
static int start_exact(void) { return start(MDYN_DANTZIG, MDYN_EXACT, 65535, 1.0); }

static const char *read_wrenches(void)
{
    const char *at;
    double w[6];
    int i, body;
    for (i = 0; (at = find(now, "wrench", i)) != NULL; i++) {
        body = integer(&at);
        numbers(&at, w, 6);
        if (text_is_bad || body < 0 || body >= model.body_count)
            return "a wrench line is wrong";
    }
    return NULL;
}

/* All of a case up to the ready sim. Returns 0 if there is nothing to go on with. */
static int ready(void)
{
    const char *wrong = read_mechanism();
    if (wrong == NULL)
        wrong = read_wrenches();
    if (wrong == NULL)
        wrong = read_rows();
    if (wrong != NULL) {
        skip(wrong);
        return 0;
    }
    fprintf(out, "case %s\n", now->id);
    if (start_exact() < 0) {
        fprintf(out, "rejected\nend\n");
        return 0;
    }
    return 1;
}

/* ---------------------------------------------------------- one function per output line */

static mdyn_wide matrix[DOFS * DOFS], vector[DOFS];

static void put_vector_of(const char *key, const char *call, int code, const mdyn_wide *x, int n)
{
    if (code < 0)
        refused(call, code, sim.culprit.index);
    else
        put_wide(key, x, n);
}

static void put_mass_matrix(void)
{
    int code = mdyn_mass_matrix(&sim, matrix);
    put_vector_of("H", "mdyn_mass_matrix", code, matrix, dofs * dofs);
}

static void put_bias_force(void)
{
    int code = mdyn_bias_force(&sim, vector);
    put_vector_of("C", "mdyn_bias_force", code, vector, dofs);
}

static void put_accelerations(void)
{
    int code = mdyn_forward_dynamics(&sim, vector);
    put_vector_of("qdd", "mdyn_forward_dynamics", code, vector, dofs);
}

static void put_coupled_accelerations(void)
{
    int code = mdyn_constrained_dynamics(&sim, vector);
    put_vector_of("qdd_mimic", "mdyn_constrained_dynamics", code, vector, dofs);
}

static void put_energy(void)
{
    mdyn_wide kinetic, potential;
    int code = mdyn_energy(&sim, &kinetic, &potential);
    put_vector_of("ke", "mdyn_energy", code, &kinetic, 1);
    put_vector_of("pe", "mdyn_energy", code, &potential, 1);
}

static void put_responses(const char *key, int a, int b)
{
    mdyn_wide r[4];
    int i, code = 0;
    for (i = 0; i < 4 && code >= 0; i++)
        code = mdyn_impulse_response(&sim, i < 2 ? a : b, i % 2 == 0 ? a : b, &r[i]);
    put_vector_of(key, "mdyn_impulse_response", code, r, 4);
}

static void put_column(int a)
{
    char key[32];
    int code = mdyn_inverse_mass_column(&sim, a, vector);
    snprintf(key, sizeof key, "column %d", a);
    put_vector_of(key, "mdyn_inverse_mass_column", code, vector, dofs);
}

/* pair A B: two test impulses */
static void put_pairs(void)
{
    const char *at;
    char key[64];
    int i, a, b;
    for (i = 0; (at = find(now, "pair", i)) != NULL; i++) {
        a = integer(&at);
        b = integer(&at);
        snprintf(key, sizeof key, "r %d %d", a, b);
        put_responses(key, a, b);
        put_column(a);
    }
}

static void put_link(int body)
{
    mdyn_real3 position, angular, linear;
    mdyn_real4 quaternion;
    double p[3], q[4], world[3], v[6];
    int code = mdyn_pose(&sim, body, &position, &quaternion);
    if (code >= 0)
        code = mdyn_velocity(&sim, body, NULL, &angular, &linear);
    if (code < 0) {
        refused("mdyn_pose, mdyn_velocity", code, body);
        return;
    }
    from_real3(p, position);
    q[0] = of_real(quaternion.w);
    q[1] = of_real(quaternion.x);
    q[2] = of_real(quaternion.y);
    q[3] = of_real(quaternion.z);
    from_real3(world, angular);
    to_body_axes(v, q, world);
    from_real3(world, linear);
    to_body_axes(v + 3, q, world);
    fprintf(out, "linkpos %d", body);
    put_values(p, 3);
    fprintf(out, "\nlinkquat %d", body);
    put_values(q, 4);
    fprintf(out, "\nlinkvel %d", body);
    put_values(v, 6);
    fprintf(out, "\n");
}

/* v + dt M^-1 (tau - C) */
static void put_free_step(void)
{
    double v[DOFS];
    int i, code = mdyn_forward_dynamics(&sim, vector);
    if (code < 0) {
        refused("mdyn_forward_dynamics", code, sim.culprit.index);
        return;
    }
    for (i = 0; i < dofs; i++)
        v[i] = of_real(sim.v[i]) + time_step * of_wide(vector[i]);
    put_line("vstar", v, dofs);
}

static void put_row_responses(void)
{
    char key[32];
    int i;
    for (i = 0; i < row_lines; i++) {
        if (notes[i].a < 0)
            continue;
        snprintf(key, sizeof key, "r %d", i);
        put_responses(key, notes[i].a, notes[i].b);
    }
}

/* The impulse of a row. One that is at its bound is written as the bound of the text, not as what
   the scalar made of it: readers ask whether it is the bound. Measured: F64 makes the bound itself
   of it, F32 and FIXED are off by 0.8 epsilons at most. */
static double impulse_of(const mdyn_row_report *report, double most)
{
    double x = of_wide(report->impulse), bound = x < 0 ? -most : most;
    double off = x < bound ? bound - x : x - bound;
    if ((report->flags & MDYN_ROW_SATURATED) != 0 && off <= 4 * check_epsilon * most)
        return bound;
    return x;
}

/* One step: the speeds after it, and the impulses of the rows times a factor; lam may be NULL. */
static void put_step(const char *v, const char *lam, double per_impulse)
{
    mdyn_row_report report;
    double impulses[MOST_ROWS];
    int i, code = mdyn_step(&sim);
    if (code < 0) {
        refused("mdyn_step", code, sim.culprit.index);
        return;
    }
    fprintf(out, "%s", v);
    put_reals(sim.v, dofs);
    fprintf(out, "\n");
    if (lam == NULL)
        return;
    for (i = 0; i < row_lines; i++) {
        code = mdyn_report_row(&sim, notes[i].kind, notes[i].index, &report);
        if (code < 0) {
            refused("mdyn_report_row", code, i);
            return;
        }
        impulses[i] = impulse_of(&report, notes[i].most) * per_impulse;
    }
    put_line(lam, impulses, row_lines);
}

/* tgs N each: N substeps of one iteration over all rows, each with its share of the forces */
static void put_substeps(void)
{
    static const int counts[] = { 4, 16 };
    char key[32];
    int k;
    for (k = 0; k < 2; k++) {
        model.solver.substeps = (uint16_t)counts[k];
        snprintf(key, sizeof key, "tgs %d each", counts[k]);
        if (start(MDYN_TGS, MDYN_ITERATED, 1, 1.0) >= 0)
            put_step(key, NULL, 1.0);
    }
    model.solver.substeps = 0;
}

/* pgs OMEGA ITERATIONS: all rows by iterations from zero, in the order of the text */
static void put_iterations(void)
{
    static const double omegas[] = { 1.0, 1.3 };
    static const int counts[] = { 1, 2, 8, 50 };
    char key[32];
    int k, s;
    for (k = 0; k < (row_lines > 1 ? 2 : 1); k++) {
        for (s = 0; s < 4; s++) {
            if (start(MDYN_PGS, MDYN_ITERATED, counts[s], omegas[k]) < 0)
                return;
            snprintf(key, sizeof key, "pgs %g %d", omegas[k], counts[s]);
            put_step(key, NULL, 1.0);
        }
    }
}

static void put_sample(const char *scheme, int step)
{
    fprintf(out, "sample %s %d", scheme, step);
    put_reals(sim.q, mdyn_coordinates(&sim));
    put_reals(sim.v, dofs);
    fprintf(out, "\n");
}

/* ---------------------------------------------------------------------------------- kinds */

static void put_dynamics(void)
{
    put_mass_matrix();
    put_bias_force();
    put_accelerations();
    put_energy();
    put_pairs();
}

static void play_tree(void)
{
    int k;
    if (!ready())
        return;
    put_dynamics();
    for (k = 0; k < model.body_count; k++)
        put_link(k);
    fprintf(out, "end\n");
}

static void play_robot(void)
{
    if (!ready())
        return;
    put_dynamics();
    if (all_rows_hard())
        put_coupled_accelerations();
    put_step("step_v", "step_lam", 1.0);
    fprintf(out, "end\n");
}

static void play_mimic(void)
{
    if (!ready())
        return;
    put_free_step();
    put_row_responses();
    put_step("exact_v", "exact_lam", 1.0);
    put_iterations();
    put_substeps();
    fprintf(out, "end\n");
}

struct wave {
    int dof;
    double amplitude, omega, phase;
};

/* tau_sin DOF amp omega phase; returns how many, -1 if a line is wrong. */
static int read_waves(struct wave *w)
{
    const char *at;
    int n = 0;
    while ((at = find(now, "tau_sin", n)) != NULL) {
        if (n == MOST_WAVES)
            return -1;
        w[n].dof = integer(&at);
        w[n].amplitude = number(&at);
        w[n].omega = number(&at);
        w[n].phase = number(&at);
        if (text_is_bad || w[n].dof < 0 || w[n].dof >= dofs)
            return -1;
        n++;
    }
    return n;
}

static void command(const struct wave *w, int waves, int step)
{
    double tau[DOFS], t = (double)step * time_step;
    int i;
    for (i = 0; i < dofs; i++)
        tau[i] = start_tau[i];
    for (i = 0; i < waves; i++)
        tau[w[i].dof] += w[i].amplitude * sine(w[i].omega * t + w[i].phase);
    for (i = 0; i < dofs; i++)
        sim.tau[i] = real(tau[i]);
}

/* The whole motion, from the start that `ready` has made. */
static void put_motion(const char *scheme, int steps, int every, const struct wave *waves,
                       int count)
{
    int i, code;
    for (i = 0; i <= steps; i++) {
        if (i % every == 0)
            put_sample(scheme, i);
        if (i == steps)
            break;
        command(waves, count, i);
        code = mdyn_step(&sim);
        if (code < 0) {
            refused("mdyn_step", code, sim.culprit.index);
            break;
        }
    }
}

/* ---- q = gamma(y): FDgq, and the built-in step ---- */

static void twice_sine(mdyn_real q, mdyn_curve_point *point, void *user)
{
    const double x = of_real(q), quarter = 1.5707963267948966;
    (void)user;
    point->value = real(2 * sine(x));
    point->slope = wide(2 * sine(x + quarter));
    point->curvature = wide(-2 * sine(x));
}

/* The function as a coupling of the model, which stabilizes with time T; 0 if it is not known here,
   or the mechanism has other couplings or joints. */
static int couple_by(const char *at, double *T)
{
    static const mdyn_curve curve = MDYN_FUNCTION(twice_sine, NULL);
    const mdyn_coupling bent = MDYN_FOLLOWS(1, 0, 0), straight = MDYN_MIMIC(2, 1, 1, 0);
    const int is_curved = strncmp(at, " planar2g ", 10) == 0;
    if (dofs > 3 || mdyn_coordinates(&sim) != dofs || model.coupling_count > 0
        || (!is_curved && strncmp(at, " double_elbow ", 14) != 0))
        return 0;
    at += is_curved ? 10 : 14;
    numbers(&at, T, 1);
    couplings[0] = is_curved ? bent : straight;
    model.couplings = couplings;
    model.coupling_count = 1;
    model.curves = &curve;
    model.curve_count = 1;
    memset(&model.solver, 0, sizeof model.solver);
    return !text_is_bad;
}

static void set_start(void)
{
    int i;
    for (i = 0; i < dofs; i++) {
        sim.q[i] = real(start_q[i]);
        sim.v[i] = real(start_v[i]);
        sim.tau[i] = real(start_tau[i]);
    }
}

/* rate := (v, FDgq's acceleration) at the state x = (q, v). */
static int find_rate(const double x[6], double T, double rate[6])
{
    int i, code;
    for (i = 0; i < dofs; i++) {
        sim.q[i] = real(x[i]);
        rate[i] = x[3 + i];
        sim.v[i] = real(x[3 + i]);
    }
    code = mdyn_stabilized_dynamics(&sim, wide(T), vector);
    for (i = 0; i < dofs; i++)
        rate[3 + i] = of_wide(vector[i]);
    return code;
}

/* One step of v += dt a, q += dt v. */
static int take_semi(double x[6], double T)
{
    double rate[6];
    int i, code = find_rate(x, T, rate);
    for (i = 0; i < dofs; i++) {
        x[3 + i] += time_step * rate[3 + i];
        x[i] += time_step * x[3 + i];
    }
    return code;
}

/* One step of the classical method of Runge and Kutta. */
static int take_rk4(double x[6], double T)
{
    static const double part[4] = { 0, 0.5, 0.5, 1 }, weight[4] = { 1, 2, 2, 1 };
    double sum[6] = { 0 }, rate[6] = { 0 }, at[6];
    int i, k, code = MDYN_OK;
    for (k = 0; k < 4 && code >= 0; k++) {
        for (i = 0; i < 6; i++)
            at[i] = x[i] + part[k] * time_step * rate[i];
        code = find_rate(at, T, rate);
        for (i = 0; i < 6; i++)
            sum[i] += weight[k] / 6 * rate[i];
    }
    for (i = 0; i < 6; i++)
        x[i] += time_step * sum[i];
    return code;
}

/* The motion of a user who integrates by himself. */
static void put_integrated(const char *scheme, int (*take)(double *, double), double T, int steps,
                           int every)
{
    double x[6] = { 0 };
    int i, k, code = MDYN_OK;
    for (i = 0; i < dofs; i++) {
        x[i] = start_q[i];
        x[3 + i] = start_v[i];
    }
    set_start();
    for (i = 0; i <= steps && code >= 0; i++) {
        for (k = 0; k < dofs; k++) {
            sim.q[k] = real(x[k]);
            sim.v[k] = real(x[3 + k]);
        }
        if (i % every == 0)
            put_sample(scheme, i);
        if (i < steps)
            code = take(x, T);
    }
    if (code < 0)
        refused("mdyn_stabilized_dynamics", code, sim.culprit.index);
}

static void play_function(const char *function, int steps, int every)
{
    double T = 0;
    int code;
    if (!couple_by(function, &T)) {
        fprintf(out, "end\n");
        fprintf(stderr, "%s: a function of another kind\n", now->id);
        return;
    }
    code = mdyn_init(&sim, &model);
    if (code < 0) {
        refused("mdyn_init", code, sim.culprit.index);
    } else {
        put_integrated("semi", take_semi, T, steps, every);
        put_integrated("rk4", take_rk4, T, steps, every);
        set_start();
        mdyn_reset(&sim);
        put_motion("other", steps, every, NULL, 0);
    }
    fprintf(out, "end\n");
}

static void play_trajectory(void)
{
    struct wave waves[MOST_WAVES];
    const char *at = find(now, "steps", 0);
    const char *function = find(now, "gamma", 0);
    int steps, every, count, i, limits = 0;
    if (at == NULL) {
        skip("the line steps is missing");
        return;
    }
    text_is_bad = 0;
    steps = integer(&at);
    every = integer(&at);
    if (text_is_bad || every < 1) {
        skip("the line steps is wrong");
        return;
    }
    if (!ready())
        return;
    if (function != NULL) {
        play_function(function, steps, every);
        return;
    }
    count = read_waves(waves);
    if (count < 0)
        skip("a line tau_sin is wrong");
    model.solver.friction_law = MDYN_TWO_STAGE; /* that of the reference */
    if (start_exact() < 0)
        return;
    for (i = 0; i < row_lines; i++)
        limits |= notes[i].limit;
    if (count >= 0)
        put_motion(limits ? "speculative" : "exact", steps, every, waves, count);
    model.solver.limits = MDYN_ENGAGED; /* mechanisms with limits once more */
    if (count >= 0 && limits && start_exact() >= 0)
        put_motion("engage", steps, every, waves, count);
    model.solver.limits = MDYN_SPECULATIVE;
    fprintf(out, "end\n");
}

/* ---- logs ---- */

static void read_wides(const char **at, mdyn_wide *x, int n)
{
    int i;
    for (i = 0; i < n; i++)
        x[i] = wide(number(at));
}

/* joint K damping friction lower upper effort drive_kp drive_kd */
static const char *read_joint_values(const char *at)
{
    int body = integer(&at);
    if (text_is_bad || body < 0 || body >= model.body_count)
        return "a joint line is wrong";
    read_wides(&at, &bodies[body].damping, 7);
    return NULL;
}

/* coupling N {DOF COEFFICIENT}*N and the fields of mdyn_coupling, without its name */
static const char *read_log_coupling(const char *at, mdyn_coupling *c)
{
    struct terms t = { 0, { 0 }, { 0 } };
    const char *wrong = read_terms(&at, &t);
    int i;
    memset(c, 0, sizeof *c);
    for (i = 0; i < t.count; i++) {
        c->terms[i].body = (int16_t)dof_body[t.dof[i]];
        c->terms[i].axis = (int8_t)dof_axis[t.dof[i]];
        c->terms[i].coefficient = wide(t.coefficient[i]);
    }
    c->offset = wide(number(&at));
    c->softness.kind = (mdyn_softness_kind)integer(&at);
    read_wides(&at, &c->softness.a, 2);
    read_wides(&at, &c->lower, 4);
    c->level = (mdyn_level)integer(&at);
    read_wides(&at, &c->efficiency, 2);
    c->mu_of = (int16_t)integer(&at);
    c->breaks = (int16_t)integer(&at);
    return wrong;
}

/* solver and the fields of mdyn_solver, in their order */
static void read_solver(const char *at, mdyn_solver *s)
{
    s->method = (mdyn_method)integer(&at);
    s->equality = (mdyn_equality)integer(&at);
    s->start = (mdyn_start)integer(&at);
    s->iterations = (uint16_t)integer(&at);
    read_wides(&at, &s->relaxation, 3);
    s->correction = (mdyn_correction)integer(&at);
    s->substeps = (uint16_t)integer(&at);
    s->limits = (mdyn_limits)integer(&at);
    read_wides(&at, &s->deadband, 1);
    s->friction_law = (mdyn_friction_law)integer(&at);
    s->scheme = (mdyn_scheme)integer(&at);
    s->corrections = (uint16_t)integer(&at);
    if (at[strspn(at, " \r\n")]) s->forces = (mdyn_forces)integer(&at); /* not in older logs */
}

static mdyn_curve curves[MIMICDYN_MAX_CURVES];
static mdyn_knot knots[MOST_KNOTS];

/* curved COUPLING DOF CURVE */
static void read_curved_term(const char *at)
{
    const int coupling = integer(&at), dof = integer(&at), curve = integer(&at);
    int i, found = 0;
    for (i = 0; i < MIMICDYN_MAX_TERMS && coupling >= 0 && coupling < model.coupling_count &&
                dof >= 0 && dof < dofs; i++) {
        mdyn_term *t = &couplings[coupling].terms[i];
        if (t->coefficient == 0 || t->body != dof_body[dof] || t->axis != dof_axis[dof])
            continue;
        t->curve = (uint8_t)curve;
        found = 1;
    }
    text_is_bad |= !found;
}

/* curve KIND REFERENCE A0 ... A4 N {Q VALUE CURVATURE}*N; *used: of `knots` */
static const char *read_curve(const char *at, mdyn_curve *c, int *used)
{
    int i;
    memset(c, 0, sizeof *c);
    c->kind = (mdyn_curve_kind)integer(&at);
    read_wides(&at, &c->reference, 1);
    read_wides(&at, c->a, 5);
    c->knots = &knots[*used];
    c->knot_count = integer(&at);
    if (c->kind > MDYN_CURVE_SPLINE)
        return "a curve that is a function";
    if (c->knot_count < 0 || c->knot_count > MOST_KNOTS - *used)
        return "more knots than MOST_KNOTS";
    for (i = 0; i < c->knot_count; i++)
        read_wides(&at, &knots[(*used)++].q, 3);
    return NULL;
}

static void read_logged_softness(const char **at, mdyn_softness *s)
{
    s->kind = (mdyn_softness_kind)integer(at);
    read_wides(at, &s->a, 2);
}

/* closure and the fields of mdyn_closure, in their order */
static void read_closure(const char *at, mdyn_closure *c)
{
    memset(c, 0, sizeof *c);
    c->kind = (mdyn_closure_kind)integer(&at);
    c->a = (int16_t)integer(&at);
    c->b = (int16_t)integer(&at);
    read_wides(&at, &c->point_a.x, 3);
    read_wides(&at, &c->point_b.x, 3);
    read_wides(&at, &c->axis_a.x, 3);
    read_wides(&at, &c->axis_b.x, 3);
    read_wides(&at, &c->rotation.w, 4);
    read_wides(&at, &c->distance, 1);
    read_logged_softness(&at, &c->softness);
    read_wides(&at, &c->effort, 1);
}

/* user_row N {BODY AXES ANGULAR LINEAR}*N and the other fields of mdyn_user_row, in their order */
static const char *read_user_row(const char *at, mdyn_user_row *r)
{
    const int count = integer(&at);
    int i;
    memset(r, 0, sizeof *r);
    if (count < 0 || count > MIMICDYN_MAX_TERMS)
        return "more terms than MIMICDYN_MAX_TERMS";
    for (i = 0; i < count; i++) {
        r->terms[i].body = (int16_t)integer(&at);
        r->terms[i].axes = (mdyn_axes)integer(&at);
        read_wides(&at, &r->terms[i].angular.x, 3);
        read_wides(&at, &r->terms[i].linear.x, 3);
    }
    read_wides(&at, &r->value, 1);
    read_logged_softness(&at, &r->softness);
    read_wides(&at, &r->lower, 6); /* lower, upper, target velocity, forces, mu */
    r->mu_of = (int16_t)integer(&at);
    r->level = (mdyn_level)integer(&at);
    return NULL;
}

/* Curves, closures and user rows of a log; NULL or what is wrong. */
static const char *read_log_tables(void)
{
    const char *at, *wrong = NULL;
    int i, used = 0;
    for (i = 0; (at = find(now, "curved", i)) != NULL; i++)
        read_curved_term(at);
    for (i = 0; wrong == NULL && (at = find(now, "curve", i)) != NULL; i++)
        wrong = i < MIMICDYN_MAX_CURVES ? read_curve(at, &curves[i], &used) : "too many curves";
    model.curves = curves;
    model.curve_count = i;
    for (i = 0; wrong == NULL && (at = find(now, "closure", i)) != NULL; i++) {
        if (i == BODY_ROWS)
            return "more closures than MIMICDYN_MAX_BODY_ROWS";
        read_closure(at, &closures[i]);
    }
    model.closures = closures;
    model.closure_count = i;
    for (i = 0; wrong == NULL && (at = find(now, "user_row", i)) != NULL; i++)
        wrong = i < BODY_ROWS ? read_user_row(at, &row_table[i]) : "too many user rows";
    model.user_rows = row_table;
    model.user_row_count = i;
    return wrong;
}

/* The model of a log; NULL or what is wrong. */
static const char *read_log(void)
{
    const char *at, *wrong = read_mechanism();
    int i;
    for (i = 0; wrong == NULL && (at = find(now, "joint", i)) != NULL; i++)
        wrong = read_joint_values(at);
    for (i = 0; wrong == NULL && (at = find(now, "coupling", i)) != NULL; i++) {
        if (i == COUPLINGS)
            return "more couplings than MIMICDYN_MAX_COUPLINGS";
        wrong = read_log_coupling(at, &couplings[i]);
        model.coupling_count = i + 1;
    }
    at = find(now, "solver", 0);
    if (at != NULL)
        read_solver(at, &model.solver);
    if (wrong == NULL)
        wrong = read_log_tables();
    if (wrong != NULL)
        return wrong;
    return text_is_bad ? "a number is missing" : NULL;
}

static void read_reals(const char **at, mdyn_real *x, int n)
{
    int i;
    for (i = 0; i < n; i++)
        x[i] = real(number(at));
}

static int take_wrench(const char *at)
{
    const int body = integer(&at);
    if (body < 0 || body >= model.body_count) {
        text_is_bad = 1;
        return MDYN_OK;
    }
    read_reals(&at, &sim.wrench[body].moment.x, 3);
    read_reals(&at, &sim.wrench[body].force.x, 3);
    return MDYN_OK;
}

/* tau|target|target_velocity X..., wrench BODY X..., coupling_target COUPLING X V or
   engage COUPLING ON. Returns the library's code. */
static int take_command(const char *at)
{
    char what[20];
    mdyn_real x[2];
    int coupling;
    word(&at, what, sizeof what);
    if (strcmp(what, "tau") == 0)
        return read_reals(&at, sim.tau, dofs), MDYN_OK;
    if (strcmp(what, "target") == 0)
        return read_reals(&at, sim.target, dofs), MDYN_OK;
    if (strcmp(what, "target_velocity") == 0)
        return read_reals(&at, sim.target_velocity, dofs), MDYN_OK;
    if (strcmp(what, "wrench") == 0)
        return take_wrench(at);
    coupling = integer(&at);
    if (strcmp(what, "engage") == 0)
        return mdyn_engage(&sim, coupling, integer(&at));
    text_is_bad |= strcmp(what, "coupling_target") != 0;
    read_reals(&at, x, 2);
    return mdyn_set_coupling_target(&sim, coupling, x[0], x[1]);
}

static mdyn_contact contacts[MIMICDYN_MAX_CONTACTS];
static int contact_count; /* of the next step */

/* A B KEY POINT NORMAL DEPTH MU and softness */
static void take_contact(const char *at)
{
    mdyn_contact *c = &contacts[contact_count];
    if (contact_count == MIMICDYN_MAX_CONTACTS) {
        text_is_bad = 1;
        return;
    }
    memset(c, 0, sizeof *c);
    c->a = (int16_t)integer(&at);
    c->b = (int16_t)integer(&at);
    c->key = (uint16_t)integer(&at);
    read_reals(&at, &c->point.x, 3);
    read_reals(&at, &c->normal.x, 3);
    read_reals(&at, &c->depth, 1);
    read_wides(&at, &c->mu, 1);
    read_logged_softness(&at, &c->softness);
    contact_count++;
}

static int step_with_contacts(void)
{
    int code = mdyn_set_contacts(&sim, contacts, contact_count);
    contact_count = 0;
    return code < 0 ? code : mdyn_step(&sim);
}

/* The state of this run, and whether the log has another. */
static void compare_state(const char *at, int step)
{
    const int coordinates = mdyn_coordinates(&sim);
    int i, differs = 0;
    fprintf(out, "state %d", step);
    put_reals(sim.q, coordinates);
    put_reals(sim.v, dofs);
    fprintf(out, "\n");
    for (i = 0; i < coordinates + dofs && !differs; i++) {
        const double is = of_real(i < coordinates ? sim.q[i] : sim.v[i - coordinates]);
        const double was = number(&at);
        differs = is < was || is > was;
        if (differs)
            printf("%s: after %d steps %s %d is %.17g, the log has %.17g\n", now->id, step,
                   i < coordinates ? "q" : "v", i < coordinates ? i : i - coordinates, is, was);
    }
    states_differ += differs;
}

/* Lines of commands, contacts and states are in the order of their steps. */
static void play_log(void)
{
    static const char *const keys[] = { "state ", "command ", "contact " };
    const char *wrong = read_log(), *at;
    int i, done = 0, code = MDYN_OK;
    contact_count = 0;
    logs_stopped++;
    if (wrong != NULL) {
        skip(wrong);
        return;
    }
    code = mdyn_init(&sim, &model);
    if (code < 0) {
        refused("mdyn_init", code, sim.culprit.index);
        return;
    }
    for (i = 0; i < mdyn_coordinates(&sim); i++)
        sim.q[i] = real(start_q[i]);
    for (i = 0; i < dofs; i++)
        sim.v[i] = real(start_v[i]);
    fprintf(out, "case %s log\n", now->id);
    for (i = 0; i < now->lines && !text_is_bad; i++) {
        int step, key = 0;
        while (key < 3 && strncmp(now->line[i], keys[key], strlen(keys[key])) != 0)
            key++;
        if (key > 0)
            fprintf(out, "%s\n", now->line[i]);
        if (key == 3)
            continue;
        at = now->line[i] + strlen(keys[key]);
        for (step = integer(&at); done < step && code >= 0; done++)
            code = step_with_contacts();
        if (code >= 0 && key == 0)
            compare_state(at, step);
        else if (code >= 0 && key == 1)
            code = take_command(at);
        else if (code >= 0)
            take_contact(at);
        if (code < 0) {
            refused("a step or a command", code, sim.culprit.index);
            break;
        }
    }
    if (text_is_bad)
        skip("a command, a contact or a state is wrong");
    else if (code >= 0)
        logs_stopped--;
    fprintf(out, "end\n");
}

/* One step of a slider of the mass 1/r with a single soft row C = q: the row's impulse. */
static int soft_impulse(mdyn_softness softness, double r, double dt, double q, double v,
                        double *impulse)
{
    mdyn_row_report report;
    int code;
    memset(&model, 0, sizeof model);
    memset(bodies, 0, sizeof bodies[0]);
    memset(couplings, 0, sizeof couplings[0]);
    bodies[0].parent = MDYN_WORLD;
    bodies[0].joint = MDYN_PRISMATIC;
    bodies[0].mass = wide(1 / r);
    couplings[0].terms[0].coefficient = wide(1.0);
    couplings[0].softness = softness;
    model.bodies = bodies;
    model.body_count = 1;
    model.couplings = couplings;
    model.coupling_count = 1;
    model.dt = wide(dt);
    start_q[0] = q;
    start_v[0] = v;
    start_tau[0] = 0;
    code = start_exact();
    if (code >= 0 && (code = mdyn_step(&sim)) < 0)
        refused("mdyn_step", code, sim.culprit.index);
    if (code >= 0 && (code = mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &report)) < 0)
        refused("mdyn_report_row", code, 0);
    if (code >= 0)
        *impulse = of_wide(report.impulse);
    return code;
}

/* erp and cfm, measured: one impulse answers the speed 1, another the error 1.
      -(r + cfm) lambda = 1,   -(r + cfm) lambda = erp/dt                        */
static int measure_softness(mdyn_softness softness, double r, double dt, double *erp, double *cfm)
{
    double of_speed, of_error;
    int code = soft_impulse(softness, r, dt, 0.0, 1.0, &of_speed);
    if (code >= 0)
        code = soft_impulse(softness, r, dt, 1.0, 0.0, &of_error);
    if (code < 0)
        return code;
    *erp = dt * of_error / of_speed;
    *cfm = -1 / of_speed - r;
    return code;
}

/* conv kp kd erp cfm. The spring of a freq row is read from a short step, which tells kp and kd
   apart whatever their ratio: kp = erp/(dt^2 cfm), kd = (1 - erp)/(dt cfm). Then that spring is
   measured over the step asked for, on a heavy slider, whose r does not hide cfm. */
static void play_conversion(void)
{
    const char *at = find(now, "freq", 0);
    int freq = at != NULL;
    mdyn_softness softness;
    double a, b, r = 1e-6, dt, conv[4], erp, cfm, brief = 1e-6;
    text_is_bad = 0;
    if (!freq)
        at = find(now, "kpkd", 0);
    if (at == NULL) {
        skip("the line kpkd or freq is missing");
        return;
    }
    conv[0] = a = number(&at);
    conv[1] = b = number(&at);
    if (freq)
        r = number(&at);
    dt = number(&at);
    if (text_is_bad) {
        skip("a number is missing");
        return;
    }
    if (freq && !(a > 0)) {
        skip("the library takes omega = 0 for a hard row");
        return;
    }
    set_softness(&softness, freq ? MDYN_OMEGA_ZETA : MDYN_KP_KD, a, b);
    fprintf(out, "case %s\n", now->id);
    if (freq && measure_softness(softness, r, brief, &erp, &cfm) >= 0) {
        conv[0] = erp / (brief * brief * cfm);
        conv[1] = 1 - erp > 8 * check_epsilon ? (1 - erp) / (brief * cfm) : 0;
        set_softness(&softness, MDYN_KP_KD, conv[0], conv[1]);
    }
    if (measure_softness(softness, 1e-6, dt, &conv[2], &conv[3]) < 0) {
        fprintf(out, "rejected\nend\n");
        return;
    }
    put_line("conv", conv, 4);
    fprintf(out, "end\n");
}

/* A slider of 1 kg with a limit that engages. */
static int start_limit(double lower, double upper, double deadband)
{
    int code;
    memset(&model, 0, sizeof model);
    memset(bodies, 0, sizeof bodies[0]);
    bodies[0].parent = MDYN_WORLD;
    bodies[0].joint = MDYN_PRISMATIC;
    bodies[0].mass = wide(1.0);
    bodies[0].lower = wide(lower);
    bodies[0].upper = wide(upper);
    model.bodies = bodies;
    model.body_count = 1;
    model.dt = wide(0.0009765625);
    model.solver.limits = MDYN_ENGAGED;
    model.solver.deadband = wide(deadband);
    start_q[0] = start_v[0] = start_tau[0] = 0;
    code = start_exact();
    fprintf(out, "case %s\n", now->id);
    if (code < 0)
        fprintf(out, "rejected\nend\n");
    return code;
}

/* engaged E1 E2 ...: after each of the updates q, v: 1 lower, -1 upper, 0 off */
static void play_engagement(void)
{
    const char *at = find(now, "limits", 0);
    mdyn_row_report report;
    double lower, upper;
    int i, code;
    text_is_bad = 0;
    lower = at != NULL ? number(&at) : 0;
    upper = at != NULL ? number(&at) : 0;
    if (at == NULL || text_is_bad) {
        skip("the line limits is missing");
        return;
    }
    if (start_limit(lower, upper, 0.0) < 0)
        return;
    fprintf(out, "engaged");
    for (i = 0; (at = find(now, "update", i)) != NULL; i++) {
        sim.q[0] = real(number(&at));
        sim.v[0] = real(number(&at));
        code = mdyn_step(&sim);
        if (code >= 0)
            code = mdyn_report_row(&sim, MDYN_ROW_LIMIT, 0, &report);
        if (code < 0) {
            refused("mdyn_step, mdyn_report_row", code, 0);
            break;
        }
        fprintf(out, " %d", (report.flags & MDYN_ROW_AT_LOWER) != 0   ? 1
                            : (report.flags & MDYN_ROW_AT_UPPER) != 0 ? -1 : 0);
    }
    fprintf(out, "\nend\n");
}

/* correction C: the way back from D beyond a limit at 0, but for the deadband */
static void play_deadband(void)
{
    const char *at = find(now, "deadband", 0);
    double d, tolerated, way;
    int code;
    text_is_bad = 0;
    d = at != NULL ? number(&at) : 0;
    tolerated = at != NULL ? number(&at) : 0;
    if (at == NULL || text_is_bad) {
        skip("the line deadband is missing");
        return;
    }
    if (start_limit(0.0, 1e6, tolerated) < 0)
        return;
    sim.q[0] = real(d);
    code = mdyn_step(&sim);
    if (code < 0)
        refused("mdyn_step", code, 0);
    way = of_real(sim.q[0]) - d;
    put_line("correction", &way, 1);
    fprintf(out, "end\n");
}

/* One step of bodies under rows, with friction of both kinds; lam as forces. */
static void play_body_rows(void)
{
    if (!ready())
        return;
    model.solver.friction_law = MDYN_TWO_STAGE;
    if (start_exact() >= 0)
        put_step("two_stage_v", "two_stage_lam", 1 / time_step);
    model.solver.friction_law = MDYN_PYRAMID;
    if (start_exact() >= 0)
        put_step("coupled_v", "coupled_lam", 1 / time_step);
    fprintf(out, "end\n");
}

/* ---- the slotted hinge of the examples: a joint of user rows ---- */

static slot hinge;

static void unit_quaternion_axes(double R[3][3], mdyn_real4 q)
{
    double u[4], e[3], r[3];
    int i, k;
    u[0] = of_real(q.w);
    u[1] = -of_real(q.x); /* back: from body axes to those of the world */
    u[2] = -of_real(q.y);
    u[3] = -of_real(q.z);
    for (i = 0; i < 3; i++) {
        e[0] = e[1] = e[2] = 0;
        e[i] = 1;
        to_body_axes(r, u, e);
        for (k = 0; k < 3; k++)
            R[k][i] = r[k];
    }
}

/* (w,x,y,z) of a rotation: the largest of them first, the others from it */
static void quaternion_of(double q[4], double R[3][3])
{
    double square[4];
    int i, k, m = 0;
    square[0] = 1 + R[0][0] + R[1][1] + R[2][2];
    for (i = 0; i < 3; i++)
        square[i + 1] = 1 + 2 * R[i][i] - R[0][0] - R[1][1] - R[2][2];
    for (k = 1; k < 4; k++)
        if (square[k] > square[m]) m = k;
    for (i = 0; i < 3; i++) {
        int a = (i + 1) % 3, b = (i + 2) % 3;
        if (m == 0) q[i + 1] = R[b][a] - R[a][b];
        else if (i == m - 1) q[0] = R[b][a] - R[a][b];
        else q[i + 1] = R[i][m - 1] + R[m - 1][i];
    }
    q[m] = square[m];
}

/* The plate is the world, the pin body 0. The rows have no force: they are only looked at. */
static void fill_slot_row(mdyn_sim *s, int index, mdyn_user_row *row, void *user)
{
    slot *j = (slot *)user;
    mdyn_real3 position;
    mdyn_real4 turn;
    double p[3], R[3][3], G[3][3], arm[3], angular[3], linear[3], c, sn;
    int k;
    mdyn_pose(s, 0, &position, &turn);
    from_real3(p, position);
    unit_quaternion_axes(R, turn);
    slot_find(j, p, R);
    sn = j->wrench[SLOT_Y][0];
    c = j->wrench[SLOT_Y][1];
    memset(G, 0, sizeof G);
    G[0][0] = G[1][1] = c;
    G[1][0] = sn;
    G[0][1] = -sn;
    G[2][2] = 1;
    for (k = 0; k < 3; k++)
        arm[k] = (k == 0 ? j->x : 0) - p[k];
    slot_parts(j->wrench[index], G, arm, angular, linear);
    row->terms[0].body = 0;
    row->terms[0].angular = wide3_of(angular);
    row->terms[0].linear = wide3_of(linear);
    for (k = 1; k < MIMICDYN_MAX_TERMS; k++)
        row->terms[k].body = MDYN_WORLD;
    set_softness(&row->softness, MDYN_KP_KD, 0.0, 0.0);
    if (index < SLOT_X) row->value = wide(slot_distance(j, index));
    else row->level = MDYN_VELOCITY;
}

/* A free body at the pose T_CD that moves by the k-th unit twist of frame G, times `size`: one
   step, in which nothing happens. */
static int twist_pin(double p[3], double R[3][3], int k, double size)
{
    double q[4], G[3][3], moment[6] = { 0 }, arm[3], w[3], v[3], unit[3] = { 0 };
    int i, code = init_explicit(&sim, &model);
    if (code < 0) return code;
    quaternion_of(q, R);
    for (i = 0; i < 3; i++)
        sim.q[i] = real(p[i]);
    for (i = 0; i < 4; i++)
        sim.q[3 + i] = real(q[i]);
    if (k < 0) return mdyn_step(&sim);
    unit[k % 3] = size;
    memset(G, 0, sizeof G);
    G[0][0] = G[1][1] = hinge.wrench[SLOT_Y][1];
    G[1][0] = hinge.wrench[SLOT_Y][0];
    G[0][1] = -G[1][0];
    G[2][2] = 1;
    for (i = 0; i < 3; i++) {
        w[i] = k < 3 ? 0 : G[i][0] * unit[0] + G[i][1] * unit[1] + G[i][2] * unit[2];
        v[i] = k < 3 ? G[i][0] * unit[0] + G[i][1] * unit[1] + G[i][2] * unit[2] : 0;
        arm[i] = p[i] - (i == 0 ? hinge.x : 0);
    }
    for (i = 0; i < 3; i++)
        v[i] += w[(i + 1) % 3] * arm[(i + 2) % 3] - w[(i + 2) % 3] * arm[(i + 1) % 3];
    slot_turn_back(moment, R, w);
    slot_turn_back(moment + 3, R, v);
    for (i = 0; i < 6; i++)
        sim.v[i] = real(moment[i]);
    return mdyn_step(&sim);
}

/* Where frame G is, what is wrong, the wrenches as the library applies them, which are the speeds
   of the rows for unit twists, and their derivatives. */
static void put_slot(double p[3], double R[3][3], double theta_before, double theta_rate)
{
    static const char *const names[] = { "G0", "G1", "G2", "G3", "Nx", "Nth" };
    const double size = 0.0078125;
    double measured[SLOT_ROWS][6], pose[12] = { 0 }, coordinates[2];
    mdyn_row_report report;
    int i, k, code = twist_pin(p, R, -1, size); /* fills `hinge` */
    for (k = 0; k < 6 && code >= 0; k++) {
        code = twist_pin(p, R, k, size);
        for (i = 0; i < SLOT_ROWS && code >= 0; i++) {
            code = mdyn_report_row(&sim, MDYN_ROW_USER, i, &report);
            measured[i][k] = of_wide(report.velocity) / size;
        }
    }
    if (code < 0) {
        refused("mdyn_step, mdyn_report_row", code, 0);
        return;
    }
    pose[0] = coordinates[0] = hinge.x;
    pose[3] = pose[7] = hinge.wrench[SLOT_Y][1];
    pose[6] = hinge.wrench[SLOT_Y][0];
    pose[4] = -pose[6];
    pose[11] = 1;
    coordinates[1] = of_real(mdyn_nearest_angle(real(hinge.theta), real(theta_before)));
    slot_differentiate(&hinge, theta_rate);
    put_line("T_GD", pose, 12);
    put_line("coords", coordinates, 2);
    put_line("err", hinge.error, 6);
    for (i = 0; i < SLOT_ROWS; i++) {
        char key[16];
        snprintf(key, sizeof key, "row %s", names[i]);
        put_line(key, measured[i], 6);
        snprintf(key, sizeof key, "dot %s", names[i]);
        put_line(key, hinge.derivative[i], 6);
    }
}

static void play_slotted_hinge(void)
{
    const char *at = find(now, "T_CD", 0), *theta = find(now, "current_theta", 0);
    const char *rates = find(now, "rates", 0);
    double p[3], R[9], axes[3][3], before, rate;
    text_is_bad = 0;
    if (at == NULL || theta == NULL || rates == NULL) {
        skip("T_CD, current_theta or rates is missing");
        return;
    }
    numbers(&at, p, 3);
    numbers(&at, R, 9);
    memcpy(axes, R, sizeof axes);
    before = number(&theta);
    number(&rates); /* along the slot: the wrenches do not depend on it */
    rate = number(&rates);
    if (text_is_bad) {
        skip("a number is missing");
        return;
    }
    memset(&model, 0, sizeof model);
    memset(bodies, 0, sizeof bodies[0]);
    bodies[0].parent = MDYN_WORLD;
    bodies[0].joint = MDYN_FREE;
    bodies[0].mass = wide(1.0);
    bodies[0].inertia.xx = bodies[0].inertia.yy = bodies[0].inertia.zz = wide(1.0);
    model.bodies = bodies;
    model.body_count = 1;
    model.dt = wide(1e-9);
    model.user_row_count = SLOT_ROWS;
    model.row_function = fill_slot_row;
    model.user_data = &hinge;
    fprintf(out, "case %s\n", now->id);
    put_slot(p, axes, before, rate);
    fprintf(out, "end\n");
}

/* Accelerations of FDgq at a state off the function, and the state on it. */
static void play_gamma(void)
{
    const char *function = find(now, "gamma", 0);
    double T = 0;
    int code;
    if (!ready())
        return;
    if (function == NULL || !couple_by(function, &T)) {
        fprintf(out, "end\n");
        fprintf(stderr, "%s: a function of another kind\n", now->id);
        return;
    }
    code = mdyn_init(&sim, &model);
    if (code >= 0) {
        set_start();
        code = mdyn_stabilized_dynamics(&sim, wide(T), vector);
        put_vector_of("qdd", "mdyn_stabilized_dynamics", code, vector, dofs);
    }
    if (code >= 0)
        code = mdyn_project(&sim, MDYN_INDEPENDENT);
    if (code >= 0) {
        fprintf(out, "q_new");
        put_reals(sim.q, dofs);
        fprintf(out, "\nv_new");
        put_reals(sim.v, dofs);
        fprintf(out, "\n");
    } else {
        refused("mdyn_project", code, sim.culprit.index);
    }
    fprintf(out, "end\n");
}

static void play_misc(void)
{
    if (strcmp(now->group, "conversion") == 0)
        play_conversion();
    else if (strncmp(now->group, "engage", 6) == 0)
        play_engagement();
    else if (strcmp(now->group, "deadband") == 0)
        play_deadband();
    else if (strcmp(now->group, "slotted_hinge") == 0)
        play_slotted_hinge();
    else if (strcmp(now->group, "gamma_q") == 0)
        play_gamma();
    else if (strcmp(now->group, "body_rows") == 0)
        play_body_rows();
    else
        skip("a group of unknown kind");
}

/* -------------------------------------------------------------- complementarity problems */

enum { LCP_ROWS = 128 };

static mdyn_lcp lcp;
static mdyn_wide lcp_A[LCP_ROWS * LCP_ROWS], lcp_b[LCP_ROWS], lcp_lo[LCP_ROWS], lcp_hi[LCP_ROWS];
static mdyn_wide lcp_x[LCP_ROWS];
static int16_t lcp_findex[LCP_ROWS];
static mdyn_lcp_cell lcp_scratch[MDYN_LCP_SCRATCH(LCP_ROWS)];

static mdyn_wide bound_of(double x)
{
    return x > 1e12 ? MDYN_UNLIMITED : x < -1e12 ? -MDYN_UNLIMITED : wide(x);
}

/* A problem with bounds, findex -1 where a row has no friction; NULL or what is wrong. */
static const char *read_lcp(int *has_friction)
{
    const char *at = find(now, "n", 0);
    double row[LCP_ROWS], lo[LCP_ROWS], hi[LCP_ROWS];
    int i, j, n;
    text_is_bad = 0;
    if (at == NULL)
        return "the line n is missing";
    n = integer(&at);
    if (n < 0 || n > LCP_ROWS)
        return "more rows than LCP_ROWS";
    for (i = 0; i < n; i++) {
        if ((at = find(now, "A", i)) == NULL)
            return "a line A is missing";
        numbers(&at, row, n);
        for (j = 0; j < n; j++)
            lcp_A[i * n + j] = wide(row[j]);
    }
    if (read_vector("b", row, n) != NULL || read_vector("lo", lo, n) != NULL ||
        read_vector("hi", hi, n) != NULL || (at = find(now, "findex", 0)) == NULL)
        return "b, lo, hi or findex is missing";
    *has_friction = 0;
    for (i = 0; i < n; i++) {
        lcp_b[i] = wide(row[i]);
        lcp_lo[i] = bound_of(lo[i]);
        lcp_hi[i] = bound_of(hi[i]);
        lcp_findex[i] = (int16_t)integer(&at);
        *has_friction |= lcp_findex[i] >= 0;
    }
    lcp.n = n;
    lcp.matrix = lcp_A;
    lcp.b = lcp_b;
    lcp.lo = lcp_lo;
    lcp.hi = lcp_hi;
    lcp.findex = lcp_findex;
    return text_is_bad ? "a number is missing" : NULL;
}

/* x KEY STATUS x...: status 0, or the code of the library where that found no solution. */
static void put_lcp(const char *key, int code)
{
    char name[48];
    if (code < 0) {
        refused(key, code, -1);
        fprintf(out, "x %s %d\n", key, code);
        return;
    }
    snprintf(name, sizeof name, "x %s %d", key, code);
    put_wide(name, lcp_x, lcp.n);
}

static void play_lcp_pivoting(const char *key, mdyn_friction_law friction)
{
    lcp.friction_law = friction;
    put_lcp(key, mdyn_lcp_dantzig(&lcp, lcp_x, NULL, lcp_scratch, MDYN_LCP_SCRATCH(LCP_ROWS),
                                  NULL));
}

/* So many iterations from 0 are what was asked for: that the last one still moves something is no
   fault. (The tolerance that none of them meets but by not moving.) */
static void play_lcp_iterations(const char *key, double omega, int iterations)
{
    mdyn_solver solver;
    int code;
    memset(&solver, 0, sizeof solver);
    solver.start = MDYN_COLD;
    solver.iterations = (uint16_t)iterations;
    solver.relaxation = wide(omega);
    solver.tolerance = wide(1e-30);
    code = mdyn_lcp_pgs(&lcp, &solver, lcp_x, NULL, lcp_scratch, MDYN_LCP_SCRATCH(LCP_ROWS), NULL);
    put_lcp(key, code == MDYN_WARN_NOT_CONVERGED ? MDYN_OK : code);
}

static void play_lcp(void)
{
    static const int iterations[] = { 1, 2, 8, 50 };
    int has_friction, i;
    const char *wrong = read_lcp(&has_friction);
    if (wrong != NULL) {
        skip(wrong);
        return;
    }
    fprintf(out, "case %s\n", now->id);
    play_lcp_pivoting(has_friction ? "two_stage" : "box", MDYN_TWO_STAGE);
    if (has_friction)
        play_lcp_pivoting("coupled", MDYN_PYRAMID);
    for (i = 0; i < 8; i++) {
        char key[32];
        snprintf(key, sizeof key, "pgs:%s:%d", i < 4 ? "1" : "1.3", iterations[i % 4]);
        play_lcp_iterations(key, i < 4 ? 1 : 1.3, iterations[i % 4]);
    }
    fprintf(out, "end\n");
}

static void play(const char *kind)
{
    static const struct {
        const char *kind;
        void (*play)(void);
    } kinds[] = { { "trees", play_tree },      { "mimic", play_mimic }, { "robots", play_robot },
                  { "traj", play_trajectory }, { "misc", play_misc },   { "lcp", play_lcp },
                  { "log", play_log } };
    size_t i;
    cases_seen++;
    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kind, kinds[i].kind) == 0) {
            kinds[i].play();
            return;
        }
    }
    skip("a file of unknown kind");
}

/* ----------------------------------------------------------------------------------- main */

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    size_t size = 0, room = 1 << 16, got;
    char *text = f != NULL ? (char *)malloc(room) : NULL;
    while (text != NULL && (got = fread(text + size, 1, room - size - 1, f)) > 0) {
        size += got;
        if (room - size < 2) {
            char *larger = (char *)realloc(text, room *= 2);
            if (larger == NULL)
                free(text);
            text = larger;
        }
    }
    if (text != NULL)
        text[size] = 0;
    if (f != NULL)
        fclose(f);
    return text;
}

/* Cuts the next line off the text and takes the blanks from its end. */
static char *next_line(char **at)
{
    char *line = *at, *end;
    if (*line == 0)
        return NULL;
    end = strchr(line, '\n');
    *at = end != NULL ? end + 1 : line + strlen(line);
    if (end == NULL)
        end = *at;
    while (end > line && (end[-1] == ' ' || end[-1] == '\r' || end[-1] == '\t'))
        end--;
    *end = 0;
    return line;
}

/* Returns 1 if the text was read to its `eof`. */
static int play_all(char *text)
{
    static struct text_case c;
    char kind[16] = "", *line;
    const char *at;
    now = &c;
    while ((line = next_line(&text)) != NULL) {
        if (strncmp(line, "oracle-cases 1 ", 15) == 0) {
            at = line + 15;
            word(&at, kind, sizeof kind);
            fprintf(out, "oracle-%s 1 %s\n", strcmp(kind, "log") == 0 ? "cases" : "results", kind);
        } else if (strncmp(line, "conventions", 11) == 0) {
            if (strcmp(line, "conventions free=child_wv sph=child quat=wxyz") != 0) {
                printf("cannot read: %s\n", line);
                return 0;
            }
            fprintf(out, "%s\n", line);
        } else if (strncmp(line, "case ", 5) == 0) {
            at = line + 5;
            word(&at, c.id, sizeof c.id);
            word(&at, c.group, sizeof c.group);
            c.lines = 0;
        } else if (strcmp(line, "end") == 0) {
            play(kind);
        } else if (strcmp(line, "eof") == 0) {
            fprintf(out, "eof\n");
            return 1;
        } else if (c.lines == MOST_LINES) {
            printf("%s: more than %d lines in a case\n", c.id, MOST_LINES);
            return 0;
        } else {
            c.line[c.lines++] = line;
        }
    }
    printf("the file ends without eof\n");
    return 0;
}

int main(int argc, char **argv)
{
    char *text;
    int complete;
    if (argc != 3) {
        fprintf(stderr, "usage: replay CASES RESULTS\n");
        return 2;
    }
    text = read_file(argv[1]);
    if (text == NULL) {
        fprintf(stderr, "cannot read %s\n", argv[1]);
        return 1;
    }
    out = fopen(argv[2], "w");
    if (out == NULL) {
        fprintf(stderr, "cannot write %s\n", argv[2]);
        free(text);
        return 1;
    }
    complete = play_all(text);
    if (ferror(out))
        complete = 0;
    if (fclose(out) != 0)
        complete = 0;
    printf("%d cases, %d skipped, %d calls refused%s\n", cases_seen, cases_skipped,
           calls_refused, complete ? "" : ", NOT COMPLETE");
    if (states_differ > 0)
        printf("%d states of logs differ\n", states_differ);
    if (logs_stopped > 0)
        printf("%d logs were not played to their end\n", logs_stopped);
    free(text);
    return complete && states_differ == 0 && logs_stopped == 0 ? 0 : 1;
}
