/* The build without trees, misused: states and commands that are no numbers or too large, numbers
   beyond the last joint, steps of no length, indices out of range, a sim that is not ready or busy,
   tables that are edited while the sim runs, memory that holds anything. Each is refused by its
   code, and nothing has changed; or what comes is finite. */
#define MIMICDYN_TREE 0
#define MIMICDYN_MAX_BODIES 5
#define MIMICDYN_MAX_COUPLINGS 4
#define MIMICDYN_MAX_ROWS 9
#define MIMICDYN_STATIC 1
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

static mdyn_body bodies[4];
static mdyn_coupling couplings[3];
static mdyn_model model;
static mdyn_sim sim, before;

static void begin(void) {
    memset(&model, 0, sizeof model);
    memset(bodies, 0, sizeof bodies);
    memset(couplings, 0, sizeof couplings);
    for (int i = 0; i < 4; i++) {
        bodies[i].parent = MDYN_WORLD;
        bodies[i].joint = i == 3 ? MDYN_PRISMATIC : MDYN_REVOLUTE;
        bodies[i].armature = wide(0.001 * (i + 1));
    }
    bodies[0].drive_kp = wide(2);
    bodies[0].drive_kd = wide(0.02);
    bodies[0].effort = wide(0.5);
    bodies[1].friction = wide(0.01);
    bodies[2].damping = wide(0.001);
    bodies[3].lower = wide(-0.1);
    bodies[3].upper = wide(0.1);
    for (int i = 0; i < 3; i++) {
        couplings[i].terms[0].body = (int16_t)(i + 1);
        couplings[i].terms[0].coefficient = wide(1);
        couplings[i].terms[1].body = (int16_t)i;
        couplings[i].terms[1].coefficient = wide(-0.5);
    }
    couplings[1].effort = wide(0.25);
    couplings[2].softness.kind = MDYN_KP_KD;
    couplings[2].softness.a = wide(50);
    couplings[2].softness.b = wide(0.1);
    model.bodies = bodies;
    model.body_count = 4;
    model.couplings = couplings;
    model.coupling_count = 3;
    model.dt = wide(0.001);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    sim.target[0] = real(0.25);
    sim.tau[2] = real(-0.0625);
    for (int k = 0; k < 20; k++) CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
}

/* ---- numbers ---- */

static mdyn_real *const arrays[] = { sim.q, sim.v, sim.tau, sim.target, sim.target_velocity };
static const mdyn_array names[] = { MDYN_IN_Q, MDYN_IN_V, MDYN_IN_TAU, MDYN_IN_TARGET,
                                    MDYN_IN_TARGET_VELOCITY };

/* A step that is refused leaves the motion as if it had not been called. */
static void test_numbers(void) {
    for (int a = 0; a < 5; a++)
        for (int at = 0; at < 4; at++)
            for (int i = 0; i < CHECK_BAD_REALS; i++) {
                begin();
                const mdyn_real good = arrays[a][at];
                before = sim;
                bad_real(&arrays[a][at], i);
                CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_STATE);
                CHECK_EQUAL(sim.culprit.index, at);
                CHECK_EQUAL(sim.culprit.array, names[a]);
                arrays[a][at] = good;
                CHECK(memcmp(sim.q, before.q, sizeof sim.q) == 0);
                CHECK(memcmp(sim.v, before.v, sizeof sim.v) == 0);
                CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
                CHECK_EQUAL(mdyn_step(&before), MDYN_OK);
                CHECK(memcmp(sim.q, before.q, sizeof sim.q) == 0);
                CHECK(memcmp(sim.v, before.v, sizeof sim.v) == 0);
            }
}

/* Beyond the last joint only zeros may stand; q is not looked at there. */
static void test_beyond(void) {
    for (int a = 1; a < 5; a++) {
        begin();
        arrays[a][4] = real(0.5);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_BEYOND);
        CHECK_EQUAL(sim.culprit.index, 4);
        CHECK_EQUAL(sim.culprit.array, names[a]);
        arrays[a][4] = real(0);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
}

/* The largest numbers that a state may hold, and forces beyond them: a code or a finite motion. */
static void test_large(void) {
    static const double large[] = { 8388607, -8388607, 1e6, 1e4 };
    for (int a = 0; a < 5; a++)
        for (int i = 0; i < 4; i++)
            for (int at = 0; at < 4; at++) {
                begin();
                arrays[a][at] = real(large[i]);
                for (int k = 0; k < 50; k++) {
                    before = sim;
                    if (mdyn_step(&sim) >= 0) continue;
                    CHECK_EQUAL(sim.culprit.code, MDYN_ERR_OVERFLOW);
                    CHECK(memcmp(sim.q, before.q, sizeof sim.q) == 0);
                    CHECK(memcmp(sim.v, before.v, sizeof sim.v) == 0);
                    break;
                }
                for (int k = 0; k < 4; k++) {
                    CHECK(fabs(of_real(sim.q[k])) < 8388608);
                    CHECK(fabs(of_real(sim.v[k])) < 8388608);
                }
            }
}

static void test_durations(void) {
    static const double refused[] = { 0, -0.001, 1e-10, 1.5, 1e9 };
    for (int i = 0; i < MDYN_COUNT(refused); i++) {
        begin();
        CHECK_EQUAL(mdyn_set_dt(&sim, wide(refused[i])), MDYN_ERR_DT);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        model.dt = wide(refused[i]);
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_ERR_DT);
    }
    for (int i = 0; i < CHECK_BAD_WIDES; i++) {
        mdyn_wide dt;
        begin();
        bad_wide(&dt, i);
        CHECK(mdyn_set_dt(&sim, dt) < 0);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
}

/* ---- calls ---- */

static mdyn_sim *on;
static mdyn_wide number;
static int32_t turns;
static mdyn_row_report report;
static mdyn_capacity capacity;

static int init(int i) { (void)i; return mdyn_init(on, &model); }
static int step(int i) { (void)i; return mdyn_step(on); }
static int reset(int i) { (void)i; return mdyn_reset(on); }
static int project(int i) { (void)i; return mdyn_project(on, MDYN_FOLLOWERS); }
static int set_dt(int i) { (void)i; return mdyn_set_dt(on, wide(0.001)); }
static int set_coupling(int i) { return mdyn_set_coupling(on, i, &couplings[0]); }
static int set_target(int i) { return mdyn_set_coupling_target(on, i, real(0), real(0)); }
static int engage(int i) { return mdyn_engage(on, i, MDYN_ENGAGE_HERE); }
static int set_body(int i) { return mdyn_set_body(on, i, &bodies[i >= 0 && i < 4 ? i : 0]); }
static int rebase(int i) { return mdyn_rebase(on, i, &turns); }
static int set_tau(int i) { return mdyn_set_tau(on, i, 0, real(0)); }
static int set_q(int i) { return mdyn_set_q(on, i, 0, real(0)); }
static int set_v(int i) { return mdyn_set_v(on, i, 0, real(0)); }
static int set_joint(int i) { return mdyn_set_target(on, i, real(0)); }
static int set_rate(int i) { return mdyn_set_target_velocity(on, i, real(0)); }
static int row(int i) { return mdyn_report_row(on, MDYN_ROW_COUPLING, i, &report); }
static int force(int i) { return mdyn_coupling_force(on, i, 0, &number); }
static int first(int i) { return mdyn_first_dof(on, i) < 0 ? mdyn_first_dof(on, i) : MDYN_OK; }

/* `count`: indices that are right; 0: no index. Calls of a const sim may come at any time. */
static const struct { int (*call)(int); int count, is_const; const char *name; } calls[] = {
    { init, 0, 0, "init" }, { step, 0, 0, "step" }, { reset, 0, 0, "reset" },
    { project, 0, 0, "project" }, { set_dt, 0, 0, "set_dt" },
    { set_coupling, 3, 0, "set_coupling" }, { set_target, 3, 0, "set_coupling_target" },
    { engage, 3, 0, "engage" }, { set_body, 4, 0, "set_body" }, { rebase, 4, 0, "rebase" },
    { set_tau, 4, 0, "set_tau" }, { set_q, 4, 0, "set_q" }, { set_v, 4, 0, "set_v" },
    { set_joint, 4, 0, "set_target" }, { set_rate, 4, 0, "set_target_velocity" },
    { row, 3, 1, "report_row" }, { force, 3, 1, "coupling_force" }, { first, 4, 1, "first_dof" },
};

/* Whether a call gives the code and leaves the state alone. */
static void refused(int c, int index, int code) {
    before = sim;
    if (!CHECK_EQUAL(calls[c].call(index), code))
        CHECK_NOTE("that is mdyn_%s, index %d\n", calls[c].name, index);
    CHECK(memcmp(before.q, sim.q, sizeof sim.q) == 0 && memcmp(before.v, sim.v, sizeof sim.v) == 0);
    CHECK(memcmp(before.tau, sim.tau, sizeof sim.tau) == 0);
}

static void test_calls(void) {
    static const int wrong[] = { -1, -2, INT16_MIN, INT16_MAX, 32767 * 4, -100000 };
    for (int c = 0; c < MDYN_COUNT(calls); c++) {
        begin();
        on = NULL;
        refused(c, 0, MDYN_ERR_NULL);
        on = &sim;
        sim.ready_mark = MD_BUSY;
        if (!calls[c].is_const) refused(c, 0, MDYN_ERR_BUSY);
        sim.ready_mark = 0;
        if (calls[c].call != init) refused(c, 0, MDYN_ERR_NOT_READY);
        sim.ready_mark = MD_READY;
        if (calls[c].count == 0) continue;
        refused(c, calls[c].count, MDYN_ERR_INDEX);
        for (int i = 0; i < MDYN_COUNT(wrong); i++) refused(c, wrong[i], MDYN_ERR_INDEX);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK); /* no call has left it busy */
    }
}

static void test_pointers(void) {
    begin();
    CHECK_EQUAL(mdyn_init(&sim, NULL), MDYN_ERR_NULL);
    begin();
    CHECK_EQUAL(mdyn_set_coupling(&sim, 0, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_set_body(&sim, 0, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_rebase(&sim, 0, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 0, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, MIMICDYN_MAX_TERMS, &number), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, -1, &number), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_LIMIT, 0, &report), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_report_row(&sim, (mdyn_row_kind)99, 0, &report), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_project(&sim, (mdyn_metric)9), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_required(NULL, &capacity), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_required(&model, &capacity), MDYN_OK);
    CHECK_EQUAL(capacity.bodies, 4);
    CHECK_EQUAL(capacity.couplings, 3);
    CHECK(capacity.entries <= MIMICDYN_MAX_ENTRIES);
    model.bodies = NULL;
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_ERR_NULL);
}

static void test_capacities(void) {
    begin();
    model.body_count = 6;
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_ERR_CAPACITY_BODIES);
    model.body_count = 0;
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_ERR_CAPACITY_BODIES);
    model.body_count = -1;
    CHECK(mdyn_init(&sim, &model) < 0);
    begin();
    model.coupling_count = 5;
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_ERR_CAPACITY_COUPLINGS);
    model.coupling_count = -1;
    CHECK(mdyn_init(&sim, &model) < 0);
}

/* With as many rows as there is room for, a body exchanges one of a kind for one of another: no row
   is ever written behind the others. */
static void test_full(void) {
    begin();
    for (int i = 0; i < 2; i++) {
        bodies[i].drive_kp = bodies[i].friction = wide(0.5);
        bodies[i].lower = bodies[i].upper = wide(0);
    }
    bodies[2].lower = wide(-0.5);
    bodies[2].upper = wide(0.5);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    CHECK_EQUAL(sim.rows, MIMICDYN_MAX_ROWS);
    for (int n = 0; n < 20; n++) {
        mdyn_body b = bodies[2];
        b.lower = b.upper = b.friction = b.drive_kp = wide(0);
        if (n % 3 == 0) b.friction = wide(0.25);
        if (n % 3 == 1) b.drive_kp = wide(0.25);
        if (n % 3 == 2) b.upper = wide(0.25);
        before = sim;
        CHECK_EQUAL(mdyn_set_body(&sim, 2, &b), MDYN_OK);
        CHECK_EQUAL(sim.rows, MIMICDYN_MAX_ROWS);
        CHECK(memcmp(&before.soft_mass[0], &sim.soft_mass[0], sizeof sim.soft_mass[0]) == 0);
        CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
}

/* ---- memory ---- */

/* An edit of the tables while the sim runs changes nothing. */
static void test_edits(void) {
    for (int n = 0; n < 200; n++) {
        begin();
        before = sim;
        memset(n % 2 ? (void *)bodies : (void *)couplings, random_int(256),
               n % 2 ? sizeof bodies : sizeof couplings);
        for (int k = 0; k < 20; k++) {
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            CHECK_EQUAL(mdyn_step(&before), MDYN_OK);
        }
        CHECK(memcmp(sim.q, before.q, sizeof sim.q) == 0);
        CHECK(memcmp(sim.v, before.v, sizeof sim.v) == 0);
    }
}

/* A sim in memory that was never initialized. */
static void test_garbage(void) {
    for (int n = 0; n < 256; n++) {
        memset(&sim, n, sizeof sim);
        CHECK(mdyn_step(&sim) == MDYN_ERR_NOT_READY);
        CHECK(mdyn_set_tau(&sim, 0, 0, real(0)) == MDYN_ERR_NOT_READY);
        begin(); /* and mdyn_init needs no clean memory */
    }
}

/* Any public number of the sim, spoilt at random, again and again. */
static void test_storm(void) {
    for (int n = 0; n < 300; n++) {
        begin();
        for (int k = 0; k < 40; k++) {
            mdyn_real *x = &arrays[random_int(5)][random_int(5)];
            uint64_t bits = random_bits();
            if (random_int(2)) *x = real(random_in(-1, 1) * pow(10, random_int(14) - 6));
            else memcpy(x, &bits, sizeof *x);
            if (random_int(3) == 0) (void)mdyn_project(&sim, (mdyn_metric)random_int(3));
            if (random_int(5) == 0) (void)mdyn_rebase(&sim, random_int(4), &turns);
            if (random_int(5) == 0) (void)mdyn_engage(&sim, random_int(3), random_int(3));
            const int code = mdyn_step(&sim);
            for (int i = 0; i < 4 && code >= 0; i++) {
                CHECK(fabs(of_real(sim.q[i])) < 8388608);
                CHECK(fabs(of_real(sim.v[i])) < 8388608);
            }
            for (int i = 0; i < 3; i++)
                if (mdyn_report_row(&sim, MDYN_ROW_COUPLING, i, &report) == MDYN_OK)
                    CHECK(isfinite(of_wide(report.force)) && isfinite(of_wide(report.error)));
            if (code < 0) *x = real(0);
        }
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_numbers();
    test_beyond();
    test_large();
    test_durations();
    test_calls();
    test_pointers();
    test_capacities();
    test_full();
    test_edits();
    test_garbage();
    random_seed(1);
    test_storm();
    return check_end();
}
