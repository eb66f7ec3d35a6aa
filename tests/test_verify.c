/* mdyn_verify: of sims with one private bit flipped, those that it passes neither crash nor hang;
   what is constant is always told; and no call or step of a sound sim is. Run under sanitizers. */
#include "knobs_few.h"
#include "check.h"
#include "sims.h"

static mdyn_sim sim, hurt;
static mdyn_body body[5];
static mdyn_coupling coupling[2];
static mdyn_closure closure[1];
static mdyn_user_row user_row[1];
static mdyn_model model;

/* A free body, a chain with limits, drives, friction and a closure, two couplings, a user row. */
static void make_model(int n) {
    static const mdyn_method methods[] = { MDYN_PGS, MDYN_TGS, MDYN_DANTZIG };
    memset(body, 0, sizeof body);
    memset(&model, 0, sizeof model);
    memset(closure, 0, sizeof closure);
    memset(user_row, 0, sizeof user_row);
    for (int i = 0; i < 5; i++) {
        body[i].parent = (int16_t)(i == 4 ? MDYN_WORLD : i - 1);
        body[i].joint = i == 4 ? MDYN_FREE : i == 2 ? MDYN_PRISMATIC : MDYN_REVOLUTE;
        body[i].axis = wide3(0.1 * i, 1, 0);
        body[i].position = wide3(0.3, 0, 0.1);
        body[i].mass = wide(1 + i);
        body[i].com = wide3(0.1, 0.02, 0.2);
        body[i].inertia.xx = body[i].inertia.yy = body[i].inertia.zz = wide(0.1);
    }
    body[0].upper = wide(0.5);
    body[1].drive_kp = wide(20);
    body[1].effort = wide(n % 2 ? 5 : 0);
    body[2].friction = wide(0.2);
    body[3].damping = wide(0.1);
    coupling[0] = mimic_of(3, 0, 0.5, 0.1);
    coupling[1] = mimic_of(2, 1, 0.1, 0);
    coupling[1].efficiency = wide(n % 3 ? 0 : 0.9);
    closure[0].kind = n % 2 ? MDYN_CLOSE_POINT : MDYN_CLOSE_DISTANCE;
    closure[0].a = 3;
    closure[0].b = MDYN_WORLD;
    closure[0].distance = wide(0.4);
    closure[0].softness.kind = MDYN_KP_KD;
    closure[0].softness.a = closure[0].softness.b = wide(5);
    user_row[0].terms[0].body = 1;
    user_row[0].terms[0].angular.x = wide(1);
    user_row[0].force_max = wide(1);
    model.bodies = body;
    model.body_count = 5;
    model.couplings = coupling;
    model.coupling_count = 2;
    model.closures = closure;
    model.closure_count = n % 4 != 0;
    model.user_rows = user_row;
    model.user_row_count = n % 4 == 1;
    model.gravity = wide3(0, 0, -9.81);
    model.dt = wide(0x1p-10);
    model.solver.method = methods[n % 3];
    model.solver.equality = n % 5 == 2 && n % 3 != 1 ? MDYN_ITERATED : MDYN_EXACT;
    model.solver.limits = n % 7 == 3 ? MDYN_ENGAGED : MDYN_SPECULATIVE;
    model.solver.forces = n % 8 < 5 ? MDYN_ON_REQUEST : MDYN_EVERY_STEP;
}

static void touch(mdyn_sim *s, int n) {
    mdyn_contact c;
    memset(&c, 0, sizeof c);
    c.a = 4;
    c.b = MDYN_WORLD;
    c.normal.z = real(1);
    c.mu = wide(0.5);
    if (n % 3 != 1) {
        mdyn_set_contacts(s, &c, 1);
    }
}

/* Steps and calls of every kind; what they return is not looked at. */
static void use(mdyn_sim *s, int n) {
    static mdyn_wide numbers[256];
    char text[400];
    mdyn_row_report r;
    mdyn_wide a, b;
    mdyn_real3 p;
    mdyn_real4 turn;
    mdyn_report_row(s, MDYN_ROW_COUPLING, 1, &r); /* a force that waits */
    for (int k = 0; k < 3; k++) {
        touch(s, n);
        mdyn_step(s);
    }
    for (int kind = 0; kind <= MDYN_ROW_CONTACT; kind++) {
        for (int k = 0; k < 14; k++) {
            mdyn_report_row(s, (mdyn_row_kind)kind, k, &r);
            mdyn_explain(s, (mdyn_row_kind)kind, k, text, (int)sizeof text);
        }
    }
    for (int i = 0; i < 5; i++) {
        mdyn_pose(s, i, &p, &turn);
        mdyn_range(s, i, &a, &b);
        mdyn_jacobian(s, i, NULL, numbers);
    }
    mdyn_coupling_force(s, 1, 0, &a);
    mdyn_energy(s, &a, &b);
    mdyn_mass_matrix(s, numbers);
    mdyn_forward_dynamics(s, numbers);
    mdyn_constrained_dynamics(s, numbers);
    mdyn_project(s, n % 2 ? MDYN_FOLLOWERS : MDYN_MASS_METRIC);
    mdyn_set_body(s, 1, &body[2]);
    mdyn_set_body(s, 1, &body[1]);
    mdyn_set_coupling(s, 0, &coupling[0]);
    mdyn_step(s);
    mdyn_reset(s);
    mdyn_step(s);
}

static void start(int n) {
    make_model(n);
    CHECK(mdyn_init(&sim, &model) >= 0);
    CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
    for (int k = 0; k < sim.dofs; k++) {
        sim.v[k] = real(0.3 * k - 1);
    }
    for (int k = 0; k < n % 6; k++) {
        touch(&sim, n);
        CHECK(mdyn_step(&sim) >= 0);
        CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
    }
}

static void test_sound(void) {
    for (int n = 0; n < 210; n++) {
        start(n);
        use(&sim, n);
        CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
    }
}

static void test_flips(void) {
    const size_t size = sizeof(mdyn_sim), counts = offsetof(mdyn_sim, q); /* and flags */
    const size_t constant = offsetof(mdyn_sim, model), end = offsetof(mdyn_sim, ready_mark);
    int told = 0, constants = 0;
    for (int n = 0; n < 1000; n++) {
        if (n % 10 == 0) {
            start(n / 10);
        }
        hurt = sim;
        /* every second one in the first part, where entries do not drown the rest */
        size_t at = (size_t)(random_bits() >> 8) % (n % 2 ? size : size / 4);
        if (n % 16 == 0) {
            at = (size_t)(random_bits() >> 8) % counts;
        }
        if (at >= offsetof(mdyn_sim, q) && at < offsetof(mdyn_sim, q_seen)) {
            continue; /* what users may write */
        }
        ((unsigned char *)&hurt)[at] ^= (unsigned char)(1 << random_int(8));
        int code = mdyn_verify(&hurt);
        CHECK(code == MDYN_OK || code == MDYN_ERR_MEMORY || code == MDYN_ERR_NOT_READY);
        told += code != MDYN_OK;
        if ((at >= constant && at < end)
            || (at >= offsetof(mdyn_sim, bodies) && at < offsetof(mdyn_sim, forces_wait))) {
            CHECK_EQUAL(code, MDYN_ERR_MEMORY);
            constants++;
        }
        if (code == MDYN_OK) {
            use(&hurt, n / 10);
        }
    }
    CHECK(constants > 50 && told >= constants);
    CHECK_NOTE("%d of 1000 told\n", told);
}

/* No sim is in the middle of a step when a call begins. */
static void test_in_middle(void) {
    start(0);
    sim.is_in_middle = 1;
    CHECK_EQUAL(mdyn_verify(&sim), MDYN_ERR_MEMORY);
    sim.is_in_middle = 0;
    CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
}

/* The digits beyond q and v are below 1: with others a step ended with code 0 and q beyond 2^23. */
static void test_tails(void) {
    start(0);
    sim.q[4] = real(8388000); /* of the free body, where they are largest */
    sim.q[5] = real(-8388000);
    for (int k = 0; k < 5; k++) {
        CHECK(mdyn_step(&sim) >= 0);
        CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
    }
#if MDYN_SCALAR != MDYN_SCALAR_FIXED /* where all are */
    static const double wrong[] = { 1, -2e31, (double)NAN, (double)INFINITY };
    for (int n = 0; n < 4 * (sim.coordinates + sim.dofs); n++) {
        const int k = n / 4;
        hurt = sim;
        *(k < sim.coordinates ? &hurt.q_tail[k] : &hurt.v_tail[k - sim.coordinates]) =
            real(wrong[n % 4]);
        CHECK_EQUAL(mdyn_verify(&hurt), MDYN_ERR_MEMORY);
    }
#endif
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_sound();
    test_in_middle();
    test_tails();
    test_flips();
    return check_end();
}
