/* A small sim with all settings, where the states of bodies stand in the rows between two solves:
   nothing that a row had in the last step is left, and by whatever setting it moves as the whole
   library does, to the last bit. */
#define MIMICDYN_QUATERNIONS 0
#define MIMICDYN_MAX_BODIES 4
#define MIMICDYN_MAX_DOFS 4
#define MIMICDYN_MAX_ENTRIES 60
#define MIMICDYN_STATIC 1
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include "knobs_run.h"

typedef char states_stand_in_rows[MD_STATES_IN_ROWS ? 1 : -1];

static mdyn_sim sim;

static void moves_the_same(const mdyn_solver *solver) {
    static mdyn_real a[KNOBS_STEPS][KNOBS_NUMBERS], b[KNOBS_STEPS][KNOBS_NUMBERS];
    CHECK_EQUAL(knobs_run(&sim, 0, solver, a), KNOBS_STEPS);
    CHECK_EQUAL(knobs_run_all(0, solver, b), KNOBS_STEPS);
    for (int n = 0; n < KNOBS_STEPS; n++) {
        if (!CHECK(memcmp(a[n], b[n], sizeof a[n]) == 0)) break;
    }
}

/* The scheme is replaced where a coupling is a row beside an eliminated one: each joint's damping
   has the weight of the midpoint step, by M of three equal rods in a line. */
static void test_weights(void) {
    mdyn_body rod[3];
    mdyn_coupling coupling[2] = { MDYN_MIMIC_WITH(1, 0, 0.5, 0, MDYN_HARD(0.2), 0, NULL),
                                  MDYN_MIMIC(2, 1, 0.5, 0) };
    mdyn_model m = MDYN_MODEL(rod, 3, coupling, 2, MDYN_V3(0, 0, 0), 0.01);
    memset(rod, 0, sizeof rod);
    for (int i = 0; i < 3; i++) {
        rod[i].parent = (int16_t)(i - 1);
        rod[i].joint = MDYN_REVOLUTE;
        rod[i].position.x = wide(i ? 1 : 0);
        rod[i].mass = wide(1);
        rod[i].com.x = wide(0.5);
        rod[i].inertia.yy = rod[i].inertia.zz = wide(0.1);
        rod[i].damping = wide(20);
    }
    m.solver.scheme = MDYN_EXPLICIT;
    CHECK_EQUAL(mdyn_init(&sim, &m), MDYN_OK);
    m.solver.scheme = MDYN_MIDPOINT;
    CHECK_EQUAL(mdyn_set_solver(&sim, &m.solver), MDYN_OK);
    for (int k = 0; k < 3; k++) {
        double M = 0, y = 0.2;
        for (int i = 0; i < 3 - k; i++) M += 0.1 + (i + 0.5) * (i + 0.5);
        CHECK_NEAR(of_wide(md_to_wide(sim.step_damping[k])), y * (3 * M + y) / (6 * M + y),
                   BY_SCALAR(1e-15, 1e-7, 1e-9));
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_weights();
    for (int n = 0; n < 64; n++) {
        mdyn_solver solver = knobs_model.solver;
        solver.limits = n & 1 ? MDYN_ENGAGED : MDYN_SPECULATIVE;
        solver.equality = n & 2 ? MDYN_ITERATED : MDYN_EXACT;
        solver.scheme = n & 4 ? MDYN_EXPLICIT : MDYN_MIDPOINT;
        solver.method = n & 8 ? MDYN_TGS : MDYN_PGS;
        solver.correction = n & 16 ? MDYN_BAUMGARTE : MDYN_RELAX;
        solver.start = n & 32 ? MDYN_COLD : MDYN_WARM;
        solver.iterations = 200;
        if (solver.method == MDYN_TGS) solver.substeps = 3;
        moves_the_same(&solver);
    }
    return check_end();
}
