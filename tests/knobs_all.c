/* The mechanisms of knobs_run.h with the whole library: see test_knobs.c and test_iterated.c. */
#define MIMICDYN_STATIC 1
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "expect.h"
#include "knobs_run.h"

int knobs_run_all(int stops, const mdyn_solver *solver, mdyn_real motion[][KNOBS_NUMBERS]) {
    static mdyn_sim sim;
    return knobs_run(&sim, stops, solver, motion);
}
