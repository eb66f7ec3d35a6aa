/* pendulum.h - a chain of four rods; the last joint turns as the second one, backwards. Chaotic: it
   makes the smallest difference of two arithmetics visible. */

#ifndef PLAYGROUND_PENDULUM_H
#define PLAYGROUND_PENDULUM_H

#include "machine.h"

enum { PENDULUM_RODS = 4 };
#define PENDULUM_LENGTH 0.25 /* of a rod [m] */

static const mdyn_body pendulum_rod = {
    .joint = MDYN_REVOLUTE, .axis = MDYN_V3(0, 1, 0), .mass = MDYN_C(0.2),
    .com = MDYN_V3(0, 0, -PENDULUM_LENGTH / 2), .inertia = MDYN_INERTIA(1e-3, 1e-3, 1e-5, 0, 0, 0),
};
static const mdyn_coupling pendulum_mimic = MDYN_MIMIC(3, 1, -1, 0);
static const mdyn_real pendulum_pose[PENDULUM_RODS] = {
    MDYN_R(2.0), MDYN_R(0.5), MDYN_R(0.25), MDYN_R(-0.5)
};

static void pendulum_start(machine *m)
{
    static const mdyn_model empty = { .gravity = MDYN_V3(0, 0, -9.81), .dt = MDYN_C(0.001) };
    int i;
    m->model = empty;
    m->model.body_count = PENDULUM_RODS;
    m->model.coupling_count = 1;
    m->model.start = pendulum_pose;
    for (i = 0; i < PENDULUM_RODS; i++) {
        m->bodies[i] = pendulum_rod;
        m->bodies[i].parent = (int16_t)(i - 1);
        m->bodies[i].position.z = i > 0 ? MDYN_C(-PENDULUM_LENGTH) : MDYN_C(0);
    }
    m->couplings[0] = pendulum_mimic;
    machine_begin(m);
}

#endif
