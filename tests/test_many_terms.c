/* Forces of couplings in a build for couplings of many terms, as optimized as programs are: gcc 12
   at -O2 took a function that writes for one that only reads, and left out its calls, in FIXED for
   eight terms alone. */
#include "knobs.h"
#include "check.h"

/*                    F64    F32  FIXED */
TOLERANCE(FORCE,    1e-13,  3e-5,  1e-6);

/* Four sliders of masses m under forces f, with v1 = 2 v0 and v1 + v2 + v3 = 0: two couplings, of
   which the second loads the follower of the first. By the accelerations a of the free sliders 0
   and 3, where v2 = -2 v0 - v3:
      (m0 + 4 m1 + 4 m2) a0 + 2 m2 a3 = f0 + 2 f1 - 2 f2
                2 m2 a0 + (m2 + m3) a3 = f3 - f2
   and their forces are what the equations of sliders 2 and 1 miss. */
static void test_forces(mdyn_softness softness) {
    static const double m[4] = { 1, 2, 0.5, 3 }, f[4] = { 3, -1, 2, 0.5 };
    mdyn_coupling couplings[2] = { MDYN_MIMIC(1, 0, 2, 0), MDYN_GEAR3(1, 1, 2, 1, 3, 1, 0) };
    mdyn_body bodies[4];
    mdyn_model model;
    mdyn_sim sim;
    memset(bodies, 0, sizeof bodies);
    memset(&model, 0, sizeof model);
    for (int i = 0; i < 4; i++) {
        bodies[i].parent = MDYN_WORLD;
        bodies[i].joint = MDYN_PRISMATIC;
        bodies[i].axis.x = wide(1);
        bodies[i].mass = wide(m[i]);
    }
    couplings[0].softness = couplings[1].softness = softness;
    model.bodies = bodies;
    model.body_count = 4;
    model.couplings = couplings;
    model.coupling_count = 2;
    model.dt = wide(0x1p-10);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    for (int i = 0; i < 4; i++) sim.tau[i] = real(f[i]);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);

    double a00 = m[0] + 4 * m[1] + 4 * m[2], a03 = 2 * m[2], a33 = m[2] + m[3];
    double b0 = f[0] + 2 * f[1] - 2 * f[2], b3 = f[3] - f[2], D = a00 * a33 - a03 * a03;
    double a0 = (b0 * a33 - a03 * b3) / D, a3 = (a00 * b3 - a03 * b0) / D, a2 = -2 * a0 - a3;
    double second = m[2] * a2 - f[2], first = 2 * m[1] * a0 - f[1] - second;
    mdyn_row_report report;
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &report), MDYN_OK);
    CHECK_NEAR(of_wide(report.force), first, FORCE * fabs(first));
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 1, &report), MDYN_OK);
    CHECK_NEAR(of_wide(report.force), second, FORCE * fabs(second));
    CHECK_NEAR(of_real(sim.v[0]) * 0x1p10, a0, FORCE * fabs(a0) * 16);
}

int main(int argc, char **argv) {
    const mdyn_softness eliminated = { MDYN_DEFAULT, MDYN_C(0), MDYN_C(0) }, row = MDYN_HARD(0.2);
    check_begin(argc, argv);
    test_forces(eliminated);
    test_forces(row);
    return check_end();
}
