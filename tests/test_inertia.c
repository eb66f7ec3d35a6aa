/* Inertias that no rigid body has: a principal moment exceeds the sum of the other two.

   The truth: inertias made of principal moments and a rotation, so that excess and nearest valid
   inertia are known in closed form; a search over other valid inertias finds none that is
   nearer. */
#include "knobs.h"
#include "check.h"

static mdyn_body body[2];
static mdyn_model model;
static mdyn_sim sim;

/* R diag(moment) R^T for a random rotation R. */
static void inertia_of(const double *moment, double turn[3][3], mdyn_inertia *in) {
    double m[3][3] = { { 0 } };
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            for (int k = 0; k < 3; k++) {
                m[i][j] += turn[i][k] * moment[k] * turn[j][k];
            }
        }
    }
    in->xx = wide(m[0][0]);
    in->yy = wide(m[1][1]);
    in->zz = wide(m[2][2]);
    in->xy = wide(m[0][1]);
    in->xz = wide(m[0][2]);
    in->yz = wide(m[1][2]);
}

static void random_turn(double turn[3][3]) {
    double q[4], n = 0;
    for (int i = 0; i < 4; i++) {
        q[i] = random_in(-1, 1);
        n += q[i] * q[i];
    }
    for (int i = 0; i < 4; i++) {
        q[i] /= sqrt(n);
    }
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    const double r[3][3] = {
        { 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y) },
        { 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x) },
        { 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y) }
    };
    memcpy(turn, r, sizeof r);
}

static int init_with(const mdyn_inertia *in, int as_given) {
    memset(body, 0, sizeof body);
    memset(&model, 0, sizeof model);
    for (int i = 0; i < 2; i++) {
        body[i].parent = (int16_t)(i - 1);
        body[i].joint = MDYN_REVOLUTE;
        body[i].mass = wide(1);
        body[i].inertia.xx = body[i].inertia.yy = body[i].inertia.zz = wide(1);
    }
    body[1].joint = MDYN_FIXED;
    body[1].inertia = *in;
    body[1].inertia_as_given = (int16_t)as_given;
    model.bodies = body;
    model.body_count = 2;
    model.dt = wide(0.001);
    return mdyn_init(&sim, &model);
}

static double distance(const mdyn_inertia *a, const mdyn_inertia *b) {
    double sum = 0;
    for (int k = 0; k < 6; k++) {
        double d = of_wide((&a->xx)[k]) - of_wide((&b->xx)[k]);
        sum += (k < 3 ? 1 : 2) * d * d;
    }
    return sqrt(sum);
}

/* Moments a, b and a + b + excess. */
static void test_excess(void) {
    TOLERANCE(near, 1e-13, 3e-5, 3e-7);
    random_seed(1);
    for (int i = 0; i < 3000; i++) {
        const double size = pow(10, random_in(-9, 6)), a = random_in(0, 1), b = random_in(0, 1);
        const double more = i % 3 == 0 ? -fmin(a, b) * random_in(0.01, 1) : random_in(0.001, 2);
        const double moment[3] = { size * a, size * b, size * (a + b + more) };
        double turn[3][3];
        mdyn_inertia in, valid;
        mdyn_wide excess;
        random_turn(turn);
        inertia_of(moment, turn, &in);
        CHECK_EQUAL(init_with(&in, 0), more > 0 ? MDYN_ERR_TRIANGLE : MDYN_OK);
        CHECK(more < 0 || sim.culprit.index == 1);
        CHECK_EQUAL(init_with(&in, 1), MDYN_OK);
        CHECK_EQUAL(mdyn_valid_inertia(&in, &valid, &excess), MDYN_OK);
        CHECK_NEAR(of_wide(excess) / size, more > 0 ? more : 0, near * 10);
        CHECK_EQUAL(init_with(&valid, 0), MDYN_OK);
        if (more < 0) {
            CHECK(memcmp(&valid, &in, sizeof in) == 0);
            continue;
        }
        CHECK_NEAR(distance(&in, &valid) / size, more / sqrt(3), near * 10);
        for (int k = 0; k < 20; k++) { /* no other valid one is nearer */
            double near_by[3], other_turn[3][3];
            mdyn_inertia other;
            for (int j = 0; j < 2; j++) {
                near_by[j] = moment[j] + size * random_in(-0.1, 1) * more;
                near_by[j] = near_by[j] < 0 ? 0 : near_by[j];
            }
            near_by[2] = fmin(near_by[0] + near_by[1], moment[2]);
            random_turn(other_turn);
            inertia_of(near_by, k % 2 ? turn : other_turn, &other);
            CHECK(distance(&in, &other) / size > more / sqrt(3) - 10 * near);
        }
    }
}

/* In any axes the bound is an eigenvalue of -1e-5 of the trace, of the inertia or of the second
   moments, which are half the trace less the inertia. */
static void test_threshold(void) {
    TOLERANCE(near, 1e-9, 0.03, 1e-3);
    random_seed(2);
    for (int i = 0; i < 3000; i++) {
        const int outside = i % 2, triangle = i / 2 % 2;
        const double under = outside ? -1e-5 * (1 + near) : -1e-5 * (1 - near);
        const double share = triangle ? random_in(0.01, 1) * (i % 3 ? 1 : 1e-3) : 0.5;
        const double rest = (triangle ? 0.5 : 1) - under;
        double moment[3] = { under, share * rest, (1 - share) * rest }, turn[3][3];
        mdyn_inertia in;
        for (int k = 0; triangle && k < 3; k++) {
            moment[k] = 0.5 - moment[k];
        }
        random_turn(turn);
        inertia_of(moment, turn, &in);
        if (of_wide(in.xx) < 0 || of_wide(in.yy) < 0 || of_wide(in.zz) < 0) {
            continue; /* wrong however little */
        }
        CHECK_EQUAL(init_with(&in, 0),
                    !outside ? MDYN_OK : triangle ? MDYN_ERR_TRIANGLE : MDYN_ERR_INERTIA);
    }
}

/* Rods and discs stand at the bound, and rounding in a table of five digits is accepted. */
static void test_bound(void) {
    const double valid[][3] = { { 0, 1, 1 }, { 1, 1, 2 }, { 0, 0, 0 }, { 0.3, 0.7, 1 },
                                { 0.33333, 0.66667, 1.00001 } };
    const double turn[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    double copy[3][3];
    mdyn_inertia in;
    mdyn_wide excess;
    memcpy(copy, turn, sizeof turn);
    for (int i = 0; i < 5; i++) {
        inertia_of(valid[i], copy, &in);
        CHECK_EQUAL(init_with(&in, 0), MDYN_OK);
        CHECK_EQUAL(mdyn_valid_inertia(&in, &in, &excess), MDYN_OK);
    }
    in.xx = wide(-1);
    CHECK_EQUAL(mdyn_valid_inertia(&in, &in, &excess), MDYN_ERR_INERTIA);
    bad_wide(&in.xx, 0);
    CHECK_EQUAL(mdyn_valid_inertia(&in, &in, &excess), MDYN_ERR_NOT_FINITE);
    CHECK_EQUAL(mdyn_valid_inertia(NULL, &in, &excess), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_valid_inertia(&in, NULL, &excess), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_valid_inertia(&in, &in, NULL), MDYN_ERR_NULL);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_excess();
    test_threshold();
    test_bound();
    return check_end();
}
