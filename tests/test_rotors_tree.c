/* The build without trees against the build with trees, which solves the same mechanisms by other
   rooms: random rotors with rows of every kind, changed on the way, move the same, with the same
   codes, and every row says the same.

   Of a mechanism all steps are judged up to the first of these, which ends it; how many end so is
   printed, and bounded:
      unsolved    a step says that it has not solved its rows, or that digits are missing, or the
                  rows contradict each other: both builds must then be finite
      undecided   a rounding decides what happens: whether a coupling breaks, whether rows are
                  redundant, or where the build with trees goes, as double arithmetic goes elsewhere
      corrected   positions of rows with a bound are off, and both builds take them back along other
                  ways, which may differ by a part of the error
   Warnings of tables that leave no position are the business of a build with trees alone.
   Where rows share a force that the motion does not tell, as dry friction beside a stop, their sum
   on each joint is compared in place of each of them. */
#define MIMICDYN_TREE 0
#define MIMICDYN_STATIC 1
#define MIMICDYN_MAX_BODIES 5
#define MIMICDYN_MAX_COUPLINGS 5
#define MIMICDYN_MAX_ROWS 20
#define MIMICDYN_SETTINGS 0
#define MIMICDYN_LOSSES 0
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include "rotors_run.h"

/* Of lengths, of velocities, of forces; each of the largest number of its kind so far. */
/*                      F64    F32  FIXED */
TOLERANCE(POSITION,   1e-11,  3e-4,  1e-6);
TOLERANCE(VELOCITY,    1e-8,  1e-3,  1e-5);
TOLERANCE(FORCE,       1e-7,  1e-2,  1e-4);
/* Of velocities in all steps but one in 50: where iterations converge slowly they end earlier. */
TOLERANCE(MOSTLY,     1e-12,  1e-4,  1e-6);

enum { COUPLING, DRIVE, FRICTION, LIMIT };
static mdyn_sim sim;
static rotors_motion now, tree, exact;
static struct { int motions, steps, rows, unsolved, undecided, corrected, shared, slow; } judged;

/* ---- how large the numbers of a motion are so far ---- */

static struct { double q, v, force; } size;

static void grow(double *largest, double x) {
    if (fabs(x) > *largest) *largest = fabs(x);
}

static void measure(const rotors_state *s) {
    for (int k = 0; k < ROTORS; k++) {
        grow(&size.q, s->q[k]);
        grow(&size.v, s->v[k]);
        for (int kind = 0; kind < ROTORS_KINDS; kind++) grow(&size.force, s->row[kind][k].force);
    }
}

/* ---- forces that the motion tells ---- */

/* The coefficients of a row. */
static void find_ratios(const rotors_state *s, int kind, int index, double *J) {
    memset(J, 0, ROTORS * sizeof *J);
    if (kind == COUPLING) memcpy(J, s->link[index].ratio, ROTORS * sizeof *J);
    else J[index] = 1;
}

/* Whether the force of a row is one that only the other rows of its joints leave to it: it has no
   compliance, and is neither 0 nor at the same bound in both builds. */
static int is_open(const rotors_state *a, const rotors_state *b, int kind, int k) {
    const rotors_row *x = &a->row[kind][k], *y = &b->row[kind][k];
    if (x->code != MDYN_OK || kind == DRIVE) return 0;
    if (kind == COUPLING && !a->link[k].hard) return 0;
    if ((x->flags & y->flags & MDYN_ROW_SATURATED) && x->force * y->force > 0) return 0;
    return fabs(x->force) > 0 || fabs(y->force) > 0;
}

/* Whether the coefficients of these rows are linearly independent, by elimination. */
static int are_independent(double J[][ROTORS], int rows) {
    for (int i = 0; i < rows; i++) {
        int pivot = 0;
        for (int k = 1; k < ROTORS; k++)
            if (fabs(J[i][k]) > fabs(J[i][pivot])) pivot = k;
        if (fabs(J[i][pivot]) < 0.1) return 0;
        for (int j = i + 1; j < rows; j++) {
            const double f = J[j][pivot] / J[i][pivot];
            for (int k = 0; k < ROTORS; k++) J[j][k] -= f * J[i][k];
        }
    }
    return 1;
}

static int tells_forces(const rotors_state *a, const rotors_state *b) {
    double J[ROTORS_KINDS * ROTORS][ROTORS];
    int rows = 0;
    for (int kind = 0; kind < ROTORS_KINDS; kind++)
        for (int k = 0; k < ROTORS; k++)
            if (is_open(a, b, kind, k)) find_ratios(a, kind, k, J[rows++]);
    return rows <= ROTORS && are_independent(J, rows);
}

/* J^T force of all rows. */
static void sum_forces(const rotors_state *s, double *sum) {
    memset(sum, 0, ROTORS * sizeof *sum);
    for (int kind = 0; kind < ROTORS_KINDS; kind++)
        for (int k = 0; k < ROTORS; k++) {
            double J[ROTORS];
            if (s->row[kind][k].code != MDYN_OK) continue;
            find_ratios(s, kind, k, J);
            for (int i = 0; i < ROTORS; i++) sum[i] += J[i] * s->row[kind][k].force;
        }
}

/* ---- one step ---- */

/* Warnings of what a build without trees does not look for. */
static int is_of_ranges(int code) {
    return code == MDYN_WARN_EMPTY_RANGE || code == MDYN_WARN_FROZEN_RANGE
        || code == MDYN_WARN_LOCKED || code == MDYN_WARN_NEARLY_REDUNDANT;
}

static int is_finite(const rotors_state *s) {
    int finite = 1;
    for (int k = 0; k < ROTORS; k++) {
        finite &= isfinite(s->q[k]) && isfinite(s->v[k]);
        for (int kind = 0; kind < ROTORS_KINDS; kind++) {
            const rotors_row *r = &s->row[kind][k];
            finite &= isfinite(r->force) && isfinite(r->error) && isfinite(r->residual);
        }
    }
    return finite;
}

static int is_unsolved(const rotors_state *s) {
    return s->code == MDYN_WARN_NOT_CONVERGED || s->code == MDYN_WARN_DIGITS
        || s->code == MDYN_WARN_CONTRADICTION || s->project_code == MDYN_WARN_CONTRADICTION
        || s->contradictory > 0 || s->iterations >= ROTORS_ITERATIONS
        || (s->change >= 0 && (s->change_code == MDYN_WARN_CONTRADICTION
                               || s->change_code == MDYN_WARN_NEARLY_REDUNDANT));
}

/* By how much velocities differ, of the largest so far; whether motions do, by half of what is
   allowed. */
static double distance(const rotors_state *a, const rotors_state *b) {
    double worst = 0;
    for (int k = 0; k < ROTORS; k++) worst = worse(worst, fabs(a->v[k] - b->v[k]) / size.v);
    return worst;
}

static int have_parted(const rotors_state *a, const rotors_state *b) {
    double worst = 0;
    for (int k = 0; k < ROTORS; k++) worst = worse(worst, fabs(a->q[k] - b->q[k]) / size.q);
    return worst > POSITION / 2 || distance(a, b) > VELOCITY / 2;
}

/* Whether only coordinates differ, and by no more than errors of limits and couplings, of which
   those of hard couplings without bound agree. */
static int is_corrected(const rotors_state *a, const rotors_state *b) {
    double error = 0, moved = 0;
    for (int k = 0; k < ROTORS; k++) {
        const rotors_row *x = &a->row[COUPLING][k], *y = &b->row[COUPLING][k];
        const rotors_link *l = &a->link[k];
        const int is_exact = l->hard && !l->is_range && !(l->effort > 0);
        if (is_exact && fabs(x->error - y->error) > POSITION * 10 * size.q) return 0;
        grow(&error, y->error);
        if (b->row[LIMIT][k].flags) grow(&error, b->row[LIMIT][k].error);
        grow(&moved, a->q[k] - b->q[k]);
        if (fabs(a->v[k] - b->v[k]) > VELOCITY * size.v) return 0;
    }
    return moved > POSITION * size.q && moved < error;
}

/* Whether the same hard couplings without bound count as redundant. */
static int agree_on_redundant(const rotors_state *a, const rotors_state *b) {
    for (int k = 0; k < ROTORS_COUPLINGS; k++) {
        const rotors_link *l = &a->link[k];
        const int differ = a->row[COUPLING][k].flags ^ b->row[COUPLING][k].flags;
        if (l->hard && !l->is_range && !(l->effort > 0) && (differ & MDYN_ROW_REDUNDANT)) return 0;
    }
    return 1;
}

/* Whether a coupling broke in one build and in the other had a force that reached, or nearly
   reached, its bound, or that it shares with others; or rows are redundant in one build alone; or the scalar moves otherwise than
   double arithmetic does, e. */
static int is_undecided(const rotors_state *a, const rotors_state *b, const rotors_state *e) {
    if (!agree_on_redundant(a, b) || have_parted(b, e)) return 1;
    for (int k = 0; k < ROTORS_COUPLINGS; k++) {
        const rotors_row *x = &a->row[COUPLING][k], *y = &b->row[COUPLING][k];
        const double least = (1 - FORCE) * a->link[k].effort;
        if (!((x->flags ^ y->flags) & MDYN_ROW_RELEASED)) continue;
        if (!tells_forces(a, b) || (fabs(x->force) >= least && fabs(y->force) >= least)) return 1;
    }
    return 0;
}

/* What is allowed to a force: FORCE, and four times what the scalar misses with trees. */
static double allowed(double force, double of_exact) {
    return FORCE * size.force + 4 * fabs(force - of_exact);
}

/* What both builds say of a row. Flags may differ where a force is 0 or at its bound to rounding.
   A range that took no part in a step has no error. The targets in a residual may be errors of
   positions over dt. */
static void compare_row(const rotors_state *a, const rotors_state *b, const rotors_state *e,
                        int kind, int k, int told) {
    const rotors_row *x = &a->row[kind][k], *y = &b->row[kind][k];
    double J[ROTORS], sum = 0;
    if (y->code == MDYN_ERR_REPLACED) return; /* released before it was replaced */
    CHECK_EQUAL(x->code, y->code);
    if (x->code != MDYN_OK || y->code != MDYN_OK) return;
    find_ratios(a, kind, k, J);
    for (int i = 0; i < ROTORS; i++) sum += fabs(J[i]);
    if (told) {
        const double most = allowed(y->force, e->row[kind][k].force);
        CHECK_NEAR(x->force, y->force, most);
        CHECK_NEAR(x->power, y->power, sum * (most * size.v + VELOCITY * size.v * size.force));
    }
    if (fabs(x->error) > 0 && fabs(y->error) > 0)
        CHECK_NEAR(x->error, y->error, POSITION * sum * size.q);
    CHECK_NEAR(x->velocity, y->velocity, VELOCITY * sum * size.v);
    CHECK_NEAR(x->residual, y->residual, sum * (VELOCITY * size.v + 2000 * POSITION * size.q));
    if (told && x->flags != y->flags) {
        const int differ = (x->flags ^ y->flags) & ~MDYN_ROW_REDUNDANT;
        const double bound = kind == COUPLING ? a->link[k].effort : 0;
        const int at_rounding = fabs(x->force) <= FORCE * size.force
            || fabs(y->force) <= FORCE * size.force || kind == DRIVE || kind == FRICTION
            || fabs(fabs(x->force) - bound) <= FORCE * size.force;
        if (differ && !CHECK(at_rounding && !(differ & (MDYN_ROW_RELEASED | MDYN_ROW_CONTRADICTORY))))
            CHECK_NOTE("kind %d, row %d, flags %d %d, force %g\n", kind, k, x->flags, y->flags,
                       x->force);
    }
    judged.rows++;
}

static void compare_step(const rotors_state *a, const rotors_state *b, const rotors_state *e) {
    double x[ROTORS], y[ROTORS];
    const int told = tells_forces(a, b);
    CHECK_EQUAL(a->code, b->code);
    CHECK_EQUAL(a->index, b->index);
    if (!is_of_ranges(b->change_code)) CHECK_EQUAL(a->change_code, b->change_code);
    CHECK_EQUAL(a->project_code, b->project_code);
    CHECK_EQUAL(a->turns, b->turns);
    sum_forces(a, x);
    sum_forces(b, y);
    for (int k = 0; k < ROTORS; k++) {
        CHECK_NEAR(a->q[k], b->q[k], POSITION * size.q);
        CHECK_NEAR(a->v[k], b->v[k], VELOCITY * size.v);
        CHECK_NEAR(x[k], y[k], 10 * FORCE * size.force);
        if (told) CHECK_NEAR(a->share[k], b->share[k], 3 * allowed(b->share[k], e->share[k]));
    }
    for (int kind = 0; kind < ROTORS_KINDS; kind++)
        for (int k = 0; k < ROTORS; k++) compare_row(a, b, e, kind, k, told);
    judged.steps++;
    judged.slow += distance(a, b) > MOSTLY;
    judged.shared += !told;
}

/* ---- how far both are from double arithmetic ---- */

static double log_ratios; /* sum over motions of log(error without trees / error with trees) */
static int ratios;

/* The largest error of a motion, of the largest number of its kind; at least one rounding. */
static double error_of(const rotors_motion *m, int steps) {
    double worst = check_epsilon, q = 1, v = 1;
    for (int n = 0; n < steps; n++)
        for (int k = 0; k < ROTORS; k++) {
            const rotors_state *s = &m->state[n], *e = &exact.state[n];
            grow(&q, e->q[k]);
            grow(&v, e->v[k]);
            grow(&worst, (s->q[k] - e->q[k]) / q);
            grow(&worst, (s->v[k] - e->v[k]) / v);
        }
    return worst;
}

static void measure_errors(int steps) {
    const double ours = error_of(&now, steps), theirs = error_of(&tree, steps);
    if (steps == 0) return;
    log_ratios += log(ours / theirs);
    ratios++;
}

/* ---- a mechanism ---- */

/* Returns how many steps were judged and passed. */
static int compare(uint32_t seed, rotors_family family) {
    long failed;
    size.q = size.v = size.force = 1;
    judged.motions++;
    if (!is_of_ranges(tree.init_code) && (!CHECK_EQUAL(now.init_code, tree.init_code)
        || !CHECK_EQUAL(now.init_index, tree.init_index)))
        CHECK_NOTE("mechanism %u of family %d\n", (unsigned)seed, (int)family);
    failed = check.failed;
    for (int n = 0; n < now.steps && n < tree.steps; n++) {
        const rotors_state *a = &now.state[n], *b = &tree.state[n];
        CHECK(is_finite(a));
        if (is_unsolved(a) || is_unsolved(b)) {
            judged.unsolved++;
            return n;
        }
        measure(b);
        if (n >= exact.steps || is_undecided(a, b, &exact.state[n])) {
            judged.undecided++;
            return n;
        }
        if (is_corrected(a, b)) {
            judged.corrected++;
            return n;
        }
        compare_step(a, b, &exact.state[n]);
        if (check.failed > failed) {
            CHECK_NOTE("mechanism %u of family %d, step %d, change %d\n", (unsigned)seed,
                       (int)family, n, a->change);
            return 0;
        }
    }
    CHECK_EQUAL(now.steps, tree.steps);
    return now.steps;
}

/* Tables spoilt in one or two places: the same codes, and nothing but finite numbers after. */
static void compare_verdicts(uint32_t count) {
    int refused = 0;
    for (uint32_t n = 1; n <= count; n++) {
        const uint32_t seed = (uint32_t)random_int(1000000) + n * 1000003u;
        rotors_verdict ours, theirs;
        rotors_judge(&sim, seed, &ours);
        rotors_judge_tree(seed, &theirs);
        if (theirs.code == MDYN_ERR_JOINT && ours.code == MDYN_ERR_TREE) ours.code = theirs.code;
        if (theirs.body_code == MDYN_ERR_FROZEN) ours.body_code = theirs.body_code;
        const int same = (ours.code == theirs.code && ours.index == theirs.index)
            || (ours.code >= 0 && theirs.code >= 0);
        if (!CHECK(same && ours.finite))
            CHECK_NOTE("tables %u: codes %d %d, index %d %d\n", (unsigned)seed, ours.code,
                       theirs.code, ours.index, theirs.index);
        if (ours.code < 0 || theirs.code < 0) {
            refused++;
            continue;
        }
        if (!CHECK((ours.coupling_code < 0) == (theirs.coupling_code < 0))
            || !CHECK((ours.body_code < 0) == (theirs.body_code < 0)))
            CHECK_NOTE("replacements %u: %d %d, %d %d\n", (unsigned)seed, ours.body_code,
                       theirs.body_code, ours.coupling_code, theirs.coupling_code);
    }
    CHECK(refused > (int)count / 4);
}

int main(int argc, char **argv) {
    const uint32_t count = TEST_SOAK ? 2000 : 200;
    check_begin(argc, argv);
    for (uint32_t n = 1; n <= count; n++) {
        const uint32_t seed = (uint32_t)random_int(1000000) + n * 1000003u;
        const rotors_family family = (rotors_family)(n % ROTORS_FAMILIES);
        rotors_run(&sim, seed, family, &now);
        rotors_run_tree(seed, family, &tree);
        rotors_run_exact(seed, family, &exact);
        measure_errors(compare(seed, family));
    }
    printf("%d mechanisms, %d steps and %d rows judged; %d ended unsolved, %d undecided, %d "
           "corrected; in %d steps rows share a force, %d are near\n", judged.motions, judged.steps, judged.rows,
           judged.unsolved, judged.undecided, judged.corrected,
           judged.shared, judged.slow);
    printf("errors against double arithmetic: %.2f times those with trees, the mean of %d\n",
           exp(log_ratios / ratios), ratios);
    CHECK(ratios > (int)count / 2);
    CHECK(log_ratios <= ratios * log(1.5));
    CHECK(judged.slow <= judged.steps / 50);
    CHECK(judged.steps > 60 * (int)count);
    CHECK(judged.unsolved < (int)count / 3);
    CHECK(judged.undecided < (int)count / 8);
    CHECK(judged.corrected < (int)count / 4);
    compare_verdicts(10 * count);
    return check_end();
}
