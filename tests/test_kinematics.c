/* Kinematics: poses, velocities and Jacobians against the dense model of truth.h and against finite
   differences; what the user writes is noticed. */
#include "knobs.h"
#include "check.h"
#include "explicit.h"
#include "truth.h"
#include "random_trees.h"

/* What the checks allow, some three to ten times the worst of -s 1, 2 and 3. */
/*                                 F64     F32   FIXED */
TOLERANCE(JACOBIAN_DIFFERENCE,    1e-9,   5e-4,   3e-5);

/* ---- against the dense model ---- */

/* The mechanism in a random state, against the truth. */
static void compare_sim(void) {
    CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
    truth_init(&t, &mech.model);
    random_state(2, 5);
    compare_body(1);
    compare_body(2);
    compare_dense();
}

/* Axes along the coordinate axes, both ways, and of any length; and none, which means z. */
static void test_axes(void) {
    static const double lengths[] = { 1, 1e-3, 1e6, 0.3 };
    for (int k = 0; k < 7 * 4 * 3; k++) {
        int way = k % 7 % 3;
        double length = lengths[k / 7 % 4] * (k % 7 < 3 ? 1 : -1);
        mdyn_joint joint = (mdyn_joint)(MDYN_REVOLUTE + k / 28);
        mechanism_random(&mech, 3, 6, ONE_SPEED);
        for (int i = 0; i < 2; i++) {
            mdyn_wide3 *axis = &mech.body[i].axis;
            mech.body[i].joint = joint;
            memset(axis, 0, sizeof *axis);
            if (k % 7 < 6) {
                mdyn_wide *x = way == 0 ? &axis->x : way == 1 ? &axis->y : &axis->z;
                *x = wide(length);
            }
        }
        compare_sim();
    }
}

/* A frame or an axis that differs from the one before it by an angle of 2^-4 to 2^-31: from the
   root of the scalar's resolution on, its cosine is 1, and its sine still counts. */
static void test_slight_turns(void) {
    for (int k = 0; k < 3 * 28; k++) {
        const double angle = ldexp(1, -4 - k / 3);
        mdyn_body *b = &mech.body[1];
        mechanism_random(&mech, 3, 6, ONE_SPEED);
        b->parent = 0;
        b->axis = mech.body[0].axis = k % 3 < 2 ? wide3(0, 0, 1) : wide3(0.5, 0.75, 1);
        memset(&b->rotation, 0, sizeof b->rotation);
        if (k % 3 == 0) {
            b->rotation.w = wide(1);
            b->rotation.x = wide(angle / 2);
        } else {
            b->axis.y = wide(of_wide(b->axis.y) + angle);
        }
        compare_sim();
    }
}

/* Bodies whose inertia about the joint is diagonal, as that of a box, in the step's own way: with
   the numbers of any other. */
static void test_boxes(void) {
    for (int k = 0; k < 40; k++) {
        mechanism_random(&mech, 3, 6, ONE_SPEED);
        for (int i = 0; i < mech.model.body_count && k % 2; i++) {
            mdyn_body *b = &mech.body[i];
            memset(&b->axis, 0, sizeof b->axis);
            memset(&b->com, 0, sizeof b->com);
            b->inertia.xy = b->inertia.xz = b->inertia.yz = wide(0);
        }
        CHECK_EQUAL(init_explicit(&sim, &mech.model), MDYN_OK);
        truth_init(&t, &mech.model);
        random_state(2, 5);
        CHECK_EQUAL(md_refresh_kinematics(&sim), MDYN_OK);
        for (int i = 0; i < mech.model.body_count; i++) {
            const md_sym *inertia = &sim.link[i].inertia;
            md_num got[6], want[6];
            md_sym turned;
            if (sim.link[i].dofs == 0) continue;
            CHECK(!(k % 2) || MDYN_SCALAR == MDYN_SCALAR_FIXED || md_sym_is_diagonal(inertia));
            md_sym_rotate(&turned, &MD_STATE(&sim, i)->rotation, inertia);
            md_sym_get(want, &turned);
            md_sym_get(got, &MD_STATE(&sim, i)->inertia);
            for (int j = 0; j < 6; j++) CHECK(md_is_zero(md_sub(got[j], want[j])));
        }
    }
}

/* ---- finite differences: their error is h^2 times a third derivative, that of rounding
   epsilon/h; DIFFERENCE_STEP is an h between them ---- */

/* The pose of a body after the joints have moved by h along one speed. */
static void moved_pose(int body, int dof, ld h, ld R[3][3], ld p[3]) {
    static truth moved;
    ld v[TN] = { 0 };
    mdyn_real3 position;
    mdyn_real4 quaternion;
    moved = t;
    v[dof] = 1;
    truth_move(&moved, &mech.model, v, h);
    put_state(&moved);
    CHECK_EQUAL(mdyn_pose(&sim, body, &position, &quaternion), MDYN_OK);
    rotation_of(R, &quaternion);
    p[0] = (ld)of_real(position.x);
    p[1] = (ld)of_real(position.y);
    p[2] = (ld)of_real(position.z);
}

static void test_jacobian_differences(void) {
    static mdyn_wide J[6 * TN];
    ld h = (ld)DIFFERENCE_STEP, R[2][3][3], p[2][3], turn[3][3];
    for (int k = 0; k < 20; k++) {
        int bodies = 1 + random_int(8), kind = random_kind();
        begin_tree(bodies, 20, kind);
        random_state(1, 0);
        int body = t.bodies - 1, n = t.dofs;
        CHECK_EQUAL(mdyn_jacobian(&sim, body, NULL, J), MDYN_OK);
        for (int j = 0; j < n; j++) {
            moved_pose(body, j, h, R[0], p[0]);
            moved_pose(body, j, -h, R[1], p[1]);
            for (int a = 0; a < 3; a++) {
                for (int b = 0; b < 3; b++) {
                    turn[a][b] = t_dot(R[0][a], R[1][b]); /* R+ R-' */
                }
            }
            for (int i = 0; i < 3; i++) {
                int a = (i + 2) % 3, b = (i + 1) % 3;
                double w = (double)((turn[a][b] - turn[b][a]) / (4 * h));
                double v = (double)((p[0][i] - p[1][i]) / (2 * h));
                CHECK_NEAR(of_wide(J[i * n + j]), w, JACOBIAN_DIFFERENCE);
                CHECK_NEAR(of_wide(J[(3 + i) * n + j]), v, JACOBIAN_DIFFERENCE);
            }
        }
    }
}

/* ---- motion ---- */

/* A written q, v, tau or wrench counts in the next call, without any update call. */
static void test_changes_are_noticed(void) {
    for (int k = 0; k < 10; k++) {
        begin_tree(6, 20, random_kind());
        for (int s = 0; s < 5; s++) {
            random_state(2, 5);
            compare_body(t.bodies - 1);
            int i = t.dofs > 0 ? random_int(t.dofs) : 0;
            sim.v[i] = real(0.5);
            truth_copy(&t, &sim);
            truth_update(&t, &mech.model);
            compare_body(t.bodies - 1);
            compare_dense();
            sim.wrench[t.bodies - 1].force.x = real(3);
            sim.tau[i] = real(-2);
            truth_copy(&t, &sim);
            truth_update(&t, &mech.model);
            compare_dense();
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            truth_copy(&t, &sim);
            truth_update(&t, &mech.model);
            memcpy(L, t.M, sizeof L);
            CHECK(truth_cholesky(L, t.dofs));
            compare_body(t.bodies - 1);
            compare_dense();
        }
    }
}

int main(int argc, char **argv) {
    static const struct {
        uint64_t seed;
        void (*run)(void);
    } tests[] = {
        { 2, test_axes }, { 6, test_slight_turns }, { 5, test_boxes },
        { 3, test_jacobian_differences }, { 14, test_changes_are_noticed }
    };
    check_begin(argc, argv);
    for (int i = 0; i < (int)(sizeof tests / sizeof *tests); i++) {
        random_seed(tests[i].seed);
        tests[i].run();
    }
    return check_end();
}
