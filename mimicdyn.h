/* mimicdyn.h - dynamics of articulated mechanisms with coupled joints, in one header. v0.1
   SPDX-License-Identifier: MIT OR Unlicense          (both texts at the end of this file)

   Trees of rigid bodies whose joints are tied together (mimic joints, gears of any number of
   shafts), with limits, friction and drives, solved every control tick in bounded time.
   No malloc, no libc, no globals, no recursion. C99, also C++11 and later. In float, in double,
   or in integers that are more exact than float and give the same bits on every processor.

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
      Inside    >>number >>math >>vector >>check >>kinematics >>dynamics >>rows >>bodies
                >>equality >>pgs >>step >>public >>lcp
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
                With MIMICDYN_SCALAR FIXED both are integers that the compiler makes of these
                macros; mdyn_real_of, mdyn_wide_of, mdyn_of_counts, mdyn_to_counts convert.

   ERRORS       Functions return MDYN_OK (0), a warning (> 0, the call was carried out) or an
                error (< 0, nothing was changed). sim.culprit says which body, coupling or speed,
                mdyn_text() says it in words, mdyn_remedy() what to do.                        */

#ifndef MIMICDYN_H
#define MIMICDYN_H

#include <stddef.h>
#include <stdint.h>

/* ============================================================================ // >>config
   Every knob is a plain number with a default. Those down to MIMICDYN_TREE change the layout of
   mdyn_sim, so all files of a program must agree: a mismatch is a link error that spells both
   configurations. */

/* MIMICDYN_SCALAR - the arithmetic. F32: float with compensated state; F64: double; FIXED:
   integers only, more exact than float, the same bits on every processor. (From the same numbers:
   where the compiler's double has 32 bits, as on AVR, MDYN_C and MDYN_R have 24 digits of 2.) */
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

/* MIMICDYN_MAX_BODY_ROWS - most rows on bodies: a closure takes 3 (point), 5 (hinge), 6 (weld) or
   1 (distance), a row of your own takes 1. 0 to 4096; 0 leaves their code and data out. */
#ifndef MIMICDYN_MAX_BODY_ROWS
#define MIMICDYN_MAX_BODY_ROWS 0
#endif

/* MIMICDYN_MAX_CONTACTS - most contacts in a step; each takes 3 rows. 0 to 1024; 0 leaves their
   data out. */
#ifndef MIMICDYN_MAX_CONTACTS
#define MIMICDYN_MAX_CONTACTS 0
#endif
#define MDYN_BODY_ROWS_ (MIMICDYN_MAX_BODY_ROWS + 3 * MIMICDYN_MAX_CONTACTS)

/* MIMICDYN_MAX_DANTZIG - most rows that MDYN_DANTZIG solves in a step: all with a bound on their
   impulse or its sign, limits and ranges that are out of reach too; each takes as many numbers as
   there are rows. 0 to 1024; 0 leaves that solver of a step out. */
#ifndef MIMICDYN_MAX_DANTZIG
#define MIMICDYN_MAX_DANTZIG 0
#endif

/* MIMICDYN_MAX_ROWS - most rows of a model: one for each coupling, two if it has an efficiency, and
   one for each speed with a drive, with dry friction, with a limit; and those on bodies. 1
   to 8192. */
#ifdef MIMICDYN_MAX_ROWS
#define MDYN_SPELL_ROWS_ MIMICDYN_MAX_ROWS
#else
#define MDYN_SPELL_ROWS_ default
#define MIMICDYN_MAX_ROWS (MIMICDYN_MAX_COUPLINGS + MIMICDYN_MAX_DOFS + MDYN_BODY_ROWS_)
#endif

/* MIMICDYN_MAX_TERMS - most joints in one coupling, most bodies in one row. 2 to 64. */
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
#define MIMICDYN_MAX_ENTRIES (8 * (MIMICDYN_MAX_DOFS + MIMICDYN_MAX_ROWS + MDYN_BODY_ROWS_))
#endif

/* MIMICDYN_TREE - 0 leaves the articulation out: rotors and sliders on the world only, whose
   inertia is their armature, with couplings, limits, friction and drives. For the smallest parts.
   0 or 1. */
#ifndef MIMICDYN_TREE
#define MIMICDYN_TREE 1
#endif

/* MIMICDYN_EXACT - 0 leaves out the exact solution of rows without a bound on their impulse: all
   are swept, as with MDYN_ITERATED; so are those of mdyn_project and mdyn_coupled_dynamics, until
   2000 sweeps are passed, and contradictory couplings do not meet in the middle there. 0 or 1. */
#ifndef MIMICDYN_EXACT
#define MIMICDYN_EXACT 1
#endif

/* MIMICDYN_WARM - 0 leaves out the start of sweeps at the impulses of the last step: they begin at
   zero, as with MDYN_COLD. That takes more of them. 0 or 1. */
#ifndef MIMICDYN_WARM
#define MIMICDYN_WARM 1
#endif

/* MIMICDYN_CHECKS - 0 leaves out what mdyn_init and mdyn_set_coupling check of bodies, of couplings
   and of the solver, but for capacity and inertia; what they refuse must not be given to such a
   build. For firmware whose model has passed a desktop build of else the same knobs. 0 or 1. */
#ifndef MIMICDYN_CHECKS
#define MIMICDYN_CHECKS 1
#endif

/* MIMICDYN_WARNINGS - 0 leaves out the search of mdyn_init and mdyn_set_coupling for couplings that
   repeat or contradict others, and for limits that leave no position: errors remain. For firmware
   whose model a desktop build has passed. It needs MIMICDYN_EXACT. 0 or 1. */
#ifndef MIMICDYN_WARNINGS
#define MIMICDYN_WARNINGS MIMICDYN_EXACT
#endif

/* MIMICDYN_SETTINGS - 0 leaves out all ways of solving but the default one: of mdyn_solver there
   are sweeps, relaxation, tolerance and friction; mdyn_init refuses the others. 0 or 1. */
#ifndef MIMICDYN_SETTINGS
#define MIMICDYN_SETTINGS 1
#endif

/* MIMICDYN_LOSSES - 0 leaves out couplings whose impulse bounds that of another row, `efficiency`
   and `mu`: mdyn_init refuses them. 0 or 1. */
#ifndef MIMICDYN_LOSSES
#define MIMICDYN_LOSSES 1
#endif

/* MIMICDYN_QUATERNIONS - 0 leaves out spherical and free joints: mdyn_init refuses them. 0 or 1. */
#ifndef MIMICDYN_QUATERNIONS
#define MIMICDYN_QUATERNIONS MIMICDYN_TREE
#endif

/* MIMICDYN_LCP - 0 leaves out mdyn_lcp_dantzig and mdyn_lcp_pgs, complementarity problems without
   a sim. 0 or 1. */
#ifndef MIMICDYN_LCP
#define MIMICDYN_LCP 1
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
#define MDYN_SCALAR_FIXED 3
#define MDYN_SCALAR MDYN_PASTE(MDYN_SCALAR_, MIMICDYN_SCALAR)

#if MDYN_SCALAR < MDYN_SCALAR_F32 || MDYN_SCALAR > MDYN_SCALAR_FIXED
#error "MIMICDYN_SCALAR must be F32, F64 or FIXED"
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
#if MIMICDYN_MAX_BODY_ROWS < 0 || MIMICDYN_MAX_BODY_ROWS > 4096
#error "MIMICDYN_MAX_BODY_ROWS must be 0 to 4096"
#endif
#if MIMICDYN_MAX_CONTACTS < 0 || MIMICDYN_MAX_CONTACTS > 1024
#error "MIMICDYN_MAX_CONTACTS must be 0 to 1024"
#endif
#if MIMICDYN_MAX_DANTZIG < 0 || MIMICDYN_MAX_DANTZIG > 1024
#error "MIMICDYN_MAX_DANTZIG must be 0 to 1024"
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
#if MIMICDYN_TREE != 0 && MIMICDYN_TREE != 1
#error "MIMICDYN_TREE must be 0 or 1"
#endif
#if MIMICDYN_EXACT != 0 && MIMICDYN_EXACT != 1
#error "MIMICDYN_EXACT must be 0 or 1"
#endif
#if MIMICDYN_WARM != 0 && MIMICDYN_WARM != 1
#error "MIMICDYN_WARM must be 0 or 1"
#endif
#if MIMICDYN_CHECKS != 0 && MIMICDYN_CHECKS != 1
#error "MIMICDYN_CHECKS must be 0 or 1"
#endif
#if MIMICDYN_WARNINGS != 0 && MIMICDYN_WARNINGS != 1
#error "MIMICDYN_WARNINGS must be 0 or 1"
#endif
#if MIMICDYN_WARNINGS && !MIMICDYN_EXACT
#error "MIMICDYN_WARNINGS needs MIMICDYN_EXACT 1: which rows others decide"
#endif
#if MIMICDYN_SETTINGS != 0 && MIMICDYN_SETTINGS != 1
#error "MIMICDYN_SETTINGS must be 0 or 1"
#endif
#if MIMICDYN_LOSSES != 0 && MIMICDYN_LOSSES != 1
#error "MIMICDYN_LOSSES must be 0 or 1"
#endif
#if MIMICDYN_QUATERNIONS != 0 && MIMICDYN_QUATERNIONS != 1
#error "MIMICDYN_QUATERNIONS must be 0 or 1"
#endif
#if MIMICDYN_LCP != 0 && MIMICDYN_LCP != 1
#error "MIMICDYN_LCP must be 0 or 1"
#endif
#if MIMICDYN_MAX_DANTZIG > 0 && !MIMICDYN_LCP
#error "MIMICDYN_MAX_DANTZIG needs MIMICDYN_LCP 1: it is the same pivoting"
#endif
#if MIMICDYN_STATIC != 0 && MIMICDYN_STATIC != 1
#error "MIMICDYN_STATIC must be 0 or 1"
#endif
#if !MIMICDYN_TREE && MDYN_BODY_ROWS_ > 0
#error "MIMICDYN_MAX_BODY_ROWS and MIMICDYN_MAX_CONTACTS need MIMICDYN_TREE 1: rows on bodies"
#endif
#if !MIMICDYN_TREE && MIMICDYN_QUATERNIONS
#error "MIMICDYN_QUATERNIONS needs MIMICDYN_TREE 1: spherical and free joints"
#endif
#if MDYN_SCALAR == MDYN_SCALAR_F64 && defined(__SIZEOF_DOUBLE__) && __SIZEOF_DOUBLE__ < 8
#error "MIMICDYN_SCALAR F64 needs a double of 64 bits, here it has 32: take FIXED or F32"
#endif
#if defined(__FAST_MATH__) && MDYN_SCALAR != MDYN_SCALAR_FIXED
#error "mimicdyn.h needs IEEE arithmetic: compile without -ffast-math"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ == 2 && MDYN_SCALAR != MDYN_SCALAR_FIXED
#error "x87 arithmetic keeps excess digits: add -msse2 -mfpmath=sse"
#endif

#define MDYN_COORDINATES (MIMICDYN_MAX_DOFS + MIMICDYN_MAX_DOFS / 3)

/* ============================================================================= // >>types */

/* MDYN_R(x): a state, a command, |x| < 2^23. MDYN_C(x): a model constant of any magnitude. In fixed
   point both are integers, made of constants by the compiler; arithmetic on an mdyn_real is that
   of integers, on an mdyn_wide there is none:
      mdyn_real   x 2^40                                          resolution 9.1e-13
      mdyn_wide   m 2^8 + (e mod 2^8) for x = m 2^e, |m| < 2^55   at least 39 digits of 2 */
#if MDYN_SCALAR == MDYN_SCALAR_FIXED
typedef int64_t mdyn_real;
typedef int64_t mdyn_wide;
#define MDYN_BELOW_(x, bound) ((x) < (bound) && (x) > -(bound))
#define MDYN_ROUND_(x) ((int64_t)((x) < 0 ? (x) - 0.5 : (x) + 0.5))
#define MDYN_WIDE_(x, e, scale) (MDYN_ROUND_((double)(x) * (scale)) * 256 + ((e) & 255))
#define MDYN_WIDE_HUGE_ 0x7FFFFFFFFFFFFF7F
#define MDYN_WIDE_MINUS_HUGE_ (-0x7FFFFFFFFFFFFF81)
#define MDYN_R(x) \
    (MDYN_BELOW_(x, 8388608.0) ? MDYN_ROUND_((double)(x) * 1099511627776.0) \
                               : -0x7FFFFFFFFFFFFFFF - 1)
#define MDYN_C(x) \
    ((x) == 0 ? 0 : \
     MDYN_BELOW_(x, 5.421010862427522e-20) ? MDYN_WIDE_(x, -119, 6.646139978924579e35) : \
     MDYN_BELOW_(x, 3.552713678800501e-15) ? MDYN_WIDE_(x, -103, 1.0141204801825835e31) : \
     MDYN_BELOW_(x, 2.3283064365386963e-10) ? MDYN_WIDE_(x, -87, 1.5474250491067253e26) : \
     MDYN_BELOW_(x, 1.52587890625e-05) ? MDYN_WIDE_(x, -71, 2.3611832414348226e21) : \
     MDYN_BELOW_(x, 0.00390625) ? MDYN_WIDE_(x, -63, 9.223372036854775808e18) : \
     MDYN_BELOW_(x, 1.0) ? MDYN_WIDE_(x, -55, 36028797018963968.0) : \
     MDYN_BELOW_(x, 256.0) ? MDYN_WIDE_(x, -47, 140737488355328.0) : \
     MDYN_BELOW_(x, 65536.0) ? MDYN_WIDE_(x, -39, 549755813888.0) : \
     MDYN_BELOW_(x, 4294967296.0) ? MDYN_WIDE_(x, -23, 8388608.0) : \
     MDYN_BELOW_(x, 281474976710656.0) ? MDYN_WIDE_(x, -7, 128.0) : \
     MDYN_BELOW_(x, 1.8446744073709552e19) ? MDYN_WIDE_(x, 9, 0.001953125) : \
     MDYN_BELOW_(x, 1.2089258196146292e24) ? MDYN_WIDE_(x, 25, 2.98023223876953125e-08) : \
     MDYN_BELOW_(x, 7.922816251426434e28) ? MDYN_WIDE_(x, 41, 4.547473508864641e-13) : \
     MDYN_BELOW_(x, 5.192296858534828e33) ? MDYN_WIDE_(x, 57, 6.938893903907228e-18) : \
     (x) < 0 ? MDYN_WIDE_MINUS_HUGE_ : MDYN_WIDE_HUGE_)
#else
#if MDYN_SCALAR == MDYN_SCALAR_F64
typedef double mdyn_real;
typedef double mdyn_wide;
#else
typedef float mdyn_real;
typedef float mdyn_wide;
#endif
#define MDYN_R(x) ((mdyn_real)(x))
#define MDYN_C(x) ((mdyn_wide)(x))
#endif

/* Larger than any bound that is meant: a limit, a range of this size or more is no bound. */
#if MDYN_SCALAR == MDYN_SCALAR_FIXED
#define MDYN_UNLIMITED (1000000000000 * 256) /* 1e12 2^0: can be negated */
#else
#define MDYN_UNLIMITED MDYN_C(1e12)
#endif

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
    mdyn_wide4 rotation;   /* of the joint in the parent's frame; of any length above 1e-6; zero
                              means none */
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
      MDYN_SOFT(erp, cfm)         cfm acts on the impulse [1/kg or 1/(kg m^2)]
      MDYN_ODE(erp, CFM)          CFM acts on the force [1/(kg s) ...]: cfm = CFM/dt
      MDYN_SPRING(kp, kd)         erp = dt kp/(dt kp + kd), cfm = 1/(dt (dt kp + kd))
      MDYN_FREQUENCY(omega, zeta) kp = omega^2/r, kd = 2 omega zeta/r, r = J M^-1 J^T of the row
                                  alone, M with armature and dt damping, as the step has it;
                                  omega in rad/s; hard if omega is 0
   In substeps dt is that of a substep. Source: PhysX mimic joints, equations (18), (20)-(29); ODE,
   manual 3.8.2. All zero: MDYN_HARD(0.2). */
typedef enum mdyn_softness_kind {
    MDYN_DEFAULT, MDYN_ERP_CFM, MDYN_KP_KD, MDYN_OMEGA_ZETA, MDYN_ODE_CFM
} mdyn_softness_kind;
typedef struct mdyn_softness {
    mdyn_softness_kind kind;
    mdyn_wide a, b;
} mdyn_softness;

#define MDYN_HARD(erp) { MDYN_ERP_CFM, MDYN_C(erp), MDYN_C(0) }
#define MDYN_SOFT(erp, cfm) { MDYN_ERP_CFM, MDYN_C(erp), MDYN_C(cfm) }
#define MDYN_ODE(erp, CFM) { MDYN_ODE_CFM, MDYN_C(erp), MDYN_C(CFM) }
#define MDYN_SPRING(kp, kd) { MDYN_KP_KD, MDYN_C(kp), MDYN_C(kd) }
#define MDYN_FREQUENCY(omega, zeta) { MDYN_OMEGA_ZETA, MDYN_C(omega), MDYN_C(zeta) }

typedef struct mdyn_term {
    int16_t body;           /* whose joint */
    int16_t axis;           /* which of its speeds: 0, but for spherical and free joints */
    mdyn_wide coefficient;  /* 0: the term is not there */
} mdyn_term;

typedef enum mdyn_level {
    MDYN_POSITION, /* C = sum of coefficient q + offset: joints of one speed only */
    MDYN_VELOCITY  /* C' = sum of coefficient v only, of any speeds; nothing is taken back; bounds
                      are those of C' - speed: [0, MDYN_UNLIMITED] is a one-way clutch */
} mdyn_level;

/* A coupling of joints of any trees: lower <= C <= upper with C = sum coefficient_i q_i + offset.
   Both bounds 0, as in every macro below: C = 0. Tooth counts make exact coefficients:
   MDYN_GEAR(A, teeth_a, B, teeth_b, 0) does not drift, however many turns.
   Source of the N-way row: PhysX mimic joints, equation (17). */
typedef struct mdyn_coupling {
    mdyn_term terms[MIMICDYN_MAX_TERMS];
    mdyn_wide offset;       /* of C, in its unit (README, Signs); not read at MDYN_VELOCITY */
    mdyn_softness softness;
    mdyn_wide lower, upper; /* range of C; +-MDYN_UNLIMITED: no bound on that side */
    mdyn_wide speed;        /* wanted C', beside taking C back; not read in a range of C */
    mdyn_wide effort;       /* most force along the row, >= 0; 0: no bound */
    mdyn_level level;
    const char *name;       /* for mdyn_explain; may be NULL */
    mdyn_wide efficiency;   /* part of the power that arrives, whether the first joint drives the
                               others or they drive it; 0: no loss. A row of its own, MDYN_ROW_LOSS,
                               rubs on the first joint's share of C' (on half the first coefficient
                               and minus half the others) with at most 2 (1 - e)/(1 + e) times the
                               force of the coupling. In between it sticks */
    mdyn_wide mu;           /* > 0: no more force than mu times that of coupling `mu_of`, nor than
                               effort, if there is one; 0: it is not so bounded */
    int16_t mu_of;
    int16_t breaks;         /* 1: once its effort does not hold it, it is released; not while mu
                               leaves it no force at all */
} mdyn_coupling;

#define MDYN_TERM(body, coefficient) { (int16_t)(body), 0, MDYN_C(coefficient) }
#define MDYN_COUPLING_END_ \
    { MDYN_DEFAULT, MDYN_C(0), MDYN_C(0) }, MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), \
    MDYN_POSITION, NULL, MDYN_C(0), MDYN_C(0), 0, 0
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

/* A loop: two bodies of the tree, or a body and the world, held together at a point of each. The
   rows are along the world's axes; their errors and forces are those of a against b.
      MDYN_CLOSE_POINT     3 rows: the points meet (ball joint)
      MDYN_CLOSE_HINGE     5 rows: and the axes are parallel; 3, 4: across the axis, in axes of b
      MDYN_CLOSE_WELD      6 rows: and the bodies do not turn against each other
      MDYN_CLOSE_DISTANCE  1 row: the points are `distance` apart (a rod with balls at its ends) */
typedef enum mdyn_closure_kind {
    MDYN_CLOSE_POINT, MDYN_CLOSE_HINGE, MDYN_CLOSE_WELD, MDYN_CLOSE_DISTANCE
} mdyn_closure_kind;

typedef struct mdyn_closure {
    mdyn_closure_kind kind;
    int16_t a, b;                /* one of them may be MDYN_WORLD */
    mdyn_wide3 point_a, point_b; /* in the axes of a, of b [m] */
    mdyn_wide3 axis_a, axis_b;   /* hinge: in the axes of a, of b; of any length above 1e-6; zero
                                    means z. Opposite ones are parallel too */
    mdyn_wide4 rotation;         /* weld: of a in the axes of b; length above 1e-6; zero: none */
    mdyn_wide distance;          /* > 0 [m] */
    mdyn_softness softness;
    mdyn_wide effort;            /* most force or moment of each row; 0: no bound */
    const char *name;            /* for mdyn_explain; may be NULL */
} mdyn_closure;

/* What a row feels of a body, and the wrench that its unit force is to it. */
typedef enum mdyn_axes {
    MDYN_WORLD_AXES, /* at the body's origin, world axes */
    MDYN_BODY_AXES,  /* at the body's origin, in the body's axes */
    MDYN_JOINT_SPEEDS /* not the body, but its joint: `angular` are the coefficients of its first
                         three speeds, `linear` those of the others; what it has not is not read */
} mdyn_axes;
typedef struct mdyn_part {
    int16_t body;    /* MDYN_WORLD: the part is not there */
    mdyn_axes axes;
    mdyn_wide3 angular, linear; /* of the angular velocity, of the origin's velocity */
} mdyn_part;

/* A row of your own on any number of bodies: C' = sum of (angular . omega + linear . velocity).
   What a callback leaves at zero is not there. In ODE's terms: speed = c, MDYN_ODE(ERP, CFM),
   least = lo, most = hi (forces), friction = hi and normal = findex of a friction row. */
typedef struct mdyn_body_row {
    mdyn_part parts[MIMICDYN_MAX_TERMS];
    mdyn_wide value;        /* C now; not read at MDYN_VELOCITY */
    mdyn_softness softness;
    mdyn_wide lower, upper; /* range of C, as in a coupling; both 0: C = 0. At MDYN_VELOCITY they
                               are those of C' - speed */
    mdyn_wide speed;        /* wanted C', beside taking C back; not read in a range of C */
    mdyn_wide least, most;  /* of the force; both 0: no bound; +-MDYN_UNLIMITED: none on a side */
    mdyn_wide friction;     /* > 0: no more force than this times that of row `normal`, at its */
    int16_t normal;         /* impulse in the same solve; least and most are not read then. That
                               row is no friction row itself */
    mdyn_level level;
    const char *name;       /* for mdyn_explain; may be NULL */
} mdyn_body_row;

/* Called in each step, once for each own row, with a copy of the row of the table: sets what the
   state asks. q and v are those at the start of the step; calls that look at the sim (mdyn_pose,
   mdyn_velocity, mdyn_jacobian) may be used, those that change it may not. */
struct mdyn_sim;
typedef void (*mdyn_row_function)(struct mdyn_sim *sim, int index, mdyn_body_row *row, void *user);

/* A contact that the caller has found. Stacks rest with a small erp, say MDYN_HARD(0.02): the speed
   at which overlap is taken back stays with the bodies. Three rows: 3 contact: along the normal,
   low = depth erp/dt, or minus the gap over dt, so that nothing is passed; 3 contact + 1, + 2:
   friction along two directions across it. */
typedef struct mdyn_contact {
    int16_t a, b;           /* bodies; one of them may be MDYN_WORLD */
    uint16_t key;           /* contacts of equal a, b, key in two steps are the same one: its
                               impulses are where the sweeps begin. Another one for each contact
                               of a and b */
    mdyn_real3 point;       /* world axes [m] */
    mdyn_real3 normal;      /* from b towards a, world axes; of any length above 1e-6 */
    mdyn_real depth;        /* of the overlap [m]; < 0: a gap */
    mdyn_wide friction;     /* coefficient, >= 0 */
    mdyn_softness softness; /* of the row along the normal */
} mdyn_contact;

/* The law of friction that follows another row, in every sweep. */
typedef enum mdyn_friction {
    MDYN_PYRAMID,  /* each row for itself: |t| <= mu n */
    MDYN_CONE,     /* the two rows of a contact together: |(t1, t2)| <= mu n, along the slip; own
                      rows each for itself */
    MDYN_TWO_STAGE /* ODE's: n is found without friction, then |t| <= mu n with that n */
} mdyn_friction;

typedef enum mdyn_equality {
    MDYN_EXACT,   /* rows without a bound on their impulse: all together, exactly */
    MDYN_ITERATED /* they too by sweeps, with all others, in the declared order */
} mdyn_equality;

/* How the rows with a bound on their impulse are solved. */
typedef enum mdyn_method {
    MDYN_PGS,    /* SOR-PGS: sweeps (projected Gauss-Seidel with over-relaxation) over the step */
    MDYN_TGS,    /* the same in `substeps` parts of the step */
    MDYN_DANTZIG /* pivoting: exactly, in bounded time. Needs MIMICDYN_MAX_DANTZIG; friction is a
                    pyramid, `start` is not read. What it cannot solve is left to the sweeps, and
                    mdyn_step says so */
} mdyn_method;

typedef enum mdyn_start {
    MDYN_WARM, /* sweeps begin at the impulses of the last step or substep. Once the sweeps do not
                  suffice, without what took back errors of position, which would add up: then a
                  step has sweeps that leave these errors alone first, for the next one to begin
                  at, and as many more that take them back. If a coupling wants a speed, rows may
                  contradict each other: less what the last sweep still added, times the sweeps */
    MDYN_COLD  /* sweeps begin at zero */
} mdyn_start;

typedef enum mdyn_correction {
    MDYN_BAUMGARTE, /* errors of position are taken back by a speed, which stays */
    MDYN_RELAX      /* they move q alone: after that the rows are solved once more without them,
                       for v and the impulses. No energy comes from them; soft rows keep theirs.
                       Limits that only this v leads out of wait for the next step */
} mdyn_correction;

typedef enum mdyn_limits {
    MDYN_SPECULATIVE, /* limits and ranges are always there: C goes as far as its bound in a step */
    MDYN_ENGAGED      /* only while they are engaged: from the first step that begins outside, for
                         at least two, until C is inside and moves on inwards. An engaged one stops
                         C, and what lies outside by more than `deadband` is moved back, all of it,
                         as in MDYN_RELAX, which goes with this. Ranges of couplings and of own rows
                         too; bounds of speeds are always there.
                         Source: ArtiSynth, (4.24), (4.29), (4.32) */
} mdyn_limits;

/* How the rows are solved. All zero is the default. */
typedef struct mdyn_solver {
    mdyn_method method;
    mdyn_equality equality;
    mdyn_start start;
    uint16_t sweeps;      /* most sweeps in a step, and as many again for the rows that turn out
                             to be needed only by the motion that the others leave; 0: 100 */
    mdyn_wide relaxation; /* over- or under-relaxation, 0 < omega < 2; 0: 1 */
    mdyn_wide tolerance;  /* sweeps end when no impulse moves by more than this part of the
                             largest impulse, or of the largest change of speed (compared in
                             units of the root of energy); 0: a few rounding errors */
    mdyn_correction correction;
    uint16_t substeps;    /* MDYN_TGS: a step is solved in so many parts of h = dt/substeps, each
                             with its share of the forces, C moved on by the parts before, erp and
                             cfm of h; M and J are those of the start. Impulses are sums. 0: 4.
                             `sweeps` are those of a part, 0: 1. The others: 0 or 1, one part.
                             PhysX mimic joints, (16) */
    mdyn_limits limits;
    mdyn_wide deadband;   /* of engaged limits and ranges, in units of C; >= 0 */
    mdyn_friction friction;
} mdyn_solver;

typedef struct mdyn_model {
    const mdyn_body *bodies;
    int body_count;
    const mdyn_coupling *couplings;
    int coupling_count;
    mdyn_wide3 gravity; /* [m/s^2], world axes */
    mdyn_wide dt;       /* step [s], 1e-9 to 1 */
    mdyn_solver solver;
    const mdyn_closure *closures;
    int closure_count;
    const mdyn_body_row *rows;      /* own rows; NULL: all zero, filled in by row_function */
    int row_count;
    mdyn_row_function row_function; /* NULL: the rows are as the table says */
    void *row_user;                 /* passed to row_function */
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
    X(WARN_NO_SOLUTION, 4, "rows contradict each other: no x solves them all", \
      "remove one of them, give it bounds, or make it soft: add to its diagonal element") \
    X(WARN_NOT_CONVERGED, 5, "the iteration ended before all rows were solved", \
      "see report.residual; more sweeps, a larger tolerance, or softer rows") \
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
    X(ERR_JOINT, -10, "the joint type is unknown, or left out of this build", \
      "use one of mdyn_joint; spherical and free ones need MIMICDYN_QUATERNIONS 1") \
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
    X(ERR_LEVEL, -20, "a coupling of positions has a joint of several coordinates, or the level " \
      "is unknown", "joints of several coordinates: MDYN_VELOCITY") \
    X(ERR_SOFTNESS, -21, "the softness is out of range", \
      "0 <= erp <= 1, and cfm, kp, kd, omega, zeta >= 0") \
    X(ERR_DT, -22, "the step is not a number from 1e-9 s to 1 s", "give dt in seconds") \
    X(ERR_SOLVER, -23, "a solver setting is out of range, or left out of this build", \
      "0 < relaxation < 2; tolerance, deadband >= 0; substeps > 1 with MDYN_TGS only, no " \
      "MDYN_CONE with MDYN_DANTZIG; all but the default ways of solving need MIMICDYN_SETTINGS 1") \
    X(ERR_STATE, -24, "a coordinate, speed, command, target or wrench is NaN, infinite or 2^23 " \
      "and beyond, or a quaternion is zero", "correct the input; the state was left as it was") \
    X(ERR_OVERFLOW, -25, "the motion, or a result, would leave the range of the numbers", \
      "a smaller step, a smaller command; the state was left as it was") \
    X(ERR_SINGULAR, -26, "the mass matrix has lost its rank to rounding", \
      "give light joints an armature") \
    X(ERR_INDEX, -27, "an index is out of range", "count from 0") \
    X(ERR_ROOM, -28, "the text does not fit", "pass a larger buffer") \
    X(ERR_TREE, -29, "this build has no trees: only revolute and prismatic joints on the world " \
      "with no inertia but their armature", "give the armature; or build with MIMICDYN_TREE 1") \
    X(ERR_LCP_SIZE, -30, "there are below 0 or above 4096 rows, or too few cells for them", \
      "pass MDYN_LCP_SCRATCH(n) cells, mdyn_lcp_pgs MDYN_PGS_SCRATCH(n)") \
    X(ERR_LCP_MATRIX, -31, "A is not positive semi-definite: A_ij^2 > A_ii A_jj in this row, or " \
      "A_ii is neither 0 nor 1e-30 and above", "A = J M^-1 J^T; look at how the row was made") \
    X(ERR_FINDEX, -32, "a friction index names no row, the row itself or another friction row", \
      "name a row without friction index; -1 for none") \
    X(ERR_LOSS, -33, "efficiency, mu or mu_of is out of range, or a coupling without efficiency " \
      "gets one, or this build has none", "0 < efficiency <= 1 from mdyn_init on; mu >= 0, mu_of " \
      "another coupling; MIMICDYN_LOSSES 1") \
    X(ERR_CAPACITY_BODY_ROWS, -40, "there are more rows on bodies, or contacts, than the sim " \
      "holds", "raise MIMICDYN_MAX_BODY_ROWS or MIMICDYN_MAX_CONTACTS") \
    X(ERR_CLOSURE, -41, "a closure names a body that is not there or twice the same, or its " \
      "distance, an axis or the rotation has no length", \
      "name two bodies, or one and MDYN_WORLD; lengths above 1e-6") \
    X(ERR_BODY_ROW, -42, "an own row names a body or row that is not there, or its bounds cross", \
      "look at what the table or the callback gives for the row") \
    X(ERR_CONTACT, -43, "a contact names a body that is not there or twice the same, has no " \
      "normal, or a negative friction", "correct the contact; those set before are kept") \
    X(ERR_CAPACITY_DANTZIG, -44, "MDYN_DANTZIG has more rows with a bound than the sim holds", \
      "raise MIMICDYN_MAX_DANTZIG, or take MDYN_PGS")

typedef enum mdyn_code {
#define MDYN_CODE_(name, value, sentence, remedy) MDYN_##name = value,
    MDYN_CODES(MDYN_CODE_)
#undef MDYN_CODE_
    MDYN_CODES_END_ = 127
} mdyn_code;

/* What a code speaks of. */
typedef struct mdyn_culprit {
    int16_t code;  /* mdyn_code of the last call that had something to say */
    int16_t index; /* body, coupling, closure, own row, contact, speed or coordinate, by the
                      sentence and the call; -1: none */
    uint8_t sticky; /* MDYN_ROW_... of any row in any step since mdyn_init or mdyn_reset, and
                       MDYN_SINGULAR if a step was refused for that */
} mdyn_culprit;

/* The kinds of row, in the order in which they are solved. */
typedef enum mdyn_row_kind {
    MDYN_ROW_COUPLING, /* index: coupling */
    MDYN_ROW_LOSS,     /* index: coupling, if it has an efficiency */
    MDYN_ROW_DRIVE,    /* index: speed (mdyn_dof of the body) */
    MDYN_ROW_FRICTION, /* index: speed */
    MDYN_ROW_LIMIT,    /* index: speed */
    MDYN_ROW_CLOSURE,  /* index: 6 closure + row of it */
    MDYN_ROW_BODY,     /* index: own row */
    MDYN_ROW_CONTACT   /* index: 3 contact + 0 (normal), 1, 2 (friction) */
} mdyn_row_kind;

enum {
    MDYN_ROW_SATURATED = 1,    /* the impulse is at its bound, in a substep at least */
    MDYN_ROW_REDUNDANT = 2,    /* earlier exact rows already decide this one: it carries no impulse.
                                  Where all are swept (MDYN_ITERATED) none is */
    MDYN_ROW_CONTRADICTORY = 4, /* ... and decide otherwise, if it is an exact row too, or pivoted:
                                   see `residual` */
    MDYN_ROW_RELEASED = 8,     /* a coupling that was released, or has broken */
    MDYN_ROW_AT_LOWER = 16,    /* engaged at its lower bound: MDYN_ENGAGED */
    MDYN_ROW_AT_UPPER = 32,    /* ... at its upper bound */
    MDYN_SINGULAR = 128        /* of mdyn_culprit.sticky */
};

/* What a row did in the last step. Units by the row's own C: [C]/s for speeds. */
typedef struct mdyn_row_report {
    mdyn_wide impulse;  /* signed; a joint gets coefficient * impulse [N m s or N s] */
    mdyn_wide force;    /* impulse / dt; in a range > 0 at its lower end, < 0 at its upper */
    mdyn_wide power;    /* force times the row's speed after the step: given to the joints [W] */
    mdyn_wide error;    /* C at the start of the step, or of its last substep; for a range, how far
                           outside it */
    mdyn_wide speed;    /* C' after the step */
    mdyn_wide residual; /* by how much C' + cfm impulse misses what was asked */
    uint8_t flags;      /* MDYN_ROW_... */
} mdyn_row_report;

/* What the last step did. */
typedef struct mdyn_report {
    int16_t sweeps;         /* sweeps over the bounded rows; 32767: so many or more. MDYN_DANTZIG:
                               those for what it did not solve */
    int16_t pivots;         /* MDYN_DANTZIG: rows driven; 32767: so many or more */
    int16_t unsolved;       /* MDYN_DANTZIG: problems of this step that it did not solve */
    int16_t redundant;      /* rows that earlier rows decide */
    int16_t contradictory;  /* ... and decide otherwise */
    int16_t broken;         /* couplings that have broken in this step */
    int16_t entries;        /* numbers in the rows, of MIMICDYN_MAX_ENTRIES */
    mdyn_wide residual;     /* largest change of an impulse in the last sweep, relative as in
                               mdyn_solver.tolerance, 0 where it is rounding; MDYN_DANTZIG: by one
                               that tries it */
} mdyn_report;

/* ---- private: what a sim is made of. Size and contents may change. ---- */

#ifdef MDYN_CHECKED_NUMBERS_ /* the tests put classes here that refuse raw arithmetic */
typedef mdyn_checked_num_ md_num;
typedef mdyn_checked_unit_ md_unit;
#else
typedef mdyn_real md_num; /* a scalar of any magnitude */
#if MDYN_SCALAR == MDYN_SCALAR_FIXED
typedef int32_t md_unit;  /* an element of a unit vector, or of the block that goes with them */
#else
typedef mdyn_real md_unit;
#endif
#endif
typedef int16_t md_scale;  /* common exponent of a block of md_unit */
typedef uint32_t md_strain; /* how near numbers of a block have come to its bounds; floats: 0 */

#if MDYN_SCALAR == MDYN_SCALAR_FIXED
typedef uint32_t md_tail; /* what rounding cut off a coordinate or a speed, in 2^-64 */
typedef struct md_sum { int64_t hi; uint64_t lo; } md_sum;
typedef struct md_vec { int32_t m[4]; } md_vec;  /* numbers m 2^e of one e, which is last */
typedef struct md_mat { int32_t m[10]; } md_mat; /* row by row */
typedef struct md_sym { int32_t m[7]; } md_sym;  /* xx, yy, zz, xy, xz, yz */
#else
typedef mdyn_real md_tail;
typedef struct md_sum { mdyn_real hi, lo; } md_sum;
typedef struct md_vec { md_num x, y, z; } md_vec;
typedef struct md_mat { md_num xx, xy, xz, yx, yy, yz, zx, zy, zz; } md_mat;
typedef struct md_sym { md_num xx, yy, zz, xy, xz, yz; } md_sym;
#endif
#if MIMICDYN_TREE
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
#endif

typedef struct md_link { /* constant; the joint turns or shifts along x, y or z of its frame */
    int16_t parent, dof, coordinate;
    uint8_t joint, dofs;
#if MIMICDYN_TREE
    uint8_t axis;    /* 0, 1, 2 */
    uint8_t upright; /* `rotation` is none */
    md_mat rotation; /* of the joint in the parent */
    md_vec position;
    md_num mass;
    md_vec moment;   /* mass times centre of mass */
    md_sym inertia;  /* about the origin */
#endif
} md_link;

#if MIMICDYN_TREE
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
#endif

typedef struct md_dof { /* a column S of the joint, at the origin, world axes; see >>dynamics */
    int16_t body;
    int16_t coordinate; /* of a joint with one speed; -1: another */
    uint8_t kind;     /* MD_ANGULAR, MD_LINEAR, MD_SCREW */
    md_scale scale;   /* s: M is factored for speeds in units of 2^-s; floats need none */
#if MIMICDYN_TREE
    md_num pitch;
    md_vec axis;
    md_force W;     /* articulated inertia times S, over sqrt(D) */
#endif
} md_dof;

typedef struct md_terms { /* speeds of a row that is not on bodies; see >>rows */
    int count;
    int16_t dof[MIMICDYN_MAX_TERMS];
    mdyn_wide coefficient[MIMICDYN_MAX_TERMS];
    md_num number[MIMICDYN_MAX_TERMS]; /* the same */
} md_terms;

typedef struct md_place { /* C of a row: one coordinate, or sum of coefficient q + offset */
    md_sum C;
    md_num shift; /* by how much the substeps so far have moved it */
} md_place;

typedef struct md_row { /* see >>rows, >>equality */
    int16_t index;
    uint8_t kind;
    uint8_t boundless;             /* no bound on its impulse */
    uint8_t flags;
    uint8_t turns, active;         /* set up: as an exact row; as one solved by sweeps */
    uint8_t resting;               /* not set up in this step */
    int8_t hold;                   /* engaged for 1, 2 or more steps; < 0: at the upper bound */
    int16_t first, lone, shared, end; /* where its entries of each kind begin; those owned first */
    int16_t given;                 /* how many rows of this solve own: all from `first` or none */
    int16_t pivot;                 /* coordinate that it owns; -1: none */
    md_num error, low, high, cfm;  /* low <= J v' + cfm impulse <= high */
    md_num erp, back;              /* of these bounds, what takes back the error */
    md_num least, most, impulse;   /* least <= impulse <= most */
    md_num start;                  /* impulse for the next warm start */
    md_num scale, Jv;              /* 1/length in whitened coordinates; J v before */
    md_num inverse;                /* 1/what earlier rows leave of it: at its pivot; its length */
    md_num length;                 /* of a bounded row: 1/scale; of an exact one, in w: squared */
    md_unit tau_lone, tau_shared;  /* of its reflections */
    md_unit soft;                  /* the part of cfm in its length */
    md_unit u_low, u_high, u_least, u_most, u_lambda; /* of the row scaled to length 1 */
    md_unit u_moved;               /* change of u_lambda in the last visit */
    md_unit u_start;               /* u_lambda before errors were taken back */
    md_num sum;                    /* of the impulses of substeps */
} md_row;

typedef struct md_outcome { /* of a row, after a step */
    md_num error, low, high, yielded, impulse, start; /* yielded: cfm impulse */
    uint32_t step;  /* the step that it took part in last; in others it rested */
    uint8_t flags;
    int8_t hold;
} md_outcome;

#define MD_NOWHERE (-30000) /* exponent of a block of zeros */

typedef struct md_edge {  /* of a row of a step; see >>lcp */
    md_num low, high;     /* b above, below the edge */
    md_num least, most;   /* bounds of x; at most `cap` for one that follows another */
    md_num cap;
} md_edge;

#if MIMICDYN_MAX_DANTZIG > 0
typedef struct md_dantzig { /* room to pivot in */
    md_num number[MIMICDYN_MAX_DANTZIG * (MIMICDYN_MAX_DANTZIG + 11)];
    int index[2 * MIMICDYN_MAX_DANTZIG];
    md_edge edge[MIMICDYN_MAX_DANTZIG];
    mdyn_wide mu[MIMICDYN_MAX_DANTZIG];
    int16_t findex[MIMICDYN_MAX_DANTZIG], row[MIMICDYN_MAX_DANTZIG];
} md_dantzig;
#endif

#if MDYN_BODY_ROWS_ > 0
typedef struct md_body_row { /* a row on bodies as it is in this step; see >>bodies */
    int16_t parts, normal;            /* row whose impulse bounds this one; -1: none */
    uint8_t boundless;
    uint8_t level;                    /* mdyn_level */
    uint8_t cone;                     /* 1, 2: first and second of a pair bounded together */
    int16_t body[MIMICDYN_MAX_TERMS];
    uint8_t joint[MIMICDYN_MAX_TERMS]; /* the part is of the joint's speeds */
    md_force wrench[MIMICDYN_MAX_TERMS]; /* at the origin, world axes */
    mdyn_softness softness;
    mdyn_wide lower, upper;
    md_num value, speed, least, most, friction;
    md_num drift;                     /* J' v */
    md_num size;                      /* of the numbers whose difference `value` is */
    md_num reach;                     /* square of the length that J could have, whitened */
    md_num ratio, after;              /* bound for a unit of the normal's u_lambda; J v' */
    md_unit bound;
} md_body_row;
#endif
#if MIMICDYN_MAX_CONTACTS > 0
typedef struct md_contact {
    int16_t a, b;
    uint16_t key;
    md_vec point, way[3];   /* normal, two directions across it */
    md_num depth, friction;
    mdyn_softness softness;
} md_contact;

typedef struct md_touch { /* a contact of the step before: its impulse, for the warm start */
    int16_t a, b;
    uint16_t key;
    md_vec impulse;
} md_touch;
#endif

enum { MDYN_SPACE_ = MIMICDYN_MAX_DOFS + MIMICDYN_MAX_ROWS };

/* ---- the sim ---- */

#if MIMICDYN_TREE
typedef struct mdyn_wrench { mdyn_real3 moment, force; } mdyn_wrench;
#endif

/* A mechanism in motion. What is marked so is yours to read and write between calls; speeds are
   numbered by mdyn_dof, coordinates by mdyn_coordinate (when every joint has one, both are the
   index of the body). sizeof(mdyn_sim) grows with the knobs; place it where you like. */
typedef struct mdyn_sim {
    /* private, and first because short instructions reach no farther */
    int16_t bodies, dofs, coordinates, couplings, drives, rows;
    int16_t lives, exacts; /* how many rows are in this solve; of them exact */
    const mdyn_model *model;
    md_strain strain; /* of the blocks of md_unit in this solve */
    int32_t entries, sweeps;
    uint32_t ready, stale;
    uint32_t step; /* counts them */
    md_num dt, inverse_dt, h, inverse_h; /* of a step, of a substep */
    mdyn_wide residual;
    int16_t dropped; /* boundless rows that depend on others */
    int16_t plain;   /* rows that are not on bodies; the first of all */
    int16_t planned; /* places of `order` with the layout that md_plan gave them; -1: md_lay_out */
    int16_t plan_entries; /* what md_plan took */
    uint8_t parting; /* rows solved in this step have errors that are taken back by themselves */
    uint8_t urged;   /* a hard coupling wants a speed */
    uint8_t pushed;  /* there are external wrenches */
    uint8_t moved;   /* sim->shift is what q moves by in this step */
    uint8_t skipping; /* rows that are released or not engaged are left out of this step */
    uint8_t hasty, hurried; /* the sweeps did not suffice: in this step, in the last one */
    uint8_t followers; /* there are rows whose bound is the impulse of another */

    /* yours */
    mdyn_real q[MDYN_COORDINATES];              /* coordinates [rad, m, quaternions] */
    mdyn_real v[MIMICDYN_MAX_DOFS];             /* speeds [rad/s, m/s] */
    mdyn_real tau[MIMICDYN_MAX_DOFS];           /* commanded joint forces [N m, N]; kept */
    mdyn_real target[MIMICDYN_MAX_DOFS];        /* drives: coordinate wanted */
    mdyn_real target_speed[MIMICDYN_MAX_DOFS];  /* drives: speed wanted */
#if MIMICDYN_TREE
    mdyn_wrench wrench[MIMICDYN_MAX_BODIES];    /* on the body's origin, world axes; kept */
#endif
    mdyn_report report;
    mdyn_culprit culprit;

    /* private */
    int16_t live[MIMICDYN_MAX_ROWS]; /* rows of this solve, the exact ones first */
    int32_t pivots;
    int16_t unsolved, stuck; /* problems that pivoting did not solve; one has no solution */
    mdyn_real q_seen[MDYN_COORDINATES], v_seen[MIMICDYN_MAX_DOFS];
    md_tail q_tail[MDYN_COORDINATES], v_tail[MIMICDYN_MAX_DOFS];
    mdyn_coupling coupling[MIMICDYN_MAX_COUPLINGS];
    uint8_t coupling_terms[MIMICDYN_MAX_COUPLINGS]; /* how many coefficients are not 0 */
    uint8_t off[MIMICDYN_MAX_COUPLINGS];            /* released */
    md_terms terms; /* of the row at hand, and its C: not on the stack */
    md_place place;
    md_link link[MIMICDYN_MAX_BODIES];
    int16_t up[MIMICDYN_MAX_DOFS]; /* the next speed on the way to the world; -1: none */
    md_dof dof[MIMICDYN_MAX_DOFS];
    md_num rsqrt_D[MIMICDYN_MAX_DOFS]; /* D = S^T inertia S; of the factors 1/L_kk */
#if MIMICDYN_TREE
    md_pose pose[MIMICDYN_MAX_BODIES];
    md_work work[MIMICDYN_MAX_BODIES];
    md_force force[MIMICDYN_MAX_BODIES];
    md_motion motion[MIMICDYN_MAX_BODIES];
#endif
    md_num z[MIMICDYN_MAX_DOFS], u[MIMICDYN_MAX_DOFS], shift[MIMICDYN_MAX_DOFS];
    md_unit b[MIMICDYN_MAX_DOFS], start[MIMICDYN_MAX_DOFS]; /* start: of a solve, to relax */
    md_row row[MIMICDYN_MAX_ROWS];
    md_outcome outcome[MIMICDYN_MAX_ROWS];
    md_unit du[MDYN_SPACE_], y[MDYN_SPACE_], w[MDYN_SPACE_];
    int16_t owner[MDYN_SPACE_], last_use[MIMICDYN_MAX_DOFS], order[MIMICDYN_MAX_ROWS];
    uint8_t mark[MDYN_SPACE_];
    int16_t path[MIMICDYN_MAX_DOFS + 1]; /* where the rows of L begin in `entry`, diagonal first */
#if MDYN_BODY_ROWS_ > 0
    int16_t closed;  /* rows without those of contacts */
    uint8_t stage;   /* of friction in two stages: 1 without it, 2 with fixed bounds */
    md_body_row body_row[MDYN_BODY_ROWS_];
    md_num J[MIMICDYN_MAX_DOFS], J_size[MIMICDYN_MAX_DOFS];
#endif
#if MIMICDYN_MAX_BODY_ROWS > 0
    mdyn_real q_kept[MDYN_COORDINATES], v_kept[MIMICDYN_MAX_DOFS]; /* of mdyn_project */
    md_tail q_tail_kept[MDYN_COORDINATES], v_tail_kept[MIMICDYN_MAX_DOFS];
#endif
#if MIMICDYN_MAX_CONTACTS > 0
    int16_t contacts;
    uint8_t touched; /* contacts were set since the last step */
    md_contact contact[MIMICDYN_MAX_CONTACTS];
    md_touch touch[MIMICDYN_MAX_CONTACTS];
#endif
    md_unit entry[MIMICDYN_MAX_ENTRIES];
    int16_t entry_at[MIMICDYN_MAX_ENTRIES];
#if MIMICDYN_MAX_DANTZIG > 0
    md_dantzig dantzig;
#endif
} mdyn_sim;

/* ============================================================================= // >>calls
   In order of use. n = speeds of the model, b = bodies, d = depth of the tree, r = rows.
   Pointers to results may point anywhere but into the sim, and not at each other.
   A call that returns an error has written nothing but sim->culprit; after an error of mdyn_init
   the sim is not ready. All calls: MDYN_ERR_NULL for a pointer that may not be NULL,
   MDYN_ERR_NOT_READY. Those that read q, v, tau or wrench: MDYN_ERR_STATE. Those that name a body,
   speed, row or term: MDYN_ERR_INDEX.                                                      */

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
#define MDYN_JOIN_(scalar, tree, bodies, dofs, couplings, rows, terms, entries, body_rows, \
                  contacts, dantzig) \
    mimicdyn_##scalar##_tree_##tree##_bodies_##bodies##_dofs_##dofs##_couplings_##couplings \
    ##_rows_##rows##_terms_##terms##_entries_##entries##_body_rows_##body_rows \
    ##_contacts_##contacts##_dantzig_##dantzig
#define MDYN_JOIN(scalar, tree, bodies, dofs, couplings, rows, terms, entries, body_rows, \
                  contacts, dantzig) \
    MDYN_JOIN_(scalar, tree, bodies, dofs, couplings, rows, terms, entries, body_rows, contacts, \
               dantzig)
#define MDYN_CONFIGURATION \
    MDYN_JOIN(MIMICDYN_SCALAR, MIMICDYN_TREE, MIMICDYN_MAX_BODIES, MDYN_SPELL_DOFS_, \
              MDYN_SPELL_COUPLINGS_, MDYN_SPELL_ROWS_, MIMICDYN_MAX_TERMS, MDYN_SPELL_ENTRIES_, \
              MIMICDYN_MAX_BODY_ROWS, MIMICDYN_MAX_CONTACTS, MIMICDYN_MAX_DANTZIG)
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

/* Forgets what earlier steps left: impulses, what rows report, engagement, the digits beyond q and
   v, sticky flags; and contacts that were set. Couplings that are released, or have broken, stay
   so. For after a jump of the state; a changed q or v alone is noticed by itself. O(r + n) */
MDYN_API int mdyn_reset(mdyn_sim *sim);

/* Replaces a coupling: other ratios, offset, softness, range, speed, effort, joints even.
   Checked as in mdyn_init; the next call goes by it. O(r) while the joints stay, if it is hard and
   without a bound also the ratios, and no coupling is redundant: what then contradicts is reported
   by the next step, an empty range by mdyn_range. If joints, ratios, hardness or boundedness
   change, or if a coupling is redundant, the plan is made anew, with the warnings of mdyn_init:
   O(r^2 + r n + n c^2). Errors: those of mdyn_init; MDYN_ERR_INDEX, MDYN_ERR_LOSS; MDYN_ERR_STATE,
   MDYN_ERR_SINGULAR, MDYN_ERR_OVERFLOW from making the plan anew. */
MDYN_API int mdyn_set_coupling(mdyn_sim *sim, int coupling, const mdyn_coupling *c);

/* Releases a coupling (on = 0), which then is not there, or engages it (again) as the joints are:
   its offset is set so that C, if outside its range, is at the nearest bound. Either way it forgets
   its impulses. Speeds that differ meet in the next step: the effort says how hard. Errors:
   MDYN_ERR_INDEX, MDYN_ERR_STATE; those of mdyn_set_coupling, and its cost. */
MDYN_API int mdyn_engage(mdyn_sim *sim, int coupling, int on);

/* Moves the state onto the hard couplings and closures whose force is free: of couplings those
   without effort, efficiency and mu that no other one names in mu_of, of closures those without
   effort. The others are left as they are.
   MDYN_MASS_METRIC: the shortest way, weighed by M: heavy joints move least.
   MDYN_FOLLOWERS: leaders stay; each coupling moves its first term's joint. Chains in any order.
   Closures are left as they are.
   Warning MDYN_WARN_CONTRADICTION if couplings or closures remain open; with MIMICDYN_EXACT 0 also
   if 2000 sweeps did not suffice. Cost: a step, with closures at most 101; or c^2 terms. */
typedef enum mdyn_metric { MDYN_MASS_METRIC, MDYN_FOLLOWERS } mdyn_metric;
MDYN_API int mdyn_project(mdyn_sim *sim, mdyn_metric metric);

/* The contacts of the next step, in place of any set before; a step uses them up, and one without
   has none. Errors: MDYN_ERR_CONTACT, MDYN_ERR_STATE, MDYN_ERR_NOT_FINITE, MDYN_ERR_SOFTNESS
   (index: contact), MDYN_ERR_CAPACITY_BODY_ROWS, MDYN_ERR_CAPACITY_ROWS; contacts set before
   remain. contacts may be NULL if count is 0. Cost: O(count^2) comparisons of keys. */
MDYN_API int mdyn_set_contacts(mdyn_sim *sim, const mdyn_contact *contacts, int count);

/* One time step of model->dt. Errors: MDYN_ERR_STATE (index: coordinate, speed or body),
   MDYN_ERR_OVERFLOW, MDYN_ERR_SINGULAR; with rows on bodies MDYN_ERR_CAPACITY_ENTRIES, and for what
   a callback has left (index: own row) MDYN_ERR_NOT_FINITE, MDYN_ERR_SOFTNESS, MDYN_ERR_BODY_ROW;
   the state is as before. What the rows did: sim->report, mdyn_row.
   Cost: O(b d + n d^2) for M, O(entries + c d) for the couplings, then at most 2 solver.sweeps + r
   sweeps of O(entries) over the bounded rows; where errors of position are taken back by
   themselves up to three times that (mdyn_start, mdyn_correction), and all of the rows' part
   `substeps` times; in fixed point again for each time that a block has to be widened.
   MDYN_DANTZIG, of m bounded rows: MDYN_ERR_CAPACITY_DANTZIG. MDYN_WARN_NO_SOLUTION: rows
   contradict each other; those marked MDYN_ROW_CONTRADICTORY do not hold, the others do.
   MDYN_WARN_NOT_CONVERGED: rows nearly depend on each other, or friction did not settle; sweeps
   did the step, as MDYN_PGS with MDYN_COLD: report.unsolved, report.residual. Cost: for each time
   that ranges turn out to be needed, at most r, and twice with MDYN_RELAX, O(m entries) and that of
   mdyn_lcp_dantzig. */
MDYN_API int mdyn_step(mdyn_sim *sim);

/* What row `index` of a kind did in the last step; speeds are read from sim->v. MDYN_ERR_OVERFLOW
   if a result is 1e30 or more. O(r + terms) */
MDYN_API int mdyn_row(const mdyn_sim *sim, mdyn_row_kind kind, int index, mdyn_row_report *report);

/* Force that a coupling gave the joint of one of its terms in the last step, its loss included
   [N m or N]. MDYN_ERR_OVERFLOW from 1e30 on. O(1), with an efficiency O(rows). */
MDYN_API int mdyn_share(const mdyn_sim *sim, int coupling, int term, mdyn_wide *force);

/* Positions that the limits of a joint of one coordinate and of all joints coupled to it leave
   it, +-MDYN_UNLIMITED where none. Hard couplings of two joints are followed, in chains; so are
   hard couplings, with a range or without, of any joints that these tie to it, or of it alone.
   Warning MDYN_WARN_EMPTY_RANGE if none is left (then lower > upper). O(couplings^2) */
MDYN_API int mdyn_range(mdyn_sim *sim, int body, mdyn_wide *lower, mdyn_wide *upper);

/* The angle of the same direction as `angle` that is nearest to `reference` [rad]: for joints whose
   range is more than a turn. Both within +-2^23. O(1) */
MDYN_API mdyn_real mdyn_nearest_angle(mdyn_real angle, mdyn_real reference);

/* The equation that a row enforces, with its numbers and units, as text ending in 0.
   e.g.  "coupling 0: q(1) - 0.5 q(0) - 0.1 = 0 [rad]; hard, erp 0.2".  Errors: MDYN_ERR_INDEX,
   MDYN_ERR_ROOM: the text does not fit into `size` bytes. O(r + the text) */
MDYN_API int mdyn_explain(mdyn_sim *sim, mdyn_row_kind kind, int index, char *text, int size);

/* A code as a sentence, and what to do about it; never NULL. O(1) */
MDYN_API const char *mdyn_text(int code);
MDYN_API const char *mdyn_remedy(int code);

/* Numbers of a ready sim: of speeds (n), of coordinates; first speed and first coordinate of a
   body's joint, of a fixed one those of the next joint. O(1) */
MDYN_API int mdyn_dofs(const mdyn_sim *sim);
MDYN_API int mdyn_coordinates(const mdyn_sim *sim);
MDYN_API int mdyn_dof(const mdyn_sim *sim, int body);
MDYN_API int mdyn_coordinate(const mdyn_sim *sim, int body);

/* Between the two kinds of number: a force read back made a command, a measurement made a constant.
   To mdyn_real with rounding; the result is the nearest of its range, but for NaN. O(1) */
MDYN_API mdyn_real mdyn_real_of(mdyn_wide x);
MDYN_API mdyn_wide mdyn_wide_of(mdyn_real x);

/* Sensors and actuators that count. O(1), any input:
   mdyn_of_counts   counts times `unit` (the size of one count: MDYN_C(6.283185307179586 / 4096))
   mdyn_to_counts   x over `unit`, rounded to nearest, held within 32 bits; 0 if unit is 0
   mdyn_unwrap      the count, over all turns, of an encoder whose register of `bits` (1 to 32) now
                    reads `raw`: the nearest to the count `before` */
MDYN_API mdyn_real mdyn_of_counts(int32_t counts, mdyn_wide unit);
MDYN_API int32_t mdyn_to_counts(mdyn_real x, mdyn_wide unit);
MDYN_API int32_t mdyn_unwrap(int32_t before, uint32_t raw, int bits);

/* M^-1 (tau - C), and the same while the hard couplings and closures that mdyn_project moves the
   state onto hold: J a = 0 of couplings, J a + J' v = 0 of closures, whose J turns with the bodies.
   Their speeds J v are taken for 0, as steps leave them. Arrays of n.
   Source: Featherstone, Rigid Body Dynamics Algorithms: 7.3 (ABA), 8 (loops).
   MDYN_ERR_SINGULAR; MDYN_ERR_OVERFLOW if a result is 1e30 or more.
   O(b); O(b d + n d^2 + r d), with closures O(b d + n d^2 + r^2 d) */
MDYN_API int mdyn_forward_dynamics(mdyn_sim *sim, mdyn_wide *a);
MDYN_API int mdyn_coupled_dynamics(mdyn_sim *sim, mdyn_wide *a);

#if MIMICDYN_TREE
/* Kinematics of the present q and v. Nothing has to be updated first: a sim notices a changed q
   or v and works it out once, O(b). Results in world axes, MDYN_ERR_OVERFLOW from 2^23 on; none of
   them may be NULL. `point` in body axes [m]; NULL: the body's origin. The quaternion has length 1
   and w >= 0. */
MDYN_API int mdyn_pose(mdyn_sim *sim, int body, mdyn_real3 *position, mdyn_real4 *quaternion);
MDYN_API int mdyn_velocity(mdyn_sim *sim, int body, const mdyn_real3 *point,
                           mdyn_real3 *angular, mdyn_real3 *linear);
/* J[6][n], row-major: angular, then linear velocity of the point for unit speeds. O(6 n) */
MDYN_API int mdyn_jacobian(mdyn_sim *sim, int body, const mdyn_real3 *point, mdyn_wide *J);

/* Dynamics at the present q, v, tau, wrench:  tau = M a + C,  C with gravity and minus wrenches.
   Damping, friction, limits and drives have no part in these. Speeds in, speeds out: arrays of n.
   MDYN_ERR_OVERFLOW if a result is 1e30 or more.
   Source: Featherstone, Rigid Body Dynamics Algorithms: 5.3 (RNEA), 6.2 (CRBA). */
MDYN_API int mdyn_mass_matrix(mdyn_sim *sim, mdyn_wide *M);       /* M[n][n]; O(b d + n^2) */
MDYN_API int mdyn_bias_force(mdyn_sim *sim, mdyn_wide *C);        /* C[n]; O(b) */
MDYN_API int mdyn_inverse_dynamics(mdyn_sim *sim, const mdyn_wide *a, mdyn_wide *tau);  /* O(b) */
/* Speed change of speed j for a unit impulse on speed i: (M^-1)_ij; exactly 0 across a fixed
   root. Source: PhysX mimic joints, equation (10). O(b d + n d^2) for M, then O(n d). */
MDYN_API int mdyn_impulse_response(mdyn_sim *sim, int i, int j, mdyn_wide *r);
MDYN_API int mdyn_impulse_column(mdyn_sim *sim, int i, mdyn_wide *dv); /* all speeds */
/* Kinetic energy with that of the armatures, potential energy with 0 at the world's origin [J].
   O(b d) */
MDYN_API int mdyn_energy(mdyn_sim *sim, mdyn_wide *kinetic, mdyn_wide *potential);
#endif /* MIMICDYN_TREE */

#if MIMICDYN_LCP
/* ---- A linear complementarity problem by itself: rows of any origin, no sim needed. ----

      A x = b + w,   lo <= x <= hi,   w >= 0 where x = lo,  w <= 0 where x = hi,  else w = 0

   (the signs of ODE: with A = J M^-1 J^T and b = wanted less present speed, x are impulses and w
   is by how much the speed exceeds the wanted one). A is symmetric, positive semi-definite, of n
   rows; only its lower triangle is read. Diagonal elements are 0 (then so is the row) or 1e-30 and
   more. A bound of MDYN_UNLIMITED and beyond is none. All numbers below 2^50 in magnitude.

   Friction: a row i with findex[i] = k >= 0 has the bounds +-|hi[i] x[k]|, hi[i] being the
   coefficient of friction (MDYN_UNLIMITED: no bound unless x[k] = 0); lo[i] is not read. Row k has
   no friction index itself. findex NULL: no row has one; elements < 0: this row has none. x[k] is
   that of the solution itself (MDYN_PYRAMID: of several solutions, one), or of the problem without
   the friction rows, their x being 0 (MDYN_TWO_STAGE, as in ODE). */
typedef struct mdyn_lcp {
    int n;                       /* rows, 0 to 4096 */
    const mdyn_wide *A;          /* A[n][n], row by row */
    const mdyn_wide *b, *lo, *hi;
    const int16_t *findex;       /* may be NULL */
    mdyn_friction friction;      /* not MDYN_CONE; mdyn_lcp_pgs: always MDYN_PYRAMID */
} mdyn_lcp;

typedef struct mdyn_lcp_report {
    int rounds;         /* rows driven; sweeps */
    int row;            /* of which the code speaks; -1: of none */
    mdyn_wide residual; /* |x_i - x'| A_ii over |b_i| + sum_j |A_ij x_j|, the largest of all rows,
                           where x' is x_i - w_i / A_ii held within the bounds: 0 if solved */
} mdyn_lcp_report;

/* Room to work in: mdyn_lcp_cell scratch[MDYN_LCP_SCRATCH(30)] for up to 30 rows. */
typedef union mdyn_lcp_cell { md_num number; int index; } mdyn_lcp_cell;
#define MDYN_LCP_SCRATCH(n) ((int32_t)(n) * ((n) + 13)) /* cells that mdyn_lcp_dantzig needs */
#define MDYN_PGS_SCRATCH(n) ((int32_t)(n) * 6)           /* cells that mdyn_lcp_pgs needs */

/* Exactly, by Dantzig's pivoting: x and w of n elements; w and report may be NULL. An x at a bound
   is that bound to the last digit. The result is tried on the given A and b before the return:
      MDYN_OK                  residual at most 256 rounding errors (F32: 3e-5, F64: 6e-14, FIXED:
                               2.4e-7), with MDYN_PYRAMID friction 2048
      MDYN_WARN_NO_SOLUTION    rows contradict each other; x solves the others. report->row
      MDYN_WARN_NOT_CONVERGED  x is not solved, or the bounds of friction did not settle
   Singular problems that have a solution get one of them. On errors x and w are not written:
   MDYN_ERR_NULL, _LCP_SIZE, _NOT_FINITE, _LCP_MATRIX, _LIMITS, _FINDEX, _SOLVER, and _OVERFLOW
   where x leaves the range. Arrays may not overlap.
   Cost: O(n^2) for each row driven, of which there are about n, at most 8 n + 32; friction at
   most 257 times that, twice with MDYN_TWO_STAGE.
   Source: Cottle and Dantzig 1968; Baraff 1994; ODE's dSolveLCP. */
MDYN_API int mdyn_lcp_dantzig(const mdyn_lcp *problem, mdyn_wide *x, mdyn_wide *w,
                              mdyn_lcp_cell *scratch, int cells, mdyn_lcp_report *report);

/* By sweeps (projected Gauss-Seidel with over-relaxation) over the rows in their order:
      x_i := clamp(x_i + omega (b_i - sum_j A_ij x_j) / A_ii)
   with friction bounds from the present x. `solver` (NULL: MDYN_COLD, all else 0): `start`,
   MDYN_WARM: x holds where the sweeps begin, MDYN_COLD: x is not read; `sweeps`, `relaxation`,
   `tolerance` as in a model. MDYN_OK if the last sweep moved no x by more than that part of the
   largest (each x weighed by about sqrt(A_ii)), which is less than solved if the sweeps creep: see
   report->residual. MDYN_WARN_NOT_CONVERGED if all sweeps are done; errors as above.
   Cost: n^2 for each sweep, at most 32767 of them. Source: ODE's SOR-PGS. (TGS has no call of its
   own: what it has beside sweeps is C and forces that advance in substeps, which A and b do not
   know. Sweeps of A and b alone are these.) */
MDYN_API int mdyn_lcp_pgs(const mdyn_lcp *problem, const mdyn_solver *solver, mdyn_wide *x,
                          mdyn_wide *w, mdyn_lcp_cell *scratch, int cells,
                          mdyn_lcp_report *report);
#endif /* MIMICDYN_LCP */

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
#define MD_FOLDED static inline __attribute__((always_inline, unused)) /* of constants */
#if defined(__OPTIMIZE_SIZE__) /* -Os: as the compiler thinks fit */
#define MD_INLINE static __attribute__((unused))
#define MD_LEAF static __attribute__((noinline, pure, unused)) /* small, used in many places */
#define MD_SHARED static __attribute__((noinline, unused)) /* the same of what is not pure */
#else
#define MD_INLINE MD_FOLDED
#define MD_LEAF MD_FOLDED
#define MD_SHARED MD_FOLDED
#endif
#define MD_STATIC static __attribute__((unused))
#define MD_NOINLINE static __attribute__((noinline, unused))
#define MD_RESTRICT __restrict
#define MD_OPAQUE(x) __asm__("" : "+r"(x)) /* the compiler no longer knows where x is from */
#else
#define MD_FOLDED static inline
#define MD_INLINE static inline
#define MD_LEAF static inline
#define MD_SHARED static inline
#define MD_STATIC static
#define MD_NOINLINE static
#define MD_RESTRICT
#define MD_OPAQUE(x) ((void)0)
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

#if MDYN_SCALAR == MDYN_SCALAR_FIXED

#define MD_APART MD_NOINLINE /* where a frame of its own keeps the stack shallow */
#define MD_FRAME MD_NOINLINE /* likewise; inline where it is small, in floats */

/* ---- fixed point ----
   mdyn_real  Q23.40 in an int64_t; INT64_MIN is no number
   mdyn_wide  m 2^e: m in the upper 56 bits, e in the lower 8, both signed
   md_num     m 2^e: m in the upper 32 bits, 2^30 <= |m| < 2^31, e in the lower 32; zero is 0
   md_unit    Q30 in an int32_t, of a block with the scale e
   Results are rounded to nearest. Nothing here wraps round: what does not fit is clamped, and
   says so by its md_strain or by leaving the range of mdyn_real. */
typedef uint64_t md_bits;
#define MD_BITS_MAGNITUDE 0x7FFFFFFFFFFFFFFFu
#define MD_EPSILON 9.313225746154785e-10 /* 2^-30 */
#define MD_DECIDED 4e-6
#define MD_AGREED 1e-5
#define MD_REFINED 1 /* exact rows are refined once */

/* Processors that multiply to 32 bits only; that do not count leading zeros. */
#if defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__) || defined(__AVR__)
#define MD_SHORT_PRODUCTS 1
#else
#define MD_SHORT_PRODUCTS 0
#endif
#if MD_SHORT_PRODUCTS || (defined(__riscv) && !defined(__riscv_zbb))
#define MD_COUNTS_ZEROS 0
#else
#define MD_COUNTS_ZEROS 1
#endif

/* The number of bits of x: 0 for 0. Of zeros that are not counted by one instruction a call counts
   them where code is to be small, or the compiler if x is a constant. */
#if defined(__GNUC__) && __SIZEOF_INT__ >= 4
#define MD_BUILTIN_LENGTH(x) ((x) ? 32 - __builtin_clz(x) : 0)
#endif
#if defined(MD_BUILTIN_LENGTH) && (MD_COUNTS_ZEROS || defined(__OPTIMIZE_SIZE__))
MD_FOLDED int md_bit_length(uint32_t x) { return MD_BUILTIN_LENGTH(x); }
#else
MD_FOLDED int md_bit_length(uint32_t x)
{
    static const uint8_t length[16] = { 0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4 };
    int n = 0;
#if defined(MD_BUILTIN_LENGTH)
    if (__builtin_constant_p(x)) return MD_BUILTIN_LENGTH(x);
#endif
    if (x >> 16) { n = 16; x >>= 16; }
    if (x >> 8) { n += 8; x >>= 8; }
    if (x >> 4) { n += 4; x >>= 4; }
    return n + length[x];
}
#endif

MD_FOLDED int md_bit_length64(uint64_t x)
{
    uint32_t high = (uint32_t)(x >> 32);
    return high ? 32 + md_bit_length(high) : md_bit_length((uint32_t)x);
}

/* Signed shifts: to the right by n > 0 with rounding, to the left by n >= 0. */
MD_LEAF int32_t md_round_right(int32_t x, int32_t n) { return (x >> n) + ((x >> (n - 1)) & 1); }
MD_INLINE int64_t md_left(int64_t x, int32_t n) { return (int64_t)((uint64_t)x << n); }

/* high 2^32 + low */
MD_FOLDED int64_t md_words(int32_t high, uint32_t low)
{
    return (int64_t)((uint64_t)(uint32_t)high << 32 | low);
}
MD_INLINE int32_t md_high(int64_t x) { return (int32_t)(uint32_t)((uint64_t)x >> 32); }
MD_INLINE uint32_t md_low(int64_t x) { return (uint32_t)((uint64_t)x & 0xFFFFFFFFu); }

/* a b. Of short products it is made of four of 16 bits, which is faster than what compilers call
   there. */
#if MD_SHORT_PRODUCTS
#define MD_SUM_OF_PRODUCTS MD_NOINLINE
MD_NOINLINE int64_t md_times(int32_t a, int32_t b)
{
    int32_t a1 = a >> 16, b1 = b >> 16, middle, other;
    uint32_t a0 = (uint32_t)a & 0xFFFFu, b0 = (uint32_t)b & 0xFFFFu, low = a0 * b0;
    middle = a1 * (int32_t)b0 + (int32_t)(low >> 16);
    other = (int32_t)a0 * b1 + (int32_t)((uint32_t)middle & 0xFFFFu);
    return md_words(a1 * b1 + (middle >> 16) + (other >> 16),
                    (uint32_t)other << 16 | (low & 0xFFFFu));
}
MD_NOINLINE uint64_t md_times_unsigned(uint32_t a, uint32_t b)
{
    uint32_t a0 = a & 0xFFFFu, a1 = a >> 16, b0 = b & 0xFFFFu, b1 = b >> 16, low = a0 * b0;
    uint32_t middle = a1 * b0 + (low >> 16), other = a0 * b1 + (middle & 0xFFFFu);
    return (uint64_t)(a1 * b1 + (middle >> 16) + (other >> 16)) << 32
           | (other << 16 | (low & 0xFFFFu));
}
#else
#define MD_SUM_OF_PRODUCTS MD_INLINE
MD_INLINE int64_t md_times(int32_t a, int32_t b) { return (int64_t)a * b; }
MD_INLINE uint64_t md_times_unsigned(uint32_t a, uint32_t b) { return (uint64_t)a * b; }
#endif

/* a b for b without a sign, |a b| < 2^63 */
MD_INLINE int64_t md_times_mixed(int32_t a, uint32_t b)
{
    uint64_t p = md_times_unsigned((uint32_t)a, b);
    return md_words((int32_t)((uint32_t)(p >> 32) - (a < 0 ? b : 0u)), (uint32_t)(p & 0xFFFFFFFFu));
}

MD_INLINE int32_t md_mantissa(int64_t x) { return md_high(x); }
MD_INLINE int32_t md_exponent(int64_t x) { return (int32_t)md_low(x); }
MD_FOLDED int64_t md_pack(int32_t m, int32_t e) { return md_words(m, (uint32_t)e); }

/* x 2^e as an md_num */
MD_FOLDED md_num md_normal(int64_t x, int32_t e)
{
    uint64_t u = x < 0 ? 0u - (uint64_t)x : (uint64_t)x;
    uint32_t hi = (uint32_t)(u >> 32), lo = (uint32_t)(u & 0xFFFFFFFFu), m, round;
    int n = hi ? md_bit_length(hi) + 1 : md_bit_length(lo) - 31;
    if (n <= 0) { /* up to 31 bits */
        if (lo == 0) return MD_NUM((int64_t)0);
        m = lo << -n;
    } else {
        if (n < 32) {
            m = hi << (32 - n) | lo >> n;
            round = lo >> (n - 1);
        } else {
            m = hi >> (n - 32);
            round = n == 32 ? lo >> 31 : hi;
        }
        m += round & 1;
        if (m >> 31) {
            m >>= 1;
            n++;
        }
    }
    return MD_NUM(md_pack(x < 0 ? -(int32_t)m : (int32_t)m, e + n));
}

MD_NOINLINE md_num md_of_int64(int64_t x, int32_t e)
{
    return x == 0 ? MD_NUM((int64_t)0) : md_normal(x, e);
}
#if defined(__OPTIMIZE_SIZE__)
#define MD_NORMAL md_of_int64
#else
#define MD_NORMAL md_normal
#endif

/* The same for 32 bits */
MD_NOINLINE md_num md_of_int32(int32_t x, int32_t e)
{
    uint32_t u = x < 0 ? 0u - (uint32_t)x : (uint32_t)x;
    int n = 31 - md_bit_length(u);
    if (x == 0) return MD_NUM((int64_t)0);
    if (n < 0) return MD_NUM(md_pack(-0x40000000, e + 1)); /* x = -2^31 */
    u <<= n;
    return MD_NUM(md_pack(x < 0 ? -(int32_t)u : (int32_t)u, e - n));
}

MD_FOLDED int md_wide_exponent(mdyn_wide x) { return ((int)(x & 255) ^ 128) - 128; }

MD_NOINLINE md_num md_of_wide(mdyn_wide x)
{
    if (x == 0) return MD_NUM((int64_t)0);
    return MD_NORMAL(x >> 8, md_wide_exponent(x));
}
MD_INLINE int md_is_null(mdyn_wide x) { return x >> 8 == 0; }
MD_INLINE int md_is_negative(mdyn_wide x) { return x < 0; }
MD_INLINE md_num md_of_real(mdyn_real x) { return md_of_int64(x, -40); }
MD_INLINE md_num md_of_int(int32_t n) { return md_of_int32(n, 0); }
#define MD_K(x) md_normal(MDYN_C(x) >> 8, md_wide_exponent(MDYN_C(x))) /* a constant */

/* m 2^n, n < 0 with rounding, clamped to 63 bits */
MD_STATIC int64_t md_scaled(int32_t m, int32_t n)
{
    const int64_t most = 0x7FFFFFFFFFFFFFFF;
    if (n > 32) return m > 0 ? most : m < 0 ? -most : 0;
    if (n >= 0) return md_left(m, n);
    return n < -31 ? 0 : md_round_right(m, -n);
}

MD_STATIC mdyn_real md_to_real(md_num x)
{
    int64_t raw = MD_RAW(x);
    return md_scaled(md_mantissa(raw), md_exponent(raw) + 40);
}

/* Rounded, clamped */
MD_STATIC int32_t md_to_int(md_num x)
{
    int64_t raw = MD_RAW(x), n = md_scaled(md_mantissa(raw), md_exponent(raw));
    return n > 0x7FFFFFFF ? 0x7FFFFFFF : n < -0x7FFFFFFF ? -0x7FFFFFFF : (int32_t)n;
}

/* Whether x + d stays in range, 2^23 with room for rounding. */
MD_STATIC int md_stays(mdyn_real x, md_num d)
{
    int64_t sum;
    int32_t high = md_high(x);
    if (md_exponent(MD_RAW(d)) < -9 && high < 0x40000000 && high > -0x40000000) return 1;
    sum = (x >> 24) + (md_to_real(d) >> 24);
    return sum < (int64_t)8388600 * 65536 && sum > (int64_t)-8388600 * 65536;
}

/* In the form that MDYN_C gives the same number. */
MD_STATIC mdyn_wide md_to_wide(md_num x)
{
    int64_t raw = MD_RAW(x);
    int32_t m = md_mantissa(raw), e = md_exponent(raw), bits = e + 31, step;
    if (m == 0 || bits <= -96) return 0;
    if (bits > 112) return m > 0 ? MDYN_WIDE_HUGE_ : MDYN_WIDE_MINUS_HUGE_;
    step = bits > -16 && bits <= 16 ? 7 : 15;
    bits = bits <= -64 ? -64 : (bits + step) & ~step;
    return md_left(md_scaled(m, e - bits + 55), 8) | ((bits - 55) & 255);
}

MD_INLINE md_num md_neg(md_num a)
{
    return MD_NUM(md_pack(-md_mantissa(MD_RAW(a)), md_exponent(MD_RAW(a))));
}

/* Of magnitudes, with the sign of the one with the larger exponent: its bits and those of the other
   down to there, `sum`, and what is below, `rest`. */
MD_NOINLINE md_num md_add(md_num a, md_num b)
{
    int32_t x = md_mantissa(MD_RAW(a)), y = md_mantissa(MD_RAW(b)), t;
    int32_t e = md_exponent(MD_RAW(a)), d = e - md_exponent(MD_RAW(b));
    uint32_t sum, rest;
    int64_t less;
    if (x == 0) return b;
    if (y == 0) return a;
    if (d < 0) {
        t = x; x = y; y = t;
        e -= d;
        d = -d;
    }
    if (d > 31) return MD_NUM(md_pack(x, e));
    t = x >> 31;
    y = (y ^ t) - t;
    sum = (uint32_t)((x ^ t) - t) + (uint32_t)(y >> d);
    rest = d > 0 ? (uint32_t)y << (32 - d) : 0u;
    if (sum >> 31 && y >= 0) {
        sum = (sum >> 1) + (sum & 1);
        e++;
    } else if (sum >= 0x40000000u && sum + (rest >> 31) < 0x80000000u) {
        sum += rest >> 31;
    } else {
        less = md_words((int32_t)sum, rest);
        return MD_NORMAL(t < 0 ? -less : less, e - 32);
    }
    return MD_NUM(md_pack(((int32_t)sum ^ t) - t, e));
}

MD_INLINE md_num md_sub(md_num a, md_num b) { return md_add(a, md_neg(b)); }

MD_NOINLINE md_num md_mul(md_num a, md_num b)
{
    int64_t p = md_times(md_mantissa(MD_RAW(a)), md_mantissa(MD_RAW(b)));
    uint32_t h;
    int32_t r, e = md_exponent(MD_RAW(a)) + md_exponent(MD_RAW(b)) + 30;
    if (p == 0) return MD_NUM((int64_t)0);
    h = (uint32_t)(p >> 32) + 0x20000000u;
    if (h < 0x40000000u) { /* |p| < 2^61 */
        r = (int32_t)(uint32_t)((uint64_t)(p + 0x20000000) >> 30 & 0xFFFFFFFFu);
        if (r == -0x7FFFFFFF - 1) r = p < 0 ? -0x7FFFFFFF : 0x7FFFFFFF;
        return MD_NUM(md_pack(r, e));
    }
    return MD_NUM(md_pack((int32_t)((p + 0x40000000) >> 31), e + 1));
}

MD_INLINE uint32_t md_mul_high(uint32_t a, uint32_t b, int n)
{
    return (uint32_t)(md_times_unsigned(a, b) >> n);
}

/* 2^61/m for 2^30 <= m < 2^31, by Newton's iteration from the line 48/17 - 32/17 x.
   Relative error: below 1.1e-9. */
MD_NOINLINE uint32_t md_reciprocal(uint32_t m)
{
    uint32_t y = 3031741620u - md_mul_high(2021161080u, m, 31); /* Q30 */
    int k;
    for (k = 0; k < 3; k++) y = md_mul_high(y, 0x80000000u - md_mul_high(y, m, 31), 30);
    return y > 0x7FFFFFFFu ? 0x7FFFFFFFu : y;
}

/* Exact where b is a power of 2. a/0 is larger than every number in use. */
MD_NOINLINE md_num md_div(md_num a, md_num b)
{
    int32_t m = md_mantissa(MD_RAW(b)), e = md_exponent(MD_RAW(b)), r;
    if (m == 0) return MD_NUM(md_pack(md_mantissa(MD_RAW(a)) < 0 ? -0x40000000 : 0x40000000, 200));
    r = m < 0 ? -m : m;
    if (r == 0x40000000) return md_mul(a, MD_NUM(md_pack(m, -60 - e)));
    r = (int32_t)md_reciprocal((uint32_t)r);
    return md_mul(a, md_of_int32(m < 0 ? -r : r, -61 - e));
}

MD_STATIC int md_less(md_num a, md_num b)
{
    int32_t m = md_mantissa(MD_RAW(a)), n = md_mantissa(MD_RAW(b));
    int32_t d = md_exponent(MD_RAW(a)) - md_exponent(MD_RAW(b));
    if (m == 0 || n == 0 || (m < 0) != (n < 0) || d == 0) return m < n;
    return (d < 0) == (m > 0);
}

MD_INLINE md_num md_abs(md_num a) { return md_mantissa(MD_RAW(a)) < 0 ? md_neg(a) : a; }
MD_INLINE int md_is_zero(md_num a) { return MD_RAW(a) == 0; }
MD_INLINE int md_is_one(md_num a) { return MD_RAW(a) == md_pack(0x40000000, -30); }

/* a 2^e */
MD_INLINE md_num md_shifted(md_num a, int e)
{
    if (MD_RAW(a) == 0) return a;
    return MD_NUM(md_pack(md_mantissa(MD_RAW(a)), md_exponent(MD_RAW(a)) + e));
}

MD_INLINE md_bits md_bits_of(mdyn_real x) { return (uint64_t)x; }

/* The sign bit of md_excess is set if x is no number; those of many can be collected by |. */
MD_INLINE md_bits md_excess(mdyn_real x) { return x < -0x7FFFFFFFFFFFFFFF ? ~(md_bits)0 : 0; }
MD_INLINE int md_in_range(mdyn_real x) { return md_excess(x) == 0; }

/* |x| < 2^50 */
MD_INLINE int md_is_usable(mdyn_wide x)
{
    uint64_t m = (uint64_t)(x >> 8);
    return md_bit_length64(x < 0 ? 0u - m : m) + md_wide_exponent(x) <= 50;
}

/* Sums of products of coordinates: 128 bits, the last of them 2^-64; clamped. */

/* r = (w3 w2 w1 w0) 2^-n, rounded down, 0 <= n < 128; by words, which cost less than 64 bits */
MD_FOLDED void md_words_right(md_sum *r, uint32_t w2, int32_t w3, uint32_t w1, uint32_t w0, int n)
{
    for (; n >= 32; n -= 32) {
        w0 = w1;
        w1 = w2;
        w2 = (uint32_t)w3;
        w3 >>= 31;
    }
    if (n > 0) {
        w0 = w0 >> n | w1 << (32 - n);
        w1 = w1 >> n | w2 << (32 - n);
        w2 = w2 >> n | (uint32_t)w3 << (32 - n);
        w3 >>= n;
    }
    r->lo = (uint64_t)md_words((int32_t)w1, w0);
    r->hi = md_words(w3, w2);
}

/* r 2^n, rounded down; clamped at the top */
MD_NOINLINE void md_sum_shift(md_sum *r, int32_t n)
{
    int64_t sign = r->hi < 0 ? -1 : 0, beyond;
    if (n >= 64) {
        beyond = r->hi ^ (int64_t)r->lo >> 63;
        r->hi = beyond ? sign | 1 : (int64_t)r->lo;
        r->lo = 0;
        n = beyond ? 64 : n - 64;
    }
    if (n > 0) {
        beyond = n < 64 ? r->hi >> (63 - n) : sign + 1;
        if (beyond != sign && (r->hi || r->lo)) {
            r->hi = sign ? -0x7FFFFFFFFFFFFFFF : 0x7FFFFFFFFFFFFFFF;
        } else if (n < 64) {
            r->hi = md_left(r->hi, n) | (int64_t)(r->lo >> (64 - n));
            r->lo <<= n;
        }
        return;
    }
    md_words_right(r, md_low(r->hi), md_high(r->hi), (uint32_t)(r->lo >> 32),
                   (uint32_t)(r->lo & 0xFFFFFFFFu), n < -127 ? 127 : (int)-n);
}

/* a b 2^n as 128 bits for -128 < n <= 0; for others a b, and true */
MD_NOINLINE int md_product_right(md_sum *r, int64_t a, int64_t b, int n)
{
    uint64_t low = md_times_unsigned(md_low(a), md_low(b));
    int64_t middle = md_times_mixed(md_high(a), md_low(b)) + (int64_t)(low >> 32);
    int64_t other = md_times_mixed(md_high(b), md_low(a)) + (int64_t)md_low(middle);
    int64_t high = md_times(md_high(a), md_high(b)) + md_high(middle) + md_high(other);
    md_words_right(r, md_low(high), md_high(high), md_low(other), (uint32_t)(low & 0xFFFFFFFFu),
                   n < 0 && n > -128 ? -n : 0);
    return n > 0 || n <= -128;
}

/* a b 2^n as 128 bits */
MD_FOLDED void md_product(md_sum *r, int64_t a, int64_t b, int n)
{
    if (md_product_right(r, a, b, n)) md_sum_shift(r, n);
}

MD_STATIC void md_sum_add(md_sum *s, const md_sum *x)
{
    uint64_t lo = s->lo + x->lo, hi = (uint64_t)s->hi + (uint64_t)x->hi + (lo < x->lo);
    if ((s->hi < 0) == (x->hi < 0) && ((int64_t)hi < 0) != (s->hi < 0)) {
        s->hi = s->hi < 0 ? -0x7FFFFFFFFFFFFFFF : 0x7FFFFFFFFFFFFFFF;
        return;
    }
    s->hi = (int64_t)hi;
    s->lo = lo;
}

MD_INLINE void md_sum_of(md_sum *s, mdyn_real q, md_tail tail)
{
    s->hi = q >> 40;
    s->lo = (uint64_t)q << 24 | tail;
}

MD_STATIC void md_sum_negate(md_sum *s)
{
    s->hi = (int64_t)(~(uint64_t)s->hi + (s->lo == 0));
    s->lo = 0u - s->lo;
}

/* s += c (q + tail) */
MD_NOINLINE void md_sum_product(md_sum *s, mdyn_wide c, mdyn_real q, md_tail tail)
{
    md_sum p;
    if (c == MDYN_C(1) || c == MDYN_C(-1)) { /* as of mimics, mostly */
        md_sum_of(&p, q, tail);
        if (c < 0) md_sum_negate(&p);
    } else {
        if (tail != 0) {
            md_product(&p, c >> 32, (int64_t)tail, md_wide_exponent(c) + 24);
            md_sum_add(s, &p);
        }
        md_product(&p, c >> 8, q, md_wide_exponent(c) - 40 + 64);
    }
    md_sum_add(s, &p);
}

/* s += c v */
MD_INLINE void md_sum_speed(md_sum *s, mdyn_wide c, mdyn_real v) { md_sum_product(s, c, v, 0); }

MD_STATIC void md_sum_start(md_sum *s, mdyn_wide x)
{
    s->hi = x >> 63;
    s->lo = (uint64_t)(x >> 8);
    if (x == 0) return;
    md_sum_shift(s, md_wide_exponent(x) + 64);
}

MD_STATIC md_num md_sum_value(const md_sum *s)
{
    uint64_t hi = (uint64_t)s->hi, lo = s->lo;
    int n;
    if (s->hi < 0) {
        hi = ~hi + (lo == 0);
        lo = 0u - lo;
    }
    n = md_bit_length64(hi) + 1; /* brought below 2^63 */
    lo = n < 64 ? hi << (64 - n) | lo >> n : hi >> (n - 64);
    return md_of_int64(s->hi < 0 ? -(int64_t)lo : (int64_t)lo, n - 64);
}

/* s - x */
MD_STATIC md_num md_sum_beyond(const md_sum *s, mdyn_wide x)
{
    md_sum t;
    if (x == 0) return md_sum_value(s);
    md_sum_start(&t, x);
    md_sum_negate(&t);
    md_sum_add(&t, s);
    return md_sum_value(&t);
}

/* A sum as an mdyn_real, rounded, clamped */
MD_STATIC mdyn_real md_sum_to_real(const md_sum *s)
{
    uint64_t lo = s->lo + 0x800000;
    int64_t hi = s->hi + (lo < s->lo);
    if (hi >= 0x800000) return 0x7FFFFFFFFFFFFFFF;
    if (hi < -0x800000) return -0x7FFFFFFFFFFFFFFF;
    hi = md_left(hi, 40) | (int64_t)(lo >> 24);
    return hi < -0x7FFFFFFFFFFFFFFF ? -0x7FFFFFFFFFFFFFFF : hi;
}

/* n c as an mdyn_real, clamped */
MD_STATIC mdyn_real md_counts(int32_t n, mdyn_wide c)
{
    md_sum p;
    md_product(&p, c >> 8, n, md_wide_exponent(c) + 64);
    return md_sum_to_real(&p);
}

MD_STATIC mdyn_real md_nearest_real(mdyn_wide x)
{
    md_sum s;
    md_sum_start(&s, x);
    return md_sum_to_real(&s);
}

MD_INLINE md_num md_of_tail(md_tail tail) { return md_of_int32((int32_t)tail, -64); }
MD_INLINE md_tail md_to_tail(md_num x) { return (md_tail)md_to_int(md_shifted(x, 64)); }

/* x + tail += t; no number if it leaves the range */
MD_STATIC void md_move(mdyn_real *x, md_tail *tail, md_sum *t)
{
    md_sum s;
    md_sum_of(&s, *x, *tail);
    md_sum_add(t, &s);
    if (t->hi >= 0x800000 || t->hi < -0x800000) {
        *x = -0x7FFFFFFFFFFFFFFF - 1;
        return;
    }
    *x = md_left(t->hi, 40) | (int64_t)(t->lo >> 24);
    *tail = (md_tail)(t->lo & 0xFFFFFF);
}

/* x + tail += d: what does not fit into x stays in the tail, so slow motion does not stall. */
MD_STATIC void md_accumulate(mdyn_real *x, md_tail *tail, md_num d)
{
    md_sum t;
    int32_t m = md_mantissa(MD_RAW(d)), e = md_exponent(MD_RAW(d)) + 64;
    int64_t low = e <= 0 ? md_scaled(m, e) : e < 32 ? md_words(m >> (32 - e), (uint32_t)m << e) : m;
    if (m == 0) return;
    t.lo = (uint64_t)low;
    t.hi = low >> 63;
    if (e >= 32) md_sum_shift(&t, e);
    md_move(x, tail, &t);
}

/* q + tail += dt v */
MD_STATIC void md_advance(mdyn_real *q, md_tail *tail, mdyn_wide dt, mdyn_real v)
{
    md_sum p;
    md_product(&p, dt >> 8, v, md_wide_exponent(dt) - 40 + 64);
    md_move(q, tail, &p);
}

/* Blocks of md_unit: x = u 2^e with |u| < 1, of which at first no number uses more than a quarter.
   An operation that leaves the bounds says so by its md_strain; the solve is then repeated at a
   larger scale. */
#define MD_LEAST_SCALE (-1000)
#define MD_HEADROOM 3
#define MD_TRIES 10
#define MD_U(x) MD_UNIT((int32_t)MDYN_ROUND_((x) * 1073741824.0)) /* a constant, |x| < 2 */
#define MD_U_ROUNDING MD_UNIT((int32_t)4) /* what a few operations may be off by */
#define MD_UNIT_MOST 0x7FFFFFFF

/* p 2^-n, rounded and clamped; 24 < n < 32 */
MD_LEAF int32_t md_rounded(int64_t p, int n)
{
    const uint32_t half = (uint32_t)1 << (n - 1);
    p = (int64_t)((uint64_t)p + half);
    if ((uint32_t)md_high(p) + (half - 1) < 2 * half - 2)
        return (int32_t)((uint32_t)md_high(p) << (32 - n) | md_low(p) >> n);
    return p < 0 ? -MD_UNIT_MOST : MD_UNIT_MOST;
}

/* The same without clamping, for n = 30: its lower bits */
MD_INLINE uint32_t md_rounded_low(int64_t p)
{
    p = (int64_t)((uint64_t)p + 0x20000000);
    return (uint32_t)md_high(p) << 2 | md_low(p) >> 30;
}

/* md_rounded_low(a b) */
#if MD_SHORT_PRODUCTS
MD_INLINE uint32_t md_unit_product(int32_t a, int32_t b)
{
    int32_t a1 = a >> 15, b1 = b >> 15, a0 = a & 0x7FFF, b0 = b & 0x7FFF, middle, other;
    middle = a1 * b0 + (a0 * b0 >> 15) + 0x4000;
    other = a0 * b1 + (middle & 0x7FFF);
    return (uint32_t)a1 * (uint32_t)b1 + (uint32_t)(middle >> 15) + (uint32_t)(other >> 15);
}
#else
MD_INLINE uint32_t md_unit_product(int32_t a, int32_t b) { return md_rounded_low(md_times(a, b)); }
#endif

MD_INLINE int32_t md_clamp(int32_t x) { return x < -MD_UNIT_MOST ? -MD_UNIT_MOST : x; }

MD_NOINLINE md_unit md_unit_of(md_num x, int e)
{
    int32_t m = md_mantissa(MD_RAW(x)), n = e - 30 - md_exponent(MD_RAW(x));
    if (n > 0) return MD_UNIT(n > 31 ? (int32_t)0 : md_round_right(m, n));
    return MD_UNIT(n == 0 || m == 0 ? md_clamp(m) : m < 0 ? -MD_UNIT_MOST : MD_UNIT_MOST);
}

MD_INLINE md_num md_of_unit(md_unit u, int e) { return md_of_int32(MD_RAW(u), e - 30); }
MD_INLINE md_unit md_unit_add(md_unit a, md_unit b)
{
    int32_t r = (int32_t)((uint32_t)MD_RAW(a) + (uint32_t)MD_RAW(b));
    if (((MD_RAW(a) ^ r) & (MD_RAW(b) ^ r)) < 0) r = MD_RAW(a) < 0 ? -MD_UNIT_MOST : MD_UNIT_MOST;
    return MD_UNIT(r);
}
/* Of a sum that has wrapped round, which is strained, the least number: itself. */
MD_INLINE md_unit md_unit_neg(md_unit a) { return MD_UNIT((int32_t)(0u - (uint32_t)MD_RAW(a))); }
MD_INLINE md_unit md_unit_sub(md_unit a, md_unit b) { return md_unit_add(a, md_unit_neg(b)); }
MD_INLINE md_unit md_unit_mul(md_unit a, md_unit b)
{
    int32_t x = MD_RAW(b);
    MD_OPAQUE(x); /* or it may be extended to 64 bits too early for a short product */
    return MD_UNIT(md_rounded(md_times(MD_RAW(a), x), 30));
}
MD_STATIC md_unit md_unit_div(md_unit a, md_unit b)
{
    return md_unit_of(md_div(md_of_unit(a, 0), md_of_unit(b, 0)), 0);
}

MD_NOINLINE md_unit md_unit_by(md_unit a, md_num b)
{
    int64_t p = md_times(MD_RAW(a), md_mantissa(MD_RAW(b)));
    int32_t n = -md_exponent(MD_RAW(b)), high = md_high(p);
    if (n > 32) return MD_UNIT(n > 62 ? (int32_t)0 : md_round_right(high, n - 32));
    if (p == 0) return MD_UNIT((int32_t)0);
    if (n > 0) {
        p += (uint32_t)1 << (n - 1);
        high = md_high(p);
        if (n == 32) return MD_UNIT(high);
        if (high >> (n - 1) == high >> 31)
            return MD_UNIT(md_clamp((int32_t)((uint32_t)high << (32 - n) | md_low(p) >> n)));
    }
    return MD_UNIT(high < 0 ? -MD_UNIT_MOST : MD_UNIT_MOST);
}

MD_NOINLINE md_unit md_unit_shifted(md_unit a, int e)
{
    int32_t m = MD_RAW(a);
    if (e == 0 || m == 0) return a;
    if (e < 0) return MD_UNIT(e < -31 ? (int32_t)0 : md_round_right(m, -e));
    if (e < 31 && (m >> (31 - e) == m >> 31)) return MD_UNIT(md_clamp((int32_t)((uint32_t)m << e)));
    return MD_UNIT(m < 0 ? -MD_UNIT_MOST : MD_UNIT_MOST);
}

MD_INLINE int md_unit_less(md_unit a, md_unit b) { return MD_RAW(a) < MD_RAW(b); }
MD_INLINE md_unit md_unit_abs(md_unit a) { return MD_RAW(a) < 0 ? md_unit_neg(a) : a; }
MD_INLINE int md_unit_is_zero(md_unit a) { return MD_RAW(a) == 0; }
MD_INLINE md_strain md_strain_of(md_unit a) { return (md_strain)(MD_RAW(a) ^ MD_RAW(a) >> 31); }
MD_INLINE int md_is_strained(md_strain s) { return s >= 0x40000000u; }
MD_INLINE void md_strain_reset(md_strain *s, md_strain x) { *s = x; }

/* The scale at which a block has to be to hold x 2^-s too. */
MD_STATIC md_scale md_scale_with(md_scale e, md_num x, int s)
{
    int32_t least = md_exponent(MD_RAW(x)) + 31 + 2 - s;
    return MD_RAW(x) == 0 || least <= e ? e : (md_scale)(least > 4000 ? 4000 : least);
}
MD_INLINE md_scale md_scale_up(md_scale e, md_strain s)
{
    return md_is_strained(s) ? (md_scale)(e + MD_HEADROOM) : e;
}

/* s of a speed with the inertia M: 1/4 <= M 4^-s < 1. */
MD_INLINE md_scale md_dof_scale(const md_dof *d) { return d->scale; }
MD_STATIC md_scale md_dof_rescale(md_dof *d, md_num M)
{
    int32_t bits = md_exponent(MD_RAW(M)) + 31;
    d->scale = (md_scale)(MD_RAW(M) == 0 ? 0 : (bits + 1) >> 1);
    return d->scale;
}

/* A power of 2 that brings x between 1/8 and 1/4. */
MD_STATIC md_num md_normalizer(md_num x)
{
    return MD_NUM(md_pack(0x40000000, -30 - (md_exponent(MD_RAW(x)) + 31 + 2)));
}

/* to = from 2^-e; e >= 0 */
MD_NOINLINE void md_copy_units(md_unit *to, const md_unit *from, int n, int e)
{
    int k;
    if (to == from && e == 0) return;
    for (k = 0; k < n; k++) to[k] = md_unit_shifted(from[k], -e);
}

/* u -= a b for |a|, |b| <= 1: what is beyond all bounds wraps round, and says so */
MD_SUM_OF_PRODUCTS md_strain md_sub_product(md_unit *u, md_unit a, md_unit b)
{
    uint32_t d = md_unit_product(MD_RAW(a), MD_RAW(b));
    *u = MD_UNIT((int32_t)((uint32_t)MD_RAW(*u) - d));
    return md_strain_of(*u);
}

/* row[k] -= a other[k] */
MD_STATIC void md_sub_row(md_unit *row, md_unit a, const md_unit *other, int count)
{
    int k;
    for (k = 0; k < count; k++) (void)md_sub_product(&row[k], other[k], a);
}

/* Sums of squares: md_squares s = 0, then any of these */
typedef uint64_t md_squares; /* Q56 */
MD_INLINE md_squares md_add_square(md_squares s, md_unit a)
{
    return s + ((uint64_t)md_times(MD_RAW(a), MD_RAW(a)) >> 4);
}
MD_INLINE md_num md_squares_value(md_squares s) { return md_of_int64((int64_t)(s >> 1), -55); }

/* By how many digits the vector u at `count` places is longer than 1, and the root of `soft`, which
   is part of its square, beyond 1/2: what a reflection adds to it then stays below 2. */
MD_STATIC md_scale md_excess_of_length(const md_unit *u, const int16_t *at, int count, md_num soft)
{
    md_squares sum = 0;
    md_num all;
    int32_t bits;
    int k;
    for (k = 0; k < count; k++) sum = md_add_square(sum, u[at[k]]);
    if (md_is_zero(soft) && sum >> 56 == 0) return 0;
    all = md_shifted(md_add(soft, md_squares_value(sum)), -2);
    if (md_less(soft, all)) soft = all;
    bits = md_exponent(MD_RAW(soft)) + 31;
    return (md_scale)(MD_RAW(soft) == 0 || bits <= -2 ? 0 : (bits + 3) >> 1);
}

/* tau of a reflection whose vector is 1 at the pivot, and elsewhere `squares` in all: of the vector
   as it is kept, so that it turns and does not stretch */
MD_INLINE md_num md_reflection_factor(md_num knee, md_num length, md_squares squares)
{
    (void)knee;
    (void)length;
    return md_div(MD_K(2), md_add(MD_K(1), md_squares_value(squares)));
}

/* With more than 64 numbers in a row their products could fill 63 bits. */
#define MD_DOT_SHIFT (MIMICDYN_MAX_DOFS + MIMICDYN_MAX_ROWS > 64 ? 4 : 0)

MD_STATIC md_num md_dot_units(const md_unit *a, const md_unit *b, int n)
{
    int64_t s = 0;
    int k;
    for (k = 0; k < n; k++) s += md_times(MD_RAW(a[k]), MD_RAW(b[k])) >> MD_DOT_SHIFT;
    return md_of_int64(s, MD_DOT_SHIFT - 60);
}

/* Sum of entry[k] u[at[k]] */
MD_SHARED md_unit md_dot_at(const md_unit *entry, const int16_t *at, int count, const md_unit *u)
{
    uint64_t s = 0;
    for (; count > 0; count--, entry++, at++)
        s += (uint64_t)(md_times(MD_RAW(*entry), MD_RAW(u[*at])) >> MD_DOT_SHIFT);
    return MD_UNIT(md_rounded((int64_t)s, 30 - MD_DOT_SHIFT));
}

/* u[at[k]] += a entry[k]: what is beyond all bounds wraps round, and says so, here or by a */
MD_SHARED md_strain md_add_at(md_unit *u, md_unit a, const md_unit *entry, const int16_t *at,
                              int count)
{
    md_strain strain = md_strain_of(a);
    for (; count > 0; count--, entry++, at++) {
        uint32_t d = md_unit_product(MD_RAW(a), MD_RAW(*entry));
        md_unit *to = &u[*at];
        *to = MD_UNIT((int32_t)((uint32_t)MD_RAW(*to) + d));
        strain |= md_strain_of(*to);
    }
    return strain;
}

#else

/* ---- float and double ---- */

#define MD_APART MD_STATIC
#define MD_FRAME MD_INLINE

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

#define MD_REFINED 0

typedef mdyn_real md_squares;

MD_INLINE md_num md_of_wide(mdyn_wide x) { return MD_NUM(x); }
MD_INLINE int md_is_null(mdyn_wide x) { return x == 0; }
MD_INLINE int md_is_negative(mdyn_wide x) { return x < 0; }
MD_INLINE md_num md_of_real(mdyn_real x) { return MD_NUM(x); }
MD_INLINE mdyn_wide md_to_wide(md_num x) { return MD_RAW(x); }
MD_INLINE mdyn_real md_to_real(md_num x) { return MD_RAW(x); }
#define MD_K(x) md_of_wide(MDYN_C(x)) /* a constant */
/* Rounded, clamped; 0 for NaN */
MD_INLINE int32_t md_to_int(md_num x)
{
    const mdyn_real most = 2147483520; /* the largest float below 2^31 */
    mdyn_real y = MD_RAW(x), half = (mdyn_real)(y < 0 ? -0.5 : 0.5);
    if (y >= most) return 0x7FFFFFFF;
    if (y <= -most) return -0x7FFFFFFF;
    return y != y ? 0 : (int32_t)(y + half);
}

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
MD_INLINE md_num md_shifted(md_num a, int e) { (void)e; return a; } /* a 2^e, for scales */

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

/* Whether x + d stays in range, 2^23 with room for rounding. */
MD_INLINE int md_stays(mdyn_real x, md_num d)
{
    const mdyn_real most = 8388600, y = x + MD_RAW(d);
    return y < most && y > -most;
}

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

/* s += c v, of which the scalar's own digits are enough */
MD_INLINE void md_sum_speed(md_sum *s, mdyn_wide c, mdyn_real v) { s->hi += c * v; }

/* A coordinate with its tail. */
MD_INLINE void md_sum_of(md_sum *s, mdyn_real q, md_tail tail)
{
    s->hi = q;
    s->lo = tail;
}

MD_INLINE md_num md_sum_value(const md_sum *s) { return MD_NUM(s->hi + s->lo); }

/* s - x */
MD_INLINE md_num md_sum_beyond(const md_sum *s, mdyn_wide x) { return MD_NUM((s->hi - x) + s->lo); }

MD_INLINE mdyn_real md_nearest_real(mdyn_wide x)
{
    const mdyn_real most = (mdyn_real)8388607.5;
    return x > most ? most : x < -most ? -most : x;
}
MD_INLINE mdyn_real md_counts(int32_t n, mdyn_wide c) { return md_nearest_real((mdyn_real)n * c); }

MD_INLINE md_num md_of_tail(md_tail tail) { return MD_NUM(tail); }
MD_INLINE md_tail md_to_tail(md_num x) { return MD_RAW(x); }

/* x + tail += d: what does not fit into x stays in the tail, so slow motion does not stall. */
MD_INLINE void md_accumulate(mdyn_real *x, md_tail *tail, md_num d)
{
    mdyn_real rest = 0;
    md_two_sum(x, &rest, MD_RAW(d) + *tail);
    *tail = rest;
}

/* q + tail += dt v */
MD_INLINE void md_advance(mdyn_real *q, md_tail *tail, mdyn_wide dt, mdyn_real v)
{
    md_accumulate(q, tail, MD_NUM(dt * v));
}

/* Blocks of md_unit: x = u 2^e. An operation that leaves the bounds of a block says so by its
   md_strain; the solve is then repeated at a larger scale. Floats have no bounds to speak of. */
#define MD_LEAST_SCALE 0
#define MD_HEADROOM 0
#define MD_TRIES 1
#define MD_U(x) md_unit_of(MD_K(x), 0)
#define MD_U_ROUNDING MD_U(0) /* what a few operations may be off by, beside their relative error */
MD_INLINE md_unit md_unit_of(md_num x, int e) { (void)e; return MD_UNIT(MD_RAW(x)); }
MD_INLINE md_num md_of_unit(md_unit u, int e) { (void)e; return MD_NUM(MD_RAW(u)); }
MD_INLINE md_unit md_unit_add(md_unit a, md_unit b) { return MD_UNIT(MD_RAW(a) + MD_RAW(b)); }
MD_INLINE md_unit md_unit_sub(md_unit a, md_unit b) { return MD_UNIT(MD_RAW(a) - MD_RAW(b)); }
MD_INLINE md_unit md_unit_mul(md_unit a, md_unit b) { return MD_UNIT(MD_RAW(a) * MD_RAW(b)); }
MD_INLINE md_unit md_unit_div(md_unit a, md_unit b) { return MD_UNIT(MD_RAW(a) / MD_RAW(b)); }
MD_INLINE md_unit md_unit_by(md_unit a, md_num b) { return MD_UNIT(MD_RAW(a) * MD_RAW(b)); }
MD_INLINE md_unit md_unit_shifted(md_unit a, int e) { (void)e; return a; }
MD_INLINE md_unit md_unit_neg(md_unit a) { return MD_UNIT(-MD_RAW(a)); }
MD_INLINE int md_unit_less(md_unit a, md_unit b) { return MD_RAW(a) < MD_RAW(b); }
MD_INLINE md_unit md_unit_abs(md_unit a) { return MD_RAW(a) < 0 ? md_unit_neg(a) : a; }
MD_INLINE int md_unit_is_zero(md_unit a) { return MD_RAW(a) == 0; }
MD_INLINE md_strain md_strain_of(md_unit a) { (void)a; return 0; }
MD_INLINE int md_is_strained(md_strain s) { (void)s; return 0; }
MD_INLINE void md_strain_reset(md_strain *s, md_strain x) { (void)s; (void)x; }

/* The scale at which a block has to be to hold x 2^-s too. */
MD_INLINE md_scale md_scale_with(md_scale e, md_num x, int s) { (void)x; (void)s; return e; }
MD_INLINE md_scale md_scale_up(md_scale e, md_strain s) { (void)s; return e; }

/* s of a speed with the inertia M: M 4^-s is O(1). */
MD_INLINE md_scale md_dof_scale(const md_dof *d) { (void)d; return 0; }
MD_INLINE md_scale md_dof_rescale(md_dof *d, md_num M) { (void)d; (void)M; return 0; }

/* A power of 2 that brings x to O(1); by how many digits the root of x is beyond that. */
MD_INLINE md_num md_normalizer(md_num x) { (void)x; return MD_K(1); }
MD_INLINE md_scale md_excess_of_length(const md_unit *u, const int16_t *at, int count, md_num soft)
{
    (void)u; (void)at; (void)count; (void)soft;
    return 0;
}

/* to = from 2^-e */
MD_NOINLINE void md_copy_units_(md_unit *MD_RESTRICT to, const md_unit *MD_RESTRICT from, int n)
{
    int k;
    for (k = 0; k < n; k++) to[k] = from[k];
}

MD_INLINE void md_copy_units(md_unit *to, const md_unit *from, int n, int e)
{
    (void)e;
    if (to != from) md_copy_units_(to, from, n);
}

/* row[k] -= a other[k] */
MD_INLINE void md_sub_row(md_unit *row, md_unit a, const md_unit *other, int count)
{
    int k;
    for (k = 0; k < count; k++) row[k] = MD_UNIT(MD_RAW(row[k]) - MD_RAW(a) * MD_RAW(other[k]));
}

MD_INLINE md_num md_dot_units(const md_unit *a, const md_unit *b, int n)
{
    mdyn_real s = 0;
    int k;
    for (k = 0; k < n; k++) s += MD_RAW(a[k]) * MD_RAW(b[k]);
    return MD_NUM(s);
}

/* Sums of squares: md_squares s = 0, then any of these */
MD_INLINE md_squares md_add_square(md_squares s, md_unit a) { return s + MD_RAW(a) * MD_RAW(a); }
MD_INLINE md_num md_squares_value(md_squares s) { return MD_NUM(s); }

/* tau of a reflection whose vector is 1 at the pivot, and elsewhere `squares` in all */
MD_INLINE md_num md_reflection_factor(md_num knee, md_num length, md_squares squares)
{
    (void)squares;
    return md_div(knee, length);
}

/* u -= a b */
MD_INLINE md_strain md_sub_product(md_unit *u, md_unit a, md_unit b)
{
    *u = MD_UNIT(MD_RAW(*u) - MD_RAW(a) * MD_RAW(b));
    return 0;
}

/* Sum of entry[k] u[at[k]] */
MD_INLINE md_unit md_dot_at(const md_unit *entry, const int16_t *at, int count, const md_unit *u)
{
    mdyn_real s = 0;
    int k;
    for (k = 0; k < count; k++) s += MD_RAW(entry[k]) * MD_RAW(u[at[k]]);
    return MD_UNIT(s);
}

/* u[at[k]] += a entry[k] */
MD_INLINE md_strain md_add_at(md_unit *u, md_unit a, const md_unit *entry, const int16_t *at,
                              int count)
{
    int k;
    for (k = 0; k < count; k++)
        u[at[k]] = MD_UNIT(MD_RAW(u[at[k]]) + MD_RAW(a) * MD_RAW(entry[k]));
    return 0;
}

#endif /* float and double */

/* What a sum may be off by that began with the number u */
MD_INLINE md_unit md_unit_rounding(md_unit u)
{
    return md_unit_add(md_unit_mul(MD_U(8 * MD_EPSILON), u), MD_U(1e-30));
}

/* The whole number nearest to x, |x| < 2^22, as a coordinate. */
MD_STATIC mdyn_real md_whole(md_num x)
{
    int32_t n = md_to_int(md_abs(x));
    return md_to_real(md_of_int(md_less(x, MD_K(0)) ? -n : n));
}

MD_STATIC md_unit md_units_largest(const md_unit *u, int n)
{
    md_unit most = MD_U(0);
    int k;
    for (k = 0; k < n; k++)
        if (md_unit_less(most, md_unit_abs(u[k]))) most = md_unit_abs(u[k]);
    return most;
}

MD_INLINE int md_same(mdyn_real a, mdyn_real b) { return md_bits_of(a) == md_bits_of(b); }
MD_LEAF md_num md_max(md_num a, md_num b) { return md_less(a, b) ? b : a; }
MD_INLINE md_num md_min(md_num a, md_num b) { return md_less(b, a) ? b : a; }

/* x > 0 as n 10^(exponent - 5) with 100000 <= n < 1000000 */
MD_STATIC int32_t md_decimal(md_num x, int *exponent)
{
    int e = 5;
    while (!md_less(x, MD_K(999999.5)) && e < 400) { x = md_div(x, MD_K(10)); e++; }
    while (md_less(x, MD_K(99999.95)) && e > -400) { x = md_mul(x, MD_K(10)); e--; }
    *exponent = e;
    return md_to_int(x);
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

/* ============================================================================== // >>math
   No libm. Errors measured over sweeps of a million points by tests/test_number.c. */

#if MDYN_SCALAR == MDYN_SCALAR_FIXED

/* 1/sqrt(x) for x > 0, 0 otherwise: Newton's y (3 - x y^2)/2 from a parabola. Relative error: below
   1.5e-9. */
MD_NOINLINE md_num md_rsqrt(md_num x)
{
    int32_t e = md_exponent(MD_RAW(x)) + 31;
    uint32_t m = (uint32_t)md_mantissa(MD_RAW(x)), y; /* m: Q31, y: Q30 */
    int k;
    if (md_mantissa(MD_RAW(x)) <= 0) return MD_NUM((int64_t)0);
    if (e & 1) {
        m >>= 1; /* 1/4 <= m < 1 */
        e++;
    }
    /* 2.671 - 3.285 x + 1.639 x^2, within 2.5 % */
    y = 2867798754u - md_mul_high(3527650596u - md_mul_high(1759410846u, m, 31), m, 31);
    for (k = 0; k < 3; k++) {
        uint32_t square = md_mul_high(y, y, 31), t = 0xC0000000u - md_mul_high(square, m, 30);
        y = md_mul_high(y, t, 31);
    }
    return md_of_int32((int32_t)(y > 0x7FFFFFFFu ? 0x7FFFFFFFu : y), -30 - e / 2);
}

/* sqrt(x) for x > 0, 0 otherwise. Relative error: below 2e-9. */
MD_STATIC md_num md_sqrt(md_num x) { return md_mul(x, md_rsqrt(x)); }

/* sqrt(x) and 1/sqrt(x) for x > 0 */
MD_INLINE void md_roots(md_num x, md_num *root, md_num *inverse)
{
    *inverse = md_rsqrt(x);
    *root = md_mul(x, *inverse);
}

/* sqrt(x)/a, where y is 1/sqrt(x): a is mostly a power of 2 */
MD_INLINE md_num md_root_over(md_num x, md_num y, md_num a) { return md_div(md_mul(x, y), a); }

MD_INLINE int32_t md_q31(int32_t a, int32_t b)
{
    return (int32_t)((md_times(a, b) + 0x40000000) >> 31);
}

/* sin and cos of q, in 2^-30. The angle as a part of 2^32 of a turn, its quadrant taken off; then
   series in x^2, |x| <= pi/4. Error: below 2e-9. */
MD_STATIC void md_sincos_units(mdyn_real q, int32_t *sine, int32_t *cosine)
{
    uint64_t turns;
    uint32_t phase, quadrant;
    int32_t x, z, s, c;
    /* q 2^64/(2 pi), of which the bits from 2^72 on are wanted */
    turns = md_times_unsigned(md_low(q), 2475754826u) >> 32;
    turns += md_times_unsigned(md_low(q), 683565275u);
    turns = (turns >> 8) + (uint64_t)(md_times_mixed(md_high(q), 2475754826u) >> 8);
    turns += (uint64_t)md_times(md_high(q), 683565275) << 24;
    phase = (uint32_t)((turns + 0x80000000u) >> 32);
    quadrant = (phase + 0x20000000u) >> 30;
    x = (int32_t)(phase - (quadrant << 30)); /* Q30 of a quarter turn */
    x = (int32_t)((md_times(x, 1686629713) + 0x10000000) >> 29); /* Q31 of a radian */
    z = md_q31(x, x);
    s = -357913941 + md_q31(z, 17895697 - md_q31(z, 426088 - md_q31(z, 5918 - md_q31(z, 54))));
    c = 89478485 - md_q31(z, 2982616 - md_q31(z, 53261 - md_q31(z, 592)));
    s = (int32_t)((x + (int64_t)md_q31(x, md_q31(z, s)) + 1) >> 1);
    c = (int32_t)(0x40000000 - ((z + 2) >> 2) + ((md_q31(z, md_q31(z, c)) + 1) >> 1));
    if (quadrant & 1) {
        z = s;
        s = c;
        c = -z;
    }
    *sine = (quadrant & 2) ? -s : s;
    *cosine = (quadrant & 2) ? -c : c;
}

MD_STATIC void md_sincos(mdyn_real q, md_tail tail, md_num *sine, md_num *cosine)
{
    int32_t s, c;
    (void)tail;
    md_sincos_units(q, &s, &c);
    *sine = md_of_int32(s, -30);
    *cosine = md_of_int32(c, -30);
}

#else

/* Newton's step for 1/sqrt(x): y (3 - x y^2)/2 */
MD_INLINE mdyn_real md_newton_rsqrt(mdyn_real half_x, mdyn_real y)
{
    return y * ((mdyn_real)1.5 - half_x * y * y);
}

/* 1/sqrt(x) for normal x > 0: a guess from the exponent, then Newton's steps. Error: below 2.5
   units in the last place. */
MD_STATIC md_num md_rsqrt(md_num x)
{
    const mdyn_real half = (mdyn_real)0.5 * MD_RAW(x);
    mdyn_real y = md_of_bits(MD_BITS_RSQRT - (md_bits_of(MD_RAW(x)) >> 1));
    y = md_newton_rsqrt(half, md_newton_rsqrt(half, md_newton_rsqrt(half, y)));
    return MD_NUM(MD_RSQRT_STEPS == 4 ? md_newton_rsqrt(half, y) : y);
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

/* sqrt(x) and 1/sqrt(x) for x > 0 */
MD_INLINE void md_roots(md_num x, md_num *root, md_num *inverse)
{
    *root = md_sqrt(x);
    *inverse = md_div(MD_K(1), *root);
}

/* sqrt(x)/a, where y is 1/sqrt(x) */
MD_INLINE md_num md_root_over(md_num x, md_num y, md_num a)
{
    (void)x;
    return md_div(MD_K(1), md_mul(a, y));
}

/* q + tail = k pi/2 + r, |r| <= pi/4 but for the tail: pi/2 in three parts (Cody and Waite), of
   which the first two have so few bits that their products with k are exact for |q| < 2^23.
   Polynomials: in double by Remez' exchange (errors 8.2e-18, 1.3e-18), in float Taylor's. */
#if MDYN_SCALAR == MDYN_SCALAR_F64
MD_STATIC double md_reduce(double q, double tail, int32_t *k)
{
    const double ones = 6755399441055744.0; /* 1.5 2^52: a sum with it has no digits below 1 */
    double n = (q * 0.6366197723675814 + ones) - ones;
    *k = (int32_t)n;
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

#endif /* float and double */

/* ============================================================================ // >>vector
   Result first. A result may be an operand unless it says otherwise. */

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

#if MIMICDYN_TREE
static const uint8_t md_next_axis[3] = { 1, 2, 0 };

#if MDYN_SCALAR == MDYN_SCALAR_FIXED

/* ---- fixed point: blocks of integers m with one exponent e, value m 2^e; the largest |m| of a
   block is between 2^28 and 2^29 ---- */

/* Sums of up to three products 2^-29, rounded. Where a product is a call they are calls
   themselves, made of halves, the lower one from -2^14 to 2^14, and of sums of halves, which take
   the place of a product (Karatsuba): the same to the last bit. */
#define MD_PRODUCT 29
#if MD_SHORT_PRODUCTS
typedef struct md_halves {
    int32_t high, low;
    uint32_t both; /* modulo 2^32 */
} md_halves;
#define MD_HALF { 0, 0x10000000, 0x10000000u }
MD_INLINE void md_add_product(md_halves *s, int32_t a, int32_t b)
{
    int32_t a0 = (int32_t)((uint32_t)a << 17) >> 17, b0 = (int32_t)((uint32_t)b << 17) >> 17;
    a = (a - a0) >> 15;
    b = (b - b0) >> 15;
    s->low += a0 * b0;
    s->high += a * b;
    s->both += (uint32_t)((a + a0) * (b + b0));
    MD_OPAQUE(s->low); /* one product after the other, for registers are few */
    MD_OPAQUE(s->high);
    MD_OPAQUE(s->both);
}
MD_INLINE int32_t md_of_halves(const md_halves *s)
{
    int32_t middle = (int32_t)(s->both - (uint32_t)s->high - (uint32_t)s->low);
    return 2 * s->high + ((middle + (s->low >> 15)) >> 14);
}
#else
typedef int64_t md_halves;
#define MD_HALF 0x10000000
MD_INLINE void md_add_product(md_halves *s, int32_t a, int32_t b) { *s += md_times(a, b); }
MD_INLINE int32_t md_of_halves(const md_halves *s) { return (int32_t)(*s >> MD_PRODUCT); }
#endif

MD_SUM_OF_PRODUCTS int32_t md_d1(int32_t a, int32_t b)
{
    md_halves s = MD_HALF;
    md_add_product(&s, a, b);
    return md_of_halves(&s);
}
MD_SUM_OF_PRODUCTS int32_t md_d2(int32_t a, int32_t b, int32_t c, int32_t d)
{
    md_halves s = MD_HALF;
    md_add_product(&s, a, b);
    md_add_product(&s, c, d);
    return md_of_halves(&s);
}
MD_SUM_OF_PRODUCTS int32_t md_d3(int32_t a, int32_t b, int32_t c, int32_t d, int32_t e, int32_t f)
{
    md_halves s = MD_HALF;
    md_add_product(&s, a, b);
    md_add_product(&s, c, d);
    md_add_product(&s, e, f);
    return md_of_halves(&s);
}

/* The same for a row and a vector, or two rows */
MD_SUM_OF_PRODUCTS int32_t md_row_dot(const int32_t *a, const int32_t *b)
{
    md_halves s = MD_HALF;
    md_add_product(&s, a[0], b[0]);
    md_add_product(&s, a[1], b[1]);
    md_add_product(&s, a[2], b[2]);
    return md_of_halves(&s);
}

/* Has the bits of |x|, but for -2^n */
MD_INLINE uint32_t md_size(int32_t x) { return (uint32_t)(x ^ x >> 31); }

/* By how many digits a block is to be shifted up whose numbers have these bits: few as a rule. */
MD_INLINE int md_room(uint32_t bits)
{
#if MD_COUNTS_ZEROS
    return 29 - md_bit_length(bits | 1);
#else
    int n = 0;
    if (bits == 0) return 28;
    for (; bits < 0x10000000u; bits <<= 1) n++;
    for (; bits >= 0x20000000u; bits >>= 1) n--;
    return n;
#endif
}

/* r = (x, y, z) 2^e, of any size below 2^31 */
MD_SHARED void md_put3(int32_t *r, int32_t x, int32_t y, int32_t z, int32_t e)
{
    int n = md_room(md_size(x) | md_size(y) | md_size(z));
    if (n > 0) {
        if ((x | y | z) == 0) e = MD_NOWHERE + n;
        x = (int32_t)((uint32_t)x << n);
        y = (int32_t)((uint32_t)y << n);
        z = (int32_t)((uint32_t)z << n);
    } else if (n < 0) {
        x = md_round_right(x, -n);
        y = md_round_right(y, -n);
        z = md_round_right(z, -n);
    }
    r[0] = x;
    r[1] = y;
    r[2] = z;
    r[3] = e - n;
}

/* The same for n numbers with these bits in all, in place. */
MD_NOINLINE void md_refit(int32_t *m, int n, uint32_t bits)
{
    int32_t *end = m + n, shift = md_room(bits);
    if (bits == 0) { /* zeros, or nothing but rounding */
        while (m < end) *m++ = 0;
        *end = MD_NOWHERE;
        return;
    }
    *end -= shift;
    if (shift > 0) for (; m < end; m++) *m = (int32_t)((uint32_t)*m << shift);
    else if (shift < 0) for (; m < end; m++) *m = md_round_right(*m, -shift);
}

MD_INLINE void md_fit(int32_t *m, int n)
{
    uint32_t bits = 0;
    int k;
    for (k = 0; k < n; k++) bits |= md_size(m[k]);
    md_refit(m, n, bits);
}

/* r = a + sign b; |m| of b at most 2^30; any of them may be the same. */
MD_NOINLINE void md_join(int32_t *r, const int32_t *a, const int32_t *b, int32_t sign, int n)
{
    const int32_t *low = b;
    int32_t d = a[n] - b[n], e = a[n], factor = 1, half, x;
    uint32_t bits = 0;
    int k;
    if (d < 0) { /* the one with the smaller exponent is shifted */
        e = b[n];
        low = a;
        a = b;
        factor = sign;
        sign = 1;
        d = -d;
    }
    if (d > 30) sign = d = 0;
    half = (int32_t)1 << d >> 1;
    for (k = 0; k < n; k++) {
        x = factor * a[k] + sign * ((low[k] + half) >> d);
        bits |= md_size(x);
        r[k] = x;
    }
    r[n] = e;
    md_refit(r, n, bits);
}

MD_INLINE int md_vec_is_zero(const md_vec *a) { return a->m[3] == MD_NOWHERE; }
MD_INLINE void md_vec_zero(md_vec *r)
{
    r->m[0] = r->m[1] = r->m[2] = 0;
    r->m[3] = MD_NOWHERE;
}

/* The same for vectors: r = a + (u, v, w) 2^f */
MD_SHARED void md_sum_numbers(md_vec *r, const md_vec *a, int32_t u, int32_t v, int32_t w,
                              int32_t f)
{
    int32_t x = a->m[0], y = a->m[1], z = a->m[2], e = a->m[3], d = e - f, half;
    if (d > 30 || (u | v | w) == 0) {
        *r = *a;
        return;
    }
    if (d < 0) {
        e = f;
        d = -d;
        if (d > 30) x = y = z = d = 0;
        half = (int32_t)1 << d >> 1;
        x = (x + half) >> d;
        y = (y + half) >> d;
        z = (z + half) >> d;
    } else {
        half = (int32_t)1 << d >> 1;
        u = (u + half) >> d;
        v = (v + half) >> d;
        w = (w + half) >> d;
    }
    md_put3(r->m, x + u, y + v, z + w, e);
}

MD_NOINLINE void md_join3(md_vec *r, const md_vec *a, const int32_t *b)
{
    md_sum_numbers(r, a, b[0], b[1], b[2], b[3]);
}

/* The block of some numbers. */
MD_NOINLINE void md_gather_block(int32_t *r, const md_num *x, int n)
{
    int32_t e = MD_NOWHERE;
    int k;
    for (k = 0; k < n; k++)
        if (!md_is_zero(x[k]) && md_exponent(MD_RAW(x[k])) > e) e = md_exponent(MD_RAW(x[k]));
    e += 2;
    for (k = 0; k < n; k++) {
        int32_t m = md_mantissa(MD_RAW(x[k])), d = e - md_exponent(MD_RAW(x[k]));
        r[k] = m == 0 || d > 31 ? 0 : md_round_right(m, d);
    }
    r[n] = e;
    md_fit(r, n);
}

MD_STATIC void md_vec_set(md_vec *r, md_num x, md_num y, md_num z)
{
    md_num t[3];
    t[0] = x; t[1] = y; t[2] = z;
    md_gather_block(r->m, t, 3);
}
MD_INLINE md_num md_vec_get(const md_vec *a, int k) { return md_of_int32(a->m[k], a->m[3]); }
MD_INLINE void md_vec_add(md_vec *r, const md_vec *a, const md_vec *b) { md_join3(r, a, b->m); }
MD_INLINE void md_vec_twice(md_vec *r, const md_vec *a)
{
    *r = *a;
    r->m[3]++;
}
MD_INLINE void md_vec_sub(md_vec *r, const md_vec *a, const md_vec *b)
{
    md_join(r->m, a->m, b->m, -1, 3);
}

MD_NOINLINE void md_vec_scale(md_vec *r, md_num s, const md_vec *a)
{
    int32_t m = md_mantissa(MD_RAW(s));
    md_put3(r->m, (int32_t)md_unit_product(m, a->m[0]), (int32_t)md_unit_product(m, a->m[1]),
            (int32_t)md_unit_product(m, a->m[2]), a->m[3] + md_exponent(MD_RAW(s)) + 30);
}

/* r += s a */
MD_NOINLINE void md_vec_add_scaled(md_vec *r, md_num s, const md_vec *a)
{
    int32_t m = md_mantissa(MD_RAW(s));
    md_sum_numbers(r, r, md_rounded(md_times(m, a->m[0]), 31), md_rounded(md_times(m, a->m[1]), 31),
                   md_rounded(md_times(m, a->m[2]), 31), a->m[3] + md_exponent(MD_RAW(s)) + 31);
}

MD_NOINLINE md_num md_dot(const md_vec *a, const md_vec *b)
{
    return MD_NORMAL(md_times(a->m[0], b->m[0]) + md_times(a->m[1], b->m[1])
                     + md_times(a->m[2], b->m[2]), a->m[3] + b->m[3]);
}

#define MD_CROSS_X(a, b) md_d2(a[1], b[2], -a[2], b[1])
#define MD_CROSS_Y(a, b) md_d2(a[2], b[0], -a[0], b[2])
#define MD_CROSS_Z(a, b) md_d2(a[0], b[1], -a[1], b[0])

/* r = s + a x b */
MD_NOINLINE void md_sum_cross(md_vec *r, const md_vec *s, const md_vec *a, const md_vec *b)
{
    const int32_t *p = a->m, *q = b->m;
    if (md_vec_is_zero(a) || md_vec_is_zero(b)) {
        *r = *s;
        return;
    }
    md_sum_numbers(r, s, MD_CROSS_X(p, q), MD_CROSS_Y(p, q), MD_CROSS_Z(p, q),
                   p[3] + q[3] + MD_PRODUCT);
}

MD_STATIC void md_cross(md_vec *r, const md_vec *a, const md_vec *b)
{
    static const md_vec zero = { { 0, 0, 0, MD_NOWHERE } };
    md_sum_cross(r, &zero, a, b);
}

MD_NOINLINE void md_mat_vec(md_vec *r, const md_mat *a, const md_vec *v)
{
    const int32_t *m = a->m, *x = v->m;
    if (md_vec_is_zero(v)) *r = *v;
    else md_put3(r->m, md_row_dot(m, x), md_row_dot(m + 3, x), md_row_dot(m + 6, x),
                 m[9] + x[3] + MD_PRODUCT);
}

/* r = s + a v */
MD_NOINLINE void md_sum_mat_vec(md_vec *r, const md_vec *s, const md_mat *a, const md_vec *v)
{
    const int32_t *m = a->m, *x = v->m;
    if (md_vec_is_zero(v)) {
        *r = *s;
        return;
    }
    md_sum_numbers(r, s, md_round_right(md_row_dot(m, x), 1), /* below 2^30 */
                   md_round_right(md_row_dot(m + 3, x), 1),
                   md_round_right(md_row_dot(m + 6, x), 1), m[9] + x[3] + MD_PRODUCT + 1);
}

MD_NOINLINE void md_mat_t_vec(md_vec *r, const md_mat *a, const md_vec *v)
{
    const int32_t *m = a->m;
    int32_t x = v->m[0], y = v->m[1], z = v->m[2];
    md_put3(r->m, md_d3(m[0], x, m[3], y, m[6], z), md_d3(m[1], x, m[4], y, m[7], z),
            md_d3(m[2], x, m[5], y, m[8], z), m[9] + v->m[3] + MD_PRODUCT);
}

/* sym: xx yy zz xy xz yz */
MD_NOINLINE void md_sym_vec(md_vec *r, const md_sym *s, const md_vec *v)
{
    const int32_t *m = s->m;
    int32_t x = v->m[0], y = v->m[1], z = v->m[2];
    if (m[6] == MD_NOWHERE) md_vec_zero(r);
    else md_put3(r->m, md_d3(m[0], x, m[3], y, m[4], z), md_d3(m[3], x, m[1], y, m[5], z),
                 md_d3(m[4], x, m[5], y, m[2], z), m[6] + v->m[3] + MD_PRODUCT);
}

/* Rotations have the exponent -MD_PRODUCT, whose products have it too; their columns are blocks,
   for one number of a unit vector is above 1/2.
   r = a b for rotations; r is not an operand */
MD_NOINLINE void md_mat_mul(md_mat *r, const md_mat *a, const md_mat *b)
{
    const int32_t *p, *q;
    int i, k;
    for (i = 0; i < 3; i++)
        for (k = 0, p = a->m + 3 * i, q = b->m; k < 3; k++, q++)
            r->m[3 * i + k] = md_d3(p[0], q[0], p[1], q[3], p[2], q[6]);
    r->m[9] = -MD_PRODUCT;
}

MD_STATIC void md_mat_transpose(md_mat *r, const md_mat *a)
{
    md_mat t = *a;
    int i, k;
    for (i = 0; i < 3; i++)
        for (k = 0; k < 3; k++) r->m[3 * i + k] = t.m[3 * k + i];
    r->m[9] = t.m[9];
}

MD_STATIC void md_mat_set(md_mat *r, const md_num *x)
{
    int k;
    for (k = 0; k < 9; k++) r->m[k] = MD_RAW(md_unit_of(x[k], 30 - MD_PRODUCT));
    r->m[9] = -MD_PRODUCT;
}
MD_INLINE md_num md_mat_get(const md_mat *a, int k) { return md_of_int32(a->m[k], a->m[9]); }
MD_INLINE void md_mat_column(md_vec *r, const md_mat *a, int k)
{
    r->m[0] = a->m[k];
    r->m[1] = a->m[k + 3];
    r->m[2] = a->m[k + 6];
    r->m[3] = -MD_PRODUCT;
}
MD_INLINE void md_sym_set(md_sym *r, const md_num *x) { md_gather_block(r->m, x, 6); }

/* r = the rotation m turned about its own axis k by the angle q + tail; r may be m */
MD_NOINLINE void md_mat_turn(md_mat *r, const md_mat *m, int k, mdyn_real q, md_tail tail)
{
    int32_t *to = r->m, i = md_next_axis[k], j = md_next_axis[i], sine, cosine;
    const int32_t *from = m->m;
    (void)tail;
    md_sincos_units(q, &sine, &cosine);
    for (; to < r->m + 9; to += 3, from += 3) {
        int32_t a = from[i], b = from[j];
        to[i] = (int32_t)md_rounded_low(md_times(cosine, a) + md_times(sine, b));
        to[j] = (int32_t)md_rounded_low(md_times(cosine, b) - md_times(sine, a));
        to[k] = from[k];
    }
    r->m[9] = -MD_PRODUCT;
}

/* r = R a R^T; r is not an operand */
MD_NOINLINE void md_sym_turn(md_sym *r, const md_mat *R, const md_sym *a)
{
    const int32_t *m = a->m, *p = R->m;
    int32_t t[9];
    int i;
    if (m[6] == MD_NOWHERE) {
        *r = *a;
        return;
    }
    for (i = 0; i < 9; i += 3, p += 3) {
        t[i] = md_d3(p[0], m[0], p[1], m[3], p[2], m[4]);
        t[i + 1] = md_d3(p[0], m[3], p[1], m[1], p[2], m[5]);
        t[i + 2] = md_d3(p[0], m[4], p[1], m[5], p[2], m[2]);
    }
    p = R->m;
    r->m[0] = md_row_dot(t, p);
    r->m[1] = md_row_dot(t + 3, p + 3);
    r->m[2] = md_row_dot(t + 6, p + 6);
    r->m[3] = md_row_dot(t, p + 3);
    r->m[4] = md_row_dot(t, p + 6);
    r->m[5] = md_row_dot(t + 3, p + 6);
    r->m[6] = 2 * R->m[9] + m[6] + 2 * MD_PRODUCT;
    md_fit(r->m, 6);
}

/* [a]: [a] b = a x b */
MD_STATIC void md_mat_of_cross(md_mat *r, const md_vec *a)
{
    const int32_t *v = a->m;
    int32_t *m = r->m;
    m[0] = m[4] = m[8] = 0;
    m[5] = -v[0]; m[7] = v[0];
    m[2] = v[1]; m[6] = -v[1];
    m[1] = -v[2]; m[3] = v[2];
    m[9] = v[3];
}

/* B = [alpha] + omega omega^T - |omega|^2 1: a point at arm r is accelerated by B r more. */
MD_NOINLINE void md_spin(md_mat *B, const md_vec *omega, const md_vec *alpha)
{
    int32_t x = omega->m[0], y = omega->m[1], z = omega->m[2], e = 2 * omega->m[3] + MD_PRODUCT;
    int32_t xx = -md_d2(y, y, z, z), yy = -md_d2(x, x, z, z), zz = -md_d2(x, x, y, y);
    int32_t xy = md_d1(x, y), xz = md_d1(x, z), yz = md_d1(y, z), d = e - alpha->m[3], half;
    int32_t *m = B->m;
    uint32_t bits;
    x = alpha->m[0]; y = alpha->m[1]; z = alpha->m[2];
    if (d < 0) {
        e = alpha->m[3];
        d = -d;
        if (d > 30) xx = yy = zz = xy = xz = yz = d = 0;
        half = (int32_t)1 << d >> 1;
        xx = (xx + half) >> d; yy = (yy + half) >> d; zz = (zz + half) >> d;
        xy = (xy + half) >> d; xz = (xz + half) >> d; yz = (yz + half) >> d;
    } else {
        if (d > 30) x = y = z = d = 0;
        half = (int32_t)1 << d >> 1;
        x = (x + half) >> d; y = (y + half) >> d; z = (z + half) >> d;
    }
    m[0] = xx; m[1] = xy - z; m[2] = xz + y;
    m[3] = xy + z; m[4] = yy; m[5] = yz - x;
    m[6] = xz - y; m[7] = yz + x; m[8] = zz;
    m[9] = e;
    bits = md_size(xx) | md_size(yy) | md_size(zz);
    bits |= md_size(m[1]) | md_size(m[2]) | md_size(m[3]);
    md_refit(m, 9, bits | md_size(m[5]) | md_size(m[6]) | md_size(m[7]));
}

MD_INLINE int md_mat_is_one(const md_mat *a)
{
    const int32_t one = (int32_t)1 << MD_PRODUCT;
    return a->m[0] == one && a->m[4] == one && a->m[8] == one;
}

/* The matrix m 1 */
MD_INLINE void md_sym_of(md_sym *r, md_num m)
{
    md_num t[6];
    t[0] = t[1] = t[2] = m;
    t[3] = t[4] = t[5] = MD_K(0);
    md_gather_block(r->m, t, 6);
}
MD_INLINE void md_sym_add(md_sym *r, const md_sym *a, const md_sym *b)
{
    md_join(r->m, a->m, b->m, 1, 6);
}
MD_INLINE void md_mat_add(md_mat *r, const md_mat *a, const md_mat *b)
{
    md_join(r->m, a->m, b->m, 1, 9);
}

/* S += (r.k) 1 - (r k^T + k r^T)/2 */
MD_NOINLINE void md_sym_add_shift(md_sym *S, const md_vec *r, const md_vec *k)
{
    int32_t x = r->m[0], y = r->m[1], z = r->m[2], a = k->m[0], b = k->m[1], c = k->m[2];
    md_sym t;
    t.m[0] = md_d2(y, b, z, c);
    t.m[1] = md_d2(x, a, z, c);
    t.m[2] = md_d2(x, a, y, b);
    t.m[3] = -md_round_right(md_d2(x, b, y, a), 1);
    t.m[4] = -md_round_right(md_d2(x, c, z, a), 1);
    t.m[5] = -md_round_right(md_d2(y, c, z, b), 1);
    t.m[6] = r->m[3] + k->m[3] + MD_PRODUCT;
    md_sym_add(S, S, &t);
}

/* S -= a a^T, M -= a b^T */
MD_STATIC void md_sym_sub_square(md_sym *S, const md_vec *a)
{
    const int32_t *m = a->m;
    md_sym t;
    t.m[0] = md_d1(m[0], m[0]);
    t.m[1] = md_d1(m[1], m[1]);
    t.m[2] = md_d1(m[2], m[2]);
    t.m[3] = md_d1(m[0], m[1]);
    t.m[4] = md_d1(m[0], m[2]);
    t.m[5] = md_d1(m[1], m[2]);
    t.m[6] = 2 * m[3] + MD_PRODUCT;
    md_join(S->m, S->m, t.m, -1, 6);
}
MD_STATIC void md_mat_sub_product(md_mat *M, const md_vec *a, const md_vec *b)
{
    md_mat t;
    int k;
    for (k = 0; k < 9; k++) t.m[k] = md_d1(a->m[k / 3], b->m[k % 3]);
    t.m[9] = a->m[3] + b->m[3] + MD_PRODUCT;
    md_join(M->m, M->m, t.m, -1, 9);
}

/* [r] M of a symmetric M */
MD_STATIC void md_cross_sym(md_mat *t, const md_vec *r, const md_sym *M)
{
    static const uint8_t at[9] = { 0, 3, 4, 3, 1, 5, 4, 5, 2 };
    const int32_t *m = M->m, *v = r->m;
    int k;
    for (k = 0; k < 3; k++) {
        t->m[k] = md_d2(v[1], m[at[6 + k]], -v[2], m[at[3 + k]]);
        t->m[3 + k] = md_d2(v[2], m[at[k]], -v[0], m[at[6 + k]]);
        t->m[6 + k] = md_d2(v[0], m[at[3 + k]], -v[1], m[at[k]]);
    }
    t->m[9] = m[6] + v[3] + MD_PRODUCT;
}

/* A += [r] P^T + ([r] B^T)^T, which is symmetric in all */
MD_STATIC void md_sym_add_crosses(md_sym *A, const md_vec *r, const md_mat *P, const md_mat *B)
{
    const int32_t *v = r->m, *p = P->m, *b = B->m;
    md_sym s, t;
    s.m[0] = md_d2(v[1], p[2], -v[2], p[1]); t.m[0] = md_d2(v[1], b[2], -v[2], b[1]);
    s.m[1] = md_d2(v[2], p[3], -v[0], p[5]); t.m[1] = md_d2(v[2], b[3], -v[0], b[5]);
    s.m[2] = md_d2(v[0], p[7], -v[1], p[6]); t.m[2] = md_d2(v[0], b[7], -v[1], b[6]);
    s.m[3] = md_d2(v[1], p[5], -v[2], p[4]); t.m[3] = md_d2(v[2], b[0], -v[0], b[2]);
    s.m[4] = md_d2(v[1], p[8], -v[2], p[7]); t.m[4] = md_d2(v[0], b[1], -v[1], b[0]);
    s.m[5] = md_d2(v[2], p[6], -v[0], p[8]); t.m[5] = md_d2(v[0], b[4], -v[1], b[3]);
    s.m[6] = v[3] + p[9] + MD_PRODUCT;
    t.m[6] = v[3] + b[9] + MD_PRODUCT;
    md_sym_add(A, A, &s);
    md_sym_add(A, A, &t);
}

#else

/* ---- float and double ---- */

MD_INLINE void md_vec_set(md_vec *r, md_num x, md_num y, md_num z) { r->x = x; r->y = y; r->z = z; }
MD_INLINE void md_vec_zero(md_vec *r) { md_vec_set(r, MD_K(0), MD_K(0), MD_K(0)); }
MD_INLINE md_num md_vec_get(const md_vec *a, int k) { return k == 0 ? a->x : k == 1 ? a->y : a->z; }

MD_INLINE md_num md_dot(const md_vec *a, const md_vec *b)
{
    return md_sum3(a->x, b->x, a->y, b->y, a->z, b->z);
}

MD_INLINE void md_vec_add(md_vec *r, const md_vec *a, const md_vec *b)
{
    md_vec_set(r, md_add(a->x, b->x), md_add(a->y, b->y), md_add(a->z, b->z));
}

MD_INLINE void md_vec_twice(md_vec *r, const md_vec *a) { md_vec_add(r, a, a); }

MD_INLINE void md_vec_sub(md_vec *r, const md_vec *a, const md_vec *b)
{
    md_vec_set(r, md_sub(a->x, b->x), md_sub(a->y, b->y), md_sub(a->z, b->z));
}

MD_INLINE void md_vec_scale(md_vec *r, md_num s, const md_vec *a)
{
    md_vec_set(r, md_mul(s, a->x), md_mul(s, a->y), md_mul(s, a->z));
}

MD_INLINE void md_cross(md_vec *r, const md_vec *a, const md_vec *b)
{
    md_vec_set(r, md_det2(a->y, b->z, a->z, b->y), md_det2(a->z, b->x, a->x, b->z),
               md_det2(a->x, b->y, a->y, b->x));
}

MD_INLINE void md_mat_vec(md_vec *r, const md_mat *m, const md_vec *a)
{
    md_vec_set(r, md_sum3(m->xx, a->x, m->xy, a->y, m->xz, a->z),
               md_sum3(m->yx, a->x, m->yy, a->y, m->yz, a->z),
               md_sum3(m->zx, a->x, m->zy, a->y, m->zz, a->z));
}

/* r = s + m a */
MD_INLINE void md_sum_mat_vec(md_vec *r, const md_vec *s, const md_mat *m, const md_vec *a)
{
    md_vec t;
    md_mat_vec(&t, m, a);
    md_vec_add(r, s, &t);
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

MD_INLINE md_num *md_mat_numbers(md_mat *m) { return (md_num *)(void *)m; } /* row by row */
MD_INLINE void md_mat_set(md_mat *r, const md_num *x)
{
    int k;
    for (k = 0; k < 9; k++) md_mat_numbers(r)[k] = x[k];
}
MD_INLINE md_num md_mat_get(const md_mat *m, int k) { return ((const md_num *)(const void *)m)[k]; }
MD_INLINE void md_mat_column(md_vec *r, const md_mat *m, int k)
{
    md_vec_set(r, md_mat_get(m, k), md_mat_get(m, k + 3), md_mat_get(m, k + 6));
}
MD_INLINE int md_mat_is_one(const md_mat *m)
{
    return md_is_one(m->xx) && md_is_one(m->yy) && md_is_one(m->zz);
}
MD_INLINE void md_sym_set(md_sym *r, const md_num *x)
{
    r->xx = x[0]; r->yy = x[1]; r->zz = x[2];
    r->xy = x[3]; r->xz = x[4]; r->yz = x[5];
}

/* A row of a rotation turned from axis i to j about k */
MD_INLINE void md_turn_row(md_num *to, const md_num *from, int i, int j, int k, md_num s, md_num c)
{
    md_num a = from[i], b = from[j];
    to[k] = from[k];
    to[i] = md_sum2(c, a, s, b);
    to[j] = md_det2(c, b, s, a);
}

/* r = the rotation m turned about its own axis k by the angle q + tail; r may be m */
MD_INLINE void md_mat_turn(md_mat *r, const md_mat *m, int k, mdyn_real q, md_tail tail)
{
    const int i = md_next_axis[k], j = md_next_axis[i];
    const md_num *from = (const md_num *)(const void *)m;
    md_num *to = md_mat_numbers(r), s, c;
    md_sincos(q, tail, &s, &c);
    md_turn_row(to, from, i, j, k, s, c);
    md_turn_row(to + 3, from + 3, i, j, k, s, c);
    md_turn_row(to + 6, from + 6, i, j, k, s, c);
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

/* r += s a */
MD_INLINE void md_vec_add_scaled(md_vec *r, md_num s, const md_vec *a)
{
    md_vec t;
    md_vec_scale(&t, s, a);
    md_vec_add(r, r, &t);
}

/* r = s + a x b */
MD_INLINE void md_sum_cross(md_vec *r, const md_vec *s, const md_vec *a, const md_vec *b)
{
    md_vec t;
    md_cross(&t, a, b);
    md_vec_add(r, s, &t);
}

/* The matrix m 1 */
MD_INLINE void md_sym_of(md_sym *r, md_num m)
{
    r->xx = r->yy = r->zz = m;
    r->xy = r->xz = r->yz = MD_K(0);
}

/* [a]: [a] b = a x b */
MD_INLINE void md_mat_of_cross(md_mat *r, const md_vec *a)
{
    md_num zero = MD_K(0);
    r->xx = zero; r->xy = md_neg(a->z); r->xz = a->y;
    r->yx = a->z; r->yy = zero; r->yz = md_neg(a->x);
    r->zx = md_neg(a->y); r->zy = a->x; r->zz = zero;
}

MD_INLINE void md_sym_add(md_sym *r, const md_sym *a, const md_sym *b)
{
    r->xx = md_add(a->xx, b->xx); r->yy = md_add(a->yy, b->yy); r->zz = md_add(a->zz, b->zz);
    r->xy = md_add(a->xy, b->xy); r->xz = md_add(a->xz, b->xz); r->yz = md_add(a->yz, b->yz);
}

MD_INLINE void md_mat_add(md_mat *r, const md_mat *a, const md_mat *b)
{
    r->xx = md_add(a->xx, b->xx); r->xy = md_add(a->xy, b->xy); r->xz = md_add(a->xz, b->xz);
    r->yx = md_add(a->yx, b->yx); r->yy = md_add(a->yy, b->yy); r->yz = md_add(a->yz, b->yz);
    r->zx = md_add(a->zx, b->zx); r->zy = md_add(a->zy, b->zy); r->zz = md_add(a->zz, b->zz);
}

/* S += (r.k) 1 - (r k^T + k r^T)/2 */
MD_INLINE void md_sym_add_shift(md_sym *S, const md_vec *r, const md_vec *k)
{
    const md_num half = MD_K(0.5);
    md_num xx = md_mul(r->x, k->x), yy = md_mul(r->y, k->y), zz = md_mul(r->z, k->z);
    S->xx = md_add(S->xx, md_add(yy, zz));
    S->yy = md_add(S->yy, md_add(xx, zz));
    S->zz = md_add(S->zz, md_add(xx, yy));
    S->xy = md_sub(S->xy, md_mul(half, md_sum2(r->x, k->y, r->y, k->x)));
    S->xz = md_sub(S->xz, md_mul(half, md_sum2(r->x, k->z, r->z, k->x)));
    S->yz = md_sub(S->yz, md_mul(half, md_sum2(r->y, k->z, r->z, k->y)));
}

/* S -= a a^T, M -= a b^T */
MD_INLINE void md_sym_sub_square(md_sym *S, const md_vec *a)
{
    S->xx = md_sub(S->xx, md_mul(a->x, a->x)); S->yy = md_sub(S->yy, md_mul(a->y, a->y));
    S->zz = md_sub(S->zz, md_mul(a->z, a->z)); S->xy = md_sub(S->xy, md_mul(a->x, a->y));
    S->xz = md_sub(S->xz, md_mul(a->x, a->z)); S->yz = md_sub(S->yz, md_mul(a->y, a->z));
}
MD_INLINE void md_mat_sub_product(md_mat *M, const md_vec *a, const md_vec *b)
{
    M->xx = md_sub(M->xx, md_mul(a->x, b->x)); M->xy = md_sub(M->xy, md_mul(a->x, b->y));
    M->xz = md_sub(M->xz, md_mul(a->x, b->z)); M->yx = md_sub(M->yx, md_mul(a->y, b->x));
    M->yy = md_sub(M->yy, md_mul(a->y, b->y)); M->yz = md_sub(M->yz, md_mul(a->y, b->z));
    M->zx = md_sub(M->zx, md_mul(a->z, b->x)); M->zy = md_sub(M->zy, md_mul(a->z, b->y));
    M->zz = md_sub(M->zz, md_mul(a->z, b->z));
}

/* [r] M of a symmetric M */
MD_INLINE void md_cross_sym(md_mat *t, const md_vec *r, const md_sym *M)
{
    md_num x = r->x, y = r->y, z = r->z;
    t->xx = md_det2(y, M->xz, z, M->xy); t->xy = md_det2(y, M->yz, z, M->yy);
    t->xz = md_det2(y, M->zz, z, M->yz); t->yx = md_det2(z, M->xx, x, M->xz);
    t->yy = md_det2(z, M->xy, x, M->yz); t->yz = md_det2(z, M->xz, x, M->zz);
    t->zx = md_det2(x, M->xy, y, M->xx); t->zy = md_det2(x, M->yy, y, M->xy);
    t->zz = md_det2(x, M->yz, y, M->xz);
}

/* A += [r] P^T + ([r] B^T)^T, which is symmetric in all */
MD_INLINE void md_sym_add_crosses(md_sym *A, const md_vec *r, const md_mat *P, const md_mat *B)
{
    md_num x = r->x, y = r->y, z = r->z;
    A->xx = md_add(A->xx, md_det2(y, md_add(P->xz, B->xz), z, md_add(P->xy, B->xy)));
    A->yy = md_add(A->yy, md_det2(z, md_add(P->yx, B->yx), x, md_add(P->yz, B->yz)));
    A->zz = md_add(A->zz, md_det2(x, md_add(P->zy, B->zy), y, md_add(P->zx, B->zx)));
    A->xy = md_add(A->xy, md_add(md_det2(y, P->yz, z, P->yy), md_det2(z, B->xx, x, B->xz)));
    A->xz = md_add(A->xz, md_add(md_det2(y, P->zz, z, P->zy), md_det2(x, B->xy, y, B->xx)));
    A->yz = md_add(A->yz, md_add(md_det2(z, P->zx, x, P->zz), md_det2(x, B->yy, y, B->yx)));
}

#endif /* float and double */

MD_INLINE void md_vec_of_wide(md_vec *r, const mdyn_wide3 *x)
{
    md_vec_set(r, md_of_wide(x->x), md_of_wide(x->y), md_of_wide(x->z));
}

MD_INLINE void md_vec_of_real(md_vec *r, const mdyn_real3 *x)
{
    md_vec_set(r, md_of_real(x->x), md_of_real(x->y), md_of_real(x->z));
}

/* Rotation matrix of a quaternion of any length but 0: (w^2 - |u|^2) 1 + 2 u u^T + 2 w [u], over
   its squared length. */
MD_STATIC void md_mat_of_quaternion(md_mat *r, md_num w, md_num x, md_num y, md_num z)
{
    md_num two = MD_K(2), one = MD_K(1);
    md_num s = md_div(two, md_add(md_sum2(w, w, x, x), md_sum2(y, y, z, z)));
    md_num sx = md_mul(s, x), sy = md_mul(s, y), sz = md_mul(s, z), m[9];
    m[0] = md_sub(one, md_sum2(sy, y, sz, z));
    m[4] = md_sub(one, md_sum2(sx, x, sz, z));
    m[8] = md_sub(one, md_sum2(sx, x, sy, y));
    m[1] = md_det2(sx, y, sz, w); m[3] = md_sum2(sx, y, sz, w);
    m[2] = md_sum2(sx, z, sy, w); m[6] = md_det2(sx, z, sy, w);
    m[5] = md_det2(sy, z, sx, w); m[7] = md_sum2(sy, z, sx, w);
    md_mat_set(r, m);
}

/* The unit quaternion (w, x, y, z), w >= 0, of a rotation matrix: from the largest of its squares
   (Shepperd 1978). */
MD_STATIC void md_quaternion_of_mat(md_num *q, const md_mat *m)
{
    md_num one = MD_K(1), s, square[4];
    md_num xx = md_mat_get(m, 0), yy = md_mat_get(m, 4), zz = md_mat_get(m, 8);
    md_num wx = md_sub(md_mat_get(m, 7), md_mat_get(m, 5)); /* 4 w x, and so on */
    md_num wy = md_sub(md_mat_get(m, 2), md_mat_get(m, 6));
    md_num wz = md_sub(md_mat_get(m, 3), md_mat_get(m, 1));
    md_num xy = md_add(md_mat_get(m, 3), md_mat_get(m, 1));
    md_num xz = md_add(md_mat_get(m, 2), md_mat_get(m, 6));
    md_num yz = md_add(md_mat_get(m, 7), md_mat_get(m, 5));
    int k, best = 0;
    square[0] = md_add(one, md_add(xx, md_add(yy, zz)));
    square[1] = md_add(one, md_sub(xx, md_add(yy, zz)));
    square[2] = md_add(one, md_sub(yy, md_add(xx, zz)));
    square[3] = md_add(one, md_sub(zz, md_add(xx, yy)));
    for (k = 1; k < 4; k++)
        if (md_less(square[best], square[k])) best = k;
    s = md_mul(MD_K(0.5), md_rsqrt(square[best])); /* 1 / (4 |q_best|) */
    q[0] = best == 0 ? square[0] : best == 1 ? wx : best == 2 ? wy : wz;
    q[1] = best == 1 ? square[1] : best == 0 ? wx : best == 2 ? xy : xz;
    q[2] = best == 2 ? square[2] : best == 0 ? wy : best == 1 ? xy : yz;
    q[3] = best == 3 ? square[3] : best == 0 ? wz : best == 1 ? xz : yz;
    if (md_less(q[0], MD_K(0))) s = md_neg(s);
    for (k = 0; k < 4; k++) q[k] = md_mul(s, q[k]);
}

/* The rotation whose z axis is `axis` (not 0), exact where the axis is x, y or z. */
MD_STATIC void md_mat_of_axis(md_mat *r, const md_vec *axis)
{
    md_num n2 = md_dot(axis, axis), h, m[9], size[3], one[3];
    md_vec z = *axis, x, y;
    int k;
    if (md_less(n2, MD_K(1)) || md_less(MD_K(1), n2)) md_vec_scale(&z, md_rsqrt(n2), axis);
    /* x: the coordinate axis farthest from z, made orthogonal to it */
    for (k = 0; k < 3; k++) {
        size[k] = md_abs(md_vec_get(&z, k));
        one[k] = MD_K(0);
    }
    k = !md_less(size[1], size[0]) && !md_less(size[2], size[0]) ? 0
        : !md_less(size[2], size[1]) ? 1 : 2;
    one[k] = MD_K(1);
    md_vec_set(&x, one[0], one[1], one[2]);
    h = md_dot(&x, &z);
    if (!md_is_zero(h)) {
        md_vec_add_scaled(&x, md_neg(h), &z);
        md_vec_scale(&x, md_rsqrt(md_dot(&x, &x)), &x);
    }
    md_cross(&y, &z, &x);
    for (k = 0; k < 3; k++) {
        m[3 * k] = md_vec_get(&x, k);
        m[3 * k + 1] = md_vec_get(&y, k);
        m[3 * k + 2] = md_vec_get(&z, k);
    }
    md_mat_set(r, m);
}

/* r += a x b */
MD_INLINE void md_add_cross(md_vec *r, const md_vec *a, const md_vec *b)
{
    md_sum_cross(r, r, a, b);
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
    r->A = *in;
    md_mat_of_cross(&r->B, moment);
    md_sym_of(&r->M, mass);
}

/* to += the body a of a child whose origin is reached by r, with k = 2 h + m r:
   I + (r.k) 1 - (r k^T + k r^T)/2, h + m r, m */
MD_STATIC void md_rigid_add_shifted(md_rigid *to, const md_rigid *a, const md_vec *r)
{
    md_vec mr, k;
    md_vec_scale(&mr, a->mass, r);
    md_vec_twice(&k, &a->moment);
    md_vec_add(&k, &k, &mr);
    md_sym_add(&to->inertia, &to->inertia, &a->inertia);
    md_sym_add_shift(&to->inertia, r, &k);
    md_vec_add(&to->moment, &to->moment, &a->moment);
    md_vec_add(&to->moment, &to->moment, &mr);
    to->mass = md_add(to->mass, a->mass);
}

/* to += the inertia a of a child whose origin is reached by r:
   M, B' = B + [r] M, A' = A + [r] B'^T + ([r] B^T)^T */
MD_STATIC void md_inertia_add_shifted(md_inertia *to, const md_inertia *a, const md_vec *r)
{
    md_mat P; /* B' */
    md_cross_sym(&P, r, &a->M);
    md_mat_add(&P, &a->B, &P);
    md_sym_add(&to->A, &to->A, &a->A);
    md_sym_add_crosses(&to->A, r, &P, &a->B);
    md_mat_add(&to->B, &to->B, &P);
    md_sym_add(&to->M, &to->M, &a->M);
}

/* a -= W W^T */
MD_STATIC void md_inertia_sub_square(md_inertia *a, const md_force *W)
{
    md_sym_sub_square(&a->A, &W->ang);
    md_mat_sub_product(&a->B, &W->ang, &W->lin);
    md_sym_sub_square(&a->M, &W->lin);
}
#endif /* MIMICDYN_TREE */

/* ============================================================================= // >>check
   Every rule of the model with its code. Nothing is written here but the culprit. */

MD_STATIC int md_blame(mdyn_sim *sim, int code, int index)
{
    sim->culprit.code = (int16_t)code;
    sim->culprit.index = (int16_t)index;
    return code;
}

MD_STATIC int md_joint_dofs(mdyn_joint joint)
{
    if (!MIMICDYN_TREE) return 1;
    if (!MIMICDYN_QUATERNIONS) return joint != MDYN_FIXED;
    return joint == MDYN_FIXED ? 0 : joint == MDYN_SPHERICAL ? 3 : joint == MDYN_FREE ? 6 : 1;
}

MD_STATIC int md_joint_coordinates(mdyn_joint joint)
{
    return md_joint_dofs(joint)
        + (MIMICDYN_QUATERNIONS && (joint == MDYN_SPHERICAL || joint == MDYN_FREE));
}

/* Of the mdyn_wide from a field of a table to another: whether all can be used, whether any is
   negative, is not 0. Between the two there are no other fields. */
#define MD_FROM_TO(type, p, first, last) \
    (const mdyn_wide *)(const void *)((const char *)(p) + offsetof(type, first)), \
    (int)((offsetof(type, last) - offsetof(type, first)) / sizeof(mdyn_wide)) + 1

MD_INLINE int md_wide_less(mdyn_wide a, mdyn_wide b)
{
    return md_less(md_of_wide(a), md_of_wide(b));
}

MD_STATIC int md_are_usable(const mdyn_wide *x, int n)
{
    int k;
    for (k = 0; k < n; k++)
        if (!md_is_usable(x[k])) return 0;
    return 1;
}

MD_STATIC int md_any_negative(const mdyn_wide *x, int n)
{
    int k;
    for (k = 0; k < n; k++)
        if (md_is_negative(x[k])) return 1;
    return 0;
}

MD_STATIC int md_are_null(const mdyn_wide *x, int n)
{
    int k;
    for (k = 0; k < n; k++)
        if (!md_is_null(x[k])) return 0;
    return 1;
}

/* No principal moment is negative: neither are the diagonal, the 2x2 minors, the determinant,
   but for rounding in the tables. */
MD_STATIC int md_inertia_is_real(const mdyn_inertia *in)
{
    const md_num slack = MD_K(-1e-5);
    md_num m[6], size, det, n;
    int k;
    if (!MIMICDYN_TREE) return md_are_null(&in->xx, 6);
    if (md_any_negative(&in->xx, 3)) return 0;
    for (k = 0; k < 6; k++) m[k] = md_of_wide((&in->xx)[k]);
    size = md_add(md_add(m[0], m[1]), m[2]);
    if (md_is_zero(size)) return md_are_null(&in->xy, 3);
    n = md_div(MD_K(1), size);
    for (k = 0; k < 6; k++) m[k] = md_mul(n, m[k]);
    if (md_less(md_det2(m[0], m[1], m[3], m[3]), slack)
        || md_less(md_det2(m[0], m[2], m[4], m[4]), slack)) return 0;
    det = md_det2(m[1], m[2], m[5], m[5]);
    if (md_less(det, slack)) return 0;
    det = md_sub(md_mul(m[0], det), md_mul(m[3], md_det2(m[3], m[2], m[5], m[4])));
    det = md_add(det, md_mul(m[4], md_det2(m[3], m[5], m[1], m[4])));
    return !md_less(det, slack);
}

MD_INLINE md_num md_square_length(md_num w, md_num x, md_num y, md_num z)
{
    return md_add(md_sum2(w, w, x, x), md_sum2(y, y, z, z));
}

/* A quaternion's squared length, of coordinates. */
MD_STATIC md_num md_quaternion_square(const mdyn_real *q)
{
    return md_square_length(md_of_real(q[0]), md_of_real(q[1]), md_of_real(q[2]),
                            md_of_real(q[3]));
}

/* Whether n numbers are neither all 0 nor, together, of a length that can be divided by. */
MD_STATIC int md_is_tiny(const mdyn_wide *x, int n)
{
    md_num sum = MD_K(0);
    int k;
    if (md_are_null(x, n)) return 0;
    for (k = 0; k < n; k++) sum = md_add(sum, md_mul(md_of_wide(x[k]), md_of_wide(x[k])));
    return !md_less(MD_K(1e-12), sum);
}

/* What a body may be in a build without trees. */
MD_INLINE int md_body_fits(const mdyn_body *b)
{
#if MIMICDYN_TREE
    (void)b;
    return 1;
#else
    return b->parent == MDYN_WORLD && (b->joint == MDYN_REVOLUTE || b->joint == MDYN_PRISMATIC)
        && md_is_null(b->mass) && md_are_null(&b->inertia.xx, 3);
#endif
}

/* What is wrong with body i. */
MD_STATIC int md_check_body(const mdyn_model *model, int i)
{
    const mdyn_body *b = &model->bodies[i];
    int single;
    if (!MIMICDYN_CHECKS) return MDYN_OK;
    if (!md_are_usable(MD_FROM_TO(mdyn_body, b, axis, drive_kd))) return MDYN_ERR_NOT_FINITE;
    if (b->parent < MDYN_WORLD || b->parent >= i) return MDYN_ERR_PARENT;
    if ((unsigned)b->joint > (MIMICDYN_QUATERNIONS || !MIMICDYN_TREE ? MDYN_FREE : MDYN_HELICAL))
        return MDYN_ERR_JOINT;
    if (!md_body_fits(b)) return MDYN_ERR_TREE;
    single = md_joint_coordinates(b->joint) == 1;
    if (md_is_tiny(&b->rotation.w, 4)) return MDYN_ERR_ROTATION;
    if (md_is_negative(b->mass)) return MDYN_ERR_MASS;
    if (!md_inertia_is_real(&b->inertia)) return MDYN_ERR_INERTIA;
    if (md_any_negative(MD_FROM_TO(mdyn_body, b, armature, friction))
        || md_any_negative(MD_FROM_TO(mdyn_body, b, effort, drive_kd))
        || (b->joint == MDYN_FREE && !md_is_null(b->armature))) return MDYN_ERR_NEGATIVE;
    if (md_wide_less(b->upper, b->lower)
        || (!single && !md_are_null(&b->lower, 2))) return MDYN_ERR_LIMITS;
    return single || md_are_null(&b->drive_kp, 2) ? MDYN_OK : MDYN_ERR_DRIVE;
}

MD_INLINE int md_softness_has_erp(const mdyn_softness *s)
{
    return s->kind == MDYN_ERP_CFM || s->kind == MDYN_ODE_CFM;
}

MD_STATIC int md_softness_is_valid(const mdyn_softness *s)
{
    if ((unsigned)s->kind > MDYN_ODE_CFM) return 0;
    if (md_softness_has_erp(s) && md_wide_less(MDYN_C(1), s->a)) return 0;
    return !md_any_negative(&s->a, 2);
}

/* What is wrong with a coupling in the place i. */
MD_STATIC int md_check_coupling(const mdyn_model *model, const mdyn_coupling *c, int i)
{
    int k, j, terms = 0;
    if (!MIMICDYN_CHECKS) return MDYN_OK;
    if (!md_is_usable(c->offset) || !md_are_usable(&c->softness.a, 2)
        || !md_are_usable(MD_FROM_TO(mdyn_coupling, c, lower, effort))
        || !md_are_usable(MD_FROM_TO(mdyn_coupling, c, efficiency, mu)))
        return MDYN_ERR_NOT_FINITE;
    for (k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        const mdyn_term *t = &c->terms[k];
        mdyn_joint joint;
        if (!md_is_usable(t->coefficient)) return MDYN_ERR_NOT_FINITE;
        if (md_is_null(t->coefficient)) continue;
        if (t->body < 0 || t->body >= model->body_count) return MDYN_ERR_TERM;
        joint = model->bodies[t->body].joint;
        if (t->axis < 0 || t->axis >= md_joint_dofs(joint)) return MDYN_ERR_TERM;
        if (c->level == MDYN_POSITION && md_joint_coordinates(joint) != 1) return MDYN_ERR_LEVEL;
        for (j = 0; j < k; j++)
            if (!md_is_null(c->terms[j].coefficient) && c->terms[j].body == t->body
                && c->terms[j].axis == t->axis) return MDYN_ERR_TERM;
        terms++;
    }
    if (terms == 0) return MDYN_ERR_NO_TERMS;
    if ((unsigned)c->level > MDYN_VELOCITY) return MDYN_ERR_LEVEL;
    if (!md_softness_is_valid(&c->softness)) return MDYN_ERR_SOFTNESS;
    if (md_wide_less(c->upper, c->lower)) return MDYN_ERR_LIMITS;
    if (md_is_negative(c->effort)) return MDYN_ERR_NEGATIVE;
    if (!MIMICDYN_LOSSES) return md_are_null(&c->efficiency, 2) ? MDYN_OK : MDYN_ERR_LOSS;
    if (md_any_negative(&c->efficiency, 2) || md_wide_less(MDYN_C(1), c->efficiency)
        || (!md_is_null(c->mu) && (c->mu_of < 0 || c->mu_of == i
        || c->mu_of >= model->coupling_count))) return MDYN_ERR_LOSS;
    return MDYN_OK;
}

#if MIMICDYN_MAX_BODY_ROWS > 0
MD_STATIC int md_closure_rows(mdyn_closure_kind kind)
{
    return kind == MDYN_CLOSE_POINT ? 3 : kind == MDYN_CLOSE_HINGE ? 5
        : kind == MDYN_CLOSE_WELD ? 6 : kind == MDYN_CLOSE_DISTANCE ? 1 : 0;
}

MD_STATIC int md_check_closure(mdyn_sim *sim, const mdyn_model *model, int i)
{
    const mdyn_closure *c = &model->closures[i];
    if (!md_are_usable(MD_FROM_TO(mdyn_closure, c, point_a, distance))
        || !md_are_usable(&c->softness.a, 2) || !md_is_usable(c->effort))
        return md_blame(sim, MDYN_ERR_NOT_FINITE, i);
    if (md_closure_rows(c->kind) == 0 || c->a < MDYN_WORLD || c->a >= model->body_count
        || c->b < MDYN_WORLD || c->b >= model->body_count || c->a == c->b
        || md_is_tiny(&c->axis_a.x, 3) || md_is_tiny(&c->axis_b.x, 3)
        || md_is_tiny(&c->rotation.w, 4)
        || (c->kind == MDYN_CLOSE_DISTANCE && !md_wide_less(MDYN_C(0), c->distance)))
        return md_blame(sim, MDYN_ERR_CLOSURE, i);
    if (!md_softness_is_valid(&c->softness)) return md_blame(sim, MDYN_ERR_SOFTNESS, i);
    if (md_is_negative(c->effort)) return md_blame(sim, MDYN_ERR_NEGATIVE, i);
    return MDYN_OK;
}

/* An own row i of `rows`, of the table or of a callback. */
MD_STATIC int md_check_own_row(mdyn_sim *sim, const mdyn_body_row *r, int i, int rows, int bodies)
{
    int k;
    if (!md_is_usable(r->value) || !md_are_usable(&r->softness.a, 2)
        || !md_are_usable(MD_FROM_TO(mdyn_body_row, r, lower, friction)))
        return md_blame(sim, MDYN_ERR_NOT_FINITE, i);
    for (k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        const mdyn_part *p = &r->parts[k];
        if (!md_are_usable(MD_FROM_TO(mdyn_part, p, angular, linear.z)))
            return md_blame(sim, MDYN_ERR_NOT_FINITE, i);
        if (p->body < MDYN_WORLD || p->body >= bodies || (unsigned)p->axes > MDYN_JOINT_SPEEDS)
            return md_blame(sim, MDYN_ERR_BODY_ROW, i);
    }
    if (!md_softness_is_valid(&r->softness)) return md_blame(sim, MDYN_ERR_SOFTNESS, i);
    if (md_wide_less(r->upper, r->lower)
        || md_wide_less(r->most, r->least) || md_is_negative(r->friction)
        || (r->level != MDYN_POSITION && r->level != MDYN_VELOCITY)
        || (!md_is_null(r->friction) && (r->normal < 0 || r->normal >= rows || r->normal == i)))
        return md_blame(sim, MDYN_ERR_BODY_ROW, i);
    return MDYN_OK;
}

/* Closures and own rows; returns how many rows they take, or an error. */
MD_STATIC int md_check_body_rows(mdyn_sim *sim, const mdyn_model *model)
{
    int i, code, n = model->row_count;
    if (model->closure_count < 0 || model->row_count < 0
        || model->closure_count > MIMICDYN_MAX_BODY_ROWS || n > MIMICDYN_MAX_BODY_ROWS)
        return md_blame(sim, MDYN_ERR_CAPACITY_BODY_ROWS, -1);
    if ((model->closure_count > 0 && !model->closures)
        || (n > 0 && !model->rows && !model->row_function))
        return md_blame(sim, MDYN_ERR_NULL, -1);
    for (i = 0; i < model->closure_count; i++) {
        code = md_check_closure(sim, model, i);
        if (code != MDYN_OK) return code;
        n += md_closure_rows(model->closures[i].kind);
    }
    if (n > MIMICDYN_MAX_BODY_ROWS) return md_blame(sim, MDYN_ERR_CAPACITY_BODY_ROWS, -1);
    for (i = 0; model->rows && i < model->row_count; i++) {
        code = md_check_own_row(sim, &model->rows[i], i, model->row_count, model->body_count);
        if (code != MDYN_OK) return code;
        if (!model->row_function && !md_is_null(model->rows[i].friction)
            && !md_is_null(model->rows[model->rows[i].normal].friction))
            return md_blame(sim, MDYN_ERR_BODY_ROW, i);
    }
    return n;
}
#else
MD_STATIC int md_check_body_rows(mdyn_sim *sim, const mdyn_model *model)
{
    if (model->closure_count == 0 && model->row_count == 0) return 0;
    return md_blame(sim, MDYN_ERR_CAPACITY_BODY_ROWS, -1);
}
#endif

/* What is wrong with gravity, step and solver. */
MD_STATIC int md_check_settings(const mdyn_model *model)
{
    const mdyn_solver *s = &model->solver;
    if (!MIMICDYN_CHECKS) return MDYN_OK;
    if (!md_are_usable(&model->gravity.x, 3)) return MDYN_ERR_NOT_FINITE;
    if (!md_is_usable(model->dt) || md_wide_less(model->dt, MDYN_C(1e-9))
        || md_wide_less(MDYN_C(1), model->dt)) return MDYN_ERR_DT;
    if (s->method == MDYN_DANTZIG && MIMICDYN_MAX_DANTZIG == 0) return MDYN_ERR_CAPACITY_DANTZIG;
    if ((unsigned)s->method > MDYN_DANTZIG || (s->substeps > 1 && s->method != MDYN_TGS)
        || (s->method == MDYN_DANTZIG && s->friction == MDYN_CONE)
        || !md_are_usable(&s->relaxation, 2) || md_any_negative(&s->relaxation, 2)
        || !md_wide_less(s->relaxation, MDYN_C(2)) || (unsigned)s->equality > MDYN_ITERATED
        || (unsigned)s->start > MDYN_COLD || (unsigned)s->correction > MDYN_RELAX
        || (unsigned)s->limits > MDYN_ENGAGED || !md_is_usable(s->deadband)
        || (unsigned)s->friction > MDYN_TWO_STAGE || md_is_negative(s->deadband)
        || (!MIMICDYN_SETTINGS && ((MIMICDYN_EXACT && s->equality) || (MIMICDYN_WARM && s->start)
                                   || s->correction || s->limits || s->method)))
        return MDYN_ERR_SOLVER;
    return MDYN_OK;
}

MD_STATIC int md_check_model(mdyn_sim *sim, const mdyn_model *model)
{
    int i, code, dofs = 0, rows = model->coupling_count;
    if (model->body_count < 1 || model->body_count > MIMICDYN_MAX_BODIES)
        return md_blame(sim, MDYN_ERR_CAPACITY_BODIES, -1);
    if (model->coupling_count < 0 || model->coupling_count > MIMICDYN_MAX_COUPLINGS)
        return md_blame(sim, MDYN_ERR_CAPACITY_COUPLINGS, -1);
    if (!model->bodies || (model->coupling_count > 0 && !model->couplings))
        return md_blame(sim, MDYN_ERR_NULL, -1);
    code = md_check_settings(model);
    if (code != MDYN_OK) return md_blame(sim, code, -1);
    for (i = 0; i < model->body_count; i++) {
        const mdyn_body *b = &model->bodies[i];
        code = md_check_body(model, i);
        if (code != MDYN_OK) return md_blame(sim, code, i);
        dofs += md_joint_dofs(b->joint);
        rows += !md_are_null(&b->drive_kp, 2) + !md_are_null(&b->lower, 2)
            + !md_is_null(b->friction) * md_joint_dofs(b->joint);
        if (dofs > MIMICDYN_MAX_DOFS) return md_blame(sim, MDYN_ERR_CAPACITY_DOFS, i);
        if (rows > MIMICDYN_MAX_ROWS) return md_blame(sim, MDYN_ERR_CAPACITY_ROWS, i);
    }
    code = md_check_body_rows(sim, model);
    if (code < 0) return code;
    rows += code;
    if (rows > MIMICDYN_MAX_ROWS) return md_blame(sim, MDYN_ERR_CAPACITY_ROWS, -1);
    for (i = 0; i < model->coupling_count; i++) {
        code = md_check_coupling(model, &model->couplings[i], i);
        if (code != MDYN_OK) return md_blame(sim, code, i);
        rows += !md_is_null(model->couplings[i].efficiency);
    }
    if (rows > MIMICDYN_MAX_ROWS) return md_blame(sim, MDYN_ERR_CAPACITY_ROWS, -1);
    return MDYN_OK;
}

/* Whether the solver has a setting other than the default one. */
#define MD_HAS_SET(sim, what, value) (MIMICDYN_SETTINGS && (sim)->model->solver.what == (value))

/* Whether rows without a bound on their impulse are swept in a step, as the others are. */
MD_INLINE int md_iterates(const mdyn_sim *sim)
{
    return !MIMICDYN_EXACT || MD_HAS_SET(sim, equality, MDYN_ITERATED);
}

/* How many rows of this solve are solved exactly: the first ones. */
MD_FOLDED int md_exacts(const mdyn_sim *sim) { return MIMICDYN_EXACT ? sim->exacts : 0; }

/* In how many parts a step is solved. */
MD_INLINE int md_substeps(const mdyn_sim *sim)
{
    const uint16_t parts = sim->model->solver.substeps;
    if (!MD_HAS_SET(sim, method, MDYN_TGS)) return 1;
    return parts == 0 ? 4 : parts < 32767 ? (int)parts : 32767;
}

/* Whether sim->shift is what q has been moved by. */
MD_INLINE int md_has_moved(const mdyn_sim *sim) { return MIMICDYN_SETTINGS && sim->moved; }

/* Whether a model of this sim may have joints with quaternions. */
MD_INLINE int md_has_quaternions(const mdyn_sim *sim)
{
    return MIMICDYN_QUATERNIONS && sim->coordinates > sim->dofs;
}

MD_INLINE int md_has_efficiency(const mdyn_coupling *c)
{
    return MIMICDYN_LOSSES && !md_is_null(c->efficiency);
}
MD_INLINE int md_has_mu(const mdyn_coupling *c) { return MIMICDYN_LOSSES && !md_is_null(c->mu); }

/* The next speed on the way to the world; -1: none. */
MD_INLINE int md_up(const mdyn_sim *sim, int k) { return MIMICDYN_TREE ? sim->up[k] : -1; }

/* ---- the parts of a sim by their numbers; of a const sim too, like strchr ---- */

MD_LEAF md_row *md_row_at(const mdyn_sim *sim, int k) { return (md_row *)&sim->row[k]; }
MD_LEAF md_row *md_live_row(const mdyn_sim *sim, int i) /* the i-th row of this solve */
{
    return (md_row *)&sim->row[sim->live[i]];
}
MD_LEAF md_row *md_ordered_row(const mdyn_sim *sim, int i) /* the i-th to be set up */
{
    return (md_row *)&sim->row[sim->order[i]];
}
MD_LEAF const mdyn_coupling *md_coupling_at(const mdyn_sim *sim, int i)
{
    return &sim->coupling[i];
}
MD_LEAF const mdyn_body *md_moved_body(const mdyn_sim *sim, int k) /* whose speed is k */
{
    return &sim->model->bodies[sim->dof[k].body];
}

/* ======================================================================== // >>kinematics
   World axes; every quantity of a body is taken at the origin of its own joint, which keeps the
   numbers small however far the body is from the world's origin. */

enum { MD_ANGULAR, MD_LINEAR, MD_SCREW };

/* Where the quaternion of a joint begins; -1: it has none. */
MD_STATIC int md_quaternion_of(const md_link *link)
{
    return !MIMICDYN_QUATERNIONS ? -1 : link->joint == MDYN_SPHERICAL ? link->coordinate
         : link->joint == MDYN_FREE ? link->coordinate + 3 : -1;
}

#if MIMICDYN_TREE
/* The rotations of quaternions, for md_joint_pose: into sim->work, which is scratch here. */
MD_APART void md_turn_joints(mdyn_sim *sim)
{
    int i, k;
    for (i = 0; md_has_quaternions(sim) && i < sim->bodies; i++) {
        const mdyn_real *q = sim->q;
        k = md_quaternion_of(&sim->link[i]);
        if (k >= 0) md_mat_of_quaternion(&sim->work[i].inertia.B, md_of_real(q[k]),
            md_of_real(q[k + 1]), md_of_real(q[k + 2]), md_of_real(q[k + 3]));
    }
}

/* The motion of a spherical or free joint. */
MD_APART void md_turned_pose(mdyn_sim *sim, const md_link *link, md_mat *R, md_vec *arm)
{
    const mdyn_real *q = sim->q + link->coordinate;
    const int i = (int)(link - sim->link);
    md_mat *placed = &sim->pose[i].spin; /* scratch, these two */
    md_vec *shift = &sim->pose[i].alpha;
    int k;
    if (link->joint == MDYN_FREE) {
        md_vec_set(shift, md_of_real(q[0]), md_of_real(q[1]), md_of_real(q[2]));
        md_mat_vec(shift, R, shift);
        md_vec_add(arm, arm, shift);
    }
    *placed = *R;
    md_mat_mul(R, placed, &sim->work[i].inertia.B);
    for (k = 0; k < link->dofs; k++)
        md_mat_column(&sim->dof[link->dof + k].axis, R, k % 3);
}

/* The joint's motion: rotation and arm of the pose, axes of its columns. */
MD_APART void md_joint_pose(mdyn_sim *sim, const md_link *link, const md_pose *parent,
                             md_mat *R, md_vec *arm)
{
    const mdyn_real *q = sim->q + link->coordinate;
    const md_tail *tail = sim->q_tail + link->coordinate;
    const md_mat *from = &link->rotation;
    md_dof *d = sim->dof + link->dof;
    if (link->parent < 0) {
        *arm = link->position;
    } else {
        md_mat_vec(arm, &parent->rotation, &link->position);
        from = &parent->rotation;
        if (!link->upright) {
            md_mat_mul(R, &parent->rotation, &link->rotation);
            from = R;
        }
    }
    if (link->joint == MDYN_REVOLUTE || link->joint == MDYN_HELICAL) {
        md_mat_turn(R, from, link->axis, q[0], tail[0]);
        md_mat_column(&d->axis, R, link->axis);
        if (link->joint == MDYN_HELICAL)
            md_vec_add_scaled(arm, md_mul(d->pitch, md_of_real(q[0])), &d->axis);
        return;
    }
    if (from != R) *R = *from;
    switch (link->joint) {
    case MDYN_PRISMATIC:
        md_mat_column(&d->axis, R, link->axis);
        md_vec_add_scaled(arm, md_of_real(q[0]), &d->axis);
        break;
    case MDYN_SPHERICAL:
    case MDYN_FREE:
        if (MIMICDYN_QUATERNIONS) md_turned_pose(sim, link, R, arm);
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

/* Poses, velocities, accelerations at zero joint accelerations, and the wrenches that these take
   (Newton and Euler; Featherstone 2008, table 5.1, in world axes). With w and u from the joint:
      omega = omega_p + w,   alpha = alpha_p + omega_p x w
      a = a_p + B_p r + (omega_p + omega) x u
      f = m a + B h,         n = I alpha + omega x I omega + h x a */
MD_APART void md_link_motions(mdyn_sim *sim)
{
    const mdyn_wide3 *g = &sim->model->gravity;
    md_vec up;
    int i;
    /* the world does not turn, and accelerates upwards instead of pulling down */
    md_vec_set(&up, md_neg(md_of_wide(g->x)), md_neg(md_of_wide(g->y)), md_neg(md_of_wide(g->z)));
    for (i = 0; i < sim->bodies; i++) {
        const md_link *link = &sim->link[i];
        md_pose *p = &sim->pose[i];
        const md_pose *parent = &sim->pose[link->parent < 0 ? i : link->parent];
        md_vec w, u, t;
        md_joint_pose(sim, link, parent, &p->rotation, &p->arm);
        md_joint_velocity(sim, link, &w, &u);
        if (link->parent < 0) {
            p->omega = w;
            p->acc = up;
            md_vec_zero(&p->alpha);
        } else {
            md_vec_add(&p->omega, &parent->omega, &w);
            md_sum_cross(&p->alpha, &parent->alpha, &parent->omega, &w);
            md_sum_mat_vec(&p->acc, &parent->acc, &parent->spin, &p->arm);
        }
        if (link->joint != MDYN_REVOLUTE) {
            t = p->omega;
            if (link->parent >= 0) md_vec_add(&t, &parent->omega, &t);
            md_add_cross(&p->acc, &t, &u);
        }
        md_sym_turn(&p->inertia, &p->rotation, &link->inertia);
        md_mat_vec(&p->moment, &p->rotation, &link->moment);
        md_spin(&p->spin, &p->omega, &p->alpha);
        md_vec_scale(&t, link->mass, &p->acc);
        md_sum_mat_vec(&p->bias.lin, &t, &p->spin, &p->moment);
        md_sym_vec(&t, &p->inertia, &p->omega);
        md_sym_vec(&w, &p->inertia, &p->alpha);
        md_sum_cross(&w, &w, &p->omega, &t);
        md_sum_cross(&p->bias.ang, &w, &p->moment, &p->acc);
    }
}

MD_INLINE void md_kinematics(mdyn_sim *sim)
{
    md_turn_joints(sim);
    md_link_motions(sim);
}

#else
MD_INLINE void md_kinematics(mdyn_sim *sim) { (void)sim; } /* rotors have none */
#endif

/* Whether any of n numbers differs from those seen before, which are all in range. */
MD_LEAF int md_differ(const mdyn_real *x, const mdyn_real *seen, int n)
{
    md_bits differ = 0;
    int k;
    for (k = 0; k < n; k++) differ |= md_bits_of(x[k]) ^ md_bits_of(seen[k]);
    return differ != 0;
}

MD_INLINE int md_all_in_range(const mdyn_real *x, int n)
{
    md_bits excess = 0;
    int k;
    for (k = 0; k < n; k++) excess |= md_excess(x[k]);
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

MD_APART int md_check_numbers(mdyn_sim *sim, const mdyn_real *x, int n)
{
    int k = 0;
    if (md_all_in_range(x, n)) return MDYN_OK;
    while (md_in_range(x[k])) k++;
    return md_blame(sim, MDYN_ERR_STATE, k);
}

/* Checks q and v, and brings the kinematics up to date with them if they have changed since. */
MD_STATIC int md_refresh(mdyn_sim *sim)
{
    int i, k, code = MDYN_OK;
    const int changed = md_differ(sim->q, sim->q_seen, sim->coordinates)
        | md_differ(sim->v, sim->v_seen, sim->dofs);
    if (!changed && !sim->stale) return MDYN_OK;
    if (changed) code = md_check_numbers(sim, sim->q, sim->coordinates);
    if (changed && code == MDYN_OK) code = md_check_numbers(sim, sim->v, sim->dofs);
    if (code != MDYN_OK) return code;
    for (i = 0; md_has_quaternions(sim) && i < sim->bodies; i++) {
        k = md_quaternion_of(&sim->link[i]);
        if (k >= 0 && !md_less(MD_K(1e-6), md_quaternion_square(sim->q + k)))
            return md_blame(sim, MDYN_ERR_STATE, k);
    }
    if (changed) {
        md_take_over(sim->q, sim->q_seen, sim->q_tail, sim->coordinates);
        md_take_over(sim->v, sim->v_seen, sim->v_tail, sim->dofs);
    }
    md_kinematics(sim);
    sim->stale = 0;
    return MDYN_OK;
}

#if MIMICDYN_TREE
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

#endif

/* ========================================================================== // >>dynamics
   The mass matrix by composite bodies (Featherstone 2008, table 6.2), factored as M = L^T L
   (section 6.5, Cholesky's form): row k of L has a number for each speed on the way from speed k
   to the world and no other, so a forest of short trees costs little. With it
      inward  z = L^-T b,   outward  y = L^-1 z,   M^-1 b = L^-1 L^-T b
   z is called whitened: kinetic energy is |L v|^2/2, a row J is the vector x = L^-T J^T there,
   and J M^-1 J^T = |x|^2. x is the inward half of the PhysX "test impulse".

   Forward dynamics alone goes by articulated bodies (table 7.1): its cost is linear in the depth
   of a tree, and on long chains it keeps more digits. */

#if MIMICDYN_TREE
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

#endif

/* What is added to the diagonal of M: armature + dt damping. */
MD_INLINE md_num md_diagonal(const mdyn_sim *sim, int body, md_num dt)
{
    const mdyn_body *b = &sim->model->bodies[body];
    return md_add(md_of_wide(b->armature), md_mul(dt, md_of_wide(b->damping)));
}

#if MIMICDYN_TREE
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
   speeds on the way to the world; and what of that is rounding into sim->y. */
MD_STATIC void md_mass_rows(mdyn_sim *sim, md_num dt)
{
    int i, j, k;
    md_composite_bodies(sim);
    for (k = 0; k < sim->dofs; k++) {
        const md_dof *d = &sim->dof[k];
        md_unit *row = sim->entry + sim->path[k];
        md_force f;
        i = d->body;
        md_scale e;
        md_num M;
        md_dof_momentum(&f, &sim->work[i].rigid, d);
        M = md_add(md_dof_dot_force(d, &f), md_diagonal(sim, i, dt));
        e = md_dof_rescale(&sim->dof[k], M);
        *row = md_unit_of(M, 2 * e);
        sim->y[k] = md_unit_rounding(*row);
        for (j = md_up(sim, k); j >= 0; j = md_up(sim, j)) {
            d = &sim->dof[j];
            for (; i != d->body; i = sim->link[i].parent)
                md_add_cross(&f.ang, &sim->pose[i].arm, &f.lin);
            *++row = md_unit_of(md_dof_dot_force(d, &f), e + md_dof_scale(d));
        }
    }
}

#else
/* The diagonal M, and what of it is rounding into sim->y */
MD_STATIC void md_mass_rows(mdyn_sim *sim, md_num dt)
{
    int k;
    for (k = 0; k < sim->dofs; k++) {
        md_num M = md_diagonal(sim, sim->dof[k].body, dt);
        sim->entry[sim->path[k]] = md_unit_of(M, 2 * md_dof_rescale(&sim->dof[k], M));
        sim->y[k] = md_unit_rounding(sim->entry[sim->path[k]]);
    }
}
#endif

/* M = L^T L in place, from the leaves to the roots, and 1/L_kk. dt = 0 leaves the damping out.
   Error if a pivot is no more than the rounding of M_kk. */
MD_STATIC int md_factor(mdyn_sim *sim, md_num dt)
{
    md_strain strain = 0; /* of M that is not positive definite */
    int k, p, n;
    md_mass_rows(sim, dt);
    for (k = sim->dofs - 1; k >= 0; k--) {
        md_unit *row = sim->entry + sim->path[k];
        const int16_t *at = sim->entry_at + sim->path[k];
        md_num inverse;
        if (!md_unit_less(sim->y[k], row[0]) || md_is_strained(strain))
            return md_blame(sim, MDYN_ERR_SINGULAR, k);
        n = MIMICDYN_TREE ? sim->path[k + 1] - sim->path[k] : 1;
        inverse = md_rsqrt(md_of_unit(row[0], 0));
        sim->rsqrt_D[k] = inverse;
        for (p = n - 1; p > 0; p--) {
            row[p] = md_unit_by(row[p], inverse);
            strain |= md_strain_of(row[p]);
            md_sub_row(sim->entry + sim->path[at[p]], row[p], row + p, n - p);
        }
    }
    return MDYN_OK;
}

/* u -= s times the row of L of speed k, but for its diagonal */
MD_INLINE void md_hand_up(mdyn_sim *sim, int k, md_unit s, md_unit *u)
{
    const md_unit *row = sim->entry + sim->path[k];
    md_strain strain = md_strain_of(s);
    int j;
    for (j = md_up(sim, k); j >= 0; j = md_up(sim, j)) strain |= md_sub_product(&u[j], *++row, s);
    sim->strain |= strain;
}

/* u = L^-T (s f), in a block whose scale is returned; u and f do not overlap. */
MD_STATIC md_scale md_inward(mdyn_sim *sim, const md_num *f, md_num s, md_unit *u)
{
    md_scale e = MD_LEAST_SCALE;
    int k, tries = 0;
    for (k = 0; k < sim->dofs; k++)
        e = md_scale_with(e, md_mul(s, f[k]), md_dof_scale(&sim->dof[k]));
    do {
        md_strain_reset(&sim->strain, 0);
        for (k = 0; k < sim->dofs; k++)
            u[k] = md_unit_of(md_mul(s, f[k]), e + md_dof_scale(&sim->dof[k]));
        for (k = sim->dofs - 1; k >= 0; k--) {
            u[k] = md_unit_by(u[k], sim->rsqrt_D[k]);
            md_hand_up(sim, k, u[k], u);
        }
        e = md_scale_up(e, sim->strain);
    } while (MIMICDYN_TREE && md_is_strained(sim->strain) && ++tries < MD_TRIES);
    return e;
}

/* z = L^-1 u for a block of scale e; u is used up. */
MD_STATIC void md_outward(mdyn_sim *sim, md_unit *u, md_scale e, md_num *z)
{
    md_strain strain = sim->strain;
    int k, j;
    for (k = 0; k < sim->dofs; k++) {
        const md_unit *row = sim->entry + sim->path[k];
        const md_dof *d = &sim->dof[k];
        md_unit x = u[k];
        for (j = md_up(sim, k); j >= 0; j = md_up(sim, j))
            strain |= md_sub_product(&x, *++row, u[j]);
        u[k] = md_unit_by(x, sim->rsqrt_D[k]);
        strain |= md_strain_of(u[k]);
        z[k] = md_of_unit(u[k], e - md_dof_scale(d));
    }
    sim->strain = strain;
}

#if MIMICDYN_TREE
MD_INLINE int md_wrench_is_zero(const mdyn_wrench *w)
{
    return (md_bits_of(w->moment.x) | md_bits_of(w->moment.y) | md_bits_of(w->moment.z)
            | md_bits_of(w->force.x) | md_bits_of(w->force.y) | md_bits_of(w->force.z)) == 0;
}

/* sim->force = the wrenches of the bias, less the external ones. */
MD_STATIC void md_bias_wrenches(mdyn_sim *sim)
{
    int i;
    for (i = 0; i < sim->bodies; i++) sim->force[i] = sim->pose[i].bias;
    for (i = 0; i < sim->bodies && sim->pushed; i++) {
        const mdyn_wrench *e = &sim->wrench[i];
        md_force *f = &sim->force[i];
        md_vec t;
        if (md_wrench_is_zero(e)) continue;
        md_vec_of_real(&t, &e->moment);
        md_vec_sub(&f->ang, &f->ang, &t);
        md_vec_of_real(&t, &e->force);
        md_vec_sub(&f->lin, &f->lin, &t);
    }
}

/* The wrenches in sim->force handed inward, and what of them the joints feel taken from b. */
MD_STATIC void md_gather(mdyn_sim *sim, md_num *b)
{
    int i, k = sim->dofs;
    for (i = sim->bodies - 1; i >= 0; i--) {
        const md_link *link = &sim->link[i];
        const md_force *f = &sim->force[i];
        while (--k >= link->dof)
            b[k] = md_sub(b[k], md_dof_dot_force(&sim->dof[k], f));
        k++;
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
            sim->rsqrt_D[k] = md_rsqrt(D);
            md_vec_scale(&d->W.ang, sim->rsqrt_D[k], &U.ang);
            md_vec_scale(&d->W.lin, sim->rsqrt_D[k], &U.lin);
            sim->z[k] = md_mul(sim->rsqrt_D[k], md_sub(b[k], md_dof_dot_force(d, p)));
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
            sim->z[k] = md_mul(sim->rsqrt_D[k], md_sub(sim->z[k], t));
            md_dof_add_motion(a, sim->z[k], d);
        }
    }
}

#else
MD_INLINE void md_bias_wrenches(mdyn_sim *sim) { (void)sim; }
MD_INLINE void md_gather(mdyn_sim *sim, md_num *b) { (void)sim; (void)b; }

/* z = M^-1 b */
MD_STATIC int md_articulate(mdyn_sim *sim, const md_num *b)
{
    int k;
    for (k = 0; k < sim->dofs; k++)
        sim->z[k] = md_div(b[k], md_diagonal(sim, sim->dof[k].body, MD_K(0)));
    return MDYN_OK;
}
MD_INLINE void md_release(mdyn_sim *sim) { (void)sim; }
#endif

/* ============================================================================== // >>rows
   A row asks  low <= J v' + cfm lambda <= high  of the speeds after the step, and its impulse
   lambda moves them by M^-1 J^T lambda. In whitened coordinates it is the vector x = L^-T J^T. */

enum md_mode {
    MD_STEP,         /* all rows, speeds after the step */
    MD_ACCELERATION, /* hard couplings: J a = 0 */
    MD_PLACE,        /* hard couplings: J dq = -C */
    MD_HALT          /* hard couplings: J dv = speed - J v */
};

MD_STATIC void md_row_terms(const mdyn_sim *sim, const md_row *row, md_terms *t)
{
    const mdyn_term *term;
    int k = 0;
    if (row->kind > MDYN_ROW_LOSS) {
        t->count = 1;
        t->dof[0] = row->index;
        t->coefficient[0] = MDYN_C(1);
        t->number[0] = MD_K(1);
        return;
    }
    t->count = sim->coupling_terms[row->index];
    for (term = md_coupling_at(sim, row->index)->terms; k < t->count; term++) {
        if (md_is_null(term->coefficient)) continue;
        t->dof[k] = (int16_t)(sim->link[term->body].dof + term->axis);
        t->coefficient[k] = term->coefficient;
        t->number[k++] = md_of_wide(term->coefficient);
    }
    if (!MIMICDYN_LOSSES || row->kind == MDYN_ROW_COUPLING) return;
    for (k = 0; k < t->count; k++) { /* of the loss: s is C' of the first joint, minus the rest */
        t->number[k] = md_mul(k ? MD_K(-0.5) : MD_K(0.5), t->number[k]);
        t->coefficient[k] = md_to_wide(t->number[k]);
    }
}

/* J v */
MD_STATIC md_num md_row_speed(const mdyn_sim *sim, const md_row *row, const md_terms *t)
{
    md_sum s;
    int k;
    if (row->kind > MDYN_ROW_LOSS) return md_of_real(sim->v[row->index]);
    md_sum_start(&s, MDYN_C(0));
    for (k = 0; k < t->count; k++) md_sum_speed(&s, t->coefficient[k], sim->v[t->dof[k]]);
    return md_sum_value(&s);
}

/* C of the row of sim->terms, into sim->place. */
MD_FRAME void md_row_position(mdyn_sim *sim, const md_row *row)
{
    const md_terms *t = &sim->terms;
    md_sum *C = &sim->place.C;
    md_num shift = MD_K(0);
    int k, c = sim->dof[t->dof[0]].coordinate;
    for (k = 0; md_has_moved(sim) && k < t->count; k++)
        shift = md_add(shift, md_mul(t->number[k], sim->shift[t->dof[k]]));
    sim->place.shift = shift;
    if (row->kind != MDYN_ROW_COUPLING) {
        md_sum_of(C, sim->q[c], sim->q_tail[c]);
        return;
    }
    md_sum_start(C, md_coupling_at(sim, row->index)->offset);
    for (k = 0; k < t->count; k++) {
        c = sim->dof[t->dof[k]].coordinate;
        md_sum_product(C, t->coefficient[k], sim->q[c], sim->q_tail[c]);
    }
}

/* C - x */
MD_INLINE md_num md_beyond(const mdyn_sim *sim, mdyn_wide x)
{
    return md_add(md_sum_beyond(&sim->place.C, x), sim->place.shift);
}

MD_INLINE int md_coupling_is_equality(const mdyn_coupling *c)
{
    return md_is_zero(md_sub(md_of_wide(c->upper), md_of_wide(c->lower)));
}

/* Whether the impulse of a coupling bounds that of another row. */
MD_STATIC int md_coupling_leads(const mdyn_sim *sim, int i)
{
    int k;
    for (k = 0; k < sim->couplings; k++)
        if (md_has_mu(md_coupling_at(sim, k)) && md_coupling_at(sim, k)->mu_of == i) return 1;
    return md_has_efficiency(md_coupling_at(sim, i));
}

/* Rows without a bound on their impulse, but those that bound others; see row->boundless. */
MD_STATIC int md_row_is_boundless(const mdyn_sim *sim, const md_row *row)
{
    if (row->kind == MDYN_ROW_COUPLING) {
        const mdyn_coupling *c = md_coupling_at(sim, row->index);
        if (c->softness.kind == MDYN_KP_KD && md_is_null(c->softness.a)
            && md_is_null(c->softness.b)) return 0; /* no force at all */
        return md_coupling_is_equality(c) && md_is_null(c->effort) && !md_has_mu(c)
            && !sim->off[row->index] && !md_coupling_leads(sim, row->index);
    }
    return row->kind == MDYN_ROW_DRIVE
        && md_is_null(md_moved_body(sim, row->index)->effort);
}

MD_INLINE int md_relaxes(const mdyn_sim *sim)
{
    return MD_HAS_SET(sim, correction, MDYN_RELAX) || MD_HAS_SET(sim, limits, MDYN_ENGAGED);
}

/* Whether a step keeps impulses for the next one; whether sweeps begin there. */
MD_INLINE int md_keeps_starts(const mdyn_sim *sim)
{
    return MIMICDYN_WARM && !MD_HAS_SET(sim, start, MDYN_COLD);
}
MD_INLINE int md_is_warm(const mdyn_sim *sim)
{
    return md_keeps_starts(sim) && !MD_HAS_SET(sim, method, MDYN_DANTZIG);
}

MD_STATIC int md_softness_is_hard(const mdyn_softness *s)
{
    return s->kind == MDYN_DEFAULT
        || (md_softness_has_erp(s) && md_is_null(s->b))
        || (s->kind == MDYN_OMEGA_ZETA && md_is_null(s->a));
}

/* r = J M^-1 J^T of the row in sim->w. */
MD_STATIC md_num md_row_response(const mdyn_sim *sim, const md_row *row)
{
    md_squares r = 0;
    int e;
    for (e = row->first; e < row->end; e++) r = md_add_square(r, sim->w[sim->entry_at[e]]);
    return md_div(md_squares_value(r), md_mul(row->scale, row->scale));
}

/* erp and cfm of a row, whose vector is in sim->w. Returns 0 if the row has no force at all.
   Source: PhysX mimic joints, (18), (20)-(29). */
MD_STATIC int md_soften(const mdyn_sim *sim, const mdyn_softness *s, md_row *row)
{
    md_num a = md_of_wide(s->a), b = md_of_wide(s->b), dt_kp, both;
    row->erp = MD_K(0.2);
    if (md_softness_has_erp(s)) {
        row->erp = a;
        row->cfm = s->kind == MDYN_ODE_CFM ? md_mul(sim->inverse_h, b) : b;
        return 1;
    }
    if (md_softness_is_hard(s)) return 1;
    dt_kp = md_mul(sim->h, a);
    if (s->kind == MDYN_OMEGA_ZETA) {
        md_num r = md_row_response(sim, row);
        if (md_is_zero(r)) return 0;
        dt_kp = md_div(md_mul(dt_kp, a), r);              /* kp = omega^2 / r */
        b = md_div(md_mul(md_mul(MD_K(2), a), b), r);     /* kd = 2 omega zeta / r */
    }
    both = md_add(dt_kp, b);
    if (md_is_zero(both)) return 0;
    row->erp = md_div(dt_kp, both);
    row->cfm = md_div(sim->inverse_h, both);
    return 1;
}

/* Whether a lower, an upper end is meant. */
MD_INLINE int md_binds_below(mdyn_wide x) { return md_wide_less(MDYN_C(-1e12), x); }
MD_INLINE int md_binds_above(mdyn_wide x) { return md_wide_less(x, MDYN_C(1e12)); }

/* Whether what takes back an error of position is ever kept apart from the rest. */
MD_INLINE int md_row_parts(const mdyn_sim *sim, const md_row *row)
{
    if (md_relaxes(sim)) return 1;
    return md_is_warm(sim) && row->kind != MDYN_ROW_DRIVE
        && !(row->boundless && !md_iterates(sim));
}

/* Takes note of what of low, high takes back an error of position, beyond the rounding of C while
   the sweeps suffice. */
MD_STATIC void md_part_error(mdyn_sim *sim, const md_row *row)
{
    const md_terms *t = &sim->terms;
    md_num size = MD_K(1);
    int k;
    for (k = 0; k < t->count; k++)
        size = md_add(size, md_abs(md_mul(t->number[k],
            md_of_real(sim->q[sim->dof[t->dof[k]].coordinate]))));
    if (md_less(md_mul(MD_K(64 * MD_EPSILON), size), md_abs(row->error))) sim->parting = 1;
}

MD_INLINE void md_row_takes_back(mdyn_sim *sim, md_row *row, md_num back)
{
    row->back = back;
    if (sim->hurried || md_relaxes(sim)) {
        if (!md_is_zero(back)) sim->parting = 1;
    } else if (md_less(MD_K(64 * MD_EPSILON), md_abs(row->error))) {
        md_part_error(sim, row);
    }
}

/* low = high = speed, less what takes back row->error. */
MD_FRAME void md_row_pulls(mdyn_sim *sim, md_row *row, md_num speed)
{
    md_num way = md_mul(md_mul(row->erp, sim->inverse_h), row->error);
    row->low = row->high = md_sub(speed, way);
    if (md_row_parts(sim, row)) md_row_takes_back(sim, row, md_neg(way));
}

/* low, high for a row that is engaged: C stays on its side of the bound, and what lies outside it
   by more than the deadband is taken back. */
MD_STATIC void md_row_engaged(mdyn_sim *sim, md_row *row, mdyn_wide lower, mdyn_wide upper)
{
    md_num zero = MD_K(0), outside, back;
    outside = row->hold > 0 ? md_beyond(sim, lower) : md_neg(md_beyond(sim, upper));
    outside = md_max(zero, md_neg(outside));
    back = md_max(zero, md_sub(outside, md_of_wide(sim->model->solver.deadband)));
    back = md_mul(back, sim->inverse_h);
    row->error = row->hold > 0 ? md_neg(outside) : outside;
    row->low = row->hold > 0 ? back : MD_K(-1e30);
    row->high = row->hold > 0 ? MD_K(1e30) : md_neg(back);
    if (!md_is_zero(back)) md_row_takes_back(sim, row, row->hold > 0 ? back : md_neg(back));
}

/* low, high for C' so that C returns into [lower, upper], at most `erp` of the way in a substep,
   and never leaves it. */
MD_APART void md_row_range(mdyn_sim *sim, md_row *row, mdyn_wide lower, mdyn_wide upper)
{
    md_num zero = MD_K(0), rate = md_mul(row->erp, sim->inverse_h), beyond, back = zero;
    if (MD_HAS_SET(sim, limits, MDYN_ENGAGED) && row->hold) {
        md_row_engaged(sim, row, lower, upper);
        return;
    }
    row->low = MD_K(-1e30);
    row->high = MD_K(1e30);
    if (md_binds_below(lower)) {
        beyond = md_beyond(sim, lower);
        if (md_less(beyond, zero)) row->error = beyond;
        row->low = md_neg(md_mul(beyond, md_less(beyond, zero) ? rate : sim->inverse_h));
        if (md_less(beyond, zero)) back = row->low;
    }
    if (md_binds_above(upper)) {
        beyond = md_beyond(sim, upper);
        if (md_less(zero, beyond)) row->error = beyond;
        row->high = md_neg(md_mul(beyond, md_less(zero, beyond) ? rate : sim->inverse_h));
        if (md_less(zero, beyond)) back = row->high;
    }
    if (!md_is_zero(back) && md_row_parts(sim, row)) md_row_takes_back(sim, row, back);
}

MD_STATIC void md_impulse_bound(const mdyn_sim *sim, md_row *row, mdyn_wide effort)
{
    if (md_is_null(effort)) return;
    row->most = md_mul(sim->h, md_of_wide(effort));
    row->least = md_neg(row->most);
}

/* low, high for C' of a row of speeds. */
MD_FRAME void md_aim_speed(md_row *row, md_num speed, mdyn_wide lower, mdyn_wide upper)
{
    row->low = md_binds_below(lower) ? md_add(speed, md_of_wide(lower)) : MD_K(-1e30);
    row->high = md_binds_above(upper) ? md_add(speed, md_of_wide(upper)) : MD_K(1e30);
}

/* The commanded force of a speed, held within the actuator's effort. */
MD_STATIC md_num md_command(const mdyn_sim *sim, const mdyn_body *b, int dof)
{
    md_num tau = md_of_real(sim->tau[dof]), most;
    if (md_is_null(b->effort)) return tau;
    most = md_of_wide(b->effort);
    return md_max(md_neg(most), md_min(most, tau));
}

/* Softness of a row, for its vector in w, and bounds of its impulse. Returns 0 if it has no force
   at all. */
MD_APART int md_row_firmness(const mdyn_sim *sim, md_row *row)
{
    const mdyn_softness *firmness;
    mdyn_softness spring;
    const mdyn_coupling *c;
    const mdyn_body *b;
    row->cfm = MD_K(0);
    row->least = MD_K(-1e30);
    row->most = MD_K(1e30);
    switch (row->kind) {
    case MDYN_ROW_COUPLING:
        c = md_coupling_at(sim, row->index);
        firmness = &c->softness;
        md_impulse_bound(sim, row, c->effort);
        break;
    case MDYN_ROW_DRIVE:
        b = md_moved_body(sim, row->index);
        spring.kind = MDYN_KP_KD;
        spring.a = b->drive_kp;
        spring.b = b->drive_kd;
        firmness = &spring;
        if (!md_is_null(b->effort)) { /* what the command leaves */
            md_num effort = md_of_wide(b->effort), tau = md_command(sim, b, row->index);
            row->least = md_mul(sim->h, md_neg(md_add(effort, tau)));
            row->most = md_mul(sim->h, md_sub(effort, tau));
        }
        break;
    case MDYN_ROW_FRICTION:
        md_impulse_bound(sim, row, md_moved_body(sim, row->index)->friction);
        return 1;
    case MDYN_ROW_LIMIT:
        row->erp = MD_K(0.2);
        return 1;
    default: /* MDYN_ROW_LOSS: md_follow_bounds */
        return 1;
    }
    return md_soften(sim, firmness, row);
}

/* cfm lambda = (1 - erp) target_speed - erp error/h - v': the spring at the end of the step */
MD_FRAME void md_aim_drive(mdyn_sim *sim, md_row *row)
{
    md_sum_speed(&sim->place.C, MDYN_C(-1), sim->target[row->index]);
    row->error = md_add(md_sum_value(&sim->place.C), sim->place.shift);
    md_row_pulls(sim, row, md_mul(md_sub(MD_K(1), row->erp),
                                  md_of_real(sim->target_speed[row->index])));
}

/* C into sim->place, for a row of sim->terms that looks at it. */
MD_INLINE void md_row_look(mdyn_sim *sim, const md_row *row)
{
    if (row->kind == MDYN_ROW_COUPLING
            ? md_coupling_at(sim, row->index)->level == MDYN_POSITION
            : row->kind == MDYN_ROW_DRIVE || row->kind == MDYN_ROW_LIMIT)
        md_row_position(sim, row);
}

/* What a row that has looked asks of the speeds after this step or substep. */
MD_INLINE void md_row_aim(mdyn_sim *sim, md_row *row)
{
    const mdyn_coupling *c = NULL;
    row->error = row->low = row->high = row->back = MD_K(0);
    if (row->kind == MDYN_ROW_LOSS || row->kind == MDYN_ROW_FRICTION) return; /* rest */
    if (row->kind == MDYN_ROW_COUPLING) {
        c = md_coupling_at(sim, row->index);
        if (c->level == MDYN_VELOCITY) {
            md_aim_speed(row, md_of_wide(c->speed), c->lower, c->upper);
            return;
        }
    }
    if (row->kind == MDYN_ROW_DRIVE) {
        md_aim_drive(sim, row);
    } else if (!c) {
        const mdyn_body *b = md_moved_body(sim, row->index);
        md_row_range(sim, row, b->lower, b->upper);
    } else if (!md_coupling_is_equality(c)) {
        md_row_range(sim, row, c->lower, c->upper);
    } else {
        row->error = md_beyond(sim, c->lower);
        md_row_pulls(sim, row, md_of_wide(c->speed));
    }
}

/* One speed of w += L^-T b, where b = sim->b and w = sim->w; b there is 0 afterwards. Returns the
   next on the way to the world. */
MD_INLINE int md_walk_on(mdyn_sim *sim, int k)
{
    md_unit z = md_unit_by(sim->b[k], sim->rsqrt_D[k]);
    sim->b[k] = MD_U(0);
    sim->w[k] = md_unit_add(sim->w[k], z);
    sim->strain |= md_strain_of(sim->w[k]);
    md_hand_up(sim, k, z, sim->b);
    return md_up(sim, k);
}

/* All from speed k to the world. */
MD_STATIC void md_walk(mdyn_sim *sim, int k)
{
    if (md_unit_is_zero(sim->b[k])) return; /* an earlier walk has passed here */
    while (k >= 0) k = md_walk_on(sim, k);
}

/* w = L^-T J^T of a row, times what brings it to numbers of O(1), which is returned. */
MD_APART md_num md_whiten(mdyn_sim *sim, const md_terms *t)
{
    const md_strain before = sim->strain;
    md_scale e = MD_LEAST_SCALE;
    int i, j, k, tries = 0;
    for (k = 0; k < t->count; k++)
        e = md_scale_with(e, md_mul(t->number[k], sim->rsqrt_D[t->dof[k]]),
                          md_dof_scale(&sim->dof[t->dof[k]]));
    for (;;) {
        md_strain_reset(&sim->strain, 0);
        for (k = 0; k < t->count; k++)
            sim->b[t->dof[k]] = md_unit_of(t->number[k], e + md_dof_scale(&sim->dof[t->dof[k]]));
        for (j = t->dof[0], k = 1; k < t->count; k++) /* to where the ways meet, ... */
            for (i = t->dof[k]; MIMICDYN_TREE ? j != i : i >= 0;)
                if (MIMICDYN_TREE && j > i) j = md_walk_on(sim, j);
                else i = md_walk_on(sim, i);
        while (j >= 0) j = md_walk_on(sim, j); /* ... and on from there */
        if (!MIMICDYN_TREE || !md_is_strained(sim->strain) || ++tries == MD_TRIES) break;
        for (k = 0; k < sim->dofs; k++) sim->w[k] = MD_U(0);
        e = (md_scale)(e + MD_HEADROOM);
    }
    sim->strain |= before;
    return md_shifted(MD_K(1), -e);
}

/* ============================================================================ // >>bodies
   Rows on bodies: J is what wrenches of theirs are to the joints on the ways to the world,
   J_k = S_k^T f, handed inward as in md_gather. The wrenches of a step stand in sim->body_row
   before its rows are set up (see md_update_bodies); which bodies they hold, and so the layout of
   the entries, may change with every step. Friction follows the impulse of another row. */

#if MDYN_BODY_ROWS_ > 0

MD_INLINE int md_is_on_bodies(const md_row *row) { return row->kind > MDYN_ROW_LIMIT; }

MD_INLINE md_body_row *md_body_row_of(mdyn_sim *sim, const md_row *row)
{
    return &sim->body_row[(row - sim->row) - sim->plain];
}
MD_INLINE const md_body_row *md_body_row_at(const mdyn_sim *sim, const md_row *row)
{
    return &sim->body_row[(row - sim->row) - sim->plain];
}

MD_INLINE int md_bodies_have_room(const md_body_row *r)
{
    return !md_is_zero(md_sub(md_of_wide(r->upper), md_of_wide(r->lower)));
}

MD_INLINE int md_own_row_engages(const mdyn_sim *sim, const md_row *row)
{
    return row->kind == MDYN_ROW_BODY && md_body_row_at(sim, row)->level == MDYN_POSITION
        && md_bodies_have_room(md_body_row_at(sim, row));
}

/* The last speed on the way from the world to a body; -1: none. */
MD_STATIC int md_last_dof(const mdyn_sim *sim, int body)
{
    for (; body >= 0; body = sim->link[body].parent)
        if (sim->link[body].dofs) return sim->link[body].dof + sim->link[body].dofs - 1;
    return -1;
}

/* sim->J += S^T f on the way from a body to the world; sim->J_size: the largest square of what is
   added up there, by which rounding is told from a number. */
MD_STATIC void md_add_wrench(mdyn_sim *sim, int body, const md_force *wrench)
{
    md_force f = *wrench;
    md_num ang = md_dot(&f.ang, &f.ang), lin = md_dot(&f.lin, &f.lin), size;
    int i, k;
    for (i = body; i >= 0; i = sim->link[i].parent) {
        const md_link *link = &sim->link[i];
        const md_vec *arm = &sim->pose[i].arm;
        for (k = link->dof; k < link->dof + link->dofs; k++) {
            const md_dof *d = &sim->dof[k];
            size = d->kind == MD_LINEAR ? lin : ang;
            if (d->kind == MD_SCREW)
                size = md_add(ang, md_mul(md_mul(d->pitch, d->pitch), lin));
            sim->J[k] = md_add(sim->J[k], md_dof_dot_force(d, &f));
            sim->J_size[k] = md_max(sim->J_size[k], size);
        }
        if (link->parent < 0) break;
        md_add_cross(&f.ang, arm, &f.lin);
        ang = md_max(ang, md_max(md_dot(&f.ang, &f.ang), md_mul(md_dot(arm, arm), lin)));
    }
}

/* J of a row into sim->J, on the ways of its parts; J v; and into row->scale what brings the
   largest number of J, in units of 1/L_kk, to O(1). What is no more than the rounding of what it
   was added up from becomes 0: equal and opposite wrenches on the way that two bodies share,
   directions that a plane mechanism does not have. */
MD_STATIC void md_body_jacobian(mdyn_sim *sim, md_body_row *r, md_row *row)
{
    const md_num zero = MD_K(0), rounding = MD_K(4096 * MD_EPSILON * MD_EPSILON);
    md_num largest = zero;
    int p, k;
    for (p = 0; p < r->parts; p++)
        for (k = md_last_dof(sim, r->body[p]); k >= 0; k = md_up(sim, k))
            sim->J[k] = sim->J_size[k] = zero;
    for (p = 0; p < r->parts; p++) {
        const md_link *link = &sim->link[r->body[p]];
        if (!r->joint[p]) md_add_wrench(sim, r->body[p], &r->wrench[p]);
        for (k = 0; k < link->dofs && r->joint[p]; k++) {
            const md_vec *c = k < 3 ? &r->wrench[p].ang : &r->wrench[p].lin;
            md_num x = md_vec_get(c, k % 3);
            sim->J[link->dof + k] = md_add(sim->J[link->dof + k], x);
            sim->J_size[link->dof + k] = md_max(sim->J_size[link->dof + k], md_mul(x, x));
        }
    }
    row->Jv = r->reach = zero;
    for (p = 0; p < r->parts; p++)
        for (k = md_last_dof(sim, r->body[p]); k >= 0; k = md_up(sim, k)) {
            const md_dof *d = &sim->dof[k];
            md_num x = sim->J[k];
            if (md_is_zero(sim->J_size[k])) continue; /* nothing, or seen from an earlier part */
            if (!md_less(md_mul(rounding, sim->J_size[k]), md_mul(x, x))) x = zero;
            sim->J[k] = x;
            if (!md_is_zero(x)) {
                md_num whitened = md_mul(sim->J_size[k], md_mul(sim->rsqrt_D[k], sim->rsqrt_D[k]));
                r->reach = md_max(r->reach, md_shifted(whitened, -2 * md_dof_scale(d)));
            }
            sim->J_size[k] = zero;
            row->Jv = md_add(row->Jv, md_mul(x, md_of_real(sim->v[k])));
            x = md_mul(md_abs(x), sim->rsqrt_D[k]);
            largest = md_max(largest, md_shifted(x, -md_dof_scale(d)));
        }
    row->scale = md_is_zero(largest) ? MD_K(1) : md_normalizer(largest);
}

/* w = L^-T J^T of a row on bodies, times what brings it to numbers of O(1), which is left in
   row->scale; and J v. */
MD_STATIC void md_whiten_bodies(mdyn_sim *sim, md_row *row, md_body_row *r)
{
    const md_strain before = sim->strain;
    int p, k, tries = 0;
    md_body_jacobian(sim, r, row);
    for (;;) {
        md_strain_reset(&sim->strain, 0);
        for (p = 0; p < r->parts; p++)
            for (k = md_last_dof(sim, r->body[p]); k >= 0; k = md_up(sim, k))
                sim->b[k] = md_unit_of(md_mul(row->scale, sim->J[k]), md_dof_scale(&sim->dof[k]));
        for (p = 0; p < r->parts; p++)
            for (k = md_last_dof(sim, r->body[p]); k >= 0; k = md_up(sim, k)) md_walk(sim, k);
        if (!md_is_strained(sim->strain) || ++tries == MD_TRIES) break;
        for (k = 0; k < sim->dofs; k++) sim->w[k] = MD_U(0);
        row->scale = md_shifted(row->scale, -MD_HEADROOM);
    }
    sim->strain |= before;
}

/* J x of a row on bodies for changes x of all speeds. */
MD_STATIC md_num md_bodies_along(const mdyn_sim *sim, const md_row *row, const md_num *x)
{
    const md_body_row *r = md_body_row_at(sim, row);
    md_num sum = MD_K(0);
    int p, i, k;
    for (p = 0; p < r->parts; p++) {
        const md_link *link = &sim->link[r->body[p]];
        md_force f = r->wrench[p];
        for (k = 0; k < link->dofs && r->joint[p]; k++)
            sum = md_add(sum, md_mul(x[link->dof + k], md_vec_get(k < 3 ? &f.ang : &f.lin, k % 3)));
        for (i = r->body[p]; i >= 0 && !r->joint[p]; i = sim->link[i].parent) {
            link = &sim->link[i];
            for (k = link->dof; k < link->dof + link->dofs; k++)
                sum = md_add(sum, md_mul(x[k], md_dof_dot_force(&sim->dof[k], &f)));
            md_add_cross(&f.ang, &sim->pose[i].arm, &f.lin);
        }
    }
    return sum;
}

/* C of a row on bodies into sim->place. */
MD_STATIC void md_bodies_position(mdyn_sim *sim, const md_row *row)
{
    sim->terms.count = 0;
    md_sum_start(&sim->place.C, md_to_wide(md_body_row_at(sim, row)->value));
    sim->place.shift = md_has_moved(sim) ? md_bodies_along(sim, row, sim->shift) : MD_K(0);
}

/* C and J v of a row on bodies that is not set up, and its scale. */
MD_STATIC void md_look_at_bodies(mdyn_sim *sim, md_row *row)
{
    md_body_jacobian(sim, md_body_row_of(sim, row), row);
    md_bodies_position(sim, row);
}

MD_INLINE void md_bodies_range(const mdyn_sim *sim, const md_row *row, mdyn_wide *lower,
                               mdyn_wide *upper)
{
    *lower = md_body_row_at(sim, row)->lower;
    *upper = md_body_row_at(sim, row)->upper;
}

/* What a row on bodies asks of the speeds after this step or substep. */
MD_STATIC void md_aim_bodies(mdyn_sim *sim, md_row *row)
{
    const md_body_row *r = md_body_row_at(sim, row);
    row->error = row->back = MD_K(0);
    if (r->level == MDYN_VELOCITY) {
        md_aim_speed(row, r->speed, r->lower, r->upper);
        return;
    }
    md_bodies_position(sim, row);
    if (md_bodies_have_room(r)) {
        md_row_range(sim, row, r->lower, r->upper);
        return;
    }
    row->error = md_add(md_sub(r->value, md_of_wide(r->lower)), sim->place.shift);
    md_row_pulls(sim, row, r->speed);
}

/* The vector of a row on bodies into w, and what it asks in a mode. Returns 0 if it has
   no force. */
MD_STATIC int md_set_up_bodies(mdyn_sim *sim, md_row *row, enum md_mode mode)
{
    md_body_row *r = md_body_row_of(sim, row);
    int there;
    md_whiten_bodies(sim, row, r);
    row->cfm = MD_K(0);
    there = md_soften(sim, &r->softness, row);
    row->least = md_less(MD_K(-1e29), r->least) ? md_mul(sim->h, r->least) : r->least;
    row->most = md_less(r->most, MD_K(1e29)) ? md_mul(sim->h, r->most) : r->most;
    md_aim_bodies(sim, row);
    if (mode == MD_STEP) return there;
    row->cfm = row->back = MD_K(0);
    row->low = mode == MD_ACCELERATION ? md_sub(row->Jv, r->drift)
        : mode == MD_PLACE ? md_sub(row->Jv, row->error) : r->speed;
    row->high = row->low;
    return there;
}

/* Marks in sim->mark the speeds on the ways of a row's bodies. */
MD_STATIC void md_mark_bodies(mdyn_sim *sim, const md_row *row)
{
    const md_body_row *r = md_body_row_of(sim, row);
    int p, k;
    for (p = 0; p < r->parts; p++)
        for (k = md_last_dof(sim, r->body[p]); k >= 0; k = md_up(sim, k)) sim->mark[k] = 1;
}

MD_INLINE const mdyn_softness *md_bodies_softness(const mdyn_sim *sim, const md_row *row)
{
    return &md_body_row_at(sim, row)->softness;
}

/* The square of the length of which rounding may leave the part MD_DECIDED: four times what J could
   have, for what the joints on the way add. */
MD_INLINE md_num md_bodies_reach(const mdyn_sim *sim, const md_row *row)
{
    md_num length = md_mul(MD_K(4), row->scale);
    return md_mul(md_mul(length, length), md_body_row_at(sim, row)->reach);
}

/* By how much a row may miss what it asks for without contradicting those that decide it: errors
   of rows that depend on each other agree to first order only, and no better than rounding. */
MD_STATIC md_num md_bodies_slack(const mdyn_sim *sim, const md_row *row)
{
    md_num rounding = md_mul(md_mul(MD_K(MD_AGREED), sim->inverse_dt),
                             md_body_row_at(sim, row)->size);
    return md_add(md_mul(MD_K(0.01), md_abs(row->low)), rounding);
}

/* Velocities of all bodies' origins in the pose of the step, of the present v, into sim->motion. */
MD_STATIC void md_find_motions(mdyn_sim *sim)
{
    int i, k;
    for (i = 0; i < sim->bodies; i++) {
        const md_link *link = &sim->link[i];
        md_motion *m = &sim->motion[i];
        md_vec_zero(&m->ang);
        md_vec_zero(&m->lin);
        if (link->parent >= 0) {
            *m = sim->motion[link->parent];
            md_add_cross(&m->lin, &m->ang, &sim->pose[i].arm);
        }
        for (k = link->dof; k < link->dof + link->dofs; k++)
            md_dof_add_motion(m, md_of_real(sim->v[k]), &sim->dof[k]);
    }
}

/* J v' of the rows on bodies, for mdyn_row. */
MD_STATIC void md_report_bodies(mdyn_sim *sim)
{
    int j, p, k;
    md_find_motions(sim);
    for (j = 0; j < sim->rows - sim->plain; j++) {
        md_body_row *r = &sim->body_row[j];
        r->after = MD_K(0);
        for (p = 0; p < r->parts; p++) {
            const md_force *f = &r->wrench[p];
            const md_motion *m = &sim->motion[r->body[p]];
            const md_link *link = &sim->link[r->body[p]];
            if (!r->joint[p])
                r->after = md_add(r->after, md_add(md_dot(&f->ang, &m->ang),
                                                   md_dot(&f->lin, &m->lin)));
            for (k = 0; k < link->dofs && r->joint[p]; k++)
                r->after = md_add(r->after, md_mul(md_of_real(sim->v[link->dof + k]),
                    md_vec_get(k < 3 ? &f->ang : &f->lin, k % 3)));
        }
    }
}

MD_INLINE md_num md_bodies_speed(const mdyn_sim *sim, const md_row *row)
{
    return md_body_row_at(sim, row)->after;
}

/* Whether the impulse of another row bounds that of this one. */
MD_INLINE int md_follows(const mdyn_sim *sim, const md_row *row)
{
    return md_is_on_bodies(row) && md_body_row_at(sim, row)->normal >= 0;
}

/* The bound of friction in two stages, as it is in the present block. */
MD_INLINE void md_keep_bound(mdyn_sim *sim, const md_row *row)
{
    if (md_follows(sim, row)) md_body_row_of(sim, row)->bound = row->u_most;
}

#else

MD_INLINE int md_is_on_bodies(const md_row *row) { (void)row; return 0; }
MD_INLINE int md_own_row_engages(const mdyn_sim *sim, const md_row *row)
{
    (void)sim; (void)row;
    return 0;
}
MD_INLINE void md_look_at_bodies(mdyn_sim *sim, md_row *row) { (void)sim; (void)row; }
MD_INLINE void md_bodies_range(const mdyn_sim *sim, const md_row *row, mdyn_wide *lower,
                               mdyn_wide *upper)
{
    (void)sim; (void)row; (void)lower; (void)upper;
}
MD_INLINE int md_follows(const mdyn_sim *sim, const md_row *row)
{
    (void)sim; (void)row;
    return 0;
}
MD_INLINE void md_keep_bound(mdyn_sim *sim, const md_row *row) { (void)sim; (void)row; }
MD_INLINE void md_aim_bodies(mdyn_sim *sim, md_row *row) { (void)sim; (void)row; }
MD_INLINE md_num md_bodies_along(const mdyn_sim *sim, const md_row *row, const md_num *x)
{
    (void)sim; (void)row; (void)x;
    return MD_K(0);
}
MD_INLINE int md_set_up_bodies(mdyn_sim *sim, md_row *row, enum md_mode mode)
{
    (void)sim; (void)row; (void)mode;
    return 0;
}
MD_INLINE void md_mark_bodies(mdyn_sim *sim, const md_row *row) { (void)sim; (void)row; }
MD_INLINE const mdyn_softness *md_bodies_softness(const mdyn_sim *sim, const md_row *row)
{
    (void)row;
    return &md_coupling_at(sim, 0)->softness;
}
MD_INLINE md_num md_bodies_reach(const mdyn_sim *sim, const md_row *row)
{
    (void)sim; (void)row;
    return MD_K(0);
}
MD_INLINE md_num md_bodies_slack(const mdyn_sim *sim, const md_row *row)
{
    (void)sim; (void)row;
    return MD_K(0);
}
MD_INLINE void md_report_bodies(mdyn_sim *sim) { (void)sim; }
MD_INLINE md_num md_bodies_speed(const mdyn_sim *sim, const md_row *row)
{
    (void)sim; (void)row;
    return MD_K(0);
}

#endif

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

/* u -= tau (v.u) v for the reflection of p and the lone coordinates, or of p and the shared ones;
   v_p = 1. Source: LAPACK's dlarfg. */
MD_FRAME void md_reflect_by(mdyn_sim *sim, int first, int count, int p, md_unit tau, md_unit *u)
{
    const md_unit *entry = sim->entry + first;
    const int16_t *at = sim->entry_at + first;
    md_unit a = md_unit_add(md_dot_at(entry, at, count, u), u[p]);
    a = md_unit_neg(md_unit_mul(tau, a));
    u[p] = md_unit_add(u[p], a);
    sim->strain |= md_strain_of(u[p]) | md_add_at(u, a, entry, at, count);
}

MD_INLINE void md_reflect_at(mdyn_sim *sim, int first, int count, int p, md_unit tau, md_unit *u)
{
    if (count > 0) md_reflect_by(sim, first, count, p, tau, u);
}

MD_INLINE void md_reflect_lone(mdyn_sim *sim, const md_row *row, md_unit *u)
{
    md_reflect_at(sim, row->lone, row->shared - 1 - row->lone, row->pivot, row->tau_lone, u);
}

MD_INLINE void md_reflect_shared(mdyn_sim *sim, const md_row *row, md_unit *u)
{
    md_reflect_at(sim, row->shared, row->end - row->shared, row->pivot, row->tau_shared, u);
}

/* Whether earlier rows leave nothing of a row: squared lengths. */
MD_INLINE int md_is_decided(md_num left, md_num owned)
{
    return !md_less(md_mul(MD_K(MD_DECIDED * MD_DECIDED), md_add(left, owned)), left);
}

/* The reflection that turns w = sim->w, at the pivot p of a row and `count` of its entries from
   `first` on, onto p; w there becomes 0, w at p its length or minus that, the root of `square`,
   and row->inverse 1/w at p. Returns tau, by the length of v as it is kept: nothing else keeps
   lengths when there is next to nothing to turn. */
MD_STATIC md_unit md_make_reflection(mdyn_sim *sim, md_row *row, int first, int count,
                                     md_num square)
{
    const int p = row->pivot;
    md_num length, knee, inverse;
    md_squares sum = 0;
    int e;
    if (md_is_zero(square)) {
        for (e = first; e < first + count; e++) sim->entry[e] = MD_U(0);
        return MD_U(0);
    }
    md_roots(square, &length, &inverse);
    if (md_unit_less(sim->w[p], MD_U(0))) length = md_neg(length);
    else inverse = md_neg(inverse);
    row->inverse = inverse;
    knee = md_add(md_of_unit(sim->w[p], 0), length);
    inverse = md_div(MD_K(1), knee);
    for (e = first; e < first + count; e++) {
        sim->entry[e] = md_unit_by(sim->w[sim->entry_at[e]], inverse);
        sum = md_add_square(sum, sim->entry[e]);
        sim->w[sim->entry_at[e]] = MD_U(0);
    }
    sim->w[p] = md_unit_of(md_neg(length), 0);
    return md_unit_of(md_reflection_factor(knee, length, sum), 0);
}

/* An exact row, in w, takes its coordinate p. Returns 0 if earlier rows, which have the square
   `owned` of its length, leave nothing of it. */
MD_APART int md_own(mdyn_sim *sim, md_row *row, md_num owned)
{
    const int lone = row->lone, shared = row->shared, end = row->end;
    md_squares sum = 0;
    md_num square, left;
    int e;
    for (e = lone; e < shared; e++) sum = md_add_square(sum, sim->w[sim->entry_at[e]]);
    square = md_squares_value(sum);
    for (; e < end; e++) sum = md_add_square(sum, sim->w[sim->entry_at[e]]);
    left = md_squares_value(sum);
    if (row->pivot < 0 || md_is_decided(left, owned)) {
        for (e = lone; e < end; e++) sim->w[sim->entry_at[e]] = MD_U(0);
        return 0;
    }
    row->inverse = MD_K(0);
    if (shared - lone > 1)
        row->tau_lone = md_make_reflection(sim, row, lone, shared - 1 - lone, square);
    if (end > shared)
        row->tau_shared = md_make_reflection(sim, row, shared, end - shared, left);
    if (md_is_zero(row->inverse)) /* nothing to turn */
        row->inverse = md_div(MD_K(1), md_of_unit(sim->w[row->pivot], 0));
    row->length = md_add(left, owned);
    sim->w[row->pivot] = MD_U(0);
    return 1;
}

/* A bounded row, in w, acts on what nobody owns, scaled to length 1 there; `soft` is its private
   part of the squared length. Returns 0 if nothing is left of it. */
MD_APART int md_share(mdyn_sim *sim, md_row *row, md_num owned, md_num soft)
{
    const int first = row->first + row->given, end = row->end;
    md_squares sum = 0;
    md_num left, s;
    int e;
    for (e = first; e < end; e++) {
        sim->entry[e] = sim->w[sim->entry_at[e]];
        sum = md_add_square(sum, sim->entry[e]);
        sim->w[sim->entry_at[e]] = MD_U(0);
    }
    left = md_add(soft, md_squares_value(sum));
    if (md_is_decided(left, owned)) return 0;
    s = md_rsqrt(left);
    for (e = first; e < end; e++) sim->entry[e] = md_unit_by(sim->entry[e], s);
    row->inverse = s;
    row->soft = md_unit_of(md_mul(soft, md_mul(s, s)), 0);
    row->length = md_root_over(left, s, row->scale);
    row->scale = md_mul(row->scale, s);
    return 1;
}

/* Of a row on bodies: what earlier rows have of its squared length, with what their directions are
   uncertain by. A row of which earlier ones left little has its own from the digits that rounding
   left of that, and hands this on. */
MD_STATIC md_num md_owned_by_bodies(const mdyn_sim *sim, const md_row *row, md_num owned)
{
    const md_num part = MD_K(16 * MD_EPSILON / MD_DECIDED);
    md_num rounding = md_div(md_of_unit(MD_U_ROUNDING, 0), MD_K(MD_DECIDED / 16));
    md_num sum = md_max(owned, md_bodies_reach(sim, row));
    int e;
    for (e = row->first; e < row->first + row->given; e++) {
        const md_row *owner = &sim->row[sim->owner[sim->entry_at[e]]];
        md_num x = md_of_unit(sim->entry[e], 0);
        if (!owner->turns) continue;
        x = md_mul(x, owner->inverse);
        x = md_mul(x, x);
        sum = md_add(sum, md_mul(x, md_sum2(rounding, rounding, md_mul(part, part),
                                            owner->length)));
    }
    return sum;
}

/* The squared length that cfm gives a row, in w. The row is scaled down until with this it is no
   longer than O(1). */
MD_STATIC md_num md_soft_square(mdyn_sim *sim, md_row *row)
{
    md_num soft = row->cfm;
    md_scale excess;
    int e;
    if (!md_is_zero(soft)) soft = md_mul(soft, md_mul(row->scale, row->scale));
    excess = md_excess_of_length(sim->w, sim->entry_at + row->first,
                                 row->end - row->first, soft);
    if (excess == 0) return soft;
    for (e = row->first; e < row->end; e++)
        sim->w[sim->entry_at[e]] = md_unit_shifted(sim->w[sim->entry_at[e]], -excess);
    row->scale = md_shifted(row->scale, -excess);
    return md_shifted(soft, -2 * excess);
}

/* What a row that has been set up asks in a mode; md_set_up_bodies does it for rows on bodies. */
MD_FRAME void md_ask_row(mdyn_sim *sim, md_row *row, enum md_mode mode)
{
    const mdyn_coupling *c;
    if (md_is_on_bodies(row)) return;
    md_row_aim(sim, row);
    if (mode == MD_STEP) return;
    c = md_coupling_at(sim, row->index);
    row->back = MD_K(0);
    if (mode == MD_ACCELERATION) row->low = row->Jv;
    if (mode == MD_PLACE) row->low = md_sub(row->Jv, row->error);
    if (mode == MD_HALT) {
        row->low = md_of_wide(c->speed);
        if (c->level == MDYN_VELOCITY) row->low = md_add(row->low, md_of_wide(c->lower));
    }
    row->high = row->low;
}

/* Entries of row k at owned coordinates; what earlier rows leave of its vector stays in sim->w.
   Leaves in row->inverse and row->length the squared lengths that earlier rows have and that the
   row has by its cfm. Needs L and the rows before it. */
MD_APART void md_set_up_vector(mdyn_sim *sim, int k, int exact)
{
    md_row *row = md_row_at(sim, k);
    const int owned = exact || md_exacts(sim) > 0;
    const int first = row->first, end = owned ? row->lone : first;
    md_squares sum = 0;
    int e;
    row->given = (int16_t)(end - first);
    row->length = md_soft_square(sim, row);
    if (exact && !md_is_zero(row->length))
        sim->w[sim->dofs + k] = md_unit_of(md_sqrt(row->length), 0);
    for (e = first; e < end; e++) {
        const md_row *owner = &sim->row[sim->owner[sim->entry_at[e]]];
        if (!owner->turns) continue;
        md_reflect_lone(sim, owner, sim->w);
        md_reflect_shared(sim, owner, sim->w);
    }
    for (e = first; e < end; e++) {
        sim->entry[e] = sim->w[sim->entry_at[e]];
        sum = md_add_square(sum, sim->entry[e]);
        sim->w[sim->entry_at[e]] = MD_U(0);
    }
    row->inverse = owned ? md_squares_value(sum) : MD_K(0);
    if (md_is_on_bodies(row)) row->inverse = md_owned_by_bodies(sim, row, row->inverse);
}

/* Row k: its vector, and what it asks. */
MD_NOINLINE void md_set_up_row(mdyn_sim *sim, int k, enum md_mode mode, int exact)
{
    md_row *row = md_row_at(sim, k);
    int there, left;
    row->flags = row->active = row->turns = row->resting = 0;
    row->start = MIMICDYN_WARM && mode == MD_STEP ? sim->outcome[k].start : MD_K(0);
    row->sum = MD_K(0);
    if (md_is_on_bodies(row)) {
        there = md_set_up_bodies(sim, row, mode);
    } else {
        md_row_terms(sim, row, &sim->terms);
        row->scale = md_whiten(sim, &sim->terms);
        there = md_row_firmness(sim, row);
        if (mode != MD_STEP) row->cfm = MD_K(0);
    }
    md_set_up_vector(sim, k, exact);
    left = exact ? md_own(sim, row, row->inverse)
                 : md_share(sim, row, row->inverse, row->length);
    if (there && !left) row->flags = MDYN_ROW_REDUNDANT;
    if (exact) row->turns = (uint8_t)(there & left);
    else row->active = (uint8_t)(there & left);
    if (!md_is_on_bodies(row)) {
        row->Jv = md_row_speed(sim, row, &sim->terms);
        md_row_look(sim, row);
    }
    md_ask_row(sim, row, mode);
}

/* Limits and ranges of joints. */
MD_INLINE int md_row_is_range(const mdyn_sim *sim, const md_row *row)
{
    return row->kind == MDYN_ROW_LIMIT
        || (row->kind == MDYN_ROW_COUPLING
            && !md_coupling_is_equality(md_coupling_at(sim, row->index)));
}

/* Those, and own rows with a range; not of speeds. */
MD_INLINE int md_row_engages(const mdyn_sim *sim, const md_row *row)
{
    if (row->kind == MDYN_ROW_COUPLING
        && md_coupling_at(sim, row->index)->level == MDYN_VELOCITY) return 0;
    return md_row_is_range(sim, row) || md_own_row_engages(sim, row);
}

MD_INLINE int md_row_is_off(const mdyn_sim *sim, const md_row *row)
{
    return row->kind <= MDYN_ROW_LOSS && sim->off[row->index];
}

/* By how much C is above a bound, as far as the state tells: the nearest state to it meets it. */
MD_INLINE md_num md_seen_beyond(const mdyn_sim *sim, mdyn_wide x)
{
    return md_of_real(md_to_real(md_beyond(sim, x)));
}

/* The range of C of a row that can engage. */
MD_STATIC void md_engaged_range(const mdyn_sim *sim, const md_row *row, mdyn_wide *lower,
                                mdyn_wide *upper)
{
    if (md_is_on_bodies(row)) {
        md_bodies_range(sim, row, lower, upper);
    } else if (row->kind == MDYN_ROW_LIMIT) {
        *lower = md_moved_body(sim, row->index)->lower;
        *upper = md_moved_body(sim, row->index)->upper;
    } else {
        *lower = md_coupling_at(sim, row->index)->lower;
        *upper = md_coupling_at(sim, row->index)->upper;
    }
}

/* Whether and for how long a limit or range is engaged: row->hold from that of the last step. One
   that was pushing in that step holds C at rest but for the rounding of what it stopped, which is
   no motion inwards. */
MD_STATIC int8_t md_hold(mdyn_sim *sim, md_row *row, const md_outcome *last)
{
    const int hold = last->hold;
    mdyn_wide lower, upper;
    md_num zero = MD_K(0), inside, speed, stopped = zero;
    if (hold != 0) stopped = md_abs(md_div(last->impulse, md_mul(row->scale, row->scale)));
    md_engaged_range(sim, row, &lower, &upper);
    if (md_is_on_bodies(row)) {
        md_look_at_bodies(sim, row);
    } else {
        md_row_terms(sim, row, &sim->terms);
        md_row_position(sim, row);
        row->Jv = md_row_speed(sim, row, &sim->terms);
    }
    if (hold != 0) {
        inside = hold > 0 ? md_seen_beyond(sim, lower) : md_neg(md_seen_beyond(sim, upper));
        speed = hold > 0 ? row->Jv : md_neg(row->Jv);
        speed = md_sub(speed, md_mul(MD_K(64 * MD_EPSILON), stopped));
        if (!(md_less(zero, inside) && md_less(zero, speed) && (hold > 1 || hold < -1)))
            return (int8_t)(hold > 0 ? 2 : -2);
    }
    if (md_binds_below(lower) && md_less(md_seen_beyond(sim, lower), zero)) return 1;
    if (md_binds_above(upper) && md_less(zero, md_seen_beyond(sim, upper))) return -1;
    return 0;
}

/* Whether a mode other than MD_STEP holds a row. */
MD_STATIC int md_row_is_held(const mdyn_sim *sim, const md_row *row, enum md_mode mode)
{
    if (!row->boundless) return 0;
    if (row->kind == MDYN_ROW_CLOSURE) return md_softness_is_hard(md_bodies_softness(sim, row));
    return row->kind == MDYN_ROW_COUPLING
        && md_softness_is_hard(&md_coupling_at(sim, row->index)->softness)
        && (mode != MD_PLACE || md_coupling_at(sim, row->index)->level == MDYN_POSITION);
}

/* Whether a mode has no exact rows. */
MD_INLINE int md_is_swept(const mdyn_sim *sim, enum md_mode mode)
{
    return !MIMICDYN_EXACT || (mode == MD_STEP && md_iterates(sim));
}

/* Whether a row is one of the exact ones of a mode. */
MD_INLINE int md_row_is_exact(const mdyn_sim *sim, const md_row *row, enum md_mode mode)
{
    if (md_is_swept(sim, mode)) return 0;
    return mode == MD_STEP ? row->boundless : md_row_is_held(sim, row, mode);
}

/* Takes row k into the solve: bounded ones in their order behind the exact ones. */
MD_STATIC void md_enlist(mdyn_sim *sim, int k, int exact)
{
    int i = sim->lives++;
    for (; i > md_exacts(sim) && sim->live[i - 1] > k; i--) sim->live[i] = sim->live[i - 1];
    sim->live[i] = (int16_t)k;
    sim->exacts = (int16_t)(md_exacts(sim) + exact);
}

/* No row takes part any more. */
MD_STATIC void md_empty_solve(mdyn_sim *sim)
{
    int i;
    for (i = 0; i < sim->lives; i++) {
        md_row *row = md_live_row(sim, i);
        row->turns = row->active = 0;
    }
    sim->lives = sim->exacts = 0;
    sim->parting = sim->moved = sim->hasty = sim->skipping = 0;
}

/* Whether bounded row k is not set up in a step: it is released, not engaged, or rests. A row with
   room between its bounds rests until the motion would leave them: it is set up only if it pushed
   in the last step, or when it turns out to be needed (md_wake_rows). */
MD_INLINE int md_sits_out(mdyn_sim *sim, int k)
{
    const md_outcome *last = &sim->outcome[k];
    md_row *row = md_row_at(sim, k);
    row->resting = 0;
    row->hold = 0;
    if (md_row_is_off(sim, row) || (row->kind == MDYN_ROW_LOSS
        && !md_has_efficiency(md_coupling_at(sim, row->index)))) return sim->skipping = 1;
    if (MD_HAS_SET(sim, limits, MDYN_ENGAGED) && md_row_engages(sim, row)) {
        row->hold = md_hold(sim, row, last);
        if (!row->hold) sim->skipping = 1;
        return !row->hold;
    }
    if (!md_is_zero(last->impulse) || md_iterates(sim)) return 0;
    row->resting = (uint8_t)md_row_is_range(sim, row);
    return row->resting;
}

/* Sets up all rows of a mode that has no exact ones. */
MD_APART void md_set_up_swept(mdyn_sim *sim, enum md_mode mode)
{
    int k;
    md_empty_solve(sim);
    for (k = 0; k < sim->rows; k++) {
        if (mode == MD_STEP ? md_sits_out(sim, k)
                            : !md_row_is_held(sim, md_row_at(sim, k), mode)) continue;
        md_enlist(sim, k, 0);
        md_set_up_row(sim, k, mode, 0);
    }
}

/* Sets up all rows of a mode, the exact ones first. */
MD_APART void md_set_up_rows(mdyn_sim *sim, enum md_mode mode)
{
    const int rows = sim->rows;
    int k, i;
    md_empty_solve(sim);
    for (i = 0; i < rows; i++) {
        k = sim->order[i];
        if (!md_row_at(sim, k)->boundless) break;
        if (mode != MD_STEP && !md_row_is_held(sim, md_row_at(sim, k), mode)) continue;
        md_enlist(sim, k, 1);
        md_set_up_row(sim, k, mode, 1);
    }
    if (mode != MD_STEP) return;
    for (; i < rows; i++) {
        k = sim->order[i];
        if (md_sits_out(sim, k)) continue;
        md_enlist(sim, k, 0);
        md_set_up_row(sim, k, mode, 0);
    }
}

/* The rank of a row in the order of setting up: hard couplings of positions, hard closures, hard
   couplings of speeds; then the other boundless rows, then the bounded ones. So the rows of every
   mode are a beginning of the list. */
enum { MD_SOFT_RANK = 3, MD_RANKS = 5 };
MD_STATIC int md_row_rank(const mdyn_sim *sim, const md_row *row)
{
    if (!row->boundless) return MD_RANKS - 1;
    if (row->kind == MDYN_ROW_CLOSURE && md_softness_is_hard(md_bodies_softness(sim, row)))
        return 1;
    if (row->kind != MDYN_ROW_COUPLING
        || !md_softness_is_hard(&md_coupling_at(sim, row->index)->softness)) return MD_SOFT_RANK;
    return md_coupling_at(sim, row->index)->level == MDYN_VELOCITY ? 2 : 0;
}

/* Marks in sim->mark the speeds of a row and those on their way to the world. */
MD_STATIC void md_mark_speeds(mdyn_sim *sim, int k)
{
    md_terms *t = &sim->terms;
    int i, j;
    if (md_is_on_bodies(md_row_at(sim, k))) {
        md_mark_bodies(sim, md_row_at(sim, k));
        return;
    }
    md_row_terms(sim, md_row_at(sim, k), t);
    for (j = 0; j < t->count; j++)
        for (i = t->dof[j]; i >= 0; i = md_up(sim, i)) sim->mark[i] = 1;
}

/* Marks what an exact row touches besides: its private coordinate, and what the reflections of the
   rows before it in the order bring in. */
MD_STATIC void md_mark_row(mdyn_sim *sim, int k, int before)
{
    int i, e, hit_lone, hit;
    md_mark_speeds(sim, k);
    if (md_row_rank(sim, md_row_at(sim, k)) == MD_SOFT_RANK) sim->mark[sim->dofs + k] = 1;
    for (i = 0; i < before; i++) {
        const md_row *row = md_ordered_row(sim, i);
        const int lone = row->lone, shared = row->shared, end = row->end;
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
    sim->entries++; /* md_check_entries looks whether it was too many */
    sim->mark[c] = 0;
}

MD_INLINE int md_check_entries(mdyn_sim *sim)
{
    if (sim->entries <= MIMICDYN_MAX_ENTRIES) return MDYN_OK;
    return md_blame(sim, MDYN_ERR_CAPACITY_ENTRIES, -1);
}

/* Lays out the entries of the row at place i of the order. */
MD_APART int md_plan_row(mdyn_sim *sim, int i)
{
    const int k = sim->order[i], space = sim->dofs + sim->rows;
    md_row *row = md_row_at(sim, k);
    int j, c;
    row->first = (int16_t)sim->entries;
    row->pivot = -1;
    md_mark_row(sim, k, i);
    for (j = 0; j < i; j++) {
        c = md_ordered_row(sim, j)->pivot;
        if (c >= 0 && sim->mark[c]) md_plan_entry(sim, c);
    }
    row->lone = (int16_t)sim->entries;
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
    row->shared = (int16_t)sim->entries;
    for (c = space - 1; c >= 0; c--)
        if (sim->mark[c]) md_plan_entry(sim, c);
    row->end = (int16_t)sim->entries;
    if (!row->boundless) row->pivot = -1;
    return md_check_entries(sim);
}

/* For each speed, the place in the order of the last boundless row that touches it. */
MD_APART void md_find_last_uses(mdyn_sim *sim, int rows)
{
    int i, k;
    for (k = 0; k < sim->dofs; k++) sim->last_use[k] = -1;
    for (i = 0; i < rows && md_ordered_row(sim, i)->boundless; i++) {
        md_mark_row(sim, sim->order[i], 0);
        for (k = 0; k < sim->dofs + sim->rows; k++) {
            if (sim->mark[k] && k < sim->dofs) sim->last_use[k] = (int16_t)i;
            sim->mark[k] = 0;
        }
    }
}

/* Whether there is room to pivot in, for all rows that may have to. */
MD_STATIC int md_check_pivots(mdyn_sim *sim)
{
    int k, count = 0;
    if (MIMICDYN_MAX_DANTZIG == 0 || !MD_HAS_SET(sim, method, MDYN_DANTZIG)) return MDYN_OK;
    for (k = 0; k < sim->rows; k++) count += !md_row_is_exact(sim, &sim->row[k], MD_STEP);
    return count > MIMICDYN_MAX_DANTZIG ? md_blame(sim, MDYN_ERR_CAPACITY_DANTZIG, -1) : MDYN_OK;
}

/* Lays out the entries of all rows for sweeps without exact rows: each by itself, in the order of
   its coordinates. */
MD_STATIC int md_lay_out(mdyn_sim *sim)
{
    int k, c;
    sim->planned = -1;
    sim->entries = sim->path[sim->dofs];
    for (k = 0; k < sim->rows; k++) {
        md_row *row = md_row_at(sim, k);
        row->first = row->lone = row->shared = (int16_t)sim->entries;
        row->pivot = -1;
        md_mark_speeds(sim, k);
        for (c = sim->dofs - 1; c >= 0; c--)
            if (sim->mark[c]) md_plan_entry(sim, c);
        row->end = (int16_t)sim->entries;
        if (md_check_entries(sim) != MDYN_OK) return MDYN_ERR_CAPACITY_ENTRIES;
    }
    return md_check_pivots(sim);
}

/* Finds the order of the rows that are not on bodies, the places of their entries, and which exact
   rows depend on others: from the joints that they touch, and for the last from their vectors in
   the present pose (that they depend on each other does not change with it). */
MD_STATIC int md_plan(mdyn_sim *sim)
{
    md_row *row;
    int i, j, k, n = 0, code = MDYN_OK;
    for (k = 0; k < sim->plain; k++)
        md_row_at(sim, k)->boundless = (uint8_t)md_row_is_boundless(sim, md_row_at(sim, k));
    if (!MIMICDYN_EXACT) {
        code = md_lay_out(sim);
        sim->plan_entries = (int16_t)sim->entries;
        return code;
    }
    for (k = 0; k < sim->dofs; k++) sim->b[k] = MD_U(0);
    for (k = 0; k < sim->dofs + sim->rows; k++) {
        sim->mark[k] = 0;
        sim->owner[k] = -1;
        sim->w[k] = MD_U(0);
    }
    for (k = 0; k < sim->plain; k++) md_row_at(sim, k)->turns = 0;
    for (j = 0; j < MD_RANKS; j++)
        for (k = 0; k < sim->plain; k++)
            if (md_row_rank(sim, md_row_at(sim, k)) == j) sim->order[n++] = (int16_t)k;
    md_find_last_uses(sim, n);
    sim->entries = sim->path[sim->dofs];
    sim->dropped = 0;
    sim->planned = sim->plain;
    for (i = 0; i < n && code == MDYN_OK; i++) {
        row = md_ordered_row(sim, i);
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
    sim->plan_entries = (int16_t)sim->entries;
    return code == MDYN_OK ? md_check_pivots(sim) : code;
}

/* Sets up all rows of a mode in a sim with rows on bodies. From the first place of the order on
   that such a row takes, the layout is found anew: it depends on the bodies that the rows hold now,
   and which exact ones are decided by others depends on the pose. */
MD_STATIC int md_set_up_anew(mdyn_sim *sim, enum md_mode mode)
{
    int i, j, k, n = 0, code;
    md_empty_solve(sim);
    for (j = 0; j < MD_RANKS; j++)
        for (k = 0; k < sim->rows; k++) {
            if (md_row_rank(sim, md_row_at(sim, k)) != j) continue;
            if (md_is_on_bodies(md_row_at(sim, k)) && n < sim->planned) sim->planned = (int16_t)n;
            sim->order[n++] = (int16_t)k;
        }
    if (sim->planned < sim->plain) md_find_last_uses(sim, n);
    sim->entries = sim->path[sim->dofs];
    if (sim->planned > 0) sim->entries = sim->row[sim->order[sim->planned - 1]].end;
    for (i = 0; i < n; i++) {
        md_row *row = md_ordered_row(sim, i);
        int exact = md_row_is_exact(sim, row, mode);
        if (mode != MD_STEP && !exact) break;
        if (i >= sim->planned) {
            code = md_plan_row(sim, i);
            if (code != MDYN_OK) return code;
        }
        row->resting = 0;
        if (exact || !md_sits_out(sim, sim->order[i])) {
            md_enlist(sim, sim->order[i], exact);
            md_set_up_row(sim, sim->order[i], mode, exact);
        }
        if (i < sim->planned || !row->boundless) continue;
        if (row->turns) sim->owner[row->pivot] = sim->order[i];
        else row->pivot = -1;
    }
    return mode == MD_STEP ? md_check_pivots(sim) : MDYN_OK;
}

/* Sets up all rows of a mode, the plan made anew if it was that of another kind of mode. */
MD_APART int md_prepare_rows(mdyn_sim *sim, enum md_mode mode)
{
    const int changes = MDYN_BODY_ROWS_ > 0 && sim->rows > sim->plain;
    int code = MDYN_OK;
    if (md_is_swept(sim, mode)) {
        if (changes || sim->planned >= 0) code = md_lay_out(sim);
        if (code == MDYN_OK) md_set_up_swept(sim, mode);
        return code;
    }
    if (sim->planned < 0) code = md_plan(sim);
    if (code == MDYN_OK && changes) return md_set_up_anew(sim, mode);
    if (code == MDYN_OK) md_set_up_rows(sim, mode);
    return code;
}

/* What owned coordinates give a row: u holds their speeds. */
MD_INLINE md_unit md_given(const mdyn_sim *sim, const md_row *row, const md_unit *u)
{
    return md_dot_at(sim->entry + row->first, sim->entry_at + row->first, row->given, u);
}

/* u at owned coordinates += s times the row's entries there */
MD_INLINE void md_give(mdyn_sim *sim, const md_row *row, md_unit s, md_unit *u)
{
    sim->strain |= md_add_at(u, s, sim->entry + row->first, sim->entry_at + row->first, row->given);
}

/* Which of the errors of position that are kept apart rows take back in a solve. */
enum md_wish {
    MD_ALL_BACK,
    MD_NONE_BACK,
    MD_SOFT_BACK /* those of soft rows, whose spring is a force and no correction */
};

MD_INLINE int md_leaves_error(const md_row *row, enum md_wish wish)
{
    return wish != MD_ALL_BACK && !(wish == MD_SOFT_BACK && !md_is_zero(row->cfm));
}

/* low, high of a row in a solve; those of an equality are the same. */
MD_INLINE md_num md_wished_low(const md_row *row, enum md_wish wish)
{
    if (!md_leaves_error(row, wish)) return row->low;
    if (md_less(row->low, row->high) && !md_less(MD_K(0), row->back)) return row->low;
    return md_sub(row->low, row->back);
}

MD_INLINE md_num md_wished_high(const md_row *row, enum md_wish wish)
{
    if (!md_leaves_error(row, wish)) return row->high;
    if (md_less(row->low, row->high) && !md_less(row->back, MD_K(0))) return row->high;
    return md_sub(row->high, row->back);
}

/* What the speeds after a solve have taken back. */
MD_INLINE enum md_wish md_last_wish(const mdyn_sim *sim)
{
    return sim->parting && md_relaxes(sim) ? MD_SOFT_BACK : MD_ALL_BACK;
}

/* What a row asks beyond the present speed, for its unit length. */
MD_INLINE md_unit md_ask(const md_row *row, md_num speed, md_scale e)
{
    return md_unit_of(md_mul(row->scale, md_sub(speed, row->Jv)), e);
}

/* The speeds of the owned coordinates, in sim->du: one after the other, R^T du = u_low. Returns
   whether there are rows that others decide. */
MD_STATIC int md_substitute(mdyn_sim *sim)
{
    int k, redundant = 0;
    for (k = 0; k < md_exacts(sim); k++) {
        const md_row *row = md_live_row(sim, k);
        redundant |= row->flags & MDYN_ROW_REDUNDANT;
        if (!row->turns) continue;
        sim->du[row->pivot] = md_unit_by(md_unit_sub(row->u_low, md_given(sim, row, sim->du)),
                                         row->inverse);
        sim->strain |= md_strain_of(sim->du[row->pivot]);
    }
    return redundant;
}

/* A row that earlier rows decide: do they decide otherwise than it asks? */
MD_STATIC int md_contradicts(const mdyn_sim *sim, const md_row *row, md_scale e, md_unit *miss)
{
    md_unit size = md_unit_abs(row->u_low);
    int k;
    for (k = row->first; k < row->first + row->given; k++)
        size = md_unit_add(size, md_unit_abs(md_unit_mul(sim->entry[k],
                                                         sim->du[sim->entry_at[k]])));
    size = md_unit_add(size, md_unit_abs(md_unit_of(md_mul(row->scale, row->Jv), e)));
    *miss = md_unit_sub(row->u_low, md_given(sim, row, sim->du));
    size = md_unit_add(md_unit_mul(MD_U(MD_AGREED), size), MD_U_ROUNDING);
    if (md_is_on_bodies(row))
        size = md_unit_add(size, md_unit_of(md_mul(row->scale, md_bodies_slack(sim, row)), e));
    return md_unit_less(size, md_unit_abs(*miss));
}

/* Contradictory rows meet where the sum of all squared misses, each in its own unit, is least.
   Exact row k, the sum of a_j times row j, ends with a miss m; with the scales s of the rows it
   keeps s_k^2 m, and the rows j shift by a_j s_j^2 m. Returns by how much m changed. sim->y at
   owned coordinates is scratch, row->u_high of row k holds what it keeps. */
MD_STATIC md_unit md_compromise(mdyn_sim *sim, int k, md_unit miss)
{
    const md_strain before = sim->strain;
    md_num size, weight = MD_K(0);
    md_row *row;
    md_scale e = 0;
    int j, tries = 0;
    do { /* a_j, in a block of the scale e */
        e = (md_scale)(e + MD_HEADROOM);
        md_strain_reset(&sim->strain, before);
        for (j = 0; j < k; j++)
            if (md_live_row(sim, j)->turns) sim->y[md_live_row(sim, j)->pivot] = MD_U(0);
        row = md_live_row(sim, k);
        md_give(sim, row, md_unit_of(MD_K(1), e), sim->y);
        size = md_mul(row->scale, row->scale);
        for (j = k; j-- > 0;) {
            row = md_live_row(sim, j);
            if (!row->turns) continue;
            row->impulse = md_mul(md_of_unit(sim->y[row->pivot], e), row->inverse);
            md_give(sim, row, md_unit_of(md_neg(row->impulse), e), sim->y);
            weight = md_mul(row->impulse, row->scale);
            size = md_add(size, md_mul(weight, weight));
        }
    } while (md_is_strained(sim->strain) && !md_is_strained(before) && ++tries < MD_TRIES);
    row = md_live_row(sim, k);
    miss = md_unit_sub(miss, row->u_high);
    for (j = 0; j <= k; j++) {
        row = md_live_row(sim, j);
        weight = md_div(md_mul(row->scale, row->scale), size);
        if (j == k) row->u_high = md_unit_add(row->u_high, md_unit_by(miss, weight));
        else if (row->turns)
            row->u_low = md_unit_add(row->u_low, md_unit_by(miss, md_mul(weight, row->impulse)));
    }
    return md_unit_abs(md_unit_by(miss, weight));
}

/* Turns sim->du with the reflections; row->u_high keeps what the owned coordinates have. */
MD_APART void md_turn(mdyn_sim *sim)
{
    int k;
    for (k = 0; k < md_exacts(sim); k++) {
        md_row *row = md_live_row(sim, k);
        if (!row->turns) continue;
        md_reflect_lone(sim, row, sim->du);
        md_reflect_shared(sim, row, sim->du);
        row->u_high = sim->du[row->pivot];
    }
}

/* Gives the owned coordinates of sim->du, turned, what their rows ask. */
MD_APART void md_satisfy(mdyn_sim *sim, md_scale e, enum md_wish wish)
{
    int k, pass, contradictory = 0;
    md_unit miss, moved, first = MD_U(0);
    md_row *row;
    for (k = 0; k < md_exacts(sim); k++) {
        row = md_live_row(sim, k);
        row->u_low = md_ask(row, md_wished_low(row, wish), e);
    }
    if (!md_substitute(sim)) return;
    for (k = 0; k < md_exacts(sim); k++) {
        row = md_live_row(sim, k);
        if (!(row->flags & MDYN_ROW_REDUNDANT)) continue;
        row->u_high = MD_U(0);
        if (md_contradicts(sim, row, e, &miss)) row->flags |= MDYN_ROW_CONTRADICTORY;
        contradictory |= row->flags & MDYN_ROW_CONTRADICTORY;
    }
    for (pass = 0; pass < 100 && contradictory; pass++) {
        moved = MD_U(0);
        for (k = 0; k < md_exacts(sim); k++) {
            row = md_live_row(sim, k);
            if (!(row->flags & MDYN_ROW_REDUNDANT)) continue;
            md_contradicts(sim, row, e, &miss);
            moved = md_unit_add(moved, md_compromise(sim, k, miss));
            (void)md_substitute(sim);
        }
        if (pass == 0) first = moved;
        else if (!md_unit_less(md_unit_mul(MD_U(MD_EPSILON), first), moved)) break;
    }
}

/* u turned back by the reflections. */
MD_APART void md_unturn(mdyn_sim *sim, md_unit *u)
{
    int k;
    for (k = md_exacts(sim) - 1; k >= 0; k--) {
        const md_row *row = md_live_row(sim, k);
        if (!row->turns) continue;
        md_reflect_shared(sim, row, u);
        md_reflect_lone(sim, row, u);
    }
}

/* sim->z = L^-1 of sim->du turned back: the changes of speed. */
MD_APART void md_turn_back(mdyn_sim *sim, md_scale e)
{
    const md_strain before = sim->strain;
    int room = 0, tries = 0;
    do {
        md_strain_reset(&sim->strain, before);
        md_copy_units(sim->y, sim->du, sim->dofs + sim->rows, room);
        md_unturn(sim, sim->y);
        md_outward(sim, sim->y, (md_scale)(e + room), sim->z);
        room += MD_HEADROOM;
    } while (md_is_strained(sim->strain) && !md_is_strained(before) && ++tries < MD_TRIES);
}

/* Where the next sweeps begin with a bounded row: at its impulse. If a coupling wants a speed, less
   what the sweeps would have added if each had moved it as far as the last one: rows that cannot
   all hold drift so, and would push harder from step to step; what converges, by a factor r in each
   of n sweeps, goes on to do so: by r^n (1 + n (1 - r)/r) < 1 for n > 1. Without such speeds and
   without errors of position all rows hold at rest, and none drifts. */
MD_APART void md_keep_start(const mdyn_sim *sim, md_row *row, int32_t sweeps)
{
    md_num zero = MD_K(0), start = md_of_unit(row->u_lambda, 0), drift;
    if (!sim->urged || md_unit_is_zero(row->u_moved)) {
        row->u_start = row->u_lambda;
        return;
    }
    drift = md_mul(md_of_int(sweeps), md_of_unit(row->u_moved, 0));
    if (md_less(zero, start) && md_less(zero, drift)) start = md_max(zero, md_sub(start, drift));
    if (md_less(start, zero) && md_less(drift, zero)) start = md_min(zero, md_sub(start, drift));
    row->u_start = md_unit_of(start, 0);
}

/* What bounded a friction row last is its bound. */
MD_INLINE void md_settle_friction(md_row *row, md_scale e)
{
    row->most = md_mul(row->scale, md_of_unit(row->u_most, e));
    row->least = md_neg(row->most);
}

/* The impulses of the exact rows, last row first, from how far the owned coordinates were moved,
   less what the bounded rows did to them: R lambda = y. They may be much larger than the speeds,
   and so have a block of their own. */
MD_APART void md_settle_exact(mdyn_sim *sim, md_scale e)
{
    const md_strain before = sim->strain;
    int k, room = 0, tries = 0;
    md_row *row;
    md_unit d;
    do {
        md_strain_reset(&sim->strain, before);
        for (k = 0; k < md_exacts(sim); k++) {
            row = md_live_row(sim, k);
            row->impulse = row->start = MD_K(0);
            if (!row->turns) continue;
            d = md_unit_sub(sim->du[row->pivot], row->u_high);
            sim->y[row->pivot] = md_unit_shifted(d, -room);
        }
        for (; k < sim->lives; k++) {
            row = md_live_row(sim, k);
            if (!row->active) continue;
            d = md_unit_by(row->u_lambda, md_shifted(row->inverse, -room));
            md_give(sim, row, md_unit_neg(d), sim->y);
        }
        for (k = md_exacts(sim) - 1; k >= 0; k--) {
            row = md_live_row(sim, k);
            if (!row->turns) continue;
            row->u_lambda = md_unit_by(sim->y[row->pivot], row->inverse);
            sim->strain |= md_strain_of(row->u_lambda);
            row->impulse = md_mul(row->scale, md_of_unit(row->u_lambda, e + room));
            row->start = row->impulse;
            md_give(sim, row, md_unit_neg(row->u_lambda), sim->y);
        }
        room += MD_HEADROOM;
    } while (md_is_strained(sim->strain) && !md_is_strained(before) && ++tries < MD_TRIES);
}

/* The impulses of all rows, and where the next sweeps begin: at u_start if that was kept. */
MD_APART void md_settle(mdyn_sim *sim, md_scale e, int kept)
{
    int k;
    for (k = md_exacts(sim); k < sim->lives; k++) {
        md_row *row = md_live_row(sim, k);
        row->impulse = row->start = MD_K(0);
        if (!row->active) continue;
        if (md_follows(sim, row)) md_settle_friction(row, e);
        if (md_keeps_starts(sim))
            row->start = md_mul(row->scale, md_of_unit(kept ? row->u_start : row->u_lambda, e));
        row->impulse = !md_unit_less(row->u_lambda, row->u_most) ? row->most
            : !md_unit_less(row->u_least, row->u_lambda) ? row->least
            : md_mul(row->scale, md_of_unit(row->u_lambda, e));
    }
    if (MIMICDYN_EXACT) md_settle_exact(sim, e);
}

/* =============================================================================== // >>pgs
   The bounded rows by projected Gauss-Seidel with over-relaxation, in their order:
      lambda := clamp(max(lambda + omega (low - s), 0) + min(lambda + omega (high - s), 0)),
      s = x du + soft lambda,   du += x d_lambda
   which holds an impulse > 0 against low, < 0 against high, and for low = high is the ordinary
   sweep. Source: ODE's SOR-PGS; PhysX mimic joints (16) with the accumulated impulse. */

/* The largest speed or impulse, of its unit length, that row k brings into a solve: for a bounded
   row no more than its impulse can do; for an exact one as if it had its own direction, for others
   mostly leave it less to do (and if not, the block is enlarged). */
MD_STATIC md_num md_row_need(const mdyn_sim *sim, int k, enum md_wish wish)
{
    const md_row *row = md_row_at(sim, k);
    md_num need, bound, low = md_wished_low(row, wish), high = md_wished_high(row, wish);
    if (!row->active) {
        if (!MIMICDYN_EXACT || !row->boundless
            || !(row->turns || row->flags & MDYN_ROW_REDUNDANT)) return MD_K(0);
        need = md_abs(md_mul(row->scale, md_sub(low, row->Jv)));
        return row->turns ? md_mul(need, md_min(md_abs(row->inverse), MD_K(8))) : need;
    }
    need = md_mul(row->scale, md_max(md_sub(low, row->Jv), md_sub(row->Jv, high)));
    bound = md_mul(row->length, md_max(row->most, md_neg(row->least)));
    need = md_min(need, md_add(bound, bound));
    bound = MIMICDYN_WARM ? md_abs(md_mul(row->length, row->start)) : MD_K(0);
    return md_max(need, bound);
}

/* What a bounded row asks of the coordinates that nobody owns. */
MD_INLINE void md_aim_bounded(mdyn_sim *sim, md_row *row, md_scale e, enum md_wish wish)
{
    md_unit given = MD_U(0);
    if (MIMICDYN_EXACT) given = md_unit_by(md_given(sim, row, sim->du), row->inverse);
    sim->strain |= md_strain_of(given);
    row->u_low = md_unit_sub(md_ask(row, md_wished_low(row, wish), e), given);
    row->u_high = md_unit_sub(md_ask(row, md_wished_high(row, wish), e), given);
}

/* Changes the impulse of a bounded row to u_lambda. */
MD_INLINE void md_set_impulse(mdyn_sim *sim, md_row *row, md_unit u_lambda)
{
    const int first = row->first + row->given;
    md_unit d = md_unit_sub(u_lambda, row->u_lambda);
    row->u_lambda = u_lambda;
    sim->strain |= md_add_at(sim->du, d, sim->entry + first, sim->entry_at + first,
                             row->end - first);
}

/* What the sweeps make smaller (Baraff's quadratic programme): (v'Mv)/2 of what the rows change,
   less what they are asked for. By how much it grows as a row is taken up at u_start. */
MD_INLINE md_num md_cost_of_start(mdyn_sim *sim, const md_row *row)
{
    const int first = row->first + row->given;
    md_unit s = md_dot_at(sim->entry + first, sim->entry_at + first, row->end - first, sim->du);
    s = md_unit_sub(s, md_unit_less(MD_U(0), row->u_start) ? row->u_low : row->u_high);
    s = md_unit_add(s, md_unit_mul(MD_U(0.5), row->u_start)); /* its length is 1 */
    return md_mul(md_of_unit(row->u_start, 0), md_of_unit(s, 0));
}

/* Takes up a bounded row at an impulse. */
MD_APART md_num md_begin_row(mdyn_sim *sim, md_row *row, md_scale e, enum md_wish wish,
                             md_num impulse)
{
    md_num length = row->length, cost;
    md_aim_bounded(sim, row, e, wish);
    row->u_least = md_unit_of(md_mul(row->least, length), e);
    row->u_most = md_unit_of(md_mul(row->most, length), e);
    row->u_lambda = row->u_moved = row->u_start = MD_U(0);
    md_keep_bound(sim, row);
    if (!MIMICDYN_WARM || md_is_zero(impulse)) return MD_K(0);
    impulse = md_max(row->least, md_min(row->most, impulse));
    row->u_start = md_unit_of(md_mul(length, impulse), e);
    cost = md_cost_of_start(sim, row);
    md_set_impulse(sim, row, row->u_start);
    return cost;
}

/* The row whose impulse bounds that of a row, by mu times it; -1: none. */
MD_STATIC int md_row_leader(const mdyn_sim *sim, const md_row *row, md_num *mu)
{
    const mdyn_coupling *c = md_coupling_at(sim, row->index);
    md_num e = md_of_wide(c->efficiency);
    if (row->kind == MDYN_ROW_LOSS) {
        *mu = md_div(md_sub(MD_K(2), md_add(e, e)), md_add(MD_K(1), e));
        return row->index;
    }
    *mu = md_of_wide(c->mu);
    return row->kind == MDYN_ROW_COUPLING && !md_is_zero(*mu) ? c->mu_of : -1;
}

/* Bounds that are the impulses of other rows, as they are now. */
MD_STATIC void md_follow_bounds(mdyn_sim *sim, md_scale e)
{
    int k, i;
    for (k = md_exacts(sim); k < sim->lives; k++) {
        md_row *row = md_live_row(sim, k);
        const md_row *leader;
        md_num mu, effort;
        if (!row->active || row->kind > MDYN_ROW_LOSS) continue;
        i = md_row_leader(sim, row, &mu);
        if (i < 0) continue;
        leader = md_row_at(sim, i);
        row->most = leader->active
            ? md_mul(mu, md_abs(md_mul(leader->scale, md_of_unit(leader->u_lambda, e)))) : MD_K(0);
        effort = md_mul(sim->h, md_of_wide(md_coupling_at(sim, row->index)->effort));
        if (row->kind == MDYN_ROW_COUPLING && !md_is_zero(effort))
            row->most = md_min(row->most, effort);
        row->least = md_neg(row->most);
        row->u_most = md_unit_of(md_mul(row->most, row->length), e);
        row->u_least = md_unit_neg(row->u_most);
    }
}

/* One visit; returns by how much the impulse moved. */
MD_INLINE md_unit md_visit(mdyn_sim *sim, md_row *row, md_unit omega)
{
    const int first = row->first + row->given, count = row->end - first;
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
    sim->strain |= md_strain_of(row->u_lambda);
    if (!md_unit_is_zero(d)) sim->strain |= md_add_at(sim->du, d, x, at, count);
    return d;
}

#if MDYN_BODY_ROWS_ > 0

/* The rows of a cone get a common scale, so that a circle of impulses is one of their u_lambda: the
   larger eigenvalue of the two rows' J M^-1 J^T becomes 1, and a sweep's step never is too long. */
MD_STATIC void md_pair_cone(mdyn_sim *sim, md_row *first)
{
    md_row *row, *second = first + 1;
    md_num a, c = MD_K(0), s, half;
    int k, e, n = second->end - second->first;
    if (!first->active || !second->active || n != first->end - first->first) return;
    for (k = second->given; k < n; k++)
        c = md_add(c, md_mul(md_of_unit(sim->entry[first->first + k], 0),
                             md_of_unit(sim->entry[second->first + k], 0)));
    s = md_div(second->scale, first->scale); /* lengths in units of the second row's */
    a = md_mul(s, s);
    c = md_mul(s, c);
    half = md_mul(MD_K(0.5), md_sub(a, MD_K(1)));
    a = md_add(md_mul(MD_K(0.5), md_add(a, MD_K(1))), md_sqrt(md_sum2(half, half, c, c)));
    s = md_mul(second->scale, md_rsqrt(a));
    for (row = first; row <= second; row++) {
        md_num part = md_div(s, row->scale);
        for (e = row->first + row->given; e < row->end; e++)
            sim->entry[e] = md_unit_by(sim->entry[e], part);
        row->inverse = md_mul(row->inverse, part);
        row->length = md_div(row->length, part);
        row->soft = md_unit_by(md_unit_by(row->soft, part), part);
        row->scale = s;
    }
    md_body_row_of(sim, first)->cone = 1;
    md_body_row_of(sim, second)->cone = 2;
}

/* For rows that have been set up: pairs of a contact's, and the bound for a unit of the normal's
   u_lambda, mu times the ratio of the lengths. */
MD_STATIC void md_prepare_friction(mdyn_sim *sim)
{
    int k;
    sim->stage = 0;
    for (k = sim->plain; k < sim->rows; k++) {
        md_row *row = md_row_at(sim, k);
        md_body_row *r = md_body_row_of(sim, row);
        r->cone = 0;
        if (r->normal < 0) continue;
        if (row->kind == MDYN_ROW_CONTACT && row->index % 3 == 1
            && sim->model->solver.friction == MDYN_CONE) md_pair_cone(sim, row);
        else if (row->kind == MDYN_ROW_CONTACT && row->index % 3 == 2)
            r->cone = (uint8_t)(2 * (md_body_row_of(sim, row - 1)->cone == 1));
        r->ratio = md_div(md_mul(r->friction, sim->row[r->normal].scale), row->scale);
    }
}

/* The present bound of a friction row. */
MD_STATIC md_unit md_friction_bound(mdyn_sim *sim, md_row *row)
{
    md_body_row *r = md_body_row_of(sim, row);
    const md_row *normal = &sim->row[r->normal];
    if (sim->stage < 2)
        r->bound = sim->stage == 1 || !normal->active ? MD_U(0)
            : md_unit_by(md_unit_abs(normal->u_lambda), r->ratio);
    row->u_most = r->bound;
    row->u_least = md_unit_neg(r->bound);
    return r->bound;
}

/* Moves u_lambda of a row to `to`. */
MD_STATIC md_unit md_move_impulse(mdyn_sim *sim, md_row *row, md_unit to)
{
    const int first = row->first + row->given;
    row->u_moved = md_unit_sub(to, row->u_lambda);
    row->u_lambda = to;
    sim->strain |= md_add_at(sim->du, row->u_moved, sim->entry + first, sim->entry_at + first,
                             row->end - first);
    return md_unit_abs(row->u_moved);
}

/* One visit of a friction row, of both rows of a cone at the first: a step of each, then onto the
   circle along the radius. At rest the impulse is opposite to the slip. */
MD_STATIC md_unit md_visit_friction(mdyn_sim *sim, md_row *row, md_unit omega)
{
    md_unit bound = md_friction_bound(sim, row), to[2], moved, other;
    md_num square, limit, part;
    int k;
    if (md_body_row_of(sim, row)->cone == 0) return md_visit(sim, row, omega);
    if (md_body_row_of(sim, row)->cone == 2) return MD_U(0);
    for (k = 0; k < 2; k++) {
        const md_row *r = row + k;
        const int first = r->first + r->given;
        md_unit s = md_dot_at(sim->entry + first, sim->entry_at + first, r->end - first,
                              sim->du);
        s = md_unit_sub(r->u_low, md_unit_add(s, md_unit_mul(r->soft, r->u_lambda)));
        to[k] = md_unit_add(r->u_lambda, md_unit_mul(omega, s));
    }
    square = md_sum2(md_of_unit(to[0], 0), md_of_unit(to[0], 0), md_of_unit(to[1], 0),
                     md_of_unit(to[1], 0));
    limit = md_of_unit(bound, 0);
    row[1].u_most = bound;
    if (md_less(md_mul(limit, limit), square)) {
        part = md_mul(limit, md_rsqrt(square));
        for (k = 0; k < 2; k++) {
            to[k] = md_unit_by(to[k], part);
            row[k].u_most = md_unit_abs(to[k]);
        }
    }
    row[0].u_least = md_unit_neg(row[0].u_most);
    row[1].u_least = md_unit_neg(row[1].u_most);
    moved = md_move_impulse(sim, row, to[0]);
    other = md_move_impulse(sim, row + 1, to[1]);
    return md_unit_less(moved, other) ? other : moved;
}

#else

MD_INLINE void md_prepare_friction(mdyn_sim *sim) { (void)sim; }
MD_INLINE md_unit md_friction_bound(mdyn_sim *sim, md_row *row)
{
    (void)sim; (void)row;
    return MD_U(0);
}
MD_INLINE md_unit md_visit_friction(mdyn_sim *sim, md_row *row, md_unit omega)
{
    (void)sim; (void)row; (void)omega;
    return MD_U(0);
}

#endif

/* Sweeps until nothing moves beside the largest impulse and the motion, whose rounding errors all
   impulses carry; at most so many as the solver's setting leaves since `from`, but one. The motion
   is sim->du after the second sweep, when it does not hold any more what the warm start had wrong;
   it is looked at only if the impulses alone would have more sweeps. */
MD_APART void md_sweep(mdyn_sim *sim, md_scale e, int32_t from)
{
    const mdyn_solver *solver = &sim->model->solver;
    md_num omega = md_of_wide(solver->relaxation), tolerance = md_of_wide(solver->tolerance);
    md_unit step, part, moved, largest, motion = MD_U(0);
    /* what moves an impulse by less moves the speeds by rounding: sweeps of it lead them apart */
    const md_unit noise = md_unit_shifted(MD_U_ROUNDING, 2);
    const int32_t first = sim->sweeps;
    int go_on, k;
    const int32_t most = solver->sweeps ? solver->sweeps
        : MD_HAS_SET(sim, method, MDYN_TGS) ? 1 : 100;
    if (md_is_zero(omega)) omega = MD_K(1);
    if (md_is_zero(tolerance)) tolerance = MD_K(8 * MD_EPSILON);
    step = md_unit_of(omega, 0);
    part = md_unit_of(tolerance, 0);
    do {
        if (MIMICDYN_LOSSES && sim->followers) md_follow_bounds(sim, e);
        moved = MD_U(0);
        largest = motion;
        for (k = md_exacts(sim); k < sim->lives; k++) {
            md_row *row = md_live_row(sim, k);
            md_unit d;
            if (!row->active) continue;
            d = md_unit_abs(md_follows(sim, row) ? md_visit_friction(sim, row, step)
                                                 : md_visit(sim, row, step));
            if (md_unit_less(moved, d)) moved = d;
            if (md_unit_less(largest, d)) largest = d;
            d = md_unit_abs(row->u_lambda);
            if (md_unit_less(largest, d)) largest = d;
        }
        if (sim->sweeps == first + 1 && md_unit_less(md_unit_mul(part, largest), moved)) {
            motion = md_units_largest(sim->du, sim->dofs);
            if (md_unit_less(largest, motion)) largest = motion;
        }
        sim->residual = !md_unit_less(noise, moved) ? 0
            : md_to_wide(md_of_unit(md_unit_div(moved, largest), 0));
        if (md_unit_is_zero(moved)) return;
        sim->sweeps++;
        go_on = md_unit_less(md_unit_add(md_unit_mul(part, largest), noise), moved);
    } while (go_on && sim->sweeps - from < most);
    if (go_on) sim->hasty = 1;
}

#if MIMICDYN_MAX_DANTZIG > 0
#define MD_PIVOTED (2048 * MD_EPSILON) /* as MD_LCP_COUPLED, of the motion */
MD_STATIC int md_pivot_rows(mdyn_sim *sim, md_scale e); /* >>lcp */

/* Visits a row, and returns by how much its impulse moved. One that pivoting has found nothing to
   stop is left as it is if it misses more than `good`; *worst becomes that. */
MD_STATIC md_unit md_try_row(mdyn_sim *sim, md_row *row, md_unit good, md_unit *worst)
{
    const md_unit old = row->u_lambda, step = MD_U(1);
    md_unit d = md_unit_abs(md_follows(sim, row) ? md_visit_friction(sim, row, step)
                                                 : md_visit(sim, row, step));
    if (md_unit_less(*worst, d)) *worst = d;
    if (!(row->flags & MDYN_ROW_CONTRADICTORY)) return d;
    if (!md_unit_less(good, d)) {
        row->flags &= (uint8_t)~MDYN_ROW_CONTRADICTORY;
        return d;
    }
    md_set_impulse(sim, row, old);
    sim->stuck = 1;
    return MD_U(0);
}

/* Whether the impulses of now solve the rows, but for rounding: by visits, which take that away;
   four of each row, up to 16 while the worst is no more than 64 times what may be left. The largest
   change is held against the motion with and without impulses (not against impulses, which may be
   wrong and large), and told in sim->residual. */
MD_STATIC int md_try_impulses(mdyn_sim *sim, md_scale e, md_unit motion)
{
    const md_unit noise = md_unit_shifted(MD_U_ROUNDING, 4); /* of the rows that share a body */
    md_unit d = md_units_largest(sim->du, sim->dofs + sim->rows), moved, worst, good, far;
    int k, pass;
    if (md_unit_less(motion, d)) motion = d;
    good = md_unit_add(md_unit_mul(MD_U(MD_PIVOTED), motion), noise);
    far = md_unit_add(md_unit_mul(MD_U(64 * MD_PIVOTED), motion), noise);
    for (pass = 0; pass < 16; pass++) {
        if (sim->followers) md_follow_bounds(sim, e);
        moved = worst = MD_U(0);
        for (k = md_exacts(sim); k < sim->lives; k++) {
            md_row *row = &sim->row[sim->live[k]];
            if (!row->active) continue;
            d = md_try_row(sim, row, good, &worst);
            if (md_unit_less(moved, d)) moved = d;
        }
        sim->residual = !md_unit_less(noise, worst) ? 0
            : md_to_wide(md_of_unit(md_unit_div(worst, motion), 0));
        if (md_unit_less(far, moved)) return 0;
        if (md_unit_less(good, moved)) continue;
        if (pass > 2 || !md_unit_less(md_unit_mul(MD_U(8 * MD_EPSILON), motion), moved)) return 1;
    }
    return 0;
}

/* The impulses of all bounded rows away. */
MD_STATIC void md_drop_impulses(mdyn_sim *sim)
{
    int k;
    for (k = md_exacts(sim); k < sim->lives; k++) {
        md_row *row = &sim->row[sim->live[k]];
        if (!row->active) continue;
        row->flags &= (uint8_t)~MDYN_ROW_CONTRADICTORY;
        md_set_impulse(sim, row, MD_U(0));
    }
}

/* The bounded rows by the method of the solver. */
MD_STATIC void md_solve_bounded(mdyn_sim *sim, md_scale e, int32_t from)
{
    if (MD_HAS_SET(sim, method, MDYN_DANTZIG)) {
        md_unit motion;
        int solved;
        md_drop_impulses(sim);
        motion = md_units_largest(sim->du, sim->dofs + sim->rows);
        sim->stuck = 0;
        solved = md_pivot_rows(sim, e) && md_try_impulses(sim, e, motion);
        if (solved && !sim->stuck) return;
        if (sim->unsolved < INT16_MAX) sim->unsolved++;
        if (solved) return;
        md_drop_impulses(sim);
    }
    md_sweep(sim, e, from);
}
#else
MD_INLINE void md_solve_bounded(mdyn_sim *sim, md_scale e, int32_t from) { md_sweep(sim, e, from); }
#endif

#if MDYN_BODY_ROWS_ > 0
/* The first stage of friction in two, without it, and the bounds of the second. */
MD_STATIC void md_sweep_without_friction(mdyn_sim *sim, md_scale e)
{
    int k;
    if (sim->model->solver.friction != MDYN_TWO_STAGE || sim->rows == sim->plain) return;
    sim->stage = 1;
    md_solve_bounded(sim, e, sim->sweeps);
    sim->stage = 0;
    for (k = sim->plain; k < sim->rows; k++)
        if (md_follows(sim, md_row_at(sim, k))) {
            md_friction_bound(sim, md_row_at(sim, k));
            md_settle_friction(md_row_at(sim, k), e);
        }
    sim->stage = 2;
}
#else
MD_INLINE void md_sweep_without_friction(mdyn_sim *sim, md_scale e) { (void)sim; (void)e; }
#endif

/* Whether a resting row is needed: C or where the motion sim->z takes it is out of its range. */
MD_APART int md_row_is_needed(mdyn_sim *sim, const md_row *row)
{
    mdyn_wide lower, upper;
    md_num way;
    md_terms *t = &sim->terms;
    int k;
    if (row->kind == MDYN_ROW_LIMIT) {
        const md_dof *d = &sim->dof[row->index];
        const mdyn_body *b = &sim->model->bodies[d->body];
        lower = b->lower;
        upper = b->upper;
        md_sum_of(&sim->place.C, sim->q[d->coordinate], sim->q_tail[d->coordinate]);
        sim->place.shift = md_has_moved(sim) ? sim->shift[row->index] : MD_K(0);
        way = md_add(md_of_real(sim->v[row->index]), sim->z[row->index]);
    } else {
        const mdyn_coupling *c = md_coupling_at(sim, row->index);
        lower = c->lower;
        upper = c->upper;
        way = md_row_speed(sim, row, t);
        for (k = 0; k < t->count; k++) way = md_add(way, md_mul(t->number[k], sim->z[t->dof[k]]));
        if (c->level == MDYN_VELOCITY) {
            way = md_sub(way, md_of_wide(c->speed));
            return (md_binds_below(lower) && md_less(way, md_of_wide(lower)))
                || (md_binds_above(upper) && md_less(md_of_wide(upper), way));
        }
    }
    way = md_mul(sim->h, way);
    if (md_less(way, MD_K(0))) {
        if (md_less(md_add(md_beyond(sim, lower), way), MD_K(0)) && md_binds_below(lower))
            return 1;
        return md_less(MD_K(0), md_beyond(sim, upper)) && md_binds_above(upper);
    }
    if (md_less(MD_K(0), md_add(md_beyond(sim, upper), way)) && md_binds_above(upper))
        return 1;
    return md_less(md_beyond(sim, lower), MD_K(0)) && md_binds_below(lower);
}

/* Takes in the resting rows that are needed; returns how many. */
MD_APART int md_wake_rows(mdyn_sim *sim, md_scale e, enum md_wish wish)
{
    int k, woken = 0;
    for (k = 0; k < sim->rows; k++) {
        md_row *row = md_row_at(sim, k);
        if (!row->resting) continue;
        if (row->kind == MDYN_ROW_COUPLING) {
            md_row_terms(sim, row, &sim->terms);
            md_row_look(sim, row);
        }
        if (!md_row_is_needed(sim, row)) continue;
        md_enlist(sim, k, 0);
        md_set_up_row(sim, k, MD_STEP, 0);
        if (!row->active) continue;
        sim->strain |= md_strain_of(md_unit_of(md_row_need(sim, k, wish), e));
        md_begin_row(sim, row, e, wish, md_is_warm(sim) ? row->start : MD_K(0));
        woken++;
    }
    return woken;
}

/* ============================================================================== // >>step */

#if MIMICDYN_TREE
/* Quaternion q := q exp(u/2) for a small turn u in the body's axes: the increments are added to
   q and its tails, and its length is led back to 1. */
MD_APART void md_turn_quaternion(mdyn_real *q, md_tail *tail, const md_num *u)
{
    md_num half = MD_K(0.5), w = md_of_real(q[0]), x = md_of_real(q[1]), y = md_of_real(q[2]);
    md_num z = md_of_real(q[3]), length2 = md_quaternion_square(q), n2, n, s, c, lack, d[4];
    md_num ex = md_mul(half, u[0]), ey = md_mul(half, u[1]), ez = md_mul(half, u[2]);
    int k;
    if (md_less(MD_K(1e-3), md_abs(md_sub(length2, MD_K(1))))) {
        n = md_rsqrt(length2);
        w = md_mul(n, w); x = md_mul(n, x); y = md_mul(n, y); z = md_mul(n, z);
        q[0] = md_to_real(w); q[1] = md_to_real(x); q[2] = md_to_real(y); q[3] = md_to_real(z);
        for (k = 0; k < 4; k++) tail[k] = 0;
        length2 = md_quaternion_square(q);
    }
    n2 = md_sum3(ex, ex, ey, ey, ez, ez);
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
    s = md_add(s, md_mul(lack, s));
    ex = md_mul(s, ex); ey = md_mul(s, ey); ez = md_mul(s, ez);
    c = md_add(c, md_add(lack, md_mul(lack, c)));
    d[0] = md_sub(md_mul(c, w), md_sum3(x, ex, y, ey, z, ez));
    d[1] = md_add(md_sum2(c, x, w, ex), md_det2(y, ez, z, ey));
    d[2] = md_add(md_sum2(c, y, w, ey), md_det2(z, ex, x, ez));
    d[3] = md_add(md_sum2(c, z, w, ez), md_det2(x, ey, y, ex));
    for (k = 0; k < 4; k++) md_accumulate(&q[k], &tail[k], d[k]);
}

#endif

/* Whether v + dv (unless NULL) and q (+) u (unless NULL) stay in range; nothing is written. */
MD_APART int md_check_motion(mdyn_sim *sim, const md_num *dv, const md_num *u)
{
    int i, k, c;
    for (k = 0; dv && k < sim->dofs; k++)
        if (!md_stays(sim->v[k], dv[k])) return md_blame(sim, MDYN_ERR_OVERFLOW, k);
    for (k = 0; u && k < sim->dofs; k++) {
        c = sim->dof[k].coordinate;
        if (!md_stays(c < 0 ? 0 : sim->q[c], u[k])) return md_blame(sim, MDYN_ERR_OVERFLOW, k);
    }
    for (i = 0; u && md_has_quaternions(sim) && i < sim->bodies; i++) {
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

/* q := q (+) u for displacements u of all speeds that md_check_motion has passed; in a step u is
   dt v, and coordinates of their own take dt v to all digits. */
MD_APART void md_displace(mdyn_sim *sim, const md_num *u, int step)
{
    int i, k;
    for (k = 0; k < sim->dofs; k++) {
        i = sim->dof[k].coordinate;
        if (i < 0) continue;
        if (step) md_advance(&sim->q[i], &sim->q_tail[i], sim->model->dt, sim->v[k]);
        else md_accumulate(&sim->q[i], &sim->q_tail[i], u[k]);
    }
#if MIMICDYN_TREE
    for (i = 0; md_has_quaternions(sim) && i < sim->bodies; i++) {
        const md_link *link = &sim->link[i];
        mdyn_real *q = sim->q + link->coordinate;
        md_tail *tail = sim->q_tail + link->coordinate;
        const md_num *d = u + link->dof;
        md_mat *R = &sim->work[i].inertia.B; /* scratch */
        md_vec shift;
        if (link->dofs < 3) continue;
        if (link->joint == MDYN_FREE) {
            md_mat_of_quaternion(R, md_of_real(q[3]), md_of_real(q[4]), md_of_real(q[5]),
                                 md_of_real(q[6]));
            md_vec_set(&shift, d[3], d[4], d[5]);
            md_mat_vec(&shift, R, &shift);
            md_accumulate(&q[0], &tail[0], md_vec_get(&shift, 0));
            md_accumulate(&q[1], &tail[1], md_vec_get(&shift, 1));
            md_accumulate(&q[2], &tail[2], md_vec_get(&shift, 2));
            q += 3;
            tail += 3;
        }
        md_turn_quaternion(q, tail, d);
    }
#endif
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

/* What the drives are told, if there are any. */
MD_APART int md_check_targets(mdyn_sim *sim)
{
    int code = MDYN_OK;
    if (sim->drives) code = md_check_numbers(sim, sim->target, sim->dofs);
    if (sim->drives && code == MDYN_OK) code = md_check_numbers(sim, sim->target_speed, sim->dofs);
    return code;
}

/* Commands and wrenches. */
MD_APART int md_check_inputs(mdyn_sim *sim)
{
    int code = md_check_numbers(sim, sim->tau, sim->dofs);
#if MIMICDYN_TREE
    int i;
    sim->pushed = 0;
    for (i = 0; i < sim->bodies && code == MDYN_OK; i++) {
        if (md_wrench_is_zero(&sim->wrench[i])) continue;
        if (md_check_numbers(sim, &sim->wrench[i].moment.x, 6) != MDYN_OK)
            return md_blame(sim, MDYN_ERR_STATE, i);
        sim->pushed = 1;
    }
#endif
    return code;
}

/* Inputs checked, kinematics up to date, L for the step (dt) or for now (0). */
MD_STATIC int md_ready_dynamics(mdyn_sim *sim, md_num dt)
{
    int code = md_check_inputs(sim);
    if (code == MDYN_OK) code = md_refresh(sim);
    if (code == MDYN_OK) code = md_factor(sim, dt);
    return code;
}

/* Sweeps over the rows that a mode without exact ones holds, until nothing moves. */
MD_INLINE void md_sweep_held(mdyn_sim *sim, md_scale e)
{
    do {
        sim->hasty = 0;
        md_sweep(sim, e, sim->sweeps);
    } while (sim->hasty && sim->sweeps < 2000);
}

/* Sweeps over the bounded rows, and over those that wake, until none does: sim->z. */
MD_STATIC void md_sweep_all(mdyn_sim *sim, enum md_mode mode, md_scale e, enum md_wish wish)
{
    int32_t from = sim->sweeps;
    int woken = 1, late = 0;
    while (woken > 0) {
        if (mode == MD_STEP) md_solve_bounded(sim, e, from);
        else if (!MIMICDYN_EXACT) md_sweep_held(sim, e);
        md_turn_back(sim, e);
        woken = MIMICDYN_EXACT && mode == MD_STEP && wish != MD_SOFT_BACK
            ? md_wake_rows(sim, e, wish) : 0;
        if (!late) from = sim->sweeps; /* rows that wake have their own sweeps, in all */
        late = 1;
    }
}

/* What is left of a start beside the impulse that takes back errors may be its rounding, which
   opposed rows would gather. */
MD_APART void md_round_starts(mdyn_sim *sim)
{
    int k;
    for (k = md_exacts(sim); k < sim->lives; k++) {
        md_row *row = md_live_row(sim, k);
        md_unit rounding = md_unit_mul(MD_U(8 * MD_EPSILON), md_unit_abs(row->u_lambda));
        if (!md_unit_less(md_unit_abs(row->u_start), rounding)) continue;
        row->u_start = MD_U(0);
        row->start = MD_K(0);
    }
}

/* What the rows ask with errors of position taken back, from the impulses of now. */
MD_APART void md_aim_again(mdyn_sim *sim, md_scale e)
{
    int k;
    md_satisfy(sim, e, MD_ALL_BACK);
    for (k = md_exacts(sim); k < sim->lives; k++)
        if (md_live_row(sim, k)->active)
            md_aim_bounded(sim, md_live_row(sim, k), e, MD_ALL_BACK);
}

/* The rows of the solve on the free motion sim->du: the exact ones hold, the bounded ones are taken
   up at row->start, or at rest. */
MD_APART void md_take_up(mdyn_sim *sim, md_scale e, enum md_wish wish, int started)
{
    md_num cost = MD_K(0);
    int k;
    md_turn(sim);
    md_satisfy(sim, e, wish);
    for (k = md_exacts(sim); k < sim->lives; k++) {
        md_row *row = md_live_row(sim, k);
        if (!row->active) continue;
        cost = md_add(cost, md_begin_row(sim, row, e, wish, started ? row->start : MD_K(0)));
    }
    for (k = md_exacts(sim); MIMICDYN_WARM && md_less(MD_K(0), cost) && k < sim->lives; k++) {
        md_row *row = md_live_row(sim, k);
        row->u_start = MD_U(0);
        if (row->active) md_set_impulse(sim, row, MD_U(0));
    }
}

/* All of it once more for another wish, in a block that is coarser by `room`. */
MD_STATIC void md_begin_again(mdyn_sim *sim, md_scale e, md_scale room, enum md_wish wish)
{
    int k;
    md_copy_units(sim->du, sim->start, sim->dofs, room);
    for (k = sim->dofs; k < sim->dofs + sim->rows; k++) sim->du[k] = MD_U(0);
    md_take_up(sim, e, wish, 1);
    md_sweep_all(sim, MD_STEP, e, wish);
}

/* sim->shift += h times the speeds with the changes sim->z: the way of a substep. */
MD_APART void md_shift(mdyn_sim *sim)
{
    int k;
    for (k = 0; k < sim->dofs; k++) {
        md_num way = md_mul(sim->h, md_add(md_of_real(sim->v[k]), sim->z[k]));
        sim->shift[k] = sim->moved ? md_add(sim->shift[k], way) : way;
    }
    sim->moved = 1;
}

/* The impulses that the rows have without errors of position, into row->start; returns the scale
   of a block that holds what takes the errors back: they may ask for speeds far above those that
   stay. */
MD_APART md_scale md_part_ways(mdyn_sim *sim, md_scale e)
{
    md_scale coarse = e;
    int k;
    for (k = md_exacts(sim); k < sim->lives; k++) {
        md_row *row = md_live_row(sim, k);
        if (row->active) row->start = md_mul(row->scale, md_of_unit(row->u_start, e));
    }
    for (k = 0; k < sim->lives; k++)
        coarse = md_scale_with(coarse, md_row_need(sim, sim->live[k], MD_ALL_BACK), 0);
    return coarse;
}

/* What takes back errors of position, apart from the rest: its way goes into sim->shift, and all of
   it is solved once more without them for the speeds. Both solves are on the free motion
   sim->start, from the impulses that the rows had without errors. */
MD_INLINE void md_solve_apart(mdyn_sim *sim, md_scale e)
{
    const md_strain before = sim->strain;
    const int32_t sweeps = sim->sweeps;
    md_scale coarse = md_part_ways(sim, e);
    int tries = 0;
    do {
        md_strain_reset(&sim->strain, before);
        sim->sweeps = sweeps;
        md_begin_again(sim, coarse, (md_scale)(coarse - e), MD_ALL_BACK);
        coarse = (md_scale)(coarse + MD_HEADROOM);
    } while (md_is_strained(sim->strain) && !md_is_strained(before) && ++tries < MD_TRIES);
    md_shift(sim);
    md_round_starts(sim);
    md_begin_again(sim, e, 0, MD_SOFT_BACK);
}

/* The rows of sim->live, and those that wake, on the free motion sim->du of scale e. Where the next
   sweeps begin is kept before errors of position are taken back. */
MD_APART void md_solve_rows(mdyn_sim *sim, enum md_mode mode, md_scale e)
{
    const int relax = mode == MD_STEP && md_relaxes(sim);
    const int apart = relax || (mode == MD_STEP && md_is_warm(sim) && sim->hurried);
    const enum md_wish first = apart ? MD_NONE_BACK : MD_ALL_BACK;
    const int32_t from = sim->sweeps;
    int k, kept;
    if (relax) md_copy_units(sim->start, sim->du, sim->dofs, 0);
    md_take_up(sim, e, first, md_is_warm(sim));
    if (mode == MD_STEP) md_sweep_without_friction(sim, e);
    md_sweep_all(sim, mode, e, first);
    kept = apart || (md_is_warm(sim) && (sim->urged || (sim->hasty && sim->parting)));
    k = apart || !sim->hasty || !sim->parting ? md_exacts(sim) : sim->lives;
    for (; kept && k < sim->lives; k++)
        md_keep_start(sim, md_live_row(sim, k), sim->sweeps - from);
    if (relax && sim->parting) {
        md_solve_apart(sim, e);
    } else {
        if (apart && sim->parting) {
            md_aim_again(sim, e);
            md_sweep_all(sim, MD_STEP, e, MD_ALL_BACK);
            md_round_starts(sim);
        }
        if (relax || (mode == MD_STEP && md_substeps(sim) > 1)) md_shift(sim);
    }
    md_settle(sim, e, kept);
}

/* The free motion of one more substep: what moves so far, in whitened coordinates, with another
   share of the forces. */
MD_APART void md_go_on(mdyn_sim *sim, md_scale e)
{
    const md_strain before = sim->strain;
    md_scale least;
    int k;
    md_unturn(sim, sim->du);
    least = md_inward(sim, sim->u, sim->h, sim->y);
    sim->strain |= before;
    for (k = 0; k < sim->dofs; k++) {
        sim->du[k] = md_unit_add(sim->du[k], md_unit_shifted(sim->y[k], least - e));
        sim->strain |= md_strain_of(sim->du[k]);
    }
    for (; k < sim->dofs + sim->rows; k++) sim->du[k] = MD_U(0);
}

MD_INLINE uint8_t md_saturation(const md_row *row)
{
    return row->active && (!md_unit_less(row->u_least, row->u_lambda)
                           || !md_unit_less(row->u_lambda, row->u_most)) ? MDYN_ROW_SATURATED : 0;
}

/* The impulses of a substep added up, and what the rows ask of the next one; or, of the first one,
   when it has to begin anew (then its block is chosen anew too). */
MD_APART void md_next_part(mdyn_sim *sim, md_scale e, int anew)
{
    const enum md_wish wish = md_relaxes(sim) ? MD_SOFT_BACK : MD_ALL_BACK;
    int k;
    if (anew) sim->moved = sim->hasty = 0;
    for (k = 0; k < sim->lives; k++) {
        md_row *row = md_live_row(sim, k);
        row->sum = anew ? MD_K(0) : md_add(row->sum, row->impulse);
        if (anew) row->flags &= (uint8_t)~(MDYN_ROW_SATURATED | MDYN_ROW_CONTRADICTORY);
        else row->flags |= md_saturation(row);
        if (anew && MIMICDYN_WARM) row->start = sim->outcome[sim->live[k]].start;
        if (md_is_on_bodies(row)) {
            md_aim_bodies(sim, row);
        } else {
            md_row_terms(sim, row, &sim->terms);
            md_row_look(sim, row);
        }
        md_ask_row(sim, row, MD_STEP);
        if (!anew)
            sim->strain |= md_strain_of(md_unit_of(md_row_need(sim, sim->live[k], wish), e));
    }
}

/* One refinement of the hard exact rows (Wilkinson): by what the speed changes sim->z of a solve
   at scale `coarse` miss, in a block of its own small scale. sim->u and row->Jv are scratch. */
MD_APART void md_refine(mdyn_sim *sim, md_scale coarse)
{
    const enum md_wish wish = md_last_wish(sim);
    const md_strain before = sim->strain;
    md_scale e = MD_LEAST_SCALE;
    md_terms *t = &sim->terms;
    md_num low, miss;
    int k, j, shifted = 0, room = 0, tries = 0;
    for (k = 0; k < md_exacts(sim); k++)
        shifted |= md_live_row(sim, k)->flags & MDYN_ROW_CONTRADICTORY;
    for (k = 0; k < md_exacts(sim); k++) {
        md_row *row = md_live_row(sim, k);
        if (!row->turns) continue;
        low = md_wished_low(row, wish);
        miss = md_sub(low, row->Jv);
        t->count = 0;
        if (md_is_on_bodies(row)) miss = md_sub(miss, md_bodies_along(sim, row, sim->z));
        else md_row_terms(sim, row, t);
        for (j = 0; j < t->count; j++)
            miss = md_sub(miss, md_mul(t->number[j], sim->z[t->dof[j]]));
        miss = md_mul(row->scale, miss);
        if (shifted) /* to meet contradictions */
            miss = md_add(miss, md_of_unit(md_unit_sub(row->u_low, md_ask(row, low, coarse)),
                                           coarse));
        row->Jv = md_is_zero(row->cfm) ? miss : MD_K(0);
        e = md_scale_with(e, md_mul(row->Jv, row->inverse), 0);
    }
    for (k = 0; k < sim->dofs + sim->rows; k++) sim->du[k] = MD_U(0);
    do {
        md_strain_reset(&sim->strain, before);
        for (k = 0; k < md_exacts(sim); k++) {
            md_row *row = md_live_row(sim, k);
            if (row->turns) row->u_low = md_unit_of(row->Jv, e + room);
        }
        (void)md_substitute(sim);
        room += MD_HEADROOM;
    } while (md_is_strained(sim->strain) && ++tries < MD_TRIES);
    if (md_is_strained(sim->strain)) return;
    e = (md_scale)(e + room - MD_HEADROOM);
    for (k = 0; k < sim->dofs; k++) sim->u[k] = md_neg(sim->z[k]); /* no copy: that is memmove */
    md_turn_back(sim, e);
    for (k = 0; k < sim->dofs; k++) sim->z[k] = md_sub(sim->z[k], sim->u[k]);
}

/* The scale that holds what the rows need, beside a free motion of the scale `least`. */
MD_APART md_scale md_scale_of_rows(const mdyn_sim *sim, enum md_mode mode, md_scale least)
{
    const enum md_wish wish = mode == MD_STEP && md_relaxes(sim) ? MD_SOFT_BACK : MD_ALL_BACK;
    md_scale e = least, all = least;
    int k;
    for (k = 0; k < sim->lives; k++)
        e = md_scale_with(e, md_row_need(sim, sim->live[k], wish), 0);
    if (wish == MD_ALL_BACK || md_substeps(sim) <= 1) return e;
    /* what the way of a substep leaves to the springs in the next one: room can reach that */
    for (k = 0; k < sim->lives; k++)
        all = md_scale_with(all, md_row_need(sim, sim->live[k], MD_ALL_BACK), 0);
    return e < all - 4 * MD_HEADROOM ? (md_scale)(all - 4 * MD_HEADROOM) : e;
}

/* What the rows of a mode make of the forces sim->u; in MD_STEP their impulses of a step. The
   changes of speed go into sim->z. */
MD_STATIC int md_apply_rows(mdyn_sim *sim, enum md_mode mode)
{
    const int parts = mode == MD_STEP ? md_substeps(sim) : 1;
    md_scale e, least;
    int k, part, room = 0, tries = 0;
    k = md_prepare_rows(sim, mode);
    if (k != MDYN_OK) return k;
    if (mode == MD_STEP && sim->rows > sim->plain) md_prepare_friction(sim);
    do {
        if (mode == MD_STEP && tries > 0) md_next_part(sim, 0, 1);
        least = md_inward(sim, sim->u, mode == MD_STEP ? sim->h : MD_K(1), sim->du);
        e = (md_scale)(md_scale_of_rows(sim, mode, least) + room);
        md_copy_units(sim->du, sim->du, sim->dofs, e - least);
        for (k = sim->dofs; k < sim->dofs + sim->rows; k++) sim->du[k] = MD_U(0);
        sim->sweeps = 0;
        if (MIMICDYN_MAX_DANTZIG > 0) sim->pivots = sim->unsolved = sim->stuck = 0;
        for (part = 1; part < parts; part++) {
            md_solve_rows(sim, mode, e);
            md_next_part(sim, e, 0);
            md_go_on(sim, e);
        }
        md_solve_rows(sim, mode, e);
        room += MD_HEADROOM;
    } while (md_is_strained(sim->strain) && ++tries < MD_TRIES);
    if (md_is_strained(sim->strain)) return md_blame(sim, MDYN_ERR_OVERFLOW, -1);
    if (MD_REFINED && md_exacts(sim) > 0) md_refine(sim, e);
    return MDYN_OK;
}

/* A coupling and its loss are not there any more. */
MD_STATIC void md_let_go(mdyn_sim *sim, int i)
{
    int k;
    sim->off[i] = 1;
    for (k = 0; k < sim->rows; k++)
        if (md_row_at(sim, k)->kind <= MDYN_ROW_LOSS && md_row_at(sim, k)->index == i) {
            sim->outcome[k].start = MD_K(0);
            sim->outcome[k].hold = 0;
        }
}

MD_APART void md_report_rows(mdyn_sim *sim)
{
    const enum md_wish wish = md_last_wish(sim);
    const uint32_t step = ++sim->step;
    int k;
    sim->report.sweeps = (int16_t)(sim->sweeps < INT16_MAX ? sim->sweeps : INT16_MAX);
    if (MIMICDYN_MAX_DANTZIG > 0) {
        sim->report.pivots = (int16_t)(sim->pivots < INT16_MAX ? sim->pivots : INT16_MAX);
        sim->report.unsolved = sim->unsolved;
    }
    sim->report.residual = sim->residual;
    sim->report.redundant = sim->report.contradictory = sim->report.broken = 0;
    sim->hurried = sim->hasty & sim->parting;
    sim->report.entries = md_iterates(sim) && sim->entries < sim->plan_entries
        ? sim->plan_entries : (int16_t)sim->entries;
    for (k = 0; k < sim->rows && sim->skipping; k++) {
        sim->outcome[k].impulse = sim->outcome[k].start = MD_K(0);
        sim->outcome[k].hold = 0;
    }
    for (k = 0; k < sim->lives; k++) {
        const md_row *row = md_live_row(sim, k);
        md_outcome *o = &sim->outcome[sim->live[k]];
        int flags = row->flags | md_saturation(row);
        if (row->hold) flags |= row->hold > 0 ? MDYN_ROW_AT_LOWER : MDYN_ROW_AT_UPPER;
        o->step = step;
        o->flags = (uint8_t)flags;
        o->hold = row->hold;
        o->error = row->error;
        o->low = row->low;
        o->high = row->high;
        if (wish != MD_ALL_BACK) {
            o->low = md_wished_low(row, wish);
            o->high = md_wished_high(row, wish);
        }
        o->yielded = md_mul(row->cfm, row->impulse);
        o->impulse = md_add(row->sum, row->impulse);
        o->start = row->start;
        if (!flags) continue;
        sim->culprit.sticky |= o->flags;
        if (flags & MDYN_ROW_REDUNDANT) sim->report.redundant++;
        if (flags & MDYN_ROW_CONTRADICTORY) sim->report.contradictory++;
        if ((flags & MDYN_ROW_SATURATED) && row->kind == MDYN_ROW_COUPLING
            && !md_is_zero(o->impulse) && md_coupling_at(sim, row->index)->breaks) {
            md_let_go(sim, row->index);
            sim->culprit.sticky |= MDYN_ROW_RELEASED;
            sim->report.broken++;
        }
    }
}

/* The forces of a step into sim->u. */
MD_APART void md_begin_step(mdyn_sim *sim)
{
    int k;
    for (k = 0; k < sim->dofs; k++) {
        const mdyn_body *b = md_moved_body(sim, k);
        md_num f = md_command(sim, b, k);
        if (!md_is_null(b->damping))
            f = md_sub(f, md_mul(md_of_wide(b->damping), md_of_real(sim->v[k])));
        sim->u[k] = f;
    }
    md_bias_wrenches(sim);
    md_gather(sim, sim->u);
}

/* The state by the changes of speed sim->z, if it stays in range. */
MD_APART int md_end_step(mdyn_sim *sim)
{
    const int moved = md_has_moved(sim);
    const md_num *way = moved ? sim->shift : sim->u;
    int k, code;
    sim->moved = 0;
    if (!moved)
        for (k = 0; k < sim->dofs; k++)
            sim->u[k] = md_mul(sim->dt, md_add(md_of_real(sim->v[k]), sim->z[k]));
    code = md_check_motion(sim, sim->z, way);
    if (code != MDYN_OK) return code;
    md_hasten(sim, sim->z);
    if (MDYN_BODY_ROWS_ > 0 && sim->rows > sim->plain) md_report_bodies(sim);
    md_displace(sim, way, !moved);
    md_report_rows(sim);
    if (MIMICDYN_MAX_DANTZIG == 0 || !sim->unsolved) return MDYN_OK;
    return md_blame(sim, sim->stuck ? MDYN_WARN_NO_SOLUTION : MDYN_WARN_NOT_CONVERGED, -1);
}

MD_STATIC int md_step(mdyn_sim *sim)
{
    int code = md_check_targets(sim);
    if (code == MDYN_OK) code = md_ready_dynamics(sim, sim->dt);
    if (code == MDYN_ERR_SINGULAR) sim->culprit.sticky |= MDYN_SINGULAR;
    if (code != MDYN_OK) return code;
    md_begin_step(sim);
    code = md_apply_rows(sim, MD_STEP);
    if (code == MDYN_OK) code = md_end_step(sim);
    sim->moved = 0;
    return code;
}

/* Accelerations with the hard couplings holding, into sim->z. */
MD_STATIC int md_accelerate(mdyn_sim *sim)
{
    int code = md_ready_dynamics(sim, MD_K(0));
    if (code != MDYN_OK) return code;
    md_copy_in(sim->u, sim->tau, sim->dofs);
    md_bias_wrenches(sim);
    md_gather(sim, sim->u);
    return md_apply_rows(sim, MD_ACCELERATION);
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

#if MIMICDYN_TREE
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

/* u = L^-T e_i; returns its scale */
MD_STATIC md_scale md_unit_impulse(mdyn_sim *sim, int i, md_unit *u)
{
    int k;
    for (k = 0; k < sim->dofs; k++) sim->z[k] = k == i ? MD_K(1) : MD_K(0);
    return md_inward(sim, sim->z, MD_K(1), u);
}

#endif

/* Whether a coupling of positions cannot yield. */
MD_STATIC int md_coupling_is_firm(const mdyn_sim *sim, const mdyn_coupling *c)
{
    return c->level == MDYN_POSITION && md_softness_is_hard(&c->softness)
        && md_is_null(c->effort) && !md_has_mu(c) && !sim->off[c - sim->coupling];
}

/* A hard coupling of exactly two joints and without bounds ties their positions. */
MD_STATIC int md_coupling_ties(const mdyn_sim *sim, int i, md_terms *t)
{
    const mdyn_coupling *c = md_coupling_at(sim, i);
    if (!md_coupling_is_firm(sim, c) || !md_coupling_is_equality(c)) return 0;
    md_row_terms(sim, md_row_at(sim, i), t);
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
    const mdyn_coupling *c = md_coupling_at(sim, i);
    md_num x = MD_K(0), z = md_of_wide(c->offset), size = MD_K(0), part;
    md_terms t;
    int k;
    if (!md_coupling_is_firm(sim, c)) return;
    md_row_terms(sim, md_row_at(sim, i), &t);
    for (k = 0; k < t.count; k++) {
        md_num coefficient = t.number[k];
        if (!sim->mark[t.dof[k]]) return;
        part = md_mul(coefficient, sim->u[t.dof[k]]);
        x = md_add(x, part);
        size = md_add(size, md_abs(part));
        z = md_add(z, md_mul(coefficient, sim->z[t.dof[k]]));
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
            const mdyn_coupling *c = md_coupling_at(sim, i);
            md_num ratio;
            int from, to;
            if (!md_coupling_ties(sim, i, &t)) continue;
            from = sim->mark[t.dof[0]] ? 0 : 1;
            to = 1 - from;
            if (!sim->mark[t.dof[from]] || sim->mark[t.dof[to]]) continue;
            /* c_to q_to + c_from q_from + offset = lower */
            ratio = md_neg(md_div(t.number[from], t.number[to]));
            sim->u[t.dof[to]] = md_mul(ratio, sim->u[t.dof[from]]);
            sim->z[t.dof[to]] = md_sub(md_mul(ratio, sim->z[t.dof[from]]),
                md_div(md_sub(md_of_wide(c->offset), md_of_wide(c->lower)),
                       t.number[to]));
            sim->mark[t.dof[to]] = 1;
            found = 1;
        }
    *upper = MD_K(1e12);
    *lower = md_neg(*upper);
    for (k = 0; k < sim->dofs; k++) {
        const mdyn_body *b = md_moved_body(sim, k);
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

#if MIMICDYN_TREE
/* The rotation Q from the frame used inside to the body's, and which of its axes is the joint's:
   x, y or z as they stand; any other direction is turned into z. */
MD_STATIC int md_align(const mdyn_model *model, int body, md_mat *Q)
{
    const md_num zero = MD_K(0);
    md_vec axis;
    md_num x[3], largest = zero;
    int k;
    md_mat_of_quaternion(Q, MD_K(1), zero, zero, zero);
    if (body < 0 || md_joint_coordinates(model->bodies[body].joint) != 1) return 2;
    for (k = 0; k < 3; k++) {
        x[k] = md_of_wide((&model->bodies[body].axis.x)[k]);
        largest = md_max(largest, md_abs(x[k]));
    }
    for (k = 2; k >= 0; k--) /* all zero: z */
        if (md_is_zero(x[md_next_axis[k]]) && md_is_zero(x[md_next_axis[md_next_axis[k]]])
            && !md_less(x[k], zero)) return k;
    md_vec_set(&axis, md_div(x[0], largest), md_div(x[1], largest), md_div(x[2], largest));
    md_mat_of_axis(Q, &axis);
    return 2;
}

#endif /* MIMICDYN_TREE */

#if MDYN_BODY_ROWS_ > 0

/* From the axes of a body, or of the world, to those of the world. */
MD_STATIC void md_body_rotation(const mdyn_sim *sim, int body, md_mat *R)
{
    md_mat Q;
    md_align(sim->model, body, &Q);
    md_mat_transpose(&Q, &Q);
    if (body < 0) *R = Q;
    else md_mat_mul(R, &sim->pose[body].rotation, &Q);
}

/* A row on bodies without parts that asks for nothing, bounded by nothing. */
MD_STATIC md_body_row *md_clear_body_row(mdyn_sim *sim, int j, const mdyn_softness *softness)
{
    md_body_row *r = &sim->body_row[j];
    r->parts = 0;
    r->normal = -1;
    r->boundless = 0;
    r->level = MDYN_POSITION;
    r->softness = *softness;
    r->lower = r->upper = MDYN_C(0);
    r->value = r->speed = r->friction = r->drift = r->size = MD_K(0);
    r->least = MD_K(-1e30);
    r->most = MD_K(1e30);
    return r;
}

/* The wrench f on a body into a row; the world has no part in any. */
MD_STATIC void md_add_part(md_body_row *r, int body, int joint, const md_force *f)
{
    if (body < 0) return;
    r->body[r->parts] = (int16_t)body;
    r->joint[r->parts] = (uint8_t)joint;
    r->wrench[r->parts++] = *f;
}

/* Unit force along n at the arms from the origins of two bodies, or a unit moment (arm NULL), on a,
   and the opposite on b. */
MD_STATIC void md_add_pair(md_body_row *r, int a, int b, const md_vec *arm, const md_vec *n)
{
    md_force f;
    int side;
    for (side = 0; side < 2; side++) {
        f.ang = f.lin = *n;
        if (side) md_vec_scale(&f.ang, MD_K(-1), n);
        f.lin = f.ang;
        if (arm) md_cross(&f.ang, &arm[side], &f.lin);
        else md_vec_zero(&f.lin);
        md_add_part(r, side ? b : a, 0, &f);
    }
}

#endif

#if MIMICDYN_MAX_BODY_ROWS > 0

typedef struct md_loop { /* of a closure: a against b, world axes */
    md_mat R[2];       /* from the axes of the bodies */
    md_vec arm[2];     /* from their origins to the points */
    md_vec gap, acc;   /* from point b to point a; its acceleration without those of the joints */
    md_vec alpha;      /* the same of the angular velocity */
    md_num length;     /* of the ways whose difference the gap is */
} md_loop;

/* The gap comes from the ways to the body that both are carried by. */
MD_STATIC void md_measure_loop(const mdyn_sim *sim, const mdyn_closure *c, md_loop *l)
{
    int at[2], side;
    md_vec way[2], t;
    at[0] = c->a;
    at[1] = c->b;
    md_vec_zero(&l->acc);
    md_vec_zero(&l->alpha);
    for (side = 0; side < 2; side++) {
        const md_pose *p = at[side] < 0 ? NULL : &sim->pose[at[side]];
        md_num sign = side ? MD_K(-1) : MD_K(1);
        md_body_rotation(sim, at[side], &l->R[side]);
        md_vec_of_wide(&t, side ? &c->point_b : &c->point_a);
        md_mat_vec(&l->arm[side], &l->R[side], &t);
        way[side] = l->arm[side];
        if (!p) { /* a point of the world, in axes that fall */
            md_vec_of_wide(&t, &sim->model->gravity);
            md_vec_add_scaled(&l->acc, md_neg(sign), &t);
            continue;
        }
        md_mat_vec(&t, &p->spin, &l->arm[side]);
        md_vec_add(&t, &t, &p->acc);
        md_vec_add_scaled(&l->acc, sign, &t);
        md_vec_add_scaled(&l->alpha, sign, &p->alpha);
    }
    while (at[0] != at[1]) {
        side = at[1] > at[0];
        md_vec_add(&way[side], &way[side], &sim->pose[at[side]].arm);
        at[side] = sim->link[at[side]].parent;
    }
    md_vec_sub(&l->gap, &way[0], &way[1]);
    l->length = md_sqrt(md_add(md_dot(&way[0], &way[0]), md_dot(&way[1], &way[1])));
}

/* The row of a closure whose wrench is a pair along n; `arm` NULL: a moment. */
MD_STATIC md_body_row *md_close(mdyn_sim *sim, const mdyn_closure *c, const md_loop *l, int j,
                                const md_vec *arm, const md_vec *n, md_num value)
{
    md_body_row *r = md_clear_body_row(sim, j, &c->softness);
    md_num effort = md_of_wide(c->effort);
    md_add_pair(r, c->a, c->b, arm, n);
    r->value = value;
    r->size = arm ? l->length : MD_K(1);
    r->drift = md_dot(n, arm ? &l->acc : &l->alpha);
    r->boundless = (uint8_t)(md_is_zero(effort) && !(c->softness.kind == MDYN_KP_KD
        && md_is_null(c->softness.a) && md_is_null(c->softness.b)));
    if (md_is_zero(effort)) return r;
    r->most = effort;
    r->least = md_neg(effort);
    return r;
}

/* The two rows across a hinge's axis: n (z_b x z_a) for the directions n across z_b. */
MD_STATIC void md_close_hinge(mdyn_sim *sim, const mdyn_closure *c, const md_loop *l, int j)
{
    md_vec axis[2], n, lean, t, slip;
    md_mat F, B;
    int side, k;
    for (side = 0; side < 2; side++) {
        md_vec_of_wide(&axis[side], side ? &c->axis_b : &c->axis_a);
        if (md_is_zero(md_dot(&axis[side], &axis[side])))
            md_vec_set(&axis[side], MD_K(0), MD_K(0), MD_K(1));
        md_mat_of_axis(&F, &axis[side]);
        md_mat_mul(&B, &l->R[side], &F);
        md_mat_column(&axis[side], &B, 2);
    }
    md_cross(&lean, &axis[1], &axis[0]);
    md_vec_zero(&slip);
    if (c->a >= 0) slip = sim->pose[c->a].omega;
    if (c->b >= 0) md_vec_sub(&slip, &slip, &sim->pose[c->b].omega);
    for (k = 0; k < 2; k++) {
        md_body_row *r;
        md_mat_column(&n, &B, k);
        r = md_close(sim, c, l, j + k, NULL, &n, md_dot(&n, &lean));
        if (c->b < 0) continue;
        md_cross(&t, &sim->pose[c->b].omega, &n); /* n turns with b */
        r->drift = md_add(r->drift, md_dot(&t, &slip));
    }
}

/* The three rows that keep a weld from turning: twice the vector of the quaternion that is left
   between a and b, which for small turns is the turn and grows up to half a turn. */
MD_STATIC void md_close_weld(mdyn_sim *sim, const mdyn_closure *c, const md_loop *l, int j)
{
    const mdyn_wide4 *w = &c->rotation;
    md_num q[4], zero = MD_K(0), one = MD_K(1);
    md_mat F, B, left;
    md_vec e, n;
    int k, none = md_is_null(w->w) && md_is_null(w->x) && md_is_null(w->y) && md_is_null(w->z);
    md_mat_of_quaternion(&F, none ? one : md_of_wide(w->w), md_of_wide(w->x), md_of_wide(w->y),
                         md_of_wide(w->z));
    md_mat_mul(&B, &l->R[1], &F);
    md_mat_transpose(&B, &B);
    md_mat_mul(&left, &l->R[0], &B);
    md_quaternion_of_mat(q, &left);
    md_vec_set(&e, q[1], q[2], q[3]);
    md_vec_add(&e, &e, &e);
    for (k = 0; k < 3; k++) {
        md_vec_set(&n, k == 0 ? one : zero, k == 1 ? one : zero, k == 2 ? one : zero);
        md_close(sim, c, l, j + k, NULL, &n, md_vec_get(&e, k));
    }
}

/* The row that keeps two points apart, along the line between them; J' v = n acc + |across|^2/d. */
MD_STATIC void md_close_distance(mdyn_sim *sim, const mdyn_closure *c, const md_loop *l, int j)
{
    md_num square = md_dot(&l->gap, &l->gap), d, along;
    md_vec n, v, t;
    md_body_row *r;
    md_vec_set(&n, MD_K(0), MD_K(0), MD_K(1));
    d = md_sqrt(square);
    if (md_less(md_mul(MD_K(MD_AGREED), l->length), d))
        md_vec_scale(&n, md_div(MD_K(1), d), &l->gap);
    r = md_close(sim, c, l, j, l->arm, &n, md_sub(d, md_of_wide(c->distance)));
    if (!md_less(md_mul(MD_K(MD_AGREED), l->length), d)) return;
    md_vec_zero(&v);
    if (c->a >= 0) {
        md_origin_velocity(sim, c->a, &v);
        md_add_cross(&v, &sim->pose[c->a].omega, &l->arm[0]);
    }
    if (c->b >= 0) {
        md_origin_velocity(sim, c->b, &t);
        md_add_cross(&t, &sim->pose[c->b].omega, &l->arm[1]);
        md_vec_sub(&v, &v, &t);
    }
    along = md_dot(&n, &v);
    square = md_sub(md_dot(&v, &v), md_mul(along, along));
    r->drift = md_add(r->drift, md_div(square, d));
}

/* The rows of closure i from j on; returns the next free one. */
MD_STATIC int md_update_closure(mdyn_sim *sim, int i, int j)
{
    const mdyn_closure *c = &sim->model->closures[i];
    const md_num zero = MD_K(0), one = MD_K(1);
    md_loop l;
    md_vec n;
    int k;
    md_measure_loop(sim, c, &l);
    if (c->kind == MDYN_CLOSE_DISTANCE) {
        md_close_distance(sim, c, &l, j);
        return j + 1;
    }
    for (k = 0; k < 3; k++) {
        md_vec_set(&n, k == 0 ? one : zero, k == 1 ? one : zero, k == 2 ? one : zero);
        md_close(sim, c, &l, j + k, l.arm, &n, md_vec_get(&l.gap, k));
    }
    if (c->kind == MDYN_CLOSE_HINGE) md_close_hinge(sim, c, &l, j + 3);
    if (c->kind == MDYN_CLOSE_WELD) md_close_weld(sim, c, &l, j + 3);
    return j + md_closure_rows(c->kind);
}

/* Own row i as row j on bodies; rows from `base` on are own rows. */
MD_STATIC void md_take_own_row(mdyn_sim *sim, const mdyn_body_row *own, int j, int base)
{
    md_body_row *r = md_clear_body_row(sim, j, &own->softness);
    int k;
    r->value = md_of_wide(own->value);
    r->size = md_abs(r->value);
    r->speed = md_of_wide(own->speed);
    r->level = (uint8_t)own->level;
    r->lower = own->lower;
    r->upper = own->upper;
    for (k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        const mdyn_part *part = &own->parts[k];
        md_force f;
        md_mat R;
        md_vec_of_wide(&f.ang, &part->angular);
        md_vec_of_wide(&f.lin, &part->linear);
        if (md_is_zero(md_dot(&f.ang, &f.ang)) && md_is_zero(md_dot(&f.lin, &f.lin))) continue;
        if (part->axes == MDYN_BODY_AXES) {
            md_body_rotation(sim, part->body, &R);
            md_mat_vec(&f.ang, &R, &f.ang);
            md_mat_vec(&f.lin, &R, &f.lin);
        }
        md_add_part(r, part->body, part->axes == MDYN_JOINT_SPEEDS, &f);
    }
    if (!md_is_null(own->friction)) {
        r->friction = md_of_wide(own->friction);
        r->normal = (int16_t)(sim->plain + base + own->normal);
        return;
    }
    r->boundless = (uint8_t)(md_is_null(own->least) && md_is_null(own->most)
        && !md_bodies_have_room(r) && !(own->softness.kind == MDYN_KP_KD
        && md_is_null(own->softness.a) && md_is_null(own->softness.b)));
    if (md_is_null(own->least) && md_is_null(own->most)) return;
    if (md_binds_below(own->least)) r->least = md_of_wide(own->least);
    if (md_binds_above(own->most)) r->most = md_of_wide(own->most);
}

/* The own rows, by their callback, from row j on. */
MD_STATIC int md_update_own_rows(mdyn_sim *sim, int j)
{
    const mdyn_model *m = sim->model;
    int i, code;
    size_t k;
    for (i = 0; i < m->row_count; i++) {
        mdyn_body_row row;
        for (k = 0; k < sizeof row; k++) ((unsigned char *)&row)[k] = 0;
        if (m->rows) row = m->rows[i];
        if (m->row_function) m->row_function(sim, i, &row, m->row_user);
        code = md_check_own_row(sim, &row, i, m->row_count, sim->bodies);
        if (code != MDYN_OK) return code;
        md_take_own_row(sim, &row, j + i, j);
    }
    for (i = 0; i < m->row_count; i++) { /* what bounds another is found with it, by sweeps */
        const int normal = sim->body_row[j + i].normal;
        if (normal < 0) continue;
        if (sim->body_row[normal - sim->plain].normal >= 0)
            return md_blame(sim, MDYN_ERR_BODY_ROW, i);
        sim->body_row[normal - sim->plain].boundless = 0;
    }
    return MDYN_OK;
}

#endif

#if MIMICDYN_MAX_CONTACTS > 0

/* The three rows of contact i. */
MD_STATIC void md_update_contact(mdyn_sim *sim, int i)
{
    static const mdyn_softness hard = MDYN_HARD(0);
    const md_contact *c = &sim->contact[i];
    const int j = sim->closed - sim->plain + 3 * i;
    md_vec arm[2];
    int k;
    arm[0] = arm[1] = c->point;
    for (k = 0; k < 2; k++) {
        md_vec origin;
        int body = k ? c->b : c->a;
        if (body < 0) continue;
        md_origin_position(sim, body, &origin);
        md_vec_sub(&arm[k], &arm[k], &origin);
    }
    for (k = 0; k < 3; k++) {
        md_body_row *r = md_clear_body_row(sim, j + k, k ? &hard : &c->softness);
        md_add_pair(r, c->a, c->b, arm, &c->way[k]);
        if (k) {
            r->level = MDYN_VELOCITY;
            r->normal = (int16_t)(sim->plain + j);
            r->friction = c->friction;
            continue;
        }
        r->value = md_neg(c->depth);
        r->upper = MDYN_UNLIMITED;
    }
}

#endif

#if MDYN_BODY_ROWS_ > 0

/* All rows on bodies as the state has them; for a step with the own ones and the contacts. */
MD_STATIC int md_update_bodies(mdyn_sim *sim, int step)
{
    int i, j = 0, code = md_refresh(sim);
    (void)step; (void)j;
#if MIMICDYN_MAX_BODY_ROWS > 0
    for (i = 0; i < sim->model->closure_count && code == MDYN_OK; i++)
        j = md_update_closure(sim, i, j);
    if (step && code == MDYN_OK) code = md_update_own_rows(sim, j);
#endif
#if MIMICDYN_MAX_CONTACTS > 0
    for (i = 0; i < sim->contacts && step && code == MDYN_OK; i++) md_update_contact(sim, i);
#endif
    for (i = sim->plain; i < sim->rows; i++)
        md_row_at(sim, i)->boundless = md_body_row_at(sim, md_row_at(sim, i))->boundless;
    return code;
}

/* Rows of closures and own ones, behind the others. */
MD_STATIC void md_build_body_rows(mdyn_sim *sim)
{
#if MIMICDYN_MAX_BODY_ROWS > 0
    int i, k;
    for (i = 0; i < sim->model->closure_count; i++)
        for (k = 0; k < md_closure_rows(sim->model->closures[i].kind); k++) {
            sim->row[sim->rows].kind = MDYN_ROW_CLOSURE;
            sim->row[sim->rows++].index = (int16_t)(6 * i + k);
        }
    for (i = 0; i < sim->model->row_count; i++) {
        sim->row[sim->rows].kind = MDYN_ROW_BODY;
        sim->row[sim->rows++].index = (int16_t)i;
    }
#endif
    sim->closed = sim->rows;
}

/* Takes the rows of contacts away. */
MD_STATIC void md_part(mdyn_sim *sim)
{
    sim->rows = sim->closed;
#if MIMICDYN_MAX_CONTACTS > 0
    sim->contacts = 0;
    sim->touched = 0;
#endif
}

/* What stands before a step: contacts of the step before are gone. */
MD_STATIC int md_open_step(mdyn_sim *sim)
{
#if MIMICDYN_MAX_CONTACTS > 0
    if (!sim->touched) md_part(sim);
#endif
    return sim->rows > sim->plain ? md_update_bodies(sim, 1) : MDYN_OK;
}

MD_INLINE void md_close_step(mdyn_sim *sim)
{
    (void)sim;
#if MIMICDYN_MAX_CONTACTS > 0
    sim->touched = 0;
#endif
}

#else

MD_INLINE int md_update_bodies(mdyn_sim *sim, int step) { (void)sim; (void)step; return MDYN_OK; }
MD_INLINE void md_build_body_rows(mdyn_sim *sim) { (void)sim; }
MD_INLINE void md_part(mdyn_sim *sim) { (void)sim; }
MD_INLINE int md_open_step(mdyn_sim *sim) { (void)sim; return MDYN_OK; }
MD_INLINE void md_close_step(mdyn_sim *sim) { (void)sim; }

#endif

#if MIMICDYN_TREE
/* Frames, mass and inertia of a body, in the axes used inside. */
MD_STATIC void md_shape_link(mdyn_sim *sim, int i)
{
    const mdyn_body *b = &sim->model->bodies[i];
    md_link *link = &sim->link[i];
    md_mat Q, P, t, R;
    md_vec c, p;
    md_sym own;
    md_num x[6];
    int k;
    for (k = link->dof; k < sim->dofs; k++) sim->dof[k].pitch = md_of_wide(b->pitch);
    k = md_quaternion_of(link);
    if (k >= 0) sim->q[k] = MDYN_R(1);

    link->axis = (uint8_t)md_align(sim->model, i, &Q);
    md_align(sim->model, b->parent, &P);
    md_mat_transpose(&P, &P);
    md_vec_of_wide(&p, &b->position);
    md_mat_vec(&link->position, &P, &p);
    for (k = 0; k < 4; k++) x[k] = md_of_wide((&b->rotation.w)[k]);
    if (md_are_null(&b->rotation.w, 4)) x[0] = MD_K(1);
    md_mat_of_quaternion(&R, x[0], x[1], x[2], x[3]);
    md_mat_mul(&t, &P, &R);
    md_mat_mul(&link->rotation, &t, &Q);
    link->upright = (uint8_t)md_mat_is_one(&link->rotation);

    md_mat_transpose(&Q, &Q);
    link->mass = md_of_wide(b->mass);
    md_vec_of_wide(&c, &b->com);
    md_mat_vec(&c, &Q, &c);
    md_vec_scale(&link->moment, link->mass, &c);
    for (k = 0; k < 6; k++) x[k] = md_of_wide((&b->inertia.xx)[k]);
    md_sym_set(&own, x);
    md_sym_turn(&link->inertia, &Q, &own);
    md_sym_add_shift(&link->inertia, &c, &link->moment); /* about the origin */
}
#else
MD_INLINE void md_shape_link(mdyn_sim *sim, int i) { (void)sim; (void)i; }
#endif

MD_STATIC void md_build_link(mdyn_sim *sim, int i)
{
    const mdyn_body *b = &sim->model->bodies[i];
    md_link *link = &sim->link[i];
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
        sim->dof[k].kind = (uint8_t)(b->joint == MDYN_PRISMATIC || k >= link->dof + 3 ? MD_LINEAR
            : b->joint == MDYN_HELICAL ? MD_SCREW : MD_ANGULAR);
    }
    md_shape_link(sim, i);
}

MD_STATIC void md_take_coupling(mdyn_sim *sim, int i, const mdyn_coupling *c)
{
    int k;
    sim->coupling[i] = *c;
    sim->coupling_terms[i] = 0;
    for (k = 0; k < MIMICDYN_MAX_TERMS; k++)
        if (!md_is_null(c->terms[k].coefficient)) sim->coupling_terms[i]++;
    sim->urged = sim->followers = 0;
    for (k = 0; (MIMICDYN_WARM || MIMICDYN_LOSSES) && k < sim->couplings; k++) {
        c = md_coupling_at(sim, k);
        if (md_has_efficiency(c) || md_has_mu(c)) sim->followers = 1;
        if (md_softness_is_hard(&c->softness) && (!md_is_null(c->speed)
            || (c->level == MDYN_VELOCITY && !(md_is_null(c->lower) && md_is_null(c->upper)))))
            sim->urged = 1;
    }
}

MD_STATIC void md_build_rows(mdyn_sim *sim)
{
    int kind, k;
    for (k = 0; k < sim->couplings; k++) {
        md_row_at(sim, k)->kind = MDYN_ROW_COUPLING;
        md_row_at(sim, k)->index = (int16_t)k;
    }
    for (k = 0; k < sim->couplings; k++) {
        if (!md_has_efficiency(md_coupling_at(sim, k))) continue;
        sim->row[sim->rows].kind = MDYN_ROW_LOSS;
        sim->row[sim->rows++].index = (int16_t)k;
    }
    for (kind = MDYN_ROW_DRIVE; kind <= MDYN_ROW_LIMIT; kind++)
        for (k = 0; k < sim->dofs; k++) {
            const mdyn_body *b = md_moved_body(sim, k);
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
        sim->up[k] = (int16_t)(k > sim->link[i].dof ? k - 1 : -1);
        while (sim->up[k] < 0 && sim->link[i].parent >= 0) {
            i = sim->link[i].parent;
            j = sim->link[i].dof + sim->link[i].dofs - 1;
            if (sim->link[i].dofs) sim->up[k] = (int16_t)j;
        }
        sim->path[k] = (int16_t)n;
        for (j = k; j >= 0; j = md_up(sim, j), n++)
            if (n < MIMICDYN_MAX_ENTRIES) sim->entry_at[n] = (int16_t)j;
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
    int k, mode, code, worst = MDYN_OK, index = -1;
    md_num lower, upper;
    if (!MIMICDYN_WARNINGS) return md_blame(sim, MDYN_OK, -1);
    for (mode = MD_PLACE; mode <= MD_HALT; mode++) {
        for (k = 0; k < sim->dofs; k++) sim->u[k] = MD_K(0);
        code = md_apply_rows(sim, (enum md_mode)mode);
        if (code != MDYN_OK) return code;
        for (k = 0; k < md_exacts(sim); k++) {
            int flags = md_is_on_bodies(md_live_row(sim, k)) ? 0 : md_live_row(sim, k)->flags;
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
    sim->h = sim->dt;
    if (md_substeps(sim) > 1) sim->h = md_div(sim->dt, md_of_int(md_substeps(sim)));
    sim->inverse_h = md_div(MD_K(1), sim->h);
    sim->bodies = (int16_t)model->body_count;
    sim->couplings = sim->rows = (int16_t)model->coupling_count;
    for (i = 0; i < model->coupling_count; i++) md_take_coupling(sim, i, &model->couplings[i]);
    for (i = 0; i < sim->bodies; i++) md_build_link(sim, i);
    md_build_rows(sim);
    sim->plain = sim->rows;
    md_kinematics(sim);
    code = md_plan_paths(sim);
    if (code == MDYN_OK) code = md_check_inertias(sim);
    if (code == MDYN_OK) code = md_plan(sim);
    if (code == MDYN_OK) code = md_check_couplings(sim);
    if (code < 0) return code;
    md_build_body_rows(sim);
    sim->step = 1; /* no row has taken part yet */
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
    md_part(sim);
    for (k = 0; k < sim->rows; k++) {
        sim->outcome[k].impulse = sim->outcome[k].start = MD_K(0);
        sim->outcome[k].hold = 0;
    }
    sim->step++; /* no row has taken part since */
    sim->hurried = 0;
    sim->culprit.sticky = 0;
    sim->stale = 1;
    return MDYN_OK;
}

/* The row of a kind and index; -1: none. */
MD_STATIC int md_find_row(const mdyn_sim *sim, mdyn_row_kind kind, int index)
{
    int k;
    for (k = 0; k < sim->rows; k++)
        if ((int)md_row_at(sim, k)->kind == (int)kind && md_row_at(sim, k)->index == index)
            return k;
    return -1;
}

/* Whether the plan of the rows holds for another coupling in the place of one: the same joints,
   as hard or soft as before; and if it is solved exactly without a private coordinate, the same
   ratios, for others could make it depend on the rows before it. */
MD_STATIC int md_coupling_fits(mdyn_sim *sim, int i, const mdyn_coupling *c)
{
    const mdyn_coupling *old = md_coupling_at(sim, i);
    mdyn_coupling kept = *old;
    int k, rank = md_row_rank(sim, md_row_at(sim, i)), fits;
    if (md_has_mu(old) != md_has_mu(c) || (MIMICDYN_LOSSES && old->mu_of != c->mu_of)) return 0;
    for (k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        const mdyn_term *a = &old->terms[k], *b = &c->terms[k];
        if (md_is_null(a->coefficient) != md_is_null(b->coefficient)) return 0;
        if (!md_is_null(a->coefficient) && (a->body != b->body || a->axis != b->axis)) return 0;
        if (rank < MD_SOFT_RANK && !md_is_zero(md_sub(md_of_wide(a->coefficient),
                                                      md_of_wide(b->coefficient)))) return 0;
    }
    sim->coupling[i] = *c;
    fits = md_row_is_boundless(sim, md_row_at(sim, i)) == md_row_at(sim, i)->boundless
        && md_row_rank(sim, md_row_at(sim, i)) == rank;
    sim->coupling[i] = kept;
    return fits;
}

/* Another coupling in the place of one, released or not; the plan is made anew if it must be. */
MD_STATIC int md_replace_coupling(mdyn_sim *sim, int i, const mdyn_coupling *c, int off)
{
    const int was_off = sim->off[i];
    mdyn_coupling old;
    int code;
    if (MIMICDYN_EXACT) {
        if (sim->dropped == 0 && off == was_off && md_coupling_fits(sim, i, c)) {
            md_take_coupling(sim, i, c);
            return MDYN_OK;
        }
        code = md_refresh(sim);
        if (code == MDYN_OK) code = md_factor(sim, MD_K(0));
        if (code != MDYN_OK) return code;
    }
    old = sim->coupling[i];
    sim->off[i] = (uint8_t)off;
    md_take_coupling(sim, i, c);
    code = md_plan(sim);
    if (code == MDYN_OK) code = md_check_couplings(sim);
    if (code >= 0) return code;
    sim->off[i] = (uint8_t)was_off;
    md_take_coupling(sim, i, &old);
    (void)md_plan(sim); /* which had room before */
    return md_blame(sim, code, i);
}

MDYN_API int mdyn_set_coupling(mdyn_sim *sim, int coupling, const mdyn_coupling *c)
{
    int code;
    if (!md_is_ready(sim)) return md_unready(sim);
    if (!c) return md_blame(sim, MDYN_ERR_NULL, coupling);
    if (coupling < 0 || coupling >= sim->couplings) return md_blame(sim, MDYN_ERR_INDEX, coupling);
    code = md_check_coupling(sim->model, c, coupling);
    if (code != MDYN_OK) return md_blame(sim, code, coupling);
    if (md_has_efficiency(c) && !md_has_efficiency(md_coupling_at(sim, coupling))
        && md_find_row(sim, MDYN_ROW_LOSS, coupling) < 0)
        return md_blame(sim, MDYN_ERR_LOSS, coupling);
    return md_replace_coupling(sim, coupling, c, sim->off[coupling]);
}

MDYN_API int mdyn_engage(mdyn_sim *sim, int coupling, int on)
{
    mdyn_coupling c;
    md_num zero = MD_K(0), beyond, way = zero;
    int code, loss;
    if (!md_is_ready(sim)) return md_unready(sim);
    if (coupling < 0 || coupling >= sim->couplings) return md_blame(sim, MDYN_ERR_INDEX, coupling);
    code = md_refresh(sim);
    if (code != MDYN_OK) return code;
    c = sim->coupling[coupling];
    if (on && c.level == MDYN_POSITION) {
        md_row_terms(sim, md_row_at(sim, coupling), &sim->terms);
        md_row_position(sim, md_row_at(sim, coupling));
        beyond = md_beyond(sim, c.lower);
        if (md_less(beyond, zero) && md_binds_below(c.lower)) way = beyond;
        beyond = md_beyond(sim, c.upper);
        if (md_less(zero, beyond) && md_binds_above(c.upper)) way = beyond;
        c.offset = md_to_wide(md_sub(md_of_wide(c.offset), way));
        if (!md_is_usable(c.offset)) return md_blame(sim, MDYN_ERR_OVERFLOW, coupling);
    }
    code = md_replace_coupling(sim, coupling, &c, !on);
    if (code < 0) return code;
    md_let_go(sim, coupling);
    loss = md_find_row(sim, MDYN_ROW_LOSS, coupling);
    sim->outcome[coupling].impulse = sim->outcome[loss < 0 ? coupling : loss].impulse = zero;
    sim->off[coupling] = (uint8_t)!on;
    return code;
}

/* Leaders stay: each coupling in turn moves its first joint, until none has to be moved. */
MD_STATIC int md_follow(mdyn_sim *sim)
{
    int pass, i, k, moved = 1;
    const md_terms *t = &sim->terms;
    for (pass = 0; pass <= sim->couplings && moved; pass++) {
        for (moved = 0, i = 0; i < sim->couplings; i++) {
            md_row *row = md_row_at(sim, i);
            const mdyn_coupling *c = md_coupling_at(sim, i);
            md_num first, speed, way, slack;
            if (!md_row_is_held(sim, row, MD_HALT)) continue;
            md_row_terms(sim, row, &sim->terms);
            k = t->dof[0];
            slack = md_mul(MD_K(8 * MD_EPSILON), md_add(MD_K(1), md_abs(md_of_real(sim->v[k]))));
            first = t->number[0];
            speed = md_of_wide(c->speed);
            if (c->level == MDYN_VELOCITY) speed = md_add(speed, md_of_wide(c->lower));
            speed = md_div(md_sub(speed, md_row_speed(sim, row, t)), first);
            if (md_less(slack, md_abs(speed))) moved = 1;
            md_accumulate(&sim->v[k], &sim->v_tail[k], speed);
            if (!md_in_range(sim->v[k])) return md_blame(sim, MDYN_ERR_OVERFLOW, k);
            if (c->level == MDYN_VELOCITY) continue;
            k = sim->link[sim->dof[k].body].coordinate;
            slack = md_mul(MD_K(8 * MD_EPSILON), md_add(MD_K(1), md_abs(md_of_real(sim->q[k]))));
            md_row_position(sim, row);
            way = md_neg(md_div(md_beyond(sim, c->lower), first));
            if (md_less(slack, md_abs(way))) moved = 1;
            md_accumulate(&sim->q[k], &sim->q_tail[k], way);
            if (!md_in_range(sim->q[k])) return md_blame(sim, MDYN_ERR_OVERFLOW, k);
        }
    }
    return moved ? md_blame(sim, MDYN_WARN_CONTRADICTION, -1) : MDYN_OK;
}

/* Whether rows of a solve contradict others, or the sweeps did not suffice. */
MD_STATIC int md_is_open(const mdyn_sim *sim)
{
    int k, open = !MIMICDYN_EXACT && sim->hasty;
    for (k = 0; k < md_exacts(sim); k++)
        open |= md_live_row(sim, k)->flags & MDYN_ROW_CONTRADICTORY;
    return open;
}

/* The shortest way in the metric of M, first tried, then taken. */
MD_STATIC int md_project(mdyn_sim *sim)
{
    int commit, k, halt, open = 0, code = md_ready_dynamics(sim, MD_K(0));
    for (commit = 0; commit < 2; commit++)
        for (halt = 0; halt < 2 && code == MDYN_OK; halt++) {
            for (k = 0; k < sim->dofs; k++) sim->u[k] = MD_K(0);
            code = md_apply_rows(sim, halt ? MD_HALT : MD_PLACE);
            if (code != MDYN_OK) break;
            open |= md_is_open(sim);
            if (!commit) code = md_check_motion(sim, halt ? sim->z : NULL, halt ? NULL : sim->z);
            else if (halt) md_hasten(sim, sim->z);
            else md_displace(sim, sim->z, 0);
        }
    if (code != MDYN_OK) return code;
    return open ? md_blame(sim, MDYN_WARN_CONTRADICTION, -1) : MDYN_OK;
}

#if MIMICDYN_MAX_BODY_ROWS > 0

MD_NOINLINE void md_copy_tails(md_tail *MD_RESTRICT to, const md_tail *MD_RESTRICT from, int n)
{
    int k;
    for (k = 0; k < n; k++) to[k] = from[k];
}

/* Keeps the state, or takes the kept one back. */
MD_STATIC void md_keep(mdyn_sim *sim, int back)
{
    const int n = sim->coordinates, m = sim->dofs;
    md_copy(back ? sim->q : sim->q_kept, back ? sim->q_kept : sim->q, n);
    md_copy(back ? sim->v : sim->v_kept, back ? sim->v_kept : sim->v, m);
    md_copy_tails(back ? sim->q_tail : sim->q_tail_kept, back ? sim->q_tail_kept : sim->q_tail, n);
    md_copy_tails(back ? sim->v_tail : sim->v_tail_kept, back ? sim->v_tail_kept : sim->v_tail, m);
    if (!back) return;
    md_copy(sim->q_seen, sim->q, sim->coordinates);
    md_copy(sim->v_seen, sim->v, sim->dofs);
    sim->stale = 1;
}

/* What the rows of a mode make of a body at rest, in sim->z. */
MD_STATIC int md_correct(mdyn_sim *sim, enum md_mode mode)
{
    int k, code = md_update_bodies(sim, 0);
    if (code == MDYN_OK) code = md_factor(sim, MD_K(0));
    for (k = 0; k < sim->dofs; k++) sim->u[k] = MD_K(0);
    return code == MDYN_OK ? md_apply_rows(sim, mode) : code;
}

/* The largest error of the rows of a solve; *open is set if one of a closure is more than rounding,
   or a coupling contradicts. */
MD_STATIC md_num md_largest_error(const mdyn_sim *sim, int *open)
{
    md_num worst = MD_K(0);
    int k;
    *open = md_is_open(sim);
    for (k = 0; k < sim->lives; k++) {
        const md_row *row = md_live_row(sim, k);
        md_num slack = MD_K(0);
        worst = md_max(worst, md_abs(row->error));
        if (md_is_on_bodies(row))
            slack = md_mul(MD_K(MD_AGREED), md_body_row_at(sim, row)->size);
        if (md_is_on_bodies(row) && md_less(slack, md_abs(row->error))) *open = 1;
    }
    return worst;
}

/* Closures are not linear: Newton's steps in the metric of M, none of which turns a joint by more
   than 0.3, until they do not halve the error any more: once, of closed loops; ten times, of open
   ones. At most 100 steps. */
MD_STATIC int md_project_loops(mdyn_sim *sim)
{
    md_num worst, last = MD_K(1e30), turn, part;
    int pass, k, open = 0, stalls = 0, code = md_check_inputs(sim);
    if (code == MDYN_OK) code = md_refresh(sim);
    if (code != MDYN_OK) return code;
    md_keep(sim, 0);
    for (pass = 0; pass < 100; pass++) {
        code = md_correct(sim, MD_PLACE);
        if (code != MDYN_OK) break;
        worst = md_largest_error(sim, &open);
        if (!md_less(worst, md_mul(MD_K(0.5), last)) && (!open || ++stalls == 10)) break;
        turn = MD_K(0);
        for (k = 0; k < sim->dofs; k++)
            if (sim->dof[k].kind != MD_LINEAR) turn = md_max(turn, md_abs(sim->z[k]));
        last = worst;
        if (md_less(MD_K(0.3), turn)) {
            part = md_div(MD_K(0.3), turn);
            for (k = 0; k < sim->dofs; k++) sim->z[k] = md_mul(part, sim->z[k]);
            last = MD_K(1e30); /* what is left of the error says nothing yet */
        }
        code = md_check_motion(sim, NULL, sim->z);
        if (code != MDYN_OK) break;
        md_displace(sim, sim->z, 0);
    }
    if (code == MDYN_OK) code = md_correct(sim, MD_HALT);
    if (code == MDYN_OK) code = md_check_motion(sim, sim->z, NULL);
    if (code != MDYN_OK) {
        md_keep(sim, 1);
        return code;
    }
    md_hasten(sim, sim->z);
    return open ? md_blame(sim, MDYN_WARN_CONTRADICTION, -1) : MDYN_OK;
}

#endif

MDYN_API int mdyn_project(mdyn_sim *sim, mdyn_metric metric)
{
    int k, c, code;
    if (!md_is_ready(sim)) return md_unready(sim);
#if MIMICDYN_MAX_BODY_ROWS > 0
    if (metric == MDYN_MASS_METRIC && sim->model->closure_count > 0) return md_project_loops(sim);
#endif
    if (metric == MDYN_MASS_METRIC) {
        code = md_project(sim);
        if (!MIMICDYN_EXACT && code == MDYN_OK) (void)md_project(sim); /* what rounding left */
        return code;
    }
    if (metric != MDYN_FOLLOWERS) return md_blame(sim, MDYN_ERR_INDEX, -1);
    code = md_refresh(sim);
    if (code != MDYN_OK) return code;
    for (k = 0; k < sim->dofs; k++) { /* only joints of one coordinate are moved */
        c = sim->dof[k].coordinate;
        sim->u[k] = md_of_tail(c < 0 ? 0 : sim->q_tail[c]);
        sim->z[k] = md_of_tail(sim->v_tail[k]);
    }
    code = md_follow(sim);
    if (code < 0) {
        md_copy(sim->q, sim->q_seen, sim->coordinates);
        md_copy(sim->v, sim->v_seen, sim->dofs);
        for (k = 0; k < sim->dofs; k++) {
            c = sim->dof[k].coordinate;
            if (c >= 0) sim->q_tail[c] = md_to_tail(sim->u[k]);
            sim->v_tail[k] = md_to_tail(sim->z[k]);
        }
        return code;
    }
    md_copy(sim->q_seen, sim->q, sim->coordinates);
    md_copy(sim->v_seen, sim->v, sim->dofs);
    sim->stale = 1;
    return code;
}

#if MIMICDYN_MAX_CONTACTS > 0
MD_STATIC int md_check_contact(mdyn_sim *sim, const mdyn_contact *c, int i)
{
    if (!md_in_range(c->point.x) || !md_in_range(c->point.y) || !md_in_range(c->point.z)
        || !md_in_range(c->normal.x) || !md_in_range(c->normal.y) || !md_in_range(c->normal.z)
        || !md_in_range(c->depth)) return md_blame(sim, MDYN_ERR_STATE, i);
    if (!md_is_usable(c->friction) || !md_is_usable(c->softness.a) || !md_is_usable(c->softness.b))
        return md_blame(sim, MDYN_ERR_NOT_FINITE, i);
    if (c->a < MDYN_WORLD || c->a >= sim->bodies || c->b < MDYN_WORLD || c->b >= sim->bodies
        || c->a == c->b || md_is_negative(c->friction)
        || md_less(md_max(md_max(md_abs(md_of_real(c->normal.x)), md_abs(md_of_real(c->normal.y))),
                          md_abs(md_of_real(c->normal.z))), MD_K(1e-6)))
        return md_blame(sim, MDYN_ERR_CONTACT, i);
    return md_softness_is_valid(&c->softness) ? MDYN_OK : md_blame(sim, MDYN_ERR_SOFTNESS, i);
}

/* Contact i, and its rows; they begin at the impulse of the same contact before, if there was. */
MD_STATIC void md_take_contact(mdyn_sim *sim, const mdyn_contact *c, int i, int before)
{
    md_contact *to = &sim->contact[i];
    const md_touch *touch = sim->touch;
    md_vec n;
    md_mat F;
    int j, k;
    to->a = c->a;
    to->b = c->b;
    to->key = c->key;
    to->softness = c->softness;
    to->depth = md_of_real(c->depth);
    to->friction = md_of_wide(c->friction);
    md_vec_of_real(&to->point, &c->point);
    md_vec_of_real(&n, &c->normal);
    md_mat_of_axis(&F, &n);
    for (j = 0; j < before; j++)
        if (touch[j].a == c->a && touch[j].b == c->b && touch[j].key == c->key) break;
    for (k = 0; k < 3; k++) {
        const int row = sim->closed + 3 * i + k;
        md_outcome *o = &sim->outcome[row];
        md_mat_column(&to->way[k], &F, (k + 2) % 3);
        md_row_at(sim, row)->kind = MDYN_ROW_CONTACT;
        md_row_at(sim, row)->index = (int16_t)(3 * i + k);
        o->error = o->low = o->high = o->yielded = MD_K(0);
        o->flags = 0;
        o->step = sim->step - 1;
        o->hold = 0;
        o->start = j < before ? md_dot(&touch[j].impulse, &to->way[k]) : MD_K(0);
        o->impulse = MD_K(0);
    }
}

MD_STATIC int md_set_contacts(mdyn_sim *sim, const mdyn_contact *contacts, int count)
{
    const int before = sim->contacts;
    int i, k, code;
    if (sim->closed + 3 * count > MIMICDYN_MAX_ROWS)
        return md_blame(sim, MDYN_ERR_CAPACITY_ROWS, -1);
    for (i = 0; i < count; i++) {
        code = md_check_contact(sim, &contacts[i], i);
        if (code != MDYN_OK) return code;
    }
    for (i = 0; i < before; i++) {
        const md_contact *c = &sim->contact[i];
        md_touch *t = &sim->touch[i];
        t->a = c->a;
        t->b = c->b;
        t->key = c->key;
        md_vec_zero(&t->impulse);
        for (k = 0; k < 3; k++)
            md_vec_add_scaled(&t->impulse, sim->outcome[sim->closed + 3 * i + k].start,
                              &c->way[k]);
    }
    for (i = 0; i < count; i++) md_take_contact(sim, &contacts[i], i, before);
    sim->contacts = (int16_t)count;
    sim->rows = (int16_t)(sim->closed + 3 * count);
    sim->touched = 1;
    return MDYN_OK;
}
#endif

MDYN_API int mdyn_set_contacts(mdyn_sim *sim, const mdyn_contact *contacts, int count)
{
    if (!md_is_ready(sim)) return md_unready(sim);
    if (count < 0 || count > MIMICDYN_MAX_CONTACTS)
        return md_blame(sim, MDYN_ERR_CAPACITY_BODY_ROWS, -1);
    if (count > 0 && !contacts) return md_blame(sim, MDYN_ERR_NULL, -1);
#if MIMICDYN_MAX_CONTACTS > 0
    return md_set_contacts(sim, contacts, count);
#else
    return MDYN_OK;
#endif
}

MDYN_API int mdyn_step(mdyn_sim *sim)
{
    int code;
    if (!md_is_ready(sim)) return md_unready(sim);
    code = md_open_step(sim);
    if (code == MDYN_OK) code = md_step(sim);
    if (code >= 0) md_close_step(sim);
    return code;
}

/* Whether a result is one; what is beyond is as good as infinite in every scalar. */
MD_INLINE int md_is_result(md_num x) { return md_less(md_abs(x), MD_K(1e30)); }

MDYN_API int mdyn_row(const mdyn_sim *sim, mdyn_row_kind kind, int index, mdyn_row_report *report)
{
    int k, live;
    md_terms t;
    md_num speed, given, force, power, residual = MD_K(0);
    const md_outcome *o;
    if (!md_is_ready(sim)) return md_unready(sim);
    if (!report) return MDYN_ERR_NULL;
    k = md_find_row(sim, kind, index);
    if (k < 0) return MDYN_ERR_INDEX;
    o = &sim->outcome[k];
    if (md_is_on_bodies(md_row_at(sim, k))) {
        speed = md_bodies_speed(sim, md_row_at(sim, k));
    } else {
        md_row_terms(sim, md_row_at(sim, k), &t);
        speed = md_row_speed(sim, md_row_at(sim, k), &t);
    }
    given = md_add(speed, o->yielded);
    force = md_mul(sim->inverse_dt, o->impulse);
    live = o->step == sim->step;
    if (live && md_less(given, o->low)) residual = md_sub(given, o->low);
    if (live && md_less(o->high, given)) residual = md_sub(given, o->high);
    power = md_mul(force, speed);
    if (!md_is_result(speed) || !md_is_result(force) || !md_is_result(power)
        || !md_is_result(residual)) return MDYN_ERR_OVERFLOW;
    report->impulse = md_to_wide(o->impulse);
    report->force = md_to_wide(force);
    report->power = md_to_wide(power);
    report->error = md_to_wide(live ? o->error : MD_K(0));
    report->speed = md_to_wide(speed);
    report->residual = md_to_wide(residual);
    report->flags = live ? o->flags : 0;
    if (md_row_is_off(sim, md_row_at(sim, k))) report->flags |= MDYN_ROW_RELEASED;
    return MDYN_OK;
}

MDYN_API int mdyn_share(const mdyn_sim *sim, int coupling, int term, mdyn_wide *force)
{
    md_num f;
    int k, loss;
    if (!md_is_ready(sim)) return md_unready(sim);
    if (!force) return MDYN_ERR_NULL;
    if (coupling < 0 || coupling >= sim->couplings || term < 0 || term >= MIMICDYN_MAX_TERMS)
        return MDYN_ERR_INDEX;
    f = sim->outcome[coupling].impulse;
    if (md_has_efficiency(md_coupling_at(sim, coupling))) {
        loss = md_find_row(sim, MDYN_ROW_LOSS, coupling);
        for (k = 0; md_is_null(md_coupling_at(sim, coupling)->terms[k].coefficient);) k++;
        f = md_add(f, md_mul(k == term ? MD_K(0.5) : MD_K(-0.5), sim->outcome[loss].impulse));
    }
    f = md_mul(sim->inverse_dt, f);
    f = md_mul(f, md_of_wide(md_coupling_at(sim, coupling)->terms[term].coefficient));
    if (!md_is_result(f)) return MDYN_ERR_OVERFLOW;
    *force = md_to_wide(f);
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

MDYN_API mdyn_real mdyn_real_of(mdyn_wide x) { return md_nearest_real(x); }
MDYN_API mdyn_wide mdyn_wide_of(mdyn_real x) { return md_to_wide(md_of_real(x)); }

MDYN_API mdyn_real mdyn_of_counts(int32_t counts, mdyn_wide unit)
{
    return md_counts(counts, unit);
}

MDYN_API int32_t mdyn_to_counts(mdyn_real x, mdyn_wide unit)
{
    if (md_is_null(unit)) return 0;
    return md_to_int(md_div(md_of_real(x), md_of_wide(unit)));
}

MDYN_API int32_t mdyn_unwrap(int32_t before, uint32_t raw, int bits)
{
    uint32_t half, step;
    if (bits < 1 || bits > 32) return before;
    half = (uint32_t)1 << (bits - 1);
    step = (raw - (uint32_t)before + half) & (half * 2 - 1);
    return (int32_t)((uint32_t)before + step - half);
}

MDYN_API mdyn_real mdyn_nearest_angle(mdyn_real angle, mdyn_real reference)
{
    /* a turn in two parts: products of the first with 12 bits are exact */
    const mdyn_wide turn = MDYN_C(-6.28125), rest = MDYN_C(-0.0019353071795864769);
    mdyn_real turns, nearest = 0;
    md_tail tail = 0;
    md_sum s;
    md_num way = md_sub(md_of_real(angle), md_of_real(reference));
    turns = md_whole(md_mul(way, MD_K(0.15915494309189535)));
    md_sum_of(&s, angle, 0);
    md_sum_product(&s, turn, turns, 0);
    md_sum_product(&s, rest, turns, 0);
    md_accumulate(&nearest, &tail, md_sum_value(&s));
    return nearest;
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
        md_say_named(t, ", erp ", md_softness_has_erp(s) ? a : MD_K(0.2), "");
        if (!md_softness_is_hard(s))
            md_say_named(t, s->kind == MDYN_ODE_CFM ? ", CFM of the force " : ", cfm ", b, "");
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
        md_num x = terms->number[k], size = md_abs(x);
        md_say(t, md_less(x, MD_K(0)) ? (k ? " - " : "-") : k ? " + " : "");
        if (md_less(size, one) || md_less(one, size)) md_say_named(t, "", size, " ");
        md_say_joint(t, sim, velocity ? "v" : "q", terms->dof[k]);
    }
    if (velocity) {
        md_num speed = md_of_wide(c->speed);
        if (equality) md_say_named(t, " = ", md_add(speed, lower), "");
        else if (!md_is_zero(speed)) md_say_named(t, " - (", speed, ")");
        if (!equality && md_binds_above(c->upper))
            md_say_named(t, " <= ", md_of_wide(c->upper), "");
    } else {
        if (!md_is_zero(offset))
            md_say_named(t, md_less(offset, MD_K(0)) ? " - " : " + ", md_abs(offset), "");
        if (equality) md_say_named(t, " = ", lower, "");
        else if (md_wide_less(c->upper, MDYN_C(1e12)))
            md_say_named(t, " <= ", md_of_wide(c->upper), "");
    }
    md_say(t, " [");
    md_say(t, unit);
    md_say(t, velocity ? "]/s" : "]");
    md_say_softness(t, &c->softness);
    if (!velocity && !md_is_null(c->speed)) md_say_named(t, ", speed ", md_of_wide(c->speed), "");
    if (!md_is_null(c->effort))
        md_say_named(t, ", |force| <= ", md_of_wide(c->effort), c->breaks ? " or it breaks" : "");
    if (!md_is_null(c->mu)) {
        md_say_named(t, ", |force| <= ", md_of_wide(c->mu), " |force of coupling ");
        md_say_int(t, c->mu_of);
        md_say(t, "|");
    }
}

#if MDYN_BODY_ROWS_ > 0

/* name or index of a body */
MD_STATIC void md_say_body(md_text *t, const mdyn_sim *sim, int body)
{
    const char *name = body < 0 ? "world" : sim->model->bodies[body].name;
    if (name) md_say(t, name);
    else md_say_int(t, body);
}

/* What stands between the two bodies of a closure or contact. */
MD_STATIC void md_say_pair(md_text *t, const mdyn_sim *sim, const char *what, int a, int b)
{
    md_say(t, what);
    md_say_body(t, sim, a);
    md_say(t, " and ");
    md_say_body(t, sim, b);
}

MD_STATIC void md_say_closure(md_text *t, const mdyn_sim *sim, int index)
{
    static const char ways[][14] = { ", along x", ", along y", ", along z", ", about x",
                                     ", about y", ", about z" };
    const mdyn_closure *c = &sim->model->closures[index / 6];
    int k = index % 6, hinge = c->kind == MDYN_CLOSE_HINGE && k > 2;
    if (c->name) {
        md_say(t, " ");
        md_say(t, c->name);
    }
    md_say(t, ": ");
    if (c->kind == MDYN_CLOSE_DISTANCE) {
        md_say_pair(t, sim, "distance of ", c->a, c->b);
        md_say_named(t, " = ", md_of_wide(c->distance), " [m]");
    } else {
        md_say_pair(t, sim, k < 3 ? "gap of " : hinge ? "lean of the axes of " : "turn of ",
                    c->a, c->b);
        md_say(t, hinge ? k == 3 ? ", first" : ", second" : ways[k]);
        md_say(t, k < 3 ? " = 0 [m]" : " = 0 [rad]");
    }
    md_say_softness(t, &c->softness);
    if (!md_is_null(c->effort)) md_say_named(t, ", |force| <= ", md_of_wide(c->effort), "");
}

MD_STATIC void md_say_own_row(md_text *t, const mdyn_sim *sim, int index, const md_body_row *r)
{
    const mdyn_body_row *own = sim->model->rows ? &sim->model->rows[index] : NULL;
    const int range = md_bodies_have_room(r);
    int k;
    if (own && own->name) {
        md_say(t, " ");
        md_say(t, own->name);
    }
    md_say(t, ": row on ");
    for (k = 0; k < r->parts; k++) {
        if (k) md_say(t, ", ");
        md_say_body(t, sim, r->body[k]);
    }
    if (r->parts == 0) md_say(t, "nothing");
    if (r->level != MDYN_VELOCITY) md_say_named(t, "; C ", r->value, "");
    if (r->level == MDYN_VELOCITY || !range) md_say_named(t, "; speed ", r->speed, "");
    if (range && md_binds_below(r->lower)) md_say_named(t, ", from ", md_of_wide(r->lower), "");
    if (range && md_binds_above(r->upper)) md_say_named(t, ", to ", md_of_wide(r->upper), "");
    md_say_softness(t, &r->softness);
    if (r->normal >= 0) {
        md_say_named(t, ", |force| <= ", r->friction, " |force of row ");
        md_say_int(t, sim->row[r->normal].index);
        md_say(t, "|");
        return;
    }
    if (md_less(MD_K(-1e29), r->least)) md_say_named(t, ", force >= ", r->least, "");
    if (md_less(r->most, MD_K(1e29))) md_say_named(t, ", force <= ", r->most, "");
}

MD_STATIC void md_say_contact(md_text *t, const mdyn_sim *sim, const md_row *row)
{
#if MIMICDYN_MAX_CONTACTS > 0
    const md_contact *c = &sim->contact[row->index / 3];
    if (row->index % 3 == 0) {
        md_say_pair(t, sim, ": gap of ", c->a, c->b);
        md_say(t, " >= 0 [m]");
        md_say_softness(t, &c->softness);
        return;
    }
    md_say_pair(t, sim, ": slip of ", c->a, c->b);
    md_say_named(t, " = 0 while |force| <= ", c->friction, " force of contact ");
    md_say_int(t, row->index - row->index % 3);
#else
    (void)t; (void)sim; (void)row;
#endif
}

/* A row on bodies behind its kind and index. */
MD_STATIC void md_say_bodies(md_text *t, const mdyn_sim *sim, const md_row *row)
{
    if (row->kind == MDYN_ROW_CLOSURE) md_say_closure(t, sim, row->index);
    else if (row->kind == MDYN_ROW_CONTACT) md_say_contact(t, sim, row);
    else md_say_own_row(t, sim, row->index, md_body_row_at(sim, row));
}

#else
MD_INLINE void md_say_bodies(md_text *t, const mdyn_sim *sim, const md_row *row)
{
    (void)t; (void)sim; (void)row;
}
#endif

MD_STATIC void md_say_row(md_text *t, const mdyn_sim *sim, const md_row *row)
{
    static const char names[][10] = { "coupling ", "loss ", "drive ", "friction ", "limit ",
                                      "closure ", "row ", "contact " };
    md_terms terms;
    const mdyn_body *b;
    md_say(t, names[row->kind]);
    md_say_int(t, row->index);
    if (md_is_on_bodies(row)) {
        md_say_bodies(t, sim, row);
        return;
    }
    md_row_terms(sim, row, &terms);
    if (row->kind == MDYN_ROW_COUPLING && md_coupling_at(sim, row->index)->name) {
        md_say(t, " ");
        md_say(t, md_coupling_at(sim, row->index)->name);
    }
    md_say(t, ": ");
    b = md_moved_body(sim, terms.dof[0]);
    if (row->kind == MDYN_ROW_COUPLING) {
        md_say_coupling(t, sim, md_coupling_at(sim, row->index), &terms);
        if (sim->off[row->index]) md_say(t, " (released)");
    } else if (row->kind == MDYN_ROW_LOSS) {
        md_say_named(t, "of the power that the coupling takes in, ",
                     md_of_wide(md_coupling_at(sim, row->index)->efficiency), " comes out");
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
        if (md_wide_less(MDYN_C(-1e12), b->lower))
            md_say_named(t, "", md_of_wide(b->lower), " <= ");
        md_say_joint(t, sim, "q", row->index);
        if (md_wide_less(b->upper, MDYN_C(1e12)))
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
    md_say_row(&t, sim, md_row_at(sim, k));
    if (t.used >= size) return md_blame(sim, MDYN_ERR_ROOM, index);
    t.size = size;
    t.used = 0;
    md_say_row(&t, sim, md_row_at(sim, k));
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

/* All results, or, if one of them is none, an error. */
MD_STATIC int md_give_out(mdyn_sim *sim, mdyn_wide *to, const md_num *from, int n)
{
    int k;
    for (k = 0; k < n; k++)
        if (!md_is_result(from[k])) return md_blame(sim, MDYN_ERR_OVERFLOW, k);
    for (k = 0; k < n; k++) to[k] = md_to_wide(from[k]);
    return MDYN_OK;
}

MDYN_API int mdyn_forward_dynamics(mdyn_sim *sim, mdyn_wide *a)
{
    int code = md_check_query(sim, 0, a, a);
    if (code == MDYN_OK) code = md_fall(sim);
    return code == MDYN_OK ? md_give_out(sim, a, sim->z, sim->dofs) : code;
}

MDYN_API int mdyn_coupled_dynamics(mdyn_sim *sim, mdyn_wide *a)
{
    int code = md_check_query(sim, 0, a, a);
    if (code == MDYN_OK && sim->rows > sim->plain) code = md_update_bodies(sim, 0);
    if (code == MDYN_OK) code = md_accelerate(sim);
    return code == MDYN_OK ? md_give_out(sim, a, sim->z, sim->dofs) : code;
}

#if MIMICDYN_TREE
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
    md_vec_of_real(&p, point);
    md_mat_t_vec(&p, &Q, &p);
    md_mat_vec(arm, &sim->pose[body].rotation, &p);
    return MDYN_OK;
}

/* Whether a result fits into an mdyn_real3. */
MD_STATIC int md_fits(const md_vec *a)
{
    int k;
    for (k = 0; k < 3; k++)
        if (!md_less(md_abs(md_vec_get(a, k)), MD_K(8388608))) return 0;
    return 1;
}

MD_STATIC void md_real3_of(mdyn_real3 *r, const md_vec *a)
{
    r->x = md_to_real(md_vec_get(a, 0));
    r->y = md_to_real(md_vec_get(a, 1));
    r->z = md_to_real(md_vec_get(a, 2));
}

MDYN_API int mdyn_pose(mdyn_sim *sim, int body, mdyn_real3 *position, mdyn_real4 *quaternion)
{
    md_mat Q, R;
    md_vec p;
    md_num q[4];
    int code = md_open_query(sim, body, position, quaternion);
    if (code != MDYN_OK) return code;
    md_origin_position(sim, body, &p);
    if (!md_fits(&p)) return md_blame(sim, MDYN_ERR_OVERFLOW, body);
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
    if (!md_fits(&v) || !md_fits(&sim->pose[body].omega))
        return md_blame(sim, MDYN_ERR_OVERFLOW, body);
    md_real3_of(angular, &sim->pose[body].omega);
    md_real3_of(linear, &v);
    return MDYN_OK;
}

MDYN_API int mdyn_jacobian(mdyn_sim *sim, int body, const mdyn_real3 *point, mdyn_wide *J)
{
    int i, j, k, n, code = md_open_query(sim, body, J, J);
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
            for (j = 0; j < 3; j++) {
                J[j * n + k] = md_to_wide(md_vec_get(&m.ang, j));
                J[(3 + j) * n + k] = md_to_wide(md_vec_get(&m.lin, j));
            }
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
    for (k = 0; k < n; k++) /* no element is larger than the largest on the diagonal */
        if (!md_is_result(md_of_unit(sim->entry[sim->path[k]], 2 * md_dof_scale(&sim->dof[k]))))
            return md_blame(sim, MDYN_ERR_OVERFLOW, k);
    for (k = 0; k < n * n; k++) M[k] = MDYN_C(0);
    for (k = 0; k < n; k++) {
        const md_unit *row = sim->entry + sim->path[k];
        for (j = k; j >= 0; j = md_up(sim, j))
            M[k * n + j] = M[j * n + k] = md_to_wide(md_of_unit(*row++,
                md_dof_scale(&sim->dof[k]) + md_dof_scale(&sim->dof[j])));
    }
    return MDYN_OK;
}

MDYN_API int mdyn_bias_force(mdyn_sim *sim, mdyn_wide *C)
{
    int code = md_open_query(sim, 0, C, C);
    if (code == MDYN_OK) code = md_check_inputs(sim);
    if (code != MDYN_OK) return code;
    md_torques(sim, NULL);
    return md_give_out(sim, C, sim->z, sim->dofs);
}

MDYN_API int mdyn_inverse_dynamics(mdyn_sim *sim, const mdyn_wide *a, mdyn_wide *tau)
{
    int k, code = md_open_query(sim, 0, a, tau);
    if (code == MDYN_OK) code = md_check_inputs(sim);
    if (code != MDYN_OK) return code;
    for (k = 0; k < sim->dofs; k++)
        if (!md_is_usable(a[k])) return md_blame(sim, MDYN_ERR_STATE, k);
    md_torques(sim, a);
    return md_give_out(sim, tau, sim->z, sim->dofs);
}

MDYN_API int mdyn_impulse_response(mdyn_sim *sim, int i, int j, mdyn_wide *r)
{
    int code = md_open_query(sim, 0, r, r);
    md_num response;
    md_scale e;
    if (code != MDYN_OK) return code;
    if (i < 0 || i >= sim->dofs) return md_blame(sim, MDYN_ERR_INDEX, i);
    if (j < 0 || j >= sim->dofs) return md_blame(sim, MDYN_ERR_INDEX, j);
    code = md_factor(sim, MD_K(0));
    if (code != MDYN_OK) return code;
    e = md_unit_impulse(sim, i, sim->du);
    e = (md_scale)(e + md_unit_impulse(sim, j, sim->y));
    response = md_shifted(md_dot_units(sim->du, sim->y, sim->dofs), e);
    return md_give_out(sim, r, &response, 1);
}

MDYN_API int mdyn_impulse_column(mdyn_sim *sim, int i, mdyn_wide *dv)
{
    int code = md_open_query(sim, 0, dv, dv);
    if (code != MDYN_OK) return code;
    if (i < 0 || i >= sim->dofs) return md_blame(sim, MDYN_ERR_INDEX, i);
    code = md_factor(sim, MD_K(0));
    if (code != MDYN_OK) return code;
    sim->exacts = 0; /* no rows */
    md_turn_back(sim, md_unit_impulse(sim, i, sim->du));
    return md_give_out(sim, dv, sim->z, sim->dofs);
}

MDYN_API int mdyn_energy(mdyn_sim *sim, mdyn_wide *kinetic, mdyn_wide *potential)
{
    int i, k, code = md_open_query(sim, 0, kinetic, potential);
    md_num twice = MD_K(0), fall = MD_K(0);
    md_vec g;
    if (code != MDYN_OK) return code;
    md_vec_of_wide(&g, &sim->model->gravity);
    for (i = 0; i < sim->bodies; i++) {
        const md_pose *p = &sim->pose[i];
        md_vec v, t, origin;
        /* 2 T = omega I omega + v (m v + 2 omega x h) */
        md_origin_velocity(sim, i, &v);
        md_sym_vec(&t, &p->inertia, &p->omega);
        twice = md_add(twice, md_dot(&p->omega, &t));
        md_cross(&t, &p->omega, &p->moment);
        md_vec_twice(&t, &t);
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
    if (!md_is_result(twice) || !md_is_result(fall)) return md_blame(sim, MDYN_ERR_OVERFLOW, -1);
    *kinetic = md_to_wide(md_mul(MD_K(0.5), twice));
    *potential = md_to_wide(md_neg(fall));
    return MDYN_OK;
}

#endif /* MIMICDYN_TREE */

#if MIMICDYN_LCP
/* =============================================================================== // >>lcp
   Plain problems A x = b + w, without a sim: minimise x'Ax/2 - b'x over lo <= x <= hi.

   Dantzig's pivoting. Some rows are clamped: w = 0, x free to follow, their block of A kept as
   L D L^T. All others rest where they are, mostly on a bound. The row whose w is worst is driven:
   x_i moves against w_i and the clamped x follow so that their w stays 0, until w_i = 0 (the row
   is clamped), until x_i meets its bound, or until a clamped x meets one (it leaves the set, there,
   and the drive goes on). Source: Cottle and Dantzig 1968; Baraff 1994. Other than there, rows at
   rest are not watched meanwhile: if the w of one turns wrong, it is driven later. So every drive
   lowers what is to be minimised, however many bounds are met at once: no set of rows comes twice,
   and the pivoting ends. On singular problems too: a row that depends on the clamped ones moves
   without a change of w until something meets a bound; if nothing does, no x solves it.

   A row of a step may have room, low <= w <= high, and so an edge at x = 0: x > 0 where w = low,
   x < 0 where w = high. It lies on one side of the edge, which is a bound to it. At rest on the
   edge it is taken to the side whose w is nearer to 0, which changes nothing of what is to be
   minimised.

   Inside, A is D A D and x is D^-1 x, with powers of 2 for D such that 1/4 < A_ii <= 1: nothing is
   rounded, and all |A_ij| <= 1. */

/* Rounding errors, as parts of the magnitudes in a sum. Beyond the first a row is driven or settled
   again, up to the second it counts as solved. Friction that follows the solution carries the
   rounding of one solution into the next: it has settled below the third, counts as solved up to
   the last. */
#define MD_LCP_NOISE 16
#define MD_LCP_SOLVED 256
#define MD_LCP_FIRM 512
#define MD_LCP_COUPLED 2048

enum {
    MD_LCP_FLOOR = 1,   /* lo is a bound */
    MD_LCP_CEILING = 2, /* hi is a bound */
    MD_LCP_CLAMPED = 4,
    MD_LCP_STUCK = 8,   /* nothing stops this row, and its w does not change */
    MD_LCP_EDGE = 16,   /* x = 0 is an edge, and a bound of the present side */
    MD_LCP_BELOW = 32   /* which is that of x <= 0 */
};

typedef struct md_lcp { /* arrays of n numbers in the caller's scratch */
    int n, clamped;
    int *state;
    md_num *x, *lo, *hi;
    md_num *scale;   /* D */
    md_num *b, *w;
    md_num *size;    /* |b_i| + sum_j |A_ij x_j|; of the sweeps: 1 / A_ii */
    md_num *used;    /* |x| that the bounds of friction go by */
    md_num *u, *v;   /* of the clamped rows, in their order */
    int *order;  /* the clamped rows */
    md_num *a, *l;   /* lower triangles, row i from i (i + 1) / 2 on; l: D on the diagonal */
    md_edge *edge;   /* NULL: no row has one */
    md_num coarse;   /* beside which b was rounded; 0: beside itself */
} md_lcp;

MD_INLINE int md_row_of_triangle(int i) { return i * (i + 1) / 2; }

MD_INLINE md_num md_lcp_element(const md_lcp *s, int i, int j)
{
    return s->a[i < j ? md_row_of_triangle(j) + i : md_row_of_triangle(i) + j];
}

/* A_ij of the problem itself. */
MD_INLINE md_num md_lcp_given(const mdyn_lcp *p, int i, int j)
{
    return md_of_wide(i < j ? p->A[j * p->n + i] : p->A[i * p->n + j]);
}

MD_INLINE int md_lcp_friction_of(const mdyn_lcp *p, int i)
{
    return p->findex && p->findex[i] >= 0 ? p->findex[i] : -1;
}

MD_STATIC int md_lcp_blame(mdyn_lcp_report *report, int code, int row)
{
    report->rounds = 0;
    report->row = row;
    report->residual = MDYN_C(0);
    return code;
}

MD_STATIC int md_lcp_check_row(const mdyn_lcp *p, int i)
{
    const int k = md_lcp_friction_of(p, i);
    const mdyn_wide *row = p->A + i * p->n;
    int j;
    for (j = 0; j <= i; j++)
        if (!md_is_usable(row[j])) return MDYN_ERR_NOT_FINITE;
    if (!md_is_usable(p->b[i]) || !md_is_usable(p->hi[i])) return MDYN_ERR_NOT_FINITE;
    if (k >= p->n || (k >= 0 && md_lcp_friction_of(p, k) >= 0)) return MDYN_ERR_FINDEX;
    if (k < 0 && !md_is_usable(p->lo[i])) return MDYN_ERR_NOT_FINITE;
    if (k < 0 && md_wide_less(p->hi[i], p->lo[i])) return MDYN_ERR_LIMITS;
    if (md_wide_less(row[i], MDYN_C(1e-30)) && !md_is_null(row[i])) return MDYN_ERR_LCP_MATRIX;
    return MDYN_OK;
}

MD_STATIC int md_lcp_check(const mdyn_lcp *p, const mdyn_wide *x, const mdyn_lcp_cell *scratch,
                           int cells, int pgs, mdyn_lcp_report *report)
{
    int i, code;
    if (!p || !x) return md_lcp_blame(report, MDYN_ERR_NULL, -1);
    if (p->n < 0 || p->n > 4096
        || cells < (pgs ? MDYN_PGS_SCRATCH(p->n) : MDYN_LCP_SCRATCH(p->n)))
        return md_lcp_blame(report, MDYN_ERR_LCP_SIZE, -1);
    if (p->n > 0 && (!p->A || !p->b || !p->lo || !p->hi || !scratch))
        return md_lcp_blame(report, MDYN_ERR_NULL, -1);
    if (p->friction != MDYN_PYRAMID && p->friction != MDYN_TWO_STAGE)
        return md_lcp_blame(report, MDYN_ERR_SOLVER, -1);
    for (i = 0; i < p->n; i++) {
        code = md_lcp_check_row(p, i);
        if (code != MDYN_OK) return md_lcp_blame(report, code, i);
    }
    return md_lcp_blame(report, MDYN_OK, -1);
}

/* The power of 2 whose square brings a into (1/4, 1]; a >= 1e-30 and below 2^50: 51 turns. (That
   an mdyn_wide of 1e-30 has 20 digits of 2 left in fixed point is less than MD_AGREED.) */
MD_STATIC md_num md_lcp_scale_of(md_num a)
{
    md_num d = MD_K(1);
    if (md_is_zero(a)) return d;
    for (; md_less(MD_K(1), a); a = md_mul(MD_K(0.25), a)) d = md_mul(MD_K(0.5), d);
    for (; !md_less(MD_K(0.25), a); a = md_mul(MD_K(4), a)) d = md_add(d, d);
    return d;
}

/* An element of D A D, j <= i. */
MD_INLINE md_num md_lcp_scaled(const md_lcp *s, const mdyn_lcp *p, int i, int j)
{
    return md_mul(md_mul(s->scale[i], s->scale[j]), md_lcp_given(p, i, j));
}

/* Finds D. Returns a row with A_ij^2 > A_ii A_jj, or -1. */
MD_STATIC int md_lcp_scale_rows(md_lcp *s, const mdyn_lcp *p)
{
    const md_num slack = MD_K(1 + MD_AGREED);
    int i, j;
    for (i = 0; i < s->n; i++) {
        md_num most;
        s->scale[i] = md_lcp_scale_of(md_lcp_given(p, i, i));
        most = md_mul(slack, md_lcp_scaled(s, p, i, i));
        for (j = 0; j < i; j++) {
            const md_num a = md_lcp_scaled(s, p, i, j);
            if (md_less(md_mul(most, md_lcp_scaled(s, p, j, j)), md_mul(a, a))) return i;
        }
    }
    return -1;
}

/* x held within the bounds of row i. */
MD_INLINE md_num md_lcp_hold(const md_lcp *s, int i, md_num x)
{
    if ((s->state[i] & MD_LCP_FLOOR) && md_less(x, s->lo[i])) x = s->lo[i];
    if ((s->state[i] & MD_LCP_CEILING) && md_less(s->hi[i], x)) x = s->hi[i];
    return x;
}

/* Bounds of row i for the scale d; those of friction rows are 0 so far. */
MD_STATIC void md_lcp_set_bounds(md_lcp *s, const mdyn_lcp *p, int i, md_num d)
{
    const md_num endless = md_of_wide(MDYN_UNLIMITED);
    md_num lo = MD_K(0), hi = MD_K(0);
    s->state[i] |= MD_LCP_FLOOR | MD_LCP_CEILING;
    if (md_lcp_friction_of(p, i) < 0) {
        lo = md_of_wide(p->lo[i]);
        hi = md_of_wide(p->hi[i]);
        if (!md_less(md_neg(endless), lo)) s->state[i] &= ~MD_LCP_FLOOR;
        if (!md_less(hi, endless)) s->state[i] &= ~MD_LCP_CEILING;
    }
    s->lo[i] = md_div(lo, d);
    s->hi[i] = md_div(hi, d);
}

/* The bounds +-*most of friction row i, of scale d, for x_k of its normal row in the problem's
   scale; returns 0 if it has none. */
MD_INLINE int md_lcp_friction(const md_lcp *s, const mdyn_lcp *p, int i, md_num d, md_num xk,
                              md_num *most)
{
    const md_num mu = md_abs(md_of_wide(p->hi[i]));
    *most = md_div(md_mul(mu, md_abs(xk)), d);
    if (s->edge) *most = md_min(*most, s->edge[i].cap);
    return md_is_zero(xk) || md_less(mu, md_of_wide(MDYN_UNLIMITED));
}

/* b and bounds of row i, which may have an edge, on its side of that. */
MD_STATIC void md_lcp_take_side(md_lcp *s, int i)
{
    const md_edge *edge = &s->edge[i];
    const int below = s->state[i] & MD_LCP_BELOW, both = !(s->state[i] & MD_LCP_EDGE);
    s->b[i] = below ? edge->high : edge->low;
    s->lo[i] = both || below ? edge->least : MD_K(0);
    s->hi[i] = both || !below ? edge->most : MD_K(0);
    s->state[i] &= ~(MD_LCP_FLOOR | MD_LCP_CEILING);
    if (md_less(MD_K(-1e29), s->lo[i])) s->state[i] |= MD_LCP_FLOOR;
    if (md_less(s->hi[i], MD_K(1e29))) s->state[i] |= MD_LCP_CEILING;
}

MD_STATIC void md_lcp_bind(md_lcp *s, const mdyn_lcp *p, int i, md_num d, md_num xk)
{
    s->state[i] &= ~(MD_LCP_FLOOR | MD_LCP_CEILING);
    if (md_lcp_friction(s, p, i, d, xk, &s->hi[i])) s->state[i] |= MD_LCP_FLOOR | MD_LCP_CEILING;
    s->lo[i] = md_neg(s->hi[i]);
    if (!s->edge) return;
    s->edge[i].most = s->hi[i];
    s->edge[i].least = s->lo[i];
    md_lcp_take_side(s, i);
}

/* Takes rows at rest on an edge to the side whose w is nearer to 0; returns whether any was. */
MD_STATIC int md_lcp_take_sides(md_lcp *s)
{
    int i, any = 0;
    for (i = 0; s->edge && i < s->n; i++) {
        const int below = s->state[i] & MD_LCP_BELOW;
        md_num w = md_add(s->w[i], s->b[i]); /* A x */
        if (!(s->state[i] & MD_LCP_EDGE) || (s->state[i] & MD_LCP_CLAMPED)
            || !md_is_zero(s->x[i])) continue;
        w = md_sub(w, below ? s->edge[i].low : s->edge[i].high);
        if (!md_less(md_abs(w), md_abs(s->w[i]))) continue;
        s->state[i] ^= MD_LCP_BELOW;
        md_lcp_take_side(s, i);
        any = 1;
    }
    return any;
}

/* A x of row i in the problem's scale; of A only the lower triangle is read. */
MD_INLINE md_num md_lcp_product(const md_lcp *s, const mdyn_lcp *p, int i)
{
    const mdyn_wide *row = p->A + i * p->n;
    const md_num *x = s->x;
    const int n = p->n;
    md_num sum = MD_K(0);
    int j;
    for (j = 0; j < i; j++) sum = md_add(sum, md_mul(md_of_wide(row[j]), x[j]));
    for (; j < n; j++) sum = md_add(sum, md_mul(md_of_wide(p->A[j * n + i]), x[j]));
    return sum;
}

/* The sum of the magnitudes in A x and b of row i. */
MD_INLINE md_num md_lcp_size(const md_lcp *s, const mdyn_lcp *p, int i)
{
    md_num size = md_abs(md_of_wide(p->b[i]));
    int j;
    for (j = 0; j < p->n; j++)
        size = md_add(size, md_abs(md_mul(md_lcp_given(p, i, j), s->x[j])));
    return size;
}

/* What is left to solve of row i, in the problem's scale: |d| A_ii over the size of its terms,
   where d is -w / A_ii held so that x + d is within the bounds. */
MD_STATIC md_num md_lcp_miss(const md_lcp *s, const mdyn_lcp *p, int i, md_num *w)
{
    md_num a = md_lcp_given(p, i, i), size = md_lcp_size(s, p, i), miss;
    *w = md_sub(md_lcp_product(s, p, i), md_of_wide(p->b[i]));
    if (md_is_zero(size)) return MD_K(0);
    if (md_is_zero(a)) a = MD_K(1);
    miss = md_neg(md_div(*w, a));
    if (s->state[i] & MD_LCP_FLOOR) miss = md_max(miss, md_sub(s->lo[i], s->x[i]));
    if (s->state[i] & MD_LCP_CEILING) miss = md_min(miss, md_sub(s->hi[i], s->x[i]));
    return md_div(md_mul(a, md_abs(miss)), size);
}

/* The bounds of all friction rows by the x that was found; x in the problem's scale. */
MD_STATIC void md_lcp_bind_all(md_lcp *s, const mdyn_lcp *p)
{
    int i, k;
    for (i = 0; i < s->n; i++) {
        k = md_lcp_friction_of(p, i);
        if (k >= 0) md_lcp_bind(s, p, i, MD_K(1), s->x[k]);
    }
}

/* x_i as it is given out, in the problem's scale: at a bound that bound itself, digit by digit as
   it was passed. */
MD_STATIC mdyn_wide md_lcp_answer(const md_lcp *s, const mdyn_lcp *p, int i)
{
    const mdyn_wide answer = md_to_wide(s->x[i]);
    const md_num x = md_of_wide(answer);
    if (md_lcp_friction_of(p, i) >= 0) return answer;
    if ((s->state[i] & MD_LCP_FLOOR) && !md_less(s->lo[i], x)) return p->lo[i];
    if ((s->state[i] & MD_LCP_CEILING) && !md_less(x, s->hi[i])) return p->hi[i];
    return answer;
}

/* Writes x and w, both in the problem's scale, and reports the row that is solved worst, with x as
   it is given out. */
MD_STATIC int md_lcp_give_out(const md_lcp *s, const mdyn_lcp *p, mdyn_wide *x, mdyn_wide *w,
                              mdyn_lcp_report *report, int rounds)
{
    const int coupled = p->findex && p->friction == MDYN_PYRAMID;
    md_num worst = MD_K(0), miss, most, wi;
    int i, row = -1;
    for (i = 0; i < p->n; i++) {
        const mdyn_wide answer = md_lcp_answer(s, p, i);
        if (!md_is_usable(answer)) return md_lcp_blame(report, MDYN_ERR_OVERFLOW, i);
        s->x[i] = md_of_wide(answer);
    }
    for (i = 0; i < p->n; i++) {
        miss = md_lcp_miss(s, p, i, &wi);
        x[i] = md_lcp_answer(s, p, i);
        if (w) w[i] = md_to_wide(wi);
        if (md_less(worst, miss)) {
            worst = miss;
            row = i;
        }
    }
    report->rounds = rounds;
    report->row = row;
    report->residual = md_to_wide(worst);
    most = coupled ? MD_K(MD_LCP_COUPLED * MD_EPSILON) : MD_K(MD_LCP_SOLVED * MD_EPSILON);
    return md_less(most, worst) ? MDYN_WARN_NOT_CONVERGED : MDYN_OK;
}

/* ---- pivoting ---- */

/* Hands out room: n (n + 11) numbers, and 2 n integers; in all MDYN_LCP_SCRATCH(n). */
MD_STATIC void md_lcp_furnish(md_lcp *s, int n, md_num *at, int *integers)
{
    s->n = n;
    s->clamped = 0;
    s->edge = NULL;
    s->coarse = MD_K(0);
    s->x = at; at += n;
    s->lo = at; at += n;
    s->hi = at; at += n;
    s->scale = at; at += n;
    s->b = at; at += n;
    s->w = at; at += n;
    s->size = at; at += n;
    s->used = at; at += n;
    s->u = at; at += n;
    s->v = at; at += n;
    s->a = at; at += md_row_of_triangle(n);
    s->l = at;
    s->state = integers;
    s->order = integers + n;
}

/* The problem in its own scale, all rows at rest and as near to 0 as their bounds let them. */
MD_STATIC void md_lcp_load(md_lcp *s, const mdyn_lcp *p)
{
    int i, j;
    for (i = 0; i < s->n; i++) {
        md_num *row = s->a + md_row_of_triangle(i);
        for (j = 0; j <= i; j++) row[j] = md_lcp_scaled(s, p, i, j);
        s->b[i] = md_mul(s->scale[i], md_of_wide(p->b[i]));
        s->state[i] = 0;
        md_lcp_set_bounds(s, p, i, s->scale[i]);
        s->x[i] = md_lcp_hold(s, i, MD_K(0));
        s->used[i] = MD_K(0);
    }
}

/* w = A x - b, anew, so that no rounding gathers. Column j of the triangle: to its diagonal it is
   row j. */
MD_STATIC void md_lcp_residuals(md_lcp *s)
{
    md_num *MD_RESTRICT w = s->w, *MD_RESTRICT size = s->size;
    const int n = s->n;
    int i, j, at;
    for (i = 0; i < n; i++) {
        w[i] = md_neg(s->b[i]);
        size[i] = md_add(md_abs(s->b[i]), s->coarse);
    }
    for (j = 0; j < n; j++) {
        const md_num x = s->x[j], *row = s->a + md_row_of_triangle(j);
        md_num t;
        if (md_is_zero(x)) continue;
        for (i = 0; i < j; i++) {
            t = md_mul(row[i], x);
            w[i] = md_add(w[i], t);
            size[i] = md_add(size[i], md_abs(t));
        }
        for (at = md_row_of_triangle(j) + j; i < n; at += ++i) {
            t = md_mul(s->a[at], x);
            w[i] = md_add(w[i], t);
            size[i] = md_add(size[i], md_abs(t));
        }
    }
}

/* Whether w_i is more than rounding. */
MD_INLINE int md_lcp_matters(const md_lcp *s, int i)
{
    return md_less(md_mul(MD_K(MD_LCP_NOISE * MD_EPSILON), s->size[i]), md_abs(s->w[i]));
}

/* The row at rest with the largest w that pushes it to where it may go; -1: there is none. */
MD_STATIC int md_lcp_worst(const md_lcp *s)
{
    md_num most = MD_K(0);
    int i, row = -1;
    for (i = 0; i < s->n; i++) {
        const int state = s->state[i];
        if (!md_less(most, md_abs(s->w[i])) || (state & (MD_LCP_CLAMPED | MD_LCP_STUCK))) continue;
        if (md_less(s->w[i], MD_K(0))) {
            if ((state & MD_LCP_CEILING) && !md_less(s->x[i], s->hi[i])) continue;
        } else if ((state & MD_LCP_FLOOR) && !md_less(s->lo[i], s->x[i])) {
            continue;
        }
        if (!md_lcp_matters(s, i)) continue;
        most = md_abs(s->w[i]);
        row = i;
    }
    return row;
}

/* u := L^-1 u, v := D^-1 u; returns u.v */
MD_STATIC md_num md_lcp_forward(md_lcp *s)
{
    md_num sum = MD_K(0);
    int j, k;
    for (k = 0; k < s->clamped; k++) {
        const md_num *row = s->l + md_row_of_triangle(k);
        md_num t = s->u[k];
        for (j = 0; j < k; j++) t = md_sub(t, md_mul(row[j], s->u[j]));
        s->u[k] = t;
        s->v[k] = md_div(t, row[k]);
        sum = md_add(sum, md_mul(t, s->v[k]));
    }
    return sum;
}

/* v := -L^-T v */
MD_STATIC void md_lcp_backward(md_lcp *s)
{
    int j, k;
    for (k = s->clamped - 1; k >= 0; k--) {
        const md_num *row = s->l + md_row_of_triangle(k);
        const md_num t = s->v[k];
        for (j = 0; j < k; j++) s->v[j] = md_sub(s->v[j], md_mul(row[j], t));
        s->v[k] = md_neg(t);
    }
}

/* Which clamped x meets a bound first as x += t v, before t = *most (< 0: however large), and there
   *most := t; -1: none does. */
MD_STATIC int md_lcp_first_bound(const md_lcp *s, md_num *most)
{
    int k, first = -1;
    for (k = 0; k < s->clamped; k++) {
        const int i = s->order[k];
        md_num speed = s->v[k], way;
        if (md_less(MD_K(0), speed)) {
            if (!(s->state[i] & MD_LCP_CEILING)) continue;
            way = md_sub(s->hi[i], s->x[i]);
        } else {
            if (md_is_zero(speed) || !(s->state[i] & MD_LCP_FLOOR)) continue;
            way = md_sub(s->x[i], s->lo[i]);
            speed = md_neg(speed);
        }
        way = md_max(way, MD_K(0));
        if (!md_less(*most, MD_K(0)) && !md_less(way, md_mul(*most, speed))) continue;
        *most = md_div(way, speed);
        first = k;
    }
    return first;
}

/* x_i += d, within its bounds. Where all but rounding cancels, 0 is left: rows that feel nothing
   but x_i would take the rest for an x, and find no solution for it. */
MD_STATIC void md_lcp_shift(md_lcp *s, int i, md_num d)
{
    md_num x = md_add(s->x[i], d);
    if (md_less(md_abs(x), md_mul(MD_K(MD_LCP_NOISE * MD_EPSILON), md_abs(d)))) x = MD_K(0);
    s->x[i] = md_lcp_hold(s, i, x);
}

/* x += t v of the clamped rows. */
MD_STATIC void md_lcp_follow(md_lcp *s, md_num t)
{
    int k;
    for (k = 0; k < s->clamped; k++) md_lcp_shift(s, s->order[k], md_mul(t, s->v[k]));
}

/* Row i becomes the last of the clamped ones; u is L^-1 A_Ci. */
MD_STATIC void md_lcp_clamp(md_lcp *s, int i, md_num pivot)
{
    md_num *row = s->l + md_row_of_triangle(s->clamped);
    int k;
    for (k = 0; k < s->clamped; k++)
        row[k] = md_div(s->u[k], s->l[md_row_of_triangle(k) + k]);
    row[k] = pivot;
    s->order[s->clamped++] = i;
    s->state[i] |= MD_LCP_CLAMPED;
}

/* The clamped row of place k rests from now on. Those behind it get a part of its pivot: L D L^T +
   alpha u u^T (Gill, Golub, Murray, Saunders 1974, method C1). */
MD_STATIC void md_lcp_free(md_lcp *s, int k)
{
    md_num alpha = s->l[md_row_of_triangle(k) + k];
    int i, j;
    s->state[s->order[k]] &= ~MD_LCP_CLAMPED;
    for (i = k + 1; i < s->clamped; i++) {
        const md_num *from = s->l + md_row_of_triangle(i);
        md_num *to = s->l + md_row_of_triangle(i - 1);
        s->u[i - 1] = from[k];
        for (j = 0; j < k; j++) to[j] = from[j];
        for (j = k; j < i; j++) to[j] = from[j + 1];
        s->order[i - 1] = s->order[i];
    }
    s->clamped--;
    for (j = k; j < s->clamped; j++) {
        md_num *pivot = s->l + md_row_of_triangle(j) + j;
        const md_num p = s->u[j], old = *pivot, t = md_mul(alpha, p);
        const md_num now = md_add(old, md_mul(t, p)), beta = md_div(t, now);
        *pivot = now;
        alpha = md_div(md_mul(alpha, old), now);
        for (i = j + 1; i < s->clamped; i++) {
            md_num *x = s->l + md_row_of_triangle(i) + j;
            s->u[i] = md_sub(s->u[i], md_mul(p, *x));
            *x = md_add(*x, md_mul(beta, s->u[i]));
        }
    }
}

/* Puts the clamped x of place k onto the bound that v takes it to. */
MD_STATIC void md_lcp_land(md_lcp *s, int k)
{
    const int i = s->order[k];
    s->x[i] = md_less(s->v[k], MD_K(0)) ? s->lo[i] : s->hi[i];
    md_lcp_free(s, k);
}

/* u := A_Ci, the elements of row i at the clamped ones. */
MD_INLINE void md_lcp_gather(md_lcp *s, int i)
{
    int k;
    for (k = 0; k < s->clamped; k++) s->u[k] = md_lcp_element(s, i, s->order[k]);
}

/* One step of refinement for A_CC v = -A_Ci, which the rounding in L may have spoilt if the clamped
   rows nearly depend on each other; u := L^-1 A_Ci. There is room behind L: row i is not in it. */
MD_STATIC void md_lcp_refine(md_lcp *s, int i)
{
    md_num *v = s->l + md_row_of_triangle(s->clamped);
    int j, k;
    for (k = 0; k < s->clamped; k++) v[k] = s->v[k];
    md_lcp_gather(s, i);
    for (k = 0; k < s->clamped; k++)
        for (j = 0; j < s->clamped; j++)
            s->u[k] = md_add(s->u[k], md_mul(md_lcp_element(s, s->order[k], s->order[j]), v[j]));
    md_lcp_forward(s);
    md_lcp_backward(s);
    for (k = 0; k < s->clamped; k++) v[k] = md_add(v[k], s->v[k]);
    md_lcp_gather(s, i);
    md_lcp_forward(s);
    for (k = 0; k < s->clamped; k++) s->v[k] = v[k];
}

/* v: how the clamped x follow as x_i rises by 1, their w unchanged. Returns by how much w_i rises,
   or 0 where that is but rounding; then *size is the sum of the magnitudes in it, and what is but
   rounding in v is 0 as well, for such a row may go far. */
MD_STATIC md_num md_lcp_reach(md_lcp *s, int i, md_num *size)
{
    md_num a = md_lcp_element(s, i, i), rise;
    int k;
    *size = a;
    md_lcp_gather(s, i);
    rise = md_sub(a, md_lcp_forward(s));
    md_lcp_backward(s);
    if (md_less(MD_K(0.01), rise)) return rise;
    md_lcp_refine(s, i);
    rise = a;
    for (k = 0; k < s->clamped; k++) {
        const md_num t = md_mul(md_lcp_element(s, i, s->order[k]), s->v[k]);
        rise = md_add(rise, t);
        *size = md_add(*size, md_abs(t));
    }
    if (md_less(md_mul(MD_K(MD_LCP_NOISE * MD_EPSILON), *size), rise)) return rise;
    for (k = 0; k < s->clamped; k++)
        if (md_less(md_abs(s->v[k]), MD_K(MD_DECIDED))) s->v[k] = MD_K(0);
    return MD_K(0);
}

/* Whether a row whose w does not change is to go t, so far that its w would only seem to be solved
   beside terms of that size, and 100 times farther than anything else asks for: what would stop it
   there is rounding. */
MD_STATIC int md_lcp_is_lost(const md_lcp *s, md_num w, md_num size, md_num t)
{
    int i;
    if (!md_less(w, md_mul(md_mul(MD_K(MD_LCP_SOLVED * MD_EPSILON), size), t))) return 0;
    for (i = 0; i < s->n; i++)
        if (md_less(t, md_mul(MD_K(100), md_max(md_abs(s->x[i]), md_abs(s->b[i]))))) return 0;
    return 1;
}

/* Drives row i until its w is 0 or it meets its bound. Each turn but the last frees a row. */
MD_STATIC void md_lcp_drive(md_lcp *s, int i)
{
    md_num w = s->w[i];
    const int up = md_less(w, MD_K(0)), bound = up ? MD_LCP_CEILING : MD_LCP_FLOOR;
    for (;;) {
        md_num size, rise = md_lcp_reach(s, i, &size), t = MD_K(-1), way;
        int k, meets = 0, first;
        if (!up) for (k = 0; k < s->clamped; k++) s->v[k] = md_neg(s->v[k]);
        if (!md_is_zero(rise)) t = md_div(md_abs(w), rise);
        if (s->state[i] & bound) {
            way = up ? md_sub(s->hi[i], s->x[i]) : md_sub(s->x[i], s->lo[i]);
            meets = md_less(t, MD_K(0)) || !md_less(t, way);
            if (meets) t = way;
        }
        first = md_lcp_first_bound(s, &t);
        if (md_is_zero(rise) && first >= 0 && md_lcp_is_lost(s, md_abs(w), size, t)) t = MD_K(-1);
        if (md_less(t, MD_K(0))) {
            s->state[i] |= MD_LCP_STUCK;
            return;
        }
        md_lcp_follow(s, t);
        md_lcp_shift(s, i, up ? t : md_neg(t));
        if (first < 0) {
            if (meets) s->x[i] = up ? s->hi[i] : s->lo[i];
            else md_lcp_clamp(s, i, rise);
            return;
        }
        md_lcp_land(s, first);
        t = md_mul(t, rise);
        w = up ? md_min(md_add(w, t), MD_K(0)) : md_max(md_sub(w, t), MD_K(0));
    }
}

/* Brings the w of the clamped rows to 0, after rounding or other bounds moved them: x := x + t v,
   A v = -w, as far as the bounds let it. Each turn but the last frees a row. */
MD_STATIC void md_lcp_settle(md_lcp *s)
{
    int k, first;
    do {
        md_num t = MD_K(1);
        for (k = 0; k < s->clamped; k++) s->u[k] = s->w[s->order[k]];
        md_lcp_forward(s);
        md_lcp_backward(s);
        first = md_lcp_first_bound(s, &t);
        md_lcp_follow(s, t);
        t = md_sub(MD_K(1), t);
        for (k = 0; k < s->clamped; k++)
            s->w[s->order[k]] = md_mul(t, s->w[s->order[k]]);
        if (first >= 0) md_lcp_land(s, first);
    } while (first >= 0);
}

/* Drives rows until none is left, at most 8 n + 32; returns how many. */
MD_STATIC int md_lcp_pivot(md_lcp *s)
{
    const int most = 8 * s->n + 32;
    int i, k, drives = 0, settled = 0;
    for (i = 0; i < s->n; i++) s->state[i] &= ~MD_LCP_STUCK;
    for (;;) {
        int open = 0;
        md_lcp_residuals(s);
        if (md_lcp_take_sides(s)) md_lcp_residuals(s);
        for (k = 0; k < s->clamped && !open; k++) open = md_lcp_matters(s, s->order[k]);
        if (open && !settled) {
            md_lcp_settle(s);
            settled = 1;
            continue;
        }
        settled = 0;
        i = md_lcp_worst(s);
        if (i < 0 || drives == most) return drives;
        md_lcp_drive(s, i);
        drives++;
        if (!(s->state[i] & MD_LCP_STUCK)) /* others may have something to stop them now */
            for (k = 0; k < s->n; k++) s->state[k] &= ~MD_LCP_STUCK;
    }
}

/* Whether friction row i slides, with k normal to it: 1, -1 at its upper, lower bound; else 0. One
   that is clamped does not, even where it is just at its bound. */
MD_INLINE int md_lcp_slides(const md_lcp *s, const mdyn_lcp *p, int i, int k)
{
    if (md_lcp_friction_of(p, i) != k || !(s->state[i] & MD_LCP_CEILING)
        || s->state[i] & MD_LCP_CLAMPED || !md_less(s->lo[i], s->hi[i])) return 0;
    if (s->edge && !md_less(s->edge[i].most, s->edge[i].cap)) return 0;
    if ((s->state[i] & MD_LCP_EDGE) && md_is_zero(s->x[i])) return 0;
    return !md_less(s->x[i], s->hi[i]) ? 1 : !md_less(s->lo[i], s->x[i]) ? -1 : 0;
}

/* u: forces on the clamped rows as |x_k| rises by 1 with the bounds of friction on it; returns
   whether there are any. */
MD_STATIC int md_lcp_drag(md_lcp *s, const mdyn_lcp *p, int k)
{
    int i, j, any = 0;
    for (j = 0; j < s->clamped; j++) s->u[j] = MD_K(0);
    for (i = 0; i < s->n; i++) {
        const int sign = md_lcp_slides(s, p, i, k);
        md_num slope;
        if (sign == 0) continue;
        any = 1;
        slope = md_div(md_mul(md_of_wide(p->hi[i]), s->scale[k]), s->scale[i]);
        slope = sign < 0 ? md_neg(md_abs(slope)) : md_abs(slope);
        for (j = 0; j < s->clamped; j++)
            s->u[j] = md_add(s->u[j], md_mul(slope, md_lcp_element(s, s->order[j], i)));
    }
    return any;
}

/* Solves the q equations M y = r in place, r behind the rows of M, by elimination with the largest
   pivot. Returns 0 if there is no pivot left. */
MD_STATIC int md_lcp_eliminate(md_num *M, int q)
{
    const int width = q + 1;
    int i, j, k, best;
    for (k = 0; k < q; k++) {
        for (best = i = k; i < q; i++)
            if (md_less(md_abs(M[best * width + k]), md_abs(M[i * width + k]))) best = i;
        if (md_is_zero(M[best * width + k])) return 0;
        for (j = k; j < width; j++) {
            const md_num t = M[k * width + j];
            M[k * width + j] = M[best * width + j];
            M[best * width + j] = t;
        }
        for (i = 0; i < q; i++) {
            const md_num f = md_div(M[i * width + k], M[k * width + k]);
            if (i == k) continue;
            for (j = k; j < width; j++)
                M[i * width + j] = md_sub(M[i * width + j], md_mul(f, M[k * width + j]));
        }
    }
    for (k = 0; k < q; k++) M[k * width + q] = md_div(M[k * width + q], M[k * width + k]);
    return 1;
}

/* Which |x_k| the bounds of friction should go by next, into s->u: used + y, where (I + G) y is by
   how much |x| exceeds what was used, and G y by how much the rows that slide then lower |x|
   (Newton's method for bounds that follow the solution). The equations are put where L has no
   rows, the places of the normal rows among the clamped ones behind the order of those. */
MD_STATIC void md_lcp_foresee(md_lcp *s, const mdyn_lcp *p)
{
    md_num *M = s->l + md_row_of_triangle(s->clamped);
    int *place = s->order + s->clamped;
    int i, j, k, q = 0, width;
    for (k = 0; k < s->clamped; k++)
        if (md_lcp_drag(s, p, s->order[k])) place[q++] = k;
    width = q + 1;
    for (j = 0; j < q; j++) {
        k = s->order[place[j]];
        md_lcp_drag(s, p, k);
        md_lcp_forward(s);
        md_lcp_backward(s); /* v: how the clamped x follow */
        for (i = 0; i < q; i++) {
            const md_num v = s->v[place[i]], x = s->x[s->order[place[i]]];
            const md_num own = i == j ? MD_K(1) : MD_K(0);
            M[i * width + j] = md_less(x, MD_K(0)) ? md_add(own, v) : md_sub(own, v);
        }
        M[j * width + q] = md_sub(md_abs(s->x[k]), s->used[k]);
    }
    for (i = 0; i < s->n; i++) s->u[i] = md_abs(s->x[i]);
    if (!md_lcp_eliminate(M, q)) return;
    for (j = 0; j < q; j++) {
        k = s->order[place[j]];
        s->u[k] = md_max(MD_K(0), md_add(s->used[k], M[j * width + q]));
    }
}

/* What the bounds of friction row i take over of the magnitudes in x_k of its normal row. */
MD_INLINE md_num md_lcp_rounding_of_bound(const md_lcp *s, const mdyn_lcp *p, int i, int k)
{
    const md_num a = md_lcp_element(s, k, k), mu = md_abs(md_of_wide(p->hi[i]));
    const md_num x = md_is_zero(a) ? md_abs(s->x[k]) : md_div(s->size[k], a);
    return md_div(md_mul(md_mul(mu, s->scale[k]), x), s->scale[i]);
}

/* Whether a friction row is not solved with the bounds by the x that there is; as md_lcp_miss. At a
   bound no more is forgiven than that has of the rounding of x_k: what slides fast has large terms,
   of which the force knows nothing. */
MD_STATIC int md_lcp_friction_is_open(const md_lcp *s, const mdyn_lcp *p)
{
    int i, k;
    for (i = 0; i < s->n; i++) {
        md_num a = md_lcp_element(s, i, i), size = s->size[i], miss, most;
        k = md_lcp_friction_of(p, i);
        if (k < 0) continue;
        if (md_is_zero(a)) a = MD_K(1);
        miss = md_neg(md_div(s->w[i], a));
        if (md_lcp_friction(s, p, i, s->scale[i], md_mul(s->scale[k], s->x[k]), &most)) {
            const int edge = s->state[i] & MD_LCP_EDGE, below = s->state[i] & MD_LCP_BELOW;
            const md_num least = edge && !below ? MD_K(0) : md_neg(most);
            const md_num wish = miss;
            if (edge && below) most = MD_K(0);
            miss = md_max(miss, md_sub(least, s->x[i]));
            miss = md_min(miss, md_sub(most, s->x[i]));
            if (md_less(md_abs(miss), md_abs(wish)))
                size = md_min(size, md_mul(a, md_lcp_rounding_of_bound(s, p, i, k)));
        }
        miss = md_mul(a, md_abs(miss));
        if (md_less(md_mul(MD_K(MD_LCP_FIRM * MD_EPSILON), size), miss)) return 1;
    }
    return 0;
}

/* The bounds of all friction rows by u; rows that slide move with them. */
MD_STATIC void md_lcp_renew_friction(md_lcp *s, const mdyn_lcp *p)
{
    int i, k;
    for (i = 0; i < s->n; i++) {
        int slides;
        k = md_lcp_friction_of(p, i);
        if (k < 0) continue;
        slides = md_lcp_slides(s, p, i, k);
        s->used[k] = s->u[k];
        md_lcp_bind(s, p, i, s->scale[i], md_mul(s->scale[k], s->used[k]));
        if (slides && (s->state[i] & MD_LCP_CEILING)) s->x[i] = slides < 0 ? s->lo[i] : s->hi[i];
        s->x[i] = md_lcp_hold(s, i, s->x[i]);
    }
    for (k = s->clamped - 1; k >= 0; k--) { /* a clamped row lies between its bounds */
        i = s->order[k];
        if (md_lcp_friction_of(p, i) >= 0 && (s->state[i] & MD_LCP_CEILING)
            && (!md_less(s->lo[i], s->x[i]) || !md_less(s->x[i], s->hi[i]))) md_lcp_free(s, k);
    }
}

/* Solves with friction: once more with the bounds that the first solution gives, or until they
   follow it: half the way to it in each turn, which settles where whole ways would swing, and now
   and then, ever more seldom, by Newton's method, which ends it as soon as no row begins or ends
   to slide any more. Returns how many rows were driven. */
MD_STATIC int md_lcp_solve(md_lcp *s, const mdyn_lcp *p)
{
    const int most = p->friction == MDYN_PYRAMID ? 256 : 1;
    int i, turn, drives = md_lcp_pivot(s);
    if (!p->findex) return drives;
    for (i = 0; i < s->n && most == 1; i++) /* bounds by what is not solved are none */
        if ((s->state[i] & MD_LCP_STUCK)
            && md_less(md_mul(MD_K(MD_LCP_SOLVED * MD_EPSILON), s->size[i]), md_abs(s->w[i])))
            return drives;
    for (turn = 0; turn == 0 || (turn < most && md_lcp_friction_is_open(s, p)); turn++) {
        if ((turn & (turn + 1)) == 0) md_lcp_foresee(s, p);
        else for (i = 0; i < s->n; i++)
            s->u[i] = md_mul(MD_K(0.5), md_add(s->used[i], md_abs(s->x[i])));
        md_lcp_renew_friction(s, p);
        drives += md_lcp_pivot(s);
    }
    return drives;
}

/* Back to the problem's scale; the bounds of friction are those by which x was found. */
MD_STATIC void md_lcp_unscale(md_lcp *s, const mdyn_lcp *p)
{
    int i;
    for (i = 0; i < s->n; i++) {
        const md_num d = s->scale[i];
        s->x[i] = md_mul(d, s->x[i]);
        if (md_lcp_friction_of(p, i) < 0) md_lcp_set_bounds(s, p, i, MD_K(1));
        else {
            s->lo[i] = md_mul(d, s->lo[i]);
            s->hi[i] = md_mul(d, s->hi[i]);
        }
        s->x[i] = md_lcp_hold(s, i, s->x[i]); /* tiny bounds may have gone under */
    }
}

MDYN_API int mdyn_lcp_dantzig(const mdyn_lcp *problem, mdyn_wide *x, mdyn_wide *w,
                              mdyn_lcp_cell *scratch, int cells, mdyn_lcp_report *report)
{
    md_lcp s;
    mdyn_lcp_report own;
    int i, drives, code;
    if (!report) report = &own;
    code = md_lcp_check(problem, x, scratch, cells, 0, report);
    if (code != MDYN_OK || problem->n == 0) return code;
    i = problem->n;
    md_lcp_furnish(&s, i, (md_num *)(void *)scratch, (int *)(void *)(scratch + i * (i + 11)));
    i = md_lcp_scale_rows(&s, problem);
    if (i >= 0) return md_lcp_blame(report, MDYN_ERR_LCP_MATRIX, i);
    md_lcp_load(&s, problem);
    drives = md_lcp_solve(&s, problem);
    md_lcp_unscale(&s, problem);
    if (problem->friction == MDYN_PYRAMID) md_lcp_bind_all(&s, problem);
    code = md_lcp_give_out(&s, problem, x, w, report, drives);
    if (code == MDYN_OK) report->row = -1;
    for (i = 0; i < s.n && code == MDYN_WARN_NOT_CONVERGED; i++) {
        if (!(s.state[i] & MD_LCP_STUCK)) continue;
        report->row = i;
        code = MDYN_WARN_NO_SOLUTION;
    }
    return code;
}

#if MIMICDYN_MAX_DANTZIG > 0
/* ---- the bounded rows of a step ----
   A = X X^T of the rows' vectors at the coordinates that no exact row owns, with what softness adds
   on the diagonal; b what the rows ask beyond the motion without their impulses. All in numbers of
   the block sim->du. */

/* The place in the problem of row k of the sim; -1: it is not in it. */
MD_STATIC int md_dantzig_place(const md_dantzig *d, int n, int k)
{
    int i;
    for (i = 0; i < n; i++)
        if (d->row[i] == k) return i;
    return -1;
}

/* Takes all active rows, which have no impulse, into the problem; returns how many. */
MD_STATIC int md_dantzig_gather(mdyn_sim *sim)
{
    int k, n = 0;
    for (k = md_exacts(sim); k < sim->lives; k++)
        if (sim->row[sim->live[k]].active) sim->dantzig.row[n++] = sim->live[k];
    return n;
}

/* The triangle of A. */
MD_STATIC void md_dantzig_products(mdyn_sim *sim, md_lcp *s)
{
    int i, j, e;
    for (e = 0; e < sim->dofs + sim->rows; e++) sim->y[e] = MD_U(0);
    for (i = 0; i < s->n; i++) {
        const md_row *row = &sim->row[sim->dantzig.row[i]];
        md_num *a = s->a + md_row_of_triangle(i);
        const int first = row->first + row->given, end = row->end;
        for (e = first; e < end; e++) sim->y[sim->entry_at[e]] = sim->entry[e];
        for (j = 0; j <= i; j++) {
            const md_row *other = &sim->row[sim->dantzig.row[j]];
            const int from = other->first + other->given;
            a[j] = md_of_unit(md_dot_at(sim->entry + from, sim->entry_at + from,
                                        other->end - from, sim->y), 0);
        }
        a[i] = md_add(a[i], md_of_unit(row->soft, 0));
        for (e = first; e < end; e++) sim->y[sim->entry_at[e]] = MD_U(0);
    }
}

/* Which row of the problem bounds row i of it, into its findex, mu and cap; returns whether a row
   of the sim does. */
MD_STATIC int md_dantzig_lead(mdyn_sim *sim, int n, int i, md_scale e)
{
    md_dantzig *d = &sim->dantzig;
    const md_row *row = &sim->row[d->row[i]];
    md_num mu = MD_K(0);
    int leader = row->kind <= MDYN_ROW_LOSS ? md_row_leader(sim, row, &mu) : -1;
    d->findex[i] = -1;
    d->edge[i].cap = MD_K(1e30);
    if (leader >= 0) {
        const mdyn_wide effort = sim->coupling[row->index].effort;
        mu = md_mul(mu, md_mul(sim->row[leader].scale, row->length));
        if (row->kind == MDYN_ROW_COUPLING && !md_is_null(effort))
            d->edge[i].cap = md_shifted(md_mul(md_mul(sim->h, md_of_wide(effort)), row->length),
                                        -e);
    }
#if MDYN_BODY_ROWS_ > 0
    if (md_follows(sim, row) && sim->stage == 0) {
        leader = md_body_row_at(sim, row)->normal;
        mu = md_body_row_at(sim, row)->ratio;
    }
#endif
    if (leader < 0) return 0;
    d->findex[i] = (int16_t)md_dantzig_place(d, n, leader);
    d->mu[i] = md_to_wide(mu);
    return 1;
}

/* What row i asks, and between which bounds; those of a row that another leads follow later. */
MD_STATIC void md_dantzig_ask(mdyn_sim *sim, md_lcp *s, int i, md_scale e)
{
    md_row *row = &sim->row[sim->dantzig.row[i]];
    md_edge *edge = &s->edge[i];
    const int first = row->first + row->given, led = md_dantzig_lead(sim, s->n, i, e);
    const md_unit u = md_dot_at(sim->entry + first, sim->entry_at + first, row->end - first,
                                sim->du);
    edge->low = edge->least = MD_K(-1e30);
    edge->high = edge->most = MD_K(1e30);
    if (md_less(MD_K(-1e29), row->low)) edge->low = md_of_unit(md_unit_sub(row->u_low, u), 0);
    if (md_less(row->high, MD_K(1e29))) edge->high = md_of_unit(md_unit_sub(row->u_high, u), 0);
    if (md_follows(sim, row)) {
        md_friction_bound(sim, row);
        edge->least = md_of_unit(row->u_least, 0);
        edge->most = md_of_unit(row->u_most, 0);
    } else if (!led) {
        if (md_less(MD_K(-1e29), row->least)) edge->least = md_of_unit(row->u_least, 0);
        if (md_less(row->most, MD_K(1e29))) edge->most = md_of_unit(row->u_most, 0);
    }
    s->state[i] = 0;
    if (md_less(edge->low, edge->high)) {
        int below = md_less(md_abs(edge->high), md_abs(edge->low));
        if (led || (md_less(edge->least, MD_K(0)) && md_less(MD_K(0), edge->most)))
            s->state[i] = MD_LCP_EDGE;
        else below = !md_less(MD_K(0), edge->most);
        if (below) s->state[i] |= MD_LCP_BELOW;
    }
    if (led) edge->least = edge->most = MD_K(0);
    md_lcp_take_side(s, i);
    s->scale[i] = MD_K(1);
    s->used[i] = MD_K(0);
    s->x[i] = md_lcp_hold(s, i, MD_K(0));
}

/* The impulses of all bounded rows, which are 0, by pivoting; rows that nothing stops are marked as
   contradictory. Returns 0, and leaves them 0, if they would be so large that of the motion only
   rounding is left. Cost: O(entries) for each row, then that of mdyn_lcp_dantzig. */
MD_STATIC int md_pivot_rows(mdyn_sim *sim, md_scale e)
{
    md_dantzig *d = &sim->dantzig;
    const int n = md_dantzig_gather(sim);
    md_num need = md_of_unit(md_units_largest(sim->du, sim->dofs + sim->rows), 0);
    int i;
    mdyn_lcp p;
    md_lcp s;
    md_lcp_furnish(&s, n, d->number, d->index);
    s.edge = d->edge;
    s.coarse = md_div(md_of_unit(md_unit_shifted(MD_U_ROUNDING, 2), 0),
                      MD_K(MD_LCP_NOISE * MD_EPSILON));
    p.n = n;
    p.hi = d->mu;
    p.findex = NULL;
    p.friction = MDYN_PYRAMID;
    md_dantzig_products(sim, &s);
    for (i = 0; i < n; i++) {
        md_dantzig_ask(sim, &s, i, e);
        if (d->findex[i] >= 0) p.findex = d->findex;
        need = md_max(need, md_max(s.edge[i].low, md_neg(s.edge[i].high)));
    }
    sim->pivots += md_lcp_solve(&s, &p);
    for (i = 0; i < n; i++)
        if (md_less(need, md_mul(MD_K(10000 * MD_EPSILON), md_abs(s.x[i])))) return 0;
    for (i = 0; i < n; i++) {
        md_row *row = &sim->row[d->row[i]];
        md_set_impulse(sim, row, md_unit_of(s.x[i], 0));
        sim->strain |= md_strain_of(row->u_lambda);
        if (s.state[i] & MD_LCP_STUCK) row->flags |= MDYN_ROW_CONTRADICTORY;
    }
    return 1;
}
#endif

/* ---- sweeps ---- */

/* Hands out the scratch of the sweeps: MDYN_PGS_SCRATCH(n). */
MD_STATIC void md_lcp_furnish_sweeps(md_lcp *s, int n, mdyn_lcp_cell *scratch)
{
    s->n = n;
    s->edge = NULL;
    s->x = (md_num *)(void *)scratch;
    s->lo = s->x + n;
    s->hi = s->lo + n;
    s->scale = s->hi + n;
    s->size = s->scale + n;
    s->state = (int *)(void *)(s->size + n);
}

/* x_i := clamp(x_i + omega (b_i - A_i x) / A_ii); returns by how much x_i moved. */
MD_STATIC md_num md_lcp_visit(md_lcp *s, const mdyn_lcp *p, int i, md_num omega)
{
    const int k = md_lcp_friction_of(p, i);
    const md_num old = s->x[i];
    md_num miss;
    if (k >= 0) md_lcp_bind(s, p, i, MD_K(1), s->x[k]);
    miss = md_sub(md_of_wide(p->b[i]), md_lcp_product(s, p, i));
    miss = md_mul(md_mul(omega, miss), s->size[i]);
    s->x[i] = md_lcp_hold(s, i, md_add(old, miss));
    return md_sub(s->x[i], old);
}

/* At most `most` sweeps, until none of them moves an x by more than `tolerance` of the largest;
   returns how many, and in *moves whether something still does. */
MD_STATIC int md_lcp_sweep(md_lcp *s, const mdyn_lcp *p, md_num omega, md_num tolerance, int most,
                           int *moves)
{
    int i, sweeps = 0;
    do {
        md_num moved = MD_K(0), largest = MD_K(0);
        for (i = 0; i < s->n; i++) {
            const md_num d = md_lcp_visit(s, p, i, omega);
            moved = md_max(moved, md_div(md_abs(d), s->scale[i]));
            largest = md_max(largest, md_div(md_abs(s->x[i]), s->scale[i]));
        }
        *moves = md_less(md_mul(tolerance, largest), moved);
        sweeps++;
    } while (*moves && sweeps < most);
    return sweeps;
}

MDYN_API int mdyn_lcp_pgs(const mdyn_lcp *problem, const mdyn_solver *solver, mdyn_wide *x,
                          mdyn_wide *w, mdyn_lcp_cell *scratch, int cells,
                          mdyn_lcp_report *report)
{
    const int warm = solver && solver->start == MDYN_WARM;
    const int most = !solver || !solver->sweeps ? 100
        : solver->sweeps < 32767 ? (int)solver->sweeps : 32767;
    md_num omega = MD_K(0), tolerance = MD_K(0);
    md_lcp s;
    mdyn_lcp_report own;
    int i, code, sweeps, moves;
    if (!report) report = &own;
    code = md_lcp_check(problem, x, scratch, cells, 1, report);
    if (code != MDYN_OK || problem->n == 0) return code;
    if (solver) {
        if (!md_is_usable(solver->relaxation) || !md_is_usable(solver->tolerance))
            return md_lcp_blame(report, MDYN_ERR_SOLVER, -1);
        omega = md_of_wide(solver->relaxation);
        tolerance = md_of_wide(solver->tolerance);
        if (md_less(omega, MD_K(0)) || !md_less(omega, MD_K(2)) || md_less(tolerance, MD_K(0))
            || (!warm && solver->start != MDYN_COLD))
            return md_lcp_blame(report, MDYN_ERR_SOLVER, -1);
    }
    if (md_is_zero(omega)) omega = MD_K(1);
    if (md_is_zero(tolerance)) tolerance = MD_K(8 * MD_EPSILON);
    for (i = 0; i < problem->n && warm; i++)
        if (!md_is_usable(x[i])) return md_lcp_blame(report, MDYN_ERR_NOT_FINITE, i);
    md_lcp_furnish_sweeps(&s, problem->n, scratch);
    i = md_lcp_scale_rows(&s, problem);
    if (i >= 0) return md_lcp_blame(report, MDYN_ERR_LCP_MATRIX, i);
    for (i = 0; i < s.n; i++) {
        const md_num a = md_lcp_given(problem, i, i);
        s.x[i] = warm ? md_of_wide(x[i]) : MD_K(0);
        s.size[i] = md_is_zero(a) ? MD_K(1) : md_div(MD_K(1), a);
        s.state[i] = 0;
        md_lcp_set_bounds(&s, problem, i, MD_K(1));
    }
    sweeps = md_lcp_sweep(&s, problem, omega, tolerance, most, &moves);
    md_lcp_bind_all(&s, problem);
    code = md_lcp_give_out(&s, problem, x, w, report, sweeps);
    if (code < 0) return code;
    if (moves) return MDYN_WARN_NOT_CONVERGED;
    report->row = -1;
    return MDYN_OK;
}
#endif /* MIMICDYN_LCP */

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
