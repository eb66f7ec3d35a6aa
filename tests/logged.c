/* Writes logs of mechanisms with all that a log can hold (examples/log.h), for tests/log.sh.

   run     build/logged-f64 loop|rows|curves|box FILE
           build/logged-f64 refused FILE      models with functions: log_begin says why not

   Exit: 0 it was written (refused: every model was refused), 1 it was not, 2 usage. */

#include "tests/knobs_few.h"
#include "examples/check.h"
#include "examples/log.h"
#include "examples/box.h"

enum { STEPS = 200 };
static mdyn_sim sim;
static log_file record;

#define LINK(mass_, length) \
    .joint = MDYN_REVOLUTE, .mass = MDYN_C(mass_), .com = MDYN_V3((length) / 2, 0, 0), \
    .inertia = MDYN_INERTIA(1e-5, 1e-4, 1e-4, 0, 0, 0), .damping = MDYN_C(1e-3)

static void push(int body, double x, double y, double moment) {
    sim.wrench[body].force.x = mdyn_real_from(x);
    sim.wrench[body].force.y = mdyn_real_from(y);
    sim.wrench[body].moment.z = mdyn_real_from(moment);
}

static void step(int k) {
    log_commands(&record, &sim, k);
    must(&sim, mdyn_step(&sim));
    log_state(&record, &sim, k + 1);
}

/* A four-bar that a hinge closes, and a rod that holds its finger with at most 3 N. */
static void loop(FILE *file) {
    static const mdyn_body bodies[] = {
        { .parent = MDYN_WORLD, LINK(0.2, 0.3), .effort = MDYN_C(9), .drive_kp = MDYN_C(5),
          .drive_kd = MDYN_C(0.1) },
        { .parent = 0, LINK(0.15, 0.24), .position = MDYN_V3(0.3, 0, 0) },
        { .parent = MDYN_WORLD, LINK(0.2, 0.36), .position = MDYN_V3(0.22, 0, 0) },
    };
    static const mdyn_closure closures[] = {
        { .kind = MDYN_CLOSE_HINGE, .a = 1, .b = 2, .point_a = MDYN_V3(0.24, 0, 0),
          .point_b = MDYN_V3(0.36, 0, 0), .axis_a = MDYN_V3(0, 0, 1), .axis_b = MDYN_V3(0, 0, 2) },
        { .kind = MDYN_CLOSE_DISTANCE, .a = 1, .b = MDYN_WORLD, .point_b = MDYN_V3(0.5, 0.4, 0.1),
          .distance = MDYN_C(0.7), .softness = MDYN_SPRING(40, 1), .effort = MDYN_C(3) },
    };
    static const mdyn_model model = {
        .bodies = bodies, .body_count = 3, .closures = closures, .closure_count = 2,
        .gravity = MDYN_V3(0, -9.81, 0), .dt = MDYN_C(0.002),
    };
    int k;
    must(&sim, mdyn_init(&sim, &model));
    sim.q[0] = MDYN_R(1.7);
    sim.q[1] = MDYN_R(-0.9);
    sim.q[2] = MDYN_R(1.2);
    (void)mdyn_project(&sim, MDYN_MASS_METRIC);
    if (!log_begin(&record, file, &sim, &model, "loop")) exit(1);
    for (k = 0; k < STEPS; k++) {
        sim.target[0] = mdyn_real_from(1.7 + 0.001 * k);
        push(1, 0.01 * k, k / 50 % 2 ? 0.3 : -0.7, k > 120 ? 0.05 : 0);
        step(k);
    }
}

/* Two links under rows of all axes: bounded, compliant, and friction by the force of another. */
static void rows(FILE *file) {
    static const mdyn_body bodies[] = {
        { .parent = MDYN_WORLD, LINK(0.2, 0.3) },
        { .parent = 0, LINK(0.15, 0.24), .position = MDYN_V3(0.3, 0, 0) },
    };
    static const mdyn_user_row table[] = {
        { .terms = { { 0, MDYN_JOINT_VELOCITIES, MDYN_V3(1, 0, 0), MDYN_V3(0, 0, 0) },
                     { 1, MDYN_JOINT_VELOCITIES, MDYN_V3(-2.5, 0, 0), MDYN_V3(0, 0, 0) } },
          .level = MDYN_VELOCITY, .target_velocity = MDYN_C(0.3), .force_min = MDYN_C(-0.2),
          .force_max = MDYN_C(0.1) },
        { .terms = { { 1, MDYN_BODY_AXES, MDYN_V3(0, 0, 0.1), MDYN_V3(0.5, 1, 0) } },
          .value = MDYN_C(0.02), .softness = MDYN_SOFT(0.1, 3), .lower = MDYN_C(-0.01),
          .upper = MDYN_C(0.01) },
        { .terms = { { 0, MDYN_WORLD_AXES, MDYN_V3(0, 0, 1), MDYN_V3(0, 0, 0) } },
          .level = MDYN_VELOCITY, .mu = MDYN_C(0.4), .mu_of = 1 },
    };
    static const mdyn_model model = {
        .bodies = bodies, .body_count = 2, .user_rows = table, .user_row_count = 3,
        .gravity = MDYN_V3(0, -9.81, 0), .dt = MDYN_C(0.002),
    };
    int k;
    must(&sim, mdyn_init(&sim, &model));
    sim.q[1] = MDYN_R(0.4);
    if (!log_begin(&record, file, &sim, &model, "rows")) exit(1);
    for (k = 0; k < STEPS; k++) {
        push(1, k / 60 % 2 ? 0.9 : -0.4, 0.2, 0);
        step(k);
    }
}

/* A follower on a spline, a compliant coupling with a polynomial, a drive on two joints that is
   commanded, let go and engaged again. */
static void curves(FILE *file) {
    static const mdyn_body bodies[] = {
        { .parent = MDYN_WORLD, LINK(0.2, 0.3) },
        { .parent = 0, LINK(0.15, 0.24), .position = MDYN_V3(0.3, 0, 0) },
        { .parent = MDYN_WORLD, LINK(0.2, 0.36), .position = MDYN_V3(0.22, 0, 0) },
    };
    static const mdyn_coupling couplings[] = {
        MDYN_FOLLOWS(1, 0, 0),
        { .terms = { MDYN_TERM(2, 1), MDYN_CURVED_TERM(0, -1.5, 1) },
          .softness = MDYN_SPRING(20, 0.1) },
        MDYN_TENDON_DRIVE(0, 1, 2, -0.7, 3, 0.05, 0.8),
    };
    static mdyn_knot knots[] = { MDYN_KNOT(-3, 1, 0), MDYN_KNOT(-1, 0.2, 0),
                                 MDYN_KNOT(0.1, -0.3, 0), MDYN_KNOT(0.9, 0.7, 0),
                                 MDYN_KNOT(3, 1.1, 0) };
    static const mdyn_curve tables[] = { MDYN_SPLINE(knots),
                                         MDYN_POLYNOMIAL(0.1, 0.2, 1, -0.3, 0.1, 0.05) };
    static const mdyn_model model = {
        .bodies = bodies, .body_count = 3, .couplings = couplings, .coupling_count = 3,
        .curves = tables, .curve_count = 2, .gravity = MDYN_V3(0, -9.81, 0), .dt = MDYN_C(0.002),
    };
    mdyn_wide scratch[MDYN_COUNT(knots)];
    int k;
    if (mdyn_fill_spline(knots, MDYN_COUNT(knots), scratch) < 0) exit(1);
    must(&sim, mdyn_init(&sim, &model) == MDYN_WARN_OFF_COUPLING ? MDYN_OK : sim.culprit.code);
    must(&sim, mdyn_project(&sim, MDYN_FOLLOWERS));
    if (!log_begin(&record, file, &sim, &model, "curves")) exit(1);
    for (k = 0; k < STEPS; k++) {
        const mdyn_real target = mdyn_real_from(0.3 - 0.002 * k), rate = MDYN_R(-1);
        must(&sim, mdyn_set_coupling_target(&sim, 2, target, rate));
        log_coupling_target(&record, 2, target, rate, k);
        if (k == 80 || k == 130) {
            must(&sim, mdyn_engage(&sim, 2, k == 80 ? MDYN_RELEASE : MDYN_ENGAGE_OFFSET));
            log_engage(&record, 2, k == 80 ? MDYN_RELEASE : MDYN_ENGAGE_OFFSET, k);
        }
        step(k);
    }
}

/* A box that falls on the ground, is pushed and slides. */
static void box(FILE *file) {
    static const mdyn_body bodies[] = { BOX(2) };
    static const mdyn_model model = {
        .bodies = bodies, .body_count = 1, .gravity = MDYN_V3(0, 0, -9.81), .dt = MDYN_C(0.002),
    };
    mdyn_contact contacts[BOX_CORNERS];
    int k;
    must(&sim, mdyn_init(&sim, &model));
    sim.q[2] = MDYN_R(0.08);
    sim.v[0] = MDYN_R(0.5);
    sim.v[2] = MDYN_R(1);
    if (!log_begin(&record, file, &sim, &model, "box")) exit(1);
    for (k = 0; k < STEPS; k++) {
        const int count = box_on(&sim, 0, MDYN_WORLD, 0.4, contacts, 0);
        must(&sim, mdyn_set_contacts(&sim, contacts, count));
        log_contacts(&record, contacts, count, k);
        push(0, k > 60 && k < 120 ? 15 : 0, 3, 0.02);
        step(k);
    }
}

static void no_row(mdyn_sim *of, int index, mdyn_user_row *row, void *user) {
    (void)of;
    (void)index;
    (void)row;
    (void)user;
}

static void no_curve(mdyn_real q, mdyn_curve_point *point, void *user) {
    (void)q;
    (void)point;
    (void)user;
}

static void no_coupler(const mdyn_real *q, const mdyn_real *v, mdyn_coupler_point *point,
                       void *user) {
    (void)q;
    (void)v;
    (void)point;
    (void)user;
}

/* Functions are no numbers: each is refused, with a reason, and nothing is written. */
static int refused(FILE *file) {
    static const mdyn_user_row table[1];
    const mdyn_curve function = MDYN_FUNCTION(no_curve, NULL);
    const mdyn_curve coupler = MDYN_COUPLER(no_coupler, NULL);
    mdyn_model models[4];
    int i;
    memset(models, 0, sizeof models);
    models[0].curves = &function;
    models[1].curves = &coupler;
    models[0].curve_count = models[1].curve_count = 1;
    models[2].user_rows = table;
    models[2].row_function = no_row;
    models[2].user_row_count = models[3].user_row_count = 1;
    for (i = 0; i < 4; i++) {
        if (log_begin(&record, file, &sim, &models[i], "refused") || !record.error) return 1;
        printf("%s\n", record.error);
    }
    return ftell(file) != 0;
}

int main(int argc, char **argv) {
    static const struct { const char *name; void (*write)(FILE *); } kinds[] = {
        { "loop", loop }, { "rows", rows }, { "curves", curves }, { "box", box }
    };
    FILE *file = argc == 3 ? fopen(argv[2], "w") : NULL;
    size_t i;
    int code = 2;
    if (!file) return 2;
    if (strcmp(argv[1], "refused") == 0) code = refused(file);
    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(argv[1], kinds[i].name) != 0) continue;
        kinds[i].write(file);
        log_end(&record);
        code = 0;
    }
    return fclose(file) != 0 ? 1 : code;
}
