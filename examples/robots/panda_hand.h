/* panda_hand.h - model tables made by import_robot.py from panda_hand.xml (MJCF).
   11 links, 9 bodies, 9 degrees of freedom, 1 couplings, 0 loop closures; base fixed to the
   world.
   Mass 17.4519 kg, of which 16.8221 kg moves.

   Include it before mimicdyn.h, for the knobs, and again after it, for the tables.

   Merged into the body that carries them:
   - PANDA_HAND_JOINT7: hand
   - the world: link0

   Changed or noted:
   - q = 0 is outside the limits of `joint4`: begin at the start position */

#if !defined(MIMICDYN_H)
#ifndef MIMICDYN_MAX_BODIES
#define MIMICDYN_MAX_BODIES 9
#endif
#ifndef MIMICDYN_MAX_DOFS
#define MIMICDYN_MAX_DOFS 9
#endif
#ifndef MIMICDYN_MAX_COUPLINGS
#define MIMICDYN_MAX_COUPLINGS 1
#endif
#ifndef MIMICDYN_MAX_ROWS
#define MIMICDYN_MAX_ROWS 17
#endif
#ifndef MIMICDYN_MAX_TERMS
#define MIMICDYN_MAX_TERMS 2
#endif
#ifndef MIMICDYN_MAX_BODY_ROWS
#define MIMICDYN_MAX_BODY_ROWS 0
#endif
#ifndef MIMICDYN_MAX_ENTRIES
#define MIMICDYN_MAX_ENTRIES 233
#endif

#elif !defined(PANDA_HAND_TABLES)
#define PANDA_HAND_TABLES

#if MIMICDYN_MAX_BODIES < 9
#error "panda_hand needs MIMICDYN_MAX_BODIES 9"
#endif
#if MIMICDYN_MAX_DOFS < 9
#error "panda_hand needs MIMICDYN_MAX_DOFS 9"
#endif
#if MIMICDYN_MAX_COUPLINGS < 1
#error "panda_hand needs MIMICDYN_MAX_COUPLINGS 1"
#endif
#if MIMICDYN_MAX_ROWS < 17
#error "panda_hand needs MIMICDYN_MAX_ROWS 17"
#endif
#if MIMICDYN_MAX_TERMS < 2
#error "panda_hand needs MIMICDYN_MAX_TERMS 2"
#endif

enum {
    PANDA_HAND_JOINT1, /* revolute joint, link link1 */
    PANDA_HAND_JOINT2, /* revolute joint, link link2 */
    PANDA_HAND_JOINT3, /* revolute joint, link link3 */
    PANDA_HAND_JOINT4, /* revolute joint, link link4 */
    PANDA_HAND_JOINT5, /* revolute joint, link link5 */
    PANDA_HAND_JOINT6, /* revolute joint, link link6 */
    PANDA_HAND_JOINT7, /* revolute joint, link link7 */
    PANDA_HAND_FINGER_JOINT1, /* prismatic joint, link left_finger */
    PANDA_HAND_FINGER_JOINT2, /* prismatic joint, link right_finger */
    PANDA_HAND_BODIES
};
/* Bodies, coordinates and degrees of freedom have the same index. */

/* parent, joint, axis, pitch, position, rotation, mass, com, inertia, armature, damping, friction,
   lower, upper, effort, drive_kp, drive_kd, name, inertia_as_given */
static const mdyn_body panda_hand_bodies[PANDA_HAND_BODIES] = {
    { /* PANDA_HAND_JOINT1 */
      MDYN_WORLD, MDYN_REVOLUTE, MDYN_V3(0, 0, 1), MDYN_C(0), MDYN_V3(0, 0, 0.333),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(4.970684), MDYN_V3(0.003875, 0.002081, -0.04762),
      MDYN_INERTIA(0.70337, 0.70661, 0.0091170, -0.00013900, 0.0067720, 0.019169), MDYN_C(0.1),
      MDYN_C(1), MDYN_C(0), MDYN_C(-2.8973), MDYN_C(2.8973), MDYN_C(87), MDYN_C(4500), MDYN_C(450),
      "joint1", 0 },
    { /* PANDA_HAND_JOINT2 */
      PANDA_HAND_JOINT1, MDYN_REVOLUTE, MDYN_V3(0, 0, 1), MDYN_C(0), MDYN_V3(0, 0, 0),
      MDYN_QUATERNION(0.7071067811865475, -0.7071067811865475, 0, 0), MDYN_C(0.646926),
      MDYN_V3(-0.003141, -0.02872, 0.003495),
      MDYN_INERTIA(0.0079620, 2.8110e-2, 2.5995e-2, -3.925e-3, 1.0254e-2, 7.04e-4), MDYN_C(0.1),
      MDYN_C(1), MDYN_C(0), MDYN_C(-1.7628), MDYN_C(1.7628), MDYN_C(87), MDYN_C(4500), MDYN_C(450),
      "joint2", 0 },
    { /* PANDA_HAND_JOINT3 */
      PANDA_HAND_JOINT2, MDYN_REVOLUTE, MDYN_V3(0, 0, 1), MDYN_C(0), MDYN_V3(0, -0.316, 0),
      MDYN_QUATERNION(0.7071067811865475, 0.7071067811865475, 0, 0), MDYN_C(3.228604),
      MDYN_V3(2.7518e-2, 3.9252e-2, -6.6502e-2),
      MDYN_INERTIA(3.7242e-2, 3.6155e-2, 1.083e-2, -4.761e-3, -1.1396e-2, -1.2805e-2), MDYN_C(0.1),
      MDYN_C(1), MDYN_C(0), MDYN_C(-2.8973), MDYN_C(2.8973), MDYN_C(87), MDYN_C(3500), MDYN_C(350),
      "joint3", 0 },
    { /* PANDA_HAND_JOINT4 */
      PANDA_HAND_JOINT3, MDYN_REVOLUTE, MDYN_V3(0, 0, 1), MDYN_C(0), MDYN_V3(0.0825, 0, 0),
      MDYN_QUATERNION(0.7071067811865475, 0.7071067811865475, 0, 0), MDYN_C(3.587895),
      MDYN_V3(-5.317e-2, 1.04419e-1, 2.7454e-2),
      MDYN_INERTIA(2.5853e-2, 1.9552e-2, 2.8323e-2, 7.796e-3, -1.332e-3, 8.641e-3), MDYN_C(0.1),
      MDYN_C(1), MDYN_C(0), MDYN_C(-3.0718), MDYN_C(-0.0698), MDYN_C(87), MDYN_C(3500),
      MDYN_C(350), "joint4", 0 },
    { /* PANDA_HAND_JOINT5 */
      PANDA_HAND_JOINT4, MDYN_REVOLUTE, MDYN_V3(0, 0, 1), MDYN_C(0), MDYN_V3(-0.0825, 0.384, 0),
      MDYN_QUATERNION(0.7071067811865475, -0.7071067811865475, 0, 0), MDYN_C(1.225946),
      MDYN_V3(-1.1953e-2, 4.1065e-2, -3.8437e-2),
      MDYN_INERTIA(3.5549e-2, 2.9474e-2, 8.627e-3, -2.117e-3, -4.037e-3, 2.29e-4), MDYN_C(0.1),
      MDYN_C(1), MDYN_C(0), MDYN_C(-2.8973), MDYN_C(2.8973), MDYN_C(12), MDYN_C(2000), MDYN_C(200),
      "joint5", 0 },
    { /* PANDA_HAND_JOINT6 */
      PANDA_HAND_JOINT5, MDYN_REVOLUTE, MDYN_V3(0, 0, 1), MDYN_C(0), MDYN_V3(0, 0, 0),
      MDYN_QUATERNION(0.7071067811865475, 0.7071067811865475, 0, 0), MDYN_C(1.666555),
      MDYN_V3(6.0149e-2, -1.4117e-2, -1.0517e-2),
      MDYN_INERTIA(1.964e-3, 4.354e-3, 5.433e-3, 1.09e-4, -1.158e-3, 3.41e-4), MDYN_C(0.1),
      MDYN_C(1), MDYN_C(0), MDYN_C(-0.0175), MDYN_C(3.7525), MDYN_C(12), MDYN_C(2000), MDYN_C(200),
      "joint6", 0 },
    { /* PANDA_HAND_JOINT7 */
      PANDA_HAND_JOINT6, MDYN_REVOLUTE, MDYN_V3(0, 0, 1), MDYN_C(0), MDYN_V3(0.088, 0, 0),
      MDYN_QUATERNION(0.7071067811865475, 0.7071067811865475, 0, 0), MDYN_C(1.465522),
      MDYN_V3(0.0017561013694002976, 0.0013882014588725731, 0.09915644298345572),
      MDYN_INERTIA(0.01639604154843832, 0.01397340258044288, 0.006675308243492207,
      0.000394963964165074, -0.0007101156088327252, -0.001053808761687211), MDYN_C(0.1), MDYN_C(1),
      MDYN_C(0), MDYN_C(-2.8973), MDYN_C(2.8973), MDYN_C(12), MDYN_C(2000), MDYN_C(200), "joint7",
      0 },
    { /* PANDA_HAND_FINGER_JOINT1 */
      PANDA_HAND_JOINT7, MDYN_PRISMATIC, MDYN_V3(0, 1, 0), MDYN_C(0), MDYN_V3(0, 0, 0.1654),
      MDYN_QUATERNION(0.9238795391929064, 0, 0, -0.38268341623423263), MDYN_C(0.015),
      MDYN_V3(0, 0, 0), MDYN_INERTIA(2.375e-6, 2.375e-6, 7.5e-7, 0, 0, 0), MDYN_C(0.1), MDYN_C(1),
      MDYN_C(0), MDYN_C(0), MDYN_C(0.04), MDYN_C(0), MDYN_C(0), MDYN_C(0), "finger_joint1", 0 },
    { /* PANDA_HAND_FINGER_JOINT2 */
      PANDA_HAND_JOINT7, MDYN_PRISMATIC, MDYN_V3(0, 1, 0), MDYN_C(0), MDYN_V3(0, 0, 0.1654),
      MDYN_QUATERNION(0.38268341623423263, 0, 0, 0.9238795391929064), MDYN_C(0.015),
      MDYN_V3(0, 0, 0), MDYN_INERTIA(2.375e-6, 2.375e-6, 7.5e-7, 0, 0, 0), MDYN_C(0.1), MDYN_C(1),
      MDYN_C(0), MDYN_C(0), MDYN_C(0.04), MDYN_C(0), MDYN_C(0), MDYN_C(0), "finger_joint2", 0 },
};

static const mdyn_coupling panda_hand_couplings[] = {
    /* equality of `finger_joint2` and `finger_joint1` */
    MDYN_MIMIC(PANDA_HAND_FINGER_JOINT2, PANDA_HAND_FINGER_JOINT1, 1, 0),
};

/* Start position: inside the limits, on couplings and loops,
   nearest to keyframe `home`. mdyn_init sets it.
   The drives go to sim.target, 0 after mdyn_init: set it too. */
static const mdyn_real panda_hand_start[] = {
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(-1.57079),
    MDYN_R(0),
    MDYN_R(1.57079),
    MDYN_R(-0.7853),
    MDYN_R(0.04),
    MDYN_R(0.04),
};

/* bodies, couplings, gravity, dt, solver, closures, user rows, row_function, user_data, start,
   curves */
static const mdyn_model panda_hand_model = {
    panda_hand_bodies, PANDA_HAND_BODIES, panda_hand_couplings, 1, MDYN_V3(0, 0, -9.81),
    MDYN_C(0.001), MDYN_DEFAULT_SOLVER, NULL, 0, NULL, 0, NULL, NULL, panda_hand_start, NULL, 0,
};

#endif
