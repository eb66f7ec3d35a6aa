/* What a small program takes: the 2F-85 gripper of examples/robots/ with its drive and its five
   couplings, set up and stepped. Only its size is measured. */
#define MIMICDYN_STATIC 1
#define MIMICDYN_MAX_BODIES 9
#define MIMICDYN_MAX_DOFS 6
#define MIMICDYN_MAX_COUPLINGS 5
#define MIMICDYN_MAX_ROWS 7 /* 5 couplings, 1 drive, 1 limit */
#define MIMICDYN_MAX_TERMS 2
#define MIMICDYN_IMPLEMENTATION
#include "mimicdyn.h"
#include "../../examples/robots/robotiq_2f85.h"
#include "port.h"

static const mdyn_coupling couplings[] = { ROBOTIQ_2F85_MIMICS };
static const mdyn_model gripper = {
    .bodies = robotiq_2f85_bodies, .body_count = ROBOTIQ_BODIES,
    .couplings = couplings, .coupling_count = ROBOTIQ_MIMICS,
    .gravity = MDYN_V3(0, 0, -9.81), .dt = MDYN_C(0.001),
};
static mdyn_sim sim;

int main(void) {
    if (mdyn_init(&sim, &gripper) < 0) return 1;
    sim.target[0] = MDYN_R(0.5);
    while (mdyn_step(&sim) >= 0) {
    }
    return 2;
}
