/* The PR2's gripper, four loops, on a wrist and a base that are free to move: its redundant rows
   are found in every step, and it falls as one body. And a loop of driven joints: what it is said
   to need is what a step uses, or more. */
#include "knobs.h"
#include "../examples/robots/pr2_gripper.h"
#include "check.h"

#define PART MDYN_RIGID(0.7, 0.01, 0.003, 0, MDYN_INERTIA(0.0009, 0.0011, 0.001, 0.0001, 0, 0))
enum { CARRIERS = 3 };
static const mdyn_body carrier[CARRIERS] = {
    MDYN_BODY(MDYN_WORLD, MDYN_FLOATS, MDYN_AT(0.1, 0.2, 0.8), PART, MDYN_PASSIVE, "base"),
    MDYN_BODY(0, MDYN_TURNS(0, 1, 0), MDYN_AT(0, 0, 0), PART, MDYN_PASSIVE, "flexion"),
    MDYN_BODY(1, MDYN_TURNS(1, 0, 0), MDYN_AT(0, 0, 0), PART, MDYN_PASSIVE, "roll"),
};
static mdyn_body body[CARRIERS + PR2_GRIPPER_BODIES];
static mdyn_closure closure[4];
static mdyn_sim sim;

/* The gripper on the first `carriers` of the bodies above. */
static void test_gripper_on_wrist(int carriers) {
    mdyn_model model = pr2_gripper_model;
    int k, n;
    for (k = 0; k < carriers; k++) {
        body[k] = carrier[k];
    }
    for (k = 0; k < PR2_GRIPPER_BODIES; k++) {
        body[carriers + k] = pr2_gripper_bodies[k];
        body[carriers + k].parent = (int16_t)(body[carriers + k].parent + carriers);
    }
    for (k = 0; k < 4; k++) {
        closure[k] = pr2_gripper_closures[k];
        closure[k].a = (int16_t)(closure[k].a + carriers);
        closure[k].b = (int16_t)(closure[k].b + carriers);
    }
    model.bodies = body;
    model.body_count = carriers + PR2_GRIPPER_BODIES;
    model.closures = closure;
    model.start = NULL;
    model.gravity.z = wide(-9.81);
    CHECK(mdyn_init(&sim, &model) >= 0);

    for (n = 1; n <= 1000; n++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(sim.report.redundant, 13);
    }
    CHECK_NEAR(of_real(sim.v[5]), -9.81, 1e-3);
    for (k = 6; k < mdyn_dofs(&sim); k++) {
        CHECK_NEAR(of_real(sim.v[k]), 0, 1e-2);
    }
}

/* A chain of driven joints that a rod holds: each drive has a coordinate for its compliance, and
   the drives and the rod behind it have entries there. */
static void test_driven_loop(void) {
    mdyn_model model = pr2_gripper_model;
    mdyn_capacity need;
    int bodies, k;
    for (bodies = 2; bodies <= CARRIERS + PR2_GRIPPER_BODIES; bodies++) {
        memset(body, 0, sizeof body);
        for (k = 0; k < bodies; k++) {
            body[k] = carrier[1 + k % 2];
            body[k].parent = (int16_t)(k - 1);
            body[k].position.x = wide(0.1);
            body[k].drive_kp = wide(10);
        }
        memset(closure, 0, sizeof closure);
        closure[0].kind = MDYN_CLOSE_DISTANCE;
        closure[0].a = (int16_t)(bodies - 1);
        closure[0].b = MDYN_WORLD;
        closure[0].distance = closure[0].point_b.z = wide(0.3);
        model.bodies = body;
        model.body_count = bodies;
        model.coupling_count = 0;
        model.closures = closure;
        model.closure_count = 1;
        model.start = NULL;
        CHECK(mdyn_required(&model, &need) <= 0);
        CHECK(mdyn_init(&sim, &model) >= 0);
        CHECK(mdyn_step(&sim) >= 0);
        CHECK(need.entries >= sim.report.entries);
    }
}

int main(int argc, char **argv) {
    int carriers;
    check_begin(argc, argv);
    for (carriers = 1; carriers <= CARRIERS; carriers++) {
        test_gripper_on_wrist(carriers);
    }
    test_driven_loop();
    return check_end();
}
