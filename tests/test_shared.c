/* Memory that takes turns: the wrenches of floating trees, which a step adds up from its rows, and
   what a solve has for the row at hand, where entries are so few that both would be in one place.

   The truth: the same tree at the other end of the table, where it has other wrenches.

   Parallel rows iterate where the vector stood that rows set up after each other share: one that is
   activated afterwards must not take what they left for it. */
#define MIMICDYN_MAX_BODIES 17
#define MIMICDYN_MAX_DOFS 22
#define MIMICDYN_MAX_COUPLINGS 1
#define MIMICDYN_MAX_ROWS 2
#define MIMICDYN_MAX_ENTRIES 80
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

enum { ROTORS = 15, STEPS = 60 };

static mdyn_body body[ROTORS + 2];
static mdyn_model model;
static mdyn_sim sim;
static mdyn_real begin[8], q[STEPS][8], v[STEPS][7];

/* A free body that carries a hinge with a drive and a limit, behind rotors that rest. */
static void moves_behind(int rotors) {
    memset(body, 0, sizeof body);
    for (int i = 0; i < rotors + 2; i++) {
        body[i].parent = (int16_t)(i > rotors ? rotors : MDYN_WORLD);
        body[i].joint = i == rotors ? MDYN_FREE : MDYN_REVOLUTE;
        body[i].mass = wide(1);
        body[i].inertia.xx = body[i].inertia.yy = body[i].inertia.zz = wide(0.01);
    }
    body[rotors + 1].position.x = body[rotors + 1].com.y = wide(0.25);
    body[rotors + 1].drive_kp = wide(2);
    body[rotors + 1].effort = wide(1);
    body[rotors + 1].upper = wide(0.5);
    model.bodies = body;
    model.body_count = rotors + 2;
    model.dt = wide(0.001);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    sim.target[rotors + 6] = real(1);
    for (int k = 0; k < 3; k++) {
        sim.v[rotors + k] = real(k + 1);
    }
    if (rotors == 0) {
        memcpy(begin, sim.q, sizeof begin);
    }
    CHECK(memcmp(begin, &sim.q[rotors], sizeof begin) == 0);
    for (int n = 0; n < STEPS; n++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        if (rotors == 0) {
            memcpy(q[n], sim.q, sizeof q[n]);
            memcpy(v[n], sim.v, sizeof v[n]);
        }
        CHECK(memcmp(q[n], &sim.q[rotors], sizeof q[n]) == 0);
        CHECK(memcmp(v[n], &sim.v[rotors], sizeof v[n]) == 0);
    }
}

/* Of a drive and dry friction, which are solved together: the numbers of that do not stand there as
   a vector, whose entries they might name. */
static void leaves_no_vector(void) {
    memset(body, 0, sizeof body);
    body[0].parent = MDYN_WORLD;
    body[0].joint = MDYN_PRISMATIC;
    body[0].axis.x = wide(1);
    body[0].mass = wide(4);
    body[0].drive_kp = wide(100);
    body[0].drive_kd = wide(10);
    body[0].effort = wide(30);
    body[0].friction = wide(2);
    model.body_count = 1;
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    for (int n = 0; n < 20; n++) {
        sim.target[0] = real(n % 2 ? 1 : -1);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(MD_VECTOR(&sim)->first, -1);
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    for (int rotors = 0; rotors <= ROTORS; rotors++) {
        moves_behind(rotors);
    }
    leaves_no_vector();
    return check_end();
}
