/* Closures: successive steps against the dense solution of truth_step.h, redundant rows,
   projection, accelerations, what is refused, texts. */
#include "knobs.h"
#include "check.h"
#include "truth.h"
#include "truth_step.h"
#include "rows_on_bodies.h"
#include "boxes.h"

/* What the checks allow, as parts of the motion: some three times the worst of -s 1, 2 and 3. */
/*                         F64    F32  FIXED */
TOLERANCE(CLOSURES,      2e-12,  3e-3,  1e-3);
TOLERANCE(LOOP_TURNS,    1e-11,  1e-4,  5e-5);
TOLERANCE(OTHER_ORDER,   2e-9,   6e-3,  2e-3);
TOLERANCE(HELD_TWICE,    1e-15,  1e-7,  3e-6); /* FIXED: 205/s of 2^-31 in a length of 1 */
TOLERANCE(SPRING,       1e-12,   1e-5,  1e-7);
TOLERANCE(HEEDED_LIMIT, 1e-14,   1e-6,  2e-8); /* [m] */
TOLERANCE(HEEDED_SPEED, 1e-12,   1e-4,  4e-6); /* [m/s] */
TOLERANCE(WITHIN_WELD,       0,      0,  4e-9);
TOLERANCE(ROW_VELOCITY,   4e-5,   4e-5,  4e-5); /* of second order in dt */

/* Closures of every kind, on trees of both, hard, soft or with a bound; few nearly decide each
   other (see the header). Which do is told by the dense rows alone. Half of them go on, pushed
   anew, from the states they come to: what the last step found redundant or at a bound is new. */
static void closures_against_dense(mdyn_method method) {
    enum { STATES = 3 };
    outcomes o[STATES] = { { 0 } };
    int redundant[STATES] = { 0 };
    for (int n = 0; n < 200; n++) {
        random_seed(700 + (uint64_t)n);
        draw_mechanism(4 + random_int(4), 30, random_int(2) ? FOREST : FLOATING);
        solve_well(method);
        const mdyn_sim kept = start_without_rows(2);
        mech.model.closure_count = 1 + (random_int(3) == 0);
        memset(closure, 0, sizeof closure);
        for (int i = 0; i < mech.model.closure_count; i++) {
            mdyn_closure *c = &closure[i];
            random_closure(c, i ? MDYN_CLOSE_DISTANCE : (mdyn_closure_kind)random_int(4), 0.01);
            random_softness(&c->softness);
            if (c->kind == MDYN_CLOSE_WELD && random_int(2)) { /* far off */
                c->rotation.x = wide(random_in(-1, 1));
                c->rotation.z = wide(random_in(-1, 1));
                c->softness.kind = MDYN_ERP_CFM;
                c->softness.a = wide(0.005);
            }
            if (random_int(3) == 0) {
                c->effort = wide(random_in(1, 50));
            }
        }
        mdyn_closure *twin = &closure[1];
        if (random_int(4) == 0 && closure[0].kind != MDYN_CLOSE_DISTANCE) { /* the same points */
            memset(&closure[0].softness, 0, sizeof closure[0].softness);
            *twin = closure[0];
            twin->kind = MDYN_CLOSE_POINT;
            mech.model.closure_count = 2;
        }
        start_again(&kept);
        const int states = n % 2 ? 1 : STATES;
        for (int again = 0; again < states && step_compares(CLOSURES, &o[again]); again++) {
            if (of_wide(closure[0].effort) == 0 && of_wide(twin->effort) == 0) {
                int decided = o[again].last_idle + dense.rows - truth_step_rank(&dense, 1e-6L);
                CHECK_EQUAL(sim.report.redundant, decided);
                CHECK(sim.report.contradictory >= o[again].last_hopeless &&
                      sim.report.contradictory <= o[again].last_idle);
                redundant[again] += decided;
            }
            for (int k = 0; k < mdyn_dofs(&sim); k++) { /* pushed to other velocities */
                sim.v[k] = real(random_in(-2, 2));
                sim.tau[k] = real(random_in(-5, 5));
            }
        }
    }
    CHECK(o[0].compared >= 166 && o[0].doubtful <= 6 && redundant[0] >= 40);
    for (int again = 0; again < STATES; again++) {
        CHECK(again == 0 || (o[again].compared >= 76 && o[again].doubtful <= 3
                             && o[again].contradictory == 0 && redundant[again] >= 12));
        CHECK(o[again].unsolved + o[again].refused + o[again].jammed == 0);
        tell_outcomes("closures", &o[again]);
    }
}

/* ---- the same closures in another order, in two parts ---- */

/* The 1/parts of a closure: so much of its effort and stiffness. */
static void part_of_closure(mdyn_closure *c, int parts) {
    mdyn_softness *s = &c->softness;
    c->effort = wide(of_wide(c->effort) / parts);
    if (s->kind == MDYN_KP_KD) {
        s->a = wide(of_wide(s->a) / parts);
        s->b = wide(of_wide(s->b) / parts);
    } else if (s->kind == MDYN_OMEGA_ZETA) {
        s->a = wide(of_wide(s->a) / sqrt(parts));
        s->b = wide(of_wide(s->b) / sqrt(parts));
    } else {
        s->b = wide(of_wide(s->b) * parts);
    }
}

/* A closure of any kind and a distance; the twin has the distance from its other end and first,
   and each of them `parts` times. */
static void draw_twins(mdyn_method method, int parts, mdyn_sim *twin) {
    static mdyn_closure others[4];
    mdyn_model changed;
    draw_mechanism(4 + random_int(3), 20, FOREST);
    solve_well(method);
    const mdyn_sim kept = start_without_rows(1);
    mech.model.closure_count = 2;
    random_closure(&closure[0], (mdyn_closure_kind)random_int(4), 0);
    random_closure(&closure[1], MDYN_CLOSE_DISTANCE, 0.005);
    for (int i = 0; i < 2; i++) {
        random_softness(&closure[i].softness);
        closure[i].effort = wide(random_int(3) ? 0 : random_in(5, 50));
    }
    start_again(&kept);

    changed = mech.model;
    changed.closures = others;
    changed.closure_count = 2 * parts;
    for (int k = 0; k < parts; k++) {
        mdyn_closure *distance = &others[2 * k];
        *distance = closure[1];
        others[2 * k + 1] = closure[0];
        if (distance->b != MDYN_WORLD) {
            distance->a = closure[1].b;
            distance->b = closure[1].a;
            distance->point_a = closure[1].point_b;
            distance->point_b = closure[1].point_a;
        }
        part_of_closure(distance, parts);
        part_of_closure(&others[2 * k + 1], parts);
    }
    CHECK(init_explicit(twin, &changed) >= 0);
    copy_inputs(twin, &sim);
}

/* 10 steps of both: the same velocities, in parts of the largest or of 1. Until rows contradict
   each other or throw the joints about. */
static void closures_in_parts(mdyn_method method, int parts) {
    static mdyn_sim twin;
    int compared = 0;
    for (int n = 0; n < 200; n++) {
        random_seed(9100 + (uint64_t)n);
        draw_twins(method, parts, &twin);
        for (int s = 0; s < 10; s++) {
            double gap = 0, v = 1;
            const int code = mdyn_step(&sim);
            CHECK_EQUAL(mdyn_step(&twin), code);
            if (code != MDYN_OK || sim.report.contradictory > 0) {
                break;
            }
            for (int k = 0; k < mdyn_dofs(&sim); k++) {
                gap = worse(gap, fabs(of_real(sim.v[k]) - of_real(twin.v[k])));
                v = worse(v, fabs(of_real(sim.v[k])));
            }
            if (v > 50) {
                break;
            }
            if (!CHECK_NEAR(gap / v, 0, OTHER_ORDER)) {
                CHECK_NOTE("mechanism %d, step %d, %d parts, kind %d\n", n, s, parts,
                           closure[0].kind);
                break;
            }
            compared++;
        }
    }
    CHECK(compared > 1000);
}

/* ---- a planar four-bar in space ---- */

/* Cranks of 0.3 and 0.4 m, 0.45 m apart, a coupler of 0.5 m; turned as a whole by a quaternion. */
static void four_bar(mdyn_closure_kind kind, const double *turn) {
    static const double length[] = { 0.3, 0.5, 0.4 }, mass[] = { 0.6, 1.0, 0.8 };
    memset(&mech, 0, sizeof mech);
    memset(closure, 0, sizeof closure);
    for (int i = 0; i < 3; i++) {
        mdyn_body *b = &mech.body[i];
        b->parent = (int16_t)(i == 1 ? 0 : MDYN_WORLD);
        b->joint = MDYN_REVOLUTE;
        b->axis.y = wide(1);
        b->mass = wide(mass[i]);
        b->com.z = wide(-length[i] / 2);
        b->inertia.xx = b->inertia.yy = wide(mass[i] * length[i] * length[i] / 12);
        b->inertia.zz = wide(1e-4);
    }
    mech.body[1].position.z = wide(-0.3);
    for (int i = 0; i < 3; i += 2) { /* the frame of the roots */
        ld q[4] = { (ld)turn[0], (ld)turn[1], (ld)turn[2], (ld)turn[3] }, R[3][3];
        ld x[3] = { i == 2 ? 0.45L : 0, 0, 0 };
        mech.body[i].rotation.w = wide(turn[0]);
        mech.body[i].rotation.x = wide(turn[1]);
        mech.body[i].rotation.y = wide(turn[2]);
        mech.body[i].rotation.z = wide(turn[3]);
        t_quaternion(R, q);
        t_turn(x, R, x);
        mech.body[i].position.x = wide((double)x[0]);
        mech.body[i].position.y = wide((double)x[1]);
        mech.body[i].position.z = wide((double)x[2]);
        t_turn(x, R, (const ld[3]){ 0, 0, -9.81L });
        mech.model.gravity.x = wide((double)x[0]);
        mech.model.gravity.y = wide((double)x[1]);
        mech.model.gravity.z = wide((double)x[2]);
    }
    closure[0].kind = kind;
    closure[0].a = 1;
    closure[0].b = 2;
    closure[0].point_a.z = wide(-0.5);
    closure[0].point_b.z = wide(-0.4);
    closure[0].axis_a.y = closure[0].axis_b.y = wide(1);
    closure[0].distance = wide(0.05);
    closure[0].rotation.w = wide(cos(0.5321 / 2)); /* of the coupler against the rocker, now */
    closure[0].rotation.y = wide(-sin(0.5321 / 2));
    mech.model.bodies = mech.body;
    mech.model.body_count = 3;
    mech.model.dt = wide(0x1p-10);
    mech.model.closure_count = 1;
    start();
    sim.q[0] = real(-1.0);
    sim.q[1] = real(-0.3403014857573752);
    sim.q[2] = real(-0.8082002360264687);
}

/* A slider on one without mass, some 10 degrees apart, held across the lower one by two equal rods:
   it moves along the lower one alone, and the second rod is redundant. The row of a rod has
   elements of L that are 5 times their diagonal, and length 1/sqrt(mass), by powers of 2. */
static void held_twice(void) {
    for (int n = 0; n < 200; n++) {
        const double angle = random_in(0.13, 0.24), mass = random_in(0.9, 1.1);
        memset(&mech, 0, sizeof mech);
        memset(closure, 0, sizeof closure);
        for (int i = 0; i < 2; i++) {
            mech.body[i].parent = (int16_t)(i - 1);
            mech.body[i].joint = MDYN_PRISMATIC;
            mech.body[i].axis.x = wide(i ? cos(angle) : 1);
            mech.body[i].axis.y = wide(i ? sin(angle) : 0);
            closure[i].kind = MDYN_CLOSE_DISTANCE;
            closure[i].a = 1;
            closure[i].b = MDYN_WORLD;
            closure[i].point_b.y = closure[i].distance = wide(1);
        }
        mech.body[1].mass = wide(mass);
        mech.model.bodies = mech.body;
        mech.model.body_count = mech.model.closure_count = 2;
        mech.model.dt = wide(0x1p-10);
        start();
        sim.tau[0] = real(random_in(-50, 50));
        sim.tau[1] = real(random_in(-50, 50));
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.v[0]), of_real(sim.tau[0]) / mass * 0x1p-10, HELD_TWICE);
        CHECK_NEAR(of_real(sim.v[1]), 0.0, HELD_TWICE);
        CHECK_EQUAL(sim.report.redundant, 1);
    }
}

/* C' of the last step is the relative velocity of the two points, of a hard and of a soft loop. Of
   hinged bodies and of a free one it stays the same, as the whole report, when a call takes J at
   the present state, when a step is refused, and when dt changes. */
static void velocities_of_rows(void) {
    static const double straight[4] = { 1, 0, 0, 0 };
    mdyn_real q[3];
    mdyn_wide a[8];
    mdyn_real3 point, v[2], w;
    mdyn_row_report r, later;
    for (int n = 0; n < 3 * 200; n++) {
        if (n % 200 == 0) {
            four_bar(MDYN_CLOSE_POINT, straight);
            memcpy(q, sim.q, sizeof q);
            mech.model.solver.scheme = MDYN_MIDPOINT;
            mech.body[2].joint = n == 400 ? MDYN_FREE : MDYN_REVOLUTE;
            closure[0].softness.kind = n == 200 ? MDYN_KP_KD : MDYN_DEFAULT;
            closure[0].softness.a = closure[0].softness.b = wide(n == 200 ? 4 : 0);
            CHECK_EQUAL(but_for_start(mdyn_init(&sim, &mech.model)), MDYN_OK);
            memcpy(sim.q, q, n == 400 ? 0 : sizeof q);
            sim.v[2] = real(3);
            CHECK_EQUAL(mdyn_project(&sim, MDYN_MASS_METRIC), MDYN_OK);
        }
        CHECK(mdyn_step(&sim) >= 0);
        mdyn_sim kept = sim;
        point.x = point.y = real(0);
        point.z = real(-0.5);
        CHECK_EQUAL(mdyn_velocity(&sim, 1, &point, &w, &v[0]), MDYN_OK);
        point.z = real(-0.4);
        CHECK_EQUAL(mdyn_velocity(&sim, 2, &point, &w, &v[1]), MDYN_OK);
        CHECK_EQUAL(mdyn_constrained_dynamics(&sim, a), MDYN_OK);
        closure[0].effort = wide(-1);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_NEGATIVE);
        closure[0].effort = wide(0);
        for (int k = 0; k < 3; k++) {
            CHECK_EQUAL(mdyn_report_row(&kept, MDYN_ROW_CLOSURE, k, &r), MDYN_OK);
            CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CLOSURE, k, &later), MDYN_OK);
            CHECK(memcmp(&r, &later, offsetof(mdyn_row_report, flags)) == 0);
            if (n < 400) {
                CHECK_NEAR(of_wide(r.velocity), of_real((&v[0].x)[k]) - of_real((&v[1].x)[k]),
                           ROW_VELOCITY);
            }
        }
        CHECK_EQUAL(mdyn_set_dt(&sim, wide(0x1p-4)), MDYN_OK);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CLOSURE, 2, &later), MDYN_OK);
        CHECK(memcmp(&r.velocity, &later.velocity, sizeof r.velocity) == 0);
        sim = kept;
    }
}

static double loop_gap(void) {
    ld arm[2][3], gap[3];
    look();
    dense_loop(&closure[0], arm, gap);
    return (double)sqrtl(t_dot(gap, gap));
}

/* Of the 5 rows of a hinge 3 hold anyway, of the 3 of a point one: dropped and said so, in any
   attitude, and with the motion of the rows that are needed. */
static void redundant_rows(void) {
    static const double turns[2][4] = { { 1, 0, 0, 0 }, { 0.5, 0.3, -0.7, 0.2 } };
    double q[3][3];
    for (int i = 0; i < 4; i++) {
        int hinge = i % 2;
        mdyn_wide kin, pot, first;
        four_bar(hinge ? MDYN_CLOSE_HINGE : MDYN_CLOSE_POINT, turns[i / 2]);
        CHECK_EQUAL(mdyn_energy(&sim, &kin, &first), MDYN_OK);
        for (int n = 0; n < 500; n++) {
            mdyn_row_report r;
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            CHECK_EQUAL(sim.report.contradictory, 0);
            if (i < 2) { /* else the rows along the axes of the world are all mixed */
                CHECK_EQUAL(sim.report.redundant, hinge ? 3 : 1);
                CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CLOSURE, 1, &r), MDYN_OK);
                CHECK_EQUAL(r.flags, MDYN_ROW_REDUNDANT);
                CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CLOSURE, 0, &r), MDYN_OK);
                CHECK_EQUAL(r.flags, 0);
                CHECK_NEAR(of_wide(r.residual), 0.0, BY_SCALAR(1e-14, 5e-6, 7e-8));
            } else {
                CHECK_EQUAL(sim.report.redundant, hinge ? 3 : 1);
            }
        }
        CHECK_NEAR(loop_gap(), 0.0, 1e-4); /* of the step, 1 ms */
        CHECK_EQUAL(mdyn_energy(&sim, &kin, &pot), MDYN_OK);
        CHECK_NEAR(of_wide(kin) + of_wide(pot) - of_wide(first), 0.0, 0.05); /* likewise */
        for (int k = 0; k < 3; k++) {
            q[i / 2][k] = of_real(sim.q[k]);
            if (i > 0) {
                CHECK_NEAR(q[i / 2][k], q[0][k], BY_SCALAR(3e-14, 3e-5, 7e-7));
            }
        }
    }
}

/* Which two axes of the world hold a planar loop is open if its plane leans. Those that have no
   lever would need forces in inverse proportion to the lean: 9 N became 9000 N at 1e-3. */
static void leaning_loop(void) {
    for (int i = 0; i < 20; i++) {
        const double lean = pow(10, -(i / 2)), turn[4] = { cos(lean / 2), sin(lean / 2), 0, 0 };
        four_bar(i % 2 ? MDYN_CLOSE_HINGE : MDYN_CLOSE_POINT, turn);
        for (int n = 0; n < 500; n++) {
            double force = 0;
            mdyn_row_report r;
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            CHECK_EQUAL(sim.report.redundant, i % 2 ? 3 : 1);
            for (int k = 0; k < 3; k++) {
                CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CLOSURE, k, &r), MDYN_OK);
                force = hypot(force, of_wide(r.force));
            }
            CHECK(force < 25);
        }
        CHECK_NEAR(loop_gap(), 0.0, 8e-6); /* 2.7e-4 in float at 1e-4 */
    }
}

/* The same on a base that turns: a loop that is a little open has rows of which the others hold all
   but the gap, and such a row may not act on the base. It stopped dead within a step. */
static void loop_on_a_base(void) {
    static const double straight[4] = { 1, 0, 0, 0 };
    for (int i = 0; i < 8; i++) {
        const int hinge = i % 2;
        double spin = 2;
        four_bar(hinge ? MDYN_CLOSE_HINGE : MDYN_CLOSE_POINT, straight);
        for (int k = 3; k > 0; k--) {
            mech.body[k] = mech.body[k - 1];
            mech.body[k].parent = (int16_t)(mech.body[k].parent + 1);
        }
        memset(&mech.body[0], 0, sizeof mech.body[0]);
        mech.body[0].parent = MDYN_WORLD;
        mech.body[0].joint = MDYN_REVOLUTE;
        mech.body[0].axis.x = wide(1);
        mech.body[0].axis.z = wide(0.2);
        mech.body[0].mass = wide(1);
        mech.body[0].inertia.xx = mech.body[0].inertia.yy = mech.body[0].inertia.zz = wide(0.01);
        mech.model.body_count = 4;
        closure[0].a = 2;
        closure[0].b = 3;
        closure[0].point_a.z = wide(i < 2 ? -0.5 : -0.5 - pow(10, -7 + i / 2 * 1.2));
        start();
        sim.v[0] = real(spin);
        sim.q[1] = real(-1.0);
        sim.q[2] = real(-0.3403014857573752);
        sim.q[3] = real(-0.8082002360264687);
        for (int n = 0; n < 50; n++) {
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            CHECK_EQUAL(sim.report.redundant, hinge ? 3 : 1);
            CHECK_NEAR(of_real(sim.v[0]), spin, 0.007);
            spin = of_real(sim.v[0]);
        }
        CHECK(spin > 1.8);
    }
}

/* The same of a limit in a loop that holds its joint: at the stop it may not act on the base by the
   gap. A spinning body with a lid closed at a point; 1e-9 m changed its spin by 4 %. */
static void limit_in_a_loop(void) {
    for (int i = 0; i < 8; i++) {
        const double gap = i < 2 ? 0 : pow(10, -10 + 2 * (i / 2)), sign = i % 2 ? -1 : 1;
        memset(&mech, 0, sizeof mech);
        memset(closure, 0, sizeof closure);
        for (int k = 0; k < 2; k++) {
            mdyn_body *b = &mech.body[k];
            b->parent = (int16_t)(k - 1);
            b->joint = k ? MDYN_REVOLUTE : MDYN_FREE;
            b->mass = wide(1);
            b->inertia.xx = b->inertia.yy = b->inertia.zz = wide(0.5);
        }
        mech.body[1].upper = wide(1);
        mech.model.bodies = mech.body;
        mech.model.body_count = 2;
        mech.model.closure_count = 1;
        mech.model.dt = wide(0.001);
        closure[0].kind = MDYN_CLOSE_POINT;
        closure[0].b = 1;
        closure[0].point_a = wide3(1, 0, 0);
        closure[0].point_b = wide3(1 + gap, 0, gap);
        start();
        for (int k = 0; k < 3; k++) {
            sim.v[k] = real(sign * (k + 1));
        }
        for (int n = 0; n < 20; n++) {
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        }
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(of_real(sim.v[k]), sign * (k + 1), 4 * gap + 1e-6);
        }
        CHECK_NEAR(of_real(sim.v[6]), 0, 8 * gap + 1e-6);
    }
}

/* The same rows with a frequency: those that hold anyway move no mass and have no force; the loop
   hangs by the others as by springs. */
static void redundant_soft_rows(void) {
    static const double turn[4] = { 1, 0, 0, 0 };
    for (int hinge = 0; hinge < 2; hinge++) {
        const mdyn_softness frequency = MDYN_FREQUENCY(60, 1);
        four_bar(hinge ? MDYN_CLOSE_HINGE : MDYN_CLOSE_POINT, turn);
        closure[0].softness = frequency;
        CHECK(mdyn_init(&sim, &mech.model) >= 0);
        sim.q[0] = real(-1.0);
        sim.q[1] = real(-0.3403014857573752);
        sim.q[2] = real(-0.8082002360264687);
        for (int n = 0; n < 500; n++) {
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            CHECK_EQUAL(sim.report.redundant, hinge ? 3 : 1);
            CHECK_EQUAL(sim.report.contradictory, 0);
            for (int k = 0; k < (hinge ? 5 : 3); k++) {
                mdyn_row_report r;
                CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CLOSURE, k, &r), MDYN_OK);
                CHECK_EQUAL(r.flags, k == 1 || k > 2 ? MDYN_ROW_REDUNDANT : 0);
                if (r.flags) CHECK(of_wide(r.impulse) == 0 && of_wide(r.residual) == 0);
                else CHECK_NEAR(of_wide(r.residual), 0, BY_SCALAR(1e-13, 1e-5, 1e-6));
            }
        }
        CHECK(loop_gap() < 0.02);
        CHECK(loop_gap() > 1e-4); /* it yields */
    }
}

/* Soft rows of bodies that are welded to each other, or to the world, have the force of their
   springs and move nothing, however far they are stretched: the motion is that without them, in
   floats to the bit. In floats the rounding of J times 1e9 N turned the hinge, in fixed point a
   block that held such an impulse left its drive no digits. */
static void soft_rows_of_a_weld(mdyn_scheme scheme)
{
    static const mdyn_softness firm = MDYN_SOFT(0.9, 3e-5);
    const double length = 0.8;
    static mdyn_sim plain;
    mdyn_contact c;
    mdyn_row_report r;
    memset(&mech, 0, sizeof mech);
    memset(closure, 0, sizeof closure);
    memset(&c, 0, sizeof c);
    for (int i = 0; i < 3; i++) {
        mdyn_body *b = &mech.body[i];
        b->joint = i ? MDYN_FIXED : MDYN_REVOLUTE;
        b->parent = (int16_t)(i == 1 ? 0 : MDYN_WORLD);
        b->position = wide3(0.1 * i, -0.2 * i, 0.3);
        b->axis = wide3(0.3, -0.5, 0.7);
        b->mass = b->inertia.xx = b->inertia.yy = b->inertia.zz = wide(0.1);
    }
    mech.body[0].drive_kd = wide(0.7);
    mech.model.bodies = mech.body;
    mech.model.body_count = 3;
    mech.model.dt = wide(0.001);
    mech.model.solver.scheme = scheme;
    CHECK_EQUAL(mdyn_init(&plain, &mech.model), MDYN_OK);
    closure[0].kind = MDYN_CLOSE_DISTANCE;
    closure[0].b = 1;
    closure[0].point_a = wide3(0.1 + 2, -0.2 + 3, 0.3 - 6); /* 7 from the origin of body 1 */
    closure[0].distance = wide(7 - length);
    closure[0].softness = firm;
    mech.model.closures = closure;
    mech.model.closure_count = 1;
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    plain.q[0] = sim.q[0] = real(0.7);
    plain.v[0] = sim.v[0] = real(3);
    c.a = 2;
    c.b = MDYN_WORLD;
    c.normal.z = real(1);
    c.depth = real(0.01);
    c.mu = wide(0.5);
    c.softness = firm;
    for (int n = 0; n < 50; n++) {
        CHECK_EQUAL(mdyn_set_contacts(&sim, &c, 1), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&plain), MDYN_OK);
        CHECK_NEAR(of_real(sim.q[0]), of_real(plain.q[0]), WITHIN_WELD);
        CHECK_NEAR(of_real(sim.v[0]), of_real(plain.v[0]), WITHIN_WELD);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CLOSURE, 0, &r), MDYN_OK);
        CHECK_EQUAL(r.flags, 0);
        CHECK_NEAR(of_wide(r.impulse) / -(0.9 * length / 0.001 / 3e-5), 1, SPRING);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CONTACT, 0, &r), MDYN_OK);
        CHECK_EQUAL(r.flags, 0);
        CHECK_NEAR(of_wide(r.impulse) / (0.9 * 0.01 / 0.001 / 3e-5), 1, SPRING);
    }
}

/* From far off, the loop is closed and its speeds fit; where it cannot be, it says so. */
static void projected_loops(void) {
    static const double straight[4] = { 1, 0, 0, 0 };
    for (int kind = MDYN_CLOSE_POINT; kind <= MDYN_CLOSE_DISTANCE; kind++) {
        for (int n = 0; n < 20; n++) {
            mdyn_row_report r;
            ld turn[3];
            random_seed(4000 + (uint64_t)n);
            four_bar((mdyn_closure_kind)kind, straight);
            sim.q[0] = real(-1 + random_in(-0.4, 0.4));
            sim.q[1] = real(-0.34 + random_in(-0.4, 0.4));
            sim.q[2] = real(-0.8 + random_in(-0.4, 0.4));
            sim.v[0] = real(1);
            CHECK_EQUAL(mdyn_project(&sim, MDYN_MASS_METRIC), MDYN_OK);
            look();
            weld_turn(&closure[0], turn);
            for (int k = 0; k < 3 && kind == MDYN_CLOSE_WELD; k++) { /* the angle is given too */
                CHECK_NEAR((double)turn[k], 0.0, BY_SCALAR(3e-15, 1e-6, 5e-8));
                CHECK_NEAR(of_real(sim.v[k]), 0.0, BY_SCALAR(6e-15, 4e-6, 5e-8));
            }
            CHECK_NEAR(loop_gap(), kind == MDYN_CLOSE_DISTANCE ? 0.05 : 0.0,
                       BY_SCALAR(3e-15, 1e-6, 5e-8));
            static const mdyn_wide3 weightless;
            CHECK_EQUAL(mdyn_set_gravity(&sim, &weightless), MDYN_OK);
            ld before[TN];
            get_speeds(before);
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK); /* speeds that fit need no impulse but J' v */
            CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CLOSURE, 0, &r), MDYN_OK);
            for (int k = 0; k < 3; k++) {
                CHECK_NEAR(of_real(sim.v[k]), (double)before[k], 0.02);
            }
        }
    }
    four_bar(MDYN_CLOSE_POINT, straight);
    closure[0].point_b.z = wide(-3); /* no way to reach */
    start();
    CHECK_EQUAL(mdyn_project(&sim, MDYN_MASS_METRIC), MDYN_WARN_CONTRADICTION);
}

/* A four-bar of which a pivot is the origin of the world: what C is a sum of is as long as the
   links, although both paths end at the origin. The rocker's end is where its hinge is. */
static void loop_that_ends_at_the_origin(void) {
    static const double at[3][2] = { { 1, 0 }, { 0, 0.3 }, { -1, 0.2 } };
    memset(&mech, 0, sizeof mech);
    memset(closure, 0, sizeof closure);
    for (int i = 0; i < 3; i++) {
        mdyn_body *b = &mech.body[i];
        b->joint = MDYN_REVOLUTE;
        b->parent = (int16_t)(i - 1);
        b->position = wide3(at[i][0], at[i][1], 0);
        b->mass = wide(1);
        b->inertia.xx = b->inertia.yy = b->inertia.zz = wide(0.05);
    }
    closure[0].kind = MDYN_CLOSE_HINGE;
    closure[0].a = 2;
    closure[0].b = MDYN_WORLD;
    closure[0].point_a = wide3(0, -0.5, 0);
    mech.model.bodies = mech.body;
    mech.model.body_count = 3;
    mech.model.gravity = wide3(0, -9.81, 0);
    mech.model.dt = wide(0.001);
    mech.model.closures = closure;
    mech.model.closure_count = 1;
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    for (int n = 0; n < 50; n++) {
        mdyn_real3 end, point = { 0, real(-0.5), 0 };
        sim.q[0] = real(of_real(sim.q[0]) + 0.02);
        CHECK_EQUAL(mdyn_project(&sim, MDYN_MASS_METRIC), MDYN_OK);
        CHECK_EQUAL(mdyn_settle(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_point(&sim, 2, &point, &end), MDYN_OK);
        CHECK_NEAR(hypot(of_real(end.x), of_real(end.y)), 0, BY_SCALAR(3e-15, 2e-6, 5e-8));
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
}

/* An arm of links of 1 m whose end is pinned where it cannot be, 5 % beyond its reach: it comes to
   rest stretched out, no joint is turned by more than 0.3 rad in a step, and the steps tell. They
   turned joints by up to 297 rad, for ever, and half of them said OK. Pinned within its reach the
   arm closes. With a `pull` of gravity too, and velocities to begin with: what the second order of
   an open loop adds to them made 200 rad/s of it. */
static void out_of_reach(int links, mdyn_closure_kind kind, double pull) {
    int told[2] = { 0 };
    double last_turn = 0;
    for (int within = 0; within < 2; within++) {
        double gap = 1;
        memset(&mech, 0, sizeof mech);
        memset(closure, 0, sizeof closure);
        for (int i = 0; i < links; i++) {
            mdyn_body *b = &mech.body[i];
            b->joint = MDYN_REVOLUTE;
            b->parent = (int16_t)(i - 1);
            b->position = wide3(i > 0, 0, 0);
            b->mass = wide(1);
            b->com = wide3(0.5, 0, 0);
            b->inertia.xx = b->inertia.yy = b->inertia.zz = wide(0.08);
        }
        closure[0].kind = kind;
        closure[0].a = (int16_t)(links - 1);
        closure[0].b = MDYN_WORLD;
        closure[0].point_a = wide3(1, 0, 0);
        const double reach = (within ? 0.9 : 1.05) * links;
        closure[0].point_b = wide3(0.8 * reach, 0.6 * reach, 0);
        mech.model.bodies = mech.body;
        mech.model.body_count = links;
        mech.model.dt = wide(0x1p-10);
        mech.model.gravity.y = wide(-pull);
        mech.model.closures = closure;
        mech.model.closure_count = 1;
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        for (int i = 0; i < links; i++) {
            sim.q[i] = real(0.3 * (i + 1));
            sim.v[i] = real(pull > 0 ? 2 - i : 0);
        }
        for (int k = 0; k < 1000; k++) {
            double before[3], angle = 0, x = 0, y = 0;
            for (int i = 0; i < links; i++) before[i] = of_real(sim.q[i]);
            int code = mdyn_step(&sim);
            CHECK(code == MDYN_OK || code == MDYN_WARN_NOT_CONVERGED);
            told[within] += code != MDYN_OK;
            for (int i = 0; i < links; i++) {
                double turn = of_real(sim.q[i]) - before[i], v = of_real(sim.v[i]);
                CHECK(fabs(turn - v * 0x1p-10) < 0.3 + BY_SCALAR(1e-12, 1e-5, 1e-8));
                if (!within && k >= 900) last_turn = fmax(last_turn, fabs(turn));
                angle += of_real(sim.q[i]);
                x += cos(angle);
                y += sin(angle);
            }
            gap = hypot(0.8 * reach - x, 0.6 * reach - y);
        }
        if (!within) gap = fabs(gap - 0.05 * links);
        if (pull > 0) CHECK(gap < (within ? 1e-4 : 0.03));
        else CHECK(gap < (within ? BY_SCALAR(1e-12, 1e-6, 5e-8) : 1e-5));
    }
    CHECK(told[0] >= 980 && told[1] == 0);
    CHECK(last_turn < (links == 2 && pull <= 0 ? 1e-6 : 1e-3));
    printf("pinned out of reach, %d links: %d of 1000 steps tell, the last turn %.1e rad\n", links,
           told[0], last_turn);
}

/* An arm of three links that is out of reach, in one sim with one of two links that is not: the
   latter closes as if it were alone. It hung 4 cm beside its point for as long as the other was
   held up. */
static void beside_one_out_of_reach(void) {
    memset(&mech, 0, sizeof mech);
    memset(closure, 0, sizeof closure);
    for (int i = 0; i < 5; i++) {
        mdyn_body *b = &mech.body[i];
        b->joint = MDYN_REVOLUTE;
        b->parent = (int16_t)(i == 2 ? MDYN_WORLD : i - 1);
        b->position = wide3(i == 0 || i == 2 ? 0 : 1, 0, 0);
        b->mass = wide(1);
        b->com = wide3(0.5, 0, 0);
        b->inertia.xx = b->inertia.yy = b->inertia.zz = wide(0.08);
    }
    for (int i = 0; i < 2; i++) {
        closure[i].a = (int16_t)(i ? 4 : 1);
        closure[i].b = MDYN_WORLD;
        closure[i].point_a = wide3(1, 0, 0);
        closure[i].point_b = i ? wide3(2.52, 1.89, 0) : wide3(1, 0.9, 0);
    }
    mech.model.bodies = mech.body;
    mech.model.body_count = 5;
    mech.model.dt = wide(0x1p-10);
    mech.model.gravity.y = wide(-9.81);
    mech.model.closures = closure;
    mech.model.closure_count = 2;
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    for (int i = 0; i < 5; i++) sim.q[i] = real(i == 4 ? -0.6 : 0.2 * i + 0.3);
    int told = 0;
    for (int k = 0; k < 2000; k++) {
        if (k == 1000) sim.q[0] += real(0.01);
        told += mdyn_step(&sim) == MDYN_WARN_NOT_CONVERGED;
        if (k % 1000 < 200) continue;
        const double angle = of_real(sim.q[0]), second = angle + of_real(sim.q[1]);
        CHECK_NEAR(cos(angle) + cos(second), 1, BY_SCALAR(1e-12, 2e-6, 2e-6));
        CHECK_NEAR(sin(angle) + sin(second), 0.9, BY_SCALAR(1e-12, 2e-6, 2e-6));
    }
    CHECK(told > 1900);
}

/* Loops that are a little open, and rows of which the others leave next to nothing: what J' v asks
   of such a row, beside what theirs asks of it, is no velocity to be had. Kinetic energy is not
   gained: of 40,000 loops 55 gained it, up to 1500-fold, 12 of them with code 0; with a bound on
   the force of the loop, 8 of 8,000 by pivoting, all with code 0; where a closure holds a spherical
   joint too, every fifth in substeps, up to 34,000-fold. Of the last, 1 of 2,000 may be left. */
static void nearly_dependent_turns(int bounded) {
    int gained = 0;
    for (int n = 0; n < 8000; n++) {
        const double lean = pow(10, random_in(-6, 0));
        const int at_joint = n % 4 == 0;
        double end[3] = { random_in(-1, 1), random_in(-1, 1), random_in(-1, 1) * lean };
        mdyn_wide before, after, level;
        memset(&mech, 0, sizeof mech);
        memset(closure, 0, sizeof closure);
        for (int i = 0; i < 3; i++) {
            mdyn_body *b = &mech.body[i];
            b->joint = i != 1 || n % 4 == 2 ? MDYN_REVOLUTE
                     : at_joint ? MDYN_SPHERICAL : MDYN_PRISMATIC;
            b->parent = (int16_t)(i - 1);
            b->position = wide3(random_in(-1, 1), random_in(-1, 1), random_in(-1, 1) * lean);
            b->axis = wide3(random_in(-1, 1) * lean, random_in(-1, 1) * lean, 1);
            if (b->joint == MDYN_PRISMATIC) {
                b->axis = wide3(random_in(-1, 1), random_in(-1, 1), random_in(-1, 1) * lean);
            }
            b->mass = wide(random_in(0.5, 2));
            b->com = wide3(random_in(-0.3, 0.3), random_in(-0.3, 0.3), random_in(-0.3, 0.3));
            b->inertia.xx = b->inertia.yy = b->inertia.zz = wide(0.02);
        }
        closure[0].kind = !at_joint ? MDYN_CLOSE_POINT : n % 8 ? MDYN_CLOSE_WELD
                                                               : MDYN_CLOSE_HINGE;
        closure[0].a = at_joint ? 1 : 2;
        closure[0].b = at_joint ? 0 : MDYN_WORLD;
        closure[0].effort = wide(bounded ? 1e6 : 0);
        closure[0].point_a = wide3(end[0], end[1], end[2]);
        closure[0].axis_a = wide3(0, 0, 1);
        closure[0].axis_b = wide3(random_in(-1e-3, 1e-3), random_in(-1e-3, 1e-3), 1);
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 3; i++) {
                const mdyn_wide3 *p = &mech.body[i].position;
                if (!at_joint || i == 1) end[k] += of_wide(k == 0 ? p->x : k == 1 ? p->y : p->z);
            }
            end[k] += random_in(-1e-3, 1e-3);
        }
        closure[0].point_b = wide3(end[0], end[1], end[2]);
        mech.model.bodies = mech.body;
        mech.model.body_count = 3;
        mech.model.dt = wide(0.006);
        mech.model.closures = closure;
        mech.model.closure_count = 1;
        mech.model.solver.method = bounded ? MDYN_DANTZIG : at_joint ? MDYN_TGS : MDYN_PGS;
        mech.model.solver.substeps = !bounded && at_joint ? 3 : 0;
        CHECK(mdyn_init(&sim, &mech.model) >= 0);
        for (int i = 0; i < (at_joint ? 5 : 3); i++) sim.v[i] = real(random_in(-1, 1));
        CHECK(mdyn_energy(&sim, &before, &level) >= 0);
        int code = mdyn_step(&sim);
        CHECK(code >= 0);
        CHECK(mdyn_energy(&sim, &after, &level) >= 0);
        if (of_wide(after) < 1.02 * of_wide(before) || (bounded && code != MDYN_OK)) continue;
        CHECK(at_joint && ++gained == 1);
    }
}

/* By how much the axes of a hinge are not along each other, and on which side: their sine, and the
   sign of their cosine. */
static double lean_of_hinge(const mdyn_closure *c, int *side) {
    ld a[3], b[3], lean[3];
    look();
    t_wide3(a, &c->axis_a);
    t_wide3(b, &c->axis_b);
    turned(a, c->a, a);
    turned(b, c->b, b);
    t_cross(lean, b, a);
    *side = t_dot(a, b) < 0 ? -1 : 1;
    return (double)sqrtl(t_dot(lean, lean) / t_dot(a, a) / t_dot(b, b));
}

/* Axes in opposite directions are parallel too: a free body on a hinge whose axes lean by up to 0.5
   from one of the two directions comes to that one, by steps and by mdyn_project, and turns on. It
   went over to the other, by half a turn, even from a lean of one rounding. */
static void opposite_axes(void) {
    for (int n = 0; n < 40; n++) {
        const int opposite = n % 2;
        int side;
        random_seed(6000 + (uint64_t)n);
        memset(&mech, 0, sizeof mech);
        memset(closure, 0, sizeof closure);
        mech.body[0] = free_box(1);
        mech.model.bodies = mech.body;
        mech.model.body_count = mech.model.closure_count = 1;
        mech.model.dt = wide(0x1p-10);
        closure[0].kind = MDYN_CLOSE_HINGE;
        closure[0].b = MDYN_WORLD;
        closure[0].axis_a.z = wide(1);
        closure[0].axis_b.x = wide(n < 20 ? random_in(-0.5, 0.5) : 0);
        closure[0].axis_b.z = wide(opposite ? -1 : 1);
        start();
        sim.v[2] = real(3);
        if (n % 4 > 1) CHECK_EQUAL(mdyn_project(&sim, MDYN_MASS_METRIC), MDYN_OK);
        for (int k = 0; k < 400; k++) CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(lean_of_hinge(&closure[0], &side), 0.0, BY_SCALAR(1e-14, 1e-6, 1e-8));
        CHECK_EQUAL(side, opposite ? -1 : 1);
        CHECK_NEAR(of_real(sim.v[2]), 3.0, 0.7); /* what is along the axis remains */
    }
}

/* Two slides that belong together are apart. Each step takes back a part of that, half by either,
   but not beyond a stop: where the first one ends there, the second goes the rest of the way. The
   stop is the joint's limit, the range of a user row, or a contact. The first slide was led past
   its limit by up to 0.4 of the 1 m. */
enum stop { STOP_LIMIT, STOP_USER_ROW, STOP_CONTACT, STOPS };

static void follow_slide(mdyn_sim *s, int index, mdyn_user_row *row, void *user) {
    (void)index;
    (void)user;
    row->value = wide(of_real(s->q[0]));
}

static void set_stop(enum stop stop, mdyn_user_row *row, double sign, double end) {
    mdyn_wide *lower = stop == STOP_LIMIT ? &mech.body[0].lower : &row->lower;
    mdyn_wide *upper = stop == STOP_LIMIT ? &mech.body[0].upper : &row->upper;
    *(sign < 0 ? upper : lower) = wide(sign * -2);
    *(sign < 0 ? lower : upper) = wide(sign * end);
    for (int i = 0; i < MIMICDYN_MAX_TERMS; i++) row->terms[i].body = MDYN_WORLD;
    row->terms[0].body = 0;
    row->terms[0].axes = MDYN_JOINT_VELOCITIES;
    row->terms[0].angular.x = wide(1);
    mech.model.user_rows = row;
    mech.model.user_row_count = stop == STOP_USER_ROW;
    mech.model.row_function = follow_slide;
}

static void touch_stop(double sign, double end) {
    mdyn_contact c = { 0 };
    c.b = MDYN_WORLD;
    c.normal.z = real(-sign);
    c.depth = real(sign * of_real(sim.q[0]) - end);
    CHECK_EQUAL(mdyn_set_contacts(&sim, &c, 1), MDYN_OK);
}

static void corrections_heed_stops(enum stop stop, int closed, double erp, mdyn_method method) {
    for (int n = 0; n < 20; n++) {
        double place[2] = { 0, random_in(0.5, 1) }, end = random_in(0, 0.25), sign = n % 2 ? -1 : 1;
        mdyn_coupling c = MDYN_MIMIC(1, 0, 1.0, 0.0);
        /* what users give has no digits beyond an mdyn_real: 30 steps add up their roundings */
        const double allowed = HEEDED_LIMIT * (stop == STOP_LIMIT ? 1 : 2);
        mdyn_user_row row;
        memset(&row, 0, sizeof row);
        memset(&mech, 0, sizeof mech);
        memset(closure, 0, sizeof closure);
        for (int i = 0; i < 2; i++) {
            mech.body[i].parent = MDYN_WORLD;
            mech.body[i].joint = MDYN_PRISMATIC;
            mech.body[i].mass = wide(1);
        }
        c.softness.kind = closure[0].softness.kind = MDYN_ERP_CFM;
        c.softness.a = closure[0].softness.a = wide(erp);
        closure[0].b = 1;
        mech.model.bodies = mech.body;
        mech.model.body_count = 2;
        mech.model.couplings = &c;
        mech.model.closures = closure;
        *(closed ? &mech.model.closure_count : &mech.model.coupling_count) = 1;
        mech.model.dt = wide(0x1p-10);
        mech.model.solver.method = method;
        set_stop(stop, &row, sign, end);
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        sim.q[1] = real(sign * place[1]);
        for (int k = 0; k < 30; k++) {
            double part = erp * (place[1] - place[0]);
            double first = fmin(place[0] + part / 2, end);
            place[1] -= part - (first - place[0]);
            place[0] = first;
            if (stop == STOP_CONTACT) touch_stop(sign, end);
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            for (int i = 0; i < 2; i++) {
                CHECK_NEAR(sign * of_real(sim.q[i]), place[i], allowed);
                CHECK_NEAR(of_real(sim.v[i]), 0, HEEDED_SPEED);
            }
        }
    }
}

/* Accelerations of a body when its joints have a: angular, and of the point at `arm`; velocities
   beside them. The largest number among them goes into size. */
typedef struct kinematics {
    ld w[3], u[3], alpha[3], acc[3];
} kinematics;


static kinematics accelerated(int body, const mdyn_wide *a, const ld arm[3], ld *size) {
    kinematics r = { { 0 }, { 0 }, { 0 }, { 0 } };
    ld spin[3];
    if (body < 0) {
        return r;
    }
    for (int j = 0; j < 3; j++) {
        r.w[j] = t.w[body][j];
        r.u[j] = t.u[body][j];
        r.alpha[j] = t.alpha[body][j];
        r.acc[j] = t.a[body][j];
        for (int k = 0; k < t.dofs; k++) {
            ld linear = t.Jo[body][k][j] * (ld)of_wide(a[k]);
            ld angular = t.Jw[body][k][j] * (ld)of_wide(a[k]);
            r.acc[j] += linear;
            r.alpha[j] += angular;
            *size = fmaxl(*size, fmaxl(fabsl(linear), fabsl(angular)));
        }
    }
    t_cross(spin, r.w, arm);
    t_cross_add(r.u, r.w, arm);
    t_cross_add(r.acc, r.alpha, arm);
    t_cross_add(r.acc, r.w, spin);
    for (int j = 0; j < 3; j++) {
        *size = fmaxl(*size, fabsl(r.acc[j]));
    }
    return r;
}

/* The second derivative of a unit vector that turns with a body. */
static void axis_acceleration(int body, const mdyn_wide3 *axis, const kinematics *k, ld r[3]) {
    ld x[3], rate[3];
    t_wide3(x, axis);
    unit(x);
    turned(x, body, x);
    t_cross(rate, k->w, x);
    t_cross(r, k->alpha, x);
    t_cross_add(r, k->w, rate);
}

/* What a closure keeps at 0 stays there: its second derivatives, as parts of what they consist of
   or of 1 (m/s^2, rad/s^2), by truth.h. */
static void check_loop_acceleration(const mdyn_closure *c, const mdyn_wide *a) {
    ld arm[2][3], gap[3], acc[3], u[3], axis[2][3] = { { 0 } }, size = 1;
    dense_loop(c, arm, gap);
    kinematics k[2] = { accelerated(c->a, a, arm[0], &size), accelerated(c->b, a, arm[1], &size) };
    for (int j = 0; j < 3; j++) {
        acc[j] = k[0].acc[j] - k[1].acc[j];
        u[j] = k[0].u[j] - k[1].u[j];
    }
    if (c->kind == MDYN_CLOSE_DISTANCE) { /* |d|'' = 0 */
        ld d = sqrtl(t_dot(gap, gap)), along = t_dot(u, gap) / d;
        ld side = t_dot(u, u) - along * along;
        CHECK_NEAR((double)((t_dot(acc, gap) / d + side / d) / size), 0.0,
                   BY_SCALAR(1e-13, 5e-6, 2e-7));
        return;
    }
    axis_acceleration(c->a, &c->axis_a, &k[0], axis[0]);
    axis_acceleration(c->b, &c->axis_b, &k[1], axis[1]);
    for (int j = 0; j < 3; j++) {
        CHECK_NEAR((double)(acc[j] / size), 0.0, BY_SCALAR(5e-11, 5e-4, 2e-3));
        if (c->kind == MDYN_CLOSE_HINGE) {
            CHECK_NEAR((double)((axis[0][j] - axis[1][j]) / size), 0.0, LOOP_TURNS);
        } else if (c->kind == MDYN_CLOSE_WELD) {
            CHECK_NEAR((double)((k[0].alpha[j] - k[1].alpha[j]) / size), 0.0, LOOP_TURNS);
        }
    }
}

/* J a + J' v = 0. A row that the others nearly decide is left to them, and so off by the part that
   counts as nothing. */
static void accelerations_of_loops(void) {
    int done[4] = { 0 };
    for (int n = 0; n < 160; n++) {
        mdyn_wide a[TN];
        random_seed(5000 + (uint64_t)n);
        draw_mechanism(4 + random_int(4), 30, FLOATING);
        const mdyn_sim kept = start_without_rows(2);
        mech.model.closure_count = 1;
        random_closure(&closure[0], (mdyn_closure_kind)(n % 4), 0);
        start_again(&kept);
        memset(sim.wrench, 0, sizeof sim.wrench);
        if (mdyn_project(&sim, MDYN_MASS_METRIC) != MDYN_OK) {
            continue; /* joints that cannot be held together like that */
        }
        CHECK_EQUAL(mdyn_constrained_dynamics(&sim, a), MDYN_OK);
        look();
        check_loop_acceleration(&closure[0], a);
        done[n % 4]++;
    }
    for (int kind = 0; kind < 4; kind++) {
        CHECK(done[kind] >= 38);
    }
    if (check.measure) {
        printf("accelerations of %d points, %d hinges, %d welds, %d distances\n", done[0], done[1],
               done[2], done[3]);
    }
}

/* A weld of the crank to the world, and two equal couplings that turn it. What mdyn_engage says of
   couplings is the same before and after a step, which finds the closure's rows. */
static void warnings_of_couplings(void) {
    static const double straight[4] = { 1, 0, 0, 0 };
    four_bar(MDYN_CLOSE_WELD, straight);
    closure[0].a = 0;
    closure[0].b = MDYN_WORLD;
    mech.model.closure_count = 1;
    for (int i = 0; i < 2; i++) {
        mech.coupling[i] = (mdyn_coupling)MDYN_MIMIC(0, 1, 1.0, 0.0);
        mech.coupling[i].terms[1].coefficient = wide(0);
        mech.coupling[i].level = MDYN_VELOCITY;
        mech.coupling[i].target_velocity = wide(1);
    }
    mech.model.couplings = mech.coupling;
    mech.model.coupling_count = 2;
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_WARN_REDUNDANT);
    CHECK_EQUAL(mdyn_engage(&sim, 0, MDYN_ENGAGE_HERE), MDYN_WARN_REDUNDANT);
    CHECK(mdyn_step(&sim) >= 0);
    CHECK_EQUAL(mdyn_engage(&sim, 0, MDYN_ENGAGE_HERE), MDYN_WARN_REDUNDANT);
}

/* ---- refusals and texts ---- */

static void refused_closures(void) {
    static const double straight[4] = { 1, 0, 0, 0 };
#define REFUSED(code, change) \
    do { \
        four_bar(MDYN_CLOSE_POINT, straight); \
        closure[1] = closure[0]; \
        mech.model.closure_count = 2; \
        change; \
        refused_model(code, 1); \
    } while (0)
    REFUSED(MDYN_ERR_CLOSURE, closure[1].a = 2);
    REFUSED(MDYN_ERR_CLOSURE, closure[1].a = 3);
    REFUSED(MDYN_ERR_CLOSURE, closure[1].b = -2);
    REFUSED(MDYN_ERR_CLOSURE, closure[1].a = closure[1].b = MDYN_WORLD);
    REFUSED(MDYN_ERR_CLOSURE, closure[1].kind = (mdyn_closure_kind)4);
    REFUSED(MDYN_ERR_CLOSURE, (closure[1].kind = MDYN_CLOSE_DISTANCE,
                               closure[1].distance = wide(0)));
    REFUSED(MDYN_ERR_NEGATIVE, closure[1].effort = wide(-1));
    REFUSED(MDYN_ERR_SOFTNESS, (closure[1].softness.kind = MDYN_ERP_CFM,
                                closure[1].softness.a = wide(2)));
    for (int i = 0; i < CHECK_BAD_WIDES; i++) {
        REFUSED(MDYN_ERR_NOT_FINITE, bad_wide(&closure[1].point_a.y, i));
        REFUSED(MDYN_ERR_NOT_FINITE, bad_wide(&closure[1].axis_b.z, i));
        REFUSED(MDYN_ERR_NOT_FINITE, bad_wide(&closure[1].rotation.w, i));
        REFUSED(MDYN_ERR_NOT_FINITE, bad_wide(&closure[1].distance, i));
    }
#undef REFUSED
    four_bar(MDYN_CLOSE_WELD, straight);
    closure[1] = closure[2] = closure[3] = closure[0];
    mech.model.closure_count = 4; /* 24 rows */
    refused_model(MDYN_ERR_CAPACITY_BODY_ROWS, -1);
    mech.model.closures = NULL;
    refused_model(MDYN_ERR_NULL, -1);
}

static void texts(void) {
    static const double straight[4] = { 1, 0, 0, 0 };
    four_bar(MDYN_CLOSE_HINGE, straight);
    closure[0].name = "rocker";
    mech.body[1].name = "coupler";
    closure[1].kind = MDYN_CLOSE_DISTANCE;
    closure[1].a = 2;
    closure[1].b = MDYN_WORLD;
    closure[1].distance = wide(0.25);
    closure[1].effort = wide(10);
    closure[2].kind = MDYN_CLOSE_WELD;
    closure[2].b = MDYN_WORLD;
    closure[2].effort = wide(7);
    closure[2].name = "plate";
    mech.model.closure_count = 3;
    start();
    explained(MDYN_ROW_CLOSURE, 15,
              "closure 15 plate: rotation between 0 and world, about x = 0 [rad];"
              " hard, erp 0.2, |force| <= 7");
    explained(MDYN_ROW_CLOSURE, 16,
              "closure 16 plate: rotation between 0 and world, about y = 0 [rad];"
              " hard, erp 0.2, |force| <= 7");
    explained(MDYN_ROW_CLOSURE, 17,
              "closure 17 plate: rotation between 0 and world, about z = 0 [rad];"
              " hard, erp 0.2, |force| <= 7");
    explained(MDYN_ROW_CLOSURE, 2,
              "closure 2 rocker: displacement between coupler and 2, along z = 0 [m];"
              " hard, erp 0.2");
    explained(MDYN_ROW_CLOSURE, 4,
              "closure 4 rocker: misalignment of the axes of coupler and 2, second = 0 [rad];"
              " hard, erp 0.2");
    explained(MDYN_ROW_CLOSURE, 6,
              "closure 6: distance between 2 and world = 0.25 [m]; hard, erp 0.2,"
              " |force| <= 10");
}

/* Two sliders that a hard coupling moves alike, with a stretched spring between them: it moves
   nothing, and the coupling carries its force beside that which its follower's inertia takes. */
static void spring_along_a_coupling(mdyn_scheme scheme) {
    const double stiffness = 200, stretch = 0.05, pull = 3, mass[] = { 0.5, 1.5 };
    mdyn_row_report r;
    memset(&mech, 0, sizeof mech);
    memset(closure, 0, sizeof closure);
    for (int i = 0; i < 2; i++) {
        mech.body[i].joint = MDYN_PRISMATIC;
        mech.body[i].parent = MDYN_WORLD;
        mech.body[i].axis = wide3(1, 0, 0);
        mech.body[i].mass = wide(mass[i]);
        mech.coupling[0].terms[i].body = (int16_t)i;
        mech.coupling[0].terms[i].coefficient = wide(i ? 1 : -1);
    }
    mech.model.bodies = mech.body;
    mech.model.body_count = 2;
    mech.model.couplings = mech.coupling;
    mech.model.coupling_count = 1;
    mech.model.dt = wide(0x1p-10);
    mech.model.solver.scheme = scheme;
    closure[0].kind = MDYN_CLOSE_POINT;
    closure[0].b = 1;
    closure[0].point_a = wide3(stretch, 0, 0);
    closure[0].softness.kind = MDYN_KP_KD;
    closure[0].softness.a = wide(stiffness);
    mech.model.closures = closure;
    mech.model.closure_count = 1;
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    for (int i = 0; i < 20; i++) {
        sim.tau[0] = real(pull);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &r), MDYN_OK);
        CHECK_NEAR(of_wide(r.force), pull * mass[1] / (mass[0] + mass[1]) - stiffness * stretch,
                   BY_SCALAR(1e-12, 1e-4, 1e-5));
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    closures_against_dense(MDYN_PGS);
    closures_against_dense(MDYN_DANTZIG);
    closures_in_parts(MDYN_PGS, 1);
    closures_in_parts(MDYN_DANTZIG, 1);
    closures_in_parts(MDYN_PGS, 2);
    redundant_rows();
    leaning_loop();
    loop_on_a_base();
    limit_in_a_loop();
    redundant_soft_rows();
    soft_rows_of_a_weld(MDYN_EXPLICIT);
    soft_rows_of_a_weld(MDYN_MIDPOINT);
    projected_loops();
    loop_that_ends_at_the_origin();
    opposite_axes();
    out_of_reach(2, MDYN_CLOSE_POINT, 0);
    out_of_reach(2, MDYN_CLOSE_HINGE, 0);
    out_of_reach(3, MDYN_CLOSE_POINT, 0);
    out_of_reach(2, MDYN_CLOSE_POINT, 9.81);
    out_of_reach(3, MDYN_CLOSE_HINGE, 9.81);
    beside_one_out_of_reach();
    for (int i = 0; i < 2 * STOPS; i++) {
        corrections_heed_stops((enum stop)(i / 2), i % 2, 0.25, MDYN_PGS);
        corrections_heed_stops((enum stop)(i / 2), i % 2, 1, MDYN_PGS);
        corrections_heed_stops((enum stop)(i / 2), i % 2, 0.25, MDYN_DANTZIG);
    }
    accelerations_of_loops();
    warnings_of_couplings();
    refused_closures();
    texts();
    held_twice();
    velocities_of_rows();
    spring_along_a_coupling(MDYN_EXPLICIT);
    spring_along_a_coupling(MDYN_MIDPOINT);
    nearly_dependent_turns(0);
    nearly_dependent_turns(1);
    return check_end();
}
