/* What mdyn_init and the other calls refuse: every code of MDYN_CODES is reached by the smallest
   mistake, with the index of the culprit and nothing else written; numbers that are none in every
   field, NULL and bad indices everywhere, sims that were never set up. And what they say:
   texts, warnings. (Explanations of rows: test_explain.c.) */
#define MIMICDYN_MAX_BODIES 6
#define MIMICDYN_MAX_DOFS 14
#define MIMICDYN_MAX_COUPLINGS 5
#define MIMICDYN_MAX_ROWS 12
#define MIMICDYN_MAX_ENTRIES 200
#define MIMICDYN_MAX_BODY_ROWS 2
#define MIMICDYN_MAX_CONTACTS 1
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include "explicit.h"
#include "sims.h"
#include "good_model.h"
#include <limits.h>

static mdyn_sim sim, before;
static uint8_t reached[256]; /* codes, by their value + 128 */

static void seen(int code) {
    reached[code + 128] = 1;
}

/* mdyn_init of the spoiled model: the code, the culprit, and the sim is not ready, whatever it
   held before: here one that was. */
static void refused(const char *what, int code, int index) {
    static mdyn_sim ready;
    static const mdyn_body point = { .parent = MDYN_WORLD, .mass = MDYN_C(1) };
    static const mdyn_model little = { .bodies = &point, .body_count = 1, .dt = MDYN_C(0.5) };
    if (mdyn_dofs(&ready) < 0) {
        CHECK_EQUAL(mdyn_init(&ready, &little), MDYN_OK);
    }
    memcpy(&sim, &ready, sizeof sim);
    int got = mdyn_init(&sim, &model);
    int same = CHECK_EQUAL(got, code);
    same &= CHECK_EQUAL(sim.culprit.code, code);
    same &= CHECK_EQUAL(sim.culprit.index, index);
    same &= CHECK_EQUAL(mdyn_dofs(&sim), MDYN_ERR_NOT_READY);
    if (!same) {
        CHECK_NOTE("for: %s\n", what);
    }
    seen(got);
}

static void test_good(void) {
    good_model();
    memset(&sim, 0x5A, sizeof sim);
    CHECK_EQUAL(but_for_start(mdyn_init(&sim, &model)), MDYN_OK);
    CHECK_EQUAL(but_for_start(sim.culprit.code), MDYN_OK);
    CHECK_EQUAL(mdyn_dofs(&sim), 11);
    CHECK_EQUAL(mdyn_coordinates(&sim), 13);
    static const int dof[] = { 0, 1, 2, 5 }, coordinate[] = { 0, 1, 2, 6 };
    for (int i = 0; i < BODIES; i++) {
        CHECK_EQUAL(mdyn_first_dof(&sim, i), dof[i]);
        CHECK_EQUAL(mdyn_first_coordinate(&sim, i), coordinate[i]);
    }
    for (int i = 0; i < 13; i++) { /* the start: 0, and 1 for the quaternions' w */
        CHECK_NEAR(of_real(sim.q[i]), i == 2 || i == 9 ? 1 : 0, 0);
    }
    for (int i = 0; i < 11; i++) {
        CHECK_NEAR(of_real(sim.v[i]), 0, 0);
        CHECK_NEAR(of_real(sim.tau[i]), 0, 0);
        CHECK_NEAR(of_real(sim.target[i]), 0, 0);
        CHECK_NEAR(of_real(sim.target_velocity[i]), 0, 0);
    }
    for (int i = 0; i < BODIES; i++) {
        CHECK_NEAR(of_real(sim.wrench[i].moment.x), 0, 0);
        CHECK_NEAR(of_real(sim.wrench[i].force.z), 0, 0);
    }
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    seen(MDYN_OK);
}

/* ---- one mistake each ---- */

static void test_mistakes_of_bodies(void) {
#define REFUSED(code, index, mistake) \
    do { \
        good_model(); \
        mistake; \
        refused(#mistake, code, index); \
    } while (0)
    REFUSED(MDYN_ERR_CAPACITY_BODIES, -1, model.body_count = 0);
    REFUSED(MDYN_ERR_CAPACITY_BODIES, -1, model.body_count = -1);
    REFUSED(MDYN_ERR_CAPACITY_BODIES, -1, model.body_count = MIMICDYN_MAX_BODIES + 1);
    REFUSED(MDYN_ERR_CAPACITY_BODIES, -1, model.body_count = INT_MAX);
    REFUSED(MDYN_ERR_PARENT, LEADER, body[LEADER].parent = LEADER);
    REFUSED(MDYN_ERR_PARENT, FOLLOWER, body[FOLLOWER].parent = BALL);
    REFUSED(MDYN_ERR_PARENT, BALL, body[BALL].parent = -2);
    REFUSED(MDYN_ERR_PARENT, BALL, body[BALL].parent = INT16_MAX);
    REFUSED(MDYN_ERR_PARENT, SHIP, body[SHIP].parent = INT16_MIN);
    REFUSED(MDYN_ERR_JOINT, SHIP, body[SHIP].joint = (mdyn_joint)(MDYN_FREE + 1));
    REFUSED(MDYN_ERR_JOINT, LEADER, body[LEADER].joint = (mdyn_joint)99);
    REFUSED(MDYN_ERR_ROTATION, SHIP, body[SHIP].rotation.y = wide(1e-9));
    REFUSED(MDYN_ERR_MASS, BALL, body[BALL].mass = wide(-1e-3));
    REFUSED(MDYN_ERR_INERTIA, FOLLOWER, body[FOLLOWER].inertia.xx = wide(-1e-3));
    REFUSED(MDYN_ERR_INERTIA, FOLLOWER, body[FOLLOWER].inertia.xy = wide(0.75));
    REFUSED(MDYN_ERR_INERTIA, SHIP, body[SHIP].inertia.yz = wide(-0.75));
    REFUSED(MDYN_ERR_TRIANGLE, SHIP, body[SHIP].inertia.yy = wide(1.25));
    REFUSED(MDYN_ERR_INERTIA, BALL, body[BALL].inertia.xy = body[BALL].inertia.xz =
            body[BALL].inertia.yz = wide(-0.375)); /* only the determinant tells */
    REFUSED(MDYN_ERR_NEGATIVE, LEADER, body[LEADER].armature = wide(-1));
    REFUSED(MDYN_ERR_NEGATIVE, SHIP, body[SHIP].armature = wide(1));
    REFUSED(MDYN_ERR_NEGATIVE, BALL, body[BALL].damping = wide(-1));
    REFUSED(MDYN_ERR_NEGATIVE, BALL, body[BALL].friction = wide(-1));
    REFUSED(MDYN_ERR_NEGATIVE, FOLLOWER, body[FOLLOWER].effort = wide(-1));
    REFUSED(MDYN_ERR_NEGATIVE, FOLLOWER, body[FOLLOWER].drive_kp = wide(-1));
    REFUSED(MDYN_ERR_NEGATIVE, FOLLOWER, body[FOLLOWER].drive_kd = wide(-1));
    REFUSED(MDYN_ERR_LIMITS, LEADER, body[LEADER].upper = wide(-1.5));
    REFUSED(MDYN_ERR_LIMITS, BALL, body[BALL].upper = wide(1));
    REFUSED(MDYN_ERR_LIMITS, SHIP, body[SHIP].lower = wide(-1));
    REFUSED(MDYN_ERR_DRIVE, BALL, body[BALL].drive_kp = wide(1));
    REFUSED(MDYN_ERR_DRIVE, SHIP, body[SHIP].drive_kd = wide(1));
    REFUSED(MDYN_ERR_MASSLESS, SHIP, (body[SHIP].mass = wide(0),
            memset(&body[SHIP].inertia, 0, sizeof body[SHIP].inertia)));
    REFUSED(MDYN_ERR_MASSLESS, BALL, (body[BALL].mass = wide(0),
            memset(&body[BALL].inertia, 0, sizeof body[BALL].inertia)));
    REFUSED(MDYN_ERR_GRAVITY, -1, model.gravity.x = wide(1e14));
    REFUSED(MDYN_ERR_GRAVITY, -1, model.gravity.z = wide(-1.01e6));
    REFUSED(MDYN_ERR_DT, -1, model.dt = wide(0));
    REFUSED(MDYN_ERR_DT, -1, model.dt = wide(-1e-3));
    REFUSED(MDYN_ERR_DT, -1, model.dt = wide(1.001));
    REFUSED(MDYN_ERR_DT, -1, model.dt = wide(0.999e-9));
    REFUSED(MDYN_ERR_DT, -1, model.dt = wide(BY_SCALAR(1e-310, 1e-39, 1e-35))); /* 1/dt: beyond */
    REFUSED(MDYN_ERR_SOLVER, -1, model.solver.relaxation = wide(2));
    REFUSED(MDYN_ERR_SOLVER, -1, model.solver.relaxation = wide(-0.5));
    REFUSED(MDYN_ERR_SOLVER, -1, model.solver.relaxation = wide(0.0099)); /* rows hardly move */
    REFUSED(MDYN_ERR_SOLVER, -1, model.solver.relaxation = wide(1e-30));
    REFUSED(MDYN_ERR_SOLVER, -1, model.solver.tolerance = wide(-1e-6));
    REFUSED(MDYN_ERR_SOLVER, -1, model.solver.tolerance = wide(0.11)); /* ends where it begins */
    REFUSED(MDYN_ERR_SOLVER, -1, model.solver.tolerance = wide(1e14));
    REFUSED(MDYN_ERR_SOLVER, -1, model.solver.accuracy = wide(-1e-6));
    REFUSED(MDYN_ERR_SOLVER, -1, model.solver.accuracy = wide(1.1));
    REFUSED(MDYN_ERR_SOLVER, -1, model.solver.equality = (mdyn_equality)7);
    REFUSED(MDYN_ERR_SOLVER, -1, model.solver.start = (mdyn_start)7);
    REFUSED(MDYN_ERR_SOLVER, -1, model.solver.correction = (mdyn_correction)7);
    REFUSED(MDYN_ERR_SOLVER, -1, model.solver.limits = (mdyn_limits)7);
    REFUSED(MDYN_ERR_SOLVER, -1, model.solver.deadband = wide(-1e-6));
    REFUSED(MDYN_ERR_SOLVER, -1, model.solver.friction_law = (mdyn_friction_law)3);
    REFUSED(MDYN_ERR_SOLVER, -1, model.solver.forces = (mdyn_forces)2);
    REFUSED(MDYN_ERR_CAPACITY_DANTZIG, -1, model.solver.method = MDYN_DANTZIG); /* no room here */
}

/* More of these is in test_closures.c, test_user_rows.c, test_contacts.c. */
static void test_mistakes_of_rows_on_bodies(void) {
    static mdyn_closure rod;
    static mdyn_user_row row, pair[2];
    mdyn_contact contact;
    rod.kind = MDYN_CLOSE_DISTANCE;
    REFUSED(MDYN_ERR_CAPACITY_BODY_ROWS, -1, (model.closures = &rod, model.closure_count = 3));
    REFUSED(MDYN_ERR_CLOSURE, 0, (model.closures = &rod, model.closure_count = 1, rod.b = 1));
    rod.a = MDYN_WORLD;
    rod.distance = wide(1);
    REFUSED(MDYN_ERR_CLOSURE, 0,
            (model.closures = &rod, model.closure_count = 1, rod.axis_a.y = wide(1e-7)));
    rod.axis_a.y = wide(0);
    REFUSED(MDYN_ERR_CLOSURE, 0,
            (model.closures = &rod, model.closure_count = 1, rod.axis_b.z = wide(-1e-7)));
    rod.axis_b.z = wide(0);
    REFUSED(MDYN_ERR_CLOSURE, 0,
            (model.closures = &rod, model.closure_count = 1, rod.rotation.w = wide(1e-25)));
    rod.rotation.w = wide(0);
    row.mu = wide(1); /* of its own force */
    REFUSED(MDYN_ERR_USER_ROW, 0, (model.user_rows = &row, model.user_row_count = 1));
    pair[0].mu = pair[1].mu = wide(1); /* of each other's */
    pair[0].mu_of = 1;
    REFUSED(MDYN_ERR_USER_ROW, 0, (model.user_rows = pair, model.user_row_count = 2));
    good_model();
    CHECK_EQUAL(but_for_start(mdyn_init(&sim, &model)), MDYN_OK);
    memset(&contact, 0, sizeof contact); /* no normal */
    CHECK_EQUAL(mdyn_set_contacts(&sim, &contact, 1), MDYN_ERR_CONTACT);
    seen(MDYN_ERR_CONTACT);
}

static void test_mistakes_of_couplings(void) {
    REFUSED(MDYN_ERR_INDEX, -1, model.coupling_count = -1);
    REFUSED(MDYN_ERR_INDEX, -1, model.closure_count = -1);
    REFUSED(MDYN_ERR_INDEX, -1, model.curve_count = -1);
    REFUSED(MDYN_ERR_CAPACITY_COUPLINGS, -1, model.coupling_count = MIMICDYN_MAX_COUPLINGS + 1);
    REFUSED(MDYN_ERR_TERM, 0, coupling[0].terms[0].body = -1);
    REFUSED(MDYN_ERR_TERM, 0, coupling[0].terms[1].body = BODIES);
    REFUSED(MDYN_ERR_TERM, 1, coupling[1].terms[1].body = INT16_MAX);
    REFUSED(MDYN_ERR_TERM_AXIS, 0, coupling[0].terms[0].axis = 1);
    REFUSED(MDYN_ERR_TERM_AXIS, 1, coupling[1].terms[0].axis = 3);
    REFUSED(MDYN_ERR_TERM_AXIS, 1, coupling[1].terms[1].axis = -1);
    REFUSED(MDYN_ERR_TERM_TWICE, 0, coupling[0].terms[1].body = FOLLOWER);
    REFUSED(MDYN_ERR_TERM_FIXED, 1, body[SHIP].joint = MDYN_FIXED);
    REFUSED(MDYN_ERR_NO_TERMS, 0, coupling[0].terms[0].coefficient =
            coupling[0].terms[1].coefficient = wide(0));
    REFUSED(MDYN_ERR_COEFFICIENT, 0, coupling[0].terms[0].coefficient =
            coupling[0].terms[1].coefficient = wide(0.9e-9));
    REFUSED(MDYN_ERR_COEFFICIENT, 0, coupling[0].terms[1].coefficient = wide(1.1e9));
    REFUSED(MDYN_ERR_NO_TERMS, 1, memset(&coupling[1].terms, 0, sizeof coupling[1].terms));
    REFUSED(MDYN_ERR_LEVEL, 1, coupling[1].level = MDYN_POSITION);
    REFUSED(MDYN_ERR_LEVEL, 0, coupling[0].level = (mdyn_level)5);
    REFUSED(MDYN_ERR_LIMITS, 1, coupling[1].upper = wide(-1)); /* bounds of a speed */
    REFUSED(MDYN_ERR_LOSS, 0, coupling[0].efficiency = wide(-0.1));
    REFUSED(MDYN_ERR_LOSS, 1, coupling[1].efficiency = wide(1.01));
    REFUSED(MDYN_ERR_LOSS, 0, (coupling[0].mu = wide(-0.1), coupling[0].mu_of = 1));
    REFUSED(MDYN_ERR_LOSS, 0, coupling[0].mu = wide(0.1)); /* of itself */
    REFUSED(MDYN_ERR_LOSS, 1, (coupling[1].mu = wide(0.1), coupling[1].mu_of = 2));
    REFUSED(MDYN_ERR_LOSS, 1, (coupling[1].mu = wide(0.1), coupling[1].mu_of = -1));
    REFUSED(MDYN_ERR_LIMITS, 0, coupling[0].lower = wide(1));
    REFUSED(MDYN_ERR_NEGATIVE, 1, coupling[1].effort = wide(-1));
    REFUSED(MDYN_ERR_SOFTNESS, 0, coupling[0].softness.kind = (mdyn_softness_kind)9);
    static const mdyn_softness bad[] = {
        MDYN_HARD(-0.1), MDYN_HARD(1.1), MDYN_SOFT(0.5, -1), MDYN_SPRING(-1, 1),
        MDYN_SPRING(1, -1), MDYN_FREQUENCY(-1, 1), MDYN_FREQUENCY(1, -1), MDYN_ODE(2, 0),
        MDYN_ODE(0, -1)
    };
    for (int i = 0; i < (int)(sizeof bad / sizeof *bad); i++) {
        REFUSED(MDYN_ERR_SOFTNESS, 1, coupling[1].softness = bad[i]);
    }
}

/* The shortest and the longest step: what the rows report are numbers. */
/* Of several mistakes that in the first table is named: bodies, closures, user rows, couplings. */
static void test_order_of_tables(void) {
    static mdyn_closure rod;
    static mdyn_user_row row;
    good_model();
    rod.kind = MDYN_CLOSE_DISTANCE;
    rod.b = MDYN_WORLD;
    row.softness.kind = (mdyn_softness_kind)9;
    model.closures = &rod;
    model.user_rows = &row;
    model.closure_count = model.user_row_count = 1;
    bad_wide(&body[SHIP].damping, 0);
    bad_wide(&rod.distance, 0);
    bad_wide(&coupling[1].effort, 0);
    refused("a body first", MDYN_ERR_NOT_FINITE, SHIP);
    body[SHIP].damping = wide(0);
    refused("then a closure", MDYN_ERR_NOT_FINITE, 0);
    rod.distance = wide(1);
    refused("then a user row", MDYN_ERR_SOFTNESS, 0);
    row.softness.kind = MDYN_DEFAULT;
    refused("a coupling last", MDYN_ERR_NOT_FINITE, 1);
    CHECK(strstr(mdyn_remedy(MDYN_ERR_NOT_FINITE), "body, else closure, user row, coup") != NULL);
    CHECK(strstr(mdyn_remedy(MDYN_ERR_SOFTNESS), "closure, else user row, coupling") != NULL);
    CHECK(strstr(mdyn_remedy(MDYN_ERR_NEGATIVE), "body, else closure, coupling") != NULL);
}

static void test_ends_of_dt(void) {
    static const double ends[] = { 1.001e-9, 1 };
    for (int i = 0; i < 2; i++) {
        mdyn_row_report row;
        good_model();
        model.dt = wide(ends[i]);
        CHECK_EQUAL(but_for_start(mdyn_init(&sim, &model)), MDYN_OK);
        sim.q[FOLLOWER] = real(0.126);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &row), MDYN_OK);
        CHECK(isfinite(of_wide(row.force)) && of_wide(row.force) != 0);
        CHECK_NEAR(of_wide(row.force) * ends[i], of_wide(row.impulse),
                   BY_SCALAR(1e-15, 1e-6, 1e-8) * fabs(of_wide(row.impulse)));
    }
}

/* Rows over all speeds of one chain: each takes 12 entries and more. */
static void long_rows(int count) {
    good_model();
    for (int i = BALL; i < 6; i++) {
        body[i] = body[BALL];
        body[i].parent = (int16_t)(i - 1);
        body[i].joint = i == BALL ? MDYN_FREE : i == SHIP ? MDYN_SPHERICAL : MDYN_REVOLUTE;
        body[i].friction = wide(1);
    }
    body[5].joint = MDYN_FIXED;
    body[BALL].friction = wide(0);
    body[FOLLOWER].drive_kd = wide(0);
    model.body_count = 6;
    model.coupling_count = count;
    for (int i = 0; i < count; i++) {
        mdyn_coupling c = MDYN_GEAR3(0, 1, 4, 2, 1, 3, 0);
        c.terms[2].coefficient = wide(i);
        c.terms[3].body = SHIP;
        c.terms[3].axis = (int8_t)(i % 3);
        c.terms[3].coefficient = wide(1 + i);
        c.level = MDYN_VELOCITY;
        coupling[i] = c;
    }
}

/* One more than there is room for, of each kind. */
static void test_capacities(void) {
    static mdyn_closure rod;
    REFUSED(MDYN_ERR_CAPACITY_DOFS, 4, (model.body_count = 6, body[4] = body[5] = body[SHIP]));
    good_model();
    for (int i = 0; i < BODIES; i++) {
        body[i].friction = wide(1); /* 11 rows, beside 2 couplings, limit and drive */
    }
    refused("rows", MDYN_ERR_CAPACITY_ROWS, SHIP);
    good_model(); /* 2 couplings and what they lose, limit, drive, 6 speeds: 12 rows */
    body[SHIP].friction = coupling[0].efficiency = coupling[1].efficiency = wide(1);
    body[FOLLOWER].friction = wide(0);
    CHECK(mdyn_init(&sim, &model) >= 0);
    rod.kind = MDYN_CLOSE_DISTANCE;
    rod.a = MDYN_WORLD;
    rod.distance = wide(1);
    model.closures = &rod;
    model.closure_count = 1;
    refused("rows on bodies", MDYN_ERR_CAPACITY_ROWS, -1);
    long_rows(5);
    refused("entries", MDYN_ERR_CAPACITY_ENTRIES, -1);
}

/* sim.report.entries counts: each speed takes one for each speed from it to the world, and so
   does a row. */
static void test_entries(void) {
    good_model();
    model.coupling_count = 0;
    body[LEADER].lower = body[LEADER].upper = wide(0);
    body[FOLLOWER].friction = body[FOLLOWER].drive_kd = wide(0);
    CHECK_EQUAL(but_for_start(mdyn_init(&sim, &model)), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    int speeds = 1 + 2 + (3 + 4 + 5) + (1 + 2 + 3 + 4 + 5 + 6);
    CHECK_EQUAL(sim.report.entries, speeds);
    body[BALL].friction = wide(1);
    CHECK_EQUAL(but_for_start(mdyn_init(&sim, &model)), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(sim.report.entries, speeds + 3 + 4 + 5);
}

/* The same on the run: a coupling that needs more room than is left is refused, and the old one
   goes on as if nobody had asked. */
static void test_no_room_for_coupling(void) {
    static mdyn_sim twin;
    mdyn_coupling large, little = MDYN_GEAR(0, 1, 1, 0, 0);
    int last = 5, code;
    little.level = MDYN_VELOCITY;
    long_rows(5);
    do {
        last--;
        large = coupling[last];
        coupling[last] = little;
        code = mdyn_init(&sim, &model);
    } while (code == MDYN_ERR_CAPACITY_ENTRIES && last > 0);
    CHECK(code >= 0);
    memcpy(&twin, &sim, sizeof sim);
    CHECK_EQUAL(mdyn_set_coupling(&sim, last, &large), MDYN_ERR_CAPACITY_ENTRIES);
    for (int i = 0; i < 10; i++) {
        sim.tau[0] = twin.tau[0] = real(i - 4.5);
        CHECK_EQUAL(mdyn_step(&sim), mdyn_step(&twin));
        CHECK(memcmp(sim.q, twin.q, sizeof sim.q) == 0);
        CHECK(memcmp(sim.v, twin.v, sizeof sim.v) == 0);
    }
}

/* NaN of every kind and both infinities, in every number of the tables. */
static void bad_everywhere(const char *what, void *table, size_t first, size_t end, int code,
                           int index) {
    for (size_t at = first; at < end; at += sizeof(mdyn_wide)) {
        for (int i = 0; i < CHECK_BAD_WIDES; i++) {
            char text[80];
            mdyn_wide kept;
            snprintf(text, sizeof text, "%s, bad number %d at byte %d", what, i, (int)at);
            memcpy(&kept, (char *)table + at, sizeof kept);
            bad_wide((char *)table + at, i);
            refused(text, code, index);
            memcpy((char *)table + at, &kept, sizeof kept);
        }
    }
}
#define FIELDS(type, first, last) \
    offsetof(type, first), offsetof(type, last) + sizeof(mdyn_wide)

static void test_bad_numbers(void) {
    good_model();
    for (int i = 0; i < BODIES; i++) {
        bad_everywhere("body", &body[i], FIELDS(mdyn_body, axis, inertia), MDYN_ERR_NOT_FINITE, i);
        bad_everywhere("body", &body[i], FIELDS(mdyn_body, inertia, drive_kd),
                       MDYN_ERR_NOT_FINITE, i);
    }
    for (int i = 0; i < 2; i++) {
        mdyn_coupling *c = &coupling[i];
        for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
            bad_everywhere("term", &c->terms[k], FIELDS(mdyn_term, coefficient, coefficient),
                           MDYN_ERR_NOT_FINITE, i);
        }
        bad_everywhere("offset", c, FIELDS(mdyn_coupling, offset, offset),
                       MDYN_ERR_NOT_FINITE, i);
        bad_everywhere("softness", &c->softness, FIELDS(mdyn_softness, a, b),
                       MDYN_ERR_NOT_FINITE, i);
        bad_everywhere("coupling", c, FIELDS(mdyn_coupling, lower, effort),
                       MDYN_ERR_NOT_FINITE, i);
    }
    bad_everywhere("gravity", &model, FIELDS(mdyn_model, gravity, gravity.z),
                   MDYN_ERR_NOT_FINITE, -1);
    bad_everywhere("dt", &model, FIELDS(mdyn_model, dt, dt), MDYN_ERR_DT, -1);
    bad_everywhere("solver", &model.solver, FIELDS(mdyn_solver, relaxation, accuracy),
                   MDYN_ERR_SOLVER, -1);
    CHECK_EQUAL(but_for_start(mdyn_init(&sim, &model)), MDYN_OK); /* all is as it was again */
}

/* ---- warnings ---- */

static void chain_model(int count) {
    good_model();
    for (int i = 0; i < 6; i++) {
        body[i] = body[LEADER];
        body[i].lower = body[i].upper = wide(0);
    }
    model.body_count = count;
    model.coupling_count = 0;
}
static void couple(int follower, int leader, double multiplier, double offset) {
    coupling[model.coupling_count++] = mimic_of(follower, leader, multiplier, offset);
}
/* Of three joints each; the sum's offset is 0.75. */
static void two_rows_and_their_sum(double offset) {
    mdyn_coupling a = MDYN_GEAR3(0, 1, 1, 2, 2, -1, 0.5), b = MDYN_GEAR3(0, 2, 1, -1, 2, 3, 0.25);
    mdyn_coupling sum = MDYN_GEAR3(0, 3, 1, 1, 2, 2, 0);
    chain_model(3);
    sum.offset = wide(offset);
    coupling[0] = a;
    coupling[1] = b;
    coupling[2] = sum;
    model.coupling_count = 3;
}
static void warned(int code, int index) {
    CHECK_EQUAL(but_for_start(mdyn_init(&sim, &model)), code);
    CHECK_EQUAL(but_for_start(sim.culprit.code), code);
    CHECK(sim.culprit.index == index || sim.culprit.code != code);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK); /* the call was carried out */
    seen(code);
}

static void test_redundant(void) {
    chain_model(2);
    couple(1, 0, 2, 0.5);
    couple(1, 0, 2, 0.5); /* twice the same */
    warned(MDYN_WARN_REDUNDANT, 1);
    chain_model(2);
    couple(1, 0, 2, 0.5);
    couple(0, 1, 0.5, -0.25); /* the other way round */
    warned(MDYN_WARN_REDUNDANT, 1);
    chain_model(3);
    couple(2, 1, -3, 0.25); /* a cycle that closes */
    couple(1, 0, 2, 0.5);
    couple(2, 0, -6, -1.25);
    warned(MDYN_WARN_REDUNDANT, 2);
    two_rows_and_their_sum(0.75);
    warned(MDYN_WARN_REDUNDANT, 2);
    chain_model(2);
    couple(1, 0, 2, 0.5);
    couple(1, 0, 2, 0.5);
    coupling[1].level = MDYN_VELOCITY; /* no position to contradict */
    warned(MDYN_WARN_REDUNDANT, 1);
    chain_model(2);
    couple(1, 0, 2, 0.5);
    couple(1, 0, 2, 0.5);
    mdyn_softness spring = MDYN_SPRING(10, 1);
    coupling[1].softness = spring; /* soft: nothing is decided twice */
    warned(MDYN_OK, -1);
}

static void test_contradictory(void) {
    chain_model(2);
    couple(1, 0, 2, 0.5);
    couple(1, 0, 2, 0.25); /* same ratio, other offset */
    warned(MDYN_WARN_CONTRADICTION, 1);
    chain_model(3);
    couple(2, 1, -3, 0.25);
    couple(1, 0, 2, 0.5);
    couple(2, 0, -6, -1.2);
    warned(MDYN_WARN_CONTRADICTION, 2);
    two_rows_and_their_sum(0.5);
    warned(MDYN_WARN_CONTRADICTION, 2);
    chain_model(2);
    couple(1, 0, 2, 0.5);
    couple(1, 0, 2, 0.5);
    coupling[1].target_velocity = wide(1); /* same place, other speed */
    warned(MDYN_WARN_CONTRADICTION, 1);
    /* Two ratios leave one position: no contradiction. */
    chain_model(2);
    couple(1, 0, 2, 0.5);
    couple(1, 0, 3, 0.25);
    warned(MDYN_WARN_LOCKED, 1);
}

static void test_empty_range(void) {
    chain_model(2);
    couple(1, 0, 2, 0.5);
    body[0].upper = wide(1);  /* q0 in [0, 1]: q1 in [0.5, 2.5] */
    body[1].lower = wide(-1); /* q1 in [-1, 0.25] */
    body[1].upper = wide(0.25);
    warned(MDYN_WARN_EMPTY_RANGE, 0);
    body[1].upper = wide(0.75);
    warned(MDYN_WARN_FROZEN_RANGE, 1);
    chain_model(2); /* ranges that touch leave one position */
    couple(1, 0, 1, 0);
    body[0].lower = wide(-2000);
    body[0].upper = wide(-1000);
    body[1].lower = wide(-1000);
    body[1].upper = wide(5);
    warned(MDYN_WARN_FROZEN_RANGE, 1);
    /* Ranges of couplings count too: of one joint, */
    mdyn_coupling one = MDYN_MIMIC(1, 0, 0, 0);
    one.lower = wide(0.2);
    one.upper = wide(0.3);
    chain_model(2);
    body[1].lower = wide(-0.1);
    body[1].upper = wide(0.1);
    coupling[0] = one;
    model.coupling_count = 1;
    warned(MDYN_WARN_EMPTY_RANGE, 1);
    body[1].upper = wide(0.25);
    warned(MDYN_OK, -1);
    coupling[0].lower = coupling[0].upper = wide(0.26); /* that hold it in one place */
    warned(MDYN_WARN_EMPTY_RANGE, 1);
    coupling[0].effort = wide(1); /* or would if they could */
    warned(MDYN_OK, -1);
    /* of several that are tied: 4 q0 in [2, 3], q0 = q1 = q2, */
    chain_model(3);
    couple(1, 0, 1, 0);
    couple(2, 1, 1, 0);
    mdyn_coupling sum = MDYN_GEAR3(0, 1, 1, 1, 2, 2, 0);
    coupling[2] = sum;
    coupling[2].lower = wide(2);
    coupling[2].upper = wide(3);
    model.coupling_count = 3;
    warned(MDYN_OK, -1);
    body[1].upper = wide(0.375);
    warned(MDYN_WARN_EMPTY_RANGE, 0);
    coupling[2].terms[2].coefficient = wide(-2); /* 0 is not in [2, 3], wherever they are */
    body[1].upper = wide(0);
    warned(MDYN_WARN_EMPTY_RANGE, 0);
    coupling[2].lower = wide(-2);
    warned(MDYN_OK, -1);
}

/* ---- pointers, indices, sims that are none ---- */

static mdyn_wide many[64];
static mdyn_real3 vector, vector2;
static mdyn_wide3 wide_vector, wide_vector2;
static mdyn_real4 quaternion;
static mdyn_row_report report;
static char text[200];

static int c_reset(mdyn_sim *s, int i) { (void)i; return mdyn_reset(s); }
static int c_project(mdyn_sim *s, int i) { (void)i; return mdyn_project(s, MDYN_MASS_METRIC); }
static int c_follow(mdyn_sim *s, int i) { (void)i; return mdyn_project(s, MDYN_FOLLOWERS); }
static int c_place(mdyn_sim *s, int i) { (void)i; return mdyn_project(s, MDYN_INDEPENDENT); }
static int c_independent(mdyn_sim *s, int i) { (void)i; return mdyn_independent_dofs(s); }
static int c_independent_dof(mdyn_sim *s, int i) { return mdyn_independent_dof(s, i); }
static int c_expand(mdyn_sim *s, int i) {
    (void)i;
    return mdyn_expand_velocity(s, many, many + 16);
}
static int c_expand_again(mdyn_sim *s, int i) {
    (void)i;
    return mdyn_expand_acceleration(s, many, many + 16);
}
static int c_y_force(mdyn_sim *s, int i) { (void)i; return mdyn_reduced_force(s, many, many + 16); }
static int c_y_mass(mdyn_sim *s, int i) {
    static mdyn_wide M[MIMICDYN_MAX_DOFS * MIMICDYN_MAX_DOFS];
    (void)i;
    return mdyn_reduced_mass_matrix(s, M);
}
static int c_y_bias(mdyn_sim *s, int i) { (void)i; return mdyn_reduced_bias_force(s, many); }
static int c_y_inverse(mdyn_sim *s, int i) {
    (void)i;
    return mdyn_reduced_inverse_dynamics(s, many, many + 16);
}
static int c_y_losses(mdyn_sim *s, int i) {
    (void)i;
    return mdyn_reduced_inverse_dynamics_with_losses(s, many, many + 16);
}
static int c_command(mdyn_sim *s, int i) {
    return mdyn_set_coupling_target(s, i, MDYN_R(0.1), MDYN_R(0));
}
static int c_point(mdyn_sim *s, int i) { return mdyn_point(s, i, &vector2, &vector); }
static int c_acceleration(mdyn_sim *s, int i) {
    return mdyn_acceleration(s, i, NULL, NULL, &wide_vector, &wide_vector2);
}
static int c_wrench(mdyn_sim *s, int i) {
    return mdyn_joint_wrench(s, i, &wide_vector, &wide_vector2);
}
static int c_mass_center(mdyn_sim *s, int i) { return mdyn_center_of_mass(s, i, many, &vector); }
static int c_inverse_losses(mdyn_sim *s, int i) {
    (void)i;
    return mdyn_inverse_dynamics_with_losses(s, many, many + 16);
}
static int c_explain_body(mdyn_sim *s, int i) {
    return mdyn_explain_body(s, i, text, (int)sizeof text);
}
static int c_set_body(mdyn_sim *s, int i) { return mdyn_set_body(s, i, &body[0]); }
static int c_set_gravity(mdyn_sim *s, int i) { (void)i; return mdyn_set_gravity(s, &wide_vector); }
static int c_set_dt(mdyn_sim *s, int i) { (void)i; return mdyn_set_dt(s, MDYN_C(0.002)); }
static int c_set_solver(mdyn_sim *s, int i) { (void)i; return mdyn_set_solver(s, &model.solver); }
static int c_settle(mdyn_sim *s, int i) { (void)i; return mdyn_settle(s); }
static int c_rebase(mdyn_sim *s, int i) {
    int32_t turns;
    return mdyn_rebase(s, i, &turns);
}
static int c_verify(mdyn_sim *s, int i) { (void)i; return mdyn_verify(s); }
static int c_set_q(mdyn_sim *s, int i) { return mdyn_set_q(s, i, 0, MDYN_R(0)); }
static int c_set_v(mdyn_sim *s, int i) { return mdyn_set_v(s, i, 0, MDYN_R(0)); }
static int c_set_tau(mdyn_sim *s, int i) { return mdyn_set_tau(s, i, 0, MDYN_R(0)); }
static int c_set_target(mdyn_sim *s, int i) { return mdyn_set_target(s, i, MDYN_R(0)); }
static int c_set_rate(mdyn_sim *s, int i) { return mdyn_set_target_velocity(s, i, MDYN_R(0)); }
static int c_stabilized(mdyn_sim *s, int i) {
    (void)i;
    return mdyn_stabilized_dynamics(s, MDYN_C(0.1), many);
}
static int c_step(mdyn_sim *s, int i) { (void)i; return mdyn_step(s); }
static int c_dofs(mdyn_sim *s, int i) { (void)i; return mdyn_dofs(s); }
static int c_coordinates(mdyn_sim *s, int i) { (void)i; return mdyn_coordinates(s); }
static int c_mass(mdyn_sim *s, int i) { (void)i; return mdyn_mass_matrix(s, many); }
static int c_bias(mdyn_sim *s, int i) { (void)i; return mdyn_bias_force(s, many); }
static int c_inverse(mdyn_sim *s, int i) {
    (void)i;
    return mdyn_inverse_dynamics(s, many, many + 16);
}
static int c_forward(mdyn_sim *s, int i) { (void)i; return mdyn_forward_dynamics(s, many); }
static int c_coupled(mdyn_sim *s, int i) { (void)i; return mdyn_constrained_dynamics(s, many); }
static int c_energy(mdyn_sim *s, int i) { (void)i; return mdyn_energy(s, many, many + 1); }
static int c_dof(mdyn_sim *s, int i) { return mdyn_first_dof(s, i); }
static int c_coordinate(mdyn_sim *s, int i) { return mdyn_first_coordinate(s, i); }
static int c_pose(mdyn_sim *s, int i) { return mdyn_pose(s, i, &vector, &quaternion); }
static int c_velocity(mdyn_sim *s, int i) {
    return mdyn_velocity(s, i, NULL, &vector, &vector2);
}
static int c_jacobian(mdyn_sim *s, int i) {
    static mdyn_wide J[6 * MIMICDYN_MAX_DOFS];
    return mdyn_jacobian(s, i, NULL, J);
}
static int c_range(mdyn_sim *s, int i) { return mdyn_range(s, i, many, many + 1); }
static int c_row(mdyn_sim *s, int i) { return mdyn_report_row(s, MDYN_ROW_COUPLING, i, &report); }
static int c_drive(mdyn_sim *s, int i) { return mdyn_report_row(s, MDYN_ROW_DRIVE, i, &report); }
static int c_kind(mdyn_sim *s, int i) {
    return mdyn_report_row(s, i == 0 ? MDYN_ROW_COUPLING : (mdyn_row_kind)i, 0, &report);
}
static int c_share(mdyn_sim *s, int i) { return mdyn_coupling_force(s, i, 0, many); }
static int c_share_of(mdyn_sim *s, int i) { return mdyn_coupling_force(s, 0, i, many); }
static int c_engage(mdyn_sim *s, int i) { return mdyn_engage(s, i, 1); }
static int c_set(mdyn_sim *s, int i) { return mdyn_set_coupling(s, i, &coupling[0]); }
static int c_explain(mdyn_sim *s, int i) {
    return mdyn_explain(s, MDYN_ROW_COUPLING, i, text, (int)sizeof text);
}
static int c_response(mdyn_sim *s, int i) { return mdyn_impulse_response(s, i, 0, many); }
static int c_response2(mdyn_sim *s, int i) { return mdyn_impulse_response(s, 0, i, many); }
static int c_column(mdyn_sim *s, int i) { return mdyn_inverse_mass_column(s, i, many); }

/* All calls but mdyn_init; `limit`: the first index that is one too many, -1: takes no index. */
static const struct {
    int (*call)(mdyn_sim *, int);
    int limit;
} calls[] = {
    { c_reset, -1 }, { c_project, -1 }, { c_follow, -1 }, { c_step, -1 }, { c_dofs, -1 },
    { c_coordinates, -1 }, { c_mass, -1 }, { c_bias, -1 }, { c_inverse, -1 }, { c_forward, -1 },
    { c_coupled, -1 }, { c_energy, -1 }, { c_dof, BODIES }, { c_coordinate, BODIES },
    { c_pose, BODIES }, { c_velocity, BODIES }, { c_jacobian, BODIES }, { c_range, BODIES },
    { c_row, 2 }, { c_drive, 11 }, { c_kind, 5 }, { c_share, 2 },
    { c_share_of, MIMICDYN_MAX_TERMS }, { c_set, 2 }, { c_engage, 2 }, { c_explain, 2 },
    { c_response, 11 }, { c_response2, 11 }, { c_column, 11 },
    { c_place, -1 }, { c_independent, -1 }, { c_independent_dof, 11 }, { c_expand, -1 },
    { c_expand_again, -1 }, { c_y_force, -1 }, { c_y_mass, -1 }, { c_y_bias, -1 },
    { c_y_inverse, -1 }, { c_y_losses, -1 }, { c_stabilized, -1 },
    { c_command, 2 }, { c_point, BODIES }, { c_acceleration, BODIES }, { c_wrench, BODIES },
    { c_mass_center, -1 }, { c_inverse_losses, -1 }, { c_explain_body, BODIES },
    { c_set_body, BODIES }, { c_set_gravity, -1 }, { c_set_dt, -1 }, { c_set_solver, -1 },
    { c_settle, -1 }, { c_rebase, BODIES }, { c_verify, -1 }, { c_set_q, BODIES },
    { c_set_v, BODIES }, { c_set_tau, BODIES }, { c_set_target, BODIES }, { c_set_rate, BODIES }
};
enum { CALLS = sizeof calls / sizeof *calls };

static void test_not_ready(void) {
    static const int fill[] = { 0, 0xA5, 0xFF };
    for (int f = 0; f < 3; f++) {
        for (int k = 0; k < CALLS; k++) {
            memset(&sim, fill[f], sizeof sim);
            memcpy(&before, &sim, sizeof sim);
            if (!CHECK_EQUAL(calls[k].call(&sim, 0), MDYN_ERR_NOT_READY)) {
                CHECK_NOTE("call %d, filled with %d\n", k, fill[f]);
            }
            before.culprit = sim.culprit;
            if (!CHECK(memcmp(&before, &sim, sizeof sim) == 0)) CHECK_NOTE("call %d\n", k);
        }
    }
    seen(MDYN_ERR_NOT_READY);
    /* What a failed mdyn_init leaves is not ready either, if it was not before. */
    good_model();
    model.dt = wide(0);
    memset(&sim, 0, sizeof sim);
    mdyn_init(&sim, &model);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_NOT_READY);
}

static void test_null(void) {
    for (int k = 0; k < CALLS; k++) {
        if (!CHECK_EQUAL(calls[k].call(NULL, 0), MDYN_ERR_NULL)) {
            CHECK_NOTE("call %d\n", k);
        }
    }
    CHECK_EQUAL(mdyn_init(NULL, &model), MDYN_ERR_NULL);
    good_model();
    model.bodies = NULL;
    refused("bodies NULL", MDYN_ERR_NULL, -1);
    good_model();
    model.couplings = NULL;
    refused("couplings NULL", MDYN_ERR_NULL, -1);
    model.coupling_count = 0;
    CHECK_EQUAL(but_for_start(mdyn_init(&sim, &model)), MDYN_OK);
    CHECK_EQUAL(mdyn_init(&sim, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_dofs(&sim), MDYN_ERR_NOT_READY);
    good_model();
    CHECK_EQUAL(but_for_start(mdyn_init(&sim, &model)), MDYN_OK);
    CHECK_EQUAL(mdyn_set_coupling(&sim, 0, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 0, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_range(&sim, 0, NULL, many), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_range(&sim, 0, many, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_explain(&sim, MDYN_ROW_COUPLING, 0, NULL, 100), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_pose(&sim, 0, NULL, &quaternion), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_pose(&sim, 0, &vector, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_velocity(&sim, 0, NULL, NULL, &vector), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_velocity(&sim, 0, NULL, &vector, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_jacobian(&sim, 0, NULL, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_mass_matrix(&sim, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_bias_force(&sim, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_inverse_dynamics(&sim, NULL, many), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_inverse_dynamics(&sim, many, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_forward_dynamics(&sim, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_constrained_dynamics(&sim, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_impulse_response(&sim, 0, 0, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_inverse_mass_column(&sim, 0, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_energy(&sim, NULL, many), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_energy(&sim, many, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    seen(MDYN_ERR_NULL);
}

static void test_indices(void) {
    static const int bad[] = { -1, 0, INT_MIN, INT_MAX, 32767, -32768, 65536 };
    static mdyn_sim start;
    good_model();
    CHECK_EQUAL(but_for_start(mdyn_init(&start, &model)), MDYN_OK);
    for (int k = 0; k < CALLS; k++) {
        if (calls[k].limit < 0) {
            continue;
        }
        for (int i = 0; i < 7; i++) {
            int index = i == 1 ? calls[k].limit : bad[i];
            memcpy(&sim, &start, sizeof sim);
            memcpy(&before, &start, sizeof sim);
            if (!CHECK_EQUAL(calls[k].call(&sim, index), MDYN_ERR_INDEX)) {
                CHECK_NOTE("call %d, index %d\n", k, index);
            }
            before.culprit = sim.culprit;
            if (!CHECK(memcmp(&before, &sim, sizeof sim) == 0)) CHECK_NOTE("call %d\n", k);
        }
    }
    /* MDYN_WORLD is all bodies to this one alone */
    memcpy(&sim, &start, sizeof sim);
    CHECK_EQUAL(c_mass_center(&sim, MDYN_WORLD), MDYN_OK);
    CHECK_EQUAL(c_mass_center(&sim, BODIES), MDYN_ERR_INDEX);
    CHECK_EQUAL(c_mass_center(&sim, INT_MIN), MDYN_ERR_INDEX);
    /* Rows that the model does not have. */
    CHECK_EQUAL(but_for_start(mdyn_init(&sim, &model)), MDYN_OK);
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_DRIVE, 0, &report), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_DRIVE, 1, &report), MDYN_OK);
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_FRICTION, 2, &report), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_LIMIT, 1, &report), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_LIMIT, 0, &report), MDYN_OK);
    seen(MDYN_ERR_INDEX);
}

/* A coupling that mdyn_set_coupling refuses leaves the old one in force. */
static void test_set_coupling(void) {
    good_model();
    CHECK_EQUAL(but_for_start(mdyn_init(&sim, &model)), MDYN_OK);
    mdyn_coupling c = coupling[0];
    c.terms[0].body = 77;
    memcpy(&before, &sim, sizeof sim);
    CHECK_EQUAL(mdyn_set_coupling(&sim, 0, &c), MDYN_ERR_TERM);
    CHECK_EQUAL(sim.culprit.index, 0);
    c = coupling[1];
    c.softness.kind = (mdyn_softness_kind)9;
    CHECK_EQUAL(mdyn_set_coupling(&sim, 1, &c), MDYN_ERR_SOFTNESS);
    CHECK_EQUAL(sim.culprit.index, 1);
    before.culprit = sim.culprit;
    CHECK(memcmp(&before, &sim, sizeof sim) == 0);
}

/* One that it takes, though it repeats or contradicts another or leaves no position, is reported
   as mdyn_init would, and the motion goes on from where it was. */
static void test_set_coupling_warns(void) {
    static const struct { double offset, lower, upper; int code; } cases[] = {
        { 0.125, 0, 0, MDYN_WARN_REDUNDANT },
        { 0.25, 0, 0, MDYN_WARN_CONTRADICTION },
        { 0, 2, 3, MDYN_WARN_EMPTY_RANGE } /* of the follower, which the leader keeps below 1.125 */
    };
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        mdyn_row_report was, is;
        good_model();
        mdyn_coupling c = coupling[0], first = c;
        if (cases[i].code == MDYN_WARN_EMPTY_RANGE) {
            memset(&c, 0, sizeof c);
            c.terms[0] = first.terms[0];
        } else {
            c.offset = wide(-cases[i].offset);
        }
        c.lower = wide(cases[i].lower);
        c.upper = wide(cases[i].upper);
        CHECK_EQUAL(but_for_start(mdyn_init(&sim, &model)), MDYN_OK);
        sim.q[LEADER] = real(0.5);
        sim.q[FOLLOWER] = real(0.375);
        sim.tau[LEADER] = real(0.5);
        for (int s = 0; s < 10; s++) {
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        }
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &was), MDYN_OK);
        memcpy(&before, &sim, sizeof sim);
        CHECK_EQUAL(mdyn_set_coupling(&sim, 1, &c), cases[i].code);
        CHECK_EQUAL(sim.culprit.code, cases[i].code);
        CHECK_EQUAL(sim.culprit.index, cases[i].code == MDYN_WARN_EMPTY_RANGE ? LEADER : 1);
        CHECK(memcmp(sim.q, before.q, sizeof sim.q) == 0);
        CHECK(memcmp(sim.v, before.v, sizeof sim.v) == 0);
        CHECK(memcmp(&sim.report, &before.report, sizeof sim.report) == 0);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &is), MDYN_OK);
        CHECK(of_wide(is.impulse) == of_wide(was.impulse) && is.flags == was.flags);

        /* a sim that began with it and is put where this one is steps to the same place */
        coupling[1] = c;
        CHECK_EQUAL(mdyn_init(&before, &model), cases[i].code);
        copy_inputs(&before, &sim);
        CHECK_EQUAL(mdyn_reset(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_reset(&before), MDYN_OK);
        steps_agree(&sim, &before, 10);
        CHECK_EQUAL(sim.report.redundant, cases[i].code != MDYN_WARN_EMPTY_RANGE);
        CHECK_EQUAL(sim.report.contradictory, cases[i].code == MDYN_WARN_CONTRADICTION);
    }
}

/* ---- inputs of a step ---- */

/* The calls that look at what is bad refuse it too. kind: 0 q, 1 v, 2 tau, 5 wrench. */
static void queries_refuse(int kind, int index) {
    static int (*const of_state[])(mdyn_sim *, int) = {
        c_pose, c_velocity, c_jacobian, c_mass, c_energy, c_response, c_response2, c_column,
        c_project, c_follow
    };
    static int (*const of_forces[])(mdyn_sim *, int) = {
        c_forward, c_coupled, c_bias, c_inverse /* the last two without tau */
    };
    int n = (int)(sizeof of_state / sizeof *of_state);
    for (int i = 0; i < 16; i++) {
        many[i] = wide(0);
    }
    for (int i = 0; kind < 2 && i < n; i++) {
        CHECK_EQUAL(of_state[i](&sim, 0), MDYN_ERR_STATE);
        CHECK_EQUAL(sim.culprit.index, index);
    }
    for (int i = 0; kind < 3 || kind > 4 ? i < (kind == 2 ? 2 : 4) : 0; i++) {
        CHECK_EQUAL(of_forces[i](&sim, 0), MDYN_ERR_STATE);
        CHECK_EQUAL(sim.culprit.index, index);
    }
}

/* NaN, infinity and 2^23 in every input: the state is left as it was. */
static void test_bad_inputs(void) {
    static mdyn_sim start;
    good_model();
    body[FOLLOWER].drive_kp = wide(1);
    CHECK_EQUAL(but_for_start(mdyn_init(&start, &model)), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&start), MDYN_OK);
    const struct {
        size_t offset;
        int count, size, stride;
    } inputs[] = {
        { offsetof(mdyn_sim, q), 13, 1, 1 }, { offsetof(mdyn_sim, v), 11, 1, 1 },
        { offsetof(mdyn_sim, tau), 11, 1, 1 }, { offsetof(mdyn_sim, target) , 2, 1, 1 },
        { offsetof(mdyn_sim, target_velocity), 2, 1, 1 },
        { offsetof(mdyn_sim, wrench), BODIES * 6, 6, 1 }
    };
    for (int k = 0; k < 6; k++) {
        for (int i = 0; i < inputs[k].count; i++) {
            for (int b = 0; b < CHECK_BAD_REALS; b++) {
                size_t at = inputs[k].offset + (size_t)i * sizeof(mdyn_real);
                memcpy(&sim, &start, sizeof sim);
                bad_real((char *)&sim + at, b);
                memcpy(&before, &sim, sizeof sim);
                int same = CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_STATE);
                same &= CHECK_EQUAL(sim.culprit.index, i / inputs[k].size);
                before.culprit = sim.culprit;
                same &= CHECK(check_same_sim(&before, &sim));
                if (b == 2) {
                    queries_refuse(k, i / inputs[k].size);
                    before.culprit = sim.culprit;
                    same &= CHECK(check_same_sim(&before, &sim));
                }
                if (!same) {
                    CHECK_NOTE("input %d, number %d, value %d\n", k, i, b);
                }
            }
        }
    }
    memcpy(&sim, &start, sizeof sim);
    memset(&sim.q[2], 0, 4 * sizeof sim.q[2]);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_STATE); /* a quaternion that is zero */
    CHECK_EQUAL(sim.culprit.index, 2);
    seen(MDYN_ERR_STATE);
}

/* After an error: all that is public is as in `before`, but for the culprit. */
static void untouched(void) {
    before.culprit = sim.culprit;
    CHECK(check_same_sim(&before, &sim));
}

/* The other numbers that a call takes. */
static void test_bad_arguments(void) {
    static mdyn_wide a[MIMICDYN_MAX_DOFS], tau[MIMICDYN_MAX_DOFS], J[6 * MIMICDYN_MAX_DOFS];
    good_model();
    CHECK_EQUAL(but_for_start(mdyn_init(&sim, &model)), MDYN_OK);
    for (int i = 0; i < 3; i++) {
        for (int b = 0; b < CHECK_BAD_REALS; b++) {
            mdyn_real3 point = { MDYN_R(0), MDYN_R(0), MDYN_R(0) };
            bad_real(i == 0 ? &point.x : i == 1 ? &point.y : &point.z, b);
            memcpy(&before, &sim, sizeof sim);
            CHECK_EQUAL(mdyn_jacobian(&sim, 1, &point, J), MDYN_ERR_STATE);
            CHECK_EQUAL(mdyn_velocity(&sim, 1, &point, &vector, &vector2), MDYN_ERR_STATE);
            untouched();
        }
    }
    for (int i = 0; i < 11; i++) {
        for (int b = 0; b < CHECK_BAD_WIDES; b++) {
            bad_wide(&a[i], b);
            CHECK_EQUAL(mdyn_inverse_dynamics(&sim, a, tau), MDYN_ERR_STATE);
            CHECK_EQUAL(sim.culprit.index, i);
            a[i] = wide(0);
        }
    }
    CHECK_EQUAL(mdyn_inverse_dynamics(&sim, a, tau), MDYN_OK);
}

/* Just inside the range is a state, and a motion that would leave it is refused whole; what
   follows is as if nobody had asked. */
static void test_overflow(void) {
    static mdyn_sim calm;
    chain_model(2);
    CHECK_EQUAL(but_for_start(mdyn_init(&sim, &model)), MDYN_OK);
    sim.q[0] = real(8388592);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    sim.q[0] = real(8388592); /* a step goes no farther than 8388600 */
    sim.v[0] = real(7000);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    sim.q[0] = real(8388592);
    sim.v[0] = real(9000);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_OVERFLOW);
    sim.v[0] = real(80000);
    sim.v[1] = real(1);
    sim.report.iterations = 77; /* what the last good step did */
    memcpy(&before, &sim, sizeof sim);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_OVERFLOW);
    CHECK_EQUAL(sim.culprit.index, 0);
    untouched();
    CHECK_EQUAL(but_for_start(mdyn_init(&sim, &model)), MDYN_OK);
    for (int i = 0; i < 10; i++) {
        sim.tau[1] = real(0.3 * i);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    memcpy(&calm, &sim, sizeof sim);
    sim.v[1] = real(8388600);
    sim.tau[1] = real(8000000);
    memcpy(&before, &sim, sizeof sim);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_OVERFLOW);
    untouched();
    sim.v[1] = calm.v[1];
    sim.tau[1] = calm.tau[1];
    calm.v[1] = real(0); /* both now have a speed that was written: that has no more digits */
    CHECK_EQUAL(mdyn_energy(&calm, many, many + 1), MDYN_OK);
    calm.v[1] = sim.v[1];
    steps_agree(&sim, &calm, 10);
    seen(MDYN_ERR_OVERFLOW);
}

/* Results beyond 1e30 are refused, and nothing is written: here of a body whose moment of inertia
   is 1e20 kg m^2. */
static void test_results_overflow(void) {
    mdyn_wide a[1], out[2] = { wide(7), wide(7) };
    chain_model(1);
    body[0].mass = wide(1e4);
    body[0].com = wide3(1e8, 0, 0);
    body[0].axis = wide3(0, 0, 1);
    CHECK_EQUAL(but_for_start(mdyn_init(&sim, &model)), MDYN_OK);
    a[0] = wide(1e9);
    CHECK_EQUAL(mdyn_inverse_dynamics(&sim, a, out), MDYN_OK);
    CHECK_NEAR(of_wide(out[0]) / 1e29, 1, BY_SCALAR(1e-15, 1e-6, 1e-8));
    a[0] = wide(1e11);
    out[0] = out[1] = wide(7);
    CHECK_EQUAL(mdyn_inverse_dynamics(&sim, a, out), MDYN_ERR_RESULT);
    CHECK_EQUAL(sim.culprit.index, 0);
    sim.v[0] = real(1e6);
    CHECK_EQUAL(mdyn_energy(&sim, out, out + 1), MDYN_ERR_RESULT);
    CHECK(of_wide(out[0]) == 7 && of_wide(out[1]) == 7);
    for (int far = 0; far < 2; far++) { /* 1e4 and 1e8 m/s */
        mdyn_real3 point = { real(0), real(far ? 100 : 0.01), real(0) }, w = point, u = point;
        CHECK_EQUAL(mdyn_velocity(&sim, 0, &point, &w, &u), far ? MDYN_ERR_RESULT : MDYN_OK);
        CHECK_NEAR(of_real(u.x), far ? 0 : -1e4, BY_SCALAR(1e-11, 1e-2, 1e-4));
        CHECK_NEAR(of_real(w.z), far ? 0 : 1e6, 0);
    }
    sim.v[0] = real(1e3);
    CHECK_EQUAL(mdyn_energy(&sim, out, out + 1), MDYN_OK);
    seen(MDYN_ERR_RESULT);
}

/* A massless arm that turns, and a point mass that slides along it: over the axis nothing has
   inertia any more. */
static void test_singular(void) {
    chain_model(2);
    memset(&body[0], 0, sizeof body[0]);
    memset(&body[1], 0, sizeof body[1]);
    body[0].parent = MDYN_WORLD;
    body[0].joint = MDYN_REVOLUTE;
    body[1].joint = MDYN_PRISMATIC;
    body[1].axis.x = wide(1);
    body[1].position.x = wide(1);
    body[1].mass = wide(1);
    CHECK_EQUAL(init_explicit(&sim, &model), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    sim.q[1] = real(-1);
    sim.v[1] = real(1);
    memcpy(&before, &sim, sizeof sim);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_SINGULAR);
    CHECK_EQUAL(sim.culprit.index, 0);
    untouched();
    CHECK_EQUAL(mdyn_forward_dynamics(&sim, many), MDYN_ERR_SINGULAR);
    CHECK_EQUAL(mdyn_constrained_dynamics(&sim, many), MDYN_ERR_SINGULAR);
    CHECK_EQUAL(mdyn_inverse_mass_column(&sim, 1, many), MDYN_ERR_SINGULAR);
    CHECK_EQUAL(mdyn_impulse_response(&sim, 0, 1, many), MDYN_ERR_SINGULAR);
    CHECK_EQUAL(mdyn_project(&sim, MDYN_MASS_METRIC), MDYN_ERR_SINGULAR);
    CHECK_EQUAL(mdyn_bias_force(&sim, many), MDYN_OK); /* needs no inverse */
    sim.q[1] = real(-0.5);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    seen(MDYN_ERR_SINGULAR);
}

/* A rotor carries one of 1e3 kg m^2 on the same axis: its own 1e-15 is below the rounding of their
   sum, 1 is not. */
static void test_lost_inertia(void) {
    for (int light = 0; light < 2; light++) {
        chain_model(2);
        memset(&body[0], 0, sizeof body[0]);
        memset(&body[1], 0, sizeof body[1]);
        body[0].parent = MDYN_WORLD;
        body[0].joint = body[1].joint = MDYN_REVOLUTE;
        body[0].axis.z = body[1].axis.z = wide(1);
        body[0].armature = wide(light ? 1e-15 : 1);
        body[1].mass = wide(1);
        body[1].inertia.xx = body[1].inertia.yy = body[1].inertia.zz = wide(1e3);
        CHECK_EQUAL(mdyn_init(&sim, &model), light ? MDYN_ERR_MASSLESS : MDYN_OK);
        CHECK_EQUAL(sim.culprit.index, light ? 0 : -1);
    }
}

/* A direction and place of a body that no number of the table is aligned with. */
static void place_anywhere(mdyn_body *b, int parent, mdyn_joint joint) {
    memset(b, 0, sizeof *b);
    b->parent = (int16_t)parent;
    b->joint = joint;
    double x[10];
    for (int k = 0; k < 10; k++) {
        x[k] = random_in(0.1, 1) * (random_int(2) ? 1 : -1);
    }
    b->axis = wide3(x[0], x[1], x[2]);
    b->position = wide3(x[3], x[4], x[5]);
    b->rotation.w = wide(x[6]);
    b->rotation.x = wide(x[7]);
    b->rotation.y = wide(x[8]);
    b->rotation.z = wide(x[9]);
}

/* A rod of 1 kg along n, whose inertia about n is `thin` of that across it. */
static void make_rod(mdyn_body *b, const double *n, double thin) {
    const double l = n[0] * n[0] + n[1] * n[1] + n[2] * n[2], x = 1 - thin;
    b->mass = wide(1);
    b->com = wide3(n[0], n[1], n[2]);
    b->inertia.xx = wide(l - x * n[0] * n[0]);
    b->inertia.yy = wide(l - x * n[1] * n[1]);
    b->inertia.zz = wide(l - x * n[2] * n[2]);
    b->inertia.xy = wide(-x * n[0] * n[1]);
    b->inertia.xz = wide(-x * n[0] * n[2]);
    b->inertia.yz = wide(-x * n[1] * n[2]);
    b->inertia_as_given = 1; /* its triangle is flat, to rounding */
}

/* What no pose gives an inertia is refused however it lies in its frames, where rounding alone
   makes M regular: a point mass on a ball joint, or on three hinges through a point; a thin rod on
   a ball joint at its end or on a hinge along it; two points that float; a slider on a massless
   body that floats; a ball joint in the axis of a massless hinge. Rods that are a little thicker
   are accepted. */
static void test_no_inertia_anywhere(void) {
    enum { KINDS = 7 };
    random_seed(7);
    for (int trial = 0; trial < 50 * KINDS; trial++) {
        const int kind = trial % KINDS, three = kind == 1, ball = kind == 0 || kind == 2;
        chain_model(1 + 2 * three + (kind >= 4));
        for (int i = 0; i < model.body_count; i++) {
            place_anywhere(&body[i], i - 1, ball ? MDYN_SPHERICAL : MDYN_REVOLUTE);
            if (three && i > 0) {
                body[i].position = wide3(0, 0, 0);
            }
        }
        mdyn_body *last = &body[model.body_count - 1];
        const double n[3] = { random_in(0.1, 1), random_in(-1, 1), random_in(-1, 1) };
        last->mass = wide(1);
        last->com = wide3(n[0], n[1], n[2]);
        if (kind == 2 || kind == 3) {
            make_rod(last, n, 0);
            last->axis = wide3(n[0], n[1], n[2]);
        }
        if (kind == 4 || kind == 5) {
            body[0].joint = MDYN_FREE;
            body[0].mass = wide(kind == 4);
            body[0].com = wide3(n[1], 1, n[2]);
            last->joint = kind == 4 ? MDYN_FIXED : MDYN_PRISMATIC;
        }
        if (kind >= 5) {
            last->inertia.xx = last->inertia.yy = last->inertia.zz = wide(0.1);
        }
        if (kind == 6) {
            last->joint = MDYN_SPHERICAL;
            last->com = wide3(0, 0, 0);
            body[0].axis = last->position = wide3(n[0], n[1], n[2]);
        }
        if (!CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_ERR_MASSLESS)) {
            CHECK_NOTE("kind %d, trial %d\n", kind, trial);
        }
        if (kind == 2 || kind == 3) {
            make_rod(last, n, BY_SCALAR(1e-11, 1e-4, 1e-5));
            CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
        }
    }
}

/* The codes of mdyn_lcp_dantzig and mdyn_lcp_pgs; tests/test_lcp.c has more of each. */
static void test_lcp_codes(void) {
    static mdyn_wide A[4], b[2], lo[2], hi[2], x[2];
    static int16_t findex[2] = { -1, -1 };
    static mdyn_lcp_cell cells[MDYN_LCP_SCRATCH(2)];
    enum { ROOM = MDYN_LCP_SCRATCH(2) };
    mdyn_lcp p = { 2, A, b, lo, hi, findex, MDYN_TWO_STAGE };
    for (int i = 0; i < 2; i++) { /* the same row twice, x + y = 1 and x + y = 2 */
        A[i] = A[2 + i] = wide(1);
        b[i] = wide(1 + i);
        lo[i] = -MDYN_UNLIMITED;
        hi[i] = MDYN_UNLIMITED;
    }
    CHECK_EQUAL(mdyn_lcp_dantzig(&p, x, NULL, cells, ROOM, NULL), MDYN_WARN_NO_SOLUTION);
    CHECK_EQUAL(mdyn_lcp_pgs(&p, NULL, x, NULL, cells, ROOM, NULL), MDYN_WARN_NOT_CONVERGED);
    CHECK_EQUAL(mdyn_lcp_pgs(&p, NULL, x, NULL, cells, 1, NULL), MDYN_ERR_LCP_SIZE);
    findex[1] = 1;
    CHECK_EQUAL(mdyn_lcp_dantzig(&p, x, NULL, cells, ROOM, NULL), MDYN_ERR_FINDEX);
    findex[1] = -1;
    A[0] = wide(-1);
    CHECK_EQUAL(mdyn_lcp_dantzig(&p, x, NULL, cells, ROOM, NULL), MDYN_ERR_LCP_MATRIX);
    A[0] = wide(1);
    A[1] = wide(0.5);
    CHECK_EQUAL(mdyn_lcp_dantzig(&p, x, NULL, cells, ROOM, NULL), MDYN_ERR_LCP_SYMMETRY);
    A[1] = wide(1);
    lo[1] = wide(1);
    hi[1] = wide(0);
    CHECK_EQUAL(mdyn_lcp_dantzig(&p, x, NULL, cells, ROOM, NULL), MDYN_ERR_LCP_BOUNDS);
    seen(MDYN_WARN_NO_SOLUTION);
    seen(MDYN_WARN_NOT_CONVERGED);
    seen(MDYN_ERR_LCP_SYMMETRY);
    seen(MDYN_ERR_LCP_BOUNDS);
    seen(MDYN_ERR_LCP_SIZE);
    seen(MDYN_ERR_FINDEX);
    seen(MDYN_ERR_LCP_MATRIX);
}

/* ---- what the library says ---- */

static void test_texts(void) {
    static const struct {
        int code;
        const char *name;
    } codes[] = {
#define CODE(name, value, sentence, remedy) { value, #name },
        MDYN_CODES(CODE)
    };
    int count = (int)(sizeof codes / sizeof *codes);
    for (int i = 0; i < count; i++) {
        const char *say = mdyn_text(codes[i].code), *help = mdyn_remedy(codes[i].code);
        CHECK(say != NULL && strlen(say) > 5);
        CHECK(help != NULL && strlen(help) > 4);
        CHECK(!strstr(codes[i].name, "CAPACITY") || strstr(help, "mdyn_required"));
        for (int j = 0; j < i; j++) {
            CHECK(codes[i].code != codes[j].code);
            CHECK(strcmp(say, mdyn_text(codes[j].code)) != 0);
        }
        int elsewhere = codes[i].code == MDYN_ERR_TREE     /* test_rotors.c */
                        || codes[i].code == MDYN_ERR_LEFT_OUT /* bake/run.c */
                        || codes[i].code == MDYN_ERR_BEYOND /* test_indices.c */
                        || codes[i].code == MDYN_ERR_ROOM /* test_explain.c */
                        || codes[i].code == MDYN_ERR_NO_STEP /* test_wrench.c */
                        || (codes[i].code <= MDYN_ERR_CURVE
                            && codes[i].code >= MDYN_ERR_CURVED) /* test_curves.c */
                        || (codes[i].code <= MDYN_ERR_SAVED
                            && codes[i].code >= MDYN_ERR_SAVED_MODEL) /* test_save.c */
                        || codes[i].code == MDYN_WARN_LONG_STEP /* test_motion.c */
                        || codes[i].code == MDYN_WARN_DIGITS /* test_trains.c */
                        || codes[i].code == MDYN_WARN_NEARLY_REDUNDANT /* test_reduce.c */
                        || codes[i].code == MDYN_WARN_START
                        || codes[i].code == MDYN_WARN_OFF_COUPLING
                        || (codes[i].code <= MDYN_ERR_BUSY
                            && codes[i].code >= MDYN_ERR_REPLACED); /* test_tables.c */
        if (!CHECK(elsewhere || reached[codes[i].code + 128])) {
            CHECK_NOTE("no test reaches %s\n", codes[i].name);
        }
    }
    static const int unknown[] = { -1000, 1000, INT_MIN, INT_MAX, -128, 127 };
    for (int i = 0; i < 6; i++) {
        CHECK(mdyn_text(unknown[i]) != NULL && mdyn_remedy(unknown[i]) != NULL);
        CHECK(mdyn_text(unknown[i])[0] != 0);
    }
}

int main(int argc, char **argv) {
    static void (*const tests[])(void) = {
        test_good, test_mistakes_of_bodies, test_mistakes_of_couplings,
        test_mistakes_of_rows_on_bodies, test_order_of_tables, test_ends_of_dt,
        test_capacities, test_entries, test_no_room_for_coupling, test_bad_numbers, test_redundant,
        test_contradictory, test_empty_range, test_not_ready, test_null, test_indices,
        test_set_coupling, test_set_coupling_warns, test_bad_inputs, test_bad_arguments,
        test_overflow, test_results_overflow, test_singular, test_lost_inertia,
        test_no_inertia_anywhere, test_lcp_codes, test_texts
    };
    check_begin(argc, argv);
    for (int i = 0; i < (int)(sizeof tests / sizeof *tests); i++) {
        tests[i]();
    }
    return check_end();
}
