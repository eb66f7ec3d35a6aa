/* Constant rows (MIMICDYN_TREE, _SETTINGS and _LOSSES 0) against the build with trees: random
   mechanisms of the default solver, changed on the way. Impulses are found in another order there,
   so motions are the same within rounding, and each step begins where the other build was. */
#define MIMICDYN_TREE 0
#define MIMICDYN_SETTINGS 0
#define MIMICDYN_LOSSES 0
#define MIMICDYN_STATIC 1
#define MIMICDYN_MAX_BODIES 5
#define MIMICDYN_MAX_COUPLINGS 5
#define MIMICDYN_MAX_ROWS 32
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include "rotors_run.h"

/* Of the largest velocity of a step. Steps of more iterations are not compared: they may end when
   every row meets its accuracy, which is larger.
   The largest that is seen in F64, 9.5e-14, is one of rounding: in mechanism 67171871 four rows
   hold three joints against each other with impulses up to 100 N s, from step to step larger ones,
   while the joints' momenta are 0.006. An impulse of 100 has roundings of 7e-15, each of which
   changes the velocity of such a joint (coefficient 2.2, inertia 0.0058) by 2.7e-12.
   Where C and C' of a compliant range are both 0, as after MDYN_ENGAGE_HERE at its bound, rounding
   alone decides for which part of the step its spring acts; two builds then differ by 1e-4 and more
   (with -s 5 and -s 8 one step each). */
TOLERANCE(SAME, 1e-13, 2e-4, 3e-4);
enum { MOST_ITERATIONS = 30 };

static mdyn_sim sim;
static rotors_state now[ROTORS_STEPS], other[ROTORS_STEPS];
static int at, compared, unsolved, other_unsolved, changes;
static long iterations, other_iterations;
static double worst;

/* That one iteration is the solution (rows_meet) is decided when rows are planned: a call that
   plans them anew leaves a sim that mdyn_verify passes, and a flipped bit is told. */
static void verify(mdyn_sim *s) {
    static int before;
    changes += at > 0 && s->rows_meet != before;
    before = s->rows_meet;
    CHECK_EQUAL(mdyn_verify(s), MDYN_OK);
    s->rows_meet ^= 1;
    CHECK_EQUAL(mdyn_verify(s), MDYN_ERR_MEMORY);
    s->rows_meet ^= 1;
}

/* Goes on where the other build is. */
static void follow(mdyn_sim *s) {
    memcpy(s->q, other[at].q, sizeof other->q);
    memcpy(s->v, other[at].v, sizeof other->v);
    at++;
}

static void compare_step(uint32_t seed, int n) {
    double size = 1;
    unsolved += now[n].code == MDYN_WARN_NOT_CONVERGED;
    other_unsolved += other[n].code == MDYN_WARN_NOT_CONVERGED;
    iterations += now[n].iterations;
    other_iterations += other[n].iterations;
    if (now[n].code != MDYN_OK || other[n].code != MDYN_OK
        || now[n].iterations > MOST_ITERATIONS || other[n].iterations > MOST_ITERATIONS) return;
    compared++;
    for (int k = 0; k < ROTORS; k++) size = fmax(size, fabs(of_real(other[n].v[k])));
    for (int k = 0; k < ROTORS; k++) {
        const double miss = fabs(of_real(now[n].v[k]) - of_real(other[n].v[k])) / size;
        worst = fmax(worst, miss);
        if (!CHECK(miss < SAME))
            CHECK_NOTE("mechanism %u, step %d, DoF %d: %g\n", (unsigned)seed, n, k, miss);
        CHECK_NEAR(of_real(now[n].q[k]), of_real(other[n].q[k]), SAME * size);
    }
}

/* Commands that come and go. */
static void stop_now_and_then(mdyn_sim *s) {
    for (int k = 0; k < ROTORS && s->step_count % 4 < 2; k++) s->tau[k] = real(0);
}

/* The same with rows that are set up in every step, and the system of those at no bound. */
static void set_up_anew(mdyn_sim *s) {
    stop_now_and_then(s);
    md_drop_factor(s);
    MD_FREE_ROWS(s)->count = 0;
}

/* Dry friction against a coupling, or a limit, that asks for another velocity, until its bound:
   their impulses grew by the same amount in each iteration, and 34 did not get there. */
static void contradictory_rows(void) {
    static const uint32_t seeds[] = { 100961293u, 98611997u };
    for (int i = 0; i < 2; i++) {
        const int steps = rotors_run_tree(seeds[i], 1, other);
        at = 0;
        CHECK_EQUAL(rotors_run(&sim, seeds[i], 1, now, NULL, follow), steps);
        for (int n = 0; n < steps; n++) CHECK(now[n].code != MDYN_WARN_NOT_CONVERGED);
    }
}

static mdyn_body body[3];
static mdyn_coupling coupling;
static mdyn_model model;

/* `count` rotors of one armature, and a coupling of the first alone. */
static void rotors(int count, double armature, double dt) {
    memset(body, 0, sizeof body);
    memset(&coupling, 0, sizeof coupling);
    memset(&model, 0, sizeof model);
    for (int i = 0; i < count; i++) {
        body[i].parent = MDYN_WORLD;
        body[i].joint = MDYN_REVOLUTE;
        body[i].armature = wide(armature);
    }
    coupling.terms[0].coefficient = wide(1);
    model.bodies = body;
    model.body_count = count;
    model.couplings = &coupling;
    model.coupling_count = 1;
    model.dt = wide(dt);
}

/* A rotor that a coupling holds has rows without entries, which stand among those of the others. A
   damper of 1e4 N m s brings another one to the velocity of its target within a step, less dry
   friction over damping, 1e-4, and inertia over damping and step, 1e-4. */
static void beside_a_held_rotor(void) {
    rotors(2, 1e-3, 1e-3);
    for (int i = 0; i < 2; i++) {
        body[i].friction = wide(1);
        body[i].drive_kd = wide(1e4);
        body[i].effort = wide(1e5);
    }
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    sim.target_velocity[1] = real(1);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(of_real(sim.v[1]), 1, 1e-3);
}

/* A stop without a force tells of none, though it had one in an earlier step: a rotor pressed on
   its stop is put back from it, and its row, which takes no part, is looked at, because a
   correction moves the rotor towards the stop faster than v' takes it away. n & 2: beside a rotor
   that comes back into its range. */
static void stop_without_a_force(void) {
    for (int n = 0; n < 4; n++) {
        const double sign = n & 1 ? -1 : 1;
        mdyn_row_report stop;
        rotors(3, 1, 0.01);
        for (int i = 0; i < 3; i += 2) {
            body[i].lower = wide(sign > 0 ? -10 : 0);
            body[i].upper = wide(sign > 0 ? 0 : 10);
        }
        coupling.terms[1].body = 1;
        coupling.terms[1].coefficient = wide(-1);
        coupling.softness = (mdyn_softness)MDYN_HARD(0.2);
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
        sim.tau[0] = real(sign * 100);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_LIMIT, 0, &stop), MDYN_OK);
        CHECK_NEAR(sign * of_wide(stop.force), -100, 1e-3);

        CHECK_EQUAL(mdyn_reset(&sim), MDYN_OK);
        for (int i = 0; i < 2; i++) {
            sim.q[i] = real(-sign * (i ? 0.9 : 1));
            sim.v[i] = real(-sign * 0.01);
        }
        if (n & 2) sim.q[2] = real(sign * 0.1);
        sim.tau[0] = real(0);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_LIMIT, 0, &stop), MDYN_OK);
        CHECK_NEAR(of_wide(stop.impulse), 0, 0);
    }
}

int main(int argc, char **argv) {
    const uint32_t count = TEST_SOAK ? 2000 : 150;
    check_begin(argc, argv);
    contradictory_rows();
    beside_a_held_rotor();
    stop_without_a_force();
    for (uint32_t seed = 1; seed <= count; seed++) {
        const uint32_t s = (uint32_t)random_int(1000000) + seed * 1000003u;
        const int steps = rotors_run_tree(s, 1, other);
        at = 0;
        CHECK_EQUAL(rotors_run(&sim, s, 1, now, verify, follow), steps);
        for (int n = 0; n < steps; n++) compare_step(s, n);
        (void)rotors_run(&sim, s, 1, now, stop_now_and_then, NULL);
        (void)rotors_run(&sim, s, 1, other, set_up_anew, NULL);
        CHECK(memcmp(now, other, (size_t)steps * sizeof now[0]) == 0);
    }
    printf("%d steps, largest difference %.2g; %d unsolved, %d in the other build; %ld iterations, "
           "%ld\n", compared, worst, unsolved, other_unsolved, iterations, other_iterations);
    CHECK(compared > 100 * (int)count);
    CHECK(8 * changes > (int)count);
    CHECK(unsolved <= other_unsolved);
    CHECK(4 * iterations < 3 * other_iterations); /* what the system of free rows is for */
    return check_end();
}
