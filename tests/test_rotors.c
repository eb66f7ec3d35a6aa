/* The build without trees (MIMICDYN_TREE 0): rotors and sliders with couplings, against closed
   forms; couplings to the last digit after many steps and turns; what such a build refuses. */
#define MIMICDYN_TREE 0
#define MIMICDYN_MAX_BODIES 5
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

/* About five times the error seen; one last digit where none was. */
TOLERANCE(SHAFTS, 2e-15, 3e-7, 3e-8);
TOLERANCE(TRAIN,  1e-14, 1e-6, 4e-8);
TOLERANCE(CLUTCH, 6e-14, 8e-6, 3e-7);
TOLERANCE(STOP,   1e-17, 4e-9, 2e-11);
TOLERANCE(PLACE,  1e-17, 4e-9, 2e-11);
TOLERANCE(BACK,   1e-15, 1e-7, 1e-9);
TOLERANCE(WAVE,   1e-12, 1e-4, 1e-6);
TOLERANCE(ENERGY,  5e-8, 1e-5, 2e-7); /* the scheme keeps one that differs by dt^2 */

static mdyn_body bodies[5];
static mdyn_coupling couplings[5];
static mdyn_model model;
static mdyn_sim sim;

static void begin(int body_count) {
    memset(bodies, 0, sizeof bodies);
    memset(couplings, 0, sizeof couplings);
    memset(&model, 0, sizeof model);
    for (int i = 0; i < body_count; i++) {
        bodies[i].parent = MDYN_WORLD;
        bodies[i].joint = MDYN_REVOLUTE;
        bodies[i].armature = wide(1);
    }
    model.bodies = bodies;
    model.body_count = body_count;
    model.couplings = couplings;
    model.dt = wide(0.001);
}

static mdyn_coupling *couple(int a, double ca, int b, double cb) {
    mdyn_coupling *c = &couplings[model.coupling_count++];
    c->terms[0].body = (int16_t)a;
    c->terms[0].coefficient = wide(ca);
    c->terms[1].body = (int16_t)b;
    c->terms[1].coefficient = wide(cb);
    return c;
}

static void start(void) {
    CHECK_EQUAL(but_for_start(mdyn_init(&sim, &model)), MDYN_OK);
}

static void steps(int n) {
    for (int k = 0; k < n; k++) CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
}

static mdyn_row_report report(mdyn_row_kind kind, int index) {
    mdyn_row_report r;
    memset(&r, 0, sizeof r);
    CHECK_EQUAL(mdyn_report_row(&sim, kind, index, &r), MDYN_OK);
    return r;
}

/* Shafts of 10 and 100 kg m^2, q_1 = -0.1 q_0, 6 N m on the first: 6/(10 + 0.01 100). */
static void test_two_shafts(void) {
    mdyn_wide force = wide(0);
    begin(2);
    bodies[0].armature = wide(10);
    bodies[1].armature = wide(100);
    couple(1, 1, 0, 0.1);
    start();
    sim.tau[0] = real(6);
    steps(1);
    CHECK_NEAR(of_real(sim.v[0]), 6e-3 / 11, 1e-3 * SHAFTS);
    CHECK_NEAR(of_real(sim.v[1]), -6e-4 / 11, 1e-3 * SHAFTS);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 1, &force), MDYN_OK);
    CHECK_NEAR(of_wide(force), -6.0 / 11, 10 * SHAFTS);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 0, &force), MDYN_OK);
    CHECK_NEAR(of_wide(force), -60.0 / 11, 10 * SHAFTS);
}

/* Teeth 12, 30, 18, 45: a constant torque; q = a t^2/2. */
static void test_gear_train(void) {
    static const int teeth[4] = { 12, 30, 18, 45 };
    const int n = 2000;
    double inertia = 0, ratio[4], turned;
    begin(4);
    for (int i = 0; i < 4; i++) {
        double J = 1e-5 * (i + 1);
        ratio[i] = (i % 2 ? -1.0 : 1.0) * teeth[0] / teeth[i];
        bodies[i].armature = wide(J);
        inertia += J * ratio[i] * ratio[i];
        if (i > 0) couple(i - 1, teeth[i - 1], i, teeth[i]);
    }
    start();
    sim.tau[0] = real(0.001);
    steps(n);
    turned = 0.001 / inertia * 1e-6 * n * n / 2;
    for (int i = 0; i < 4; i++) CHECK_NEAR(of_real(sim.q[i]) / (ratio[i] * turned), 1, TRAIN);
}

/* A clutch of 60 N m between 0.5 kg m^2 at 30 rad/s and 0.6 kg m^2 at -10 rad/s: it slips with
   -120 and +100 rad/s^2 until 40 - 220 t = 0, then holds at (15 - 6)/1.1 rad/s. */
static void test_clutch(void) {
    const double locks = 40.0 / 220;
    begin(2);
    bodies[0].armature = wide(0.5);
    bodies[1].armature = wide(0.6);
    couple(0, 1, 1, -1);
    couplings[0].level = MDYN_VELOCITY;
    couplings[0].effort = wide(60);
    start();
    sim.v[0] = real(30);
    sim.v[1] = real(-10);
    for (int k = 1; k <= 400; k++) {
        double t = 0.001 * k;
        steps(1);
        mdyn_row_report r = report(MDYN_ROW_COUPLING, 0);
        if (t < locks) {
            CHECK_NEAR(of_real(sim.v[0]), 30 - 120 * t, CLUTCH);
            CHECK_NEAR(of_real(sim.v[1]), -10 + 100 * t, CLUTCH);
            CHECK(r.flags & MDYN_ROW_SATURATED);
        } else if (t > locks + 0.001) {
            CHECK_NEAR(of_real(sim.v[0]), 9 / 1.1, CLUTCH);
            CHECK_NEAR(of_real(sim.v[1]), 9 / 1.1, CLUTCH);
            CHECK(!(r.flags & MDYN_ROW_SATURATED));
        }
    }
    CHECK(sim.culprit.sticky & MDYN_ROW_SATURATED);
    CHECK_EQUAL(mdyn_reset(&sim), MDYN_OK);
    CHECK_EQUAL(sim.culprit.sticky, 0);
}

/* A slider runs into its stop, driven by a rotor; projection puts a rotor onto its ratio. */
static void test_stop_and_project(void) {
    begin(2);
    bodies[1].joint = MDYN_PRISMATIC;
    bodies[1].armature = wide(2);
    bodies[1].lower = wide(-0.1);
    bodies[1].upper = wide(0.05);
    couple(1, 1, 0, -0.01);
    start();
    sim.tau[0] = real(1);
    steps(6000);
    CHECK_NEAR(of_real(sim.q[1]), 0.05, STOP);
    CHECK_NEAR(of_real(sim.v[1]), 0, STOP);
    CHECK_NEAR(of_wide(report(MDYN_ROW_LIMIT, 1).force), -100, 1e4 * SHAFTS);
    sim.q[1] = real(0.03);
    CHECK_EQUAL(mdyn_project(&sim, MDYN_FOLLOWERS), MDYN_OK);
    CHECK_NEAR(of_real(sim.q[1]), 0.01 * of_real(sim.q[0]), PLACE);
    sim.q[0] = real(1);
    sim.q[1] = real(0);
    CHECK_EQUAL(mdyn_project(&sim, MDYN_MASS_METRIC), MDYN_OK);
    CHECK_NEAR(of_real(sim.q[1]), 0.01 * of_real(sim.q[0]), PLACE);
}

/* Errors of positions go back by their fraction in every step, and leave v: of a limit, a hard
   coupling, one of softness all zero, a range. */
static void test_corrections(void) {
    begin(5);
    bodies[0].lower = wide(-1);
    bodies[0].upper = wide(0.5);
    couple(1, 1, 2, -2);
    couple(3, 1, 4, 1)->softness.kind = MDYN_ERP_CFM;
    couplings[1].softness.a = wide(0.5);
    start();
    sim.q[0] = real(0.75);
    sim.q[1] = real(0.125);
    sim.q[3] = real(0.25);
    for (int k = 1; k <= 10; k++) {
        steps(1);
        CHECK_NEAR(of_real(sim.q[0]), 0.5 + 0.25 * pow(0.8, k), BACK);
        CHECK_NEAR(of_real(sim.q[1]) - 2 * of_real(sim.q[2]), 0.125 * pow(0.8, k), BACK);
        CHECK_NEAR(of_real(sim.q[3]), 0.125 + 0.125 * pow(0.5, k), BACK);
        CHECK_NEAR(of_real(sim.q[4]), -0.125 + 0.125 * pow(0.5, k), BACK);
        for (int i = 0; i < 5; i++) CHECK_NEAR(of_real(sim.v[i]), 0, 0);
    }
}

/* Backlash of 0.2 rad between rotors of 1 and 2 kg m^2: free until the gap is closed, then one. */
static void test_backlash(void) {
    begin(2);
    bodies[1].armature = wide(2);
    couple(0, 1, 1, -1);
    couplings[0].lower = wide(-0.1);
    couplings[0].upper = wide(0.1);
    start();
    sim.tau[0] = real(1);
    steps(400);
    CHECK_NEAR(of_real(sim.q[0]), 0.08, BACK);
    CHECK_NEAR(of_real(sim.q[1]), 0, 0);
    CHECK_EQUAL(report(MDYN_ROW_COUPLING, 0).flags, 0);
    steps(200);
    CHECK_NEAR(of_real(sim.q[0]) - of_real(sim.q[1]), 0.1, BACK);
    CHECK_NEAR(of_real(sim.v[0]) + 2 * of_real(sim.v[1]), 0.6, 10 * BACK);
    CHECK_NEAR(of_wide(report(MDYN_ROW_COUPLING, 0).force), -2.0 / 3, 10 * SHAFTS);
    CHECK_EQUAL(report(MDYN_ROW_COUPLING, 0).flags, MDYN_ROW_AT_UPPER);
}

/* A coupling breaks at its effort; what follows moves freely. */
static void test_break(void) {
    begin(2);
    couple(0, 1, 1, -1);
    couplings[0].effort = wide(0.25);
    couplings[0].breaks = 1;
    start();
    sim.tau[0] = real(0.375);
    steps(10);
    CHECK_NEAR(of_real(sim.v[1]), 0.01 * 0.1875, SHAFTS);
    sim.tau[0] = real(1);
    steps(1);
    CHECK_EQUAL(sim.report.broken, 1);
    CHECK(report(MDYN_ROW_COUPLING, 0).flags & MDYN_ROW_RELEASED);
    CHECK_NEAR(of_real(sim.v[1]), 0.01 * 0.1875 + 0.00025, SHAFTS);
    steps(5);
    CHECK_NEAR(of_real(sim.v[1]), 0.01 * 0.1875 + 0.00025, SHAFTS);
    CHECK_EQUAL(mdyn_engage(&sim, 0, MDYN_ENGAGE_HERE), MDYN_OK);
    CHECK_EQUAL(report(MDYN_ROW_COUPLING, 0).flags & MDYN_ROW_RELEASED, 0);
}

/* An undamped spring of 2 rad/s between a rotor and the world keeps its amplitude, and the
   frequency to fourth order of dt; so does one by frequency, and a drive. */
static void test_springs(void) {
    begin(3);
    couple(0, 1, 0, 0)->softness.kind = MDYN_KP_KD;
    couple(1, 1, 1, 0)->softness.kind = MDYN_OMEGA_ZETA;
    couplings[0].softness.a = wide(4);
    couplings[1].softness.a = wide(2);
    bodies[2].drive_kp = wide(4);
    start();
    for (int i = 0; i < 3; i++) sim.q[i] = real(0.125);
    for (int k = 1; k <= 5000; k++) {
        steps(1);
        if (k % 500) continue;
        for (int i = 0; i < 3; i++)
            CHECK_NEAR(of_real(sim.q[i]), 0.125 * cos(0.002 * k), WAVE);
    }
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(4 * pow(of_real(sim.q[i]), 2) + pow(of_real(sim.v[i]), 2), 0.0625, ENERGY);
}

/* ---- the last digit ---- */

/* What the last digit of a number x of the state leaves open: floats are rounded to nearest, fixed
   point has its further digits above q. */
static double digit(double x) {
    if (MDYN_SCALAR == MDYN_SCALAR_FIXED) return 0x1p-40;
    return ldexp(check_epsilon / 2, fabs(x) > 0 ? ilogb(x) : -60);
}

/* C of coupling i by q, in units of what the last digits of q leave open. */
static double miss(int i) {
    const long double unit = MDYN_SCALAR == MDYN_SCALAR_FIXED ? 0x1p-40L : 1;
    long double C = 0, open = 0;
    for (int k = 0; k < 2; k++) {
        const long double c = (long double)of_wide(couplings[i].terms[k].coefficient);
        const int b = couplings[i].terms[k].body;
        C += c * unit * (long double)sim.q[b];
        open += fabsl(c) * (long double)digit(of_real(sim.q[b]));
    }
    return (double)(fabsl(C) / open);
}

static void train_of(double first, int n) {
    static mdyn_real at[3];
    begin(3);
    for (int i = 0; i < 3; i++) bodies[i].armature = wide(0.001 * (i + 1));
    couple(1, 30, 0, 12);
    couple(2, 45, 1, 18);
    at[0] = real(first);
    at[1] = real(-0.4 * first);
    at[2] = real(0.16 * first);
    model.start = at;
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    for (int k = 0; k < n; k++) {
        sim.tau[0] = real(k / 50 % 2 ? -0.25 : 0.25);
        sim.tau[2] = real(k / 7 % 2 ? -0.0625 : 0.0625);
        if (!CHECK_EQUAL(mdyn_step(&sim), MDYN_OK)) return;
        if (k % 97) continue;
        CHECK(miss(0) <= 1.01);
        CHECK(miss(1) <= 1.01);
    }
}

/* A hundred thousand steps; a million turns from 0, and back by mdyn_rebase. */
static void test_last_digit(void) {
    int32_t turns = 0;
    train_of(0, 100000);
    train_of(6250000, 3000);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(mdyn_rebase(&sim, i, &turns), MDYN_OK);
        CHECK(fabs(of_real(sim.q[i])) <= 3.1416);
    }
    CHECK_EQUAL(turns, (int)lround(0.16 * 6250000 / 6.283185307179586));
    steps(100);
    CHECK_NEAR(of_wide(report(MDYN_ROW_COUPLING, 0).error), 0, BY_SCALAR(1e-14, 1e-5, 1e-10));
}

/* ---- what is refused ---- */

static void refuse(int code) {
    CHECK_EQUAL(mdyn_init(&sim, &model), code);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_NOT_READY);
}

static void test_refused(void) {
    begin(2);
    bodies[1].parent = 0;
    refuse(MDYN_ERR_TREE);
    begin(2);
    bodies[0].joint = MDYN_SPHERICAL;
    refuse(MDYN_ERR_TREE);
    begin(1);
    bodies[0].armature = wide(0);
    refuse(MDYN_ERR_MASSLESS);
    begin(2);
    couple(0, 1, 1, -1)->efficiency = wide(0.9);
    refuse(MDYN_ERR_LOSS);
    begin(2);
    couple(0, 1, 1, -1)->mu = wide(0.5);
    refuse(MDYN_ERR_LOSS);
}

/* Settings that need the general build. */
static void test_refused_settings(void) {
    const mdyn_solver other[] = {
        { .method = MDYN_TGS }, { .equality = MDYN_ITERATED },
        { .scheme = MDYN_EXPLICIT }, { .limits = MDYN_ENGAGED }, { .substeps = 2 },
    };
    for (int i = 0; i < MDYN_COUNT(other); i++) {
        begin(2);
        model.solver = other[i];
        refuse(MDYN_ERR_SOLVER);
    }
    begin(2);
    model.solver.iterations = 7;
    model.solver.accuracy = wide(0.01);
    start();
}

/* Tables in the form of builds with trees. What says nothing of mass is a rotor. */
#define SHAFT(matter) \
    MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 1, 0), MDYN_AT(0, 0, 1), matter, MDYN_ROTOR(2), "shaft")
static const mdyn_body shafts[] = {
    SHAFT(MDYN_NO_MASS), SHAFT(MDYN_POINT_MASS(0.0)),
    MDYN_BODY(MDYN_WORLD, MDYN_SLIDES(1, 0, 0), MDYN_AT_RPY(0, 0, 0, 0, 0, 1), MDYN_NO_MASS,
              MDYN_JOINT(2, 0.5, 0, -1, 1, 3, 4, 0.25), NULL),
};
static const mdyn_body refused[] = {
    SHAFT(MDYN_POINT_MASS(0.015)), SHAFT(MDYN_POINT_MASS(-1)),
    SHAFT(MDYN_RIGID(0, 0, 0, 0, MDYN_INERTIA(0, 0, 1, 0, 0, 0))),
    MDYN_BODY(MDYN_WORLD, MDYN_FLOATS, MDYN_AT(0, 0, 0), MDYN_NO_MASS, MDYN_ROTOR(2), NULL),
    MDYN_BODY(MDYN_WORLD, MDYN_SCREWS(0, 0, 1, 2), MDYN_AT(0, 0, 0), MDYN_NO_MASS,
              MDYN_ROTOR(2), NULL),
    MDYN_BODY(MDYN_WORLD, MDYN_WELDED, MDYN_AT(0, 0, 0), MDYN_NO_MASS, MDYN_PASSIVE, NULL),
    MDYN_BODY(0, MDYN_TURNS(0, 0, 1), MDYN_AT(0, 0, 0), MDYN_NO_MASS, MDYN_ROTOR(2), NULL),
};

static void test_tables(void) {
    begin(0);
    model.bodies = shafts;
    model.body_count = MDYN_COUNT(shafts);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    CHECK_EQUAL(mdyn_dofs(&sim), 3);
    CHECK(sizeof(mdyn_body) <= 8 * sizeof(mdyn_wide) + 2 * sizeof(void *) + 8);
    for (int i = 0; i < MDYN_COUNT(refused); i++) {
        begin(2);
        bodies[1] = refused[i];
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_ERR_TREE);
        CHECK_EQUAL(sim.culprit.index, 1);
    }
}

/* v' = v + dt (tau - D v)/(J + theta dt D), theta = (3 J + dt D)/(6 J + dt D). */
static void step_damped(double J, double D, double dt) {
    double before = of_real(sim.v[0]), y = dt * D;
    double theta = (3 * J + y) / (6 * J + y);
    steps(1);
    CHECK_NEAR(of_real(sim.v[0]), before + dt * (2 - D * before) / (J + theta * y), SHAFTS);
}

/* Constants that were worked out follow every change of what they are made of. */
static void test_new_numbers(void) {
    begin(1);
    bodies[0].armature = wide(0.5);
    bodies[0].damping = wide(8);
    start();
    sim.tau[0] = real(2);
    step_damped(0.5, 8, 0.001);
    step_damped(0.5, 8, 0.001);
    bodies[0].armature = wide(0.25);
    CHECK_EQUAL(mdyn_set_body(&sim, 0, &bodies[0]), MDYN_OK);
    step_damped(0.25, 8, 0.001);
    bodies[0].damping = wide(40);
    CHECK_EQUAL(mdyn_set_body(&sim, 0, &bodies[0]), MDYN_OK);
    step_damped(0.25, 40, 0.001);
    CHECK_EQUAL(mdyn_set_dt(&sim, wide(0.01)), MDYN_OK);
    step_damped(0.25, 40, 0.01);
}

/* Of two couplings that say the same one has no force; of two that contradict each other the
   motion comes to rest. */
static void test_dependent(void) {
    begin(3);
    couple(0, 1, 1, -2);
    couple(1, 1, 2, -1);
    couple(0, 1, 2, -2);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_WARN_REDUNDANT);
    CHECK_EQUAL(sim.culprit.index, 2);
    sim.tau[0] = real(1);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(sim.report.redundant, 1);
    CHECK_EQUAL(report(MDYN_ROW_COUPLING, 2).flags, MDYN_ROW_REDUNDANT);
    CHECK_NEAR(of_wide(report(MDYN_ROW_COUPLING, 2).force), 0, 0);
    CHECK_NEAR(of_real(sim.v[0]), 0.001 / (1 + 0.25 + 0.25), SHAFTS);

    couplings[2].offset = wide(0.5);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_WARN_CONTRADICTION);
    CHECK_EQUAL(sim.culprit.index, 2);
    sim.v[0] = real(1);
    for (int k = 0; k < 1000; k++) CHECK(mdyn_step(&sim) >= 0);
    CHECK_EQUAL(sim.report.contradictory > 0, 1);
    for (int i = 0; i < 3; i++) CHECK(isfinite(of_real(sim.q[i])) && fabs(of_real(sim.q[i])) < 2);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_new_numbers();
    test_two_shafts();
    test_gear_train();
    test_clutch();
    test_stop_and_project();
    test_corrections();
    test_backlash();
    test_break();
    test_springs();
    test_last_digit();
    test_dependent();
    test_refused();
    test_refused_settings();
    test_tables();
    return check_end();
}
