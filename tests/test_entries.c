/* sim.report.entries: the non-zeros of the step that it reports, whatever the steps before had. A
   step that needs more than there are is refused, and leaves a sim that mdyn_verify passes. */
#define MIMICDYN_MAX_BODIES 3
#define MIMICDYN_MAX_DOFS 8
#define MIMICDYN_MAX_CONTACTS 2
#define MIMICDYN_MAX_ENTRIES 45 /* those of three bodies and one contact */
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

static mdyn_body body[3];
static mdyn_coupling coupling = MDYN_MIMIC(2, 1, 2, 0);
static mdyn_model model;
static mdyn_sim sim;

static int entries_of_step(int contacts) {
    mdyn_contact c;
    memset(&c, 0, sizeof c);
    c.b = MDYN_WORLD;
    c.normal.z = real(1);
    CHECK_EQUAL(mdyn_set_contacts(&sim, &c, contacts), MDYN_OK);
    CHECK(mdyn_step(&sim) >= 0);
    return sim.report.entries;
}

/* A free body, two rotors with a coupling and limits; a contact touches, leaves, touches. */
static void contact_that_leaves(mdyn_equality equality, int bodies) {
    memset(body, 0, sizeof body);
    memset(&model, 0, sizeof model);
    for (int i = 0; i < 3; i++) {
        body[i].parent = MDYN_WORLD;
        body[i].joint = i == 0 ? MDYN_FREE : MDYN_REVOLUTE;
        body[i].mass = wide(1);
        body[i].inertia.xx = body[i].inertia.yy = body[i].inertia.zz = wide(1);
        body[i].lower = wide(i == 0 ? 0 : -3);
        body[i].upper = wide(i == 0 ? 0 : 3);
    }
    model.bodies = body;
    model.body_count = bodies;
    model.couplings = &coupling;
    model.coupling_count = bodies == 3;
    model.dt = wide(0.001);
    model.solver.equality = equality;
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    const int without = entries_of_step(0), with = entries_of_step(1);
    CHECK(with > without);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(entries_of_step(0), without);
    }
    CHECK_EQUAL(entries_of_step(1), with);
    CHECK_EQUAL(entries_of_step(0), without);
}

/* Two contacts of three bodies are too many. */
static void contact_without_room(void) {
    mdyn_contact c[2];
    memset(c, 0, sizeof c);
    c[0].b = c[1].b = MDYN_WORLD;
    c[0].normal.z = c[1].normal.z = real(1);
    c[1].key = 1;
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(mdyn_set_contacts(&sim, c, 2), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_CAPACITY_ENTRIES);
        CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_set_contacts(&sim, c, 1), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    for (int bodies = 1; bodies <= 3; bodies += 2) {
        contact_that_leaves(MDYN_EXACT, bodies);
        if (bodies == 3) contact_without_room();
        contact_that_leaves(MDYN_ITERATED, bodies);
        if (bodies == 3) contact_without_room();
    }
    return check_end();
}
