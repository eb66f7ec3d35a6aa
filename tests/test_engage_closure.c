/* Closures that are released, engaged and closed where the bodies are: steps against the dense
   solution of truth_step.h with the rows of those that are engaged; the gap that mdyn_close_here
   leaves, by the poses of truth.h; what is refused, and that it changes nothing. */
#include "knobs.h"
#include "check.h"
#include "truth.h"
#include "truth_step.h"
#include "rows_on_bodies.h"

/*                         F64    F32  FIXED */
TOLERANCE(ENGAGED,       1e-11,  3e-3,  1e-3); /* parts of the motion, as in test_closures */
TOLERANCE(CLOSED,        5e-14,  1e-5,  1e-7); /* m, rad */

/* A mechanism in motion with two closures, the second of any kind. */
static void draw_closures(mdyn_method method, mdyn_closure_kind first, double off) {
    draw_mechanism(4 + random_int(4), 30, random_int(2) ? FOREST : FLOATING);
    solve_well(method);
    const mdyn_sim kept = start_without_rows(2);
    mech.model.closure_count = 2;
    memset(closure, 0, sizeof closure);
    for (int i = 0; i < 2; i++) {
        random_closure(&closure[i], i ? (mdyn_closure_kind)random_int(4) : first, off);
        closure[i].distance = wide(0.02 + fabs(of_wide(closure[i].distance)));
        random_softness(&closure[i].softness);
        closure[i].effort = wide(random_int(3) ? 0 : random_in(5, 50));
    }
    start_again(&kept);
}

static int rows_of(const mdyn_closure *c) {
    return c->kind == MDYN_CLOSE_DISTANCE ? 1 : c->kind == MDYN_CLOSE_POINT ? 3
                                            : c->kind == MDYN_CLOSE_HINGE ? 5 : 6;
}

/* A step with both, one without the second, one with both again: each is that of the rows engaged,
   and a released one reports no force. */
static void releases(mdyn_method method) {
    outcomes o = { 0 };
    int released = 0, again = 0;
    for (int n = 0; n < 150; n++) {
        random_seed(4100 + (uint64_t)n);
        draw_closures(method, MDYN_CLOSE_DISTANCE, 0.01);
        if (n % 2 && !step_compares(ENGAGED, &o)) {
            continue;
        }
        CHECK_EQUAL(mdyn_engage_closure(&sim, 1, MDYN_RELEASE), MDYN_OK);
        mech.model.closure_count = 1; /* the dense rows; the sim counted at the start */
        for (int k = 0; k < mdyn_dofs(&sim); k++) {
            sim.tau[k] = real(random_in(-5, 5));
        }
        if (step_compares(ENGAGED, &o)) {
            for (int k = 0; k < rows_of(&closure[1]); k++) {
                mdyn_row_report r;
                CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CLOSURE, 6 + k, &r), MDYN_OK);
                CHECK_EQUAL(r.flags, MDYN_ROW_RELEASED);
                CHECK(of_wide(r.force) == 0 && of_wide(r.impulse) == 0);
            }
            released++;
        }
        CHECK_EQUAL(mdyn_engage_closure(&sim, 1, MDYN_ENGAGE_OFFSET), MDYN_OK);
        mech.model.closure_count = 2;
        again += step_compares(ENGAGED, &o);
    }
    CHECK(released >= 120 && again >= 100);
    tell_outcomes("released", &o);
}

/* sin of the angle between the axes of a hinge. */
static double lean(const mdyn_closure *c) {
    ld a[3], b[3], x[3];
    t_wide3(a, &c->axis_a);
    t_wide3(b, &c->axis_b);
    unit(a);
    unit(b);
    turned(a, c->a, a);
    turned(b, c->b, b);
    t_cross(x, a, b);
    return (double)sqrtl(t_dot(x, x));
}

/* From anywhere: nothing is open, and what is not of this kind is unchanged. */
static void closes_here(void) {
    for (int n = 0; n < 200; n++) {
        ld arm[2][3], gap[3], turn[3];
        random_seed(5200 + (uint64_t)n);
        draw_closures(MDYN_PGS, (mdyn_closure_kind)(n % 4), 0.3);
        const mdyn_closure before = closure[0];
        mdyn_closure *c = &closure[0];
        CHECK_EQUAL(mdyn_close_here(&sim, c), MDYN_OK);
        look();
        dense_loop(c, arm, gap);
        const double open = (double)sqrtl(t_dot(gap, gap));
        if (c->kind == MDYN_CLOSE_DISTANCE) {
            CHECK_NEAR(open - of_wide(c->distance), 0, CLOSED);
            CHECK(memcmp(&before.point_b, &c->point_b, sizeof c->point_b) == 0);
        } else {
            CHECK_NEAR(open, 0, CLOSED);
            CHECK(memcmp(&before.distance, &c->distance, sizeof c->distance) == 0);
        }
        if (c->kind == MDYN_CLOSE_HINGE) {
            CHECK_NEAR(lean(c), 0, CLOSED);
        } else {
            CHECK(memcmp(&before.axis_b, &c->axis_b, sizeof c->axis_b) == 0);
        }
        if (c->kind == MDYN_CLOSE_WELD) {
            weld_turn(c, turn);
            CHECK_NEAR((double)sqrtl(t_dot(turn, turn)), 0, CLOSED);
        } else {
            CHECK(memcmp(&before.rotation, &c->rotation, sizeof c->rotation) == 0);
        }
        CHECK(memcmp(&before.point_a, &c->point_a, sizeof c->point_a) == 0
              && memcmp(&before.axis_a, &c->axis_a, sizeof c->axis_a) == 0);
    }
}

/* An edit is told until the closure is engaged as it now is; a sim that was saved keeps what is
   released. */
static void tables(void) {
    static unsigned char bytes[MDYN_SAVED_SIZE];
    static mdyn_sim other;
    char text[120];
    random_seed(1);
    draw_closures(MDYN_PGS, MDYN_CLOSE_WELD, 0.01);
    CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
    closure[1].point_b.x = wide(of_wide(closure[1].point_b.x) + 0.01);
    CHECK_EQUAL(mdyn_verify(&sim), MDYN_ERR_TABLES);
    CHECK_EQUAL(mdyn_save(&sim, bytes, sizeof bytes), MDYN_ERR_TABLES);
    CHECK_EQUAL(mdyn_engage_closure(&sim, 1, MDYN_ENGAGE_OFFSET), MDYN_OK);
    CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
    mech.model.gravity.x = wide(1); /* another table is still told */
    CHECK_EQUAL(mdyn_engage_closure(&sim, 1, MDYN_RELEASE), MDYN_OK);
    CHECK_EQUAL(mdyn_verify(&sim), MDYN_ERR_TABLES);
    mech.model.gravity.x = wide(0);
    draw_closures(MDYN_PGS, MDYN_CLOSE_WELD, 0.01);

    CHECK_EQUAL(mdyn_engage_closure(&sim, 1, MDYN_RELEASE), MDYN_OK);
    CHECK_EQUAL(mdyn_explain(&sim, MDYN_ROW_CLOSURE, 6, text, sizeof text), MDYN_OK);
    CHECK(strstr(text, "(released)") != NULL);
    CHECK_EQUAL(mdyn_explain(&sim, MDYN_ROW_CLOSURE, 0, text, sizeof text), MDYN_OK);
    CHECK(strstr(text, "(released)") == NULL);
    CHECK_EQUAL(mdyn_save(&sim, bytes, sizeof bytes), MDYN_OK);
    CHECK_EQUAL(mdyn_restore(&other, &mech.model, bytes, sizeof bytes), MDYN_OK);
    CHECK_EQUAL(mdyn_verify(&other), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&other), mdyn_step(&sim));
    CHECK(memcmp(other.q, sim.q, sizeof sim.q) == 0 && memcmp(other.v, sim.v, sizeof sim.v) == 0);
    CHECK_EQUAL(mdyn_engage_closure(&other, 1, MDYN_ENGAGE_OFFSET), MDYN_OK);
    CHECK_EQUAL(mdyn_verify(&other), MDYN_OK);
    CHECK_EQUAL(mdyn_reset(&sim), MDYN_OK); /* forgets what steps left, and no release */
    mdyn_step(&sim);
    mdyn_row_report r;
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CLOSURE, 6, &r), MDYN_OK);
    CHECK_EQUAL(r.flags, MDYN_ROW_RELEASED);
}

/* mdyn_project does not close what is released. */
static void projects(void) {
    static const mdyn_body pair[] = {
        { .parent = MDYN_WORLD, .joint = MDYN_PRISMATIC, .axis = { 0, 0, MDYN_C(1) },
          .mass = MDYN_C(1) },
        { .parent = MDYN_WORLD, .joint = MDYN_PRISMATIC, .axis = { 0, 0, MDYN_C(1) },
          .mass = MDYN_C(1) },
    };
    memset(closure, 0, sizeof closure);
    closure[0].kind = MDYN_CLOSE_POINT;
    closure[0].b = 1;
    memset(&mech, 0, sizeof mech);
    mech.model.bodies = pair;
    mech.model.body_count = 2;
    mech.model.dt = wide(0.001);
    mech.model.closure_count = 1;
    start();
    sim.q[0] = real(0.25);
    CHECK_EQUAL(mdyn_engage_closure(&sim, 0, MDYN_RELEASE), MDYN_OK);
    CHECK_EQUAL(mdyn_project(&sim, MDYN_MASS_METRIC), MDYN_OK);
    CHECK(sim.q[0] == real(0.25) && sim.q[1] == 0);
    CHECK_EQUAL(mdyn_engage_closure(&sim, 0, MDYN_ENGAGE_OFFSET), MDYN_OK);
    CHECK(mdyn_project(&sim, MDYN_MASS_METRIC) >= 0);
    CHECK_NEAR(of_real(sim.q[0]), 0.125, CLOSED);
    CHECK_NEAR(of_real(sim.q[1]), 0.125, CLOSED);

    /* two carts that meet, of equal mass: the impact keeps their momentum */
    CHECK_EQUAL(mdyn_engage_closure(&sim, 0, MDYN_RELEASE), MDYN_OK);
    sim.v[0] = real(1);
    sim.v[1] = real(-0.5);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK(sim.v[0] == real(1) && sim.v[1] == real(-0.5));
    CHECK_EQUAL(mdyn_close_here(&sim, &closure[0]), MDYN_OK);
    CHECK_EQUAL(mdyn_engage_closure(&sim, 0, MDYN_ENGAGE_OFFSET), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(of_real(sim.v[0]), 0.25, CLOSED);
    CHECK_NEAR(of_real(sim.v[1]), 0.25, CLOSED);
}

/* With what the sim is after an error, but for the culprit, two steps go as without the call. */
static void unchanged(const mdyn_sim *before) {
    static mdyn_sim twin;
    twin = *before;
    for (int n = 0; n < 2; n++) {
        CHECK_EQUAL(mdyn_step(&twin), mdyn_step(&sim));
        CHECK(memcmp(twin.q, sim.q, sizeof sim.q) == 0);
    }
}

static void refused(void) {
    static mdyn_sim before;
    random_seed(3);
    draw_closures(MDYN_PGS, MDYN_CLOSE_WELD, 0.01);
    mdyn_step(&sim);
    before = sim;
    CHECK_EQUAL(mdyn_engage_closure(&sim, -1, MDYN_RELEASE), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_engage_closure(&sim, 2, MDYN_RELEASE), MDYN_ERR_INDEX);
    CHECK_EQUAL(sim.culprit.index, 2);
    CHECK_EQUAL(mdyn_engage_closure(&sim, 0, MDYN_ENGAGE_HERE), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_engage_closure(&sim, 0, -1), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_engage_closure(NULL, 0, MDYN_RELEASE), MDYN_ERR_NULL);

    /* entries that no init would take, and one with other rows */
    const mdyn_closure kept = closure[0];
    closure[0].softness.kind = MDYN_ERP_CFM;
    closure[0].softness.a = wide(2);
    CHECK_EQUAL(mdyn_engage_closure(&sim, 0, MDYN_RELEASE), MDYN_ERR_SOFTNESS);
    closure[0] = kept;
    closure[0].kind = kept.kind == MDYN_CLOSE_POINT ? MDYN_CLOSE_WELD : MDYN_CLOSE_POINT;
    closure[0].rotation.w = wide(1);
    CHECK_EQUAL(mdyn_engage_closure(&sim, 0, MDYN_RELEASE), MDYN_ERR_CLOSURE);
    closure[0] = kept;

    mdyn_closure c = kept;
    CHECK_EQUAL(mdyn_close_here(&sim, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_close_here(NULL, &c), MDYN_ERR_NULL);
    c.a = 100;
    CHECK_EQUAL(mdyn_close_here(&sim, &c), MDYN_ERR_CLOSURE);
    bad_wide(&c.point_a.x, 0);
    CHECK_EQUAL(mdyn_close_here(&sim, &c), MDYN_ERR_NOT_FINITE);

    /* points that coincide have no distance */
    memset(&c, 0, sizeof c);
    c.kind = MDYN_CLOSE_DISTANCE;
    c.b = MDYN_WORLD;
    c.distance = wide(1);
    mdyn_closure point = c;
    point.kind = MDYN_CLOSE_POINT;
    CHECK_EQUAL(mdyn_close_here(&sim, &point), MDYN_OK);
    c.point_b = point.point_b;
    CHECK_EQUAL(mdyn_close_here(&sim, &c), MDYN_ERR_RESULT);
    CHECK(of_wide(c.distance) == 1);
    unchanged(&before);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    releases(MDYN_PGS);
    releases(MDYN_DANTZIG);
    closes_here();
    tables();
    projects();
    refused();
    return check_end();
}
