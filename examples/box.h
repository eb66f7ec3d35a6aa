/* box.h - boxes as free bodies, and the corners of one as contacts with the top of another or of
   the ground: what the examples with contacts share. The library does not look for contacts; this
   is the least that does. */

#ifndef EXAMPLES_BOX_H
#define EXAMPLES_BOX_H

#include <string.h>

#define BOX_A 0.1  /* half sizes [m] */
#define BOX_H 0.05
#define BOX_CORNERS 4

/* mass in kg, inertia of the block */
#define BOX(m) \
    { .parent = MDYN_WORLD, .joint = MDYN_FREE, .mass = MDYN_C(m), \
      .inertia = MDYN_INERTIA((m) * (BOX_A * BOX_A + BOX_H * BOX_H) / 3, \
                              (m) * (BOX_A * BOX_A + BOX_H * BOX_H) / 3, \
                              (m) * 2 * BOX_A * BOX_A / 3, 0, 0, 0) }

/* A point of a box's axes (a, b, c), in those of the world. */
static inline void box_point(mdyn_sim *sim, int box, double a, double b, double c, double *at)
{
    mdyn_real3 p;
    mdyn_real4 q;
    double w, x, y, z;
    must(sim, mdyn_pose(sim, box, &p, &q));
    w = real(q.w), x = real(q.x), y = real(q.y), z = real(q.z);
    at[0] = real(p.x) + (1 - 2 * (y * y + z * z)) * a + 2 * (x * y - w * z) * b
            + 2 * (x * z + w * y) * c;
    at[1] = real(p.y) + 2 * (x * y + w * z) * a + (1 - 2 * (x * x + z * z)) * b
            + 2 * (y * z - w * x) * c;
    at[2] = real(p.z) + 2 * (x * z - w * y) * a + 2 * (y * z + w * x) * b
            + (1 - 2 * (x * x + y * y)) * c;
}

/* The lower corners of a box on the top of the one below, or on the ground (MDYN_WORLD, z = 0).
   Returns how many contacts there are now. */
static inline int box_on(mdyn_sim *sim, int box, int below, double friction,
                         mdyn_contact *contacts, int count)
{
    double top[3] = { 0, 0, 0 }, normal[3] = { 0, 0, 1 }, at[3];
    int k;
    if (below != MDYN_WORLD) { /* contacts in the axes of what they are on: its turns count */
        box_point(sim, below, 0, 0, BOX_H, top);
        box_point(sim, below, 0, 0, BOX_H + 1, normal);
        for (k = 0; k < 3; k++) {
            normal[k] -= top[k];
        }
    }
    for (k = 0; k < BOX_CORNERS; k++) {
        mdyn_contact *to = &contacts[count++];
        memset(to, 0, sizeof *to);
        box_point(sim, box, k & 1 ? BOX_A : -BOX_A, k & 2 ? BOX_A : -BOX_A, -BOX_H, at);
        to->a = (int16_t)box;
        to->b = (int16_t)below;
        to->key = (uint16_t)k; /* the same corner in the next step */
        to->point.x = MDYN_R(at[0]);
        to->point.y = MDYN_R(at[1]);
        to->point.z = MDYN_R(at[2]);
        to->normal.x = MDYN_R(normal[0]);
        to->normal.y = MDYN_R(normal[1]);
        to->normal.z = MDYN_R(normal[2]);
        to->depth = MDYN_R((top[0] - at[0]) * normal[0] + (top[1] - at[1]) * normal[1]
                           + (top[2] - at[2]) * normal[2]);
        to->mu = MDYN_C(friction);
        to->softness.kind = MDYN_ERP_CFM; /* overlap is taken back slowly: the speed that it */
        to->softness.a = MDYN_C(0.02);    /* takes stays, and makes stacks restless */
    }
    return count;
}

#endif
