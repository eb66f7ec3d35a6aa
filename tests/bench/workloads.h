/* Three mechanisms that other dynamics engines have been timed with, number for number.

   chain   n links hanging on each other, axes x, y, z in turn; 16 random states
   hand    five fingers of four joints, the outer two of each coupled to the second; drives
           pull it closed past its stops and open again within a second
   gears   n discs in a row, each meshing with the next, 2 : 1 and 1 : 2 in turn */
#ifndef WORKLOADS_H
#define WORKLOADS_H

#include "bodies.h"

#define PI 3.14159265358979323846

enum {
    CHAIN_STATES = 16, CHAIN_LONGEST = 50,
    FINGERS = 5, FINGER_JOINTS = 4, HAND_JOINTS = FINGERS * FINGER_JOINTS, HAND_COUPLINGS = 10,
    GEARS_MOST = 128,
    RUN = 1000 /* steps of 1 ms of hand and gears */
};
#define STEP 1e-3

typedef struct mechanism {
    mdyn_body body[GEARS_MOST];
    mdyn_coupling coupling[GEARS_MOST];
    mdyn_model model;
} mechanism;

/* coefficient_a q_a + coefficient_b q_b = 0 */
static void couple(mdyn_coupling *c, int a, double coefficient_a, int b, double coefficient_b) {
    c->terms[0].body = (int16_t)a;
    c->terms[0].coefficient = wide(coefficient_a);
    c->terms[1].body = (int16_t)b;
    c->terms[1].coefficient = wide(coefficient_b);
}

static void start(mechanism *m, int bodies, int couplings) {
    memset(m, 0, sizeof *m);
    m->model.bodies = m->body;
    m->model.body_count = bodies;
    m->model.couplings = m->coupling;
    m->model.coupling_count = couplings;
    m->model.dt = wide(STEP);
}

/* ---- chain ---- */

static void make_chain(mechanism *m, int n) {
    start(m, n, 0);
    m->model.gravity = wide3(0, 0, -9.81);
    for (int i = 0; i < n; i++) {
        mdyn_body *b = &m->body[i];
        b->parent = (int16_t)(i - 1);
        b->joint = MDYN_REVOLUTE;
        b->axis = rod_axis(i);
        b->position = wide3(0, 0, i == 0 ? 0 : LINK);
        set_rod(b);
    }
}

/* Angles, speeds, torques of a state, in this order from one sequence. */
static void chain_state(int n, int state, mdyn_real *q, mdyn_real *v, mdyn_real *tau) {
    uint64_t random = (uint64_t)(1000 * n + state);
    mdyn_real *part[3] = { q, v, tau };
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < n; i++) {
            part[k][i] = real(uniform(&random));
        }
    }
}

/* ---- hand ---- */

typedef struct finger {
    double x, y, yaw; /* of its root on the palm */
    double thickness;
    double length[FINGER_JOINTS], mass[FINGER_JOINTS];
} finger;

static const finger fingers[FINGERS] = {
    { 0.020, 0.045, 0.90, 0.018, { 0.020, 0.040, 0.030, 0.025 }, { 0.050, 0.030, 0.018, 0.010 } },
    { 0.090, 0.030, 0.08, 0.016, { 0.020, 0.045, 0.028, 0.022 }, { 0.040, 0.025, 0.012, 0.007 } },
    { 0.095, 0.005, 0.00, 0.016, { 0.020, 0.050, 0.030, 0.024 }, { 0.040, 0.028, 0.014, 0.008 } },
    { 0.090, -0.020, -0.08, 0.016, { 0.020, 0.046, 0.028, 0.022 },
      { 0.040, 0.025, 0.012, 0.007 } },
    { 0.080, -0.042, -0.16, 0.012, { 0.020, 0.036, 0.022, 0.020 },
      { 0.030, 0.018, 0.008, 0.005 } }
};

/* Spread about z on the palm, then three bends about y; the bones lie along x. */
static void make_finger(mechanism *m, int f) {
    static const double lower[FINGER_JOINTS] = { -0.30, -0.05, -0.05, -0.05 };
    static const double upper[FINGER_JOINTS] = { 0.30, 1.50, 1.60, 1.60 };
    const finger *shape = &fingers[f];
    double t = shape->thickness;
    for (int j = 0; j < FINGER_JOINTS; j++) {
        int i = FINGER_JOINTS * f + j;
        mdyn_body *b = &m->body[i];
        double l = shape->length[j], mass = shape->mass[j];
        double along = mass / 12 * (t * t + t * t), across = mass / 12 * (l * l + t * t);
        b->joint = MDYN_REVOLUTE;
        b->parent = (int16_t)(j == 0 ? MDYN_WORLD : i - 1);
        b->position = wide3(j == 0 ? shape->x : shape->length[j - 1], j == 0 ? shape->y : 0, 0);
        if (j == 0) {
            b->rotation.w = wide(cos(shape->yaw / 2));
            b->rotation.z = wide(sin(shape->yaw / 2));
        }
        b->axis = wide3(0, j != 0, j == 0);
        b->mass = wide(mass);
        b->com = wide3(l / 2, 0, 0);
        set_inertia(b, (double[6]){ along, across, across, 0, 0, 0 });
        b->armature = wide(1e-5);
        b->lower = wide(lower[j]);
        b->upper = wide(upper[j]);
    }
    int proximal = FINGER_JOINTS * f + 1;
    couple(&m->coupling[2 * f], proximal + 1, 1, proximal, -0.8);
    couple(&m->coupling[2 * f + 1], proximal + 2, 1, proximal + 1, -1);
}

static void make_hand(mechanism *m) {
    start(m, HAND_JOINTS, HAND_COUPLINGS);
    m->model.gravity = wide3(0, -3, -9.34);
    for (int f = 0; f < FINGERS; f++) {
        make_finger(m, f);
    }
}

/* A law of the user's own, explicit in time, so that every engine gets the same torques: damping
   of all joints, and springs and dampers that draw the proximal ones to a wave of 1.7 rad. */
static void hand_torques(double time, const mdyn_real *q, const mdyn_real *v, mdyn_real *tau) {
    double angle = 2 * PI * time, peak = 1.7;
    double target = peak / 2 * (1 - cos(angle)), speed = peak / 2 * 2 * PI * sin(angle);
    for (int i = 0; i < HAND_JOINTS; i++) {
        double torque = -2e-4 * of_real(v[i]);
        if (i % FINGER_JOINTS == 1) {
            torque += 0.5 * (target - of_real(q[i])) + 0.012 * (speed - of_real(v[i]));
        }
        tau[i] = real(torque);
    }
}

/* ---- gears ---- */

static double gear_gain(int i) { /* turns of disc i for one turn of disc 0 */
    return i % 2 == 0 ? 1 : -2;
}

static void make_gears(mechanism *m, int n) {
    double mass = 0.2, radius = 0.03, thickness = 0.01;
    double across = mass / 12 * (3 * radius * radius + thickness * thickness);
    start(m, n, n - 1);
    for (int i = 0; i < n; i++) {
        mdyn_body *b = &m->body[i];
        b->parent = MDYN_WORLD;
        b->joint = MDYN_REVOLUTE;
        b->position = wide3(0.07 * i, 0, 0);
        b->mass = wide(mass);
        set_inertia(b, (double[6]){ across, across, mass / 2 * radius * radius, 0, 0, 0 });
    }
    for (int i = 0; i + 1 < n; i++) {
        couple(&m->coupling[i], i + 1, 1, i, i % 2 == 0 ? 2 : 0.5);
    }
}

/* Acceleration that disc 0 shall have: to and fro, or ever faster. */
#define GEARS_SWING (4 * PI) /* rad/s */
typedef enum gear_drive { SWING, SPIN } gear_drive;

static double gear_acceleration(gear_drive drive, double time) {
    return drive == SPIN ? 60 : 100 * cos(GEARS_SWING * time);
}

/* ... and the torque on it that moves the whole train so. */
static double gear_torque(gear_drive drive, int n, double time) {
    double inertia = 0;
    for (int i = 0; i < n; i++) {
        inertia += 0.5 * 0.2 * 0.03 * 0.03 * gear_gain(i) * gear_gain(i);
    }
    return inertia * gear_acceleration(drive, time);
}

#endif
