/* demo.c - a Robotiq 2F-85 gripper closes on an object, holds it, lets go: one drive, five mimic
   couplings, one object between the pads. Writes a picture of it.
   Checked at every step: the couplings hold to rounding. At rest: the grip force is what the
   drive's limit, less the fingers' weight, gives by virtual work. At the end: open, object free.
   By hand: cc -O2 examples/demo.c -lm -o demo && ./demo demo.svg */

#define MIMICDYN_MAX_BODIES 9
#define MIMICDYN_MAX_DOFS 6
#define MIMICDYN_MAX_COUPLINGS 6
#define MIMICDYN_MAX_ROWS 8 /* 6 couplings, 1 drive, 1 limit */
#define MIMICDYN_MAX_TERMS 2
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include "robots/robotiq_2f85.h"
#include "demo_record.h"
#include "demo_picture.h"

/* The object: 40 mm wide, 20 N per mm, loose between the pads, so that both press it equally. It
   is met when finger_joint is at TOUCH. There one rad of an inner knuckle moves its pad by LEVER
   meters, so C is the squeeze in meters, and the force of its row is the grip in newtons. */
#define TOUCH 0.4368
#define LEVER 0.05585
#define OBJECT ROBOTIQ_MIMICS
static const mdyn_coupling couplings[] = {
    ROBOTIQ_2F85_MIMICS,
    { .terms = { MDYN_TERM(ROBOTIQ_LEFT_INNER_KNUCKLE, LEVER),
                 MDYN_TERM(ROBOTIQ_RIGHT_INNER_KNUCKLE, -LEVER) }, /* it turns the other way */
      .offset = MDYN_C(-2 * LEVER * TOUCH),
      .softness = MDYN_SPRING(20e3, 200), /* N/m, N s/m */
      .lower = MDYN_C(-1e12), .upper = MDYN_C(0) }, /* C <= 0: it can push, never pull */
};
static const mdyn_model gripper = {
    .bodies = robotiq_2f85_bodies, .body_count = ROBOTIQ_BODIES,
    .couplings = couplings, .coupling_count = ROBOTIQ_MIMICS + 1,
    .gravity = MDYN_V3(0, 0, -9.81), /* stands on its base, fingers up */
    .dt = MDYN_C(DEMO_DT),
};
static mdyn_sim sim;
static demo_record record;

static int drive; /* number of finger_joint's speed */

static double position(int body) { return real(mdyn_q(&sim, body, 0)); }

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* What firmware does each tick: run the target towards its goal with bounded speed (1 rad/s) and
   acceleration (20 rad/s^2), but never further than 0.02 rad ahead of the finger. */
static void command(double goal)
{
    static double target, speed;
    const double wanted = clamp(20 * (goal - target), -1, 1), before = target;

    speed += clamp(wanted - speed, -20 * DEMO_DT, 20 * DEMO_DT);
    target = clamp(target + speed * DEMO_DT, 0, position(ROBOTIQ_LEFT_OUTER_KNUCKLE) + 0.02);
    speed = (target - before) / DEMO_DT;
    must(&sim, mdyn_set_target(&sim, ROBOTIQ_LEFT_OUTER_KNUCKLE, MDYN_R(target)));
    must(&sim, mdyn_set_target_velocity(&sim, ROBOTIQ_LEFT_OUTER_KNUCKLE, MDYN_R(speed)));
}

static void observe(int step)
{
    mdyn_row_report row;
    mdyn_wide share;
    double error = 0;
    int k;

    record.time[step] = (step + 1) * DEMO_DT;
    record.target[step] = real(sim.target[drive]);
    record.leader[step] = position(ROBOTIQ_LEFT_OUTER_KNUCKLE);
    for (k = 0; k < ROBOTIQ_MIMICS; k++) { /* row k: 1 q_follower - multiplier q_leader = 0 */
        const double q = position(couplings[k].terms[0].body);
        error = worse(error, fabs(q + wide(couplings[k].terms[1].coefficient)
                                          * record.leader[step]));
        must(&sim, mdyn_coupling_force(&sim, k, 0, &share)); /* to its term 0, the follower */
        record.follower[k][step] = q;
        record.share[k][step] = wide(share);
    }
    record.error[step] = error;
    must(&sim, mdyn_report_row(&sim, MDYN_ROW_DRIVE, drive, &row));
    record.drive[step] = wide(row.force);
    must(&sim, mdyn_report_row(&sim, MDYN_ROW_COUPLING, OBJECT, &row));
    record.grip[step] = 0 - wide(row.force); /* at its upper bound a row pushes back: negative */
    demo_snapshot(&record, &sim, step);
}

/* dV/dq of the fingers' weight by the table alone, all links turning together: a point (x, z) of a
   link that turns rises by x cos q - z sin q; the inner fingers do not turn, they are carried. */
static double weight_moment(double q)
{
    double moment = 0;
    int i;
    for (i = ROBOTIQ_LEFT_OUTER_KNUCKLE; i < ROBOTIQ_BODIES; i++) {
        const mdyn_body *b = &robotiq_2f85_bodies[i];
        const int carried = b->parent != ROBOTIQ_BASE_LINK;
        const int turns = !carried || b->joint == MDYN_FIXED;
        const double x = carried * wide(b->position.x) + turns * wide(b->com.x);
        const double z = carried * wide(b->position.z) + turns * wide(b->com.z);
        moment += 9.81 * wide(b->mass) * (x * cos(q) - z * sin(q));
    }
    return moment;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "build/demo.svg";
    const int rest = DEMO_OPENS - 1, end = DEMO_STEPS - 1;
    const double bound = BY_SCALAR(2.3e-16, 1.2e-7, 1e-11); /* some units in the last place of q */
    double worst = 0, lag[2], rate;
    int step;

    must(&sim, mdyn_init(&sim, &gripper));
    drive = mdyn_first_dof(&sim, ROBOTIQ_LEFT_OUTER_KNUCKLE);
    demo_header();
    for (step = 0; step < DEMO_STEPS; step++) {
        command(step < DEMO_OPENS ? 0.7 : 0.0);
        must(&sim, mdyn_step(&sim));
        observe(step);
        worst = worse(worst, record.error[step]);
        if (step % 100 == 99) demo_row(&record, step);
    }

    for (step = 0; step < 2; step++) { /* in free motion, before and after step 300 */
        lag[step] = record.target[300] - record.leader[299 + step];
    }
    rate = (record.target[300] - record.target[299]) / DEMO_DT; /* of the target */
    CHECK("largest coupling error [rad]", worst, 0, bound);
    CHECK("drive in free motion, kp e + kd e' mid-step [N m]", record.drive[300],
          ROBOTIQ_KP * (lag[0] + lag[1]) / 2 + ROBOTIQ_KD * (rate + (lag[1] - lag[0]) / DEMO_DT),
          BY_SCALAR(1e-8, 4e-4, 2e-5));
    CHECK("drive at rest, at its limit [N m]", record.drive[rest], ROBOTIQ_EFFORT,
          BY_SCALAR(1e-15, 1e-6, 5e-8));
    CHECK("grip at rest by virtual work [N]", record.grip[rest],
          (ROBOTIQ_EFFORT - weight_moment(record.leader[rest])) / (2 * LEVER),
          BY_SCALAR(3e-13, 1e-5, 1e-5));
    CHECK("the object's spring at rest [N]", record.grip[rest],
          20e3 * 2 * LEVER * (record.leader[rest] - TOUCH), BY_SCALAR(5e-13, 4e-5, 2e-6));
    CHECK("open at the end [rad]", record.leader[end], 0, 1e-3);
    CHECK("grip at the end [N]", record.grip[end], 0, 0);
    if (demo_picture(path, &record, TOUCH, bound) != 0) {
        fprintf(stderr, "cannot write %s\n", path);
        return 2;
    }
    return check_result();
}
