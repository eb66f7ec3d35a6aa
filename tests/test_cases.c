/* test_cases.c - compares what replay made of tests/cases/KIND.cases with KIND.expected.

   build   cc -std=c99 -O2 tests/test_cases.c -o build/test_cases
   run     build/test_cases RESULTS EXPECTED SCALE [LEFT_OUT...]

   Every error is taken in the unit that suits the quantity: an element of M against the square
   root of its two diagonal elements, a speed against the largest after each is weighed with the
   square root of its inertia, and so on: the column `measure` of the table below. SCALE
   multiplies the tolerances. Measured, with room of 3 and more: F64 passes with 0.1 (the worst is a
   chain of 30, with 0.02); F32 with 1e7 for trees and misc, 1e6 for mimic and robots, 1e4 for
   traj, whose tolerances are wide for the double build.

   A number that is expected and is not there counts as a failure. LEFT_OUT names groups or cases
   that the library has nothing for yet; they are listed, and it is a failure if results for one
   of them exist after all, so that the list cannot outlive its reason.

   Exit: 0 all is well, 1 something is off or missing, 2 usage or a file that cannot be read. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NUMBERS = 40000, MOST_MESSAGES = 40 };

/* ---------------------------------------------------------------------------------- files */

struct file {
    const char *path;
    char **line;
    int lines;
};

struct lines { /* one case of a file: its lines between `case` and `end` */
    const struct file *file;
    int first, end;
};

static void give_up(const char *what, const char *path)
{
    fprintf(stderr, "test_cases: %s: %s\n", what, path);
    exit(2);
}

static void *grow(void *old, size_t size)
{
    void *p = realloc(old, size);
    if (p == NULL)
        give_up("no memory", "");
    return p;
}

static struct file read_lines(const char *path)
{
    struct file f = { NULL, NULL, 0 };
    FILE *in = fopen(path, "rb");
    char *text = NULL, *at;
    size_t size = 0, got = 1;
    if (in == NULL)
        give_up("cannot read", path);
    f.path = path;
    while (got > 0) {
        text = (char *)grow(text, size + 65536 + 1);
        got = fread(text + size, 1, 65536, in);
        size += got;
    }
    fclose(in);
    text[size] = 0;
    for (at = text; *at != 0;) {
        char *end = strchr(at, '\n');
        f.line = (char **)grow(f.line, sizeof f.line[0] * (size_t)(f.lines + 1));
        f.line[f.lines++] = at;
        if (end == NULL)
            break;
        *end = 0;
        at = end + 1;
    }
    if (f.lines == 0 || strcmp(f.line[f.lines - 1], "eof") != 0)
        give_up("does not end with eof", path);
    return f;
}

static void free_lines(struct file *f)
{
    free(f->line[0]); /* the text begins with its first line */
    free(f->line);
}

/* Copies the k-th word of a line; an empty word if there are fewer. */
static void word(const char *line, int k, char *to, size_t size)
{
    size_t n = 0;
    for (;;) {
        while (*line == ' ')
            line++;
        if (k-- == 0 || *line == 0)
            break;
        while (*line != 0 && *line != ' ')
            line++;
    }
    for (; *line != 0 && *line != ' '; line++)
        if (n + 1 < size)
            to[n++] = *line;
    to[n] = 0;
}

/* The numbers behind the first `words` words; -1 if something else stands there. */
static int numbers(const char *line, int words, double *x)
{
    int n = 0;
    char *end;
    while (words-- > 0) {
        while (*line == ' ')
            line++;
        while (*line != 0 && *line != ' ')
            line++;
    }
    for (;;) {
        while (*line == ' ' || *line == '\r')
            line++;
        if (*line == 0)
            return n;
        if (n == MOST_NUMBERS)
            return -1;
        x[n++] = strtod(line, &end);
        if (end == line)
            return -1;
        line = end;
    }
}

static int same_words(const char *a, const char *b, int words)
{
    char x[64], y[64];
    int i;
    for (i = 0; i < words; i++) {
        word(a, i, x, sizeof x);
        word(b, i, y, sizeof y);
        if (strcmp(x, y) != 0)
            return 0;
    }
    return 1;
}

/* The line of a case whose first words are those of `like`, or -1. */
static int find(const struct lines *c, const char *like, int words)
{
    int i;
    for (i = c->first; i < c->end; i++)
        if (same_words(c->file->line[i], like, words))
            return i;
    return -1;
}

/* The numbers of the line `key` of a case; how many, 0 if there is no such line. */
static int numbers_of(const struct lines *c, const char *key, double *x)
{
    int words = strchr(key, ' ') != NULL ? 2 : 1, i = find(c, key, words), n;
    n = i >= 0 ? numbers(c->file->line[i], words, x) : 0;
    return n > 0 ? n : 0;
}

/* The next case at or after line `from`; 0 if there is none. */
static int next_case(const struct file *f, int from, struct lines *c, char *id, char *group)
{
    int i = from;
    while (i < f->lines && strncmp(f->line[i], "case ", 5) != 0)
        i++;
    if (i >= f->lines)
        return 0;
    word(f->line[i], 1, id, 64);
    word(f->line[i], 2, group, 64);
    c->file = f;
    c->first = c->end = i + 1;
    while (c->end < f->lines && strcmp(f->line[c->end], "end") != 0)
        c->end++;
    return 1;
}

static int find_case(const struct file *f, const char *id, struct lines *c)
{
    char its_id[64], group[64];
    int at = 0;
    while (next_case(f, at, c, its_id, group)) {
        if (strcmp(its_id, id) == 0)
            return 1;
        at = c->end;
    }
    return 0;
}

/* -------------------------------------------------------------------------- the quantities */

typedef enum measure {
    EACH,      /* |x - want| / |want|: numbers that have nothing to do with each other */
    KINETIC,   /* the same, but not below 1e-9 J */
    LARGEST,   /* / the largest wanted number of all lines of this key in the case */
    ABSOLUTE,  /* / 1 */
    MATRIX,    /* ij / sqrt(Mii Mjj) */
    FORCE,     /* i / (sqrt(Mii) max |want_j| / sqrt(Mjj)) */
    SPEED,     /* i sqrt(Mii) / max |want_j| sqrt(Mjj) */
    STEP,      /* i sqrt(Mii) / speed_scale: the speeds before and after the rows */
    IMPULSE,   /* i sqrt(r_i + cfm_i) / max |want_j| sqrt(r_j + cfm_j) */
    RESPONSE,  /* rAA, rBB: / itself; rAB, rBA: / sqrt(rAA rBB); wanted 0: 1e-15 of it */
    ENERGY,    /* / pe_scale */
    QUATERNION,/* / 1, of whichever sign */
    SAMPLE,    /* / the largest coordinate, the largest speed of the whole motion */
    COURSE,    /* coordinates, speeds / cont_tolerance: against the motion without steps */
    TWIST,     /* / (1 + |want|^2 / tolerance): a first-order error is allowed */
    OWN        /* not a comparison of numbers: see the function */
} measure;

struct rule {
    const char *kind, *key;
    int words; /* that name the line: the key and what it is of */
    measure measure;
    double tolerance;
    const char *easier; /* groups that are held to easier_tolerance */
    double easier_tolerance;
};

/* The tolerances are those of the reference cases. Light joints beneath heavy ones and chains of
   30 lose digits in M^-1 by their condition number, and so does a gear ratio of 1000. */
static const struct rule rules[] = {
    { "trees", "H", 1, MATRIX, 1e-12, "", 0 },
    { "trees", "C", 1, FORCE, 1e-11, "", 0 },
    { "trees", "qdd", 1, SPEED, 1e-10, "mass_ratio long_chain", 1e-8 },
    { "trees", "ke", 1, KINETIC, 1e-12, "", 0 },
    { "trees", "pe", 1, ENERGY, 1e-12, "", 0 },
    { "trees", "r", 3, RESPONSE, 1e-10, "mass_ratio long_chain", 1e-8 },
    { "trees", "column", 2, SPEED, 1e-10, "mass_ratio long_chain", 1e-8 },
    { "trees", "linkpos", 2, LARGEST, 1e-12, "", 0 },
    { "trees", "linkquat", 2, QUATERNION, 1e-12, "", 0 },
    { "trees", "linkvel", 2, LARGEST, 1e-12, "", 0 },
    { "robots", "H", 1, MATRIX, 1e-11, "", 0 },
    { "robots", "C", 1, FORCE, 1e-10, "", 0 },
    { "robots", "qdd", 1, SPEED, 1e-9, "", 0 },
    { "robots", "ke", 1, KINETIC, 1e-11, "", 0 },
    { "robots", "pe", 1, ENERGY, 1e-11, "", 0 },
    { "robots", "r", 3, RESPONSE, 1e-9, "", 0 },
    { "robots", "column", 2, SPEED, 1e-9, "", 0 },
    { "robots", "qdd_mimic", 1, SPEED, 1e-9, "", 0 },
    { "robots", "step_v", 1, SPEED, 1e-9, "", 0 },
    { "robots", "step_lam", 1, LARGEST, 1e-8, "", 0 },
    { "mimic", "vstar", 1, STEP, 1e-10, "", 0 },
    { "mimic", "r", 2, RESPONSE, 1e-10, "", 0 },
    { "mimic", "exact_v", 1, STEP, 1e-10, "extreme", 1e-8 },
    { "mimic", "exact_lam", 1, IMPULSE, 1e-9, "extreme", 1e-7 },
    { "mimic", "pgs", 3, STEP, 1e-10, "extreme", 1e-8 },
    { "mimic", "tgs", 3, STEP, 2.5e-11, "", 0 },
    { "mimic", "residual", 1, OWN, 1e-9, "", 0 },
    { "mimic", "between", 1, OWN, 1e-9, "", 0 },
    { "traj", "sample", 3, SAMPLE, 1e-7, "long", 1e-6 },
    { "traj", "cont", 3, COURSE, 1.0, "", 0 },
    { "traj", "constraint", 2, OWN, 1e-9, "", 0 },
    { "lcp", "x", 3, SPEED, 1e-13, "", 0 },
    { "lcp", "solved", 2, OWN, 5e-14, "", 0 },
    { "misc", "conv", 1, EACH, 1e-13, "", 0 },
    { "misc", "engaged", 1, ABSOLUTE, 1e-12, "", 0 },
    { "misc", "correction", 1, ABSOLUTE, 1e-14, "", 0 },
    { "misc", "T_GD", 1, ABSOLUTE, 1e-11, "", 0 },
    { "misc", "coords", 1, ABSOLUTE, 1e-11, "", 0 },
    { "misc", "err", 1, TWIST, 1e-11, "", 0 },
    { "misc", "row", 2, ABSOLUTE, 1e-11, "", 0 },
    { "misc", "dot", 2, ABSOLUTE, 1e-11, "", 0 },
    { "misc", "qdd", 1, LARGEST, 1e-11, "", 0 },
    { "misc", "q_new", 1, LARGEST, 1e-11, "", 0 },
    { "misc", "v_new", 1, LARGEST, 1e-11, "", 0 },
    { "misc", "two_stage_v", 1, SPEED, 1e-9, "", 0 },
    { "misc", "two_stage_lam", 1, LARGEST, 1e-7, "", 0 }
};
enum { RULES = sizeof rules / sizeof rules[0] };

/* Lines of an expected file that only serve the comparison. */
static const char *const helpers[] = { "pe_scale", "weights", "speed_scale", "lam_weights", "J",
                                       "A", "b", "cfm", "lo", "hi", "dims", "quaternions",
                                       "cont_tolerance", "law" };

struct tally {
    int count, off, missing;
    double worst, tolerance; /* error nearest to its tolerance, and that tolerance */
};

static struct tally tallies[RULES];
static double scale_of_tolerances;
static int messages, unknown_lines;

static double absolute(double x) { return x < 0 ? -x : x; }
static double larger(double a, double b) { return a >= b || a != a ? a : b; } /* keeps NaN */

static double root(double x) /* Newton from above; exact to rounding, and no libm */
{
    double y = x > 1 ? x : 1, z = y;
    if (!(x > 0))
        return 0;
    do {
        y = z;
        z = 0.5 * (y + x / y);
    } while (z < y);
    return y;
}

static int has_word(const char *list, const char *name)
{
    size_t n = strlen(name);
    const char *at = list;
    while ((at = strstr(at, name)) != NULL) {
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0))
            return 1;
        at += n;
    }
    return 0;
}

static double tolerance_of(const struct rule *r, const char *group)
{
    double t = has_word(r->easier, group) ? r->easier_tolerance : r->tolerance;
    /* COURSE is a distance to the motion itself, hundreds of rounding errors wide */
    return r->measure == COURSE ? t : t * scale_of_tolerances;
}

/* A case as it is being compared. */
struct pair {
    const char *id, *group;
    struct lines want, got;
};

static int may_speak(void)
{
    if (messages++ == MOST_MESSAGES)
        printf("(more are counted, but not shown)\n");
    return messages <= MOST_MESSAGES;
}

static void missing(const struct pair *p, int rule, int line)
{
    tallies[rule].missing++;
    if (may_speak())
        printf("%s:%d: %s %.40s: missing\n", p->want.file->path, line + 1, p->id,
               p->want.file->line[line]);
}

/* Books an error: `got` and `wanted` are the two numbers that it lies between. */
static void score(const struct pair *p, int rule, int line, double error, double got,
                  double wanted)
{
    struct tally *t = &tallies[rule];
    double tolerance = tolerance_of(&rules[rule], p->group);
    int off = !(error <= tolerance);
    t->count++;
    t->off += off;
    if (t->count == 1 || !(error / tolerance <= t->worst / t->tolerance)) {
        t->worst = error;
        t->tolerance = tolerance;
    }
    if (off && may_speak())
        printf("%s:%d: %s %.20s...: %.17g, wanted %.17g: error %.2e, tolerance %.1e\n",
               p->want.file->path, line + 1, p->id, p->want.file->line[line], got, wanted, error,
               tolerance);
}

/* ------------------------------------------------------------------------------- measures */

static double want[MOST_NUMBERS], got[MOST_NUMBERS], unit[MOST_NUMBERS];
static double weight[MOST_NUMBERS], other[MOST_NUMBERS];

/* sqrt(Mii), from the line `weights` or from H; how many. */
static int read_weights(const struct pair *p)
{
    int n = numbers_of(&p->want, "weights", weight), all, i;
    if (n > 0)
        return n;
    all = numbers_of(&p->want, "H", other);
    while (n * n < all)
        n++;
    for (i = 0; i < n; i++)
        weight[i] = root(other[i * n + i]);
    return n;
}

/* unit_i = max_j(|want_j| weight_j) / weight_i */
static void weighted_units(int n, double least)
{
    double most = least;
    int i;
    for (i = 0; i < n; i++)
        most = larger(most, absolute(want[i]) * weight[i]);
    for (i = 0; i < n; i++)
        unit[i] = most / weight[i];
}

static void all_units(int n, double x)
{
    int i;
    for (i = 0; i < n; i++)
        unit[i] = x;
}

/* The largest number of all lines of this key from `first` on, `from` to `to` of each. */
static double largest(const struct pair *p, const struct rule *r, int from, int to)
{
    double most = 0;
    int line, n, i;
    for (line = p->want.first; line < p->want.end; line++) {
        if (!same_words(p->want.file->line[line], r->key, 1))
            continue;
        n = numbers(p->want.file->line[line], r->words, other);
        for (i = from; i < n && i < to; i++)
            most = larger(most, absolute(other[i]));
    }
    return most;
}

/* q and -q are one rotation: takes the sign of `got` that is nearer to `want`. */
static void align(int at)
{
    double dot = 0;
    int i;
    for (i = at; i < at + 4; i++)
        dot += want[i] * got[i];
    for (i = at; i < at + 4 && dot < 0; i++)
        got[i] = -got[i];
}

static void align_sample(const struct pair *p, int n)
{
    int count = numbers_of(&p->want, "quaternions", other), i;
    for (i = 0; i < count; i++)
        if ((int)other[i] + 4 <= n)
            align((int)other[i]);
}

/* Coordinates in one unit, speeds in another. */
static void sample_units(const struct pair *p, int n, double of_q, double of_v)
{
    int i, nq = numbers_of(&p->want, "dims", other) == 2 ? (int)other[0] : 0;
    for (i = 0; i < n; i++)
        unit[i] = i < nq ? of_q : of_v;
}

static void response_units(const struct rule *r)
{
    double s = root(want[0] * want[3]);
    unit[0] = want[0];
    unit[3] = want[3];
    unit[1] = unit[2] = s;
    if (want[1] == 0 && want[2] == 0) /* across a fixed root nothing may get through */
        unit[1] = unit[2] = s * 1e-15 / r->tolerance;
}

/* Fills `unit`; 0 if the expected file lacks what is needed for it. */
static int set_units(const struct pair *p, const struct rule *r, int n)
{
    int i, m, nq;
    double x = 0;
    switch (r->measure) {
    case EACH:
        for (i = 0; i < n; i++)
            unit[i] = larger(absolute(want[i]), 1e-300);
        return 1;
    case KINETIC:
        all_units(n, larger(absolute(want[0]), 1e-9));
        return n == 1;
    case LARGEST:
        all_units(n, larger(largest(p, r, 0, MOST_NUMBERS), 1e-12));
        return 1;
    case MATRIX:
        m = read_weights(p);
        for (i = 0; i < n && m > 0; i++)
            unit[i] = weight[i / m] * weight[i % m];
        return m * m == n;
    case FORCE:
        m = read_weights(p);
        for (i = 0; i < m; i++)
            weight[i] = 1 / weight[i];
        weighted_units(m, 1e-9);
        return m == n;
    case SPEED:
        m = read_weights(p);
        weighted_units(m, 1e-12);
        return m == n;
    case STEP:
        m = read_weights(p);
        for (i = 0; i < m && numbers_of(&p->want, "speed_scale", &x) == 1; i++)
            unit[i] = x / weight[i];
        return m == n && x > 0;
    case IMPULSE:
        m = numbers_of(&p->want, "lam_weights", weight);
        weighted_units(m, 1e-12);
        return m == n;
    case RESPONSE:
        response_units(r);
        return n == 4;
    case ENERGY:
        m = numbers_of(&p->want, "pe_scale", &x);
        all_units(n, larger(x, 1e-9));
        return m == 1;
    case QUATERNION:
        align(0);
        all_units(n, 1);
        return n == 4;
    case SAMPLE:
        nq = numbers_of(&p->want, "dims", other) == 2 ? (int)other[0] : 0;
        x = larger(largest(p, r, nq, MOST_NUMBERS), 1e-3);
        sample_units(p, n, larger(largest(p, r, 0, nq), 1e-3), x);
        align_sample(p, n);
        return nq > 0;
    case COURSE:
        m = numbers_of(&p->want, "cont_tolerance", weight);
        sample_units(p, n, weight[0], weight[1]);
        align_sample(p, n);
        return m == 2;
    case TWIST:
        for (i = 0; i < n; i++)
            x += want[i] * want[i];
        all_units(n, 1 + x / r->tolerance);
        return 1;
    case ABSOLUTE:
    case OWN:
    default:
        all_units(n, 1);
        return 1;
    }
}

static void compare_line(const struct pair *p, int rule, int line)
{
    const struct rule *r = &rules[rule];
    const char *text = p->want.file->line[line];
    char like[160];
    int at, n = numbers(text, r->words, want), m, i, worst = 0;
    double error = 0, e;
    snprintf(like, sizeof like, "%.150s", text);
    if (r->measure == COURSE) /* compared with the samples */
        snprintf(like, sizeof like, "sample%.150s", text + strlen(r->key));
    at = find(&p->got, like, r->words);
    if (at < 0) {
        missing(p, rule, line);
        return;
    }
    m = numbers(p->got.file->line[at], r->words, got);
    if (n < 1 || n != m || !set_units(p, r, n)) {
        printf("%s:%d: %s %s: %d numbers, wanted %d\n", p->want.file->path, line + 1, p->id,
               r->key, m, n);
        score(p, rule, line, 1e300, 0, 0);
        return;
    }
    for (i = 0; i < n; i++) {
        e = absolute(got[i] - want[i]) / unit[i];
        if (want[i] == got[i])
            e = 0; /* infinite, both */
        if (!(e <= error)) {
            error = e;
            worst = i;
        }
        if (e != e)
            break;
    }
    score(p, rule, line, error, got[worst], want[worst]);
}

/* ---------------------------------------------------------------- tests of their own kind */

static double row_speed(const struct pair *p, int row, const double *v, int n, double *size)
{
    char key[32];
    double speed = 0;
    int m, i;
    snprintf(key, sizeof key, "J %d", row);
    m = numbers_of(&p->want, key, other);
    for (i = 0; i < m && i < n; i++) {
        speed += other[i] * v[i];
        *size += absolute(other[i] * v[i]);
    }
    return speed;
}

static int is_at(double x, double bound)
{
    return absolute(x - bound) <= 1e-12 * scale_of_tolerances * absolute(bound);
}

/* The rows of a case: what they ask, and the bounds of their forces. */
static double row_b[MOST_NUMBERS], row_lo[MOST_NUMBERS], row_hi[MOST_NUMBERS];

/* How many there are. */
static int read_rows(const struct pair *p)
{
    numbers_of(&p->want, "lo", row_lo);
    numbers_of(&p->want, "hi", row_hi);
    return numbers_of(&p->want, "b", row_b);
}

/* w = J v' + b + cfm lam must be 0, or lam at a bound and w of the right sign. At a bound means
   to rounding: 1e-12 of it, times SCALE. */
static void compare_residual(const struct pair *p, int rule, int line)
{
    static double lam[MOST_NUMBERS], cfm[MOST_NUMBERS];
    int nv = numbers_of(&p->got, "exact_v", got), rows = numbers_of(&p->got, "exact_lam", lam);
    int free_v = numbers_of(&p->want, "vstar", want), i;
    double error = 0, w, size, unused;
    numbers_of(&p->want, "cfm", cfm);
    if (nv == 0 || nv != free_v || rows == 0 || rows != read_rows(p)) {
        missing(p, rule, line);
        return;
    }
    for (i = 0; i < rows; i++) {
        size = absolute(row_b[i]) + 1e-300;
        unused = 0;
        row_speed(p, i, want, free_v, &size);
        w = row_speed(p, i, got, nv, &unused) + row_b[i] + cfm[i] * lam[i];
        if ((is_at(lam[i], row_lo[i]) && w > 0) || (is_at(lam[i], row_hi[i]) && w < 0))
            w = 0;
        error = larger(error, absolute(w) / size);
    }
    score(p, rule, line, error, error, 0);
}

/* Two rows that contradict: each row's speed lies between what the two of them ask for. */
static void compare_between(const struct pair *p, int rule, int line)
{
    int nv = numbers_of(&p->got, "exact_v", got), rows = read_rows(p), i;
    double low = 1e300, high = -1e300, error = 0, speed, beyond, size = 0;
    if (nv == 0) {
        missing(p, rule, line);
        return;
    }
    for (i = 0; i < rows; i++) {
        low = -row_b[i] < low ? -row_b[i] : low;
        high = larger(high, -row_b[i]);
    }
    for (i = 0; i < rows; i++) {
        speed = row_speed(p, i, got, nv, &size);
        beyond = larger(low - speed, speed - high) / (absolute(low) + absolute(high));
        error = larger(error, beyond);
    }
    score(p, rule, line, error, error, 0);
}

/* solved KEY: of several solutions x KEY gives one, with status 0. The largest |d| A_ii over
   |b_i| + sum |A_ij x_j|, where d is -w_i / A_ii held so that x_i + d is within the bounds. */
static void compare_solved(const struct pair *p, int rule, int line)
{
    const double *x = got + 1;
    char key[32] = "x ", of_A[32];
    double error = 0, w, d, size;
    int n = read_rows(p), i, j;
    word(p->want.file->line[line], 1, key + 2, sizeof key - 2);
    if (n == 0 || numbers_of(&p->got, key, got) != n + 1) {
        missing(p, rule, line);
        return;
    }
    for (i = 0; i < n; i++) {
        snprintf(of_A, sizeof of_A, "A %d", i);
        error = numbers_of(&p->want, of_A, other) == n && got[0] == 0 ? error : 1e300;
        w = -row_b[i];
        size = absolute(w);
        for (j = 0; j < n; j++) {
            w += other[j] * x[j];
            size += absolute(other[j] * x[j]);
        }
        d = larger(row_lo[i] - x[i], -w / other[i]);
        d = d > row_hi[i] - x[i] ? row_hi[i] - x[i] : d;
        if (d != 0)
            error = larger(error, absolute(d) * other[i] / size);
    }
    score(p, rule, line, error, error, 0);
}

/* constraint K LIMIT OFFSET c...: c q + OFFSET stays 0, or at `law K`, at all samples, to
   LIMIT and the tolerance. */
static void compare_constraint(const struct pair *p, int rule, int line)
{
    static double law[MOST_NUMBERS];
    const struct file *f = p->got.file;
    char key[32];
    int n = numbers(p->want.file->line[line], 2, want), laws, m, i, k, seen = 0;
    double error = 0, c;
    word(p->want.file->line[line], 1, key + 4, sizeof key - 4);
    memcpy(key, "law ", 4);
    laws = numbers_of(&p->want, key, law);
    for (k = p->got.first; k < p->got.end; k++) {
        if (!same_words(f->line[k], "sample", 1))
            continue;
        m = numbers(f->line[k], 3, got);
        c = want[1] - (seen < laws ? law[seen] : 0);
        for (i = 2; i < n && i - 2 < m; i++)
            c += want[i] * got[i - 2];
        error = larger(error, absolute(c) - want[0]);
        seen++;
    }
    if (seen == 0 || (laws > 0 && laws != seen))
        missing(p, rule, line);
    else
        score(p, rule, line, error, error, 0);
}

static void compare(const struct pair *p, int rule, int line)
{
    if (strcmp(rules[rule].key, "residual") == 0)
        compare_residual(p, rule, line);
    else if (strcmp(rules[rule].key, "between") == 0)
        compare_between(p, rule, line);
    else if (strcmp(rules[rule].key, "solved") == 0)
        compare_solved(p, rule, line);
    else if (strcmp(rules[rule].key, "constraint") == 0)
        compare_constraint(p, rule, line);
    else
        compare_line(p, rule, line);
}

/* ------------------------------------------------------------------------------ all cases */

static int is_helper(const char *line)
{
    size_t i;
    for (i = 0; i < sizeof helpers / sizeof helpers[0]; i++)
        if (same_words(line, helpers[i], 1))
            return 1;
    return 0;
}

static void compare_case(const struct pair *p, const char *kind)
{
    int line, i;
    for (line = p->want.first; line < p->want.end; line++) {
        const char *text = p->want.file->line[line];
        for (i = 0; i < RULES; i++)
            if (strcmp(rules[i].kind, kind) == 0 && same_words(text, rules[i].key, 1))
                break;
        if (i < RULES) {
            compare(p, i, line);
        } else if (!is_helper(text)) {
            printf("%s:%d: %.40s: no rule for this line\n", p->want.file->path, line + 1, text);
            unknown_lines++;
        }
    }
}

/* The line `rejected` is an answer where a robust library may refuse the model. */
static int was_declined(const struct pair *p)
{
    if (strcmp(p->group, "robust") != 0 || find(&p->got, "rejected", 1) < 0)
        return 0;
    printf("%s (%s): the model was refused, which is allowed\n", p->id, p->group);
    return 1;
}

/* Returns how many failures there are beside those in the table. */
static int compare_files(const struct file *expected, const struct file *results,
                         const char *kind, char **left_out, int left_outs)
{
    struct pair p;
    struct lines nothing;
    char id[64], group[64];
    int at = 0, i, bad = 0, cases = 0, used, *uses;
    uses = (int *)grow(NULL, sizeof *uses * (size_t)(left_outs + 1));
    memset(uses, 0, sizeof *uses * (size_t)(left_outs + 1));
    nothing.file = results;
    nothing.first = nothing.end = 0;
    for (; next_case(expected, at, &p.want, id, group); at = p.want.end) {
        int there = find_case(results, id, &p.got);
        p.id = id;
        p.group = group;
        if (!there)
            p.got = nothing;
        used = 0;
        for (i = 0; i < left_outs; i++) {
            if (strcmp(left_out[i], id) == 0 || strcmp(left_out[i], group) == 0) {
                uses[i]++;
                used = 1;
            }
        }
        if (used && there) {
            printf("%s (%s): there are results: no reason to leave it out\n", id, group);
            bad++;
        }
        if (used || was_declined(&p))
            continue;
        compare_case(&p, kind);
        cases++;
    }
    for (i = 0; i < left_outs; i++) {
        printf("left out: %s, %d cases\n", left_out[i], uses[i]);
        bad += uses[i] == 0;
    }
    free(uses);
    if (cases == 0)
        printf("%s: nothing to compare\n", expected->path);
    return bad + (cases == 0);
}

static int report(const char *kind)
{
    int i, bad = 0, total = 0;
    printf("%-8s %-14s %6s %5s %7s %10s %10s\n", kind, "quantity", "count", "off", "missing",
           "worst", "tolerance");
    for (i = 0; i < RULES; i++) {
        const struct tally *t = &tallies[i];
        if (t->count == 0 && t->missing == 0)
            continue;
        printf("%-8s %-14s %6d %5d %7d %10.2e %10.1e  %s\n", kind, rules[i].key, t->count, t->off,
               t->missing, t->worst, t->tolerance, t->off + t->missing == 0 ? "PASS" : "FAIL");
        bad += t->off + t->missing;
        total += t->count + t->missing;
    }
    printf("%s: %d comparisons, %d failures\n", kind, total, bad);
    return bad + (total == 0);
}

int main(int argc, char **argv)
{
    struct file expected, results;
    char kind[64], results_kind[64], *end;
    int bad;
    if (argc < 4) {
        fprintf(stderr, "usage: test_cases RESULTS EXPECTED SCALE [LEFT_OUT...]\n");
        return 2;
    }
    results = read_lines(argv[1]);
    expected = read_lines(argv[2]);
    scale_of_tolerances = strtod(argv[3], &end);
    if (*end != 0 || !(scale_of_tolerances > 0))
        give_up("SCALE is no positive number", argv[3]);
    word(expected.line[0], 2, kind, sizeof kind);
    word(results.line[0], 2, results_kind, sizeof results_kind);
    if (strcmp(kind, results_kind) != 0)
        give_up("results and expected numbers are of two kinds", argv[1]);
    bad = compare_files(&expected, &results, kind, argv + 4, argc - 4) + unknown_lines;
    bad += report(kind);
    printf("%s\n", bad == 0 ? "PASS" : "FAIL");
    free_lines(&results);
    free_lines(&expected);
    return bad == 0 ? 0 : 1;
}
