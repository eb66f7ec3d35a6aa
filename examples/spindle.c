/* spindle.c - firmware of a spindle that two geared motors drive together, as one timer interrupt:
   counts of an encoder in, torques out. A frame to copy:
      measure   the encoder of motor A overwrites q, v and the load that the model believes, every
                fourth tick; in the ticks between and at the other shafts the model alone says where
                the machine is
      step      at most MOST_ITERATIONS: more would be a damaged memory, and time is known before
      act       after a negative code the motors get nothing, the brake falls in, and that stays so
                until somebody acknowledges it; so it does if the watchdog is not fed
      rebase    whole turns are taken off and counted: the millionth has the digits of the first
   What to see: 60000 rpm by 2 : 1 of the torque, and where the load is between two samples.
   Checked: lag and torques under a load against kp e = T; the estimated load; the spindle between
   samples; teeth 20 : 47 after a million turns; that every way into a fault ends in safe outputs.
   By hand: cc -O2 examples/spindle.c -lm -o spindle && ./spindle
   On a microcontroller (-DON_TIMER) the timer calls interrupt(); see tests/firmware/port.h. */

#define MIMICDYN_TREE 0 /* every joint stands on the world */
#define MIMICDYN_STATIC 1
#define MIMICDYN_MAX_BODIES 3
#define MIMICDYN_MAX_COUPLINGS 2
#define MIMICDYN_MAX_ROWS 4 /* 2 couplings, 2 drives */
#define MIMICDYN_MAX_TERMS 2
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

#define RATE 1000 /* ticks in a second */
#ifndef TURNS
#define TURNS 1000000 /* of the spindle: a quarter of an hour */
#endif

/* ---- the model ---- */

enum { SPINDLE, MOTOR_A, MOTOR_B, SHAFTS };
enum { GEAR_A, GEAR_B };
#define WHEEL 20 /* teeth of the spindle; each motor has 47 */
#define PINION 47
#define J_SPINDLE 2e-5 /* [kg m^2] */
#define J_MOTOR 1e-5
#define KP_A 0.9 /* [N m/rad] */
#define KP_B 0.45

static const mdyn_body shafts[SHAFTS] = {
    MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 0, 1), MDYN_AT(0, 0, 0), MDYN_NO_MASS,
              MDYN_ROTOR(J_SPINDLE), "spindle"),
    MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 0, 1), MDYN_AT(0, 0, 0), MDYN_NO_MASS,
              MDYN_JOINT(J_MOTOR, 0, 0, 0, 0, 0.4, KP_A, 0.018), "motor A"),
    MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 0, 1), MDYN_AT(0, 0, 0), MDYN_NO_MASS,
              MDYN_JOINT(J_MOTOR, 0, 0, 0, 0, 0.2, KP_B, 0.009), "motor B"),
};

/* The first joint of each follows the second: all follow motor A, which has the encoder. */
static const mdyn_coupling gears[] = {
    MDYN_GEAR(SPINDLE, WHEEL, MOTOR_A, -PINION, 0),
    MDYN_GEAR(MOTOR_B, PINION, SPINDLE, -WHEEL, 0),
};
#define ITERATIONS 10
#define BOUNDED_ROWS 2 /* the drives, whose effort has a bound */
#define MOST_ITERATIONS (3 * (2 * ITERATIONS + BOUNDED_ROWS))
static const mdyn_model machine = {
    .bodies = shafts, .body_count = SHAFTS, .couplings = gears, .coupling_count = 2,
    .dt = MDYN_C(1.0 / RATE), .solver = { .iterations = ITERATIONS },
};
static mdyn_sim sim;

/* ---- the hardware: in place of registers a machine of one degree of freedom ---- */

#define TURN 6.283185307179586
#define LINES 4096 /* counts in a turn of motor A */
#define GEAR ((double)WHEEL / PINION)
static struct {
    double q, v, load;       /* of the spindle [rad, rad/s, N m] */
    double torque[SHAFTS];   /* of the motors */
    int brake_is_on, ticks_unfed, lost_counts;
} plant;

static uint32_t read_counter(void) /* a register of 16 bits */
{
    const double at = plant.q * GEAR * (LINES / TURN) + 1e9 * LINES + plant.lost_counts;
    return (uint32_t)(int64_t)at & 0xFFFFu;
}

static void write_torque(int motor, mdyn_real torque) { plant.torque[motor] = real(torque); }
static void set_brake(int on) { plant.brake_is_on = on; }
static void feed_watchdog(void) { plant.ticks_unfed = 0; }

static void run_plant(void)
{
    const double inertia = J_SPINDLE + 2 * J_MOTOR * GEAR * GEAR, before = plant.v;
    double torque = GEAR * (plant.torque[MOTOR_A] + plant.torque[MOTOR_B]) - plant.load;
    if (++plant.ticks_unfed > 2) { /* the watchdog cuts the power stage and the brake's magnet */
        plant.brake_is_on = 1;
        plant.torque[MOTOR_A] = plant.torque[MOTOR_B] = 0;
    }
    if (plant.brake_is_on) torque = -0.02 * plant.v; /* [N m s/rad] */
    plant.v = plant.brake_is_on ? plant.v / (1 + 0.02 / inertia / RATE)
                                : plant.v + torque / inertia / RATE;
    plant.q += (before + plant.v) / 2 / RATE;
}

/* ---- the firmware ---- */

static const mdyn_wide half_count = MDYN_C(TURN / LINES / 2);

/* Commands are integers too: 47000 in a turn of a motor, 20000 in one of the spindle. */
#define COMMANDS_OF_TURN 47000
static const mdyn_wide command_unit = MDYN_C(TURN / COMMANDS_OF_TURN);

static int fault;                     /* a code below 0: the outputs are safe and stay so */
static int32_t counts;                /* of the encoder; wraps after 2^32 */
static uint32_t zero;                 /* counts at q = 0 of motor A */
static int32_t command[SHAFTS];       /* of each motor, since q = 0 */
static int32_t speed;                 /* of the motors: commands in a tick */
static int32_t turned[SHAFTS];        /* whole turns that were taken off each q */
static int32_t most_iterations, warnings;

static void stop_motors(int code)
{
    write_torque(MOTOR_A, MDYN_R(0));
    write_torque(MOTOR_B, MDYN_R(0));
    set_brake(1);
    if (!fault) fault = code; /* the first one is the cause */
}

/* Also acknowledges a fault: the model begins anew, at rest, where the encoder is. */
static int start(void)
{
    int code = mdyn_init(&sim, &machine);
    if (code < 0) return code;
    counts = mdyn_unwrap(counts, read_counter(), 16);
    zero = (uint32_t)counts;
    command[MOTOR_A] = command[MOTOR_B] = speed = 0;
    turned[SPINDLE] = turned[MOTOR_A] = turned[MOTOR_B] = 0;
    fault = 0;
    set_brake(0);
    return code;
}

/* A measurement of motor A, every SAMPLE ticks. `off` is what the model did not foresee: 7/8 of it
   go into q, 9/16 of it a sample into v, 1/8 of it a sample^2 times the inertia into the load, so
   that errors die out by half a sample. Only sums, and products and quotients of integers: right
   where mdyn_real is an integer too. */
enum { SAMPLE = 4, ENCODER_FAULT = -100 };
static int measure(void)
{
    mdyn_real off;
    counts = mdyn_unwrap(counts, read_counter(), 16);
    off = mdyn_of_counts(2 * (int32_t)((uint32_t)counts - zero) + 1, half_count) - sim.q[MOTOR_A];
    if (off > MDYN_R(1) || off < MDYN_R(-1)) return ENCODER_FAULT;
    sim.q[MOTOR_A] += off * 7 / 8;
    sim.v[MOTOR_A] += off * 9 / 16 * (RATE / SAMPLE);
    sim.tau[SPINDLE] += off * 13 / 30; /* 2.36e-5 kg m^2 47/20 250^2/8 [N m/rad] */
    return mdyn_project(&sim, MDYN_FOLLOWERS);
}

/* Targets are those of the middle of the step. */
static void follow_command(int motor)
{
    sim.target[motor] = mdyn_of_counts(command[motor] + speed / 2, command_unit);
    sim.target_velocity[motor] = mdyn_of_counts(speed * RATE, command_unit);
    command[motor] += speed;
}

static int act(int motor)
{
    mdyn_row_report drive;
    int code = mdyn_report_row(&sim, MDYN_ROW_DRIVE, motor, &drive);
    if (code >= 0) write_torque(motor, mdyn_real_of(drive.force));
    return code;
}

/* What counts from q = 0 of a shaft moves along with it: commands, the encoder's zero. */
static int take_turns_off(int shaft)
{
    int32_t turns = 0;
    int code;
    if (sim.q[shaft] < MDYN_R(100) && sim.q[shaft] > MDYN_R(-100)) return MDYN_OK;
    code = mdyn_rebase(&sim, shaft, &turns);
    if (code < 0) return code;
    turned[shaft] += turns;
    if (shaft != SPINDLE) command[shaft] -= turns * COMMANDS_OF_TURN;
    if (shaft == MOTOR_A) zero += (uint32_t)turns * LINES;
    return code;
}

static int control(uint32_t tick)
{
    int shaft, code = tick % SAMPLE == 0 ? measure() : MDYN_OK;
    if (code < 0) return code;
    follow_command(MOTOR_A);
    follow_command(MOTOR_B);

    code = mdyn_step(&sim);
    if (code < 0) return code; /* q and v are those of before */
    warnings += code > 0;      /* moved, with less accuracy; torques are within their bounds */
    if (sim.report.iterations > most_iterations) most_iterations = sim.report.iterations;
    if (sim.report.iterations > MOST_ITERATIONS) return MDYN_ERR_MEMORY;

    code = act(MOTOR_A);
    if (code >= 0) code = act(MOTOR_B);
    for (shaft = 0; shaft < SHAFTS && code >= 0; shaft++) code = take_turns_off(shaft);
    return code;
}

static void interrupt(void)
{
    static uint32_t tick;
    int code = fault ? fault : control(tick++);
    if (code < 0) stop_motors(code);
    feed_watchdog(); /* the last thing: a tick that hangs or comes too late does not feed it */
}

/* ---- a run: within a second to a turn in a tick, TURNS on, loaded in the last of them ---- */

#define LAST (TURNS + 500)
#define LOADED 600 /* ticks at the end */
#define LOAD 0.05  /* [N m] */
static volatile uint8_t done;
static int32_t ticks;
static double worst_between, estimate, torque_a, torque_b, lag, share;

/* Sums over the last 200 ticks, so that the encoder's counts even out. */
static void look(void)
{
    const double where = turned[SPINDLE] * TURN + real(sim.q[SPINDLE]);
    mdyn_wide force;
    if (ticks <= LAST - 200) return;
    worst_between = worse(worst_between, fabs(where - plant.q));
    must(&sim, mdyn_coupling_force(&sim, GEAR_A, 0, &force));
    share += wide(force) / 200;
    estimate -= real(sim.tau[SPINDLE]) / 200;
    torque_a += plant.torque[MOTOR_A] / 200;
    torque_b += plant.torque[MOTOR_B] / 200;
    lag += (turned[MOTOR_A] * TURN + command[MOTOR_A] * (TURN / COMMANDS_OF_TURN)
            - plant.q * GEAR) / 200;
}

static void tick(void)
{
    if (done) return;
    if (ticks < 1000) speed += 20;
    plant.load = ticks >= LAST - LOADED ? LOAD : 0;
    interrupt();
    run_plant();
    ticks++;
    look();
    if (ticks % (LAST / 5) == 0) {
        printf("%8.1f %12ld %14.3f %14.4f %11.4f\n", (double)ticks / RATE, (long)turned[SPINDLE],
               real(sim.q[SPINDLE]), plant.torque[MOTOR_A], plant.torque[MOTOR_B]);
    }
    if (ticks == LAST) done = 1;
}

#ifdef ON_TIMER
#include "port.h"
static void run(void)
{
    port_every(RATE, tick);
    while (!done) port_sleep();
}
#else
static void run(void)
{
    while (!done) tick();
}
#endif

static void check_run(void)
{
    const double sum = LOAD / GEAR; /* of the motors, speed being constant */
    const int32_t apart = WHEEL * turned[SPINDLE] - PINION * turned[MOTOR_A];
    CHECK("lag of motor A, T/kp [rad]", lag, sum / (KP_A + KP_B), 5e-4);
    CHECK("torque of motor A, 2/3 [N m]", torque_a, sum * 2 / 3, 5e-4);
    CHECK("torque of motor B, 1/3 [N m]", torque_b, sum / 3, 5e-4);
    CHECK("the spindle gets of gear A [N m]", share, LOAD * 2 / 3, 5e-4);
    CHECK("load as estimated [N m]", estimate, LOAD, 5e-4);
    CHECK("spindle, model - machine, 3 turns a sample", worst_between, 0, 5e-3);
    CHECK("teeth of spindle and motor apart [rad]",
          apart * TURN + WHEEL * real(sim.q[SPINDLE]) - PINION * real(sim.q[MOTOR_A]), 0,
          BY_SCALAR(2e-12, 1e-3, 1e-9));
    CHECK("iterations, of those allowed", most_iterations <= MOST_ITERATIONS, 1, 0);
    CHECK("warnings", warnings, 0, 0);
}

static int is_safe(void)
{
    return plant.brake_is_on && !(fabs(plant.torque[MOTOR_A]) + fabs(plant.torque[MOTOR_B]) > 0);
}

static void check_faults(void)
{
    mdyn_real before;
    int k;
    interrupt(); /* the tick of a sample: none in the next */
    run_plant();
    before = sim.q[SPINDLE];
    sim.tau[SPINDLE] = MDYN_R(9e6); /* what no command may be */
    interrupt();
    CHECK("the code of a wild command", fault, MDYN_ERR_STATE, 0);
    CHECK("safe, and nothing has moved", is_safe() && sim.q[SPINDLE] == before, 1, 0);
    sim.tau[SPINDLE] = MDYN_R(0);
    for (k = 0; k < RATE; k++) {
        interrupt();
        run_plant();
    }
    CHECK("safe until it is acknowledged", is_safe() && fault == MDYN_ERR_STATE, 1, 0);

    must(&sim, start());
    for (k = 0; k < RATE; k++) {
        interrupt();
        run_plant();
    }
    CHECK("it holds its place again", !fault && !is_safe() && fabs(plant.v) < 1, 1, 0);
    for (k = 0; k < 3; k++) run_plant(); /* the program hangs */
    CHECK("safe by the watchdog", is_safe(), 1, 0);

    must(&sim, start());
    plant.lost_counts = 2000;
    for (k = 0; k < SAMPLE; k++) interrupt();
    CHECK("safe by an encoder that loses counts", is_safe() && fault == ENCODER_FAULT, 1, 0);
}

int main(void)
{
    must(&sim, start());
    printf(" t [s]   turns off   spindle [rad]   motor A [N m]   motor B\n");
    run();
    check_run();
    check_faults();
    return check_result();
}
