/* hand.c - two fingers of three joints each: a motor bends the knuckle, the joints after it follow
   polynomials of it, as the linkages of robot hands are given (MuJoCo's polycoef). Both fingers
   close to a posture, then hold a ball of which the fingertips feel 2 N each.
   Checked: each follower against its polynomial; the motor's torque against virtual work, by the
   slopes of the polynomials; what the bearing of each knuckle carries: the force on its fingertip.
   By hand: cc -O2 examples/hand.c -lm -o hand && ./hand */

#define MIMICDYN_MAX_BODIES 6
#define MIMICDYN_MAX_CURVES 4
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

enum { FINGERS = 2, JOINTS = 3, DRIVE_KP = 20 };
#define PRESS 2.0 /* on each fingertip [N] */
static const double lengths[JOINTS] = { 0.045, 0.030, 0.022 }; /* [m] */

/* A link along x, with what drives it: the knuckle's motor, or nothing. */
#define PHALANX(parent_, at, length, mass_, kp, kd, name_) \
    { .parent = parent_, .joint = MDYN_REVOLUTE, .axis = MDYN_V3(0, 0, 1), .position = at, \
      .mass = MDYN_C(mass_), .com = MDYN_V3((length) / 2, 0, 0), \
      .inertia = MDYN_INERTIA(1e-7, (mass_) * (length) * (length) / 12 + 1e-7, \
                              (mass_) * (length) * (length) / 12 + 1e-7, 0, 0, 0), \
      .armature = MDYN_C((kp) > 0 ? 1e-4 : 0), .drive_kp = MDYN_C(kp), .drive_kd = MDYN_C(kd), \
      .name = name_ }
#define FINGER(first, x) \
    PHALANX(MDYN_WORLD, MDYN_V3(x, 0, 0), 0.045, 0.02, DRIVE_KP, 0.5, "knuckle"), \
    PHALANX(first, MDYN_V3(0.045, 0, 0), 0.030, 0.012, 0, 0, "middle"), \
    PHALANX(first + 1, MDYN_V3(0.030, 0, 0), 0.022, 0.008, 0, 0, "tip")
static const mdyn_body bodies[] = { FINGER(0, 0), FINGER(3, 0.05) };

static const double middle[5] = { 0.02, 0.85, 0.12, -0.03, 0.008 };
static const double tip[5] = { 0, 0.40, 0.20, 0.02, -0.015 };
static const mdyn_curve curves[] = {
    MDYN_POLYNOMIAL(0, 0.02, 0.85, 0.12, -0.03, 0.008),
    MDYN_POLYNOMIAL(0, 0, 0.40, 0.20, 0.02, -0.015),
};
static const mdyn_coupling couplings[] = {
    MDYN_FOLLOWS(1, 0, 0), MDYN_FOLLOWS(2, 0, 1), MDYN_FOLLOWS(4, 3, 0), MDYN_FOLLOWS(5, 3, 1)
};
static const mdyn_model model = {
    .bodies = bodies, .body_count = FINGERS * JOINTS, .couplings = couplings, .coupling_count = 4,
    .curves = curves, .curve_count = 2, .dt = MDYN_C(0.001),
};
static mdyn_sim sim;

static double polynomial(const double *a, double q, double *slope)
{
    double f = 0;
    int k;
    *slope = 0;
    for (k = 4; k >= 0; k--) {
        *slope = f + q * *slope;
        f = a[k] + q * f;
    }
    return f;
}

/* The path of a fingertip per unit of its knuckle's angle, along y. */
static double lever(double q)
{
    double turn[JOINTS] = { 1, 0, 0 }, angle = 0, rate = 0, y = 0;
    double bend[JOINTS];
    int k;
    bend[0] = q;
    bend[1] = polynomial(middle, q, &turn[1]);
    bend[2] = polynomial(tip, q, &turn[2]);
    for (k = 0; k < JOINTS; k++) {
        angle += bend[k];
        rate += turn[k];
        y += lengths[k] * cos(angle) * rate;
    }
    return y;
}

/* A force along y at the fingertip: at the link's origin, with its moment there. */
static void press(int finger, double force)
{
    mdyn_real3 end = { MDYN_R(0), MDYN_R(0), MDYN_R(0) }, at, origin;
    const int body = finger * JOINTS + 2;
    end.x = mdyn_real_from(lengths[2]);
    must(&sim, mdyn_point(&sim, body, &end, &at));
    must(&sim, mdyn_point(&sim, body, NULL, &origin));
    sim.wrench[body].force.y = mdyn_real_from(force);
    sim.wrench[body].moment.z = mdyn_real_from((real(at.x) - real(origin.x)) * force);
}

/* Followers against the polynomials of their knuckles; returns the largest error. */
static double off_curves(void)
{
    double error = 0, slope;
    int f;
    for (f = 0; f < FINGERS; f++) {
        const mdyn_real *q = sim.q + f * JOINTS;
        error = worse(error, fabs(real(q[1]) - polynomial(middle, real(q[0]), &slope)));
        error = worse(error, fabs(real(q[2]) - polynomial(tip, real(q[0]), &slope)));
    }
    return error;
}

int main(void)
{
    static const double posture[FINGERS] = { 0.9, 0.6 };
    double error = 0;
    mdyn_row_report drive;
    mdyn_wide3 moment, force;
    int step, f;
    if (mdyn_init(&sim, &model) == MDYN_WARN_OFF_COUPLING) { /* at 0 the middle joints are not */
        must(&sim, mdyn_project(&sim, MDYN_INDEPENDENT));
    }

    printf("  t [s]  knuckles [rad]       middle joints        tips\n");
    for (step = 1; step <= 4000; step++) {
        for (f = 0; f < FINGERS; f++) {
            sim.target[f * JOINTS] = mdyn_real_from(posture[f]);
            press(f, step > 2000 ? -PRESS : 0);
        }
        must(&sim, mdyn_step(&sim));
        error = worse(error, off_curves());
        if (step % 500 == 0) {
            printf("%7.2f  %8.4f %8.4f   %8.4f %8.4f   %8.4f %8.4f\n", step * 0.001,
                   real(sim.q[0]), real(sim.q[3]), real(sim.q[1]), real(sim.q[4]),
                   real(sim.q[2]), real(sim.q[5]));
        }
    }
    CHECK("followers from their polynomials [rad]", error, 0, BY_SCALAR(1e-15, 3e-7, 1e-9));

    for (f = 0; f < FINGERS; f++) {
        const double q = real(sim.q[f * JOINTS]);
        must(&sim, mdyn_report_row(&sim, MDYN_ROW_DRIVE, f * JOINTS, &drive));
        CHECK("motor's torque, by virtual work [N m]", wide(drive.force), PRESS * lever(q),
              BY_SCALAR(1e-6, 3e-5, 1e-6));
        must(&sim, mdyn_joint_wrench(&sim, f * JOINTS, &moment, &force));
        CHECK("force through the knuckle's bearing [N]", wide(force.y), PRESS,
              BY_SCALAR(1e-6, 1e-3, 1e-6));
    }
    return check_result();
}
