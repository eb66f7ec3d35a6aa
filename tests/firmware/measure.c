/* Measures on a board, and prints
       step NAME MEAN MOST      instructions (AVR: cycles) of mdyn_step, over STEPS steps
       stack CALL BYTES         deepest stack of a call, seen by painting
       routine BYTES            deepest stack of the compiler's own arithmetic */
#define MIMICDYN_IMPLEMENTATION
#include "mechanisms/mechanism.h"
#include "port.h"

enum { STEPS = 500 };

/* Calls stay calls, or there is nothing to measure. */
#define APART(name) extern __typeof__(name) name __attribute__((noinline));
APART(mdyn_init_configured) APART(mdyn_reset) APART(mdyn_set_coupling) APART(mdyn_project)
APART(mdyn_step) APART(mdyn_report_row) APART(mdyn_coupling_force) APART(mdyn_range)
APART(mdyn_explain)
APART(mdyn_pose) APART(mdyn_velocity) APART(mdyn_jacobian) APART(mdyn_mass_matrix)
APART(mdyn_bias_force) APART(mdyn_inverse_dynamics) APART(mdyn_forward_dynamics)
APART(mdyn_constrained_dynamics) APART(mdyn_impulse_response) APART(mdyn_inverse_mass_column)
APART(mdyn_energy)

static const specimen *const mechanisms[] = {
    &mechanism_jaws, &mechanism_planetary,
#ifndef MECHANISMS_TINY
    &mechanism_finger,
#ifndef MECHANISMS_SMALL
    &mechanism_robotiq, &mechanism_arm, &mechanism_hand,
#endif
#endif
};
enum { MECHANISMS = sizeof mechanisms / sizeof mechanisms[0] };
static mdyn_sim sim;

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

static void start(const specimen *m) {
    if (m->make) m->make();
    if (mdyn_init(&sim, m->model) < 0) port_exit(1);
}

static void count_steps(const specimen *m) {
    uint64_t sum = 0;
    uint32_t most = 0;
    int16_t i;
    start(m);
    for (i = 0; i < STEPS; i++) {
        uint32_t from, to, count;
        int code;
        m->command(&sim, i);
        port_count_anew();
        from = port_count();
        code = mdyn_step(&sim);
        to = port_count();
        count = port_between(from, to);
        sum += count;
        if (count > most) most = count;
        if (code < 0) port_exit(2);
    }
    port_text("step ");
    port_text(m->name);
    print_number((uint32_t)((sum + STEPS / 2) / STEPS));
    print_number(most);
    port_text("\n");
}

/* ---- stack: every call on every mechanism, in states of many kinds ---- */

typedef enum call {
    INIT, RESET, SET_COUPLING, PROJECT, STEP_, ROW, SHARE, RANGE, EXPLAIN, POSE, VELOCITY, JACOBIAN,
    MASS_MATRIX, BIAS_FORCE, INVERSE_DYNAMICS, FORWARD_DYNAMICS, COUPLED_DYNAMICS,
    IMPULSE_RESPONSE, IMPULSE_COLUMN, ENERGY, CALLS
} call;
static const char *const names[CALLS] = {
    "init", "reset", "set_coupling", "project", "step", "row", "share", "range", "explain", "pose",
    "velocity", "jacobian", "mass_matrix", "bias_force", "inverse_dynamics", "forward_dynamics",
    "coupled_dynamics", "impulse_response", "impulse_column", "energy"
};
static uint32_t deepest[CALLS];
static mdyn_wide wides[MIMICDYN_MAX_DOFS * MIMICDYN_MAX_DOFS], other[MIMICDYN_MAX_DOFS];
static mdyn_real3 a3, b3;
static mdyn_real4 a4;
static mdyn_row_report report;
static char text[200];

static void note(call c) {
    uint32_t used = port_stack_used();
    if (used > deepest[c]) deepest[c] = used;
}

#define PROBE(c, expression) \
    do { \
        port_stack_paint(); \
        (void)(expression); \
        note(c); \
    } while (0)

static void probe_calls(const specimen *m) {
    int n = mdyn_dofs(&sim), i;
    PROBE(PROJECT, mdyn_project(&sim, MDYN_MASS_METRIC));
    PROBE(PROJECT, mdyn_project(&sim, MDYN_FOLLOWERS));
    PROBE(SET_COUPLING, mdyn_set_coupling(&sim, 0, &m->model->couplings[0]));
    PROBE(SHARE, mdyn_coupling_force(&sim, 0, 0, wides));
    for (i = 0; i < n; i++) {
        PROBE(ROW, mdyn_report_row(&sim, MDYN_ROW_LIMIT, i, &report));
        PROBE(EXPLAIN, mdyn_explain(&sim, MDYN_ROW_LIMIT, i, text, sizeof text));
        PROBE(EXPLAIN, mdyn_explain(&sim, MDYN_ROW_DRIVE, i, text, sizeof text));
        PROBE(IMPULSE_RESPONSE, mdyn_impulse_response(&sim, 0, i, wides));
        PROBE(IMPULSE_COLUMN, mdyn_inverse_mass_column(&sim, i, other));
    }
    for (i = 0; i < m->model->coupling_count; i++) {
        PROBE(EXPLAIN, mdyn_explain(&sim, MDYN_ROW_COUPLING, i, text, sizeof text));
        PROBE(ROW, mdyn_report_row(&sim, MDYN_ROW_COUPLING, i, &report));
    }
    for (i = 0; i < m->model->body_count; i++) {
        PROBE(RANGE, mdyn_range(&sim, i, wides, other));
        PROBE(POSE, mdyn_pose(&sim, i, &a3, &a4));
        PROBE(VELOCITY, mdyn_velocity(&sim, i, NULL, &a3, &b3));
        PROBE(JACOBIAN, mdyn_jacobian(&sim, i, NULL, wides));
    }
    PROBE(MASS_MATRIX, mdyn_mass_matrix(&sim, wides));
    PROBE(BIAS_FORCE, mdyn_bias_force(&sim, wides));
    PROBE(FORWARD_DYNAMICS, mdyn_forward_dynamics(&sim, other));
    PROBE(INVERSE_DYNAMICS, mdyn_inverse_dynamics(&sim, other, wides));
    PROBE(COUPLED_DYNAMICS, mdyn_constrained_dynamics(&sim, other));
    PROBE(ENERGY, mdyn_energy(&sim, wides, other));
    PROBE(RESET, mdyn_reset(&sim));
}

static void probe(const specimen *m) {
    int16_t i;
    if (m->make) m->make();
    PROBE(INIT, mdyn_init(&sim, m->model));
    for (i = 0; i < STEPS; i++) {
        m->command(&sim, i);
        PROBE(STEP_, mdyn_step(&sim));
        if (i % 100 == 50) probe_calls(m);
    }
}

/* The compiler's routines for the arithmetic that the processor lacks, which no call graph shows:
   operands that keep it from working them out in advance. */
static volatile mdyn_real real_a = MDYN_R(1.5), real_b = MDYN_R(-0.75);
static volatile int32_t int_a = 100000, int_b = -7;

static uint32_t deepest_routine;

static void probe_routines(void) {
    port_stack_paint();
    real_a = real_a * real_b;
    real_b = real_a / real_b;
    real_a = real_a + real_b;
    real_b = real_a - real_b;
    if (real_a < real_b || real_a == real_b || !(real_a >= real_b)) real_a = real_b;
    int_a = int_a / int_b + int_a % int_b;
    real_b = (mdyn_real)int_a;
    int_b = (int32_t)real_a;
    deepest_routine = port_stack_used();
}

int main(void) {
    int i;
    for (i = 0; i < MECHANISMS; i++) count_steps(mechanisms[i]);
    for (i = 0; i < MECHANISMS; i++) probe(mechanisms[i]);
#if !defined(MECHANISMS_TINY) && !defined(MECHANISMS_SMALL)
    probe(&mechanism_drives);
#endif
    for (i = 0; i < CALLS; i++) {
        port_text("stack mdyn_");
        port_text(names[i]);
        print_number(deepest[i]);
        port_text("\n");
    }
    probe_routines();
    port_text("routine");
    print_number(deepest_routine);
    port_text("\n");
    return 0;
}
