/* A good model that has everything; each test spoils one thing in it. Included after check.h. */
#ifndef GOOD_MODEL_H
#define GOOD_MODEL_H

enum { LEADER, FOLLOWER, BALL, SHIP, BODIES };
static mdyn_body body[64];
static mdyn_coupling coupling[64];
static mdyn_model model;

static inline void good_model(void) {
    static const mdyn_body link = {
        .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .axis = MDYN_V3(0, 1, 0),
        .mass = MDYN_C(1), .com = MDYN_V3(0.25, 0, 0),
        .inertia = MDYN_INERTIA(0.5, 0.5, 0.5, 0, 0, 0)
    };
    mdyn_coupling mimic = MDYN_MIMIC(FOLLOWER, LEADER, 0.5, 0.125);
    mdyn_coupling gear = MDYN_GEAR(BALL, 2, SHIP, 3, 0);
    memset(body, 0, sizeof body);
    memset(coupling, 0, sizeof coupling);
    memset(&model, 0, sizeof model);
    for (int i = 0; i < BODIES + 1; i++) {
        body[i] = link; /* one more than counts: an index one too high finds a good body */
    }
    body[LEADER].lower = wide(-1);
    body[LEADER].upper = wide(2);
    body[FOLLOWER].parent = LEADER;
    body[FOLLOWER].friction = wide(0.25);
    body[FOLLOWER].drive_kd = wide(1);
    body[BALL].parent = FOLLOWER;
    body[BALL].joint = MDYN_SPHERICAL;
    body[SHIP].joint = MDYN_FREE;
    gear.level = MDYN_VELOCITY;
    gear.terms[1].axis = 4;
    coupling[0] = mimic;
    coupling[1] = gear;
    model.bodies = body;
    model.body_count = BODIES;
    model.couplings = coupling;
    model.coupling_count = 2;
    model.gravity.z = wide(-9.81);
    model.dt = wide(0.001);
}

#endif
