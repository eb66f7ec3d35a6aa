/* mdyn_project: the state moved onto the couplings, the shortest way in the metric of M, or by
   the followers alone. */
#include "knobs.h"
#include "check.h"
#include "truth.h"

/* What the checks allow, some three to ten times the worst of -s 1, 2 and 3. */
/*                          F64   F32  FIXED */
TOLERANCE(SPEED,          1e-14, 6e-6,  6e-7);
TOLERANCE(PLACE,          3e-13, 1e-4,  8e-6);
TOLERANCE(COUPLING_PLACE, 5e-14, 3e-5,  5e-7);
TOLERANCE(COUPLING_SPEED, 6e-14, 3e-5,  5e-7);
TOLERANCE(SOFT,           1e-16, 1e-7, 4e-12);
TOLERANCE(FOLLOWER_PLACE, 5e-15, 2e-6, 6e-12);
TOLERANCE(FOLLOWER_SPEED, 1e-15, 5e-6, 2e-11);
TOLERANCE(FIRST_TERM,     1e-15, 2e-7, 3e-12);
TOLERANCE(TWICE_PLACE,    2e-14, 6e-6,  7e-9);
TOLERANCE(TWICE_SPEED,    5e-15, 4e-6,  4e-9);
TOLERANCE(POSE,           7e-15, 4e-6,  3e-8);
TOLERANCE(POSE_ROTATION,  1e-14, 3e-6,  5e-8);
TOLERANCE(CONTRADICTION,  8e-15, 4e-6,  4e-9);

/* With MIMICDYN_EXACT 0 couplings end as closed, but by a way so many times less exact. */
static const double iterations = MIMICDYN_EXACT ? 1 : 50;

static mdyn_sim sim;
static mechanism mech;
static truth t;

static void couple(int follower, int leader, double multiplier, double offset) {
    mdyn_coupling c = mimic_of(follower, leader, multiplier, offset);
    mech.coupling[mech.model.coupling_count++] = c;
}

/* C and C' of a coupling in the present state. */
static double coupling_error(const mdyn_coupling *c, int speeds) {
    double sum = speeds ? -of_wide(c->target_velocity) : of_wide(c->offset) - of_wide(c->lower);
    for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        int body = c->terms[k].body;
        double f = of_wide(c->terms[k].coefficient);
        sum += f * of_real(speeds ? sim.v[t.dof[body]] : sim.q[t.coordinate[body]]);
    }
    return sum;
}

/* The dense answer: d = M^-1 J' (J M^-1 J')^-1 (wanted - J x), of positions or of speeds. */
static void shortest_way(int count, int speeds, ld *d) {
    static truth_system e;
    static ld L[TN][TN], B[TC][TN], J[TC][TN];
    int n = t.dofs;
    memcpy(L, t.M, sizeof L);
    CHECK(truth_cholesky(L, n));
    memset(J, 0, sizeof J);
    e.n = count;
    for (int i = 0; i < count; i++) {
        const mdyn_coupling *c = &mech.coupling[i];
        for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
            J[i][t.dof[c->terms[k].body]] += (ld)of_wide(c->terms[k].coefficient);
        }
        memcpy(B[i], J[i], sizeof B[i]);
        truth_back(L, n, B[i]);
        e.b[i] = -(ld)coupling_error(c, speeds);
    }
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++) {
            e.A[i][j] = 0;
            for (int k = 0; k < n; k++) {
                e.A[i][j] += B[i][k] * J[j][k];
            }
        }
    }
    CHECK_EQUAL(truth_solve(&e, 1e-15L), count);
    for (int k = 0; k < n; k++) {
        d[k] = 0;
        for (int i = 0; i < count; i++) {
            d[k] += B[i][k] * e.x[i];
        }
    }
}

/* A tree of 4 to 8 joints of one speed, a ball on it, and a free body. */
static void random_mechanism(void) {
    int last = 4 + random_int(5);
    mechanism_random(&mech, last, last, ONE_SPEED | ARMATURES);
    mech.body[last] = mech.body[last - 1];
    mech.body[last].parent = (int16_t)random_int(last);
    mech.body[last].joint = MDYN_SPHERICAL;
    mech.body[last + 1] = mech.body[last];
    mech.body[last + 1].joint = MDYN_FREE;
    mech.body[last + 1].armature = wide(0);
    mech.model.body_count = last + 2;
}

static void test_mass_metric(void) {
    for (int k = 0; k < 60; k++) {
        ld place[TN], speed[TN], after[TN];
        random_mechanism();
        int joints = mech.model.body_count - 2, count = 1 + random_int(joints - 1);
        for (int i = 0; i < count; i++) { /* followers all different: independent */
            int leader = random_int(i + 1);
            double multiplier = random_in(-2, 2), offset = random_in(-1, 1);
            couple(i + 1, leader, multiplier, offset);
            mech.coupling[i].terms[2].body = (int16_t)(i == 0 ? 2 : 0);
            mech.coupling[i].target_velocity = wide(random_int(2) ? random_in(-1, 1) : 0);
        }
        CHECK_EQUAL(but_for_start(mdyn_init(&sim, &mech.model)), MDYN_OK);
        truth_init(&t, &mech.model);
        sim_random(&sim, &mech.model, 2, 0);
        truth_copy(&t, &sim);
        truth_update(&t, &mech.model);
        shortest_way(count, 0, place);
        shortest_way(count, 1, speed);
        CHECK_EQUAL(mdyn_project(&sim, MDYN_MASS_METRIC), MDYN_OK);
        for (int i = 0; i < t.dofs; i++) {
            after[i] = t.v[i] + speed[i];
        }
        double scale = norm_speed(&t, t.v) + norm_speed(&t, speed);
        CHECK_NEAR(speed_error(&t, &sim, after), 0, SPEED * iterations * scale);
        truth_move(&t, &mech.model, place, 1);
        for (int i = 0; i < t.coordinates; i++) {
            CHECK_NEAR(of_real(sim.q[i]), (double)t.q[i], PLACE * iterations);
        }
        for (int i = 0; i < count; i++) {
            CHECK_NEAR(coupling_error(&mech.coupling[i], 0), 0, COUPLING_PLACE);
            CHECK_NEAR(coupling_error(&mech.coupling[i], 1), 0, COUPLING_SPEED);
        }
    }
}

/* Springs, ranges and couplings of bounded effort are not projected onto. */
static void test_soft_rows_stay(void) {
    random_mechanism();
    mdyn_softness spring = MDYN_SPRING(100, 1);
    couple(1, 0, 1.5, 0.5);
    couple(2, 1, -1, 0.25);
    couple(3, 0, 2, 1);
    mech.coupling[0].softness = spring;
    mech.coupling[1].effort = wide(1);
    mech.coupling[2].upper = wide(0.5);
    for (int metric = 0; metric < 2; metric++) {
        CHECK_EQUAL(but_for_start(mdyn_init(&sim, &mech.model)), MDYN_OK);
        truth_init(&t, &mech.model);
        sim_random(&sim, &mech.model, 2, 0);
        truth_copy(&t, &sim);
        CHECK_EQUAL(mdyn_project(&sim, (mdyn_metric)metric), MDYN_OK);
        for (int i = 0; i < 4; i++) {
            CHECK_NEAR(of_real(sim.q[i]), (double)t.q[i], SOFT);
            CHECK_NEAR(of_real(sim.v[i]), (double)t.v[i], SOFT);
        }
    }
}

/* A chain of mimics in all orders of declaration: leaders do not move by a bit, followers go
   where the products of the ratios lead, and their speeds too. */
static void test_followers(void) {
    static const double m[] = { 1.5, -0.75, 2 }, o[] = { 0.5, -0.25, 0.125 };
    static const int orders[6][3] = {
        { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 }
    };
    for (int k = 0; k < 6; k++) {
        random_mechanism();
        for (int i = 0; i < 3; i++) {
            int link = orders[k][i];
            couple(link + 1, link, m[link], o[link]);
        }
        CHECK_EQUAL(but_for_start(mdyn_init(&sim, &mech.model)), MDYN_OK);
        truth_init(&t, &mech.model);
        sim_random(&sim, &mech.model, 2, 0);
        truth_copy(&t, &sim);
        CHECK_EQUAL(mdyn_project(&sim, MDYN_FOLLOWERS), MDYN_OK);
        double q = of_real(sim.q[0]), v = of_real(sim.v[0]);
        CHECK(q == (double)t.q[0] && v == (double)t.v[0]);
        for (int i = 0; i < 3; i++) {
            q = m[i] * q + o[i];
            v = m[i] * v;
            CHECK_NEAR(of_real(sim.q[i + 1]), q, FOLLOWER_PLACE);
            CHECK_NEAR(of_real(sim.v[i + 1]), v, FOLLOWER_SPEED);
        }
        for (int i = 4; i < t.coordinates; i++) {
            CHECK(of_real(sim.q[i]) == (double)t.q[i]);
        }
    }
}

/* A differential: the first joint named is the one that follows. */
static void test_first_term_follows(void) {
    random_mechanism();
    mdyn_coupling c = MDYN_GEAR3(2, 2, 0, 1, 1, 1, -0.5);
    mech.coupling[mech.model.coupling_count++] = c;
    CHECK_EQUAL(but_for_start(mdyn_init(&sim, &mech.model)), MDYN_OK);
    truth_init(&t, &mech.model);
    sim_random(&sim, &mech.model, 2, 0);
    double q0 = of_real(sim.q[0]), q1 = of_real(sim.q[1]);
    CHECK_EQUAL(mdyn_project(&sim, MDYN_FOLLOWERS), MDYN_OK);
    CHECK(of_real(sim.q[0]) == q0 && of_real(sim.q[1]) == q1);
    CHECK_NEAR(of_real(sim.q[2]), (0.5 - q0 - q1) / 2, FIRST_TERM);
}

/* Rows that cannot all hold: a warning; they meet in the middle, or the follower obeys the last. */
static void test_contradiction(void) {
    for (int metric = 0; metric < 2; metric++) {
        random_mechanism();
        couple(1, 0, 2, 0);
        couple(1, 0, 2, 1);
        CHECK_EQUAL(mdyn_init(&sim, &mech.model), MIMICDYN_WARNINGS ? MDYN_WARN_CONTRADICTION
                                                                    : MDYN_OK);
        truth_init(&t, &mech.model);
        sim_random(&sim, &mech.model, 1, 0);
        CHECK_EQUAL(mdyn_project(&sim, (mdyn_metric)metric), MDYN_WARN_CONTRADICTION);
        if (!MIMICDYN_EXACT && metric == MDYN_MASS_METRIC) continue; /* wherever iterations end */
        double miss = metric == MDYN_MASS_METRIC ? 0.5 : 1;
        CHECK_NEAR(coupling_error(&mech.coupling[0], 0), miss, CONTRADICTION);
        CHECK_NEAR(coupling_error(&mech.coupling[1], 0), miss - 1, CONTRADICTION);
        /* met in the middle by exact rows; iterated, the second one holds and the first misses */
        CHECK_EQUAL(mdyn_step(&sim), MIMICDYN_EXACT ? MDYN_OK : MDYN_WARN_NOT_CONVERGED);
    }
}

/* What is closed stays, and projecting twice is projecting once. */
static void test_idempotent(void) {
    for (int metric = 0; metric < 2; metric++) {
        random_mechanism();
        couple(1, 0, -1.25, 0.5);
        couple(3, 1, 0.5, 0.25);
        CHECK_EQUAL(but_for_start(mdyn_init(&sim, &mech.model)), MDYN_OK);
        truth_init(&t, &mech.model);
        sim_random(&sim, &mech.model, 2, 0);
        CHECK_EQUAL(mdyn_project(&sim, (mdyn_metric)metric), MDYN_OK);
        truth_copy(&t, &sim);
        CHECK_EQUAL(mdyn_project(&sim, (mdyn_metric)metric), MDYN_OK);
        for (int i = 0; i < t.coordinates; i++) {
            CHECK_NEAR(of_real(sim.q[i]), (double)t.q[i], TWICE_PLACE);
        }
        for (int i = 0; i < t.dofs; i++) {
            CHECK_NEAR(of_real(sim.v[i]), (double)t.v[i], TWICE_SPEED);
        }
    }
}

/* The poses follow at once. */
static void test_pose_follows(void) {
    mdyn_real3 position;
    mdyn_real4 quaternion;
    random_mechanism();
    couple(2, 0, 2, 0.5);
    CHECK_EQUAL(but_for_start(mdyn_init(&sim, &mech.model)), MDYN_OK);
    truth_init(&t, &mech.model);
    for (int metric = 0; metric < 2; metric++) {
        sim_random(&sim, &mech.model, 1, 0);
        CHECK_EQUAL(mdyn_pose(&sim, 2, &position, &quaternion), MDYN_OK);
        CHECK_EQUAL(mdyn_project(&sim, (mdyn_metric)metric), MDYN_OK);
        CHECK_EQUAL(mdyn_pose(&sim, 2, &position, &quaternion), MDYN_OK);
        truth_copy(&t, &sim);
        truth_update(&t, &mech.model);
        CHECK_NEAR(of_real(position.x), (double)t.o[2][0], POSE);
        CHECK_NEAR(of_real(position.y), (double)t.o[2][1], POSE);
        CHECK_NEAR(of_real(position.z), (double)t.o[2][2], POSE);
        ld R[3][3], q[4] = { (ld)of_real(quaternion.w), (ld)of_real(quaternion.x),
                             (ld)of_real(quaternion.y), (ld)of_real(quaternion.z) };
        t_quaternion(R, q);
        for (int i = 0; i < 9; i++) {
            CHECK_NEAR((double)R[i / 3][i % 3], (double)t.R[2][i / 3][i % 3], POSE_ROTATION);
        }
    }
}

/* A way that leads out of range is not taken at all, and what follows is as if nobody had asked:
   the digits beyond q and v are there still. */
static void test_refused(void) {
    static mdyn_sim twin;
    random_mechanism();
    couple(1, 0, 1, 0);
    couple(2, 1, 8000000, 0);
    CHECK_EQUAL(but_for_start(mdyn_init(&sim, &mech.model)), MDYN_OK);
    for (int i = 0; i < 10; i++) {
        sim.tau[0] = real(0.7 * i);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    sim.q[0] = real(3);
    mdyn_mass_matrix(&sim, (mdyn_wide[TN * TN]){ wide(0) }); /* notices q */
    memcpy(&twin, &sim, sizeof sim);
    CHECK_EQUAL(mdyn_project(&sim, MDYN_FOLLOWERS), MDYN_ERR_OVERFLOW);
    CHECK_EQUAL(mdyn_project(&sim, (mdyn_metric)7), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_project(&sim, (mdyn_metric)-1), MDYN_ERR_INDEX);
    twin.culprit = sim.culprit;
    CHECK(check_same_sim(&twin, &sim));
    steps_agree(&sim, &twin, 10);
}

int main(int argc, char **argv) {
    static void (*const tests[])(void) = {
        test_mass_metric, test_soft_rows_stay, test_followers, test_first_term_follows,
        test_contradiction, test_idempotent, test_pose_follows, test_refused
    };
    check_begin(argc, argv);
    for (int i = 0; i < (int)(sizeof tests / sizeof *tests); i++) {
        random_seed((uint64_t)i + 1);
        tests[i]();
    }
    return check_end();
}
