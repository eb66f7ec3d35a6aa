/* Rows without a bound on their impulse: couplings of every kind, one step against the dense
   solution of truth_step.h or against closed forms; reports, forces of couplings, redundant and
   contradictory rows. Rows with a bound: test_pgs.c. */
#include "knobs.h"
#include "check.h"
#include "explicit.h"
#include "truth.h"
#include "truth_step.h"
#include "random_couplings.h"

/* What the checks allow, some three to ten times the worst of -s 1, 2 and 3. */
/*                                  F64     F32  FIXED */
TOLERANCE(REPORT_ERROR,           1e-15,   2e-7,  1e-9);
TOLERANCE(STEP,                   1e-12,   6e-4,  2e-5);
TOLERANCE(REPORT,                 1e-12,   1e-3,  4e-5);
TOLERANCE(EXTREME_STEP,           1e-12,   6e-4,  4e-7);
TOLERANCE(EXTREME_REPORT,         1e-12,   1e-3,  3e-3); /* 1e6 times the digits of v */
TOLERANCE(REACTION_LEADER,        5e-19,  2e-10, 8e-12);
TOLERANCE(REACTION_FOLLOWER,      2e-18,  8e-10, 3e-11);
TOLERANCE(REACTION_ON_FOLLOWER,   3e-15,   2e-6,  6e-8);
TOLERANCE(REACTION_ON_LEADER,     5e-15,   5e-6,  2e-7);
TOLERANCE(REACTION_POWER,         2e-18,   1e-9, 1e-11);
TOLERANCE(SPRING,                 1e-13,   4e-5,  3e-6);
TOLERANCE(FREQUENCY,              1e-15,   1e-7,  4e-9);
TOLERANCE(FAN_STEP,               1e-12,   1e-4,  2e-7);
TOLERANCE(FAN_REPORT,             1e-12,   1e-4,  5e-6);
TOLERANCE(CHAIN,                  6e-16,   1e-7, 5e-12);
TOLERANCE(PINNED_FOLLOWER,        1e-15,   1e-7, 4e-12);
TOLERANCE(PINNED_LEADER,          1e-15,   1e-6, 4e-12);
TOLERANCE(PINNED_SHARE,           2e-14,   8e-6,  2e-6);
TOLERANCE(REDUNDANT_SPEED,        1e-14,   2e-6,  3e-8);
TOLERANCE(REDUNDANT_PLACE,        2e-15,   4e-7,  4e-9);
TOLERANCE(REDUNDANT_RESIDUAL,     3e-17,   5e-8, 2e-11);
TOLERANCE(CONTRADICTION_SPEED,    5e-14,   2e-5,  2e-6);
TOLERANCE(CONTRADICTION_PLACE,    1e-15,   2e-7,  5e-8);
TOLERANCE(CONTRADICTION_RESIDUAL, 1e-14, 1.5e-5,  3e-6);
TOLERANCE(COMPROMISE_RANK,        1e-13,  1e-11, 1e-11);
TOLERANCE(COMPROMISE,             2e-12,   5e-5,  2e-5);
TOLERANCE(SOFT_CONTRADICTION,     1e-10,   2e-5,  5e-6);
TOLERANCE(OPPOSED,                5e-11,   2e-5,  3e-6);
TOLERANCE(NARROW,                  1e4,    30,    1e3);
TOLERANCE(PARALLEL,                1e-7,   1e-3,  3e-4);
TOLERANCE(OPPOSED_IMPULSE,        2e-11,   5e-3,  2e-5);
TOLERANCE(TWO_RATIOS,             1e-15,   1e-7, 4e-12);
TOLERANCE(COUPLED_DYNAMICS,       2e-12,   2e-3,  5e-5);
TOLERANCE(ITERATED,               2e-13,   2e-4,  2e-6);
TOLERANCE(PASSIVE,                1e-15,   5e-7,  4e-9);

/* What the library reports of the rows, against the dense solution. An impulse is weighed by the
   row's own inertia, so that ratios of 1e6 do not matter. */
static void compare_reports(double allowed) {
    double size = truth_step_size(&want, &t), dt = of_wide(mech.model.dt);
    for (int k = 0; k < want.rows; k++) {
        const truth_row *r = &want.row[k];
        mdyn_row_report got;
        double inertia = (double)want.A[k][k], length = sqrt(inertia);
        CHECK_EQUAL(mdyn_report_row(&sim, r->kind, r->index, &got), MDYN_OK);
        double lambda = of_wide(got.impulse), total = inertia + (double)r->cfm;
        double scale = allowed * size * length / total;
        CHECK_NEAR(lambda, (double)want.lambda[k], scale);
        CHECK_NEAR(of_wide(got.force) * dt, lambda, 4 * check_epsilon * fabs(lambda));
        double speed = (double)t_row_speed(r, want.v, t.dofs);
        CHECK_NEAR(of_wide(got.velocity), speed, allowed / 10 * size * length);
        double terms = fabs((double)r->cfm * lambda); /* how large is what cancels */
        for (int i = 0; i < t.dofs; i++) {
            terms += fabs((double)(r->J[i] * want.v[i]));
        }
        double rounding = 8 * check_epsilon * terms;
        CHECK_NEAR(of_wide(got.residual), 0, allowed * size * length + rounding);
        double power = of_wide(got.force) * of_wide(got.velocity);
        CHECK_NEAR(of_wide(got.power), power, 2 * check_epsilon * fabs(power));
        CHECK_EQUAL(got.flags, 0);
        double C = 1;
        const mdyn_coupling *c = &mech.coupling[r->index];
        for (int i = 0; i < MIMICDYN_MAX_TERMS; i++) {
            mdyn_wide share = wide(0);
            double f = of_wide(c->terms[i].coefficient);
            CHECK_EQUAL(mdyn_coupling_force(&sim, r->index, i, &share), MDYN_OK);
            CHECK_NEAR(of_wide(share), f * lambda / dt, 4 * check_epsilon * fabs(f * lambda / dt));
            C += fabs(f) * 4;
        }
        CHECK_NEAR(of_wide(got.error), (double)r->error, REPORT_ERROR * C);
    }
}

/* ---- random couplings ---- */

/* Rows fewer than speeds, at random: independent. Ratios as they are in mechanisms. */
static void test_random_couplings(void) {
    for (int k = 0; k < 150; k++) {
        int kind = random_int(32) | (k % 2 ? ONE_SPEED : 0);
        random_tree(4 + random_int(6), kind);
        random_couplings(1 + random_int(t.dofs / 2), 0.7);
        begin(MDYN_OK);
        sim_random(&sim, &mech.model, 3, 10);
        compare_step(STEP);
        compare_reports(REPORT);
    }
}

/* Ratios from 1e-6 to 1e6 in one model: the rows are weighed, so they solve like any other. */
static void test_extreme_ratios(void) {
    for (int k = 0; k < 60; k++) {
        random_tree(6, ONE_SPEED | ARMATURES);
        random_couplings(2, 6);
        for (int i = 0; i < 2; i++) {
            mech.coupling[i].offset = wide(0);
            mech.coupling[i].target_velocity = wide(0);
            mech.coupling[i].level = MDYN_VELOCITY;
        }
        begin(MDYN_OK);
        sim_random(&sim, &mech.model, 1, 10);
        compare_step(EXTREME_STEP);
        compare_reports(EXTREME_REPORT);
    }
}

/* ---- mechanisms of known answer ---- */

/* `count` rotors about z, of inertia 1, 1.25, 1.5, ..., nothing else. */
static void rotors(int count, double dt) {
    memset(&mech, 0, sizeof mech);
    for (int i = 0; i < count; i++) {
        mech.body[i].parent = MDYN_WORLD;
        mech.body[i].joint = MDYN_REVOLUTE;
        mech.body[i].inertia.zz = wide(1 + 0.25 * i);
        mech.body[i].inertia.xx = mech.body[i].inertia.yy = mech.body[i].inertia.zz;
    }
    mech.model.bodies = mech.body;
    mech.model.body_count = count;
    mech.model.couplings = mech.coupling;
    mech.model.dt = wide(dt);
}

/* A rotor of inertia 1.25 mimics one of inertia 1 with multiplier m; torque T on the leader:
   a = T/(1 + 1.25 m^2), the follower is driven with 1.25 m a, and the leader feels -m times that:
   the reaction is there, equal and opposite in power. */
static void test_reaction(void) {
    double m = -2.5, torque = 3, dt = 0x1p-10;
    mdyn_wide on_follower = wide(0), on_leader = wide(0);
    mdyn_coupling mimic = MDYN_MIMIC(1, 0, -2.5, 0);
    mdyn_row_report report;
    rotors(2, dt);
    couple(mimic);
    begin(MDYN_OK);
    sim.tau[0] = real(torque);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    double a = torque / (1 + 1.25 * m * m);
    CHECK_NEAR(of_real(sim.v[0]), a * dt, REACTION_LEADER);
    CHECK_NEAR(of_real(sim.v[1]), m * a * dt, REACTION_FOLLOWER);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 0, &on_follower), MDYN_OK);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 1, &on_leader), MDYN_OK);
    CHECK_NEAR(of_wide(on_follower), 1.25 * m * a, REACTION_ON_FOLLOWER);
    CHECK_NEAR(of_wide(on_leader), -m * 1.25 * m * a, REACTION_ON_LEADER);
    CHECK_NEAR(of_wide(on_leader) * of_real(sim.v[0]) + of_wide(on_follower) * of_real(sim.v[1]),
               0, REACTION_POWER);
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &report), MDYN_OK);
    CHECK_NEAR(of_wide(report.force), 1.25 * m * a, REACTION_ON_FOLLOWER);
    CHECK_NEAR(of_wide(report.power), 0, REACTION_POWER);
}

/* A soft row is a spring and a damper, stepped by implicit Euler:
   M (v' - v) = dt tau + J' dt f,  f = -kp (C + dt J v') - kd J v'. Two rotors: solved by hand. */
static void test_spring(void) {
    static const double kp[] = { 0, 100, 1e4, 1e-2 }, kd[] = { 2, 0, 30, 0.5 };
    for (int k = 0; k < 4; k++) {
        double dt = 0x1p-8, g = -1.5, offset = 0.0625, J[2] = { 1, g }, I[2] = { 1, 1.25 };
        rotors(2, dt);
        mdyn_coupling c = MDYN_PHYSX_MIMIC(0, 1, -1.5, 0.0625);
        c.softness.kind = MDYN_KP_KD;
        c.softness.a = wide(kp[k]);
        c.softness.b = wide(kd[k]);
        couple(c);
        begin(MDYN_OK);
        sim.q[0] = real(0.25);
        sim.q[1] = real(-0.5);
        sim.v[0] = real(2);
        sim.v[1] = real(0.75);
        sim.tau[0] = real(8);
        double stiff = dt * (dt * of_wide(c.softness.a) + of_wide(c.softness.b));
        double C = 0.25 - 0.5 * g + offset, v[2] = { 2 + dt * 8, 0.75 };
        /* (M + stiff J J') v' = M v* - dt kp C J' */
        double a = I[0] + stiff, b = stiff * g, d = I[1] + stiff * g * g;
        double r0 = I[0] * v[0] - dt * of_wide(c.softness.a) * C * J[0];
        double r1 = I[1] * v[1] - dt * of_wide(c.softness.a) * C * J[1];
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.v[0]), (d * r0 - b * r1) / (a * d - b * b), SPRING);
        CHECK_NEAR(of_real(sim.v[1]), (a * r1 - b * r0) / (a * d - b * b), SPRING);
    }
}

/* omega and zeta are those of the row's own inertia r: kp = omega^2/r, kd = 2 omega zeta/r, and
   with omega 0 the row is hard. */
static void test_frequency(void) {
    for (int k = 0; k < 3; k++) {
        double r = 1 / 1.0 + 1.5 * 1.5 / 1.25, omega = k == 1 ? 0 : 20, zeta = k == 2 ? 0 : 0.5;
        double v[2];
        for (int form = 0; form < 2; form++) {
            mdyn_coupling c = MDYN_PHYSX_MIMIC(0, 1, -1.5, 0.25);
            rotors(2, 0x1p-8);
            if (form == 0) {
                c.softness.kind = MDYN_OMEGA_ZETA;
                c.softness.a = wide(omega);
                c.softness.b = wide(zeta);
            } else if (omega > 0) {
                c.softness.kind = MDYN_KP_KD;
                c.softness.a = wide(omega * omega / r);
                c.softness.b = wide(2 * omega * zeta / r);
            }
            couple(c);
            begin(MDYN_OK);
            sim.v[0] = real(1);
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            v[form] = of_real(sim.v[0]);
        }
        CHECK_NEAR(v[0], v[1], FREQUENCY);
    }
}

/* Inertias 1 and 3 tied 1:1, a frequency of 16 rad/s on the first. It is that of both together
   where a hard row of unbounded force ties them; where that row has a bound, or is iterated, it is
   that of the first alone, which the second then slows down to half. C passes 0 after a quarter of
   a period. */
static void test_frequency_behind_a_tie(void) {
    static const struct { double effort; mdyn_equality equality; double omega; } cases[] = {
        { 0, MDYN_EXACT, 16 }, { 1000, MDYN_EXACT, 8 }, { 0, MDYN_ITERATED, 8 },
    };
    for (int k = 0; k < (MIMICDYN_EXACT ? 3 : 0); k++) {
        mdyn_coupling tie = MDYN_MIMIC(1, 0, 1.0, 0.0);
        mdyn_coupling spring = MDYN_MIMIC(0, 1, 0.0, 0.0);
        mdyn_softness hard = MDYN_HARD(0.2), frequency = MDYN_FREQUENCY(16, 0);
        tie.softness = hard;
        tie.effort = wide(cases[k].effort);
        spring.softness = frequency;
        rotors(2, 0x1p-10);
        mech.body[1].armature = wide(1.75);
        couple(tie);
        couple(spring);
        mech.model.solver.equality = cases[k].equality;
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        sim.q[0] = sim.q[1] = real(0.125);
        int steps = 0;
        while (of_real(sim.q[0]) > 0 && steps < 1000) {
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            steps++;
        }
        CHECK_NEAR(steps * 0x1p-10, acos(0) / cases[k].omega, 0x1p-10);
    }
}

/* A frequency on a row that hard rows determine wholly has no mass to hold: no force, whatever its
   digits, and the report says so; the motion is that of the hard rows alone. */
static void test_frequency_without_mass(void) {
    static const double f[][2] = { { 1, 0 }, { 1, -1 }, { 5.1, 0.9 }, { 1.7, 0.3 } };
    mdyn_row_report report;
    for (int k = 0; k < 16; k++) {
        mdyn_coupling hard = MDYN_GEAR(0, 1.7, 1, 0.3, 0), still = MDYN_MIMIC(1, 0, 1.0, 0.0);
        mdyn_coupling soft = MDYN_GEAR(0, 0, 1, 0, 0.5);
        mdyn_softness rigid = MDYN_HARD(0.2), frequency = MDYN_FREQUENCY(25, 1);
        int only = k % 4 < 2; /* one joint fixed by two gears, or two held in one ratio */
        if (k & 8) hard.softness = still.softness = rigid; /* a row, else eliminated */
        if (k & 4) frequency.a = wide(0.1);
        rotors(3, 0x1p-10);
        couple(hard);
        if (only) couple(still);
        soft.terms[0].coefficient = wide(f[k % 4][0]);
        soft.terms[1].coefficient = wide(f[k % 4][1]);
        soft.softness = frequency;
        mdyn_model fewer = mech.model;
        couple(soft);
        CHECK(mdyn_init(&sim, &fewer) >= 0);
        CHECK(mdyn_init(&other, &mech.model) >= 0);
        sim.v[0] = other.v[0] = real(only ? 0 : 0.3);
        sim.v[1] = other.v[1] = real(only ? 0 : -1.7);
        for (int i = 0; i < 100; i++) {
            sim.tau[0] = other.tau[0] = real(5);
            CHECK(mdyn_step(&sim) >= 0);
            CHECK(mdyn_step(&other) >= 0);
        }
        int row = only ? 2 : 1;
        CHECK_NEAR(of_real(other.v[0]), of_real(sim.v[0]), 1e-6);
        CHECK_NEAR(of_real(other.v[1]), of_real(sim.v[1]), 1e-6);
        CHECK_EQUAL(mdyn_report_row(&other, MDYN_ROW_COUPLING, row, &report), MDYN_OK);
        CHECK_EQUAL(report.flags, MDYN_ROW_REDUNDANT);
        CHECK(of_wide(report.impulse) == 0);
        CHECK(of_wide(report.residual) == 0);
        CHECK_EQUAL(other.report.redundant, 1);
        CHECK_EQUAL(other.report.contradictory, 0);
    }
}

/* At MDYN_VELOCITY a frequency without damping has no force: from mdyn_init on, and after it lost
   its damping by mdyn_set_coupling. The row then leaves the motion, and dry friction, to others. */
static void test_undamped_frequency_of_velocity(void) {
    for (int changed = 0; changed < 2; changed++) {
        mdyn_coupling c = MDYN_MIMIC(0, 1, 1.0, 0.0);
        mdyn_softness damped = MDYN_FREQUENCY(10, 1);
        mdyn_row_report report;
        rotors(2, 0x1p-10);
        mech.body[0].friction = wide(0.5);
        c.level = MDYN_VELOCITY;
        c.softness = damped;
        if (!changed) c.softness.b = wide(0);
        couple(c);
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        c.softness.b = wide(0);
        CHECK_EQUAL(mdyn_set_coupling(&sim, 0, &c), MDYN_OK);
        sim.v[0] = real(4);
        sim.v[1] = real(-4);
        for (int i = 0; i < 64; i++) CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.v[0]), 4 - 0.5 * 64 * 0x1p-10, 8 * FREQUENCY);
        CHECK(sim.v[1] == real(-4));
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &report), MDYN_OK);
        CHECK(of_wide(report.force) == 0);
        CHECK_EQUAL(report.flags, 0);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_FRICTION, 0, &report), MDYN_OK);
        CHECK_EQUAL(report.flags, MDYN_ROW_SATURATED);
    }
}

/* With MDYN_EXPLICIT a spring without damping acts at MDYN_VELOCITY: implicit Euler of
   C'' = -kp dt C' (1/I0 + 1/I1). */
static void test_explicit_spring_of_velocity(void) {
    mdyn_coupling c = MDYN_MIMIC(0, 1, 1.0, 0.0);
    mdyn_softness spring = MDYN_SPRING(1000, 0);
    double inverse = 0, speed = 8;
    rotors(2, 0x1p-7);
    for (int i = 0; i < 2; i++) inverse += 1 / of_wide(mech.body[i].inertia.zz);
    mech.model.solver.scheme = MDYN_EXPLICIT;
    c.level = MDYN_VELOCITY;
    c.softness = spring;
    couple(c);
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    sim.v[0] = real(4);
    sim.v[1] = real(-4);
    for (int i = 0; i < 8; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        speed /= 1 + 1000 * 0x1p-14 * inverse;
        CHECK_NEAR(of_real(sim.v[0]) - of_real(sim.v[1]), speed, 8 * FREQUENCY);
        CHECK_EQUAL(sim.report.iterations, 0); /* without a bound it is solved directly */
    }
}

/* One leader, eleven followers. */
static void test_fan(void) {
    rotors(12, 0x1p-10);
    for (int i = 1; i < 12; i++) {
        mdyn_coupling c = mimic_of(i, 0, 0.5 * i - 3.25, 0);
        c.softness = random_softness();
        couple(c);
    }
    begin(MDYN_OK);
    sim_random(&sim, &mech.model, 2, 5);
    compare_step(FAN_STEP);
    compare_reports(FAN_REPORT);
}

/* A mimic of a mimic of a mimic, with offsets: the last is where the product says. */
static void test_chain_of_mimics(void) {
    static const double m[] = { 1.5, -0.75, 2 }, o[] = { 0.5, -0.25, 0.125 };
    rotors(4, 0x1p-8);
    for (int i = 2; i >= 0; i--) { /* declared backwards: the order must not matter */
        couple(mimic_of(i + 1, i, m[i], o[i]));
    }
    begin(MDYN_OK);
    sim.tau[0] = real(1);
    sim.tau[3] = real(-2);
    for (int i = 0; i < 200; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    double q = of_real(sim.q[0]);
    for (int i = 0; i < 3; i++) {
        q = m[i] * q + o[i];
        CHECK_NEAR(of_real(sim.q[i + 1]), q, CHAIN);
    }
}

/* Multiplier 0: the follower is pinned at the offset, and the leader does not feel it. */
static void test_multiplier_zero(void) {
    mdyn_coupling c = MDYN_MIMIC(1, 0, 0.0, 0.75);
    mdyn_wide share = wide(-1);
    rotors(2, 0x1p-8);
    couple(c);
    begin(MDYN_OK);
    sim.tau[0] = real(1);
    sim.tau[1] = real(50);
    for (int i = 0; i < 256; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    CHECK_NEAR(of_real(sim.q[1]), 0.75, PINNED_FOLLOWER);
    CHECK_NEAR(of_real(sim.v[0]), 1, PINNED_LEADER);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 0, &share), MDYN_OK);
    CHECK_NEAR(of_wide(share), -50, PINNED_SHARE);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 1, &share), MDYN_OK);
    CHECK_NEAR(of_wide(share), 0, 0);
}

/* A row that earlier ones decide carries nothing and changes nothing. */
static void test_redundant(void) {
    mdyn_row_report report;
    mdyn_coupling a = MDYN_MIMIC(1, 0, 2.0, 0.5), b = MDYN_MIMIC(2, 1, -3.0, 0.0);
    mdyn_coupling sum = MDYN_MIMIC(2, 0, -6.0, -1.5), doubled = MDYN_GEAR(0, -6, 1, 3, -1.5);
    rotors(3, 0x1p-8);
    couple(a);
    couple(b);
    couple(sum);
    couple(doubled);
    mdyn_model fewer = mech.model;
    fewer.coupling_count = 2;
    CHECK_EQUAL(init_explicit(&sim, &fewer), MDYN_OK);
    CHECK_EQUAL(init_explicit(&other, &mech.model), MDYN_WARN_REDUNDANT);
    CHECK_EQUAL(other.culprit.index, 2);
    sim.tau[0] = other.tau[0] = real(2);
    for (int i = 0; i < 50; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&other), MDYN_OK);
    }
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(of_real(other.v[i]), of_real(sim.v[i]), REDUNDANT_SPEED);
        CHECK_NEAR(of_real(other.q[i]), of_real(sim.q[i]), REDUNDANT_PLACE);
    }
    CHECK_EQUAL(other.report.redundant, 2);
    CHECK_EQUAL(other.report.contradictory, 0);
    for (int i = 0; i < 4; i++) {
        CHECK_EQUAL(mdyn_report_row(&other, MDYN_ROW_COUPLING, i, &report), MDYN_OK);
        CHECK_EQUAL(report.flags, i < 2 ? 0 : MDYN_ROW_REDUNDANT);
        CHECK(i < 2 || of_wide(report.impulse) == 0);
        CHECK_NEAR(of_wide(report.residual), 0, REDUNDANT_RESIDUAL);
    }
}

/* Two rows that cannot both hold: nothing explodes, they meet half way, and the later says so. */
static void test_contradictory(void) {
    mdyn_row_report report;
    double dt = 0x1p-8, gap = -0.5, v = 0;
    mdyn_coupling a = MDYN_MIMIC(1, 0, 2.0, 0.0), b = MDYN_MIMIC(1, 0, 2.0, 1.0);
    rotors(2, dt);
    couple(a);
    couple(b);
    begin(MDYN_WARN_CONTRADICTION);
    CHECK_EQUAL(sim.culprit.index, 1);
    sim.tau[0] = real(2);
    for (int i = 1; i <= 50; i++) {
        /* v1 = 2 v0 + s, s = -0.2 gap/dt; 1 v0 + 2 1.25 v1 is the impulse of the torque */
        double s = -0.2 * gap / dt;
        v = (2 * i * dt - 2.5 * s) / (1 + 2.5 * 2);
        gap *= 0.8;
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.v[0]), v, CONTRADICTION_SPEED);
    }
    CHECK_NEAR(of_real(sim.q[1]) - 2 * of_real(sim.q[0]), 0.5 + gap, CONTRADICTION_PLACE);
    CHECK_EQUAL(sim.report.contradictory, 1);
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 1, &report), MDYN_OK);
    CHECK(report.flags & MDYN_ROW_CONTRADICTORY);
    CHECK_NEAR(fabs(of_wide(report.residual)), 0.2 * 128, CONTRADICTION_RESIDUAL);
    CHECK(of_wide(report.impulse) == 0);
}

/* Two couplings of joints 0, 1, 2 and up to three sums of them that want other speeds. */
static void contradictory_couplings(int count) {
    for (int i = 0; i < count; i++) {
        mdyn_coupling c = MDYN_GEAR3(0, 0, 1, 0, 2, 0, 0);
        double x = random_in(-2, 2), y = random_in(-2, 2);
        for (int j = 0; j < 3; j++) {
            double sum = x * of_wide(mech.coupling[0].terms[j].coefficient)
                       + y * of_wide(mech.coupling[1].terms[j].coefficient);
            c.terms[j].coefficient = wide(i < 2 ? random_in(-2, 2) : sum);
        }
        c.target_velocity = wide(random_in(-5, 5));
        c.level = MDYN_VELOCITY;
        mech.coupling[i] = c;
    }
    mech.model.coupling_count = count;
}

/* The sum of the squares of what the rows miss is least: dense, by the normal equations. */
static void test_compromise(void) {
    static truth_system e;
    for (int k = 0; k < 60; k++) {
        ld v[TN];
        int count = 3 + k % 3;
        random_tree(5, ONE_SPEED | ARMATURES);
        do {
            contradictory_couplings(count);
            mech.model.coupling_count = 2;
        } while (rank_of_couplings() < 2);
        mech.model.coupling_count = count;
        begin(MDYN_WARN_CONTRADICTION);
        sim_random(&sim, &mech.model, 3, 10);
        truth_copy(&t, &sim);
        truth_update(&t, &mech.model);
        truth_step_begin(&want, &t, &mech.model, &sim);
        e.n = count;
        for (int i = 0; i < count; i++) {
            e.b[i] = 0;
            for (int j = 0; j < count; j++) {
                ld miss = want.row[j].low - t_row_speed(&want.row[j], want.free, t.dofs);
                e.b[i] += want.A[i][j] * miss;
                e.A[i][j] = 0;
                for (int l = 0; l < count; l++) {
                    e.A[i][j] += want.A[i][l] * want.A[l][j];
                }
            }
        }
        CHECK_EQUAL(truth_solve(&e, (ld)COMPROMISE_RANK), 2);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(sim.report.contradictory, count - 2);
        for (int i = 0; i < t.dofs; i++) {
            v[i] = want.free[i];
            for (int j = 0; j < count; j++) {
                v[i] += want.B[j][i] * e.x[j];
            }
        }
        double size = norm_speed(&t, want.free);
        CHECK_NEAR(speed_error(&t, &sim, v), 0, COMPROMISE * size);
    }
}

/* Two ratios between the same two rotors leave only rest, and that is no contradiction. */
static void test_two_ratios(void) {
    mdyn_coupling a = MDYN_MIMIC(1, 0, 2.0, 0.0), b = MDYN_MIMIC(1, 0, 3.0, 0.0);
    rotors(2, 0x1p-8);
    couple(a);
    couple(b);
    begin(MDYN_OK);
    sim.tau[0] = real(100);
    for (int i = 0; i < 50; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.v[0]), 0, TWO_RATIOS);
        CHECK_NEAR(of_real(sim.v[1]), 0, TWO_RATIOS);
    }
}

/* ---- accelerations under couplings ---- */

static void test_coupled_dynamics(void) {
    static truth_system e;
    static mdyn_wide a[TN];
    for (int k = 0; k < 60; k++) {
        int bodies = 4 + random_int(6), kind = random_int(32);
        random_tree(bodies, kind);
        int count = 1 + random_int(t.dofs / 2), n = t.dofs;
        random_couplings(count, 0.7);
        for (int i = 0; i < count; i++) {
            mech.coupling[i].softness.kind = random_int(2) ? MDYN_DEFAULT : MDYN_KP_KD;
            mech.coupling[i].softness.a = mech.coupling[i].softness.b = wide(1);
        }
        begin(MDYN_OK);
        sim_random(&sim, &mech.model, 3, 10);
        solve_dense();
        memset(e.A, 0, sizeof e.A);
        e.n = n + count;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                e.A[i][j] = t.M[i][j];
            }
            e.b[i] = t.tau[i] - t.C[i];
        }
        for (int i = 0; i < count; i++) {
            int hard = want.row[i].cfm == 0; /* springs have no part in it */
            e.A[n + i][n + i] = !hard;
            e.b[n + i] = 0;
            for (int j = 0; j < n && hard; j++) {
                e.A[n + i][j] = e.A[j][n + i] = want.row[i].J[j];
            }
        }
        CHECK_EQUAL(truth_solve(&e, 1e-15L), n + count);
        CHECK_EQUAL(mdyn_constrained_dynamics(&sim, a), MDYN_OK);
        for (int i = 0; i < n; i++) {
            e.b[i] = (ld)of_wide(a[i]) - e.x[i];
        }
        CHECK_NEAR(norm_speed(&t, e.b), 0, COUPLED_DYNAMICS * norm_speed(&t, e.x));
    }
}

/* ---- iterated rows ---- */

/* MDYN_ITERATED is Gauss-Seidel over the rows as declared, from zero, the accumulated cfm lambda
   in it; here written out with the dense M^-1 J'. */
static void test_iterated(void) {
    static const int iterations[] = { 1, 2, 8, 50 };
    for (int k = 0; k < 40; k++) {
        double omega = k % 3 == 0 ? 1.3 : k % 3 == 1 ? 0.7 : 1;
        ld v[TN], lambda[TR] = { 0 };
        int bodies = 4 + random_int(4), kind = random_int(32) | ONE_SPEED;
        random_tree(bodies, kind);
        for (int b = 0; b < t.bodies; b++) {
            mech.body[b].damping = wide(0);
        }
        int count = 1 + random_int(3);
        random_couplings(count, 0.7);
        mech.model.solver.equality = MDYN_ITERATED;
        mech.model.solver.start = MDYN_COLD;
        mech.model.solver.iterations = (uint16_t)iterations[k % 4];
        mech.model.solver.relaxation = wide(omega);
        begin(MDYN_OK);
        sim_random(&sim, &mech.model, 3, 10);
        truth_copy(&t, &sim);
        truth_update(&t, &mech.model);
        truth_step_begin(&want, &t, &mech.model, &sim);
        memcpy(v, want.free, sizeof v);
        for (int s = 0; s < iterations[k % 4]; s++) {
            for (int i = 0; i < count; i++) {
                const truth_row *r = &want.row[i];
                ld miss = t_row_speed(r, v, t.dofs) + r->cfm * lambda[i] - r->low;
                ld change = -(ld)omega * miss / (want.A[i][i] + r->cfm);
                lambda[i] += change;
                for (int j = 0; j < t.dofs; j++) {
                    v[j] += want.B[i][j] * change;
                }
            }
        }
        int code = mdyn_step(&sim);
        CHECK(code == MDYN_OK || (code == MDYN_WARN_NOT_CONVERGED && iterations[k % 4] < 50));
        double size = norm_speed(&t, v) + norm_speed(&t, want.free);
        CHECK_NEAR(speed_error(&t, &sim, v), 0, ITERATED * size);
    }
}

/* ---- passivity ---- */

/* Couplings that take no position back and want no speed can only take energy out of the free
   motion, hard or soft. */
static void test_passive(void) {
    for (int k = 0; k < 100; k++) {
        int bodies = 4 + random_int(6), kind = random_int(32);
        random_tree(bodies, kind);
        int count = 1 + random_int(t.dofs / 2);
        random_couplings(count, 0.7);
        for (int i = 0; i < count; i++) {
            mdyn_softness soft = MDYN_SOFT(0, 0);
            soft.b = wide(random_int(2) ? 0 : random_in(0, 3));
            mech.coupling[i].softness = soft;
            mech.coupling[i].target_velocity = wide(0);
        }
        memset(&mech.model.gravity, 0, sizeof mech.model.gravity);
        begin(MDYN_OK);
        CHECK_NEAR(worse(truth_step_gain(&want, &t, &mech.model, &sim), 0), 0, PASSIVE);
    }
}

/* Two soft rows on the same joints that ask for different places: their impulses are some 1e4 times
   what is left of them, and the parts of both in v cancel. */
static void test_soft_contradiction(void) {
    for (int k = 0; k < 100; k++) {
        const mdyn_softness soft = MDYN_SOFT(0.2, 3e-5);
        random_tree(4 + random_int(4), ONE_SPEED);
        random_couplings(1, 0.7);
        mech.model.dt = wide(0x1p-10);
        mech.coupling[0].softness = soft;
        couple(mech.coupling[0]);
        mech.coupling[1].offset = wide(of_wide(mech.coupling[0].offset) + 0.25);
        begin(MDYN_OK);
        sim_random(&sim, &mech.model, 3, 10);
        CHECK_NEAR(truth_step_of(&want, &t, &mech.model, &sim), 0, 1e-12);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(speed_error(&t, &sim, want.v), 0,
                   SOFT_CONTRADICTION * truth_step_size(&want, &t));
    }
}

/* The same with impulses up to 1e8 times what is left of them: two to four rows, in opposite
   directions too, or three that run in a circle. */
static void test_opposed(void) {
    for (int k = 0; k < 300; k++) {
        int rows = 2 + random_int(3);
        random_tree(4 + random_int(4), ONE_SPEED);
        random_couplings(1, 0.7);
        mech.model.dt = wide(0x1p-10);
        mech.coupling[0].level = MDYN_POSITION;
        if (k % 3 == 0) {
            rows = 3;
            for (int i = 0; i < 3; i++) {
                const mdyn_coupling c = MDYN_MIMIC(i == 2 ? 2 : i + 1, i == 2 ? 0 : i, 1.0, 0.0);
                mech.coupling[i] = c;
            }
        }
        mech.model.coupling_count = 1;
        begin(MDYN_OK);
        truth_copy(&t, &sim);
        truth_update(&t, &mech.model);
        truth_step_begin(&want, &t, &mech.model, &sim);
        mech.model.coupling_count = (int16_t)rows;
        for (int i = 0; i < rows; i++) {
            mdyn_softness soft = MDYN_SOFT(0.2, 0);
            soft.b = wide(pow(10, random_in(-8, -2)) * (double)want.A[0][0]);
            if (k % 3 && i) {
                mech.coupling[i] = mech.coupling[0];
            }
            for (int j = 0; j < MIMICDYN_MAX_TERMS && k % 3 && i % 2; j++) {
                mdyn_wide *f = &mech.coupling[i].terms[j].coefficient;
                *f = wide(-of_wide(*f));
            }
            mech.coupling[i].offset = wide(random_in(-0.1, 0.1));
            mech.coupling[i].softness = soft;
        }
        begin(MDYN_OK);
        sim_random(&sim, &mech.model, 3, 10);
        CHECK_NEAR(truth_step_of(&want, &t, &mech.model, &sim), 0, 1e-11);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(speed_error(&t, &sim, want.v), 0, OPPOSED * truth_step_size(&want, &t));
        double most = 0;
        for (int i = 0; i < rows; i++) {
            most = fmax(most, fabs((double)want.lambda[i]));
        }
        for (int i = 0; i < rows; i++) {
            mdyn_row_report got;
            CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, i, &got), MDYN_OK);
            CHECK_NEAR(of_wide(got.impulse), (double)want.lambda[i], OPPOSED_IMPULSE * most);
        }
    }
}

/* Hard rows that are nearly parallel: two or three that leave down to 1/NARROW of each other, with
   impulses by as much larger than what brings the joints to them. */
static void test_nearly_parallel(void) {
    int compared = 0;
    double worst = 0;
    for (int k = 0; k < 300; k++) {
        const int rows = 2 + random_int(2);
        random_tree(4 + random_int(4), ONE_SPEED);
        random_couplings(1, 0.7);
        mech.model.dt = wide(0x1p-10);
        mech.coupling[0].level = MDYN_POSITION;
        mech.coupling[0].softness = (mdyn_softness)MDYN_HARD(0.2);
        mech.model.coupling_count = (int16_t)rows;
        for (int i = 1; i < rows; i++) {
            const double apart = pow(NARROW, random_in(-1, 0));
            mech.coupling[i] = mech.coupling[0];
            for (int j = 0; j < MIMICDYN_MAX_TERMS; j++) {
                mdyn_wide *f = &mech.coupling[i].terms[j].coefficient;
                *f = wide(of_wide(*f) * (1 + random_in(-apart, apart)));
            }
        }
        const int code = mdyn_init(&sim, &mech.model);
        if (code != MDYN_OK && code != MDYN_WARN_NEARLY_REDUNDANT) {
            continue;
        }
        begin(code);
        sim_random(&sim, &mech.model, 3, 10);
        if (truth_step_of(&want, &t, &mech.model, &sim) > 1e-11) {
            continue;
        }
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(speed_error(&t, &sim, want.v), 0, PARALLEL * truth_step_size(&want, &t));
        worst = fmax(worst, speed_error(&t, &sim, want.v) / truth_step_size(&want, &t));
        compared++;
    }
    CHECK(compared >= 40);
    printf("%d sets of nearly parallel rows, %.1e\n", compared, worst);
}

int main(int argc, char **argv) {
    static const struct {
        uint64_t seed;
        void (*run)(void);
    } tests[] = {
        { 1, test_random_couplings }, { 2, test_extreme_ratios }, { 3, test_reaction },
        { 4, test_spring }, { 5, test_frequency }, { 6, test_fan }, { 7, test_chain_of_mimics },
        { 8, test_multiplier_zero }, { 9, test_redundant }, { 10, test_contradictory },
        { 11, test_compromise }, { 12, test_two_ratios }, { 13, test_coupled_dynamics },
        { 14, test_iterated }, { 15, test_passive }, { 16, test_frequency_without_mass },
        { 17, test_soft_contradiction }, { 18, test_opposed }, { 19, test_nearly_parallel },
        { 20, test_frequency_behind_a_tie }, { 21, test_undamped_frequency_of_velocity },
        { 22, test_explicit_spring_of_velocity }
    };
    check_begin(argc, argv);
    for (int i = 0; i < (int)(sizeof tests / sizeof *tests); i++) {
        random_seed(tests[i].seed);
        tests[i].run();
    }
    return check_end();
}
