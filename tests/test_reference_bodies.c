/* Bodies in space at 1 ms: MultiBody examples of the Modelica Standard Library 4.0 (see scene.h),
   and DART's free bodies. */
#include "knobs.h"
#include "check.h"
#include "hybrid.h"
#include "scene.h"

/* Ten times the worst of -s 1, 2 and 3. */
/*                            F64     F32  FIXED */
TOLERANCE(MOMENTUM,         1e-14,   1e-5,  2e-7);

static mdyn_closure closure;

/* ---- MultiBody.Examples.Rotational3DEffects.GearConstraint: two cylinders along x, 10:1 ---- */

static double cylinder_mass(double diameter) { return 7700 * PI * 0.4 * diameter * diameter / 4; }
static double cylinder_inertia(double diameter) {
    return cylinder_mass(diameter) * diameter * diameter / 8;
}
static double gear_torque(double t) { return 2 * sin(2 * PI * t); }
static void gear_force(const moment *x, const int *mode, double *f) {
    (void)mode;
    f[0] = gear_torque(x->t);
}
static void gear_command(double middle) {
    sim.tau[0] = real(gear_torque(middle));
}
static void cylinder(double diameter, double along) {
    double mass = cylinder_mass(diameter);
    mdyn_body *b = &body[model.body_count++];
    b->parent = MDYN_WORLD;
    b->joint = MDYN_REVOLUTE;
    b->axis = wide3(1, 0, 0);
    b->mass = wide(mass);
    b->com = wide3(along, 0, 0);
    b->inertia.xx = wide(cylinder_inertia(diameter));
    b->inertia.yy = b->inertia.zz = wide(mass * (0.16 / 12 + diameter * diameter / 16));
}
static double gear_inertia(void) { return cylinder_inertia(0.1) + cylinder_inertia(0.2) / 100; }
static void gear_closed(moment *x) {
    double w = 2 * PI, a = 2 / gear_inertia();
    x->q[0] = a / (w * w) * (w * x->t - sin(w * x->t));
    x->v[0] = a / w * (1 - cos(w * x->t));
}
static void gear_constraint(void) {
    scene s = begin(1, 5);
    s.closed = gear_closed;
    s.m.mass[0][0] = gear_inertia();
    s.m.force = gear_force;
    s.map[1][0] = 0.1;
    s.command = gear_command;
    cylinder(0.1, -0.2);
    cylinder(0.2, 0.2);
    tie(0, 1, 1, -10);
    run("GearConstraint", &s);
}

/* ---- MultiBody.Examples.Loops.PlanarFourbar ---- */

typedef struct plane { double x, y; } plane;
static const plane CRANK = { 0.4, 0 }, COUPLER = { 0.1, 1.1 }, ROCKER = { 0.65, 0.1 },
                   PIVOT = { -0.15, 1 };

static plane turned(plane r, double angle) {
    plane t = { r.x * cos(angle) - r.y * sin(angle), r.x * sin(angle) + r.y * cos(angle) };
    return t;
}
static double box_mass(plane r) { return 7700 * hypot(r.x, r.y) * 0.05 * 0.05; }
static double box_inertia(plane r) {
    return box_mass(r) * (r.x * r.x + r.y * r.y + 0.05 * 0.05) / 12;
}

/* Angles of coupler and rocker, their first and second derivatives by that of the crank. */
static void fourbar_angles(double crank, double *angle, double *first, double *second) {
    plane p = turned(CRANK, crank);
    double l2 = hypot(COUPLER.x, COUPLER.y), l4 = hypot(ROCKER.x, ROCKER.y);
    double dx = PIVOT.x - p.x, dy = PIVOT.y - p.y, d = hypot(dx, dy);
    double along = (d * d + l2 * l2 - l4 * l4) / (2 * d), across = sqrt(l2 * l2 - along * along);
    plane top = { (along * dx + across * dy) / d, (along * dy - across * dx) / d };
    angle[0] = atan2(top.y, top.x) - atan2(COUPLER.y, COUPLER.x);
    angle[1] = atan2(top.y - dy, top.x - dx) - atan2(ROCKER.y, ROCKER.x);
    plane c = turned(COUPLER, angle[0]), r = turned(ROCKER, angle[1]);
    double det = c.y * r.x - r.y * c.x; /* of [-c.y r.y; c.x -r.x] */
    first[0] = (p.y * -r.x - r.y * -p.x) / det;
    first[1] = (-c.y * -p.x - c.x * p.y) / det;
    double bx = p.x + c.x * first[0] * first[0] - r.x * first[1] * first[1];
    double by = p.y + c.y * first[0] * first[0] - r.y * first[1] * first[1];
    second[0] = (bx * -r.x - r.y * by) / det;
    second[1] = (-c.y * by - c.x * bx) / det;
}

/* Adds what a body of length r contributes that starts at a point with the derivatives p1, p2 by
   the crank's angle: inertia, its change, and the work of gravity. */
static void fourbar_body(plane length, double angle, double w, double a, plane p1, plane p2,
                         double *sum) {
    plane r = turned(length, angle);
    plane v = { p1.x - w * r.y / 2, p1.y + w * r.x / 2 };
    plane acc = { p2.x - (a * r.y + w * w * r.x) / 2, p2.y + (a * r.x - w * w * r.y) / 2 };
    double m = box_mass(length), inertia = box_inertia(length);
    sum[0] += m * (v.x * v.x + v.y * v.y) + inertia * w * w;
    sum[1] += m * (v.x * acc.x + v.y * acc.y) + inertia * w * a;
    sum[2] -= m * 9.81 * v.y;
}
static void fourbar_accelerate(const mechanism *m, const moment *x, const int *mode, double *a,
                               double *margin) {
    double angle[2], first[2], second[2], sum[3] = { 0 };
    plane none = { 0, 0 }, p = turned(CRANK, x->q[0]), p1 = { -p.y, p.x }, p2 = { -p.x, -p.y };
    (void)m, (void)mode, (void)margin;
    fourbar_angles(x->q[0], angle, first, second);
    fourbar_body(CRANK, x->q[0], 1, 0, none, none, sum);
    fourbar_body(COUPLER, angle[0], first[0], second[0], p1, p2, sum);
    fourbar_body(ROCKER, angle[1], first[1], second[1], none, none, sum);
    a[0] = (sum[2] - 0.1 * x->v[0] - sum[1] * x->v[0] * x->v[0]) / sum[0];
    a[1] = 0.1 * x->v[0] * x->v[0];
}
/* Kinetic and potential energy. The second velocity of the reference is what the damper took. */
static double fourbar_energy(const moment *x) {
    double angle[2], first[2], second[2], sum[3] = { 0 };
    plane none = { 0, 0 }, p = turned(CRANK, x->q[0]), p1 = { -p.y, p.x };
    fourbar_angles(x->q[0], angle, first, second);
    fourbar_body(CRANK, x->q[0], 1, 0, none, none, sum);
    fourbar_body(COUPLER, angle[0], first[0], 0, p1, none, sum);
    fourbar_body(ROCKER, angle[1], first[1], 0, none, none, sum);
    double height = box_mass(CRANK) * p.y / 2 +
                    box_mass(COUPLER) * (p.y + turned(COUPLER, angle[0]).y / 2) +
                    box_mass(ROCKER) * (PIVOT.y + turned(ROCKER, angle[1]).y / 2);
    return sum[0] * x->v[0] * x->v[0] / 2 + 9.81 * height;
}
static void fourbar_closed(moment *x) {
    moment at_start;
    memset(&at_start, 0, sizeof at_start);
    double energy = fourbar_energy(&at_start);
    CHECK_NEAR((fourbar_energy(x) + x->v[1]) / energy, 1, REFERENCE);
}
static void fourbar_joints(const moment *x, double *q, double *v) {
    double angle[2], first[2], second[2];
    fourbar_angles(x->q[0], angle, first, second);
    q[0] = x->q[0];
    q[1] = angle[0] - x->q[0];
    q[2] = angle[1];
    v[0] = x->v[0];
    v[1] = (first[0] - 1) * x->v[0];
    v[2] = first[1] * x->v[0];
}
static void box(int parent, plane at, plane r) {
    double l = hypot(r.x, r.y), c = r.x / l, s = r.y / l, m = box_mass(r), across = box_inertia(r);
    double own = m * (0.05 * 0.05 * 2) / 12;
    mdyn_body *b = &body[model.body_count++];
    b->parent = (int16_t)parent;
    b->joint = MDYN_REVOLUTE;
    b->position = wide3(at.x, at.y, 0);
    b->mass = wide(m);
    b->com = wide3(r.x / 2, r.y / 2, 0);
    b->inertia.xx = wide(own * c * c + across * s * s);
    b->inertia.yy = wide(own * s * s + across * c * c);
    b->inertia.zz = wide(across);
    b->inertia.xy = wide((own - across) * s * c);
}
static void planar_fourbar(uint16_t corrections) {
    plane none = { 0, 0 };
    scene s = begin(2, 5);
    s.closed = fourbar_closed;
    s.m.accelerate = fourbar_accelerate;
    s.joints = fourbar_joints;
    box(MDYN_WORLD, none, CRANK);
    box(0, CRANK, COUPLER);
    box(MDYN_WORLD, PIVOT, ROCKER);
    body[0].damping = wide(0.1);
    memset(&closure, 0, sizeof closure);
    closure.kind = MDYN_CLOSE_POINT;
    closure.a = 1;
    closure.b = 2;
    closure.point_a = wide3(COUPLER.x, COUPLER.y, 0);
    closure.point_b = wide3(ROCKER.x, ROCKER.y, 0);
    model.closures = &closure;
    model.closure_count = 1;
    model.gravity = wide3(0, -9.81, 0);
    model.solver.corrections = corrections;
    run(corrections ? "PlanarFourbar, corrected" : "PlanarFourbar", &s);
}

/* ---- DART: free bodies at 10 to 14 rad/s, the center of mass 4 to 9 cm off the origin ---- */

static mdyn_real3 real3(double x, double y, double z) {
    mdyn_real3 v;
    v.x = real(x);
    v.y = real(y);
    v.z = real(z);
    return v;
}
static void random_direction(double length, double *v) {
    double square = 0;
    do {
        square = 0;
        for (int i = 0; i < 3; i++) {
            v[i] = random_in(-1, 1);
            square += v[i] * v[i];
        }
    } while (square > 1 || square < 0.01);
    for (int i = 0; i < 3; i++) {
        v[i] *= length / sqrt(square);
    }
}
static void free_body(double *com) {
    double edge[3], mass = random_in(0.5, 5), omega[3], speed[3];
    begin(0, 1);
    mdyn_body *b = &body[model.body_count++];
    b->parent = MDYN_WORLD;
    b->joint = MDYN_FREE;
    b->mass = wide(mass);
    b->com = wide3(com[0], com[1], com[2]);
    for (int i = 0; i < 3; i++) {
        edge[i] = random_in(0.1, 0.4);
        edge[i] *= edge[i];
    }
    b->inertia.xx = wide(mass / 12 * (edge[1] + edge[2]));
    b->inertia.yy = wide(mass / 12 * (edge[0] + edge[2]));
    b->inertia.zz = wide(mass / 12 * (edge[0] + edge[1]));
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    double turning = random_in(10, 14);
    random_direction(turning, omega);
    random_direction(1, speed);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        sim.v[i] = real(omega[i]);
        sim.v[3 + i] = real(speed[i] - (omega[j] * com[k] - omega[k] * com[j]));
    }
}

/* Velocity of the center of mass, and where it is less the way that this velocity goes in t. */
static void center_of_mass(const double *com, double t, double *velocity, double *origin) {
    mdyn_real3 point = real3(com[0], com[1], com[2]), angular, linear, position;
    mdyn_real4 r;
    CHECK_EQUAL(mdyn_velocity(&sim, 0, &point, &angular, &linear), MDYN_OK);
    CHECK_EQUAL(mdyn_pose(&sim, 0, &position, &r), MDYN_OK);
    double w = of_real(r.w), u[3] = { of_real(r.x), of_real(r.y), of_real(r.z) }, s[3];
    double at[3] = { of_real(position.x), of_real(position.y), of_real(position.z) };
    double v[3] = { of_real(linear.x), of_real(linear.y), of_real(linear.z) };
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        s[i] = 2 * (u[j] * com[k] - u[k] * com[j]);
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        velocity[i] = v[i];
        origin[i] = at[i] + com[i] + w * s[i] + u[j] * s[k] - u[k] * s[j] - v[i] * t;
    }
}
static void free_bodies(void) {
    double worst[2] = { 0, 0 };
    random_seed(1);
    for (int trial = 0; trial < 20; trial++) {
        double com[3], v0[3], x0[3], v[3], x[3];
        double off = random_in(0.04, 0.09);
        random_direction(off, com);
        free_body(com);
        center_of_mass(com, 0, v0, x0);
        for (int k = 1; k <= 1000; k++) {
            if (!CHECK_EQUAL(mdyn_step(&sim), MDYN_OK)) {
                return;
            }
            center_of_mass(com, k * DT, v, x);
            for (int i = 0; i < 3; i++) {
                worst[0] = worse(fabs(v[i] - v0[i]), worst[0]);
                worst[1] = worse(fabs(x[i] - x0[i]), worst[1]);
            }
        }
    }
    printf("20 free bodies, 1 s: momentum within %.1e of its size, path of the center of mass "
           "within %.1e m\n", worst[0], worst[1]);
    CHECK_NEAR(worst[0], 0, MOMENTUM);
    CHECK_NEAR(worst[1], 0, MOMENTUM);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    heading();
    gear_constraint();
    planar_fourbar(0);
    planar_fourbar(1);
    free_bodies();
    return check_end();
}
