/* The plan of the rows: what must not depend on the way a sim came to its state, on couplings that
   replaced others, or on the order of couplings. */
#include "knobs.h"
#include "check.h"
#include "explicit.h"
#include "truth.h"
#include "truth_step.h"
#include "random_couplings.h"

/* What the checks allow, some three to ten times the worst of -s 1, 2 and 3. */
/*                                  F64     F32  FIXED */
TOLERANCE(SET_COUPLING_STEP,      1e-12,   6e-4,  1e-8);
TOLERANCE(ORDER,                  8e-15,   4e-6,  5e-7);

/* ---- what must not matter ---- */

/* Six joints with a spring between two and a gear of three, some steps into their motion. */
static void begin_geared_arms(int steps) {
    mdyn_coupling a = MDYN_MIMIC(2, 1, -1.5, 0.25), b = MDYN_GEAR3(0, 1, 3, 2, 4, -1, 0.0);
    random_tree(6, ONE_SPEED | ARMATURES | FOREST);
    a.softness.kind = MDYN_KP_KD;
    a.softness.a = wide(200);
    a.softness.b = wide(3);
    couple(a);
    couple(b);
    begin(MDYN_OK);
    sim_random(&sim, &mech.model, 2, 5);
    for (int s = 0; s < steps; s++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
}

/* The same input gives the same bits, in another sim, at another address, and after a reset. */
static void test_same_bits(void) {
    for (int k = 0; k < 10; k++) {
        begin_geared_arms(0);
        memset(&other, 0x5A, sizeof other);
        CHECK_EQUAL(init_explicit(&other, &mech.model), MDYN_OK);
        copy_inputs(&other, &sim);
        steps_agree(&sim, &other, 50);
        CHECK_EQUAL(init_explicit(&other, &mech.model), MDYN_OK);
        copy_inputs(&other, &sim);
        CHECK_EQUAL(mdyn_reset(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_reset(&other), MDYN_OK);
        steps_agree(&sim, &other, 50);
    }
}

/* A q or v that is written has no digits beyond, as that of a fresh sim. */
static void test_written_state(void) {
    for (int k = 0; k < 10; k++) {
        begin_geared_arms(20);
        sim_random(&sim, &mech.model, 2, 5);
        CHECK_EQUAL(init_explicit(&other, &mech.model), MDYN_OK);
        copy_inputs(&other, &sim);
        steps_agree(&sim, &other, 20);
    }
}

/* A coupling replaced on the run is as if it had always been there. */
static void test_set_coupling(void) {
    for (int k = 0; k < 10; k++) {
        begin_geared_arms(20);
        mdyn_coupling c = MDYN_GEAR3(5, 2, 3, -0.5, 1, 0.75, 0.125);
        c.target_velocity = wide(0.5);
        CHECK_EQUAL(mdyn_set_coupling(&sim, 1, &c), MDYN_OK);
        mech.coupling[1] = c;
        CHECK_EQUAL(init_explicit(&other, &mech.model), MDYN_OK);
        copy_inputs(&other, &sim);
        CHECK_EQUAL(mdyn_reset(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_reset(&other), MDYN_OK);
        steps_agree(&sim, &other, 20);
        compare_step(SET_COUPLING_STEP);
    }
}

/* The order in which couplings are declared is a matter of rounding only. */
static void test_order_of_couplings(void) {
    for (int k = 0; k < 20; k++) {
        random_tree(8, ONE_SPEED | FOREST);
        random_couplings(3, 0.5);
        begin(MDYN_OK);
        sim_random(&sim, &mech.model, 2, 5);
        truth_copy(&t, &sim);
        truth_update(&t, &mech.model);
        mdyn_coupling first = mech.coupling[0];
        mech.coupling[0] = mech.coupling[2];
        mech.coupling[2] = first;
        CHECK_EQUAL(init_explicit(&other, &mech.model), MDYN_OK);
        copy_inputs(&other, &sim);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&other), MDYN_OK);
        double size = norm_speed(&t, t.v);
        truth_copy(&t, &other);
        size += norm_speed(&t, t.v);
        CHECK_NEAR(speed_error(&t, &sim, t.v), 0, ORDER * size);
    }
}

int main(int argc, char **argv) {
    static const struct {
        uint64_t seed;
        void (*run)(void);
    } tests[] = {
        { 16, test_same_bits }, { 17, test_written_state }, { 18, test_set_coupling },
        { 19, test_order_of_couplings }
    };
    check_begin(argc, argv);
    for (int i = 0; i < (int)(sizeof tests / sizeof *tests); i++) {
        random_seed(tests[i].seed);
        tests[i].run();
    }
    return check_end();
}
