/* A tree of six bodies with joints of every kind, for tests of single rooms. Included after
   check.h. */
#ifndef SMALL_TREE_H
#define SMALL_TREE_H

enum { TREE_BODIES = 6, TREE_DOFS = 13, TREE_COORDINATES = 15 };

static mdyn_sim sim;
static mdyn_body tree_body[TREE_BODIES];
static mdyn_coupling tree_coupling[2];
static mdyn_model tree_model;

static inline double number(md_num x) { return of_wide(md_to_wide(x)); }
static inline md_num num(double x) { return md_of_wide(wide(x)); }

/* Two branches on the free body 0, a slider on the world; axes in any direction but body 1's. */
static inline void small_tree(void) {
    static const int parent[TREE_BODIES] = { MDYN_WORLD, 0, 1, 0, MDYN_WORLD, 4 };
    static const mdyn_joint joint[TREE_BODIES] = { MDYN_FREE, MDYN_REVOLUTE, MDYN_SPHERICAL,
        MDYN_PRISMATIC, MDYN_PRISMATIC, MDYN_HELICAL };
    memset(tree_body, 0, sizeof tree_body);
    memset(tree_coupling, 0, sizeof tree_coupling);
    memset(&tree_model, 0, sizeof tree_model);
    for (int i = 0; i < TREE_BODIES; i++) {
        mdyn_body *b = &tree_body[i];
        b->parent = (int16_t)parent[i];
        b->joint = joint[i];
        mdyn_wide *fields[] = { &b->axis.x, &b->position.x, &b->com.x };
        for (int f = 0; f < 3; f++) {
            for (int k = 0; k < 3; k++) {
                fields[f][k] = wide(random_in(-0.5, 0.5));
            }
        }
        b->rotation.w = wide(1);
        b->rotation.y = wide(random_in(-1, 1));
        b->mass = wide(random_in(0.5, 2));
        b->inertia.xx = b->inertia.yy = wide(random_in(0.1, 0.15));
        b->inertia.zz = wide(random_in(0.1, 0.15));
    }
    tree_body[1].axis = wide3(0, 1, 0);
    tree_body[5].pitch = wide(0.1);
    tree_model.bodies = tree_body;
    tree_model.body_count = TREE_BODIES;
    tree_model.couplings = tree_coupling;
    tree_model.gravity = wide3(0.5, 1, -9.81);
    tree_model.dt = wide(0.001);
}

/* Any state, with quaternions of length 1. */
static inline void random_state(void) {
    for (int i = 0; i < TREE_COORDINATES; i++) {
        sim.q[i] = real(random_in(-1, 1));
    }
    for (int i = 0; i < TREE_DOFS; i++) {
        sim.v[i] = real(random_in(-1, 1));
        sim.tau[i] = real(random_in(-1, 1));
    }
    for (int i = 0; i < TREE_BODIES; i++) {
        int k = mdyn_first_coordinate(&sim, i) + (tree_body[i].joint == MDYN_FREE ? 3 : 0);
        if (tree_body[i].joint == MDYN_FREE || tree_body[i].joint == MDYN_SPHERICAL) {
            sim.q[k] = real(1);
            sim.q[k + 1] = sim.q[k + 2] = sim.q[k + 3] = real(0);
            mdyn_real *q = &sim.q[k];
            double w = random_in(0, 1), x = random_in(0, sqrt(1 - w * w));
            q[0] = real(w);
            q[1] = real(x);
            q[3] = real(sqrt(1 - w * w - x * x));
        }
    }
}

/* x = A^-1 b by Gauss and Jordan, with pivots. */
static inline void dense_solve(const double *matrix, int n, const double *b, double *x) {
    double A[TREE_DOFS][TREE_DOFS + 1];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            A[i][j] = matrix[i * n + j];
        }
        A[i][n] = b[i];
    }
    for (int c = 0; c < n; c++) {
        int p = c;
        for (int i = c + 1; i < n; i++) {
            p = fabs(A[i][c]) > fabs(A[p][c]) ? i : p;
        }
        for (int j = 0; j <= n; j++) {
            double swap = A[c][j];
            A[c][j] = A[p][j];
            A[p][j] = swap;
        }
        for (int i = 0; i < n; i++) {
            double factor = i == c ? 0 : A[i][c] / A[c][c];
            for (int j = c; j <= n; j++) {
                A[i][j] -= factor * A[c][j];
            }
        }
    }
    for (int i = 0; i < n; i++) {
        x[i] = A[i][n] / A[i][i];
    }
}

static inline double dot(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* M by the public call, in double. */
static inline void dense_mass_matrix(double M[TREE_DOFS * TREE_DOFS]) {
    static mdyn_wide m[TREE_DOFS * TREE_DOFS];
    CHECK_EQUAL(mdyn_mass_matrix(&sim, m), MDYN_OK);
    for (int i = 0; i < TREE_DOFS * TREE_DOFS; i++) {
        M[i] = of_wide(m[i]);
    }
}

#endif
