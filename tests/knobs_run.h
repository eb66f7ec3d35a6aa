/* Mechanisms that need none of what the knobs of test_knobs.c leave out, and their motion. Included
   after mimicdyn.h by two files of different knobs. */
#ifndef KNOBS_RUN_H
#define KNOBS_RUN_H

enum { KNOBS_BODIES = 4, KNOBS_COUPLINGS = 3, KNOBS_STEPS = 400 };
enum { KNOBS_NUMBERS = 2 * KNOBS_BODIES };

static const mdyn_body knobs_bodies[KNOBS_BODIES] = {
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .axis = MDYN_V3(0, 1, 0), .mass = MDYN_C(1.5),
      .com = MDYN_V3(0.2, 0, 0.01), .inertia = MDYN_INERTIA(0.01, 0.02, 0.02, 0, 0, 0),
      .damping = MDYN_C(0.1), .drive_kp = MDYN_C(30), .drive_kd = MDYN_C(2), .effort = MDYN_C(9) },
    { .parent = 0, .joint = MDYN_REVOLUTE, .axis = MDYN_V3(0, 1, 0.3), .mass = MDYN_C(0.7),
      .position = MDYN_V3(0.4, 0, 0), .com = MDYN_V3(0.15, 0.02, 0), .friction = MDYN_C(0.05),
      .inertia = MDYN_INERTIA(0.004, 0.005, 0.006, 0, 0, 0), .lower = MDYN_C(-0.3),
      .upper = MDYN_C(0.5) },
    { .parent = 1, .joint = MDYN_PRISMATIC, .axis = MDYN_V3(1, 0, 0), .mass = MDYN_C(0.2),
      .position = MDYN_V3(0.3, 0, 0) },
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .armature = MDYN_C(1e-4) },
};
static const mdyn_coupling knobs_couplings[] = {
    MDYN_GEAR(3, 1, 0, -20, 0),
    { .terms = { MDYN_TERM(2, 1), MDYN_TERM(1, 0.1) }, .lower = MDYN_C(-0.02),
      .upper = MDYN_C(0.02) },
    { .terms = { MDYN_TERM(3, 1), MDYN_TERM(0, 30), MDYN_TERM(2, -15) },
      .softness = MDYN_SPRING(0.02, 0.001), .effort = MDYN_C(0.03) },
};
static const mdyn_model knobs_model = {
    .bodies = knobs_bodies, .body_count = KNOBS_BODIES, .couplings = knobs_couplings,
    .coupling_count = KNOBS_COUPLINGS, .gravity = MDYN_V3(0, 0, -9.81), .dt = MDYN_C(0.001),
};

/* Slides that leave their stops while a row that ties them puts them right: rows are solved again,
   with what holds the ends of the step. */
static const mdyn_body knobs_slides[] = {
    { .parent = MDYN_WORLD, .joint = MDYN_PRISMATIC, .axis = MDYN_V3(1, 0, 0), .mass = MDYN_C(2),
      .lower = MDYN_C(-1) },
    { .parent = MDYN_WORLD, .joint = MDYN_PRISMATIC, .axis = MDYN_V3(1, 0, 0), .mass = MDYN_C(4),
      .lower = MDYN_C(-1), .upper = MDYN_C(0.002) },
    { .parent = MDYN_WORLD, .joint = MDYN_PRISMATIC, .axis = MDYN_V3(1, 0, 0), .mass = MDYN_C(4),
      .lower = MDYN_C(-1) },
};
static const mdyn_coupling knobs_tie[] = {
    { .terms = { MDYN_TERM(0, 1), MDYN_TERM(1, -1), MDYN_TERM(2, 1) }, .offset = MDYN_C(-0.008),
      .softness = MDYN_HARD(0.5), .target_velocity = MDYN_C(0.1) },
};
static const mdyn_model knobs_stops = {
    .bodies = knobs_slides, .body_count = 3, .couplings = knobs_tie, .coupling_count = 1,
    .dt = MDYN_C(0.001),
};

/* q and v after every step of one of them; returns how many steps were made. */
static int knobs_run(mdyn_sim *sim, int stops, const mdyn_solver *solver,
                     mdyn_real motion[][KNOBS_NUMBERS]) {
    static mdyn_model model;
    int code;
    model = stops ? knobs_stops : knobs_model;
    model.solver = *solver;
    code = mdyn_init(sim, &model);
    if (code < 0 || (code > 0 && !stops)) return -1;
    if (stops) { /* which begin where the row is not satisfied */
        sim->v[0] = MDYN_R(-1.9);
        sim->v[1] = MDYN_R(-1.2);
        sim->v[2] = MDYN_R(-0.8);
    }
    for (int n = 0; n < KNOBS_STEPS; n++) {
        if (!stops) sim->target[0] = n < KNOBS_STEPS / 2 ? MDYN_R(0.8) : MDYN_R(-0.5);
        if (mdyn_step(sim) != MDYN_OK) return n;
        for (int k = 0; k < model.body_count; k++) {
            motion[n][k] = sim->q[k];
            motion[n][KNOBS_BODIES + k] = sim->v[k];
        }
    }
    return KNOBS_STEPS;
}

/* the same with all knobs at 1 */
int knobs_run_all(int stops, const mdyn_solver *solver, mdyn_real motion[][KNOBS_NUMBERS]);

#endif
