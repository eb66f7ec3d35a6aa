/* What must not matter: the units of mass, length and time, which way the axes of joints and the
   signs of couplings point, which of several rows of equal meaning says it, and what else is in the
   sim. The same mechanism is written in two ways, and both move the same. Factors are powers of 2,
   of mass powers of 4, so that the tables of both are exact. */
#include "knobs.h"
#include "check.h"
#include "truth.h"

/*                    F64   F32  FIXED */
TOLERANCE(SAME,     1e-12, 5e-4,  1e-4); /* parts of the largest velocity */
TOLERANCE(SAME_ROWS, 1e-9, 1e-3,  1e-4); /* the same, where rows are solved in another order */
TOLERANCE(SAME_PATH, 1e-12, 2e-6, 1e-7); /* of coordinates that rounding alone tells apart */
static const double CALM = 20; /* the largest velocity that is compared */

static mechanism mech, other;
static mdyn_sim sim, twin;
static int compared; /* steps */

typedef struct symmetry {
    double mass, length, time;          /* the units of `other`, in those of `mech` */
    int reversed[TB], flipped[TC];      /* axes of joints, signs of couplings */
} symmetry;

static mdyn_wide times(mdyn_wide x, double factor) {
    return wide(of_wide(x) * factor);
}

static mdyn_wide3 times3(mdyn_wide3 x, double factor) {
    return wide3(of_wide(x.x) * factor, of_wide(x.y) * factor, of_wide(x.z) * factor);
}

static double unit_of(const mdyn_body *b, const symmetry *s) { /* of its coordinate */
    return b->joint == MDYN_PRISMATIC ? s->length : 1;
}

/* Bounds of a number that changes its sign. */
static void set_bounds(mdyn_wide *lower, mdyn_wide *upper, double factor) {
    const mdyn_wide from[2] = { *lower, *upper };
    *lower = times(from[factor < 0], factor);
    *upper = times(from[factor > 0], factor);
}

static void transform_body(mdyn_body *b, const symmetry *s, int reversed) {
    const double I = s->mass * s->length * s->length, unit = unit_of(b, s);
    const double inertia = I / (unit * unit), rate = 1 / s->time, force = I / unit * rate * rate;
    b->axis = times3(b->axis, reversed ? -1 : 1);
    b->pitch = times(b->pitch, s->length);
    b->position = times3(b->position, s->length);
    b->mass = times(b->mass, s->mass);
    b->com = times3(b->com, s->length);
    b->inertia.xx = times(b->inertia.xx, I);
    b->inertia.yy = times(b->inertia.yy, I);
    b->inertia.zz = times(b->inertia.zz, I);
    b->inertia.xy = times(b->inertia.xy, I);
    b->inertia.xz = times(b->inertia.xz, I);
    b->inertia.yz = times(b->inertia.yz, I);
    b->armature = times(b->armature, inertia);
    b->damping = times(b->damping, inertia * rate);
    b->friction = times(b->friction, force);
    b->effort = times(b->effort, force);
    b->drive_kp = times(b->drive_kp, inertia * rate * rate);
    b->drive_kd = times(b->drive_kd, inertia * rate);
    set_bounds(&b->lower, &b->upper, reversed ? -unit : unit);
}

/* C of a coupling has no unit: its force is an energy. */
static void transform_coupling(mdyn_coupling *c, const symmetry *s, int flipped) {
    const double I = s->mass * s->length * s->length, rate = 1 / s->time;
    const double sign = flipped ? -1 : 1;
    for (int k = 0; k < 2; k++) {
        const int i = c->terms[k].body;
        c->terms[k].coefficient = times(c->terms[k].coefficient, sign * (s->reversed[i] ? -1 : 1)
                                        / unit_of(&mech.body[i], s));
    }
    c->offset = times(c->offset, sign);
    set_bounds(&c->lower, &c->upper, sign);
    c->effort = times(c->effort, I * rate * rate);
    if (c->softness.kind == MDYN_KP_KD) {
        c->softness.a = times(c->softness.a, I * rate * rate);
        c->softness.b = times(c->softness.b, I * rate);
    } else if (c->softness.kind == MDYN_ERP_CFM) {
        c->softness.b = times(c->softness.b, 1 / I);
    }
}

/* `other`, and the state and commands of `twin`, as `mech` and `sim` in the other way. */
static void transform(const symmetry *s) {
    other = mech;
    other.model.bodies = other.body;
    other.model.couplings = other.coupling;
    for (int i = 0; i < mech.model.body_count; i++) {
        transform_body(&other.body[i], s, s->reversed[i]);
    }
    for (int i = 0; i < mech.model.coupling_count; i++) {
        transform_coupling(&other.coupling[i], s, s->flipped[i]);
    }
    other.model.gravity = times3(mech.model.gravity, s->length / (s->time * s->time));
    other.model.dt = times(mech.model.dt, s->time);
}

static void transform_state(const symmetry *s) {
    for (int i = 0, k = 0; i < mech.model.body_count; i++) {
        const double unit = unit_of(&mech.body[i], s) * (s->reversed[i] ? -1 : 1);
        const double I = s->mass * s->length * s->length, rate = 1 / s->time;
        if (mech.body[i].joint == MDYN_FIXED) {
            continue;
        }
        twin.q[k] = real(of_real(sim.q[k]) * unit);
        twin.v[k] = real(of_real(sim.v[k]) * unit * rate);
        twin.tau[k] = real(of_real(sim.tau[k]) * I / unit * rate * rate);
        twin.target[k] = real(of_real(sim.target[k]) * unit);
        k++;
    }
}

/* The largest difference of q/dt and v, as a part of the largest |v|, in the units of `mech`. */
static double difference(const symmetry *s, double *largest) {
    double most = 0;
    *largest = 1e-2;
    for (int i = 0, k = 0; i < mech.model.body_count; i++) {
        const double unit = unit_of(&mech.body[i], s) * (s->reversed[i] ? -1 : 1);
        if (mech.body[i].joint == MDYN_FIXED) {
            continue;
        }
        const double v = of_real(sim.v[k]), dt = of_wide(mech.model.dt);
        most = worse(most, fabs(of_real(twin.q[k]) / unit - of_real(sim.q[k])) / dt);
        most = worse(most, fabs(of_real(twin.v[k]) / unit * s->time - v));
        *largest = worse(*largest, fabs(v));
        k++;
    }
    return most / *largest;
}

/* `other` and `mech` for some steps, from the state of `sim`, as long as they are calm and
   converge. */
static void run_both(const symmetry *s, double allowed) {
    double largest = 0;
    int code = mdyn_init(&twin, &other.model);
    CHECK(code >= 0);
    transform_state(s);
    for (int i = 0; i < 12; i++) {
        code = mdyn_step(&sim);
        int same = mdyn_step(&twin);
        if (code != MDYN_OK || same != MDYN_OK) {
            break;
        }
        const double apart = difference(s, &largest);
        if (largest > CALM) {
            break;
        }
        if (!CHECK_NEAR(apart, 0, allowed)) {
            break;
        }
        compared++;
    }
}

static void compare(const symmetry *s) {
    transform(s);
    run_both(s, SAME);
}

/* ---- random mechanisms ---- */

static double power_of(double base) { /* 1/256, 1/16, ... for 4, 1/16, 1/4, ... for 2 */
    return pow(base, random_int(9) - 4);
}

static mdyn_wide sometimes(double part, double low, double high) {
    const int is_there = random_in(0, 1) < part;
    const double x = random_in(low, high);
    return wide(is_there ? x : 0);
}

static void add_rows(mdyn_body *b) {
    b->damping = sometimes(0.3, 0, 1);
    b->friction = sometimes(0.3, 0, 3);
    b->effort = sometimes(0.3, 1, 20);
    if (random_int(2)) {
        b->drive_kp = sometimes(0.8, 1, 500);
        b->drive_kd = sometimes(1, 0.1, 20);
    }
    if (random_int(3) == 0) {
        b->lower = wide(random_in(-0.6, -0.1));
        b->upper = wide(random_in(0.1, 0.6));
    }
}

static void add_coupling(int a, int b) {
    mdyn_coupling *c = &mech.coupling[mech.model.coupling_count++];
    const double left = random_in(0.3, 2), right = random_in(-2, 2);
    c->terms[0].body = (int16_t)a;
    c->terms[0].coefficient = wide(left);
    c->terms[1].body = (int16_t)b;
    c->terms[1].coefficient = wide(right);
    c->softness.kind = (mdyn_softness_kind)random_int(3);
    if (c->softness.kind == MDYN_KP_KD) {
        c->softness.a = sometimes(1, 1, 1000);
        c->softness.b = sometimes(1, 0.1, 20);
    } else if (c->softness.kind == MDYN_ERP_CFM) {
        c->softness.a = sometimes(1, 0, 1);
        c->softness.b = sometimes(0.5, 0.001, 0.1);
    }
    c->effort = sometimes(0.3, 1, 10);
    if (random_int(3) == 0) {
        c->lower = wide(random_in(-0.3, -0.01));
        c->upper = wide(random_in(0.01, 0.3));
    }
}

static void begin_random(void) {
    mechanism_random(&mech, 2 + random_int(7), TN, ONE_SPEED | FOREST);
    const int bodies = mech.model.body_count;
    for (int i = 0; i < bodies; i++) {
        if (mech.body[i].joint != MDYN_FIXED) {
            add_rows(&mech.body[i]);
        }
    }
    for (int i = 0; i + 1 < bodies; i++) {
        if (random_int(3) == 0 && mech.body[i].joint != MDYN_FIXED &&
            mech.body[i + 1].joint != MDYN_FIXED) {
            add_coupling(i, i + 1);
        }
    }
    mech.model.solver.method = random_int(2) ? MDYN_DANTZIG : MDYN_PGS;
    const int code = mdyn_init(&sim, &mech.model);
    CHECK(code >= 0);
    for (int k = 0; k < mdyn_dofs(&sim); k++) {
        sim.q[k] = real(random_in(-0.05, 0.05));
        sim.v[k] = real(random_in(-0.5, 0.5));
        sim.tau[k] = real(random_in(-5, 5));
        sim.target[k] = real(random_in(-0.5, 0.5));
    }
    CHECK(mdyn_settle(&sim) >= 0);
    for (int k = 0; k < mdyn_dofs(&sim); k++) { /* without the digits that users cannot give */
        sim.q[k] = real(of_real(sim.q[k]));
    }
}

static void test_units(void) {
    for (int i = 0; i < 300; i++) {
        symmetry s = { 1, 1, 1, { 0 }, { 0 } };
        begin_random();
        s.mass = power_of(4);
        s.length = power_of(2);
        s.time = pow(2, random_int(5) - 2);
        compare(&s);
    }
}

static void test_signs(void) {
    for (int i = 0; i < 300; i++) {
        symmetry s = { 1, 1, 1, { 0 }, { 0 } };
        begin_random();
        for (int k = 0; k < mech.model.body_count; k++) {
            s.reversed[k] = random_int(2);
        }
        for (int k = 0; k < mech.model.coupling_count; k++) {
            s.flipped[k] = random_int(2);
        }
        compare(&s);
    }
}

/* ---- rows of equal meaning ---- */

enum { LIMIT_AS_RANGE, FRICTION_AS_ROW, DRIVE_AS_SPRING, TURN_AS_SCREW, RATIO_AS_CURVE, TIE_AS_ROW,
       WAYS };

static mdyn_coupling *add_row(int body) {
    mdyn_coupling *c = &other.coupling[other.model.coupling_count++];
    memset(c, 0, sizeof *c);
    c->terms[0].body = (int16_t)body;
    c->terms[0].coefficient = wide(1);
    return c;
}

static void say_limit(int body) {
    mdyn_body *b = &other.body[body];
    if (of_wide(b->lower) < 0) {
        mdyn_coupling *c = add_row(body);
        c->lower = b->lower;
        c->upper = b->upper;
        b->lower = b->upper = wide(0);
    }
}

static void say_friction(int body) {
    mdyn_body *b = &other.body[body];
    if (of_wide(b->friction) > 0) {
        mdyn_coupling *c = add_row(body);
        c->level = MDYN_VELOCITY;
        c->effort = b->friction;
        b->friction = wide(0);
    }
}

/* A drive, where its effort has no tau to share with. */
static void say_drive(int body, int k) {
    mdyn_body *b = &other.body[body];
    if (of_wide(b->drive_kp) > 0 && (of_wide(b->effort) == 0 || of_real(sim.tau[k]) == 0)) {
        mdyn_coupling *c = add_row(body);
        c->softness.kind = MDYN_KP_KD;
        c->softness.a = b->drive_kp;
        c->softness.b = b->drive_kd;
        c->effort = b->effort;
        c->offset = wide(-of_real(sim.target[k]));
        b->drive_kp = b->drive_kd = b->effort = wide(0);
    }
}

static void say_otherwise(int way) {
    static mdyn_curve straight;
    straight.kind = MDYN_CURVE_POLYNOMIAL;
    straight.a[1] = wide(1);
    other = mech;
    other.model.bodies = other.body;
    other.model.couplings = other.coupling;
    for (int i = 0, k = 0; i < mech.model.body_count; i++) {
        if (mech.body[i].joint == MDYN_FIXED) {
            continue;
        }
        switch (way) {
        case LIMIT_AS_RANGE: say_limit(i); break;
        case FRICTION_AS_ROW: say_friction(i); break;
        case DRIVE_AS_SPRING: say_drive(i, k); break;
        case TURN_AS_SCREW:
            if (mech.body[i].joint == MDYN_REVOLUTE) {
                other.body[i].joint = MDYN_HELICAL;
                other.body[i].pitch = wide(0);
            }
            break;
        default: break;
        }
        k++;
    }
    for (int i = 0; i < mech.model.coupling_count; i++) {
        mdyn_coupling *c = &other.coupling[i];
        if (way == RATIO_AS_CURVE) {
            c->terms[1].curve = 1;
        } else if (way == TIE_AS_ROW && c->softness.kind == MDYN_DEFAULT) {
            c->softness.kind = MDYN_ERP_CFM;
            c->softness.a = wide(0.2);
        }
    }
    other.model.curves = &straight;
    other.model.curve_count = way == RATIO_AS_CURVE;
}

static void test_other_rows(void) {
    const symmetry same = { 1, 1, 1, { 0 }, { 0 } };
    for (int i = 0; i < 100 * WAYS; i++) {
        begin_random();
        say_otherwise(i % WAYS);
        run_both(&same, SAME_ROWS);
    }
}

/* A slide crosses the whole range of a soft coupling in a step, from 1/4 of the way below to 1/2
   above: the farther bound slows it down, in whichever direction. */
static void test_crossed_range(void) {
    symmetry s = { 1, 1, 1, { 1 }, { 0 } };
    memset(&mech, 0, sizeof mech);
    mech.model.bodies = mech.body;
    mech.model.body_count = 1;
    mech.model.couplings = mech.coupling;
    mech.model.coupling_count = 1;
    mech.model.dt = wide(0.001);
    mech.body[0].parent = MDYN_WORLD;
    mech.body[0].joint = MDYN_PRISMATIC;
    mech.body[0].axis.x = wide(1);
    mech.body[0].mass = wide(1);
    mech.coupling[0].terms[0].coefficient = wide(1);
    mech.coupling[0].softness.kind = MDYN_KP_KD;
    mech.coupling[0].softness.a = wide(1000);
    mech.coupling[0].lower = wide(-0.001);
    mech.coupling[0].upper = wide(0.001);
    for (int flipped = 0; flipped < 2; flipped++) {
        s.flipped[0] = flipped;
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
        transform(&s);
        CHECK_EQUAL(mdyn_init(&twin, &other.model), MDYN_OK);
        sim.q[0] = real(-0.003);
        sim.v[0] = real(8);
        transform_state(&s);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&twin), MDYN_OK);
        CHECK(sim.v[0] < real(8));
        CHECK(twin.v[0] == -sim.v[0]);
    }
}

/* A double pendulum beside slides that dry friction holds outside their limits, where nothing but
   rounding pushes: it moves as alone. */
static void test_beside_stuck(void) {
    enum { SLIDES = 6, PENDULUM = 2 };
    memset(&mech, 0, sizeof mech);
    mech.model.bodies = mech.body;
    mech.model.dt = wide(0.004);
    mech.model.gravity = wide3(0.7, 3, -9);
    mech.model.solver.method = MDYN_DANTZIG;
    for (int i = 0; i < PENDULUM + SLIDES; i++) {
        mdyn_body *b = &mech.body[i];
        b->parent = (int16_t)(i < PENDULUM ? i - 1 : MDYN_WORLD);
        b->joint = i < PENDULUM ? MDYN_REVOLUTE : MDYN_PRISMATIC;
        b->axis = i < PENDULUM ? wide3(0, 1, 0.3 * i) : wide3(0.3, 0.1 * i, 0.4);
        b->mass = wide(1 + 0.3 * i);
        b->com = wide3(0.3, 0, 0);
        b->position = wide3(0.3 * i, 0, 0);
        b->inertia.xx = b->inertia.yy = b->inertia.zz = wide(0.01);
        if (i >= PENDULUM) {
            b->friction = wide(50);
            b->lower = wide(-1);
            b->upper = wide(0.2);
        }
    }
    mech.model.body_count = PENDULUM;
    CHECK_EQUAL(mdyn_init(&twin, &mech.model), MDYN_OK);
    mech.model.body_count = PENDULUM + SLIDES;
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    for (int i = PENDULUM; i < PENDULUM + SLIDES; i++) {
        sim.q[i] = real(0.21 + 0.013 * i);
    }
    sim.v[0] = twin.v[0] = real(3);
    sim.v[1] = twin.v[1] = real(-2);
    for (int i = 0; i < 40; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&twin), MDYN_OK);
        for (int k = 0; k < PENDULUM; k++) {
            CHECK_NEAR(of_real(sim.v[k]), of_real(twin.v[k]), SAME);
        }
    }
}

static void add_tie(int a, int b) {
    mdyn_coupling *c = &mech.coupling[mech.model.coupling_count++];
    c->terms[0].body = (int16_t)a;
    c->terms[0].coefficient = wide(1);
    c->terms[1].body = (int16_t)b;
    c->terms[1].coefficient = wide(-0.7);
    c->level = MDYN_VELOCITY;
}

/* A spinning base with sliders that are tied by their velocities, beside a slide whose limits are
   violated and corrected: it moves as alone. Its mass center is on the path of its momentum, from
   which the other tree's correction must not take it, nor the rounding of a second solve. */
static void test_floating_beside_error(void) {
    enum { SLIDERS = 5, BODIES = 2 + SLIDERS };
    memset(&mech, 0, sizeof mech);
    mech.model.bodies = mech.body;
    mech.model.couplings = mech.coupling;
    mech.model.dt = wide(0.008);
    for (int i = 0; i < BODIES; i++) {
        mdyn_body *b = &mech.body[i];
        b->parent = (int16_t)(i > 0 && i <= SLIDERS ? i - 1 : MDYN_WORLD);
        b->joint = i == 0 ? MDYN_FREE : MDYN_PRISMATIC;
        b->axis = wide3(0.3 + 0.2 * i, 0.8 - 0.4 * i, 0.1 * i * i);
        b->mass = wide(3.5 - 0.5 * i);
        b->inertia.xx = b->inertia.yy = b->inertia.zz = wide(0.07);
        b->com = wide3(0.1 * i, -0.2, 0.3 - 0.1 * i);
        if (i > 0 && i + 1 < SLIDERS) {
            add_tie(i, i + 1);
        }
    }
    mech.model.solver.equality = MDYN_ITERATED;
    mech.model.solver.iterations = 2000;
    mech.body[BODIES - 1].lower = wide(-1);
    mech.body[BODIES - 1].upper = wide(0.2);
    mech.model.body_count = BODIES - 1;
    CHECK_EQUAL(mdyn_init(&twin, &mech.model), MDYN_OK);
    mech.model.body_count = BODIES;
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    sim.q[mdyn_coordinates(&sim) - 1] = real(0.21);
    for (int k = 0; k < mdyn_dofs(&twin); k++) {
        sim.v[k] = twin.v[k] = real(k < 3 ? 3 - 2 * k : 1 - 0.5 * k);
    }
    for (int i = 0; i < 40; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&twin), MDYN_OK);
        for (int k = 0; k < mdyn_coordinates(&twin); k++) {
            CHECK_NEAR(of_real(sim.q[k]), of_real(twin.q[k]), SAME_PATH);
        }
    }
}

/* Two slides with a spring each, weak enough, dt^2 kp/m <= 0.4, for the spread 1/12, but not both
   together: a released coupling or closure between them does not count them as one group. */
static void begin_springs(int couplings, int closures) {
    static mdyn_closure closure;
    const mdyn_closure none = { 0 };
    memset(&mech, 0, sizeof mech);
    mech.model.bodies = mech.body;
    mech.model.couplings = mech.coupling;
    mech.model.closures = &closure;
    mech.model.body_count = 2;
    mech.model.coupling_count = couplings;
    mech.model.closure_count = closures;
    mech.model.dt = wide(0.01);
    closure = none;
    closure.a = 0;
    closure.b = 1;
    closure.effort = wide(5);
    for (int i = 0; i < 2; i++) {
        mech.body[i].parent = MDYN_WORLD;
        mech.body[i].joint = MDYN_PRISMATIC;
        mech.body[i].mass = wide(1 + i);
        mech.body[i].drive_kp = wide(4000);
        mech.coupling[0].terms[i].body = (int16_t)i;
        mech.coupling[0].terms[i].coefficient = wide(1);
    }
    mech.coupling[0].effort = wide(5);
}

static void test_released(int soft, int couplings, int closures) {
    begin_springs(0, 0);
    CHECK_EQUAL(mdyn_init(&twin, &mech.model), MDYN_OK);
    begin_springs(couplings, closures);
    mech.coupling[0].softness.kind = soft ? MDYN_KP_KD : MDYN_DEFAULT;
    mech.coupling[0].softness.a = wide(4000);
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    if (couplings > 0) {
        CHECK_EQUAL(mdyn_engage(&sim, 0, MDYN_RELEASE), MDYN_OK);
    }
    if (closures > 0) {
        CHECK_EQUAL(mdyn_engage_closure(&sim, 0, MDYN_RELEASE), MDYN_OK);
    }
    sim.q[0] = twin.q[0] = real(0.25);
    for (int i = 0; i < 20; i++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&twin), MDYN_OK);
        CHECK(sim.q[0] == twin.q[0]);
        CHECK(sim.q[1] == twin.q[1]);
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_units();
    test_signs();
    test_other_rows();
    CHECK(compared > 10000);
    test_crossed_range();
    test_beside_stuck();
    test_floating_beside_error();
    test_released(0, 1, 0);
    test_released(1, 1, 0);
    test_released(0, 0, 1);
    return check_end();
}
