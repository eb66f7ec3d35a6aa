/* Random trees, and what the library says of one state of them against the dense model of truth.h:
   poses, Jacobians, velocities, mass matrix, forces, accelerations. Included after check.h and
   truth.h. */
#ifndef RANDOM_TREES_H
#define RANDOM_TREES_H

#include "explicit.h"

/* What the checks allow, some three to ten times the worst of -s 1, 2 and 3. */
/*                                 F64     F32   FIXED */
TOLERANCE(MASS_MATRIX,           5e-14,   3e-5,   9e-7);
TOLERANCE(BIAS_FORCE,            3e-14,   2e-5,   4e-7);
TOLERANCE(FORWARD,               5e-12, 2.5e-3,   6e-5);
TOLERANCE(INVERSE,               8e-14,   5e-5,   2e-6);
TOLERANCE(UNIT_QUATERNION,       5e-15,   3e-6,   7e-8);
TOLERANCE(POSITION,              4e-14,   2e-5,   4e-7);
TOLERANCE(ROTATION,              1e-14,   5e-6,   2e-7);
TOLERANCE(JACOBIAN_ANGULAR,      1e-14,   5e-6,   2e-7);
TOLERANCE(JACOBIAN_LINEAR,       1e-13,   2e-5,   4e-7);
TOLERANCE(VELOCITY_ANGULAR,      2e-14,   1e-5,   3e-7);
TOLERANCE(VELOCITY_LINEAR,       5e-14,   4e-5,   9e-7);
TOLERANCE(DIFFERENCE_STEP,     0x1p-17, 0x1p-7, 0x1p-9);

static mdyn_sim sim;
static mechanism mech;
static truth t;
static ld L[TN][TN]; /* Cholesky factor of t.M */

/* How large a force is, weighed as norm_speed weighs the speed that it gives. */
static inline double norm_force(const ld *f) { /* sqrt(f' M^-1 f) */
    ld x[TN], s = 0;
    memcpy(x, f, sizeof x);
    truth_back(L, t.dofs, x);
    for (int i = 0; i < t.dofs; i++) {
        s += x[i] * f[i];
    }
    return (double)sqrtl(s);
}

static inline double unit_force(int i) {
    return (double)sqrtl(t.M[i][i]);
}

static inline void begin_tree(int bodies, int dofs, int kind) {
    mechanism_random(&mech, bodies, dofs, kind);
    int code = init_explicit(&sim, &mech.model);
    CHECK_EQUAL(code, MDYN_OK);
    truth_init(&t, &mech.model);
    CHECK_EQUAL(mdyn_dofs(&sim), t.dofs);
    CHECK_EQUAL(mdyn_coordinates(&sim), t.coordinates);
}

static inline void random_state(double speed, double load) {
    sim_random(&sim, &mech.model, speed, load);
    truth_copy(&t, &sim);
    truth_update(&t, &mech.model);
    memcpy(L, t.M, sizeof L);
    CHECK(truth_cholesky(L, t.dofs));
}

static inline int random_kind(void) {
    return random_int(32);
}

static inline void compare_dense(void) {
    static mdyn_wide M[TN * TN], C[TN], a[TN], tau[TN];
    static ld difference[TN], want[TN];
    int n = t.dofs;
    CHECK_EQUAL(mdyn_mass_matrix(&sim, M), MDYN_OK);
    CHECK_EQUAL(mdyn_bias_force(&sim, C), MDYN_OK);
    CHECK_EQUAL(mdyn_forward_dynamics(&sim, a), MDYN_OK);
    double size = norm_force(t.C);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double scale = unit_force(i) * unit_force(j);
            CHECK_NEAR(of_wide(M[i * n + j]), (double)t.M[i][j], MASS_MATRIX * scale);
            CHECK_NEAR(of_wide(M[i * n + j]), of_wide(M[j * n + i]), 0);
        }
        CHECK_NEAR(of_wide(C[i]), (double)t.C[i], BIAS_FORCE * size * unit_force(i));
        want[i] = t.tau[i] - t.C[i];
    }
    truth_back(L, n, want);
    for (int i = 0; i < n; i++) {
        difference[i] = (ld)of_wide(a[i]) - want[i];
    }
    CHECK_NEAR(norm_speed(&t, difference), 0, FORWARD * norm_speed(&t, want));
    CHECK_EQUAL(mdyn_inverse_dynamics(&sim, a, tau), MDYN_OK);
    for (int i = 0; i < n; i++) {
        double scale = unit_force(i) * (norm_force(t.tau) + size);
        CHECK_NEAR(of_wide(tau[i]), of_real(sim.tau[i]), INVERSE * scale);
    }
}

static inline void rotation_of(ld R[3][3], const mdyn_real4 *q) {
    ld x[4] = { (ld)of_real(q->w), (ld)of_real(q->x), (ld)of_real(q->y), (ld)of_real(q->z) };
    CHECK_NEAR((double)sqrtl(x[0] * x[0] + t_dot(x + 1, x + 1)), 1, UNIT_QUATERNION);
    t_quaternion(R, x);
}

static inline void compare_body(int body) {
    static mdyn_wide J[6 * TN];
    mdyn_real3 position, angular, linear, point = random_real3(1);
    mdyn_real4 quaternion;
    ld R[3][3], p[3], arm[3], column[3], v[2][3] = { { 0 } };
    int n = t.dofs, with_point = random_int(2);
    CHECK_EQUAL(mdyn_pose(&sim, body, &position, &quaternion), MDYN_OK);
    rotation_of(R, &quaternion);
    p[0] = (ld)of_real(position.x);
    p[1] = (ld)of_real(position.y);
    p[2] = (ld)of_real(position.z);
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR((double)p[i], (double)t.o[body][i], POSITION);
        for (int j = 0; j < 3; j++) {
            CHECK_NEAR((double)R[i][j], (double)t.R[body][i][j], ROTATION);
        }
    }
    arm[0] = (ld)of_real(point.x) * with_point;
    arm[1] = (ld)of_real(point.y) * with_point;
    arm[2] = (ld)of_real(point.z) * with_point;
    t_turn(arm, t.R[body], arm);
    const mdyn_real3 *at = with_point ? &point : NULL;
    CHECK_EQUAL(mdyn_jacobian(&sim, body, at, J), MDYN_OK);
    CHECK_EQUAL(mdyn_velocity(&sim, body, at, &angular, &linear), MDYN_OK);
    for (int j = 0; j < n; j++) {
        memcpy(column, t.Jo[body][j], sizeof column);
        t_cross_add(column, t.Jw[body][j], arm);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(of_wide(J[i * n + j]), (double)t.Jw[body][j][i], JACOBIAN_ANGULAR);
            CHECK_NEAR(of_wide(J[(3 + i) * n + j]), (double)column[i], JACOBIAN_LINEAR);
            v[0][i] += (ld)of_wide(J[i * n + j]) * t.v[j];
            v[1][i] += (ld)of_wide(J[(3 + i) * n + j]) * t.v[j];
        }
    }
    CHECK_NEAR(of_real(angular.x), (double)v[0][0], VELOCITY_ANGULAR);
    CHECK_NEAR(of_real(angular.y), (double)v[0][1], VELOCITY_ANGULAR);
    CHECK_NEAR(of_real(angular.z), (double)v[0][2], VELOCITY_ANGULAR);
    CHECK_NEAR(of_real(linear.x), (double)v[1][0], VELOCITY_LINEAR);
    CHECK_NEAR(of_real(linear.y), (double)v[1][1], VELOCITY_LINEAR);
    CHECK_NEAR(of_real(linear.z), (double)v[1][2], VELOCITY_LINEAR);
}

static inline void put_state(const truth *from) {
    for (int i = 0; i < from->coordinates; i++) {
        sim.q[i] = real((double)from->q[i]);
    }
    for (int i = 0; i < from->dofs; i++) {
        sim.v[i] = real((double)from->v[i]);
    }
}

#endif
