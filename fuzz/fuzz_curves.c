/* Bytes become a chain of joints with couplings on curves, eliminated or as rows, and some steps of
   it; each step is held against the equations of motion, which this file writes down for itself
   (rigid.h: M and C; the curves by their formulae).

   clang -std=c99 -g -O1 -DMIMICDYN_SCALAR=F64 -DEXPECT_SCALAR_F64=1 -I. -fsanitize=fuzzer \
       fuzz/fuzz_curves.c -lm -o build/fuzz_curves && build/fuzz_curves fuzz/corpus/fuzz_curves

   Without libFuzzer: fuzz/standalone.c. Oracles of a step, all at its middle but the first:
      position   C(q') = 0 of eliminated couplings
      velocity   J v' + dt/2 J' v = 0 of these
      momentum   M (v' - v) = dt (tau - C) + J^T lambda, with the impulses that are reported
      energy     of a force-free chain whose couplings are all eliminated */
#ifndef PLATFORMIO /* which would compile it into the firmware */
#include "tests/knobs_few.h"
#include "tests/check.h"
#include "fuzz/bytes.h"
#include "fuzz/rigid.h"

enum { BODIES = 5, COUPLINGS = 3, TERMS = 3, KNOTS = 6, STEPS = 20 };

/*                       F64   F32  FIXED */
TOLERANCE(MOMENTUM,     1e-9, 1e-3, 1e-5); /* parts of the terms of a sum */
TOLERANCE(PASSED_ON,  1e-13, 4e-6, 1e-7); /* of the largest joint's: couplings pass their rounding
                                             on, in fixed point forces share an exponent; see
                                             find_passed_on */
TOLERANCE(PLACE,       1e-13, 3e-6, 1e-8); /* parts of the coordinates in C */
TOLERANCE(SPEED,       1e-11, 1e-4, 1e-6); /* parts of the velocities in J v */
TOLERANCE(ENERGY,       0.01, 0.01, 0.01); /* of 20 short steps */

static mdyn_body bodies[BODIES];
static mdyn_coupling couplings[COUPLINGS];
static mdyn_curve curves[3];
static mdyn_knot knots[KNOTS];
static mdyn_model model;
static mdyn_sim sim;
static rigid r;

static void fail(const char *what, int index, double error, double allowed) {
    fprintf(stderr, "fuzz_curves: %s %d off by %g, allowed %g\n", what, index, error, allowed);
    abort();
}

static void require(const char *what, int index, double error, double allowed) {
    if (!(fabs(error) <= allowed)) {
        fail(what, index, error, allowed);
    }
}

/* ---- bytes to a mechanism ---- */

static unsigned take(input *in, unsigned below) { return take_u8(in) % below; }

static double take_in(input *in, double low, double high) {
    const unsigned coarse = take(in, 256), fine = take(in, 256);
    return low + (high - low) * (coarse * 256 + fine) / 65535.0;
}

/* One element after the other: the order in which a call's arguments are evaluated is the
   compiler's. */
static mdyn_wide3 take_vector(input *in, const double low[3], const double high[3]) {
    double x[3];
    for (int k = 0; k < 3; k++) {
        x[k] = low[k] < high[k] ? take_in(in, low[k], high[k]) : low[k];
    }
    return wide3(x[0], x[1], x[2]);
}

static double bow = 0.8;

static void sine(mdyn_real q, mdyn_curve_point *p, void *user) {
    const double x = of_real(q), a = *(const double *)user;
    p->value = real(a * sin(x));
    p->slope = wide(a * cos(x));
    p->curvature = wide(-a * sin(x));
}

static void take_curves(input *in) {
    static mdyn_wide scratch[KNOTS];
    double q = -2;
    memset(curves, 0, sizeof curves);
    curves[0].reference = wide(take_in(in, -1, 1));
    for (int k = 0; k < 5; k++) {
        curves[0].a[k] = wide(take_in(in, -1, 1) / (k > 1 ? 2 * k : 1));
    }
    for (int k = 0; k < KNOTS; k++) {
        q += take_in(in, 0.4, 1.2);
        knots[k].q = wide(q);
        knots[k].value = wide(take_in(in, -1, 1));
    }
    mdyn_fill_spline(knots, KNOTS, scratch);
    curves[1].kind = MDYN_CURVE_SPLINE;
    curves[1].knots = knots;
    curves[1].knot_count = KNOTS;
    curves[2].kind = MDYN_CURVE_FUNCTION;
    curves[2].function = sine;
    curves[2].user_data = &bow;
}

static void take_mechanism(input *in, int free_of_force) {
    static const mdyn_joint joints[] = { MDYN_REVOLUTE, MDYN_PRISMATIC, MDYN_HELICAL };
    const int n = 2 + (int)take(in, BODIES - 1);
    memset(&model, 0, sizeof model);
    memset(bodies, 0, sizeof bodies);
    memset(couplings, 0, sizeof couplings);
    for (int i = 0; i < n; i++) {
        mdyn_body *b = &bodies[i];
        b->parent = (int16_t)((int)take(in, (unsigned)i + 1) - 1);
        b->joint = joints[take(in, 3)];
        b->axis = take_vector(in, (double[]){ -1, -1, 0.1 }, (double[]){ 1, 1, 1 });
        b->pitch = wide(take_in(in, -0.2, 0.2));
        b->position = take_vector(in, (double[]){ -0.5, -0.5, 0 }, (double[]){ 0.5, 0.5, 0 });
        b->mass = wide(take_in(in, 0.1, 2));
        b->com = take_vector(in, (double[]){ -0.2, 0, -0.2 }, (double[]){ 0.2, 0, 0.2 });
        b->inertia.xx = b->inertia.yy = b->inertia.zz = wide(take_in(in, 0.01, 0.1));
        b->armature = wide(take_in(in, 0, 0.1));
    }
    take_curves(in);

    /* joint i + 1 follows one or two of those before it; each term linear or on a curve */
    for (int i = 0; i < COUPLINGS && i + 1 < n; i++) {
        mdyn_coupling *c = &couplings[i];
        c->terms[0].body = (int16_t)(i + 1);
        c->terms[0].coefficient = wide(take_in(in, 0.5, 2));
        for (int k = 1; k < TERMS && k <= i + 1; k++) {
            if (k > 1 && take(in, 2)) {
                continue;
            }
            c->terms[k].body = (int16_t)(i + 1 - k);
            c->terms[k].coefficient = wide(take_in(in, -1.5, 1.5));
            c->terms[k].curve = (uint8_t)take(in, 4);
        }
        c->offset = wide(take_in(in, -0.2, 0.2));
        if (take(in, 4) == 0 && !free_of_force) { /* the row form */
            c->softness.kind = MDYN_ERP_CFM;
            c->softness.a = wide(0.2);
        }
        model.coupling_count = i + 1;
        if (take(in, 4) == 0) {
            break;
        }
    }
    model.bodies = bodies;
    model.body_count = n;
    model.couplings = couplings;
    model.curves = curves;
    model.curve_count = 3;
    model.dt = wide(take(in, 2) ? 0x1p-10 : 0x1p-8);
    if (!free_of_force) {
        model.gravity = wide3(take_in(in, -5, 5), 0, -9.81);
    }
}

/* ---- the couplings, by their formulae ---- */

static void curve_at(int kind, double q, double f[3]) {
    double x = q - of_wide(curves[0].reference), h;
    int k = 0;
    memset(f, 0, 3 * sizeof *f);
    if (kind == 0) {
        f[0] = q;
        f[1] = 1;
    } else if (kind == 1) {
        for (k = 4; k >= 0; k--) {
            f[2] = 2 * f[1] + x * f[2];
            f[1] = f[0] + x * f[1];
            f[0] = of_wide(curves[0].a[k]) + x * f[0];
        }
    } else if (kind == 3) {
        f[0] = bow * sin(q);
        f[1] = bow * cos(q);
        f[2] = -f[0];
    } else {
        while (k + 2 < KNOTS && of_wide(knots[k + 1].q) < q) {
            k++;
        }
        const double ma = of_wide(knots[k].curvature), mb = of_wide(knots[k + 1].curvature);
        const double y = of_wide(knots[k].value);
        h = of_wide(knots[k + 1].q) - of_wide(knots[k].q);
        x = q - of_wide(knots[k].q);
        const double beyond = x < 0 ? x : x > h ? x - h : 0;
        x -= beyond;
        f[1] = (of_wide(knots[k + 1].value) - y) / h - h * (2 * ma + mb) / 6;
        f[0] = y + x * (f[1] + x * (ma / 2 + x * (mb - ma) / (6 * h)));
        f[1] += x * (ma + x * (mb - ma) / (2 * h));
        f[2] = beyond != 0 ? 0 : ma + x * (mb - ma) / h;
        f[0] += beyond * f[1];
    }
}

typedef struct equation { double C, C_size, J[RN], rate; } equation;

/* Coupling i at q; J' v at v. */
static equation equation_of(int i, const double *q, const double *v) {
    equation e = { of_wide(couplings[i].offset), 1, { 0 }, 0 };
    for (int k = 0; k < TERMS; k++) {
        const mdyn_term *t = &couplings[i].terms[k];
        const double c = of_wide(t->coefficient);
        double f[3];
        if (c == 0) {
            continue;
        }
        curve_at(t->curve, q[t->body], f);
        e.C += c * f[0];
        e.C_size += fabs(c) * (fabs(f[0]) + fabs(f[1] * q[t->body]));
        e.J[t->body] = c * f[1];
        e.rate += c * f[2] * v[t->body] * v[t->body];
    }
    return e;
}

/* ---- the oracles ---- */

/* The velocities for which a step may have taken C and J' v: v, those that it extrapolates from the
   changes of v in the steps before, and, where a body turns far, v + dv/2, dv being the change of v
   that a first solve finds with one of these. */
enum { AT_START, BY_ONE, BY_TWO, CORRECTED, CANDIDATES = 2 * CORRECTED };
static double change[2][RN]; /* of v in the last step, and in that before */
static double candidate[CANDIDATES][RN];

/* to := M^-1 of it */
static void divide_by_mass(double *to) {
    double M[RN][RN];
    memcpy(M, r.M, sizeof M);
    r_solve(r.dofs, M, to);
}

/* dv := the change of v in a step with C and J' v for the velocity u:
      M dv = dt (tau - C) + J^T lambda,   J (v + dv) = -dt/2 J' u
   by lambda = A^-1 (-dt/2 J' u - J (v + free change)), A = J M^-1 J^T. */
static void solve_step(const double *q_m, const double *v, const double *u, double dt, double *dv) {
    const int rows = model.coupling_count;
    double A[RN][RN] = { { 0 } }, by_row[COUPLINGS][RN], lambda[RN];
    equation e[COUPLINGS];
    memcpy(r.v, u, (size_t)r.dofs * sizeof *u);
    rigid_update(&r);
    for (int k = 0; k < r.dofs; k++) {
        dv[k] = dt * (of_real(sim.tau[k]) - r.C[k]);
    }
    divide_by_mass(dv);
    for (int i = 0; i < rows; i++) {
        e[i] = equation_of(i, q_m, u);
        memcpy(by_row[i], e[i].J, sizeof by_row[i]);
        divide_by_mass(by_row[i]);
        lambda[i] = -dt / 2 * e[i].rate;
        for (int k = 0; k < r.dofs; k++) {
            lambda[i] -= e[i].J[k] * (v[k] + dv[k]);
        }
    }
    for (int i = 0; i < rows * rows; i++) {
        for (int k = 0; k < r.dofs; k++) {
            A[i / rows][i % rows] += e[i / rows].J[k] * by_row[i % rows][k];
        }
    }
    r_solve(rows, A, lambda);
    for (int k = 0; k < r.dofs; k++) {
        for (int i = 0; i < rows; i++) {
            dv[k] += by_row[i][k] * lambda[i];
        }
    }
}

/* r.q is that of the middle. */
static void find_candidates(const double *q_m, const double *v, double dt) {
    for (int c = 0; c < CORRECTED; c++) {
        double *u = candidate[c], dv[RN];
        for (int k = 0; k < r.dofs; k++) {
            u[k] = c == BY_ONE ? v[k] + change[0][k] / 2
                 : c == BY_TWO ? v[k] + 2 * change[0][k] / 3 - change[1][k] / 6 : v[k];
        }
        solve_step(q_m, v, u, dt, dv);
        for (int k = 0; k < r.dofs; k++) {
            candidate[CORRECTED + c][k] = v[k] + dv[k] / 2;
        }
    }
}

/* J' u of a coupling as far as its rounding goes: u is the mean of v and v', of which little may be
   left where these oppose each other, but the rounding of both is in it. As large as J' u is where
   v' is about v; and as large as that of any candidate, for v' may have the turn of another one
   than C: where 38 rad/s turned into -35, the turn was 147 rad/s, by one that left 0.05. */
static double size_of_rate(int coupling, const double *q_m, const double *u, const double *speed) {
    double shifted[RN], sum = 0;
    for (int k = 0; k < r.dofs; k++) {
        memcpy(shifted, u, sizeof shifted);
        shifted[k] = u[k] + speed[k] / 8;
        double up = equation_of(coupling, q_m, shifted).rate;
        shifted[k] = u[k] - speed[k] / 8;
        sum += fabs(up - equation_of(coupling, q_m, shifted).rate);
    }
    sum = fmax(sum, fabs(equation_of(coupling, q_m, u).rate));
    for (int c = 0; c < CANDIDATES; c++) {
        sum = fmax(sum, fabs(equation_of(coupling, q_m, candidate[c]).rate));
    }
    return sum;
}

/* to[k] := what the curvatures of eliminated couplings take up of the velocity of joint k, of
   followers of followers too: dt/2 J' v, in the ratio of their velocities. `speed`: |v| + |v'|. */
static void find_turns(const double *u, const double *speed, const double *q_m, double dt,
                       double *to) {
    memset(to, 0, RN * sizeof *to);
    for (int i = 0; i < sim.tie_count; i++) {
        const equation e = equation_of(sim.tie[i].coupling, q_m, u);
        const int follower = sim.tie[i].dof;
        double sum = dt / 2 * size_of_rate(sim.tie[i].coupling, q_m, u, speed);
        for (int k = 0; k < r.dofs; k++) {
            sum += fabs(e.J[k]) * to[k];
        }
        to[follower] = sum / fabs(e.J[follower]);
    }
}

/* to[k] := what rounding may be a part of in the equation of joint k. Eliminated couplings add to
   what an equation is made of: the velocity dt/2 J' v that their curvature takes up is a part of
   v' - v, of which the rest may cancel most; and the equation of a follower is satisfied by the
   impulse of its coupling, which passes all its terms on to the coupling's other joints, in the
   ratio of their velocities. What shares an exponent are forces over sqrt(M_kk), M of the joints
   with their followers. Of random inputs PASSED_ON allows more than MOMENTUM does in 1 of 700
   equations in fixed point, 1 of 2500 in F32, none in F64. */
static void find_passed_on(const double *u, const double *speed, const double *q_m, double dt,
                           const double *size, double *to) {
    double turn[RN], passed[RN], M[RN][RN], largest = 0, whitened = 0;
    find_turns(u, speed, q_m, dt, turn);
    memcpy(M, r.M, sizeof M);
    for (int k = 0; k < r.dofs; k++) {
        passed[k] = size[k];
        for (int j = 0; j < r.dofs; j++) {
            passed[k] += fabs(M[k][j]) * turn[j];
        }
    }

    /* no earlier coupling has this follower among its joints */
    for (int i = sim.tie_count - 1; i >= 0; i--) {
        const equation e = equation_of(sim.tie[i].coupling, q_m, u);
        const int f = sim.tie[i].dof;
        for (int k = 0; k < r.dofs; k++) {
            const double ratio = k == f ? 0 : -e.J[k] / e.J[f];
            passed[k] += fabs(ratio) * passed[f];
            for (int j = 0; j < r.dofs; j++) {
                M[k][j] += ratio * M[f][j];
            }
            for (int j = 0; j < r.dofs; j++) {
                M[j][k] += ratio * M[j][f];
            }
        }
    }
    for (int k = 0; k < r.dofs; k++) {
        largest = fmax(largest, passed[k]);
        whitened = fmax(whitened, passed[k] / sqrt(M[k][k]));
    }
    for (int k = 0; k < r.dofs; k++) {
        to[k] = fmax(largest, whitened * sqrt(M[k][k]));
    }
}

/* By how much M (v' - v) - dt (tau - C) - J^T lambda is beyond what is allowed, if C is taken for
   a candidate; `loads` is J^T lambda, load_size the sum of the magnitudes in it. */
static double momentum_excess(const double *u, const double *q_m, const double *v,
                              const double *v_after, double dt, const double *loads,
                              const double *load_size) {
    double excess = -1, sum[RN] = { 0 }, size[RN] = { 0 }, passed_on[RN] = { 0 }, speed[RN];
    memcpy(r.v, u, (size_t)r.dofs * sizeof *u);
    rigid_update(&r);
    for (int k = 0; k < r.dofs; k++) {
        speed[k] = fabs(v[k]) + fabs(v_after[k]);
        sum[k] = dt * (r.C[k] - of_real(sim.tau[k])) - loads[k];
        size[k] = dt * (fabs(of_real(sim.tau[k])) + r.C_size[k]) + load_size[k];
        for (int j = 0; j < r.dofs; j++) {
            sum[k] += r.M[k][j] * (v_after[j] - v[j]);
            size[k] += fabs(r.M[k][j]) * (fabs(v_after[j] - v[j]) + 1e-3 * fabs(v[j]));
        }
    }
    find_passed_on(u, speed, q_m, dt, size, passed_on);
    for (int k = 0; k < r.dofs; k++) {
        const double allowed = MOMENTUM * (0.01 + size[k]) + PASSED_ON * passed_on[k];
        excess = fmax(excess, fabs(sum[k]) - allowed);
    }
    return excess;
}

/* sqrt(e' M e) */
static double energy_norm(const double *e) {
    double sum = 0;
    for (int k = 0; k < r.dofs; k++) {
        for (int j = 0; j < r.dofs; j++) {
            sum += e[k] * r.M[k][j] * e[j];
        }
    }
    return sqrt(fmax(sum, 0));
}

/* Returns the change of v as a part of v: steps in which it is large do not resolve the motion. */
static double check_step(const double *q, const double *v, double dt) {
    double q_m[RQ], q_after[RQ], v_after[RN], loads[RN] = { 0 }, load_size[RN] = { 0 }, speed[RN];
    const int n = r.dofs;
    for (int k = 0; k < n; k++) {
        v_after[k] = of_real(sim.v[k]);
        speed[k] = fabs(v[k]) + fabs(v_after[k]);
        q_after[k] = of_real(sim.q[k]);
        q_m[k] = r.q[k] = q[k] + dt / 2 * v[k];
    }
    find_candidates(q_m, v, dt);

    for (int i = 0; i < model.coupling_count; i++) {
        const equation end = equation_of(i, q_after, v_after), e = equation_of(i, q_m, v);
        double Jv = 0, Jv_size = 1, lowest = HUGE_VAL, highest = -HUGE_VAL, turned = 0;
        mdyn_row_report report;
        if (mdyn_report_row(&sim, MDYN_ROW_COUPLING, i, &report) != MDYN_OK) {
            fail("report", i, 1, 0);
        }
        for (int k = 0; k < n; k++) {
            const double force = e.J[k] * of_wide(report.impulse);
            Jv += e.J[k] * v_after[k];
            Jv_size += fabs(e.J[k] * v_after[k]);
            loads[k] += force;
            load_size[k] += fabs(force);
        }
        if (!sim.eliminated[i]) {
            continue;
        }
        require("position", i, end.C, PLACE * end.C_size);

        /* J v' is -dt/2 J' v of one of the candidates, or of a velocity between two; the curvatures
           along a chain of followers may take up far more of v' than is left of it */
        for (int c = 0; c < CANDIDATES; c++) {
            const double turn = -dt / 2 * equation_of(i, q_m, candidate[c]).rate;
            double turns[RN], sum = 0;
            find_turns(candidate[c], speed, q_m, dt, turns);
            for (int k = 0; k < n; k++) {
                sum += fabs(e.J[k]) * turns[k];
            }
            lowest = fmin(lowest, turn);
            highest = fmax(highest, turn);
            turned = fmax(turned, sum);
        }
        require("velocity", i, Jv - fmin(fmax(Jv, lowest), highest),
                SPEED * Jv_size + PASSED_ON * turned);
    }

    double excess = HUGE_VAL;
    for (int c = 0; c < CANDIDATES; c++) {
        excess = fmin(excess, momentum_excess(candidate[c], q_m, v, v_after, dt, loads,
                                              load_size));
    }
    require("momentum", 0, fmax(excess, 0), 0);
    for (int k = 0; k < n; k++) {
        change[1][k] = change[0][k];
        change[0][k] = v_after[k] - v[k];
    }
    return energy_norm(change[0]) / (energy_norm(v) + 1e-9);
}

static double energy(void) {
    mdyn_wide kinetic, potential;
    return mdyn_energy(&sim, &kinetic, &potential) == MDYN_OK ? of_wide(kinetic) : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_of(data, size);
    const int free_of_force = take(&in, 4) == 0;
    take_mechanism(&in, free_of_force);
    if (mdyn_init(&sim, &model) < 0) {
        return 0;
    }
    for (int k = 0; k < sim.dofs; k++) {
        sim.q[k] = real(take_in(&in, -1, 1));
        sim.v[k] = real(take_in(&in, -2, 2));
        sim.tau[k] = real(free_of_force ? 0 : take_in(&in, -3, 3));
    }
    if (mdyn_project(&sim, MDYN_INDEPENDENT) != MDYN_OK
        || (sim.tie_count < model.coupling_count
            && mdyn_project(&sim, MDYN_MASS_METRIC) != MDYN_OK)) {
        return 0;
    }
    const double dt = of_wide(model.dt), begin = energy();
    double largest_change = 0;
    rigid_init(&r, &model);
    memset(change, 0, sizeof change);
    for (int step = 0; step < STEPS; step++) {
        double q[RQ], v[RN];
        int far = 0;
        for (int k = 0; k < sim.dofs; k++) {
            q[k] = of_real(sim.q[k]);
            v[k] = of_real(sim.v[k]);
            far |= fabs(q[k]) > 100 || fabs(v[k]) > 50;
        }
        if (far || mdyn_step(&sim) < 0) {
            return 0;
        }
        if (sim.report.contradictory || sim.report.redundant) {
            return 0;
        }
        largest_change = fmax(largest_change, check_step(q, v, dt));
    }
    if (free_of_force && largest_change < 0.1) {
        require("energy", 0, energy() - begin, ENERGY * begin + 1e-9);
    }
    return 0;
}
#endif
