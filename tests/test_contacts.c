/* Contacts: one step against the dense solution of truth_step.h, wedges and stacks in closed form,
   warm starts, what is refused, texts. */
#include "knobs.h"
#include "check.h"
#include "truth.h"
#include "truth_step.h"
#include "rows_on_bodies.h"
#include "boxes.h"

/* What the checks allow, as parts of the motion: some three times the worst of -s 1, 2 and 3. */
/*                         F64    F32  FIXED */
TOLERANCE(CONTACTS,      1e-13,  1e-4,  1e-4);
TOLERANCE(FROM_ZERO,     1e-12,  1e-4,  1e-6);
TOLERANCE(LEANS,         1e-12,  1e-5,  1e-2);
TOLERANCE(PRESS,         1e-12,  1e-6,  1e-9);

/* Contacts with friction on trees, with a closure or an user row. */
static void contacts_against_dense(mdyn_method method) {
    outcomes o = { 0 };
    for (int n = 0; n < 120; n++) {
        random_seed(1500 + (uint64_t)n);
        draw_mechanism(3 + random_int(4), 20, random_int(2) ? FOREST : FLOATING);
        solve_well(method);
        const mdyn_sim kept = start_without_rows(2);
        truth_step_begin(&dense, &t, &mech.model, &sim);
        hits = 1 + random_int(2);
        for (int i = 0; i < hits; i++) {
            random_hit(&hit[i]);
        }
        mech.model.user_row_count = random_int(2);
        random_user_row(&user_row[0], random_int(6));
        mech.model.closure_count = random_int(2);
        random_closure(&closure[0], (mdyn_closure_kind)random_int(4), 0.01);
        closure[0].softness.kind = MDYN_KP_KD;
        closure[0].softness.a = wide(500);
        closure[0].softness.b = wide(5);
        start_again(&kept);
        step_compares(CONTACTS, &o);
    }
    hits = 0;
    CHECK(o.compared >= 108 && o.unsolved <= 12);
    tell_outcomes("contacts", &o);
}

/* ---- boxes ---- */

/* A block m on a wedge M of slope a, on rails: N = m g cos a/(1 + m/M sin^2 a) without friction;
   with mu > tan a nothing moves. */
static void wedge(mdyn_method method) {
    for (int rough = 0; rough < 2; rough++) {
        double a = 0.5235987755982988, m = 1, M = 3, dt = 0x1p-10;
        double N = m * 9.81 * cos(a) / (1 + m / M * sin(a) * sin(a));
        mdyn_contact c;
        mdyn_row_report r;
        memset(&c, 0, sizeof c);
        boxes(1, MDYN_PYRAMID);
        mech.body[1].parent = MDYN_WORLD;
        mech.body[1].joint = MDYN_PRISMATIC;
        mech.body[1].axis.x = wide(1);
        mech.body[1].mass = wide(M);
        mech.model.body_count = 2;
        mech.model.solver.iterations = 5000;
        mech.model.solver.method = method;
        start();
        c.b = 1;
        c.normal.x = real(sin(a));
        c.normal.z = real(cos(a));
        c.mu = wide(rough ? 0.6 : 0);
        CHECK_EQUAL(mdyn_set_contacts(&sim, &c, 1), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CONTACT, 0, &r), MDYN_OK);
        CHECK_NEAR(of_real(sim.v[6]), rough ? 0 : -dt * N * sin(a) / M,
                   BY_SCALAR(5e-18, 3e-9, 1e-10));
        CHECK_NEAR(of_wide(r.force), rough ? 9.81 * m * cos(a) : N, BY_SCALAR(2e-14, 3e-6, 1e-7));
        CHECK_NEAR(of_real(sim.v[3]), rough ? 0 : dt * N * sin(a) / m,
                   BY_SCALAR(5e-18, 5e-9, 2e-10));
        CHECK_NEAR(of_real(sim.v[5]), rough ? 0 : dt * (N * cos(a) / m - 9.81),
                   BY_SCALAR(1e-17, 3e-9, 2e-10));
    }
}

/* The forces of a contact that sticks, on a, along the normal and the tangents that its
   documentation names. */
static void tangents(void) {
    static const double axes[4][3][3] = {
        { { 0, 0, -1 }, { 1, 0, 0 }, { 0, -1, 0 } }, { { 0, 1, 0 }, { 1, 0, 0 }, { 0, 0, -1 } },
        { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
        { { 0.6, 0, 0.8 }, { 0, 1, 0 }, { -0.8, 0, 0.6 } },
    };
    static const double pushed[3] = { -10, 3, 1 };
    for (int i = 0; i < 4; i++) {
        mdyn_contact c;
        mdyn_row_report r;
        double f[3] = { 0, 0, 0 };
        boxes(1, MDYN_PYRAMID);
        mech.model.gravity.z = wide(0);
        start();
        memset(&c, 0, sizeof c);
        c.b = MDYN_WORLD;
        c.mu = wide(1);
        c.normal.x = real(axes[i][0][0]);
        c.normal.y = real(axes[i][0][1]);
        c.normal.z = real(axes[i][0][2]);
        for (int k = 0; k < 9; k++) {
            f[k % 3] += pushed[k / 3] * axes[i][k / 3][k % 3];
        }
        sim.wrench[0].force.x = real(f[0]);
        sim.wrench[0].force.y = real(f[1]);
        sim.wrench[0].force.z = real(f[2]);
        CHECK_EQUAL(mdyn_set_contacts(&sim, &c, 1), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        for (int k = 0; k < 3; k++) {
            CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CONTACT, k, &r), MDYN_OK);
            CHECK_NEAR(of_wide(r.force), -pushed[k], BY_SCALAR(1e-13, 1e-5, 1e-6));
        }
    }
}

/* Boxes on each other stay, just touching and exactly aligned; every joint of the stack carries
   what is above it. Without contacts they fall. */
static void stack(void) {
    for (int n = 0; n < 6; n++) {
        int count = 5;
        double above = 0;
        mdyn_row_report r;
        boxes(count, (mdyn_friction_law)(n % 3));
        for (int k = 0; k < 300; k++) {
            touch(count, 0.5, n < 3 ? 0 : k % 2);
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        }
        for (int i = count - 1; i >= 0; i--) {
            double force = 0;
            for (int k = 0; k < CORNERS; k++) {
                int contact = CORNERS * i + k;
                contact = n < 3 ? contact : CORNERS * count - 1 - contact;
                CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CONTACT, 3 * contact, &r), MDYN_OK);
                force += of_wide(r.force);
            }
            above += (1 + i) * 9.81;
            CHECK_NEAR(force / above, 1.0, BY_SCALAR(2e-11, 2e-2, 7e-4));
            CHECK_NEAR(of_real(sim.q[7 * i + 2]), 0.05 + 0.1 * i, BY_SCALAR(1e-15, 5e-7, 2e-8));
            /* 1000 iterations leave that much */
            CHECK_NEAR(of_real(sim.q[7 * i]), 0.0, BY_SCALAR(1e-7, 1e-7, 3e-8));
        }
        CHECK(of_wide(sim.report.residual) < BY_SCALAR(1e-12, 1e-4, 1e-4));
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK); /* no contacts any more */
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CONTACT, 0, &r), MDYN_ERR_INDEX);
        CHECK_NEAR(of_real(sim.v[5]), -9.81 * 0x1p-10, BY_SCALAR(4e-14, 1e-5, 3e-7));
    }
}

/* How far the top of five boxes has sunk after 200 steps of 20 iterations, which are too few; with
   keys that change by `shift` in each step. */
static double sunk(int shift) {
    boxes(5, MDYN_PYRAMID);
    mech.model.solver.iterations = 20;
    CHECK_EQUAL(mdyn_set_solver(&sim, &mech.model.solver), MDYN_OK);
    for (int k = 0; k < 200; k++) {
        touch_with_keys(5, 0.5, k % 2, CORNERS * shift * k);
        int code = mdyn_step(&sim);
        CHECK(code == MDYN_OK || code == MDYN_WARN_NOT_CONVERGED);
    }
    return 0.45 - of_real(sim.q[7 * 4 + 2]);
}

/* Impulses are found again by key, in whatever order: iterations go on where they were. */
static void contacts_are_recognized(void) {
    double same = sunk(0), other = sunk(1);
    CHECK(same > 0 && 5 * same < other);
}

/* Boxes on each other that overlap by 1 mm, of which a step of 4 iterations takes back 0.2: how far
   one comes to be off its place then. */
static double stack_drifts(mdyn_start begin, int count) {
    double worst = 0;
    boxes(count, MDYN_PYRAMID);
    mech.model.solver.iterations = 4;
    mech.model.solver.start = begin;
    start();
    for (int i = 0; i < count; i++) {
        sim.q[7 * i + 2] = real(0.05 + 0.099 * i);
    }
    for (int n = 0; n < 512; n++) {
        touch(count, 0.5, n % 2);
        int code = mdyn_step(&sim); /* 4 iterations are few */
        if (!CHECK(code == MDYN_OK || code == MDYN_WARN_NOT_CONVERGED)) {
            break;
        }
        for (int i = 0; i < count; i++) {
            worst = worse(worst, fabs(of_real(sim.q[7 * i + 2]) - 0.05 - 0.1 * i));
        }
    }
    return worst;
}

/* Had the warm start kept what takes errors back, they would come off twice as far or more. */
static void warm_stack_stays(void) {
    double stacked = stack_drifts(MDYN_WARM, 5);
    CHECK_NEAR(stacked, 0, 0.0057);
    CHECK(stacked < 1.1 * stack_drifts(MDYN_COLD, 5));
}

/* Up to five boxes on each other, of masses from 0.01 to 1000 kg and random speeds, too near, apart
   or tilted, solved whole or in a few iterations: no contact pulls. */
static void contacts_never_pull(mdyn_method method) {
    int pushes = 0;
    for (int n = 0; n < 300; n++) {
        const int count = 1 + random_int(5);
        boxes(count, MDYN_PYRAMID);
        mech.model.solver.friction_law = method == MDYN_DANTZIG ? MDYN_TWO_STAGE
                                                                : (mdyn_friction_law)random_int(3);
        for (int i = 0; i < count; i++) {
            const double m = pow(10, random_in(-2, 3)), I = m * random_in(1e-3, 1e-2);
            mech.body[i].mass = wide(m);
            mech.body[i].inertia.xx = mech.body[i].inertia.yy = mech.body[i].inertia.zz = wide(I);
        }
        mech.model.solver.method = method;
        mech.model.solver.substeps = (uint16_t)(method == MDYN_TGS ? 1 + random_int(8) : 0);
        mech.model.solver.iterations = (uint16_t)(1 + random_int(30));
        mech.model.solver.correction = random_int(2) ? MDYN_RELAX : MDYN_BAUMGARTE;
        start();
        for (int i = 0; i < count; i++) {
            sim.q[7 * i + 2] = real(0.05 + 0.1 * i + random_in(-0.002, 0.01));
            sim.q[7 * i + 4] = real(random_in(-0.05, 0.05));
            for (int k = 0; k < 6; k++) {
                sim.v[6 * i + k] = real(random_in(-1, 1) * pow(10, random_in(-3, 2)));
            }
        }
        for (int step = 0; step < 5; step++) {
            double largest = 0, least = 0;
            touch(count, random_in(0, 1), random_int(2));
            const int code = mdyn_step(&sim); /* few iterations; pivoting gives friction up */
            CHECK(code == MDYN_OK || code == MDYN_WARN_NOT_CONVERGED ||
                  (method == MDYN_DANTZIG && code == MDYN_WARN_NO_SOLUTION) ||
                  BY_SCALAR(0, 0, code == MDYN_WARN_DIGITS)); /* 1e-2 kg at 1000 kg, 100 m/s */
            for (int k = 0; k < CORNERS * count; k++) {
                mdyn_row_report r;
                CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CONTACT, 3 * k, &r), MDYN_OK);
                largest = fmax(largest, of_wide(r.impulse));
                least = fmin(least, of_wide(r.impulse));
                pushes += of_wide(r.impulse) > 0;
            }
            CHECK_NEAR(least, 0, 64 * check_epsilon * largest);
        }
    }
    CHECK(pushes > 1000);
}

/* Two sliders, one of which follows the other, lie on a contact after their dry friction has ended:
   it takes the place of the row of a limit that the other's limit implies. They fell through it. */
static void contact_where_a_limit_was(void) {
    mdyn_row_report r;
    mdyn_contact c;
    memset(&mech, 0, sizeof mech);
    memset(&c, 0, sizeof c);
    for (int i = 0; i < 2; i++) {
        mech.body[i].parent = MDYN_WORLD;
        mech.body[i].joint = MDYN_PRISMATIC;
        mech.body[i].mass = wide(1);
        mech.body[i].lower = wide(-1 - i);
        mech.body[i].upper = wide(1 + i);
    }
    mech.body[0].friction = wide(1);
    mech.coupling[0] = mimic_of(1, 0, 1, 0);
    mech.model.bodies = mech.body;
    mech.model.couplings = mech.coupling;
    mech.model.body_count = 2;
    mech.model.coupling_count = 1;
    mech.model.dt = wide(0x1p-10);
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    mdyn_body smooth = mech.body[0];
    smooth.friction = wide(0);
    CHECK_EQUAL(mdyn_set_body(&sim, 0, &smooth), MDYN_OK);
    sim.tau[0] = real(-10);
    c.b = MDYN_WORLD;
    c.normal.z = real(1);
    for (int n = 0; n < 3; n++) {
        c.depth = -sim.q[0];
        CHECK_EQUAL(mdyn_set_contacts(&sim, &c, 1), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CONTACT, 0, &r), MDYN_OK);
        CHECK_NEAR(of_wide(r.force), 10, BY_SCALAR(1e-12, 1e-5, 1e-6));
        CHECK_NEAR(of_real(sim.v[0]), 0, BY_SCALAR(1e-15, 1e-8, 1e-9));
    }
}

/* What is reported of a contact that stops a slider within the step: C where the step ends. */
static void contact_after_the_step(mdyn_method method) {
    memset(&mech, 0, sizeof mech);
    mech.body[0].parent = MDYN_WORLD;
    mech.body[0].joint = MDYN_PRISMATIC;
    mech.body[0].mass = wide(1);
    mech.model.bodies = mech.body;
    mech.model.body_count = 1;
    mech.model.dt = wide(0x1p-10);
    mech.model.solver.method = method;
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    for (int n = 0; n < 20; n++) {
        mdyn_contact c;
        mdyn_row_report r;
        memset(&c, 0, sizeof c);
        c.b = MDYN_WORLD;
        c.normal.z = real(1);
        c.depth = real(random_in(0.001, 0.01));
        sim.q[0] = -c.depth;
        sim.v[0] = real(random_in(-1, 0));
        CHECK_EQUAL(mdyn_reset(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_set_contacts(&sim, &c, 1), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CONTACT, 0, &r), MDYN_OK);
        CHECK_NEAR(of_wide(r.error), of_real(sim.q[0]), BY_SCALAR(1e-15, 1e-8, 1e-9));
        CHECK(of_wide(r.force) > 0);
    }
}

/* A wheel on a fixed axle, pressed through its axle, or touched on it, anywhere: the normal can
   move nothing, so that it has no impulse, and no friction follows it. Its element of J is
   rounding. */
static void wheel_pressed_through_its_axle(mdyn_method method)
{
    for (int n = 0; n < 100; n++) {
        const double angle = random_in(-3, 3), far = n % 4 == 3 ? 30 : 1;
        const double radius = n % 3 ? 0.05 : 0;
        const double x = random_in(-far, far), y = random_in(-far, far);
        const double turn = random_in(-3, 3), lean = random_in(-1, 1);
        const double axle[2] = { x + lean * cos(turn), y + lean * sin(turn) };
        mdyn_contact c;
        mdyn_row_report r;
        memset(&c, 0, sizeof c);
        boxes(2, MDYN_PYRAMID);
        mech.model.solver.method = method;
        mech.body[0].joint = MDYN_FIXED;
        mech.body[0].position = wide3(x, y, 0);
        mech.body[0].rotation.w = wide(cos(turn / 2));
        mech.body[0].rotation.z = wide(sin(turn / 2));
        mech.body[1].parent = 0;
        mech.body[1].joint = MDYN_REVOLUTE;
        mech.body[1].axis = wide3(0, 0, 1);
        mech.body[1].position = wide3(lean, 0, 0);
        start();
        sim.v[0] = real(5);
        c.a = 1;
        c.b = MDYN_WORLD;
        c.normal.x = real(cos(angle));
        c.normal.y = real(sin(angle));
        c.point.x = real(axle[0] + radius * cos(angle));
        c.point.y = real(axle[1] + radius * sin(angle));
        c.depth = real(1e-3);
        c.mu = wide(0.5);
        CHECK(mdyn_set_contacts(&sim, &c, 1) >= 0 && mdyn_step(&sim) >= 0);
        CHECK(mdyn_report_row(&sim, MDYN_ROW_CONTACT, 0, &r) == MDYN_OK);
        CHECK(of_wide(r.impulse) == 0);
        CHECK(fabs(of_real(sim.v[0]) - 5) < 1e-6);
    }
}

/* Bodies that are fixed to each other press on each other, and move nothing, however they turn. */
static void contact_within_a_weld(mdyn_method method) {
    for (int soft = 0; soft < 2; soft++) {
        mdyn_contact c;
        memset(&c, 0, sizeof c);
        boxes(2, MDYN_PYRAMID);
        mech.model.gravity.z = wide(0);
        mech.model.solver.method = method;
        mech.model.solver.scheme = MDYN_MIDPOINT;
        mech.body[0].joint = MDYN_REVOLUTE;
        mech.body[1].joint = MDYN_FIXED;
        mech.body[1].parent = 0;
        mech.body[1].position = wide3(0.3, 0, 0);
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        sim.v[0] = real(5);
        c.b = 1;
        c.normal.x = real(1);
        c.depth = real(0.01);
        c.mu = wide(0.5);
        if (soft) {
            c.softness.kind = MDYN_KP_KD;
            c.softness.a = wide(1e6);
            c.softness.b = wide(10);
        }
        CHECK_EQUAL(mdyn_set_contacts(&sim, &c, 1), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.v[0]), 5, 1e-6);
    }
}

/* Angular momentum about the axis of joint 0 of two links with the moment of inertia 0.01 about
   their mass centers, at 0.1 on the first one and at 0.1 beyond joint 1, itself at 0.2. */
static double momentum_of_links(void) {
    const double q = of_real(sim.q[1]), w = of_real(sim.v[0]), u = of_real(sim.v[1]);
    const double x = 0.2 + 0.1 * cos(q), y = 0.1 * sin(q);
    return (0.02 + x * x + y * y) * w + 0.01 * (w + u) + 0.1 * (x * cos(q) + y * sin(q)) * u;
}

/* A joint whose motion is prescribed presses its link on the one that carries it, which turns. The
   forces between the two can not change the angular momentum of both together, whatever they
   are; nor the motion, for there is none left that they could change. */
static void links_press_on_each_other(mdyn_method method) {
    for (int n = 0; n < 20; n++) {
        const double direction = random_in(-3, 3);
        mdyn_coupling *follow = &mech.coupling[0];
        mdyn_contact c;
        mdyn_real3 place;
        mdyn_real4 turn;
        memset(&mech, 0, sizeof mech);
        memset(&c, 0, sizeof c);
        for (int i = 0; i < 2; i++) {
            mdyn_body *b = &mech.body[i];
            b->parent = (int16_t)(i - 1);
            b->joint = MDYN_REVOLUTE;
            b->position.x = wide(0.2 * i);
            b->mass = wide(1);
            b->com.x = wide(0.1);
            b->inertia.xx = b->inertia.yy = b->inertia.zz = wide(0.01);
        }
        follow->terms[0].body = 1;
        follow->terms[0].coefficient = wide(1);
        follow->softness.kind = MDYN_ERP_CFM;
        follow->target_velocity = wide(-1);
        mech.model.bodies = mech.body;
        mech.model.body_count = 2;
        mech.model.couplings = mech.coupling;
        mech.model.coupling_count = 1;
        mech.model.dt = wide(0x1p-10);
        mech.model.solver.method = method;
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        sim.v[0] = real(2);
        sim.v[1] = real(-1);

        const double before = momentum_of_links();
        c.a = 1;
        c.normal.x = real(sin(direction));
        c.normal.y = real(cos(direction));
        c.mu = wide(0.3);
        for (int k = 0; k < 4; k++) {
            CHECK_EQUAL(mdyn_pose(&sim, 1, &place, &turn), MDYN_OK);
            c.point = place;
            c.point.y += real(0.05);
            CHECK_EQUAL(mdyn_set_contacts(&sim, &c, 1), MDYN_OK);
            CHECK(mdyn_step(&sim) >= 0);
            CHECK_NEAR(momentum_of_links(), before, PRESS);
            CHECK_NEAR(of_real(sim.v[1]), -1, PRESS);
        }
    }
}

/* A soft contact whose normal leans hardly to the way of a slider has an impulse by its compliance
   alone, and pushes the slider with that part of it that leans. */
static void soft_contact_leans(mdyn_method method) {
    for (int n = 0; n < 40; n++) {
        mdyn_contact c;
        mdyn_row_report r;
        memset(&mech, 0, sizeof mech);
        memset(&c, 0, sizeof c);
        mech.body[0].parent = MDYN_WORLD;
        mech.body[0].joint = MDYN_PRISMATIC;
        mech.body[0].axis.x = wide(1);
        mech.body[0].mass = wide(0.01);
        mech.model.bodies = mech.body;
        mech.model.body_count = 1;
        mech.model.dt = wide(0x1p-12);
        mech.model.solver.method = method;
        CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
        c.b = MDYN_WORLD;
        c.normal.x = real(pow(10, random_in(BY_SCALAR(-4.5, -4.5, -6), -3)));
        c.normal.z = real(1);
        c.depth = real(0.004);
        c.softness.kind = MDYN_ERP_CFM;
        c.softness.a = wide(0.9);
        c.softness.b = wide(random_in(0.001, 0.1));
        CHECK_EQUAL(mdyn_set_contacts(&sim, &c, 1), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CONTACT, 0, &r), MDYN_OK);
        const double lean = of_real(c.normal.x) / hypot(of_real(c.normal.x), 1);
        const double push = lean * of_wide(r.impulse);
        CHECK(push > 0);
        CHECK_NEAR(of_real(sim.v[0]) * of_wide(mech.body[0].mass) / push, 1, LEANS);
    }
}

/* What a solve leaves in rows that take no part in it, here of contacts that move nothing, is not
   read by the next one: had their impulses been, the block would overflow in every attempt. */
static void idle_rows_have_no_past(void) {
    static mdyn_sim twin;
    mdyn_contact c[2];
    memset(c, 0, sizeof c);
    boxes(3, MDYN_PYRAMID);
    mech.body[1].joint = mech.body[2].joint = MDYN_FIXED;
    mech.body[1].parent = 0;
    start();
    for (int i = 0; i < 2; i++) {
        c[i].a = (int16_t)(i == 0);
        c[i].b = (int16_t)(i == 0 ? 0 : MDYN_WORLD); /* the first one is within a weld */
        c[i].point.y = real(0.2);
        c[i].normal.z = real(1);
        c[i].mu = wide(0.5);
    }
    for (int step = 0; step < 20; step++) {
        CHECK_EQUAL(mdyn_set_contacts(&sim, c, 2), MDYN_OK);
        twin = sim;
        for (int k = 0; k < sim.rows; k++) {
            memset((char *)&twin.slot[k] + offsetof(md_row, along), 0x7F,
                   sizeof(md_row) - offsetof(md_row, along));
        }
        CHECK_EQUAL(mdyn_step(&sim), mdyn_step(&twin));
        CHECK(memcmp(sim.v, twin.v, sizeof sim.v) == 0);
        CHECK(memcmp(sim.q, twin.q, sizeof sim.q) == 0);
        CHECK_EQUAL(sim.iterations, twin.iterations);
    }
}

/* A ball of 2 kg on the ground, held up by two closures of at most 3 N each. The second one is let
   go after a step, and stands between the first one and the contact, all on one free body: the
   contact carries what is left of the weight. */
static void contact_behind_a_released_closure(mdyn_method method) {
    static const mdyn_body ball = MDYN_BODY(MDYN_WORLD, MDYN_FLOATS, MDYN_AT(0, 0, 0),
        MDYN_RIGID(2, 0, 0, 0, MDYN_INERTIA(0.1, 0.1, 0.1, 0, 0, 0)), MDYN_PASSIVE, "ball");
    mdyn_contact c;
    mdyn_row_report held, carried;
    memset(&mech, 0, sizeof mech);
    memset(closure, 0, sizeof closure);
    memset(&c, 0, sizeof c);
    for (int i = 0; i < 2; i++) {
        closure[i].b = MDYN_WORLD;
        closure[i].point_b.z = wide(1);
        closure[i].effort = wide(3);
    }
    mech.body[0] = ball;
    mech.model.bodies = mech.body;
    mech.model.body_count = 1;
    mech.model.closures = closure;
    mech.model.closure_count = 2;
    mech.model.gravity = wide3(0, 0, -9.81);
    mech.model.dt = wide(0x1p-10);
    mech.model.solver.method = method;
    c.b = MDYN_WORLD;
    c.normal.z = real(1);
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    for (int step = 0; step < 4; step++) {
        CHECK_EQUAL(mdyn_set_contacts(&sim, &c, 1), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.v[5]), 0, BY_SCALAR(1e-12, 1e-5, 1e-7));
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CLOSURE, 2, &held), MDYN_OK);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CONTACT, 0, &carried), MDYN_OK);
        CHECK_NEAR(of_wide(held.force), 3, BY_SCALAR(1e-12, 1e-5, 1e-7));
        CHECK_NEAR(of_wide(carried.force), 2 * 9.81 - (step ? 3 : 6), BY_SCALAR(1e-9, 1e-2, 1e-4));
        CHECK_EQUAL(mdyn_engage_closure(&sim, 1, MDYN_RELEASE), MDYN_OK);
    }
}

/* A foot of 1 kg on a cart of 1 kg comes down at 1 m/s; a range of its position stops it before the
   ground does, 0.7 of a step's way from where it is against 0.8. Without a normal force there is no
   friction, also by the law that takes the former from a solve without friction. */
static void range_above_the_ground(mdyn_method method, mdyn_friction_law law) {
    static const mdyn_body bodies[] = {
        MDYN_BODY(MDYN_WORLD, MDYN_SLIDES(1, 0, 0), MDYN_AT(0, 0, 0), MDYN_POINT_MASS(1),
                  MDYN_PASSIVE, "cart"),
        MDYN_BODY(0, MDYN_SLIDES(0, 0, 1), MDYN_AT(0, 0, 0), MDYN_POINT_MASS(1), MDYN_PASSIVE,
                  "foot"),
    };
    const double dt = 0x1p-10;
    mdyn_contact c;
    mdyn_row_report report;
    memset(&mech, 0, sizeof mech);
    memset(&c, 0, sizeof c);
    mech.coupling[0].terms[0].body = 1;
    mech.coupling[0].terms[0].coefficient = wide(1);
    mech.coupling[0].lower = wide(-0.7 * dt);
    mech.coupling[0].upper = MDYN_UNLIMITED;
    mech.model.bodies = bodies;
    mech.model.body_count = 2;
    mech.model.couplings = mech.coupling;
    mech.model.coupling_count = 1;
    mech.model.dt = wide(dt);
    mech.model.solver.method = method;
    mech.model.solver.friction_law = law;
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    sim.v[0] = real(1);
    sim.v[1] = real(-1);
    c.a = 1;
    c.b = MDYN_WORLD;
    c.normal.z = real(1);
    c.depth = real(-0.8 * dt);
    c.mu = wide(1);
    CHECK_EQUAL(mdyn_set_contacts(&sim, &c, 1), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(of_real(sim.v[0]), 1, BY_SCALAR(1e-14, 1e-6, 1e-8));
    CHECK_NEAR(of_real(sim.v[1]), -0.2, BY_SCALAR(1e-12, 1e-3, 1e-6));
    for (int k = 0; k < 3; k++) {
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CONTACT, k, &report), MDYN_OK);
        CHECK_NEAR(of_wide(report.impulse), 0, BY_SCALAR(1e-14, 1e-6, 1e-8));
    }
}

/* A table that spins, with a slider that flies outwards and an arm that rests on a contact: where a
   solve starts is not where it ends, with MDYN_COLD too. The contact counted as an impact in every
   step then, and the bias force was of first order of dt. */
static void carousel_from_zero(void) {
    static mdyn_sim cold;
    memset(&mech, 0, sizeof mech);
    for (int i = 0; i < 3; i++) {
        mdyn_body *b = &mech.body[i];
        b->parent = (int16_t)(i > 0 ? 0 : MDYN_WORLD);
        b->joint = i == 2 ? MDYN_PRISMATIC : MDYN_REVOLUTE;
        b->axis = wide3(i == 2, i == 1, i == 0);
        b->position.x = wide(0.1 * i);
        b->mass = wide(1);
        b->com.x = wide(i == 1 ? 0.2 : 0);
        b->inertia.xx = b->inertia.yy = b->inertia.zz = wide(0.01);
    }
    mech.model.bodies = mech.body;
    mech.model.body_count = 3;
    mech.model.dt = wide(0x1p-10);
    mech.model.gravity.z = wide(-9.81);
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    mech.model.solver.start = MDYN_COLD;
    CHECK_EQUAL(mdyn_init(&cold, &mech.model), MDYN_OK);
    sim.v[0] = cold.v[0] = real(5);
    for (int n = 0; n < 200; n++) {
        mdyn_contact c;
        memset(&c, 0, sizeof c);
        c.a = 1;
        c.b = MDYN_WORLD;
        c.normal.z = real(1);
        c.point.x = real(0.3 * cos(of_real(sim.q[0])));
        c.point.y = real(0.3 * sin(of_real(sim.q[0])));
        CHECK_EQUAL(mdyn_set_contacts(&sim, &c, 1), MDYN_OK);
        CHECK_EQUAL(mdyn_set_contacts(&cold, &c, 1), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&cold), MDYN_OK);
    }
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(of_real(cold.v[k]), of_real(sim.v[k]), FROM_ZERO);
    }
}

/* ---- refusals and texts ---- */

static int row_is_broken;

static void breakable_row(mdyn_sim *s, int index, mdyn_user_row *row, void *user) {
    for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        row->terms[k].body = MDYN_WORLD;
    }
    row->force_min = wide(row_is_broken ? 2 : 0);
    row->force_max = wide(row_is_broken ? 1 : 0);
    (void)s; (void)index; (void)user;
}

/* A step that is refused leaves the contacts of the step before: their reports, and the impulses at
   which the next contacts begin. */
static void refused_step(void) {
    static mdyn_sim kept, other;
    mdyn_row_report r, later;
    boxes(5, MDYN_PYRAMID);
    mech.model.solver.iterations = 20;
    mech.model.user_row_count = 1;
    mech.model.row_function = breakable_row;
    memset(&user_row[0], 0, sizeof user_row[0]); /* what is left of the row drawn last */
    start();
    for (int k = 0; k < 20; k++) {
        touch(5, 0.5, k % 2);
        CHECK(mdyn_step(&sim) >= 0);
        kept = sim;
        row_is_broken = 1;
        CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_USER_ROW);
        row_is_broken = 0;
        for (int i = 0; i < 3 * 5 * CORNERS; i++) {
            CHECK_EQUAL(mdyn_report_row(&kept, MDYN_ROW_CONTACT, i, &r), MDYN_OK);
            CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CONTACT, i, &later), MDYN_OK);
            CHECK(memcmp(&r.impulse, &later.impulse, sizeof r.impulse) == 0);
        }
        touch(5, 0.5, k % 2);
        CHECK(mdyn_step(&sim) >= 0);
        other = sim;
        sim = kept;
        touch(5, 0.5, k % 2);
        CHECK(mdyn_step(&sim) >= 0);
        CHECK(memcmp(sim.v, other.v, sizeof sim.v) == 0);
        CHECK_EQUAL(sim.report.iterations, other.report.iterations);
        sim = kept;
    }
}

static void refused_contact(mdyn_contact c, int code) {
    mdyn_contact two[2];
    memset(two, 0, sizeof two);
    two[0].b = MDYN_WORLD;
    two[0].normal.x = real(1);
    two[1] = c;
    CHECK_EQUAL(mdyn_set_contacts(&sim, two, 2), code);
    CHECK_EQUAL(sim.culprit.code, code);
    CHECK_EQUAL(sim.culprit.index, 1);
}

static void refused_contacts(void) {
    mdyn_contact good, c;
    boxes(2, MDYN_CONE);
    memset(&good, 0, sizeof good);
    good.a = 1;
    good.b = MDYN_WORLD;
    good.normal.z = real(1);
    CHECK_EQUAL(mdyn_set_contacts(NULL, &good, 1), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_set_contacts(&sim, NULL, 1), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_set_contacts(&sim, NULL, 0), MDYN_OK);
    CHECK_EQUAL(mdyn_set_contacts(&sim, &good, -1), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_set_contacts(&sim, &good, MIMICDYN_MAX_CONTACTS + 1),
                MDYN_ERR_CAPACITY_BODY_ROWS);
    c = good; c.a = 2; refused_contact(c, MDYN_ERR_CONTACT);
    c = good; c.a = -2; refused_contact(c, MDYN_ERR_CONTACT);
    c = good; c.b = 1; refused_contact(c, MDYN_ERR_CONTACT);
    c = good; c.normal.z = real(0); refused_contact(c, MDYN_ERR_CONTACT);
    c = good; c.mu = wide(-1); refused_contact(c, MDYN_ERR_CONTACT);
    c = good; c.softness.kind = (mdyn_softness_kind)9; refused_contact(c, MDYN_ERR_SOFTNESS);
    for (int i = 0; i < CHECK_BAD_REALS; i++) {
        c = good; bad_real(&c.point.x, i); refused_contact(c, MDYN_ERR_STATE);
        c = good; bad_real(&c.normal.y, i); refused_contact(c, MDYN_ERR_STATE);
        c = good; bad_real(&c.depth, i); refused_contact(c, MDYN_ERR_STATE);
    }
    for (int i = 0; i < CHECK_BAD_WIDES; i++) {
        c = good; bad_wide(&c.mu, i); refused_contact(c, MDYN_ERR_NOT_FINITE);
        c = good; bad_wide(&c.softness.b, i); refused_contact(c, MDYN_ERR_NOT_FINITE);
    }
}

static void texts(void) {
    mdyn_contact c;
    boxes(3, MDYN_PYRAMID);
    memset(&c, 0, sizeof c);
    c.b = 2;
    c.normal.y = real(1);
    c.mu = wide(0.5);
    CHECK_EQUAL(mdyn_set_contacts(&sim, &c, 1), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    explained(MDYN_ROW_CONTACT, 0, "contact 0: gap between 0 and 2 >= 0 [m]; hard, erp 0.2");
    explained(MDYN_ROW_CONTACT, 2,
              "contact 2: slip velocity between 0 and 2 = 0 while |force| <= 0.5 force of"
              " contact 0");
}

/* A box flies at a wall, from any distance. A contact that is set from a gap of 3/2 dt times its
   velocity on stops it at the wall; one that is new at less than dt/2 times the velocity lets it
   pass by what lacks of that at most. */
static void gaps_are_closed(mdyn_method method) {
    for (int n = 0; n < 60; n++) {
        double v = random_in(0.1, 50), way = 0x1p-10 * v, allowed = BY_SCALAR(1e-14, 1e-6, 1e-8);
        double gap = way * (n % 2 ? random_in(2, 4) : random_in(0, 0.5));
        mdyn_contact c;
        boxes(1, MDYN_PYRAMID);
        mech.model.gravity.z = wide(0);
        mech.model.solver.method = method;
        mech.model.solver.scheme = MDYN_MIDPOINT;
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        memset(&c, 0, sizeof c);
        c.b = MDYN_WORLD;
        c.normal.x = real(1);
        sim.q[0] = real(gap);
        sim.v[3] = real(-v);
        for (int s = 0; s < 8; s++) {
            int is_set = of_real(sim.q[0]) <= 1.5 * way;
            c.depth = -sim.q[0];
            c.point.x = sim.q[0];
            CHECK_EQUAL(mdyn_set_contacts(&sim, &c, is_set), MDYN_OK);
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            CHECK(of_real(sim.q[0]) >= (n % 2 ? 0 : gap - way / 2) - allowed);
        }
        CHECK_NEAR(of_real(sim.q[0]), 0, n % 2 ? allowed : way / 2);
        CHECK_NEAR(of_real(sim.v[3]), 0, BY_SCALAR(1e-12, 1e-4, 1e-6));
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    contacts_against_dense(MDYN_PGS);
    contacts_against_dense(MDYN_DANTZIG);
    wedge(MDYN_PGS);
    wedge(MDYN_TGS);
    wedge(MDYN_DANTZIG);
    tangents();
    stack();
    contacts_are_recognized();
    warm_stack_stays();
    contacts_never_pull(MDYN_PGS);
    contacts_never_pull(MDYN_TGS);
    contacts_never_pull(MDYN_DANTZIG);
    wheel_pressed_through_its_axle(MDYN_PGS);
    wheel_pressed_through_its_axle(MDYN_TGS);
    wheel_pressed_through_its_axle(MDYN_DANTZIG);
    contact_within_a_weld(MDYN_PGS);
    contact_within_a_weld(MDYN_TGS);
    contact_within_a_weld(MDYN_DANTZIG);
    links_press_on_each_other(MDYN_PGS);
    links_press_on_each_other(MDYN_TGS);
    links_press_on_each_other(MDYN_DANTZIG);
    soft_contact_leans(MDYN_PGS);
    soft_contact_leans(MDYN_DANTZIG);
    contact_behind_a_released_closure(MDYN_PGS);
    contact_behind_a_released_closure(MDYN_TGS);
    contact_behind_a_released_closure(MDYN_DANTZIG);
    range_above_the_ground(MDYN_PGS, MDYN_CONE);
    range_above_the_ground(MDYN_PGS, MDYN_TWO_STAGE);
    range_above_the_ground(MDYN_DANTZIG, MDYN_PYRAMID);
    range_above_the_ground(MDYN_DANTZIG, MDYN_TWO_STAGE);
    idle_rows_have_no_past();
    carousel_from_zero();
    contact_where_a_limit_was();
    contact_after_the_step(MDYN_PGS);
    contact_after_the_step(MDYN_DANTZIG);
    refused_step();
    refused_contacts();
    texts();
    gaps_are_closed(MDYN_PGS);
    gaps_are_closed(MDYN_TGS);
    gaps_are_closed(MDYN_DANTZIG);
    return check_end();
}
