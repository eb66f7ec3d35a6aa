/* Random couplings on random trees, one step of which is compared with the dense solution of
   truth_step.h. Included after check.h, truth.h and truth_step.h. */
#ifndef RANDOM_COUPLINGS_H
#define RANDOM_COUPLINGS_H

#include "explicit.h"

enum { DOFS = 24 }; /* of random mechanisms */
static mdyn_sim sim, other;
static mechanism mech;
static truth t;
static truth_step want;

static inline void begin(int code) { /* some of the random couplings leave a joint one position */
    int begun = init_explicit(&sim, &mech.model);
    CHECK(begun == code || (code == MDYN_OK && begun == MDYN_WARN_LOCKED));
    truth_init(&t, &mech.model);
}

static inline void solve_dense(void) {
    CHECK_NEAR(truth_step_of(&want, &t, &mech.model, &sim), 0, 2e-16);
}

/* One step of sim against the dense one. */
static inline void compare_step(double allowed) {
    solve_dense();
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(speed_error(&t, &sim, want.v), 0, allowed * truth_step_size(&want, &t));
}

static inline mdyn_softness random_softness(void) {
    mdyn_softness s = MDYN_HARD(0);
    switch (random_int(5)) {
    case 0: s.kind = MDYN_DEFAULT; break;
    case 1: s.a = wide(random_in(0, 1)); break;
    case 2:
        s.a = wide(random_in(0, 1));
        s.b = wide(random_in(0, 2));
        break;
    case 3:
        s.kind = MDYN_KP_KD;
        s.a = wide(random_in(0, 1000));
        s.b = wide(random_in(0.1, 10));
        break;
    default:
        s.kind = MDYN_OMEGA_ZETA;
        s.a = wide(random_in(0, 100));
        s.b = wide(random_in(0, 2));
        break;
    }
    return s;
}

static inline double random_ratio(double decades) {
    double f = pow(10, random_in(-decades, decades));
    return random_int(2) ? f : -f;
}

/* Two to four speeds, in any trees; positions only where the joint has one. */
static inline void random_coupling(mdyn_coupling *c, double decades) {
    int terms = 2 + random_int(3), found = 0;
    memset(c, 0, sizeof *c);
    c->level = random_int(3) ? MDYN_POSITION : MDYN_VELOCITY;
    for (int tries = 0; tries < 100 && found < terms; tries++) {
        int body = random_int(t.bodies), n = t.dofs_of[body], taken = 0;
        int axis = n > 0 ? random_int(n) : 0;
        for (int k = 0; k < found; k++) {
            taken |= c->terms[k].body == body && c->terms[k].axis == axis;
        }
        if (taken || n == 0 || (n > 1 && c->level == MDYN_POSITION)) {
            continue;
        }
        c->terms[found].body = (int16_t)body;
        c->terms[found].axis = (int8_t)axis;
        c->terms[found++].coefficient = wide(random_ratio(decades));
    }
    c->softness = random_softness();
    c->offset = wide(c->level == MDYN_POSITION ? random_in(-0.1, 0.1) : 0);
    c->target_velocity = wide(random_int(2) ? random_in(-1, 1) : 0);
}

static inline void random_tree(int bodies, int kind) {
    do {
        mechanism_random(&mech, bodies, DOFS, kind);
        truth_init(&t, &mech.model);
    } while (t.dofs < 4);
    for (int b = 0; b < bodies; b++) {
        mech.body[b].damping = wide(random_int(3) ? 0 : random_in(0, 1));
    }
}

/* How many of the rows are independent, hard and soft ones alike, by the angles between them. */
static inline int rank_of_couplings(void) {
    static truth_system e;
    truth_init(&t, &mech.model);
    truth_update(&t, &mech.model);
    truth_step_begin(&want, &t, &mech.model, &sim);
    e.n = want.rows;
    for (int i = 0; i < e.n; i++) {
        for (int j = 0; j < e.n; j++) {
            e.A[i][j] = want.A[i][j] / sqrtl(want.A[i][i] * want.A[j][j]);
        }
        e.b[i] = 0;
    }
    return truth_solve(&e, 1e-4L);
}

/* That many independent couplings. */
static inline void random_couplings(int count, double decades) {
    do {
        for (int i = 0; i < count; i++) {
            do {
                random_coupling(&mech.coupling[i], decades);
            } while (of_wide(mech.coupling[i].terms[0].coefficient) == 0);
        }
        mech.model.coupling_count = count;
    } while (rank_of_couplings() < count);
}

static inline void couple(mdyn_coupling c) {
    mech.coupling[mech.model.coupling_count++] = c;
}

#endif
