/* Rods and inertias as the library takes them: what bench.c and solvers.c share. */
#ifndef BODIES_H
#define BODIES_H

#include "../check.h" /* real, wide: the scalars */
#include "rods.h"

/* xx, yy, zz, xy, xz, yz */
static inline void set_inertia(mdyn_body *b, const double *I) {
    b->inertia.xx = wide(I[0]);
    b->inertia.yy = wide(I[1]);
    b->inertia.zz = wide(I[2]);
    b->inertia.xy = wide(I[3]);
    b->inertia.xz = wide(I[4]);
    b->inertia.yz = wide(I[5]);
}

static inline void set_rod(mdyn_body *b) {
    b->mass = wide(LINK_MASS);
    b->com = wide3(link_com[0], link_com[1], link_com[2]);
    set_inertia(b, link_inertia);
}

/* Rods turn about x, y, z in turn. */
static inline mdyn_wide3 rod_axis(int i) {
    return wide3(i % 3 == 0, i % 3 == 1, i % 3 == 2);
}

#endif
