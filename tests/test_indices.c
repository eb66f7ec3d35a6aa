/* Coordinates, velocities and commands by body beside the arrays; numbers that were meant for a DoF
   that the model does not have.

   The truth: where joints of 1, 0, 3 and 6 DoF stand in the arrays, counted by hand. */
#include "knobs_few.h"
#include "check.h"

enum { WHEEL, PLATE, BALL, SHIP, TAIL, BODIES };
static const int dofs[] = { 1, 0, 3, 6, 1 }, coordinates[] = { 1, 0, 4, 7, 1 };
static const int first_dof[] = { 0, -1, 1, 4, 10 }, first_coordinate[] = { 0, -1, 1, 5, 12 };
static mdyn_body body[BODIES];
static mdyn_model model;
static mdyn_sim sim;

static void begin(void) {
    static const mdyn_joint joint[] = { MDYN_REVOLUTE, MDYN_FIXED, MDYN_SPHERICAL, MDYN_FREE,
                                        MDYN_PRISMATIC };
    memset(body, 0, sizeof body);
    memset(&model, 0, sizeof model);
    for (int i = 0; i < BODIES; i++) {
        body[i].parent = (int16_t)(i == SHIP ? MDYN_WORLD : i - 1);
        body[i].joint = joint[i];
        body[i].mass = wide(1);
        body[i].inertia.xx = body[i].inertia.yy = body[i].inertia.zz = wide(1);
    }
    model.bodies = body;
    model.body_count = BODIES;
    model.dt = wide(0.001);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
}

static int is_no_number(mdyn_real x) {
#if MDYN_SCALAR == MDYN_SCALAR_FIXED
    return x == INT64_MIN;
#else
    return isnan(x);
#endif
}

static void test_by_body(void) {
    begin();
    for (int i = -1; i <= BODIES; i++) {
        const int there = i >= 0 && i < BODIES, d = there ? dofs[i] : 0;
        const int c = there ? coordinates[i] : 0;
        CHECK_EQUAL(mdyn_first_dof(&sim, i), d > 0 ? first_dof[i] : MDYN_ERR_INDEX);
        CHECK_EQUAL(mdyn_first_coordinate(&sim, i), c > 0 ? first_coordinate[i] : MDYN_ERR_INDEX);
        for (int k = -1; k < 8; k++) {
            const mdyn_real x = real(i + 0.125 * k);
            const int dof_code = k >= 0 && k < d ? MDYN_OK : MDYN_ERR_INDEX;
            const int coordinate_code = k >= 0 && k < c ? MDYN_OK : MDYN_ERR_INDEX;
            CHECK_EQUAL(mdyn_set_tau(&sim, i, k, x), dof_code);
            CHECK_EQUAL(mdyn_set_v(&sim, i, k, x), dof_code);
            CHECK_EQUAL(mdyn_set_q(&sim, i, k, x), coordinate_code);
            CHECK(is_no_number(mdyn_v(&sim, i, k)) == (dof_code != MDYN_OK));
            CHECK(is_no_number(mdyn_q(&sim, i, k)) == (coordinate_code != MDYN_OK));
            if (dof_code == MDYN_OK) {
                CHECK_NEAR(of_real(sim.tau[first_dof[i] + k]), of_real(x), 0);
                CHECK_NEAR(of_real(sim.v[first_dof[i] + k]), of_real(x), 0);
                CHECK_NEAR(of_real(mdyn_v(&sim, i, k)), of_real(x), 0);
            }
            if (coordinate_code == MDYN_OK) {
                CHECK_NEAR(of_real(sim.q[first_coordinate[i] + k]), of_real(x), 0);
                CHECK_NEAR(of_real(mdyn_q(&sim, i, k)), of_real(x), 0);
            }
        }
        CHECK_EQUAL(mdyn_set_target(&sim, i, real(2)), d > 0 ? MDYN_OK : MDYN_ERR_INDEX);
        CHECK_EQUAL(mdyn_set_target_velocity(&sim, i, real(3)), d > 0 ? MDYN_OK : MDYN_ERR_INDEX);
        if (d > 0) {
            CHECK_NEAR(of_real(sim.target[first_dof[i]]), 2, 0);
            CHECK_NEAR(of_real(sim.target_velocity[first_dof[i]]), 3, 0);
        }
    }
    CHECK_EQUAL(mdyn_set_tau(NULL, 0, 0, real(0)), MDYN_ERR_NULL);
    CHECK(is_no_number(mdyn_q(NULL, 0, 0)));
    memset(&sim, 0, sizeof sim);
    CHECK_EQUAL(mdyn_set_q(&sim, 0, 0, real(0)), MDYN_ERR_NOT_READY);
}

/* A number beyond the last DoF is named with its array; q, v stay; 0 is nothing. */
static void test_beyond(void) {
    mdyn_real *const array[] = { sim.v, sim.tau, sim.target, sim.target_velocity };
    static const int name[] = { MDYN_IN_V, MDYN_IN_TAU, MDYN_IN_TARGET, MDYN_IN_TARGET_VELOCITY };
    for (int a = 0; a < 4; a++) {
        for (int k = 11; k < MIMICDYN_MAX_DOFS; k++) {
            begin();
            array[a][k] = real(k % 2 ? -1e-3 : 5);
            CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_BEYOND);
            CHECK_EQUAL(sim.culprit.index, k);
            CHECK_EQUAL(sim.culprit.array, name[a]);
            array[a][k] = real(-0.0);
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            array[a][10] = real(0.5);
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        }
    }
}

/* MDYN_ERR_STATE names the array too. */
static void test_state(void) {
    mdyn_real *const place[] = { &sim.q[12], &sim.v[10], &sim.tau[10], &sim.wrench[4].force.y };
    static const int name[] = { MDYN_IN_Q, MDYN_IN_V, MDYN_IN_TAU, MDYN_IN_WRENCH };
    static const int index[] = { 12, 10, 10, 4 };
    for (int a = 0; a < 4; a++) {
        begin();
        bad_real(place[a], 0);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_STATE);
        CHECK_EQUAL(sim.culprit.array, name[a]);
        CHECK_EQUAL(sim.culprit.index, index[a]);
    }

    /* a quaternion that is too short, by its first element */
    begin();
    bad_real(&sim.tau[10], 0);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_STATE);
    sim.tau[10] = real(0);
    sim.q[8] = real(0.999e-3);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_STATE);
    CHECK_EQUAL(sim.culprit.array, MDYN_IN_Q);
    CHECK_EQUAL(sim.culprit.index, 8);
    sim.q[8] = real(1.001e-3);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(of_real(sim.q[8]), 1, 1e-6);

    /* C and C' are of the present q and v */
    for (int a = 0; a < 2; a++) {
        mdyn_row_report r;
        begin();
        body[WHEEL].lower = wide(-1);
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
        CHECK(mdyn_step(&sim) >= 0);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_LIMIT, 0, &r), MDYN_OK);
        bad_real(place[a], 0);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_LIMIT, 0, &r), MDYN_ERR_STATE);
    }
}

/* A number that is an argument of a call stands in no array. */
static void test_arguments(void) {
    mdyn_wide bad[MIMICDYN_MAX_DOFS], result[MIMICDYN_MAX_DOFS];
    mdyn_wide3 w;
    mdyn_real3 point = { real(0), real(0), real(0) }, p;
    mdyn_contact contact;
    mdyn_coupling coupling = MDYN_MIMIC(WHEEL, TAIL, 1, 0);
    memset(bad, 0, sizeof bad);
    memset(&contact, 0, sizeof contact);
    bad_wide(&bad[2], 0);
    bad_real(&point.z, 0);
    contact.b = MDYN_WORLD;
    contact.point = point;
    for (int call = 0; call < 5; call++) {
        int code = MDYN_OK;
        begin();
        model.couplings = &coupling;
        model.coupling_count = 1;
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
        bad_real(&sim.tau[3], 0);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_STATE);
        CHECK_EQUAL(sim.culprit.array, MDYN_IN_TAU);
        sim.tau[3] = real(0);
        switch (call) {
        case 0: code = mdyn_inverse_dynamics(&sim, bad, result); break;
        case 1: code = mdyn_point(&sim, PLATE, &point, &p); break;
        case 2: code = mdyn_acceleration(&sim, BALL, NULL, bad, &w, &w); break;
        case 3: code = mdyn_set_coupling_target(&sim, 0, point.z, real(0)); break;
        case 4: code = mdyn_set_contacts(&sim, &contact, 1); break;
        }
        CHECK_EQUAL(code, MDYN_ERR_STATE);
        CHECK_EQUAL(sim.culprit.array, MDYN_IN_NONE);
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_by_body();
    test_beyond();
    test_state();
    test_arguments();
    return check_end();
}
