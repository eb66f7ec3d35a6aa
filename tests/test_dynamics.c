/* Dynamics: against a dense model by Kane's equations in long double (truth.h), finite differences,
   and the identities that hold between the calls. */
#include "knobs.h"
#include "check.h"
#include "explicit.h"
#include "truth.h"
#include "random_trees.h"

/* What the checks allow, some three to ten times the worst of -s 1, 2 and 3. */
/*                                 F64     F32   FIXED */
TOLERANCE(UNIT_ACCELERATION,     4e-15, 2.5e-6,   2e-7);
TOLERANCE(ENERGY_OF_MATRIX,      3e-14,   3e-6,   2e-7);
TOLERANCE(KINETIC,               3e-14, 1.5e-5,   2e-7);
TOLERANCE(POTENTIAL,           1.5e-14,   1e-5,   2e-7);
TOLERANCE(IMPULSE,               1e-11,   1e-2,   3e-4);
TOLERANCE(WRENCH,                5e-15,   2e-6,   2e-7);
TOLERANCE(ENERGY_DIFFERENCE,      3e-9,   2e-3,   9e-5);

static mdyn_sim other;

/* ---- against the dense model ---- */

/* M column by column out of inverse dynamics: M e_j = tau(e_j) - tau(0); v'Mv/2 is the energy. */
static void compare_unit_accelerations(void) {
    static mdyn_wide a[TN], tau[TN], none[TN], M[TN * TN], kinetic, potential;
    int n = t.dofs;
    for (int i = 0; i < n; i++) {
        a[i] = wide(0);
    }
    mdyn_mass_matrix(&sim, M);
    CHECK_EQUAL(mdyn_inverse_dynamics(&sim, a, none), MDYN_OK);
    double size = norm_force(t.C) + 1, energy = 0;
    for (int j = 0; j < n; j++) {
        a[j] = wide(1);
        CHECK_EQUAL(mdyn_inverse_dynamics(&sim, a, tau), MDYN_OK);
        a[j] = wide(0);
        for (int i = 0; i < n; i++) {
            double scale = unit_force(i) * (size + unit_force(j));
            CHECK_NEAR(of_wide(tau[i]) - of_wide(none[i]), of_wide(M[i * n + j]),
                       UNIT_ACCELERATION * scale);
            energy += of_wide(M[i * n + j]) * of_real(sim.v[i]) * of_real(sim.v[j]) / 2;
        }
    }
    CHECK_EQUAL(mdyn_energy(&sim, &kinetic, &potential), MDYN_OK);
    double scale = fabs((double)t.kinetic) + fabs((double)t.potential);
    CHECK_NEAR(of_wide(kinetic), energy, ENERGY_OF_MATRIX * scale);
    CHECK_NEAR(of_wide(kinetic), (double)t.kinetic, KINETIC * scale);
    CHECK_NEAR(of_wide(potential), (double)t.potential, POTENTIAL * (scale + 10));
}

static int root_of(int body) {
    while (body >= 0 && mech.body[body].parent >= 0) {
        body = mech.body[body].parent;
    }
    return body;
}

static int body_of(int dof) {
    int i = 0;
    while (dof >= t.dof[i] + t.dofs_of[i]) {
        i++;
    }
    return i;
}

/* Columns of M^-1, by an own Cholesky of the dense M; trees on other roots do not feel them. */
static void compare_impulses(void) {
    static mdyn_wide column[TN];
    static ld inverse[TN][TN];
    int n = t.dofs;
    memset(inverse, 0, sizeof inverse);
    for (int i = 0; i < n; i++) {
        inverse[i][i] = 1;
        truth_back(L, n, inverse[i]);
    }
    for (int i = 0; i < n; i++) {
        CHECK_EQUAL(mdyn_inverse_mass_column(&sim, i, column), MDYN_OK);
        for (int j = 0; j < n; j++) {
            mdyn_wide ij = wide(-1), ji = wide(1);
            double scale = (double)sqrtl(inverse[i][i] * inverse[j][j]);
            CHECK_EQUAL(mdyn_impulse_response(&sim, i, j, &ij), MDYN_OK);
            CHECK_EQUAL(mdyn_impulse_response(&sim, j, i, &ji), MDYN_OK);
            double joined = root_of(body_of(i)) == root_of(body_of(j)) ? 1 : 0;
            double allowed = IMPULSE * scale * joined;
            CHECK_NEAR(of_wide(ij), (double)inverse[i][j], allowed);
            CHECK_NEAR(of_wide(column[j]), (double)inverse[i][j], allowed);
            CHECK_NEAR(of_wide(ij), of_wide(ji), 0);
        }
    }
}

/* An external wrench enters C as -J' (moment, force). */
static void compare_wrench(void) {
    static mdyn_wide with[TN], without[TN], J[6 * TN];
    int body = random_int(t.bodies), n = t.dofs;
    mdyn_wrench none;
    memset(&none, 0, sizeof none);
    mdyn_wrench w = sim.wrench[body];
    mdyn_bias_force(&sim, with);
    sim.wrench[body] = none;
    mdyn_bias_force(&sim, without);
    sim.wrench[body] = w;
    mdyn_jacobian(&sim, body, NULL, J);
    double x[6] = { of_real(w.moment.x), of_real(w.moment.y), of_real(w.moment.z),
                    of_real(w.force.x), of_real(w.force.y), of_real(w.force.z) };
    for (int i = 0; i < n; i++) {
        double power = 0;
        for (int k = 0; k < 6; k++) {
            power += of_wide(J[k * n + i]) * x[k];
        }
        double scale = unit_force(i) * norm_force(t.C);
        CHECK_NEAR(of_wide(without[i]) - of_wide(with[i]), power, WRENCH * scale);
    }
}

static void test_trees(void) {
    for (int k = 0; k < 80; k++) {
        int bodies = 1 + random_int(12), kind = random_kind();
        begin_tree(bodies, 32, kind);
        for (int s = 0; s < 2; s++) {
            random_state(3, 10);
            compare_dense();
            compare_unit_accelerations();
            for (int b = 0; b < t.bodies; b++) {
                compare_body(b);
            }
            compare_impulses();
            compare_wrench();
        }
    }
}

/* ---- finite differences: their error is h^2 times a third derivative, that of rounding
   epsilon/h; DIFFERENCE_STEP is an h between them ---- */

static double energy_at(ld along, int with_kinetic) {
    static truth moved;
    mdyn_wide kinetic, potential;
    moved = t;
    truth_move(&moved, &mech.model, t.v, along);
    put_state(&moved);
    CHECK_EQUAL(mdyn_energy(&sim, &kinetic, &potential), MDYN_OK);
    return of_wide(potential) + (with_kinetic ? of_wide(kinetic) : 0);
}

/* At rest C is the gradient of the potential energy; and in motion at constant speeds the power
   v'C is the rate of all energy: that binds the velocity terms too. */
static void test_energy_differences(void) {
    static mdyn_wide C[TN];
    double h = DIFFERENCE_STEP;
    for (int k = 0; k < 40; k++) {
        int bodies = 1 + random_int(8), kind = random_kind();
        begin_tree(bodies, 20, kind);
        random_state(2, 0);
        double power = 0, size = fabs((double)t.kinetic) + fabs((double)t.potential) + 10;
        int moving = k % 2;
        for (int i = 0; i < t.dofs && !moving; i++) {
            sim.v[i] = real(0);
        }
        CHECK_EQUAL(mdyn_bias_force(&sim, C), MDYN_OK);
        for (int i = 0; i < t.dofs; i++) {
            power += of_wide(C[i]) * (double)t.v[i];
        }
        double rate = (energy_at((ld)h, moving) - energy_at(-(ld)h, moving)) / (2 * h);
        CHECK_NEAR(power, rate, ENERGY_DIFFERENCE * size);
    }
}

/* ---- motion ---- */

/* Nothing that is asked between steps changes the motion by a bit. */
static void test_queries_change_nothing(void) {
    static mdyn_wide many[6 * TN + TN * TN], one, two;
    mdyn_real3 position, linear;
    mdyn_real4 quaternion;
    for (int k = 0; k < 10; k++) {
        begin_tree(8, 24, random_kind());
        random_state(2, 5);
        CHECK_EQUAL(init_explicit(&other, &mech.model), MDYN_OK);
        copy_inputs(&other, &sim);
        for (int s = 0; s < 20; s++) {
            int body = random_int(t.bodies), code = 0;
            code |= mdyn_pose(&sim, body, &position, &quaternion);
            code |= mdyn_velocity(&sim, body, NULL, &position, &linear);
            code |= mdyn_jacobian(&sim, body, NULL, many);
            code |= mdyn_mass_matrix(&sim, many);
            code |= mdyn_bias_force(&sim, many);
            code |= mdyn_forward_dynamics(&sim, many);
            code |= mdyn_inverse_dynamics(&sim, many, many + TN);
            code |= mdyn_constrained_dynamics(&sim, many);
            code |= mdyn_impulse_response(&sim, 0, t.dofs - 1, &one);
            code |= mdyn_inverse_mass_column(&sim, 0, many);
            code |= mdyn_energy(&sim, &one, &two);
            CHECK_EQUAL(code, t.dofs > 0 ? MDYN_OK : MDYN_ERR_INDEX);
            steps_agree(&sim, &other, 1);
        }
    }
}

/* ---- where joints lose a direction ---- */

/* Three joints on one another, the first and the last of which have one axis at -0.7 of the second;
   the first two carry no mass. */
static mdyn_body gimbal[3];
static void begin_gimbal(mdyn_body first, mdyn_body last) {
    static const mdyn_body middle = MDYN_BODY(0, MDYN_TURNS(0, 0, 1),
        MDYN_AT_RPY(0, 0, 0, 0, 0, 0.7), MDYN_NO_MASS, MDYN_PASSIVE, NULL);
    mdyn_model m = MDYN_MODEL(gimbal, 3, NULL, 0, MDYN_V3(0, 0, 0), 0.001);
    gimbal[0] = first;
    gimbal[1] = middle;
    gimbal[2] = last;
    CHECK_EQUAL(mdyn_init(&other, &m), MDYN_OK);
}

/* At the lock M is singular, however little the other directions of the body leave to compare with:
   a thin rod across the axis, a small body on a screw. Elsewhere a closed form. */
static void test_gimbal_lock(void) {
    static const mdyn_body turns = MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 1, 0), MDYN_AT(0, 0, 0),
                                             MDYN_NO_MASS, MDYN_PASSIVE, NULL);
    static const mdyn_body screws = MDYN_BODY(MDYN_WORLD, MDYN_SCREWS(0, 1, 0, 0.01),
        MDYN_AT(0, 0, 0), MDYN_NO_MASS, MDYN_PASSIVE, NULL);
    static const mdyn_inertia rod = MDYN_INERTIA(1, 1, 1, 0, 0, 0);
    mdyn_wide a[3], response;
    for (double thin = 1; thin > 1e-4; thin /= 10) {
        const double s1 = sin(0.7), s2 = sin(0.3), c2 = cos(0.3);
        const double M = s1 * s1 / (c2 * c2 / thin + s2 * s2);
        mdyn_body last = turns;
        last.parent = 1;
        last.mass = wide(1);
        last.inertia = rod;
        last.inertia.xx = wide(thin);
        begin_gimbal(turns, last);
        other.q[2] = real(0.3);
        CHECK_EQUAL(mdyn_impulse_response(&other, 0, 0, &response), MDYN_OK);
        CHECK_NEAR(of_wide(response) * M, 1, BY_SCALAR(1e-11, 2e-3, 1e-5));
        other.q[0] = real(0.4);
        other.q[1] = real(-0.7);
        other.tau[0] = real(1);
        CHECK_EQUAL(mdyn_impulse_response(&other, 0, 0, &response), MDYN_ERR_SINGULAR);
        CHECK_EQUAL(mdyn_forward_dynamics(&other, a), MDYN_ERR_SINGULAR);

        last = screws;
        last.parent = 1;
        last.mass = wide(1);
        last.inertia = rod;
        last.inertia.xx = last.inertia.yy = last.inertia.zz = wide(1e-6 * thin);
        begin_gimbal(screws, last);
        CHECK_EQUAL(mdyn_forward_dynamics(&other, a), MDYN_OK);
        other.q[1] = real(-0.7);
        CHECK_EQUAL(mdyn_forward_dynamics(&other, a), MDYN_ERR_SINGULAR);
    }
}

int main(int argc, char **argv) {
    static const struct {
        uint64_t seed;
        void (*run)(void);
    } tests[] = {
        { 1, test_trees }, { 4, test_energy_differences }, { 13, test_queries_change_nothing },
        { 14, test_gimbal_lock }
    };
    check_begin(argc, argv);
    for (int i = 0; i < (int)(sizeof tests / sizeof *tests); i++) {
        random_seed(tests[i].seed);
        tests[i].run();
    }
    return check_end();
}
