/* Kinematics and dynamics: against a dense model by Kane's equations in long double (truth.h),
   finite differences, closed forms, and the identities that hold between the calls. */
#define MIMICDYN_MAX_BODIES 12
#define MIMICDYN_MAX_DOFS 32
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include "truth.h"

/* What the checks allow, some three to ten times the worst of -s 1, 2 and 3. */
/*                                 F64     F32   FIXED */
TOLERANCE(MASS_MATRIX,           5e-14,   3e-5,   9e-7);
TOLERANCE(BIAS_FORCE,            3e-14,   2e-5,   4e-7);
TOLERANCE(FORWARD,               5e-12, 2.5e-3,   6e-5);
TOLERANCE(INVERSE,               8e-14,   5e-5,   2e-6);
TOLERANCE(UNIT_ACCELERATION,     4e-15, 2.5e-6,   2e-7);
TOLERANCE(ENERGY_OF_MATRIX,      3e-14,   3e-6,   2e-7);
TOLERANCE(KINETIC,               3e-14, 1.5e-5,   2e-7);
TOLERANCE(POTENTIAL,           1.5e-14,   1e-5,   2e-7);
TOLERANCE(UNIT_QUATERNION,       5e-15,   3e-6,   7e-8);
TOLERANCE(POSITION,              4e-14,   2e-5,   4e-7);
TOLERANCE(ROTATION,              1e-14,   5e-6,   2e-7);
TOLERANCE(JACOBIAN_ANGULAR,      1e-14,   5e-6,   2e-7);
TOLERANCE(JACOBIAN_LINEAR,       1e-13,   2e-5,   4e-7);
TOLERANCE(VELOCITY_ANGULAR,      2e-14,   1e-5,   3e-7);
TOLERANCE(VELOCITY_LINEAR,       5e-14,   4e-5,   9e-7);
TOLERANCE(IMPULSE,               1e-11,   1e-2,   3e-4);
TOLERANCE(WRENCH,                5e-15,   2e-6,   2e-7);
TOLERANCE(DIFFERENCE_STEP,     0x1p-17, 0x1p-7, 0x1p-9);
TOLERANCE(JACOBIAN_DIFFERENCE,    1e-9,   5e-4,   3e-5);
TOLERANCE(ENERGY_DIFFERENCE,      3e-9,   2e-3,   9e-5);
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

static mdyn_sim sim, other;
static mechanism mech;
static truth t;
static ld L[TN][TN]; /* Cholesky factor of t.M */

/* How large a force is, weighed as norm_speed weighs the speed that it gives. */
static double norm_force(const ld *f) { /* sqrt(f' M^-1 f) */
    ld x[TN], s = 0;
    memcpy(x, f, sizeof x);
    truth_back(L, t.dofs, x);
    for (int i = 0; i < t.dofs; i++) {
        s += x[i] * f[i];
    }
    return (double)sqrtl(s);
}
static double unit_force(int i) {
    return (double)sqrtl(t.M[i][i]);
}

static void begin_tree(int bodies, int dofs, int kind) {
    mechanism_random(&mech, bodies, dofs, kind);
    int code = mdyn_init(&sim, &mech.model);
    CHECK_EQUAL(code, MDYN_OK);
    truth_init(&t, &mech.model);
    CHECK_EQUAL(mdyn_dofs(&sim), t.dofs);
    CHECK_EQUAL(mdyn_coordinates(&sim), t.coordinates);
}

static void random_state(double speed, double load) {
    sim_random(&sim, &mech.model, speed, load);
    truth_copy(&t, &sim);
    truth_update(&t, &mech.model);
    memcpy(L, t.M, sizeof L);
    CHECK(truth_cholesky(L, t.dofs));
}

static int random_kind(void) {
    return random_int(32);
}

/* ---- against the dense model ---- */

static void compare_dense(void) {
    static mdyn_wide M[TN * TN], C[TN], a[TN], tau[TN];
    static ld difference[TN], want[TN];
    int n = t.dofs;
    CHECK_EQUAL(mdyn_mass_matrix(&sim, M), MDYN_OK);
    CHECK_EQUAL(mdyn_bias_force(&sim, C), MDYN_OK);
    CHECK_EQUAL(mdyn_forward_dynamics(&sim, a), MDYN_OK);
    double size = norm_force(t.C);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double scale = unit_force(i) * unit_force(j);
            CHECK_NEAR(of_wide(M[i * n + j]), (double)t.M[i][j], MASS_MATRIX * scale);
            CHECK_NEAR(of_wide(M[i * n + j]), of_wide(M[j * n + i]), 0);
        }
        CHECK_NEAR(of_wide(C[i]), (double)t.C[i], BIAS_FORCE * size * unit_force(i));
        want[i] = t.tau[i] - t.C[i];
    }
    truth_back(L, n, want);
    for (int i = 0; i < n; i++) {
        difference[i] = (ld)of_wide(a[i]) - want[i];
    }
    CHECK_NEAR(norm_speed(&t, difference), 0, FORWARD * norm_speed(&t, want));
    CHECK_EQUAL(mdyn_inverse_dynamics(&sim, a, tau), MDYN_OK);
    for (int i = 0; i < n; i++) {
        double scale = unit_force(i) * (norm_force(t.tau) + size);
        CHECK_NEAR(of_wide(tau[i]), of_real(sim.tau[i]), INVERSE * scale);
    }
}

/* M column by column out of inverse dynamics: M e_j = tau(e_j) - tau(0); v'Mv/2 is the energy. */
static void compare_unit_accelerations(void) {
    static mdyn_wide a[TN], tau[TN], none[TN], M[TN * TN], kinetic, potential;
    int n = t.dofs;
    for (int i = 0; i < n; i++) {
        a[i] = wide(0);
    }
    mdyn_mass_matrix(&sim, M);
    CHECK_EQUAL(mdyn_inverse_dynamics(&sim, a, none), MDYN_OK);
    double size = norm_force(t.C) + 1, energy = 0;
    for (int j = 0; j < n; j++) {
        a[j] = wide(1);
        CHECK_EQUAL(mdyn_inverse_dynamics(&sim, a, tau), MDYN_OK);
        a[j] = wide(0);
        for (int i = 0; i < n; i++) {
            double scale = unit_force(i) * (size + unit_force(j));
            CHECK_NEAR(of_wide(tau[i]) - of_wide(none[i]), of_wide(M[i * n + j]),
                       UNIT_ACCELERATION * scale);
            energy += of_wide(M[i * n + j]) * of_real(sim.v[i]) * of_real(sim.v[j]) / 2;
        }
    }
    CHECK_EQUAL(mdyn_energy(&sim, &kinetic, &potential), MDYN_OK);
    double scale = fabs((double)t.kinetic) + fabs((double)t.potential);
    CHECK_NEAR(of_wide(kinetic), energy, ENERGY_OF_MATRIX * scale);
    CHECK_NEAR(of_wide(kinetic), (double)t.kinetic, KINETIC * scale);
    CHECK_NEAR(of_wide(potential), (double)t.potential, POTENTIAL * (scale + 10));
}

static void rotation_of(ld R[3][3], const mdyn_real4 *q) {
    ld x[4] = { (ld)of_real(q->w), (ld)of_real(q->x), (ld)of_real(q->y), (ld)of_real(q->z) };
    CHECK_NEAR((double)sqrtl(x[0] * x[0] + t_dot(x + 1, x + 1)), 1, UNIT_QUATERNION);
    t_quaternion(R, x);
}

static void compare_body(int body) {
    static mdyn_wide J[6 * TN];
    mdyn_real3 position, angular, linear, point = random_real3(1);
    mdyn_real4 quaternion;
    ld R[3][3], p[3], arm[3], column[3], v[2][3] = { { 0 } };
    int n = t.dofs, with_point = random_int(2);
    CHECK_EQUAL(mdyn_pose(&sim, body, &position, &quaternion), MDYN_OK);
    rotation_of(R, &quaternion);
    p[0] = (ld)of_real(position.x);
    p[1] = (ld)of_real(position.y);
    p[2] = (ld)of_real(position.z);
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR((double)p[i], (double)t.o[body][i], POSITION);
        for (int j = 0; j < 3; j++) {
            CHECK_NEAR((double)R[i][j], (double)t.R[body][i][j], ROTATION);
        }
    }
    arm[0] = (ld)of_real(point.x) * with_point;
    arm[1] = (ld)of_real(point.y) * with_point;
    arm[2] = (ld)of_real(point.z) * with_point;
    t_turn(arm, t.R[body], arm);
    const mdyn_real3 *at = with_point ? &point : NULL;
    CHECK_EQUAL(mdyn_jacobian(&sim, body, at, J), MDYN_OK);
    CHECK_EQUAL(mdyn_velocity(&sim, body, at, &angular, &linear), MDYN_OK);
    for (int j = 0; j < n; j++) {
        memcpy(column, t.Jo[body][j], sizeof column);
        t_cross_add(column, t.Jw[body][j], arm);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(of_wide(J[i * n + j]), (double)t.Jw[body][j][i], JACOBIAN_ANGULAR);
            CHECK_NEAR(of_wide(J[(3 + i) * n + j]), (double)column[i], JACOBIAN_LINEAR);
            v[0][i] += (ld)of_wide(J[i * n + j]) * t.v[j];
            v[1][i] += (ld)of_wide(J[(3 + i) * n + j]) * t.v[j];
        }
    }
    CHECK_NEAR(of_real(angular.x), (double)v[0][0], VELOCITY_ANGULAR);
    CHECK_NEAR(of_real(angular.y), (double)v[0][1], VELOCITY_ANGULAR);
    CHECK_NEAR(of_real(angular.z), (double)v[0][2], VELOCITY_ANGULAR);
    CHECK_NEAR(of_real(linear.x), (double)v[1][0], VELOCITY_LINEAR);
    CHECK_NEAR(of_real(linear.y), (double)v[1][1], VELOCITY_LINEAR);
    CHECK_NEAR(of_real(linear.z), (double)v[1][2], VELOCITY_LINEAR);
}

static int root_of(int body) {
    while (body >= 0 && mech.body[body].parent >= 0) {
        body = mech.body[body].parent;
    }
    return body;
}
static int body_of(int dof) {
    int i = 0;
    while (dof >= t.dof[i] + t.dofs_of[i]) {
        i++;
    }
    return i;
}

/* Columns of M^-1, by an own Cholesky of the dense M; trees on other roots do not feel them. */
static void compare_impulses(void) {
    static mdyn_wide column[TN];
    static ld inverse[TN][TN];
    int n = t.dofs;
    memset(inverse, 0, sizeof inverse);
    for (int i = 0; i < n; i++) {
        inverse[i][i] = 1;
        truth_back(L, n, inverse[i]);
    }
    for (int i = 0; i < n; i++) {
        CHECK_EQUAL(mdyn_impulse_column(&sim, i, column), MDYN_OK);
        for (int j = 0; j < n; j++) {
            mdyn_wide ij = wide(-1), ji = wide(1);
            double scale = (double)sqrtl(inverse[i][i] * inverse[j][j]);
            CHECK_EQUAL(mdyn_impulse_response(&sim, i, j, &ij), MDYN_OK);
            CHECK_EQUAL(mdyn_impulse_response(&sim, j, i, &ji), MDYN_OK);
            double joined = root_of(body_of(i)) == root_of(body_of(j)) ? 1 : 0;
            double allowed = IMPULSE * scale * joined;
            CHECK_NEAR(of_wide(ij), (double)inverse[i][j], allowed);
            CHECK_NEAR(of_wide(column[j]), (double)inverse[i][j], allowed);
            CHECK_NEAR(of_wide(ij), of_wide(ji), 0);
        }
    }
}

/* An external wrench enters C as -J' (moment, force). */
static void compare_wrench(void) {
    static mdyn_wide with[TN], without[TN], J[6 * TN];
    int body = random_int(t.bodies), n = t.dofs;
    mdyn_wrench none;
    memset(&none, 0, sizeof none);
    mdyn_wrench w = sim.wrench[body];
    mdyn_bias_force(&sim, with);
    sim.wrench[body] = none;
    mdyn_bias_force(&sim, without);
    sim.wrench[body] = w;
    mdyn_jacobian(&sim, body, NULL, J);
    double x[6] = { of_real(w.moment.x), of_real(w.moment.y), of_real(w.moment.z),
                    of_real(w.force.x), of_real(w.force.y), of_real(w.force.z) };
    for (int i = 0; i < n; i++) {
        double power = 0;
        for (int k = 0; k < 6; k++) {
            power += of_wide(J[k * n + i]) * x[k];
        }
        double scale = unit_force(i) * norm_force(t.C);
        CHECK_NEAR(of_wide(without[i]) - of_wide(with[i]), power, WRENCH * scale);
    }
}

static void test_trees(void) {
    for (int k = 0; k < 80; k++) {
        int bodies = 1 + random_int(12), kind = random_kind();
        begin_tree(bodies, 32, kind);
        for (int s = 0; s < 2; s++) {
            random_state(3, 10);
            compare_dense();
            compare_unit_accelerations();
            for (int b = 0; b < t.bodies; b++) {
                compare_body(b);
            }
            compare_impulses();
            compare_wrench();
        }
    }
}

/* Axes along the coordinate axes, both ways, and of any length; and none, which means z. */
static void test_axes(void) {
    static const double lengths[] = { 1, 1e-3, 1e6, 0.3 };
    for (int k = 0; k < 7 * 4 * 3; k++) {
        int way = k % 7 % 3;
        double length = lengths[k / 7 % 4] * (k % 7 < 3 ? 1 : -1);
        mdyn_joint joint = (mdyn_joint)(MDYN_REVOLUTE + k / 28);
        mechanism_random(&mech, 3, 6, ONE_SPEED);
        for (int i = 0; i < 2; i++) {
            mdyn_wide3 *axis = &mech.body[i].axis;
            mech.body[i].joint = joint;
            memset(axis, 0, sizeof *axis);
            if (k % 7 < 6) {
                mdyn_wide *x = way == 0 ? &axis->x : way == 1 ? &axis->y : &axis->z;
                *x = wide(length);
            }
        }
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        truth_init(&t, &mech.model);
        random_state(2, 5);
        compare_body(1);
        compare_body(2);
        compare_dense();
    }
}

/* ---- finite differences: their error is h^2 times a third derivative, that of rounding
   epsilon/h; DIFFERENCE_STEP is an h between them ---- */

static void put_state(const truth *from) {
    for (int i = 0; i < from->coordinates; i++) {
        sim.q[i] = real((double)from->q[i]);
    }
    for (int i = 0; i < from->dofs; i++) {
        sim.v[i] = real((double)from->v[i]);
    }
}

/* The pose of a body after the joints have moved by h along one speed. */
static void moved_pose(int body, int dof, ld h, ld R[3][3], ld p[3]) {
    static truth moved;
    ld v[TN] = { 0 };
    mdyn_real3 position;
    mdyn_real4 quaternion;
    moved = t;
    v[dof] = 1;
    truth_move(&moved, &mech.model, v, h);
    put_state(&moved);
    CHECK_EQUAL(mdyn_pose(&sim, body, &position, &quaternion), MDYN_OK);
    rotation_of(R, &quaternion);
    p[0] = (ld)of_real(position.x);
    p[1] = (ld)of_real(position.y);
    p[2] = (ld)of_real(position.z);
}

static void test_jacobian_differences(void) {
    static mdyn_wide J[6 * TN];
    ld h = (ld)DIFFERENCE_STEP, R[2][3][3], p[2][3], turn[3][3];
    for (int k = 0; k < 20; k++) {
        int bodies = 1 + random_int(8), kind = random_kind();
        begin_tree(bodies, 20, kind);
        random_state(1, 0);
        int body = t.bodies - 1, n = t.dofs;
        CHECK_EQUAL(mdyn_jacobian(&sim, body, NULL, J), MDYN_OK);
        for (int j = 0; j < n; j++) {
            moved_pose(body, j, h, R[0], p[0]);
            moved_pose(body, j, -h, R[1], p[1]);
            for (int a = 0; a < 3; a++) {
                for (int b = 0; b < 3; b++) {
                    turn[a][b] = t_dot(R[0][a], R[1][b]); /* R+ R-' */
                }
            }
            for (int i = 0; i < 3; i++) {
                int a = (i + 2) % 3, b = (i + 1) % 3;
                double w = (double)((turn[a][b] - turn[b][a]) / (4 * h));
                double v = (double)((p[0][i] - p[1][i]) / (2 * h));
                CHECK_NEAR(of_wide(J[i * n + j]), w, JACOBIAN_DIFFERENCE);
                CHECK_NEAR(of_wide(J[(3 + i) * n + j]), v, JACOBIAN_DIFFERENCE);
            }
        }
    }
}

static double energy_at(ld along, int with_kinetic) {
    static truth moved;
    mdyn_wide kinetic, potential;
    moved = t;
    truth_move(&moved, &mech.model, t.v, along);
    put_state(&moved);
    CHECK_EQUAL(mdyn_energy(&sim, &kinetic, &potential), MDYN_OK);
    return of_wide(potential) + (with_kinetic ? of_wide(kinetic) : 0);
}

/* At rest C is the gradient of the potential energy; and in motion at constant speeds the power
   v'C is the rate of all energy: that binds the velocity terms too. */
static void test_energy_differences(void) {
    static mdyn_wide C[TN];
    double h = DIFFERENCE_STEP;
    for (int k = 0; k < 40; k++) {
        int bodies = 1 + random_int(8), kind = random_kind();
        begin_tree(bodies, 20, kind);
        random_state(2, 0);
        double power = 0, size = fabs((double)t.kinetic) + fabs((double)t.potential) + 10;
        int moving = k % 2;
        for (int i = 0; i < t.dofs && !moving; i++) {
            sim.v[i] = real(0);
        }
        CHECK_EQUAL(mdyn_bias_force(&sim, C), MDYN_OK);
        for (int i = 0; i < t.dofs; i++) {
            power += of_wide(C[i]) * (double)t.v[i];
        }
        double rate = (energy_at((ld)h, moving) - energy_at(-(ld)h, moving)) / (2 * h);
        CHECK_NEAR(power, rate, ENERGY_DIFFERENCE * size);
    }
}

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
    CHECK_EQUAL(mdyn_init(&sim, &one_model), MDYN_OK);
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
    CHECK_EQUAL(mdyn_init(&sim, &one_model), MDYN_OK);
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
    CHECK_EQUAL(mdyn_init(&sim, &one_model), MDYN_OK);
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
        CHECK_EQUAL(mdyn_init(&sim, &one_model), MDYN_OK);
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
        CHECK_EQUAL(mdyn_init(&sim, &one_model), MDYN_OK);
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
    CHECK_EQUAL(mdyn_init(&sim, &one_model), MDYN_OK);
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
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
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

/* Nothing that is asked between steps changes the motion by a bit. */
static void test_queries_change_nothing(void) {
    static mdyn_wide many[6 * TN + TN * TN], one, two;
    mdyn_real3 position, linear;
    mdyn_real4 quaternion;
    for (int k = 0; k < 10; k++) {
        begin_tree(8, 24, random_kind());
        random_state(2, 5);
        CHECK_EQUAL(mdyn_init(&other, &mech.model), MDYN_OK);
        copy_inputs(&other, &sim);
        for (int s = 0; s < 20; s++) {
            int body = random_int(t.bodies), code = 0;
            code |= mdyn_pose(&sim, body, &position, &quaternion);
            code |= mdyn_velocity(&sim, body, NULL, &position, &linear);
            code |= mdyn_jacobian(&sim, body, NULL, many);
            code |= mdyn_mass_matrix(&sim, many);
            code |= mdyn_bias_force(&sim, many);
            code |= mdyn_forward_dynamics(&sim, many);
            code |= mdyn_inverse_dynamics(&sim, many, many + TN);
            code |= mdyn_coupled_dynamics(&sim, many);
            code |= mdyn_impulse_response(&sim, 0, t.dofs - 1, &one);
            code |= mdyn_impulse_column(&sim, 0, many);
            code |= mdyn_energy(&sim, &one, &two);
            CHECK_EQUAL(code, t.dofs > 0 ? MDYN_OK : MDYN_ERR_INDEX);
            steps_agree(&sim, &other, 1);
        }
    }
}

/* A written q, v, tau or wrench counts in the next call, without any update call. */
static void test_changes_are_noticed(void) {
    for (int k = 0; k < 10; k++) {
        begin_tree(6, 20, random_kind());
        for (int s = 0; s < 5; s++) {
            random_state(2, 5);
            compare_body(t.bodies - 1);
            int i = t.dofs > 0 ? random_int(t.dofs) : 0;
            sim.v[i] = real(0.5);
            truth_copy(&t, &sim);
            truth_update(&t, &mech.model);
            compare_body(t.bodies - 1);
            compare_dense();
            sim.wrench[t.bodies - 1].force.x = real(3);
            sim.tau[i] = real(-2);
            truth_copy(&t, &sim);
            truth_update(&t, &mech.model);
            compare_dense();
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            truth_copy(&t, &sim);
            truth_update(&t, &mech.model);
            memcpy(L, t.M, sizeof L);
            CHECK(truth_cholesky(L, t.dofs));
            compare_body(t.bodies - 1);
            compare_dense();
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
    static void (*const tests[])(void) = {
        test_trees, test_axes, test_jacobian_differences, test_energy_differences,
        test_pendulum, test_projectile, test_top, test_quaternion_length,
        test_quaternion_of_wild_turns, test_screw,
        test_energy_balance, test_momentum, test_queries_change_nothing,
        test_changes_are_noticed, test_integration
    };
    check_begin(argc, argv);
    for (int i = 0; i < (int)(sizeof tests / sizeof *tests); i++) {
        random_seed((uint64_t)i + 1);
        tests[i]();
    }
    return check_end();
}
