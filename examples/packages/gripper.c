/* gripper.c - a program that uses the package: ends with 0 if the right jaw has followed the left
   one. Every package's check builds it. */
#define MIMICDYN_IMPLEMENTATION
#include <mimicdyn.h>

enum { LEFT_JAW, RIGHT_JAW, JAWS };

static const mdyn_body bodies[JAWS] = {
    { .parent = MDYN_WORLD, .joint = MDYN_PRISMATIC, .axis = MDYN_V3(0, 1, 0),
      .mass = MDYN_C(0.015) },
    { .parent = MDYN_WORLD, .joint = MDYN_PRISMATIC, .axis = MDYN_V3(0, -1, 0),
      .mass = MDYN_C(0.015) },
};
static const mdyn_coupling couplings[] = { MDYN_MIMIC(RIGHT_JAW, LEFT_JAW, 1.0, 0.0) };
static const mdyn_model gripper = {
    .bodies = bodies, .body_count = JAWS, .couplings = couplings, .coupling_count = 1,
    .gravity = MDYN_V3(0, 0, -9.81), .dt = MDYN_C(0.001),
};
static mdyn_sim sim;

int main(void)
{
    int step;
    mdyn_real apart;
    if (mdyn_init(&sim, &gripper) != MDYN_OK) return 1;
    for (step = 0; step < 100; step++) {
        sim.tau[LEFT_JAW] = MDYN_R(2.0);
        if (mdyn_step(&sim) != MDYN_OK) return 1;
    }
    apart = sim.q[RIGHT_JAW] - sim.q[LEFT_JAW];
    return !(sim.q[LEFT_JAW] > MDYN_R(0.1) && apart < MDYN_R(1e-6) && apart > -MDYN_R(1e-6));
}
