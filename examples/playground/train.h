/* train.h - twelve wheels in a row, meshing: solved exactly, or by a few iterations. */

#ifndef PLAYGROUND_TRAIN_H
#define PLAYGROUND_TRAIN_H

#include "machine.h"

enum { TRAIN_WHEELS = 12, TRAIN_SPEED = 0 };
#define TRAIN_ITERATIONS 4 /* of the train that is solved iteratively */

static const int train_teeth[TRAIN_WHEELS] = { 24, 13, 19, 16, 22, 11, 20, 15, 23, 12, 18, 21 };
static const hand train_hand = { 4, 0.12, 4 }, train_motor = { 0, 0.05, 2 };

/* A wheel's inertia goes with the fourth power of its teeth. */
static mdyn_body train_wheel(int teeth)
{
    const double r = teeth / 20.0, inertia = 2e-4 * r * r * r * r;
    mdyn_body wheel = { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .damping = MDYN_C(2e-4) };
    wheel.armature = mdyn_wide_from(inertia);
    return wheel;
}

static void train_start(machine *m, int iterated)
{
    static const mdyn_model empty = { .dt = MDYN_C(0.001) };
    static const mdyn_coupling mesh = MDYN_GEAR(0, 1, 1, 1, 0);
    int i;
    m->model = empty;
    m->model.body_count = TRAIN_WHEELS;
    m->model.coupling_count = TRAIN_WHEELS - 1;
    if (iterated) {
        m->model.solver.equality = MDYN_ITERATED;
        m->model.solver.iterations = TRAIN_ITERATIONS;
    }
    for (i = 0; i < TRAIN_WHEELS; i++) m->bodies[i] = train_wheel(train_teeth[i]);
    m->bodies[TRAIN_WHEELS - 1].damping = MDYN_C(0.01); /* the load */
    for (i = 0; i + 1 < TRAIN_WHEELS; i++) {
        m->couplings[i] = mesh;
        m->couplings[i].terms[0].body = (int16_t)i;
        m->couplings[i].terms[1].body = (int16_t)(i + 1);
        m->couplings[i].terms[0].coefficient = mdyn_wide_from(train_teeth[i]);
        m->couplings[i].terms[1].coefficient = mdyn_wide_from(train_teeth[i + 1]);
    }
    machine_begin(m);
}

/* The motor at the first wheel keeps a speed; speed 0 lets it run free. */
static int train_set(machine *m, int setting, double value)
{
    hand motor = train_motor;
    if (setting != TRAIN_SPEED) return MDYN_ERR_INDEX;
    if (m->held >= 0) machine_hold(m, -1, train_hand);
    if (!(value > 0 || value < 0)) motor.kd = 0;
    mdyn_set_target_velocity(&m->sim, 0, mdyn_real_from(value));
    return machine_drive(m, 0, motor);
}

/* For the hash: spun up, then turned back. */
static void train_script(machine *m, int step)
{
    if (step == 0) train_set(m, TRAIN_SPEED, 30);
    if (step == 600) train_set(m, TRAIN_SPEED, -30);
}

#endif
