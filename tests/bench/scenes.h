/* Stacks of boxes and a chain of hinges, number for number the same in solvers.c and ode.c, and how
   what a solver made of them is judged. Only double: nothing here is the library's. */
#ifndef SCENES_H
#define SCENES_H

#include "rods.h"
#include <math.h>
#include <time.h>

enum { SCENE_STEPS = 200, BOX_MOST = 10, BOX_TOUCHES = 4, BOX_ROWS = 12, LINKS = 20,
       LINK_ROWS = 5 };
#define SCENE_STEP 1e-3

/* Cubes on the ground z = 0, each on four points of its lower face. Gravity leans, so that friction
   carries a tenth of what the weight is. */
#define BOX_HALF 0.1
#define BOX_ARM 0.08 /* from the middle of the face to a point, along either side */
#define BOX_MASS 1.0
#define BOX_INERTIA (BOX_MASS * 2 * BOX_HALF * BOX_HALF / 3)
static const double box_inertia[6] = { BOX_INERTIA, BOX_INERTIA, BOX_INERTIA, 0, 0, 0 };
#define BOX_FRICTION 0.5
#define BOX_ASIDE 1.0 /* of gravity, along x */
#define BOX_DOWN 9.75
#define BOX_ERP 0.02 /* a stack is restless with more */
#define BOX_SHIFT 0.025 /* jitter: most along x and along y, */
#define BOX_TURN 0.5    /* most turn about z, */
#define BOX_SINK 0.0005 /* overlap of each with what it is on */

static inline double dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void cross(const double *a, const double *b, double *c) {
    for (int k = 0; k < 3; k++) {
        int l = (k + 1) % 3, m = (k + 2) % 3;
        c[k] = a[l] * b[m] - a[m] * b[l];
    }
}

/* Where a body is, and its axes in those of the world. */
typedef struct place {
    double at[3], axis[3][3];
} place;

static inline place place_of(const double *at, const double *quaternion) {
    const double w = quaternion[0], *u = quaternion + 1;
    place p;
    for (int j = 0; j < 3; j++) {
        double one[3] = { j == 0, j == 1, j == 2 }, turned[3], twice[3];
        cross(u, one, turned);
        cross(u, turned, twice);
        p.at[j] = at[j];
        for (int k = 0; k < 3; k++) {
            p.axis[j][k] = one[k] + 2 * (w * turned[k] + twice[k]);
        }
    }
    return p;
}

/* A point or, from no place, a direction of the body's axes, in the world's. */
static inline void to_world(const place *p, int is_point, const double *local, double *world) {
    for (int k = 0; k < 3; k++) {
        world[k] = (is_point ? p->at[k] : 0) + p->axis[0][k] * local[0]
            + p->axis[1][k] * local[1] + p->axis[2][k] * local[2];
    }
}

static inline double distance(const double *a, const double *b) {
    return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

/* The larger error. Not fmax, which forgets a NaN. */
static inline double larger(double a, double b) {
    return a >= b || isnan(a) ? a : b;
}

static inline double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* ---- stacks ---- */

/* Where box i begins: exactly above the others, or with jitter. */
static inline void box_start(int i, int jitter, double *at, double *turn) {
    uint64_t random = (uint64_t)(4000 + i);
    for (int k = 0; k < 2; k++) {
        at[k] = jitter ? BOX_SHIFT * uniform(&random) : 0;
    }
    at[2] = BOX_HALF * (2 * i + 1) - (jitter ? BOX_SINK * (i + 1) : 0);
    *turn = jitter ? BOX_TURN * uniform(&random) : 0;
}

typedef struct touch {
    double point[3], normal[3], depth;
} touch;

/* Points of a box's lower face on the upper face of the one below; NULL: on the ground. */
static inline void box_touch(const place *box, const place *below, touch t[BOX_TOUCHES]) {
    static const double up[3] = { 0, 0, 1 };
    for (int k = 0; k < BOX_TOUCHES; k++) {
        const double arm[3] = { k & 1 ? BOX_ARM : -BOX_ARM, k & 2 ? BOX_ARM : -BOX_ARM, -BOX_HALF };
        to_world(box, 1, arm, t[k].point);
        t[k].depth = below ? BOX_HALF : 0;
        for (int j = 0; j < 3; j++) {
            t[k].normal[j] = below ? below->axis[2][j] : up[j];
            t[k].depth += ((below ? below->at[j] : 0) - t[k].point[j]) * t[k].normal[j];
        }
    }
}

/* By how much a row misses [m/s], 0 only if it is solved: if it has the speed that it shall have,
   or more with its impulse at `least`, or less with it at `most`. */
static inline double row_miss(double impulse, double least, double most, double excess) {
    double x = impulse - BOX_MASS * excess;
    x = x < least ? least : x > most ? most : x;
    return fabs(impulse - x) / BOX_MASS;
}

/* ... of the three rows of a contact: normal, then friction. */
static inline double touch_miss(const double *impulse, const double *speed, double asked) {
    const double most = BOX_FRICTION * (impulse[0] > 0 ? impulse[0] : 0);
    double worst = row_miss(impulse[0], 0, HUGE_VAL, speed[0] - asked);
    for (int k = 1; k < 3; k++) {
        worst = larger(row_miss(impulse[k], -most, most, speed[k]), worst);
    }
    return worst;
}

/* What an aligned stack does: with friction enough nothing slides. Up to 7 boxes stand; the weight
   of more is carried past the outer points of the lowest, about which all turn as one piece. */
typedef struct tilt {
    double angle, speed;
} tilt;

/* Center of box i of a stack that has turned about y. */
static inline void tilted(const tilt *t, int i, double *at) {
    const double x = -BOX_ARM, z = BOX_HALF * (2 * i + 1);
    at[0] = BOX_ARM + x * cos(t->angle) + z * sin(t->angle);
    at[1] = 0;
    at[2] = z * cos(t->angle) - x * sin(t->angle);
}

static inline void tilt_step(tilt *t, int boxes) {
    double moment = 0, inertia = 0;
    for (int i = 0; i < boxes; i++) {
        double at[3];
        tilted(t, i, at);
        at[0] -= BOX_ARM;
        moment += BOX_MASS * (BOX_ASIDE * at[2] + BOX_DOWN * at[0]);
        inertia += BOX_INERTIA + BOX_MASS * dot(at, at);
    }
    if (moment > 0) {
        t->speed += SCENE_STEP * moment / inertia;
        t->angle += SCENE_STEP * t->speed;
    }
}

/* ---- chain ---- */

/* How far rod i is from where its hinge holds it [m]: two points of the axis, a rod apart. */
static inline double hinge_gap(const place *rod, const place *before, int i) {
    double worst = 0;
    for (int far = 0; far < 2; far++) {
        double mine[3] = { 0, 0, 0 }, other[3] = { 0, 0, 0 }, a[3], b[3];
        mine[i % 3] = far ? LINK : 0;
        other[i % 3] = mine[i % 3];
        other[2] += before ? LINK : 0;
        to_world(rod, 1, mine, a);
        if (before) {
            to_world(before, 1, other, b);
        }
        worst = larger(distance(a, before ? b : other), worst);
    }
    return worst;
}

/* Energies of a rod [J], from the velocity of its center of mass and its turning, in its axes. */
static inline void rod_energy(const place *rod, const double *linear, const double *angular,
                              double *kinetic, double *potential) {
    const double *w = angular, *I = link_inertia;
    double com[3];
    to_world(rod, 1, link_com, com);
    *potential += LINK_MASS * LINK_FALL * com[0];
    *kinetic += LINK_MASS * dot(linear, linear) / 2
        + (I[0] * w[0] * w[0] + I[1] * w[1] * w[1] + I[2] * w[2] * w[2]) / 2
        + I[3] * w[0] * w[1] + I[4] * w[0] * w[2] + I[5] * w[1] * w[2];
}

/* Energy that came from nowhere, as part of what moves: the rods begin at rest. */
static inline double energy_error(double kinetic, double potential) {
    return fabs(kinetic + potential - LINKS * LINK_MASS * LINK_FALL * link_com[0]) / kinetic;
}

#endif
