/* Substeps, what becomes of errors of position, and warm starts. Wheels and slides on fixed axes
   have a constant M and J, so a step of N substeps is N steps of dt/N: that is the truth here. */
#define MIMICDYN_MAX_BODIES 128
#define MIMICDYN_MAX_ENTRIES 4096
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include "wheels.h"

static mdyn_sim other;
static mdyn_model small;

static mdyn_coupling *couple(int a, double ca, int b, double cb) {
    mdyn_coupling c = MDYN_GEAR(0, 0, 0, 0, 0);
    c.terms[0].body = (int16_t)a;
    c.terms[0].coefficient = wide(ca);
    c.terms[1].body = (int16_t)b;
    c.terms[1].coefficient = wide(cb);
    coupling[model.coupling_count] = c;
    return &coupling[model.coupling_count++];
}

/* Five wheels with a row of every kind. */
static void every_row(double dt) {
    mdyn_coupling *c;
    wheels(5, 0.5, dt);
    for (int i = 0; i < 5; i++) {
        body[i].armature = wide(random_in(0, 0.5));
    }
    c = couple(0, 1, 1, random_in(-2, 2));
    c->softness.kind = MDYN_ERP_CFM;
    c->softness.a = wide(random_in(0, 0.5));
    c = couple(1, 1, 2, random_in(-2, 2));
    c->softness.kind = random_int(2) ? MDYN_KP_KD : MDYN_OMEGA_ZETA;
    c->softness.a = wide(random_in(5, 50));
    c->softness.b = wide(random_in(0.2, 2));
    c->offset = wide(random_in(-0.3, 0.3));
    c = couple(2, 1, 3, random_in(-2, 2));
    c->effort = wide(random_in(1, 5));
    c->softness.kind = MDYN_ERP_CFM;
    c->softness.a = wide(0.25);
    c->softness.b = wide(random_int(2) ? 0 : 0.01);
    c = couple(3, 1, 4, random_in(-2, 2));
    c->lower = wide(-0.5);
    c->upper = wide(0.25);
    body[1].drive_kp = wide(random_in(0, 20));
    body[1].drive_kd = wide(random_in(0.1, 2));
    body[2].friction = wide(random_in(0, 2));
    body[3].lower = wide(-0.5);
    body[3].upper = wide(0.5);
    body[4].drive_kd = wide(1);
    body[4].effort = wide(3);
}

static void same_state(mdyn_sim *a, mdyn_sim *b) {
    for (int i = 0; i < model.body_count; i++) {
        b->q[i] = a->q[i] = real(random_in(-0.4, 0.4));
        b->v[i] = a->v[i] = real(random_in(-5, 5));
        b->tau[i] = a->tau[i] = real(random_in(-10, 10));
        b->target[i] = a->target[i] = real(random_in(-1, 1));
        b->target_speed[i] = a->target_speed[i] = real(random_in(-1, 1));
    }
}

/* One step of N substeps against N steps, with both corrections and for rows exact or swept. The
   impulses of a step are the sums. */
static void test_substeps_are_steps(void) {
    for (int k = 0; k < 200; k++) {
        int parts = 2 + random_int(15);
        double dt = 0x1p-8, impulse[4] = { 0 };
        mdyn_row_report report;
        every_row(dt);
        model.solver.equality = k % 4 < 2 ? MDYN_EXACT : MDYN_ITERATED;
        model.solver.correction = k % 2 ? MDYN_RELAX : MDYN_BAUMGARTE;
        model.solver.start = k % 8 < 4 ? MDYN_WARM : MDYN_COLD;
        model.solver.sweeps = 20000;
        small = model;
        small.dt = wide(dt / parts);
        model.solver.method = MDYN_TGS;
        model.solver.substeps = (uint16_t)parts;
        CHECK(mdyn_init(&sim, &model) >= 0);
        CHECK(mdyn_init(&other, &small) >= 0);
        same_state(&sim, &other);
        for (int step = 0; step < 10; step++) {
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            for (int i = 0; i < 4; i++) {
                impulse[i] = 0;
            }
            for (int n = 0; n < parts; n++) {
                CHECK_EQUAL(mdyn_step(&other), MDYN_OK);
                for (int i = 0; i < 4; i++) {
                    mdyn_row(&other, MDYN_ROW_COUPLING, i, &report);
                    impulse[i] += of_wide(report.impulse);
                }
            }
            for (int i = 0; i < 5; i++) {
                CHECK_NEAR(of_real(sim.q[i]), of_real(other.q[i]), BY_SCALAR(1e-14, 2e-6, 1e-6));
                CHECK_NEAR(of_real(sim.v[i]), of_real(other.v[i]), BY_SCALAR(3e-12, 3e-3, 7e-4));
                sim.q[i] = other.q[i];
                sim.v[i] = other.v[i];
            }
            for (int i = 0; i < 4; i++) {
                CHECK_EQUAL(mdyn_row(&sim, MDYN_ROW_COUPLING, i, &report), MDYN_OK);
                CHECK_NEAR(of_wide(report.impulse), impulse[i], BY_SCALAR(3e-12, 3e-3, 5e-4));
            }
        }
    }
}

/* ---- swept parts of a step against pivoting: rows that are a complementarity problem ---- */

enum { MOST_ROWS = 6, MOST_WHEELS = MOST_ROWS + 2 };

typedef struct part {
    double h, q[MOST_WHEELS], v[MOST_WHEELS], tau[MOST_WHEELS], impulse[MOST_ROWS];
    int held, loose; /* rows that have bounds: those at one, those between */
} part;

/* Equalities, with and without a bound on the force, and rows that only push; the last one may rub
   by the force of the first. At least 2 wheels more than rows. */
static void random_rows(int rows) {
    wheels(rows + 2, 0.5, 0x1p-8);
    for (int i = 0; i < rows + 2; i++) {
        body[i].armature = wide(random_in(0, 2));
    }
    for (int i = 0; i < rows; i++) {
        double first = random_in(0.5, 2), second = random_in(-2, 2);
        mdyn_coupling *c = couple(i, first, i + 1, second);
        int kind = random_int(4);
        c->terms[2].body = (int16_t)(i + 2);
        c->terms[2].coefficient = wide(random_in(-1, 1));
        c->offset = wide(random_in(-0.1, 0.1));
        c->softness.kind = MDYN_ERP_CFM;
        c->softness.a = wide(random_in(0, 0.5));
        c->softness.b = wide(random_int(2) ? 0 : random_in(0, 0.5));
        if (i > 0 && i == rows - 1 && random_int(2)) {
            c->mu = wide(random_in(0, 1));
            c->mu_of = 0;
        } else if (kind == 1) {
            c->effort = wide(pow(10, random_in(1, 4)));
        } else if (kind == 2) {
            c->upper = MDYN_UNLIMITED;
        } else if (kind == 3) {
            c->lower = -MDYN_UNLIMITED;
        }
    }
}

/* The coefficient of a row on each wheel, and their sum times x. */
static double row_times(int row, const double *x, double *J) {
    double sum = 0;
    memset(J, 0, MOST_WHEELS * sizeof *J);
    for (int t = 0; t < 3; t++) {
        const mdyn_term *term = &coupling[row].terms[t];
        J[term->body] += of_wide(term->coefficient);
        sum += of_wide(term->coefficient) * x[term->body];
    }
    return sum;
}

static double mass_of(int wheel) {
    return of_wide(body[wheel].inertia.zz) + of_wide(body[wheel].armature);
}

static int is_about(double x, double bound) { return fabs(x - bound) <= 1e-4 * fabs(bound); }

/* One part of a step: A = J M^-1 J' + cfm, b what the rows ask beyond the motion without them. */
static void solve_part(part *p) {
    static mdyn_wide A[MOST_ROWS * MOST_ROWS], b[MOST_ROWS], lo[MOST_ROWS], hi[MOST_ROWS];
    static mdyn_wide x[MOST_ROWS];
    static mdyn_lcp_cell scratch[MDYN_LCP_SCRATCH(MOST_ROWS)];
    int16_t findex[MOST_ROWS];
    double J[MOST_ROWS][MOST_WHEELS];
    const int n = model.coupling_count;
    mdyn_lcp lcp = { n, A, b, lo, hi, findex, MDYN_PYRAMID };
    for (int k = 0; k < n + 2; k++) {
        p->v[k] += p->h * p->tau[k] / mass_of(k);
    }
    for (int i = 0; i < n; i++) {
        const mdyn_coupling *c = &coupling[i];
        double error = (row_times(i, p->q, J[i]) + of_wide(c->offset)) / p->h;
        int pushes = of_wide(c->upper) > 0, pulls = of_wide(c->lower) < 0;
        int rubs = of_wide(c->mu) > 0;
        int apart = (pushes && error > 0) || (pulls && error < 0);
        double most = of_wide(c->effort) > 0 ? p->h * of_wide(c->effort) : 1e12;
        b[i] = wide(-row_times(i, p->v, J[i]) - (apart ? 1 : of_wide(c->softness.a)) * error);
        lo[i] = wide(pushes ? 0 : -most);
        hi[i] = rubs ? c->mu : wide(pulls ? 0 : most);
        findex[i] = (int16_t)(rubs ? c->mu_of : -1);
        for (int j = 0; j <= i; j++) {
            double sum = i == j ? of_wide(c->softness.b) : 0;
            for (int k = 0; k < n + 2; k++) {
                sum += J[i][k] * J[j][k] / mass_of(k);
            }
            A[i * n + j] = wide(sum);
        }
    }
    CHECK_EQUAL(mdyn_lcp_dantzig(&lcp, x, NULL, scratch, MDYN_LCP_SCRATCH(n), NULL), MDYN_OK);
    for (int k = 0; k < n + 2; k++) {
        for (int i = 0; i < n; i++) {
            p->v[k] += J[i][k] * of_wide(x[i]) / mass_of(k);
        }
        p->q[k] += p->h * p->v[k];
    }
    for (int i = 0; i < n; i++) {
        double most = of_wide(hi[i]) * (findex[i] >= 0 ? fabs(of_wide(x[findex[i]])) : 1);
        double least = findex[i] >= 0 ? -most : of_wide(lo[i]);
        int at = is_about(of_wide(x[i]), most) || is_about(of_wide(x[i]), least);
        p->impulse[i] += of_wide(x[i]);
        p->held += at;
        p->loose += !at && (most < 1e11 || least > -1e11);
    }
}

static void take_state(part *p, double h) {
    memset(p, 0, sizeof *p);
    p->h = h;
    for (int k = 0; k < model.body_count; k++) {
        p->q[k] = of_real(sim.q[k]);
        p->v[k] = of_real(sim.v[k]);
        p->tau[k] = of_real(sim.tau[k]);
    }
}

/* A step of 1 to 8 parts, swept until nothing moves, against each part solved by pivoting. */
static void test_parts_are_solved(void) {
    int held = 0, loose = 0;
    for (int trial = 0; trial < 150; trial++) {
        int parts = 1 << random_int(4);
        part truth;
        random_rows(1 + random_int(MOST_ROWS));
        model.solver.method = MDYN_TGS;
        model.solver.equality = MDYN_ITERATED;
        model.solver.substeps = (uint16_t)parts;
        model.solver.start = trial % 2 ? MDYN_WARM : MDYN_COLD;
        model.solver.sweeps = 20000;
        CHECK(mdyn_init(&sim, &model) >= 0);
        same_state(&sim, &other);
        for (int step = 0; step < 4; step++) {
            take_state(&truth, of_wide(model.dt) / parts);
            for (int i = 0; i < parts; i++) {
                solve_part(&truth);
            }
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            for (int k = 0; k < model.body_count; k++) {
                CHECK_NEAR(of_real(sim.q[k]), truth.q[k], BY_SCALAR(1e-14, 5e-6, 4e-7));
                CHECK_NEAR(of_real(sim.v[k]), truth.v[k], BY_SCALAR(2.5e-12, 1.2e-3, 1.5e-4));
            }
            for (int i = 0; i < model.coupling_count; i++) {
                mdyn_row_report report;
                CHECK_EQUAL(mdyn_row(&sim, MDYN_ROW_COUPLING, i, &report), MDYN_OK);
                CHECK_NEAR(of_wide(report.impulse), truth.impulse[i],
                           BY_SCALAR(5e-12, 2.2e-3, 2e-4));
            }
            held += truth.held;
            loose += truth.loose;
        }
    }
    CHECK(held > 2000 && loose > 200);
}

/* A soft coupling has the period of its spring whatever the substeps: converging to it. */
static void test_substeps_converge(void) {
    double error[3], dt = 0x1p-6, omega = 10, t = 64 * dt;
    for (int k = 0; k < 3; k++) {
        wheels(1, 1, dt);
        mdyn_coupling *c = couple(0, 1, 0, 0);
        c->softness.kind = MDYN_OMEGA_ZETA;
        c->softness.a = wide(omega);
        model.solver.method = k == 0 ? MDYN_PGS : MDYN_TGS;
        model.solver.substeps = k == 2 ? 16 : 0; /* 4 */
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
        sim.q[0] = real(1);
        for (int i = 0; i < 64; i++) {
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        }
        error[k] = fabs(of_real(sim.q[0]) - cos(omega * t));
    }
    CHECK(error[1] < 0.5 * error[0] && error[2] < 0.5 * error[1] && error[2] > 0);
}

/* An error of position at rest: with MDYN_RELAX q takes back erp of it by the shortest way in the
   metric of M, and nothing moves after the step. Baumgarte leaves that speed. A spring keeps its
   force in both. */
static void test_relax(void) {
    for (int relax = 0; relax < 2; relax++) {
        for (int iterated = 0; iterated < 2; iterated++) {
            double dt = 0x1p-8, erp = 0.25, c = -2;
            mdyn_row_report report;
            wheels(3, 0.5, dt);
            body[1].armature = wide(1.5);
            couple(0, 1, 1, c)->softness.kind = MDYN_ERP_CFM;
            coupling[0].softness.a = wide(erp);
            body[2].upper = wide(0.25);
            body[2].lower = wide(-1);
            model.solver.correction = relax ? MDYN_RELAX : MDYN_BAUMGARTE;
            model.solver.equality = iterated ? MDYN_ITERATED : MDYN_EXACT;
            CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
            sim.q[0] = real(0.5);
            sim.q[2] = real(0.5);
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            double r = 1 / 0.5 + c * c / 2, way = -erp * 0.5 / r; /* M^-1 J' times this */
            CHECK_NEAR(of_real(sim.q[0]), 0.5 + way / 0.5, BY_SCALAR(1e-16, 1e-7, 3e-9));
            CHECK_NEAR(of_real(sim.q[1]), way * c / 2, BY_SCALAR(1e-16, 1e-7, 2e-9));
            CHECK_NEAR(of_real(sim.q[2]), 0.5 - 0.2 * 0.25, BY_SCALAR(1e-16, 1e-7, 2e-9));
            CHECK_NEAR(of_real(sim.v[0]), relax ? 0 : way / 0.5 / dt, BY_SCALAR(1e-13, 2e-5, 7e-7));
            CHECK_NEAR(of_real(sim.v[1]), relax ? 0 : way * c / 2 / dt,
                       BY_SCALAR(1e-13, 2e-5, 5e-7));
            CHECK_NEAR(of_real(sim.v[2]), relax ? 0 : -0.2 * 0.25 / dt,
                       BY_SCALAR(1e-13, 2e-5, 5e-7));
            CHECK_EQUAL(mdyn_row(&sim, MDYN_ROW_COUPLING, 0, &report), MDYN_OK);
            CHECK_NEAR(of_wide(report.impulse), relax ? 0 : way / dt, BY_SCALAR(1e-13, 2e-5, 3e-7));
            CHECK_NEAR(of_wide(report.residual), 0, BY_SCALAR(1e-13, 2e-5, 2e-6));
        }
    }
}

static void test_relaxed_spring(void) {
    for (int iterated = 0; iterated < 2; iterated++) {
        double v[2] = { 0, 0 };
        for (int relax = 0; relax < 2; relax++) {
            wheels(2, 0.5, 0x1p-8);
            mdyn_coupling *c = couple(0, 1, 1, -1);
            c->softness.kind = MDYN_KP_KD;
            c->softness.a = wide(100);
            c->softness.b = wide(0.5);
            model.solver.correction = relax ? MDYN_RELAX : MDYN_BAUMGARTE;
            model.solver.equality = iterated ? MDYN_ITERATED : MDYN_EXACT;
            CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
            sim.q[0] = real(0.5);
            for (int i = 0; i < 20; i++) {
                CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            }
            v[relax] = of_real(sim.v[0]);
        }
        CHECK(v[0] < -1);
        CHECK_NEAR(v[1], v[0], BY_SCALAR(1e-12, 1e-4, 5e-8));
    }
}

/* Wheels meshing in a row, 2 : 1 and 1 : 2 in turn, driven to and fro; everything is swept. Had the
   warm start kept what took back errors, 32 wheels and more would leave the range of numbers within
   500 steps of 4 sweeps. The bounds are one and a half to two times what was measured; cold starts
   reach 0.079 for 128. */
static void run_train(int count, int sweeps, int substeps, double most) {
    double inertia = 9e-5, dt = 0x1p-10, sum = 0, worst = 0;
    wheels(count, inertia, dt);
    for (int i = 0; i < count; i++) {
        sum += i % 2 ? 4 : 1;
        if (i + 1 < count) {
            couple(i, 1, i + 1, i % 2 ? 2 : 0.5);
        }
    }
    model.solver.equality = MDYN_ITERATED;
    model.solver.sweeps = (uint16_t)sweeps;
    model.solver.method = substeps > 0 ? MDYN_TGS : MDYN_PGS;
    model.solver.substeps = (uint16_t)substeps;
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    for (int n = 0; n < 2048; n++) {
        double acceleration = 60 * sin(12.566370614359172 * n * dt);
        sim.tau[0] = real(inertia * sum * acceleration);
        if (!CHECK_EQUAL(mdyn_step(&sim), MDYN_OK)) {
            return;
        }
        for (int i = 0; i + 1 < count; i++) {
            double f = i % 2 ? 2 : 0.5;
            worst = worse(worst, fabs(of_real(sim.q[i]) + f * of_real(sim.q[i + 1])));
        }
    }
    CHECK_NEAR(worst, 0, most);
}

static void test_trains_stay(void) {
    run_train(8, 4, 0, 1e-4);
    run_train(32, 4, 0, 3e-3);
    run_train(128, 4, 0, 0.016);
    run_train(128, 30, 0, 1.2e-3);
    run_train(128, 1, 0, 0.1);
    run_train(128, 0, 16, 2.4e-4); /* TGS, a sweep each */
}

int main(int argc, char **argv) {
    static void (*const tests[])(void) = {
        test_substeps_are_steps, test_substeps_converge, test_relax, test_relaxed_spring,
        test_trains_stay, test_parts_are_solved
    };
    check_begin(argc, argv);
    for (int i = 0; i < (int)(sizeof tests / sizeof *tests); i++) {
        random_seed((uint64_t)i + 1);
        tests[i]();
    }
    return check_end();
}
