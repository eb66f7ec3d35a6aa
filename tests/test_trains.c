/* Long gear trains and many turns: a small coupling error alone does not show that the motion is
   right, so the driven wheels are compared with the exact motion as well. Wheels of very unequal
   inertia and torque. */
#include "knobs.h"
#include "check.h"
#include "explicit.h"
#include "wheels.h"

/* What the checks allow, some three to ten times the worst of -s 1, 2 and 3. */
/*                            F64     F32  FIXED */
TOLERANCE(TRAIN_2,          3e-14,   1e-6,  6e-8);
TOLERANCE(TRAIN_8,          3e-14,   1e-5,  2e-7);
TOLERANCE(TRAIN_32,         3e-14,   3e-5,  5e-7);
TOLERANCE(TRAIN_128,        5e-13,   1e-4,  2e-6);
TOLERANCE(TURNS_COUPLING,   2e-14,   1e-5, 6e-14);
TOLERANCE(TURNS_SPEED,      3e-15,   1e-6, 4e-12);
TOLERANCE(TURNS_PLACE,      1e-15,   1e-6, 3e-15);
TOLERANCE(SLOW_SUM,       1.2e-13, 6.2e-5, 4e-12);
TOLERANCE(UNEQUAL_TRAIN,    1e-15,   1e-7,  3e-9);
TOLERANCE(UNEQUAL_LARGE,    1e-15,   5e-7,  1e-9);
TOLERANCE(UNEQUAL_SMALL,    1e-15,   5e-7,  5e-3); /* one exponent for the forces of a step */
TOLERANCE(TOLD_BELOW,       1e-12,  1e-12,  1e-6); /* rad/s a step: coarser digits are held */
TOLERANCE(TOLD_IMPULSE,     1e-14,   1e-6,     0); /* not asked */
TOLERANCE(TOLD_MOTION,      1e-15,   1e-9,  1e-8);
TOLERANCE(SPARE_BALANCE,   1e-16,   1e-8,  5e-7); /* N m s */
TOLERANCE(SHAFT_FOLLOWS,    1e-13,   1e-6,  1e-9);
TOLERANCE(SHAFT_SPEED,      1e-10,   2e-3,  1e-3);

static void mesh(int a, int teeth_a, int b, int teeth_b, double offset) {
    mdyn_coupling c = MDYN_GEAR(a, teeth_a, b, teeth_b, 0);
    c.offset = wide(offset);
    coupling[model.coupling_count++] = c;
}

/* How far the first wheel of the train, the last one and the worst coupling are off after a
   second of constant torque: wheel 0 has the angle a t^2/2 of the discrete step,
   a dt^2 n (n + 1)/2, and the others by their gains 1, -2, 1, -2, ... */
static void run_train(int count, double allowed) {
    double inertia = 9e-5, dt = 0x1p-10, acceleration = 60, sum = 0, worst = 0;
    wheels(count, inertia, dt);
    for (int i = 0; i < count; i++) {
        sum += i % 2 ? 4 : 1;
    }
    for (int i = 0; i + 1 < count; i++) {
        mesh(i, i % 2 ? 10 : 20, i + 1, i % 2 ? 20 : 10, 0);
    }
    CHECK_EQUAL(init_explicit(&sim, &model), MDYN_OK);
    sim.tau[0] = real(of_wide(body[0].inertia.zz) * sum * acceleration);
    double torque = of_real(sim.tau[0]);
    acceleration = torque / (of_wide(body[0].inertia.zz) * sum);
    for (int n = 1; n <= 1024; n++) {
        if (!CHECK_EQUAL(mdyn_step(&sim), MDYN_OK)) {
            return;
        }
        for (int i = 0; i + 1 < count; i++) {
            double f = i % 2 ? 2 : 0.5; /* of wheel i + 1: C in turns of wheel i */
            worst = worse(worst, fabs(of_real(sim.q[i]) + f * of_real(sim.q[i + 1])));
        }
    }
    double want = acceleration * dt * dt * 1024 * 1025 / 2, gain = count % 2 ? 1 : -2;
    CHECK_NEAR(worst / want, 0, allowed / 10);
    CHECK_NEAR(of_real(sim.q[0]) / want, 1, allowed);
    CHECK_NEAR(of_real(sim.q[count - 1]) / (want * gain), 1, allowed);
    /* Each coupling carries what the wheels behind it need: the first nearly all of it. */
    mdyn_wide share = wide(0);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 0, &share), MDYN_OK);
    double behind = torque - of_wide(body[0].inertia.zz) * acceleration;
    CHECK_NEAR(of_wide(share) / behind, -1, allowed);
}

static void test_trains(void) {
    run_train(2, TRAIN_2);
    run_train(8, TRAIN_8);
    run_train(32, TRAIN_32);
    run_train(128, TRAIN_128);
}

/* The exact motion is that of the sum of q_i gains: the step knows more digits of a coordinate
   than the float shows, so C is read where the library works it out, at the start of a step. */
static double error_of(int k) {
    mdyn_row_report report;
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, k, &report), MDYN_OK);
    return of_wide(report.error);
}

/* Ten thousand turns at 300 rad/s, driven by a ratio and by its teeth. The teeth are exact: what
   is left is the rounding of one step. The ratio is the number that the scalar can hold. */
static void test_many_turns(void) {
    for (int teeth = 0; teeth < 2; teeth++) {
        double dt = 0x1p-8, worst = 0, turns = 10000, two_pi = 6.283185307179586;
        wheels(2, 1e-3, dt);
        if (teeth) {
            mesh(0, 22, 1, 7, 0);
        } else {
            mdyn_coupling c = MDYN_MIMIC(1, 0, 22.0 / 7, 0.5);
            coupling[model.coupling_count++] = c;
        }
        CHECK_EQUAL(init_explicit(&sim, &model), MDYN_OK);
        double gain = teeth ? -22.0 / 7 : -of_wide(coupling[0].terms[1].coefficient);
        sim.v[0] = real(300);
        sim.v[1] = real(300 * gain);
        sim.q[1] = real(teeth ? 0 : 0.5);
        int steps = (int)(turns * two_pi / (300 * dt));
        for (int n = 0; n < steps; n++) {
            if (!CHECK_EQUAL(mdyn_step(&sim), MDYN_OK)) {
                return;
            }
            worst = worse(worst, fabs(error_of(0)));
        }
        CHECK(fabs(of_real(sim.q[0])) > 0.999 * turns * two_pi);
        CHECK_NEAR(worst, 0, TURNS_COUPLING * (teeth ? 7 : 1));
        /* And the pair still turns at the speed it had. */
        CHECK_NEAR(of_real(sim.v[0]) / 300, 1, TURNS_SPEED);
        CHECK_NEAR(of_real(sim.q[0]) / (300 * dt * steps), 1, TURNS_PLACE);
    }
}

/* A slow joint far from zero: every step adds less than the last digit of q, and none is lost. */
static void test_slow_joint(void) {
    double dt = 0x1p-10, start = 1000, v = 0x1p-10;
    wheels(1, 1, dt);
    CHECK_EQUAL(init_explicit(&sim, &model), MDYN_OK);
    sim.q[0] = real(start);
    sim.v[0] = real(v);
    for (int n = 0; n < 1 << 20; n++) {
        mdyn_step(&sim);
    }
    CHECK_NEAR(of_real(sim.q[0]), start + 1, SLOW_SUM);
    /* The same for the speed: 2^20 pushes that are below its last digit. */
    sim.v[0] = real(1000);
    sim.q[0] = real(0);
    sim.tau[0] = real(0x1p-10);
    for (int n = 0; n < 1 << 20; n++) {
        mdyn_step(&sim);
    }
    CHECK_NEAR(of_real(sim.v[0]), 1001, SLOW_SUM);
}

static void give_inertia(int i, double inertia) {
    body[i].mass = body[i].inertia.xx = body[i].inertia.yy = body[i].inertia.zz = wide(0);
    body[i].armature = wide(inertia);
}

static void turn_for_a_second(double torque_0, double torque_1) {
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    sim.tau[0] = real(torque_0);
    sim.tau[1] = real(torque_1);
    for (int n = 0; n < 1024; n++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
}

/* A motor of 1e5 N m beside a wheel of inertia J and a torque: what is off by more than
   UNEQUAL_SMALL is told with the wheel's DoF. Without torque the wheel stays. */
static void test_told_digits(void) {
    int told = 0;
    for (int k = 0; k < 200; k++) {
        const double J = pow(10, random_in(-9, 0)), torque = k % 10 ? pow(10, random_in(-9, 0)) : 0;
        const double dv = torque / J * 0x1p-10;
        int code = MDYN_OK;
        wheels(2, 1, 0x1p-10);
        give_inertia(0, 1);
        give_inertia(1, J);
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
        sim.tau[0] = real(1e5);
        sim.tau[1] = real(torque);
        for (int n = 0; n < 20 && 20 * dv < 8e6; n++) {
            code = mdyn_step(&sim);
            CHECK(code == MDYN_OK || (code == MDYN_WARN_DIGITS && sim.culprit.index == 1));
        }
        if (20 * dv >= 8e6) {
            continue;
        }
        const double off = fabs(of_real(sim.v[1]) - 20 * of_real(sim.tau[1]) / J * 0x1p-10);
        told += code != MDYN_OK;
        CHECK(code != MDYN_OK || off <= 20 * (UNEQUAL_SMALL * dv + TOLD_BELOW));
        CHECK(torque > 0 || (code == MDYN_OK && off == 0));
        CHECK(code == MDYN_OK || dv < 1000 * 0x1p-30 * 512 / sqrt(J));
    }
    CHECK(BY_SCALAR(told == 0, told == 0, told > 20));
}

/* A wheel comes to its stop at 1e6 rad/s, and is then written to rest, as by a measurement. In the
   next step a coupling sets two wheels in motion, in the block of that impact: their impulse is the
   momentum that they got, or the lost digits are told. */
static void test_told_impulse(void) {
    const double dt = 0x1p-10;
    mdyn_coupling c = MDYN_GEAR(0, 1, 1, 1, 0);
    mdyn_row_report report;
    c.level = MDYN_VELOCITY;
    wheels(3, 1, dt);
    for (int i = 0; i < 3; i++) give_inertia(i, 1);
    body[2].lower = wide(-1);
    body[2].upper = wide(1);
    coupling[model.coupling_count++] = c;
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    sim.v[2] = real(1e6);
    CHECK(mdyn_step(&sim) >= 0);
    for (int i = 0; i < 3; i++) sim.v[i] = real(0);
    CHECK_EQUAL(mdyn_set_coupling_target(&sim, 0, real(0), real(0.001)), MDYN_OK);
    const int code = mdyn_step(&sim);
    CHECK_EQUAL(code, BY_SCALAR(MDYN_OK, MDYN_OK, MDYN_WARN_DIGITS));
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &report), MDYN_OK);
    const double impulse = fabs(of_wide(report.impulse)), momentum = fabs(of_real(sim.v[0]));
    if (code == MDYN_OK) CHECK_NEAR(impulse / momentum, 1, TOLD_IMPULSE);
    CHECK_NEAR(momentum, 0.0005, TOLD_MOTION);
}

/* Rows that wish for far more than their bounds give: a drive at its effort far from its target, a
   range that is violated by 6 rad. On the second wheel, 225 times slower than the first, what all
   rows report is its change of momentum less that of its torque. */
static void test_idle_wishes(void) {
    static const double ratio[3][2] = { { -2.882, -3 }, { -0.01176, -2.647 }, { 2.882, -0.8118 } };
    const double dt = 5.06e-4, inertia = 0.01648, torque = -0.153;
    wheels(2, inertia, dt);
    give_inertia(0, 5.76e-4);
    body[0].damping = wide(0.0824);
    body[0].friction = wide(0.0047);
    body[1].effort = wide(0.317);
    body[1].drive_kp = wide(10);
    body[1].lower = wide(-0.002);
    body[1].upper = wide(0.329);
    for (int i = 0; i < 3; i++) {
        mdyn_coupling *c = &coupling[model.coupling_count++];
        for (int k = 0; k < 2; k++) {
            c->terms[k].body = (int16_t)k;
            c->terms[k].coefficient = wide(ratio[i][k]);
        }
    }
    coupling[0].level = MDYN_VELOCITY;
    coupling[0].softness.kind = MDYN_ERP_CFM;
    coupling[0].softness.a = wide(0.114);
    coupling[0].softness.b = wide(0.01176);
    coupling[2].lower = wide(-0.0863);
    coupling[2].upper = wide(0.0146);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    sim.q[0] = real(-2);
    sim.q[1] = real(0.000894);
    sim.tau[0] = real(0.286);
    sim.tau[1] = real(torque);
    sim.target[1] = real(0.3725);
    for (int n = 0; n < 3; n++) {
        static const mdyn_row_kind own[2] = { MDYN_ROW_DRIVE, MDYN_ROW_LIMIT };
        double v = of_real(sim.v[1]), sum = dt * torque;
        mdyn_row_report report;
        CHECK(mdyn_step(&sim) >= 0);
        for (int i = 0; i < 3; i++) {
            CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, i, &report), MDYN_OK);
            sum += ratio[i][1] * of_wide(report.impulse);
        }
        for (int i = 0; i < 2; i++) {
            CHECK_EQUAL(mdyn_report_row(&sim, own[i], 1, &report), MDYN_OK);
            sum += of_wide(report.impulse);
        }
        CHECK_NEAR(inertia * (of_real(sim.v[1]) - v), sum, SPARE_BALANCE);
    }
}

/* A shaft of 1e-9 kg m^2 that drives 50 kg m^2 through a gear; a motor of 1e5 N m beside one of
   1e-3 N m, which share no row. */
static void test_unequal_wheels(void) {
    wheels(3, 1, 0x1p-10);
    give_inertia(0, 1e-9);
    give_inertia(1, 1);
    give_inertia(2, 50);
    mesh(0, 10, 1, 20, 0);
    mesh(1, 10, 2, 40, 0);
    turn_for_a_second(1, 0);
    double v = 1 / (1e-9 + 0.25 + 50.0 / 64);
    CHECK_NEAR(of_real(sim.v[0]) / v, 1, UNEQUAL_TRAIN);
    CHECK_NEAR(of_real(sim.v[1]) / v, -0.5, UNEQUAL_TRAIN);
    CHECK_NEAR(of_real(sim.v[2]) / v, 0.125, UNEQUAL_TRAIN);
    CHECK_NEAR(of_real(sim.q[0]) / v, 0.5, UNEQUAL_TRAIN);

    wheels(2, 1, 0x1p-10);
    give_inertia(0, 1);
    give_inertia(1, 1e-4);
    turn_for_a_second(1e5, 1e-3);
    CHECK_NEAR(of_real(sim.v[0]) / 1e5, 1, UNEQUAL_LARGE);
    CHECK_NEAR(of_real(sim.v[1]) / 10, 1, UNEQUAL_SMALL);
}

/* A shaft of 1e-6 to 1e-10 kg m^2 under 0.01 N m drives a wheel of 1 kg m^2 through a spring: it
   turns with the wheel, ahead by torque/kp. */
static void test_stiff_shaft(void) {
    for (int k = 0; k < 10; k++) {
        const double J = pow(10, -6 - k / 2), kp = 1e4, kd = k % 2 ? 1 : 0;
        wheels(2, 1, 1e-3);
        give_inertia(0, 1);
        give_inertia(1, J);
        mdyn_coupling c = MDYN_MIMIC(1, 0, 1.0, 0.0);
        c.softness.kind = MDYN_KP_KD;
        c.softness.a = wide(kp);
        c.softness.b = wide(kd);
        coupling[model.coupling_count++] = c;
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
        sim.tau[1] = real(0.01);
        for (int n = 0; n < 100; n++) {
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        }
        CHECK_NEAR(of_real(sim.v[1]), of_real(sim.v[0]), SHAFT_FOLLOWS);
        CHECK_NEAR(of_real(sim.v[0]) / 1e-3, 1 / (1 + J), SHAFT_SPEED);
        CHECK_NEAR((of_real(sim.q[1]) - of_real(sim.q[0])) * kp / 0.01, 1 / (1 + J), SHAFT_SPEED);
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_unequal_wheels();
    test_told_digits();
    test_told_impulse();
    test_idle_wishes();
    test_stiff_shaft();
    test_trains();
    test_many_turns();
    test_slow_joint();
    return check_end();
}
