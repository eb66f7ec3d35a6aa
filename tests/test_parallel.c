/* Rows that are parallel for any pose share their entries: drive, dry friction and limit of one
   joint, and of joints that couplings tie to it. One step by every method against trying every
   choice of what is at which bound (truth_step.h), and entries counted by hand. */
#include "knobs.h"
#include "check.h"
#include "explicit.h"
#include "truth.h"
#include "truth_step.h"
#include "rails.h"

enum { JOINTS = 3, METHODS = 6, TRIALS = 40 };

/* What the checks allow, some three to ten times the worst of -s 1, 2 and 3. */
/*                     F64   F32 FIXED */
TOLERANCE(SPEED,     1e-13, 6e-5, 3e-6);
TOLERANCE(ACCOUNTED, 6e-15, 4e-6, 7e-7);

static truth t;
static truth_step want;

/* Drive, dry friction and limit of a joint, each with a chance of 3 in 4. */
static int random_joint_rows(mdyn_body *b, double q, double dt) {
    int rows = 0;
    if (random_int(4)) {
        b->drive_kp = wide(random_int(2) ? random_in(0, 1000) : 0);
        b->drive_kd = wide(random_in(1, 50));
        b->effort = wide(random_in(5, 50));
        rows++;
    }
    if (random_int(4)) {
        b->friction = wide(random_in(0.1, 20));
        rows++;
    }
    if (random_int(4)) { /* within reach of a step */
        b->lower = wide(q - random_in(0, 3) * dt);
        b->upper = wide(q + random_in(0, 3) * dt);
        rows++;
    }
    return rows;
}

/* A tree of hinges and sliders; joints 0 and 1 have rows, and may be tied. Its state holds the
   coupling, and is within the limits. */
static int random_parallel(int tied) {
    double q[JOINTS], v[JOINTS], ratio = random_in(0.3, 3) * (random_int(2) ? 1 : -1);
    int rows;
    mechanism_random(&mech, JOINTS, JOINTS, ARMATURES | ONE_SPEED);
    for (int k = 0; k < JOINTS; k++) {
        q[k] = random_in(-1, 1);
        v[k] = random_in(-3, 3);
    }
    if (tied) {
        q[1] = ratio * q[0];
        v[1] = ratio * v[0];
        mech.coupling[mech.model.coupling_count++] = mimic_of(1, 0, ratio, 0);
    }
    rows = random_joint_rows(&mech.body[0], q[0], of_wide(mech.model.dt));
    rows += random_joint_rows(&mech.body[1], q[1], of_wide(mech.model.dt));
    truth_init(&t, &mech.model);
    mech.model.solver.iterations = 65535;
    CHECK(init_explicit(&sim, &mech.model) >= 0);
    for (int k = 0; k < JOINTS; k++) {
        sim.q[t.coordinate[k]] = real(q[k]);
        sim.v[t.dof[k]] = real(v[k]);
        sim.tau[t.dof[k]] = real(random_in(-20, 20));
        sim.target[t.dof[k]] = real(random_in(-1, 1));
        sim.target_velocity[t.dof[k]] = real(random_in(-1, 1));
    }
    return rows;
}

static void choose(int method) {
    mdyn_solver *s = &mech.model.solver;
    s->method = method == 1 ? MDYN_TGS : method == 2 ? MDYN_DANTZIG : MDYN_PGS;
    s->substeps = 1;
    s->equality = method == 3 ? MDYN_ITERATED : MDYN_EXACT;
    s->relaxation = wide(method == 4 ? 1.3 : 0);
    s->correction = method == 5 ? MDYN_RELAX : MDYN_CORRECTION_DEFAULT;
}

/* The velocities are those of the dense solution, and free motion and reported impulses add up to
   them: each row has its own length and sign along the vector that it shares. */
static void check_step(int trial, int method) {
    ld got[TN];
    CHECK(mdyn_step(&sim) >= 0);
    const double size = truth_step_size(&want, &t);
    memcpy(got, want.free, sizeof got);
    if (!CHECK_NEAR(speed_error(&t, &sim, want.v), 0, SPEED * size)) {
        CHECK_NOTE("trial %d, method %d, %d iterations\n", trial, method, sim.report.iterations);
    }
    for (int k = 0; k < want.rows; k++) {
        mdyn_row_report report;
        CHECK_EQUAL(mdyn_report_row(&sim, want.row[k].kind, want.row[k].index, &report), MDYN_OK);
        for (int i = 0; i < t.dofs; i++) {
            got[i] += want.B[k][i] * (ld)of_wide(report.impulse);
        }
    }
    CHECK_NEAR(speed_error(&t, &sim, got), 0, ACCOUNTED * size);
}

static void all_methods(void) {
    mdyn_sim start;
    for (int trial = 0; trial < TRIALS; trial++) {
        do {
            random_parallel(trial % 2);
        } while (truth_step_of(&want, &t, &mech.model, &sim) > 1e-9);
        start = sim;
        for (int method = 0; method < METHODS; method++) {
            choose(method);
            CHECK(init_explicit(&sim, &mech.model) >= 0);
            copy_inputs(&sim, &start);
            check_step(trial, method);
        }
    }
}

/* L, and as many entries again for all rows of a joint. A drive without effort, which is an
   equality row, has its own. */
static void entries(int joints, int tied, mdyn_equality equality, double effort, int expected) {
    blocks(joints, 1e-3);
    for (int k = 0; k < joints; k++) {
        mdyn_body *b = &mech.body[k];
        b->parent = (int16_t)(tied ? MDYN_WORLD : k - 1);
        b->lower = wide(-1);
        b->upper = wide(1);
        b->friction = wide(0.1);
        b->drive_kd = wide(1);
        b->effort = wide(effort);
        if (tied && k > 0) {
            couple(mimic_of(k, k - 1, k % 2 ? -2 : 0.5, 0));
        }
    }
    mech.model.solver.equality = equality;
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(sim.report.entries, expected);
}

/* Limits of tied joints that leave no position: each step says so, and the joints rest. */
static void contradiction(void) {
    blocks(2, 1e-3);
    for (int k = 0; k < 2; k++) {
        mech.body[k].lower = wide(k ? -1 : 0.1);
        mech.body[k].upper = wide(k ? -0.1 : 1);
        mech.body[k].friction = wide(0.5);
        mech.body[k].drive_kp = wide(100);
        mech.body[k].drive_kd = wide(5);
        mech.body[k].effort = wide(20);
    }
    couple(mimic_of(1, 0, 1, 0));
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_WARN_EMPTY_RANGE);
    for (int n = 0; n < 4; n++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_WARN_NOT_CONVERGED);
        CHECK_NEAR(of_real(sim.v[0]), 0, SPEED);
    }
}

/* A joint that a coupling holds has rows without entries, which stand among those of the others.
   The brake of another joint slows it by friction over mass, and the wall that stops a third one is
   felt by no other. */
static void beside_a_held_joint(void) {
    mdyn_coupling hold;
    mdyn_contact wall;
    memset(&hold, 0, sizeof hold);
    memset(&wall, 0, sizeof wall);
    blocks(3, 1e-3);
    mech.body[0].friction = mech.body[1].friction = wide(1);
    mech.body[0].lower = wide(-1);
    mech.body[0].upper = wide(1);
    hold.terms[0].coefficient = wide(1);
    couple(hold);
    wall.a = 2;
    wall.b = MDYN_WORLD;
    wall.normal.x = real(1);
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    sim.v[1] = real(1);
    sim.tau[2] = real(-10);
    for (int n = 1; n <= 100; n++) {
        CHECK_EQUAL(mdyn_set_contacts(&sim, &wall, 1), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.v[1]), 1 - n * 1e-3 * 1 / 2, SPEED);
        CHECK_NEAR(of_real(sim.v[2]), 0, SPEED);
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    all_methods();
    contradiction();
    beside_a_held_joint();
    entries(1, 0, MDYN_EXACT, 9, 1 + 1);
    entries(6, 0, MDYN_EXACT, 9, 21 + 21);
    entries(6, 0, MDYN_ITERATED, 9, 21 + 21);
    entries(4, 1, MDYN_EXACT, 9, 1 + 1);
    entries(1, 0, MDYN_EXACT, 0, 1 + 2 + 2); /* the drive: its joint and its compliance */
    return check_end();
}
