/* gripper.c - the gripper of the header's documentation as a whole program: two jaws, one command,
   one mimic coupling.
   Checked: both jaws move as 2 N on the two masses together must, each the mirror of the other,
   and the coupling carries the 1 N that accelerates the right one.
   By hand: cc -O2 examples/gripper.c -lm -o gripper && ./gripper */

#define MIMICDYN_MAX_BODIES 2
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

enum { LEFT_JAW, RIGHT_JAW };

static const mdyn_body bodies[] = {
    { .parent = MDYN_WORLD, .joint = MDYN_PRISMATIC, .axis = MDYN_V3(0, 1, 0),
      .mass = MDYN_C(0.015) },
    { .parent = MDYN_WORLD, .joint = MDYN_PRISMATIC, .axis = MDYN_V3(0, -1, 0),
      .mass = MDYN_C(0.015) },
};
static const mdyn_coupling couplings[] = {
    MDYN_MIMIC(RIGHT_JAW, LEFT_JAW, 1.0, 0.0), /* q_right = 1.0 q_left + 0.0 */
};
static const mdyn_model gripper = {
    .bodies = bodies, .body_count = 2, .couplings = couplings, .coupling_count = 1,
    .gravity = MDYN_V3(0, 0, -9.81), .dt = MDYN_C(0.001),
};
static mdyn_sim sim; /* fixed size, no heap */

int main(void)
{
    const double dt = 0.001, a = 2.0 / (0.015 + 0.015); /* one force moves both masses */
    mdyn_real3 left, right;
    mdyn_real4 turn;
    mdyn_wide force;
    int step;

    must(&sim, mdyn_init(&sim, &gripper));

    printf("  t [ms]  left [mm]  right [mm]  speed [m/s]\n");
    for (step = 1; step <= 40; step++) {
        sim.tau[LEFT_JAW] = MDYN_R(2.0);
        must(&sim, mdyn_step(&sim));
        if (step % 8 == 0) {
            printf("%8d %10.4f %11.4f %12.4f\n", step, 1000 * real(sim.q[LEFT_JAW]),
                   1000 * real(sim.q[RIGHT_JAW]), real(sim.v[LEFT_JAW]));
        }
    }

    /* v = n dt a, q = (n dt)^2 a / 2 */
    CHECK("speed after 40 steps [m/s]", real(sim.v[LEFT_JAW]), 40 * dt * a,
          BY_SCALAR(1e-14, 2e-6, 1e-7));
    CHECK("way after 40 steps [m]", real(sim.q[LEFT_JAW]), dt * dt * a * 40 * 40 / 2,
          BY_SCALAR(1e-16, 5e-8, 3e-9));
    CHECK("right jaw minus left jaw [m]", real(sim.q[RIGHT_JAW]) - real(sim.q[LEFT_JAW]), 0,
          BY_SCALAR(1e-16, 1e-8, 5e-10));
    must(&sim, mdyn_coupling_force(&sim, 0, 0, &force)); /* its term 0, the follower */
    CHECK("force of the coupling on the right jaw [N]", wide(force), 1.0,
          BY_SCALAR(1e-14, 1e-6, 5e-8));
    must(&sim, mdyn_pose(&sim, LEFT_JAW, &left, &turn));
    must(&sim, mdyn_pose(&sim, RIGHT_JAW, &right, &turn));
    CHECK("the jaws mirror each other: y + y [m]", real(left.y) + real(right.y), 0,
          BY_SCALAR(1e-16, 1e-8, 5e-10));
    return check_result();
}
