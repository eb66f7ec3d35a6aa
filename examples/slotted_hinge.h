/* slotted_hinge.h - a joint that the library does not have: a pin C in a straight slot of a plate
   D, in which it slides along x and turns about z. Its rows as wrenches, and how they change.
   Source: ArtiSynth, custom joints, the slotted hinge; (4.24) to (4.34).

   Frame G is where the pin would be if it sat exactly in the slot: at (x, 0, 0) in the axes of D,
   turned by theta about z. T_err = T_GD^-1 T_CD is what is wrong. Wrenches are (force, moment) in
   the axes of G at its origin; such a row's C' is the wrench times the twist of C against D. */

#ifndef EXAMPLES_SLOTTED_HINGE_H
#define EXAMPLES_SLOTTED_HINGE_H

#include <math.h>
#include <string.h>

/* The rows: three that keep the pin in the slot, ... */
enum { SLOT_Y, SLOT_Z, SLOT_TURN_X, SLOT_TURN_Y, SLOT_X, SLOT_THETA, SLOT_ROWS };

typedef struct slot {
    double x, theta;                 /* the coordinates; theta from -pi to pi */
    double error[6];                 /* of T_err: shift, rotation vector */
    double wrench[SLOT_ROWS][6];     /* the first four are held, the others have a range */
    double derivative[SLOT_ROWS][6]; /* of the wrenches in time, in the turning axes of G */
} slot;

/* r = R^T a */
static inline void slot_turn_back(double r[3], double R[3][3], const double a[3])
{
    double b[3];
    int k;
    for (k = 0; k < 3; k++) {
        b[k] = R[0][k] * a[0] + R[1][k] * a[1] + R[2][k] * a[2];
    }
    memcpy(r, b, sizeof b);
}

/* The joint as position and rotation of C in D have it: all but the derivatives. */
static inline void slot_find(slot *j, const double p[3], double R[3][3])
{
    double off[3], e[3], G[3][3], s, c, sine;
    int k;
    memset(j, 0, sizeof *j);
    j->x = p[0];
    j->theta = atan2(R[1][0] - R[0][1], R[0][0] + R[1][1]); /* the nearest turn about z */
    s = sin(j->theta);
    c = cos(j->theta);
    memset(G, 0, sizeof G);
    G[0][0] = G[1][1] = c;
    G[1][0] = s;
    G[0][1] = -s;
    G[2][2] = 1;
    off[0] = 0;
    off[1] = p[1];
    off[2] = p[2];
    slot_turn_back(j->error, G, off);
    /* C's z in G leans by the error of rotation: e = z of G cross that, of length sin(angle) */
    for (k = 0; k < 3; k++) {
        off[k] = R[k][2];
    }
    slot_turn_back(e, G, off);
    sine = hypot(e[0], e[1]);
    if (sine > 0) {
        const double angle = atan2(sine, e[2]);
        j->error[3] = -e[1] * angle / sine;
        j->error[4] = e[0] * angle / sine;
    }
    j->wrench[SLOT_Y][0] = s; /* y of D in the axes of G */
    j->wrench[SLOT_Y][1] = c;
    j->wrench[SLOT_Z][2] = 1;
    j->wrench[SLOT_TURN_X][3] = 1;
    j->wrench[SLOT_TURN_Y][4] = 1;
    j->wrench[SLOT_X][0] = c; /* x of D */
    j->wrench[SLOT_X][1] = -s;
    j->wrench[SLOT_THETA][5] = 1;
}

/* How the wrenches change while theta does: those along y and x of D turn back in G. */
static inline void slot_differentiate(slot *j, double theta_rate)
{
    const double s = j->wrench[SLOT_Y][0], c = j->wrench[SLOT_Y][1];
    memset(j->derivative, 0, sizeof j->derivative);
    j->derivative[SLOT_Y][0] = c * theta_rate;
    j->derivative[SLOT_Y][1] = -s * theta_rate;
    j->derivative[SLOT_X][0] = -s * theta_rate;
    j->derivative[SLOT_X][1] = -c * theta_rate;
}

/* d of a row: what is to become 0. */
static inline double slot_distance(const slot *j, int row)
{
    double d = 0;
    int k;
    for (k = 0; k < 6; k++) {
        d += j->wrench[row][k] * j->error[k];
    }
    return d;
}

/* A wrench of G as parts of a body's row, in axes whose columns are those of G: `angular` about a
   point that is `arm` away from G's origin (the body's origin), `linear`. */
static inline void slot_parts(const double wrench[6], double G[3][3], const double arm[3],
                              double angular[3], double linear[3])
{
    int k;
    for (k = 0; k < 3; k++) {
        linear[k] = G[k][0] * wrench[0] + G[k][1] * wrench[1] + G[k][2] * wrench[2];
        angular[k] = G[k][0] * wrench[3] + G[k][1] * wrench[4] + G[k][2] * wrench[5];
    }
    for (k = 0; k < 3; k++) {
        angular[k] += arm[(k + 1) % 3] * linear[(k + 2) % 3]
                    - arm[(k + 2) % 3] * linear[(k + 1) % 3];
    }
}

#endif
