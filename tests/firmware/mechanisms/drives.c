/* Two geared motors with a drive and dry friction each, all of them parallel rows: the drives pull
   against each other, with efforts that they reach in turn. */
#include "mechanism.h"

enum { MOTOR, WHEEL };
#define DRIVEN(speed) \
    .joint = MDYN_REVOLUTE, .parent = MDYN_WORLD, .mass = MDYN_C(1.0), \
    .inertia = { MDYN_C(0.01), MDYN_C(0.01), MDYN_C(0.01), MDYN_C(0.0), MDYN_C(0.0), \
                 MDYN_C(0.0) }, \
    .friction = MDYN_C(0.05), .effort = MDYN_C(speed), .drive_kp = MDYN_C(20.0), \
    .drive_kd = MDYN_C(0.2)
static const mdyn_body geared[] = { { DRIVEN(0.5) }, { DRIVEN(2.0) } };
static const mdyn_coupling gears[] = { MDYN_MIMIC(WHEEL, MOTOR, -0.5, 0.0) };
static const mdyn_model drives = {
    .bodies = geared, .body_count = 2, .couplings = gears, .coupling_count = 1,
    .dt = MDYN_C(0.001),
};

static void command(mdyn_sim *s, int16_t step) {
    static const mdyn_real place[] = { MDYN_R(0.1), MDYN_R(-0.02), MDYN_R(0.5), MDYN_R(0.0) };
    s->target[MOTOR] = IN_TURN(place, 53, step);
    s->target[WHEEL] = IN_TURN(place, 31, step);
}

const specimen mechanism_drives = { "drives", &drives, command, NULL };
