/* The mechanisms of rotors_run.h in a build with trees: see test_rotors_tree.c and
   test_rotors_constant.c. */
#define MIMICDYN_STATIC 1
#define MIMICDYN_MAX_BODIES 5
#define MIMICDYN_MAX_COUPLINGS 5
#define MIMICDYN_MAX_ROWS 32
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include <string.h>
#include "expect.h"
#include "rotors_run.h"

int rotors_run_tree(uint32_t seed, int plain, rotors_state state[ROTORS_STEPS]) {
    static mdyn_sim sim;
    return rotors_run(&sim, seed, plain, state, NULL, NULL);
}
