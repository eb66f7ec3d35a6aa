/* Rigid bodies for the harnesses: M, C and Jacobians of a model, dense, in double, from the model's
   tables alone, by Kane's equations:
      M = sum (m Jc'Jc + Jw'I Jw) + armature
      C = sum (m Jc'(ac - g) + Jw'(I alpha + w x I w) - Jo' force - Jw' moment)
   Jw and Jo are the Jacobians of a body's angular velocity and of its origin's velocity, Jc that
   of its center of mass; ac and alpha the accelerations at constant joint velocities. And the half
   steps of the midpoint rule (rigid_drift), which turn the velocities of free and spherical joints
   with their bodies. Included after mimicdyn.h and check.h. */
#ifndef RIGID_H
#define RIGID_H

enum { RB = MIMICDYN_MAX_BODIES, RN = MIMICDYN_MAX_DOFS, RQ = MDYN_MAX_COORDINATES };

typedef struct rigid_body {
    int parent, root, dof, coordinate, dofs;
    int carrier;  /* nearest ancestor with a joint that moves; -1: the world */
    int single;   /* spherical or free on the world, carrying fixed bodies at most */
    int floating; /* root of a tree on a free joint */
    mdyn_joint joint;
    double axis[3], pitch, place[3], turn[3][3]; /* of the joint in its parent's frame */
    double mass, com[3], inertia[3][3], armature;
    double all_mass, all_com[3], all_inertia[3][3]; /* of a single body with those fixed to it */
    double on[3], onto[3][3]; /* of a fixed body: its place and axes in those of its carrier */
    double moment[3], force[3];                  /* external, at the origin, world axes */
    double R[3][3], o[3];                        /* pose */
    double Jw[RN][3], Jo[RN][3];
    double w[3], u[3], alpha[3], a[3];
} rigid_body;

typedef struct rigid {
    int bodies, dofs, coordinates;
    int turned; /* C without what rigid_drift turns: omega x u of free joints, Euler's equation */
    rigid_body body[RB];
    double gravity[3], q[RQ], v[RN];
    double M[RN][RN], C[RN], C_size[RN]; /* C_size: sum of the magnitudes that C is made of */
    double L[RN][RN];                    /* factor of M + what rigid_factor was given */
} rigid;

/* ---- vectors ---- */

static inline double r_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double r_size(const double a[3]) { return sqrt(r_dot(a, a)); }

/* r += a x b */
static inline void r_cross(double r[3], const double a[3], const double b[3])
{
    const double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2];
    r[2] += a[0] * b[1] - a[1] * b[0];
    r[0] += x;
    r[1] += y;
}

static inline void r_turn(double r[3], double R[3][3], const double a[3])
{
    const double x = r_dot(R[0], a), y = r_dot(R[1], a);
    r[2] = r_dot(R[2], a);
    r[0] = x;
    r[1] = y;
}

static inline void r_compose(double r[3][3], double A[3][3], double B[3][3])
{
    double c[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c[i][j] = A[i][0] * B[0][j] + A[i][1] * B[1][j] + A[i][2] * B[2][j];
    memcpy(r, c, sizeof c);
}

static inline void r_one(double R[3][3])
{
    memset(R, 0, 9 * sizeof(double));
    R[0][0] = R[1][1] = R[2][2] = 1;
}

/* Rotation about an axis of length 1. */
static inline void r_axis_angle(double R[3][3], const double n[3], double angle)
{
    const double c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) R[i][j] = n[i] * n[j] * (1 - c) + (i == j ? c : 0);
    R[0][1] -= s * n[2], R[1][0] += s * n[2];
    R[0][2] += s * n[1], R[2][0] -= s * n[1];
    R[1][2] -= s * n[0], R[2][1] += s * n[0];
}

/* Rotation of a quaternion of any length; four zeros: none. */
static inline void r_quaternion(double R[3][3], const double q[4])
{
    const double l = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    const double w = q[0], *e = q + 1;
    r_one(R);
    if (l == 0) return;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            R[i][j] = (2 * e[i] * e[j] + (i == j ? w * w - r_dot(e, e) : 0)) / l;
    R[0][1] -= 2 * w * e[2] / l, R[1][0] += 2 * w * e[2] / l;
    R[0][2] += 2 * w * e[1] / l, R[2][0] -= 2 * w * e[1] / l;
    R[1][2] -= 2 * w * e[0] / l, R[2][1] += 2 * w * e[0] / l;
}

static inline void r_quaternion_product(double r[4], const double a[4], const double b[4])
{
    r[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    r[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    r[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    r[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

/* q times the rotation by the vector phi, in body axes. */
static inline void r_quaternion_turn(double q[4], const double phi[3])
{
    const double angle = r_size(phi), before[4] = { q[0], q[1], q[2], q[3] };
    const double f = angle > 0 ? sin(angle / 2) / angle : 0.5;
    const double turn[4] = { cos(angle / 2), f * phi[0], f * phi[1], f * phi[2] };
    r_quaternion_product(q, before, turn);
}

/* ---- the model ---- */

static inline void r_wide3(double r[3], const mdyn_wide3 *a)
{
    r[0] = of_wide(a->x);
    r[1] = of_wide(a->y);
    r[2] = of_wide(a->z);
}

static inline void r_real3(double r[3], const mdyn_real3 *a)
{
    r[0] = of_real(a->x);
    r[1] = of_real(a->y);
    r[2] = of_real(a->z);
}

static inline int r_dofs_of(mdyn_joint joint)
{
    static const int dofs[] = { 0, 1, 1, 1, 3, 6 };
    return dofs[joint];
}

static inline void r_read_body(rigid_body *to, const mdyn_body *b)
{
    double turn[4] = { of_wide(b->rotation.w), of_wide(b->rotation.x), of_wide(b->rotation.y),
                       of_wide(b->rotation.z) };
    const double I[3][3] = {
        { of_wide(b->inertia.xx), of_wide(b->inertia.xy), of_wide(b->inertia.xz) },
        { of_wide(b->inertia.xy), of_wide(b->inertia.yy), of_wide(b->inertia.yz) },
        { of_wide(b->inertia.xz), of_wide(b->inertia.yz), of_wide(b->inertia.zz) }
    };
    to->parent = b->parent;
    to->joint = b->joint;
    to->dofs = r_dofs_of(b->joint);
    r_quaternion(to->turn, turn);
    r_wide3(to->axis, &b->axis);
    r_wide3(to->place, &b->position);
    r_wide3(to->com, &b->com);
    memcpy(to->inertia, I, sizeof I);
    const double length = r_size(to->axis);
    for (int k = 0; k < 3; k++) to->axis[k] = length > 0 ? to->axis[k] / length : k == 2;
    to->pitch = b->joint == MDYN_HELICAL ? of_wide(b->pitch) : b->joint == MDYN_PRISMATIC;
    to->mass = of_wide(b->mass);
    to->armature = of_wide(b->armature);
}

/* Adds the mass of a body at (place, axes) of `to` to it: about the common center, by Steiner. */
static inline void r_weld_mass(rigid_body *to, const rigid_body *b, double place[3],
                              double axes[3][3])
{
    const double whole = to->all_mass + b->mass;
    double com[3], I[3][3], T[3][3], d[3];
    memcpy(I, b->inertia, sizeof I);
    if (b->mass <= 0 || whole <= 0) return;
    r_turn(com, axes, b->com);
    for (int k = 0; k < 3; k++) com[k] += place[k];
    r_compose(I, axes, I);
    for (int k = 0; k < 9; k++) T[k / 3][k % 3] = axes[k % 3][k / 3];
    r_compose(I, I, T);
    for (int k = 0; k < 3; k++) d[k] = com[k] - to->all_com[k];
    const double reduced = to->all_mass * b->mass / whole;
    for (int k = 0; k < 9; k++)
        to->all_inertia[k / 3][k % 3] +=
            I[k / 3][k % 3] + reduced * ((k % 4 == 0 ? r_dot(d, d) : 0) - d[k / 3] * d[k % 3]);
    for (int k = 0; k < 3; k++) to->all_com[k] += b->mass / whole * d[k];
    to->all_mass = whole;
}

/* What a fixed body adds to the body that carries it. */
static inline void r_weld(rigid *r, rigid_body *b)
{
    rigid_body *p = b->parent < 0 ? NULL : &r->body[b->parent];
    memcpy(b->on, b->place, sizeof b->on);
    memcpy(b->onto, b->turn, sizeof b->onto);
    if (!p || b->carrier < 0) return;
    if (p->dofs == 0) {
        r_turn(b->on, p->onto, b->place);
        for (int k = 0; k < 3; k++) b->on[k] += p->on[k];
        r_compose(b->onto, p->onto, b->turn);
    }
    r_weld_mass(&r->body[b->carrier], b, b->on, b->onto);
}

static inline void rigid_init(rigid *r, const mdyn_model *m)
{
    memset(r, 0, sizeof *r);
    r->bodies = m->body_count;
    r_wide3(r->gravity, &m->gravity);
    for (int i = 0; i < r->bodies; i++) {
        rigid_body *b = &r->body[i];
        r_read_body(b, &m->bodies[i]);
        b->dof = r->dofs;
        b->coordinate = r->coordinates;
        b->carrier = b->parent;
        if (b->parent >= 0 && r->body[b->parent].dofs == 0)
            b->carrier = r->body[b->parent].carrier;
        b->root = b->carrier < 0 ? i : r->body[b->carrier].root;
        b->single = b->carrier < 0 && b->dofs >= 3;
        b->all_mass = b->mass;
        memcpy(b->all_com, b->com, sizeof b->com);
        memcpy(b->all_inertia, b->inertia, sizeof b->inertia);
        if (b->dofs == 0) r_weld(r, b);
        else if (b->carrier >= 0) r->body[b->carrier].single = 0;
        r->dofs += b->dofs;
        r->coordinates += b->dofs + (b->dofs >= 3);
    }
    for (int i = 0; i < r->bodies; i++)
        r->body[i].floating = r->body[i].joint == MDYN_FREE && !r->body[i].single;
}

/* The state of a sim, and its wrenches. */
static inline void rigid_read(rigid *r, const mdyn_sim *sim)
{
    for (int i = 0; i < r->coordinates; i++) r->q[i] = of_real(sim->q[i]);
    for (int i = 0; i < r->dofs; i++) r->v[i] = of_real(sim->v[i]);
    for (int i = 0; i < r->bodies; i++) {
        r_real3(r->body[i].moment, &sim->wrench[i].moment);
        r_real3(r->body[i].force, &sim->wrench[i].force);
    }
}

/* ---- motion ---- */

/* The joint's rotation and shift from its place, and its columns, in the joint's axes. */
static inline void r_joint(const rigid_body *b, const double *q, double R[3][3], double d[3],
                           double Sw[6][3], double Sv[6][3])
{
    const int ball = b->dofs >= 3, shift = b->joint == MDYN_FREE ? 3 : 0;
    r_one(R);
    memset(Sw, 0, 18 * sizeof(double));
    memset(Sv, 0, 18 * sizeof(double));
    memset(d, 0, 3 * sizeof(double));
    if (b->dofs == 0) return;
    if (ball) r_quaternion(R, q + shift);
    else if (b->joint != MDYN_PRISMATIC) r_axis_angle(R, b->axis, q[0]);
    for (int k = 0; k < 3; k++) {
        if (ball) Sw[k][k] = 1;
        else if (b->joint != MDYN_PRISMATIC) Sw[0][k] = b->axis[k];
        if (!ball) Sv[0][k] = b->pitch * b->axis[k];
        if (shift) Sv[3 + k][k] = 1;
        d[k] = shift ? q[k] : ball ? 0 : b->pitch * b->axis[k] * q[0];
    }
}

/* What a body has of its parent's motion, at the arm `r` in world axes. */
static inline void r_carry(rigid_body *b, const rigid_body *p, const double r[3], int dofs)
{
    double d[3] = { 0 };
    memcpy(b->Jw, p->Jw, (size_t)dofs * sizeof b->Jw[0]);
    memcpy(b->Jo, p->Jo, (size_t)dofs * sizeof b->Jo[0]);
    for (int j = 0; j < dofs; j++) r_cross(b->Jo[j], p->Jw[j], r);
    memcpy(b->w, p->w, sizeof b->w);
    memcpy(b->u, p->u, sizeof b->u);
    memcpy(b->alpha, p->alpha, sizeof b->alpha);
    memcpy(b->a, p->a, sizeof b->a);
    r_cross(b->u, p->w, r);
    r_cross(b->a, p->alpha, r);
    r_cross(d, p->w, r);
    r_cross(b->a, p->w, d);
}

static inline void r_place(rigid *r, int i)
{
    static const rigid_body world = { .R = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } };
    rigid_body *b = &r->body[i];
    const rigid_body *p = b->parent < 0 ? &world : &r->body[b->parent];
    double X[3][3], d[3], Sw[6][3], Sv[6][3], rel_w[3] = { 0 }, rel_u[3] = { 0 }, P[3][3];
    memcpy(P, p->R, sizeof P);
    r_joint(b, r->q + b->coordinate, X, d, Sw, Sv);
    r_turn(d, b->turn, d);
    for (int k = 0; k < 3; k++) d[k] += b->place[k];
    r_turn(d, P, d);
    r_compose(X, b->turn, X);
    r_compose(b->R, P, X);
    for (int k = 0; k < 3; k++) b->o[k] = p->o[k] + d[k];
    r_carry(b, p, d, r->dofs);
    for (int j = 0; j < b->dofs; j++) {
        double *Jw = b->Jw[b->dof + j], *Jo = b->Jo[b->dof + j];
        const double v = r->turned && b->single ? 0 : r->v[b->dof + j];
        r_turn(Jw, b->R, Sw[j]);
        r_turn(Jo, b->R, Sv[j]);
        for (int k = 0; k < 3; k++) {
            rel_w[k] += Jw[k] * v;
            rel_u[k] += Jo[k] * v;
        }
    }
    /* The columns are constant in body axes; what shifts has Coriolis' term twice. */
    r_cross(b->alpha, p->w, rel_w);
    r_cross(b->a, p->w, rel_u);
    r_cross(b->a, p->w, rel_u);
    if (!r->turned || b->joint != MDYN_FREE) r_cross(b->a, rel_w, rel_u);
    for (int k = 0; k < 3; k++) {
        b->w[k] += rel_w[k];
        b->u[k] += rel_u[k];
    }
}

/* What one body adds to M and C. */
static inline void r_add_mass(rigid *r, int i)
{
    rigid_body *b = &r->body[i];
    double Rt[3][3], I[3][3], c[3], ac[3], d[3] = { 0 }, L[3], rate[3], Jc[RN][3], IJ[RN][3];
    for (int j = 0; j < 9; j++) Rt[j / 3][j % 3] = b->R[j % 3][j / 3];
    r_compose(I, b->R, b->inertia);
    r_compose(I, I, Rt);
    r_turn(c, b->R, b->com);
    memcpy(ac, b->a, sizeof ac);
    r_cross(ac, b->alpha, c);
    r_cross(d, b->w, c);
    r_cross(ac, b->w, d);
    r_turn(L, I, b->w);
    r_turn(rate, I, b->alpha);
    r_cross(rate, b->w, L);
    for (int k = 0; k < 3; k++) ac[k] -= r->gravity[k];
    const double linear = b->mass * (r_size(ac) + r_size(r->gravity)) + r_size(b->force);
    const double turning = r_size(rate) + r_size(b->w) * r_size(L) + r_size(b->moment);
    for (int j = 0; j < r->dofs; j++) {
        memcpy(Jc[j], b->Jo[j], sizeof Jc[j]);
        r_cross(Jc[j], b->Jw[j], c);
        r_turn(IJ[j], I, b->Jw[j]);
        r->C[j] += b->mass * r_dot(Jc[j], ac) + r_dot(b->Jw[j], rate);
        r->C[j] -= r_dot(b->Jo[j], b->force) + r_dot(b->Jw[j], b->moment);
        r->C_size[j] += (r_size(b->Jo[j]) + r_size(b->Jw[j]) * (1 + r_size(c))) *
                        (linear + turning);
    }
    for (int j = 0; j < r->dofs; j++)
        for (int k = 0; k <= j; k++) {
            r->M[j][k] += b->mass * r_dot(Jc[j], Jc[k]) + r_dot(b->Jw[j], IJ[k]);
            r->M[k][j] = r->M[j][k];
        }
}

/* Poses, M and C at r->q, r->v. */
static inline void rigid_update(rigid *r)
{
    memset(r->M, 0, sizeof r->M);
    memset(r->C, 0, sizeof r->C);
    memset(r->C_size, 0, sizeof r->C_size);
    for (int i = 0; i < r->bodies; i++) {
        r_place(r, i);
        r_add_mass(r, i);
    }
    for (int i = 0; i < r->bodies; i++)
        for (int j = r->body[i].dof; j < r->body[i].dof + r->body[i].dofs; j++)
            r->M[j][j] += r->body[i].armature;
}

/* q := q (+) h v of a joint; a free one shifts along the axes that it has before it turns. */
static inline void r_move_joint(const rigid_body *b, double *q, const double *v, double h)
{
    double R[3][3], d[3], phi[3];
    if (b->dofs == 1) q[0] += h * v[0];
    if (b->dofs < 3) return;
    for (int k = 0; k < 3; k++) phi[k] = h * v[k];
    if (b->joint == MDYN_FREE) {
        r_quaternion(R, q + 3);
        r_turn(d, R, v + 3);
        for (int k = 0; k < 3; k++) q[k] += h * d[k];
        q += 3;
    }
    r_quaternion_turn(q, phi);
}

static inline void rigid_move(const rigid *r, double *q, const double *v, double h)
{
    for (int i = 0; i < r->bodies; i++)
        r_move_joint(&r->body[i], q + r->body[i].coordinate, v + r->body[i].dof, h);
}

/* A x = b by elimination with pivoting; b becomes x. A of less rank: 0 instead of infinity. */
static inline void r_solve(int n, double A[RN][RN], double *b)
{
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++) if (fabs(A[i][k]) > fabs(A[p][k])) p = i;
        for (int j = 0; j < n; j++) {
            const double x = A[k][j];
            A[k][j] = A[p][j];
            A[p][j] = x;
        }
        const double x = b[k], inverse = A[p][k] == 0 && A[k][k] == 0 ? 0 : 1 / A[k][k];
        b[k] = b[p];
        b[p] = x;
        for (int i = 0; i < n; i++) {
            const double f = i == k ? 0 : A[i][k] * inverse;
            for (int j = k; j < n; j++) A[i][j] -= f * A[k][j];
            b[i] -= f * b[k];
        }
    }
    for (int k = 0; k < n; k++) b[k] = A[k][k] == 0 ? 0 : b[k] / A[k][k];
}

/* ---- half a step of the midpoint rule ---- */

/* Inertia of a single body: of a free one about its mass center, of a spherical one about the
   joint, with its armature. */
static inline void r_single_inertia(const rigid_body *b, double I[3][3])
{
    const double *c = b->all_com;
    memcpy(I, b->all_inertia, sizeof b->all_inertia);
    if (b->joint == MDYN_FREE) return;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            I[i][j] += b->all_mass * ((i == j ? r_dot(c, c) : 0) - c[i] * c[j]);
        I[i][i] += b->armature;
    }
}

/* One Newton step J d = f from w for the velocity m = w + d of the implicit midpoint rule of
   Euler's equation, I m = I w + t I m x m, and L = I w. Returns t, t m = tan(h |m|/2) m/|m| to
   fifth order. */
static inline double r_euler_step(double I[3][3], double h, const double w[3], double L[3],
                                  double J[RN][RN], double f[3])
{
    const double x = h * h / 4 * r_dot(w, w), t = h / 2 * (1 + x / 3 + 2 * x * x / 15);
    r_turn(L, I, w);
    f[0] = f[1] = f[2] = 0;
    r_cross(f, L, w);
    for (int k = 0; k < 3; k++) {
        double unit[3] = { 0 }, column[3], change[3] = { 0 };
        unit[k] = -1;
        r_cross(change, L, unit);
        for (int i = 0; i < 3; i++) column[i] = I[i][k];
        r_cross(change, w, column);
        for (int i = 0; i < 3; i++) J[i][k] = I[i][k] + t * change[i];
        f[k] *= t;
    }
    return t;
}

/* Euler's equation I w' = I w x w for the time h, by the velocity m of r_euler_step. The body turns
   by the quaternion (1, t m) over its length, which is E too, and I w is turned back. */
static inline void r_euler(double I[3][3], double h, double w[3], double turn[4], double E[3][3])
{
    double J[RN][RN], A[RN][RN], L[3], f[3], Et[3][3];
    const double t = r_euler_step(I, h, w, L, J, f);
    for (int k = 0; k < 9; k++) A[k / 3][k % 3] = I[k / 3][k % 3];
    r_solve(3, J, f);
    turn[0] = 1;
    for (int k = 0; k < 3; k++) turn[1 + k] = t * (w[k] + f[k]);
    const double length = sqrt(1 + r_dot(turn + 1, turn + 1));
    for (int k = 0; k < 4; k++) turn[k] /= length;
    r_quaternion(E, turn);
    for (int k = 0; k < 9; k++) Et[k / 3][k % 3] = E[k % 3][k / 3];
    r_turn(w, Et, L);
    r_solve(3, A, w);
}

/* By how many roundings the turn of r_euler may be off, to first order, if J d = f is solved by
   elimination without pivoting, J = B U: those of f, of the terms of J and of B U, all through
   J^-1, become those of t m, and of the turn by its length. Small for turns below a radian; above,
   the terms of J that turn outweigh I, and its pivots may be small. */
static inline double r_euler_roundings(double I[3][3], double h, const double w[3])
{
    double J[RN][RN], A[RN][RN], U[3][3], L[3], f[3], m[3];
    double inertia = 0, inverse = 0, grown = 0;
    const double t = r_euler_step(I, h, w, L, J, f);
    for (int k = 0; k < 9; k++) inertia += I[k / 3][k % 3] * I[k / 3][k % 3];
    for (int k = 0; k < 9; k++) U[k / 3][k % 3] = J[k / 3][k % 3];
    for (int i = 0; i < 3; i++) {
        double size[3] = { 0 }, column[3] = { 0 };
        for (int k = 0; k < i; k++) {
            const double b = U[i][k] / U[k][k];
            for (int j = k; j < 3; j++) size[j] += fabs(b * U[k][j]);
            for (int j = k; j < 3; j++) U[i][j] -= b * U[k][j];
        }
        for (int j = i; j < 3; j++) size[j] += fabs(U[i][j]);
        grown += r_dot(size, size);
        column[i] = 1;
        memcpy(A, J, sizeof A);
        r_solve(3, A, column);
        inverse += r_dot(column, column);
    }
    r_solve(3, J, f);
    for (int k = 0; k < 3; k++) m[k] = w[k] + f[k];
    inertia = sqrt(inertia) + t * (r_size(L) + sqrt(inertia) * r_size(w)) + sqrt(grown);
    return t * sqrt(inverse) * (t * r_size(L) * r_size(w) + inertia * r_size(f)) /
           sqrt(1 + t * t * r_dot(m, m));
}

/* q and v of a single body for the time h, on which no force acts. */
static inline void r_drift_single(const rigid_body *b, double *q, double *v, double h)
{
    double I[3][3], E[3][3], R[3][3], u[3], arm[3], before[4], turn[4];
    r_single_inertia(b, I);
    memcpy(arm, b->all_com, sizeof arm);
    for (int k = 0; k < 3; k++) u[k] = b->joint == MDYN_FREE ? v[3 + k] : 0;
    r_cross(u, v, b->all_com);
    r_euler(I, h, v, turn, E);
    if (b->joint == MDYN_FREE) {
        double Et[3][3], move[3];
        r_turn(arm, E, b->all_com);
        for (int k = 0; k < 3; k++) move[k] = h * u[k] + b->all_com[k] - arm[k];
        r_quaternion(R, q + 3);
        r_turn(move, R, move);
        for (int k = 0; k < 3; k++) q[k] += move[k];
        for (int k = 0; k < 9; k++) Et[k / 3][k % 3] = E[k % 3][k / 3];
        r_turn(u, Et, u);
        r_cross(u, b->all_com, v);
        memcpy(v + 3, u, sizeof u);
        q += 3;
    }
    memcpy(before, q, sizeof before);
    r_quaternion_product(q, before, turn);
}

/* The linear velocity of a free joint in the axes of the body, which turns by h w. */
static inline void r_turn_velocity(double *v, double h)
{
    const double size = r_size(v);
    double axis[3] = { 0 }, R[3][3];
    for (int k = 0; k < 3 && size > 0; k++) axis[k] = v[k] / size;
    r_axis_angle(R, axis, -h * size);
    r_turn(v + 3, R, v + 3);
}

/* q and v for the time h: joints of one coordinate move; bodies turn, and in the world the linear
   velocity of a free joint does not, nor the momentum of a single body. */
static inline void rigid_drift(const rigid *r, double *q, double *v, double h)
{
    for (int i = 0; i < r->bodies; i++) {
        const rigid_body *b = &r->body[i];
        if (b->single) r_drift_single(b, q + b->coordinate, v + b->dof, h);
        else r_move_joint(b, q + b->coordinate, v + b->dof, h);
        if (b->joint == MDYN_FREE && !b->single) r_turn_velocity(v + b->dof, h);
    }
}

/* Of a single body at the pose q, with the velocities v of it at the pose q_after: by the momentum,
   which is the same in the world. It holds for any turn between the two; the map from the one v to
   the other may have several inverses where a body turns by more than a radian. */
static inline void r_undrift_single(const rigid_body *b, const double *q, const double *q_after,
                                    double *v)
{
    const int shift = b->joint == MDYN_FREE ? 3 : 0;
    double I[3][3], A[RN][RN], R[3][3], E[3][3], L[3], u[3];
    r_single_inertia(b, I);
    for (int i = 0; i < 3; i++) memcpy(A[i], I[i], sizeof I[i]);
    r_quaternion(R, q + shift);
    for (int k = 0; k < 9; k++) E[k / 3][k % 3] = R[k % 3][k / 3];
    r_quaternion(R, q_after + shift);
    r_compose(E, E, R);
    for (int k = 0; k < 3; k++) u[k] = shift ? v[3 + k] : 0;
    r_cross(u, v, b->all_com);
    r_turn(L, I, v);
    r_turn(v, E, L);
    r_solve(3, A, v);
    if (!shift) return;
    r_turn(u, E, u);
    r_cross(u, b->all_com, v);
    memcpy(v + 3, u, sizeof u);
}

/* The velocities of which r_drift_single makes v, where there is one solution: below a radian.
   0 if it is not found. */
static inline int r_invert_drift(const rigid_body *b, double *v, double h)
{
    double q[7], was[6], now[6], error = 0, size = 0;
    memcpy(was, v, (size_t)b->dofs * sizeof *v);
    for (int n = 0; n < 60; n++) {
        memset(q, 0, sizeof q);
        q[b->dofs == 6 ? 3 : 0] = 1;
        memcpy(now, was, sizeof now);
        r_drift_single(b, q, now, h);
        error = size = 0;
        for (int k = 0; k < b->dofs; k++) {
            const double d = v[k] - now[k];
            was[k] += d;
            error += d * d;
            size += was[k] * was[k];
        }
    }
    if (!(error <= 1e-26 * size)) return 0;
    memcpy(v, was, (size_t)b->dofs * sizeof *v);
    return 1;
}

/* The velocities at the pose r->q that rigid_drift turns into v at q_after. Returns 1, or 0 if the
   pose q_after went into it: nothing but v must have moved the bodies. */
static inline int rigid_undrift(const rigid *r, const double *q_after, double *v, double h)
{
    int sure = 1;
    for (int i = 0; i < r->bodies; i++) {
        const rigid_body *b = &r->body[i];
        double *u = v + b->dof;
        if (b->joint == MDYN_FREE && !b->single) r_turn_velocity(u, -h);
        if (!b->single || (h * r_size(u) < 0.5 && r_invert_drift(b, u, h))) continue;
        r_undrift_single(b, r->q + b->coordinate, q_after + b->coordinate, u);
        sure = 0;
    }
    return sure;
}

/* Sum of the magnitudes that rigid_momentum adds up. */
static inline double rigid_momentum_size(const rigid *r, int root, const double com[3])
{
    double sum = 0;
    for (int i = 0; i < r->bodies; i++) {
        const rigid_body *b = &r->body[i];
        const double c = r_size(b->com), I = b->inertia[0][0] + b->inertia[1][1] + b->inertia[2][2];
        double turning = 0, speed = 0, arm = 1 + c;
        if (b->root != root) continue;
        for (int k = 0; k < 3; k++) arm += fabs(b->o[k] - com[k]);
        for (int j = 0; j < r->dofs; j++) {
            turning += r_size(b->Jw[j]) * fabs(r->v[j]);
            speed += (r_size(b->Jo[j]) + c * r_size(b->Jw[j])) * fabs(r->v[j]);
        }
        sum += b->mass * speed * arm + I * turning;
    }
    return sum;
}

/* Momentum of the tree of body `root` about its mass center `com`, after rigid_update. Returns its
   mass. */
static inline double rigid_momentum(rigid *r, int root, double p[3], double L[3], double com[3])
{
    double mass = 0;
    for (int k = 0; k < 3; k++) p[k] = L[k] = com[k] = 0;
    for (int i = 0; i < r->bodies; i++) {
        rigid_body *b = &r->body[i];
        double c[3], at[3], u[3], w[3], Rt[3][3];
        if (b->root != root) continue;
        r_turn(c, b->R, b->com);
        memcpy(u, b->u, sizeof u);
        r_cross(u, b->w, c);
        for (int k = 0; k < 9; k++) Rt[k / 3][k % 3] = b->R[k % 3][k / 3];
        r_turn(w, Rt, b->w);
        r_turn(w, b->inertia, w);
        r_turn(w, b->R, w);
        for (int k = 0; k < 3; k++) {
            at[k] = b->o[k] + c[k];
            com[k] += b->mass * at[k];
            u[k] *= b->mass;
            p[k] += u[k];
            L[k] += w[k];
        }
        r_cross(L, at, u);
        mass += b->mass;
    }
    for (int k = 0; k < 3; k++) com[k] /= mass;
    r_cross(L, p, com);
    return mass;
}

/* L L' = M + diag(extra); 0 if it is not positive definite. */
static inline int rigid_factor(rigid *r, const double *extra)
{
    for (int j = 0; j < r->dofs; j++)
        for (int i = j; i < r->dofs; i++) {
            double sum = r->M[i][j] + (i == j ? extra[i] : 0);
            for (int k = 0; k < j; k++) sum -= r->L[i][k] * r->L[j][k];
            if (i == j && !(sum > 0)) return 0;
            r->L[i][j] = i == j ? sqrt(sum) : sum / r->L[j][j];
        }
    return 1;
}

/* J M^-1 J' of one row, of the factored M. */
static inline double rigid_inverse_mass(const rigid *r, const double *J)
{
    double x[RN], sum = 0;
    for (int i = 0; i < r->dofs; i++) {
        x[i] = J[i];
        for (int k = 0; k < i; k++) x[i] -= r->L[i][k] * x[k];
        x[i] /= r->L[i][i];
        sum += x[i] * x[i];
    }
    return sum;
}

#endif
