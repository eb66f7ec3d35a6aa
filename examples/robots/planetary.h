/* planetary.h - model tables made by import_robot.py from planetary.sdf (SDF 1.10).
   6 links, 5 bodies, 5 degrees of freedom, 4 couplings, 0 loop closures; base fixed to the
   world.
   Mass 0.365 kg, of which 0.165 kg moves.

   Include it before mimicdyn.h, for the knobs, and again after it, for the tables.

   Merged into the body that carries them:
   - the world: ring */

#if !defined(MIMICDYN_H)
#ifndef MIMICDYN_MAX_BODIES
#define MIMICDYN_MAX_BODIES 5
#endif
#ifndef MIMICDYN_MAX_DOFS
#define MIMICDYN_MAX_DOFS 5
#endif
#ifndef MIMICDYN_MAX_COUPLINGS
#define MIMICDYN_MAX_COUPLINGS 4
#endif
#ifndef MIMICDYN_MAX_ROWS
#define MIMICDYN_MAX_ROWS 4
#endif
#ifndef MIMICDYN_MAX_TERMS
#define MIMICDYN_MAX_TERMS 3
#endif
#ifndef MIMICDYN_MAX_BODY_ROWS
#define MIMICDYN_MAX_BODY_ROWS 0
#endif
#ifndef MIMICDYN_MAX_ENTRIES
#define MIMICDYN_MAX_ENTRIES 39
#endif

#elif !defined(PLANETARY_TABLES)
#define PLANETARY_TABLES

#if MIMICDYN_MAX_BODIES < 5
#error "planetary needs MIMICDYN_MAX_BODIES 5"
#endif
#if MIMICDYN_MAX_DOFS < 5
#error "planetary needs MIMICDYN_MAX_DOFS 5"
#endif
#if MIMICDYN_MAX_COUPLINGS < 4
#error "planetary needs MIMICDYN_MAX_COUPLINGS 4"
#endif
#if MIMICDYN_MAX_ROWS < 4
#error "planetary needs MIMICDYN_MAX_ROWS 4"
#endif
#if MIMICDYN_MAX_TERMS < 3
#error "planetary needs MIMICDYN_MAX_TERMS 3"
#endif

enum {
    PLANETARY_MOTOR, /* revolute joint, link sun */
    PLANETARY_OUTPUT, /* revolute joint, link carrier */
    PLANETARY_SPIN1, /* revolute joint, link planet1 */
    PLANETARY_SPIN2, /* revolute joint, link planet2 */
    PLANETARY_SPIN3, /* revolute joint, link planet3 */
    PLANETARY_BODIES
};
/* Bodies, coordinates and degrees of freedom have the same index. */

/* parent, joint, axis, pitch, position, rotation, mass, com, inertia, armature, damping, friction,
   lower, upper, effort, drive_kp, drive_kd, name, inertia_as_given */
static const mdyn_body planetary_bodies[PLANETARY_BODIES] = {
    { /* PLANETARY_MOTOR */
      MDYN_WORLD, MDYN_REVOLUTE, MDYN_V3(0, 0, 1), MDYN_C(0), MDYN_V3(0, 0, 0),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.02), MDYN_V3(0, 0, 0),
      MDYN_INERTIA(2e-6, 2e-6, 3.6e-7, 0, 0, 0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), "motor", 0 },
    { /* PLANETARY_OUTPUT */
      MDYN_WORLD, MDYN_REVOLUTE, MDYN_V3(0, 0, 1), MDYN_C(0), MDYN_V3(0, 0, 0),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.1), MDYN_V3(0, 0, 0),
      MDYN_INERTIA(2e-5, 2e-5, 4e-5, 0, 0, 0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), "output", 0 },
    { /* PLANETARY_SPIN1 */
      PLANETARY_OUTPUT, MDYN_REVOLUTE, MDYN_V3(0, 0, 1), MDYN_C(0), MDYN_V3(0.015, 0, 0),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.015), MDYN_V3(0, 0, 0),
      MDYN_INERTIA(1e-6, 1e-6, 6e-7, 0, 0, 0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), "spin1", 0 },
    { /* PLANETARY_SPIN2 */
      PLANETARY_OUTPUT, MDYN_REVOLUTE, MDYN_V3(0, 0, 1), MDYN_C(0),
      MDYN_V3(-0.0075, 0.012990381056766580, 0), MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.015),
      MDYN_V3(0, 0, 0), MDYN_INERTIA(1e-6, 1e-6, 6e-7, 0, 0, 0), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), "spin2", 0 },
    { /* PLANETARY_SPIN3 */
      PLANETARY_OUTPUT, MDYN_REVOLUTE, MDYN_V3(0, 0, 1), MDYN_C(0),
      MDYN_V3(-0.0075, -0.012990381056766580, 0), MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.015),
      MDYN_V3(0, 0, 0), MDYN_INERTIA(1e-6, 1e-6, 6e-7, 0, 0, 0), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), "spin3", 0 },
};

static const mdyn_coupling planetary_couplings[] = {
    /* gearbox `sun_mesh` */
    MDYN_GEAR3(PLANETARY_MOTOR, 1, PLANETARY_OUTPUT, -1, PLANETARY_SPIN1, 1.5, 0),
    /* gearbox `ring_mesh1` */
    MDYN_GEAR(PLANETARY_OUTPUT, -1, PLANETARY_SPIN1, -0.375, 0),
    /* gearbox `ring_mesh2` */
    MDYN_GEAR(PLANETARY_OUTPUT, -1, PLANETARY_SPIN2, -0.375, 0),
    /* gearbox `ring_mesh3` */
    MDYN_GEAR(PLANETARY_OUTPUT, -1, PLANETARY_SPIN3, -0.375, 0),
};

/* Start position: inside the limits, on couplings and loops,
   nearest to 0. mdyn_init sets it. */
static const mdyn_real planetary_start[] = {
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
};

/* bodies, couplings, gravity, dt, solver, closures, user rows, row_function, user_data, start,
   curves */
static const mdyn_model planetary_model = {
    planetary_bodies, PLANETARY_BODIES, planetary_couplings, 4, MDYN_V3(0, 0, -9.81),
    MDYN_C(0.001), MDYN_DEFAULT_SOLVER, NULL, 0, NULL, 0, NULL, NULL, planetary_start, NULL, 0,
};

#endif
