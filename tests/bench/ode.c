/* The stacks and the chain of solvers.c by ODE: dWorldStep, which is Dantzig's pivoting, and
   dWorldQuickStep, iterations. bench.sh builds and runs it where ODE is installed; by hand:

   cc -std=c99 -O2 tests/bench/ode.c -lode -lm
   ode version                "ODE 0.16.2"
   ode run MECHANISM METHOD   "NANOSECONDS ROWS PLACE ROW UNSOLVED" of a step, as solvers, but that
                              jitterN has no PLACE, and UNSOLVED counts messages of failure;
                              METHOD is step, quick or quick100 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include "scenes.h"

#include <ode/ode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dWorldID world;
static dJointGroupID contacts;
static dBodyID body[LINKS];
static touch touches[BOX_MOST][BOX_TOUCHES];
static double side[BOX_MOST][BOX_TOUCHES][2][3]; /* of friction */
static place before[LINKS];
static dJointFeedback feedback[BOX_MOST][BOX_TOUCHES];
static int bodies, jitter, failures;

/* ODE says so when its pivoting fails. */
static void count_message(int number, const char *text, va_list values) {
    (void)number;
    (void)text;
    (void)values;
    failures++;
}

/* A body of the inertia xx, yy, zz, xy, xz, yz about its center of mass, which is where it is. */
static void add_body(double mass, const double *I, const double *at) {
    dMass m;
    dBodyID b = dBodyCreate(world);
    dMassSetParameters(&m, mass, 0, 0, 0, I[0], I[1], I[2], I[3], I[4], I[5]);
    dBodySetMass(b, &m);
    dBodySetPosition(b, at[0], at[1], at[2]);
    dBodySetDamping(b, 0, 0);
    body[bodies++] = b;
}

static void make_stack(int count) {
    dWorldSetGravity(world, BOX_ASIDE, 0, -BOX_DOWN);
    for (int i = 0; i < count; i++) {
        double at[3], turn;
        box_start(i, jitter, at, &turn);
        const dReal q[4] = { cos(turn / 2), 0, 0, sin(turn / 2) };
        add_body(BOX_MASS, box_inertia, at);
        dBodySetQuaternion(body[i], q);
    }
}

static void make_chain(void) {
    dWorldSetGravity(world, -LINK_FALL, 0, 0);
    for (int i = 0; i < LINKS; i++) {
        const double at[3] = { link_com[0], link_com[1], link_com[2] + LINK * i };
        dJointID hinge = dJointCreateHinge(world, 0);
        add_body(LINK_MASS, link_inertia, at);
        dJointAttach(hinge, body[i], i > 0 ? body[i - 1] : 0);
        dJointSetHingeAnchor(hinge, 0, 0, LINK * i);
        dJointSetHingeAxis(hinge, i % 3 == 0, i % 3 == 1, i % 3 == 2);
    }
}

/* Where a body is; its origin is `from` in the axes of the body that ODE has, about the center. */
static place placed(int i, const double *from) {
    const dReal *at = dBodyGetPosition(body[i]), *q = dBodyGetQuaternion(body[i]);
    const double position[3] = { at[0], at[1], at[2] }, turn[4] = { q[0], q[1], q[2], q[3] };
    place p = place_of(position, turn);
    double origin[3];
    to_world(&p, 1, from, origin);
    return place_of(origin, turn);
}

static const double center[3] = { 0, 0, 0 };

static void add_contact(int i, int k) {
    const touch *t = &touches[i][k];
    dContact c;
    dJointID joint;
    memset(&c, 0, sizeof c);
    c.surface.mode = dContactApprox1 | dContactSoftERP | dContactFDir1;
    c.surface.mu = BOX_FRICTION;
    c.surface.soft_erp = BOX_ERP;
    for (int j = 0; j < 3; j++) {
        c.geom.pos[j] = t->point[j];
        c.geom.normal[j] = t->normal[j];
    }
    /* ODE's second direction is normal x first; the first lies in the plane of x and the normal */
    const double y[3] = { 0, 1, 0 };
    cross(y, t->normal, side[i][k][0]);
    const double length = sqrt(dot(side[i][k][0], side[i][k][0]));
    for (int j = 0; j < 3; j++) {
        side[i][k][0][j] /= length;
        c.fdir1[j] = side[i][k][0][j];
    }
    cross(t->normal, side[i][k][0], side[i][k][1]);
    c.geom.depth = t->depth > 0 ? t->depth : 0;
    joint = dJointCreateContact(world, contacts, &c);
    dJointAttach(joint, body[i], i > 0 ? body[i - 1] : 0);
    dJointSetFeedback(joint, &feedback[i][k]);
}

static void touch_all(void) {
    dJointGroupEmpty(contacts);
    for (int i = 0; i < bodies; i++) {
        before[i] = placed(i, center);
        box_touch(&before[i], i > 0 ? &before[i - 1] : NULL, touches[i]);
        for (int k = 0; k < BOX_TOUCHES; k++) {
            add_contact(i, k);
        }
    }
}

/* Adds `times` the velocity of a body's point, as it was placed before the step. */
static void add_velocity(int i, double times, const double *point, double *v) {
    const dReal *linear = dBodyGetLinearVel(body[i]), *angular = dBodyGetAngularVel(body[i]);
    const double w[3] = { angular[0], angular[1], angular[2] };
    double arm[3], turning[3];
    for (int k = 0; k < 3; k++) {
        arm[k] = point[k] - before[i].at[k];
    }
    cross(w, arm, turning);
    for (int k = 0; k < 3; k++) {
        v[k] += times * (linear[k] + turning[k]);
    }
}

static double contact_miss(int i, int k) {
    const touch *t = &touches[i][k];
    const dReal *f = feedback[i][k].f1;
    const double force[3] = { f[0], f[1], f[2] };
    const double *way[3] = { t->normal, side[i][k][0], side[i][k][1] };
    double v[3] = { 0, 0, 0 }, impulse[3], speed[3];
    add_velocity(i, 1, t->point, v);
    if (i > 0) {
        add_velocity(i - 1, -1, t->point, v);
    }
    for (int j = 0; j < 3; j++) {
        impulse[j] = SCENE_STEP * dot(force, way[j]);
        speed[j] = dot(v, way[j]);
    }
    return touch_miss(impulse, speed, t->depth > 0 ? BOX_ERP * t->depth / SCENE_STEP : 0);
}

static void stack_errors(tilt *lean, double *off, double *miss) {
    tilt_step(lean, bodies);
    for (int i = 0; i < bodies; i++) {
        const place box = placed(i, center);
        double at[3];
        tilted(lean, i, at);
        *off = larger(distance(box.at, at), *off);
        for (int k = 0; k < BOX_TOUCHES; k++) {
            *miss = larger(contact_miss(i, k), *miss);
        }
    }
}

static void chain_errors(double *gap, double *energy) {
    const double from[3] = { -link_com[0], -link_com[1], -link_com[2] };
    double kinetic = 0, potential = 0;
    for (int i = 0; i < LINKS; i++) {
        const dReal *v = dBodyGetLinearVel(body[i]), *w = dBodyGetAngularVel(body[i]);
        const place rod = placed(i, from);
        const double linear[3] = { v[0], v[1], v[2] };
        dVector3 angular;
        dBodyVectorFromWorld(body[i], w[0], w[1], w[2], angular);
        const double turning[3] = { angular[0], angular[1], angular[2] };
        rod_energy(&rod, linear, turning, &kinetic, &potential);
        *gap = larger(hinge_gap(&rod, i > 0 ? &before[i - 1] : NULL, i), *gap);
        before[i] = rod;
    }
    *energy = energy_error(kinetic, potential);
}

static int run(const char *mechanism, const char *method) {
    const int chain = strcmp(mechanism, "chain") == 0, pivots = strcmp(method, "step") == 0;
    double took = 0, off = 0, miss = 0;
    tilt lean = { 0, 0 };
    jitter = mechanism[0] == 'j';
    dWorldSetQuickStepNumIterations(world, strcmp(method, "quick100") == 0 ? 100 : 20);
    if (chain) {
        make_chain();
    } else {
        make_stack(atoi(mechanism + strlen(jitter ? "jitter" : "stack")));
    }
    for (int k = 0; k < SCENE_STEPS; k++) {
        if (!chain) {
            touch_all();
        }
        double begun = now_ns();
        if (pivots) {
            dWorldStep(world, SCENE_STEP);
        } else {
            dWorldQuickStep(world, SCENE_STEP);
        }
        took += now_ns() - begun;
        if (chain) {
            chain_errors(&off, &miss);
        } else {
            stack_errors(&lean, &off, &miss);
        }
    }
    printf("%.0f %d ", took / SCENE_STEPS, bodies * (chain ? LINK_ROWS : BOX_ROWS));
    printf(jitter ? "-" : "%.1e", off);
    printf(" %.1e %d\n", miss, failures);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "version") == 0) {
        printf("ODE %s\n", dODE_VERSION);
        return 0;
    }
    if (argc != 4) {
        fprintf(stderr, "usage: %s version | run MECHANISM METHOD\n", argv[0]);
        return 2;
    }
    dInitODE();
    dSetMessageHandler(count_message);
    world = dWorldCreate();
    contacts = dJointGroupCreate(0);
    dWorldSetERP(world, 0.2);
    return run(argv[2], argv[3]);
}
