/* >>build: links against the tables, the non-zeros of M, the list of rows, and that a replacement
   leaves what mdyn_init makes of the same tables, with sums that follow it. */
#define MIMICDYN_MAX_BODIES 6
#define MIMICDYN_MAX_DOFS 13
#define MIMICDYN_MAX_COUPLINGS 2
#define MIMICDYN_MAX_ROWS 44
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include "small_tree.h"

/* What the checks allow, some three to ten times the worst of -s 1, 2 and 3. */
/*                       F64      F32    FIXED */
TOLERANCE(LINK,        5e-15,    2e-6,    2e-8);
TOLERANCE(STOPPED,     1e-12,    2e-4,    1e-6);

static mdyn_sim fresh;

/* Q S Q^T for a symmetric matrix S as xx, yy, zz, xy, xz, yz. */
static void rotated(double *r, md_mat *Q, const double *s) {
    static const int place[3][3] = { { 0, 3, 4 }, { 3, 1, 5 }, { 4, 5, 2 } };
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            double sum = 0;
            for (int k = 0; k < 9; k++) {
                sum += number(md_mat_get(Q, 3 * i + k / 3)) * s[place[k / 3][k % 3]]
                    * number(md_mat_get(Q, 3 * j + k % 3));
            }
            r[place[i][j]] = sum;
        }
    }
}

/* Mass, first moment m com and inertia about the origin, turned back to the body's frame. */
static void test_links(void) {
    for (int n = 0; n < 30; n++) {
        small_tree();
        CHECK_EQUAL(mdyn_init(&sim, &tree_model), MDYN_OK);
        for (int i = 0; i < TREE_BODIES; i++) {
            const mdyn_body *b = &tree_body[i];
            md_mat Q;
            md_num s[6];
            double m = of_wide(b->mass), c[3], inside[6], got[6];
            md_joint_frame(&sim, i, &Q);
            md_sym_get(s, &sim.link[i].inertia);
            for (int k = 0; k < 3; k++) {
                c[k] = of_wide((&b->com.x)[k]);
            }
            for (int k = 0; k < 6; k++) {
                inside[k] = number(s[k]);
            }
            rotated(got, &Q, inside);
            double c2 = dot(c, c, 3);
            const double want[6] = {
                of_wide(b->inertia.xx) + m * (c2 - c[0] * c[0]),
                of_wide(b->inertia.yy) + m * (c2 - c[1] * c[1]),
                of_wide(b->inertia.zz) + m * (c2 - c[2] * c[2]),
                -m * c[0] * c[1], -m * c[0] * c[2], -m * c[1] * c[2]
            };
            CHECK_NEAR(number(sim.link[i].mass), m, LINK);
            for (int k = 0; k < 6; k++) {
                CHECK_NEAR(got[k], want[k], LINK);
            }
            for (int k = 0; k < 3; k++) {
                double h = 0;
                for (int j = 0; j < 3; j++) {
                    h += number(md_mat_get(&Q, 3 * k + j))
                        * number(md_vec_get(&sim.link[i].first_moment, j));
                }
                CHECK_NEAR(h, m * c[k], LINK);
            }
        }
    }
}

/* Row k of L lists the DoF by which M has an element with k: its own path to the world. */
static void test_nonzeros(void) {
    double M[TREE_DOFS * TREE_DOFS];
    small_tree();
    CHECK_EQUAL(mdyn_init(&sim, &tree_model), MDYN_OK);
    random_state();
    dense_mass_matrix(M);
    for (int k = 0; k < TREE_DOFS; k++) {
        int listed[TREE_DOFS] = { 0 };
        CHECK_EQUAL(sim.entry_column[sim.L_first[k]], k);
        for (int e = sim.L_first[k]; e < sim.L_first[k + 1]; e++) {
            CHECK_EQUAL(listed[sim.entry_column[e]]++, 0);
            CHECK(e == sim.L_first[k] || sim.entry_column[e] < sim.entry_column[e - 1]);
        }
        for (int j = 0; j <= k; j++) { /* a free joint's own axes may have an element of 0 */
            CHECK(listed[j] || fabs(M[k * TREE_DOFS + j]) < 1e-12);
        }
    }
}

/* ---- rows ---- */

/* Any numbers of body i that may change while it runs: they decide which rows it has. */
static void random_values(int i) {
    mdyn_body *b = &tree_body[i];
    b->friction = wide(random_int(2) ? 0.25 : 0);
    b->damping = wide(random_in(0, 0.1));
    b->drive_kd = wide(0);
    b->lower = b->upper = wide(0);
    if (tree_body[i].joint == MDYN_FREE || tree_body[i].joint == MDYN_SPHERICAL) {
        return;
    }
    b->armature = wide(random_in(0, 0.1));
    b->drive_kd = wide(random_int(2) ? 1 : 0);
    if (random_int(2)) {
        b->lower = wide(-5);
        b->upper = wide(6);
    }
}

/* The row that comes next in the list, if it is this one. */
static void row_is(int *at, mdyn_row_kind kind, int index, int wanted) {
    if (wanted) {
        CHECK(*at < sim.rows && sim.slot[*at].row.kind == kind && sim.slot[*at].row.index == index);
        (*at)++;
    }
}

/* By kind, then by DoF: what the tables ask for, and nothing else. */
static void check_rows(void) {
    int at = 0, drives = 0;
    for (int i = 0; i < tree_model.coupling_count; i++) {
        row_is(&at, MDYN_ROW_COUPLING, i, 1);
    }
    for (int i = 0; i < tree_model.coupling_count; i++) {
        row_is(&at, MDYN_ROW_LOSS, i, of_wide(tree_coupling[i].efficiency) != 0);
    }
    for (int kind = MDYN_ROW_DRIVE; kind <= MDYN_ROW_LIMIT; kind++) {
        for (int i = 0; i < TREE_BODIES; i++) {
            const mdyn_body *b = &tree_body[i];
            int has = kind == MDYN_ROW_DRIVE ? of_wide(b->drive_kd) != 0
                : kind == MDYN_ROW_FRICTION ? of_wide(b->friction) != 0 : of_wide(b->upper) != 0;
            for (int k = 0; k < md_joint_dofs(b->joint); k++) {
                row_is(&at, (mdyn_row_kind)kind, mdyn_first_dof(&sim, i) + k, has);
                drives += has && kind == MDYN_ROW_DRIVE;
            }
        }
    }
    CHECK_EQUAL(sim.rows, at);
    CHECK_EQUAL(sim.drives, drives);
}

/* The sums that the setters carry along are those over all bytes. */
static void check_sums(void) {
    CHECK(sim.constants_sum == md_sum_constants(&sim));
}

/* After any replacements the sim holds what mdyn_init makes of the tables as they are then. */
static void test_replacements(void) {
    for (int n = 0; n < 30; n++) {
        mdyn_coupling gear = MDYN_GEAR(1, 2, 3, 3, 0);
        small_tree();
        for (int i = 0; i < TREE_BODIES; i++) {
            random_values(i);
        }
        tree_coupling[0] = gear;
        tree_coupling[0].efficiency = wide(n % 2 ? 0.9 : 0);
        tree_model.coupling_count = 1;
        CHECK(mdyn_init(&sim, &tree_model) >= 0);
        check_rows();
        check_sums();
        for (int change = 0; change < 10; change++) {
            int i = random_int(TREE_BODIES);
            random_values(i);
            CHECK(mdyn_set_body(&sim, i, &tree_body[i]) >= 0);
            check_rows();
            check_sums();
        }
        tree_coupling[0].terms[1].coefficient = wide(random_in(1, 2));
        CHECK(mdyn_set_coupling(&sim, 0, &tree_coupling[0]) >= 0);
        check_sums();
        tree_model.gravity.x = wide(random_in(-1, 1));
        CHECK_EQUAL(mdyn_set_gravity(&sim, &tree_model.gravity), MDYN_OK);
        check_sums();
        tree_model.dt = wide(random_in(1e-4, 1e-2));
        CHECK_EQUAL(mdyn_set_dt(&sim, tree_model.dt), MDYN_OK);
        check_sums();
        tree_model.solver.iterations = (uint16_t)(1 + random_int(50));
        CHECK_EQUAL(mdyn_set_solver(&sim, &tree_model.solver), MDYN_OK);
        check_sums();
        CHECK(mdyn_init(&fresh, &tree_model) >= 0);
        CHECK_EQUAL(fresh.rows, sim.rows);
        CHECK(memcmp(fresh.joint_values, sim.joint_values, sizeof sim.joint_values) == 0);
        CHECK(memcmp(fresh.springs, sim.springs, sizeof sim.springs) == 0);
        CHECK(memcmp(fresh.coupling, sim.coupling, sizeof sim.coupling) == 0);
        for (int k = 0; k < sim.rows; k++) {
            const md_row *is = &fresh.slot[k].row, *was = &sim.slot[k].row;
            CHECK(is->kind == was->kind && is->index == was->index
                  && is->unbounded == was->unbounded);
        }
    }
}

/* A refused replacement leaves rows, numbers and sums as they were. */
static void test_refused(void) {
    small_tree();
    random_values(1);
    CHECK(mdyn_init(&sim, &tree_model) >= 0);
    fresh = sim;
    mdyn_body b = tree_body[1];
    b.joint = MDYN_PRISMATIC;
    CHECK_EQUAL(mdyn_set_body(&sim, 1, &b), MDYN_ERR_FROZEN);
    b = tree_body[1];
    b.friction = wide(-1);
    CHECK(mdyn_set_body(&sim, 1, &b) < 0);
    CHECK(memcmp(fresh.joint_values, sim.joint_values, sizeof sim.joint_values) == 0);
    CHECK(memcmp(fresh.link, sim.link, sizeof sim.link) == 0);
    check_rows();
    check_sums();
}

/* ---- what a fresh sim knows ---- */

/* Two sliders of which the second follows the first at twice its way, at a start pose; the first
   has stops at -1 and 1. */
static int init_pair(mdyn_sim *pair, const mdyn_real *start) {
    static const mdyn_body bodies[] = {
        MDYN_BODY(MDYN_WORLD, MDYN_SLIDES(1, 0, 0), MDYN_AT(0, 0, 0), MDYN_POINT_MASS(1),
                  MDYN_LIMITS(-1, 1), "leader"),
        MDYN_BODY(MDYN_WORLD, MDYN_SLIDES(1, 0, 0), MDYN_AT(0, 0, 0), MDYN_POINT_MASS(3),
                  MDYN_PASSIVE, "follower"),
    };
    static const mdyn_coupling couplings[] = { MDYN_MIMIC(1, 0, 2, 0) };
    static mdyn_model model = MDYN_MODEL(bodies, 2, couplings, 1, MDYN_V3(0, 0, 0), 0.001);
    model.start = start;
    return mdyn_init(pair, &model);
}

/* A start pose is as good as the same numbers written after mdyn_init, on the coupling and off it:
   a fresh sim knows which of them it is, the other one looks. */
static void test_start(void) {
    static mdyn_sim written;
    for (int off = 0; off < 2; off++) {
        const mdyn_real start[] = { real(0.25), real(off ? 0.75 : 0.5) };
        CHECK_EQUAL(init_pair(&fresh, start), off ? MDYN_WARN_OFF_COUPLING : MDYN_OK);
        CHECK_EQUAL(fresh.q_may_be_off != 0, off);
        CHECK_EQUAL(fresh.has_off | fresh.may_be_off, 0);
        CHECK_EQUAL(init_pair(&written, NULL), MDYN_OK);
        memcpy(written.q, start, sizeof start);
        for (int i = 0; i < 50; i++) {
            fresh.tau[0] = written.tau[0] = real(i);
            CHECK_EQUAL(mdyn_step(&fresh), mdyn_step(&written));
            CHECK(memcmp(fresh.q, written.q, sizeof fresh.q) == 0);
            CHECK(memcmp(fresh.v, written.v, sizeof fresh.v) == 0);
        }
        CHECK(of_real(fresh.v[0]) > 0);
    }
}

/* A limit is met if the joint passes it from within by its velocity. */
static void test_met_limits(void) {
    static const struct { double q, v; int met; } at[] = {
        { 0.5, 0, 0 }, { 0.5, 499, 0 }, { 0.5, 501, 1 }, { -0.5, -499, 0 }, { -0.5, -501, 1 },
        { 1, -1, 0 }, { 1, 1, 1 }, { -1, 1, 0 }, { -1, -1, 1 }, { 0, 3000, 1 },
        { 1.5, 1, 0 }, { 1.5, -1, 0 }, { 1.5, -3000, 1 }, { -1.5, -1, 0 }, { -1.5, 1, 0 },
    };
    CHECK_EQUAL(init_pair(&fresh, NULL), MDYN_OK);
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        int limits = 0;
        fresh.q[0] = real(at[i].q);
        fresh.v[0] = real(at[i].v);
        for (int k = 0; k < fresh.rows; k++) {
            if (md_row_at(&fresh, k)->kind != MDYN_ROW_LIMIT) continue;
            limits++;
            CHECK_EQUAL(md_meets_limit(&fresh, md_row_at(&fresh, k)), at[i].met);
        }
        CHECK_EQUAL(limits, 1);
    }

    /* it takes part from the start: no row is left that a second solve might need. From the middle
       of the step, 0.5 + 0.3, the stop allows what reaches it in a step */
    CHECK_EQUAL(init_pair(&fresh, NULL), MDYN_OK);
    fresh.q[0] = real(0.5);
    fresh.q[1] = real(1);
    fresh.v[0] = real(600);
    fresh.v[1] = real(1200);
    CHECK_EQUAL(mdyn_step(&fresh), MDYN_OK);
    CHECK_EQUAL(fresh.may_activate, 0);
    CHECK_NEAR(of_real(fresh.v[0]), (1 - (0.5 + 0.3)) / 0.001, STOPPED);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_links();
    test_nonzeros();
    test_replacements();
    test_refused();
    test_start();
    test_met_limits();
    return check_end();
}
