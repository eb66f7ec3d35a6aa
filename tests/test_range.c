/* mdyn_range: limits seen through couplings, and the step that ends there. */
#include "knobs.h"
#include "check.h"
#include "explicit.h"
#include "truth.h"
#include "rails.h"

/* What the checks allow, some three to ten times the worst of -s 1, 2 and 3. */
/*                              F64      F32  FIXED */
TOLERANCE(RANGE_ZERO,         1e-16,    1e-8,  4e-9);
TOLERANCE(RANGE_LEADER,       1e-15,    6e-7,  2e-8);
TOLERANCE(RANGE_OWN,              0,       0,  6e-9);
TOLERANCE(RANGE_OFFSET,       1e-15,    3e-7,  2e-9);
TOLERANCE(RANGE_FOLLOWER,     1e-15,    9e-7,  8e-9);
TOLERANCE(STEPPED_LEADER,     1e-15,    7e-7, 4e-12);
TOLERANCE(RANGE_IN_NUMBERS,  1e-16,    1e-8, 4e-9);

/* ---- limits seen through couplings ---- */

/* Numbers of the Ability Hand: the finger's second joint follows with 1.05851325 q + 0.72349796
   and ends at 2.6586, so the first one ends at 1.8281 and not at its own 2.0944. */
static void test_range(void) {
    mdyn_wide lower, upper;
    blocks(3, 0x1p-8);
    for (int i = 0; i < 2; i++) {
        mech.body[i].joint = MDYN_REVOLUTE;
        mech.body[i].inertia.xx = mech.body[i].inertia.yy = mech.body[i].inertia.zz = wide(1);
    }
    mech.body[0].upper = wide(2.0944);
    mech.body[1].upper = wide(2.6586);
    mdyn_coupling c = MDYN_MIMIC(1, 0, 1.05851325, 0.72349796);
    couple(c);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    CHECK_EQUAL(mdyn_range(&sim, 0, &lower, &upper), MDYN_OK);
    double end = (2.6586 - 0.72349796) / 1.05851325;
    CHECK_NEAR(of_wide(lower), 0, RANGE_ZERO);
    CHECK_NEAR(of_wide(upper), end, RANGE_LEADER);
    CHECK_NEAR(of_wide(upper), 1.8281, 5e-5);
    CHECK_EQUAL(mdyn_range(&sim, 1, &lower, &upper), MDYN_OK);
    CHECK_NEAR(of_wide(lower), 0.72349796, RANGE_OFFSET);
    CHECK_NEAR(of_wide(upper), 2.6586, RANGE_FOLLOWER);
    mech.body[0].upper = wide(1.5); /* now the leader's own stop comes first */
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    CHECK_EQUAL(mdyn_range(&sim, 0, &lower, &upper), MDYN_OK);
    CHECK_NEAR(of_wide(upper), 1.5, RANGE_OWN);
    mech.body[0].upper = wide(2.0944);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    CHECK_EQUAL(mdyn_range(&sim, 2, &lower, &upper), MDYN_OK);
    CHECK_NEAR(of_wide(lower), -of_wide(MDYN_UNLIMITED), 0);
    CHECK_NEAR(of_wide(upper), of_wide(MDYN_UNLIMITED), 0);
    /* The step finds the same end. */
    sim.q[1] = real(0.72349796);
    sim.tau[0] = real(3);
    for (int i = 0; i < 1000; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    CHECK_NEAR(of_real(sim.q[0]), end, STEPPED_LEADER);
    CHECK_NEAR(of_real(sim.q[1]), 2.6586, RANGE_FOLLOWER);
}

/* A range known in numbers of few digits. */
#define NO_END of_wide(MDYN_UNLIMITED)

static void range_is(int body, double low, double high) {
    mdyn_wide lower, upper;
    int same = CHECK_EQUAL(mdyn_range(&sim, body, &lower, &upper), MDYN_OK);
    same &= CHECK_NEAR(of_wide(lower), low, RANGE_IN_NUMBERS);
    same &= CHECK_NEAR(of_wide(upper), high, RANGE_IN_NUMBERS);
    if (!same) {
        CHECK_NOTE("that is the range of body %d\n", body);
    }
}

/* A negative ratio turns the range round; ranges are followed through chains of any order. */
static void test_range_of_chains(void) {
    mdyn_wide lower, upper;
    mdyn_coupling a = MDYN_MIMIC(2, 1, -2.0, 0.5), b = MDYN_MIMIC(1, 0, 0.5, -0.25);
    blocks(3, 0x1p-8);
    mech.body[2].lower = wide(-1);
    mech.body[2].upper = wide(2);
    couple(a);
    couple(b);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    /* q2 = 0.5 - 2 q1 in [-1, 2]: q1 in [-0.75, 0.75]: q0 = 2 q1 + 0.5 in [-1, 2] */
    range_is(1, -0.75, 0.75);
    range_is(0, -1, 2);
    /* Open ends stay open, and a negative ratio makes the upper one the lower one. */
    mech.body[2].lower = wide(-1e12);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    range_is(1, -0.75, NO_END);
    mech.body[2].lower = wide(-1);
    mech.body[2].upper = MDYN_UNLIMITED;
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    range_is(1, -NO_END, 0.75);
    mech.body[2].lower = mech.body[2].upper = wide(0);
    mech.body[1].upper = MDYN_UNLIMITED;
    mech.body[1].lower = wide(0.25); /* q0 = 2 q1 + 0.5 >= 1, q2 = 0.5 - 2 q1 <= 0 */
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    range_is(0, 1, NO_END);
    range_is(2, -NO_END, 0);
    mech.body[1].lower = wide(-0.75);
    mech.body[1].upper = wide(0.75);
    mech.body[0].lower = wide(3);
    mech.body[0].upper = wide(4);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_WARN_EMPTY_RANGE);
    CHECK_EQUAL(mdyn_range(&sim, 0, &lower, &upper), MDYN_WARN_EMPTY_RANGE);
    CHECK(of_wide(lower) > of_wide(upper));
}

/* A range counts for the joints that are tied to each other: q1 = 0.5 - 2 q0 and q0 + q1 in
   [-1, 1] leave q0 in [-0.5, 1.5]. */
static void test_range_of_couplings(void) {
    mdyn_coupling tie = MDYN_MIMIC(1, 0, -2.0, 0.5), range = MDYN_GEAR(0, 1, 1, 1, 0);
    blocks(3, 0x1p-8);
    range.lower = wide(-1);
    range.upper = wide(1);
    mech.coupling[0] = range;
    mech.coupling[1] = tie;
    mech.model.coupling_count = 2;
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    range_is(0, -0.5, 1.5);
    range_is(1, -2.5, 1.5);
    mech.coupling[0].lower = MDYN_C(-1e12);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    range_is(0, -0.5, NO_END);
    mech.coupling[0].terms[1].body = 2; /* which is not tied: nothing follows for joint 0 */
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    range_is(0, -NO_END, NO_END);
}

/* a q_0 + b q_1 = 0.5 with limits that meet in one position, to which numbers round from both
   sides: a range has its lower end above the upper one only where mdyn_range says that it is
   empty. */
static void test_ranges_of_one_position(void) {
    int compared = 0;
    for (int i = 0; i < 500; i++) {
        double a = (1 + random_int(8)) / 3.0, b = (1 + random_int(8)) / 7.0;
        double at = random_in(-1, 1);
        mdyn_wide lower, upper;
        mdyn_coupling tie = MDYN_GEAR(0, 1, 1, 1, 0);
        blocks(2, 0x1p-8);
        tie.terms[0].coefficient = wide(a);
        tie.terms[1].coefficient = wide(b);
        tie.offset = wide(-0.5);
        mech.body[0].lower = wide(at - 0.5);
        mech.body[0].upper = wide(at);
        mech.body[1].lower = wide((0.5 - a * at) / b - 0.75);
        mech.body[1].upper = wide((0.5 - a * at) / b); /* q_0 >= at */
        couple(tie);
        if (init_explicit(&sim, &mech.model) == MDYN_WARN_EMPTY_RANGE) {
            continue;
        }
        compared++;
        for (int k = 0; k < 2; k++) {
            const int code = mdyn_range(&sim, k, &lower, &upper);
            CHECK_EQUAL(code == MDYN_WARN_EMPTY_RANGE, mdyn_compare(lower, upper) > 0);
        }
    }
    CHECK_NOTE("%d of 500 compared\n", compared);
    CHECK(compared > 400);
}

int main(int argc, char **argv) {
    static const struct {
        uint64_t seed;
        void (*run)(void);
    } tests[] = {
        { 17, test_range }, { 18, test_range_of_chains }, { 19, test_range_of_couplings },
        { 20, test_ranges_of_one_position }
    };
    check_begin(argc, argv);
    for (int i = 0; i < (int)(sizeof tests / sizeof *tests); i++) {
        random_seed(tests[i].seed);
        tests[i].run();
    }
    return check_end();
}
