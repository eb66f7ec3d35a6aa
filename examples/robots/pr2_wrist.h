/* pr2_wrist.h - model tables made by import_robot.py from pr2_wrist.xml (MJCF).
   5 links, 4 bodies, 4 degrees of freedom, 2 couplings, 0 loop closures; base fixed to the
   world.
   Mass 1.21409 kg, of which 1.21409 kg moves.

   Include it before mimicdyn.h, for the knobs, and again after it, for the tables.

   Merged into the body that carries them:
   - the world: forearm */

#if !defined(MIMICDYN_H)
#ifndef MIMICDYN_MAX_BODIES
#define MIMICDYN_MAX_BODIES 4
#endif
#ifndef MIMICDYN_MAX_DOFS
#define MIMICDYN_MAX_DOFS 4
#endif
#ifndef MIMICDYN_MAX_COUPLINGS
#define MIMICDYN_MAX_COUPLINGS 2
#endif
#ifndef MIMICDYN_MAX_ROWS
#define MIMICDYN_MAX_ROWS 3
#endif
#ifndef MIMICDYN_MAX_TERMS
#define MIMICDYN_MAX_TERMS 3
#endif
#ifndef MIMICDYN_MAX_BODY_ROWS
#define MIMICDYN_MAX_BODY_ROWS 0
#endif
#ifndef MIMICDYN_MAX_ENTRIES
#define MIMICDYN_MAX_ENTRIES 27
#endif

#elif !defined(PR2_WRIST_TABLES)
#define PR2_WRIST_TABLES

#if MIMICDYN_MAX_BODIES < 4
#error "pr2_wrist needs MIMICDYN_MAX_BODIES 4"
#endif
#if MIMICDYN_MAX_DOFS < 4
#error "pr2_wrist needs MIMICDYN_MAX_DOFS 4"
#endif
#if MIMICDYN_MAX_COUPLINGS < 2
#error "pr2_wrist needs MIMICDYN_MAX_COUPLINGS 2"
#endif
#if MIMICDYN_MAX_ROWS < 3
#error "pr2_wrist needs MIMICDYN_MAX_ROWS 3"
#endif
#if MIMICDYN_MAX_TERMS < 3
#error "pr2_wrist needs MIMICDYN_MAX_TERMS 3"
#endif

enum {
    PR2_WRIST_RIGHT, /* revolute joint, link right_motor */
    PR2_WRIST_LEFT, /* revolute joint, link left_motor */
    PR2_WRIST_FLEX, /* revolute joint, link wrist_flex_link */
    PR2_WRIST_ROLL, /* revolute joint, link gripper_palm */
    PR2_WRIST_BODIES
};
/* Bodies, coordinates and degrees of freedom have the same index. */

/* parent, joint, axis, pitch, position, rotation, mass, com, inertia, armature, damping, friction,
   lower, upper, effort, drive_kp, drive_kd, name, inertia_as_given */
static const mdyn_body pr2_wrist_bodies[PR2_WRIST_BODIES] = {
    { /* PR2_WRIST_RIGHT */
      MDYN_WORLD, MDYN_REVOLUTE, MDYN_V3(1, 0, 0), MDYN_C(0), MDYN_V3(0, 0, 0),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.01), MDYN_V3(0, 0, 0),
      MDYN_INERTIA(1e-6, 1e-6, 1e-6, 0, 0, 0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), "right", 0 },
    { /* PR2_WRIST_LEFT */
      MDYN_WORLD, MDYN_REVOLUTE, MDYN_V3(1, 0, 0), MDYN_C(0), MDYN_V3(0, 0, 0),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.01), MDYN_V3(0, 0, 0),
      MDYN_INERTIA(1e-6, 1e-6, 1e-6, 0, 0, 0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), "left", 0 },
    { /* PR2_WRIST_FLEX */
      MDYN_WORLD, MDYN_REVOLUTE, MDYN_V3(0, 1, 0), MDYN_C(0), MDYN_V3(0.321, 0, 0),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.61402), MDYN_V3(-0.00157, 0, -0.00075),
      MDYN_INERTIA(0.00065165722, 0.00019824443, 0.00064450498, 0.00000028864, 0.00000303477,
      -0.00000022645), MDYN_C(0), MDYN_C(0.1), MDYN_C(0), MDYN_C(-2.094), MDYN_C(0), MDYN_C(0),
      MDYN_C(0), MDYN_C(0), "flex", 0 },
    { /* PR2_WRIST_ROLL */
      PR2_WRIST_FLEX, MDYN_REVOLUTE, MDYN_V3(1, 0, 0), MDYN_C(0), MDYN_V3(0, 0, 0),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.58007), MDYN_V3(0.06623, 0.00053, -0.00119),
      MDYN_INERTIA(0.00035223921, 0.00067741312, 0.00086563316, -0.00001580476, -0.0000009175,
      -0.00000059554), MDYN_C(0), MDYN_C(0.1), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      MDYN_C(0), MDYN_C(0), "roll", 0 },
};

static const mdyn_coupling pr2_wrist_couplings[] = {
    /* equality of tendon `right_belt` */
    MDYN_GEAR3(PR2_WRIST_RIGHT, 1, PR2_WRIST_FLEX, 60.1714285714, PR2_WRIST_ROLL, 60.1714285714,
    0),
    /* equality of tendon `left_belt` */
    MDYN_GEAR3(PR2_WRIST_LEFT, 1, PR2_WRIST_FLEX, -60.1714285714, PR2_WRIST_ROLL, 60.1714285714,
    0),
};

/* Start position: inside the limits, on couplings and loops,
   nearest to 0. mdyn_init sets it. */
static const mdyn_real pr2_wrist_start[] = {
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
};

/* bodies, couplings, gravity, dt, solver, closures, user rows, row_function, user_data, start,
   curves */
static const mdyn_model pr2_wrist_model = {
    pr2_wrist_bodies, PR2_WRIST_BODIES, pr2_wrist_couplings, 2, MDYN_V3(0, 0, -9.81),
    MDYN_C(0.001), MDYN_DEFAULT_SOLVER, NULL, 0, NULL, 0, NULL, NULL, pr2_wrist_start, NULL, 0,
};

#endif
