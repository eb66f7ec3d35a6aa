/* What couplings can do beside C = 0: slip, break, let go, play, lose power, hold one way; limits
   that engage. Against closed forms. */
#include "knobs.h"
#include "check.h"
#include "explicit.h"
#include "truth.h"

enum { DOFS = 20, COUPLINGS = 10 }; /* of random mechanisms */

static mdyn_sim sim;
static mechanism mech;
static truth t;

/* `count` shafts of these inertias about z. */
static void shafts(int count, const double *inertia, double dt) {
    memset(&mech, 0, sizeof mech);
    for (int i = 0; i < count; i++) {
        mech.body[i].parent = MDYN_WORLD;
        mech.body[i].joint = MDYN_REVOLUTE;
        mech.body[i].inertia.xx = mech.body[i].inertia.yy = mech.body[i].inertia.zz =
            wide(inertia[i]);
    }
    mech.model.bodies = mech.body;
    mech.model.body_count = count;
    mech.model.couplings = mech.coupling;
    mech.model.dt = wide(dt);
}

static mdyn_coupling *couple(mdyn_coupling c) {
    mech.coupling[mech.model.coupling_count] = c;
    return &mech.coupling[mech.model.coupling_count++];
}

static double tied; /* C = q_0 - tied q_1 */
static mdyn_user_row tie_row;

static void own_value(mdyn_sim *s, int index, mdyn_user_row *r, void *user) {
    (void)user;
    CHECK_EQUAL(index, 0);
    r->value = wide(of_real(s->q[0]) - tied * of_real(s->q[1]));
}

/* q_0 - factor q_1 within a range, as a coupling or as a user row. */
static void tie(int own, double factor, mdyn_wide lower, mdyn_wide upper, mdyn_level level) {
    mdyn_user_row *r = &tie_row;
    if (!own) {
        mdyn_coupling blank = MDYN_MIMIC(0, 1, 1, 0), *c = couple(blank);
        c->terms[1].coefficient = wide(-factor);
        c->lower = lower;
        c->upper = upper;
        c->level = level;
        return;
    }
    memset(r, 0, sizeof *r);
    for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        r->terms[k].body = (int16_t)(k < 2 ? k : MDYN_WORLD);
        r->terms[k].axes = MDYN_JOINT_VELOCITIES;
    }
    r->terms[0].angular.x = wide(1);
    r->terms[1].angular.x = wide(-factor);
    r->lower = lower;
    r->upper = upper;
    r->level = level;
    tied = factor;
    mech.model.user_rows = r;
    mech.model.user_row_count = 1;
    mech.model.row_function = own_value;
}

static mdyn_row_report row(mdyn_row_kind kind, int index) {
    mdyn_row_report report;
    CHECK_EQUAL(mdyn_report_row(&sim, kind, index, &report), MDYN_OK);
    return report;
}

static double share(int coupling, int term) {
    mdyn_wide force = wide(0);
    CHECK_EQUAL(mdyn_coupling_force(&sim, coupling, term, &force), MDYN_OK);
    return of_wide(force);
}

/* 6 N m on a shaft of 10 kg m^2, geared -0.1 to one of 100: 6/(10 + 100/100). */
static void test_two_shafts(void) {
    const double inertia[] = { 10, 100 };
    double dt = 0x1p-10;
    shafts(2, inertia, dt);
    mdyn_coupling c = MDYN_MIMIC(1, 0, -0.1, 0);
    couple(c);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    sim.tau[0] = real(6);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(of_real(sim.v[0]) / dt, 6.0 / 11, BY_SCALAR(1e-15, 2e-7, 3e-9));
    CHECK_NEAR(share(0, 0), -60.0 / 11, BY_SCALAR(1e-14, 5e-6, 2e-7));
    CHECK_NEAR(share(0, 1), -6.0 / 11, BY_SCALAR(1e-15, 5e-7, 2e-8));
}

/* PhysX, (18): one implicit step of the compliant row, free speeds 35.9 and 0. */
static void test_compliant(void) {
    const double inertia[] = { 0.7, 1.9 };
    double h = 0.01, G = 1.63, offset = 0.5, q = 1, v = 35.9, omega = 20, zeta = 0.5;
    shafts(2, inertia, h);
    mdyn_coupling c = MDYN_PHYSX_MIMIC(0, 1, 1.63, 0.5);
    c.softness.kind = MDYN_OMEGA_ZETA;
    c.softness.a = wide(omega);
    c.softness.b = wide(zeta);
    couple(c);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    sim.q[0] = real(q);
    sim.v[0] = real(v);
    double r = 1 / 0.7 + G * G / 1.9, kp = omega * omega / r, kd = 2 * zeta * omega / r;
    /* an implicit spring on C = q0 + G q1 + offset: C1' = C' + r p, p = -h (kp C1 + kd C1') */
    double p = -h * (kp * (q + offset + h * v) + kd * v) / (1 + h * r * (h * kp + kd));
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(of_wide(row(MDYN_ROW_COUPLING, 0).impulse), p, BY_SCALAR(1e-14, 5e-6, 2e-7));
    CHECK_NEAR(of_real(sim.v[0]), v + p / 0.7, BY_SCALAR(1e-14, 8e-6, 5e-8));
    CHECK_NEAR(of_real(sim.v[1]), G * p / 1.9, BY_SCALAR(2e-14, 2e-6, 7e-8));
}

/* A clutch of 60 N m between 0.5 kg m^2 at 30 rad/s and 0.6 at -10 locks after 40/220 s at
   9/1.1 rad/s; what it heats is the energy of the relative motion. */
static void test_slip_clutch(void) {
    const double inertia[] = { 0.5, 0.6 };
    double dt = 1.0 / 1100, heat = 0; /* 200 steps up to the lock */
    shafts(2, inertia, dt);
    mdyn_coupling c = MDYN_MIMIC(1, 0, 1, 0);
    c.level = MDYN_VELOCITY;
    c.effort = wide(60);
    couple(c);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    sim.v[0] = real(30);
    sim.v[1] = real(-10);
    for (int i = 0; i < 210; i++) {
        double slip = of_real(sim.v[1]) - of_real(sim.v[0]);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        mdyn_row_report r = row(MDYN_ROW_COUPLING, 0);
        slip += of_real(sim.v[1]) - of_real(sim.v[0]);
        heat -= of_wide(r.impulse) * slip / 2;
        if (i < 199) {
            CHECK_NEAR(slip, -2 * (40 - 220 * dt * (i + 0.5)), BY_SCALAR(2e-12, 1e-3, 2e-6));
            CHECK_NEAR(of_wide(r.force), 60, BY_SCALAR(1e-13, 2e-5, 2e-7));
            CHECK(r.flags & MDYN_ROW_SATURATED);
        } else if (i > 200) {
            CHECK_NEAR(slip, 0, BY_SCALAR(1e-13, 2e-5, 3e-9));
            CHECK_EQUAL(r.flags, 0);
        }
    }
    CHECK_NEAR(of_real(sim.v[0]), 9 / 1.1, BY_SCALAR(1e-12, 2e-4, 3e-7));
    CHECK_NEAR(heat, 0.5 * (0.5 * 0.6 / 1.1) * 1600, BY_SCALAR(1e-11, 5e-3, 5e-6));
}

/* Sun, carrier, ring: w_s - 3 w_c + 2 w_r = 0. 10 N m on the sun, the others held: -10, 30, -20. A
   brake that gives the carrier no more than 20 lets it turn: (3 10 - 20)/(9 J_s + J_c). */
static void test_planetary(void) {
    const double inertia[] = { 0.5, 0.5, 0.7 };
    for (int slips = 0; slips < 2; slips++) {
        shafts(3, inertia, 0x1p-10);
        mdyn_coupling c = MDYN_GEAR3(0, 1, 1, -3, 2, 2, 0);
        couple(c);
        for (int i = 1; i < 3; i++) {
            mdyn_coupling brake = MDYN_MIMIC(0, 0, 0, 0);
            brake.terms[0].body = (int16_t)i;
            brake.terms[1].coefficient = wide(0);
            brake.level = MDYN_VELOCITY;
            brake.effort = wide(i == 1 ? slips ? 20 : 40 : 0);
            couple(brake);
        }
        CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
        sim.tau[0] = real(10);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        if (slips) {
            CHECK_NEAR(of_real(sim.v[0]) * 1024, 6, BY_SCALAR(1e-13, 2e-5, 7e-7));
            CHECK_NEAR(of_real(sim.v[1]) * 1024, 2, BY_SCALAR(1e-13, 2e-5, 3e-7));
            CHECK_NEAR(share(1, 0), -20, BY_SCALAR(1e-13, 2e-5, 1e-9));
            continue;
        }
        for (int k = 0; k < 3; k++) {
            static const double force[] = { -10, 30, -20 };
            CHECK_NEAR(share(0, k), force[k], BY_SCALAR(1e-13, 2e-5, 5e-7));
        }
        CHECK_NEAR(share(1, 0), -30, BY_SCALAR(1e-13, 2e-5, 2e-6));
    }
}

/* A gear of efficiency e between T on a shaft A and the load L on B, S = ratio of B's speed to A's:
   moving the way `sign`, A drives with X, Y = e X arrives, or B drives. Returns the speed of A
   after a step, 0 if it sticks, and who drives: 1 A, -1 B. */
static double lossy_step(double Ja, double Jb, double S, double e, double T, double L, double v,
                         double dt, int *drives) {
    for (int sign = 1; sign >= -1; sign -= 2) {
        double forward = (e * T + S * L) / (Jb * S * S + e * Ja);
        double backward = (T + e * S * L) / (Ja + e * Jb * S * S);
        if ((v + dt * forward) * sign > 0 && (T - Ja * forward) * sign >= 0) {
            *drives = 1;
            return v + dt * forward;
        }
        if ((v + dt * backward) * sign > 0 && (T - Ja * backward) * sign <= 0) {
            *drives = -1;
            return v + dt * backward;
        }
    }
    *drives = 0;
    return 0;
}

/* Load-proportional loss under a sine: backward, stuck, forward, stuck. And where power flows, the
   efficiency is what arrives of it. */
static void test_efficiency(void) {
    double Ja = 0.5, Jb = 1.5, ratio = -2, S = 0.5, e = 0.5, dt = 0x1p-10, L = -4, v = 0, rub = 5;
    const double inertia[] = { Ja, Jb };
    int modes[64], count = 0, last = 9, found = 0;
    for (int way = 0; way < 3; way++) {
        shafts(2, inertia, dt);
        mdyn_coupling c = MDYN_GEAR(0, 1, 1, 0, 0);
        c.terms[1].coefficient = wide(ratio);
        c.efficiency = wide(e);
        couple(c);
        mech.body[0].damping = wide(rub); /* implicit: dt rub more inertia, rub v less torque */
        mech.model.solver.equality = way > 0 ? MDYN_EXACT : MDYN_ITERATED;
        mech.model.solver.method = way > 1 ? MDYN_DANTZIG : MDYN_PGS;
        mech.model.solver.iterations = 2000;
        CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
        v = 0;
        for (int i = 0; i < 4096; i++) {
            int drives;
            double T = of_real(real(8 * sin(6.283185307179586 / 4 * i * dt)));
            sim.tau[0] = real(T);
            sim.tau[1] = real(L);
            v = lossy_step(Ja + dt * rub, Jb, S, e, T - rub * v, L, v, dt, &drives);
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            CHECK_NEAR(of_real(sim.v[0]), v, BY_SCALAR(2e-12, 2e-5, 5e-7));
            CHECK_NEAR(of_real(sim.v[1]), S * v, BY_SCALAR(2e-12, 2e-5, 2e-7));
            mdyn_row_report loss = row(MDYN_ROW_LOSS, 0), force = row(MDYN_ROW_COUPLING, 0);
            CHECK(of_wide(loss.power) <= BY_SCALAR(1e-10, 1e-4, 1e-4));
            double most = 2.0 / 3 * fabs(of_wide(force.force));
            CHECK(fabs(of_wide(loss.force)) <= most + BY_SCALAR(1e-9, 1e-4, 1e-4) * (1 + most));
            double in = -share(0, 0) * v, out = share(0, 1) * S * v;
            if (drives > 0 && fabs(v) > 1e-3) {
                CHECK_NEAR(out, e * in, BY_SCALAR(1e-9, 2e-3, 5e-6) * (1 + fabs(in)));
            } else if (drives < 0 && fabs(v) > 1e-3) {
                CHECK_NEAR(in, e * out, BY_SCALAR(1e-9, 2e-3, 7e-5) * (1 + fabs(out)));
            }
            if (drives != last && count < 64) {
                modes[count++] = last = drives;
            }
            v = of_real(sim.v[0]);
        }
    }
    for (int i = 0; i + 3 < count; i++) {
        found |= modes[i] == -1 && modes[i + 1] == 0 && modes[i + 2] == 1 && modes[i + 3] == 0;
    }
    CHECK(found);
}

/* Friction that follows the force of another coupling: a stop presses a wheel, which rubs. */
static void test_friction_follows(void) {
    const double inertia[] = { 1, 2 };
    double dt = 0x1p-8, press = 6, mu = 0.25;
    shafts(2, inertia, dt);
    mdyn_coupling stop = MDYN_MIMIC(0, 0, 0, 0), rubs = MDYN_MIMIC(1, 0, 0, 0);
    stop.terms[1].coefficient = wide(0);
    stop.lower = wide(-1);
    stop.upper = wide(0);
    rubs.terms[1].coefficient = wide(0);
    rubs.level = MDYN_VELOCITY;
    rubs.mu = wide(mu);
    couple(stop);
    couple(rubs)->mu_of = 0;
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    sim.tau[0] = real(press);
    sim.tau[1] = real(1);
    for (int i = 0; i < 20; i++) { /* 1 < 0.25 6 holds it */
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.v[1]), 0, BY_SCALAR(1e-16, 1e-8, 1e-12));
    }
    sim.tau[1] = real(4);
    for (int i = 1; i <= 20; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.v[1]), i * dt * (4 - mu * press) / 2, BY_SCALAR(1e-15, 1e-6, 1e-10));
    }
    sim.tau[0] = real(-1);
    double v = of_real(sim.v[1]);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    /* nothing presses */
    CHECK_NEAR(of_real(sim.v[1]), v + dt * 4 / 2, BY_SCALAR(1e-15, 1e-6, 1e-10));
}

/* A coupling that breaks at 2 N m carries what it is asked up to that, then it is gone, until it is
   engaged again: where the shafts then stand, without a jerk. */
static void test_break_and_engage(void) {
    const double inertia[] = { 1, 1 };
    double dt = 0x1p-8;
    shafts(2, inertia, dt);
    mdyn_coupling c = MDYN_MIMIC(1, 0, 1, 0.25);
    c.effort = wide(2);
    c.breaks = 1;
    couple(c);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    sim.q[1] = real(0.25);
    sim.tau[0] = real(3.5); /* half of it goes through */
    for (int i = 1; i <= 10; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.v[1]), i * dt * 3.5 / 2, BY_SCALAR(1e-15, 1e-6, 1e-10));
        CHECK_EQUAL(row(MDYN_ROW_COUPLING, 0).flags, 0);
        CHECK_EQUAL(sim.report.broken, 0);
    }
    sim.tau[0] = real(5);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(sim.report.broken, 1);
    CHECK_EQUAL(row(MDYN_ROW_COUPLING, 0).flags, MDYN_ROW_SATURATED | MDYN_ROW_RELEASED);
    CHECK_NEAR(of_wide(row(MDYN_ROW_COUPLING, 0).force), 2, BY_SCALAR(1e-15, 1e-6, 1e-10));
    double v = of_real(sim.v[1]);
    for (int i = 1; i <= 100; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(row(MDYN_ROW_COUPLING, 0).flags, MDYN_ROW_RELEASED);
        CHECK_NEAR(of_wide(row(MDYN_ROW_COUPLING, 0).impulse), 0, 0);
        CHECK_NEAR(of_real(sim.v[1]), v, 0);
        CHECK_EQUAL(sim.report.broken, 0);
    }
    sim.tau[0] = real(0);
    sim.v[0] = sim.v[1];
    double apart = of_real(sim.q[1]) - of_real(sim.q[0]);
    CHECK(fabs(apart - 0.25) > 0.01);
    CHECK_EQUAL(mdyn_engage(&sim, 0, 1), MDYN_OK);
    for (int i = 0; i < 20; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.v[1]), v, BY_SCALAR(2e-14, 2e-5, 1e-9));
        CHECK_NEAR(of_real(sim.q[1]) - of_real(sim.q[0]), apart, BY_SCALAR(1e-15, 3e-7, 3e-11));
        CHECK_EQUAL(row(MDYN_ROW_COUPLING, 0).flags, 0);
    }
}

/* A hard coupling is released and engaged: the rows that depend on it take over and give back. */
static void test_release(void) {
    const double inertia[] = { 1, 1, 1 };
    double dt = 0x1p-8;
    shafts(3, inertia, dt);
    mdyn_coupling c = MDYN_MIMIC(1, 0, 1, 0), again = MDYN_MIMIC(1, 0, 1, 0),
                  d = MDYN_MIMIC(2, 1, 1, 0);
    couple(c);
    couple(again);
    couple(d);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_WARN_REDUNDANT);
    sim.tau[0] = real(3);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(of_real(sim.v[0]), dt, BY_SCALAR(1e-16, 1e-8, 1e-12));
    CHECK_EQUAL(sim.report.redundant, 1);
    CHECK_EQUAL(mdyn_engage(&sim, 0, 0), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK); /* the other one holds */
    CHECK_NEAR(of_real(sim.v[0]), 2 * dt, BY_SCALAR(1e-16, 1e-8, 1e-12));
    CHECK_NEAR(of_real(sim.v[2]), 2 * dt, BY_SCALAR(1e-16, 1e-8, 1e-12));
    CHECK_EQUAL(sim.report.redundant, 0);
    CHECK_NEAR(share(1, 0), 2, BY_SCALAR(1e-14, 1e-6, 5e-8));
    CHECK_EQUAL(row(MDYN_ROW_COUPLING, 0).flags, MDYN_ROW_RELEASED);
    CHECK_EQUAL(mdyn_engage(&sim, 1, 0), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(of_real(sim.v[0]), 5 * dt, BY_SCALAR(1e-16, 3e-8, 3e-12));
    CHECK_NEAR(of_real(sim.v[1]), 2 * dt, BY_SCALAR(1e-16, 1e-8, 1e-12));
    CHECK_NEAR(of_real(sim.v[2]), 2 * dt, BY_SCALAR(1e-16, 1e-8, 1e-12));
    mdyn_wide lower, upper;
    CHECK_EQUAL(mdyn_range(&sim, 0, &lower, &upper), MDYN_OK);
    double ahead = of_real(sim.q[0]) - of_real(sim.q[1]);
    CHECK(ahead > 1e-6);
    CHECK_EQUAL(mdyn_engage(&sim, 0, 1), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK); /* momentum of 9 dt on three */
    CHECK_NEAR(of_real(sim.v[0]), 4 * dt, BY_SCALAR(1e-16, 3e-8, 1e-10));
    CHECK_NEAR(of_real(sim.v[1]), 4 * dt, BY_SCALAR(1e-16, 3e-8, 1e-10));
    CHECK_NEAR(of_real(sim.q[0]) - of_real(sim.q[1]), ahead, BY_SCALAR(1e-16, 1e-8, 1e-12));
    CHECK_EQUAL(mdyn_engage(&sim, 3, 1), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_engage(&sim, -1, 1), MDYN_ERR_INDEX);
}

/* A range is engaged at its nearest bound, or left alone inside. */
static void test_engage_range(void) {
    const double inertia[] = { 1, 1 };
    shafts(2, inertia, 0x1p-8);
    mdyn_coupling c = MDYN_MIMIC(1, 0, 1, 0);
    c.lower = wide(-0.25);
    c.upper = wide(0.25);
    couple(c);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    sim.q[1] = real(1);
    CHECK_EQUAL(mdyn_engage(&sim, 0, 1), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(of_real(sim.v[1]), 0, BY_SCALAR(1e-15, 1e-6, 1e-10));
    sim.q[1] = real(0.5 + 0.125); /* -0.125 of the range, which reaches from 0.5 to 1 */
    CHECK_EQUAL(mdyn_engage(&sim, 0, 1), MDYN_OK);
    sim.v[1] = real(-64);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(of_real(sim.q[1]) - of_real(sim.q[0]), 0.5, BY_SCALAR(1e-15, 1e-6, 1e-10));
}

/* A free wheel: C' >= 0 drags along one way only. */
static void test_one_way(void) {
    const double inertia[] = { 1, 3 };
    double dt = 0x1p-8;
    for (int kind = 0; kind < 4; kind++) {
        int up = kind % 2, own = kind / 2;
        shafts(2, inertia, dt);
        tie(own, 1, up ? wide(0) : wide(-of_wide(MDYN_UNLIMITED)), up ? MDYN_UNLIMITED : wide(0),
            MDYN_VELOCITY);
        CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
        double sign = up ? 1 : -1;
        sim.tau[0] = real(sign * 8); /* runs free */
        for (int i = 1; i <= 10; i++) {
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            CHECK_NEAR(of_real(sim.v[0]), sign * i * dt * 8, BY_SCALAR(1e-15, 1e-6, 1e-10));
            CHECK_NEAR(of_real(sim.v[1]), 0, 0);
        }
        sim.tau[0] = real(0);
        sim.v[0] = real(0);
        sim.tau[1] = real(sign * 8); /* drags */
        for (int i = 1; i <= 10; i++) {
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            CHECK_NEAR(of_real(sim.v[0]), sign * i * dt * 2, BY_SCALAR(1e-15, 1e-6, 1e-10));
            CHECK_NEAR(of_real(sim.v[1]), sign * i * dt * 2, BY_SCALAR(1e-15, 1e-6, 3e-10));
            CHECK_NEAR(of_wide(row(own ? MDYN_ROW_USER : MDYN_ROW_COUPLING, 0).force), sign * 2,
                       BY_SCALAR(1e-13, 1e-5, 5e-8));
        }
    }
}

/* A wheel on a free body is tied to the body's own turning, v = 3 w. The row pulls at both, against
   the world as well; what it cannot change is the momentum along the way left free, (1, 3): with
   M = (2.5 0.5; 0.5 0.5) this is 4 w + 2 v. */
static void test_floating_base(void) {
    memset(&mech, 0, sizeof mech);
    mech.body[0].parent = MDYN_WORLD;
    mech.body[0].joint = MDYN_FREE;
    mech.body[0].mass = wide(5);
    mech.body[0].inertia.xx = mech.body[0].inertia.yy = mech.body[0].inertia.zz = wide(2);
    mech.body[1].parent = 0;
    mech.body[1].joint = MDYN_REVOLUTE;
    mech.body[1].mass = wide(1);
    mech.body[1].inertia.xx = mech.body[1].inertia.yy = mech.body[1].inertia.zz = wide(0.5);
    mech.model.bodies = mech.body;
    mech.model.body_count = 2;
    mech.model.couplings = mech.coupling;
    mech.model.dt = wide(0x1p-8);
    mdyn_coupling c = MDYN_MIMIC(1, 0, 3, 0); /* wheel on body = 3 times omega_z of the body */
    c.terms[1].axis = 2;
    c.level = MDYN_VELOCITY;
    couple(c);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    int wheel = mdyn_first_dof(&sim, 1);
    sim.v[wheel] = real(7);
    double momentum = 2 * 7;
    for (int i = 0; i < 50; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        double w = of_real(sim.v[2]);
        CHECK_NEAR(of_real(sim.v[wheel]), 3 * w, BY_SCALAR(2e-14, 1e-5, 1e-8));
        CHECK_NEAR(4 * w + 2 * of_real(sim.v[wheel]), momentum, BY_SCALAR(5e-14, 1e-5, 1e-9));
    }
}

/* ---- limits that engage ---- */

/* ArtiSynth's rule: on when outside; off when inside, moving inwards, and on for two steps. */
static void test_engagement(void) {
    static const double q[] = { 0.4, 0.35, 0.29, 0.295, 0.299, 0.302, 0.31,
                                0.29, 0.32, 0.33, 0.34 };
    static const double v[] = { -1, -1, -1, 0.2, 0.2, 0.2, 0.3, -1, 1, 1, 1 };
    static const int on[] = { 0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 0 };
    const double inertia[] = { 1, 1 };
    static const mdyn_row_kind kinds[] = { MDYN_ROW_LIMIT, MDYN_ROW_COUPLING, MDYN_ROW_USER };
    for (int kind = 0; kind < 6; kind++) { /* lower or upper, of each of them */
        int upper = kind % 2;
        mdyn_wide low = wide(upper ? -5 : 0.3), high = wide(upper ? -0.3 : 5);
        shafts(2, inertia, 0x1p-10);
        if (kinds[kind / 2] == MDYN_ROW_LIMIT) {
            mech.body[0].lower = low;
            mech.body[0].upper = high;
        } else {
            tie(kinds[kind / 2] == MDYN_ROW_USER, 1, low, high, MDYN_POSITION);
        }
        mech.model.solver.limits = MDYN_ENGAGED;
        CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
        for (int i = 0; i < 11; i++) {
            sim.q[0] = real(upper ? -q[i] : q[i]);
            sim.v[0] = real(upper ? -v[i] : v[i]);
            sim.q[1] = sim.v[1] = real(0);
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            mdyn_row_report r = row(kinds[kind / 2], 0);
            CHECK_EQUAL(r.flags & (MDYN_ROW_AT_LOWER | MDYN_ROW_AT_UPPER),
                        !on[i] ? 0 : upper ? MDYN_ROW_AT_UPPER : MDYN_ROW_AT_LOWER);
            CHECK(on[i] || of_wide(r.impulse) == 0);
        }
    }
}

/* The rule of (4.32), for random walks of C about a bound of 0.25, given the engagement so far, 0
   to 2 steps: on when C is beyond the bound where it is looked at; off when it is within, moves
   inwards, and has been on for two steps. */
static int engagement_after(int engaged, double inside, double inwards) {
    if (engaged == 2 && inside > 0 && inwards > 0) return 0;
    if (engaged > 0) return 2;
    return inside < 0;
}

/* What a step does to C, by the rule: an engaged row stops C' (4.24), and what lies beyond the
   bound by more than the deadband is set back at once (4.29), so far as C' does not bring it back;
   where it is idle nothing acts. All numbers are short in binary, also where C is at its bound and
   where C' is 0. */
static void test_engagement_walks(void) {
    static const mdyn_row_kind kinds[] = { MDYN_ROW_LIMIT, MDYN_ROW_COUPLING, MDYN_ROW_USER };
    const double inertia[] = { 1, 1 }, dt = 0x1p-10, deadband = 0x1p-6, bound = 0.25;
    int steps_of[3] = { 0 }; /* idle, in the first step, later */
    for (int n = 0; n < 120; n++) {
        const int midpoint = n % 2, kind = n / 2 % 3, upper = n / 6 % 2, sign = upper ? -1 : 1;
        const mdyn_wide low = wide(upper ? -64 : bound), high = wide(upper ? -bound : 64);
        int engaged = 0;
        shafts(2, inertia, dt);
        if (kinds[kind] == MDYN_ROW_LIMIT) {
            mech.body[0].lower = low;
            mech.body[0].upper = high;
        } else {
            tie(kinds[kind] == MDYN_ROW_USER, 1, low, high, MDYN_POSITION);
        }
        mech.model.solver.limits = MDYN_ENGAGED;
        mech.model.solver.deadband = wide(deadband);
        mech.model.solver.method = n / 12 % 2 ? MDYN_DANTZIG : MDYN_PGS;
        mech.model.solver.scheme = midpoint ? MDYN_MIDPOINT : MDYN_EXPLICIT;
        CHECK(but_for_start(mdyn_init(&sim, &mech.model)) >= 0);
        for (int s = 0; s < 40; s++) {
            const double C = bound + 0x1p-7 * (random_int(9) - 5);
            const double rate = (random_int(9) - 4) / 8.0;
            const double force = random_int(9) - 4, half = midpoint ? dt / 2 * rate : 0;
            const double exact = random_int(4) ? C : bound - half; /* where it is looked at */
            const double inside = exact + half - bound, freely = rate + dt * force;
            engaged = engagement_after(engaged, inside, rate);
            steps_of[engaged]++;
            sim.q[0] = real(sign * exact);
            sim.v[0] = real(sign * rate);
            sim.tau[0] = real(sign * force);
            sim.q[1] = sim.v[1] = real(0);
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);

            const mdyn_row_report r = row(kinds[kind], 0);
            const int side = upper ? MDYN_ROW_AT_UPPER : MDYN_ROW_AT_LOWER;
            const double share = kind == 0 ? 0 : 1; /* that the other shaft has in C */
            const double after = sign * (of_real(sim.v[0]) - share * of_real(sim.v[1]));
            const double place = sign * (of_real(sim.q[0]) - share * of_real(sim.q[1]));
            const double wanted = engaged ? fmax(freely, 0) : freely;
            const double back = engaged ? fmax(0, -inside - deadband - dt * wanted) : 0;
            const double drift = midpoint ? dt / 2 * (rate + wanted) : dt * wanted;
            if (!CHECK_EQUAL(r.flags & (MDYN_ROW_AT_LOWER | MDYN_ROW_AT_UPPER),
                             engaged ? side : 0)) {
                CHECK_NOTE("walk %d, step %d: inside %g, rate %g\n", n, s, inside, rate);
            }
            CHECK(engaged || of_wide(r.impulse) == 0);
            CHECK_NEAR(after, wanted, BY_SCALAR(1e-15, 1e-6, 1e-8));
            CHECK_NEAR(place, exact + drift + back, BY_SCALAR(1e-15, 1e-6, 1e-8));
        }
    }
    CHECK(steps_of[0] > 500 && steps_of[1] > 500 && steps_of[2] > 1000);
}

/* With MDYN_EXPLICIT a spring and damper is implicit Euler on -kp C - kd (C' - target): the target
   velocity is that of the damper alone, for a coupling, a user row and a drive; in substeps too,
   for a frequency, and with kp or kd 0. Two shafts apart by C. */
static void test_explicit_spring_target(void) {
    static const double gains[][2] = { { 360, 7 }, { 0, 7 }, { 360, 0 } };
    const double inertia[] = { 2, 0.5 }, mass = 1 / (1 / 2.0 + 1 / 0.5), dt = 0x1p-7, target = 1.5;
    for (int n = 0; n < 24; n++) {
        const int parts = n % 2 ? 4 : 1, kind = n / 2 % 4, drive = kind == 3;
        const double kp = gains[n / 8][0], kd = gains[n / 8][1], h = dt / parts;
        const double per = h / (drive ? inertia[0] : mass);
        double C = 0.25, rate = 0.5;
        mdyn_softness spring = MDYN_SPRING(0, 0);
        spring.a = wide(kp);
        spring.b = wide(kd);
        if (kind == 1 && kp > 0) {
            spring.kind = MDYN_OMEGA_ZETA;
            spring.a = wide(sqrt(kp / mass));
            spring.b = wide(kd / 2 / sqrt(kp * mass));
        }
        shafts(drive ? 1 : 2, inertia, dt);
        if (drive) {
            mech.body[0].drive_kp = wide(kp);
            mech.body[0].drive_kd = wide(kd);
        } else {
            tie(kind == 2, 1, wide(0), wide(0), MDYN_POSITION);
            mech.coupling[0].softness = tie_row.softness = spring;
            mech.coupling[0].target_velocity = tie_row.target_velocity = wide(target);
        }
        mech.model.solver.method = parts > 1 ? MDYN_TGS : MDYN_PGS;
        mech.model.solver.substeps = (uint16_t)(parts > 1 ? parts : 0);
        CHECK(init_explicit(&sim, &mech.model) >= 0);
        sim.q[0] = real(C);
        sim.v[0] = real(rate);
        sim.target_velocity[0] = real(drive ? target : 0);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        for (int k = 0; k < parts; k++) {
            rate = (rate + per * (kd * target - kp * C)) / (1 + per * (h * kp + kd));
            C += h * rate;
        }
        if (!CHECK_NEAR(of_real(sim.v[0]) - (drive ? 0 : of_real(sim.v[1])), rate,
                        BY_SCALAR(1e-13, 1e-5, 5e-7))) {
            CHECK_NOTE("spring %d\n", n);
        }
    }
}

/* A slip clutch between two shafts whose motions are prescribed: its bound, which these bear; none
   where they turn together, also off the clutch's position. */
static void test_driven_clutch(void) {
    const double inertia[] = { 1, 2 }, dt = 0x1p-10, bound = 5;
    for (int n = 0; n < 36; n++) {
        const int level = n % 2, sign = n / 2 % 3 - 1, way = n / 6 % 3;
        mdyn_coupling a = MDYN_PRESCRIBED(0), b = MDYN_PRESCRIBED(1);
        mdyn_coupling clutch = MDYN_MIMIC_WITH(0, 1, 1, 0.25, MDYN_HARD(0.2), 5, NULL);
        shafts(2, inertia, dt);
        clutch.level = level ? MDYN_VELOCITY : MDYN_POSITION;
        couple(a);
        couple(b);
        couple(clutch);
        mech.model.solver.method = way == 0 ? MDYN_PGS : way == 1 ? MDYN_TGS : MDYN_DANTZIG;
        mech.model.solver.start = n / 18 ? MDYN_COLD : MDYN_WARM;
        CHECK(mdyn_init(&sim, &mech.model) >= 0);
        for (int k = 0; k < 20; k++) {
            const double at = (k + 0.5) * dt, faster = 1 + sign;
            CHECK_EQUAL(mdyn_set_coupling_target(&sim, 0, real(at), real(1)), MDYN_OK);
            CHECK_EQUAL(mdyn_set_coupling_target(&sim, 1, real(faster * at), real(faster)),
                        MDYN_OK);
            CHECK(mdyn_step(&sim) >= 0);
        }
        CHECK_NEAR(share(2, 0), sign * bound, BY_SCALAR(1e-12, 1e-5, 1e-7));
        CHECK_NEAR(share(0, 0), -sign * bound, BY_SCALAR(1e-12, 1e-5, 1e-6));
        CHECK_NEAR(share(1, 0), sign * bound, BY_SCALAR(1e-12, 1e-5, 1e-6));
        CHECK_EQUAL(row(MDYN_ROW_COUPLING, 2).flags & MDYN_ROW_SATURATED,
                    sign ? MDYN_ROW_SATURATED : 0);
    }
}

/* What lies outside by more than the deadband is moved back at once, and leaves no speed; in the
   metric of the masses: two shafts tied by 2 : 1 share the way by their inertias. */
static void test_deadband(void) {
    const double inertia[] = { 2, 1 };
    for (int kind = 0; kind < 6; kind++) {
        int k = kind % 3;
        double deadband = k == 0 ? 0 : k == 1 ? 0.015625 : 0.5, out = 0.0625;
        shafts(2, inertia, 0x1p-10);
        tie(kind / 3, 2, wide(0), MDYN_UNLIMITED, MDYN_POSITION);
        mech.model.solver.limits = MDYN_ENGAGED;
        mech.model.solver.deadband = wide(deadband);
        CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
        sim.q[0] = real(-out);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        double back = fmax(0, out - deadband), r = 0.5 + 4;
        CHECK_NEAR(of_real(sim.q[0]), -out + back * 0.5 / r, BY_SCALAR(1e-16, 1e-8, 2e-10));
        CHECK_NEAR(of_real(sim.q[1]), -2 * back / r, BY_SCALAR(1e-16, 1e-8, 5e-10));
        CHECK_NEAR(of_real(sim.v[0]), 0, BY_SCALAR(1e-14, 1e-6, 1e-10));
        CHECK_NEAR(of_real(sim.v[1]), 0, BY_SCALAR(1e-14, 1e-6, 1e-10));
    }
}

/* A shaft against its stop: it goes in by no more than a step's way, is set back, and then stands
   there, engaged in every step and by the same force. The bound is one that no state meets. */
static void test_engaged_stop(void) {
    const double inertia[] = { 0.7 };
    double dt = 0x1p-10, deepest = 0, stop = 0.4, push = 3.1;
    shafts(1, inertia, dt);
    mech.body[0].lower = wide(-1);
    mech.body[0].upper = wide(stop);
    mech.model.solver.limits = MDYN_ENGAGED;
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    sim.tau[0] = real(push);
    for (int i = 0; i < 2000; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        deepest = worse(deepest, of_real(sim.q[0]) - stop);
        if (i < 600) {
            continue;
        }
        CHECK_EQUAL(row(MDYN_ROW_LIMIT, 0).flags & MDYN_ROW_AT_UPPER, MDYN_ROW_AT_UPPER);
        CHECK_NEAR(of_real(sim.q[0]), stop, BY_SCALAR(1e-15, 3e-8, 1e-11));
        CHECK_NEAR(of_real(sim.v[0]), 0, BY_SCALAR(1e-17, 1e-9, 3e-11));
        CHECK_NEAR(of_wide(row(MDYN_ROW_LIMIT, 0).force), -push, BY_SCALAR(1e-15, 1e-6, 3e-8));
    }
    CHECK(deepest > 0 && deepest < dt * sqrt(2 * push / 0.7 * stop) * 1.01);
    sim.tau[0] = real(-push); /* and leaves it when it is pulled away */
    for (int i = 0; i < 4; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    CHECK_EQUAL(row(MDYN_ROW_LIMIT, 0).flags, 0);
    CHECK_NEAR(of_real(sim.v[0]), -4 * push / 0.7 * dt, BY_SCALAR(1e-16, 1e-8, 5e-10));
}

static void test_nearest_angle(void) {
    double turn = 6.283185307179586;
    for (int k = 0; k < 2000; k++) {
        double reference = random_in(-1000, 1000), angle = random_in(-1000, 1000);
        reference = of_real(real(reference));
        angle = of_real(real(angle));
        double got = of_real(mdyn_nearest_angle(real(angle), real(reference)));
        double turns = (angle - got) / turn;
        CHECK(fabs(got - reference) <= turn / 2 + BY_SCALAR(1e-11, 3e-4, 3e-4));
        CHECK_NEAR(turns, floor(turns + 0.5), BY_SCALAR(1e-13, 3e-5, 2e-7));
    }
}

/* ---- other couplings in their places ---- */

/* Three rotors of 1 kg m^2, q_0 = q_1 held by the first coupling, q_1 = q_2 by the last. The second
   one, q_0 = 2 q_1, becomes another q_0 = q_1: all three turn with a third of 1 N m. */
static void test_dependent_ratio(void) {
    const double inertia[] = { 1, 1, 1 };
    mdyn_wide a[3];
    shafts(3, inertia, 0x1p-10);
    mdyn_coupling first = MDYN_MIMIC(0, 1, 1, 0), second = MDYN_MIMIC(0, 1, 2, 0);
    mdyn_coupling last = MDYN_MIMIC(1, 2, 1, 0);
    couple(first);
    couple(second);
    couple(last);
    CHECK(init_explicit(&sim, &mech.model) >= 0);
    CHECK_EQUAL(mdyn_set_coupling(&sim, 1, &first), MDYN_WARN_REDUNDANT);
    CHECK_EQUAL(sim.culprit.index, 1);
    sim.tau[0] = real(1);
    CHECK_EQUAL(mdyn_constrained_dynamics(&sim, a), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(of_wide(a[i]), 1.0 / 3, BY_SCALAR(1e-15, 2e-7, 4e-9));
        CHECK_NEAR(of_real(sim.v[i]) * 0x1p10, 1.0 / 3, BY_SCALAR(1e-15, 2e-7, 3e-9));
    }
}

/* A range with a loss, once loaded, leaves nothing in a step in which it is idle: after a reset
   that is the first step of a sim, bit for bit. In fixed point the loss took the targets that the
   range had then into the exponent of the solve. */
static void test_idle_range(void) {
    const double inertia[] = { 0.02, 0.05, 0.3 };
    static mdyn_sim fresh;
    for (int n = 1; n <= 20; n++) {
        shafts(3, inertia, 0x1p-10);
        mdyn_coupling spring = MDYN_MIMIC(1, 0, 0.3, 0), range = MDYN_MIMIC(2, 1, 0.7, 0);
        spring.softness.kind = MDYN_KP_KD;
        spring.softness.a = spring.softness.b = wide(0.1);
        range.lower = wide(-1);
        range.upper = wide(1);
        range.efficiency = wide(0.5);
        couple(spring);
        couple(range);
        CHECK_EQUAL(mdyn_init(&fresh, &mech.model), MDYN_OK);
        sim = fresh;
        sim.q[2] = real(1.5);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_reset(&sim), MDYN_OK);
        for (int k = 0; k < 3; k++) fresh.v[k] = real(0.37 * n * (k - 1));
        copy_inputs(&sim, &fresh);
        steps_agree(&sim, &fresh, 2);
    }
}

/* A coupling that has lost its efficiency has no loss either: 1 N m turns two shafts of 1 kg m^2
   with 1/2 rad/s^2. With 0.5 the loss takes 2 (1 - e)/(1 + e) of the force along C'. */
static void test_loss_ends(void) {
    const double inertia[] = { 1, 1 };
    double dt = 0x1p-10;
    shafts(2, inertia, dt);
    mdyn_coupling c = MDYN_MIMIC(0, 1, -1, 0);
    couple(c)->efficiency = wide(0.5);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    sim.tau[0] = real(1);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK(of_wide(row(MDYN_ROW_LOSS, 0).impulse) != 0);
    double lossy = of_real(sim.v[0]) / dt; /* J_0 + J_1/e */
    CHECK_NEAR(lossy, 1.0 / 3, BY_SCALAR(1e-14, 1e-6, 1e-7));
    CHECK_EQUAL(mdyn_set_coupling(&sim, 0, &c), MDYN_OK);
    sim.v[0] = sim.v[1] = real(0);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(of_real(sim.v[0]) / dt, 0.5, BY_SCALAR(1e-14, 1e-6, 1e-7));
    CHECK_NEAR(of_real(sim.v[1]) / dt, -0.5, BY_SCALAR(1e-14, 1e-6, 1e-7));
    CHECK(of_wide(row(MDYN_ROW_LOSS, 0).impulse) == 0);
}

/* A hinge that closes a plane mechanism has rows too many: no warning of the couplings. */
static void test_closures_are_no_couplings(void) {
    static mdyn_closure hinge;
    const double inertia[] = { 1, 1, 1 };
    shafts(3, inertia, 0x1p-10);
    mdyn_coupling c = MDYN_MIMIC(0, 2, 1, 0);
    couple(c);
    memset(&hinge, 0, sizeof hinge);
    hinge.kind = MDYN_CLOSE_HINGE;
    hinge.b = 1;
    mech.model.closures = &hinge;
    mech.model.closure_count = 1;
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(mdyn_engage(&sim, 0, 0), MDYN_OK);
    CHECK_EQUAL(mdyn_engage(&sim, 0, 1), MDYN_OK);
}

/* Followers take the wanted speed of a step: `speed` and, of speeds, the bounds. */
static void test_followers_speed(void) {
    const double inertia[] = { 1, 1 };
    for (int metric = MDYN_MASS_METRIC; metric <= MDYN_FOLLOWERS; metric++) {
        shafts(2, inertia, 0x1p-10);
        mdyn_coupling c = MDYN_MIMIC(0, 1, 1, 0);
        c.level = MDYN_VELOCITY;
        c.lower = c.upper = wide(2);
        c.target_velocity = wide(0.5);
        couple(c);
        CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
        CHECK_EQUAL(mdyn_project(&sim, (mdyn_metric)metric), MDYN_OK);
        CHECK_NEAR(of_real(sim.v[0]) - of_real(sim.v[1]), 2.5, BY_SCALAR(1e-15, 1e-6, 1e-11));
    }
}

/* A coupling that breaks when it is overloaded: in a step whose first substeps alone overload it;
   not while the one that it follows has no force. */
static void test_break_in_substeps(void) {
    const double inertia[] = { 1, 1 };
    shafts(2, inertia, 0x1p-6);
    mdyn_coupling c = MDYN_MIMIC(0, 1, 1, 0);
    c.level = MDYN_VELOCITY;
    c.effort = wide(100);
    c.breaks = 1;
    couple(c);
    mech.model.solver.method = MDYN_TGS;
    mech.model.solver.substeps = 8;
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    sim.v[0] = real(1); /* 0.5 N m s, of which a substep takes 100/512 */
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(of_real(sim.v[0]), 0.5, BY_SCALAR(1e-14, 1e-6, 1e-8));
    CHECK_EQUAL(sim.report.broken, 1);
    CHECK(row(MDYN_ROW_COUPLING, 0).flags & MDYN_ROW_SATURATED);

    shafts(2, inertia, 0x1p-6);
    c.effort = wide(0);
    c.mu = wide(0.5);
    c.mu_of = 1;
    couple(c);
    mdyn_coupling leader = MDYN_MIMIC(0, 1, 1, 0);
    leader.lower = wide(-1);
    leader.upper = wide(1);
    couple(leader);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(sim.report.broken, 0);
}

/* How a spring is spread over the step depends on how many others act with it. One that has broken
   does not: the step is that of a sim in which it was released. */
static void test_springs_after_a_break(void) {
    static mdyn_sim other;
    const double inertia[] = { 1, 1 };
    shafts(2, inertia, 0.01);
    mdyn_coupling *weak = couple(mimic_of(1, 0, 1, 0));
    weak->softness = (mdyn_softness)MDYN_SPRING(100, 0);
    weak->effort = wide(0.1);
    weak->breaks = 1;
    mdyn_coupling *strong = couple(mimic_of(0, 1, 0, 0));
    strong->softness = (mdyn_softness)MDYN_SPRING(4000, 0);
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    sim.q[0] = real(0.25);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(sim.report.broken, 1);
    CHECK_EQUAL(mdyn_reset(&sim), MDYN_OK);

    CHECK_EQUAL(mdyn_init(&other, &mech.model), MDYN_OK);
    CHECK_EQUAL(mdyn_engage(&other, 0, MDYN_RELEASE), MDYN_OK);
    for (int i = 0; i < 2; i++) {
        other.q[i] = sim.q[i];
        other.v[i] = sim.v[i];
    }
    for (int step = 0; step < 5; step++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&other), MDYN_OK);
        for (int i = 0; i < 2; i++) {
            CHECK_NEAR(of_real(sim.v[i]), of_real(other.v[i]), 0);
        }
    }
}

/* A coupling of 2 N m and mu 0.5 on the force F of another, pulled by 5 N m: of F = 3 it slips at
   1.5 N m and holds, of F = 8 it breaks at 2 N m. Without effort it slips at 4 N m. */
static void test_break_beside_mu(void) {
    const double inertia[] = { 1, 1, 1, 1 };
    for (int k = 0; k < 3; k++) {
        shafts(4, inertia, 0x1p-10);
        mdyn_coupling c = MDYN_MIMIC(0, 1, 1, 0), leader = MDYN_MIMIC(2, 3, 1, 0);
        leader.level = c.level = MDYN_VELOCITY;
        c.effort = wide(k < 2 ? 2 : 0);
        c.mu = wide(0.5);
        c.mu_of = 1;
        c.breaks = 1;
        couple(c);
        couple(leader);
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        sim.tau[2] = real(k > 0 ? 16 : 6);
        sim.tau[0] = real(10);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(sim.report.broken, k == 1);
        CHECK_NEAR(of_wide(row(MDYN_ROW_COUPLING, 0).force), k == 0 ? -1.5 : k == 1 ? -2 : -4,
                   BY_SCALAR(1e-13, 2e-6, 1e-7));
        CHECK_EQUAL(row(MDYN_ROW_COUPLING, 0).flags,
                    MDYN_ROW_SATURATED + (k == 1 ? MDYN_ROW_RELEASED : 0));
    }
}

/* ODE's CFM is the compliance of a force along C' times dt: a mass under 3 N on a row of CFM 0.01
   and ERP 0 sinks with 0.03 m/s, in substeps too. */
static void test_ode_softness(void) {
    const double inertia[] = { 0.5 };
    char text[120];
    for (int parts = 1; parts <= 8; parts += 7) {
        shafts(1, inertia, 0x1p-7);
        mdyn_coupling c = MDYN_MIMIC(0, 0, 0, 0);
        mdyn_softness ode = MDYN_ODE(0, 0.01);
        c.softness = ode;
        couple(c);
        mech.model.solver.method = parts > 1 ? MDYN_TGS : MDYN_PGS;
        mech.model.solver.substeps = (uint16_t)parts;
        CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
        sim.tau[0] = real(3);
        for (int i = 0; i < 100; i++) {
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        }
        CHECK_NEAR(of_real(sim.v[0]), 0.03, BY_SCALAR(1e-15, 1e-8, 1e-9));
        CHECK_NEAR(of_wide(row(MDYN_ROW_COUPLING, 0).force), -3, BY_SCALAR(1e-12, 1e-5, 1e-7));
        CHECK_EQUAL(mdyn_explain(&sim, MDYN_ROW_COUPLING, 0, text, 120), MDYN_OK);
        CHECK(strstr(text, "soft, erp 0, ODE CFM 0.01") != NULL);
    }
}

/* Forces that leave the range of results are an error, and nothing is written. */
static void test_reports_overflow(void) {
    const double inertia[] = { 1e15 };
    mdyn_row_report r;
    mdyn_wide force = wide(7);
    shafts(1, inertia, 1e-9);
    mdyn_coupling c = MDYN_MIMIC(0, 0, 0, 0);
    c.terms[0].coefficient = wide(1e-9);
    c.level = MDYN_VELOCITY;
    couple(c);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    sim.v[0] = real(8e6);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    memset(&r, 0xA5, sizeof r);
    mdyn_row_report before = r;
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &r), MDYN_ERR_RESULT); /* 8e39 N m */
    CHECK(memcmp(&r, &before, sizeof r) == 0);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 0, &force), MDYN_ERR_RESULT); /* 8e30 N m */
    CHECK(of_wide(force) == 7);
}

/* ---- energy ---- */

static double kinetic(const double *v, const mdyn_wide *M, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            sum += v[i] * of_wide(M[i * n + j]) * v[j] / 2;
        }
    }
    return sum;
}

static int one_joint(int single) {
    int body = random_int(mech.model.body_count);
    for (int tries = 0; tries < 20 && single && t.dofs_of[body] != 1; tries++) {
        body = random_int(mech.model.body_count);
    }
    return single && t.dofs_of[body] != 1 ? -1 : body;
}

/* A row that is passive: no target, no speed, no spring. */
static void random_passive_row(int kind) {
    int a = one_joint(1), b = one_joint(1), i = mech.model.coupling_count;
    if (a < 0 || b < 0 || a == b || i == COUPLINGS) {
        return;
    }
    if (kind == 0) {
        mech.body[a].friction = wide(random_in(0, 20));
    } else if (kind == 1) {
        mech.body[a].lower = wide(random_in(-1, 0));
        mech.body[a].upper = wide(random_in(0.01, 1));
    } else if (kind == 2) {
        mech.body[a].drive_kd = wide(random_in(0, 20));
        mech.body[a].effort = wide(random_int(2) ? random_in(1, 20) : 0);
    } else {
        mdyn_coupling blank = MDYN_MIMIC(0, 0, 0, 0), *c = couple(blank);
        c->terms[0].body = (int16_t)a;
        c->terms[1].body = (int16_t)b;
        c->terms[1].coefficient = wide(random_in(-2, 2));
        c->effort = wide(random_int(2) ? random_in(0.1, 20) : 0);
        c->offset = wide(random_in(-0.5, 0.5));
        if (kind == 4) {
            c->lower = wide(random_in(-0.5, 0));
            c->upper = wide(random_in(0.1, 0.5));
        } else if (kind == 5) {
            c->efficiency = wide(random_in(0.2, 1));
        } else if (kind == 6) {
            c->level = MDYN_VELOCITY;
            c->upper = MDYN_UNLIMITED;
        } else if (kind == 7 && i > 0) {
            c->level = MDYN_VELOCITY;
            c->mu = wide(random_in(0, 2));
            c->mu_of = (int16_t)random_int(i);
        } else if (kind == 8) {
            c->softness.kind = MDYN_KP_KD; /* a damper */
            c->softness.b = wide(random_in(0.1, 20));
        } else if (kind == 9) {
            c->breaks = 1;
        }
    }
}

#define REST 1e-12 /* J, beside which rounding does not count */

/* What a step leaves of the energy of its free motion. */
static double energy_left(void) {
    static mdyn_wide M[TN * TN], a[TN];
    double free[TN], v[TN];
    int n = mdyn_dofs(&sim);
    CHECK_EQUAL(mdyn_mass_matrix(&sim, M), MDYN_OK);
    CHECK_EQUAL(mdyn_forward_dynamics(&sim, a), MDYN_OK);
    for (int i = 0; i < n; i++) {
        free[i] = of_real(sim.v[i]) + of_wide(mech.model.dt) * of_wide(a[i]);
    }
    int code = mdyn_step(&sim);
    CHECK(code == MDYN_OK || code == MDYN_WARN_NOT_CONVERGED
          || (mech.model.solver.method == MDYN_DANTZIG && code == MDYN_WARN_NO_SOLUTION));
    for (int i = 0; i < n; i++) {
        v[i] = of_real(sim.v[i]);
    }
    return (kinetic(v, M, n) + REST) / (kinetic(free, M, n) + REST);
}

/* A random mechanism with passive rows of one kind, or of all; k counts the ways to solve it. */
static int passive_mechanism(int k, mdyn_method method, int iterations) {
    int kind = k % 11;
    mechanism_random(&mech, 3 + random_int(4), DOFS, random_int(32) | ARMATURES);
    for (int i = 0; method == MDYN_TGS && i < mech.model.body_count; i++) {
        mech.body[i].joint = MDYN_PRISMATIC;
        mech.body[i].armature = wide(0.01);
    }
    if (method == MDYN_TGS) {
        memset(&mech.model.gravity, 0, sizeof mech.model.gravity);
    }
    truth_init(&t, &mech.model);
    for (int i = 0; i < 6; i++) {
        random_passive_row(kind < 10 ? kind : 3 + random_int(7));
    }
    mech.model.solver.method = method;
    mech.model.solver.substeps = (uint16_t)(method == MDYN_TGS ? 2 + k % 7 : 1);
    mech.model.solver.correction = MDYN_RELAX;
    mech.model.solver.limits = k % 2 ? MDYN_ENGAGED : MDYN_SPECULATIVE;
    mech.model.solver.equality = k % 4 < 2 ? MDYN_EXACT : MDYN_ITERATED;
    mech.model.solver.iterations = (uint16_t)iterations;
    mech.model.solver.deadband = wide(k % 3 ? 0 : 0.05);
    CHECK(init_explicit(&sim, &mech.model) >= 0);
    sim_random(&sim, &mech.model, 3, method == MDYN_TGS ? 0 : 20);
    for (int i = 0; i < mdyn_dofs(&sim); i++) {
        sim.target[i] = sim.target_velocity[i] = real(0);
        sim.tau[i] = kind == 2 ? real(0) : sim.tau[i]; /* which an effort would hold back */
    }
    return kind;
}

/* Rows without targets take energy or leave it, wherever the joints are: what they do to the free
   motion of a step never adds to its energy, whatever is outside its range or off its coupling.
   With MDYN_RELAX and engaged limits; converged, and with few iterations that begin where the last
   step ended, the joints being thrown back after four. Substeps are asked of slides, whose M is
   constant and whose free motion keeps its speeds, so that each part of a step may only take.
   Friction that follows a row which it presses on may jam: many iterations then go round, and
   report.residual says so. */
static void rows_are_passive(mdyn_method method) {
    int jammed = 0, taken = 0;
    for (int k = 0; k < 400; k++) {
        for (int few = 0; few < 2; few++) {
            int kind = passive_mechanism(k, method, few ? 1 + k % 5 : 2000);
            for (int step = 0; step < (few ? 8 : 1); step++) {
                for (int i = 0; step == 4 && i < mdyn_dofs(&sim); i++) {
                    sim.v[i] = -sim.v[i];
                }
                double left = energy_left();
                if (!few && of_wide(sim.report.residual) > 0.01) {
                    jammed++;
                    continue;
                }
                if (!CHECK(left <= 1 + BY_SCALAR(1e-9, 1e-4, few ? 3e-5 : 1e-6))) {
                    CHECK_NOTE("method %d, mechanism %d, kind %d, few %d, step %d: %g is left\n",
                               method, k, kind, few, step, left);
                }
                taken += !few && left < 0.9;
            }
        }
    }
    CHECK(jammed <= 4 && taken > 50);
}

static void test_rows_are_passive(void) {
    rows_are_passive(MDYN_PGS);
    rows_are_passive(MDYN_TGS);
    rows_are_passive(MDYN_DANTZIG);
}

/* ---- stiff rows beside inequalities ---- */

enum stop { STOP_LIMIT, STOP_RANGE, STOP_CONTACT, STOP_FRICTION, STOPS };

/* A slide of 1 kg that may go to 0.5 m, and a follower of `ratio` kg through a row; 0: none. */
static void stopped_slide(enum stop stop, double ratio) {
    shafts(ratio > 0 ? 2 : 1, (double[]){ 1, 1 }, 0.1);
    for (int i = 0; i < mech.model.body_count; i++) {
        memset(&mech.body[i].inertia, 0, sizeof mech.body[i].inertia);
        mech.body[i].joint = MDYN_PRISMATIC;
        mech.body[i].axis = wide3(1, 0, 0);
        mech.body[i].mass = wide(i == 0 ? 1 : ratio);
    }
    if (ratio > 0) {
        couple(mimic_of(1, 0, 1, 0))->softness = (mdyn_softness)MDYN_HARD(0.2);
    }
    if (stop == STOP_RANGE) {
        mdyn_coupling *c = couple(mimic_of(0, 0, 0, 0));
        c->terms[1].coefficient = wide(0);
        c->lower = wide(-0.5);
        c->upper = wide(0.5);
    } else if (stop != STOP_CONTACT) {
        mech.body[0].lower = wide(-0.5);
        mech.body[0].upper = wide(0.5);
    }
    if (stop == STOP_FRICTION) {
        mech.body[0].friction = wide(5);
    }
}

/* How far the slide goes beyond its stop before a code tells; -1: a code has told. *in_all: how far
   in all steps. */
static double passed_stop(enum stop stop, double *in_all) {
    double most = -1e30;
    int told = 0, code = mdyn_init(&sim, &mech.model);
    *in_all = most;
    CHECK_EQUAL(code, MDYN_OK);
    sim.target[mech.model.body_count - 1] = real(1);
    for (int step = 0; step < 40; step++) {
        if (stop == STOP_CONTACT) {
            mdyn_contact c;
            memset(&c, 0, sizeof c);
            c.b = MDYN_WORLD;
            c.point.x = real(0.5);
            c.normal.x = real(-1);
            c.depth = real(of_real(sim.q[0]) - 0.5);
            CHECK_EQUAL(mdyn_set_contacts(&sim, &c, 1), MDYN_OK);
        }
        code = mdyn_step(&sim);
        CHECK(told || code == MDYN_OK || code == MDYN_WARN_NOT_CONVERGED
              || code == MDYN_WARN_DIGITS);
        told |= code != MDYN_OK;
        *in_all = fmax(*in_all, of_real(sim.q[0]) - 0.5);
        if (!told) most = *in_all;
    }
    return told && most <= 0 ? -1 : most;
}

/* A drive or a spring of any stiffness gives way to a stop: one that was as stiff as rounding made
   the limit redundant, and the joint went through it with MDYN_OK. */
static void test_stiff_rows_yield(void) {
    TOLERANCE(tolerance, 1e-9, 1e-5, 1e-4);
    for (int k = 0; k < 2 * 2 * 3 * STOPS; k++) {
        const enum stop stop = (enum stop)(k / 12);
        const int is_spring = k & 1, scheme = k >> 1 & 1;
        for (int e = 4; e <= 15; e++) {
            stopped_slide(stop, 0);
            mech.model.solver.method = (mdyn_method)(k / 4 % 3);
            mech.model.solver.scheme = (mdyn_scheme)scheme;
            if (is_spring) {
                mdyn_coupling *c = couple(mimic_of(0, 0, 0, -1));
                c->terms[1].coefficient = wide(0);
                c->offset = wide(-1);
                c->softness = (mdyn_softness)MDYN_SPRING(0, 0);
                c->softness.a = wide(pow(10, e));
            } else {
                mech.body[0].drive_kp = wide(pow(10, e));
            }
            double in_all;
            const double passed = passed_stop(stop, &in_all);
            /* contacts are rounded more: a code may tell, and in F32 they do not hold then */
            const double least = stop == STOP_CONTACT ? -2 : BY_SCALAR(-tolerance, -tolerance, -2);
            const int lets_pass = stop == STOP_CONTACT && EXPECT_SCALAR == MDYN_SCALAR_F32;
            if (!CHECK(passed < tolerance && passed >= least)
                || !CHECK(lets_pass || in_all < BY_SCALAR(1e-9, 1e-5, 2e-3))) {
                CHECK_NOTE("stop %d, spring %d, method %d, scheme %d, 1e%d: passed by %g\n", stop,
                           is_spring, k / 4 % 3, scheme, e, in_all);
            }
        }
    }
}

/* Through a row to a light or a heavy joint, with an effort that bounds nothing or without, the
   slide stops or a code tells. */
static void test_stiff_rows_tell(void) {
    static const double ratio[] = { 0, 1, 10, 1e2, 1e4, 1e6, 1e-2, 1e-4 };
    const int ratios = (int)(sizeof ratio / sizeof *ratio);
    for (int k = 0; k < ratios * STOPS * 8; k++) {
        const enum stop stop = (enum stop)(k / 8 % STOPS);
        const int iterated = k & 1, bounded = k >> 1 & 1, scheme = k >> 2 & 1, i = k / 8 / STOPS;
        for (int e = 4; e <= 15; e += TEST_SANITIZED ? 3 : 1) {
            stopped_slide(stop, ratio[i]);
            mdyn_body *driven = &mech.body[mech.model.body_count - 1];
            mech.model.solver.equality = iterated ? MDYN_ITERATED : MDYN_EXACT;
            mech.model.solver.scheme = (mdyn_scheme)scheme;
            driven->drive_kp = wide(pow(10, e));
            driven->effort = wide(bounded ? 1e15 : 0);
            double in_all;
            const double passed = passed_stop(stop, &in_all);
            if (!CHECK(passed < BY_SCALAR(1e-3, 2e-3, 2e-3))) {
                CHECK_NOTE("stop %d, ratio %g, iterated %d, bounded %d, scheme %d, 1e%d: passed by "
                           "%g\n", stop, ratio[i], iterated, bounded, scheme, e, passed);
            }
        }
    }
}

/* A slide at its stop that a force pulls away from it, and one on it that comes back into its own
   range, by 1/5 in a step, and pushes the first one back: neither is beyond its stop at the end of
   a step, where q is not where the middle of the next one is. `sign` mirrors them. */
static void test_stops_hold_at_the_end(void) {
    TOLERANCE(tolerance, 1e-15, 5e-8, 2e-9);
    for (int n = 0; n < 2 * 2 * 2; n++) {
        const double sign = n & 1 ? -1 : 1, force = n & 2 ? 100 : 4;
        double beyond = 0.1;
        shafts(2, (double[]){ 1, 1 }, 0.01);
        for (int i = 0; i < 2; i++) {
            memset(&mech.body[i].inertia, 0, sizeof mech.body[i].inertia);
            mech.body[i].parent = (int16_t)(i - 1);
            mech.body[i].joint = MDYN_PRISMATIC;
            mech.body[i].axis = wide3(1, 0, 0);
            mech.body[i].mass = wide(1);
            *(sign > 0 ? &mech.body[i].lower : &mech.body[i].upper) = wide(-10 * sign);
        }
        if (n & 4) { /* the first one by a range of a coupling */
            mdyn_coupling *c = couple(mimic_of(0, 0, 0, 0));
            c->terms[1].coefficient = wide(0);
            c->lower = mech.body[0].lower;
            c->upper = mech.body[0].upper;
            mech.body[0].lower = mech.body[0].upper = wide(0);
        }
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        sim.q[1] = real(sign * beyond);
        sim.tau[0] = real(-sign * force);
        for (int step = 1; step <= 20; step++) {
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            beyond *= 0.8;
            const double end = sign * of_real(sim.q[0]), v = -force / 2 * 0.01 * step;
            if (!CHECK(end < tolerance && end > -force / 4 * pow(0.01 * step, 2) - tolerance)) {
                CHECK_NOTE("sign %g, force %g, range %d, step %d: %g\n", sign, force, n >> 2, step,
                           end);
            }
            CHECK_NEAR(sign * of_real(sim.q[1]), beyond, BY_SCALAR(1e-15, 1e-8, 1e-9));
            CHECK_NEAR(sign * of_real(sim.v[0]), v, BY_SCALAR(1e-13, 1e-5, 1e-7));
        }
    }
}

/* The same of the correction of an exact row: two slides that a row ties, 0.1 m apart, move away
   from the stop of the first one at 0.5 m/s, and gain as much in a step. A fifth of what they are
   apart is corrected, where there was no stop by 0.01 m of each: 0.0025 m beyond it. The middle of
   the next step is not. So the first one gets to its stop, the second one does the rest. */
static void test_exact_rows_stop_at_the_end(void) {
    TOLERANCE(tolerance, 1e-15, 5e-8, 2e-9);
    for (int n = 0; n < 2; n++) {
        const double sign = n ? -1 : 1;
        shafts(2, (double[]){ 1, 1 }, 0.01);
        for (int i = 0; i < 2; i++) {
            memset(&mech.body[i].inertia, 0, sizeof mech.body[i].inertia);
            mech.body[i].joint = MDYN_PRISMATIC;
            mech.body[i].axis = wide3(1, 0, 0);
            mech.body[i].mass = wide(1);
        }
        *(sign > 0 ? &mech.body[0].lower : &mech.body[0].upper) = wide(-10 * sign);
        couple(mimic_of(1, 0, 1, 0))->softness = (mdyn_softness)MDYN_HARD(0.2);
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        sim.q[1] = real(sign * 0.1);
        for (int i = 0; i < 2; i++) {
            sim.v[i] = real(-sign * 0.5);
            sim.tau[i] = real(-sign * 50);
        }
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.q[0]), 0, tolerance);
        CHECK_NEAR(sign * of_real(sim.q[1]), 0.08, tolerance);
        CHECK_NEAR(sign * of_real(sim.v[0]), -1, BY_SCALAR(1e-15, 2e-7, 2e-9));
        CHECK_NEAR(sign * of_real(sim.v[1]), -1, BY_SCALAR(1e-15, 2e-7, 2e-9));
    }
}

/* Of three slides that leave their stops while a row brings all of them towards those, two would be
   beyond theirs at the end of a step, one when the row has been corrected, the other when all rows
   have been solved again to hold the first: both are held. */
static void test_two_stops_hold_at_the_end(void) {
    TOLERANCE(tolerance, 1e-15, 5e-8, 2e-9);
    for (int n = 0; n < 2; n++) {
        const double sign = n ? -1 : 1, stop[3] = { 0, 0.002, 0 }, v[3] = { -1.9, -1.2, -0.8 };
        mdyn_coupling blank = MDYN_MIMIC(0, 1, 1, 0), *c;
        shafts(3, (double[]){ 1, 1, 1 }, 0.001);
        for (int i = 0; i < 3; i++) {
            memset(&mech.body[i].inertia, 0, sizeof mech.body[i].inertia);
            mech.body[i].joint = MDYN_PRISMATIC;
            mech.body[i].axis = wide3(1, 0, 0);
            mech.body[i].mass = wide(i ? 4 : 2);
            mech.body[i].lower = wide(sign > 0 ? -1 : -stop[i]);
            mech.body[i].upper = wide(sign > 0 ? stop[i] : 1);
        }
        c = couple(blank);
        c->terms[2].body = 2;
        c->terms[2].coefficient = wide(1);
        c->offset = wide(-0.008 * sign);
        c->softness = (mdyn_softness)MDYN_HARD(0.5);
        CHECK(mdyn_init(&sim, &mech.model) > 0); /* the row is off at the start */
        for (int i = 0; i < 3; i++) sim.v[i] = real(sign * v[i]);
        for (int step = 0; step < 20; step++) {
            double error = -0.008;
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            for (int i = 0; i < 3; i++) {
                const double q = sign * of_real(sim.q[i]);
                CHECK(q < stop[i] + tolerance);
                error += i == 1 ? -q : q;
            }
            /* C' is -1.5 at the start, up to the middle of the first step */
            CHECK_NEAR(error, -0.00875 * pow(0.5, step + 1), BY_SCALAR(1e-14, 1e-7, 1e-9));
        }
    }
}

/* A stop without a force tells of none, though it had one in an earlier step: a shaft pressed on
   its stop is put back from it, and its row, which takes no part, is looked at, because a
   correction moves the shaft towards the stop faster than v' takes it away. */
static void test_stop_forgets_its_force(void) {
    for (int n = 0; n < 2; n++) {
        const double sign = n ? -1 : 1;
        mdyn_row_report stop;
        shafts(2, (double[]){ 1, 1 }, 0.01);
        *(sign > 0 ? &mech.body[0].lower : &mech.body[0].upper) = wide(-10 * sign);
        couple(mimic_of(1, 0, 1, 0))->softness = (mdyn_softness)MDYN_HARD(0.2);
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        sim.tau[0] = real(sign * 100);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_LIMIT, 0, &stop), MDYN_OK);
        CHECK_NEAR(sign * of_wide(stop.force), -100, 1e-3);

        CHECK_EQUAL(mdyn_reset(&sim), MDYN_OK);
        for (int i = 0; i < 2; i++) {
            sim.q[i] = real(-sign * (i ? 0.9 : 1));
            sim.v[i] = real(-sign * 0.01);
            sim.tau[i] = real(0);
        }
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_LIMIT, 0, &stop), MDYN_OK);
        CHECK_NEAR(of_wide(stop.impulse), 0, 0);
    }
}

static double coupling_impulse(int coupling) {
    mdyn_row_report r;
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, coupling, &r), MDYN_OK);
    return of_wide(r.impulse);
}

/* The same of a soft range that a correction passes: it joins, and is not held. Impulses are those
   of the motion. */
static void test_soft_range_forgets_its_force(void) {
    TOLERANCE(tolerance, 1e-13, 1e-6, 1e-7);
    for (int n = 0; n < 2; n++) {
        const double sign = n ? -1 : 1;
        double gained;
        shafts(2, (double[]){ 1, 1 }, 0.01);
        couple(mimic_of(1, 0, 1, 0))->softness = (mdyn_softness)MDYN_HARD(0.2);
        mdyn_coupling *range = couple(mimic_of(0, 0, 0, 0));
        range->terms[1].coefficient = wide(0);
        range->softness = (mdyn_softness)MDYN_SPRING(100, 1);
        *(sign > 0 ? &range->lower : &range->upper) = wide(-10 * sign);
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        sim.tau[0] = real(sign * 100);
        for (int step = 0; step < 3; step++) CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK(sign * coupling_impulse(1) < -1e-3);

        CHECK_EQUAL(mdyn_reset(&sim), MDYN_OK);
        sim.q[0] = real(0);
        sim.q[1] = real(sign * 0.1);
        for (int i = 0; i < 2; i++) {
            sim.v[i] = real(-sign * 0.5);
            sim.tau[i] = real(-sign * 50);
        }
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        gained = of_wide(mech.coupling[0].terms[1].coefficient) * coupling_impulse(0)
               + coupling_impulse(1);
        CHECK_NEAR(of_real(sim.v[0]), -sign + gained, tolerance);
    }
}

int main(int argc, char **argv) {
    static void (*const tests[])(void) = {
        test_two_shafts, test_compliant, test_slip_clutch, test_planetary, test_efficiency,
        test_friction_follows, test_break_and_engage, test_release, test_engage_range,
        test_one_way, test_floating_base, test_engagement, test_deadband, test_engaged_stop,
        test_nearest_angle, test_dependent_ratio, test_loss_ends, test_closures_are_no_couplings,
        test_followers_speed, test_break_in_substeps, test_ode_softness, test_reports_overflow,
        test_rows_are_passive, test_idle_range, test_engagement_walks, test_break_beside_mu,
        test_explicit_spring_target, test_driven_clutch, test_stiff_rows_yield,
        test_stiff_rows_tell, test_stops_hold_at_the_end, test_exact_rows_stop_at_the_end,
        test_two_stops_hold_at_the_end,
        test_stop_forgets_its_force, test_soft_range_forgets_its_force,
        test_springs_after_a_break
    };
    check_begin(argc, argv);
    for (int i = 0; i < (int)(sizeof tests / sizeof *tests); i++) {
        random_seed((uint64_t)i + 1);
        tests[i]();
    }
    return check_end();
}
