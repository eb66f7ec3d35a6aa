/* >>model: numbers of joints and DoF, paths to the world, frames of axes, the marks of ready and
   busy, sums over bytes, against what the tables say. */
#define MIMICDYN_MAX_BODIES 6
#define MIMICDYN_MAX_DOFS 13
#define MIMICDYN_MAX_BODY_ROWS 1
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include "small_tree.h"

/* What the checks allow, some three to ten times the worst of -s 1, 2 and 3. */
/*                       F64      F32    FIXED */
TOLERANCE(FRAME,       3e-15,  1.5e-6,    1e-8);

static void test_joints(void) {
    static const struct { mdyn_joint joint; int dofs, coordinates; } kind[] = {
        { MDYN_FIXED, 0, 0 }, { MDYN_REVOLUTE, 1, 1 }, { MDYN_PRISMATIC, 1, 1 },
        { MDYN_HELICAL, 1, 1 }, { MDYN_SPHERICAL, 3, 4 }, { MDYN_FREE, 6, 7 }
    };
    for (size_t i = 0; i < sizeof kind / sizeof kind[0]; i++) {
        CHECK_EQUAL(md_joint_dofs(kind[i].joint), kind[i].dofs);
        CHECK_EQUAL(md_joint_coordinates(kind[i].joint), kind[i].coordinates);
    }
}

/* The DoF before k on the path to the world, by the tables: of its own joint, or the last of the
   next body on the path that has any. */
static int parent_dof(int body, int k) {
    if (k > mdyn_first_dof(&sim, body)) {
        return k - 1;
    }
    for (int i = tree_body[body].parent; i >= 0; i = tree_body[i].parent) {
        if (md_joint_dofs(tree_body[i].joint) > 0) {
            return mdyn_first_dof(&sim, i) + md_joint_dofs(tree_body[i].joint) - 1;
        }
    }
    return -1;
}

static void test_paths(void) {
    for (int fixed = -1; fixed < TREE_BODIES; fixed++) { /* each body once without a joint */
        int dof = 0;
        small_tree();
        if (fixed >= 0) {
            tree_body[fixed].joint = MDYN_FIXED;
        }
        CHECK(mdyn_init(&sim, &tree_model) >= 0);
        for (int i = 0; i < TREE_BODIES; i++) {
            int last = -1, dofs = md_joint_dofs(tree_body[i].joint);
            for (int k = dof; k < dof + dofs; k++) {
                CHECK_EQUAL(md_parent_dof(&sim, k), parent_dof(i, k));
                CHECK(md_values_of_dof(&sim, k) == &sim.joint_values[i]);
            }
            for (int j = i; j >= 0 && last < 0; j = tree_body[j].parent) {
                if (md_joint_dofs(tree_body[j].joint) > 0) {
                    last = mdyn_first_dof(&sim, j) + md_joint_dofs(tree_body[j].joint) - 1;
                }
            }
            CHECK_EQUAL(md_last_dof(&sim, i), last);
            dof += dofs;
        }
        CHECK_EQUAL(dof, sim.dofs);
        CHECK_EQUAL(md_has_quaternions(&sim), sim.coordinates != sim.dofs);
    }
}

/* Q turns the axis that a joint has inside into that of the table. */
static void test_frames(void) {
    for (int n = 0; n < 50; n++) {
        small_tree();
        tree_body[3].axis = wide3(0, 0, n % 2 ? 0 : 2); /* z, said or not */
        CHECK_EQUAL(mdyn_init(&sim, &tree_model), MDYN_OK);
        for (int i = 1; i < TREE_BODIES; i++) {
            md_mat Q;
            double axis[3], length;
            int of_table, inside = sim.link[i].axis;
            if (tree_body[i].joint == MDYN_SPHERICAL) {
                continue;
            }
            for (int k = 0; k < 3; k++) {
                axis[k] = of_wide((&tree_body[i].axis.x)[k]);
            }
            length = sqrt(dot(axis, axis, 3));
            if (length == 0) {
                axis[2] = length = 1;
            }
            md_joint_frame(&sim, i, &Q);
            of_table = md_axis_frame(tree_body[i].joint, &tree_body[i], &Q);
            CHECK_EQUAL(of_table, inside);
            CHECK_EQUAL(md_link_is(&sim.link[i], MD_OBLIQUE), i == 4 || i == 5);
            md_joint_frame(&sim, i, &Q);
            for (int k = 0; k < 3; k++) {
                CHECK_NEAR(number(md_mat_get(&Q, 3 * k + inside)), axis[k] / length, FRAME);
            }
        }
    }
}

/* Only one call at a time, and only of a sim that is ready. */
static void test_marks(void) {
    small_tree();
    memset(&sim, 0, sizeof sim);
    CHECK(!md_is_set_up(&sim) && !md_is_set_up(NULL) && !md_is_ready(NULL));
    CHECK_EQUAL(md_enter(NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(md_enter(&sim), MDYN_ERR_NOT_READY);
    CHECK_EQUAL(mdyn_init(&sim, &tree_model), MDYN_OK);
    CHECK(md_is_ready(&sim) && md_is_set_up(&sim) && !md_is_busy(&sim));
    CHECK_EQUAL(md_enter(&sim), MDYN_OK);
    CHECK(!md_is_ready(&sim) && md_is_set_up(&sim) && md_is_busy(&sim));
    CHECK_EQUAL(md_enter(&sim), MDYN_ERR_BUSY);
    CHECK_EQUAL(md_leave(&sim, MDYN_WARN_EMPTY_RANGE), MDYN_WARN_EMPTY_RANGE);
    CHECK(md_is_ready(&sim));
    CHECK_EQUAL(md_blame(&sim, MDYN_ERR_INDEX, 7), MDYN_ERR_INDEX);
    CHECK(sim.culprit.code == MDYN_ERR_INDEX && sim.culprit.index == 7);
}

/* One changed bit changes the sum; the sum of two areas is the sum of their sums. */
static void test_sums(void) {
    unsigned char bytes[100];
    for (int i = 0; i < 100; i++) {
        bytes[i] = (unsigned char)random_int(256);
    }
    uint32_t sum = md_sum_bytes(bytes, 100, 3);
    for (int bit = 0; bit < 800; bit++) {
        bytes[bit / 8] = (unsigned char)(bytes[bit / 8] ^ 1u << bit % 8);
        CHECK(md_sum_bytes(bytes, 100, 3) != sum);
        bytes[bit / 8] = (unsigned char)(bytes[bit / 8] ^ 1u << bit % 8);
    }
    for (int at = 0; at <= 100; at++) {
        uint32_t low = md_sum_bytes(bytes, (size_t)at, 3);
        uint32_t high = md_sum_bytes(bytes + at, (size_t)(100 - at), (size_t)(3 + at));
        CHECK(((low + high) & 0xFFFFFFFFu) == sum);
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_joints();
    test_paths();
    test_frames();
    test_marks();
    test_sums();
    return check_end();
}
