/* What a model needs of each knob, said before it fits. Default knobs.

   The truth: sims of models that fit, whose counts are read from their private part; rows and DoF
   counted by hand; the compiler options as text. */
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include "sims.h"

static mdyn_body body[40];
static mdyn_coupling coupling[40];
static mdyn_model model;
static mdyn_sim sim;

static void chain(int bodies) {
    memset(body, 0, sizeof body);
    memset(&model, 0, sizeof model);
    for (int i = 0; i < bodies; i++) {
        body[i].parent = (int16_t)(i - 1);
        body[i].joint = MDYN_REVOLUTE;
        body[i].position.x = wide(0.1);
        body[i].mass = wide(1);
        body[i].inertia.xx = body[i].inertia.yy = body[i].inertia.zz = wide(0.01);
    }
    model.bodies = body;
    model.body_count = bodies;
    model.couplings = coupling;
    model.dt = wide(0.001);
}

/* 16 joints with limits and drives fit the defaults. */
static void test_chain(void) {
    mdyn_capacity need;
    chain(16);
    for (int i = 0; i < 16; i++) {
        body[i].lower = wide(-1);
        body[i].upper = wide(1);
        body[i].drive_kp = wide(1);
    }
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    mdyn_required(&model, &need);
    CHECK_EQUAL(need.rows, 32);
    CHECK(need.entries >= 3 * 136 + 16); /* a compliance in each drive */
}

/* With an effort the drives share the entries of the limits. */
static void test_chain_with_effort(void) {
    mdyn_capacity need;
    for (int i = 0; i < 16; i++) {
        body[i].effort = wide(10);
    }
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(sim.report.entries, 2 * 136);
    mdyn_required(&model, &need);
    CHECK_EQUAL(need.rows, 32);
}

/* Two chains whose first joints are tied: M of the independent joints fills in between what the
   follower carries and the leader, whose rows grow by that. */
static void test_tied_chains(void) {
    mdyn_capacity need;
    int tied = 0;
    for (int first = 1; first < 8; first++) {
        for (int second = 1; second < 5; second++) {
            chain(first + second);
            body[first].parent = MDYN_WORLD;
            for (int i = first; i < first + second; i++) {
                body[i].friction = wide(1);
            }
            coupling[0] = mimic_of(0, first, 2, 0);
            model.coupling_count = 1;
            CHECK_EQUAL(mdyn_required(&model, &need), MDYN_OK);
            CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            CHECK(need.entries >= sim.report.entries);
            tied += sim.eliminated[0];
        }
    }
    CHECK(tied > 8);
}

/* Everything at once, of a model that fits nowhere. */
static void test_too_large(void) {
    mdyn_capacity need;
    char text[240];
    chain(40);
    body[39].joint = MDYN_FREE;
    body[39].parent = MDYN_WORLD;
    for (int i = 0; i < 39; i++) {
        body[i].parent = MDYN_WORLD;
        body[i].friction = wide(i < 10);
    }
    for (int i = 0; i < 20; i++) {
        coupling[i] = mimic_of(2 * i + (i == 19), 2 * i + 1 + (i == 19), 2, 0);
    }
    coupling[19] = mimic_of(36, 38, 2, 0);
    coupling[3].efficiency = wide(0.9);
    model.coupling_count = 20;
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_ERR_CAPACITY_BODIES);
    CHECK_EQUAL(mdyn_required(&model, &need), MDYN_ERR_CAPACITY_BODIES);
    CHECK_EQUAL(need.bodies, 40);
    CHECK_EQUAL(need.dofs, 45);
    CHECK_EQUAL(need.couplings, 20);
    CHECK_EQUAL(need.rows, 20 + 1 + 10);
    CHECK_EQUAL(need.terms, 2);
    CHECK_EQUAL(need.body_rows, 0);
    CHECK_EQUAL(need.dantzig, 0);
    CHECK_EQUAL(mdyn_required_text(&need, text, (int)sizeof text), MDYN_OK);
    char want[240];
    snprintf(want, sizeof want, "-DMIMICDYN_MAX_BODIES=40 -DMIMICDYN_MAX_DOFS=45 "
             "-DMIMICDYN_MAX_COUPLINGS=20 -DMIMICDYN_MAX_ROWS=31 -DMIMICDYN_MAX_TERMS=2 "
             "-DMIMICDYN_MAX_ENTRIES=%d", (int)need.entries);
    CHECK_TEXT(text, want);
    const int length = (int)strlen(want);
    memset(text, 'x', sizeof text);
    CHECK_EQUAL(mdyn_required_text(&need, text, length), MDYN_ERR_ROOM);
    CHECK(text[0] == 'x');
    CHECK_EQUAL(mdyn_required_text(&need, text, length + 1), MDYN_OK);
    CHECK_TEXT(text, want);
    model.solver.method = MDYN_DANTZIG;
    CHECK_EQUAL(mdyn_required(&model, &need), MDYN_ERR_CAPACITY_BODIES);
    CHECK_EQUAL(need.dantzig, 31);
    need.bodies = need.dofs = need.couplings = need.rows = need.terms = INT32_MAX;
    need.entries = need.body_rows = need.dantzig = INT32_MAX;
    CHECK_EQUAL(mdyn_required_text(&need, text, (int)sizeof text), MDYN_ERR_ROOM);
}

/* Random trees and couplings: what is said to be needed is what a sim uses, or more. */
static void test_random(void) {
    double used = 0, said = 0;
    int fitted = 0;
    random_seed(1);
    for (int i = 0; i < 4000; i++) {
        const int bodies = 2 + random_int(15);
        int rows = 0;
        mdyn_capacity need;
        chain(bodies);
        for (int k = 0; k < bodies; k++) {
            body[k].parent = (int16_t)(random_int(3) ? random_int(k + 1) - 1 : k - 1);
            body[k].joint = random_int(5) ? MDYN_REVOLUTE : MDYN_FIXED;
            const int moves = body[k].joint != MDYN_FIXED;
            if (moves && random_int(3) == 0) {
                body[k].lower = wide(-1);
                body[k].upper = wide(1);
                rows++;
            }
            if (moves && random_int(3) == 0) {
                body[k].friction = wide(1);
                rows++;
            }
            if (moves && random_int(4) == 0) {
                body[k].drive_kp = wide(1);
                body[k].effort = wide(random_int(2));
                rows++;
            }
        }
        for (int k = 0; k < 6; k++) {
            const int a = random_int(bodies), b = random_int(bodies), c = random_int(bodies);
            mdyn_coupling gear = MDYN_GEAR3(0, 1, 0, 1, 0, 1, 0);
            if (a == b || a == c || b == c || body[a].joint == MDYN_FIXED ||
                body[b].joint == MDYN_FIXED || body[c].joint == MDYN_FIXED) {
                continue;
            }
            gear.terms[0].body = (int16_t)a;
            gear.terms[1].body = (int16_t)b;
            gear.terms[2].body = (int16_t)c;
            gear.terms[0].coefficient = wide(random_in(0.5, 2));
            gear.terms[2].coefficient = wide(random_int(2) ? 0 : random_in(0.5, 2));
            gear.efficiency = wide(random_int(6) ? 0 : 0.9);
            mdyn_softness spring = MDYN_SPRING(100, 1);
            if (random_int(4) == 0) {
                gear.softness = spring;
            }
            rows += 1 + (of_wide(gear.efficiency) > 0);
            coupling[model.coupling_count++] = gear;
        }
        model.solver.equality = random_int(3) ? MDYN_EXACT : MDYN_ITERATED;
        CHECK(mdyn_required(&model, &need) <= 0);
        CHECK_EQUAL(need.bodies, bodies);
        CHECK_EQUAL(need.rows, rows > 0 ? rows : 1);
        const int code = mdyn_init(&sim, &model);
        if (code < 0) {
            CHECK(code != MDYN_ERR_CAPACITY_ENTRIES || need.entries > MIMICDYN_MAX_ENTRIES);
            CHECK(code != MDYN_ERR_CAPACITY_ROWS || need.rows > MIMICDYN_MAX_ROWS);
            continue;
        }
        CHECK(mdyn_step(&sim) >= 0);
        CHECK_EQUAL(need.dofs, mdyn_dofs(&sim) > 0 ? mdyn_dofs(&sim) : 1);
        CHECK(need.entries >= sim.report.entries);
        used += sim.report.entries;
        said += need.entries;
        fitted++;
    }
    CHECK(fitted > 1000);
    CHECK(said < 2 * used);
    if (check.measure) {
        printf("%d models: %.2f times the entries in use\n", fitted, said / used);
    }
}

static void test_refused(void) {
    mdyn_capacity need, before;
    memset(&need, 0x5A, sizeof need);
    before = need;
    chain(3);
    CHECK_EQUAL(mdyn_required(NULL, &need), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_required(&model, NULL), MDYN_ERR_NULL);
    body[1].parent = 1;
    CHECK_EQUAL(mdyn_required(&model, &need), MDYN_ERR_PARENT);
    body[1].parent = 0;
    body[1].joint = (mdyn_joint)9;
    CHECK_EQUAL(mdyn_required(&model, &need), MDYN_ERR_JOINT);
    body[1].joint = MDYN_REVOLUTE;
    coupling[0] = mimic_of(1, 3, 1, 0);
    model.coupling_count = 1;
    CHECK_EQUAL(mdyn_required(&model, &need), MDYN_ERR_TERM);
    model.coupling_count = -1;
    CHECK_EQUAL(mdyn_required(&model, &need), MDYN_ERR_INDEX);
    model.coupling_count = 0;
    mdyn_closure loops[] = { { .kind = MDYN_CLOSE_HINGE }, { .kind = (mdyn_closure_kind)4 } };
    model.closures = loops;
    model.closure_count = 2;
    CHECK_EQUAL(mdyn_required(&model, &need), MDYN_ERR_CLOSURE);
    CHECK(memcmp(&need, &before, sizeof need) == 0);
    loops[1].kind = MDYN_CLOSE_POINT; /* in a build without closures */
    CHECK_EQUAL(mdyn_required(&model, &need), MDYN_ERR_CAPACITY_BODY_ROWS);
    CHECK_EQUAL(need.body_rows, 8);
}

static void fill_row(struct mdyn_sim *s, int i, mdyn_user_row *row, void *user) {
    (void)s, (void)i, (void)row, (void)user;
}

/* Bodies of user rows are terms too; what a callback will name is not known. */
static void test_user_rows(void) {
    static mdyn_user_row row[2];
    mdyn_capacity need;
    chain(4);
    model.coupling_count = 0;
    model.user_rows = row;
    model.user_row_count = 2;
    for (int k = 0; k < 4; k++) {
        row[1].terms[k].body = (int16_t)(k < 3 ? k : MDYN_WORLD);
        row[1].terms[k].linear.x = wide(1);
    }
    mdyn_required(&model, &need);
    CHECK_EQUAL(need.terms, 3);
    row[1].terms[2].linear.x = wide(0); /* absent */
    mdyn_required(&model, &need);
    CHECK_EQUAL(need.terms, 2);
    model.row_function = fill_row;
    mdyn_required(&model, &need);
    CHECK_EQUAL(need.terms, MIMICDYN_MAX_TERMS);
    model.user_rows = NULL;
    mdyn_required(&model, &need);
    CHECK_EQUAL(need.terms, MIMICDYN_MAX_TERMS);
    model.user_row_count = 0; /* it is never called */
    mdyn_required(&model, &need);
    CHECK_EQUAL(need.terms, 2);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_chain();
    test_chain_with_effort();
    test_tied_chains();
    test_too_large();
    test_random();
    test_user_rows();
    test_refused();
    return check_end();
}
