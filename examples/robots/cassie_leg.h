/* cassie_leg.h - model tables made by import_robot.py from cassie_leg.sdf (SDF 1.6).
   9 links, 8 bodies, 10 degrees of freedom, 4 couplings, 1 loop closures; base fixed to the
   world.
   Mass 9.63506 kg, of which 8.46406 kg moves.

   Include it before mimicdyn.h, for the knobs, and again after it, for the tables.

   Merged into the body that carries them:
   - the world: hip-yaw

   Changed or noted:
   - line 34: link `pitch-motor`: its inertia was turned into the axes of the link
   - line 67: link `knee-motor`: its inertia was turned into the axes of the link
   - line 112: joint `pitch-ip`: the limits of `pitch-op` leave [-22.3408, 13.9632] of [none,
     none]; they are kept
   - line 138: joint `knee-ip`: the limits of `knee-op` leave [-2.23408, 33.231] of [none,
     none]; they are kept
   - line 161: joint `knee-shin`: its spring is a soft coupling of one joint
   - line 179: joint `tarsus-spring`: its spring is a soft coupling of one joint
   - line 187: joint `rod-heel` closes a loop: a closure (point) */

#if !defined(MIMICDYN_H)
#ifndef MIMICDYN_MAX_BODIES
#define MIMICDYN_MAX_BODIES 8
#endif
#ifndef MIMICDYN_MAX_DOFS
#define MIMICDYN_MAX_DOFS 10
#endif
#ifndef MIMICDYN_MAX_COUPLINGS
#define MIMICDYN_MAX_COUPLINGS 4
#endif
#ifndef MIMICDYN_MAX_ROWS
#define MIMICDYN_MAX_ROWS 11
#endif
#ifndef MIMICDYN_MAX_TERMS
#define MIMICDYN_MAX_TERMS 2
#endif
#ifndef MIMICDYN_MAX_BODY_ROWS
#define MIMICDYN_MAX_BODY_ROWS 3
#endif
#ifndef MIMICDYN_MAX_ENTRIES
#define MIMICDYN_MAX_ENTRIES 183
#endif

#elif !defined(CASSIE_LEG_TABLES)
#define CASSIE_LEG_TABLES

#if MIMICDYN_MAX_BODIES < 8
#error "cassie_leg needs MIMICDYN_MAX_BODIES 8"
#endif
#if MIMICDYN_MAX_DOFS < 10
#error "cassie_leg needs MIMICDYN_MAX_DOFS 10"
#endif
#if MIMICDYN_MAX_COUPLINGS < 4
#error "cassie_leg needs MIMICDYN_MAX_COUPLINGS 4"
#endif
#if MIMICDYN_MAX_ROWS < 11
#error "cassie_leg needs MIMICDYN_MAX_ROWS 11"
#endif
#if MIMICDYN_MAX_TERMS < 2
#error "cassie_leg needs MIMICDYN_MAX_TERMS 2"
#endif
#if MIMICDYN_MAX_BODY_ROWS < 3
#error "cassie_leg needs MIMICDYN_MAX_BODY_ROWS 3"
#endif

enum {
    CASSIE_LEG_PITCH_OP, /* revolute joint, link hip-pitch */
    CASSIE_LEG_ROD_BALL, /* spherical joint, link achilles-rod */
    CASSIE_LEG_KNEE_OP, /* revolute joint, link knee */
    CASSIE_LEG_KNEE_SHIN, /* revolute joint, link shin */
    CASSIE_LEG_SHIN_TARSUS, /* revolute joint, link tarsus */
    CASSIE_LEG_TARSUS_SPRING, /* revolute joint, link heel-spring */
    CASSIE_LEG_KNEE_IP, /* revolute joint, link knee-motor */
    CASSIE_LEG_PITCH_IP, /* revolute joint, link pitch-motor */
    CASSIE_LEG_BODIES
};

/* The first coordinate (q) and the first degree of freedom (v, tau) of each joint. */
enum {
    CASSIE_LEG_Q_PITCH_OP = 0, CASSIE_LEG_DOF_PITCH_OP = 0,
    CASSIE_LEG_Q_ROD_BALL = 1, CASSIE_LEG_DOF_ROD_BALL = 1,
    CASSIE_LEG_Q_KNEE_OP = 5, CASSIE_LEG_DOF_KNEE_OP = 4,
    CASSIE_LEG_Q_KNEE_SHIN = 6, CASSIE_LEG_DOF_KNEE_SHIN = 5,
    CASSIE_LEG_Q_SHIN_TARSUS = 7, CASSIE_LEG_DOF_SHIN_TARSUS = 6,
    CASSIE_LEG_Q_TARSUS_SPRING = 8, CASSIE_LEG_DOF_TARSUS_SPRING = 7,
    CASSIE_LEG_Q_KNEE_IP = 9, CASSIE_LEG_DOF_KNEE_IP = 8,
    CASSIE_LEG_Q_PITCH_IP = 10, CASSIE_LEG_DOF_PITCH_IP = 9,
    CASSIE_LEG_COORDINATES = 11,
    CASSIE_LEG_DOFS = 10
};

/* parent, joint, axis, pitch, position, rotation, mass, com, inertia, armature, damping, friction,
   lower, upper, effort, drive_kp, drive_kd, name, inertia_as_given */
static const mdyn_body cassie_leg_bodies[CASSIE_LEG_BODIES] = {
    { /* CASSIE_LEG_PITCH_OP */
      MDYN_WORLD, MDYN_REVOLUTE,
      MDYN_V3(-3.673203938681091e-06, -0.0007963267107332639, 0.9999996829250885), MDYN_C(0),
      MDYN_V3(-0.049, 0.135, 0.92), MDYN_QUATERNION(0.5001981233922611, 0.49980179660774,
      0.5001999607259351, -0.49979996073660177), MDYN_C(5.52), MDYN_V3(0.05946, 5e-05, -0.03581),
      MDYN_INERTIA(0.010898, 0.029714, 0.030257, -0.0002669, -5.721e-05, 9.17e-06), MDYN_C(0),
      MDYN_C(1.5), MDYN_C(0), MDYN_C(-0.8727), MDYN_C(1.3963), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      "pitch-op", 0 },
    { /* CASSIE_LEG_ROD_BALL */
      CASSIE_LEG_PITCH_OP, MDYN_SPHERICAL, MDYN_V3(0, 0, 0), MDYN_C(0),
      MDYN_V3(-1.6529417723454287e-07, -3.5834701982997985e-05, 0.044999985731629),
      MDYN_QUATERNION(-0.946520482247296, 0.014157902745688344, -0.043108502093773204,
      0.3194372982659055), MDYN_C(0.1567), MDYN_V3(0.24719, 0, 0),
      MDYN_INERTIA(3.754e-06, 0.004487, 0.004488, -3.74e-08, -1.61e-08, 0), MDYN_C(0), MDYN_C(0),
      MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), "rod-ball", 0 },
    { /* CASSIE_LEG_KNEE_OP */
      CASSIE_LEG_PITCH_OP, MDYN_REVOLUTE,
      MDYN_V3(5.194686933995829e-06, -8.867911118315419e-06, 0.9999999999471877), MDYN_C(0),
      MDYN_V3(0.1199999834697727, -3.5834701983053496e-06, 0.004500439357775304),
      MDYN_QUATERNION(-0.9238798129861354, -0.00036346757939553775, -0.00014997055797336123,
      0.3826825532433556), MDYN_C(0.7578), MDYN_V3(0.023, 0.03207, -0.002181),
      MDYN_INERTIA(0.001376, 0.0010335, 0.0021637, -0.00039744, -4.085e-05, -5.374e-05), MDYN_C(0),
      MDYN_C(1.5), MDYN_C(0), MDYN_C(-2.07694), MDYN_C(0.13963), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      "knee-op", 0 },
    { /* CASSIE_LEG_KNEE_SHIN */
      CASSIE_LEG_KNEE_OP, MDYN_REVOLUTE,
      MDYN_V3(5.194686933995829e-06, -8.867911118315419e-06, 0.9999999999471877), MDYN_C(0),
      MDYN_V3(0.06067904128588347, 0.047409276915124754, 1.052126309408763e-07),
      MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0.577), MDYN_V3(0.18338, 0.001169, 0.0002123),
      MDYN_INERTIA(0.00035939, 0.014728, 0.014707, -0.00020981, 2.266e-05, -1.2e-07), MDYN_C(0),
      MDYN_C(1.5), MDYN_C(0), MDYN_C(-0.34907), MDYN_C(0.34907), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      "knee-shin", 0 },
    { /* CASSIE_LEG_SHIN_TARSUS */
      CASSIE_LEG_KNEE_SHIN, MDYN_REVOLUTE,
      MDYN_V3(-5.551115123125783e-17, 3.673205103638111e-06, 0.9999999999932538), MDYN_C(0),
      MDYN_V3(0.4347625198292626, 0.020005373687566497, -2.0810493055190005e-06),
      MDYN_QUATERNION(-0.8746192980724179, -6.7435701501250556e-06, -1.0124630781538357e-06,
      -0.48481035817400764), MDYN_C(0.782), MDYN_V3(0.11046, -0.03058, -0.00131),
      MDYN_INERTIA(0.00039238, 0.013595, 0.013674, 0.00023651, -4.987e-05, -4.82e-06), MDYN_C(0),
      MDYN_C(0.5), MDYN_C(0), MDYN_C(-0.13963), MDYN_C(1.95477), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      "shin-tarsus", 0 },
    { /* CASSIE_LEG_TARSUS_SPRING */
      CASSIE_LEG_SHIN_TARSUS, MDYN_REVOLUTE,
      MDYN_V3(0.036940194105231194, -0.06879006095173001, 0.9969470144264063), MDYN_C(0),
      MDYN_V3(-0.012696300883470957, -0.030587896905956147, 0.0009201123556252244),
      MDYN_QUATERNION(0.209337254485259, 0.01086247909416696, -0.03752807338962161,
      0.9770627227257038), MDYN_C(0.126), MDYN_V3(0.081, 0.0022, 0),
      MDYN_INERTIA(2.959e-05, 0.00022231, 0.0002007, 7.15e-06, -6e-07, 1e-07), MDYN_C(0),
      MDYN_C(1.4), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      "tarsus-spring", 0 },
    { /* CASSIE_LEG_KNEE_IP */
      CASSIE_LEG_PITCH_OP, MDYN_REVOLUTE,
      MDYN_V3(5.194686933995829e-06, -8.867911118315419e-06, 0.9999999999471877), MDYN_C(0),
      MDYN_V3(0.1199999834697727, -3.5834701983053496e-06, 0.004500439357775304),
      MDYN_QUATERNION(-0.9238798129861354, -0.00036346757939553775, -0.00014997055797336123,
      0.3826825532433556), MDYN_C(0.27228), MDYN_V3(-0.000001, -0.000011, 0.024425),
      MDYN_INERTIA(0.0002311496006046948, 0.00020476148963906562, 0.00022884460975623977,
      9.458589704344308e-07, -6.836279711602424e-07, -4.1425475946378243e-08), MDYN_C(0),
      MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), "knee-ip", 0 },
    { /* CASSIE_LEG_PITCH_IP */
      MDYN_WORLD, MDYN_REVOLUTE,
      MDYN_V3(-3.673203938681091e-06, -0.0007963267107332639, 0.9999996829250885), MDYN_C(0),
      MDYN_V3(-0.049, 0.135, 0.92), MDYN_QUATERNION(0.5001981233922611, 0.49980179660774,
      0.5001999607259351, -0.49979996073660177), MDYN_C(0.27228), MDYN_V3(-0.000001, -0.000011, 0),
      MDYN_INERTIA(0.0002311496006046948, 0.00020476148963906562, 0.00022884460975623977,
      9.458589704344308e-07, -6.836279711602424e-07, -4.1425475946378243e-08), MDYN_C(0),
      MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), "pitch-ip", 0 },
};

static const mdyn_coupling cassie_leg_couplings[] = {
    /* gearbox `pitch-gear` */
    MDYN_GEAR(CASSIE_LEG_PITCH_OP, 1, CASSIE_LEG_PITCH_IP, 0.0625, 0),
    /* gearbox `knee-gear` */
    MDYN_GEAR(CASSIE_LEG_KNEE_OP, 1, CASSIE_LEG_KNEE_IP, 0.0625, 0),
    /* spring of joint `knee-shin` */
    { { MDYN_TERM(CASSIE_LEG_KNEE_SHIN, 1) }, MDYN_C(0), MDYN_SPRING(2300, 0), MDYN_C(0),
    MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_POSITION, "spring of knee-shin", MDYN_C(0), MDYN_C(0), 0,
    0 },
    /* spring of joint `tarsus-spring` */
    { { MDYN_TERM(CASSIE_LEG_TARSUS_SPRING, 1) }, MDYN_C(0), MDYN_SPRING(2000, 0), MDYN_C(0),
    MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_POSITION, "spring of tarsus-spring", MDYN_C(0),
    MDYN_C(0), 0, 0 },
};

/* kind, a, b, point_a, point_b, axis_a, axis_b, rotation, distance, softness, effort, name */
static const mdyn_closure cassie_leg_closures[] = {
    { MDYN_CLOSE_POINT, CASSIE_LEG_ROD_BALL, CASSIE_LEG_TARSUS_SPRING, MDYN_V3(0.5012, 0, 0),
    MDYN_V3(0.11942974984200422, -0.008667287983865735, -0.001559944489331176), MDYN_V3(0, 0, 0),
    MDYN_V3(0, 0, 0), MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0),
    { MDYN_DEFAULT, MDYN_C(0), MDYN_C(0) }, MDYN_C(0), "rod-heel" },
};

/* Start position: inside the limits, on couplings and loops,
   nearest to 0. mdyn_init sets it. */
static const mdyn_real cassie_leg_start[] = {
    MDYN_R(0),
    MDYN_R(1), MDYN_R(0), MDYN_R(0), MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
};

/* bodies, couplings, gravity, dt, solver, closures, user rows, row_function, user_data, start,
   curves */
static const mdyn_model cassie_leg_model = {
    cassie_leg_bodies, CASSIE_LEG_BODIES, cassie_leg_couplings, 4, MDYN_V3(0, 0, -9.81),
    MDYN_C(0.001), MDYN_DEFAULT_SOLVER, cassie_leg_closures, 1, NULL, 0, NULL, NULL,
    cassie_leg_start, NULL, 0,
};

#endif
