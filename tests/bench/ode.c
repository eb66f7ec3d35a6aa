/* The stack and the chain of solvers.c by ODE (0.16): dWorldStep, which is Dantzig's pivoting, and
   dWorldQuickStep, sweeps. bench.sh builds and runs it where ODE is installed; by hand:

   cc -std=c99 -O2 tests/bench/ode.c -lode -lm
   ode run MECHANISM METHOD   "NANOSECONDS ROWS ERROR" of a step, as solvers; METHOD is step,
                              quick or quick100 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include "boxes.h"

#include <math.h>
#include <ode/ode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEPS = 300, LINKS = 20, MOST = 20 };
#define STEP 1e-3

static dWorldID world;
static dJointGroupID contacts;
static dBodyID body[MOST];
static int bodies, failures;

/* ODE says so when its pivoting fails. */
static void count_message(int number, const char *text, va_list values) {
    (void)number;
    (void)text;
    (void)values;
    failures++;
}

static void add_body(double x, double z, double xx, double yy, double zz) {
    dMass mass;
    dBodyID b = dBodyCreate(world);
    dMassSetParameters(&mass, 1, 0, 0, 0, xx, yy, zz, 0, 0, 0);
    dBodySetMass(b, &mass);
    dBodySetPosition(b, x, 0, z);
    dBodySetDamping(b, 0, 0);
    body[bodies++] = b;
}

static void make_stack(int count) {
    for (int i = 0; i < count; i++) {
        add_body(0, BOX_H + 2 * BOX_H * i, BOX_ACROSS, BOX_ACROSS, BOX_UPRIGHT);
    }
}

static void make_chain(void) {
    for (int i = 0; i < LINKS; i++) {
        dJointID hinge = dJointCreateHinge(world, 0);
        add_body(LINK * (i + 0.5), 0, LINK_ALONG, LINK_ACROSS, LINK_ACROSS);
        dJointAttach(hinge, body[i], i > 0 ? body[i - 1] : 0);
        dJointSetHingeAnchor(hinge, LINK * i, 0, 0);
        dJointSetHingeAxis(hinge, 0, 1, 0);
    }
}

static void place_of(int i, double *p, double *q) {
    const dReal *position = dBodyGetPosition(body[i]), *turn = dBodyGetQuaternion(body[i]);
    for (int k = 0; k < 3; k++) {
        p[k] = position[k];
    }
    for (int k = 0; k < 4; k++) {
        q[k] = turn[k];
    }
}

static void touch(void) {
    dJointGroupEmpty(contacts);
    for (int i = 0; i < bodies; i++) {
        double p[3], q[4], top = 0, corner[BOX_CORNERS][3];
        if (i > 0) {
            place_of(i - 1, p, q);
            top = p[2] + BOX_H;
        }
        place_of(i, p, q);
        box_corners(p, q, corner);
        for (int k = 0; k < BOX_CORNERS; k++) {
            dContact c;
            memset(&c, 0, sizeof c);
            c.surface.mode = dContactApprox1 | dContactSoftERP;
            c.surface.mu = BOX_FRICTION;
            c.surface.soft_erp = BOX_ERP;
            for (int j = 0; j < 3; j++) {
                c.geom.pos[j] = corner[k][j];
            }
            c.geom.normal[2] = 1;
            c.geom.depth = top > corner[k][2] ? top - corner[k][2] : 0;
            dJointAttach(dJointCreateContact(world, contacts, &c), body[i],
                         i > 0 ? body[i - 1] : 0);
        }
    }
}

/* The larger error. Not fmax, which forgets a NaN. */
static double worse(double a, double b) {
    return a >= b || isnan(a) ? a : b;
}

static double error_of(int chain) {
    double worst = 0, end[3] = { 0, 0, 0 };
    for (int i = 0; i < bodies; i++) {
        double p[3], q[4];
        place_of(i, p, q);
        worst = worse(worst, chain ? rod_gap(p, q, end)
                                   : hypot(hypot(p[0], p[1]), p[2] - BOX_H - 2 * BOX_H * i));
    }
    return worst;
}

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

int main(int argc, char **argv) {
    double took = 0, worst = 0;
    if (argc != 4) {
        fprintf(stderr, "usage: %s run MECHANISM METHOD\n", argv[0]);
        return 2;
    }
    const int chain = strcmp(argv[2], "chain") == 0, pivots = strcmp(argv[3], "step") == 0;
    dInitODE();
    dSetMessageHandler(count_message);
    world = dWorldCreate();
    contacts = dJointGroupCreate(0);
    dWorldSetGravity(world, 0, 0, -9.81);
    dWorldSetERP(world, 0.2);
    dWorldSetQuickStepNumIterations(world, strcmp(argv[3], "quick100") == 0 ? 100 : 20);
    if (chain) {
        make_chain();
    } else {
        make_stack(atoi(argv[2] + strlen("stack")));
    }
    for (int k = 0; k < STEPS; k++) {
        if (!chain) {
            touch();
        }
        double begun = now_ns();
        if (pivots) {
            dWorldStep(world, STEP);
        } else {
            dWorldQuickStep(world, STEP);
        }
        took += now_ns() - begun;
        double error = error_of(chain);
        worst = error <= worst ? worst : error; /* NaN stays */
    }
    printf("%.0f %d %.2g\n", took / STEPS, bodies * (chain ? 5 : 12), worst);
    if (failures > 0) {
        printf("# ODE: %d messages of failure in %d steps\n", failures, STEPS);
    }
    return 0;
}
