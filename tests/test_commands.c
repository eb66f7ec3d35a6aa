/* Commands of couplings (mdyn_set_coupling_target): joints whose motion is prescribed, against the
   motion itself, the work of the force that is reported, and a heavy flywheel in its place; drives
   on a sum of joints, against a drive on one joint of the equivalent inertia. */
#include "knobs.h"
#include "check.h"
#include "sims.h"

/* What the checks allow, some three to ten times the worst. */
/*                        F64    F32  FIXED */
TOLERANCE(PLACE,        5e-15,  2e-6,  5e-9); /* q of the prescribed joint [rad] */
TOLERANCE(VELOCITY,     5e-15,  3e-4,  5e-6); /* v: errors of q below rounding are corrected in v */
TOLERANCE(WORK,          1e-5,  5e-4,  1e-5); /* [J] of some 50 */
TOLERANCE(FLYWHEEL,      1e-6,  2e-3,  1e-5); /* [rad/s]; 40 N m for 1 s turn the wheel by 4e-7 */
TOLERANCE(CENTER,        1e-7,  2e-5,  1e-7); /* [m], by corrections of dt^2/8 q'' a step */
TOLERANCE(MOMENTUM,     1e-14,  2e-5,  1e-8); /* [kg m/s] */
TOLERANCE(DRIVE,        1e-12,  1e-5,  1e-8); /* [rad] */
#define DT 0x1p-10

static mdyn_sim sim, other;

/* An arm of two links, the second tied to the first by -2, and a third that is free. */
enum { UPPER, LOWER, HAND, WHEEL };
#define LINK(parent, x, name) \
    MDYN_BODY(parent, MDYN_TURNS(0, 1, 0), MDYN_AT(x, 0, 0), \
              MDYN_RIGID(1, 0.5, 0, 0, MDYN_INERTIA(0.1, 0.1, 0.1, 0, 0, 0)), MDYN_PASSIVE, name)
static const mdyn_body arm[] = {
    LINK(MDYN_WORLD, 0, "upper"), LINK(UPPER, 1, "lower"), LINK(LOWER, 1, "hand"),
    MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 1, 0), MDYN_AT(0, 0, 0), MDYN_NO_MASS, MDYN_ROTOR(1e8),
              "wheel"),
};
static const mdyn_coupling prescribed[] = {
    MDYN_MIMIC(LOWER, UPPER, -2.0, 0.0), MDYN_PRESCRIBED(UPPER)
};
static const mdyn_coupling flywheel[] = {
    MDYN_MIMIC(LOWER, UPPER, -2.0, 0.0), MDYN_MIMIC(UPPER, WHEEL, 1.0, 0.0)
};

/* q(t) = sin 2t, v(t) = 2 cos 2t: on the path to rounding, and the energy that is gained is the
   work of the force, whose power is taken at the mean velocity of each step. The last of several
   substeps ends on the path too. */
static void check_path(int substeps) {
    static mdyn_model model = MDYN_MODEL(arm, 3, prescribed, 2, MDYN_V3(0, 0, -9.81), DT);
    const double h = DT / substeps;
    mdyn_wide kinetic, potential, force;
    double work = 0, start, largest = 0;
    model.solver.method = substeps > 1 ? MDYN_TGS : MDYN_PGS;
    model.solver.substeps = (uint16_t)substeps;
    CHECK(mdyn_init(&sim, &model) >= 0);
    CHECK_EQUAL(sim.tie_count, 1);
    sim.v[UPPER] = real(2);
    sim.v[LOWER] = real(-4);
    CHECK_EQUAL(mdyn_energy(&sim, &kinetic, &potential), MDYN_OK);
    start = of_wide(kinetic) + of_wide(potential);
    for (int i = 0; i < 4096; i++) {
        double t = (i + 1) * DT, q = sin(2 * t), v = 2 * cos(2 * t), before = of_real(sim.v[UPPER]);
        CHECK_EQUAL(mdyn_set_coupling_target(&sim, 1, real(q - h / 2 * v), real(v)), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.q[UPPER]), q, PLACE);
        CHECK_NEAR(of_real(sim.v[UPPER]), v, VELOCITY);
        CHECK_NEAR(of_real(sim.q[LOWER]), -2 * q, 2 * PLACE);
        CHECK_EQUAL(mdyn_coupling_force(&sim, 1, 0, &force), MDYN_OK);
        work += DT * of_wide(force) * (of_real(sim.v[UPPER]) + before) / 2;
        CHECK_EQUAL(mdyn_energy(&sim, &kinetic, &potential), MDYN_OK);
        double gain = of_wide(kinetic) + of_wide(potential) - start;
        largest = fmax(largest, fabs(gain));
        CHECK_NEAR(gain, work, WORK * 50);
    }
    printf("energy up to %.1f J\n", largest);
    CHECK(largest > 10);
    CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
}

static void test_path(void) {
    check_path(1);
    check_path(4);
}

/* A constant velocity, against a flywheel of 1e8 kg m^2 that turns with it. */
static void test_flywheel(void) {
    static const mdyn_model model =
        MDYN_MODEL(arm, 3, prescribed, 2, MDYN_V3(0, 0, -9.81), DT);
    static const mdyn_model wheel = MDYN_MODEL(arm, 4, flywheel, 2, MDYN_V3(0, 0, -9.81), DT);
    mdyn_wide a, b;
    CHECK(mdyn_init(&sim, &model) >= 0);
    CHECK(mdyn_init(&other, &wheel) >= 0);
    sim.v[UPPER] = other.v[UPPER] = other.v[WHEEL] = real(0.5);
    sim.v[LOWER] = other.v[LOWER] = real(-1);
    for (int i = 0; i < 1024; i++) {
        double q = 0.5 * (i + 0.5) * DT;
        CHECK_EQUAL(mdyn_set_coupling_target(&sim, 1, real(q), real(0.5)), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&other), MDYN_OK);
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(of_real(sim.v[k]), of_real(other.v[k]), FLYWHEEL);
        }
        CHECK_EQUAL(mdyn_coupling_force(&sim, 1, 0, &a), MDYN_OK);
        CHECK_EQUAL(mdyn_coupling_force(&other, 1, 0, &b), MDYN_OK);
        CHECK_NEAR(of_wide(a), of_wide(b), 1000 * FLYWHEEL);
    }
}

/* Two bodies that float, their joint prescribed: their momenta cancel, the mass center stays. */
static void test_floating(void) {
    static const mdyn_body pair[] = {
        MDYN_BODY(MDYN_WORLD, MDYN_FLOATS, MDYN_AT(0, 0, 0),
                  MDYN_RIGID(2, 0.1, 0, 0, MDYN_INERTIA(0.1, 0.2, 0.3, 0, 0, 0)), MDYN_PASSIVE,
                  "base"),
        LINK(0, 0.3, "boom"),
    };
    static const mdyn_coupling drive[] = { MDYN_PRESCRIBED(1) };
    static const mdyn_model model = MDYN_MODEL(pair, 2, drive, 1, MDYN_V3(0, 0, 0), DT);
    mdyn_real3 start, now;
    mdyn_wide mass;
    CHECK(mdyn_init(&sim, &model) >= 0);
    CHECK_EQUAL(mdyn_center_of_mass(&sim, MDYN_WORLD, &mass, &start), MDYN_OK);
    for (int i = 0; i < 1024; i++) {
        double t = (i + 1) * DT, q = 1 - cos(3 * t), v = 3 * sin(3 * t);
        CHECK_EQUAL(mdyn_set_coupling_target(&sim, 0, real(q - DT / 2 * v), real(v)), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(mdyn_q(&sim, 1, 0)), q, PLACE);
        const mdyn_real3 base = { real(0.1), real(0), real(0) };
        const mdyn_real3 boom = { real(0.5), real(0), real(0) };
        mdyn_real3 spin, u, w;
        CHECK_EQUAL(mdyn_velocity(&sim, 0, &base, &spin, &u), MDYN_OK);
        CHECK_EQUAL(mdyn_velocity(&sim, 1, &boom, &spin, &w), MDYN_OK);
        CHECK_NEAR(2 * of_real(u.x) + of_real(w.x), 0, MOMENTUM);
        CHECK_NEAR(2 * of_real(u.y) + of_real(w.y), 0, MOMENTUM);
        CHECK_NEAR(2 * of_real(u.z) + of_real(w.z), 0, MOMENTUM);
    }
    CHECK_EQUAL(mdyn_center_of_mass(&sim, MDYN_WORLD, &mass, &now), MDYN_OK);
    CHECK_NEAR(of_real(now.x), of_real(start.x), CENTER);
    CHECK_NEAR(of_real(now.y), of_real(start.y), CENTER);
    CHECK_NEAR(of_real(now.z), of_real(start.z), CENTER);
}

/* ---- drives on a sum ---- */

/* s = q_a - 2 q_b of rotors I_a and I_b: s'' = (1/I_a + 4/I_b) F, the motion of one rotor of
   inertia 1/(1/I_a + 4/I_b) under a drive with the same gains and effort. */
static void test_tendon(void) {
    static const mdyn_body rotors[] = {
        MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 0, 1), MDYN_AT(0, 0, 0), MDYN_NO_MASS,
                  MDYN_ROTOR(0.5), "a"),
        MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 0, 1), MDYN_AT(1, 0, 0), MDYN_NO_MASS,
                  MDYN_ROTOR(2), "b"),
    };
    static const mdyn_body one[] = {
        MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 0, 1), MDYN_AT(0, 0, 0), MDYN_NO_MASS,
                  MDYN_JOINT(0.25, 0, 0, 0, 0, 3, 80, 2), "one"),
    };
    static const mdyn_coupling tendon[] = { MDYN_TENDON_DRIVE(0, 1, 1, -2, 80, 2, 3) };
    static const mdyn_model model = MDYN_MODEL(rotors, 2, tendon, 1, MDYN_V3(0, 0, 0), DT);
    static const mdyn_model driven = MDYN_MODEL(one, 1, NULL, 0, MDYN_V3(0, 0, 0), DT);
    double saturated = 0;
    mdyn_wide force;
    CHECK(mdyn_init(&sim, &model) >= 0);
    CHECK(mdyn_init(&other, &driven) >= 0);
    for (int i = 0; i < 3000; i++) {
        double t = (i + 0.5) * DT, target = i < 1000 ? 0.5 : 0.02 * sin(5 * t);
        double rate = i < 1000 ? 0 : 0.1 * cos(5 * t);
        CHECK_EQUAL(mdyn_set_coupling_target(&sim, 0, real(target), real(rate)), MDYN_OK);
        other.target[0] = real(target);
        other.target_velocity[0] = real(rate);
        CHECK(mdyn_step(&sim) >= 0);
        CHECK(mdyn_step(&other) >= 0);
        CHECK_NEAR(of_real(sim.q[0]) - 2 * of_real(sim.q[1]), of_real(other.q[0]), DRIVE);
        CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 1, &force), MDYN_OK);
        CHECK(fabs(of_wide(force)) <= 6 * (1 + 10 * check_epsilon)); /* 2 times 3 N m */
        saturated += fabs(of_wide(force)) > 5.99;
    }
    printf("%.0f of 3000 steps at the effort\n", saturated);
    CHECK(saturated > 20);
    /* impulses in the ratio of the coefficients: I_a q_a : I_b q_b = 1 : -2 */
    CHECK_NEAR(-2 * 0.5 * of_real(sim.q[0]), 2 * of_real(sim.q[1]), DRIVE);
}

/* A joint at many turns is engaged with one at none: C is 0 there to the last digit of q, so
   nothing moves; followers and rows alike. */
static void test_engage(void) {
    static const mdyn_body rotors[] = {
        MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 0, 1), MDYN_AT(0, 0, 0), MDYN_NO_MASS,
                  MDYN_ROTOR(0.01), "a"),
        MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 0, 1), MDYN_AT(0, 0, 0), MDYN_NO_MASS,
                  MDYN_ROTOR(0.02), "b"),
    };
    mdyn_coupling c = MDYN_MIMIC(1, 0, 1.0, 0.0);
    mdyn_model m = MDYN_MODEL(rotors, 2, &c, 1, MDYN_V3(0, 0, 0), 0.001);
    for (int n = 0; n < 200; n++) {
        double high = pow(10, random_in(-1, 6)), low = random_in(-1, 1), range = 1e-3 * (n % 3);
        mdyn_real q[2];
        c.softness.kind = n % 2 ? MDYN_ERP_CFM : MDYN_DEFAULT;
        c.softness.a = wide(n % 2 ? 0.2 : 0);
        c.lower = wide(-range);
        c.upper = wide(range);
        CHECK_EQUAL(mdyn_init(&sim, &m), MDYN_OK);
        CHECK_EQUAL(mdyn_engage(&sim, 0, MDYN_RELEASE), MDYN_OK);
        q[0] = sim.q[0] = real(high);
        q[1] = sim.q[1] = real(low);
        CHECK_EQUAL(mdyn_engage(&sim, 0, MDYN_ENGAGE_HERE), MDYN_OK);
        for (int step = 0; step < 5; step++) {
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        }
        double ulp = BY_SCALAR(1e-15, 1e-7, 0) * (1 + high) + BY_SCALAR(0, 0, 2e-12);
        CHECK_NEAR(of_real(sim.q[0] - q[0]), 0, ulp);
        CHECK_NEAR(of_real(sim.q[1] - q[1]), 0, ulp);
        CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
    }
}

/* Of two couplings that say the same, one is given another target, and the first one again: what
   contradicts is said by the call and by each step as after mdyn_init with that offset. */
static void test_redundant(void) {
    static const mdyn_body rotors[] = {
        MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 0, 1), MDYN_AT(0, 0, 0), MDYN_NO_MASS,
                  MDYN_ROTOR(0.01), "a"),
        MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 0, 1), MDYN_AT(0, 0, 0), MDYN_NO_MASS,
                  MDYN_ROTOR(0.02), "b"),
    };
    static const double target[] = { 0.125, 0, -0.25 };
    for (int kinds = 0; kinds < 4; kinds++) {
        mdyn_coupling c[2] = { MDYN_MIMIC(1, 0, 1.0, 0.0), MDYN_MIMIC(1, 0, 1.0, 0.0) };
        mdyn_model m = MDYN_MODEL(rotors, 2, c, 2, MDYN_V3(0, 0, 0), 0.001);
        for (int i = 0; i < 2; i++) { /* as rows, and as what may be eliminated */
            c[i].softness.kind = kinds >> i & 1 ? MDYN_ERP_CFM : MDYN_DEFAULT;
            c[i].softness.a = wide(kinds >> i & 1 ? 0.25 : 0);
        }
        CHECK_EQUAL(mdyn_init(&sim, &m), MDYN_WARN_REDUNDANT);
        for (int k = 0; k < 3; k++) {
            c[1].offset = wide(-target[k]);
            int code = mdyn_init(&other, &m);
            CHECK_EQUAL(code, target[k] < 0 || target[k] > 0 ? MDYN_WARN_CONTRADICTION
                                                             : MDYN_WARN_REDUNDANT);
            CHECK_EQUAL(mdyn_set_coupling_target(&sim, 1, real(target[k]), real(0)), code);
            sim.tau[0] = real(0.1);
            copy_inputs(&other, &sim);
            for (int step = 0; step < 3; step++) {
                CHECK_EQUAL(mdyn_step(&sim), mdyn_step(&other));
                CHECK_EQUAL(sim.report.contradictory, other.report.contradictory);
                CHECK_NEAR(of_real(sim.v[0] - other.v[0]), 0, VELOCITY);
                CHECK_NEAR(of_real(sim.v[1] - other.v[1]), 0, VELOCITY);
            }
        }
    }
}

/* A load of 2 kg on a tendon, the range q - winch >= 0, is lifted at 0.5 m/s for 256 steps. If the
   winch is a joint of prescribed motion, the load has its velocity and flies on when it is let go,
   by v - g dt; if the range's own target moves, the load goes up by the correction of errors, hangs
   with its weight, and has none. */
static void check_lift(int moved) {
    static const mdyn_body hoist[] = {
        MDYN_BODY(MDYN_WORLD, MDYN_SLIDES(0, 0, 1), MDYN_AT(0, 0, 0), MDYN_POINT_MASS(2),
                  MDYN_PASSIVE, "load"),
        MDYN_BODY(MDYN_WORLD, MDYN_SLIDES(0, 0, 1), MDYN_AT(0, 0, 0), MDYN_POINT_MASS(1),
                  MDYN_PASSIVE, "winch"),
    };
    mdyn_coupling c[2] = { MDYN_MIMIC(0, 1, 1.0, 0.0), MDYN_PRESCRIBED(1) };
    mdyn_model model = MDYN_MODEL(hoist, 2, c, 2, MDYN_V3(0, 0, -9.81), DT);
    mdyn_wide force;
    c[0].upper = MDYN_UNLIMITED;
    CHECK(mdyn_init(&sim, &model) >= 0);
    for (int i = 1; i <= 256; i++) {
        double place = moved ? 0 : 0.5 * (i - 0.5) * DT;
        CHECK_EQUAL(mdyn_set_coupling_target(&sim, 1, real(place), real(moved ? 0 : 0.5)), MDYN_OK);
        if (moved)
            CHECK_EQUAL(mdyn_set_coupling_target(&sim, 0, real(0.5 * i * DT), real(0.5)), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    CHECK_NEAR(of_real(sim.q[0]), 0.125, moved ? 0.5 * 5 * DT : 1e-5); /* an erp of 0.2: 5 steps */
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 0, &force), MDYN_OK);
    CHECK_NEAR(of_wide(force), 2 * 9.81, 0.01);
    CHECK_EQUAL(mdyn_engage(&sim, 0, MDYN_RELEASE), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(of_real(sim.v[0]), (moved ? 0 : 0.5) - 9.81 * DT, VELOCITY);
}
static void test_lift(void) {
    check_lift(0);
    check_lift(1);
}

/* A clutch of positions that was engaged where its shafts are, 1.25 rad apart, gets another effort:
   the replacement's offset of 0 asks for its place of before, unless it is engaged here again. */
static void test_replaced_place(void) {
    static const mdyn_body rotors[] = {
        MDYN_BODY(MDYN_WORLD, MDYN_TURNS(1, 0, 0), MDYN_AT(0, 0, 0), MDYN_NO_MASS,
                  MDYN_ROTOR(0.01), "engine"),
        MDYN_BODY(MDYN_WORLD, MDYN_TURNS(1, 0, 0), MDYN_AT(0, 0, 0), MDYN_NO_MASS,
                  MDYN_ROTOR(0.02), "load"),
    };
    for (int again = 0; again < 2; again++) {
        mdyn_coupling c = MDYN_MIMIC(0, 1, 1.0, 0.0);
        mdyn_model model = MDYN_MODEL(rotors, 2, &c, 1, MDYN_V3(0, 0, 0), DT);
        mdyn_row_report report;
        c.effort = wide(3);
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
        sim.q[0] = real(1.25);
        CHECK_EQUAL(mdyn_engage(&sim, 0, MDYN_ENGAGE_HERE), MDYN_OK);
        c.effort = wide(2);
        CHECK_EQUAL(mdyn_set_coupling(&sim, 0, &c), MDYN_OK);
        if (again) CHECK_EQUAL(mdyn_engage(&sim, 0, MDYN_ENGAGE_HERE), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &report), MDYN_OK);
        CHECK_NEAR(of_wide(report.error), again ? 0 : 1.25, 1e-3);
    }
}

static void test_errors(void) {
    CHECK_EQUAL(mdyn_set_coupling_target(&sim, 1, real(0), real(0)), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_set_coupling_target(&sim, -1, real(0), real(0)), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_set_coupling_target(&sim, 0, mdyn_q(&sim, -1, 0), real(0)), MDYN_ERR_STATE);
    CHECK_EQUAL(mdyn_set_coupling_target(&sim, 0, real(0), mdyn_q(&sim, -1, 0)), MDYN_ERR_STATE);
    CHECK_EQUAL(mdyn_set_coupling_target(NULL, 0, real(0), real(0)), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
}

int main(int argc, char **argv) {
    static void (*const tests[])(void) = {
        test_path, test_flywheel, test_floating, test_tendon, test_errors, test_engage,
        test_redundant, test_lift, test_replaced_place
    };
    check_begin(argc, argv);
    for (int i = 0; i < (int)(sizeof tests / sizeof *tests); i++) {
        tests[i]();
    }
    return check_end();
}
