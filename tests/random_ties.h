/* Random trees whose couplings a sim eliminates, and gamma and G by Gaussian elimination of the
   couplings' own numbers. Included after check.h, truth.h and truth_step.h. */
#ifndef RANDOM_TIES_H
#define RANDOM_TIES_H

#include "random_couplings.h"

/* Two to four joints of one coordinate each; not all mechanisms have as many. */
static inline int position_coupling(mdyn_coupling *c) {
    for (int tries = 0; tries < 50; tries++) {
        random_coupling(c, 0.5);
        memset(&c->softness, 0, sizeof c->softness);
        c->target_velocity = wide(0);
        int terms = 0;
        for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
            terms += of_wide(c->terms[k].coefficient) != 0;
        }
        if (c->level == MDYN_POSITION && terms >= 2) {
            return 1;
        }
    }
    return 0;
}

static int nearly_redundant; /* whether mdyn_init has told so of the last mechanism drawn */

/* A random tree with up to `count` couplings, and with `soft` others among them. Returns 0 if it is
   no valid model, or its couplings are dependent. */
static inline int draw(int count, int soft) {
    random_tree(4 + random_int(8), ARMATURES | (random_int(2) ? FLOATING : FOREST));
    mech.model.coupling_count = 0;
    for (int i = 0; i < count; i++) {
        mdyn_coupling *c = &mech.coupling[mech.model.coupling_count];
        if (!position_coupling(c)) {
            break;
        }
        if (soft && random_int(3) == 0) {
            c->softness = random_softness();
            if (c->softness.kind == MDYN_OMEGA_ZETA) { /* by the inverse mass of the row alone */
                c->softness.kind = MDYN_KP_KD;
            }
        }
        mech.model.coupling_count++;
    }
    mech.model.solver.scheme = MDYN_MIDPOINT;
    const int code = mdyn_init(&sim, &mech.model);
    nearly_redundant = code == MDYN_WARN_NEARLY_REDUNDANT;
    return code == MDYN_OK || code == MDYN_WARN_OFF_COUPLING || nearly_redundant;
}

/* Gauss-Jordan elimination of A x = b for n unknowns and m right-hand sides. */
static inline void solve_many(ld A[TC][TC + TN + 1], int n, int m) {
    for (int i = 0; i < n; i++) {
        int pivot = i;
        for (int j = i; j < n; j++) {
            pivot = fabsl(A[j][i]) > fabsl(A[pivot][i]) ? j : pivot;
        }
        for (int k = 0; k < n + m; k++) {
            ld x = A[i][k];
            A[i][k] = A[pivot][k];
            A[pivot][k] = x;
        }
        for (int j = 0; j < n; j++) {
            ld f = j == i ? 0 : A[j][i] / A[i][i];
            for (int k = i; k < n + m && j != i; k++) {
                A[j][k] -= f * A[i][k];
            }
        }
        for (int k = n + m - 1; k >= i; k--) {
            A[i][k] /= A[i][i];
        }
    }
}

/* G of all DoFs, of the couplings that the sim has eliminated; q0[n]: q of the followers where the
   independent joints are at 0. */
static inline void dense_gamma(ld G[TN][TN], ld *q0) {
    static ld A[TC][TC + TN + 1];
    int n = sim.tie_count;
    memset(A, 0, sizeof A);
    memset(G, 0, sizeof(ld[TN][TN]));
    memset(q0, 0, sizeof(ld[TN]));
    for (int i = 0; i < n; i++) {
        const mdyn_coupling *c = &mech.coupling[sim.tie[i].coupling];
        A[i][n + t.dofs] = (ld)of_wide(c->lower) - (ld)of_wide(c->offset);
        for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
            if (of_wide(c->terms[k].coefficient) == 0) {
                continue;
            }
            int dof = mdyn_first_dof(&sim, c->terms[k].body), follows = sim.tie_of[dof];
            ld x = (ld)of_wide(c->terms[k].coefficient);
            if (follows >= 0) {
                A[i][follows] = x;
            } else {
                A[i][n + dof] = -x;
            }
        }
    }
    solve_many(A, n, t.dofs + 1);
    for (int k = 0; k < t.dofs; k++) {
        if (sim.tie_of[k] < 0) {
            G[k][k] = 1;
        }
        for (int j = 0; j < t.dofs && sim.tie_of[k] >= 0; j++) {
            G[k][j] = A[sim.tie_of[k]][n + j];
        }
        if (sim.tie_of[k] >= 0) {
            q0[k] = A[sim.tie_of[k]][n + t.dofs];
        }
    }
}

static inline void dense_G(ld G[TN][TN]) {
    static ld q0[TN];
    dense_gamma(G, q0);
}

#endif
