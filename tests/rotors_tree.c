/* The mechanisms of rotors_run.h in a build with trees: see test_rotors_tree.c. */
#define MIMICDYN_STATIC 1
#define MIMICDYN_MAX_BODIES 5
#define MIMICDYN_MAX_COUPLINGS 5
#define MIMICDYN_MAX_ROWS 20
#define MIMICDYN_MAX_ENTRIES 400
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include "rotors_run.h"

#ifdef ROTORS_EXACT
#define rotors_run_tree rotors_run_exact
#define rotors_judge_tree rotors_judge_exact
#endif

static mdyn_sim sim;

void rotors_run_tree(uint32_t seed, rotors_family family, rotors_motion *m) {
    rotors_run(&sim, seed, family, m);
}

void rotors_judge_tree(uint32_t seed, rotors_verdict *verdict) {
    rotors_judge(&sim, seed, verdict);
}
