/* What one scalar makes of mechanisms that all scalars are given: test_accuracy.c compares. The
   numbers of the models are decimal ones, rounded to each scalar as a user's would be.

   build   cc -std=c99 -O2 -DMIMICDYN_SCALAR=FIXED -DEXPECT_SCALAR_FIXED=1 tests/accuracy.c -lm
           -o build/accuracy-fixed
   run     build/accuracy-fixed RESULTS [TREES]   trees at 1 and 0.1 ms; 100 unless given

   A line of RESULTS is   GROUP ID N q... M C...   or for single steps
                          step ID N v... N v_before... N sqrt(M_kk)...
   where C is the error of each coupling, of the build's own coefficients. */
#include "knobs.h"
#include "check.h"

enum { BODIES = 22, DOFS = 24, COUPLINGS = 12, TREES = 100, STATES = 100 };

static FILE *out;
static mdyn_body body[BODIES];
static mdyn_coupling coupling[COUPLINGS];
static mdyn_model model;
static mdyn_sim sim;

static void stop_unless(int passed, const char *what) {
    if (!passed) {
        fprintf(stderr, "accuracy: %s: %s\n", what, mdyn_text(sim.culprit.code));
        exit(1);
    }
}

/* ---- models ---- */

static void begin(double dt, double gravity) {
    memset(body, 0, sizeof body);
    memset(coupling, 0, sizeof coupling);
    memset(&model, 0, sizeof model);
    model.bodies = body;
    model.couplings = coupling;
    model.dt = wide(dt);
    model.gravity.z = wide(-gravity);
}

/* A rod of a length along x with a joint at its end, or a block that slides. */
static mdyn_body *rod(int parent, mdyn_joint joint, mdyn_wide3 axis, double mass, double length,
                      double thickness) {
    mdyn_body *b = &body[model.body_count++];
    double along = mass * thickness * thickness / 6;
    double across = mass * (length * length + thickness * thickness) / 12;
    b->parent = (int16_t)parent;
    b->joint = joint;
    b->axis = axis;
    b->mass = wide(mass);
    b->com = wide3(length / 2, 0, 0);
    b->inertia.xx = wide(along);
    b->inertia.yy = b->inertia.zz = wide(across);
    return b;
}

static void rotor(double inertia) {
    mdyn_body *b = &body[model.body_count++];
    b->parent = MDYN_WORLD;
    b->joint = MDYN_REVOLUTE;
    b->armature = wide(inertia);
}

static mdyn_coupling *couple(int a, double ca, int b, double cb) {
    mdyn_coupling *c = &coupling[model.coupling_count++];
    c->terms[0].body = (int16_t)a;
    c->terms[0].coefficient = wide(ca);
    c->terms[1].body = (int16_t)b;
    c->terms[1].coefficient = wide(cb);
    return c;
}

/* 6 to 20 speeds, 0 to 4 couplings, masses of 5 g to 5 kg. */
static void random_tree(double dt, int id) {
    random_seed((uint64_t)id + 1);
    begin(dt, 9.81);
    int speeds = 6 + random_int(15), couplings = random_int(5), d = 0;
    for (int i = 0; d < speeds; i++) {
        double kind = random_in(0, 1), m = 0.005 * pow(1000, random_in(0, 1));
        double size = m * random_in(0.001, 0.01), x = random_in(-1, 1), y = random_in(-1, 1);
        mdyn_body *b = &body[model.body_count++];
        int earlier = random_int(10) < 6 ? i - 1 : random_int(i + 1) - 1;
        b->parent = (int16_t)(i == 0 || random_int(10) == 0 ? MDYN_WORLD : earlier);
        b->joint = kind < 0.65 ? MDYN_REVOLUTE : kind < 0.8 ? MDYN_PRISMATIC : kind < 0.9
            ? MDYN_HELICAL : MDYN_SPHERICAL;
        if (b->joint == MDYN_SPHERICAL && d + 3 > speeds) {
            b->joint = MDYN_REVOLUTE;
        }
        if (i == 0 && random_int(10) < 3) {
            b->joint = MDYN_FREE;
        }
        d += b->joint == MDYN_FREE ? 6 : b->joint == MDYN_SPHERICAL ? 3 : 1;
        b->axis = wide3(x, y, random_in(-1, 1));
        b->pitch = wide(random_in(-0.1, 0.1));
        x = random_in(-0.3, 0.3);
        y = random_in(-0.3, 0.3);
        b->position = wide3(x, y, random_in(-0.3, 0.3));
        b->mass = wide(m);
        x = random_in(-0.1, 0.1);
        y = random_in(-0.1, 0.1);
        b->com = wide3(x, y, random_in(-0.1, 0.1));
        b->inertia.xx = wide(size * random_in(0.7, 1));
        b->inertia.yy = wide(size * random_in(0.7, 1));
        b->inertia.zz = wide(size * random_in(0.7, 1));
        b->damping = wide(m * random_in(0.02, 0.1));
        b->armature = wide(b->joint == MDYN_FREE || random_int(2) ? 0 : m * random_in(1e-4, 1e-2));
    }
    for (int k = 0; k < couplings; k++) {
        int a = random_int(model.body_count), b = random_int(model.body_count);
        double ratio = random_in(-2, 2);
        if (a != b && body[a].joint < MDYN_SPHERICAL && body[b].joint < MDYN_SPHERICAL) {
            couple(a, 1, b, ratio);
        }
    }
    stop_unless(mdyn_init(&sim, &model) >= 0, "a tree");
}

/* ---- output ---- */

/* C of a coupling by the public coordinates and the build's own coefficients. */
static double coupling_error(const mdyn_coupling *c) {
    long double C = (long double)of_wide(c->offset);
    for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        int q = mdyn_first_coordinate(&sim, c->terms[k].body);
        C += (long double)of_wide(c->terms[k].coefficient) * (long double)of_real(sim.q[q]);
    }
    return (double)C;
}

static void write_state(const char *group, int id) {
    fprintf(out, "%s %d %d", group, id, mdyn_coordinates(&sim));
    for (int i = 0; i < mdyn_coordinates(&sim); i++) {
        fprintf(out, " %.17g", of_real(sim.q[i]));
    }
    fprintf(out, " %d", model.coupling_count);
    for (int k = 0; k < model.coupling_count; k++) {
        fprintf(out, " %.17g", coupling_error(&coupling[k]));
    }
    fprintf(out, "\n");
}

/* Steps of a mechanism under tau(t, speed), with 20 samples. */
static void run(const char *group, int id, double dt, double seconds,
                double (*tau)(double, int)) {
    int steps = (int)(seconds / dt + 0.5);
    for (int s = 0; s < steps; s++) {
        for (int i = 0; i < mdyn_dofs(&sim); i++) {
            sim.tau[i] = real(tau(s * dt, i));
        }
        stop_unless(mdyn_step(&sim) >= 0, group);
        if ((s + 1) % (steps / 20) == 0) {
            write_state(group, id);
        }
    }
}

/* ---- random trees ---- */

static double waves(double t, int i) {
    int b = 0;
    while (b + 1 < model.body_count && mdyn_first_dof(&sim, b + 1) <= i) {
        b++;
    }
    return 0.5 * of_wide(body[b].mass) * sin(7 * t + 2.5 * i);
}

static void run_trees(const char *group, double dt, int count) {
    for (int id = 0; id < count; id++) {
        random_tree(dt, id);
        run(group, id, dt, 1, waves);
    }
}

/* Single steps from states that every scalar holds exactly. */
static void run_steps(void) {
    static mdyn_wide M[DOFS * DOFS];
    for (int id = 0; id < TREES; id++) {
        random_tree(1e-3, id);
        int n = mdyn_dofs(&sim);
        for (int k = 0; k < STATES; k++) {
            double before[DOFS];
            stop_unless(mdyn_init(&sim, &model) >= 0, "a tree");
            for (int b = 0; b < model.body_count; b++) { /* quaternions stay at their start */
                if (body[b].joint < MDYN_SPHERICAL && body[b].joint != MDYN_FIXED) {
                    sim.q[mdyn_first_coordinate(&sim, b)] = real(random_in(-2, 2));
                }
            }
            stop_unless(mdyn_project(&sim, MDYN_FOLLOWERS) >= 0, "project");
            for (int i = 0; i < mdyn_coordinates(&sim); i++) {
                sim.q[i] = real(rint(of_real(sim.q[i]) * 0x1p+16) * 0x1p-16);
            }
            for (int i = 0; i < n; i++) {
                before[i] = rint(random_in(-3, 3) * 0x1p+16) * 0x1p-16;
                sim.v[i] = real(before[i]);
                sim.tau[i] = real(rint(random_in(-1, 1) * 0x1p+16) * 0x1p-16);
            }
            stop_unless(mdyn_mass_matrix(&sim, M) >= 0, "mass matrix");
            stop_unless(mdyn_step(&sim) >= 0, "step");
            fprintf(out, "step %d %d", id, n);
            for (int i = 0; i < n; i++) {
                fprintf(out, " %.17g", of_real(sim.v[i]));
            }
            fprintf(out, " %d", n);
            for (int i = 0; i < n; i++) {
                fprintf(out, " %.17g", before[i]);
            }
            fprintf(out, " %d", n);
            for (int i = 0; i < n; i++) {
                fprintf(out, " %.9g", sqrt(of_wide(M[i * n + i])));
            }
            fprintf(out, "\n");
        }
    }
}

/* ---- named mechanisms, 5 s at 1 ms ---- */

/* All their joints have one coordinate and one speed. */
static double at(int i) { return of_real(sim.q[i]); }
static double speed(int i) { return of_real(sim.v[i]); }

/* Two jaws of 15 g and the motor that drives both through 1 mm a radian. */
static double grip(double t, int i) { return i == 2 ? 2e-5 * sin(3 * t) - 2e-8 * speed(2) : 0; }

static void run_gripper(void) {
    begin(1e-3, 9.81);
    rod(MDYN_WORLD, MDYN_PRISMATIC, wide3(0, 1, 0), 0.015, 0.04, 0.01);
    rod(MDYN_WORLD, MDYN_PRISMATIC, wide3(0, -1, 0), 0.015, 0.04, 0.01);
    rotor(1e-6);
    couple(0, 1, 2, -0.001);
    couple(1, 1, 2, -0.001);
    stop_unless(mdyn_init(&sim, &model) >= 0, "gripper");
    run("gripper", 0, 1e-3, 5, grip);
}

static double curl(double t, int i) {
    return (i % 4 == 0 ? 0.002 : 0.01) * sin(2 * t + 0.3 * i) - 0.02 * at(i);
}

static void run_hand(void) {
    begin(1e-3, 9.81);
    /* The default step is 7.5 times nearer in FIXED than in F32, below the bar of 8: its rounding
       of the light first joints adds up to 1.7e-8 rad. */
    model.solver.scheme = MDYN_EXPLICIT;
    for (int f = 0; f < 5; f++) {
        static const double length[] = { 0.02, 0.045, 0.028, 0.022 };
        static const double mass[] = { 0.04, 0.025, 0.012, 0.007 };
        for (int j = 0; j < 4; j++) {
            int parent = j == 0 ? MDYN_WORLD : model.body_count - 1;
            mdyn_body *b = rod(parent, MDYN_REVOLUTE, wide3(0, j > 0, j == 0), mass[j],
                               length[j] * (1 + 0.05 * f), 0.016);
            double x = j == 0 ? 0.09 : length[j - 1] * (1 + 0.05 * f);
            b->position = wide3(x, j == 0 ? 0.03 - 0.025 * f : 0, 0);
            b->damping = wide(0.001);
        }
        couple(4 * f + 2, 1, 4 * f + 1, -0.8);
        couple(4 * f + 3, 1, 4 * f + 2, -1.1);
    }
    stop_unless(mdyn_init(&sim, &model) >= 0, "hand");
    run("hand", 0, 1e-3, 5, curl);
}

/* Seven joints with a PD controller, and a gripper whose motor has 1e-7 kg m^2. */
static double reach(double t, int i) {
    if (i < 7) {
        double goal = 0.5 * sin(1.5 * t + i) - 0.5 * sin(i);
        return (60 - 7 * i) * (goal - at(i));
    }
    return i == 9 ? 1e-5 * sin(4 * t) - 2e-8 * speed(9) : 0;
}

static void run_arm(void) {
    begin(1e-3, 9.81);
    for (int i = 0; i < 7; i++) {
        mdyn_body *b = rod(i - 1, MDYN_REVOLUTE, wide3(0, i % 2, 1 - i % 2), 3 - 0.35 * i,
                           0.25 - 0.02 * i, 0.08);
        b->position = wide3(i == 0 ? 0 : 0.27 - 0.02 * i, 0, 0);
        b->armature = wide(0.01);
        b->damping = wide(8 - i);
    }
    for (int k = 0; k < 2; k++) {
        mdyn_wide3 axis = wide3(0, 1 - 2 * k, 0);
        mdyn_body *b = rod(6, MDYN_PRISMATIC, axis, 0.02 + 0.005 * k, 0.05, 0.01);
        b->position = wide3(0.13, 0, 0);
    }
    rotor(1e-7);
    couple(7, 1, 9, -0.0005);
    couple(8, 1, 9, -0.0005);
    stop_unless(mdyn_init(&sim, &model) >= 0, "arm");
    run("arm", 0, 1e-3, 5, reach);
}

/* Sun, ring, carrier: 24 q_s + 72 q_r - 96 q_c = 0; the sun up to 300 rad/s and back. */
static double mesh(double t, int i) {
    return i == 0 ? 1e-3 * (300 * sin(1.2 * t) - speed(0)) : i == 1 ? -0.02 * speed(1) : 0.002;
}

static void run_planetary(void) {
    begin(1e-3, 9.81);
    rotor(2.1e-5);
    rotor(3.3e-4);
    rotor(1.7e-4);
    mdyn_coupling *c = couple(0, 24, 1, 72);
    c->terms[2].body = 2;
    c->terms[2].coefficient = wide(-96);
    stop_unless(mdyn_init(&sim, &model) >= 0, "planetary");
    run("planetary", 0, 1e-3, 5, mesh);
}

static double sway(double t, int i) {
    return (12 - i) * (3 * sin(1.1 * t + i) - 4 * at(i));
}

static void run_chain(void) {
    begin(1e-3, 9.81);
    for (int i = 0; i < 12; i++) {
        mdyn_body *b = rod(i - 1, MDYN_REVOLUTE, wide3(i % 3 == 0, i % 3 == 1, i % 3 == 2), 1,
                           0.2, 0.04);
        b->position = wide3(i == 0 ? 0 : 0.2, 0, 0);
        b->damping = wide(0.6 * (12 - i));
    }
    stop_unless(mdyn_init(&sim, &model) >= 0, "chain");
    run("chain", 0, 1e-3, 5, sway);
}

/* ---- long and slow ---- */

/* A motor at 300 rad/s turns a wheel through 100 : 1, for 1000 s. */
static double spin(double t, int i) {
    return i == 0 ? 2e-5 * (300 + 20 * sin(0.7 * t) - speed(0)) : 0;
}

static void run_turns(void) {
    begin(1e-3, 0);
    rotor(3e-6);
    rotor(7e-3);
    couple(0, 1, 1, -100);
    stop_unless(mdyn_init(&sim, &model) >= 0, "turns");
    sim.v[0] = real(300);
    sim.v[1] = real(3);
    run("turns", 0, 1e-3, 1000, spin);
}

/* 10 kg m^2 under 1e-5 N m for 10 s at 0.1 ms: a step adds 1e-10 rad/s, and 5e-15 rad at first. */
static double breath(double t, int i) {
    (void)t;
    (void)i;
    return 1e-5;
}

static void run_slow(void) {
    begin(1e-4, 0);
    rotor(10);
    stop_unless(mdyn_init(&sim, &model) >= 0, "slow");
    run("slow", 0, 1e-4, 10, breath);
}

int main(int argc, char **argv) {
    out = argc > 1 ? fopen(argv[1], "w") : NULL;
    if (out == NULL) {
        fprintf(stderr, "usage: %s RESULTS [TREES]\n", argv[0]);
        return 2;
    }
    const int trees = argc > 2 ? atoi(argv[2]) : TREES;
    check.seed = 1;
    run_trees("tree-10", 1e-2, TREES);
    run_trees("tree-1", 1e-3, trees);
    run_trees("tree-0.1", 1e-4, trees);
    run_gripper();
    run_hand();
    run_arm();
    run_planetary();
    run_chain();
    run_turns();
    run_slow();
    run_steps();
    return fclose(out) != 0;
}
