/* The motion over many steps: order, momentum, energy, springs, stops, position errors. References
   are closed forms and a Runge-Kutta integration of truth.h in long double. */
#include "knobs.h"
#include "check.h"
#include "truth.h"

static mdyn_sim sim, twin;
static mechanism mech;
static truth t;

static mdyn_body *add_body(int parent, mdyn_joint joint, double mass) {
    mdyn_body *b = &mech.body[mech.model.body_count++];
    b->parent = (int16_t)parent;
    b->joint = joint;
    b->mass = wide(mass);
    return b;
}

static void begin(double dt) {
    memset(&mech, 0, sizeof mech);
    mech.model.bodies = mech.body;
    mech.model.couplings = mech.coupling;
    mech.model.dt = wide(dt);
}

/* A rod of length l along x, carried at its end. */
static mdyn_body *add_rod(int parent, double l, double x, double y, double z) {
    mdyn_body *b = add_body(parent, MDYN_REVOLUTE, 1);
    b->axis = wide3(x, y, z);
    b->com = wide3(l / 2, 0, 0);
    b->inertia.xx = wide(0.002);
    b->inertia.yy = b->inertia.zz = wide(l * l / 12);
    if (parent >= 0) {
        b->position = wide3(l, 0, 0);
    }
    return b;
}

static void mimic(int follower, int leader, double ratio) {
    mech.coupling[mech.model.coupling_count++] = mimic_of(follower, leader, ratio, 0);
}

static void run(int steps) {
    for (int i = 0; i < steps; i++) {
        if (!CHECK_EQUAL(mdyn_step(&sim), MDYN_OK)) {
            break;
        }
    }
}

static double kinetic(void) {
    mdyn_wide k, p;
    CHECK_EQUAL(mdyn_energy(&sim, &k, &p), MDYN_OK);
    return of_wide(k);
}

static double energy(void) {
    mdyn_wide k, p;
    CHECK_EQUAL(mdyn_energy(&sim, &k, &p), MDYN_OK);
    return of_wide(k) + of_wide(p);
}

/* ---- Runge and Kutta ---- */

/* v' of the tree, with followers q_f = ratio q_l of the couplings held: G^T (M G y' - tau + C) = 0;
   tau holds all other forces. */
static void accelerate(const ld *q, const ld *v, ld *a) {
    static ld A[TN][TN];
    ld b[TN] = { 0 }, G[TN] = { 0 };
    int leader[TN];
    memcpy(t.q, q, sizeof t.q);
    memcpy(t.v, v, sizeof t.v);
    truth_update(&t, &mech.model);
    for (int k = 0; k < t.dofs; k++) {
        leader[k] = k;
        G[k] = 1;
    }
    for (int i = 0; i < mech.model.coupling_count; i++) {
        const mdyn_term *term = mech.coupling[i].terms;
        int f = t.dof[term[0].body], l = t.dof[term[1].body];
        G[f] = -(ld)of_wide(term[1].coefficient) * G[l];
        leader[f] = leader[l];
    }
    memset(A, 0, sizeof A);
    for (int j = 0; j < t.dofs; j++) {
        for (int k = 0; k < t.dofs; k++) {
            A[leader[j]][leader[k]] += G[j] * t.M[j][k] * G[k];
        }
        b[leader[j]] += G[j] * (t.tau[j] - t.C[j]);
    }
    for (int k = 0; k < t.dofs; k++) {
        if (leader[k] != k) {
            A[k][k] = 1;
        }
    }
    CHECK(truth_cholesky(A, t.dofs));
    truth_back(A, t.dofs, b);
    for (int k = 0; k < t.dofs; k++) {
        a[k] = G[k] * b[leader[k]];
    }
}

/* q' of velocities v. */
static void rates(const ld *q, const ld *v, ld *dq) {
    for (int i = 0; i < t.bodies; i++) {
        const ld *p = q + t.coordinate[i], *w = v + t.dof[i];
        ld *d = dq + t.coordinate[i], R[3][3];
        if (t.dofs_of[i] == 1) {
            d[0] = w[0];
        }
        if (t.dofs_of[i] < 3) {
            continue;
        }
        if (mech.body[i].joint == MDYN_FREE) {
            t_quaternion(R, p + 3);
            t_turn(d, R, w + 3);
            p += 3;
            d += 3;
        }
        d[0] = -(p[1] * w[0] + p[2] * w[1] + p[3] * w[2]) / 2;
        d[1] = (p[0] * w[0] + p[2] * w[2] - p[3] * w[1]) / 2;
        d[2] = (p[0] * w[1] + p[3] * w[0] - p[1] * w[2]) / 2;
        d[3] = (p[0] * w[2] + p[1] * w[1] - p[2] * w[0]) / 2;
    }
}

/* The state of the sim, `time` on, in n steps of fourth order, into t.q and t.v. */
static void integrate(double time, int n) {
    ld q[TQ] = { 0 }, v[TN] = { 0 }, h = (ld)time / n;
    memset(&t, 0, sizeof t);
    truth_init(&t, &mech.model);
    truth_copy(&t, &sim);
    memcpy(q, t.q, sizeof q);
    memcpy(v, t.v, sizeof v);
    for (int s = 0; s < n; s++) {
        ld dq[4][TQ] = { { 0 } }, dv[4][TN] = { { 0 } }, at_q[TQ], at_v[TN];
        static const ld part[4] = { 0, 0.5L, 0.5L, 1 };
        for (int k = 0; k < 4; k++) {
            for (int i = 0; i < t.coordinates; i++) {
                at_q[i] = q[i] + (k ? part[k] * h * dq[k - 1][i] : 0);
            }
            for (int i = 0; i < t.dofs; i++) {
                at_v[i] = v[i] + (k ? part[k] * h * dv[k - 1][i] : 0);
            }
            rates(at_q, at_v, dq[k]);
            accelerate(at_q, at_v, dv[k]);
        }
        for (int i = 0; i < t.coordinates; i++) {
            q[i] += h / 6 * (dq[0][i] + 2 * dq[1][i] + 2 * dq[2][i] + dq[3][i]);
        }
        for (int i = 0; i < t.dofs; i++) {
            v[i] += h / 6 * (dv[0][i] + 2 * dv[1][i] + 2 * dv[2][i] + dv[3][i]);
        }
    }
    memcpy(t.q, q, sizeof q);
    memcpy(t.v, v, sizeof v);
}

static double distance(void) {
    double sum = 0;
    for (int i = 0; i < t.coordinates; i++) {
        sum += pow(of_real(sim.q[i]) - (double)t.q[i], 2);
    }
    return sqrt(sum);
}

/* ---- order ---- */

static void double_pendulum(void) {
    add_rod(-1, 1, 0, 1, 0);
    add_rod(0, 1, 0, 1, 0);
    mech.model.gravity = wide3(0, 0, -9.81);
}

static void geared_hand(void) {
    add_rod(-1, 0.5, 0, 0, 1);
    add_rod(0, 0.4, 0, 1, 0);
    add_rod(1, 0.3, 0, 1, 0);
    add_rod(2, 0.2, 1, 0, 0);
    mimic(2, 1, 0.8);
    mech.model.gravity = wide3(0, 0, -9.81);
}

static void whirling_tree(void) {
    add_rod(-1, 0.5, 0, 0, 1);
    add_rod(0, 0.4, 0, 1, 0);
    add_rod(0, 0.3, 1, 0, 0);
    add_rod(2, 0.2, 0, 1, 1);
}

static void floating_tree(void) {
    mdyn_body *b = add_body(-1, MDYN_FREE, 2);
    b->com = wide3(0.1, 0.02, -0.03);
    b->inertia.xx = wide(0.02);
    b->inertia.yy = wide(0.025);
    b->inertia.zz = wide(0.03);
    add_rod(0, 0.3, 0, 1, 0);
    add_rod(1, 0.2, 1, 0, 0);
    add_rod(0, 0.25, 0, 0, 1);
    mimic(2, 1, 2);
}

static void gyroscope_in_tree(void) {
    add_rod(-1, 0.5, 0, 0, 1);
    mdyn_body *b = add_body(0, MDYN_SPHERICAL, 1);
    b->position = wide3(0.5, 0, 0);
    b->com = wide3(0, 0, 0.05);
    b->inertia.xx = b->inertia.yy = wide(0.01);
    b->inertia.zz = wide(0.015);
    mech.model.gravity = wide3(0, 0, -9.81);
}

static void (*const movers[])(void) = { double_pendulum, geared_hand, whirling_tree,
                                        floating_tree, gyroscope_in_tree };
enum { MOVERS = sizeof movers / sizeof movers[0] };

static void start_moving(double speed) {
    random_seed(7);
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    for (int i = 0; i < mdyn_dofs(&sim); i++) {
        sim.v[i] = real(speed * random_in(-1, 1));
    }
    for (int i = 0; i < mech.model.coupling_count; i++) {
        const mdyn_term *term = mech.coupling[i].terms;
        int f = mdyn_first_dof(&sim, term[0].body), l = mdyn_first_dof(&sim, term[1].body);
        sim.v[f] = real(-of_wide(term[1].coefficient) * of_real(sim.v[l]));
    }
}

/* Half the step, a quarter of the error. */
static void test_order(void) {
    for (int m = 0; m < MOVERS; m++) {
        for (int corrections = 0; corrections < 2; corrections++) {
            double error[2], h = 0x1p-8, time = 0.5;
            for (int half = 0; half < 2; half++) {
                begin(half ? h / 2 : h);
                movers[m]();
                mech.model.solver.corrections = (uint16_t)corrections;
                start_moving(3);
                integrate(time, 400);
                run((int)(time / h) << half);
                error[half] = distance();
            }
            CHECK_NEAR(error[0] / error[1], 4, corrections ? 1.0 : 0.6);
            CHECK(error[0] < (corrections ? 3e-3 : 1e-2));
            if (check.measure) {
                printf("order: mover %d, corrections %d: %.2e, %.2e, ratio %.2f\n", m, corrections,
                       error[0], error[1], error[0] / error[1]);
            }
        }
    }
}

/* A damped joint, and one with dry friction and a constant torque. */
static void test_damping(void) {
    double error[2];
    for (int half = 0; half < 2; half++) {
        double h = half ? 0x1p-8 : 0x1p-7, D = 3, J = 0.5;
        begin(h);
        mdyn_body *b = add_body(-1, MDYN_REVOLUTE, 1);
        b->inertia.xx = b->inertia.yy = b->inertia.zz = wide(J);
        b->damping = wide(D);
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        sim.v[0] = real(5);
        run(64 << half);
        error[half] = fabs(of_real(sim.q[0]) - 5 * J / D * (1 - exp(-D / J * 0.5)));
    }
    CHECK(error[0] < 2e-4);
    CHECK_NEAR(error[0] / error[1], 4, 0.5);
}

/* ---- momentum and energy ---- */

/* Momentum and angular momentum about the world's origin, by poses and velocities. */
static void momentum(double p[6]) {
    memset(&t, 0, sizeof t);
    truth_init(&t, &mech.model);
    truth_copy(&t, &sim);
    truth_update(&t, &mech.model);
    memset(p, 0, 6 * sizeof *p);
    for (int i = 0; i < t.bodies; i++) {
        const mdyn_inertia *in = &mech.body[i].inertia;
        ld c[3], r[3], u[3], own[3], turn[3], l[3];
        ld diagonal[3] = { (ld)of_wide(in->xx), (ld)of_wide(in->yy), (ld)of_wide(in->zz) };
        ld mass = (ld)of_wide(mech.body[i].mass);
        t_wide3(c, &mech.body[i].com);
        t_turn(r, t.R[i], c);
        t_cross(u, t.w[i], r);
        for (int k = 0; k < 3; k++) {
            u[k] = mass * (u[k] + t.u[i][k]);
            r[k] += t.o[i][k];
            own[k] = diagonal[k]
                * (t.R[i][0][k] * t.w[i][0] + t.R[i][1][k] * t.w[i][1] + t.R[i][2][k] * t.w[i][2]);
        }
        t_turn(turn, t.R[i], own);
        t_cross(l, r, u);
        for (int k = 0; k < 3; k++) {
            p[k] += (double)u[k];
            p[3 + k] += (double)(l[k] + turn[k]);
        }
    }
}

static double change(const double *a, const double *b) {
    double d = 0, size = 0;
    for (int k = 0; k < 3; k++) {
        d += (a[k] - b[k]) * (a[k] - b[k]);
        size += b[k] * b[k];
    }
    return sqrt(d / size);
}

/* The same with the angular momentum about the mass center: about an origin from which the body has
   flown a distance d it would show the rounding of the linear momentum d times. */
static void momentum_about_center(double p[6]) {
    ld center[3] = { 0 }, mass = 0, linear[3], moment[3], c[3], r[3];
    momentum(p);
    for (int i = 0; i < t.bodies; i++) {
        ld m = (ld)of_wide(mech.body[i].mass);
        t_wide3(c, &mech.body[i].com);
        t_turn(r, t.R[i], c);
        for (int k = 0; k < 3; k++) {
            center[k] += m * (t.o[i][k] + r[k]);
        }
        mass += m;
    }
    for (int k = 0; k < 3; k++) {
        center[k] /= mass;
        linear[k] = (ld)p[k];
    }
    t_cross(moment, center, linear);
    for (int k = 0; k < 3; k++) {
        p[3 + k] -= (double)moment[k];
    }
}

/* Runs without force; how far momenta and kinetic energy leave their values at the start. */
static void drift(int steps, double *linear, double *angular, double *kinetic_energy) {
    double p[6], q[6], k = kinetic();
    momentum_about_center(p);
    *linear = *angular = *kinetic_energy = 0;
    for (int i = 0; i < 10; i++) {
        run(steps / 10);
        momentum_about_center(q);
        *linear = fmax(*linear, change(q, p));
        *angular = fmax(*angular, change(q + 3, p + 3));
        *kinetic_energy = fmax(*kinetic_energy, fabs(kinetic() / k - 1));
    }
}

/* Of a body in 1e5 steps: three times what is seen, or more. Its rounding adds up in proportion to
   the steps. */
TOLERANCE(BODY_LINEAR,   5e-12, 3e-3, 1e-4);
TOLERANCE(BODY_ANGULAR,  3e-13, 6e-5, 5e-6);
TOLERANCE(BODY_ROUNDING, 2e-13, 2e-5, 5e-6); /* of the energy, and the bound of the scheme */
#define BODY_ENERGY 1e-6
TOLERANCE(TREE_LINEAR,   1e-13, 3e-6, 1e-7);
TOLERANCE(TREE_ANGULAR,  1e-12, 1e-4, 1e-5);
TOLERANCE(TREE_PATH,     1e-14, 1e-6, 6e-8);

static int body_steps = 100000; /* 1000000 with the argument "long" */

/* A body whose mass center is off its origin, at omega dt 0.01, 0.1, 0.5. */
static void test_free_body(void) {
    static const double turn[] = { 0.01, 0.1, 0.5 };
    for (int i = 0; i < 3; i++) {
        double linear, angular, kinetic_energy;
        begin(0x1p-10);
        mdyn_body *b = add_body(-1, MDYN_FREE, 1);
        b->com = wide3(0.06, 0.03, -0.04);
        b->inertia.xx = wide(0.1);
        b->inertia.yy = wide(0.15);
        b->inertia.zz = wide(0.2);
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        double w = turn[i] * 1024 / sqrt(1.29);
        sim.v[0] = real(w);
        sim.v[1] = real(0.5 * w);
        sim.v[2] = real(0.2 * w);
        sim.v[3] = real(1);
        drift(body_steps, &linear, &angular, &kinetic_energy);
        const double longer = body_steps / 1e5;
        CHECK_NEAR(linear, 0, longer * BODY_LINEAR);
        CHECK_NEAR(angular, 0, longer * BODY_ANGULAR);
        CHECK_NEAR(kinetic_energy, 0, BODY_ENERGY + longer * BODY_ROUNDING);
        if (check.measure) {
            printf("free body, omega dt %.2f: P %.1e, L %.1e, E %.1e\n", turn[i], linear, angular,
                   kinetic_energy);
        }
    }
}

/* ---- a free body as others test it ---- */

/* Of 1 kg, its mass center 4 to 9 cm off its origin. In two parts, the fixed one is turned by a
   quarter about x and the mass center of both lies where that of the whole does. */
static mdyn_body *add_stone(int parts, double x, double y, double z) {
    const double mass = parts > 1 ? 0.6 : 1, shift = parts > 1 ? 0.05 : 0; /* 0.6 shift: of one */
    mdyn_body *b = add_body(-1, MDYN_FREE, mass), *whole = b;
    b->com = wide3(x - 0.4 * shift, y, z);
    b->inertia.xx = wide(parts > 1 ? 0.003 : 0.005);
    b->inertia.yy = wide(parts > 1 ? 0.004 : 0.007 + 0.24 * 0.05 * 0.05);
    b->inertia.zz = wide(parts > 1 ? 0.0035 : 0.006 + 0.24 * 0.05 * 0.05);
    if (parts > 1) {
        b = add_body(0, MDYN_FIXED, 0.4);
        b->position = wide3(0.03, -0.02, 0.01);
        b->rotation.w = b->rotation.x = wide(sqrt(0.5));
        b->com = wide3(x + 0.6 * shift - 0.03, z - 0.01, -(y + 0.02));
        b->inertia.xx = wide(0.002);
        b->inertia.yy = wide(0.0025);
        b->inertia.zz = wide(0.003);
    }
    return whole;
}

/* Where the mass center is, and its velocity. */
static void mass_center(double at[3], double rate[3]) {
    double p[6];
    momentum(p);
    for (int k = 0; k < 3; k++) {
        ld sum = 0, mass = 0;
        for (int i = 0; i < t.bodies; i++) {
            ld m = (ld)of_wide(mech.body[i].mass), c[3];
            t_wide3(c, &mech.body[i].com);
            t_turn(c, t.R[i], c);
            sum += m * (t.o[i][k] + c[k]);
            mass += m;
        }
        at[k] = (double)(sum / mass);
        rate[k] = p[k] / (double)mass;
    }
}

/* Some three times what is seen. */
/*                        F64    F32  FIXED */
TOLERANCE(STONE_LINEAR,  6e-15, 6e-6, 1.5e-7); /* m/s */
TOLERANCE(STONE_ANGULAR, 4e-14, 3e-6, 6e-8);   /* of its size */
TOLERANCE(STONE_PATH,    3e-15, 3e-6, 5e-8);   /* m */
TOLERANCE(FALL,          3e-13, 3e-5, 1e-6);   /* of 29 m/s */
TOLERANCE(STONE_PARTS,   1e-14, 3e-6, 5e-7);   /* of 1 m, of 14 rad/s */

/* A second of 1 ms steps at 10 to 14 rad/s: momentum, angular momentum about the mass center, the
   parabola of the mass center; and the same of a body in two welded parts. */
static void test_stone(void) {
    static const double com[][3] = {
        { 0.04, 0, 0 }, { 0.03, -0.05, 0.02 }, { 0.05, 0.05, -0.055 }
    };
    static const double turn[][3] = { { 0, 10, 0 }, { 7, -6, 8 }, { 8, 8, 8 } };
    for (int n = 0; n < 18; n++) {
        const double *c = com[n % 3], *w = turn[n / 3 % 3], fall = n < 9 ? 0 : -9.81;
        double p[6], q[6], at[3], rate[3], end[3], end_rate[3], state[13] = { 0 };
        for (int parts = 1; parts <= 2; parts++) {
            begin(0.001);
            add_stone(parts, c[0], c[1], c[2]);
            mech.model.gravity = wide3(0, 0, fall);
            CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
            const double dt = of_wide(mech.model.dt), g = of_wide(mech.model.gravity.z);
            for (int k = 0; k < 3; k++) {
                sim.v[k] = real(w[k]);
            }
            sim.v[3] = real(0.3);
            sim.v[5] = real(2);
            momentum_about_center(p);
            mass_center(at, rate);
            run(1000);
            momentum_about_center(q);
            mass_center(end, end_rate);
            for (int k = 0; k < 3; k++) {
                double drop = k == 2 ? 1000 * dt * g : 0;
                CHECK_NEAR(end_rate[k] - rate[k] - drop, 0, STONE_LINEAR);
                CHECK_NEAR(end[k] - at[k] - 1000 * dt * (rate[k] + drop / 2), 0, STONE_PATH);
            }
            CHECK_NEAR(change(q + 3, p + 3), 0, STONE_ANGULAR);
            for (int k = 0; k < 13; k++) {
                double x = k < 7 ? of_real(sim.q[k]) : of_real(sim.v[k - 7]);
                if (parts > 1) {
                    CHECK_NEAR(x - state[k], 0, (k < 7 ? 1 : 14) * STONE_PARTS);
                }
                state[k] = x;
            }
        }
    }
}

static void test_floating_tree(void) {
    double linear, angular, kinetic_energy;
    begin(0x1p-10);
    floating_tree();
    start_moving(4);
    drift(10000, &linear, &angular, &kinetic_energy);
    CHECK_NEAR(linear, 0, TREE_LINEAR);
    CHECK_NEAR(angular, 0, TREE_ANGULAR);
    CHECK_NEAR(kinetic_energy, 0, 1e-3);
}

/* The mass center of a floating tree beside a slider that its limit brings back. */
static void test_tree_beside_slider(void) {
    double at[3], rate[3], end[3], end_rate[3];
    begin(0x1p-10);
    floating_tree();
    mdyn_body *slider = add_body(-1, MDYN_PRISMATIC, 0);
    slider->armature = wide(2);
    slider->upper = wide(1);
    start_moving(4);
    sim.q[10] = real(-0.5);
    mass_center(at, rate);
    run(64);
    mass_center(end, end_rate);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(end[k] - at[k] - 0x1p-4 * rate[k], 0, TREE_PATH);
    }
    CHECK(of_real(sim.q[10]) > -0.1);
}

/* A floating tree falls: the rounding of one pull is not that of 3000 times the same pull. */
static void test_falling_tree(void) {
    double at[3], rate[3];
    begin(0.001);
    floating_tree();
    mech.model.gravity = wide3(0, 0, -9.81);
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    run(3000);
    mass_center(at, rate);
    CHECK_NEAR(rate[0], 0, FALL);
    CHECK_NEAR(rate[1], 0, FALL);
    CHECK_NEAR(rate[2] - 3000 * of_wide(mech.model.dt) * of_wide(mech.model.gravity.z), 0, FALL);
}

/* External forces change the momentum of a floating tree by their impulse. */
static void test_pushed_tree(void) {
    double p[6], q[6];
    begin(0x1p-10);
    floating_tree();
    mech.model.gravity = wide3(0, 0, -9.81);
    start_moving(2);
    sim.wrench[2].force.x = real(3);
    sim.tau[1] = real(0.5);
    momentum(p);
    run(1024);
    momentum(q);
    CHECK_NEAR(q[0] - p[0], 3, BY_SCALAR(1e-2, 1e-2, 1e-2)); /* tau adds a moment, no force */
    CHECK_NEAR(q[1] - p[1], 0, 1e-2);
    CHECK_NEAR(q[2] - p[2], -9.81 * 5, 1e-2);
}

/* A top: the angular momentum about the vertical, energy, and where it has gone. */
static void test_top(void) {
    double p[6], q[6], start;
    begin(0x1p-10);
    mdyn_body *b = add_body(-1, MDYN_SPHERICAL, 1);
    b->com = wide3(0, 0, 0.1);
    b->inertia.xx = b->inertia.yy = wide(0.01);
    b->inertia.zz = wide(0.01);
    mech.model.gravity = wide3(0, 0, -9.81);
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    sim.q[0] = real(cos(0.3));
    sim.q[1] = real(sin(0.3));
    sim.v[2] = real(100);
    momentum(p);
    start = energy();
    integrate(1, 4000);
    truth want = t;
    run(1024);
    momentum(q);
    CHECK_NEAR(q[5] / p[5], 1, BY_SCALAR(1e-11, 1e-4, 1e-6));
    CHECK_NEAR(energy() / start, 1, BY_SCALAR(1e-4, 1e-4, 1e-4));
    t = want;
    truth_update(&t, &mech.model);
    ld axis[3], axis_of_sim[3], up[3] = { 0, 0, 1 };
    t_turn(axis, t.R[0], up);
    truth_copy(&t, &sim);
    truth_update(&t, &mech.model);
    t_turn(axis_of_sim, t.R[0], up);
    CHECK_NEAR((double)axis_of_sim[0], (double)axis[0], 1e-3);
    CHECK_NEAR((double)axis_of_sim[1], (double)axis[1], 1e-3);
}

static void test_whirl(void) {
    begin(0x1p-10);
    whirling_tree();
    start_moving(10);
    double start = kinetic(), worst = 0;
    for (int i = 0; i < 20; i++) {
        run(500);
        worst = fmax(worst, fabs(kinetic() / start - 1));
    }
    CHECK_NEAR(worst, 0, 3e-3);
}

/* ---- gyroscopic modes ---- */

/* A disc that spins in two gimbals without mass: transverse velocities turn by w = 1.5 spin. */
static void gimbals(double spin_turn, double sway) {
    double dt = 0x1p-10;
    begin(dt);
    add_body(-1, MDYN_REVOLUTE, 0)->axis = wide3(1, 0, 0);
    add_body(0, MDYN_REVOLUTE, 0)->axis = wide3(0, 1, 0);
    mdyn_body *b = add_body(1, MDYN_REVOLUTE, 1);
    b->axis = wide3(0, 0, 1);
    b->inertia.xx = b->inertia.yy = wide(0.01);
    b->inertia.zz = wide(0.015);
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    sim.v[0] = real(sway);
    sim.v[2] = real(spin_turn / dt);
}

static double sway(void) { return hypot(of_real(sim.v[0]), of_real(sim.v[1])); }

/* x = w dt = 0.1: grows by x^6/12 a step, 0.8 % in all; by the weights of Adams and Bashforth it
   would grow twelvefold. From 0.2 rad a step on the bias force is corrected, and the mode falls. */
static void test_gyroscopic_mode(void) {
    gimbals(0.1 / 1.5, 0.05);
    run(20); /* the first step extrapolates nothing */
    double start = sway();
    run(100000);
    CHECK_NEAR(sway() / start, 1 + 1e5 * 1e-6 / 12, BY_SCALAR(1e-3, 2e-3, 1e-3));
    if (check.measure) {
        printf("gyroscopic mode: %.6f\n", sway() / start);
    }
    gimbals(0.1 / 1.5, 0.05); /* with the second solve in each step it falls by x^4/6 */
    mech.model.solver.corrections = 1;
    CHECK_EQUAL(mdyn_set_solver(&sim, &mech.model.solver), MDYN_OK);
    run(20);
    start = sway();
    run(10000);
    CHECK_NEAR(sway() / start, exp(-1e4 * 1e-4 / 6), 1e-3);
    for (double turn = 0.22; turn < 0.6; turn *= 1.4) {
        gimbals(turn, 0.5);
        run(2000);
        CHECK(sway() < 0.5);
    }
}

/* Beyond x = 1 the second solve does not settle the bias force, and the step says so. */
static void test_long_step(void) {
    int code = MDYN_OK;
    gimbals(1.5, 20);
    for (int i = 0; i < 20 && code == MDYN_OK; i++) {
        code = mdyn_step(&sim);
    }
    CHECK_EQUAL(code, MDYN_WARN_LONG_STEP);
    CHECK_EQUAL(sim.culprit.index, 2);
    CHECK(sway() < 60);
}

/* ---- stops ---- */

/* Chains that hit their stops: no energy comes from it, and stops are passed by rounding only. */
static void test_stops(void) {
    double most = 0, passed = 0;
    for (int n = 0; n < 40; n++) {
        random_seed(900 + (uint64_t)n);
        begin(0x1p-10);
        for (int i = 0; i < 4; i++) {
            mdyn_body *b = add_rod(i - 1, random_in(0.2, 0.6), random_in(-1, 1), random_in(-1, 1),
                                   random_in(-1, 1));
            b->lower = wide(-1);
            b->upper = wide(1);
        }
        mech.model.solver.method = MDYN_DANTZIG;
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        for (int i = 0; i < 4; i++) {
            sim.v[i] = real(10 * random_in(-1, 1));
        }
        double start = kinetic();
        for (int s = 0; s < 500; s++) {
            run(1);
            if (s % 10 == 0) {
                most = fmax(most, kinetic() / start);
            }
            for (int i = 0; i < 4; i++) {
                passed = fmax(passed, fabs(of_real(sim.q[i])) - 1);
            }
        }
    }
    CHECK(most <= 1.06);
    CHECK_NEAR(fmax(passed, 0), 0, BY_SCALAR(1e-12, 2e-5, 1e-6));
    if (check.measure) {
        printf("stops: energy %.4f, passed %.2e\n", most, passed);
    }
}

/* A slider that meets its stop stays there. */
static void test_one_stop(void) {
    for (int method = MDYN_PGS; method <= MDYN_DANTZIG; method++) {
        for (int limits = MDYN_SPECULATIVE; limits <= MDYN_ENGAGED; limits++) {
            begin(0x1p-10);
            mdyn_body *b = add_body(-1, MDYN_PRISMATIC, 1);
            b->lower = wide(-1);
            b->upper = wide(1);
            mech.model.solver.method = (mdyn_method)method;
            mech.model.solver.limits = (mdyn_limits)limits;
            CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
            sim.v[0] = real(1.0003);
            run(2000);
            CHECK_NEAR(of_real(sim.q[0]), 1, limits ? 1e-3 : BY_SCALAR(1e-14, 1e-6, 1e-8));
            CHECK_NEAR(of_real(sim.v[0]), 0, BY_SCALAR(1e-14, 1e-6, 1e-8));
        }
    }
}

/* ---- jumps of v ---- */

/* Two links in a plane, without forces: whatever takes energy in a jump, what is left stays. The
   largest part by which it changes in the steps after it. */
static double change_after_jump(int steps) {
    double left = kinetic(), most = 0;
    for (int i = 0; i < steps; i++) {
        run(1);
        most = fmax(most, fabs(kinetic() / left - 1));
    }
    return most;
}

static mdyn_body *two_links(void) {
    begin(0x1p-10);
    add_rod(-1, 1, 0, 0, 1);
    return add_rod(0, 1, 0, 0, 1);
}

/* A joint at its stop, from which the rotation of the first link takes it away at once. A step
   brings it half of the way, the next one stops it. */
static void test_jump_at_stop(void) {
    for (int method = MDYN_PGS; method <= MDYN_DANTZIG; method++) {
        mdyn_body *b = two_links();
        b->lower = wide(-3);
        b->upper = wide(1);
        mech.model.solver.method = (mdyn_method)method;
        mech.model.solver.iterations = 20;
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        sim.q[1] = real(1 - 9.9 * 0x1p-10);
        sim.v[0] = real(10);
        sim.v[1] = real(5);
        mdyn_row_report limit = { 0 };
        for (int i = 0; i < 9 && of_real(sim.v[1]) > 1e-3; i++) {
            run(1);
        }
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_LIMIT, 1, &limit), MDYN_OK);
        CHECK(of_wide(limit.impulse) < 0);
        double change = change_after_jump(4);
        CHECK_NEAR(change, 0, 4e-4);
        if (check.measure) {
            printf("jump at a stop: method %d, %.1e\n", method, change);
        }
    }
}

/* Exact rows and ties that take away a part of v: of a start that does not fit them, and engaged
   between joints of different velocities. An eliminated coupling moves its follower back, alone. */
static void test_jump_of_coupling(void) {
    for (int form = 0; form < 4; form++) {
        const int is_tie = form % 2, is_engaged = form / 2;
        two_links();
        mimic(1, 0, 1.5);
        mech.coupling[0].level = is_tie ? MDYN_POSITION : MDYN_VELOCITY;
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        CHECK_EQUAL(mdyn_independent_dofs(&sim), is_tie ? 1 : 2);
        sim.q[0] = real(0.6);
        sim.q[1] = real(0.9);
        sim.v[0] = real(10);
        if (is_engaged) {
            CHECK_EQUAL(mdyn_engage(&sim, 0, MDYN_RELEASE), MDYN_OK);
            run(3);
            CHECK_EQUAL(mdyn_engage(&sim, 0, MDYN_ENGAGE_HERE), MDYN_OK);
        }
        run(1);
        double change = change_after_jump(2);
        CHECK_NEAR(change, 0, is_tie ? 1e-3 : 2e-4);
        if (check.measure) {
            printf("jump of a coupling: form %d, %.1e\n", form, change);
        }
    }
}

/* A jump that the torque of one step makes is no trend either once steps at their start, which do
   not extrapolate, have come in between. */
static void test_jump_before_scheme(void) {
    two_links();
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    sim.q[1] = real(0.9);
    sim.v[0] = real(5);
    run(2);
    sim.tau[0] = real(-4e3);
    run(1);
    sim.tau[0] = 0;
    mech.model.solver.scheme = MDYN_EXPLICIT;
    CHECK_EQUAL(mdyn_set_solver(&sim, &mech.model.solver), MDYN_OK);
    run(5);
    mech.model.solver.scheme = MDYN_MIDPOINT;
    CHECK_EQUAL(mdyn_set_solver(&sim, &mech.model.solver), MDYN_OK);
    double change = change_after_jump(3);
    CHECK_NEAR(change, 0, 2e-5);
    if (check.measure) {
        printf("jump before a change of scheme: %.1e\n", change);
    }
}

/* ---- springs ---- */

static void spring_joint(double dt, double inertia, double kp, double kd) {
    begin(dt);
    mdyn_body *b = add_body(-1, MDYN_REVOLUTE, 1);
    b->inertia.xx = b->inertia.yy = b->inertia.zz = wide(inertia);
    b->drive_kp = wide(kp);
    b->drive_kd = wide(kd);
}

/* One spring: al, be of the law. */
static void weights(double s, double *al, double *be) {
    double spread = s <= 0.5 ? 1.0 / 3 : s >= 1 ? 1 : 1.0 / 3 + 4.0 / 3 * (s - 0.5);
    *al = s > 1 ? s / (3 + s) : spread / 4;
    *be = s > 1 ? 1 / (3 + s) : spread / 4;
}

/* Undamped: K v^2/2 + k q^2/2 + k h^2 (2 al - 1/2) v^2/4 stays up to omega h = 1, falls above. */
static void test_springs(void) {
    static const double turn[] = { 0.01, 0.1, 0.3, 0.9, 1, 2, 9, 1000 };
    for (int i = 0; i < 8; i++) {
        double h = 0x1p-10, J = 0.5, k = J * pow(turn[i] / h, 2), al, be, first, last;
        weights(turn[i] * turn[i], &al, &be);
        spring_joint(h, J, k, 0);
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        sim.q[0] = real(0.25);
        first = k * 0.25 * 0.25;
        run(20000);
        double q = of_real(sim.q[0]), v = of_real(sim.v[0]);
        last = J * v * v + k * q * q + k * h * h * (al + be - 0.5) / 2 * v * v;
        if (turn[i] < 1.5) {
            CHECK_NEAR(last / first, 1, turn[i] > 0.95 ? 2e-2 : BY_SCALAR(1e-9, 2e-2, 2e-4));
        } else {
            CHECK(last < first);
        }
    }
}

/* The frequency of a weak one is right to fourth order: 1 s of 100 rad/s. */
static void test_frequency(void) {
    spring_joint(0x1p-10, 1, 10000, 0);
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    sim.q[0] = real(1);
    run(1024);
    CHECK_NEAR(of_real(sim.q[0]), cos(100), 2e-4);
}

/* Where a spring rests under a load, however stiff it is. */
static void test_statics(void) {
    for (double turn = 1e-2; turn < 9e2; turn *= 5) {
        double h = 0x1p-10, J = 1, k = pow(turn / h, 2), load = k * 0.125;
        if (load > 8e6) {
            load = 8e6;
        }
        spring_joint(h, J, k, 0.2 * sqrt(k));
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        sim.tau[0] = real(load);
        run(20000);
        CHECK_NEAR(of_real(sim.q[0]) / (load / k), 1,
                   load < 8e6 ? BY_SCALAR(1e-8, 1e-5, 1e-6) : BY_SCALAR(1e-8, 1e-5, 2e-2));
    }
}

/* Springs and dampers of any stiffness on the same joints never gain energy without end. */
static void test_many_springs(void) {
    for (int n = 0; n < 60; n++) {
        random_seed(3000 + (uint64_t)n);
        begin(0x1p-10);
        for (int i = 0; i < 3; i++) {
            mdyn_body *b = add_body(-1, MDYN_REVOLUTE, 1);
            b->inertia.xx = b->inertia.yy = b->inertia.zz = wide(pow(10, random_in(-4, 0)));
        }
        int springs = n ? 1 + random_int(11) : 12;
        for (int i = 0; i < springs; i++) {
            mdyn_coupling *c = &mech.coupling[mech.model.coupling_count++];
            *c = mimic_of(n ? random_int(2) : 0, 2, n ? random_in(-2, 2) : 0, 0);
            c->softness.kind = MDYN_KP_KD;
            c->softness.a = wide(n ? pow(10, random_in(0, 8)) : 0.9 * 1024 * 1024);
            c->softness.b = wide(n && random_int(2) ? pow(10, random_in(-3, 4)) : 0);
            if (!n) {
                mech.body[0].inertia.xx = mech.body[0].inertia.yy = wide(1);
                mech.body[0].inertia.zz = wide(1);
            }
        }
        if (n % 2) {
            mimic(1, 0, 3);
        }
        CHECK(mdyn_init(&sim, &mech.model) >= 0);
        sim.q[0] = real(0.5);
        sim.q[1] = real(n % 2 ? 1.5 : 0.25);
        double bound = 0;
        for (int s = 0; s < 3000; s++) {
            run(1);
            double k = kinetic();
            if (s < 1000) {
                bound = fmax(bound, k);
            } else if (!CHECK(k <= 1.5 * bound)) {
                CHECK_NOTE("set %d, step %d\n", n, s);
                break;
            }
        }
    }
}

/* The acceleration by a spring, weak or stiff, and the momentum by its impulse. */
static void test_spring_digits(void) {
    for (int bounded = 0; bounded < 2; bounded++) {
        for (double turn = 1e-8; turn < 1.1e3; turn *= 1.77827941) {
            double h = 0x1p-10, J = 0.75, k = of_wide(wide(J * pow(turn / h, 2))), al, be;
            double q = turn < 0.05 ? 100000 : 0.5, s = h * h * k / J;
            mdyn_row_report report;
            spring_joint(h, J, k, 0);
            mech.body[0].effort = wide(bounded ? 1e11 : 0);
            CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
            sim.q[0] = real(q);
            weights(s, &al, &be);
            run(1);
            double v = of_real(sim.v[0]), want = -k * q * h / J / (1 + s * al);
#if MDYN_SCALAR == MDYN_SCALAR_FIXED
            v += ldexp((double)sim.v_tail[0], -64);
#else
            v += (double)sim.v_tail[0];
#endif
            CHECK_NEAR(v / want, 1, 64 * BY_SCALAR(0x1p-52, 0x1p-24, 0x1p-30));
            CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_DRIVE, 0, &report), MDYN_OK);
            CHECK_NEAR(of_wide(report.impulse) / (J * want), 1,
                       64 * BY_SCALAR(0x1p-52, 0x1p-24, 0x1p-30));
        }
    }
}

/* Dampers: springs of rows that know C' alone, a coupling or a user row, in both directions or one;
   kp has no C to act on. v - w falls by exp(-kd t/m). Half of kd was lost. (A stiff one, of
   y = h kd/m = 977, goes over to (2 y - 6)/y^2 of the other side in its first step, where nothing
   brings it back if it acts in one direction.) */
static void test_dampers(void) {
    for (int n = 0; n < 32; n++) {
        const int one_way = n & 2, stiff = n & 4, inside = n & 16;
        const double w = 0.25, v = inside ? -1 : 1, kd = stiff ? 1e6 : 2;
        static mdyn_user_row row;
        mdyn_coupling *c = &mech.coupling[0];
        begin(0x1p-10);
        add_body(-1, MDYN_PRISMATIC, 1);
        *c = (mdyn_coupling){ .terms = { MDYN_TERM(0, 1) }, .level = MDYN_VELOCITY };
        c->softness.kind = MDYN_KP_KD;
        c->softness.a = wide(n & 8 ? 7 : 0);
        c->softness.b = wide(kd);
        c->target_velocity = wide(w);
        if (one_way) c->lower = -MDYN_UNLIMITED;
        memset(&row, 0, sizeof row);
        row.terms[0].linear.z = wide(1);
        row.level = MDYN_VELOCITY;
        row.softness = c->softness;
        row.lower = c->lower;
        row.target_velocity = c->target_velocity;
        mech.model.user_rows = &row;
        mech.model.coupling_count = !(n & 1);
        mech.model.user_row_count = n & 1;
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        sim.v[0] = real(v);
        run(512);
        CHECK_NEAR(of_real(sim.v[0]), inside && one_way ? v : w + (v - w) * exp(-kd * 0.5),
                   stiff && one_way ? 0.0021 * (1 - w) : BY_SCALAR(1e-6, 2e-6, 1e-6));
    }
}

/* ---- position errors ---- */

/* At rest outside a limit, or with a coupling that does not hold: q returns by 0.2 of the way in a
   step with every method, and nothing moves. */
static void test_errors_at_rest(void) {
    for (int way = 0; way < 4; way++) {
        begin(0x1p-10);
        mdyn_body *b = add_body(-1, MDYN_PRISMATIC, 1);
        b->lower = wide(-1);
        b->upper = wide(1);
        add_body(-1, MDYN_PRISMATIC, 1);
        add_body(-1, MDYN_PRISMATIC, 1);
        mimic(2, 1, 1);
        mech.model.solver.method = way == 0 ? MDYN_PGS : way == 1 ? MDYN_DANTZIG : MDYN_TGS;
        mech.model.solver.substeps = (uint16_t)(way < 2 ? 0 : way == 2 ? 4 : 20);
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        sim.q[0] = real(1.5);
        sim.q[1] = real(0.5);
        run(1);
        CHECK_NEAR(of_real(sim.q[0]), 1.4, BY_SCALAR(1e-14, 1e-6, 3e-8));
        CHECK_NEAR(of_real(sim.q[1]) - of_real(sim.q[2]), 0.4, BY_SCALAR(1e-14, 1e-6, 3e-8));
        run(50);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(of_real(sim.v[i]), 0, BY_SCALAR(1e-9, 1e-3, 1e-5));
        }
        CHECK_NEAR(of_real(sim.q[0]), 1, 1e-4);
    }
}

static mdyn_closure loop;

static void four_bar(double dt) {
    begin(dt);
    add_rod(-1, 0.2, 0, 0, 1);
    add_rod(0, 0.5, 0, 0, 1)->position = wide3(0.2, 0, 0);
    add_rod(-1, 0.4, 0, 0, 1)->position = wide3(0.5, 0, 0);
    memset(&loop, 0, sizeof loop);
    loop.kind = MDYN_CLOSE_POINT;
    loop.a = 1;
    loop.b = 2;
    loop.point_a = wide3(0.5, 0, 0);
    loop.point_b = wide3(0.4, 0, 0);
    mech.model.closures = &loop;
    mech.model.closure_count = 1;
    CHECK(mdyn_init(&sim, &mech.model) >= 0);
    sim.q[0] = real(1);
    sim.q[1] = real(-0.5);
    sim.q[2] = real(1.8);
}

/* A loop that is put together wrongly closes and does not move. */
static void test_open_loop(void) {
    mdyn_row_report report;
    four_bar(0x1p-10);
    run(200);
    for (int k = 0; k < 2; k++) {
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CLOSURE, k, &report), MDYN_OK);
        CHECK_NEAR(of_wide(report.error), 0, BY_SCALAR(1e-10, 1e-5, 1e-7));
    }
    CHECK(kinetic() < BY_SCALAR(1e-12, 1e-6, 1e-9));
}

/* A turning four-bar: the loop stays closed, the energy stays. */
static void test_loop(void) {
    mdyn_row_report report;
    double gap = 0, start, worst = 0;
    four_bar(0x1p-10);
    CHECK(mdyn_project(&sim, MDYN_MASS_METRIC) >= 0);
    sim.v[0] = real(10);
    CHECK(mdyn_project(&sim, MDYN_MASS_METRIC) >= 0);
    start = kinetic();
    for (int i = 0; i < 2000; i++) {
        run(1);
        for (int k = 0; k < 2; k++) {
            CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CLOSURE, k, &report), MDYN_OK);
            gap = fmax(gap, fabs(of_wide(report.error)));
        }
        worst = fmax(worst, fabs(kinetic() / start - 1));
    }
    CHECK(gap < BY_SCALAR(2e-6, 4e-6, 2e-6));
    CHECK(worst < 1e-2);
    if (check.measure) {
        printf("loop: gap %.2e, energy %.2e\n", gap, worst);
    }
}

/* ---- contacts ---- */

/* A disc that rolls keeps its speed. */
static void test_rolling(void) {
    begin(0x1p-10);
    mdyn_body *b = add_body(-1, MDYN_FREE, 1);
    b->inertia.xx = b->inertia.zz = wide(0.25);
    b->inertia.yy = wide(0.5);
    mech.model.gravity = wide3(0, 0, -9.81);
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    sim.q[2] = real(1);
    sim.v[1] = real(2);
    sim.v[3] = real(2);
    for (int i = 0; i < 3000; i++) {
        mdyn_contact c;
        memset(&c, 0, sizeof c);
        c.a = 0;
        c.b = MDYN_WORLD;
        c.point.x = sim.q[0];
        c.point.y = sim.q[1];
        c.normal.z = real(1);
        c.depth = real(1 - of_real(sim.q[2]));
        c.mu = wide(0.5);
        CHECK_EQUAL(mdyn_set_contacts(&sim, &c, 1), MDYN_OK);
        run(1);
    }
    CHECK_NEAR(of_real(sim.v[1]), 2, BY_SCALAR(1e-9, 2e-3, 1e-5));
    CHECK_NEAR(of_real(sim.q[0]), 2 * 3000 * 0x1p-10, BY_SCALAR(1e-8, 1e-2, 1e-4));
}

/* C of the user row is the coordinate of the slider at the middle of the step. */
static void read_slider(mdyn_sim *s, int index, mdyn_user_row *row, void *user) {
    mdyn_real3 at;
    (void)index;
    (void)user;
    CHECK_EQUAL(mdyn_pose(s, 0, &at, &(mdyn_real4){ 0 }), MDYN_OK);
    row->value = mdyn_wide_of(at.z);
}

/* A mass of 1 kg meets a spring and damper, at any time within a step; by a coupling, a contact or
   a user row: v = -exp(-a t) (cos w t - a/w sin w t) within the error of second order. The whole
   damper in the step of the impact, whatever its part in contact, was off by 8e-3. */
static void test_buffers(void) {
    static const mdyn_softness spring = MDYN_SPRING(1000, 50);
    const double h = 0x1p-10, a = 25, w = sqrt(1000 - a * a);
    for (int n = 0; n < 3 * 16; n++) {
        const double start = h * (4 + n / 3 / 16.0), time = 24 * h - start;
        static mdyn_user_row row;
        begin(h);
        add_body(-1, MDYN_PRISMATIC, 1);
        mech.coupling[0] = (mdyn_coupling){ .terms = { MDYN_TERM(0, 1) }, .softness = spring };
        mech.coupling[0].upper = MDYN_UNLIMITED;
        mech.model.coupling_count = n % 3 == 0;
        memset(&row, 0, sizeof row);
        row.terms[0].linear.z = wide(1);
        row.softness = spring;
        row.upper = MDYN_UNLIMITED;
        mech.model.user_rows = &row;
        mech.model.user_row_count = n % 3 == 1;
        mech.model.row_function = read_slider;
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        sim.q[0] = real(start);
        sim.v[0] = real(-1);
        for (int k = 0; k < 24; k++) {
            mdyn_contact c;
            memset(&c, 0, sizeof c);
            c.b = MDYN_WORLD;
            c.normal.z = real(1);
            c.depth = -sim.q[0];
            c.softness = spring;
            CHECK_EQUAL(mdyn_set_contacts(&sim, &c, n % 3 == 2), MDYN_OK);
            run(1);
        }
        CHECK_NEAR(of_real(sim.v[0]),
                   -exp(-a * time) * (cos(w * time) - a / w * sin(w * time)), 2e-4);
    }
}

/* ---- substeps ---- */

/* Mechanisms that coast, with nothing that asks for an impulse at first: no step is refused. */
static void test_coasting(void) {
    for (int n = 0; n < 1000; n++) {
        random_seed(5000 + (uint64_t)n);
        begin(0x1p-10);
        int count = 1 + random_int(3), explicit_step = n % 2;
        for (int i = 0; i < count; i++) {
            mdyn_body *b = add_body(-1, random_int(2) ? MDYN_PRISMATIC : MDYN_REVOLUTE, 1);
            b->inertia.xx = b->inertia.yy = b->inertia.zz = wide(pow(10, random_in(-3, 1)));
            if (random_int(2)) {
                b->lower = wide(-0.01);
                b->upper = wide(0.01);
            }
        }
        if (count > 1 && random_int(2)) {
            mimic(1, 0, random_in(-4, 4));
        }
        mech.model.solver.method = MDYN_TGS;
        mech.model.solver.substeps = (uint16_t)(1 + random_int(32));
        mech.model.solver.scheme = explicit_step ? MDYN_EXPLICIT : MDYN_MIDPOINT;
        CHECK(mdyn_init(&sim, &mech.model) >= 0);
        for (int i = 0; i < count; i++) {
            sim.v[i] = real(random_in(-3, 3));
        }
        for (int s = 0; s < 30; s++) {
            if (!CHECK_EQUAL(mdyn_step(&sim), MDYN_OK)) {
                CHECK_NOTE("mechanism %d, step %d\n", n, s);
                break;
            }
        }
    }
}

/* ---- the calls ---- */

/* A step that is refused leaves q, v and what the next step starts from. */
static void test_refused(void) {
    begin(0x1p-10);
    floating_tree();
    start_moving(3);
    run(5);
    twin = sim;
    mdyn_real kept = sim.tau[7];
    sim.tau[7] = real(8e6);
    mech.body[0].mass = mech.body[0].mass;
    sim.wrench[0].force.x = real(8e6);
    sim.v[6] = sim.v[6];
    for (int i = 0; i < 3; i++) {
        mdyn_real q = sim.q[0];
        int code = 0;
        sim.wrench[1].force.y = real(8e6);
        mech.model.dt = wide(0x1p-10);
        code = mdyn_step(&sim);
        if (code >= 0) { /* it went: again from before */
            sim = twin;
            break;
        }
        CHECK(sim.q[0] == q);
    }
    sim.tau[7] = kept;
    sim.wrench[0] = twin.wrench[0];
    sim.wrench[1] = twin.wrench[1];
    steps_agree(&sim, &twin, 10);

    /* out of range in the middle of the step, and at its end */
    begin(0x1p-10);
    add_body(-1, MDYN_PRISMATIC, 1);
    add_rod(-1, 1, 0, 1, 0);
    mech.model.gravity = wide3(0, 0, -9.81);
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    sim.v[1] = real(3);
    run(5);
    sim.q[0] = real(8388000);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    sim.v[0] = real(8e6);
    twin = sim;
    CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_OVERFLOW);
    CHECK(memcmp(sim.q, twin.q, sizeof sim.q) == 0 && memcmp(sim.v, twin.v, sizeof sim.v) == 0);
    sim.v[0] = twin.v[0] = real(-1);
    steps_agree(&sim, &twin, 10);
}

/* Axes that turn lead a velocity out of range that was inside before: such steps are refused, with
   every bit as it was. */
static void test_turned_out_of_range(void) {
    int refused = 0;
    for (int n = 0; n < 300; n++) {
        begin(0x1p-7);
        mdyn_body *b = add_body(-1, n % 2 ? MDYN_FREE : MDYN_SPHERICAL, 1);
        b->inertia.xx = wide(0.02);
        b->inertia.yy = wide(0.03);
        b->inertia.zz = wide(0.045);
        b->com = wide3(0.1, 0.2, 0);
        if (n % 3 == 0) {
            add_rod(0, 1, 0, 1, 0);
        }
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        double most = 8.3e6 * pow(10, random_in(-3, 0));
        for (int k = 0; k < mdyn_dofs(&sim); k++) {
            sim.v[k] = real(random_in(-most, most));
        }
        twin = sim;
        int code = mdyn_step(&sim);
        CHECK(code == MDYN_OK || code == MDYN_WARN_LONG_STEP || code == MDYN_ERR_OVERFLOW);
        for (int k = 0; k < mdyn_dofs(&sim); k++) {
            CHECK(fabs(of_real(sim.v[k])) < 8388608);
        }
        if (code >= 0) {
            continue;
        }
        refused++;
        CHECK(memcmp(sim.q, twin.q, sizeof sim.q) == 0 && memcmp(sim.v, twin.v, sizeof sim.v) == 0);
        for (int k = 0; k < mdyn_dofs(&sim); k++) {
            sim.v[k] = twin.v[k] = real(1);
        }
        steps_agree(&sim, &twin, 3);
    }
    CHECK(refused > 30 && refused < 300);
    CHECK_NOTE("%d of 300 refused\n", refused);
}

/* Impulses of rows whose offsets contradict each other are those that move the joints. */
static void test_contradictory_impulses(void) {
    const double dt = 0x1p-8;
    begin(dt);
    add_body(-1, MDYN_REVOLUTE, 0)->armature = wide(1);
    add_body(-1, MDYN_REVOLUTE, 0)->armature = wide(0.5);
    mimic(1, 0, 2);
    mimic(1, 0, 2);
    mech.coupling[1].offset = wide(-1);
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_WARN_CONTRADICTION);
    sim.tau[0] = real(2);
    for (int i = 0; i < 20; i++) {
        double v[2], sum = 0;
        for (int k = 0; k < 2; k++) v[k] = of_real(sim.v[k]);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(sim.report.contradictory, 1);
        for (int k = 0; k < 2; k++) {
            mdyn_row_report r;
            CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, k, &r), MDYN_OK);
            sum += of_wide(r.impulse);
        }
        /* 1 v0' = dt 2 - 2 sum, 0.5 v1' = sum, v1 = 2 v0 */
        CHECK_NEAR(of_real(sim.v[0]) - v[0], dt * 2 - 2 * sum, 1e2 * check_epsilon);
        CHECK_NEAR(0.5 * (of_real(sim.v[1]) - v[1]), sum, 1e2 * check_epsilon);
        CHECK_NEAR(sum, 0.5 * 2 * dt * 2 / 3, 1e2 * check_epsilon);
    }
}

/* A velocity written by the user, mdyn_reset: the step is that of a fresh sim. */
static void test_fresh(void) {
    for (int reset = 0; reset < 2; reset++) {
        begin(0x1p-10);
        double_pendulum();
        start_moving(5);
        run(10);
        if (reset) {
            CHECK_EQUAL(mdyn_reset(&sim), MDYN_OK);
        } else {
            sim.q[0] = real(of_real(sim.q[0]) + 0.125);
            sim.q[1] = real(of_real(sim.q[1]) + 0.125);
            sim.v[0] = real(of_real(sim.v[0]) + 0.125);
            sim.v[1] = real(of_real(sim.v[1]) + 0.125);
        }
        CHECK_EQUAL(mdyn_init(&twin, &mech.model), MDYN_OK);
        copy_inputs(&twin, &sim);
        steps_agree(&sim, &twin, 10);
    }
}

static void test_settings(void) {
    begin(0x1p-10);
    double_pendulum();
    mech.model.solver.scheme = (mdyn_scheme)2;
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_ERR_SOLVER);
    mech.model.solver.scheme = MDYN_MIDPOINT;
    mech.model.solver.corrections = 2;
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_ERR_SOLVER);
    mech.model.solver.corrections = 1;
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    mech.model.solver.scheme = MDYN_EXPLICIT;
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_ERR_SOLVER);
}

/* ---- constraints whose direction turns with a body ---- */

static void blade_row(mdyn_sim *s, int index, mdyn_user_row *row, void *user) {
    (void)s;
    (void)index;
    (void)user;
    row->level = MDYN_VELOCITY;
    row->terms[0].body = (int16_t)(mech.model.body_count - 1);
    row->terms[0].axes = MDYN_BODY_AXES;
    row->terms[0].linear.y = wide(1);
}

/* A skate that turns at w and glides at u: no velocity across its blade. It goes along a circle of
   radius u/w and keeps its speed, as the blade does no work. The blade is a coupling of velocities
   of a free body, or a user row of a free body or of two slides and a hinge. */
static void glide(int form, double dt, double *x, double *y, double *along, double *across) {
    const double u = 2, w = 8;
    const int is_free = form < 2, steps = (int)(1 / dt);
    begin(dt);
    for (int k = 0; k < (is_free ? 0 : 2); k++) {
        add_body(k - 1, MDYN_PRISMATIC, 0)->axis = wide3(k == 0, k == 1, 0);
    }
    mdyn_body *b = is_free ? add_body(-1, MDYN_FREE, 3) : add_body(1, MDYN_REVOLUTE, 3);
    b->axis = wide3(0, 0, 1);
    b->inertia.xx = wide(0.1);
    b->inertia.yy = wide(0.12);
    b->inertia.zz = wide(0.2);
    if (form == 0) {
        mech.coupling[0].level = MDYN_VELOCITY;
        mech.coupling[0].terms[0].coefficient = wide(1);
        mech.coupling[0].terms[0].axis = 4;
        mech.model.coupling_count = 1;
    } else {
        mech.model.user_row_count = 1;
        mech.model.row_function = blade_row;
    }
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    sim.v[is_free ? 3 : 0] = real(u);
    sim.v[2] = real(w);
    run(steps);

    *x = of_real(sim.q[0]) - u / w * sin(w);
    *y = of_real(sim.q[1]) - u / w * (1 - cos(w));
    const double vx = of_real(sim.v[is_free ? 3 : 0]), vy = of_real(sim.v[is_free ? 4 : 1]);
    const double angle = is_free ? 0 : of_real(sim.q[2]);
    *along = vx * cos(angle) + vy * sin(angle) - u;
    *across = vy * cos(angle) - vx * sin(angle);
    CHECK_NEAR(of_real(sim.v[2]), w, BY_SCALAR(1e-12, 1e-4, 1e-8));

    mdyn_row_report row;
    const mdyn_row_kind kind = form == 0 ? MDYN_ROW_COUPLING : MDYN_ROW_USER;
    CHECK_EQUAL(mdyn_report_row(&sim, kind, 0, &row), MDYN_OK);
    CHECK_NEAR(of_wide(row.velocity), *across, BY_SCALAR(1e-12, 1e-5, 1e-8) + (form != 0) * 1e-4);
    CHECK_NEAR(of_wide(row.residual), 0, BY_SCALAR(1e-6, 1e-5, 1e-6));
    CHECK_NEAR(of_wide(row.force), 3 * u * w, 5e-4 * 3 * u * w);
}

/* Where each step took away what the turn of the blade leaves across it, a tenth of the energy was
   lost in a second, and half of that with half the step. */
static void test_skate(void) {
    for (int form = 0; form < 3; form++) {
        double e[4], half[4];
        glide(form, 0x1p-9, &e[0], &e[1], &e[2], &e[3]);
        glide(form, 0x1p-10, &half[0], &half[1], &half[2], &half[3]);
        for (int k = 0; k < 4; k++) {
            CHECK_NEAR(half[k], 0, form > 0 ? 2e-4 : k < 2 ? 4e-6 : BY_SCALAR(1e-12, 1e-6, 1e-7));
            CHECK(MDYN_SCALAR != MDYN_SCALAR_F64 || fabs(half[k]) < 0.3 * fabs(e[k]) ||
                  fabs(e[k]) < 1e-6);
        }
    }
}

/* A gear that is shifted from 2 : 1 to 3 : 1 by the callback: the impact leaves what the new ratio
   allows of the motion in the mass metric, at once, and the step after it changes nothing. */
static double ratio_of_gear;

static void gear_row(mdyn_sim *s, int index, mdyn_user_row *row, void *user) {
    (void)s;
    (void)index;
    (void)user;
    row->level = MDYN_VELOCITY;
    for (int k = 0; k < 2; k++) {
        row->terms[k].body = (int16_t)k;
        row->terms[k].axes = MDYN_JOINT_VELOCITIES;
    }
    row->terms[0].angular.x = wide(1);
    row->terms[1].angular.x = wide(-ratio_of_gear);
}

static void test_gear_shift(void) {
    const double J[2] = { 1, 2 };
    double v[2] = { 20, 10 };
    begin(0x1p-10);
    for (int k = 0; k < 2; k++) {
        mdyn_body *b = add_body(-1, MDYN_REVOLUTE, 1);
        b->inertia.xx = b->inertia.yy = b->inertia.zz = wide(J[k]);
        b->axis = wide3(0, 0, 1);
    }
    mech.model.user_row_count = 1;
    mech.model.row_function = gear_row;
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    sim.v[0] = real(v[0]);
    sim.v[1] = real(v[1]);
    for (int i = 0; i < 12; i++) {
        ratio_of_gear = i < 6 ? 2 : 3;
        run(1);
        const double N = ratio_of_gear, lambda = (N * v[1] - v[0]) / (1 / J[0] + N * N / J[1]);
        v[0] += lambda / J[0];
        v[1] -= N * lambda / J[1];
        CHECK_NEAR(of_real(sim.v[0]), v[0], BY_SCALAR(1e-12, 1e-5, 1e-7));
        CHECK_NEAR(of_real(sim.v[1]), v[1], BY_SCALAR(1e-12, 1e-5, 1e-7));
    }
}

/* A body that a closure holds at its origin, away from its mass center, and turns as it likes: the
   same as one on a spherical joint. Force-free its energy stays. Where J' v lacked what the free
   motion of the body does to its mass center, 6 % of the energy were lost in a second. */
static void test_pinned(void) {
    for (int weld = 0; weld < 2; weld++) {
        for (int pinned = 0; pinned < 2; pinned++) {
            static mdyn_closure pin;
            memset(&pin, 0, sizeof pin);
            pin.kind = MDYN_CLOSE_POINT;
            pin.a = weld ? 1 : 0;
            pin.b = MDYN_WORLD;
            begin(0x1p-10);
            mdyn_body *b = add_body(-1, pinned ? MDYN_FREE : MDYN_SPHERICAL, 1);
            b->com = wide3(0.25, -0.25, 0.25);
            b->inertia.xx = wide(0.1);
            b->inertia.yy = wide(0.13);
            b->inertia.zz = wide(0.15);
            if (weld) { /* the pin is at the origin of the second one */
                b = add_body(0, MDYN_FIXED, 1);
                b->com = wide3(0, 0.5, 0);
                b->inertia.xx = b->inertia.yy = b->inertia.zz = wide(0.01);
            }
            mech.model.closures = &pin;
            mech.model.closure_count = pinned;
            mdyn_sim *s = pinned ? &sim : &twin;
            CHECK_EQUAL(mdyn_init(s, &mech.model), MDYN_OK);
            s->v[0] = real(3);
            s->v[1] = real(1);
            s->v[2] = real(6);
        }
        mdyn_wide before, after, potential;
        CHECK_EQUAL(mdyn_energy(&sim, &before, &potential), MDYN_OK);
        for (int i = 0; i < 1024; i++) {
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            CHECK_EQUAL(mdyn_step(&twin), MDYN_OK);
        }
        CHECK_EQUAL(mdyn_energy(&sim, &after, &potential), MDYN_OK);
        CHECK_NEAR(of_wide(after), of_wide(before), BY_SCALAR(1e-7, 2e-6, 1e-7) * of_wide(before));
        for (int k = 0; k < 4; k++) {
            CHECK_NEAR(of_real(sim.q[3 + k]), of_real(twin.q[k]), 2e-5);
        }
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(of_real(sim.q[k]), 0, 1e-7);
            CHECK_NEAR(of_real(sim.v[k]), of_real(twin.v[k]), 2e-4);
            CHECK_NEAR(of_real(sim.v[3 + k]), 0, 2e-5);
        }
    }
}

/* Half the step, a quarter of the error, for a spring and damper between two points of a floating
   tree that are apart: the damping force across the gap is a couple, which the momentum of the tree
   has to take. The same tree on a hinge is the truth of a plane motion. */
static double pull_together(mdyn_joint root, double dt) {
    static mdyn_closure spring;
    memset(&spring, 0, sizeof spring);
    spring.kind = MDYN_CLOSE_POINT;
    spring.a = 1;
    spring.point_a = wide3(0.5, 0, 0);
    spring.point_b = wide3(0.25, 0.25, 0);
    spring.softness = (mdyn_softness)MDYN_SPRING(1000, 30);
    begin(dt);
    for (int i = 0; i < 2; i++) {
        mdyn_body *b = add_body(i - 1, i ? MDYN_REVOLUTE : root, 1);
        b->axis = wide3(0, 0, 1);
        b->inertia.xx = b->inertia.yy = b->inertia.zz = wide(0.125);
    }
    mech.model.closures = &spring;
    mech.model.closure_count = 1;
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    run((int)(0x1p-4 / dt));
    return of_real(sim.q[sim.coordinates - 1]);
}

static void test_soft_loop_of_floating_tree(void) {
    const double on_hinge = pull_together(MDYN_REVOLUTE, 0x1p-11);
    CHECK_NEAR(pull_together(MDYN_FREE, 0x1p-11), on_hinge, BY_SCALAR(1e-12, 1e-6, 5e-9));
    const double e = pull_together(MDYN_FREE, 0x1p-9) - on_hinge;
    CHECK(fabs(e) > 1e-5);
    CHECK_NEAR(pull_together(MDYN_FREE, 0x1p-10) - on_hinge, e / 5, 0.1 * fabs(e));
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "long") == 0) {
        body_steps = 1000000;
        argv++;
        argc--;
    }
    static void (*const tests[])(void) = {
        test_order,      test_damping,     test_free_body,     test_stone,
        test_floating_tree, test_falling_tree, test_tree_beside_slider,
        test_pushed_tree, test_top,        test_whirl,         test_gyroscopic_mode,
        test_long_step,  test_stops,
        test_one_stop,   test_jump_at_stop, test_jump_of_coupling, test_jump_before_scheme,
        test_springs,    test_frequency,   test_statics,       test_many_springs,
        test_dampers,    test_spring_digits, test_errors_at_rest, test_open_loop,
        test_skate,      test_gear_shift,  test_pinned,
        test_soft_loop_of_floating_tree,
        test_loop,       test_rolling,     test_buffers,       test_coasting,      test_refused,
        test_turned_out_of_range, test_contradictory_impulses, test_fresh, test_settings
    };
    check_begin(argc, argv);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        tests[i]();
    }
    return check_end();
}
