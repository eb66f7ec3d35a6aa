/* Free boxes on each other and on the ground, and the contacts at their corners. Included after
   rows_on_bodies.h. */
#ifndef BOXES_H
#define BOXES_H

#include "explicit.h"

enum { CORNERS = 4 };

/* `boxes` free boxes of mass 1, 2, ... and half sizes 0.1, 0.1, 0.05 on each other. */
static inline void boxes(int count, mdyn_friction_law law) {
    memset(&mech, 0, sizeof mech);
    for (int i = 0; i < count; i++) {
        mech.body[i] = free_box(1 + i);
    }
    mech.model.bodies = mech.body;
    mech.model.body_count = count;
    mech.model.gravity.z = wide(-9.81);
    mech.model.dt = wide(0x1p-10);
    mech.model.solver.friction_law = law;
    mech.model.solver.iterations = 1000;
    start();
    for (int i = 0; i < count; i++) {
        sim.q[7 * i + 2] = real(0.05 + 0.1 * i);
    }
}

/* The corners of each box against the top of what is below it; in any order. Keys begin at
   first_key. */
static inline void touch_with_keys(int count, double friction, int backwards, int first_key) {
    mdyn_contact c[MIMICDYN_MAX_CONTACTS];
    memset(c, 0, sizeof c);
    for (int n = 0; n < CORNERS * count; n++) {
        mdyn_contact *to = &c[backwards ? CORNERS * count - 1 - n : n];
        int i = n / CORNERS, corner = n % CORNERS;
        mdyn_real3 at, w, u, p;
        mdyn_real4 turn;
        memset(&at, 0, sizeof at);
        CHECK_EQUAL(mdyn_pose(&sim, i, &p, &turn), MDYN_OK);
        ld q[4] = { (ld)of_real(turn.w), (ld)of_real(turn.x), (ld)of_real(turn.y),
                    (ld)of_real(turn.z) }, R[3][3];
        ld x[3] = { corner & 1 ? 0.1L : -0.1L, corner & 2 ? 0.1L : -0.1L, -0.05L };
        t_quaternion(R, q);
        t_turn(x, R, x);
        at.x = real(of_real(p.x) + (double)x[0]);
        at.y = real(of_real(p.y) + (double)x[1]);
        at.z = real(of_real(p.z) + (double)x[2]);
        CHECK_EQUAL(mdyn_velocity(&sim, i, NULL, &w, &u), MDYN_OK);
        to->a = (int16_t)i;
        to->b = (int16_t)(i - 1); /* the box below, or the world */
        to->key = (uint16_t)(corner + first_key);
        to->point = at;
        to->normal.z = real(2);
        to->depth = real(0.1 * i - of_real(at.z));
        if (i > 0) {
            to->depth = real(of_real(sim.q[7 * (i - 1) + 2]) + 0.05 - of_real(at.z));
        }
        to->mu = wide(friction);
    }
    CHECK_EQUAL(mdyn_set_contacts(&sim, c, CORNERS * count), MDYN_OK);
}

static inline void touch(int count, double friction, int backwards) {
    touch_with_keys(count, friction, backwards, 0);
}

/* The method of the next steps. */
static inline void solve_by(mdyn_method method) {
    mech.model.solver.method = method;
    mdyn_sim kept = sim;
    start_again(&kept);
}

static inline void refused_model(int code, int index) {
    CHECK_EQUAL(init_explicit(&sim, &mech.model), code);
    CHECK_EQUAL(sim.culprit.code, code);
    CHECK_EQUAL(sim.culprit.index, index);
}

static inline void explained(mdyn_row_kind kind, int index, const char *want) {
    char text[200];
    CHECK_EQUAL(mdyn_explain(&sim, kind, index, text, sizeof text), MDYN_OK);
    CHECK_TEXT(text, want);
}

#endif
