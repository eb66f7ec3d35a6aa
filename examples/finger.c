/* finger.c - a tendon-driven finger: three joints with return springs, one tendon over three
   pulleys to a motor, as one coupling of four joints. An object stops the middle link early; the
   tendon goes on to close the other two.
   Checked at rest: the tendon's tension, the torque r_i * tension that each joint gets from it,
   the angles where the springs balance it, and the force on the object.
   By hand: cc -O2 examples/finger.c -lm -o finger && ./finger */

#define MIMICDYN_MAX_BODIES 4
#define MIMICDYN_MAX_ROWS 5 /* 4 couplings, 1 limit */
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

enum { PROXIMAL, MIDDLE, DISTAL, MOTOR };  /* bodies */
enum { TENDON, SPRINGS };                  /* couplings: the tendon, then a spring each */

/* Radii of the pulleys [m] and stiffness of the springs [N m/rad]. */
#define R_PROXIMAL 0.010
#define R_MIDDLE 0.008
#define R_DISTAL 0.006
#define R_MOTOR 0.005
#define K_PROXIMAL 0.12
#define K_MIDDLE 0.10
#define K_DISTAL 0.08
#define MOTOR_TORQUE 0.05 /* [N m] */
#define OBJECT_AT 0.4     /* angle of the middle joint at which its link meets the object [rad] */

/* The finger bends in the horizontal plane: axes up (z is the default), so weight plays no part. */
static const mdyn_body bodies[] = {
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE,
      .mass = MDYN_C(0.030), .com = MDYN_V3(0.022, 0, 0),
      .inertia = MDYN_INERTIA(1e-6, 6e-6, 6e-6, 0, 0, 0), .name = "proximal" },
    { .parent = PROXIMAL, .joint = MDYN_REVOLUTE, .position = MDYN_V3(0.045, 0, 0),
      .mass = MDYN_C(0.018), .com = MDYN_V3(0.014, 0, 0),
      .inertia = MDYN_INERTIA(5e-7, 2e-6, 2e-6, 0, 0, 0),
      .lower = MDYN_C(0), .upper = MDYN_C(OBJECT_AT), .name = "middle" },
    { .parent = MIDDLE, .joint = MDYN_REVOLUTE, .position = MDYN_V3(0.028, 0, 0),
      .mass = MDYN_C(0.010), .com = MDYN_V3(0.010, 0, 0),
      .inertia = MDYN_INERTIA(2e-7, 6e-7, 6e-7, 0, 0, 0), .name = "distal" },
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .position = MDYN_V3(-0.05, 0, 0),
      .inertia = MDYN_INERTIA(1e-6, 1e-6, 2e-6, 0, 0, 0), .name = "motor" },
};

#define RETURN_SPRING(joint, stiffness) \
    { .terms = { MDYN_TERM(joint, 1) }, .softness = MDYN_SPRING(stiffness, 4e-3) }

static const mdyn_coupling couplings[] = {
    /* What the pulleys take up is what the motor winds up:
           r_1 q_1 + r_2 q_2 + r_3 q_3 - r_m q_m = 0
       in meters of tendon, so the force of the row is its tension in newtons, positive when it
       pulls the joints to positive angles. (A tendon that may go slack: add
       .upper = MDYN_UNLIMITED, then the row can pull and never push. Here it stays taut.) */
    { .terms = { MDYN_TERM(PROXIMAL, R_PROXIMAL), MDYN_TERM(MIDDLE, R_MIDDLE),
                 MDYN_TERM(DISTAL, R_DISTAL), MDYN_TERM(MOTOR, -R_MOTOR) },
      .name = "tendon" },
    RETURN_SPRING(PROXIMAL, K_PROXIMAL),
    RETURN_SPRING(MIDDLE, K_MIDDLE),
    RETURN_SPRING(DISTAL, K_DISTAL),
};
static const mdyn_model finger = {
    .bodies = bodies, .body_count = 4, .couplings = couplings, .coupling_count = 4,
    .gravity = MDYN_V3(0, 0, -9.81), .dt = MDYN_C(0.001),
};
static mdyn_sim sim;

static double share(int coupling, int term)
{
    mdyn_wide force;
    must(&sim, mdyn_coupling_force(&sim, coupling, term, &force));
    return wide(force);
}

static double force(mdyn_row_kind kind, int index)
{
    mdyn_row_report row;
    must(&sim, mdyn_report_row(&sim, kind, index, &row));
    return wide(row.force);
}

int main(void)
{
    static const double r[3] = { R_PROXIMAL, R_MIDDLE, R_DISTAL };
    static const double k[3] = { K_PROXIMAL, K_MIDDLE, K_DISTAL };
    static const char *const torque_of[3] = { "tendon on the proximal joint [N m]",
                                              "tendon on the middle joint [N m]",
                                              "tendon on the distal joint [N m]" };
    const double tension = MOTOR_TORQUE / R_MOTOR; /* the motor at rest: torque = r_m tension */
    double loosest = -1e9;
    int i, step;

    must(&sim, mdyn_init(&sim, &finger));
    sim.tau[MOTOR] = MDYN_R(MOTOR_TORQUE);
    printf("  t [s]  proximal   middle   distal    motor [rad]  tension [N]  object [N m]\n");
    for (step = 1; step <= 3000; step++) {
        must(&sim, mdyn_step(&sim));
        loosest = worse(loosest, -force(MDYN_ROW_COUPLING, TENDON));
        if (step <= 200 ? step % 40 == 0 : step % 700 == 200) {
            printf("%7.2f %9.4f %8.4f %8.4f %8.4f %17.4f %13.4f\n", 0.001 * step,
                   real(sim.q[PROXIMAL]), real(sim.q[MIDDLE]), real(sim.q[DISTAL]),
                   real(sim.q[MOTOR]), force(MDYN_ROW_COUPLING, TENDON),
                   -force(MDYN_ROW_LIMIT, MIDDLE));
        }
    }

    CHECK("tension at rest [N]", force(MDYN_ROW_COUPLING, TENDON), tension,
          BY_SCALAR(5e-14, 2e-5, 1e-6));
    for (i = 0; i < 3; i++) {
        CHECK(torque_of[i], share(TENDON, i), r[i] * tension, BY_SCALAR(5e-16, 2e-7, 1e-8));
    }
    CHECK("tendon on the motor [N m]", share(TENDON, 3), -MOTOR_TORQUE,
          BY_SCALAR(5e-16, 2e-7, 1e-8));
    CHECK("proximal angle, r T / k [rad]", real(sim.q[PROXIMAL]), r[0] * tension / k[0],
          BY_SCALAR(5e-15, 2e-6, 1e-7));
    CHECK("middle angle, on the object [rad]", real(sim.q[MIDDLE]), OBJECT_AT,
          BY_SCALAR(1e-16, 3e-8, 2e-8));
    CHECK("distal angle, r T / k [rad]", real(sim.q[DISTAL]), r[2] * tension / k[2],
          BY_SCALAR(5e-15, 2e-6, 1e-7));
    CHECK("motor angle, sum r q / r_m [rad]", real(sim.q[MOTOR]),
          (r[0] * r[0] * tension / k[0] + r[1] * OBJECT_AT + r[2] * r[2] * tension / k[2])
              / R_MOTOR, BY_SCALAR(5e-15, 2e-6, 1e-7));
    /* Limit's torque on the joint: negative, it holds it back. The object feels the opposite. */
    CHECK("torque on the object, r T - k q [N m]", -force(MDYN_ROW_LIMIT, MIDDLE),
          r[1] * tension - k[1] * OBJECT_AT, BY_SCALAR(5e-16, 2e-7, 1e-8));
    CHECK("the tendon stays taut: tension above 0", loosest < 0, 1, 0);
    return check_result();
}
