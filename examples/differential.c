/* differential.c - an axle differential as one coupling: q_left + q_right - 2 q_ring = 0.
   Checked: both wheels get the same torque, half of what reaches the ring gear, at any speeds and
   loads, against the closed form of three coupled inertias; and with one wheel held on the ground
   the other turns at twice the ring gear's speed.
   By hand: cc -O2 examples/differential.c -lm -o differential && ./differential */

#define MIMICDYN_MAX_BODIES 3
#define MIMICDYN_MAX_TERMS 3
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

enum { LEFT, RIGHT, RING };
#define J_WHEEL 0.9 /* [kg m^2] */
#define J_RING 0.05
#define DT 0.001 /* [s] */

/* Angles and torques count forwards for all three, also for the ring gear. */
static const mdyn_body shafts[] = {
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE,
      .inertia = MDYN_INERTIA(0.5, 0.5, J_WHEEL, 0, 0, 0), .name = "left wheel" },
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE,
      .inertia = MDYN_INERTIA(0.5, 0.5, J_WHEEL, 0, 0, 0), .name = "right wheel" },
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE,
      .inertia = MDYN_INERTIA(0.03, 0.03, J_RING, 0, 0, 0), .name = "ring gear" },
};
static const mdyn_coupling couplings[] = {
    MDYN_GEAR3(LEFT, 1, RIGHT, 1, RING, -2, 0),
    { .terms = { MDYN_TERM(RIGHT, 1) }, .level = MDYN_VELOCITY }, /* right wheel on the ground */
};
static const mdyn_model axle = {
    .bodies = shafts, .body_count = 3, .couplings = couplings, .coupling_count = 1,
    .dt = MDYN_C(DT),
};
static const mdyn_model axle_held = {
    .bodies = shafts, .body_count = 3, .couplings = couplings, .coupling_count = 2,
    .dt = MDYN_C(DT),
};
static mdyn_sim sim;

static double share(int term)
{
    mdyn_wide force;
    must(&sim, mdyn_coupling_force(&sim, 0, term, &force));
    return wide(force);
}

static void print_row(const char *what)
{
    printf("%-22s %8.2f %8.2f %8.2f   %9.4f %9.4f %9.4f\n", what, real(sim.v[LEFT]),
           real(sim.v[RIGHT]), real(sim.v[RING]), share(LEFT), share(RIGHT), share(RING));
}

/* One step from given wheel speeds under given loads. The gear's force along the row, by hand:
   lambda = -(J M^-1 tau) / (J M^-1 J^T); each wheel gets lambda, the ring -2 lambda. */
static double one_step(const char *what, double left, double right, double load_left,
                       double load_right, double engine)
{
    const double lambda = -(load_left / J_WHEEL + load_right / J_WHEEL - 2 * engine / J_RING)
                        / (2 / J_WHEEL + 4 / J_RING);
    double miss;

    sim.q[LEFT] = sim.q[RIGHT] = sim.q[RING] = MDYN_R(0);
    sim.v[LEFT] = MDYN_R(left);
    sim.v[RIGHT] = MDYN_R(right);
    sim.v[RING] = MDYN_R((left + right) / 2);
    must(&sim, mdyn_reset(&sim)); /* the state was set by hand: forget digits of the old one */
    sim.tau[LEFT] = MDYN_R(load_left);
    sim.tau[RIGHT] = MDYN_R(load_right);
    sim.tau[RING] = MDYN_R(engine);
    must(&sim, mdyn_step(&sim));
    if (what) {
        print_row(what);
    }
    miss = fabs(share(LEFT) - lambda);
    miss = worse(miss, fabs(share(RIGHT) - lambda));
    miss = worse(miss, fabs(share(RING) + 2 * lambda) / 2);
    /* and the wheels follow: a = (load + lambda) / J */
    miss = worse(miss, fabs(real(sim.v[LEFT]) - left - DT * (load_left + lambda) / J_WHEEL));
    return worse(miss, fabs(real(sim.v[RIGHT]) - right - DT * (load_right + lambda) / J_WHEEL));
}

/* Numbers from -1 to 1, the same on every machine. */
static double scatter(void)
{
    static unsigned long state = 12345;
    state = (state * 1103515245ul + 12345ul) & 0x7ffffffful;
    return (double)state / 1073741824.0 - 1.0;
}

int main(void)
{
    const double tolerance = BY_SCALAR(2e-13, 5e-4, 3e-5);
    double worst = 0;
    int k;

    printf("%-22s %8s %8s %8s   %9s %9s %9s\n", "", "left", "right", "ring", "left", "right",
           "ring");
    printf("%-22s %26s   %29s\n", "", "speed [rad/s]", "torque of the gear [N m]");
    must(&sim, mdyn_init(&sim, &axle));
    CHECK("straight on, worst deviation", one_step("straight on", 40, 40, -60, -60, 120), 0,
          tolerance);
    CHECK("in a bend, worst deviation", one_step("in a bend", 30, 50, -60, -60, 120), 0,
          tolerance);
    CHECK("left on ice, worst deviation", one_step("left wheel on ice", 70, 10, -2, -60, 120), 0,
          tolerance);
    for (k = 0; k < 1000; k++) {
        const double miss = one_step(NULL, 100 * scatter(), 100 * scatter(), 200 * scatter(),
                                     200 * scatter(), 300 * scatter());
        worst = worse(worst, miss);
    }
    CHECK("any speeds and loads, worst of 1000", worst, 0, tolerance);

    /* Right wheel held: the left one and the ring make one shaft of J_WHEEL + J_RING / 4 that
       the engine's 4 N m turn with 2 N m. */
    must(&sim, mdyn_init(&sim, &axle_held));
    sim.tau[RING] = MDYN_R(4);
    for (k = 0; k < 1000; k++) {
        must(&sim, mdyn_step(&sim));
    }
    print_row("right wheel held");
    CHECK("left wheel after 1 s [rad/s]", real(sim.v[LEFT]), 1.0 * 2 / (J_WHEEL + J_RING / 4),
          BY_SCALAR(5e-15, 4e-6, 1e-6));
    CHECK("left wheel over ring gear", real(sim.v[LEFT]) / real(sim.v[RING]), 2,
          BY_SCALAR(1e-14, 1e-6, 5e-8));
    CHECK("right wheel stays [rad/s]", real(sim.v[RIGHT]), 0, BY_SCALAR(1e-14, 1e-6, 5e-8));
    return check_result();
}
