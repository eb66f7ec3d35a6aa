/* The last that fits and the first that does not; what a reset, a break and an error leave
   behind. */
#define MIMICDYN_MAX_BODIES 5
#define MIMICDYN_MAX_DOFS 5
#define MIMICDYN_MAX_COUPLINGS 2
#define MIMICDYN_MAX_ROWS 16
#define MIMICDYN_MAX_ENTRIES 9
#define MIMICDYN_IMPLEMENTATION
#include "mimicdyn.h"
#include "check.h"
#include "sims.h"
#include "wheels.h"

/* ---- capacity: wheels on the world, one entry each in M, one for the rows of each ---- */

static void test_dofs_capacity(void)
{
    wheels(MIMICDYN_MAX_DOFS, 0.01, 1e-3);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    CHECK_EQUAL(mdyn_dofs(&sim), MIMICDYN_MAX_DOFS);
    model.body_count = 3; /* 1 + 1 + 3 = 5, and 1 + 3 + 3 = 7, 1 + 6 = 7 */
    body[2].joint = MDYN_SPHERICAL;
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    CHECK_EQUAL(mdyn_dofs(&sim), 5);
    model.body_count = 4; /* 1 + 1 + 3 + 1: one too many */
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_ERR_CAPACITY_DOFS);
    CHECK_EQUAL(sim.culprit.index, 3);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_NOT_READY);
    model.body_count = 1; /* 6: one too many */
    body[0].joint = MDYN_FREE;
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_ERR_CAPACITY_DOFS);
}

/* Wheels with friction and a limit, which share an entry: one after the other until there is no
   room. */
static void test_entries_capacity(void)
{
    const int most = MIMICDYN_MAX_ENTRIES - MIMICDYN_MAX_BODIES;
    for (int count = 0; count <= MIMICDYN_MAX_BODIES; count++) {
        wheels(MIMICDYN_MAX_BODIES, 0.01, 1e-3);
        for (int i = 0; i < count; i++) {
            body[i].friction = wide(0.1);
            body[i].upper = wide(1);
        }
        const int code = mdyn_init(&sim, &model);
        CHECK_EQUAL(code, count <= most ? MDYN_OK : MDYN_ERR_CAPACITY_ENTRIES);
        if (code == MDYN_OK && CHECK_EQUAL(mdyn_step(&sim), MDYN_OK))
            CHECK_EQUAL(sim.report.entries, MIMICDYN_MAX_BODIES + count);
    }
}

/* ---- what is left behind ---- */

/* A limit that is engaged stops what moves away from its range, for two steps at least; after a
   reset it is not engaged, and a joint that is inside its range again moves freely. */
static void test_reset_disengages(void)
{
    for (int reset = 0; reset < 2; reset++) {
        wheels(1, 0.01, 1e-3);
        body[0].lower = wide(-0.5);
        body[0].upper = wide(0.5);
        model.solver.limits = MDYN_ENGAGED;
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
        sim.q[0] = real(-0.51);
        sim.v[0] = real(-1);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.v[0]), 0, 1e-6);
        if (reset) CHECK_EQUAL(mdyn_reset(&sim), MDYN_OK);
        sim.q[0] = real(0);
        sim.v[0] = real(-1);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.v[0]), reset ? -1 : 0, 1e-6);
    }
}

/* A coupling that breaks is remembered as released and as nothing else but saturated. */
static void test_break_is_remembered(void)
{
    mdyn_row_report report;
    wheels(2, 0.01, 1e-3);
    coupling[0] = mimic_of(1, 0, 1, 0);
    coupling[0].effort = wide(0.5);
    coupling[0].breaks = 1;
    model.coupling_count = 1;
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    sim.tau[0] = real(5);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(sim.report.broken, 1);
    CHECK_EQUAL(sim.culprit.sticky, MDYN_ROW_RELEASED | MDYN_ROW_SATURATED);
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &report), MDYN_OK);
    CHECK_NEAR(fabs(of_wide(report.force)), 0.5, 1e-5);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(sim.report.broken, 0);
    CHECK_EQUAL(sim.culprit.sticky, MDYN_ROW_RELEASED | MDYN_ROW_SATURATED);
}

/* After a step that was refused at its end, with all its substeps solved, a released coupling
   engages where the joints are: the next step has no error to correct. */
static void test_engages_after_error(void)
{
    for (int substeps = 2; substeps <= 32; substeps++) {
        wheels(2, 0.01, 1e-3);
        coupling[0] = mimic_of(1, 0, 1, 0);
        model.coupling_count = 1;
        model.solver.scheme = substeps % 2 ? MDYN_EXPLICIT : MDYN_MIDPOINT;
        model.solver.method = MDYN_TGS;
        model.solver.substeps = (uint16_t)substeps;
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
        CHECK_EQUAL(mdyn_engage(&sim, 0, MDYN_RELEASE), MDYN_OK);
        sim.q[0] = real(0.5);
        sim.tau[0] = real(8e6);
        sim.tau[1] = real(-8e6);
        sim.v[0] = real(8e6);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_OVERFLOW);
        sim.tau[0] = sim.tau[1] = sim.v[0] = real(0);
        CHECK_EQUAL(mdyn_engage(&sim, 0, MDYN_ENGAGE_HERE), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.q[0]), 0.5, 1e-6);
        CHECK_NEAR(of_real(sim.q[1]), 0, 1e-6);
    }
}

/* A velocity that would leave its range is an error, however far beyond it is. */
static void test_velocity_stays(void)
{
    for (int e = 24; e < 45; e++) {
        wheels(1, 1, 1);
        body[0].mass = body[0].inertia.xx = body[0].inertia.yy = wide(0);
        body[0].inertia.zz = wide(0);
        body[0].armature = wide(ldexp(1, 22 - e)); /* dv = 2^22/2^(22 - e) */
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
        sim.tau[0] = real(ldexp(1, 22));
        sim.v[0] = real(3);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_OVERFLOW);
        CHECK(of_real(sim.v[0]) == 3 && of_real(sim.q[0]) == 0);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    test_dofs_capacity();
    test_entries_capacity();
    test_reset_disengages();
    test_break_is_remembered();
    test_engages_after_error();
    test_velocity_stays();
    return check_end();
}
