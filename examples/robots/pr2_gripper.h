/* pr2_gripper.h - model tables made by import_robot.py from pr2_gripper.sdf (SDF 1.6).
   11 links, 10 bodies, 10 degrees of freedom, 0 couplings, 4 loop closures; base fixed to the
   world.
   Mass 1.47975 kg, of which 0.79868 kg moves.

   Include it before mimicdyn.h, for the knobs, and again after it, for the tables.

   Merged into the body that carries them:
   - the world: wrist

   Changed or noted:
   - line 154: joint `l_parallel_tip` closes a loop: a closure (hinge)
   - line 161: joint `r_parallel_tip` closes a loop: a closure (hinge)
   - line 182: joint `l_thread` closes a loop and has a coordinate of its own: it carries 0.333
     of its child's mass, welded to the rest
   - line 182: joint `l_thread`: thread_pitch is 3141.6 rad/m, left-handed positive: pitch
     -0.000318309 m/rad
   - line 189: joint `r_thread` closes a loop and has a coordinate of its own: it carries 0.333
     of its child's mass, welded to the rest
   - line 189: joint `r_thread`: thread_pitch is -3141.6 rad/m, left-handed positive: pitch
     0.000318309 m/rad */

#if !defined(MIMICDYN_H)
#ifndef MIMICDYN_MAX_BODIES
#define MIMICDYN_MAX_BODIES 10
#endif
#ifndef MIMICDYN_MAX_DOFS
#define MIMICDYN_MAX_DOFS 10
#endif
#ifndef MIMICDYN_MAX_COUPLINGS
#define MIMICDYN_MAX_COUPLINGS 1
#endif
#ifndef MIMICDYN_MAX_ROWS
#define MIMICDYN_MAX_ROWS 27
#endif
#ifndef MIMICDYN_MAX_TERMS
#define MIMICDYN_MAX_TERMS 2
#endif
#ifndef MIMICDYN_MAX_BODY_ROWS
#define MIMICDYN_MAX_BODY_ROWS 22
#endif
#ifndef MIMICDYN_MAX_ENTRIES
#define MIMICDYN_MAX_ENTRIES 324
#endif

#elif !defined(PR2_GRIPPER_TABLES)
#define PR2_GRIPPER_TABLES

#if MIMICDYN_MAX_BODIES < 10
#error "pr2_gripper needs MIMICDYN_MAX_BODIES 10"
#endif
#if MIMICDYN_MAX_DOFS < 10
#error "pr2_gripper needs MIMICDYN_MAX_DOFS 10"
#endif
#if MIMICDYN_MAX_COUPLINGS < 1
#error "pr2_gripper needs MIMICDYN_MAX_COUPLINGS 1"
#endif
#if MIMICDYN_MAX_ROWS < 27
#error "pr2_gripper needs MIMICDYN_MAX_ROWS 27"
#endif
#if MIMICDYN_MAX_TERMS < 2
#error "pr2_gripper needs MIMICDYN_MAX_TERMS 2"
#endif
#if MIMICDYN_MAX_BODY_ROWS < 22
#error "pr2_gripper needs MIMICDYN_MAX_BODY_ROWS 22"
#endif

enum {
    PR2_GRIPPER_L_FINGER_JOINT, /* revolute joint, link l_finger */
    PR2_GRIPPER_L_TIP_JOINT, /* revolute joint, link l_tip */
    PR2_GRIPPER_L_THREAD, /* helical joint, link screw (share of l_thread) */
    PR2_GRIPPER_R_FINGER_JOINT, /* revolute joint, link r_finger */
    PR2_GRIPPER_R_TIP_JOINT, /* revolute joint, link r_tip */
    PR2_GRIPPER_R_THREAD, /* helical joint, link screw (share of r_thread) */
    PR2_GRIPPER_L_PARALLEL_ROOT, /* revolute joint, link l_parallel */
    PR2_GRIPPER_R_PARALLEL_ROOT, /* revolute joint, link r_parallel */
    PR2_GRIPPER_SLIDER_JOINT, /* prismatic joint, link slider */
    PR2_GRIPPER_MOTOR, /* revolute joint, link screw */
    PR2_GRIPPER_BODIES
};
/* Bodies, coordinates and degrees of freedom have the same index. */

/* parent, joint, axis, pitch, position, rotation, mass, com, inertia, armature, damping, friction,
   lower, upper, effort, drive_kp, drive_kd, name, inertia_as_given */
static const mdyn_body pr2_gripper_bodies[PR2_GRIPPER_BODIES] = {
    { /* PR2_GRIPPER_L_FINGER_JOINT */
      MDYN_WORLD, MDYN_REVOLUTE, MDYN_V3(0, 0, 1), MDYN_C(0), MDYN_V3(0.07691, 0.01, 0),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.17126), MDYN_V3(0.03598, 0.0173, -0.00164),
      MDYN_INERTIA(0.000078, 0.000197, 0.000181, 0.000001, -0.00001, -0.000003), MDYN_C(0),
      MDYN_C(0.02), MDYN_C(0), MDYN_C(0), MDYN_C(0.548), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      "l_finger_joint", 0 },
    { /* PR2_GRIPPER_L_TIP_JOINT */
      PR2_GRIPPER_L_FINGER_JOINT, MDYN_REVOLUTE, MDYN_V3(0, 0, -1), MDYN_C(0),
      MDYN_V3(0.09137, 0.0049499999999999995, 0), MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.04419),
      MDYN_V3(0.00423, 0.00284, 0), MDYN_INERTIA(0.000008, 0.00001, 0.000015, 0.000006, 0, 0),
      MDYN_C(0), MDYN_C(0.001), MDYN_C(0), MDYN_C(0), MDYN_C(0.548), MDYN_C(0), MDYN_C(0),
      MDYN_C(0), "l_tip_joint", 0 },
    { /* PR2_GRIPPER_L_THREAD */
      PR2_GRIPPER_L_TIP_JOINT, MDYN_HELICAL, MDYN_V3(0, 1, 0), MDYN_C(-0.0003183091418385536),
      MDYN_V3(0, -0.01495, 0), MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.003333333333333333),
      MDYN_V3(0, 0, 0), MDYN_INERTIA(3.3333333333333335e-05, 3.3333333333333335e-05,
      3.3333333333333335e-05, 0, 0, 0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      MDYN_C(0), MDYN_C(0), MDYN_C(0), "l_thread", 0 },
    { /* PR2_GRIPPER_R_FINGER_JOINT */
      MDYN_WORLD, MDYN_REVOLUTE, MDYN_V3(0, 0, -1), MDYN_C(0), MDYN_V3(0.07691, -0.01, 0),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.17389), MDYN_V3(0.03576, -0.01736, -0.00095),
      MDYN_INERTIA(0.000077, 0.000198, 0.000181, -0.000002, -0.000008, 0.000002), MDYN_C(0),
      MDYN_C(0.02), MDYN_C(0), MDYN_C(0), MDYN_C(0.548), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      "r_finger_joint", 0 },
    { /* PR2_GRIPPER_R_TIP_JOINT */
      PR2_GRIPPER_R_FINGER_JOINT, MDYN_REVOLUTE, MDYN_V3(0, 0, 1), MDYN_C(0),
      MDYN_V3(0.09137, -0.0049499999999999995, 0), MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.04419),
      MDYN_V3(0.00423, -0.00284, 0), MDYN_INERTIA(0.000008, 0.00001, 0.000015, -0.000006, 0, 0),
      MDYN_C(0), MDYN_C(0.001), MDYN_C(0), MDYN_C(0), MDYN_C(0.548), MDYN_C(0), MDYN_C(0),
      MDYN_C(0), "r_tip_joint", 0 },
    { /* PR2_GRIPPER_R_THREAD */
      PR2_GRIPPER_R_TIP_JOINT, MDYN_HELICAL, MDYN_V3(0, 1, 0), MDYN_C(0.0003183091418385536),
      MDYN_V3(0, 0.01495, 0), MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.003333333333333333),
      MDYN_V3(0, 0, 0), MDYN_INERTIA(3.3333333333333335e-05, 3.3333333333333335e-05,
      3.3333333333333335e-05, 0, 0, 0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      MDYN_C(0), MDYN_C(0), MDYN_C(0), "r_thread", 0 },
    { /* PR2_GRIPPER_L_PARALLEL_ROOT */
      MDYN_WORLD, MDYN_REVOLUTE, MDYN_V3(0, 0, 1), MDYN_C(0), MDYN_V3(0.05891, 0.031, 0),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.17126), MDYN_V3(0.03598, 0.0173, -0.00164),
      MDYN_INERTIA(0.000078, 0.000197, 0.000181, 0.000001, 0.00001, -0.000003), MDYN_C(0),
      MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      "l_parallel_root", 0 },
    { /* PR2_GRIPPER_R_PARALLEL_ROOT */
      MDYN_WORLD, MDYN_REVOLUTE, MDYN_V3(0, 0, -1), MDYN_C(0), MDYN_V3(0.05891, -0.031, 0),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.17389), MDYN_V3(0.03576, -0.01736, -0.00095),
      MDYN_INERTIA(0.000077, 0.000198, 0.000181, -0.000002, 0.000008, 0.000002), MDYN_C(0),
      MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      "r_parallel_root", 0 },
    { /* PR2_GRIPPER_SLIDER_JOINT */
      MDYN_WORLD, MDYN_PRISMATIC, MDYN_V3(1, 0, 0), MDYN_C(0), MDYN_V3(0.16828, 0, 0),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.01), MDYN_V3(0, 0, 0),
      MDYN_INERTIA(0.001, 0.001, 0.001, 0, 0, 0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(-0.1),
      MDYN_C(0.1), MDYN_C(0), MDYN_C(0), MDYN_C(0), "slider_joint", 0 },
    { /* PR2_GRIPPER_MOTOR */
      PR2_GRIPPER_SLIDER_JOINT, MDYN_REVOLUTE, MDYN_V3(0, 1, 0), MDYN_C(0), MDYN_V3(0, 0, 0),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.003333333333333333), MDYN_V3(0, 0, 0),
      MDYN_INERTIA(3.3333333333333335e-05, 3.3333333333333335e-05, 3.3333333333333335e-05, 0, 0,
      0), MDYN_C(0), MDYN_C(0.0001), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      MDYN_C(0), "motor", 0 },
};

/* kind, a, b, point_a, point_b, axis_a, axis_b, rotation, distance, softness, effort, name */
static const mdyn_closure pr2_gripper_closures[] = {
    { MDYN_CLOSE_HINGE, PR2_GRIPPER_L_TIP_JOINT, PR2_GRIPPER_L_PARALLEL_ROOT,
    MDYN_V3(-0.018, 0.021, 0), MDYN_V3(0.09137000000000002, 0.0049499999999999995, 0),
    MDYN_V3(0, 0, 1), MDYN_V3(0, 0, 1), MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0),
    { MDYN_DEFAULT, MDYN_C(0), MDYN_C(0) }, MDYN_C(0), "l_parallel_tip" },
    { MDYN_CLOSE_HINGE, PR2_GRIPPER_R_TIP_JOINT, PR2_GRIPPER_R_PARALLEL_ROOT,
    MDYN_V3(-0.018, -0.021, 0), MDYN_V3(0.09137000000000002, -0.0049499999999999995, 0),
    MDYN_V3(0, 0, 1), MDYN_V3(0, 0, 1), MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0),
    { MDYN_DEFAULT, MDYN_C(0), MDYN_C(0) }, MDYN_C(0), "r_parallel_tip" },
    { MDYN_CLOSE_WELD, PR2_GRIPPER_L_THREAD, PR2_GRIPPER_MOTOR, MDYN_V3(0, 0, 0), MDYN_V3(0, 0, 0),
    MDYN_V3(0, 0, 0), MDYN_V3(0, 0, 0), MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0),
    { MDYN_DEFAULT, MDYN_C(0), MDYN_C(0) }, MDYN_C(0), "l_thread" },
    { MDYN_CLOSE_WELD, PR2_GRIPPER_R_THREAD, PR2_GRIPPER_MOTOR, MDYN_V3(0, 0, 0), MDYN_V3(0, 0, 0),
    MDYN_V3(0, 0, 0), MDYN_V3(0, 0, 0), MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0),
    { MDYN_DEFAULT, MDYN_C(0), MDYN_C(0) }, MDYN_C(0), "r_thread" },
};

/* Start position: inside the limits, on couplings and loops,
   nearest to 0. mdyn_init sets it. */
static const mdyn_real pr2_gripper_start[] = {
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
};

/* bodies, couplings, gravity, dt, solver, closures, user rows, row_function, user_data, start,
   curves */
static const mdyn_model pr2_gripper_model = {
    pr2_gripper_bodies, PR2_GRIPPER_BODIES, NULL, 0, MDYN_V3(0, 0, -9.81), MDYN_C(0.001),
    MDYN_DEFAULT_SOLVER, pr2_gripper_closures, 4, NULL, 0, NULL, NULL, pr2_gripper_start, NULL, 0,
};

#endif
