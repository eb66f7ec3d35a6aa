/* A second opinion on the dynamics: dense, slow, in long double, and by another road than the
   library's: Kane's equations. Velocities and accelerations of the centers of mass are written
   down with their Jacobians, and   M = sum (m Jc'Jc + Jw' I Jw) + armature,
   C = sum (Jc' m (ac - g) + Jw' (I alpha + w x I w) - Jo' force - Jw' moment).
   Also dense elimination, and random mechanisms. Included after mimicdyn.h and check.h. */
#ifndef TRUTH_H
#define TRUTH_H

#include "sims.h"

typedef long double ld;

enum {
    TB = 22,          /* what the largest mechanisms of the tests have: bodies */
    TN = 66,          /* degrees of freedom */
    TQ = TN + TN / 3, /* coordinates */
    TC = 16,          /* couplings */
    TR = 230,         /* rows */
    TS = TN + TR      /* unknowns of one step */
};

typedef struct truth {
    int bodies, dofs, coordinates;
    int dof[TB], coordinate[TB], dofs_of[TB];
    ld q[TQ], v[TN], tau[TN];
    ld moment[TB][3], force[TB][3]; /* external, at the origin, world axes */
    ld R[TB][3][3], o[TB][3];       /* pose */
    ld Jw[TB][TN][3], Jo[TB][TN][3];/* angular velocity, that of the origin, per unit speed */
    ld w[TB][3], u[TB][3];          /* velocity: angular, origin */
    ld alpha[TB][3], a[TB][3];      /* acceleration while the speeds stay constant */
    ld M[TN][TN], C[TN];
    ld kinetic, potential;
} truth;

/* ---- vectors ---- */

static inline ld t_dot(const ld a[3], const ld b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline void t_cross(ld r[3], const ld a[3], const ld b[3]) {
    ld x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2];
    r[2] = a[0] * b[1] - a[1] * b[0];
    r[0] = x;
    r[1] = y;
}
static inline void t_cross_add(ld r[3], const ld a[3], const ld b[3]) {
    ld c[3];
    t_cross(c, a, b);
    for (int i = 0; i < 3; i++) {
        r[i] += c[i];
    }
}
static inline void t_turn(ld r[3], ld R[3][3], const ld a[3]) {
    ld x = t_dot(R[0], a), y = t_dot(R[1], a);
    r[2] = t_dot(R[2], a);
    r[0] = x;
    r[1] = y;
}
static inline void t_compose(ld r[3][3], ld A[3][3], ld B[3][3]) {
    ld c[3][3];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            c[i][j] = A[i][0] * B[0][j] + A[i][1] * B[1][j] + A[i][2] * B[2][j];
        }
    }
    memcpy(r, c, sizeof c);
}

/* Rotation about an axis of any length (Rodrigues). */
static inline void t_axis_angle(ld R[3][3], const ld axis[3], ld angle) {
    ld l = sqrtl(t_dot(axis, axis)), c = cosl(angle), s = sinl(angle);
    ld n[3] = { axis[0] / l, axis[1] / l, axis[2] / l };
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            R[i][j] = n[i] * n[j] * (1 - c) + (i == j ? c : 0);
        }
    }
    R[0][1] -= s * n[2], R[1][0] += s * n[2];
    R[0][2] += s * n[1], R[2][0] -= s * n[1];
    R[1][2] -= s * n[0], R[2][1] += s * n[0];
}

/* Rotation of a quaternion (w, x, y, z) of any length: by its axis and angle. */
static inline void t_quaternion(ld R[3][3], const ld q[4]) {
    ld l = sqrtl(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), x[3] = { 1, 0, 0 };
    t_axis_angle(R, l > 0 ? q + 1 : x, l > 0 ? 2 * atan2l(l, q[0]) : 0);
}

/* q times the rotation by the vector phi (body axes). */
static inline void t_quaternion_move(ld q[4], const ld phi[3]) {
    ld angle = sqrtl(t_dot(phi, phi)), c = cosl(angle / 2);
    ld f = angle > 0 ? sinl(angle / 2) / angle : 0.5L;
    ld x = f * phi[0], y = f * phi[1], z = f * phi[2];
    ld r[4] = {
        q[0] * c - q[1] * x - q[2] * y - q[3] * z, q[0] * x + q[1] * c + q[2] * z - q[3] * y,
        q[0] * y - q[1] * z + q[2] * c + q[3] * x, q[0] * z + q[1] * y - q[2] * x + q[3] * c
    };
    memcpy(q, r, sizeof r);
}

/* ---- the mechanism ---- */

static inline void t_wide3(ld r[3], const mdyn_wide3 *a) {
    r[0] = (ld)of_wide(a->x);
    r[1] = (ld)of_wide(a->y);
    r[2] = (ld)of_wide(a->z);
}
static inline int t_dofs_of(mdyn_joint joint) {
    static const int dofs[] = { 0, 1, 1, 1, 3, 6 };
    return dofs[joint];
}

/* Numbers the speeds and coordinates, and starts at coordinates 0, quaternions 1. */
static inline void truth_init(truth *t, const mdyn_model *m) {
    memset(t, 0, sizeof *t);
    t->bodies = m->body_count;
    for (int i = 0; i < t->bodies; i++) {
        mdyn_joint joint = m->bodies[i].joint;
        t->dof[i] = t->dofs;
        t->coordinate[i] = t->coordinates;
        t->dofs_of[i] = t_dofs_of(joint);
        if (joint == MDYN_SPHERICAL) {
            t->q[t->coordinates] = 1;
        } else if (joint == MDYN_FREE) {
            t->q[t->coordinates + 3] = 1;
        }
        t->dofs += t->dofs_of[i];
        t->coordinates += t->dofs_of[i] + (t->dofs_of[i] >= 3);
    }
}

/* The joint's motion in the frame of its place: rotation, shift, and its columns in body axes. */
static inline void t_joint(const mdyn_body *b, const ld *q, ld R[3][3], ld d[3],
                           ld Sw[6][3], ld Sv[6][3]) {
    ld one[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, axis[3];
    memcpy(R, one, sizeof one);
    memset(d, 0, 3 * sizeof *d);
    memset(Sw, 0, 18 * sizeof(ld));
    memset(Sv, 0, 18 * sizeof(ld));
    t_wide3(axis, &b->axis);
    ld length = sqrtl(t_dot(axis, axis));
    for (int i = 0; i < 3; i++) {
        axis[i] = length > 0 ? axis[i] / length : one[2][i];
    }
    ld pitch = b->joint == MDYN_HELICAL ? (ld)of_wide(b->pitch) : b->joint == MDYN_PRISMATIC;
    switch (b->joint) {
    case MDYN_FIXED:
        break;
    case MDYN_REVOLUTE:
    case MDYN_HELICAL:
        t_axis_angle(R, axis, q[0]);
        memcpy(Sw[0], axis, sizeof axis);
        /* fall through */
    case MDYN_PRISMATIC:
        for (int i = 0; i < 3; i++) {
            d[i] = pitch * axis[i] * q[0];
            Sv[0][i] = pitch * axis[i];
        }
        break;
    case MDYN_FREE:
        memcpy(d, q, 3 * sizeof *d);
        memcpy(Sv + 3, one, sizeof one);
        q += 3;
        /* fall through */
    case MDYN_SPHERICAL:
        t_quaternion(R, q);
        memcpy(Sw, one, sizeof one);
        break;
    }
}

/* Pose, Jacobian, velocity and acceleration of one body; its parent's are there. */
static inline void t_body(truth *t, const mdyn_model *m, int i) {
    const mdyn_body *b = &m->bodies[i];
    ld place[3], turn[4], A[3][3], X[3][3], d[3], Sw[6][3], Sv[6][3], r[3];
    ld rel_w[3] = { 0 }, rel_u[3] = { 0 };
    int p = b->parent, n = t->dofs_of[i], first = t->dof[i];
    t_wide3(place, &b->position);
    turn[0] = (ld)of_wide(b->rotation.w);
    turn[1] = (ld)of_wide(b->rotation.x);
    turn[2] = (ld)of_wide(b->rotation.y);
    turn[3] = (ld)of_wide(b->rotation.z);
    if (turn[0] == 0 && turn[1] == 0 && turn[2] == 0 && turn[3] == 0) {
        turn[0] = 1;
    }
    t_quaternion(A, turn);
    t_joint(b, t->q + t->coordinate[i], X, d, Sw, Sv);
    t_turn(d, A, d);
    for (int k = 0; k < 3; k++) {
        r[k] = place[k] + d[k];
    }
    t_compose(A, A, X);
    memset(t->Jw[i], 0, sizeof t->Jw[i]);
    memset(t->Jo[i], 0, sizeof t->Jo[i]);
    if (p < 0) {
        memcpy(t->R[i], A, sizeof A);
        memcpy(t->o[i], r, sizeof r);
        memset(t->w[i], 0, sizeof t->w[i]);
        memset(t->u[i], 0, sizeof t->u[i]);
        memset(t->alpha[i], 0, sizeof t->alpha[i]);
        memset(t->a[i], 0, sizeof t->a[i]);
    } else {
        t_compose(t->R[i], t->R[p], A);
        t_turn(r, t->R[p], r);
        for (int k = 0; k < 3; k++) {
            t->o[i][k] = t->o[p][k] + r[k];
        }
        for (int j = 0; j < t->dofs; j++) {
            memcpy(t->Jw[i][j], t->Jw[p][j], sizeof r);
            memcpy(t->Jo[i][j], t->Jo[p][j], sizeof r);
            t_cross_add(t->Jo[i][j], t->Jw[p][j], r);
        }
        memcpy(t->w[i], t->w[p], sizeof r);
        memcpy(t->u[i], t->u[p], sizeof r);
        t_cross_add(t->u[i], t->w[p], r);
        memcpy(t->alpha[i], t->alpha[p], sizeof r);
        memcpy(t->a[i], t->a[p], sizeof r);
        t_cross_add(t->a[i], t->alpha[p], r);
        t_cross(d, t->w[p], r);
        t_cross_add(t->a[i], t->w[p], d);
    }
    for (int j = 0; j < n; j++) {
        ld *Jw = t->Jw[i][first + j], *Jo = t->Jo[i][first + j], v = t->v[first + j];
        t_turn(Jw, t->R[i], Sw[j]);
        t_turn(Jo, t->R[i], Sv[j]);
        for (int k = 0; k < 3; k++) {
            rel_w[k] += Jw[k] * v;
            rel_u[k] += Jo[k] * v;
        }
    }
    /* The columns are constant in body axes (a screw's and a slide's also in the parent's):
       their rates are w x column, and Coriolis' term is there twice for what shifts. */
    if (p >= 0) {
        t_cross_add(t->alpha[i], t->w[p], rel_w);
        t_cross_add(t->a[i], t->w[p], rel_u);
        t_cross_add(t->a[i], t->w[p], rel_u);
    }
    t_cross_add(t->a[i], rel_w, rel_u);
    for (int k = 0; k < 3; k++) {
        t->w[i][k] += rel_w[k];
        t->u[i][k] += rel_u[k];
    }
}

/* What one body adds to M, C and the energies. */
static inline void t_mass(truth *t, const mdyn_model *m, int i, const ld g[3]) {
    const mdyn_body *b = &m->bodies[i];
    ld mass = (ld)of_wide(b->mass), xx = (ld)of_wide(b->inertia.xx);
    ld yy = (ld)of_wide(b->inertia.yy), zz = (ld)of_wide(b->inertia.zz);
    ld xy = (ld)of_wide(b->inertia.xy), xz = (ld)of_wide(b->inertia.xz);
    ld yz = (ld)of_wide(b->inertia.yz), com[3], ac[3], uc[3], d[3], L[3], rate[3];
    ld I[3][3] = { { xx, xy, xz }, { xy, yy, yz }, { xz, yz, zz } };
    ld Rt[3][3];
    static ld Jc[TN][3], IJ[TN][3];
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            Rt[r][c] = t->R[i][c][r];
        }
    }
    t_compose(I, t->R[i], I);
    t_compose(I, I, Rt);
    t_wide3(com, &b->com);
    t_turn(com, t->R[i], com);
    memcpy(uc, t->u[i], sizeof uc);
    t_cross_add(uc, t->w[i], com);
    memcpy(ac, t->a[i], sizeof ac);
    t_cross_add(ac, t->alpha[i], com);
    t_cross(d, t->w[i], com);
    t_cross_add(ac, t->w[i], d);
    t_turn(L, I, t->w[i]);
    t_turn(rate, I, t->alpha[i]);
    t_cross_add(rate, t->w[i], L);
    for (int k = 0; k < 3; k++) {
        ac[k] -= g[k];
        t->potential -= mass * g[k] * (t->o[i][k] + com[k]);
    }
    t->kinetic += (mass * t_dot(uc, uc) + t_dot(t->w[i], L)) / 2;
    for (int j = 0; j < t->dofs; j++) {
        memcpy(Jc[j], t->Jo[i][j], sizeof Jc[j]);
        t_cross_add(Jc[j], t->Jw[i][j], com);
        t_turn(IJ[j], I, t->Jw[i][j]);
        t->C[j] += mass * t_dot(Jc[j], ac) + t_dot(t->Jw[i][j], rate);
        t->C[j] -= t_dot(t->Jo[i][j], t->force[i]) + t_dot(t->Jw[i][j], t->moment[i]);
    }
    for (int j = 0; j < t->dofs; j++) {
        for (int k = 0; k < t->dofs; k++) {
            t->M[j][k] += mass * t_dot(Jc[j], Jc[k]) + t_dot(t->Jw[i][j], IJ[k]);
        }
    }
}

/* All of it, at t->q, v, moment, force. */
static inline void truth_update(truth *t, const mdyn_model *m) {
    ld g[3];
    t_wide3(g, &m->gravity);
    memset(t->M, 0, sizeof t->M);
    memset(t->C, 0, sizeof t->C);
    t->kinetic = t->potential = 0;
    for (int i = 0; i < t->bodies; i++) {
        t_body(t, m, i);
        t_mass(t, m, i, g);
        for (int j = t->dof[i]; j < t->dof[i] + t->dofs_of[i]; j++) {
            ld armature = (ld)of_wide(m->bodies[i].armature);
            t->M[j][j] += armature;
            t->kinetic += armature * t->v[j] * t->v[j] / 2;
        }
    }
}

/* q (+) h v: quaternions turn on the spot, a free joint shifts along the axes that it has before
   it turns. */
static inline void truth_move(truth *t, const mdyn_model *m, const ld *v, ld h) {
    for (int i = 0; i < t->bodies; i++) {
        ld *q = t->q + t->coordinate[i], R[3][3], d[3];
        const ld *s = v + t->dof[i];
        ld phi[3] = { 0 };
        int n = t->dofs_of[i];
        if (n == 1) {
            q[0] += h * s[0];
        }
        if (n < 3) {
            continue;
        }
        for (int k = 0; k < 3; k++) {
            phi[k] = h * s[k];
        }
        if (m->bodies[i].joint == MDYN_FREE) {
            t_quaternion(R, q + 3);
            t_turn(d, R, s + 3);
            for (int k = 0; k < 3; k++) {
                q[k] += h * d[k];
            }
            q += 3;
        }
        t_quaternion_move(q, phi);
    }
}

/* The state of a sim, and its wrenches and commands. */
static inline void truth_copy(truth *t, const mdyn_sim *sim) {
    for (int i = 0; i < t->coordinates; i++) {
        t->q[i] = (ld)of_real(sim->q[i]);
    }
    for (int i = 0; i < t->dofs; i++) {
        t->v[i] = (ld)of_real(sim->v[i]);
        t->tau[i] = (ld)of_real(sim->tau[i]);
    }
    for (int i = 0; i < t->bodies; i++) {
        const mdyn_wrench *w = &sim->wrench[i];
        t->moment[i][0] = (ld)of_real(w->moment.x);
        t->moment[i][1] = (ld)of_real(w->moment.y);
        t->moment[i][2] = (ld)of_real(w->moment.z);
        t->force[i][0] = (ld)of_real(w->force.x);
        t->force[i][1] = (ld)of_real(w->force.y);
        t->force[i][2] = (ld)of_real(w->force.z);
    }
}

/* ---- dense linear algebra ---- */

typedef struct truth_system {
    int n;
    ld A[TS][TS], b[TS], x[TS];
} truth_system;

/* A x = b by Gauss with full pivoting; A and b are spent. Returns the rank; the unknowns beyond
   it are 0, which leaves a consistent system solved. */
static inline int truth_solve(truth_system *s, ld relative) {
    static int order[TS];
    int n = s->n, rank = 0;
    ld largest = 0;
    for (int i = 0; i < n; i++) {
        order[i] = i;
        s->x[i] = 0;
    }
    for (; rank < n; rank++) {
        int r = rank, c = rank;
        for (int i = rank; i < n; i++) {
            for (int j = rank; j < n; j++) {
                if (fabsl(s->A[i][j]) > fabsl(s->A[r][c])) {
                    r = i;
                    c = j;
                }
            }
        }
        ld pivot = fabsl(s->A[r][c]);
        largest = rank == 0 ? pivot : largest;
        if (!(pivot > relative * largest)) {
            break;
        }
        for (int j = 0; j < n; j++) {
            ld swap = s->A[r][j];
            s->A[r][j] = s->A[rank][j];
            s->A[rank][j] = swap;
        }
        for (int i = 0; i < n; i++) {
            ld swap = s->A[i][c];
            s->A[i][c] = s->A[i][rank];
            s->A[i][rank] = swap;
        }
        ld swap = s->b[r];
        s->b[r] = s->b[rank];
        s->b[rank] = swap;
        int k = order[c];
        order[c] = order[rank];
        order[rank] = k;
        for (int i = rank + 1; i < n; i++) {
            ld f = s->A[i][rank] / s->A[rank][rank];
            if (f == 0) {
                continue;
            }
            for (int j = rank; j < n; j++) {
                s->A[i][j] -= f * s->A[rank][j];
            }
            s->b[i] -= f * s->b[rank];
        }
    }
    for (int i = rank - 1; i >= 0; i--) {
        ld sum = s->b[i];
        for (int j = i + 1; j < rank; j++) {
            sum -= s->A[i][j] * s->x[order[j]];
        }
        s->x[order[i]] = sum / s->A[i][i];
    }
    return rank;
}

/* A = L L' in place (lower half); 0 if A is not positive definite. */
static inline int truth_cholesky(ld A[TN][TN], int n) {
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n; i++) {
            ld sum = A[i][j];
            for (int k = 0; k < j; k++) {
                sum -= A[i][k] * A[j][k];
            }
            if (i == j) {
                if (!(sum > 0)) {
                    return 0;
                }
                A[j][j] = sqrtl(sum);
            } else {
                A[i][j] = sum / A[j][j];
            }
        }
    }
    return 1;
}

/* b := A^-1 b with A = L L'. */
static inline void truth_back(ld L[TN][TN], int n, ld *b) {
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) {
            b[i] -= L[i][k] * b[k];
        }
        b[i] /= L[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) {
            b[i] -= L[k][i] * b[k];
        }
        b[i] /= L[i][i];
    }
}

/* How large a speed is, as the kinetic energy weighs it: sqrt(v' M v). Mass matrices have
   condition numbers up to 1e7; that takes most of it out of an error. */
static inline double norm_speed(const truth *t, const ld *v) {
    ld s = 0;
    for (int i = 0; i < t->dofs; i++) {
        for (int j = 0; j < t->dofs; j++) {
            s += v[i] * t->M[i][j] * v[j];
        }
    }
    return (double)sqrtl(s);
}

/* How far the speeds of a sim are off. */
static inline double speed_error(const truth *t, const mdyn_sim *sim, const ld *want) {
    ld off[TN];
    for (int i = 0; i < t->dofs; i++) {
        off[i] = (ld)of_real(sim->v[i]) - want[i];
    }
    return norm_speed(t, off);
}

/* ---- random mechanisms ---- */

typedef struct mechanism {
    mdyn_body body[TB];
    mdyn_coupling coupling[TC];
    mdyn_model model;
} mechanism;

enum {
    ALL_JOINTS = 0,
    ONE_SPEED = 1,  /* revolute, prismatic, helical joints only */
    FOREST = 2,     /* several roots */
    MASSLESS = 4,   /* links without mass between others */
    ARMATURES = 8,  /* rotors on every joint */
    FLOATING = 16   /* one free root */
};

static inline mdyn_wide3 random_vector(double size) {
    mdyn_wide3 v;
    v.x = wide(random_in(-size, size));
    v.y = wide(random_in(-size, size));
    v.z = wide(random_in(-size, size));
    return v;
}
static inline mdyn_real3 random_real3(double size) {
    mdyn_real3 v;
    v.x = real(random_in(-size, size));
    v.y = real(random_in(-size, size));
    v.z = real(random_in(-size, size));
    return v;
}

/* Six point masses on three turned axes, so that the inertia is one that bodies have. */
static inline mdyn_inertia random_inertia(double mass, double size) {
    ld R[3][3], I[3][3] = { { 0 } }, q[4];
    mdyn_inertia r;
    for (int i = 0; i < 4; i++) {
        q[i] = (ld)random_in(-1, 1);
    }
    t_quaternion(R, q);
    for (int i = 0; i < 3; i++) {
        ld a = (ld)random_in(0.3 * size, size), k = (ld)mass * a * a / 3;
        for (int j = 0; j < 3; j++) {
            for (int l = 0; l < 3; l++) {
                I[j][l] += k * ((j == l) - R[j][i] * R[l][i]);
            }
        }
    }
    r.xx = wide((double)I[0][0]);
    r.yy = wide((double)I[1][1]);
    r.zz = wide((double)I[2][2]);
    r.xy = wide((double)I[0][1]);
    r.xz = wide((double)I[0][2]);
    r.yz = wide((double)I[1][2]);
    return r;
}

/* A free joint carries nothing of what hangs on it, so it cannot follow a massless link. */
static inline mdyn_joint random_joint(int kind, int room, int after_massless) {
    static const mdyn_joint joints[] = {
        MDYN_REVOLUTE, MDYN_PRISMATIC, MDYN_HELICAL, MDYN_REVOLUTE, MDYN_REVOLUTE,
        MDYN_FIXED, MDYN_SPHERICAL, MDYN_FREE
    };
    mdyn_joint joint = joints[random_int(kind & ONE_SPEED ? 5 : after_massless ? 7 : 8)];
    return t_dofs_of(joint) <= room ? joint : MDYN_REVOLUTE;
}

/* A free box of 0.2 x 0.2 x 0.1 m. */
static inline mdyn_body free_box(double mass) {
    mdyn_body b;
    memset(&b, 0, sizeof b);
    b.parent = MDYN_WORLD;
    b.joint = MDYN_FREE;
    b.mass = wide(mass);
    b.inertia.xx = b.inertia.yy = wide(mass * (0.01 + 0.0025) / 3);
    b.inertia.zz = wide(mass * 0.02 / 3);
    return b;
}

/* A tree of `bodies` bodies, sizes 5 cm to 50 cm, masses 0.1 to 3 kg; at most `dofs` speeds, each
   body after this one counted with one. The last body of a branch always has mass. */
static inline void mechanism_random(mechanism *m, int bodies, int dofs, int kind) {
    memset(m, 0, sizeof *m);
    int left = dofs;
    for (int i = 0; i < bodies; i++) {
        mdyn_body *b = &m->body[i];
        double mass = random_in(0.1, 3);
        int after_massless = i > 0 && of_wide(m->body[i - 1].mass) == 0;
        int root = i == 0 || ((kind & FOREST) && !after_massless && random_int(4) == 0);
        b->parent = (int16_t)(root ? MDYN_WORLD : random_int(3) ? i - 1 : random_int(i));
        if (after_massless) {
            b->parent = (int16_t)(i - 1);
        }
        b->joint = random_joint(kind, left - (bodies - 1 - i), after_massless);
        if (i == 0 && (kind & FLOATING)) {
            b->joint = MDYN_FREE;
        }
        left -= t_dofs_of(b->joint);
        b->axis = random_vector(2);
        b->pitch = wide(random_in(-0.2, 0.2));
        b->position = random_vector(0.5);
        b->rotation.w = wide(random_in(-1, 1));
        b->rotation.x = wide(random_in(-1, 1));
        b->rotation.y = wide(random_in(-1, 1));
        b->rotation.z = wide(random_in(-1, 1));
        if ((kind & ARMATURES) && b->joint != MDYN_FREE && b->joint != MDYN_FIXED) {
            b->armature = wide(random_in(0.001, 0.1));
        }
        int hollow = (kind & MASSLESS) && i + 1 < bodies && t_dofs_of(b->joint) <= 1 &&
                     !after_massless && random_int(4) == 0;
        if (!hollow) {
            b->mass = wide(mass);
            b->com = random_vector(0.2);
            b->inertia = random_inertia(mass, 0.3);
        }
    }
    m->model.bodies = m->body;
    m->model.body_count = bodies;
    m->model.couplings = m->coupling;
    m->model.gravity = random_vector(10);
    m->model.dt = wide(0x1p-10);
}

/* A random state; speeds up to `speed`, wrenches and commands up to `load`. */
static inline void sim_random(mdyn_sim *sim, const mdyn_model *m, double speed, double load) {
    int c = 0;
    for (int i = 0; i < m->body_count; i++) {
        mdyn_joint joint = m->bodies[i].joint;
        int n = t_dofs_of(joint), turn = joint == MDYN_SPHERICAL ? c : c + 3;
        double w[4], l = 0;
        if (n == 1 || joint == MDYN_FREE) {
            for (int k = 0; k < (n == 1 ? 1 : 3); k++) {
                sim->q[c + k] = real(random_in(-2, 2));
            }
        }
        for (int k = 0; k < 4; k++) {
            w[k] = random_in(-1, 1);
            l += w[k] * w[k];
        }
        for (int k = 0; k < 4 && n >= 3; k++) {
            sim->q[turn + k] = real(w[k] / sqrt(l));
        }
        c += n + (n >= 3);
        sim->wrench[i].moment = random_real3(load);
        sim->wrench[i].force = random_real3(load);
    }
    for (int i = 0; i < mdyn_dofs(sim); i++) {
        sim->v[i] = real(random_in(-speed, speed));
        sim->tau[i] = real(random_in(-load, load));
    }
}

#endif
