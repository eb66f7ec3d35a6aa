/* The reduced system in public: G, M_y, bias force, inverse dynamics and stabilized accelerations
   against dense algebra, on random trees with random couplings of several joints. */
#include "knobs.h"
#include "check.h"
#include "truth.h"
#include "truth_step.h"
#include "random_ties.h"
#include "sims.h"

/* What the checks allow, some three to ten times the worst, relative: elements of G and M_y;
   forces; accelerations; coordinates. */
/*                          F64    F32  FIXED */
TOLERANCE(MASS,           1e-13,  1e-4,  1e-5);
TOLERANCE(FORCE,          1e-13,  1e-4,  1e-5);
TOLERANCE(ACCELERATION,   5e-13,  2e-4,  2e-5);
TOLERANCE(PLACE,          1e-14,  2e-6, 1e-11);

static ld G[TN][TN], q0[TN], M_y[TN][TN];
static int m, dof_of[TN]; /* independent DoFs */

/* The mechanism number n with all couplings eliminated, in a random state off the couplings;
   with `soft` others that stay rows. */
static int draw_state(int n, int soft) {
    random_seed(40000 + (uint64_t)n);
    if (!draw(1 + random_int(6), soft) || !sim.tie_count ||
        (!soft && sim.tie_count < mech.model.coupling_count)) {
        return 0;
    }
    sim_random(&sim, &mech.model, 2, 5);
    truth_init(&t, &mech.model);
    truth_copy(&t, &sim);
    truth_update(&t, &mech.model);
    dense_gamma(G, q0);
    m = mdyn_independent_dofs(&sim);
    CHECK_EQUAL(m, t.dofs - sim.tie_count);
    for (int k = 0; k < m; k++) {
        dof_of[k] = mdyn_independent_dof(&sim, k);
        CHECK(dof_of[k] >= 0 && (k == 0 || dof_of[k] > dof_of[k - 1]));
        CHECK(sim.tie_of[dof_of[k]] < 0);
    }
    CHECK_EQUAL(mdyn_independent_dof(&sim, m), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_independent_dof(&sim, -1), MDYN_ERR_INDEX);
    return 1;
}

static void dense_mass(void) {
    memset(M_y, 0, sizeof M_y);
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++) {
            for (int k = 0; k < t.dofs; k++) {
                for (int l = 0; l < t.dofs; l++) {
                    M_y[i][j] += G[k][dof_of[i]] * t.M[k][l] * G[l][dof_of[j]];
                }
            }
        }
    }
}

/* ---- G, G^T, M_y, C_y ---- */

static void test_terms(void) {
    static mdyn_wide mass[TN * TN], y[TN], x[TN], force[TN], y_force[TN];
    int compared = 0, rows = 0;
    for (int n = 0; n < 1000; n++) {
        if (!draw_state(n, n % 2)) {
            continue;
        }
        dense_mass();
        CHECK_EQUAL(mdyn_reduced_mass_matrix(&sim, mass), MDYN_OK);
        for (int i = 0; i < m; i++) {
            for (int j = 0; j < m; j++) {
                CHECK_NEAR(of_wide(mass[i * m + j]), (double)M_y[i][j],
                           MASS * (double)sqrtl(M_y[i][i] * M_y[j][j]));
            }
        }
        for (int k = 0; k < m; k++) {
            y[k] = wide(random_in(-1, 1));
        }
        for (int k = 0; k < t.dofs; k++) {
            force[k] = wide(random_in(-1, 1));
        }
        CHECK_EQUAL(mdyn_expand_velocity(&sim, y, x), MDYN_OK);
        CHECK_EQUAL(mdyn_expand_acceleration(&sim, y, y_force), MDYN_OK); /* g = 0 */
        CHECK(!memcmp(x, y_force, (size_t)t.dofs * sizeof *x));
        for (int k = 0; k < t.dofs; k++) {
            ld wanted = 0, size = 0;
            for (int j = 0; j < m; j++) {
                wanted += G[k][dof_of[j]] * (ld)of_wide(y[j]);
                size += fabsl(G[k][dof_of[j]]);
            }
            CHECK_NEAR(of_wide(x[k]), (double)wanted, MASS * (double)size);
        }
        CHECK_EQUAL(mdyn_reduced_force(&sim, force, y_force), MDYN_OK);
        for (int j = 0; j < m; j++) {
            ld wanted = 0, size = 0;
            for (int k = 0; k < t.dofs; k++) {
                wanted += G[k][dof_of[j]] * (ld)of_wide(force[k]);
                size += fabsl(G[k][dof_of[j]]);
            }
            CHECK_NEAR(of_wide(y_force[j]), (double)wanted, MASS * (double)size);
        }
        CHECK_EQUAL(mdyn_reduced_bias_force(&sim, y_force), MDYN_OK);
        for (int j = 0; j < m; j++) {
            ld wanted = 0, size = 1;
            for (int k = 0; k < t.dofs; k++) {
                wanted += G[k][dof_of[j]] * t.C[k];
            }
            for (int k = 0; k < t.dofs; k++) { /* C_k^2 <= M_kk times what C does to all bodies */
                for (int l = 0; l < t.dofs; l++) {
                    size = fmaxl(size, fabsl(t.C[l]) * sqrtl(t.M[k][k] / t.M[l][l]));
                }
            }
            ld largest = 1;
            for (int k = 0; k < t.dofs; k++) {
                largest = fmaxl(largest, fabsl(G[k][dof_of[j]]));
            }
            CHECK_NEAR(of_wide(y_force[j]), (double)wanted, FORCE * (double)(size * largest));
        }
        rows += mech.model.coupling_count - sim.tie_count;
        compared++;
    }
    printf("%d mechanisms, %d couplings are rows\n", compared, rows);
    CHECK(compared >= 250 && rows >= 100);
}

/* ---- inverse dynamics ---- */

/* With tau of the inverse dynamics as command, the accelerations are those asked for; what joints
   lose adds G^T of each joint's own loss. */
static void test_inverse(void) {
    static mdyn_wide y[TN], wanted[TN], tau[TN], lossy[TN], got[TN];
    int compared = 0;
    double worst = 0;
    for (int n = 0; n < 1000; n++) {
        if (!draw_state(n, 0)) {
            continue;
        }
        for (int k = 0; k < m; k++) {
            y[k] = wide(random_in(-10, 10));
        }
        CHECK_EQUAL(mdyn_expand_acceleration(&sim, y, wanted), MDYN_OK);
        CHECK_EQUAL(mdyn_reduced_inverse_dynamics(&sim, y, tau), MDYN_OK);
        CHECK_EQUAL(mdyn_reduced_inverse_dynamics_with_losses(&sim, y, lossy), MDYN_OK);
        ld size = 0, d[TN], a[TN];
        for (int k = 0; k < t.dofs; k++) {
            size = fmaxl(size, fabsl((ld)of_wide(tau[k])));
        }
        for (int j = 0; j < m; j++) {
            ld loss = 0;
            for (int k = 0; k < t.dofs; k++) {
                for (int b = 0; b < mech.model.body_count; b++) {
                    const mdyn_body *body = &mech.body[b];
                    if (k < t.dof[b] || k >= t.dof[b] + t.dofs_of[b]) {
                        continue;
                    }
                    ld v = t.v[k];
                    loss += G[k][dof_of[j]] * ((ld)of_wide(body->damping) * v +
                                               (ld)of_wide(body->friction) * (v < 0 ? -1 : 1));
                }
            }
            CHECK_NEAR(of_wide(lossy[dof_of[j]]) - of_wide(tau[dof_of[j]]), (double)loss,
                       10 * MASS * (double)(size + fabsl(loss) + 1));
        }
        for (int k = 0; k < t.dofs; k++) {
            if (sim.tie_of[k] >= 0) {
                CHECK_NEAR(of_wide(tau[k]), of_real(sim.tau[k]), check_epsilon * 8);
                CHECK_NEAR(of_wide(lossy[k]), of_wide(tau[k]), 0);
            }
            sim.tau[k] = mdyn_real_of(tau[k]);
        }
        CHECK_EQUAL(mdyn_constrained_dynamics(&sim, got), MDYN_OK);
        for (int k = 0; k < t.dofs; k++) {
            a[k] = (ld)of_wide(wanted[k]);
            d[k] = (ld)of_wide(got[k]) - a[k];
        }
        double part = norm_speed(&t, d) / (norm_speed(&t, a) + 1);
        CHECK_NEAR(part, 0, ACCELERATION);
        worst = fmax(worst, part);
        compared++;
    }
    printf("%d inverse dynamics, %.1e\n", compared, worst);
    CHECK(compared >= 200);
}

/* ---- stabilized accelerations ---- */

/* q_n = gamma(y) and v_n = G y' into t, from the state of the sim. */
static void place_truth(void) {
    static ld v[TN];
    memcpy(v, t.v, sizeof v);
    for (int k = 0; k < t.dofs; k++) {
        if (sim.tie_of[k] < 0) {
            continue;
        }
        t.v[k] = 0;
        for (int j = 0; j < t.dofs; j++) {
            t.v[k] += G[k][j] * v[j];
        }
    }
    for (int b = 0; b < mech.model.body_count; b++) {
        int k = t.dof[b];
        if (t.dofs_of[b] != 1 || sim.tie_of[k] < 0) {
            continue;
        }
        t.q[t.coordinate[b]] = q0[k];
        for (int c = 0; c < mech.model.body_count; c++) {
            if (t.dofs_of[c] == 1 && G[k][t.dof[c]] != 0) {
                t.q[t.coordinate[b]] += G[k][t.dof[c]] * t.q[t.coordinate[c]];
            }
        }
    }
    truth_update(&t, &mech.model);
}

/* gs of all DoFs, at a state t that place_truth has moved. */
static void dense_gs(ld *gs, ld T) {
    for (int b = 0; b < mech.model.body_count; b++) {
        for (int k = t.dof[b]; k < t.dof[b] + t.dofs_of[b]; k++) {
            gs[k] = 0;
            if (sim.tie_of[k] >= 0) {
                ld dq = t.q[t.coordinate[b]] - (ld)of_real(sim.q[t.coordinate[b]]);
                gs[k] = 2 / T * (t.v[k] - (ld)of_real(sim.v[k])) + dq / (T * T);
            }
        }
    }
}

/* a := G y'' + gs with G^T (M (G y'' + gs) + C - tau) = 0 */
static void dense_stabilized(ld *a, const ld *gs) {
    static ld L[TN][TN];
    ld force[TN], y[TN];
    dense_mass();
    memcpy(L, M_y, sizeof L);
    CHECK(truth_cholesky(L, m));
    for (int k = 0; k < t.dofs; k++) {
        force[k] = t.tau[k] - t.C[k];
        for (int l = 0; l < t.dofs; l++) {
            force[k] -= t.M[k][l] * gs[l];
        }
    }
    for (int j = 0; j < m; j++) {
        y[j] = 0;
        for (int k = 0; k < t.dofs; k++) {
            y[j] += G[k][dof_of[j]] * force[k];
        }
    }
    truth_back(L, m, y);
    for (int k = 0; k < t.dofs; k++) {
        a[k] = gs[k];
        for (int j = 0; j < m; j++) {
            a[k] += G[k][dof_of[j]] * y[j];
        }
    }
}

/* FDgq's formula; the state and the step after it are as without the call. */
static void test_formula(void) {
    static mdyn_wide got[TN];
    ld gs[TN], wanted[TN], d[TN];
    int compared = 0;
    double worst = 0;
    for (int n = 0; n < 1000; n++) {
        if (!draw_state(n, 0)) {
            continue;
        }
        for (int k = 0; k < 3; k++) { /* tails and an extrapolation that the call must keep */
            (void)mdyn_step(&sim);
        }
        sim.q[mdyn_first_coordinate(&sim, mech.coupling[0].terms[0].body)] += real(0.01);
        truth_copy(&t, &sim);
        other = sim;
        ld T = (ld)of_wide(wide(pow(10, random_in(-2, 0))));
        CHECK_EQUAL(mdyn_stabilized_dynamics(&sim, wide((double)T), got), MDYN_OK);
        CHECK(!memcmp(sim.q, other.q, sizeof sim.q) && !memcmp(sim.v, other.v, sizeof sim.v));
        place_truth();
        dense_gs(gs, T);
        dense_stabilized(wanted, gs);
        for (int k = 0; k < t.dofs; k++) {
            d[k] = (ld)of_wide(got[k]) - wanted[k];
        }
        double part = norm_speed(&t, d) / (norm_speed(&t, wanted) + norm_speed(&t, gs) + 1);
        CHECK_NEAR(part, 0, ACCELERATION);
        worst = fmax(worst, part);
        CHECK_EQUAL(mdyn_step(&sim), mdyn_step(&other));
        CHECK(!memcmp(sim.q, other.q, sizeof sim.q) && !memcmp(sim.v, other.v, sizeof sim.v));

        truth_copy(&t, &sim); /* and onto the couplings */
        place_truth();
        CHECK_EQUAL(mdyn_project(&sim, MDYN_INDEPENDENT), MDYN_OK);
        for (int b = 0; b < mech.model.body_count; b++) {
            int c = t.coordinate[b];
            if (t.dofs_of[b] == 1) {
                double size = 1 + fabs((double)t.q[c]);
                CHECK_NEAR(of_real(sim.q[c]), (double)t.q[c], 100 * PLACE * size);
            }
        }
        compared++;
    }
    printf("%d stabilized, %.1e\n", compared, worst);
    CHECK(compared >= 200);
}

/* A follower 0.1 off its leader, integrated by Runge-Kutta with T = 0.1 s:
      e(t) = 0.1 (1 + t/T) exp(-t/T) */
static void rates(const double x[4], double rate[4]) {
    mdyn_wide a[2];
    for (int k = 0; k < 2; k++) {
        sim.q[k] = real(x[k]);
        sim.v[k] = real(x[2 + k]);
    }
    CHECK_EQUAL(mdyn_stabilized_dynamics(&sim, wide(0.1), a), MDYN_OK);
    for (int k = 0; k < 2; k++) {
        rate[k] = x[2 + k];
        rate[2 + k] = of_wide(a[k]);
    }
}

static void test_decay(void) {
    static const mdyn_body links[] = {
        MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 1, 0), MDYN_AT(0, 0, 0),
                  MDYN_RIGID(1, 0.5, 0, 0, MDYN_INERTIA(0.1, 0.1, 0.1, 0, 0, 0)), MDYN_PASSIVE,
                  "upper"),
        MDYN_BODY(0, MDYN_TURNS(0, 1, 0), MDYN_AT(1, 0, 0),
                  MDYN_RIGID(1, 0.5, 0, 0, MDYN_INERTIA(0.1, 0.1, 0.1, 0, 0, 0)), MDYN_PASSIVE,
                  "lower"),
    };
    static const mdyn_coupling mimic[] = { MDYN_MIMIC(1, 0, -2.0, 0.3) };
    static const mdyn_model model = MDYN_MODEL(links, 2, mimic, 1, MDYN_V3(0, 0, -9.81), 0.001);
    CHECK(mdyn_init(&sim, &model) >= 0);
    CHECK_EQUAL(sim.tie_count, 1);
    double x[4] = { 0.2, -0.1 + 0.1, 0, 0 }, k1[4], k2[4], k3[4], k4[4], y[4];
    const double h = 0.002;
    for (int i = 0; i < 250; i++) {
        rates(x, k1);
        for (int k = 0; k < 4; k++) { y[k] = x[k] + h / 2 * k1[k]; }
        rates(y, k2);
        for (int k = 0; k < 4; k++) { y[k] = x[k] + h / 2 * k2[k]; }
        rates(y, k3);
        for (int k = 0; k < 4; k++) { y[k] = x[k] + h * k3[k]; }
        rates(y, k4);
        for (int k = 0; k < 4; k++) { x[k] += h / 6 * (k1[k] + 2 * k2[k] + 2 * k3[k] + k4[k]); }
        double s = (i + 1) * h / 0.1, e = x[1] - (-2 * x[0] + 0.3);
        CHECK_NEAR(e, 0.1 * (1 + s) * exp(-s), BY_SCALAR(1e-8, 1e-6, 1e-8));
    }
}

static void test_errors(void) {
    static mdyn_wide a[TN], b[TN * TN];
    for (int n = 0; !draw_state(n, 0); n++) { }
    memset(a, 0, sizeof a);
    CHECK_EQUAL(mdyn_independent_dofs(NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_independent_dof(NULL, 0), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_expand_velocity(&sim, a, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_expand_acceleration(&sim, NULL, b), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_reduced_force(&sim, NULL, b), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_reduced_mass_matrix(&sim, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_reduced_bias_force(&sim, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_reduced_inverse_dynamics(&sim, NULL, b), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_reduced_inverse_dynamics_with_losses(&sim, a, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_stabilized_dynamics(&sim, wide(0.1), NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_stabilized_dynamics(&sim, wide(0), b), MDYN_ERR_DT);
    CHECK_EQUAL(mdyn_stabilized_dynamics(&sim, wide(2), b), MDYN_ERR_DT);
    a[m - 1] = MDYN_SCALAR == MDYN_SCALAR_FIXED ? mdyn_over(wide(1), wide(0)) : wide(1e300);
    CHECK_EQUAL(mdyn_expand_velocity(&sim, a, b), MDYN_ERR_STATE);
    CHECK_EQUAL(sim.culprit.index, m - 1);
    CHECK_EQUAL(mdyn_reduced_inverse_dynamics(&sim, a, b), MDYN_ERR_STATE);
    CHECK_EQUAL(mdyn_reduced_force(&sim, a, b), MDYN_ERR_STATE);
    sim.v[0] = mdyn_v(&sim, -1, 0);
    CHECK_EQUAL(mdyn_stabilized_dynamics(&sim, wide(0.1), b), MDYN_ERR_STATE);
}

/* ---- forces on request ---- */

/* Whether all rows report the same in both sims, twice. Counts those with a force. */
static void reports_agree(const mdyn_sim *a, const mdyn_sim *b, int *forces) {
    for (int n = 0; n < 2 * (MDYN_ROW_LIMIT + 1) * TN; n++) {
        const mdyn_row_kind kind = (mdyn_row_kind)(n / 2 % (MDYN_ROW_LIMIT + 1));
        const int index = n / 2 / (MDYN_ROW_LIMIT + 1);
        mdyn_row_report x, y;
        memset(&x, 0, sizeof x);
        memset(&y, 0, sizeof y);
        CHECK_EQUAL(mdyn_report_row(a, kind, index, &x), mdyn_report_row(b, kind, index, &y));
        CHECK(!memcmp(&x, &y, sizeof x));
        *forces += of_wide(x.force) != 0;
    }
    for (int i = 0; i < mech.model.coupling_count; i++) {
        for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
            mdyn_wide x, y;
            CHECK_EQUAL(mdyn_coupling_force(a, i, k, &x), MDYN_OK);
            CHECK_EQUAL(mdyn_coupling_force(b, i, k, &y), MDYN_OK);
            CHECK(!memcmp(&x, &y, sizeof x));
        }
    }
}

/* Another state and other commands, the same in both. */
static void overwrite(mdyn_sim *s) {
    for (int k = 0; k < t.dofs; k++) {
        s->q[k] = s->v[k] = s->tau[k] = real(0.25 + k);
    }
}

/* With MDYN_ON_REQUEST steps are the same to the last bit, and so are the forces that are asked for
   after a step, whatever the user has written to the sim since then. */
static void test_on_request(void) {
    static mdyn_sim later, kept, kept_later;
    int compared = 0, forces = 0;
    for (int n = 0; n < 600; n++) {
        if (!draw_state(n, n % 2)) {
            continue;
        }
        mdyn_model model = mech.model;
        model.solver.method = n % 3 ? MDYN_PGS : MDYN_TGS;
        CHECK(mdyn_init(&sim, &model) >= 0);
        model.solver.forces = MDYN_ON_REQUEST;
        CHECK(mdyn_init(&later, &model) >= 0);
        sim_random(&sim, &mech.model, 2, 5);
        copy_inputs(&later, &sim);
        for (int s = 0; s < 4; s++) {
            const int code = mdyn_step(&sim);
            CHECK_EQUAL(mdyn_step(&later), code);
            if (code < 0) {
                break; /* fast bodies: the velocity leaves its range */
            }
            CHECK(!memcmp(sim.q, later.q, sizeof sim.q) && !memcmp(sim.v, later.v, sizeof sim.v));
            CHECK(later.forces_wait && !sim.forces_wait);
            kept = sim;
            kept_later = later;
            overwrite(&sim);
            overwrite(&later);
            reports_agree(&sim, &later, &forces);
            sim = kept;
            later = kept_later;
        }
        compared++;
    }
    printf("%d mechanisms, %d forces\n", compared, forces);
    CHECK(compared >= 200 && forces >= 5000);
}

int main(int argc, char **argv) {
    static void (*const tests[])(void) = {
        test_terms, test_inverse, test_formula, test_decay, test_errors, test_on_request
    };
    check_begin(argc, argv);
    for (int i = 0; i < (int)(sizeof tests / sizeof *tests); i++) {
        random_seed((uint64_t)i + 1);
        tests[i]();
    }
    return check_end();
}
