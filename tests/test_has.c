/* MIMICDYN_HAS: mdyn_has says what a sim has, by a count made here; a build that leaves something
   of it out refuses the model and names it, one that does not takes the model and steps. Each
   scalar leaves out something else. (That what is left moves to the same bits: bake.sh.) */
#define NOT(what) &~MDYN_HAS_##what
#ifdef EXPECT_SCALAR_F32
#define MIMICDYN_HAS (MDYN_HAS_ELIMINATED | MDYN_HAS_DRIVE | MDYN_HAS_SOFT | MDYN_HAS_BOUNDED \
    | MDYN_HAS_COUPLING | MDYN_HAS_RANGE | MDYN_HAS_VELOCITY | MDYN_HAS_SHARED)
#elif defined(EXPECT_SCALAR_F64)
#define MIMICDYN_HAS (MDYN_HAS_ALL NOT(REDUNDANT) NOT(DRIVE) NOT(RANGE) NOT(VELOCITY) \
    NOT(SHARED) NOT(BREAKS) NOT(SPARE) NOT(SPRING) NOT(SLIDER) NOT(SCREW))
#else
#define MIMICDYN_HAS (MDYN_HAS_ALL NOT(BOUNDED) NOT(SOFT) NOT(SHARED))
#define MIMICDYN_MAX_DOFS 3
#endif
#ifndef MIMICDYN_MAX_DOFS
#define MIMICDYN_MAX_DOFS 2
#endif
#define MIMICDYN_MAX_BODIES 2
#define MIMICDYN_MAX_COUPLINGS 2
#define MIMICDYN_STATIC 1
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

static mdyn_body bodies[2];
static mdyn_coupling coupling;
static mdyn_model model;
static mdyn_sim sim;

/* Two wheels on the world; the second turns half as far as the first. */
static void two_wheels(void) {
    static const mdyn_body wheel = {
        .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .axis = MDYN_V3(0, 0, 1), .mass = MDYN_C(1),
        .inertia = MDYN_INERTIA(0.5, 0.5, 0.5, 0, 0, 0)
    };
    static const mdyn_coupling half = MDYN_MIMIC(1, 0, 0.5, 0);
    memset(&model, 0, sizeof model);
    bodies[0] = bodies[1] = wheel;
    coupling = half;
    model.bodies = bodies;
    model.body_count = 2;
    model.couplings = &coupling;
    model.coupling_count = 1;
    model.dt = wide(0.001);
}

/* The model as is has `has`, or what this build does not leave out; of a body or two that are no
   spheres also MDYN_HAS_SPARE, where 3 DoFs fit. */
static void expect(long has) {
    if (MIMICDYN_MAX_DOFS > 2 && bodies[0].joint != MDYN_SPHERICAL) has |= MDYN_HAS_SPARE;
    const long lacks = has & ~(long)MIMICDYN_HAS;
    if (lacks) {
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_ERR_LEFT_OUT);
        CHECK(lacks >> sim.culprit.index & 1);
        CHECK_EQUAL(mdyn_has(&sim), MDYN_ERR_NOT_READY);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_NOT_READY);
        return;
    }
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    CHECK_EQUAL(mdyn_has(&sim), has);
    sim.tau[0] = real(0.25);
    for (int k = 0; k < 50; k++) CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK(of_real(sim.v[0]) > 1e-6);
    CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
    if (has & MDYN_HAS_ELIMINATED)
        CHECK_NEAR(of_real(sim.v[1]), 0.5 * of_real(sim.v[0]), 1e-6);
    CHECK_EQUAL(mdyn_set_body(&sim, 0, &bodies[0]), MDYN_ERR_LEFT_OUT);
}

static void test_bodies(void) {
    two_wheels();
    expect(MDYN_HAS_ELIMINATED);
    bodies[0].drive_kd = wide(1e-3);
    bodies[0].effort = wide(0.5);
    expect(MDYN_HAS_ELIMINATED | MDYN_HAS_DRIVE | MDYN_HAS_SOFT | MDYN_HAS_BOUNDED);
    bodies[0].effort = wide(0);
    expect(MDYN_HAS_ELIMINATED | MDYN_HAS_DRIVE | MDYN_HAS_SOFT | MDYN_HAS_EXACT
           | MDYN_HAS_REDUNDANT);

    two_wheels();
    bodies[1].friction = wide(1e-3);
    expect(MDYN_HAS_ELIMINATED | MDYN_HAS_FRICTION | MDYN_HAS_BOUNDED);
    two_wheels();
    bodies[0].lower = wide(-1);
    bodies[0].upper = wide(2);
    expect(MDYN_HAS_ELIMINATED | MDYN_HAS_LIMIT | MDYN_HAS_BOUNDED);
    two_wheels();
    bodies[1].joint = MDYN_PRISMATIC;
    expect(MDYN_HAS_ELIMINATED | MDYN_HAS_SLIDER);
    bodies[1].joint = MDYN_HELICAL;
    bodies[1].pitch = wide(0.125);
    expect(MDYN_HAS_ELIMINATED | MDYN_HAS_SCREW);

    two_wheels();
    model.coupling_count = 0;
    expect(0);
    bodies[1].parent = 0;
    expect(MDYN_HAS_SHARED);
    model.body_count = 1;
    expect(MDYN_HAS_SPARE);
#if MIMICDYN_MAX_DOFS >= 3 /* without MDYN_HAS_SHARED no inertia is found in it */
    bodies[0].joint = MDYN_SPHERICAL;
    expect(MDYN_HAS_SHARED);
#endif
}

static void test_couplings(void) {
    two_wheels();
    coupling.effort = wide(0.5);
    expect(MDYN_HAS_COUPLING | MDYN_HAS_BOUNDED);
    coupling.breaks = 1;
    expect(MDYN_HAS_COUPLING | MDYN_HAS_BOUNDED | MDYN_HAS_BREAKS);
    coupling.breaks = 0;
    coupling.level = MDYN_VELOCITY;
    expect(MDYN_HAS_COUPLING | MDYN_HAS_BOUNDED | MDYN_HAS_VELOCITY);
    two_wheels();
    coupling.lower = wide(-0.25);
    coupling.upper = wide(0.25);
    expect(MDYN_HAS_COUPLING | MDYN_HAS_BOUNDED | MDYN_HAS_RANGE);

    two_wheels();
    coupling.softness.kind = MDYN_KP_KD;
    coupling.softness.a = wide(10);
    coupling.softness.b = wide(1);
    expect(MDYN_HAS_COUPLING | MDYN_HAS_EXACT | MDYN_HAS_REDUNDANT | MDYN_HAS_SOFT
           | MDYN_HAS_SPRING);
    coupling.effort = wide(0.5);
    expect(MDYN_HAS_COUPLING | MDYN_HAS_BOUNDED | MDYN_HAS_SOFT | MDYN_HAS_SPRING);
}

/* Where nothing is eliminated, the coupling is a row. */
static void test_row(void) {
    two_wheels();
    model.solver.equality = MDYN_ITERATED;
    expect(MDYN_HAS_COUPLING | MDYN_HAS_EXACT | MDYN_HAS_REDUNDANT | MDYN_HAS_BOUNDED);
    CHECK_EQUAL(mdyn_has(NULL), MDYN_ERR_NULL);
}

/* A joint that an eliminated coupling holds is asked for 1 rad/s: what is left says so. */
static void test_contradictory(void) {
    static const mdyn_coupling both[2] = {
        { .terms = { MDYN_TERM(0, 2) } },
        { .terms = { MDYN_TERM(0, 1) }, .level = MDYN_VELOCITY, .lower = MDYN_C(1),
          .upper = MDYN_C(1e12) }
    };
    const long has = MDYN_HAS_ELIMINATED | MDYN_HAS_COUPLING | MDYN_HAS_BOUNDED | MDYN_HAS_RANGE
        | MDYN_HAS_VELOCITY | (MIMICDYN_MAX_DOFS > 2 ? MDYN_HAS_SPARE : 0);
    two_wheels();
    model.couplings = both;
    model.coupling_count = 2;
    if (has & ~(long)MIMICDYN_HAS) {
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_ERR_LEFT_OUT);
        return;
    }
    CHECK(mdyn_init(&sim, &model) >= 0);
    CHECK_EQUAL(mdyn_has(&sim), has);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(sim.report.contradictory, 1);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_bodies();
    test_couplings();
    test_row();
    test_contradictory();
    return check_end();
}
