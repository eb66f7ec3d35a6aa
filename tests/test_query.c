/* Queries beside those of test_kinematics.c and test_dynamics.c: points and their accelerations,
   inverse dynamics with losses, mass centers, bodies as text; numbers, their arithmetic and text;
   and rotations as constants of tables. The truth is the dense model of truth.h in long double, the
   operators of double, and sin and cos of libm. */
#include "knobs.h"
#include "check.h"
#include "explicit.h"
#include "truth.h"
#include "random_trees.h"

/* What the checks allow, some three to ten times the worst of -s 1, 2 and 3. */
/*                                 F64     F32   FIXED */
TOLERANCE(POINT,                 4e-14,   2e-5,   4e-7);
TOLERANCE(ACCELERATION,          4e-15,   2e-6,   4e-8);
TOLERANCE(LOSSES,                3e-15, 1.5e-6,   1e-7);
TOLERANCE(CENTER,                5e-15,   2e-6,   5e-8);
TOLERANCE(ARITHMETIC,            3e-16,   2e-7,   4e-9);
TOLERANCE(TO_DOUBLE,                 0,      0,  2e-16);
TOLERANCE(TABLE,                 2e-13,   3e-7,   2e-13);

/* ---- points ---- */

static void compare_point(int body, const ld *a, const mdyn_wide *wide_a) {
    mdyn_real3 point = random_real3(1), position;
    mdyn_wide3 angular, linear;
    const int with_point = random_int(2);
    ld arm[3] = { (ld)of_real(point.x), (ld)of_real(point.y), (ld)of_real(point.z) };
    ld p[3], alpha[3], acc[3], cross[3], size = 10;
    t_turn(arm, t.R[body], arm);
    for (int k = 0; k < 3; k++) {
        arm[k] *= with_point;
        p[k] = t.o[body][k] + arm[k];
    }
    memcpy(alpha, t.alpha[body], sizeof alpha);
    memcpy(acc, t.a[body], sizeof acc);
    t_cross_add(acc, alpha, arm);
    t_cross(cross, t.w[body], arm);
    t_cross_add(acc, t.w[body], cross);
    for (int j = 0; a && j < t.dofs; j++) {
        ld column[3];
        memcpy(column, t.Jo[body][j], sizeof column);
        t_cross_add(column, t.Jw[body][j], arm);
        for (int k = 0; k < 3; k++) {
            alpha[k] += t.Jw[body][j][k] * a[j];
            acc[k] += column[k] * a[j];
        }
        size += fabsl(a[j]);
    }
    for (int i = 0; i < t.bodies; i++) {
        size += t_dot(t.w[i], t.w[i]);
    }
    const mdyn_real3 *at = with_point ? &point : NULL;
    CHECK_EQUAL(mdyn_point(&sim, body, at, &position), MDYN_OK);
    CHECK_EQUAL(mdyn_acceleration(&sim, body, at, wide_a, &angular, &linear), MDYN_OK);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(of_real((&position.x)[k]), (double)p[k], POINT);
        CHECK_NEAR(of_wide((&angular.x)[k]), (double)alpha[k], ACCELERATION * (double)size);
        CHECK_NEAR(of_wide((&linear.x)[k]), (double)acc[k], ACCELERATION * (double)size);
    }
}

/* M a + C + damping v + friction sign(v); of every third joint v is 0: the sign is that of a. */
static void compare_losses(const ld *a, const mdyn_wide *wide_a) {
    static mdyn_wide tau[TN];
    double size = norm_force(t.C);
    for (int j = 0; j < t.dofs; j++) {
        size += (double)(fabsl(a[j]) * sqrtl(t.M[j][j])) + fabs(5 * (double)t.v[j]) + 2;
    }
    CHECK_EQUAL(mdyn_inverse_dynamics_with_losses(&sim, wide_a, tau), MDYN_OK);
    for (int i = 0; i < t.bodies; i++) {
        for (int j = t.dof[i]; j < t.dof[i] + t.dofs_of[i]; j++) {
            ld want = t.C[j] + (ld)of_wide(mech.body[i].damping) * t.v[j];
            ld way = t.v[j] != 0 ? t.v[j] : a[j];
            for (int k = 0; k < t.dofs; k++) {
                want += t.M[j][k] * a[k];
            }
            want += (way > 0 ? 1 : way < 0 ? -1 : 0) * (ld)of_wide(mech.body[i].friction);
            CHECK_NEAR(of_wide(tau[j]), (double)want, LOSSES * (1 + unit_force(j)) * size);
        }
    }
}

static int carries(int body, int other) {
    while (other > body) {
        other = mech.body[other].parent;
    }
    return body == MDYN_WORLD || other == body;
}

static void compare_center(int body) {
    ld mass = 0, sum[3] = { 0 }, com[3];
    mdyn_wide total;
    mdyn_real3 center;
    for (int i = 0; i < t.bodies; i++) {
        if (!carries(body, i)) {
            continue;
        }
        ld m = (ld)of_wide(mech.body[i].mass);
        t_wide3(com, &mech.body[i].com);
        t_turn(com, t.R[i], com);
        mass += m;
        for (int k = 0; k < 3; k++) {
            sum[k] += m * (com[k] + t.o[i][k]);
        }
    }
    int code = mdyn_center_of_mass(&sim, body, &total, &center);
    if (mass == 0) {
        CHECK_EQUAL(code, MDYN_ERR_MASSLESS);
        CHECK(strstr(mdyn_text(code), "no center of mass") != NULL);
        return;
    }
    CHECK_EQUAL(code, MDYN_OK);
    CHECK_NEAR(of_wide(total), (double)mass, CENTER * (double)mass);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(of_real((&center.x)[k]), (double)(sum[k] / mass), 5 * CENTER);
    }
}

static void test_trees(void) {
    static mdyn_wide wide_a[TN];
    static ld a[TN];
    for (int n = 0; n < 60; n++) {
        mechanism_random(&mech, 1 + random_int(10), 24, random_kind());
        for (int i = 0; i < mech.model.body_count; i++) {
            mech.body[i].damping = wide(random_in(0, 5));
            mech.body[i].friction = wide(random_in(0, 2));
        }
        CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
        truth_init(&t, &mech.model);
        random_state(3, 10);
        for (int j = 0; j < t.dofs; j++) {
            wide_a[j] = wide(j % 5 ? random_in(-20, 20) : 0);
            a[j] = (ld)of_wide(wide_a[j]);
            sim.v[j] = j % 3 ? sim.v[j] : real(0);
        }
        truth_copy(&t, &sim);
        truth_update(&t, &mech.model);
        for (int i = 0; i < t.bodies; i++) {
            compare_point(i, NULL, NULL);
            compare_point(i, a, wide_a);
            compare_center(i);
        }
        compare_center(MDYN_WORLD);
        if (t.dofs) {
            compare_losses(a, wide_a);
        }
    }
}

/* The acceleration of a point is the change of its velocity in a short explicit step. */
static void test_step(void) {
    const double dt = BY_SCALAR(1e-7, 1e-3, 1e-5), near = BY_SCALAR(1e-6, 5e-3, 1e-4);
    static mdyn_wide a[TN];
    mdyn_real3 w, before, after, point = { MDYN_R(0.1), MDYN_R(-0.2), MDYN_R(0.3) };
    mdyn_wide3 angular, linear;
    for (int n = 0; n < 20; n++) {
        mechanism_random(&mech, 5, 12, random_kind());
        mech.model.dt = wide(dt);
        CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
        truth_init(&t, &mech.model);
        random_state(1, 1);
        CHECK_EQUAL(mdyn_forward_dynamics(&sim, a), MDYN_OK);
        CHECK_EQUAL(mdyn_acceleration(&sim, 4, &point, a, &angular, &linear), MDYN_OK);
        CHECK_EQUAL(mdyn_velocity(&sim, 4, &point, &w, &before), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_velocity(&sim, 4, &point, &w, &after), MDYN_OK);
        double size = 1;
        for (int k = 0; k < 3; k++) {
            size += fabs(of_wide((&linear.x)[k]));
        }
        for (int j = 0; j < mdyn_dofs(&sim); j++) {
            size += fabs(of_wide(a[j])); /* what the turn of the axes is a change of */
        }
        for (int k = 0; k < 3; k++) {
            double rate = (of_real((&after.x)[k]) - of_real((&before.x)[k])) / dt;
            CHECK_NEAR(of_wide((&linear.x)[k]), rate, near * size);
        }
    }
}

static void test_refusals(void) {
    mdyn_real3 p;
    mdyn_wide3 u;
    mdyn_wide m, a[TN];
    char text[600];
    mechanism_random(&mech, 3, 6, ONE_SPEED);
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    for (int k = 0; k < TN; k++) {
        a[k] = wide(0);
    }
    CHECK_EQUAL(mdyn_point(&sim, 3, NULL, &p), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_point(&sim, 0, NULL, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_point(NULL, 0, NULL, &p), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_acceleration(&sim, 0, NULL, NULL, &u, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_acceleration(&sim, -1, NULL, NULL, &u, &u), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_center_of_mass(&sim, -2, &m, &p), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_center_of_mass(&sim, 3, &m, &p), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_inverse_dynamics_with_losses(&sim, a, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_explain_body(&sim, 3, text, 600), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_explain_body(&sim, 0, NULL, 600), MDYN_ERR_NULL);
    for (int i = 0; i < CHECK_BAD_WIDES; i++) {
        bad_wide(&a[1], i);
        CHECK_EQUAL(mdyn_acceleration(&sim, 2, NULL, a, &u, &u), MDYN_ERR_STATE);
        CHECK_EQUAL(mdyn_inverse_dynamics_with_losses(&sim, a, a), MDYN_ERR_STATE);
    }
    bad_real(&p.x, 0);
    CHECK_EQUAL(mdyn_point(&sim, 0, &p, &p), MDYN_ERR_STATE);
}

/* ---- bodies as text ---- */

static void expect_text(int body, const char *want) {
    char text[700];
    int length = (int)strlen(want);
    CHECK_EQUAL(mdyn_explain_body(&sim, body, text, length), MDYN_ERR_ROOM);
    CHECK_EQUAL(mdyn_explain_body(&sim, body, text, length + 1), MDYN_OK);
    CHECK_TEXT(text, want);
}

static void test_texts(void) {
    static const mdyn_body bodies[] = {
        MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 0, 1), MDYN_AT_RPY(0.5, 0, 0, 0, 0, 1.5707963267948966),
                  MDYN_RIGID(2, 0, 0, 0.25, MDYN_INERTIA(0.01, 0.01, 0.01, 0, 0, 0)),
                  MDYN_LIMITS(-1, 1), "base"),
        MDYN_BODY(0, MDYN_TURNS(0, 1, 0), MDYN_AT(0, 0, 0.5),
                  MDYN_RIGID(500, 0.1, 0, 0, MDYN_INERTIA(1e-3, 1e-3, 1e-3, 0, 0, 0)),
                  MDYN_LIMITS(-90, 45), NULL),
        MDYN_BODY(1, MDYN_SLIDES(1, 0, 0), MDYN_AT(0.25, 0, 0),
                  MDYN_RIGID(0.5, 0, 0, 0, MDYN_INERTIA(100, 100, 100, 0, 0, 0)),
                  MDYN_PASSIVE, "slide"),
        MDYN_BODY(MDYN_WORLD, MDYN_FLOATS, MDYN_AT(0, 0, 0),
                  MDYN_RIGID(1, 0, 0, 0, MDYN_INERTIA(0.01, 0.01, 0.01, 0, 0, 0)), MDYN_PASSIVE,
                  "ball")
    };
    static const mdyn_coupling couplings[] = { MDYN_MIMIC(2, 0, 0.5, 0.0) };
    static const mdyn_model model = MDYN_MODEL(bodies, MDYN_COUNT(bodies), couplings,
                                               MDYN_COUNT(couplings), MDYN_V3(0, 0, -9.81), 0.001);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    expect_text(0, "body 0 base: revolute on world; origin 0.5, 0, 0 [m], rotation 0.707107, 0, 0, "
        "0.707107; mass 2, carries 502.5 [kg]; reach 0.559017 [m]; -1 <= q(base) <= 1 [rad]");
    expect_text(1, "body 1: revolute on base; origin 0.5, 0, 0.5 [m], rotation 0.707107, 0, 0, "
        "0.707107; mass 500, carries 500.5 [kg]; reach 0.25 [m]; -90 <= q(1) <= 45 [rad]; looks "
        "wrong: limits like degrees; looks wrong: too much mass for its inertia (grams?)");
    expect_text(2, "body 2 slide: prismatic on 1; origin 0.5, 0.25, 0.5 [m], rotation 0.707107, 0, "
        "0, 0.707107; mass 0.5 [kg]; reach 0 [m]; coupled -0.5 <= q(slide) <= 0.5; looks wrong: "
        "inertia of a body ten times as large (kg mm^2, or g m^2?)");
    expect_text(3, "body 3 ball: free on world; origin 0, 0, 0 [m], rotation 1, 0, 0, 0; mass 1 "
        "[kg]; reach 0 [m]");
}

/* Bodies as they are do not look wrong. */
static void test_sound_bodies(void) {
    char text[700];
    for (int n = 0; n < 50; n++) {
        mechanism_random(&mech, 10, 24, random_kind());
        for (int i = 0; i < mech.model.body_count; i++) { /* balls of 3000 kg/m^3 */
            double m = of_wide(mech.body[i].mass), r = cbrt(m / 12566);
            mdyn_inertia in = { wide(0.4 * m * r * r), wide(0.4 * m * r * r),
                                wide(0.4 * m * r * r), wide(0), wide(0), wide(0) };
            mech.body[i].inertia = in;
        }
        CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
        for (int i = 0; i < mech.model.body_count; i++) {
            CHECK_EQUAL(mdyn_explain_body(&sim, i, text, (int)sizeof text), MDYN_OK);
            CHECK(strstr(text, "wrong") == NULL);
        }
    }
}

/* ---- numbers ---- */

static double random_number(void) {
    double x = pow(10, random_in(-9, 9));
    return random_int(9) == 0 ? 0 : random_int(2) ? x : -x;
}

static void test_arithmetic(void) {
    for (int n = 0; n < 5000; n++) {
        const mdyn_wide a = wide(random_number()), b = wide(random_number());
        const double x = of_wide(a), y = of_wide(b), large = fabs(x) + fabs(y);
        CHECK_NEAR(of_wide(mdyn_plus(a, b)), x + y, ARITHMETIC * large);
        CHECK_NEAR(of_wide(mdyn_minus(a, b)), x - y, ARITHMETIC * large);
        CHECK_NEAR(of_wide(mdyn_times(a, b)), x * y, ARITHMETIC * fabs(x * y));
        if (y != 0) {
            CHECK_NEAR(of_wide(mdyn_over(a, b)), x / y, ARITHMETIC * fabs(x / y));
        }
        CHECK_NEAR(of_wide(mdyn_root(a)), x > 0 ? sqrt(x) : 0, ARITHMETIC * sqrt(fabs(x)));
        CHECK_EQUAL(mdyn_compare(a, b), (x > y) - (x < y));
        CHECK_EQUAL(mdyn_compare(a, a), 0);
        CHECK_EQUAL(mdyn_compare(a, wide(x * (1 + 8 * BY_SCALAR(1e-16, 1e-7, 1e-12)))),
                    (x < 0) - (x > 0));
        CHECK_NEAR(mdyn_double_of_wide(a), x, TO_DOUBLE * fabs(x));
        mdyn_real r = real(fmod(x, 8e6));
        CHECK_NEAR(mdyn_double_of_real(r), of_real(r), TO_DOUBLE * fabs(of_real(r)));
        CHECK(mdyn_real_from(mdyn_double_of_real(r)) == r || fabs(of_real(r)) > 4096);
    }
    mdyn_wide none = mdyn_over(wide(1), wide(0));
    CHECK_EQUAL(mdyn_set_gravity(&sim, &(mdyn_wide3){ none, none, none }), MDYN_ERR_NOT_FINITE);
#if MDYN_SCALAR != MDYN_SCALAR_FIXED
    mdyn_wide nan = mdyn_minus(none, none);
    CHECK_EQUAL(mdyn_compare(nan, nan), 2);
#else
    CHECK_EQUAL(mdyn_compare(1000 * 256 + 3, 500 * 256 + 4), 0); /* one number, two spellings */
    CHECK_EQUAL(mdyn_compare(0, 255), 0);
    CHECK_EQUAL(mdyn_compare(INT64_MIN, INT64_MIN), 0);
    CHECK_EQUAL(mdyn_compare(INT64_MIN, INT64_MAX), -1);
    CHECK_EQUAL(mdyn_bits_of_real(INT64_MAX) == 0x4160000000000000u, 1); /* 2^23, rounded up */
#endif
}

/* Text back to a number by the C library: within half a unit of the sixth digit. */
static void test_number_text(void) {
    char text[20];
    for (int n = 0; n < 5000; n++) {
        mdyn_wide a = wide(random_number());
        double x = of_wide(a);
        memset(text, '#', sizeof text);
        CHECK_EQUAL(mdyn_number_text(a, text, (int)sizeof text), MDYN_OK);
        int length = (int)strlen(text);
        CHECK(length <= 16);
        CHECK_NEAR(strtod(text, NULL), x, 5.5e-6 * fabs(x));
        CHECK_EQUAL(mdyn_number_text(a, text, length), MDYN_ERR_ROOM);
        CHECK_EQUAL(mdyn_number_text(a, text, length + 1), MDYN_OK);
    }
    CHECK_EQUAL(mdyn_number_text(MDYN_C(1), NULL, 9), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_number_text(wide(2e30), text, 20), MDYN_ERR_RESULT);
    CHECK_EQUAL(mdyn_number_text(MDYN_C(-0.25), text, 20), MDYN_OK);
    CHECK_TEXT(text, "-0.25");
}

/* ---- rotations as constants ---- */

#define TURNS(x) \
    x(0, 0, 0) x(0.3, -1.2, 3.1) x(-3.14159, 0.7, -1e-5) x(6.28, -6.28, 6.28)
#define QUATERNION(r, p, y) MDYN_RPY(r, p, y),
#define SMALL(r, p, y) MDYN_ROTATED_INERTIA(1e-6, 2e-7, -1e-7, 2e-6, 1e-7, 2.5e-6, r, p, y),
#define ANGLES(r, p, y) { r, p, y },
static const mdyn_wide4 quaternions[] = { TURNS(QUATERNION) };
static const mdyn_inertia small[] = { TURNS(SMALL) };
static const mdyn_inertia large = MDYN_ROTATED_INERTIA(300, -40, 50, 200, 60, 90, 0.3, -1.2, 3.1);
static const double angles[][3] = { TURNS(ANGLES) };

static void compare_inertia(const mdyn_inertia *got, ld R[3][3], const double *urdf) {
    const ld xx = (ld)urdf[0], xy = (ld)urdf[1], xz = (ld)urdf[2];
    const ld yy = (ld)urdf[3], yz = (ld)urdf[4], zz = (ld)urdf[5];
    ld I[3][3] = { { xx, xy, xz }, { xy, yy, yz }, { xz, yz, zz } }, Rt[3][3];
    double size = urdf[0] + urdf[3] + urdf[5];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            Rt[i][j] = R[j][i];
        }
    }
    t_compose(I, R, I);
    t_compose(I, I, Rt);
    CHECK_NEAR(of_wide(got->xx), (double)I[0][0], TABLE * size);
    CHECK_NEAR(of_wide(got->yy), (double)I[1][1], TABLE * size);
    CHECK_NEAR(of_wide(got->zz), (double)I[2][2], TABLE * size);
    CHECK_NEAR(of_wide(got->xy), (double)I[0][1], TABLE * size);
    CHECK_NEAR(of_wide(got->xz), (double)I[0][2], TABLE * size);
    CHECK_NEAR(of_wide(got->yz), (double)I[1][2], TABLE * size);
}

static void test_tables(void) {
    static const double small_urdf[] = { 1e-6, 2e-7, -1e-7, 2e-6, 1e-7, 2.5e-6 };
    static const double large_urdf[] = { 300, -40, 50, 200, 60, 90 };
    static const mdyn_inertia order = MDYN_URDF_INERTIA(1, 2, 3, 4, 5, 6);
    const ld axis[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    CHECK(of_wide(order.xx) == 1 && of_wide(order.xy) == 2 && of_wide(order.xz) == 3);
    CHECK(of_wide(order.yy) == 4 && of_wide(order.yz) == 5 && of_wide(order.zz) == 6);
    for (int n = 0; n < (int)(sizeof angles / sizeof *angles); n++) {
        ld R[3][3], turn[3][3], Q[3][3], q[4];
        t_axis_angle(R, axis[2], (ld)angles[n][2]);
        t_axis_angle(turn, axis[1], (ld)angles[n][1]);
        t_compose(R, R, turn);
        t_axis_angle(turn, axis[0], (ld)angles[n][0]);
        t_compose(R, R, turn);
        double length = 0;
        for (int k = 0; k < 4; k++) {
            double x = of_wide((&quaternions[n].w)[k]);
            length += x * x;
            q[k] = (ld)x;
        }
        t_quaternion(Q, q);
        CHECK_NEAR(length, 1, TABLE);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                CHECK_NEAR((double)Q[i][j], (double)R[i][j], 2 * TABLE);
            }
        }
        compare_inertia(&small[n], R, small_urdf);
        if (n == 1) {
            compare_inertia(&large, R, large_urdf);
        }
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_trees();
    test_step();
    test_refusals();
    test_texts();
    test_sound_bodies();
    test_arithmetic();
    test_number_text();
    test_tables();
    return check_end();
}
