/* >>public: what every call refuses, in the order of its room, and leaves as it was; that the
   queries say the same of one state; conversions of numbers against double. */
#define MIMICDYN_MAX_BODIES 6
#define MIMICDYN_MAX_DOFS 13
#define MIMICDYN_MAX_COUPLINGS 2
#define MIMICDYN_MAX_CURVES 1 /* without rows on bodies */
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include "small_tree.h"

/* What the checks allow, some three to ten times the worst of -s 1, 2 and 3. */
/*                       F64      F32    FIXED */
TOLERANCE(SAME,        2e-13,    5e-5,    2e-6); /* of forces and energies of O(10) */
TOLERANCE(MOVED,       5e-15,    2e-6,    2e-7); /* of velocities of O(1) */

static mdyn_wide wides[TREE_DOFS * TREE_DOFS];
static mdyn_real3 point;
static mdyn_real4 quaternion;
static mdyn_sim *on; /* the sim of the calls below; NULL: none */

/* ---- what is refused ---- */

static int init(int i) { (void)i; return mdyn_init(on, &tree_model); }
static int reset(int i) { (void)i; return mdyn_reset(on); }
static int set_coupling(int i) { return mdyn_set_coupling(on, i, &tree_coupling[0]); }
static int engage(int i) { return mdyn_engage(on, i, MDYN_RELEASE); }
static int set_body(int i) { return mdyn_set_body(on, i, &tree_body[0]); }
static int settle(int i) { (void)i; return mdyn_settle(on); }
static int rebase(int i) { int32_t n; return mdyn_rebase(on, i, &n); }
static int set_gravity(int i) { (void)i; return mdyn_set_gravity(on, &tree_model.gravity); }
static int set_dt(int i) { (void)i; return mdyn_set_dt(on, tree_model.dt); }
static int set_solver(int i) { (void)i; return mdyn_set_solver(on, &tree_model.solver); }
static int verify(int i) { (void)i; return mdyn_verify(on); }
static int project(int i) { (void)i; return mdyn_project(on, MDYN_MASS_METRIC); }
static int step(int i) { (void)i; return mdyn_step(on); }
static int range(int i) { return mdyn_range(on, i, wides, wides + 1); }
static int forward(int i) { (void)i; return mdyn_forward_dynamics(on, wides); }
static int constrained(int i) { (void)i; return mdyn_constrained_dynamics(on, wides); }
static int pose(int i) { return mdyn_pose(on, i, &point, &quaternion); }
static int velocity(int i) { return mdyn_velocity(on, i, &point, &point, &point); }
static int jacobian(int i) { return mdyn_jacobian(on, i, &point, wides); }
static int mass_matrix(int i) { (void)i; return mdyn_mass_matrix(on, wides); }
static int bias_force(int i) { (void)i; return mdyn_bias_force(on, wides); }
static int inverse(int i) { (void)i; return mdyn_inverse_dynamics(on, wides, wides + TREE_DOFS); }
static int column(int i) { return mdyn_inverse_mass_column(on, i, wides); }
static int energy(int i) { (void)i; return mdyn_energy(on, wides, wides + 1); }

/* A call, and by which count its index ends; 0: it takes none. */
static const struct { const char *name; int (*call)(int); int count; } calls[] = {
    { "init", init, 0 }, { "reset", reset, 0 }, { "set_coupling", set_coupling, 1 },
    { "engage", engage, 1 }, { "set_body", set_body, TREE_BODIES }, { "settle", settle, 0 },
    { "rebase", rebase, TREE_BODIES }, { "set_gravity", set_gravity, 0 }, { "set_dt", set_dt, 0 },
    { "set_solver", set_solver, 0 }, { "verify", verify, 0 }, { "project", project, 0 },
    { "step", step, 0 }, { "range", range, TREE_BODIES }, { "forward", forward, 0 },
    { "constrained", constrained, 0 }, { "pose", pose, TREE_BODIES },
    { "velocity", velocity, TREE_BODIES }, { "jacobian", jacobian, TREE_BODIES },
    { "mass_matrix", mass_matrix, 0 }, { "bias_force", bias_force, 0 }, { "inverse", inverse, 0 },
    { "inverse_mass_column", column, TREE_DOFS }, { "energy", energy, 0 }
};
enum { CALLS = sizeof calls / sizeof calls[0] };

static void begin(void) {
    mdyn_coupling gear = MDYN_GEAR(1, 2, 3, 3, 0);
    small_tree();
    tree_coupling[0] = gear;
    tree_model.coupling_count = 1;
    CHECK_EQUAL(mdyn_init(&sim, &tree_model), MDYN_OK);
    random_state();
}

static void refused(int c, int index, int code) {
    static mdyn_sim before;
    before = sim;
    if (!CHECK_EQUAL(calls[c].call(index), code)) {
        CHECK_NOTE("that is mdyn_%s, index %d\n", calls[c].name, index);
    }
    CHECK(memcmp(before.q, sim.q, sizeof sim.q) == 0 && memcmp(before.v, sim.v, sizeof sim.v) == 0);
    CHECK(before.constants_sum == sim.constants_sum && before.step_count == sim.step_count);
}

static void test_refused(void) {
    for (int c = 0; c < CALLS; c++) {
        begin();
        on = NULL;
        refused(c, 0, MDYN_ERR_NULL);
        on = &sim;
        sim.ready_mark = MD_BUSY;
        refused(c, 0, MDYN_ERR_BUSY);
        if (calls[c].call != init) {
            sim.ready_mark = 0;
            refused(c, 0, MDYN_ERR_NOT_READY);
        }
        sim.ready_mark = MD_READY;
        if (calls[c].count > 0) {
            refused(c, calls[c].count, MDYN_ERR_INDEX);
            refused(c, INT16_MAX, MDYN_ERR_INDEX);
            refused(c, -2, MDYN_ERR_INDEX);
        }
        CHECK(md_is_ready(&sim)); /* no call has left it busy */
    }
}

/* ---- one state, seen by all queries ---- */

static void test_dynamics(void) {
    double M[TREE_DOFS * TREE_DOFS], C[TREE_DOFS], a[TREE_DOFS], v[TREE_DOFS], e[TREE_DOFS];
    mdyn_wide in[TREE_DOFS], out[TREE_DOFS];
    for (int n = 0; n < 10; n++) {
        begin();
        dense_mass_matrix(M);
        CHECK_EQUAL(mdyn_bias_force(&sim, out), MDYN_OK);
        CHECK_EQUAL(mdyn_forward_dynamics(&sim, wides), MDYN_OK);
        for (int k = 0; k < TREE_DOFS; k++) {
            C[k] = of_wide(out[k]);
            a[k] = of_wide(wides[k]);
            v[k] = of_real(sim.v[k]);
        }
        for (int k = 0; k < TREE_DOFS; k++) { /* M a + C = tau */
            CHECK_NEAR(dot(M + k * TREE_DOFS, a, TREE_DOFS) + C[k], of_real(sim.tau[k]),
                       SAME);
        }
        for (int c = 0; c < TREE_DOFS; c++) { /* columns of M and of M^-1 */
            for (int k = 0; k < TREE_DOFS; k++) {
                in[k] = wide(k == c);
            }
            CHECK_EQUAL(mdyn_inverse_dynamics(&sim, in, out), MDYN_OK);
            CHECK_EQUAL(mdyn_inverse_mass_column(&sim, c, wides), MDYN_OK);
            for (int k = 0; k < TREE_DOFS; k++) {
                CHECK_NEAR(of_wide(out[k]) - C[k], M[k * TREE_DOFS + c], SAME);
                e[k] = of_wide(wides[k]);
            }
            for (int k = 0; k < TREE_DOFS; k++) {
                CHECK_NEAR(dot(M + k * TREE_DOFS, e, TREE_DOFS), k == c, SAME);
            }
        }
        double kinetic = 0;
        for (int k = 0; k < TREE_DOFS; k++) {
            kinetic += v[k] * dot(M + k * TREE_DOFS, v, TREE_DOFS) / 2;
        }
        CHECK_EQUAL(mdyn_energy(&sim, wides, wides + 1), MDYN_OK);
        CHECK_NEAR(of_wide(wides[0]), kinetic, SAME);
    }
}

/* The velocity of a point is J v. */
static void test_velocities(void) {
    for (int n = 0; n < 60; n++) {
        begin();
        int body = n % TREE_BODIES;
        mdyn_real3 at, angular, linear;
        double v[TREE_DOFS], row[TREE_DOFS];
        at.x = real(random_in(-1, 1));
        at.y = real(random_in(-1, 1));
        at.z = real(random_in(-1, 1));
        CHECK_EQUAL(mdyn_velocity(&sim, body, &at, &angular, &linear), MDYN_OK);
        CHECK_EQUAL(mdyn_jacobian(&sim, body, &at, wides), MDYN_OK);
        for (int k = 0; k < TREE_DOFS; k++) {
            v[k] = of_real(sim.v[k]);
        }
        for (int i = 0; i < 6; i++) {
            mdyn_real got = i < 3 ? (&angular.x)[i] : (&linear.x)[i - 3];
            for (int k = 0; k < TREE_DOFS; k++) {
                row[k] = of_wide(wides[i * TREE_DOFS + k]);
            }
            CHECK_NEAR(of_real(got), dot(row, v, TREE_DOFS), MOVED);
        }
    }
}

/* ---- single numbers ---- */

static void test_elements(void) {
    begin();
    for (int i = 0; i < TREE_BODIES; i++) {
        for (int k = 0; k < md_joint_coordinates(tree_body[i].joint); k++) {
            CHECK_EQUAL(mdyn_set_q(&sim, i, k, real(0.5 + k)), MDYN_OK);
            CHECK_NEAR(of_real(sim.q[mdyn_first_coordinate(&sim, i) + k]), 0.5 + k, 0);
            CHECK_NEAR(of_real(mdyn_q(&sim, i, k)), 0.5 + k, 0);
        }
        for (int k = 0; k < md_joint_dofs(tree_body[i].joint); k++) {
            int at = mdyn_first_dof(&sim, i) + k;
            CHECK_EQUAL(mdyn_set_v(&sim, i, k, real(1.5 + k)), MDYN_OK);
            CHECK_EQUAL(mdyn_set_tau(&sim, i, k, real(2.5 + k)), MDYN_OK);
            CHECK_NEAR(of_real(sim.v[at]), 1.5 + k, 0);
            CHECK_NEAR(of_real(mdyn_v(&sim, i, k)), 1.5 + k, 0);
            CHECK_NEAR(of_real(sim.tau[at]), 2.5 + k, 0);
        }
        CHECK(mdyn_set_q(&sim, i, md_joint_coordinates(tree_body[i].joint), real(0)) < 0);
        CHECK(mdyn_set_v(&sim, i, md_joint_dofs(tree_body[i].joint), real(0)) < 0);
        CHECK(mdyn_set_tau(&sim, i, -1, real(0)) < 0);
    }
}

#if MDYN_SCALAR == MDYN_SCALAR_FIXED

/* The bits of a double as a number of the scalar, nearest; and what is none stays none. */
static void test_bits(void) {
    for (int n = 0; n < 2000; n++) {
        double x = random_in(-1, 1) * pow(2, random_int(40) - 20);
        uint64_t bits;
        memcpy(&bits, &x, sizeof bits);
        CHECK_NEAR(of_real(mdyn_real_of_bits(bits)), x, 0x1p-41);
        CHECK_NEAR(of_wide(mdyn_wide_of_bits(bits)), x, 0x1p-39 * fabs(x));
    }
    const double none[3] = { HUGE_VAL, -HUGE_VAL, (double)NAN };
    for (int k = 0; k < 3; k++) {
        uint64_t bits;
        memcpy(&bits, &none[k], sizeof bits);
        CHECK(!md_in_range(mdyn_real_of_bits(bits)));
        CHECK(!md_wide_in_range(mdyn_wide_of_bits(bits)));
    }
}

#endif

/* The angle plus whole turns that is nearest to the reference. */
static void test_nearest_angle(void) {
    for (int n = 0; n < 2000; n++) {
        mdyn_real angle = real(random_in(-50, 50)), reference = real(random_in(-50, 50));
        double turn = 6.283185307179586, got = of_real(mdyn_nearest_angle(angle, reference));
        double turns = round((of_real(reference) - of_real(angle)) / turn);
        CHECK_NEAR(got, of_real(angle) + turns * turn, 10 * MOVED);
    }

    /* as many digits of the angle as its type has, however many turns it is away */
    for (int n = 0; n < 2000; n++) {
        mdyn_real angle = real(random_in(-8e6, 8e6)), reference = real(random_in(-8e6, 8e6));
        long double turn = 6.283185307179586476925L, from = (long double)of_real(angle);
        long double got = (long double)of_real(mdyn_nearest_angle(angle, reference)) - from;
        CHECK_NEAR((double)(got - turn * roundl(got / turn)), 0, BY_SCALAR(1e-9, 0.26, 2e-9));
    }

    /* and half a turn from the reference at most, which many turns have few digits to tell */
    for (int n = 0; n < 2000; n++) {
        mdyn_real angle = real(random_in(-8e6, 8e6)), reference = real(random_in(-50, 50));
        double got = of_real(mdyn_nearest_angle(angle, reference));
        CHECK(fabs(got - of_real(reference)) <= 3.141592653589793 + BY_SCALAR(2e-14, 1e-5, 2e-8));
    }
}

/* mdyn_project onto a curve, q_1 = q_0^2 from 1.2 rad off: q moves by some steps, and v in the
   metric of M where q is then, M (v' - v) . w = 0 for the motion w = (1, 2 q_0) that the curve
   leaves. */
static void test_project_onto_curve(void) {
    static const mdyn_curve square[] = { MDYN_POLYNOMIAL(0, 0, 0, 1, 0, 0) };
    const mdyn_coupling curved[] = {
        { .terms = { MDYN_TERM(1, 1), MDYN_CURVED_TERM(0, -1, 0) } },
    };
    static mdyn_body arm[2];
    mdyn_wide M[4];
    mdyn_model model;
    memset(&model, 0, sizeof model);
    for (int i = 0; i < 2; i++) {
        arm[i].parent = (int16_t)(i - 1);
        arm[i].joint = MDYN_REVOLUTE;
        arm[i].axis = wide3(0, 0, 1);
        arm[i].position = wide3(i, 0, 0);
        arm[i].com = wide3(1, 0, 0);
        arm[i].mass = wide(1);
    }
    model.bodies = arm;
    model.body_count = 2;
    model.couplings = curved;
    model.coupling_count = 1;
    model.curves = square;
    model.curve_count = 1;
    model.dt = wide(0.001);
    for (int row = 0; row < 2; row++) { /* as a part of the mechanism; as a row */
        mdyn_coupling c = curved[0];
        if (row) c.softness = (mdyn_softness)MDYN_HARD(0.2);
        model.couplings = &c;
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
        sim.q[0] = real(0.6);
        sim.q[1] = real(1.56);
        sim.v[0] = real(1);
        sim.v[1] = real(-1);
        CHECK_EQUAL(mdyn_project(&sim, MDYN_MASS_METRIC), MDYN_OK);
        CHECK_EQUAL(mdyn_mass_matrix(&sim, M), MDYN_OK);
        const double q0 = of_real(sim.q[0]), slope = 2 * q0;
        const double d0 = of_real(sim.v[0]) - 1, d1 = of_real(sim.v[1]) + 1;
        const double p0 = of_wide(M[0]) * d0 + of_wide(M[1]) * d1;
        const double p1 = of_wide(M[2]) * d0 + of_wide(M[3]) * d1;
        CHECK_NEAR(of_real(sim.q[1]), q0 * q0, MOVED);
        CHECK_NEAR(of_real(sim.v[1]), slope * of_real(sim.v[0]), MOVED);
        CHECK_NEAR(p0 + slope * p1, 0, SAME);
        CHECK(fabs(d0) > 0.1);
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_refused();
    test_dynamics();
    test_velocities();
    test_elements();
    test_project_onto_curve();
#if MDYN_SCALAR == MDYN_SCALAR_FIXED
    test_bits();
#endif
    test_nearest_angle();
    return check_end();
}
