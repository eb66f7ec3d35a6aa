/* gravity_compensation.c - an arm holds a stone: torques that balance the weight of the arm and of
   a free body in its gripper, worked out anew in each tick. The start pose of the arm is given,
   that of the stone follows: it is where the gripper is. A weld closes the gripper.
   What to see: under these torques nothing moves; the arm alone is balanced by less.
   Checked: the torques against the closed form; that accelerations under them are 0, with the weld;
   that the arm stands still for 2 s; the weight that the weld carries.
   By hand: cc -O2 examples/gravity_compensation.c -lm -o hold && ./hold */

#define MIMICDYN_MAX_BODIES 4
#define MIMICDYN_MAX_DOFS 8
#define MIMICDYN_MAX_COUPLINGS 1
#define MIMICDYN_MAX_BODY_ROWS 6
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

enum { UPPER, LOWER, GRIPPER, STONE, DOFS = 8, COORDINATES = 9 };
#define G 9.81
#define STONE_MASS 0.7
#define LENGTH 0.4 /* of both links; mass centers in the middle */

static const mdyn_body bodies[] = {
    MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, -1, 0), MDYN_AT(0, 0, 1),
              MDYN_RIGID(2, 0.2, 0, 0, MDYN_INERTIA(0.002, 0.03, 0.03, 0, 0, 0)),
              MDYN_PASSIVE, "upper arm"),
    MDYN_BODY(UPPER, MDYN_TURNS(0, -1, 0), MDYN_AT(LENGTH, 0, 0),
              MDYN_RIGID(1, 0.2, 0, 0, MDYN_INERTIA(0.001, 0.015, 0.015, 0, 0, 0)),
              MDYN_PASSIVE, "lower arm"),
    MDYN_BODY(LOWER, MDYN_WELDED, MDYN_AT_RPY(LENGTH, 0, 0, 0, 0.4, 0),
              MDYN_RIGID(0.3, 0, 0, 0, MDYN_INERTIA(1e-4, 1e-4, 1e-4, 0, 0, 0)),
              MDYN_PASSIVE, "gripper"),
    MDYN_BODY(MDYN_WORLD, MDYN_FLOATS, MDYN_AT(0, 0, 0),
              MDYN_RIGID(STONE_MASS, 0.05, 0, 0.02, MDYN_ROTATED_INERTIA(4e-4, 0, 0, 6e-4, 0, 8e-4,
                                                                          0.3, 0, 0)),
              MDYN_PASSIVE, "stone"),
};
static const mdyn_closure weld[] = {
    { .kind = MDYN_CLOSE_WELD, .a = STONE, .b = GRIPPER, .name = "grip" },
};
static mdyn_real start[COORDINATES] = { MDYN_R(0.3), MDYN_R(0.5) };
static const mdyn_model model = {
    .bodies = bodies, .body_count = 4, .closures = weld, .closure_count = 1,
    .gravity = MDYN_V3(0, 0, -G), .dt = MDYN_C(0.001), .start = start,
};
static mdyn_sim sim;

/* The stone's coordinates in `start`: the pose of the gripper at the start of the arm. */
static void put_stone(void)
{
    mdyn_model arm = model;
    mdyn_real3 position;
    mdyn_real4 q;
    arm.closure_count = 0;
    start[5] = MDYN_R(1); /* a quaternion */
    must(&sim, mdyn_init(&sim, &arm));
    must(&sim, mdyn_pose(&sim, GRIPPER, &position, &q));
    start[2] = position.x;
    start[3] = position.y;
    start[4] = position.z;
    start[5] = q.w;
    start[6] = q.x;
    start[7] = q.y;
    start[8] = q.z;
}

/* tau of the arm = its own bias force, and J^T of the gripper at the stone's mass center times the
   force that holds the stone. */
static void compensate(double tau[2], double alone[2])
{
    static mdyn_wide bias[DOFS], J[6 * DOFS];
    const mdyn_real3 center = { MDYN_R(0.05), MDYN_R(0), MDYN_R(0.02) };
    const mdyn_wide weight = MDYN_C(STONE_MASS * G);
    int k;
    must(&sim, mdyn_bias_force(&sim, bias));
    must(&sim, mdyn_jacobian(&sim, GRIPPER, &center, J));
    for (k = 0; k < 2; k++) {
        const mdyn_wide all = mdyn_plus(bias[k], mdyn_times(J[5 * DOFS + k], weight));
        sim.tau[k] = mdyn_real_of(all);
        tau[k] = wide(all);
        alone[k] = wide(bias[k]);
    }
}

int main(void)
{
    static mdyn_wide a[DOFS];
    const double upper = cos(0.3), lower = cos(0.8), grip = 0.8 - 0.4; /* a pitch is downwards */
    const double stone = 0.05 * cos(grip) - 0.02 * sin(grip);
    const double elbow = G * (1 * 0.2 * lower + 0.3 * LENGTH * lower
                              + STONE_MASS * (LENGTH * lower + stone));
    const double shoulder = elbow + G * upper * (2 * 0.2 + (1 + 0.3 + STONE_MASS) * LENGTH);
    double tau[2], alone[2], fastest = 0, carried = 0, moved;
    mdyn_row_report row;
    int k;

    put_stone();
    must(&sim, mdyn_init(&sim, &model));
    compensate(tau, alone);
    printf("shoulder %10.5f N m for the arm, %10.5f N m with the stone\n", alone[0], tau[0]);
    printf("elbow    %10.5f N m for the arm, %10.5f N m with the stone\n", alone[1], tau[1]);
    CHECK("shoulder [N m]", tau[0], shoulder, BY_SCALAR(1e-13, 1e-5, 1e-6));
    CHECK("elbow [N m]", tau[1], elbow, BY_SCALAR(1e-13, 1e-5, 1e-6));
    must(&sim, mdyn_constrained_dynamics(&sim, a));
    for (k = 0; k < DOFS; k++) {
        fastest = worse(fastest, fabs(wide(a[k])));
    }
    CHECK("largest acceleration [rad/s^2, m/s^2]", fastest, 0, BY_SCALAR(2e-13, 3e-5, 3e-6));

    for (k = 0; k < 2000; k++) {
        compensate(tau, alone);
        must(&sim, mdyn_step(&sim));
        must(&sim, mdyn_report_row(&sim, MDYN_ROW_CLOSURE, 2, &row));
        carried += wide(row.force) / 2000; /* that of one step has the noise of positions */
    }
    moved = fabs(real(sim.q[0]) - 0.3) + fabs(real(sim.q[1]) - 0.5);
    CHECK("moved in 2 s [rad]", moved, 0, BY_SCALAR(2e-13, 3e-6, 3e-6));
    CHECK("the grip carries on average [N]", carried, STONE_MASS * G,
          BY_SCALAR(1e-11, 1e-5, 2e-5));
    return check_result();
}
