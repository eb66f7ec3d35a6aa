/* Counts the instructions of a step (AVR: cycles) of one mechanism with tight knobs, and prints
       rate MEAN MOST RAM A S   over 500 steps; bytes of the sim; no step took more than A + S k,
                                k its iterations, S by least squares, 0 if below
   RATES_GEAR     two motors geared 5 : 2 by at most 0.15 N m, a drive, dry friction
   RATES_GANTRY   four axes with drives, friction and stops, two of them one beam
   RATES_GEARBOX  sun, ring and carrier of a planetary gear as rotors
   RATES_GRIPPER  the 2F-85 with its mimics, drive and stop */
#define MIMICDYN_STATIC 1
#define MIMICDYN_CHECKS 0
#define MIMICDYN_IMPLEMENTATION
#ifdef RATES_GRIPPER
#include "tests/bake/gripper.c"
#else
#define MIMICDYN_TREE 0
#define MIMICDYN_WARNINGS 0
#define MIMICDYN_SETTINGS 0
#define MIMICDYN_LOSSES 0
#define MIMICDYN_LCP 0
#define MIMICDYN_MAX_COUPLINGS 1
#define MIMICDYN_MAX_TERMS 3
#if defined(RATES_GANTRY)
#define MIMICDYN_MAX_BODIES 4
#define MIMICDYN_MAX_ROWS 13
#define MIMICDYN_MAX_ENTRIES 40
#else
#define MIMICDYN_MAX_BODIES 3
#define MIMICDYN_MAX_ROWS 3
#define MIMICDYN_MAX_ENTRIES 20
#endif
#include "mimicdyn.h"
#endif
#include "port.h"

enum { STEPS = 500 };
static mdyn_sim sim;

#define ROTOR .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE
#define AXIS(inertia) { ROTOR, .armature = MDYN_C(inertia), .drive_kp = MDYN_C(5), \
    .drive_kd = MDYN_C(0.05), .effort = MDYN_C(2), .friction = MDYN_C(0.01), \
    .lower = MDYN_C(-0.4), .upper = MDYN_C(0.4) }
#if defined(RATES_GEAR)
static const mdyn_body bodies[] = {
    { ROTOR, .armature = MDYN_C(2e-4), .drive_kp = MDYN_C(2), .drive_kd = MDYN_C(0.02),
      .effort = MDYN_C(0.5) },
    { ROTOR, .armature = MDYN_C(3e-4), .friction = MDYN_C(0.01) },
};
static const mdyn_coupling couplings[] = {
    { .terms = { MDYN_TERM(0, 2), MDYN_TERM(1, -5) }, .effort = MDYN_C(0.15) }
};
#elif defined(RATES_GANTRY)
static const mdyn_body bodies[] = { AXIS(2e-4), AXIS(2.4e-4), AXIS(3e-4), AXIS(1e-4) };
static const mdyn_coupling couplings[] = { { .terms = { MDYN_TERM(0, 1), MDYN_TERM(1, -1) } } };
#elif defined(RATES_GEARBOX)
static const mdyn_body bodies[] = {
    { ROTOR, .armature = MDYN_C(1e-5) }, { ROTOR, .armature = MDYN_C(4e-4) },
    { ROTOR, .armature = MDYN_C(2e-4) },
};
static const mdyn_coupling couplings[] = {
    { .terms = { MDYN_TERM(0, 12), MDYN_TERM(1, 36), MDYN_TERM(2, -48) } }
};
#endif
#ifndef RATES_GRIPPER
static const mdyn_model model = {
    .bodies = bodies, .body_count = sizeof bodies / sizeof bodies[0], .couplings = couplings,
    .coupling_count = 1, .dt = MDYN_C(0.001),
};
#else
#define model gripper
#endif

static void print_number(uint32_t x) {
    char text[12];
    int i = 11;
    text[i] = 0;
    do {
        text[--i] = (char)('0' + x % 10);
        x /= 10;
    } while (x > 0);
    port_text(" ");
    port_text(text + i);
}

/* Targets beyond the stops, and torques that take turns. */
static void command(int16_t step) {
    const mdyn_real target = step / 100 % 2 ? MDYN_R(0.5) : MDYN_R(-0.25);
    const int model_dofs = mdyn_dofs(&sim);
    int k;
    for (k = 0; k < model_dofs && sim.drives; k++) sim.target[k] = target;
    sim.tau[1] = step / 37 % 2 ? MDYN_R(0.0625) : MDYN_R(-0.03125);
}

/* The most that a step of each number of iterations took, and sums over all steps. */
enum { MOST_ITERATIONS = 127 };
static int32_t most_of[MOST_ITERATIONS + 1];
static int64_t sum_k, sum_kk, sum_c, sum_kc;

static void note_step(int32_t k, int32_t count) {
    if (k > MOST_ITERATIONS) port_exit(3);
    if (count > most_of[k]) most_of[k] = count;
    sum_k += k;
    sum_kk += k * k;
    sum_c += count;
    sum_kc += (int64_t)k * count;
}

int main(void) {
    int64_t square;
    int32_t most = 0, begin = 0, slope = 0;
    uint32_t from, to;
    int16_t i;
    if (mdyn_init(&sim, &model) < 0) port_exit(1);
    for (i = 0; i < STEPS; i++) {
        int code;
        command(i);
        port_count_anew();
        from = port_count();
        code = mdyn_step(&sim);
        to = port_count();
        if (code < 0) port_exit(2);
        note_step(sim.report.iterations, (int32_t)port_between(from, to));
    }
    square = STEPS * sum_kk - sum_k * sum_k;
    if (square > 0) slope = (int32_t)((STEPS * sum_kc - sum_k * sum_c) / square);
    if (slope < 0) slope = 0;
    for (i = 0; i <= MOST_ITERATIONS; i++) {
        if (most_of[i] > most) most = most_of[i];
        if (most_of[i] - slope * i > begin) begin = most_of[i] - slope * i;
    }
    port_text("rate");
    print_number((uint32_t)(sum_c / STEPS));
    print_number((uint32_t)most);
    print_number((uint32_t)sizeof sim);
    print_number((uint32_t)begin);
    print_number((uint32_t)slope);
    port_text("\n");
    return 0;
}
