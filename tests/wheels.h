/* Wheels of equal inertia on axes that stand side by side on the world, to be coupled. Included
   after mimicdyn.h and check.h. */
#ifndef WHEELS_H
#define WHEELS_H

enum { WHEELS = 128 };
static mdyn_sim sim;
static mdyn_body body[WHEELS];
static mdyn_coupling coupling[WHEELS];
static mdyn_model model;

static void wheels(int count, double inertia, double dt) {
    memset(body, 0, sizeof body);
    memset(coupling, 0, sizeof coupling);
    memset(&model, 0, sizeof model);
    for (int i = 0; i < count; i++) {
        body[i].parent = MDYN_WORLD;
        body[i].joint = MDYN_REVOLUTE;
        body[i].position.x = wide(0.07 * i);
        body[i].mass = wide(0.2);
        body[i].inertia.xx = body[i].inertia.yy = wide(inertia / 2);
        body[i].inertia.zz = wide(inertia);
    }
    model.bodies = body;
    model.body_count = count;
    model.couplings = coupling;
    model.dt = wide(dt);
}

#endif
