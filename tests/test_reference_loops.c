/* Mechanisms whose motion others have published: Andrews' squeezer of the IVP test set, Bricard's
   mechanism and the four-bar with change points of the IFToMM benchmark; and a box held by two jaws
   of one drive, whose friction is known in closed form. */
#include "knobs.h"
#include "check.h"

/* Some three to ten times the worst. That of the motions is of second order in dt. */
/*                            F64     F32  FIXED */
TOLERANCE(ACCELERATION,     1e-13,   1e-6,  4e-8); /* as a part of it */
TOLERANCE(SQUEEZED_ANGLE,    2e-4,   4e-4,  2e-4); /* [rad] of 15.8 */
TOLERANCE(BRICARD_ENERGY,    5e-5,   3e-4,  5e-5); /* [J] of 20 */
TOLERANCE(BRICARD_GAP,       1e-8,   3e-6,  2e-7); /* [m or rad] */
TOLERANCE(FOURBAR_ENERGY,    5e-4,   5e-4,  5e-4); /* [J] of 40 */
TOLERANCE(FOURBAR_GAIN,      5e-6,   5e-2,  1e-4); /* [J] of 40 */
TOLERANCE(GRIP,              2e-5,   2e-5,  2e-5); /* [m/s and m] */

enum { BODIES = 8, CLOSURES = 4, COUPLINGS = 2 };

static const double PI = 3.14159265358979323846;
static mdyn_body body[BODIES];
static mdyn_closure closure[CLOSURES];
static mdyn_coupling coupling[COUPLINGS];
static mdyn_model model;
static mdyn_sim sim;

static void begin(double dt, double gravity_y) {
    memset(body, 0, sizeof body);
    memset(closure, 0, sizeof closure);
    memset(coupling, 0, sizeof coupling);
    memset(&model, 0, sizeof model);
    model.bodies = body;
    model.closures = closure;
    model.couplings = coupling;
    model.dt = wide(dt);
    model.gravity = wide3(0, gravity_y, 0);
}

/* The next body: its joint, of axis x, y or z, at x, y, z of its parent. */
static mdyn_body *add(int parent, mdyn_joint joint, int axis, double x, double y, double z) {
    mdyn_body *b = &body[model.body_count++];
    b->parent = (int16_t)parent;
    b->joint = joint;
    b->axis = wide3(axis == 0, axis == 1, axis == 2);
    b->position = wide3(x, y, z);
    b->inertia_as_given = 1;
    return b;
}

static double angle_of(int i) {
    return of_real(mdyn_q(&sim, i, 0));
}

/* ---- Andrews' squeezer: IVP test set, Mazzia and Magherini, problem Andrews ----
   Seven bodies in a plane, three loops, a spring, and a constant torque of 0.033 N m. The reference
   has beta, Theta, gamma, delta, Phi, Epsilon, Omega in other order; bodies here are beta, Theta,
   gamma, delta, Phi (on delta), Epsilon, Omega (on Epsilon). */

enum { SQUEEZER = 7 };

static void planar(int parent, double x, double y, double mass, double cx, double cy,
                   double inertia) {
    mdyn_body *b = add(parent, MDYN_REVOLUTE, 2, x, y, 0);
    b->mass = wide(mass);
    b->com = wide3(cx, cy, 0);
    b->inertia.zz = wide(inertia);
}
static void pin(int a, double xa, double ya, int b, double xb, double yb) {
    mdyn_closure *c = &closure[model.closure_count++];
    c->kind = MDYN_CLOSE_POINT;
    c->a = (int16_t)a;
    c->b = (int16_t)b;
    c->point_a = wide3(xa, ya, 0);
    c->point_b = wide3(xb, yb, 0);
}
static void squeezer_model(double dt) {
    const mdyn_softness spring = MDYN_SPRING(4530.0, 0.0);
    begin(dt, 0);
    planar(MDYN_WORLD, 0, 0, 0.04325, 92e-5, 0, 2.194e-6);
    planar(0, 7e-3, 0, 0.00365, -115e-4, 0, 4.410e-7);
    planar(MDYN_WORLD, -0.03635, 0.03273, 0.02373, 1043e-5, -1874e-5, 5.255e-6);
    planar(MDYN_WORLD, -0.06934, -0.00227, 0.07050, 2308e-5, 916e-5, 1.169e-5);
    planar(3, 4e-2, 0, 0.00706, 0, -(2e-2 - 1421e-5), 5.667e-7);
    planar(MDYN_WORLD, -0.06934, -0.00227, 0.05498, -449e-5, -1228e-5, 1.912e-5);
    planar(5, 0, -4e-2, 0.00706, 2e-2 - 1421e-5, 0, 5.667e-7);
    pin(1, -28e-3, 0, 2, 0, -35e-3);
    pin(1, -28e-3, 0, 4, 0, -2e-2);
    pin(1, -28e-3, 0, 6, 2e-2, 0);
    pin(2, 2e-2, -18e-3, MDYN_WORLD, 0.014, 0.072);
    closure[3].kind = MDYN_CLOSE_DISTANCE;
    closure[3].distance = wide(0.07785);
    closure[3].softness = spring;
}
static void squeezer(void) {
    static const double start[SQUEEZER] = {
        -0.0617138900142764496, 0, 0.455279819163070380, 0.487364979543842550,
        0.222668390165885885, 1.23054744454982119, -0.222668390165885885
    };
    static const double at_30_ms[SQUEEZER] = {
        15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948,
        0.5244099658805304, 0.5347301163226948, 1.048080741042263
    };
    static const int order[SQUEEZER] = { 0, 1, 2, 4, 3, 6, 5 };
    static mdyn_wide acceleration[MIMICDYN_MAX_DOFS];
    double worst = 0;
    squeezer_model(1e-5);
    CHECK(mdyn_init(&sim, &model) >= 0);
    for (int i = 0; i < SQUEEZER; i++) {
        sim.q[i] = real(start[i]);
    }
    sim.tau[0] = real(0.033);
    CHECK_EQUAL(mdyn_constrained_dynamics(&sim, acceleration), MDYN_OK);
    CHECK_NEAR(of_wide(acceleration[0]) / 14222.4439199541, 1, ACCELERATION);
    CHECK_NEAR(of_wide(acceleration[1]) / -10666.8329399655, 1, ACCELERATION);
    for (int k = 0; k < 3000; k++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    for (int i = 0; i < SQUEEZER; i++) {
        worst = worse(worst, fabs(angle_of(i) - at_30_ms[order[i]]));
    }
    printf("Andrews' squeezer, 30 ms in steps of 10 us: within %.1e rad\n", worst);
    CHECK_NEAR(worst, 0, SQUEEZED_ANGLE);
}

/* ---- Bricard's mechanism: six rods of 1 m and 1 kg, overconstrained, falls for 10 s ---- */

static double energy(void) {
    mdyn_wide kinetic = wide(0), potential = wide(0);
    CHECK_EQUAL(mdyn_energy(&sim, &kinetic, &potential), MDYN_OK);
    return of_wide(kinetic) + of_wide(potential);
}
static void bricard_model(void) {
    static const double way[5][3] = {
        { 1, 0, 0 }, { 0, -1, 0 }, { 0, 0, 1 }, { -1, 0, 0 }, { 0, 1, 0 }
    };
    static const int axis[5] = { 1, 2, 0, 1, 2 };
    begin(1e-3, -9.81);
    for (int i = 0; i < 5; i++) {
        static const double none[3] = { 0, 0, 0 };
        const double *at = i ? way[i - 1] : none, *along = way[i];
        mdyn_body *b = add(i - 1, MDYN_REVOLUTE, axis[i], at[0], at[1], at[2]);
        b->mass = wide(1);
        b->com = wide3(along[0] / 2, along[1] / 2, along[2] / 2);
        b->inertia.xx = wide((1 - along[0] * along[0]) / 12);
        b->inertia.yy = wide((1 - along[1] * along[1]) / 12);
        b->inertia.zz = wide((1 - along[2] * along[2]) / 12);
    }
    body[0].parent = MDYN_WORLD;
    pin(4, way[4][0], way[4][1], MDYN_WORLD, 0, 0);
    closure[0].kind = MDYN_CLOSE_HINGE;
    closure[0].point_b = wide3(0, 0, 1);
    closure[0].axis_a = closure[0].axis_b = wide3(1, 0, 0);
}
static void bricard(void) {
    double begun, lost = 0, gap = 0;
    bricard_model();
    CHECK(mdyn_init(&sim, &model) >= 0);
    begun = energy();
    for (int k = 0; k < 10000; k++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        lost = worse(lost, fabs(energy() - begun));
        for (int row = 0; row < 5; row++) {
            mdyn_row_report report;
            CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_CLOSURE, row, &report), MDYN_OK);
            gap = worse(gap, fabs(of_wide(report.error)));
        }
    }
    printf("Bricard, 10 s: energy within %.1e J, loop closed within %.1e\n", lost, gap);
    CHECK_NEAR(lost, 0, BRICARD_ENERGY);
    CHECK_NEAR(gap, 0, BRICARD_GAP);
}

/* ---- a parallelogram of three rods of 1 m and 1 kg that passes its change points ----
   As couplings (coupler and second crank turn as the first does), or closed by stiff springs. */

static void rod(int parent, double x, double y, double cx, double cy) {
    mdyn_body *b = add(parent, MDYN_REVOLUTE, 2, x, y, 0);
    b->mass = wide(1);
    b->com = wide3(cx, cy, 0);
    b->inertia.zz = wide(1.0 / 12);
}
static double fourbar_energy(void) {
    const double w0 = of_real(sim.v[0]), w1 = of_real(sim.v[1]), w = w0 + of_real(sim.v[2]);
    const double q0 = angle_of(0), q1 = angle_of(1), q = q0 + angle_of(2);
    const double v2 = w0 * w0 + w * w / 4 + w0 * w * sin(q - q0); /* of the coupler's middle */
    const double height = cos(q0) / 2 + cos(q1) / 2 + cos(q0) + sin(q) / 2;
    return w0 * w0 / 6 + w1 * w1 / 6 + w * w / 24 + v2 / 2 + 9.81 * height;
}
static void fourbar_model(double dt) {
    begin(dt, -9.81);
    rod(MDYN_WORLD, 0, 0, 0, 0.5);
    rod(MDYN_WORLD, 1, 0, 0, 0.5);
    rod(0, 0, 1, 0.5, 0);
}
static void fourbar(double dt, int is_closed) {
    static const mdyn_coupling tied[COUPLINGS] = {
        MDYN_MIMIC(1, 0, 1, 0), MDYN_MIMIC(2, 0, -1, 0)
    };
    const mdyn_softness stiff = MDYN_SPRING(1e8, 1e4);
    const int steps = (int)lround(4 / dt);
    double begun, lost = 0, apart = 0;
    fourbar_model(dt);
    memcpy(coupling, tied, sizeof tied);
    if (is_closed) {
        pin(2, 1, 0, 1, 0, 1);
        closure[0].softness = stiff;
    } else {
        model.coupling_count = COUPLINGS;
    }
    CHECK(mdyn_init(&sim, &model) >= 0);
    sim.v[0] = sim.v[1] = real(-1);
    sim.v[2] = real(1);
    begun = fourbar_energy();
    for (int k = 0; k < steps; k++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        lost = worse(lost, fabs(fourbar_energy() - begun));
        apart = worse(apart, fabs(angle_of(1) - angle_of(0)));
    }
    printf("four-bar by %s, 4 s in steps of %g ms: energy within %.1e J, parallel within %.1e\n",
           is_closed ? "a stiff closure" : "couplings", 1e3 * dt, lost, apart);
    CHECK_NEAR(lost, 0, FOURBAR_ENERGY);
    CHECK_NEAR(angle_of(0), -2.025 * 2 * PI, 0.05);
}

/* A hard closure passes the change points in F64. In F32 and FIXED, at steps in which links turn
   by less than the digits of the loop tell apart, it may stop there, but adds no energy. */
static void hard_fourbar(void) {
    double gained = 0;
    for (int i = 0; i < 6; i++) {
        const double dt = i % 2 ? 1e-4 : 5e-5, speed = 0.5 + 0.26 * i;
        const int steps = (int)lround(2.5 / dt);
        double begun;
        fourbar_model(dt);
        pin(2, 1, 0, 1, 0, 1);
        CHECK(mdyn_init(&sim, &model) >= 0);
        sim.v[0] = sim.v[1] = real(-speed);
        sim.v[2] = real(speed);
        begun = fourbar_energy();
        for (int k = 0; k < steps; k++) {
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            gained = worse(gained, fourbar_energy() - begun);
        }
    }
    printf("four-bar by a hard closure, steps of 0.05 and 0.1 ms: gains %.1e J\n", gained);
    CHECK_NEAR(gained, 0, FOURBAR_GAIN);
}

/* ---- a free box of 0.5 kg between two jaws ----
   The second jaw mirrors the first, which presses with 20 N: 10 N a side, held by 2 mu 10 N. */

enum { CORNERS = 8 };

static void squeezed_model(mdyn_method method) {
    static const mdyn_coupling mirror = MDYN_MIMIC(1, 0, -1, 0);
    begin(1e-3, -10);
    for (int jaw = 0; jaw < 2; jaw++) {
        add(MDYN_WORLD, MDYN_PRISMATIC, 0, 0, 0, 0)->mass = wide(0.2);
    }
    mdyn_body *box = add(MDYN_WORLD, MDYN_FREE, 0, 0, 0, 0);
    box->mass = wide(0.5);
    box->inertia.xx = box->inertia.yy = box->inertia.zz = wide(0.5 * 0.04 / 6);
    coupling[0] = mirror;
    model.coupling_count = 1;
    model.solver.method = method;
    model.solver.iterations = 500;
}
static void touch(double mu) {
    const mdyn_softness even = MDYN_ODE(0.2, 1e-6);
    mdyn_contact contact[CORNERS];
    memset(contact, 0, sizeof contact);
    for (int i = 0; i < CORNERS; i++) {
        const int jaw = i / 4, side = jaw ? 1 : -1;
        mdyn_contact *c = &contact[i];
        mdyn_real3 corner;
        corner.x = real(0.1 * side);
        corner.y = real(i & 1 ? 0.05 : -0.05);
        corner.z = real(i & 2 ? 0.05 : -0.05);
        CHECK_EQUAL(mdyn_point(&sim, 2, &corner, &c->point), MDYN_OK);
        c->a = 2;
        c->b = (int16_t)jaw;
        c->key = (uint16_t)i;
        c->normal.x = real(-side);
        c->depth = real(side * (of_real(c->point.x) - angle_of(jaw)));
        c->mu = wide(mu);
        c->softness = even;
    }
    CHECK_EQUAL(mdyn_set_contacts(&sim, contact, CORNERS), MDYN_OK);
}
static void squeezed(mdyn_method method, double mu) {
    const double held = 2 * 10 * mu, weight = 0.5 * 10;
    const double a = held < weight ? (held - weight) / 0.5 : 0;
    double worst = 0;
    squeezed_model(method);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    mdyn_set_q(&sim, 0, 0, real(-0.1));
    mdyn_set_q(&sim, 1, 0, real(0.1));
    sim.tau[0] = real(20);
    for (int k = 1; k <= 400; k++) {
        touch(mu);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        for (int i = 0; i < 6; i++) { /* of the box: angular, then linear */
            const double want = i == 4 ? a * k * 1e-3 : 0;
            worst = worse(worst, fabs(of_real(mdyn_v(&sim, 2, i)) - want));
        }
    }
    printf("box between jaws, mu %g, %s: velocity within %.1e\n", mu,
           method == MDYN_DANTZIG ? "pivoting" : "iterated", worst);
    CHECK_NEAR(worst, 0, GRIP);
    CHECK_NEAR(of_real(mdyn_q(&sim, 2, 1)), a * 0.08, GRIP);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    squeezer();
    bricard();
    fourbar(1e-3, 0);
    fourbar(2e-4, 1);
    hard_fourbar();
    squeezed(MDYN_PGS, 0.5);
    squeezed(MDYN_DANTZIG, 0.5);
    squeezed(MDYN_PGS, 0.2);
    squeezed(MDYN_DANTZIG, 0.2);
    return check_end();
}
