/* shadow_fingers.h - model tables made by import_robot.py from shadow_fingers.xml (MJCF).
   9 links, 8 bodies, 8 degrees of freedom, 2 couplings, 0 loop closures; base fixed to the
   world.
   Mass 0.136 kg, of which 0.136 kg moves.

   Include it before mimicdyn.h, for the knobs, and again after it, for the tables.

   Merged into the body that carries them:
   - the world: palm

   Changed or noted:
   - line 66: actuator `A_FFJ0` of tendon `FFJ0`: a spring coupling towards 0;
     mdyn_set_coupling_target commands it
   - line 69: actuator `A_MFJ0` of tendon `MFJ0`: a spring coupling towards 0;
     mdyn_set_coupling_target commands it */

#if !defined(MIMICDYN_H)
#ifndef MIMICDYN_MAX_BODIES
#define MIMICDYN_MAX_BODIES 8
#endif
#ifndef MIMICDYN_MAX_DOFS
#define MIMICDYN_MAX_DOFS 8
#endif
#ifndef MIMICDYN_MAX_COUPLINGS
#define MIMICDYN_MAX_COUPLINGS 2
#endif
#ifndef MIMICDYN_MAX_ROWS
#define MIMICDYN_MAX_ROWS 22
#endif
#ifndef MIMICDYN_MAX_TERMS
#define MIMICDYN_MAX_TERMS 2
#endif
#ifndef MIMICDYN_MAX_BODY_ROWS
#define MIMICDYN_MAX_BODY_ROWS 0
#endif
#ifndef MIMICDYN_MAX_ENTRIES
#define MIMICDYN_MAX_ENTRIES 96
#endif

#elif !defined(SHADOW_FINGERS_TABLES)
#define SHADOW_FINGERS_TABLES

#if MIMICDYN_MAX_BODIES < 8
#error "shadow_fingers needs MIMICDYN_MAX_BODIES 8"
#endif
#if MIMICDYN_MAX_DOFS < 8
#error "shadow_fingers needs MIMICDYN_MAX_DOFS 8"
#endif
#if MIMICDYN_MAX_COUPLINGS < 2
#error "shadow_fingers needs MIMICDYN_MAX_COUPLINGS 2"
#endif
#if MIMICDYN_MAX_ROWS < 22
#error "shadow_fingers needs MIMICDYN_MAX_ROWS 22"
#endif
#if MIMICDYN_MAX_TERMS < 2
#error "shadow_fingers needs MIMICDYN_MAX_TERMS 2"
#endif

enum {
    SHADOW_FINGERS_FFJ4, /* revolute joint, link ffknuckle */
    SHADOW_FINGERS_FFJ3, /* revolute joint, link ffproximal */
    SHADOW_FINGERS_FFJ2, /* revolute joint, link ffmiddle */
    SHADOW_FINGERS_FFJ1, /* revolute joint, link ffdistal */
    SHADOW_FINGERS_MFJ4, /* revolute joint, link mfknuckle */
    SHADOW_FINGERS_MFJ3, /* revolute joint, link mfproximal */
    SHADOW_FINGERS_MFJ2, /* revolute joint, link mfmiddle */
    SHADOW_FINGERS_MFJ1, /* revolute joint, link mfdistal */
    SHADOW_FINGERS_BODIES
};
/* Bodies, coordinates and degrees of freedom have the same index. */

/* parent, joint, axis, pitch, position, rotation, mass, com, inertia, armature, damping, friction,
   lower, upper, effort, drive_kp, drive_kd, name, inertia_as_given */
static const mdyn_body shadow_fingers_bodies[SHADOW_FINGERS_BODIES] = {
    { /* SHADOW_FINGERS_FFJ4 */
      MDYN_WORLD, MDYN_REVOLUTE, MDYN_V3(0, -1, 0), MDYN_C(0), MDYN_V3(0.033, 0, 0.095),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.008), MDYN_V3(0, 0, 0),
      MDYN_INERTIA(2.6e-07, 2.6e-07, 3.2e-07, 0, 0, 0), MDYN_C(0.0002), MDYN_C(0.05), MDYN_C(0.01),
      MDYN_C(-0.349066), MDYN_C(0.349066), MDYN_C(1), MDYN_C(1), MDYN_C(0), "FFJ4", 0 },
    { /* SHADOW_FINGERS_FFJ3 */
      SHADOW_FINGERS_FFJ4, MDYN_REVOLUTE, MDYN_V3(1, 0, 0), MDYN_C(0), MDYN_V3(0, 0, 0),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.03), MDYN_V3(0, 0, 0.0225),
      MDYN_INERTIA(9.800000000000003e-06, 1.0000000000000004e-05, 1.8e-06, -4.440892098500659e-23,
      0, 0), MDYN_C(0.0002), MDYN_C(0.05), MDYN_C(0.01), MDYN_C(-0.261799), MDYN_C(1.5708),
      MDYN_C(1), MDYN_C(1), MDYN_C(0), "FFJ3", 0 },
    { /* SHADOW_FINGERS_FFJ2 */
      SHADOW_FINGERS_FFJ3, MDYN_REVOLUTE, MDYN_V3(1, 0, 0), MDYN_C(0), MDYN_V3(0, 0, 0.045),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.017), MDYN_V3(0, 0, 0.0125),
      MDYN_INERTIA(2.600000000000001e-06, 2.700000000000001e-06, 8.7e-07, -2.2204460492503106e-23,
      0, 0), MDYN_C(0.0002), MDYN_C(0.05), MDYN_C(0.01), MDYN_C(0), MDYN_C(1.5708), MDYN_C(0),
      MDYN_C(0), MDYN_C(0), "FFJ2", 0 },
    { /* SHADOW_FINGERS_FFJ1 */
      SHADOW_FINGERS_FFJ2, MDYN_REVOLUTE, MDYN_V3(1, 0, 0), MDYN_C(0), MDYN_V3(0, 0, 0.025),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.013), MDYN_V3(0, 0, 0.0130769),
      MDYN_INERTIA(1.1209200000000005e-06, 1.2809200000000004e-06, 5.3e-07, -3.5527136788005e-23,
      0, 0), MDYN_C(0.0002), MDYN_C(0.05), MDYN_C(0.01), MDYN_C(0), MDYN_C(1.5708), MDYN_C(0),
      MDYN_C(0), MDYN_C(0), "FFJ1", 0 },
    { /* SHADOW_FINGERS_MFJ4 */
      MDYN_WORLD, MDYN_REVOLUTE, MDYN_V3(0, -1, 0), MDYN_C(0), MDYN_V3(0.011, 0, 0.099),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.008), MDYN_V3(0, 0, 0),
      MDYN_INERTIA(2.6e-07, 2.6e-07, 3.2e-07, 0, 0, 0), MDYN_C(0.0002), MDYN_C(0.05), MDYN_C(0.01),
      MDYN_C(-0.349066), MDYN_C(0.349066), MDYN_C(1), MDYN_C(1), MDYN_C(0), "MFJ4", 0 },
    { /* SHADOW_FINGERS_MFJ3 */
      SHADOW_FINGERS_MFJ4, MDYN_REVOLUTE, MDYN_V3(1, 0, 0), MDYN_C(0), MDYN_V3(0, 0, 0),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.03), MDYN_V3(0, 0, 0.0225),
      MDYN_INERTIA(9.800000000000003e-06, 1.0000000000000004e-05, 1.8e-06, -4.440892098500659e-23,
      0, 0), MDYN_C(0.0002), MDYN_C(0.05), MDYN_C(0.01), MDYN_C(-0.261799), MDYN_C(1.5708),
      MDYN_C(1), MDYN_C(1), MDYN_C(0), "MFJ3", 0 },
    { /* SHADOW_FINGERS_MFJ2 */
      SHADOW_FINGERS_MFJ3, MDYN_REVOLUTE, MDYN_V3(1, 0, 0), MDYN_C(0), MDYN_V3(0, 0, 0.045),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.017), MDYN_V3(0, 0, 0.0125),
      MDYN_INERTIA(2.600000000000001e-06, 2.700000000000001e-06, 8.7e-07, -2.2204460492503106e-23,
      0, 0), MDYN_C(0.0002), MDYN_C(0.05), MDYN_C(0.01), MDYN_C(0), MDYN_C(1.5708), MDYN_C(0),
      MDYN_C(0), MDYN_C(0), "MFJ2", 0 },
    { /* SHADOW_FINGERS_MFJ1 */
      SHADOW_FINGERS_MFJ2, MDYN_REVOLUTE, MDYN_V3(1, 0, 0), MDYN_C(0), MDYN_V3(0, 0, 0.025),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.013), MDYN_V3(0, 0, 0.0130769),
      MDYN_INERTIA(1.1209200000000005e-06, 1.2809200000000004e-06, 5.3e-07, -3.5527136788005e-23,
      0, 0), MDYN_C(0.0002), MDYN_C(0.05), MDYN_C(0.01), MDYN_C(0), MDYN_C(1.5708), MDYN_C(0),
      MDYN_C(0), MDYN_C(0), "MFJ1", 0 },
};

static const mdyn_coupling shadow_fingers_couplings[] = {
    /* actuator of tendon `FFJ0` */
    { { MDYN_TERM(SHADOW_FINGERS_FFJ2, 1), MDYN_TERM(SHADOW_FINGERS_FFJ1, 1) }, MDYN_C(0),
    MDYN_SPRING(0.5, 0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(1), MDYN_POSITION, "A_FFJ0",
    MDYN_C(0), MDYN_C(0), 0, 0 },
    /* actuator of tendon `MFJ0` */
    { { MDYN_TERM(SHADOW_FINGERS_MFJ2, 1), MDYN_TERM(SHADOW_FINGERS_MFJ1, 1) }, MDYN_C(0),
    MDYN_SPRING(0.5, 0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(1), MDYN_POSITION, "A_MFJ0",
    MDYN_C(0), MDYN_C(0), 0, 0 },
};

/* Start position: inside the limits, on couplings and loops,
   nearest to 0. mdyn_init sets it.
   The drives go to sim.target, 0 after mdyn_init: set it too. */
static const mdyn_real shadow_fingers_start[] = {
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
static const mdyn_model shadow_fingers_model = {
    shadow_fingers_bodies, SHADOW_FINGERS_BODIES, shadow_fingers_couplings, 2,
    MDYN_V3(0, 0, -9.81), MDYN_C(0.001), MDYN_DEFAULT_SOLVER, NULL, 0, NULL, 0, NULL, NULL,
    shadow_fingers_start, NULL, 0,
};

#endif
