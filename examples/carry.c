/* carry.c - a boom takes a box from a stand, swings it, throws it, and a net stops it: welds that
   are closed where the bodies are, and released again.
   Checked: taking the box moves nothing and loads the boom with its weight; the swing is that of
   one body; thrown, the box keeps its velocity and spin, and falls; the net stops it at once.
   By hand: cc -O2 examples/carry.c -lm -o carry && ./carry */

#define MIMICDYN_MAX_BODIES 2
#define MIMICDYN_MAX_DOFS 7
#define MIMICDYN_MAX_BODY_ROWS 12 /* two welds */
#define MIMICDYN_MAX_ENTRIES 250
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

enum { BOOM, BOX };
enum { TO_WORLD, TO_BOOM };
#define DT 0.001
#define G 9.81
#define R 0.5         /* from the boom's axis to the box's center [m] */
#define MASS 2.0      /* of the box [kg] */
#define BALL 0.02     /* its moment of inertia about every axis [kg m^2] */
#define SHAFT 0.48    /* moment of inertia of the boom [kg m^2] */
#define TORQUE 1.5    /* [N m] */
#define IN_TIME BY_SCALAR(5e-7, 2e-5, 5e-7) /* of steps of 1 ms */

static const mdyn_body bodies[] = {
    { .name = "boom", .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .axis = MDYN_V3(0, 0, 1),
      .armature = MDYN_C(SHAFT) },
    { .name = "box", .parent = MDYN_WORLD, .joint = MDYN_FREE, .mass = MDYN_C(MASS),
      .inertia = MDYN_INERTIA(BALL, BALL, BALL, 0, 0, 0) },
};
/* A table in RAM: mdyn_close_here writes where the box is held. */
static mdyn_closure closures[] = {
    { .name = "stand", .kind = MDYN_CLOSE_WELD, .a = BOX, .b = MDYN_WORLD },
    { .name = "grip", .kind = MDYN_CLOSE_WELD, .a = BOX, .b = BOOM },
};
static const mdyn_real start[] = { 0, MDYN_R(R), 0, MDYN_R(1), MDYN_R(0.8), 0, MDYN_R(0.6), 0 };
static const mdyn_model model = {
    .bodies = bodies, .body_count = 2, .closures = closures, .closure_count = 2,
    .gravity = MDYN_V3(0, 0, -G), .dt = MDYN_C(DT), .start = start,
};
static mdyn_sim sim;

static void hold(int closure)
{
    must(&sim, mdyn_close_here(&sim, &closures[closure]));
    must(&sim, mdyn_engage_closure(&sim, closure, MDYN_ENGAGE_OFFSET));
}

static void let_go(int closure)
{
    must(&sim, mdyn_engage_closure(&sim, closure, MDYN_RELEASE));
}

static void steps(int n, const char *what)
{
    while (n-- > 0) must(&sim, mdyn_step(&sim));
    printf("%-10s boom %7.4f rad, box at %7.4f %7.4f %7.4f m, %7.4f %7.4f %7.4f m/s\n", what,
           real(sim.q[0]), real(sim.q[1]), real(sim.q[2]), real(sim.q[3]), real(sim.v[4]),
           real(sim.v[5]), real(sim.v[6]));
}

int main(void)
{
    const double rate = TORQUE / (SHAFT + BALL + MASS * R * R); /* of the boom's velocity */
    const double within = BY_SCALAR(1e-11, 2e-6, 1e-8);
    double angle, v, x, y, spin;
    mdyn_row_report weight;

    /* from the stand to the boom */
    must(&sim, mdyn_init(&sim, &model));
    hold(TO_WORLD);
    let_go(TO_BOOM);
    steps(100, "standing");
    hold(TO_BOOM);
    let_go(TO_WORLD);
    steps(100, "held");
    must(&sim, mdyn_report_row(&sim, MDYN_ROW_CLOSURE, 6 * TO_BOOM + 2, &weight));
    CHECK("angle of the boom", real(sim.q[0]), 0, within);
    CHECK("height of the box", real(sim.q[3]), 1, within);
    CHECK("force of the grip", wide(weight.force), MASS * G, 10 * within);

    /* as one body */
    sim.tau[0] = MDYN_R(TORQUE);
    steps(1000, "swung");
    angle = real(sim.q[0]);
    v = R * real(sim.v[0]);
    x = real(sim.q[1]);
    y = real(sim.q[2]);
    CHECK("angle after a second", angle, rate / 2, IN_TIME);
    CHECK("its rate", real(sim.v[0]), rate, IN_TIME);
    CHECK("box beside the boom", hypot(x - R * cos(angle), y - R * sin(angle)), 0, IN_TIME);

    /* thrown along the tangent */
    sim.tau[0] = 0;
    let_go(TO_BOOM);
    steps(300, "thrown");
    spin = sqrt(pow(real(sim.v[1]), 2) + pow(real(sim.v[2]), 2) + pow(real(sim.v[3]), 2));
    CHECK("way along x", real(sim.q[1]) - x, -0.3 * v * sin(angle), IN_TIME);
    CHECK("way along y", real(sim.q[2]) - y, 0.3 * v * cos(angle), IN_TIME);
    CHECK("fall", real(sim.q[3]) - 1, -G * 0.09 / 2, IN_TIME);
    CHECK("spin of the box", spin, rate, IN_TIME);
    CHECK("the boom goes on", real(sim.q[0]) - angle, 0.3 * rate, IN_TIME);

    /* into the net */
    x = real(sim.q[1]);
    hold(TO_WORLD);
    steps(500, "caught");
    CHECK("velocity of the box", hypot(hypot(real(sim.v[4]), real(sim.v[5])), real(sim.v[6])), 0,
          within);
    must(&sim, mdyn_verify(&sim));
    return check_result();
}
