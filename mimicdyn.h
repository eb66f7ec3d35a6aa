/* mimicdyn.h - dynamics of articulated mechanisms with coupled joints, in one header. v0.1
   SPDX-License-Identifier: MIT OR Unlicense          (both texts at the end of this file)

   Trees of rigid bodies whose joints are tied together (mimic joints, gears of any number of
   shafts), with limits, friction and drives, solved every control tick in bounded time.
   No malloc, no libc, no globals, no recursion. C99, also C++11 and later. float or double.

   DO THIS in exactly one file:                 and just this everywhere else:
      #define MIMICDYN_IMPLEMENTATION              #include "mimicdyn.h"
      #include "mimicdyn.h"

   A GRIPPER    enum { LEFT_JAW, RIGHT_JAW };
                static const mdyn_body bodies[] = {
                    { .parent = MDYN_WORLD, .joint = MDYN_PRISMATIC, .axis = MDYN_V3(0, 1, 0),
                      .mass = MDYN_C(0.015) },
                    { .parent = MDYN_WORLD, .joint = MDYN_PRISMATIC, .axis = MDYN_V3(0, -1, 0),
                      .mass = MDYN_C(0.015) },
                };
                static const mdyn_coupling couplings[] = {
                    MDYN_MIMIC(RIGHT_JAW, LEFT_JAW, 1.0, 0.0),  // q_right = 1.0 q_left + 0.0
                };
                static const mdyn_model gripper = {
                    .bodies = bodies, .body_count = 2, .couplings = couplings,
                    .coupling_count = 1, .gravity = MDYN_V3(0, 0, -9.81), .dt = MDYN_C(0.001),
                };
                static mdyn_sim sim;                            // fixed size, no heap

                if (mdyn_init(&sim, &gripper) < 0) stop(mdyn_text(sim.culprit.code));
                for (;;) { sim.tau[LEFT_JAW] = MDYN_R(2.0); mdyn_step(&sim); }

   IT DOES NOT  find contacts, read URDF, allocate, start threads, keep time, or hold globals:
                two sims in two threads are two sims.

   CONTENTS     search for these:
      Interface >>config >>types >>calls
      Inside    >>number >>math >>vector >>check >>kinematics >>dynamics >>rows >>equality >>pgs
                >>step >>public
      End       >>licence

   UNITS        SI and radians. Gravity is an acceleration: (0, 0, -9.81) pulls down.

   FRAMES       A body's frame is its joint's frame after the motion: `position` and `rotation`
                place the joint in the parent's frame, then the joint moves. A point of a body
                and its mass properties are given in the body's axes; `inertia` is taken about
                the centre of mass and holds the matrix elements themselves.

   SPEEDS       Revolute, prismatic, helical: one coordinate, one speed. Spherical: quaternion
                (w, x, y, z), angular velocity in the body's axes. Free: position, quaternion;
                (angular velocity, velocity of the origin), both in the body's axes.
                Multi-turn joints never wrap. Coordinates, speeds and commands must be within
                +-8388608 (2^23) in every build, and a step may take them to +-8388600, which
                leaves room for rounding; beyond is an error, never a wrong motion.

   ONE STEP     v' = v + dt M^-1 (tau - C) + M^-1 J^T lambda,  q' = q (+) dt v'
                with every row k:  low_k <= J_k v' + cfm_k lambda_k <= high_k,
                                   lambda_k > 0 only at low_k, < 0 only at high_k,
                                   -dt effort_k <= lambda_k <= dt effort_k.
                A coupling has low = high = speed - erp C/dt. A limit has low = (lower - q)/dt,
                high = (upper - q)/dt: it is reached, not passed. Of a way that q is outside
                already, a step takes back the part 0.2. A coupling's range is a limit of C,
                with erp for 0.2. Dry friction has low = high = 0, a drive is a spring. All
                rows without a bound on their impulse are solved exactly together; the bounded
                ones by sweeps, in the space that the exact ones leave free. Hard rows that
                contradict each other meet where the sum of their squared misses is least, each
                in its own unit of C': twice the coefficients and offset, four times the weight.

   NUMBERS      mdyn_real   state and commands:  MDYN_R(2.0)   q, v, tau, targets
                mdyn_wide   any magnitude:       MDYN_C(1e-7)  model tables, M, forces, impulses

   ERRORS       Functions return MDYN_OK (0), a warning (> 0, the call was carried out) or an
                error (< 0, nothing was changed). sim.culprit says which body, coupling or speed,
                mdyn_text() says it in words, mdyn_remedy() what to do.                        */

#ifndef MIMICDYN_H
#define MIMICDYN_H

#include <stddef.h>
#include <stdint.h>

/* ============================================================================ // >>config
   Every knob is a plain number with a default. All of them change the layout of mdyn_sim, so all
   files of a program must agree: a mismatch is a link error that spells both configurations. */

/* MIMICDYN_SCALAR - the arithmetic. F32: float with compensated state; F64: double. */
#ifndef MIMICDYN_SCALAR
#define MIMICDYN_SCALAR F32
#endif

/* MIMICDYN_MAX_BODIES - most bodies of a model. 1 to 4096; the world is not counted. */
#ifndef MIMICDYN_MAX_BODIES
#define MIMICDYN_MAX_BODIES 16
#endif

/* MIMICDYN_MAX_DOFS - most speeds of a model: 1 for revolute, prismatic and helical, 3 for
   spherical, 6 for free joints. 1 to 8192. */
#ifdef MIMICDYN_MAX_DOFS
#define MDYN_SPELL_DOFS_ MIMICDYN_MAX_DOFS
#else
#define MDYN_SPELL_DOFS_ default
#define MIMICDYN_MAX_DOFS MIMICDYN_MAX_BODIES
#endif

/* MIMICDYN_MAX_COUPLINGS - most couplings of a model. 1 to 4096. */
#ifdef MIMICDYN_MAX_COUPLINGS
#define MDYN_SPELL_COUPLINGS_ MIMICDYN_MAX_COUPLINGS
#else
#define MDYN_SPELL_COUPLINGS_ default
#define MIMICDYN_MAX_COUPLINGS MIMICDYN_MAX_BODIES
#endif

/* MIMICDYN_MAX_ROWS - most rows of a model: one for each coupling, and one for each speed with
   a drive, with dry friction, with a limit. 1 to 8192. */
#ifdef MIMICDYN_MAX_ROWS
#define MDYN_SPELL_ROWS_ MIMICDYN_MAX_ROWS
#else
#define MDYN_SPELL_ROWS_ default
#define MIMICDYN_MAX_ROWS (MIMICDYN_MAX_COUPLINGS + MIMICDYN_MAX_DOFS)
#endif

/* MIMICDYN_MAX_TERMS - most joints in one coupling. 2 to 64. */
#ifndef MIMICDYN_MAX_TERMS
#define MIMICDYN_MAX_TERMS 4
#endif

/* MIMICDYN_MAX_ENTRIES - room for the numbers of the mass matrix and of all rows. Each speed, and
   each row, takes one for each speed between its joints and the world; a row also those of the
   couplings that it shares joints with. mdyn_init refuses a model that does not fit;
   sim.report.entries says what it took.
   1 to 32767. */
#ifdef MIMICDYN_MAX_ENTRIES
#define MDYN_SPELL_ENTRIES_ MIMICDYN_MAX_ENTRIES
#else
#define MDYN_SPELL_ENTRIES_ default
#define MIMICDYN_MAX_ENTRIES (8 * (MIMICDYN_MAX_DOFS + MIMICDYN_MAX_ROWS))
#endif

/* MIMICDYN_STATIC - 1 makes every function static: for a program of one file. 0 or 1. */
#ifndef MIMICDYN_STATIC
#define MIMICDYN_STATIC 0
#endif

#define MDYN_PASTE_(a, b) a##b
#define MDYN_PASTE(a, b) MDYN_PASTE_(a, b)
#define MDYN_SPELL_(a) #a
#define MDYN_SPELL(a) MDYN_SPELL_(a)

#define MDYN_SCALAR_F32 1
#define MDYN_SCALAR_F64 2
#define MDYN_SCALAR MDYN_PASTE(MDYN_SCALAR_, MIMICDYN_SCALAR)

#if MDYN_SCALAR != MDYN_SCALAR_F32 && MDYN_SCALAR != MDYN_SCALAR_F64
#error "MIMICDYN_SCALAR must be F32 or F64"
#endif
#if MIMICDYN_MAX_BODIES < 1 || MIMICDYN_MAX_BODIES > 4096
#error "MIMICDYN_MAX_BODIES must be 1 to 4096"
#endif
#if MIMICDYN_MAX_DOFS < 1 || MIMICDYN_MAX_DOFS > 8192
#error "MIMICDYN_MAX_DOFS must be 1 to 8192"
#endif
#if MIMICDYN_MAX_COUPLINGS < 1 || MIMICDYN_MAX_COUPLINGS > 4096
#error "MIMICDYN_MAX_COUPLINGS must be 1 to 4096"
#endif
#if MIMICDYN_MAX_ROWS < 1 || MIMICDYN_MAX_ROWS > 8192
#error "MIMICDYN_MAX_ROWS must be 1 to 8192"
#endif
#if MIMICDYN_MAX_TERMS < 2 || MIMICDYN_MAX_TERMS > 64
#error "MIMICDYN_MAX_TERMS must be 2 to 64"
#endif
#if MIMICDYN_MAX_ENTRIES < 1 || MIMICDYN_MAX_ENTRIES > 32767
#error "MIMICDYN_MAX_ENTRIES must be 1 to 32767 (entry numbers are int16_t)"
#endif
#if MIMICDYN_STATIC != 0 && MIMICDYN_STATIC != 1
#error "MIMICDYN_STATIC must be 0 or 1"
#endif
#if defined(__FAST_MATH__)
#error "mimicdyn.h needs IEEE arithmetic: compile without -ffast-math"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ == 2
#error "x87 arithmetic keeps excess digits: add -msse2 -mfpmath=sse"
#endif

#define MDYN_COORDINATES (MIMICDYN_MAX_DOFS + MIMICDYN_MAX_DOFS / 3)

/* ============================================================================= // >>types */

#if MDYN_SCALAR == MDYN_SCALAR_F64
typedef double mdyn_real;
typedef double mdyn_wide;
#else
typedef float mdyn_real;
typedef float mdyn_wide;
#endif
#define MDYN_R(x) ((mdyn_real)(x)) /* a state, a command: |x| < 2^23 */
#define MDYN_C(x) ((mdyn_wide)(x)) /* a model constant: any magnitude */

/* Larger than any bound that is meant: a limit, a range of this size or more is no bound. */
#define MDYN_UNLIMITED MDYN_C(1e12)

typedef struct mdyn_real3 { mdyn_real x, y, z; } mdyn_real3;
typedef struct mdyn_real4 { mdyn_real w, x, y, z; } mdyn_real4;
typedef struct mdyn_wide3 { mdyn_wide x, y, z; } mdyn_wide3;
typedef struct mdyn_wide4 { mdyn_wide w, x, y, z; } mdyn_wide4;
typedef struct mdyn_inertia { mdyn_wide xx, yy, zz, xy, xz, yz; } mdyn_inertia;

#define MDYN_V3(x, y, z) { MDYN_C(x), MDYN_C(y), MDYN_C(z) }
#define MDYN_QUATERNION(w, x, y, z) { MDYN_C(w), MDYN_C(x), MDYN_C(y), MDYN_C(z) }
#define MDYN_INERTIA(xx, yy, zz, xy, xz, yz) \
    { MDYN_C(xx), MDYN_C(yy), MDYN_C(zz), MDYN_C(xy), MDYN_C(xz), MDYN_C(yz) }

enum { MDYN_WORLD = -1 };

typedef enum mdyn_joint {
    MDYN_FIXED,     /* no speed */
    MDYN_REVOLUTE,  /* q = angle about `axis` [rad] */
    MDYN_PRISMATIC, /* q = shift along `axis` [m] */
    MDYN_HELICAL,   /* q = angle about `axis` [rad], shift = pitch q */
    MDYN_SPHERICAL, /* q = quaternion (w,x,y,z); v = angular velocity, body axes */
    MDYN_FREE       /* q = position, quaternion; v = (angular, linear of the origin), body axes */
} mdyn_joint;

/* A body and the joint that carries it. Zero everywhere but `parent` is valid: a massless frame
   welded to its parent. Units per speed: rad and N m, or m and N. The frames and the masses are
   taken over by mdyn_init; the rest is read in every step, from the table. */
typedef struct mdyn_body {
    int16_t parent;        /* index of an earlier body, or MDYN_WORLD */
    mdyn_joint joint;
    mdyn_wide3 axis;       /* of the joint, in its own frame; any length; zero means z */
    mdyn_wide pitch;       /* helical: shift per angle [m/rad] */
    mdyn_wide3 position;   /* of the joint in the parent's frame [m] */
    mdyn_wide4 rotation;   /* of the joint in the parent's frame; any length; zero means none */
    mdyn_wide mass;        /* [kg], >= 0 */
    mdyn_wide3 com;        /* centre of mass, body axes [m] */
    mdyn_inertia inertia;  /* about the centre of mass, body axes [kg m^2] */
    mdyn_wide armature;    /* rotor inertia seen at the joint, N^2 J_rotor: added to the diagonal
                              of M for each speed [kg m^2 or kg]; not for free joints */
    mdyn_wide damping;     /* for each speed, implicit in time [N m s or N s/m], >= 0 */
    mdyn_wide friction;    /* dry friction for each speed [N m or N], >= 0 */
    mdyn_wide lower, upper;/* limits of the coordinate; both 0: none; joints of one speed only */
    mdyn_wide effort;      /* most that the actuator gives, tau and drive together; 0: no bound */
    mdyn_wide drive_kp;    /* drive towards sim.target [N m/rad or N/m], implicit in time */
    mdyn_wide drive_kd;    /* drive towards sim.target_speed [N m s/rad or N s/m], implicit */
    const char *name;      /* for mdyn_explain; may be NULL */
} mdyn_body;

/* How firmly a row holds. All of them are converted each step to
   erp (part of the error taken back in a step) and cfm (speed that a unit impulse leaves).
      MDYN_HARD(erp)              cfm = 0
      MDYN_SOFT(erp, cfm)         cfm acts on the impulse [1/kg or 1/(kg m^2)] (ODE: cfm = CFM/dt)
      MDYN_SPRING(kp, kd)         erp = dt kp/(dt kp + kd), cfm = 1/(dt (dt kp + kd))
      MDYN_FREQUENCY(omega, zeta) kp = omega^2/r, kd = 2 omega zeta/r, r = J M^-1 J^T of the row
                                  alone, M with armature and dt damping, as the step has it;
                                  omega in rad/s; hard if omega is 0
   Source: PhysX mimic joints, equations (18), (20)-(29). All zero: MDYN_HARD(0.2). */
typedef enum mdyn_softness_kind {
    MDYN_DEFAULT, MDYN_ERP_CFM, MDYN_KP_KD, MDYN_OMEGA_ZETA
} mdyn_softness_kind;
typedef struct mdyn_softness {
    mdyn_softness_kind kind;
    mdyn_wide a, b;
} mdyn_softness;

#define MDYN_HARD(erp) { MDYN_ERP_CFM, MDYN_C(erp), MDYN_C(0) }
#define MDYN_SOFT(erp, cfm) { MDYN_ERP_CFM, MDYN_C(erp), MDYN_C(cfm) }
#define MDYN_SPRING(kp, kd) { MDYN_KP_KD, MDYN_C(kp), MDYN_C(kd) }
#define MDYN_FREQUENCY(omega, zeta) { MDYN_OMEGA_ZETA, MDYN_C(omega), MDYN_C(zeta) }

typedef struct mdyn_term {
    int16_t body;           /* whose joint */
    int16_t axis;           /* which of its speeds: 0, but for spherical and free joints */
    mdyn_wide coefficient;  /* 0: the term is not there */
} mdyn_term;

typedef enum mdyn_level {
    MDYN_POSITION, /* C = sum of coefficient q + offset: joints of one speed only */
    MDYN_VELOCITY  /* C' = sum of coefficient v only, of any speeds; nothing is taken back */
} mdyn_level;

/* A coupling of joints of any trees: lower <= C <= upper with C = sum coefficient_i q_i + offset.
   Both bounds 0, as in every macro below: C = 0. Tooth counts make exact coefficients:
   MDYN_GEAR(A, teeth_a, B, teeth_b, 0) does not drift, however many turns.
   Source of the N-way row: PhysX mimic joints, equation (17). */
typedef struct mdyn_coupling {
    mdyn_term terms[MIMICDYN_MAX_TERMS];
    mdyn_wide offset;
    mdyn_softness softness;
    mdyn_wide lower, upper; /* range of C; +-MDYN_UNLIMITED: no bound on that side; both 0 at
                               MDYN_VELOCITY, where C has no value */
    mdyn_wide speed;        /* wanted C', beside taking C back */
    mdyn_wide effort;       /* most force along the row; 0: no bound */
    mdyn_level level;
    const char *name;       /* for mdyn_explain; may be NULL */
} mdyn_coupling;

#define MDYN_TERM(body, coefficient) { (int16_t)(body), 0, MDYN_C(coefficient) }
#define MDYN_COUPLING_END_ \
    { MDYN_DEFAULT, MDYN_C(0), MDYN_C(0) }, MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), \
    MDYN_POSITION, NULL
/* URDF, SDF, Drake, Pinocchio:  q_follower = multiplier q_leader + offset */
#define MDYN_MIMIC(follower, leader, multiplier, offset) \
    { { MDYN_TERM(follower, 1), MDYN_TERM(leader, -(multiplier)) }, MDYN_C(-(offset)), \
      MDYN_COUPLING_END_ }
/* PhysX, Bullet:  q_a + ratio q_b + offset = 0 */
#define MDYN_PHYSX_MIMIC(a, b, ratio, offset) \
    { { MDYN_TERM(a, 1), MDYN_TERM(b, ratio) }, MDYN_C(offset), MDYN_COUPLING_END_ }
/* Two meshing wheels:  teeth_a q_a + teeth_b q_b + offset = 0; negative teeth: an inner wheel */
#define MDYN_GEAR(a, teeth_a, b, teeth_b, offset) \
    { { MDYN_TERM(a, teeth_a), MDYN_TERM(b, teeth_b) }, MDYN_C(offset), MDYN_COUPLING_END_ }
/* Three joints:  ca q_a + cb q_b + cc q_c + offset = 0 (planetary gear, differential) */
#define MDYN_GEAR3(a, ca, b, cb, c, cc, offset) \
    { { MDYN_TERM(a, ca), MDYN_TERM(b, cb), MDYN_TERM(c, cc) }, MDYN_C(offset), \
      MDYN_COUPLING_END_ }

typedef enum mdyn_equality {
    MDYN_EXACT,   /* rows without a bound on their impulse: all together, exactly */
    MDYN_ITERATED /* they too by sweeps, with all others, in the declared order */
} mdyn_equality;

typedef enum mdyn_start {
    MDYN_WARM, /* sweeps begin at the impulses of the last step; where its last sweep still pushed
                  harder, at the impulse less that times its sweeps: rows that cannot all hold
                  do not push ever harder (and one sweep in a step starts cold) */
    MDYN_COLD  /* sweeps begin at zero */
} mdyn_start;

/* How the rows are solved. All zero is the default. */
typedef struct mdyn_solver {
    mdyn_equality equality;
    mdyn_start start;
    uint16_t sweeps;      /* most sweeps in a step, and as many again for the rows that turn out
                             to be needed only by the motion that the others leave; 0: 100 */
    mdyn_wide relaxation; /* over- or under-relaxation, 0 < omega < 2; 0: 1 */
    mdyn_wide tolerance;  /* sweeps end when no impulse moves by more than this part of the
                             largest impulse, or of the largest change of speed (compared in
                             units of the root of energy); 0: a few rounding errors */
} mdyn_solver;

typedef struct mdyn_model {
    const mdyn_body *bodies;
    int body_count;
    const mdyn_coupling *couplings;
    int coupling_count;
    mdyn_wide3 gravity; /* [m/s^2], world axes */
    mdyn_wide dt;       /* step [s], 1e-9 to 1 */
    mdyn_solver solver;
} mdyn_model;

/* Every code: name, value, sentence, what to do. Negative: an error, nothing was changed.
   Positive: a warning, the call was carried out. */
#define MDYN_CODES(X) \
    X(OK, 0, "all is well", "go on") \
    X(WARN_REDUNDANT, 1, "a coupling repeats what earlier ones already enforce", \
      "fine if it is meant; otherwise remove it") \
    X(WARN_CONTRADICTION, 2, "a coupling contradicts earlier ones: both cannot hold", \
      "correct its ratio or offset, make one of them soft, or remove it") \
    X(WARN_EMPTY_RANGE, 3, "the limits and ranges of this joint and of those coupled leave no " \
      "position", "widen a limit or range, or correct the ratio or offset of the coupling") \
    X(ERR_NULL, -1, "a pointer is NULL", "pass the address") \
    X(ERR_NOT_READY, -2, "the sim was not set up, or was overwritten", \
      "call mdyn_init first, and look for what writes into the sim") \
    X(ERR_CAPACITY_BODIES, -3, "the model has no bodies, or more than the sim holds", \
      "raise MIMICDYN_MAX_BODIES") \
    X(ERR_CAPACITY_DOFS, -4, "the joints have more speeds than the sim holds", \
      "raise MIMICDYN_MAX_DOFS") \
    X(ERR_CAPACITY_COUPLINGS, -5, "there are more couplings than the sim holds", \
      "raise MIMICDYN_MAX_COUPLINGS") \
    X(ERR_CAPACITY_ROWS, -6, "there are more rows than the sim holds", \
      "raise MIMICDYN_MAX_ROWS") \
    X(ERR_CAPACITY_ENTRIES, -7, "the rows hold more numbers than the sim has room for", \
      "raise MIMICDYN_MAX_ENTRIES") \
    X(ERR_NOT_FINITE, -8, "a number of the model is NaN or infinite, or beyond any use", \
      "look at the field of the named body or coupling") \
    X(ERR_PARENT, -9, "a body's parent is not an earlier body or MDYN_WORLD", \
      "list parents before their children") \
    X(ERR_JOINT, -10, "the joint type is unknown", "use one of mdyn_joint") \
    X(ERR_ROTATION, -11, "the rotation is no quaternion", "give w, x, y, z, or four zeros") \
    X(ERR_MASS, -12, "a mass is negative", "give the mass in kg") \
    X(ERR_INERTIA, -13, "no real body has this inertia: it is not positive", \
      "give it about the centre of mass, as matrix elements, in kg m^2") \
    X(ERR_MASSLESS, -14, "nothing gives this joint inertia", \
      "give the body or a child mass or inertia, or the joint an armature") \
    X(ERR_NEGATIVE, -15, "armature, damping, friction, effort or a gain is negative, " \
      "or a free joint has armature", "give it as a positive number; free joints have none") \
    X(ERR_LIMITS, -16, "lower is above upper, or the joint has more than one coordinate", \
      "swap them; leave both 0 for no limit") \
    X(ERR_DRIVE, -17, "a drive needs a joint of one coordinate", \
      "leave drive_kp and drive_kd 0 and command sim.tau") \
    X(ERR_TERM, -18, "a term names a body or a speed that is not there, or the same speed twice", \
      "name the body's index, and axis 0 unless the joint has several speeds") \
    X(ERR_NO_TERMS, -19, "all coefficients of a coupling are 0", "give at least one") \
    X(ERR_LEVEL, -20, "a coupling of positions has a joint of several coordinates, one of speeds " \
      "has a range, or the level is unknown", \
      "joints of several coordinates: MDYN_VELOCITY; ranges: MDYN_POSITION") \
    X(ERR_SOFTNESS, -21, "the softness is out of range", \
      "0 <= erp <= 1, and cfm, kp, kd, omega, zeta >= 0") \
    X(ERR_DT, -22, "the step is not a number from 1e-9 s to 1 s", "give dt in seconds") \
    X(ERR_SOLVER, -23, "a solver setting is out of range", "0 < relaxation < 2, tolerance >= 0") \
    X(ERR_STATE, -24, "a coordinate, speed, command, target or wrench is NaN, infinite or 2^23 " \
      "and beyond, or a quaternion is zero", "correct the input; the state was left as it was") \
    X(ERR_OVERFLOW, -25, "the motion would leave the range of the numbers", \
      "a smaller step, a smaller command; the state was left as it was") \
    X(ERR_SINGULAR, -26, "the mass matrix has lost its rank to rounding", \
      "give light joints an armature") \
    X(ERR_INDEX, -27, "an index is out of range", "count from 0") \
    X(ERR_ROOM, -28, "the text does not fit", "pass a larger buffer")

typedef enum mdyn_code {
#define MDYN_CODE_(name, value, sentence, remedy) MDYN_##name = value,
    MDYN_CODES(MDYN_CODE_)
#undef MDYN_CODE_
    MDYN_CODES_END_ = 127
} mdyn_code;

/* What a code speaks of. */
typedef struct mdyn_culprit {
    int16_t code;  /* mdyn_code of the last call that had something to say */
    int16_t index; /* body, coupling, speed or coordinate, by the sentence; -1: none */
} mdyn_culprit;

/* The kinds of row, in the order in which they are solved. */
typedef enum mdyn_row_kind {
    MDYN_ROW_COUPLING, /* index: coupling */
    MDYN_ROW_DRIVE,    /* index: speed (mdyn_dof of the body) */
    MDYN_ROW_FRICTION, /* index: speed */
    MDYN_ROW_LIMIT     /* index: speed */
} mdyn_row_kind;

enum {
    MDYN_ROW_SATURATED = 1,    /* the impulse is at its bound */
    MDYN_ROW_REDUNDANT = 2,    /* earlier rows already decide this one: it carries no impulse */
    MDYN_ROW_CONTRADICTORY = 4 /* ... and decide otherwise: see `residual` */
};

/* What a row did in the last step. Units by the row's own C: [C]/s for speeds. */
typedef struct mdyn_row_report {
    mdyn_wide impulse;  /* signed; a joint gets coefficient * impulse [N m s or N s] */
    mdyn_wide force;    /* impulse / dt; in a range > 0 at its lower end, < 0 at its upper */
    mdyn_wide power;    /* force times the row's speed after the step: given to the joints [W] */
    mdyn_wide error;    /* C at the start of the step; for a range, how far outside it */
    mdyn_wide speed;    /* C' after the step */
    mdyn_wide residual; /* by how much C' + cfm impulse misses what was asked */
    uint8_t flags;      /* MDYN_ROW_... */
} mdyn_row_report;

/* What the last step did. */
typedef struct mdyn_report {
    int16_t sweeps;         /* sweeps over the bounded rows; 32767: so many or more */
    int16_t redundant;      /* rows that earlier rows decide */
    int16_t contradictory;  /* ... and decide otherwise */
    int16_t entries;        /* numbers in the rows, of MIMICDYN_MAX_ENTRIES */
    mdyn_wide residual;     /* largest change of an impulse in the last sweep, relative as in
                               mdyn_solver.tolerance */
} mdyn_report;

/* ---- private: what a sim is made of. Size and contents may change. ---- */

#ifdef MDYN_CHECKED_NUMBERS_ /* the tests put classes here that refuse raw arithmetic */
typedef mdyn_checked_num_ md_num;
typedef mdyn_checked_unit_ md_unit;
#else
typedef mdyn_real md_num;  /* a scalar of any magnitude */
typedef mdyn_real md_unit; /* an element of a unit vector, or of the block that goes with them */
#endif
typedef mdyn_real md_tail; /* what rounding cut off a coordinate or a speed */
typedef int16_t md_scale;  /* common exponent of a block of md_unit */

typedef struct md_vec { md_num x, y, z; } md_vec;
typedef struct md_mat { md_num xx, xy, xz, yx, yy, yz, zx, zy, zz; } md_mat;
typedef struct md_sym { md_num xx, yy, zz, xy, xz, yz; } md_sym;
typedef struct md_motion { md_vec ang, lin; } md_motion; /* angular, then of the origin */
typedef struct md_force { md_vec ang, lin; } md_force;   /* moment about the origin, force */

typedef struct md_inertia { /* (moment, force) = [A B; B^T M] (angular, linear), at the origin */
    md_sym A;
    md_mat B;
    md_sym M;
} md_inertia;

typedef struct md_rigid { /* a rigid body at some origin */
    md_num mass;
    md_vec moment;   /* mass times centre of mass */
    md_sym inertia;  /* about the origin */
} md_rigid;

typedef union md_work { md_inertia inertia; md_rigid rigid; } md_work;

typedef struct md_link { /* constant; the joint turns or shifts along x, y or z of its frame */
    int16_t parent, dof, coordinate;
    uint8_t joint, dofs;
    uint8_t axis;    /* 0, 1, 2 */
    uint8_t upright; /* `rotation` is none */
    md_mat rotation; /* of the joint in the parent */
    md_vec position;
    md_num mass;
    md_vec moment;   /* mass times centre of mass */
    md_sym inertia;  /* about the origin */
} md_link;

typedef struct md_pose { /* in world axes; see >>kinematics */
    md_mat rotation;
    md_vec arm;        /* from the parent's origin to this one */
    md_vec moment;
    md_sym inertia;
    md_vec omega;      /* angular velocity */
    md_vec alpha, acc; /* accelerations at zero joint accelerations, gravity as -g */
    md_mat spin;       /* of a point of the body relative to the origin: acceleration per arm */
    md_force bias;     /* the wrench that the accelerations take */
} md_pose;

typedef struct md_dof { /* a column S of the joint, at the origin, world axes; see >>dynamics */
    int16_t body;
    int16_t coordinate; /* of a joint with one speed; -1: another */
    int16_t up;       /* the next speed on the way to the world; -1: none */
    uint8_t kind;     /* MD_ANGULAR, MD_LINEAR, MD_SCREW */
    md_num pitch;
    md_vec axis;
    md_force W;     /* articulated inertia times S, over sqrt(D) */
    md_num rsqrt_D; /* D = S^T inertia S */
} md_dof;

typedef struct md_row { /* see >>rows, >>equality */
    int16_t index;
    uint8_t kind, flags;
    uint8_t boundless;             /* no bound on its impulse */
    uint8_t turns, active;         /* set up: as an exact row; as one solved by sweeps */
    uint8_t resting;               /* not set up in this step */
    int16_t first, owned, lone, shared; /* its entries: first of them, counts by kind */
    int16_t given;                 /* of `owned`, those that rows of this solve own: all or none */
    int16_t pivot;                 /* coordinate that it owns; -1: none */
    md_num error, low, high, cfm;  /* low <= J v' + cfm impulse <= high */
    md_num least, most, impulse;   /* least <= impulse <= most */
    md_num start;                  /* impulse for the next warm start */
    md_num scale, Jv;              /* 1/length in whitened coordinates; J v before */
    md_unit tau_lone, tau_shared;  /* of its reflections */
    md_unit diagonal, soft;        /* left of it at its pivot; the part of cfm in its length */
    md_unit u_low, u_high, u_least, u_most, u_lambda; /* of the row scaled to length 1 */
    md_unit u_moved;               /* change of u_lambda in the last visit */
} md_row;

typedef struct md_outcome { /* of a row, after a step */
    md_num error, low, high, cfm, impulse, start;
    uint8_t flags, resting;
} md_outcome;

enum { MDYN_SPACE_ = MIMICDYN_MAX_DOFS + MIMICDYN_MAX_ROWS };

/* ---- the sim ---- */

typedef struct mdyn_wrench { mdyn_real3 moment, force; } mdyn_wrench;

/* A mechanism in motion. The first part is yours to read and write between calls; speeds are
   numbered by mdyn_dof, coordinates by mdyn_coordinate (when every joint has one, both are the
   index of the body). sizeof(mdyn_sim) grows with the knobs; place it where you like. */
typedef struct mdyn_sim {
    mdyn_real q[MDYN_COORDINATES];              /* coordinates [rad, m, quaternions] */
    mdyn_real v[MIMICDYN_MAX_DOFS];             /* speeds [rad/s, m/s] */
    mdyn_real tau[MIMICDYN_MAX_DOFS];           /* commanded joint forces [N m, N]; kept */
    mdyn_real target[MIMICDYN_MAX_DOFS];        /* drives: coordinate wanted */
    mdyn_real target_speed[MIMICDYN_MAX_DOFS];  /* drives: speed wanted */
    mdyn_wrench wrench[MIMICDYN_MAX_BODIES];    /* on the body's origin, world axes; kept */
    mdyn_report report;
    mdyn_culprit culprit;

    /* private */
    const mdyn_model *model;
    uint32_t ready, stale;
    int16_t bodies, dofs, coordinates, couplings, drives, rows;
    int16_t dropped; /* boundless rows that depend on others */
    int32_t entries, sweeps;
    mdyn_wide residual;
    int16_t lives, exacts, live[MIMICDYN_MAX_ROWS]; /* rows of this solve, the exact ones first */
    md_num dt, inverse_dt;
    mdyn_real q_seen[MDYN_COORDINATES], v_seen[MIMICDYN_MAX_DOFS];
    md_tail q_tail[MDYN_COORDINATES], v_tail[MIMICDYN_MAX_DOFS];
    mdyn_coupling coupling[MIMICDYN_MAX_COUPLINGS];
    uint8_t coupling_terms[MIMICDYN_MAX_COUPLINGS]; /* how many coefficients are not 0 */
    md_link link[MIMICDYN_MAX_BODIES];
    md_pose pose[MIMICDYN_MAX_BODIES];
    md_dof dof[MIMICDYN_MAX_DOFS];
    md_work work[MIMICDYN_MAX_BODIES];
    md_force force[MIMICDYN_MAX_BODIES];
    md_motion motion[MIMICDYN_MAX_BODIES];
    md_num z[MIMICDYN_MAX_DOFS], u[MIMICDYN_MAX_DOFS];
    md_unit b[MIMICDYN_MAX_DOFS];
    md_row row[MIMICDYN_MAX_ROWS];
    md_outcome outcome[MIMICDYN_MAX_ROWS];
    md_unit du[MDYN_SPACE_], y[MDYN_SPACE_], w[MDYN_SPACE_];
    int16_t owner[MDYN_SPACE_], last_use[MIMICDYN_MAX_DOFS], order[MIMICDYN_MAX_ROWS];
    uint8_t mark[MDYN_SPACE_];
    int16_t path[MIMICDYN_MAX_DOFS + 1]; /* where the rows of L begin in `entry` */
    md_unit entry[MIMICDYN_MAX_ENTRIES];
    int16_t entry_at[MIMICDYN_MAX_ENTRIES];
} mdyn_sim;

/* ============================================================================= // >>calls
   In order of use. n = speeds of the model, b = bodies, d = depth of the tree, r = rows.
   Pointers to results may point anywhere but into the sim, and not at each other.
   A call that returns an error has written nothing but sim->culprit; after an error of mdyn_init
   the sim is not ready.                                                                    */

#if MIMICDYN_STATIC && defined(__GNUC__)
#define MDYN_API static __attribute__((unused))
#elif MIMICDYN_STATIC
#define MDYN_API static
#elif defined(__cplusplus)
#define MDYN_API extern "C"
#else
#define MDYN_API extern
#endif

/* The configuration, spelled in the name of a symbol for the linker to compare. */
#define MDYN_JOIN_(scalar, bodies, dofs, couplings, rows, terms, entries) \
    mimicdyn_##scalar##_bodies_##bodies##_dofs_##dofs##_couplings_##couplings##_rows_##rows \
    ##_terms_##terms##_entries_##entries
#define MDYN_JOIN(scalar, bodies, dofs, couplings, rows, terms, entries) \
    MDYN_JOIN_(scalar, bodies, dofs, couplings, rows, terms, entries)
#define MDYN_CONFIGURATION \
    MDYN_JOIN(MIMICDYN_SCALAR, MIMICDYN_MAX_BODIES, MDYN_SPELL_DOFS_, MDYN_SPELL_COUPLINGS_, \
              MDYN_SPELL_ROWS_, MIMICDYN_MAX_TERMS, MDYN_SPELL_ENTRIES_)
#if !MIMICDYN_STATIC
MDYN_API const char MDYN_CONFIGURATION;
#if defined(__GNUC__) && !defined(__clang__) && defined(__ELF__)
/* Two files of equal knobs merge here; others define one symbol in sections of two names. */
__asm__(".ifndef mimicdyn_knobs_differ\n"
        ".pushsection .rodata." MDYN_SPELL(MDYN_CONFIGURATION)
        ",\"aG\",%progbits," MDYN_SPELL(MDYN_CONFIGURATION) ",comdat\n"
        ".globl mimicdyn_knobs_differ\n"
        "mimicdyn_knobs_differ: .byte 0\n"
        ".popsection\n"
        ".endif\n");
#endif
#endif

/* Checks the whole model and sets the sim to its start: coordinates 0 (quaternions 1), speeds 0,
   commands, targets and wrenches 0. The model and its tables must outlive the sim.
   Errors: sim->culprit names code and index (of a body or a coupling, by the sentence).
   Warnings: redundant or contradictory couplings, limits that leave no position.
   Cost: O(b d^2 + r^2 + r n + n c^2) for c couplings. */
#if MIMICDYN_STATIC
#define mdyn_init(sim, model) mdyn_init_configured(sim, model, NULL)
#else
#define mdyn_init(sim, model) mdyn_init_configured(sim, model, &MDYN_CONFIGURATION)
#endif
MDYN_API int mdyn_init_configured(mdyn_sim *sim, const mdyn_model *model, const char *built_with);

/* Forgets what earlier steps left: impulses for the warm start and the digits beyond q and v.
   For after a jump of the state; a changed q or v alone is noticed by itself. O(r + n) */
MDYN_API int mdyn_reset(mdyn_sim *sim);

/* Replaces a coupling: other ratios, offset, softness, range, speed, effort, joints even.
   Checked as in mdyn_init; the next call goes by it. O(terms) while the joints stay and no coupling
   is redundant: what then contradicts is reported by the next step, an empty range by mdyn_range.
   If joints, hardness or boundedness change, or if a coupling is redundant, the plan is made anew,
   with the warnings of mdyn_init: O(r^2 + r n + n c^2). */
MDYN_API int mdyn_set_coupling(mdyn_sim *sim, int coupling, const mdyn_coupling *c);

/* Moves the state onto the hard couplings without a bound on their effort.
   MDYN_MASS_METRIC: the shortest way, weighed by M: heavy joints move least.
   MDYN_FOLLOWERS: leaders stay; each coupling moves its first term's joint. Chains in any order.
   Warning MDYN_WARN_CONTRADICTION if couplings remain open. Cost: a step; or c^2 terms. */
typedef enum mdyn_metric { MDYN_MASS_METRIC, MDYN_FOLLOWERS } mdyn_metric;
MDYN_API int mdyn_project(mdyn_sim *sim, mdyn_metric metric);

/* One time step of model->dt. Errors: MDYN_ERR_STATE (index: coordinate, speed or body),
   MDYN_ERR_OVERFLOW, MDYN_ERR_SINGULAR; the state is as before. What the rows did: sim->report,
   mdyn_row. Cost: O(b d + n d^2) for M, O(entries + c d) for the couplings, then at most
   2 solver.sweeps + r sweeps of O(entries) over the bounded rows. */
MDYN_API int mdyn_step(mdyn_sim *sim);

/* What row `index` of a kind did in the last step; speeds are read from sim->v. O(terms) */
MDYN_API int mdyn_row(const mdyn_sim *sim, mdyn_row_kind kind, int index, mdyn_row_report *report);

/* Force that a coupling gave the joint of one of its terms in the last step [N m or N]. O(1) */
MDYN_API int mdyn_share(const mdyn_sim *sim, int coupling, int term, mdyn_wide *force);

/* Positions that the limits of a joint of one coordinate and of all joints coupled to it leave
   it, +-MDYN_UNLIMITED where none. Hard couplings of two joints are followed, in chains; so are
   hard couplings, with a range or without, of any joints that these tie to it, or of it alone.
   Warning MDYN_WARN_EMPTY_RANGE if none is left (then lower > upper). O(couplings^2) */
MDYN_API int mdyn_range(mdyn_sim *sim, int body, mdyn_wide *lower, mdyn_wide *upper);

/* The equation that a row enforces, with its numbers and units, as text ending in 0.
   e.g.  "coupling 0: q(1) - 0.5 q(0) - 0.1 = 0 [rad]; hard, erp 0.2".  Error MDYN_ERR_ROOM. */
MDYN_API int mdyn_explain(mdyn_sim *sim, mdyn_row_kind kind, int index, char *text, int size);

/* A code as a sentence, and what to do about it; never NULL. */
MDYN_API const char *mdyn_text(int code);
MDYN_API const char *mdyn_remedy(int code);

/* Numbers of a ready sim: of speeds (n), of coordinates; first speed and first coordinate of a
   body's joint, MDYN_ERR_INDEX if there is no such body. O(1) */
MDYN_API int mdyn_dofs(const mdyn_sim *sim);
MDYN_API int mdyn_coordinates(const mdyn_sim *sim);
MDYN_API int mdyn_dof(const mdyn_sim *sim, int body);
MDYN_API int mdyn_coordinate(const mdyn_sim *sim, int body);

/* Kinematics of the present q and v. Nothing has to be updated first: a sim notices a changed q
   or v and works it out once, O(b). Results in world axes; none of them may be NULL. `point` in
   body axes [m]; NULL: the body's origin. */
MDYN_API int mdyn_pose(mdyn_sim *sim, int body, mdyn_real3 *position, mdyn_real4 *quaternion);
MDYN_API int mdyn_velocity(mdyn_sim *sim, int body, const mdyn_real3 *point,
                           mdyn_real3 *angular, mdyn_real3 *linear);
/* J[6][n], row-major: angular, then linear velocity of the point for unit speeds. O(6 n) */
MDYN_API int mdyn_jacobian(mdyn_sim *sim, int body, const mdyn_real3 *point, mdyn_wide *J);

/* Dynamics at the present q, v, tau, wrench:  tau = M a + C,  C with gravity and minus wrenches.
   Damping, friction, limits and drives have no part in these. Speeds in, speeds out: arrays of n.
   Source: Featherstone, Rigid Body Dynamics Algorithms: 5.3 (RNEA), 6.2 (CRBA), 7.3 (ABA). */
MDYN_API int mdyn_mass_matrix(mdyn_sim *sim, mdyn_wide *M);       /* M[n][n]; O(b d) */
MDYN_API int mdyn_bias_force(mdyn_sim *sim, mdyn_wide *C);        /* C[n]; O(b) */
MDYN_API int mdyn_inverse_dynamics(mdyn_sim *sim, const mdyn_wide *a, mdyn_wide *tau);  /* O(b) */
MDYN_API int mdyn_forward_dynamics(mdyn_sim *sim, mdyn_wide *a);  /* M^-1 (tau - C); O(b) */
/* Accelerations while the hard couplings without a bound on their effort hold: J a = 0. */
MDYN_API int mdyn_coupled_dynamics(mdyn_sim *sim, mdyn_wide *a);  /* O(b + r d) */
/* Speed change of speed j for a unit impulse on speed i: (M^-1)_ij; exactly 0 across a fixed
   root. Source: PhysX mimic joints, equation (10). O(b) each. */
MDYN_API int mdyn_impulse_response(mdyn_sim *sim, int i, int j, mdyn_wide *r);
MDYN_API int mdyn_impulse_column(mdyn_sim *sim, int i, mdyn_wide *dv); /* all speeds */
/* Kinetic energy with that of the armatures, potential energy with 0 at the world's origin [J]. */
MDYN_API int mdyn_energy(mdyn_sim *sim, mdyn_wide *kinetic, mdyn_wide *potential);

#endif /* MIMICDYN_H; stop here if you are only interested in the interface. */

#if defined(MIMICDYN_IMPLEMENTATION) && !defined(MDYN_IMPLEMENTED_)
#define MDYN_IMPLEMENTED_

/* No fused multiply-add: the bits must not depend on the processor. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__) && !defined(__STRICT_ANSI__) && \
    (defined(__FP_FAST_FMA) || defined(__FP_FAST_FMAF))
#if defined(__riscv)
#error "gcc fuses multiply-adds here: compile with -std=c99, or -ffp-contract=off and -std=c99"
#endif
#pragma GCC optimize("fp-contract=off")
#endif

#if defined(__GNUC__)
#define MD_INLINE static inline __attribute__((always_inline, unused))
#define MD_STATIC static __attribute__((unused))
#define MD_NOINLINE static __attribute__((noinline, unused))
#define MD_RESTRICT __restrict
#else
#define MD_INLINE static inline
#define MD_STATIC static
#define MD_NOINLINE static
#define MD_RESTRICT
#endif

/* ============================================================================ // >>number
   The arithmetic. Everything below >>vector is written once, against these operations:
      md_num    scalars of any magnitude; no operator but those named here
      md_unit   elements of unit vectors and of the blocks that go with them, magnitude O(1);
                a block has a common md_scale (floats need none: it is 0)
      md_sum    a sum of products of coordinates, kept to twice the digits
   No shift, no format and no #if on the scalar below this section.                       */

#ifdef MDYN_CHECKED_NUMBERS_
#define MD_RAW(x) ((x).raw)
#define MD_NUM(x) mdyn_checked_num_::of(x)
#define MD_UNIT(x) mdyn_checked_unit_::of(x)
#else
#define MD_RAW(x) (x)
#define MD_NUM(x) (x)
#define MD_UNIT(x) (x)
#endif

#if MDYN_SCALAR == MDYN_SCALAR_F64
typedef uint64_t md_bits;
#define MD_BITS_MAGNITUDE 0x7FFFFFFFFFFFFFFFu /* all but the sign */
#define MD_BITS_2_23 0x4160000000000000u      /* 2^23 */
#define MD_BITS_2_50 0x4310000000000000u      /* 2^50 */
#define MD_BITS_RSQRT 0x5FE6EB50C7B537A9u
#define MD_RSQRT_STEPS 4
#define MD_SPLIT 134217729.0 /* 2^27 + 1 */
#define MD_EPSILON 2.220446049250313e-16
#define MD_DECIDED 1e-11 /* a unit row of which less than this is left is decided by others */
#define MD_AGREED 1e-9   /* relative: two demands closer than this are the same */
#else
typedef uint32_t md_bits;
#define MD_BITS_MAGNITUDE 0x7FFFFFFFu
#define MD_BITS_2_23 0x4B000000u
#define MD_BITS_2_50 0x58800000u
#define MD_BITS_RSQRT 0x5F375A86u
#define MD_RSQRT_STEPS 3
#define MD_SPLIT 4097.0f /* 2^12 + 1 */
#define MD_EPSILON 1.1920929e-7f
#define MD_DECIDED 2e-5f
#define MD_AGREED 1e-4f
#endif

typedef struct md_sum { mdyn_real hi, lo; } md_sum;

MD_INLINE md_num md_of_wide(mdyn_wide x) { return MD_NUM(x); }
MD_INLINE md_num md_of_real(mdyn_real x) { return MD_NUM(x); }
MD_INLINE mdyn_wide md_to_wide(md_num x) { return MD_RAW(x); }
MD_INLINE mdyn_real md_to_real(md_num x) { return MD_RAW(x); }
#define MD_K(x) md_of_wide(MDYN_C(x)) /* a constant */

MD_INLINE md_num md_add(md_num a, md_num b) { return MD_NUM(MD_RAW(a) + MD_RAW(b)); }
MD_INLINE md_num md_sub(md_num a, md_num b) { return MD_NUM(MD_RAW(a) - MD_RAW(b)); }
MD_INLINE md_num md_mul(md_num a, md_num b) { return MD_NUM(MD_RAW(a) * MD_RAW(b)); }
MD_INLINE md_num md_div(md_num a, md_num b) { return MD_NUM(MD_RAW(a) / MD_RAW(b)); }
MD_INLINE md_num md_neg(md_num a) { return MD_NUM(-MD_RAW(a)); }
MD_INLINE int md_less(md_num a, md_num b) { return MD_RAW(a) < MD_RAW(b); }
MD_INLINE int md_is_zero(md_num a) { return MD_RAW(a) == 0; }
MD_INLINE int md_is_one(md_num a) { return MD_RAW(a) == 1; }
MD_INLINE md_num md_of_int(int32_t n) { return MD_NUM((mdyn_real)n); } /* |n| < 2^23 */
MD_INLINE md_num md_abs(md_num a) { return md_less(a, MD_K(0)) ? md_neg(a) : a; }
MD_INLINE md_num md_max(md_num a, md_num b) { return md_less(a, b) ? b : a; }
MD_INLINE md_num md_min(md_num a, md_num b) { return md_less(b, a) ? b : a; }

MD_INLINE md_bits md_bits_of(mdyn_real x)
{
    union { mdyn_real real; md_bits bits; } u;
    u.real = x;
    return u.bits;
}

MD_INLINE mdyn_real md_of_bits(md_bits x)
{
    union { mdyn_real real; md_bits bits; } u;
    u.bits = x;
    return u.real;
}

/* |x| < 2^23; no NaN, no infinity. By bits: compilers may believe that NaN does not exist.
   The sign bit of md_excess is set if not; those of many numbers can be collected by |. */
MD_INLINE md_bits md_excess(mdyn_real x)
{
    return MD_BITS_2_23 - 1 - (md_bits_of(x) & MD_BITS_MAGNITUDE);
}
MD_INLINE int md_in_range(mdyn_real x) { return md_excess(x) <= MD_BITS_MAGNITUDE; }

/* |x| < 2^50: finite, and so are its products with others of its kind. */
MD_INLINE int md_is_usable(mdyn_wide x)
{
    return (md_bits_of(x) & MD_BITS_MAGNITUDE) < MD_BITS_2_50;
}

MD_INLINE int md_same(mdyn_real a, mdyn_real b) { return md_bits_of(a) == md_bits_of(b); }

/* hi + lo += x, with what rounding cuts off hi kept in lo (Knuth, TAOCP 2, 4.2.2, theorem B) */
MD_INLINE void md_two_sum(mdyn_real *hi, mdyn_real *lo, mdyn_real x)
{
    mdyn_real s = *hi + x;
    mdyn_real b = s - *hi;
    *lo += (*hi - (s - b)) + (x - b);
    *hi = s;
}

MD_INLINE void md_sum_start(md_sum *s, mdyn_wide x)
{
    s->hi = x;
    s->lo = 0;
}

/* s += c (q + tail); the product c q to twice the digits (Dekker 1971, Veltkamp's splitting) */
MD_STATIC void md_sum_product(md_sum *s, mdyn_wide c, mdyn_real q, md_tail tail)
{
    mdyn_real p = c * q, t = MD_SPLIT * c, u = MD_SPLIT * q;
    mdyn_real c1 = t - (t - c), q1 = u - (u - q), c2 = c - c1, q2 = q - q1;
    md_two_sum(&s->hi, &s->lo, p);
    s->lo += ((c1 * q1 - p) + c1 * q2 + c2 * q1) + c2 * q2;
    s->lo += c * tail;
}

MD_INLINE md_num md_sum_value(const md_sum *s) { return MD_NUM(s->hi + s->lo); }

/* A coordinate with its tail. */
MD_INLINE md_num md_coordinate_of(mdyn_real q, md_tail tail) { return MD_NUM(q + tail); }

/* x + tail += d: what does not fit into x stays in the tail, so slow motion does not stall. */
MD_INLINE void md_accumulate(mdyn_real *x, md_tail *tail, md_num d)
{
    mdyn_real rest = 0;
    md_two_sum(x, &rest, MD_RAW(d) + *tail);
    *tail = rest;
}

/* Arrays that do not overlap, of any kind of number. (Not inline: the compiler would forget that
   they do not overlap, and ask for memmove.) */
MD_NOINLINE void md_copy(mdyn_real *MD_RESTRICT to, const mdyn_real *MD_RESTRICT from, int n)
{
    int k;
    for (k = 0; k < n; k++) to[k] = from[k];
}

MD_NOINLINE void md_copy_in(md_num *MD_RESTRICT to, const mdyn_real *MD_RESTRICT from, int n)
{
    int k;
    for (k = 0; k < n; k++) to[k] = md_of_real(from[k]);
}

MD_NOINLINE void md_copy_out(mdyn_wide *MD_RESTRICT to, const md_num *MD_RESTRICT from, int n)
{
    int k;
    for (k = 0; k < n; k++) to[k] = md_to_wide(from[k]);
}

/* Blocks of md_unit. */
MD_INLINE md_unit md_unit_of(md_num x, md_scale e) { (void)e; return MD_UNIT(MD_RAW(x)); }
MD_INLINE md_num md_of_unit(md_unit u, md_scale e) { (void)e; return MD_NUM(MD_RAW(u)); }
MD_INLINE md_unit md_unit_add(md_unit a, md_unit b) { return MD_UNIT(MD_RAW(a) + MD_RAW(b)); }
MD_INLINE md_unit md_unit_sub(md_unit a, md_unit b) { return MD_UNIT(MD_RAW(a) - MD_RAW(b)); }
MD_INLINE md_unit md_unit_mul(md_unit a, md_unit b) { return MD_UNIT(MD_RAW(a) * MD_RAW(b)); }
MD_INLINE md_unit md_unit_div(md_unit a, md_unit b) { return MD_UNIT(MD_RAW(a) / MD_RAW(b)); }
MD_INLINE md_unit md_unit_neg(md_unit a) { return MD_UNIT(-MD_RAW(a)); }
MD_INLINE int md_unit_less(md_unit a, md_unit b) { return MD_RAW(a) < MD_RAW(b); }
MD_INLINE md_unit md_unit_abs(md_unit a) { return MD_RAW(a) < 0 ? md_unit_neg(a) : a; }
MD_INLINE int md_unit_is_zero(md_unit a) { return MD_RAW(a) == 0; }
#define MD_U(x) md_unit_of(MD_K(x), 0)

MD_NOINLINE void md_copy_units(md_unit *MD_RESTRICT to, const md_unit *MD_RESTRICT from, int n)
{
    int k;
    for (k = 0; k < n; k++) to[k] = from[k];
}

/* times s */
MD_NOINLINE void md_units_of(md_unit *MD_RESTRICT to, const md_num *MD_RESTRICT from, md_num s,
                             int n, md_scale e)
{
    int k;
    for (k = 0; k < n; k++) to[k] = md_unit_of(md_mul(s, from[k]), e);
}

MD_NOINLINE void md_of_units(md_num *MD_RESTRICT to, const md_unit *MD_RESTRICT from, int n,
                             md_scale e)
{
    int k;
    for (k = 0; k < n; k++) to[k] = md_of_unit(from[k], e);
}

/* The largest of them, without its sign. */
MD_STATIC md_unit md_units_largest(const md_unit *u, int n)
{
    md_unit most = MD_U(0);
    int k;
    for (k = 0; k < n; k++)
        if (md_unit_less(most, md_unit_abs(u[k]))) most = md_unit_abs(u[k]);
    return most;
}

/* The common scale for a block that has to hold these. */
MD_INLINE md_scale md_scale_of(const md_num *x, int n) { (void)x; (void)n; return 0; }

/* row[k] -= a other[k] */
MD_INLINE void md_sub_row(md_unit *row, md_unit a, const md_unit *other, int count)
{
    int k;
    for (k = 0; k < count; k++) row[k] = MD_UNIT(MD_RAW(row[k]) - MD_RAW(a) * MD_RAW(other[k]));
}

/* What brings a row of these coefficients to numbers of O(1) (floats need nothing: 1). */
MD_INLINE md_num md_row_scale(const md_num *c, int n) { (void)c; (void)n; return MD_K(1); }

/* Sum of entry[k] u[at[k]] */
MD_INLINE md_unit md_dot_at(const md_unit *entry, const int16_t *at, int count, const md_unit *u)
{
    mdyn_real s = 0;
    int k;
    for (k = 0; k < count; k++) s += MD_RAW(entry[k]) * MD_RAW(u[at[k]]);
    return MD_UNIT(s);
}

/* u[at[k]] += a entry[k] */
MD_INLINE void md_add_at(md_unit *u, md_unit a, const md_unit *entry, const int16_t *at, int count)
{
    int k;
    for (k = 0; k < count; k++)
        u[at[k]] = MD_UNIT(MD_RAW(u[at[k]]) + MD_RAW(a) * MD_RAW(entry[k]));
}


/* x > 0 as n 10^(exponent - 5) with 100000 <= n < 1000000 */
MD_STATIC int32_t md_decimal(md_num x, int *exponent)
{
    mdyn_real y = MD_RAW(x);
    int e = 5;
    while (y >= (mdyn_real)999999.5 && e < 400) { y /= 10; e++; }
    while (y < (mdyn_real)99999.95 && e > -400) { y *= 10; e--; }
    *exponent = e;
    return (int32_t)(y + (mdyn_real)0.5);
}

/* ============================================================================== // >>math
   No libm. Errors measured over sweeps of a million points by tests/test_number.c. */

/* 1/sqrt(x) for normal x > 0: a guess from the exponent, then Newton's y (3 - x y^2)/2.
   Error: below 2.5 units in the last place. */
MD_STATIC md_num md_rsqrt(md_num x)
{
    mdyn_real half = (mdyn_real)0.5 * MD_RAW(x);
    mdyn_real y = md_of_bits(MD_BITS_RSQRT - (md_bits_of(MD_RAW(x)) >> 1));
    int k;
    for (k = 0; k < MD_RSQRT_STEPS; k++) y = y * ((mdyn_real)1.5 - half * y * y);
    return MD_NUM(y);
}

/* sqrt(x) for normal x > 0, and 0 for 0: x rsqrt(x) with one more Newton step (exact for squares).
   Error: below 1 unit in the last place. */
MD_STATIC md_num md_sqrt(md_num x)
{
    mdyn_real y, s;
    if (!md_less(MD_K(0), x)) return MD_K(0);
    y = MD_RAW(md_rsqrt(x));
    s = MD_RAW(x) * y;
    return MD_NUM(s + (mdyn_real)0.5 * y * (MD_RAW(x) - s * s));
}

MD_STATIC md_unit md_unit_sqrt(md_unit x) { return md_unit_of(md_sqrt(md_of_unit(x, 0)), 0); }
MD_STATIC md_unit md_unit_inverse_sqrt(md_unit x)
{
    return md_unit_of(md_rsqrt(md_of_unit(x, 0)), 0);
}

/* q + tail = k pi/2 + r, |r| <= pi/4 but for the tail: pi/2 in three parts (Cody and Waite), of
   which the first two have so few bits that their products with k are exact for |q| < 2^23.
   Polynomials: in double by Remez' exchange (errors 8.2e-18, 1.3e-18), in float Taylor's. */
#if MDYN_SCALAR == MDYN_SCALAR_F64
MD_STATIC double md_reduce(double q, double tail, int32_t *k)
{
    double n;
    *k = (int32_t)(q * 0.6366197723675814 + (q < 0 ? -0.5 : 0.5));
    n = (double)*k;
    return ((q - n * 1.570796325802803) - n * 9.920935791635221e-10)
           + (tail - n * 5.170182981794105e-19);
}

MD_INLINE double md_sin_series(double x)
{
    double y = x * x;
    return x - x * y * (0.1666666666666659 - y * (0.008333333333314732
           - y * (0.00019841269824672696 - y * (2.755731213704004e-06
           - y * (2.5050539522014946e-08 - y * 1.5885194338113046e-10)))));
}

MD_INLINE double md_cos_series(double x)
{
    double y = x * x;
    return 1 - y * (0.5 - y * (0.04166666666666659 - y * (0.0013888888888872607
           - y * (2.4801587288496763e-05 - y * (2.7557314057966947e-07
           - y * (2.087568207325561e-09 - y * 1.135745889678787e-11))))));
}
#else
MD_STATIC float md_reduce(float q, float tail, int32_t *k)
{
    float high, low, r;
    *k = (int32_t)(q * 0.63661977f + (q < 0 ? -0.5f : 0.5f));
    low = (float)(*k % 4096);
    high = (float)(*k - *k % 4096);
    r = (q - high * 1.5703125f) - low * 1.5703125f;
    r = (r - high * 4.837512969970703e-4f) - low * 4.837512969970703e-4f;
    return (r - high * 7.54978995e-8f) + (tail - low * 7.54978995e-8f);
}

MD_INLINE float md_sin_series(float x)
{
    float y = x * x;
    return x - x * y * (1.0f / 6 - y * (1.0f / 120 - y * (1.0f / 5040 - y * (1.0f / 362880))));
}

MD_INLINE float md_cos_series(float x)
{
    float y = x * x;
    return 1 - y * (0.5f - y * (1.0f / 24 - y * (1.0f / 720 - y * (1.0f / 40320
           - y * (1.0f / 3628800)))));
}
#endif

/* sin and cos of q + tail, |q| < 2^23. Error: below 1.5 units of the last place of 1. */
MD_STATIC void md_sincos(mdyn_real q, md_tail tail, md_num *sine, md_num *cosine)
{
    int32_t k;
    mdyn_real r = md_reduce(q, tail, &k), s = md_sin_series(r), c = md_cos_series(r);
    mdyn_real a = (k & 1) ? c : s, b = (k & 1) ? s : c;
    *sine = MD_NUM((k & 2) ? -a : a);
    *cosine = MD_NUM(((k + 1) & 2) ? -b : b);
}

/* ============================================================================ // >>vector
   Result first. A result may be an operand unless it says otherwise. */

MD_INLINE void md_vec_set(md_vec *r, md_num x, md_num y, md_num z) { r->x = x; r->y = y; r->z = z; }
MD_INLINE void md_vec_zero(md_vec *r) { md_vec_set(r, MD_K(0), MD_K(0), MD_K(0)); }

/* a b + c d, and one more */
MD_INLINE md_num md_sum2(md_num a, md_num b, md_num c, md_num d)
{
    return md_add(md_mul(a, b), md_mul(c, d));
}

MD_INLINE md_num md_sum3(md_num a, md_num b, md_num c, md_num d, md_num e, md_num f)
{
    return md_add(md_sum2(a, b, c, d), md_mul(e, f));
}

/* a b - c d */
MD_INLINE md_num md_det2(md_num a, md_num b, md_num c, md_num d)
{
    return md_sub(md_mul(a, b), md_mul(c, d));
}

MD_INLINE md_num md_dot(const md_vec *a, const md_vec *b)
{
    return md_sum3(a->x, b->x, a->y, b->y, a->z, b->z);
}

MD_INLINE void md_vec_add(md_vec *r, const md_vec *a, const md_vec *b)
{
    md_vec_set(r, md_add(a->x, b->x), md_add(a->y, b->y), md_add(a->z, b->z));
}

MD_INLINE void md_vec_sub(md_vec *r, const md_vec *a, const md_vec *b)
{
    md_vec_set(r, md_sub(a->x, b->x), md_sub(a->y, b->y), md_sub(a->z, b->z));
}

MD_INLINE void md_vec_scale(md_vec *r, md_num s, const md_vec *a)
{
    md_vec_set(r, md_mul(s, a->x), md_mul(s, a->y), md_mul(s, a->z));
}

/* r += s a */
MD_INLINE void md_vec_add_scaled(md_vec *r, md_num s, const md_vec *a)
{
    md_vec t;
    md_vec_scale(&t, s, a);
    md_vec_add(r, r, &t);
}

MD_INLINE void md_cross(md_vec *r, const md_vec *a, const md_vec *b)
{
    md_vec_set(r, md_det2(a->y, b->z, a->z, b->y), md_det2(a->z, b->x, a->x, b->z),
               md_det2(a->x, b->y, a->y, b->x));
}

/* r += a x b */
MD_INLINE void md_add_cross(md_vec *r, const md_vec *a, const md_vec *b)
{
    md_vec t;
    md_cross(&t, a, b);
    md_vec_add(r, r, &t);
}

MD_INLINE void md_mat_vec(md_vec *r, const md_mat *m, const md_vec *a)
{
    md_vec_set(r, md_sum3(m->xx, a->x, m->xy, a->y, m->xz, a->z),
               md_sum3(m->yx, a->x, m->yy, a->y, m->yz, a->z),
               md_sum3(m->zx, a->x, m->zy, a->y, m->zz, a->z));
}

/* r = m^T a */
MD_INLINE void md_mat_t_vec(md_vec *r, const md_mat *m, const md_vec *a)
{
    md_vec_set(r, md_sum3(m->xx, a->x, m->yx, a->y, m->zx, a->z),
               md_sum3(m->xy, a->x, m->yy, a->y, m->zy, a->z),
               md_sum3(m->xz, a->x, m->yz, a->y, m->zz, a->z));
}

MD_INLINE void md_sym_vec(md_vec *r, const md_sym *m, const md_vec *a)
{
    md_vec_set(r, md_sum3(m->xx, a->x, m->xy, a->y, m->xz, a->z),
               md_sum3(m->xy, a->x, m->yy, a->y, m->yz, a->z),
               md_sum3(m->xz, a->x, m->yz, a->y, m->zz, a->z));
}

/* r = a b; r is not an operand */
MD_INLINE void md_mat_mul(md_mat *r, const md_mat *a, const md_mat *b)
{
    r->xx = md_sum3(a->xx, b->xx, a->xy, b->yx, a->xz, b->zx);
    r->xy = md_sum3(a->xx, b->xy, a->xy, b->yy, a->xz, b->zy);
    r->xz = md_sum3(a->xx, b->xz, a->xy, b->yz, a->xz, b->zz);
    r->yx = md_sum3(a->yx, b->xx, a->yy, b->yx, a->yz, b->zx);
    r->yy = md_sum3(a->yx, b->xy, a->yy, b->yy, a->yz, b->zy);
    r->yz = md_sum3(a->yx, b->xz, a->yy, b->yz, a->yz, b->zz);
    r->zx = md_sum3(a->zx, b->xx, a->zy, b->yx, a->zz, b->zx);
    r->zy = md_sum3(a->zx, b->xy, a->zy, b->yy, a->zz, b->zy);
    r->zz = md_sum3(a->zx, b->xz, a->zy, b->yz, a->zz, b->zz);
}

MD_INLINE void md_mat_transpose(md_mat *r, const md_mat *a)
{
    md_mat t = *a;
    r->xx = t.xx; r->xy = t.yx; r->xz = t.zx;
    r->yx = t.xy; r->yy = t.yy; r->yz = t.zy;
    r->zx = t.xz; r->zy = t.yz; r->zz = t.zz;
}

/* The nine numbers of a matrix, row by row. */
MD_INLINE const md_num *md_mat_numbers(const md_mat *m) { return (const md_num *)(const void *)m; }

/* m turned about its own axis k, for the angle's sine and cosine */
MD_INLINE void md_mat_turn(md_mat *m, int k, md_num s, md_num c)
{
    md_num *x = (md_num *)(void *)m + (k == 2 ? 0 : k + 1);
    md_num *y = (md_num *)(void *)m + (k == 0 ? 2 : k - 1);
    md_num a;
    a = x[0]; x[0] = md_sum2(c, a, s, y[0]); y[0] = md_det2(c, y[0], s, a);
    a = x[3]; x[3] = md_sum2(c, a, s, y[3]); y[3] = md_det2(c, y[3], s, a);
    a = x[6]; x[6] = md_sum2(c, a, s, y[6]); y[6] = md_det2(c, y[6], s, a);
}

/* r = R a R^T; r is not an operand */
MD_INLINE void md_sym_turn(md_sym *r, const md_mat *R, const md_sym *a)
{
    md_mat full, t;
    full.xx = a->xx; full.xy = a->xy; full.xz = a->xz;
    full.yx = a->xy; full.yy = a->yy; full.yz = a->yz;
    full.zx = a->xz; full.zy = a->yz; full.zz = a->zz;
    md_mat_mul(&t, R, &full);
    r->xx = md_sum3(t.xx, R->xx, t.xy, R->xy, t.xz, R->xz);
    r->yy = md_sum3(t.yx, R->yx, t.yy, R->yy, t.yz, R->yz);
    r->zz = md_sum3(t.zx, R->zx, t.zy, R->zy, t.zz, R->zz);
    r->xy = md_sum3(t.xx, R->yx, t.xy, R->yy, t.xz, R->yz);
    r->xz = md_sum3(t.xx, R->zx, t.xy, R->zy, t.xz, R->zz);
    r->yz = md_sum3(t.yx, R->zx, t.yy, R->zy, t.yz, R->zz);
}

/* Rotation matrix of a quaternion of any length but 0: (w^2 - |u|^2) 1 + 2 u u^T + 2 w [u], over
   its squared length. */
MD_STATIC void md_mat_of_quaternion(md_mat *r, md_num w, md_num x, md_num y, md_num z)
{
    md_num two = MD_K(2), one = MD_K(1);
    md_num s = md_div(two, md_add(md_sum2(w, w, x, x), md_sum2(y, y, z, z)));
    md_num sx = md_mul(s, x), sy = md_mul(s, y), sz = md_mul(s, z);
    r->xx = md_sub(one, md_sum2(sy, y, sz, z));
    r->yy = md_sub(one, md_sum2(sx, x, sz, z));
    r->zz = md_sub(one, md_sum2(sx, x, sy, y));
    r->xy = md_det2(sx, y, sz, w); r->yx = md_sum2(sx, y, sz, w);
    r->xz = md_sum2(sx, z, sy, w); r->zx = md_det2(sx, z, sy, w);
    r->yz = md_det2(sy, z, sx, w); r->zy = md_sum2(sy, z, sx, w);
}

/* The unit quaternion (w, x, y, z), w >= 0, of a rotation matrix: from the largest of its squares
   (Shepperd 1978). */
MD_STATIC void md_quaternion_of_mat(md_num *q, const md_mat *m)
{
    md_num one = MD_K(1), s, square[4];
    int k, best = 0;
    square[0] = md_add(one, md_add(m->xx, md_add(m->yy, m->zz)));
    square[1] = md_add(one, md_sub(m->xx, md_add(m->yy, m->zz)));
    square[2] = md_add(one, md_sub(m->yy, md_add(m->xx, m->zz)));
    square[3] = md_add(one, md_sub(m->zz, md_add(m->xx, m->yy)));
    for (k = 1; k < 4; k++)
        if (md_less(square[best], square[k])) best = k;
    s = md_mul(MD_K(0.5), md_rsqrt(square[best])); /* 1 / (4 |q_best|) */
    q[0] = best == 0 ? square[0] : best == 1 ? md_sub(m->zy, m->yz)
         : best == 2 ? md_sub(m->xz, m->zx) : md_sub(m->yx, m->xy);
    q[1] = best == 1 ? square[1] : best == 0 ? md_sub(m->zy, m->yz)
         : best == 2 ? md_add(m->xy, m->yx) : md_add(m->xz, m->zx);
    q[2] = best == 2 ? square[2] : best == 0 ? md_sub(m->xz, m->zx)
         : best == 1 ? md_add(m->xy, m->yx) : md_add(m->yz, m->zy);
    q[3] = best == 3 ? square[3] : best == 0 ? md_sub(m->yx, m->xy)
         : best == 1 ? md_add(m->xz, m->zx) : md_add(m->yz, m->zy);
    if (md_less(q[0], MD_K(0))) s = md_neg(s);
    for (k = 0; k < 4; k++) q[k] = md_mul(s, q[k]);
}

/* The rotation whose z axis is `axis` (not 0), exact where the axis is x, y or z. */
MD_STATIC void md_mat_of_axis(md_mat *r, const md_vec *axis)
{
    md_num n2 = md_dot(axis, axis), h;
    md_vec z = *axis, x, y;
    if (md_less(n2, MD_K(1)) || md_less(MD_K(1), n2)) md_vec_scale(&z, md_rsqrt(n2), axis);
    /* x: the coordinate axis farthest from z, made orthogonal to it */
    md_vec_zero(&x);
    if (!md_less(md_abs(z.y), md_abs(z.x)) && !md_less(md_abs(z.z), md_abs(z.x))) x.x = MD_K(1);
    else if (!md_less(md_abs(z.z), md_abs(z.y))) x.y = MD_K(1);
    else x.z = MD_K(1);
    h = md_dot(&x, &z);
    if (!md_is_zero(h)) {
        md_vec_add_scaled(&x, md_neg(h), &z);
        md_vec_scale(&x, md_rsqrt(md_dot(&x, &x)), &x);
    }
    md_cross(&y, &z, &x);
    r->xx = x.x; r->xy = y.x; r->xz = z.x;
    r->yx = x.y; r->yy = y.y; r->yz = z.y;
    r->zx = x.z; r->zy = y.z; r->zz = z.z;
}

/* A wrench taken at a point, seen at another from which the point is reached by `arm`:
   to.ang += ang + arm x lin, to.lin += lin */
MD_INLINE void md_force_add_shifted(md_force *to, const md_force *f, const md_vec *arm)
{
    md_vec_add(&to->ang, &to->ang, &f->ang);
    md_add_cross(&to->ang, arm, &f->lin);
    md_vec_add(&to->lin, &to->lin, &f->lin);
}

/* f += s g */
MD_INLINE void md_force_add_scaled(md_force *f, md_num s, const md_force *g)
{
    md_vec_add_scaled(&f->ang, s, &g->ang);
    md_vec_add_scaled(&f->lin, s, &g->lin);
}

/* The inertia of a rigid body: A = I, B = [m c], M = m 1 */
MD_INLINE void md_inertia_of_body(md_inertia *r, md_num mass, const md_vec *moment,
                                  const md_sym *in)
{
    md_num zero = MD_K(0);
    r->A = *in;
    r->B.xx = zero; r->B.xy = md_neg(moment->z); r->B.xz = moment->y;
    r->B.yx = moment->z; r->B.yy = zero; r->B.yz = md_neg(moment->x);
    r->B.zx = md_neg(moment->y); r->B.zy = moment->x; r->B.zz = zero;
    r->M.xx = mass; r->M.yy = mass; r->M.zz = mass;
    r->M.xy = zero; r->M.xz = zero; r->M.yz = zero;
}

/* to += the body a of a child whose origin is reached by r, with k = 2 h + m r:
   I + (r.k) 1 - (r k^T + k r^T)/2, h + m r, m */
MD_STATIC void md_rigid_add_shifted(md_rigid *to, const md_rigid *a, const md_vec *r)
{
    const md_num half = MD_K(0.5);
    md_vec mr, k;
    md_num rk;
    md_vec_scale(&mr, a->mass, r);
    md_vec_add(&k, &a->moment, &a->moment);
    md_vec_add(&k, &k, &mr);
    rk = md_dot(r, &k);
    to->inertia.xx = md_add(to->inertia.xx, md_add(a->inertia.xx, md_sub(rk, md_mul(r->x, k.x))));
    to->inertia.yy = md_add(to->inertia.yy, md_add(a->inertia.yy, md_sub(rk, md_mul(r->y, k.y))));
    to->inertia.zz = md_add(to->inertia.zz, md_add(a->inertia.zz, md_sub(rk, md_mul(r->z, k.z))));
    to->inertia.xy = md_add(to->inertia.xy, md_sub(a->inertia.xy,
                            md_mul(half, md_sum2(r->x, k.y, r->y, k.x))));
    to->inertia.xz = md_add(to->inertia.xz, md_sub(a->inertia.xz,
                            md_mul(half, md_sum2(r->x, k.z, r->z, k.x))));
    to->inertia.yz = md_add(to->inertia.yz, md_sub(a->inertia.yz,
                            md_mul(half, md_sum2(r->y, k.z, r->z, k.y))));
    md_vec_add(&to->moment, &to->moment, &a->moment);
    md_vec_add(&to->moment, &to->moment, &mr);
    to->mass = md_add(to->mass, a->mass);
}

/* to += the inertia a of a child whose origin is reached by r:
   M, B' = B + [r] M, A' = A + [r] B'^T + ([r] B^T)^T */
MD_STATIC void md_inertia_add_shifted(md_inertia *to, const md_inertia *a, const md_vec *r)
{
    const md_mat *B = &a->B;
    const md_sym *M = &a->M;
    md_num x = r->x, y = r->y, z = r->z;
    md_mat P; /* B' */
    P.xx = md_add(B->xx, md_det2(y, M->xz, z, M->xy));
    P.xy = md_add(B->xy, md_det2(y, M->yz, z, M->yy));
    P.xz = md_add(B->xz, md_det2(y, M->zz, z, M->yz));
    P.yx = md_add(B->yx, md_det2(z, M->xx, x, M->xz));
    P.yy = md_add(B->yy, md_det2(z, M->xy, x, M->yz));
    P.yz = md_add(B->yz, md_det2(z, M->xz, x, M->zz));
    P.zx = md_add(B->zx, md_det2(x, M->xy, y, M->xx));
    P.zy = md_add(B->zy, md_det2(x, M->yy, y, M->xy));
    P.zz = md_add(B->zz, md_det2(x, M->yz, y, M->xz));
    to->A.xx = md_add(to->A.xx, md_add(a->A.xx, md_det2(y, md_add(P.xz, B->xz),
                                                       z, md_add(P.xy, B->xy))));
    to->A.yy = md_add(to->A.yy, md_add(a->A.yy, md_det2(z, md_add(P.yx, B->yx),
                                                       x, md_add(P.yz, B->yz))));
    to->A.zz = md_add(to->A.zz, md_add(a->A.zz, md_det2(x, md_add(P.zy, B->zy),
                                                       y, md_add(P.zx, B->zx))));
    to->A.xy = md_add(to->A.xy, md_add(a->A.xy, md_add(md_det2(y, P.yz, z, P.yy),
                                                       md_det2(z, B->xx, x, B->xz))));
    to->A.xz = md_add(to->A.xz, md_add(a->A.xz, md_add(md_det2(y, P.zz, z, P.zy),
                                                       md_det2(x, B->xy, y, B->xx))));
    to->A.yz = md_add(to->A.yz, md_add(a->A.yz, md_add(md_det2(z, P.zx, x, P.zz),
                                                       md_det2(x, B->yy, y, B->yx))));
    to->B.xx = md_add(to->B.xx, P.xx); to->B.xy = md_add(to->B.xy, P.xy);
    to->B.xz = md_add(to->B.xz, P.xz); to->B.yx = md_add(to->B.yx, P.yx);
    to->B.yy = md_add(to->B.yy, P.yy); to->B.yz = md_add(to->B.yz, P.yz);
    to->B.zx = md_add(to->B.zx, P.zx); to->B.zy = md_add(to->B.zy, P.zy);
    to->B.zz = md_add(to->B.zz, P.zz);
    to->M.xx = md_add(to->M.xx, M->xx); to->M.yy = md_add(to->M.yy, M->yy);
    to->M.zz = md_add(to->M.zz, M->zz); to->M.xy = md_add(to->M.xy, M->xy);
    to->M.xz = md_add(to->M.xz, M->xz); to->M.yz = md_add(to->M.yz, M->yz);
}

/* a -= W W^T */
MD_STATIC void md_inertia_sub_square(md_inertia *a, const md_force *W)
{
    const md_vec *n = &W->ang, *f = &W->lin;
    a->A.xx = md_sub(a->A.xx, md_mul(n->x, n->x)); a->A.yy = md_sub(a->A.yy, md_mul(n->y, n->y));
    a->A.zz = md_sub(a->A.zz, md_mul(n->z, n->z)); a->A.xy = md_sub(a->A.xy, md_mul(n->x, n->y));
    a->A.xz = md_sub(a->A.xz, md_mul(n->x, n->z)); a->A.yz = md_sub(a->A.yz, md_mul(n->y, n->z));
    a->B.xx = md_sub(a->B.xx, md_mul(n->x, f->x)); a->B.xy = md_sub(a->B.xy, md_mul(n->x, f->y));
    a->B.xz = md_sub(a->B.xz, md_mul(n->x, f->z)); a->B.yx = md_sub(a->B.yx, md_mul(n->y, f->x));
    a->B.yy = md_sub(a->B.yy, md_mul(n->y, f->y)); a->B.yz = md_sub(a->B.yz, md_mul(n->y, f->z));
    a->B.zx = md_sub(a->B.zx, md_mul(n->z, f->x)); a->B.zy = md_sub(a->B.zy, md_mul(n->z, f->y));
    a->B.zz = md_sub(a->B.zz, md_mul(n->z, f->z));
    a->M.xx = md_sub(a->M.xx, md_mul(f->x, f->x)); a->M.yy = md_sub(a->M.yy, md_mul(f->y, f->y));
    a->M.zz = md_sub(a->M.zz, md_mul(f->z, f->z)); a->M.xy = md_sub(a->M.xy, md_mul(f->x, f->y));
    a->M.xz = md_sub(a->M.xz, md_mul(f->x, f->z)); a->M.yz = md_sub(a->M.yz, md_mul(f->y, f->z));
}

/* ============================================================================= // >>check
   Every rule of the model with its code. Nothing is written here but the culprit. */

MD_STATIC int md_blame(mdyn_sim *sim, int code, int index)
{
    sim->culprit.code = (int16_t)code;
    sim->culprit.index = (int16_t)index;
    return code;
}

MD_INLINE int md_is_negative(mdyn_wide x) { return md_less(md_of_wide(x), MD_K(0)); }
MD_INLINE int md_is_null(mdyn_wide x) { return md_is_zero(md_of_wide(x)); }

MD_STATIC int md_joint_dofs(mdyn_joint joint)
{
    return joint == MDYN_FIXED ? 0 : joint == MDYN_SPHERICAL ? 3 : joint == MDYN_FREE ? 6 : 1;
}

MD_STATIC int md_joint_coordinates(mdyn_joint joint)
{
    return md_joint_dofs(joint) + (joint == MDYN_SPHERICAL || joint == MDYN_FREE);
}

MD_STATIC int md_body_is_usable(const mdyn_body *b)
{
    return md_is_usable(b->axis.x) && md_is_usable(b->axis.y) && md_is_usable(b->axis.z)
        && md_is_usable(b->position.x) && md_is_usable(b->position.y)
        && md_is_usable(b->position.z) && md_is_usable(b->rotation.w)
        && md_is_usable(b->rotation.x) && md_is_usable(b->rotation.y)
        && md_is_usable(b->rotation.z) && md_is_usable(b->com.x) && md_is_usable(b->com.y)
        && md_is_usable(b->com.z) && md_is_usable(b->inertia.xx) && md_is_usable(b->inertia.yy)
        && md_is_usable(b->inertia.zz) && md_is_usable(b->inertia.xy)
        && md_is_usable(b->inertia.xz) && md_is_usable(b->inertia.yz) && md_is_usable(b->pitch)
        && md_is_usable(b->mass) && md_is_usable(b->armature) && md_is_usable(b->damping)
        && md_is_usable(b->friction) && md_is_usable(b->lower) && md_is_usable(b->upper)
        && md_is_usable(b->effort) && md_is_usable(b->drive_kp) && md_is_usable(b->drive_kd);
}

/* No principal moment is negative: neither are the diagonal, the 2x2 minors, the determinant,
   but for rounding in the tables. */
MD_STATIC int md_inertia_is_real(const mdyn_inertia *in)
{
    md_num xx = md_of_wide(in->xx), yy = md_of_wide(in->yy), zz = md_of_wide(in->zz);
    md_num xy = md_of_wide(in->xy), xz = md_of_wide(in->xz), yz = md_of_wide(in->yz);
    md_num slack = MD_K(-1e-5), size = md_add(md_add(md_abs(xx), md_abs(yy)), md_abs(zz)), det, n;
    if (md_is_negative(in->xx) || md_is_negative(in->yy) || md_is_negative(in->zz)) return 0;
    if (md_is_zero(size))
        return md_is_zero(xy) && md_is_zero(xz) && md_is_zero(yz);
    n = md_div(MD_K(1), size);
    xx = md_mul(n, xx); yy = md_mul(n, yy); zz = md_mul(n, zz);
    xy = md_mul(n, xy); xz = md_mul(n, xz); yz = md_mul(n, yz);
    if (md_less(md_det2(xx, yy, xy, xy), slack) || md_less(md_det2(xx, zz, xz, xz), slack)
        || md_less(md_det2(yy, zz, yz, yz), slack)) return 0;
    det = md_sub(md_mul(xx, md_det2(yy, zz, yz, yz)), md_mul(xy, md_det2(xy, zz, yz, xz)));
    det = md_add(det, md_mul(xz, md_det2(xy, yz, yy, xz)));
    return !md_less(det, slack);
}

/* A quaternion's squared length, of coordinates. */
MD_STATIC md_num md_square_length(const mdyn_real *q)
{
    md_num w = md_of_real(q[0]), x = md_of_real(q[1]), y = md_of_real(q[2]), z = md_of_real(q[3]);
    return md_add(md_sum2(w, w, x, x), md_sum2(y, y, z, z));
}

MD_STATIC int md_check_body(mdyn_sim *sim, const mdyn_model *model, int i)
{
    const mdyn_body *b = &model->bodies[i];
    int single, r0;
    if (!md_body_is_usable(b)) return md_blame(sim, MDYN_ERR_NOT_FINITE, i);
    if (b->parent < MDYN_WORLD || b->parent >= i) return md_blame(sim, MDYN_ERR_PARENT, i);
    if ((int)b->joint < MDYN_FIXED || (int)b->joint > MDYN_FREE)
        return md_blame(sim, MDYN_ERR_JOINT, i);
    single = md_joint_coordinates(b->joint) == 1;
    r0 = md_is_null(b->rotation.w) && md_is_null(b->rotation.x) && md_is_null(b->rotation.y)
        && md_is_null(b->rotation.z);
    if (!r0 && !md_less(MD_K(1e-12), md_add(md_sum2(md_of_wide(b->rotation.w),
            md_of_wide(b->rotation.w), md_of_wide(b->rotation.x), md_of_wide(b->rotation.x)),
            md_sum2(md_of_wide(b->rotation.y), md_of_wide(b->rotation.y),
            md_of_wide(b->rotation.z), md_of_wide(b->rotation.z)))))
        return md_blame(sim, MDYN_ERR_ROTATION, i);
    if (md_is_negative(b->mass)) return md_blame(sim, MDYN_ERR_MASS, i);
    if (!md_inertia_is_real(&b->inertia)) return md_blame(sim, MDYN_ERR_INERTIA, i);
    if (md_is_negative(b->armature) || md_is_negative(b->damping) || md_is_negative(b->friction)
        || md_is_negative(b->effort) || md_is_negative(b->drive_kp)
        || md_is_negative(b->drive_kd)
        || (b->joint == MDYN_FREE && !md_is_null(b->armature)))
        return md_blame(sim, MDYN_ERR_NEGATIVE, i);
    if (md_less(md_of_wide(b->upper), md_of_wide(b->lower))
        || (!single && !(md_is_null(b->lower) && md_is_null(b->upper))))
        return md_blame(sim, MDYN_ERR_LIMITS, i);
    if (!single && !(md_is_null(b->drive_kp) && md_is_null(b->drive_kd)))
        return md_blame(sim, MDYN_ERR_DRIVE, i);
    return MDYN_OK;
}

MD_STATIC int md_softness_is_valid(const mdyn_softness *s)
{
    if ((int)s->kind < MDYN_DEFAULT || (int)s->kind > MDYN_OMEGA_ZETA) return 0;
    if (s->kind == MDYN_ERP_CFM && md_less(MD_K(1), md_of_wide(s->a))) return 0;
    return !md_is_negative(s->a) && !md_is_negative(s->b);
}

MD_STATIC int md_check_coupling(mdyn_sim *sim, const mdyn_model *model,
                                const mdyn_coupling *c, int i)
{
    int k, j, terms = 0, range = !(md_is_null(c->lower) && md_is_null(c->upper));
    if (!md_is_usable(c->offset) || !md_is_usable(c->lower) || !md_is_usable(c->upper)
        || !md_is_usable(c->speed) || !md_is_usable(c->effort) || !md_is_usable(c->softness.a)
        || !md_is_usable(c->softness.b)) return md_blame(sim, MDYN_ERR_NOT_FINITE, i);
    for (k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        const mdyn_term *t = &c->terms[k];
        mdyn_joint joint;
        if (!md_is_usable(t->coefficient)) return md_blame(sim, MDYN_ERR_NOT_FINITE, i);
        if (md_is_null(t->coefficient)) continue;
        if (t->body < 0 || t->body >= model->body_count) return md_blame(sim, MDYN_ERR_TERM, i);
        joint = model->bodies[t->body].joint;
        if (t->axis < 0 || t->axis >= md_joint_dofs(joint)) return md_blame(sim, MDYN_ERR_TERM, i);
        if (c->level == MDYN_POSITION && md_joint_coordinates(joint) != 1)
            return md_blame(sim, MDYN_ERR_LEVEL, i);
        for (j = 0; j < k; j++)
            if (!md_is_null(c->terms[j].coefficient) && c->terms[j].body == t->body
                && c->terms[j].axis == t->axis) return md_blame(sim, MDYN_ERR_TERM, i);
        terms++;
    }
    if (terms == 0) return md_blame(sim, MDYN_ERR_NO_TERMS, i);
    if (c->level != MDYN_POSITION && (c->level != MDYN_VELOCITY || range))
        return md_blame(sim, MDYN_ERR_LEVEL, i);
    if (!md_softness_is_valid(&c->softness)) return md_blame(sim, MDYN_ERR_SOFTNESS, i);
    if (md_less(md_of_wide(c->upper), md_of_wide(c->lower)))
        return md_blame(sim, MDYN_ERR_LIMITS, i);
    if (md_is_negative(c->effort)) return md_blame(sim, MDYN_ERR_NEGATIVE, i);
    return MDYN_OK;
}

MD_STATIC int md_check_model(mdyn_sim *sim, const mdyn_model *model)
{
    const mdyn_solver *s = &model->solver;
    int i, code, dofs = 0, rows = model->coupling_count;
    if (model->body_count < 1 || model->body_count > MIMICDYN_MAX_BODIES)
        return md_blame(sim, MDYN_ERR_CAPACITY_BODIES, -1);
    if (model->coupling_count < 0 || model->coupling_count > MIMICDYN_MAX_COUPLINGS)
        return md_blame(sim, MDYN_ERR_CAPACITY_COUPLINGS, -1);
    if (!model->bodies || (model->coupling_count > 0 && !model->couplings))
        return md_blame(sim, MDYN_ERR_NULL, -1);
    if (!md_is_usable(model->gravity.x) || !md_is_usable(model->gravity.y)
        || !md_is_usable(model->gravity.z)) return md_blame(sim, MDYN_ERR_NOT_FINITE, -1);
    if (!md_is_usable(model->dt) || md_less(md_of_wide(model->dt), MD_K(1e-9))
        || md_less(MD_K(1), md_of_wide(model->dt))) return md_blame(sim, MDYN_ERR_DT, -1);
    if (!md_is_usable(s->relaxation) || !md_is_usable(s->tolerance)
        || md_is_negative(s->relaxation) || !md_less(md_of_wide(s->relaxation), MD_K(2))
        || md_is_negative(s->tolerance) || (int)s->equality < MDYN_EXACT
        || (int)s->equality > MDYN_ITERATED || (int)s->start < MDYN_WARM
        || (int)s->start > MDYN_COLD) return md_blame(sim, MDYN_ERR_SOLVER, -1);
    for (i = 0; i < model->body_count; i++) {
        const mdyn_body *b = &model->bodies[i];
        code = md_check_body(sim, model, i);
        if (code != MDYN_OK) return code;
        dofs += md_joint_dofs(b->joint);
        rows += (!md_is_null(b->drive_kp) || !md_is_null(b->drive_kd))
            + (!md_is_null(b->friction)) * md_joint_dofs(b->joint)
            + (!md_is_null(b->lower) || !md_is_null(b->upper));
        if (dofs > MIMICDYN_MAX_DOFS) return md_blame(sim, MDYN_ERR_CAPACITY_DOFS, i);
        if (rows > MIMICDYN_MAX_ROWS) return md_blame(sim, MDYN_ERR_CAPACITY_ROWS, i);
    }
    if (rows > MIMICDYN_MAX_ROWS) return md_blame(sim, MDYN_ERR_CAPACITY_ROWS, -1);
    for (i = 0; i < model->coupling_count; i++) {
        code = md_check_coupling(sim, model, &model->couplings[i], i);
        if (code != MDYN_OK) return code;
    }
    return MDYN_OK;
}

/* ======================================================================== // >>kinematics
   World axes; every quantity of a body is taken at the origin of its own joint, which keeps the
   numbers small however far the body is from the world's origin. */

enum { MD_ANGULAR, MD_LINEAR, MD_SCREW };

MD_INLINE void md_dof_set(md_dof *d, int kind, const md_mat *R, int column)
{
    const md_num *x = md_mat_numbers(R) + column;
    d->kind = (uint8_t)kind;
    md_vec_set(&d->axis, x[0], x[3], x[6]);
}

/* The joint's motion: rotation and arm of the pose, axes of its columns. */
MD_STATIC void md_joint_pose(mdyn_sim *sim, const md_link *link, const md_pose *parent,
                             md_mat *R, md_vec *arm)
{
    const mdyn_real *q = sim->q + link->coordinate;
    const md_tail *tail = sim->q_tail + link->coordinate;
    md_dof *d = sim->dof + link->dof;
    md_num s, c;
    md_mat turn, placed;
    md_vec shift;
    int k;
    md_mat_vec(arm, &parent->rotation, &link->position);
    if (link->parent < 0) *R = link->rotation;
    else if (link->upright) *R = parent->rotation;
    else md_mat_mul(R, &parent->rotation, &link->rotation);
    switch (link->joint) {
    case MDYN_REVOLUTE:
    case MDYN_HELICAL:
        md_sincos(q[0], tail[0], &s, &c);
        md_mat_turn(R, link->axis, s, c);
        md_dof_set(d, link->joint == MDYN_HELICAL ? MD_SCREW : MD_ANGULAR, R, link->axis);
        if (link->joint == MDYN_HELICAL)
            md_vec_add_scaled(arm, md_mul(d->pitch, md_of_real(q[0])), &d->axis);
        break;
    case MDYN_PRISMATIC:
        md_dof_set(d, MD_LINEAR, R, link->axis);
        md_vec_add_scaled(arm, md_of_real(q[0]), &d->axis);
        break;
    case MDYN_FREE:
        md_vec_set(&shift, md_of_real(q[0]), md_of_real(q[1]), md_of_real(q[2]));
        md_mat_vec(&shift, R, &shift);
        md_vec_add(arm, arm, &shift);
        q += 3;
        /* fall through */
    case MDYN_SPHERICAL:
        md_mat_of_quaternion(&turn, md_of_real(q[0]), md_of_real(q[1]), md_of_real(q[2]),
                             md_of_real(q[3]));
        placed = *R;
        md_mat_mul(R, &placed, &turn);
        for (k = 0; k < link->dofs; k++)
            md_dof_set(d + k, k < 3 ? MD_ANGULAR : MD_LINEAR, R, k % 3);
        break;
    default: break; /* MDYN_FIXED */
    }
}

/* What the joint's speeds add to the angular velocity, and to that of the origin. */
MD_INLINE void md_joint_velocity(const mdyn_sim *sim, const md_link *link, md_vec *w, md_vec *u)
{
    int k;
    md_vec_zero(w);
    md_vec_zero(u);
    if (link->joint == MDYN_REVOLUTE) {
        md_vec_scale(w, md_of_real(sim->v[link->dof]), &sim->dof[link->dof].axis);
        return;
    }
    for (k = link->dof; k < link->dof + link->dofs; k++) {
        const md_dof *d = &sim->dof[k];
        md_num speed = md_of_real(sim->v[k]);
        if (d->kind != MD_LINEAR) md_vec_add_scaled(w, speed, &d->axis);
        if (d->kind == MD_ANGULAR) continue;
        if (d->kind == MD_SCREW) speed = md_mul(speed, d->pitch);
        md_vec_add_scaled(u, speed, &d->axis);
    }
}

/* B = [alpha] + omega omega^T - |omega|^2 1: a point at arm r is accelerated by B r more. */
MD_INLINE void md_spin(md_mat *B, const md_vec *omega, const md_vec *alpha)
{
    md_num x = omega->x, y = omega->y, z = omega->z;
    md_num xx = md_mul(x, x), yy = md_mul(y, y), zz = md_mul(z, z), n2 = md_add(xx, md_add(yy, zz));
    md_num xy = md_mul(x, y), xz = md_mul(x, z), yz = md_mul(y, z);
    B->xx = md_sub(xx, n2); B->xy = md_sub(xy, alpha->z); B->xz = md_add(xz, alpha->y);
    B->yx = md_add(xy, alpha->z); B->yy = md_sub(yy, n2); B->yz = md_sub(yz, alpha->x);
    B->zx = md_sub(xz, alpha->y); B->zy = md_add(yz, alpha->x); B->zz = md_sub(zz, n2);
}

/* The world as a body: it does not turn, and accelerates upwards instead of pulling down. */
MD_STATIC void md_world(const mdyn_sim *sim, md_pose *p)
{
    const mdyn_wide3 *g = &sim->model->gravity;
    md_mat_of_quaternion(&p->rotation, MD_K(1), MD_K(0), MD_K(0), MD_K(0));
    md_vec_zero(&p->omega);
    md_vec_zero(&p->alpha);
    md_spin(&p->spin, &p->omega, &p->alpha);
    md_vec_set(&p->acc, md_neg(md_of_wide(g->x)), md_neg(md_of_wide(g->y)),
               md_neg(md_of_wide(g->z)));
}

/* Poses, velocities, accelerations at zero joint accelerations, and the wrenches that these take
   (Newton and Euler; Featherstone 2008, table 5.1, in world axes). With w and u from the joint:
      omega = omega_p + w,   alpha = alpha_p + omega_p x w
      a = a_p + B_p r + (omega_p + omega) x u
      f = m a + B h,         n = I alpha + omega x I omega + h x a */
MD_STATIC void md_kinematics(mdyn_sim *sim)
{
    md_pose world;
    int i;
    md_world(sim, &world);
    for (i = 0; i < sim->bodies; i++) {
        const md_link *link = &sim->link[i];
        md_pose *p = &sim->pose[i];
        const md_pose *parent = link->parent < 0 ? &world : &sim->pose[link->parent];
        md_vec w, u, t;
        md_joint_pose(sim, link, parent, &p->rotation, &p->arm);
        md_joint_velocity(sim, link, &w, &u);
        p->omega = w;
        p->alpha = world.alpha;
        p->acc = world.acc;
        if (link->parent >= 0) {
            md_vec_add(&p->omega, &parent->omega, &w);
            md_cross(&t, &parent->omega, &w);
            md_vec_add(&p->alpha, &parent->alpha, &t);
            md_mat_vec(&t, &parent->spin, &p->arm);
            md_vec_add(&p->acc, &parent->acc, &t);
        }
        if (link->joint != MDYN_REVOLUTE) {
            md_vec_add(&t, &parent->omega, &p->omega);
            md_add_cross(&p->acc, &t, &u);
        }
        md_sym_turn(&p->inertia, &p->rotation, &link->inertia);
        md_mat_vec(&p->moment, &p->rotation, &link->moment);
        md_spin(&p->spin, &p->omega, &p->alpha);
        md_mat_vec(&t, &p->spin, &p->moment);
        md_vec_add_scaled(&t, link->mass, &p->acc);
        p->bias.lin = t;
        md_sym_vec(&t, &p->inertia, &p->omega);
        md_cross(&w, &p->omega, &t);
        md_sym_vec(&t, &p->inertia, &p->alpha);
        md_vec_add(&w, &w, &t);
        md_add_cross(&w, &p->moment, &p->acc);
        p->bias.ang = w;
    }
}

/* Whether the quaternions of q have a length. */
MD_STATIC int md_quaternion_of(const md_link *link)
{
    return link->joint == MDYN_SPHERICAL ? link->coordinate
         : link->joint == MDYN_FREE ? link->coordinate + 3 : -1;
}

/* Whether n numbers are all in range; *changed is set if any differs from those seen before. */
MD_INLINE int md_compare(const mdyn_real *x, const mdyn_real *seen, int n, int *changed)
{
    md_bits differ = 0, excess = 0;
    int k;
    for (k = 0; k < n; k++) {
        differ |= md_bits_of(x[k]) ^ md_bits_of(seen[k]);
        excess |= md_excess(x[k]);
    }
    if (differ) *changed = 1;
    return excess <= MD_BITS_MAGNITUDE;
}

/* A number that is not the one seen before is taken over and has no tail. */
MD_INLINE void md_take_over(const mdyn_real *x, mdyn_real *seen, md_tail *tail, int n)
{
    int k;
    for (k = 0; k < n; k++) {
        if (md_same(x[k], seen[k])) continue;
        seen[k] = x[k];
        tail[k] = 0;
    }
}

MD_STATIC int md_blame_number(mdyn_sim *sim, const mdyn_real *x)
{
    int k = 0;
    while (md_in_range(x[k])) k++;
    return md_blame(sim, MDYN_ERR_STATE, k);
}

/* Checks q and v, and brings the kinematics up to date with them if they have changed since. */
MD_STATIC int md_refresh(mdyn_sim *sim)
{
    int i, k, changed = 0;
    if (!md_compare(sim->q, sim->q_seen, sim->coordinates, &changed))
        return md_blame_number(sim, sim->q);
    if (!md_compare(sim->v, sim->v_seen, sim->dofs, &changed))
        return md_blame_number(sim, sim->v);
    if (!changed && !sim->stale) return MDYN_OK;
    for (i = 0; sim->coordinates > sim->dofs && i < sim->bodies; i++) {
        k = md_quaternion_of(&sim->link[i]);
        if (k >= 0 && !md_less(MD_K(1e-6), md_square_length(sim->q + k)))
            return md_blame(sim, MDYN_ERR_STATE, k);
    }
    md_take_over(sim->q, sim->q_seen, sim->q_tail, sim->coordinates);
    md_take_over(sim->v, sim->v_seen, sim->v_tail, sim->dofs);
    md_kinematics(sim);
    sim->stale = 0;
    return MDYN_OK;
}

/* Velocity of a body's origin: what each joint on the way to the world adds. */
MD_STATIC void md_origin_velocity(const mdyn_sim *sim, int body, md_vec *v)
{
    int i;
    md_vec w, u;
    md_vec_zero(v);
    for (i = body; i >= 0; i = sim->link[i].parent) {
        const md_link *link = &sim->link[i];
        if (link->parent >= 0) md_add_cross(v, &sim->pose[link->parent].omega, &sim->pose[i].arm);
        md_joint_velocity(sim, link, &w, &u);
        md_vec_add(v, v, &u);
    }
}

MD_STATIC void md_origin_position(const mdyn_sim *sim, int body, md_vec *p)
{
    int i;
    md_vec_zero(p);
    for (i = body; i >= 0; i = sim->link[i].parent) md_vec_add(p, p, &sim->pose[i].arm);
}

/* ========================================================================== // >>dynamics
   The mass matrix by composite bodies (Featherstone 2008, table 6.2), factored as M = L^T L
   (section 6.5, Cholesky's form): row k of L has a number for each speed on the way from speed k
   to the world and no other, so a forest of short trees costs little. With it
      inward  z = L^-T b,   outward  y = L^-1 z,   M^-1 b = L^-1 L^-T b
   z is called whitened: kinetic energy is |L v|^2/2, a row J is the vector x = L^-T J^T there,
   and J M^-1 J^T = |x|^2. x is the inward half of the PhysX "test impulse".

   Forward dynamics alone goes by articulated bodies (table 7.1): its cost is linear in the depth
   of a tree, and on long chains it keeps more digits. */

/* S^T f */
MD_INLINE md_num md_dof_dot_force(const md_dof *d, const md_force *f)
{
    if (d->kind == MD_ANGULAR) return md_dot(&d->axis, &f->ang);
    if (d->kind == MD_LINEAR) return md_dot(&d->axis, &f->lin);
    return md_add(md_dot(&d->axis, &f->ang), md_mul(d->pitch, md_dot(&d->axis, &f->lin)));
}

/* a += s S */
MD_INLINE void md_dof_add_motion(md_motion *a, md_num s, const md_dof *d)
{
    if (d->kind != MD_LINEAR) md_vec_add_scaled(&a->ang, s, &d->axis);
    if (d->kind == MD_SCREW) s = md_mul(s, d->pitch);
    if (d->kind != MD_ANGULAR) md_vec_add_scaled(&a->lin, s, &d->axis);
}

/* f = I S of a composite body */
MD_INLINE void md_dof_momentum(md_force *f, const md_rigid *in, const md_dof *d)
{
    if (d->kind == MD_LINEAR) {
        md_vec_scale(&f->lin, in->mass, &d->axis);
        md_cross(&f->ang, &in->moment, &d->axis);
        return;
    }
    md_sym_vec(&f->ang, &in->inertia, &d->axis);
    md_cross(&f->lin, &d->axis, &in->moment);
    if (d->kind == MD_SCREW) {
        md_force g;
        md_vec_scale(&g.lin, in->mass, &d->axis);
        md_cross(&g.ang, &in->moment, &d->axis);
        md_force_add_scaled(f, d->pitch, &g);
    }
}

/* f = I S of an articulated body */
MD_INLINE void md_dof_inertia(md_force *f, const md_inertia *in, const md_dof *d)
{
    if (d->kind == MD_LINEAR) {
        md_mat_vec(&f->ang, &in->B, &d->axis);
        md_sym_vec(&f->lin, &in->M, &d->axis);
        return;
    }
    md_sym_vec(&f->ang, &in->A, &d->axis);
    md_mat_t_vec(&f->lin, &in->B, &d->axis);
    if (d->kind == MD_SCREW) {
        md_force g;
        md_mat_vec(&g.ang, &in->B, &d->axis);
        md_sym_vec(&g.lin, &in->M, &d->axis);
        md_force_add_scaled(f, d->pitch, &g);
    }
}

/* What is added to the diagonal of M: armature + dt damping. */
MD_INLINE md_num md_diagonal(const mdyn_sim *sim, int body, md_num dt)
{
    const mdyn_body *b = &sim->model->bodies[body];
    return md_add(md_of_wide(b->armature), md_mul(dt, md_of_wide(b->damping)));
}

/* Each body with all that it carries, seen from its origin. */
MD_STATIC void md_composite_bodies(mdyn_sim *sim)
{
    int i;
    for (i = 0; i < sim->bodies; i++) {
        md_rigid *in = &sim->work[i].rigid;
        in->mass = sim->link[i].mass;
        in->moment = sim->pose[i].moment;
        in->inertia = sim->pose[i].inertia;
    }
    for (i = sim->bodies - 1; i >= 0; i--)
        if (sim->link[i].parent >= 0)
            md_rigid_add_shifted(&sim->work[sim->link[i].parent].rigid, &sim->work[i].rigid,
                                 &sim->pose[i].arm);
}

/* M + dt damping into the rows of L: row k from sim->path[k] on, its diagonal first, then the
   speeds on the way to the world. */
MD_STATIC void md_mass_rows(mdyn_sim *sim, md_num dt)
{
    int i, j, k;
    md_composite_bodies(sim);
    for (k = 0; k < sim->dofs; k++) {
        const md_dof *d = &sim->dof[k];
        md_unit *row = sim->entry + sim->path[k];
        md_force f;
        i = d->body;
        md_dof_momentum(&f, &sim->work[i].rigid, d);
        *row = md_unit_of(md_add(md_dof_dot_force(d, &f), md_diagonal(sim, i, dt)), 0);
        for (j = d->up; j >= 0; j = d->up) {
            d = &sim->dof[j];
            for (; i != d->body; i = sim->link[i].parent)
                md_add_cross(&f.ang, &sim->pose[i].arm, &f.lin);
            *++row = md_unit_of(md_dof_dot_force(d, &f), 0);
        }
    }
}

/* M = L^T L in place, from the leaves to the roots; the diagonal then holds 1/L_kk. dt = 0 leaves
   the damping out. Error if a pivot is no more than the rounding of M_kk. */
MD_STATIC int md_factor(mdyn_sim *sim, md_num dt)
{
    int k, j, p, n;
    md_mass_rows(sim, dt);
    for (k = 0; k < sim->dofs; k++)
        sim->z[k] = md_mul(MD_K(8 * MD_EPSILON), md_of_unit(sim->entry[sim->path[k]], 0));
    for (k = sim->dofs - 1; k >= 0; k--) {
        md_unit *row = sim->entry + sim->path[k];
        if (!md_less(md_max(sim->z[k], MD_K(1e-30)), md_of_unit(row[0], 0)))
            return md_blame(sim, MDYN_ERR_SINGULAR, k);
        n = sim->path[k + 1] - sim->path[k];
        row[0] = md_unit_inverse_sqrt(row[0]);
        for (p = 1; p < n; p++) row[p] = md_unit_mul(row[0], row[p]);
        for (p = 1, j = sim->dof[k].up; p < n; p++, j = sim->dof[j].up)
            md_sub_row(sim->entry + sim->path[j], row[p], row + p, n - p);
    }
    return MDYN_OK;
}

/* z = L^-T b; z may be b. */
MD_STATIC void md_inward(mdyn_sim *sim, md_num *z)
{
    int k, j;
    for (k = sim->dofs - 1; k >= 0; k--) {
        const md_unit *row = sim->entry + sim->path[k];
        z[k] = md_mul(z[k], md_of_unit(row[0], 0));
        for (j = sim->dof[k].up; j >= 0; j = sim->dof[j].up)
            z[j] = md_sub(z[j], md_mul(md_of_unit(*++row, 0), z[k]));
    }
}

/* y = L^-1 z; in place. */
MD_STATIC void md_outward(mdyn_sim *sim, md_num *z)
{
    int k, j;
    for (k = 0; k < sim->dofs; k++) {
        const md_unit *row = sim->entry + sim->path[k];
        md_num inverse = md_of_unit(row[0], 0);
        for (j = sim->dof[k].up; j >= 0; j = sim->dof[j].up)
            z[k] = md_sub(z[k], md_mul(md_of_unit(*++row, 0), z[j]));
        z[k] = md_mul(z[k], inverse);
    }
}

MD_INLINE int md_wrench_is_zero(const mdyn_wrench *w)
{
    return (md_bits_of(w->moment.x) | md_bits_of(w->moment.y) | md_bits_of(w->moment.z)
            | md_bits_of(w->force.x) | md_bits_of(w->force.y) | md_bits_of(w->force.z)) == 0;
}

/* sim->force = the wrenches of the bias, less the external ones. */
MD_STATIC void md_bias_wrenches(mdyn_sim *sim)
{
    int i;
    for (i = 0; i < sim->bodies; i++) {
        const mdyn_wrench *e = &sim->wrench[i];
        md_force *f = &sim->force[i];
        md_vec t;
        *f = sim->pose[i].bias;
        if (md_wrench_is_zero(e)) continue;
        md_vec_set(&t, md_of_real(e->moment.x), md_of_real(e->moment.y), md_of_real(e->moment.z));
        md_vec_sub(&f->ang, &f->ang, &t);
        md_vec_set(&t, md_of_real(e->force.x), md_of_real(e->force.y), md_of_real(e->force.z));
        md_vec_sub(&f->lin, &f->lin, &t);
    }
}

/* The wrenches in sim->force handed inward, and what of them the joints feel taken from b. */
MD_STATIC void md_gather(mdyn_sim *sim, md_num *b)
{
    int i, k;
    for (i = sim->bodies - 1; i >= 0; i--) {
        const md_link *link = &sim->link[i];
        const md_force *f = &sim->force[i];
        for (k = link->dof; k < link->dof + link->dofs; k++)
            b[k] = md_sub(b[k], md_dof_dot_force(&sim->dof[k], f));
        if (link->parent >= 0)
            md_force_add_shifted(&sim->force[link->parent], f, &sim->pose[i].arm);
    }
}

/* Articulated bodies, inward: for each speed D = S^T IA S and W = IA S/sqrt(D), so that W W^T is
   what the joint takes from the inertia; and z = (b - S^T p)/sqrt(D), p += W z. */
MD_STATIC int md_articulate(mdyn_sim *sim, const md_num *b)
{
    int i, k;
    for (i = 0; i < sim->bodies; i++)
        md_inertia_of_body(&sim->work[i].inertia, sim->link[i].mass, &sim->pose[i].moment,
                           &sim->pose[i].inertia);
    for (i = sim->bodies - 1; i >= 0; i--) {
        const md_link *link = &sim->link[i];
        md_inertia *in = &sim->work[i].inertia;
        md_force *p = &sim->force[i];
        md_num diagonal = md_diagonal(sim, i, MD_K(0));
        for (k = link->dof + link->dofs - 1; k >= link->dof; k--) {
            md_dof *d = &sim->dof[k];
            md_force U;
            md_num D;
            md_dof_inertia(&U, in, d);
            D = md_add(md_dof_dot_force(d, &U), diagonal);
            if (!md_less(MD_K(1e-30), D)) return md_blame(sim, MDYN_ERR_SINGULAR, k);
            d->rsqrt_D = md_rsqrt(D);
            md_vec_scale(&d->W.ang, d->rsqrt_D, &U.ang);
            md_vec_scale(&d->W.lin, d->rsqrt_D, &U.lin);
            sim->z[k] = md_mul(d->rsqrt_D, md_sub(b[k], md_dof_dot_force(d, p)));
            if (link->parent < 0 && k == link->dof) continue;
            md_inertia_sub_square(in, &d->W);
            md_force_add_scaled(p, sim->z[k], &d->W);
        }
        if (link->parent < 0) continue;
        md_inertia_add_shifted(&sim->work[link->parent].inertia, in, &sim->pose[i].arm);
        md_force_add_shifted(&sim->force[link->parent], p, &sim->pose[i].arm);
    }
    return MDYN_OK;
}

/* ... and outward: a' = (z - W^T a)/sqrt(D), a += S a'; in place in sim->z. */
MD_STATIC void md_release(mdyn_sim *sim)
{
    int i, k;
    for (i = 0; i < sim->bodies; i++) {
        const md_link *link = &sim->link[i];
        md_motion *a = &sim->motion[i];
        if (link->parent < 0) {
            md_vec_zero(&a->ang);
            md_vec_zero(&a->lin);
        } else {
            *a = sim->motion[link->parent];
            md_add_cross(&a->lin, &a->ang, &sim->pose[i].arm);
        }
        for (k = link->dof; k < link->dof + link->dofs; k++) {
            const md_dof *d = &sim->dof[k];
            md_num t = md_add(md_dot(&d->W.ang, &a->ang), md_dot(&d->W.lin, &a->lin));
            sim->z[k] = md_mul(d->rsqrt_D, md_sub(sim->z[k], t));
            md_dof_add_motion(a, sim->z[k], d);
        }
    }
}

/* ============================================================================== // >>rows
   A row asks  low <= J v' + cfm lambda <= high  of the speeds after the step, and its impulse
   lambda moves them by M^-1 J^T lambda. In whitened coordinates it is the vector x = L^-T J^T. */

enum md_mode {
    MD_STEP,         /* all rows, speeds after the step */
    MD_ACCELERATION, /* hard couplings: J a = 0 */
    MD_PLACE,        /* hard couplings: J dq = -C */
    MD_HALT          /* hard couplings: J dv = speed - J v */
};

typedef struct md_terms {
    int count;
    int16_t dof[MIMICDYN_MAX_TERMS];
    md_num coefficient[MIMICDYN_MAX_TERMS];
} md_terms;

MD_STATIC void md_row_terms(const mdyn_sim *sim, const md_row *row, md_terms *t)
{
    int k;
    t->count = 0;
    if (row->kind != MDYN_ROW_COUPLING) {
        t->count = 1;
        t->dof[0] = row->index;
        t->coefficient[0] = MD_K(1);
        return;
    }
    for (k = 0; k < MIMICDYN_MAX_TERMS && t->count < sim->coupling_terms[row->index]; k++) {
        const mdyn_term *term = &sim->coupling[row->index].terms[k];
        md_num c = md_of_wide(term->coefficient);
        if (md_is_zero(c)) continue;
        t->dof[t->count] = (int16_t)(sim->link[term->body].dof + term->axis);
        t->coefficient[t->count++] = c;
    }
}

/* J v */
MD_STATIC md_num md_row_speed(const mdyn_sim *sim, const md_terms *t)
{
    md_num s = MD_K(0);
    int k;
    for (k = 0; k < t->count; k++)
        s = md_add(s, md_mul(t->coefficient[k], md_of_real(sim->v[t->dof[k]])));
    return s;
}

/* The coordinate of a row of one joint; sum of coefficient q + offset of a coupling. */
MD_INLINE md_num md_row_position(const mdyn_sim *sim, const md_row *row, const md_terms *t)
{
    md_sum s;
    int k, c = sim->dof[t->dof[0]].coordinate;
    if (row->kind != MDYN_ROW_COUPLING) return md_coordinate_of(sim->q[c], sim->q_tail[c]);
    md_sum_start(&s, sim->coupling[row->index].offset);
    for (k = 0; k < t->count; k++) {
        c = sim->dof[t->dof[k]].coordinate;
        md_sum_product(&s, md_to_wide(t->coefficient[k]), sim->q[c], sim->q_tail[c]);
    }
    return md_sum_value(&s);
}

MD_INLINE int md_coupling_is_equality(const mdyn_coupling *c)
{
    return md_is_zero(md_sub(md_of_wide(c->upper), md_of_wide(c->lower)));
}

/* Rows without a bound on their impulse; see row->boundless. */
MD_STATIC int md_row_is_boundless(const mdyn_sim *sim, const md_row *row)
{
    if (row->kind == MDYN_ROW_COUPLING) {
        const mdyn_coupling *c = &sim->coupling[row->index];
        if (c->softness.kind == MDYN_KP_KD && md_is_null(c->softness.a)
            && md_is_null(c->softness.b)) return 0; /* no force at all */
        return md_coupling_is_equality(c) && md_is_null(c->effort);
    }
    return row->kind == MDYN_ROW_DRIVE
        && md_is_null(sim->model->bodies[sim->dof[row->index].body].effort);
}

MD_STATIC int md_softness_is_hard(const mdyn_softness *s)
{
    return s->kind == MDYN_DEFAULT
        || (s->kind == MDYN_ERP_CFM && md_is_zero(md_of_wide(s->b)))
        || (s->kind == MDYN_OMEGA_ZETA && md_is_zero(md_of_wide(s->a)));
}

/* r = J M^-1 J^T of the row in sim->w. */
MD_STATIC md_num md_row_response(const mdyn_sim *sim, const md_row *row)
{
    md_num r = MD_K(0), x;
    int e, end = row->first + row->owned + row->lone + row->shared;
    for (e = row->first; e < end; e++) {
        x = md_of_unit(sim->w[sim->entry_at[e]], 0);
        r = md_add(r, md_mul(x, x));
    }
    return md_div(r, md_mul(row->scale, row->scale));
}

/* erp and cfm of a row, whose vector is in sim->w. Returns 0 if the row has no force at all.
   Source: PhysX mimic joints, (18), (20)-(29). */
MD_STATIC int md_soften(const mdyn_sim *sim, const mdyn_softness *s, const md_row *row,
                        md_num *erp, md_num *cfm)
{
    md_num a = md_of_wide(s->a), b = md_of_wide(s->b), dt_kp, both;
    *erp = MD_K(0.2);
    *cfm = MD_K(0);
    if (s->kind == MDYN_ERP_CFM) {
        *erp = a;
        *cfm = b;
    }
    if (md_softness_is_hard(s) || s->kind == MDYN_ERP_CFM) return 1;
    dt_kp = md_mul(sim->dt, a);
    if (s->kind == MDYN_OMEGA_ZETA) {
        md_num r = md_row_response(sim, row);
        if (md_is_zero(r)) return 0;
        dt_kp = md_div(md_mul(dt_kp, a), r);              /* kp = omega^2 / r */
        b = md_div(md_mul(md_mul(MD_K(2), a), b), r);     /* kd = 2 omega zeta / r */
    }
    both = md_add(dt_kp, b);
    if (md_is_zero(both)) return 0;
    *erp = md_div(dt_kp, both);
    *cfm = md_div(sim->inverse_dt, both);
    return 1;
}

/* low, high for C' so that C returns into [lower, upper], at most `erp` of the way in a step, and
   never leaves it. `below`, `above`: C - lower, C - upper. */
MD_STATIC void md_row_range(const mdyn_sim *sim, md_row *row, md_num erp,
                            md_num below, md_num above)
{
    md_num zero = MD_K(0), rate = md_mul(erp, sim->inverse_dt);
    row->error = zero;
    row->low = md_neg(md_mul(below, sim->inverse_dt));
    row->high = md_neg(md_mul(above, sim->inverse_dt));
    if (md_less(below, zero)) {
        row->error = below;
        row->low = md_neg(md_mul(below, rate));
    }
    if (md_less(zero, above)) {
        row->error = above;
        row->high = md_neg(md_mul(above, rate));
    }
}

MD_STATIC void md_impulse_bound(const mdyn_sim *sim, md_row *row, mdyn_wide effort)
{
    if (md_is_zero(md_of_wide(effort))) return;
    row->most = md_mul(sim->dt, md_of_wide(effort));
    row->least = md_neg(row->most);
}

MD_STATIC int md_ask_coupling(const mdyn_sim *sim, md_row *row, const md_terms *t)
{
    const mdyn_coupling *c = &sim->coupling[row->index];
    const md_num endless = MD_K(1e12);
    md_num erp;
    int there = md_soften(sim, &c->softness, row, &erp, &row->cfm);
    md_impulse_bound(sim, row, c->effort);
    if (c->level == MDYN_VELOCITY) {
        row->low = row->high = md_of_wide(c->speed);
        return there;
    }
    if (md_coupling_is_equality(c)) {
        row->error = md_sub(md_row_position(sim, row, t), md_of_wide(c->lower));
        row->low = row->high = md_sub(md_of_wide(c->speed),
                                      md_mul(md_mul(erp, sim->inverse_dt), row->error));
        return there;
    }
    {
        md_num C = md_row_position(sim, row, t);
        md_num lower = md_of_wide(c->lower), upper = md_of_wide(c->upper);
        int open_below = !md_less(md_neg(endless), lower), open_above = !md_less(upper, endless);
        md_row_range(sim, row, erp, open_below ? MD_K(0) : md_sub(C, lower),
                     open_above ? MD_K(0) : md_sub(C, upper));
        if (open_below) row->low = MD_K(-1e30);
        if (open_above) row->high = MD_K(1e30);
    }
    return there;
}

/* The commanded force of a speed, held within the actuator's effort. */
MD_STATIC md_num md_command(const mdyn_sim *sim, int dof)
{
    md_num effort = md_of_wide(sim->model->bodies[sim->dof[dof].body].effort);
    md_num tau = md_of_real(sim->tau[dof]);
    return md_is_zero(effort) ? tau : md_max(md_neg(effort), md_min(effort, tau));
}

/* What the row asks in this step, for its vector in w. Returns 0 if it has no force at all. */
MD_STATIC int md_row_ask(const mdyn_sim *sim, md_row *row, const md_terms *t)
{
    const mdyn_body *b;
    mdyn_softness spring;
    md_num erp;
    row->cfm = row->error = row->low = row->high = MD_K(0);
    row->least = MD_K(-1e30);
    row->most = MD_K(1e30);
    if (row->kind == MDYN_ROW_COUPLING) return md_ask_coupling(sim, row, t);
    b = &sim->model->bodies[sim->dof[row->index].body];
    switch (row->kind) {
    case MDYN_ROW_DRIVE:
        spring.kind = MDYN_KP_KD;
        spring.a = b->drive_kp;
        spring.b = b->drive_kd;
        md_soften(sim, &spring, row, &erp, &row->cfm);
        row->error = md_sub(md_row_position(sim, row, t), md_of_real(sim->target[row->index]));
        /* cfm lambda = (1 - erp) target_speed - erp error/dt - v': the spring at the step's end */
        row->low = md_mul(md_sub(MD_K(1), erp), md_of_real(sim->target_speed[row->index]));
        row->low = md_sub(row->low, md_mul(md_mul(erp, sim->inverse_dt), row->error));
        row->high = row->low;
        if (!md_is_zero(md_of_wide(b->effort))) { /* what the command leaves */
            md_num effort = md_of_wide(b->effort), tau = md_command(sim, row->index);
            row->least = md_mul(sim->dt, md_neg(md_add(effort, tau)));
            row->most = md_mul(sim->dt, md_sub(effort, tau));
        }
        return 1;
    case MDYN_ROW_FRICTION:
        md_impulse_bound(sim, row, b->friction);
        return 1;
    default: { /* MDYN_ROW_LIMIT */
        md_num endless = MD_K(1e12), lower = md_of_wide(b->lower), upper = md_of_wide(b->upper), C;
        C = md_row_position(sim, row, t);
        md_row_range(sim, row, MD_K(0.2), md_sub(C, lower), md_sub(C, upper));
        if (!md_less(md_neg(endless), lower)) row->low = MD_K(-1e30);
        if (!md_less(upper, endless)) row->high = MD_K(1e30);
        return 1;
    }
    }
}

/* w += L^-T b on the way from speed k to the world, where b = sim->b and w = sim->w, both 0
   elsewhere; b is 0 again afterwards. */
MD_STATIC void md_walk(mdyn_sim *sim, int k)
{
    int j;
    if (md_unit_is_zero(sim->b[k])) return; /* an earlier walk has passed here */
    for (; k >= 0; k = sim->dof[k].up) {
        const md_unit *row = sim->entry + sim->path[k];
        md_unit z = md_unit_mul(sim->b[k], row[0]);
        sim->b[k] = MD_U(0);
        sim->w[k] = md_unit_add(sim->w[k], z);
        for (j = sim->dof[k].up; j >= 0; j = sim->dof[j].up)
            sim->b[j] = md_unit_sub(sim->b[j], md_unit_mul(*++row, z));
    }
}

/* w = L^-T J^T of a row, times what brings it to numbers of O(1), which is returned. */
MD_STATIC md_num md_whiten(mdyn_sim *sim, const md_terms *t)
{
    md_num scale = md_row_scale(t->coefficient, t->count);
    int k;
    for (k = 0; k < t->count; k++)
        sim->b[t->dof[k]] = md_unit_of(md_mul(scale, t->coefficient[k]), 0);
    for (k = 0; k < t->count; k++) md_walk(sim, t->dof[k]);
    return scale;
}

/* ========================================================================== // >>equality
   Rows without a bound on their impulse, all together. Each in turn is made to own one
   coordinate: reflections turn the whitened space so that what earlier rows left of it lies
   along that coordinate alone (Householder's QR of the rows' vectors). The owned coordinates
   then follow one after the other from what the rows ask, and every other row is free to act on
   the coordinates that are not owned. A soft row has a private coordinate more, sqrt(cfm) long:
   what it gives way. Nothing is squared, so nearly parallel rows keep their digits, and a row of
   which nothing is left depends on the rows before it.

   A row first gathers the coordinates that no later row touches into one, p, then reflects p and
   the shared ones; so only shared coordinates stay mixed, and a train of gears costs what its
   rows cost, however long. Which coordinates these are follows from the model alone and is found
   once (md_plan). The entries of a row stand in this order:
      exact:   the row's own numbers at coordinates that earlier rows own, in the owners' order;
               then its first reflection: of the lone coordinates, p last;
               then its second: of p and the shared coordinates
      bounded: those at owned coordinates, then all others. */

MD_INLINE int md_row_end(const md_row *row)
{
    return row->first + row->owned + row->lone + row->shared;
}

/* u -= tau (v.u) v for the reflection of p and the lone coordinates, or of p and the shared ones;
   v_p = 1. Source: LAPACK's dlarfg. */
MD_INLINE void md_reflect_at(const mdyn_sim *sim, int first, int count, int p, md_unit tau,
                             md_unit *u)
{
    md_unit a;
    if (count == 0) return;
    a = md_dot_at(sim->entry + first, sim->entry_at + first, count, u);
    a = md_unit_neg(md_unit_mul(tau, md_unit_add(a, u[p])));
    u[p] = md_unit_add(u[p], a);
    md_add_at(u, a, sim->entry + first, sim->entry_at + first, count);
}

MD_INLINE void md_reflect_lone(const mdyn_sim *sim, const md_row *row, md_unit *u)
{
    md_reflect_at(sim, row->first + row->owned, row->lone - 1, row->pivot, row->tau_lone, u);
}

MD_INLINE void md_reflect_shared(const mdyn_sim *sim, const md_row *row, md_unit *u)
{
    md_reflect_at(sim, row->first + row->owned + row->lone, row->shared, row->pivot,
                  row->tau_shared, u);
}

/* Whether earlier rows leave nothing of a row: squared lengths. */
MD_INLINE int md_is_decided(md_unit left, md_unit owned)
{
    md_unit all = md_unit_add(left, owned);
    return !md_unit_less(md_unit_mul(MD_U(MD_DECIDED * MD_DECIDED), all), left);
}

/* The sum of squares of w at `count` entries from `first` on. */
MD_INLINE md_unit md_square_at(const mdyn_sim *sim, int first, int count)
{
    md_unit sum = MD_U(0);
    int e;
    for (e = first; e < first + count; e++)
        sum = md_unit_add(sum, md_unit_mul(sim->w[sim->entry_at[e]], sim->w[sim->entry_at[e]]));
    return sum;
}

/* The reflection that turns w = sim->w, at p and `count` entries from `first` on, onto p; w there
   becomes 0, w at p its length or minus that, the root of `square`. Returns tau. */
MD_STATIC md_unit md_make_reflection(mdyn_sim *sim, int first, int count, int p, md_unit square)
{
    md_unit length, knee;
    int e;
    if (count == 0 || md_unit_is_zero(square)) {
        for (e = first; e < first + count; e++) sim->entry[e] = MD_U(0);
        return MD_U(0);
    }
    length = md_unit_sqrt(square);
    if (md_unit_less(sim->w[p], MD_U(0))) length = md_unit_neg(length);
    knee = md_unit_add(sim->w[p], length);
    for (e = first; e < first + count; e++) {
        sim->entry[e] = md_unit_div(sim->w[sim->entry_at[e]], knee);
        sim->w[sim->entry_at[e]] = MD_U(0);
    }
    sim->w[p] = md_unit_neg(length);
    return md_unit_div(knee, length);
}

/* An exact row, in w, takes its coordinate p. Returns 0 if earlier rows, which have the square
   `owned` of its length, leave nothing of it. */
MD_STATIC int md_own(mdyn_sim *sim, md_row *row, md_unit owned)
{
    const int lone = row->first + row->owned, shared = lone + row->lone, end = md_row_end(row);
    md_unit square = md_square_at(sim, lone, row->lone);
    md_unit left = md_unit_add(square, md_square_at(sim, shared, row->shared));
    int e;
    if (row->pivot < 0 || md_is_decided(left, owned)) {
        for (e = lone; e < end; e++) sim->w[sim->entry_at[e]] = MD_U(0);
        return 0;
    }
    row->tau_lone = md_make_reflection(sim, lone, row->lone - 1, row->pivot, square);
    row->tau_shared = md_make_reflection(sim, shared, row->shared, row->pivot, left);
    row->diagonal = sim->w[row->pivot];
    sim->w[row->pivot] = MD_U(0);
    return 1;
}

/* A bounded row, in w, acts on what nobody owns, scaled to length 1 there. Returns 0 if nothing
   is left of it. */
MD_STATIC int md_share(mdyn_sim *sim, md_row *row, md_unit owned)
{
    const int end = md_row_end(row);
    md_unit left = row->soft, s;
    int e;
    for (e = row->first + row->given; e < end; e++) {
        sim->entry[e] = sim->w[sim->entry_at[e]];
        left = md_unit_add(left, md_unit_mul(sim->entry[e], sim->entry[e]));
        sim->w[sim->entry_at[e]] = MD_U(0);
    }
    if (md_is_decided(left, owned)) return 0;
    s = md_unit_inverse_sqrt(left);
    for (e = row->first; e < end; e++) sim->entry[e] = md_unit_mul(s, sim->entry[e]);
    row->soft = md_unit_mul(row->soft, md_unit_mul(s, s));
    row->scale = md_mul(row->scale, md_of_unit(s, 0));
    return 1;
}

/* The vector of row k, into its entries, and what it asks. Needs L and the rows before it. */
MD_STATIC void md_set_up_row(mdyn_sim *sim, int k, enum md_mode mode, int exact)
{
    md_row *row = &sim->row[k];
    const int given = exact || sim->model->solver.equality == MDYN_EXACT ? row->owned : 0;
    const int first = row->first;
    md_unit owned = MD_U(0);
    md_terms t;
    int e, there;
    row->flags = row->active = row->turns = row->resting = 0;
    row->given = (int16_t)given;
    md_row_terms(sim, row, &t);
    row->scale = md_whiten(sim, &t);
    row->Jv = md_row_speed(sim, &t);
    there = md_row_ask(sim, row, &t);
    if (mode != MD_STEP) {
        row->cfm = MD_K(0);
        if (mode == MD_ACCELERATION) row->low = row->high = row->Jv;
        if (mode == MD_PLACE) row->low = row->high = md_sub(row->Jv, row->error);
        if (mode == MD_HALT) row->low = row->high = md_of_wide(sim->coupling[row->index].speed);
    }
    row->soft = md_unit_of(md_mul(row->cfm, md_mul(row->scale, row->scale)), 0);
    if (exact && !md_is_zero(row->cfm)) sim->w[sim->dofs + k] = md_unit_sqrt(row->soft);
    for (e = first; e < first + given; e++) {
        const md_row *owner = &sim->row[sim->owner[sim->entry_at[e]]];
        if (!owner->turns) continue;
        md_reflect_lone(sim, owner, sim->w);
        md_reflect_shared(sim, owner, sim->w);
    }
    for (e = first; e < first + given; e++) {
        sim->entry[e] = sim->w[sim->entry_at[e]];
        sim->w[sim->entry_at[e]] = MD_U(0);
        owned = md_unit_add(owned, md_unit_mul(sim->entry[e], sim->entry[e]));
    }
    if (exact) row->turns = (uint8_t)md_own(sim, row, owned);
    else row->active = (uint8_t)md_share(sim, row, owned);
    if (!there) row->turns = row->active = 0;
    else if (!row->turns && !row->active) row->flags = MDYN_ROW_REDUNDANT;
}

/* A row with room between its bounds rests until the motion would leave them: it is set up only
   if it pushed in the last step, or when it turns out to be needed (see md_wake_rows). */
MD_STATIC int md_row_may_rest(const mdyn_sim *sim, const md_row *row)
{
    if (sim->model->solver.equality == MDYN_ITERATED) return 0;
    return row->kind == MDYN_ROW_LIMIT
        || (row->kind == MDYN_ROW_COUPLING && !md_coupling_is_equality(&sim->coupling[row->index]));
}

/* Whether a row is one of the exact ones of a mode. */
MD_INLINE int md_row_is_exact(const mdyn_sim *sim, const md_row *row, enum md_mode mode)
{
    if (!row->boundless) return 0;
    if (mode == MD_STEP) return sim->model->solver.equality == MDYN_EXACT;
    return row->kind == MDYN_ROW_COUPLING
        && md_softness_is_hard(&sim->coupling[row->index].softness)
        && (mode != MD_PLACE || sim->coupling[row->index].level == MDYN_POSITION);
}

/* Takes row k into the solve: bounded ones in their order behind the exact ones. */
MD_STATIC void md_enlist(mdyn_sim *sim, int k, enum md_mode mode, int exact)
{
    int i = sim->lives++;
    for (; i > sim->exacts && sim->live[i - 1] > k; i--) sim->live[i] = sim->live[i - 1];
    sim->live[i] = (int16_t)k;
    sim->exacts = (int16_t)(sim->exacts + exact);
    md_set_up_row(sim, k, mode, exact);
}

/* Sets up all rows of a mode, the exact ones first. */
MD_STATIC void md_set_up_rows(mdyn_sim *sim, enum md_mode mode)
{
    int k, i;
    for (i = 0; i < sim->lives; i++) sim->row[sim->live[i]].turns = 0;
    sim->lives = sim->exacts = 0;
    for (i = 0; i < sim->rows; i++) {
        k = sim->order[i];
        if (!sim->row[k].boundless) break;
        if (md_row_is_exact(sim, &sim->row[k], mode)) md_enlist(sim, k, mode, 1);
    }
    if (mode == MD_STEP && sim->model->solver.equality == MDYN_ITERATED) i = 0;
    for (; i < sim->rows && mode == MD_STEP; i++) {
        k = sim->order[i];
        sim->row[k].resting = (uint8_t)(md_is_zero(sim->outcome[k].impulse)
                                        && md_row_may_rest(sim, &sim->row[k]));
        if (!sim->row[k].resting) md_enlist(sim, k, mode, 0);
    }
}

/* The rank of a row in the order of setting up: hard couplings first, of positions, of speeds;
   then the other boundless rows, then the bounded ones. So the rows of every mode are a beginning
   of the list. */
MD_STATIC int md_row_rank(const mdyn_sim *sim, const md_row *row)
{
    if (!row->boundless) return 3;
    if (row->kind != MDYN_ROW_COUPLING
        || !md_softness_is_hard(&sim->coupling[row->index].softness)) return 2;
    return sim->coupling[row->index].level == MDYN_VELOCITY;
}

/* Marks in sim->mark what a row touches: its speeds, those on their way to the world, its private
   coordinate, and what the reflections of the rows before it in the order bring in. */
MD_STATIC void md_mark_row(mdyn_sim *sim, int k, int before)
{
    md_terms t;
    int i, j, e, hit_lone, hit;
    md_row_terms(sim, &sim->row[k], &t);
    for (j = 0; j < t.count; j++)
        for (i = t.dof[j]; i >= 0; i = sim->dof[i].up) sim->mark[i] = 1;
    if (sim->row[k].boundless && md_row_rank(sim, &sim->row[k]) == 2) sim->mark[sim->dofs + k] = 1;
    for (i = 0; i < before; i++) {
        const md_row *row = &sim->row[sim->order[i]];
        const int lone = row->first + row->owned, shared = lone + row->lone, end = md_row_end(row);
        if (row->pivot < 0) continue;
        for (hit_lone = 0, e = lone; e < shared; e++) hit_lone |= sim->mark[sim->entry_at[e]];
        for (hit = hit_lone; e < end; e++) hit |= sim->mark[sim->entry_at[e]];
        for (e = lone; hit_lone && e < shared; e++) sim->mark[sim->entry_at[e]] = 1;
        for (e = shared - 1; hit && e < end; e++) sim->mark[sim->entry_at[e]] = 1;
    }
}

/* Appends an entry at coordinate c if there is room. */
MD_INLINE void md_plan_entry(mdyn_sim *sim, int c)
{
    if (sim->entries < MIMICDYN_MAX_ENTRIES) sim->entry_at[sim->entries] = (int16_t)c;
    sim->entries++; /* md_plan_row looks whether it was too many */
    sim->mark[c] = 0;
}

/* Lays out the entries of the row at place i of the order. */
MD_STATIC int md_plan_row(mdyn_sim *sim, int i)
{
    const int k = sim->order[i], space = sim->dofs + sim->rows;
    md_row *row = &sim->row[k];
    int j, c;
    row->first = (int16_t)sim->entries;
    row->pivot = -1;
    md_mark_row(sim, k, i);
    for (j = 0; j < i; j++) {
        c = sim->row[sim->order[j]].pivot;
        if (c >= 0 && sim->mark[c]) md_plan_entry(sim, c);
    }
    row->owned = (int16_t)(sim->entries - row->first);
    for (c = space - 1; c >= 0; c--) {
        if (!sim->mark[c] || (row->boundless && c < sim->dofs && sim->last_use[c] > i)) continue;
        md_plan_entry(sim, c);
        row->pivot = (int16_t)c;
    }
    for (c = space - 1; c >= 0 && row->pivot < 0; c--) { /* none of its own: one of the shared */
        if (!sim->mark[c]) continue;
        md_plan_entry(sim, c);
        row->pivot = (int16_t)c;
    }
    row->lone = (int16_t)(sim->entries - row->first - row->owned);
    for (c = space - 1; c >= 0; c--)
        if (sim->mark[c]) md_plan_entry(sim, c);
    row->shared = (int16_t)(sim->entries - row->first - row->owned - row->lone);
    if (!row->boundless) row->pivot = -1;
    return sim->entries > MIMICDYN_MAX_ENTRIES ? md_blame(sim, MDYN_ERR_CAPACITY_ENTRIES, -1)
                                               : MDYN_OK;
}

/* Finds the order of the rows, the places of their entries, and which exact rows depend on others:
   from the joints that they touch, and for the last from their vectors in the present pose (that
   they depend on each other does not change with it). */
MD_STATIC int md_plan(mdyn_sim *sim)
{
    md_row *row;
    int i, j, k, n = 0, code = MDYN_OK;
    for (k = 0; k < sim->dofs; k++) {
        sim->b[k] = MD_U(0);
        sim->last_use[k] = -1;
    }
    for (k = 0; k < sim->dofs + sim->rows; k++) {
        sim->mark[k] = 0;
        sim->owner[k] = -1;
        sim->w[k] = MD_U(0);
    }
    for (k = 0; k < sim->rows; k++) {
        sim->row[k].boundless = (uint8_t)md_row_is_boundless(sim, &sim->row[k]);
        sim->row[k].turns = 0;
    }
    for (j = 0; j < 4; j++)
        for (k = 0; k < sim->rows; k++)
            if (md_row_rank(sim, &sim->row[k]) == j) sim->order[n++] = (int16_t)k;
    for (i = 0; i < n && sim->row[sim->order[i]].boundless; i++) {
        md_mark_row(sim, sim->order[i], 0);
        for (k = 0; k < sim->dofs + sim->rows; k++) {
            if (sim->mark[k] && k < sim->dofs) sim->last_use[k] = (int16_t)i;
            sim->mark[k] = 0;
        }
    }
    sim->entries = sim->path[sim->dofs];
    sim->dropped = 0;
    for (i = 0; i < n && code == MDYN_OK; i++) {
        row = &sim->row[sim->order[i]];
        code = md_plan_row(sim, i);
        if (code != MDYN_OK || !row->boundless) continue;
        md_set_up_row(sim, sim->order[i], MD_STEP, 1);
        if (row->turns) {
            sim->owner[row->pivot] = sim->order[i];
        } else { /* depends on the rows before it */
            row->pivot = -1;
            sim->dropped++;
        }
    }
    return code;
}

/* Of a row of unit length, what owned coordinates give it: u holds their speeds. */
MD_INLINE md_unit md_given(const mdyn_sim *sim, const md_row *row, const md_unit *u)
{
    return md_dot_at(sim->entry + row->first, sim->entry_at + row->first, row->given, u);
}

/* u at owned coordinates += s times the row's entries there */
MD_INLINE void md_give(const mdyn_sim *sim, const md_row *row, md_unit s, md_unit *u)
{
    md_add_at(u, s, sim->entry + row->first, sim->entry_at + row->first, row->given);
}

/* What a row asks beyond the present speed, for its unit length. */
MD_INLINE md_unit md_ask(const md_row *row, md_num speed, md_scale e)
{
    return md_unit_of(md_mul(row->scale, md_sub(speed, row->Jv)), e);
}

/* The speeds of the owned coordinates, into sim->y: one after the other, R^T y = u_low. */
MD_STATIC void md_substitute(mdyn_sim *sim)
{
    int k;
    for (k = 0; k < sim->exacts; k++) {
        const md_row *row = &sim->row[sim->live[k]];
        if (row->turns)
            sim->y[row->pivot] = md_unit_div(md_unit_sub(row->u_low, md_given(sim, row, sim->y)),
                                             row->diagonal);
        else if (row->pivot >= 0)
            sim->y[row->pivot] = sim->du[row->pivot];
    }
}

/* A row that earlier rows decide: do they decide otherwise than it asks? */
MD_STATIC int md_contradicts(const mdyn_sim *sim, const md_row *row, md_scale e, md_unit *miss)
{
    md_unit size = md_unit_abs(row->u_low);
    int k;
    for (k = row->first; k < row->first + row->given; k++)
        size = md_unit_add(size, md_unit_abs(md_unit_mul(sim->entry[k],
                                                         sim->y[sim->entry_at[k]])));
    size = md_unit_add(size, md_unit_abs(md_unit_of(md_mul(row->scale, row->Jv), e)));
    *miss = md_unit_sub(row->u_low, md_given(sim, row, sim->y));
    return md_unit_less(md_unit_mul(MD_U(MD_AGREED), size), md_unit_abs(*miss));
}

/* Contradictory rows meet where the sum of all squared misses is least. Exact row k, the sum of a_j
   times row j, ends with a miss m; the rows j shift by a_j m. Returns by how much m changed.
   sim->du at owned coordinates is scratch, row->u_high of row k holds m. */
MD_STATIC md_unit md_compromise(mdyn_sim *sim, int k, md_unit miss)
{
    md_unit size = MD_U(1);
    md_row *row;
    int j;
    for (j = 0; j < k; j++) {
        row = &sim->row[sim->live[j]];
        if (row->turns) sim->du[row->pivot] = MD_U(0);
    }
    md_give(sim, &sim->row[sim->live[k]], MD_U(1), sim->du);
    for (j = k; j-- > 0;) {
        row = &sim->row[sim->live[j]];
        if (!row->turns) continue;
        row->u_lambda = md_unit_div(sim->du[row->pivot], row->diagonal);
        md_give(sim, row, md_unit_neg(row->u_lambda), sim->du);
        size = md_unit_add(size, md_unit_mul(row->u_lambda, row->u_lambda));
    }
    row = &sim->row[sim->live[k]];
    miss = md_unit_div(md_unit_sub(miss, row->u_high), size);
    row->u_high = md_unit_add(row->u_high, miss);
    for (j = 0; j < k; j++) {
        row = &sim->row[sim->live[j]];
        if (row->turns) row->u_low = md_unit_add(row->u_low, md_unit_mul(miss, row->u_lambda));
    }
    return md_unit_abs(miss);
}

/* Turns sim->du with the reflections, and gives the owned coordinates what their rows ask;
   row->u_high keeps what they had before. */
MD_STATIC void md_satisfy(mdyn_sim *sim, md_scale e)
{
    int k, pass, contradictory = 0;
    md_unit miss, moved, first = MD_U(0);
    md_row *row;
    for (k = 0; k < sim->exacts; k++) {
        row = &sim->row[sim->live[k]];
        row->u_low = md_ask(row, row->low, e);
        if (!row->turns) continue;
        md_reflect_lone(sim, row, sim->du);
        md_reflect_shared(sim, row, sim->du);
        row->u_high = sim->du[row->pivot];
    }
    md_substitute(sim);
    for (k = 0; k < sim->exacts; k++) {
        row = &sim->row[sim->live[k]];
        if (!(row->flags & MDYN_ROW_REDUNDANT)) continue;
        row->u_high = MD_U(0);
        if (md_contradicts(sim, row, e, &miss)) row->flags |= MDYN_ROW_CONTRADICTORY;
        contradictory |= row->flags & MDYN_ROW_CONTRADICTORY;
    }
    for (pass = 0; pass < 100 && contradictory; pass++) {
        moved = MD_U(0);
        for (k = 0; k < sim->exacts; k++) {
            row = &sim->row[sim->live[k]];
            if (!(row->flags & MDYN_ROW_REDUNDANT)) continue;
            md_contradicts(sim, row, e, &miss);
            moved = md_unit_add(moved, md_compromise(sim, k, miss));
            md_substitute(sim);
        }
        if (pass == 0) first = moved;
        else if (!md_unit_less(md_unit_mul(MD_U(MD_EPSILON), first), moved)) break;
    }
    for (k = 0; k < sim->exacts; k++) {
        row = &sim->row[sim->live[k]];
        if (row->turns) sim->du[row->pivot] = sim->y[row->pivot];
    }
}

/* sim->z = sim->du, turned back by the reflections. */
MD_STATIC void md_turn_back(mdyn_sim *sim, md_scale e)
{
    int k;
    md_copy_units(sim->y, sim->du, sim->dofs + sim->rows);
    for (k = sim->exacts - 1; k >= 0; k--) {
        const md_row *row = &sim->row[sim->live[k]];
        if (!row->turns) continue;
        md_reflect_shared(sim, row, sim->y);
        md_reflect_lone(sim, row, sim->y);
    }
    md_of_units(sim->z, sim->y, sim->dofs, e);
}

/* Where the next step's sweeps begin with a bounded row: at its impulse, less what the sweeps would
   have added if each had moved it as far as the last one. Rows that cannot all hold drift so, and
   would push harder from step to step; what converges, by a factor r in each of n sweeps, goes on
   to do so: by r^n (1 + n (1 - r)/r) < 1 in each step for n > 1. */
MD_INLINE md_num md_start_of(const mdyn_sim *sim, const md_row *row, md_scale e)
{
    md_num zero = MD_K(0), start = md_of_unit(row->u_lambda, e), drift;
    if (md_unit_is_zero(row->u_moved)) return md_mul(row->scale, start);
    drift = md_mul(md_of_int(sim->sweeps), md_of_unit(row->u_moved, e));
    if (md_less(zero, start) && md_less(zero, drift)) start = md_max(zero, md_sub(start, drift));
    if (md_less(start, zero) && md_less(drift, zero)) start = md_min(zero, md_sub(start, drift));
    return md_mul(row->scale, start);
}

/* The impulses of all rows. Those of the exact rows, last row first, from how far the owned
   coordinates were moved, less what the bounded rows did to them: R lambda = y. */
MD_STATIC void md_settle(mdyn_sim *sim, md_scale e)
{
    int k;
    md_row *row;
    for (k = 0; k < sim->exacts; k++) {
        row = &sim->row[sim->live[k]];
        row->impulse = row->start = MD_K(0);
        if (row->turns) sim->y[row->pivot] = md_unit_sub(sim->du[row->pivot], row->u_high);
    }
    for (; k < sim->lives; k++) {
        row = &sim->row[sim->live[k]];
        row->impulse = row->start = MD_K(0);
        if (!row->active) continue;
        md_give(sim, row, md_unit_neg(row->u_lambda), sim->y);
        row->start = md_start_of(sim, row, e);
        row->impulse = !md_unit_less(row->u_lambda, row->u_most) ? row->most
            : !md_unit_less(row->u_least, row->u_lambda) ? row->least
            : md_mul(row->scale, md_of_unit(row->u_lambda, e));
    }
    for (k = sim->exacts - 1; k >= 0; k--) {
        row = &sim->row[sim->live[k]];
        if (!row->turns) continue;
        row->u_lambda = md_unit_div(sim->y[row->pivot], row->diagonal);
        row->impulse = row->start = md_mul(row->scale, md_of_unit(row->u_lambda, e));
        md_give(sim, row, md_unit_neg(row->u_lambda), sim->y);
    }
}

/* =============================================================================== // >>pgs
   The bounded rows by projected Gauss-Seidel with over-relaxation, in their order:
      lambda := clamp(max(lambda + omega (low - s), 0) + min(lambda + omega (high - s), 0)),
      s = x du + soft lambda,   du += x d_lambda
   which holds an impulse > 0 against low, < 0 against high, and for low = high is the ordinary
   sweep. Source: ODE's SOR-PGS; PhysX mimic joints (16) with the accumulated impulse. */

MD_STATIC void md_begin_row(mdyn_sim *sim, int k, md_scale e)
{
    md_row *row = &sim->row[k];
    const int first = row->first + row->given;
    md_num length = md_div(MD_K(1), row->scale), impulse = sim->outcome[k].start;
    md_unit given = md_given(sim, row, sim->du);
    row->u_low = md_unit_sub(md_ask(row, row->low, e), given);
    row->u_high = md_unit_sub(md_ask(row, row->high, e), given);
    row->u_least = md_unit_of(md_mul(row->least, length), e);
    row->u_most = md_unit_of(md_mul(row->most, length), e);
    row->u_lambda = row->u_moved = MD_U(0);
    if (sim->model->solver.start != MDYN_WARM || md_is_zero(impulse)) return;
    impulse = md_max(row->least, md_min(row->most, impulse));
    row->u_lambda = md_unit_of(md_mul(length, impulse), e);
    md_add_at(sim->du, row->u_lambda, sim->entry + first, sim->entry_at + first,
              md_row_end(row) - first);
}

/* One visit; returns by how much the impulse moved. */
MD_INLINE md_unit md_visit(mdyn_sim *sim, md_row *row, md_unit omega)
{
    const int first = row->first + row->given, count = md_row_end(row) - first;
    const md_unit *x = sim->entry + first;
    const int16_t *at = sim->entry_at + first;
    md_unit zero = MD_U(0), old = row->u_lambda, up, down, d;
    md_unit s = md_unit_add(md_dot_at(x, at, count, sim->du), md_unit_mul(row->soft, old));
    up = md_unit_add(old, md_unit_mul(omega, md_unit_sub(row->u_low, s)));
    down = md_unit_add(old, md_unit_mul(omega, md_unit_sub(row->u_high, s)));
    d = md_unit_less(zero, up) ? up : md_unit_less(down, zero) ? down : zero;
    if (md_unit_less(d, row->u_least)) d = row->u_least;
    if (md_unit_less(row->u_most, d)) d = row->u_most;
    row->u_lambda = d;
    d = md_unit_sub(d, old);
    row->u_moved = d;
    if (!md_unit_is_zero(d)) md_add_at(sim->du, d, x, at, count);
    return d;
}

/* Sweeps until nothing moves beside the largest impulse and the motion, whose rounding errors all
   impulses carry; at most so many as the solver's setting leaves since `from`, but one. The motion
   is sim->du after the second sweep, when it does not hold any more what the warm start had wrong;
   it is looked at only if the impulses alone would have more sweeps. */
MD_STATIC void md_sweep(mdyn_sim *sim, int32_t from)
{
    const mdyn_solver *solver = &sim->model->solver;
    md_num omega = md_of_wide(solver->relaxation), tolerance = md_of_wide(solver->tolerance);
    md_unit step, part, moved, largest, motion = MD_U(0);
    const int32_t first = sim->sweeps;
    int most = solver->sweeps ? solver->sweeps : 100, k;
    if (md_is_zero(omega)) omega = MD_K(1);
    if (md_is_zero(tolerance)) tolerance = MD_K(8 * MD_EPSILON);
    step = md_unit_of(omega, 0);
    part = md_unit_of(tolerance, 0);
    do {
        moved = MD_U(0);
        largest = motion;
        for (k = sim->exacts; k < sim->lives; k++) {
            md_row *row = &sim->row[sim->live[k]];
            md_unit d;
            if (!row->active) continue;
            d = md_unit_abs(md_visit(sim, row, step));
            if (md_unit_less(moved, d)) moved = d;
            if (md_unit_less(largest, d)) largest = d;
            d = md_unit_abs(row->u_lambda);
            if (md_unit_less(largest, d)) largest = d;
        }
        if (sim->sweeps == first + 1 && md_unit_less(md_unit_mul(part, largest), moved)) {
            motion = md_units_largest(sim->du, sim->dofs);
            if (md_unit_less(largest, motion)) largest = motion;
        }
        sim->residual = md_unit_is_zero(moved) ? 0
            : md_to_wide(md_of_unit(md_unit_div(moved, largest), 0));
        if (md_unit_is_zero(moved)) return;
        sim->sweeps++;
    } while (md_unit_less(md_unit_mul(part, largest), moved) && sim->sweeps - from < most);
}

/* Whether a resting row is needed: C or where the motion sim->z takes it is out of its range. */
MD_STATIC int md_row_is_needed(const mdyn_sim *sim, const md_row *row)
{
    const md_num endless = MD_K(1e12);
    md_num C, lower, upper, way;
    md_terms t;
    int k;
    if (row->kind == MDYN_ROW_LIMIT) {
        const md_dof *d = &sim->dof[row->index];
        const mdyn_body *b = &sim->model->bodies[d->body];
        lower = md_of_wide(b->lower);
        upper = md_of_wide(b->upper);
        C = md_coordinate_of(sim->q[d->coordinate], sim->q_tail[d->coordinate]);
        way = md_add(md_of_real(sim->v[row->index]), sim->z[row->index]);
    } else {
        lower = md_of_wide(sim->coupling[row->index].lower);
        upper = md_of_wide(sim->coupling[row->index].upper);
        md_row_terms(sim, row, &t);
        C = md_row_position(sim, row, &t);
        way = md_row_speed(sim, &t);
        for (k = 0; k < t.count; k++)
            way = md_add(way, md_mul(t.coefficient[k], sim->z[t.dof[k]]));
    }
    way = md_add(C, md_mul(sim->dt, way));
    return ((md_less(C, lower) || md_less(way, lower)) && md_less(md_neg(endless), lower))
        || ((md_less(upper, C) || md_less(upper, way)) && md_less(upper, endless));
}

/* Takes in the resting rows that are needed; returns how many. */
MD_STATIC int md_wake_rows(mdyn_sim *sim, md_scale e)
{
    int k, woken = 0;
    for (k = 0; k < sim->rows; k++) {
        md_row *row = &sim->row[k];
        if (!row->resting || !md_row_is_needed(sim, row)) continue;
        md_enlist(sim, k, MD_STEP, 0);
        if (!row->active) continue;
        md_begin_row(sim, k, e);
        woken++;
    }
    return woken;
}

/* ============================================================================== // >>step */

/* Quaternion q := q exp(u/2) for a small turn u in the body's axes: the increments are added to
   q and its tails, and its length is led back to 1. */
MD_STATIC void md_turn_quaternion(mdyn_real *q, md_tail *tail, const md_vec *u)
{
    md_num half = MD_K(0.5), w = md_of_real(q[0]), x = md_of_real(q[1]), y = md_of_real(q[2]);
    md_num z = md_of_real(q[3]), length2 = md_square_length(q), n2, n, s, c, lack, d[4];
    md_vec e;
    int k;
    if (md_less(MD_K(1e-3), md_abs(md_sub(length2, MD_K(1))))) {
        n = md_rsqrt(length2);
        w = md_mul(n, w); x = md_mul(n, x); y = md_mul(n, y); z = md_mul(n, z);
        q[0] = md_to_real(w); q[1] = md_to_real(x); q[2] = md_to_real(y); q[3] = md_to_real(z);
        for (k = 0; k < 4; k++) tail[k] = 0;
        length2 = md_square_length(q);
    }
    md_vec_scale(&e, half, u);
    n2 = md_dot(&e, &e);
    if (md_less(n2, MD_K(1e-6))) { /* sin n/n and cos n - 1 by their series */
        s = md_sub(MD_K(1), md_mul(n2, md_sub(MD_K(1.0 / 6), md_mul(n2, MD_K(1.0 / 120)))));
        c = md_mul(n2, md_sub(md_mul(n2, MD_K(1.0 / 24)), half));
    } else {
        n = md_sqrt(n2);
        md_sincos(md_to_real(n), 0, &s, &c);
        s = md_div(s, n);
        c = md_sub(c, MD_K(1));
    }
    /* the turn times 1 + lack, what the length lacks: c := (1 + lack) cos n - 1 */
    lack = md_mul(half, md_sub(MD_K(1), length2));
    md_vec_scale(&e, md_add(s, md_mul(lack, s)), &e);
    c = md_add(c, md_add(lack, md_mul(lack, c)));
    d[0] = md_sub(md_mul(c, w), md_sum3(x, e.x, y, e.y, z, e.z));
    d[1] = md_add(md_sum2(c, x, w, e.x), md_det2(y, e.z, z, e.y));
    d[2] = md_add(md_sum2(c, y, w, e.y), md_det2(z, e.x, x, e.z));
    d[3] = md_add(md_sum2(c, z, w, e.z), md_det2(x, e.y, y, e.x));
    for (k = 0; k < 4; k++) md_accumulate(&q[k], &tail[k], d[k]);
}

/* Whether x + d stays in range, 2^23 with room for rounding. */
MD_INLINE int md_stays(mdyn_real x, md_num d)
{
    return md_less(md_abs(md_add(md_of_real(x), d)), MD_K(8388600));
}

/* Whether v + dv (unless NULL) and q (+) u (unless NULL) stay in range; nothing is written. */
MD_STATIC int md_check_motion(mdyn_sim *sim, const md_num *dv, const md_num *u)
{
    int i, k, c;
    for (k = 0; dv && k < sim->dofs; k++)
        if (!md_stays(sim->v[k], dv[k])) return md_blame(sim, MDYN_ERR_OVERFLOW, k);
    for (k = 0; u && k < sim->dofs; k++) {
        c = sim->dof[k].coordinate;
        if (!md_stays(c < 0 ? 0 : sim->q[c], u[k])) return md_blame(sim, MDYN_ERR_OVERFLOW, k);
    }
    for (i = 0; u && sim->coordinates > sim->dofs && i < sim->bodies; i++) {
        const md_link *link = &sim->link[i];
        const md_num *d = u + link->dof + 3;
        md_num way;
        if (link->joint != MDYN_FREE) continue; /* whichever way its axes point: */
        way = md_add(md_add(md_abs(d[0]), md_abs(d[1])), md_abs(d[2]));
        for (c = link->coordinate; c < link->coordinate + 3; c++)
            if (!md_stays(sim->q[c], way) || !md_stays(sim->q[c], md_neg(way)))
                return md_blame(sim, MDYN_ERR_OVERFLOW, c);
    }
    return MDYN_OK;
}

/* q := q (+) u for displacements u of all speeds that md_check_motion has passed. */
MD_STATIC void md_displace(mdyn_sim *sim, const md_num *u)
{
    int i, k;
    for (k = 0; k < sim->dofs; k++) {
        i = sim->dof[k].coordinate;
        if (i >= 0) md_accumulate(&sim->q[i], &sim->q_tail[i], u[k]);
    }
    for (i = 0; sim->coordinates > sim->dofs && i < sim->bodies; i++) {
        const md_link *link = &sim->link[i];
        mdyn_real *q = sim->q + link->coordinate;
        md_tail *tail = sim->q_tail + link->coordinate;
        const md_num *d = u + link->dof;
        md_vec turn, shift;
        md_mat R;
        if (link->dofs < 3) continue;
        md_vec_set(&turn, d[0], d[1], d[2]);
        if (link->joint == MDYN_FREE) {
            md_mat_of_quaternion(&R, md_of_real(q[3]), md_of_real(q[4]), md_of_real(q[5]),
                                 md_of_real(q[6]));
            md_vec_set(&shift, d[3], d[4], d[5]);
            md_mat_vec(&shift, &R, &shift);
            md_accumulate(&q[0], &tail[0], shift.x);
            md_accumulate(&q[1], &tail[1], shift.y);
            md_accumulate(&q[2], &tail[2], shift.z);
            q += 3;
            tail += 3;
        }
        md_turn_quaternion(q, tail, &turn);
    }
    md_copy(sim->q_seen, sim->q, sim->coordinates);
    sim->stale = 1;
}

/* v := v + dv */
MD_STATIC void md_hasten(mdyn_sim *sim, const md_num *dv)
{
    int k;
    for (k = 0; k < sim->dofs; k++) md_accumulate(&sim->v[k], &sim->v_tail[k], dv[k]);
    md_copy(sim->v_seen, sim->v, sim->dofs);
    sim->stale = 1;
}

MD_INLINE int md_all_in_range(const mdyn_real *x, int n)
{
    md_bits excess = 0;
    int k;
    for (k = 0; k < n; k++) excess |= md_excess(x[k]);
    return excess <= MD_BITS_MAGNITUDE;
}

/* What the drives are told, if there are any. */
MD_STATIC int md_check_targets(mdyn_sim *sim)
{
    if (!sim->drives) return MDYN_OK;
    if (!md_all_in_range(sim->target, sim->dofs)) return md_blame_number(sim, sim->target);
    if (!md_all_in_range(sim->target_speed, sim->dofs))
        return md_blame_number(sim, sim->target_speed);
    return MDYN_OK;
}

/* Commands and wrenches. */
MD_STATIC int md_check_inputs(mdyn_sim *sim)
{
    int i;
    if (!md_all_in_range(sim->tau, sim->dofs)) return md_blame_number(sim, sim->tau);
    for (i = 0; i < sim->bodies; i++)
        if (!md_wrench_is_zero(&sim->wrench[i]) && !md_all_in_range(&sim->wrench[i].moment.x, 6))
            return md_blame(sim, MDYN_ERR_STATE, i);
    return MDYN_OK;
}

/* Inputs checked, kinematics up to date, L for the step (dt) or for now (0). */
MD_STATIC int md_ready_dynamics(mdyn_sim *sim, md_num dt)
{
    int code = md_check_inputs(sim);
    if (code == MDYN_OK) code = md_refresh(sim);
    if (code == MDYN_OK) code = md_factor(sim, dt);
    return code;
}

/* What the rows of a mode make of the whitened motion sim->z (in MD_STEP: times dt); as changes of
   speed, in sim->z. */
MD_STATIC void md_apply_rows(mdyn_sim *sim, enum md_mode mode)
{
    md_scale e = md_scale_of(sim->z, sim->dofs);
    int32_t from = 0;
    int k, woken = 1;
    md_set_up_rows(sim, mode);
    md_units_of(sim->du, sim->z, mode == MD_STEP ? sim->dt : MD_K(1), sim->dofs, e);
    for (k = sim->dofs; k < sim->dofs + sim->rows; k++) sim->du[k] = MD_U(0);
    md_satisfy(sim, e);
    for (k = sim->exacts; k < sim->lives; k++)
        if (sim->row[sim->live[k]].active) md_begin_row(sim, sim->live[k], e);
    sim->sweeps = 0;
    while (woken > 0) {
        if (mode == MD_STEP) md_sweep(sim, from);
        md_turn_back(sim, e);
        md_outward(sim, sim->z);
        woken = mode == MD_STEP ? md_wake_rows(sim, e) : 0;
        if (from == 0) from = sim->sweeps; /* rows that wake have their own sweeps, in all */
    }
    md_settle(sim, e);
}

MD_STATIC void md_report_rows(mdyn_sim *sim)
{
    int k;
    sim->report.sweeps = (int16_t)(sim->sweeps < INT16_MAX ? sim->sweeps : INT16_MAX);
    sim->report.residual = sim->residual;
    sim->report.redundant = sim->report.contradictory = 0;
    sim->report.entries = (int16_t)sim->entries;
    for (k = 0; k < sim->rows; k++) sim->outcome[k].resting = 1;
    for (k = 0; k < sim->lives; k++) {
        const md_row *row = &sim->row[sim->live[k]];
        md_outcome *o = &sim->outcome[sim->live[k]];
        o->resting = 0;
        o->flags = row->flags;
        if (row->active && (!md_unit_less(row->u_least, row->u_lambda)
                            || !md_unit_less(row->u_lambda, row->u_most)))
            o->flags |= MDYN_ROW_SATURATED;
        if (row->flags & MDYN_ROW_REDUNDANT) sim->report.redundant++;
        if (row->flags & MDYN_ROW_CONTRADICTORY) sim->report.contradictory++;
        o->error = row->error;
        o->low = row->low;
        o->high = row->high;
        o->cfm = row->cfm;
        o->impulse = row->impulse;
        o->start = row->start;
    }
}

MD_STATIC int md_step(mdyn_sim *sim)
{
    int k, code = md_check_targets(sim);
    if (code == MDYN_OK) code = md_ready_dynamics(sim, sim->dt);
    if (code != MDYN_OK) return code;
    for (k = 0; k < sim->dofs; k++) {
        md_num damping = md_of_wide(sim->model->bodies[sim->dof[k].body].damping);
        sim->z[k] = md_sub(md_command(sim, k), md_mul(damping, md_of_real(sim->v[k])));
    }
    md_bias_wrenches(sim);
    md_gather(sim, sim->z);
    md_inward(sim, sim->z);
    md_apply_rows(sim, MD_STEP);
    for (k = 0; k < sim->dofs; k++)
        sim->u[k] = md_mul(sim->dt, md_add(md_of_real(sim->v[k]), sim->z[k]));
    code = md_check_motion(sim, sim->z, sim->u);
    if (code != MDYN_OK) return code;
    md_hasten(sim, sim->z);
    md_displace(sim, sim->u);
    md_report_rows(sim);
    return MDYN_OK;
}

/* Accelerations with the hard couplings holding, into sim->z. */
MD_STATIC int md_accelerate(mdyn_sim *sim)
{
    int code = md_ready_dynamics(sim, MD_K(0));
    if (code != MDYN_OK) return code;
    md_copy_in(sim->z, sim->tau, sim->dofs);
    md_bias_wrenches(sim);
    md_gather(sim, sim->z);
    md_inward(sim, sim->z);
    md_apply_rows(sim, MD_ACCELERATION);
    return MDYN_OK;
}

/* Accelerations without any row, into sim->z. */
MD_STATIC int md_fall(mdyn_sim *sim)
{
    int code = md_check_inputs(sim);
    if (code == MDYN_OK) code = md_refresh(sim);
    if (code != MDYN_OK) return code;
    md_copy_in(sim->u, sim->tau, sim->dofs);
    md_bias_wrenches(sim);
    code = md_articulate(sim, sim->u);
    if (code == MDYN_OK) md_release(sim);
    return code;
}

/* Inverse dynamics: the wrenches of the bias and of the accelerations a (NULL: none), handed
   inward; tau into sim->z. */
MD_STATIC void md_torques(mdyn_sim *sim, const mdyn_wide *a)
{
    int i, k;
    md_bias_wrenches(sim);
    for (i = 0; a && i < sim->bodies; i++) {
        const md_link *link = &sim->link[i];
        const md_pose *p = &sim->pose[i];
        md_motion *m = &sim->motion[i];
        md_vec t;
        md_vec_zero(&m->ang);
        md_vec_zero(&m->lin);
        if (link->parent >= 0) {
            *m = sim->motion[link->parent];
            md_add_cross(&m->lin, &m->ang, &p->arm);
        }
        for (k = link->dof; k < link->dof + link->dofs; k++)
            md_dof_add_motion(m, md_of_wide(a[k]), &sim->dof[k]);
        md_cross(&t, &m->ang, &p->moment);
        md_vec_add_scaled(&t, link->mass, &m->lin);
        md_vec_add(&sim->force[i].lin, &sim->force[i].lin, &t);
        md_sym_vec(&t, &p->inertia, &m->ang);
        md_add_cross(&t, &p->moment, &m->lin);
        md_vec_add(&sim->force[i].ang, &sim->force[i].ang, &t);
    }
    for (k = 0; k < sim->dofs; k++)
        sim->z[k] = !a ? MD_K(0) : md_neg(md_mul(md_of_wide(a[k]),
                                                 md_diagonal(sim, sim->dof[k].body, MD_K(0))));
    md_gather(sim, sim->z);
    for (k = 0; k < sim->dofs; k++) sim->z[k] = md_neg(sim->z[k]);
}

/* z = L^-T e_i */
MD_STATIC void md_unit_impulse(mdyn_sim *sim, int i, md_num *z)
{
    int k;
    for (k = 0; k < sim->dofs; k++) z[k] = MD_K(k == i);
    md_inward(sim, z);
}

/* A hard coupling of exactly two joints and without bounds ties their positions. */
MD_STATIC int md_coupling_ties(const mdyn_coupling *c, md_terms *t, const mdyn_sim *sim)
{
    md_row row;
    if (c->level != MDYN_POSITION || !md_softness_is_hard(&c->softness)
        || !md_coupling_is_equality(c) || !md_is_null(c->effort)) return 0;
    row.kind = MDYN_ROW_COUPLING;
    row.index = (int16_t)(c - sim->coupling);
    md_row_terms(sim, &row, t);
    return t->count == 2;
}

/* Narrows [lower, upper] to the q with lo <= x q + z <= hi; x is a sum of terms of this `size`. */
MD_STATIC void md_narrow(md_num *lower, md_num *upper, md_num lo, md_num hi, md_num x, md_num z,
                         md_num size)
{
    const md_num none = MD_K(1e12), slack = md_mul(MD_K(MD_AGREED), md_add(MD_K(1), md_abs(z)));
    int turned = md_less(x, MD_K(0)), open_below = !md_less(md_neg(none), lo);
    int open_above = !md_less(hi, none);
    if (!md_less(md_mul(MD_K(MD_AGREED), size), md_abs(x))) { /* whatever q is: all or nothing */
        if ((open_below || !md_less(md_add(z, slack), lo))
            && (open_above || !md_less(hi, md_sub(z, slack)))) return;
        *lower = none;
        *upper = md_neg(none);
        return;
    }
    if (!open_below) lo = md_div(md_sub(lo, z), x);
    if (!open_above) hi = md_div(md_sub(hi, z), x);
    if (!(turned ? open_above : open_below)) *lower = md_max(*lower, turned ? hi : lo);
    if (!(turned ? open_below : open_above)) *upper = md_min(*upper, turned ? lo : hi);
}

/* A hard coupling without a bound on its effort whose joints are all tied: C = x q + z. One of
   which q does not move C is left out if it is an equality: it ties, repeats or contradicts. */
MD_STATIC void md_narrow_by_coupling(const mdyn_sim *sim, int i, md_num *lower, md_num *upper)
{
    const mdyn_coupling *c = &sim->coupling[i];
    md_num x = MD_K(0), z = md_of_wide(c->offset), size = MD_K(0), part;
    md_terms t;
    int k;
    if (c->level != MDYN_POSITION || !md_softness_is_hard(&c->softness) || !md_is_null(c->effort))
        return;
    md_row_terms(sim, &sim->row[i], &t);
    for (k = 0; k < t.count; k++) {
        if (!sim->mark[t.dof[k]]) return;
        part = md_mul(t.coefficient[k], sim->u[t.dof[k]]);
        x = md_add(x, part);
        size = md_add(size, md_abs(part));
        z = md_add(z, md_mul(t.coefficient[k], sim->z[t.dof[k]]));
    }
    if (md_coupling_is_equality(c) && !md_less(md_mul(MD_K(MD_AGREED), size), md_abs(x))) return;
    md_narrow(lower, upper, md_of_wide(c->lower), md_of_wide(c->upper), x, z, size);
}

/* The range that limits and couplings leave the coordinate of speed `dof`: every speed tied to it
   has q = x q_dof + z with x, z in sim->u, sim->z; sim->mark marks the tied ones. */
MD_STATIC void md_find_range(mdyn_sim *sim, int dof, md_num *lower, md_num *upper)
{
    int i, k, found = 1;
    md_terms t;
    for (k = 0; k < sim->dofs; k++) sim->mark[k] = 0;
    sim->mark[dof] = 1;
    sim->u[dof] = MD_K(1);
    sim->z[dof] = MD_K(0);
    while (found)
        for (found = 0, i = 0; i < sim->couplings; i++) {
            const mdyn_coupling *c = &sim->coupling[i];
            int from, to;
            if (!md_coupling_ties(c, &t, sim)) continue;
            from = sim->mark[t.dof[0]] ? 0 : 1;
            to = 1 - from;
            if (!sim->mark[t.dof[from]] || sim->mark[t.dof[to]]) continue;
            /* c_to q_to + c_from q_from + offset = lower */
            sim->u[t.dof[to]] = md_neg(md_div(md_mul(t.coefficient[from], sim->u[t.dof[from]]),
                                              t.coefficient[to]));
            sim->z[t.dof[to]] = md_neg(md_div(md_add(md_mul(t.coefficient[from],
                sim->z[t.dof[from]]), md_sub(md_of_wide(c->offset), md_of_wide(c->lower))),
                t.coefficient[to]));
            sim->mark[t.dof[to]] = 1;
            found = 1;
        }
    *upper = MD_K(1e12);
    *lower = md_neg(*upper);
    for (k = 0; k < sim->dofs; k++) {
        const mdyn_body *b = &sim->model->bodies[sim->dof[k].body];
        if (!sim->mark[k] || (md_is_null(b->lower) && md_is_null(b->upper))) continue;
        md_narrow(lower, upper, md_of_wide(b->lower), md_of_wide(b->upper), sim->u[k], sim->z[k],
                  md_abs(sim->u[k]));
    }
    for (i = 0; i < sim->couplings; i++) md_narrow_by_coupling(sim, i, lower, upper);
    for (k = 0; k < sim->dofs; k++) sim->mark[k] = 0;
}

/* A range counts as empty beyond rounding. */
MD_STATIC int md_range_is_empty(md_num lower, md_num upper)
{
    md_num slack = md_mul(MD_K(MD_AGREED), md_add(MD_K(1), md_abs(lower)));
    return md_less(md_add(upper, slack), lower);
}

/* ============================================================================ // >>public */

#define MD_READY 0x6D64796Eu

#if !MIMICDYN_STATIC
const char MDYN_CONFIGURATION = 0;
#endif

MD_STATIC int md_is_ready(const mdyn_sim *sim) { return sim && sim->ready == MD_READY; }
MD_STATIC int md_unready(const mdyn_sim *sim) { return sim ? MDYN_ERR_NOT_READY : MDYN_ERR_NULL; }

/* The rotation Q from the frame used inside to the body's, and which of its axes is the joint's:
   x, y or z as they stand; any other direction is turned into z. */
MD_STATIC int md_align(const mdyn_model *model, int body, md_mat *Q)
{
    const md_num zero = MD_K(0);
    md_vec axis;
    md_num largest;
    md_mat_of_quaternion(Q, MD_K(1), zero, zero, zero);
    if (body < 0 || md_joint_coordinates(model->bodies[body].joint) != 1) return 2;
    md_vec_set(&axis, md_of_wide(model->bodies[body].axis.x),
               md_of_wide(model->bodies[body].axis.y), md_of_wide(model->bodies[body].axis.z));
    if (md_is_zero(axis.x) && md_is_zero(axis.y) && !md_less(axis.z, zero)) return 2;
    if (md_is_zero(axis.y) && md_is_zero(axis.z) && md_less(zero, axis.x)) return 0;
    if (md_is_zero(axis.z) && md_is_zero(axis.x) && md_less(zero, axis.y)) return 1;
    largest = md_max(md_abs(axis.x), md_max(md_abs(axis.y), md_abs(axis.z)));
    md_vec_set(&axis, md_div(axis.x, largest), md_div(axis.y, largest), md_div(axis.z, largest));
    md_mat_of_axis(Q, &axis);
    return 2;
}

MD_STATIC void md_build_link(mdyn_sim *sim, int i)
{
    const mdyn_body *b = &sim->model->bodies[i];
    md_link *link = &sim->link[i];
    md_mat Q, P, t, R;
    md_vec c, p;
    md_sym own;
    md_num c2;
    int k;
    link->parent = b->parent;
    link->joint = (uint8_t)b->joint;
    link->dofs = (uint8_t)md_joint_dofs(b->joint);
    link->dof = sim->dofs;
    link->coordinate = sim->coordinates;
    sim->dofs = (int16_t)(sim->dofs + link->dofs);
    sim->coordinates = (int16_t)(sim->coordinates + md_joint_coordinates(b->joint));
    for (k = link->dof; k < sim->dofs; k++) {
        sim->dof[k].body = (int16_t)i;
        sim->dof[k].coordinate = (int16_t)(link->dofs == 1 ? link->coordinate : -1);
        sim->dof[k].pitch = md_of_wide(b->pitch);
    }
    k = md_quaternion_of(link);
    if (k >= 0) sim->q[k] = MDYN_R(1);

    link->axis = (uint8_t)md_align(sim->model, i, &Q);
    md_align(sim->model, b->parent, &P);
    md_mat_transpose(&P, &P);
    md_vec_set(&p, md_of_wide(b->position.x), md_of_wide(b->position.y), md_of_wide(b->position.z));
    md_mat_vec(&link->position, &P, &p);
    if (md_is_null(b->rotation.w) && md_is_null(b->rotation.x) && md_is_null(b->rotation.y)
        && md_is_null(b->rotation.z))
        md_mat_of_quaternion(&R, MD_K(1), MD_K(0), MD_K(0), MD_K(0));
    else
        md_mat_of_quaternion(&R, md_of_wide(b->rotation.w), md_of_wide(b->rotation.x),
                             md_of_wide(b->rotation.y), md_of_wide(b->rotation.z));
    md_mat_mul(&t, &P, &R);
    md_mat_mul(&link->rotation, &t, &Q);
    link->upright = (uint8_t)(md_is_one(link->rotation.xx) && md_is_one(link->rotation.yy)
                              && md_is_one(link->rotation.zz));

    md_mat_transpose(&Q, &Q);
    link->mass = md_of_wide(b->mass);
    md_vec_set(&c, md_of_wide(b->com.x), md_of_wide(b->com.y), md_of_wide(b->com.z));
    md_mat_vec(&c, &Q, &c);
    md_vec_scale(&link->moment, link->mass, &c);
    own.xx = md_of_wide(b->inertia.xx); own.yy = md_of_wide(b->inertia.yy);
    own.zz = md_of_wide(b->inertia.zz); own.xy = md_of_wide(b->inertia.xy);
    own.xz = md_of_wide(b->inertia.xz); own.yz = md_of_wide(b->inertia.yz);
    md_sym_turn(&link->inertia, &Q, &own);
    /* about the origin: + m (|c|^2 1 - c c^T) */
    c2 = md_dot(&c, &c);
    link->inertia.xx = md_add(link->inertia.xx, md_mul(link->mass, md_sub(c2, md_mul(c.x, c.x))));
    link->inertia.yy = md_add(link->inertia.yy, md_mul(link->mass, md_sub(c2, md_mul(c.y, c.y))));
    link->inertia.zz = md_add(link->inertia.zz, md_mul(link->mass, md_sub(c2, md_mul(c.z, c.z))));
    link->inertia.xy = md_sub(link->inertia.xy, md_mul(link->mass, md_mul(c.x, c.y)));
    link->inertia.xz = md_sub(link->inertia.xz, md_mul(link->mass, md_mul(c.x, c.z)));
    link->inertia.yz = md_sub(link->inertia.yz, md_mul(link->mass, md_mul(c.y, c.z)));
}

MD_STATIC void md_take_coupling(mdyn_sim *sim, int i, const mdyn_coupling *c)
{
    int k;
    sim->coupling[i] = *c;
    sim->coupling_terms[i] = 0;
    for (k = 0; k < MIMICDYN_MAX_TERMS; k++)
        if (!md_is_null(c->terms[k].coefficient)) sim->coupling_terms[i]++;
}

MD_STATIC void md_build_rows(mdyn_sim *sim)
{
    int kind, k;
    for (k = 0; k < sim->couplings; k++) {
        sim->row[k].kind = MDYN_ROW_COUPLING;
        sim->row[k].index = (int16_t)k;
    }
    for (kind = MDYN_ROW_DRIVE; kind <= MDYN_ROW_LIMIT; kind++)
        for (k = 0; k < sim->dofs; k++) {
            const mdyn_body *b = &sim->model->bodies[sim->dof[k].body];
            int none = kind == MDYN_ROW_DRIVE ? md_is_null(b->drive_kp) && md_is_null(b->drive_kd)
                : kind == MDYN_ROW_FRICTION ? md_is_null(b->friction)
                : md_is_null(b->lower) && md_is_null(b->upper);
            if (none) continue;
            if (kind == MDYN_ROW_DRIVE) sim->drives++;
            sim->row[sim->rows].kind = (uint8_t)kind;
            sim->row[sim->rows++].index = (int16_t)k;
        }
}

/* Where the rows of L begin, and which speeds are on the way to the world. */
MD_STATIC int md_plan_paths(mdyn_sim *sim)
{
    int i, j, k, n = 0;
    for (k = 0; k < sim->dofs; k++) {
        i = sim->dof[k].body;
        sim->dof[k].up = (int16_t)(k > sim->link[i].dof ? k - 1 : -1);
        while (sim->dof[k].up < 0 && sim->link[i].parent >= 0) {
            i = sim->link[i].parent;
            j = sim->link[i].dof + sim->link[i].dofs - 1;
            if (sim->link[i].dofs) sim->dof[k].up = (int16_t)j;
        }
        sim->path[k] = (int16_t)n;
        for (j = k; j >= 0; j = sim->dof[j].up) n++;
        if (n > MIMICDYN_MAX_ENTRIES) return md_blame(sim, MDYN_ERR_CAPACITY_ENTRIES, -1);
    }
    sim->path[k] = (int16_t)n;
    return MDYN_OK;
}

/* L in the pose of q = 0; every speed must have inertia. */
MD_STATIC int md_check_inertias(mdyn_sim *sim)
{
    int code = md_factor(sim, MD_K(0));
    if (code == MDYN_OK) return code;
    return md_blame(sim, MDYN_ERR_MASSLESS, sim->dof[sim->culprit.index].body);
}

/* Warnings of couplings that repeat or contradict others, and of empty ranges. */
MD_STATIC int md_check_couplings(mdyn_sim *sim)
{
    int k, mode, worst = MDYN_OK, index = -1;
    md_num lower, upper;
    for (mode = MD_PLACE; mode <= MD_HALT; mode++) {
        for (k = 0; k < sim->dofs; k++) sim->z[k] = MD_K(0);
        md_apply_rows(sim, (enum md_mode)mode);
        for (k = 0; k < sim->exacts; k++) {
            int flags = sim->row[sim->live[k]].flags;
            int found = flags & MDYN_ROW_CONTRADICTORY ? MDYN_WARN_CONTRADICTION
                : flags & MDYN_ROW_REDUNDANT ? MDYN_WARN_REDUNDANT : MDYN_OK;
            if (found <= worst) continue;
            worst = found;
            index = sim->live[k];
        }
    }
    /* what contradicts leaves no position either: that is named first */
    for (k = 0; k < sim->dofs && worst != MDYN_WARN_CONTRADICTION; k++) {
        if (md_joint_coordinates((mdyn_joint)sim->link[sim->dof[k].body].joint) != 1) continue;
        md_find_range(sim, k, &lower, &upper);
        if (!md_range_is_empty(lower, upper)) continue;
        return md_blame(sim, MDYN_WARN_EMPTY_RANGE, sim->dof[k].body);
    }
    return md_blame(sim, worst, index);
}

MDYN_API int mdyn_init_configured(mdyn_sim *sim, const mdyn_model *model, const char *built_with)
{
    int i, code;
    size_t k;
    (void)built_with; /* the linker has compared it */
    if (!sim) return MDYN_ERR_NULL;
    sim->ready = 0;
    if (!model) return md_blame(sim, MDYN_ERR_NULL, -1);
    code = md_check_model(sim, model);
    if (code != MDYN_OK) return code;
    for (k = 0; k < sizeof *sim; k++) ((unsigned char *)sim)[k] = 0;
    sim->model = model;
    sim->dt = md_of_wide(model->dt);
    sim->inverse_dt = md_div(MD_K(1), sim->dt);
    sim->bodies = (int16_t)model->body_count;
    sim->couplings = sim->rows = (int16_t)model->coupling_count;
    for (i = 0; i < model->coupling_count; i++) md_take_coupling(sim, i, &model->couplings[i]);
    for (i = 0; i < sim->bodies; i++) md_build_link(sim, i);
    md_build_rows(sim);
    md_kinematics(sim);
    code = md_plan_paths(sim);
    if (code == MDYN_OK) code = md_check_inertias(sim);
    if (code == MDYN_OK) code = md_plan(sim);
    if (code == MDYN_OK) code = md_check_couplings(sim);
    if (code < 0) return code;
    for (i = 0; i < sim->rows; i++) sim->outcome[i].resting = 1;
    md_copy(sim->q_seen, sim->q, sim->coordinates);
    sim->ready = MD_READY;
    return code;
}

MDYN_API int mdyn_reset(mdyn_sim *sim)
{
    int k;
    if (!md_is_ready(sim)) return md_unready(sim);
    for (k = 0; k < sim->coordinates; k++) sim->q_tail[k] = 0;
    for (k = 0; k < sim->dofs; k++) sim->v_tail[k] = 0;
    for (k = 0; k < sim->rows; k++) sim->outcome[k].impulse = sim->outcome[k].start = MD_K(0);
    sim->stale = 1;
    return MDYN_OK;
}

/* Whether the plan of the rows holds for another coupling in the place of one: the same joints,
   as hard or soft as before. */
MD_STATIC int md_coupling_fits(mdyn_sim *sim, int i, const mdyn_coupling *c)
{
    const mdyn_coupling *old = &sim->coupling[i];
    mdyn_coupling kept = *old;
    int k, rank = md_row_rank(sim, &sim->row[i]), fits;
    for (k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        const mdyn_term *a = &old->terms[k], *b = &c->terms[k];
        if (md_is_null(a->coefficient) != md_is_null(b->coefficient)) return 0;
        if (!md_is_null(a->coefficient) && (a->body != b->body || a->axis != b->axis)) return 0;
    }
    sim->coupling[i] = *c;
    fits = md_row_is_boundless(sim, &sim->row[i]) == sim->row[i].boundless
        && md_row_rank(sim, &sim->row[i]) == rank;
    sim->coupling[i] = kept;
    return fits;
}

MDYN_API int mdyn_set_coupling(mdyn_sim *sim, int coupling, const mdyn_coupling *c)
{
    mdyn_coupling old;
    int code;
    if (!md_is_ready(sim)) return md_unready(sim);
    if (!c) return md_blame(sim, MDYN_ERR_NULL, coupling);
    if (coupling < 0 || coupling >= sim->couplings) return md_blame(sim, MDYN_ERR_INDEX, coupling);
    code = md_check_coupling(sim, sim->model, c, coupling);
    if (code != MDYN_OK) return code;
    if (sim->dropped == 0 && md_coupling_fits(sim, coupling, c)) {
        md_take_coupling(sim, coupling, c);
        return MDYN_OK;
    }
    code = md_refresh(sim);
    if (code == MDYN_OK) code = md_factor(sim, MD_K(0));
    if (code != MDYN_OK) return code;
    old = sim->coupling[coupling];
    md_take_coupling(sim, coupling, c);
    code = md_plan(sim);
    if (code == MDYN_OK) code = md_check_couplings(sim);
    if (code >= 0) return code;
    md_take_coupling(sim, coupling, &old);
    (void)md_plan(sim); /* which had room before */
    return md_blame(sim, code, coupling);
}

/* Leaders stay: each coupling in turn moves its first joint, until none has to be moved. */
MD_STATIC int md_follow(mdyn_sim *sim)
{
    int pass, i, k, moved = 1;
    md_terms t;
    for (pass = 0; pass <= sim->couplings && moved; pass++) {
        for (moved = 0, i = 0; i < sim->couplings; i++) {
            md_row *row = &sim->row[i];
            const mdyn_coupling *c = &sim->coupling[i];
            md_num C, speed, slack;
            if (!md_row_is_exact(sim, row, MD_HALT)) continue;
            md_row_terms(sim, row, &t);
            k = t.dof[0];
            slack = md_mul(MD_K(8 * MD_EPSILON), md_add(MD_K(1), md_abs(md_of_real(sim->v[k]))));
            speed = md_div(md_sub(md_of_wide(c->speed), md_row_speed(sim, &t)), t.coefficient[0]);
            if (md_less(slack, md_abs(speed))) moved = 1;
            md_accumulate(&sim->v[k], &sim->v_tail[k], speed);
            if (!md_in_range(sim->v[k])) return md_blame(sim, MDYN_ERR_OVERFLOW, k);
            if (c->level == MDYN_VELOCITY) continue;
            k = sim->link[sim->dof[k].body].coordinate;
            slack = md_mul(MD_K(8 * MD_EPSILON), md_add(MD_K(1), md_abs(md_of_real(sim->q[k]))));
            C = md_sub(md_row_position(sim, row, &t), md_of_wide(c->lower));
            C = md_div(C, md_neg(t.coefficient[0]));
            if (md_less(slack, md_abs(C))) moved = 1;
            md_accumulate(&sim->q[k], &sim->q_tail[k], C);
            if (!md_in_range(sim->q[k])) return md_blame(sim, MDYN_ERR_OVERFLOW, k);
        }
    }
    return moved ? md_blame(sim, MDYN_WARN_CONTRADICTION, -1) : MDYN_OK;
}

/* The shortest way in the metric of M, first tried, then taken. */
MD_STATIC int md_project(mdyn_sim *sim)
{
    int commit, k, halt, open = 0, code = md_ready_dynamics(sim, MD_K(0));
    for (commit = 0; commit < 2; commit++)
        for (halt = 0; halt < 2 && code == MDYN_OK; halt++) {
            for (k = 0; k < sim->dofs; k++) sim->z[k] = MD_K(0);
            md_apply_rows(sim, halt ? MD_HALT : MD_PLACE);
            for (k = 0; k < sim->exacts; k++)
                open |= sim->row[sim->live[k]].flags & MDYN_ROW_CONTRADICTORY;
            if (!commit) code = md_check_motion(sim, halt ? sim->z : NULL, halt ? NULL : sim->z);
            else if (halt) md_hasten(sim, sim->z);
            else md_displace(sim, sim->z);
        }
    if (code != MDYN_OK) return code;
    return open ? md_blame(sim, MDYN_WARN_CONTRADICTION, -1) : MDYN_OK;
}

MDYN_API int mdyn_project(mdyn_sim *sim, mdyn_metric metric)
{
    int k, c, code;
    if (!md_is_ready(sim)) return md_unready(sim);
    if (metric == MDYN_MASS_METRIC) return md_project(sim);
    if (metric != MDYN_FOLLOWERS) return md_blame(sim, MDYN_ERR_INDEX, -1);
    code = md_refresh(sim);
    if (code != MDYN_OK) return code;
    for (k = 0; k < sim->dofs; k++) { /* only joints of one coordinate are moved */
        c = sim->dof[k].coordinate;
        sim->u[k] = md_coordinate_of(0, c < 0 ? 0 : sim->q_tail[c]);
        sim->z[k] = md_coordinate_of(0, sim->v_tail[k]);
    }
    code = md_follow(sim);
    if (code < 0) {
        md_copy(sim->q, sim->q_seen, sim->coordinates);
        md_copy(sim->v, sim->v_seen, sim->dofs);
        for (k = 0; k < sim->dofs; k++) {
            c = sim->dof[k].coordinate;
            if (c >= 0) sim->q_tail[c] = md_to_real(sim->u[k]);
            sim->v_tail[k] = md_to_real(sim->z[k]);
        }
        return code;
    }
    md_copy(sim->q_seen, sim->q, sim->coordinates);
    md_copy(sim->v_seen, sim->v, sim->dofs);
    sim->stale = 1;
    return code;
}

MDYN_API int mdyn_step(mdyn_sim *sim)
{
    return md_is_ready(sim) ? md_step(sim) : md_unready(sim);
}

/* The row of a kind and index; -1: none. */
MD_STATIC int md_find_row(const mdyn_sim *sim, mdyn_row_kind kind, int index)
{
    int k;
    for (k = 0; k < sim->rows; k++)
        if ((int)sim->row[k].kind == (int)kind && sim->row[k].index == index) return k;
    return -1;
}

MDYN_API int mdyn_row(const mdyn_sim *sim, mdyn_row_kind kind, int index, mdyn_row_report *report)
{
    int k;
    md_terms t;
    md_num speed, given, force, residual = MD_K(0);
    const md_outcome *o;
    if (!md_is_ready(sim)) return md_unready(sim);
    if (!report) return MDYN_ERR_NULL;
    k = md_find_row(sim, kind, index);
    if (k < 0) return MDYN_ERR_INDEX;
    o = &sim->outcome[k];
    md_row_terms(sim, &sim->row[k], &t);
    speed = md_row_speed(sim, &t);
    given = md_add(speed, md_mul(o->cfm, o->impulse));
    force = md_mul(sim->inverse_dt, o->impulse);
    if (!o->resting && md_less(given, o->low)) residual = md_sub(given, o->low);
    if (!o->resting && md_less(o->high, given)) residual = md_sub(given, o->high);
    report->impulse = md_to_wide(o->impulse);
    report->force = md_to_wide(force);
    report->power = md_to_wide(md_mul(force, speed));
    report->error = md_to_wide(o->resting ? MD_K(0) : o->error);
    report->speed = md_to_wide(speed);
    report->residual = md_to_wide(residual);
    report->flags = o->resting ? 0 : o->flags;
    return MDYN_OK;
}

MDYN_API int mdyn_share(const mdyn_sim *sim, int coupling, int term, mdyn_wide *force)
{
    md_num f;
    if (!md_is_ready(sim)) return md_unready(sim);
    if (!force) return MDYN_ERR_NULL;
    if (coupling < 0 || coupling >= sim->couplings || term < 0 || term >= MIMICDYN_MAX_TERMS)
        return MDYN_ERR_INDEX;
    f = md_mul(sim->inverse_dt, sim->outcome[coupling].impulse);
    *force = md_to_wide(md_mul(f, md_of_wide(sim->coupling[coupling].terms[term].coefficient)));
    return MDYN_OK;
}

MDYN_API int mdyn_range(mdyn_sim *sim, int body, mdyn_wide *lower, mdyn_wide *upper)
{
    md_num lo, hi;
    if (!md_is_ready(sim)) return md_unready(sim);
    if (!lower || !upper) return md_blame(sim, MDYN_ERR_NULL, body);
    if (body < 0 || body >= sim->bodies
        || md_joint_coordinates((mdyn_joint)sim->link[body].joint) != 1)
        return md_blame(sim, MDYN_ERR_INDEX, body);
    md_find_range(sim, sim->link[body].dof, &lo, &hi);
    *lower = md_to_wide(lo);
    *upper = md_to_wide(hi);
    return md_range_is_empty(lo, hi) ? md_blame(sim, MDYN_WARN_EMPTY_RANGE, body) : MDYN_OK;
}

MDYN_API const char *mdyn_text(int code)
{
    switch (code) {
#define MD_CODE_(name, value, sentence, remedy) case value: return sentence;
        MDYN_CODES(MD_CODE_)
#undef MD_CODE_
    default: return "unknown code";
    }
}

MDYN_API const char *mdyn_remedy(int code)
{
    switch (code) {
#define MD_CODE_(name, value, sentence, remedy) case value: return remedy;
        MDYN_CODES(MD_CODE_)
#undef MD_CODE_
    default: return "pass what a call of this header returned";
    }
}

/* Text of bounded length: what does not fit is counted. */
typedef struct md_text { char *at; int size, used; } md_text;

MD_STATIC void md_say(md_text *t, const char *s)
{
    for (; *s; s++, t->used++)
        if (t->used < t->size) t->at[t->used] = *s;
}

MD_STATIC void md_say_int(md_text *t, int n)
{
    char digits[12];
    int k = 11;
    digits[k] = 0;
    do {
        digits[--k] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    md_say(t, digits + k);
}

/* 6 digits, as %g prints them */
MD_STATIC void md_say_number(md_text *t, md_num x)
{
    char digits[8];
    int exponent, k, last = 5;
    int32_t n;
    if (md_less(x, MD_K(0))) md_say(t, "-");
    if (md_is_zero(x)) { md_say(t, "0"); return; }
    n = md_decimal(md_abs(x), &exponent); /* 100000 <= n < 1000000: n 10^(exponent-5) */
    for (k = 5; k >= 0; k--, n /= 10) digits[k] = (char)('0' + n % 10);
    while (last > 0 && digits[last] == '0') last--;
    if (exponent < -5 || exponent > 5) {
        digits[last + 1] = 0;
        k = digits[1];
        digits[1] = 0;
        md_say(t, digits);
        if (last > 0) { digits[1] = (char)k; md_say(t, "."); md_say(t, digits + 1); }
        md_say(t, exponent < 0 ? "e-" : "e");
        md_say_int(t, exponent < 0 ? -exponent : exponent);
        return;
    }
    if (exponent < 0) md_say(t, "0.");
    for (k = exponent + 1; k < 0; k++) md_say(t, "0");
    for (k = 0; k <= last || k <= exponent; k++) {
        char c[2];
        c[0] = digits[k];
        c[1] = 0;
        if (k > 0 && k == exponent + 1) md_say(t, ".");
        md_say(t, c);
    }
}

MD_STATIC void md_say_named(md_text *t, const char *before, md_num x, const char *after)
{
    md_say(t, before);
    md_say_number(t, x);
    md_say(t, after);
}

/* q(name) or q(index), with the axis of joints that have several */
MD_STATIC void md_say_joint(md_text *t, const mdyn_sim *sim, const char *symbol, int dof)
{
    int body = sim->dof[dof].body;
    const char *name = sim->model->bodies[body].name;
    md_say(t, symbol);
    md_say(t, "(");
    if (name) md_say(t, name);
    else md_say_int(t, body);
    if (sim->link[body].dofs > 1) {
        md_say(t, ".");
        md_say_int(t, dof - sim->link[body].dof);
    }
    md_say(t, ")");
}

/* rad or m of a row's C, "mixed" where its joints differ */
MD_STATIC const char *md_unit_name(const mdyn_sim *sim, const md_terms *t)
{
    int k, linear = 0;
    for (k = 0; k < t->count; k++) linear += sim->dof[t->dof[k]].kind == MD_LINEAR;
    return linear == 0 ? "rad" : linear == t->count ? "m" : "rad, m";
}

MD_STATIC void md_say_softness(md_text *t, const mdyn_softness *s)
{
    md_num a = md_of_wide(s->a), b = md_of_wide(s->b);
    if (s->kind == MDYN_KP_KD) {
        md_say_named(t, "; kp ", a, "");
        md_say_named(t, ", kd ", b, "");
    } else if (s->kind == MDYN_OMEGA_ZETA && !md_softness_is_hard(s)) {
        md_say_named(t, "; omega ", a, " rad/s");
        md_say_named(t, ", zeta ", b, "");
    } else {
        md_say(t, md_softness_is_hard(s) ? "; hard" : "; soft");
        md_say_named(t, ", erp ", s->kind == MDYN_ERP_CFM ? a : MD_K(0.2), "");
        if (!md_softness_is_hard(s)) md_say_named(t, ", cfm ", b, "");
    }
}

MD_STATIC void md_say_coupling(md_text *t, const mdyn_sim *sim, const mdyn_coupling *c,
                               const md_terms *terms)
{
    int k, velocity = c->level == MDYN_VELOCITY;
    const char *unit = md_unit_name(sim, terms);
    md_num one = MD_K(1), offset = md_of_wide(c->offset), lower = md_of_wide(c->lower);
    int equality = md_coupling_is_equality(c);
    if (!equality && md_less(MD_K(-1e12), lower)) md_say_named(t, "", lower, " <= ");
    for (k = 0; k < terms->count; k++) {
        md_num x = terms->coefficient[k], size = md_abs(x);
        md_say(t, md_less(x, MD_K(0)) ? (k ? " - " : "-") : k ? " + " : "");
        if (md_less(size, one) || md_less(one, size)) md_say_named(t, "", size, " ");
        md_say_joint(t, sim, velocity ? "v" : "q", terms->dof[k]);
    }
    if (velocity) {
        md_say_named(t, " = ", md_of_wide(c->speed), "");
    } else {
        if (!md_is_zero(offset))
            md_say_named(t, md_less(offset, MD_K(0)) ? " - " : " + ", md_abs(offset), "");
        if (equality) md_say_named(t, " = ", lower, "");
        else if (md_less(md_of_wide(c->upper), MD_K(1e12)))
            md_say_named(t, " <= ", md_of_wide(c->upper), "");
    }
    md_say(t, " [");
    md_say(t, unit);
    md_say(t, velocity ? "]/s" : "]");
    md_say_softness(t, &c->softness);
    if (!velocity && !md_is_null(c->speed)) md_say_named(t, ", speed ", md_of_wide(c->speed), "");
    if (!md_is_null(c->effort)) md_say_named(t, ", |force| <= ", md_of_wide(c->effort), "");
}

MD_STATIC void md_say_row(md_text *t, const mdyn_sim *sim, const md_row *row)
{
    static const char names[][10] = { "coupling ", "drive ", "friction ", "limit " };
    md_terms terms;
    const mdyn_body *b;
    md_row_terms(sim, row, &terms);
    md_say(t, names[row->kind]);
    md_say_int(t, row->index);
    if (row->kind == MDYN_ROW_COUPLING && sim->coupling[row->index].name) {
        md_say(t, " ");
        md_say(t, sim->coupling[row->index].name);
    }
    md_say(t, ": ");
    b = &sim->model->bodies[sim->dof[terms.dof[0]].body];
    if (row->kind == MDYN_ROW_COUPLING) {
        md_say_coupling(t, sim, &sim->coupling[row->index], &terms);
    } else if (row->kind == MDYN_ROW_DRIVE) {
        md_say_named(t, "force = ", md_of_wide(b->drive_kp), " (target - ");
        md_say_joint(t, sim, "q", row->index);
        md_say_named(t, ") + ", md_of_wide(b->drive_kd), " (target_speed - ");
        md_say_joint(t, sim, "v", row->index);
        md_say(t, ")");
        if (!md_is_null(b->effort))
            md_say_named(t, ", |force + tau| <= ", md_of_wide(b->effort), "");
    } else if (row->kind == MDYN_ROW_FRICTION) {
        md_say_joint(t, sim, "v", row->index);
        md_say_named(t, " = 0 while |force| <= ", md_of_wide(b->friction), "");
    } else {
        if (md_less(MD_K(-1e12), md_of_wide(b->lower)))
            md_say_named(t, "", md_of_wide(b->lower), " <= ");
        md_say_joint(t, sim, "q", row->index);
        if (md_less(md_of_wide(b->upper), MD_K(1e12)))
            md_say_named(t, " <= ", md_of_wide(b->upper), "");
        md_say(t, " [");
        md_say(t, md_unit_name(sim, &terms));
        md_say(t, "]");
    }
}

MDYN_API int mdyn_explain(mdyn_sim *sim, mdyn_row_kind kind, int index, char *text, int size)
{
    md_text t;
    int k;
    if (!md_is_ready(sim)) return md_unready(sim);
    if (!text) return md_blame(sim, MDYN_ERR_NULL, index);
    k = md_find_row(sim, kind, index);
    if (k < 0) return md_blame(sim, MDYN_ERR_INDEX, index);
    t.at = text;
    t.size = t.used = 0; /* first only to see how long it is */
    md_say_row(&t, sim, &sim->row[k]);
    if (t.used >= size) return md_blame(sim, MDYN_ERR_ROOM, index);
    t.size = size;
    t.used = 0;
    md_say_row(&t, sim, &sim->row[k]);
    text[t.used] = 0;
    return MDYN_OK;
}

MDYN_API int mdyn_dofs(const mdyn_sim *sim)
{
    return md_is_ready(sim) ? sim->dofs : md_unready(sim);
}

MDYN_API int mdyn_coordinates(const mdyn_sim *sim)
{
    return md_is_ready(sim) ? sim->coordinates : md_unready(sim);
}

MDYN_API int mdyn_dof(const mdyn_sim *sim, int body)
{
    if (!md_is_ready(sim)) return md_unready(sim);
    if (body < 0 || body >= sim->bodies) return MDYN_ERR_INDEX;
    return sim->link[body].dof;
}

MDYN_API int mdyn_coordinate(const mdyn_sim *sim, int body)
{
    if (!md_is_ready(sim)) return md_unready(sim);
    if (body < 0 || body >= sim->bodies) return MDYN_ERR_INDEX;
    return sim->link[body].coordinate;
}

/* For the queries: a ready sim, pointers, a body. */
MD_STATIC int md_check_query(mdyn_sim *sim, int body, const void *a, const void *b)
{
    if (!md_is_ready(sim)) return md_unready(sim);
    if (!a || !b) return md_blame(sim, MDYN_ERR_NULL, body);
    if (body < 0 || body >= sim->bodies) return md_blame(sim, MDYN_ERR_INDEX, body);
    return MDYN_OK;
}

/* And with the kinematics up to date. */
MD_STATIC int md_open_query(mdyn_sim *sim, int body, const void *a, const void *b)
{
    int code = md_check_query(sim, body, a, b);
    return code == MDYN_OK ? md_refresh(sim) : code;
}

/* From a body's origin to its point, in world axes. */
MD_STATIC int md_point_arm(mdyn_sim *sim, int body, const mdyn_real3 *point, md_vec *arm)
{
    md_mat Q;
    md_vec p;
    md_vec_zero(arm);
    if (!point) return MDYN_OK;
    if (!md_in_range(point->x) || !md_in_range(point->y) || !md_in_range(point->z))
        return md_blame(sim, MDYN_ERR_STATE, body);
    md_align(sim->model, body, &Q);
    md_vec_set(&p, md_of_real(point->x), md_of_real(point->y), md_of_real(point->z));
    md_mat_t_vec(&p, &Q, &p);
    md_mat_vec(arm, &sim->pose[body].rotation, &p);
    return MDYN_OK;
}

MD_STATIC void md_real3_of(mdyn_real3 *r, const md_vec *a)
{
    r->x = md_to_real(a->x);
    r->y = md_to_real(a->y);
    r->z = md_to_real(a->z);
}

MDYN_API int mdyn_pose(mdyn_sim *sim, int body, mdyn_real3 *position, mdyn_real4 *quaternion)
{
    md_mat Q, R;
    md_vec p;
    md_num q[4];
    int code = md_open_query(sim, body, position, quaternion);
    if (code != MDYN_OK) return code;
    md_origin_position(sim, body, &p);
    md_real3_of(position, &p);
    md_align(sim->model, body, &Q);
    md_mat_transpose(&Q, &Q);
    md_mat_mul(&R, &sim->pose[body].rotation, &Q);
    md_quaternion_of_mat(q, &R);
    quaternion->w = md_to_real(q[0]);
    quaternion->x = md_to_real(q[1]);
    quaternion->y = md_to_real(q[2]);
    quaternion->z = md_to_real(q[3]);
    return MDYN_OK;
}

MDYN_API int mdyn_velocity(mdyn_sim *sim, int body, const mdyn_real3 *point,
                           mdyn_real3 *angular, mdyn_real3 *linear)
{
    md_vec v, arm;
    int code = md_open_query(sim, body, angular, linear);
    if (code == MDYN_OK) code = md_point_arm(sim, body, point, &arm);
    if (code != MDYN_OK) return code;
    md_origin_velocity(sim, body, &v);
    md_add_cross(&v, &sim->pose[body].omega, &arm);
    md_real3_of(angular, &sim->pose[body].omega);
    md_real3_of(linear, &v);
    return MDYN_OK;
}

MDYN_API int mdyn_jacobian(mdyn_sim *sim, int body, const mdyn_real3 *point, mdyn_wide *J)
{
    int i, k, n, code = md_open_query(sim, body, J, J);
    md_vec arm;
    if (code == MDYN_OK) code = md_point_arm(sim, body, point, &arm);
    if (code != MDYN_OK) return code;
    n = sim->dofs;
    for (k = 0; k < 6 * n; k++) J[k] = MDYN_C(0);
    for (i = body; i >= 0; i = sim->link[i].parent) {
        for (k = sim->link[i].dof; k < sim->link[i].dof + sim->link[i].dofs; k++) {
            md_motion m;
            md_vec_zero(&m.ang);
            md_vec_zero(&m.lin);
            md_dof_add_motion(&m, MD_K(1), &sim->dof[k]);
            md_add_cross(&m.lin, &m.ang, &arm);
            J[k] = md_to_wide(m.ang.x);
            J[n + k] = md_to_wide(m.ang.y);
            J[2 * n + k] = md_to_wide(m.ang.z);
            J[3 * n + k] = md_to_wide(m.lin.x);
            J[4 * n + k] = md_to_wide(m.lin.y);
            J[5 * n + k] = md_to_wide(m.lin.z);
        }
        md_vec_add(&arm, &arm, &sim->pose[i].arm);
    }
    return MDYN_OK;
}

MDYN_API int mdyn_mass_matrix(mdyn_sim *sim, mdyn_wide *M)
{
    int j, k, n, code = md_open_query(sim, 0, M, M);
    if (code != MDYN_OK) return code;
    n = sim->dofs;
    md_mass_rows(sim, MD_K(0));
    for (k = 0; k < n * n; k++) M[k] = MDYN_C(0);
    for (k = 0; k < n; k++) {
        const md_unit *row = sim->entry + sim->path[k];
        for (j = k; j >= 0; j = sim->dof[j].up)
            M[k * n + j] = M[j * n + k] = md_to_wide(md_of_unit(*row++, 0));
    }
    return MDYN_OK;
}

MDYN_API int mdyn_bias_force(mdyn_sim *sim, mdyn_wide *C)
{
    int code = md_open_query(sim, 0, C, C);
    if (code == MDYN_OK) code = md_check_inputs(sim);
    if (code != MDYN_OK) return code;
    md_torques(sim, NULL);
    md_copy_out(C, sim->z, sim->dofs);
    return MDYN_OK;
}

MDYN_API int mdyn_inverse_dynamics(mdyn_sim *sim, const mdyn_wide *a, mdyn_wide *tau)
{
    int k, code = md_open_query(sim, 0, a, tau);
    if (code == MDYN_OK) code = md_check_inputs(sim);
    if (code != MDYN_OK) return code;
    for (k = 0; k < sim->dofs; k++)
        if (!md_is_usable(a[k])) return md_blame(sim, MDYN_ERR_STATE, k);
    md_torques(sim, a);
    md_copy_out(tau, sim->z, sim->dofs);
    return MDYN_OK;
}

MDYN_API int mdyn_forward_dynamics(mdyn_sim *sim, mdyn_wide *a)
{
    int code = md_check_query(sim, 0, a, a);
    if (code == MDYN_OK) code = md_fall(sim);
    if (code == MDYN_OK) md_copy_out(a, sim->z, sim->dofs);
    return code;
}

MDYN_API int mdyn_coupled_dynamics(mdyn_sim *sim, mdyn_wide *a)
{
    int code = md_check_query(sim, 0, a, a);
    if (code == MDYN_OK) code = md_accelerate(sim);
    if (code == MDYN_OK) md_copy_out(a, sim->z, sim->dofs);
    return code;
}

MDYN_API int mdyn_impulse_response(mdyn_sim *sim, int i, int j, mdyn_wide *r)
{
    int k, code = md_open_query(sim, 0, r, r);
    md_num sum = MD_K(0);
    if (code != MDYN_OK) return code;
    if (i < 0 || i >= sim->dofs) return md_blame(sim, MDYN_ERR_INDEX, i);
    if (j < 0 || j >= sim->dofs) return md_blame(sim, MDYN_ERR_INDEX, j);
    code = md_factor(sim, MD_K(0));
    if (code != MDYN_OK) return code;
    md_unit_impulse(sim, i, sim->z);
    md_unit_impulse(sim, j, sim->u);
    for (k = 0; k < sim->dofs; k++) sum = md_add(sum, md_mul(sim->z[k], sim->u[k]));
    *r = md_to_wide(sum);
    return MDYN_OK;
}

MDYN_API int mdyn_impulse_column(mdyn_sim *sim, int i, mdyn_wide *dv)
{
    int code = md_open_query(sim, 0, dv, dv);
    if (code != MDYN_OK) return code;
    if (i < 0 || i >= sim->dofs) return md_blame(sim, MDYN_ERR_INDEX, i);
    code = md_factor(sim, MD_K(0));
    if (code != MDYN_OK) return code;
    md_unit_impulse(sim, i, sim->z);
    md_outward(sim, sim->z);
    md_copy_out(dv, sim->z, sim->dofs);
    return MDYN_OK;
}

MDYN_API int mdyn_energy(mdyn_sim *sim, mdyn_wide *kinetic, mdyn_wide *potential)
{
    int i, k, code = md_open_query(sim, 0, kinetic, potential);
    md_num twice = MD_K(0), fall = MD_K(0);
    md_vec g;
    if (code != MDYN_OK) return code;
    md_vec_set(&g, md_of_wide(sim->model->gravity.x), md_of_wide(sim->model->gravity.y),
               md_of_wide(sim->model->gravity.z));
    for (i = 0; i < sim->bodies; i++) {
        const md_pose *p = &sim->pose[i];
        md_vec v, t, origin;
        /* 2 T = omega I omega + v (m v + 2 omega x h) */
        md_origin_velocity(sim, i, &v);
        md_sym_vec(&t, &p->inertia, &p->omega);
        twice = md_add(twice, md_dot(&p->omega, &t));
        md_cross(&t, &p->omega, &p->moment);
        md_vec_add(&t, &t, &t);
        md_vec_add_scaled(&t, sim->link[i].mass, &v);
        twice = md_add(twice, md_dot(&v, &t));
        for (k = sim->link[i].dof; k < sim->link[i].dof + sim->link[i].dofs; k++) {
            md_num speed = md_of_real(sim->v[k]);
            twice = md_add(twice, md_mul(md_diagonal(sim, i, MD_K(0)), md_mul(speed, speed)));
        }
        md_origin_position(sim, i, &origin);
        md_vec_scale(&origin, sim->link[i].mass, &origin);
        md_vec_add(&origin, &origin, &p->moment);
        fall = md_add(fall, md_dot(&g, &origin));
    }
    *kinetic = md_to_wide(md_mul(MD_K(0.5), twice));
    *potential = md_to_wide(md_neg(fall));
    return MDYN_OK;
}

#endif /* MIMICDYN_IMPLEMENTATION */

/* =========================================================================== // >>licence
   This software is available under two licences; choose whichever you prefer.

   ALTERNATIVE A - MIT License
   Copyright (c) 2026 the mimicdyn authors
   Permission is hereby granted, free of charge, to any person obtaining a copy of this software
   and associated documentation files (the "Software"), to deal in the Software without
   restriction, including without limitation the rights to use, copy, modify, merge, publish,
   distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
   Software is furnished to do so, subject to the following conditions:
   The above copyright notice and this permission notice shall be included in all copies or
   substantial portions of the Software.
   THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING
   BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
   NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
   DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
   OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

   ALTERNATIVE B - Unlicense (public domain)
   This is free and unencumbered software released into the public domain.
   Anyone is free to copy, modify, publish, use, compile, sell, or distribute this software,
   either in source code form or as a compiled binary, for any purpose, commercial or
   non-commercial, and by any means.
   In jurisdictions that recognize copyright laws, the author or authors of this software dedicate
   any and all copyright interest in the software to the public domain. We make this dedication
   for the benefit of the public at large and to the detriment of our heirs and successors. We
   intend this dedication to be an overt act of relinquishment in perpetuity of all present and
   future rights to this software under copyright law.
   THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING
   BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
   NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
   LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
   CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
*/
