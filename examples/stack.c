/* stack.c - ten boxes on each other, exactly aligned and just touching, and one that falls on top.
   Friction and push at every corner are found in each step; the library gets them from here.
   Checked: nothing sinks or creeps, every joint of the stack carries what is above it, and the box
   that falls comes to rest on top without entering the one below.
   By hand: cc -O2 examples/stack.c -lm -o stack && ./stack */

#define MIMICDYN_MAX_BODIES 11
#define MIMICDYN_MAX_DOFS 66
#define MIMICDYN_MAX_COUPLINGS 1
#define MIMICDYN_MAX_CONTACTS 44
#define MIMICDYN_MAX_ENTRIES 4000
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include "box.h"

#define BOXES 10 /* and one that falls */
#define G 9.81
#define DT 0.002
#define HEIGHT (2 * BOX_H)

static const mdyn_body boxes[] = {
    BOX(1), BOX(1), BOX(1), BOX(1), BOX(1), BOX(1), BOX(1), BOX(1), BOX(1), BOX(1), BOX(0.5),
};
static const mdyn_model model = {
    .bodies = boxes, .body_count = BOXES + 1, .gravity = MDYN_V3(0, 0, -G), .dt = MDYN_C(DT),
    .solver = { .iterations = 200 },
};
static mdyn_sim sim;

static double height_of(int box) { return real(sim.q[7 * box + 2]); }

/* Each box on the one below, the falling one too; from the top, as the weight goes: so each
   iteration hands it on to the ground. */
static void step(void)
{
    mdyn_contact contacts[BOX_CORNERS * (BOXES + 1)];
    int i, code, n = 0;
    for (i = BOXES; i >= 0; i--) {
        n = box_on(&sim, i, i == 0 ? MDYN_WORLD : i - 1, 0.5, contacts, n);
    }
    must(&sim, mdyn_set_contacts(&sim, contacts, n));
    code = mdyn_step(&sim);
    if (code != MDYN_WARN_NOT_CONVERGED) must(&sim, code); /* iterations converge slowly here */
}

/* The force under a box. */
static double carried(int box)
{
    double force = 0;
    int k;
    for (k = 0; k < BOX_CORNERS; k++) {
        mdyn_row_report r;
        must(&sim, mdyn_report_row(&sim, MDYN_ROW_CONTACT,
                                   3 * (BOX_CORNERS * (BOXES - box) + k), &r));
        force += wide(r.force);
    }
    return force;
}

int main(void)
{
    const double above = 0.02; /* the last one falls 2 cm */
    double deepest = 0, creep = 0, lowest = 0;
    int i, n;

    must(&sim, mdyn_init(&sim, &model));
    for (i = 0; i <= BOXES; i++) {
        sim.q[7 * i + 2] = MDYN_R(BOX_H + HEIGHT * i + (i == BOXES ? above : 0));
    }
    printf("time [s]   height of the top box [m]   its speed [m/s]   "
           "ground carries [N]   iterations\n");
    for (n = 0; n < 1500; n++) {
        step();
        if (n % 50 == 0 && n < 350) {
            printf("%8.3f %27.6f %17.5f %20.4f %12d\n", (n + 1) * DT, height_of(BOXES),
                   real(sim.v[6 * BOXES + 5]), carried(0), sim.report.iterations);
        }
        for (i = 0; i <= BOXES; i++) {
            const double gap = height_of(i) - (i ? height_of(i - 1) + HEIGHT : BOX_H);
            deepest = worse(deepest, -gap);
            creep = worse(creep, hypot(real(sim.q[7 * i]), real(sim.q[7 * i + 1])));
        }
        lowest = fmin(lowest, real(sim.v[6 * BOXES + 5]));
    }
    printf("  box   carries [N]   weight above [N]\n");
    for (i = 0; i <= BOXES; i++) {
        const double weight = G * (BOXES - i + 0.5);
        printf("%5d %13.4f %18.4f\n", i, carried(i), weight);
        CHECK("force under the box, over the weight", carried(i) / weight, 1,
              BY_SCALAR(1e-11, 2e-3, 2e-5));
    }
    CHECK("it fell with sqrt(2 g h) [m/s]", -lowest, sqrt(2 * G * above), G * DT);
    CHECK("height of the top box [m]", height_of(BOXES), BOX_H + HEIGHT * BOXES,
          BY_SCALAR(1e-12, 1e-6, 4e-8));
    CHECK("deepest overlap [m]", deepest, 0, BY_SCALAR(4e-6, 8e-6, 4e-6));
    CHECK("creep to the side [m]", creep, 0, 2e-4);
    return check_result();
}
