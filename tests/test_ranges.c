/* What limits and ratios leave a joint, and fixed joints in couplings.

   The truth: a leader of range [a, b] and a follower q_f = ratio q + offset with limits [l, u]
   leave the intersection of [a, b] and ([l, u] - offset)/ratio. */
#include "knobs.h"
#include "check.h"
#include "sims.h"

/*                 F64   F32 FIXED */
TOLERANCE(SUMS, 1e-14, 1e-5, 1e-7);

static mdyn_body body[8];
static mdyn_coupling coupling[8];
static mdyn_model model;
static mdyn_sim sim;

/* Rotors without limits; no coupling. */
static void begin(int bodies) {
    memset(body, 0, sizeof body);
    memset(&model, 0, sizeof model);
    for (int i = 0; i < bodies; i++) {
        body[i].parent = MDYN_WORLD;
        body[i].joint = MDYN_REVOLUTE;
        body[i].armature = wide(1);
    }
    model.bodies = body;
    model.body_count = bodies;
    model.couplings = coupling;
    model.dt = wide(0.001);
}

static void limit(int i, double lower, double upper) {
    body[i].lower = wide(lower);
    body[i].upper = wide(upper);
}

static void couple(int follower, int leader, double ratio, double offset) {
    coupling[model.coupling_count++] = mimic_of(follower, leader, ratio, offset);
}

/* The Robotiq 2F-85 as its file has it: all followers within [0, 0.8757], two of them with -1. */
static void test_gripper(void) {
    static const double ratio[] = { 1, -1, 1, -1, 1 };
    begin(6);
    limit(0, 0, 0.8);
    for (int i = 1; i < 6; i++) {
        couple(i, 0, ratio[i - 1], 0);
        limit(i, 0, 0.8757);
    }
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_WARN_FROZEN_RANGE);
    CHECK_EQUAL(sim.culprit.code, MDYN_WARN_FROZEN_RANGE);
    CHECK_EQUAL(sim.culprit.index, 2);
    limit(2, -0.8757, 0);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_WARN_FROZEN_RANGE);
    CHECK_EQUAL(sim.culprit.index, 4);
    limit(4, 0, 0);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    limit(0, 0, 0); /* a leader without limits keeps those of its followers */
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    limit(4, 0, 0.8757);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_WARN_FROZEN_RANGE);
}

/* Random leader and follower: warned of if, and only if, less than half is left. */
static void test_half(void) {
    int warned = 0, left_alone = 0;
    random_seed(1);
    for (int i = 0; i < 3000; i++) {
        const double a = random_in(-3, 3), b = a + random_in(0.1, 3);
        const double sign = random_int(2) ? 1 : -1, ratio = sign * random_in(0.2, 5);
        const double offset = random_in(-1, 1), middle = random_in(a, b);
        const double from = fmax(a, middle - random_in(0.01, 2)), to = middle + random_in(0.01, 2);
        const double one = ratio * from + offset, other = ratio * to + offset;
        const double share = (fmin(to, b) - from) / (b - a);
        begin(3);
        limit(0, a, b);
        couple(1, 0, ratio, offset);
        limit(1, fmin(one, other), fmax(one, other));
        if (fabs(share - 0.5) < 0.01) {
            continue;
        }
        if (i % 3 == 0) { /* over a joint between them that has no limits */
            body[2] = body[1];
            limit(1, 0, 0);
            couple(2, 1, 1, 0);
        }
        CHECK_EQUAL(but_for_start(mdyn_init(&sim, &model)),
                    share < 0.5 ? MDYN_WARN_FROZEN_RANGE : MDYN_OK);
        CHECK(share > 0.5 || sim.culprit.index == (i % 3 == 0 ? 2 : 1));
        warned += share < 0.5;
        left_alone += share > 0.5;
    }
    CHECK(warned > 500 && left_alone > 500);
}

/* A follower whose range its leader does not use up is nothing to warn of, and neither are soft
   couplings, a range that is empty, or a leader that its own limits lock. */
static void test_no_frozen_range(void) {
    begin(2);
    limit(0, 0, 1);
    couple(1, 0, 1, 0);
    limit(1, -10, 10);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    limit(1, 0, 0.1);
    coupling[0].effort = wide(1);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    coupling[0].effort = wide(0);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_WARN_FROZEN_RANGE);
    limit(1, 2, 3);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_WARN_EMPTY_RANGE);
    limit(0, 0.5, 0.5);
    limit(1, 0, 1);
    CHECK_EQUAL(but_for_start(mdyn_init(&sim, &model)), MDYN_OK);
}

/* q1 = 2 q0, q1 = 3 q0 + offset: independent, and q0 = -offset is all that is left. Likewise a
   cycle of ratios whose product is not 1, and a gear of three joints on one shaft. */
static void test_locked(void) {
    for (int kind = 0; kind < 3; kind++) {
        for (int fits = 0; fits < 2; fits++) {
            begin(3);
            couple(1, 0, 2, 0);
            if (kind == 0) {
                couple(1, 0, fits ? 2 : 3, 0.25 * !fits);
            } else {
                couple(2, 1, 0.5, 0);
                couple(2, 0, 1 + 0.001 * !fits, 0);
            }
            if (kind == 2) {
                mdyn_coupling gear = MDYN_GEAR3(0, 1, 1, 1, 2, -3, 0); /* q0 + 2 q0 - 3 q0 */
                gear.terms[2].coefficient = wide(fits ? -3 : -3.5);
                coupling[2] = gear;
            }
            CHECK_EQUAL(mdyn_init(&sim, &model), fits ? MDYN_WARN_REDUNDANT : MDYN_WARN_LOCKED);
            CHECK_EQUAL(sim.culprit.index, kind == 0 ? 1 : 2);
        }
    }
}

/* ---- couplings of several leaders ----
   The truth: what limits and couplings leave the independent joints is a polytope, cut out by the
   limits of all joints, which are sums of these. Each joint is extreme in one of its corners, and
   each corner is where three limits are met: all of them are looked at. */

enum { JOINTS = 6, AXES = 3, PLANES = 2 * JOINTS };
typedef long double sum[AXES + 1]; /* coordinates of the independent joints, 1 */

static long double value_at(const sum s, const long double *y) {
    long double v = s[AXES];
    for (int k = 0; k < AXES; k++) {
        v += s[k] * y[k];
    }
    return v;
}

/* Where the planes a, b, c are 0; returns 0 if they nearly depend. */
static int corner(const sum a, const sum b, const sum c, long double *y) {
    const long double *p[] = { a, b, c };
    long double d = 0, part[AXES] = { 0, 0, 0 };
    for (int k = 0; k < AXES; k++) { /* Cramer, along the first column of each */
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        d += p[0][k] * (p[1][i] * p[2][j] - p[1][j] * p[2][i]);
        for (int r = 0; r < 3; r++) {
            const long double *u = p[(r + 1) % 3], *v = p[(r + 2) % 3];
            part[k] -= p[r][AXES] * (u[i] * v[j] - u[j] * v[i]);
        }
    }
    for (int k = 0; k < AXES; k++) {
        y[k] = part[k] / d;
    }
    return d > 1e-6L || d < -1e-6L;
}

/* The least and the largest value of each joint; returns whether there is one. */
static int find_extremes(sum *joint, long double (*range)[2]) {
    sum plane[PLANES];
    int corners = 0;
    for (int k = 0; k < JOINTS; k++) {
        memcpy(plane[2 * k], joint[k], sizeof(sum));
        memcpy(plane[2 * k + 1], joint[k], sizeof(sum));
        plane[2 * k][AXES] -= (long double)of_wide(body[k].lower);
        plane[2 * k + 1][AXES] -= (long double)of_wide(body[k].upper);
        range[k][0] = 1e9L;
        range[k][1] = -1e9L;
    }
    for (int a = 0; a < PLANES; a++) {
        for (int b = 0; b < a; b++) {
            for (int c = 0; c < b; c++) {
                long double y[AXES];
                int inside = corner(plane[a], plane[b], plane[c], y);
                for (int k = 0; k < JOINTS && inside; k++) {
                    inside = value_at(plane[2 * k], y) > -1e-9L
                        && value_at(plane[2 * k + 1], y) < 1e-9L;
                }
                for (int k = 0; k < JOINTS && inside; k++) {
                    range[k][0] = fminl(range[k][0], value_at(joint[k], y));
                    range[k][1] = fmaxl(range[k][1], value_at(joint[k], y));
                }
                corners += inside;
            }
        }
    }
    return corners > 0;
}

/* q_d = sum of ratio q + offset, of the joints 0 to d - 1 as the coupling names them. */
static void sum_up(int d, int count, const int *leader, sum *joint) {
    mdyn_coupling *c = &coupling[model.coupling_count++];
    const mdyn_coupling none = MDYN_GEAR3(0, 1, 0, 0, 0, 0, 0);
    const double scale = random_in(0.5, 2) * (random_int(2) ? 1 : -1);
    const double offset = random_in(-0.5, 0.5);
    const int at = random_int(count + 1); /* where the follower stands */
    *c = none;
    c->offset = wide(-scale * offset);
    memset(joint[d], 0, sizeof(sum));
    joint[d][AXES] = (long double)offset;
    for (int k = 0, i = 0; k <= count; k++) {
        const double ratio = random_in(0.3, 2) * (random_int(2) ? 1 : -1);
        c->terms[k].body = (int16_t)(k == at ? d : leader[i]);
        c->terms[k].coefficient = wide(k == at ? scale : -scale * ratio);
        for (int a = 0; a <= AXES && k != at; a++) {
            joint[d][a] += (long double)ratio * joint[leader[i]][a];
        }
        i += k != at;
    }
}

/* Three independent joints; q_3 of two or three, q_4 of q_3 alone, q_5 of the rest: a tree, where
   ranges are exact, or with a joint that leads twice, where none is lost. */
static void test_several_leaders(void) {
    int exact = 0, empty = 0, missed = 0, wide_ones = 0;
    random_seed(7);
    for (int n = 0; n < 3000; n++) {
        const int ring = n % 2, all[] = { 0, 1, 2 }, one[] = { 3 };
        const int last[] = { ring ? 1 : 2, 4 };
        sum joint[JOINTS];
        long double range[JOINTS][2];
        begin(JOINTS);
        memset(joint, 0, sizeof joint);
        for (int k = 0; k < JOINTS; k++) {
            limit(k, random_in(-3, -0.1), random_in(0.1, 3));
            if (k > 2 && random_int(4) == 0) {
                limit(k, random_in(1, 4), 5);
            }
            joint[k][k < AXES ? k : 0] = k < AXES;
        }
        sum_up(3, ring && random_int(2) ? 3 : 2, all, joint);
        sum_up(4, 1, one, joint);
        sum_up(5, 2, last, joint);
        const int some = find_extremes(joint, range);
        const int code = mdyn_init(&sim, &model);
        CHECK(code >= 0 && (some ? code != MDYN_WARN_EMPTY_RANGE : 1));
        for (int k = 0; k < JOINTS; k++) {
            mdyn_wide lower, upper;
            const int told = mdyn_range(&sim, k, &lower, &upper);
            const double lo = of_wide(lower), hi = of_wide(upper);
            if (!some) {
                missed += told == MDYN_OK;
                empty += told == MDYN_WARN_EMPTY_RANGE;
                CHECK(ring || told == MDYN_WARN_EMPTY_RANGE
                      || hi - lo < 1e-5); /* empty by less than a rounding */
                continue;
            }
            if (told == MDYN_WARN_EMPTY_RANGE) { /* a corner is all there is */
                CHECK_NEAR((double)(range[k][1] - range[k][0]), 0, 1e-5);
                continue;
            }
            CHECK_EQUAL(told, MDYN_OK);
            CHECK(lo < (double)range[k][0] + SUMS && hi > (double)range[k][1] - SUMS);
            if (ring) {
                wide_ones += lo < (double)range[k][0] - SUMS || hi > (double)range[k][1] + SUMS;
                continue;
            }
            CHECK_NEAR(lo, (double)range[k][0], SUMS);
            CHECK_NEAR(hi, (double)range[k][1], SUMS);
            exact++;
        }
    }
    printf("%d ranges exact, %d empty; of rings %d wider, %d not seen to be empty\n", exact, empty,
           wide_ones, missed);
    CHECK(exact > 3000 && empty > 1000 && wide_ones > 0);
}

/* Open ends, ranges of C, released couplings: q_0 + q_1 - 2 q_2 in [lower, upper]. */
static void test_open_sums(void) {
    mdyn_wide lower, upper;
    mdyn_coupling gear = MDYN_GEAR3(0, 1, 1, 1, 2, -2, 0.5);
    begin(3);
    model.coupling_count = 1;
    coupling[0] = gear;
    limit(0, -1, 1);
    limit(1, 0, 1e12);
    CHECK(mdyn_init(&sim, &model) >= 0);
    CHECK_EQUAL(mdyn_range(&sim, 2, &lower, &upper), MDYN_OK);
    CHECK_NEAR(of_wide(lower), -0.25, SUMS); /* (-1 + 0 + 0.5)/2 */
    CHECK(of_wide(upper) > 9e11);
    limit(2, -1, 0);
    CHECK(mdyn_init(&sim, &model) >= 0);
    CHECK_EQUAL(mdyn_range(&sim, 1, &lower, &upper), MDYN_OK);
    CHECK_NEAR(of_wide(lower), 0, SUMS);
    CHECK_NEAR(of_wide(upper), 0.5, SUMS); /* 2 q_2 - q_0 - 0.5 <= 0.5 */
    coupling[0].lower = wide(-1);
    coupling[0].upper = wide(2);
    CHECK(mdyn_init(&sim, &model) >= 0);
    CHECK_EQUAL(mdyn_range(&sim, 1, &lower, &upper), MDYN_OK);
    CHECK_NEAR(of_wide(upper), 2.5, SUMS);
    coupling[0].upper = MDYN_UNLIMITED;
    CHECK(mdyn_init(&sim, &model) >= 0);
    CHECK_EQUAL(mdyn_range(&sim, 1, &lower, &upper), MDYN_OK);
    CHECK(of_wide(upper) > 9e11);
    CHECK_EQUAL(mdyn_range(&sim, 2, &lower, &upper), MDYN_OK);
    CHECK_NEAR(of_wide(lower), -1, SUMS);
    coupling[0].upper = wide(2);
    coupling[0].effort = wide(1); /* yields: bounds nothing */
    CHECK(mdyn_init(&sim, &model) >= 0);
    CHECK_EQUAL(mdyn_range(&sim, 1, &lower, &upper), MDYN_OK);
    CHECK(of_wide(upper) > 9e11);
}

/* A joint that was made fixed, with the tags of its couplings kept. */
static void test_fixed_joints(void) {
    for (int i = 0; i < 2; i++) {
        begin(2);
        couple(1, 0, 2, 0);
        body[i].joint = MDYN_FIXED;
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_ERR_TERM_FIXED);
        CHECK_EQUAL(sim.culprit.index, 0);
    }
    begin(2);
    couple(1, 0, 2, 0);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    coupling[0].terms[1].body = 2;
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_ERR_TERM);
    coupling[0].terms[1].body = 0;
    coupling[0].terms[1].axis = 1;
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_ERR_TERM_AXIS);
    coupling[0].terms[1].axis = 0;
    coupling[0].terms[0].body = 0;
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_ERR_TERM_TWICE);
}

/* Which bound a limit or the range of a coupling acts at, in every mode: a rotor is pushed against
   it; inside of it none. */
static void test_acting_bounds(void) {
    static const mdyn_limits limits[] = { MDYN_SPECULATIVE, MDYN_ENGAGED };
    for (int mode = 0; mode < 4; mode++) {
        for (int push = -1; push <= 1; push++) {
            for (int by_coupling = 0; by_coupling < 2; by_coupling++) {
                mdyn_row_report r;
                begin(1);
                if (by_coupling) {
                    mdyn_coupling one = MDYN_MIMIC(0, 0, 0, 0);
                    one.terms[1].coefficient = wide(0);
                    one.lower = wide(-0.25);
                    one.upper = wide(0.25);
                    coupling[0] = one;
                    model.coupling_count = 1;
                } else {
                    limit(0, -0.25, 0.25);
                }
                model.solver.method = mode / 2 ? MDYN_TGS : MDYN_PGS;
                model.solver.limits = limits[mode % 2];
                CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
                sim.tau[0] = real(10.0 * push);
                for (int s = 0; s < 600; s++) {
                    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
                }
                CHECK_EQUAL(mdyn_report_row(&sim, by_coupling ? MDYN_ROW_COUPLING : MDYN_ROW_LIMIT,
                                            0, &r), MDYN_OK);
                CHECK_EQUAL(r.flags & (MDYN_ROW_AT_LOWER | MDYN_ROW_AT_UPPER),
                            push < 0 ? MDYN_ROW_AT_LOWER : push > 0 ? MDYN_ROW_AT_UPPER : 0);
            }
        }
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_gripper();
    test_half();
    test_no_frozen_range();
    test_locked();
    test_fixed_joints();
    test_several_leaders();
    test_open_sums();
    test_acting_bounds();
    return check_end();
}
