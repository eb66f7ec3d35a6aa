/* iteration.c LINKS ITERATIONS: one step of a chain of LINKS hinges with dry friction, whose rows
   are iterated so many times. Prints rows, entries and iterations; callgrind counts what bench_step
   takes. Two numbers of iterations and two lengths give the instructions for a row and for an entry
   in an iteration: tests/figures.sh. */
#include <stdio.h>
#include <stdlib.h>

#define MIMICDYN_MAX_BODIES 48
#define MIMICDYN_MAX_COUPLINGS 1
#define MIMICDYN_IMPLEMENTATION
#include "mimicdyn.h"
#include "tests/check.h"

enum { LINKS = MIMICDYN_MAX_BODIES };
static mdyn_body bodies[LINKS];
static mdyn_model model;
static mdyn_sim sim;

__attribute__((noinline)) int bench_step(void);
int bench_step(void) { return mdyn_step(&sim); }

int main(int argc, char **argv)
{
    const int links = argc == 3 ? atoi(argv[1]) : 0;
    int k;
    if (links < 1 || links > LINKS) {
        fprintf(stderr, "usage: iteration LINKS ITERATIONS\n");
        return 2;
    }
    for (k = 0; k < links; k++) {
        mdyn_body *b = &bodies[k];
        b->parent = (int16_t)(k - 1);
        b->joint = MDYN_REVOLUTE;
        b->position.x = MDYN_C(0.1);
        b->mass = MDYN_C(0.2);
        b->com.x = MDYN_C(0.05);
        b->inertia.xx = b->inertia.yy = b->inertia.zz = MDYN_C(2e-4);
        b->friction = MDYN_C(1e3); /* sticks */
    }
    model.bodies = bodies;
    model.body_count = links;
    model.dt = MDYN_C(0.001);
    model.solver.start = MDYN_COLD;
    model.solver.iterations = (uint16_t)atoi(argv[2]);
    model.solver.tolerance = MDYN_C(1e-30);
    if (mdyn_init(&sim, &model) < 0) return 1;
    for (k = 0; k < links; k++) sim.v[k] = MDYN_R(1) - MDYN_R(0.5) * (k % 3);
    if (bench_step() < 0) return 1;
    printf("%d %d %d\n", links, sim.report.entries, sim.report.iterations);
    return sim.report.iterations == atoi(argv[2]) ? 0 : 1;
}
