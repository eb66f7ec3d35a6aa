/* incline.c - a box on a plane that is tilted: dry friction at its four corners holds it up to the
   angle atan(mu), beyond which it slides with g (sin - mu cos).
   Checked: the last angle that holds and the first that does not, the acceleration at each angle,
   and that the heat is friction times the way; that a cone of friction holds as much along the
   diagonal as along an edge, and a pyramid sqrt(2) times as much.
   By hand: cc -O2 examples/incline.c -lm -o incline && ./incline */

#define MIMICDYN_MAX_BODIES 1
#define MIMICDYN_MAX_DOFS 6
#define MIMICDYN_MAX_CONTACTS 4
#define MIMICDYN_MAX_ENTRIES 300
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include "box.h"

#define MU 0.5
#define G 9.81
#define DT 0.001
#define STEPS 500
#define DEGREE (3.141592653589793 / 180)

static const mdyn_body box[] = { BOX(2) };
static mdyn_model model = { .bodies = box, .body_count = 1, .dt = MDYN_C(DT) };
static mdyn_sim sim;

typedef struct slide { double speed, way, heat, drop; } slide;

/* Half a second on a plane of that angle, which falls in the direction (x, y). */
static slide run(double angle, double x, double y, mdyn_friction_law law)
{
    slide s = { 0, 0, 0, 0 };
    mdyn_contact contacts[BOX_CORNERS];
    mdyn_wide kinetic, potential, start;
    int n, k;

    model.solver.friction_law = law;
    model.gravity.x = MDYN_C(G * sin(angle) * x); /* the plane stays level, gravity tilts */
    model.gravity.y = MDYN_C(G * sin(angle) * y);
    model.gravity.z = MDYN_C(-G * cos(angle));
    must(&sim, mdyn_init(&sim, &model));
    sim.q[2] = MDYN_R(BOX_H);
    must(&sim, mdyn_energy(&sim, &kinetic, &start));
    for (n = 0; n < STEPS; n++) {
        double push = 0;
        box_on(&sim, 0, MDYN_WORLD, MU, contacts, 0);
        must(&sim, mdyn_set_contacts(&sim, contacts, BOX_CORNERS));
        must(&sim, mdyn_step(&sim));
        for (k = 0; k < BOX_CORNERS; k++) {
            mdyn_row_report r;
            must(&sim, mdyn_report_row(&sim, MDYN_ROW_CONTACT, 3 * k, &r));
            push += wide(r.force);
        }
        s.speed = hypot(real(sim.v[3]), real(sim.v[4]));
        s.heat += MU * push * s.speed * DT;
    }
    must(&sim, mdyn_energy(&sim, &kinetic, &potential));
    s.way = hypot(real(sim.q[0]), real(sim.q[1]));
    s.drop = wide(start) - wide(potential) - wide(kinetic);
    return s;
}

int main(void)
{
    static const double angles[] = { 10, 20, 26, 26.5, 26.6, 27, 30, 40 };
    int i;

    printf("angle   slides [m/s^2]   g (sin - mu cos)   way [m]   heat [J]   mu n way [J]\n");
    for (i = 0; i < 8; i++) {
        const double angle = angles[i] * DEGREE;
        const double closed = fmax(0, G * (sin(angle) - MU * cos(angle)));
        const slide s = run(angle, 1, 0, MDYN_PYRAMID);
        const double a = s.speed / (STEPS * DT);
        printf("%5.1f %16.6f %18.6f %9.5f %10.6f %14.6f\n", angles[i], a, closed, s.way, s.drop,
               s.heat);
        CHECK("acceleration [m/s^2]", a, closed, BY_SCALAR(1e-11, 1e-5, 1e-5));
        /* the step takes friction at its end, gravity's way too: they differ by half a step */
        CHECK("heat is friction times way [J]", s.drop, s.heat, 0.003 * s.heat + 1e-6);
    }
    {
        const double angle = 30 * DEGREE, d = sqrt(0.5);
        const double slips = G * (sin(angle) - MU * cos(angle)) * STEPS * DT;
        CHECK("cone, along an edge [m/s]", run(angle, 1, 0, MDYN_CONE).speed, slips,
              BY_SCALAR(1e-11, 1e-5, 1e-5));
        CHECK("cone, along the diagonal [m/s]", run(angle, d, d, MDYN_CONE).speed, slips,
              BY_SCALAR(1e-11, 1e-5, 1e-5));
        CHECK("pyramid, along the diagonal [m/s]", run(angle, d, d, MDYN_PYRAMID).speed, 0,
              BY_SCALAR(1e-11, 1e-5, 1e-5));
    }
    return check_result();
}
