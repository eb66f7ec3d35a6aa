/* gripper.h - the Robotiq 2F-85 of examples/robots/robotiq_85.h with a motor and an object. */

#ifndef PLAYGROUND_GRIPPER_H
#define PLAYGROUND_GRIPPER_H

#include "machine.h"

/* The description has no actuator: a rotor of 4e-7 kg m^2 behind a gear of 200:1, and a drive that
   gives at most 5 N m. Settings of the machine. */
#define GRIPPER_ARMATURE 0.016 /* [kg m^2] */
enum { GRIPPER_GOAL, GRIPPER_OBJECT, GRIPPER_FILE_LIMITS };

/* An object 40 mm wide between the pads, 20 N/mm, as in demo.c: its row is the squeeze. */
#define GRIPPER_TOUCH 0.4368  /* finger_joint where the pads meet it [rad] */
#define GRIPPER_LEVER 0.05585 /* way of a pad for each rad [m] */
enum { GRIPPER_MIMICS = 5, GRIPPER_SQUEEZE = 5 };

static const hand gripper_motor = { 400, 5, 5 }, gripper_hand = { 60, 2, 20 };
static const mdyn_coupling gripper_squeeze = {
    .terms = { MDYN_TERM(ROBOTIQ_85_LEFT_INNER_KNUCKLE_JOINT, GRIPPER_LEVER),
               MDYN_TERM(ROBOTIQ_85_RIGHT_INNER_KNUCKLE_JOINT, -GRIPPER_LEVER) },
    .offset = MDYN_C(-2 * GRIPPER_LEVER * GRIPPER_TOUCH), .softness = MDYN_SPRING(20e3, 200),
    .lower = MDYN_C(-1e12), .upper = MDYN_C(0), .name = "object",
};

/* Followers' limits as the importer left them, or 0 to 0.8757 rad for all, as the public
   description has them: then those of multiplier -1 can only stay at 0. */
static void gripper_start(machine *m, int file_limits)
{
    int i;
    m->model = robotiq_85_model;
    m->model.coupling_count = GRIPPER_MIMICS + 1;
    for (i = 0; i < ROBOTIQ_85_BODIES; i++) {
        m->bodies[i] = robotiq_85_bodies[i];
        if (i != ROBOTIQ_85_FINGER_JOINT && file_limits) m->bodies[i].lower = MDYN_C(0);
    }
    m->bodies[ROBOTIQ_85_FINGER_JOINT].armature = MDYN_C(GRIPPER_ARMATURE);
    m->bodies[ROBOTIQ_85_FINGER_JOINT].drive_kp = mdyn_wide_from(gripper_motor.kp);
    m->bodies[ROBOTIQ_85_FINGER_JOINT].drive_kd = mdyn_wide_from(gripper_motor.kd);
    for (i = 0; i < GRIPPER_MIMICS; i++) m->couplings[i] = robotiq_85_couplings[i];
    m->couplings[GRIPPER_SQUEEZE] = gripper_squeeze;
    machine_begin(m);
    if (m->code >= 0) mdyn_engage(&m->sim, GRIPPER_SQUEEZE, MDYN_RELEASE);
}

static int gripper_set(machine *m, int setting, double value)
{
    switch (setting) {
    case GRIPPER_GOAL:
        m->goal = mdyn_real_from(value);
        return MDYN_OK;
    case GRIPPER_OBJECT:
        return mdyn_engage(&m->sim, GRIPPER_SQUEEZE, value > 0 ? MDYN_ENGAGE_OFFSET : MDYN_RELEASE);
    case GRIPPER_FILE_LIMITS:
        gripper_start(m, value > 0);
        return m->code;
    default:
        return MDYN_ERR_INDEX;
    }
}

/* The motor lets go while a finger is in the hand, and then stays where it was put. */
static int gripper_hold(machine *m, int body)
{
    const hand off = { 0, 0, 5 };
    int code = machine_hold(m, body, gripper_hand);
    if (code < 0 || body == ROBOTIQ_85_FINGER_JOINT) return code;
    if (body >= 0) return machine_drive(m, ROBOTIQ_85_FINGER_JOINT, off);
    m->goal = mdyn_q(&m->sim, ROBOTIQ_85_FINGER_JOINT, 0);
    mdyn_set_target(&m->sim, ROBOTIQ_85_FINGER_JOINT, m->goal);
    return machine_drive(m, ROBOTIQ_85_FINGER_JOINT, gripper_motor);
}

/* Before each step: the motor's target runs towards the goal at 1.2 rad/s, never more than
   0.02 rad ahead of the finger. */
static int gripper_step(machine *m)
{
    const mdyn_real q = mdyn_q(&m->sim, ROBOTIQ_85_FINGER_JOINT, 0);
    if (m->held < 0) {
        mdyn_real target = m->sim.target[ROBOTIQ_85_FINGER_JOINT];
        target += within(m->goal - target, MDYN_R(0.0012));
        target = q + within(target - q, MDYN_R(0.02));
        mdyn_set_target(&m->sim, ROBOTIQ_85_FINGER_JOINT, target);
    }
    return machine_step(m);
}

/* For the hash: closes on the object, opens. */
static void gripper_script(machine *m, int step)
{
    if (step == 0) gripper_set(m, GRIPPER_OBJECT, 1);
    if (step == 0) gripper_set(m, GRIPPER_GOAL, 0.7);
    if (step == 700) gripper_set(m, GRIPPER_GOAL, 0);
}

#endif
