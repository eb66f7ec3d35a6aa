/* More numbers in G than 16 bits count: 1040 rotors, each of which follows all of 63 others. The
   places of the last ones began at 0 again, and took the numbers of the leaders. */
#define MIMICDYN_TREE 0
#define MIMICDYN_MAX_BODIES 1103
#define MIMICDYN_MAX_COUPLINGS 1040
#define MIMICDYN_MAX_TERMS 64
#define MIMICDYN_STATIC 1
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

enum { LEADERS = 63, FOLLOWERS = MIMICDYN_MAX_COUPLINGS };

/*                      F64    F32  FIXED */
TOLERANCE(FORCE,      1e-13,  2e-6,  3e-7);

static mdyn_sim sim;
static mdyn_body body[LEADERS + FOLLOWERS];
static mdyn_coupling coupling[FOLLOWERS];

static double ratio(int follower, int leader) {
    return follower % LEADERS == leader ? 1 : 1.0 / 64;
}

/* v_f = sum of ratios v_l for all 1 kg m^2, under 1 N m at each leader: by d'Alembert the impulse
   of each leader's torque is the change of v_l + sum of ratios v_f. */
static void test_many_ties(void) {
    mdyn_model model;
    memset(&model, 0, sizeof model);
    for (int i = 0; i < LEADERS + FOLLOWERS; i++) {
        body[i].parent = MDYN_WORLD;
        body[i].joint = MDYN_REVOLUTE;
        body[i].armature = wide(1);
    }
    for (int i = 0; i < FOLLOWERS; i++) {
        coupling[i].terms[0].body = (int16_t)(LEADERS + i);
        coupling[i].terms[0].coefficient = wide(1);
        for (int k = 0; k < LEADERS; k++) {
            coupling[i].terms[1 + k].body = (int16_t)k;
            coupling[i].terms[1 + k].coefficient = wide(-ratio(i, k));
        }
    }
    model.bodies = body;
    model.body_count = LEADERS + FOLLOWERS;
    model.couplings = coupling;
    model.coupling_count = FOLLOWERS;
    model.dt = wide(1);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    for (int k = 0; k < LEADERS; k++) {
        sim.tau[k] = real(1);
    }
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    for (int k = 0; k < LEADERS; k++) {
        double impulse = of_real(sim.v[k]);
        for (int i = 0; i < FOLLOWERS; i++) {
            impulse += ratio(i, k) * of_real(sim.v[LEADERS + i]);
        }
        CHECK_NEAR(impulse, 1, FORCE);
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_many_ties();
    return check_end();
}
