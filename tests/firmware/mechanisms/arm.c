/* An arm of six joints with a gripper of two jaws: geared motors with rotor inertia, damping and
   dry friction, drives with bounded torque that are sent past the stops of the joints. */
#include "mechanism.h"

enum { BASE, SHOULDER, ELBOW, ROLL, PITCH, FLANGE, LEFT_JAW, RIGHT_JAW, BODIES };

#define MOTOR(rotor, rubbing, torque, kp, kd) \
    .armature = MDYN_C(rotor), .damping = MDYN_C(0.05), .friction = MDYN_C(rubbing), \
    .effort = MDYN_C(torque), .drive_kp = MDYN_C(kp), .drive_kd = MDYN_C(kd)
#define STOPS(low, high) .lower = MDYN_C(low), .upper = MDYN_C(high)

static const mdyn_body bodies[BODIES] = {
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .axis = MDYN_V3(0, 0, 1),
      .position = MDYN_V3(0, 0, 0.1), .mass = MDYN_C(3.7), .com = MDYN_V3(0, 0.01, 0.05),
      .inertia = MDYN_INERTIA(0.0098, 0.0102, 0.0067, 0, 0, 0.0003),
      MOTOR(0.35, 1.5, 60, 600, 40), STOPS(-2.9, 2.9), .name = "base" },
    { .parent = BASE, .joint = MDYN_REVOLUTE, .axis = MDYN_V3(0, 1, 0),
      .position = MDYN_V3(0, 0.09, 0.08), .mass = MDYN_C(8.4), .com = MDYN_V3(0.21, 0, 0),
      .inertia = MDYN_INERTIA(0.0151, 0.2269, 0.2263, 0, 0.0021, 0),
      MOTOR(0.35, 1.5, 90, 800, 60), STOPS(-2.0, 0.4), .name = "shoulder" },
    { .parent = SHOULDER, .joint = MDYN_REVOLUTE, .axis = MDYN_V3(0, 1, 0),
      .position = MDYN_V3(0.425, -0.08, 0), .mass = MDYN_C(2.3), .com = MDYN_V3(0.16, 0, 0.02),
      .inertia = MDYN_INERTIA(0.0041, 0.0494, 0.0501, 0.0002, 0, 0),
      MOTOR(0.2, 0.9, 50, 500, 30), STOPS(-0.1, 2.6), .name = "elbow" },
    { .parent = ELBOW, .joint = MDYN_REVOLUTE, .axis = MDYN_V3(1, 0, 0),
      .position = MDYN_V3(0.392, 0, 0), .mass = MDYN_C(1.2), .com = MDYN_V3(0, 0, 0.03),
      .inertia = MDYN_INERTIA(0.0021, 0.0022, 0.0013, 0, 0, 0),
      MOTOR(0.04, 0.3, 12, 100, 5), STOPS(-3.0, 3.0), .name = "roll" },
    { .parent = ROLL, .joint = MDYN_REVOLUTE, .axis = MDYN_V3(0, 1, 0),
      .rotation = MDYN_QUATERNION(0.9238795, 0, 0, 0.3826834),
      .position = MDYN_V3(0, 0, 0.095), .mass = MDYN_C(1.2), .com = MDYN_V3(0.004, 0, 0.02),
      .inertia = MDYN_INERTIA(0.0021, 0.0019, 0.0013, 0, 0, 0),
      MOTOR(0.04, 0.3, 12, 100, 5), STOPS(-1.8, 1.8), .name = "pitch" },
    { .parent = PITCH, .joint = MDYN_REVOLUTE, .axis = MDYN_V3(1, 0, 0),
      .position = MDYN_V3(0.08, 0, 0), .mass = MDYN_C(0.6), .com = MDYN_V3(0.05, 0.002, 0),
      .inertia = MDYN_INERTIA(0.0006, 0.0009, 0.0009, 0, 0, 0),
      MOTOR(0.03, 0.2, 8, 60, 3), .name = "flange" },
    { .parent = FLANGE, .joint = MDYN_PRISMATIC, .axis = MDYN_V3(0, 1, 0),
      .position = MDYN_V3(0.11, 0.005, 0), .mass = MDYN_C(0.05), .com = MDYN_V3(0.02, 0, 0),
      MOTOR(0.8, 2, 30, 5000, 150), STOPS(0, 0.04), .name = "left jaw" },
    { .parent = FLANGE, .joint = MDYN_PRISMATIC, .axis = MDYN_V3(0, -1, 0),
      .position = MDYN_V3(0.11, -0.005, 0), .mass = MDYN_C(0.05), .com = MDYN_V3(0.02, 0, 0),
      .name = "right jaw" },
};
static const mdyn_coupling couplings[] = { MDYN_MIMIC(RIGHT_JAW, LEFT_JAW, 1, 0) };
static const mdyn_model six_joints = {
    .bodies = bodies, .body_count = BODIES, .couplings = couplings, .coupling_count = 1,
    .gravity = MDYN_V3(0, 0, -9.81), .dt = MDYN_C(0.001),
};

static void command(mdyn_sim *s, int16_t step) {
    static const mdyn_real swing[] = { MDYN_R(1.5), MDYN_R(-0.5), MDYN_R(3.25) };
    static const mdyn_real bend[] = { MDYN_R(-1.0), MDYN_R(0.5) };
    static const mdyn_real reach[] = { MDYN_R(1.25), MDYN_R(0.25), MDYN_R(2.75) };
    static const mdyn_real grip[] = { MDYN_R(0.03125), MDYN_R(0.0), MDYN_R(0.0625) };
    s->target[BASE] = IN_TURN(swing, 500, step);
    s->target[SHOULDER] = IN_TURN(bend, 450, step);
    s->target[ELBOW] = s->target[PITCH] = IN_TURN(reach, 350, step);
    s->target[ROLL] = s->target[FLANGE] = IN_TURN(swing, 290, step);
    s->target[LEFT_JAW] = IN_TURN(grip, 130, step);
}

const specimen mechanism_arm = { "arm", &six_joints, command, NULL };
