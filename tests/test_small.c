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
    CHECK_EQUAL(knobs_run(&sim, solver, a), KNOBS_STEPS);
    CHECK_EQUAL(knobs_run_all(solver, b), KNOBS_STEPS);
    for (int n = 0; n < KNOBS_STEPS; n++) {
        if (!CHECK(memcmp(a[n], b[n], sizeof a[n]) == 0)) break;
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
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
