/* Many steps of one sim in which something happens: joints are thrown against limits, commands
   and targets jump, couplings are released, engaged and replaced, lose and get losses, warm starts
   go on or are forgotten. After each step the impulses and velocities that the sim reports have to
   meet the conditions of every row, worked out in long double from the tables (truth_step.h). A row
   that is left out, or that has something left from another step, does not. */
#include "knobs_few.h"
#include "check.h"
#include "explicit.h"
#include "sims.h"
#include "truth.h"
#include "truth_step.h"

enum { MECHANISMS = 300, STEPS = 40, COUPLINGS = 6 };

/* What the checks allow, as parts of the speeds: some three to ten times the worst of -s 1, 2
   and 3. */
/*                         F64    F32  FIXED */
TOLERANCE(CONDITIONS,    3e-13,  6e-5,  5e-6);

static mdyn_sim sim;
static mechanism mech;
static truth t;
static truth_step want;
static int released[COUPLINGS], has_loss[COUPLINGS]; /* has_loss: there is a row for one */

/* ---- what the rows demand ---- */

/* The loss of coupling i, whose row is `leader`: Coulomb friction on half the share of the first
   joint less half those of the others. */
static void loss_row(int i, int leader) {
    const double e = of_wide(mech.coupling[i].efficiency);
    truth_row *r = t_add_row(&want, MDYN_ROW_LOSS, i);
    for (int k = 0, first = 1; k < MIMICDYN_MAX_TERMS; k++) {
        const mdyn_term *term = &mech.coupling[i].terms[k];
        if (of_wide(term->coefficient) != 0) {
            r->J[t.dof[term->body]] += (ld)of_wide(term->coefficient) * (first ? 0.5L : -0.5L);
            first = 0;
        }
    }
    r->leader = leader;
    r->mu = 2 * (1 - (ld)e) / (1 + (ld)e);
}

/* The row of coupling i, -1: released. */
static int row_of(int i) {
    int k = want.rows - 1;
    while (k >= 0 && (want.row[k].kind != MDYN_ROW_COUPLING || want.row[k].index != i)) {
        k--;
    }
    return k;
}

/* The rows that take part in the next step. A follower of a released coupling has no force. */
static void demand(void) {
    int kept = 0;
    truth_copy(&t, &sim);
    truth_update(&t, &mech.model);
    truth_step_begin(&want, &t, &mech.model, &sim);
    for (int k = 0; k < want.rows; k++) {
        if (want.row[k].kind != MDYN_ROW_COUPLING || !released[want.row[k].index]) {
            want.row[kept++] = want.row[k];
        }
    }
    want.rows = kept;
    for (int i = 0; i < mech.model.coupling_count; i++) {
        const mdyn_coupling *c = &mech.coupling[i];
        const int k = row_of(i);
        if (k < 0) {
            continue;
        }
        if (of_wide(c->mu) > 0) {
            want.row[k].leader = row_of(c->mu_of);
            want.row[k].mu = want.row[k].leader < 0 ? 0 : (ld)of_wide(c->mu);
            if (want.row[k].leader < 0) want.row[k].least = want.row[k].most = 0;
        }
        if (of_wide(c->efficiency) > 0) {
            loss_row(i, k);
        }
    }
    t_row_products(&want, t.dofs);
}

static mdyn_row_report report_of(const truth_row *r) {
    mdyn_row_report report;
    CHECK_EQUAL(mdyn_report_row(&sim, r->kind, r->index, &report), MDYN_OK);
    return report;
}

/* Whether row k moves nothing that rows without a bound leave free. */
static int depends(int k) {
    static truth_system e;
    int rank[2];
    for (int with = 0; with < 2; with++) {
        int rows[TR], n = 0;
        for (int j = 0; j < want.rows; j++) {
            const truth_row *r = &want.row[j];
            const int exact = r->low == r->high && r->most == HUGE_VALL && r->leader < 0;
            if (j == k ? with : exact) rows[n++] = j;
        }
        e.n = n;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                const ld size = sqrtl(want.A[rows[i]][rows[i]] * want.A[rows[j]][rows[j]]);
                e.A[i][j] = want.A[rows[i]][rows[j]] / size;
                if (i == j) e.A[i][j] += want.row[rows[i]].cfm / size;
            }
            e.b[i] = 0;
        }
        rank[with] = truth_solve(&e, 1e-5L);
    }
    return rank[1] == rank[0];
}

/* The largest violation of a row's conditions, or of momentum, as a part of the speeds. */
static double violation(void) {
    const double size = truth_step_taken(&want, &t, &sim);
    double worst = 0;
    for (int k = 0; k < want.rows; k++) {
        truth_row *r = &want.row[k];
        const mdyn_row_report report = report_of(r);
        const ld lambda = (ld)of_wide(report.impulse);
        CHECK(!(report.flags & MDYN_ROW_REDUNDANT) || depends(k));
        if (report.flags & MDYN_ROW_REDUNDANT && !(report.flags & MDYN_ROW_SATURATED)) {
            CHECK(lambda == 0);
            continue;
        }
        if (r->leader >= 0) {
            const mdyn_row_report leader = report_of(&want.row[r->leader]);
            r->most = fminl(r->most, r->mu * fabsl((ld)of_wide(leader.impulse)));
            r->least = -r->most;
        }
        worst = worse(worst, truth_step_miss(&want, &t, k, lambda) / size);
    }
    for (int i = 0; i < t.dofs; i++) {
        want.v[i] -= want.free[i];
    }
    return worse(worst, norm_speed(&t, want.v) / size);
}

/* ---- mechanisms and events ---- */

static double sign(void) { return random_int(2) ? 1 : -1; }

/* Limits, dry friction and drives, each with a chance. */
static void draw_joint(mdyn_body *b) {
    b->damping = wide(random_int(3) ? 0 : random_in(0, 1));
    b->friction = wide(random_int(2) ? random_in(0.1, 10) : 0);
    if (random_int(2)) {
        b->lower = wide(random_in(-1, -0.1));
        b->upper = random_int(3) ? wide(random_in(0.1, 1)) : MDYN_UNLIMITED;
    }
    if (random_int(2)) {
        b->drive_kp = wide(random_int(2) * random_in(10, 500));
        b->drive_kd = wide(random_in(1, 20));
        b->effort = wide(random_int(3) ? random_in(1, 50) : 0);
    }
}

/* A coupling of joint i with the one before: hard, with an effort, soft, a range, with a loss, or
   bounded by the force of the coupling before. */
static void draw_coupling(int i, mdyn_coupling *c) {
    const int kind = random_int(i > 0 ? 6 : 5);
    *c = mimic_of(1 + i % (t.bodies - 1), i % (t.bodies - 1), sign() * random_in(0.5, 2), 0);
    c->softness = (mdyn_softness)MDYN_HARD(0.1);
    if (kind == 1) c->effort = wide(random_in(1, 20));
    if (kind == 2) {
        c->softness.kind = MDYN_KP_KD;
        c->softness.a = wide(random_in(10, 500));
        c->softness.b = wide(random_in(1, 10));
    }
    if (kind == 3) {
        c->lower = wide(random_in(-0.5, -0.05));
        c->upper = random_int(2) ? MDYN_UNLIMITED : wide(random_in(0.05, 0.5));
    }
    if (kind == 4) c->efficiency = wide(random_in(0.6, 1));
    if (kind == 5) {
        c->mu = wide(random_in(0.05, 0.5));
        c->mu_of = (int16_t)(i - 1);
        c->effort = wide(random_int(2) * random_in(1, 20));
    }
}

static void draw(int n) {
    do {
        mechanism_random(&mech, 3 + random_int(2), 6, ARMATURES | ONE_SPEED | (n % 3 ? 0 : FOREST));
        truth_init(&t, &mech.model);
    } while (t.dofs < t.bodies);
    for (int i = 0; i < t.bodies; i++) {
        draw_joint(&mech.body[i]);
    }
    mech.model.coupling_count = 1 + random_int(t.bodies - 1);
    for (int i = 0; i < mech.model.coupling_count; i++) {
        draw_coupling(i, &mech.coupling[i]);
        released[i] = 0;
        has_loss[i] = of_wide(mech.coupling[i].efficiency) > 0;
    }
    mech.model.solver.method = n % 2 ? MDYN_DANTZIG : MDYN_PGS;
    mech.model.solver.iterations = 20000;
    mech.model.solver.equality = n % 8 > 5 ? MDYN_ITERATED : MDYN_EXACT;
}

/* Joint i is somewhere: near a limit, if it has one. */
static void throw_joint(int i) {
    const mdyn_body *b = &mech.body[i];
    const double lower = of_wide(b->lower), upper = of_wide(b->upper);
    double q = random_in(-0.5, 0.5);
    if (lower != 0) q = lower + random_in(-1, 3) * 0x1p-10;
    if (lower != 0 && upper < 1e6 && random_int(2)) q = upper - random_in(-1, 3) * 0x1p-10;
    sim.q[i] = real(q);
    sim.v[i] = real(random_in(-3, 3));
}

/* Another coupling in the place of coupling i; a loss only where there is a row for it. */
static void replace(int i) {
    mdyn_coupling c;
    draw_coupling(i, &c);
    const int code = mdyn_set_coupling(&sim, i, &c);
    CHECK_EQUAL(code < 0, of_wide(c.efficiency) > 0 && !has_loss[i]);
    if (code >= 0) mech.coupling[i] = c;
}

static void happens(void) {
    const int i = random_int(t.dofs), c = random_int(mech.model.coupling_count);
    switch (random_int(10)) {
    case 0:
    case 1: throw_joint(i); break;
    case 2: sim.tau[i] = real(random_in(-30, 30)); break;
    case 3:
        sim.target[i] = real(random_in(-1, 1));
        sim.target_velocity[i] = real(random_in(-1, 1));
        break;
    case 4:
        released[c] = !released[c];
        CHECK(mdyn_engage(&sim, c, released[c] ? MDYN_RELEASE : MDYN_ENGAGE_OFFSET) >= 0);
        break;
    case 5: replace(c); break;
    case 6:
        if (random_int(4) == 0) CHECK_EQUAL(mdyn_reset(&sim), MDYN_OK);
        break;
    default: break; /* what has been goes on */
    }
}

static void conditions_hold(void) {
    int compared = 0, unsolved = 0, saturated = 0;
    for (int n = 0; n < MECHANISMS; n++) {
        random_seed(600 + (uint64_t)n);
        draw(n);
        if (!CHECK(init_explicit(&sim, &mech.model) >= 0)) {
            continue;
        }
        for (int i = 0; i < t.dofs; i++) {
            throw_joint(i);
        }
        for (int s = 0; s < STEPS; s++) {
            happens();
            demand();
            const int code = mdyn_step(&sim);
            CHECK(code >= 0);
            if (code != MDYN_OK || of_wide(sim.report.residual) > BY_SCALAR(1e-12, 1e-5, 1e-5)
                || sim.report.contradictory > 0) {
                unsolved++; /* rows contradict each other, or friction jams */
                continue;
            }
            compared++;
            if (!CHECK_NEAR(violation(), 0, CONDITIONS)) {
                CHECK_NOTE("mechanism %d, step %d\n", n, s);
            }
            for (int k = 0; k < want.rows; k++) {
                saturated += (report_of(&want.row[k]).flags & MDYN_ROW_SATURATED) != 0;
            }
        }
    }
    CHECK(compared > 11900 && compared + unsolved == MECHANISMS * STEPS && saturated > 25000);
    if (check.measure) {
        printf("%d steps compared, %d not, %d rows at a bound\n", compared, unsolved, saturated);
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    conditions_hold();
    return check_end();
}
