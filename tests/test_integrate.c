/* Integration: one step of every joint, motions in closed form, conservation of energy and momentum
   up to the order of the step. */
#include "knobs.h"
#include "check.h"
#include "explicit.h"
#include "truth.h"
#include "random_trees.h"

/* What the checks allow, some three to ten times the worst of -s 1, 2 and 3. */
/*                                 F64     F32   FIXED */
TOLERANCE(PENDULUM,               1e-7,   1e-5,   5e-5); /* the sine of 1e-3 to 2^-30 */
TOLERANCE(PROJECTILE_PLACE,      1e-14,   1e-7,  4e-12);
TOLERANCE(PROJECTILE_SPEED,      3e-14,   1e-7,  4e-12);
TOLERANCE(PROJECTILE_SPIN,       1e-14,   1e-7,  4e-12);
TOLERANCE(PROJECTILE_TURN,       1e-15,   1e-7,  4e-12);
TOLERANCE(TOP_SPEED,              2e-5,   2e-5,   2e-5);
TOLERANCE(TOP_MOMENTUM,           4e-5,   4e-5,   4e-5);
TOLERANCE(QUATERNION_LENGTH,     2e-15,   2e-6,   2e-8);
TOLERANCE(QUATERNION_WILD,       8e-15,   4e-6,   4e-8);
TOLERANCE(SCREW_SPEED,           1e-14,   4e-5,   2e-7);
TOLERANCE(SCREW_ANGLE,           1e-14,   2e-5,  4e-12);
TOLERANCE(SCREW_PLACE,           1e-15,   1e-6,  4e-12);
TOLERANCE(ENERGY_BALANCE,         2e-5,   2e-5,   2e-5);
TOLERANCE(MOMENTUM,               2e-6,   2e-6,   2e-6);
TOLERANCE(INTEGRATION,           2e-15,   1e-6,   8e-9);

/* ---- closed forms ---- */

static mdyn_body one_body;
static mdyn_model one_model;

static void begin_one(mdyn_joint joint, double gravity_z, double dt) {
    memset(&one_body, 0, sizeof one_body);
    memset(&one_model, 0, sizeof one_model);
    one_body.parent = MDYN_WORLD;
    one_body.joint = joint;
    one_body.mass = wide(2);
    one_model.bodies = &one_body;
    one_model.body_count = 1;
    one_model.gravity.z = wide(gravity_z);
    one_model.dt = wide(dt);
}

/* A small swing under semi-implicit Euler is known in closed form too: the angle per step, theta,
   has cos(theta) = 1 - (omega dt)^2/2. The amplitude lengthens the period by 1 + A^2/16. */
static void test_pendulum(void) {
    double l = 0.5, g = 9.81, amplitude = 1e-3, dt = 0x1p-10;
    begin_one(MDYN_REVOLUTE, -g, dt);
    one_body.axis.y = wide(1);
    one_body.com.z = wide(-l);
    one_body.inertia.yy = wide(0.02);
    one_body.inertia.xx = one_body.inertia.zz = wide(0.02);
    CHECK_EQUAL(init_explicit(&sim, &one_model), MDYN_OK);
    sim.q[0] = real(amplitude);
    amplitude = of_real(sim.q[0]);
    double m = 2, omega = sqrt(m * g * l / (0.02 + m * l * l));
    omega *= 1 - amplitude * amplitude / 16;
    double theta = acos(1 - omega * omega * dt * dt / 2);
    double first = amplitude * (1 - omega * omega * dt * dt);
    double b = (first - amplitude * cos(theta)) / sin(theta);
    int steps = (int)(20 * 6.283185307 / theta); /* 20 periods */
    for (int i = 1; i <= steps; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        double want = amplitude * cos(i * theta) + b * sin(i * theta);
        if (!CHECK_NEAR(of_real(sim.q[0]), want, PENDULUM * amplitude)) {
            break;
        }
    }
}

static void test_projectile(void) {
    double dt = 0x1p-8, v[3] = { 1.5, -2, 3 }, p[3] = { 0.25, 1, -0.5 }, g = -9.8125;
    int steps = 256;
    begin_one(MDYN_FREE, g, dt);
    one_body.com.x = wide(0.125);
    one_body.inertia.xx = one_body.inertia.yy = one_body.inertia.zz = wide(0.5);
    CHECK_EQUAL(init_explicit(&sim, &one_model), MDYN_OK);
    for (int i = 0; i < 3; i++) {
        sim.q[i] = real(p[i]);
        sim.v[3 + i] = real(v[i]);
    }
    for (int i = 0; i < steps; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    for (int i = 0; i < 3; i++) {
        double fall = i == 2 ? g : 0, time = steps * dt;
        double want = p[i] + v[i] * time + fall * dt * dt * steps * (steps + 1) / 2;
        CHECK_NEAR(of_real(sim.q[i]), want, PROJECTILE_PLACE);
        CHECK_NEAR(of_real(sim.v[3 + i]), v[i] + fall * time, PROJECTILE_SPEED);
        CHECK_NEAR(of_real(sim.v[i]), 0, PROJECTILE_SPIN);
    }
    CHECK_NEAR(of_real(sim.q[3]), 1, PROJECTILE_TURN);
}

/* The state of a free symmetric top after one second: its angular velocity in body axes, and
   its angular momentum in world axes. */
static void spin_top(mdyn_joint joint, double dt, double w[3], double momentum[3]) {
    ld R[3][3], l[3];
    mdyn_real4 quaternion;
    mdyn_real3 position;
    begin_one(joint, 0, dt);
    one_body.inertia.xx = one_body.inertia.yy = wide(1);
    one_body.inertia.zz = wide(1.5);
    CHECK_EQUAL(init_explicit(&sim, &one_model), MDYN_OK);
    sim.v[0] = real(1);
    sim.v[2] = real(4);
    for (int i = 0; i < (int)(1 / dt); i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    mdyn_pose(&sim, 0, &position, &quaternion);
    rotation_of(R, &quaternion);
    for (int i = 0; i < 3; i++) {
        w[i] = of_real(sim.v[i]);
        l[i] = (ld)(w[i] * (i == 2 ? 1.5 : 1));
    }
    t_turn(l, R, l);
    for (int i = 0; i < 3; i++) {
        momentum[i] = (double)l[i];
    }
}

/* Without torque the spin stays, and the angular velocity turns about the axis of the body at
   (I3 - I1)/I1 w3. First order in dt: so dt is halved and the rest extrapolated. */
static void test_top(void) {
    static const mdyn_joint joints[2] = { MDYN_FREE, MDYN_SPHERICAL };
    for (int k = 0; k < 2; k++) {
        double a[3], b[3], la[3], lb[3], rate = 0.5 * 4, l[3] = { 1, 0, 6 };
        double want[3] = { cos(rate), sin(rate), 4 };
        spin_top(joints[k], 0x1p-9, a, la);
        spin_top(joints[k], 0x1p-10, b, lb);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(a[i], want[i], 1e-2);
            CHECK_NEAR(2 * b[i] - a[i], want[i], TOP_SPEED);
            CHECK_NEAR(la[i], l[i], 1e-2);
            CHECK_NEAR(2 * lb[i] - la[i], l[i], TOP_MOMENTUM);
        }
    }
}

/* A quaternion's length is led back to 1, and stays there however long the body tumbles. */
static void test_quaternion_length(void) {
    static const double start[] = { 1, 1.0004, 0.9996, 3, 0.01 };
    for (int k = 0; k < 5; k++) {
        begin_one(MDYN_SPHERICAL, 0, 0x1p-10);
        one_body.inertia.xx = wide(1);
        one_body.inertia.yy = wide(1.25);
        one_body.inertia.zz = wide(1.5);
        CHECK_EQUAL(init_explicit(&sim, &one_model), MDYN_OK);
        sim.q[0] = real(0.6 * start[k]);
        sim.q[2] = real(0.8 * start[k]);
        sim.v[0] = real(10);
        sim.v[1] = real(1);
        sim.v[2] = real(-20);
        for (int i = 0; i < 20000; i++) {
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            double length2 = 0;
            for (int j = 0; j < 4; j++) {
                length2 += of_real(sim.q[j]) * of_real(sim.q[j]);
            }
            if (i >= 10 && !CHECK_NEAR(length2, 1, QUATERNION_LENGTH)) {
                break;
            }
        }
    }
}

/* Nor is it lost in turns of more than half a turn a step. */
static void test_quaternion_of_wild_turns(void) {
    for (int k = 0; k < 40; k++) {
        begin_one(MDYN_SPHERICAL, 0, 0.01);
        one_body.inertia.xx = one_body.inertia.yy = one_body.inertia.zz = wide(1);
        CHECK_EQUAL(init_explicit(&sim, &one_model), MDYN_OK);
        sim.v[0] = real(50 * k);
        sim.v[1] = real(50);
        sim.v[2] = real(20);
        double worst = 0;
        for (int i = 0; i < 2000; i++) {
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            double length2 = 0;
            for (int j = 0; j < 4; j++) {
                length2 += of_real(sim.q[j]) * of_real(sim.q[j]);
            }
            worst = worse(worst, fabs(length2 - 1));
        }
        CHECK_NEAR(worst, 0, QUATERNION_WILD);
    }
}

/* A nut on a vertical screw: (I + m p^2) a = tau - m g p. */
static void test_screw(void) {
    double pitch = 0.125, inertia = 0.03125, g = 9.75, torque = 0.75;
    mdyn_wide a[1];
    mdyn_real3 position;
    mdyn_real4 quaternion;
    begin_one(MDYN_HELICAL, -g, 0x1p-10);
    one_body.pitch = wide(pitch);
    one_body.inertia.xx = one_body.inertia.yy = one_body.inertia.zz = wide(inertia);
    CHECK_EQUAL(init_explicit(&sim, &one_model), MDYN_OK);
    sim.tau[0] = real(torque);
    double want = (torque - 2 * g * pitch) / (inertia + 2 * pitch * pitch);
    mdyn_forward_dynamics(&sim, a);
    CHECK_NEAR(of_wide(a[0]), want, SCREW_SPEED);
    for (int i = 0; i < 1024; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    CHECK_NEAR(of_real(sim.v[0]), want, SCREW_SPEED);
    CHECK_NEAR(of_real(sim.q[0]), want * 1025.0 / 2048, SCREW_ANGLE);
    mdyn_pose(&sim, 0, &position, &quaternion);
    CHECK_NEAR(of_real(position.z), pitch * of_real(sim.q[0]), SCREW_PLACE);
}

/* ---- motion ---- */

static double total_energy(void) {
    mdyn_wide kinetic, potential;
    mdyn_energy(&sim, &kinetic, &potential);
    return of_wide(kinetic) + of_wide(potential);
}

/* From the state of `start`, some seconds under constant commands. Returns the work. */
static double run(const truth *start, double seconds, double dt) {
    double work = 0;
    mech.model.dt = wide(dt);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    put_state(start);
    for (int i = 0; i < start->dofs; i++) {
        sim.tau[i] = real((double)start->tau[i]);
    }
    for (int s = 0; s < (int)(seconds / dt); s++) {
        for (int i = 0; i < start->dofs; i++) {
            work += of_real(sim.tau[i]) * of_real(sim.v[i]) * dt / 2;
        }
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        for (int i = 0; i < start->dofs; i++) {
            work += of_real(sim.tau[i]) * of_real(sim.v[i]) * dt / 2;
        }
    }
    return work;
}

/* Work in is energy gained. The step is of first order: with half the step half the gap is left,
   and twice that minus the first nothing. For a short time and without massless links: what whips
   round at a hundred rad/s is beyond the first order. */
static void test_energy_balance(void) {
    for (int k = 0; k < 8; k++) {
        int bodies = 1 + random_int(5), kind = random_kind() & ~MASSLESS;
        begin_tree(bodies, 16, kind | ARMATURES);
        random_state(1, 2);
        double start = (double)(t.kinetic + t.potential), gap[2], work = 0;
        for (int fine = 0; fine < 2; fine++) {
            work = run(&t, 0x1p-4, fine ? 0x1p-12 : 0x1p-11);
            gap[fine] = total_energy() - start - work;
        }
        double size = fabs((double)t.kinetic) + fabs((double)t.potential) + fabs(work);
        CHECK_NEAR(gap[0] / size, 0, 1.5e-2);
        CHECK_NEAR((2 * gap[1] - gap[0]) / size, 0, ENERGY_BALANCE);
    }
}

/* Momentum of all bodies in world axes: linear, then angular about the world's origin. */
static void momentum_of(truth *s, ld p[6]) {
    truth_update(s, &mech.model);
    memset(p, 0, 6 * sizeof *p);
    for (int i = 0; i < s->bodies; i++) {
        const mdyn_body *b = &mech.body[i];
        ld com[3], c[3], u[3], w[3], l[3], f[3], mass = (ld)of_wide(b->mass);
        ld xy = (ld)of_wide(b->inertia.xy), xz = (ld)of_wide(b->inertia.xz);
        ld yz = (ld)of_wide(b->inertia.yz);
        ld I[3][3] = { { (ld)of_wide(b->inertia.xx), xy, xz },
                       { xy, (ld)of_wide(b->inertia.yy), yz },
                       { xz, yz, (ld)of_wide(b->inertia.zz) } };
        t_wide3(com, &b->com);
        t_turn(com, s->R[i], com);
        for (int k = 0; k < 3; k++) {
            u[k] = s->u[i][k];
            c[k] = s->o[i][k] + com[k];
            w[k] = 0;
            for (int j = 0; j < 3; j++) {
                w[k] += s->R[i][j][k] * s->w[i][j];
            }
        }
        t_cross_add(u, s->w[i], com);
        t_turn(l, I, w);
        t_turn(l, s->R[i], l);
        t_cross(f, c, u);
        for (int k = 0; k < 3; k++) {
            p[k] += mass * u[k];
            p[3 + k] += mass * f[k] + l[k];
        }
    }
}

/* Joint commands and gears act between bodies: a floating tree keeps its momentum. The speeds of
   a free joint turn with the body, so the step keeps it to first order only. */
static void test_momentum(void) {
    static truth end;
    for (int k = 0; k < 6; k++) {
        ld before[6], after[6], drift[2][6], size = 1;
        begin_tree(5, 10, ONE_SPEED | FLOATING);
        memset(&mech.model.gravity, 0, sizeof mech.model.gravity);
        mdyn_coupling gears[2] = { MDYN_MIMIC(2, 1, 1.5, 0.25), MDYN_GEAR3(1, 1, 3, 2, 4, -3, 0) };
        memcpy(mech.coupling, gears, sizeof gears);
        mech.model.coupling_count = 2;
        random_state(1, 0);
        for (int i = 6; i < t.dofs; i++) {
            t.tau[i] = (ld)random_in(-2, 2);
        }
        /* Start closed: q2 = 1.5 q1 + 0.25, q3 = (3 q4 - q1)/2. */
        t.q[8] = 1.5L * t.q[7] + 0.25L;
        t.q[9] = (3 * t.q[10] - t.q[7]) / 2;
        memset(t.moment, 0, sizeof t.moment);
        memset(t.force, 0, sizeof t.force);
        momentum_of(&t, before);
        for (int fine = 0; fine < 2; fine++) {
            run(&t, 0.25, fine ? 0x1p-12 : 0x1p-11);
            truth_init(&end, &mech.model);
            truth_copy(&end, &sim);
            momentum_of(&end, after);
            for (int i = 0; i < 6; i++) {
                drift[fine][i] = after[i] - before[i];
                size += fabsl(before[i]);
            }
        }
        for (int i = 0; i < 6; i++) {
            CHECK_NEAR((double)(drift[0][i] / size), 0, 3e-3);
            CHECK_NEAR((double)((2 * drift[1][i] - drift[0][i]) / size), 0, MOMENTUM);
        }
    }
}

/* One step of the joints: q' = q (+) dt v'. */
static void test_integration(void) {
    static truth want;
    for (int k = 0; k < 30; k++) {
        begin_tree(6, 20, random_kind());
        random_state(3, 5);
        want = t;
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        truth_copy(&t, &sim);
        truth_move(&want, &mech.model, t.v, (ld)of_wide(mech.model.dt));
        for (int i = 0; i < t.coordinates; i++) {
            CHECK_NEAR((double)t.q[i], (double)want.q[i], INTEGRATION);
        }
    }
}

int main(int argc, char **argv) {
    static const struct {
        uint64_t seed;
        void (*run)(void);
    } tests[] = {
        { 5, test_pendulum }, { 6, test_projectile }, { 7, test_top },
        { 8, test_quaternion_length }, { 9, test_quaternion_of_wild_turns }, { 10, test_screw },
        { 11, test_energy_balance }, { 12, test_momentum }, { 15, test_integration }
    };
    check_begin(argc, argv);
    for (int i = 0; i < (int)(sizeof tests / sizeof *tests); i++) {
        random_seed(tests[i].seed);
        tests[i].run();
    }
    return check_end();
}
