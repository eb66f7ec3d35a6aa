/* Boxes in a stack and rods in a chain, number for number the same in solvers.c and ode.c. */
#ifndef BOXES_H
#define BOXES_H

#include <math.h>

#define BOX_A 0.1  /* half sizes [m] */
#define BOX_H 0.05
#define BOX_CORNERS 4
#define BOX_ACROSS ((BOX_A * BOX_A + BOX_H * BOX_H) / 3) /* of 1 kg */
#define BOX_UPRIGHT (2 * BOX_A * BOX_A / 3)
#define BOX_FRICTION 0.5
#define BOX_ERP 0.02 /* a stack is restless with more */

#define LINK 0.2
#define LINK_ALONG 1e-3
#define LINK_ACROSS (LINK * LINK / 12)

/* The lower corners of a box at p, turned by the quaternion q = (w, x, y, z). */
static inline void box_corners(const double *p, const double *q, double corner[BOX_CORNERS][3])
{
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    int k;
    for (k = 0; k < BOX_CORNERS; k++) {
        const double a = k & 1 ? BOX_A : -BOX_A, b = k & 2 ? BOX_A : -BOX_A, c = -BOX_H;
        corner[k][0] = p[0] + (1 - 2 * (y * y + z * z)) * a + 2 * (x * y - w * z) * b
            + 2 * (x * z + w * y) * c;
        corner[k][1] = p[1] + 2 * (x * y + w * z) * a + (1 - 2 * (x * x + z * z)) * b
            + 2 * (y * z - w * x) * c;
        corner[k][2] = p[2] + 2 * (x * z - w * y) * a + 2 * (y * z + w * x) * b
            + (1 - 2 * (x * x + y * y)) * c;
    }
}

/* The x axis of a body. */
static inline void rod_axis(const double *q, double *x)
{
    x[0] = 1 - 2 * (q[2] * q[2] + q[3] * q[3]);
    x[1] = 2 * (q[1] * q[2] + q[0] * q[3]);
    x[2] = 2 * (q[1] * q[3] - q[0] * q[2]);
}

/* How far the near end of a rod is from `end`, which becomes its far one. */
static inline double rod_gap(const double *p, const double *q, double *end)
{
    double x[3], gap = 0;
    int k;
    rod_axis(q, x);
    for (k = 0; k < 3; k++) {
        const double d = p[k] - LINK / 2 * x[k] - end[k];
        gap += d * d;
        end[k] = p[k] + LINK / 2 * x[k];
    }
    return sqrt(gap);
}

#endif
