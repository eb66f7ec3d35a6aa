/* The build with MIMICDYN_WARNINGS, _SETTINGS, _LOSSES, _QUATERNIONS and _WRENCHES 0: what is left
   moves as in the whole library, to the last bit, and what is left out is refused by its code. */
#define MIMICDYN_WARNINGS 0
#define MIMICDYN_SETTINGS 0
#define MIMICDYN_LOSSES 0
#define MIMICDYN_QUATERNIONS 0
#define MIMICDYN_WRENCHES 0
#define MIMICDYN_MAX_BODIES 5 /* few, and more than DoFs: states of bodies stand in rows */
#define MIMICDYN_MAX_DOFS 4
#define MIMICDYN_MAX_ENTRIES 40
#define MIMICDYN_STATIC 1
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include "knobs_run.h"

typedef char states_stand_in_rows[MD_STATES_IN_ROWS && MD_STAGES_OF_JOINTS ? 1 : -1];

static mdyn_sim sim;
static mdyn_body bodies[KNOBS_BODIES];
static mdyn_coupling couplings[KNOBS_COUPLINGS];
static mdyn_model model;

static void moves_the_same(int stops) {
    static mdyn_real a[KNOBS_STEPS][KNOBS_NUMBERS], b[KNOBS_STEPS][KNOBS_NUMBERS];
    int stopped = stops;
    CHECK_EQUAL(knobs_run(&sim, stops, &knobs_model.solver, a), KNOBS_STEPS);
    CHECK_EQUAL(knobs_run_all(stops, &knobs_model.solver, b), KNOBS_STEPS);
    for (int n = 0; n < KNOBS_STEPS; n++) {
        CHECK(memcmp(a[n], b[n], sizeof a[n]) == 0);
        stopped |= of_real(a[n][1]) > 0.499 || of_real(a[n][1]) < -0.299; /* a limit had a part */
    }
    CHECK(stopped);
}

static void restore(void) {
    memcpy(bodies, knobs_bodies, sizeof bodies);
    memcpy(couplings, knobs_couplings, sizeof couplings);
    model = knobs_model;
    model.bodies = bodies;
    model.couplings = couplings;
}

/* With the model as it is now, and with it restored. */
static void gives(int code, int index) {
    CHECK_EQUAL(mdyn_init(&sim, &model), code);
    CHECK_EQUAL(sim.culprit.code, code);
    CHECK_EQUAL(sim.culprit.index, index);
    restore();
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
}

static void refuses(void) {
    mdyn_coupling c;
    restore();
    bodies[3].joint = MDYN_SPHERICAL;
    gives(MDYN_ERR_JOINT, 3);
    bodies[2].joint = MDYN_FREE;
    gives(MDYN_ERR_JOINT, 2);
    couplings[1].efficiency = MDYN_C(0.9);
    gives(MDYN_ERR_LOSS, 1);
    couplings[0].mu = MDYN_C(0.5);
    couplings[0].mu_of = 1;
    gives(MDYN_ERR_LOSS, 0);
    model.solver.equality = MDYN_ITERATED;
    gives(MDYN_ERR_SOLVER, -1);
    model.solver.start = MDYN_COLD;
    gives(MDYN_ERR_SOLVER, -1);
    model.solver.correction = MDYN_RELAX;
    gives(MDYN_ERR_SOLVER, -1);
    model.solver.limits = MDYN_ENGAGED;
    gives(MDYN_ERR_SOLVER, -1);
    model.solver.forces = MDYN_ON_REQUEST;
    gives(MDYN_ERR_SOLVER, -1);
    model.solver.substeps = 2;
    gives(MDYN_ERR_SOLVER, -1);
    c = couplings[1];
    c.efficiency = MDYN_C(0.5);
    CHECK_EQUAL(mdyn_set_coupling(&sim, 1, &c), MDYN_ERR_LOSS);
    model.solver.iterations = 7; /* these are there */
    model.solver.substeps = 1;
    gives(MDYN_OK, -1);
}

/* Warnings are not looked for; what the couplings then do is reported in every step as ever. */
static void warns_later(void) {
    restore();
    couplings[1] = couplings[0];
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(sim.report.redundant, 1);
    couplings[1].offset = MDYN_C(1);
    CHECK_EQUAL(mdyn_set_coupling(&sim, 1, &couplings[1]), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(sim.report.contradictory, 1);
}

/* In small sims solves and kinematics take turns in one memory. After a call that uses it otherwise
   a query finds the kinematics anew. */
static void queries_find_kinematics(void) {
    enum { N = 4 };
    mdyn_wide a[N], b[N], lower, upper;
    mdyn_real3 angular, linear;
    int32_t turns;
    restore();
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    sim.v[0] = MDYN_R(0.5);
    CHECK(mdyn_forward_dynamics(&sim, a) == MDYN_OK);
    for (int call = 0; call < 6; call++) {
        CHECK_EQUAL(mdyn_velocity(&sim, 1, NULL, &angular, &linear), MDYN_OK);
        if (call == 1) CHECK(mdyn_range(&sim, 1, &lower, &upper) >= 0);
        if (call == 2) CHECK(mdyn_engage(&sim, 0, 0) >= 0 && mdyn_engage(&sim, 0, 1) >= 0);
        if (call == 3) CHECK(mdyn_set_coupling(&sim, 0, &couplings[0]) >= 0);
        if (call == 4) CHECK(mdyn_rebase(&sim, 3, &turns) >= 0);
        if (call == 5) CHECK(mdyn_set_body(&sim, 1, &bodies[1]) >= 0);
        CHECK_EQUAL(mdyn_forward_dynamics(&sim, b), MDYN_OK);
        CHECK(memcmp(a, b, sizeof a) == 0);
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    moves_the_same(0);
    moves_the_same(1);
    queries_find_kinematics();
    refuses();
    warns_later();
    return check_end();
}
