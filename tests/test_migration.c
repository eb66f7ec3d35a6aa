/* The conventions of other projects: each equation in the letters of its project, with its own
   numbers, against what two or three joints on the world do under the macro that stands for it.
   Ratios and offsets are odd on purpose: with 1 and 0 every sign is right. The guide for those who
   come from elsewhere, examples/guide/coming-from.md, names these functions. */
#include "knobs.h"
#include "check.h"

/* What the checks allow, some ten times the worst.
                     F64    F32  FIXED */
TOLERANCE(EQUATION, 3e-15,  1e-6, 3e-10); /* the project's equation */
TOLERANCE(MOTION,   3e-15,  1e-6,  3e-8); /* 100 steps against the closed form */
TOLERANCE(FORCE,    6e-14,  1e-4,  2e-7);
TOLERANCE(CURVE,     1e-5,  1e-5,  1e-5); /* second order in dt, 1 ms */

enum { A, B, D, JOINTS };
#define STEPS 100
static const double dt = 0.001;
static const double inertia[JOINTS] = { 0.3, 0.7, 0.5 };
static int slides[JOINTS];
static mdyn_body body[JOINTS];
static mdyn_coupling coupling;
static mdyn_model model;
static mdyn_sim sim;

static void begin(const mdyn_coupling *given) {
    memset(body, 0, sizeof body);
    memset(&model, 0, sizeof model);
    for (int i = 0; i < JOINTS; i++) {
        body[i].parent = MDYN_WORLD;
        body[i].joint = slides[i] ? MDYN_PRISMATIC : MDYN_REVOLUTE;
        body[i].armature = wide(inertia[i]);
    }
    coupling = *given;
    model.bodies = body;
    model.body_count = JOINTS;
    model.couplings = &coupling;
    model.coupling_count = 1;
    model.dt = wide(dt);
    CHECK(mdyn_init(&sim, &model) >= 0);
}

static double q(int joint) { return of_real(sim.q[joint]); }
static double v(int joint) { return of_real(sim.v[joint]); }

/* A leader at `at` and a torque of 2.5 N m on it; its follower as the project says,
   q_f = ratio q_l + offset. The motion is that of one joint of inertia I_l + ratio^2 I_f, and the
   coupling carries ratio I_f a. */
static void follows(const mdyn_coupling *given, int follower, int leader, double ratio,
                    double offset) {
    const double at = 0.37, tau = 2.5;
    const double a = tau/(inertia[leader] + ratio * ratio * inertia[follower]);
    const double t = STEPS * dt;
    mdyn_wide force = wide(0);
    begin(given);
    sim.q[leader] = real(at);
    sim.q[follower] = real(ratio * at + offset);
    sim.tau[leader] = real(tau);
    for (int k = 0; k < STEPS; k++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    CHECK_NEAR(q(follower), ratio * q(leader) + offset, EQUATION);
    CHECK_NEAR(v(follower), ratio * v(leader), EQUATION);
    CHECK_NEAR(v(leader), a * t, MOTION);
    CHECK_NEAR(q(leader), at + a * t * t/2, MOTION);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, coupling.terms[0].body == follower ? 0 : 1, &force),
                MDYN_OK);
    CHECK_NEAR(of_wide(force), ratio * inertia[follower] * a, FORCE);
}

/* URDF, Drake, Pinocchio, DART: q_f = multiplier q_l + offset. */
static void test_urdf(void) {
    const mdyn_coupling c = MDYN_MIMIC(B, A, -2.54, 0.3);
    follows(&c, B, A, -2.54, 0.3);
}

/* A mimic with softness, a bound on its force, and a name. */
static void test_mimic_with(void) {
    const mdyn_coupling c = MDYN_MIMIC_WITH(B, A, 2.54, -0.3, MDYN_HARD(0.5), 1000.0, "finger");
    const mdyn_coupling weak = MDYN_MIMIC_WITH(B, A, 2.54, -0.3, MDYN_HARD(0.5), 0.75, NULL);
    char text[120];
    follows(&c, B, A, 2.54, -0.3);
    CHECK(mdyn_explain(&sim, MDYN_ROW_COUPLING, 0, text, sizeof text) >= 0);
    CHECK(strstr(text, "erp 0.5") != NULL);

    /* a coupling of at most 0.75 N m moves the follower at 0.75/I_f */
    begin(&weak);
    sim.q[B] = real(-0.3);
    sim.tau[A] = real(100.0);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(v(B), dt * 0.75/inertia[B], MOTION);
}

/* SDF: q_f = multiplier (q_l - reference) + offset; a gearbox: theta_2 = -ratio theta_1. */
static void test_sdf(void) {
    const mdyn_coupling mimic = MDYN_SDF_MIMIC(B, A, 2.54, 0.2, 0.3);
    const mdyn_coupling gearbox = MDYN_SDF_GEARBOX(A, B, 2.54);
    follows(&mimic, B, A, 2.54, 0.3 - 2.54 * 0.2);
    CHECK_NEAR(q(B), 2.54 * (q(A) - 0.2) + 0.3, EQUATION);
    follows(&gearbox, B, A, -2.54, 0);
}

/* MuJoCo: y - y0 = a0 + a1 (x - x0), joint1 is y, joint2 is x, y0 and x0 their ref. */
static void test_mujoco(void) {
    const double y0 = 0.25, x0 = -0.4, a0 = 0.11, a1 = -2.54;
    const mdyn_coupling c = MDYN_MUJOCO_JOINT(B, A, 0.11, -2.54, 0.25, -0.4);
    follows(&c, B, A, a1, y0 + a0 - a1 * x0);
    CHECK_NEAR(q(B) - y0, a0 + a1 * (q(A) - x0), EQUATION);
}

/* PhysX: q_A + gearRatio q_B + offset = 0; in USD, angles and offset in degrees. */
static void test_physx(void) {
    const double degree = acos(-1.0)/180;
    const mdyn_coupling native = MDYN_PHYSX_MIMIC(A, B, 2.54, 0.3);
    const mdyn_coupling usd = MDYN_PHYSX_MIMIC(A, B, 2.54, MDYN_DEGREES(17.0));
    follows(&native, A, B, -2.54, -0.3);
    CHECK_NEAR(q(A) + 2.54 * q(B) + 0.3, 0, EQUATION);
    follows(&usd, A, B, -2.54, -17 * degree);
    CHECK_NEAR(q(A)/degree + 2.54 * q(B)/degree + 17, 0, 3 * EQUATION/degree);
}

/* The same in USD of a joint in degrees and one in meters. */
static void test_physx_mixed(void) {
    const double degree = acos(-1.0)/180;
    const mdyn_coupling first = MDYN_PHYSX_MIMIC(A, B, MDYN_DEGREES(254.0), MDYN_DEGREES(17.0));
    const mdyn_coupling second = MDYN_PHYSX_MIMIC(A, B, 0.0254/MDYN_DEGREES(1.0), -0.017);
    slides[B] = 1;
    follows(&first, A, B, -254 * degree, -17 * degree);
    CHECK_NEAR(q(A)/degree + 254 * q(B) + 17, 0, 3 * EQUATION/degree);
    slides[A] = 1;
    slides[B] = 0;
    follows(&second, A, B, -0.0254/degree, 0.017);
    CHECK_NEAR(q(A) + 0.0254 * q(B)/degree - 0.017, 0, EQUATION);
    slides[A] = 0;
}

/* Bullet: q_A + gearRatio q_B = relativePositionTarget. */
static void test_bullet(void) {
    const mdyn_coupling c = MDYN_BULLET_GEAR(A, B, 2.54, 0.3);
    follows(&c, A, B, -2.54, 0.3);
}

/* Two wheels of 17 and 31 teeth; ODE's transmission of radii 0.017 and 0.031 is the same. */
static void test_wheels(void) {
    const mdyn_coupling teeth = MDYN_GEAR(A, 17, B, 31, 5.0), inner = MDYN_GEAR(A, 17, B, -31, 5.0);
    const mdyn_coupling radii = MDYN_GEAR(A, 0.017, B, 0.031, 0.005);
    follows(&teeth, B, A, -17.0/31, -5.0/31);
    follows(&inner, B, A, 17.0/31, 5.0/31);
    follows(&radii, B, A, -17.0/31, -5.0/31);
}

/* Planetary gears: Willis (w_out - w_carrier)/(w_in - w_carrier) = ratio; Chrono
   r1 w1 + r2 w2 + r3 w3 = 0 with (1 - t0, t0, -1), of the angles too from the phases at
   Initialize on unless AvoidPhaseDrift(false); torques are as the coefficients. */
static void planetary(const mdyn_coupling *given, double phase) {
    const double ratio = -2.54, c[JOINTS] = { 1 - ratio, ratio, -1 }; /* carrier, in, out */
    const double start[JOINTS] = { 0.3, -0.4, 3.54 * 0.3 + 2.54 * 0.4 - phase };
    const double tau[JOINTS] = { 1.5, -0.75, 2 };
    double r = 0, drive = 0;
    begin(given);
    for (int i = 0; i < JOINTS; i++) {
        sim.q[i] = real(start[i]);
        sim.tau[i] = real(tau[i]);
        r += c[i] * c[i]/inertia[i];
        drive += c[i] * tau[i]/inertia[i];
    }
    for (int k = 0; k < STEPS; k++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    for (int i = 0; i < JOINTS; i++) {
        mdyn_wide force = wide(0);
        CHECK_NEAR(v(i), STEPS * dt * (tau[i] - c[i] * drive/r)/inertia[i], MOTION);
        CHECK_NEAR(q(i) - start[i], STEPS * dt * v(i)/2, 2 * EQUATION);
        CHECK_EQUAL(mdyn_coupling_force(&sim, 0, i, &force), MDYN_OK);
        CHECK_NEAR(of_wide(force), -c[i] * drive/r, FORCE);
    }
    CHECK_NEAR(v(D) - v(A), ratio * (v(B) - v(A)), EQUATION);
}

static void test_planetary(void) {
    const mdyn_coupling willis = MDYN_WILLIS(A, B, D, -2.54);
    const mdyn_coupling chrono = MDYN_CHRONO_PLANETARY(A, 3.54, B, -2.54, D, -1);
    const mdyn_coupling phases = MDYN_GEAR3(A, 3.54, B, -2.54, D, -1, -0.7);
    planetary(&willis, 0);
    planetary(&chrono, 0.7);
    planetary(&phases, 0.7);
}

/* ---- compliance ---- */

/* r = J M^-1 J^T of B + ratio A, or B - ratio A, of ratio 2.54. */
static double row_inverse_mass(void) { return 1/inertia[B] + 2.54 * 2.54/inertia[A]; }

/* C = q_B + ratio q_A + offset of a soft coupling, 0.2 off at rest: C and both joints after `t`,
   where C is as `expected`. */
static void decay(mdyn_coupling given, mdyn_softness softness, double ratio, double offset,
                  double t, double expected, double tolerance) {
    const double a = -0.35, b = 0.2 - ratio * a - offset;
    const double moved = (expected - 0.2)/row_inverse_mass();
    given.softness = softness;
    begin(&given);
    sim.q[A] = real(a);
    sim.q[B] = real(b);
    for (int k = 0; k * dt < t - dt/2; k++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    CHECK_NEAR(q(B) + ratio * q(A) + offset, expected, tolerance);
    CHECK_NEAR(q(B) - b, moved/inertia[B], tolerance);
    CHECK_NEAR(q(A) - a, moved * ratio/inertia[A], tolerance);
}

/* x of x'' + 2 zeta omega x' + omega^2 x = 0 from 0.2 at rest, zeta < 1. */
static double oscillation(double omega, double zeta, double t) {
    const double w = omega * sqrt(1 - zeta * zeta);
    return 0.2 * exp(-zeta * omega * t) * (cos(w * t) + zeta * omega/w * sin(w * t));
}

/* PhysX: naturalFrequency (radians per second) and dampingRatio. */
static void test_physx_compliance(void) {
    const mdyn_coupling c = MDYN_PHYSX_MIMIC(B, A, 2.54, 0.3);
    const mdyn_softness soft = MDYN_FREQUENCY(20.0, 0.3);
    decay(c, soft, 2.54, 0.3, 0.1, oscillation(20, 0.3, 0.1), CURVE);
}

/* MuJoCo: solref = (timeconst, dampratio) is a frequency of 1/(timeconst dampratio); its other
   form, (-stiffness, -damping), is taken per inertia of the row. */
static void test_mujoco_compliance(void) {
    const double y0 = 0.25, x0 = -0.4, a0 = 0.11;
    const mdyn_coupling c = MDYN_MUJOCO_JOINT(B, A, 0.11, -2.54, 0.25, -0.4);
    const mdyn_softness soft = MDYN_FREQUENCY(1/(0.05 * 0.5), 0.5);
    decay(c, soft, 2.54, -y0 - a0 - 2.54 * x0, 0.1, oscillation(1/(0.05 * 0.5), 0.5, 0.1),
          8 * CURVE);
}

/* Drake, Chrono and all who give a spring and a damper: kp, kd on the row itself. */
static void test_spring_compliance(void) {
    const mdyn_coupling c = MDYN_MIMIC(B, A, 2.54, 0.3);
    const double r = row_inverse_mass(), omega = sqrt(17.5 * r);
    const mdyn_softness soft = MDYN_SPRING(17.5, 0.525);
    decay(c, soft, -2.54, -0.3, 0.1, oscillation(omega, 0.525 * r/(2 * omega), 0.1), CURVE);
}

/* MuJoCo: a `position` actuator of kp and kv on a fixed tendon of length q_B + 2.54 q_A has the
   force kp (ctrl - length) - kv length', and moves each joint by its coefficient. */
static void test_mujoco_tendon(void) {
    const double ctrl = 0.6, r = row_inverse_mass(), omega = sqrt(17.5 * r), t = STEPS * dt;
    const double expected = ctrl + 3 * oscillation(omega, 0.525 * r/(2 * omega), t);
    const mdyn_coupling c = MDYN_TENDON_DRIVE(B, 1, A, 2.54, 17.5, 0.525, 0);
    begin(&c);
    sim.q[B] = real(1.2);
    for (int k = 0; k < STEPS; k++) {
        CHECK_EQUAL(mdyn_set_coupling_target(&sim, 0, real(ctrl), real(0)), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    CHECK_NEAR(q(B) + 2.54 * q(A), expected, CURVE);
    CHECK_NEAR(q(A), 2.54/inertia[A] * (expected - 1.2)/r, CURVE);
}

/* MuJoCo, dampratio of a position actuator: kv = 2 dampratio sqrt(kp M), M with the armature. Its
   own test: started 0.1 off, 0.99 overshoots by less than 1e-6, 1.01 not at all. */
static void test_mujoco_dampratio(void) {
    const mdyn_coupling none = { .terms = { MDYN_TERM(D, 1) } };
    const double ratio[2] = { 0.99, 1.01 };
    double most[2] = { -1, -1 };
    begin(&none);
    model.dt = wide(0.002);
    for (int i = A; i <= B; i++) {
        body[i].drive_kp = wide(10);
        body[i].drive_kd = wide(2 * ratio[i] * sqrt(10 * inertia[i]));
    }
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    sim.q[A] = sim.q[B] = real(-0.1);
    for (int k = 0; k < 5000; k++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        for (int i = A; i <= B; i++) most[i] = q(i) > most[i] ? q(i) : most[i];
    }
    CHECK(most[A] > 0 && most[A] < 1e-6);
    CHECK(most[B] < 1e-11);
}

/* MuJoCo, armature of a fixed tendon: M + armature c c^T, c the coefficients. */
static void test_mujoco_tendon_armature(void) {
    const mdyn_coupling c = MDYN_GEAR3(A, 2.0, B, -0.5, D, -1.0, 0);
    const double m[3] = { inertia[A] + 4 * inertia[D], -inertia[D],
                          inertia[B] + 0.25 * inertia[D] };
    const double det = m[0] * m[2] - m[1] * m[1], t = STEPS * dt;
    begin(&c);
    sim.tau[A] = real(2.5);
    for (int k = 0; k < STEPS; k++) CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(v(A), t * 2.5 * m[2]/det, MOTION);
    CHECK_NEAR(v(B), t * -2.5 * m[1]/det, MOTION);
}

/* PhysX, a drive without damping too stiff for dt: there at its target in a step. */
static double driven(mdyn_method method, mdyn_scheme scheme, int steps) {
    const mdyn_coupling c = MDYN_PHYSX_MIMIC(B, A, 2.54, 0);
    begin(&c);
    model.dt = wide(1.0/60);
    model.solver.method = method;
    model.solver.scheme = scheme;
    body[A].drive_kp = wide(1e10);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    sim.target[A] = real(-0.1);
    for (int k = 0; k < steps; k++) CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(q(B), -2.54 * q(A), EQUATION);
    return q(A);
}

static void test_physx_joint(void) {
    const mdyn_coupling before = MDYN_PHYSX_MIMIC(B, A, 2.54, 0);
    const mdyn_coupling after = MDYN_PHYSX_MIMIC(B, A, -0.7, 0.3);
    mdyn_coupling limit = { .terms = { MDYN_TERM(A, 1) }, .level = MDYN_VELOCITY };
    CHECK_NEAR(driven(MDYN_PGS, MDYN_MIDPOINT, 1), -0.05, 1e-5);
    CHECK_NEAR(driven(MDYN_PGS, MDYN_MIDPOINT, 2), -0.1, 1e-5);
    CHECK_NEAR(driven(MDYN_TGS, MDYN_MIDPOINT, 1), -0.1, 1e-5);
    CHECK_NEAR(driven(MDYN_PGS, MDYN_EXPLICIT, 1), -0.1, 1e-5);

    /* maximum velocity of a joint */
    limit.lower = wide(-2);
    limit.upper = wide(2);
    begin(&limit);
    sim.v[A] = real(2.5);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(v(A), 2, MOTION);

    /* a drive of type acceleration, k = 400, d = 12: the same motion whatever the inertia */
    for (int i = A; i <= B; i++) {
        mdyn_coupling drive = { .terms = { MDYN_TERM(A, 1) } };
        const mdyn_softness soft = MDYN_FREQUENCY(20.0, 0.3);
        drive.terms[0].body = (int16_t)i;
        drive.softness = soft;
        begin(&drive);
        CHECK_EQUAL(mdyn_set_coupling_target(&sim, 0, real(0.1), real(0)), MDYN_OK);
        for (int k = 0; k < STEPS; k++) CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(0.1 - q(i), oscillation(20, 0.3, STEPS * dt)/2, CURVE);
    }

    /* another ratio and offset: the follower returns by a fifth a step, or at once */
    for (int at_once = 0; at_once < 2; at_once++) {
        begin(&before);
        sim.q[A] = real(0.1);
        sim.q[B] = real(-0.254);
        CHECK_EQUAL(mdyn_set_coupling(&sim, 0, &after), MDYN_OK);
        if (at_once) CHECK_EQUAL(mdyn_settle(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(q(A), 0.1, EQUATION);
        CHECK_NEAR(q(B), at_once ? -0.23 : -0.254 + 0.2 * 0.024, EQUATION);
        CHECK_NEAR(v(B), 0, EQUATION);
    }
}

/* ODE: with the CFM that acts on the force, one step of a row takes
   (ERP C/h + C')/(r + CFM/h); ERP = h kp/(h kp + kd), CFM = 1/(h kp + kd) hold kp C at rest. */
static void test_ode_compliance(void) {
    const double kp = 280, kd = 84, tau = 5;
    const double ERP = dt * kp/(dt * kp + kd), CFM = 1/(dt * kp + kd);
    mdyn_coupling c = MDYN_MIMIC_WITH(B, A, 2.54, 0.3, MDYN_ODE(0, 0), 0, NULL);
    double impulse;
    c.softness.a = wide(ERP);
    c.softness.b = wide(CFM);
    begin(&c);
    model.solver.scheme = MDYN_EXPLICIT;
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    sim.q[B] = real(0.5);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    impulse = (ERP * 0.2/dt)/(row_inverse_mass() + CFM/dt);
    CHECK_NEAR(v(B), -impulse/inertia[B], MOTION);
    CHECK_NEAR(v(A), 2.54 * impulse/inertia[A], MOTION);

    /* torques that only the coupling balances */
    sim.tau[B] = real(tau);
    sim.tau[A] = real(-2.54 * tau);
    for (int k = 0; k < 5000; k++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    CHECK_NEAR(q(B) - 2.54 * q(A) - 0.3, tau/kp, BY_SCALAR(7e-7, 7e-7, 7e-7));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_urdf();
    test_mimic_with();
    test_sdf();
    test_mujoco();
    test_physx();
    test_physx_mixed();
    test_bullet();
    test_wheels();
    test_planetary();
    test_physx_compliance();
    test_mujoco_compliance();
    test_spring_compliance();
    test_mujoco_tendon();
    test_mujoco_dampratio();
    test_mujoco_tendon_armature();
    test_physx_joint();
    test_ode_compliance();
    return check_end();
}
