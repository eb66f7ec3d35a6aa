/* The build with MIMICDYN_EXACT 0, and with TEST_SMALL the smallest one, which has no warm starts
   and no checks either: it moves as the whole library does with MDYN_ITERATED and MDYN_WARM or
   MDYN_COLD, to the last bit, whether the model asks for that or not; and it goes on so with other
   couplings. */
#define MIMICDYN_EXACT 0
#ifdef TEST_SMALL
#define MIMICDYN_WARM 0
#define MIMICDYN_CHECKS 0
#define MIMICDYN_LOSSES 0
#define MIMICDYN_QUATERNIONS 0
#endif
#define MIMICDYN_SETTINGS 0
#define MIMICDYN_STATIC 1
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include "knobs_run.h"

static mdyn_sim sim;

static void moves_as_iterated(int stops) {
    static mdyn_real a[KNOBS_STEPS][KNOBS_NUMBERS], b[KNOBS_STEPS][KNOBS_NUMBERS];
    static mdyn_real c[KNOBS_STEPS][KNOBS_NUMBERS], other[KNOBS_STEPS][KNOBS_NUMBERS];
    mdyn_solver solver = knobs_model.solver;
    CHECK_EQUAL(knobs_run(&sim, stops, &solver, a), KNOBS_STEPS);
    solver.equality = MDYN_ITERATED;
    solver.start = MIMICDYN_WARM ? MDYN_WARM : MDYN_COLD;
    CHECK_EQUAL(knobs_run(&sim, stops, &solver, b), KNOBS_STEPS);
    CHECK_EQUAL(knobs_run_all(stops, &solver, c), KNOBS_STEPS);
    CHECK(memcmp(a, b, sizeof a) == 0);
    CHECK(memcmp(a, c, sizeof a) == 0);
    solver.equality = MDYN_EXACT; /* and another motion with either of the two left alone */
    CHECK_EQUAL(knobs_run_all(stops, &solver, other), KNOBS_STEPS);
    CHECK(memcmp(a, other, sizeof a) != 0);
    solver.equality = MDYN_ITERATED;
    solver.start = MIMICDYN_WARM ? MDYN_COLD : MDYN_WARM;
    CHECK_EQUAL(knobs_run_all(stops, &solver, other), KNOBS_STEPS);
    CHECK(memcmp(a, other, sizeof a) != 0);
}

/* Couplings that replace others move as in a model that has them from the start. */
static void replaced(void) {
    static mdyn_coupling couplings[KNOBS_COUPLINGS];
    static mdyn_sim twin;
    mdyn_model model = knobs_model;
    memcpy(couplings, knobs_couplings, sizeof couplings);
    couplings[0].terms[1].body = 2;
    couplings[1].softness.kind = MDYN_OMEGA_ZETA;
    couplings[1].softness.a = wide(20);
    couplings[1].upper = couplings[1].lower;
    model.couplings = couplings;
    CHECK_EQUAL(mdyn_init(&twin, &model), MDYN_OK);
    CHECK_EQUAL(mdyn_init(&sim, &knobs_model), MDYN_OK);
    CHECK_EQUAL(mdyn_set_coupling(&sim, 0, &couplings[0]), MDYN_OK);
    CHECK_EQUAL(mdyn_set_coupling(&sim, 1, &couplings[1]), MDYN_OK);
    for (int n = 0; n < 100; n++) {
        sim.tau[3] = twin.tau[3] = real(n < 50 ? 0.1 : -0.1);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&twin), MDYN_OK);
    }
    CHECK(memcmp(sim.q, twin.q, sizeof sim.q) == 0);
    CHECK(memcmp(sim.v, twin.v, sizeof sim.v) == 0);
    CHECK_EQUAL(mdyn_engage(&sim, 0, 0), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(mdyn_engage(&sim, 0, 1), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
}

/* What would not fit is refused by the smallest build too, and so is a joint without inertia. */
static void refuses(void) {
    static mdyn_body bodies[MIMICDYN_MAX_BODIES + 1];
    mdyn_model model = knobs_model;
    model.bodies = bodies;
    model.coupling_count = 0;
    for (int i = 0; i <= MIMICDYN_MAX_BODIES; i++) bodies[i] = knobs_bodies[3];
    model.body_count = MIMICDYN_MAX_BODIES + 1;
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_ERR_CAPACITY_BODIES);
    model.body_count = MIMICDYN_MAX_BODIES;
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    model.coupling_count = MIMICDYN_MAX_COUPLINGS + 1;
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_ERR_CAPACITY_COUPLINGS);
    model.coupling_count = 1;
    model.couplings = NULL;
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_ERR_NULL);
    model.coupling_count = 0;
    bodies[1].armature = wide(0);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_ERR_MASSLESS);
    CHECK_EQUAL(sim.culprit.index, 1);
    bodies[1] = bodies[0];
    for (int i = 0; i < MIMICDYN_MAX_BODIES; i++) {
        bodies[i].friction = bodies[i].upper = bodies[i].drive_kd = wide(1);
    }
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_ERR_CAPACITY_ROWS);
}

/* Accelerations of coupled joints keep J a = 0. */
static void accelerates(void) {
    mdyn_wide a[KNOBS_BODIES];
    CHECK_EQUAL(mdyn_init(&sim, &knobs_model), MDYN_OK);
    sim.tau[0] = real(3);
    CHECK_EQUAL(mdyn_constrained_dynamics(&sim, a), MDYN_OK);
    CHECK(fabs(of_wide(a[3])) > 1);
    CHECK_NEAR(of_wide(a[3]) / (20 * of_wide(a[0])), 1, 100 * check_epsilon);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    moves_as_iterated(0);
    moves_as_iterated(1);
    replaced();
    refuses();
    accelerates();
    return check_end();
}
