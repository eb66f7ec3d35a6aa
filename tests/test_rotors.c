/* The build without trees (MIMICDYN_TREE 0): rotors and sliders with couplings, against closed
   forms, and what such a build refuses. */
#define MIMICDYN_TREE 0
#define MIMICDYN_MAX_BODIES 5
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include "explicit.h"

/* About five times the error seen; one last digit where none was. */
TOLERANCE(SHAFTS, 2e-15, 3e-7, 3e-8);
TOLERANCE(TRAIN,  3e-15, 1e-6, 4e-8);
TOLERANCE(CLUTCH, 6e-14, 8e-6, 3e-7);
TOLERANCE(STOP,   1e-17, 4e-9, 2e-11);
TOLERANCE(PLACE,  1e-17, 4e-9, 2e-11);

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

static void couple(int a, double ca, int b, double cb) {
    mdyn_coupling *c = &couplings[model.coupling_count++];
    c->terms[0].body = (int16_t)a;
    c->terms[0].coefficient = wide(ca);
    c->terms[1].body = (int16_t)b;
    c->terms[1].coefficient = wide(cb);
}

static void start(void) {
    CHECK_EQUAL(init_explicit(&sim, &model), MDYN_OK);
}

/* Shafts of 10 and 100 kg m^2, q_1 = -0.1 q_0, 6 N m on the first: 6/(10 + 0.01 100). */
static void test_two_shafts(void) {
    mdyn_wide a[2], force = wide(0);
    begin(2);
    bodies[0].armature = wide(10);
    bodies[1].armature = wide(100);
    couple(1, 1, 0, 0.1);
    start();
    sim.tau[0] = real(6);
    CHECK_EQUAL(mdyn_forward_dynamics(&sim, a), MDYN_OK);
    CHECK_NEAR(of_wide(a[0]), 0.6, SHAFTS);
    CHECK_NEAR(of_wide(a[1]), 0, 0);
    CHECK_EQUAL(mdyn_constrained_dynamics(&sim, a), MDYN_OK);
    CHECK_NEAR(of_wide(a[0]), 6.0 / 11, SHAFTS);
    CHECK_NEAR(of_wide(a[1]), -0.6 / 11, SHAFTS);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(of_real(sim.v[0]), 6e-3 / 11, 1e-3 * SHAFTS);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 1, &force), MDYN_OK);
    CHECK_NEAR(of_wide(force), -6.0 / 11, 10 * SHAFTS);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 0, &force), MDYN_OK);
    CHECK_NEAR(of_wide(force), -60.0 / 11, 10 * SHAFTS);
}

/* Teeth 12, 30, 18, 45: a constant torque; q of semi-implicit Euler is a dt^2 n (n + 1)/2. */
static void test_gear_train(void) {
    static const int teeth[4] = { 12, 30, 18, 45 };
    const int steps = 2000;
    double inertia = 0, ratio[4], turned;
    begin(4);
    for (int i = 0; i < 4; i++) {
        double J = 1e-5 * (i + 1);
        ratio[i] = (i % 2 ? -1.0 : 1.0) * teeth[0] / teeth[i];
        bodies[i].armature = wide(J);
        inertia += J * ratio[i] * ratio[i];
        if (i > 0) {
            couple(i - 1, teeth[i - 1], i, teeth[i]);
        }
    }
    start();
    sim.tau[0] = real(0.001);
    for (int k = 0; k < steps; k++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    turned = 0.001 / inertia * 1e-6 * steps * (steps + 1) / 2;
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(of_real(sim.q[i]) / (ratio[i] * turned), 1, TRAIN);
    }
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
        mdyn_row_report r;
        double t = 0.001 * k;
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &r), MDYN_OK);
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
    for (int k = 0; k < 6000; k++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    CHECK_NEAR(of_real(sim.q[1]), 0.05, STOP);
    CHECK_NEAR(of_real(sim.v[1]), 0, STOP);
    sim.q[1] = real(0.03);
    CHECK_EQUAL(mdyn_project(&sim, MDYN_FOLLOWERS), MDYN_OK);
    CHECK_NEAR(of_real(sim.q[1]), 0.01 * of_real(sim.q[0]), PLACE);
}

static void test_refused(void) {
    begin(2);
    bodies[1].parent = 0;
    CHECK_EQUAL(init_explicit(&sim, &model), MDYN_ERR_TREE);
    begin(2);
    bodies[0].joint = MDYN_SPHERICAL;
    CHECK_EQUAL(init_explicit(&sim, &model), MDYN_ERR_TREE);
    begin(1);
    bodies[0].armature = wide(0);
    CHECK_EQUAL(init_explicit(&sim, &model), MDYN_ERR_MASSLESS);
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

/* v' = v + dt (tau - D v)/(J + theta dt D), theta = (3 J + dt D)/(6 J + dt D); explicit: 1. */
static void step_damped(double J, double D, double dt, int is_explicit) {
    double before = of_real(sim.v[0]), y = dt * D;
    double theta = is_explicit ? 1 : (3 * J + y) / (6 * J + y);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(of_real(sim.v[0]), before + dt * (2 - D * before) / (J + theta * y), SHAFTS);
}

/* The factor of the constant M, step after step, follows every change of what M is made of. */
static void test_new_numbers(void) {
    mdyn_wide a;
    mdyn_solver solver;
    begin(1);
    bodies[0].armature = wide(0.5);
    bodies[0].damping = wide(8);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    sim.tau[0] = real(2);
    step_damped(0.5, 8, 0.001, 0);
    step_damped(0.5, 8, 0.001, 0);
    CHECK_EQUAL(mdyn_constrained_dynamics(&sim, &a), MDYN_OK);
    CHECK_NEAR(of_wide(a), 4, SHAFTS);
    step_damped(0.5, 8, 0.001, 0);
    bodies[0].armature = wide(0.25);
    CHECK_EQUAL(mdyn_set_body(&sim, 0, &bodies[0]), MDYN_OK);
    step_damped(0.25, 8, 0.001, 0);
    bodies[0].damping = wide(40);
    CHECK_EQUAL(mdyn_set_body(&sim, 0, &bodies[0]), MDYN_OK);
    step_damped(0.25, 40, 0.001, 0);
    CHECK_EQUAL(mdyn_set_dt(&sim, wide(0.01)), MDYN_OK);
    step_damped(0.25, 40, 0.01, 0);
    memset(&solver, 0, sizeof solver);
    solver.scheme = MDYN_EXPLICIT;
    CHECK_EQUAL(mdyn_set_solver(&sim, &solver), MDYN_OK);
    step_damped(0.25, 40, 0.01, 1);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_new_numbers();
    test_two_shafts();
    test_gear_train();
    test_clutch();
    test_stop_and_project();
    test_refused();
    test_tables();
    return check_end();
}
