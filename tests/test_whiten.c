/* >>whiten: x = s L^-T J^T of rows of joint velocities against J M^-1 J^T by a dense solve in
   double, for each pair of rows; softness against the spring that it stands for. Of >>equality a
   reflection of what has no square. */
#define MIMICDYN_MAX_BODIES 6
#define MIMICDYN_MAX_DOFS 13
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include "small_tree.h"

/* What the checks allow, some three to ten times the worst of -s 1, 2 and 3. */
/*                       F64      F32    FIXED */
TOLERANCE(PRODUCT,     3e-14,    1e-5,    1e-6); /* of two whitened rows, by their lengths */
TOLERANCE(CHAIN,       1e-13,    4e-5,    4e-6); /* M of one chain: worse conditioned */
TOLERANCE(COMPLIANCE,  2e-14,    6e-6,    4e-7); /* relative */

enum { ROWS = 6, FIRST = MIMICDYN_MAX_ENTRIES - TREE_DOFS };

static double M[TREE_DOFS * TREE_DOFS], J[ROWS][TREE_DOFS], x[ROWS][TREE_DOFS];
static md_terms terms;
static md_row *const row = &sim.slot[0].row;
static md_gains *const gains = &sim.gains[0];

/* A row of 1 to 3 joint velocities anywhere in the tree, as terms and as J. */
static void random_row(double *j) {
    memset(j, 0, TREE_DOFS * sizeof *j);
    terms.count = 1 + random_int(3);
    for (int k = 0; k < terms.count; k++) {
        int dof = random_int(TREE_DOFS);
        while (j[dof] != 0) {
            dof = random_int(TREE_DOFS);
        }
        terms.dof[k] = (md_count)dof;
        terms.coefficient[k] = wide(random_in(1, 2) * (random_int(2) ? 1 : -1)
                                    * pow(10, random_in(-2, 2)));
        terms.factor[k] = md_of_wide(terms.coefficient[k]);
        j[dof] = of_wide(terms.coefficient[k]);
    }
}

/* sim.row_x of the terms; the row as the rest of >>whiten takes it. */
static void whiten(void) {
    memset(row, 0, sizeof *row);
    md_overflow_reset(&sim.overflow, 0);
    for (int k = 0; k < TREE_DOFS; k++) {
        MD_LASTING(&sim)->row_x[k] = MD_U(0);
        sim.entry_column[FIRST + k] = (md_place)k;
    }
    row->scale = md_whiten_joint_row(&sim, &terms);
    row->first = FIRST;
    row->end = FIRST + TREE_DOFS;
}

/* The small tree; or its bodies as one chain, so deep that L is kept as articulated bodies. */
static void begin(mdyn_scheme scheme, int deep) {
    small_tree();
    for (int i = 3; deep && i < TREE_BODIES; i++) {
        tree_body[i].parent = (int16_t)(i - 1);
    }
    tree_model.solver.scheme = scheme;
    CHECK_EQUAL(mdyn_init(&sim, &tree_model), MDYN_OK);
    random_state();
    dense_mass_matrix(M);
    CHECK_EQUAL(md_refresh_kinematics(&sim), MDYN_OK);
    CHECK_EQUAL(md_factor_LtL(&sim, MD_K(0)), MDYN_OK);
    CHECK_EQUAL(md_is_deep(&sim), deep);
    md_clear_solve(&sim); /* bodies have stood where the rows are made */
}

static void test_products(int deep) {
    for (int n = 0; n < 40; n++) {
        const double allowed = deep ? CHAIN : PRODUCT;
        double y[ROWS][TREE_DOFS];
        begin(MDYN_MIDPOINT, deep);
        for (int a = 0; a < ROWS; a++) {
            random_row(J[a]);
            whiten();
            double scale = number(row->scale);
            for (int k = 0; k < TREE_DOFS; k++) {
                x[a][k] = number(md_of_unit(MD_LASTING(&sim)->row_x[k], 0)) / scale;
                CHECK(md_unit_is_zero(MD_LASTING(&sim)->row_J[k]));
            }
            dense_solve(M, TREE_DOFS, J[a], y[a]);
            double r = dot(J[a], y[a], TREE_DOFS);
            CHECK_NEAR(number(md_row_inverse_mass(&sim, row, FIRST)) / r, 1, allowed);
            for (int b = 0; b <= a; b++) {
                double size = sqrt(dot(x[a], x[a], TREE_DOFS) * dot(x[b], x[b], TREE_DOFS));
                CHECK_NEAR(dot(x[a], x[b], TREE_DOFS) / size, dot(J[b], y[a], TREE_DOFS) / size,
                           allowed);
            }
        }
    }
}

/* ---- softness ---- */

static mdyn_softness softness(mdyn_softness_kind kind, double a, double b) {
    mdyn_softness s;
    s.kind = kind;
    s.a = wide(a);
    s.b = wide(b);
    return s;
}

static void soft_row(void) {
    random_row(J[0]);
    MD_SOLVE(&sim)->terms = terms;
    whiten();
}

/* Implicit Euler of the documents, with kp and kd given or made of omega, zeta and r. */
static void test_explicit(void) {
    for (int n = 0; n < 40; n++) {
        double h, kp, kd, y[TREE_DOFS];
        begin(MDYN_EXPLICIT, 0);
        h = number(sim.h);
        soft_row();
        dense_solve(M, TREE_DOFS, J[0], y);
        double r = dot(J[0], y, TREE_DOFS), omega = random_in(1, 300), zeta = random_in(0, 2);
        mdyn_softness s = softness(MDYN_OMEGA_ZETA, omega, zeta);
        kp = of_wide(s.a) * of_wide(s.a) / r;
        kd = 2 * of_wide(s.a) * of_wide(s.b) / r;
        CHECK_EQUAL(md_set_compliance(&sim, &s, row, FIRST), 1);
        CHECK_NEAR(h * number(gains->rate) * (h * kp + kd) / (h * kp), 1, COMPLIANCE);
        CHECK_NEAR(number(row->cfm) * h * (h * kp + kd), 1, COMPLIANCE);
        s = softness(MDYN_KP_KD, pow(10, random_in(0, 4)), random_in(0, 10));
        kp = of_wide(s.a);
        kd = of_wide(s.b);
        CHECK_EQUAL(md_set_compliance(&sim, &s, row, FIRST), 1);
        CHECK_NEAR(h * number(gains->rate) * (h * kp + kd) / (h * kp), 1, COMPLIANCE);
        CHECK_NEAR(number(row->cfm) * h * (h * kp + kd), 1, COMPLIANCE);
        s = softness(MDYN_KP_KD, 0, 0); /* no force */
        CHECK_EQUAL(md_set_compliance(&sim, &s, row, FIRST), 0);
        s = softness(MDYN_ODE_CFM, 0.3, 1e-3);
        CHECK_EQUAL(md_set_compliance(&sim, &s, row, FIRST), 1);
        CHECK_NEAR(h * number(gains->rate), 0.3, COMPLIANCE);
        CHECK_NEAR(number(row->cfm) * h / 1e-3, 1, COMPLIANCE);
    }
}

/* At rest a spring's force is -kp C whatever the step: erp/cfm = h^2 kp. Without a damper, and not
   too stiff for the step, it keeps its energy: the parts of v and v' are equal. */
static void test_midpoint(void) {
    for (int n = 0; n < 40; n++) {
        double h, y[TREE_DOFS];
        begin(MDYN_MIDPOINT, 0);
        h = number(sim.h);
        soft_row();
        dense_solve(M, TREE_DOFS, J[0], y);
        double turn = pow(10, random_in(-3, 2)), r = dot(J[0], y, TREE_DOFS);
        mdyn_softness s = softness(MDYN_KP_KD, turn * turn / (h * h * r), 0);
        double kp = of_wide(s.a);
        CHECK_EQUAL(md_set_compliance(&sim, &s, row, FIRST), 1);
        CHECK(row->is_spring);
        CHECK_NEAR(number(gains->rate) / (number(row->cfm) * h * kp), 1, COMPLIANCE);
        if (turn < 0.99) {
            CHECK_NEAR(number(gains->of_v), 1, COMPLIANCE);
        } else if (turn > 1.01) {
            CHECK(number(gains->of_v) < 1);
        }
        s = softness(MDYN_KP_KD, of_wide(s.a), random_in(0, 10));
        CHECK_EQUAL(md_set_compliance(&sim, &s, row, FIRST), 1);
        CHECK_NEAR(number(gains->rate) / (number(row->cfm) * h * kp), 1, COMPLIANCE);
    }
}

/* |x|^2 and what stands for cfm beside it are scale^2 (r + cfm), whichever is the larger. */
static void test_square(void) {
    for (int n = 0; n < 60; n++) {
        double y[TREE_DOFS], squares = 0;
        begin(MDYN_MIDPOINT, 0);
        soft_row();
        dense_solve(M, TREE_DOFS, J[0], y);
        double r = dot(J[0], y, TREE_DOFS), cfm = r * pow(10, random_in(-4, 4));
        row->cfm = num(n % 5 ? cfm : 0);
        squares = number(md_compliance_square(&sim, row));
        for (int k = 0; k < TREE_DOFS; k++) {
            squares += pow(number(md_of_unit(MD_LASTING(&sim)->row_x[k], 0)), 2);
        }
        double scale = number(row->scale);
        CHECK_NEAR(squares / (scale * scale * (r + number(row->cfm))), 1, COMPLIANCE);
    }
}

/* A row whose elements are so small that their squares are 0 is turned by no reflection; the next
   row finds nothing of it. */
static void test_tiny_reflection(void) {
    static const md_unit tiny = BY_SCALAR((md_unit)1e-200, (md_unit)1e-30, (md_unit)1);
    begin(MDYN_MIDPOINT, 0);
    soft_row();
    for (int k = 0; k < TREE_DOFS; k++) {
        MD_LASTING(&sim)->row_x[k] = k > 0 ? tiny : MD_U(0);
    }
    row->pivot = 0;
    md_num square = md_squares_value(md_add_row_squares(&sim, 0, FIRST, row->end));
    CHECK(md_is_zero(square));
    CHECK(md_unit_is_zero(md_make_reflection(&sim, row, FIRST + 1, TREE_DOFS - 1, square)));
    for (int k = 0; k < TREE_DOFS; k++) {
        CHECK(md_unit_is_zero(MD_LASTING(&sim)->row_x[k]));
        CHECK(md_unit_is_zero(sim.shared.entry[FIRST + k]) || k == 0);
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_products(0);
    if (MDYN_SCALAR != MDYN_SCALAR_FIXED) { /* W would need 8 numbers of L a DoF, 7 are there */
        test_products(1);
    }
    test_explicit();
    test_midpoint();
    test_square();
    test_tiny_reflection();
    return check_end();
}
