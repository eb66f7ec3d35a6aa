/* actuators.c - electronic gearing of four motors by their rotors' inertia: encoder counts in,
   motor torques out, one step of the model in each tick of a timer. A spindle leads; a roller and
   a feed slide follow it as if geared, and a winder follows through a link that slips at 0.15 N m.
   Checked: roller and feed keep their ratios to the count or nearly, while the spindle starts, runs
   and stops; so does the winder while it runs; jammed, it gets the link's limit and not more, and
   falls behind; freed, it comes back into step.
   By hand: cc -O2 examples/actuators.c -lm -o actuators && ./actuators
   On a microcontroller (-DON_TIMER) tick() is called by the timer's interrupt; see
   tests/firmware/port.h, and `make firmware`. */

#define MIMICDYN_TREE 0 /* every joint stands on the world: the code for trees is left out */
#define MIMICDYN_STATIC 1
#define MIMICDYN_MAX_BODIES 4
#define MIMICDYN_MAX_COUPLINGS 3
#define MIMICDYN_MAX_ROWS 4 /* 3 couplings, 1 drive */
#define MIMICDYN_MAX_TERMS 2
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

#ifndef RATE
#define RATE 200 /* ticks in a second */
#endif
#define SECONDS 4
#define SPEED 10.0        /* of the spindle while it runs [rad/s] */
#define SLIP_TORQUE 0.15  /* of the winder's link [N m] */

/* ---- the model: what each motor moves, and what shall look geared ---- */

enum { SPINDLE, ROLLER, FEED, WINDER, MOTORS };
enum { ROLLER_GEAR, FEED_SCREW, WINDER_LINK, LINKS };

static const mdyn_body motors[MOTORS] = {
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .armature = MDYN_C(8e-4),
      .effort = MDYN_C(2), .drive_kp = MDYN_C(20), .drive_kd = MDYN_C(0.6), .name = "spindle" },
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .armature = MDYN_C(2e-4), .name = "roller" },
    { .parent = MDYN_WORLD, .joint = MDYN_PRISMATIC, .armature = MDYN_C(0.6), .name = "feed" },
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .armature = MDYN_C(5e-4), .name = "winder" },
};

/* An error in step dies out at a rate of 10/s. In each link the leader is term 1. */
#define IN_STEP MDYN_HARD(10.0 / RATE)
static const mdyn_coupling links[LINKS] = {
    { .terms = { MDYN_TERM(ROLLER, 2), MDYN_TERM(SPINDLE, -5) }, .softness = IN_STEP },
    { .terms = { MDYN_TERM(FEED, 1), MDYN_TERM(SPINDLE, -0.001) }, .softness = IN_STEP },
    { .terms = { MDYN_TERM(WINDER, 1), MDYN_TERM(SPINDLE, 1) }, .softness = IN_STEP,
      .effort = MDYN_C(SLIP_TORQUE) }, /* it turns against the spindle */
};
static const int8_t follower[LINKS] = { ROLLER, FEED, WINDER };

static const mdyn_model machine = {
    .bodies = motors, .body_count = MOTORS, .couplings = links, .coupling_count = LINKS,
    .dt = MDYN_C(1.0 / RATE),
    .solver = { .correction = MDYN_BAUMGARTE }, /* the links pull the motors into step by force */
};
static mdyn_sim sim;

/* What one count of each encoder is: 4096 lines a turn, or a micrometer. */
#define TURN 6.283185307179586
#define COUNT_OF_TURN (TURN / 4096)
static const mdyn_wide half_count[MOTORS] = {
    MDYN_C(COUNT_OF_TURN / 2), MDYN_C(COUNT_OF_TURN / 2), MDYN_C(0.5e-6), MDYN_C(COUNT_OF_TURN / 2)
};

/* ---- the hardware. In place of registers: motors a little heavier than the model believes, and
   with friction that it does not know ---- */

static struct motor { double q, v, torque, brake; } plant[MOTORS]; /* brake [N m s/rad] */

static int32_t read_encoder(int motor)
{
    const double counts = plant[motor].q / (2 * wide(half_count[motor]));
    const int32_t n = (int32_t)counts;
    return n - (counts < n); /* rounds down */
}

static void write_torque(int motor, mdyn_real torque)
{
    plant[motor].torque = real(torque);
}

static void run_plant(void)
{
    int i;
    for (i = 0; i < MOTORS; i++) {
        struct motor *m = &plant[i];
        const double inertia = 1.05 * wide(motors[i].armature);
        const double damping = m->brake + 0.5 * inertia;
        m->v = (m->v * inertia + m->torque / RATE) / (inertia + damping / RATE);
        m->q += m->v / RATE;
    }
}

/* ---- every tick ---- */

static int32_t count[MOTORS];
static mdyn_real winder_torque;

/* The model's state follows the encoders: a quarter of what it is off goes into q, and what that
   says of the speed, softly, into v. Only additions and divisions by numbers: right for every
   scalar, also where mdyn_real is an integer. */
static void observe(int motor)
{
    mdyn_real off;
    count[motor] = read_encoder(motor);
    off = mdyn_of_counts(2 * count[motor] + 1, half_count[motor]) - sim.q[motor];
    sim.q[motor] += off / 4;
    sim.v[motor] += off / 16 * RATE;
}

static void control(void)
{
    mdyn_wide of_link;
    mdyn_real on_spindle;
    mdyn_row_report drive;
    int i;

    for (i = 0; i < MOTORS; i++) observe(i);
    must(&sim, mdyn_step(&sim));
    must(&sim, mdyn_report_row(&sim, MDYN_ROW_DRIVE, SPINDLE, &drive));
    on_spindle = mdyn_real_of(drive.force);
    for (i = 0; i < LINKS; i++) {
        must(&sim, mdyn_coupling_force(&sim, i, 0, &of_link));
        write_torque(follower[i], mdyn_real_of(of_link));
        if (i == WINDER_LINK) winder_torque = mdyn_real_of(of_link);
        must(&sim, mdyn_coupling_force(&sim, i, 1, &of_link));
        on_spindle += mdyn_real_of(of_link);
    }
    write_torque(SPINDLE, on_spindle);
}

/* ---- a run: start, run, jam the winder from 2 s to 2.5 s, stop at 3 s ---- */

static volatile uint8_t done;
static int32_t worst_roller, worst_feed, worst_winder, behind;
static double hardest_pull;

static void larger(int32_t *worst, int32_t x)
{
    if (x < 0) x = -x;
    if (x > *worst) *worst = x;
}

static void tick(void)
{
    static int16_t n;
    const int jammed = n >= 2 * RATE && n < 2 * RATE + RATE / 2;

    if (done) return;
    if (n < 3 * RATE) {
        sim.target[SPINDLE] += MDYN_R(SPEED / RATE);
        sim.target_velocity[SPINDLE] = MDYN_R(SPEED);
    } else {
        sim.target_velocity[SPINDLE] = MDYN_R(0);
    }
    plant[WINDER].brake = jammed ? 1 : 0;
    control();
    run_plant();

    larger(&worst_roller, 2 * count[ROLLER] - 5 * count[SPINDLE]);
    larger(&worst_feed, count[FEED] - (int32_t)(1000 * COUNT_OF_TURN * count[SPINDLE]));
    if (jammed) {
        larger(&behind, count[WINDER] + count[SPINDLE]);
        hardest_pull = worse(hardest_pull, fabs(real(winder_torque)));
    } else if ((n >= RATE && n < 2 * RATE) || n >= 7 * RATE / 2) {
        larger(&worst_winder, count[WINDER] + count[SPINDLE]);
    }
    if (n % (RATE / 2) == 0) {
        printf("%5.1f %9ld %9ld %9ld %9ld %12.4f\n", (double)n / RATE, (long)count[SPINDLE],
               (long)count[ROLLER], (long)count[FEED], (long)count[WINDER], real(winder_torque));
    }
    if (++n == SECONDS * RATE) done = 1;
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

int main(void)
{
    must(&sim, mdyn_init(&sim, &machine));
    printf("t [s]   spindle    roller      feed    winder  its torque [N m]\n");
    run();
    CHECK("spindle has turned [counts]", count[SPINDLE], 3 * SPEED / COUNT_OF_TURN, 2);
    CHECK("roller out of step [counts of 2 : 5]", worst_roller, 0, 12);
    CHECK("feed out of step [counts]", worst_feed, 0, 6);
    CHECK("winder out of step, not jammed [counts]", worst_winder, 0, 8);
    CHECK("most torque on the jammed winder [N m]", hardest_pull, SLIP_TORQUE,
          BY_SCALAR(1e-16, 1e-7, 5e-9));
    CHECK("it falls behind by more [counts]", behind > 1000, 1, 0);
    return check_result();
}
