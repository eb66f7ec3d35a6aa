/* Times and checks the workloads of workloads.h. bench.sh runs it; by hand:

   cc -std=c99 -O2 -DMIMICDYN_SCALAR=F64 -DEXPECT_SCALAR_F64=1 -I. tests/bench/bench.c -lm
   bench check                    accuracy of all; fails when it is missed
   bench time WORKLOAD N          median ns per call; WORKLOAD is fd, id, mass, chain (a step of
                                  it), hand, request, gears or init (of gears)
   bench count WORKLOAD N CALLS   only calls, for a tool that counts what bench_call executes */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#endif
#define MIMICDYN_MAX_BODIES 128
#define MIMICDYN_MAX_COUPLINGS 128
#define MIMICDYN_MAX_ROWS 256
#define MIMICDYN_IMPLEMENTATION
#include "mimicdyn.h"
#include "scenes.h"
#include "workloads.h"

/* What the checks allow, some three to ten times the errors in the README. */
/*                          F64   F32  FIXED */
/* against 19 kN m: what forward and inverse dynamics, which share no sums, are off by together */
TOLERANCE(CHAIN_TORQUE,   4e-11, 2e-2, 2e-3);
TOLERANCE(HAND_COUPLING,  2e-15, 1e-6, 1e-6);
TOLERANCE(HAND_STOP,      1e-15, 2e-7, 2e-7);
TOLERANCE(SWING_COUPLING, 4e-15, 2e-6, 2e-6);
TOLERANCE(SPIN_COUPLING,  1e-14, 1e-5, 1e-5);
TOLERANCE(GEARS_WAY,      3e-14, 8e-7, 8e-7); /* part of the way, ... */
TOLERANCE(GEARS_WAY_MORE, 1e-17, 4e-9, 4e-9); /* ... and times the square of the gears */

static mechanism machine;
static mdyn_sim sim;
static struct {
    mdyn_real q[CHAIN_LONGEST], v[CHAIN_LONGEST], tau[CHAIN_LONGEST];
} states[CHAIN_STATES];
static mdyn_wide acceleration[CHAIN_LONGEST], torque[CHAIN_LONGEST];
static mdyn_wide mass[CHAIN_LONGEST * CHAIN_LONGEST];
static int size, failures;

/* ---- what is measured: a call with all that a user must do around it ---- */

static void load_state(int state) {
    for (int i = 0; i < size; i++) {
        sim.q[i] = states[state].q[i];
        sim.v[i] = states[state].v[i];
        sim.tau[i] = states[state].tau[i];
    }
}

static int call_forward(int n) {
    load_state(n % CHAIN_STATES);
    return mdyn_forward_dynamics(&sim, acceleration);
}

static int call_inverse(int n) {
    load_state(n % CHAIN_STATES);
    return mdyn_inverse_dynamics(&sim, acceleration, torque);
}

static int call_mass(int n) {
    load_state(n % CHAIN_STATES);
    return mdyn_mass_matrix(&sim, mass);
}

static int call_chain(int n) {
    load_state(n % CHAIN_STATES);
    return mdyn_step(&sim);
}

static int call_init(int n) {
    (void)n;
    return mdyn_init(&sim, &machine.model);
}

static int call_hand(int n) {
    hand_torques(n * STEP, sim.q, sim.v, sim.tau);
    return mdyn_step(&sim);
}

/* the same, with MDYN_ON_REQUEST */
static int call_request(int n) {
    return call_hand(n);
}

static mdyn_real wave[RUN]; /* the train's torque is a sum over the train: not timed */

static int call_gears(int n) {
    sim.tau[0] = wave[n % RUN];
    return mdyn_step(&sim);
}

typedef struct workload {
    const char *name;
    int (*call)(int n);
    int run; /* calls after which it starts afresh */
} workload;

static const workload workloads[] = {
    { "fd", call_forward, CHAIN_STATES }, { "id", call_inverse, CHAIN_STATES },
    { "mass", call_mass, CHAIN_STATES }, { "chain", call_chain, CHAIN_STATES },
    { "hand", call_hand, RUN }, { "request", call_request, RUN }, { "gears", call_gears, RUN },
    { "init", call_init, 1 }
};

/* A function of its own for the tools to find; `call` is a pointer, so nothing is inlined. */
int bench_call(int (*call)(int n), int n);
int bench_call(int (*call)(int n), int n) {
    return call(n);
}
static int (*volatile called)(int (*call)(int n), int n) = bench_call;

/* ---- setting up ---- */

static void must(int passed, const char *what) {
    if (!passed) {
        printf("# cannot go on: %s\n", what);
        exit(2);
    }
}

static void restart(void) {
    must(mdyn_init(&sim, &machine.model) >= 0, mdyn_text(sim.culprit.code));
}

static void make_wave(gear_drive drive) {
    for (int i = 0; i < RUN; i++) {
        wave[i] = real(gear_torque(drive, size, (i + 0.5) * STEP)); /* at the middle of the step */
    }
}

static void make(const workload *w, int n) {
    size = n;
    if (w->call == call_hand || w->call == call_request) {
        must(n == HAND_JOINTS, "the hand has 20 joints");
        make_hand(&machine);
        if (w->call == call_request) machine.model.solver.forces = MDYN_ON_REQUEST;
    } else if (w->call == call_gears || w->call == call_init) {
        must(n >= 2 && n <= GEARS_MOST, "2 to 128 gears");
        make_gears(&machine, n);
        make_wave(SWING);
    } else {
        must(n >= 1 && n <= CHAIN_LONGEST, "1 to 50 links");
        make_chain(&machine, n);
        for (int k = 0; k < CHAIN_STATES; k++) {
            chain_state(n, k, states[k].q, states[k].v, states[k].tau);
        }
        for (int i = 0; i < n; i++) {
            acceleration[i] = wide(of_real(states[0].tau[i]));
        }
    }
    restart();
}

static const workload *find(const char *name) {
    for (size_t i = 0; i < sizeof workloads / sizeof workloads[0]; i++) {
        if (strcmp(workloads[i].name, name) == 0) {
            return &workloads[i];
        }
    }
    must(0, "no such workload");
    return NULL;
}

/* ---- time ---- */

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median over batches that are long beside the clock's own 20 ns. A run of steps has quiet and
   busy stretches, and its batches cover all of them equally. */
static double time_ns(const workload *w) {
    enum { BATCHES = 600 };
    static double sample[BATCHES];
    int batch = 16, at = 0;
    double begin = now_ns(), took;
    for (int i = 0; i < w->run; i++) { /* warm up, and see how long a call takes */
        must(called(w->call, i) == MDYN_OK, mdyn_text(sim.culprit.code));
    }
    took = (now_ns() - begin) / w->run;
    restart();
    if (w->run < RUN) {
        batch = CHAIN_STATES * (1 + (int)(100e3 / (took * CHAIN_STATES)));
    }
    for (int k = 0; k < BATCHES; k++) {
        if (w->run == RUN && at + batch > RUN) {
            restart();
            at = 0;
        }
        int failed = 0;
        begin = now_ns();
        for (int i = 0; i < batch; i++) {
            failed |= called(w->call, at++);
        }
        sample[k] = (now_ns() - begin) / batch;
        must(failed == 0, "a call failed");
    }
    qsort(sample, BATCHES, sizeof sample[0], by_size);
    return sample[BATCHES / 2];
}

static void count(const workload *w, int calls) {
    for (int i = 0; i < calls; i++) {
        if (i > 0 && i % RUN == 0 && w->run == RUN) {
            restart();
        }
        must(called(w->call, i % RUN) == MDYN_OK, mdyn_text(sim.culprit.code));
    }
}

/* ---- accuracy ---- */

static void expect(const char *what, int n, double error, double allowed) {
    int passed = error <= allowed; /* NaN fails */
    printf("# %s %s %d: %.3g, allowed %.3g\n", passed ? "PASS" : "FAIL", what, n, error, allowed);
    failures += !passed;
}

static double coupling_error(void) {
    double worst = 0;
    for (int i = 0; i < machine.model.coupling_count; i++) {
        const mdyn_term *t = machine.coupling[i].terms;
        double C = of_wide(t[0].coefficient) * of_real(sim.q[t[0].body]) +
                   of_wide(t[1].coefficient) * of_real(sim.q[t[1].body]);
        worst = worse(worst, fabs(C));
    }
    return worst;
}

/* There and back: the torques of the accelerations of the torques. */
static void check_chain(int n) {
    double worst = 0;
    make(find("fd"), n);
    for (int k = 0; k < CHAIN_STATES; k++) {
        must(call_forward(k) == MDYN_OK && call_inverse(k) == MDYN_OK, "a call failed");
        for (int i = 0; i < n; i++) {
            double error = fabs(of_wide(torque[i]) - of_real(states[k].tau[i]));
            worst = worse(worst, error);
        }
    }
    expect("chain, inverse of forward dynamics [N m]", n, worst, CHAIN_TORQUE);
}

/* The four angles are those on which other engines with hard couplings and stops agree. Their step
   is that of MDYN_EXPLICIT, which is 4.3e-4 rad from MDYN_MIDPOINT. */
static void check_hand(mdyn_scheme scheme) {
    static const double agreed[4] = { 0.86409, 1.50000, 0.86451, 0.02930 };
    double worst = 0, over = 0, off = 0;
    make(find("hand"), HAND_JOINTS);
    machine.model.solver.scheme = scheme;
    restart();
    for (int i = 0; i < RUN; i++) {
        must(call_hand(i) == MDYN_OK, mdyn_text(sim.culprit.code));
        double error = coupling_error();
        worst = worse(worst, error);
        for (int j = 0; j < HAND_JOINTS; j++) {
            double q = of_real(sim.q[j]);
            over = worse(over, q - of_wide(machine.body[j].upper));
            over = worse(over, of_wide(machine.body[j].lower) - q);
        }
        if (scheme == MDYN_EXPLICIT && (i + 1) % (RUN / 4) == 0) {
            double q = of_real(sim.q[FINGER_JOINTS + 1]);
            double miss = fabs(q - agreed[(i + 1) / (RUN / 4) - 1]);
            printf("# hand: proximal joint of the index finger at %.2f s: %.5f rad\n",
                   (i + 1) * STEP, q);
            off = worse(off, miss);
        }
    }
    expect("hand, largest coupling error [rad]", HAND_JOINTS, worst, HAND_COUPLING);
    expect("hand, largest way past a stop [rad]", HAND_JOINTS, over, HAND_STOP);
    if (scheme == MDYN_EXPLICIT) {
        expect("hand, proximal joint against other engines [rad]", HAND_JOINTS, off, 1e-5);
    }
}

/* The angle of disc 0 at time t by the midpoint step: a t^2/2; for a cos(w t), the sums of the
   cosines at the middles of the steps, and of the means of the velocities, are closed forms. */
static double gear_angle(gear_drive drive, double t) {
    double a = gear_acceleration(drive, 0), half = 0.5 * GEARS_SWING * STEP;
    double sum = STEP / (2 * sin(half));
    if (drive == SPIN) {
        return a * t * t / 2;
    }
    return a * cos(half) * sum * sum * (1 - cos(GEARS_SWING * t));
}

/* Disc 0 must follow its acceleration, whatever hangs on it. Rounding errors of the train's torque
   grow with the square of its length, and with the way. */
static void check_gears(int n, gear_drive drive) {
    double worst = 0, off = 0, way = drive == SPIN ? 30 : 1.27;
    double allowed = way * (GEARS_WAY + GEARS_WAY_MORE * n * n);
    make(find("gears"), n);
    make_wave(drive);
    for (int i = 0; i < RUN; i++) {
        must(call_gears(i) == MDYN_OK, mdyn_text(sim.culprit.code));
        double error = coupling_error();
        double miss = fabs(of_real(sim.q[0]) - gear_angle(drive, (i + 1) * STEP));
        worst = worse(worst, error);
        off = worse(off, miss);
    }
    expect(drive == SWING ? "gears to and fro, largest coupling error [rad]"
                          : "gears ever faster, largest coupling error [rad]",
           n, worst, drive == SWING ? SWING_COUPLING : SPIN_COUPLING);
    expect(drive == SWING ? "gears to and fro, disc 0 off its way [rad]"
                          : "gears ever faster, disc 0 off its way [rad]",
           n, off, allowed);
}

static int check_all(void) {
    static const int chains[] = { 3, 7, 20, 50 }, trains[] = { 2, 8, 32, 128 };
    for (int i = 0; i < 4; i++) {
        check_chain(chains[i]);
    }
    check_hand(MDYN_MIDPOINT);
    check_hand(MDYN_EXPLICIT);
    for (int i = 0; i < 4; i++) {
        check_gears(trains[i], SWING);
        check_gears(trains[i], SPIN);
    }
    return failures != 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "check") == 0) {
        return check_all();
    }
    if (argc == 4 && strcmp(argv[1], "time") == 0) {
        make(find(argv[2]), atoi(argv[3]));
        printf("%.0f\n", time_ns(find(argv[2])));
        return 0;
    }
    if (argc == 5 && strcmp(argv[1], "count") == 0) {
        make(find(argv[2]), atoi(argv[3]));
        count(find(argv[2]), atoi(argv[4]));
        return 0;
    }
    fprintf(stderr, "usage: %s check | time WORKLOAD N | count WORKLOAD N CALLS\n", argv[0]);
    return 2;
}
