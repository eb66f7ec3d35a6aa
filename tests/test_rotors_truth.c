/* The build without trees against laws written out by the test (rotors_truth.h). Single steps of
   small random mechanisms: velocities against trying every choice of which bounded row is where.
   Many steps of larger ones: the equation of motion by the forces that are read back, and the law
   of every row by its own force and the motion. */
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
#include "rotors_truth.h"

/* Of velocities, of impulses times inverse masses; each of the largest velocity of the step. */
/*                    F64   F32  FIXED */
TOLERANCE(SOLVED,   1e-12, 3e-5, 3e-6);
TOLERANCE(BALANCED, 1e-13, 3e-5, 2e-5);
TOLERANCE(LAWFUL,    2e-7, 5e-4, 5e-5);
TOLERANCE(MOVED,    1e-15, 2e-7, 5e-12);

enum { TRIALS = 300, MECHANISMS = 60, STEPS = 100 };
static mdyn_body bodies[TRUTH_DOFS];
static mdyn_coupling couplings[5];
static mdyn_model model;
static mdyn_sim sim;
static rotors_truth want;

/* ---- random mechanisms ---- */

static double some(double low, double high) { return (double)(float)random_in(low, high); }

static void random_body(mdyn_body *b) {
    memset(b, 0, sizeof *b);
    b->parent = MDYN_WORLD;
    b->joint = random_int(3) ? MDYN_REVOLUTE : MDYN_PRISMATIC;
    b->armature = wide(some(0.001, 0.01));
    if (random_int(2)) b->damping = wide(some(0, 0.3));
    if (random_int(2)) b->friction = wide(some(0.01, 0.2));
    if (random_int(2)) b->effort = wide(some(0.1, 1));
    if (random_int(2)) {
        b->drive_kp = wide(random_int(4) ? some(0.1, 50) : 0);
        b->drive_kd = wide(some(0.001, 0.5));
    }
    if (random_int(2)) {
        b->lower = wide(some(-0.002, 0));
        b->upper = wide(some(0.001, 0.002));
    }
}

static void random_softness(mdyn_softness *s) {
    const double a = some(0.1, 0.9), b = some(0.1, 1);
    s->kind = (mdyn_softness_kind)random_int(5);
    s->a = wide(s->kind == MDYN_KP_KD ? 50 * a : s->kind == MDYN_OMEGA_ZETA ? 300 * a : a);
    s->b = wide(b);
}

/* At most one coupling of each kind that is solved exactly on a joint of its own: the truth does
   not solve rows that depend on each other. */
static void random_coupling(mdyn_coupling *c, int i) {
    memset(c, 0, sizeof *c);
    for (int k = 0; k < 2; k++) {
        c->terms[k].body = (int16_t)((i + k) % model.body_count);
        c->terms[k].coefficient = wide(some(0.5, 2) * (random_int(2) ? 1 : -1));
    }
    if (random_int(2)) random_softness(&c->softness);
    if (random_int(2)) c->effort = wide(some(0.05, 0.5));
    if (random_int(3) == 0) {
        c->lower = wide(some(-0.002, 0));
        c->upper = random_int(4) ? wide(some(0.001, 0.002)) : MDYN_UNLIMITED;
        c->softness.kind = MDYN_DEFAULT;
    } else if (random_int(3) == 0) {
        c->target_velocity = wide(some(-1, 1));
    }
    if (random_int(5) == 0) {
        c->level = MDYN_VELOCITY;
        c->softness.kind = MDYN_DEFAULT;
    }
    if (c->softness.kind == MDYN_DEFAULT) c->softness.a = c->softness.b = wide(0);
}

/* Rows in the reach of `most` choices of the truth. */
static void random_mechanism(int most_bodies, int most_couplings) {
    memset(&model, 0, sizeof model);
    model.bodies = bodies;
    model.couplings = couplings;
    model.body_count = 1 + random_int(most_bodies);
    if (model.body_count > 1) model.coupling_count = 1 + random_int(most_couplings);
    if (model.coupling_count >= model.body_count) model.coupling_count = model.body_count - 1;
    model.dt = wide((double)0.001f);
    model.solver.iterations = 20000;
    for (int k = 0; k < model.body_count; k++) random_body(&bodies[k]);
    for (int i = 0; i < model.coupling_count; i++) random_coupling(&couplings[i], i);
}

static void random_commands(void) {
    for (int k = 0; k < model.body_count; k++) {
        sim.tau[k] = real(some(-1, 1));
        sim.target[k] = real(some(-0.5, 0.5));
        sim.target_velocity[k] = real(some(-1, 1));
    }
}

/* ---- checks of one step ---- */

/* Of the motion, and what equality rows ask for. */
static double largest_velocity(void) {
    double size = 1;
    for (int k = 0; k < want.dofs; k++) {
        size = fmax(size, fabs(want.free[k]));
        size = fmax(size, fabs(of_real(sim.v[k])));
    }
    for (int i = 0; i < want.rows; i++)
        if (want.row[i].low >= want.row[i].high) size = fmax(size, fabs(want.row[i].low));
    return size;
}

/* M (v' - v_free) = J^T lambda, and the law of every row. */
static void check_forces(double size) {
    double sum[TRUTH_DOFS] = { 0 }, parts[TRUTH_DOFS] = { 0 }, v[TRUTH_DOFS];
    for (int k = 0; k < want.dofs; k++) v[k] = of_real(sim.v[k]);
    for (int i = 0; i < want.rows; i++) {
        const truth_row *r = &want.row[i];
        mdyn_row_report report;
        const int code = mdyn_report_row(&sim, r->kind, r->index, &report);
        if (!CHECK_EQUAL(code, MDYN_OK)) continue;
        const double lambda = of_wide(report.impulse);
        CHECK_NEAR(of_wide(report.force), lambda / of_wide(model.dt),
                   10 * check_epsilon * (1 + fabs(of_wide(report.force))));
        for (int k = 0; k < want.dofs; k++) {
            sum[k] += r->J[k] * lambda / want.mass[k];
            parts[k] += fabs(r->J[k] * lambda / want.mass[k]);
        }
        if (!CHECK_NEAR(truth_miss(&want, r, v, lambda), 0, LAWFUL * size))
            CHECK_NOTE("kind %d, row %d\n", (int)r->kind, r->index);
    }
    for (int k = 0; k < want.dofs; k++)
        CHECK_NEAR(v[k] - want.free[k], sum[k], BALANCED * (size + parts[k]));
}

static void test_single_steps(void) {
    int solved = 0;
    for (int trial = 0; trial < TRIALS * (TEST_SOAK ? 10 : 1); trial++) {
        const long failed = check.failed;
        int code;
        random_mechanism(2, 1);
        CHECK(mdyn_init(&sim, &model) >= 0);
        random_commands();
        for (int k = 0; k < model.body_count; k++) {
            sim.q[k] = real(some(-0.001, 0.001));
            sim.v[k] = real(some(-2, 2));
        }
        truth_rows(&want, &model, &sim);
        truth_solve_rows(&want);
        code = mdyn_step(&sim);
        if (want.violation > 1e-12) { /* limits and couplings leave no velocity */
            CHECK(code == MDYN_OK || code == MDYN_WARN_NOT_CONVERGED);
            continue;
        }
        CHECK(code == MDYN_OK);
        const double size = largest_velocity();
        for (int k = 0; k < want.dofs; k++)
            CHECK_NEAR(of_real(sim.v[k]), want.v[k], SOLVED * size);
        check_forces(size);
        if (check.failed > failed) CHECK_NOTE("trial %d\n", trial);
        solved++;
    }
    CHECK(solved > TRIALS * 9 / 10);
}

/* q' = q + dt (v + v')/2 where no position is off. */
static void check_path(const double *q, const double *v) {
    const double h = of_wide(model.dt);
    if (want.has_error) return;
    for (int k = 0; k < want.dofs; k++)
        CHECK_NEAR(of_real(sim.q[k]), q[k] + h / 2 * (v[k] + of_real(sim.v[k])),
                   MOVED * (1 + fabs(q[k]) + fabs(v[k])));
}

static void test_motions(void) {
    int steps = 0, unsolved = 0;
    for (int n = 0; n < MECHANISMS * (TEST_SOAK ? 10 : 1); n++) {
        random_mechanism(5, 4);
        CHECK(mdyn_init(&sim, &model) >= 0);
        for (int i = 0; i < STEPS; i++) {
            double q[TRUTH_DOFS], v[TRUTH_DOFS];
            const long failed = check.failed;
            int code;
            if (i % 20 == 0) random_commands();
            truth_rows(&want, &model, &sim);
            for (int k = 0; k < want.dofs; k++) {
                q[k] = of_real(sim.q[k]);
                v[k] = of_real(sim.v[k]);
            }
            code = mdyn_step(&sim);
            CHECK(code >= 0);
            steps++;
            unsolved += code != MDYN_OK;
            if (code != MDYN_OK) continue;
            check_forces(largest_velocity());
            check_path(q, v);
            if (check.failed > failed) CHECK_NOTE("mechanism %d, step %d\n", n, i);
        }
    }
    printf("%d steps, %d of them unsolved\n", steps, unsolved);
    CHECK(unsolved < steps / 20);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    random_seed(1);
    test_single_steps();
    random_seed(2);
    test_motions();
    return check_end();
}
