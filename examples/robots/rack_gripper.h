/* rack_gripper.h - model tables made by import_robot.py from rack_gripper.urdf (URDF).
   4 links, 3 bodies, 3 degrees of freedom, 2 couplings, 0 loop closures; base fixed to the
   world.
   Mass 0.14 kg, of which 0.14 kg moves.

   Include it before mimicdyn.h, for the knobs, and again after it, for the tables.

   Merged into the body that carries them:
   - the world: housing

   Changed or noted:
   - line 27: joint `motor`: the limits of `left_rack` leave [0, 3.33333] of [none, none]; they
     are kept
   - line 32: joint `left_rack`: effort 0: no bound
   - line 39: joint `right_rack`: effort 0: no bound */

#if !defined(MIMICDYN_H)
#ifndef MIMICDYN_MAX_BODIES
#define MIMICDYN_MAX_BODIES 3
#endif
#ifndef MIMICDYN_MAX_DOFS
#define MIMICDYN_MAX_DOFS 3
#endif
#ifndef MIMICDYN_MAX_COUPLINGS
#define MIMICDYN_MAX_COUPLINGS 2
#endif
#ifndef MIMICDYN_MAX_ROWS
#define MIMICDYN_MAX_ROWS 4
#endif
#ifndef MIMICDYN_MAX_TERMS
#define MIMICDYN_MAX_TERMS 2
#endif
#ifndef MIMICDYN_MAX_BODY_ROWS
#define MIMICDYN_MAX_BODY_ROWS 0
#endif
#ifndef MIMICDYN_MAX_ENTRIES
#define MIMICDYN_MAX_ENTRIES 25
#endif

#elif !defined(RACK_GRIPPER_TABLES)
#define RACK_GRIPPER_TABLES

#if MIMICDYN_MAX_BODIES < 3
#error "rack_gripper needs MIMICDYN_MAX_BODIES 3"
#endif
#if MIMICDYN_MAX_DOFS < 3
#error "rack_gripper needs MIMICDYN_MAX_DOFS 3"
#endif
#if MIMICDYN_MAX_COUPLINGS < 2
#error "rack_gripper needs MIMICDYN_MAX_COUPLINGS 2"
#endif
#if MIMICDYN_MAX_ROWS < 4
#error "rack_gripper needs MIMICDYN_MAX_ROWS 4"
#endif
#if MIMICDYN_MAX_TERMS < 2
#error "rack_gripper needs MIMICDYN_MAX_TERMS 2"
#endif

enum {
    RACK_GRIPPER_MOTOR, /* revolute joint, link pinion */
    RACK_GRIPPER_LEFT_RACK, /* prismatic joint, link left_jaw */
    RACK_GRIPPER_RIGHT_RACK, /* prismatic joint, link right_jaw */
    RACK_GRIPPER_BODIES
};
/* Bodies, coordinates and degrees of freedom have the same index. */

/* parent, joint, axis, pitch, position, rotation, mass, com, inertia, armature, damping, friction,
   lower, upper, effort, drive_kp, drive_kd, name, inertia_as_given */
static const mdyn_body rack_gripper_bodies[RACK_GRIPPER_BODIES] = {
    { /* RACK_GRIPPER_MOTOR */
      MDYN_WORLD, MDYN_REVOLUTE, MDYN_V3(0, 0, 1), MDYN_C(0), MDYN_V3(0, 0, 0),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.02), MDYN_V3(0, 0, 0),
      MDYN_INERTIA(1e-6, 1e-6, 1.44e-6, 0, 0, 0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      MDYN_C(0), MDYN_C(0.5), MDYN_C(0), MDYN_C(0), "motor", 0 },
    { /* RACK_GRIPPER_LEFT_RACK */
      MDYN_WORLD, MDYN_PRISMATIC, MDYN_V3(1, 0, 0), MDYN_C(0), MDYN_V3(0, 0.012, 0),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.06), MDYN_V3(0, 0, 0.03),
      MDYN_INERTIA(2e-5, 2.5e-5, 1e-5, 0, 0, 0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      MDYN_C(0.04), MDYN_C(0), MDYN_C(0), MDYN_C(0), "left_rack", 0 },
    { /* RACK_GRIPPER_RIGHT_RACK */
      MDYN_WORLD, MDYN_PRISMATIC, MDYN_V3(1, 0, 0), MDYN_C(0), MDYN_V3(0, -0.012, 0),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.06), MDYN_V3(0, 0, 0.03),
      MDYN_INERTIA(2e-5, 2.5e-5, 1e-5, 0, 0, 0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(-0.04),
      MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), "right_rack", 0 },
};

static const mdyn_coupling rack_gripper_couplings[] = {
    /* mimic of joint `left_rack` */
    MDYN_MIMIC(RACK_GRIPPER_LEFT_RACK, RACK_GRIPPER_MOTOR, 0.012, 0),
    /* mimic of joint `right_rack` */
    MDYN_MIMIC(RACK_GRIPPER_RIGHT_RACK, RACK_GRIPPER_MOTOR, -0.012, 0),
};

/* Start position: inside the limits, on couplings and loops,
   nearest to 0. mdyn_init sets it. */
static const mdyn_real rack_gripper_start[] = {
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
};

/* bodies, couplings, gravity, dt, solver, closures, user rows, row_function, user_data, start,
   curves */
static const mdyn_model rack_gripper_model = {
    rack_gripper_bodies, RACK_GRIPPER_BODIES, rack_gripper_couplings, 2, MDYN_V3(0, 0, -9.81),
    MDYN_C(0.001), MDYN_DEFAULT_SOLVER, NULL, 0, NULL, 0, NULL, NULL, rack_gripper_start, NULL, 0,
};

#endif
