/* mimicdyn.h - dynamics of articulated mechanisms with coupled joints, in one header. v0.1
   SPDX-License-Identifier: MIT OR Unlicense          (both texts at the end of this file)

   Trees of rigid bodies with coupled joints (mimic joints, gears of any number of shafts),
   limits, friction, drives, loops and contacts, solved every control tick in bounded time.
   No malloc, no libc, no globals, no recursion. C99, also C++11 and later. In float, in double,
   or in fixed point that is more accurate than float and gives the same bits on every processor.

   DO THIS in exactly one file:                 and just this everywhere else:
      #define MIMICDYN_IMPLEMENTATION              #include "mimicdyn.h"
      #include "mimicdyn.h"

   A GRIPPER    enum { LEFT_JAW, RIGHT_JAW };
                static const mdyn_body bodies[] = {
                    MDYN_BODY(MDYN_WORLD, MDYN_SLIDES(0, 1, 0), MDYN_AT(0, 0, 0),
                              MDYN_POINT_MASS(0.015), MDYN_PASSIVE, "left jaw"),
                    MDYN_BODY(MDYN_WORLD, MDYN_SLIDES(0, -1, 0), MDYN_AT(0, 0, 0),
                              MDYN_POINT_MASS(0.015), MDYN_PASSIVE, "right jaw"),
                };
                static const mdyn_coupling couplings[] = {
                    MDYN_MIMIC(RIGHT_JAW, LEFT_JAW, 1.0, 0.0),  // q_right = 1.0 q_left + 0.0
                };
                static const mdyn_model gripper = MDYN_MODEL(bodies, 2, couplings, 1,
                                                             MDYN_V3(0, 0, -9.81), 0.001);
                static mdyn_sim sim;                            // fixed size, no heap

                if (mdyn_init(&sim, &gripper) < 0) stop(mdyn_text(sim.culprit.code));
                for (;;) { sim.tau[LEFT_JAW] = MDYN_R(2.0); mdyn_step(&sim); }

   IT DOES NOT  find contacts, read URDF, allocate, start threads, keep time, or hold globals:
                two sims in two threads are independent.

   CONTENTS     the rooms in the order of the file; each uses only those above it. Search for:
      Interface >>config knobs              >>types model, codes, sim   >>calls what users call
      Numbers   >>compiler attributes       >>fixed fixed point         >>float float, double
                >>common to both
      Bodies    >>model accessors           >>kinematics pose, velocity >>dynamics M, bias force
                >>curves f(q) of couplings  >>reduce v = G y'           >>integrate q (+) dt v
      Rows      >>lcp A x = b + w           >>constraints on joints     >>closures loops, user rows
                >>contacts with friction    >>whiten L^-T J^T           >>equality exact, by QR
                >>plan order, non-zeros
      Solve     >>pgs iteration             >>dantzig pivoting          >>solve passes, substeps
                >>step solve, report
      Set-up    >>check of the model        >>range of a joint          >>build tables to sim
                >>project onto constraints  >>explain a row as text     >>query a sim's results
                >>save a sim as bytes
      End       >>public the calls          >>license

   UNITS        SI and radians. Gravity is an acceleration: (0, 0, -9.81) pulls down.

   FRAMES       A body's frame is its joint's frame after the motion: `position` and `rotation`
                place the joint in the parent's frame, then the joint moves. A point of a body
                and its mass properties are given in the body's axes; `inertia` is taken about
                the center of mass and holds the matrix elements themselves.

   VELOCITIES   Revolute, prismatic, helical: one coordinate, one DoF. Spherical: quaternion
                (w, x, y, z), angular velocity in the body's axes. Free: position, quaternion;
                (angular velocity, velocity of the origin), both in the body's axes.
                Multi-turn joints never wrap. Coordinates, velocities and commands are below
                8388608 (2^23) in magnitude in every build; a step that would pass 8388600 is
                an error.

   ONE STEP     q_m = q (+) dt/2 v                          the middle of the step
                v' = v + dt M^-1 (tau - C) + M^-1 J^T lambda,   M, C, J at q_m
                q' = q_m (+) dt/2 v'                        second order in dt
                C takes the velocity of the middle, extrapolated by the last two changes of v.
                Commands that change with time (tau, targets, wrenches) are those of the
                middle of the step, t + dt/2.
                Hard couplings of default softness are no rows: their followers are functions
                of the independent joints, v = G y', which move with M_y = G^T M G (>>reduce).
                Every constraint row k satisfies complementarity:
                    v_lo_k <= J_k v' + cfm_k lambda_k <= v_hi_k
                    lambda_k > 0 only at v_lo_k,  lambda_k < 0 only at v_hi_k
                    -dt effort_k <= lambda_k <= dt effort_k
                coupling   v_lo = v_hi = target_velocity
                limit      v_lo = (lower - q_m)/dt, v_hi = (upper - q_m)/dt: reached, not passed
                friction   v_lo = v_hi = 0, |lambda| <= dt friction
                drive      a spring and damper towards its target, stable for any gains
                Position errors move q and leave v: each step removes the part erp of C, of a
                violated limit 20 %. A coupling with lower < upper is an inequality on C; its
                violation is corrected with the coupling's erp.
                Rows without a bound on their impulse are solved exactly and together, all
                others by projected Gauss-Seidel iteration in the space that the former leave.
                Inconsistent hard constraints are satisfied in the least-squares sense;
                residuals are in units of C', so doubling the coefficients and the offset of a
                constraint quadruples its weight.

   NUMBERS      mdyn_real   state and commands:  MDYN_R(2.0)   q, v, tau, targets
                mdyn_wide   any magnitude:       MDYN_C(1e-7)  model tables, M, forces, impulses
                With MIMICDYN_SCALAR FIXED both are integers that the compiler makes of these
                macros; mdyn_real_of, mdyn_wide_of, mdyn_of_counts, mdyn_to_counts convert.

   ERRORS       Functions return MDYN_OK (0), a warning (> 0, the call was carried out) or an
                error (< 0, nothing was changed). sim.culprit names the body, coupling or DoF;
                mdyn_text() is the code as a sentence, mdyn_remedy() what to do.              */

#ifndef MIMICDYN_H
#define MIMICDYN_H

#include <stddef.h>
#include <stdint.h>

/* The version, as three numbers and as one that can be compared: 100 minor + 10000 major + patch.
   What may change between versions: README, Versions. */
#define MDYN_VERSION_MAJOR 0
#define MDYN_VERSION_MINOR 1
#define MDYN_VERSION_PATCH 0
#define MDYN_VERSION (10000 * MDYN_VERSION_MAJOR + 100 * MDYN_VERSION_MINOR + MDYN_VERSION_PATCH)

/* ============================================================================ // >>config
   Every knob is a plain number with a default. The knobs down to MIMICDYN_QUATERNIONS change the
   layout of mdyn_sim, so all files of a program must agree: a mismatch is a link error that spells
   both configurations. */

/* A preprocessor cannot list the macros that are defined, so it does not notice a misspelled knob.
   Two checks help. With MIMICDYN_KNOBS=n the program says how many of the knobs below it defines;
   compilation stops if the count differs. And some names that were mistaken for knobs before stop
   it always. */
#if defined(MIMICDYN_KNOBS) && MIMICDYN_KNOBS != defined(MIMICDYN_SCALAR) \
    + defined(MIMICDYN_MAX_BODIES) + defined(MIMICDYN_MAX_DOFS) \
    + defined(MIMICDYN_MAX_COUPLINGS) + defined(MIMICDYN_MAX_BODY_ROWS) \
    + defined(MIMICDYN_MAX_CONTACTS) + defined(MIMICDYN_MAX_DANTZIG) \
    + defined(MIMICDYN_MAX_CURVES) + defined(MIMICDYN_MAX_ROWS) \
    + defined(MIMICDYN_MAX_TERMS) + defined(MIMICDYN_MAX_ENTRIES) \
    + defined(MIMICDYN_TREE) + defined(MIMICDYN_EXACT) + defined(MIMICDYN_WARM) \
    + defined(MIMICDYN_CHECKS) + defined(MIMICDYN_WARNINGS) + defined(MIMICDYN_SETTINGS) \
    + defined(MIMICDYN_LOSSES) + defined(MIMICDYN_QUATERNIONS) + defined(MIMICDYN_LCP) \
    + defined(MIMICDYN_BAKED) + defined(MIMICDYN_HAS) + defined(MIMICDYN_STATIC)
#error "MIMICDYN_KNOBS is not the number of knobs that are defined: is one of them misspelled?"
#endif
#if defined(MIMICDYN_BODIES) || defined(MIMICDYN_DOFS) || defined(MIMICDYN_COUPLINGS) \
    || defined(MIMICDYN_CONTACTS) || defined(MIMICDYN_ROWS) || defined(MIMICDYN_MAX_BODYS) \
    || defined(MIMICDYN_MAX_BODY) || defined(MIMICDYN_MAX_LINKS) || defined(MIMICDYN_MAX_JOINTS) \
    || defined(MIMICDYN_MAX_DOF) || defined(MIMICDYN_MAX_COUPLING) \
    || defined(MIMICDYN_MAX_CONTACT) || defined(MIMICDYN_MAX_ROW) || defined(MIMICDYN_MAX_TERM) \
    || defined(MIMICDYN_MAX_ENTRY) || defined(MIMICDYN_MAX_CLOSURES) || defined(MIMICDYN_FIXED) \
    || defined(MIMICDYN_FLOAT) || defined(MIMICDYN_DOUBLE) || defined(MIMICDYN_REAL) \
    || defined(MDYN_MAX_BODIES) || defined(MDYN_MAX_DOFS) || defined(MDYN_IMPLEMENTATION)
#error "this is no knob: MIMICDYN_SCALAR, MIMICDYN_MAX_BODIES and so on are; see >>config"
#endif

/* MIMICDYN_SCALAR - the arithmetic. F32: float with compensated state; F64: double; FIXED:
   integers only, more accurate than float, the same bits on every processor for the same
   constants. (Where the compiler's double has 32 bits, as on AVR, MDYN_C and MDYN_R round to 24
   bits.) */
#ifndef MIMICDYN_SCALAR
#define MIMICDYN_SCALAR F32
#endif

/* MIMICDYN_MAX_BODIES - maximum number of bodies of a model, without the world. 1 to 4096. */
#ifndef MIMICDYN_MAX_BODIES
#define MIMICDYN_MAX_BODIES 16
#endif

/* MIMICDYN_MAX_DOFS - maximum number of degrees of freedom: 1 for revolute, prismatic and helical
   joints, 3 for spherical, 6 for free ones, before couplings. 1 to 8192. */
#ifdef MIMICDYN_MAX_DOFS
#define MDYN_SPELL_DOFS_ MIMICDYN_MAX_DOFS
#else
#define MDYN_SPELL_DOFS_ default
#define MIMICDYN_MAX_DOFS MIMICDYN_MAX_BODIES
#endif

/* MIMICDYN_MAX_COUPLINGS - maximum number of couplings of a model. 1 to 4096. */
#ifdef MIMICDYN_MAX_COUPLINGS
#define MDYN_SPELL_COUPLINGS_ MIMICDYN_MAX_COUPLINGS
#else
#define MDYN_SPELL_COUPLINGS_ default
#define MIMICDYN_MAX_COUPLINGS MIMICDYN_MAX_BODIES
#endif

/* MIMICDYN_MAX_BODY_ROWS - maximum number of constraint rows on bodies: 3 for a closure at a point,
   5 for a hinge, 6 for a weld, 1 for a distance, 1 for a user row. 0 to 4096; 0 leaves their code
   and data out. */
#ifndef MIMICDYN_MAX_BODY_ROWS
#define MIMICDYN_MAX_BODY_ROWS 0
#endif

/* MIMICDYN_MAX_CONTACTS - maximum number of contacts in a step, 3 rows each. 0 to 1024; 0 leaves
   their code and data out. */
#ifndef MIMICDYN_MAX_CONTACTS
#define MIMICDYN_MAX_CONTACTS 0
#endif
#define MDYN_BODY_ROWS_ (MIMICDYN_MAX_BODY_ROWS + 3 * MIMICDYN_MAX_CONTACTS)

/* MIMICDYN_MAX_DANTZIG - capacity of the Dantzig solver: all rows whose impulse has a bound or one
   sign only, inactive limits included; memory grows with the square. 0 to 1024; 0 leaves
   MDYN_DANTZIG out. */
#ifndef MIMICDYN_MAX_DANTZIG
#define MIMICDYN_MAX_DANTZIG 0
#endif

/* MIMICDYN_MAX_CURVES - maximum number of terms of couplings that name a curve. 0 to 1024; 0 leaves
   nonlinear couplings out, code and data. */
#ifndef MIMICDYN_MAX_CURVES
#define MIMICDYN_MAX_CURVES 0
#endif

/* MIMICDYN_MAX_ROWS - maximum number of constraint rows: one for each coupling, two if it has an
   efficiency, one for each DoF with a drive, with dry friction, with a limit, and those on bodies.
   1 to 8192. */
#ifdef MIMICDYN_MAX_ROWS
#define MDYN_SPELL_ROWS_ MIMICDYN_MAX_ROWS
#else
#define MDYN_SPELL_ROWS_ default
#define MIMICDYN_MAX_ROWS (MIMICDYN_MAX_COUPLINGS + MIMICDYN_MAX_DOFS + MDYN_BODY_ROWS_)
#endif

/* MIMICDYN_MAX_TERMS - maximum number of joints in a coupling, and of bodies in a row. 2 to 64. */
#ifndef MIMICDYN_MAX_TERMS
#define MIMICDYN_MAX_TERMS 4
#endif

/* MIMICDYN_MAX_ENTRIES - capacity for the non-zeros of the mass matrix and of all rows: one per
   ancestor DoF of each DoF and of each row, plus fill-in from couplings that share joints. Dry
   friction, limit and a drive with an effort share those of one row, also on joints that couplings
   without bounds and softness tie to one leader. mdyn_init refuses a model that does not fit;
   mdyn_required gives a number that suffices, sim.report.entries the number in use. 1 to 32767. */
#ifdef MIMICDYN_MAX_ENTRIES
#define MDYN_SPELL_ENTRIES_ MIMICDYN_MAX_ENTRIES
#else
#define MDYN_SPELL_ENTRIES_ default
/* From 16 DoF on 536 more: a chain of 16 joints with limits, dry friction and drives without effort
   needs 920; with drives that have an effort, 272. */
#define MDYN_ENTRIES_ (8 * (MIMICDYN_MAX_DOFS + MIMICDYN_MAX_ROWS + MDYN_BODY_ROWS_) \
                       + 536 * (MIMICDYN_MAX_DOFS >= 16))
#if MDYN_ENTRIES_ <= 32767
#define MIMICDYN_MAX_ENTRIES MDYN_ENTRIES_
#else
#define MIMICDYN_MAX_ENTRIES 32767
#endif
#endif

/* MIMICDYN_TREE - 0 leaves out articulated bodies: what remains are rotors and sliders on the world
   whose inertia is their armature, with couplings, limits, friction and drives. For the smallest
   processors. 0 or 1. */
#ifndef MIMICDYN_TREE
#define MIMICDYN_TREE 1
#endif

/* MIMICDYN_QUATERNIONS - 0 leaves out spherical and free joints: mdyn_init refuses them. 0 or 1. */
#ifndef MIMICDYN_QUATERNIONS
#define MIMICDYN_QUATERNIONS MIMICDYN_TREE
#endif

/* MIMICDYN_EXACT - 0 leaves out the exact solution of equality constraints: all constraints are
   solved iteratively, as with MDYN_ITERATED. mdyn_project and mdyn_constrained_dynamics then
   iterate up to 2000 times and do not compute the least-squares compromise of inconsistent
   couplings. 0 or 1. */
#ifndef MIMICDYN_EXACT
#define MIMICDYN_EXACT 1
#endif

/* MIMICDYN_WARM - 0 leaves out warm starts: the iteration begins at zero impulses, as with
   MDYN_COLD. It then needs more iterations. 0 or 1. */
#ifndef MIMICDYN_WARM
#define MIMICDYN_WARM 1
#endif

/* MIMICDYN_CHECKS - 0 leaves out the checks of bodies, couplings and solver in mdyn_init and
   mdyn_set_coupling, except those of capacity and inertia: invalid models are then undefined
   behavior. Only for firmware whose model was validated by a desktop build with otherwise
   identical configuration. 0 or 1. */
#ifndef MIMICDYN_CHECKS
#define MIMICDYN_CHECKS 1
#endif

/* MIMICDYN_WARNINGS - 0 leaves out the search of mdyn_init and mdyn_set_coupling for redundant and
   inconsistent couplings and for limits that leave no position. Errors remain. Only for firmware
   whose model was validated by a desktop build. Needs MIMICDYN_EXACT. 0 or 1. */
#ifndef MIMICDYN_WARNINGS
#define MIMICDYN_WARNINGS MIMICDYN_EXACT
#endif

/* MIMICDYN_SETTINGS - 0 compiles only the default solver: of mdyn_solver only iterations,
   relaxation, tolerance, accuracy and friction_law are honored, and mdyn_init refuses other
   settings. 0 or 1. */
#ifndef MIMICDYN_SETTINGS
#define MIMICDYN_SETTINGS 1
#endif

/* MIMICDYN_LOSSES - 0 leaves out `efficiency` and `mu`, by which the impulse of one row bounds that
   of another: mdyn_init refuses them. 0 or 1. */
#ifndef MIMICDYN_LOSSES
#define MIMICDYN_LOSSES 1
#endif

/* MIMICDYN_LCP - 0 leaves out mdyn_lcp_dantzig and mdyn_lcp_pgs, complementarity problems without
   a sim. 0 or 1. */
#ifndef MIMICDYN_LCP
#define MIMICDYN_LCP 1
#endif

/* MIMICDYN_BAKED - 1 leaves out the set-up of rows, for sims that examples/bake wrote as C:
   MDYN_ERR_BAKED from mdyn_init, from changes of couplings, bodies or solver, from a step after a
   change of dt, and from all that needs the rows of another solve. Needs MIMICDYN_TREE 0,
   MIMICDYN_EXACT 1, MIMICDYN_SETTINGS 0 and MIMICDYN_LOSSES 0. 0 or 1. */
#ifndef MIMICDYN_BAKED
#define MIMICDYN_BAKED 0
#endif

/* What a sim can have, each a power of 2. Rows do not count those of eliminated couplings. */
#define MDYN_HAS_ELIMINATED 1  /* couplings that are eliminated */
#define MDYN_HAS_EXACT 2       /* rows without a bound on their impulse */
#define MDYN_HAS_REDUNDANT 4   /* of those, rows that depend on others */
#define MDYN_HAS_BOUNDED 8     /* rows with a bound on their impulse */
#define MDYN_HAS_COUPLING 16   /* rows of couplings */
#define MDYN_HAS_DRIVE 32
#define MDYN_HAS_FRICTION 64
#define MDYN_HAS_LIMIT 128
#define MDYN_HAS_RANGE 256     /* couplings with lower < upper */
#define MDYN_HAS_SOFT 512      /* rows with compliance: drives, springs */
#define MDYN_HAS_VELOCITY 1024 /* couplings of velocities, or with a target velocity */
#define MDYN_HAS_BREAKS 2048   /* couplings that break */
#define MDYN_HAS_SHARED 4096   /* velocities that share inertia */
#define MDYN_HAS_SPARE 8192    /* fewer DoFs than MIMICDYN_MAX_DOFS */
#define MDYN_HAS_SPRING 16384  /* couplings with compliance */
#define MDYN_HAS_SLIDER 32768  /* with a tree: joint velocities along an axis */
#define MDYN_HAS_SCREW 65536   /* helical joints */
#define MDYN_HAS_ALL 131071

/* MIMICDYN_HAS - the sum of what the program's sims have, MDYN_HAS_...; code for the rest is left
   out. What examples/bake writes defines it, where it is included before this header too. If it is
   not all, mdyn_init and what changes couplings, bodies or the solver give MDYN_ERR_BAKED.
   0 to MDYN_HAS_ALL. */
#ifndef MIMICDYN_HAS
#define MIMICDYN_HAS MDYN_HAS_ALL
#endif

/* MIMICDYN_STATIC - 1 makes every function static, for a program of one file. 0 or 1. */
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

/* Ranges of the knobs, and what they need of each other and of the compiler. */
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
#if MIMICDYN_MAX_CURVES < 0 || MIMICDYN_MAX_CURVES > 1024
#error "MIMICDYN_MAX_CURVES must be 0 to 1024"
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
#error "MIMICDYN_WARNINGS needs MIMICDYN_EXACT 1, which finds dependent rows"
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
#error "MIMICDYN_MAX_DANTZIG needs MIMICDYN_LCP 1, whose pivoting it uses"
#endif
#if MIMICDYN_BAKED != 0 && MIMICDYN_BAKED != 1
#error "MIMICDYN_BAKED must be 0 or 1"
#endif
#if MIMICDYN_BAKED \
    && (MIMICDYN_TREE || !MIMICDYN_EXACT || MIMICDYN_SETTINGS || MIMICDYN_LOSSES)
#error "MIMICDYN_BAKED needs MIMICDYN_TREE 0, _EXACT 1, _SETTINGS 0 and _LOSSES 0"
#endif
#if MIMICDYN_BAKED && MIMICDYN_MAX_CURVES > 0
#error "MIMICDYN_BAKED needs MIMICDYN_MAX_CURVES 0: rows of curves are set up in each step"
#endif
#if MIMICDYN_HAS < 0 || MIMICDYN_HAS > MDYN_HAS_ALL
#error "MIMICDYN_HAS must be 0 to MDYN_HAS_ALL"
#endif
#if MIMICDYN_HAS != MDYN_HAS_ALL && (MDYN_BODY_ROWS_ > 0 || MIMICDYN_MAX_CURVES > 0)
#error "MIMICDYN_HAS needs MIMICDYN_MAX_BODY_ROWS, _CONTACTS and _CURVES 0"
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
#if defined(__CC_ARM) && !defined(__FP_IEEE) && MDYN_SCALAR != MDYN_SCALAR_FIXED
#error "mimicdyn.h needs IEEE arithmetic: armcc has it with --fpmode=ieee_no_fenv"
#endif
#if defined(__FAST_MATH__) && MDYN_SCALAR != MDYN_SCALAR_FIXED
#error "mimicdyn.h needs IEEE arithmetic: compile without -ffast-math"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ == 2 && MDYN_SCALAR != MDYN_SCALAR_FIXED
#error "x87 arithmetic keeps excess digits: add -msse2 -mfpmath=sse"
#endif

/* A spherical joint has 4 coordinates for 3 DoF, a free one 7 for 6, every other as many as DoF. */
#define MDYN_MAX_COORDINATES \
    (MIMICDYN_MAX_DOFS + (MIMICDYN_QUATERNIONS ? MIMICDYN_MAX_DOFS / 3 : 0))

/* ============================================================================= // >>types
   What users write: numbers, bodies, couplings, closures, user rows, contacts, solver, model. What
   they read: codes and reports. Then the private parts of the sim, and the sim.
   Tables and the model are read only and must outlive the sim. In every struct of a table zero
   means the default that its comment names. Units are SI and radians; that of a coupling's C is
   the unit of coefficient times coordinate. */

/* A conversion in the users' tables that no C++ compiler warns of, whatever its options. */
#ifdef __cplusplus
#define MDYN_CAST_(type, x) static_cast<type>(x)
#else
#define MDYN_CAST_(type, x) ((type)(x))
#endif

/* MDYN_R(x): a state or a command, |x| < 2^23. MDYN_C(x): a model constant of any magnitude. In
   fixed point the compiler makes integers of both; an mdyn_real has the arithmetic of integers, an
   mdyn_wide none:
      mdyn_real   x 2^40                                          resolution 9.1e-13
      mdyn_wide   m 2^8 + (e mod 2^8) for x = m 2^e, |m| < 2^55   at least 39 bits */
#if MDYN_SCALAR == MDYN_SCALAR_FIXED
typedef int64_t mdyn_real;
typedef int64_t mdyn_wide;
#define MDYN_MAGNITUDE_BELOW_(x, bound) ((x) < (bound) && (x) > -(bound))
#define MDYN_ROUND_(x) MDYN_CAST_(int64_t, (x) + ((x) < 0 ? -0.5 : 0.5))
#define MDYN_WIDE_(x, e, scale) \
    (MDYN_ROUND_(MDYN_CAST_(double, x) * (scale)) * 256 + ((e) & 255))
#define MDYN_WIDE_HUGE_ 0x7FFFFFFFFFFFFF7F
#define MDYN_WIDE_NEGATIVE_HUGE_ (-0x7FFFFFFFFFFFFF81)
#define MDYN_R(x) \
    (MDYN_MAGNITUDE_BELOW_(x, 8388608.0) ? MDYN_ROUND_(MDYN_CAST_(double, x) * 1099511627776.0) \
                                         : -0x7FFFFFFFFFFFFFFF - 1)
#define MDYN_C(x) \
    ((x) == 0 ? 0 : \
    MDYN_MAGNITUDE_BELOW_(x, 5.421010862427522e-20) ? MDYN_WIDE_(x, -119, 6.646139978924579e35) : \
    MDYN_MAGNITUDE_BELOW_(x, 3.552713678800501e-15) ? MDYN_WIDE_(x, -103, 1.0141204801825835e31) : \
    MDYN_MAGNITUDE_BELOW_(x, 2.3283064365386963e-10) ? MDYN_WIDE_(x, -87, 1.5474250491067253e26) : \
    MDYN_MAGNITUDE_BELOW_(x, 1.52587890625e-05) ? MDYN_WIDE_(x, -71, 2.3611832414348226e21) : \
    MDYN_MAGNITUDE_BELOW_(x, 0.00390625) ? MDYN_WIDE_(x, -63, 9.223372036854775808e18) : \
    MDYN_MAGNITUDE_BELOW_(x, 1.0) ? MDYN_WIDE_(x, -55, 36028797018963968.0) : \
    MDYN_MAGNITUDE_BELOW_(x, 256.0) ? MDYN_WIDE_(x, -47, 140737488355328.0) : \
    MDYN_MAGNITUDE_BELOW_(x, 65536.0) ? MDYN_WIDE_(x, -39, 549755813888.0) : \
    MDYN_MAGNITUDE_BELOW_(x, 4294967296.0) ? MDYN_WIDE_(x, -23, 8388608.0) : \
    MDYN_MAGNITUDE_BELOW_(x, 281474976710656.0) ? MDYN_WIDE_(x, -7, 128.0) : \
    MDYN_MAGNITUDE_BELOW_(x, 1.8446744073709552e19) ? MDYN_WIDE_(x, 9, 0.001953125) : \
    MDYN_MAGNITUDE_BELOW_(x, 1.2089258196146292e24) ? MDYN_WIDE_(x, 25, 2.98023223876953125e-08) : \
    MDYN_MAGNITUDE_BELOW_(x, 7.922816251426434e28) ? MDYN_WIDE_(x, 41, 4.547473508864641e-13) : \
    MDYN_MAGNITUDE_BELOW_(x, 5.192296858534828e33) ? MDYN_WIDE_(x, 57, 6.938893903907228e-18) : \
    (x) < 0 ? MDYN_WIDE_NEGATIVE_HUGE_ : MDYN_WIDE_HUGE_)
/* MDYN_NEAR_ONE_: x of at most 1 in magnitude. MDYN_BY_SIZE_: x^2 <= square < 2^94. The exponent
   does not depend on x, so x is expanded twice and not 57 times. */
#define MDYN_NEAR_ONE_(x) MDYN_WIDE_(x, -53, 9007199254740992.0)
#define MDYN_BY_SIZE_(square, a, b, c, d, e) \
    ((square) < 5.421010862427522e-20 ? (a) : (square) < 2.3283064365386963e-10 ? (b) : \
     (square) < 0.5 ? (c) : (square) < 4294967296.0 ? (d) : (e))
#define MDYN_SIZED_(x, square) MDYN_WIDE_(x, MDYN_BY_SIZE_(square, -86, -70, -54, -38, -7), \
    MDYN_BY_SIZE_(square, 7.737125245533627e25, 1.1805916207174113e21, 18014398509481984.0, \
                  274877906944.0, 128.0))
#else
#if MDYN_SCALAR == MDYN_SCALAR_F64
typedef double mdyn_real;
typedef double mdyn_wide;
#else
typedef float mdyn_real;
typedef float mdyn_wide;
#endif
#define MDYN_R(x) MDYN_CAST_(mdyn_real, x)
#define MDYN_C(x) MDYN_CAST_(mdyn_wide, x)
#define MDYN_NEAR_ONE_(x) MDYN_C(x)
#define MDYN_SIZED_(x, square) MDYN_C(x)
#endif

/* A limit or bound of this magnitude or more is no bound. */
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
#define MDYN_URDF_INERTIA(ixx, ixy, ixz, iyy, iyz, izz) /* the order of URDF and SDF */ \
    MDYN_INERTIA(ixx, iyy, izz, ixy, ixz, iyz)

/* Constants of rotations by roll, pitch and yaw [rad], about x, then y, then z of the fixed frame
   (URDF and SDF), each within 2 pi in magnitude, to 1e-13:
      MDYN_RPY(roll, pitch, yaw)   the quaternion, for `rotation`
      MDYN_ROTATED_INERTIA(ixx, ixy, ixz, iyy, iyz, izz, roll, pitch, yaw)
                                   R I R^T, of I in a frame that R = MDYN_RPY turns, for `inertia`
   Sine and cosine are the power series to x^37, which the compiler evaluates:
      sin x = x (1 - x^2/(2 3) (1 - x^2/(4 5) (...)))
      cos x = 1 - x^2/(1 2) (1 - x^2/(3 4) (...))
   The arguments are written out some hundred times: these are for tables. A body with a rotated
   inertia takes gcc 0.4 s, g++ with FIXED 1.5 s. */
#define MDYN_N_(n, x, rest) \
    (1 - MDYN_CAST_(double, x) * MDYN_CAST_(double, x) / ((n) * ((n) + 1.0)) * (rest))
#define MDYN_N6_(n, x, rest) MDYN_N_(n, x, MDYN_N_(n + 2, x, MDYN_N_(n + 4, x, \
    MDYN_N_(n + 6, x, MDYN_N_(n + 8, x, MDYN_N_(n + 10, x, rest))))))
#define MDYN_SERIES_(n, x) MDYN_N6_(n, x, MDYN_N6_(n + 12, x, MDYN_N6_(n + 24, x, 1)))
#define MDYN_SIN_(x) (MDYN_CAST_(double, x) * MDYN_SERIES_(2, x))
#define MDYN_COS_(x) MDYN_SERIES_(1, x)

/* a(roll/2) b(pitch/2) c(yaw/2) +- d(roll/2) e(pitch/2) f(yaw/2), a to f being SIN or COS. */
#define MDYN_HALF_(a, b, c, sign, d, e, f, roll, pitch, yaw) \
    MDYN_NEAR_ONE_(MDYN_##a##_((roll) / 2.0) * MDYN_##b##_((pitch) / 2.0) \
        * MDYN_##c##_((yaw) / 2.0) sign MDYN_##d##_((roll) / 2.0) \
        * MDYN_##e##_((pitch) / 2.0) * MDYN_##f##_((yaw) / 2.0))
#define MDYN_RPY(roll, pitch, yaw) { \
    MDYN_HALF_(COS, COS, COS, +, SIN, SIN, SIN, roll, pitch, yaw), \
    MDYN_HALF_(SIN, COS, COS, -, COS, SIN, SIN, roll, pitch, yaw), \
    MDYN_HALF_(COS, SIN, COS, +, SIN, COS, SIN, roll, pitch, yaw), \
    MDYN_HALF_(COS, COS, SIN, -, SIN, SIN, COS, roll, pitch, yaw) }

/* Elements of R = Rz(yaw) Ry(pitch) Rx(roll), and of R I R^T. */
#define MDYN_R11_(r, p, y) MDYN_COS_(y) * MDYN_COS_(p)
#define MDYN_R12_(r, p, y) \
    (MDYN_COS_(y) * MDYN_SIN_(p) * MDYN_SIN_(r) - MDYN_SIN_(y) * MDYN_COS_(r))
#define MDYN_R13_(r, p, y) \
    (MDYN_COS_(y) * MDYN_SIN_(p) * MDYN_COS_(r) + MDYN_SIN_(y) * MDYN_SIN_(r))
#define MDYN_R21_(r, p, y) MDYN_SIN_(y) * MDYN_COS_(p)
#define MDYN_R22_(r, p, y) \
    (MDYN_SIN_(y) * MDYN_SIN_(p) * MDYN_SIN_(r) + MDYN_COS_(y) * MDYN_COS_(r))
#define MDYN_R23_(r, p, y) \
    (MDYN_SIN_(y) * MDYN_SIN_(p) * MDYN_COS_(r) - MDYN_COS_(y) * MDYN_SIN_(r))
#define MDYN_R31_(r, p, y) -1.0 * MDYN_SIN_(p)
#define MDYN_R32_(r, p, y) MDYN_COS_(p) * MDYN_SIN_(r)
#define MDYN_R33_(r, p, y) MDYN_COS_(p) * MDYN_COS_(r)
#define MDYN_RIR_(i, j, xx, xy, xz, yy, yz, zz, r, p, y) MDYN_SIZED_( \
    MDYN_R##i##1_(r, p, y) * ((xx) * MDYN_R##j##1_(r, p, y) + (xy) * MDYN_R##j##2_(r, p, y) \
                              + (xz) * MDYN_R##j##3_(r, p, y)) \
    + MDYN_R##i##2_(r, p, y) * ((xy) * MDYN_R##j##1_(r, p, y) + (yy) * MDYN_R##j##2_(r, p, y) \
                                + (yz) * MDYN_R##j##3_(r, p, y)) \
    + MDYN_R##i##3_(r, p, y) * ((xz) * MDYN_R##j##1_(r, p, y) + (yz) * MDYN_R##j##2_(r, p, y) \
                                + (zz) * MDYN_R##j##3_(r, p, y)), \
    (xx) * (xx) + (yy) * (yy) + (zz) * (zz) \
    + 2 * ((xy) * (xy) + (xz) * (xz) + (yz) * (yz)))
#define MDYN_ROTATED_INERTIA(ixx, ixy, ixz, iyy, iyz, izz, roll, pitch, yaw) { \
    MDYN_RIR_(1, 1, ixx, ixy, ixz, iyy, iyz, izz, roll, pitch, yaw), \
    MDYN_RIR_(2, 2, ixx, ixy, ixz, iyy, iyz, izz, roll, pitch, yaw), \
    MDYN_RIR_(3, 3, ixx, ixy, ixz, iyy, iyz, izz, roll, pitch, yaw), \
    MDYN_RIR_(1, 2, ixx, ixy, ixz, iyy, iyz, izz, roll, pitch, yaw), \
    MDYN_RIR_(1, 3, ixx, ixy, ixz, iyy, iyz, izz, roll, pitch, yaw), \
    MDYN_RIR_(2, 3, ixx, ixy, ixz, iyy, iyz, izz, roll, pitch, yaw) }

enum { MDYN_WORLD = -1 };

typedef enum mdyn_joint {
    MDYN_FIXED,     /* no DoF */
    MDYN_REVOLUTE,  /* q = angle about `axis` [rad] */
    MDYN_PRISMATIC, /* q = translation along `axis` [m] */
    MDYN_HELICAL,   /* q = angle about `axis` [rad], translation = pitch q */
    MDYN_SPHERICAL, /* q = quaternion (w,x,y,z); v = angular velocity, body axes */
    MDYN_FREE       /* q = position, quaternion; v = (angular, linear of the origin), body axes */
} mdyn_joint;

/* A body and the joint that carries it. With all fields zero but `parent` it is a massless frame
   welded to its parent. Joint quantities are in rad and N m, or m and N, for each DoF. */
typedef struct mdyn_body {
    int16_t parent;         /* index of an earlier body, or MDYN_WORLD */
    mdyn_joint joint;
    mdyn_wide3 axis;        /* of the joint, in its own frame; any length; zero means z */
    mdyn_wide pitch;        /* helical: translation per angle [m/rad] */
    mdyn_wide3 position;    /* of the joint in the parent's frame [m] */
    mdyn_wide4 rotation;    /* of the joint in the parent's frame; length above 1e-6; zero: none */
    mdyn_wide mass;         /* [kg], >= 0 */
    mdyn_wide3 com;         /* center of mass, body axes [m] */
    mdyn_inertia inertia;   /* about the center of mass, body axes [kg m^2]; no principal moment
                               exceeds the sum of the other two (mdyn_valid_inertia) */
    mdyn_wide armature;     /* rotor inertia reflected to the joint, N^2 J_rotor, >= 0: added to
                               the diagonal of M [kg m^2 or kg]; not for free joints */
    mdyn_wide damping;      /* viscous, stable for any dt [N m s or N s/m], >= 0 */
    mdyn_wide friction;     /* dry (Coulomb) friction: maximum force [N m or N], >= 0 */
    mdyn_wide lower, upper; /* limits of q [rad or m]; both 0: none; joints of one DoF only */
    mdyn_wide effort;       /* maximum force of tau and drive together [N m or N]; 0: no bound */
    mdyn_wide drive_kp;     /* drive towards sim.target [N m/rad or N/m], stable for any dt */
    mdyn_wide drive_kd;     /* drive towards sim.target_velocity [N m s/rad or N s/m]; the same */
    const char *name;       /* for mdyn_explain; may be NULL */
    int16_t inertia_as_given; /* 1: `inertia` is accepted although no rigid body has it. Fast free
                               rotation about a transverse axis is then unstable */
} mdyn_body;

/* A body as constants, with every field given: the form of tables that compiles without a warning
   as C and as C++11 and later, and stays in flash.
      MDYN_BODY(MDYN_WORLD, MDYN_SLIDES(0, 1, 0), MDYN_AT(0, 0, 0), MDYN_POINT_MASS(0.015),
                MDYN_PASSIVE, "left jaw")
   joint    MDYN_WELDED, MDYN_TURNS(axis x, y, z), MDYN_SLIDES(axis), MDYN_SCREWS(axis, pitch),
            MDYN_BALL, MDYN_FLOATS
   place    MDYN_AT(position), MDYN_AT_RPY(position, roll, pitch, yaw)
   matter   MDYN_NO_MASS, MDYN_POINT_MASS(mass), MDYN_RIGID(mass, com x, y, z, inertia), with
            MDYN_INERTIA, MDYN_URDF_INERTIA or MDYN_ROTATED_INERTIA
   drive    MDYN_PASSIVE, MDYN_LIMITS(lower, upper), MDYN_ROTOR(armature), MDYN_JOINT(armature,
            damping, friction, lower, upper, effort, drive_kp, drive_kd) */
#define MDYN_BODY(parent, joint, place, matter, drive, name) \
    { MDYN_CAST_(int16_t, parent), joint, place, matter, drive, name, 0 }
#define MDYN_WELDED MDYN_FIXED, MDYN_V3(0, 0, 0), MDYN_C(0)
#define MDYN_TURNS(x, y, z) MDYN_REVOLUTE, MDYN_V3(x, y, z), MDYN_C(0)
#define MDYN_SLIDES(x, y, z) MDYN_PRISMATIC, MDYN_V3(x, y, z), MDYN_C(0)
#define MDYN_SCREWS(x, y, z, pitch) MDYN_HELICAL, MDYN_V3(x, y, z), MDYN_C(pitch)
#define MDYN_BALL MDYN_SPHERICAL, MDYN_V3(0, 0, 0), MDYN_C(0)
#define MDYN_FLOATS MDYN_FREE, MDYN_V3(0, 0, 0), MDYN_C(0)
#define MDYN_AT(x, y, z) MDYN_V3(x, y, z), MDYN_QUATERNION(0, 0, 0, 0)
#define MDYN_AT_RPY(x, y, z, roll, pitch, yaw) MDYN_V3(x, y, z), MDYN_RPY(roll, pitch, yaw)
#define MDYN_RIGID(mass, x, y, z, inertia) MDYN_C(mass), MDYN_V3(x, y, z), inertia
#define MDYN_POINT_MASS(mass) MDYN_RIGID(mass, 0, 0, 0, MDYN_INERTIA(0, 0, 0, 0, 0, 0))
#define MDYN_NO_MASS MDYN_POINT_MASS(0)
#define MDYN_JOINT(armature, damping, friction, lower, upper, effort, drive_kp, drive_kd) \
    MDYN_C(armature), MDYN_C(damping), MDYN_C(friction), MDYN_C(lower), MDYN_C(upper), \
    MDYN_C(effort), MDYN_C(drive_kp), MDYN_C(drive_kd)
#define MDYN_LIMITS(lower, upper) MDYN_JOINT(0, 0, 0, lower, upper, 0, 0, 0)
#define MDYN_ROTOR(armature) MDYN_JOINT(armature, 0, 0, 0, 0, 0, 0, 0)
#define MDYN_PASSIVE MDYN_ROTOR(0)

/* Softness of a constraint row. Each step converts it to erp, the fraction of the position error
   corrected in a step, 0 to 1, and cfm >= 0, the velocity per impulse that the row yields by
   (compliance).
      MDYN_HARD(erp)               cfm = 0
      MDYN_SOFT(erp, cfm)          cfm acts on the impulse [1/kg or 1/(kg m^2)]
      MDYN_ODE(erp, force_cfm)     ODE's CFM, on the force [1/(kg s) ...]: cfm = force_cfm/dt
      MDYN_SPRING(kp, kd)          force -kp C - kd (C' - target_velocity), of second order in dt
                                   and stable for any kp, kd and dt (md_set_spring)
      MDYN_FREQUENCY(omega, zeta)  kp = omega^2/r, kd = 2 omega zeta/r, r = J M^-1 J^T of the row
                                   over the motions that hard rows leave (MDYN_EXPLICIT: of the
                                   row alone), M with armature and dt damping of this step; omega
                                   in rad/s; hard if omega is 0. Where hard rows leave no motion
                                   there is no mass to hold: no force, and MDYN_ROW_REDUNDANT
   All zero: MDYN_HARD(0.2), and a coupling may be eliminated (see mdyn_coupling). In substeps dt is
   that of a substep; the erp of a hard row is shared among them. With MDYN_EXPLICIT each substep
   has the whole erp, and MDYN_SPRING is erp = dt kp/(dt kp + kd), cfm = 1/(dt (dt kp + kd)).
   Source: PhysX mimic joints, equations (18), (20)-(29); ODE, manual 3.8.2. */
typedef enum mdyn_softness_kind {
    MDYN_DEFAULT, MDYN_ERP_CFM, MDYN_KP_KD, MDYN_OMEGA_ZETA, MDYN_ODE_CFM
} mdyn_softness_kind;
typedef struct mdyn_softness {
    mdyn_softness_kind kind;
    mdyn_wide a, b; /* the two arguments of the macro, in its order */
} mdyn_softness;

#define MDYN_HARD(erp) { MDYN_ERP_CFM, MDYN_C(erp), MDYN_C(0) }
#define MDYN_SOFT(erp, cfm) { MDYN_ERP_CFM, MDYN_C(erp), MDYN_C(cfm) }
#define MDYN_ODE(erp, force_cfm) { MDYN_ODE_CFM, MDYN_C(erp), MDYN_C(force_cfm) }
#define MDYN_SPRING(kp, kd) { MDYN_KP_KD, MDYN_C(kp), MDYN_C(kd) }
#define MDYN_FREQUENCY(omega, zeta) { MDYN_OMEGA_ZETA, MDYN_C(omega), MDYN_C(zeta) }

typedef struct mdyn_term {
    int16_t body;          /* whose joint */
    int8_t axis;           /* which DoF of the joint: 0, unless it is spherical or free */
    uint8_t curve;         /* 0: the coordinate itself; n: f(q) of model.curves[n - 1] */
    mdyn_wide coefficient; /* 0: the term is absent; the largest of a coupling 1e-9 to 1e9 */
} mdyn_term;

/* A curve f(q) for terms of couplings, C = sum of coefficient f(q) + offset; several terms may name
   one curve. It is smooth: f, f' and f'' are continuous. Needs MIMICDYN_MAX_CURVES.
      MDYN_POLYNOMIAL(reference, a0, a1, a2, a3, a4)   f = sum of a_k (q - reference)^k
      MDYN_SPLINE(knots)        cubic spline through a table of MDYN_KNOT(q, f, f''), q ascending,
                                in any spacing. Beyond its ends it goes on as a straight line, so
                                that f'' should be 0 there; mdyn_fill_spline finds f'' for a table
      MDYN_FUNCTION(function, user)   what a function of the user's gives
      MDYN_FUNCTION_WITHIN(lower, upper, function, user)   the same, called for lower <= q <= upper
                                only; beyond it goes on as a straight line. For what has no value
                                everywhere, as a linkage beyond its dead points, and q = 0 of
                                mdyn_init may be there
      MDYN_COUPLER(function, user)    C = coefficient f(q_1, q_2, ...) + offset of all joints of a
                                coupling: each of its terms names this curve; the coefficient is
                                that of its first one, the others only say that they are present
   Source of the coupler: Simbody, Constraint::CoordinateCoupler. */
typedef enum mdyn_curve_kind {
    MDYN_CURVE_POLYNOMIAL, MDYN_CURVE_SPLINE, MDYN_CURVE_FUNCTION, MDYN_CURVE_COUPLER
} mdyn_curve_kind;
typedef struct mdyn_knot { mdyn_wide q, value, curvature; } mdyn_knot;

/* f, f' and f'' at a place, and a function that gives them. It is called at any time with any q in
   range, or within its bounds, and must depend on q alone. */
typedef struct mdyn_curve_point {
    mdyn_real value;
    mdyn_wide slope, curvature;
} mdyn_curve_point;
typedef void (*mdyn_curve_function)(mdyn_real q, mdyn_curve_point *point, void *user);

/* The same of a coupler: q and v of its terms in their order, 0 of absent ones; f, its gradient,
   and J' v, the rate of the gradient times v. */
typedef struct mdyn_coupler_point {
    mdyn_real value;
    mdyn_wide gradient[MIMICDYN_MAX_TERMS], rate;
} mdyn_coupler_point;
typedef void (*mdyn_coupler_function)(const mdyn_real *q, const mdyn_real *v,
                                      mdyn_coupler_point *point, void *user);

typedef struct mdyn_curve {
    mdyn_curve_kind kind;
    mdyn_wide reference, a[5];       /* polynomial */
    const mdyn_knot *knots;          /* spline */
    int knot_count;                  /* 2 to 4096 */
    mdyn_curve_function function;    /* function */
    mdyn_coupler_function coupler;   /* coupler */
    void *user_data;                 /* passed to the function */
    mdyn_wide lower, upper;          /* function: where it is called; both 0: everywhere */
} mdyn_curve;

#define MDYN_KNOT(q, value, curvature) { MDYN_C(q), MDYN_C(value), MDYN_C(curvature) }
#define MDYN_NO_POLYNOMIAL_ \
    MDYN_C(0), { MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0) }
#define MDYN_POLYNOMIAL(reference, a0, a1, a2, a3, a4) \
    { MDYN_CURVE_POLYNOMIAL, MDYN_C(reference), \
      { MDYN_C(a0), MDYN_C(a1), MDYN_C(a2), MDYN_C(a3), MDYN_C(a4) }, NULL, 0, NULL, NULL, NULL, \
      MDYN_C(0), MDYN_C(0) }
#define MDYN_SPLINE(knots) \
    { MDYN_CURVE_SPLINE, MDYN_NO_POLYNOMIAL_, knots, MDYN_COUNT(knots), NULL, NULL, NULL, \
      MDYN_C(0), MDYN_C(0) }
#define MDYN_FUNCTION(function, user) MDYN_FUNCTION_WITHIN(0, 0, function, user)
#define MDYN_FUNCTION_WITHIN(lower, upper, function, user) \
    { MDYN_CURVE_FUNCTION, MDYN_NO_POLYNOMIAL_, NULL, 0, function, NULL, user, MDYN_C(lower), \
      MDYN_C(upper) }
#define MDYN_COUPLER(function, user) \
    { MDYN_CURVE_COUPLER, MDYN_NO_POLYNOMIAL_, NULL, 0, NULL, function, user, MDYN_C(0), \
      MDYN_C(0) }

typedef enum mdyn_level {
    MDYN_POSITION, /* C = sum of coefficient q + offset; joints of one DoF only */
    MDYN_VELOCITY  /* C' = sum of coefficient v, of any DoF; no position error. lower and upper
                      bound C' - target_velocity: [0, MDYN_UNLIMITED] is a one-way clutch */
} mdyn_level;

/* A coupling of joints of any trees: lower <= C <= upper, C = sum coefficient_i q_i + offset, or
   f(q_i) in the place of q_i where a term names a curve. Both bounds 0, as in every macro below:
   C = 0. MDYN_GEAR(a, teeth_a, b, teeth_b, 0) has exact
   coefficients and does not drift at any number of turns.
   Elimination: a coupling of positions C = lower = upper with softness all zero, without effort,
   mu, efficiency or target velocity, makes one of its joints a function of the others, which costs
   less than a constraint row. What mdyn_report_row and mdyn_coupling_force say of it is the same.
   A joint whose term names a curve can lead, not follow. On a curve q of the follower is exact;
   its v is the slope times that of the leader to second order of dt.
   MDYN_HARD(0.2) asks for the row; so do MDYN_ITERATED, MDYN_EXPLICIT, MDYN_BAUMGARTE and
   MIMICDYN_EXACT 0 for all couplings. Rows of soft couplings see the joints that such a coupling
   ties as one. Of the limits of joints that depend on one leader alone only the first on each side
   acts; where several are met at once the leader's own does, or else that of the first body.
   Source of the N-way row: PhysX mimic joints, equation (17). */
typedef struct mdyn_coupling {
    mdyn_term terms[MIMICDYN_MAX_TERMS];
    mdyn_wide offset;          /* of C, in its unit (examples/guide/conventions.md); not read at
                                  MDYN_VELOCITY */
    mdyn_softness softness;
    mdyn_wide lower, upper;    /* range of C; +-MDYN_UNLIMITED: no bound on that side */
    mdyn_wide target_velocity; /* C' wanted, beside the correction of C; not read in a range of C */
    mdyn_wide effort;          /* maximum magnitude of the row's force, >= 0; 0: no bound */
    mdyn_level level;
    const char *name;          /* for mdyn_explain; may be NULL */
    mdyn_wide efficiency;      /* transmission efficiency e in both directions, 0 < e <= 1; 0: no
                                  loss. Modeled by a row of its own, MDYN_ROW_LOSS: Coulomb
                                  friction on the first joint's share of C' (half the first
                                  coefficient, minus half the others) with coefficient
                                  2(1 - e)/(1 + e) of the coupling force; the mesh sticks between
                                  the two drive directions */
    mdyn_wide mu;              /* if > 0, |force| <= mu |force of coupling mu_of|, and <= effort if
                                  set; 0: no such bound */
    int16_t mu_of;             /* index of another coupling */
    int16_t breaks;            /* 1: released once its force reaches effort, unless mu bounds the
                                  force to 0 */
} mdyn_coupling;

#define MDYN_TERM(body, coefficient) { MDYN_CAST_(int16_t, body), 0, 0, MDYN_C(coefficient) }
/* coefficient f(q), f = model.curves[curve] */
#define MDYN_CURVED_TERM(body, coefficient, curve) \
    { MDYN_CAST_(int16_t, body), 0, MDYN_CAST_(uint8_t, (curve) + 1), MDYN_C(coefficient) }
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
/* Two meshing wheels:  teeth_a q_a + teeth_b q_b + offset = 0; an internal gear: negative teeth */
#define MDYN_GEAR(a, teeth_a, b, teeth_b, offset) \
    { { MDYN_TERM(a, teeth_a), MDYN_TERM(b, teeth_b) }, MDYN_C(offset), MDYN_COUPLING_END_ }
/* Three joints:  ca q_a + cb q_b + cc q_c + offset = 0 (planetary gear, differential) */
#define MDYN_GEAR3(a, ca, b, cb, c, cc, offset) \
    { { MDYN_TERM(a, ca), MDYN_TERM(b, cb), MDYN_TERM(c, cc) }, MDYN_C(offset), \
      MDYN_COUPLING_END_ }

/* A mimic with what MDYN_MIMIC leaves at its default: a softness macro, a bound on the force
   (0: none), a name (or NULL). */
#define MDYN_MIMIC_WITH(follower, leader, multiplier, offset, softness, effort, name) \
    { { MDYN_TERM(follower, 1), MDYN_TERM(leader, -(multiplier)) }, MDYN_C(-(offset)), \
      softness, MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(effort), MDYN_POSITION, name, \
      MDYN_C(0), MDYN_C(0), 0, 0 }
/* Commands of mdyn_set_coupling_target in each step. A joint whose motion is prescribed: the user
   sets q and v, and mdyn_coupling_force is what drives it. A drive on ca q_a + cb q_b, as an
   actuator on a fixed tendon: force kp (target - sum) + kd (target_velocity - rate), at most effort
   (0: no bound), at the joints times ca and cb. */
#define MDYN_PRESCRIBED(body) \
    { { MDYN_TERM(body, 1) }, MDYN_C(0), MDYN_HARD(1), MDYN_C(0), MDYN_C(0), MDYN_C(0), \
      MDYN_C(0), MDYN_POSITION, NULL, MDYN_C(0), MDYN_C(0), 0, 0 }
#define MDYN_TENDON_DRIVE(a, ca, b, cb, kp, kd, effort) \
    { { MDYN_TERM(a, ca), MDYN_TERM(b, cb) }, MDYN_C(0), MDYN_SPRING(kp, kd), MDYN_C(0), \
      MDYN_C(0), MDYN_C(0), MDYN_C(effort), MDYN_POSITION, NULL, MDYN_C(0), MDYN_C(0), 0, 0 }
/* SDF:  q_follower = multiplier (q_leader - reference) + offset;  SDF gearbox:  q_2 = -ratio q_1 */
#define MDYN_SDF_MIMIC(follower, leader, multiplier, reference, offset) \
    MDYN_MIMIC(follower, leader, multiplier, (offset) - (multiplier) * (reference))
#define MDYN_SDF_GEARBOX(joint_1, joint_2, ratio) MDYN_PHYSX_MIMIC(joint_2, joint_1, ratio, 0)
/* MuJoCo, equality of joints:  q_1 - ref_1 = a_0 + a_1 (q_2 - ref_2), ref from qpos0 */
#define MDYN_MUJOCO_JOINT(joint_1, joint_2, a_0, a_1, ref_1, ref_2) \
    MDYN_MIMIC(joint_1, joint_2, a_1, (a_0) + (ref_1) - (a_1) * (ref_2))
/* A follower on a curve:  q_follower = f(q_leader), f = model.curves[curve]. The slope of f may
   vanish. */
#define MDYN_FOLLOWS(follower, leader, curve) \
    { { MDYN_TERM(follower, 1), MDYN_CURVED_TERM(leader, -1, curve) }, MDYN_C(0), \
      MDYN_COUPLING_END_ }
/* MuJoCo, polycoef of an equality of joints:  q_1 - ref_1 = a_0 + a_1 (q_2 - ref_2) + ... to the
   fourth power: this is the curve of MDYN_FOLLOWS(joint_1, joint_2, curve) */
#define MDYN_MUJOCO_POLYCOEF(a_0, a_1, a_2, a_3, a_4, ref_1, ref_2) \
    MDYN_POLYNOMIAL(ref_2, (a_0) + (ref_1), a_1, a_2, a_3, a_4)
/* Bullet, multibody gear:  q_a + ratio q_b = target */
#define MDYN_BULLET_GEAR(a, b, ratio, target) MDYN_PHYSX_MIMIC(a, b, ratio, -(target))
/* Chrono, shafts:  r_1 w_1 + r_2 w_2 + r_3 w_3 = 0 on the velocities, no position error */
#define MDYN_CHRONO_PLANETARY(a, r_1, b, r_2, c, r_3) \
    { { MDYN_TERM(a, r_1), MDYN_TERM(b, r_2), MDYN_TERM(c, r_3) }, MDYN_C(0), \
      { MDYN_DEFAULT, MDYN_C(0), MDYN_C(0) }, MDYN_C(0), MDYN_C(0), MDYN_C(0), MDYN_C(0), \
      MDYN_VELOCITY, NULL, MDYN_C(0), MDYN_C(0), 0, 0 }
/* Willis:  w_out - w_carrier = ratio (w_in - w_carrier), the ratio of the train at rest carrier */
#define MDYN_WILLIS(carrier, in, out, ratio) \
    MDYN_GEAR3(carrier, 1 - (ratio), in, ratio, out, -1, 0)
/* Degrees as radians: offsets and, between a joint in degrees and one in meters, ratios of USD. */
#define MDYN_DEGREES(x) ((x) * 0.017453292519943295)

/* A loop closure: two bodies, or a body and the world, constrained at a point of each. The rows are
   along the world's axes; errors and forces are those of a relative to b.
      MDYN_CLOSE_POINT     3 rows: the points coincide (ball joint)
      MDYN_CLOSE_HINGE     5 rows: also the axes are parallel; rows 3, 4 are across the axis of b
      MDYN_CLOSE_WELD      6 rows: also no relative rotation
      MDYN_CLOSE_DISTANCE  1 row: the points are `distance` apart (a rod with a ball at each end) */
typedef enum mdyn_closure_kind {
    MDYN_CLOSE_POINT, MDYN_CLOSE_HINGE, MDYN_CLOSE_WELD, MDYN_CLOSE_DISTANCE
} mdyn_closure_kind;

typedef struct mdyn_closure {
    mdyn_closure_kind kind;
    int16_t a, b;                /* bodies; one of them may be MDYN_WORLD */
    mdyn_wide3 point_a, point_b; /* in the axes of a, of b [m] */
    mdyn_wide3 axis_a, axis_b;   /* hinge: in the axes of a, of b; length above 1e-6; zero: z.
                                    Opposite directions are parallel too */
    mdyn_wide4 rotation;         /* weld: of a in the axes of b; length above 1e-6; zero: none */
    mdyn_wide distance;          /* > 0 [m] */
    mdyn_softness softness;
    mdyn_wide effort;            /* maximum force [N] or moment [N m] of each row; 0: no bound */
    const char *name;            /* for mdyn_explain; may be NULL */
} mdyn_closure;

/* Axes in which a term of a user row is given: its coefficients in C', which are also the wrench
   that a unit force of the row exerts on the body. */
typedef enum mdyn_axes {
    MDYN_WORLD_AXES,      /* at the body's origin, world axes */
    MDYN_BODY_AXES,       /* at the body's origin, body axes */
    MDYN_JOINT_VELOCITIES /* coefficients of the joint's velocities instead: `angular` of its first
                             three DoF, `linear` of the others; those beyond its DoF are not read */
} mdyn_axes;
typedef struct mdyn_body_term {
    int16_t body;               /* MDYN_WORLD: the term is absent */
    mdyn_axes axes;
    mdyn_wide3 angular, linear; /* coefficients of the angular velocity, of the origin's velocity */
} mdyn_body_term;

/* A user row on any bodies: C' = sum of (angular . omega + linear . velocity). Terms left zero by
   a callback are absent. ODE's names: c is target_velocity, (erp, cfm) is MDYN_ODE, lo and hi are
   force_min and force_max; of a friction row hi is mu and findex is mu_of. */
typedef struct mdyn_user_row {
    mdyn_body_term terms[MIMICDYN_MAX_TERMS];
    mdyn_wide value;           /* C at present; not read at MDYN_VELOCITY */
    mdyn_softness softness;
    mdyn_wide lower, upper;    /* range of C, as in a coupling; both 0: C = 0. At MDYN_VELOCITY they
                                  bound C' - target_velocity */
    mdyn_wide target_velocity; /* C' wanted, beside the correction of C; not read in a range of C */
    mdyn_wide force_min, force_max; /* both 0: no bound; +-MDYN_UNLIMITED: none on that side */
    mdyn_wide mu;              /* if > 0, |force| <= mu |force of user row mu_of| of the same solve
                                  (Coulomb friction); force_min and force_max are not read then */
    int16_t mu_of;             /* index of a user row whose own mu is 0 */
    mdyn_level level;
    const char *name;          /* for mdyn_explain; may be NULL */
} mdyn_user_row;

/* Called once for each user row in each step, to set the state-dependent fields of `row`, a copy of
   the table's row. q, v and what mdyn_pose, mdyn_velocity and mdyn_jacobian return are those of the
   middle of the step, q (+) dt/2 v; with MDYN_EXPLICIT those of its start. Calls that change the
   sim are forbidden. */
struct mdyn_sim;
typedef void (*mdyn_row_function)(struct mdyn_sim *sim, int index, mdyn_user_row *row, void *user);

/* A contact found by the caller; three rows. Row 3 contact, along the normal, has v_lo =
   erp depth/dt while the bodies overlap, and depth/dt across a gap (depth < 0): the gap is closed,
   not passed. Rows 3 contact + 1 and + 2 are friction along two tangents. With MDYN_BAUMGARTE the
   correction velocity stays in v, so stacks rest best with a small erp such as MDYN_HARD(0.02). */
typedef struct mdyn_contact {
    int16_t a, b;           /* bodies; one of them may be MDYN_WORLD */
    uint16_t key;           /* contacts of equal a, b, key in two steps are the same one, for the
                               warm start. Must be unique among the contacts of a pair */
    mdyn_real3 point;       /* world axes [m] */
    mdyn_real3 normal;      /* from b towards a, world axes; any length above 1e-6 */
    mdyn_real depth;        /* of the overlap [m]; < 0: a gap */
    mdyn_wide mu;           /* coefficient of Coulomb friction, >= 0 */
    mdyn_softness softness; /* of the row along the normal */
} mdyn_contact;

/* How a friction row is bounded by the normal impulse n, in every visit. Losses and couplings with
   mu follow their leader as in MDYN_PYRAMID, whatever the law. */
typedef enum mdyn_friction_law {
    MDYN_PYRAMID,  /* each tangent t by itself: |t| <= mu n */
    MDYN_CONE,     /* both tangents of a contact together: |(t1, t2)| <= mu n, opposed to the slip;
                      user rows as MDYN_PYRAMID */
    MDYN_TWO_STAGE /* as in ODE: n of the problem without friction, then |t| <= mu n, n fixed */
} mdyn_friction_law;

/* How the rows without a bound on their impulse are solved. */
typedef enum mdyn_equality {
    MDYN_EXACT,   /* all together, by a QR factorization */
    MDYN_ITERATED /* iteratively with all other rows, in the declared order */
} mdyn_equality;

/* How the rows with a bound on their impulse are solved. */
typedef enum mdyn_method {
    MDYN_PGS,    /* projected Gauss-Seidel with over-relaxation (SOR-PGS), once a step */
    MDYN_TGS,    /* the same in `substeps` (temporal Gauss-Seidel) */
    MDYN_DANTZIG /* Dantzig's pivoting: exact, in bounded time. Needs MIMICDYN_MAX_DANTZIG; friction
                    is a pyramid or has two stages, `start` is not read. A problem that it cannot
                    solve is iterated instead, and mdyn_step returns a warning */
} mdyn_method;

/* Impulses at which the iteration begins. */
typedef enum mdyn_start {
    MDYN_WARM, /* those of the last step or substep. If the last solve did not converge, the part
                  due to position correction is not carried over (it would accumulate): the step
                  is solved without position bias first, for the next warm start, then with it. If
                  a hard coupling has a target velocity, constraints may be inconsistent and drift
                  by a constant impulse per iteration: the drift is subtracted */
    MDYN_COLD  /* zero */
} mdyn_start;

/* Time integration. */
typedef enum mdyn_scheme {
    MDYN_MIDPOINT, /* second order: poses, rows and springs at the middle of the step; a body
                      without external forces keeps its momentum */
    MDYN_EXPLICIT  /* first order, the documents' laws: poses and bias force at the start of the
                      step, q' = q (+) dt v', MDYN_BAUMGARTE, kp and kd by PhysX (20)-(29), erp in
                      each substep. For comparison with them */
} mdyn_scheme;

/* How position errors are corrected. */
typedef enum mdyn_correction {
    MDYN_CORRECTION_DEFAULT, /* MDYN_RELAX with MDYN_MIDPOINT, MDYN_BAUMGARTE with MDYN_EXPLICIT */
    MDYN_BAUMGARTE, /* by a velocity bias, which remains in v (adds energy) */
    MDYN_RELAX      /* by a displacement of q alone, so correction adds no energy. In steps where an
                       inequality row has an error the rows are solved twice, with bias for q and
                       without for v; errors of equality rows alone need no second solve. Compliant
                       constraints keep their bias */
} mdyn_correction;

/* When limits and ranges of C are rows. Bounds of C' always are. */
typedef enum mdyn_limits {
    MDYN_SPECULATIVE, /* always: C may reach its bound within a step and not pass it */
    MDYN_ENGAGED      /* from the first step whose middle is a violation, for two steps at least,
                         until C is inside and moving inwards. An engaged row stops C; a violation
                         beyond `deadband` is corrected whole, by relaxation (implies
                         MDYN_RELAX). Source: ArtiSynth, (4.24), (4.29), (4.32) */
} mdyn_limits;

/* How the rows are solved. All zero is the default. */
typedef struct mdyn_solver {
    mdyn_method method;
    mdyn_equality equality;
    mdyn_start start;
    uint16_t iterations;   /* maximum per step; rows activated late get the same number again; 0:
                              100. MDYN_TGS: maximum per substep; 0: 1 */
    mdyn_wide relaxation;  /* over- or under-relaxation, 0.01 <= omega < 2; 0: 1, and where it
                              converges slowly it is extrapolated (md_iterate_pgs) */
    mdyn_wide tolerance;   /* iteration ends when no impulse changes by more than this fraction of
                              the largest impulse or velocity change (in units of the square root
                              of energy), at most 0.1; 0: a few rounding errors */
    mdyn_wide accuracy;    /* a row may miss its target by this fraction of the change of its
                              velocity, 0 to 1; 0: 1e-3. If one misses it by more, mdyn_step
                              returns MDYN_WARN_NOT_CONVERGED */
    mdyn_correction correction;
    uint16_t substeps;     /* MDYN_TGS: solves per step, each over h = dt/substeps with its share of
                              the forces, C advanced by the substeps before, cfm of h; M and J are
                              those of the step; impulses are added up. 0: 4.
                              Other methods: 0 or 1. Source: PhysX mimic joints, (16) */
    mdyn_limits limits;
    mdyn_wide deadband;    /* of engaged limits and ranges, in units of C, >= 0 */
    mdyn_friction_law friction_law;
    mdyn_scheme scheme;
    uint16_t corrections; /* MDYN_MIDPOINT: 1: bias force and rows once more with the velocity that
                             the first solve gives the middle of the step, at some 40 % of its cost.
                             0: only in steps in which a body of a tree, or its parent, turns by
                             more than 0.2 rad */
} mdyn_solver;

typedef struct mdyn_model {
    const mdyn_body *bodies;         /* parents before children */
    int body_count;
    const mdyn_coupling *couplings;  /* copied by mdyn_init; see mdyn_set_coupling */
    int coupling_count;
    mdyn_wide3 gravity;              /* acceleration, world axes, up to 1e6 [m/s^2] */
    mdyn_wide dt;                    /* step [s], 1e-9 to 1 */
    mdyn_solver solver;
    const mdyn_closure *closures;
    int closure_count;
    const mdyn_user_row *user_rows;  /* NULL: all zero, filled in by row_function */
    int user_row_count;
    mdyn_row_function row_function;  /* NULL: user rows are as the table has them */
    void *user_data;                 /* passed to row_function */
    const mdyn_real *start;          /* coordinates that mdyn_init sets; NULL: 0, quaternions 1 */
    const mdyn_curve *curves;        /* that terms of couplings name */
    int curve_count;                 /* at most 255 */
} mdyn_model;

/* A model as constants, with default settings, in the form of MDYN_BODY; gravity as MDYN_V3. What
   it does not name is set in a copy: mdyn_model mine = gripper; mine.solver.iterations = 20; */
#define MDYN_DEFAULT_SOLVER \
    { MDYN_PGS, MDYN_EXACT, MDYN_WARM, 0, MDYN_C(0), MDYN_C(0), MDYN_C(0), \
      MDYN_CORRECTION_DEFAULT, 0, MDYN_SPECULATIVE, MDYN_C(0), MDYN_PYRAMID, MDYN_MIDPOINT, 0 }
#define MDYN_MODEL(bodies, body_count, couplings, coupling_count, gravity, dt) \
    { bodies, body_count, couplings, coupling_count, gravity, MDYN_C(dt), MDYN_DEFAULT_SOLVER, \
      NULL, 0, NULL, 0, NULL, NULL, NULL, NULL, 0 }
#define MDYN_COUNT(table) MDYN_CAST_(int, sizeof(table) / sizeof(*(table)))

/* Every code: name, value, sentence, remedy. Negative: an error, nothing was changed. Positive: a
   warning, the call was carried out. */
#define MDYN_CODES(x) \
    x(OK, 0, "success", "nothing to do") \
    x(WARN_REDUNDANT, 1, "a coupling is linearly dependent on earlier constraints", \
      "harmless if intended; otherwise remove it") \
    x(WARN_CONTRADICTION, 2, "a coupling is inconsistent with earlier constraints", \
      "correct its ratio or offset, make one of them soft, or remove it") \
    x(WARN_EMPTY_RANGE, 3, "the limits and ranges of this joint and of those coupled to it leave " \
      "no position", "widen a limit or range, or correct the ratio or offset of the coupling") \
    x(WARN_NO_SOLUTION, 4, "the constraint rows are inconsistent: no solution satisfies all", \
      "remove one, bound its impulse, or make it soft: add to its diagonal element") \
    x(WARN_NOT_CONVERGED, 5, "the iteration ended before all constraint rows were solved", \
      "allow more iterations, a larger solver.accuracy, or softer rows; or use MDYN_DANTZIG") \
    x(WARN_START, 6, "the start pose is outside the limits of this joint", \
      "correct model.start, or call mdyn_settle after setting sim.q") \
    x(WARN_FROZEN_RANGE, 7, "the limits of this joint, a follower, leave its leader one position " \
      "or less than half of its own range", "widen them to ratio times the leader's, or leave " \
      "lower and upper 0: the leader's limits suffice") \
    x(WARN_LOCKED, 8, "this coupling and others leave a joint one position, whatever its limits", \
      "correct its ratio, make one of them soft, or remove it") \
    x(WARN_OFF_COUPLING, 9, "the start pose is off this coupling", \
      "correct model.start or the offset, or call mdyn_settle after setting sim.q") \
    x(WARN_LONG_STEP, 10, "a body of a tree turns so far in a step that its bias force is not " \
      "known: the motion may gain energy", "make dt shorter") \
    x(WARN_NEARLY_REDUNDANT, 11, "a coupling nearly depends on others: their forces have few " \
      "digits", "remove one, or use MIMICDYN_SCALAR F64; the motion is right") \
    x(WARN_DIGITS, 12, "the forces on other joints are so much larger that the change of this " \
      "DoF's velocity has hardly two digits", "use MIMICDYN_SCALAR F32 or F64, or put the " \
      "joint into a sim of its own if nothing ties them") \
    x(ERR_NULL, -1, "a pointer is NULL", "pass the address") \
    x(ERR_NOT_READY, -2, "the sim was not initialized, or was overwritten", \
      "call mdyn_init first, and look for what writes into the sim") \
    x(ERR_CAPACITY_BODIES, -3, "the model has no bodies, or more than the sim holds", \
      "raise MIMICDYN_MAX_BODIES; mdyn_required tells every knob that the model needs") \
    x(ERR_CAPACITY_DOFS, -4, "the joints have more degrees of freedom than the sim holds", \
      "raise MIMICDYN_MAX_DOFS; mdyn_required tells to how much") \
    x(ERR_CAPACITY_COUPLINGS, -5, "there are more couplings than the sim holds", \
      "raise MIMICDYN_MAX_COUPLINGS; mdyn_required tells to how much") \
    x(ERR_CAPACITY_ROWS, -6, "there are more constraint rows than the sim holds", \
      "raise MIMICDYN_MAX_ROWS; mdyn_required tells to how much") \
    x(ERR_CAPACITY_ENTRIES, -7, "mass matrix and rows have more non-zeros than the sim holds", \
      "raise MIMICDYN_MAX_ENTRIES; mdyn_required tells to how much") \
    x(ERR_NOT_FINITE, -8, "a number of the model is NaN, infinite or too large", \
      "correct the field of the named body or coupling") \
    x(ERR_PARENT, -9, "a body's parent is not an earlier body or MDYN_WORLD", \
      "list parents before their children") \
    x(ERR_JOINT, -10, "the joint type is unknown, or left out of this build", \
      "use one of mdyn_joint; spherical and free ones need MIMICDYN_QUATERNIONS 1") \
    x(ERR_ROTATION, -11, "the rotation is not a quaternion of length above 1e-6", \
      "give w, x, y, z, or four zeros for no rotation") \
    x(ERR_MASS, -12, "a mass is negative", "give the mass in kg") \
    x(ERR_INERTIA, -13, "the inertia is not positive semi-definite", \
      "give it about the center of mass, as matrix elements, in kg m^2") \
    x(ERR_MASSLESS, -14, "this joint moves no inertia but that of joints behind it, or less " \
      "beside theirs than rounding", \
      "give the body or a child mass or inertia, or the joint an armature") \
    x(ERR_NEGATIVE, -15, "armature, damping, friction, effort or a gain is negative, " \
      "or a free joint has armature", "give it as a positive number; free joints have none") \
    x(ERR_LIMITS, -16, "lower is above upper, or the joint has more than one coordinate", \
      "swap them; leave both 0 for no limit") \
    x(ERR_DRIVE, -17, "a drive needs a joint of one coordinate", \
      "leave drive_kp and drive_kd 0 and command sim.tau") \
    x(ERR_TERM, -18, "a term of a coupling names a body that does not exist", \
      "name the index of the body in the table of bodies") \
    x(ERR_NO_TERMS, -19, "all coefficients of a coupling are 0", "give at least one") \
    x(ERR_LEVEL, -20, "a coupling of positions has a joint of several coordinates, or the level " \
      "is unknown", "joints of several coordinates: MDYN_VELOCITY") \
    x(ERR_SOFTNESS, -21, "the softness is out of range", \
      "0 <= erp <= 1, and cfm, kp, kd, omega, zeta >= 0") \
    x(ERR_DT, -22, "the step is not a number from 1e-9 s to 1 s", "give dt in seconds") \
    x(ERR_SOLVER, -23, "a solver setting is out of range, or left out of this build", \
      "0.01 <= relaxation < 2; tolerance to 0.1, accuracy to 1; substeps > 1: MDYN_TGS; no " \
      "MDYN_CONE with MDYN_DANTZIG; all but the default settings need MIMICDYN_SETTINGS 1") \
    x(ERR_STATE, -24, "a coordinate, velocity, command, target or wrench is NaN, infinite or not " \
      "below 2^23, or a quaternion is zero", "correct the input; the state is unchanged") \
    x(ERR_OVERFLOW, -25, "the motion would leave the range of the numbers", \
      "use a smaller step or smaller commands; rebase joints of many turns (mdyn_rebase); the " \
      "state is unchanged") \
    x(ERR_SINGULAR, -26, "the mass matrix is singular to rounding in this pose", \
      "give light joints an armature") \
    x(ERR_INDEX, -27, "an index is out of range", "count from 0") \
    x(ERR_ROOM, -28, "the text does not fit into the buffer", "pass a larger buffer") \
    x(ERR_TREE, -29, "this build has no trees: only revolute and prismatic joints on the world " \
      "with no inertia but their armature", "give the armature; or build with MIMICDYN_TREE 1") \
    x(ERR_LCP_SIZE, -30, "the problem has below 0 or above 4096 rows, or too few scratch cells", \
      "pass MDYN_LCP_SCRATCH(n) cells, mdyn_lcp_pgs MDYN_PGS_SCRATCH(n)") \
    x(ERR_LCP_MATRIX, -31, "A is not positive semi-definite: A_ij^2 > A_ii A_jj in this row, or " \
      "A_ii is neither 0 nor 1e-30 and above", "A = J M^-1 J^T; check how the row was computed") \
    x(ERR_FINDEX, -32, "a friction index names no row, the row itself or another friction row", \
      "name a row without friction index; -1 for none") \
    x(ERR_LOSS, -33, "efficiency, mu or mu_of is out of range, or a coupling without efficiency " \
      "gets one, or this build has none", "0 < efficiency <= 1 from mdyn_init on; mu >= 0, mu_of " \
      "another coupling; MIMICDYN_LOSSES 1") \
    x(ERR_LCP_SYMMETRY, -34, "A is not symmetric: A_ij differs from A_ji by more than rounding", \
      "fill both triangles with A = J M^-1 J^T") \
    x(ERR_LCP_BOUNDS, -35, "lo is above hi in a row of the problem", \
      "exchange them; MDYN_UNLIMITED means no bound") \
    x(ERR_TRIANGLE, -36, "no body has this inertia: a principal moment exceeds the sum of the " \
      "other two", "mdyn_valid_inertia gives the nearest one that a body has; inertia_as_given 1 " \
      "accepts it") \
    x(ERR_TERM_FIXED, -37, "a coupling names a fixed joint as leader or follower", \
      "remove the coupling, or give the joint a DoF") \
    x(ERR_TERM_AXIS, -38, "a term names a DoF that its joint does not have", \
      "axis 0, of a spherical joint 0 to 2, of a free one 0 to 5") \
    x(ERR_TERM_TWICE, -39, "two terms of a coupling name the same DoF", \
      "add up their coefficients in one term") \
    x(ERR_CAPACITY_BODY_ROWS, -40, "there are more constraint rows on bodies, or contacts, than " \
      "the sim holds", "raise MIMICDYN_MAX_BODY_ROWS or MIMICDYN_MAX_CONTACTS") \
    x(ERR_CLOSURE, -41, "a closure names a body that does not exist or the same body twice, or " \
      "its distance, an axis or the rotation has no length", \
      "name two bodies, or one and MDYN_WORLD; lengths above 1e-6") \
    x(ERR_USER_ROW, -42, "a user row names a body or row that does not exist, or its bounds " \
      "cross", "correct what the table or the callback gives for the row") \
    x(ERR_CONTACT, -43, "a contact names a body that does not exist or the same body twice, has " \
      "no normal, or negative friction", "correct the contact; those set before are kept") \
    x(ERR_BEYOND, -50, "a number other than 0 stands beyond the last DoF of v, tau, target or " \
      "target_velocity: see culprit.array", "index these arrays by mdyn_first_dof, not by body; " \
      "or use mdyn_set_tau and its like") \
    x(ERR_CAPACITY_DANTZIG, -44, "MDYN_DANTZIG has more rows with a bound than the sim holds", \
      "raise MIMICDYN_MAX_DANTZIG, or use MDYN_PGS") \
    x(ERR_BUSY, -45, "another call is changing the sim: this one comes from a row's callback or " \
      "from an interrupt", "call it between steps; nothing was done") \
    x(ERR_FROZEN, -46, "parent, joint type, axis, pitch, position or rotation of the body differ " \
      "from those given to mdyn_init", "keep them, or call mdyn_init for the new mechanism") \
    x(ERR_TABLES, -47, "a table of the model was edited after mdyn_init", "restore it, and " \
      "change numbers by mdyn_set_body, mdyn_set_coupling and their like; steps do not use the " \
      "edit") \
    x(ERR_MEMORY, -48, "the private part of the sim was overwritten", \
      "call mdyn_init again, and look for what writes into the sim") \
    x(ERR_SAVED, -60, "the bytes are no saved sim, or not all of it, or were changed", \
      "pass the bytes and the length that mdyn_save wrote") \
    x(ERR_SAVED_BUILD, -61, "the sim was saved by another version of the header, with other " \
      "knobs or on another processor", "restore it with the build that saved it") \
    x(ERR_SAVED_MODEL, -62, "the sim was saved with another model", \
      "pass the model that it was saved with") \
    x(ERR_BAKED, -63, "this build, by MIMICDYN_BAKED or MIMICDYN_HAS, sets up no rows", \
      "start the sim by the function that bake.py has written, and change nothing that rows are " \
      "made of") \
    x(ERR_NO_STEP, -64, "the sim is not as a step has left it", "call it after mdyn_step, before " \
      "q, v, contacts, dt, gravity, bodies or settings change") \
    x(ERR_REPLACED, -49, "joints or ratios of the coupling were replaced after the last step, " \
      "whose impulse is that of the old ones", "read it before the replacement, or after a step") \
    x(ERR_COEFFICIENT, -51, "the largest coefficient of a coupling is not from 1e-9 to 1e9", \
      "scale the whole coupling: coefficients, offset and bounds by f, effort by 1/f, cfm by " \
      "f^2, kp and kd by 1/f^2") \
    x(ERR_GRAVITY, -52, "gravity is above 1e6 m/s^2", "give it in m/s^2") \
    x(ERR_CURVE, -56, "a term names a curve that does not exist or has numbers out of range, a " \
      "table whose places do not ascend, no function, or stands in a coupling of velocities", \
      "curve n of model.curves is n + 1 in a term; 2 to 4096 knots, q ascending; every term of a " \
      "coupling names its coupler") \
    x(ERR_SLOPE, -57, "the first term of a coupling names a curve whose slope vanishes within " \
      "the limits of its joint, at culprit.place", "let another joint be the first term: it " \
      "follows the others; or narrow the limits") \
    x(ERR_CAPACITY_CURVES, -58, "more terms of couplings name a curve than the sim holds", \
      "raise MIMICDYN_MAX_CURVES") \
    x(ERR_CURVED, -59, "a coupling has a curve at this joint: whole turns would change its C", \
      "rebase joints without curves") \
    x(ERR_RESULT, -53, "a result is beyond the range of its numbers", \
      "bring the state or the input of the call nearer to 0; nothing was written")

typedef enum mdyn_code {
#define MDYN_CODE_(name, value, sentence, remedy) MDYN_##name = value,
    MDYN_CODES(MDYN_CODE_)
#undef MDYN_CODE_
    MDYN_CODES_END_ = 127
} mdyn_code;

/* What a model needs of each knob, see mdyn_required. */
typedef struct mdyn_capacity {
    int32_t bodies, dofs, couplings, body_rows, dantzig, rows, terms, entries, curves;
} mdyn_capacity;

/* The array of mdyn_sim that MDYN_ERR_STATE and MDYN_ERR_BEYOND are about. */
typedef enum mdyn_array {
    MDYN_IN_NONE, MDYN_IN_Q, MDYN_IN_V, MDYN_IN_TAU, MDYN_IN_TARGET, MDYN_IN_TARGET_VELOCITY,
    MDYN_IN_WRENCH
} mdyn_array;

/* What a code refers to. */
typedef struct mdyn_culprit {
    int16_t code;   /* mdyn_code of the last call that returned an error or a warning */
    int16_t index;  /* body, coupling, closure, user row, contact, DoF or coordinate, depending on
                       the code and the call; -1: none */
    uint8_t sticky; /* MDYN_ROW_... of all rows of all steps since mdyn_init or mdyn_reset, and
                       MDYN_SINGULAR if a step returned MDYN_ERR_SINGULAR */
    uint8_t array;  /* mdyn_array of the last MDYN_ERR_STATE or MDYN_ERR_BEYOND */
#if MIMICDYN_MAX_CURVES > 0
    mdyn_real place; /* coordinate at which the slope of the last MDYN_ERR_SLOPE vanishes, the first
                        one from the lower limit on. A function is looked at in 65 places. Without
                        limits only a spline is, between its ends */
#endif
} mdyn_culprit;

/* The kinds of constraint row, and what `index` is for each. */
typedef enum mdyn_row_kind {
    MDYN_ROW_COUPLING, /* coupling */
    MDYN_ROW_LOSS,     /* coupling, if it has an efficiency */
    MDYN_ROW_DRIVE,    /* DoF (mdyn_first_dof of the body) */
    MDYN_ROW_FRICTION, /* DoF */
    MDYN_ROW_LIMIT,    /* DoF */
    MDYN_ROW_CLOSURE,  /* 6 closure + row of the closure */
    MDYN_ROW_USER,     /* user row */
    MDYN_ROW_CONTACT   /* 3 contact + 0 (normal), 1, 2 (friction) */
} mdyn_row_kind;

enum {
    MDYN_ROW_SATURATED = 1,     /* the impulse is at its bound, in one substep at least */
    MDYN_ROW_REDUNDANT = 2,     /* depends on earlier equality rows and carries no impulse; never
                                   set with MDYN_ITERATED */
    MDYN_ROW_CONTRADICTORY = 4, /* a redundant or pivoted row that is inconsistent with others, see
                                   `residual` */
    MDYN_ROW_RELEASED = 8,      /* a coupling that was released, or has broken */
    MDYN_ROW_AT_LOWER = 16,     /* a limit or a coupling's range acts at its lower bound; with
                                   MDYN_ENGAGED: is engaged there, and in the sticky flags too */
    MDYN_ROW_AT_UPPER = 32,     /* the same of the upper bound */
    MDYN_SINGULAR = 128         /* of mdyn_culprit.sticky */
};

/* What a row did in the last step. [C] is the unit of the row's C; force times C' is a power. */
typedef struct mdyn_row_report {
    mdyn_wide impulse;  /* lambda, signed; a joint gets coefficient * impulse [N m s or N s] */
    mdyn_wide force;    /* impulse / dt; of a range > 0 at its lower bound, < 0 at its upper */
    mdyn_wide power;    /* force times C' after the step: power given to the joints [W] */
    mdyn_wide error;    /* C after the step [C]; of a range the violation. With MDYN_EXPLICIT at the
                           start of the step, or of its last substep */
    mdyn_wide velocity; /* C' after the step [C/s] */
    mdyn_wide residual; /* how far C' + cfm impulse lies outside [v_lo, v_hi] [C/s] */
    uint8_t flags;      /* MDYN_ROW_... */
} mdyn_row_report;

/* What the last step did. */
typedef struct mdyn_report {
    int16_t iterations;    /* over the bounded rows, at most 32767. MDYN_DANTZIG: over those that it
                              did not solve */
    int16_t pivots;        /* MDYN_DANTZIG: rows driven, at most 32767 */
    int16_t unsolved;      /* MDYN_DANTZIG: problems of this step that it did not solve */
    int16_t redundant;     /* rows with MDYN_ROW_REDUNDANT */
    int16_t contradictory; /* rows with MDYN_ROW_CONTRADICTORY */
    int16_t broken;        /* couplings that broke in this step */
    int16_t entries;       /* non-zeros of M and rows, of MIMICDYN_MAX_ENTRIES */
    mdyn_wide residual;    /* relative impulse change of the last iteration, as in
                              mdyn_solver.tolerance; 0 at rounding level. MDYN_DANTZIG: of an
                              iteration that verifies the result */
} mdyn_report;

/* ---- private: what a sim is made of. Size and contents may change. ---- */

#ifdef MDYN_CHECKED_NUMBERS_ /* classes of the tests that refuse raw arithmetic */
typedef mdyn_checked_num_ md_num;
typedef mdyn_checked_unit_ md_unit;
#else
typedef mdyn_real md_num; /* a scalar of any magnitude */
#if MDYN_SCALAR == MDYN_SCALAR_FIXED
typedef int32_t md_unit;  /* an element of a unit vector, or of a block of magnitude O(1) */
#else
typedef mdyn_real md_unit;
#endif
#endif
typedef int16_t md_scale;     /* common exponent of a block of md_unit */
typedef uint32_t md_overflow; /* bits of the largest numbers of a block; floats: 0 */

#if MDYN_SCALAR == MDYN_SCALAR_FIXED
typedef uint32_t md_tail; /* digits of a coordinate or velocity below its last, in 2^-64 */
typedef struct md_sum { int64_t hi; uint64_t lo; } md_sum;
typedef struct md_vec { int32_t m[4]; } md_vec;  /* m 2^e with a common e, the last element */
typedef struct md_mat { int32_t m[10]; } md_mat; /* row by row */
typedef struct md_sym { int32_t m[7]; } md_sym;  /* xx, yy, zz, xy, xz, yz */
#else
typedef mdyn_real md_tail;
typedef struct md_sum { mdyn_real hi, lo; } md_sum;
typedef struct md_vec { md_num x, y, z; } md_vec;
typedef struct md_mat { md_num xx, xy, xz, yx, yy, yz, zx, zy, zz; } md_mat;
typedef struct md_sym { md_num xx, yy, zz, xy, xz, yz; } md_sym;
#endif
#define MD_FLOATING_TREES (MIMICDYN_QUATERNIONS && MIMICDYN_MAX_DOFS >= 6)
#define MD_ROOM(capacity) ((capacity) > 0 ? (capacity) : 1) /* C has no arrays of no element */
typedef struct md_motion { md_vec ang, lin; } md_motion; /* angular, linear of the origin */
typedef struct md_force { md_vec ang, lin; } md_force;   /* moment about the origin, force */
typedef struct md_momentum { /* of a floating tree, about its mass center; world axes */
    md_num ang[3], lin[3];
    md_vec com;    /* from the root's origin to the mass center */
    md_num travel[3]; /* of the mass center in this step */
} md_momentum;

/* Articulated inertia, at the origin: (moment, force) = [A B; B^T M] (angular, linear). */
typedef struct md_articulated {
    md_sym angular;
    md_mat cross;
    md_sym linear;
} md_articulated;

/* Inertia of a rigid body, or of several as one, at some origin. */
typedef struct md_composite {
    md_num mass;
    md_vec first_moment;  /* mass times center of mass */
    md_sym second_moment; /* inertia about the origin */
} md_composite;

/* Of a moving body: what it carries. Of a welded one: the body that it is welded to, by itself. */
typedef union md_subtree {
    md_articulated articulated;
    md_composite composite;
    md_force wrench; /* of solves by articulated bodies: md_aba_inward, md_aba_outward */
    md_motion motion;
} md_subtree;

/* Members that structs have in builds with a tree. Without one they are those of a struct of which
   there is no object: see MD_TREE. */
#define MD_BODY_MEMBERS \
    uint8_t axis;                    /* 0, 1, 2 for x, y, z */ \
    uint8_t is_oblique;              /* z was rotated into another direction, that of the table */ \
    uint8_t rotation_is_identity; \
    uint8_t is_single;               /* spherical or free, without parent or moving child: \
                                        md_drift_single_body */ \
    uint8_t is_alone;                /* no other joint moves in its tree */ \
    int16_t body_parent;             /* of the table */ \
    uint8_t carries;                 /* it is the parent of a body */ \
    uint8_t is_rotor;                /* turns in the world about its mass center, carries nothing: \
                                        >>kinematics */ \
    md_mat rotation;                 /* of the joint in the parent's frame */ \
    md_vec position; \
    md_vec first_moment;             /* mass times center of mass */ \
    md_sym inertia;                  /* about the origin */ \
    md_num mass;

/* Constants of a body and its joint, whose axis is x, y or z of the joint's frame. A body with a
   fixed joint is welded to the next one towards the world that moves, its `parent`: frame and
   children are those of the parent, and the mass of the parent contains its own (md_weld). */
typedef struct md_link {
    int16_t parent, dof, coordinate; /* dof, coordinate: the first of the joint */
    uint8_t joint, dofs;             /* mdyn_joint; number of DoF */
    uint8_t table_sum;               /* of the body's table at mdyn_init: names an edited one */
#if MIMICDYN_TREE
    MD_BODY_MEMBERS
#endif
} md_link;

/* Numbers of a joint that a step uses and mdyn_set_body may change: those fields of mdyn_body, in
   its order. */
typedef struct md_joint_values {
    mdyn_wide armature, damping, friction, lower, upper, effort, drive_kp, drive_kd;
} md_joint_values;

/* The settings of mdyn_solver, in less memory. */
typedef struct md_settings {
    uint8_t method, equality, start, correction, limits, friction_law, scheme, corrections;
    uint16_t iterations, substeps;
    mdyn_wide relaxation, tolerance, accuracy, deadband;
} md_settings;

/* A coordinate of a whitened vector, or a row. */
#if MIMICDYN_MAX_DOFS + MIMICDYN_MAX_ROWS <= 256
typedef uint8_t md_place;
#else
typedef int16_t md_place;
#endif

/* Pose and velocity products of a body, in world axes; written by >>kinematics. */
typedef struct md_body_state {
    md_mat rotation;
    md_vec arm;           /* from the parent's origin to this one */
    md_vec first_moment;
    md_sym inertia;       /* about the origin */
    md_vec omega;         /* angular velocity */
    md_vec alpha, acc;    /* accelerations at zero joint accelerations, gravity as -g */
    md_mat rates;         /* acceleration of a point relative to the origin = rates * arm */
} md_body_state;

#define MD_COLUMN_MEMBERS \
    md_num pitch;       /* free joint: an element of its body's inertia about the mass center */ \
    md_vec axis;        /* of S, world axes */

/* A DoF: constants, its column S of the joint's motion subspace, and its part of a factor. */
typedef struct md_dof {
    int16_t body;
    int16_t coordinate; /* of a joint with one DoF; otherwise -1 */
    uint8_t kind;       /* MD_ANGULAR, MD_LINEAR, MD_HELICAL */
    md_scale scale;     /* s: M is factored for velocities in units of 2^-s; floats: 0 */
#if MIMICDYN_TREE
    MD_COLUMN_MEMBERS
#endif
} md_dof;

/* C' of a row on joints: sum of factor v. */
typedef struct md_terms {
    int count;
    int16_t dof[MIMICDYN_MAX_TERMS];
    mdyn_wide coefficient[MIMICDYN_MAX_TERMS];
    md_num factor[MIMICDYN_MAX_TERMS]; /* the coefficients as md_num */
} md_terms;

/* An eliminated coupling. */
typedef struct md_tie {
    int16_t coupling, dof; /* `dof` of its follower */
    md_num inverse;        /* 1/coefficient of the follower in C */
} md_tie;

/* A sum of factor v over independent DoFs, each once. */
typedef struct md_reduced {
    int count;
    int16_t dof[MIMICDYN_MAX_DOFS];
    md_num factor[MIMICDYN_MAX_DOFS];
    md_num size[MIMICDYN_MAX_DOFS]; /* sum of the magnitudes that a factor is a sum of */
} md_reduced;

/* C of a row: one coordinate, or the sum of coefficient q + offset. */
typedef struct md_value {
    md_sum sum;
    md_num displacement; /* change of C by the substeps so far */
} md_value;

/* A constraint row of this step, whitened: x = scale L^-T J^T. `u_` marks quantities of the row
   scaled to length 1. See >>constraints for v_lo to position_bias, >>equality for the layout. */
typedef struct md_row {
    int16_t index;                    /* see mdyn_row_kind */
    uint8_t kind;                     /* mdyn_row_kind */
    uint8_t unbounded;                /* no bound on its impulse */
    uint8_t flags;                    /* MDYN_ROW_... */
    uint8_t in_equality, in_inequality; /* set up: as an equality row; as an inequality row */
    uint8_t inactive;                 /* left out of this step */
    uint8_t is_implied;               /* a limit that another one keeps the joint from */
    int8_t active_side;               /* steps it has been engaged, at most 2; < 0: upper bound */
    uint8_t is_spring;                /* kp and kd at the middle of the step: md_set_spring */
    uint8_t standing;                 /* MD_STANDING, ...: set up, without a tree */
    int16_t first, lone, shared, end; /* where its entries of each kind begin; owned ones first */
    int16_t owned_count;              /* entries that rows of this solve own, from `first` on */
    int16_t pivot;                    /* coordinate that it owns; -1: none */
    md_num error, v_lo, v_hi, cfm;    /* v_lo <= J v' + cfm lambda <= v_hi */
    md_num erp, position_bias;        /* the part of v_lo, v_hi that corrects `error` */
    md_num spring_v, spring_target;   /* spring: parts of J v and of the target in v_lo = v_hi */
    md_num inverse_mass;              /* of a soft row: J M^-1 J^T after the hard equality rows */
    md_num lambda_given;              /* impulse that is part of the free motion */
    md_num velocity_given;            /* J v + cfm lambda_given */
    md_num lambda_min, lambda_max, lambda;
    md_num warm_start;                /* lambda at which the next step begins */
    md_num scale, Jv;                 /* J v before the solve */
    md_num inverse_rest;              /* equality: 1/x at its pivot; inequality: 1/length */
    md_num length;                    /* inequality: 1/scale; equality: squared, whitened */
    md_unit along;                    /* inequality: x = along n, n its entries, of length 1;
                                         equality: tau of its first Householder reflection */
    md_unit tau_shared;               /* of its second one */
    md_unit cfm_part;                 /* share of cfm in the squared length */
    md_unit u_lo, u_hi, u_lambda_min, u_lambda_max, u_lambda;
    md_unit u_change;                 /* change of u_lambda in the last visit */
    md_unit u_warm_start;             /* u_lambda of the solve without position bias */
} md_row;

/* The vector of the inequality row that was set up last, for parallel rows that follow. */
typedef struct md_vector {
    int16_t first, owned_count; /* its entries, as in md_row; first -1: there is none */
    int16_t free;               /* the entry behind those at pivots of hard equality rows */
    md_num scale;               /* of L^-T J^T, for J of the DoF md_direction_of */
    md_num left, owned;         /* squared length free of equality rows, and within their span */
    md_num inverse_length;      /* of the former; 0: nothing is left */
} md_vector;

/* What the later substeps of MDYN_TGS know of a row. */
typedef struct md_substep_row {
    md_num lambda_sum; /* impulse of the substeps before */
    md_num Jv;         /* of a spring: J v at the start of the substep */
} md_substep_row;

/* What a step leaves of a row. */
typedef struct md_row_result {
    md_num error, v_lo, v_hi, cfm_lambda, impulse, warm_start;
    uint32_t last_step; /* the last step that it took part in */
    uint8_t flags;
    int8_t active_side;
} md_row_result;

#define MD_ZERO_EXPONENT (-30000) /* exponent of a block of zeros */

/* An LCP row with two targets, for x above and below 0; see >>lcp. */
typedef struct md_two_sided {
    md_num b_positive, b_negative; /* b for x > 0, for x < 0 */
    md_num x_min, x_max;           /* bounds of x */
    md_num x_cap;                  /* maximum |x| of a row bounded by another */
} md_two_sided;

enum { MDYN_WHITENED_SIZE_ = MIMICDYN_MAX_DOFS + MIMICDYN_MAX_ROWS };

#if MIMICDYN_MAX_DANTZIG > 0
/* Workspace of pivoting. */
typedef struct md_dantzig {
    md_num number[MIMICDYN_MAX_DANTZIG * (MIMICDYN_MAX_DANTZIG + 11)];
    int index[4 * MIMICDYN_MAX_DANTZIG];
    md_two_sided two_sided[MIMICDYN_MAX_DANTZIG];
    mdyn_wide mu[MIMICDYN_MAX_DANTZIG];
    int16_t findex[MIMICDYN_MAX_DANTZIG], row[MIMICDYN_MAX_DANTZIG];
    md_unit free_du[MDYN_WHITENED_SIZE_]; /* sim->du without impulses of inequality rows */
} md_dantzig;
#endif

/* A term with a curve: its value, its slope and its part of J' v where J was last taken, and the
   last two in the last step. All but `slope` contain the coefficient. */
typedef struct md_bend { md_num value, slope, rate, step_slope, step_rate; } md_bend;

/* What >>curves works with. Tables and `first` are constants, set by >>build. */
typedef struct md_curves {
    const mdyn_curve *table;
    int16_t count;                              /* curves in the table */
    int16_t first[MIMICDYN_MAX_COUPLINGS + 1];  /* in `bend`, of the curves of each coupling */
    md_bend bend[MD_ROOM(MIMICDYN_MAX_CURVES)];
    uint8_t has_ties;                           /* G changes with q */
    uint8_t is_curved[MIMICDYN_MAX_COUPLINGS];  /* of each tie: its numbers in G change with q */
    md_num tie_error[MIMICDYN_MAX_COUPLINGS];   /* C at the start of the step, if above rounding */
} md_curves;

/* A row on bodies in this step, filled in by >>closures or >>contacts. */
typedef struct md_body_row {
    int16_t term_count, leader;                /* row whose impulse bounds this one; -1: none */
    uint8_t unbounded;                         /* no bound on its impulse */
    uint8_t level;                             /* mdyn_level */
    uint8_t cone;                              /* 1, 2: first, second tangent of a cone; else 0 */
    int16_t body[MIMICDYN_MAX_TERMS];
    uint8_t is_joint_term[MIMICDYN_MAX_TERMS]; /* `wrench` holds coefficients of joint velocities */
    md_force wrench[MIMICDYN_MAX_TERMS];       /* at the origin, world axes */
    mdyn_softness softness;
    mdyn_wide lower, upper;
    md_num value, target_velocity, force_min, force_max, mu;
    md_num bias_acceleration;                  /* J' v */
    md_num value_size;                         /* magnitude of the terms of `value` */
    md_num max_length2;                        /* bound of the squared length of J, whitened */
    md_num u_mu, velocity_after;               /* u_bound per u_lambda of the leader; J v' */
    md_num value_after;                        /* C after the step */
    md_unit u_bound;
} md_body_row;

typedef struct md_contact_point {
    int16_t a, b;
    uint16_t key;
    md_vec point, direction[3]; /* normal, two tangents */
    md_vec arm[2];              /* from the bodies' origins in the poses of the start of the step */
    md_num depth, mu;
    mdyn_softness softness;
} md_contact_point;

/* Impulse of a contact of the last step, for the warm start. */
typedef struct md_contact_cache {
    int16_t a, b;
    uint16_t key;
    md_vec impulse; /* normal, two tangents */
} md_contact_cache;

/* Rows that may have substeps. */
enum { MDYN_SUBSTEP_ROWS_ = MIMICDYN_SETTINGS ? MIMICDYN_MAX_ROWS : 1 };

/* Room for the non-zeros of M_y, and of M, which without a tree is diagonal. */
#if MIMICDYN_MAX_DOFS < 256 \
    && MIMICDYN_MAX_ENTRIES > MIMICDYN_MAX_DOFS * (MIMICDYN_MAX_DOFS + 1) / 2
#define MDYN_MASS_SIZE_ (MIMICDYN_MAX_DOFS * (MIMICDYN_MAX_DOFS + 1) / 2)
#else
#define MDYN_MASS_SIZE_ MIMICDYN_MAX_ENTRIES
#endif
enum { MDYN_M_SIZE_ = MIMICDYN_TREE ? MDYN_MASS_SIZE_ : MIMICDYN_MAX_DOFS };

/* Room for the non-zeros of G. */
enum { MDYN_G_SIZE_ = MIMICDYN_MAX_DOFS + MIMICDYN_MAX_COUPLINGS * (MIMICDYN_MAX_TERMS - 1) };

/* A free or spherical joint in its half step: md_drift_joint, md_drift_single_body. */
typedef struct md_turning {
    md_num inertia[6];          /* divided by its trace */
    md_vec com;                 /* mass center */
    md_num w[3], dw[3];         /* angular velocity, and its change */
    md_num a[3];                /* tangent of half the turn */
    md_num s, c;                /* 1/sqrt(1 + |a|^2), and this - 1 */
    md_vec turn, u, y;          /* a; velocity of the mass center; at hand */
    md_num L[3], f[3], J[3][3], once[3], twice[3]; /* of Euler's equation: md_step_euler */
} md_turning;

/* Memory of computations on bodies: MD_WORK, a part of md_shared. */
typedef union md_work {
    struct {
        md_unit L[MDYN_MASS_SIZE_];
        md_force wrench[MIMICDYN_MAX_BODIES];  /* bias, momentum or impulse at each body's origin:
                                                  md_bias_wrenches, md_find_momenta, ... */
        md_motion motion[MIMICDYN_MAX_BODIES]; /* velocity or acceleration of the origins */
    } body;
    struct {
        md_unit L[MDYN_MASS_SIZE_];
        md_force p[MIMICDYN_MAX_BODIES];       /* the place of body.wrench: md_aba_factor */
        md_force W[MIMICDYN_MAX_DOFS];         /* articulated inertia times S over sqrt(D) */
    } aba;
    struct {
        md_unit L[MDYN_MASS_SIZE_];
        md_turning turning;
    } single;
    md_force deep_W[MDYN_MASS_SIZE_ * sizeof(md_unit) / sizeof(md_force) + 1]; /* W of deep trees in
                                                  the place of their L: md_is_deep */
} md_work;

/* Memory of computations that do not overlap: each writes what it then reads, and nobody reads it
   afterwards. Only the rows of L stay, which stand first in each member and, without a tree, the
   entries of standing rows, until M is factored anew. */
typedef union md_shared {
    md_unit entry[MIMICDYN_MAX_ENTRIES]; /* L by >>reduce, then rows by >>equality and >>pgs */
    struct {
        md_unit L[MDYN_MASS_SIZE_];
        md_num mass_y[MDYN_MASS_SIZE_]; /* M_y, laid out as L: md_scale_mass, on the way to L */
    } factor;
#if MIMICDYN_TREE
    md_work work;
#endif
} md_shared;

/* ---- the sim ---- */

/* Members of parts that a build may lack. */
#define MD_TREE_MEMBERS \
    md_body_state body_state[MIMICDYN_MAX_BODIES]; \
    md_subtree subtree[MIMICDYN_MAX_BODIES]; \
    md_num last_dv[MIMICDYN_MAX_DOFS];          /* dv of the last step */ \
    md_num middle_dv[MIMICDYN_MAX_DOFS];        /* from v to the middle of the step, as \
                                                   extrapolated */ \
    md_num bias_velocity[MIMICDYN_MAX_DOFS];    /* the v of body_state: at the middle of a step */ \
    uint8_t has_last_dv;                        /* last_dv can be extrapolated */ \
    uint8_t state_is_of_step;                   /* q, v and rows on bodies are those of last_dv */
#define MD_MOMENTUM_MEMBERS \
    md_momentum momentum[MD_ROOM(MIMICDYN_MAX_DOFS / 6)]; /* of floating trees: md_momentum_of */ \
    uint8_t momentum_is_known;                   /* they are those of this state */
#define MD_ROW_TABLE_MEMBERS \
    const mdyn_closure *closure_table; \
    const mdyn_user_row *user_row_table; /* NULL: none */ \
    mdyn_row_function row_function;      /* NULL: none */ \
    void *user_data; \
    int16_t closures, user_rows;
#define MD_BODY_ROW_MEMBERS \
    int16_t lasting_row_count;            /* rows other than those of contacts */ \
    uint8_t friction_stage;               /* of all: md_friction_stage */ \
    md_body_row body_row[MD_ROOM(MDYN_BODY_ROWS_)]; \
    md_num row_jacobian[MIMICDYN_MAX_DOFS];      /* J of the row on bodies at hand */ \
    md_num row_jacobian_size[MIMICDYN_MAX_DOFS]; /* size of each element's largest term */
#define MD_CONTACT_MEMBERS \
    int16_t contacts; \
    uint8_t contacts_are_new;             /* set since the last step */ \
    md_contact_point contact[MD_ROOM(MIMICDYN_MAX_CONTACTS)]; \
    md_contact_cache contact_cache[MD_ROOM(MIMICDYN_MAX_CONTACTS)];
#define MD_SAVED_MEMBERS \
    mdyn_real q_saved[MDYN_MAX_COORDINATES], v_saved[MIMICDYN_MAX_DOFS]; \
    md_tail q_tail_saved[MDYN_MAX_COORDINATES], v_tail_saved[MIMICDYN_MAX_DOFS];

/* On a body: moment about its origin [N m], force [N], world axes. */
typedef struct mdyn_wrench { mdyn_real3 moment, force; } mdyn_wrench;

/* A mechanism in motion. Between calls the public members, from q to culprit, are read and written
   freely; those before and behind them are private. Arrays over DoF are indexed by mdyn_first_dof,
   `q` by mdyn_first_coordinate (both are the index of the body while every joint has one
   coordinate). Elements beyond the model's must be 0. sizeof(mdyn_sim) grows with the knobs; the
   memory is the caller's choice. */
typedef struct mdyn_sim {
    /* ---- Private. Flags and counts of all rooms. They come before what is large: small processors
       reach them by short instructions. ---- */
    uint8_t has_off;                      /* MD_OFF_...: `off` is not 0 */
    uint8_t may_be_off;                   /* followers' v is not that of the last step */
    uint8_t q_may_be_off;                 /* followers' q may not be that of their leaders */
    uint8_t limits_are_new;               /* is_implied of limits is to be found: >>plan */
    uint8_t factored;                     /* MD_FACTOR_...: what L is the factor of */
    uint8_t has_constant_mass;            /* all bodies are rotors: M depends on no q */
    uint8_t has_position_error;           /* MD_ERROR_...: rows of this step correct them */
    uint8_t has_inactive;                 /* a released or inactive row is left out of this step */
    uint8_t may_activate;                 /* a row is inactive in this solve until it is violated */
    uint8_t has_parallel;                 /* active rows of this solve share a vector */
    uint8_t has_wrench;                   /* an external wrench is not 0 */
    uint8_t has_displacement, has_error_displacement; /* these are not 0 */
    uint8_t has_impact;                   /* a row pushes that did not in the last step */
    uint8_t is_continued;                 /* v is that of the last step */
    uint8_t unconverged, was_unconverged; /* iterations ended early: in this step, in the last */
    uint8_t misses, step_misses;          /* a row misses its target: in this solve, in the step */

    /* Constants, as those from `model` on: >>build. */
    int16_t bodies, dofs, coordinates, couplings, drives;
    uint8_t has_target_velocity;          /* a hard coupling has a target velocity other than 0 */
    uint8_t has_coupled_bounds;           /* the impulse of a coupling bounds that of another row */

    int16_t rows, joint_row_count;        /* all; rows on joints, which come first */
    int16_t active_count, equality_count; /* rows of this solve; equality rows among them */
    int16_t tie_count;
    int16_t G_count;                      /* numbers in use */
    int16_t substep;                      /* that is being solved, from 0 on */
    int16_t redundant_count;              /* unbounded rows that depend on earlier ones */
    int16_t planned_count;                /* rows of `setup_order` laid out; -1: md_plan_iterated */
    int16_t plan_entries;                 /* entries that the plan uses */
    int16_t unsolved, has_no_solution;    /* problems left by pivoting; one has none */
    int16_t coarse_dof;                   /* whose change of velocity lacks digits; -1: none */
    int32_t entries;                      /* entries in use */
    md_overflow overflow;                 /* of the blocks of md_unit in this solve */
    uint32_t kinematics_stale;            /* a call changed q or v; MD_KINEMATICS_OF_STEP */
    int32_t iterations, pivots;
    uint32_t step_count;
    md_unit free_motion;                  /* largest |du| without inequality rows */

    /* ---- Public. ---- */

    mdyn_real q[MDYN_MAX_COORDINATES];            /* joint coordinates [rad, m, quaternions] */
    mdyn_real v[MIMICDYN_MAX_DOFS];               /* joint velocities [rad/s, m/s] */
    mdyn_real tau[MIMICDYN_MAX_DOFS];             /* generalized forces commanded [N m, N]; kept */
    mdyn_real target[MIMICDYN_MAX_DOFS];          /* drives: coordinate wanted, by DoF [rad, m] */
    mdyn_real target_velocity[MIMICDYN_MAX_DOFS]; /* drives: velocity wanted [rad/s, m/s] */
#if MIMICDYN_TREE
    mdyn_wrench wrench[MIMICDYN_MAX_BODIES];      /* external, on each body; kept */
#endif
    mdyn_report report;                           /* of the last step; written by mdyn_step */
    mdyn_culprit culprit;                         /* of the last code; written by every call */

    /* ---- Private. Each part names the rooms that write it. ---- */

    /* State, beside q and v: >>kinematics (seen, tails), >>integrate, >>project, mdyn_reset. */
    mdyn_real q_seen[MDYN_MAX_COORDINATES], v_seen[MIMICDYN_MAX_DOFS]; /* q, v of `body_state` */
    md_tail q_tail[MDYN_MAX_COORDINATES], v_tail[MIMICDYN_MAX_DOFS];   /* digits beyond q, v */
    md_tail q_tail_start[MDYN_MAX_COORDINATES]; /* in a midpoint step, whose start q_seen has */
    md_tail v_tail_start[MIMICDYN_QUATERNIONS ? MIMICDYN_MAX_DOFS : 1];
#if MD_FLOATING_TREES
    MD_MOMENTUM_MEMBERS
#endif

    /* Constants: >>build, from the tables and what replaces them. A step reads these, never a table
       but those of curves, closures and user rows, which it checks. constants_sum is over the
       members from `model` to `term_count`, what belongs to curves, and the constants
       among the counts. */
    const mdyn_model *model;
    const mdyn_body *body_table;
    const mdyn_coupling *coupling_table;
#if MDYN_BODY_ROWS_ > 0
    MD_ROW_TABLE_MEMBERS                 /* of closures and user rows */
#endif
    uint32_t table_sum;                  /* of model, couplings, closures and user rows at init */
    mdyn_wide3 gravity;
    mdyn_wide dt_wide;                   /* duration of a step with all digits */
    md_num dt, inverse_dt, h, inverse_h; /* duration of a step; of a substep */
    mdyn_wide half_dt;
    md_settings solver;
    md_joint_values joint_values[MIMICDYN_MAX_BODIES];
    md_link link[MIMICDYN_MAX_BODIES];
    int16_t dof_parent[MIMICDYN_MAX_DOFS];  /* next DoF towards the world; -1: none */
    int16_t M_first[MIMICDYN_MAX_DOFS + 1]; /* where row k of M begins in `mass`, with M_kk */
    mdyn_coupling coupling[MIMICDYN_MAX_COUPLINGS];
    mdyn_wide offset_rest[MIMICDYN_MAX_COUPLINGS]; /* digits beyond `offset`: >>project */
    uint8_t term_count[MIMICDYN_MAX_COUPLINGS]; /* terms whose coefficient is not 0 */

    /* Ready or busy; couplings that take no part: mdyn_engage, a step in which one breaks. */
    volatile uint32_t ready_mark;        /* MD_READY, MD_BUSY, MD_IN_CALLBACK */
    uint32_t constants_sum;
    md_num damping_theta[MIMICDYN_MAX_DOFS]; /* weight of v' in the joint's damping */
    int16_t springs[MIMICDYN_MAX_DOFS];  /* soft rows on the trees that rows tie a DoF to */
    md_dof dof[MIMICDYN_MAX_DOFS];
    uint8_t released[MIMICDYN_MAX_COUPLINGS];

#if MIMICDYN_TREE
    MD_TREE_MEMBERS               /* kinematics: >>kinematics, >>dynamics */
#endif

    md_num mass[MDYN_M_SIZE_];    /* M + dt damping: of each DoF, then of it and its ancestors */
    md_shared shared;             /* entries, and what is never used at the same time */

    /* Reduction v = G y': >>plan (which joints, G, elimination tree), >>constraints (off). */
    uint8_t eliminated[MIMICDYN_MAX_COUPLINGS];
    md_tie tie[MIMICDYN_MAX_COUPLINGS];   /* each follower after those that it follows */
    int16_t tie_of[MIMICDYN_MAX_DOFS];    /* the tie of a follower; -1: an independent DoF */
    int16_t G_first[MIMICDYN_MAX_DOFS];   /* the numbers of each DoF in G */
    int16_t G_end[MIMICDYN_MAX_DOFS];
    md_place G_y[MDYN_G_SIZE_];           /* independent DoF of a number */
    md_num G[MDYN_G_SIZE_];
    int16_t y_parent[MIMICDYN_MAX_DOFS];  /* elimination tree of M_y; -1: none */
    int16_t L_first[MIMICDYN_MAX_DOFS + 1]; /* entry where row k of L begins, with L_kk */
    md_num y_force[MIMICDYN_MAX_DOFS];    /* G^T force */
    md_num off[MIMICDYN_MAX_DOFS];        /* by how much followers differ from G y' */
    md_reduced reduced;                   /* the row at hand; here to save stack */
#if MIMICDYN_MAX_CURVES > 0
    md_curves curve_part;                 /* >>curves */
#endif

    /* Factor M_y = L^T L: >>reduce. The rows of L stand first in `entry`. */
    md_num inverse_diagonal[MIMICDYN_MAX_DOFS]; /* 1/L_kk */

    /* Constraint rows: >>constraints, >>closures, >>contacts, >>whiten, >>equality, >>plan. */
    md_terms terms;                       /* of the row at hand; here to save stack */
    md_value value;                       /* C of the row at hand */
    md_row row[MIMICDYN_MAX_ROWS];
    md_substep_row substep_row[MDYN_SUBSTEP_ROWS_];
    md_place active[MIMICDYN_MAX_ROWS];   /* rows of this solve, equality rows first */
    md_vector vector;                     /* shared by parallel rows */
#if MDYN_BODY_ROWS_ > 0
    MD_BODY_ROW_MEMBERS
#endif
#if MIMICDYN_MAX_CONTACTS > 0
    MD_CONTACT_MEMBERS
#endif

    /* Plan: >>plan, >>build. */
    md_place setup_order[MIMICDYN_MAX_ROWS];   /* rows in the order in which they are set up */
    int16_t pivot_owner[MDYN_WHITENED_SIZE_];  /* row that owns a coordinate; -1: none */
    int16_t last_use[MIMICDYN_MAX_DOFS];       /* place in `setup_order` of a DoF's last row */
    uint8_t mark[MDYN_WHITENED_SIZE_];         /* coordinates of the row at hand */

    /* Solve: >>dynamics (dv, joint_force, scratch), >>whiten to >>step. */
    mdyn_wide residual;
    md_num dv[MIMICDYN_MAX_DOFS];         /* change of v */
    md_num joint_force[MIMICDYN_MAX_DOFS];
    md_num displacement[MIMICDYN_MAX_DOFS]; /* from q to the middle of this substep */
    md_num error_displacement[MIMICDYN_MAX_DOFS]; /* the part of it that corrects errors */
    md_unit row_J[MIMICDYN_MAX_DOFS];     /* J of the row at hand; 0 between rows */
    md_unit free_du[MIMICDYN_MAX_DOFS];   /* `du` before the rows, for relaxation */
    md_unit du[MDYN_WHITENED_SIZE_];      /* change of velocity, whitened */
    md_unit scratch[MDYN_WHITENED_SIZE_];
    md_unit row_x[MDYN_WHITENED_SIZE_];   /* scale L^-T J^T of the row at hand */

    /* Result of each row: >>step, >>contacts, mdyn_reset. */
    md_row_result row_result[MIMICDYN_MAX_ROWS];

#if MIMICDYN_MAX_BODY_ROWS > 0 || MIMICDYN_MAX_CURVES > 0
    MD_SAVED_MEMBERS                 /* state to restore after an error of mdyn_project */
#endif

    md_place entry_column[MIMICDYN_MAX_ENTRIES]; /* of shared.entry: >>plan */
#if MIMICDYN_MAX_DANTZIG > 0
    md_dantzig dantzig; /* >>dantzig */
#endif
} mdyn_sim;

/* Parts of the sim that a build may lack. Its code names them all the same, behind a condition that
   is constant, so that the compiler leaves it out. */
#define MD_HAS_CURVES (MIMICDYN_MAX_CURVES > 0)
#define MD_HAS_BODY_ROWS (MDYN_BODY_ROWS_ > 0)       /* closures, user rows or contacts */
#define MD_HAS_CLOSURES (MIMICDYN_MAX_BODY_ROWS > 0) /* and user rows */
#define MD_HAS_CONTACTS (MIMICDYN_MAX_CONTACTS > 0)
#if MIMICDYN_TREE
typedef mdyn_sim md_tree;
typedef md_link md_body_part;
typedef md_dof md_column;
#define MD_TREE(sim) (sim)
#define MD_WORK(sim) (&(sim)->shared.work)
#define MD_WRENCHES(sim) ((sim)->wrench)
#define MD_BODY(link) (link)
#define MD_COLUMN(dof) (dof)
#else
typedef struct md_tree { MD_TREE_MEMBERS } md_tree;
typedef struct md_body_part { MD_BODY_MEMBERS } md_body_part;
typedef struct md_column { MD_COLUMN_MEMBERS } md_column;
#define MD_TREE(sim) ((void)(sim), (md_tree *)0)
#define MD_WORK(sim) ((void)(sim), (md_work *)0)
#define MD_WRENCHES(sim) ((void)(sim), (mdyn_wrench *)0)
#define MD_BODY(link) ((void)(link), (md_body_part *)0)
#define MD_COLUMN(dof) ((void)(dof), (md_column *)0)
#endif
#if MD_FLOATING_TREES
#define MD_MOMENTA(sim) (sim)
#else
typedef struct md_momenta { MD_MOMENTUM_MEMBERS } md_momenta;
#define MD_MOMENTA(sim) ((void)(sim), (md_momenta *)0)
#endif
#if MDYN_BODY_ROWS_ > 0
typedef mdyn_sim md_body_rows;
#define MD_BODY_ROWS(sim) (sim)
#else
typedef struct md_body_rows { MD_ROW_TABLE_MEMBERS MD_BODY_ROW_MEMBERS } md_body_rows;
#define MD_BODY_ROWS(sim) ((void)(sim), (md_body_rows *)0)
#endif
#if MIMICDYN_MAX_CONTACTS > 0
typedef mdyn_sim md_contacts;
#define MD_CONTACTS(sim) (sim)
#else
typedef struct md_contacts { MD_CONTACT_MEMBERS } md_contacts;
#define MD_CONTACTS(sim) ((void)(sim), (md_contacts *)0)
#endif
#if MIMICDYN_MAX_BODY_ROWS > 0 || MIMICDYN_MAX_CURVES > 0
#define MD_SAVED(sim) (sim)
#else
typedef struct md_saved { MD_SAVED_MEMBERS } md_saved;
#define MD_SAVED(sim) ((void)(sim), (md_saved *)0)
#endif
#if MIMICDYN_MAX_CURVES > 0
#define MD_CURVES(sim) (&(sim)->curve_part)
#else
#define MD_CURVES(sim) ((void)(sim), (md_curves *)0)
#endif

/* ============================================================================= // >>calls
   In order of use. n = DoF of the model, b = bodies, d = depth of the tree, r = constraint rows,
   c = couplings.
   Arrays: vectors over DoF have n elements, indexed by mdyn_first_dof; matrices are row-major.
   Aliasing: pointers to results must not point into the sim nor at each other's memory.
   Writes: queries leave the state as it is; a call whose sim is not const may write sim->culprit,
   and a call that returns an error has written nothing else. After an error of mdyn_init the sim is
   not ready.
   Tables: what a step uses of bodies, couplings, gravity, dt and settings stands in the sim. The
   mdyn_set_... calls change it; an edit of the tables themselves has no effect, and mdyn_verify
   reports it. Closures and user rows are read from their tables in each step, and checked: an edit
   is in force from then on, or the step is refused until it is undone. If a joint's axis is not x,
   y or z, queries and rows on bodies read it from the table too: an edit turns the axes in which
   the body's points are given, but not its motion. mdyn_explain reads the names. Whatever is
   edited, except a name, calls stay within their memory and return finite numbers.
   Re-entry: while a call changes the sim, another call may come from a row's callback or from an
   interrupt. If it would change the sim too (even one number, as mdyn_set_q and mdyn_set_tau do),
   or use its workspaces, it returns MDYN_ERR_BUSY and does nothing, not even to sim->culprit.
   Calls whose sim is const may be made at any time; from a callback also mdyn_pose, mdyn_velocity
   and mdyn_jacobian.
   An interrupt may read q, v, tau, targets, culprit and report at any time. During a step, q may be
   that of its middle, and v of a free joint may be in axes that have turned since its start. A
   processor of 32 bits may read one half of a 64-bit element before a change and the other half
   after it. An interrupt during a step may write only finite numbers below 2^23 into tau, targets
   and wrenches: the step may have checked the element already. A sim whose call was abandoned by
   longjmp stays busy until its memory is zeroed and mdyn_init called.
   Errors of every call: MDYN_ERR_NULL for a pointer that may not be NULL, MDYN_ERR_NOT_READY,
   MDYN_ERR_BUSY. Of calls that read q, v, tau or wrench: MDYN_ERR_STATE. Of calls that name a body,
   DoF, row or term: MDYN_ERR_INDEX. */

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
                  contacts, dantzig, curves, quaternions) \
    mimicdyn_##scalar##_tree_##tree##_bodies_##bodies##_dofs_##dofs##_couplings_##couplings \
    ##_rows_##rows##_terms_##terms##_entries_##entries##_body_rows_##body_rows \
    ##_contacts_##contacts##_dantzig_##dantzig##_curves_##curves##_quaternions_##quaternions
#define MDYN_JOIN(scalar, tree, bodies, dofs, couplings, rows, terms, entries, body_rows, \
                  contacts, dantzig, curves, quaternions) \
    MDYN_JOIN_(scalar, tree, bodies, dofs, couplings, rows, terms, entries, body_rows, contacts, \
               dantzig, curves, quaternions)
#define MDYN_CONFIGURATION \
    MDYN_JOIN(MIMICDYN_SCALAR, MIMICDYN_TREE, MIMICDYN_MAX_BODIES, MDYN_SPELL_DOFS_, \
              MDYN_SPELL_COUPLINGS_, MDYN_SPELL_ROWS_, MIMICDYN_MAX_TERMS, MDYN_SPELL_ENTRIES_, \
              MIMICDYN_MAX_BODY_ROWS, MIMICDYN_MAX_CONTACTS, MIMICDYN_MAX_DANTZIG, \
              MIMICDYN_MAX_CURVES, MIMICDYN_QUATERNIONS)
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

/* Checks the model and initializes the sim: coordinates at model->start, velocities, commands,
   targets and wrenches 0. The model and its tables must outlive the sim.
   Errors: sim->culprit names code and index (of a body or a coupling, depending on the code).
   Warnings: redundant, nearly redundant or inconsistent couplings; limits that leave no position;
   ratios that leave a single position; limits of followers that leave a leader a single position,
   or less than half of its own range. Without any of these: a start pose (q = 0 without
   model.start) that is outside a limit, MDYN_WARN_START (index: body), or off a hard coupling of
   unbounded force, MDYN_WARN_OFF_COUPLING (index: coupling).
   Cost: O(b d^2 + r^2 + r n + n c^2). */
#if MIMICDYN_STATIC
#define mdyn_init(sim, model) mdyn_init_configured(sim, model, NULL)
#else
#define mdyn_init(sim, model) mdyn_init_configured(sim, model, &MDYN_CONFIGURATION)
#endif
MDYN_API int mdyn_init_configured(mdyn_sim *sim, const mdyn_model *model, const char *built_with);

/* The value of each knob MIMICDYN_MAX_... that a model needs, even if it fits none of this build's.
   No sim is needed. All values are exact but two, which suffice: `entries`, of which
   sim.report.entries tells the number in use (mdyn_init may accept fewer), and `dantzig`, 0 unless
   the method is MDYN_DANTZIG. Contacts are taken as MIMICDYN_MAX_CONTACTS.
   Returns MDYN_OK if the model fits this build, otherwise the code of the first knob that is too
   small, as mdyn_init does. Errors, and nothing is written: MDYN_ERR_NULL, MDYN_ERR_PARENT,
   MDYN_ERR_JOINT, MDYN_ERR_TERM, MDYN_ERR_CLOSURE, MDYN_ERR_INDEX for a negative count.
   O(rows couplings d) */
MDYN_API int mdyn_required(const mdyn_model *model, mdyn_capacity *required);

/* The compiler options of a capacity, ending in 0: "-DMIMICDYN_MAX_BODIES=20 ...", at most 240
   characters. Body rows and dantzig are left out if the model needs none.
   Errors: MDYN_ERR_NULL, MDYN_ERR_ROOM if the text does not fit into `size` bytes. O(1) */
MDYN_API int mdyn_required_text(const mdyn_capacity *required, char *text, int size);

/* Forgets what earlier steps left: impulses, results and engagement of rows, the digits beyond q
   and v, sticky flags, and contacts that were set. Released and broken couplings stay released. For
   use after a jump of the state. Calls notice without it that the user changed q or v. O(r + n) */
MDYN_API int mdyn_reset(mdyn_sim *sim);

/* Replaces a coupling: ratios, offset, softness, range, target velocity, effort, even joints.
   Checked as in mdyn_init; in force from the next call on. O(r) if joints (and, for hard unbounded
   couplings, ratios) are unchanged and no coupling is redundant: inconsistency is then reported by
   the next step, an empty range by mdyn_range. Otherwise, and if hardness or boundedness changes,
   the solve is planned anew as in mdyn_init, with its warnings: O(r^2 + r n + n c^2).
   Errors: those of mdyn_init, MDYN_ERR_INDEX, MDYN_ERR_LOSS; when planned anew also
   MDYN_ERR_STATE, MDYN_ERR_SINGULAR, MDYN_ERR_OVERFLOW. */
MDYN_API int mdyn_set_coupling(mdyn_sim *sim, int coupling, const mdyn_coupling *replacement);

/* The command of a coupling: sum of coefficient q -> target, its rate -> target_velocity, by
   offset := -target. Kept, so a motion is commanded before each step. A spring (MDYN_SPRING,
   MDYN_TENDON_DRIVE) pulls towards the values at the middle of the step, as a drive does. A hard
   row (MDYN_PRESCRIBED) has the rate target_velocity at the end of the step and, by a step of
   MDYN_MIDPOINT with MDYN_RELAX and MDYN_HARD(1), the sum target + dt/2 target_velocity there: for
   a given q(t), target = q(t + dt) - dt/2 q'(t + dt). Errors of the sum below its rounding are
   corrected in the rate. mdyn_engage switches the coupling off and on.
   Errors: MDYN_ERR_INDEX; MDYN_ERR_STATE for a target not finite or from 2^23 on. O(r); softness
   all zero plans anew when target_velocity begins or ceases to be 0, as mdyn_set_coupling does. */
MDYN_API int mdyn_set_coupling_target(mdyn_sim *sim, int coupling, mdyn_real target,
                                      mdyn_real target_velocity);

/* Releases a coupling, which then has no effect, or engages it. MDYN_ENGAGE_HERE engages at the
   present positions: the offset is changed so that C, if outside its range, is at the nearest
   bound. MDYN_ENGAGE_OFFSET keeps the offset: position errors are corrected as after any
   disturbance. All clear the impulses of the coupling. The next step removes the difference of
   velocities, as far as effort allows.
   Errors: MDYN_ERR_INDEX, MDYN_ERR_STATE, those of mdyn_set_coupling. Cost: that of
   mdyn_set_coupling. */
enum { MDYN_RELEASE, MDYN_ENGAGE_HERE, MDYN_ENGAGE_OFFSET };
MDYN_API int mdyn_engage(mdyn_sim *sim, int coupling, int on);

/* Replaces what may change of a body and its joint while it runs: mass, com, inertia, armature,
   damping, friction, limits, effort, gains. Parent, joint, axis, pitch, position and rotation must
   be those of mdyn_init, `name` is not read. Checked as in mdyn_init; on an error nothing was
   changed. State, commands and the impulses of rows that remain are kept; a limit, a drive or dry
   friction whose numbers become 0 ends, and one that was 0 begins, as after mdyn_init with these
   numbers. O(b d + n d^2 + r c). If a row begins or ends, or the effort of a joint with a drive
   becomes 0 or was 0, the solve is planned anew as in mdyn_init, with its warnings:
   O(r^2 + r n + n c^2). Otherwise the only warning is MDYN_WARN_EMPTY_RANGE of this joint.
   Errors: those of a body in mdyn_init, MDYN_ERR_FROZEN, MDYN_ERR_CAPACITY_ROWS, _CAPACITY_ENTRIES,
   _CAPACITY_DANTZIG, MDYN_ERR_STATE. */
MDYN_API int mdyn_set_body(mdyn_sim *sim, int body, const mdyn_body *replacement);

/* Replaces gravity, the duration of a step, or the settings of the solver, for the calls that
   follow. State and warm starts are kept; mdyn_set_dt scales the impulses of the last step so that
   its forces remain. The weights of damping are chosen anew, by M at the present pose. Errors, with
   nothing changed: MDYN_ERR_NOT_FINITE; MDYN_ERR_DT; MDYN_ERR_SOLVER and MDYN_ERR_CAPACITY_DANTZIG;
   of dt and settings also MDYN_ERR_STATE. O(1); dt and settings O(b d + r) */
MDYN_API int mdyn_set_gravity(mdyn_sim *sim, const mdyn_wide3 *gravity);
MDYN_API int mdyn_set_dt(mdyn_sim *sim, mdyn_wide dt);
MDYN_API int mdyn_set_solver(mdyn_sim *sim, const mdyn_solver *solver);

/* Puts the state inside the limits of all joints, and onto the constraints of mdyn_project. A joint
   outside its range (mdyn_range) goes to the nearer end, velocities that lead out of a range become
   0, followers follow. If couplings of several leaders then move a joint out again, limits and the
   projection of mdyn_project with MDYN_MASS_METRIC take turns, at most 200 times. For use after
   mdyn_init and after any jump: the first step then corrects nothing. Couplings with lower < upper
   are left to the steps; released couplings are ignored.
   Warnings: MDYN_WARN_EMPTY_RANGE (index: body), MDYN_WARN_START or MDYN_WARN_OFF_COUPLING for what
   remains violated. Errors: MDYN_ERR_STATE, MDYN_ERR_OVERFLOW, MDYN_ERR_SINGULAR.
   Cost: O(n c^2), then that of mdyn_project for each turn. */
MDYN_API int mdyn_settle(mdyn_sim *sim);

/* Takes whole turns off the coordinate of a revolute joint, so that it lies within half a turn of
   0. *turns is their number, for the caller to add up. For joints that turn without end, before
   they come near 2^23 rad. The offsets of the joint's couplings take up the difference, so that
   their C stays the same to the last digit of the tails; the drive's target moves along. When all
   joints of a train have been rebased, the offsets hold the remainder. An offset that
   mdyn_set_coupling sets later refers to the rebased coordinates. Errors: MDYN_ERR_INDEX,
   MDYN_ERR_JOINT if the joint is not revolute, MDYN_ERR_LIMITS if it has limits, MDYN_ERR_CURVED if
   a coupling has a curve at it, MDYN_ERR_STATE. O(c + n) */
MDYN_API int mdyn_rebase(mdyn_sim *sim, int body, int32_t *turns);

/* Checks that the sim and its tables are as the last call left them: by a checksum of all that
   steps do not change, and by the range of every index that they change.
   MDYN_ERR_TABLES: the model or a table was edited; index: the body, -1 for another table. Padding
   bytes count. MDYN_ERR_MEMORY: the private part of the sim was overwritten. A sim that passes
   neither crashes nor hangs. State, commands and impulses are not checked: no value of theirs is
   wrong by itself. O(sizeof(mdyn_sim) + size of the tables) */
MDYN_API int mdyn_verify(mdyn_sim *sim);

/* Moves q and v onto the hard constraints whose force is unbounded: couplings without effort,
   efficiency and mu that no other coupling names in mu_of, closures without effort. Others are
   ignored.
   MDYN_MASS_METRIC: the smallest change in the metric of M: heavy joints move least.
   MDYN_FOLLOWERS: leaders stay; each coupling moves the joint of its first term. Chains in any
   order; closures are ignored.
   MDYN_INDEPENDENT: the independent DoFs of mdyn_independent_dofs stay, q = gamma(y), v = G y';
   couplings that are rows and closures are ignored.
   Curves take Newton steps; a curve may have no solution, or have it far away.
   Warning MDYN_WARN_CONTRADICTION if a constraint remains violated; with MIMICDYN_EXACT 0 also if
   2000 iterations did not converge. Errors, and the state is as it was: MDYN_ERR_OVERFLOW,
   MDYN_ERR_NOT_FINITE of a curve. Cost: that of a step, with closures or curves of at most 101;
   MDYN_FOLLOWERS: O(c^2) terms; MDYN_INDEPENDENT: O(c) terms. */
typedef enum mdyn_metric { MDYN_MASS_METRIC, MDYN_FOLLOWERS, MDYN_INDEPENDENT } mdyn_metric;
MDYN_API int mdyn_project(mdyn_sim *sim, mdyn_metric metric);

/* Sets the contacts of the next step, in place of any set before. A step consumes them: without a
   call before it, a step has no contacts. `contacts` is copied, and may be NULL if count is 0.
   Errors: MDYN_ERR_CONTACT, MDYN_ERR_STATE, MDYN_ERR_NOT_FINITE, MDYN_ERR_SOFTNESS (index:
   contact), MDYN_ERR_CAPACITY_BODY_ROWS, MDYN_ERR_CAPACITY_ROWS; contacts set before remain.
   Cost: O(count^2) comparisons of keys. */
MDYN_API int mdyn_set_contacts(mdyn_sim *sim, const mdyn_contact *contacts, int count);

/* One time step of dt: advances q and v, writes sim->report and what mdyn_report_row and
   mdyn_coupling_force return, consumes contacts.
   An error leaves q and v as they were; the next step is the one that would have come without it.
   Exception: if the axes of a spherical or free joint turn so far in a step that v leaves its
   range, the next step does not extrapolate from earlier ones.
   Errors: MDYN_ERR_STATE (index: coordinate, DoF or body), MDYN_ERR_BEYOND (index: the element),
   MDYN_ERR_OVERFLOW, MDYN_ERR_SINGULAR; with MIMICDYN_BAKED MDYN_ERR_BAKED; with MDYN_DANTZIG
   MDYN_ERR_CAPACITY_DANTZIG. With rows on bodies MDYN_ERR_CAPACITY_ENTRIES, and for what a callback
   or an edit of a table has set (index: user row or closure) MDYN_ERR_NOT_FINITE,
   MDYN_ERR_SOFTNESS, MDYN_ERR_USER_ROW, MDYN_ERR_CLOSURE, MDYN_ERR_NEGATIVE.
   Warnings: MDYN_WARN_NOT_CONVERGED if a row misses its target by more than solver.accuracy, also
   in a substep, or in the solve that corrects position errors. With MDYN_DANTZIG:
   MDYN_WARN_NO_SOLUTION if rows are inconsistent; those marked MDYN_ROW_CONTRADICTORY are violated,
   the others hold. MDYN_WARN_NOT_CONVERGED also if rows are nearly dependent or friction did not
   settle; the step was then iterated, as by MDYN_PGS with MDYN_COLD (report.unsolved,
   report.residual).
   Warning MDYN_WARN_LONG_STEP (index: body, or -1 if none turns by 0.2 rad): the bias force belongs
   to a velocity that differs from that of the middle of the step by more than 1 %, and the second
   solve (solver.corrections) has not halved the difference.
   Warning MDYN_WARN_DIGITS (index: DoF), of MIMICDYN_SCALAR FIXED: all changes of velocity of a
   step have one exponent, each weighted by the square root of its inertia. One unit of this DoF's
   is above 1e-5 rad/s or m/s, and more than 1/256 of its change and of what its own force does.
   Cost: O(b d + n d^2) for M, O(entries + c d) for couplings, then O(entries) for each of at most
   2 solver.iterations + r iterations over the bounded rows. Position bias that is kept apart
   (mdyn_start, mdyn_correction) takes up to three times as many; `substeps` multiplies the cost of
   all rows. MDYN_DANTZIG with m bounded rows: O(m entries) and mdyn_lcp_dantzig, once and again
   whenever violated ranges are activated, at most r times; twice that with MDYN_RELAX. In fixed
   point the solve is repeated, at a coarser scale, when a value overflows its block. */
MDYN_API int mdyn_step(mdyn_sim *sim);

/* Between calls a sim may be copied and moved by assignment or memcpy: it holds no address of
   itself, and a copy continues bit for bit like its original.
   To keep a sim, or to pass it to another process, mdyn_save writes MDYN_SAVED_SIZE bytes: version,
   configuration, CRCs of model and sim, then the sim. mdyn_restore refuses what does not fit;
   otherwise the sim continues bit for bit, with the tables of `model`, wherever these stand. It
   needs no mdyn_init, and `bytes` of any alignment. Only the same build of the header reads them.
   Errors, and nothing is written: MDYN_ERR_ROOM; MDYN_ERR_SAVED, MDYN_ERR_SAVED_BUILD,
   MDYN_ERR_SAVED_MODEL, those of the counts of a model in mdyn_required. MDYN_ERR_MEMORY: by their
   CRC the bytes are as they were saved, but they hold no sim that mdyn_verify passes; the sim is
   not ready then. A CRC does not protect against forgery: restore no bytes from a source that you
   do not trust.
   O(sizeof(mdyn_sim) + size of the tables) */
#define MDYN_SAVED_SIZE (24 + MDYN_CAST_(int32_t, sizeof(mdyn_sim)))
MDYN_API int mdyn_save(const mdyn_sim *sim, void *bytes, int32_t size);
MDYN_API int mdyn_restore(mdyn_sim *sim, const mdyn_model *model, const void *bytes, int32_t size);

/* What row `index` of a kind did in the last step; velocities are those of the present sim->v.
   MDYN_ERR_RESULT if a result is 1e30 or more; MDYN_ERR_REPLACED as for mdyn_coupling_force;
   MDYN_ERR_STATE. O(r + n + terms) */
MDYN_API int mdyn_report_row(const mdyn_sim *sim, mdyn_row_kind kind, int index,
                             mdyn_row_report *report);

/* Force of a coupling on the joint of one of its terms in the last step, loss included [N m or N].
   MDYN_ERR_RESULT if it is 1e30 or more; MDYN_ERR_REPLACED if mdyn_set_coupling has given it
   other joints or ratios since then. O(1), with an efficiency O(r) */
MDYN_API int mdyn_coupling_force(const mdyn_sim *sim, int coupling, int term, mdyn_wide *force);

/* The range that is left to a joint of one coordinate by its limits and those of all joints coupled
   to it [rad or m]; +-MDYN_UNLIMITED: none. Follows chains of hard two-joint couplings, exactly. A
   hard coupling of more joints leaves each what the ranges of the others allow: none of its
   positions is lost; where such couplings close to a ring with others, some are given that the
   mechanism does not have. The limits of a follower on a curve of one leader (MDYN_FOLLOWS) count
   too, and those of all tied to it by couplings without curves: of the intervals of the leader that
   they leave, the range is the one that contains its present coordinate, or is nearest to it. A
   user's function is looked at in 65 places, between its own bounds or two of the joint. Other
   couplings with curves do not count, nor leaders in the range of a follower on a curve, nor do
   curves in what couplings of several leaders leave.
   Warning MDYN_WARN_EMPTY_RANGE if no position is left (lower > upper). O(c^2 + C c^2 + knots), for
   C couplings with curves; O(c^2 terms^2) with couplings of more than two joints */
MDYN_API int mdyn_range(mdyn_sim *sim, int body, mdyn_wide *lower, mdyn_wide *upper);

#if MIMICDYN_MAX_CURVES > 0
/* Value, slope and curvature of a curve other than a coupler. Errors: MDYN_ERR_NULL; MDYN_ERR_CURVE
   if the curve is not valid; MDYN_ERR_RESULT if a result is out of range. O(log of the knots) */
MDYN_API int mdyn_evaluate_curve(const mdyn_curve *curve, mdyn_real q, mdyn_curve_point *point);

/* Fills in the second derivatives of a table, q and values of which are given: those of the natural
   cubic spline, 0 at both ends. `scratch` has room for `count` numbers.
   Errors: MDYN_ERR_NULL; MDYN_ERR_CURVE for less than 2 or more than 4096 knots, numbers out of
   range, or places that do not ascend. O(count) */
MDYN_API int mdyn_fill_spline(mdyn_knot *knots, int count, mdyn_wide *scratch);
#endif

/* The angle nearest to `reference` that differs from `angle` by whole turns [rad]: for joints whose
   range exceeds a turn. Both below 2^23 in magnitude. O(1) */
MDYN_API mdyn_real mdyn_nearest_angle(mdyn_real angle, mdyn_real reference);

/* The equation that a row enforces, with its numbers and units, as text ending in 0, e.g.
   "coupling 0: q(1) - 0.5 q(0) - 0.1 = 0 [rad]; hard, erp 0.2".
   Errors: MDYN_ERR_INDEX, MDYN_ERR_ROOM if the text does not fit into `size` bytes.
   O(r + length of the text) */
MDYN_API int mdyn_explain(mdyn_sim *sim, mdyn_row_kind kind, int index, char *text, int size);

#if MIMICDYN_TREE
/* A body in the present pose as text ending in 0: at most 600 characters beside its name and its
   parent's. All bodies in turn are a dump of the model. The text names the joint; position and
   rotation of the origin; the mass, and that of all it carries if that is more; the reach, from its
   origin to the farthest origin or mass center that it carries; limits, and the range of mdyn_range
   if that differs. Last come hints at what looks wrong: an inertia whose mean radius of gyration
   exceeds ten times the largest arm of the body, a mass too large for any material of its size
   (grams?), limits that look like degrees. No step reads the hints.
   Errors: MDYN_ERR_INDEX, MDYN_ERR_STATE, MDYN_ERR_ROOM, MDYN_ERR_RESULT.
   O(b d + c^2 + length of the text) */
MDYN_API int mdyn_explain_body(mdyn_sim *sim, int body, char *text, int size);
#endif

/* A code as a sentence, and its remedy; never NULL. O(1) */
MDYN_API const char *mdyn_text(int code);
MDYN_API const char *mdyn_remedy(int code);

/* Number of DoF (n) and of coordinates; index of the first DoF and of the first coordinate of a
   body's joint (MDYN_ERR_INDEX of a fixed joint: it has none). Negative: an error. O(1) */
MDYN_API int mdyn_dofs(const mdyn_sim *sim);
MDYN_API int mdyn_coordinates(const mdyn_sim *sim);
MDYN_API int mdyn_first_dof(const mdyn_sim *sim, int body);
MDYN_API int mdyn_first_coordinate(const mdyn_sim *sim, int body);

/* Coordinates, velocities and commands by body: k counts the coordinates of its joint, `axis` its
   DoF, both from 0. A coordinate is set without regard to the others of a quaternion. Values are
   checked by the next call that reads them. Errors: MDYN_ERR_INDEX, also of a fixed joint; mdyn_q
   and mdyn_v then return what no state may hold: NaN, in fixed point INT64_MIN. O(1) */
MDYN_API mdyn_real mdyn_q(const mdyn_sim *sim, int body, int k);
MDYN_API mdyn_real mdyn_v(const mdyn_sim *sim, int body, int axis);
MDYN_API int mdyn_set_q(mdyn_sim *sim, int body, int k, mdyn_real value);
MDYN_API int mdyn_set_v(mdyn_sim *sim, int body, int axis, mdyn_real value);
MDYN_API int mdyn_set_tau(mdyn_sim *sim, int body, int axis, mdyn_real value);
MDYN_API int mdyn_set_target(mdyn_sim *sim, int body, mdyn_real value);
MDYN_API int mdyn_set_target_velocity(mdyn_sim *sim, int body, mdyn_real value);

/* Conversions: of a force that was read back to a command, of a measurement to a constant. A result
   of type mdyn_real is rounded to nearest and clamped to its range; NaN remains NaN. O(1) */
MDYN_API mdyn_real mdyn_real_of(mdyn_wide x);
MDYN_API mdyn_wide mdyn_wide_of(mdyn_real x);

/* For numbers that are known at run time only: MDYN_R and MDYN_C are for constants, and evaluate
   their argument up to 31 times in fixed point. Rounded to nearest; NaN and numbers that are too
   large give what the macros make of them. In fixed point the library takes the bits of the double:
   no floating-point arithmetic is linked, not even in programs that call these. O(1) */
#if MDYN_SCALAR == MDYN_SCALAR_FIXED
MDYN_API mdyn_real mdyn_real_of_bits(uint64_t bits); /* of an IEEE 754 double */
MDYN_API mdyn_wide mdyn_wide_of_bits(uint64_t bits);
static inline uint64_t mdyn_bits_of_(double x)
{
    union { double number; uint64_t bits; uint32_t low; } u;
    uint64_t exponent, sign;
    u.bits = 0;
    u.number = x;
    if (sizeof x == 8) return u.bits;

    /* a double of 32 bits: exponent from 8 to 11 bits, fraction from 23 to 52 */
    exponent = u.low >> 23 & 255u;
    sign = u.low >> 31;
    u.bits = sign << 63 | (u.bits & 0x7FFFFFu) << 29;
    if (exponent == 255u) return u.bits | 0x7FF0000000000000u;
    return exponent ? u.bits | (exponent + 896u) << 52 : 0;
}
#define mdyn_real_from(x) mdyn_real_of_bits(mdyn_bits_of_(x))
#define mdyn_wide_from(x) mdyn_wide_of_bits(mdyn_bits_of_(x))
#else
static inline mdyn_real mdyn_real_from(double x) { return MDYN_CAST_(mdyn_real, x); }
static inline mdyn_wide mdyn_wide_from(double x) { return MDYN_CAST_(mdyn_wide, x); }
#endif

/* Back to a double, rounded to its digits. In fixed point the bits of an IEEE 754 double are put
   together from the integer; no floating-point arithmetic is linked here either. O(1) */
#if MDYN_SCALAR == MDYN_SCALAR_FIXED
MDYN_API uint64_t mdyn_bits_of_real(mdyn_real x);
MDYN_API uint64_t mdyn_bits_of_wide(mdyn_wide x);
static inline double mdyn_double_of_bits_(uint64_t bits)
{
    union { double number; uint64_t bits; uint32_t low; } u;
    uint32_t exponent = MDYN_CAST_(uint32_t, bits >> 52 & 2047u);
    u.number = 0;
    u.bits = bits;
    if (sizeof u.number == 8) return u.number;

    /* a double of 32 bits: the fraction is rounded to 23, what is too large is infinite */
    u.low = MDYN_CAST_(uint32_t, bits >> 32) & 0x80000000u;
    if (exponent > 896u) {
        exponent = exponent - 896u < 255u ? exponent - 896u : 255u;
        u.low |= exponent << 23;
        if (exponent < 255u)
            u.low += MDYN_CAST_(uint32_t, ((bits & 0xFFFFFFFFFFFFFu) + 0x10000000u) >> 29);
    }
    return u.number;
}
#define mdyn_double_of_real(x) mdyn_double_of_bits_(mdyn_bits_of_real(x))
#define mdyn_double_of_wide(x) mdyn_double_of_bits_(mdyn_bits_of_wide(x))
#else
static inline double mdyn_double_of_real(mdyn_real x) { return MDYN_CAST_(double, x); }
static inline double mdyn_double_of_wide(mdyn_wide x) { return MDYN_CAST_(double, x); }
#endif

/* Arithmetic of mdyn_wide, which in fixed point has no operators of its own (mdyn_real has those of
   an integer: sums, differences, comparisons). F32, F64: the operators of the processor. FIXED:
   operands and results are rounded to 31 bits; the relative error of division and square root is
   below 2e-9. A result beyond 2^112, or a division by 0, gives the largest number of its sign,
   which no call accepts; a result below 2^-96 is 0. mdyn_root of a negative number is 0. O(1) */
MDYN_API mdyn_wide mdyn_plus(mdyn_wide a, mdyn_wide b);
MDYN_API mdyn_wide mdyn_minus(mdyn_wide a, mdyn_wide b);
MDYN_API mdyn_wide mdyn_times(mdyn_wide a, mdyn_wide b);
MDYN_API mdyn_wide mdyn_over(mdyn_wide a, mdyn_wide b);
MDYN_API mdyn_wide mdyn_root(mdyn_wide a);

/* -1, 0, 1: a is less than, equal to, greater than b, by all their digits; 2 if one is NaN. O(1) */
MDYN_API int mdyn_compare(mdyn_wide a, mdyn_wide b);

/* A number as text ending in 0, with at most 6 significant digits, at most 16 characters and the 0:
   0.2, -35, 1.23457e6. No libc. Errors: MDYN_ERR_NULL, MDYN_ERR_ROOM if it does not fit into `size`
   bytes, MDYN_ERR_RESULT for NaN and from 1e30 on; nothing is written. At most 400 divisions */
MDYN_API int mdyn_number_text(mdyn_wide x, char *text, int size);

#if MIMICDYN_TREE
/* *valid: of all inertias that a rigid body can have, the one nearest to `given` by the sum of the
   squared differences of the nine matrix elements. *excess: by how much the largest principal
   moment of `given` exceeds the sum of the other two [kg m^2]; 0 if it does not. `valid` may be
   `given`.
   Errors: MDYN_ERR_NOT_FINITE, MDYN_ERR_INERTIA. O(1) */
MDYN_API int mdyn_valid_inertia(const mdyn_inertia *given, mdyn_inertia *valid,
                                mdyn_wide *excess);
#endif

/* Integers of sensors and actuators; any value is accepted. O(1)
   mdyn_of_counts   counts times `unit`, the value of one count: MDYN_C(6.283185307179586 / 4096)
   mdyn_to_counts   x over `unit`, rounded to nearest, clamped to 32 bits; 0 if unit is 0
   mdyn_unwrap      count of an encoder over all turns: the one nearest to the last count `before`
                    whose lowest `bits` (1 to 32) are the register's reading `raw` */
MDYN_API mdyn_real mdyn_of_counts(int32_t counts, mdyn_wide unit);
MDYN_API int32_t mdyn_to_counts(mdyn_real x, mdyn_wide unit);
MDYN_API int32_t mdyn_unwrap(int32_t before, uint32_t raw, int bits);

/* acceleration[n] = M^-1 (tau - C), unconstrained and constrained. Constraints are those of
   mdyn_project with MDYN_MASS_METRIC: J a = 0 of couplings, J a + J' v = 0 of closures; J v = 0 is
   assumed, as steps leave it.
   Source: Featherstone, Rigid Body Dynamics Algorithms: 7.3 (ABA), 8 (loops).
   MDYN_ERR_SINGULAR; MDYN_ERR_RESULT if a result is 1e30 or more.
   O(b); O(b d + n d^2 + r d), with closures O(b d + n d^2 + r^2 d) */
MDYN_API int mdyn_forward_dynamics(mdyn_sim *sim, mdyn_wide *acceleration);
MDYN_API int mdyn_constrained_dynamics(mdyn_sim *sim, mdyn_wide *acceleration);

/* The reduced system. Eliminated couplings make q = gamma(y) of m independent DoFs, q' = G y' and
   q'' = G y'' + g with g = G' y' (0: couplings are linear), and
      M_y y'' + C_y = G^T tau,     M_y = G^T M G,     C_y = G^T (C + M g)
   Eliminated are hard couplings of positions with default softness whose force has no bound, unless
   they are redundant or released. A coupling that stays a row, and a closure, is no part of the
   reduced system: its joints are independent, and its force acts like tau.
   Vectors y have m elements, in the order of the DoFs; y of the state are the elements of q and v
   that belong to these DoFs. mdyn_engage and mdyn_set_coupling may choose other ones.
   Source: Featherstone, Rigid Body Dynamics Algorithms: 3.2.
   mdyn_independent_dofs        m; O(1)
   mdyn_independent_dof         DoF of y_k, k from 0 to m - 1; MDYN_ERR_INDEX; O(n)
   mdyn_expand_velocity         v[n] = G y'[m], also of a small change of y; O(n + non-zeros of G)
   mdyn_expand_acceleration     a[n] = G y''[m] + g; O(n + non-zeros of G)
   mdyn_reduced_force           G^T tau[n], [m], of other forces than sim->tau; of a row of a
                                Jacobian the row over y, J G; O(n + non-zeros of G)
   mdyn_reduced_mass_matrix     M_y[m][m]; O(b d + n d c + m^2)
   Errors: MDYN_ERR_STATE for an argument that is not finite, or too large; MDYN_ERR_RESULT if a
   result is 1e30 or more. An argument may be the memory of the result. */
MDYN_API int mdyn_independent_dofs(const mdyn_sim *sim);
MDYN_API int mdyn_independent_dof(const mdyn_sim *sim, int k);
MDYN_API int mdyn_expand_velocity(mdyn_sim *sim, const mdyn_wide *y_velocity, mdyn_wide *velocity);
MDYN_API int mdyn_expand_acceleration(mdyn_sim *sim, const mdyn_wide *y_acceleration,
                                      mdyn_wide *acceleration);
MDYN_API int mdyn_reduced_force(mdyn_sim *sim, const mdyn_wide *force, mdyn_wide *y_force);
MDYN_API int mdyn_reduced_mass_matrix(mdyn_sim *sim, mdyn_wide *y_mass);

/* acceleration[n] for a program that integrates q and v by itself. Its q_o and v_o drift off the
   eliminated couplings; M, C and rows are taken at q_n = gamma(y), v_n = G y', and
      M_y y'' = G^T (tau - C - M gs),   q'' = G y'' + gs
      gs = g + 2/T (v_n - v_o) + (q_n - q_o)/T^2
   so that the error of a follower obeys e'' + 2/T e' + e/T^2 = 0 with `time` T, 1e-9 to 1 s. The
   sim keeps q_o and v_o. Couplings that are rows, and closures: as in mdyn_constrained_dynamics, at
   q_n and v_n; mdyn_project returns to them. Source: Featherstone, Spatial_v2: FDgq.
   Errors: MDYN_ERR_DT for T, MDYN_ERR_OVERFLOW if q_n or v_n is 2^23 or more (index: coordinate,
   DoF), those of mdyn_constrained_dynamics. Cost: that of mdyn_constrained_dynamics, and O(b). */
MDYN_API int mdyn_stabilized_dynamics(mdyn_sim *sim, mdyn_wide time, mdyn_wide *acceleration);

#if MIMICDYN_TREE
/* Kinematics of the present q and v, in world axes. No update call is needed: a sim notices changed
   q or v and evaluates its kinematics once, O(b). `point` is in body axes [m]; NULL: the body's
   origin. Results may not be NULL; the quaternion has length 1 and w >= 0; angular [rad/s], linear
   of the point [m/s]. MDYN_ERR_RESULT if a result is 2^23 or more. O(d) */
MDYN_API int mdyn_pose(mdyn_sim *sim, int body, mdyn_real3 *position, mdyn_real4 *quaternion);
MDYN_API int mdyn_velocity(mdyn_sim *sim, int body, const mdyn_real3 *point,
                           mdyn_real3 *angular, mdyn_real3 *linear);
/* Position of a point of a body, in world axes [m]. As mdyn_velocity. O(d) */
MDYN_API int mdyn_point(mdyn_sim *sim, int body, const mdyn_real3 *point, mdyn_real3 *position);

/* Acceleration of a body [rad/s^2] and of its point [m/s^2] in world axes, J a + J' v, for the
   joint accelerations a[n] at the present q and v; a NULL: J' v alone, which an operational-space
   controller subtracts. Gravity is not included: the acceleration of a body at rest is 0.
   Errors: MDYN_ERR_STATE, MDYN_ERR_RESULT if a result is 1e30 or more. In F32 the error of J' v is
   1e-6 of gravity, because gravity is subtracted from it.
   Source: Featherstone, Rigid Body Dynamics Algorithms: 2.11, 5.3. O(b), then O(d) */
MDYN_API int mdyn_acceleration(mdyn_sim *sim, int body, const mdyn_real3 *point,
                               const mdyn_wide *a, mdyn_wide3 *angular, mdyn_wide3 *linear);

/* jacobian[6][n]: (angular, linear velocity of the point) = J v. O(6 n) */
MDYN_API int mdyn_jacobian(mdyn_sim *sim, int body, const mdyn_real3 *point, mdyn_wide *jacobian);

/* Dynamics at the present q, v, tau, wrench: tau = M a + C, C with gravity and minus wrenches.
   Damping, friction, limits and drives are not included. Each DoF in its units [rad, N m; m, N].
   MDYN_ERR_RESULT if a result is 1e30 or more.
   Source: Featherstone, Rigid Body Dynamics Algorithms: 5.3 (RNEA), 6.2 (CRBA). */
MDYN_API int mdyn_mass_matrix(mdyn_sim *sim, mdyn_wide *mass); /* M[n][n]; O(b d + n^2) */
MDYN_API int mdyn_bias_force(mdyn_sim *sim, mdyn_wide *bias);  /* C[n]; O(b) */
MDYN_API int mdyn_inverse_dynamics(mdyn_sim *sim, const mdyn_wide *acceleration,
                                   mdyn_wide *tau);            /* [n]; O(b) */
/* The same with the losses of the joints, tau = M a + C + damping v + friction sign(v): a
   feed-forward for joints that move. Where v is 0, the sign of a tells the direction in which
   friction has to be overcome; where both are 0, friction adds nothing. Losses of couplings
   (efficiency, mu) are not included, nor limits and drives. Errors and cost as above. */
MDYN_API int mdyn_inverse_dynamics_with_losses(mdyn_sim *sim, const mdyn_wide *acceleration,
                                               mdyn_wide *tau);
/* The same of the reduced system: C_y[m]; tau[n] that gives the independent DoFs the accelerations
   y''[m]. Followers exert what sim->tau says, 0 if it says nothing, and tau of the independent DoFs
   is what is missing: with tau as sim->tau, mdyn_constrained_dynamics returns G y'' + g where no
   coupling is a row and there is no closure. With losses: those of all joints, moved as G y'' says.
   O(b + non-zeros of G) */
MDYN_API int mdyn_reduced_bias_force(mdyn_sim *sim, mdyn_wide *y_bias);
MDYN_API int mdyn_reduced_inverse_dynamics(mdyn_sim *sim, const mdyn_wide *y_acceleration,
                                           mdyn_wide *tau);
MDYN_API int mdyn_reduced_inverse_dynamics_with_losses(mdyn_sim *sim,
                                                       const mdyn_wide *y_acceleration,
                                                       mdyn_wide *tau);
/* The wrench that a joint transmitted in the last step: on the body from what it is on, about the
   body's origin [N m, N], in world axes; of a fixed joint too. By Newton and Euler it gives the
   body and all that it carries their motion, less the wrenches, closures, contacts and user rows on
   them. So it contains what acts along the joint: tau, drive, damping, friction, limit, couplings,
   less armature times acceleration; and what the bearings carry of these.
   It is the mean over the step, to second order of dt, with poses and axes of its middle,
   q (-) dt/2 v, and accelerations dv/dt; with MDYN_EXPLICIT of its start. To first order where the
   step moves a body to correct a position error, and, in a tree with a free root, after a change
   of v and in an impact. sim->wrench must still be that of the step.
   Errors: MDYN_ERR_NO_STEP unless the last call that changed the sim was a step; after
   mdyn_set_contacts too, and where there are rows on bodies also after mdyn_constrained_dynamics,
   mdyn_stabilized_dynamics and a refused step. MDYN_ERR_RESULT.
   Source: Featherstone, Rigid Body Dynamics Algorithms: 5.3.
   O(b + rows on bodies); of a fixed joint O(b d + rows on bodies) */
MDYN_API int mdyn_joint_wrench(mdyn_sim *sim, int body, mdyn_wide3 *moment, mdyn_wide3 *force);

/* Mass of a body and of all that it carries [kg], and its center of mass in world axes [m]; with
   MDYN_WORLD of all bodies. Errors: MDYN_ERR_MASSLESS if there is no mass, MDYN_ERR_RESULT if the
   position is 2^23 or more, or the mass 1e30. O(b d) */
MDYN_API int mdyn_center_of_mass(mdyn_sim *sim, int body, mdyn_wide *mass, mdyn_real3 *center);
/* (M^-1)_ij, the velocity change of DoF j per unit impulse on DoF i, exactly 0 between trees; and
   dv[n], column i of M^-1. MDYN_ERR_SINGULAR. Source: PhysX mimic joints, equation (10).
   O(b d + n d^2) for M, then O(n d) */
MDYN_API int mdyn_impulse_response(mdyn_sim *sim, int i, int j, mdyn_wide *response);
MDYN_API int mdyn_inverse_mass_column(mdyn_sim *sim, int i, mdyn_wide *dv);
/* Kinetic energy including the armatures, potential energy of gravity, 0 at the world's origin [J].
   O(b d) */
MDYN_API int mdyn_energy(mdyn_sim *sim, mdyn_wide *kinetic, mdyn_wide *potential);
#endif /* MIMICDYN_TREE */

#if MIMICDYN_LCP
/* ---- a linear complementarity problem by itself: rows of any origin, no sim needed. ----

      A x = b + w,   lo <= x <= hi,   w >= 0 where x = lo,  w <= 0 where x = hi,  else w = 0

   With the signs of ODE: for A = J M^-1 J^T and b = target velocity - J v, x are impulses and w is
   the velocity in excess of the target. A is symmetric, positive semi-definite, n x n. The two
   triangles may differ by rounding, (A_ij - A_ji)^2 <= tolerance^2 A_ii A_jj with a tolerance of
   1e-4 (F32), 1e-9 (F64), 1e-5 (FIXED); the lower one is then used. A diagonal element is 0 (then
   so is the row) or 1e-30 and more. A bound of magnitude MDYN_UNLIMITED or more is none. All
   numbers are below 2^50 in magnitude.

   Friction: a row i with findex[i] = k >= 0 has the bounds +-|hi[i] x[k]|, hi[i] being the
   coefficient of friction (MDYN_UNLIMITED: no bound unless x[k] = 0); lo[i] is not read. Row k has
   no friction index itself. findex NULL: no row has one; elements < 0: this row has none. x[k] is
   that of the solution itself (MDYN_PYRAMID; of several solutions, one), or of the problem without
   the friction rows, whose x is 0 there (MDYN_TWO_STAGE, as in ODE). */
typedef struct mdyn_lcp {
    int n;                          /* rows, 0 to 4096 */
    const mdyn_wide *matrix;        /* A[n][n], row-major */
    const mdyn_wide *b, *lo, *hi;   /* [n] each, lo <= hi */
    const int16_t *findex;          /* [n], or NULL */
    mdyn_friction_law friction_law; /* not MDYN_CONE; mdyn_lcp_pgs: always MDYN_PYRAMID */
} mdyn_lcp;

typedef struct mdyn_lcp_report {
    int iterations;     /* mdyn_lcp_dantzig: rows driven; mdyn_lcp_pgs: iterations */
    int row;            /* to which the code refers; -1: none */
    mdyn_wide residual; /* max over i of |x_i - x'| A_ii / (|b_i| + sum_j |A_ij x_j|), where x' is
                           x_i - w_i / A_ii clamped to the bounds: 0 if solved */
} mdyn_lcp_report;

/* Scratch memory: mdyn_lcp_cell scratch[MDYN_LCP_SCRATCH(30)] for up to 30 rows. */
typedef union mdyn_lcp_cell { md_num number; int index; } mdyn_lcp_cell;
#define MDYN_LCP_SCRATCH(n) ((int32_t)(n) * ((n) + 15)) /* cells that mdyn_lcp_dantzig needs */
#define MDYN_PGS_SCRATCH(n) ((int32_t)(n) * 6)           /* cells that mdyn_lcp_pgs needs */

/* Exact, by Dantzig's pivoting: x[n] and w[n]; w and report may be NULL. An x at a bound is that
   bound to the last digit. The result is verified on the given A and b before the return:
      MDYN_OK                  residual at most 256 rounding errors (F32: 3e-5, F64: 6e-14, FIXED:
                               2.4e-7), with MDYN_PYRAMID friction 2048
      MDYN_WARN_NO_SOLUTION    rows are inconsistent, see report->row; x solves the others. No
                               solution exists with |x| below 2e-6 / rounding error times the
                               largest |x| and |b| found, where A_ii is about 1
      MDYN_WARN_NOT_CONVERGED  x is not a solution, or the bounds of friction did not settle
   A singular problem that has solutions gets one of them. Errors, x and w not written:
   MDYN_ERR_NULL, _LCP_SIZE, _NOT_FINITE, _LCP_MATRIX, _LCP_SYMMETRY, _LCP_BOUNDS, _FINDEX,
   _SOLVER, and _RESULT where x leaves the range. Arrays may not overlap.
   Cost: O(n^2) for each row driven, of which there are about n, at most 8 n + 32; friction at
   most 257 times that, twice with MDYN_TWO_STAGE.
   Source: Cottle and Dantzig 1968; Baraff 1994; ODE's dSolveLCP. */
MDYN_API int mdyn_lcp_dantzig(const mdyn_lcp *problem, mdyn_wide *x, mdyn_wide *w,
                              mdyn_lcp_cell *scratch, int cells, mdyn_lcp_report *report);

/* By projected Gauss-Seidel iteration with over-relaxation omega, over the rows in their order:
      x_i := clamp(x_i + omega (b_i - sum_j A_ij x_j) / A_ii)
   with friction bounds from the present x. `solver` (NULL: MDYN_COLD, all else 0) has `start`
   (MDYN_WARM: begins at the given x; MDYN_COLD: x is not read), `iterations`, `relaxation`
   (0 < omega < 2) and `tolerance` as in a model.
   MDYN_OK if the last iteration changed no x by more than `tolerance` times the largest x (each
   weighted by about sqrt(A_ii)). An iteration that converges slowly can end this way far from the
   solution: see report->residual. MDYN_WARN_NOT_CONVERGED if `iterations` were not enough; errors
   as above.
   Cost: n^2 per iteration, at most 32767 of them. Source: ODE's SOR-PGS. (TGS has no call of its
   own: its substeps advance C and forces, which A and b do not contain.) */
MDYN_API int mdyn_lcp_pgs(const mdyn_lcp *problem, const mdyn_solver *solver, mdyn_wide *x,
                          mdyn_wide *w, mdyn_lcp_cell *scratch, int cells,
                          mdyn_lcp_report *report);
#endif /* MIMICDYN_LCP */

#endif /* MIMICDYN_H; stop here if you are only interested in the interface. */

#if defined(MIMICDYN_IMPLEMENTATION) && !defined(MDYN_IMPLEMENTED_)
#define MDYN_IMPLEMENTED_

/* ================================================================================== // >>compiler
   What the compiler is told.

   Given:   the compiler's predefined macros.
   Gives:   the classes of functions, MD_RESTRICT, MD_OPAQUE, the access to numbers by MD_RAW,
            MD_NUM and MD_UNIT, and floating point without contraction.
   Writes:  nothing: this room defines macros only. */

/* No multiplication and addition may be contracted into a fused multiply-add: results must not
   depend on the processor. clang obeys the standard's pragma. gcc contracts in its GNU modes, where
   the processor has the instruction; on RISC-V the command line has to forbid it. On x86-64 it
   makes fused additions and subtractions of pairs of products (vfmaddsub) in every mode, whatever
   it is told, unless it does not look for pairs. IAR and armcc have the standard's pragma, MSVC its
   own; these three have not compiled this header yet. */
#if defined(__clang__) || defined(__IAR_SYSTEMS_ICC__) || defined(__CC_ARM)
#pragma STDC FP_CONTRACT OFF
#elif defined(_MSC_VER)
#pragma fp_contract(off)
#elif defined(__GNUC__) && (defined(__FP_FAST_FMA) || defined(__FP_FAST_FMAF)) && \
    (!defined(__STRICT_ANSI__) || defined(__cplusplus) || defined(__x86_64__))
#if defined(__riscv)
#error "gcc fuses multiply-adds here: compile the file with the implementation as C, with -std=c99"
#endif
#define MD_POPS_OPTIONS 1 /* gcc fuses in ISO C++ too, unlike in ISO C */
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off", "no-tree-slp-vectorize")
#endif

/* The implementation is C: its conversions are written as such. Of arrays of one element gcc warns
   in loops over the further ones, which never run. */
#if defined(__GNUC__)
#pragma GCC diagnostic push
#if defined(__cplusplus)
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif
#if MIMICDYN_MAX_BODIES == 1 || MIMICDYN_MAX_DOFS == 1
#pragma GCC diagnostic ignored "-Warray-bounds"
#endif
#endif

/* Classes of functions. `unused`: a configuration may call some of them only.
      MD_ALWAYS_INLINE  inlined: operations that the compiler is to evaluate for constants
      MD_INLINE         inlined; at -Os as the compiler likes
      MD_SHARED         inlined; at -Os a call: short, used in many places
      MD_STATIC         as the compiler likes
      MD_OWN_FRAME      in fixed point a call, whose frame leaves the stack when it returns; with
                        floats too at -Os or where they are software, else as MD_STATIC.
                        Defined in >>fixed and >>float
      MD_NOINLINE       a call: loops that copy. Inlined, gcc forgets MD_RESTRICT and calls memmove

   Each class is kept for a figure: what another class in its place would cost. Instructions of a
   step on x86-64 at -O2 (hand of 20 joints, train of 32 gears; gcc 12); flash of mdyn_init and
   mdyn_step at -Os and stack of mdyn_step, FIXED on Cortex-M0, 38500 and 508 bytes (gcc 12).
      MD_ALWAYS_INLINE as MD_INLINE    -Os: flash +2.9 %, stack 556 bytes
      MD_INLINE as MD_STATIC           F64: +9.8 %, +7.1 % instructions; FIXED: +2.5 %, +2.0 %
      MD_SHARED as MD_INLINE           -Os: flash +6.1 %
      MD_SHARED as MD_OWN_FRAME        FIXED: +6.9 %, +5.5 % instructions
      MD_STATIC as MD_INLINE           -O2: stack 1092 bytes
      MD_STATIC as MD_OWN_FRAME        FIXED: +2.8 %, +2.7 % instructions, stack 532 bytes
      MD_OWN_FRAME as MD_STATIC        stack 876 bytes at -O2, 796 at -Os
      MD_OWN_FRAME as MD_NOINLINE      F64: +3.3 %, +2.9 % instructions
   At -O0 nothing is inlined: that halves the object, and the time to compile it.
   MD_OPAQUE(x): the compiler no longer knows where the value of x is from. */
#if defined(__GNUC__) || defined(__clang__)
#if defined(__OPTIMIZE__)
#define MD_ALWAYS_INLINE static inline __attribute__((always_inline, unused))
#else
#define MD_ALWAYS_INLINE static inline __attribute__((unused))
#endif
#if defined(__OPTIMIZE_SIZE__)
#define MD_INLINE static __attribute__((unused))
#define MD_SHARED static __attribute__((noinline, unused))
#else
#define MD_INLINE MD_ALWAYS_INLINE
#define MD_SHARED MD_ALWAYS_INLINE
#endif
#define MD_STATIC static __attribute__((unused))
#define MD_NOINLINE static __attribute__((noinline, unused))
#define MD_RESTRICT __restrict
#define MD_OPAQUE(x) __asm__("" : "+r"(x))
#else
#define MD_ALWAYS_INLINE static inline
#define MD_INLINE static inline
#define MD_SHARED static inline
#define MD_STATIC static
#define MD_NOINLINE static
#define MD_RESTRICT
#define MD_OPAQUE(x) ((void)0)
#endif

/* The representation of an md_num or md_unit, and the number that a representation stands for. The
   tests replace the types by classes without arithmetic operators: code that does not use the named
   operations does not compile there. */
#if defined(MDYN_CHECKED_NUMBERS_)
#define MD_RAW(x) ((x).raw)
#define MD_NUM(x) mdyn_checked_num_::of(x)
#define MD_UNIT(x) mdyn_checked_unit_::of(x)
#else
#define MD_RAW(x) (x)
#define MD_NUM(x) (x)
#define MD_UNIT(x) (x)
#endif

/* ====================================================================================== // >>fixed
   Arithmetic of MIMICDYN_SCALAR FIXED. This room and >>float define the same operations; a build
   contains one of them. The rooms below call the operations by name: they contain no operator,
   no shift and no #if on the scalar.

   Given:   integers of 32 and 64 bits, with >> of a negative number as an arithmetic shift.
   Gives:   the operations on the types below, sqrt, sin and cos; no libm is called.
   Writes:  what its pointer arguments name, no sim.

   Types
      mdyn_real  Q23.40 in an int64_t: |x| < 2^23; INT64_MIN is no number
      mdyn_wide  m 2^e in an int64_t: m in the upper 56 bits, e in the lower 8, both signed
      md_num     m 2^e in an int64_t: m in the upper 32 bits, 2^30 <= |m| < 2^31, e in the lower
                 32 bits, signed; zero is 0
      md_unit    Q30 in an int32_t: one number of a block u 2^e. The md_scale e is common to the
                 block and kept beside it by the caller
      md_tail    the part of a coordinate or velocity that mdyn_real cuts off, in units of 2^-64
      md_sum     hi + lo 2^-64, 128 bits: sums of products of coordinates
      md_vec, md_mat, md_sym   blocks of integers m 2^e with one exponent e, which stands last;
                 the largest |m| is in [2^28, 2^29]

   Contracts
      A result comes first; it may be an operand unless its comment says otherwise.
      Results are rounded to nearest unless a comment says otherwise, and are a function of the
      operands' bits alone, on every processor.
      A value that does not fit is clamped. Overflow of a block is reported by md_overflow,
      overflow of a coordinate by INT64_MIN. The exponent of an md_num does not overflow.

   Order:   words; scalars; sums; coordinates with tails; blocks of md_unit; roots and angles;
            vectors and matrices (only with MIMICDYN_TREE)

   Measured errors, max over 10^6 random operands (tests/test_fixed.c)
      md_add, md_mul   4.66e-10 = 2^-31, relative; md_add relative to |a| + |b|
      md_div           1.6e-9 relative     md_sqrt  2e-9 relative     md_rsqrt  1.5e-9 relative
      md_sincos        2e-9 absolute for |q| < 2^23, mean error below 1e-10 */

#if MDYN_SCALAR == MDYN_SCALAR_FIXED

#define MD_OWN_FRAME MD_NOINLINE /* see >>compiler */

typedef uint64_t md_bits; /* the representation of an mdyn_real */
#define MD_BITS_MAGNITUDE 0x7FFFFFFFFFFFFFFFu

/* What the solver assumes of the arithmetic. MD_RANK_TOLERANCE: a constraint row of unit length is
   linearly dependent on earlier rows if they leave less than this of it. MD_CONSISTENCY_TOLERANCE:
   two values that differ by less, relatively, are equal. */
#define MD_EPSILON 9.313225746154785e-10 /* resolution of an md_unit, 2^-30 */
#define MD_RANK_TOLERANCE 4e-6
#define MD_CONSISTENCY_TOLERANCE 1e-5
#define MD_REFINES_EQUALITIES 1 /* one step of iterative refinement of the equality rows */

/* ---- words ----
   Integers of 32 and 64 bits. Two properties of the processor choose between spellings of the
   same functions; the results are the same to the last bit. */

/* MD_SHORT_PRODUCTS: the processor multiplies to 32 bits only (Cortex-M0, M0+, M23, AVR).
   MD_COUNTS_ZEROS: it counts leading zeros in one instruction. */
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

#if defined(__GNUC__) && __SIZEOF_INT__ >= 4
#define MD_BUILTIN_LENGTH(x) ((x) ? 32 - __builtin_clz(x) : 0)
#endif

/* The number of bits of x without leading zeros; 0 for 0. On a processor that has no instruction
   for it, __builtin_clz is a library call, and is used only if the code shall be small. Otherwise
   three comparisons reduce x to four bits; for a constant the compiler does that. */
#if defined(MD_BUILTIN_LENGTH) && (MD_COUNTS_ZEROS || defined(__OPTIMIZE_SIZE__))

MD_ALWAYS_INLINE int md_bit_length(uint32_t x) { return MD_BUILTIN_LENGTH(x); }

#else

MD_ALWAYS_INLINE int md_bit_length(uint32_t x)
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

/* The same for 64 bits. */
MD_ALWAYS_INLINE int md_bit_length64(uint64_t x)
{
    uint32_t high = (uint32_t)(x >> 32);
    return high ? 32 + md_bit_length(high) : md_bit_length((uint32_t)x);
}

/* x 2^-n, 0 < n < 32, rounded to nearest, halves upwards. The rounding bit is added after the
   shift: x + 2^(n-1) could overflow. */
MD_SHARED int32_t md_shift_right_rounded(int32_t x, int32_t n)
{
    return (x >> n) + ((x >> (n - 1)) & 1);
}

/* x 2^n, 0 <= n < 64, without the undefined shift of a negative number. */
MD_INLINE int64_t md_shift_left(int64_t x, int32_t n) { return (int64_t)((uint64_t)x << n); }

/* An int64_t as high 2^32 + low, and back. */
MD_ALWAYS_INLINE int64_t md_join_words(int32_t high, uint32_t low)
{
    return (int64_t)((uint64_t)(uint32_t)high << 32 | low);
}
MD_INLINE int32_t md_high_word(int64_t x) { return (int32_t)(uint32_t)((uint64_t)x >> 32); }
MD_INLINE uint32_t md_low_word(int64_t x) { return (uint32_t)((uint64_t)x & 0xFFFFFFFFu); }

#if MD_SHORT_PRODUCTS

/* a b to 64 bits from halves of 16 bits, a = a1 2^16 + a0:
      a b = a1 b1 2^32 + (a1 b0 + a0 b1) 2^16 + a0 b0
   The carries of the middle sum are taken in 32 bits. The compilers' library call is slower. */
MD_OWN_FRAME int64_t md_mul_s32(int32_t a, int32_t b)
{
    int32_t a1 = a >> 16, b1 = b >> 16, middle, other;
    uint32_t a0 = (uint32_t)a & 0xFFFFu, b0 = (uint32_t)b & 0xFFFFu, low = a0 * b0;
    middle = a1 * (int32_t)b0 + (int32_t)(low >> 16);
    other = (int32_t)a0 * b1 + (int32_t)((uint32_t)middle & 0xFFFFu);
    return md_join_words(a1 * b1 + (middle >> 16) + (other >> 16),
                         (uint32_t)other << 16 | (low & 0xFFFFu));
}

/* The same without signs: no carry is lost, as each partial sum is below 2^32. */
MD_OWN_FRAME uint64_t md_mul_u32(uint32_t a, uint32_t b)
{
    uint32_t a0 = a & 0xFFFFu, a1 = a >> 16, b0 = b & 0xFFFFu, b1 = b >> 16, low = a0 * b0;
    uint32_t middle = a1 * b0 + (low >> 16), other = a0 * b1 + (middle & 0xFFFFu);
    return (uint64_t)(a1 * b1 + (middle >> 16) + (other >> 16)) << 32
           | (other << 16 | (low & 0xFFFFu));
}

#else
MD_INLINE int64_t md_mul_s32(int32_t a, int32_t b) { return (int64_t)a * b; }
MD_INLINE uint64_t md_mul_u32(uint32_t a, uint32_t b) { return (uint64_t)a * b; }

#endif

/* a b for a signed a and an unsigned b, |a b| < 2^63. For a < 0 the unsigned product is too large
   by b 2^32. */
MD_INLINE int64_t md_mul_s32_u32(int32_t a, uint32_t b)
{
    uint64_t p = md_mul_u32((uint32_t)a, b);
    return md_join_words((int32_t)((uint32_t)(p >> 32) - (a < 0 ? b : 0u)),
                         (uint32_t)(p & 0xFFFFFFFFu));
}

/* ---- scalars: md_num = m 2^e ----
   2^30 <= |m| < 2^31 holds for every md_num but 0, so that equal values have equal bits and zero,
   one and the order of two numbers are found by comparing integers. Every function that returns an
   md_num normalizes it. */

/* Mantissa and exponent of an md_num; an md_num of a normalized mantissa. */
MD_INLINE int32_t md_mantissa(int64_t x) { return md_high_word(x); }
MD_INLINE int32_t md_exponent(int64_t x) { return (int32_t)md_low_word(x); }
MD_ALWAYS_INLINE int64_t md_pack(int32_t m, int32_t e) { return md_join_words(m, (uint32_t)e); }

/* x 2^e as an md_num, rounded to 31 bits, halves away from zero. n is the number of bits of |x|
   beyond 31: |x| is shifted left by -n, or right by n with a rounding bit. Inlined everywhere,
   since md_constant is. */
MD_ALWAYS_INLINE md_num md_normalize(int64_t x, int32_t e)
{
    uint64_t u = x < 0 ? 0u - (uint64_t)x : (uint64_t)x;
    uint32_t hi = (uint32_t)(u >> 32), lo = (uint32_t)(u & 0xFFFFFFFFu), m, round;
    int n = hi ? md_bit_length(hi) + 1 : md_bit_length(lo) - 31;

    /* hi and lo shifted by n as one word; a carry into bit 31 shifts once more */
    if (n <= 0) {
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

/* md_normalize as a call. */
MD_OWN_FRAME md_num md_of_int64(int64_t x, int32_t e)
{
    return x == 0 ? MD_NUM((int64_t)0) : md_normalize(x, e);
}

/* Which of the two is used for a run-time value. */
#if defined(__OPTIMIZE_SIZE__)
#define MD_NORMALIZE md_of_int64
#else
#define MD_NORMALIZE md_normalize
#endif

/* x 2^e as an md_num; exact. */
MD_OWN_FRAME md_num md_of_int32(int32_t x, int32_t e)
{
    uint32_t u = x < 0 ? 0u - (uint32_t)x : (uint32_t)x;
    int n = 31 - md_bit_length(u);
    if (x == 0) return MD_NUM((int64_t)0);
    if (n < 0) return MD_NUM(md_pack(-0x40000000, e + 1)); /* x = -2^31 */
    u <<= n;
    return MD_NUM(md_pack(x < 0 ? -(int32_t)u : (int32_t)u, e - n));
}

/* An mdyn_wide is (x >> 8) 2^e with e in the lower 8 bits, sign-extended here. */
MD_ALWAYS_INLINE int md_wide_exponent(mdyn_wide x) { return ((int)(x & 255) ^ 128) - 128; }

/* x as an md_num: of 56 bits 31 are left, rounded. */
MD_OWN_FRAME md_num md_of_wide(mdyn_wide x)
{
    if (x == 0) return MD_NUM((int64_t)0);
    return MD_NORMALIZE(x >> 8, md_wide_exponent(x));
}

/* A mantissa 0 is zero, whatever the exponent. */
MD_INLINE int md_wide_is_zero(mdyn_wide x) { return x >> 8 == 0; }
MD_INLINE int md_wide_is_negative(mdyn_wide x) { return x < 0; }

/* x and n as scalars: a coordinate is rounded to 31 bits, an int32_t is exact. */
MD_INLINE md_num md_of_real(mdyn_real x) { return md_of_int64(x, -40); }
MD_INLINE md_num md_of_int(int32_t n) { return md_of_int32(n, 0); }

/* The constant x as an md_num, which an optimizing compiler evaluates. */
MD_ALWAYS_INLINE md_num md_constant(mdyn_wide x)
{
    return md_normalize(x >> 8, md_wide_exponent(x));
}
#define MD_K(x) md_constant(MDYN_C(x))

/* a/b, 0 < a < 2 b, by integers: also where the compiler's double has 32 bits. */
#define MD_RATIO(a, b) md_constant(((MDYN_CAST_(int64_t, a) << 53) + (b) / 2) / (b) * 256 + 203)

/* m 2^n, rounded, clamped to +-(2^63 - 1). A left shift by up to 32 places fits, as |m| < 2^31. */
MD_STATIC int64_t md_shift_clamped(int32_t m, int32_t n)
{
    const int64_t max = 0x7FFFFFFFFFFFFFFF;
    if (n > 32) return m > 0 ? max : m < 0 ? -max : 0;
    if (n >= 0) return md_shift_left(m, n);
    return n < -31 ? 0 : md_shift_right_rounded(m, -n);
}

/* x in Q23.40, rounded; clamped to +-(2^63 - 1) 2^-40, which is not yet INT64_MIN, no number. */
MD_STATIC mdyn_real md_to_real(md_num x)
{
    int64_t raw = MD_RAW(x);
    return md_shift_clamped(md_mantissa(raw), md_exponent(raw) + 40);
}

/* The integer nearest to x, clamped to +-(2^31 - 1). */
MD_STATIC int32_t md_to_int(md_num x)
{
    int64_t raw = MD_RAW(x), n = md_shift_clamped(md_mantissa(raw), md_exponent(raw));
    return n > 0x7FFFFFFF ? 0x7FFFFFFF : n < -0x7FFFFFFF ? -0x7FFFFFFF : (int32_t)n;
}

/* Whether |x + d| < 8388600 = 2^23 - 8, the range that a step may reach, and |d| < 2^23. The first
   test decides nearly all calls: |d| < 2^21 and |x| < 2^22. */
MD_STATIC int md_stays_in_range(mdyn_real x, md_num d)
{
    int64_t sum;
    int32_t high = md_high_word(x);
    if (md_exponent(MD_RAW(d)) < -9 && high < 0x40000000 && high > -0x40000000) return 1;
    if (md_exponent(MD_RAW(d)) > -8 && MD_RAW(d) != 0) return 0;
    sum = (x >> 24) + (md_to_real(d) >> 24);
    return sum < (int64_t)8388600 * 65536 && sum > (int64_t)-8388600 * 65536;
}

/* x as an mdyn_wide, as MDYN_C would write it, so that equal values have equal bits. With |x| <
   2^bits the exponent is bits - 55, bits rounded up to a multiple of 8 from 2^-16 to 2^16, of 16
   elsewhere. 0 below 2^-96, +-MDYN_WIDE_HUGE_ from 2^112 on. */
MD_STATIC mdyn_wide md_to_wide(md_num x)
{
    int64_t raw = MD_RAW(x);
    int32_t m = md_mantissa(raw), e = md_exponent(raw), bits = e + 31, step;
    if (m == 0 || bits <= -96) return 0;
    if (bits > 112) return m > 0 ? MDYN_WIDE_HUGE_ : MDYN_WIDE_NEGATIVE_HUGE_;
    step = bits > -16 && bits <= 16 ? 7 : 15;
    bits = bits <= -64 ? -64 : (bits + step) & ~step;
    return md_shift_left(md_shift_clamped(m, e - bits + 55), 8) | ((bits - 55) & 255);
}

/* -a; exact. */
MD_INLINE md_num md_neg(md_num a)
{
    return MD_NUM(md_pack(-md_mantissa(MD_RAW(a)), md_exponent(MD_RAW(a))));
}

/* a + b. With x the mantissa of the larger exponent e and d the distance of the exponents,
      |x| + y 2^-d = sum + rest 2^-32,   sum an integer, 0 <= rest < 2^32,
   where y has its sign changed along with x. The sign t of x is 0 or -1: (x ^ t) - t = |x|. */
MD_OWN_FRAME md_num md_add(md_num a, md_num b)
{
    int32_t x = md_mantissa(MD_RAW(a)), y = md_mantissa(MD_RAW(b)), t;
    int32_t e = md_exponent(MD_RAW(a)), d = e - md_exponent(MD_RAW(b));
    uint32_t sum, rest;
    int64_t canceled;
    if (x == 0) return b;
    if (y == 0) return a;

    /* x is to have the larger exponent */
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

    /* 32 bits: one too many. 31 bits: as wanted. Fewer: the sum is normalized with its rest. */
    if (sum >> 31 && y >= 0) {
        sum = (sum >> 1) + (sum & 1);
        e++;
    } else if (sum >= 0x40000000u && sum + (rest >> 31) < 0x80000000u) {
        sum += rest >> 31;
    } else {
        canceled = md_join_words((int32_t)sum, rest);
        return MD_NORMALIZE(t < 0 ? -canceled : canceled, e - 32);
    }
    return MD_NUM(md_pack(((int32_t)sum ^ t) - t, e));
}

/* a - b */
MD_INLINE md_num md_sub(md_num a, md_num b) { return md_add(a, md_neg(b)); }

/* a b. The product p of the mantissas has 61 or 62 bits and is shifted right by 30 or 31, rounded;
   h tells which. A mantissa that rounds to 2^31 is left at 2^31 - 1. */
MD_OWN_FRAME md_num md_mul(md_num a, md_num b)
{
    int64_t p = md_mul_s32(md_mantissa(MD_RAW(a)), md_mantissa(MD_RAW(b)));
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

/* a b 2^-n for unsigned factors, rounded down. */
MD_INLINE uint32_t md_mul_high(uint32_t a, uint32_t b, int n)
{
    return (uint32_t)(md_mul_u32(a, b) >> n);
}

/* 2^61/m for 2^30 <= m < 2^31, clamped to 2^31 - 1. With x = m 2^-31 in [1/2, 1) and y in Q30:
      y = 48/17 - 32/17 x, then three Newton iterations y := y (2 - x y).
   The linear start is within 1/17; each iteration squares the relative error. The result is within
   1.1e-9. */
MD_OWN_FRAME uint32_t md_reciprocal(uint32_t m)
{
    uint32_t y = 3031741620u - md_mul_high(2021161080u, m, 31); /* Q30 */
    int k;
    for (k = 0; k < 3; k++) y = md_mul_high(y, 0x80000000u - md_mul_high(y, m, 31), 30);
    return y > 0x7FFFFFFFu ? 0x7FFFFFFFu : y;
}

/* a/b = a (1/b), two roundings beside that of 1/b. Exact if b is a power of 2. a/0 is +-2^230,
   beyond every number in use. */
MD_OWN_FRAME md_num md_div(md_num a, md_num b)
{
    int32_t m = md_mantissa(MD_RAW(b)), e = md_exponent(MD_RAW(b)), r;
    if (m == 0) return MD_NUM(md_pack(md_mantissa(MD_RAW(a)) < 0 ? -0x40000000 : 0x40000000, 200));
    r = m < 0 ? -m : m;
    if (r == 0x40000000) return md_mul(a, MD_NUM(md_pack(m, -60 - e)));
    r = (int32_t)md_reciprocal((uint32_t)r);
    return md_mul(a, md_of_int32(m < 0 ? -r : r, -61 - e));
}

/* a < b. The exponents decide only between non-zero numbers of equal sign. */
MD_STATIC int md_less(md_num a, md_num b)
{
    int32_t m = md_mantissa(MD_RAW(a)), n = md_mantissa(MD_RAW(b));
    int32_t d = md_exponent(MD_RAW(a)) - md_exponent(MD_RAW(b));
    if (m == 0 || n == 0 || (m < 0) != (n < 0) || d == 0) return m < n;
    return (d < 0) == (m > 0);
}

/* |a|; a = 0; a = 1, which has one representation. */
MD_INLINE md_num md_abs(md_num a) { return md_mantissa(MD_RAW(a)) < 0 ? md_neg(a) : a; }
MD_INLINE int md_is_zero(md_num a) { return MD_RAW(a) == 0; }
MD_INLINE int md_is_one(md_num a) { return MD_RAW(a) == md_pack(0x40000000, -30); }

/* a 2^e; exact. Exponents in use are some thousands at most, of 2^31. */
MD_INLINE md_num md_ldexp(md_num a, int e)
{
    if (MD_RAW(a) == 0) return a;
    return MD_NUM(md_pack(md_mantissa(MD_RAW(a)), md_exponent(MD_RAW(a)) + e));
}

MD_INLINE md_bits md_bits_of(mdyn_real x) { return (uint64_t)x; }

/* The sign bit of the result is set if x is no number. The | of many results tells whether any of
   them is not a number. */
MD_INLINE md_bits md_range_bits(mdyn_real x) { return x < -0x7FFFFFFFFFFFFFFF ? ~(md_bits)0 : 0; }
MD_INLINE int md_in_range(mdyn_real x) { return md_range_bits(x) == 0; }

/* Whether |x| < 2^50: the range of mdyn_wide arguments that is accepted. */
MD_INLINE int md_wide_in_range(mdyn_wide x)
{
    uint64_t m = (uint64_t)(x >> 8);
    return md_bit_length64(x < 0 ? 0u - m : m) + md_wide_exponent(x) <= 50;
}

/* -1, 0, 1 for a < b, a = b, a > b, by all digits: mantissas are shifted to 63 bits, and decide
   where the exponents are equal then. */
MD_STATIC int md_wide_compare(mdyn_wide a, mdyn_wide b)
{
    const mdyn_wide x[2] = { a, b };
    int64_t m[2];
    int e[2], k, larger;
    if ((a < 0) != (b < 0)) return a < 0 ? -1 : 1;
    for (k = 0; k < 2; k++) {
        const int64_t n = a < 0 ? -(x[k] >> 8) : x[k] >> 8;
        const int length = md_bit_length64((uint64_t)n);
        m[k] = md_shift_left(n, 63 - length);
        e[k] = n ? md_wide_exponent(x[k]) + length : -1000;
    }
    larger = e[0] != e[1] ? (e[0] > e[1]) - (e[0] < e[1]) : (m[0] > m[1]) - (m[0] < m[1]);
    return a < 0 ? -larger : larger;
}

/* ---- sums: md_sum = hi + lo 2^-64 ----
   The position C = sum of coefficient q + offset of a coupling is the small difference of large
   products when joints make many turns. Products are taken to 128 bits and rounded down to 2^-64;
   their sum is exact, and rounded once at the end. Sums are clamped to +-(2^63 - 1). */

/* r = (w3 w2 w1 w0) 2^-n for words of 32 bits, w3 signed, 0 <= n < 128, rounded down.
   Shifts of words are shorter than shifts of 64 bits on 32-bit processors. */
MD_ALWAYS_INLINE void md_words_right(md_sum *r, uint32_t w2, int32_t w3, uint32_t w1, uint32_t w0,
                                     int n)
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

    r->lo = (uint64_t)md_join_words((int32_t)w1, w0);
    r->hi = md_join_words(w3, w2);
}

/* r := r 2^n for any n: rounded down, clamped. `beyond` is what a left shift moves out of hi;
   anything but copies of the sign is overflow. */
MD_OWN_FRAME void md_sum_shift(md_sum *r, int32_t n)
{
    int64_t sign = r->hi < 0 ? -1 : 0, beyond;

    /* the first 64 places move lo to hi */
    if (n >= 64) {
        beyond = r->hi ^ (int64_t)r->lo >> 63;
        r->hi = beyond ? sign | 1 : (int64_t)r->lo;
        r->lo = 0;
        n = beyond ? 64 : n - 64;
    }

    /* to the left by less than 64 places: overflow if hi has no room */
    if (n > 0) {
        beyond = n < 64 ? r->hi >> (63 - n) : sign + 1;
        if (beyond != sign && (r->hi || r->lo)) {
            r->hi = sign ? -0x7FFFFFFFFFFFFFFF : 0x7FFFFFFFFFFFFFFF;
        } else if (n < 64) {
            r->hi = md_shift_left(r->hi, n) | (int64_t)(r->lo >> (64 - n));
            r->lo <<= n;
        }
        return;
    }

    /* to the right */
    md_words_right(r, md_low_word(r->hi), md_high_word(r->hi), (uint32_t)(r->lo >> 32),
                   (uint32_t)(r->lo & 0xFFFFFFFFu), n < -127 ? 127 : (int)-n);
}

/* r = a b 2^n for -128 < n <= 0, rounded down; returns 0. For another n: r = a b; returns 1. With a
   = a1 2^32 + a0, where a1 has the sign:
      a b = a1 b1 2^64 + (a1 b0 + b1 a0) 2^32 + a0 b0. */
MD_OWN_FRAME int md_product_right(md_sum *r, int64_t a, int64_t b, int n)
{
    uint64_t low = md_mul_u32(md_low_word(a), md_low_word(b));
    int64_t middle = md_mul_s32_u32(md_high_word(a), md_low_word(b)) + (int64_t)(low >> 32);
    int64_t other = md_mul_s32_u32(md_high_word(b), md_low_word(a)) + (int64_t)md_low_word(middle);
    int64_t high = md_mul_s32(md_high_word(a), md_high_word(b))
                   + md_high_word(middle) + md_high_word(other);
    md_words_right(r, md_low_word(high), md_high_word(high), md_low_word(other),
                   (uint32_t)(low & 0xFFFFFFFFu), n < 0 && n > -128 ? -n : 0);
    return n > 0 || n <= -128;
}

/* r = a b 2^n, in units of 2^-64, rounded down, clamped. */
MD_ALWAYS_INLINE void md_product(md_sum *r, int64_t a, int64_t b, int n)
{
    if (md_product_right(r, a, b, n)) md_sum_shift(r, n);
}

/* s += x, clamped. Overflow: equal signs give a sum of the other sign. */
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

/* s = q + tail; exact. */
MD_INLINE void md_sum_set_real(md_sum *s, mdyn_real q, md_tail tail)
{
    s->hi = q >> 40;
    s->lo = (uint64_t)q << 24 | tail;
}

/* s := -s, by the two's complement of 128 bits. */
MD_STATIC void md_sum_negate(md_sum *s)
{
    s->hi = (int64_t)(~(uint64_t)s->hi + (s->lo == 0));
    s->lo = 0u - s->lo;
}

/* s += c (q + tail), each product rounded down to 2^-64. The coefficients +-1 of most mimic joints
   need no product. The tail, below 2^-40, is multiplied by the upper 32 bits of c alone. */
MD_OWN_FRAME void md_sum_add_product(md_sum *s, mdyn_wide c, mdyn_real q, md_tail tail)
{
    md_sum p;

    /* a factor of +-1 takes no product */
    if (c == MDYN_C(1) || c == MDYN_C(-1)) {
        md_sum_set_real(&p, q, tail);
        if (c < 0) md_sum_negate(&p);
    } else {
        /* coordinates are in units of 2^-40, tails and sums in units of 2^-64 */
        if (tail != 0) {
            md_product(&p, c >> 32, (int64_t)tail, md_wide_exponent(c) + 24);
            md_sum_add(s, &p);
        }
        md_product(&p, c >> 8, q, md_wide_exponent(c) - 40 + 64);
    }
    md_sum_add(s, &p);
}

/* s += c v, at the resolution of coordinates. */
MD_INLINE void md_sum_add_velocity(md_sum *s, mdyn_wide c, mdyn_real v)
{
    md_sum_add_product(s, c, v, 0);
}

/* s = x, rounded down to 2^-64, clamped. */
MD_STATIC void md_sum_set(md_sum *s, mdyn_wide x)
{
    s->hi = x >> 63;
    s->lo = (uint64_t)(x >> 8);
    if (x == 0) return;
    md_sum_shift(s, md_wide_exponent(x) + 64);
}

/* The sum rounded to an md_num. Its magnitude is shifted right below 2^63 first; the bits shifted
   out are dropped. */
MD_STATIC md_num md_sum_to_num(const md_sum *s)
{
    uint64_t hi = (uint64_t)s->hi, lo = s->lo;
    int n;
    if (s->hi < 0) {
        hi = ~hi + (lo == 0);
        lo = 0u - lo;
    }

    /* n bits are too many for an int64_t */
    n = md_bit_length64(hi) + 1;
    lo = n < 64 ? hi << (64 - n) | lo >> n : hi >> (n - 64);
    return md_of_int64(s->hi < 0 ? -(int64_t)lo : (int64_t)lo, n - 64);
}

/* The sum cut to 54 bits, so that the remainder, sum - result, is exact. */
MD_STATIC mdyn_wide md_sum_to_wide(const md_sum *s)
{
    md_sum a = *s;
    int n, shift;
    int64_t m;
    if (s->hi < 0) md_sum_negate(&a);
    n = a.hi ? 64 + md_bit_length64((uint64_t)a.hi) : md_bit_length64(a.lo);
    shift = n > 54 ? n - 54 : 0;
    m = (int64_t)(shift == 0 ? a.lo : shift < 64 ? a.lo >> shift | (uint64_t)a.hi << (64 - shift)
        : (uint64_t)a.hi >> (shift - 64));
    if (m == 0) return 0;
    return md_shift_left(s->hi < 0 ? -m : m, 8) | ((shift - 64) & 255);
}

/* s - x, rounded after the subtraction. */
MD_STATIC md_num md_sum_minus(const md_sum *s, mdyn_wide x)
{
    md_sum t;
    if (x == 0) return md_sum_to_num(s);
    md_sum_set(&t, x);
    md_sum_negate(&t);
    md_sum_add(&t, s);
    return md_sum_to_num(&t);
}

/* The sum rounded to Q23.40, clamped to +-(2^63 - 1) 2^-40. */
MD_STATIC mdyn_real md_sum_to_real(const md_sum *s)
{
    uint64_t lo = s->lo + 0x800000;
    int64_t hi = s->hi + (lo < s->lo);
    if (hi >= 0x800000) return 0x7FFFFFFFFFFFFFFF;
    if (hi < -0x800000) return -0x7FFFFFFFFFFFFFFF;
    hi = md_shift_left(hi, 40) | (int64_t)(lo >> 24);
    return hi < -0x7FFFFFFFFFFFFFFF ? -0x7FFFFFFFFFFFFFFF : hi;
}

/* n c in Q23.40, rounded, clamped: encoder counts times the value of one count. */
MD_STATIC mdyn_real md_real_of_counts(int32_t n, mdyn_wide c)
{
    md_sum p;
    md_product(&p, c >> 8, n, md_wide_exponent(c) + 64);
    return md_sum_to_real(&p);
}

MD_INLINE int md_real_is_zero(mdyn_real x) { return x == 0; }

/* No number: no coordinate, velocity or command may have this value. */
MD_INLINE mdyn_real md_no_number(void) { return INT64_MIN; }

/* x in Q23.40, rounded, clamped. */
MD_STATIC mdyn_real md_nearest_real(mdyn_wide x)
{
    md_sum s;
    md_sum_set(&s, x);
    return md_sum_to_real(&s);
}

/* ---- coordinates and velocities with tails ----
   A coordinate is x + tail: x in units of 2^-40, as the user sees it, and 0 <= tail < 2^-40 in
   units of 2^-64. At dt = 1 us a velocity of 1e-13 rad/s still moves it. */

/* A tail as a scalar, exact; a scalar below 2^-40 as a tail. */
MD_INLINE md_num md_of_tail(md_tail tail) { return md_of_int32((int32_t)tail, -64); }
MD_INLINE md_tail md_to_tail(md_num x) { return (md_tail)md_to_int(md_ldexp(x, 64)); }

/* x + tail += t, which is overwritten; exact to 2^-64. Beyond +-2^23, x becomes no number
   (INT64_MIN) and the tail is unchanged. */
MD_STATIC void md_real_add_sum(mdyn_real *x, md_tail *tail, md_sum *t)
{
    md_sum s;
    md_sum_set_real(&s, *x, *tail);
    md_sum_add(t, &s);
    if (t->hi >= 0x800000 || t->hi < -0x800000) {
        *x = -0x7FFFFFFFFFFFFFFF - 1;
        return;
    }
    *x = md_shift_left(t->hi, 40) | (int64_t)(t->lo >> 24);
    *tail = (md_tail)(t->lo & 0xFFFFFF);
}

/* x + tail += d, rounded to 2^-64. d = m 2^e in units of 2^-64: for e <= 0 the mantissa is rounded,
   below 32 it is shifted into 64 bits, from 32 on into 128. */
MD_STATIC void md_accumulate(mdyn_real *x, md_tail *tail, md_num d)
{
    md_sum t;
    int32_t m = md_mantissa(MD_RAW(d)), e = md_exponent(MD_RAW(d)) + 64;
    int64_t low = e <= 0 ? md_shift_clamped(m, e)
                : e < 32 ? md_join_words(m >> (32 - e), (uint32_t)m << e) : m;
    if (m == 0) return;

    t.lo = (uint64_t)low;
    t.hi = low >> 63;
    if (e >= 32) md_sum_shift(&t, e);
    md_real_add_sum(x, tail, &t);
}

/* x/2 to all digits, for 2^-64 < |x| < 2^64 */
MD_INLINE mdyn_wide md_wide_half(mdyn_wide x) { return md_shift_left(x >> 8, 8) | ((x - 1) & 255); }

/* q + tail += dt v, rounded down to 2^-64. */
MD_STATIC void md_accumulate_product(mdyn_real *q, md_tail *tail, mdyn_wide dt, mdyn_real v)
{
    md_sum p;
    md_product(&p, dt >> 8, v, md_wide_exponent(dt) - 40 + 64);
    md_real_add_sum(q, tail, &p);
}

/* ---- whitened space: blocks of md_unit, x = u 2^e ----
   Whitened vectors L^-T J^T, the factor L and the impulses of a solve are blocks. A block is made
   with |u| < 1/4, so that sums have room to grow. md_overflow collects the bits of |u|: a block
   with |u| >= 1 has overflowed, though Q30 holds up to 2. The caller then repeats the computation
   with a scale that is larger by MD_HEADROOM, at most MD_MAX_RETRIES times. Operations on single
   numbers clamp; those on rows wrap modulo 2^32, after overflow has been reported. */
#define MD_MIN_SCALE (-1000) /* of a block of zeros */
#define MD_HEADROOM 3
#define MD_MAX_RETRIES 10
#define MD_U(x) MD_UNIT((int32_t)MDYN_ROUND_((x) * 1073741824.0)) /* a constant, |x| < 2 */
#define MD_U_ROUNDING MD_UNIT((int32_t)4) /* bound of the rounding error of a few operations */
#define MD_UNIT_MAX 0x7FFFFFFF

/* p 2^-n, rounded, clamped to +-MD_UNIT_MAX; 24 < n < 32. With h the high word of the rounded
   product, the result fits if -half < h < half, which is one comparison without sign. */
MD_SHARED int32_t md_round_product(int64_t p, int n)
{
    const uint32_t half = (uint32_t)1 << (n - 1);
    p = (int64_t)((uint64_t)p + half);
    if ((uint32_t)md_high_word(p) + (half - 1) < 2 * half - 2)
        return (int32_t)((uint32_t)md_high_word(p) << (32 - n) | md_low_word(p) >> n);
    return p < 0 ? -MD_UNIT_MAX : MD_UNIT_MAX;
}

/* p 2^-30, rounded, modulo 2^32. */
MD_INLINE uint32_t md_round_product_low(int64_t p)
{
    p = (int64_t)((uint64_t)p + 0x20000000);
    return (uint32_t)md_high_word(p) << 2 | md_low_word(p) >> 30;
}

/* a b 2^-30, rounded, modulo 2^32. From short products, with a = a1 2^15 + a0, 0 <= a0 < 2^15:
      a b 2^-30 = a1 b1 + (a1 b0 + a0 b1 + (a0 b0 >> 15) + 2^14) 2^-15,
   where 2^14 rounds. The same to the last bit. */
#if MD_SHORT_PRODUCTS

MD_INLINE uint32_t md_unit_product(int32_t a, int32_t b)
{
    int32_t a1 = a >> 15, b1 = b >> 15, a0 = a & 0x7FFF, b0 = b & 0x7FFF, middle, other;
    middle = a1 * b0 + (a0 * b0 >> 15) + 0x4000;
    other = a0 * b1 + (middle & 0x7FFF);
    return (uint32_t)a1 * (uint32_t)b1 + (uint32_t)(middle >> 15) + (uint32_t)(other >> 15);
}

#else

MD_INLINE uint32_t md_unit_product(int32_t a, int32_t b)
{
    return md_round_product_low(md_mul_s32(a, b));
}

#endif

/* -2^31, whose negation overflows, becomes -MD_UNIT_MAX. */
MD_INLINE int32_t md_clamp_unit(int32_t x) { return x < -MD_UNIT_MAX ? -MD_UNIT_MAX : x; }

/* x 2^-e as an md_unit, rounded, clamped. */
MD_OWN_FRAME md_unit md_unit_of(md_num x, int e)
{
    int32_t m = md_mantissa(MD_RAW(x)), n = e - 30 - md_exponent(MD_RAW(x));
    if (n > 0) return MD_UNIT(n > 31 ? (int32_t)0 : md_shift_right_rounded(m, n));
    return MD_UNIT(n == 0 || m == 0 ? md_clamp_unit(m) : m < 0 ? -MD_UNIT_MAX : MD_UNIT_MAX);
}

/* u 2^e as a scalar; exact. */
MD_INLINE md_num md_of_unit(md_unit u, int e) { return md_of_int32(MD_RAW(u), e - 30); }

/* a + b, clamped. A sum whose sign differs from that of both operands has wrapped. */
MD_INLINE md_unit md_unit_add(md_unit a, md_unit b)
{
    int32_t r = (int32_t)((uint32_t)MD_RAW(a) + (uint32_t)MD_RAW(b));
    if (((MD_RAW(a) ^ r) & (MD_RAW(b) ^ r)) < 0) r = MD_RAW(a) < 0 ? -MD_UNIT_MAX : MD_UNIT_MAX;
    return MD_UNIT(r);
}

/* -a. The negative of -2^31 is itself; only a wrapped sum has this value, and it counts as
   overflow. */
MD_INLINE md_unit md_unit_neg(md_unit a) { return MD_UNIT((int32_t)(0u - (uint32_t)MD_RAW(a))); }

/* a - b, clamped. */
MD_INLINE md_unit md_unit_sub(md_unit a, md_unit b) { return md_unit_add(a, md_unit_neg(b)); }

/* a b, rounded, clamped. */
MD_INLINE md_unit md_unit_mul(md_unit a, md_unit b)
{
    int32_t x = MD_RAW(b);
    MD_OPAQUE(x); /* else gcc may extend it to 64 bits first and multiply 64 by 64 bits */
    return MD_UNIT(md_round_product(md_mul_s32(MD_RAW(a), x), 30));
}

/* a/b, rounded, clamped; by way of scalars. */
MD_STATIC md_unit md_unit_div(md_unit a, md_unit b)
{
    return md_unit_of(md_div(md_of_unit(a, 0), md_of_unit(b, 0)), 0);
}

/* a b of a unit and a scalar, rounded, clamped. The product p of the mantissas is shifted right by
   n: by more than a word, by less, or not at all, which is overflow unless p = 0. */
MD_OWN_FRAME md_unit md_unit_mul_num(md_unit a, md_num b)
{
    int64_t p = md_mul_s32(MD_RAW(a), md_mantissa(MD_RAW(b)));
    int32_t n = -md_exponent(MD_RAW(b)), high = md_high_word(p);

    if (n > 32) return MD_UNIT(n > 62 ? (int32_t)0 : md_shift_right_rounded(high, n - 32));
    if (p == 0) return MD_UNIT((int32_t)0);

    /* the result fits if the places above n - 1 are copies of the sign */
    if (n > 0) {
        p += (uint32_t)1 << (n - 1);
        high = md_high_word(p);
        if (n == 32) return MD_UNIT(high);
        if (high >> (n - 1) == high >> 31) {
            high = (int32_t)((uint32_t)high << (32 - n) | md_low_word(p) >> n);
            return MD_UNIT(md_clamp_unit(high));
        }
    }
    return MD_UNIT(high < 0 ? -MD_UNIT_MAX : MD_UNIT_MAX);
}

/* a 2^e, rounded, clamped. */
MD_OWN_FRAME md_unit md_unit_ldexp(md_unit a, int e)
{
    int32_t m = MD_RAW(a);
    if (e == 0 || m == 0) return a;
    if (e < 0) return MD_UNIT(e < -31 ? (int32_t)0 : md_shift_right_rounded(m, -e));
    if (e < 31 && (m >> (31 - e) == m >> 31))
        return MD_UNIT(md_clamp_unit((int32_t)((uint32_t)m << e)));
    return MD_UNIT(m < 0 ? -MD_UNIT_MAX : MD_UNIT_MAX);
}

/* a < b; |a|; a = 0 */
MD_INLINE int md_unit_less(md_unit a, md_unit b) { return MD_RAW(a) < MD_RAW(b); }
MD_INLINE md_unit md_unit_abs(md_unit a) { return MD_RAW(a) < 0 ? md_unit_neg(a) : a; }
MD_INLINE int md_unit_is_zero(md_unit a) { return MD_RAW(a) == 0; }

/* The bits of |a|, for the | of a block; an overflow is |a| >= 1. */
MD_INLINE md_overflow md_overflow_of(md_unit a)
{
    return (md_overflow)(MD_RAW(a) ^ MD_RAW(a) >> 31);
}

/* Whether a block has overflowed: some |u| >= 1. */
MD_INLINE int md_has_overflowed(md_overflow s) { return s >= 0x40000000u; }

/* Begins to collect anew, with the bits x. */
MD_INLINE void md_overflow_reset(md_overflow *s, md_overflow x) { *s = x; }

/* The smallest scale >= e of a block that holds x 2^-s with |u| < 1/4; 4000 at most. */
MD_STATIC md_scale md_scale_to_hold(md_scale e, md_num x, int s)
{
    int32_t needed = md_exponent(MD_RAW(x)) + 31 + 2 - s;
    return MD_RAW(x) == 0 || needed <= e ? e : (md_scale)(needed > 4000 ? 4000 : needed);
}

/* e, or the scale of the next attempt if the block has overflowed. */
MD_INLINE md_scale md_scale_after_overflow(md_scale e, md_overflow s)
{
    return md_has_overflowed(s) ? (md_scale)(e + MD_HEADROOM) : e;
}

/* The scale s of a DoF whose diagonal element of the mass matrix is M: 1/4 <= M 4^-s < 1. The
   elements M_ij 2^(-s_i - s_j) of the scaled mass matrix are below 1, since it is positive
   definite. */
MD_INLINE md_scale md_dof_scale(const md_dof *d) { return d->scale; }

/* Sets the scale and returns it. */
MD_STATIC md_scale md_set_dof_scale(md_dof *d, md_num M)
{
    int32_t bits = md_exponent(MD_RAW(M)) + 31;
    d->scale = (md_scale)(MD_RAW(M) == 0 ? 0 : (bits + 1) >> 1);
    return d->scale;
}

/* The power of 2 that scales |x| > 0 into [1/8, 1/4). */
MD_STATIC md_num md_unit_power(md_num x)
{
    return MD_NUM(md_pack(0x40000000, -30 - (md_exponent(MD_RAW(x)) + 31 + 2)));
}

/* to = from 2^-e, e >= 0; `to` and `from` may be the same array. */
MD_OWN_FRAME void md_copy_units(md_unit *to, const md_unit *from, int n, int e)
{
    int k;
    if (to == from && e == 0) return;
    for (k = 0; k < n; k++) to[k] = md_unit_ldexp(from[k], -e);
}

/* u -= a b for |a|, |b| <= 1, modulo 2^32. Returns the overflow bits of u: without an earlier
   overflow |u| < 1, and the result does not wrap. */
MD_STATIC md_overflow md_sub_product(md_unit *u, md_unit a, md_unit b)
{
    uint32_t d = md_unit_product(MD_RAW(a), MD_RAW(b));
    *u = MD_UNIT((int32_t)((uint32_t)MD_RAW(*u) - d));
    return md_overflow_of(*u);
}

/* row[k] -= a other[k] without a report of overflow: for rows of the factor L, whose elements are
   below 1. */
MD_STATIC void md_sub_row(md_unit *row, md_unit a, const md_unit *other, int count)
{
    int k;
    for (k = 0; k < count; k++) (void)md_sub_product(&row[k], other[k], a);
}

/* A sum of squares in Q56, begun with 0: room for 64 squares of numbers below 2. */
typedef uint64_t md_squares;
MD_INLINE md_squares md_add_square(md_squares s, md_unit a)
{
    return s + ((uint64_t)md_mul_s32(MD_RAW(a), MD_RAW(a)) >> 4);
}

/* Its value; halved first to fit int64_t. */
MD_INLINE md_num md_squares_value(md_squares s) { return md_of_int64((int64_t)(s >> 1), -55); }

/* The smallest s >= 0 for which 2^-s |x| < 1 and 2^-s sqrt(soft) < 1/2, where |x|^2 = soft + the
   squares of u at the `count` places `at`. The numbers of a Householder reflection of the scaled
   vector are then below 2. */
MD_STATIC md_scale md_length_excess(const md_unit *u, const md_place *at, int count, md_num soft)
{
    md_squares sum = 0;
    md_num quarter;
    int32_t bits;
    int k;

    for (k = 0; k < count; k++) sum = md_add_square(sum, u[at[k]]);
    if (md_is_zero(soft) && sum >> 56 == 0) return 0;

    /* the larger of soft and |x|^2/4 is to be below 4^s/4 */
    quarter = md_ldexp(md_add(soft, md_squares_value(sum)), -2);
    if (md_less(soft, quarter)) soft = quarter;
    bits = md_exponent(MD_RAW(soft)) + 31;
    return (md_scale)(MD_RAW(soft) == 0 || bits <= -2 ? 0 : (bits + 3) >> 1);
}

/* tau of the reflection 1 - tau v v^T of a vector w: v = w/divisor is 1 at the pivot, `squares` is
   the sum of its other squares, divisor = w_p + length, length = +-|w|. tau = 2/|v|^2 of the
   rounded v keeps the reflection orthogonal; divisor/length of >>float would need the digits that v
   has lost. */
MD_INLINE md_num md_householder_tau(md_num divisor, md_num length, md_squares squares)
{
    (void)divisor;
    (void)length;
    return md_div(MD_K(2), md_add(MD_K(1), md_squares_value(squares)));
}

/* Sums of products are kept in Q60, or Q56 where rows can have more than 64 numbers: a unit vector
   times n numbers below 1 is below sqrt(n), and 63 bits hold 8. */
#define MD_DOT_SHIFT (MIMICDYN_MAX_DOFS + MIMICDYN_MAX_ROWS > 64 ? 4 : 0)

/* Sum of a[k] b[k], rounded once. */
MD_STATIC md_num md_dense_dot(const md_unit *a, const md_unit *b, int n)
{
    int64_t s = 0;
    int k;
    for (k = 0; k < n; k++) s += md_mul_s32(MD_RAW(a[k]), MD_RAW(b[k])) >> MD_DOT_SHIFT;
    return md_of_int64(s, MD_DOT_SHIFT - 60);
}

/* Sum of entry[k] u[at[k]], rounded once, clamped. */
MD_SHARED md_unit md_sparse_dot(const md_unit *entry, const md_place *at, int count,
                                const md_unit *u)
{
    uint64_t s = 0;
    for (; count > 0; count--, entry++, at++)
        s += (uint64_t)(md_mul_s32(MD_RAW(*entry), MD_RAW(u[*at])) >> MD_DOT_SHIFT);
    return MD_UNIT(md_round_product((int64_t)s, 30 - MD_DOT_SHIFT));
}

/* u[at[k]] += a entry[k], modulo 2^32, |entry| <= 1. Returns the overflow bits of a and of the
   results. If |a| < 1, numbers below 1 stay below 2 and do not wrap. */
MD_SHARED md_overflow md_sparse_axpy(md_unit *u, md_unit a, const md_unit *entry,
                                     const md_place *at, int count)
{
    md_overflow overflow = md_overflow_of(a);
    for (; count > 0; count--, entry++, at++) {
        uint32_t d = md_unit_product(MD_RAW(a), MD_RAW(*entry));
        md_unit *to = &u[*at];
        *to = MD_UNIT((int32_t)((uint32_t)MD_RAW(*to) + d));
        overflow |= md_overflow_of(*to);
    }
    return overflow;
}

/* ---- roots, sine and cosine ----
   Newton iterations from a polynomial and Taylor series, in Q29 to Q31: no table, no division. */

/* 1/sqrt(x) for x > 0, 0 otherwise. Relative error: below 1.5e-9. With x = m 4^k, 1/4 <= m < 1:
      y = 2.671 - 3.285 m + 1.639 m^2, within 2.5 %, then three times y := y (3 - m y^2)/2.
   Each iteration takes the relative error r to 3/2 r^2. y^2 is in Q29, t = 3 - m y^2 in Q30. */
MD_OWN_FRAME md_num md_rsqrt(md_num x)
{
    int32_t e = md_exponent(MD_RAW(x)) + 31;
    uint32_t m = (uint32_t)md_mantissa(MD_RAW(x)), y; /* m: Q31, y: Q30 */
    int k;
    if (md_mantissa(MD_RAW(x)) <= 0) return MD_NUM((int64_t)0);

    /* an even exponent e, and 1/4 <= m < 1 */
    if (e & 1) {
        m >>= 1;
        e++;
    }

    y = 2867798754u - md_mul_high(3527650596u - md_mul_high(1759410846u, m, 31), m, 31);
    for (k = 0; k < 3; k++) {
        uint32_t square = md_mul_high(y, y, 31), t = 0xC0000000u - md_mul_high(square, m, 30);
        y = md_mul_high(y, t, 31);
    }

    return md_of_int32((int32_t)(y > 0x7FFFFFFFu ? 0x7FFFFFFFu : y), -30 - e / 2);
}

/* sqrt(x) for x > 0, 0 otherwise. Relative error: below 2e-9. */
MD_STATIC md_num md_sqrt(md_num x) { return md_mul(x, md_rsqrt(x)); }

/* sqrt(x) and 1/sqrt(x) for x > 0, with one md_rsqrt. */
MD_INLINE void md_sqrt_and_rsqrt(md_num x, md_num *root, md_num *inverse)
{
    *inverse = md_rsqrt(x);
    *root = md_mul(x, *inverse);
}

/* sqrt(x)/a, given y = 1/sqrt(x). The quotient is exact where a is a power of 2, as most scales of
   rows are. */
MD_INLINE md_num md_sqrt_over(md_num x, md_num y, md_num a) { return md_div(md_mul(x, y), a); }

/* a b in Q31, rounded. */
MD_INLINE int32_t md_mul_q31(int32_t a, int32_t b)
{
    return (int32_t)((md_mul_s32(a, b) + 0x40000000) >> 31);
}

/* sin q and cos q in Q30. Error: below 2e-9. The angle is taken in units of 2^-32 turns: the wrap
   of a word reduces it modulo 2 pi, with the same error for every q in range. */
MD_STATIC void md_sincos_units(mdyn_real q, int32_t *sine, int32_t *cosine)
{
    uint64_t turns;
    uint32_t phase, quadrant;
    int32_t x, z, s, c;

    /* q 2^64/(2 pi) = q (683565275 2^32 + 2475754826), by words of q. As q is in units of 2^-40,
       the phase is what stands above bit 72, rounded */
    turns = md_mul_u32(md_low_word(q), 2475754826u) >> 32;
    turns += md_mul_u32(md_low_word(q), 683565275u);
    turns = (turns >> 8) + (uint64_t)(md_mul_s32_u32(md_high_word(q), 2475754826u) >> 8);
    turns += (uint64_t)md_mul_s32(md_high_word(q), 683565275) << 24;
    phase = (uint32_t)((turns + 0x80000000u) >> 32);

    /* less the nearest multiple of a quarter turn: |x| <= pi/4 */
    quadrant = (phase + 0x20000000u) >> 30;
    x = (int32_t)(phase - (quadrant << 30)); /* Q30 of a quarter turn */
    x = (int32_t)((md_mul_s32(x, 1686629713) + 0x10000000) >> 29); /* Q31 of a radian */

    /* Taylor series in z = x^2: sin x = x + x z (-1/3! + z/5! - ...),
       cos x = 1 - z/2 + z^2 (1/4! - z/6! + ...) */
    z = md_mul_q31(x, x);
    s = 426088 - md_mul_q31(z, 5918 - md_mul_q31(z, 54));
    s = -357913941 + md_mul_q31(z, 17895697 - md_mul_q31(z, s));
    c = 89478485 - md_mul_q31(z, 2982616 - md_mul_q31(z, 53261 - md_mul_q31(z, 592)));
    s = (int32_t)((x + (int64_t)md_mul_q31(x, md_mul_q31(z, s)) + 1) >> 1);
    c = (int32_t)(0x40000000 - ((z + 2) >> 2) + ((md_mul_q31(z, md_mul_q31(z, c)) + 1) >> 1));

    /* a quarter turn takes (sin, cos) to (cos, -sin), two take both to their negatives */
    if (quadrant & 1) {
        z = s;
        s = c;
        c = -z;
    }
    *sine = (quadrant & 2) ? -s : s;
    *cosine = (quadrant & 2) ? -c : c;
}

/* sin and cos of q + tail as scalars. An angle of 2^-32 turns does not resolve the tail. */
MD_STATIC void md_sincos(mdyn_real q, md_tail tail, md_num *sine, md_num *cosine)
{
    int32_t s, c;
    (void)tail;
    md_sincos_units(q, &s, &c);
    *sine = md_of_int32(s, -30);
    *cosine = md_of_int32(c, -30);
}

/* a b + c d, a b + c d + e f, a b - c d */
MD_INLINE md_num md_sum2(md_num a, md_num b, md_num c, md_num d)
{
    return md_add(md_mul(a, b), md_mul(c, d));
}

MD_INLINE md_num md_sum3(md_num a, md_num b, md_num c, md_num d, md_num e, md_num f)
{
    return md_add(md_sum2(a, b, c, d), md_mul(e, f));
}

MD_INLINE md_num md_det2(md_num a, md_num b, md_num c, md_num d)
{
    return md_sub(md_mul(a, b), md_mul(c, d));
}

/* ---- vectors and matrices: blocks of integers m 2^e ----
   md_vec, md_mat and md_sym have 3, 9 and 6 integers m and their common exponent e, which follows
   them. The largest |m| is in [2^28, 2^29]; a block of zeros has the exponent MD_ZERO_EXPONENT.
   A sum of three products is at most 3 2^58. It is rounded once, by the factor 2^-MD_PRODUCT_BITS,
   to at most 3 2^29 < 2^31: no intermediate result needs more than a word. The block of the results
   is then normalized by the position of its highest bit. Nothing here can overflow. */
#define MD_PRODUCT_BITS 29

/* The axis that follows x, y, z in cyclic order. */
static const uint8_t md_next_axis[3] = { 1, 2, 0 };

/* md_product_sum: a sum of up to three products a b. From short products by Karatsuba's method:
   with a = a1 2^15 + a0, -2^14 <= a0 < 2^14, and sums over the products
      high = sum a1 b1,   low = sum a0 b0,   both = sum (a1 + a0)(b1 + b0)
      sum a b = high 2^30 + (both - high - low) 2^15 + low.
   The same to the last bit as sums of 64 bits; three products instead of four. */
#if MD_SHORT_PRODUCTS

typedef struct md_product_sum {
    int32_t high, low;
    uint32_t both; /* modulo 2^32 */
} md_product_sum;

#define MD_PRODUCT_ROUNDING { 0, 0x10000000, 0x10000000u }

/* s += a b */
MD_INLINE void md_add_product(md_product_sum *s, int32_t a, int32_t b)
{
    int32_t a0 = (int32_t)((uint32_t)a << 17) >> 17, b0 = (int32_t)((uint32_t)b << 17) >> 17;
    a = (a - a0) >> 15;
    b = (b - b0) >> 15;
    s->low += a0 * b0;
    s->high += a * b;
    s->both += (uint32_t)((a + a0) * (b + b0));
    MD_OPAQUE(s->low); /* one product after the other: the processor has few registers */
    MD_OPAQUE(s->high);
    MD_OPAQUE(s->both);
}

/* s 2^-MD_PRODUCT_BITS, rounded: the rounding was the first term. */
MD_INLINE int32_t md_product_sum_value(const md_product_sum *s)
{
    int32_t middle = (int32_t)(s->both - (uint32_t)s->high - (uint32_t)s->low);
    return 2 * s->high + ((middle + (s->low >> 15)) >> 14);
}

#else

typedef int64_t md_product_sum;

#define MD_PRODUCT_ROUNDING 0x10000000

MD_INLINE void md_add_product(md_product_sum *s, int32_t a, int32_t b) { *s += md_mul_s32(a, b); }
MD_INLINE int32_t md_product_sum_value(const md_product_sum *s)
{
    return (int32_t)(*s >> MD_PRODUCT_BITS);
}

#endif

/* a b 2^-MD_PRODUCT_BITS, rounded; and below sums of two and three products, rounded once. */
MD_STATIC int32_t md_product1(int32_t a, int32_t b)
{
    md_product_sum s = MD_PRODUCT_ROUNDING;
    md_add_product(&s, a, b);
    return md_product_sum_value(&s);
}

MD_STATIC int32_t md_product2(int32_t a, int32_t b, int32_t c, int32_t d)
{
    md_product_sum s = MD_PRODUCT_ROUNDING;
    md_add_product(&s, a, b);
    md_add_product(&s, c, d);
    return md_product_sum_value(&s);
}

MD_STATIC int32_t md_product3(int32_t a, int32_t b, int32_t c, int32_t d, int32_t e, int32_t f)
{
    md_product_sum s = MD_PRODUCT_ROUNDING;
    md_add_product(&s, a, b);
    md_add_product(&s, c, d);
    md_add_product(&s, e, f);
    return md_product_sum_value(&s);
}

/* The scalar product of two arrays of three numbers. */
MD_STATIC int32_t md_product_rows(const int32_t *a, const int32_t *b)
{
    md_product_sum s = MD_PRODUCT_ROUNDING;
    md_add_product(&s, a[0], b[0]);
    md_add_product(&s, a[1], b[1]);
    md_add_product(&s, a[2], b[2]);
    return md_product_sum_value(&s);
}

/* A number with the bit length of |x|; one bit shorter for x = -2^n. */
MD_INLINE uint32_t md_abs_bits(int32_t x) { return (uint32_t)(x ^ x >> 31); }

/* The left shift, or minus the right shift, that normalizes a block whose numbers have the bits
   `bits` in all. 28 for a block of zeros. A loop of single shifts is short, as sums are seldom far
   from normal. */
MD_INLINE int md_block_headroom(uint32_t bits)
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

/* r = (x, y, z) 2^e as a block, |x|, |y|, |z| < 2^31. */
MD_SHARED void md_block3_set(int32_t *r, int32_t x, int32_t y, int32_t z, int32_t e)
{
    int n = md_block_headroom(md_abs_bits(x) | md_abs_bits(y) | md_abs_bits(z));

    /* of zeros e - n is to be MD_ZERO_EXPONENT */
    if (n > 0) {
        if ((x | y | z) == 0) e = MD_ZERO_EXPONENT + n;
        x = (int32_t)((uint32_t)x << n);
        y = (int32_t)((uint32_t)y << n);
        z = (int32_t)((uint32_t)z << n);
    } else if (n < 0) {
        x = md_shift_right_rounded(x, -n);
        y = md_shift_right_rounded(y, -n);
        z = md_shift_right_rounded(z, -n);
    }

    r[0] = x;
    r[1] = y;
    r[2] = z;
    r[3] = e - n;
}

/* Normalizes the block of n numbers m with the exponent m[n], in place; `bits` is the | of their
   md_abs_bits. bits = 0: all are 0 or -1, which is rounding; the block becomes 0. */
MD_OWN_FRAME void md_block_normalize_bits(int32_t *m, int n, uint32_t bits)
{
    int32_t *end = m + n, shift = md_block_headroom(bits);
    if (bits == 0) {
        while (m < end) *m++ = 0;
        *end = MD_ZERO_EXPONENT;
        return;
    }
    *end -= shift;
    if (shift > 0) for (; m < end; m++) *m = (int32_t)((uint32_t)*m << shift);
    else if (shift < 0) for (; m < end; m++) *m = md_shift_right_rounded(*m, -shift);
}

/* The same with the bits taken from the numbers. */
MD_INLINE void md_block_normalize(int32_t *m, int n)
{
    uint32_t bits = 0;
    int k;
    for (k = 0; k < n; k++) bits |= md_abs_bits(m[k]);
    md_block_normalize_bits(m, n, bits);
}

/* r = a + sign b of n numbers, sign = +-1, |b| up to 2^30; r may be a or b. The operand of the
   smaller exponent, `low`, is shifted right by d and rounded; beyond 30 places it counts as 0.
   `factor` is the sign of the other one. */
MD_OWN_FRAME void md_block_add(int32_t *r, const int32_t *a, const int32_t *b, int32_t sign, int n)
{
    const int32_t *low = b;
    int32_t d = a[n] - b[n], e = a[n], factor = 1, half, x;
    uint32_t bits = 0;
    int k;

    /* a is to have the larger exponent */
    if (d < 0) {
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
        bits |= md_abs_bits(x);
        r[k] = x;
    }
    r[n] = e;
    md_block_normalize_bits(r, n, bits);
}

/* Whether a is a block of zeros. */
MD_INLINE int md_vec_is_zero(const md_vec *a) { return a->m[3] == MD_ZERO_EXPONENT; }

/* r = 0 */
MD_INLINE void md_vec_zero(md_vec *r)
{
    r->m[0] = r->m[1] = r->m[2] = 0;
    r->m[3] = MD_ZERO_EXPONENT;
}

/* r = a + (u, v, w) 2^f for numbers up to 2^30 in magnitude; r may be a. As md_block_add, for three
   numbers in registers. */
MD_SHARED void md_vec_add_ints(md_vec *r, const md_vec *a, int32_t u, int32_t v, int32_t w,
                               int32_t f)
{
    int32_t x = a->m[0], y = a->m[1], z = a->m[2], e = a->m[3], d = e - f, half;
    if (d > 30 || (u | v | w) == 0) {
        *r = *a;
        return;
    }

    /* the three of the smaller exponent are shifted right by |d|, rounded */
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

    md_block3_set(r->m, x + u, y + v, z + w, e);
}

/* r = a + b for a block b of three numbers and their exponent; a call, as it is used in many
   places. */
MD_OWN_FRAME void md_vec_add_block(md_vec *r, const md_vec *a, const int32_t *b)
{
    md_vec_add_ints(r, a, b[0], b[1], b[2], b[3]);
}

/* The block r of n scalars: at an exponent 2 above the largest of theirs, which leaves 29 bits. */
MD_OWN_FRAME void md_block_of_nums(int32_t *r, const md_num *x, int n)
{
    int32_t e = MD_ZERO_EXPONENT;
    int k;
    for (k = 0; k < n; k++)
        if (!md_is_zero(x[k]) && md_exponent(MD_RAW(x[k])) > e) e = md_exponent(MD_RAW(x[k]));
    e += 2; /* 31 bits become 29 */

    for (k = 0; k < n; k++) {
        int32_t m = md_mantissa(MD_RAW(x[k])), d = e - md_exponent(MD_RAW(x[k]));
        r[k] = m == 0 || d > 31 ? 0 : md_shift_right_rounded(m, d);
    }
    r[n] = e;
    md_block_normalize(r, n);
}

/* r = (x, y, z) */
MD_STATIC void md_vec_set(md_vec *r, md_num x, md_num y, md_num z)
{
    md_num t[3];
    t[0] = x; t[1] = y; t[2] = z;
    md_block_of_nums(r->m, t, 3);
}

/* Element k of a. */
MD_INLINE md_num md_vec_get(const md_vec *a, int k) { return md_of_int32(a->m[k], a->m[3]); }

/* r = a + b */
MD_INLINE void md_vec_add(md_vec *r, const md_vec *a, const md_vec *b)
{
    md_vec_add_block(r, a, b->m);
}

/* r = 2 a */
MD_INLINE void md_vec_twice(md_vec *r, const md_vec *a)
{
    *r = *a;
    r->m[3]++;
}

/* r = a - b */
MD_INLINE void md_vec_sub(md_vec *r, const md_vec *a, const md_vec *b)
{
    md_block_add(r->m, a->m, b->m, -1, 3);
}

/* r = s a; the products of 31 and 29 bits are rounded to 30. */
MD_OWN_FRAME void md_vec_scale(md_vec *r, md_num s, const md_vec *a)
{
    int32_t m = md_mantissa(MD_RAW(s));
    md_block3_set(r->m, (int32_t)md_unit_product(m, a->m[0]),
                  (int32_t)md_unit_product(m, a->m[1]), (int32_t)md_unit_product(m, a->m[2]),
                  a->m[3] + md_exponent(MD_RAW(s)) + 30);
}

/* r += s a; the products have 29 bits, which md_vec_add_ints accepts. */
MD_OWN_FRAME void md_vec_add_scaled(md_vec *r, md_num s, const md_vec *a)
{
    int32_t m = md_mantissa(MD_RAW(s));
    md_vec_add_ints(r, r, md_round_product(md_mul_s32(m, a->m[0]), 31),
                    md_round_product(md_mul_s32(m, a->m[1]), 31),
                    md_round_product(md_mul_s32(m, a->m[2]), 31),
                    a->m[3] + md_exponent(MD_RAW(s)) + 31);
}

/* a.b, rounded once to the 31 bits of a scalar. */
MD_OWN_FRAME md_num md_dot(const md_vec *a, const md_vec *b)
{
    return MD_NORMALIZE(md_mul_s32(a->m[0], b->m[0]) + md_mul_s32(a->m[1], b->m[1])
                        + md_mul_s32(a->m[2], b->m[2]), a->m[3] + b->m[3]);
}

/* The components of a x b times 2^-MD_PRODUCT_BITS. */
#define MD_CROSS_X(a, b) md_product2(a[1], b[2], -a[2], b[1])
#define MD_CROSS_Y(a, b) md_product2(a[2], b[0], -a[0], b[2])
#define MD_CROSS_Z(a, b) md_product2(a[0], b[1], -a[1], b[0])

/* r = s + a x b; r may be any of them. Products of a block of zeros are not formed: their exponent
   would not be MD_ZERO_EXPONENT. */
MD_OWN_FRAME void md_cross_add(md_vec *r, const md_vec *s, const md_vec *a, const md_vec *b)
{
    const int32_t *p = a->m, *q = b->m;
    if (md_vec_is_zero(a) || md_vec_is_zero(b)) {
        *r = *s;
        return;
    }
    md_vec_add_ints(r, s, MD_CROSS_X(p, q), MD_CROSS_Y(p, q), MD_CROSS_Z(p, q),
                    p[3] + q[3] + MD_PRODUCT_BITS);
}

/* r = a x b */
MD_STATIC void md_cross(md_vec *r, const md_vec *a, const md_vec *b)
{
    static const md_vec zero = { { 0, 0, 0, MD_ZERO_EXPONENT } };
    md_cross_add(r, &zero, a, b);
}

/* r = a v */
MD_OWN_FRAME void md_mat_vec(md_vec *r, const md_mat *a, const md_vec *v)
{
    const int32_t *m = a->m, *x = v->m;
    if (md_vec_is_zero(v)) *r = *v;
    else md_block3_set(r->m, md_product_rows(m, x), md_product_rows(m + 3, x),
                       md_product_rows(m + 6, x), m[9] + x[3] + MD_PRODUCT_BITS);
}

/* r = s + a v; the products, below 3 2^29, are halved to the range of md_vec_add_ints. */
MD_OWN_FRAME void md_mat_vec_add(md_vec *r, const md_vec *s, const md_mat *a, const md_vec *v)
{
    const int32_t *m = a->m, *x = v->m;
    if (md_vec_is_zero(v)) {
        *r = *s;
        return;
    }
    md_vec_add_ints(r, s, md_shift_right_rounded(md_product_rows(m, x), 1),
                    md_shift_right_rounded(md_product_rows(m + 3, x), 1),
                    md_shift_right_rounded(md_product_rows(m + 6, x), 1),
                    m[9] + x[3] + MD_PRODUCT_BITS + 1);
}

/* r = a^T v */
MD_OWN_FRAME void md_mat_t_vec(md_vec *r, const md_mat *a, const md_vec *v)
{
    const int32_t *m = a->m;
    int32_t x = v->m[0], y = v->m[1], z = v->m[2];
    md_block3_set(r->m, md_product3(m[0], x, m[3], y, m[6], z),
                  md_product3(m[1], x, m[4], y, m[7], z), md_product3(m[2], x, m[5], y, m[8], z),
                  m[9] + v->m[3] + MD_PRODUCT_BITS);
}

/* r = s v; the elements of s are in the order xx yy zz xy xz yz. */
MD_OWN_FRAME void md_sym_vec(md_vec *r, const md_sym *s, const md_vec *v)
{
    const int32_t *m = s->m;
    int32_t x = v->m[0], y = v->m[1], z = v->m[2];
    if (m[6] == MD_ZERO_EXPONENT) md_vec_zero(r);
    else md_block3_set(r->m, md_product3(m[0], x, m[3], y, m[4], z),
                       md_product3(m[3], x, m[1], y, m[5], z),
                       md_product3(m[4], x, m[5], y, m[2], z), m[6] + v->m[3] + MD_PRODUCT_BITS);
}

/* r = a b for rotations; r is not an operand. Rotations have the exponent -MD_PRODUCT_BITS, and so
   have their products. A column of a rotation is a normalized block, as one number of a unit vector
   is above 1/2. */
MD_OWN_FRAME void md_mat_mul(md_mat *r, const md_mat *a, const md_mat *b)
{
    const int32_t *p, *q;
    int i, k;
    for (i = 0; i < 3; i++)
        for (k = 0, p = a->m + 3 * i, q = b->m; k < 3; k++, q++)
            r->m[3 * i + k] = md_product3(p[0], q[0], p[1], q[3], p[2], q[6]);
    r->m[9] = -MD_PRODUCT_BITS;
}

/* r = a^T; r may be a. */
MD_STATIC void md_mat_transpose(md_mat *r, const md_mat *a)
{
    md_mat t = *a;
    int i, k;
    for (i = 0; i < 3; i++)
        for (k = 0; k < 3; k++) r->m[3 * i + k] = t.m[3 * k + i];
    r->m[9] = t.m[9];
}

/* r = the rotation with the elements x, row by row. */
MD_STATIC void md_mat_set(md_mat *r, const md_num *x)
{
    int k;
    for (k = 0; k < 9; k++) r->m[k] = MD_RAW(md_unit_of(x[k], 30 - MD_PRODUCT_BITS));
    r->m[9] = -MD_PRODUCT_BITS;
}

/* Element k of a matrix, row by row. */
MD_INLINE md_num md_mat_get(const md_mat *a, int k) { return md_of_int32(a->m[k], a->m[9]); }

/* Column k of a rotation. */
MD_INLINE void md_mat_column(md_vec *r, const md_mat *a, int k)
{
    r->m[0] = a->m[k];
    r->m[1] = a->m[k + 3];
    r->m[2] = a->m[k + 6];
    r->m[3] = -MD_PRODUCT_BITS;
}

/* r = the symmetric matrix with the elements xx yy zz xy xz yz. */
MD_INLINE void md_sym_set(md_sym *r, const md_num *x) { md_block_of_nums(r->m, x, 6); }

/* Element kk of a symmetric matrix; all of them, in the order of md_sym_set. */
MD_INLINE md_num md_sym_diagonal(const md_sym *s, int k) { return md_of_int32(s->m[k], s->m[6]); }

MD_STATIC void md_sym_get(md_num *x, const md_sym *s)
{
    int k;
    for (k = 0; k < 6; k++) x[k] = md_of_int32(s->m[k], s->m[6]);
}

/* r = m R_k(q + tail): the rotation m, then one about its own axis k; r may be m. With i, j the
   axes after k, column i becomes c m_i + s m_j, column j becomes c m_j - s m_i. */
MD_OWN_FRAME void md_mat_rotate_about(md_mat *r, const md_mat *m, int k, mdyn_real q, md_tail tail)
{
    int32_t *to = r->m, i = md_next_axis[k], j = md_next_axis[i], sine, cosine;
    const int32_t *from = m->m;
    (void)tail;
    md_sincos_units(q, &sine, &cosine);

    for (; to < r->m + 9; to += 3, from += 3) {
        int32_t a = from[i], b = from[j];
        to[i] = (int32_t)md_round_product_low(md_mul_s32(cosine, a) + md_mul_s32(sine, b));
        to[j] = (int32_t)md_round_product_low(md_mul_s32(cosine, b) - md_mul_s32(sine, a));
        to[k] = from[k];
    }
    r->m[9] = -MD_PRODUCT_BITS;
}

/* r = R a R^T by way of t = R a; r is not an operand. */
MD_OWN_FRAME void md_sym_rotate(md_sym *r, const md_mat *R, const md_sym *a)
{
    const int32_t *m = a->m, *p = R->m;
    int32_t t[9];
    int i;
    if (m[6] == MD_ZERO_EXPONENT) {
        *r = *a;
        return;
    }

    /* t = R a, row by row; a has the elements xx yy zz xy xz yz */
    for (i = 0; i < 9; i += 3, p += 3) {
        t[i] = md_product3(p[0], m[0], p[1], m[3], p[2], m[4]);
        t[i + 1] = md_product3(p[0], m[3], p[1], m[1], p[2], m[5]);
        t[i + 2] = md_product3(p[0], m[4], p[1], m[5], p[2], m[2]);
    }

    /* r_ij = (row i of t).(row j of R) */
    p = R->m;
    r->m[0] = md_product_rows(t, p);
    r->m[1] = md_product_rows(t + 3, p + 3);
    r->m[2] = md_product_rows(t + 6, p + 6);
    r->m[3] = md_product_rows(t, p + 3);
    r->m[4] = md_product_rows(t, p + 6);
    r->m[5] = md_product_rows(t + 3, p + 6);
    r->m[6] = 2 * R->m[9] + m[6] + 2 * MD_PRODUCT_BITS;
    md_block_normalize(r->m, 6);
}

/* r = [a], the matrix with [a] b = a x b. */
MD_STATIC void md_mat_skew(md_mat *r, const md_vec *a)
{
    const int32_t *v = a->m;
    int32_t *m = r->m;
    m[0] = m[4] = m[8] = 0;
    m[5] = -v[0]; m[7] = v[0];
    m[2] = v[1]; m[6] = -v[1];
    m[1] = -v[2]; m[3] = v[2];
    m[9] = v[3];
}

/* B = [alpha] + omega omega^T - |omega|^2 1. With omega and alpha of a body, B r is the
   acceleration of the point at r relative to the origin.
   The products of omega have the exponent e, alpha has its own; the one of the smaller exponent is
   shifted right by |d|. */
MD_OWN_FRAME void md_mat_of_rates(md_mat *B, const md_vec *omega, const md_vec *alpha)
{
    int32_t x = omega->m[0], y = omega->m[1], z = omega->m[2];
    int32_t e = 2 * omega->m[3] + MD_PRODUCT_BITS;
    int32_t xx = -md_product2(y, y, z, z), yy = -md_product2(x, x, z, z);
    int32_t zz = -md_product2(x, x, y, y), xy = md_product1(x, y);
    int32_t xz = md_product1(x, z), yz = md_product1(y, z), d = e - alpha->m[3], half;
    int32_t *m = B->m;
    uint32_t bits;

    /* one exponent e for both */
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

    /* row by row; no element is above 2^30 */
    m[0] = xx; m[1] = xy - z; m[2] = xz + y;
    m[3] = xy + z; m[4] = yy; m[5] = yz - x;
    m[6] = xz - y; m[7] = yz + x; m[8] = zz;
    m[9] = e;

    /* elements 4 and 8 are yy and zz */
    bits = md_abs_bits(xx) | md_abs_bits(yy) | md_abs_bits(zz);
    bits |= md_abs_bits(m[1]) | md_abs_bits(m[2]) | md_abs_bits(m[3]);
    md_block_normalize_bits(m, 9, bits | md_abs_bits(m[5]) | md_abs_bits(m[6]) | md_abs_bits(m[7]));
}

/* Whether a rotation is 1: its diagonal is, in Q29. */
MD_INLINE int md_mat_is_identity(const md_mat *a)
{
    const int32_t one = (int32_t)1 << MD_PRODUCT_BITS;
    return a->m[0] == one && a->m[4] == one && a->m[8] == one;
}

/* r = m 1 */
MD_INLINE void md_sym_of_scalar(md_sym *r, md_num m)
{
    md_num t[6];
    t[0] = t[1] = t[2] = m;
    t[3] = t[4] = t[5] = MD_K(0);
    md_block_of_nums(r->m, t, 6);
}

/* r = a + b; r may be an operand. */
MD_INLINE void md_sym_add(md_sym *r, const md_sym *a, const md_sym *b)
{
    md_block_add(r->m, a->m, b->m, 1, 6);
}

/* r = a + b; r may be an operand. */
MD_INLINE void md_mat_add(md_mat *r, const md_mat *a, const md_mat *b)
{
    md_block_add(r->m, a->m, b->m, 1, 9);
}

/* S += (r.k) 1 - (r k^T + k r^T)/2 with k = 2 h + m r: the second moment S of a body of mass m and
   first moment h about another origin, from which r leads to the old one. */
MD_OWN_FRAME void md_sym_add_shift(md_sym *S, const md_vec *r, const md_vec *k)
{
    int32_t x = r->m[0], y = r->m[1], z = r->m[2], a = k->m[0], b = k->m[1], c = k->m[2];
    md_sym t;
    t.m[0] = md_product2(y, b, z, c);
    t.m[1] = md_product2(x, a, z, c);
    t.m[2] = md_product2(x, a, y, b);
    t.m[3] = -md_shift_right_rounded(md_product2(x, b, y, a), 1);
    t.m[4] = -md_shift_right_rounded(md_product2(x, c, z, a), 1);
    t.m[5] = -md_shift_right_rounded(md_product2(y, c, z, b), 1);
    t.m[6] = r->m[3] + k->m[3] + MD_PRODUCT_BITS;
    md_sym_add(S, S, &t);
}

/* S -= a a^T: the part of an articulated inertia that a freely moving joint does not pass on. */
MD_STATIC void md_sym_sub_square(md_sym *S, const md_vec *a)
{
    const int32_t *m = a->m;
    md_sym t;
    t.m[0] = md_product1(m[0], m[0]);
    t.m[1] = md_product1(m[1], m[1]);
    t.m[2] = md_product1(m[2], m[2]);
    t.m[3] = md_product1(m[0], m[1]);
    t.m[4] = md_product1(m[0], m[2]);
    t.m[5] = md_product1(m[1], m[2]);
    t.m[6] = 2 * m[3] + MD_PRODUCT_BITS;
    md_block_add(S->m, S->m, t.m, -1, 6);
}

/* M -= a b^T: the same for the cross block. */
MD_STATIC void md_mat_sub_product(md_mat *M, const md_vec *a, const md_vec *b)
{
    md_mat t;
    int k;
    for (k = 0; k < 9; k++) t.m[k] = md_product1(a->m[k / 3], b->m[k % 3]);
    t.m[9] = a->m[3] + b->m[3] + MD_PRODUCT_BITS;
    md_block_add(M->m, M->m, t.m, -1, 9);
}

/* t = [r] M for a symmetric M: column k is r x column k of M. at[] gives the place of each element
   of M, row by row. */
MD_STATIC void md_mat_skew_mul_sym(md_mat *t, const md_vec *r, const md_sym *M)
{
    static const uint8_t at[9] = { 0, 3, 4, 3, 1, 5, 4, 5, 2 };
    const int32_t *m = M->m, *v = r->m;
    int k;
    for (k = 0; k < 3; k++) {
        t->m[k] = md_product2(v[1], m[at[6 + k]], -v[2], m[at[3 + k]]);
        t->m[3 + k] = md_product2(v[2], m[at[k]], -v[0], m[at[6 + k]]);
        t->m[6 + k] = md_product2(v[0], m[at[3 + k]], -v[1], m[at[k]]);
    }
    t->m[9] = m[6] + v[3] + MD_PRODUCT_BITS;
}

/* A += [r] P^T + ([r] B^T)^T. The sum of the two is symmetric if P = B + [r] M with a symmetric M:
   the upper halves s and t are enough. */
MD_STATIC void md_sym_add_crosses(md_sym *A, const md_vec *r, const md_mat *P, const md_mat *B)
{
    const int32_t *v = r->m, *p = P->m, *b = B->m;
    md_sym s, t;
    s.m[0] = md_product2(v[1], p[2], -v[2], p[1]); t.m[0] = md_product2(v[1], b[2], -v[2], b[1]);
    s.m[1] = md_product2(v[2], p[3], -v[0], p[5]); t.m[1] = md_product2(v[2], b[3], -v[0], b[5]);
    s.m[2] = md_product2(v[0], p[7], -v[1], p[6]); t.m[2] = md_product2(v[0], b[7], -v[1], b[6]);
    s.m[3] = md_product2(v[1], p[5], -v[2], p[4]); t.m[3] = md_product2(v[2], b[0], -v[0], b[2]);
    s.m[4] = md_product2(v[1], p[8], -v[2], p[7]); t.m[4] = md_product2(v[0], b[1], -v[1], b[0]);
    s.m[5] = md_product2(v[2], p[6], -v[0], p[8]); t.m[5] = md_product2(v[0], b[4], -v[1], b[3]);
    s.m[6] = v[3] + p[9] + MD_PRODUCT_BITS;
    t.m[6] = v[3] + b[9] + MD_PRODUCT_BITS;
    md_sym_add(A, A, &s);
    md_sym_add(A, A, &t);
}

#endif

/* ====================================================================================== // >>float
   Arithmetic of MIMICDYN_SCALAR F32 and F64. This room and >>fixed define the same operations; a
   build contains one of them. The rooms below call the operations by name: they contain no
   operator and no #if on the scalar.

   Given:   IEEE 754 arithmetic of float or double, rounded to nearest, without contraction.
   Gives:   the operations on the types below, sqrt, sin and cos; no libm is called.
   Writes:  what its pointer arguments name, no sim.

   Types
      mdyn_real, mdyn_wide, md_num, md_unit   one float or double
      md_tail    the part of a coordinate or velocity that rounding cuts off mdyn_real
      md_sum     hi + lo: a sum of products of coordinates to twice the digits
      md_vec, md_mat, md_sym   3, 9 and 6 scalars; md_mat row by row
      md_scale, md_overflow    0: a float needs no common exponent and does not overflow a block.
                 The operations on them are here to be called, and compile to nothing

   Contracts
      A result comes first; it may be an operand unless its comment says otherwise.
      An operation rounds as the processor's does; nothing is clamped unless a comment says so.
      Range tests read the bits, as compilers may be told that NaN does not exist (-ffast-math).

   Order:   constants; scalars; sums; coordinates with tails; blocks of md_unit; roots and angles;
            vectors and matrices (only with MIMICDYN_TREE)

   Measured errors, max over 10^6 operands (tests/test_float.c); an ulp is a unit in the last place
      md_sqrt    1 ulp of the result; exact for squares of integers     md_rsqrt  2.5 ulp
      md_sincos  1.5 ulp of 1, for |q| < 2^23 */

#if !(MDYN_SCALAR == MDYN_SCALAR_FIXED)

/* See >>compiler. A call costs little beside arithmetic in software. */
#if defined(__OPTIMIZE_SIZE__) || defined(__SOFTFP__) || defined(__riscv_float_abi_soft) \
    || defined(__AVR__)
#define MD_OWN_FRAME MD_NOINLINE
#else
#define MD_OWN_FRAME MD_STATIC
#endif

/* md_bits is the representation of an mdyn_real: sign, exponent, fraction. Positive numbers are in
   the order of their bits. MD_BITS_RSQRT and MD_RSQRT_STEPS: see md_rsqrt. MD_SPLIT cuts the digits
   of a number in two halves: see md_sum_add_product.

   What the solver assumes of the arithmetic. MD_RANK_TOLERANCE: a constraint row of unit length is
   linearly dependent on earlier rows if they leave less than this of it. MD_CONSISTENCY_TOLERANCE:
   two values that differ by less, relatively, are equal. MD_REFINES_EQUALITIES: equality rows need
   no iterative refinement. */
#if MDYN_SCALAR == MDYN_SCALAR_F64
typedef uint64_t md_bits;
#define MD_BITS_MAGNITUDE 0x7FFFFFFFFFFFFFFFu /* all but the sign */
#define MD_BITS_2_23 0x4160000000000000u      /* 2^23 */
#define MD_BITS_2_50 0x4310000000000000u      /* 2^50 */
#define MD_BITS_RSQRT 0x5FE6EB50C7B537A9u
#define MD_RSQRT_STEPS 4
#define MD_SPLIT 134217729.0 /* 2^27 + 1 */
#define MD_BITS_MANTISSA 0xFFFFFFFFFFFFFu /* all but the sign and the exponent */
#define MD_EPSILON 2.220446049250313e-16
#define MD_RANK_TOLERANCE 1e-11
#define MD_CONSISTENCY_TOLERANCE 1e-9
#else
typedef uint32_t md_bits;
#define MD_BITS_MAGNITUDE 0x7FFFFFFFu
#define MD_BITS_2_23 0x4B000000u
#define MD_BITS_2_50 0x58800000u
#define MD_BITS_RSQRT 0x5F375A86u
#define MD_RSQRT_STEPS 3
#define MD_SPLIT 4097.0f /* 2^12 + 1 */
#define MD_BITS_MANTISSA 0x7FFFFFu
#define MD_EPSILON 1.1920929e-7f
#define MD_RANK_TOLERANCE 2e-5f
#define MD_CONSISTENCY_TOLERANCE 1e-4f
#endif

#define MD_REFINES_EQUALITIES 0

/* ---- scalars ----
   All types of numbers are the same float or double: conversions between them change nothing. */
MD_INLINE md_num md_of_wide(mdyn_wide x) { return MD_NUM(x); }
MD_INLINE int md_wide_is_zero(mdyn_wide x) { return x == 0; }
MD_INLINE int md_wide_is_negative(mdyn_wide x) { return x < 0; }
MD_INLINE md_num md_of_real(mdyn_real x) { return MD_NUM(x); }
MD_INLINE mdyn_wide md_to_wide(md_num x) { return MD_RAW(x); }
MD_INLINE mdyn_real md_to_real(md_num x) { return MD_RAW(x); }

/* The constant x as an md_num. */
#define MD_K(x) md_of_wide(MDYN_C(x))
#define MD_RATIO(a, b) MD_K(1.0 * (a) / (b))

/* The integer nearest to x, halves away from zero, clamped to +-(2^31 - 1); 0 for NaN. `max` is the
   largest float below 2^31. */
MD_INLINE int32_t md_to_int(md_num x)
{
    const mdyn_real max = 2147483520;
    mdyn_real y = MD_RAW(x), half = (mdyn_real)(y < 0 ? -0.5 : 0.5);
    if (y >= max) return 0x7FFFFFFF;
    if (y <= -max) return -0x7FFFFFFF;
    return y != y ? 0 : (int32_t)(y + half);
}

/* The processor's operations. Division by 0 gives infinity, no trap; comparisons with NaN are
   false. */
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

/* a 2^e for the exponents of blocks, which are 0. */
MD_INLINE md_num md_ldexp(md_num a, int e) { (void)e; return a; }

/* The bits of a number, and back. */
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

/* The sign bit of the result is set unless |x| < 2^23; infinity and NaN have larger bits. The | of
   many results tells whether any is out of range. */
MD_INLINE md_bits md_range_bits(mdyn_real x)
{
    return MD_BITS_2_23 - 1 - (md_bits_of(x) & MD_BITS_MAGNITUDE);
}

/* Whether |x| < 2^23, the range of coordinates, velocities and commands. */
MD_INLINE int md_in_range(mdyn_real x) { return md_range_bits(x) <= MD_BITS_MAGNITUDE; }

/* Whether |x| < 2^50, the range of mdyn_wide arguments that is accepted: the product of two is
   finite. */
MD_INLINE int md_wide_in_range(mdyn_wide x)
{
    return (md_bits_of(x) & MD_BITS_MAGNITUDE) < MD_BITS_2_50;
}

/* -1, 0, 1 for a < b, a = b, a > b; 2 if one is NaN. */
MD_INLINE int md_wide_compare(mdyn_wide a, mdyn_wide b)
{
    return a < b ? -1 : a > b ? 1 : a <= b ? 0 : 2;
}

/* Whether |x + d| < 8388600 = 2^23 - 8, the range that a step may reach. */
MD_INLINE int md_stays_in_range(mdyn_real x, md_num d)
{
    const mdyn_real max = 8388600, y = x + MD_RAW(d);
    return y < max && y > -max;
}

/* ---- sums: md_sum = hi + lo ----
   The position C = sum of coefficient q + offset of a coupling is the small difference of large
   products when joints make many turns. hi is the sum as the processor rounds it, lo the sum of the
   rounding errors, which are computed exactly. */

/* hi += x. Returns the rounding error of the sum s, which is exact in (hi - (s - b)) + (x - b) for
   operands of any magnitude. Source: Knuth, TAOCP 2, section 4.2.2, theorem B. */
MD_INLINE mdyn_real md_two_sum(mdyn_real *hi, mdyn_real x)
{
    const mdyn_real s = *hi + x, b = s - *hi, error = (*hi - (s - b)) + (x - b);
    *hi = s;
    return error;
}

/* s = x */
MD_INLINE void md_sum_set(md_sum *s, mdyn_wide x)
{
    s->hi = x;
    s->lo = 0;
}

/* s += c (q + tail). c q = p + its rounding error, exact from products of halves of the digits:
      c = c1 + c2,  q = q1 + q2,  c q - p = ((c1 q1 - p) + c1 q2 + c2 q1) + c2 q2.
   Source: Dekker, Numerische Mathematik 18, 1971. The halves are Veltkamp's: x1 = t - (t - x) with
   t = (2^k + 1) x. The tail needs no more than the scalar's own digits. A product with a power of 2
   is exact, as most ratios of mimic joints are. */
MD_SHARED void md_sum_add_product(md_sum *s, mdyn_wide c, mdyn_real q, md_tail tail)
{
    mdyn_real p = c * q;
    s->lo += md_two_sum(&s->hi, p);
    if (md_bits_of(c) & MD_BITS_MANTISSA) {
        const mdyn_real t = MD_SPLIT * c, u = MD_SPLIT * q;
        const mdyn_real c1 = t - (t - c), q1 = u - (u - q), c2 = c - c1, q2 = q - q1;
        s->lo += ((c1 * q1 - p) + c1 * q2 + c2 * q1) + c2 * q2;
    }
    s->lo += c * tail;
}

/* s += c v, rounded to the scalar's digits. */
MD_INLINE void md_sum_add_velocity(md_sum *s, mdyn_wide c, mdyn_real v) { s->hi += c * v; }

/* s = q + tail */
MD_INLINE void md_sum_set_real(md_sum *s, mdyn_real q, md_tail tail)
{
    s->hi = q;
    s->lo = tail;
}

/* The sum, rounded. */
MD_INLINE md_num md_sum_to_num(const md_sum *s) { return MD_NUM(s->hi + s->lo); }

/* The same; the remainder, sum - result, is exact. */
MD_INLINE mdyn_wide md_sum_to_wide(const md_sum *s) { return s->hi + s->lo; }

/* s - x, rounded. x is taken off hi first, where both are large. */
MD_INLINE md_num md_sum_minus(const md_sum *s, mdyn_wide x) { return MD_NUM((s->hi - x) + s->lo); }

/* ---- coordinates and velocities with tails ----
   A coordinate is x + tail, |tail| <= ulp(x)/2: slow motion of a joint far from 0 is not lost. */

MD_INLINE int md_real_is_zero(mdyn_real x) { return x >= 0 && x <= 0; }

/* No number, NaN: no coordinate, velocity or command may have this value. */
MD_INLINE mdyn_real md_no_number(void)
{
    const mdyn_real huge = (mdyn_real)1e38f;
    return huge * huge * huge * huge * huge * huge * huge * huge * huge * 0;
}

/* x, and n c, as a coordinate clamped to +-8388607.5. n c: encoder counts times their value. */
MD_INLINE mdyn_real md_nearest_real(mdyn_wide x)
{
    const mdyn_real max = (mdyn_real)8388607.5;
    return x > max ? max : x < -max ? -max : x;
}
MD_INLINE mdyn_real md_real_of_counts(int32_t n, mdyn_wide c)
{
    return md_nearest_real((mdyn_real)n * c);
}
MD_INLINE md_num md_of_tail(md_tail tail) { return MD_NUM(tail); }
MD_INLINE md_tail md_to_tail(md_num x) { return MD_RAW(x); }

/* x + tail += d. The rounding error of the new x is the new tail. */
MD_INLINE void md_accumulate(mdyn_real *x, md_tail *tail, md_num d)
{
    *tail = md_two_sum(x, MD_RAW(d) + *tail);
}

MD_INLINE mdyn_wide md_wide_half(mdyn_wide x) { return x / 2; }

/* q + tail += dt v */
MD_INLINE void md_accumulate_product(mdyn_real *q, md_tail *tail, mdyn_wide dt, mdyn_real v)
{
    md_accumulate(q, tail, MD_NUM(dt * v));
}

/* ---- whitened space: blocks of md_unit ----
   Whitened vectors L^-T J^T, the factor L and the impulses of a solve. In fixed point they are
   blocks u 2^e whose overflow repeats a solve at a larger scale. Here e = 0, no operation reports
   overflow and a solve is done once. */
#define MD_MIN_SCALE 0
#define MD_HEADROOM 0
#define MD_MAX_RETRIES 1
#define MD_U(x) md_unit_of(MD_K(x), 0)
#define MD_U_ROUNDING MD_U(0) /* absolute rounding error: none, that of a float is relative */

MD_INLINE md_unit md_unit_of(md_num x, int e) { (void)e; return MD_UNIT(MD_RAW(x)); }
MD_INLINE md_num md_of_unit(md_unit u, int e) { (void)e; return MD_NUM(MD_RAW(u)); }
MD_INLINE md_unit md_unit_add(md_unit a, md_unit b) { return MD_UNIT(MD_RAW(a) + MD_RAW(b)); }
MD_INLINE md_unit md_unit_sub(md_unit a, md_unit b) { return MD_UNIT(MD_RAW(a) - MD_RAW(b)); }
MD_INLINE md_unit md_unit_mul(md_unit a, md_unit b) { return MD_UNIT(MD_RAW(a) * MD_RAW(b)); }
MD_INLINE md_unit md_unit_div(md_unit a, md_unit b) { return MD_UNIT(MD_RAW(a) / MD_RAW(b)); }
MD_INLINE md_unit md_unit_mul_num(md_unit a, md_num b) { return MD_UNIT(MD_RAW(a) * MD_RAW(b)); }
MD_INLINE md_unit md_unit_ldexp(md_unit a, int e) { (void)e; return a; }
MD_INLINE md_unit md_unit_neg(md_unit a) { return MD_UNIT(-MD_RAW(a)); }
MD_INLINE int md_unit_less(md_unit a, md_unit b) { return MD_RAW(a) < MD_RAW(b); }
MD_INLINE md_unit md_unit_abs(md_unit a) { return MD_RAW(a) < 0 ? md_unit_neg(a) : a; }
MD_INLINE int md_unit_is_zero(md_unit a) { return MD_RAW(a) == 0; }
MD_INLINE md_overflow md_overflow_of(md_unit a) { (void)a; return 0; }
MD_INLINE int md_has_overflowed(md_overflow s) { (void)s; return 0; }
MD_INLINE void md_overflow_reset(md_overflow *s, md_overflow x) { (void)s; (void)x; }

/* Scales of blocks and of DoF: 0. */
MD_INLINE md_scale md_scale_to_hold(md_scale e, md_num x, int s) { (void)x; (void)s; return e; }
MD_INLINE md_scale md_scale_after_overflow(md_scale e, md_overflow s) { (void)s; return e; }

MD_INLINE md_scale md_dof_scale(const md_dof *d) { (void)d; return 0; }
MD_INLINE md_scale md_set_dof_scale(md_dof *d, md_num M) { (void)d; (void)M; return 0; }

/* The power of 2 that scales x to the range of a block. */
MD_INLINE md_num md_unit_power(md_num x) { (void)x; return MD_K(1); }

/* The excess of a vector over the range of a block: none. */
MD_INLINE md_scale md_length_excess(const md_unit *u, const md_place *at, int count, md_num soft)
{
    (void)u; (void)at; (void)count; (void)soft;
    return 0;
}

/* to = from for arrays that do not overlap. */
MD_NOINLINE void md_copy_units_(md_unit *MD_RESTRICT to, const md_unit *MD_RESTRICT from, int n)
{
    int k;
    for (k = 0; k < n; k++) to[k] = from[k];
}

/* to = from 2^-e, e = 0; `to` and `from` may be the same array. */
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

/* Sum of a[k] b[k] */
MD_INLINE md_num md_dense_dot(const md_unit *a, const md_unit *b, int n)
{
    mdyn_real s = 0;
    int k;
    for (k = 0; k < n; k++) s += MD_RAW(a[k]) * MD_RAW(b[k]);
    return MD_NUM(s);
}

/* A sum of squares, begun with 0; its value. */
typedef mdyn_real md_squares;
MD_INLINE md_squares md_add_square(md_squares s, md_unit a) { return s + MD_RAW(a) * MD_RAW(a); }
MD_INLINE md_num md_squares_value(md_squares s) { return MD_NUM(s); }

/* tau of the reflection 1 - tau v v^T of a vector w: v = w/divisor is 1 at the pivot, `squares` is
   the sum of its other squares, divisor = w_p + length, length = +-|w|. Source: LAPACK, dlarfg. */
MD_INLINE md_num md_householder_tau(md_num divisor, md_num length, md_squares squares)
{
    (void)squares;
    return md_div(divisor, length);
}

/* u -= a b; overflow: none. */
MD_INLINE md_overflow md_sub_product(md_unit *u, md_unit a, md_unit b)
{
    *u = MD_UNIT(MD_RAW(*u) - MD_RAW(a) * MD_RAW(b));
    return 0;
}

/* Sum of entry[k] u[at[k]] */
MD_INLINE md_unit md_sparse_dot(const md_unit *entry, const md_place *at, int count,
                                const md_unit *u)
{
    mdyn_real s = 0;
    int k;
    for (k = 0; k < count; k++) s += MD_RAW(entry[k]) * MD_RAW(u[at[k]]);
    return MD_UNIT(s);
}

/* u[at[k]] += a entry[k]; overflow: none. */
MD_INLINE md_overflow md_sparse_axpy(md_unit *u, md_unit a, const md_unit *entry,
                                     const md_place *at, int count)
{
    int k;
    for (k = 0; k < count; k++)
        u[at[k]] = MD_UNIT(MD_RAW(u[at[k]]) + MD_RAW(a) * MD_RAW(entry[k]));
    return 0;
}

/* ---- roots, sine and cosine ---- */

/* One Newton iteration for 1/sqrt(x): y (3 - x y^2)/2. It takes the relative error r to 3/2 r^2. */
MD_INLINE mdyn_real md_newton_rsqrt(mdyn_real half_x, mdyn_real y)
{
    return y * ((mdyn_real)1.5 - half_x * y * y);
}

/* 1/sqrt(x) for normal x > 0. Error: below 2.5 ulp. MD_BITS_RSQRT - bits/2 negates and halves the
   exponent, which is a first guess within 3.5 %; 3 Newton iterations reach the digits of float, 4
   those of double. Sources of the constants: Lomont, Fast Inverse Square Root, 2003 (float);
   Robertson, A Brief History of InvSqrt, 2012 (double). */
MD_STATIC md_num md_rsqrt(md_num x)
{
    const mdyn_real half = (mdyn_real)0.5 * MD_RAW(x);
    mdyn_real y = md_of_bits(MD_BITS_RSQRT - (md_bits_of(MD_RAW(x)) >> 1));
    y = md_newton_rsqrt(half, md_newton_rsqrt(half, md_newton_rsqrt(half, y)));
    return MD_NUM(MD_RSQRT_STEPS == 4 ? md_newton_rsqrt(half, y) : y);
}

/* sqrt(x) for normal x > 0, 0 otherwise. Error: below 1 ulp; exact for squares. s = x/sqrt(x), then
   one Newton iteration s := s + (x - s^2)/(2 s). */
MD_STATIC md_num md_sqrt(md_num x)
{
    mdyn_real y, s;
    if (!md_less(MD_K(0), x)) return MD_K(0);
    y = MD_RAW(md_rsqrt(x));
    s = MD_RAW(x) * y;
    return MD_NUM(s + (mdyn_real)0.5 * y * (MD_RAW(x) - s * s));
}

/* sqrt(x) and 1/sqrt(x) for x > 0; the inverse by a division. */
MD_INLINE void md_sqrt_and_rsqrt(md_num x, md_num *root, md_num *inverse)
{
    *root = md_sqrt(x);
    *inverse = md_div(MD_K(1), *root);
}

/* sqrt(x)/a = 1/(a y), given y = 1/sqrt(x). */
MD_INLINE md_num md_sqrt_over(md_num x, md_num y, md_num a)
{
    (void)x;
    return md_div(MD_K(1), md_mul(a, y));
}

#if MDYN_SCALAR == MDYN_SCALAR_F64

/* q + tail = k pi/2 + r, |r| <= pi/4 but for the tail and rounding. pi/2 is subtracted in three
   parts, of which the first two have so few bits that their products with k are exact for
   |q| < 2^23; in float k too is split, at 2^12. Source: Cody and Waite, Software Manual for the
   Elementary Functions, 1980. The polynomials of double are minimax (Remez; errors 8.2e-18 of sin,
   1.3e-18 of cos), those of float are Taylor's. */
MD_STATIC double md_reduce(double q, double tail, int32_t *k)
{
    const double ones = 6755399441055744.0; /* 1.5 2^52: a sum with it is rounded to an integer */
    double n = (q * 0.6366197723675814 + ones) - ones;
    *k = (int32_t)n;
    return ((q - n * 1.570796325802803) - n * 9.920935791635221e-10)
           + (tail - n * 5.170182981794105e-19);
}

/* sin x and cos x for |x| <= pi/4. */
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

    /* k = high + low, each of at most 12 digits of 2; the two are subtracted part by part */
    low = (float)(*k % 4096);
    high = (float)(*k - *k % 4096);
    r = (q - high * 1.5703125f) - low * 1.5703125f;
    r = (r - high * 4.837512969970703e-4f) - low * 4.837512969970703e-4f;
    return (r - high * 7.54978995e-8f) + (tail - low * 7.54978995e-8f);
}

/* sin x and cos x for |x| <= pi/4. */
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

/* sin and cos of q + tail, |q| < 2^23. Error: below 1.5 ulp of 1. The quadrant k exchanges them if
   it is odd and sets the signs. */
MD_STATIC void md_sincos(mdyn_real q, md_tail tail, md_num *sine, md_num *cosine)
{
    int32_t k;
    mdyn_real r = md_reduce(q, tail, &k), s = md_sin_series(r), c = md_cos_series(r);
    mdyn_real a = (k & 1) ? c : s, b = (k & 1) ? s : c;
    *sine = MD_NUM((k & 2) ? -a : a);
    *cosine = MD_NUM(((k + 1) & 2) ? -b : b);
}

/* a b + c d, a b + c d + e f, a b - c d */
MD_INLINE md_num md_sum2(md_num a, md_num b, md_num c, md_num d)
{
    return md_add(md_mul(a, b), md_mul(c, d));
}

MD_INLINE md_num md_sum3(md_num a, md_num b, md_num c, md_num d, md_num e, md_num f)
{
    return md_add(md_sum2(a, b, c, d), md_mul(e, f));
}

MD_INLINE md_num md_det2(md_num a, md_num b, md_num c, md_num d)
{
    return md_sub(md_mul(a, b), md_mul(c, d));
}

/* ---- vectors and matrices ----
   By elements, in the axes x, y, z. Matrices are written out: every product and sum is a named
   operation on scalars, in a fixed order. */

/* The axis that follows x, y, z in cyclic order. */
static const uint8_t md_next_axis[3] = { 1, 2, 0 };

/* r = (x, y, z); r = 0; element k of a; a.b */
MD_INLINE void md_vec_set(md_vec *r, md_num x, md_num y, md_num z) { r->x = x; r->y = y; r->z = z; }
MD_INLINE void md_vec_zero(md_vec *r) { md_vec_set(r, MD_K(0), MD_K(0), MD_K(0)); }
MD_INLINE md_num md_vec_get(const md_vec *a, int k) { return k == 0 ? a->x : k == 1 ? a->y : a->z; }

MD_INLINE md_num md_dot(const md_vec *a, const md_vec *b)
{
    return md_sum3(a->x, b->x, a->y, b->y, a->z, b->z);
}

/* r = a + b, r = 2 a, r = a - b, r = s a, r = a x b */
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

/* r = m a */
MD_INLINE void md_mat_vec(md_vec *r, const md_mat *m, const md_vec *a)
{
    md_vec_set(r, md_sum3(m->xx, a->x, m->xy, a->y, m->xz, a->z),
               md_sum3(m->yx, a->x, m->yy, a->y, m->yz, a->z),
               md_sum3(m->zx, a->x, m->zy, a->y, m->zz, a->z));
}

/* r = s + m a */
MD_INLINE void md_mat_vec_add(md_vec *r, const md_vec *s, const md_mat *m, const md_vec *a)
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

/* r = m a for a symmetric m. */
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

/* r = a^T; r may be a. */
MD_INLINE void md_mat_transpose(md_mat *r, const md_mat *a)
{
    md_mat t = *a;
    r->xx = t.xx; r->xy = t.yx; r->xz = t.zx;
    r->yx = t.xy; r->yy = t.yy; r->yz = t.zy;
    r->zx = t.xz; r->zy = t.yz; r->zz = t.zz;
}

/* The elements of a matrix, row by row: to set, to get one, to get column k. */
MD_INLINE md_num *md_mat_elements(md_mat *m) { return (md_num *)(void *)m; }
MD_INLINE void md_mat_set(md_mat *r, const md_num *x)
{
    int k;
    for (k = 0; k < 9; k++) md_mat_elements(r)[k] = x[k];
}

MD_INLINE md_num md_mat_get(const md_mat *m, int k) { return ((const md_num *)(const void *)m)[k]; }

MD_INLINE void md_mat_column(md_vec *r, const md_mat *m, int k)
{
    md_vec_set(r, md_mat_get(m, k), md_mat_get(m, k + 3), md_mat_get(m, k + 6));
}

/* Whether a rotation is 1: its diagonal is. */
MD_INLINE int md_mat_is_identity(const md_mat *m)
{
    return md_is_one(m->xx) && md_is_one(m->yy) && md_is_one(m->zz);
}

/* r = the symmetric matrix with the elements xx yy zz xy xz yz. */
MD_INLINE void md_sym_set(md_sym *r, const md_num *x)
{
    r->xx = x[0]; r->yy = x[1]; r->zz = x[2];
    r->xy = x[3]; r->xz = x[4]; r->yz = x[5];
}

/* Element kk of a symmetric matrix. */
MD_INLINE md_num md_sym_diagonal(const md_sym *s, int k)
{
    return k == 0 ? s->xx : k == 1 ? s->yy : s->zz;
}

MD_INLINE void md_sym_get(md_num *x, const md_sym *s)
{
    x[0] = s->xx; x[1] = s->yy; x[2] = s->zz;
    x[3] = s->xy; x[4] = s->xz; x[5] = s->yz;
}

/* One row of md_mat_rotate_about: elements i, j become c m_i + s m_j and c m_j - s m_i. */
MD_INLINE void md_rotate_row(md_num *to, const md_num *from, int i, int j, int k, md_num s,
                             md_num c)
{
    md_num a = from[i], b = from[j];
    to[k] = from[k];
    to[i] = md_sum2(c, a, s, b);
    to[j] = md_det2(c, b, s, a);
}

/* r = m R_k(q + tail): the rotation m, then one about its own axis k; r may be m. */
MD_INLINE void md_mat_rotate_about(md_mat *r, const md_mat *m, int k, mdyn_real q, md_tail tail)
{
    const int i = md_next_axis[k], j = md_next_axis[i];
    const md_num *from = (const md_num *)(const void *)m;
    md_num *to = md_mat_elements(r), s, c;
    md_sincos(q, tail, &s, &c);

    md_rotate_row(to, from, i, j, k, s, c);
    md_rotate_row(to + 3, from + 3, i, j, k, s, c);
    md_rotate_row(to + 6, from + 6, i, j, k, s, c);
}

/* r = R a R^T by way of t = R a; r is not an operand. */
MD_INLINE void md_sym_rotate(md_sym *r, const md_mat *R, const md_sym *a)
{
    md_mat full, t;
    full.xx = a->xx; full.xy = a->xy; full.xz = a->xz;
    full.yx = a->xy; full.yy = a->yy; full.yz = a->yz;
    full.zx = a->xz; full.zy = a->yz; full.zz = a->zz;
    md_mat_mul(&t, R, &full);

    /* r_ij = (row i of t).(row j of R) */
    r->xx = md_sum3(t.xx, R->xx, t.xy, R->xy, t.xz, R->xz);
    r->yy = md_sum3(t.yx, R->yx, t.yy, R->yy, t.yz, R->yz);
    r->zz = md_sum3(t.zx, R->zx, t.zy, R->zy, t.zz, R->zz);
    r->xy = md_sum3(t.xx, R->yx, t.xy, R->yy, t.xz, R->yz);
    r->xz = md_sum3(t.xx, R->zx, t.xy, R->zy, t.xz, R->zz);
    r->yz = md_sum3(t.yx, R->zx, t.yy, R->zy, t.yz, R->zz);
}

/* B = [alpha] + omega omega^T - |omega|^2 1. With omega and alpha of a body, B r is the
   acceleration of the point at r relative to the origin. */
MD_INLINE void md_mat_of_rates(md_mat *B, const md_vec *omega, const md_vec *alpha)
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
MD_INLINE void md_cross_add(md_vec *r, const md_vec *s, const md_vec *a, const md_vec *b)
{
    md_vec t;
    md_cross(&t, a, b);
    md_vec_add(r, s, &t);
}

/* r = m 1 */
MD_INLINE void md_sym_of_scalar(md_sym *r, md_num m)
{
    r->xx = r->yy = r->zz = m;
    r->xy = r->xz = r->yz = MD_K(0);
}

/* r = [a], the matrix with [a] b = a x b. */
MD_INLINE void md_mat_skew(md_mat *r, const md_vec *a)
{
    md_num zero = MD_K(0);
    r->xx = zero; r->xy = md_neg(a->z); r->xz = a->y;
    r->yx = a->z; r->yy = zero; r->yz = md_neg(a->x);
    r->zx = md_neg(a->y); r->zy = a->x; r->zz = zero;
}

/* r = a + b */
MD_INLINE void md_sym_add(md_sym *r, const md_sym *a, const md_sym *b)
{
    r->xx = md_add(a->xx, b->xx); r->yy = md_add(a->yy, b->yy); r->zz = md_add(a->zz, b->zz);
    r->xy = md_add(a->xy, b->xy); r->xz = md_add(a->xz, b->xz); r->yz = md_add(a->yz, b->yz);
}

/* r = a + b */
MD_INLINE void md_mat_add(md_mat *r, const md_mat *a, const md_mat *b)
{
    r->xx = md_add(a->xx, b->xx); r->xy = md_add(a->xy, b->xy); r->xz = md_add(a->xz, b->xz);
    r->yx = md_add(a->yx, b->yx); r->yy = md_add(a->yy, b->yy); r->yz = md_add(a->yz, b->yz);
    r->zx = md_add(a->zx, b->zx); r->zy = md_add(a->zy, b->zy); r->zz = md_add(a->zz, b->zz);
}

/* S += (r.k) 1 - (r k^T + k r^T)/2 with k = 2 h + m r: the second moment S of a body of mass m and
   first moment h about another origin, from which r leads to the old one. */
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

/* S -= a a^T: the part of an articulated inertia that a freely moving joint does not pass on. */
MD_INLINE void md_sym_sub_square(md_sym *S, const md_vec *a)
{
    S->xx = md_sub(S->xx, md_mul(a->x, a->x)); S->yy = md_sub(S->yy, md_mul(a->y, a->y));
    S->zz = md_sub(S->zz, md_mul(a->z, a->z)); S->xy = md_sub(S->xy, md_mul(a->x, a->y));
    S->xz = md_sub(S->xz, md_mul(a->x, a->z)); S->yz = md_sub(S->yz, md_mul(a->y, a->z));
}

/* M -= a b^T: the same for the cross block. */
MD_INLINE void md_mat_sub_product(md_mat *M, const md_vec *a, const md_vec *b)
{
    M->xx = md_sub(M->xx, md_mul(a->x, b->x)); M->xy = md_sub(M->xy, md_mul(a->x, b->y));
    M->xz = md_sub(M->xz, md_mul(a->x, b->z)); M->yx = md_sub(M->yx, md_mul(a->y, b->x));
    M->yy = md_sub(M->yy, md_mul(a->y, b->y)); M->yz = md_sub(M->yz, md_mul(a->y, b->z));
    M->zx = md_sub(M->zx, md_mul(a->z, b->x)); M->zy = md_sub(M->zy, md_mul(a->z, b->y));
    M->zz = md_sub(M->zz, md_mul(a->z, b->z));
}

/* t = [r] M for a symmetric M. */
MD_INLINE void md_mat_skew_mul_sym(md_mat *t, const md_vec *r, const md_sym *M)
{
    md_num x = r->x, y = r->y, z = r->z;
    t->xx = md_det2(y, M->xz, z, M->xy); t->xy = md_det2(y, M->yz, z, M->yy);
    t->xz = md_det2(y, M->zz, z, M->yz); t->yx = md_det2(z, M->xx, x, M->xz);
    t->yy = md_det2(z, M->xy, x, M->yz); t->yz = md_det2(z, M->xz, x, M->zz);
    t->zx = md_det2(x, M->xy, y, M->xx); t->zy = md_det2(x, M->yy, y, M->xy);
    t->zz = md_det2(x, M->yz, y, M->xz);
}

/* A += [r] P^T + ([r] B^T)^T. The sum of the two is symmetric if P = B + [r] M with a symmetric M:
   its upper half is enough. */
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

#endif

/* ===================================================================================== // >>common
   What both arithmetics share, written with the named operations.

   Given:   the operations of >>fixed or >>float.
   Gives:   max, min, rounding, decimal digits; operations on arrays of numbers; conversions of
            vectors; rotations from quaternions and axes, and back; sums of wrenches and inertias
            taken at different origins.
   Writes:  what its pointer arguments name, no sim.

   A result comes first; it may be an operand unless its comment says otherwise.

   Equations, with r the arm from the new origin to the old one and [r] b = r x b:
      wrench                n' = n + r x f,  f' = f
      rigid body            m' = m,  h' = h + m r,  I' = I + (r.k) 1 - (r k^T + k r^T)/2,
                            k = 2 h + m r, for the first moment h and the second moment I
      articulated inertia   M' = M,  B' = B + [r] M,  A' = A + [r] B'^T + ([r] B^T)^T
   Source: Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 2. */

/* Bound of the rounding error of a sum whose first term is u: 8 MD_EPSILON u + 1e-30, which is not
   0 in floats. */
MD_INLINE md_unit md_unit_rounding(md_unit u)
{
    return md_unit_add(md_unit_mul(MD_U(8 * MD_EPSILON), u), MD_U(1e-30));
}

/* The integer nearest to x, |x| < 2^22, as a coordinate; halves away from zero. */
MD_STATIC mdyn_real md_round(md_num x)
{
    int32_t n = md_to_int(md_abs(x));
    return md_to_real(md_of_int(md_less(x, MD_K(0)) ? -n : n));
}

/* The largest |u[k]|, 0 for n = 0. */
MD_STATIC md_unit md_units_max_abs(const md_unit *u, int n)
{
    md_unit max = MD_U(0);
    int k;
    for (k = 0; k < n; k++)
        if (md_unit_less(max, md_unit_abs(u[k]))) max = md_unit_abs(u[k]);
    return max;
}

/* Whether two coordinates have equal bits (NaN equals itself); the larger, the smaller scalar. */
MD_INLINE int md_bits_equal(mdyn_real a, mdyn_real b) { return md_bits_of(a) == md_bits_of(b); }
MD_SHARED md_num md_max(md_num a, md_num b) { return md_less(a, b) ? b : a; }
MD_INLINE md_num md_min(md_num a, md_num b) { return md_less(b, a) ? b : a; }

/* The six leading decimal digits n of x > 0: x = n 10^(exponent - 5), 100000 <= n < 1000000. At
   most 400 divisions. */
MD_STATIC int32_t md_decimal(md_num x, int *exponent)
{
    int e = 5;
    while (!md_less(x, MD_K(999999.5)) && e < 400) { x = md_div(x, MD_K(10)); e++; }
    while (md_less(x, MD_K(99999.95)) && e > -400) { x = md_mul(x, MD_K(10)); e--; }
    *exponent = e;
    return md_to_int(x);
}

/* to = from for arrays of n numbers that do not overlap. If it were inlined, gcc would forget
   MD_RESTRICT and call memmove, which is libc. */
MD_NOINLINE void md_copy(mdyn_real *MD_RESTRICT to, const mdyn_real *MD_RESTRICT from, int n)
{
    int k;
    for (k = 0; k < n; k++) to[k] = from[k];
}

/* The same from coordinates to scalars. */
MD_NOINLINE void md_copy_in(md_num *MD_RESTRICT to, const mdyn_real *MD_RESTRICT from, int n)
{
    int k;
    for (k = 0; k < n; k++) to[k] = md_of_real(from[k]);
}

/* The same from numbers in a block of exponent e. */
MD_NOINLINE void md_copy_from_units(md_num *MD_RESTRICT to, const md_unit *MD_RESTRICT from, int n,
                                    md_scale e)
{
    int k;
    (void)e;
    for (k = 0; k < n; k++) to[k] = md_of_unit(from[k], e);
}

/* ---- quaternions and rotations ----
   A quaternion w + u = (w, x, y, z) of any length but 0 stands for a rotation; it need not be of
   length 1. Matrices are filled row by row. */

/* The squared length w^2 + x^2 + y^2 + z^2 of a quaternion; of four coordinates. */
MD_INLINE md_num md_quaternion_norm2_of(md_num w, md_num x, md_num y, md_num z)
{
    return md_add(md_sum2(w, w, x, x), md_sum2(y, y, z, z));
}

MD_STATIC md_num md_quaternion_norm2(const mdyn_real *q)
{
    return md_quaternion_norm2_of(md_of_real(q[0]), md_of_real(q[1]), md_of_real(q[2]),
                                 md_of_real(q[3]));
}

/* Symmetric 3x3 matrices as xx, yy, zz, xy, xz, yz. */
MD_INLINE void md_sym6_vec(md_num *y, const md_num *a, const md_num *x)
{
    y[0] = md_sum3(a[0], x[0], a[3], x[1], a[4], x[2]);
    y[1] = md_sum3(a[3], x[0], a[1], x[1], a[5], x[2]);
    y[2] = md_sum3(a[4], x[0], a[5], x[1], a[2], x[2]);
}

MD_INLINE void md_cross3(md_num *y, const md_num *a, const md_num *b)
{
    y[0] = md_det2(a[1], b[2], a[2], b[1]);
    y[1] = md_det2(a[2], b[0], a[0], b[2]);
    y[2] = md_det2(a[0], b[1], a[1], b[0]);
}

/* x = A^-1 b for the columns of A, by Cramer's rule. */
MD_OWN_FRAME void md_solve3(md_num *x, md_num A[3][3], const md_num *b)
{
    md_num n[3], inverse = MD_K(0);
    int k;
    for (k = 0; k < 3; k++) {
        md_cross3(n, A[(k + 1) % 3], A[(k + 2) % 3]);
        if (k == 0)
            inverse = md_div(MD_K(1), md_sum3(A[0][0], n[0], A[0][1], n[1], A[0][2], n[2]));
        x[k] = md_mul(inverse, md_sum3(n[0], b[0], n[1], b[1], n[2], b[2]));
    }
}

/* Vectors of the public types. */
MD_INLINE void md_vec_of_wide(md_vec *r, const mdyn_wide3 *x)
{
    md_vec_set(r, md_of_wide(x->x), md_of_wide(x->y), md_of_wide(x->z));
}

MD_INLINE void md_vec_of_real(md_vec *r, const mdyn_real3 *x)
{
    md_vec_set(r, md_of_real(x->x), md_of_real(x->y), md_of_real(x->z));
}

/* The rotation matrix of a quaternion,
      ((w^2 - |u|^2) 1 + 2 u u^T + 2 w [u]) / (w^2 + |u|^2),
   with s = 2/(w^2 + |u|^2), and (sx, sy, sz) = s u. */
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

/* The unit quaternion (w, x, y, z), w >= 0, of a rotation matrix. The diagonal gives 4 w^2, 4 x^2,
   4 y^2, 4 z^2, the sums and differences of the other elements 4 times the products. Dividing by
   the largest of the four loses no digits. Source: Shepperd, J. Guidance and Control 1, 1978. */
MD_STATIC void md_quaternion_of_mat(md_num *q, const md_mat *m)
{
    md_num one = MD_K(1), s, square[4];
    md_num xx = md_mat_get(m, 0), yy = md_mat_get(m, 4), zz = md_mat_get(m, 8);
    md_num wx = md_sub(md_mat_get(m, 7), md_mat_get(m, 5));
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

    /* row `best` of the products, times 1/(4 |q_best|) */
    s = md_mul(MD_K(0.5), md_rsqrt(square[best]));
    q[0] = best == 0 ? square[0] : best == 1 ? wx : best == 2 ? wy : wz;
    q[1] = best == 1 ? square[1] : best == 0 ? wx : best == 2 ? xy : xz;
    q[2] = best == 2 ? square[2] : best == 0 ? wy : best == 1 ? xy : yz;
    q[3] = best == 3 ? square[3] : best == 0 ? wz : best == 1 ? xz : yz;

    if (md_less(q[0], MD_K(0))) s = md_neg(s);
    for (k = 0; k < 4; k++) q[k] = md_mul(s, q[k]);
}

/* A rotation whose z axis has the direction of `axis`, which is not 0; exact if that is x, y or z.
   The x axis is the coordinate axis least parallel to z, made orthogonal to it (Gram-Schmidt). The
   y axis is the cross product of z and x. */
MD_OWN_FRAME void md_mat_of_axis(md_mat *r, const md_vec *axis)
{
    md_num n2 = md_dot(axis, axis), h, m[9], size[3], one[3];
    md_vec z = *axis, x, y;
    int k;
    if (md_less(n2, MD_K(1)) || md_less(MD_K(1), n2)) md_vec_scale(&z, md_rsqrt(n2), axis);

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

    /* the axes are the columns */
    for (k = 0; k < 3; k++) {
        m[3 * k] = md_vec_get(&x, k);
        m[3 * k + 1] = md_vec_get(&y, k);
        m[3 * k + 2] = md_vec_get(&z, k);
    }
    md_mat_set(r, m);
}

/* ---- wrenches and inertias at another origin ---- */

/* r += a x b */
MD_INLINE void md_vec_add_cross(md_vec *r, const md_vec *a, const md_vec *b)
{
    md_cross_add(r, r, a, b);
}

/* to += the wrench f; `arm` leads from the origin of `to` to that of f. */
MD_INLINE void md_force_add_shifted(md_force *to, const md_force *f, const md_vec *arm)
{
    md_vec_add(&to->ang, &to->ang, &f->ang);
    md_vec_add_cross(&to->ang, arm, &f->lin);
    md_vec_add(&to->lin, &to->lin, &f->lin);
}

/* f += s g */
MD_INLINE void md_force_add_scaled(md_force *f, md_num s, const md_force *g)
{
    md_vec_add_scaled(&f->ang, s, &g->ang);
    md_vec_add_scaled(&f->lin, s, &g->lin);
}

/* The articulated inertia of a rigid body: A = I, B = [h], M = m 1, with its first moment h and its
   second moment I about the origin. */
MD_INLINE void md_articulated_of_body(md_articulated *r, md_num mass, const md_vec *first_moment,
                                      const md_sym *second_moment)
{
    r->angular = *second_moment;
    md_mat_skew(&r->cross, first_moment);
    md_sym_of_scalar(&r->linear, mass);
}

/* to += the rigid body a; r leads from the origin of `to` to that of a; k = 2 h + m r. */
MD_STATIC void md_composite_add_shifted(md_composite *to, const md_composite *a, const md_vec *r)
{
    md_vec mr, k;
    md_vec_scale(&mr, a->mass, r);
    md_vec_twice(&k, &a->first_moment);
    md_vec_add(&k, &k, &mr);

    md_sym_add(&to->second_moment, &to->second_moment, &a->second_moment);
    md_sym_add_shift(&to->second_moment, r, &k);
    md_vec_add(&to->first_moment, &to->first_moment, &a->first_moment);
    md_vec_add(&to->first_moment, &to->first_moment, &mr);
    to->mass = md_add(to->mass, a->mass);
}

/* to += the articulated inertia a; r leads from the origin of `to` to that of a; P = B'. */
MD_STATIC void md_articulated_add_shifted(md_articulated *to, const md_articulated *a,
                                          const md_vec *r)
{
    md_mat P;
    md_mat_skew_mul_sym(&P, r, &a->linear);
    md_mat_add(&P, &a->cross, &P);

    md_sym_add(&to->angular, &to->angular, &a->angular);
    md_sym_add_crosses(&to->angular, r, &P, &a->cross);
    md_mat_add(&to->cross, &to->cross, &P);
    md_sym_add(&to->linear, &to->linear, &a->linear);
}

/* a -= W W^T with W = I_A S/sqrt(D): the inertia that a freely moving joint passes on. */
MD_STATIC void md_articulated_sub_square(md_articulated *a, const md_force *W)
{
    md_sym_sub_square(&a->angular, &W->ang);
    md_mat_sub_product(&a->cross, &W->ang, &W->lin);
    md_sym_sub_square(&a->linear, &W->lin);
}

/* ---- arrays that the user fills: tables, coordinates, commands ---- */

/* a < b */
MD_INLINE int md_wide_less(mdyn_wide a, mdyn_wide b)
{
    return md_less(md_of_wide(a), md_of_wide(b));
}

/* Whether all of n numbers are in the range of arguments; NaN is not. */
MD_STATIC int md_wides_in_range(const mdyn_wide *x, int n)
{
    int k;
    for (k = 0; k < n; k++)
        if (!md_wide_in_range(x[k])) return 0;
    return 1;
}

/* Whether any of n numbers is negative. */
MD_STATIC int md_any_wide_negative(const mdyn_wide *x, int n)
{
    int k;
    for (k = 0; k < n; k++)
        if (md_wide_is_negative(x[k])) return 1;
    return 0;
}

/* Whether all of n numbers are 0: a table's entry that was left out. */
MD_STATIC int md_wides_are_zero(const mdyn_wide *x, int n)
{
    int k;
    for (k = 0; k < n; k++)
        if (!md_wide_is_zero(x[k])) return 0;
    return 1;
}

/* Whether the bits of any of n numbers differ from those in `seen`. */
MD_SHARED int md_any_differs(const mdyn_real *x, const mdyn_real *seen, int n)
{
    md_bits differ = 0;
    int k;
    for (k = 0; k < n; k++) differ |= md_bits_of(x[k]) ^ md_bits_of(seen[k]);
    return differ != 0;
}

/* Whether all of n coordinates, velocities or commands are in range; NaN is not. */
MD_INLINE int md_all_in_range(const mdyn_real *x, int n)
{
    md_bits excess = 0;
    int k;
    for (k = 0; k < n; k++) excess |= md_range_bits(x[k]);
    return excess <= MD_BITS_MAGNITUDE;
}

/* Stores in `seen` the numbers that differ from it: the user has set them. Their tails become 0. */
MD_INLINE void md_note_changes(const mdyn_real *x, mdyn_real *seen, md_tail *tail, int n)
{
    int k;
    for (k = 0; k < n; k++) {
        if (md_bits_equal(x[k], seen[k])) continue;
        seen[k] = x[k];
        tail[k] = 0;
    }
}

/* to = from for arrays of n tails that do not overlap; of n scalars. */
MD_NOINLINE void md_copy_tails(md_tail *MD_RESTRICT to, const md_tail *MD_RESTRICT from, int n)
{
    int k;
    for (k = 0; k < n; k++) to[k] = from[k];
}

MD_NOINLINE void md_copy_scalars(md_num *MD_RESTRICT to, const md_num *MD_RESTRICT from, int n)
{
    int k;
    for (k = 0; k < n; k++) to[k] = from[k];
}

/* to = from for n bytes that do not overlap. */
MD_NOINLINE void md_copy_bytes(void *MD_RESTRICT to, const void *MD_RESTRICT from, size_t n)
{
    size_t k;
    for (k = 0; k < n; k++) ((unsigned char *)to)[k] = ((const unsigned char *)from)[k];
}

/* =============================================================================== // >>model
   The model as the sim sees it: questions about the tables, answered in one line each.

   Given:   the user's mdyn_model, which is constant, and what >>build derived from it: links, the
            tree of DoF, a copy of the couplings.
   Gives:   numbers of DoF and coordinates, the parent of a DoF and its body, the frame of a joint's
            axis, the settings of the solver as questions, which constraints are hard, which limits
            are meant.
   Writes:  sim->culprit, by md_blame alone.
   Cost:    O(1), except md_last_dof (depth of the tree) and md_check_numbers (n). */

/* Records an error or warning with its index in sim->culprit, and returns its code. */
MD_STATIC int md_blame(mdyn_sim *sim, int code, int index)
{
    sim->culprit.code = (int16_t)code;
    sim->culprit.index = (int16_t)index;
    return code;
}

/* Whether sims can have something, by the knob MIMICDYN_HAS: a constant. */
#define MD_HAS(what) ((MIMICDYN_HAS & MDYN_HAS_##what) != 0)

/* Whether the program's sims are baked: what rows are made of is given, and cannot change. */
#define MD_IS_BAKED (MIMICDYN_BAKED || MIMICDYN_HAS != MDYN_HAS_ALL)

/* Whether a row is of a kind that sims can have. */
#define MD_ROW_IS(row, what) (MD_HAS(what) && (row)->kind == MDYN_ROW_##what)

/* ---- ready or busy ---- */

#define MD_READY 0x6D64796Eu       /* of a sim that md_build_sim has completed: "mdyn" in ASCII */
#define MD_BUSY 0x62757379u        /* of a ready sim that a call is changing: "busy" */
#define MD_IN_CALLBACK 0x63616C6Cu /* the same, while the row function of the user runs: "call" */

/* Whether a call is changing the sim: this one comes from a callback or an interrupt. */
MD_STATIC int md_is_busy(const mdyn_sim *sim)
{
    return sim->ready_mark == MD_BUSY || sim->ready_mark == MD_IN_CALLBACK;
}

/* Whether the sim holds a model: all that calls need which only read it. */
MD_STATIC int md_is_set_up(const mdyn_sim *sim)
{
    return sim && (sim->ready_mark == MD_READY || md_is_busy(sim));
}

/* Whether a call may use the workspaces of the sim. */
MD_STATIC int md_is_ready(const mdyn_sim *sim) { return sim && sim->ready_mark == MD_READY; }

/* The error of a call whose sim is not ready. */
MD_STATIC int md_not_ready(const mdyn_sim *sim)
{
    return !sim ? MDYN_ERR_NULL : md_is_busy(sim) ? MDYN_ERR_BUSY : MDYN_ERR_NOT_READY;
}

/* Begins a call that changes the sim; any other call that would is refused until md_leave. Returns
   MDYN_OK, or the error to return. */
MD_STATIC int md_enter(mdyn_sim *sim)
{
    if (!md_is_ready(sim)) return md_not_ready(sim);
    sim->ready_mark = MD_BUSY;
    return MDYN_OK;
}

/* The same for a call that changes what rows are made of. */
MD_STATIC int md_enter_change(mdyn_sim *sim)
{
    if (MD_IS_BAKED && md_is_ready(sim)) return md_blame(sim, MDYN_ERR_BAKED, -1);
    return md_enter(sim);
}

/* Ends it, with its code. */
MD_STATIC int md_leave(mdyn_sim *sim, int code)
{
    sim->ready_mark = MD_READY;
    return code;
}

/* ---- sums over bytes ---- */

/* Sum of n bytes, each times an odd number that depends on its place: one changed bit changes it.
   The sum of two areas is the sum of their sums, so a part can be replaced. */
MD_STATIC uint32_t md_sum_bytes(const void *bytes, size_t n, size_t place)
{
    const unsigned char *p = (const unsigned char *)bytes;
    uint32_t sum = 0;
    size_t k;
    for (k = 0; k < n; k++) sum += p[k] * (((uint32_t)(place + k) * 0x9E3779B9u) | 1u);
    return sum;
}

/* The sum of a part of the sim. A call that replaces a part of the constants subtracts this before
   and adds it after. */
MD_STATIC uint32_t md_sum_part(const mdyn_sim *sim, const void *part, size_t n)
{
    return md_sum_bytes(part, n, (size_t)((const char *)part - (const char *)sim));
}

/* ---- joints ---- */

/* Joint velocities of a joint type: 0 to 6. Without a tree all bodies are rotors. */
MD_STATIC int md_joint_dofs(mdyn_joint joint)
{
    if (!MIMICDYN_TREE) return 1;
    if (!MIMICDYN_QUATERNIONS) return joint != MDYN_FIXED;
    return joint == MDYN_FIXED ? 0 : joint == MDYN_SPHERICAL ? 3 : joint == MDYN_FREE ? 6 : 1;
}

/* Coordinates of a joint type: a quaternion has one more than angular velocities. */
MD_STATIC int md_joint_coordinates(mdyn_joint joint)
{
    return md_joint_dofs(joint)
        + (MIMICDYN_QUATERNIONS && (joint == MDYN_SPHERICAL || joint == MDYN_FREE));
}

/* Index in q of the w of a joint's quaternion; -1: the joint has none. */
MD_STATIC int md_quaternion_index(const md_link *link)
{
    return !MIMICDYN_QUATERNIONS ? -1 : link->joint == MDYN_SPHERICAL ? link->coordinate
         : link->joint == MDYN_FREE ? link->coordinate + 3 : -1;
}

/* Whether a body has no motion of its own: it is welded to its parent, or to the world. */
MD_INLINE int md_is_welded(const md_link *link) { return MIMICDYN_TREE && link->dofs == 0; }

/* Whether the model has any joint with a quaternion. */
MD_INLINE int md_has_quaternions(const mdyn_sim *sim)
{
    return MIMICDYN_QUATERNIONS && sim->coordinates > sim->dofs;
}

/* ---- degrees of freedom: the tree of joint velocities ---- */

/* The kinds of column that a joint has: S = (axis, 0), (0, axis), (axis, pitch axis). */
enum { MD_ANGULAR, MD_LINEAR, MD_HELICAL };

MD_INLINE int md_dof_is_linear(const md_dof *d) { return MD_HAS(SLIDER) && d->kind == MD_LINEAR; }

MD_INLINE int md_dof_is_helical(const md_dof *d) { return MD_HAS(SCREW) && d->kind == MD_HELICAL; }

/* The first DoF and coordinate of a body; the body of a DoF, and the coordinate of one whose joint
   has no other. Without a tree body, DoF and coordinate are one index. */
MD_INLINE int md_dof_of(const mdyn_sim *sim, int body)
{
    return MIMICDYN_TREE ? sim->link[body].dof : body;
}

MD_INLINE int md_coordinate_of(const mdyn_sim *sim, int body)
{
    return MIMICDYN_TREE ? sim->link[body].coordinate : body;
}

MD_INLINE int md_body_of(const mdyn_sim *sim, int k)
{
    return MIMICDYN_TREE ? sim->dof[k].body : k;
}

MD_INLINE int md_coordinate_of_dof(const mdyn_sim *sim, int k)
{
    return MIMICDYN_TREE ? sim->dof[k].coordinate : k;
}

/* The DoF that precedes k on the path from the root; -1: none. */
MD_INLINE int md_parent_dof(const mdyn_sim *sim, int k)
{
    return MIMICDYN_TREE ? sim->dof_parent[k] : -1;
}

/* The numbers of the joint that has DoF k. */
MD_SHARED const md_joint_values *md_values_of_dof(const mdyn_sim *sim, int k)
{
    return &sim->joint_values[md_body_of(sim, k)];
}

/* The last DoF on the path from the root to a body; -1: none, the body is fixed in the world. */
MD_STATIC int md_last_dof(const mdyn_sim *sim, int body)
{
    for (; body >= 0; body = sim->link[body].parent)
        if (sim->link[body].dofs) return md_dof_of(sim, body) + sim->link[body].dofs - 1;
    return -1;
}

/* The rotation Q from the frame used inside to the body's of the table, and which of its axes is
   the joint's. Inside, a joint moves along x, y or z. An axis that is one of these in the table
   stays, with Q = 1; any other direction is rotated into z. */
MD_STATIC int md_axis_frame(const mdyn_body *b, md_mat *Q)
{
    const md_num zero = MD_K(0);
    md_vec axis;
    md_num x[3], largest = zero;
    int k;

    /* Joints of none or several DoF have no axis. */
    md_mat_of_quaternion(Q, MD_K(1), zero, zero, zero);
    if (md_joint_coordinates(b->joint) != 1) return 2;
    for (k = 0; k < 3; k++) {
        x[k] = md_of_wide((&b->axis.x)[k]);
        largest = md_max(largest, md_abs(x[k]));
    }

    /* Positive x, y or z; the zero vector means z, which is tried first. */
    for (k = 2; k >= 0; k--)
        if (md_is_zero(x[md_next_axis[k]]) && md_is_zero(x[md_next_axis[md_next_axis[k]]])
            && !md_less(x[k], zero)) return k;

    /* Divided by the largest component, so that no square leaves the range of numbers. */
    md_vec_set(&axis, md_div(x[0], largest), md_div(x[1], largest), md_div(x[2], largest));
    md_mat_of_axis(Q, &axis);
    return 2;
}

/* The same Q for a body of the sim; Q = 1 for the world. An oblique axis is the only number that
   queries read from the table: an edited one without a direction counts as z. */
MD_STATIC void md_joint_frame(const mdyn_sim *sim, int body, md_mat *Q)
{
    md_mat_of_quaternion(Q, MD_K(1), MD_K(0), MD_K(0), MD_K(0));
    if (body >= 0 && MD_BODY(&sim->link[body])->is_oblique
        && md_wides_in_range(&sim->body_table[body].axis.x, 3))
        md_axis_frame(&sim->body_table[body], Q);
}

/* ---- numbers ---- */

/* The fields of type mdyn_wide from `first` to `last` of a table as two arguments, array and
   count, for md_any_wide_negative and its like. No field between the two has another type. */
#define MD_WIDE_FIELDS(type, p, first, last) \
    (const mdyn_wide *)(const void *)((const char *)(p) + offsetof(type, first)), \
    (int)((offsetof(type, last) - offsetof(type, first)) / sizeof(mdyn_wide)) + 1

/* An error about element k of the array x of the sim. */
MD_STATIC int md_blame_element(mdyn_sim *sim, int code, const mdyn_real *x, int k)
{
    sim->culprit.array = (uint8_t)(x == sim->q ? MDYN_IN_Q : x == sim->v ? MDYN_IN_V
        : x == sim->tau ? MDYN_IN_TAU : x == sim->target ? MDYN_IN_TARGET
        : x == sim->target_velocity ? MDYN_IN_TARGET_VELOCITY : MDYN_IN_WRENCH);
    return md_blame(sim, code, k);
}

/* MDYN_ERR_STATE if a number is out of range; the culprit is the index of the first. */
MD_OWN_FRAME int md_check_numbers(mdyn_sim *sim, const mdyn_real *x, int n)
{
    int k = 0;
    if (md_all_in_range(x, n)) return MDYN_OK;
    while (md_in_range(x[k])) k++;
    return md_blame_element(sim, MDYN_ERR_STATE, x, k);
}

/* MDYN_ERR_BEYOND if an array over DoF is not 0 beyond the model's DoFs: its index was wrong. */
MD_OWN_FRAME int md_check_beyond(mdyn_sim *sim)
{
    md_bits any = 0;
    int k;
    for (k = sim->dofs; MD_HAS(SPARE) && k < MIMICDYN_MAX_DOFS; k++)
        any |= md_bits_of(sim->v[k]) | md_bits_of(sim->tau[k]) | md_bits_of(sim->target[k])
            | md_bits_of(sim->target_velocity[k]);

    /* which element it is; the bits of a negative zero do not count */
    for (k = sim->dofs; any && k < MIMICDYN_MAX_DOFS; k++) {
        const mdyn_real *x = md_real_is_zero(sim->v[k]) ? NULL : sim->v;
        if (!md_real_is_zero(sim->tau[k])) x = sim->tau;
        if (!md_real_is_zero(sim->target[k])) x = sim->target;
        if (!md_real_is_zero(sim->target_velocity[k])) x = sim->target_velocity;
        if (x) return md_blame_element(sim, MDYN_ERR_BEYOND, x, k);
    }
    return MDYN_OK;
}

/* Whether the vector x is too short to be normalized, |x|^2 <= 1e-12. The zero vector is not: it
   stands for a default. */
MD_STATIC int md_is_too_short(const mdyn_wide *x, int n)
{
    md_num sum = MD_K(0);
    int k;
    if (md_wides_are_zero(x, n)) return 0;
    for (k = 0; k < n; k++) sum = md_add(sum, md_mul(md_of_wide(x[k]), md_of_wide(x[k])));
    return !md_less(MD_K(1e-12), sum);
}

/* Whether there is a lower, an upper bound: one of 1e12 and more in magnitude is none. */
MD_INLINE int md_has_lower(mdyn_wide x) { return md_wide_less(MDYN_C(-1e12), x); }

MD_INLINE int md_has_upper(mdyn_wide x) { return md_wide_less(x, MDYN_C(1e12)); }

/* ---- softness of constraints: erp and compliance (cfm) ---- */

MD_INLINE int md_softness_has_erp(const mdyn_softness *s)
{
    return s->kind == MDYN_ERP_CFM || s->kind == MDYN_ODE_CFM;
}

/* A known kind, a >= 0, b >= 0, and a <= 1 if it is an erp. */
MD_STATIC int md_softness_is_valid(const mdyn_softness *s)
{
    if ((unsigned)s->kind > MDYN_ODE_CFM) return 0;
    if (md_softness_has_erp(s) && md_wide_less(MDYN_C(1), s->a)) return 0;
    return !md_any_wide_negative(&s->a, 2);
}

/* A hard constraint has no compliance: cfm = 0; of a frequency, omega = 0 means hard. */
MD_STATIC int md_softness_is_hard(const mdyn_softness *s)
{
    if (!MD_HAS(SPRING)) return s->kind != MDYN_KP_KD; /* of a drive */
    return s->kind == MDYN_DEFAULT
        || (md_softness_has_erp(s) && md_wide_is_zero(s->b))
        || (s->kind == MDYN_OMEGA_ZETA && md_wide_is_zero(s->a));
}

/* ---- couplings and closures ---- */

MD_SHARED const mdyn_coupling *md_coupling_at(const mdyn_sim *sim, int i)
{
    return &sim->coupling[i];
}

/* An equality constraint C = 0 has an empty range; lower < upper is an inequality constraint. */
MD_INLINE int md_coupling_is_equality(const mdyn_coupling *c)
{
    return !MD_HAS(RANGE) || md_is_zero(md_sub(md_of_wide(c->upper), md_of_wide(c->lower)));
}

/* Whether it is one of velocities, not of positions. */
MD_INLINE int md_is_of_velocity(const mdyn_coupling *c)
{
    return MD_HAS(VELOCITY) && c->level == MDYN_VELOCITY;
}

/* Whether a hard coupling has a target velocity other than 0. */
MD_INLINE int md_has_target_velocity(const mdyn_sim *sim)
{
    return MD_HAS(VELOCITY) && sim->has_target_velocity;
}

/* Whether the coupling loses power: efficiency 0 in the table means none is lost. */
MD_INLINE int md_has_efficiency(const mdyn_coupling *c)
{
    return MIMICDYN_LOSSES && !md_wide_is_zero(c->efficiency);
}

/* Whether the force of another coupling bounds this one's, as in Coulomb friction. */
MD_INLINE int md_has_mu(const mdyn_coupling *c)
{
    return MIMICDYN_LOSSES && !md_wide_is_zero(c->mu);
}

/* Whether the model has closures. */
MD_INLINE int md_has_closures(const mdyn_sim *sim)
{
    return MD_HAS_CLOSURES && MD_BODY_ROWS(sim)->closures > 0;
}

/* Constraint rows of a closure: one for each relative velocity that it prevents; 0: unknown kind */
MD_STATIC int md_closure_row_count(mdyn_closure_kind kind)
{
    return kind == MDYN_CLOSE_POINT ? 3 : kind == MDYN_CLOSE_HINGE ? 5
        : kind == MDYN_CLOSE_WELD ? 6 : kind == MDYN_CLOSE_DISTANCE ? 1 : 0;
}

/* ---- settings of the solver ---- */

/* Whether a setting has this value, which is not its default. Without MIMICDYN_SETTINGS: never. */
#define MD_SETTING_IS(sim, what, value) (MIMICDYN_SETTINGS && (sim)->solver.what == (value))

/* Whether a step solves rows of unbounded impulse iteratively too, not by >>equality. */
MD_INLINE int md_iterates_equalities(const mdyn_sim *sim)
{
    return !MIMICDYN_EXACT || MD_SETTING_IS(sim, equality, MDYN_ITERATED);
}

/* Whether a step has the poses of its middle. */
MD_INLINE int md_uses_midpoint(const mdyn_sim *sim)
{
    return !MD_SETTING_IS(sim, scheme, MDYN_EXPLICIT);
}

/* Substeps of a step: more than one with MDYN_TGS alone, where 0 means 4. */
MD_INLINE int md_substeps(const mdyn_sim *sim)
{
    const uint16_t substeps = sim->solver.substeps;
    if (!MD_SETTING_IS(sim, method, MDYN_TGS)) return 1;
    return substeps == 0 ? 4 : substeps < 32767 ? (int)substeps : 32767;
}

/* Whether position errors are corrected in q alone: v comes from a second solve without bias. */
MD_INLINE int md_uses_relaxation(const mdyn_sim *sim)
{
    if (!MIMICDYN_SETTINGS || sim->solver.limits == MDYN_ENGAGED) return 1;
    return sim->solver.correction == MDYN_CORRECTION_DEFAULT ? md_uses_midpoint(sim)
        : sim->solver.correction == MDYN_RELAX;
}

/* Whether hard couplings are eliminated (>>reduce); otherwise all couplings are rows. Elimination
   needs relaxation, because it corrects the positions of followers without a change of v. */
MD_INLINE int md_eliminates(const mdyn_sim *sim)
{
    return md_uses_midpoint(sim) && md_uses_relaxation(sim) && !md_iterates_equalities(sim);
}

/* Whether a step stores its impulses for the next one. */
MD_INLINE int md_stores_warm_start(const mdyn_sim *sim)
{
    return MIMICDYN_WARM && !MD_SETTING_IS(sim, start, MDYN_COLD);
}

/* Whether iterations begin at the stored impulses; Dantzig's pivoting begins at 0. */
MD_INLINE int md_uses_warm_start(const mdyn_sim *sim)
{
    return md_stores_warm_start(sim) && !MD_SETTING_IS(sim, method, MDYN_DANTZIG);
}

/* ========================================================================== // >>kinematics
   q and v to poses, velocities, and accelerations at zero joint accelerations.

   Given:   the links (constant), q, v and the tails of q; sim->bias_velocity, the velocities that
            the bias accelerations belong to. A query takes q and v as they are. A midpoint step
            takes q half a step later and v extrapolated to there (md_extrapolate_bias).
   Gives:   of each body its rotation, the arm r from the parent's origin, first moment h and
            inertia I about the origin, omega, alpha, the origin's acceleration a; of each DoF its
            axis. All in world axes.
   Writes:  sim->body_state, the axes in sim->dof, q_seen and v_seen, the tails of numbers that the
            user changed, kinematics_stale; shared.body.motion (md_find_body_velocities); as scratch
            sim->subtree.

   Every quantity of a body is taken at the origin of its own joint, which keeps the numbers small
   however far the body is from the world's origin. With the joint's angular velocity w and linear
   velocity u, r the arm, and p for the parent:
      omega = omega_p + w          alpha = alpha_p + omega_p x w
      a = a_p + B_p r + (omega_p + omega) x u,    B = [alpha] + omega omega^T - |omega|^2 1
   where B r is the acceleration of a point at r relative to the origin. Gravity g enters as the
   acceleration -g of the world.
   In a midpoint step the velocity of a free joint is turned with its body by >>integrate, which
   then stands for the term omega x u of that joint.
   A rotor, a wheel or the shaft of a motor on the world with its mass center on the axis, has a
   constant inertia and axis, and no bias force: a step without rows on bodies leaves it out. So it
   does with welded bodies, unless wrenches are on bodies.
   Source: Featherstone 2008, table 5.1, in world axes. Cost: O(bodies), if q or v changed. */

enum { MD_KINEMATICS_OF_STEP = 2 }; /* kinematics_stale in a step: q is that of its middle */

/* Whether the present solve can ignore rotors; whether it can ignore all bodies, because all are
   rotors. */
MD_INLINE int md_leaves_out_rotors(const mdyn_sim *sim)
{
    return sim->kinematics_stale == MD_KINEMATICS_OF_STEP && sim->rows == sim->joint_row_count;
}

MD_INLINE int md_leaves_out_bodies(const mdyn_sim *sim)
{
    return !MIMICDYN_TREE || (sim->has_constant_mass && md_leaves_out_rotors(sim));
}

/* ---- poses ---- */

/* The rotation matrices of all quaternions into sim->subtree, which is free until >>dynamics fills
   it. md_place_joint reads them. */
MD_OWN_FRAME void md_rotate_quaternion_joints(mdyn_sim *sim)
{
    int i, k;
    for (i = 0; md_has_quaternions(sim) && i < sim->bodies; i++) {
        const mdyn_real *q = sim->q;
        k = md_quaternion_index(&sim->link[i]);
        if (k >= 0) md_mat_of_quaternion(&MD_TREE(sim)->subtree[i].articulated.cross,
                                         md_of_real(q[k]),
            md_of_real(q[k + 1]), md_of_real(q[k + 2]), md_of_real(q[k + 3]));
    }
}

/* The motion of a spherical or free joint. On entry R and arm are those before the joint's
   motion, on return those of the body. */
MD_OWN_FRAME void md_place_quaternion_joint(mdyn_sim *sim, const md_link *link, md_mat *R,
                                            md_vec *arm)
{
    const mdyn_real *q = sim->q + link->coordinate;
    const int i = (int)(link - sim->link);
    /* members that are scratch here */
    md_mat *before = &MD_TREE(sim)->body_state[i].rates;
    md_vec *shift = &MD_TREE(sim)->body_state[i].alpha;
    int k;

    /* A free joint's position is given in the axes before its motion. */
    if (link->joint == MDYN_FREE) {
        md_vec_set(shift, md_of_real(q[0]), md_of_real(q[1]), md_of_real(q[2]));
        md_mat_vec(shift, R, shift);
        md_vec_add(arm, arm, shift);
    }

    /* The velocities are in the body's axes: its columns are the axes of the DoF. */
    *before = *R;
    md_mat_mul(R, before, &MD_TREE(sim)->subtree[i].articulated.cross);
    for (k = 0; k < link->dofs; k++)
        md_mat_column(&MD_COLUMN(&sim->dof[link->dof + k])->axis, R, k % 3);
}

/* Rotation R of a body, arm from the parent's origin to its own, and the axes of its DoF. */
MD_OWN_FRAME void md_place_joint(mdyn_sim *sim, const md_link *link, const md_body_state *parent,
                                 md_mat *R, md_vec *arm)
{
    const mdyn_real *q = sim->q + link->coordinate;
    const md_tail *tail = sim->q_tail + link->coordinate;
    const md_mat *from = &MD_BODY(link)->rotation;
    md_dof *d = sim->dof + link->dof;

    /* The joint before its motion: `from` is its rotation, a constant in the world. */
    if (link->parent < 0) {
        *arm = MD_BODY(link)->position;
    } else {
        md_mat_vec(arm, &parent->rotation, &MD_BODY(link)->position);
        from = &parent->rotation;
        if (!MD_BODY(link)->rotation_is_identity) {
            md_mat_mul(R, &parent->rotation, &MD_BODY(link)->rotation);
            from = R;
        }
    }

    /* Rotation about the axis by q (in floats with its tail); a screw advances by pitch q too. */
    if (link->joint == MDYN_REVOLUTE || (MD_HAS(SCREW) && link->joint == MDYN_HELICAL)) {
        md_mat_rotate_about(R, from, MD_BODY(link)->axis, q[0], tail[0]);
        md_mat_column(&MD_COLUMN(d)->axis, R, MD_BODY(link)->axis);
        if (MD_HAS(SCREW) && link->joint == MDYN_HELICAL)
            md_vec_add_scaled(arm, md_mul(MD_COLUMN(d)->pitch, md_of_real(q[0])),
                              &MD_COLUMN(d)->axis);
        return;
    }

    /* The other joints keep that rotation, or multiply it. */
    if (from != R) *R = *from;
    switch (link->joint) {
    case MDYN_PRISMATIC:
        if (!MD_HAS(SLIDER)) break;
        md_mat_column(&MD_COLUMN(d)->axis, R, MD_BODY(link)->axis);
        md_vec_add_scaled(arm, md_of_real(q[0]), &MD_COLUMN(d)->axis);
        break;
    case MDYN_SPHERICAL:
    case MDYN_FREE:
        if (MIMICDYN_QUATERNIONS) md_place_quaternion_joint(sim, link, R, arm);
        break;
    default: break; /* MDYN_FIXED */
    }
}

/* Poses and axes of the present q, unless they are up to date, for queries that need nothing else.
   The rest of the kinematics stays stale. */
MD_OWN_FRAME void md_find_poses(mdyn_sim *sim)
{
    int i;
    if (!sim->kinematics_stale) return;
    md_rotate_quaternion_joints(sim);
    for (i = 0; i < sim->bodies; i++) {
        const md_link *link = &sim->link[i];
        md_body_state *p = &MD_TREE(sim)->body_state[i];
        md_place_joint(sim, link, &MD_TREE(sim)->body_state[link->parent < 0 ? i : link->parent],
                       &p->rotation, &p->arm);
    }
}

/* First moment h and inertia I of a body about its origin, in world axes. */
MD_INLINE void md_rotate_inertia(const md_link *link, md_body_state *p)
{
    md_sym_rotate(&p->inertia, &p->rotation, &MD_BODY(link)->inertia);
    md_mat_vec(&p->first_moment, &p->rotation, &MD_BODY(link)->first_moment);
}

/* The same with the inertias, for M. */
MD_STATIC void md_find_inertias(mdyn_sim *sim)
{
    int i;
    md_find_poses(sim);
    for (i = 0; sim->kinematics_stale && i < sim->bodies; i++)
        md_rotate_inertia(&sim->link[i], &MD_TREE(sim)->body_state[i]);
}

/* ---- velocities and accelerations ---- */

/* a += s S, for the column S of DoF d and its rate s. */
MD_INLINE void md_dof_add_motion(md_motion *a, md_num s, const md_dof *d)
{
    const int linear = md_dof_is_linear(d), helical = md_dof_is_helical(d);
    if (!linear) md_vec_add_scaled(&a->ang, s, &MD_COLUMN(d)->axis);
    if (helical) s = md_mul(s, MD_COLUMN(d)->pitch);
    if (linear || helical) md_vec_add_scaled(&a->lin, s, &MD_COLUMN(d)->axis);
}

/* m += S x for the columns S of a joint and the numbers x of all DoF. */
MD_INLINE void md_add_joint_motion(const mdyn_sim *sim, const md_link *link, const md_num *x,
                                   md_motion *m)
{
    int k;

    /* the common case: one angular column */
    if (link->joint == MDYN_REVOLUTE) {
        md_vec_add_scaled(&m->ang, x[link->dof], &MD_COLUMN(&sim->dof[link->dof])->axis);
        return;
    }
    for (k = link->dof; k < link->dof + link->dofs; k++)
        md_dof_add_motion(m, x[k], &sim->dof[k]);
}

/* S v, the velocity that a joint adds to its body: (w, u) in the equations of this room. */
MD_INLINE void md_joint_velocity(const mdyn_sim *sim, const md_link *link, md_motion *m)
{
    md_vec_zero(&m->ang);
    md_vec_zero(&m->lin);
    if (link->joint == MDYN_REVOLUTE) /* nothing to add to */
        md_vec_scale(&m->ang, MD_TREE(sim)->bias_velocity[link->dof],
                     &MD_COLUMN(&sim->dof[link->dof])->axis);
    else
        md_add_joint_motion(sim, link, MD_TREE(sim)->bias_velocity, m);
}

/* The whole of sim->body_state from q and v, by the equations at the top of this room. In a
   midpoint step the acceleration of a free joint lacks omega x u, because md_drift_quaternions
   turns its velocity with the body. */
MD_OWN_FRAME void md_rnea_forward(mdyn_sim *sim)
{
    const int turns = sim->kinematics_stale == MD_KINEMATICS_OF_STEP;
    const int no_rotors = md_leaves_out_rotors(sim);
    const int no_welded = md_leaves_out_rotors(sim) && !sim->has_wrench;
    const mdyn_wide3 *g = &sim->gravity;
    md_vec up; /* -g */
    int i;
    md_vec_set(&up, md_neg(md_of_wide(g->x)), md_neg(md_of_wide(g->y)), md_neg(md_of_wide(g->z)));

    for (i = 0; i < sim->bodies; i++) {
        const md_link *link = &sim->link[i];
        md_body_state *p = &MD_TREE(sim)->body_state[i];
        const md_body_state *parent
            = &MD_TREE(sim)->body_state[link->parent < 0 ? i : link->parent];
        md_motion joint; /* (w, u) */
        md_vec t;
        if ((no_rotors && MD_BODY(link)->is_rotor) || (no_welded && md_is_welded(link))) continue;
        md_place_joint(sim, link, parent, &p->rotation, &p->arm);
        md_joint_velocity(sim, link, &joint);

        /* omega, alpha, and a without its last term; the world has omega = 0, alpha = 0 */
        if (link->parent < 0) {
            p->omega = joint.ang;
            p->acc = up;
            md_vec_zero(&p->alpha);
        } else {
            md_vec_add(&p->omega, &parent->omega, &joint.ang);
            md_cross_add(&p->alpha, &parent->alpha, &parent->omega, &joint.ang);
            md_mat_vec_add(&p->acc, &parent->acc, &parent->rates, &p->arm);
        }

        /* a += (omega_p + omega) x u; a revolute joint has u = 0 */
        if ((MD_HAS(SLIDER) || MD_HAS(SCREW)) && link->joint != MDYN_REVOLUTE) {
            t = p->omega;
            if (turns && link->joint == MDYN_FREE) md_vec_sub(&t, &t, &joint.ang);
            if (link->parent >= 0) md_vec_add(&t, &parent->omega, &t);
            md_vec_add_cross(&p->acc, &t, &joint.lin);
        }

        /* h, I and B */
        md_rotate_inertia(link, p);
        md_mat_of_rates(&p->rates, &p->omega, &p->alpha);
    }
}

/* Poses and bias accelerations of q, with the velocities in sim->bias_velocity. */
MD_INLINE void md_update_poses(mdyn_sim *sim)
{
    md_rotate_quaternion_joints(sim);
    md_rnea_forward(sim);
}

/* Poses and bias accelerations of the present q and v. */
MD_INLINE void md_update_kinematics(mdyn_sim *sim)
{
    if (!MIMICDYN_TREE) return; /* rotors have none */
    md_copy_in(MD_TREE(sim)->bias_velocity, sim->v, sim->dofs);
    md_update_poses(sim);
}

/* The state is no longer that of the last step: forgets the momenta of floating trees. */
MD_INLINE void md_forget_momentum(mdyn_sim *sim)
{
    if (MD_FLOATING_TREES) MD_MOMENTA(sim)->momentum_is_known = 0;
    if (MIMICDYN_TREE) MD_TREE(sim)->state_is_of_step = 0;
}

/* Ends the extrapolation of velocities from earlier steps. */
MD_INLINE void md_drop_last_dv(mdyn_sim *sim)
{
    int k;
    if (!MIMICDYN_TREE) return;
    md_forget_momentum(sim);
    sim->is_continued = MD_TREE(sim)->has_last_dv = 0;
    for (k = 0; k < sim->dofs; k++) MD_TREE(sim)->middle_dv[k] = MD_K(0);
}

/* Checks q and v if they have changed since they were last seen. */
MD_STATIC int md_check_state(mdyn_sim *sim)
{
    int i, k, code;
    const int turned = md_any_differs(sim->v, sim->v_seen, sim->dofs);
    if (!md_any_differs(sim->q, sim->q_seen, sim->coordinates) && !turned) return MDYN_OK;

    /* every number in range, no quaternion of length 0 */
    code = md_check_numbers(sim, sim->q, sim->coordinates);
    if (code == MDYN_OK) code = md_check_numbers(sim, sim->v, sim->dofs);
    if (code != MDYN_OK) return code;
    for (i = 0; md_has_quaternions(sim) && i < sim->bodies; i++) {
        k = md_quaternion_index(&sim->link[i]);
        if (k >= 0 && !md_less(MD_K(1e-6), md_quaternion_norm2(sim->q + k)))
            return md_blame(sim, MDYN_ERR_STATE, k);
    }

    /* numbers that the user changed have no tail; a changed v ends the extrapolation */
    md_note_changes(sim->q, sim->q_seen, sim->q_tail, sim->coordinates);
    md_note_changes(sim->v, sim->v_seen, sim->v_tail, sim->dofs);
    md_forget_momentum(sim);
    sim->q_may_be_off = 1;
    if (turned) {
        md_drop_last_dv(sim);
        sim->may_be_off = 1;
    }
    sim->kinematics_stale = 1;
    return MDYN_OK;
}

/* Checks the state and brings the kinematics up to date with it. Within a midpoint step they belong
   to its middle and are left as they are. */
MD_STATIC int md_refresh_kinematics(mdyn_sim *sim)
{
    int code;
    if (sim->kinematics_stale == MD_KINEMATICS_OF_STEP) return MDYN_OK;
    code = md_check_state(sim);
    if (code != MDYN_OK || !sim->kinematics_stale) return code;
    md_update_kinematics(sim);
    sim->kinematics_stale = 0;
    return MDYN_OK;
}

/* ---- queries: points and velocities in world axes ---- */

/* Velocity of a body's origin: the sum of omega_p x r + u along the path to the root. */
MD_STATIC void md_origin_velocity(const mdyn_sim *sim, int body, md_vec *v)
{
    md_motion joint;
    int i;
    md_vec_zero(v);
    for (i = body; i >= 0; i = sim->link[i].parent) {
        const md_link *link = &sim->link[i];
        if (link->parent >= 0)
            md_vec_add_cross(v, &MD_TREE(sim)->body_state[link->parent].omega,
                             &MD_TREE(sim)->body_state[i].arm);
        md_joint_velocity(sim, link, &joint);
        md_vec_add(v, v, &joint.lin);
    }
}

/* Position of a body's origin: the sum of the arms along the path to the root. */
MD_STATIC void md_origin_position(const mdyn_sim *sim, int body, md_vec *p)
{
    int i;
    md_vec_zero(p);
    for (i = body; i >= 0; i = sim->link[i].parent)
        md_vec_add(p, p, &MD_TREE(sim)->body_state[i].arm);
}

/* The arm from a body's origin to a point in the body's axes (NULL: the origin).
   MDYN_ERR_STATE, with the body as culprit, for a point out of range. */
MD_STATIC int md_point_arm(mdyn_sim *sim, int body, const mdyn_real3 *point, md_vec *arm)
{
    md_mat Q;
    md_vec p;
    md_vec_zero(arm);
    if (!point) return MDYN_OK;
    if (!md_in_range(point->x) || !md_in_range(point->y) || !md_in_range(point->z))
        return md_blame(sim, MDYN_ERR_STATE, body);

    /* arm = R Q^T point: md_joint_frame's Q leads from the frame used inside to the body's */
    md_joint_frame(sim, body, &Q);
    md_vec_of_real(&p, point);
    md_mat_t_vec(&p, &Q, &p);
    md_mat_vec(arm, &MD_TREE(sim)->body_state[body].rotation, &p);
    return MDYN_OK;
}

/* m := the motion of body i while its own joint stands still: that of its parent (NULL: the world)
   at the origin of i, (ang, lin + ang x r). For velocities and accelerations alike: the outward
   recursions add their joint's part to it. */
MD_INLINE void md_carry_motion(const mdyn_sim *sim, int i, const md_motion *parent, md_motion *m)
{
    md_vec_zero(&m->ang);
    md_vec_zero(&m->lin);
    if (parent) {
        *m = *parent;
        md_vec_add_cross(&m->lin, &m->ang, &MD_TREE(sim)->body_state[i].arm);
    }
}

/* sim->shared.body.motion := the velocities of all bodies, at their origins, by the present v. The
   poses are those of the last refresh: in a step those that its rows were set up with. */
MD_STATIC void md_find_body_velocities(mdyn_sim *sim)
{
    int i, k;
    for (i = 0; i < sim->bodies; i++) {
        const md_link *link = &sim->link[i];
        md_motion *motion = MD_WORK(sim)->body.motion, *m = &motion[i];
        md_carry_motion(sim, i, link->parent < 0 ? NULL : &motion[link->parent], m);
        for (k = link->dof; k < link->dof + link->dofs; k++)
            md_dof_add_motion(m, md_of_real(sim->v[k]), &sim->dof[k]);
    }
}

/* R = the rotation from the axes of a body (as the user knows them) to those of the world. */
MD_STATIC void md_body_rotation(const mdyn_sim *sim, int body, md_mat *R)
{
    md_mat Q;
    md_joint_frame(sim, body, &Q);
    md_mat_transpose(&Q, &Q);
    if (body < 0) *R = Q;
    else md_mat_mul(R, &MD_TREE(sim)->body_state[body].rotation, &Q);
}

/* ============================================================================ // >>dynamics
   Mass matrix, bias force, inverse and forward dynamics, without any constraint:
      M(q) v' + C(q, v) = tau.     C has Coriolis, centrifugal and gravity forces, and the external
                                   wrenches with the opposite sign.

   Given:   poses and accelerations of >>kinematics, joint forces tau, external wrenches, armature
            and damping of the model.
   Gives:   M; the bias force C by recursive Newton-Euler (RNEA); inverse dynamics
            tau = M a + C, and what joints lose; forward dynamics M^-1 (tau - C).
   Writes:  sim->mass; inverse_diagonal, scale in sim->dof (md_aba_factor); subtree, shared.body,
            has_wrench, factored, has_constant_mass, joint_force and dv; omega of the bodies
            (md_rnea_outward).
   Error:   MDYN_ERR_SINGULAR of forward dynamics, with the DoF as culprit: it moves no inertia.

   M by composite bodies (CRBA; Featherstone 2008, table 6.2): with I_c the inertia of a body and
   of all that it carries,
      M_kj = S_j^T I_c S_k     for the DoF j on the path from k to the root; other M_kj are 0.
   It is stored by rows: row k has a number for k and each of its ancestors, so a forest of short
   trees costs little. Cost: O(b + n d) for b bodies, n DoF and depth d.

   Damping is -D (theta v' + (1 - theta) v): M_kk contains dt theta D, the force the rest.

   Forward dynamics goes by articulated bodies (ABA, table 7.1): its cost is linear in the depth of
   the tree, and its rounding on long chains is smaller. Its inward half is the same as L^-T of the
   factor M = L^T L, its outward half as L^-1 (Rodriguez, Jain and Kreutz-Delgado 1991), so >>reduce
   keeps L of deep trees in this form.

   Momenta. A floating tree has a free root and further bodies. Its momentum changes by external
   impulses only, so a midpoint step computes it apart from v: about the mass center,
      L' = L + sum of moments dt,    p' = p + sum of forces dt,    travel = dt (p + p')/(2 m)
   and sets the root's velocity and position to agree with them after v and q have moved. */

/* ---- wrenches and columns S of the joints ---- */

/* All are taken at the origin of the DoF's body, in world axes: a wrench is (moment n, force f), a
   motion (angular w, linear u of the origin). Inertias map motions to wrenches:
      composite     n = I w + h x u,  f = m u + w x h
      articulated   n = A w + B u,    f = B^T w + M u          (angular, cross, linear)
   and a helical column is an angular one plus pitch times a linear one. */

/* S^T f: the generalized force on DoF d by a wrench at its body's origin. */
MD_INLINE md_num md_dof_dot_force(const md_dof *d, const md_force *f)
{
    const md_column *S = MD_COLUMN(d);
    if (md_dof_is_linear(d)) return md_dot(&S->axis, &f->lin);
    if (!md_dof_is_helical(d)) return md_dot(&S->axis, &f->ang);
    return md_add(md_dot(&S->axis, &f->ang), md_mul(S->pitch, md_dot(&S->axis, &f->lin)));
}

/* f = I (0, axis) of a composite body. */
MD_INLINE void md_composite_linear_force(md_force *f, const md_composite *in, const md_vec *axis)
{
    md_vec_scale(&f->lin, in->mass, axis);
    md_cross(&f->ang, &in->first_moment, axis);
}

/* f = I S of a composite body. */
MD_INLINE void md_dof_composite_force(md_force *f, const md_composite *in, const md_dof *d)
{
    if (md_dof_is_linear(d)) {
        md_composite_linear_force(f, in, &MD_COLUMN(d)->axis);
        return;
    }
    md_sym_vec(&f->ang, &in->second_moment, &MD_COLUMN(d)->axis);
    md_cross(&f->lin, &MD_COLUMN(d)->axis, &in->first_moment);
    if (md_dof_is_helical(d)) {
        md_force g;
        md_composite_linear_force(&g, in, &MD_COLUMN(d)->axis);
        md_force_add_scaled(f, MD_COLUMN(d)->pitch, &g);
    }
}

/* f = I (0, axis) of an articulated body. */
MD_INLINE void md_articulated_linear_force(md_force *f, const md_articulated *in,
                                           const md_vec *axis)
{
    md_mat_vec(&f->ang, &in->cross, axis);
    md_sym_vec(&f->lin, &in->linear, axis);
}

/* f = I S of an articulated body. */
MD_INLINE void md_dof_articulated_force(md_force *f, const md_articulated *in, const md_dof *d)
{
    if (md_dof_is_linear(d)) {
        md_articulated_linear_force(f, in, &MD_COLUMN(d)->axis);
        return;
    }
    md_sym_vec(&f->ang, &in->angular, &MD_COLUMN(d)->axis);
    md_mat_t_vec(&f->lin, &in->cross, &MD_COLUMN(d)->axis);
    if (md_dof_is_helical(d)) {
        md_force g;
        md_articulated_linear_force(&g, in, &MD_COLUMN(d)->axis);
        md_force_add_scaled(f, MD_COLUMN(d)->pitch, &g);
    }
}

/* ---- mass matrix ---- */

/* Of which matrix L is the factor: none, M, M + theta dt damping. */
enum { MD_FACTOR_NONE, MD_FACTOR_OF_M, MD_FACTOR_OF_STEP };

/* What is added to the bodies' inertia in M_kk: armature + theta dt damping. */
MD_INLINE md_num md_added_inertia(const mdyn_sim *sim, int k, md_num dt)
{
    const md_joint_values *b = &sim->joint_values[md_body_of(sim, k)];
    md_num damping;
    if (md_wide_is_zero(b->damping)) return md_of_wide(b->armature);
    damping = md_mul(md_mul(dt, sim->damping_theta[k]), md_of_wide(b->damping));
    return md_add(md_of_wide(b->armature), damping);
}

/* sim->subtree := I_c of each moving body, itself with all that it carries, at its origin. */
MD_STATIC void md_composite_inertias(mdyn_sim *sim)
{
    const int no_rotors = md_leaves_out_rotors(sim);
    int i;
    for (i = 0; i < sim->bodies; i++) {
        md_composite *in = &MD_TREE(sim)->subtree[i].composite;
        if (md_is_welded(&sim->link[i])) continue;
        if (no_rotors && MD_BODY(&sim->link[i])->is_rotor) continue;
        in->mass = MD_BODY(&sim->link[i])->mass;
        in->first_moment = MD_TREE(sim)->body_state[i].first_moment;
        in->second_moment = MD_TREE(sim)->body_state[i].inertia;
    }

    /* inwards: each subtree is added to that of its parent */
    for (i = sim->bodies - 1; i >= 0; i--)
        if (sim->link[i].parent >= 0 && !md_is_welded(&sim->link[i]))
            md_composite_add_shifted(&MD_TREE(sim)->subtree[sim->link[i].parent].composite,
                                     &MD_TREE(sim)->subtree[i].composite,
                                     &MD_TREE(sim)->body_state[i].arm);
}

/* The same for rotors that no tree carries: M is diagonal. */
MD_INLINE void md_find_rotor_masses(mdyn_sim *sim, md_num dt)
{
    int k;
    for (k = 0; k < sim->dofs; k++) sim->mass[k] = md_added_inertia(sim, k, dt);
}

/* sim->mass := M + dt damping: row k from sim->M_first[k] on, its diagonal first, then those of the
   ancestors of k from the nearest to the root. */
MD_STATIC void md_crba(mdyn_sim *sim, md_num dt)
{
    int i, j, k;
    sim->factored = MD_FACTOR_NONE;
    sim->has_constant_mass = 1;
    if (!MIMICDYN_TREE) {
        md_find_rotor_masses(sim, dt);
        return;
    }
    md_composite_inertias(sim);
    for (k = 0; k < sim->dofs; k++) {
        const md_dof *d = &sim->dof[k];
        md_num *row = sim->mass + sim->M_first[k];
        md_force f;
        i = d->body;
        if (MD_BODY(&sim->link[i])->is_rotor) {
            const md_body_part *rotor = MD_BODY(&sim->link[i]);
            const md_num inertia = md_sym_diagonal(&rotor->inertia, rotor->axis);
            *row = md_add(inertia, md_added_inertia(sim, k, dt));
            continue;
        }
        sim->has_constant_mass = 0;

        /* f = I_c S_k, M_kk = S_k^T f + armature + dt damping */
        md_dof_composite_force(&f, &MD_TREE(sim)->subtree[i].composite, d);
        *row = md_add(md_dof_dot_force(d, &f), md_added_inertia(sim, k, dt));

        /* M_kj = S_j^T f, f shifted to the origin of j's body, which is the last DoF's body or its
           parent; the force does not change */
        for (j = md_parent_dof(sim, k); j >= 0; j = md_parent_dof(sim, j)) {
            d = &sim->dof[j];
            MD_OPAQUE(d); /* or gcc finds its place anew for each use */
            if (i != d->body)
                md_vec_add_cross(&f.ang, &MD_TREE(sim)->body_state[i].arm, &f.lin);
            i = d->body;
            *++row = md_dof_dot_force(d, &f);
        }
    }
}

/* ---- wrenches to joint forces: the inward half of RNEA ---- */

/* Whether any external wrench is not 0. */
MD_INLINE int md_has_wrench(const mdyn_sim *sim) { return MIMICDYN_TREE && sim->has_wrench; }

MD_INLINE int md_wrench_is_zero(const mdyn_wrench *w)
{
    return (md_bits_of(w->moment.x) | md_bits_of(w->moment.y) | md_bits_of(w->moment.z)
            | md_bits_of(w->force.x) | md_bits_of(w->force.y) | md_bits_of(w->force.z)) == 0;
}

/* sim->shared.body.wrench := 0 */
MD_STATIC void md_clear_wrenches(mdyn_sim *sim)
{
    int i;
    for (i = 0; i < sim->bodies; i++) {
        md_vec_zero(&MD_WORK(sim)->body.wrench[i].ang);
        md_vec_zero(&MD_WORK(sim)->body.wrench[i].lin);
    }
}

/* sim->shared.body.wrench -= the external wrenches. */
MD_STATIC void md_subtract_wrenches(mdyn_sim *sim)
{
    int i;
    for (i = 0; i < sim->bodies && sim->has_wrench; i++) {
        const mdyn_wrench *external = &MD_WRENCHES(sim)[i];
        md_force *f = &MD_WORK(sim)->body.wrench[i];
        md_vec t;
        if (md_wrench_is_zero(external)) continue;
        md_vec_of_real(&t, &external->moment);
        md_vec_sub(&f->ang, &f->ang, &t);
        md_vec_of_real(&t, &external->force);
        md_vec_sub(&f->lin, &f->lin, &t);
    }
}

/* sim->shared.body.wrench := the bias wrenches, which the accelerations of >>kinematics take by
   Newton and Euler, less the external ones:
      f = m a + B h,     n = I alpha + omega x I omega + h x a
   Rotors have no bias force, and that of a welded body is part of its parent's. In a midpoint
   step a = -g for a single body, and md_drift_single_body contains the rest of its bias. */
MD_OWN_FRAME void md_bias_wrenches(mdyn_sim *sim)
{
    const int turns = sim->kinematics_stale == MD_KINEMATICS_OF_STEP;
    int i;
    if (md_leaves_out_bodies(sim) && !md_has_wrench(sim)) return;
    for (i = 0; i < sim->bodies; i++) {
        const md_link *link = &sim->link[i];
        const md_body_state *p = &MD_TREE(sim)->body_state[i];
        md_force *f = &MD_WORK(sim)->body.wrench[i];
        md_vec t, n;
        if (MD_BODY(link)->is_rotor || md_is_welded(link)) {
            md_vec_zero(&f->ang);
            md_vec_zero(&f->lin);
            continue;
        }

        /* of a single body, then of any other */
        md_vec_scale(&t, MD_BODY(link)->mass, &p->acc);
        if (turns && MD_BODY(link)->is_single) {
            f->lin = t;
            md_cross(&f->ang, &p->first_moment, &p->acc);
            continue;
        }
        md_mat_vec_add(&f->lin, &t, &p->rates, &p->first_moment);
        md_sym_vec(&t, &p->inertia, &p->omega);
        md_sym_vec(&n, &p->inertia, &p->alpha);
        md_cross_add(&n, &n, &p->omega, &t);
        md_cross_add(&f->ang, &n, &p->first_moment, &p->acc);
    }
    md_subtract_wrenches(sim);
}

/* From the leaves to the roots, in place in sim->shared.body.wrench:
      b_k -= S_k^T f,     f_p += f shifted to the parent's origin */
MD_STATIC void md_rnea_backward(mdyn_sim *sim, md_num *b)
{
    int i, k = sim->dofs;
    if (md_leaves_out_bodies(sim) && !md_has_wrench(sim)) return;
    for (i = sim->bodies - 1; i >= 0; i--) {
        const md_link *link = &sim->link[i];
        const md_force *f = &MD_WORK(sim)->body.wrench[i];
        while (--k >= link->dof)
            b[k] = md_sub(b[k], md_dof_dot_force(&sim->dof[k], f));
        k++;
        if (link->parent >= 0)
            md_force_add_shifted(&MD_WORK(sim)->body.wrench[link->parent], f,
                                 &MD_TREE(sim)->body_state[i].arm);
    }
}

/* ---- articulated bodies: M = L^T L by six numbers a DoF ---- */

/* The rounding of S^T I_A S: that of the elements of I_A that it is made of. */
MD_STATIC md_num md_aba_rounding(const md_articulated *in, const md_dof *d)
{
    const md_sym *inertia = d->kind == MD_LINEAR ? &in->linear : &in->angular;
    const md_num trace = md_add(md_add(md_sym_diagonal(inertia, 0), md_sym_diagonal(inertia, 1)),
                                md_sym_diagonal(inertia, 2));
    return md_add(md_mul(MD_K(MD_EPSILON), trace), MD_K(1e-30));
}

/* L_kk = sqrt(D) and W = U/sqrt(D) of DoF k. */
MD_INLINE void md_aba_set_column(mdyn_sim *sim, int k, md_num D, const md_force *U, md_force *W)
{
    const md_num inverse = md_rsqrt(D);
    sim->inverse_diagonal[k] = md_ldexp(inverse, md_set_dof_scale(&sim->dof[k], D));
    md_vec_scale(&W->ang, inverse, &U->ang);
    md_vec_scale(&W->lin, inverse, &U->lin);
}

/* 1/sqrt(D) of a DoF. */
MD_INLINE md_num md_aba_inverse(const mdyn_sim *sim, int k)
{
    return md_ldexp(sim->inverse_diagonal[k], -md_dof_scale(&sim->dof[k]));
}

/* A rotor is a tree of its own, and a step has no kinematics of it: D is its inertia about the axis
   and what the joint adds; W acts on nothing, so it is 0. */
MD_STATIC int md_aba_factor_rotor(mdyn_sim *sim, const md_link *link, md_num dt, md_force *W)
{
    const md_num inertia = md_sym_diagonal(&MD_BODY(link)->inertia, MD_BODY(link)->axis);
    const md_num D = md_add(inertia, md_added_inertia(sim, link->dof, dt));
    md_force none;
    md_vec_zero(&none.ang);
    md_vec_zero(&none.lin);
    if (!md_less(MD_K(1e-30), D)) return md_blame(sim, MDYN_ERR_SINGULAR, link->dof);
    md_aba_set_column(sim, link->dof, D, &none, W);
    return MDYN_OK;
}

/* sim->dv[k] := z = (b_k - S^T p)/sqrt(D), p += W z, for the wrench p of its body. */
MD_INLINE void md_aba_inward_dof(mdyn_sim *sim, int k, const md_num *b, const md_force *W,
                                 md_force *p)
{
    const md_num rest = md_sub(b[k], md_dof_dot_force(&sim->dof[k], p));
    sim->dv[k] = md_mul(md_aba_inverse(sim, k), rest);
    md_force_add_scaled(p, sim->dv[k], W);
}

/* From the leaves to the roots, with the articulated inertia I_A of each body, which is then added
   to its parent's:
      D = S^T I_A S + armature + dt damping,   W = I_A S / sqrt(D),   I_A -= W W^T
   sqrt(D) is L_kk, and S_j^T W shifted to the ancestor j is L_kj. With b, unless NULL, does on the
   way what md_aba_inward does, for the wrenches in sim->shared.body.wrench, the place of aba.p.
   MDYN_ERR_SINGULAR if D is not above the rounding of I_A. */
MD_STATIC int md_aba_factor(mdyn_sim *sim, md_num dt, md_force *W, const md_num *b)
{
    int i, k;
    sim->factored = MD_FACTOR_NONE;

    /* I_A of each body alone */
    for (i = 0; i < sim->bodies; i++)
        if (!md_is_welded(&sim->link[i]) && !MD_BODY(&sim->link[i])->is_rotor)
            md_articulated_of_body(&MD_TREE(sim)->subtree[i].articulated,
                                   MD_BODY(&sim->link[i])->mass,
                                   &MD_TREE(sim)->body_state[i].first_moment,
                                   &MD_TREE(sim)->body_state[i].inertia);

    for (i = sim->bodies - 1; i >= 0; i--) {
        const md_link *link = &sim->link[i];
        md_articulated *in = &MD_TREE(sim)->subtree[i].articulated;
        md_force *p = &MD_WORK(sim)->aba.p[i];
        if (MD_BODY(link)->is_rotor) {
            k = link->dof;
            if (md_aba_factor_rotor(sim, link, dt, &W[k]) != MDYN_OK) return MDYN_ERR_SINGULAR;
            if (b) md_aba_inward_dof(sim, k, b, &W[k], p);
            continue;
        }

        for (k = link->dof + link->dofs - 1; k >= link->dof; k--) {
            const md_dof *d = &sim->dof[k];
            md_force U; /* I_A S */
            md_num D;
            md_dof_articulated_force(&U, in, d);
            D = md_add(md_dof_dot_force(d, &U), md_added_inertia(sim, k, dt));
            if (!md_less(md_aba_rounding(in, d), D)) return md_blame(sim, MDYN_ERR_SINGULAR, k);
            md_aba_set_column(sim, k, D, &U, &W[k]);
            if (b) md_aba_inward_dof(sim, k, b, &W[k], p);

            /* a root passes nothing on: its first DoF need not update I_A */
            if (link->parent < 0 && k == link->dof) continue;
            md_articulated_sub_square(in, &W[k]);
        }

        /* a welded body hands on the external wrench, its inertia is the parent's already */
        if (link->parent < 0) continue;
        if (!md_is_welded(link))
            md_articulated_add_shifted(&MD_TREE(sim)->subtree[link->parent].articulated, in,
                                       &MD_TREE(sim)->body_state[i].arm);
        if (b) md_force_add_shifted(&MD_WORK(sim)->aba.p[link->parent], p,
                                    &MD_TREE(sim)->body_state[i].arm);
    }
    return MDYN_OK;
}

/* sim->dv := L^-T b from the leaves to the roots, with the wrench p of each body, which is then
   added to its parent's:
      z = (b - S^T p) / sqrt(D),    p += W z */
MD_STATIC void md_aba_inward(mdyn_sim *sim, const md_force *W, const md_num *b)
{
    int i, k = sim->dofs;
    for (i = 0; i < sim->bodies; i++) {
        if (md_is_welded(&sim->link[i])) continue;
        md_vec_zero(&MD_TREE(sim)->subtree[i].wrench.ang);
        md_vec_zero(&MD_TREE(sim)->subtree[i].wrench.lin);
    }
    for (i = sim->bodies - 1; i >= 0; i--) {
        const md_link *link = &sim->link[i];
        md_force *p = &MD_TREE(sim)->subtree[i].wrench;
        if (md_is_welded(link)) continue;
        while (--k >= link->dof) md_aba_inward_dof(sim, k, b, &W[k], p);
        k++;
        if (link->parent >= 0)
            md_force_add_shifted(&MD_TREE(sim)->subtree[link->parent].wrench, p,
                                 &MD_TREE(sim)->body_state[i].arm);
    }
}

/* sim->dv := L^-1 sim->dv from the roots to the leaves, with the acceleration a of each body less
   its bias acceleration:
      v'_k = (z_k - W^T a) / sqrt(D),     a += S v'_k */
MD_STATIC void md_aba_outward(mdyn_sim *sim, const md_force *W)
{
    int i, k;
    for (i = 0; i < sim->bodies; i++) {
        const md_link *link = &sim->link[i];
        md_motion *a = &MD_TREE(sim)->subtree[i].motion;
        if (md_is_welded(link)) continue; /* sim->subtree has something else of it */
        md_carry_motion(sim, i,
                        link->parent < 0 ? NULL : &MD_TREE(sim)->subtree[link->parent].motion, a);
        for (k = link->dof; k < link->dof + link->dofs; k++) {
            const md_dof *d = &sim->dof[k];
            md_num t = md_add(md_dot(&W[k].ang, &a->ang), md_dot(&W[k].lin, &a->lin));
            sim->dv[k] = md_mul(md_aba_inverse(sim, k), md_sub(sim->dv[k], t));
            md_dof_add_motion(a, sim->dv[k], d);
        }
    }
}

/* sim->dv := M^-1 b, for the wrenches in sim->shared.body.wrench. */
MD_STATIC int md_aba_solve(mdyn_sim *sim, const md_num *b)
{
    int code, k;
    if (!MIMICDYN_TREE) { /* no DoF acts on another */
        for (k = 0; k < sim->dofs; k++)
            sim->dv[k] = md_div(b[k], md_added_inertia(sim, k, MD_K(0)));
        return MDYN_OK;
    }
    code = md_aba_factor(sim, MD_K(0), MD_WORK(sim)->aba.W, b);
    if (code == MDYN_OK) md_aba_outward(sim, MD_WORK(sim)->aba.W);
    return code;
}

/* ---- queries without constraints ---- */

/* MDYN_ERR_STATE for a tau or an external wrench out of range; the culprit is the DoF, the body.
   Notes in sim->has_wrench whether any external wrench is not 0. */
MD_OWN_FRAME int md_check_inputs(mdyn_sim *sim)
{
    int code = md_check_numbers(sim, sim->tau, sim->dofs);
    int i;
    if (!MIMICDYN_TREE) return code;
    sim->has_wrench = 0;
    for (i = 0; i < sim->bodies && code == MDYN_OK; i++) {
        if (md_wrench_is_zero(&MD_WRENCHES(sim)[i])) continue;
        if (md_check_numbers(sim, &MD_WRENCHES(sim)[i].moment.x, 6) != MDYN_OK)
            return md_blame(sim, MDYN_ERR_STATE, i);
        sim->has_wrench = 1;
    }
    return code;
}

/* sim->dv := M^-1 (tau - C), by articulated bodies. */
MD_STATIC int md_find_free_accelerations(mdyn_sim *sim)
{
    int code = md_check_inputs(sim);
    if (code == MDYN_OK) code = md_refresh_kinematics(sim);
    if (code != MDYN_OK) return code;
    md_copy_in(sim->joint_force, sim->tau, sim->dofs);
    md_bias_wrenches(sim);
    return md_aba_solve(sim, sim->joint_force);
}

/* f := the wrench that gives a link in the pose *p its acceleration m, with B of its rates:
      f = m a + B h,  n = R (I alpha + omega x I omega) + h x a */
MD_INLINE void md_motion_wrench(md_force *f, const md_link *link, const md_body_state *p,
                                const md_motion *m, const md_mat *B)
{
    md_vec h, w, t;
    md_mat_vec(&h, &p->rotation, &MD_BODY(link)->first_moment);
    md_vec_scale(&t, MD_BODY(link)->mass, &m->lin);
    md_mat_vec_add(&f->lin, &t, B, &h);
    md_mat_t_vec(&w, &p->rotation, &m->ang);
    md_sym_vec(&f->ang, &MD_BODY(link)->inertia, &w);
    md_mat_t_vec(&w, &p->rotation, &p->omega);
    md_sym_vec(&t, &MD_BODY(link)->inertia, &w);
    md_cross_add(&t, &f->ang, &w, &t);
    md_mat_vec(&f->ang, &p->rotation, &t);
    md_vec_add_cross(&f->ang, &h, &m->lin);
}

/* sim->shared.body.wrench := the wrench that gives each body its motion under the joint
   accelerations a (NULL: 0), by the equations of >>kinematics with S a added to alpha and a. The
   inertia stays in the axes of its link; omega and alpha are rotated into them. Writes omega of the
   bodies, shared.body.motion := alpha and a, and as scratch sim->subtree (B). Welded bodies are
   part of their parents. */
MD_OWN_FRAME void md_rnea_outward(mdyn_sim *sim, const md_num *a)
{
    const mdyn_wide3 *g = &sim->gravity;
    md_vec up; /* -g */
    int i;
    md_vec_set(&up, md_neg(md_of_wide(g->x)), md_neg(md_of_wide(g->y)), md_neg(md_of_wide(g->z)));

    for (i = 0; i < sim->bodies; i++) {
        const md_link *link = &sim->link[i];
        const int parent = link->parent;
        md_body_state *p = &MD_TREE(sim)->body_state[i];
        md_motion *m = &MD_WORK(sim)->body.motion[i], joint;
        md_force *f = &MD_WORK(sim)->body.wrench[i];
        md_mat *B = &MD_TREE(sim)->subtree[i].articulated.cross;
        md_vec t;
        if (md_is_welded(link)) {
            md_vec_zero(&f->ang);
            md_vec_zero(&f->lin);
            continue;
        }

        /* omega, alpha, a */
        md_joint_velocity(sim, link, &joint);
        if (parent < 0) {
            p->omega = joint.ang;
            md_vec_zero(&m->ang);
            m->lin = up;
        } else {
            const md_vec *omega = &MD_TREE(sim)->body_state[parent].omega;
            md_vec_add(&p->omega, omega, &joint.ang);
            md_cross_add(&m->ang, &MD_WORK(sim)->body.motion[parent].ang, omega, &joint.ang);
            md_mat_vec_add(&m->lin, &MD_WORK(sim)->body.motion[parent].lin,
                           &MD_TREE(sim)->subtree[parent].articulated.cross, &p->arm);
        }
        if ((MD_HAS(SLIDER) || MD_HAS(SCREW)) && link->joint != MDYN_REVOLUTE) {
            t = p->omega;
            if (parent >= 0) md_vec_add(&t, &MD_TREE(sim)->body_state[parent].omega, &t);
            md_vec_add_cross(&m->lin, &t, &joint.lin);
        }
        if (a) md_add_joint_motion(sim, link, a, m);

        md_mat_of_rates(B, &p->omega, &m->ang);
        md_motion_wrench(f, link, p, m, B);
    }
}

/* Inverse dynamics: sim->dv := tau = M a + C for joint accelerations a (NULL: 0), external wrenches
   included in C. After md_check_state. */
MD_STATIC void md_find_rnea_forces(mdyn_sim *sim, const md_num *a)
{
    int k;

    /* poses may be up to date; velocities and accelerations are found here, for a changes them */
    md_find_poses(sim);
    md_copy_in(MD_TREE(sim)->bias_velocity, sim->v, sim->dofs);
    md_rnea_outward(sim, a);
    md_subtract_wrenches(sim);

    /* md_rnea_backward subtracts: tau = armature a - (-S^T f) */
    for (k = 0; k < sim->dofs; k++) sim->dv[k] = MD_K(0);
    md_rnea_backward(sim, sim->dv);
    for (k = 0; k < sim->dofs; k++) {
        const md_num own = !a ? MD_K(0) : md_mul(a[k], md_added_inertia(sim, k, MD_K(0)));
        sim->dv[k] = md_sub(own, sim->dv[k]);
    }
}

/* sim->dv += damping v + friction sign(v), with the sign of a where v is 0: adds the losses of the
   joints to the forces of md_find_rnea_forces. */
MD_STATIC void md_add_joint_losses(mdyn_sim *sim, const md_num *a)
{
    int k;
    for (k = 0; k < sim->dofs; k++) {
        const md_joint_values *b = md_values_of_dof(sim, k);
        const md_num v = md_of_real(sim->v[k]);
        const md_num way = md_is_zero(v) ? a[k] : v;
        md_num loss = md_mul(md_of_wide(b->damping), v);
        if (md_less(MD_K(0), way)) loss = md_add(loss, md_of_wide(b->friction));
        if (md_less(way, MD_K(0))) loss = md_sub(loss, md_of_wide(b->friction));
        sim->dv[k] = md_add(sim->dv[k], loss);
    }
}

/* sim->dv := M^-1 e_i, the response to a unit impulse on DoF i, by articulated bodies. */
MD_STATIC int md_find_unit_response(mdyn_sim *sim, int i)
{
    int k;
    for (k = 0; k < sim->dofs; k++) sim->joint_force[k] = k == i ? MD_K(1) : MD_K(0);
    md_clear_wrenches(sim);
    return md_aba_solve(sim, sim->joint_force);
}

/* Whether a body is the root of a tree whose momentum the step keeps. */
MD_INLINE int md_is_floating_root(const mdyn_sim *sim, int i)
{
    const md_link *link = &sim->link[i];
    return link->joint == MDYN_FREE && link->parent < 0 && !MD_BODY(link)->is_single;
}

/* The momentum of the tree of free root i. Two free joints are at least six DoF apart. */
MD_INLINE md_momentum *md_momentum_of(mdyn_sim *sim, int i)
{
    return &MD_MOMENTA(sim)->momentum[md_dof_of(sim, i) / 6];
}

/* Into sim->shared.body.wrench: momentum of each body with all that it carries, about its origin.
   Needs poses; leaves composite inertias in sim->subtree. */
MD_OWN_FRAME void md_find_momenta(mdyn_sim *sim)
{
    md_force *momentum = MD_WORK(sim)->body.wrench;
    int i;
    md_find_body_velocities(sim);
    md_composite_inertias(sim);

    /* p = m v + omega x h, L = I omega + h x v */
    for (i = 0; i < sim->bodies; i++) {
        const md_body_state *p = &MD_TREE(sim)->body_state[i];
        const md_motion *m = &MD_WORK(sim)->body.motion[i];
        md_force *f = &momentum[i];
        if (md_is_welded(&sim->link[i])) continue;
        md_vec_scale(&f->lin, MD_BODY(&sim->link[i])->mass, &m->lin);
        md_vec_add_cross(&f->lin, &m->ang, &p->first_moment);
        md_sym_vec(&f->ang, &p->inertia, &m->ang);
        md_vec_add_cross(&f->ang, &p->first_moment, &m->lin);
    }

    /* inwards, shifted to the origin of the parent */
    for (i = sim->bodies - 1; i >= 0; i--)
        if (sim->link[i].parent >= 0 && !md_is_welded(&sim->link[i]))
            md_force_add_shifted(&momentum[sim->link[i].parent], &momentum[i],
                                 &MD_TREE(sim)->body_state[i].arm);
}

/* From the origin of a root to the mass center of its tree, by the composite inertia. */
MD_INLINE void md_tree_com(const mdyn_sim *sim, int i, md_vec *com)
{
    const md_composite *in = &MD_TREE(sim)->subtree[i].composite;
    md_vec_scale(com, md_div(MD_K(1), in->mass), &in->first_moment);
}

/* Moves the reference of a wrench or momentum by `arm`. */
MD_INLINE void md_force_to_point(md_force *f, const md_vec *arm)
{
    md_vec t;
    md_cross(&t, arm, &f->lin);
    md_vec_sub(&f->ang, &f->ang, &t);
}

/* sim->momentum of the tree of root i, about its mass center, from md_find_momenta. */
MD_OWN_FRAME void md_store_momentum(mdyn_sim *sim, int i)
{
    md_momentum *p = md_momentum_of(sim, i);
    md_force f = MD_WORK(sim)->body.wrench[i];
    md_vec com;
    int k;
    md_tree_com(sim, i, &com);
    md_force_to_point(&f, &com);
    p->com = com;
    for (k = 0; k < 3; k++) {
        p->ang[k] = md_vec_get(&f.ang, k);
        p->lin[k] = md_vec_get(&f.lin, k);
    }
}

/* Moves root i such that the mass center of its tree has moved by its travel since q_seen. */
MD_OWN_FRAME void md_set_root_position(mdyn_sim *sim, int i)
{
    md_momentum *p = md_momentum_of(sim, i);
    const int c = md_coordinate_of(sim, i);
    md_vec com, travel;
    int k;

    /* R (q' - q) = path of the mass center + its old arm from the root - its new arm */
    md_tree_com(sim, i, &com);
    md_vec_sub(&com, &p->com, &com);
    md_vec_set(&travel, p->travel[0], p->travel[1], p->travel[2]);
    md_vec_add(&travel, &travel, &com);
    md_mat_t_vec(&travel, &MD_BODY(&sim->link[i])->rotation, &travel);

    /* q may have moved already: only the difference is added, to all digits */
    for (k = 0; k < 3; k++) {
        md_sum moved;
        md_sum_set_real(&moved, sim->q[c + k], sim->q_tail[c + k]);
        md_sum_add_product(&moved, MDYN_C(-1), sim->q_seen[c + k], sim->q_tail_start[c + k]);
        md_accumulate(&sim->q[c + k], &sim->q_tail[c + k],
                      md_sub(md_vec_get(&travel, k), md_sum_to_num(&moved)));
    }
}

/* Sets the velocity of root i such that its tree has the momentum of md_momentum_of. */
MD_OWN_FRAME void md_set_root_velocity(mdyn_sim *sim, int i)
{
    const md_composite *in = &MD_TREE(sim)->subtree[i].composite;
    const md_link *link = &sim->link[i];
    md_momentum *p = md_momentum_of(sim, i);
    md_force f = MD_WORK(sim)->body.wrench[i];
    md_num deficit[3], A[3][3], w[3];
    md_vec com, moment, turn, shift;
    int j, k;

    /* L and p of the tree about its mass center; the root makes up for the deficits */
    md_tree_com(sim, i, &com);
    p->com = com;
    md_force_to_point(&f, &com);
    for (k = 0; k < 3; k++) deficit[k] = md_sub(p->ang[k], md_vec_get(&f.ang, k));

    /* I_c w = deficit of L */
    /* column k of the inertia about the mass center */
    for (k = 0; k < 3; k++) {
        md_vec unit, column;
        md_vec_set(&unit, md_of_int(k == 0), md_of_int(k == 1), md_of_int(k == 2));
        md_sym_vec(&column, &in->second_moment, &unit);
        md_cross(&moment, &unit, &com);
        md_vec_scale(&moment, MD_K(-1), &moment);
        md_vec_add_cross(&column, &in->first_moment, &moment);
        for (j = 0; j < 3; j++) A[k][j] = md_vec_get(&column, j);
    }

    md_solve3(w, A, deficit);
    for (k = 0; k < 3; k++)
        deficit[k] = md_div(md_sub(p->lin[k], md_vec_get(&f.lin, k)), in->mass);
    md_vec_set(&turn, w[0], w[1], w[2]);
    md_vec_set(&shift, deficit[0], deficit[1], deficit[2]);
    md_vec_add_cross(&shift, &com, &turn);

    /* u = deficit of p / m + com x w; the root's columns are orthonormal */
    for (k = 0; k < 6; k++) {
        md_num d = md_dot(&MD_COLUMN(&sim->dof[link->dof + k])->axis, k < 3 ? &turn : &shift);
        md_accumulate(&sim->v[link->dof + k], &sim->v_tail[link->dof + k], d);
    }
}

/* ============================================================================== // >>curves
   Nonlinear terms of couplings: value, slope and curvature of f(q).

   Given    the curves of the model, q with its tails, v.
   Gives    C of a coupling with curves; the slopes by which its coefficients become those of J;
            its J' v; the places where a slope vanishes.
   Writes   md_curves.
   Error    MDYN_ERR_NOT_FINITE (index: coupling) where a value, slope or curvature is NaN or out of
            range.

      C = sum of c_i f_i(q_i) + offset,    J_i = c_i f_i'(q_i),    J' v = sum of c_i f_i'' v_i^2
   Polynomial, with x = q - reference, by Horner's rule:
      f = a_0 + x (a_1 + x (a_2 + x (a_3 + x a_4)))
   Spline between the knots k and k + 1, with x = q - q_k, h = q_k+1 - q_k, m = f'' at the knots:
      f = f_k + x (s + x (m_k/2 + x (m_k+1 - m_k)/(6 h))),
      s = (f_k+1 - f_k)/h - h (2 m_k + m_k+1)/6
   f'' is continuous where the m are those of mdyn_fill_spline, which makes f' continuous and f'' 0
   at the ends (natural cubic spline):
      h_k-1 m_k-1 + 2 (h_k-1 + h_k) m_k + h_k m_k+1
         = 6 ((f_k+1 - f_k)/h_k - (f_k - f_k-1)/h_k-1)
   Values are kept with a tail, so that C has the digits of q.

   When they are found. md_update_curves puts the slopes of all curves into md_curves at the begin
   of each solve (md_prepare_rows): in a step at its middle, where M and J are taken, so that
   md_find_row_terms gives the same J to all parts of the solve although q moves on. C is found
   anew wherever it is asked for, at the q of that time. J' v takes the velocity of the bias force,
   which the second solve of a step improves (>>step).

   What J' v is for. At the middle of a step J v' = 0 would leave J' v dt/2 of C' at its end, and
   1/2 J' v (dt/2)^2 of C: the mechanism would leave the curve on its tangent and be led back, at
   the cost of energy. The targets take both up (md_curvature_target), as for closures. Without it
   the energy of two rods with q_2 = 2 sin q_1 is wrong by 15 % in 5 s at any dt.

   Whether a row is redundant depends on the pose where slopes change, and a slope of 0 takes its
   joint out of the row: rows with curves are planned in each step, with all their joints. */

/* f, f' and f'' at a place. The sum of value and tail is f with the digits of a coordinate: C is
   the difference of large numbers, and its noise would be taken for an error of position. */
typedef struct md_curve_value {
    mdyn_real value;
    md_tail tail;
    md_num slope, curvature;
} md_curve_value;

/* p->value = base + rest, to all digits of both: the base is a number of a table, the rest what q
   adds to it. Returns 0 where it is not in range. */
MD_STATIC int md_set_curve_value(md_curve_value *p, mdyn_wide base, md_num rest)
{
    p->value = 0;
    p->tail = 0;
    if (!md_stays_in_range(0, md_of_wide(base))) return 0;
    md_accumulate_product(&p->value, &p->tail, base, MDYN_R(1));
    if (!md_stays_in_range(p->value, rest)) return 0;
    md_accumulate(&p->value, &p->tail, rest);
    return 1;
}

/* q - x of a coordinate with its tail, rounded once: near a knot or a reference no digit of q is
   lost. */
MD_STATIC md_num md_place_on_curve(mdyn_real q, md_tail tail, mdyn_wide x)
{
    md_sum s;
    md_sum_set_real(&s, q, tail);
    return md_sum_minus(&s, x);
}

/* A polynomial of the fourth degree. Returns whether the value is in range. */
MD_STATIC int md_evaluate_polynomial(const mdyn_curve *c, mdyn_real q, md_tail tail,
                                     md_curve_value *p)
{
    const md_num x = md_place_on_curve(q, tail, c->reference);
    md_num rest = MD_K(0), slope = MD_K(0), bend = MD_K(0);
    int k;

    /* f - a_0, f' and f'' by Horner's rule, all three in one pass */
    for (k = 4; k > 0; k--) {
        const md_num a = md_of_wide(c->a[k]), ka = md_mul(md_of_int(k), a);
        rest = md_mul(x, md_add(a, rest));
        slope = md_add(ka, md_mul(x, slope));
        if (k > 1) bend = md_add(md_mul(md_of_int(k - 1), ka), md_mul(x, bend));
    }
    p->slope = slope;
    p->curvature = bend;
    return md_set_curve_value(p, c->a[0], rest);
}

/* The knot before q, or the one before the last knot; by bisection, also of a table that does not
   ascend. */
MD_STATIC int md_find_knot(const mdyn_curve *c, mdyn_real q, md_tail tail)
{
    int low = 0, high = c->knot_count - 1;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (md_less(md_place_on_curve(q, tail, c->knots[middle].q), MD_K(0))) high = middle;
        else low = middle;
    }
    return low;
}

/* A cubic spline, and the straight lines beyond its ends. Returns whether the value is in range. */
MD_STATIC int md_evaluate_spline(const mdyn_curve *c, mdyn_real q, md_tail tail,
                                 md_curve_value *p)
{
    const mdyn_knot *a = c->knots + md_find_knot(c, q, tail), *b = a + 1;
    const md_num h = md_sub(md_of_wide(b->q), md_of_wide(a->q));
    const md_num ma = md_of_wide(a->curvature), mb = md_of_wide(b->curvature);
    md_num x = md_place_on_curve(q, tail, a->q), s, third;

    /* slope at the first knot, a sixth of the third derivative */
    s = md_div(md_sub(md_of_wide(b->value), md_of_wide(a->value)), h);
    s = md_sub(s, md_mul(md_mul(h, MD_RATIO(1, 6)), md_add(md_add(ma, ma), mb)));
    third = md_div(md_mul(MD_RATIO(1, 6), md_sub(mb, ma)), h);

    /* beyond an end: the line from there */
    p->curvature = MD_K(0);
    p->slope = s;
    if (md_less(x, MD_K(0))) return md_set_curve_value(p, a->value, md_mul(x, s));
    if (md_less(h, x)) {
        p->slope = md_add(s, md_mul(md_mul(MD_K(0.5), h), md_add(ma, mb)));
        x = md_place_on_curve(q, tail, b->q);
        return md_set_curve_value(p, b->value, md_mul(x, p->slope));
    }

    /* between the knots */
    p->curvature = md_add(ma, md_mul(MD_K(6), md_mul(third, x)));
    p->slope = md_add(s, md_mul(x, md_add(ma, md_mul(MD_K(3), md_mul(third, x)))));
    s = md_add(s, md_mul(x, md_add(md_mul(MD_K(0.5), ma), md_mul(third, x))));
    return md_set_curve_value(p, a->value, md_mul(x, s));
}

/* Whether a function is called between two bounds only. */
MD_INLINE int md_is_bounded(const mdyn_curve *c)
{
    return c->kind == MDYN_CURVE_FUNCTION && !md_wides_are_zero(&c->lower, 2);
}

/* Asks the user's function at q, or at the bound that q is beyond. *rest := the way from there to
   q: what q has beyond its rounding, or beyond the bound. */
MD_STATIC void md_ask_function(const mdyn_curve *c, mdyn_real q, md_tail tail,
                               mdyn_curve_point *given, md_num *rest)
{
    const mdyn_wide *bound = NULL;
    *rest = md_of_tail(tail);
    if (md_is_bounded(c)) {
        if (md_less(md_place_on_curve(q, tail, c->lower), MD_K(0))) bound = &c->lower;
        if (md_less(MD_K(0), md_place_on_curve(q, tail, c->upper))) bound = &c->upper;
    }
    if (bound) {
        *rest = md_place_on_curve(q, tail, *bound);
        q = md_to_real(md_of_wide(*bound));
    }

    /* it need not set what is 0 */
    given->value = 0;
    given->slope = given->curvature = MDYN_C(0);
    c->function(q, given, c->user_data);
    if (bound) given->curvature = MDYN_C(0);
}

/* f, f' and f'' of a curve that is no coupler. Returns 0 if one of them is NaN or out of range; all
   are 0 then, so that nothing that is no number goes on into a solve. What a function of the user's
   gives is looked at the same way as what a polynomial gives far from its reference. */
MD_STATIC int md_find_curve_value(const mdyn_curve *c, mdyn_real q, md_tail tail,
                                md_curve_value *p)
{
    mdyn_curve_point given;
    md_num rest = MD_K(0);
    int ok;
    if (c->kind != MDYN_CURVE_FUNCTION) {
        ok = c->kind == MDYN_CURVE_SPLINE ? md_evaluate_spline(c, q, tail, p)
                                          : md_evaluate_polynomial(c, q, tail, p);
        given.slope = md_to_wide(p->slope);
        given.curvature = md_to_wide(p->curvature);
    } else {
        md_ask_function(c, q, tail, &given, &rest);
        ok = md_in_range(given.value);
        p->value = given.value;
        p->tail = 0;
    }
    ok = ok && md_wide_in_range(given.slope) && md_wide_in_range(given.curvature);

    /* a function sees q without its tail, and not beyond its bounds: f' brings the rest in, of a
       tail to second order in what is below the rounding of q */
    p->slope = ok ? md_of_wide(given.slope) : MD_K(0);
    p->curvature = ok ? md_of_wide(given.curvature) : MD_K(0);
    rest = md_mul(p->slope, rest);
    ok = ok && md_stays_in_range(p->value, rest);
    if (!ok) {
        p->value = 0;
        p->tail = 0;
    } else if (c->kind == MDYN_CURVE_FUNCTION) {
        md_accumulate(&p->value, &p->tail, rest);
    }
    return ok;
}

/* ---- where a curve is level ----
   The slope of a polynomial has its extremes where f'' is 0, that of a spline at its knots and
   where f'' is 0 between two of them. From one extreme to the next the slope is monotone, so it
   vanishes once if its sign changes there, and not at all if it does not: no root is missed, and
   none has to be guessed. A function of the user's is known at single places only; two of its roots
   between neighbors of these are not seen. A slope that is no more than the rounding of its terms
   counts as 0, for a curve that touches a level, as x^3 does, is as bad as one that turns.
   md_find_level(from = what it has found) finds the next place. */

/* The sign of the slope at q: -1, 0 if it is at most the part `tolerance` of its terms, 1; 2 if a
   function gives none. Polynomials and splines have a slope where their value is out of range. */
MD_STATIC int md_slope_sign(const mdyn_curve *c, md_num q, md_num tolerance)
{
    md_num size = MD_K(0);
    md_curve_value p;
    int k;

    /* sum of k a_k x^(k-1), and of the magnitudes */
    if (c->kind == MDYN_CURVE_POLYNOMIAL) {
        const md_num x = md_sub(q, md_of_wide(c->reference));
        p.slope = MD_K(0);
        for (k = 4; k > 0; k--) {
            const md_num ka = md_mul(md_of_int(k), md_of_wide(c->a[k]));
            p.slope = md_add(ka, md_mul(x, p.slope));
            size = md_add(md_abs(ka), md_mul(md_abs(x), size));
        }
    } else if (c->kind == MDYN_CURVE_SPLINE) {
        /* its terms: the slope of the chord, and the bends at its ends */
        const mdyn_knot *a = c->knots + md_find_knot(c, md_to_real(q), 0);
        const md_num h = md_sub(md_of_wide(a[1].q), md_of_wide(a->q));
        (void)md_evaluate_spline(c, md_to_real(q), 0, &p);
        size = md_abs(md_div(md_sub(md_of_wide(a[1].value), md_of_wide(a->value)), h));
        size = md_add(size, md_mul(h, md_add(md_abs(md_of_wide(a->curvature)),
                                             md_abs(md_of_wide(a[1].curvature)))));
    } else if (!md_find_curve_value(c, md_to_real(q), 0, &p)) {
        return 2;
    }

    if (!md_less(md_mul(tolerance, size), md_abs(p.slope))) return 0;
    return md_less(p.slope, MD_K(0)) ? -1 : 1;
}

/* The first root after q of f'' = 2 a_2 + 6 a_3 x + 12 a_4 x^2; `end` if there is none before. */
MD_STATIC md_num md_next_turn(const mdyn_curve *c, md_num q, md_num end)
{
    const md_num reference = md_of_wide(c->reference);
    const md_num A = md_mul(MD_K(6), md_of_wide(c->a[4])), C = md_of_wide(c->a[2]);
    const md_num B = md_mul(MD_K(1.5), md_of_wide(c->a[3])); /* A x^2 + 2 B x + C = 0 */
    md_num x[2], t = md_sub(md_mul(B, B), md_mul(A, C));
    int k, roots = 0;
    if (md_less(t, MD_K(0))) return end;

    /* no two numbers of like size are subtracted: x_1 = w/A, x_2 = C/w */
    t = md_sqrt(t);
    t = md_less(B, MD_K(0)) ? md_sub(t, B) : md_neg(md_add(t, B));
    if (!md_is_zero(A)) x[roots++] = md_div(t, A);
    if (!md_is_zero(t)) x[roots++] = md_div(C, t);
    for (k = 0; k < roots; k++) {
        const md_num place = md_add(reference, x[k]);
        if (md_less(q, place) && md_less(place, end)) end = place;
    }
    return end;
}

/* The next place after q at which the slope may be extreme, at most `end`: on the way there it is
   monotone. Of a function the place `stride` farther; it is straight beyond its bounds. */
MD_STATIC md_num md_next_extreme(const mdyn_curve *c, md_num q, md_num end, md_num stride)
{
    md_num place = end;
    if (c->kind == MDYN_CURVE_POLYNOMIAL) return md_next_turn(c, q, end);
    if (c->kind == MDYN_CURVE_FUNCTION) place = md_add(q, stride);
    if (md_is_bounded(c)) {
        const md_num lower = md_of_wide(c->lower), upper = md_of_wide(c->upper);
        if (md_less(q, lower)) place = lower;
        else place = md_less(q, upper) ? md_min(place, upper) : end;
    }

    /* the next knot, or where f'' is 0 before it */
    if (c->kind == MDYN_CURVE_SPLINE) {
        const mdyn_knot *a;
        int i = md_find_knot(c, md_to_real(q), 0);
        while (i < c->knot_count && !md_less(q, md_of_wide(c->knots[i].q))) i++;
        if (i == c->knot_count) return end;

        /* f'' = 0 at a part mb/(mb - ma) of the way back from the knot */
        a = c->knots + i;
        place = md_of_wide(a->q);
        if (i > 0) {
            const md_num ma = md_of_wide(a[-1].curvature), mb = md_of_wide(a->curvature);
            const md_num h = md_sub(place, md_of_wide(a[-1].q));
            md_num zero = place;
            if (md_less(md_mul(ma, mb), MD_K(0)))
                zero = md_sub(place, md_div(md_mul(h, mb), md_sub(mb, ma)));
            if (md_less(q, zero) && md_less(zero, place)) place = zero;
        }
    }
    return md_less(q, place) && md_less(place, end) ? place : end;
}

/* Finds the first place after `from`, up to `to`, at which the slope of a curve that is no coupler
   vanishes; a function is looked at in 64 places, between its bounds if it has some. Returns 0 if
   there is none, with *place = to. Up to a place that was found before the slope keeps its sign.
   O(knots log knots) */
MD_STATIC int md_find_level(const mdyn_curve *c, md_num from, md_num to, md_num *place)
{
    const md_num stride = md_mul(MD_RATIO(1, 64), md_is_bounded(c)
        ? md_sub(md_of_wide(c->upper), md_of_wide(c->lower)) : md_sub(to, from));
    const md_num rounding = MD_K(MD_CONSISTENCY_TOLERANCE);
    int k, sign = md_slope_sign(c, from, rounding), next;

    /* from one extreme of the slope to the next, until its sign changes; sign 0 or 2 says none */
    for (*place = from; md_less(from, to); from = *place) {
        *place = md_next_extreme(c, from, to, stride);
        next = md_slope_sign(c, *place, rounding);
        if (next == 0) return 1;
        if (sign * sign != 1) sign = next;
        if (next == 2 || next == sign) continue;

        /* between the two, where it is monotone: the place behind the root */
        for (k = 0; k < 64; k++) {
            const md_num middle = md_mul(MD_K(0.5), md_add(from, *place));
            if (md_slope_sign(c, middle, MD_K(0)) == sign) from = middle;
            else *place = middle;
        }
        return 1;
    }
    return 0;
}

/* The curve of a term, whose number was checked; NULL: none, f(q) = q. */
MD_INLINE const mdyn_curve *md_curve_of(const mdyn_sim *sim, const mdyn_term *t)
{
    return t->curve ? MD_CURVES(sim)->table + (t->curve - 1) : NULL;
}

/* Whether a term is present and names a curve. The other fields of an absent one may hold anything,
   the index of a body that does not exist among them. */
MD_INLINE int md_term_is_curved(const mdyn_term *t)
{
    return t->curve && !md_wide_is_zero(t->coefficient);
}

/* Whether coupling i has a curve. */
MD_INLINE int md_coupling_is_curved(const mdyn_sim *sim, int i)
{
    return MD_HAS_CURVES && MD_CURVES(sim)->first[i + 1] > MD_CURVES(sim)->first[i];
}

/* Whether any coupling has a curve. */
MD_INLINE int md_has_curves(const mdyn_sim *sim)
{
    return MD_HAS_CURVES && MD_CURVES(sim)->first[sim->couplings] > 0;
}

/* The bends of coupling i, which has a curve. */
MD_INLINE md_bend *md_bends_of(mdyn_sim *sim, int i)
{
    return &MD_CURVES(sim)->bend[MD_CURVES(sim)->first[i]];
}

/* The first present term of a coupling, of which there is one at least. */
MD_STATIC int md_first_term(const mdyn_coupling *c)
{
    int k = 0;
    while (md_wide_is_zero(c->terms[k].coefficient)) k++;
    return k;
}

/* The coupler that the terms of coupling i name; NULL: none, each term has a curve of its own or
   is linear. */
MD_STATIC const mdyn_curve *md_coupler_of(const mdyn_sim *sim, int i)
{
    const mdyn_coupling *c = md_coupling_at(sim, i);
    const mdyn_curve *curve = md_curve_of(sim, &c->terms[md_first_term(c)]);
    return curve && curve->kind == MDYN_CURVE_COUPLER ? curve : NULL;
}

/* Velocity of DoF k where J is taken: of a step at its middle, as far as it is known; builds
   without a tree have no bias force and take the v of its start, an error of third order in C. */
MD_INLINE md_num md_velocity_on_curve(const mdyn_sim *sim, int k)
{
    if (MIMICDYN_TREE && sim->kinematics_stale == MD_KINEMATICS_OF_STEP)
        return MD_TREE(sim)->bias_velocity[k];
    return md_of_real(sim->v[k]);
}

/* What the user's function gives for coupling i; returns whether all of it is in range. The tails
   of q are in the value, by the gradient. */
MD_STATIC int md_evaluate_coupler(const mdyn_sim *sim, int i, const mdyn_curve *curve,
                                  mdyn_coupler_point *p, md_tail *tail)
{
    const mdyn_coupling *c = md_coupling_at(sim, i);
    mdyn_real q[MIMICDYN_MAX_TERMS], v[MIMICDYN_MAX_TERMS];
    int k, ok;

    /* what the function gets: 0 at absent terms, whose body may be none; coordinates without their
       tails, which the gradient brings in below */
    *tail = 0;
    p->value = 0;
    p->rate = MDYN_C(0);
    for (k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        const md_link *link;
        q[k] = v[k] = 0;
        p->gradient[k] = MDYN_C(0);
        if (md_wide_is_zero(c->terms[k].coefficient)) continue;
        link = &sim->link[c->terms[k].body];
        q[k] = sim->q[link->coordinate];
        v[k] = md_to_real(md_velocity_on_curve(sim, link->dof));
    }
    curve->coupler(q, v, p, curve->user_data);

    /* what it gives */
    ok = md_in_range(p->value) && md_wide_in_range(p->rate)
        && md_wides_in_range(p->gradient, MIMICDYN_MAX_TERMS);
    for (k = 0; ok && k < MIMICDYN_MAX_TERMS; k++)
        if (!md_wide_is_zero(c->terms[k].coefficient))
            md_accumulate(&p->value, tail, md_mul(md_of_wide(p->gradient[k]),
                md_of_tail(sim->q_tail[md_coordinate_of(sim, c->terms[k].body)])));
    return ok;
}

/* The bends of a coupling of a coupler: its C and J' v with the first one, and of each term the
   slope by which its own coefficient becomes an element of J. */
MD_STATIC int md_bend_coupler(mdyn_sim *sim, int i, const mdyn_curve *curve)
{
    const mdyn_coupling *c = md_coupling_at(sim, i);
    const int first = md_first_term(c);
    const md_num scale = md_of_wide(c->terms[first].coefficient);
    md_bend *bend = md_bends_of(sim, i);
    mdyn_coupler_point p;
    md_tail tail;
    int k;
    if (!md_evaluate_coupler(sim, i, curve, &p, &tail))
        return md_blame(sim, MDYN_ERR_NOT_FINITE, i);

    /* md_find_row_terms multiplies slopes by the coefficients of their own terms */
    for (k = first; k < MIMICDYN_MAX_TERMS; k++) {
        if (md_wide_is_zero(c->terms[k].coefficient)) continue;
        bend->slope = md_of_wide(p.gradient[k]);
        if (k > first)
            bend->slope = md_mul(bend->slope,
                                 md_div(scale, md_of_wide(c->terms[k].coefficient)));
        bend->value = k == first ? md_mul(scale, md_of_real(p.value)) : MD_K(0);
        bend->rate = k == first ? md_mul(scale, md_of_wide(p.rate)) : MD_K(0);
        bend++;
    }
    return MDYN_OK;
}

/* The bends of all curves, at the present q; J' v for the velocities of the middle of a step, else
   for v. O(curves) */
MD_OWN_FRAME int md_update_curves(mdyn_sim *sim)
{
    md_curve_value p;
    int i, k, code = MDYN_OK;
    for (i = 0; MD_HAS_CURVES && i < sim->couplings && code == MDYN_OK; i++) {
        const mdyn_coupling *c = md_coupling_at(sim, i);
        const mdyn_curve *coupler;
        md_bend *bend;
        if (!md_coupling_is_curved(sim, i)) continue;
        bend = md_bends_of(sim, i);
        coupler = md_coupler_of(sim, i);
        if (coupler) code = md_bend_coupler(sim, i, coupler);

        /* term by term; those without a curve have no bend */
        for (k = 0; !coupler && k < MIMICDYN_MAX_TERMS; k++) {
            const mdyn_term *t = &c->terms[k];
            const md_num coefficient = md_of_wide(t->coefficient);
            const md_link *link;
            md_num v;
            int q;
            if (!md_term_is_curved(t)) continue;
            link = &sim->link[t->body];
            q = link->coordinate;
            if (!md_find_curve_value(md_curve_of(sim, t), sim->q[q], sim->q_tail[q], &p))
                return md_blame(sim, MDYN_ERR_NOT_FINITE, i);
            v = md_velocity_on_curve(sim, link->dof);
            /* c f, f', c f'' v^2 */
            bend->value = md_mul(coefficient, md_of_real(p.value));
            bend->slope = p.slope;
            bend->rate = md_mul(md_mul(coefficient, p.curvature), md_mul(v, v));
            bend++;
        }
    }
    return code;
}

/* C += the terms of coupling i, at the present q. What is not in range counts as 0: a step at this
   place is refused by md_update_curves. */
MD_STATIC void md_sum_curves(const mdyn_sim *sim, int i, md_sum *C)
{
    const mdyn_coupling *c = md_coupling_at(sim, i);
    const mdyn_curve *coupler = md_coupler_of(sim, i);
    md_curve_value p; /* of a coordinate, or of its curve */
    int k;

    /* one function of all joints */
    if (coupler) {
        mdyn_coupler_point all;
        (void)md_evaluate_coupler(sim, i, coupler, &all, &p.tail);
        md_sum_add_product(C, c->terms[md_first_term(c)].coefficient, all.value, p.tail);
        return;
    }

    /* a sum: coordinates themselves, and curves of coordinates */
    for (k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        const mdyn_term *t = &c->terms[k];
        int q;
        if (md_wide_is_zero(t->coefficient)) continue;
        q = md_coordinate_of(sim, t->body);
        p.value = sim->q[q];
        p.tail = sim->q_tail[q];
        if (t->curve) (void)md_find_curve_value(md_curve_of(sim, t), p.value, p.tail, &p);
        md_sum_add_product(C, t->coefficient, p.value, p.tail);
    }
}

/* Sum over the curves of coupling i: J' v where J was last taken; in the last step; the magnitude
   of their values. */
enum md_bend_part { MD_BEND_RATE, MD_BEND_STEP_RATE, MD_BEND_VALUE };
MD_STATIC md_num md_sum_bends(const mdyn_sim *sim, int i, enum md_bend_part part)
{
    const md_curves *curves = MD_CURVES(sim);
    md_num sum = MD_K(0);
    int k;
    if (!MD_HAS_CURVES) return sum;
    for (k = curves->first[i]; k < curves->first[i + 1]; k++) {
        const md_bend *bend = &curves->bend[k];
        sum = md_add(sum, part == MD_BEND_RATE ? bend->rate
                         : part == MD_BEND_STEP_RATE ? bend->step_rate : md_abs(bend->value));
    }
    return sum;
}

/* Slopes and J' v of this step, for those who read its results: calls between two steps take J at
   other places. */
MD_STATIC void md_keep_curves_of_step(mdyn_sim *sim)
{
    int k;
    for (k = 0; md_has_curves(sim) && k < MD_CURVES(sim)->first[sim->couplings]; k++) {
        md_bend *bend = &MD_CURVES(sim)->bend[k];
        bend->step_slope = bend->slope;
        bend->step_rate = bend->rate;
    }
}

/* Where the bends of each coupling begin, which are in the order of its terms; behind the last one
   the number of all. */
MD_STATIC void md_lay_out_curves(mdyn_sim *sim)
{
    int i, k, n = 0;
    if (!MD_HAS_CURVES) return;
    for (i = 0; i < sim->couplings; i++) {
        MD_CURVES(sim)->first[i] = (int16_t)n;
        for (k = 0; k < MIMICDYN_MAX_TERMS; k++)
            n += md_term_is_curved(&md_coupling_at(sim, i)->terms[k]);
    }
    MD_CURVES(sim)->first[i] = (int16_t)n;
}

/* The second derivatives of a natural spline, by elimination from the first knot to the last; the
   matrix is diagonally dominant, so no pivot is small. `ratio` has room for count numbers. */
MD_STATIC void md_solve_spline(mdyn_knot *knots, int count, mdyn_wide *ratio)
{
    int k;

    /* row k less h times the row before it: m_k + ratio_k m_k+1 = curvature_k */
    knots[0].curvature = ratio[0] = MDYN_C(0);
    for (k = 1; k < count - 1; k++) {
        const mdyn_knot *a = knots + k - 1, *b = knots + k, *c = knots + k + 1;
        /* the spaces before and behind this knot, and the change of slope in it */
        const md_num h = md_sub(md_of_wide(b->q), md_of_wide(a->q));
        const md_num g = md_sub(md_of_wide(c->q), md_of_wide(b->q));
        md_num rise = md_sub(md_div(md_sub(md_of_wide(c->value), md_of_wide(b->value)), g),
                             md_div(md_sub(md_of_wide(b->value), md_of_wide(a->value)), h));
        md_num pivot = md_mul(MD_K(2), md_add(h, g));
        pivot = md_sub(pivot, md_mul(h, md_of_wide(ratio[k - 1])));
        rise = md_sub(md_mul(MD_K(6), rise), md_mul(h, md_of_wide(a->curvature)));
        ratio[k] = md_to_wide(md_div(g, pivot));
        knots[k].curvature = md_to_wide(md_div(rise, pivot));
    }

    /* back from the last one, which is 0 */
    knots[count - 1].curvature = MDYN_C(0);
    for (k = count - 2; k > 0; k--)
        knots[k].curvature = md_to_wide(md_sub(md_of_wide(knots[k].curvature),
            md_mul(md_of_wide(ratio[k]), md_of_wide(knots[k + 1].curvature))));
}

/* ============================================================================== // >>reduce
   Couplings as part of the mechanism: v = G y', M_y = G^T M G, and its factor.

   Given:   M of >>dynamics; which couplings are eliminated, G and the elimination tree (>>plan).
   Gives:   L with M_y = L^T L; L^-T G^T f and G L^-1 u; a Jacobian over the independent DoFs, J G;
            products M x.
   Writes:  shared.factor.mass_y, the rows of L in shared.entry up to L_first[dofs], or in their
            place shared.deep_W; inverse_diagonal, scale in sim->dof, overflow, scratch (the
            rounding of M_y,kk), sim->reduced; y_force; dv (md_solve_L; md_solve_Lt as scratch).
   Error:   MDYN_ERR_SINGULAR, with the DoF as culprit, where the inertia of a DoF is 0 or lost in
            the rounding of M_y,kk.

   An eliminated coupling makes one of its joints, the follower f, a function of the others:
      v_f = -sum of c_k v_k / c_f = sum of G_fk y'_k
   y' are the velocities of the independent DoFs, under whose numbers they stand; a follower has no
   row in L and is 0 in every whitened vector. The equation of motion M v' = f + J_c^T lambda_c,
   in which the couplings' forces do no work on any v = G y', becomes
      G^T M (G y'' - off) = G^T f,    v' = G y'' - off
   where `off` is v - G y' before the step: 0 in most steps, but not after the user changed v. The
   followers then return to G y' by an impact that keeps momentum. lambda_c is the remainder of the
   followers' equations of motion.

   Couplings with curves have slopes in the place of the c_k of leaders, so that G changes with q:
   it has the places of all leaders, and its numbers are found with each factor (md_update_G). Then
      v' = G y'' + gs,    gs_f = -(sum of c_k f_k' gs_k + c_k f_k'' v_k^2)/c_f
   which is an `off` of -gs (md_find_off): the same equation, one mechanism. gs is not optional:
   without it the motion does not converge.

   M_y is factored along its elimination tree (Liu 1990): row k of L has a number for k and each of
   its ancestors there, which without couplings are the DoFs between k and the world.
      z = L^-T b  (md_solve_Lt, leaves to roots),     y = L^-1 z  (md_solve_L, roots to leaves)
   Where the rows are long and no coupling is eliminated, L is never written out: the same products
   come from six numbers a DoF (md_is_deep; md_aba_factor), at a cost linear in the depth.
   Sources: Featherstone 2008, sections 3.2 (G, gamma), 6.5 (L^T L); Liu 1990, The role of
   elimination trees in sparse factorization; Rodriguez, Jain and Kreutz-Delgado 1991, A spatial
   operator algebra for manipulator modeling and control (L by articulated bodies).
   z is called whitened: kinetic energy is |L y'|^2/2, a row J of a Jacobian is the vector
   x = L^-T (J G)^T there, and J M^-1 J^T over the motions that the couplings leave is |x|^2. x is
   the first half of the PhysX "test impulse".
   Cost: O(pairs of DoFs on a path to the world) for M_y,
   O(n d^2) for L and O(n d) a solve, for n independent DoFs and depth d of the tree; of deep trees
   O(n) for L and a solve. */

/* Whether DoF k is a follower of an eliminated coupling: its velocity is a sum over the numbers
   G_first[k] to G_end[k] of G. An independent DoF has one number there, 1. The numbers of the
   followers stand behind those of all DoFs as such, in the order of the ties. */
MD_INLINE int md_is_follower(const mdyn_sim *sim, int k)
{
    return MD_HAS(ELIMINATED) && sim->tie_of[k] >= 0;
}

/* The eliminated couplings. */
MD_ALWAYS_INLINE int md_tie_count(const mdyn_sim *sim)
{
    return MD_HAS(ELIMINATED) ? sim->tie_count : 0;
}

/* The DoF after k on the path in the elimination tree; -1: none. */
MD_INLINE int md_parent_y(const mdyn_sim *sim, int k)
{
    return MD_HAS(SHARED) ? sim->y_parent[k] : -1;
}

/* Numbers of row k of L: k and its ancestors; 0 for a follower. */
MD_INLINE int md_L_length(const mdyn_sim *sim, int k)
{
    return sim->L_first[k + 1] - sim->L_first[k];
}

/* ---- sums over independent DoFs ---- */

/* Empties sim->reduced. */
MD_INLINE md_reduced *md_clear_reduced(mdyn_sim *sim)
{
    sim->reduced.count = 0;
    return &sim->reduced;
}

/* Adds s v_k to a sum over independent DoFs. O(numbers of k in G, times those in the sum) */
MD_STATIC void md_add_reduced(mdyn_sim *sim, int k, md_num s)
{
    md_reduced *r = &sim->reduced;
    int i, j;

    /* of an independent DoF the number in G is 1 */
    for (i = sim->G_first[k]; i < sim->G_end[k]; i++) {
        const md_num x = md_is_follower(sim, k) ? md_mul(s, sim->G[i]) : s;
        for (j = 0; j < r->count && r->dof[j] != sim->G_y[i]; j++) { }
        if (j == r->count) {
            r->dof[r->count++] = (int16_t)sim->G_y[i];
            r->factor[j] = r->size[j] = MD_K(0);
        }
        r->factor[j] = md_add(r->factor[j], x);
        r->size[j] = md_add(r->size[j], md_abs(x));
    }
}

/* Sets sums to 0 that are no more than the rounding of their terms. Terms of tied joints can cancel
   to such noise, which a row scaled to unit length would magnify. */
MD_STATIC const md_reduced *md_drop_rounding(mdyn_sim *sim)
{
    md_reduced *r = &sim->reduced;
    int j, n = 0;
    for (j = 0; j < r->count; j++) {
        const md_num rounding = md_mul(MD_K(MD_CONSISTENCY_TOLERANCE), r->size[j]);
        if (!md_less(rounding, md_abs(r->factor[j]))) continue;
        r->dof[n] = r->dof[j];
        r->factor[n] = r->factor[j];
        r->size[n++] = r->size[j];
    }
    r->count = n;
    return r;
}

/* sim->reduced := J G of a row on joints with the terms t. */
MD_STATIC const md_reduced *md_reduce_terms(mdyn_sim *sim, const md_terms *t)
{
    int k;
    md_clear_reduced(sim);
    for (k = 0; k < t->count; k++) md_add_reduced(sim, t->dof[k], t->factor[k]);
    return md_drop_rounding(sim);
}

/* f := G^T f; 0 at followers. */
MD_STATIC void md_reduce_force(const mdyn_sim *sim, md_num *f)
{
    int i, j = sim->dofs;
    for (i = 0; i < md_tie_count(sim); i++) {
        const int k = sim->tie[i].dof, end = sim->G_end[k];
        const md_num f_k = f[k];
        for (; j < end; j++) f[sim->G_y[j]] = md_add(f[sim->G_y[j]], md_mul(sim->G[j], f_k));
        f[k] = MD_K(0);
    }
}

/* v := G v - off */
MD_STATIC void md_expand(const mdyn_sim *sim, md_num *v)
{
    int i, j = sim->dofs;
    for (i = 0; i < md_tie_count(sim); i++) {
        const int k = sim->tie[i].dof, end = sim->G_end[k];
        md_num sum = sim->has_off ? md_neg(sim->off[k]) : MD_K(0);
        for (; j < end; j++) sum = md_add(sum, md_mul(sim->G[j], v[sim->G_y[j]]));
        v[k] = sum;
    }
}

/* sim->reduced.dof := the number k of y_k for each independent DoF, -1 for a follower. Returns how
   many there are. O(n) */
MD_STATIC int md_number_independent(mdyn_sim *sim)
{
    int k, m = 0;
    for (k = 0; k < sim->dofs; k++)
        sim->reduced.dof[k] = (int16_t)(md_is_follower(sim, k) ? -1 : m++);
    return m;
}

/* Packs a vector over all DoFs, in place, to the m elements of the independent ones. O(n) */
MD_STATIC int md_pack_independent(const mdyn_sim *sim, md_num *x)
{
    int k, m = 0;
    for (k = 0; k < sim->dofs; k++)
        if (!md_is_follower(sim, k)) x[m++] = x[k];
    return m;
}

/* to += s M x, M of the last factor. O(non-zeros of M) */
MD_STATIC void md_add_mass_product(const mdyn_sim *sim, md_num s, const md_num *x, md_num *to)
{
    int j, k;
    for (k = 0; k < sim->dofs; k++) {
        const md_num *row = sim->mass + sim->M_first[k], x_k = md_mul(s, x[k]);
        to[k] = md_add(to[k], md_mul(*row, x_k));
        for (j = md_parent_dof(sim, k); j >= 0; j = md_parent_dof(sim, j)) {
            const md_num m = *++row;
            to[k] = md_add(to[k], md_mul(m, md_mul(s, x[j])));
            to[j] = md_add(to[j], md_mul(m, x_k));
        }
    }
}

/* ---- G that changes with q ---- */

/* Whether the numbers of tie i in G change: its coupling has curves, or follows one that has. */
MD_INLINE int md_tie_is_curved(const mdyn_sim *sim, int i)
{
    return MD_HAS_CURVES && MD_CURVES(sim)->is_curved[i];
}

/* Adds s times the numbers of DoF k in G to those of DoF f, which has a place for each. */
MD_STATIC void md_add_to_G(mdyn_sim *sim, int f, int k, md_num s)
{
    int i, j;
    for (i = sim->G_first[k]; i < sim->G_end[k]; i++)
        for (j = sim->G_first[f]; j < sim->G_end[f]; j++)
            if (sim->G_y[j] == sim->G_y[i])
                sim->G[j] = md_add(sim->G[j], md_mul(s, sim->G[i]));
}

/* The numbers of G that change, by the slopes of the last md_update_curves:
      G_f = -sum of c_k f_k' G_k / c_f
   Of leaders the slope may be 0; that of the follower is 1. O(terms, times numbers in G) */
MD_STATIC void md_update_G(mdyn_sim *sim)
{
    int i, j, k;
    for (i = 0; MD_HAS_CURVES && i < md_tie_count(sim); i++) {
        const md_tie *tie = &sim->tie[i];
        const mdyn_coupling *c = md_coupling_at(sim, tie->coupling);
        const md_bend *bend = md_bends_of(sim, tie->coupling);
        if (!md_tie_is_curved(sim, i)) continue;

        /* the follower's row: what its leaders' rows are, by the ratios of the slopes */
        for (j = sim->G_first[tie->dof]; j < sim->G_end[tie->dof]; j++) sim->G[j] = MD_K(0);
        for (k = 0; k < MIMICDYN_MAX_TERMS; k++) {
            const mdyn_term *t = &c->terms[k];
            md_num s = md_neg(md_mul(tie->inverse, md_of_wide(t->coefficient)));
            if (md_is_zero(s)) continue;
            if (t->curve) s = md_mul(s, (bend++)->slope);
            if (md_dof_of(sim, t->body) != tie->dof)
                md_add_to_G(sim, tie->dof, md_dof_of(sim, t->body), s);
        }
    }
}

/* Whether G changes with q. */
MD_INLINE int md_has_curved_ties(const mdyn_sim *sim)
{
    return MD_HAS_CURVES && MD_CURVES(sim)->has_ties;
}

/* ---- mass matrix ---- */

/* Adds x to M_y at the independent DoFs a and b, which lie on one path of the elimination tree. */
MD_INLINE void md_add_mass_y(mdyn_sim *sim, int a, int b, md_num x)
{
    md_num *to;

    /* the element stands in the row of the later DoF, at the depth that b is above a in the tree */
    if (a < b) {
        const int c = a;
        a = b;
        b = c;
    }
    to = &sim->shared.factor.mass_y[sim->L_first[a + 1] - md_L_length(sim, b)];
    *to = md_add(*to, x);
}

/* What M_kj = m gives to M_y: G_ka m G_jb for each pair of independent DoFs, twice if a = b and
   k != j, for M_jk is the same. */
MD_STATIC void md_spread_mass(mdyn_sim *sim, int k, int j, md_num m)
{
    int a, b;
    for (a = sim->G_first[k]; a < sim->G_end[k]; a++) {
        const md_num x = md_mul(m, sim->G[a]);
        for (b = sim->G_first[j]; b < (k == j ? a + 1 : sim->G_end[j]); b++) {
            md_num part = md_mul(x, sim->G[b]);
            if (k != j && sim->G_y[a] == sim->G_y[b]) part = md_add(part, part);
            md_add_mass_y(sim, sim->G_y[a], sim->G_y[b], part);
        }
    }
}

/* shared.factor.mass_y := M_y = G^T M G, of sim->mass, each of whose elements goes where the DoFs
   of its row and column lead. O(non-zeros of M), if each follower depends on one joint */
MD_STATIC void md_reduce_mass(mdyn_sim *sim)
{
    const md_num *m = sim->mass;
    int j, k;
    for (k = 0; k < sim->L_first[sim->dofs]; k++) sim->shared.factor.mass_y[k] = MD_K(0);
    for (k = 0; k < sim->dofs; k++) {
        const int first = sim->G_first[k], y = sim->G_y[first];
        const int one = sim->G_end[k] == first + 1;
        for (j = k; j >= 0; j = md_parent_dof(sim, j), m++) {
            const int at = sim->G_first[j], z = sim->G_y[at];
            md_num x = *m;

            /* DoFs that depend on one each, the common case: one element; an independent one
               depends on itself */
            if (!one || sim->G_end[j] != at + 1) {
                md_spread_mass(sim, k, j, x);
                continue;
            }
            if (y != k) x = md_mul(x, sim->G[first]);
            if (z != j) x = md_mul(x, sim->G[at]);
            if (k != j && y == z) x = md_add(x, x);
            md_add_mass_y(sim, y, z, x);
        }
    }
}

/* ---- factor M_y = L^T L, and its solves ---- */

/* M_y into the rows of L: row k from sim->L_first[k] on, its diagonal first, then the ancestors of
   k. sim->scratch[k] := the rounding of its diagonal. In fixed point M_kj is in units of
   2^-(s_k + s_j), s being the scale of a DoF. */
MD_STATIC void md_scale_mass(mdyn_sim *sim)
{
    const md_num *m = md_tie_count(sim) ? sim->shared.factor.mass_y : sim->mass;
    md_unit *to = sim->shared.entry;
    int j, k;
    if (md_tie_count(sim)) md_reduce_mass(sim);

    /* the scale of a DoF comes from its own element; those beside it take the scales of both */
    for (k = 0; k < sim->dofs; k++) {
        md_scale e;
        if (md_is_follower(sim, k)) {
            sim->inverse_diagonal[k] = MD_K(0);
            continue;
        }
        e = md_set_dof_scale(&sim->dof[k], *m);
        *to = md_unit_of(*m++, 2 * e);
        sim->scratch[k] = md_unit_rounding(*to++);
        for (j = md_parent_y(sim, k); j >= 0; j = md_parent_y(sim, j))
            *to++ = md_unit_of(*m++, e + md_dof_scale(&sim->dof[j]));
    }
}

/* After a change of numbers in M or in rows: the next step factors M anew, which without a tree
   also sets up the standing rows anew (>>equality). */
MD_INLINE void md_drop_factor(mdyn_sim *sim) { sim->factored = MD_FACTOR_NONE; }

/* Whether L is kept as articulated bodies, which then cost less: M_y = M, and the rows of L are so
   long that W fits in their place. */
MD_INLINE int md_is_deep(const mdyn_sim *sim)
{
    const int places = (int)(sizeof(md_force) / sizeof(md_unit));
    return MIMICDYN_TREE && !sim->tie_count
        && sim->L_first[sim->dofs] >= places * sim->dofs;
}

MD_INLINE int md_factor_deep(mdyn_sim *sim, md_num dt)
{
    return md_aba_factor(sim, dt, MD_WORK(sim)->deep_W, NULL);
}

/* u = L^-T (s f) and sim->dv = L^-1 u by articulated bodies, whose numbers may have any magnitude:
   the scale of u, which is returned, follows from the result. */
MD_STATIC md_scale md_solve_deep_Lt(mdyn_sim *sim, const md_num *f, md_num s, md_unit *u)
{
    md_scale e = MD_MIN_SCALE;
    int k;
    md_overflow_reset(&sim->overflow, 0);
    md_aba_inward(sim, MD_WORK(sim)->deep_W, f);
    for (k = 0; k < sim->dofs; k++) e = md_scale_to_hold(e, md_mul(s, sim->dv[k]), 0);
    for (k = 0; k < sim->dofs; k++) u[k] = md_unit_of(md_mul(s, sim->dv[k]), e);
    return e;
}

MD_STATIC void md_solve_deep_L(mdyn_sim *sim, const md_unit *u, md_scale e)
{
    md_copy_from_units(sim->dv, u, sim->dofs, e);
    md_aba_outward(sim, MD_WORK(sim)->deep_W);
}

/* M by md_crba and the rows of L; 1/L_kk into sim->inverse_diagonal. MDYN_ERR_SINGULAR if a pivot,
   what the elimination leaves of M_y,kk, is not above rounding. */
MD_STATIC int md_factor_rows(mdyn_sim *sim, md_num dt)
{
    /* an overflow shows that M is not positive definite */
    md_overflow overflow = 0;
    int k, p, n;
    md_crba(sim, dt);
    md_scale_mass(sim);

    /* From the leaves to the roots: L_kj = M_kj / L_kk, then M_ij -= L_ki L_kj for the ancestors
       i and j of k. From its place p on, row k lists DoF at[p] and the ancestors of at[p]. */
    for (k = sim->dofs - 1; k >= 0; k--) {
        md_unit *row = sim->shared.entry + sim->L_first[k];
        const md_place *at = sim->entry_column + sim->L_first[k];
        md_num inverse;
        if (md_is_follower(sim, k)) continue;
        if (!md_unit_less(sim->scratch[k], row[0]) || md_has_overflowed(overflow))
            return md_blame(sim, MDYN_ERR_SINGULAR, k);
        n = md_L_length(sim, k);
        inverse = md_rsqrt(md_of_unit(row[0], 0));
        sim->inverse_diagonal[k] = inverse;
        for (p = n - 1; p > 0; p--) {
            row[p] = md_unit_mul_num(row[p], inverse);
            overflow |= md_overflow_of(row[p]);
            md_sub_row(sim->shared.entry + sim->L_first[at[p]], row[p], row + p, n - p);
        }
    }
    return MDYN_OK;
}

/* L of M_y; dt = 0 leaves the damping out. With rotors alone M is constant: its factor stays until
   a number in M or in a row changes (md_drop_factor, md_set_damping_weights) or the rows of L move
   (md_plan_factor). */
MD_STATIC int md_factor_LtL(mdyn_sim *sim, md_num dt)
{
    const uint8_t kind = md_is_zero(dt) ? MD_FACTOR_OF_M : MD_FACTOR_OF_STEP;
    int k, code;
    if (sim->has_constant_mass && sim->factored == kind && !md_has_curved_ties(sim))
        return MDYN_OK;
    if (MIMICDYN_BAKED) return md_blame(sim, MDYN_ERR_BAKED, -1);
    for (k = 0; !MIMICDYN_TREE && k < sim->rows; k++) sim->row[k].standing = 0;
    code = md_update_curves(sim);
    if (code != MDYN_OK) return code;
    if (md_has_curved_ties(sim)) md_update_G(sim);

    code = md_is_deep(sim) ? md_factor_deep(sim, dt) : md_factor_rows(sim, dt);
    if (code == MDYN_OK) sim->factored = kind;
    return code;
}

/* u -= s times row k of L without its diagonal. */
MD_INLINE void md_sub_ancestors(mdyn_sim *sim, int k, md_unit s, md_unit *u)
{
    const md_unit *row = sim->shared.entry + sim->L_first[k];
    md_overflow overflow = md_overflow_of(s);
    int j;
    for (j = md_parent_y(sim, k); j >= 0; j = md_parent_y(sim, j))
        overflow |= md_sub_product(&u[j], *++row, s);
    sim->overflow |= overflow;
}

/* u = L^-T (s f) for f = G^T f, in a block whose scale is returned; u and f do not overlap. In
   fixed point the solve is repeated at a coarser scale when a number overflows the block.
   Overwrites sim->dv. */
MD_OWN_FRAME md_scale md_solve_Lt(mdyn_sim *sim, const md_num *f, md_num s, md_unit *u)
{
    md_scale e = MD_MIN_SCALE;
    int k, tries = 0;

    if (md_is_deep(sim)) return md_solve_deep_Lt(sim, f, s, u);

    /* the finest scale that holds s f */
    for (k = 0; k < sim->dofs; k++)
        e = md_scale_to_hold(e, md_mul(s, f[k]), md_dof_scale(&sim->dof[k]));

    do {
        md_overflow_reset(&sim->overflow, 0);
        /* u_k = (s f_k - sum over descendants i of L_ik u_i) / L_kk */
        for (k = 0; k < sim->dofs; k++)
            u[k] = md_unit_of(md_mul(s, f[k]), e + md_dof_scale(&sim->dof[k]));
        for (k = sim->dofs - 1; k >= 0; k--) {
            if (md_is_follower(sim, k)) continue;
            u[k] = md_unit_mul_num(u[k], sim->inverse_diagonal[k]);
            md_sub_ancestors(sim, k, u[k], u);
        }
        e = md_scale_after_overflow(e, sim->overflow);
    } while (md_has_overflowed(sim->overflow) && ++tries < MD_MAX_RETRIES);
    return e;
}

/* sim->dv = G L^-1 u for a block u of scale e, which is overwritten. */
MD_STATIC void md_solve_L(mdyn_sim *sim, md_unit *u, md_scale e)
{
    md_overflow overflow = sim->overflow;
    md_num *z = sim->dv;
    int k, j;

    if (md_is_deep(sim)) {
        md_solve_deep_L(sim, u, e);
        return;
    }

    /* u_k := (u_k - sum over ancestors j of L_kj u_j) / L_kk, and z_k from its units */
    for (k = 0; k < sim->dofs; k++) {
        const md_unit *row = sim->shared.entry + sim->L_first[k];
        const md_dof *d = &sim->dof[k];
        md_unit x = u[k];
        if (md_is_follower(sim, k)) continue;
        for (j = md_parent_y(sim, k); j >= 0; j = md_parent_y(sim, j))
            overflow |= md_sub_product(&x, *++row, u[j]);
        u[k] = md_unit_mul_num(x, sim->inverse_diagonal[k]);
        overflow |= md_overflow_of(u[k]);
        z[k] = md_of_unit(u[k], e - md_dof_scale(d));
    }
    sim->overflow = overflow;
    md_expand(sim, z);
}

/* Inputs checked, kinematics up to date, L of M_y with dt damping. */
MD_STATIC int md_prepare_dynamics(mdyn_sim *sim, md_num dt)
{
    int code = md_check_inputs(sim);
    if (code == MDYN_OK) code = md_refresh_kinematics(sim);
    if (code == MDYN_OK) code = md_factor_LtL(sim, dt);
    return code;
}

/* =========================================================================== // >>integrate
   The motion of a step: v := v + dv, q := q (+) u, and the two half steps of the midpoint rule.

   Given:   dv of all DoF; the displacement u of all DoF, or in a step dt v (MDYN_EXPLICIT) or
            dt/2 v (MDYN_MIDPOINT, before the solve with v and after it with v').
   Gives:   v and q with the digits beyond them in their tails: v_k + dv_k, q_k + u_k for joints of
            one coordinate, q exp(u/2) for quaternions, R u for the position of a free joint, whose
            velocity is in the body's axes.
   Writes:  q, v, q_tail, v_tail, q_seen, v_seen, kinematics_stale; as scratch sim->subtree.
   Error:   MDYN_ERR_OVERFLOW by md_check_motion, which comes first and writes the culprit alone, if
            anything would leave +-8388600.
   Cost:    O(n).

   Half a step of a midpoint step, by joint:
      one coordinate      q += dt/2 v
      spherical, free     the turn by dt/2 omega; the linear velocity of a free joint, which is in
                          the body's axes, is turned back by as much: its direction in the world
                          does not change
      single body         (spherical or free on the world, carrying nothing) Euler's equation of
                          the free body, I w' = I w x w, by an implicit midpoint rule: I w is
                          turned with the body, so that its angular momentum in the world does not
                          change. Its mass center moves in a straight line.
   The half step after the solve is the first one with v', so the step is symmetric in time, of
   second order. Sources: Hairer, Lubich and Wanner, Geometric Numerical Integration, 2006, chapters
   II (splitting methods) and VII (rigid bodies); Simo and Wong, Int. J. Numer. Methods Eng. 31,
   1991 (momentum of the turned body). */

/* Quaternion q := q (1 + c, s e), a turn of unit length: the increments are added to q and its
   tails, and its length is led back to 1. */
MD_OWN_FRAME void md_turn_quaternion(mdyn_real *q, md_tail *tail, md_num c, md_num s,
                                     const md_num *e)
{
    md_num w = md_of_real(q[0]), x = md_of_real(q[1]), y = md_of_real(q[2]), z = md_of_real(q[3]);
    md_num length2 = md_quaternion_norm2(q), n, deficit, ex, ey, ez, d[4];
    int k;

    /* only a user sets a quaternion whose length is far from 1: scaled first */
    if (md_less(MD_K(1e-3), md_abs(md_sub(length2, MD_K(1))))) {
        n = md_rsqrt(length2);
        w = md_mul(n, w); x = md_mul(n, x); y = md_mul(n, y); z = md_mul(n, z);
        q[0] = md_to_real(w); q[1] = md_to_real(x); q[2] = md_to_real(y); q[3] = md_to_real(z);
        for (k = 0; k < 4; k++) tail[k] = 0;
        length2 = md_quaternion_norm2(q);
    }

    /* the turn times 1 + deficit of the length */
    deficit = md_mul(MD_K(0.5), md_sub(MD_K(1), length2));
    s = md_add(s, md_mul(deficit, s));
    ex = md_mul(s, e[0]); ey = md_mul(s, e[1]); ez = md_mul(s, e[2]);
    c = md_add(c, md_add(deficit, md_mul(deficit, c)));

    /* q (1 + c, s e) - q */
    d[0] = md_sub(md_mul(c, w), md_sum3(x, ex, y, ey, z, ez));
    d[1] = md_add(md_sum2(c, x, w, ex), md_det2(y, ez, z, ey));
    d[2] = md_add(md_sum2(c, y, w, ey), md_det2(z, ex, x, ez));
    d[3] = md_add(md_sum2(c, z, w, ez), md_det2(x, ey, y, ex));
    for (k = 0; k < 4; k++) md_accumulate(&q[k], &tail[k], d[k]);
}

/* s = sin n/n, c = cos n - 1 */
MD_OWN_FRAME void md_turn_terms(md_num n2, md_num *s, md_num *c)
{
    md_num n;
    if (md_less(n2, MD_K(1e-6))) {
        *s = md_sub(MD_K(1), md_mul(n2, md_sub(MD_RATIO(1, 6), md_mul(n2, MD_K(1.0 / 120)))));
        *c = md_mul(n2, md_sub(md_mul(n2, MD_K(1.0 / 24)), MD_K(0.5)));
        return;
    }
    n = md_sqrt(n2);
    md_sincos(md_to_real(n), 0, s, c);
    *s = md_div(*s, n);
    *c = md_sub(*c, MD_K(1));
}

/* Quaternion q := q exp(u/2) for a small rotation vector u in the body's axes. */
MD_OWN_FRAME void md_integrate_quaternion(mdyn_real *q, md_tail *tail, const md_num *u)
{
    md_num e[3], s, c;
    int k;
    for (k = 0; k < 3; k++) e[k] = md_mul(MD_K(0.5), u[k]);
    md_turn_terms(md_sum3(e[0], e[0], e[1], e[1], e[2], e[2]), &s, &c);
    md_turn_quaternion(q, tail, c, s, e);
}

/* Whether v + dv (unless NULL) and q (+) u (unless NULL) stay in range; the culprit is the DoF, or
   the coordinate of a free joint's position. */
MD_OWN_FRAME int md_check_motion(mdyn_sim *sim, const md_num *dv, const md_num *u)
{
    int i, k, c;
    for (k = 0; dv && k < sim->dofs; k++)
        if (!md_stays_in_range(sim->v[k], dv[k])) return md_blame(sim, MDYN_ERR_OVERFLOW, k);

    for (k = 0; u && k < sim->dofs; k++) {
        c = md_coordinate_of_dof(sim, k);
        if (!md_stays_in_range(c < 0 ? 0 : sim->q[c], u[k]))
            return md_blame(sim, MDYN_ERR_OVERFLOW, k);
    }

    /* no component of R d exceeds |d_x| + |d_y| + |d_z|, whatever the orientation R */
    for (i = 0; u && md_has_quaternions(sim) && i < sim->bodies; i++) {
        const md_link *link = &sim->link[i];
        const md_num *d;
        md_num distance;
        if (link->joint != MDYN_FREE) continue;
        d = u + link->dof + 3;
        distance = md_add(md_add(md_abs(d[0]), md_abs(d[1])), md_abs(d[2]));
        for (c = link->coordinate; c < link->coordinate + 3; c++)
            if (!md_stays_in_range(sim->q[c], distance)
                || !md_stays_in_range(sim->q[c], md_neg(distance)))
                return md_blame(sim, MDYN_ERR_OVERFLOW, c);
    }
    return MDYN_OK;
}

/* Joints of one coordinate: q += dt v, to all digits. */
MD_OWN_FRAME void md_drift_q(mdyn_sim *sim, mdyn_wide dt)
{
    int i, k;
    for (k = 0; k < sim->dofs; k++) {
        i = md_coordinate_of_dof(sim, k);
        if (i >= 0) md_accumulate_product(&sim->q[i], &sim->q_tail[i], dt, sim->v[k]);
    }
}

/* Joints of one coordinate: q += u. */
MD_OWN_FRAME void md_displace_q(mdyn_sim *sim, const md_num *u)
{
    int i, k;
    for (k = 0; k < sim->dofs; k++) {
        i = md_coordinate_of_dof(sim, k);
        if (i >= 0) md_accumulate(&sim->q[i], &sim->q_tail[i], u[k]);
    }
}

/* Coordinates of joints with quaternions: q := q (+) u. */
MD_OWN_FRAME void md_integrate_quaternions(mdyn_sim *sim, const md_num *u)
{
    int i;
    for (i = 0; md_has_quaternions(sim) && i < sim->bodies; i++) {
        const md_link *link = &sim->link[i];
        mdyn_real *q = sim->q + link->coordinate;
        md_tail *tail = sim->q_tail + link->coordinate;
        const md_num *d = u + link->dof;
        md_mat *R = &MD_TREE(sim)->subtree[i].articulated.cross; /* scratch */
        md_vec shift;
        if (link->dofs < 3) continue;

        /* position: += R d */
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
        md_integrate_quaternion(q, tail, d);
    }
}

/* y = s a x (a x u) + c a x u: the change of u by a rotation about a */
MD_OWN_FRAME void md_turn_change(md_vec *y, md_num s, md_num c, const md_vec *a, const md_vec *u)
{
    md_vec once, twice;
    md_cross(&once, a, u);
    md_cross(&twice, a, &once);
    md_vec_scale(y, s, &twice);
    md_vec_add_scaled(y, c, &once);
}

/* x += d for a vector of coordinates or velocities. */
MD_INLINE void md_accumulate_vec(mdyn_real *x, md_tail *tail, const md_vec *d)
{
    int k;
    for (k = 0; k < 3; k++) md_accumulate(&x[k], &tail[k], md_vec_get(d, k));
}

/* to := R to for the rotation R of a quaternion in q */
MD_OWN_FRAME void md_rotate_by(md_vec *to, const mdyn_real *q)
{
    md_mat R;
    md_mat_of_quaternion(&R, md_of_real(q[0]), md_of_real(q[1]), md_of_real(q[2]),
                         md_of_real(q[3]));
    md_mat_vec(to, &R, to);
}

/* The origin of a free joint and its velocity u: the position changes by half R u, and u keeps its
   direction in the world, u' = R'^T R u: its components are in the axes of the turned body. */
MD_OWN_FRAME void md_drift_free_joint(mdyn_sim *sim, const md_link *link, md_turning *s,
                                      md_num half)
{
    mdyn_real *q = sim->q + link->coordinate, *v = sim->v + link->dof;
    const md_num four = md_add(s->s, s->s); /* sines and cosines of the half turn */
    md_vec_set(&s->turn, s->a[0], s->a[1], s->a[2]);
    md_vec_set(&s->u, md_of_real(v[3]), md_of_real(v[4]), md_of_real(v[5]));
    s->y = s->u;
    md_rotate_by(&s->y, q + 3);
    md_vec_scale(&s->y, half, &s->y);
    md_accumulate_vec(q, sim->q_tail + link->coordinate, &s->y);
    md_turn_change(&s->y, md_mul(four, s->s), md_neg(md_mul(four, md_add(MD_K(1), s->c))),
                   &s->turn, &s->u);
    md_accumulate_vec(v + 3, sim->v_tail + link->dof + 3, &s->y);
}

/* A free or spherical joint in a tree: half a step with the velocity v, of which the linear part is
   turned with the body. */
MD_OWN_FRAME void md_drift_joint(mdyn_sim *sim, const md_link *link, md_num half)
{
    md_turning *s = &MD_WORK(sim)->single.turning;
    const int at = md_quaternion_index(link);
    const mdyn_real *v = sim->v + link->dof;
    md_num *e = s->a;
    int k;

    /* rotation vector of the half step over 2, sin and cos of it */
    for (k = 0; k < 3; k++) e[k] = md_mul(md_mul(MD_K(0.5), half), md_of_real(v[k]));
    md_turn_terms(md_sum3(e[0], e[0], e[1], e[1], e[2], e[2]), &s->s, &s->c);
    if (link->joint == MDYN_FREE) md_drift_free_joint(sim, link, s, half);
    md_turn_quaternion(sim->q + at, sim->q_tail + at, s->c, s->s, e);
}

/* Inertia of a single body divided by its trace: about the mass center, or of a spherical joint
   about its origin; and the mass center. These joints have the axes of the table. */
MD_OWN_FRAME void md_single_inertia(const mdyn_sim *sim, const md_link *link, md_num *in,
                                    md_vec *com)
{
    const int is_free = MIMICDYN_MAX_DOFS >= 6 && link->joint == MDYN_FREE;
    md_num scale;
    int k;
    md_vec_zero(com);

    if (md_less(MD_K(0), MD_BODY(link)->mass))
        md_vec_scale(com, md_div(MD_K(1), MD_BODY(link)->mass), &MD_BODY(link)->first_moment);

    /* the inertia: of a free body about the mass center, else with the armature */
    if (!is_free) md_sym_get(in, &MD_BODY(link)->inertia);
    for (k = 0; k < 6 && is_free; k++) in[k] = MD_COLUMN(&sim->dof[link->dof + k])->pitch;
    for (k = 0; k < 3 && !is_free; k++)
        in[k] = md_add(in[k], md_of_wide(sim->joint_values[link - sim->link].armature));

    /* only ratios matter; numbers near 1 lose no digits */
    scale = md_div(MD_K(1), md_add(md_add(in[0], in[1]), in[2]));
    for (k = 0; k < 6; k++) in[k] = md_mul(scale, in[k]);
}

/* Half a step of Euler's equation I w' = I w x w by the midpoint rule, with one Newton step for the
   middle velocity m: s->a and s->dw. The body turns by the quaternion (1, a)/|(1, a)|. That turn
   rotates I w, which keeps its length, and w changes by I^-1 of the change of I w. With t, the
   angle of a steady turn, 2 atan(t w), is right to fifth order. */
MD_OWN_FRAME void md_step_euler(md_turning *s, md_num half)
{
    md_num quarter = md_mul(MD_K(0.5), half), x, t;
    const md_num *in = s->inertia, *w = s->w;
    md_num *a = s->a;
    int k;

    /* t = tan(quarter |w|)/|w|, three terms of the series */
    x = md_mul(md_mul(quarter, quarter), md_sum3(w[0], w[0], w[1], w[1], w[2], w[2]));
    t = md_add(MD_RATIO(1, 3), md_mul(MD_K(2.0 / 15), x));
    t = md_mul(quarter, md_add(MD_K(1), md_mul(x, t)));

    /* one Newton step of I m - I w = t (I m x m) from m = w */
    md_sym6_vec(s->L, in, w);
    md_cross3(s->f, s->L, w);
    /* column k of I + t ([w] I - [I w]) */
    for (k = 0; k < 3; k++) {
        md_num *J = s->J[k];
        s->dw[0] = s->dw[1] = s->dw[2] = MD_K(0);
        s->dw[k] = MD_K(1);
        md_sym6_vec(J, in, s->dw);
        md_cross3(s->twice, w, J);
        md_cross3(s->once, s->L, s->dw);
        J[0] = md_add(J[0], md_mul(t, md_sub(s->twice[0], s->once[0])));
        J[1] = md_add(J[1], md_mul(t, md_sub(s->twice[1], s->once[1])));
        J[2] = md_add(J[2], md_mul(t, md_sub(s->twice[2], s->once[2])));
        s->f[k] = md_mul(t, s->f[k]);
    }
    md_solve3(s->dw, s->J, s->f);
    for (k = 0; k < 3; k++) a[k] = md_mul(t, md_add(w[k], s->dw[k]));

    /* change of I w: with y = 2/(1 + |a|^2), y (a x (a x L) - a x L) */
    x = md_div(MD_K(2), md_add(MD_K(1), md_sum3(a[0], a[0], a[1], a[1], a[2], a[2])));
    /* I w turned back, less I w */
    md_cross3(s->once, a, s->L);
    md_cross3(s->twice, a, s->once);
    for (k = 0; k < 3; k++) {
        s->f[k] = md_mul(x, md_sub(s->twice[k], s->once[k]));
        s->J[k][k] = in[k];
    }

    /* dw = I^-1 of it */
    s->J[0][1] = s->J[1][0] = in[3];
    s->J[0][2] = s->J[2][0] = in[4];
    s->J[1][2] = s->J[2][1] = in[5];
    md_solve3(s->dw, s->J, s->f);
}

/* The turn of a single body in half a step of its free motion, which keeps its momentum, and its
   energy within a bound that does not grow. */
MD_OWN_FRAME void md_find_turn(const mdyn_sim *sim, const md_link *link, md_turning *s, md_num half)
{
    const md_num *a = s->a;
    const mdyn_real *v = sim->v + link->dof;
    md_num square;
    int k;
    md_single_inertia(sim, link, s->inertia, &s->com);
    for (k = 0; k < 3; k++) s->w[k] = md_of_real(v[k]);
    md_step_euler(s, half);
    square = md_sum3(a[0], a[0], a[1], a[1], a[2], a[2]);
    s->s = md_rsqrt(md_add(MD_K(1), square));
    s->c = md_neg(md_mul(square, md_div(md_mul(s->s, s->s), md_add(MD_K(1), s->s))));
}

/* The origin of a free body that turns by s, and its velocity: the mass center moves in a straight
   line. */
MD_OWN_FRAME void md_drift_origin(mdyn_sim *sim, const md_link *link, md_turning *s, md_num half)
{
    const md_num two = md_mul(MD_K(2), md_mul(s->s, s->s));
    mdyn_real *q = sim->q + link->coordinate, *v = sim->v + link->dof;
    md_vec_set(&s->turn, s->a[0], s->a[1], s->a[2]);
    md_vec_set(&s->y, s->w[0], s->w[1], s->w[2]);
    md_vec_set(&s->u, md_of_real(v[3]), md_of_real(v[4]), md_of_real(v[5]));
    /* u: velocity of the mass center */
    md_vec_add_cross(&s->u, &s->y, &s->com);

    /* position: the mass center moves by half u, its arm turns about it */
    md_turn_change(&s->y, two, two, &s->turn, &s->com);
    md_vec_scale(&s->y, MD_K(-1), &s->y);
    md_vec_add_scaled(&s->y, half, &s->u);
    md_rotate_by(&s->y, q + 3);
    md_accumulate_vec(q, sim->q_tail + link->coordinate, &s->y);

    /* velocity: u keeps its direction in the world; w changes by dw about the mass center */
    md_turn_change(&s->y, two, md_neg(two), &s->turn, &s->u);
    md_vec_set(&s->turn, s->dw[0], s->dw[1], s->dw[2]);
    md_vec_add_cross(&s->y, &s->com, &s->turn);
    md_accumulate_vec(v + 3, sim->v_tail + link->dof + 3, &s->y);
}

/* A single free or spherical body: half a step of its free motion. */
MD_OWN_FRAME void md_drift_single_body(mdyn_sim *sim, const md_link *link, md_num half)
{
    md_turning *s = &MD_WORK(sim)->single.turning;
    const int at = md_quaternion_index(link);
    md_find_turn(sim, link, s, half);
    if (link->joint == MDYN_FREE) md_drift_origin(sim, link, s, half);
    md_vec_set(&s->y, s->dw[0], s->dw[1], s->dw[2]);
    md_accumulate_vec(sim->v + link->dof, sim->v_tail + link->dof, &s->y);
    md_turn_quaternion(sim->q + at, sim->q_tail + at, s->c, s->s, s->a);
}

/* Moves q of the joints with quaternions, and the axes of their v, by half a step. */
MD_OWN_FRAME void md_drift_quaternions(mdyn_sim *sim)
{
    const md_num half = md_mul(MD_K(0.5), sim->dt);
    int i;
    for (i = 0; md_has_quaternions(sim) && i < sim->bodies; i++) {
        if (sim->link[i].dofs < 3) continue;
        if (MD_BODY(&sim->link[i])->is_single) md_drift_single_body(sim, &sim->link[i], half);
        else md_drift_joint(sim, &sim->link[i], half);
    }
}

/* q := q (+) u for displacements u of all DoF that md_check_motion has passed. */
MD_OWN_FRAME void md_integrate_q(mdyn_sim *sim, const md_num *u)
{
    md_displace_q(sim, u);
    md_integrate_quaternions(sim, u);
    md_copy(sim->q_seen, sim->q, sim->coordinates);
    sim->kinematics_stale = 1;
}

/* v + dv, which md_check_motion has passed. */
MD_OWN_FRAME void md_accumulate_v(mdyn_sim *sim, const md_num *dv)
{
    int k;
    for (k = 0; k < sim->dofs; k++) md_accumulate(&sim->v[k], &sim->v_tail[k], dv[k]);
}

/* v := v + dv */
MD_STATIC void md_integrate_v(mdyn_sim *sim, const md_num *dv)
{
    md_accumulate_v(sim, dv);
    md_copy(sim->v_seen, sim->v, sim->dofs);
    sim->kinematics_stale = sim->may_be_off = sim->q_may_be_off = 1;
}

/* ================================================================================= // >>lcp
   A x = b + w on plain arrays; no function here knows a sim.

   Given:   A (n x n, symmetric, positive semi-definite), b, bounds lo <= x <= hi, friction indices,
            and the caller's scratch.
   Gives:   x and w with w >= 0 where x = lo, w <= 0 where x = hi, else w = 0: the minimum of
            x^T A x / 2 - b^T x within the bounds.
   Writes:  the scratch, through md_lcp_work, and the caller's x, w and report.

   Dantzig's pivoting. A row is clamped while w_i = 0 and x_i is free; the block A_CC of the clamped
   rows C is kept as L D L^T. Every other row has a fixed x_i, mostly at a bound. The row with the
   largest violation is driven: x_i moves against w_i, and the clamped x follow by
      v = -A_CC^-1 A_Ci,     dw_i / dx_i = A_ii + A_iC v
   so that their w stays 0, until
      w_i = 0:                     row i is clamped;
      x_i meets its bound:         it stays there;
      a clamped x meets a bound:   it stays there, unclamped, and x_i moves on.
   Source: Cottle and Dantzig 1968; Baraff 1994; updates of L D L^T by Gill, Golub, Murray and
   Saunders 1974. Unlike these, the w of the unclamped rows is not watched during a drive: a row
   whose w takes the wrong sign is driven later. Every drive lowers the objective, however many
   bounds are met at once, so no set of clamped rows comes twice and the pivoting terminates. That
   holds for singular A too: a row that depends on the clamped ones moves at constant w until a
   bound is met; if there is none, the problem has no solution.
   Cost: about n drives of O(n^2), at most 8 n + 32.

   Two-sided rows. A constraint row low <= w <= high has a kink at x = 0: x > 0 where w = low, x < 0
   where w = high. The row is solved on one side at a time, with 0 as a bound of that side. At x = 0
   it changes to the side whose w is nearer to 0, which does not change the objective.

   Friction. The bounds +-mu |x_k| of a friction row with normal row k are constant during the
   pivoting. Around it |x_k| is iterated, by half steps and by Newton's method, until the bounds
   agree with the solution (MDYN_PYRAMID); or they are computed once, from the solution without
   friction (MDYN_TWO_STAGE). Cost: at most 257, or 2, times that of the pivoting.

   Scaling. A stands for D A D and x for D^-1 x, with powers of 2 for D such that 1/4 < A_ii <= 1.
   No number is rounded by that, and all |A_ij| <= 1.

   Projected Gauss-Seidel (PGS) iterations for the same problem, unscaled, stand at the end. Each
   visits the rows in their order,
      x_i := clamp(x_i + omega (b_i - (A x)_i) / A_ii),     at a cost of n^2 for all rows.
   Source: the SOR-PGS of ODE. */

#if MIMICDYN_LCP

/* Tolerances, in units of MD_EPSILON times the sum of the magnitudes of a row's terms. */

/* w_i up to this is rounding; beyond, the row is driven or corrected. */
#define MD_LCP_NOISE 16

/* A residual up to this counts as solved. */
#define MD_LCP_SOLVED 256

/* Friction bounds carry the rounding of one solution into the next. Their iteration ends at a
   residual below the first number; a result up to the second counts as solved. */
#define MD_LCP_SETTLED 512

#define MD_LCP_FRICTION_SOLVED 2048

/* A solution x so many times larger than the present x and b does not count as one: F32 17,
   F64 9e9, FIXED 2e3. */
#define MD_LCP_FAR (1 / (500000 * MD_EPSILON))

/* Bits of md_lcp_work.state. */
enum {
    MD_LCP_HAS_LO = 1,     /* lo is a bound */
    MD_LCP_HAS_HI = 2,     /* hi is a bound */
    MD_LCP_CLAMPED = 4,    /* w = 0, x free */
    MD_LCP_UNBOUNDED = 8,  /* driven without end: w is constant and no bound is met */
    MD_LCP_TWO_SIDED = 16, /* has a kink at x = 0, which bounds the present side */
    MD_LCP_NEGATIVE = 32   /* the present side is x <= 0 */
};

/* Arrays of n numbers in the caller's scratch, all in the scaled problem. */
typedef struct md_lcp_work {
    int n, clamped;       /* rows; clamped rows */
    int *state;
    md_num *x, *lo, *hi;
    md_num *scale;        /* D */
    md_num *b, *w;
    md_num *magnitude;    /* |b_i| + sum_j |A_ij x_j|; in PGS iterations 1 / A_ii */
    md_num *friction_x;   /* |x_k| that the bounds of friction are computed from */
    md_num *u, *v;        /* of the clamped rows, in their order */
    int *clamped_rows;
    int *first, *last;    /* A_ij = 0 for j < first[i] and for j > last[i] */
    md_num *a, *l;        /* lower triangles, row i from i (i + 1) / 2 on; l: D on the diagonal */
    md_two_sided *two_sided; /* NULL: no row has two sides */
    md_num b_rounding;    /* added to all magnitudes for earlier rounding of b; 0: none */
} md_lcp_work;

/* Where row i of a lower triangle begins. */
MD_INLINE int md_triangle_row(int i) { return i * (i + 1) / 2; }

/* A_ij of the scaled problem. */
MD_INLINE md_num md_lcp_element(const md_lcp_work *s, int i, int j)
{
    return s->a[i < j ? md_triangle_row(j) + i : md_triangle_row(i) + j];
}

/* A_ij of the user's problem, unscaled; only the lower triangle is read. */
MD_INLINE md_num md_lcp_problem_element(const mdyn_lcp *p, int i, int j)
{
    return md_of_wide(i < j ? p->matrix[j * p->n + i] : p->matrix[i * p->n + j]);
}

/* The row whose |x| bounds friction row i; -1: i is no friction row. */
MD_INLINE int md_lcp_friction_of(const mdyn_lcp *p, int i)
{
    return p->findex && p->findex[i] >= 0 ? p->findex[i] : -1;
}

/* ---- checks of the user's problem ---- */

/* Writes a report without a result, and returns its code. */
MD_STATIC int md_lcp_report_code(mdyn_lcp_report *report, int code, int row)
{
    report->iterations = 0;
    report->row = row;
    report->residual = MDYN_C(0);
    return code;
}

/* Range of all numbers of row i, its friction index, its bounds, and A_ii = 0 or >= 1e-30. */
MD_STATIC int md_lcp_check_row(const mdyn_lcp *p, int i)
{
    const int k = md_lcp_friction_of(p, i);
    const mdyn_wide *row = p->matrix + i * p->n;
    if (!md_wides_in_range(row, p->n)) return MDYN_ERR_NOT_FINITE;
    if (!md_wide_in_range(p->b[i]) || !md_wide_in_range(p->hi[i])) return MDYN_ERR_NOT_FINITE;

    /* a friction row has no lo, and its normal row is no friction row */
    if (k >= p->n || (k >= 0 && md_lcp_friction_of(p, k) >= 0)) return MDYN_ERR_FINDEX;
    if (k < 0 && !md_wide_in_range(p->lo[i])) return MDYN_ERR_NOT_FINITE;
    if (k < 0 && md_wide_less(p->hi[i], p->lo[i])) return MDYN_ERR_LCP_BOUNDS;
    if (md_wide_less(row[i], MDYN_C(1e-30)) && !md_wide_is_zero(row[i])) return MDYN_ERR_LCP_MATRIX;
    return MDYN_OK;
}

/* Checks a call of mdyn_lcp_pgs or mdyn_lcp_dantzig, except that A is positive semi-definite. */
MD_STATIC int md_lcp_check(const mdyn_lcp *p, const mdyn_wide *x, const mdyn_lcp_cell *scratch,
                           int cells, int pgs, mdyn_lcp_report *report)
{
    int i, code;
    if (!p || !x) return md_lcp_report_code(report, MDYN_ERR_NULL, -1);
    if (p->n < 0 || p->n > 4096
        || cells < (pgs ? MDYN_PGS_SCRATCH(p->n) : MDYN_LCP_SCRATCH(p->n)))
        return md_lcp_report_code(report, MDYN_ERR_LCP_SIZE, -1);
    if (p->n > 0 && (!p->matrix || !p->b || !p->lo || !p->hi || !scratch))
        return md_lcp_report_code(report, MDYN_ERR_NULL, -1);
    if (p->friction_law != MDYN_PYRAMID && p->friction_law != MDYN_TWO_STAGE)
        return md_lcp_report_code(report, MDYN_ERR_SOLVER, -1);

    for (i = 0; i < p->n; i++) {
        code = md_lcp_check_row(p, i);
        if (code != MDYN_OK) return md_lcp_report_code(report, code, i);
    }
    return md_lcp_report_code(report, MDYN_OK, -1);
}

/* ---- scaling ---- */

/* The power of 2 whose square brings a into (1/4, 1]; 1 for a = 0. For 1e-30 <= a < 2^50: at most
   51 iterations. (In fixed point an mdyn_wide of 1e-30 has 20 bits left; their rounding is less
   than MD_CONSISTENCY_TOLERANCE.) */
MD_STATIC md_num md_lcp_scale_of(md_num a)
{
    md_num d = MD_K(1);
    if (md_is_zero(a)) return d;
    for (; md_less(MD_K(1), a); a = md_mul(MD_K(0.25), a)) d = md_mul(MD_K(0.5), d);
    for (; !md_less(MD_K(0.25), a); a = md_mul(MD_K(4), a)) d = md_add(d, d);
    return d;
}

/* An element of D A D, j <= i. */
MD_INLINE md_num md_lcp_scaled(const md_lcp_work *s, const mdyn_lcp *p, int i, int j)
{
    return md_mul(md_mul(s->scale[i], s->scale[j]), md_lcp_problem_element(p, i, j));
}

/* Finds D. MDYN_ERR_LCP_MATRIX names a row with A_ij^2 > A_ii A_jj, which no positive semi-definite
   A has, MDYN_ERR_LCP_SYMMETRY one with (A_ij - A_ji)^2 > tolerance^2 A_ii A_jj. */
MD_STATIC int md_lcp_scale_rows(md_lcp_work *s, const mdyn_lcp *p, mdyn_lcp_report *report)
{
    const md_num slack = MD_K(1 + MD_CONSISTENCY_TOLERANCE);
    const md_num rounding = MD_K(MD_CONSISTENCY_TOLERANCE * MD_CONSISTENCY_TOLERANCE);
    int i, j;
    for (i = 0; i < s->n; i++) {
        md_num diagonal;
        s->scale[i] = md_lcp_scale_of(md_lcp_problem_element(p, i, i));
        diagonal = md_lcp_scaled(s, p, i, i);
        for (j = 0; j < i; j++) {
            const md_num a = md_lcp_scaled(s, p, i, j);
            const md_num size = md_mul(diagonal, md_lcp_scaled(s, p, j, j));
            const md_num other = md_mul(md_mul(s->scale[i], s->scale[j]),
                                        md_of_wide(p->matrix[j * p->n + i]));
            const md_num difference = md_sub(a, other);

            /* |a_ij|^2 <= a_ii a_jj of a positive semi-definite matrix, and a_ij = a_ji */
            if (md_less(md_mul(slack, size), md_mul(a, a)))
                return md_lcp_report_code(report, MDYN_ERR_LCP_MATRIX, i);
            if (md_less(md_mul(rounding, size), md_mul(difference, difference)))
                return md_lcp_report_code(report, MDYN_ERR_LCP_SYMMETRY, i);
        }
    }
    return MDYN_OK;
}

/* ---- bounds ---- */

/* x projected onto the bounds of row i. */
MD_INLINE md_num md_lcp_clip(const md_lcp_work *s, int i, md_num x)
{
    if ((s->state[i] & MD_LCP_HAS_LO) && md_less(x, s->lo[i])) x = s->lo[i];
    if ((s->state[i] & MD_LCP_HAS_HI) && md_less(s->hi[i], x)) x = s->hi[i];
    return x;
}

/* Bounds of row i for x / d; those of a friction row are 0 until its normal row has an x. */
MD_STATIC void md_lcp_set_bounds(md_lcp_work *s, const mdyn_lcp *p, int i, md_num d)
{
    const md_num unlimited = md_of_wide(MDYN_UNLIMITED);
    md_num lo = MD_K(0), hi = MD_K(0);
    s->state[i] |= MD_LCP_HAS_LO | MD_LCP_HAS_HI;
    if (md_lcp_friction_of(p, i) < 0) {
        lo = md_of_wide(p->lo[i]);
        hi = md_of_wide(p->hi[i]);
        if (!md_less(md_neg(unlimited), lo)) s->state[i] &= ~MD_LCP_HAS_LO;
        if (!md_less(hi, unlimited)) s->state[i] &= ~MD_LCP_HAS_HI;
    }
    s->lo[i] = md_div(lo, d);
    s->hi[i] = md_div(hi, d);
}

/* *bound = mu |x_k| / d of friction row i, for the unscaled x_k of its normal row, at most x_cap.
   Returns 0 if the row has no bound: mu is MDYN_UNLIMITED and x_k is not 0. */
MD_INLINE int md_lcp_friction_bound(const md_lcp_work *s, const mdyn_lcp *p, int i, md_num d,
                                    md_num xk, md_num *bound)
{
    const md_num mu = md_abs(md_of_wide(p->hi[i]));
    *bound = md_div(md_mul(mu, md_abs(xk)), d);
    if (s->two_sided) *bound = md_min(*bound, s->two_sided[i].x_cap);
    return md_is_zero(xk) || md_less(mu, md_of_wide(MDYN_UNLIMITED));
}

/* b, lo and hi of row i on its present side; bounds of 1e29 and beyond are none. Without
   MD_LCP_TWO_SIDED the row has its one b and both bounds. */
MD_STATIC void md_lcp_set_side(md_lcp_work *s, int i)
{
    const md_two_sided *sides = &s->two_sided[i];
    const int negative = s->state[i] & MD_LCP_NEGATIVE;
    const int has_no_kink = !(s->state[i] & MD_LCP_TWO_SIDED);
    s->b[i] = negative ? sides->b_negative : sides->b_positive;
    s->lo[i] = has_no_kink || negative ? sides->x_min : MD_K(0);
    s->hi[i] = has_no_kink || !negative ? sides->x_max : MD_K(0);
    s->state[i] &= ~(MD_LCP_HAS_LO | MD_LCP_HAS_HI);
    if (md_less(MD_K(-1e29), s->lo[i])) s->state[i] |= MD_LCP_HAS_LO;
    if (md_less(s->hi[i], MD_K(1e29))) s->state[i] |= MD_LCP_HAS_HI;
}

/* Sets the bounds of friction row i from x_k; arguments as of md_lcp_friction_bound. */
MD_STATIC void md_lcp_bound_friction_row(md_lcp_work *s, const mdyn_lcp *p, int i, md_num d,
                                         md_num xk)
{
    s->state[i] &= ~(MD_LCP_HAS_LO | MD_LCP_HAS_HI);
    if (md_lcp_friction_bound(s, p, i, d, xk, &s->hi[i]))
        s->state[i] |= MD_LCP_HAS_LO | MD_LCP_HAS_HI;
    s->lo[i] = md_neg(s->hi[i]);
    if (!s->two_sided) return;
    s->two_sided[i].x_max = s->hi[i];
    s->two_sided[i].x_min = s->lo[i];
    md_lcp_set_side(s, i);
}

/* Moves unclamped two-sided rows at x = 0 to the side whose w = A x - b is nearer to 0; returns
   whether any row moved, and w is to be computed anew. */
MD_STATIC int md_lcp_choose_sides(md_lcp_work *s)
{
    int i, any = 0;
    for (i = 0; s->two_sided && i < s->n; i++) {
        const int negative = s->state[i] & MD_LCP_NEGATIVE;
        md_num w = md_add(s->w[i], s->b[i]); /* A x */

        /* only a free row at x = 0 may change its side */
        if (!(s->state[i] & MD_LCP_TWO_SIDED) || (s->state[i] & MD_LCP_CLAMPED)
            || !md_is_zero(s->x[i])) continue;

        /* the side with the smaller |w| */
        w = md_sub(w, negative ? s->two_sided[i].b_positive : s->two_sided[i].b_negative);
        if (!md_less(md_abs(w), md_abs(s->w[i]))) continue;
        s->state[i] ^= MD_LCP_NEGATIVE;
        md_lcp_set_side(s, i);
        any = 1;
    }
    return any;
}

/* ---- results: x, w and residuals of the unscaled problem ---- */

/* (A x)_i */
MD_INLINE md_num md_lcp_product(const md_lcp_work *s, const mdyn_lcp *p, int i)
{
    const mdyn_wide *row = p->matrix + i * p->n;
    const md_num *x = s->x;
    const int n = p->n;
    md_num sum = MD_K(0);
    int j;

    /* row i of the lower triangle up to the diagonal, then column i below it */
    for (j = 0; j < i; j++) sum = md_add(sum, md_mul(md_of_wide(row[j]), x[j]));
    for (; j < n; j++) sum = md_add(sum, md_mul(md_of_wide(p->matrix[j * n + i]), x[j]));
    return sum;
}

/* |b_i| + sum_j |A_ij x_j| */
MD_INLINE md_num md_lcp_magnitude(const md_lcp_work *s, const mdyn_lcp *p, int i)
{
    md_num magnitude = md_abs(md_of_wide(p->b[i]));
    int j;
    for (j = 0; j < p->n; j++)
        magnitude = md_add(magnitude, md_abs(md_mul(md_lcp_problem_element(p, i, j), s->x[j])));
    return magnitude;
}

/* Residual of row i: |d| A_ii over the magnitude of its terms, for the step d = -w_i / A_ii limited
   to the bounds of x_i. The product d A_ii is limited instead of d, which may leave the range of
   numbers; as |w_i| <= magnitude the result is finite. *w = w_i. */
MD_STATIC md_num md_lcp_row_residual(const md_lcp_work *s, const mdyn_lcp *p, int i, md_num *w)
{
    md_num a = md_lcp_problem_element(p, i, i), magnitude = md_lcp_magnitude(s, p, i), d;
    *w = md_sub(md_lcp_product(s, p, i), md_of_wide(p->b[i]));
    if (md_is_zero(magnitude)) return MD_K(0);
    if (md_is_zero(a)) a = MD_K(1);
    d = md_neg(*w);
    if (s->state[i] & MD_LCP_HAS_LO) d = md_max(d, md_mul(a, md_sub(s->lo[i], s->x[i])));
    if (s->state[i] & MD_LCP_HAS_HI) d = md_min(d, md_mul(a, md_sub(s->hi[i], s->x[i])));
    return md_div(md_abs(d), magnitude);
}

/* The bounds of all friction rows from the x that was found. */
MD_STATIC void md_lcp_bound_friction(md_lcp_work *s, const mdyn_lcp *p)
{
    int i, k;
    for (i = 0; i < s->n; i++) {
        k = md_lcp_friction_of(p, i);
        if (k >= 0) md_lcp_bound_friction_row(s, p, i, MD_K(1), s->x[k]);
    }
}

/* x_i as it is returned: at a bound the very digits of the user's bound. */
MD_STATIC mdyn_wide md_lcp_result(const md_lcp_work *s, const mdyn_lcp *p, int i)
{
    const mdyn_wide answer = md_to_wide(s->x[i]);
    const md_num x = md_of_wide(answer);
    if (md_lcp_friction_of(p, i) >= 0) return answer;
    if ((s->state[i] & MD_LCP_HAS_LO) && !md_less(s->lo[i], x)) return p->lo[i];
    if ((s->state[i] & MD_LCP_HAS_HI) && !md_less(x, s->hi[i])) return p->hi[i];
    return answer;
}

/* Writes x, w (unless NULL) and the report with the largest residual of the x that is returned.
   MDYN_WARN_NOT_CONVERGED if the residual is too large; MDYN_ERR_RESULT, with x and w not written,
   if an x is out of range. */
MD_STATIC int md_lcp_write_results(const md_lcp_work *s, const mdyn_lcp *p, mdyn_wide *x,
                                   mdyn_wide *w, mdyn_lcp_report *report, int iterations)
{
    const int coupled = p->findex && p->friction_law == MDYN_PYRAMID;
    md_num largest = MD_K(0), residual, tolerance, wi;
    int i, row = -1;

    /* x rounded to what is returned, before anything is written */
    for (i = 0; i < p->n; i++) {
        const mdyn_wide answer = md_lcp_result(s, p, i);
        if (!md_wide_in_range(answer)) return md_lcp_report_code(report, MDYN_ERR_RESULT, i);
        s->x[i] = md_of_wide(answer);
    }

    /* the row with the largest residual */
    for (i = 0; i < p->n; i++) {
        residual = md_lcp_row_residual(s, p, i, &wi);
        x[i] = md_lcp_result(s, p, i);
        if (w) w[i] = md_to_wide(wi);
        if (md_less(largest, residual)) {
            largest = residual;
            row = i;
        }
    }

    /* bounds of friction that follow x have a tolerance of their own */
    report->iterations = iterations;
    report->row = row;
    report->residual = md_to_wide(largest);
    tolerance = coupled ? MD_K(MD_LCP_FRICTION_SOLVED * MD_EPSILON)
        : MD_K(MD_LCP_SOLVED * MD_EPSILON);
    return md_less(tolerance, largest) ? MDYN_WARN_NOT_CONVERGED : MDYN_OK;
}

/* ---- pivoting: the scaled problem ---- */

/* Hands out n (n + 11) numbers and 4 n integers; MDYN_LCP_SCRATCH(n) counts both. */
MD_STATIC void md_lcp_carve_scratch(md_lcp_work *s, int n, md_num *at, int *integers)
{
    s->n = n;
    s->clamped = 0;
    s->two_sided = NULL;
    s->b_rounding = MD_K(0);

    /* ten arrays of n numbers */
    s->x = at; at += n;
    s->lo = at; at += n;
    s->hi = at; at += n;
    s->scale = at; at += n;
    s->b = at; at += n;
    s->w = at; at += n;
    s->magnitude = at; at += n;
    s->friction_x = at; at += n;
    s->u = at; at += n;
    s->v = at; at += n;

    /* two triangles of n (n + 1) / 2 numbers */
    s->a = at; at += md_triangle_row(n);
    s->l = at;

    s->state = integers;
    s->clamped_rows = integers + n;
    s->first = integers + 2 * n;
    s->last = integers + 3 * n;
}

/* The scaled problem, no row clamped and each x as near to 0 as its bounds allow. */
MD_STATIC void md_lcp_load(md_lcp_work *s, const mdyn_lcp *p)
{
    int i, j;
    for (i = 0; i < s->n; i++) {
        md_num *row = s->a + md_triangle_row(i);
        for (j = 0; j <= i; j++) row[j] = md_lcp_scaled(s, p, i, j);
        s->b[i] = md_mul(s->scale[i], md_of_wide(p->b[i]));
        s->state[i] = 0;
        md_lcp_set_bounds(s, p, i, s->scale[i]);
        s->x[i] = md_lcp_clip(s, i, MD_K(0));
        s->friction_x[i] = MD_K(0);
    }
}

/* Where the elements of each row begin and end that are not 0. Of contacts each acts on its two
   bodies, so a row acts on those rows alone that share a body with it: in a stack of boxes that are
   numbered from below a band of A, in which md_lcp_update_w and md_lcp_refine stay. O(n^2) */
MD_STATIC void md_lcp_find_profile(md_lcp_work *s)
{
    int i, j;
    for (i = 0; i < s->n; i++) {
        const md_num *row = s->a + md_triangle_row(i);

        /* A is symmetric: what row i has at j, row j has at i */
        for (j = 0; j < i && md_is_zero(row[j]); j++) { }
        s->first[i] = j;
        for (; j <= i; j++)
            if (j == i || !md_is_zero(row[j])) s->last[j] = i;
    }
}

/* sum += t, magnitude += |t| */
MD_INLINE void md_lcp_add_term(md_num *sum, md_num *magnitude, md_num t)
{
    *sum = md_add(*sum, t);
    *magnitude = md_add(*magnitude, md_abs(t));
}

/* w = A x - b and the magnitudes of its terms. It is computed from x every time, so that rounding
   errors do not accumulate. */
MD_STATIC void md_lcp_update_w(md_lcp_work *s)
{
    md_num *MD_RESTRICT w = s->w, *MD_RESTRICT size = s->magnitude;
    const int n = s->n;
    int i, j, at;
    for (i = 0; i < n; i++) {
        w[i] = md_neg(s->b[i]);
        size[i] = md_add(md_abs(s->b[i]), s->b_rounding);
    }

    /* A x by columns. Column j of A is row j of the triangle up to the diagonal, and from there on
       the elements j of the rows below. */
    for (j = 0; j < n; j++) {
        const md_num x = s->x[j], *row = s->a + md_triangle_row(j);
        if (md_is_zero(x)) continue;
        for (i = s->first[j]; i < j; i++) md_lcp_add_term(&w[i], &size[i], md_mul(row[i], x));
        for (at = md_triangle_row(j) + j; i <= s->last[j]; at += ++i)
            md_lcp_add_term(&w[i], &size[i], md_mul(s->a[at], x));
    }
}

/* Whether w_i is more than rounding. */
MD_INLINE int md_lcp_is_significant(const md_lcp_work *s, int i)
{
    return md_less(md_mul(MD_K(MD_LCP_NOISE * MD_EPSILON), s->magnitude[i]), md_abs(s->w[i]));
}

/* The unclamped row with the largest |w| whose x may still move against it; -1: all are solved. */
MD_STATIC int md_lcp_worst_row(const md_lcp_work *s)
{
    md_num largest = MD_K(0);
    int i, row = -1;
    for (i = 0; i < s->n; i++) {
        const int state = s->state[i];
        if (!md_less(largest, md_abs(s->w[i])) || (state & (MD_LCP_CLAMPED | MD_LCP_UNBOUNDED)))
            continue;

        /* w < 0 is solved at hi, w > 0 at lo */
        if (md_less(s->w[i], MD_K(0))) {
            if ((state & MD_LCP_HAS_HI) && !md_less(s->x[i], s->hi[i])) continue;
        } else if ((state & MD_LCP_HAS_LO) && !md_less(s->lo[i], s->x[i])) {
            continue;
        }
        if (!md_lcp_is_significant(s, i)) continue;
        largest = md_abs(s->w[i]);
        row = i;
    }
    return row;
}

/* ---- pivoting: the factor L D L^T of the clamped rows ---- */

/* u := L^-1 u, v := D^-1 u; returns u.v */
MD_STATIC md_num md_lcp_forward(md_lcp_work *s)
{
    md_num sum = MD_K(0);
    int j, k, first;

    /* leading zeros of u are those of L^-1 u too: rows on other bodies than the one at hand */
    for (first = 0; first < s->clamped && md_is_zero(s->u[first]); first++) s->v[first] = MD_K(0);

    for (k = first; k < s->clamped; k++) {
        const md_num *row = s->l + md_triangle_row(k);
        md_num t = s->u[k];
        for (j = first; j < k; j++) t = md_sub(t, md_mul(row[j], s->u[j]));
        s->u[k] = t;
        s->v[k] = md_div(t, row[k]);
        sum = md_add(sum, md_mul(t, s->v[k]));
    }
    return sum;
}

/* v := -L^-T v */
MD_STATIC void md_lcp_backward(md_lcp_work *s)
{
    int j, k;
    for (k = s->clamped - 1; k >= 0; k--) {
        const md_num *row = s->l + md_triangle_row(k);
        const md_num t = s->v[k];
        for (j = 0; j < k; j++) s->v[j] = md_sub(s->v[j], md_mul(row[j], t));
        s->v[k] = md_neg(t);
    }
}

/* v := -A_CC^-1 u, and u := L^-1 u; returns u^T A_CC^-1 u for the u on entry. */
MD_STATIC md_num md_lcp_solve_clamped(md_lcp_work *s)
{
    const md_num sum = md_lcp_forward(s);
    md_lcp_backward(s);
    return sum;
}

/* Row i becomes the last clamped one; u = L^-1 A_Ci, and pivot = dw_i / dx_i is its D. */
MD_STATIC void md_lcp_clamp(md_lcp_work *s, int i, md_num pivot)
{
    md_num *row = s->l + md_triangle_row(s->clamped);
    int k;
    for (k = 0; k < s->clamped; k++)
        row[k] = md_div(s->u[k], s->l[md_triangle_row(k) + k]);
    row[k] = pivot;
    s->clamped_rows[s->clamped++] = i;
    s->state[i] |= MD_LCP_CLAMPED;
}

/* Removes the k-th clamped row, whose x is fixed from now on. The factor of the rows behind it
   becomes that of L D L^T + alpha u u^T, with alpha = D_k and u = column k of L (Gill, Golub,
   Murray, Saunders 1974, method C1). */
MD_STATIC void md_lcp_unclamp(md_lcp_work *s, int k)
{
    md_num alpha = s->l[md_triangle_row(k) + k];
    int i, j;
    s->state[s->clamped_rows[k]] &= ~MD_LCP_CLAMPED;

    /* The rows behind move up by one, without their column k, which goes into u. */
    for (i = k + 1; i < s->clamped; i++) {
        const md_num *from = s->l + md_triangle_row(i);
        md_num *to = s->l + md_triangle_row(i - 1);
        s->u[i - 1] = from[k];
        for (j = 0; j < k; j++) to[j] = from[j];
        for (j = k; j < i; j++) to[j] = from[j + 1];
        s->clamped_rows[i - 1] = s->clamped_rows[i];
    }
    s->clamped--;

    /* For each column j: D' = D + alpha p^2, beta = alpha p / D', alpha := alpha D / D',
       u_i -= p L_ij, L_ij += beta u_i, where p = u_j */
    for (j = k; j < s->clamped; j++) {
        md_num *pivot = s->l + md_triangle_row(j) + j;
        const md_num p = s->u[j], old = *pivot, t = md_mul(alpha, p);
        const md_num now = md_add(old, md_mul(t, p)), beta = md_div(t, now);
        *pivot = now;
        alpha = md_div(md_mul(alpha, old), now);
        for (i = j + 1; i < s->clamped; i++) {
            md_num *x = s->l + md_triangle_row(i) + j;
            s->u[i] = md_sub(s->u[i], md_mul(p, *x));
            *x = md_add(*x, md_mul(beta, s->u[i]));
        }
    }
}

/* ---- pivoting: the direction of a drive ---- */

/* u := A_Ci, the elements of row i at the clamped ones. */
MD_INLINE void md_lcp_load_column(md_lcp_work *s, int i)
{
    int k;
    for (k = 0; k < s->clamped; k++) s->u[k] = md_lcp_element(s, i, s->clamped_rows[k]);
}

/* One step of iterative refinement of A_CC v = -A_Ci, for clamped rows that are nearly dependent:
      v := v - A_CC^-1 (A_Ci + A_CC v);     u := L^-1 A_Ci as before
   v is kept behind the rows of L, where there is room because row i is not clamped. */
MD_STATIC void md_lcp_refine(md_lcp_work *s, int i)
{
    md_num *v = s->l + md_triangle_row(s->clamped);
    int j, k;
    for (k = 0; k < s->clamped; k++) v[k] = s->v[k];

    /* A_Ci + A_CC v, and v improved by what that leaves */
    md_lcp_load_column(s, i);
    for (k = 0; k < s->clamped; k++) {
        const int row = s->clamped_rows[k];
        for (j = 0; j < s->clamped; j++) {
            const int other = s->clamped_rows[j];
            if (other < s->first[row] || other > s->last[row]) continue;
            s->u[k] = md_add(s->u[k], md_mul(md_lcp_element(s, row, other), v[j]));
        }
    }
    md_lcp_solve_clamped(s);
    for (k = 0; k < s->clamped; k++) v[k] = md_add(v[k], s->v[k]);

    /* u as md_lcp_clamp expects it; md_lcp_forward overwrites s->v */
    md_lcp_load_column(s, i);
    md_lcp_forward(s);
    for (k = 0; k < s->clamped; k++) s->v[k] = v[k];
}

/* v = -A_CC^-1 A_Ci, the change of the clamped x per unit of x_i. Returns the change of w_i,
      rise = A_ii - A_iC A_CC^-1 A_Ci
   or 0 if that is rounding. *size is set to the sum of the magnitudes in it; with a rise of 0 the
   elements of v below MD_RANK_TOLERANCE become 0, since x_i may then go far. */
MD_STATIC md_num md_lcp_direction(md_lcp_work *s, int i, md_num *size)
{
    md_num a = md_lcp_element(s, i, i), rise;
    int k;
    *size = a;
    md_lcp_load_column(s, i);
    rise = md_sub(a, md_lcp_solve_clamped(s));
    if (md_less(MD_K(0.01), rise)) return rise;

    /* nearly all of A_ii <= 1 cancels: rise = A_ii + A_iC v from a refined v */
    md_lcp_refine(s, i);
    rise = a;
    for (k = 0; k < s->clamped; k++)
        md_lcp_add_term(&rise, size, md_mul(md_lcp_element(s, i, s->clamped_rows[k]), s->v[k]));
    if (md_less(md_mul(MD_K(MD_LCP_NOISE * MD_EPSILON), *size), rise)) return rise;

    for (k = 0; k < s->clamped; k++)
        if (md_less(md_abs(s->v[k]), MD_K(MD_RANK_TOLERANCE))) s->v[k] = MD_K(0);
    return MD_K(0);
}

/* ---- pivoting: drives ---- */

/* The place of the clamped row that meets a bound first as x += t v, for t < *limit (*limit < 0:
   any t), and that t in *limit; -1, and *limit unchanged: none does. */
MD_STATIC int md_lcp_first_bound(const md_lcp_work *s, md_num *limit)
{
    int k, first = -1;
    for (k = 0; k < s->clamped; k++) {
        const int i = s->clamped_rows[k];
        md_num rate = s->v[k], distance;
        if (md_less(MD_K(0), rate)) {
            if (!(s->state[i] & MD_LCP_HAS_HI)) continue;
            distance = md_sub(s->hi[i], s->x[i]);
        } else {
            if (md_is_zero(rate) || !(s->state[i] & MD_LCP_HAS_LO)) continue;
            distance = md_sub(s->x[i], s->lo[i]);
            rate = md_neg(rate);
        }
        distance = md_max(distance, MD_K(0));

        /* distance / rate >= limit, without the division */
        if (!md_less(*limit, MD_K(0)) && !md_less(distance, md_mul(*limit, rate))) continue;
        *limit = md_div(distance, rate);
        first = k;
    }
    return first;
}

/* x_i += d, within its bounds. A sum that is only the rounding of d becomes 0: otherwise a row
   whose w depends on x_i alone would take it for a value of x_i, and have no solution. */
MD_STATIC void md_lcp_move(md_lcp_work *s, int i, md_num d)
{
    md_num x = md_add(s->x[i], d);
    if (md_less(md_abs(x), md_mul(MD_K(MD_LCP_NOISE * MD_EPSILON), md_abs(d)))) x = MD_K(0);
    s->x[i] = md_lcp_clip(s, i, x);
}

/* x += t v of the clamped rows. */
MD_STATIC void md_lcp_move_clamped(md_lcp_work *s, md_num t)
{
    int k;
    for (k = 0; k < s->clamped; k++) md_lcp_move(s, s->clamped_rows[k], md_mul(t, s->v[k]));
}

/* Fixes the x of the k-th clamped row at the bound that v leads it to. */
MD_STATIC void md_lcp_stop_at_bound(md_lcp_work *s, int k)
{
    const int i = s->clamped_rows[k];
    s->x[i] = md_less(s->v[k], MD_K(0)) ? s->lo[i] : s->hi[i];
    md_lcp_unclamp(s, k);
}

/* Whether only rounding makes a step t at constant w end at a bound: t is longer than 100 times any
   x or b, and so long that the whole w is rounding beside its terms of magnitude size t. */
MD_STATIC int md_lcp_is_noise(const md_lcp_work *s, md_num w, md_num size, md_num t)
{
    int i;
    if (!md_less(w, md_mul(md_mul(MD_K(MD_LCP_SOLVED * MD_EPSILON), size), t))) return 0;
    for (i = 0; i < s->n; i++)
        if (md_less(t, md_mul(MD_K(100), md_max(md_abs(s->x[i]), md_abs(s->b[i]))))) return 0;
    return 1;
}

/* Drives row i until w_i = 0, its x meets a bound, or it is found unbounded. Every iteration but
   the last unclamps a row. */
MD_STATIC void md_lcp_drive(md_lcp_work *s, int i)
{
    md_num w = s->w[i];
    const int up = md_less(w, MD_K(0)), bound = up ? MD_LCP_HAS_HI : MD_LCP_HAS_LO;
    for (;;) {
        md_num size, rise = md_lcp_direction(s, i, &size), t = MD_K(-1), distance;
        int k, meets_bound = 0, first;

        /* v per unit of the motion of x_i, which is downwards if w_i > 0 */
        if (!up) for (k = 0; k < s->clamped; k++) s->v[k] = md_neg(s->v[k]);

        /* the first of: w_i = 0, x_i at its bound, a clamped x at a bound; t < 0: none of them */
        if (!md_is_zero(rise)) t = md_div(md_abs(w), rise);
        if (s->state[i] & bound) {
            distance = up ? md_sub(s->hi[i], s->x[i]) : md_sub(s->x[i], s->lo[i]);
            meets_bound = md_less(t, MD_K(0)) || !md_less(t, distance);
            if (meets_bound) t = distance;
        }
        first = md_lcp_first_bound(s, &t);
        if (md_is_zero(rise) && first >= 0 && md_lcp_is_noise(s, md_abs(w), size, t)) t = MD_K(-1);
        if (md_less(t, MD_K(0))) {
            s->state[i] |= MD_LCP_UNBOUNDED;
            return;
        }

        /* all x move together; the clamped ones keep w = 0 */
        md_lcp_move_clamped(s, t);
        md_lcp_move(s, i, up ? t : md_neg(t));
        /* no clamped x stops the drive: it ends at the bound of x_i, or at w_i = 0 */
        if (first < 0) {
            if (meets_bound) s->x[i] = up ? s->hi[i] : s->lo[i];
            else md_lcp_clamp(s, i, rise);
            return;
        }

        /* w_i moves towards 0 by t rise, and not beyond by rounding */
        md_lcp_stop_at_bound(s, first);
        t = md_mul(t, rise);
        w = up ? md_min(md_add(w, t), MD_K(0)) : md_max(md_sub(w, t), MD_K(0));
    }
}

/* Brings w of the clamped rows back to 0 after rounding or changed bounds moved it, as far as the
   bounds allow: x += t v with v = -A_CC^-1 w_C. Every iteration but the last unclamps a row. */
MD_STATIC void md_lcp_correct_clamped(md_lcp_work *s)
{
    int k, first;
    do {
        md_num t = MD_K(1);
        for (k = 0; k < s->clamped; k++) s->u[k] = s->w[s->clamped_rows[k]];
        md_lcp_solve_clamped(s);
        first = md_lcp_first_bound(s, &t);
        md_lcp_move_clamped(s, t);

        /* the part 1 - t of w remains */
        t = md_sub(MD_K(1), t);
        for (k = 0; k < s->clamped; k++)
            s->w[s->clamped_rows[k]] = md_mul(t, s->w[s->clamped_rows[k]]);
        if (first >= 0) md_lcp_stop_at_bound(s, first);
    } while (first >= 0);
}

/* Solves the problem for constant bounds; returns the number of drives, at most 8 n + 32. Starts
   from the clamped rows and x of an earlier call. */
MD_STATIC int md_lcp_pivot(md_lcp_work *s)
{
    const int max_drives = 8 * s->n + 32;
    int i, k, drives = 0, corrected = 0;
    for (i = 0; i < s->n; i++) s->state[i] &= ~MD_LCP_UNBOUNDED;

    for (;;) {
        int open = 0;
        md_lcp_update_w(s);
        if (md_lcp_choose_sides(s)) md_lcp_update_w(s);

        /* one correction of the clamped rows before each drive, if these need any */
        for (k = 0; k < s->clamped && !open; k++)
            open = md_lcp_is_significant(s, s->clamped_rows[k]);
        if (open && !corrected) {
            md_lcp_correct_clamped(s);
            corrected = 1;
            continue;
        }
        corrected = 0;

        i = md_lcp_worst_row(s);
        if (i < 0 || drives == max_drives) return drives;
        md_lcp_drive(s, i);
        drives++;

        /* a change of the clamped rows may bound what was unbounded before */
        if (!(s->state[i] & MD_LCP_UNBOUNDED))
            for (k = 0; k < s->n; k++) s->state[k] &= ~MD_LCP_UNBOUNDED;
    }
}

/* ---- friction: bounds +-mu |x_k| that follow the solution ---- */

/* Whether friction row i of normal row k slides: 1 at its upper bound, -1 at its lower one, 0: it
   does not. */
MD_INLINE int md_lcp_slides(const md_lcp_work *s, const mdyn_lcp *p, int i, int k)
{
    /* a clamped row does not slide, even if its x is at the bound; nor does one that cannot move */
    if (md_lcp_friction_of(p, i) != k || !(s->state[i] & MD_LCP_HAS_HI)
        || s->state[i] & MD_LCP_CLAMPED || !md_less(s->lo[i], s->hi[i])) return 0;

    /* at x_cap the bound does not follow x_k; an x at a kink is not at a friction bound */
    if (s->two_sided && !md_less(s->two_sided[i].x_max, s->two_sided[i].x_cap)) return 0;
    if ((s->state[i] & MD_LCP_TWO_SIDED) && md_is_zero(s->x[i])) return 0;
    return !md_less(s->x[i], s->hi[i]) ? 1 : !md_less(s->lo[i], s->x[i]) ? -1 : 0;
}

/* u := A_CF dx_F / d|x_k| for the rows F that slide with normal row k: the change of w_C per unit
   of |x_k| in their bounds. Returns whether there are any. */
MD_STATIC int md_lcp_friction_load(md_lcp_work *s, const mdyn_lcp *p, int k)
{
    int i, j, any = 0;
    for (j = 0; j < s->clamped; j++) s->u[j] = MD_K(0);
    for (i = 0; i < s->n; i++) {
        const int sign = md_lcp_slides(s, p, i, k);
        md_num slope;
        if (sign == 0) continue;
        any = 1;

        /* dx_i / d|x_k| = +-mu, in the scales of both rows */
        slope = md_div(md_mul(md_of_wide(p->hi[i]), s->scale[k]), s->scale[i]);
        slope = sign < 0 ? md_neg(md_abs(slope)) : md_abs(slope);
        for (j = 0; j < s->clamped; j++)
            s->u[j] = md_add(s->u[j], md_mul(slope, md_lcp_element(s, s->clamped_rows[j], i)));
    }
    return any;
}

/* Solves q linear equations M y = r in place, r being the last column of M, by Gauss-Jordan
   elimination with partial pivoting. Returns 0 if M is singular. */
MD_STATIC int md_lcp_eliminate(md_num *M, int q)
{
    const int width = q + 1;
    int i, j, k, best;
    for (k = 0; k < q; k++) {
        /* the row with the largest element in column k becomes row k */
        for (best = i = k; i < q; i++)
            if (md_less(md_abs(M[best * width + k]), md_abs(M[i * width + k]))) best = i;
        if (md_is_zero(M[best * width + k])) return 0;
        for (j = k; j < width; j++) {
            const md_num t = M[k * width + j];
            M[k * width + j] = M[best * width + j];
            M[best * width + j] = t;
        }

        /* column k is eliminated from all other rows */
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

/* u_k := the |x_k| from which the next friction bounds are computed, by Newton's method on
      |x_k| - f_k = 0,     f_k = friction_x, from which the present bounds were computed:
      (1 - d|x| / df) y = |x| - f,     f := max(0, f + y)
   for the q clamped normal rows that have sliding friction rows, f := |x| for all others. */
MD_STATIC void md_lcp_newton_friction(md_lcp_work *s, const mdyn_lcp *p)
{
    /* free room: M behind the rows of L, the places of the q rows behind the clamped ones */
    md_num *M = s->l + md_triangle_row(s->clamped);
    int *place = s->clamped_rows + s->clamped;
    int i, j, k, q = 0, width;
    for (k = 0; k < s->clamped; k++)
        if (md_lcp_friction_load(s, p, s->clamped_rows[k])) place[q++] = k;
    width = q + 1;

    /* Column j: dx / df_k = v = -A_CC^-1 u, and d|x| = -dx where x < 0. */
    for (j = 0; j < q; j++) {
        k = s->clamped_rows[place[j]];
        md_lcp_friction_load(s, p, k);
        md_lcp_solve_clamped(s);
        for (i = 0; i < q; i++) {
            const md_num v = s->v[place[i]], x = s->x[s->clamped_rows[place[i]]];
            const md_num own = i == j ? MD_K(1) : MD_K(0);
            M[i * width + j] = md_less(x, MD_K(0)) ? md_add(own, v) : md_sub(own, v);
        }
        M[j * width + q] = md_sub(md_abs(s->x[k]), s->friction_x[k]);
    }

    /* a singular M leaves |x| for all rows */
    for (i = 0; i < s->n; i++) s->u[i] = md_abs(s->x[i]);
    if (!md_lcp_eliminate(M, q)) return;
    for (j = 0; j < q; j++) {
        k = s->clamped_rows[place[j]];
        s->u[k] = md_max(MD_K(0), md_add(s->friction_x[k], M[j * width + q]));
    }
}

/* mu times the magnitude of the terms of x_k, whose rounding passes into the bound of friction
   row i. */
MD_INLINE md_num md_lcp_rounding_of_bound(const md_lcp_work *s, const mdyn_lcp *p, int i, int k)
{
    const md_num a = md_lcp_element(s, k, k), mu = md_abs(md_of_wide(p->hi[i]));
    const md_num x = md_is_zero(a) ? md_abs(s->x[k]) : md_div(s->magnitude[k], a);
    return md_div(md_mul(md_mul(mu, s->scale[k]), x), s->scale[i]);
}

/* Whether any friction row has a residual, as of md_lcp_row_residual, with the bounds of the
   present x. For a row at its bound the tolerance is the rounding of that bound: the terms of a
   fast slip are large and do not enter its x. */
MD_STATIC int md_lcp_friction_is_open(const md_lcp_work *s, const mdyn_lcp *p)
{
    int i, k;
    for (i = 0; i < s->n; i++) {
        md_num a = md_lcp_element(s, i, i), size = s->magnitude[i], d, x_max;
        k = md_lcp_friction_of(p, i);
        if (k < 0) continue;
        if (md_is_zero(a)) a = MD_K(1);

        /* d = -w_i / A_ii, limited to the bounds and to the present side of a kink */
        d = md_neg(md_div(s->w[i], a));
        if (md_lcp_friction_bound(s, p, i, s->scale[i], md_mul(s->scale[k], s->x[k]), &x_max)) {
            const int kink = s->state[i] & MD_LCP_TWO_SIDED;
            const int negative = s->state[i] & MD_LCP_NEGATIVE;
            const md_num x_min = kink && !negative ? MD_K(0) : md_neg(x_max);
            const md_num full_step = d;
            if (kink && negative) x_max = MD_K(0);
            d = md_max(d, md_sub(x_min, s->x[i]));
            d = md_min(d, md_sub(x_max, s->x[i]));
            if (md_less(md_abs(d), md_abs(full_step)))
                size = md_min(size, md_mul(a, md_lcp_rounding_of_bound(s, p, i, k)));
        }
        d = md_mul(a, md_abs(d));
        if (md_less(md_mul(MD_K(MD_LCP_SETTLED * MD_EPSILON), size), d)) return 1;
    }
    return 0;
}

/* The bounds of all friction rows from |x_k| = u_k. Rows that slide move with their bound, and
   clamped rows that end at or beyond one are unclamped. */
MD_STATIC void md_lcp_update_friction(md_lcp_work *s, const mdyn_lcp *p)
{
    int i, k;
    for (i = 0; i < s->n; i++) {
        int slides;
        k = md_lcp_friction_of(p, i);
        if (k < 0) continue;
        slides = md_lcp_slides(s, p, i, k);
        s->friction_x[k] = s->u[k];
        md_lcp_bound_friction_row(s, p, i, s->scale[i], md_mul(s->scale[k], s->friction_x[k]));
        if (slides && (s->state[i] & MD_LCP_HAS_HI)) s->x[i] = slides < 0 ? s->lo[i] : s->hi[i];
        s->x[i] = md_lcp_clip(s, i, s->x[i]);
    }

    /* from the last on: md_lcp_unclamp moves the rows behind k */
    for (k = s->clamped - 1; k >= 0; k--) {
        i = s->clamped_rows[k];
        if (md_lcp_friction_of(p, i) >= 0 && (s->state[i] & MD_LCP_HAS_HI)
            && (!md_less(s->lo[i], s->x[i]) || !md_less(s->x[i], s->hi[i]))) md_lcp_unclamp(s, k);
    }
}

/* Solves the scaled problem, friction included; returns the number of drives. MDYN_TWO_STAGE solves
   twice, the second time with the bounds of the first solution. MDYN_PYRAMID repeats until bounds
   and solution agree, at most 256 times. Each time |x_k| changes by half of the difference, which
   converges where full changes would oscillate. Iterations 0, 1, 3, 7, 15 .. take a Newton step
   instead, which ends the iteration once the set of sliding rows is the final one. */
MD_STATIC int md_lcp_solve(md_lcp_work *s, const mdyn_lcp *p)
{
    const int max_iterations = p->friction_law == MDYN_PYRAMID ? 256 : 1;
    int i, iteration, drives = md_lcp_pivot(s);
    if (!p->findex) return drives;

    /* two stages: if the first problem has no solution, its x gives no bounds */
    for (i = 0; i < s->n && max_iterations == 1; i++)
        if ((s->state[i] & MD_LCP_UNBOUNDED)
            && md_less(md_mul(MD_K(MD_LCP_SOLVED * MD_EPSILON), s->magnitude[i]), md_abs(s->w[i])))
            return drives;

    for (iteration = 0;
         iteration == 0 || (iteration < max_iterations && md_lcp_friction_is_open(s, p));
         iteration++) {
        if ((iteration & (iteration + 1)) == 0) md_lcp_newton_friction(s, p);
        else for (i = 0; i < s->n; i++)
            s->u[i] = md_mul(MD_K(0.5), md_add(s->friction_x[i], md_abs(s->x[i])));
        md_lcp_update_friction(s, p);
        drives += md_lcp_pivot(s);
    }
    return drives;
}

/* Whether row i, which was driven without end, proves that there is no solution. It moved along a d
   that meets no bound, with b.d > 0 and, but for rounding, A d = 0. Every solution x has
   b.d <= x.(A d), so |x|_1 >= b.d / max_k |(A d)_k|. The proof is accepted if that is MD_LCP_FAR
   times the largest |x_k| and |b_k|; a rounding error of its terms is added to each (A d)_k. A d
   with a friction row is no proof: the row has a bound once x of its normal row is 0. Writes u
   and v. */
MD_STATIC int md_lcp_proves_no_solution(md_lcp_work *s, const mdyn_lcp *p, int i)
{
    md_num size, gain, largest = MD_K(0), largest_term = MD_K(0);
    int j, k, unlimited = md_lcp_friction_of(p, i) >= 0;
    md_lcp_load_column(s, i);
    md_lcp_solve_clamped(s);
    md_lcp_refine(s, i);

    /* b d, along the direction d = e_i + v of the clamped rows */
    gain = s->b[i];
    for (k = 0; k < s->clamped; k++) {
        gain = md_add(gain, md_mul(s->b[s->clamped_rows[k]], s->v[k]));
        if (!md_is_zero(s->v[k]) && md_lcp_friction_of(p, s->clamped_rows[k]) >= 0) unlimited = 1;
    }

    /* |A d| with its rounding, and the numbers that b d is to exceed */
    for (j = 0; j < s->n; j++) {
        md_num sum = md_lcp_element(s, j, i);
        size = md_abs(sum);
        for (k = 0; k < s->clamped; k++)
            md_lcp_add_term(&sum, &size,
                            md_mul(md_lcp_element(s, j, s->clamped_rows[k]), s->v[k]));
        size = md_mul(MD_K(MD_EPSILON), size);
        largest = md_max(largest, md_add(md_abs(sum), size));
        largest_term = md_max(largest_term, md_max(md_abs(s->b[j]),
                                                   md_div(md_abs(s->x[j]), s->scale[j])));
    }
    return !unlimited && md_less(md_mul(md_mul(MD_K(MD_LCP_FAR), largest_term), largest),
                                 md_abs(gain));
}

/* x and bounds back to the scale of the user's problem; friction rows keep the bounds with which x
   was found. Small bounds may have been rounded, so x is projected onto them once more. */
MD_STATIC void md_lcp_unscale(md_lcp_work *s, const mdyn_lcp *p)
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
        s->x[i] = md_lcp_clip(s, i, s->x[i]);
    }
}

/* ---- projected Gauss-Seidel iterations, unscaled ---- */

/* Hands out MDYN_PGS_SCRATCH(n) cells. */
MD_STATIC void md_lcp_carve_pgs_scratch(md_lcp_work *s, int n, mdyn_lcp_cell *scratch)
{
    s->n = n;
    s->two_sided = NULL;
    s->x = (md_num *)(void *)scratch;
    s->lo = s->x + n;
    s->hi = s->lo + n;
    s->scale = s->hi + n;
    s->magnitude = s->scale + n;
    s->state = (int *)(void *)(s->magnitude + n);
}

/* x_i := clamp(x_i + omega (b_i - (A x)_i) / A_ii), the bounds of friction by the present x_k;
   returns the change of x_i. */
MD_STATIC md_num md_lcp_visit(md_lcp_work *s, const mdyn_lcp *p, int i, md_num omega)
{
    const int k = md_lcp_friction_of(p, i);
    const md_num old = s->x[i];
    md_num d;
    if (k >= 0) md_lcp_bound_friction_row(s, p, i, MD_K(1), s->x[k]);
    d = md_sub(md_of_wide(p->b[i]), md_lcp_product(s, p, i));
    d = md_mul(md_mul(omega, d), s->magnitude[i]);
    s->x[i] = md_lcp_clip(s, i, md_add(old, d));
    return md_sub(s->x[i], old);
}

/* Iterates until no x changes by more than `tolerance` of the largest, both in the scale D, which
   makes rows comparable. Returns the number of iterations; *unconverged: it ended at the limit. */
MD_STATIC int md_lcp_iterate(md_lcp_work *s, const mdyn_lcp *p, md_num omega, md_num tolerance,
                             int max_iterations, int *unconverged)
{
    int i, iterations = 0;
    do {
        md_num change = MD_K(0), largest = MD_K(0);
        for (i = 0; i < s->n; i++) {
            const md_num d = md_lcp_visit(s, p, i, omega);
            change = md_max(change, md_div(md_abs(d), s->scale[i]));
            largest = md_max(largest, md_div(md_abs(s->x[i]), s->scale[i]));
        }

        /* converged where the largest change is a rounding of the largest x */
        *unconverged = md_less(md_mul(tolerance, largest), change);
        iterations++;
    } while (*unconverged && iterations < max_iterations);
    return iterations;
}

#endif

/* ========================================================================= // >>constraints
   What each constraint row demands of the joint velocities.

   Given:   the model, q and v, the commands, the poses, the factor L of the mass matrix.
   Gives:   for each row the Jacobian J (as terms on joint velocities, or as wrenches on bodies),
            J v, the constraint function C, the target and the bounds of its force.
   Writes:  of each row Jv, error, v_lo, v_hi, position_bias, lambda_min, lambda_max, and scale of
            rows on bodies; sim->terms, sim->value, sim->row_jacobian, sim->row_jacobian_size,
            sim->has_position_error; sim->body_row, for closures and contacts, by md_clear_body_row
            and md_add_wrench_term.

   With v' the joint velocities after the step and lambda the impulse [N s, N m s] of the row:
      v_lo <= J v' + cfm lambda <= v_hi,   v' = v_free + M^-1 J^T lambda,
      lambda_min <= lambda <= lambda_max
   In a midpoint step J and J v are those of its middle. A spring has its own law (md_set_spring):
   v_lo = v_hi contain parts of J v and of the target velocity, so that its force is of second
   order.

   lambda > 0 only if the row is at v_lo, lambda < 0 only if it is at v_hi; the bounds of lambda
   come before both. An equality row without bounds on its impulse is called unbounded, unless its
   impulse bounds another row. All others (limits, ranges, contacts, friction, rows with a maximum
   force) are treated as inequality constraints.

   Targets, with h the substep, w the target velocity, e = erp (Baumgarte stabilization):
      equality     v_lo = v_hi = w - e C/h
      drive        the same with w = (1 - e) w_target, an implicit spring and damper
      range        v_lo = -(C - lower)/h within the range, -e (C - lower)/h outside;
                   v_hi likewise with upper
      velocity     v_lo = w + lower, v_hi = w + upper
      friction, transmission loss: v_lo = v_hi = 0 with a bounded force
   erp and cfm follow from the softness and are set by >>whiten before the targets are.
   Sources: ODE manual, erp and cfm; PhysX mimic joints (5)-(8), (17), (18); ArtiSynth, custom
   joints (4.29), (4.32) for the deadband and the activation of limits. */

/* No bound of a target velocity, force or impulse on one side. Limits that the user gives have a
   threshold of their own, 1e12: md_has_lower, md_has_upper. */
#define MD_NO_MIN MD_K(-1e30)
#define MD_NO_MAX MD_K(1e30)

MD_INLINE int md_has_min(md_num x) { return md_less(MD_K(-1e29), x); }

MD_INLINE int md_has_max(md_num x) { return md_less(x, MD_K(1e29)); }

/* What a set of rows is solved for. All modes but MD_MODE_STEP take hard equality rows only; of
   these modes only MD_MODE_POSITION corrects positions. */
enum md_mode {
    MD_MODE_STEP,         /* all rows, for the velocities after a step */
    MD_MODE_ACCELERATION, /* J a = -J' v, for accelerations */
    MD_MODE_POSITION,     /* J dq = -C, for a displacement */
    MD_MODE_VELOCITY      /* J dv = w - J v, for a change of the velocities */
};

/* Which position biases a solve applies. */
enum md_bias_mode {
    MD_BIAS_ALL,
    MD_BIAS_NONE,
    MD_BIAS_COMPLIANT /* of compliant rows only: there the bias is the force of a spring */
};

/* ---- access ----
   Rows by their numbers. Like strchr, these take a const sim and return what may be written. */

MD_SHARED md_row *md_row_at(const mdyn_sim *sim, int k)
{
    const md_row *first = sim->row;
    MD_OPAQUE(first); /* or gcc finds the row's place anew for each use */
    return (md_row *)first + k;
}

MD_INLINE md_row *md_active_row(const mdyn_sim *sim, int i) /* the i-th row of this solve */
{
    return md_row_at(sim, sim->active[i]);
}

/* The row of a kind and index; -1: none. O(rows). */
MD_STATIC int md_find_row(const mdyn_sim *sim, mdyn_row_kind kind, int index)
{
    int k;
    for (k = 0; k < sim->rows; k++)
        if ((int)md_row_at(sim, k)->kind == (int)kind && md_row_at(sim, k)->index == index)
            return k;
    return -1;
}

/* Coupling rows and their loss rows; `index` is the coupling. */
MD_INLINE int md_is_coupling_row(const md_row *row)
{
    return (MD_HAS(COUPLING) || MD_HAS(ELIMINATED)) && row->kind <= MDYN_ROW_LOSS;
}

/* Whether a row is that of a coupling with curves, or of its loss. */
MD_INLINE int md_row_is_curved(const mdyn_sim *sim, const md_row *row)
{
    return md_is_coupling_row(row) && md_coupling_is_curved(sim, row->index);
}

/* Whether earlier substeps of this step have moved q, by sim->displacement. */
MD_INLINE int md_has_displacement(const mdyn_sim *sim)
{
    return MIMICDYN_SETTINGS && sim->has_displacement;
}

/* The impulse of row k in all of the step: lambda, and that of the substeps before. */
MD_INLINE md_num md_row_impulse(const mdyn_sim *sim, int k)
{
    const md_num before = MIMICDYN_SETTINGS ? sim->substep_row[k].lambda_sum : MD_K(0);
    return md_add(before, md_row_at(sim, k)->lambda);
}

/* Whether a row has compliance: cfm > 0. */
MD_INLINE int md_row_is_soft(const md_row *row) { return MD_HAS(SOFT) && !md_is_zero(row->cfm); }

/* Whether it is a spring, with kp and kd at the middle of the step. */
MD_INLINE int md_row_is_spring(const md_row *row) { return MD_HAS(SOFT) && row->is_spring; }

/* ---- J, J v and C of rows on joints ---- */

/* The terms of a joint row, without the slopes of curves: the coefficients of a coupling that are
   not 0, in the order of its terms, so the first one is that of the first joint; of any other kind
   1 on its DoF. */
MD_STATIC void md_find_straight_terms(const mdyn_sim *sim, const md_row *row, md_terms *t)
{
    const mdyn_term *term;
    int k = 0;

    if (!md_is_coupling_row(row)) {
        t->count = 1;
        t->dof[0] = row->index;
        t->coefficient[0] = MDYN_C(1);
        t->factor[0] = MD_K(1);
        return;
    }

    t->count = sim->term_count[row->index];
    for (term = md_coupling_at(sim, row->index)->terms; k < t->count; term++) {
        if (md_wide_is_zero(term->coefficient)) continue;
        t->dof[k] = (int16_t)(md_dof_of(sim, term->body) + term->axis);
        t->coefficient[k] = term->coefficient;
        t->factor[k++] = md_of_wide(term->coefficient);
    }

    /* Transmission loss: Coulomb friction on the first joint's share of C', which by C' = 0 is
       half of the first term minus the others. */
    if (!MIMICDYN_LOSSES || row->kind == MDYN_ROW_COUPLING) return;
    for (k = 0; k < t->count; k++) {
        t->factor[k] = md_mul(k ? MD_K(-0.5) : MD_K(0.5), t->factor[k]);
        t->coefficient[k] = md_to_wide(t->factor[k]);
    }
}

/* Multiplies the terms of a coupling or its loss by the slopes of their curves: those of the last
   md_update_curves, or, for reports, of the last step. */
MD_STATIC void md_bend_terms(const mdyn_sim *sim, const md_row *row, md_terms *t, int of_step)
{
    const mdyn_term *term;
    const md_bend *bend;
    int k = 0;
    if (!md_row_is_curved(sim, row)) return;

    /* bends are in the order of the terms that have one */
    bend = &MD_CURVES(sim)->bend[MD_CURVES(sim)->first[row->index]];
    for (term = md_coupling_at(sim, row->index)->terms; k < t->count; term++) {
        if (md_wide_is_zero(term->coefficient)) continue;
        if (term->curve) {
            t->factor[k] = md_mul(t->factor[k], of_step ? bend->step_slope : bend->slope);
            t->coefficient[k] = md_to_wide(t->factor[k]);
            bend++;
        }
        k++;
    }
}

/* J of a joint row as terms, with the slopes of the last md_update_curves. */
MD_INLINE void md_find_row_terms(const mdyn_sim *sim, const md_row *row, md_terms *t)
{
    md_find_straight_terms(sim, row, t);
    md_bend_terms(sim, row, t, 0);
}

/* J of a joint row in the last step. */
MD_INLINE void md_find_step_terms(const mdyn_sim *sim, const md_row *row, md_terms *t)
{
    md_find_straight_terms(sim, row, t);
    md_bend_terms(sim, row, t, 1);
}

/* J v of a joint row with the terms t, summed with more digits than md_num has, because the terms
   cancel where a coupling holds. */
MD_OWN_FRAME md_num md_row_velocity(const mdyn_sim *sim, const md_row *row, const md_terms *t)
{
    md_sum s;
    int k;
    if (!md_is_coupling_row(row)) return md_of_real(sim->v[row->index]);
    md_sum_set(&s, MDYN_C(0));
    for (k = 0; k < t->count; k++) md_sum_add_velocity(&s, t->coefficient[k], sim->v[t->dof[k]]);
    return md_sum_to_num(&s);
}

/* J x for changes x of all velocities. */
MD_STATIC md_num md_terms_dot(const md_terms *t, const md_num *x)
{
    md_num sum = MD_K(0);
    int k;
    for (k = 0; k < t->count; k++) sum = md_add(sum, md_mul(t->factor[k], x[t->dof[k]]));
    return sum;
}

/* to += J^T s */
MD_STATIC void md_add_terms(const md_terms *t, md_num s, md_num *to)
{
    int k;
    for (k = 0; k < t->count; k++)
        to[t->dof[k]] = md_add(to[t->dof[k]], md_mul(t->factor[k], s));
}

/* C of a joint row, by q and its tails. */
MD_STATIC void md_sum_position(const mdyn_sim *sim, const md_row *row, const md_terms *t, md_sum *C)
{
    int k, c = md_coordinate_of_dof(sim, t->dof[0]);
    if (!md_is_coupling_row(row) || row->kind == MDYN_ROW_LOSS) {
        md_sum_set_real(C, sim->q[c], sim->q_tail[c]);
        return;
    }

    /* a coupling: offset, then the terms */
    md_sum_set(C, md_coupling_at(sim, row->index)->offset);
    if (!md_wide_is_zero(sim->offset_rest[row->index]))
        md_sum_add_product(C, sim->offset_rest[row->index], MDYN_R(1), 0);
    if (md_coupling_is_curved(sim, row->index)) {
        md_sum_curves(sim, row->index, C);
        return;
    }
    for (k = 0; k < t->count; k++) {
        c = md_coordinate_of_dof(sim, t->dof[k]);
        md_sum_add_product(C, t->coefficient[k], sim->q[c], sim->q_tail[c]);
    }
}

/* sim->value = C of the joint row whose terms are in sim->terms: the coordinate, or the sum of
   coefficient q + offset, with the digits of q below mdyn_real and, apart, J displacement. */
MD_OWN_FRAME void md_evaluate_position(mdyn_sim *sim, const md_row *row)
{
    const md_terms *t = &sim->terms;
    md_num shift = MD_K(0);
    int k;
    for (k = 0; md_has_displacement(sim) && k < t->count; k++)
        shift = md_add(shift, md_mul(t->factor[k], sim->displacement[t->dof[k]]));
    sim->value.displacement = shift;
    md_sum_position(sim, row, t, &sim->value.sum);
}

/* C - x for the C in sim->value. The difference is taken before it is rounded, so that C near x
   keeps the digits of q_tail. */
MD_INLINE md_num md_value_minus(const mdyn_sim *sim, mdyn_wide x)
{
    return md_add(md_sum_minus(&sim->value.sum, x), sim->value.displacement);
}

/* ---- bounds of force ---- */

/* A spring and damper whose gains are both 0: it exerts no force. */
MD_INLINE int md_softness_is_forceless(const mdyn_softness *s)
{
    return s->kind == MDYN_KP_KD && md_wide_is_zero(s->a) && md_wide_is_zero(s->b);
}

/* Whether the impulse of coupling i bounds that of another row: of its own loss row, if it has an
   efficiency, or of a coupling that names it as mu_of. O(couplings). */
MD_STATIC int md_coupling_bounds_others(const mdyn_sim *sim, int i)
{
    int k;
    for (k = 0; k < sim->couplings; k++)
        if (md_has_mu(md_coupling_at(sim, k)) && md_coupling_at(sim, k)->mu_of == i) return 1;
    return md_has_efficiency(md_coupling_at(sim, i));
}

/* Whether the impulse of a joint row has no bound: an engaged equality without
   effort or mu, whose impulse bounds no other row either; or a drive without effort. (Rows bounded
   by each other's impulses are solved together, by iteration or pivoting.) */
MD_STATIC int md_row_is_unbounded(const mdyn_sim *sim, const md_row *row)
{
    if (MD_ROW_IS(row, COUPLING)) {
        const mdyn_coupling *c = md_coupling_at(sim, row->index);
        if (md_softness_is_forceless(&c->softness)) return 0;
        return md_coupling_is_equality(c) && md_wide_is_zero(c->effort) && !md_has_mu(c)
            && !sim->released[row->index] && !md_coupling_bounds_others(sim, row->index);
    }
    return MD_ROW_IS(row, DRIVE)
        && md_wide_is_zero(md_values_of_dof(sim, row->index)->effort);
}

/* Whether the row is that of an eliminated coupling (>>reduce), which no solve sets up. */
MD_INLINE int md_row_is_eliminated(const mdyn_sim *sim, const md_row *row)
{
    return MD_HAS(ELIMINATED) && row->kind == MDYN_ROW_COUPLING && sim->eliminated[row->index];
}

/* Whether a joint row is solved with the equality rows: row->unbounded. */
MD_INLINE int md_row_is_equality(const mdyn_sim *sim, const md_row *row)
{
    return !md_row_is_eliminated(sim, row) && md_row_is_unbounded(sim, row);
}

/* |lambda| <= h effort, in each substep; an effort of 0 is no bound. */
MD_STATIC void md_bound_impulse(const mdyn_sim *sim, md_row *row, mdyn_wide effort)
{
    if (md_wide_is_zero(effort)) return;
    row->lambda_max = md_mul(sim->h, md_of_wide(effort));
    row->lambda_min = md_neg(row->lambda_max);
}

/* The commanded force of a DoF, clamped to the effort of its actuator [N m or N]. A drive on the
   same DoF may exert what this leaves of the effort. */
MD_STATIC md_num md_commanded_force(const mdyn_sim *sim, const md_joint_values *b, int dof)
{
    md_num tau = md_of_real(sim->tau[dof]), effort;
    if (md_wide_is_zero(b->effort)) return tau;
    effort = md_of_wide(b->effort);
    return md_max(md_neg(effort), md_min(effort, tau));
}

/* ---- followers of eliminated couplings ---- */

/* Into sim->terms: the terms of a tie's coupling. */
MD_INLINE const md_terms *md_find_tie_terms(mdyn_sim *sim, const md_tie *tie)
{
    md_find_row_terms(sim, md_row_at(sim, tie->coupling), &sim->terms);
    return &sim->terms;
}

/* Of a tie's coupling: C less its target, by q and its tails, and C'. */
typedef struct md_tie_values { md_num error, velocity; } md_tie_values;

MD_STATIC md_tie_values md_evaluate_tie(const mdyn_sim *sim, const md_tie *tie)
{
    const mdyn_coupling *c = md_coupling_at(sim, tie->coupling);
    const mdyn_term *term = c->terms;
    int left = sim->term_count[tie->coupling];
    md_tie_values values;
    md_sum C, velocity;
    md_sum_set(&C, c->offset);
    md_sum_set(&velocity, MDYN_C(0));
    if (!md_wide_is_zero(sim->offset_rest[tie->coupling]))
        md_sum_add_product(&C, sim->offset_rest[tie->coupling], MDYN_R(1), 0);

    if (md_coupling_is_curved(sim, tie->coupling)) {
        const md_row *row = md_row_at(sim, tie->coupling);
        md_terms t;
        md_find_row_terms(sim, row, &t);
        md_sum_curves(sim, tie->coupling, &C);
        values.error = md_sum_minus(&C, c->lower);
        values.velocity = md_row_velocity(sim, row, &t);
        return values;
    }

    /* the terms that are there; the search ends with the last of them */
    for (; left > 0; term++) {
        const int at = md_coordinate_of(sim, term->body);
        if (md_wide_is_zero(term->coefficient)) continue;
        left--;
        md_sum_add_velocity(&velocity, term->coefficient, sim->v[md_dof_of(sim, term->body)]);
        md_sum_add_product(&C, term->coefficient, sim->q[at], sim->q_tail[at]);
    }
    values.error = md_sum_minus(&C, c->lower);
    values.velocity = md_sum_to_num(&velocity);
    return values;
}

enum { MD_OFF_VELOCITY = 1, MD_OFF_POSITION = 2, MD_OFF_ACCELERATION = 3 }; /* what `off` is of */

/* By how much C' of a tie's coupling misses what it shall be in a mode: C, C', the rate of C' at
   no accelerations of the independent joints. A step acts at its middle: C' + J' v dt/2 there is C'
   at the end. */
MD_STATIC md_num md_tie_miss(const mdyn_sim *sim, const md_tie *tie, enum md_mode mode)
{
    md_num miss;
    if (mode == MD_MODE_ACCELERATION) return md_sum_bends(sim, tie->coupling, MD_BEND_RATE);
    if (mode == MD_MODE_POSITION) return md_evaluate_tie(sim, tie).error;
    miss = md_evaluate_tie(sim, tie).velocity;
    if (MD_HAS_CURVES && mode == MD_MODE_STEP)
        miss = md_add(miss, md_mul(md_mul(MD_K(0.5), sim->dt),
                                   md_sum_bends(sim, tie->coupling, MD_BEND_RATE)));
    return miss;
}

/* sim->off := how far each follower is from the value that the independent joints give it: in q for
   MD_MODE_POSITION, in v for MD_MODE_VELOCITY and for a step that does not begin where the last one
   ended; in MD_MODE_ACCELERATION -g = -G' y', which is 0 for linear couplings. With curves also in
   a step: -g dt/2, for it acts at its middle. O(terms) */
MD_OWN_FRAME void md_find_off(mdyn_sim *sim, enum md_mode mode)
{
    int i, k;
    sim->has_off = 0;
    if (!md_tie_count(sim) || (!md_has_curved_ties(sim) && (mode == MD_MODE_ACCELERATION
        || (mode == MD_MODE_STEP && !sim->may_be_off)))) return;

    /* off_f = (C or C' - sum of c_k off_k)/c_f, followers after those that they follow */
    for (k = 0; k < sim->dofs; k++) sim->off[k] = MD_K(0);
    for (i = 0; i < md_tie_count(sim); i++) {
        const md_tie *tie = &sim->tie[i];
        md_num miss = md_tie_miss(sim, tie, mode);
        miss = md_sub(miss, md_terms_dot(md_find_tie_terms(sim, tie), sim->off));
        sim->off[tie->dof] = md_mul(miss, tie->inverse);
        if (!md_is_zero(miss))
            sim->has_off = mode == MD_MODE_POSITION ? MD_OFF_POSITION : MD_OFF_VELOCITY;
    }
}

/* q and v of the followers := gamma(y), G y', wherever they were. dq, dv: their changes; 0 at the
   other DoFs. MDYN_ERR_OVERFLOW (index: coordinate, DoF) if one leaves its range; the followers
   before it have moved. Each is corrected twice, because a large correction in an md_num has too
   few digits. O(terms) */
MD_STATIC int md_place_followers(mdyn_sim *sim, md_num *dq, md_num *dv)
{
    int i, k, pass;
    for (k = 0; k < sim->dofs; k++) dq[k] = dv[k] = MD_K(0);
    for (i = 0; i < md_tie_count(sim); i++)
        for (pass = 0; pass < 2; pass++) {
            const md_tie *tie = &sim->tie[i];
            const int c = md_coordinate_of_dof(sim, tie->dof);
            const int code = md_has_curved_ties(sim) ? md_update_curves(sim) : MDYN_OK;
            const md_tie_values miss = md_evaluate_tie(sim, tie);
            const md_num q = md_neg(md_mul(miss.error, tie->inverse));
            const md_num v = md_neg(md_mul(miss.velocity, tie->inverse));
            if (code != MDYN_OK) return code;
            if (!md_stays_in_range(sim->q[c], q)) return md_blame(sim, MDYN_ERR_OVERFLOW, c);
            if (!md_stays_in_range(sim->v[tie->dof], v))
                return md_blame(sim, MDYN_ERR_OVERFLOW, tie->dof);

            /* both moves are in range */
            md_accumulate(&sim->q[c], &sim->q_tail[c], q);
            md_accumulate(&sim->v[tie->dof], &sim->v_tail[tie->dof], v);
            dq[tie->dof] = md_add(dq[tie->dof], q);
            dv[tie->dof] = md_add(dv[tie->dof], v);
        }
    return MDYN_OK;
}

/* The rounding of C of a tie's coupling: that of its terms, and of their change in a step. */
MD_STATIC md_num md_tie_rounding(mdyn_sim *sim, const md_tie *tie)
{
    const md_terms *t = md_find_tie_terms(sim, tie);
    md_num size = MD_K(1);
    int k;
    for (k = 0; k < t->count; k++) {
        const md_num q = md_abs(md_of_real(sim->q[md_coordinate_of_dof(sim, t->dof[k])]));
        const md_num v = md_abs(md_of_real(sim->v[t->dof[k]]));
        size = md_add(size, md_abs(md_mul(t->factor[k], md_add(q, md_mul(sim->dt, v)))));
    }
    if (MD_HAS_CURVES) size = md_add(size, md_sum_bends(sim, tie->coupling, MD_BEND_VALUE));
    return md_mul(MD_K(64 * MD_EPSILON), size);
}

/* C of ties with curves at the start of a step. The step may leave the curve by the error of its
   order, so that C at its end does not tell whether it held. */
MD_STATIC void md_note_curved_ties(mdyn_sim *sim)
{
    int i;
    for (i = 0; i < md_tie_count(sim); i++) {
        const md_tie *tie = &sim->tie[i];
        md_num *error = &MD_CURVES(sim)->tie_error[i];
        if (!md_tie_is_curved(sim, i)) continue;
        *error = md_evaluate_tie(sim, tie).error;
        if (!md_less(md_tie_rounding(sim, tie), md_abs(*error))) *error = MD_K(0);
    }
}

/* q of the follower of tie i on a curve: C = 0, or 0.8 of what it was at the start of the step. */
MD_INLINE md_num md_curved_correction(const mdyn_sim *sim, int i, md_num error)
{
    return md_mul(md_sub(md_mul(MD_K(0.8), MD_CURVES(sim)->tie_error[i]), error),
                  sim->tie[i].inverse);
}

/* v and q of the followers after v and q of all joints have moved.
   v := G v of the independent joints, to all digits, where G is constant. On curves v stays as the
   solve gave it, G v to second order of dt. To move the follower alone would cost energy of first
   order of dt; the next solve moves all joints by their mass (md_find_off).
   q: C = 0 to all digits if it was 0 to rounding before the step; otherwise the step corrects the
   part erp of it. A correction that would leave the range of q is omitted. O(terms) */
MD_OWN_FRAME void md_follow(mdyn_sim *sim)
{
    int i;
    sim->q_may_be_off = 0;
    for (i = 0; i < md_tie_count(sim); i++) {
        const md_tie *tie = &sim->tie[i];
        const int c = md_coordinate_of_dof(sim, tie->dof), curved = md_tie_is_curved(sim, i);
        const md_tie_values miss = md_evaluate_tie(sim, tie);
        md_num back = md_neg(md_mul(miss.error, tie->inverse));
        if (!curved)
            md_accumulate(&sim->v[tie->dof], &sim->v_tail[tie->dof],
                          md_neg(md_mul(miss.velocity, tie->inverse)));
        if (md_is_zero(miss.error)) continue;

        /* what is more than rounding, as after a change of q, goes back in parts */
        if (curved) {
            back = md_curved_correction(sim, i, miss.error);
        } else if (md_less(MD_K(64 * MD_EPSILON), md_abs(miss.error))
            && md_less(md_tie_rounding(sim, tie), md_abs(miss.error))) {
            back = md_mul(MD_K(0.2), back);
            sim->q_may_be_off = 1;
        }
        if (md_stays_in_range(sim->q[c], back)) md_accumulate(&sim->q[c], &sim->q_tail[c], back);
    }
}

/* ---- position bias ----
   The part of v_lo and v_hi that corrects a position error. It is kept in row->position_bias
   where a solve may have to leave it out: with relaxation the final velocities come from a solve
   without it, and a warm start must not carry it into the next step. */

/* Whether any solve leaves out the bias of this row. */
MD_INLINE int md_separates_bias(const mdyn_sim *sim, const md_row *row)
{
    if (md_uses_relaxation(sim)) return 1;
    return md_uses_warm_start(sim) && !MD_ROW_IS(row, DRIVE)
        && !(row->unbounded && !md_iterates_equalities(sim));
}

/* has_position_error: errors of rows that are solved exactly; of others. */
enum { MD_ERROR_OF_EQUALITY = 1, MD_ERROR_OF_INEQUALITY = 2 };

MD_INLINE uint8_t md_error_kind(const mdyn_sim *sim, const md_row *row)
{
    return row->unbounded && !md_iterates_equalities(sim) ? MD_ERROR_OF_EQUALITY
                                                          : MD_ERROR_OF_INEQUALITY;
}

/* The flags of has_position_error that are set. Drives, springs and friction have no such error. */
MD_INLINE int md_position_error(const mdyn_sim *sim)
{
    return MD_HAS(COUPLING) || MD_HAS(LIMIT) ? sim->has_position_error : 0;
}

/* Whether q may move beside the drift with v: by substeps, or to correct errors of positions. */
#define MD_MOVES_APART (MIMICDYN_SETTINGS || MD_HAS(COUPLING) || MD_HAS(LIMIT))

/* The error up to which a C of size 1 counts as 0. The tails of q give C to better than MD_EPSILON;
   without relaxation the bound is larger, because a bias stays in v. */
MD_INLINE md_num md_error_rounding(const mdyn_sim *sim)
{
    return md_uses_relaxation(sim) ? MD_K(MD_EPSILON) : MD_K(64 * MD_EPSILON);
}

/* What a row on bodies has beside md_row. */
MD_INLINE const md_body_row *md_body_row_at(const mdyn_sim *sim, const md_row *row)
{
    return &MD_BODY_ROWS(sim)->body_row[(row - sim->row) - sim->joint_row_count];
}

/* The unit of C: 1 for joint rows, closures and contacts; the largest coefficient of a user row. */
MD_STATIC md_num md_unit_of_row(const mdyn_sim *sim, const md_row *row)
{
    const md_body_row *r;
    md_num square = MD_K(0);
    int p;
    if (!MD_HAS_CLOSURES || row->kind != MDYN_ROW_USER) return MD_K(1);
    r = md_body_row_at(sim, row);
    for (p = 0; p < r->term_count; p++) {
        const md_force *f = &r->wrench[p];
        square = md_max(square, md_max(md_dot(&f->ang, &f->ang), md_dot(&f->lin, &f->lin)));
    }
    return md_sqrt(square);
}

/* Sets the flag of the row in sim->has_position_error if |row->error| exceeds the rounding of C,
   md_error_rounding sum of |coefficient| (1 + |q|); of a row on bodies md_error_rounding of its
   unit. Reads sim->terms. */
MD_STATIC void md_note_position_error(mdyn_sim *sim, const md_row *row)
{
    const md_terms *t = &sim->terms;
    md_num size = t->count == 0 ? md_unit_of_row(sim, row) : MD_K(0);
    int k;
    for (k = 0; k < t->count; k++)
        size = md_add(size, md_mul(md_abs(t->factor[k]), md_add(MD_K(1),
            md_abs(md_of_real(sim->q[md_coordinate_of_dof(sim, t->dof[k])])))));
    if (MD_HAS_CURVES && row->kind == MDYN_ROW_COUPLING)
        size = md_add(size, md_sum_bends(sim, row->index, MD_BEND_VALUE));
    if (md_less(md_mul(md_error_rounding(sim), size), md_abs(row->error)))
        sim->has_position_error |= md_error_kind(sim, row);
}

/* Stores the bias of a row. With relaxation and MDYN_EXPLICIT, or after a step whose iteration did
   not converge, any bias counts as a position error; otherwise only one above rounding. */
MD_INLINE void md_set_position_bias(mdyn_sim *sim, md_row *row, md_num bias)
{
    /* at most the rounding of C */
    md_num least = md_error_rounding(sim);
    if (sim->terms.count > 0) least = md_mul(least, md_abs(sim->terms.factor[0]));
    else least = md_mul(least, md_unit_of_row(sim, row));
    row->position_bias = bias;
    /* the bias of a compliant row is the force of a spring, no correction */
    if (md_uses_relaxation(sim) && md_row_is_soft(row)) return;
    if (sim->was_unconverged || (md_uses_relaxation(sim) && !md_uses_midpoint(sim))) {
        if (!md_is_zero(bias)) sim->has_position_error |= md_error_kind(sim, row);
    } else if (md_less(least, md_abs(row->error))) {
        md_note_position_error(sim, row);
    }
}

/* The fraction of its error that a row corrects per second. Substeps share erp: substep k of n
   corrects erp/(n - k erp) of the remaining error. Soft rows and MDYN_EXPLICIT have the whole erp
   in each substep. */
MD_INLINE md_num md_error_rate(const mdyn_sim *sim, const md_row *row)
{
    md_num rate = md_mul(row->erp, sim->inverse_h), rest;
    if (md_substeps(sim) == 1 || !md_uses_midpoint(sim) || md_row_is_soft(row)) return rate;
    rest = md_sub(md_of_int(md_substeps(sim)), md_mul(md_of_int(sim->substep), row->erp));
    return md_div(rate, rest);
}

/* Whether a solve leaves out the bias of a row. cfm > 0 marks a compliant row. */
MD_INLINE int md_omits_bias(const md_row *row, enum md_bias_mode bias_mode)
{
    return bias_mode != MD_BIAS_ALL && !(bias_mode == MD_BIAS_COMPLIANT && md_row_is_soft(row));
}

/* v_lo and v_hi as a solve applies them. A range has a bias on its violated side only, which the
   sign of the bias gives: positive below `lower`, negative above `upper`. */
MD_INLINE md_num md_target_lo(const md_row *row, enum md_bias_mode bias_mode)
{
    if (!md_omits_bias(row, bias_mode)) return row->v_lo;
    if (md_less(row->v_lo, row->v_hi) && !md_less(MD_K(0), row->position_bias)) return row->v_lo;
    return md_sub(row->v_lo, row->position_bias);
}

MD_INLINE md_num md_target_hi(const md_row *row, enum md_bias_mode bias_mode)
{
    if (!md_omits_bias(row, bias_mode)) return row->v_hi;
    if (md_less(row->v_lo, row->v_hi) && !md_less(row->position_bias, MD_K(0))) return row->v_hi;
    return md_sub(row->v_hi, row->position_bias);
}

/* The biases that are contained in the velocities at the end of a step. */
MD_INLINE enum md_bias_mode md_final_bias_mode(const mdyn_sim *sim)
{
    return md_position_error(sim) && md_uses_relaxation(sim) ? MD_BIAS_COMPLIANT : MD_BIAS_ALL;
}

/* ---- targets of each form of row ---- */

/* Equality: v_lo = v_hi = velocity - erp C/h, with C in row->error. One substep removes the part
   erp of the error. */
MD_OWN_FRAME void md_target_equality(mdyn_sim *sim, md_row *row, md_num velocity)
{
    md_num correction = md_mul(md_error_rate(sim, row), row->error);
    row->v_lo = row->v_hi = md_sub(velocity, correction);
    if (md_separates_bias(sim, row)) md_set_position_bias(sim, row, md_neg(correction));
}

/* J v at the start of this substep. */
MD_INLINE md_num md_present_velocity(const mdyn_sim *sim, const md_row *row)
{
    return MIMICDYN_SETTINGS && sim->substep > 0 ? sim->substep_row[row - sim->row].Jv : row->Jv;
}

/* low = high of a spring, for row->error. */
MD_OWN_FRAME void md_target_spring(const mdyn_sim *sim, md_row *row, md_num target)
{
    md_num correction = md_mul(md_mul(row->erp, sim->inverse_h), row->error);
    md_num spring_part = md_mul(row->spring_v, md_present_velocity(sim, row));
    row->v_lo = row->v_hi = md_add(md_sub(spring_part, correction),
                                   md_mul(row->spring_target, target));
}

/* The fraction of the step in which C, moving with J v, is beyond a bound, if it exceeds the bound
   by `beyond` at the middle of the step. *mean: the mean excess in that time. In substeps 0 or
   1. */
MD_STATIC md_num md_share_beyond(const mdyn_sim *sim, const md_row *row, md_num beyond,
                                 md_num *mean)
{
    const md_num half = md_abs(md_mul(md_mul(MD_K(0.5), sim->h), row->Jv));
    const md_num largest = md_add(beyond, half), smallest = md_sub(beyond, half);

    *mean = beyond;
    if (md_substeps(sim) > 1) return md_less(MD_K(0), beyond) ? MD_K(1) : MD_K(0);
    if (!md_less(MD_K(0), largest)) return MD_K(0);
    if (!md_less(smallest, MD_K(0))) return MD_K(1);
    *mean = md_mul(MD_K(0.5), largest);
    return md_div(largest, md_sub(largest, smallest));
}

/* The same for the bound of a range that C is beyond; *error: C - bound, negative at the lower
   bound. */
MD_STATIC md_num md_share_beyond_range(const mdyn_sim *sim, const md_row *row, mdyn_wide lower,
                                       mdyn_wide upper, md_num *error)
{
    md_num share = MD_K(0);
    if (md_has_lower(lower)) {
        share = md_share_beyond(sim, row, md_neg(md_value_minus(sim, lower)), error);
        *error = md_neg(*error);
    }
    if (md_is_zero(share) && md_has_upper(upper))
        share = md_share_beyond(sim, row, md_value_minus(sim, upper), error);
    return share;
}

/* Compliant range: a spring at each bound, no force inside. In a step that crosses a bound the
   spring acts in the fraction of the step beyond it: with the mean error there, and with cfm
   divided by that fraction (md_share_spring). */
MD_OWN_FRAME void md_target_soft_range(const mdyn_sim *sim, md_row *row, mdyn_wide lower,
                                    mdyn_wide upper)
{
    md_num error;
    row->v_lo = MD_NO_MIN;
    row->v_hi = MD_NO_MAX;
    if (md_is_zero(md_share_beyond_range(sim, row, lower, upper, &error))) return;
    row->error = error;
    md_target_spring(sim, row, MD_K(0));
    if (md_less(error, MD_K(0))) row->v_hi = MD_K(1e30);
    else row->v_lo = MD_K(-1e30);
}

/* Divides cfm of a coupling with a compliant range by the fraction of the step in which it acts:
   the impulse of a spring that acts for phi h is that of a spring phi times as stiff over the step.
   Without this the velocity after a contact has an error of dt/2 kd v/m, with it one of second
   order in dt. Reads sim->value. */
MD_OWN_FRAME void md_share_spring(const mdyn_sim *sim, md_row *row)
{
    const mdyn_coupling *c;
    md_num share, error;
    if (!md_row_is_spring(row) || !MD_ROW_IS(row, COUPLING)) return;
    c = md_coupling_at(sim, row->index);
    if (md_is_of_velocity(c) || md_coupling_is_equality(c)) return;
    share = md_share_beyond_range(sim, row, c->lower, c->upper, &error);
    if (!md_is_zero(share)) row->cfm = md_div(row->cfm, share);
}

/* Drive, C = q - target: md_target_spring. With MDYN_EXPLICIT
      cfm lambda = (1 - erp) target_velocity - erp C/h - v',
   the spring and damper evaluated at the end of the step (implicit Euler). */
MD_OWN_FRAME void md_target_drive(mdyn_sim *sim, md_row *row)
{
    md_sum_add_velocity(&sim->value.sum, MDYN_C(-1), sim->target[row->index]);
    row->error = md_add(md_sum_to_num(&sim->value.sum), sim->value.displacement);
    if (md_row_is_spring(row))
        md_target_spring(sim, row, md_of_real(sim->target_velocity[row->index]));
    else
        md_target_equality(sim, row, md_mul(md_sub(MD_K(1), row->erp),
                                            md_of_real(sim->target_velocity[row->index])));
}

/* Activated limit (row->active_side): C' >= 0 away from the bound, and all of the violation beyond
   the deadband is corrected within one substep. ArtiSynth (4.29). */
MD_OWN_FRAME void md_target_activated(mdyn_sim *sim, md_row *row, mdyn_wide lower, mdyn_wide upper)
{
    const int at_lower = row->active_side > 0;
    md_num zero = MD_K(0), violation, bias;

    violation = md_value_minus(sim, at_lower ? lower : upper);
    violation = md_max(zero, at_lower ? md_neg(violation) : violation);
    bias = md_max(zero, md_sub(violation, md_of_wide(sim->solver.deadband)));
    bias = md_mul(bias, sim->inverse_h);
    if (!at_lower) bias = md_neg(bias);

    row->error = at_lower ? md_neg(violation) : violation;
    row->v_lo = at_lower ? bias : MD_NO_MIN;
    row->v_hi = at_lower ? MD_NO_MAX : bias;
    if (!md_is_zero(bias)) md_set_position_bias(sim, row, bias);
}

/* One side of a range, with x = C - bound: C' that takes C to the bound within one substep or,
   where it is violated, by the part erp. A violation is noted in row->error and *bias. */
MD_INLINE md_num md_target_bound(const mdyn_sim *sim, md_row *row, md_num x, int is_violated,
                                 md_num *bias)
{
    md_num rate = is_violated ? md_error_rate(sim, row) : sim->inverse_h;
    md_num target = md_neg(md_mul(x, rate));
    if (!is_violated) return target;
    row->error = x;
    *bias = target;
    return target;
}

/* Hard range: C stays within [lower, upper], and returns there by the part erp in a substep. */
MD_OWN_FRAME void md_target_hard_range(mdyn_sim *sim, md_row *row, mdyn_wide lower,
                                       mdyn_wide upper)
{
    md_num zero = MD_K(0), x, bias = zero;
    row->v_lo = MD_NO_MIN;
    row->v_hi = MD_NO_MAX;

    /* each bound that is meant, and the bias that brings back what has passed it */
    if (md_has_lower(lower)) {
        x = md_value_minus(sim, lower);
        row->v_lo = md_target_bound(sim, row, x, md_less(x, zero), &bias);
    }
    if (md_has_upper(upper)) {
        x = md_value_minus(sim, upper);
        row->v_hi = md_target_bound(sim, row, x, md_less(zero, x), &bias);
    }
    if (!md_is_zero(bias) && md_separates_bias(sim, row)) md_set_position_bias(sim, row, bias);
}

MD_INLINE void md_target_range(mdyn_sim *sim, md_row *row, mdyn_wide lower, mdyn_wide upper)
{
    if (MD_SETTING_IS(sim, limits, MDYN_ENGAGED) && row->active_side)
        md_target_activated(sim, row, lower, upper);
    else if (MD_HAS(RANGE) && md_row_is_spring(row))
        md_target_soft_range(sim, row, lower, upper);
    else
        md_target_hard_range(sim, row, lower, upper);
}

/* Constraint on C' alone: velocity + lower <= C' <= velocity + upper. Friction of contacts has
   lower = upper = 0 with a bounded force. No position is corrected. */
MD_OWN_FRAME void md_target_velocity(md_row *row, md_num velocity, mdyn_wide lower,
                                              mdyn_wide upper)
{
    row->v_lo = md_has_lower(lower) ? md_add(velocity, md_of_wide(lower)) : MD_NO_MIN;
    row->v_hi = md_has_upper(upper) ? md_add(velocity, md_of_wide(upper)) : MD_NO_MAX;
}

/* The part of the targets of a hard row that is due to J' v = gamma: the row acts at the middle of
   the step, but C and C' shall be 0 at the end of the substep. Returns the part of v_lo and v_hi;
   *error is that of C. */
MD_STATIC md_num md_curvature_target(const mdyn_sim *sim, md_num gamma, const mdyn_softness *s,
                                     md_num *error)
{
    const md_num half = md_mul(MD_K(0.5), sim->h);
    md_num middle = md_add(half, md_mul(sim->h, md_of_int(sim->substep)));
    *error = MD_K(0);
    if (sim->kinematics_stale != MD_KINEMATICS_OF_STEP || md_is_zero(gamma)
        || !md_softness_is_hard(s)) return MD_K(0);

    /* from the middle of the step to that of the substep, and to its end */
    middle = md_sub(middle, md_mul(MD_K(0.5), sim->dt));
    *error = md_mul(md_mul(MD_K(0.5), gamma), md_sub(md_mul(middle, middle), md_mul(half, half)));
    return md_neg(md_mul(md_add(middle, half), gamma));
}

/* v_lo and v_hi of a range, where they are bounds, by the part of J' v: a range of C that is curved
   in q is reached, and not passed, like one that is straight. */
MD_STATIC void md_turn_range(md_row *row, md_num turn)
{
    if (md_has_min(row->v_lo)) row->v_lo = md_add(row->v_lo, turn);
    if (md_has_max(row->v_hi)) row->v_hi = md_add(row->v_hi, turn);
}

/* sim->value = C of the joint row in sim->terms, if it is a constraint on positions. Friction,
   losses and couplings of velocities have no C. */
MD_INLINE void md_evaluate_row(mdyn_sim *sim, const md_row *row)
{
    if (MD_ROW_IS(row, COUPLING)
            ? !md_is_of_velocity(md_coupling_at(sim, row->index))
            : MD_ROW_IS(row, DRIVE) || MD_ROW_IS(row, LIMIT))
        md_evaluate_position(sim, row);
}

/* Terms, J v and C of a joint row: sim->terms, row->Jv, sim->value. */
MD_OWN_FRAME void md_look_at_row(mdyn_sim *sim, md_row *row)
{
    md_find_row_terms(sim, row, &sim->terms);
    row->Jv = md_row_velocity(sim, row, &sim->terms);
    md_evaluate_row(sim, row);
}

/* What J' v adds to v_lo and v_hi of a coupling with curves; sim->value gets its part of C, from
   the middle of the step to the end of the substep. */
MD_STATIC md_num md_turn_of_curves(mdyn_sim *sim, int i)
{
    md_num error, turn = md_curvature_target(sim, md_sum_bends(sim, i, MD_BEND_RATE),
                                             &md_coupling_at(sim, i)->softness, &error);
    sim->value.displacement = md_add(sim->value.displacement, error);
    return turn;
}

/* The target of a joint row in a step or substep, from sim->value: md_evaluate_row comes first. */
MD_INLINE void md_target_row(mdyn_sim *sim, md_row *row)
{
    const mdyn_coupling *c = NULL;
    md_num turn;
    row->error = row->v_lo = row->v_hi = row->position_bias = MD_K(0);

    /* friction and losses: J v' = 0, with bounds on the impulse */
    if (row->kind == MDYN_ROW_LOSS || MD_ROW_IS(row, FRICTION)) return;
    if (MD_ROW_IS(row, COUPLING)) {
        c = md_coupling_at(sim, row->index);
        if (md_is_of_velocity(c)) {
            md_target_velocity(row, md_of_wide(c->target_velocity), c->lower, c->upper);
            return;
        }
    }

    /* drive; limit; coupling with a range; coupling as an equality */
    if (MD_ROW_IS(row, DRIVE)) {
        md_target_drive(sim, row);
    } else if (!c) {
        const md_joint_values *b = md_values_of_dof(sim, row->index);
        if (MD_HAS(LIMIT)) md_target_range(sim, row, b->lower, b->upper);
    } else if (!md_coupling_is_equality(c)) {
        turn = md_turn_of_curves(sim, row->index);
        md_target_range(sim, row, c->lower, c->upper);
        if (md_coupling_is_curved(sim, row->index)) md_turn_range(row, turn);
    } else {
        turn = md_of_wide(c->target_velocity);
        if (md_coupling_is_curved(sim, row->index))
            turn = md_add(turn, md_turn_of_curves(sim, row->index));
        row->error = md_value_minus(sim, c->lower);
        if (md_row_is_spring(row)) md_target_spring(sim, row, turn);
        else md_target_equality(sim, row, turn);
    }
}

/* ---- rows on bodies: closures, user rows, contacts ----
   J follows from wrenches f on bodies: J_k = S_k^T f for each DoF k between a body and the world,
   f shifted from origin to origin on the way, as in the backward recursion of inverse dynamics
   (Featherstone 2008, table 5.1). A term may also act on the DoFs of a body's joint directly.
   sim->body_row holds the rows of this step (md_update_body_rows); their bodies, and with them the
   sparsity of J, may change from step to step. Body row j is row
   sim->joint_row_count + j of the sim. */

MD_INLINE int md_is_body_row(const md_row *row)
{
    return MD_HAS_BODY_ROWS && row->kind > MDYN_ROW_LIMIT;
}

/* Whether this step has any. */
MD_INLINE int md_has_body_rows(const mdyn_sim *sim)
{
    return MD_HAS_BODY_ROWS && sim->rows > sim->joint_row_count;
}

MD_INLINE md_body_row *md_body_row_of(mdyn_sim *sim, const md_row *row)
{
    return &MD_BODY_ROWS(sim)->body_row[(row - sim->row) - sim->joint_row_count];
}

/* Body row j without terms, C = 0, unlimited force. */
MD_STATIC md_body_row *md_clear_body_row(mdyn_sim *sim, int j, const mdyn_softness *softness)
{
    md_body_row *r = &MD_BODY_ROWS(sim)->body_row[j];
    r->term_count = 0;
    r->leader = -1;
    r->unbounded = 0;
    r->level = MDYN_POSITION;
    r->softness = *softness;
    r->lower = r->upper = MDYN_C(0);
    r->value = r->target_velocity = r->mu = r->bias_acceleration = r->value_size = MD_K(0);
    r->force_min = MD_NO_MIN;
    r->force_max = MD_NO_MAX;
    return r;
}

/* Adds a term: the wrench f at a body's origin in world axes or, if is_joint_term, coefficients of
   its joint's velocities. Terms on the world are dropped. */
MD_STATIC void md_add_wrench_term(md_body_row *r, int body, int is_joint_term, const md_force *f)
{
    if (body < 0) return;
    r->body[r->term_count] = (int16_t)body;
    r->is_joint_term[r->term_count] = (uint8_t)is_joint_term;
    r->wrench[r->term_count++] = *f;
}

/* Adds a unit force n on body a and -n on b, at the arms from their origins (world axes); with
   arm NULL a unit moment. */
MD_STATIC void md_add_wrench_pair(md_body_row *r, int a, int b, const md_vec *arm, const md_vec *n)
{
    md_force f;
    int side;
    for (side = 0; side < 2; side++) {
        f.ang = f.lin = *n;
        if (side) md_vec_scale(&f.ang, MD_K(-1), n);
        f.lin = f.ang;
        if (arm) md_cross(&f.ang, &arm[side], &f.lin);
        else md_vec_zero(&f.lin);
        md_add_wrench_term(r, side ? b : a, 0, &f);
    }
}

/* Whether a body row is a range of C, or of C' at MDYN_VELOCITY; else an equality. */
MD_INLINE int md_body_row_has_range(const md_body_row *r)
{
    return !md_is_zero(md_sub(md_of_wide(r->upper), md_of_wide(r->lower)));
}

MD_INLINE int md_body_row_is_of_velocity(const mdyn_sim *sim, const md_row *row)
{
    return md_body_row_at(sim, row)->level == MDYN_VELOCITY;
}

/* Whether a row is a user's range of positions: MDYN_ENGAGED treats it like a limit. */
MD_INLINE int md_user_row_activates(const mdyn_sim *sim, const md_row *row)
{
    return MD_HAS_CLOSURES && row->kind == MDYN_ROW_USER
        && md_body_row_at(sim, row)->level == MDYN_POSITION
        && md_body_row_has_range(md_body_row_at(sim, row));
}

/* sim->row_jacobian[k] += S_k^T f for the DoFs from a body to the world. sim->row_jacobian_size[k]
   is raised to the square of the numbers in this sum, for the test of rounding in
   md_body_row_jacobian. */
MD_STATIC void md_add_wrench_jacobian(mdyn_sim *sim, int body, const md_force *wrench)
{
    md_body_rows *rows = MD_BODY_ROWS(sim);
    md_force f = *wrench;
    md_num ang2 = md_dot(&f.ang, &f.ang), lin2 = md_dot(&f.lin, &f.lin), size;
    int i, k;
    for (i = body; i >= 0; i = sim->link[i].parent) {
        const md_link *link = &sim->link[i];
        const md_vec *arm = &MD_TREE(sim)->body_state[i].arm;
        for (k = link->dof; k < link->dof + link->dofs; k++) {
            const md_dof *d = &sim->dof[k];
            size = d->kind == MD_LINEAR ? lin2 : ang2;
            if (d->kind == MD_HELICAL)
                size = md_add(ang2, md_mul(md_mul(MD_COLUMN(d)->pitch, MD_COLUMN(d)->pitch), lin2));
            rows->row_jacobian[k] = md_add(rows->row_jacobian[k], md_dof_dot_force(d, &f));
            rows->row_jacobian_size[k] = md_max(rows->row_jacobian_size[k], size);
        }
        if (link->parent < 0) break;

        /* f at the parent's origin: moment += arm x force */
        md_vec_add_cross(&f.ang, arm, &f.lin);
        ang2 = md_max(ang2, md_max(md_dot(&f.ang, &f.ang), md_mul(md_dot(arm, arm), lin2)));
    }
}

/* sim->row_jacobian, sim->row_jacobian_size = the sums over all terms of a body row. */
MD_STATIC void md_sum_row_jacobian(mdyn_sim *sim, const md_body_row *r)
{
    md_body_rows *rows = MD_BODY_ROWS(sim);
    int p, i, k;
    for (p = 0; p < r->term_count; p++)
        for (k = md_last_dof(sim, r->body[p]); k >= 0; k = md_parent_dof(sim, k)) {
            rows->row_jacobian[k] = rows->row_jacobian_size[k] = MD_K(0);
            for (i = sim->G_first[k]; i < sim->G_end[k]; i++)
                rows->row_jacobian[sim->G_y[i]] = rows->row_jacobian_size[sim->G_y[i]] = MD_K(0);
        }

    /* a wrench, or the coefficients of up to six joint velocities */
    for (p = 0; p < r->term_count; p++) {
        const md_link *link = &sim->link[r->body[p]];
        if (!r->is_joint_term[p]) md_add_wrench_jacobian(sim, r->body[p], &r->wrench[p]);
        for (k = 0; k < link->dofs && r->is_joint_term[p]; k++) {
            const md_vec *c = k < 3 ? &r->wrench[p].ang : &r->wrench[p].lin;
            md_num x = md_vec_get(c, k % 3), *size = &rows->row_jacobian_size[link->dof + k];
            rows->row_jacobian[link->dof + k] = md_add(rows->row_jacobian[link->dof + k], x);
            *size = md_max(*size, md_mul(x, x));
        }
    }
}

/* J x of a body row, x one number for each DoF. J is not stored with a row: it is summed again
   from the wrenches, shifted as in md_add_wrench_jacobian. O(terms depth). */
MD_STATIC md_num md_body_row_dot(const mdyn_sim *sim, const md_row *row, const md_num *x)
{
    const md_body_row *r = md_body_row_at(sim, row);
    md_num sum = MD_K(0);
    int p, i, k;
    for (p = 0; p < r->term_count; p++) {
        const md_link *link = &sim->link[r->body[p]];
        md_force f = r->wrench[p];
        for (k = 0; k < link->dofs && r->is_joint_term[p]; k++)
            sum = md_add(sum, md_mul(x[link->dof + k],
                                     md_vec_get(k < 3 ? &f.ang : &f.lin, k % 3)));

        for (i = r->body[p]; i >= 0 && !r->is_joint_term[p]; i = sim->link[i].parent) {
            link = &sim->link[i];
            for (k = link->dof; k < link->dof + link->dofs; k++)
                sum = md_add(sum, md_mul(x[k], md_dof_dot_force(&sim->dof[k], &f)));
            md_vec_add_cross(&f.ang, &MD_TREE(sim)->body_state[i].arm, &f.lin);
        }
    }
    return sum;
}

/* sim->row_jacobian := J G: on the paths of a body row, the element of each follower is added to
   those of the DoFs that it follows. */
MD_STATIC void md_reduce_row_jacobian(mdyn_sim *sim, const md_body_row *r)
{
    int p, i, k;
    for (p = 0; p < r->term_count && md_tie_count(sim); p++)
        for (k = md_last_dof(sim, r->body[p]); k >= 0; k = md_parent_dof(sim, k)) {
            md_num *J = MD_BODY_ROWS(sim)->row_jacobian;
            md_num *size = MD_BODY_ROWS(sim)->row_jacobian_size;
            if (!md_is_follower(sim, k)) continue;
            for (i = sim->G_first[k]; i < sim->G_end[k]; i++) {
                const int y = sim->G_y[i];
                J[y] = md_add(J[y], md_mul(sim->G[i], J[k]));
                size[y] = md_max(size[y], md_mul(md_mul(sim->G[i], sim->G[i]), size[k]));
            }
            J[k] = size[k] = MD_K(0);
        }
}

/* For md_body_row_jacobian: sets the element of an independent DoF to 0 if it is rounding, else
   adds its part to J v and raises *largest to its whitened magnitude. */
MD_STATIC void md_finish_row_jacobian(mdyn_sim *sim, md_body_row *r, md_row *row, int k,
                                      md_num *largest)
{
    md_body_rows *rows = MD_BODY_ROWS(sim);
    const md_num rounding = MD_K(4096 * MD_EPSILON * MD_EPSILON);
    const md_num inverse = sim->inverse_diagonal[k], size = rows->row_jacobian_size[k];
    const md_scale e = md_dof_scale(&sim->dof[k]);
    md_num x = rows->row_jacobian[k];

    /* a size of 0: no term acts there, or an earlier path has been there already */
    if (md_is_zero(size)) return;
    if (!md_less(md_mul(rounding, size), md_mul(x, x))) x = MD_K(0);
    rows->row_jacobian[k] = x;
    rows->row_jacobian_size[k] = MD_K(0);

    if (!md_is_zero(x)) {
        md_num whitened = md_mul(size, md_mul(inverse, inverse));
        r->max_length2 = md_max(r->max_length2, md_ldexp(whitened, -2 * e));
    }
    row->Jv = md_add(row->Jv, md_mul(x, md_of_real(sim->v[k])));
    *largest = md_max(*largest, md_ldexp(md_mul(md_abs(x), inverse), -e));
}

/* J G of a body row into sim->row_jacobian, valid for the DoFs between its bodies and the world and
   for those that these follow; row->Jv = J v; row->scale = a power of 2 that brings max |J_k|/L_kk
   to O(1); r->max_length2 = the squared length that the whitened row could have without
   cancellation. O(terms depth).
   An element that is no more than the rounding of its summands becomes 0, as for equal and opposite
   wrenches on a shared path to the world, or directions in which a planar mechanism cannot move. */
MD_STATIC void md_body_row_jacobian(mdyn_sim *sim, md_body_row *r, md_row *row)
{
    md_num largest = MD_K(0);
    int p, i, k;
    md_sum_row_jacobian(sim, r);
    md_reduce_row_jacobian(sim, r);

    row->Jv = r->max_length2 = MD_K(0);
    for (p = 0; p < r->term_count; p++)
        for (k = md_last_dof(sim, r->body[p]); k >= 0; k = md_parent_dof(sim, k))
            for (i = sim->G_first[k]; i < sim->G_end[k]; i++)
                md_finish_row_jacobian(sim, r, row, sim->G_y[i], &largest);
    if (md_has_curved_ties(sim)) {
        /* not by `off`, which has more than velocities */
        md_copy_in(sim->y_force, sim->v, sim->dofs);
        row->Jv = md_body_row_dot(sim, row, sim->y_force);
    } else if (sim->has_off == MD_OFF_VELOCITY) {
        row->Jv = md_add(row->Jv, md_body_row_dot(sim, row, sim->off));
    }
    row->scale = md_is_zero(largest) ? MD_K(1) : md_unit_power(largest);
}

/* The time from the start of a step to the pose of its rows. */
MD_INLINE md_num md_time_to_middle(const mdyn_sim *sim)
{
    return sim->kinematics_stale == MD_KINEMATICS_OF_STEP ? md_mul(MD_K(0.5), sim->dt) : MD_K(0);
}

/* sim->value = C of a body row. Empties sim->terms, which tells md_note_position_error that the
   rounding of C is that of numbers of size 1. */
MD_STATIC void md_evaluate_body_position(mdyn_sim *sim, const md_row *row)
{
    sim->terms.count = 0;
    md_sum_set(&sim->value.sum, md_to_wide(md_body_row_at(sim, row)->value));
    sim->value.displacement = MD_K(0);
    if (md_has_displacement(sim))
        sim->value.displacement = md_body_row_dot(sim, row, sim->displacement);
    if (row->kind == MDYN_ROW_CONTACT) /* its depth is that of the start of the step */
        sim->value.displacement = md_add(sim->value.displacement,
                                         md_mul(md_time_to_middle(sim), row->Jv));
}

/* C, J v and scale of a body row that is not set up. */
MD_STATIC void md_evaluate_body_row(mdyn_sim *sim, md_row *row)
{
    md_body_row_jacobian(sim, md_body_row_of(sim, row), row);
    md_evaluate_body_position(sim, row);
}

MD_INLINE void md_body_row_range(const mdyn_sim *sim, const md_row *row, mdyn_wide *lower,
                                 mdyn_wide *upper)
{
    *lower = md_body_row_at(sim, row)->lower;
    *upper = md_body_row_at(sim, row)->upper;
}

/* J' v of a user row, from J v' of the last step, whose v' is the v of this one. Without it each
   step would remove the part of v towards which J has turned, and its energy. */
MD_STATIC void md_estimate_curvature(mdyn_sim *sim, const md_row *row)
{
    md_body_row *r = md_body_row_of(sim, row);
    r->bias_acceleration = MD_K(0);
    if (sim->kinematics_stale != MD_KINEMATICS_OF_STEP || !sim->is_continued
        || sim->row_result[row - sim->row].last_step != sim->step_count) return;
    r->bias_acceleration = md_mul(sim->inverse_dt, md_sub(row->Jv, r->velocity_after));
}

/* The target of a body row in a step or substep; evaluates C itself. */
MD_STATIC void md_target_body_row(mdyn_sim *sim, md_row *row)
{
    const md_body_row *r = md_body_row_at(sim, row);
    md_num turn, error;
    row->error = row->position_bias = MD_K(0);
    if (r->level == MDYN_VELOCITY) {
        md_target_velocity(row, r->target_velocity, r->lower, r->upper);
        return;
    }

    /* the turn of J in the step counts as a part of the error and of the velocity */
    md_evaluate_body_position(sim, row);
    if (row->kind == MDYN_ROW_USER && sim->substep == 0) md_estimate_curvature(sim, row);
    turn = md_curvature_target(sim, r->bias_acceleration, &r->softness, &error);
    sim->value.displacement = md_add(sim->value.displacement, error);
    if (md_body_row_has_range(r)) {
        md_target_range(sim, row, r->lower, r->upper);
        md_turn_range(row, turn);
        return;
    }
    row->error = md_add(md_sub(r->value, md_of_wide(r->lower)), sim->value.displacement);
    if (md_row_is_spring(row)) md_target_spring(sim, row, r->target_velocity);
    else md_target_equality(sim, row, md_add(r->target_velocity, turn));
}

MD_INLINE const mdyn_softness *md_body_row_softness(const mdyn_sim *sim, const md_row *row)
{
    return &md_body_row_at(sim, row)->softness;
}

/* ---- properties of a row, and targets in a mode ---- */

/* Whether a joint row is a range: a limit, or a coupling with lower < upper. */
MD_INLINE int md_row_has_range(const mdyn_sim *sim, const md_row *row)
{
    return MD_ROW_IS(row, LIMIT)
        || (MD_ROW_IS(row, COUPLING)
            && !md_coupling_is_equality(md_coupling_at(sim, row->index)));
}

/* Whether MDYN_ENGAGED activates a row when a bound of C is violated: ranges of positions, those
   of user rows too. */
MD_INLINE int md_row_activates(const mdyn_sim *sim, const md_row *row)
{
    if (MD_ROW_IS(row, COUPLING)
        && md_is_of_velocity(md_coupling_at(sim, row->index))) return 0;
    return md_row_has_range(sim, row) || md_user_row_activates(sim, row);
}

/* Whether a coupling row or its loss row belongs to a coupling that is released. */
MD_INLINE int md_row_is_released(const mdyn_sim *sim, const md_row *row)
{
    return md_is_coupling_row(row) && sim->released[row->index];
}

/* Whether a coupling holds its joints exactly: on positions, hard, engaged, of unlimited force. */
MD_STATIC int md_coupling_is_rigid(const mdyn_sim *sim, const mdyn_coupling *c)
{
    return !md_is_of_velocity(c) && md_softness_is_hard(&c->softness)
        && md_wide_is_zero(c->effort) && !md_has_mu(c) && !sim->released[c - sim->coupling];
}

/* The target of a joint row in a mode; md_set_up_body_row sets those of body rows. The rows of
   modes other than MD_MODE_STEP are couplings; their targets are those of enum md_mode plus J v,
   because every solve is for the change of the velocities. */
MD_OWN_FRAME void md_set_targets(mdyn_sim *sim, md_row *row, enum md_mode mode)
{
    const mdyn_coupling *c;
    if (md_is_body_row(row)) return;
    md_target_row(sim, row);
    if (mode == MD_MODE_STEP) return;

    /* J a = - J' v, which is 0 without curves: J is constant */
    c = md_coupling_at(sim, row->index);
    row->position_bias = MD_K(0);
    if (mode == MD_MODE_ACCELERATION)
        row->v_lo = md_sub(row->Jv, md_sum_bends(sim, row->index, MD_BEND_RATE));
    if (mode == MD_MODE_POSITION) row->v_lo = md_sub(row->Jv, row->error);
    if (mode == MD_MODE_VELOCITY) {
        row->v_lo = md_of_wide(c->target_velocity);
        if (md_is_of_velocity(c)) row->v_lo = md_add(row->v_lo, md_of_wide(c->lower));
    }
    row->v_hi = row->v_lo;
}

/* ============================================================================ // >>closures
   Rows of kinematic loops (closures) and of the user.

   Given:   poses, velocities and bias accelerations of the bodies, the closures and user rows of
            the model, the callback of user rows.
   Gives:   for each row its wrenches, C, the bias acceleration J' v, bounds of force and softness.
   Writes:  sim->body_row, of rows before those of contacts; sim->culprit on an error.

   With p, omega, z, R the closure points, angular velocities, hinge axes and rotations of bodies a
   and b, relative quantities those of a minus those of b, and n a unit direction:
      point       C = n . p               J v = n . p',     J' v = n . acc
      hinge       C = n . (z_b x z_a)     J v = n . omega,  J' v = n . alpha + (omega_b x n) . omega
      weld        C = n . 2 vec(R)        J v = n . omega,  J' v = n . alpha
      distance    C = |p| - d             J v = n . p',     J' v = n . acc + |p' across n|^2/|p|
   acc and alpha are relative accelerations at zero joint accelerations; vec(R) is the vector of the
   quaternion of R = R_a (R_b R_weld)^T. The J of hinge and weld is exact where C = 0. n is a world
   axis for points and welds, turns with body b for hinges, and is p/|p| for distances. A hinge and
   a weld have the three rows of a point first. A unit impulse is n on a and -n on b: a force at the
   closure points, or a moment for the other rows of hinge and weld. */

/* Checks user row i of `rows`, from the table or as the callback left it. Returns MDYN_OK,
   MDYN_ERR_NOT_FINITE, MDYN_ERR_SOFTNESS or MDYN_ERR_USER_ROW with i as the culprit. */
MD_STATIC int md_check_user_row(mdyn_sim *sim, const mdyn_user_row *r, int i, int rows, int bodies)
{
    int k;

    /* all numbers are finite, bodies and axes of the terms exist */
    if (!md_wide_in_range(r->value) || !md_wides_in_range(&r->softness.a, 2)
        || !md_wides_in_range(MD_WIDE_FIELDS(mdyn_user_row, r, lower, mu)))
        return md_blame(sim, MDYN_ERR_NOT_FINITE, i);

    for (k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        const mdyn_body_term *p = &r->terms[k];
        if (!md_wides_in_range(MD_WIDE_FIELDS(mdyn_body_term, p, angular, linear.z)))
            return md_blame(sim, MDYN_ERR_NOT_FINITE, i);
        if (p->body < MDYN_WORLD || p->body >= bodies || (unsigned)p->axes > MDYN_JOINT_VELOCITIES)
            return md_blame(sim, MDYN_ERR_USER_ROW, i);
    }

    /* Errors: an empty range, a negative mu, an unknown level, a mu_of that is this row itself or
       none of the user rows. */
    if (!md_softness_is_valid(&r->softness)) return md_blame(sim, MDYN_ERR_SOFTNESS, i);
    if (md_wide_less(r->upper, r->lower)
        || md_wide_less(r->force_max, r->force_min) || md_wide_is_negative(r->mu)
        || (r->level != MDYN_POSITION && r->level != MDYN_VELOCITY)
        || (!md_wide_is_zero(r->mu) && (r->mu_of < 0 || r->mu_of >= rows || r->mu_of == i)))
        return md_blame(sim, MDYN_ERR_USER_ROW, i);
    return MDYN_OK;
}

/* Blames closure i for the first rule that it breaks; returns the code, or MDYN_OK. Bodies may be
   the world, but not both, since a and b differ. */
MD_STATIC int md_check_closure(mdyn_sim *sim, const mdyn_closure *c, int i, int bodies)
{
    if (!md_wides_in_range(MD_WIDE_FIELDS(mdyn_closure, c, point_a, distance))
        || !md_wides_in_range(&c->softness.a, 2) || !md_wide_in_range(c->effort))
        return md_blame(sim, MDYN_ERR_NOT_FINITE, i);

    /* a known kind; two different bodies; directions, rotation and distance of some length */
    if (md_closure_row_count(c->kind) == 0 || c->a < MDYN_WORLD || c->a >= bodies
        || c->b < MDYN_WORLD || c->b >= bodies || c->a == c->b
        || md_is_too_short(&c->axis_a.x, 3) || md_is_too_short(&c->axis_b.x, 3)
        || md_is_too_short(&c->rotation.w, 4)
        || (c->kind == MDYN_CLOSE_DISTANCE && !md_wide_less(MDYN_C(0), c->distance)))
        return md_blame(sim, MDYN_ERR_CLOSURE, i);

    /* how firmly it holds */
    if (!md_softness_is_valid(&c->softness)) return md_blame(sim, MDYN_ERR_SOFTNESS, i);
    if (md_wide_is_negative(c->effort)) return md_blame(sim, MDYN_ERR_NEGATIVE, i);
    return MDYN_OK;
}

typedef struct md_closure_pose { /* of the two bodies of a closure, a first; world axes */
    md_mat rotation[2]; /* from the axes of the bodies */
    md_vec arm[2];      /* from their origins to the points */
    md_vec gap, acc;    /* p_a - p_b; its acceleration at zero joint accelerations */
    md_vec alpha;       /* the same of the relative angular velocity */
    md_num length;      /* of the two paths whose difference is `gap`: the scale of its rounding */
} md_closure_pose;

/* n = the unit vector of world axis k, 0 to 2. */
MD_INLINE void md_unit_vector(md_vec *n, int k)
{
    const md_num zero = MD_K(0), one = MD_K(1);
    md_vec_set(n, k == 0 ? one : zero, k == 1 ? one : zero, k == 2 ? one : zero);
}

/* Poses and bias accelerations of the two points. The gap is measured from the nearest common
   ancestor, so that its rounding does not grow with the distance from the world's origin. */
MD_STATIC void md_measure_closure(const mdyn_sim *sim, const mdyn_closure *c, md_closure_pose *l)
{
    int at[2], side;
    md_vec path[2], t;
    at[0] = c->a;
    at[1] = c->b;
    md_vec_zero(&l->acc);
    md_vec_zero(&l->alpha);

    /* Acceleration of a point: acc + rates arm; of a point of the world -gravity. The sign is + for
       a, - for b. */
    for (side = 0; side < 2; side++) {
        const md_body_state *p = at[side] < 0 ? NULL : &MD_TREE(sim)->body_state[at[side]];
        md_num sign = side ? MD_K(-1) : MD_K(1);
        md_body_rotation(sim, at[side], &l->rotation[side]);
        md_vec_of_wide(&t, side ? &c->point_b : &c->point_a);
        md_mat_vec(&l->arm[side], &l->rotation[side], &t);
        path[side] = l->arm[side];
        if (!p) {
            md_vec_of_wide(&t, &sim->gravity);
            md_vec_add_scaled(&l->acc, md_neg(sign), &t);
            continue;
        }
        md_mat_vec(&t, &p->rates, &l->arm[side]);
        md_vec_add(&t, &t, &p->acc);
        md_vec_add_scaled(&l->acc, sign, &t);
        md_vec_add_scaled(&l->alpha, sign, &p->alpha);
    }

    /* the paths up to the nearest common ancestor; a parent has a lower number than its children */
    while (at[0] != at[1]) {
        side = at[1] > at[0];
        md_vec_add(&path[side], &path[side], &MD_TREE(sim)->body_state[at[side]].arm);
        at[side] = sim->link[at[side]].parent;
    }
    md_vec_sub(&l->gap, &path[0], &path[1]);
    l->length = md_sqrt(md_add(md_dot(&path[0], &path[0]), md_dot(&path[1], &path[1])));
}

/* Body row j of a closure: a pair of forces along n at `arm`, or of moments if arm is NULL; C =
   `value`, J' v = n . (acc or alpha), to which hinge and distance add. C is a difference of numbers
   of magnitude value_size: the lengths of the two paths, or 1 for angles. Returns the row. */
MD_STATIC md_body_row *md_closure_row(mdyn_sim *sim, const mdyn_closure *c,
                                      const md_closure_pose *l, int j, const md_vec *arm,
                                      const md_vec *n, md_num value)
{
    md_body_row *r = md_clear_body_row(sim, j, &c->softness);
    md_num effort = md_of_wide(c->effort);
    md_add_wrench_pair(r, c->a, c->b, arm, n);
    r->value = value;
    r->value_size = arm ? l->length : MD_K(1);
    r->bias_acceleration = md_dot(n, arm ? &l->acc : &l->alpha);

    /* |force| <= effort; 0: no bound */
    r->unbounded = (uint8_t)(md_is_zero(effort) && !md_softness_is_forceless(&c->softness));
    if (md_is_zero(effort)) return r;
    r->force_max = effort;
    r->force_min = md_neg(effort);
    return r;
}

/* Rows j, j + 1 of a hinge: C = n . (z_b x z_a) for two directions n across z_b. */
MD_STATIC void md_closure_hinge(mdyn_sim *sim, const mdyn_closure *c, const md_closure_pose *l,
                                int j)
{
    md_vec axis[2], n, misalignment, n_rate, omega;
    md_mat F, B;
    int side, k;

    /* B: a frame whose third column is the axis, after the loop that of b; a zero axis means z */
    for (side = 0; side < 2; side++) {
        md_vec_of_wide(&axis[side], side ? &c->axis_b : &c->axis_a);
        if (md_is_zero(md_dot(&axis[side], &axis[side])))
            md_vec_set(&axis[side], MD_K(0), MD_K(0), MD_K(1));
        md_mat_of_axis(&F, &axis[side]);
        md_mat_mul(&B, &l->rotation[side], &F);
        md_mat_column(&axis[side], &B, 2);
    }

    /* C from z_b x z_a, and the relative angular velocity */
    md_cross(&misalignment, &axis[1], &axis[0]);
    md_vec_zero(&omega);
    if (c->a >= 0) omega = MD_TREE(sim)->body_state[c->a].omega;
    if (c->b >= 0) md_vec_sub(&omega, &omega, &MD_TREE(sim)->body_state[c->b].omega);

    /* n turns with b, which adds (omega_b x n) . (omega_a - omega_b) to J' v */
    for (k = 0; k < 2; k++) {
        md_body_row *r;
        md_mat_column(&n, &B, k);
        r = md_closure_row(sim, c, l, j + k, NULL, &n, md_dot(&n, &misalignment));
        if (c->b < 0) continue;
        md_cross(&n_rate, &MD_TREE(sim)->body_state[c->b].omega, &n);
        r->bias_acceleration = md_add(r->bias_acceleration, md_dot(&n_rate, &omega));
    }
}

/* Rows j to j + 2 of a weld: C = twice the vector of the quaternion of R_a (R_b R_weld)^T in world
   axes. For small angles it is the rotation vector, and it grows up to half a turn. */
MD_STATIC void md_closure_weld(mdyn_sim *sim, const mdyn_closure *c, const md_closure_pose *l,
                               int j)
{
    const mdyn_wide4 *w = &c->rotation;
    const int is_zero = md_wide_is_zero(w->w) && md_wide_is_zero(w->x) && md_wide_is_zero(w->y)
        && md_wide_is_zero(w->z);
    md_num q[4];
    md_mat F, B, error;
    md_vec e, n;
    int k;

    /* R_b R_weld; a rotation of all zeros means none */
    md_mat_of_quaternion(&F, is_zero ? MD_K(1) : md_of_wide(w->w), md_of_wide(w->x),
                         md_of_wide(w->y), md_of_wide(w->z));
    md_mat_mul(&B, &l->rotation[1], &F);
    md_mat_transpose(&B, &B);
    md_mat_mul(&error, &l->rotation[0], &B);

    /* e = 2 vec, whose elements are C of the three rows */
    md_quaternion_of_mat(q, &error);
    md_vec_set(&e, q[1], q[2], q[3]);
    md_vec_add(&e, &e, &e);
    for (k = 0; k < 3; k++) {
        md_unit_vector(&n, k);
        md_closure_row(sim, c, l, j + k, NULL, &n, md_vec_get(&e, k));
    }
}

/* Row j of a distance: C = |gap| - distance along n = gap/|gap|. The direction turns with the
   velocity across it, so J' v = n . acc + |v across n|^2/|gap|. A gap of zero has no direction: n
   is z then, without the last term. */
MD_STATIC void md_closure_distance(mdyn_sim *sim, const mdyn_closure *c, const md_closure_pose *l,
                                   int j)
{
    md_num square = md_dot(&l->gap, &l->gap), d, along;
    md_vec n, v, t;
    md_body_row *r;

    /* a gap of zero: no longer than the rounding of the two paths */
    md_vec_set(&n, MD_K(0), MD_K(0), MD_K(1));
    d = md_sqrt(square);
    if (md_less(md_mul(MD_K(MD_CONSISTENCY_TOLERANCE), l->length), d))
        md_vec_scale(&n, md_div(MD_K(1), d), &l->gap);
    r = md_closure_row(sim, c, l, j, l->arm, &n, md_sub(d, md_of_wide(c->distance)));
    if (!md_less(md_mul(MD_K(MD_CONSISTENCY_TOLERANCE), l->length), d)) return;

    /* v = velocity of p_a - that of p_b; |v across n|^2 = |v|^2 - (n . v)^2 */
    md_vec_zero(&v);
    if (c->a >= 0) {
        md_origin_velocity(sim, c->a, &v);
        md_vec_add_cross(&v, &MD_TREE(sim)->body_state[c->a].omega, &l->arm[0]);
    }
    if (c->b >= 0) {
        md_origin_velocity(sim, c->b, &t);
        md_vec_add_cross(&t, &MD_TREE(sim)->body_state[c->b].omega, &l->arm[1]);
        md_vec_sub(&v, &v, &t);
    }
    along = md_dot(&n, &v);
    square = md_sub(md_dot(&v, &v), md_mul(along, along));
    r->bias_acceleration = md_add(r->bias_acceleration, md_div(square, d));
}

/* Each step reads the table of closure i: MDYN_OK if it is still valid and needs the rows that
   mdyn_init laid out for it from body row j on; otherwise an error. */
MD_STATIC int md_recheck_closure(mdyn_sim *sim, int i, int j)
{
    const mdyn_closure *c = &MD_BODY_ROWS(sim)->closure_table[i];
    int n = 0, code = md_check_closure(sim, c, i, sim->bodies);
    if (code != MDYN_OK) return code;
    for (j += sim->joint_row_count; n < 6 && j + n < sim->rows; n++)
        if (md_row_at(sim, j + n)->kind != MDYN_ROW_CLOSURE
            || md_row_at(sim, j + n)->index != 6 * i + n) break;
    return n == md_closure_row_count(c->kind) ? MDYN_OK : md_blame(sim, MDYN_ERR_CLOSURE, i);
}

/* Fills in the rows of closure i from body row j on. Returns the next free body row. */
MD_STATIC int md_update_closure(mdyn_sim *sim, int i, int j)
{
    const mdyn_closure *c = &MD_BODY_ROWS(sim)->closure_table[i];
    md_closure_pose l;
    md_vec n;
    int k;
    md_measure_closure(sim, c, &l);

    if (c->kind == MDYN_CLOSE_DISTANCE) {
        md_closure_distance(sim, c, &l, j);
        return j + 1;
    }

    /* the points coincide: a row along each world axis */
    for (k = 0; k < 3; k++) {
        md_unit_vector(&n, k);
        md_closure_row(sim, c, &l, j + k, l.arm, &n, md_vec_get(&l.gap, k));
    }

    /* and for a hinge or a weld the rows of its orientation */
    if (c->kind == MDYN_CLOSE_HINGE) md_closure_hinge(sim, c, &l, j + 3);
    if (c->kind == MDYN_CLOSE_WELD) md_closure_weld(sim, c, &l, j + 3);
    return j + md_closure_row_count(c->kind);
}

/* Fills in body row j from a user row that has been checked; body row `base` is user row 0, from
   which the row numbers of mu_of count. */
MD_STATIC void md_load_user_row(mdyn_sim *sim, const mdyn_user_row *user, int j, int base)
{
    md_body_row *r = md_clear_body_row(sim, j, &user->softness);
    int k, has_no_bounds;

    /* C and its target */
    r->value = md_of_wide(user->value);
    r->value_size = md_abs(r->value);
    r->target_velocity = md_of_wide(user->target_velocity);
    r->level = (uint8_t)user->level;
    r->lower = user->lower;
    r->upper = user->upper;

    /* terms that are not zero, turned to world axes */
    for (k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        const mdyn_body_term *term = &user->terms[k];
        md_force f;
        md_mat R;
        md_vec_of_wide(&f.ang, &term->angular);
        md_vec_of_wide(&f.lin, &term->linear);
        if (md_is_zero(md_dot(&f.ang, &f.ang)) && md_is_zero(md_dot(&f.lin, &f.lin))) continue;
        if (term->axes == MDYN_BODY_AXES) {
            md_body_rotation(sim, term->body, &R);
            md_mat_vec(&f.ang, &R, &f.ang);
            md_mat_vec(&f.lin, &R, &f.lin);
        }
        md_add_wrench_term(r, term->body, term->axes == MDYN_JOINT_VELOCITIES, &f);
    }

    /* Bounds: |force| <= mu |force of row mu_of|, or [force_min, force_max]; both 0: none. Without
       bounds an equality is solved with the other unbounded rows. */
    if (!md_wide_is_zero(user->mu)) {
        r->mu = md_of_wide(user->mu);
        r->leader = (int16_t)(sim->joint_row_count + base + user->mu_of);
        return;
    }
    has_no_bounds = md_wide_is_zero(user->force_min) && md_wide_is_zero(user->force_max);
    r->unbounded = (uint8_t)(has_no_bounds && !md_body_row_has_range(r)
        && !md_softness_is_forceless(&user->softness));
    if (has_no_bounds) return;
    if (md_has_lower(user->force_min)) r->force_min = md_of_wide(user->force_min);
    if (md_has_upper(user->force_max)) r->force_max = md_of_wide(user->force_max);
}

/* Fills in all user rows, from body row j on: for each a copy of the table's row, or zeros, then
   changed by the callback. Returns MDYN_OK, or an error of md_check_user_row with the rows left
   incomplete. */
MD_STATIC int md_update_user_rows(mdyn_sim *sim, int j)
{
    int i, code;
    size_t k;
    for (i = 0; i < MD_BODY_ROWS(sim)->user_rows; i++) {
        mdyn_user_row row;
        for (k = 0; k < sizeof row; k++) ((unsigned char *)&row)[k] = 0;
        if (MD_BODY_ROWS(sim)->user_row_table) row = MD_BODY_ROWS(sim)->user_row_table[i];
        if (MD_BODY_ROWS(sim)->row_function) {
            sim->ready_mark = MD_IN_CALLBACK;
            MD_BODY_ROWS(sim)->row_function(sim, i, &row, MD_BODY_ROWS(sim)->user_data);
            sim->ready_mark = MD_BUSY;
        }
        code = md_check_user_row(sim, &row, i, MD_BODY_ROWS(sim)->user_rows, sim->bodies);
        if (code != MDYN_OK) return code;
        md_load_user_row(sim, &row, j + i, j);
    }

    /* A row that bounds another is solved together with it, so not as an unbounded one. It must not
       be bounded by a third. */
    for (i = 0; i < MD_BODY_ROWS(sim)->user_rows; i++) {
        const int leader = MD_BODY_ROWS(sim)->body_row[j + i].leader;
        if (leader < 0) continue;
        if (MD_BODY_ROWS(sim)->body_row[leader - sim->joint_row_count].leader >= 0)
            return md_blame(sim, MDYN_ERR_USER_ROW, i);
        MD_BODY_ROWS(sim)->body_row[leader - sim->joint_row_count].unbounded = 0;
    }
    return MDYN_OK;
}

/* ============================================================================ // >>contacts
   Contacts, and the update of all rows on bodies before a solve.

   Given:   the contacts that the user has set since the last step, the impulses of those before.
   Gives:   three rows for each contact, with n the normal and t1, t2 across it:
      normal      C = -depth >= 0,  force >= 0 along n
      tangents    C' = 0,           |force| <= mu |normal force|  (Coulomb friction)
   n points from b towards a; the forces act on both bodies at the contact point, on b in opposition
   to a. The normal row is the leader of the tangents: its impulse bounds theirs.
   Also their warm starts, found by (a, b, key) among the contacts of the step before.
   Writes:  sim->contact, sim->contact_cache, sim->contacts, sim->contacts_are_new; sim->rows, kind,
            index, unbounded and row_result of the contacts' rows; sim->body_row; sim->culprit on an
            error.
   Contacts last for one step: those set between two steps are used by the next one, remain for
   queries after it, and are dropped when the following step begins or others are set. */

/* The arms of the contacts in the poses in which the user found them. In the poses of the middle of
   a step, the contact point of a rolling wheel would no longer be below its center. */
MD_STATIC void md_find_contact_arms(mdyn_sim *sim)
{
    int i, k;
    for (i = 0; i < MD_CONTACTS(sim)->contacts; i++) {
        md_contact_point *c = &MD_CONTACTS(sim)->contact[i];
        for (k = 0; k < 2; k++) {
            const int body = k ? c->b : c->a;
            md_vec_zero(&c->arm[k]);
            if (body >= 0) md_origin_position(sim, body, &c->arm[k]);
            md_vec_sub(&c->arm[k], &c->point, &c->arm[k]);
        }
    }
}

/* Fills in the three body rows of contact i. */
MD_STATIC void md_update_contact(mdyn_sim *sim, int i)
{
    static const mdyn_softness hard = MDYN_HARD(0);
    const md_contact_point *c = &MD_CONTACTS(sim)->contact[i];
    const int j = MD_BODY_ROWS(sim)->lasting_row_count - sim->joint_row_count + 3 * i;
    int k;

    /* The normal, k = 0: C = -depth in [0, unlimited]. The tangents are hard: their C' = 0 has no
       compliance, whatever the softness of the contact. */
    for (k = 0; k < 3; k++) {
        md_body_row *r = md_clear_body_row(sim, j + k, k ? &hard : &c->softness);
        md_add_wrench_pair(r, c->a, c->b, c->arm, &c->direction[k]);
        if (k) {
            r->level = MDYN_VELOCITY;
            r->leader = (int16_t)(sim->joint_row_count + j);
            r->mu = c->mu;
            continue;
        }
        r->value = md_neg(c->depth);
        r->upper = MDYN_UNLIMITED;
    }
}

MD_STATIC void md_update_contacts(mdyn_sim *sim)
{
    int i;
    for (i = 0; i < MD_CONTACTS(sim)->contacts; i++) md_update_contact(sim, i);
}

/* All rows on bodies at the present q and v: those of closures and, for a step, of the user and of
   contacts. Returns an error of the kinematics or of a user row. */
MD_STATIC int md_update_body_rows(mdyn_sim *sim, int is_step)
{
    int i, j = 0, code;
    if (!MD_HAS_BODY_ROWS) return MDYN_OK;
    code = md_refresh_kinematics(sim);
    MD_TREE(sim)->state_is_of_step = 0;
    for (i = 0; MD_HAS_CLOSURES && i < MD_BODY_ROWS(sim)->closures && code == MDYN_OK; i++) {
        code = md_recheck_closure(sim, i, j);
        if (code == MDYN_OK) j = md_update_closure(sim, i, j);
    }
    if (MD_HAS_CLOSURES && is_step && code == MDYN_OK) code = md_update_user_rows(sim, j);
    if (MD_HAS_CONTACTS && is_step && code == MDYN_OK) md_update_contacts(sim);

    /* for joint rows md_plan_rows does this */
    for (i = sim->joint_row_count; i < sim->rows; i++)
        md_row_at(sim, i)->unbounded = md_body_row_at(sim, md_row_at(sim, i))->unbounded;
    return code;
}

/* The rows of contacts are the last ones of the sim. */
MD_STATIC void md_drop_contacts(mdyn_sim *sim)
{
    if (!MD_HAS_CONTACTS) return;
    sim->rows = MD_BODY_ROWS(sim)->lasting_row_count;
    MD_CONTACTS(sim)->contacts = 0;
    MD_CONTACTS(sim)->contacts_are_new = 0;
}

/* The rows on bodies for a step. Contacts that an earlier step has used are dropped. Returns what
   md_update_body_rows does. */
MD_STATIC int md_update_step_rows(mdyn_sim *sim)
{
    return md_has_body_rows(sim) ? md_update_body_rows(sim, 1) : MDYN_OK;
}

/* Before q moves to the middle of the step: drops the contacts of the last step, and finds the arms
   of the new ones. */
MD_STATIC int md_open_contacts(mdyn_sim *sim)
{
    int code;
    if (!MD_HAS_CONTACTS) return MDYN_OK;
    if (!MD_CONTACTS(sim)->contacts_are_new) md_drop_contacts(sim);
    if (MD_CONTACTS(sim)->contacts == 0) return MDYN_OK;
    code = md_refresh_kinematics(sim);
    if (code == MDYN_OK) md_find_contact_arms(sim);
    return code;
}

/* A step has used the contacts. They stay readable until the next one. */
MD_INLINE void md_consume_contacts(mdyn_sim *sim)
{
    if (MD_HAS_CONTACTS) MD_CONTACTS(sim)->contacts_are_new = 0;
}

/* MDYN_OK, MDYN_ERR_STATE, MDYN_ERR_NOT_FINITE, MDYN_ERR_CONTACT or MDYN_ERR_SOFTNESS with i as
   the culprit. A normal must have an element of at least 1e-6. */
MD_STATIC int md_check_contact(mdyn_sim *sim, const mdyn_contact *c, int i)
{
    /* the state, then the constants */
    if (!md_all_in_range(&c->point.x, 3) || !md_all_in_range(&c->normal.x, 3)
        || !md_in_range(c->depth)) return md_blame(sim, MDYN_ERR_STATE, i);
    if (!md_wide_in_range(c->mu) || !md_wides_in_range(&c->softness.a, 2))
        return md_blame(sim, MDYN_ERR_NOT_FINITE, i);

    /* two different bodies, one of which may be the world; the normal has a direction */
    if (c->a < MDYN_WORLD || c->a >= sim->bodies || c->b < MDYN_WORLD || c->b >= sim->bodies
        || c->a == c->b || md_wide_is_negative(c->mu)
        || md_less(md_max(md_max(md_abs(md_of_real(c->normal.x)), md_abs(md_of_real(c->normal.y))),
                          md_abs(md_of_real(c->normal.z))), MD_K(1e-6)))
        return md_blame(sim, MDYN_ERR_CONTACT, i);
    return md_softness_is_valid(&c->softness) ? MDYN_OK : md_blame(sim, MDYN_ERR_SOFTNESS, i);
}

/* Stores contact i and its rows. The warm start is the impulse of the contact with the same a, b
   and key among the first `cached` of sim->contact_cache, resolved in the new directions. */
MD_STATIC void md_store_contact(mdyn_sim *sim, const mdyn_contact *c, int i, int cached)
{
    md_contact_point *to = &MD_CONTACTS(sim)->contact[i];
    const md_contact_cache *cache = MD_CONTACTS(sim)->contact_cache;
    md_vec n;
    md_mat F;
    int j, k;
    /* the contact in md_num, with a frame whose z axis is the normal */
    to->a = c->a;
    to->b = c->b;
    to->key = c->key;
    to->softness = c->softness;
    to->depth = md_of_real(c->depth);
    to->mu = md_of_wide(c->mu);
    md_vec_of_real(&to->point, &c->point);
    md_vec_of_real(&n, &c->normal);
    md_mat_of_axis(&F, &n);

    /* the same contact in the step before; O(cached) */
    for (j = 0; j < cached; j++)
        if (cache[j].a == c->a && cache[j].b == c->b && cache[j].key == c->key) break;

    /* The third column of F is the normal, the first two are the tangents. The result is empty and
       not one of the last step; only the warm start is known. */
    for (k = 0; k < 3; k++) {
        const int row = MD_BODY_ROWS(sim)->lasting_row_count + 3 * i + k;
        md_row_result *o = &sim->row_result[row];
        md_mat_column(&to->direction[k], &F, (k + 2) % 3);
        md_row_at(sim, row)->kind = MDYN_ROW_CONTACT;
        md_row_at(sim, row)->index = (int16_t)(3 * i + k);
        o->error = o->v_lo = o->v_hi = o->cfm_lambda = MD_K(0);
        o->flags = 0;
        o->last_step = sim->step_count - 1;
        o->active_side = 0;
        o->warm_start = j < cached ? md_dot(&cache[j].impulse, &to->direction[k]) : MD_K(0);
        o->impulse = MD_K(0);
    }
}

/* Replaces the contacts. Returns MDYN_ERR_CAPACITY_ROWS or an error of md_check_contact; nothing
   is changed then but the culprit. O(count^2) comparisons of keys. */
MD_STATIC int md_store_contacts(mdyn_sim *sim, const mdyn_contact *contacts, int count)
{
    const int cached = MD_CONTACTS(sim)->contacts;
    int i, k, code;
    if (MD_BODY_ROWS(sim)->lasting_row_count + 3 * count > MIMICDYN_MAX_ROWS)
        return md_blame(sim, MDYN_ERR_CAPACITY_ROWS, -1);

    /* all are checked before one is stored */
    for (i = 0; i < count; i++) {
        code = md_check_contact(sim, &contacts[i], i);
        if (code != MDYN_OK) return code;
    }

    /* The impulses of the present contacts as vectors in world axes: the tangents of a new contact
       may be turned against those of the old one. */
    for (i = 0; i < cached; i++) {
        const md_contact_point *c = &MD_CONTACTS(sim)->contact[i];
        md_contact_cache *t = &MD_CONTACTS(sim)->contact_cache[i];
        const md_row_result *result
            = &sim->row_result[MD_BODY_ROWS(sim)->lasting_row_count + 3 * i];
        t->a = c->a;
        t->b = c->b;
        t->key = c->key;
        md_vec_zero(&t->impulse);
        for (k = 0; k < 3; k++)
            md_vec_add_scaled(&t->impulse, result[k].warm_start, &c->direction[k]);
    }

    for (i = 0; i < count; i++) md_store_contact(sim, &contacts[i], i, cached);

    /* the next step uses them */
    MD_CONTACTS(sim)->contacts = (int16_t)count;
    sim->rows = (int16_t)(MD_BODY_ROWS(sim)->lasting_row_count + 3 * count);
    MD_CONTACTS(sim)->contacts_are_new = 1;
    MD_TREE(sim)->state_is_of_step = 0;
    return MDYN_OK;
}

/* ============================================================================== // >>whiten
   From the Jacobian of a row to its whitened vector x = L^-T J^T.

   Given:   the terms or wrenches of a row, L with M = L^T L, the row's softness.
   Gives:   x in the coordinates u = L v, in which kinetic energy is |u|^2/2: there J v = x . u, an
            impulse lambda changes u by x lambda, and r = J M^-1 J^T = |x|^2. Also erp, cfm and the
            bounds of the impulse; for rows on bodies the targets as well.
   Writes:  sim->row_x (x times row->scale, of length about 1), sim->row_J (0 on return),
            sim->overflow; of the row scale, erp, cfm, lambda_min, lambda_max.

   Softness, with h the substep, kp the stiffness and kd the damping of the row:
      erp = h kp/(h kp + kd),   cfm = 1/(h (h kp + kd)),
      kp = omega^2/r,  kd = 2 omega zeta/r  for a frequency omega and a damping ratio zeta,
   so compliance follows whitening, which gives r. Source: PhysX mimic joints (18), (20)-(29).
   x costs O(non-zeros of L on the paths to the world). In fixed point the numbers of a row share
   one exponent, row->scale; when they overflow the row is repeated at a coarser scale. */

/* sum + the squares of sim->row_x at the entries from `first` to before `end`. */
MD_OWN_FRAME md_squares md_add_row_squares(const mdyn_sim *sim, md_squares sum, int first, int end)
{
    int e;
    for (e = first; e < end; e++) sum = md_add_square(sum, sim->row_x[sim->entry_column[e]]);
    return sum;
}

/* r = J M^-1 J^T of the row in sim->row_x, from its entry `first` on. */
MD_OWN_FRAME md_num md_row_inverse_mass(const mdyn_sim *sim, const md_row *row, int first)
{
    md_squares r = md_add_row_squares(sim, 0, first, row->end);
    return md_div(md_squares_value(r), md_mul(row->scale, row->scale));
}

/* A body row is dependent if less than MD_RANK_TOLERANCE of this squared length remains: of the
   length that the whitened row would have without cancellation, times 4^2 for the inertia of the
   joints on the path. */
MD_INLINE md_num md_body_row_max_length2(const mdyn_sim *sim, const md_row *row)
{
    md_num length = md_mul(MD_K(4), row->scale);
    return md_mul(md_mul(length, length), md_body_row_at(sim, row)->max_length2);
}

/* Whether a row is linearly dependent on earlier ones: `left` of its squared length is left, and
   `owned` lies in their span. */
MD_INLINE int md_is_dependent(md_num left, md_num owned)
{
    return !md_less(md_mul(MD_K(MD_RANK_TOLERANCE * MD_RANK_TOLERANCE), md_add(left, owned)), left);
}

/* Whether the entries of the row in sim->row_x from `free` on are rounding beside those before,
   which lie in the span of other rows. */
MD_OWN_FRAME int md_row_leaves_nothing(const mdyn_sim *sim, const md_row *row, int free)
{
    md_num left = md_squares_value(md_add_row_squares(sim, 0, free, row->end));
    md_num owned = md_squares_value(md_add_row_squares(sim, 0, row->first, free));
    return md_is_dependent(left, md_is_body_row(row)
        ? md_max(owned, md_body_row_max_length2(sim, row)) : owned);
}

/* How many springs act with the row at hand. Reads sim->terms. */
MD_STATIC int md_springs_at(const mdyn_sim *sim, const md_row *row)
{
    int k = sim->terms.dof[0];
    if (md_is_body_row(row)) {
        const md_body_row *r = md_body_row_at(sim, row);
        k = r->term_count > 0 ? md_last_dof(sim, r->body[0]) : -1;
    }
    return k < 0 ? 1 : sim->springs[k];
}

/* The weight, 1/3 to 1, by which md_set_spring spreads the stiffness of a weak spring over the
   step. 1/3 makes its frequency right to fourth order; n springs on one joint are stable with it as
   long as their s add up to 4 at most. */
MD_INLINE md_num md_spring_spread(md_num s, int springs)
{
    const md_num third = MD_RATIO(1, 3), sum = md_mul(md_of_int(springs), s);
    if (!md_less(MD_K(0.5), sum)) return third;
    if (!md_less(sum, MD_K(1))) return MD_K(1);
    return md_add(third, md_mul(MD_RATIO(4, 3), md_sub(sum, MD_K(0.5))));
}

/* A spring and damper at the middle of the step, of stiffness kp and damping kd:
      force = -kp (C + h (al J v' - be J v)) - kd (theta J v' + (1 - theta) J v - target)
   as a row J v' + cfm lambda = v_lo, B = h al kp + theta kd, cfm = 1/(h B). With s = h^2 kp r, r
   the row's inverse mass after the hard equality rows: al = be at s <= 1, where an undamped spring
   keeps its energy; al = s/(3 + s), be = 1/(3 + s) above, where it is damped. al >= be, al + be >=
   1/2 and theta >= 1/2 are stable for any kp, kd and h. At rest the force is -kp C for all of
   them. */
MD_STATIC void md_set_spring(const mdyn_sim *sim, md_row *row, md_num kp, md_num kd)
{
    const md_num h_kp = md_mul(sim->h, kp), three = MD_K(3), one = MD_K(1);
    md_num y = md_mul(md_mul(sim->h, kd), row->inverse_mass);
    md_num s = md_mul(md_mul(sim->h, h_kp), row->inverse_mass);
    md_num al, be, theta = one, all, part;

    /* theta of the damper: 1/2 where y = h kd r is small, 1 where it is large */
    if (!md_is_zero(kd)) theta = md_div(md_add(three, y), md_add(MD_K(6), y));

    /* al, be of the spring, by s = h^2 kp r */
    if (md_less(one, s)) {
        be = md_div(one, md_add(three, s));
        al = md_mul(s, be);
    } else {
        al = be = md_mul(MD_K(0.25), md_spring_spread(s, md_springs_at(sim, row)));
    }

    /* cfm = 1/(h B), erp = h kp/B; parts of v and of the target velocity over B */
    all = md_add(md_mul(al, h_kp), md_mul(theta, kd));
    part = md_div(one, all);
    row->cfm = md_mul(sim->inverse_h, part);
    row->erp = md_mul(h_kp, part);
    row->spring_v = md_mul(part, md_sub(md_mul(be, h_kp), md_mul(md_sub(one, theta), kd)));
    row->spring_target = md_mul(kd, part);
    row->is_spring = 1;
}

/* erp and cfm of a row by its stiffness kp and damping kd. Returns 0 if both are 0: no force. */
MD_OWN_FRAME int md_set_gains(const mdyn_sim *sim, md_row *row, md_num kp, md_num kd)
{
    md_num both;
    if (md_is_zero(kp) && md_is_zero(kd)) return 0;
    if (md_uses_midpoint(sim)) {
        md_set_spring(sim, row, kp, kd);
        return 1;
    }

    /* implicit Euler: erp = h kp/(h kp + kd), cfm = 1/(h (h kp + kd)) */
    kp = md_mul(sim->h, kp);
    both = md_add(kp, kd);
    if (md_is_zero(both)) return 0; /* h kp has no digits */
    row->erp = md_div(kp, both);
    row->cfm = md_div(sim->inverse_h, both);
    return 1;
}

/* The stiffness and damping by which the row in sim->row_x, from its entry `first` on, has the
   frequency *a and the damping ratio *b, in their place. Returns 0 if the row moves no mass. */
MD_OWN_FRAME int md_find_gains(const mdyn_sim *sim, const md_row *row, int first, md_num *a,
                               md_num *b)
{
    const md_num r = md_row_inverse_mass(sim, row, first);
    if (md_row_leaves_nothing(sim, row, first)) return 0;
    *b = md_div(md_mul(md_mul(MD_K(2), *a), *b), r); /* kd = 2 omega zeta/r */
    *a = md_div(md_mul(*a, *a), r);                  /* kp = omega^2/r */
    return 1;
}

/* erp and cfm of the row in sim->row_x, turned by the hard equality rows, whose entries end at
   `free`; a hard row keeps the cfm that it has. Returns 0 if the row exerts no force: gains of
   zero, or a frequency on a row that moves no mass. */
MD_OWN_FRAME int md_set_compliance(const mdyn_sim *sim, const mdyn_softness *s, md_row *row,
                                   int free)
{
    md_num a = md_of_wide(s->a), b = md_of_wide(s->b);
    row->erp = MD_K(0.2);

    /* hard rows: erp alone */
    if (md_softness_is_hard(s)) {
        if (md_softness_has_erp(s)) row->erp = a;
        return 1;
    }

    /* soft rows */
    if (md_uses_midpoint(sim)) row->inverse_mass = md_row_inverse_mass(sim, row, free);
    if (MD_HAS(SPRING) && md_softness_has_erp(s)) {
        row->erp = a;
        row->cfm = s->kind == MDYN_ODE_CFM ? md_mul(sim->inverse_h, b) : b;
        return 1;
    }
    if (MD_HAS(SPRING) && s->kind == MDYN_OMEGA_ZETA
        && !md_find_gains(sim, row, md_uses_midpoint(sim) ? free : row->first, &a, &b)) return 0;
    return md_set_gains(sim, row, a, b);
}

/* Bounds of a drive's impulse by the effort that the command leaves: |tau + lambda/h| <= effort. */
MD_OWN_FRAME void md_bound_drive(const mdyn_sim *sim, md_row *row, const md_joint_values *b)
{
    md_num effort, tau;
    if (md_wide_is_zero(b->effort)) return;
    effort = md_of_wide(b->effort);
    tau = md_commanded_force(sim, b, row->index);
    row->lambda_min = md_mul(sim->h, md_neg(md_add(effort, tau)));
    row->lambda_max = md_mul(sim->h, md_sub(effort, tau));
}

/* Bounds of the impulse of a joint row. Those of a row with a leader are set during the solve
   (md_follow_leader). */
MD_OWN_FRAME void md_set_bounds(const mdyn_sim *sim, md_row *row)
{
    row->lambda_min = MD_NO_MIN;
    row->lambda_max = MD_NO_MAX;
    if (MD_ROW_IS(row, COUPLING))
        md_bound_impulse(sim, row, md_coupling_at(sim, row->index)->effort);
    if (MD_ROW_IS(row, DRIVE)) md_bound_drive(sim, row, md_values_of_dof(sim, row->index));
    if (MD_ROW_IS(row, FRICTION))
        md_bound_impulse(sim, row, md_values_of_dof(sim, row->index)->friction);
}

/* erp and cfm of the joint row in sim->row_x, whose hard equality rows end at `free`; -1:
   row->inverse_mass is known. Returns 0 if it exerts no force. The softness of a coupling is given;
   that of a drive is made of its gains; friction, limits and losses are hard. */
MD_STATIC int md_set_joint_compliance(const mdyn_sim *sim, md_row *row, int free)
{
    const md_joint_values *b;
    row->cfm = MD_K(0);
    row->erp = MD_K(0.2);
    if (MD_ROW_IS(row, COUPLING))
        return md_set_compliance(sim, &md_coupling_at(sim, row->index)->softness, row, free);
    if (!MD_ROW_IS(row, DRIVE)) return 1;
    b = md_values_of_dof(sim, row->index);
    if (md_uses_midpoint(sim) && free >= 0)
        row->inverse_mass = md_row_inverse_mass(sim, row, free);
    return md_set_gains(sim, row, md_of_wide(b->drive_kp), md_of_wide(b->drive_kd));
}

/* DoF k of the substitution x += L^-T b with b = sim->row_J, x = sim->row_x:
      z = b_k/L_kk,  x_k += z,  b_j -= L_kj z for the ancestors j of k,
   b_k = 0 on return. Returns the parent DoF of k. O(depth of k). */
MD_INLINE int md_whiten_dof(mdyn_sim *sim, int k)
{
    md_unit z = md_unit_mul_num(sim->row_J[k], sim->inverse_diagonal[k]);
    sim->row_J[k] = MD_U(0);
    sim->row_x[k] = md_unit_add(sim->row_x[k], z);
    sim->overflow |= md_overflow_of(sim->row_x[k]);
    md_sub_ancestors(sim, k, z, sim->row_J);
    return md_parent_y(sim, k);
}

/* The same for DoF k and all its ancestors by articulated bodies (md_aba_inward_dof):
      z = (b_j - S_j^T p)/L_jj,  x_j += z,  p += W_j z,
   with the wrench p at the body of DoF j, in fixed point in units of 2^-s of the DoF. Where two
   paths meet, their parts of x_j add up. O(depth of k). */
MD_STATIC void md_whiten_deep_path(mdyn_sim *sim, int k)
{
    int i = md_body_of(sim, k);
    md_force p;
    md_vec_zero(&p.ang);
    md_vec_zero(&p.lin);
    for (; k >= 0; k = md_parent_dof(sim, k)) {
        const md_dof *d = &sim->dof[k];
        md_num z;
        for (; i != d->body; i = sim->link[i].parent)
            md_vec_add_cross(&p.ang, &MD_TREE(sim)->body_state[i].arm, &p.lin);

        z = md_ldexp(md_dof_dot_force(d, &p), -md_dof_scale(d));
        z = md_mul(sim->inverse_diagonal[k], md_sub(md_of_unit(sim->row_J[k], 0), z));
        sim->row_J[k] = MD_U(0);
        sim->row_x[k] = md_unit_add(sim->row_x[k], md_unit_of(z, 0));
        sim->overflow |= md_overflow_of(sim->row_x[k]);
        md_force_add_scaled(&p, z, &MD_WORK(sim)->deep_W[k]);
    }
}

/* The same for DoF k and all its ancestors; b_k = 0: an earlier path has been there already. */
MD_STATIC void md_whiten_ancestors(mdyn_sim *sim, int k)
{
    if (md_unit_is_zero(sim->row_J[k])) return;
    if (md_is_deep(sim)) {
        md_whiten_deep_path(sim, k);
        return;
    }
    while (k >= 0) k = md_whiten_dof(sim, k);
}

/* sim->row_x = s L^-T (J G)^T of a joint row with the terms `joint`. Returns s, a power of 2 that
   brings the numbers to O(1). */
MD_OWN_FRAME md_num md_whiten_joint_row(mdyn_sim *sim, const md_terms *joint)
{
    const md_reduced *t = md_reduce_terms(sim, joint);
    const md_overflow before = sim->overflow;
    md_scale e = MD_MIN_SCALE;
    int i, j, k, tries = 0;
    if (t->count == 0) return MD_K(1);

    /* the scale at which J_k/L_kk fit; what the substitution adds may still overflow */
    for (k = 0; k < t->count; k++)
        e = md_scale_to_hold(e, md_mul(t->factor[k], sim->inverse_diagonal[t->dof[k]]),
                          md_dof_scale(&sim->dof[t->dof[k]]));

    for (;;) {
        md_overflow_reset(&sim->overflow, 0);
        for (k = 0; k < t->count; k++)
            sim->row_J[t->dof[k]] =
                md_unit_of(t->factor[k], e + md_dof_scale(&sim->dof[t->dof[k]]));

        /* A DoF is left only when all its descendants are done: of two paths the one at the
           higher DoF goes on, until they meet at j; then the common path to the world. */
        if (md_is_deep(sim)) {
            for (k = 0; k < t->count; k++) md_whiten_ancestors(sim, t->dof[k]);
        } else {
            for (j = t->dof[0], k = 1; k < t->count; k++)
                for (i = t->dof[k]; j != i;)
                    if (j > i) j = md_whiten_dof(sim, j);
                    else i = md_whiten_dof(sim, i);
            while (j >= 0) j = md_whiten_dof(sim, j);
        }

        if (!md_has_overflowed(sim->overflow) || ++tries == MD_MAX_RETRIES) break;
        for (k = 0; k < sim->dofs; k++) sim->row_x[k] = MD_U(0);
        e = (md_scale)(e + MD_HEADROOM);
    }
    sim->overflow |= before;
    return md_ldexp(MD_K(1), -e);
}

/* sim->row_x = row->scale L^-T J^T of a body row, with row->scale and row->Jv. */
MD_STATIC void md_whiten_body_row(mdyn_sim *sim, md_row *row, md_body_row *r)
{
    const md_overflow before = sim->overflow;
    int p, i, k, tries = 0;
    md_body_row_jacobian(sim, r, row);

    /* L^-T J^T; on overflow again with a smaller scale of the row */
    for (;;) {
        md_overflow_reset(&sim->overflow, 0);
        for (p = 0; p < r->term_count; p++)
            for (k = md_last_dof(sim, r->body[p]); k >= 0; k = md_parent_dof(sim, k))
                for (i = sim->G_first[k]; i < sim->G_end[k]; i++) {
                    const int y = sim->G_y[i];
                    const md_num J = md_mul(row->scale, MD_BODY_ROWS(sim)->row_jacobian[y]);
                    sim->row_J[y] = md_unit_of(J, md_dof_scale(&sim->dof[y]));
                }
        for (p = 0; p < r->term_count; p++)
            for (k = md_last_dof(sim, r->body[p]); k >= 0; k = md_parent_dof(sim, k))
                for (i = sim->G_first[k]; i < sim->G_end[k]; i++)
                    md_whiten_ancestors(sim, sim->G_y[i]);

        if (!md_has_overflowed(sim->overflow) || ++tries == MD_MAX_RETRIES) break;
        for (k = 0; k < sim->dofs; k++) sim->row_x[k] = MD_U(0);
        row->scale = md_ldexp(row->scale, -MD_HEADROOM);
    }
    sim->overflow |= before;
}

MD_INLINE void md_whiten_row_on_bodies(mdyn_sim *sim, md_row *row)
{
    md_whiten_body_row(sim, row, md_body_row_of(sim, row));
}

/* Sets up a body row in sim->row_x for a mode: compliance, bounds of the impulse, and targets. The
   targets of modes other than MD_MODE_STEP are those of md_set_targets with the bias acceleration
   J' v, which joint rows do not have. Returns 0 if the row exerts no force. */
MD_STATIC int md_set_up_body_row(mdyn_sim *sim, md_row *row, enum md_mode mode,
                                 int free)
{
    md_body_row *r = md_body_row_of(sim, row);
    int has_force;
    row->cfm = MD_K(0);
    has_force = md_set_compliance(sim, &r->softness, row, free);
    row->lambda_min = md_has_min(r->force_min) ? md_mul(sim->h, r->force_min) : r->force_min;
    row->lambda_max = md_has_max(r->force_max) ? md_mul(sim->h, r->force_max) : r->force_max;
    md_target_body_row(sim, row);
    if (mode == MD_MODE_STEP) return has_force;

    row->cfm = row->position_bias = MD_K(0);
    row->v_lo = mode == MD_MODE_ACCELERATION ? md_sub(row->Jv, r->bias_acceleration)
        : mode == MD_MODE_POSITION ? md_sub(row->Jv, row->error) : r->target_velocity;
    row->v_hi = row->v_lo;
    return has_force;
}

/* cfm as a squared length in the scale of sim->row_x: |x|^2 + this is r + cfm. In fixed point the
   row and row->scale are reduced first until the sum is O(1). */
MD_OWN_FRAME md_num md_compliance_square(mdyn_sim *sim, md_row *row)
{
    md_num cfm2 = row->cfm;
    md_scale excess;
    int e;
    if (!md_is_zero(cfm2)) cfm2 = md_mul(cfm2, md_mul(row->scale, row->scale));
    excess = md_length_excess(sim->row_x, sim->entry_column + row->first,
                                 row->end - row->first, cfm2);
    if (excess == 0) return cfm2;

    for (e = row->first; e < row->end; e++)
        sim->row_x[sim->entry_column[e]] =
            md_unit_ldexp(sim->row_x[sim->entry_column[e]], -excess);

    /* lengths by 2^-excess, squares by its square */
    row->scale = md_ldexp(row->scale, -excess);
    return md_ldexp(cfm2, -2 * excess);
}

/* ============================================================================ // >>equality
   QR factorization of the equality rows; their velocities and impulses.

   Given:   whitened rows x (>>whiten), ordered and laid out by >>plan, and the velocity change
            du = L (v_free - v) without constraints.
   Gives:   X = Q R for the columns x of the equality rows; redundant rows; du that meets all
            equality targets; dv = L^-1 Q du; the impulses of R lambda = y; inequality rows
            projected off the range of X and scaled to unit length.
   Writes:  shared.entry (the part of the rows), sim->du, sim->dv, sim->scratch, sim->row_x,
            sim->overflow; of each row in_equality, in_inequality, owned_count, inverse_rest,
            length, scale, cfm_part, along, tau_shared, u_lo, u_hi, u_lambda, lambda, warm_start,
            inactive, standing, flags, Jv; vector; substep_row.

   Without a tree M and J are constant, and a row is set up once: it stands (row->standing). Then a
   step finds its targets only.

   Equality rows here are those solved directly: unbounded rows (>>constraints), unless
   MDYN_ITERATED has them iterated with the others. Householder reflections turn the whitened
   space, row by row, so that what earlier rows left of the row lies along one coordinate, the
   row's pivot. In the turned coordinates the rows are the triangular matrix R^T, so du at the
   pivots follows from the targets by forward substitution, and the inequality rows act on the
   coordinates that are no pivot. A compliant row has an additional coordinate of its own in which
   its entry is sqrt(cfm); row k has it at index dofs + k. X^T X is never formed, so nearly parallel
   rows keep their digits. A row of which nothing is left depends linearly on the rows before it.
   Sources: Householder 1958; LAPACK dlarfg.

   To keep X sparse a row first reflects its lone coordinates, those that no later equality row
   touches, onto its pivot p, and then p and the shared ones. Only shared coordinates fill in: a
   gear train costs the sum of its rows at any length. The pattern follows from the model alone and
   is found once (md_plan_rows). The entries of a row in shared.entry, sim->entry_column:
      equality     [first, lone)        column of R: the values at the pivots of earlier rows
                   [lone, shared - 1)   v of the first reflection; p, where v = 1, stands last
                   [shared, end)        v of the second reflection
      inequality   [first, lone)        values at the pivots of equality rows
                   [lone, end)          all others, scaled to unit length
   Inequality rows that are parallel for any q share their entries: drive, friction and limit of one
   DoF, and of DoFs that depend on one independent DoF alone. */

/* How many of the active rows, the first ones, are solved directly. */
MD_ALWAYS_INLINE int md_equality_count(const mdyn_sim *sim)
{
    return MIMICDYN_EXACT && MD_HAS(EXACT) ? sim->equality_count : 0;
}

/* How many rows are active. */
MD_ALWAYS_INLINE int md_active_count(const mdyn_sim *sim)
{
    return MD_HAS(BOUNDED) ? sim->active_count : md_equality_count(sim);
}

/* ---- overflow of fixed-point blocks ---- */

/* Whether an attempt has to be repeated at a coarser scale: it overflowed, its input had not
   (`before`), and there are tries left. */
MD_INLINE int md_must_widen(const mdyn_sim *sim, md_overflow before, int *tries)
{
    return md_has_overflowed(sim->overflow) && !md_has_overflowed(before)
        && ++*tries < MD_MAX_RETRIES;
}

/* ---- reflections ---- */

/* u -= tau (v . u) v, v given by `count` entries from `first` on and v_p = 1. */
MD_OWN_FRAME void md_apply_reflection(mdyn_sim *sim, int first, int count, int p,
                                               md_unit tau, md_unit *u)
{
    const md_unit *entry = sim->shared.entry + first;
    const md_place *at = sim->entry_column + first;
    md_unit a = md_unit_add(md_sparse_dot(entry, at, count, u), u[p]);
    a = md_unit_neg(md_unit_mul(tau, a));
    u[p] = md_unit_add(u[p], a);
    sim->overflow |= md_overflow_of(u[p]) | md_sparse_axpy(u, a, entry, at, count);
}

MD_INLINE void md_apply_reflection_if_any(mdyn_sim *sim, int first, int count, int p, md_unit tau,
                                          md_unit *u)
{
    if (count > 0) md_apply_reflection(sim, first, count, p, tau, u);
}

MD_INLINE void md_apply_lone_reflection(mdyn_sim *sim, const md_row *row, md_unit *u)
{
    md_apply_reflection_if_any(sim, row->lone, row->shared - 1 - row->lone, row->pivot,
                               row->along, u);
}

MD_INLINE void md_apply_shared_reflection(mdyn_sim *sim, const md_row *row, md_unit *u)
{
    md_apply_reflection_if_any(sim, row->shared, row->end - row->shared, row->pivot,
                               row->tau_shared, u);
}

/* Bits of row->standing. The row is set up and stays so until M is factored anew, which every new
   layout and every change of mode causes; it takes part; it depends on earlier rows; it depends on
   them and has no force. */
enum { MD_STANDING = 1, MD_STANDS_IN = 2, MD_STANDS_REDUNDANT = 4, MD_STANDS_IDLE = 8 };

/* Whether a row with a force depends on earlier equality rows; whether it contradicts them. */
MD_INLINE int md_row_is_redundant(const md_row *row)
{
    return MD_HAS(REDUNDANT) && row->standing & MD_STANDS_REDUNDANT;
}

MD_INLINE int md_row_is_contradictory(const md_row *row)
{
    return MD_HAS(REDUNDANT) && row->flags & MDYN_ROW_CONTRADICTORY;
}

/* The Householder reflection that turns w = sim->row_x, at the pivot p and at `count` entries from
   `first` on, onto p, where `square` is its squared length there:
      beta = -sign(w_p) |w|,  v = w/(w_p - beta) but v_p = 1,  tau = 2/|v|^2
   v goes to shared.entry, w becomes beta at p and 0 elsewhere, row->inverse_rest = 1/beta. Returns
   tau; in fixed point that of v as it is rounded, so that the reflection keeps lengths. A vector of
   zeros needs none and leaves row->inverse_rest as it is. */
MD_STATIC md_unit md_make_reflection(mdyn_sim *sim, md_row *row, int first, int count,
                                     md_num square)
{
    const int p = row->pivot;
    md_num length, inverse, v_pivot;
    md_squares sum = 0;
    int e;
    if (md_is_zero(square)) {
        for (e = first; e < first + count; e++) sim->shared.entry[e] = MD_U(0);
        return MD_U(0);
    }

    /* length = -beta */
    md_sqrt_and_rsqrt(square, &length, &inverse);
    if (md_unit_less(sim->row_x[p], MD_U(0))) length = md_neg(length);
    else inverse = md_neg(inverse);
    row->inverse_rest = inverse;

    v_pivot = md_add(md_of_unit(sim->row_x[p], 0), length);
    inverse = md_div(MD_K(1), v_pivot);
    for (e = first; e < first + count; e++) {
        sim->shared.entry[e] = md_unit_mul_num(sim->row_x[sim->entry_column[e]], inverse);
        sum = md_add_square(sum, sim->shared.entry[e]);
        sim->row_x[sim->entry_column[e]] = MD_U(0);
    }
    sim->row_x[p] = md_unit_of(md_neg(length), 0);
    return md_unit_of(md_householder_tau(v_pivot, length, sum), 0);
}

/* ---- set-up of a row ---- */

/* Moves sim->row_x at the entries from `first` to before `end` into shared.entry. Returns the sum
   of their squares. */
MD_OWN_FRAME md_squares md_store_entries(mdyn_sim *sim, int first, int end)
{
    md_squares sum = 0;
    int e;
    for (e = first; e < end; e++) {
        sim->shared.entry[e] = sim->row_x[sim->entry_column[e]];
        sum = md_add_square(sum, sim->shared.entry[e]);
        sim->row_x[sim->entry_column[e]] = MD_U(0);
    }
    return sum;
}

/* The reflections of the equality row in sim->row_x, which is 0 afterwards; `owned` as in
   md_is_dependent. row->length becomes its squared length, row->inverse_rest = 1/R_kk. Returns 0
   if it depends on earlier rows. */
MD_OWN_FRAME int md_qr_pivot(mdyn_sim *sim, md_row *row, md_num owned)
{
    const int lone = row->lone, shared = row->shared, end = row->end;
    md_squares sum = md_add_row_squares(sim, 0, lone, shared);
    md_num square = md_squares_value(sum), left;
    int e;
    sum = md_add_row_squares(sim, sum, shared, end);
    left = md_squares_value(sum);
    if (row->pivot < 0 || md_is_dependent(left, owned)) {
        for (e = lone; e < end; e++) sim->row_x[sim->entry_column[e]] = MD_U(0);
        return 0;
    }

    /* onto p: first the lone coordinates, then the shared ones; R_kk = w_p if there are none */
    row->inverse_rest = MD_K(0);
    if (shared - lone > 1)
        row->along = md_make_reflection(sim, row, lone, shared - 1 - lone, square);
    if (end > shared)
        row->tau_shared = md_make_reflection(sim, row, shared, end - shared, left);
    if (md_is_zero(row->inverse_rest))
        row->inverse_rest = md_div(MD_K(1), md_of_unit(sim->row_x[row->pivot], 0));
    row->length = md_add(left, owned);
    sim->row_x[row->pivot] = MD_U(0);
    return 1;
}

/* Stores the inequality row in sim->row_x, turned: the part that is free of equality rows, scaled
   to length 1, or 0 if nothing is left; the rest has the squared length `owned`. */
MD_OWN_FRAME void md_project_out(mdyn_sim *sim, const md_row *row, md_num owned, int free)
{
    const int first = row->first + row->owned_count, end = row->end;
    md_vector *vector = &sim->vector;
    md_num s = MD_K(0);
    int e;
    vector->first = (int16_t)(row->first < end ? row->first : -1);
    vector->owned_count = row->owned_count;
    vector->free = (int16_t)free;
    vector->owned = owned;
    vector->left = md_squares_value(md_store_entries(sim, first, end));
    if (md_is_dependent(vector->left, owned)) vector->left = MD_K(0);
    else s = md_rsqrt(vector->left);
    vector->inverse_length = s;
    for (e = first; e < end; e++) sim->shared.entry[e] = md_unit_mul_num(sim->shared.entry[e], s);
}

/* J M^-1 J^T, after the hard equality rows, of a row that has the vector of an earlier one. */
MD_STATIC md_num md_shared_inverse_mass(const mdyn_sim *sim, const md_row *row)
{
    const md_vector *vector = &sim->vector;
    const int end = vector->first + vector->owned_count;
    md_squares soft = 0;
    int e;
    for (e = vector->free; e < end; e++) soft = md_add_square(soft, sim->shared.entry[e]);
    return md_div(md_add(vector->left, md_squares_value(soft)), md_mul(row->scale, row->scale));
}

/* The part of the vector of length 1 in sim->shared.entry that an inequality row is, such that its
   square plus that of cfm is 1. row->inverse_rest = 1/length before scaling. Returns 0 if the row
   depends on earlier ones. */
MD_OWN_FRAME int md_scale_inequality(const mdyn_sim *sim, md_row *row)
{
    const md_vector *vector = &sim->vector;
    md_num left = vector->left, s = vector->inverse_length, along = MD_K(1), cfm2 = MD_K(0);
    if (md_row_is_soft(row)) {
        cfm2 = md_mul(row->cfm, md_mul(row->scale, row->scale));
        left = md_add(left, cfm2);
        along = md_mul(vector->left, s);
        s = md_rsqrt(left);
        along = md_mul(along, s);
        cfm2 = md_mul(cfm2, md_mul(s, s));
    }
    row->owned_count = vector->owned_count;
    if (md_is_dependent(left, vector->owned)) return 0;

    row->along = md_unit_of(along, 0);
    row->inverse_rest = s;
    row->cfm_part = md_unit_of(cfm2, 0);
    row->length = md_sqrt_over(left, s, row->scale);
    row->scale = md_mul(row->scale, s);
    return 1;
}

/* Of a body row: the squared length within the span of earlier rows, with the uncertainty of those
   rows' directions. J of a body row is a sum, so its rounding is relative to its summands
   (md_body_row_max_length2). If little was left of an earlier row j, its direction has few
   significant digits, and passes on the error (x/R_jj)^2 times the rounding of row j: an absolute
   rounding plus one that is relative to the length of row j. In fixed point the absolute one is 128
   roundings: the reflections of four closed loops add up 33 (robot_pr2_gripper.c). */
MD_STATIC md_num md_body_row_owned_length2(const mdyn_sim *sim, const md_row *row, md_num owned)
{
    const md_num relative = MD_K(16 * MD_EPSILON / MD_RANK_TOLERANCE);
    md_num rounding = md_div(md_of_unit(MD_U_ROUNDING, 0), MD_K(MD_RANK_TOLERANCE / 128));
    md_num sum = md_max(owned, md_body_row_max_length2(sim, row));
    int e;

    for (e = row->first; e < row->first + row->owned_count; e++) {
        const md_row *owner = &sim->row[sim->pivot_owner[sim->entry_column[e]]];
        md_num x = md_of_unit(sim->shared.entry[e], 0);
        if (!owner->in_equality) continue;
        x = md_mul(x, owner->inverse_rest);
        x = md_mul(x, x);
        sum = md_add(sum, md_mul(x, md_sum2(rounding, rounding, md_mul(relative, relative),
                                            owner->length)));
    }
    return sum;
}

/* Turns sim->row_x by the reflections of the rows that own its entries from `first` to before
   `end`. Entries of hard owners come first; with `hard` it stops behind them. Returns the next
   entry. */
MD_OWN_FRAME int md_reflect_by_owners(mdyn_sim *sim, int first, int end, int hard)
{
    int e;
    for (e = first; e < end; e++) {
        const md_row *owner = &sim->row[sim->pivot_owner[sim->entry_column[e]]];
        if (!owner->in_equality) continue;
        if (hard && md_row_is_soft(owner)) break;
        md_apply_lone_reflection(sim, owner, sim->row_x);
        md_apply_shared_reflection(sim, owner, sim->row_x);
    }
    return e;
}

/* Turns row k, in sim->row_x, by the reflections of the rows before it, from the entry `reflected`
   on: the values at their pivots become its entries, the rest stays in sim->row_x. Leaves in
   row->inverse_rest the squared length within the span of earlier rows, for md_qr_pivot or
   md_project_out. */
MD_OWN_FRAME void md_orthogonalize_row(mdyn_sim *sim, int k, int direct, int reflected)
{
    md_row *row = md_row_at(sim, k);
    const int is_turned = direct || md_equality_count(sim) > 0;
    const int first = row->first, end = is_turned ? row->lone : first;
    const md_num cfm2 = direct ? md_compliance_square(sim, row) : MD_K(0);
    row->owned_count = (int16_t)(end - first);
    if (!md_is_zero(cfm2)) sim->row_x[sim->dofs + k] = md_unit_of(md_sqrt(cfm2), 0);
    (void)md_reflect_by_owners(sim, reflected, end, 0);

    row->inverse_rest = md_squares_value(md_store_entries(sim, first, end));
    if (md_is_body_row(row))
        row->inverse_rest = md_body_row_owned_length2(sim, row, row->inverse_rest);
}

/* The impulse that a soft equality row would have alone becomes part of the free motion. The solve
   finds the small rest, which keeps its digits even if cfm is far above the inverse mass. */
MD_OWN_FRAME void md_set_given_impulse(const mdyn_sim *sim, md_row *row)
{
    md_num lambda;
    row->lambda_given = MD_K(0);
    row->velocity_given = row->Jv;
    if (sim->has_off)
        row->velocity_given = md_sub(row->Jv, md_is_body_row(row)
            ? md_body_row_dot(sim, row, sim->off) : md_terms_dot(&sim->terms, sim->off));
    if (!md_row_is_soft(row) || !md_uses_midpoint(sim) || md_less(row->v_lo, row->v_hi)) return;
    if (!row->unbounded && !MD_ROW_IS(row, DRIVE)
        && (!MD_ROW_IS(row, COUPLING) || sim->has_coupled_bounds)) return;
    lambda = md_div(md_sub(row->v_lo, row->Jv), md_add(row->cfm, row->inverse_mass));
    row->lambda_given = md_max(row->lambda_min, md_min(row->lambda_max, lambda));
    row->velocity_given = md_add(row->velocity_given, md_mul(row->cfm, row->lambda_given));
}

/* Whether row k, with the terms in sim->terms, keeps its vector, compliance and bounds from step to
   step: without a tree J and M are constant. Not constant are the cfm of a soft range, which acts
   in a part of the step, and bounds by the impulse of another row. */
MD_INLINE int md_row_may_stand(const mdyn_sim *sim, const md_row *row)
{
    return !MIMICDYN_TREE && !sim->has_coupled_bounds && !md_has_overflowed(sim->overflow)
        && !md_has_curves(sim)
        && !(md_row_is_spring(row) && md_row_has_range(sim, row));
}

/* What the row of a drive, dry friction or limit acts along; rows of the same number are parallel.
   An independent DoF if the joint depends on it alone; otherwise sim->dofs + its own DoF. -1: a row
   of any other kind. */
MD_STATIC int md_direction_of(const mdyn_sim *sim, const md_row *row)
{
    const int k = row->index;
    if (md_is_body_row(row) || md_is_coupling_row(row)) return -1;
    if (!md_is_follower(sim, k)) return k;
    return sim->G_end[k] == sim->G_first[k] + 1 && !md_tie_is_curved(sim, sim->tie_of[k])
        ? sim->G_y[sim->G_first[k]] : sim->dofs + k;
}

/* Scales the vector of an inequality row, in sim->row_x, for the sums of squares to come. */
MD_INLINE void md_fit_vector(mdyn_sim *sim, md_row *row)
{
    row->cfm = MD_K(0);
    (void)md_compliance_square(sim, row);
    sim->vector.scale = row->scale;
}

/* Makes an inequality row point against its vector. */
MD_INLINE void md_reverse_row(md_row *row)
{
    row->along = md_unit_neg(row->along);
    row->inverse_rest = md_neg(row->inverse_rest);
}

/* Compliance and bounds of a row for a mode; `free` as in md_set_compliance. Returns 0 if it exerts
   no force. */
MD_INLINE int md_set_up_force(mdyn_sim *sim, md_row *row, enum md_mode mode, int free)
{
    int has_force;
    if (md_is_body_row(row)) return md_set_up_body_row(sim, row, mode, free);
    md_set_bounds(sim, row);
    has_force = md_set_joint_compliance(sim, row, free);
    md_share_spring(sim, row);
    if (mode != MD_MODE_STEP) row->cfm = MD_K(0);
    return has_force;
}

/* Vector, compliance and bounds of row k; as an equality row if `direct`, else as an inequality
   row. Of rows that are parallel the first one finds the vector. Returns whether the row takes
   part, and whether it depends on earlier rows: MD_STANDS_... */
MD_OWN_FRAME uint8_t md_set_up_vector(mdyn_sim *sim, int k, enum md_mode mode, int direct)
{
    md_row *row = md_row_at(sim, k);
    md_vector *vector = &sim->vector;
    const int direction = direct ? -1 : md_direction_of(sim, row);
    const int is_tied = direction >= 0 && direction < sim->dofs && direction != row->index;
    const int is_new = direction < 0 || vector->first != row->first || row->first == row->end;
    int has_force, is_independent, free = -1;
    row->in_inequality = row->in_equality = row->is_spring = 0;
    if (is_new) {
        /* the vector, turned by the hard equality rows */
        if (is_tied) sim->terms.dof[0] = (int16_t)direction;
        if (md_is_body_row(row)) md_whiten_row_on_bodies(sim, row);
        else row->scale = md_whiten_joint_row(sim, &sim->terms);
        if (is_tied) sim->terms.dof[0] = row->index;
        free = direct || md_equality_count(sim) > 0 ? row->lone : row->first;
        free = md_reflect_by_owners(sim, row->first, free, 1);
        if (!direct) md_fit_vector(sim, row);
    } else {
        row->scale = vector->scale;
    }

    /* compliance, by the remainder of the row after the hard equality rows */
    if (is_tied) row->scale = md_div(row->scale, md_abs(sim->G[sim->G_first[row->index]]));
    if (!is_new && MD_ROW_IS(row, DRIVE)) row->inverse_mass = md_shared_inverse_mass(sim, row);
    has_force = md_set_up_force(sim, row, mode, free);
    if (is_new) md_orthogonalize_row(sim, k, direct, free);

    if (direct) {
        is_independent = md_qr_pivot(sim, row, row->inverse_rest);
    } else {
        if (is_new) md_project_out(sim, row, row->inverse_rest, free);
        is_independent = md_scale_inequality(sim, row);
        if (is_tied && md_less(sim->G[sim->G_first[row->index]], MD_K(0))) md_reverse_row(row);
    }
    if (is_independent) return has_force ? MD_STANDS_IN : 0;
    return has_force ? MD_STANDS_REDUNDANT : MD_STANDS_IDLE;
}

/* Sets up row k for a solve: vector, compliance, bounds and targets. Needs L and the rows set up
   before it. A row that is redundant or exerts no force is in neither system. Of a row that stands
   only the targets are new, and the bounds of a drive. */
MD_OWN_FRAME void md_set_up_row(mdyn_sim *sim, int k, enum md_mode mode, int direct)
{
    md_row *row = md_row_at(sim, k);
    int is = row->standing, in;
    row->inactive = 0;
    row->warm_start = MIMICDYN_WARM && mode == MD_MODE_STEP ? sim->row_result[k].warm_start
                                                            : MD_K(0);
    if (MIMICDYN_SETTINGS) sim->substep_row[k].lambda_sum = MD_K(0);
    if (!md_is_body_row(row)) md_look_at_row(sim, row);

    /* what does not change from step to step */
    if (MIMICDYN_TREE || (!MIMICDYN_BAKED && !(is & MD_STANDING))) {
        is = md_set_up_vector(sim, k, mode, direct);
        if (md_row_may_stand(sim, row)) is |= MD_STANDING;
        row->standing = (uint8_t)is;
    } else if (MD_ROW_IS(row, DRIVE)) {
        md_bound_drive(sim, row, md_values_of_dof(sim, row->index));
    }
    in = (is & MD_STANDS_IN) != 0;
    row->in_equality = (uint8_t)(direct && in);
    row->in_inequality = (uint8_t)(!direct && in);
    row->flags = (uint8_t)(is & (MD_STANDS_REDUNDANT | MD_STANDS_IDLE) ? MDYN_ROW_REDUNDANT : 0);

    md_set_targets(sim, row, mode);
    md_set_given_impulse(sim, row);
}

/* ---- rows and pivots: the product with a column of R ---- */

MD_INLINE md_unit md_dot_owned(const mdyn_sim *sim, const md_row *row, const md_unit *u)
{
    return md_sparse_dot(sim->shared.entry + row->first, sim->entry_column + row->first,
                         row->owned_count, u);
}

/* u += s times the column */
MD_INLINE void md_axpy_owned(mdyn_sim *sim, const md_row *row, md_unit s, md_unit *u)
{
    sim->overflow |= md_sparse_axpy(u, s, sim->shared.entry + row->first,
                                    sim->entry_column + row->first, row->owned_count);
}

/* The change of J v that a target asks for, for the row scaled as in shared.entry. */
MD_INLINE md_unit md_scaled_target(const md_row *row, md_num velocity, md_scale e)
{
    return md_unit_of(md_mul(row->scale, md_sub(velocity, row->velocity_given)), e);
}

/* ---- solution for the velocities ---- */

/* sim->du at the pivots by R^T du = u_lo, first row first. Returns whether a row is redundant. */
MD_STATIC int md_forward_substitute(mdyn_sim *sim)
{
    int k, redundant = 0;
    for (k = 0; k < md_equality_count(sim); k++) {
        const md_row *row = md_active_row(sim, k);
        redundant |= md_row_is_redundant(row);
        if (!row->in_equality) continue;
        sim->du[row->pivot] =
            md_unit_mul_num(md_unit_sub(row->u_lo, md_dot_owned(sim, row, sim->du)),
                            row->inverse_rest);
        sim->overflow |= md_overflow_of(sim->du[row->pivot]);
    }
    return redundant;
}

/* The violation of a redundant body row, in its unit of C', up to which it is no contradiction:
   position errors of dependent closures agree to first order only (1 %), and no better than the
   rounding of C divided by the step. */
MD_STATIC md_num md_body_row_slack(const mdyn_sim *sim, const md_row *row)
{
    md_num rounding = md_mul(md_mul(MD_K(MD_CONSISTENCY_TOLERANCE), sim->inverse_dt),
                             md_body_row_at(sim, row)->value_size);
    return md_add(md_mul(MD_K(0.01), md_abs(row->v_lo)), rounding);
}

/* *violation = the target of a redundant row minus the value that the other rows determine.
   Returns whether it exceeds rounding: MD_CONSISTENCY_TOLERANCE of the numbers it is a sum of. */
MD_STATIC int md_is_inconsistent(const mdyn_sim *sim, const md_row *row, md_scale e,
                                 md_unit *violation)
{
    md_unit size = md_unit_abs(row->u_lo);
    int k;

    /* a coupling of tied joints alone: md_ties_are_refuted has compared it */
    *violation = MD_U(0);
    if (!md_is_body_row(row) && row->first == row->end) return 0;
    for (k = row->first; k < row->first + row->owned_count; k++)
        size = md_unit_add(size, md_unit_abs(md_unit_mul(sim->shared.entry[k],
                                                         sim->du[sim->entry_column[k]])));
    size = md_unit_add(size, md_unit_abs(md_unit_of(md_mul(row->scale, row->Jv), e)));
    *violation = md_unit_sub(row->u_lo, md_dot_owned(sim, row, sim->du));
    size = md_unit_add(md_unit_mul(MD_U(MD_CONSISTENCY_TOLERANCE), size), MD_U_ROUNDING);
    if (md_is_body_row(row))
        size = md_unit_add(size, md_unit_of(md_mul(row->scale, md_body_row_slack(sim, row)), e));
    return md_unit_less(size, md_unit_abs(*violation));
}

/* One step towards the least-squares solution of inconsistent targets, each violation in the row's
   own unit of C'. The redundant row k is the sum of a_j times row j and has the violation m; s is
   the scale of a row. With S = s_k^2 + sum (a_j s_j)^2
      row k keeps the violation m s_k^2/S,   the targets u_lo of the rows j shift by m a_j s_j^2/S.
   row->u_hi of row k is the sum of the violations that it keeps. The a_j solve R a = column k, last
   row first, in sim->scratch at the pivots; they are stored in row->lambda. Returns |m s_k^2/S|. */
MD_OWN_FRAME md_unit md_least_squares_step(mdyn_sim *sim, int k, md_unit violation)
{
    const md_overflow before = sim->overflow;
    md_num size, weight = MD_K(0);
    md_row *row;
    md_scale e = 0;
    int j, tries = 0;

    /* a_j and S; the numbers in sim->scratch are in units of 2^e */
    do {
        e = (md_scale)(e + MD_HEADROOM);
        md_overflow_reset(&sim->overflow, before);
        for (j = 0; j < k; j++) {
            row = md_active_row(sim, j);
            if (row->in_equality) sim->scratch[row->pivot] = MD_U(0);
        }
        row = md_active_row(sim, k);
        md_axpy_owned(sim, row, md_unit_of(MD_K(1), e), sim->scratch);
        size = md_mul(row->scale, row->scale);
        for (j = k; j-- > 0;) {
            row = md_active_row(sim, j);
            if (!row->in_equality) continue;
            row->lambda = md_mul(md_of_unit(sim->scratch[row->pivot], e), row->inverse_rest);
            md_axpy_owned(sim, row, md_unit_of(md_neg(row->lambda), e), sim->scratch);
            weight = md_mul(row->lambda, row->scale);
            size = md_add(size, md_mul(weight, weight));
        }
    } while (md_must_widen(sim, before, &tries));

    /* distributes the violation that exceeds what row k keeps already */
    row = md_active_row(sim, k);
    violation = md_unit_sub(violation, row->u_hi);
    for (j = 0; j <= k; j++) {
        row = md_active_row(sim, j);
        weight = md_div(md_mul(row->scale, row->scale), size);
        if (j == k) row->u_hi = md_unit_add(row->u_hi, md_unit_mul_num(violation, weight));
        else if (row->in_equality)
            row->u_lo = md_unit_add(row->u_lo,
                                    md_unit_mul_num(violation, md_mul(weight, row->lambda)));
    }
    return md_unit_abs(md_unit_mul_num(violation, weight));
}

/* sim->du = Q^T sim->du. row->u_hi keeps the free du at each pivot, for the impulses. */
MD_OWN_FRAME void md_apply_Qt(mdyn_sim *sim)
{
    int k;
    for (k = 0; k < md_equality_count(sim); k++) {
        md_row *row = md_active_row(sim, k);
        if (!row->in_equality) continue;
        md_apply_lone_reflection(sim, row, sim->du);
        md_apply_shared_reflection(sim, row, sim->du);
        row->u_hi = sim->du[row->pivot];
    }
}

/* sim->du at the pivots, turned, such that the equality rows meet row->u_lo; inconsistent ones
   in the least-squares sense. O(entries) if none is redundant. */
MD_OWN_FRAME void md_substitute_equalities(mdyn_sim *sim, md_scale e)
{
    int k, pass, contradictory = 0;
    md_unit violation, change, first_change = MD_U(0);
    md_row *row;
    if (!md_forward_substitute(sim) || !MD_HAS(REDUNDANT)) return;

    for (k = 0; k < md_equality_count(sim); k++) {
        row = md_active_row(sim, k);
        if (!md_row_is_redundant(row)) continue;
        row->u_hi = MD_U(0);
        if (md_is_inconsistent(sim, row, e, &violation)) row->flags |= MDYN_ROW_CONTRADICTORY;
        contradictory |= row->flags & MDYN_ROW_CONTRADICTORY;
    }

    /* all redundant rows in turn, at most 100 times, until the change is eps of the first one */
    for (pass = 0; pass < 100 && contradictory; pass++) {
        change = MD_U(0);
        for (k = 0; k < md_equality_count(sim); k++) {
            row = md_active_row(sim, k);
            if (!md_row_is_redundant(row)) continue;
            md_is_inconsistent(sim, row, e, &violation);
            change = md_unit_add(change, md_least_squares_step(sim, k, violation));
            (void)md_forward_substitute(sim);
        }
        if (pass == 0) first_change = change;
        else if (!md_unit_less(md_unit_mul(MD_U(MD_EPSILON), first_change), change)) break;
    }
}

/* Solves the equality rows for the targets of a bias mode: sim->du at the pivots. */
MD_OWN_FRAME void md_solve_equalities(mdyn_sim *sim, md_scale e, enum md_bias_mode bias_mode)
{
    int k;
    for (k = 0; k < md_equality_count(sim); k++) {
        md_row *row = md_active_row(sim, k);
        row->u_lo = md_scaled_target(row, md_target_lo(row, bias_mode), e);
    }
    md_substitute_equalities(sim, e);
}

/* u = Q u */
MD_OWN_FRAME void md_apply_Q(mdyn_sim *sim, md_unit *u)
{
    int k;
    for (k = md_equality_count(sim) - 1; k >= 0; k--) {
        const md_row *row = md_active_row(sim, k);
        if (!row->in_equality) continue;
        md_apply_shared_reflection(sim, row, u);
        md_apply_lone_reflection(sim, row, u);
    }
}

/* sim->dv = L^-1 Q sim->du, the change of the joint velocities; du is in units of 2^e. */
MD_OWN_FRAME void md_unwhiten(mdyn_sim *sim, md_scale e)
{
    const md_overflow before = sim->overflow;
    int room = 0, tries = 0;
    do {
        md_overflow_reset(&sim->overflow, before);
        md_copy_units(sim->scratch, sim->du, sim->dofs + sim->rows, room);
        md_apply_Q(sim, sim->scratch);
        md_solve_L(sim, sim->scratch, (md_scale)(e + room));
        room += MD_HEADROOM;
    } while (md_must_widen(sim, before, &tries));
}

/* ---- impulses ---- */

/* The impulses of the equality rows, R lambda = y, last row first, where y is the change of du at
   the pivots (from row->u_hi) less what the inequality rows' impulses contribute there. They
   may be far larger than the velocities, so they have a block of their own, of scale e + room. */
MD_OWN_FRAME void md_recover_equality_impulses(mdyn_sim *sim, md_scale e)
{
    const md_overflow before = sim->overflow;
    int k, room = 0, tries = 0;
    md_row *row;
    md_unit d;
    do {
        md_overflow_reset(&sim->overflow, before);

        /* y, in sim->scratch */
        for (k = 0; k < md_equality_count(sim); k++) {
            row = md_active_row(sim, k);
            row->lambda = row->warm_start = MD_K(0);
            if (!row->in_equality) continue;
            d = md_unit_sub(sim->du[row->pivot], row->u_hi);
            sim->scratch[row->pivot] = md_unit_ldexp(d, -room);
        }
        for (; k < md_active_count(sim); k++) {
            row = md_active_row(sim, k);
            if (!row->in_inequality) continue;
            d = md_unit_mul_num(row->u_lambda, md_ldexp(row->inverse_rest, -room));
            md_axpy_owned(sim, row, md_unit_neg(d), sim->scratch);
        }

        /* back substitution */
        for (k = md_equality_count(sim) - 1; k >= 0; k--) {
            row = md_active_row(sim, k);
            if (!row->in_equality) continue;
            row->u_lambda = md_unit_mul_num(sim->scratch[row->pivot], row->inverse_rest);
            sim->overflow |= md_overflow_of(row->u_lambda);
            row->lambda = md_mul(row->scale, md_of_unit(row->u_lambda, e + room));
            if (!md_is_zero(row->lambda_given))
                row->lambda = md_add(row->lambda, row->lambda_given);
            row->warm_start = row->lambda;
            md_axpy_owned(sim, row, md_unit_neg(row->u_lambda), sim->scratch);
        }
        room += MD_HEADROOM;
    } while (md_must_widen(sim, before, &tries));
}

/* ================================================================================ // >>plan
   Which rows a solve has, in which order, and where their entries stand.

   Given:   kinds, hardness and DoFs of the rows, the results of the last step, the mode of the
            solve.
   Gives:   the set-up order; the layout of all entries with fill-in; the redundant equality rows;
            the active rows of this solve (not released, not inactive, limits that are activated and
            that no other one implies), set up.
   Writes:  eliminated, tie, tie_of, G, y_parent, L_first, may_be_off (md_plan); limits_are_new and
            is_implied of rows; sim->setup_order,
            pivot_owner, last_use, mark, entries, entry_column, planned_count, plan_entries,
            redundant_count, active, active_count, equality_count, has_inactive, may_activate; of
            each row first, lone, shared, end, pivot, unbounded, active_side, inactive, and through
            md_set_up_row what >>equality writes. Resets sim->has_position_error, has_displacement,
            unconverged, vector and has_parallel.

   Before the rows it is decided which couplings are eliminated (md_plan). That gives G, by which
   every row acts on the independent DoFs, and the elimination tree of M_y, which is the pattern of
   L. An eliminated coupling has no entries and no place among the active rows.

   Rows are ordered by rank: hard couplings of positions, hard closures, hard couplings of
   velocities, hard unbounded user rows, other unbounded rows, those of eliminated couplings, which
   no solve sets up, and inequality rows, of which those that are parallel stand together and share
   their entries. So the equality rows of every mode are the first rows of the order, and one layout
   serves all modes. Fill-in is found symbolically: the
   reflections of a row whose pattern meets that of a later row add their pattern to it.
   At init O(r^2 + r n) for r rows and n DoFs, plus the set-up of the unbounded rows, which shows
   those that are redundant. With rows on bodies the layout is found again in every solve, from the
   first of these rows in the order on.
   Sources: Liu 1990 (elimination tree); Elmqvist and Otter 1994, Methods for tearing systems of
   equations in object-oriented modeling (choice of the followers). */

/* The i-th row of the set-up order; it may be written, as with md_row_at. */
MD_INLINE md_row *md_ordered_row(const mdyn_sim *sim, int i)
{
    const md_place *order = sim->setup_order;
    MD_OPAQUE(order); /* or gcc warns of a second row where there is room for one */
    return md_row_at(sim, order[i]);
}

/* ---- activation of limits ---- */

/* The range of C of a row of md_row_activates. */
MD_STATIC void md_activation_range(const mdyn_sim *sim, const md_row *row, mdyn_wide *lower,
                                   mdyn_wide *upper)
{
    if (md_is_body_row(row)) {
        md_body_row_range(sim, row, lower, upper);
    } else if (MD_ROW_IS(row, LIMIT)) {
        *lower = md_values_of_dof(sim, row->index)->lower;
        *upper = md_values_of_dof(sim, row->index)->upper;
    } else {
        *lower = md_coupling_at(sim, row->index)->lower;
        *upper = md_coupling_at(sim, row->index)->upper;
    }
}

/* How far C lies within a bound, rounded to mdyn_real: if q cannot represent a state nearer to the
   bound, C is at the bound. */
MD_INLINE md_num md_distance_inside(const mdyn_sim *sim, mdyn_wide bound, int is_lower)
{
    md_num x = md_of_real(md_to_real(md_value_minus(sim, bound)));
    return is_lower ? x : md_neg(x);
}

/* The active side of a limit or range in this step: 1 in the first step at its lower bound, then 2;
   -1 and -2 at its upper bound; 0 if inactive. A side is activated when its bound is violated. It
   becomes inactive after at least two steps, when C lies inside and C' points inwards by more than
   the rounding of the velocity that the last impulse has stopped: ArtiSynth (4.32). Evaluates C and
   row->Jv. */
MD_STATIC int8_t md_find_active_side(mdyn_sim *sim, md_row *row, const md_row_result *last)
{
    const int side = last->active_side, at_lower = side > 0;
    mdyn_wide lower, upper;
    md_num zero = MD_K(0), inside, velocity, stopped = zero;
    if (side != 0) stopped = md_abs(md_div(last->impulse, md_mul(row->scale, row->scale)));
    md_activation_range(sim, row, &lower, &upper);
    if (md_is_body_row(row)) {
        md_evaluate_body_row(sim, row);
    } else {
        md_find_row_terms(sim, row, &sim->terms);
        md_evaluate_position(sim, row);
        row->Jv = md_row_velocity(sim, row, &sim->terms);
    }

    /* active so far: does it stay? */
    if (side != 0) {
        inside = md_distance_inside(sim, at_lower ? lower : upper, at_lower);
        velocity = at_lower ? row->Jv : md_neg(row->Jv);
        velocity = md_sub(velocity, md_mul(MD_K(64 * MD_EPSILON), stopped));
        if (!(md_less(zero, inside) && md_less(zero, velocity) && (side > 1 || side < -1)))
            return (int8_t)(at_lower ? 2 : -2);
    }
    if (md_has_lower(lower) && md_less(md_distance_inside(sim, lower, 1), zero)) return 1;
    if (md_has_upper(upper) && md_less(md_distance_inside(sim, upper, 0), zero)) return -1;
    return 0;
}

/* ---- rows of a mode ---- */

/* Whether a row is one of a mode other than MD_MODE_STEP: hard couplings and hard closures, in
   MD_MODE_POSITION without couplings of velocities. */
MD_STATIC int md_row_in_mode(const mdyn_sim *sim, const md_row *row, enum md_mode mode)
{
    if (!row->unbounded) return 0;
    if (MD_HAS_CLOSURES && row->kind == MDYN_ROW_CLOSURE)
        return md_softness_is_hard(md_body_row_softness(sim, row));
    return MD_ROW_IS(row, COUPLING)
        && md_softness_is_hard(&md_coupling_at(sim, row->index)->softness)
        && (mode != MD_MODE_POSITION || !md_is_of_velocity(md_coupling_at(sim, row->index)));
}

/* Whether no row of a mode is solved directly: equality rows are iterated like the others. */
MD_INLINE int md_is_all_iterated(const mdyn_sim *sim, enum md_mode mode)
{
    return !MIMICDYN_EXACT || (mode == MD_MODE_STEP && md_iterates_equalities(sim));
}

/* Whether a row is one of the equality rows of a mode that are solved directly. */
MD_INLINE int md_row_is_direct(const mdyn_sim *sim, const md_row *row, enum md_mode mode)
{
    if (md_is_all_iterated(sim, mode)) return 0;
    return mode == MD_MODE_STEP ? row->unbounded : md_row_in_mode(sim, row, mode);
}

/* ---- the active rows ---- */

/* Makes row k active: at the end of the equality rows, or among the inequality rows in the order
   of their entries, in which parallel rows stand together, by their numbers. */
MD_STATIC void md_activate_row(mdyn_sim *sim, int k, int direct)
{
    int i = sim->active_count++;
    for (; i > md_equality_count(sim); i--) {
        const int ahead = md_active_row(sim, i - 1)->first - md_row_at(sim, k)->first;
        if (ahead == 0) sim->has_parallel = 1;
        if (ahead < 0 || (ahead == 0 && sim->active[i - 1] < k)) break;
        sim->active[i] = sim->active[i - 1];
    }
    sim->active[i] = (md_place)k;
    sim->equality_count = (int16_t)(md_equality_count(sim) + direct);
}

/* Before the first substep: sim->displacement leads from the middle of the step (MDYN_MIDPOINT)
   back to the middle of that substep. */
MD_STATIC void md_clear_displacement(mdyn_sim *sim)
{
    const md_num back = md_mul(MD_K(0.5), md_sub(sim->h, sim->dt));
    int k;
    sim->has_error_displacement = 0;
    sim->has_displacement = (uint8_t)(sim->kinematics_stale == MD_KINEMATICS_OF_STEP
                                      && md_substeps(sim) > 1);
    for (k = 0; sim->has_displacement && k < sim->dofs; k++)
        sim->displacement[k] = md_mul(back, md_of_real(sim->v[k]));
}

/* Rows become active as they are set up: the reflections of the equality rows so far, which are the
   first active ones, act on the next row. */
MD_INLINE void md_activate_and_set_up(mdyn_sim *sim, int k, enum md_mode mode, int direct)
{
    md_activate_row(sim, k, direct);
    md_set_up_row(sim, k, mode, direct);
}

/* Leaves no row active. */
MD_STATIC void md_clear_solve(mdyn_sim *sim)
{
    int i;
    for (i = 0; i < md_active_count(sim); i++) {
        md_row *row = md_active_row(sim, i);
        row->in_equality = row->in_inequality = 0;
    }
    sim->active_count = sim->equality_count = 0;
    sim->vector.first = -1;
    sim->has_parallel = 0;
    sim->has_position_error = sim->unconverged = sim->has_inactive = 0;
    sim->may_activate = 0;
    sim->substep = 0;
    md_clear_displacement(sim);
}

/* Whether inequality row k is left out of a step: a released coupling, a loss without efficiency,
   a limit that is not activated, that another one implies, or that is inactive. A limit or range
   without an impulse in the last step starts inactive and is set up only if the solution without
   it violates it (md_activate_violated). */
MD_INLINE int md_leaves_out(mdyn_sim *sim, int k)
{
    const md_row_result *last = &sim->row_result[k];
    md_row *row = md_row_at(sim, k);
    row->inactive = 0;
    row->active_side = 0;
    if (md_row_is_eliminated(sim, row)) return 1;
    if (md_row_is_released(sim, row) || (row->kind == MDYN_ROW_LOSS
        && !md_has_efficiency(md_coupling_at(sim, row->index)))) return sim->has_inactive = 1;

    if (MD_SETTING_IS(sim, limits, MDYN_ENGAGED) && md_row_activates(sim, row)) {
        row->active_side = md_find_active_side(sim, row, last);
        if (!row->active_side) sim->has_inactive = 1;
        return !row->active_side;
    }

    if (row->is_implied && !sim->q_may_be_off) {
        if (!md_is_zero(last->impulse)) sim->has_inactive = 1;
        return 1;
    }
    if (!md_is_zero(last->impulse) || md_iterates_equalities(sim)) return 0;
    row->inactive = (uint8_t)md_row_has_range(sim, row);
    sim->may_activate |= row->inactive;
    return row->inactive;
}

/* Sets up all rows of a mode without directly solved rows, after md_plan_iterated. */
MD_OWN_FRAME void md_set_up_iterated(mdyn_sim *sim, enum md_mode mode)
{
    int k;
    md_clear_solve(sim);
    for (k = 0; k < sim->rows; k++) {
        if (mode == MD_MODE_STEP ? md_leaves_out(sim, k)
                                 : !md_row_in_mode(sim, md_row_at(sim, k), mode)) continue;
        md_activate_and_set_up(sim, k, mode, 0);
    }
}

/* Sets up all rows of a mode, equality rows first, after md_plan_rows. */
MD_OWN_FRAME void md_set_up_rows(mdyn_sim *sim, enum md_mode mode)
{
    const int rows = sim->rows;
    int k, i;
    md_clear_solve(sim);

    /* unbounded rows are the first ones of the order */
    for (i = 0; MD_HAS(EXACT) && i < rows; i++) {
        k = sim->setup_order[i];
        if (!md_row_at(sim, k)->unbounded) break;
        if (mode != MD_MODE_STEP && !md_row_in_mode(sim, md_row_at(sim, k), mode)) continue;
        md_activate_and_set_up(sim, k, mode, 1);
    }
    if (mode != MD_MODE_STEP) return;

    /* a step has the inequality rows as well, which follow those of eliminated couplings */
    for (i += md_tie_count(sim); MD_HAS(BOUNDED) && i < rows; i++) {
        k = sim->setup_order[i];
        if (md_leaves_out(sim, k)) continue;
        md_activate_and_set_up(sim, k, mode, 0);
    }
}

/* ---- order and sparsity ---- */

/* Ranks of the order: 0 hard couplings of positions, 1 hard closures, 2 hard couplings of
   velocities, 3 hard unbounded user rows, 4 other unbounded rows, 5 rows of eliminated couplings,
   6 inequality rows. Soft rows follow hard ones: their compliance depends on what these leave. */
enum { MD_RANK_COMPLIANT = 4, MD_RANK_ELIMINATED, MD_RANK_INEQUALITY, MD_RANKS };

/* The place of a row in the order of set-up: a smaller rank comes first. */
MD_STATIC int md_setup_rank(const mdyn_sim *sim, const md_row *row)
{
    if (md_row_is_eliminated(sim, row)) return MD_RANK_ELIMINATED;
    if (!row->unbounded) return MD_RANK_INEQUALITY;
    if (md_is_body_row(row) && md_softness_is_hard(md_body_row_softness(sim, row)))
        return row->kind == MDYN_ROW_CLOSURE ? 1 : 3;
    if (!MD_ROW_IS(row, COUPLING)
        || !md_softness_is_hard(&md_coupling_at(sim, row->index)->softness))
        return MD_RANK_COMPLIANT;
    return md_is_of_velocity(md_coupling_at(sim, row->index)) ? 2 : 0;
}

/* The first row that is parallel to row k for any q; k if there is none before it. O(k) */
MD_STATIC int md_first_parallel(const mdyn_sim *sim, int k)
{
    const int direction = md_direction_of(sim, md_row_at(sim, k));
    int i = direction < 0 ? k : sim->couplings;
    while (i < k && md_direction_of(sim, md_row_at(sim, i)) != direction) i++;
    return i;
}

/* sim->setup_order: by rank, then by number. Inequality rows on joints, which come before those on
   bodies, are in the order of their entries, so that parallel ones stand together. O(rows^2) */
MD_STATIC void md_order_rows(mdyn_sim *sim, int rows)
{
    md_place *order = sim->setup_order;
    int i, j, k, start, n = 0;
    MD_OPAQUE(order); /* as in md_ordered_row */
    for (j = 0; j < MD_RANKS; j++)
        for (start = n, k = 0; k < rows; k++) {
            const md_row *row = md_row_at(sim, k);
            if (md_setup_rank(sim, row) != j) continue;
            for (i = n++; j == MD_RANK_INEQUALITY && !md_is_body_row(row) && i > start; i--) {
                if (md_ordered_row(sim, i - 1)->first <= row->first) break;
                order[i] = order[i - 1];
            }
            order[i] = (md_place)k;
        }
}

/* Whether the row at place i of the order has the entries of the one before, to which it is
   parallel. */
MD_STATIC int md_shares_entries(const mdyn_sim *sim, int i)
{
    const md_place *order = sim->setup_order;
    MD_OPAQUE(order); /* as in md_ordered_row */
    return i > 0 && !md_ordered_row(sim, i)->unbounded && !md_ordered_row(sim, i - 1)->unbounded
        && md_first_parallel(sim, order[i]) == md_first_parallel(sim, order[i - 1]);
}

MD_INLINE void md_copy_layout(md_row *to, const md_row *from)
{
    to->first = from->first;
    to->lone = from->lone;
    to->shared = from->shared;
    to->end = from->end;
    to->pivot = -1;
}

/* Coordinates of a row lie from `low` to `high`. Most rows act on few bodies, so planning looks at
   a small part of the coordinates, and passes over most of the earlier rows. */
typedef struct md_span { int low, high; } md_span;

MD_INLINE void md_widen_span(md_span *span, int c)
{
    if (c < span->low) span->low = c;
    if (c > span->high) span->high = c;
}

/* Marks DoF k and its ancestors in the elimination tree, up to the first one that is marked. */
MD_STATIC void md_mark_path(mdyn_sim *sim, int k, md_span *span)
{
    for (; k >= 0 && !sim->mark[k]; k = md_parent_y(sim, k)) {
        sim->mark[k] = 1;
        md_widen_span(span, k);
    }
}

/* Marks in sim->mark the DoFs between a row's bodies and the world: the independent ones, and their
   ancestors in the elimination tree. */
MD_STATIC void md_mark_body_row(mdyn_sim *sim, const md_row *row, md_span *span)
{
    const md_body_row *r = md_body_row_of(sim, row);
    int p, i, k;
    for (p = 0; p < r->term_count; p++)
        for (k = md_last_dof(sim, r->body[p]); k >= 0; k = md_parent_dof(sim, k))
            for (i = sim->G_first[k]; i < sim->G_end[k]; i++)
                md_mark_path(sim, sim->G_y[i], span);
}

/* Those of a row where couplings have curves: slopes may be 0 here and not elsewhere, so all of its
   joints count, and nothing that cancels between joints that are tied. */
MD_STATIC void md_mark_curved(mdyn_sim *sim, int k, md_span *span)
{
    const md_terms *t = &sim->terms;
    int i, j;
    md_find_straight_terms(sim, md_row_at(sim, k), &sim->terms);
    /* independent joints of all terms */
    for (j = 0; j < t->count; j++)
        for (i = sim->G_first[t->dof[j]]; i < sim->G_end[t->dof[j]]; i++)
            md_mark_path(sim, sim->G_y[i], span);
}

/* Marks in sim->mark the non-zeros of x = L^-T (J G)^T: the DoFs of row k and their ancestors.
   Returns where they lie. */
MD_STATIC md_span md_mark_dofs(mdyn_sim *sim, int k)
{
    const md_reduced *t;
    md_span span = { MDYN_WHITENED_SIZE_, -1 };
    int j;
    if (md_is_body_row(md_row_at(sim, k))) {
        md_mark_body_row(sim, md_row_at(sim, k), &span);
        return span;
    }
    if (md_has_curves(sim)) {
        md_mark_curved(sim, k, &span);
        return span;
    }

    /* a row on joints: the DoFs of J G */
    md_find_row_terms(sim, md_row_at(sim, k), &sim->terms);
    t = md_reduce_terms(sim, &sim->terms);
    for (j = 0; j < t->count; j++) md_mark_path(sim, t->dof[j], &span);
    return span;
}

/* Appends an entry at coordinate c and clears its mark. Beyond the capacity entries are counted
   only, for md_check_entries. */
MD_INLINE void md_append_entry(mdyn_sim *sim, int c)
{
    if (sim->entries < MIMICDYN_MAX_ENTRIES) sim->entry_column[sim->entries] = (md_place)c;
    sim->entries++;
    sim->mark[c] = 0;
}

/* Whether none of the coordinates of a row's reflections lies within a span. The lone ones and the
   shared ones stand in descending order. */
MD_INLINE int md_is_beside(const mdyn_sim *sim, const md_row *row, const md_span *span)
{
    const md_place *at = sim->entry_column;
    const int has_shared = row->shared < row->end;
    if (at[row->lone] < span->low && (!has_shared || at[row->shared] < span->low)) return 1;
    return at[row->shared - 1] > span->high && (!has_shared || at[row->end - 1] > span->high);
}

/* Marks the pattern of row k after the reflections of the first `before` rows of the order: its
   DoFs, the coordinate of its compliance, and the fill-in. A reflection acts only if it meets a
   mark, and then marks all its coordinates; the second one includes the pivot, at shared - 1, where
   it leaves an entry of R instead of a mark. Returns where the marks lie. */
MD_STATIC md_span md_mark_fill_in(mdyn_sim *sim, int k, int before)
{
    md_span span = md_mark_dofs(sim, k);
    int i, e, hit_lone, hit;
    if (md_setup_rank(sim, md_row_at(sim, k)) == MD_RANK_COMPLIANT) {
        sim->mark[sim->dofs + k] = 1;
        md_widen_span(&span, sim->dofs + k);
    }

    for (i = 0; i < before; i++) {
        const md_row *row = md_ordered_row(sim, i);
        const int lone = row->lone, shared = row->shared, end = row->end;
        if (row->pivot < 0 || md_is_beside(sim, row, &span)) continue;
        for (hit_lone = 0, e = lone; e < shared; e++) hit_lone |= sim->mark[sim->entry_column[e]];
        for (hit = hit_lone; e < end; e++) hit |= sim->mark[sim->entry_column[e]];
        if (!hit) continue;
        for (e = hit_lone ? lone : shared; e < end; e++) {
            sim->mark[sim->entry_column[e]] = 1;
            md_widen_span(&span, sim->entry_column[e]);
        }
        md_append_entry(sim, row->pivot);
    }
    return span;
}

/* ---- layout of the entries ---- */

/* Appends all marked coordinates, in descending order. */
MD_INLINE void md_append_marked(mdyn_sim *sim, md_span span)
{
    int c;
    for (c = span.high; c >= span.low; c--)
        if (sim->mark[c]) md_append_entry(sim, c);
}

/* MDYN_ERR_CAPACITY_ENTRIES, without a culprit, if there are more entries than room. */
MD_INLINE int md_check_entries(mdyn_sim *sim)
{
    if (sim->entries <= MIMICDYN_MAX_ENTRIES) return MDYN_OK;
    return md_blame(sim, MDYN_ERR_CAPACITY_ENTRIES, -1);
}

/* Lays out the entries of the row at place i of the order: at pivots of earlier rows in their
   order; at lone coordinates, of which the last becomes its pivot; at shared coordinates. Needs
   sim->last_use. Returns MDYN_OK or MDYN_ERR_CAPACITY_ENTRIES. O(i + n + fill-in). */
MD_OWN_FRAME int md_plan_row(mdyn_sim *sim, int i)
{
    const int k = sim->setup_order[i];
    md_row *row = md_row_at(sim, k);
    md_span span;
    int c;
    if (md_shares_entries(sim, i)) {
        md_copy_layout(row, md_ordered_row(sim, i - 1));
        return MDYN_OK;
    }
    row->first = row->lone = row->shared = row->end = (int16_t)sim->entries;
    row->pivot = -1;
    if (md_row_is_eliminated(sim, row)) return MDYN_OK;
    span = md_mark_fill_in(sim, k, i);

    /* lone: all other coordinates of an inequality row; of an equality row those that no later one
       touches and, if there are none, the shared one with the highest number */
    row->lone = (int16_t)sim->entries;
    for (c = span.high; c >= span.low; c--) {
        if (!sim->mark[c] || (row->unbounded && c < sim->dofs && sim->last_use[c] > i)) continue;
        md_append_entry(sim, c);
        row->pivot = (int16_t)c;
    }
    for (c = span.high; c >= span.low && row->pivot < 0; c--) {
        if (!sim->mark[c]) continue;
        md_append_entry(sim, c);
        row->pivot = (int16_t)c;
    }

    row->shared = (int16_t)sim->entries;
    md_append_marked(sim, span);
    row->end = (int16_t)sim->entries;
    if (!row->unbounded) row->pivot = -1;
    return md_check_entries(sim);
}

/* sim->last_use of each DoF = the place in the order of the last unbounded row that touches it
   without fill-in; -1: none. */
MD_OWN_FRAME void md_find_last_uses(mdyn_sim *sim, int rows)
{
    int i, k;
    for (k = 0; k < sim->dofs; k++) sim->last_use[k] = -1;
    for (i = 0; i < rows && md_ordered_row(sim, i)->unbounded; i++) {
        const md_span span = md_mark_fill_in(sim, sim->setup_order[i], 0);
        for (k = span.low; k <= span.high; k++) {
            if (sim->mark[k] && k < sim->dofs) sim->last_use[k] = (int16_t)i;
            sim->mark[k] = 0;
        }
    }
}

/* MDYN_ERR_CAPACITY_DANTZIG if MDYN_DANTZIG is chosen and a step may have more inequality rows
   than it has room for. */
MD_STATIC int md_check_dantzig_capacity(mdyn_sim *sim)
{
    int k, count = 0;
    if (MIMICDYN_MAX_DANTZIG == 0 || !MD_SETTING_IS(sim, method, MDYN_DANTZIG)) return MDYN_OK;
    for (k = 0; k < sim->rows; k++) count += !md_row_is_direct(sim, &sim->row[k], MD_MODE_STEP);
    return count > MIMICDYN_MAX_DANTZIG ? md_blame(sim, MDYN_ERR_CAPACITY_DANTZIG, -1) : MDYN_OK;
}

/* The layout without directly solved rows: of each row its DoFs and their ancestors. Sets
   sim->planned_count = -1. Returns MDYN_OK or an error of capacity. */
MD_OWN_FRAME int md_plan_iterated(mdyn_sim *sim)
{
    int k;
    sim->planned_count = -1;
    sim->entries = sim->L_first[sim->dofs];

    for (k = 0; k < sim->rows; k++) {
        md_row *row = md_row_at(sim, k);
        const int same = md_first_parallel(sim, k);
        if (same < k) {
            md_copy_layout(row, md_row_at(sim, same));
            continue;
        }
        row->first = row->lone = row->shared = (int16_t)sim->entries;
        row->pivot = -1;
        md_append_marked(sim, md_mark_dofs(sim, k));
        row->end = (int16_t)sim->entries;
        if (md_check_entries(sim) != MDYN_OK) return MDYN_ERR_CAPACITY_ENTRIES;
    }
    return md_check_dantzig_capacity(sim);
}

/* ---- which couplings are eliminated ----
   By tearing. If all joints of a coupling but one are known, the coupling gives this one: it is the
   follower. If no coupling is so far, a joint is chosen as independent, and is known from then on.
   So each follower depends on joints before it. A coupling stays a row over G if none of its joints
   is left to follow, or if the last one has too small a share in it. */

enum { MD_ELIMINATION_OPEN = 2 }; /* sim->eliminated while it is found */

/* Whether coupling i may be eliminated: an engaged equality of positions, of default softness and
   without target velocity, whose impulse has no bound and bounds no other. */
MD_STATIC int md_is_eliminable(const mdyn_sim *sim, int i)
{
    const mdyn_coupling *c = md_coupling_at(sim, i);
    return md_eliminates(sim) && c->softness.kind == MDYN_DEFAULT && !md_is_of_velocity(c)
        && md_wide_is_zero(c->target_velocity) && md_row_is_unbounded(sim, md_row_at(sim, i));
}

/* c^2/M_kk of a term: the square of its share in the coupling. */
MD_INLINE md_num md_term_weight(const mdyn_sim *sim, const md_terms *t, int k)
{
    return md_div(md_mul(t->factor[k], t->factor[k]), sim->mass[sim->M_first[t->dof[k]]]);
}

/* Whether a coupling may be solved for its term k: the square of its share is at least part2 times
   that of the largest. Of two terms either will do, since it only scales the other. */
MD_STATIC int md_may_follow(const mdyn_sim *sim, const md_terms *t, int k, md_num part2)
{
    md_num largest = MD_K(0);
    int j;
    for (j = 0; j < t->count; j++) largest = md_max(largest, md_term_weight(sim, t, j));
    return t->count <= 2 || !md_less(md_term_weight(sim, t, k), md_mul(part2, largest));
}

/* Whether coupling i is straight in the coordinate of a DoF: it can be solved for it. */
MD_STATIC int md_is_straight_in(const mdyn_sim *sim, int i, int dof)
{
    int k;
    for (k = 0; MD_HAS_CURVES && k < MIMICDYN_MAX_TERMS; k++) {
        const mdyn_term *t = &md_coupling_at(sim, i)->terms[k];
        if (md_term_is_curved(t) && md_dof_of(sim, t->body) == dof) return 0;
    }
    return 1;
}

/* Whether coupling i, with the terms in sim->terms, has a curve or a joint that follows one. */
MD_STATIC int md_is_on_curves(const mdyn_sim *sim, int i)
{
    const md_terms *t = &sim->terms;
    int k;
    if (md_coupling_is_curved(sim, i)) return 1;
    for (k = 0; md_has_curved_ties(sim) && k < t->count; k++)
        if (md_is_follower(sim, t->dof[k]) && md_tie_is_curved(sim, sim->tie_of[t->dof[k]]))
            return 1;
    return 0;
}

/* Marks in sim->last_use the joint that coupling i prefers as its follower: its first one. If that
   one is taken by another coupling, or its share is below half of the largest: the joint of the
   largest share that is not taken. */
MD_STATIC void md_prefer_follower(mdyn_sim *sim, int i)
{
    const md_terms *t = &sim->terms;
    int k, best = -1;
    md_find_straight_terms(sim, md_row_at(sim, i), &sim->terms);
    for (k = 0; k < t->count; k++) {
        if (sim->last_use[t->dof[k]] || !md_is_straight_in(sim, i, t->dof[k])) continue;
        if (k == 0 && md_may_follow(sim, t, 0, MD_K(0.25))) {
            best = 0;
            break;
        }
        if (best < 0 || md_less(md_term_weight(sim, t, best), md_term_weight(sim, t, k))) best = k;
    }
    if (best >= 0) sim->last_use[t->dof[best]] = (int16_t)(i + 1);
}

/* Eliminates coupling i, whose terms are in sim->terms, with the joint of term k as the follower.
   Returns whether it could: the share is at least a fifth of the largest, and G has room. */
MD_STATIC int md_tie_follower(mdyn_sim *sim, int i, int k)
{
    const md_terms *t = &sim->terms;
    const md_reduced *r = md_clear_reduced(sim);
    const int dof = t->dof[k];
    const int curved = md_is_on_curves(sim, i);
    md_tie *tie = &sim->tie[sim->tie_count];
    int j;

    /* v_f = sum of -c_j/c_f v_j, with what followers among the v_j are functions of */
    if (!md_may_follow(sim, t, k, MD_K(0.04)) || !md_is_straight_in(sim, i, dof)) return 0;
    for (j = 0; j < t->count; j++)
        if (j != k) md_add_reduced(sim, t->dof[j], md_neg(md_div(t->factor[j], t->factor[k])));
    if (!curved) r = md_drop_rounding(sim); /* what changes may cancel here and not elsewhere */
    if (sim->G_count + r->count > MDYN_G_SIZE_) return 0;

    /* the numbers of f in G stand behind all others */
    tie->coupling = (int16_t)i;
    tie->dof = (int16_t)dof;
    tie->inverse = md_div(MD_K(1), t->factor[k]);
    if (MD_HAS_CURVES) {
        MD_CURVES(sim)->is_curved[sim->tie_count] = (uint8_t)curved;
        if (curved) MD_CURVES(sim)->has_ties = 1;
    }
    sim->tie_of[dof] = sim->tie_count++;
    sim->mark[dof] = 1;
    sim->G_first[dof] = sim->G_count;
    for (j = 0; j < r->count; j++) {
        sim->G_y[sim->G_count] = (md_place)r->dof[j];
        sim->G[sim->G_count++] = r->factor[j];
    }
    sim->G_end[dof] = sim->G_count;
    return 1;
}

/* Eliminates all open couplings of which one joint is unknown, until there is none left. */
MD_STATIC void md_tie_followers(mdyn_sim *sim)
{
    const md_terms *t = &sim->terms;
    int i, k, found = 1;
    while (found)
        for (found = 0, i = 0; i < sim->couplings; i++) {
            int unknown = 0, last = 0;
            if (sim->eliminated[i] != MD_ELIMINATION_OPEN) continue;

            /* the joints that are not known yet: the only one becomes the follower */
            md_find_straight_terms(sim, md_row_at(sim, i), &sim->terms);
            for (k = 0; k < t->count; k++) {
                if (sim->mark[t->dof[k]]) continue;
                unknown++;
                last = k;
            }
            if (unknown > 1) continue;
            sim->eliminated[i] = (uint8_t)(unknown && md_tie_follower(sim, i, last));
            found |= sim->eliminated[i];
        }
}

/* Makes an unknown joint of open couplings independent: the one that is in most of them, and if
   possible one that no coupling prefers as its follower. Returns whether there was one.
   O(terms + n) */
MD_STATIC int md_choose_independent(mdyn_sim *sim)
{
    int16_t *uses = sim->pivot_owner;
    const md_terms *t = &sim->terms;
    int i, k, best = -1;
    for (k = 0; k < sim->dofs; k++) uses[k] = 0;
    for (i = 0; i < sim->couplings; i++) {
        if (sim->eliminated[i] != MD_ELIMINATION_OPEN) continue;
        md_find_row_terms(sim, md_row_at(sim, i), &sim->terms);
        for (k = 0; k < t->count; k++) uses[t->dof[k]]++;
    }

    /* more than any number of uses for a joint that no open coupling prefers */
    for (k = 0; k < sim->dofs; k++) {
        const int prefers = sim->last_use[k] - 1;
        if (sim->mark[k] || !uses[k]) continue;
        if (prefers < 0 || sim->eliminated[prefers] != MD_ELIMINATION_OPEN)
            uses[k] = (int16_t)(uses[k] + 8192);
        if (best < 0 || uses[k] > uses[best]) best = k;
    }
    if (best >= 0) sim->mark[best] = 1;
    return best >= 0;
}

/* sim->dv := the coordinates of all joints when the independent ones are 0. */
MD_STATIC void md_find_gamma_at_0(mdyn_sim *sim)
{
    int i, k;
    for (k = 0; k < sim->dofs; k++) sim->dv[k] = MD_K(0);
    for (i = 0; i < md_tie_count(sim); i++) {
        const md_tie *tie = &sim->tie[i];
        const mdyn_coupling *c = md_coupling_at(sim, tie->coupling);
        md_num C = md_terms_dot(md_find_tie_terms(sim, tie), sim->dv);
        C = md_add(C, md_sub(md_of_wide(c->offset), md_of_wide(c->lower)));
        sim->dv[tie->dof] = md_neg(md_mul(C, tie->inverse));
    }
}

/* Whether coupling i, with the terms in sim->terms a sum of eliminated ones, demands another
   position or velocity than these. Needs md_find_gamma_at_0. */
MD_STATIC int md_contradicts_ties(const mdyn_sim *sim, int i)
{
    const mdyn_coupling *c = md_coupling_at(sim, i);
    const md_terms *t = &sim->terms;
    md_num C, size = md_add(MD_K(1), md_abs(md_of_wide(c->offset)));
    int k;
    if (!md_wide_is_zero(c->target_velocity)) return 1;
    if (md_is_of_velocity(c)) return !md_wide_is_zero(c->lower);
    C = md_add(md_terms_dot(t, sim->dv), md_sub(md_of_wide(c->offset), md_of_wide(c->lower)));
    for (k = 0; k < t->count; k++)
        size = md_add(size, md_abs(md_mul(t->factor[k], sim->dv[t->dof[k]])));
    return md_less(md_mul(MD_K(MD_CONSISTENCY_TOLERANCE), size), md_abs(C));
}

/* Coupling i, with the terms in sim->terms, is a sum of eliminated ones. Whether one of these has a
   higher number: then that one counts as dependent. Overwrites sim->y_force. */
MD_STATIC int md_depends_on_later(mdyn_sim *sim, int i)
{
    md_num *left = sim->y_force, largest = MD_K(0);
    int k;
    for (k = 0; k < sim->dofs; k++) left[k] = MD_K(0);
    for (k = 0; k < sim->terms.count; k++)
        largest = md_max(largest, md_abs(sim->terms.factor[k]));
    md_add_terms(&sim->terms, MD_K(1), left);

    /* the number that is left at a follower is the factor of its coupling in the sum */
    for (k = md_tie_count(sim) - 1; k >= 0; k--) {
        const md_tie *tie = &sim->tie[k];
        const md_num part = left[tie->dof];
        if (!md_less(md_mul(MD_K(MD_CONSISTENCY_TOLERANCE), largest), md_abs(part))) continue;
        if (tie->coupling > i) return 1;
        md_add_terms(md_find_tie_terms(sim, tie), md_neg(md_mul(part, tie->inverse)), left);
    }
    return 0;
}

/* Whether some hard coupling that is a sum of eliminated ones contradicts them, or has a lower
   number than one of them. Then no coupling is eliminated: the equality rows find the least-squares
   compromise, and name the last coupling as dependent. */
MD_STATIC int md_ties_are_refuted(mdyn_sim *sim)
{
    int i;
    md_find_gamma_at_0(sim);
    for (i = 0; i < sim->couplings; i++) {
        const md_row *row = md_row_at(sim, i);
        if (sim->eliminated[i] || !md_row_is_unbounded(sim, row)
            || !md_softness_is_hard(&md_coupling_at(sim, i)->softness)) continue;
        md_find_row_terms(sim, row, &sim->terms);

        /* whether one on curves depends on others is found in each step */
        if (md_is_on_curves(sim, i)) continue;
        if (md_reduce_terms(sim, &sim->terms)->count > 0) continue;
        if (md_contradicts_ties(sim, i) || md_depends_on_later(sim, i)) return 1;
    }
    return 0;
}

/* No coupling is eliminated: every DoF is independent, and M_y = M. */
MD_STATIC void md_clear_ties(mdyn_sim *sim)
{
    int i, k;
    sim->tie_count = 0;
    sim->has_off = 0;
    if (MD_HAS_CURVES) MD_CURVES(sim)->has_ties = 0;
    for (i = 0; i < sim->couplings; i++) sim->eliminated[i] = 0;

    /* G = 1, and the elimination tree is that of the DoFs */
    for (k = 0; k < sim->dofs; k++) {
        sim->tie_of[k] = -1;
        sim->G_first[k] = (int16_t)k;
        sim->G_end[k] = (int16_t)(k + 1);
        sim->G_y[k] = (md_place)k;
        sim->G[k] = MD_K(1);
    }
    md_copy_bytes(sim->y_parent, sim->dof_parent, (size_t)sim->dofs * sizeof *sim->y_parent);
    sim->G_count = sim->dofs;
}

/* sim->tie and G, by M of the last factor. */
MD_OWN_FRAME void md_find_ties(mdyn_sim *sim)
{
    int i, k;
    for (k = 0; k < sim->dofs; k++) sim->mark[k] = 0;
    for (k = 0; k < sim->dofs; k++) sim->last_use[k] = 0;
    for (i = 0; i < sim->couplings; i++) {
        if (!md_is_eliminable(sim, i)) continue;
        sim->eliminated[i] = MD_ELIMINATION_OPEN;
        md_prefer_follower(sim, i);
    }

    /* in turns: followers as far as joints are known; then one more independent joint. Until all
       joints of open couplings are known */
    do md_tie_followers(sim);
    while (md_choose_independent(sim));
    for (k = 0; k < sim->dofs; k++) sim->mark[k] = 0;
    if (md_tie_count(sim) && md_ties_are_refuted(sim)) md_clear_ties(sim);
}

/* Puts k and i, i < k, onto one path of the elimination tree. */
MD_INLINE void md_join_path(mdyn_sim *sim, int k, int i)
{
    /* the parents of DoFs above i are above i, or i */
    while (sim->y_parent[k] >= 0 && sim->y_parent[k] != i) k = sim->y_parent[k];
    if (k != i) sim->y_parent[k] = (int16_t)i;
}

/* The elimination tree of M_y: the parent of k is the last DoF before it that k, or a descendant of
   k, has a number with. Liu 1990, section 4, from the last DoF to the first.
   O(independent DoFs, times non-zeros of M) */
MD_OWN_FRAME void md_find_elimination_tree(mdyn_sim *sim)
{
    int i, j, k, a, b;

    /* for each DoF i all elements of M, each of which gives M_y an element between the independent
       DoFs of its row and those of its column */
    for (i = sim->dofs - 1; i >= 0; i--) {
        sim->y_parent[i] = -1;
        if (md_is_follower(sim, i)) continue;
        for (k = 0; k < sim->dofs; k++)
            for (j = k; j >= 0; j = md_parent_dof(sim, j))
                for (a = sim->G_first[k]; a < sim->G_end[k]; a++)
                    for (b = sim->G_first[j]; b < sim->G_end[j]; b++) {
                        const int y = sim->G_y[a], z = sim->G_y[b];
                        if (y == i && z > i) md_join_path(sim, z, i);
                        if (z == i && y > i) md_join_path(sim, y, i);
                    }
    }
}

/* Lays out the rows of L: the columns of an independent DoF are itself and its ancestors in the
   elimination tree. MDYN_OK or MDYN_ERR_CAPACITY_ENTRIES. */
MD_STATIC int md_plan_factor(mdyn_sim *sim)
{
    int j, k, n = 0;
    sim->factored = MD_FACTOR_NONE;
    for (k = 0; k < sim->dofs; k++) {
        sim->L_first[k] = (int16_t)n;
        for (j = md_is_follower(sim, k) ? -1 : k; j >= 0; j = md_parent_y(sim, j), n++)
            if (n < MIMICDYN_MAX_ENTRIES) sim->entry_column[n] = (md_place)j;
        if (n > MIMICDYN_MAX_ENTRIES) return md_blame(sim, MDYN_ERR_CAPACITY_ENTRIES, -1);
    }
    sim->L_first[k] = (int16_t)n;
    return MDYN_OK;
}

/* The plan of the joint rows: sim->setup_order, the layout, and which equality rows are redundant.
   Their vectors at the present q decide that, because linear dependence of couplings does not
   change with q. Needs L. Returns MDYN_OK or an error of capacity. */
MD_STATIC int md_plan_rows(mdyn_sim *sim)
{
    md_row *row;
    const int n = sim->joint_row_count;
    int i, k, code = MDYN_OK;
    for (k = 0; k < n; k++) {
        row = md_row_at(sim, k);
        row->unbounded = (uint8_t)md_row_is_equality(sim, row);
        row->inactive = 0;
    }
    if (!MIMICDYN_EXACT) {
        code = md_plan_iterated(sim);
        sim->plan_entries = (int16_t)sim->entries;
        return code;
    }

    /* workspaces are zero between calls */
    for (k = 0; k < sim->dofs; k++) sim->row_J[k] = MD_U(0);
    for (k = 0; k < sim->dofs + sim->rows; k++) {
        sim->mark[k] = 0;
        sim->pivot_owner[k] = -1;
        sim->row_x[k] = MD_U(0);
    }
    for (k = 0; k < n; k++) md_row_at(sim, k)->in_equality = 0;

    /* the order of the entries, which is found next, is that of the first parallel rows */
    for (k = 0; k < n; k++) md_row_at(sim, k)->first = (int16_t)md_first_parallel(sim, k);
    md_order_rows(sim, n);
    md_find_last_uses(sim, n);

    /* the layout; a redundant row has no pivot */
    sim->entries = sim->L_first[sim->dofs];
    sim->redundant_count = 0;
    sim->planned_count = (int16_t)n;
    for (i = 0; i < n && code == MDYN_OK; i++) {
        row = md_ordered_row(sim, i);
        code = md_plan_row(sim, i);
        if (code != MDYN_OK || !row->unbounded) continue;
        md_set_up_row(sim, sim->setup_order[i], MD_MODE_STEP, 1);
        if (row->in_equality) {
            sim->pivot_owner[row->pivot] = sim->setup_order[i];
        } else {
            row->pivot = -1;
            sim->redundant_count++;
        }
    }
    sim->plan_entries = (int16_t)sim->entries;
    return code == MDYN_OK ? md_check_dantzig_capacity(sim) : code;
}

/* The least count of entries that the eliminated couplings would have as rows: their elimination
   may cost that many. */
MD_STATIC int md_count_saved_entries(mdyn_sim *sim)
{
    int i, j, k, n = 0;
    for (i = 0; i < md_tie_count(sim); i++) {
        const md_terms *t = md_find_tie_terms(sim, &sim->tie[i]);
        for (j = 0; j < t->count; j++)
            for (k = t->dof[j]; k >= 0; k = md_parent_dof(sim, k)) sim->mark[k] = 1;
        for (k = 0; k < sim->dofs; k++) {
            n += sim->mark[k];
            sim->mark[k] = 0;
        }
    }
    return n;
}

/* Decides which couplings are eliminated, lays out L, and plans the joint rows, at the present
   poses. M itself must be positive definite. No coupling is eliminated if M_y is singular to
   rounding, or has more numbers than M and the couplings' rows together. Returns MDYN_OK,
   MDYN_ERR_SINGULAR or an error of capacity. */
MD_STATIC int md_plan(mdyn_sim *sim)
{
    int code;
    sim->may_be_off = sim->q_may_be_off = sim->limits_are_new = 1;

    /* M without elimination: it must have full rank, and gives the joints' shares in a coupling */
    md_clear_ties(sim);
    code = md_plan_factor(sim);
    if (code == MDYN_OK) code = md_factor_LtL(sim, MD_K(0));
    if (code != MDYN_OK) return code;
    if (md_is_deep(sim)) md_crba(sim, MD_K(0)); /* L by articulated bodies is made without M */

    /* M_y; rows over G */
    md_find_ties(sim);
    if (md_tie_count(sim)) {
        md_find_elimination_tree(sim);
        code = md_plan_factor(sim);
        if (sim->L_first[sim->dofs] > sim->M_first[sim->dofs] + md_count_saved_entries(sim))
            code = MDYN_ERR_CAPACITY_ENTRIES;
        if (code == MDYN_OK) code = md_factor_LtL(sim, MD_K(0));
        if (code == MDYN_OK) code = md_plan_rows(sim);
        if (code == MDYN_OK) return MDYN_OK;
        md_clear_ties(sim);
        (void)md_plan_factor(sim);
        (void)md_factor_LtL(sim, MD_K(0));
    }
    return md_plan_rows(sim);
}

/* The range that the limits of row i leave to the independent DoF y on which alone its joint
   depends: [low, high], with MD_NO_MIN and MD_NO_MAX where there is no limit. Returns y; -1 for any
   other row. Needs md_find_gamma_at_0. */
MD_STATIC int md_find_limits_of_y(const mdyn_sim *sim, int i, md_num *low, md_num *high)
{
    const md_row *row = md_row_at(sim, i);
    const int k = row->index;
    const md_joint_values *b;
    md_num inverse, x;
    if (!MD_ROW_IS(row, LIMIT) || sim->G_end[k] != sim->G_first[k] + 1) return -1;
    b = md_values_of_dof(sim, k);
    inverse = md_div(MD_K(1), sim->G[sim->G_first[k]]);

    /* q_k = gamma_k(0) + G q_y; a negative ratio exchanges the ends */
    *low = MD_NO_MIN;
    *high = MD_NO_MAX;
    if (md_has_lower(b->lower)) {
        x = md_mul(inverse, md_sub(md_of_wide(b->lower), sim->dv[k]));
        *(md_less(inverse, MD_K(0)) ? high : low) = x;
    }
    if (md_has_upper(b->upper)) {
        x = md_mul(inverse, md_sub(md_of_wide(b->upper), sim->dv[k]));
        *(md_less(inverse, MD_K(0)) ? low : high) = x;
    }
    return sim->G_y[sim->G_first[k]];
}

/* is_implied of all limits: of joints that depend on one independent DoF alone only those limits
   can act that it meets first, at either end; of equal ones its own, or else the first. The others
   are left out while the couplings hold. Not with curves. O(limits^2), after a change of numbers */
MD_OWN_FRAME void md_find_implied_limits(mdyn_sim *sim)
{
    md_num low, high, other_low, other_high;
    int i, j, y;
    sim->limits_are_new = 0;
    for (i = sim->couplings; i < sim->joint_row_count; i++) md_row_at(sim, i)->is_implied = 0;
    if (!md_tie_count(sim) || md_has_curves(sim)) return;
    md_find_gamma_at_0(sim);

    for (i = sim->couplings; i < sim->joint_row_count; i++) {
        md_row *row = md_row_at(sim, i);
        int has_low = 0, has_high = 0;
        y = md_find_limits_of_y(sim, i, &low, &high);
        if (y < 0) continue;

        for (j = sim->couplings; j < sim->joint_row_count; j++) {
            const int first = !md_is_follower(sim, row->index) ? 0
                : !md_is_follower(sim, md_row_at(sim, j)->index) || j < i;
            if (j == i || md_find_limits_of_y(sim, j, &other_low, &other_high) != y) continue;
            has_low |= md_less(low, other_low) || (first && !md_less(other_low, low));
            has_high |= md_less(other_high, high) || (first && !md_less(high, other_high));
        }
        row->is_implied = (uint8_t)((has_low || !md_has_min(low))
                                    && (has_high || !md_has_max(high)));
    }
}

/* Whether a row is planned in each step: on bodies; an equality row where J or G has curves. */
MD_INLINE int md_row_changes(const mdyn_sim *sim, const md_row *row)
{
    return md_is_body_row(row)
        || (row->unbounded && (md_row_is_curved(sim, row) || md_has_curved_ties(sim)));
}

/* Whether there is such a row. */
MD_STATIC int md_rows_change(const mdyn_sim *sim)
{
    int k;
    if (md_has_body_rows(sim)) return 1;
    for (k = 0; md_has_curves(sim) && k < sim->rows; k++)
        if (md_row_changes(sim, md_row_at(sim, k))) return 1;
    return 0;
}

/* Plans and sets up all rows of a mode in a sim with rows that change. From the first of these rows
   on, the layout is found anew, because it depends on their bodies in this step, and redundancy on
   the pose. Returns MDYN_OK or an error of capacity. */
MD_OWN_FRAME int md_plan_and_set_up(mdyn_sim *sim, enum md_mode mode)
{
    const int n = sim->rows;
    int i, code;
    md_clear_solve(sim);

    /* the order, and how much of the layout still holds */
    md_order_rows(sim, n);
    for (i = 0; i < sim->planned_count; i++)
        if (md_row_changes(sim, md_ordered_row(sim, i))) sim->planned_count = (int16_t)i;
    if (sim->planned_count < sim->joint_row_count) md_find_last_uses(sim, n);
    sim->entries = sim->L_first[sim->dofs];
    if (sim->planned_count > 0)
        sim->entries = sim->row[sim->setup_order[sim->planned_count - 1]].end;

    /* Row by row: the layout, where it is found anew; the set-up, if the row takes part; its pivot.
       Modes other than MD_MODE_STEP end at the first row that is not theirs. */
    for (i = 0; i < n; i++) {
        md_row *row = md_ordered_row(sim, i);
        int direct = md_row_is_direct(sim, row, mode);
        if (mode != MD_MODE_STEP && !direct) break;
        if (i >= sim->planned_count) {
            code = md_plan_row(sim, i);
            if (code != MDYN_OK) return code;
        }
        row->inactive = 0;
        if (direct || !md_leaves_out(sim, sim->setup_order[i]))
            md_activate_and_set_up(sim, sim->setup_order[i], mode, direct);
        if (i < sim->planned_count || !row->unbounded) continue;
        if (row->in_equality) sim->pivot_owner[row->pivot] = sim->setup_order[i];
        else row->pivot = -1;
    }
    return mode == MD_MODE_STEP ? md_check_dantzig_capacity(sim) : MDYN_OK;
}

/* The end of the entries of all rows. */
MD_STATIC int md_last_entry(const mdyn_sim *sim)
{
    int k, end = sim->L_first[sim->dofs];
    for (k = 0; k < sim->rows; k++)
        if (end < md_row_at(sim, k)->end) end = md_row_at(sim, k)->end;
    return end;
}

/* Sets up all rows of a mode; plans them first if the layout is of another kind, or may have
   changed. Needs L and, with rows on bodies, sim->body_row. Returns MDYN_OK or an error of
   capacity. */
MD_OWN_FRAME int md_prepare_rows(mdyn_sim *sim, enum md_mode mode)
{
    const int changes = md_rows_change(sim);
    int code = md_update_curves(sim);
    if (code != MDYN_OK) return code;
    if (!MD_IS_BAKED && sim->limits_are_new && mode == MD_MODE_STEP) md_find_implied_limits(sim);
    if (md_is_all_iterated(sim, mode)) {
        if (changes || sim->planned_count >= 0) code = md_plan_iterated(sim);
        else sim->entries = md_last_entry(sim);
        if (code == MDYN_OK) md_set_up_iterated(sim, mode);
        return code;
    }

    /* planned_count < 0: the last solve had the layout of md_plan_iterated. It never has where
       nothing but exact equality rows is built; then a step links no planning. */
    if ((MIMICDYN_SETTINGS || !MIMICDYN_EXACT) && sim->planned_count < 0) code = md_plan_rows(sim);
    if (code == MDYN_OK && changes) return md_plan_and_set_up(sim, mode);
    /* without those of contacts of earlier steps */
    sim->entries = sim->plan_entries;
    if (code == MDYN_OK) md_set_up_rows(sim, mode);
    return code;
}

/* ================================================================================= // >>pgs
   Inequality rows by projected Gauss-Seidel iteration with over-relaxation (SOR-PGS).

   Given:   the inequality rows in their order in sim->active, each a vector x = along n on the
            coordinates that no equality row owns, |n| = 1, along^2 + cfm_part = 1; n is that of all
            rows that are parallel, which stand together; their targets and impulse
            bounds; sim->du, the whitened velocity change that satisfies the equality rows.
   Gives:   the impulse of each row, and sim->du with the effect of these impulses.
   Writes:  u_* of md_row, lambda bounds that follow another impulse, u_mu, u_bound and cone of
            md_body_row; sim->du, scratch, iterations, residual, unconverged, friction_stage,
            overflow.
            md_pair_cone rescales rows.
   Cost:    O(entries) for each iteration; parallel rows count once.

   Velocities and impulses named u_... refer to the row scaled to length 1, and are numbers of the
   block sim->du with the common exponent e: lambda = scale u_lambda 2^e. The constraint on the
   row's velocity s is u_lo <= s <= u_hi. One visit of a row computes
      s        := x.du + cfm_part u_lambda
      u_lambda := clamp(max(u_lambda + omega (u_lo - s), 0) + min(u_lambda + omega (u_hi - s), 0))
      du       += x times the change of u_lambda
   so that at the solution u_lambda > 0 implies s = u_lo, u_lambda < 0 implies s = u_hi
   (complementarity). For u_lo = u_hi this is the Gauss-Seidel step of an equation.

   Source: ODE, SOR-PGS of its quickstep solver; PhysX mimic joints, equation (16), with the
   accumulated impulse. */

/* ---- bounds that follow the impulse of another row ---- */

/* The row whose impulse bounds that of a coupling or loss: |lambda| <= mu |its lambda|. Returns -1
   if there is none. A loss of efficiency e is Coulomb friction on the first joint with
   mu = 2 (1 - e)/(1 + e): driving from either side, the part e of the power arrives. */
MD_STATIC int md_coupling_leader(const mdyn_sim *sim, const md_row *row, md_num *mu)
{
    const mdyn_coupling *c = md_coupling_at(sim, row->index);
    md_num e = md_of_wide(c->efficiency);
    if (row->kind == MDYN_ROW_LOSS) {
        *mu = md_div(md_sub(MD_K(2), md_add(e, e)), md_add(MD_K(1), e));
        return row->index;
    }
    *mu = md_of_wide(c->mu);
    return MD_ROW_IS(row, COUPLING) && !md_is_zero(*mu) ? c->mu_of : -1;
}

/* The leader of a row, whose impulse bounds that of the row: of tangents of contacts, user rows
   with mu, losses, couplings with mu. u_mu is the bound of u_lambda for a unit of the leader's.
   Returns -1 if there is none. */
MD_INLINE int md_leader(const mdyn_sim *sim, const md_row *row, md_num *u_mu)
{
    int leader = -1;
    *u_mu = MD_K(0);
    if (md_is_body_row(row)) {
        *u_mu = md_body_row_at(sim, row)->u_mu;
        return md_body_row_at(sim, row)->leader;
    }
    if (!MIMICDYN_LOSSES || !sim->has_coupled_bounds || !md_is_coupling_row(row)) return -1;
    leader = md_coupling_leader(sim, row, u_mu);
    if (leader >= 0)
        *u_mu = md_mul(*u_mu, md_mul(md_row_at(sim, leader)->scale, row->length));
    return leader;
}

MD_INLINE int md_has_leader(const mdyn_sim *sim, const md_row *row)
{
    md_num u_mu;
    if (md_is_body_row(row)) return md_body_row_at(sim, row)->leader >= 0;
    return md_leader(sim, row, &u_mu) >= 0;
}

/* Keeps the bound of a tangent, which in a cone is not that of its own component. */
MD_INLINE void md_save_bound(mdyn_sim *sim, const md_row *row)
{
    if (md_is_body_row(row)) md_body_row_of(sim, row)->u_bound = row->u_lambda_max;
}

/* The stage of a row with a leader (MDYN_TWO_STAGE): 1 no friction, 2 fixed bounds; 0: its bound
   follows. */
MD_INLINE int md_friction_stage(const mdyn_sim *sim, const md_row *row)
{
    return md_is_body_row(row) ? MD_BODY_ROWS(sim)->friction_stage : 0;
}

/* The largest impulse by its effort of a row with a leader, if it is a coupling that has one.
   Returns 0 if there is no such bound. */
MD_STATIC int md_own_bound(const mdyn_sim *sim, const md_row *row, md_num *bound)
{
    *bound = MD_K(0);
    if (MD_ROW_IS(row, COUPLING))
        *bound = md_mul(sim->h, md_of_wide(md_coupling_at(sim, row->index)->effort));
    return !md_is_zero(*bound);
}

/* The upper bound of u_lambda of a row with a leader: mu |impulse of the leader| as it is now, or
   in stages first 0, then the bound that was fixed after the first. */
MD_STATIC md_unit md_present_bound(const mdyn_sim *sim, const md_row *row, md_scale e)
{
    md_num u_mu, own;
    const md_row *leader = md_row_at(sim, md_leader(sim, row, &u_mu));
    const int stage = md_friction_stage(sim, row);
    md_unit bound = MD_U(0);
    if (stage == 2) return md_body_row_at(sim, row)->u_bound;
    if (stage != 1 && leader->in_inequality)
        bound = md_unit_mul_num(md_unit_abs(leader->u_lambda), u_mu);
    if (!md_is_body_row(row) && md_own_bound(sim, row, &own)) {
        own = md_mul(own, row->length);
        if (md_less(md_ldexp(own, -e), md_of_unit(bound, 0))) bound = md_unit_of(own, e);
    }
    return bound;
}

/* Sets the bounds of a row with a leader and returns the upper one. */
MD_STATIC md_unit md_follow_leader(mdyn_sim *sim, md_row *row, md_scale e)
{
    row->u_lambda_max = md_present_bound(sim, row, e);
    row->u_lambda_min = md_unit_neg(row->u_lambda_max);
    md_save_bound(sim, row);
    return row->u_lambda_max;
}

/* Stores the bound of a row with a leader as its impulse bounds, independent of the block: what it
   may exert by its effort to the last digit. */
MD_STATIC void md_store_bound(const mdyn_sim *sim, md_row *row, md_scale e)
{
    md_num own;
    row->lambda_max = md_mul(row->scale, md_of_unit(row->u_lambda_max, e));
    if (md_own_bound(sim, row, &own)
        && !md_unit_less(row->u_lambda_max, md_unit_of(md_mul(own, row->length), e)))
        row->lambda_max = own;
    row->lambda_min = md_neg(row->lambda_max);
}

/* ---- impulses and velocities of one row ---- */

/* n.u of an inequality row over the coordinates that no equality row owns. */
MD_INLINE md_unit md_dot_free(const mdyn_sim *sim, const md_row *row, const md_unit *u)
{
    const int first = row->first + row->owned_count;
    return md_sparse_dot(sim->shared.entry + first, sim->entry_column + first, row->end - first, u);
}

/* x.u */
MD_INLINE md_unit md_row_dot(const mdyn_sim *sim, const md_row *row, const md_unit *u)
{
    return md_unit_mul(row->along, md_dot_free(sim, row, u));
}

/* u += d n; returns the overflow. */
MD_INLINE md_overflow md_axpy_free(const mdyn_sim *sim, const md_row *row, md_unit d, md_unit *u)
{
    const int first = row->first + row->owned_count;
    return md_sparse_axpy(u, d, sim->shared.entry + first, sim->entry_column + first,
                          row->end - first);
}

/* u_lo, u_hi: the target velocities, less J v before the solve and less what the coordinates
   owned by equality rows contribute, which no inequality row changes. */
MD_OWN_FRAME void md_target_inequality(mdyn_sim *sim, md_row *row, md_scale e,
                                       enum md_bias_mode bias)
{
    md_unit owned = MD_U(0);
    if (MIMICDYN_EXACT) owned = md_unit_mul_num(md_dot_owned(sim, row, sim->du), row->inverse_rest);
    sim->overflow |= md_overflow_of(owned);
    row->u_lo = md_unit_sub(md_scaled_target(row, md_target_lo(row, bias), e), owned);
    row->u_hi = md_unit_sub(md_scaled_target(row, md_target_hi(row, bias), e), owned);
}

/* Sets the impulse of a row, and du += x times its change. */
MD_INLINE void md_set_impulse(mdyn_sim *sim, md_row *row, md_unit u_lambda)
{
    const md_unit d = md_unit_mul(row->along, md_unit_sub(u_lambda, row->u_lambda));
    row->u_lambda = u_lambda;
    sim->overflow |= md_overflow_of(u_lambda);
    if (!md_unit_is_zero(d)) sim->overflow |= md_axpy_free(sim, row, d, sim->du);
}

/* The change of the iteration's objective (Baraff's quadratic program),
      |du|^2/2 + sum of cfm_part u_lambda^2/2 - sum of u_target u_lambda,
   if the impulse of a row goes from 0 to u = u_warm_start: u (x.du - u_target + u/2), since |x|^2
   and cfm_part add up to 1 (in a friction cone to less, so that this is an upper bound). */
MD_INLINE md_num md_warm_start_cost(mdyn_sim *sim, const md_row *row)
{
    md_unit s = md_row_dot(sim, row, sim->du);
    s = md_unit_sub(s, md_unit_less(MD_U(0), row->u_warm_start) ? row->u_lo : row->u_hi);
    s = md_unit_add(s, md_unit_mul(MD_U(0.5), row->u_warm_start));
    return md_mul(md_of_unit(row->u_warm_start, 0), md_of_unit(s, 0));
}

/* Prepares a row for the iteration: targets and bounds in the block, and its impulse clamped to
   the bounds as a warm start. Returns the change of the objective by that impulse. */
MD_OWN_FRAME md_num md_start_row(mdyn_sim *sim, md_row *row, md_scale e, enum md_bias_mode bias,
                             md_num impulse)
{
    md_num length = row->length, cost;
    md_target_inequality(sim, row, e, bias);
    row->u_lambda_min = md_unit_of(md_mul(md_sub(row->lambda_min, row->lambda_given), length), e);
    row->u_lambda_max = md_unit_of(md_mul(md_sub(row->lambda_max, row->lambda_given), length), e);
    row->u_lambda = row->u_change = row->u_warm_start = MD_U(0);
    md_save_bound(sim, row);

    if (!MIMICDYN_WARM || md_is_zero(impulse)) return MD_K(0);
    impulse = md_max(row->lambda_min, md_min(row->lambda_max, impulse));
    row->u_warm_start = md_unit_of(md_mul(length, md_sub(impulse, row->lambda_given)), e);
    cost = md_warm_start_cost(sim, row);
    md_set_impulse(sim, row, row->u_warm_start);
    return cost;
}

/* The impulse that a Gauss-Seidel step gives a row where n.du = `velocity`, by the formulae above,
   within [min, max]. */
MD_ALWAYS_INLINE md_unit md_next_impulse(const md_row *row, md_unit velocity, md_unit omega,
                                         md_unit min, md_unit max)
{
    md_unit zero = MD_U(0), old = row->u_lambda, up, down, next;
    md_unit s = md_unit_add(md_unit_mul(row->along, velocity), md_unit_mul(row->cfm_part, old));

    /* u_lo <= u_hi, so at most one of up > 0 and down < 0 is true */
    up = md_unit_add(old, md_unit_mul(omega, md_unit_sub(row->u_lo, s)));
    down = md_unit_add(old, md_unit_mul(omega, md_unit_sub(row->u_hi, s)));
    next = md_unit_less(zero, up) ? up : md_unit_less(down, zero) ? down : zero;
    if (md_unit_less(next, min)) next = min;
    return md_unit_less(max, next) ? max : next;
}

/* One Gauss-Seidel step of a row where n.du = `velocity`. Returns the change of its impulse. */
MD_ALWAYS_INLINE md_unit md_visit(mdyn_sim *sim, md_row *row, md_unit velocity, md_unit omega)
{
    const md_unit old = row->u_lambda;
    row->u_lambda = md_next_impulse(row, velocity, omega, row->u_lambda_min, row->u_lambda_max);
    row->u_change = md_unit_sub(row->u_lambda, old);
    sim->overflow |= md_overflow_of(row->u_lambda);
    return row->u_change;
}

/* ---- Coulomb friction of contacts and user rows ---- */

/* Gives the two tangent rows of a contact, `first` and the row after it, a common scale: then the
   friction cone is a circle in their u_lambda. A friction visit moves both rows at once, so the
   scale is chosen such that the larger eigenvalue of their block
      J M^-1 J^T + cfm = [a c; c 1], before scaling and in units of the second row's length,
   becomes 1, and a step with omega = 1 never overshoots. Rows with different entries stay alone. */
MD_STATIC void md_pair_cone(mdyn_sim *sim, md_row *first)
{
    md_row *row, *second = first + 1;
    md_num a, c = MD_K(0), s, half;
    int k, n = second->end - second->first;
    if (!first->in_inequality || !second->in_inequality || n != first->end - first->first) return;

    /* a = (ratio of the lengths)^2, c = x1.x2 times this ratio */
    for (k = second->owned_count; k < n; k++)
        c = md_add(c, md_mul(md_of_unit(sim->shared.entry[first->first + k], 0),
                             md_of_unit(sim->shared.entry[second->first + k], 0)));
    c = md_mul(c, md_mul(md_of_unit(first->along, 0), md_of_unit(second->along, 0)));
    s = md_div(second->scale, first->scale);
    a = md_mul(s, s);
    c = md_mul(s, c);

    /* eigenvalue (a + 1)/2 + sqrt(((a - 1)/2)^2 + c^2) */
    half = md_mul(MD_K(0.5), md_sub(a, MD_K(1)));
    a = md_add(md_mul(MD_K(0.5), md_add(a, MD_K(1))), md_sqrt(md_sum2(half, half, c, c)));
    s = md_mul(second->scale, md_rsqrt(a));

    for (row = first; row <= second; row++) {
        md_num part = md_div(s, row->scale);
        row->along = md_unit_mul_num(row->along, part);
        row->inverse_rest = md_mul(row->inverse_rest, part);
        row->length = md_div(row->length, part);
        row->cfm_part = md_unit_mul_num(md_unit_mul_num(row->cfm_part, part), part);
        row->scale = s;
    }
    md_body_row_of(sim, first)->cone = 1;
    md_body_row_of(sim, second)->cone = 2;
}

/* Prepares friction once the rows are set up: pairs the tangents of each contact (MDYN_CONE), and
   finds u_mu of rows on bodies. */
MD_STATIC void md_prepare_friction(mdyn_sim *sim)
{
    int k;
    MD_BODY_ROWS(sim)->friction_stage = 0;
    for (k = sim->joint_row_count; k < sim->rows; k++) {
        md_row *row = md_row_at(sim, k);
        md_body_row *r = md_body_row_of(sim, row);
        r->cone = 0;
        if (r->leader < 0) continue;

        /* rows of a contact: index % 3 = 0 the normal, 1 and 2 the tangents */
        if (row->kind == MDYN_ROW_CONTACT && row->index % 3 == 1
            && sim->solver.friction_law == MDYN_CONE) md_pair_cone(sim, row);
        else if (row->kind == MDYN_ROW_CONTACT && row->index % 3 == 2)
            r->cone = (uint8_t)(2 * (md_body_row_of(sim, row - 1)->cone == 1));
        r->u_mu = md_div(md_mul(r->mu, sim->row[r->leader].scale), row->scale);
    }
}

/* Sets the impulse of a row and returns the magnitude of its change. */
MD_STATIC md_unit md_move_impulse(mdyn_sim *sim, md_row *row, md_unit u_lambda)
{
    row->u_change = md_unit_sub(u_lambda, row->u_lambda);
    md_set_impulse(sim, row, u_lambda);
    return md_unit_abs(row->u_change);
}

/* The impulses that a visit gives the two rows of a cone, of which `row` is the first:
      t := u_lambda + omega (u_lo - s) for both rows, then t := t min(1, bound/|t|)
   (radial projection). Returns whether they are beyond the bound. At the solution the impulse of a
   sliding contact opposes its slip. */
MD_STATIC int md_next_in_cone(const mdyn_sim *sim, const md_row *row, md_unit omega, md_unit bound,
                              md_unit *to)
{
    md_num square, limit, part;
    int k;
    for (k = 0; k < 2; k++) {
        const md_row *r = row + k;
        md_unit s = md_row_dot(sim, r, sim->du);
        s = md_unit_sub(r->u_lo, md_unit_add(s, md_unit_mul(r->cfm_part, r->u_lambda)));
        to[k] = md_unit_add(r->u_lambda, md_unit_mul(omega, s));
    }

    square = md_sum2(md_of_unit(to[0], 0), md_of_unit(to[0], 0), md_of_unit(to[1], 0),
                     md_of_unit(to[1], 0));
    limit = md_of_unit(bound, 0);
    if (!md_less(md_mul(limit, limit), square)) return 0;
    part = md_mul(limit, md_rsqrt(square));
    for (k = 0; k < 2; k++) to[k] = md_unit_mul_num(to[k], part);
    return 1;
}

/* 1, 2: the row is the first, the second tangent of a cone; else 0. */
MD_INLINE int md_cone_of(const mdyn_sim *sim, const md_row *row)
{
    return md_is_body_row(row) ? md_body_row_at(sim, row)->cone : 0;
}

/* One visit of a row with a leader; the first row of a cone is visited together with the second.
   Returns the larger change of the two impulses. */
MD_STATIC md_unit md_visit_follower(mdyn_sim *sim, md_row *row, md_scale e, md_unit omega)
{
    const int cone = md_cone_of(sim, row);
    md_unit bound, to[2], moved, other;
    int k, slides;
    if (cone == 2) return MD_U(0);
    bound = md_follow_leader(sim, row, e);
    if (cone == 0)
        return md_move_impulse(sim, row, md_next_impulse(row, md_dot_free(sim, row, sim->du), omega,
                                                         row->u_lambda_min, bound));

    /* outside the circle the bounds of each row become its own component, for the report */
    slides = md_next_in_cone(sim, row, omega, bound, to);
    row[1].u_lambda_max = bound;
    for (k = 0; k < 2 && slides; k++) row[k].u_lambda_max = md_unit_abs(to[k]);
    row[0].u_lambda_min = md_unit_neg(row[0].u_lambda_max);
    row[1].u_lambda_min = md_unit_neg(row[1].u_lambda_max);

    moved = md_move_impulse(sim, row, to[0]);
    other = md_move_impulse(sim, row + 1, to[1]);
    return md_unit_less(moved, other) ? other : moved;
}

/* The impulses that a visit would give a row with a leader, to[0], and with it the second of its
   cone, to[1]. Returns how many they are; 0 for the second of a cone. */
MD_STATIC int md_next_of_follower(const mdyn_sim *sim, const md_row *row, md_scale e, md_unit *to)
{
    const md_unit bound = md_present_bound(sim, row, e);
    const int cone = md_cone_of(sim, row);
    if (cone == 1) (void)md_next_in_cone(sim, row, MD_U(1), bound, to);
    else if (cone == 0)
        to[0] = md_next_impulse(row, md_dot_free(sim, row, sim->du), MD_U(1), md_unit_neg(bound),
                                bound);
    return cone == 0 ? 1 : cone == 1 ? 2 : 0;
}

/* ---- rows that miss their targets ---- */

/* The miss of a row: the change of its velocity that a visit would make. For the rows of a cone it
   is the larger of the two. */
MD_STATIC md_num md_row_miss(const mdyn_sim *sim, const md_row *row, md_scale e)
{
    md_unit to[2];
    md_num miss = MD_K(0);
    int k, count = 1;
    if (md_has_leader(sim, row)) count = md_next_of_follower(sim, row, e, to);
    else
        to[0] = md_next_impulse(row, md_dot_free(sim, row, sim->du), MD_U(1), row->u_lambda_min,
                                row->u_lambda_max);

    for (k = 0; k < count; k++)
        miss = md_max(miss, md_abs(md_of_unit(md_unit_sub(to[k], row[k].u_lambda), 0)));
    return miss;
}

/* sim->scratch := how much each coordinate changes in this step: |du| plus the |du| that there
   would be without the inequality rows; of a joint of several DoF the largest. In units of 2^room;
   returns the overflow. */
MD_OWN_FRAME md_overflow md_find_changes(mdyn_sim *sim, int room)
{
    const int n = sim->dofs + sim->rows;
    md_overflow overflow = 0;
    int i, k, from;

    /* without the impulses of the inequality rows */
    md_copy_units(sim->scratch, sim->du, n, room);
    for (i = md_equality_count(sim); i < md_active_count(sim); i++) {
        const md_row *row = md_active_row(sim, i);
        if (!row->in_inequality) continue;
        overflow |= md_axpy_free(sim, row, md_unit_ldexp(
            md_unit_neg(md_unit_mul(row->along, row->u_lambda)), -room), sim->scratch);
    }
    for (k = 0; k < n; k++) {
        sim->scratch[k] = md_unit_add(md_unit_abs(sim->scratch[k]),
                                      md_unit_ldexp(md_unit_abs(sim->du[k]), -room));
        overflow |= md_overflow_of(sim->scratch[k]);
    }

    /* All directions of a body count with its largest change: the friction of stacked boxes, at
       rest along its tangents, is judged by their weight. */
    for (i = 0; i < sim->bodies; i++) {
        md_unit largest;
        from = md_dof_of(sim, i);
        if (sim->link[i].dofs < 2) continue;
        largest = md_units_max_abs(sim->scratch + from, sim->link[i].dofs);
        for (k = from; k < from + sim->link[i].dofs; k++) sim->scratch[k] = largest;
    }
    return overflow;
}

/* Whether a row misses its target by more than rounding errors and
      accuracy (sum of |x_k| change_k + cfm_part |u_lambda|),   change_k of md_find_changes:
   the sum of the magnitudes by which its velocity changes in this step. `moved` is the largest
   change of an impulse in the last iteration: if that is rounding, no row misses. */
MD_OWN_FRAME uint8_t md_find_misses(mdyn_sim *sim, md_scale e, md_unit moved)
{
    const int room = 2 * MD_HEADROOM;
    md_num accuracy = md_of_wide(sim->solver.accuracy), noise, size;
    int k, j;
    if (md_wide_is_zero(sim->solver.relaxation) && !md_unit_less(md_unit_add(
            md_unit_mul(MD_U(8 * MD_EPSILON), sim->free_motion),
            md_unit_ldexp(MD_U_ROUNDING, 2)), moved)) return 0;

    /* if the changes do not fit the block, some row counts as missing its target */
    if (md_has_overflowed(md_find_changes(sim, room))) return 1;
    if (md_is_zero(accuracy)) accuracy = MD_K(1e-3);
    size = md_of_unit(md_units_max_abs(sim->scratch, sim->dofs + sim->rows), room);
    noise = md_add(md_mul(MD_K(64 * MD_EPSILON), size),
                   md_of_unit(md_unit_ldexp(MD_U_ROUNDING, 4), 0));
    noise = md_add(noise, MD_K(1e-30)); /* products of smaller floats may be denormal */
    for (k = md_equality_count(sim); k < md_active_count(sim); k++) {
        const md_row *row = md_active_row(sim, k);
        if (!row->in_inequality) continue;
        for (size = MD_K(0), j = row->first + row->owned_count; j < row->end; j++)
            size = md_add(size, md_abs(md_mul(md_of_unit(sim->shared.entry[j], 0),
                md_of_unit(sim->scratch[sim->entry_column[j]], room))));
        size = md_mul(size, md_abs(md_of_unit(row->along, 0)));
        size = md_add(size, md_abs(md_mul(md_of_unit(row->cfm_part, 0),
                                          md_of_unit(row->u_lambda, 0))));
        if (md_less(md_add(md_mul(accuracy, size), noise), md_row_miss(sim, row, e))) return 1;
    }
    return 0;
}

/* ---- the iteration ---- */

/* How far the impulse of a row can go on in the direction of its last change: to its bound, or to 0
   if the row has another target beyond. */
MD_STATIC md_num md_room_ahead(const md_row *row)
{
    const md_unit zero = MD_U(0), old = row->u_lambda;
    const int rises = md_unit_less(zero, row->u_change);
    md_unit end = rises ? row->u_lambda_max : row->u_lambda_min;
    if (md_unit_less(row->u_lo, row->u_hi)
        && !md_unit_less(rises ? zero : old, rises ? old : zero)
        && md_unit_less(rises ? zero : end, rises ? end : zero)) end = zero;
    return md_abs(md_of_unit(md_unit_sub(end, old), 0));
}

/* lambda += t d along the change d of the impulses in the last iteration, as far as the objective
   (md_warm_start_cost) falls and every bound allows: t = - slope/curvature, with
      slope     = D.du + sum of d (cfm_part u_lambda - u_target)
      curvature = D.D + sum of cfm_part d^2,   D = sum of d x
   D is the last change of du: sim->scratch holds what it was before. Does nothing where bounds
   follow impulses, or rows contradict each other: D is then rounding, and d has no end.
   Source: Silcowitz-Hansen, Niebe, Erleben, A nonsmooth nonlinear conjugate gradient method for
   interactive contact force problems, 2010: a line search along the step of Gauss-Seidel. */
MD_OWN_FRAME void md_extrapolate_impulses(mdyn_sim *sim)
{
    md_num slope = MD_K(0), curvature = MD_K(0), size = MD_K(0), t;
    int k;
    for (k = 0; k < sim->dofs + sim->rows; k++) {
        const md_num D = md_of_unit(md_unit_sub(sim->du[k], sim->scratch[k]), 0);
        slope = md_add(slope, md_mul(D, md_of_unit(sim->du[k], 0)));
        curvature = md_add(curvature, md_mul(D, D));
    }
    for (k = md_equality_count(sim); k < md_active_count(sim); k++) {
        const md_row *row = md_active_row(sim, k);
        const md_num d = md_of_unit(row->u_change, 0);
        md_unit s = md_unit_less(MD_U(0), row->u_lambda) ? row->u_lo : row->u_hi;
        if (!row->in_inequality || md_is_zero(d)) continue;
        if (md_has_leader(sim, row)) return;
        s = md_unit_sub(md_unit_mul(row->cfm_part, row->u_lambda), s);
        slope = md_add(slope, md_mul(d, md_of_unit(s, 0)));
        size = md_add(size, md_mul(d, d));
        curvature = md_add(curvature, md_mul(md_of_unit(row->cfm_part, 0), md_mul(d, d)));
    }
    if (!md_less(slope, MD_K(0)) || md_less(curvature, md_mul(MD_K(1e-4), size))) return;
    t = md_neg(md_div(slope, curvature));

    /* no bound is passed */
    for (k = md_equality_count(sim); k < md_active_count(sim); k++) {
        const md_row *row = md_active_row(sim, k);
        const md_num d = md_abs(md_of_unit(row->u_change, 0));
        if (!row->in_inequality || md_is_zero(d)) continue;
        if (md_less(md_room_ahead(row), md_mul(t, d))) t = md_div(md_room_ahead(row), d);
    }
    for (k = md_equality_count(sim); k < md_active_count(sim); k++) {
        md_row *row = md_active_row(sim, k);
        md_unit next;
        if (!row->in_inequality || md_unit_is_zero(row->u_change)) continue;
        next = md_unit_add(row->u_lambda, md_unit_mul_num(row->u_change, t));
        if (md_unit_less(next, row->u_lambda_min)) next = row->u_lambda_min;
        md_set_impulse(sim, row, md_unit_less(row->u_lambda_max, next) ? row->u_lambda_max : next);
    }
}

/* The iterations since the impulses were extrapolated, or the first: how many, how many there must
   be, the largest change of the last one, and that over the one before. */
typedef struct md_trend { int32_t count, least; md_unit moved; md_num ratio; } md_trend;

/* Adds an iteration, whose largest change is `moved`. Returns whether the changes shrink by the
   same factor again and again, so slowly that one direction is left of them. */
MD_STATIC int md_trend_settles(md_trend *t, md_unit moved)
{
    const md_num before = t->ratio, one = MD_K(1);
    const md_unit last = t->moved;
    t->moved = moved;
    if (++t->count + 1 < t->least) return 0;
    t->ratio = md_unit_less(moved, last) ? md_div(md_of_unit(moved, 0), md_of_unit(last, 0)) : one;
    return t->count >= t->least && md_less(t->ratio, one) && md_less(MD_K(0.3), t->ratio)
        && md_less(md_abs(md_sub(t->ratio, before)), md_mul(MD_K(0.1), md_sub(one, t->ratio)));
}

/* Notes that a visit has changed the impulse of a row by d: the largest change, and the largest
   change or impulse. */
MD_ALWAYS_INLINE void md_note_visit(const md_row *row, md_unit d, md_unit *moved, md_unit *largest)
{
    d = md_unit_abs(d);
    if (md_unit_less(*moved, d)) *moved = d;
    if (md_unit_less(*largest, d)) *largest = d;
    d = md_unit_abs(row->u_lambda);
    if (md_unit_less(*largest, d)) *largest = d;
}

/* One visit of each inequality row. Parallel rows stand together: each sees the velocity along
   their vector that the one before it leaves, and du follows after the last. (A row without
   entries, for which all of this is 0, may have the end of the row before.) Returns the largest
   change of an impulse; *motion becomes at least that change and the largest impulse. */
MD_OWN_FRAME md_unit md_visit_rows(mdyn_sim *sim, md_scale e, md_unit omega, md_unit *motion)
{
    const int count = md_active_count(sim), shared = sim->has_parallel ? count : 0;
    md_unit moved = MD_U(0), largest = *motion;
    int k = md_equality_count(sim);
    while (k < count) {
        md_row *head = md_active_row(sim, k++), *row;
        md_unit d, sum, velocity;
        if (!head->in_inequality) continue;
        if (md_has_leader(sim, head)) {
            md_note_visit(head, md_visit_follower(sim, head, e, omega), &moved, &largest);
            continue;
        }
        velocity = md_dot_free(sim, head, sim->du);
        d = md_visit(sim, head, velocity, omega);
        sum = md_unit_mul(head->along, d);
        md_note_visit(head, d, &moved, &largest);
        for (; k < shared && (row = md_active_row(sim, k))->end == head->end; k++) {
            if (!row->in_inequality) continue;
            d = md_visit(sim, row, md_unit_add(velocity, sum), omega);
            sum = md_unit_add(sum, md_unit_mul(row->along, d));
            md_note_visit(row, d, &moved, &largest);
        }
        if (!md_unit_is_zero(sum)) sim->overflow |= md_axpy_free(sim, head, sum, sim->du);
    }
    *motion = largest;
    return moved;
}

/* Iterates over the inequality rows until in one iteration no impulse changes by more than
      tolerance max(|u_lambda| of any row, |du|) + rounding,
   at least once. After solver.iterations of them, counted from the count `since` on, it ends
   with sim->unconverged set. sim->residual is the largest change of the last iteration over that
   maximum, 0 at rounding level. Where one slow direction is left after 8 iterations, and 16, 32,
   ... more, it is followed to its end (md_extrapolate_impulses), unless the user set `relaxation`,
   or fewer iterations remain than have been made since. Where the step has made 64 iterations and
   more before, as many are waited for. Returns the largest change. */
MD_OWN_FRAME md_unit md_iterate_pgs(mdyn_sim *sim, md_scale e, int32_t since)
{
    const md_settings *solver = &sim->solver;
    md_num omega = md_of_wide(solver->relaxation), tolerance = md_of_wide(solver->tolerance);
    md_unit step, part, moved, largest, motion = MD_U(0);
    /* Smaller changes of an impulse change velocities by their rounding error, which would
       accumulate. */
    const md_unit noise = md_unit_ldexp(MD_U_ROUNDING, 2);
    const int32_t first = sim->iterations;
    const int32_t max_iterations = solver->iterations ? solver->iterations
        : MD_SETTING_IS(sim, method, MDYN_TGS) ? 1 : 100;
    md_trend trend = { 0, first < 64 ? 8 : first, MD_U(0), MD_K(1) };
    const int relaxes = !md_is_zero(omega);
    int go_on, settled;
    if (!relaxes) omega = MD_K(1);
    if (md_is_zero(tolerance)) tolerance = MD_K(8 * MD_EPSILON);
    step = md_unit_of(omega, 0);
    part = md_unit_of(tolerance, 0);

    do {
        largest = motion;
        if (trend.count + 1 >= trend.least)
            md_copy_units(sim->scratch, sim->du, sim->dofs + sim->rows, 0);
        moved = md_visit_rows(sim, e, step, &largest);

        /* |du| is measured once, after the second iteration, when errors of the warm start no
           longer enlarge it, and only if the impulses alone have not converged. */
        if (sim->iterations == first + 1 && md_unit_less(md_unit_mul(part, largest), moved)) {
            motion = md_units_max_abs(sim->du, sim->dofs);
            if (md_unit_less(largest, motion)) largest = motion;
        }

        sim->residual = !md_unit_less(noise, moved) ? 0
            : md_to_wide(md_of_unit(md_unit_div(moved, largest), 0));
        if (md_unit_is_zero(moved)) return moved;
        sim->iterations++;
        go_on = md_unit_less(md_unit_add(md_unit_mul(part, largest), noise), moved);
        settled = md_trend_settles(&trend, moved) && go_on && !relaxes;
        if (settled && trend.count <= max_iterations - (sim->iterations - since)) {
            md_extrapolate_impulses(sim);
            trend.count = 0;
            trend.least += trend.least;
        }
    } while (go_on && sim->iterations - since < max_iterations);
    if (go_on) sim->unconverged = 1;
    return moved;
}

/* ============================================================================= // >>dantzig
   Inequality rows as one linear complementarity problem, solved by Dantzig's pivoting.

   Given:   the inequality rows as >>pgs has them, all with impulse 0: vectors of length 1, targets
            and bounds in the block sim->du.
   Gives:   their impulses by the pivoting of >>lcp, verified by PGS visits; or that it failed.
   Writes:  as >>pgs, and sim->dantzig, scratch, pivots, has_no_solution, and the flag
            MDYN_ROW_CONTRADICTORY of rows whose impulse nothing bounds.
   Cost:    O(entries) for each row to build the matrix, then that of mdyn_lcp_dantzig.

   The problem is  A x = b + w,  x the impulses u_lambda, w the velocities beyond the targets:
      A_ij = x_i.x_j, and cfm_part more on the diagonal;
      b_i  = u_lo - x_i.du where x > 0, u_hi - x_i.du where x < 0: with u_lo < u_hi a row is
             two-sided, and x = 0 while its velocity lies between them.
   Source: as for >>lcp. */

#if MIMICDYN_MAX_DANTZIG > 0

/* The largest change by a visit that counts as solved, relative to the largest velocity change;
   the same as MD_LCP_FRICTION_SOLVED. */
#define MD_DANTZIG_TOLERANCE (2048 * MD_EPSILON)

/* ---- verification ---- */

/* Marks the rows that miss their targets by more than `tolerance`; returns how many. */
MD_STATIC int md_mark_contradictory(mdyn_sim *sim, md_scale e, md_unit tolerance)
{
    int k, count = 0;
    for (k = md_equality_count(sim); k < md_active_count(sim); k++) {
        md_row *row = &sim->row[sim->active[k]];
        if (!row->in_inequality) continue;
        row->flags &= (uint8_t)~MDYN_ROW_CONTRADICTORY;
        if (!md_less(md_of_unit(tolerance, 0), md_row_miss(sim, row, e))) continue;
        row->flags |= MDYN_ROW_CONTRADICTORY;
        count++;
    }
    return count;
}

/* Whether the impulses solve the rows. 4 to 16 PGS iterations test it, which also remove rounding
   errors. The measure of their changes is the largest |du|, without impulses (`motion`) or at
   present; not the impulses, which may be large because they are wrong. A change beyond 64 times
   the tolerance ends the test. sim->residual: the largest change of the last iteration over that
   measure, or over itself.
   Impulses far larger than the motion make a block coarse: where rounding is 1/1000 of the motion,
   nothing can be verified, and the rows count as unsolved.
   If pivoting found rows without a solution (`has_none`), two iterations end the solve. Of rows
   that contradict each other the last one in their order then holds, the same in every step, so
   that the motion comes to rest. Rows that miss are marked; if none does, there is a solution. */
MD_STATIC int md_verify_impulses(mdyn_sim *sim, md_scale e, md_unit motion, int *has_none)
{
    /* several rows share a body */
    const md_unit noise = md_unit_ldexp(MD_U_ROUNDING, 4);
    md_unit d = md_units_max_abs(sim->du, sim->dofs + sim->rows), largest = d, moved, solved, limit;
    int pass, coarse;
    if (md_unit_less(motion, d)) motion = d;
    solved = md_unit_add(md_unit_mul(MD_U(MD_DANTZIG_TOLERANCE), motion), noise);
    limit = md_unit_add(md_unit_mul(MD_U(64 * MD_DANTZIG_TOLERANCE), motion), noise);
    coarse = md_unit_less(md_unit_mul(MD_U(1e-3), motion), noise);

    for (pass = 0; pass < 16; pass++) {
        moved = md_visit_rows(sim, e, MD_U(1), &largest);
        if (coarse && !md_unit_is_zero(moved)) {
            *has_none = 0;
            return 0;
        }
        d = md_unit_less(motion, moved) ? moved : motion;
        sim->residual = !md_unit_less(noise, moved) ? 0
            : md_to_wide(md_of_unit(md_unit_div(moved, d), 0));
        if (*has_none && pass == 1) break;
        if (*has_none) continue;
        if (md_unit_less(limit, moved)) return 0;
        if (md_unit_less(solved, moved)) continue;
        if (pass > 2 || !md_unit_less(md_unit_mul(MD_U(8 * MD_EPSILON), motion), moved)) return 1;
    }
    if (*has_none) *has_none = md_mark_contradictory(sim, e, solved) > 0;
    return *has_none || pass < 16;
}

/* Sets the impulses of all inequality rows to 0. */
MD_STATIC void md_clear_impulses(mdyn_sim *sim)
{
    int k;
    for (k = md_equality_count(sim); k < md_active_count(sim); k++) {
        md_row *row = &sim->row[sim->active[k]];
        if (!row->in_inequality) continue;
        row->flags &= (uint8_t)~MDYN_ROW_CONTRADICTORY;
        md_set_impulse(sim, row, MD_U(0));
    }
}

/* ---- the problem: i counts its rows, k those of the sim ---- */

/* The row of the problem that is row k of the sim; -1 if there is none. */
MD_STATIC int md_dantzig_index(const md_dantzig *d, int n, int k)
{
    int i;
    for (i = 0; i < n; i++)
        if (d->row[i] == k) return i;
    return -1;
}

/* Lists the inequality rows of the solve in sim->dantzig.row; returns how many they are. */
MD_STATIC int md_dantzig_collect(mdyn_sim *sim)
{
    int k, n = 0;
    for (k = md_equality_count(sim); k < md_active_count(sim); k++)
        if (sim->row[sim->active[k]].in_inequality) sim->dantzig.row[n++] = sim->active[k];
    return n;
}

/* The lower triangle of A. Row i is spread out in sim->scratch, so that its product with each
   earlier row costs the entries of that row. */
MD_STATIC void md_dantzig_matrix(mdyn_sim *sim, md_lcp_work *s)
{
    int i, j, e;
    for (e = 0; e < sim->dofs + sim->rows; e++) sim->scratch[e] = MD_U(0);
    for (i = 0; i < s->n; i++) {
        const md_row *row = &sim->row[sim->dantzig.row[i]];
        md_num *a = s->a + md_triangle_row(i);
        const int first = row->first + row->owned_count, end = row->end;

        /* A_ij = x_i.x_j, and cfm_part more for i = j */
        for (e = first; e < end; e++) sim->scratch[sim->entry_column[e]] = sim->shared.entry[e];
        for (j = 0; j <= i; j++) {
            const md_row *other = &sim->row[sim->dantzig.row[j]];
            a[j] = md_of_unit(md_unit_mul(row->along, md_row_dot(sim, other, sim->scratch)), 0);
        }
        a[i] = md_add(a[i], md_of_unit(row->cfm_part, 0));
        for (e = first; e < end; e++) sim->scratch[sim->entry_column[e]] = MD_U(0);
    }
}

/* Friction index of row i of the problem: the row that bounds it, the mu for impulses of unit
   vectors, and x_cap, its own bound. Returns whether any row of the sim bounds row i; one that is
   not in the problem has impulse 0. */
MD_STATIC int md_dantzig_leader(mdyn_sim *sim, int n, int i, md_scale e)
{
    md_dantzig *d = &sim->dantzig;
    const md_row *row = &sim->row[d->row[i]];
    md_num mu, own;
    const int leader = md_friction_stage(sim, row) ? -1 : md_leader(sim, row, &mu);
    d->findex[i] = -1;
    d->two_sided[i].x_cap = MD_K(1e30);
    if (leader < 0) return 0;

    /* in the numbering of the LCP */
    if (md_own_bound(sim, row, &own))
        d->two_sided[i].x_cap = md_ldexp(md_mul(own, row->length), -e);
    d->findex[i] = (int16_t)md_dantzig_index(d, n, leader);
    d->mu[i] = md_to_wide(mu);
    return 1;
}

/* b, bounds and initial state of row i. The bounds of a row with a leader start at 0; >>lcp sets
   them from the leader's impulse. */
MD_STATIC void md_dantzig_row(mdyn_sim *sim, md_lcp_work *s, int i, md_scale e)
{
    md_row *row = &sim->row[sim->dantzig.row[i]];
    md_two_sided *two = &s->two_sided[i];
    const int has_leader = md_dantzig_leader(sim, s->n, i, e);
    const md_unit u = md_row_dot(sim, row, sim->du);

    /* b for either sign of x; beyond 1e29 a target or bound is none */
    two->b_positive = two->x_min = MD_K(-1e30);
    two->b_negative = two->x_max = MD_K(1e30);
    if (md_less(MD_K(-1e29), row->v_lo))
        two->b_positive = md_of_unit(md_unit_sub(row->u_lo, u), 0);
    if (md_less(row->v_hi, MD_K(1e29)))
        two->b_negative = md_of_unit(md_unit_sub(row->u_hi, u), 0);

    if (md_has_leader(sim, row)) {
        md_follow_leader(sim, row, e);
        two->x_min = md_of_unit(row->u_lambda_min, 0);
        two->x_max = md_of_unit(row->u_lambda_max, 0);
    } else if (!has_leader) {
        if (md_less(MD_K(-1e29), row->lambda_min)) two->x_min = md_of_unit(row->u_lambda_min, 0);
        if (md_less(row->lambda_max, MD_K(1e29))) two->x_max = md_of_unit(row->u_lambda_max, 0);
    }

    /* u_lo < u_hi: begin on the side of the nearer target if x may have either sign; otherwise on
       the only side that x may have, without another one */
    s->state[i] = 0;
    if (md_less(two->b_positive, two->b_negative)) {
        int negative = md_less(md_abs(two->b_negative), md_abs(two->b_positive));
        if (has_leader || (md_less(two->x_min, MD_K(0)) && md_less(MD_K(0), two->x_max)))
            s->state[i] = MD_LCP_TWO_SIDED;
        else negative = !md_less(MD_K(0), two->x_max);
        if (negative) s->state[i] |= MD_LCP_NEGATIVE;
    }

    if (has_leader) two->x_min = two->x_max = MD_K(0);
    md_lcp_set_side(s, i);
    s->scale[i] = MD_K(1);
    s->friction_x[i] = MD_K(0);
    s->x[i] = md_lcp_clip(s, i, MD_K(0));
}

/* Finds the impulses of all inequality rows, which are 0 before. *has_none is set if a row that is
   driven without end proves that there is no solution. Returns 0, with all impulses 0, if one is so
   large that the velocities would consist of its rounding errors. */
MD_STATIC int md_solve_dantzig(mdyn_sim *sim, md_scale e, int *has_none)
{
    md_dantzig *d = &sim->dantzig;
    const int n = md_dantzig_collect(sim);
    md_num largest = md_of_unit(md_units_max_abs(sim->du, sim->dofs + sim->rows), 0);
    int i;
    mdyn_lcp p;
    md_lcp_work s;

    /* b has the rounding of u_lo and x.du, which may both be larger than b */
    md_lcp_carve_scratch(&s, n, d->number, d->index);
    s.two_sided = d->two_sided;
    s.b_rounding = md_div(md_of_unit(md_unit_ldexp(MD_U_ROUNDING, 2), 0),
                      MD_K(MD_LCP_NOISE * MD_EPSILON));
    p.n = n;
    p.hi = d->mu;
    p.findex = NULL;
    p.friction_law = MDYN_PYRAMID;

    md_dantzig_matrix(sim, &s);
    md_lcp_find_profile(&s);
    for (i = 0; i < n; i++) {
        md_dantzig_row(sim, &s, i, e);
        if (d->findex[i] >= 0) p.findex = d->findex;
        largest = md_max(largest, md_max(s.two_sided[i].b_positive,
                                         md_neg(s.two_sided[i].b_negative)));
    }
    sim->pivots += md_lcp_solve(&s, &p);

    /* an impulse above 1/(10000 MD_EPSILON) times the largest velocity or target fails */
    for (i = 0; i < n; i++)
        if (md_less(largest, md_mul(MD_K(10000 * MD_EPSILON), md_abs(s.x[i])))) return 0;
    for (i = 0; i < n; i++) {
        md_row *row = &sim->row[d->row[i]];
        md_set_impulse(sim, row, md_unit_of(s.x[i], 0));
        if ((s.state[i] & MD_LCP_UNBOUNDED) && md_lcp_proves_no_solution(&s, &p, i)) *has_none = 1;
    }
    return 1;
}

#endif

/* =============================================================================== // >>solve
   Constraint rows to impulses and velocity changes.

   Given:   sim->joint_force, the generalized force less the bias force; the factor of M_y = L^T L;
            the state; a mode (MD_MODE_STEP: impulses of a step h, other modes: forces).
   Gives:   sim->dv, the change of the joint velocities; for each active row its impulse lambda and
            the warm start of the next solve; with relaxation or substeps sim->displacement, by
            which q moves.
   Writes:  what >>whiten, >>equality, >>plan, >>pgs and >>dantzig write; dv, displacement,
            free_du; lambda, u_warm_start and warm_start of rows; substep_row; the counts of
            iterations, pivots and unsolved problems. md_refine_equalities overwrites y_force.
   Cost:    O(entries) for each iteration, and for each pass O(entries) for the equality rows.

   A pass (md_solve_pass) starts from the free motion du = h L^-T G^T joint_force:
      1. equality rows are satisfied exactly, in the coordinates that they own;
      2. inequality rows start at the impulses of the last solve (warm start), and are solved by
         PGS or Dantzig in the coordinates that are left;
      3. inactive rows that the resulting motion violates are activated, and 2 is repeated;
      4. the impulses of the equality rows are recovered from the velocities that they caused.

   Position errors. The term of a target that corrects C, Baumgarte's erp C/h, is the row's position
   bias. The targets of a biased solve contain it, those of an unbiased solve do not (enum
   md_bias_mode):
      MDYN_BAUMGARTE   One biased solve; the correcting velocity stays in v. If the iteration of
                       the last step did not converge, an unbiased solve comes first and sets the
                       next warm start: otherwise the impulses that correct positions would
                       accumulate from step to step.
      MDYN_RELAX       An unbiased solve sets the warm start; then a biased solve moves q only;
                       then a solve with the bias of compliant rows alone (relaxation), whose bias
                       is the force of a spring, gives v and the impulses.

   Midpoint steps. Errors of hard equality rows are corrected apart from v: md_correct_equalities
   finds the change of v that the biases alone need, and h times it goes into q only
   (sim->error_displacement). The impulses, and with them the energy, have no part of it.

   Rows that contradict each other. Equality rows that are solved directly are satisfied in the
   least-squares sense, each miss in the row's own unit of C': a row of coefficients 10 times as
   large weighs 100 times as much (md_least_squares_step). Rows that are iterated or pivoted have no
   weights: the last one visited holds, and the others miss, the same ones in every step. Either
   way the targets alone decide, not the velocity after the last step, so that contradictory rows
   bring the motion to rest.

   Eliminated couplings. The unknowns are the velocities y' of the independent DoFs. The force of
   the free motion is G^T joint_force, the rows are J G, and dv = G L^-1 Q du. If v of the followers
   is not G y' at the start (after a change by the user, or of a coupling), `off` is the difference
   e:
      M_y y'' = G^T (h f + M e),    dv = G y'' - e,    row targets less J e
   which is what equality rows for these couplings would give: an impact that keeps momentum. In
   MD_MODE_POSITION e is the difference of q. Their impulses are found after the solve
   (md_recover_tie_impulses).

   Substeps (MDYN_TGS). A step is n passes of h = dt/n with M and J of its beginning. Each adds
   h (v + dv) to the displacement, by which the next evaluates C; impulses add up.

   Overflow. The fixed-point block sim->du has one exponent, chosen from estimates. If a number does
   not fit, the solve is repeated with an exponent larger by MD_HEADROOM, at most MD_MAX_RETRIES
   times. Floats never repeat. */

/* An estimate of the largest velocity change or impulse of row k, in units of its unit vector, by
   which the exponent of the block sim->du is chosen. Too small an estimate costs a repetition of
   the solve, not its accuracy. */
MD_STATIC md_num md_row_magnitude(const mdyn_sim *sim, int k, enum md_bias_mode bias)
{
    const md_row *row = md_row_at(sim, k);
    md_num need, bound, low = md_target_lo(row, bias), high = md_target_hi(row, bias);

    /* An equality row: its target over the part of its length that earlier rows leave. A nearly
       dependent row could need more than 8 times the target, but earlier rows mostly satisfy it. */
    if (!row->in_inequality) {
        if (!MIMICDYN_EXACT || !row->unbounded
            || !(row->in_equality || md_row_is_redundant(row))) return MD_K(0);
        need = md_abs(md_mul(row->scale, md_sub(low, row->velocity_given)));
        return row->in_equality ? md_mul(need, md_min(md_abs(row->inverse_rest), MD_K(8))) : need;
    }

    /* An inequality row: its violation, limited by what its bounded impulse can change; and the
       impulse at which it is warm-started. */
    need = md_mul(row->scale, md_max(md_sub(low, row->velocity_given),
                                      md_sub(row->velocity_given, high)));
    bound = md_mul(row->length, md_max(row->lambda_max, md_neg(row->lambda_min)));
    need = md_min(need, md_add(bound, bound));
    if (!md_uses_warm_start(sim) || md_is_zero(row->warm_start)) return md_max(need, MD_K(0));
    bound = md_sub(row->warm_start, row->lambda_given);
    return md_max(need, md_abs(md_mul(row->length, bound)));
}

/* Sets u_warm_start, the impulse at which the next solve starts. With target velocities rows can be
   inconsistent; their impulses then drift by a constant amount per iteration, and would grow from
   step to step. So the change of the last iteration times the number n of iterations is subtracted,
   but not beyond 0. A row that converges by the factor r per iteration then keeps the part
   r^n (1 + n (1 - r)/r) of its error instead of r^n. That is below 1 for n > 1, so it still
   converges from step to step. */
MD_OWN_FRAME void md_save_warm_start(const mdyn_sim *sim, md_row *row, int32_t iterations)
{
    md_num zero = MD_K(0), start = md_of_unit(row->u_lambda, 0), drift;
    if (!md_has_target_velocity(sim) || md_unit_is_zero(row->u_change)) {
        row->u_warm_start = row->u_lambda;
        return;
    }
    drift = md_mul(md_of_int(iterations), md_of_unit(row->u_change, 0));
    if (md_less(zero, start) && md_less(zero, drift)) start = md_max(zero, md_sub(start, drift));
    if (md_less(start, zero) && md_less(drift, zero)) start = md_min(zero, md_sub(start, drift));
    row->u_warm_start = md_unit_of(start, 0);
}

/* Sets lambda and warm_start of all active rows from the block; the warm start is u_warm_start if
   `saved`, the impulse itself otherwise. A row at its bound gets exactly the bound. */
MD_OWN_FRAME void md_recover_impulses(mdyn_sim *sim, md_scale e, int saved)
{
    int k;
    for (k = md_equality_count(sim); k < md_active_count(sim); k++) {
        md_row *row = md_active_row(sim, k);
        row->lambda = row->warm_start = MD_K(0);
        if (!row->in_inequality) continue;

        if (md_has_leader(sim, row)) md_store_bound(sim, row, e);
        if (md_stores_warm_start(sim))
            row->warm_start = md_add(row->lambda_given, md_mul(row->scale,
                md_of_unit(saved ? row->u_warm_start : row->u_lambda, e)));
        row->lambda = !md_unit_less(row->u_lambda, row->u_lambda_max) ? row->lambda_max
            : !md_unit_less(row->u_lambda_min, row->u_lambda) ? row->lambda_min
            : md_add(row->lambda_given, md_mul(row->scale, md_of_unit(row->u_lambda, e)));
    }
    if (MIMICDYN_EXACT && MD_HAS(EXACT)) md_recover_equality_impulses(sim, e);
}

/* ---- inequality rows by the chosen method ---- */

#if MIMICDYN_MAX_DANTZIG > 0

/* Solves the inequality rows by Dantzig or PGS; `since` as in md_iterate_pgs. A problem that
   Dantzig does not solve counts as unsolved. If it has no solution, Dantzig's impulses are kept;
   otherwise PGS solves it, starting at 0. */
MD_STATIC void md_solve_inequalities(mdyn_sim *sim, md_scale e, int32_t since)
{
    if (MD_SETTING_IS(sim, method, MDYN_DANTZIG)) {
        md_unit motion;
        int solved, has_none = 0;
        md_clear_impulses(sim);
        motion = md_units_max_abs(sim->du, sim->dofs + sim->rows);
        md_copy_units(sim->dantzig.free_du, sim->du, sim->dofs + sim->rows, 0);
        sim->misses = 0;

        solved = md_solve_dantzig(sim, e, &has_none)
            && md_verify_impulses(sim, e, motion, &has_none);
        if (solved && !has_none) return;
        if (sim->unsolved < INT16_MAX) sim->unsolved++;
        if (solved) {
            sim->has_no_solution = 1;
            return;
        }
        /* not by subtraction, which leaves the rounding of impulses that may be huge */
        md_clear_impulses(sim);
        md_copy_units(sim->du, sim->dantzig.free_du, sim->dofs + sim->rows, 0);
    }
    sim->misses = md_find_misses(sim, e, md_iterate_pgs(sim, e, since));
}

#else

MD_INLINE void md_solve_inequalities(mdyn_sim *sim, md_scale e, int32_t since)
{
    sim->misses = md_find_misses(sim, e, md_iterate_pgs(sim, e, since));
}

#endif

/* The first stage of MDYN_TWO_STAGE: solves without friction, then fixes mu times the resulting
   normal impulses as the friction bounds of the second. Nothing to do under the other laws. */
MD_STATIC void md_solve_frictionless(mdyn_sim *sim, md_scale e)
{
    int k;
    if (!md_has_body_rows(sim) || sim->solver.friction_law != MDYN_TWO_STAGE) return;
    MD_BODY_ROWS(sim)->friction_stage = 1;
    md_solve_inequalities(sim, e, sim->iterations);
    sim->step_misses |= sim->misses;

    /* stage 0 takes the bounds from the normal impulses at hand */
    MD_BODY_ROWS(sim)->friction_stage = 0;
    for (k = md_equality_count(sim); k < md_active_count(sim); k++) {
        md_row *row = md_active_row(sim, k);
        if (!row->in_inequality || !md_is_body_row(row) || !md_has_leader(sim, row)) continue;
        md_follow_leader(sim, row, e);
        md_store_bound(sim, row, e);
    }
    MD_BODY_ROWS(sim)->friction_stage = 2;
}

/* ---- the active set ---- */

/* Whether an inactive row has to be activated: the motion sim->dv takes C out of [lower, upper], or
   C is outside already. For a range of velocities: C' is outside. The caller has filled sim->terms
   and sim->value for a coupling; for a limit this function sets sim->value. */
MD_OWN_FRAME int md_row_is_violated(mdyn_sim *sim, const md_row *row)
{
    mdyn_wide lower, upper;
    md_num change;
    md_terms *t = &sim->terms;
    int k;

    /* C' = J (v + dv) */
    if (MD_ROW_IS(row, LIMIT)) {
        const md_joint_values *b = md_values_of_dof(sim, row->index);
        const int c = md_coordinate_of_dof(sim, row->index);
        lower = b->lower;
        upper = b->upper;
        md_sum_set_real(&sim->value.sum, sim->q[c], sim->q_tail[c]);
        sim->value.displacement = md_has_displacement(sim)
            ? sim->displacement[row->index] : MD_K(0);
        change = md_add(md_of_real(sim->v[row->index]), sim->dv[row->index]);
    } else {
        const mdyn_coupling *c = md_coupling_at(sim, row->index);
        lower = c->lower;
        upper = c->upper;
        change = md_row_velocity(sim, row, t);
        for (k = 0; k < t->count; k++)
            change = md_add(change, md_mul(t->factor[k], sim->dv[t->dof[k]]));
        if (md_is_of_velocity(c)) {
            change = md_sub(change, md_of_wide(c->target_velocity));
            return (md_has_lower(lower) && md_less(change, md_of_wide(lower)))
                || (md_has_upper(upper) && md_less(md_of_wide(upper), change));
        }
    }

    /* C + h C' beyond the bound that C moves towards, or C beyond the other one */
    change = md_mul(sim->h, change);
    if (md_less(change, MD_K(0))) {
        if (md_less(md_add(md_value_minus(sim, lower), change), MD_K(0)) && md_has_lower(lower))
            return 1;
        return md_less(MD_K(0), md_value_minus(sim, upper)) && md_has_upper(upper);
    }
    if (md_less(MD_K(0), md_add(md_value_minus(sim, upper), change)) && md_has_upper(upper))
        return 1;
    return md_less(md_value_minus(sim, lower), MD_K(0)) && md_has_lower(lower);
}

/* The first inactive row from k on that the motion sim->dv violates; sim->rows: none. */
MD_OWN_FRAME int md_next_violated(mdyn_sim *sim, int k)
{
    for (; k < sim->rows; k++) {
        const md_row *row = md_row_at(sim, k);
        if (!row->inactive) continue;
        if (MD_ROW_IS(row, COUPLING)) {
            md_find_row_terms(sim, row, &sim->terms);
            md_evaluate_row(sim, row);
        }
        if (md_row_is_violated(sim, row)) return k;
    }
    return k;
}

/* Warm-starts row k, which has become active, in the block of exponent e. */
MD_OWN_FRAME void md_start_activated(mdyn_sim *sim, int k, md_scale e, enum md_bias_mode bias)
{
    md_row *row = md_row_at(sim, k);
    sim->overflow |= md_overflow_of(md_unit_of(md_row_magnitude(sim, k, bias), e));
    md_start_row(sim, row, e, bias, md_uses_warm_start(sim) ? row->warm_start : MD_K(0));
}

/* Activates the inactive rows that the motion sim->dv violates: sets them up and warm-starts them
   in the block of exponent e. Returns how many they are. */
MD_INLINE int md_activate_violated(mdyn_sim *sim, md_scale e, enum md_bias_mode bias)
{
    int k, activated = 0;
    for (k = md_next_violated(sim, 0); k < sim->rows; k = md_next_violated(sim, k + 1)) {
        md_activate_row(sim, k, 0);
        md_set_up_row(sim, k, MD_MODE_STEP, 0);
        if (!md_row_at(sim, k)->in_inequality) continue;
        md_start_activated(sim, k, e, bias);
        activated++;
    }
    return activated;
}

/* Iterates to convergence, up to 2000 times: rows of the modes other than MD_MODE_STEP, in builds
   without exact equality rows. */
MD_INLINE void md_iterate_until_converged(mdyn_sim *sim, md_scale e)
{
    do {
        sim->unconverged = 0;
        (void)md_iterate_pgs(sim, e, sim->iterations);
    } while (sim->unconverged && sim->iterations < 2000);
}

/* Solves the inequality rows, activates those that the motion violates, and repeats this until none
   is violated; gives sim->dv. All repetitions together may take another solver.iterations. */
MD_STATIC void md_solve_active_set(mdyn_sim *sim, enum md_mode mode, md_scale e,
                                   enum md_bias_mode bias)
{
    int32_t since = sim->iterations;
    int activated = 1, repeated = 0;
    while (activated > 0) {
        if (mode == MD_MODE_STEP && MD_HAS(BOUNDED)) md_solve_inequalities(sim, e, since);
        else if (!MIMICDYN_EXACT) md_iterate_until_converged(sim, e);
        md_unwhiten(sim, e);
        activated = MIMICDYN_EXACT && mode == MD_MODE_STEP && (MD_HAS(LIMIT) || MD_HAS(RANGE))
            && sim->may_activate ? md_activate_violated(sim, e, bias) : 0;
        if (!repeated) since = sim->iterations;
        repeated = 1;
    }
}

/* ---- biased and unbiased solves ---- */

/* Sets warm-start impulses below the rounding error of the biased impulse to 0: rows that oppose
   each other would otherwise accumulate them. */
MD_OWN_FRAME void md_clear_tiny_warm_starts(mdyn_sim *sim)
{
    int k;
    for (k = md_equality_count(sim); k < md_active_count(sim); k++) {
        md_row *row = md_active_row(sim, k);
        md_unit rounding = md_unit_mul(MD_U(8 * MD_EPSILON), md_unit_abs(row->u_lambda));
        if (!md_unit_less(md_unit_abs(row->u_warm_start), rounding)) continue;
        row->u_warm_start = MD_U(0);
        row->warm_start = MD_K(0);
    }
}

/* After an unbiased solve: adds the position bias to all targets. Equality rows are solved again;
   inequality rows keep their impulses, from which the iteration goes on. */
MD_OWN_FRAME void md_restore_bias(mdyn_sim *sim, md_scale e)
{
    int k;
    md_solve_equalities(sim, e, MD_BIAS_ALL);
    for (k = md_equality_count(sim); k < md_active_count(sim); k++)
        if (md_active_row(sim, k)->in_inequality)
            md_target_inequality(sim, md_active_row(sim, k), e, MD_BIAS_ALL);
}

/* Gives the inequality rows the impulses row->warm_start if `warm`, else 0. If the warm start as a
   whole is worse than none, judged by the iteration's objective (md_warm_start_cost), all impulses
   become 0. */
MD_OWN_FRAME void md_start_rows(mdyn_sim *sim, md_scale e, enum md_bias_mode bias, int warm)
{
    md_num cost = MD_K(0);
    int k;
    for (k = md_equality_count(sim); k < md_active_count(sim); k++) {
        md_row *row = md_active_row(sim, k);
        if (!row->in_inequality) continue;
        cost = md_add(cost, md_start_row(sim, row, e, bias, warm ? row->warm_start : MD_K(0)));
    }

    for (k = md_equality_count(sim); MIMICDYN_WARM && md_less(MD_K(0), cost)
         && k < md_active_count(sim); k++) {
        md_row *row = md_active_row(sim, k);
        row->u_warm_start = MD_U(0);
        if (row->in_inequality) md_set_impulse(sim, row, MD_U(0));
    }
}

/* Starts a solve on the free motion sim->du: satisfies the equality rows, and gives the inequality
   rows their impulses. */
MD_OWN_FRAME void md_start_solve(mdyn_sim *sim, md_scale e, enum md_bias_mode bias, int warm)
{
    md_apply_Qt(sim);
    md_solve_equalities(sim, e, bias);
    sim->free_motion = md_units_max_abs(sim->du, sim->dofs);
    md_start_rows(sim, e, bias, warm);
}

/* Sets the private coordinates of the compliant equality rows in sim->du, which follow those of
   the DoFs, to 0: the free motion has no part in them. */
MD_INLINE void md_clear_private_coordinates(mdyn_sim *sim)
{
    int k;
    for (k = sim->dofs; k < sim->dofs + sim->rows; k++) sim->du[k] = MD_U(0);
}

/* sim->du := the free motion sim->free_du, in a block larger by `coarsening`. */
MD_OWN_FRAME void md_restore_free_motion(mdyn_sim *sim, md_scale coarsening)
{
    md_copy_units(sim->du, sim->free_du, sim->dofs, coarsening);
    md_clear_private_coordinates(sim);
}

/* sim->displacement, to the middle of the next substep; `time` is the time between. */
MD_OWN_FRAME void md_add_displacement(mdyn_sim *sim, md_num time)
{
    const int started = md_has_displacement(sim);
    int k;
    for (k = 0; k < sim->dofs; k++) {
        md_num u = md_mul(time, md_add(md_of_real(sim->v[k]), sim->dv[k]));
        if (sim->has_error_displacement) u = md_add(u, sim->error_displacement[k]);
        sim->displacement[k] = started ? md_add(sim->displacement[k], u) : u;
    }
    sim->has_displacement = 1;
    sim->has_error_displacement = 0;
}

/* The scale of a block for a biased solve: the velocities that correct position errors may be far
   larger than those that stay in v. */
MD_OWN_FRAME md_scale md_biased_scale(const mdyn_sim *sim, md_scale e)
{
    int k;
    for (k = 0; k < md_active_count(sim); k++)
        e = md_scale_to_hold(e, md_row_magnitude(sim, sim->active[k], MD_BIAS_ALL), 0);
    return e;
}

/* Whether a solve of all rows has to correct position errors: if an inequality row has one, and
   always in substeps. For those of equality rows alone see md_correct_equalities. */
MD_INLINE int md_solves_twice(const mdyn_sim *sim)
{
    const int all = md_substeps(sim) > 1 || !md_uses_midpoint(sim);
    return md_position_error(sim) >= (all ? MD_ERROR_OF_EQUALITY : MD_ERROR_OF_INEQUALITY);
}

/* After an unbiased solve: saves its impulses as row->warm_start, from which the biased solve and
   the relaxation both start. Returns the exponent of a block for the biased solve, whose velocities
   may be far larger. */
MD_OWN_FRAME md_scale md_save_unbiased_impulses(mdyn_sim *sim, md_scale e)
{
    md_scale biased = e;
    int k;
    for (k = md_equality_count(sim); k < md_active_count(sim); k++) {
        md_row *row = md_active_row(sim, k);
        if (row->in_inequality)
            row->warm_start = md_mul(row->scale, md_of_unit(row->u_warm_start, e));
    }
    for (k = 0; k < md_active_count(sim); k++)
        biased = md_scale_to_hold(biased, md_row_magnitude(sim, sim->active[k], MD_BIAS_ALL), 0);
    return biased;
}

/* Solves twice on the free motion sim->free_du: first with all position biases, for q alone, then
   without them, for v. sim->error_displacement is h times the difference. */
MD_STATIC void md_solve_relaxed(mdyn_sim *sim, md_scale e)
{
    const md_overflow before = sim->overflow;
    const int32_t iterations = sim->iterations;
    md_scale coarse = md_biased_scale(sim, e);
    int k, tries = 0;

    /* the motion with all position biases, in exponents that grow until it fits */
    do {
        md_overflow_reset(&sim->overflow, before);
        sim->iterations = iterations;
        md_restore_free_motion(sim, (md_scale)(coarse - e));
        md_start_solve(sim, coarse, MD_BIAS_ALL, md_uses_warm_start(sim));
        md_solve_active_set(sim, MD_MODE_STEP, coarse, MD_BIAS_ALL);
        coarse = (md_scale)(coarse + MD_HEADROOM);
    } while (md_has_overflowed(sim->overflow) && !md_has_overflowed(before)
             && ++tries < MD_MAX_RETRIES);
    sim->step_misses |= sim->misses;
    for (k = 0; k < sim->dofs; k++) sim->error_displacement[k] = md_mul(sim->h, sim->dv[k]);

    /* the motion without them: v and the impulses */
    md_restore_free_motion(sim, 0);
    md_start_solve(sim, e, MD_BIAS_COMPLIANT, md_uses_warm_start(sim));
    md_solve_active_set(sim, MD_MODE_STEP, e, MD_BIAS_COMPLIANT);
    for (k = 0; k < sim->dofs; k++)
        sim->error_displacement[k] = md_sub(sim->error_displacement[k], md_mul(sim->h, sim->dv[k]));
    sim->has_error_displacement = 1;
}

/* Corrects the position errors of the equality rows apart from v: sim->error_displacement is h
   times the smallest change of v, in the mass metric, that gives these rows their bias. */
MD_OWN_FRAME void md_correct_equalities(mdyn_sim *sim)
{
    md_scale e = MD_MIN_SCALE;
    int k, tries = 0;
    md_copy_scalars(sim->error_displacement, sim->dv, sim->dofs);

    /* an exponent that holds the biases and their first terms */
    for (k = 0; k < md_equality_count(sim); k++) {
        const md_row *row = md_active_row(sim, k);
        md_num bias;
        if (md_row_is_soft(row)) continue;
        bias = md_mul(row->scale, row->position_bias);
        e = md_scale_to_hold(md_scale_to_hold(e, bias, 0), md_mul(bias, row->inverse_rest), 0);
    }

    /* x = biases alone, through the equality rows, to velocities in dv */
    do {
        md_overflow_reset(&sim->overflow, 0);
        for (k = 0; k < sim->dofs + sim->rows; k++) sim->du[k] = MD_U(0);
        for (k = 0; k < md_equality_count(sim); k++) {
            md_row *row = md_active_row(sim, k);
            row->u_lo = MD_U(0);
            if (!md_row_is_soft(row))
                row->u_lo = md_unit_of(md_mul(row->scale, row->position_bias), e);
        }
        md_substitute_equalities(sim, e);
        md_unwhiten(sim, e);
        e = (md_scale)(e + MD_HEADROOM);
    } while (md_has_overflowed(sim->overflow) && ++tries < MD_MAX_RETRIES);

    /* impulses and dv of the solve again. Least-squares steps have overwritten the impulses of the
       equality rows, of which the warm starts are copies. */
    for (k = 0; k < md_equality_count(sim); k++)
        md_active_row(sim, k)->lambda = md_active_row(sim, k)->warm_start;
    for (k = 0; k < sim->dofs; k++) {
        md_num dv = sim->error_displacement[k];
        sim->error_displacement[k] = md_mul(sim->h, sim->dv[k]);
        sim->dv[k] = dv;
    }
    sim->has_error_displacement = 1;
}

/* One pass: solves the active rows on the free motion sim->du of exponent e, with the position bias
   as described at the top of this room. Gives sim->dv, the impulses, and sim->error_displacement if
   position errors are corrected apart from v. */
MD_OWN_FRAME void md_solve_pass(mdyn_sim *sim, enum md_mode mode, md_scale e)
{
    const int relax = mode == MD_MODE_STEP && md_uses_relaxation(sim);
    const int separate = mode == MD_MODE_STEP && !relax && md_uses_warm_start(sim)
        && sim->was_unconverged;
    const enum md_bias_mode first = separate ? MD_BIAS_NONE
        : relax && md_position_error(sim) ? MD_BIAS_COMPLIANT : MD_BIAS_ALL;
    int32_t before = sim->iterations;
    int k, saved, drifts;

    /* equality rows, then the active inequality rows */
    if (relax) md_copy_units(sim->free_du, sim->du, sim->dofs, 0);
    md_start_solve(sim, e, first, md_uses_warm_start(sim));
    if (mode == MD_MODE_STEP) md_solve_frictionless(sim, e);
    if (!relax || !md_solves_twice(sim)) md_solve_active_set(sim, mode, e, first);
    if (relax && md_solves_twice(sim)) {
        before = sim->iterations;
        md_solve_relaxed(sim, e);
    }

    /* the warm start of the next step: impulses without the part that corrects positions */
    drifts = !relax && sim->unconverged && md_position_error(sim);
    saved = separate || (md_uses_warm_start(sim) && (md_has_target_velocity(sim) || drifts));
    k = separate || !drifts ? md_equality_count(sim) : md_active_count(sim);
    for (; saved && k < md_active_count(sim); k++)
        md_save_warm_start(sim, md_active_row(sim, k), sim->iterations - before);

    /* the same rows with their position biases */
    if (separate && md_position_error(sim)) {
        md_restore_bias(sim, e);
        md_solve_active_set(sim, MD_MODE_STEP, e, MD_BIAS_ALL);
        md_clear_tiny_warm_starts(sim);
    }
    md_recover_impulses(sim, e, saved);
    sim->step_misses |= sim->misses;
}

/* ---- substeps ---- */

/* The exponent of the block sim->du for a solve: at least that of the free motion, and what the
   estimates of all rows need. With relaxation, the displacement by which a substep corrects
   positions loads the springs of compliant rows in the next substep, at most by the bias of all
   rows; the exponent is at most four repetitions of the solve below that. */
MD_OWN_FRAME md_scale md_block_scale(const mdyn_sim *sim, enum md_mode mode, md_scale free_scale)
{
    const enum md_bias_mode bias = mode == MD_MODE_STEP ? md_final_bias_mode(sim) : MD_BIAS_ALL;
    md_scale e = free_scale, all = free_scale;
    int k;
    for (k = 0; k < md_active_count(sim); k++)
        e = md_scale_to_hold(e, md_row_magnitude(sim, sim->active[k], bias), 0);
    if (bias == MD_BIAS_ALL || md_substeps(sim) <= 1) return e;
    for (k = 0; k < md_active_count(sim); k++)
        all = md_scale_to_hold(all, md_row_magnitude(sim, sim->active[k], MD_BIAS_ALL), 0);
    return e < all - 4 * MD_HEADROOM ? (md_scale)(all - 4 * MD_HEADROOM) : e;
}

/* The free motion of the next substep: du := Q du + h L^-T y_force. Returns its exponent, which
   grows if a row that was not needed before demands far more than the earlier substeps. */
MD_OWN_FRAME md_scale md_begin_substep(mdyn_sim *sim, md_scale e, int room)
{
    const md_overflow before = sim->overflow;
    const md_scale last = e;
    md_scale coarsest, need;
    int k;
    md_apply_Q(sim, sim->du);
    coarsest = md_solve_Lt(sim, sim->y_force, sim->h, sim->scratch);
    sim->overflow |= before;

    /* If the block is a little too small, the step is repeated in a coarser one, which keeps more
       digits. If it is far too small, e grows from here on: repetitions might not reach it. */
    need = md_block_scale(sim, MD_MODE_STEP, coarsest);
    if (e < need - 3 * MD_HEADROOM) e = (md_scale)(need + room);
    for (k = 0; k < md_active_count(sim) && e < need; k++)
        sim->overflow |= md_overflow_of(md_unit_of(md_row_magnitude(sim, sim->active[k],
                                                                    md_final_bias_mode(sim)), e));
    for (k = 0; k < sim->dofs; k++) {
        sim->du[k] = md_unit_add(md_unit_ldexp(sim->du[k], last - e),
                                 md_unit_ldexp(sim->scratch[k], coarsest - e));
        sim->overflow |= md_overflow_of(sim->du[k]);
    }
    for (; k < sim->dofs + sim->rows; k++) sim->du[k] = MD_U(0);
    return e;
}

/* MDYN_ROW_SATURATED if the impulse of an inequality row is at a bound, else 0. */
MD_INLINE uint8_t md_saturation(const md_row *row)
{
    return row->in_inequality && (!md_unit_less(row->u_lambda_min, row->u_lambda)
                           || !md_unit_less(row->u_lambda, row->u_lambda_max))
        ? MDYN_ROW_SATURATED : 0;
}

/* Ends a substep: adds up impulses and flags, and sets the targets of the next one from C at the
   displacement so far. With `restart` it goes back to the first substep, for a repetition in a
   coarser block: sums and displacement become 0, and the warm start is again that of the last
   step. */
MD_OWN_FRAME void md_end_substep(mdyn_sim *sim, int restart)
{
    int i;
    if (restart) {
        sim->unconverged = 0;
        sim->substep = 0;
        md_clear_displacement(sim);
    } else {
        md_add_displacement(sim, sim->h);
    }

    /* impulses and flags so far, then the targets at the new place */
    for (i = 0; i < md_active_count(sim); i++) {
        const int k = sim->active[i];
        md_row *row = md_row_at(sim, k);
        md_substep_row *substep = &sim->substep_row[MIMICDYN_SETTINGS ? k : 0];
        substep->lambda_sum = restart ? MD_K(0) : md_row_impulse(sim, k);
        if (restart) row->flags &= (uint8_t)~(MDYN_ROW_SATURATED | MDYN_ROW_CONTRADICTORY);
        else row->flags |= md_saturation(row);
        if (restart && MIMICDYN_WARM) row->warm_start = sim->row_result[k].warm_start;

        /* the targets of a single substep stay */
        if (!MIMICDYN_SETTINGS) continue;
        if (md_is_body_row(row)) {
            if (md_row_is_spring(row))
                substep->Jv = md_add(row->Jv, md_body_row_dot(sim, row, sim->dv));
            md_target_body_row(sim, row);
        } else {
            md_find_row_terms(sim, row, &sim->terms);
            if (md_row_is_spring(row))
                substep->Jv = md_add(row->Jv, md_terms_dot(&sim->terms, sim->dv));
            md_evaluate_row(sim, row);
        }
        md_set_targets(sim, row, MD_MODE_STEP);
    }
}

/* ---- the solve of a step ---- */

/* One step of iterative refinement (Wilkinson) of the equality rows, in fixed point. sim->dv is
   from a solve in a block of exponent `coarse`; what it misses of the targets is solved for in a
   block of its own, whose exponent is far smaller. Impulses stay: their errors are relative, while
   those of dv are parts of the largest du over L_kk. Overwrites sim->y_force and row->Jv. */
MD_OWN_FRAME void md_refine_equalities(mdyn_sim *sim, md_scale coarse)
{
    const enum md_bias_mode bias = md_final_bias_mode(sim);
    const md_overflow before = sim->overflow;
    md_scale e = MD_MIN_SCALE;
    md_terms *t = &sim->terms;
    md_num low, deficit;
    int k, j, shifted = 0, room = 0, tries = 0;

    /* deficit = scale (target - J v - J dv - cfm lambda); with inconsistent rows the target is
       that of their least-squares compromise */
    for (k = 0; k < md_equality_count(sim); k++)
        shifted |= md_row_is_contradictory(md_active_row(sim, k));
    for (k = 0; k < md_equality_count(sim); k++) {
        md_row *row = md_active_row(sim, k);
        if (!row->in_equality) continue;
        low = md_target_lo(row, bias);
        deficit = md_sub(low, row->Jv);
        t->count = 0;
        if (md_is_body_row(row)) deficit = md_sub(deficit, md_body_row_dot(sim, row, sim->dv));
        else md_find_row_terms(sim, row, t);
        for (j = 0; j < t->count; j++)
            deficit = md_sub(deficit, md_mul(t->factor[j], sim->dv[t->dof[j]]));
        if (md_row_is_soft(row)) deficit = md_sub(deficit, md_mul(row->cfm, row->lambda));
        deficit = md_mul(row->scale, deficit);
        if (shifted)
            deficit = md_add(deficit, md_of_unit(md_unit_sub(row->u_lo,
                md_scaled_target(row, low, coarse)), coarse));
        row->Jv = deficit;
        e = md_scale_to_hold(e, md_mul(row->Jv, row->inverse_rest), 0);
    }

    /* du of the misses, without a free motion; dv += L^-1 Q du */
    for (k = 0; k < sim->dofs + sim->rows; k++) sim->du[k] = MD_U(0);
    do {
        md_overflow_reset(&sim->overflow, before);
        for (k = 0; k < md_equality_count(sim); k++) {
            md_row *row = md_active_row(sim, k);
            if (row->in_equality) row->u_lo = md_unit_of(row->Jv, e + room);
        }
        (void)md_forward_substitute(sim);
        room += MD_HEADROOM;
    } while (md_has_overflowed(sim->overflow) && ++tries < MD_MAX_RETRIES);
    if (md_has_overflowed(sim->overflow)) return;
    e = (md_scale)(e + room - MD_HEADROOM);
    /* not memmove */
    for (k = 0; k < sim->dofs; k++) sim->y_force[k] = md_neg(sim->dv[k]);
    md_unwhiten(sim, e);
    for (k = 0; k < sim->dofs; k++) sim->dv[k] = md_sub(sim->dv[k], sim->y_force[k]);
}

#define MD_COARSE_DV 1e-5

/* The first DoF whose dv has too few digits, -1: none. du has one exponent e: one unit of it is
   2^(e - 30)/L_kk of dv_k. That is too coarse above MD_COARSE_DV, if it also exceeds 1/256 of dv_k
   and of what the DoF's own force does to it, h f_k/L_kk^2: the forces on other joints are so much
   larger. Changes below MD_COARSE_DV/1024 count as none. */
MD_OWN_FRAME int md_find_coarse_dof(const mdyn_sim *sim, md_scale e)
{
    int k;
    for (k = 0; k < sim->dofs; k++) {
        const md_num inverse = md_ldexp(sim->inverse_diagonal[k], -md_dof_scale(&sim->dof[k]));
        md_num own, digit = md_mul(md_of_unit(MD_U(MD_EPSILON), e), inverse);
        if (md_is_follower(sim, k) || md_less(digit, MD_K(MD_COARSE_DV))) continue;
        own = md_mul(md_mul(sim->h, sim->joint_force[k]), md_mul(inverse, inverse));
        own = md_max(md_abs(own), md_abs(sim->dv[k]));
        if (md_less(MD_K(MD_COARSE_DV / 1024), own) && md_less(own, md_mul(MD_K(256), digit)))
            return k;
    }
    return -1;
}

/* f += J^T s of a row on bodies */
MD_STATIC void md_add_body_row_force(const mdyn_sim *sim, const md_row *row, md_num s, md_num *to)
{
    const md_body_row *r = md_body_row_at(sim, row);
    int p, i, k;
    for (p = 0; p < r->term_count; p++) {
        const md_link *link = &sim->link[r->body[p]];
        md_force f = r->wrench[p];

        /* a joint term: along the columns of that joint alone */
        for (k = 0; k < link->dofs && r->is_joint_term[p]; k++)
            to[link->dof + k] = md_add(to[link->dof + k],
                                       md_mul(s, md_vec_get(k < 3 ? &f.ang : &f.lin, k % 3)));

        /* a wrench: along the columns of the body and of all that carry it */
        for (i = r->body[p]; i >= 0 && !r->is_joint_term[p]; i = sim->link[i].parent) {
            link = &sim->link[i];
            for (k = link->dof; k < link->dof + link->dofs; k++)
                to[k] = md_add(to[k], md_mul(s, md_dof_dot_force(&sim->dof[k], &f)));
            md_vec_add_cross(&f.ang, &MD_TREE(sim)->body_state[i].arm, &f.lin);
        }
    }
}

/* The impulses that rows give to the free motion, into sim->y_force before it is reduced. */
MD_STATIC void md_give_impulses(mdyn_sim *sim)
{
    int i;
    for (i = 0; i < md_active_count(sim); i++) {
        const md_row *row = md_active_row(sim, i);
        md_num force;
        if (md_is_zero(row->lambda_given)) continue;
        if (!(row->in_equality | row->in_inequality)) continue;

        /* J^T lambda/h, of bodies by wrenches */
        force = md_mul(row->lambda_given, sim->inverse_h);
        if (md_is_body_row(row)) {
            md_add_body_row_force(sim, row, force, sim->y_force);
            continue;
        }

        md_find_row_terms(sim, row, &sim->terms);
        md_add_terms(&sim->terms, force, sim->y_force);
    }
}

/* sim->y_force := G^T of the force of the free motion: sim->joint_force, what rows give to it, and
   with `off` over a substep what brings v of the followers to G y'. */
MD_OWN_FRAME void md_find_free_force(mdyn_sim *sim, enum md_mode mode, int off)
{
    md_copy_scalars(sim->y_force, sim->joint_force, sim->dofs);
    if (mode == MD_MODE_STEP) md_give_impulses(sim);
    if (off && sim->has_off)
        md_add_mass_product(sim, mode == MD_MODE_STEP ? sim->inverse_h : MD_K(1), sim->off,
                            sim->y_force);
    md_reduce_force(sim, sim->y_force);
}

/* sim->du := the free motion h L^-T y_force. Returns its exponent: `room` above what all rows
   need. */
MD_OWN_FRAME md_scale md_find_free_motion(mdyn_sim *sim, enum md_mode mode, int room)
{
    const md_num h = mode == MD_MODE_STEP ? sim->h : MD_K(1);
    const md_scale free_scale = md_solve_Lt(sim, sim->y_force, h, sim->du);
    const md_scale e = (md_scale)(md_block_scale(sim, mode, free_scale) + room);
    md_copy_units(sim->du, sim->du, sim->dofs, e - free_scale);
    md_clear_private_coordinates(sim);
    return e;
}

/* row->lambda of each eliminated coupling: the remainder of its follower's equation of motion,
      M dv - dt f - sum of J^T lambda = sum of c lambda_c,
   from the last follower, which no other one depends on, to the first. Overwrites sim->y_force. */
MD_OWN_FRAME void md_recover_tie_impulses(mdyn_sim *sim)
{
    md_num *miss = sim->y_force;
    int i, k;
    if (!md_tie_count(sim)) return;

    /* M dv - dt f of all DoFs, although only those of followers are read at the end: M is
       symmetric, and stored by its lower half */
    for (k = 0; k < sim->dofs; k++) miss[k] = md_neg(md_mul(sim->dt, sim->joint_force[k]));
    md_add_mass_product(sim, MD_K(1), sim->dv, miss);

    /* impulses of rows act at their own joints: the stop of a follower loads its coupling */
    for (i = 0; i < md_active_count(sim); i++) {
        const md_row *row = md_active_row(sim, i);
        const md_num lambda = md_neg(md_row_impulse(sim, sim->active[i]));
        if (md_is_zero(lambda)) continue;
        if (md_is_body_row(row)) {
            md_add_body_row_force(sim, row, lambda, miss);
            continue;
        }
        md_find_row_terms(sim, row, &sim->terms);
        md_add_terms(&sim->terms, lambda, miss);
    }

    /* no earlier coupling has this follower among its joints */
    for (i = md_tie_count(sim) - 1; i >= 0; i--) {
        const md_tie *tie = &sim->tie[i];
        const mdyn_term *term = md_coupling_at(sim, tie->coupling)->terms;
        const md_num lambda = md_mul(miss[tie->dof], tie->inverse);
        md_row_at(sim, tie->coupling)->lambda = lambda;
        if (md_coupling_is_curved(sim, tie->coupling)) {
            md_add_terms(md_find_tie_terms(sim, tie), md_neg(lambda), miss);
            continue;
        }
        for (k = sim->term_count[tie->coupling]; k > 0; term++) {
            const int dof = md_dof_of(sim, term->body);
            if (md_wide_is_zero(term->coefficient)) continue;
            k--;
            if (dof == tie->dof || !md_is_follower(sim, dof)) continue;
            miss[dof] = md_sub(miss[dof], md_mul(md_of_wide(term->coefficient), lambda));
        }
    }
}

/* Solves the constraint rows of a mode under the generalized forces sim->joint_force. Gives
   sim->dv, the changes of the joint velocities (accelerations in MD_MODE_ACCELERATION), and in
   MD_MODE_STEP the impulses of the step. On overflow the whole solve is repeated in a coarser
   block. In MD_MODE_ACCELERATION the caller has set `off` (md_find_off). Returns MDYN_OK, an error
   of planning (MDYN_ERR_CAPACITY_...), or MDYN_ERR_OVERFLOW; then
   only workspaces have changed. */
MD_STATIC int md_solve_constraints(mdyn_sim *sim, enum md_mode mode)
{
    const int substeps = mode == MD_MODE_STEP ? md_substeps(sim) : 1;
    md_scale e;
    int k, substep, room = 0, tries = 0;
    if (mode != MD_MODE_ACCELERATION) md_find_off(sim, mode);
    k = md_prepare_rows(sim, mode);
    if (k != MDYN_OK) return k;
    if (mode == MD_MODE_STEP && md_has_body_rows(sim)) md_prepare_friction(sim);

    do {
        if (mode == MD_MODE_STEP && tries > 0) md_end_substep(sim, 1);
        md_find_free_force(sim, mode, 1);
        e = md_find_free_motion(sim, mode, room);

        sim->iterations = 0;
        sim->step_misses = 0;
        if (MIMICDYN_MAX_DANTZIG > 0) sim->pivots = sim->unsolved = sim->has_no_solution = 0;
        for (substep = 1; substep < substeps; substep++) {
            md_solve_pass(sim, mode, e);
            sim->substep = (int16_t)substep;
            md_end_substep(sim, 0);
            if (substep == 1 && sim->has_off) md_find_free_force(sim, mode, 0);
            e = md_begin_substep(sim, e, room);
        }
        md_solve_pass(sim, mode, e);
        room += MD_HEADROOM;
    } while (md_has_overflowed(sim->overflow) && ++tries < MD_MAX_RETRIES);

    /* dv contains the return from `off`; later solves of this step must not add it again */
    sim->has_off = 0;
    if (md_has_overflowed(sim->overflow)) return md_blame(sim, MDYN_ERR_OVERFLOW, -1);
    if (MD_REFINES_EQUALITIES && md_equality_count(sim) > 0) md_refine_equalities(sim, e);
    if (MD_REFINES_EQUALITIES && mode == MD_MODE_STEP)
        sim->coarse_dof = (int16_t)md_find_coarse_dof(sim, e);
    if (mode != MD_MODE_STEP || !md_uses_relaxation(sim) || !md_position_error(sim)
        || md_solves_twice(sim)) return MDYN_OK;
    md_correct_equalities(sim);
    return md_has_overflowed(sim->overflow) ? md_blame(sim, MDYN_ERR_OVERFLOW, -1) : MDYN_OK;
}

/* ================================================================================ // >>step
   One time step; accelerations under the hard constraints.

   Given:   a sim that is ready, with the user's q, v, tau, targets and wrenches.
   Gives:   the state one step later, the results of all rows, sim->report.
            md_find_constrained_accelerations gives accelerations; the state stays as it is.
   Writes:  q, v, their tails, row_result, report, culprit, step_count, momentum, last_dv, released
            (couplings that break), and the workspaces of all rooms above. On an error the state
            is that before the call.
   Cost:    that of the dynamics, O(b d + n d^2), and of the solve.

   MDYN_MIDPOINT   q to the middle, q_m = q (+) dt/2 v; M, C and J there; then
                      dv = dt M^-1 (tau - damping v - C) + M^-1 J^T lambda
                      v' = v + dv,    q' = q_m (+) dt/2 v'
                   C is of the velocity of the middle, extrapolated from the changes of v in the
                   last two steps: v + 2/3 dv_1 - 1/6 dv_2 (v + dv_1/2 if there was but one). The
                   first step after a change of v, and one after an impact, do not extrapolate.
                   Where a body turns far, or with solver.corrections = 1, the step is solved once
                   more with v + dv/2 in its place.

   The weights. Let a gyroscopic mode be y' = i w y, and x = w dt. Extrapolation by
   (1/2 + b) dv_1 - b dv_2 then lets its amplitude grow by the fraction (1/4 - 3/2 b) x^4 a step.
   b = 0 are the weights of the Adams-Bashforth method of second order, b = 5/12 those of third
   order. With b = 1/6 a growth of x^6/12 remains: 1 % in 1e5 steps at x = 0.1. With the second
   solve the mode loses x^4/8 a step; it is stable up to x = 1, beyond which MDYN_WARN_LONG_STEP
   tells.

   MDYN_EXPLICIT   M, C and J at q and v, then q' = q (+) dt v'.

   Order of one step, each part only if those before it succeeded:
      1. md_open_step          inputs and state are finite and in range; contacts become rows;
                               with MDYN_MIDPOINT q moves to the middle of the step
      2. md_factor_LtL         poses, M + armature + theta dt damping, M = L^T L
      3. md_find_step_forces   tau - C - damping v, in generalized coordinates
      4. md_solve_constraints  dv and the impulses of all rows; where a body turns far parts 3 and
                               4 again, with the bias force at v + dv/2 (md_solve_corrected)
      5. md_integrate_step     range of the motion, then v and q, then the results of the rows
      6. md_close_step         a refused step puts q, v and their tails back
   Parts 2 to 4 write workspaces only. Part 5 checks the motion before it moves anything, and checks
   afterwards the coordinates that turn with a joint.

   Followers of eliminated couplings: v' = G y' and C(q') = 0 to all digits, by the coefficients of
   the couplings (md_follow). If C was not 0 before the step, the step corrects the part erp = 0.2
   of it, by the follower alone.

   M contains theta dt damping, which makes damping implicit. The displacement that corrects
   position errors apart from v (sim->error_displacement), and that of substeps, are added to q
   once, with the second half step. The roots of floating trees then get the position and velocity
   that their momenta demand (>>dynamics). A refused step restores q, v and their tails
   (md_leave_middle). */

/* C of a row on bodies at the end of a midpoint step, to second order. */
MD_STATIC md_num md_value_after_step(mdyn_sim *sim, const md_row *row, const md_body_row *r)
{
    const md_num half = md_mul(MD_K(0.5), sim->dt);
    md_num value = md_add(r->value, md_mul(half, r->velocity_after));
    if (!md_uses_midpoint(sim)) return r->value;
    if (row->kind == MDYN_ROW_CONTACT) value = md_add(value, md_mul(half, row->Jv));
    if (sim->has_displacement) value = md_add(value, md_body_row_dot(sim, row, sim->displacement));
    return md_add(value, md_mul(md_mul(MD_K(0.5), md_mul(half, half)), r->bias_acceleration));
}

/* Sets velocity_after of each row on bodies, J v' at the poses of the step, by which
   mdyn_report_row finds the power of the row, and value_after. */
MD_OWN_FRAME void md_find_body_row_velocities(mdyn_sim *sim)
{
    int j, p, k;
    md_find_body_velocities(sim);
    for (j = 0; j < sim->rows - sim->joint_row_count; j++) {
        const md_row *row = md_row_at(sim, sim->joint_row_count + j);
        md_body_row *r = &MD_BODY_ROWS(sim)->body_row[j];
        r->velocity_after = MD_K(0);
        for (p = 0; p < r->term_count; p++) {
            const md_force *f = &r->wrench[p];
            const md_motion *m = &MD_WORK(sim)->body.motion[r->body[p]];
            const md_link *link = &sim->link[r->body[p]];

            /* the wrench times the body's motion, or coefficients times its joint velocities */
            if (!r->is_joint_term[p])
                r->velocity_after = md_add(r->velocity_after, md_add(md_dot(&f->ang, &m->ang),
                                                   md_dot(&f->lin, &m->lin)));
            for (k = 0; k < link->dofs && r->is_joint_term[p]; k++)
                r->velocity_after = md_add(r->velocity_after,
                    md_mul(md_of_real(sim->v[link->dof + k]),
                           md_vec_get(k < 3 ? &f->ang : &f->lin, k % 3)));
        }
        r->value_after = md_value_after_step(sim, row, r);
    }
}

/* J v' of the last step. */
MD_INLINE md_num md_body_row_velocity(const mdyn_sim *sim, const md_row *row)
{
    return md_body_row_at(sim, row)->velocity_after;
}

/* The change of J within the second half of a midpoint step, times v'. */
MD_INLINE md_num md_body_row_turn(const mdyn_sim *sim, const md_row *row)
{
    if (!md_uses_midpoint(sim)) return MD_K(0);
    return md_mul(md_mul(MD_K(0.5), sim->dt), md_body_row_at(sim, row)->bias_acceleration);
}

/* value = C after the step */
MD_INLINE void md_set_value_after(const mdyn_sim *sim, const md_row *row, md_value *value)
{
    md_sum_set(&value->sum, md_to_wide(md_body_row_at(sim, row)->value_after));
}

/* Checks that arrays over DoF are 0 beyond the model's, and that the targets of drives are in
   range; without a drive a target may have any value. */
MD_OWN_FRAME int md_check_targets(mdyn_sim *sim)
{
    int code = md_check_beyond(sim);
    if (sim->drives && code == MDYN_OK) code = md_check_numbers(sim, sim->target, sim->dofs);
    if (sim->drives && code == MDYN_OK)
        code = md_check_numbers(sim, sim->target_velocity, sim->dofs);
    return code;
}

/* Releases coupling i: from the next step on neither its row nor that of its loss takes part. */
MD_STATIC void md_release_coupling(mdyn_sim *sim, int i)
{
    int k;
    sim->released[i] = 1;
    for (k = 0; k < sim->rows; k++)
        if (md_row_at(sim, k)->kind <= MDYN_ROW_LOSS && md_row_at(sim, k)->index == i) {
            sim->row_result[k].warm_start = MD_K(0);
            sim->row_result[k].active_side = 0;
        }
}

/* Whether a one-sided row pushes: a limit, a range, or the normal of a contact without a warm start
   from the last step. */
MD_INLINE int md_row_stops(const mdyn_sim *sim, const md_row *row)
{
    if (md_is_zero(row->lambda)) return 0;
    if (row->kind == MDYN_ROW_CONTACT)
        return row->index % 3 == 0 && md_is_zero(sim->row_result[row - sim->row].warm_start);
    return md_row_activates(sim, row);
}

/* Writes the counts of a step to sim->report, as far as its fields hold them, and clears those that
   md_report_rows adds up. */
MD_INLINE void md_report_counts(mdyn_sim *sim)
{
    sim->report.iterations = (int16_t)(sim->iterations < INT16_MAX ? sim->iterations : INT16_MAX);
    if (MIMICDYN_MAX_DANTZIG > 0) {
        sim->report.pivots = (int16_t)(sim->pivots < INT16_MAX ? sim->pivots : INT16_MAX);
        sim->report.unsolved = sim->unsolved;
    }
    sim->report.residual = sim->residual;
    sim->report.redundant = sim->report.contradictory = sim->report.broken = 0;

    /* not converged with position bias in the targets: see the next step's md_solve_pass */
    sim->was_unconverged = sim->unconverged && md_position_error(sim);
    sim->report.entries = md_iterates_equalities(sim) && sim->entries < sim->plan_entries
        ? sim->plan_entries : (int16_t)sim->entries;
}

/* The outcome of eliminated couplings: they hold, so flags and residual are 0. The impulse of
   md_recover_tie_impulses is also the warm start, for a row that may replace the elimination. */
MD_STATIC void md_report_ties(mdyn_sim *sim)
{
    int i;
    for (i = 0; i < md_tie_count(sim); i++) {
        const int coupling = sim->tie[i].coupling;
        md_row_result *o = &sim->row_result[coupling];
        o->last_step = sim->step_count;
        o->flags = 0;
        o->error = o->v_lo = o->v_hi = o->cfm_lambda = MD_K(0);

        /* on curves C' is 0 at the end of the step alone, not with J of its middle */
        if (md_coupling_is_curved(sim, coupling)) {
            md_terms t;
            md_find_step_terms(sim, md_row_at(sim, coupling), &t);
            o->v_lo = o->v_hi = md_row_velocity(sim, md_row_at(sim, coupling), &t);
        }
        o->impulse = o->warm_start = md_row_at(sim, coupling)->lambda;
    }
}

/* Writes the outcome of a step to sim->report and sim->row_result, and releases the couplings that
   broke: those with `breaks` whose impulse is at its bound, unless that bound is 0. */
MD_OWN_FRAME void md_report_rows(mdyn_sim *sim)
{
    const enum md_bias_mode bias = md_final_bias_mode(sim);
    const uint32_t step = ++sim->step_count;
    int k;
    md_report_counts(sim);

    sim->has_impact = 0;
    for (k = 0; k < md_active_count(sim); k++) {
        /* targets, error and cfm lambda are those of the last substep; the impulse is the sum */
        const md_row *row = md_active_row(sim, k);
        md_row_result *o = &sim->row_result[sim->active[k]];
        int flags = row->flags | md_saturation(row);
        MD_OPAQUE(o);
        if (row->active_side) flags |= row->active_side > 0 ? MDYN_ROW_AT_LOWER : MDYN_ROW_AT_UPPER;
        o->last_step = step;
        o->flags = (uint8_t)flags;
        o->active_side = row->active_side;
        o->error = row->error;
        o->v_lo = row->v_lo;
        o->v_hi = row->v_hi;
        /* after a relaxation: the targets of the solve that gave v; without a force: none */
        if (bias != MD_BIAS_ALL) {
            o->v_lo = md_target_lo(row, bias);
            o->v_hi = md_target_hi(row, bias);
        }
        o->cfm_lambda = md_mul(row->cfm, row->lambda);
        if (!(row->standing & (MD_STANDS_IN | MD_STANDS_REDUNDANT))) {
            o->v_lo = MD_NO_MIN;
            o->v_hi = MD_NO_MAX;
        }
        if (md_is_zero(o->impulse) && md_row_stops(sim, row)) sim->has_impact = 1;
        o->impulse = md_row_impulse(sim, sim->active[k]);
        o->warm_start = row->warm_start;

        /* redundant and contradictory rows are counted; couplings break */
        if (!flags) continue;
        sim->culprit.sticky |= o->flags;
        if (flags & MDYN_ROW_REDUNDANT) sim->report.redundant++;
        if (md_row_is_contradictory(row)) sim->report.contradictory++;
        if (MD_HAS(BREAKS) && (flags & MDYN_ROW_SATURATED) && row->kind == MDYN_ROW_COUPLING
            && !md_is_zero(o->impulse) && md_coupling_at(sim, row->index)->breaks) {
            md_release_coupling(sim, row->index);
            sim->culprit.sticky |= MDYN_ROW_RELEASED;
            sim->report.broken++;
        }
    }

    md_keep_curves_of_step(sim);
    md_report_ties(sim);

    /* rows that took no part have no impulse, and no warm start when they return */
    for (k = 0; k < sim->rows && sim->has_inactive; k++) {
        if (sim->row_result[k].last_step == step) continue;
        sim->row_result[k].impulse = sim->row_result[k].warm_start = MD_K(0);
        sim->row_result[k].active_side = 0;
    }
}

/* joint_force := tau - damping v - C, tau clamped to the actuator's effort. The bias force C
   (gravity, velocity terms, less the external wrenches) is that of RNEA at zero acceleration,
   from the wrenches of all bodies by its backward recursion. */
MD_OWN_FRAME void md_find_step_forces(mdyn_sim *sim)
{
    int k;
    for (k = 0; k < sim->dofs; k++) {
        const md_joint_values *b = md_values_of_dof(sim, k);
        md_num f = md_commanded_force(sim, b, k);
        if (!md_wide_is_zero(b->damping))
            f = md_sub(f, md_mul(md_of_wide(b->damping), md_of_real(sim->v[k])));
        sim->joint_force[k] = f;
    }
    md_bias_wrenches(sim);
    md_rnea_backward(sim, sim->joint_force);
}

/* The root of the tree that body i belongs to. */
MD_INLINE int md_root_of(const mdyn_sim *sim, int i)
{
    while (sim->link[i].parent >= 0) i = sim->link[i].parent;
    return i;
}

/* A wrench at the origin of a body, times s, into that of its root: sim->shared.body.wrench. */
MD_STATIC void md_add_root_impulse(mdyn_sim *sim, int i, const md_force *wrench, md_num s)
{
    md_force f;
    md_vec_scale(&f.ang, s, &wrench->ang);
    md_vec_scale(&f.lin, s, &wrench->lin);
    for (; sim->link[i].parent >= 0; i = sim->link[i].parent)
        md_vec_add_cross(&f.ang, &MD_TREE(sim)->body_state[i].arm, &f.lin);
    md_vec_add(&MD_WORK(sim)->body.wrench[i].ang, &MD_WORK(sim)->body.wrench[i].ang, &f.ang);
    md_vec_add(&MD_WORK(sim)->body.wrench[i].lin, &MD_WORK(sim)->body.wrench[i].lin, &f.lin);
}

/* An impulse on DoF k, if it is that of a floating root. */
MD_STATIC void md_add_dof_impulse(mdyn_sim *sim, int k, md_num impulse)
{
    const int i = md_body_of(sim, k);
    md_force *f = &MD_WORK(sim)->body.wrench[i];
    if (!md_is_floating_root(sim, i) || md_is_zero(impulse)) return;
    md_vec_add_scaled(k < md_dof_of(sim, i) + 3 ? &f->ang : &f->lin, impulse,
                      &MD_COLUMN(&sim->dof[k])->axis);
}

/* The wrenches of a row on bodies, times its impulse, on the trees of floating roots. */
MD_STATIC void md_add_body_row_impulse(mdyn_sim *sim, const md_row *row, md_num lambda)
{
    const md_body_row *r = md_body_row_at(sim, row);
    int p, k;
    if (row->kind == MDYN_ROW_CLOSURE && r->term_count == 2
        && md_root_of(sim, r->body[0]) == md_root_of(sim, r->body[1])) return;
    for (p = 0; p < r->term_count; p++) {
        const md_link *link = &sim->link[r->body[p]];
        if (!r->is_joint_term[p]) md_add_root_impulse(sim, r->body[p], &r->wrench[p], lambda);
        for (k = 0; k < link->dofs && r->is_joint_term[p]; k++)
            md_add_dof_impulse(sim, link->dof + k,
                md_mul(lambda, md_vec_get(k < 3 ? &r->wrench[p].ang : &r->wrench[p].lin, k % 3)));
    }
}

/* A body that turns by more than this in a step [rad] causes a second solve. A slider on a body
   that turns by x has a Coriolis mode of 2 x, whose amplitude then grows by 3e-4 a step at most. */
#define MD_FAR_TURN 0.2

/* Poses at q, with the velocity of the middle of the step as extrapolated. */
MD_STATIC void md_extrapolate_bias(mdyn_sim *sim)
{
    int k;
    if (md_leaves_out_bodies(sim)) return;
    for (k = 0; k < sim->dofs; k++)
        MD_TREE(sim)->bias_velocity[k] = md_add(md_of_real(sim->v[k]), MD_TREE(sim)->middle_dv[k]);
    md_update_poses(sim);
}

/* sim->last_dv := dv; sim->middle_dv := 2/3 dv - 1/6 last_dv from the changes of v in this step and
   the last, as far as they are known. The jump of an impact is not extrapolated. */
MD_OWN_FRAME void md_save_last_dv(mdyn_sim *sim)
{
    md_tree *tree = MD_TREE(sim);
    int k;
    if (!MIMICDYN_TREE) return;
    tree->state_is_of_step = 1;

    /* no bias force to extrapolate, or no middle; mdyn_joint_wrench reads dv all the same */
    if (!md_uses_midpoint(sim) || md_leaves_out_bodies(sim)) {
        md_copy_scalars(tree->last_dv, sim->dv, sim->dofs);
        return;
    }
    for (k = 0; k < sim->dofs; k++) {
        const md_num dv = sim->dv[k], last = tree->last_dv[k];
        tree->middle_dv[k] = sim->has_impact ? MD_K(0) : !tree->has_last_dv ? md_mul(MD_K(0.5), dv)
            : md_sub(md_mul(MD_RATIO(2, 3), dv), md_mul(MD_RATIO(1, 6), last));
        tree->last_dv[k] = dv;
    }
    tree->has_last_dv = !sim->has_impact;
}

/* ---- the second solve of a step: the bias force at v + dv/2 ---- */

/* The first body that turns by more than MD_FAR_TURN in this step; -1: none. A joint that is alone
   in its tree does not count: its bias force has no velocity terms, or the drift contains them. */
MD_STATIC int md_find_fast_body(const mdyn_sim *sim)
{
    const md_num most = md_mul(MD_K(MD_FAR_TURN), sim->inverse_dt), most2 = md_mul(most, most);
    int i;
    if (md_leaves_out_bodies(sim)) return -1;
    for (i = 0; i < sim->bodies; i++) {
        const md_vec *omega = &MD_TREE(sim)->body_state[i].omega;
        if (md_is_welded(&sim->link[i]) || MD_BODY(&sim->link[i])->is_alone) continue;
        if (md_less(most2, md_dot(omega, omega))) return i;
    }
    return -1;
}

/* The squares of two velocities, each weighted by the DoFs' own inertia L_kk^2: *lag2 of the
   difference between v + dv/2 and the velocity of the bias force, *speed2 of the latter. */
MD_OWN_FRAME void md_find_bias_lag(const mdyn_sim *sim, md_num *lag2, md_num *speed2)
{
    int k;
    *lag2 = *speed2 = MD_K(0);
    for (k = 0; k < sim->dofs; k++) {
        md_num L, lag;
        if (md_is_follower(sim, k)) continue;
        L = md_ldexp(md_div(MD_K(1), sim->inverse_diagonal[k]), md_dof_scale(&sim->dof[k]));
        lag = md_add(md_of_real(sim->v[k]), md_mul(MD_K(0.5), sim->dv[k]));
        lag = md_mul(L, md_sub(lag, MD_TREE(sim)->bias_velocity[k]));
        *lag2 = md_add(*lag2, md_mul(lag, lag));
        lag = md_mul(L, MD_TREE(sim)->bias_velocity[k]);
        *speed2 = md_add(*speed2, md_mul(lag, lag));
    }
}

/* Solves the step once more with the bias force, and J' v of the closures, at v + dv/2. The lag is
   the distance of that velocity from the one at the end of a solve (md_find_bias_lag). *lags: it
   was not halved, and still exceeds 1 % of the velocity. */
MD_OWN_FRAME int md_solve_corrected(mdyn_sim *sim, int *lags)
{
    md_num before, after, speed;
    int i, j = 0, k, code;
    if (md_leaves_out_bodies(sim)) return MDYN_OK;
    md_find_bias_lag(sim, &before, &speed);

    /* bias force, and J' v of the closures, at v + dv/2 */
    for (k = 0; k < sim->dofs; k++)
        MD_TREE(sim)->bias_velocity[k] = md_add(md_of_real(sim->v[k]),
                                                md_mul(MD_K(0.5), sim->dv[k]));
    md_update_poses(sim);
    for (i = 0; MD_HAS_CLOSURES && i < MD_BODY_ROWS(sim)->closures; i++) {
        code = md_recheck_closure(sim, i, j);
        if (code != MDYN_OK) return code;
        j = md_update_closure(sim, i, j);
    }
    md_find_step_forces(sim);
    code = md_solve_constraints(sim, MD_MODE_STEP);
    if (code != MDYN_OK) return code;

    md_find_bias_lag(sim, &after, &speed);
    *lags = md_less(md_mul(MD_K(0.25), before), after)
        && md_less(md_mul(MD_K(1e-4), speed), after);
    return MDYN_OK;
}

/* sim->displacement := the motion of q beside the drift with v': that of substeps, and that which
   corrects errors. */
MD_OWN_FRAME void md_finish_displacement(mdyn_sim *sim)
{
    md_num part = md_uses_midpoint(sim) ? MD_K(0.5) : MD_K(1);
    if (MD_MOVES_APART && (sim->has_displacement || sim->has_error_displacement))
        md_add_displacement(sim, md_mul(part, md_sub(sim->h, sim->dt)));
}

/* Adds the impulses of rows to the momenta of floating trees. A loop within one tree does not
   change the momentum of the tree. */
MD_OWN_FRAME void md_add_row_impulses(mdyn_sim *sim)
{
    int j, k;
    for (j = 0; j < md_active_count(sim); j++) {
        const md_row *row = md_active_row(sim, j);
        const md_num lambda = md_row_impulse(sim, sim->active[j]);
        if (md_is_zero(lambda)) continue;
        if (md_is_body_row(row)) {
            md_add_body_row_impulse(sim, row, lambda);
            continue;
        }

        md_find_row_terms(sim, row, &sim->terms);
        for (k = 0; k < sim->terms.count; k++)
            md_add_dof_impulse(sim, sim->terms.dof[k], md_mul(lambda, sim->terms.factor[k]));
    }
}

/* sim->momentum of the floating trees after this step, by all forces but the internal ones, in the
   poses of its middle. Called before v and q move. */
MD_OWN_FRAME void md_advance_momenta(mdyn_sim *sim)
{
    const mdyn_wide3 *g = &sim->gravity;
    int i, k, c;
    md_clear_wrenches(sim);

    /* dt times the external wrenches */
    for (i = 0; i < sim->bodies && sim->has_wrench; i++) {
        md_force f;
        if (md_wrench_is_zero(&MD_WRENCHES(sim)[i])) continue;
        md_vec_of_real(&f.ang, &MD_WRENCHES(sim)[i].moment);
        md_vec_of_real(&f.lin, &MD_WRENCHES(sim)[i].force);
        md_add_root_impulse(sim, i, &f, sim->dt);
    }

    /* dt times the forces of actuators and dampers at the root itself */
    for (k = 0; k < sim->dofs; k++) {
        const md_joint_values *b = md_values_of_dof(sim, k);
        md_num f, dv = md_mul(sim->damping_theta[k], sim->dv[k]);
        if (!md_is_floating_root(sim, md_body_of(sim, k))) continue;
        f = md_sub(md_commanded_force(sim, b, k),
                   md_mul(md_of_wide(b->damping), md_add(md_of_real(sim->v[k]), dv)));
        md_add_dof_impulse(sim, k, md_mul(sim->dt, f));
    }

    /* impulses of rows, then gravity, about the mass center */
    md_add_row_impulses(sim);
    md_composite_inertias(sim);
    for (i = 0; i < sim->bodies; i++) {
        md_momentum *p;
        md_vec com;
        if (!md_is_floating_root(sim, i)) continue;
        p = md_momentum_of(sim, i);
        md_tree_com(sim, i, &com);
        md_force_to_point(&MD_WORK(sim)->body.wrench[i], &com);
        for (c = 0; c < 3; c++) {
            md_num pull = md_mul(md_mul(sim->dt, MD_TREE(sim)->subtree[i].composite.mass),
                                 md_of_wide((&g->x)[c]));
            pull = md_add(pull, md_vec_get(&MD_WORK(sim)->body.wrench[i].lin, c));

            /* path dt (p + dp/2)/m, then p += dp, L += dL */
            p->travel[c] = md_mul(sim->dt, md_div(md_add(p->lin[c], md_mul(MD_K(0.5), pull)),
                                                  MD_TREE(sim)->subtree[i].composite.mass));
            p->ang[c] = md_add(p->ang[c], md_vec_get(&MD_WORK(sim)->body.wrench[i].ang, c));
            p->lin[c] = md_add(p->lin[c], pull);
        }
    }
}

/* Whether there are floating trees. */
MD_INLINE int md_has_floating_trees(const mdyn_sim *sim)
{
    int i;
    for (i = 0; MD_FLOATING_TREES && md_has_quaternions(sim) && i < sim->bodies; i++)
        if (md_is_floating_root(sim, i)) return md_uses_midpoint(sim);
    return 0;
}

/* At the start of a step: finds the momenta of the floating trees, unless the last step has. */
MD_STATIC void md_open_momenta(mdyn_sim *sim)
{
    int i;
    if (!MD_FLOATING_TREES || MD_MOMENTA(sim)->momentum_is_known) return;
    if (!md_has_floating_trees(sim)) return;
    (void)md_refresh_kinematics(sim);
    md_find_momenta(sim);
    for (i = 0; i < sim->bodies; i++)
        if (md_is_floating_root(sim, i)) md_store_momentum(sim, i);
    MD_MOMENTA(sim)->momentum_is_known = 1;
}

/* At the end of a step, at q': the roots of the floating trees get the position and velocity that
   their momenta demand. */
MD_OWN_FRAME void md_close_momenta(mdyn_sim *sim)
{
    int i;
    /* the poses of the step are outdated */
    sim->kinematics_stale = 1;
    md_update_kinematics(sim);
    md_find_momenta(sim);
    for (i = 0; i < sim->bodies; i++) {
        if (!md_is_floating_root(sim, i)) continue;
        if (!sim->has_displacement) md_set_root_position(sim, i);
        md_set_root_velocity(sim, i);
    }
}

/* MDYN_ERR_OVERFLOW if q, or a v that was turned with its joint, has left its range. */
MD_STATIC int md_check_drift(mdyn_sim *sim)
{
    int code = md_check_numbers(sim, sim->q, sim->coordinates);
    if (code == MDYN_OK && md_has_quaternions(sim))
        code = md_check_numbers(sim, sim->v, sim->dofs);
    return code == MDYN_OK ? code : md_blame(sim, MDYN_ERR_OVERFLOW, sim->culprit.index);
}

/* MDYN_OK, or the gravest warning of a solve. */
MD_STATIC int md_warn_of_solve(mdyn_sim *sim)
{
    if (MIMICDYN_MAX_DANTZIG > 0 && sim->has_no_solution)
        return md_blame(sim, MDYN_WARN_NO_SOLUTION, -1);
    if (sim->step_misses || (MIMICDYN_MAX_DANTZIG > 0 && sim->unsolved))
        return md_blame(sim, MDYN_WARN_NOT_CONVERGED, -1);
    if (MD_REFINES_EQUALITIES && sim->coarse_dof >= 0)
        return md_blame(sim, MDYN_WARN_DIGITS, sim->coarse_dof);
    return MDYN_OK;
}

/* Moves the state by the solve's result: v by sim->dv; q by dt v', or from the middle of the step
   by dt/2 v', and by sim->displacement. MDYN_ERR_OVERFLOW before anything moves, or later if turned
   axes or the momentum of a tree lead out of range; the next step then does not extrapolate.
   Reports the rows; returns a warning if a row misses its target, pivoting left a problem
   unsolved, or a DoF has too few digits. */
MD_OWN_FRAME int md_integrate_step(mdyn_sim *sim)
{
    const int midpoint = md_uses_midpoint(sim), floating = md_has_floating_trees(sim);
    const md_num drift = midpoint ? md_mul(MD_K(0.5), sim->dt) : sim->dt;
    int k, code;

    /* the whole motion of q is checked before anything moves */
    md_finish_displacement(sim);
    for (k = 0; k < sim->dofs; k++) {
        sim->joint_force[k] = md_mul(drift, md_add(md_of_real(sim->v[k]), sim->dv[k]));
        if (MD_MOVES_APART && sim->has_displacement)
            sim->joint_force[k] = md_add(sim->joint_force[k], sim->displacement[k]);
    }
    code = md_check_motion(sim, sim->dv, sim->joint_force);
    if (code != MDYN_OK) return code;

    /* v, and what the rows and trees need of its change at these poses */
    if (MD_FLOATING_TREES && floating) md_advance_momenta(sim);
    md_accumulate_v(sim, sim->dv);
    if (md_has_body_rows(sim)) md_find_body_row_velocities(sim);

    /* q from the middle of the step, or from its start */
    md_drift_q(sim, midpoint ? sim->half_dt : sim->dt_wide);
    if (MD_MOVES_APART && sim->has_displacement) md_displace_q(sim, sim->displacement);
    if (!midpoint) md_integrate_quaternions(sim, sim->joint_force);
    else if (sim->has_displacement) md_integrate_quaternions(sim, sim->displacement);
    if (midpoint) md_drift_quaternions(sim);
    md_follow(sim);

    if (MD_FLOATING_TREES && floating) md_close_momenta(sim);

    /* A body that turns far within the step can leave the range although v + dv did not: I w keeps
       its length, w does not. The state is marked as that of the middle, so that md_close_step
       restores the start; the momenta of this step are dropped. */
    code = midpoint && md_has_quaternions(sim) ? md_check_drift(sim) : MDYN_OK;
    if (code != MDYN_OK) {
        md_drop_last_dv(sim);
        sim->kinematics_stale = MD_KINEMATICS_OF_STEP;
        return code;
    }
    md_copy(sim->q_seen, sim->q, sim->coordinates);
    md_copy(sim->v_seen, sim->v, sim->dofs);
    sim->may_be_off = 0;

    md_report_rows(sim);
    md_save_last_dv(sim);
    sim->is_continued = 1;

    return md_warn_of_solve(sim);
}

/* Moves q to the middle of the step and finds poses and bias force there: q + dt/2 v for joints of
   one coordinate, the half step of >>integrate for quaternions. q_seen and v_seen keep the start,
   and the tails of the start are saved, so that md_leave_middle restores every digit.
   MDYN_ERR_OVERFLOW if q or v leaves its range. */
MD_OWN_FRAME int md_move_to_middle(mdyn_sim *sim)
{
    int code;
    if (md_has_curved_ties(sim)) md_note_curved_ties(sim);
    md_open_momenta(sim);
    md_copy_tails(sim->q_tail_start, sim->q_tail, sim->coordinates);
    if (md_has_quaternions(sim)) md_copy_tails(sim->v_tail_start, sim->v_tail, sim->dofs);
    md_drift_q(sim, sim->half_dt);
    md_drift_quaternions(sim);
    sim->kinematics_stale = MD_KINEMATICS_OF_STEP;
    code = md_check_drift(sim);
    if (code == MDYN_OK) md_extrapolate_bias(sim);
    return code;
}

/* Restores q, v and their tails to the start of a step that was refused. Without quaternions v has
   not moved. Does nothing if the state was not moved to the middle. */
MD_STATIC void md_leave_middle(mdyn_sim *sim)
{
    if (sim->kinematics_stale != MD_KINEMATICS_OF_STEP) return;
    md_copy(sim->q, sim->q_seen, sim->coordinates);
    md_copy_tails(sim->q_tail, sim->q_tail_start, sim->coordinates);
    if (!md_has_quaternions(sim)) return;
    md_copy(sim->v, sim->v_seen, sim->dofs);
    md_copy_tails(sim->v_tail, sim->v_tail_start, sim->dofs);
}

/* Checks inputs and state, opens the contacts set for this step, and brings the poses to the place
   where M, C and J are taken: the middle of the step, or its start with MDYN_EXPLICIT. */
MD_OWN_FRAME int md_open_step(mdyn_sim *sim)
{
    int code = md_check_targets(sim);
    if (code == MDYN_OK) code = md_check_inputs(sim);
    if (code == MDYN_OK) code = md_check_state(sim);
    if (code == MDYN_OK) code = md_open_contacts(sim);
    if (code != MDYN_OK) return code;
    return md_uses_midpoint(sim) ? md_move_to_middle(sim) : md_refresh_kinematics(sim);
}

/* One step: inputs, dynamics (poses, M and its factor), forces, solve, integration. Returns the
   code of the first of these that fails, with the state unchanged, or a warning of the last. An M
   that has lost its rank also sets the sticky flag MDYN_SINGULAR. */
MD_OWN_FRAME int md_take_step(mdyn_sim *sim)
{
    int fast = -1, lags = 0, code = md_factor_LtL(sim, sim->dt);
    if (code == MDYN_ERR_SINGULAR) sim->culprit.sticky |= MDYN_SINGULAR;
    if (code != MDYN_OK) return code;
    md_find_step_forces(sim);
    if (md_uses_midpoint(sim)) fast = md_find_fast_body(sim);
    code = md_solve_constraints(sim, MD_MODE_STEP);
    if (code == MDYN_OK && (fast >= 0 || MD_SETTING_IS(sim, corrections, 1)))
        code = md_solve_corrected(sim, &lags);
    if (code == MDYN_OK) md_recover_tie_impulses(sim);
    if (code == MDYN_OK) code = md_integrate_step(sim);
    return code == MDYN_OK && lags ? md_blame(sim, MDYN_WARN_LONG_STEP, fast) : code;
}

/* The end of a step that succeeded (code >= 0), or was refused: the state after it, or before it.
   Poses of the middle belong to neither, so the next query computes them anew. */
MD_INLINE int md_close_step(mdyn_sim *sim, int code)
{
    if (code < 0) md_leave_middle(sim);
    if (code >= 0 || md_uses_midpoint(sim)) sim->kinematics_stale = 1;
    sim->has_displacement = sim->has_error_displacement = 0;
    return code;
}

/* Gives in sim->dv the accelerations M^-1 (tau - C + J^T force) at which J a = - J' v for the hard
   equality constraints; other rows, damping and the bound of an actuator's effort do not act. */
MD_STATIC int md_find_constrained_accelerations(mdyn_sim *sim)
{
    int code = md_prepare_dynamics(sim, MD_K(0));
    if (code != MDYN_OK) return code;
    /* g, unless the caller has put gs there */
    if (sim->has_off != MD_OFF_ACCELERATION) md_find_off(sim, MD_MODE_ACCELERATION);
    md_copy_in(sim->joint_force, sim->tau, sim->dofs);
    md_bias_wrenches(sim);
    md_rnea_backward(sim, sim->joint_force);
    return md_solve_constraints(sim, MD_MODE_ACCELERATION);
}

/* Rows on bodies at the present q and v, for accelerations there. */
MD_STATIC int md_update_present_rows(mdyn_sim *sim)
{
    return md_has_body_rows(sim) ? md_update_body_rows(sim, 0) : MDYN_OK;
}

/* sim->off := -gs, gs = g + 2/T dv + dq/T^2, for changes dq in `joint_force` and dv in `y_force`
   that bring followers back. */
MD_STATIC void md_find_stabilizing_off(mdyn_sim *sim, md_num T)
{
    const md_num rate = md_div(MD_K(1), T);
    int k;
    md_find_off(sim, MD_MODE_ACCELERATION);
    for (k = 0; k < sim->dofs && !sim->has_off; k++) sim->off[k] = MD_K(0);
    for (k = 0; k < sim->dofs; k++) {
        const md_num dq = md_mul(rate, sim->joint_force[k]), dv = sim->y_force[k];
        sim->off[k] = md_sub(sim->off[k], md_mul(rate, md_add(md_add(dv, dv), dq)));
    }
    sim->has_off = (uint8_t)(md_tie_count(sim) ? MD_OFF_ACCELERATION : 0);
}

/* The kinematics of the present q and v, without a check of what has changed. */
MD_STATIC void md_see_state(mdyn_sim *sim)
{
    md_copy(sim->q_seen, sim->q, sim->coordinates);
    md_copy(sim->v_seen, sim->v, sim->dofs);
    sim->kinematics_stale = 1;
}

/* The accelerations of md_find_constrained_accelerations in the state whose followers are moved
   onto their couplings; sim->dv of the followers then stabilizes the actual state, with the time T.
   q and v, their tails and the extrapolation of the next step stay as they are. */
MD_STATIC int md_find_stabilized_accelerations(mdyn_sim *sim, md_num T)
{
    struct { mdyn_real q, v; md_tail q_tail, v_tail; } start[MIMICDYN_MAX_COUPLINGS];
    const int ties = md_tie_count(sim);
    int i, code = md_check_state(sim);
    if (code != MDYN_OK) return code;
    for (i = 0; i < ties; i++) {
        const int k = sim->tie[i].dof, c = md_coordinate_of_dof(sim, k);
        start[i].q = sim->q[c];
        start[i].v = sim->v[k];
        start[i].q_tail = sim->q_tail[c];
        start[i].v_tail = sim->v_tail[k];
    }

    /* M, C and rows in the state in which the couplings hold */
    code = md_place_followers(sim, sim->joint_force, sim->y_force);
    md_see_state(sim);
    if (code == MDYN_OK) code = md_refresh_kinematics(sim);
    if (code == MDYN_OK) code = md_update_curves(sim);
    if (code == MDYN_OK) md_find_stabilizing_off(sim, T);
    if (code == MDYN_OK) code = md_update_present_rows(sim);
    if (code == MDYN_OK) code = md_find_constrained_accelerations(sim);

    /* and back */
    for (i = 0; i < ties; i++) {
        const int k = sim->tie[i].dof, c = md_coordinate_of_dof(sim, k);
        sim->q[c] = start[i].q;
        sim->v[k] = start[i].v;
        sim->q_tail[c] = start[i].q_tail;
        sim->v_tail[k] = start[i].v_tail;
    }
    md_see_state(sim);
    return code;
}

/* =============================================================================== // >>check
   The rules that a model has to meet.

   Given:   the user's mdyn_model, which may hold anything; its pointers are valid or NULL.
   Gives:   MDYN_OK, or the code of the first rule that is broken, and the index of the body,
            coupling, closure or user row that breaks it. Each rule has one code.
   Writes:  sim->culprit.
   Cost:    O(bodies + couplings terms^2 + closures + user rows).

   The order of the rules matters: numbers, counts and pointers come first, since later rules
   calculate with them and follow them. With MIMICDYN_CHECKS 0 the rules of bodies, couplings and
   solver settings are left out. Errors that need the finished sim are found by >>build.

   Order of the rules of a model (md_check_model):
      1. dt, gravity and the settings of the solver
      2. counts against the capacities, pointers that may not be NULL
      3. body by body: numbers, parent, joint, frames, mass, inertia, joint values
      4. couplings: numbers, terms, level, softness, bounds, losses (when the links stand)
      5. closures and user rows: bodies, axes and points, softness, bounds
   A number is finite and below 2^50 in magnitude, or it is MDYN_UNLIMITED or more where a bound
   may be absent. Enumerations are compared with their last value, flags with 0 and 1.

   The same rules hold for the numbers that a setter puts in the place of a table's: the call checks
   them before it changes the sim. The capacities that a model needs (mdyn_required) are counted
   here too, without a sim. */

/* Whether m = (xx, yy, zz, xy, xz, yz) is positive semi-definite: diagonal, 2x2 principal minors
   and determinant are at least -1e-5. */
MD_NOINLINE int md_is_semidefinite(const md_num *m)
{
    const md_num slack = MD_K(-1e-5);
    md_num det;
    int k;
    for (k = 0; k < 3; k++)
        if (md_less(m[k], slack)) return 0;

    /* det = xx (yy zz - yz yz) - xy (xy zz - yz xz) + xz (xy yz - yy xz) */
    if (md_less(md_det2(m[0], m[1], m[3], m[3]), slack)
        || md_less(md_det2(m[0], m[2], m[4], m[4]), slack)) return 0;
    det = md_det2(m[1], m[2], m[5], m[5]);
    if (md_less(det, slack)) return 0;
    det = md_sub(md_mul(m[0], det), md_mul(m[3], md_det2(m[3], m[2], m[5], m[4])));
    det = md_add(det, md_mul(m[4], md_det2(m[3], m[5], m[1], m[4])));
    return !md_less(det, slack);
}

/* MDYN_OK, or the code of the rule that an inertia breaks by more than rounding in the tables
   (1e-5, with the trace scaled to 1). MDYN_ERR_INERTIA: it is not positive semi-definite.
   MDYN_ERR_TRIANGLE: a principal moment exceeds the sum of the others. In other words, the second
   moments trace/2 1 - I, the integral of r r^T dm, are not positive semi-definite.

   The latter is a condition of stability. With I = diag(1, 0.001, 0.001) the coefficients of
   Euler's equation, (I_yy - I_zz) / I_xx and its permutations, exceed 1, which is impossible for a
   rigid body; the integration of a free rotation then gains energy without bound. */
MD_STATIC int md_check_inertia(const mdyn_inertia *in)
{
    const md_num half = MD_K(0.5);
    md_num m[6], size, n;
    int k;
    if (!MIMICDYN_TREE) return md_wides_are_zero(&in->xx, 6) ? MDYN_OK : MDYN_ERR_INERTIA;
    if (md_any_wide_negative(&in->xx, 3)) return MDYN_ERR_INERTIA;
    for (k = 0; k < 6; k++) m[k] = md_of_wide((&in->xx)[k]);
    size = md_add(md_add(m[0], m[1]), m[2]);
    if (md_is_zero(size)) return md_wides_are_zero(&in->xy, 3) ? MDYN_OK : MDYN_ERR_INERTIA;

    /* I / trace, then 1/2 - I / trace */
    n = md_div(MD_K(1), size);
    for (k = 0; k < 6; k++) m[k] = md_mul(n, m[k]);
    if (!md_is_semidefinite(m)) return MDYN_ERR_INERTIA;
    for (k = 0; k < 6; k++) m[k] = k < 3 ? md_sub(half, m[k]) : md_neg(m[k]);
    return md_is_semidefinite(m) ? MDYN_OK : MDYN_ERR_TRIANGLE;
}

/* Whether a build without trees can represent the body: a revolute or prismatic joint on the world,
   with no inertia but its armature. Other builds represent all. */
MD_INLINE int md_body_is_rotor(const mdyn_body *b)
{
    if (MIMICDYN_TREE) return 1;
    return b->parent == MDYN_WORLD && (b->joint == MDYN_REVOLUTE || b->joint == MDYN_PRISMATIC)
        && md_wide_is_zero(b->mass) && md_wides_are_zero(&b->inertia.xx, 3);
}

/* The code of the first rule that b breaks as body i, or MDYN_OK. */
MD_STATIC int md_check_body(const mdyn_body *b, int i)
{
    int single, code;

    /* numbers, and the place in the tree */
    if (!MIMICDYN_CHECKS) return MDYN_OK;
    if (!md_wides_in_range(MD_WIDE_FIELDS(mdyn_body, b, axis, drive_kd)))
        return MDYN_ERR_NOT_FINITE;
    if (b->parent < MDYN_WORLD || b->parent >= i) return MDYN_ERR_PARENT;
    if ((unsigned)b->joint > (MIMICDYN_QUATERNIONS || !MIMICDYN_TREE ? MDYN_FREE : MDYN_HELICAL))
        return MDYN_ERR_JOINT;
    if (!md_body_is_rotor(b)) return MDYN_ERR_TREE;

    /* the body */
    single = md_joint_coordinates(b->joint) == 1;
    if (md_is_too_short(&b->rotation.w, 4)) return MDYN_ERR_ROTATION;
    if (md_wide_is_negative(b->mass)) return MDYN_ERR_MASS;
    code = md_check_inertia(&b->inertia);
    if (code == MDYN_ERR_INERTIA || (code != MDYN_OK && !b->inertia_as_given)) return code;

    /* the joint: armature, damping, friction, effort and gains are not negative; a free joint has
       no armature */
    if (md_any_wide_negative(MD_WIDE_FIELDS(mdyn_body, b, armature, friction))
        || md_any_wide_negative(MD_WIDE_FIELDS(mdyn_body, b, effort, drive_kd))
        || (b->joint == MDYN_FREE && !md_wide_is_zero(b->armature))) return MDYN_ERR_NEGATIVE;

    /* limits and drives: joints of one coordinate only, lower <= upper */
    if (md_wide_less(b->upper, b->lower)
        || (!single && !md_wides_are_zero(&b->lower, 2))) return MDYN_ERR_LIMITS;
    return single || md_wides_are_zero(&b->drive_kp, 2) ? MDYN_OK : MDYN_ERR_DRIVE;
}

/* Whether the numbers of a curve are in range and its places ascend; what it needs is there. Fields
   of other kinds are not read. */
MD_STATIC int md_curve_is_valid(const mdyn_curve *c)
{
    int k;
    if ((unsigned)c->kind > MDYN_CURVE_COUPLER) return 0;
    if (c->kind == MDYN_CURVE_FUNCTION)
        return c->function && md_wides_in_range(&c->lower, 2)
            && !md_less(md_of_wide(c->upper), md_of_wide(c->lower));
    if (c->kind == MDYN_CURVE_COUPLER) return c->coupler != NULL;
    if (c->kind == MDYN_CURVE_POLYNOMIAL)
        return md_wide_in_range(c->reference) && md_wides_in_range(c->a, 5);

    /* a table: its numbers, and that it ascends */
    if (!c->knots || c->knot_count < 2 || c->knot_count > 4096) return 0;
    for (k = 0; k < c->knot_count; k++) {
        const mdyn_knot *knot = &c->knots[k];
        if (!md_wides_in_range(&knot->q, 3)) return 0;
        if (k > 0 && !md_less(MD_K(0), md_sub(md_of_wide(knot->q), md_of_wide(knot[-1].q))))
            return 0;
    }
    return 1;
}

/* Whether the slope of a curve vanishes within the limits of a joint, or the ends of a spline or of
   a function, and where; of a joint without limits that is not asked. The first term of a coupling
   is its follower (mdyn_project), which a level curve leaves without a place. */
MD_STATIC int md_is_level(const mdyn_curve *c, const md_joint_values *b, md_num *place)
{
    const int limited = !md_wides_are_zero(&b->lower, 2), spline = c->kind == MDYN_CURVE_SPLINE;
    const int below = limited && md_has_lower(b->lower), above = limited && md_has_upper(b->upper);
    const int ends = spline || md_is_bounded(c);
    md_num from = md_of_wide(b->lower), to = md_of_wide(b->upper);
    if (!below && !above && !ends) return 0;
    if (c->kind == MDYN_CURVE_FUNCTION && !ends && !(below && above)) return 0;

    /* a side without a limit: no coordinate is beyond 2^23; what has ends goes straight on beyond
       them */
    if (!below)
        from = ends ? md_of_wide(spline ? c->knots[0].q : c->lower) : MD_K(-8388608);
    if (!above)
        to = ends ? md_of_wide(spline ? c->knots[c->knot_count - 1].q : c->upper)
                  : MD_K(8388608);
    *place = from;
    return md_slope_sign(c, from, MD_K(MD_CONSISTENCY_TOLERANCE)) == 0
        || md_find_level(c, from, to, place);
}

/* The code of the first rule that the curves of coupling i break, or MDYN_OK. The curves of the
   other couplings are counted by what the sim holds: at mdyn_init those before it. */
MD_STATIC int md_check_curves(mdyn_sim *sim, const mdyn_coupling *c, int i)
{
    const md_curves *curves = MD_CURVES(sim);
    int k, count = 0, first = -1, coupler = 0;
    md_num place;
    if (MD_HAS_CURVES)
        count = curves->first[sim->couplings] - (curves->first[i + 1] - curves->first[i]);
    for (k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        const mdyn_term *t = &c->terms[k];
        if (md_wide_is_zero(t->coefficient)) continue;
        if (first < 0) first = k;
        if (!t->curve && !coupler) continue;
        if (!MD_HAS_CURVES) return MDYN_ERR_CAPACITY_CURVES;

        /* each is a valid one of joints with a position; a coupler is that of all terms: the first
           one tells whether there is one */
        if (t->curve < 1 || t->curve > curves->count || c->level != MDYN_POSITION
            || !md_curve_is_valid(md_curve_of(sim, t))) return MDYN_ERR_CURVE;
        if (k == first) coupler = md_curve_of(sim, t)->kind == MDYN_CURVE_COUPLER;
        if (coupler ? t->curve != c->terms[first].curve
                    : md_curve_of(sim, t)->kind == MDYN_CURVE_COUPLER) return MDYN_ERR_CURVE;
        /* the follower */
        if (k == first && !coupler
            && md_is_level(md_curve_of(sim, t), &sim->joint_values[t->body], &place)) {
#if MIMICDYN_MAX_CURVES > 0
            sim->culprit.place = md_to_real(place);
#endif
            return MDYN_ERR_SLOPE;
        }
        count++;
    }
    return count > MIMICDYN_MAX_CURVES ? MDYN_ERR_CAPACITY_CURVES : MDYN_OK;
}

/* The code of the first rule that c breaks as coupling i of a sim whose links stand, or MDYN_OK. */
MD_STATIC int md_check_coupling(const mdyn_sim *sim, const mdyn_coupling *c, int i)
{
    md_num largest = MD_K(0);
    int k, j, terms = 0;

    /* numbers; all fields but the terms, which follow */
    if (!MIMICDYN_CHECKS) return MDYN_OK;
    if (!md_wide_in_range(c->offset) || !md_wides_in_range(&c->softness.a, 2)
        || !md_wides_in_range(MD_WIDE_FIELDS(mdyn_coupling, c, lower, effort))
        || !md_wides_in_range(MD_WIDE_FIELDS(mdyn_coupling, c, efficiency, mu)))
        return MDYN_ERR_NOT_FINITE;

    /* Each term names a DoF that is there, and no DoF is named twice. C exists only where every
       joint has one coordinate. */
    for (k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        const mdyn_term *t = &c->terms[k];
        mdyn_joint joint;
        if (!md_wide_in_range(t->coefficient)) return MDYN_ERR_NOT_FINITE;
        if (md_wide_is_zero(t->coefficient)) continue;
        if (t->body < 0 || t->body >= sim->bodies) return MDYN_ERR_TERM;
        joint = (mdyn_joint)sim->link[t->body].joint;
        if (md_joint_dofs(joint) == 0) return MDYN_ERR_TERM_FIXED;
        if (t->axis < 0 || t->axis >= md_joint_dofs(joint)) return MDYN_ERR_TERM_AXIS;
        if (c->level == MDYN_POSITION && md_joint_coordinates(joint) != 1) return MDYN_ERR_LEVEL;
        for (j = 0; j < k; j++)
            if (!md_wide_is_zero(c->terms[j].coefficient) && c->terms[j].body == t->body
                && c->terms[j].axis == t->axis) return MDYN_ERR_TERM_TWICE;
        largest = md_max(largest, md_abs(md_of_wide(t->coefficient)));
        terms++;
    }
    if (terms == 0) return MDYN_ERR_NO_TERMS;
    if (md_less(largest, MD_K(0.999e-9)) || md_less(MD_K(1.001e9), largest))
        return MDYN_ERR_COEFFICIENT;

    /* level, softness, range, effort */
    if ((unsigned)c->level > MDYN_VELOCITY) return MDYN_ERR_LEVEL;
    if (!md_softness_is_valid(&c->softness)) return MDYN_ERR_SOFTNESS;
    if (md_wide_less(c->upper, c->lower)) return MDYN_ERR_LIMITS;
    if (md_wide_is_negative(c->effort)) return MDYN_ERR_NEGATIVE;

    /* 0 <= efficiency <= 1, mu >= 0 of another coupling */
    if (!MIMICDYN_LOSSES) return md_wides_are_zero(&c->efficiency, 2) ? MDYN_OK : MDYN_ERR_LOSS;
    if (md_any_wide_negative(&c->efficiency, 2) || md_wide_less(MDYN_C(1), c->efficiency)
        || (!md_wide_is_zero(c->mu) && (c->mu_of < 0 || c->mu_of == i
        || c->mu_of >= sim->couplings))) return MDYN_ERR_LOSS;
    return MDYN_OK;
}

/* Checks closures and user rows; returns the number of their constraint rows, or an error. */
MD_STATIC int md_check_body_rows(mdyn_sim *sim, const mdyn_model *model)
{
    int i, code, n = model->user_row_count;
    if (!MD_HAS_CLOSURES && (model->closure_count != 0 || n != 0))
        return md_blame(sim, MDYN_ERR_CAPACITY_BODY_ROWS, -1);
    if (!MD_HAS_CLOSURES) return 0;

    /* counts before pointers before elements, so that nothing is read that is not there */
    if (model->closure_count < 0 || model->user_row_count < 0
        || model->closure_count > MIMICDYN_MAX_BODY_ROWS || n > MIMICDYN_MAX_BODY_ROWS)
        return md_blame(sim, MDYN_ERR_CAPACITY_BODY_ROWS, -1);
    if ((model->closure_count > 0 && !model->closures)
        || (n > 0 && !model->user_rows && !model->row_function))
        return md_blame(sim, MDYN_ERR_NULL, -1);

    for (i = 0; i < model->closure_count; i++) {
        code = md_check_closure(sim, &model->closures[i], i, model->body_count);
        if (code != MDYN_OK) return code;
        n += md_closure_row_count(model->closures[i].kind);
    }
    if (n > MIMICDYN_MAX_BODY_ROWS) return md_blame(sim, MDYN_ERR_CAPACITY_BODY_ROWS, -1);

    /* The row that bounds a friction row is no friction row itself. A callback may change both;
       each step checks them again. */
    for (i = 0; model->user_rows && i < model->user_row_count; i++) {
        code = md_check_user_row(sim, &model->user_rows[i], i, model->user_row_count,
                                 model->body_count);
        if (code != MDYN_OK) return code;
        if (!model->row_function && !md_wide_is_zero(model->user_rows[i].mu)
            && !md_wide_is_zero(model->user_rows[model->user_rows[i].mu_of].mu))
            return md_blame(sim, MDYN_ERR_USER_ROW, i);
    }
    return n;
}

/* MDYN_OK for components of gravity up to 1e6 m/s^2. */
MD_STATIC int md_check_gravity(const mdyn_wide3 *g)
{
    int k;
    if (!MIMICDYN_CHECKS) return MDYN_OK;
    if (!md_wides_in_range(&g->x, 3)) return MDYN_ERR_NOT_FINITE;
    for (k = 0; k < 3; k++)
        if (md_less(MD_K(1e6), md_abs(md_of_wide((&g->x)[k])))) return MDYN_ERR_GRAVITY;
    return MDYN_OK;
}

/* MDYN_OK for a dt of 1e-9 s to 1 s. */
MD_STATIC int md_check_dt(mdyn_wide dt)
{
    if (!MIMICDYN_CHECKS) return MDYN_OK;
    return !md_wide_in_range(dt) || md_wide_less(dt, MDYN_C(1e-9)) || md_wide_less(MDYN_C(1), dt)
        ? MDYN_ERR_DT : MDYN_OK;
}

/* The code of the first rule that the settings break, or MDYN_OK. A build with MIMICDYN_SETTINGS 0
   has the default settings only. */
MD_STATIC int md_check_solver(const mdyn_solver *s)
{
    if (!MIMICDYN_CHECKS) return MDYN_OK;

    /* Only TGS has substeps, and Dantzig has no cone. A relaxation near 0 or a large tolerance
       would end the iteration where it begins. */
    if (s->method == MDYN_DANTZIG && MIMICDYN_MAX_DANTZIG == 0) return MDYN_ERR_CAPACITY_DANTZIG;
    if ((unsigned)s->method > MDYN_DANTZIG || (s->substeps > 1 && s->method != MDYN_TGS)
        || (s->method == MDYN_DANTZIG && s->friction_law == MDYN_CONE)
        || !md_wides_in_range(&s->relaxation, 3) || md_any_wide_negative(&s->relaxation, 3)
        || (!md_wide_is_zero(s->relaxation) && md_wide_less(s->relaxation, MDYN_C(0.01)))
        || !md_wide_less(s->relaxation, MDYN_C(2)) || md_wide_less(MDYN_C(0.1), s->tolerance)
        || md_wide_less(MDYN_C(1), s->accuracy) || (unsigned)s->equality > MDYN_ITERATED
        || (unsigned)s->start > MDYN_COLD || (unsigned)s->correction > MDYN_RELAX
        || (unsigned)s->limits > MDYN_ENGAGED || !md_wide_in_range(s->deadband)
        || (unsigned)s->friction_law > MDYN_TWO_STAGE || md_wide_is_negative(s->deadband)
        || (unsigned)s->scheme > MDYN_EXPLICIT || s->corrections > 1
        || (s->corrections && s->scheme == MDYN_EXPLICIT)
        || (!MIMICDYN_SETTINGS && ((MIMICDYN_EXACT && s->equality) || (MIMICDYN_WARM && s->start)
                                   || s->correction || s->limits || s->method || s->scheme
                                   || s->corrections)))
        return MDYN_ERR_SOLVER;
    return MDYN_OK;
}

/* Blames the first rule that the model breaks; returns its code, or MDYN_OK. */
MD_OWN_FRAME int md_check_model(mdyn_sim *sim, const mdyn_model *model)
{
    int i, code, dofs = 0, rows = model->coupling_count;

    /* counts and pointers */
    if (model->body_count < 1 || model->body_count > MIMICDYN_MAX_BODIES)
        return md_blame(sim, MDYN_ERR_CAPACITY_BODIES, -1);
    if (model->coupling_count < 0 || model->coupling_count > MIMICDYN_MAX_COUPLINGS)
        return md_blame(sim, MDYN_ERR_CAPACITY_COUPLINGS, -1);
    if (model->curve_count < 0 || model->curve_count > 255)
        return md_blame(sim, MDYN_ERR_CAPACITY_CURVES, -1);
    if (!model->bodies || (model->coupling_count > 0 && !model->couplings)
        || (model->curve_count > 0 && !model->curves))
        return md_blame(sim, MDYN_ERR_NULL, -1);
    code = md_check_gravity(&model->gravity);
    if (code == MDYN_OK) code = md_check_dt(model->dt);
    if (code == MDYN_OK) code = md_check_solver(&model->solver);
    if (code != MDYN_OK) return md_blame(sim, code, -1);

    /* Bodies, with the DoFs and constraint rows that they take: one row for a drive and for a
       limit, one for each DoF with dry friction. */
    for (i = 0; i < model->body_count; i++) {
        const mdyn_body *b = &model->bodies[i];
        code = md_check_body(b, i);
        if (code != MDYN_OK) return md_blame(sim, code, i);
        dofs += md_joint_dofs(b->joint);
        rows += !md_wides_are_zero(&b->drive_kp, 2) + !md_wides_are_zero(&b->lower, 2)
            + !md_wide_is_zero(b->friction) * md_joint_dofs(b->joint);
        if (dofs > MIMICDYN_MAX_DOFS) return md_blame(sim, MDYN_ERR_CAPACITY_DOFS, i);
        if (rows > MIMICDYN_MAX_ROWS) return md_blame(sim, MDYN_ERR_CAPACITY_ROWS, i);
    }

    /* closures and user rows; then couplings, each with one row more for a loss. The couplings
       themselves are checked when the links stand (md_build_sim). */
    code = md_check_body_rows(sim, model);
    if (code < 0) return code;
    rows += code;
    if (rows > MIMICDYN_MAX_ROWS) return md_blame(sim, MDYN_ERR_CAPACITY_ROWS, -1);
    for (i = 0; i < model->coupling_count; i++)
        rows += !md_wide_is_zero(model->couplings[i].efficiency);
    if (rows > MIMICDYN_MAX_ROWS) return md_blame(sim, MDYN_ERR_CAPACITY_ROWS, -1);
    return MDYN_OK;
}

/* ---- capacity: what a model needs of each knob ---- */

/* A constraint row of a model that may not fit any sim: the bodies that it names, by `count` terms
   or one body; whether it may have a coordinate of its own for its compliance. */
typedef struct md_footprint {
    const mdyn_term *terms;
    int count, body, compliant;
} md_footprint;

/* The footprint of a row that may be solved exactly: of coupling i, or of the drive of body
   i - couplings; empty if that has none. */
MD_STATIC md_footprint md_exact_footprint(const mdyn_model *model, int i)
{
    md_footprint f;
    f.terms = NULL;
    f.body = i - model->coupling_count;
    f.compliant = 1;
    if (f.body >= 0) {
        f.count = !md_wides_are_zero(&model->bodies[f.body].drive_kp, 2);
        return f;
    }
    f.count = MIMICDYN_MAX_TERMS;
    f.terms = model->couplings[i].terms;
    f.compliant = !md_softness_is_hard(&model->couplings[i].softness);
    return f;
}

/* The body of term k of a footprint; -1: the term is absent. */
MD_STATIC int md_footprint_body(const md_footprint *f, int k)
{
    if (!f->terms) return k == 0 ? f->body : -1;
    return md_wide_is_zero(f->terms[k].coefficient) ? -1 : f->terms[k].body;
}

/* Whether a body with a DoF is an ancestor of a body of the footprint, or one of them. */
MD_STATIC int md_footprint_covers(const mdyn_model *model, const md_footprint *f, int body)
{
    int i, k;
    for (k = 0; k < f->count; k++)
        for (i = md_footprint_body(f, k); i >= body; i = model->bodies[i].parent)
            if (i == body) return 1;
    return 0;
}

/* Whether the footprints a and b cover a DoF in common. */
MD_STATIC int md_footprints_meet(const mdyn_model *model, const md_footprint *a,
                                 const md_footprint *b)
{
    int i, k;
    for (k = 0; k < a->count; k++)
        for (i = md_footprint_body(a, k); i >= 0; i = model->bodies[i].parent)
            if (md_joint_dofs(model->bodies[i].joint) && md_footprint_covers(model, b, i)) return 1;
    return 0;
}

/* Whether row i of md_exact_footprint is marked. */
MD_INLINE int md_is_marked(const uint8_t *mark, int i) { return (mark[i >> 3] >> (i & 7)) & 1; }

/* Whether a row of this footprint, or a marked one, meets row i. */
MD_STATIC int md_meets_marked(const mdyn_model *model, const md_footprint *f, const uint8_t *mark,
                              int i)
{
    const md_footprint c = md_exact_footprint(model, i);
    int j, meets = md_footprints_meet(model, f, &c);
    for (j = 0; j < model->coupling_count + model->body_count && !meets; j++) {
        const md_footprint other = md_exact_footprint(model, j);
        meets = md_is_marked(mark, j) && md_footprints_meet(model, &other, &c);
    }
    return meets;
}

/* Whether a row of this footprint, or a marked one, covers a body's joint. */
MD_STATIC int md_marked_cover(const mdyn_model *model, const md_footprint *f, const uint8_t *mark,
                              int body)
{
    int j, covered = md_footprint_covers(model, f, body);
    for (j = 0; j < model->coupling_count + model->body_count && !covered; j++) {
        const md_footprint other = md_exact_footprint(model, j);
        covered = md_is_marked(mark, j) && md_footprint_covers(model, &other, body);
    }
    return covered;
}

/* A bound of the entries of a row: the DoFs that it covers, and those of all exact rows that it
   meets directly or through others; one more for each of them that is compliant. `mark` has a bit
   for each exact row. */
MD_STATIC int32_t md_row_entries(const mdyn_model *model, const md_footprint *f, uint8_t *mark)
{
    const int rows = model->coupling_count + model->body_count;
    int32_t n = f->compliant;
    int i, found = 1;
    for (i = 0; i < rows; i++) mark[i >> 3] = 0;

    /* rows that share a tree with the footprint, and with rows found before */
    while (found)
        for (found = 0, i = 0; i < rows; i++) {
            if (md_is_marked(mark, i) || !md_meets_marked(model, f, mark, i)) continue;
            mark[i >> 3] = (uint8_t)(mark[i >> 3] | 1 << (i & 7));
            found = 1;
            n += md_exact_footprint(model, i).compliant;
        }

    /* the DoF of all bodies that these rows reach */
    for (i = 0; i < model->body_count; i++)
        if (md_marked_cover(model, f, mark, i)) n += md_joint_dofs(model->bodies[i].joint);
    return n;
}

/* The non-zeros of M: of each DoF those between it and the world, itself included. */
MD_STATIC int32_t md_mass_matrix_entries(const mdyn_model *model)
{
    int32_t n = 0;
    int i, j;
    for (i = 0; i < model->body_count; i++) {
        const int dofs = md_joint_dofs(model->bodies[i].joint);
        int before = 0;
        for (j = model->bodies[i].parent; j >= 0; j = model->bodies[j].parent)
            before += md_joint_dofs(model->bodies[j].joint);
        n += dofs * before + dofs * (dofs + 1) / 2;
    }
    return n;
}

/* The code of the first rule that counts, tree, terms and closures break, as far as mdyn_required
   follows them. */
MD_STATIC int md_check_structure(const mdyn_model *model)
{
    int i, k;
    if (model->body_count < 1 || model->coupling_count < 0 || model->closure_count < 0
        || model->user_row_count < 0 || model->body_count > 4096 || model->coupling_count > 4096
        || model->closure_count > 4096 || model->user_row_count > 4096) return MDYN_ERR_INDEX;

    if (!model->bodies || (model->coupling_count > 0 && !model->couplings)
        || (model->closure_count > 0 && !model->closures)) return MDYN_ERR_NULL;

    /* each body after its parent */
    for (i = 0; i < model->body_count; i++) {
        const mdyn_body *b = &model->bodies[i];
        if (b->parent < MDYN_WORLD || b->parent >= i) return MDYN_ERR_PARENT;
        if ((unsigned)b->joint > MDYN_FREE) return MDYN_ERR_JOINT;
    }

    /* terms that exist name a body */
    for (i = 0; i < model->coupling_count; i++)
        for (k = 0; k < MIMICDYN_MAX_TERMS; k++) {
            const mdyn_term *t = &model->couplings[i].terms[k];
            if (!md_wide_is_zero(t->coefficient) && (t->body < 0 || t->body >= model->body_count))
                return MDYN_ERR_TERM;
        }
    return MDYN_OK;
}

/* Rows and entries of couplings, drives, limits and dry friction. */
MD_STATIC void md_require_joint_rows(const mdyn_model *model, mdyn_capacity *c)
{
    uint8_t mark[1024];
    int i, k;

    /* couplings, with a row of transmission loss each that has an efficiency */
    for (i = 0; i < model->coupling_count; i++) {
        const md_footprint f = md_exact_footprint(model, i);
        const int count = 1 + !md_wide_is_zero(model->couplings[i].efficiency);
        int32_t terms = 0;
        for (k = 0; k < f.count; k++) {
            terms += md_footprint_body(&f, k) >= 0;
            c->curves += md_footprint_body(&f, k) >= 0 && f.terms[k].curve;
        }
        if (c->terms < terms) c->terms = terms;
        c->rows += count;
        c->entries += count * md_row_entries(model, &f, mark);
    }

    /* drives, friction and limits: a row per DoF each, which share entries unless solved exactly */
    for (i = 0; i < model->body_count; i++) {
        const mdyn_body *b = &model->bodies[i];
        md_footprint f;
        const int dofs = md_joint_dofs(b->joint);
        const int has_drive = !md_wides_are_zero(&b->drive_kp, 2);
        const int exact = has_drive && md_wide_is_zero(b->effort);
        const int has_limits = !md_wides_are_zero(&b->lower, 2);
        const int has_friction = !md_wide_is_zero(b->friction);
        const int shared = has_limits || has_friction || has_drive > exact;
        f.count = 1;
        f.terms = NULL;
        f.body = i;
        f.compliant = 0;
        c->rows += dofs * (has_drive + has_limits + has_friction);
        if (exact + shared)
            c->entries += dofs * ((exact + shared) * md_row_entries(model, &f, mark) + exact);
    }
}

/* Rows and entries of closures, user rows and contacts: any DoF, and all rows before it. */
MD_STATIC void md_require_body_rows(const mdyn_model *model, mdyn_capacity *c)
{
    const int32_t joint_rows = c->rows;
    int i;
    c->body_rows = model->user_row_count;
    for (i = 0; i < model->closure_count; i++)
        c->body_rows += MD_HAS_CLOSURES ? md_closure_row_count(model->closures[i].kind) : 6;
    c->rows += c->body_rows + 3 * MIMICDYN_MAX_CONTACTS;
    if (c->rows == joint_rows) return;

    /* these rows meet all others */
    c->entries = md_mass_matrix_entries(model) + c->rows * (c->dofs + model->coupling_count
                                                            + c->body_rows);
}

/* What the model needs, see mdyn_required. */
MD_STATIC void md_require(const mdyn_model *model, mdyn_capacity *c)
{
    int i;
    c->bodies = model->body_count;
    c->couplings = model->coupling_count > 0 ? model->coupling_count : 1;
    c->dofs = c->rows = c->curves = 0;
    c->terms = 2;

    for (i = 0; i < model->body_count; i++) c->dofs += md_joint_dofs(model->bodies[i].joint);
    if (c->dofs == 0) c->dofs = 1;

    /* L first, then the rows; an array has at least one element */
    c->entries = md_mass_matrix_entries(model);
    md_require_joint_rows(model, c);
    md_require_body_rows(model, c);
    if (c->rows == 0) c->rows = 1;
    if (c->entries == 0) c->entries = 1;
    c->dantzig = model->solver.method == MDYN_DANTZIG ? c->rows : 0;
}

/* The code of the first knob of this build that is too small, or MDYN_OK. */
MD_STATIC int md_compare_capacity(const mdyn_capacity *c)
{
    if (c->bodies > MIMICDYN_MAX_BODIES) return MDYN_ERR_CAPACITY_BODIES;
    if (c->couplings > MIMICDYN_MAX_COUPLINGS) return MDYN_ERR_CAPACITY_COUPLINGS;
    if (c->dofs > MIMICDYN_MAX_DOFS) return MDYN_ERR_CAPACITY_DOFS;
    if (c->body_rows > MIMICDYN_MAX_BODY_ROWS) return MDYN_ERR_CAPACITY_BODY_ROWS;
    if (c->rows > MIMICDYN_MAX_ROWS) return MDYN_ERR_CAPACITY_ROWS;
    if (c->entries > MIMICDYN_MAX_ENTRIES) return MDYN_ERR_CAPACITY_ENTRIES;
    if (c->dantzig > MIMICDYN_MAX_DANTZIG) return MDYN_ERR_CAPACITY_DANTZIG;
    return c->curves > MIMICDYN_MAX_CURVES ? MDYN_ERR_CAPACITY_CURVES : MDYN_OK;
}

/* =============================================================================== // >>range
   The range that limits and couplings leave a joint.

   Given:   the limits of the bodies and the rigid couplings (hard, of positions, without a bound on
            their force) of a sim that is built.
   Gives:   lower and upper of one coordinate, lower > upper if nothing is left.
   Writes:  sim->mark, 0 on return; sim->joint_force and sim->dv as arrays of x and z; y_force;
            sim->reduced as arrays of lower and upper.
   Cost:    O(couplings^2 terms), with couplings of several leaders O(couplings^2 terms^2).

   A rigid coupling of two joints ties their coordinates: c_1 q_1 + c_2 q_2 + offset = lower. So
   each coordinate that a chain of such couplings ties to q is x q + z, and its limits bound q. So
   does the range of a coupling whose joints are all tied to q.

   In a coupling of several leaders each joint is left what the ranges of the others leave:
      (lower - max of the sum of c_j q_j, j != k, - offset)/c_k <= q_k <= ..., for c_k > 0
   from the limits on, over all couplings in turn until none narrows a range. That keeps every
   position that there is. Where couplings share one joint at most, and no chain of them closes to
   a ring, it keeps no other; of a ring it may. Source: Davis 1987, Constraint propagation with
   interval labels.

   A curve f(x q + z) of such a coordinate, whose follower is tied to others in turn, bounds q by
   the values that their limits leave to f: a set of intervals, of which one is taken. Between two
   places at which it is level f is monotone, so each such piece adds one interval at most, whose
   ends are found by bisection. */

/* Whether coupling i is a rigid equality of exactly two joints; its terms into *t. */
MD_STATIC int md_coupling_ties(const mdyn_sim *sim, int i, md_terms *t)
{
    const mdyn_coupling *c = md_coupling_at(sim, i);
    if (!md_coupling_is_rigid(sim, c) || !md_coupling_is_equality(c)
        || md_coupling_is_curved(sim, i)) return 0;
    md_find_row_terms(sim, md_row_at(sim, i), t);
    return t->count == 2;
}

/* Narrows [lower, upper] to the q with lo <= x q + z <= hi. x is a sum of terms of magnitude
   `size`; if it is no more than their rounding it counts as 0, and either every q is left or
   none. */
MD_STATIC void md_narrow(md_num *lower, md_num *upper, md_num lo, md_num hi, md_num x, md_num z,
                         md_num size)
{
    const md_num none = MD_K(1e12);
    const md_num slack = md_mul(MD_K(MD_CONSISTENCY_TOLERANCE), md_add(MD_K(1), md_abs(z)));
    int reversed = md_less(x, MD_K(0)), open_below = !md_less(md_neg(none), lo);
    int open_above = !md_less(hi, none);

    /* x = 0: the bounds concern z alone */
    if (!md_less(md_mul(MD_K(MD_CONSISTENCY_TOLERANCE), size), md_abs(x))) {
        if ((open_below || !md_less(md_add(z, slack), lo))
            && (open_above || !md_less(hi, md_sub(z, slack)))) return;
        *lower = none;
        *upper = md_neg(none);
        return;
    }

    /* (lo - z)/x and (hi - z)/x, exchanged if x < 0 */
    if (!open_below) lo = md_div(md_sub(lo, z), x);
    if (!open_above) hi = md_div(md_sub(hi, z), x);
    if (!(reversed ? open_above : open_below)) *lower = md_max(*lower, reversed ? hi : lo);
    if (!(reversed ? open_below : open_above)) *upper = md_min(*upper, reversed ? lo : hi);
}

/* Narrows [lower, upper] by coupling i, if it is rigid and all its joints are tied to q: then
   C = x q + z. An equality with x = 0 is left out: it holds for every q, or contradicts the
   couplings that tie its joints, which says nothing about q. Returns whether it is an equality that
   leaves one position. */
MD_OWN_FRAME int md_narrow_by_coupling(mdyn_sim *sim, int i, md_num *lower, md_num *upper)
{
    const mdyn_coupling *c = md_coupling_at(sim, i);
    md_num x = MD_K(0), z = md_of_wide(c->offset), size = MD_K(0), part;
    md_terms *t = &sim->terms;
    int k;
    if (!md_coupling_is_rigid(sim, c) || md_coupling_is_curved(sim, i)) return 0;
    md_find_row_terms(sim, md_row_at(sim, i), t);

    /* C = sum of coefficient (x_k q + z_k) + offset */
    for (k = 0; k < t->count; k++) {
        md_num coefficient = t->factor[k];
        if (!sim->mark[t->dof[k]]) return 0;
        part = md_mul(coefficient, sim->joint_force[t->dof[k]]);
        x = md_add(x, part);
        size = md_add(size, md_abs(part));
        z = md_add(z, md_mul(coefficient, sim->dv[t->dof[k]]));
    }

    if (md_coupling_is_equality(c)
        && !md_less(md_mul(MD_K(MD_CONSISTENCY_TOLERANCE), size), md_abs(x))) return 0;
    md_narrow(lower, upper, md_of_wide(c->lower), md_of_wide(c->upper), x, z, size);
    return md_coupling_is_equality(c);
}

/* Marks in sim->mark the DoFs that are tied to `dof`, with q_k = x_k q + z_k: x_k in
   sim->joint_force[k], z_k in sim->dv[k]. */
MD_STATIC void md_tie_joints(mdyn_sim *sim, int dof)
{
    int i, k, found = 1;
    md_terms *t = &sim->terms;
    for (k = 0; k < sim->dofs; k++) sim->mark[k] = 0;
    sim->mark[dof] = 1;
    sim->joint_force[dof] = MD_K(1);
    sim->dv[dof] = MD_K(0);

    /* follow the couplings from tied joints to further ones until none is found:
       c_to q_to + c_from q_from + offset = lower */
    while (found)
        for (found = 0, i = 0; i < sim->couplings; i++) {
            const mdyn_coupling *c = md_coupling_at(sim, i);
            md_num ratio;
            int from, to;
            if (!md_coupling_ties(sim, i, t)) continue;
            from = sim->mark[t->dof[0]] ? 0 : 1;
            to = 1 - from;
            if (!sim->mark[t->dof[from]] || sim->mark[t->dof[to]]) continue;
            ratio = md_neg(md_div(t->factor[from], t->factor[to]));
            sim->joint_force[t->dof[to]] = md_mul(ratio, sim->joint_force[t->dof[from]]);
            sim->dv[t->dof[to]] = md_sub(md_mul(ratio, sim->dv[t->dof[from]]),
                md_div(md_sub(md_of_wide(c->offset), md_of_wide(c->lower)),
                       t->factor[to]));
            sim->mark[t->dof[to]] = 1;
            found = 1;
        }
}

/* Narrows [lower, upper] by the limits of DoF k. Returns 0 if it is not tied, or has none. */
MD_STATIC int md_narrow_by_limits(const mdyn_sim *sim, int k, md_num *lower, md_num *upper)
{
    const md_joint_values *b = md_values_of_dof(sim, k);
    if (!sim->mark[k] || (md_wide_is_zero(b->lower) && md_wide_is_zero(b->upper))) return 0;
    md_narrow(lower, upper, md_of_wide(b->lower), md_of_wide(b->upper), sim->joint_force[k],
              sim->dv[k], md_abs(sim->joint_force[k]));
    return 1;
}

#if MIMICDYN_MAX_CURVES > 0

/* ---- through a curve ---- */

/* Places q of a curve with lo <= f(q) <= hi. */
typedef struct md_preimage {
    const mdyn_curve *curve;
    md_num lo, hi;
    md_num wanted;        /* of the intervals of such places, the one nearest to this place */
    md_num first, last;   /* the nearest so far, if found */
    md_num distance;
    int found;
} md_preimage;

/* Where f(q) is: -1 below lo, 0 within, 1 above hi; 2: it has no value in range. */
MD_STATIC int md_side(const md_preimage *s, md_num q)
{
    md_curve_value p;
    md_num f;
    if (!md_find_curve_value(s->curve, md_to_real(q), 0, &p)) return 2;
    f = md_of_real(p.value);
    return md_less(f, s->lo) ? -1 : md_less(s->hi, f);
}

/* The place nearest to `to`, on the way from it to `from`, at which f is not where it is at `to`.
   By bisection: f is monotone between the two. */
MD_STATIC md_num md_find_side(const md_preimage *s, md_num from, md_num to)
{
    const int side = md_side(s, to);
    int k;
    for (k = 0; k < 64 && side != 0; k++) {
        const md_num middle = md_mul(MD_K(0.5), md_add(from, to));
        if (md_side(s, middle) == side) to = middle;
        else from = middle;
    }
    return side ? from : to;
}

/* Takes the interval [first, last] if it is nearer to the place wanted than that before. */
MD_STATIC void md_take_interval(md_preimage *s, md_num first, md_num last)
{
    /* 0 within it */
    const md_num distance = md_max(md_max(md_sub(first, s->wanted), md_sub(s->wanted, last)),
                                   MD_K(0));
    if (s->found && !md_less(distance, s->distance)) return;
    s->found = 1;
    s->distance = distance;
    s->first = first;
    s->last = last;
}

/* Moves an end of a piece at which f is out of range to the nearest place where it is not; f is
   monotone between the two. Returns 0 if there is none. Where a function of the user's gives no
   value there is none to go to: it has no positions there. */
MD_STATIC int md_trim_piece(const md_preimage *s, md_num *from, md_num *to)
{
    const int a = md_side(s, *from), b = md_side(s, *to);
    if (s->curve->kind == MDYN_CURVE_FUNCTION && !md_is_bounded(s->curve)) return 1;
    if (a == 2) *from = md_find_side(s, *to, *from);
    if (b == 2) *to = md_find_side(s, *from, *to);
    return a != 2 || b != 2;
}

/* Finds the interval within [from, to]. On each piece between two places where the curve is level
   f is monotone, so what is left of it is one interval; those of neighbors are joined. The place
   wanted is the end of a piece too: it has a value of f, which the ends of the range may lack. */
MD_STATIC void md_find_preimage(md_preimage *s, md_num from, md_num to)
{
    md_num first = from, end;
    int open = 0; /* an interval from `first` on goes up to the end of the last piece */
    s->found = 0;

    for (; md_less(from, to); from = end) {
        md_num low = from, high;
        int a, b;
        (void)md_find_level(s->curve, from, to, &end);
        if (md_less(from, s->wanted) && md_less(s->wanted, end)) end = s->wanted;
        high = end;
        if (!md_trim_piece(s, &low, &high)) continue;

        /* where f is at the ends: all of this piece is below, or all of it above */
        a = md_side(s, low);
        b = md_side(s, high);
        if (a != 0 && a == b) continue;

        /* the interval begins in this piece, or before it; it ends in it, or goes on */
        if (!open) first = a == 0 ? from : md_find_side(s, high, low);
        open = b == 0;
        if (!open) md_take_interval(s, first, md_find_side(s, low, high));
    }
    if (open) md_take_interval(s, first, to);
}

/* The bounds of f in coupling i, c_f q_f + c f(q) + offset = lower, by the limits of its follower f
   and of the joints that couplings without a curve tie to it. Writes sim->mark, ... of that. */
MD_STATIC void md_find_curve_bounds(mdyn_sim *sim, int i, const mdyn_term *follower,
                                    const mdyn_term *leader, md_preimage *s)
{
    const mdyn_coupling *c = md_coupling_at(sim, i);
    const md_num ratio = md_neg(md_div(md_of_wide(follower->coefficient),
                                       md_of_wide(leader->coefficient)));
    const md_num rest = md_div(md_sub(md_of_wide(c->lower), md_of_wide(c->offset)),
                               md_of_wide(leader->coefficient));
    int k;

    /* of the follower, from all that is tied to it */
    s->hi = MD_K(1e12);
    s->lo = md_neg(s->hi);
    md_tie_joints(sim, md_dof_of(sim, follower->body));
    for (k = 0; k < sim->dofs; k++) md_narrow_by_limits(sim, k, &s->lo, &s->hi);

    /* f = ratio q_f + rest; no bound stays none */
    if (md_less(s->hi, MD_K(1e12))) s->hi = md_add(md_mul(ratio, s->hi), rest);
    else s->hi = md_mul(ratio, MD_K(1e24));
    if (md_less(MD_K(-1e12), s->lo)) s->lo = md_add(md_mul(ratio, s->lo), rest);
    else s->lo = md_mul(ratio, MD_K(-1e24));
    if (md_less(ratio, MD_K(0))) {
        const md_num t = s->lo;
        s->lo = s->hi;
        s->hi = t;
    }
}

/* Narrows [lower, upper] of DoF `dof`, to which others are tied, by coupling i if that is rigid, of
   two joints, and has a curve at a tied one and none at the other: to the interval that contains
   the present coordinate, or is nearest to it. A function of the user's is looked at between two
   bounds only, its own or those of the joint. */
MD_OWN_FRAME void md_narrow_by_curve(mdyn_sim *sim, int i, int dof, md_num *lower, md_num *upper)
{
    const mdyn_coupling *c = md_coupling_at(sim, i);
    const mdyn_term *leader = NULL, *follower = NULL;
    const md_num most = MD_K(8388600);
    md_num x, z, from = md_max(*lower, md_neg(most)), to = md_min(*upper, most), t;
    md_preimage s;
    int k, terms = 0;
    for (k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        if (md_wide_is_zero(c->terms[k].coefficient)) continue;
        *(c->terms[k].curve ? &leader : &follower) = &c->terms[k];
        terms++;
    }

    /* one leader on a curve, and a follower that is not tied to it otherwise */
    if (terms != 2 || !leader || !follower || !md_coupling_is_equality(c)
        || !md_coupling_is_rigid(sim, c) || !sim->mark[md_dof_of(sim, leader->body)]
        || sim->mark[md_dof_of(sim, follower->body)]) return;
    s.curve = md_curve_of(sim, leader);
    if (s.curve->kind == MDYN_CURVE_COUPLER || (s.curve->kind == MDYN_CURVE_FUNCTION
        && !md_is_bounded(s.curve) && (md_less(*lower, from) || md_less(to, *upper)))) return;

    /* the leader's coordinate is x q + z; the range of q as one of it */
    x = sim->joint_force[md_dof_of(sim, leader->body)];
    z = sim->dv[md_dof_of(sim, leader->body)];
    md_find_curve_bounds(sim, i, follower, leader, &s);
    md_tie_joints(sim, dof);
    from = md_add(md_mul(x, from), z);
    to = md_add(md_mul(x, to), z);
    if (md_less(x, MD_K(0))) {
        t = from;
        from = to;
        to = t;
    }

    /* the interval, and back to q; where it ends with the range of q, which the limits of other
       joints have given, nothing is narrowed, so that these keep their digits */
    s.wanted = md_of_real(sim->q[md_coordinate_of(sim, leader->body)]);
    md_find_preimage(&s, from, to);
    /* nothing is left */
    if (!s.found) {
        *lower = MD_K(1e12);
        *upper = md_neg(*lower);
        return;
    }
    md_narrow(lower, upper, md_less(from, s.first) ? s.first : MD_K(-1e12),
              md_less(s.last, to) ? s.last : MD_K(1e12), x, z, md_abs(x));
}

#else

MD_INLINE void md_narrow_by_curve(mdyn_sim *sim, int i, int dof, md_num *lower, md_num *upper)
{
    (void)sim; (void)i; (void)dof; (void)lower; (void)upper;
}

#endif

/* Whether lower is above upper by more than rounding. */
MD_STATIC int md_range_is_empty(md_num lower, md_num upper)
{
    md_num slack = md_mul(MD_K(MD_CONSISTENCY_TOLERANCE), md_add(MD_K(1), md_abs(lower)));
    return md_less(md_add(upper, slack), lower);
}

/* ---- through couplings of several leaders ---- */

/* The largest x q_k if `up`, otherwise the smallest, in the interval of q_k; +-1e12 if it has no
   bound there. */
MD_STATIC md_num md_reach(const mdyn_sim *sim, int k, md_num x, int up)
{
    const md_num none = up ? MD_K(1e12) : MD_K(-1e12);
    const int at_upper = up == !md_less(x, MD_K(0));
    const md_num q = at_upper ? sim->reduced.size[k] : sim->reduced.factor[k];
    if (at_upper ? !md_less(q, MD_K(1e12)) : !md_less(MD_K(-1e12), q)) return none;
    return md_mul(x, q);
}

/* The interval of joint `k` of coupling c, with the terms t, from those of its others. */
MD_STATIC void md_narrow_term(mdyn_sim *sim, const mdyn_coupling *c, const md_terms *t, int k)
{
    const md_num none = MD_K(1e12);
    md_num lo = md_of_wide(c->lower), hi = md_of_wide(c->upper);
    int j, open_below = !md_has_lower(c->lower), open_above = !md_has_upper(c->upper);

    /* what c_k q_k may be */
    for (j = 0; j < t->count; j++) {
        md_num most, least;
        if (j == k) continue;
        most = md_reach(sim, t->dof[j], t->factor[j], 1);
        least = md_reach(sim, t->dof[j], t->factor[j], 0);
        open_below |= !md_less(most, none);
        open_above |= !md_less(md_neg(none), least);
        lo = md_sub(lo, most);
        hi = md_sub(hi, least);
    }

    md_narrow(&sim->reduced.factor[t->dof[k]], &sim->reduced.size[t->dof[k]],
              open_below ? md_neg(none) : lo, open_above ? none : hi, t->factor[k],
              md_of_wide(c->offset), md_abs(t->factor[k]));
}

/* Narrows the intervals of all joints of coupling i, if it is rigid. Where one is empty, so are
   those of the others. Returns whether one has changed. */
MD_STATIC int md_narrow_terms(mdyn_sim *sim, int i)
{
    const mdyn_coupling *c = md_coupling_at(sim, i);
    md_num *lower = sim->reduced.factor, *upper = sim->reduced.size;
    md_terms *t = &sim->terms;
    int k, empty = 0, changed = 0;
    if (!md_coupling_is_rigid(sim, c) || md_coupling_is_curved(sim, i)) return 0;
    md_find_row_terms(sim, md_row_at(sim, i), t);

    for (k = 0; k < t->count; k++) empty |= md_range_is_empty(lower[t->dof[k]], upper[t->dof[k]]);
    for (k = 0; k < t->count; k++) {
        const md_num lo = lower[t->dof[k]], hi = upper[t->dof[k]];
        if (!empty) md_narrow_term(sim, c, t, k);
        if (empty || md_range_is_empty(lower[t->dof[k]], upper[t->dof[k]])) {
            upper[t->dof[k]] = MD_K(-1e12);
            lower[t->dof[k]] = MD_K(1e12);
        }
        changed |= md_less(lo, lower[t->dof[k]]) | md_less(upper[t->dof[k]], hi);
    }
    return changed;
}

/* Finds the intervals that couplings leave all joints, if some have several leaders; otherwise
   returns 0. The order turns each time, for chains in either one; in a ring it may never end. */
MD_OWN_FRAME int md_find_intervals(mdyn_sim *sim)
{
    const int n = sim->couplings;
    int i, k, several = 0, changed = 1;
    for (i = 0; MIMICDYN_MAX_TERMS > 2 && i < n; i++) several |= sim->term_count[i] > 2;
    if (!several) return 0;

    for (k = 0; k < sim->dofs; k++) {
        const md_joint_values *b = md_values_of_dof(sim, k);
        const int limited = !md_wides_are_zero(&b->lower, 2);
        sim->reduced.factor[k] = limited ? md_of_wide(b->lower) : MD_K(-1e12);
        sim->reduced.size[k] = limited ? md_of_wide(b->upper) : MD_K(1e12);
    }
    for (k = 0; k < n && changed; k++)
        for (changed = i = 0; i < n; i++) changed |= md_narrow_terms(sim, k % 2 ? n - 1 - i : i);
    return 1;
}

/* Narrows [lower, upper] to the interval of DoF `dof`. What only differs in rounding stays: it has
   more digits. */
MD_OWN_FRAME void md_narrow_by_interval(const mdyn_sim *sim, int dof, md_num *lower, md_num *upper)
{
    const md_num rounding = MD_K(16 * MD_EPSILON), one = MD_K(1);
    const md_num lo = sim->reduced.factor[dof], hi = sim->reduced.size[dof];
    if (md_less(md_mul(rounding, md_add(one, md_abs(lo))), md_sub(lo, *lower))) *lower = lo;
    if (md_less(md_mul(rounding, md_add(one, md_abs(hi))), md_sub(*upper, hi))) *upper = hi;
}

/* Finds the range that the coordinates tied to DoF `dof` leave it; +-1e12 where it has no bound.
   Returns the last coupling that leaves it one position by its ratios alone, or -1.
   sim->y_force[k] := 1 for all DoFs that are tied to it and have no bound either. */
MD_OWN_FRAME int md_find_tied_range(mdyn_sim *sim, int dof, md_num *lower, md_num *upper)
{
    int i, k, locking = -1;
    md_tie_joints(sim, dof);

    /* limits of the tied joints, then couplings of tied joints alone */
    *upper = MD_K(1e12);
    *lower = md_neg(*upper);
    for (k = 0; k < sim->dofs; k++) md_narrow_by_limits(sim, k, lower, upper);
    for (i = 0; i < sim->couplings; i++)
        if (md_narrow_by_coupling(sim, i, lower, upper)) locking = i;

    /* curves last: within what is left */
    for (i = 0; i < sim->couplings; i++)
        if (md_coupling_is_curved(sim, i) && !md_less(*upper, *lower))
            md_narrow_by_curve(sim, i, dof, lower, upper);
    for (k = 0; k < sim->dofs; k++) {
        if (sim->mark[k] && locking < 0 && !md_less(*upper, MD_K(1e12))
            && !md_less(MD_K(-1e12), *lower)) sim->y_force[k] = MD_K(1);
        sim->mark[k] = 0;
    }
    return locking;
}

/* The range of the coordinate of DoF `dof`. */
MD_STATIC void md_find_joint_range(mdyn_sim *sim, int dof, md_num *lower, md_num *upper)
{
    (void)md_find_tied_range(sim, dof, lower, upper);
    if (md_find_intervals(sim)) md_narrow_by_interval(sim, dof, lower, upper);
}

/* Whether DoF `dof` is a leader: a term of a rigid coupling of two joints, and the first term of
   none. */
MD_STATIC int md_is_leader(mdyn_sim *sim, int dof)
{
    md_terms *t = &sim->terms;
    int i, leads = 0;
    for (i = 0; i < sim->couplings; i++) {
        if (!md_coupling_ties(sim, i, t)) continue;
        if (t->dof[0] == dof) return 0;
        if (t->dof[1] == dof) leads = 1;
    }
    return leads;
}

/* [lower, upper] is the range that limits and couplings leave the leader `dof`. If that is a single
   position, or less than half of its own range: the DoF of the follower whose limits narrow it
   most. Otherwise -1. */
MD_OWN_FRAME int md_find_narrowing_follower(mdyn_sim *sim, int dof, md_num lower, md_num upper)
{
    const md_num none = MD_K(1e12);
    const md_num width = md_sub(upper, lower);
    md_num own_lower = md_neg(none), own_upper = none, narrowest;
    md_num point = md_mul(MD_K(MD_CONSISTENCY_TOLERANCE), md_add(MD_K(1), md_abs(lower)));
    int k, follower = -1;
    if (!md_is_leader(sim, dof)) return -1;
    md_tie_joints(sim, dof);

    /* a leader without limits on both sides is narrowed to one position only */
    md_narrow_by_limits(sim, dof, &own_lower, &own_upper);
    narrowest = md_sub(own_upper, own_lower);
    if (md_less(narrowest, none)) point = md_mul(MD_K(0.499), narrowest);
    for (k = 0; k < sim->dofs && md_less(width, point); k++) {
        md_num lo = own_lower, hi = own_upper;
        if (k == dof || !md_narrow_by_limits(sim, k, &lo, &hi)) continue;
        if (!md_less(md_sub(hi, lo), narrowest)) continue;
        narrowest = md_sub(hi, lo);
        follower = k;
    }
    for (k = 0; k < sim->dofs; k++) sim->mark[k] = 0;
    return follower;
}

/* ---- the present state ---- */

/* q - x of a coordinate, with its tail. */
MD_STATIC md_num md_coordinate_minus(const mdyn_sim *sim, int c, mdyn_wide x)
{
    md_sum s;
    md_sum_set_real(&s, sim->q[c], sim->q_tail[c]);
    return md_sum_minus(&s, x);
}

/* Whether DoF k is outside its own limits by more than rounding, or, with `velocities`, at one of
   them and moving out. */
MD_STATIC int md_is_off_limits(const mdyn_sim *sim, int k, int velocities)
{
    const md_joint_values *b = md_values_of_dof(sim, k);
    const int c = md_coordinate_of_dof(sim, k);
    const md_num v = md_of_real(sim->v[k]);
    md_num below, above, slack;
    if (c < 0 || (md_wide_is_zero(b->lower) && md_wide_is_zero(b->upper))) return 0;

    /* q within the limits, to rounding */
    slack = md_mul(MD_K(MD_CONSISTENCY_TOLERANCE / 10),
                   md_add(MD_K(1), md_abs(md_of_real(sim->q[c]))));
    below = md_coordinate_minus(sim, c, b->lower);
    above = md_coordinate_minus(sim, c, b->upper);
    if ((md_has_lower(b->lower) && md_less(below, md_neg(slack)))
        || (md_has_upper(b->upper) && md_less(slack, above))) return 1;

    /* at a limit, v does not lead out of it */
    return velocities && ((md_less(below, slack) && md_less(v, md_neg(slack)))
        || (md_less(md_neg(slack), above) && md_less(slack, v)));
}

/* Whether coupling i is rigid and C outside its range by more than rounding. */
MD_STATIC int md_is_off_coupling(mdyn_sim *sim, int i)
{
    const mdyn_coupling *c = md_coupling_at(sim, i);
    md_num slack = md_add(MD_K(1), md_abs(md_of_wide(c->offset)));
    md_terms *t = &sim->terms;
    md_sum C;
    int k;
    if (!md_coupling_is_rigid(sim, c)) return 0;

    /* C, and the rounding of its terms */
    md_find_row_terms(sim, md_row_at(sim, i), t);
    md_sum_position(sim, md_row_at(sim, i), t, &C);
    for (k = 0; k < t->count; k++)
        slack = md_add(slack, md_abs(md_mul(t->factor[k],
            md_of_real(sim->q[md_coordinate_of_dof(sim, t->dof[k])]))));
    if (MD_HAS_CURVES) slack = md_add(slack, md_sum_bends(sim, i, MD_BEND_VALUE));
    slack = md_mul(MD_K(MD_CONSISTENCY_TOLERANCE / 10), slack);

    return (md_has_lower(c->lower) && md_less(md_sum_minus(&C, c->lower), md_neg(slack)))
        || (md_has_upper(c->upper) && md_less(slack, md_sum_minus(&C, c->upper)));
}

/* MDYN_WARN_START for the first joint outside its limits, otherwise MDYN_WARN_OFF_COUPLING for the
   first rigid coupling that does not hold, otherwise MDYN_OK. */
MD_OWN_FRAME int md_warn_pose(mdyn_sim *sim, int velocities)
{
    int k;
    for (k = 0; k < sim->dofs; k++)
        if (md_is_off_limits(sim, k, velocities))
            return md_blame(sim, MDYN_WARN_START, md_body_of(sim, k));
    for (k = 0; k < sim->couplings; k++)
        if (md_is_off_coupling(sim, k)) return md_blame(sim, MDYN_WARN_OFF_COUPLING, k);
    return MDYN_OK;
}

/* =============================================================================== // >>build
   Builds the sim from a model; later replaces a coupling, a body, the time step or the settings.

   Given:  a model that >>check has accepted; later, the numbers of a setter that it has accepted.
   Gives:  links and DoFs of the tree, the list of constraint rows, their plan (>>plan), and the
           warnings of mdyn_init. A sim is ready when all of this has succeeded.
   Writes:  at init every byte of the sim; on replacement `coupling`, `term_count`, `released`, the
           plan and the workspaces of the solve. An error on replacement restores the old coupling.

   A step reads the sim's own copy of every number: links, joint values, couplings, gravity, dt and
   solver settings. The tables are read at init; in each step only those of closures and user rows;
   and by mdyn_verify, which compares them with their sums at init. A setter changes the copy, and
   plans the rows anew only if a row begins or ends, or changes its rank or its boundedness.

   Order of mdyn_init (md_build_sim), after >>check has accepted the tables:
      1. every byte of the sim is 0, then counts, pointers, settings and the sum of the tables
      2. links with internal frames, couplings, the list of rows on joint velocities
      3. kinematics at q = 0; ancestors of each DoF, which are the non-zeros of M
      4. how many springs act on each tree, weights theta of the joints' damping
      5. M is positive definite with the numbers at hand, or MDYN_ERR_MASSLESS
      6. which couplings are eliminated; plan of the rows: order, non-zeros, dependent equality rows
      7. warnings: dependent and inconsistent couplings, empty, locked and frozen ranges
      8. the start pose, checked like any state, and its warnings
   The ready mark is written last: a sim that failed at any of these is refused by every call.

   Inside, the axis of each joint is x, y or z of its frame. With Q_i the rotation from this
   internal frame to the body's frame of the table (md_joint_frame) and p the parent:
      R = Q_p^T R_table Q_i        position = Q_p^T position_table
      c = Q_i^T com                I_o = Q_i^T I_com Q_i + m (|c|^2 1 - c c^T)
   The non-zeros of row k of L, and of M, are k and its ancestors on the way to the world.
   Source: Featherstone 2008, chapter 4 (models of trees), section 6.5 (sparsity of M). */

/* ---- sums of the tables ---- */

/* A checksum of a body's table in one byte; every single changed bit changes it. */
MD_STATIC uint8_t md_sum_body(const mdyn_body *b)
{
    const unsigned char *p = (const unsigned char *)b;
    unsigned sum = 0;
    size_t k;
    for (k = 0; k < sizeof *b; k++) sum = (((sum << 1) | (sum >> 7)) & 255u) ^ p[k];
    return (uint8_t)sum;
}

/* The sum of the model and of all its tables, whose bytes must not change while the sim is used. */
MD_STATIC uint32_t md_sum_tables(const mdyn_sim *sim)
{
    const mdyn_model *m = sim->model;
    uint32_t sum = md_sum_bytes(m, sizeof *m, 0);
    sum += md_sum_bytes(sim->body_table, (size_t)sim->bodies * sizeof *m->bodies, 1000);
    sum += md_sum_bytes(sim->coupling_table, (size_t)sim->couplings * sizeof *m->couplings, 2000);

    /* tables that this build has: of closures and user rows, of curves with their knots */
    if (MD_HAS_CLOSURES) {
        const md_body_rows *rows = MD_BODY_ROWS(sim);
        sum += md_sum_bytes(rows->closure_table, (size_t)rows->closures * sizeof *m->closures,
                            3000);
        if (rows->user_row_table)
            sum += md_sum_bytes(rows->user_row_table,
                                (size_t)rows->user_rows * sizeof *m->user_rows, 4000);
    }
    if (MD_HAS_CURVES && MD_CURVES(sim)->count > 0) {
        const md_curves *curves = MD_CURVES(sim);
        int k;
        sum += md_sum_bytes(curves->table, (size_t)curves->count * sizeof *m->curves, 5000);
        for (k = 0; k < curves->count; k++) {
            const mdyn_curve *c = &curves->table[k];
            if (c->kind != MDYN_CURVE_SPLINE || !c->knots) continue;
            sum += md_sum_bytes(c->knots, (size_t)c->knot_count * sizeof *c->knots, 6000);
        }
    }
    return sum;
}

/* The part of constants_sum that is of curves: the members of md_curves before `bend`. */
MD_STATIC uint32_t md_sum_curve_constants(const mdyn_sim *sim)
{
    return !MD_HAS_CURVES ? 0
        : md_sum_part(sim, MD_CURVES(sim), offsetof(md_curves, bend));
}

/* The sum of the constants: the members of mdyn_sim from `bodies` to has_coupled_bounds, from
   `model` to `term_count`, and of curves. */
MD_OWN_FRAME uint32_t md_sum_constants(const mdyn_sim *sim)
{
    return md_sum_part(sim, &sim->bodies, offsetof(mdyn_sim, rows) - offsetof(mdyn_sim, bodies))
        + md_sum_part(sim, (const char *)sim + offsetof(mdyn_sim, model),
                      offsetof(mdyn_sim, ready_mark) - offsetof(mdyn_sim, model))
        + md_sum_curve_constants(sim);
}

/* ---- bodies ---- */

/* The parent and the frame of a link of the table's: on a welded body they become those on the
   moving body, or the world, that it is welded to. */
MD_STATIC void md_move_off_welded(const mdyn_sim *sim, md_link *link)
{
    md_body_part *l = MD_BODY(link);
    const md_link *on = &sim->link[l->body_parent < 0 ? 0 : l->body_parent];
    md_mat R = l->rotation;
    md_vec p;
    link->parent = l->body_parent;
    if (link->parent < 0 || !md_is_welded(on)) return;
    link->parent = on->parent;
    md_mat_vec(&p, &MD_BODY(on)->rotation, &l->position);
    md_vec_add(&l->position, &MD_BODY(on)->position, &p);
    md_mat_mul(&l->rotation, &MD_BODY(on)->rotation, &R);
    l->rotation_is_identity = (uint8_t)md_mat_is_identity(&l->rotation);
}

/* Frame, mass, first moment and inertia of a link in its internal frame, of the body's table. */
MD_STATIC void md_build_link_frame(const mdyn_sim *sim, md_link *link, const mdyn_body *b)
{
    md_body_part *l = MD_BODY(link);
    md_mat Q, P, t, R;
    md_vec com, position;
    md_sym inertia;
    md_num x[6];
    int k;

    /* From the parent's internal frame: position P^T p, rotation P^T R Q */
    l->axis = (uint8_t)md_axis_frame(b, &Q);
    l->is_oblique = (uint8_t)!md_mat_is_identity(&Q);
    md_joint_frame(sim, b->parent, &P);
    md_mat_transpose(&P, &P);
    md_vec_of_wide(&position, &b->position);
    md_mat_vec(&l->position, &P, &position);
    for (k = 0; k < 4; k++) x[k] = md_of_wide((&b->rotation.w)[k]);
    if (md_wides_are_zero(&b->rotation.w, 4)) x[0] = MD_K(1);
    md_mat_of_quaternion(&R, x[0], x[1], x[2], x[3]);
    md_mat_mul(&t, &P, &R);
    md_mat_mul(&l->rotation, &t, &Q);
    l->rotation_is_identity = (uint8_t)md_mat_is_identity(&l->rotation);
    l->body_parent = b->parent;
    md_move_off_welded(sim, link);

    /* Center of mass Q^T c, first moment m c, inertia Q^T I Q about the center of mass */
    md_mat_transpose(&Q, &Q);
    l->mass = md_of_wide(b->mass);
    md_vec_of_wide(&com, &b->com);
    md_mat_vec(&com, &Q, &com);
    md_vec_scale(&l->first_moment, l->mass, &com);
    for (k = 0; k < 6; k++) x[k] = md_of_wide((&b->inertia.xx)[k]);
    md_sym_set(&inertia, x);
    md_sym_rotate(&l->inertia, &Q, &inertia);

    /* ... and about the origin, by the parallel axis theorem */
    md_sym_add_shift(&l->inertia, &com, &l->first_moment);

    k = md_next_axis[l->axis];
    l->is_rotor = (uint8_t)(b->joint == MDYN_REVOLUTE && b->parent < 0 && !l->carries
        && md_is_zero(md_vec_get(&com, k)) && md_is_zero(md_vec_get(&com, md_next_axis[k])));
}

/* md_dof.pitch: of a helical joint its pitch; of a free joint the inertia about the mass center. */
MD_STATIC void md_build_pitch(mdyn_sim *sim, const md_link *link, const mdyn_body *b)
{
    int k;
    for (k = 0; k < link->dofs; k++)
        MD_COLUMN(&sim->dof[link->dof + k])->pitch
            = md_of_wide(link->joint == MDYN_FREE ? (&b->inertia.xx)[k] : b->pitch);
}

/* The same of a free joint whose body has others welded to it: of all of them. */
MD_STATIC void md_weld_pitch(mdyn_sim *sim, const md_link *link)
{
    const md_body_part *l = MD_BODY(link);
    md_sym inertia = l->inertia;
    md_num x[6];
    md_vec com, minus;
    int k;
    if (MIMICDYN_MAX_DOFS < 6 || link->joint != MDYN_FREE || md_is_zero(l->mass)) return;
    md_vec_scale(&com, md_div(MD_K(1), l->mass), &l->first_moment);
    md_vec_scale(&minus, MD_K(-1), &l->first_moment);
    md_sym_add_shift(&inertia, &com, &minus);
    md_sym_get(x, &inertia);
    for (k = 0; k < link->dofs; k++) MD_COLUMN(&sim->dof[link->dof + k])->pitch = x[k];
}

/* ---- welded bodies ---- */

/* Body i takes up the masses of those welded to it; each of these then has what i was by itself.
   O(b) */
MD_STATIC void md_weld(mdyn_sim *sim, int i)
{
    md_link *link = &sim->link[i];
    md_body_part *l = MD_BODY(link);
    md_composite alone, all;
    int j, any = 0;
    alone.mass = l->mass;
    alone.first_moment = l->first_moment;
    alone.second_moment = l->inertia;
    all = alone;

    /* a part, turned into the axes of i */
    for (j = i + 1; j < sim->bodies; j++) {
        const md_body_part *on = MD_BODY(&sim->link[j]);
        md_composite part;
        if (sim->link[j].parent != i || !md_is_welded(&sim->link[j])) continue;
        MD_TREE(sim)->subtree[j].composite = alone;
        part.mass = on->mass;
        md_mat_vec(&part.first_moment, &on->rotation, &on->first_moment);
        md_sym_rotate(&part.second_moment, &on->rotation, &on->inertia);
        md_composite_add_shifted(&all, &part, &on->position);
        any = 1;
    }

    l->mass = all.mass;
    l->first_moment = all.first_moment;
    l->inertia = all.second_moment;
    if (any) md_weld_pitch(sim, link);
}

/* *link = link i as md_build_link_frame leaves it: its mass without those of the bodies welded to
   it. Returns whether there are any. O(b) */
MD_STATIC int md_link_alone(const mdyn_sim *sim, int i, md_link *link)
{
    int j;
    *link = sim->link[i];
    for (j = i + 1; MIMICDYN_TREE && j < sim->bodies && !md_is_welded(link); j++) {
        const md_composite *alone = &MD_TREE(sim)->subtree[j].composite;
        if (sim->link[j].parent != i || !md_is_welded(&sim->link[j])) continue;
        MD_BODY(link)->mass = alone->mass;
        MD_BODY(link)->first_moment = alone->first_moment;
        MD_BODY(link)->inertia = alone->second_moment;
        return 1;
    }
    return 0;
}

/* Puts *link, as md_build_link_frame leaves it, in the place of link i. */
MD_STATIC void md_exchange_link(mdyn_sim *sim, int i, const md_link *link)
{
    const int on = sim->link[i].parent;
    md_link alone;
    if (md_is_welded(link) && on >= 0) (void)md_link_alone(sim, on, &alone);
    sim->link[i] = *link;
    if (!MIMICDYN_TREE) return;
    if (!md_is_welded(link)) {
        md_weld(sim, i);
    } else if (on >= 0) {
        sim->link[on] = alone;
        md_weld(sim, on);
    }
}

/* The numbers of a joint: the same fields of both, in the same order. */
MD_STATIC void md_copy_values(md_joint_values *to, const mdyn_body *b)
{
    const mdyn_wide *from = &b->armature;
    int k;
    for (k = 0; k < 8; k++) (&to->armature)[k] = from[k];
}

/* The kind of the k-th column of a joint. Spherical: three angular DoFs. Free: three angular, then
   three linear ones. */
MD_STATIC uint8_t md_dof_kind(mdyn_joint joint, int k)
{
    return (uint8_t)(joint == MDYN_PRISMATIC || k >= 3 ? MD_LINEAR
        : joint == MDYN_HELICAL ? MD_HELICAL : MD_ANGULAR);
}

/* is_single and is_alone of link i, and what it takes from its parent: another joint moves in that
   tree, a rotor carries nothing. */
MD_STATIC void md_build_place(mdyn_sim *sim, int i)
{
    md_link *link = &sim->link[i];
    md_body_part *l = MD_BODY(link), *on = MD_BODY(&sim->link[link->parent < 0 ? i : link->parent]);
    l->is_single = (uint8_t)(link->dofs >= 3 && link->parent < 0);
    l->is_alone = link->parent < 0;
    if (link->parent < 0) return;
    if (!md_is_welded(link)) on->is_single = on->is_alone = 0;
    on->carries = 1;
    on->is_rotor = 0;
}

/* Link i with its DoFs, coordinates and frame. */
MD_STATIC void md_build_link(mdyn_sim *sim, int i)
{
    const mdyn_body *b = &sim->body_table[i];
    md_link *link = &sim->link[i];
    int k;

    /* Its DoFs and coordinates begin where those of the links before it end */
    link->parent = b->parent;
    link->joint = (uint8_t)b->joint;
    link->dofs = (uint8_t)md_joint_dofs(b->joint);
    link->dof = sim->dofs;
    link->coordinate = sim->coordinates;
    link->table_sum = md_sum_body(b);
    md_copy_values(&sim->joint_values[i], b);
    sim->dofs = (int16_t)(sim->dofs + link->dofs);
    sim->coordinates = (int16_t)(sim->coordinates + md_joint_coordinates(b->joint));

    for (k = link->dof; k < sim->dofs; k++) {
        sim->dof[k].body = (int16_t)i;
        sim->dof[k].coordinate = (int16_t)(link->dofs == 1 ? link->coordinate : -1);
        sim->dof[k].kind = md_dof_kind(b->joint, k - link->dof);
    }
    if (MIMICDYN_TREE) {
        md_build_link_frame(sim, link, b);
        md_build_pitch(sim, link, b);
        md_build_place(sim, i);
    }
    k = md_quaternion_index(link);
    if (k >= 0) sim->q[k] = MDYN_R(1);
}

/* The parent of each DoF, and where the rows of M begin. The parent is
   the DoF before it in its own joint, or the last DoF of the parent.
   Error MDYN_ERR_CAPACITY_ENTRIES. O(n d) */
MD_OWN_FRAME int md_build_ancestors(mdyn_sim *sim)
{
    int i, j, k, n = 0;
    for (k = 0; k < sim->dofs; k++) {
        i = md_body_of(sim, k);
        j = sim->link[i].parent;
        sim->dof_parent[k] = (int16_t)(k > md_dof_of(sim, i) ? k - 1
            : j < 0 ? -1 : md_dof_of(sim, j) + sim->link[j].dofs - 1);

        /* Row k of M: the diagonal element first, then the ancestors */
        sim->M_first[k] = (int16_t)n;
        for (j = k; j >= 0; j = md_parent_dof(sim, j)) n++;
        if (n > MIMICDYN_MAX_ENTRIES) return md_blame(sim, MDYN_ERR_CAPACITY_ENTRIES, -1);
    }
    sim->M_first[k] = (int16_t)n;
    return MDYN_OK;
}

/* theta in the damping force -D (theta v' + (1 - theta) v): near 1/2 for weak damping, which is
   then of second order; near 1 for strong damping, which then does not oscillate. By M_kk in the
   present pose, at init that of q = 0. */
MD_OWN_FRAME void md_set_damping_weights(mdyn_sim *sim)
{
    int k;
    md_crba(sim, MD_K(0));
    for (k = 0; k < sim->dofs; k++) {
        md_num D = md_of_wide(md_values_of_dof(sim, k)->damping), M, y;
        sim->damping_theta[k] = MD_K(1);
        M = sim->mass[sim->M_first[k]];
        if (!md_uses_midpoint(sim) || md_is_zero(D) || !md_less(MD_K(0), M)) continue;
        /* theta = (3 + y/M)/(6 + y/M) */
        y = md_mul(sim->dt, D);
        sim->damping_theta[k] = md_div(md_add(md_mul(MD_K(3), M), y),
                                       md_add(md_mul(MD_K(6), M), y));
    }
}

/* md_plan; MDYN_ERR_MASSLESS names the body of a DoF without inertia. */
MD_OWN_FRAME int md_plan_with_masses(mdyn_sim *sim)
{
    const int code = md_plan(sim);
    if (code != MDYN_ERR_SINGULAR) return code;
    return md_blame(sim, MDYN_ERR_MASSLESS, md_body_of(sim, sim->culprit.index));
}

/* ---- constraint rows ---- */

/* Finds whether the impulse of any coupling bounds another row, and whether any hard one has a
   target velocity. */
MD_STATIC void md_look_at_couplings(mdyn_sim *sim)
{
    int k;
    sim->has_target_velocity = sim->has_coupled_bounds = 0;
    for (k = 0; (MIMICDYN_WARM || MIMICDYN_LOSSES) && k < sim->couplings; k++) {
        const mdyn_coupling *c = md_coupling_at(sim, k);
        if (md_has_efficiency(c) || md_has_mu(c)) sim->has_coupled_bounds = 1;
        if (md_softness_is_hard(&c->softness) && (!md_wide_is_zero(c->target_velocity)
            || (c->level == MDYN_VELOCITY
                && !(md_wide_is_zero(c->lower) && md_wide_is_zero(c->upper)))))
            sim->has_target_velocity = 1;
    }
}

/* Coupling i becomes *c, with what concerns all couplings. */
MD_STATIC void md_store_coupling(mdyn_sim *sim, int i, const mdyn_coupling *c)
{
    int k;
    md_drop_factor(sim);
    sim->coupling[i] = *c;
    sim->term_count[i] = 0;
    for (k = 0; k < MIMICDYN_MAX_TERMS; k++)
        if (!md_wide_is_zero(c->terms[k].coefficient)) sim->term_count[i]++;
    md_lay_out_curves(sim);
    md_look_at_couplings(sim);
}

/* Appends a row to the list. */
MD_STATIC void md_add_row(mdyn_sim *sim, int kind, int index)
{
    sim->row[sim->rows].kind = (uint8_t)kind;
    sim->row[sim->rows++].index = (int16_t)index;
}

/* Whether body b asks for a row of this kind at each of its DoFs. */
MD_STATIC int md_body_has_row(const md_joint_values *b, int kind)
{
    if (kind == MDYN_ROW_DRIVE)
        return !(md_wide_is_zero(b->drive_kp) && md_wide_is_zero(b->drive_kd));
    if (kind == MDYN_ROW_FRICTION) return !md_wide_is_zero(b->friction);
    return !(md_wide_is_zero(b->lower) && md_wide_is_zero(b->upper));
}

/* The rows of joint velocities in the order of mdyn_row_kind. A coupling's row has the coupling's
   index; drives, dry friction and limits have a row per DoF. Counts the drives. */
MD_STATIC void md_build_rows(mdyn_sim *sim)
{
    int kind, k;
    for (k = 0; k < sim->couplings; k++) {
        md_row_at(sim, k)->kind = MDYN_ROW_COUPLING;
        md_row_at(sim, k)->index = (int16_t)k;
    }
    for (k = 0; k < sim->couplings; k++)
        if (md_has_efficiency(md_coupling_at(sim, k))) md_add_row(sim, MDYN_ROW_LOSS, k);

    for (kind = MDYN_ROW_DRIVE; kind <= MDYN_ROW_LIMIT; kind++)
        for (k = 0; k < sim->dofs; k++) {
            if (!md_body_has_row(md_values_of_dof(sim, k), kind)) continue;
            if (kind == MDYN_ROW_DRIVE) sim->drives++;
            md_add_row(sim, kind, k);
        }
}

/* Merges the group of DoF `from` into that of DoF `to`. */
MD_STATIC void md_tie_dofs(mdyn_sim *sim, int from, int to)
{
    const int16_t old = sim->springs[from];
    int k;
    for (k = 0; k < sim->dofs; k++)
        if (sim->springs[k] == old) sim->springs[k] = sim->springs[to];
}

/* The first DoF of the nearest joint that moves a body; -1: none does. */
MD_STATIC int md_carrying_dof(const mdyn_sim *sim, int body)
{
    for (; body >= 0 && body < sim->bodies; body = sim->link[body].parent)
        if (sim->link[body].dofs) return md_dof_of(sim, body);
    return -1;
}

/* sim->springs: how many soft rows act on the tree of each DoF and on all trees that rows connect
   to it. */
MD_OWN_FRAME void md_count_springs(mdyn_sim *sim)
{
    md_terms *t = &sim->terms;
    int i, k, extra = 0;
    for (k = 0; k < sim->dofs; k++) {
        sim->springs[k] = md_parent_dof(sim, k) < 0 ? (int16_t)k
                                                    : sim->springs[md_parent_dof(sim, k)];
        sim->dv[k] = MD_K(0);
    }

    /* one group for each set of trees that rows connect */
    for (i = 0; i < sim->couplings; i++) {
        md_find_row_terms(sim, md_row_at(sim, i), t);
        for (k = 1; k < t->count; k++) md_tie_dofs(sim, t->dof[k], t->dof[0]);
    }
    for (i = 0; MD_HAS_CLOSURES && i < MD_BODY_ROWS(sim)->closures; i++) {
        const mdyn_closure *c = &MD_BODY_ROWS(sim)->closure_table[i];
        const int a = md_carrying_dof(sim, c->a), b = md_carrying_dof(sim, c->b);
        if (a >= 0 && b >= 0) md_tie_dofs(sim, a, b);
        extra += !md_softness_is_hard(&c->softness) * md_closure_row_count(c->kind);
    }
    /* user rows may act on any tree */
    if (MD_HAS_CLOSURES && MD_BODY_ROWS(sim)->user_rows > 0) {
        for (k = 1; k < sim->dofs; k++) md_tie_dofs(sim, k, 0);
        extra += MD_BODY_ROWS(sim)->user_rows;
    }

    /* soft couplings and drives of each group */
    for (i = 0; i < sim->joint_row_count; i++) {
        const md_row *row = md_row_at(sim, i);
        if (row->kind != MDYN_ROW_DRIVE && (row->kind != MDYN_ROW_COUPLING
            || md_softness_is_hard(&md_coupling_at(sim, row->index)->softness))) continue;
        md_find_row_terms(sim, row, t);
        k = sim->springs[t->dof[0]];
        sim->dv[k] = md_add(sim->dv[k], MD_K(1));
    }
    for (k = 0; k < sim->dofs; k++)

        sim->springs[k] = (int16_t)(extra + md_to_int(sim->dv[sim->springs[k]]));
}

/* The rows of closures and user rows, behind those of joint velocities. Rows of contacts come and
   go with each step, behind all of these. */
MD_OWN_FRAME void md_build_body_rows(mdyn_sim *sim)
{
    md_body_rows *rows = MD_BODY_ROWS(sim);
    int i, k;
    if (!MD_HAS_BODY_ROWS) return;
    for (i = 0; MD_HAS_CLOSURES && i < rows->closures; i++)
        for (k = 0; k < md_closure_row_count(rows->closure_table[i].kind); k++)
            md_add_row(sim, MDYN_ROW_CLOSURE, 6 * i + k);
    for (i = 0; MD_HAS_CLOSURES && i < rows->user_rows; i++) md_add_row(sim, MDYN_ROW_USER, i);
    rows->lasting_row_count = sim->rows;
}

/* ---- warnings ---- */

/* The first of these warnings that holds for a joint of one coordinate, or MDYN_OK:
      MDYN_WARN_EMPTY_RANGE    limits and couplings leave no position (index: body)
      MDYN_WARN_LOCKED         the ratios of couplings leave one position (index: coupling); not of
                               a coupling of one joint, which is there to hold it
      MDYN_WARN_FROZEN_RANGE   limits of followers leave a leader less than half of its own range,
                               or one position (index: body of the follower that narrows it most)
   Example: a leader of 0 to 0.8 rad whose follower has ratio -1 and limits of 0 to 0.8 rad can only
   stand at 0. Public robot descriptions contain such limits. The mechanism then does not move, as
   its tables say, though their author meant otherwise. */
MD_OWN_FRAME int md_warn_ranges(mdyn_sim *sim)
{
    md_num lower, upper, left[2];
    int k, locking, follower, lock = -1, frozen = -1;
    const int several = md_find_intervals(sim);
    for (k = 0; k < sim->dofs; k++) sim->y_force[k] = MD_K(0);
    for (k = 0; k < sim->dofs; k++) {
        if (md_joint_coordinates((mdyn_joint)sim->link[md_body_of(sim, k)].joint) != 1) continue;
        /* tied to one without bounds */
        if (!md_is_zero(sim->y_force[k])) continue;
        locking = md_find_tied_range(sim, k, &lower, &upper);
        left[0] = lower;
        left[1] = upper;
        if (several) md_narrow_by_interval(sim, k, &left[0], &left[1]);
        if (md_range_is_empty(left[0], left[1]))
            return md_blame(sim, MDYN_WARN_EMPTY_RANGE, md_body_of(sim, k));

        /* the first of each kind, for the warning that comes first */
        if (lock < 0 && locking >= 0 && sim->term_count[locking] > 1) lock = locking;
        if (locking >= 0 || frozen >= 0) continue;
        follower = md_find_narrowing_follower(sim, k, lower, upper);
        if (follower >= 0) frozen = md_body_of(sim, follower);
    }

    if (lock >= 0) return md_blame(sim, MDYN_WARN_LOCKED, lock);
    return frozen >= 0 ? md_blame(sim, MDYN_WARN_FROZEN_RANGE, frozen) : MDYN_OK;
}

/* The first coupling that is a row and nearly depends on eliminated ones: these leave less than
   2.5e5 roundings of it (R_kk^2 over G, against the sum of c^2/M_kk of its joints). Otherwise -1.
   The forces of both have so many digits fewer than the motion. After md_solve_constraints. */
MD_OWN_FRAME int md_find_nearly_redundant(mdyn_sim *sim)
{
    int j, k;
    for (k = 0; k < md_equality_count(sim) && md_tie_count(sim) > 0; k++) {
        const md_row *row = md_active_row(sim, k);
        md_num whole = MD_K(0), rest = row->inverse_rest;
        if (row->kind != MDYN_ROW_COUPLING || !row->in_equality) continue;

        md_find_row_terms(sim, row, &sim->terms);
        for (j = 0; j < sim->terms.count; j++)
            whole = md_add(whole, md_term_weight(sim, &sim->terms, j));

        /* 1/R_kk^2 in the coupling's own unit, times the whole */
        rest = md_mul(rest, row->scale);
        if (md_less(MD_K(1), md_mul(md_mul(MD_K(250000 * MD_EPSILON), whole), md_mul(rest, rest))))
            return row->index;
    }
    return -1;
}

/* The gravest of `gravest` and the warnings that the last solve has found of couplings; *index: the
   first coupling of it. Couplings are the first rows: a row's number is that of its coupling. */
MD_OWN_FRAME int md_find_graver(const mdyn_sim *sim, int gravest, int *index)
{
    int k;
    for (k = 0; k < md_equality_count(sim); k++) {
        int flags = md_is_body_row(md_active_row(sim, k)) ? 0 : md_active_row(sim, k)->flags;
        int found = flags & MDYN_ROW_CONTRADICTORY ? MDYN_WARN_CONTRADICTION
            : flags & MDYN_ROW_REDUNDANT ? MDYN_WARN_REDUNDANT : MDYN_OK;
        if (found <= gravest) continue;
        gravest = found;
        *index = sim->active[k];
    }
    return gravest;
}

/* Solves the equality couplings at the present state without force, for positions and for
   velocities. Returns the first that applies of
      MDYN_WARN_CONTRADICTION  a coupling depends on earlier ones and differs from them
      the warnings of md_warn_ranges
      MDYN_WARN_REDUNDANT      a coupling depends on earlier ones and agrees with them
      MDYN_WARN_NEARLY_REDUNDANT  a coupling nearly depends on the eliminated ones
   (index: coupling), as a contradiction also empties ranges. Errors are those of the solve.
   Writes the workspaces of the solve. O(r^2 + r n + n c^2) for c couplings. */
MD_OWN_FRAME int md_warn_couplings(mdyn_sim *sim)
{
    int k, mode, code, gravest = MDYN_OK, index = -1;
    if (!MIMICDYN_WARNINGS) return md_blame(sim, MDYN_OK, -1);

    for (mode = MD_MODE_POSITION; mode <= MD_MODE_VELOCITY; mode++) {
        for (k = 0; k < sim->dofs; k++) sim->joint_force[k] = MD_K(0);
        code = md_solve_constraints(sim, (enum md_mode)mode);
        if (code != MDYN_OK) return code;
        gravest = md_find_graver(sim, gravest, &index);
    }

    code = gravest == MDYN_WARN_CONTRADICTION ? MDYN_OK : md_warn_ranges(sim);
    if (code == MDYN_OK && gravest == MDYN_OK) {
        index = md_find_nearly_redundant(sim);
        if (index >= 0) gravest = MDYN_WARN_NEARLY_REDUNDANT;
    }
    return code != MDYN_OK ? code : md_blame(sim, gravest, index);
}

/* ---- the whole sim ---- */

/* dt, the substep h = dt/substeps, and their reciprocals. */
MD_STATIC void md_set_time_step(mdyn_sim *sim)
{
    sim->dt = md_of_wide(sim->dt_wide);
    sim->inverse_dt = md_div(MD_K(1), sim->dt);
    sim->h = sim->dt;
    if (md_substeps(sim) > 1) sim->h = md_div(sim->dt, md_of_int(md_substeps(sim)));
    sim->half_dt = md_wide_half(sim->dt_wide);
    sim->inverse_h = md_div(MD_K(1), sim->h);
}

/* The settings of the solver. */
MD_STATIC void md_take_settings(mdyn_sim *sim, const mdyn_solver *s)
{
    md_settings *to = &sim->solver;
    md_drop_factor(sim);
    to->method = (uint8_t)s->method;
    to->equality = (uint8_t)s->equality;
    to->start = (uint8_t)s->start;
    to->correction = (uint8_t)s->correction;
    to->limits = (uint8_t)s->limits;
    to->friction_law = (uint8_t)s->friction_law;
    to->scheme = (uint8_t)s->scheme;
    to->corrections = (uint8_t)s->corrections;

    /* numbers; those above are enums of a byte each */
    to->iterations = s->iterations;
    to->substeps = s->substeps;
    to->relaxation = s->relaxation;
    to->tolerance = s->tolerance;
    to->accuracy = s->accuracy;
    to->deadband = s->deadband;
}

/* Where the model and its tables stand. */
MD_STATIC void md_point_to_tables(mdyn_sim *sim, const mdyn_model *model)
{
    sim->model = model;
    sim->body_table = model->bodies;
    sim->coupling_table = model->couplings;

    /* tables that this build has */
    if (MD_HAS_BODY_ROWS) {
        MD_BODY_ROWS(sim)->closure_table = model->closures;
        MD_BODY_ROWS(sim)->user_row_table = model->user_rows;
        MD_BODY_ROWS(sim)->row_function = model->row_function;
        MD_BODY_ROWS(sim)->user_data = model->user_data;
    }
    if (MD_HAS_CURVES) {
        MD_CURVES(sim)->table = model->curves;
        MD_CURVES(sim)->count = (int16_t)model->curve_count;
    }
}

/* Copies what steps use of the model: counts, gravity, dt, settings; notes where the tables stand,
   and the sums by which mdyn_verify sees that they were edited. */
MD_STATIC void md_take_tables(mdyn_sim *sim, const mdyn_model *model)
{
    md_point_to_tables(sim, model);
    sim->bodies = (int16_t)model->body_count;
    sim->couplings = sim->rows = (int16_t)model->coupling_count;
    if (MD_HAS_BODY_ROWS) {
        MD_BODY_ROWS(sim)->closures = (int16_t)model->closure_count;
        MD_BODY_ROWS(sim)->user_rows = (int16_t)model->user_row_count;
    }

    /* the values; the sums are of the tables as they were at init */
    sim->gravity = model->gravity;
    sim->dt_wide = model->dt;
    md_take_settings(sim, &model->solver);
    sim->table_sum = md_sum_tables(sim);
}

/* Links, couplings and rows on joints of a checked model, and the rows of joint velocities.
   Returns MDYN_OK or an error of a coupling. */
MD_OWN_FRAME int md_build_parts(mdyn_sim *sim, const mdyn_model *model)
{
    int i, code;
    size_t k;
    for (k = 0; k < sizeof *sim; k++) ((unsigned char *)sim)[k] = 0;
    md_take_tables(sim, model);
    md_set_time_step(sim);
    for (i = 0; i < sim->bodies; i++) md_build_link(sim, i);
    for (i = 0; i < sim->bodies; i++)
        if (MIMICDYN_TREE && !md_is_welded(&sim->link[i])) md_weld(sim, i);
    for (i = 0; i < sim->couplings; i++) {
        code = md_check_coupling(sim, &model->couplings[i], i);
        if (code == MDYN_OK) code = md_check_curves(sim, &model->couplings[i], i);
        if (code != MDYN_OK) return md_blame(sim, code, i);
        md_store_coupling(sim, i, &model->couplings[i]);
    }
    md_build_rows(sim);
    sim->joint_row_count = sim->rows;
    return MDYN_OK;
}

/* A ready sim of a checked model, at its start pose, or at coordinates 0 (quaternions 1), and at
   velocities 0. Returns a warning of md_warn_couplings or md_warn_pose, or an error that leaves the
   sim not ready. */
MD_STATIC int md_build_sim(mdyn_sim *sim, const mdyn_model *model)
{
    int i, code = md_build_parts(sim, model);
    if (code != MDYN_OK) return code;

    /* The plan finds dependent rows by their numbers: it takes M and J at this state */
    md_update_kinematics(sim);
    code = md_build_ancestors(sim);
    if (code == MDYN_OK) code = md_update_curves(sim);
    if (code == MDYN_OK) md_count_springs(sim);
    if (code == MDYN_OK) md_set_damping_weights(sim);
    if (code == MDYN_OK) code = md_plan_with_masses(sim);
    if (code == MDYN_OK) code = md_warn_couplings(sim);
    if (code < 0) return code;

    /* Rows on bodies are planned in each step. No row has taken part in step 1: last_step is 0 */
    md_build_body_rows(sim);
    sim->step_count = 1;
    md_copy(sim->q_seen, sim->q, sim->coordinates);
    sim->constants_sum = md_sum_constants(sim);
    if (model->start) md_copy(sim->q, model->start, sim->coordinates);
    i = md_check_state(sim);
    if (i != MDYN_OK) return i;
    i = md_update_curves(sim);
    if (i != MDYN_OK) return i;
    if (MIMICDYN_WARNINGS && code == MDYN_OK) code = md_warn_pose(sim, 0);
    sim->ready_mark = MD_READY;
    return code;
}

/* ---- replacing a coupling ---- */

#define MD_REPLACED UINT32_MAX /* last_step of a coupling whose terms were replaced since then */

/* Whether the plan remains valid with *c in the place of coupling i. It does if both have the same
   joints and the same rank of set-up, and are both bounded or both unbounded. A hard unbounded
   coupling must keep its ratios too: with others its row could depend on earlier rows. O(c) */
MD_STATIC int md_plan_fits_coupling(mdyn_sim *sim, int i, const mdyn_coupling *c)
{
    const mdyn_coupling *old = md_coupling_at(sim, i);
    mdyn_coupling before = *old;
    int k, rank = md_setup_rank(sim, md_row_at(sim, i)), fits, unbounded, eliminable;

    /* Joints, ratios, and the coupling that bounds this one */
    if (md_has_mu(old) != md_has_mu(c) || (MIMICDYN_LOSSES && old->mu_of != c->mu_of)) return 0;
    for (k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        const mdyn_term *a = &old->terms[k], *b = &c->terms[k];
        if (md_wide_is_zero(a->coefficient) != md_wide_is_zero(b->coefficient)) return 0;
        if (!md_wide_is_zero(a->coefficient)
            && (a->body != b->body || a->axis != b->axis || a->curve != b->curve)) return 0;
        if ((rank < MD_RANK_COMPLIANT || sim->eliminated[i])
            && !md_is_zero(md_sub(md_of_wide(a->coefficient), md_of_wide(b->coefficient))))
            return 0;
    }

    /* Boundedness and rank are read from sim->coupling, so *c stands there for these two calls */
    unbounded = md_row_is_unbounded(sim, md_row_at(sim, i));
    eliminable = md_is_eliminable(sim, i);
    sim->coupling[i] = *c;
    fits = md_row_is_unbounded(sim, md_row_at(sim, i)) == unbounded
        && md_is_eliminable(sim, i) == eliminable && md_setup_rank(sim, md_row_at(sim, i)) == rank;
    sim->coupling[i] = before;
    return fits;
}

/* The sum of the constants, modulo 2^32, after one part of it has changed. */
MD_INLINE void md_change_sum(mdyn_sim *sim, uint32_t before, uint32_t after)
{
    sim->constants_sum += after - before;
}

/* The part of constants_sum that depends on coupling i. */
MD_STATIC uint32_t md_sum_coupling(const mdyn_sim *sim, int i)
{
    return md_sum_part(sim, &sim->coupling[i], sizeof sim->coupling[i])
        + md_sum_part(sim, &sim->offset_rest[i], sizeof sim->offset_rest[i])
        + md_sum_part(sim, &sim->term_count[i], sizeof sim->term_count[i])
        + md_sum_curve_constants(sim)
        + md_sum_part(sim, &sim->has_target_velocity, sizeof sim->has_target_velocity)
        + md_sum_part(sim, &sim->has_coupled_bounds, sizeof sim->has_coupled_bounds);
}

/* Replaces coupling i by *c, engaged or released. The rows are planned anew, with the warnings of
   mdyn_init, unless the plan remains valid and no row is redundant: a redundant row may depend on
   the old coupling. On an error coupling and plan are restored. O(c); anew O(r^2 + r n + n c^2) */
MD_STATIC int md_exchange_coupling(mdyn_sim *sim, int i, const mdyn_coupling *c, int released)
{
    const int was_released = sim->released[i];
    mdyn_coupling old;
    int code;

    /* The plan of exact rows takes M and J at the present q; that of an iterated solve, with
       MIMICDYN_EXACT 0, depends on the joints alone */
    if (MIMICDYN_EXACT) {
        if (sim->redundant_count == 0 && released == was_released
            && md_plan_fits_coupling(sim, i, c)) {
            md_store_coupling(sim, i, c);
            md_count_springs(sim);
            return MDYN_OK;
        }
        code = md_refresh_kinematics(sim);
        if (code != MDYN_OK) return code;
    }

    old = sim->coupling[i];
    sim->released[i] = (uint8_t)released;
    md_store_coupling(sim, i, c);
    md_count_springs(sim);
    code = md_update_curves(sim);
    if (code == MDYN_OK) code = md_plan(sim);
    if (code == MDYN_OK) code = md_warn_couplings(sim);
    if (code >= 0) return code;

    /* The old plan fitted into the entries, so it does so again */
    sim->released[i] = (uint8_t)was_released;
    md_store_coupling(sim, i, &old);
    md_count_springs(sim);
    (void)md_update_curves(sim);
    (void)md_plan(sim);
    return md_blame(sim, code, i);
}

/* Whether the terms of two couplings, absent ones apart, are the same. */
MD_STATIC int md_terms_are_equal(const mdyn_coupling *a, const mdyn_coupling *b)
{
    int k;
    for (k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        const mdyn_term *x = &a->terms[k], *y = &b->terms[k];
        if (md_wide_less(x->coefficient, y->coefficient)
            || md_wide_less(y->coefficient, x->coefficient)) return 0;
        if (!md_wide_is_zero(x->coefficient)
            && (x->body != y->body || x->axis != y->axis || x->curve != y->curve)) return 0;
    }
    return 1;
}

/* md_exchange_coupling, with constants_sum. If the terms change, the results of the last step give
   no force any more (MDYN_ERR_REPLACED); the impulses stay as a warm start. */
MD_STATIC int md_replace_coupling(mdyn_sim *sim, int i, const mdyn_coupling *c, int released)
{
    const int same = md_terms_are_equal(md_coupling_at(sim, i), c);
    const uint32_t before = md_sum_coupling(sim, i);
    const int code = md_exchange_coupling(sim, i, c, released);
    md_change_sum(sim, before, md_sum_coupling(sim, i));
    if (sim->eliminated[i]) sim->limits_are_new = 1;
    if (code >= 0 && !same) sim->row_result[i].last_step = MD_REPLACED;
    return code;
}

/* The digits beyond the offset of coupling i. */
MD_STATIC void md_set_offset_rest(mdyn_sim *sim, int i, mdyn_wide rest)
{
    const uint32_t before = md_sum_part(sim, &sim->offset_rest[i], sizeof rest);
    sim->offset_rest[i] = rest;
    md_change_sum(sim, before, md_sum_part(sim, &sim->offset_rest[i], sizeof rest));
    if (sim->eliminated[i]) sim->limits_are_new = 1;
}

/* The part of constants_sum that depends on the target of coupling i. */
MD_STATIC uint32_t md_sum_target(const mdyn_sim *sim, int i)
{
    const mdyn_coupling *c = md_coupling_at(sim, i);
    return md_sum_part(sim, &c->offset, sizeof c->offset)
        + md_sum_part(sim, &c->target_velocity, sizeof c->target_velocity)
        + md_sum_part(sim, &sim->has_target_velocity, sizeof sim->has_target_velocity);
}

/* Coupling i with the offset and the target velocity of *c, which differs in nothing else. They can
   change the plan only of couplings that may be eliminated, or where rows are redundant. O(c) */
MD_STATIC int md_replace_target(mdyn_sim *sim, int i, const mdyn_coupling *c)
{
    uint32_t before;
    if (c->softness.kind == MDYN_DEFAULT || sim->redundant_count > 0)
        return md_replace_coupling(sim, i, c, sim->released[i]);

    /* three numbers instead of the whole coupling: a motion is commanded before each step */
    before = md_sum_target(sim, i);
    md_drop_factor(sim);
    sim->coupling[i].offset = c->offset;
    sim->coupling[i].target_velocity = c->target_velocity;
    md_look_at_couplings(sim);
    md_change_sum(sim, before, md_sum_target(sim, i));
    return MDYN_OK;
}

/* The offset of a position coupling that moves C from outside [lower, upper] to the nearest bound;
   from inside, the present offset. Writes sim->terms and sim->value. */
MD_STATIC mdyn_wide md_engaged_offset(mdyn_sim *sim, int coupling)
{
    const mdyn_coupling *c = md_coupling_at(sim, coupling);
    const md_num zero = MD_K(0);
    md_num excess, violation = zero;

    md_find_row_terms(sim, md_row_at(sim, coupling), &sim->terms);
    md_evaluate_position(sim, md_row_at(sim, coupling));
    excess = md_value_minus(sim, c->lower);
    if (md_less(excess, zero) && md_has_lower(c->lower)) violation = excess;
    excess = md_value_minus(sim, c->upper);
    if (md_less(zero, excess) && md_has_upper(c->upper)) violation = excess;
    return md_to_wide(md_sub(md_of_wide(c->offset), violation));
}

/* Forgets the impulses of a coupling and of its loss, their warm starts and active sides. */
MD_STATIC void md_forget_coupling(mdyn_sim *sim, int coupling)
{
    int loss = md_find_row(sim, MDYN_ROW_LOSS, coupling);
    md_release_coupling(sim, coupling);
    if (loss < 0) loss = coupling;
    sim->row_result[coupling].impulse = sim->row_result[loss].impulse = MD_K(0);
}

/* ---- replacing the numbers of a body ---- */

/* What mdyn_set_body replaces, kept for the case of an error. */
typedef struct md_body_numbers {
    md_link link;
    md_joint_values values;
    md_row_result result[8]; /* of the body's rows: a drive, six of friction, a limit */
} md_body_numbers;

/* Whether n bytes at a and b differ in any. */
MD_STATIC int md_bytes_differ(const void *a, const void *b, size_t n)
{
    const unsigned char *x = (const unsigned char *)a, *y = (const unsigned char *)b;
    size_t k;
    for (k = 0; k < n; k++)
        if (x[k] != y[k]) return 1;
    return 0;
}

/* Whether the joint and the frame of b, a link of which has been built, are those of body i. */
MD_STATIC int md_frame_is_kept(const mdyn_sim *sim, int i, const mdyn_body *b, const md_link *link)
{
    const md_link *old = &sim->link[i];
    const md_body_part *is = MD_BODY(link);
    const md_body_part *was = MD_BODY(old);
    if ((int)b->joint != old->joint) return 0;

    /* without a tree there is no frame but that of the parent */
    if (!MIMICDYN_TREE) return b->parent == old->parent;
    if (b->parent != was->body_parent) return 0;
    if (b->joint == MDYN_HELICAL && !md_is_zero(md_sub(md_of_wide(b->pitch),
        MD_COLUMN(&sim->dof[old->dof])->pitch))) return 0;
    return is->axis == was->axis
        && !md_bytes_differ(&is->position, &was->position, sizeof is->position)
        && !md_bytes_differ(&is->rotation, &was->rotation, sizeof is->rotation);
}

/* How many joint rows body i has with these numbers. */
MD_STATIC int md_count_body_rows(const mdyn_sim *sim, int i, const md_joint_values *b)
{
    int kind, n = 0;
    for (kind = MDYN_ROW_DRIVE; kind <= MDYN_ROW_LIMIT; kind++)
        n += md_body_has_row(b, kind) * sim->link[i].dofs;
    return n;
}

/* Makes room for a row at `at` (by = 1) or closes its place (by = -1). The later rows move, with
   their results; so do the numbers of leaders in rows on bodies. */
MD_STATIC void md_shift_rows(mdyn_sim *sim, int at, int by)
{
    int k, n = sim->rows - at - (by < 0);
    for (k = 0; k < n; k++) {
        int from = by > 0 ? sim->rows - 1 - k : at + 1 + k;
        MD_OPAQUE(from); /* or gcc calls memmove */
        sim->row[from + by] = sim->row[from];
        sim->row_result[from + by] = sim->row_result[from];
    }

    /* the counts, and leaders that are named by row */
    sim->rows = (int16_t)(sim->rows + by);
    sim->joint_row_count = (int16_t)(sim->joint_row_count + by);
    if (MD_HAS_BODY_ROWS)
        MD_BODY_ROWS(sim)->lasting_row_count
            = (int16_t)(MD_BODY_ROWS(sim)->lasting_row_count + by);
    for (k = 0; MD_HAS_BODY_ROWS && k < sim->rows - sim->joint_row_count; k++) {
        int16_t *leader = &MD_BODY_ROWS(sim)->body_row[k].leader;
        if (*leader >= 0) *leader = (int16_t)(*leader + by);
    }
}

/* Inserts a joint row in the order of md_build_rows, without a result. */
MD_STATIC void md_insert_row(mdyn_sim *sim, int kind, int index)
{
    md_row_result *result;
    int at = 0;
    while (at < sim->joint_row_count && (md_row_at(sim, at)->kind < kind
           || (md_row_at(sim, at)->kind == kind && md_row_at(sim, at)->index < index))) at++;
    md_shift_rows(sim, at, 1);
    sim->row[at].kind = (uint8_t)kind;
    sim->row[at].index = (int16_t)index;

    result = &sim->row_result[at];
    result->error = result->v_lo = result->v_hi = MD_K(0);
    result->cfm_lambda = result->impulse = result->warm_start = MD_K(0);
    result->last_step = 0;
    result->flags = 0;
    result->active_side = 0;
}

/* Gives body i the rows that it has with the numbers `to` instead of `from`. Returns whether a row
   appeared or vanished. O(r) for each such row */
MD_STATIC int md_change_rows(mdyn_sim *sim, int i, const md_joint_values *from,
                             const md_joint_values *to)
{
    const md_link *link = &sim->link[i];
    int kind, k, changed = 0;
    for (kind = MDYN_ROW_DRIVE; kind <= MDYN_ROW_LIMIT; kind++) {
        const int has = md_body_has_row(to, kind);
        if (has == md_body_has_row(from, kind)) continue;
        for (k = link->dof; k < link->dof + link->dofs; k++) {
            /* the indices of active rows change */
            if (!changed) md_clear_solve(sim);
            changed = 1;

            if (kind == MDYN_ROW_DRIVE) sim->drives = (int16_t)(sim->drives + (has ? 1 : -1));
            if (has) md_insert_row(sim, kind, k);
            else md_shift_rows(sim, md_find_row(sim, (mdyn_row_kind)kind, k), -1);
        }
    }
    return changed;
}

/* Copies the results of the rows of body i to `result`, or back. */
MD_STATIC void md_copy_results(mdyn_sim *sim, int i, md_row_result *result, int back)
{
    int k;
    for (k = sim->couplings; k < sim->joint_row_count; k++) {
        const md_row *row = md_row_at(sim, k);
        if (row->kind < MDYN_ROW_DRIVE || md_body_of(sim, row->index) != i) continue;
        if (back) sim->row_result[k] = *result++;
        else *result++ = sim->row_result[k];
    }
}

/* Exchanges the numbers of body i with *n; with `back` also the results of its rows. Returns
   whether the rows must be planned anew. */
MD_STATIC int md_exchange_body(mdyn_sim *sim, int i, md_body_numbers *n, int back)
{
    const md_joint_values values = sim->joint_values[i];
    md_link link;
    int k, anew;
    (void)md_link_alone(sim, i, &link);
    if (!back) md_copy_results(sim, i, n->result, 0);
    anew = md_change_rows(sim, i, &values, &n->values);
    if (back) md_copy_results(sim, i, n->result, 1);

    md_exchange_link(sim, i, &n->link);
    sim->joint_values[i] = n->values;
    n->link = link;
    n->values = values;

    /* an effort makes the row of a drive an inequality row: another plan */
    for (k = 0; k < sim->joint_row_count; k++)
        anew |= md_row_is_equality(sim, md_row_at(sim, k)) != md_row_at(sim, k)->unbounded;
    sim->kinematics_stale = 1;
    return anew;
}

/* After new numbers of body i: if `inertia` changed, checks that M has full rank and sets the
   weights of damping; if `anew`, plans with the warnings of mdyn_init. Otherwise returns
   MDYN_WARN_EMPTY_RANGE if the joint has no position left. */
MD_STATIC int md_adopt_body(mdyn_sim *sim, int i, int inertia, int anew)
{
    md_num lower, upper;
    int code = md_refresh_kinematics(sim);
    md_drop_factor(sim);
    if (anew) md_count_springs(sim);
    if (code == MDYN_OK && inertia) md_drop_last_dv(sim);
    if (code == MDYN_OK && inertia) md_set_damping_weights(sim);
    if (code == MDYN_OK && (inertia || anew)) code = md_plan_with_masses(sim);
    if (code != MDYN_OK) return code;

    /* only this joint's range can have become empty */
    if (anew) return md_warn_couplings(sim);
    if (!MIMICDYN_WARNINGS || md_joint_coordinates((mdyn_joint)sim->link[i].joint) != 1)
        return MDYN_OK;
    md_find_joint_range(sim, md_dof_of(sim, i), &lower, &upper);
    return md_range_is_empty(lower, upper) ? md_blame(sim, MDYN_WARN_EMPTY_RANGE, i) : MDYN_OK;
}

/* The part of constants_sum that depends on body i, and that of what it is welded to. */
MD_STATIC uint32_t md_sum_numbers(const mdyn_sim *sim, int i)
{
    const md_link *on = &sim->link[i];
    uint32_t sum = 0;
    if (md_is_welded(on) && on->parent >= 0)
        sum = md_sum_part(sim, &sim->link[on->parent], sizeof *on);
    return sum + md_sum_part(sim, &sim->link[i], sizeof sim->link[i])
        + md_sum_part(sim, &sim->joint_values[i], sizeof sim->joint_values[i])
        + md_sum_part(sim, &sim->drives, sizeof sim->drives);
}

/* Replaces the numbers of body i by those of b; on an error the old ones are restored. */
MD_STATIC int md_replace_body(mdyn_sim *sim, int i, const mdyn_body *b)
{
    const uint32_t before = md_sum_numbers(sim, i);
    md_body_numbers n;
    md_link old;
    int anew, inertia, has_welded, code = md_check_body(b, i);
    if (code != MDYN_OK) return md_blame(sim, code, i);

    /* the link that it would have; what is refused, is refused before anything changes */
    has_welded = md_link_alone(sim, i, &old);
    n.link = old;
    if (MIMICDYN_TREE) md_build_link_frame(sim, &n.link, b);
    md_copy_values(&n.values, b);
    inertia = md_bytes_differ(&n.link, &old, sizeof old)
        || md_bytes_differ(&n.values, &sim->joint_values[i], 2 * sizeof n.values.armature);
    if (!md_frame_is_kept(sim, i, b, &n.link)) return md_blame(sim, MDYN_ERR_FROZEN, i);
    if (sim->rows - md_count_body_rows(sim, i, &sim->joint_values[i])
        + md_count_body_rows(sim, i, &n.values) > MIMICDYN_MAX_ROWS)
        return md_blame(sim, MDYN_ERR_CAPACITY_ROWS, i);
    code = md_refresh_kinematics(sim);
    if (code != MDYN_OK) return code;

    /* exchanged, and back again if the mechanism cannot be planned with it */
    anew = md_exchange_body(sim, i, &n, 0);
    code = md_adopt_body(sim, i, inertia, anew);
    if (code < 0) {
        const mdyn_culprit culprit = sim->culprit;
        (void)md_exchange_body(sim, i, &n, 1);
        (void)md_adopt_body(sim, i, inertia, anew);
        sim->culprit = culprit;
    } else if (MIMICDYN_TREE && !has_welded) {
        md_build_pitch(sim, &sim->link[i], b);
    }
    md_change_sum(sim, before, md_sum_numbers(sim, i));
    sim->limits_are_new = 1;
    return code;
}

/* ---- replacing numbers of the model ---- */

/* The part of constants_sum that holds gravity, dt and the settings. */
MD_STATIC uint32_t md_sum_settings(const mdyn_sim *sim)
{
    return md_sum_part(sim, &sim->gravity,
                       offsetof(mdyn_sim, joint_values) - offsetof(mdyn_sim, gravity));
}

/* Sets dt. Impulses and warm starts are scaled with it, so that the forces of the last step
   stay. */
MD_STATIC void md_replace_dt(mdyn_sim *sim, mdyn_wide dt)
{
    const md_num old = sim->inverse_dt;
    md_num ratio;
    int k;
    sim->dt_wide = dt;
    md_set_time_step(sim);
    md_set_damping_weights(sim);
    md_drop_last_dv(sim);

    /* impulses of the same forces over the new dt */
    ratio = md_mul(sim->dt, old);
    for (k = 0; k < sim->rows; k++) {
        md_row_result *r = &sim->row_result[k];
        r->impulse = md_mul(ratio, r->impulse);
        r->warm_start = md_mul(ratio, r->warm_start);
    }
}

/* The settings *s, unless the rows are too many for MDYN_DANTZIG. */
MD_STATIC int md_replace_solver(mdyn_sim *sim, const mdyn_solver *s)
{
    const md_settings old = sim->solver;
    const int eliminates = md_eliminates(sim);
    int code = MDYN_OK;
    md_take_settings(sim, s);

    /* whether couplings are eliminated is part of the plan; an error restores plan and settings */
    if (md_eliminates(sim) != eliminates) code = md_plan(sim);
    if (code == MDYN_OK) code = md_check_dantzig_capacity(sim);
    if (code != MDYN_OK) {
        sim->solver = old;
        (void)md_plan(sim);
    }
    md_set_time_step(sim);
    if (old.scheme != sim->solver.scheme) {
        md_forget_momentum(sim);
        md_set_damping_weights(sim);
    }
    return code;
}

/* ============================================================================= // >>project
   Projection of the state onto constraints and into ranges; whole turns.

   Given:  a ready sim; of its rows those that md_row_in_mode selects: couplings and closures that
           are hard and have no bound on their force. Forces and warm starts are not used.
   Gives:  q with C(q) = 0 and v with J v = target velocity, or MDYN_WARN_CONTRADICTION if that
           was not reached.
   Writes:  q, v, their tails; q_saved and v_saved; the workspaces of the solve (joint_force and dv
           keep the tails in md_project_followers). On an error the state is as it was.

   Mass metric: min dq^T M dq / 2 subject to J dq = -C, that is
      dq = -M^-1 J^T (J M^-1 J^T)^-1 C,    dv = M^-1 J^T (J M^-1 J^T)^-1 (v_target - J v)
   which >>solve gives for zero forces in MD_MODE_POSITION and MD_MODE_VELOCITY. Couplings are
   linear in q, so one step is exact. Closures are not: each step is a Newton step.
   Followers: Gauss-Seidel iteration over the couplings, each solved for its first joint. A chain in
   any order takes as many passes as it has links.
   Settling (mdyn_settle): coordinates move to the nearest end of the range that limits and
   couplings leave them, velocities that lead out of it become 0, then followers follow. Where a
   coupling of several leaders moves a joint out again, this and the mass metric alternate, a
   bounded number of times.
   Whole turns (mdyn_rebase): q := q - 2 pi n. Every coupling of the joint has its C unchanged:
      offset := offset + coefficient 2 pi n
   where offset_rest holds the digits beyond the type of `offset`, so that C keeps every digit.
   Source: Featherstone 2008, chapter 8 (loops); Gauss's principle of least constraint. */

/* Accepts the present state; the next query finds its kinematics. */
MD_STATIC void md_accept_state(mdyn_sim *sim)
{
    md_see_state(sim);
    sim->may_be_off = sim->q_may_be_off = 1;
}

/* ---- leaders stay, followers move ---- */

/* x += d. Returns 1 if d is above the rounding of x, 0 if not, MDYN_ERR_OVERFLOW (index) if x
   leaves the range of mdyn_real. */
MD_STATIC int md_correct(mdyn_sim *sim, mdyn_real *x, md_tail *tail, md_num d, int index)
{
    const md_num rounding
        = md_mul(MD_K(8 * MD_EPSILON), md_add(MD_K(1), md_abs(md_of_real(*x))));
    const int moved = md_less(rounding, md_abs(d));
    md_accumulate(x, tail, d);
    return md_in_range(*x) ? moved : md_blame(sim, MDYN_ERR_OVERFLOW, index);
}

/* Moves the first joint of coupling i so that the coupling holds, the other joints as they are:
      v_1 += (v_target - J v)/c_1,    q_1 -= (C - lower)/c_1
   Returns whether one of them moved by more than rounding, or MDYN_ERR_OVERFLOW. */
MD_STATIC int md_move_follower(mdyn_sim *sim, int i)
{
    const md_terms *t = &sim->terms;
    const mdyn_coupling *c = md_coupling_at(sim, i);
    const md_row *row = md_row_at(sim, i);
    md_num coefficient, correction;
    int k, v_moved, q_moved;

    /* Velocity; of a velocity coupling lower = upper adds to the target */
    k = md_coupling_is_curved(sim, i) ? md_update_curves(sim) : MDYN_OK;
    if (k != MDYN_OK) return k;
    md_find_row_terms(sim, row, &sim->terms);
    if (md_is_zero(t->factor[0])) return 1; /* a curve that is level here moves nothing */
    k = t->dof[0];
    coefficient = t->factor[0];
    correction = md_of_wide(c->target_velocity);
    if (c->level == MDYN_VELOCITY) correction = md_add(correction, md_of_wide(c->lower));
    correction = md_div(md_sub(correction, md_row_velocity(sim, row, t)), coefficient);
    v_moved = md_correct(sim, &sim->v[k], &sim->v_tail[k], correction, k);
    if (v_moved < 0 || c->level == MDYN_VELOCITY) return v_moved;

    /* Position: C at the present q, with the digits of the tails */
    k = md_coordinate_of(sim, md_body_of(sim, k));
    md_evaluate_position(sim, row);
    correction = md_neg(md_div(md_value_minus(sim, c->lower), coefficient));
    q_moved = md_correct(sim, &sim->q[k], &sim->q_tail[k], correction, k);
    return q_moved < 0 ? q_moved : v_moved | q_moved;
}

/* All couplings in turn until none moves its first joint. A chain of c couplings needs at most c
   passes, and one to see that nothing moves: joints that still move then contradict each other.
   With curves each coupling takes Newton steps, of which 40 are more than enough. */
MD_STATIC int md_move_followers(mdyn_sim *sim)
{
    /* a chain of couplings, and Newton's steps of curves */
    const int most = sim->couplings + (md_has_curves(sim) ? 40 : 0);
    int pass, i, code, moved = 1;
    for (pass = 0; pass <= most && moved; pass++)
        for (moved = 0, i = 0; i < sim->couplings; i++) {
            if (!sim->eliminated[i]
                && !md_row_in_mode(sim, md_row_at(sim, i), MD_MODE_VELOCITY)) continue;
            code = md_move_follower(sim, i);
            if (code < 0) return code;
            moved |= code;
        }
    return moved ? md_blame(sim, MDYN_WARN_CONTRADICTION, -1) : MDYN_OK;
}

/* MDYN_FOLLOWERS and MDYN_INDEPENDENT. The tails are kept in joint_force and dv, for the case of an
   error; only joints of one coordinate move. O(c^2 terms); O(terms) */
MD_STATIC int md_project_followers(mdyn_sim *sim, mdyn_metric metric)
{
    int k, c, code = md_refresh_kinematics(sim);
    if (code != MDYN_OK) return code;
    for (k = 0; k < sim->dofs; k++) {
        c = md_coordinate_of_dof(sim, k);
        sim->joint_force[k] = md_of_tail(c < 0 ? 0 : sim->q_tail[c]);
        sim->dv[k] = md_of_tail(sim->v_tail[k]);
    }

    /* a contradiction is only a warning: the state stays where the passes have led it */
    code = metric == MDYN_FOLLOWERS ? md_move_followers(sim)
        : md_place_followers(sim, sim->off, sim->y_force);
    if (code >= 0) {
        md_accept_state(sim);
        return code;
    }

    /* an error: md_refresh_kinematics has left the old q and v in q_seen and v_seen */
    md_copy(sim->q, sim->q_seen, sim->coordinates);
    md_copy(sim->v, sim->v_seen, sim->dofs);
    for (k = 0; k < sim->dofs; k++) {
        c = md_coordinate_of_dof(sim, k);
        if (c >= 0) sim->q_tail[c] = md_to_tail(sim->joint_force[k]);
        sim->v_tail[k] = md_to_tail(sim->dv[k]);
    }
    return code;
}

/* ---- mass metric, couplings alone ---- */

/* Whether equality rows of the last solve contradict each other, or iteration did not converge. */
MD_STATIC int md_is_unsolved(const mdyn_sim *sim)
{
    int k, unsolved = !MIMICDYN_EXACT && sim->unconverged;
    for (k = 0; k < md_equality_count(sim); k++)
        unsolved |= md_active_row(sim, k)->flags & MDYN_ROW_CONTRADICTORY;
    return unsolved;
}

/* Finds and applies dq, then dv. Both are first solved for and checked against the range of
   mdyn_real, then solved for again and applied, so that an error changes nothing. */
MD_STATIC int md_project_couplings(mdyn_sim *sim)
{
    int apply, k, velocity, unsolved = 0, code = md_prepare_dynamics(sim, MD_K(0));
    for (apply = 0; apply < 2; apply++)
        for (velocity = 0; velocity < 2 && code == MDYN_OK; velocity++) {
            for (k = 0; k < sim->dofs; k++) sim->joint_force[k] = MD_K(0);
            code = md_solve_constraints(sim, velocity ? MD_MODE_VELOCITY : MD_MODE_POSITION);
            if (code != MDYN_OK) break;
            unsolved |= md_is_unsolved(sim);

            if (!apply)
                code = md_check_motion(sim, velocity ? sim->dv : NULL, velocity ? NULL : sim->dv);
            else if (velocity) md_integrate_v(sim, sim->dv);
            else md_integrate_q(sim, sim->dv);
        }
    if (code != MDYN_OK) return code;
    return unsolved ? md_blame(sim, MDYN_WARN_CONTRADICTION, -1) : MDYN_OK;
}

/* ---- mass metric, with closures and curves ---- */

/* Saves the state with its tails: a Newton step may fail when others have moved the state
   already. */
MD_STATIC void md_save_state(mdyn_sim *sim)
{
    md_copy(MD_SAVED(sim)->q_saved, sim->q, sim->coordinates);
    md_copy(MD_SAVED(sim)->v_saved, sim->v, sim->dofs);
    md_copy_tails(MD_SAVED(sim)->q_tail_saved, sim->q_tail, sim->coordinates);
    md_copy_tails(MD_SAVED(sim)->v_tail_saved, sim->v_tail, sim->dofs);
}

/* q, v and their tails as they were before the call. */
MD_STATIC void md_restore_state(mdyn_sim *sim)
{
    md_copy(sim->q, MD_SAVED(sim)->q_saved, sim->coordinates);
    md_copy(sim->v, MD_SAVED(sim)->v_saved, sim->dofs);
    md_copy_tails(sim->q_tail, MD_SAVED(sim)->q_tail_saved, sim->coordinates);
    md_copy_tails(sim->v_tail, MD_SAVED(sim)->v_tail_saved, sim->dofs);
    md_accept_state(sim);
}

/* Rows and M at the present q, then the solution of a mode for zero forces, in sim->dv. */
MD_STATIC int md_solve_projection(mdyn_sim *sim, enum md_mode mode)
{
    int k, code = md_update_body_rows(sim, 0);
    if (code == MDYN_OK) code = md_factor_LtL(sim, MD_K(0));
    for (k = 0; k < sim->dofs; k++) sim->joint_force[k] = MD_K(0);
    return code == MDYN_OK ? md_solve_constraints(sim, mode) : code;
}

/* The magnitude of what C of a closure, or of a coupling with curves, is a sum of: its rounding is
   a part of this. */
MD_STATIC md_num md_row_value_size(const mdyn_sim *sim, const md_row *row)
{
    if (md_is_body_row(row)) return md_body_row_at(sim, row)->value_size;
    return md_add(MD_K(1), md_sum_bends(sim, row->index, MD_BEND_VALUE));
}

/* The largest |C| of the rows of a solve. *unsolved is set if C of a closure is above its
   rounding, or couplings contradict each other. */
MD_STATIC md_num md_largest_error(const mdyn_sim *sim, int *unsolved)
{
    md_num largest = MD_K(0);
    int k;
    *unsolved = md_is_unsolved(sim);
    for (k = 0; k < md_active_count(sim); k++) {
        const md_row *row = md_active_row(sim, k);
        md_num rounding;
        largest = md_max(largest, md_abs(row->error));
        if (!md_row_changes(sim, row)) continue;
        rounding = md_mul(MD_K(MD_CONSISTENCY_TOLERANCE), md_row_value_size(sim, row));
        if (md_less(rounding, md_abs(row->error))) *unsolved = 1;
    }

    /* followers on curves, which are no rows */
    for (k = 0; md_has_curved_ties(sim) && k < md_tie_count(sim); k++) {
        const md_num error = md_abs(md_evaluate_tie(sim, &sim->tie[k]).error);
        largest = md_max(largest, error);
        if (md_less(md_mul(MD_K(MD_CONSISTENCY_TOLERANCE),
                           md_row_value_size(sim, md_row_at(sim, sim->tie[k].coupling))), error))
            *unsolved = 1;
    }
    return largest;
}

/* Scales the Newton step sim->dv so that no angular DoF turns by more than 0.3 rad: closures are
   nearly linear over such angles. Returns whether it was scaled. */
MD_STATIC int md_limit_newton_step(mdyn_sim *sim)
{
    const md_num max_angle = MD_K(0.3);
    md_num angle = MD_K(0), scale;
    int k;
    for (k = 0; k < sim->dofs; k++)
        if (sim->dof[k].kind != MD_LINEAR) angle = md_max(angle, md_abs(sim->dv[k]));
    if (!md_less(max_angle, angle)) return 0;
    scale = md_div(max_angle, angle);
    for (k = 0; k < sim->dofs; k++) sim->dv[k] = md_mul(scale, sim->dv[k]);
    return 1;
}

/* Newton iteration on C(q) = 0. It ends with the first step that does not halve the error if all
   closures are then solved, otherwise with the tenth such step; scaled steps do not count. At most
   100 steps. *unsolved as in md_largest_error. */
MD_STATIC int md_close_loops(mdyn_sim *sim, int *unsolved)
{
    const md_num infinite = MD_K(1e30);
    md_num error, last_error = infinite;
    int step, stalls = 0, code = MDYN_OK;
    for (step = 0; step < 100; step++) {
        code = md_solve_projection(sim, MD_MODE_POSITION);
        if (code != MDYN_OK) break;
        error = md_largest_error(sim, unsolved);
        if (!md_less(error, md_mul(MD_K(0.5), last_error)) && (!*unsolved || ++stalls == 10)) break;

        /* q (+)= dq, and again with the rows and M of the new q */
        last_error = md_limit_newton_step(sim) ? infinite : error;
        code = md_check_motion(sim, NULL, sim->dv);
        if (code != MDYN_OK) break;
        md_integrate_q(sim, sim->dv);
    }
    return code;
}

/* Positions by Newton iteration, then velocities by one solve. O(steps (b d + n d^2 + r^2 d)) */
MD_STATIC int md_project_closures(mdyn_sim *sim)
{
    int unsolved = 0, code = md_check_inputs(sim);
    if (code == MDYN_OK) code = md_refresh_kinematics(sim);
    if (code != MDYN_OK) return code;

    md_save_state(sim);
    code = md_close_loops(sim, &unsolved);
    if (code == MDYN_OK) code = md_solve_projection(sim, MD_MODE_VELOCITY);
    if (code == MDYN_OK) code = md_check_motion(sim, sim->dv, NULL);
    if (code != MDYN_OK) {
        md_restore_state(sim);
        return code;
    }
    md_integrate_v(sim, sim->dv);
    return unsolved ? md_blame(sim, MDYN_WARN_CONTRADICTION, -1) : MDYN_OK;
}

/* MDYN_MASS_METRIC. With MIMICDYN_EXACT 0 a second projection removes what iteration left. */
MD_STATIC int md_project_mass_metric(mdyn_sim *sim)
{
    int code;
    if (md_has_closures(sim) || (MD_HAS_CURVES && md_has_curves(sim)))
        return md_project_closures(sim);
    code = md_project_couplings(sim);
    if (!MIMICDYN_EXACT && code == MDYN_OK) (void)md_project_couplings(sim);
    return code;
}

/* ---- into limits and onto couplings ---- */

/* Moves the joint of DoF k into [lower, upper]; its velocity does not lead out of it. */
MD_STATIC int md_move_inside(mdyn_sim *sim, int k, md_num lower, md_num upper)
{
    const md_num zero = MD_K(0);
    const int c = md_coordinate_of_dof(sim, k);
    md_num below = md_coordinate_minus(sim, c, md_to_wide(lower));
    md_num above = md_coordinate_minus(sim, c, md_to_wide(upper));
    const md_num v = md_of_real(sim->v[k]);
    int code = MDYN_OK;

    /* v that leads out of the range becomes 0 */
    if ((!md_less(zero, below) && md_less(v, zero))
        || (!md_less(above, zero) && md_less(zero, v))) {
        sim->v[k] = 0;
        sim->v_tail[k] = 0;
    }

    /* q to the bound that it exceeds */
    if (md_less(below, zero)) code = md_correct(sim, &sim->q[c], &sim->q_tail[c], md_neg(below), k);
    if (md_less(zero, above)) code = md_correct(sim, &sim->q[c], &sim->q_tail[c], md_neg(above), k);
    return code < 0 ? code : MDYN_OK;
}

/* All joints into the ranges that limits leave them: with those of their followers, or their
   own. */
MD_STATIC int md_move_all_inside(mdyn_sim *sim, int with_followers)
{
    md_num lower, upper;
    int k, code = MDYN_OK;
    for (k = 0; k < sim->dofs && code == MDYN_OK; k++) {
        const md_joint_values *b = md_values_of_dof(sim, k);
        if (md_coordinate_of_dof(sim, k) < 0) continue;

        /* the range: with what followers leave of it, or the joint's own limits */
        if (with_followers) {
            md_find_joint_range(sim, k, &lower, &upper);
            if (md_range_is_empty(lower, upper))
                return md_blame(sim, MDYN_WARN_EMPTY_RANGE, md_body_of(sim, k));
        } else {
            if (md_wide_is_zero(b->lower) && md_wide_is_zero(b->upper)) continue;
            lower = md_of_wide(b->lower);
            upper = md_of_wide(b->upper);
        }

        code = md_move_inside(sim, k, lower, upper);
    }
    md_accept_state(sim);
    return code;
}

/* mdyn_settle: followers of chains of two-joint couplings at once, the rest in turns. */
MD_STATIC int md_move_into_ranges(mdyn_sim *sim)
{
    int turn, again = 0, code = md_refresh_kinematics(sim);
    if (code == MDYN_OK) code = md_move_all_inside(sim, 1);
    if (code == MDYN_OK) code = md_project_followers(sim, MDYN_FOLLOWERS);
    if (code != MDYN_OK && code != MDYN_WARN_CONTRADICTION) return code;
    again = md_has_closures(sim);

    /* what chains of several couplings leave: limits and projection alternate */
    for (turn = 0; turn < 200 && (again || md_warn_pose(sim, 1) != MDYN_OK); turn++) {
        again = 0;
        code = md_move_all_inside(sim, 0);
        if (code == MDYN_OK) code = md_project_mass_metric(sim);
        if (code != MDYN_OK) return code;
    }
    return md_warn_pose(sim, 1);
}

/* ---- whole turns ---- */

/* s += 2 pi n. 2 pi is split into three numbers of 24 bits, whose products with n the sum holds. */
MD_STATIC void md_sum_add_turns(md_sum *s, mdyn_real n)
{
    md_sum_add_product(s, MDYN_C(6.2831854820251465), n, 0);
    md_sum_add_product(s, MDYN_C(-1.7484555314695172e-07), n, 0);
    md_sum_add_product(s, MDYN_C(-6.8604979977715316e-15), n, 0);
}

/* q + tail = the sum, which loses its value. */
MD_STATIC void md_real_of_sum(mdyn_real *q, md_tail *tail, md_sum *s)
{
    int pass;
    *q = 0;
    *tail = 0;
    for (pass = 0; pass < 3; pass++) {
        const mdyn_real before = *q;
        const md_tail before_tail = *tail;
        md_accumulate(q, tail, md_sum_to_num(s));
        md_sum_add_product(s, MDYN_C(1), before, before_tail);
        md_sum_add_product(s, MDYN_C(-1), *q, *tail);
    }
}

/* Takes n turns off coordinate c of DoF k, and puts them into the offsets of its couplings. */
MD_STATIC void md_shift_turns(mdyn_sim *sim, int k, int c, mdyn_real n)
{
    const mdyn_real q = sim->q[c];
    const md_tail tail = sim->q_tail[c];
    md_sum s;
    int i, j;
    md_sum_set_real(&s, q, tail);
    md_sum_add_turns(&s, (mdyn_real)-n);
    md_real_of_sum(&sim->q[c], &sim->q_tail[c], &s);

    /* offset + coefficient (q before - q after), with all digits */
    for (i = 0; i < sim->couplings; i++) {
        const uint32_t before = md_sum_coupling(sim, i);
        if (md_coupling_at(sim, i)->level != MDYN_POSITION) continue;
        md_find_row_terms(sim, md_row_at(sim, i), &sim->terms);
        for (j = 0; j < sim->terms.count; j++) {
            const mdyn_wide coefficient = sim->terms.coefficient[j];
            if (sim->terms.dof[j] != k) continue;
            md_sum_set(&s, sim->coupling[i].offset);
            md_sum_add_product(&s, sim->offset_rest[i], MDYN_R(1), 0);
            md_sum_add_product(&s, coefficient, q, tail);
            md_sum_add_product(&s, coefficient, (mdyn_real)-sim->q[c], 0);
            md_sum_add_product(&s, md_to_wide(md_neg(md_of_wide(coefficient))), 0,
                               sim->q_tail[c]);
            sim->coupling[i].offset = md_sum_to_wide(&s);
            md_sum_add_product(&s, sim->coupling[i].offset, MDYN_R(-1), 0);
            sim->offset_rest[i] = md_sum_to_wide(&s);
        }
        md_change_sum(sim, before, md_sum_coupling(sim, i));
        if (sim->eliminated[i]) sim->limits_are_new = 1;
    }

    /* the drive's error stays */
    md_sum_set_real(&s, sim->target[k], 0);
    md_sum_add_turns(&s, (mdyn_real)-n);
    if (md_body_has_row(md_values_of_dof(sim, k), MDYN_ROW_DRIVE)) {
        md_tail rest;
        md_real_of_sum(&sim->target[k], &rest, &s);
    }
}

/* Whether a coupling has a curve at the joint of a body. A released one counts: it may engage
   again. */
MD_STATIC int md_joint_has_curve(const mdyn_sim *sim, int body)
{
    int i, k;
    for (i = 0; MIMICDYN_MAX_CURVES > 0 && i < sim->couplings; i++)
        for (k = 0; k < MIMICDYN_MAX_TERMS; k++) {
            const mdyn_term *t = &md_coupling_at(sim, i)->terms[k];
            if (t->curve && !md_wide_is_zero(t->coefficient) && t->body == body) return 1;
        }
    return 0;
}

/* mdyn_rebase of a revolute joint without limits or curves. */
MD_STATIC int md_remove_turns(mdyn_sim *sim, int body, int32_t *turns)
{
    const int k = md_dof_of(sim, body), c = md_coordinate_of(sim, body);
    mdyn_real n;
    int code;
    if (sim->link[body].joint != MDYN_REVOLUTE) return md_blame(sim, MDYN_ERR_JOINT, body);
    if (md_body_has_row(&sim->joint_values[body], MDYN_ROW_LIMIT))
        return md_blame(sim, MDYN_ERR_LIMITS, body);
    if (md_joint_has_curve(sim, body)) return md_blame(sim, MDYN_ERR_CURVED, body);
    code = md_refresh_kinematics(sim);
    if (code == MDYN_OK && sim->drives) code = md_check_numbers(sim, sim->target, sim->dofs);
    if (code != MDYN_OK) return code;

    /* q/(2 pi), rounded */
    n = md_round(md_mul(md_of_real(sim->q[c]), MD_K(0.15915494309189535)));
    *turns = md_to_int(md_of_real(n));
    if (n == 0) return MDYN_OK;
    md_shift_turns(sim, k, c, n);
    md_accept_state(sim);
    return MDYN_OK;
}

/* ============================================================================= // >>explain
   Constraint rows as text.

   Given:  a ready sim, a row of it, a buffer.
   Gives:  kind, index and name of the row, then the equation or inequality that it enforces, with
           the model's own numbers; units in brackets; softness and bound of the force behind it.
   Writes:  the buffer; it reads the sim. Bodies without a name appear as their index.

   A text is printed twice: into a buffer of size 0, which measures it, then into the caller's. So
   nothing is written of a text that does not fit. One of each kind:
      coupling 2 toes: q(1) - 0.5 q(hip) - 0.125 = 0 [rad]; soft, erp 0.3, cfm 1e-6
      loss 2: transmission efficiency 0.9
      drive 0: force = 50 (target - q(hip)) + 2 (target_velocity - v(hip)), |force + tau| <= 3
      friction 3: v(2.1) = 0 while |force| <= 0.25
      limit 0: -1 <= q(hip) <= 2 [rad]
      closure 2 rocker: displacement between coupler and 2, along z = 0 [m]; hard, erp 0.2
      user row 0 brake: on 0; target velocity 0; hard, erp 0.2, force >= -3
      contact 0: gap between 0 and 2 >= 0 [m]; hard, erp 0.2 */

/* ---- characters and numbers ---- */

/* Where characters go. `used` counts all of them; those from `size` on are not stored. */
typedef struct md_printer { char *at; int size, used; } md_printer;

/* The string without its 0: the end of the text gets one 0 in md_explain_row. */
MD_STATIC void md_print(md_printer *out, const char *s)
{
    for (; *s; s++, out->used++)
        if (out->used < out->size) out->at[out->used] = *s;
}

/* n >= 0 in decimal: an index, or an exponent without its sign. */
MD_STATIC void md_print_int(md_printer *out, int n)
{
    char digits[12];
    int k = 11;
    digits[k] = 0;
    do {
        digits[--k] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    md_print(out, digits + k);
}

/* d.ddde-n of the digits 0 to `last`; a single digit has no point. Changes the digits. */
MD_STATIC void md_print_scientific(md_printer *out, char digits[8], int last, int exponent)
{
    const char second = digits[1];
    digits[last + 1] = 0;
    digits[1] = 0;
    md_print(out, digits);
    if (last > 0) {
        digits[1] = second;
        md_print(out, ".");
        md_print(out, digits + 1);
    }
    md_print(out, exponent < 0 ? "e-" : "e");
    md_print_int(out, exponent < 0 ? -exponent : exponent);
}

/* At most 6 significant digits, without zeros at the end: 0.2, -35, 1.23457e6. Scientific below
   1e-5 and from 1e6 on. Not printf: there is no libc, and every scalar prints the same. */
MD_STATIC void md_print_number(md_printer *out, md_num x)
{
    char digits[8];
    int exponent, k, last = 5;
    int32_t n;
    if (md_less(x, MD_K(0))) md_print(out, "-");
    if (md_is_zero(x)) { md_print(out, "0"); return; }

    /* |x| = n 10^(exponent - 5), 100000 <= n < 1000000 */
    n = md_decimal(md_abs(x), &exponent);
    for (k = 5; k >= 0; k--, n /= 10) digits[k] = (char)('0' + n % 10);
    while (last > 0 && digits[last] == '0') last--;
    if (exponent < -5 || exponent > 5) {
        md_print_scientific(out, digits, last, exponent);
        return;
    }

    /* Zeros between the point and the first digit; then digits, down to units at least */
    if (exponent < 0) md_print(out, "0.");
    for (k = exponent + 1; k < 0; k++) md_print(out, "0");
    for (k = 0; k <= last || k <= exponent; k++) {
        char c[2];
        c[0] = digits[k];
        c[1] = 0;
        if (k > 0 && k == exponent + 1) md_print(out, ".");
        md_print(out, c);
    }
}

/* A number with the words around it: name or sign in front, unit behind. */
MD_STATIC void md_print_value(md_printer *out, const char *before, md_num x, const char *after)
{
    md_print(out, before);
    md_print_number(out, x);
    md_print(out, after);
}

/* ---- names, units, softness ---- */

/* The name of a coupling, closure or user row behind its index, if it has one. */
MD_STATIC void md_print_name(md_printer *out, const char *name)
{
    if (!name) return;
    md_print(out, " ");
    md_print(out, name);
}

/* Name of a body, or its index if it has none. */
MD_STATIC void md_print_body(md_printer *out, const mdyn_sim *sim, int body)
{
    const char *name = body < 0 ? "world" : sim->body_table[body].name;
    if (name) md_print(out, name);
    else md_print_int(out, body);
}

/* q(hip), v(2.1): symbol, body of the joint, and which DoF of it, if it has several. */
MD_STATIC void md_print_joint(md_printer *out, const mdyn_sim *sim, const char *symbol, int dof)
{
    const int body = md_body_of(sim, dof);
    md_print(out, symbol);
    md_print(out, "(");
    md_print_body(out, sim, body);
    if (sim->link[body].dofs > 1) {
        md_print(out, ".");
        md_print_int(out, dof - md_dof_of(sim, body));
    }
    md_print(out, ")");
}

/* Unit of C, or of C': that of the joints, as if coefficients had none; both units if a row has
   angular and linear DoFs. */
MD_STATIC const char *md_unit_of_terms(const mdyn_sim *sim, const md_terms *t, int velocity)
{
    int k, linear = 0;
    for (k = 0; k < t->count; k++) linear += sim->dof[t->dof[k]].kind == MD_LINEAR;
    if (velocity) return linear == 0 ? "rad/s" : linear == t->count ? "m/s" : "rad/s, m/s";
    return linear == 0 ? "rad" : linear == t->count ? "m" : "rad, m";
}

/* The softness in the parameters in which the model gives it, in the units of >>types:
      "; hard, erp 0.2"   "; soft, erp 0.3, cfm 1e-6"   "; soft, erp 0, ODE CFM 0.01"
      "; kp 100, kd 2"    "; omega 20 rad/s, zeta 0.7"
   The default is MDYN_HARD(0.2); an omega of 0 is printed as hard. */
MD_STATIC void md_print_softness(md_printer *out, const mdyn_softness *s)
{
    const md_num a = md_of_wide(s->a), b = md_of_wide(s->b);

    if (s->kind == MDYN_KP_KD) {
        md_print_value(out, "; kp ", a, "");
        md_print_value(out, ", kd ", b, "");
    } else if (s->kind == MDYN_OMEGA_ZETA && !md_softness_is_hard(s)) {
        md_print_value(out, "; omega ", a, " rad/s");
        md_print_value(out, ", zeta ", b, "");
    } else {
        md_print(out, md_softness_is_hard(s) ? "; hard" : "; soft");
        md_print_value(out, ", erp ", md_softness_has_erp(s) ? a : MD_K(0.2), "");
        if (!md_softness_is_hard(s))
            md_print_value(out, s->kind == MDYN_ODE_CFM ? ", ODE CFM " : ", cfm ", b, "");
    }
}

/* The symmetric bound of a force, as in couplings and closures; 0: none. */
MD_STATIC void md_print_effort(md_printer *out, mdyn_wide effort)
{
    if (!md_wide_is_zero(effort)) md_print_value(out, ", |force| <= ", md_of_wide(effort), "");
}

/* Lower bound in front of an expression, upper bound behind it. One of MDYN_UNLIMITED or more is
   none, and is left out. */
MD_STATIC void md_print_lower(md_printer *out, mdyn_wide lower)
{
    if (md_has_lower(lower)) md_print_value(out, "", md_of_wide(lower), " <= ");
}

MD_STATIC void md_print_upper(md_printer *out, mdyn_wide upper)
{
    if (md_has_upper(upper)) md_print_value(out, " <= ", md_of_wide(upper), "");
}

/* ---- couplings ---- */

/* Sum of coefficient q, or of coefficient v: "-q(1) - 0.5 q(hip)". Coefficients of 1 and -1 show
   their sign alone. Terms with coefficient 0 are not in *t. */
MD_STATIC void md_print_terms(md_printer *out, const mdyn_sim *sim, const md_terms *t,
                              const char *symbol)
{
    const md_num one = MD_K(1);
    int k;
    for (k = 0; k < t->count; k++) {
        const md_num x = t->factor[k], size = md_abs(x);
        md_print(out, md_less(x, MD_K(0)) ? (k ? " - " : "-") : k ? " + " : "");
        if (md_less(size, one) || md_less(one, size)) md_print_value(out, "", size, " ");
        md_print_joint(out, sim, symbol, t->dof[k]);
    }
}

/* Sum of coefficient f(q): "q(1) - curve 0(q(0))"; a coupler: "curve 0(q(1), q(0))". What is in a
   curve is the model's, and too long for a line. */
MD_STATIC void md_print_curves(md_printer *out, const mdyn_sim *sim, int i)
{
    const mdyn_coupling *c = md_coupling_at(sim, i);
    const mdyn_curve *coupler = md_coupler_of(sim, i);
    const int first = md_first_term(c);
    int k;
    for (k = first; k < MIMICDYN_MAX_TERMS; k++) {
        const md_num x = md_of_wide(c->terms[k].coefficient), size = md_abs(x);
        if (md_is_zero(x)) continue;

        /* sign and coefficient; a coupler has those of its first term, and is written once with
           its joints in one pair of brackets */
        if (k > first) md_print(out, coupler ? ", " : md_less(x, MD_K(0)) ? " - " : " + ");
        else if (md_less(x, MD_K(0))) md_print(out, "-");
        if ((k == first || !coupler) && !md_is_zero(md_sub(size, MD_K(1))))
            md_print_value(out, "", size, " ");
        /* the curve by its index in the model */
        if (c->terms[k].curve && (k == first || !coupler)) {
            md_print(out, "curve ");
            md_print_int(out, c->terms[k].curve - 1);
            md_print(out, "(");
        }
        md_print_joint(out, sim, "q", md_dof_of(sim, c->terms[k].body));
        if (c->terms[k].curve && !coupler) md_print(out, ")");
    }
    if (coupler) md_print(out, ")");
}

/* The equation of a coupling, offset included:
      level       equality, lower = upper           inequality
      position    C = lower                         lower <= C <= upper
      velocity    C' = target velocity + lower      lower <= C' - (target velocity) <= upper
   A bound that is not meant is left out, with its sign. */
MD_STATIC void md_print_coupling_equation(md_printer *out, const mdyn_sim *sim,
                                          const mdyn_coupling *c, const md_terms *t)
{
    const int equality = md_coupling_is_equality(c), velocity = c->level == MDYN_VELOCITY;
    const md_num lower = md_of_wide(c->lower), offset = md_of_wide(c->offset);
    const md_num target_velocity = md_of_wide(c->target_velocity);

    if (!equality) md_print_lower(out, c->lower);
    if (md_coupling_is_curved(sim, (int)(c - sim->coupling)))
        md_print_curves(out, sim, (int)(c - sim->coupling));
    else
        md_print_terms(out, sim, t, velocity ? "v" : "q");
    if (velocity && !equality && !md_is_zero(target_velocity))
        md_print_value(out, " - (", target_velocity, ")");
    if (!velocity && !md_is_zero(offset))
        md_print_value(out, md_less(offset, MD_K(0)) ? " - " : " + ", md_abs(offset), "");

    if (equality)
        md_print_value(out, " = ", velocity ? md_add(target_velocity, lower) : lower, "");
    else md_print_upper(out, c->upper);
}

/* The equation with its unit; then softness, target velocity of C, and the bounds of the force:
      -0.1 <= q(1) - 35 <= 0.25 [rad]; hard, erp 0.2, |force| <= 4 or it breaks
   A velocity coupling has its target velocity in the equation. `mu` is a second bound, beside the
   effort. */
MD_STATIC void md_print_coupling(md_printer *out, const mdyn_sim *sim, const mdyn_coupling *c,
                                 const md_terms *t)
{
    const int velocity = c->level == MDYN_VELOCITY;
    md_print_coupling_equation(out, sim, c, t);
    md_print(out, " [");
    md_print(out, md_unit_of_terms(sim, t, velocity));
    md_print(out, "]");

    /* behind the equation; a target velocity of 0, and bounds that do not exist, are left out */
    md_print_softness(out, &c->softness);
    if (!velocity && !md_wide_is_zero(c->target_velocity))
        md_print_value(out, ", target velocity ", md_of_wide(c->target_velocity), "");
    md_print_effort(out, c->effort);
    if (!md_wide_is_zero(c->effort) && c->breaks) md_print(out, " or it breaks");
    if (md_has_mu(c)) {
        md_print_value(out, ", |force| <= ", md_of_wide(c->mu), " |force of coupling ");
        md_print_int(out, c->mu_of);
        md_print(out, "|");
    }
}

/* ---- rows on bodies ---- */

/* A quantity between two bodies: "gap between 0 and 2". */
MD_STATIC void md_print_pair(md_printer *out, const mdyn_sim *sim, const char *what, int a, int b)
{
    md_print(out, what);
    md_print_body(out, sim, a);
    md_print(out, " and ");
    md_print_body(out, sim, b);
}

/* Row index % 6 of closure index / 6:
      0, 1, 2   displacement along x, y, z of the world; 0 alone, with MDYN_CLOSE_DISTANCE: distance
      3, 4      hinge: angle between the axes, about two directions across the axis of b
      3, 4, 5   weld: rotation about x, y, z of the world */
MD_STATIC void md_print_closure(md_printer *out, const mdyn_sim *sim, int index)
{
    static const char axes[][14] = { ", along x", ", along y", ", along z", ", about x",
                                     ", about y", ", about z" };
    const mdyn_closure *c = &MD_BODY_ROWS(sim)->closure_table[index / 6];
    const int k = index % 6, hinge = c->kind == MDYN_CLOSE_HINGE && k > 2;

    md_print_name(out, c->name);
    md_print(out, ": ");
    if (c->kind == MDYN_CLOSE_DISTANCE) {
        md_print_pair(out, sim, "distance between ", c->a, c->b);
        md_print_value(out, " = ", md_of_wide(c->distance), " [m]");
    } else {
        md_print_pair(out, sim, k < 3 ? "displacement between "
                      : hinge ? "misalignment of the axes of " : "rotation between ", c->a, c->b);
        md_print(out, hinge ? k == 3 ? ", first" : ", second" : axes[k]);
        md_print(out, k < 3 ? " = 0 [m]" : " = 0 [rad]");
    }
    md_print_softness(out, &c->softness);
    md_print_effort(out, c->effort);
}

/* A user row as it was set up last: the table's, or what the callback made of it. Its C is a
   number: there is no formula and no unit to print. The bodies are those of its terms; a term of
   MDYN_WORLD is not among them. */
MD_STATIC void md_print_user_row(md_printer *out, const mdyn_sim *sim, int index,
                                 const md_body_row *r)
{
    const mdyn_user_row *rows = MD_BODY_ROWS(sim)->user_row_table;
    const mdyn_user_row *table = rows ? &rows[index] : NULL;
    const int range = md_body_row_has_range(r);
    int k;

    /* Name of the table, bodies of the callback */
    md_print_name(out, table ? table->name : NULL);
    md_print(out, ": on ");
    for (k = 0; k < r->term_count; k++) {
        if (k) md_print(out, ", ");
        md_print_body(out, sim, r->body[k]);
    }
    if (r->term_count == 0) md_print(out, "no body");

    /* Equality: C and target velocity. Range: its bounds, of C or of C' - target velocity */
    if (r->level != MDYN_VELOCITY) md_print_value(out, "; C ", r->value, "");
    if (r->level == MDYN_VELOCITY || !range)
        md_print_value(out, "; target velocity ", r->target_velocity, "");
    if (range && md_has_lower(r->lower))
        md_print_value(out, ", lower ", md_of_wide(r->lower), "");
    if (range && md_has_upper(r->upper))
        md_print_value(out, ", upper ", md_of_wide(r->upper), "");
    md_print_softness(out, &r->softness);

    /* Bounds of the force: mu times that of another user row, or a range that may be one-sided */
    if (r->leader >= 0) {
        md_print_value(out, ", |force| <= ", r->mu, " |force of user row ");
        md_print_int(out, sim->row[r->leader].index);
        md_print(out, "|");
        return;
    }
    if (md_less(MD_K(-1e29), r->force_min)) md_print_value(out, ", force >= ", r->force_min, "");
    if (md_less(r->force_max, MD_K(1e29))) md_print_value(out, ", force <= ", r->force_max, "");
}

/* Row index % 3 of contact index / 3: row 0 is the gap along the normal; rows 1 and 2 are Coulomb
   friction along two tangents, each bounded by mu times the force of row 0. */
MD_STATIC void md_print_contact(md_printer *out, const mdyn_sim *sim, const md_row *row)
{
    const md_contact_point *c = &MD_CONTACTS(sim)->contact[row->index / 3];
    if (row->index % 3 == 0) {
        md_print_pair(out, sim, ": gap between ", c->a, c->b);
        md_print(out, " >= 0 [m]");
        md_print_softness(out, &c->softness);
        return;
    }

    /* rows 1 and 2 of a contact: friction */
    md_print_pair(out, sim, ": slip velocity between ", c->a, c->b);
    md_print_value(out, " = 0 while |force| <= ", c->mu, " force of contact ");
    md_print_int(out, row->index - row->index % 3);
}

/* The row of a closure, a contact or a callback, behind its kind and index. */
MD_STATIC void md_print_body_row(md_printer *out, const mdyn_sim *sim, const md_row *row)
{
    if (MD_HAS_CONTACTS && row->kind == MDYN_ROW_CONTACT) md_print_contact(out, sim, row);
    else if (MD_HAS_CLOSURES && row->kind == MDYN_ROW_CLOSURE)
        md_print_closure(out, sim, row->index);
    else if (MD_HAS_CLOSURES) md_print_user_row(out, sim, row->index, md_body_row_at(sim, row));
}

/* ---- rows of one joint ---- */

/* force = kp (target - q) + kd (target_velocity - v): targets are commands, so they stand as words.
   The effort bounds the drive and tau together. */
MD_STATIC void md_print_drive(md_printer *out, const mdyn_sim *sim, int dof)
{
    const md_joint_values *b = md_values_of_dof(sim, dof);
    md_print_value(out, "force = ", md_of_wide(b->drive_kp), " (target - ");
    md_print_joint(out, sim, "q", dof);
    md_print_value(out, ") + ", md_of_wide(b->drive_kd), " (target_velocity - ");
    md_print_joint(out, sim, "v", dof);
    md_print(out, ")");
    if (!md_wide_is_zero(b->effort))
        md_print_value(out, ", |force + tau| <= ", md_of_wide(b->effort), "");
}

/* lower <= q <= upper, or one side of it. The unit is that of the joint's coordinate: a helical
   joint has an angle. */
MD_STATIC void md_print_limit(md_printer *out, const mdyn_sim *sim, int dof)
{
    const md_joint_values *b = md_values_of_dof(sim, dof);
    md_print_lower(out, b->lower);
    md_print_joint(out, sim, "q", dof);
    md_print_upper(out, b->upper);
    md_print(out, sim->dof[dof].kind == MD_LINEAR ? " [m]" : " [rad]");
}

/* ---- any row ---- */

/* Kind, index, and the equation of the row. */
MD_STATIC void md_print_row(md_printer *out, const mdyn_sim *sim, const md_row *row)
{
    static const char names[][10] = { "coupling ", "loss ", "drive ", "friction ", "limit ",
                                      "closure ", "user row ", "contact " };
    const mdyn_coupling *c;
    md_terms terms;

    /* `names` is in the order of mdyn_row_kind */
    md_print(out, names[row->kind]);
    md_print_int(out, row->index);
    if (md_is_body_row(row)) {
        md_print_body_row(out, sim, row);
        return;
    }

    /* Rows of joint velocities: a coupling may have a name, the others are those of one joint, or
       of the coupling whose loss they are */
    if (row->kind == MDYN_ROW_COUPLING) {
        c = md_coupling_at(sim, row->index);
        md_find_straight_terms(sim, row, &terms);
        md_print_name(out, c->name);
        md_print(out, ": ");
        md_print_coupling(out, sim, c, &terms);
        if (sim->released[row->index]) md_print(out, " (released)");
        return;
    }

    md_print(out, ": ");
    if (row->kind == MDYN_ROW_LOSS) {
        c = md_coupling_at(sim, row->index);
        md_print_value(out, "transmission efficiency ", md_of_wide(c->efficiency), "");
    } else if (row->kind == MDYN_ROW_DRIVE) {
        md_print_drive(out, sim, row->index);
    } else if (row->kind == MDYN_ROW_FRICTION) {
        md_print_joint(out, sim, "v", row->index);
        md_print_value(out, " = 0 while |force| <= ",
                       md_of_wide(md_values_of_dof(sim, row->index)->friction), "");
    } else {
        md_print_limit(out, sim, row->index);
    }
}

/* The text of row k, with a 0 behind it. MDYN_ERR_ROOM if it does not fit into `size` bytes. */
MD_STATIC int md_explain_row(mdyn_sim *sim, int k, char *text, int size)
{
    const md_row *row = md_row_at(sim, k);
    md_printer out;

    /* Measured: with size 0 no character is stored */
    out.at = text;
    out.size = out.used = 0;
    md_print_row(&out, sim, row);
    if (out.used >= size) return md_blame(sim, MDYN_ERR_ROOM, row->index);

    /* Written */
    out.size = size;
    out.used = 0;
    md_print_row(&out, sim, row);
    text[out.used] = 0;
    return MDYN_OK;
}

/* =============================================================================== // >>query
   The numbers that calls return, and the checks of a sim.

   Given:  a ready sim, and the arguments of a call.
   Gives:  results in the units and frames of >>calls. The first and last steps of a query: is the
           sim ready, is every result within the range of its type. The formulae that no step
           needs: Jacobian, acceleration of a point, mass center, energy, a dense M, the report of
           a row, a body as text.
   Writes:  sim->culprit, the cache of the kinematics, workspaces of the solve; the results of the
           caller only once all of them are known to be in range.

   A query checks the state, brings poses up to date once if q or v has changed since the last
   call (O(b)), computes what it returns, and gives results only if all of them are in range.
   The nearest inertia that a body may have (mdyn_valid_inertia) is found on the principal axes:
   Jacobi rotations diagonalize the matrix, the principal moments are moved onto the triangle
   inequality by the shortest distance, and the same rotations turn the result back.

      J_k = (S_k ang, S_k lin + S_k ang x arm)    arm from the joint's origin to the point
      J a + J' v  =  sum over the DoFs k of J_k a_k  +  (alpha, acc + g + rates arm)
                  with alpha, acc and rates of the body at zero joint accelerations (>>kinematics)
      2 T = sum of omega . I omega + v . (m v + 2 omega x h) + armature v_k^2,  h = m c
      V   = - sum of g . (m r + h)                both in world axes, at the body's origin r

   The wrench through a joint in the last step is that of inverse dynamics for the motion of its
   middle, less the wrenches on what the joint carries:
      (n, f) = sum of (n, f)_RNEA - external - J^T lambda/dt of rows on bodies
   A step keeps dv for it, of joints; the pose of its middle is found by going back from its end.
   Source: Featherstone 2008, chapter 2 (kinetic energy, Jacobian), section 6.2 (M). */

/* ---- before and after ---- */

/* Results of 1e30 and more are refused in every scalar, NaN too; F32 itself ends at 3e38. */
MD_INLINE int md_is_representable(md_num x) { return md_less(md_abs(x), MD_K(1e30)); }

/* Pointers a and b, the sim and the body of a query. */
MD_STATIC int md_check_query(mdyn_sim *sim, int body, const void *a, const void *b)
{
    if (!md_is_ready(sim)) return md_not_ready(sim);
    if (!a || !b) return md_blame(sim, MDYN_ERR_NULL, body);
    if (body < 0 || body >= sim->bodies) return md_blame(sim, MDYN_ERR_INDEX, body);
    return MDYN_OK;
}

/* The same, then the kinematics of the present q and v. */
MD_STATIC int md_open_query(mdyn_sim *sim, int body, const void *a, const void *b)
{
    int code = md_check_query(sim, body, a, b);
    if (code == MDYN_OK) code = md_refresh_kinematics(sim);
    if (code != MDYN_OK || !md_has_curved_ties(sim)) return code;

    /* G of the present q, and g of the present v */
    code = md_update_curves(sim);
    if (code == MDYN_OK) md_update_G(sim);
    return code;
}

/* The same for a query that updates the part of the kinematics that it needs. */
MD_STATIC int md_open_dynamics(mdyn_sim *sim, const void *a, const void *b)
{
    int code = md_check_query(sim, 0, a, b);
    return code == MDYN_OK ? md_check_state(sim) : code;
}

/* The same for a query that reads nothing but kinematics: a row's callback may ask it. */
MD_STATIC int md_open_kinematics(mdyn_sim *sim, int body, const void *a, const void *b)
{
    int code;
    if (!sim || sim->ready_mark != MD_IN_CALLBACK) return md_open_query(sim, body, a, b);
    sim->ready_mark = MD_READY;
    code = md_open_query(sim, body, a, b);
    sim->ready_mark = MD_IN_CALLBACK;
    return code;
}

/* Writes all n results, or returns MDYN_ERR_RESULT (index: result) and writes none. */
MD_STATIC int md_write_results(mdyn_sim *sim, mdyn_wide *to, const md_num *from, int n)
{
    int k;
    for (k = 0; k < n; k++)
        if (!md_is_representable(from[k])) return md_blame(sim, MDYN_ERR_RESULT, k);
    for (k = 0; k < n; k++) to[k] = md_to_wide(from[k]);
    return MDYN_OK;
}

/* The vector x (NULL: 0) into `to`: over the independent DoFs if `y`, followers being 0, or over
   all. MDYN_ERR_STATE with the index of an element that is not finite, or too large. */
MD_STATIC int md_read_vector(mdyn_sim *sim, const mdyn_wide *x, int y, md_num *to)
{
    int j = 0, k;
    for (k = 0; k < sim->dofs; k++) {
        to[k] = MD_K(0);
        if (!x || (y && md_is_follower(sim, k))) continue;
        if (!md_wide_in_range(x[j])) return md_blame(sim, MDYN_ERR_STATE, j);
        to[k] = md_of_wide(x[j++]);
    }
    return MDYN_OK;
}

/* ---- the reduced system ---- */

/* sim->dv := G y', or G y'' + g with MD_MODE_ACCELERATION. */
MD_STATIC int md_find_expanded(mdyn_sim *sim, const mdyn_wide *y, enum md_mode mode)
{
    const int code = md_read_vector(sim, y, 1, sim->dv);
    if (code != MDYN_OK) return code;
    sim->has_off = 0;
    if (mode == MD_MODE_ACCELERATION) md_find_off(sim, mode);
    md_expand(sim, sim->dv);
    sim->has_off = 0;
    return MDYN_OK;
}

/* M_y[m][m] of M by md_crba. MDYN_ERR_RESULT names a DoF. */
MD_STATIC int md_write_reduced_mass_matrix(mdyn_sim *sim, mdyn_wide *y_mass)
{
    const md_num *M_y = md_tie_count(sim) ? sim->shared.factor.mass_y : sim->mass;
    const int16_t *number = sim->reduced.dof;
    const int m = md_number_independent(sim);
    int j, k;
    if (md_tie_count(sim)) md_reduce_mass(sim);
    for (k = 0; k < sim->dofs; k++)
        if (!md_is_follower(sim, k) && !md_is_representable(M_y[sim->L_first[k]]))
            return md_blame(sim, MDYN_ERR_RESULT, k);

    /* row k has its ancestors in the elimination tree; all others are 0 */
    for (k = 0; k < m * m; k++) y_mass[k] = MDYN_C(0);
    for (k = 0; k < sim->dofs; k++)
        for (j = md_is_follower(sim, k) ? -1 : k; j >= 0; j = md_parent_y(sim, j))
            y_mass[number[k] * m + number[j]] = y_mass[number[j] * m + number[k]]
                = md_to_wide(*M_y++);
    return MDYN_OK;
}

/* ---- rows ---- */

/* J v of row k at the present v; rows on bodies have J of their last set-up. */
MD_STATIC md_num md_present_row_velocity(const mdyn_sim *sim, int k)
{
    md_terms t;
    if (md_is_body_row(md_row_at(sim, k))) return md_body_row_velocity(sim, md_row_at(sim, k));
    md_find_step_terms(sim, md_row_at(sim, k), &t);
    return md_row_velocity(sim, md_row_at(sim, k), &t);
}

/* Whether a row constrains C, and not C' alone. */
MD_INLINE int md_row_has_position(const mdyn_sim *sim, const md_row *row)
{
    if (md_is_body_row(row)) return !md_body_row_is_of_velocity(sim, row);
    if (row->kind == MDYN_ROW_COUPLING)
        return md_coupling_at(sim, row->index)->level == MDYN_POSITION;
    return row->kind == MDYN_ROW_DRIVE || row->kind == MDYN_ROW_LIMIT;
}

/* The error of a row in the present state; for a range, how far outside it. */
MD_STATIC md_num md_present_error(const mdyn_sim *sim, const md_row *row)
{
    md_terms t;
    mdyn_wide lower = MDYN_C(0), upper = MDYN_C(0);
    md_value C;
    md_num above, below;
    if (!md_row_has_position(sim, row)) return MD_K(0);

    /* C at the present state */
    if (md_is_body_row(row)) {
        md_set_value_after(sim, row, &C);
    } else {
        md_find_row_terms(sim, row, &t);
        md_sum_position(sim, row, &t, &C.sum);
    }

    /* less its target, or beyond the bounds of its range */
    if (row->kind == MDYN_ROW_DRIVE)
        md_sum_add_velocity(&C.sum, MDYN_C(-1), sim->target[row->index]);
    else if (md_is_body_row(row) || md_row_has_range(sim, row) || row->kind == MDYN_ROW_COUPLING)
        md_activation_range(sim, row, &lower, &upper);

    below = md_sum_minus(&C.sum, lower);
    above = md_sum_minus(&C.sum, upper);
    if (md_has_lower(lower) && md_less(below, MD_K(0))) return below;
    return md_has_upper(upper) && md_less(MD_K(0), above) ? above : MD_K(0);
}

/* C' at the end of a midpoint step minus J v' at its middle. */
MD_STATIC md_num md_row_turn(const mdyn_sim *sim, int k)
{
    const md_row *row = md_row_at(sim, k);
    if (MD_HAS_CURVES && row->kind == MDYN_ROW_COUPLING && md_uses_midpoint(sim))
        return md_mul(md_mul(MD_K(0.5), sim->dt),
                      md_sum_bends(sim, row->index, MD_BEND_STEP_RATE));
    return md_is_body_row(row) ? md_body_row_turn(sim, row) : MD_K(0);
}

/* MDYN_ROW_AT_LOWER or _AT_UPPER if row k is a limit or the range of a coupling and pushes away
   from that bound; otherwise 0, also with MDYN_ENGAGED, which sets these flags itself. */
MD_STATIC int md_acting_bound(const mdyn_sim *sim, int k)
{
    const md_row *row = md_row_at(sim, k);
    const md_num lambda = sim->row_result[k].impulse;
    if (MD_SETTING_IS(sim, limits, MDYN_ENGAGED) || md_is_zero(lambda)) return 0;
    if (row->kind != MDYN_ROW_LIMIT && (row->kind != MDYN_ROW_COUPLING
        || md_coupling_is_equality(md_coupling_at(sim, row->index)))) return 0;
    return md_less(lambda, MD_K(0)) ? MDYN_ROW_AT_UPPER : MDYN_ROW_AT_LOWER;
}

/* What row k did in the last step. The residual is by how much J v + cfm lambda lies outside
   [v_lo, v_hi]. A row that took no part in that step has impulse 0, and no error, residual or flag
   of its own. */
MD_STATIC int md_fill_row_report(const mdyn_sim *sim, int k, mdyn_row_report *report)
{
    const md_row_result *r = &sim->row_result[k];
    const int live = r->last_step == sim->step_count;
    const md_num velocity = md_present_row_velocity(sim, k);
    const md_num force = md_mul(sim->inverse_dt, r->impulse);
    const md_num power = md_mul(force, velocity);
    const md_num solved = md_add(velocity, r->cfm_lambda);
    const md_num error = md_uses_midpoint(sim) ? md_present_error(sim, md_row_at(sim, k))
                                               : r->error;
    md_num residual = MD_K(0);

    /* how far J v' + cfm lambda misses its bounds */
    if (live && md_less(solved, r->v_lo)) residual = md_sub(solved, r->v_lo);
    if (live && md_less(r->v_hi, solved)) residual = md_sub(solved, r->v_hi);
    if (!md_all_in_range(sim->v, sim->dofs)) return MDYN_ERR_STATE;
    if (!md_is_representable(velocity) || !md_is_representable(force)
        || !md_is_representable(power) || !md_is_representable(residual))
        return MDYN_ERR_RESULT;

    report->impulse = md_to_wide(r->impulse);
    report->force = md_to_wide(force);
    report->power = md_to_wide(power);
    report->error = md_to_wide(live ? error : MD_K(0));
    report->velocity = md_to_wide(md_add(velocity, md_row_turn(sim, k)));
    report->residual = md_to_wide(residual);
    report->flags = live ? r->flags : 0;
    if (live) report->flags |= (uint8_t)md_acting_bound(sim, k);
    if (md_row_is_released(sim, md_row_at(sim, k))) report->flags |= MDYN_ROW_RELEASED;
    return MDYN_OK;
}

/* The generalized force of a coupling at the joint of a term:
      f = coefficient (lambda + lambda_loss / 2)/dt    at the first term
      f = coefficient (lambda - lambda_loss / 2)/dt    at the others
   since the row of the loss has half the first coefficient and minus half the others. */
MD_STATIC md_num md_force_of_term(const mdyn_sim *sim, int coupling, int term)
{
    const mdyn_coupling *c = md_coupling_at(sim, coupling);
    md_num lambda = sim->row_result[coupling].impulse;
    md_terms t;
    int first = 0, loss, k, place = 0;
    if (md_has_efficiency(c)) {
        loss = md_find_row(sim, MDYN_ROW_LOSS, coupling);
        while (md_wide_is_zero(c->terms[first].coefficient)) first++;
        lambda = md_add(lambda, md_mul(first == term ? MD_K(0.5) : MD_K(-0.5),
                                       sim->row_result[loss].impulse));
    }
    /* a coefficient is its own slope */
    if (!md_coupling_is_curved(sim, coupling))
        return md_mul(md_mul(sim->inverse_dt, lambda), md_of_wide(c->terms[term].coefficient));

    /* with the slope of a curve in the last step; absent terms are not in t, so the place there is
       the number of present ones before this one */
    if (md_wide_is_zero(c->terms[term].coefficient)) return MD_K(0);
    md_find_step_terms(sim, md_row_at(sim, coupling), &t);
    for (k = 0; k < term; k++) place += !md_wide_is_zero(c->terms[k].coefficient);
    return md_mul(md_mul(sim->inverse_dt, lambda), t.factor[place]);
}

/* ---- is the sim as the calls have left it? ----
   Constants are compared with their sum. Every index and every count that steps change must lie
   within its array; no other number can make a call leave an array. */

MD_STATIC int md_is_between(int lower, int x, int upper) { return lower <= x && x <= upper; }

/* The DoFs are those of the links. */
MD_STATIC int md_dofs_are_valid(const mdyn_sim *sim)
{
    int i, k, ok = 1;
    for (i = 0; i < sim->bodies; i++) {
        const md_link *link = &sim->link[i];
        for (k = 0; k < link->dofs; k++) {
            const md_dof *d = &sim->dof[link->dof + k];
            ok &= d->body == i && d->kind == md_dof_kind((mdyn_joint)link->joint, k)
                && d->coordinate == (link->dofs == 1 ? link->coordinate : -1);
        }
    }
    return ok;
}

/* Ties, G, the elimination tree and where the rows of L stand. */
MD_STATIC int md_reduction_is_valid(const mdyn_sim *sim)
{
    int k, n = 0, ok = md_is_between(0, sim->tie_count, sim->couplings)
        && md_is_between(sim->dofs, sim->G_count, MDYN_G_SIZE_);
    for (k = 0; ok && k < sim->G_count; k++) ok = sim->G_y[k] < sim->dofs;
    for (k = 0; ok && k < md_tie_count(sim); k++)
        ok = md_is_between(0, sim->tie[k].coupling, sim->couplings - 1)
            && sim->eliminated[sim->tie[k].coupling] == 1
            && md_is_between(0, sim->tie[k].dof, sim->dofs - 1)
            && sim->tie_of[sim->tie[k].dof] == k;

    /* a path leads to lower numbers, and a row of L is as long as its path */
    for (k = 0; ok && k < sim->dofs; k++) {
        const int parent = sim->y_parent[k], length = sim->L_first[k + 1] - sim->L_first[k];
        n += sim->tie_of[k] >= 0;
        ok = md_is_between(-1, sim->tie_of[k], sim->tie_count - 1)
            && md_is_between(0, sim->G_first[k], sim->G_end[k])
            && sim->G_end[k] <= sim->G_count && md_is_between(-1, parent, k - 1)
            && sim->L_first[k] >= 0
            && length == (sim->tie_of[k] >= 0 ? 0
                          : 1 + (parent < 0 ? 0 : md_L_length(sim, parent)));
    }
    return ok && n == sim->tie_count && sim->L_first[0] == 0
        && md_is_between(0, sim->L_first[sim->dofs], MIMICDYN_MAX_ENTRIES);
}

/* Numbers of rows and entries; lists of rows. */
MD_STATIC int md_counts_are_valid(const mdyn_sim *sim)
{
    uint8_t seen[MIMICDYN_MAX_ROWS];
    int k, ok = md_is_between(sim->couplings, sim->joint_row_count, sim->rows)
        && sim->rows <= MIMICDYN_MAX_ROWS
        && md_is_between(0, sim->active_count, MIMICDYN_MAX_ROWS)
        && md_is_between(0, sim->equality_count, sim->active_count)
        && md_is_between(-1, sim->planned_count, sim->rows)
        && sim->entries >= 0 && sim->entries <= MIMICDYN_MAX_ENTRIES
        && md_is_between(0, sim->plan_entries, MIMICDYN_MAX_ENTRIES)
        && md_reduction_is_valid(sim);

    /* no row stands twice in a plan; contacts, which come and go, stand behind this part of it */
    for (k = 0; k < MIMICDYN_MAX_ROWS; k++) seen[k] = 0;
    for (k = 0; ok && sim->planned_count >= 0 && k < sim->joint_row_count; k++)
        ok = sim->setup_order[k] < sim->rows && seen[sim->setup_order[k]]++ == 0;

    /* indices that other arrays are read by */
    for (k = 0; k < MIMICDYN_MAX_ROWS; k++)
        ok &= md_is_between(0, sim->active[k], MIMICDYN_MAX_ROWS - 1)
            && md_is_between(0, sim->setup_order[k], MIMICDYN_MAX_ROWS - 1);
    for (k = 0; k < MDYN_WHITENED_SIZE_; k++)
        ok &= md_is_between(-1, sim->pivot_owner[k], MIMICDYN_MAX_ROWS - 1);
    for (k = 0; k < MIMICDYN_MAX_ENTRIES; k++) {
        const int width = k < sim->L_first[sim->dofs] ? sim->dofs : (int)MDYN_WHITENED_SIZE_;
        ok &= md_is_between(0, sim->entry_column[k], width - 1);
    }
    return ok;
}

/* Whether row k is a joint row that its coupling or body has, in the order of md_build_rows, or a
   row on bodies behind these. */
MD_STATIC int md_row_is_known(const mdyn_sim *sim, int k)
{
    const md_row *row = md_row_at(sim, k), *last = md_row_at(sim, k ? k - 1 : 0);
    if (k < sim->couplings) return row->kind == MDYN_ROW_COUPLING && row->index == k;
    if (k && (row->kind < last->kind || (row->kind == last->kind && row->index <= last->index)))
        return 0;

    /* the index is one of its kind */
    if (row->index < 0 || (row->kind <= MDYN_ROW_LIMIT) != (k < sim->joint_row_count)) return 0;
    if (row->kind == MDYN_ROW_LOSS) return row->index < sim->couplings;
    if (row->kind <= MDYN_ROW_LIMIT)
        return row->index < sim->dofs && md_body_has_row(md_values_of_dof(sim, row->index),
                                                         row->kind);
    if (MD_HAS_CLOSURES && row->kind == MDYN_ROW_CLOSURE)
        return row->index < 6 * MD_BODY_ROWS(sim)->closures;
    if (MD_HAS_CLOSURES && row->kind == MDYN_ROW_USER)
        return row->index < MD_BODY_ROWS(sim)->user_rows;
    if (MD_HAS_CONTACTS && row->kind == MDYN_ROW_CONTACT)
        return row->index < 3 * MD_CONTACTS(sim)->contacts;
    return 0;
}

/* Rows, and where their entries stand. */
MD_STATIC int md_rows_are_valid(const mdyn_sim *sim)
{
    int k, e, ok = 1;
    for (k = 0; k < MIMICDYN_MAX_ROWS && k < sim->rows; k++) { /* the first: for -Warray-bounds */
        const md_row *row = md_row_at(sim, k);
        ok &= md_row_is_known(sim, k) && 0 <= row->first && row->first <= row->lone
            && row->lone <= row->shared
            && md_is_between(row->shared, row->end, MIMICDYN_MAX_ENTRIES)
            && md_is_between(-1, row->pivot, MDYN_WHITENED_SIZE_ - 1)
            && (row->unbounded | row->in_equality | row->in_inequality | row->inactive
                | row->is_spring) <= 1
            && md_is_between(0, row->owned_count, row->end - row->first);
    }

    /* the first entries of a row are at pivots of earlier ones; parallel rows share all */
    for (k = 0; ok && k < sim->planned_count; k++) {
        const md_row *row = md_ordered_row(sim, k);
        if (md_shares_entries(sim, k))
            ok = row->first == md_ordered_row(sim, k - 1)->first
                && row->end == md_ordered_row(sim, k - 1)->end;
        for (e = row->first; e < row->lone; e++)
            ok &= sim->pivot_owner[sim->entry_column[e]] >= 0;
    }
    return ok;
}

/* Rows on bodies. */
MD_STATIC int md_body_rows_are_valid(const mdyn_sim *sim)
{
    int j, p, ok = 1;
    if (!MD_HAS_BODY_ROWS) return 1;
    ok = md_is_between(sim->joint_row_count, MD_BODY_ROWS(sim)->lasting_row_count, sim->rows);
    for (j = 0; ok && j < sim->rows - sim->joint_row_count; j++) {
        const md_body_row *r = &MD_BODY_ROWS(sim)->body_row[j];
        ok = md_is_between(0, r->term_count, MIMICDYN_MAX_TERMS)
            && md_is_between(-1, r->leader, sim->rows - 1);
        for (p = 0; ok && p < r->term_count; p++)
            ok = md_is_between(0, r->body[p], sim->bodies - 1);
    }
    return ok;
}

/* Contacts, whose rows are the last. */
MD_STATIC int md_contacts_are_valid(const mdyn_sim *sim)
{
    const md_contacts *of = MD_CONTACTS(sim);
    int j, ok;
    if (!MD_HAS_CONTACTS) return 1;
    ok = sim->rows == MD_BODY_ROWS(sim)->lasting_row_count + 3 * of->contacts;
    for (j = 0; ok && j < of->contacts; j++)
        ok = md_is_between(-1, of->contact[j].a, sim->bodies - 1)
            && md_is_between(-1, of->contact[j].b, sim->bodies - 1);
    return ok;
}

/* MDYN_ERR_TABLES with the index of an edited body, or -1 for another table; or MDYN_OK. */
MD_STATIC int md_verify_tables(mdyn_sim *sim)
{
    int i;
    if (md_sum_tables(sim) == sim->table_sum) return MDYN_OK;
    for (i = 0; i < sim->bodies; i++)
        if (md_sum_body(&sim->body_table[i]) != sim->link[i].table_sum) break;
    return md_blame(sim, MDYN_ERR_TABLES, i < sim->bodies ? i : -1);
}

/* The private part, in an order in which nothing is used before it has been checked. */
MD_STATIC int md_is_sound(const mdyn_sim *sim)
{
    return md_sum_constants(sim) == sim->constants_sum && md_dofs_are_valid(sim)
        && md_counts_are_valid(sim) && md_rows_are_valid(sim) && md_body_rows_are_valid(sim)
        && md_contacts_are_valid(sim);
}

/* The whole of mdyn_verify. */
MD_STATIC int md_check_integrity(mdyn_sim *sim)
{
    return md_is_sound(sim) ? md_verify_tables(sim) : md_blame(sim, MDYN_ERR_MEMORY, -1);
}

/* ---- inverse dynamics ---- */

/* sim->dv := M a + C of sim->joint_force, the accelerations a; with what the joints lose. */
MD_STATIC void md_find_joint_forces(mdyn_sim *sim, int losses)
{
    md_find_rnea_forces(sim, sim->joint_force);
    if (losses) md_add_joint_losses(sim, sim->joint_force);
}

/* The whole of mdyn_inverse_dynamics, with and without losses. */
MD_STATIC int md_find_inverse_dynamics(mdyn_sim *sim, const mdyn_wide *a, int losses)
{
    int code = md_check_inputs(sim);
    if (code == MDYN_OK) code = md_read_vector(sim, a, 0, sim->joint_force);
    if (code == MDYN_OK) md_find_joint_forces(sim, losses);
    return code;
}

/* sim->dv := M (G y'' + g) + C; y_a NULL: y'' = 0. */
MD_STATIC int md_find_expanded_forces(mdyn_sim *sim, const mdyn_wide *y_a, int losses)
{
    int code = md_check_inputs(sim);
    if (code == MDYN_OK) code = md_find_expanded(sim, y_a, MD_MODE_ACCELERATION);
    if (code != MDYN_OK) return code;
    md_copy_scalars(sim->joint_force, sim->dv, sim->dofs);
    md_find_joint_forces(sim, losses);
    return MDYN_OK;
}

/* sim->dv := the forces of the independent DoFs that give y'', G^T (M (G y'' + g) + C - f), where f
   are the commands of the followers; at the followers f itself. */
MD_STATIC int md_find_reduced_forces(mdyn_sim *sim, const mdyn_wide *y_a, int losses)
{
    int k, code = md_find_expanded_forces(sim, y_a, losses);
    if (code != MDYN_OK) return code;
    for (k = 0; k < sim->dofs; k++)
        if (md_is_follower(sim, k)) sim->dv[k] = md_sub(sim->dv[k], md_of_real(sim->tau[k]));
    md_reduce_force(sim, sim->dv);
    for (k = 0; k < sim->dofs; k++)
        if (md_is_follower(sim, k)) sim->dv[k] = md_of_real(sim->tau[k]);
    return MDYN_OK;
}

/* ---- what a joint transmits ---- */

/* Whether body i of the tables carries body j, or is it; the world (-1) carries all. */
MD_STATIC int md_carries(const mdyn_sim *sim, int i, int j)
{
    while (j > i) j = MD_BODY(&sim->link[j])->body_parent;
    return j == i;
}

/* a += the rates of v that the half steps of a free or spherical joint stand for, at the velocity
   sim->bias_velocity: w' of a single body by Euler's equation, I w' = I w x w; and of the linear
   velocity u, whose direction in the world is that of the mass center c of a single body, of the
   origin (c = 0) of another one:
      u' = -w x (u + w x c) - w' x c */
MD_OWN_FRAME void md_add_drift(const mdyn_sim *sim, const md_link *link, md_num *a)
{
    const md_num *w = MD_TREE(sim)->bias_velocity + link->dof;
    md_num in[6], inertia[3][3], turn[3], c[3], t[3], f[3];
    md_vec com;
    int k;
    for (k = 0; k < 3; k++) turn[k] = c[k] = MD_K(0);

    /* w' of a single body: I w' = I w x w */
    if (MD_BODY(link)->is_single) {
        md_single_inertia(sim, link, in, &com);
        for (k = 0; k < 3; k++) {
            c[k] = md_vec_get(&com, k);
            inertia[k][k] = in[k];
        }
        inertia[0][1] = inertia[1][0] = in[3];
        inertia[0][2] = inertia[2][0] = in[4];
        inertia[1][2] = inertia[2][1] = in[5];
        md_sym6_vec(t, in, w);
        md_cross3(f, t, w);
        md_solve3(turn, inertia, f);
    }

    for (k = 0; k < 3; k++) a[k] = md_add(a[k], turn[k]);
    if (link->joint != MDYN_FREE) return;

    /* w x (u + w x c) + w' x c */
    md_cross3(t, w, c);
    for (k = 0; k < 3; k++) t[k] = md_add(w[3 + k], t[k]);
    md_cross3(f, w, t);
    md_cross3(t, turn, c);
    for (k = 0; k < 3; k++) a[3 + k] = md_sub(a[3 + k], md_add(f[k], t[k]));
}

/* q, sim->bias_velocity and the accelerations sim->joint_force of the middle of the last step: its
   second half backwards, with v reversed. MDYN_EXPLICIT: of its start. The tails of q and v are
   kept in those of the start of a step, q and v themselves in q_seen and v_seen. */
MD_STATIC void md_return_to_middle(mdyn_sim *sim)
{
    const int midpoint = md_uses_midpoint(sim);
    const md_num part = midpoint ? MD_K(0.5) : MD_K(1);
    int k;
    md_copy_tails(sim->q_tail_start, sim->q_tail, sim->coordinates);
    if (md_has_quaternions(sim)) md_copy_tails(sim->v_tail_start, sim->v_tail, sim->dofs);
    for (k = 0; k < sim->dofs; k++) sim->v[k] = md_to_real(md_neg(md_of_real(sim->v[k])));

    /* the drift of a step, which is the same forwards and backwards */
    md_drift_q(sim, midpoint ? sim->half_dt : sim->dt_wide);
    if (midpoint) md_drift_quaternions(sim);
    for (k = 0; k < sim->dofs && !midpoint; k++)
        sim->joint_force[k] = md_mul(sim->dt, md_of_real(sim->v[k]));
    if (!midpoint) md_integrate_quaternions(sim, sim->joint_force);

    /* v is still reversed: v' - dv/2 = -(v + dv/2) */
    for (k = 0; k < sim->dofs; k++) {
        const md_num dv = MD_TREE(sim)->last_dv[k];
        MD_TREE(sim)->bias_velocity[k] = md_neg(md_add(md_of_real(sim->v[k]), md_mul(part, dv)));
        sim->joint_force[k] = md_mul(sim->inverse_dt, dv);
    }
    for (k = 0; md_has_quaternions(sim) && k < sim->bodies && midpoint; k++)
        if (sim->link[k].dofs >= 3)
            md_add_drift(sim, &sim->link[k], sim->joint_force + md_dof_of(sim, k));
}

/* q, v and their tails as they were before md_return_to_middle. */
MD_STATIC void md_return_to_end(mdyn_sim *sim)
{
    md_copy(sim->q, sim->q_seen, sim->coordinates);
    md_copy(sim->v, sim->v_seen, sim->dofs);
    md_copy_tails(sim->q_tail, sim->q_tail_start, sim->coordinates);
    if (md_has_quaternions(sim)) md_copy_tails(sim->v_tail, sim->v_tail_start, sim->dofs);
    sim->kinematics_stale = 1;
}

/* sim->shared.body.wrench -= what rows on bodies exerted in the last step. */
MD_STATIC void md_subtract_row_wrenches(mdyn_sim *sim)
{
    int k, p;
    /* terms on joint velocities act at the joint, between the body and what it is on */
    for (k = sim->joint_row_count; MD_HAS_BODY_ROWS && k < sim->rows; k++) {
        const md_body_row *r = md_body_row_at(sim, md_row_at(sim, k));
        const md_num force = md_neg(md_mul(sim->inverse_dt, sim->row_result[k].impulse));
        for (p = 0; p < r->term_count && !md_is_zero(force); p++)
            if (!r->is_joint_term[p])
                md_force_add_scaled(&MD_WORK(sim)->body.wrench[r->body[p]], force, &r->wrench[p]);
    }
}

/* Adds to the wrench of each welded body on `on` that which gives its own mass the motion of `on`,
   of which md_rnea_outward has made it a part. */
MD_STATIC void md_add_welded_wrenches(mdyn_sim *sim, int on)
{
    md_motion m;
    md_body_state *p;
    md_force f;
    md_mat B;
    int i;

    /* a point of `on` at the origin of a welded body: a + B arm */
    for (i = on + 1; i < sim->bodies; i++) {
        if (sim->link[i].parent != on || !md_is_welded(&sim->link[i])) continue;
        p = &MD_TREE(sim)->body_state[i];

        /* the world: omega = 0, alpha = 0, a = -g */
        md_vec_zero(&p->omega);
        md_vec_zero(&m.ang);
        md_vec_of_wide(&m.lin, &sim->gravity);
        md_vec_scale(&m.lin, MD_K(-1), &m.lin);
        if (on >= 0) {
            p->omega = MD_TREE(sim)->body_state[on].omega;
            m = MD_WORK(sim)->body.motion[on];
            md_mat_vec_add(&m.lin, &m.lin, &MD_TREE(sim)->subtree[on].articulated.cross, &p->arm);
        }

        md_mat_of_rates(&B, &p->omega, &m.ang);
        md_motion_wrench(&f, &sim->link[i], p, &m, &B);
        md_force_add_scaled(&MD_WORK(sim)->body.wrench[i], MD_K(1), &f);
    }
}

/* *f := the wrench on a body through its joint in the last step, at its origin: what gives it and
   all that it carries their motion, less what else acts on them. */
MD_STATIC void md_find_joint_wrench(mdyn_sim *sim, int body, md_force *f)
{
    /* what is welded to `on`, or moves on it, hands its wrench to it, the carried part to `body` */
    const int welded = md_is_welded(&sim->link[body]);
    const int on = welded ? sim->link[body].parent : body;
    md_force *wrench = MD_WORK(sim)->body.wrench;
    int i;

    /* what moves the bodies, less what else acts on each */
    md_return_to_middle(sim);
    sim->kinematics_stale = 1;
    md_find_poses(sim);
    md_rnea_outward(sim, sim->joint_force);
    md_subtract_wrenches(sim);
    md_subtract_row_wrenches(sim);
    if (welded) md_add_welded_wrenches(sim, on);

    /* inwards; of what is on the same body as a welded one only that which the latter carries */
    for (i = sim->bodies - 1; i > body; i--) {
        const int parent = sim->link[i].parent;
        md_vec arm = MD_TREE(sim)->body_state[i].arm;
        if (parent > body) md_force_add_shifted(&wrench[parent], &wrench[i], &arm);
        if (parent != on || (welded && !md_carries(sim, body, i))) continue;
        if (welded) md_vec_sub(&arm, &arm, &MD_TREE(sim)->body_state[body].arm);
        md_force_add_shifted(&wrench[body], &wrench[i], &arm);
    }
    *f = wrench[body];
    md_return_to_end(sim);
}

/* ---- kinematics ---- */

/* Whether the elements of a vector are within the range of mdyn_real. */
MD_STATIC int md_vec_in_range(const md_vec *a)
{
    int k;
    for (k = 0; k < 3; k++)
        if (!md_less(md_abs(md_vec_get(a, k)), MD_K(8388608))) return 0;
    return 1;
}

/* A vector in the caller's type, rounded to nearest. */
MD_STATIC void md_real3_of(mdyn_real3 *r, const md_vec *a)
{
    r->x = md_to_real(md_vec_get(a, 0));
    r->y = md_to_real(md_vec_get(a, 1));
    r->z = md_to_real(md_vec_get(a, 2));
}

/* The rotation of a body's frame of the table in world axes: R Q^T, R that of the internal one. */
MD_STATIC void md_write_rotation(const mdyn_sim *sim, int body, mdyn_real4 *quaternion)
{
    md_mat Q, R;
    md_num q[4];
    md_joint_frame(sim, body, &Q);
    md_mat_transpose(&Q, &Q);
    md_mat_mul(&R, &MD_TREE(sim)->body_state[body].rotation, &Q);
    md_quaternion_of_mat(q, &R);
    quaternion->w = md_to_real(q[0]);
    quaternion->x = md_to_real(q[1]);
    quaternion->y = md_to_real(q[2]);
    quaternion->z = md_to_real(q[3]);
}

/* J[6][n] of a point, angular rows first, world axes; columns of DoFs that are not between the
   body and the world are 0. `arm` leads from the body's origin to the point; it is changed to lead
   from the origin of each ancestor to the same point. */
MD_STATIC void md_write_jacobian(const mdyn_sim *sim, int body, md_vec *arm, mdyn_wide *jacobian)
{
    const int n = sim->dofs;
    int i, j, k;
    for (k = 0; k < 6 * n; k++) jacobian[k] = MDYN_C(0);

    for (i = body; i >= 0; i = sim->link[i].parent) {
        for (k = md_dof_of(sim, i); k < md_dof_of(sim, i) + sim->link[i].dofs; k++) {
            md_motion column;
            md_vec_zero(&column.ang);
            md_vec_zero(&column.lin);
            md_dof_add_motion(&column, MD_K(1), &sim->dof[k]);
            md_vec_add_cross(&column.lin, &column.ang, arm);
            for (j = 0; j < 3; j++) {
                jacobian[j * n + k] = md_to_wide(md_vec_get(&column.ang, j));
                jacobian[(3 + j) * n + k] = md_to_wide(md_vec_get(&column.lin, j));
            }
        }
        md_vec_add(arm, arm, &MD_TREE(sim)->body_state[i].arm);
    }
}

/* (ang, lin) += J' v of a point: the accelerations at zero joint accelerations, without gravity. */
MD_STATIC void md_add_bias_acceleration(const mdyn_sim *sim, int body, const md_vec *arm,
                                        md_motion *m)
{
    const md_body_state *p = &MD_TREE(sim)->body_state[body];
    md_vec g, t;
    md_vec_of_wide(&g, &sim->gravity);
    md_vec_add(&t, &p->acc, &g);
    md_mat_vec_add(&t, &t, &p->rates, arm);
    md_vec_add(&m->lin, &m->lin, &t);
    md_vec_add(&m->ang, &m->ang, &p->alpha);
}

/* (ang, lin) = J a of a point of a body, summed over the DoFs between it and the world; a NULL: 0.
   `arm` as in md_write_jacobian. */
MD_STATIC void md_find_point_motion(const mdyn_sim *sim, int body, md_vec arm, const mdyn_wide *a,
                                    md_motion *m)
{
    int i, k;
    md_vec_zero(&m->ang);
    md_vec_zero(&m->lin);

    /* the column of each DoF on the way to the root; `arm` leads from its body to the point */
    for (i = body; a && i >= 0; i = sim->link[i].parent) {
        for (k = md_dof_of(sim, i); k < md_dof_of(sim, i) + sim->link[i].dofs; k++) {
            md_motion column;
            md_vec_zero(&column.ang);
            md_vec_zero(&column.lin);
            md_dof_add_motion(&column, md_of_wide(a[k]), &sim->dof[k]);
            md_vec_add_cross(&column.lin, &column.ang, &arm);
            md_vec_add(&m->ang, &m->ang, &column.ang);
            md_vec_add(&m->lin, &m->lin, &column.lin);
        }
        md_vec_add(&arm, &arm, &MD_TREE(sim)->body_state[i].arm);
    }
}

/* The vectors u and v as six numbers, which md_write_results checks before it writes one. */
MD_STATIC void md_six_numbers(md_num x[6], const md_vec *u, const md_vec *v)
{
    int k;
    for (k = 0; k < 3; k++) {
        x[k] = md_vec_get(u, k);
        x[3 + k] = md_vec_get(v, k);
    }
}

/* ---- mass ---- */

/* *in += the mass and first moment of body i, at the world's origin: h_world = h + m r for the
   position r of the body. A body that moves comes with all that it carries, whose composite inertia
   sim->subtree has; a welded one alone. */
MD_STATIC void md_add_mass(const mdyn_sim *sim, int i, md_composite *in)
{
    const md_link *link = &sim->link[i];
    const int welded = md_is_welded(link);
    const md_num mass = welded ? MD_BODY(link)->mass : MD_TREE(sim)->subtree[i].composite.mass;
    md_vec origin;
    md_origin_position(sim, i, &origin);
    in->mass = md_add(in->mass, mass);
    md_vec_add(&in->first_moment, &in->first_moment,
               welded ? &MD_TREE(sim)->body_state[i].first_moment
                      : &MD_TREE(sim)->subtree[i].composite.first_moment);
    md_vec_add_scaled(&in->first_moment, mass, &origin);
}

/* Mass and first moment of a body with all that it carries; of MDYN_WORLD: of all trees. By
   composite inertias, at the origins of the bodies first: those of one tree are near each other,
   however far the tree is from the world's origin. A welded body has no composite inertia: it
   counts with those of the bodies that move on it and on what is welded to it in turn. */
MD_STATIC void md_find_carried_mass(mdyn_sim *sim, int body, md_composite *all)
{
    const int parts = body < 0 || md_is_welded(&sim->link[body]);
    const int on = body < 0 ? -1 : sim->link[body].parent;
    int i;
    md_composite_inertias(sim);
    all->mass = MD_K(0);
    md_vec_zero(&all->first_moment);
    for (i = 0; i < sim->bodies; i++)
        if (parts ? sim->link[i].parent == on && md_carries(sim, body, i) : i == body)
            md_add_mass(sim, i, all);
}

/* Mass and center of what a body carries, itself included. */
MD_STATIC int md_find_center_of_mass(mdyn_sim *sim, int body, md_num *mass, md_vec *center)
{
    md_composite all;
    md_find_carried_mass(sim, body, &all);
    if (!md_less(MD_K(0), all.mass)) return md_blame(sim, MDYN_ERR_MASSLESS, body);
    *mass = all.mass;
    md_vec_scale(center, md_div(MD_K(1), all.mass), &all.first_moment);
    return md_vec_in_range(center) && md_is_representable(all.mass)
        ? MDYN_OK : md_blame(sim, MDYN_ERR_RESULT, body);
}

/* The largest distance from the origin of body i to the origins and mass centers of itself and of
   all bodies that it carries, in the present pose. */
MD_STATIC md_num md_find_reach(const mdyn_sim *sim, int i)
{
    const int welded = md_is_welded(&sim->link[i]), on = welded ? sim->link[i].parent : i;
    md_num reach2 = MD_K(0);
    int j, k;
    for (j = i; j < sim->bodies; j++) {
        md_link link;
        md_vec path, com;
        if (!md_carries(sim, i, j)) continue;

        /* from the origin of body i to that of body j, then to its mass center */
        md_vec_zero(&path);
        for (k = j; k != on; k = sim->link[k].parent)
            md_vec_add(&path, &path, &MD_TREE(sim)->body_state[k].arm);
        if (welded) md_vec_sub(&path, &path, &MD_TREE(sim)->body_state[i].arm);

        reach2 = md_max(reach2, md_dot(&path, &path));
        (void)md_link_alone(sim, j, &link);
        if (md_is_zero(MD_BODY(&link)->mass)) continue;
        md_mat_vec(&com, &MD_TREE(sim)->body_state[j].rotation, &MD_BODY(&link)->first_moment);
        md_vec_scale(&com, md_div(MD_K(1), MD_BODY(&link)->mass), &com);
        md_vec_add(&com, &com, &path);
        reach2 = md_max(reach2, md_dot(&com, &com));
    }
    return md_sqrt(reach2);
}

/* The square of the distance from the origin of body j, its joint at 0, to that of the body of the
   tables that it is on. */
MD_STATIC md_num md_parent_distance2(const mdyn_sim *sim, int j)
{
    const int i = MD_BODY(&sim->link[j])->body_parent;
    md_vec p = MD_BODY(&sim->link[j])->position;
    if (i >= 0 && md_is_welded(&sim->link[i]))
        md_vec_sub(&p, &p, &MD_BODY(&sim->link[i])->position);
    return md_dot(&p, &p);
}

/* The size of body i as far as a model tells it, squared: the largest of the distances from its
   origin to its mass center, its parent's origin (or the world's) and its children's origins. Its
   mass and mass center are those of *link. */
MD_STATIC md_num md_find_arm2(const mdyn_sim *sim, int i, const md_link *link)
{
    const md_num per_mass = md_div(MD_K(1), MD_BODY(link)->mass);
    md_num arm2 = md_parent_distance2(sim, i);
    md_vec com;
    int j;
    md_vec_scale(&com, per_mass, &MD_BODY(link)->first_moment);
    arm2 = md_max(arm2, md_dot(&com, &com));
    for (j = i + 1; j < sim->bodies; j++)
        if (MD_BODY(&sim->link[j])->body_parent == i)
            arm2 = md_max(arm2, md_parent_distance2(sim, j));
    return arm2;
}

/* ---- a body as text ---- */

/* Whether the bound of an angle is 15 or more in magnitude, and a multiple of 5. */
MD_STATIC int md_looks_like_degrees(mdyn_wide x)
{
    const md_num fifth = md_abs(md_div(md_of_wide(x), MD_K(5)));
    md_num rest;
    if (md_less(fifth, MD_K(2.999)) || !md_less(fifth, MD_K(1e4))) return 0;
    rest = md_sub(fifth, md_of_real(md_round(fifth)));
    return md_less(md_abs(rest), MD_K(1e-4));
}

/* Hints at numbers in other units than SI.
      limits in degrees     a bound of a turning joint is 15 and more, and a multiple of 5
      mass in grams         the body is denser than any material. With k the mean radius of gyration
                            about the mass center, m k^2 = trace(I)/2 of the central inertia: of all
                            bodies of one density the ball has the smallest k, k^2 = 3 R^2/5, so
                            the density is m/(9.01 k^3) at least; osmium has 22600 kg/m^3
      inertia in kg mm^2    k is more than ten times the largest arm of the body
   A k^2 within the rounding of I about the origin gives no hint. */
MD_STATIC void md_print_hints(md_printer *out, const mdyn_sim *sim, int i, const md_link *link)
{
    const md_joint_values *b = &sim->joint_values[i];
    md_num x[6], trace, k2;
    if ((link->joint == MDYN_REVOLUTE || link->joint == MDYN_HELICAL)
        && (md_looks_like_degrees(b->lower) || md_looks_like_degrees(b->upper)))
        md_print(out, "; looks wrong: limits like degrees");
    if (md_is_zero(MD_BODY(link)->mass)) return;

    md_sym_get(x, &MD_BODY(link)->inertia);
    trace = md_add(x[0], md_add(x[1], x[2]));
    k2 = md_div(md_dot(&MD_BODY(link)->first_moment, &MD_BODY(link)->first_moment),
                MD_BODY(link)->mass);
    k2 = md_sub(md_mul(MD_K(0.5), trace), k2);
    if (!md_less(md_mul(MD_K(256 * MD_EPSILON), trace), k2)) return;
    k2 = md_div(k2, MD_BODY(link)->mass);
    if (md_less(md_mul(md_mul(MD_K(207000), k2), md_sqrt(k2)), MD_BODY(link)->mass))
        md_print(out, "; looks wrong: too much mass for its inertia (grams?)");
    trace = md_mul(MD_K(100), md_find_arm2(sim, i, link)); /* (10 arm)^2 */
    if (md_less(MD_K(0), trace) && md_less(trace, k2))
        md_print(out, "; looks wrong: inertia of a body ten times as large (kg mm^2, or g m^2?)");
}

/* The n numbers of a vector or a quaternion: "0.1, -2, 3e-6". */
MD_STATIC void md_print_numbers(md_printer *out, const md_num *x, int n)
{
    int k;
    for (k = 0; k < n; k++) md_print_value(out, k ? ", " : "", x[k], "");
}

/* Limits of a joint of one coordinate; then the range that couplings leave, if that is another:
      -1 <= q(hip) <= 1 [rad]                                      limits alone
      -1 <= q(hip) <= 1 [rad], coupled -0.5 <= q(hip) <= 0.5       followers stop it earlier
      coupled 0 <= q(hip)                                          none of its own */
MD_STATIC void md_print_ranges(md_printer *out, mdyn_sim *sim, int i)
{
    const md_joint_values *b = &sim->joint_values[i];
    const int dof = md_dof_of(sim, i), limited = md_body_has_row(b, MDYN_ROW_LIMIT);
    md_num lower, upper, none = MD_K(1e12);
    if (md_joint_coordinates((mdyn_joint)sim->link[i].joint) != 1) return;
    if (limited) {
        md_print(out, "; ");
        md_print_limit(out, sim, dof);
    }

    md_find_joint_range(sim, dof, &lower, &upper);
    if (!md_less(limited ? md_max(md_of_wide(b->lower), md_neg(none)) : md_neg(none), lower)
        && !md_less(upper, limited ? md_min(md_of_wide(b->upper), none) : none)) return;
    md_print(out, limited ? ", coupled " : "; coupled ");
    md_print_lower(out, md_to_wide(lower));
    md_print_joint(out, sim, "q", dof);
    md_print_upper(out, md_to_wide(upper));
}

/* Index, name, joint and parent, pose, mass, reach, ranges, hints:
      body 1 finger: revolute on base; origin 0.5, 0, 0.5 [m], rotation 0.707107, 0, 0, 0.707107;
      mass 0.2, carries 0.5 [kg]; reach 0.25 [m]; 0 <= q(finger) <= 1 [rad], coupled ... */
MD_STATIC void md_print_body_text(md_printer *out, mdyn_sim *sim, int i, const md_num *numbers)
{
    static const char joints[][10] = { "fixed", "revolute", "prismatic", "helical", "spherical",
                                       "free" };
    md_link link;
    (void)md_link_alone(sim, i, &link);
    md_print(out, "body ");
    md_print_int(out, i);
    md_print_name(out, sim->body_table[i].name);
    md_print(out, ": ");
    md_print(out, joints[sim->link[i].joint]);
    md_print(out, " on ");
    md_print_body(out, sim, MD_BODY(&sim->link[i])->body_parent);

    /* numbers: position, quaternion, mass that it carries, reach */
    md_print(out, "; origin ");
    md_print_numbers(out, numbers, 3);
    md_print(out, " [m], rotation ");
    md_print_numbers(out, numbers + 3, 4);
    md_print_value(out, "; mass ", MD_BODY(&link)->mass, "");
    if (md_less(MD_BODY(&link)->mass, numbers[7]))
        md_print_value(out, ", carries ", numbers[7], "");
    md_print_value(out, " [kg]; reach ", numbers[8], " [m]");
    md_print_ranges(out, sim, i);
    md_print_hints(out, sim, i, &link);
}

/* The text of body i, with a 0 behind it; numbers in world axes that all fit, or an error. */
MD_STATIC int md_describe_body(mdyn_sim *sim, int i, char *text, int size)
{
    md_printer out;
    md_num x[9];
    md_composite all;
    md_vec p;
    mdyn_real4 q;
    int k;
    md_origin_position(sim, i, &p);
    if (!md_vec_in_range(&p)) return md_blame(sim, MDYN_ERR_RESULT, i);
    md_write_rotation(sim, i, &q);
    md_find_carried_mass(sim, i, &all);
    for (k = 0; k < 3; k++) x[k] = md_vec_get(&p, k);
    for (k = 0; k < 4; k++) x[3 + k] = md_of_real((&q.w)[k]);
    x[7] = all.mass;
    x[8] = md_find_reach(sim, i);
    if (!md_is_representable(x[7]) || !md_is_representable(x[8]))
        return md_blame(sim, MDYN_ERR_RESULT, i);

    /* measured, then written */
    out.at = text;
    out.size = out.used = 0;
    md_print_body_text(&out, sim, i, x);
    if (out.used >= size) return md_blame(sim, MDYN_ERR_ROOM, i);
    out.size = size;
    out.used = 0;
    md_print_body_text(&out, sim, i, x);
    text[out.used] = 0;
    return MDYN_OK;
}

/* ---- inertia ---- */

/* A rotation of the Jacobi method: m, symmetric, and its eigenvectors, the columns of e, are turned
   in the plane of the axes i and j such that m_ij = 0.
      theta = (m_jj - m_ii) / (2 m_ij),   t = sign(theta) / (|theta| + sqrt(theta^2 + 1)) */
MD_STATIC void md_rotate_jacobi(md_num m[3][3], md_num e[3][3], int i, int j)
{
    const md_num one = MD_K(1);
    md_num theta, t, c, s;
    int k;
    if (md_less(md_abs(m[i][j]), MD_K(1e-18))) return;
    theta = md_div(md_sub(m[j][j], m[i][i]), md_add(m[i][j], m[i][j]));
    t = md_abs(theta);
    t = md_less(t, MD_K(1e8)) ? md_add(t, md_sqrt(md_add(md_mul(t, t), one))) : md_add(t, t);
    t = md_div(md_less(theta, MD_K(0)) ? MD_K(-1) : one, t);
    c = md_div(one, md_sqrt(md_add(md_mul(t, t), one)));
    s = md_mul(t, c);

    /* columns of both, then rows of m */
    for (k = 0; k < 3; k++) {
        const md_num a = m[k][i], b = m[k][j], x = e[k][i], y = e[k][j];
        m[k][i] = md_sub(md_mul(c, a), md_mul(s, b));
        m[k][j] = md_add(md_mul(s, a), md_mul(c, b));
        e[k][i] = md_sub(md_mul(c, x), md_mul(s, y));
        e[k][j] = md_add(md_mul(s, x), md_mul(c, y));
    }
    for (k = 0; k < 3; k++) {
        const md_num a = m[i][k], b = m[j][k];
        m[i][k] = md_sub(md_mul(c, a), md_mul(s, b));
        m[j][k] = md_add(md_mul(s, a), md_mul(c, b));
    }
    m[i][j] = m[j][i] = MD_K(0);
}

/* Eigenvalues of m, in its diagonal, and eigenvectors, the columns of e. Eight cycles of three
   rotations: the convergence is quadratic. Source: Golub and Van Loan, Matrix Computations, 8.5. */
MD_STATIC void md_find_eigenvectors(md_num m[3][3], md_num e[3][3])
{
    int i, j;
    for (i = 0; i < 3; i++)
        for (j = 0; j < 3; j++) e[i][j] = MD_K(0);
    for (i = 0; i < 3; i++) e[i][i] = MD_K(1);
    for (i = 0; i < 8; i++) {
        md_rotate_jacobi(m, e, 0, 1);
        md_rotate_jacobi(m, e, 0, 2);
        md_rotate_jacobi(m, e, 1, 2);
    }
}

/* Returns the excess x of the largest principal moment, about the axis n, over the sum of the other
   two. *in becomes the nearest inertia without it,
      I + (x / 3) (1 - 2 n n^T)
   The numbers are divided by the trace first. */
MD_STATIC mdyn_wide md_remove_excess(mdyn_inertia *in)
{
    static const uint8_t row[6] = { 0, 1, 2, 0, 0, 1 }, column[6] = { 0, 1, 2, 1, 2, 2 };
    md_num m[3][3], e[3][3], x[6], trace = MD_K(0), excess;
    int k, n = 0;
    for (k = 0; k < 6; k++) x[k] = md_of_wide((&in->xx)[k]);
    for (k = 0; k < 3; k++) trace = md_add(trace, x[k]);
    if (md_is_zero(trace)) return MDYN_C(0);
    for (k = 0; k < 6; k++) m[row[k]][column[k]] = m[column[k]][row[k]] = md_div(x[k], trace);

    /* the largest principal moment, and what it has above the sum of the others */
    md_find_eigenvectors(m, e);
    for (k = 1; k < 3; k++)
        if (md_less(m[n][n], m[k][k])) n = k;
    excess = md_sub(md_sub(m[n][n], m[(n + 1) % 3][(n + 1) % 3]), m[(n + 2) % 3][(n + 2) % 3]);
    excess = md_mul(trace, excess);
    if (!md_less(md_mul(MD_K(64 * MD_EPSILON), trace), excess)) return MDYN_C(0);

    /* the nearest valid inertia: a third of the excess off it, a third onto each of the others */
    for (k = 0; k < 6; k++) {
        const md_num product = md_mul(e[row[k]][n], e[column[k]][n]);
        const md_num direction = md_sub(MD_K(0.5), product);
        const md_num part = md_mul(MD_K(0.66666666666666667), excess);
        x[k] = md_add(x[k], md_mul(part, k < 3 ? direction : md_neg(product)));
        (&in->xx)[k] = md_to_wide(x[k]);
    }
    return md_to_wide(excess);
}

/* ---- dynamics ---- */

/* M[n][n] of the sparse rows that md_crba has left in sim->mass. MDYN_ERR_RESULT names a DoF; M
   is positive definite, so no element is larger than the largest on the diagonal. */
MD_STATIC int md_write_mass_matrix(mdyn_sim *sim, mdyn_wide *mass)
{
    const int n = sim->dofs;
    const md_num *m = sim->mass;
    int j, k;
    for (k = 0; k < n; k++)
        if (!md_is_representable(sim->mass[sim->M_first[k]]))
            return md_blame(sim, MDYN_ERR_RESULT, k);

    /* row and column k: the ancestors of k; 0 between them */
    for (k = 0; k < n; k++) {
        int ancestor = k;
        for (j = k; j >= 0; j--) {
            mdyn_wide x = MDYN_C(0);
            if (j == ancestor) {
                x = md_to_wide(*m++);
                ancestor = md_parent_dof(sim, j);
            }
            mass[k * n + j] = mass[j * n + k] = x;
        }
    }
    return MDYN_OK;
}

/* sum + twice the kinetic energy of body i, and of the armatures of its joint. */
MD_STATIC md_num md_add_kinetic_energy(const mdyn_sim *sim, int i, md_num sum)
{
    const md_body_state *p = &MD_TREE(sim)->body_state[i];
    md_vec v, t;
    int k;

    /* omega . I omega + v . (m v + 2 omega x h) */
    md_origin_velocity(sim, i, &v);
    md_sym_vec(&t, &p->inertia, &p->omega);
    sum = md_add(sum, md_dot(&p->omega, &t));
    md_cross(&t, &p->omega, &p->first_moment);
    md_vec_twice(&t, &t);
    md_vec_add_scaled(&t, MD_BODY(&sim->link[i])->mass, &v);
    sum = md_add(sum, md_dot(&v, &t));

    for (k = md_dof_of(sim, i); k < md_dof_of(sim, i) + sim->link[i].dofs; k++) {
        const md_num v_k = md_of_real(sim->v[k]);
        sum = md_add(sum, md_mul(md_added_inertia(sim, k, MD_K(0)), md_mul(v_k, v_k)));
    }
    return sum;
}

/* sum + g . (m r + h) of body i: minus its potential energy. */
MD_STATIC md_num md_add_gravity_work(const mdyn_sim *sim, int i, const md_vec *g, md_num sum)
{
    md_vec moment;
    md_origin_position(sim, i, &moment);
    md_vec_scale(&moment, MD_BODY(&sim->link[i])->mass, &moment);
    md_vec_add(&moment, &moment, &MD_TREE(sim)->body_state[i].first_moment);
    return md_add(sum, md_dot(g, &moment));
}

/* ================================================================================ // >>save
   A sim as bytes.

   Given:  a ready sim; or bytes of any content, and a model.
   Gives:  six words of 32 bits in the order of the processor, then the memory of the sim:
              0 "mdyn"    1 MDYN_VERSION    2 CRC of configuration and layout    3 length
              4 CRC of the model    5 CRC of words 1 to 4 and of the memory
   Writes:  the bytes; or, once all words are right, every byte of the sim.

   A sim holds no address of its own memory, and of the tables only where they begin. So its memory
   is its state; a restored sim gets the addresses of the tables at hand, and new sums over them.
   The CRC of a model leaves out pointers and names, which differ between two runs of one program;
   padding between numbers counts. A CRC detects accidental damage. It does not protect against
   forgery: anyone can compute it for any state.
   CRC-32 of IEEE 802.3: x^32 + x^26 + x^23 + ... + 1, bits reflected; of "123456789" CBF43926. */

/* The CRC of the bytes that gave `crc` (0: of none), followed by n more: the parts count as one
   piece. Eight shifts a byte instead of a table: calls are rare, and flash is scarce. */
MD_STATIC uint32_t md_crc(uint32_t crc, const void *bytes, size_t n)
{
    const unsigned char *p = (const unsigned char *)bytes;
    size_t k;
    int bit;
    crc = ~crc;
    for (k = 0; k < n; k++) {
        crc ^= p[k];
        for (bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0u);
    }
    return ~crc;
}

/* The CRC of a build: the configuration's name, the knobs that change steps, and sizes and offsets
   in the sim, as two compilers may lay out a struct differently. The width of a pointer and the
   byte order of these words count too. */
MD_STATIC uint32_t md_crc_of_build(void)
{
    static const char knobs[] = MDYN_SPELL(MDYN_CONFIGURATION);
    const uint32_t layout[] = {
        (uint32_t)sizeof(mdyn_sim), (uint32_t)offsetof(mdyn_sim, q_seen),
        (uint32_t)offsetof(mdyn_sim, link), (uint32_t)offsetof(mdyn_sim, row),
        (uint32_t)offsetof(mdyn_sim, row_result), (uint32_t)offsetof(mdyn_sim, shared),
        (uint32_t)sizeof(md_row), (uint32_t)sizeof(void *),
        MIMICDYN_EXACT | MIMICDYN_WARM << 1 | MIMICDYN_SETTINGS << 2 | MIMICDYN_LOSSES << 3
            | MIMICDYN_QUATERNIONS << 4 | (MIMICDYN_HAS ^ MDYN_HAS_ALL) << 5
    };
    return md_crc(md_crc(0, knobs, sizeof knobs), layout, sizeof layout);
}

/* The fields of a struct from `first` to before `end`, as address and length for md_crc: those in
   front of a pointer, or behind it. */
#define MD_FIELDS(type, p, first, end) \
    (const char *)(p) + offsetof(type, first), offsetof(type, end) - offsetof(type, first)

/* The CRC of the numbers and settings in a model and its tables, whose counts have been checked,
   but not of addresses and names. Of user rows without a table only the number counts: the callback
   fills them in. */
MD_STATIC uint32_t md_crc_of_model(const mdyn_model *m)
{
    const int32_t counts[4] = { m->body_count, m->coupling_count, m->closure_count,
                                m->user_row_count };
    uint32_t crc = md_crc(0, counts, sizeof counts);
    int i;

    crc = md_crc(crc, MD_FIELDS(mdyn_model, m, gravity, closures));
    for (i = 0; i < m->body_count; i++) {
        const mdyn_body *b = &m->bodies[i];
        crc = md_crc(crc, MD_FIELDS(mdyn_body, b, parent, name));
        crc = md_crc(crc, &b->inertia_as_given, sizeof b->inertia_as_given);
    }
    for (i = 0; i < m->coupling_count; i++) {
        const mdyn_coupling *c = &m->couplings[i];
        crc = md_crc(crc, MD_FIELDS(mdyn_coupling, c, terms, name));
        crc = md_crc(crc, MD_FIELDS(mdyn_coupling, c, efficiency, breaks));
        crc = md_crc(crc, &c->breaks, sizeof c->breaks);
    }
    for (i = 0; i < m->closure_count; i++)
        crc = md_crc(crc, MD_FIELDS(mdyn_closure, &m->closures[i], kind, name));
    for (i = 0; MD_HAS_CURVES && i < m->curve_count; i++) {
        const mdyn_curve *c = &m->curves[i];
        crc = md_crc(crc, MD_FIELDS(mdyn_curve, c, kind, knots));
        if (c->kind == MDYN_CURVE_SPLINE && c->knots)
            crc = md_crc(crc, c->knots, (size_t)c->knot_count * sizeof *c->knots);
    }
    for (i = 0; m->user_rows && i < m->user_row_count; i++)
        crc = md_crc(crc, MD_FIELDS(mdyn_user_row, &m->user_rows[i], terms, name));
    return crc;
}

enum { MD_SAVED_WORDS = 6 };

/* The words in front of the memory of a sim, whose model has this CRC. */
MD_STATIC void md_make_saved_words(uint32_t word[MD_SAVED_WORDS], uint32_t model,
                                   const void *memory)
{
    md_copy_bytes(word, "mdyn", 4);
    word[1] = MDYN_VERSION;
    word[2] = md_crc_of_build();
    word[3] = (uint32_t)MDYN_SAVED_SIZE;
    word[4] = model;
    word[5] = md_crc(md_crc(0, word + 1, 4 * sizeof *word), memory, sizeof(mdyn_sim));
}

MD_STATIC void md_save_bytes(const mdyn_sim *sim, unsigned char *bytes)
{
    uint32_t word[MD_SAVED_WORDS];
    md_make_saved_words(word, md_crc_of_model(sim->model), sim);
    md_copy_bytes(bytes, word, sizeof word);
    md_copy_bytes(bytes + sizeof word, sim, sizeof *sim);
}

/* Checks by their words whether bytes hold a sim of this build and model; the tables of m can be
   read. The order matters, as each word tells how to read the next: magic, version and build;
   length; CRC; model. */
MD_STATIC int md_check_saved(const unsigned char *bytes, int32_t size, const mdyn_model *m)
{
    uint32_t word[MD_SAVED_WORDS], wanted[MD_SAVED_WORDS];
    if (size < (int32_t)sizeof word) return MDYN_ERR_SAVED;
    md_copy_bytes(word, bytes, sizeof word);
    md_copy_bytes(wanted, "mdyn", 4);
    if (word[0] != wanted[0]) return MDYN_ERR_SAVED;
    if (word[1] != MDYN_VERSION || word[2] != md_crc_of_build()) return MDYN_ERR_SAVED_BUILD;

    /* the length, before that many bytes are read */
    if (size != MDYN_SAVED_SIZE) return MDYN_ERR_SAVED;
    md_make_saved_words(wanted, word[4], bytes + sizeof word);
    if (word[3] != wanted[3] || word[5] != wanted[5]) return MDYN_ERR_SAVED;
    return word[4] == md_crc_of_model(m) ? MDYN_OK : MDYN_ERR_SAVED_MODEL;
}

/* Restores the sim from checked bytes, with the tables of the model. Counts and indices are checked
   before any is used: a right CRC shows that the bytes are undamaged, not that they were a sim. The
   sums that contain addresses are computed anew. */
MD_STATIC int md_restore_bytes(mdyn_sim *sim, const mdyn_model *m, const unsigned char *bytes)
{
    int i;
    md_copy_bytes(sim, bytes + MD_SAVED_WORDS * sizeof(uint32_t), sizeof *sim);
    i = sim->ready_mark == MD_READY && sim->bodies == m->body_count
        && sim->couplings == m->coupling_count && md_is_sound(sim);
    if (MD_HAS_BODY_ROWS)
        i = i && MD_BODY_ROWS(sim)->closures == m->closure_count
            && MD_BODY_ROWS(sim)->user_rows == m->user_row_count;
    if (MD_HAS_CURVES) i = i && MD_CURVES(sim)->count == m->curve_count;
    if (!i) {
        sim->ready_mark = 0;
        return md_blame(sim, MDYN_ERR_MEMORY, -1);
    }

    md_point_to_tables(sim, m);
    sim->table_sum = md_sum_tables(sim);
    for (i = 0; i < sim->bodies; i++) sim->link[i].table_sum = md_sum_body(&m->bodies[i]);
    sim->constants_sum = md_sum_constants(sim);
    return MDYN_OK;
}

/* ============================================================================== // >>public
   The calls, in the order of >>calls.

   Given:  pointers and indices of the user, in any state.
   Gives:  what >>calls says of each call; its cost stands there too.
   Writes:  through the rooms that it calls; on an error sim->culprit alone.

   A call checks what it is given, in this order: is the sim ready, is a pointer NULL, is an index
   out of range; then it calls the room that knows the answer. No room calls a function of this
   one: a program that does not use a call does not link it.

   The groups of calls:
      set-up      mdyn_required, mdyn_init, mdyn_reset, mdyn_settle, mdyn_project, mdyn_rebase
      changes     mdyn_set_body, _coupling, _coupling_target, _gravity, _dt, _solver, mdyn_engage
      steps       mdyn_set_contacts, mdyn_step
      reports     mdyn_report_row, mdyn_coupling_force, mdyn_range, mdyn_explain, mdyn_verify
      dynamics    accelerations, mass matrix, bias force, poses, velocities, Jacobians, energy
      reduced     the same over the independent DoFs: G, M_y, C_y, inverse dynamics
      bytes       mdyn_save, mdyn_restore
      numbers     conversions of mdyn_real, mdyn_wide and encoder counts, arithmetic, text
      problems    mdyn_lcp_dantzig, mdyn_lcp_pgs, which need no sim

   A call that changes the sim marks it as busy between md_enter and md_leave. By that mark calls
   from a callback are refused, and an abandoned call is noticed. Setters of single numbers
   (mdyn_set_q and its like) store without a check; the next call that reads the number checks
   it. */

#if !MIMICDYN_STATIC

const char MDYN_CONFIGURATION = 0; /* its name is the configuration; its value is not used */

#endif

/* ---- a sim and its model ----
   After a warning (> 0) the sim is ready, or the coupling replaced. After an error (< 0) of
   mdyn_init the sim is not ready; after one of the other calls it is as it was. */

/* The ready mark is cleared before the model is checked, so that a program which ignores an error
   cannot continue with an older model. Rules: >>check. Set-up: >>build. */
MDYN_API int mdyn_init_configured(mdyn_sim *sim, const mdyn_model *model, const char *built_with)
{
    int code;
    /* its value is unused: the linker has compared the symbol */
    (void)built_with;
    if (!sim) return MDYN_ERR_NULL;
    if (md_is_busy(sim)) return MDYN_ERR_BUSY;
    sim->ready_mark = 0;
    if (!model) return md_blame(sim, MDYN_ERR_NULL, -1);
    if (MD_IS_BAKED) return md_blame(sim, MDYN_ERR_BAKED, -1);
    code = md_check_model(sim, model);
    return code == MDYN_OK ? md_build_sim(sim, model) : code;
}

/* By the rules and counts of >>check alone: no sim exists yet. */
MDYN_API int mdyn_required(const mdyn_model *model, mdyn_capacity *required)
{
    int code;
    if (!model || !required) return MDYN_ERR_NULL;
    code = md_check_structure(model);
    if (code != MDYN_OK) return code;
    md_require(model, required);
    return md_compare_capacity(required);
}

/* Body rows and dantzig, which may be 0, stand after the others. */
MDYN_API int mdyn_required_text(const mdyn_capacity *required, char *text, int size)
{
    static const char names[] = "BODIES\0DOFS\0COUPLINGS\0ROWS\0TERMS\0ENTRIES\0BODY_ROWS\0"
        "DANTZIG\0CURVES";
    int32_t value[9];
    md_printer out;
    int k, pass;
    if (!required || !text) return MDYN_ERR_NULL;
    value[0] = required->bodies;
    value[1] = required->dofs;
    value[2] = required->couplings;
    value[3] = required->rows;
    value[4] = required->terms;
    value[5] = required->entries;
    value[6] = required->body_rows;
    value[7] = required->dantzig;
    value[8] = required->curves;

    /* measured, then written */
    out.at = text;
    out.size = 0;
    for (pass = 0; pass < 2; pass++) {
        const char *name = names;
        out.used = 0;
        for (k = 0; k < 9; k++) {
            if (value[k] > 0) {
                md_print(&out, out.used ? " -DMIMICDYN_MAX_" : "-DMIMICDYN_MAX_");
                md_print(&out, name);
                md_print(&out, "=");
                md_print_int(&out, (int)value[k]);
            }
            while (*name) name++;
            name++;
        }
        if (out.used >= size) return MDYN_ERR_ROOM;
        out.size = size;
    }
    text[out.used] = 0;
    return MDYN_OK;
}

/* q, v, commands, targets, wrenches, couplings and the plan are kept. */
MDYN_API int mdyn_reset(mdyn_sim *sim)
{
    int k, code = md_enter(sim);
    if (code != MDYN_OK) return code;

    /* The digits beyond q and v, and contacts set for the next step */
    for (k = 0; k < sim->coordinates; k++) sim->q_tail[k] = 0;
    for (k = 0; k < sim->dofs; k++) sim->v_tail[k] = 0;
    md_drop_contacts(sim);

    /* warm starts and active sides; the rows' results now count as those of an earlier step */
    for (k = 0; k < sim->rows; k++) {
        sim->row_result[k].impulse = sim->row_result[k].warm_start = MD_K(0);
        sim->row_result[k].active_side = 0;
    }
    sim->step_count++;
    sim->was_unconverged = 0;
    sim->culprit.sticky = 0;
    md_drop_last_dv(sim);
    sim->kinematics_stale = sim->may_be_off = sim->q_may_be_off = 1;
    return md_leave(sim, MDYN_OK);
}

/* The rules of mdyn_init, then MDYN_ERR_LOSS: a coupling that had no efficiency at init has no loss
   row, and cannot get one. */
MD_STATIC int md_check_replacement(mdyn_sim *sim, int coupling, const mdyn_coupling *c)
{
    int code;
    if (!c) return md_blame(sim, MDYN_ERR_NULL, coupling);
    if (coupling < 0 || coupling >= sim->couplings) return md_blame(sim, MDYN_ERR_INDEX, coupling);
    code = md_check_coupling(sim, c, coupling);
    if (code == MDYN_OK) code = md_check_curves(sim, c, coupling);
    if (code != MDYN_OK) return md_blame(sim, code, coupling);
    if (md_has_efficiency(c) && !md_has_efficiency(md_coupling_at(sim, coupling))
        && md_find_row(sim, MDYN_ROW_LOSS, coupling) < 0)
        return md_blame(sim, MDYN_ERR_LOSS, coupling);
    return MDYN_OK;
}

/* Checked against the sim's bodies first; >>build exchanges the copy and plans if it has to. */
MDYN_API int mdyn_set_coupling(mdyn_sim *sim, int coupling, const mdyn_coupling *replacement)
{
    int code = md_enter_change(sim);
    if (code != MDYN_OK) return code;
    code = md_check_replacement(sim, coupling, replacement);
    if (code == MDYN_OK)
        code = md_replace_coupling(sim, coupling, replacement, sim->released[coupling]);
    if (code >= 0) md_set_offset_rest(sim, coupling, MDYN_C(0));
    return md_leave(sim, code);
}

/* C = sum of coefficient q - target. What the type of the offset cannot hold of the target goes to
   offset_rest. */
MD_STATIC int md_command_coupling(mdyn_sim *sim, int coupling, mdyn_real target,
                                  mdyn_real target_velocity)
{
    mdyn_coupling c;
    md_sum excess;
    int code;
    if (coupling < 0 || coupling >= sim->couplings) return md_blame(sim, MDYN_ERR_INDEX, coupling);
    if (!md_in_range(target) || !md_in_range(target_velocity))
        return md_blame(sim, MDYN_ERR_STATE, coupling);

    /* the target has more digits than an offset: the rest is kept beside it */
    c = sim->coupling[coupling];
    c.offset = md_to_wide(md_neg(md_of_real(target)));
    c.target_velocity = md_to_wide(md_of_real(target_velocity));
    code = md_replace_target(sim, coupling, &c);
    if (code < 0) return code;
    md_sum_set(&excess, c.offset);
    md_sum_add_velocity(&excess, MDYN_C(1), target);
    md_set_offset_rest(sim, coupling, md_to_wide(md_neg(md_sum_to_num(&excess))));
    return code;
}

/* A midpoint step takes C at q_m = q + dt/2 v, so with erp 1 and C(q_m) = q_m - target it ends at
      q_m + dt/2 v' - C(q_m) = target + dt/2 v',     v' = target_velocity
   whatever q was; a spring has its force at the middle. The range of a coupling moves with the
   target, and one of velocities reads target_velocity alone. The plan and the warm starts stay. */
MDYN_API int mdyn_set_coupling_target(mdyn_sim *sim, int coupling, mdyn_real target,
                                      mdyn_real target_velocity)
{
    int code = md_enter_change(sim);
    if (code != MDYN_OK) return code;
    return md_leave(sim, md_command_coupling(sim, coupling, target, target_velocity));
}

/* MDYN_ENGAGE_HERE: if C is outside its range, the offset changes so that C lies on the nearest
   bound. Impulses of earlier steps are no warm starts. */
MD_STATIC int md_set_engaged(mdyn_sim *sim, int coupling, int on)
{
    mdyn_coupling c;
    int code;
    if (coupling < 0 || coupling >= sim->couplings
        || on < MDYN_RELEASE || on > MDYN_ENGAGE_OFFSET)
        return md_blame(sim, MDYN_ERR_INDEX, coupling);
    code = md_refresh_kinematics(sim);
    if (code != MDYN_OK) return code;

    /* the offset of the present positions, if they are to stay */
    c = sim->coupling[coupling];
    if (on == MDYN_ENGAGE_HERE && c.level == MDYN_POSITION) {
        c.offset = md_engaged_offset(sim, coupling);
        if (!md_wide_in_range(c.offset)) return md_blame(sim, MDYN_ERR_RESULT, coupling);
    }
    code = md_replace_coupling(sim, coupling, &c, on == MDYN_RELEASE);
    if (code < 0) return code;

    md_forget_coupling(sim, coupling);
    sim->released[coupling] = on == MDYN_RELEASE;
    return code;
}

MDYN_API int mdyn_engage(mdyn_sim *sim, int coupling, int on)
{
    int code = md_enter_change(sim);
    return code == MDYN_OK ? md_leave(sim, md_set_engaged(sim, coupling, on)) : code;
}

/* ---- what may change while it runs ---- */

MDYN_API int mdyn_set_body(mdyn_sim *sim, int body, const mdyn_body *replacement)
{
    int code = md_enter_change(sim);
    if (code != MDYN_OK) return code;
    if (!replacement) return md_leave(sim, md_blame(sim, MDYN_ERR_NULL, body));
    if (body < 0 || body >= sim->bodies)
        return md_leave(sim, md_blame(sim, MDYN_ERR_INDEX, body));
    return md_leave(sim, md_replace_body(sim, body, replacement));
}

/* Limits and couplings first, then closures: >>project. */
MDYN_API int mdyn_settle(mdyn_sim *sim)
{
    int code = md_enter(sim);
    if (code != MDYN_OK) return code;
    code = md_move_into_ranges(sim);
    if (code >= 0) md_drop_last_dv(sim);
    return md_leave(sim, code);
}

/* C of all couplings, and so their forces, stay as they are. */
MDYN_API int mdyn_rebase(mdyn_sim *sim, int body, int32_t *turns)
{
    int code = md_enter(sim);
    if (code != MDYN_OK) return code;
    if (!turns) return md_leave(sim, md_blame(sim, MDYN_ERR_NULL, body));
    if (body < 0 || body >= sim->bodies)
        return md_leave(sim, md_blame(sim, MDYN_ERR_INDEX, body));
    code = md_remove_turns(sim, body, turns);
    if (MD_IS_BAKED && sim->limits_are_new) md_find_implied_limits(sim);
    return md_leave(sim, code);
}

/* Gravity is part of the bias wrenches, so the kinematics are evaluated again. */
MDYN_API int mdyn_set_gravity(mdyn_sim *sim, const mdyn_wide3 *gravity)
{
    uint32_t before;
    int code = md_enter(sim);
    if (code != MDYN_OK) return code;
    if (!gravity) return md_leave(sim, md_blame(sim, MDYN_ERR_NULL, -1));
    code = md_check_gravity(gravity);
    if (code != MDYN_OK) return md_leave(sim, md_blame(sim, code, -1));
    before = md_sum_settings(sim);
    sim->gravity = *gravity;
    md_change_sum(sim, before, md_sum_settings(sim));
    sim->kinematics_stale = 1;
    md_drop_last_dv(sim);
    return md_leave(sim, MDYN_OK);
}

/* Impulses of warm starts, damping weights and the extrapolation follow the new step. */
MDYN_API int mdyn_set_dt(mdyn_sim *sim, mdyn_wide dt)
{
    uint32_t before;
    int code = md_enter(sim);
    if (code != MDYN_OK) return code;
    code = md_check_dt(dt);
    if (code != MDYN_OK) return md_leave(sim, md_blame(sim, code, -1));
    code = md_refresh_kinematics(sim);
    if (code != MDYN_OK) return md_leave(sim, code);
    before = md_sum_settings(sim);
    md_replace_dt(sim, dt);
    md_change_sum(sim, before, md_sum_settings(sim));
    return md_leave(sim, MDYN_OK);
}

MDYN_API int mdyn_set_solver(mdyn_sim *sim, const mdyn_solver *solver)
{
    uint32_t before;
    int code = md_enter_change(sim);
    if (code != MDYN_OK) return code;
    if (!solver) return md_leave(sim, md_blame(sim, MDYN_ERR_NULL, -1));
    code = md_check_solver(solver);
    if (code != MDYN_OK) return md_leave(sim, md_blame(sim, code, -1));
    code = md_refresh_kinematics(sim);
    if (code != MDYN_OK) return md_leave(sim, code);
    before = md_sum_settings(sim);
    code = md_replace_solver(sim, solver);
    md_change_sum(sim, before, md_sum_settings(sim));
    return md_leave(sim, code);
}

/* Only a ready sim can be checked: parts of a busy one are between two states. */
MDYN_API int mdyn_verify(mdyn_sim *sim)
{
    return md_is_ready(sim) ? md_check_integrity(sim) : md_not_ready(sim);
}

/* ---- motion ---- */

/* Mass metric: min dq^T M dq subject to C(q + dq) = 0. Followers: the first joint of each coupling
   moves, the others stay. Independent: followers := gamma(y), the others stay. In >>project. */
MDYN_API int mdyn_project(mdyn_sim *sim, mdyn_metric metric)
{
    int code = md_enter(sim);
    if (code != MDYN_OK) return code;
    code = metric == MDYN_MASS_METRIC ? md_project_mass_metric(sim)
        : metric == MDYN_FOLLOWERS || metric == MDYN_INDEPENDENT ? md_project_followers(sim, metric)
        : md_blame(sim, MDYN_ERR_INDEX, -1);
    if (code >= 0) md_drop_last_dv(sim);
    return md_leave(sim, code);
}

/* A build without contacts accepts an empty list, so that programs need no #if. */
MDYN_API int mdyn_set_contacts(mdyn_sim *sim, const mdyn_contact *contacts, int count)
{
    int code = md_enter(sim);
    if (code != MDYN_OK) return code;
    if (count < 0 || count > MIMICDYN_MAX_CONTACTS)
        return md_leave(sim, md_blame(sim, MDYN_ERR_CAPACITY_BODY_ROWS, -1));
    if (count > 0 && !contacts) return md_leave(sim, md_blame(sim, MDYN_ERR_NULL, -1));
    if (MD_HAS_CONTACTS) code = md_store_contacts(sim, contacts, count);
    return md_leave(sim, code);
}

/*    v' = v + dt M^-1 (tau - C) + M^-1 J^T lambda,   q' = q (+) dt v'   (>>step, >>solve)
   A step that succeeds consumes the contacts; after an error they are still set, and the call can
   be repeated. */
MDYN_API int mdyn_step(mdyn_sim *sim)
{
    int code = md_enter(sim);
    if (code != MDYN_OK) return code;
    code = md_open_step(sim);
    if (code == MDYN_OK) code = md_update_step_rows(sim);
    if (code == MDYN_OK) code = md_take_step(sim);
    if (code >= 0) md_consume_contacts(sim);
    return md_leave(sim, md_close_step(sim, code));
}

/* ---- a sim as bytes ----
   The format stands in >>save. Neither call needs the other: bytes may come from a file, from a
   ring of the last seconds in memory, or from another run of the program, whose tables stand at
   other addresses. In one run a copy of the sim does the same without a check:
      past[step % 50] = sim;                   the last 50 steps
      sim = past[(step - 20) % 50];            back by 20 of them */

/* The sim is const, so its errors leave no culprit. */
MDYN_API int mdyn_save(const mdyn_sim *sim, void *bytes, int32_t size)
{
    if (!md_is_ready(sim)) return md_not_ready(sim);
    if (!bytes) return MDYN_ERR_NULL;
    if (size < MDYN_SAVED_SIZE) return MDYN_ERR_ROOM;
    md_save_bytes(sim, (unsigned char *)bytes);
    return MDYN_OK;
}

/* A busy sim is not overwritten, as in mdyn_init. The model is checked first, then the words in
   front of the bytes; the sim is written when both are right. */
MDYN_API int mdyn_restore(mdyn_sim *sim, const mdyn_model *model, const void *bytes, int32_t size)
{
    int code;
    if (!sim || !model || !bytes) return MDYN_ERR_NULL;
    if (md_is_busy(sim)) return MDYN_ERR_BUSY;
    code = md_check_structure(model);
    if (code == MDYN_OK) code = md_check_saved((const unsigned char *)bytes, size, model);
    return code == MDYN_OK ? md_restore_bytes(sim, model, (const unsigned char *)bytes) : code;
}

/* ---- what the rows did ---- */

/* The sim is const in these two calls, so their errors leave no culprit. Impulse, error and bounds
   are those of the last step; v is the present one. */
MDYN_API int mdyn_report_row(const mdyn_sim *sim, mdyn_row_kind kind, int index,
                             mdyn_row_report *report)
{
    int k;
    if (!md_is_set_up(sim)) return md_not_ready(sim);
    if (!report) return MDYN_ERR_NULL;
    k = md_find_row(sim, kind, index);
    if (k < 0) return MDYN_ERR_INDEX;
    if (sim->row_result[k].last_step == MD_REPLACED) return MDYN_ERR_REPLACED;
    return md_fill_row_report(sim, k, report);
}

/* The generalized forces of a coupling at its joints are in the ratio of the coefficients, except
   for the loss. A term with coefficient 0 has force 0. */
MDYN_API int mdyn_coupling_force(const mdyn_sim *sim, int coupling, int term, mdyn_wide *force)
{
    md_num f;
    if (!md_is_set_up(sim)) return md_not_ready(sim);
    if (!force) return MDYN_ERR_NULL;
    if (coupling < 0 || coupling >= sim->couplings || term < 0 || term >= MIMICDYN_MAX_TERMS)
        return MDYN_ERR_INDEX;
    if (sim->row_result[coupling].last_step == MD_REPLACED) return MDYN_ERR_REPLACED;
    f = md_force_of_term(sim, coupling, term);
    if (!md_is_representable(f)) return MDYN_ERR_RESULT;
    *force = md_to_wide(f);
    return MDYN_OK;
}

/* Limits of the joint and, through rigid couplings, of all joints tied to it: >>range. An empty
   range is written too, with lower > upper. */
MDYN_API int mdyn_range(mdyn_sim *sim, int body, mdyn_wide *lower, mdyn_wide *upper)
{
    md_num lo, hi;
    if (!md_is_ready(sim)) return md_not_ready(sim);
    if (!lower || !upper) return md_blame(sim, MDYN_ERR_NULL, body);
    if (body < 0 || body >= sim->bodies
        || md_joint_coordinates((mdyn_joint)sim->link[body].joint) != 1)
        return md_blame(sim, MDYN_ERR_INDEX, body);
    md_find_joint_range(sim, md_dof_of(sim, body), &lo, &hi);
    *lower = md_to_wide(lo);
    *upper = md_to_wide(hi);
    return md_range_is_empty(lo, hi) ? md_blame(sim, MDYN_WARN_EMPTY_RANGE, body) : MDYN_OK;
}

#if MIMICDYN_MAX_CURVES > 0

MDYN_API int mdyn_evaluate_curve(const mdyn_curve *curve, mdyn_real q, mdyn_curve_point *point)
{
    md_curve_value p;
    if (!curve || !point) return MDYN_ERR_NULL;
    if (!md_curve_is_valid(curve) || curve->kind == MDYN_CURVE_COUPLER) return MDYN_ERR_CURVE;
    if (!md_in_range(q) || !md_find_curve_value(curve, q, 0, &p)) return MDYN_ERR_RESULT;
    point->value = p.value;
    point->slope = md_to_wide(p.slope);
    point->curvature = md_to_wide(p.curvature);
    return MDYN_OK;
}

MDYN_API int mdyn_fill_spline(mdyn_knot *knots, int count, mdyn_wide *scratch)
{
    int k;
    if (!knots || !scratch) return MDYN_ERR_NULL;
    if (count < 2 || count > 4096) return MDYN_ERR_CURVE;
    for (k = 0; k < count; k++)
        if (!md_wides_in_range(&knots[k].q, 2)
            || (k > 0 && !md_less(MD_K(0), md_sub(md_of_wide(knots[k].q),
                                                  md_of_wide(knots[k - 1].q)))))
            return MDYN_ERR_CURVE;
    md_solve_spline(knots, count, scratch);
    return MDYN_OK;
}

#endif

/* angle - 2 pi round((angle - reference)/(2 pi)), summed with twice the digits. 2 pi is split in
   two parts (Cody and Waite): the first has 8 bits, so its product with the number of turns is
   exact. */
MDYN_API mdyn_real mdyn_nearest_angle(mdyn_real angle, mdyn_real reference)
{
    const mdyn_wide turn = MDYN_C(-6.28125), rest = MDYN_C(-0.0019353071795864769);
    const md_num difference = md_sub(md_of_real(angle), md_of_real(reference));
    mdyn_real turns, nearest = 0;
    md_tail tail = 0;
    md_sum s;
    turns = md_round(md_mul(difference, MD_K(0.15915494309189535)));
    md_sum_set_real(&s, angle, 0);
    md_sum_add_product(&s, turn, turns, 0);
    md_sum_add_product(&s, rest, turns, 0);
    md_accumulate(&nearest, &tail, md_sum_to_num(&s));
    return nearest;
}

/* ---- words ---- */

/* The forms of the text stand in >>explain. On an error the buffer is as it was. */
MDYN_API int mdyn_explain(mdyn_sim *sim, mdyn_row_kind kind, int index, char *text, int size)
{
    int k;
    if (!md_is_ready(sim)) return md_not_ready(sim);
    if (!text) return md_blame(sim, MDYN_ERR_NULL, index);

    k = md_find_row(sim, kind, index);
    if (k < 0) return md_blame(sim, MDYN_ERR_INDEX, index);
    if (MD_HAS_CLOSURES && kind == MDYN_ROW_CLOSURE) {
        const mdyn_closure *c = &MD_BODY_ROWS(sim)->closure_table[index / 6];
        const int code = md_check_closure(sim, c, index / 6, sim->bodies);
        if (code != MDYN_OK) return code;
    }
    return md_explain_row(sim, k, text, size);
}

#if MIMICDYN_TREE

/* The form of the text stands in >>query. A dump of a model:
      for (i = 0; mdyn_explain_body(&sim, i, text, 700) == MDYN_OK; i++) puts(text); */
MDYN_API int mdyn_explain_body(mdyn_sim *sim, int body, char *text, int size)
{
    int code = md_open_query(sim, body, text, text);
    return code == MDYN_OK ? md_describe_body(sim, body, text, size) : code;
}

#endif

/* Sentence and remedy are columns of MDYN_CODES. An unknown code gets a text too, so that the
   result can be printed without a test for NULL. */
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
    default: return "pass a code that a call of this header has returned";
    }
}

/* ---- numbers of DoFs and coordinates ----
   Joint            DoFs  coordinates
   fixed            0     0            no first DoF and coordinate
   one axis         1     1            q' = v
   spherical        3     4            quaternion
   free             6     7            position, quaternion
   The numbers of a joint are consecutive; joints come in the order of their bodies. */

MDYN_API int mdyn_dofs(const mdyn_sim *sim)
{
    return md_is_set_up(sim) ? sim->dofs : md_not_ready(sim);
}

MDYN_API int mdyn_coordinates(const mdyn_sim *sim)
{
    return md_is_set_up(sim) ? sim->coordinates : md_not_ready(sim);
}

MDYN_API int mdyn_first_dof(const mdyn_sim *sim, int body)
{
    if (!md_is_set_up(sim)) return md_not_ready(sim);
    if (body < 0 || body >= sim->bodies || !sim->link[body].dofs) return MDYN_ERR_INDEX;
    return md_dof_of(sim, body);
}

MDYN_API int mdyn_first_coordinate(const mdyn_sim *sim, int body)
{
    if (!md_is_set_up(sim)) return md_not_ready(sim);
    if (body < 0 || body >= sim->bodies || !sim->link[body].dofs) return MDYN_ERR_INDEX;
    return md_coordinate_of(sim, body);
}

/* ---- by body ---- */

/* The place of DoF `axis` of a body's joint in the arrays over DoF, or an error. */
MD_STATIC int md_place_of_dof(const mdyn_sim *sim, int body, int axis)
{
    if (!md_is_set_up(sim)) return md_not_ready(sim);
    if (body < 0 || body >= sim->bodies || axis < 0 || axis >= sim->link[body].dofs)
        return MDYN_ERR_INDEX;
    return md_dof_of(sim, body) + axis;
}

/* The place of coordinate k of a body's joint in q, or an error. */
MD_STATIC int md_place_of_coordinate(const mdyn_sim *sim, int body, int k)
{
    if (!md_is_set_up(sim)) return md_not_ready(sim);
    if (body < 0 || body >= sim->bodies || k < 0
        || k >= md_joint_coordinates((mdyn_joint)sim->link[body].joint)) return MDYN_ERR_INDEX;
    return md_coordinate_of(sim, body) + k;
}

/* Writes a value at a place, unless it is an error, which is returned. */
MD_STATIC int md_set_element(mdyn_sim *sim, mdyn_real *x, int place, int body, mdyn_real value)
{
    if (!md_is_ready(sim)) return md_not_ready(sim);
    if (place < 0) return md_blame(sim, place, body);
    x[place] = value;
    return MDYN_OK;
}

MDYN_API mdyn_real mdyn_q(const mdyn_sim *sim, int body, int k)
{
    const int place = md_place_of_coordinate(sim, body, k);
    return place < 0 ? md_no_number() : sim->q[place];
}

MDYN_API mdyn_real mdyn_v(const mdyn_sim *sim, int body, int axis)
{
    const int place = md_place_of_dof(sim, body, axis);
    return place < 0 ? md_no_number() : sim->v[place];
}

MDYN_API int mdyn_set_q(mdyn_sim *sim, int body, int k, mdyn_real value)
{
    const int place = md_place_of_coordinate(sim, body, k);
    return md_set_element(sim, sim ? sim->q : NULL, place, body, value);
}

MDYN_API int mdyn_set_v(mdyn_sim *sim, int body, int axis, mdyn_real value)
{
    return md_set_element(sim, sim ? sim->v : NULL, md_place_of_dof(sim, body, axis), body, value);
}

MDYN_API int mdyn_set_tau(mdyn_sim *sim, int body, int axis, mdyn_real value)
{
    const int place = md_place_of_dof(sim, body, axis);
    return md_set_element(sim, sim ? sim->tau : NULL, place, body, value);
}

MDYN_API int mdyn_set_target(mdyn_sim *sim, int body, mdyn_real value)
{
    const int place = md_place_of_dof(sim, body, 0);
    return md_set_element(sim, sim ? sim->target : NULL, place, body, value);
}

MDYN_API int mdyn_set_target_velocity(mdyn_sim *sim, int body, mdyn_real value)
{
    const int place = md_place_of_dof(sim, body, 0);
    return md_set_element(sim, sim ? sim->target_velocity : NULL, place, body, value);
}

/* ---- numbers of both kinds, encoder counts ----
   Conversions to mdyn_real are rounded to nearest and clamped to its range, in every scalar. They
   need no sim and have no errors. */

MDYN_API mdyn_real mdyn_real_of(mdyn_wide x) { return md_nearest_real(x); }

MDYN_API mdyn_wide mdyn_wide_of(mdyn_real x) { return md_to_wide(md_of_real(x)); }

#if MDYN_SCALAR == MDYN_SCALAR_FIXED

/* |x| = m 2^exponent for the bits of a double x, m >= 0 of 53 bits; denormal numbers give 0.
   Exponent 972: NaN or infinite. */
MD_STATIC int64_t md_mantissa_of_bits(uint64_t bits, int *exponent)
{
    *exponent = (int)(bits >> 52 & 2047u) - 1075;
    if (*exponent == -1075) return 0;
    return (int64_t)((bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52);
}

/* m 2^shift of 0 <= m < 2^53, rounded to nearest, halves up; shift <= 10. */
MD_STATIC int64_t md_shift_rounded(int64_t m, int shift)
{
    if (shift >= 0) return m << shift;
    if (shift < -54) return 0;
    return (m + ((int64_t)1 << (-shift - 1))) >> -shift;
}

/* A coordinate is in units of 2^-40; one out of range becomes no number (md_no_number). */
MDYN_API mdyn_real mdyn_real_of_bits(uint64_t bits)
{
    int exponent;
    int64_t m = md_mantissa_of_bits(bits, &exponent);
    /* 2^23 and more */
    if (exponent > 22 - 52) return INT64_MIN;
    m = md_shift_rounded(m, exponent + 40);
    return bits >> 63 ? -m : m;
}

/* The exponent is that of MDYN_C: the next of these powers of 2 above |x|, less 55. */
MDYN_API mdyn_wide mdyn_wide_of_bits(uint64_t bits)
{
    static const int8_t top[] = { -64, -48, -32, -16, -8, 0, 8, 16, 32, 48, 64, 80, 96, 112 };
    int exponent, k = 0;
    int64_t m = md_mantissa_of_bits(bits, &exponent);
    if (exponent + 53 > 112) return bits >> 63 ? MDYN_WIDE_NEGATIVE_HUGE_ : MDYN_WIDE_HUGE_;
    while (exponent + 53 > top[k]) k++;
    m = md_shift_rounded(m, exponent - (top[k] - 55));
    if (m == 0) return 0;
    return (bits >> 63 ? -m : m) * 256 + ((top[k] - 55) & 255);
}

#endif

#if MDYN_SCALAR == MDYN_SCALAR_FIXED

/* The bits of a double nearest to x 2^e, halves away from 0:
      sign, exponent + 1023 of the first digit in 11 bits, the 52 digits behind it
   The first digit of m is not stored: it is added to an exponent that is smaller by one. So is the
   carry of a fraction that was rounded up to 2^53, whose digits are then 0. */
MD_STATIC uint64_t md_double_bits(int64_t x, int e)
{
    const uint64_t sign = x < 0 ? (uint64_t)1 << 63 : 0;
    uint64_t m = x < 0 ? ~(uint64_t)x + 1 : (uint64_t)x;
    const int excess = md_bit_length64(m) - 53;
    if (m == 0) return 0;
    m = excess > 0 ? (m >> excess) + (m >> (excess - 1) & 1) : m << -excess;
    return sign | (((uint64_t)(e + excess + 1074) << 52) + m);
}

MDYN_API uint64_t mdyn_bits_of_real(mdyn_real x) { return md_double_bits(x, -40); }

MDYN_API uint64_t mdyn_bits_of_wide(mdyn_wide x)
{
    return md_double_bits(x >> 8, md_wide_exponent(x));
}

#endif

/* ---- arithmetic of mdyn_wide ----
   Operands become md_num, of 31 bits in fixed point; the number room defines the operation, its
   rounding, and the result of a division by 0. Steps calculate with the same digits, so results of
   these calls are no less accurate.
      a constant times a reading   mdyn_times(MDYN_C(0.05), mdyn_wide_of(sim.q[0]))
      the result as a command      sim.tau[0] = mdyn_real_of(x)
      a comparison                 mdyn_compare(a, b) < 0; equal numbers of different exponents
                                   have different bits
   With floats these are the processor's operators; a source for all scalars uses the calls. */

MDYN_API mdyn_wide mdyn_plus(mdyn_wide a, mdyn_wide b)
{
    return md_to_wide(md_add(md_of_wide(a), md_of_wide(b)));
}

MDYN_API mdyn_wide mdyn_minus(mdyn_wide a, mdyn_wide b)
{
    return md_to_wide(md_sub(md_of_wide(a), md_of_wide(b)));
}

MDYN_API mdyn_wide mdyn_times(mdyn_wide a, mdyn_wide b)
{
    return md_to_wide(md_mul(md_of_wide(a), md_of_wide(b)));
}

MDYN_API mdyn_wide mdyn_over(mdyn_wide a, mdyn_wide b)
{
    return md_to_wide(md_div(md_of_wide(a), md_of_wide(b)));
}

MDYN_API mdyn_wide mdyn_root(mdyn_wide a) { return md_to_wide(md_sqrt(md_of_wide(a))); }

/* No operand is rounded here. */
MDYN_API int mdyn_compare(mdyn_wide a, mdyn_wide b) { return md_wide_compare(a, b); }

/* Measured, then written: nothing is written of a text that does not fit. No call returns a number
   of 1e30 and more; md_decimal would need as many divisions as it has digits. */
MDYN_API int mdyn_number_text(mdyn_wide x, char *text, int size)
{
    md_printer out;
    if (!text) return MDYN_ERR_NULL;
    if (!md_is_representable(md_of_wide(x))) return MDYN_ERR_RESULT;
    out.at = text;
    out.size = out.used = 0;
    md_print_number(&out, md_of_wide(x));
    if (out.used >= size) return MDYN_ERR_ROOM;
    out.size = size;
    out.used = 0;
    md_print_number(&out, md_of_wide(x));
    text[out.used] = 0;
    return MDYN_OK;
}

#if MIMICDYN_TREE

MDYN_API int mdyn_valid_inertia(const mdyn_inertia *given, mdyn_inertia *valid, mdyn_wide *excess)
{
    mdyn_inertia result;
    int code;
    if (!given || !valid || !excess) return MDYN_ERR_NULL;
    if (!md_wides_in_range(&given->xx, 6)) return MDYN_ERR_NOT_FINITE;
    code = md_check_inertia(given);
    if (code == MDYN_ERR_INERTIA) return code;
    result = *given;
    *excess = md_remove_excess(&result);
    *valid = result;
    return MDYN_OK;
}

#endif

MDYN_API mdyn_real mdyn_of_counts(int32_t counts, mdyn_wide unit)
{
    return md_real_of_counts(counts, unit);
}

/* A unit of 0, say of an encoder that is not configured yet, gives 0 counts: no division by 0. */
MDYN_API int32_t mdyn_to_counts(mdyn_real x, mdyn_wide unit)
{
    if (md_wide_is_zero(unit)) return 0;
    return md_to_int(md_div(md_of_real(x), md_of_wide(unit)));
}

/* before + d, where d = raw - before modulo 2^bits lies in [-2^(bits-1), 2^(bits-1)): right while
   the encoder moves by less than half its range between two readings. Unsigned arithmetic wraps
   at any count without being undefined. */
MDYN_API int32_t mdyn_unwrap(int32_t before, uint32_t raw, int bits)
{
    uint32_t half, step;
    if (bits < 1 || bits > 32) return before;
    half = (uint32_t)1 << (bits - 1);
    step = (raw - (uint32_t)before + half) & (half * 2 - 1);
    return (int32_t)((uint32_t)before + step - half);
}

/* ---- accelerations ----
   Forward dynamics    a = M^-1 (tau - C), by the articulated body algorithm
   Constrained         also J a = -J' v, for the equality rows of mdyn_project
   Both at the present q, v, tau and wrench; a is left in sim->dv. Bounded rows (limits, drives,
   friction, contacts) do not act. A query without a body is checked with body 0, which every sim
   has. */

/* Articulated bodies: M is not formed. */
MDYN_API int mdyn_forward_dynamics(mdyn_sim *sim, mdyn_wide *acceleration)
{
    int code = md_check_query(sim, 0, acceleration, acceleration);
    if (code == MDYN_OK) code = md_find_free_accelerations(sim);
    return code == MDYN_OK ? md_write_results(sim, acceleration, sim->dv, sim->dofs) : code;
}

/* J and J' v of closures are those of the present q and v, so their rows are set up anew. */
MDYN_API int mdyn_constrained_dynamics(mdyn_sim *sim, mdyn_wide *acceleration)
{
    int code = md_check_query(sim, 0, acceleration, acceleration);
    if (code == MDYN_OK) code = md_update_present_rows(sim);
    if (code == MDYN_OK) md_find_off(sim, MD_MODE_ACCELERATION);
    if (code == MDYN_OK) code = md_find_constrained_accelerations(sim);
    return code == MDYN_OK ? md_write_results(sim, acceleration, sim->dv, sim->dofs) : code;
}

/* ---- the reduced system ----
   q = gamma(y), q' = G y', M_y y'' + C_y = G^T tau (>>reduce). Which DoFs are independent is known
   from the plan; no call of this group changes it. Vectors over the independent DoFs are packed:
   inside the sim they stand under the numbers of their DoFs, with 0 at the followers.
      y'' of M_y y'' + C_y = G^T tau   =   the independent elements of mdyn_constrained_dynamics
   as long as no coupling is a row and there is no closure. */

/* A follower has one DoF, and each tie one follower. */
MDYN_API int mdyn_independent_dofs(const mdyn_sim *sim)
{
    return md_is_set_up(sim) ? sim->dofs - sim->tie_count : md_not_ready(sim);
}

/* Counted in each call: a program asks once, or after it has engaged a coupling. */
MDYN_API int mdyn_independent_dof(const mdyn_sim *sim, int k)
{
    int dof;
    if (!md_is_set_up(sim)) return md_not_ready(sim);
    if (k < 0) return MDYN_ERR_INDEX;
    for (dof = 0; dof < sim->dofs; dof++)
        if (!md_is_follower(sim, dof) && k-- == 0) return dof;
    return MDYN_ERR_INDEX;
}

/* G y' alone, without what followers in the state are off it. */
MDYN_API int mdyn_expand_velocity(mdyn_sim *sim, const mdyn_wide *y_velocity, mdyn_wide *velocity)
{
    int code = md_open_query(sim, 0, y_velocity, velocity);
    if (code == MDYN_OK) code = md_find_expanded(sim, y_velocity, MD_MODE_VELOCITY);
    return code == MDYN_OK ? md_write_results(sim, velocity, sim->dv, sim->dofs) : code;
}

/* g belongs to the present velocities; it comes from md_find_off. */
MDYN_API int mdyn_expand_acceleration(mdyn_sim *sim, const mdyn_wide *y_acceleration,
                                      mdyn_wide *acceleration)
{
    int code = md_open_query(sim, 0, y_acceleration, acceleration);
    if (code == MDYN_OK) code = md_find_expanded(sim, y_acceleration, MD_MODE_ACCELERATION);
    return code == MDYN_OK ? md_write_results(sim, acceleration, sim->dv, sim->dofs) : code;
}

/* The power of `force` in the motion G y' is that of the result in y'. */
MDYN_API int mdyn_reduced_force(mdyn_sim *sim, const mdyn_wide *force, mdyn_wide *y_force)
{
    int code = md_open_query(sim, 0, force, y_force);
    if (code == MDYN_OK) code = md_read_vector(sim, force, 0, sim->dv);
    if (code != MDYN_OK) return code;
    md_reduce_force(sim, sim->dv);
    return md_write_results(sim, y_force, sim->dv, md_pack_independent(sim, sim->dv));
}

/* M by composite bodies (md_crba), each element spread over the independent DoFs that move its two
   joints. Its pattern is that of the elimination tree: other elements are exactly 0. */
MDYN_API int mdyn_reduced_mass_matrix(mdyn_sim *sim, mdyn_wide *y_mass)
{
    int code = md_open_query(sim, 0, y_mass, y_mass);
    if (code != MDYN_OK) return code;
    md_crba(sim, MD_K(0));
    return md_write_reduced_mass_matrix(sim, y_mass);
}

/* FDgq. During the call q and v are changed, as in a step. If the followers are on their couplings,
   gs = g, and the result is that of mdyn_constrained_dynamics. */
MDYN_API int mdyn_stabilized_dynamics(mdyn_sim *sim, mdyn_wide time, mdyn_wide *acceleration)
{
    int code = md_enter(sim);
    if (code != MDYN_OK) return code;
    code = !acceleration ? MDYN_ERR_NULL : md_check_dt(time);
    if (code != MDYN_OK) return md_leave(sim, md_blame(sim, code, -1));
    code = md_find_stabilized_accelerations(sim, md_of_wide(time));
    if (code == MDYN_OK) code = md_write_results(sim, acceleration, sim->dv, sim->dofs);
    return md_leave(sim, code);
}

#if MIMICDYN_TREE

/* ---- poses and velocities ----
   The first query after a change of q or v finds the kinematics of all bodies, O(b); the others
   read what it left in sim->body_state. */

/* The pose is that of the body's frame as the table gives it, not of the internal one. A position
   beyond the range of mdyn_real is refused; a rotation is always within it. */
MDYN_API int mdyn_pose(mdyn_sim *sim, int body, mdyn_real3 *position, mdyn_real4 *quaternion)
{
    md_vec p;
    int code = md_open_kinematics(sim, body, position, quaternion);
    if (code != MDYN_OK) return code;
    md_origin_position(sim, body, &p);
    if (!md_vec_in_range(&p)) return md_blame(sim, MDYN_ERR_RESULT, body);
    md_real3_of(position, &p);
    md_write_rotation(sim, body, quaternion);
    return MDYN_OK;
}

/* linear = velocity of the origin + omega x arm, with arm from the origin to the point. */
MDYN_API int mdyn_velocity(mdyn_sim *sim, int body, const mdyn_real3 *point,
                           mdyn_real3 *angular, mdyn_real3 *linear)
{
    const md_vec *omega;
    md_vec v, arm;
    int code = md_open_kinematics(sim, body, angular, linear);
    if (code == MDYN_OK) code = md_point_arm(sim, body, point, &arm);
    if (code != MDYN_OK) return code;

    /* Both results are checked before one of them is written */
    omega = &MD_TREE(sim)->body_state[body].omega;
    md_origin_velocity(sim, body, &v);
    md_vec_add_cross(&v, omega, &arm);
    if (!md_vec_in_range(&v) || !md_vec_in_range(omega))
        return md_blame(sim, MDYN_ERR_RESULT, body);
    md_real3_of(angular, omega);
    md_real3_of(linear, &v);
    return MDYN_OK;
}

/* The origin's position plus the arm to the point. */
MDYN_API int mdyn_point(mdyn_sim *sim, int body, const mdyn_real3 *point, mdyn_real3 *position)
{
    md_vec p, arm;
    int code = md_open_kinematics(sim, body, position, position);
    if (code == MDYN_OK) code = md_point_arm(sim, body, point, &arm);
    if (code != MDYN_OK) return code;
    md_origin_position(sim, body, &p);
    md_vec_add(&p, &p, &arm);
    if (!md_vec_in_range(&p)) return md_blame(sim, MDYN_ERR_RESULT, body);
    md_real3_of(position, &p);
    return MDYN_OK;
}

/* J a + J' v. MDYN_ERR_BUSY in a callback: the kinematics of a midpoint step are those of its
   middle, and do not contain J' v of free joints, which is part of the motion of the step. */
MDYN_API int mdyn_acceleration(mdyn_sim *sim, int body, const mdyn_real3 *point,
                               const mdyn_wide *a, mdyn_wide3 *angular, mdyn_wide3 *linear)
{
    md_motion m;
    md_vec arm;
    md_num x[6];
    mdyn_wide result[6];
    int k, code = md_open_query(sim, body, angular, linear);
    if (code == MDYN_OK) code = md_point_arm(sim, body, point, &arm);
    for (k = 0; a && code == MDYN_OK && k < sim->dofs; k++)
        if (!md_wide_in_range(a[k])) code = md_blame(sim, MDYN_ERR_STATE, k);
    if (code != MDYN_OK) return code;

    md_find_point_motion(sim, body, arm, a, &m);
    md_add_bias_acceleration(sim, body, &arm, &m);
    md_six_numbers(x, &m.ang, &m.lin);
    code = md_write_results(sim, result, x, 6);
    for (k = 0; k < 3 && code == MDYN_OK; k++) {
        (&angular->x)[k] = result[k];
        (&linear->x)[k] = result[3 + k];
    }
    return code;
}

/* (angular, linear) = J v is what mdyn_velocity returns for the same point, and J^T (moment, force)
   are the generalized forces of a wrench at it. */
MDYN_API int mdyn_jacobian(mdyn_sim *sim, int body, const mdyn_real3 *point, mdyn_wide *jacobian)
{
    md_vec arm;
    int code = md_open_kinematics(sim, body, jacobian, jacobian);
    if (code == MDYN_OK) code = md_point_arm(sim, body, point, &arm);
    if (code == MDYN_OK) md_write_jacobian(sim, body, &arm, jacobian);
    return code;
}

/* Newton and Euler for what the joint carries. The motion of the middle of the step follows from v
   and its change in the step, so no step keeps anything for this call but the latter, by which the
   next one extrapolates. */
MDYN_API int mdyn_joint_wrench(mdyn_sim *sim, int body, mdyn_wide3 *moment, mdyn_wide3 *force)
{
    md_force f;
    md_num x[6];
    mdyn_wide result[6];
    int k, code = md_enter(sim);
    if (code != MDYN_OK) return code;
    if (!moment || !force) return md_leave(sim, md_blame(sim, MDYN_ERR_NULL, body));
    if (body < 0 || body >= sim->bodies)
        return md_leave(sim, md_blame(sim, MDYN_ERR_INDEX, body));
    code = md_check_inputs(sim);
    if (code == MDYN_OK) code = md_check_state(sim);
    if (code == MDYN_OK && !MD_TREE(sim)->state_is_of_step)
        code = md_blame(sim, MDYN_ERR_NO_STEP, -1);
    if (code != MDYN_OK) return md_leave(sim, code);

    md_find_joint_wrench(sim, body, &f);
    md_six_numbers(x, &f.ang, &f.lin);
    code = md_write_results(sim, result, x, 6);
    for (k = 0; k < 3 && code == MDYN_OK; k++) {
        (&moment->x)[k] = result[k];
        (&force->x)[k] = result[3 + k];
    }
    return md_leave(sim, code);
}

/* ---- terms of tau = M a + C ----
   M with armature, without the dt damping that a step adds to its diagonal. C holds Coriolis and
   centrifugal forces, gravity, and minus the external wrenches. M = L^T L, so M^-1 = L^-1 L^-T. */

/* The composite rigid body algorithm fills the sparse lower triangle in the places of L; what is 0
   by the structure of the tree is exactly 0 in the result. */
MDYN_API int mdyn_mass_matrix(mdyn_sim *sim, mdyn_wide *mass)
{
    int code = md_open_dynamics(sim, mass, mass);
    if (code != MDYN_OK) return code;
    md_find_inertias(sim);
    md_crba(sim, MD_K(0));
    return md_write_mass_matrix(sim, mass);
}

/* The bias force is the inverse dynamics of a = 0. The recursive Newton-Euler algorithm leaves the
   forces of either in sim->dv. */
MDYN_API int mdyn_bias_force(mdyn_sim *sim, mdyn_wide *bias)
{
    int code = md_open_dynamics(sim, bias, bias);
    if (code == MDYN_OK) code = md_check_inputs(sim);
    if (code != MDYN_OK) return code;
    md_find_rnea_forces(sim, NULL);
    return md_write_results(sim, bias, sim->dv, sim->dofs);
}

/* Without what the joints lose. The range of a is that of a model's numbers, wider than that of
   mdyn_real. */
MDYN_API int mdyn_inverse_dynamics(mdyn_sim *sim, const mdyn_wide *acceleration, mdyn_wide *tau)
{
    int code = md_open_dynamics(sim, acceleration, tau);
    if (code == MDYN_OK) code = md_find_inverse_dynamics(sim, acceleration, 0);
    return code == MDYN_OK ? md_write_results(sim, tau, sim->dv, sim->dofs) : code;
}

/* In a step damping acts on a mean of v and v', and friction is a bound: at constant velocity both
   equal what is added here. At rest friction may have any value up to its bound; here it is the
   whole bound, against a, so that the joint begins to move. */
MDYN_API int mdyn_inverse_dynamics_with_losses(mdyn_sim *sim, const mdyn_wide *acceleration,
                                               mdyn_wide *tau)
{
    int code = md_open_dynamics(sim, acceleration, tau);
    if (code == MDYN_OK) code = md_find_inverse_dynamics(sim, acceleration, 1);
    return code == MDYN_OK ? md_write_results(sim, tau, sim->dv, sim->dofs) : code;
}

/* The reduced inverse dynamics of y'' = 0 without commands: C + M g of all DoFs, over the
   independent ones. */
MDYN_API int mdyn_reduced_bias_force(mdyn_sim *sim, mdyn_wide *y_bias)
{
    int code = md_open_query(sim, 0, y_bias, y_bias);
    if (code == MDYN_OK) code = md_find_expanded_forces(sim, NULL, 0);
    if (code != MDYN_OK) return code;
    md_reduce_force(sim, sim->dv);
    return md_write_results(sim, y_bias, sim->dv, md_pack_independent(sim, sim->dv));
}

/* tau of the followers is given, so the independent DoFs have to exert less. */
MDYN_API int mdyn_reduced_inverse_dynamics(mdyn_sim *sim, const mdyn_wide *y_acceleration,
                                           mdyn_wide *tau)
{
    int code = md_open_query(sim, 0, y_acceleration, tau);
    if (code == MDYN_OK) code = md_find_reduced_forces(sim, y_acceleration, 0);
    return code == MDYN_OK ? md_write_results(sim, tau, sim->dv, sim->dofs) : code;
}

/* The losses of each joint follow from its own velocity; those of a follower load the leader by the
   ratio. */
MDYN_API int mdyn_reduced_inverse_dynamics_with_losses(mdyn_sim *sim,
                                                       const mdyn_wide *y_acceleration,
                                                       mdyn_wide *tau)
{
    int code = md_open_query(sim, 0, y_acceleration, tau);
    if (code == MDYN_OK) code = md_find_reduced_forces(sim, y_acceleration, 1);
    return code == MDYN_OK ? md_write_results(sim, tau, sim->dv, sim->dofs) : code;
}

/* MDYN_WORLD stands for all bodies; the state is then checked with body 0, which every sim has. */
MDYN_API int mdyn_center_of_mass(mdyn_sim *sim, int body, mdyn_wide *mass, mdyn_real3 *center)
{
    md_num total;
    md_vec c;
    int code = md_open_query(sim, body == MDYN_WORLD ? 0 : body, mass, center);
    if (code == MDYN_OK) code = md_find_center_of_mass(sim, body, &total, &c);
    if (code != MDYN_OK) return code;
    *mass = md_to_wide(total);
    md_real3_of(center, &c);
    return MDYN_OK;
}

/* An element of the column, exactly 0 where i and j have no DoF between them and the world in
   common. */
MDYN_API int mdyn_impulse_response(mdyn_sim *sim, int i, int j, mdyn_wide *response)
{
    int code = md_open_query(sim, 0, response, response);
    if (code != MDYN_OK) return code;
    if (i < 0 || i >= sim->dofs) return md_blame(sim, MDYN_ERR_INDEX, i);
    if (j < 0 || j >= sim->dofs) return md_blame(sim, MDYN_ERR_INDEX, j);
    code = md_find_unit_response(sim, i < j ? i : j);
    return code == MDYN_OK ? md_write_results(sim, response, &sim->dv[i < j ? j : i], 1) : code;
}

/* Forward dynamics of a unit force without any other. */
MDYN_API int mdyn_inverse_mass_column(mdyn_sim *sim, int i, mdyn_wide *dv)
{
    int code = md_open_query(sim, 0, dv, dv);
    if (code != MDYN_OK) return code;
    if (i < 0 || i >= sim->dofs) return md_blame(sim, MDYN_ERR_INDEX, i);
    code = md_find_unit_response(sim, i);
    return code == MDYN_OK ? md_write_results(sim, dv, sim->dv, sim->dofs) : code;
}

/* Sums over all bodies, T with the armatures. Energy that springs hold (drives, soft rows) is in
   neither of them. */
MDYN_API int mdyn_energy(mdyn_sim *sim, mdyn_wide *kinetic, mdyn_wide *potential)
{
    md_num twice_kinetic = MD_K(0), work = MD_K(0);
    md_vec g;
    int i, code = md_open_query(sim, 0, kinetic, potential);
    if (code != MDYN_OK) return code;

    md_vec_of_wide(&g, &sim->gravity);
    for (i = 0; i < sim->bodies; i++) {
        const int welded = md_is_welded(&sim->link[i]);
        if (welded && sim->link[i].parent >= 0) continue; /* its parent counts it */
        if (!welded) twice_kinetic = md_add_kinetic_energy(sim, i, twice_kinetic);
        work = md_add_gravity_work(sim, i, &g, work);
    }
    if (!md_is_representable(twice_kinetic) || !md_is_representable(work))
        return md_blame(sim, MDYN_ERR_RESULT, -1);
    *kinetic = md_to_wide(md_mul(MD_K(0.5), twice_kinetic));
    *potential = md_to_wide(md_neg(work));
    return MDYN_OK;
}

#endif

#if MIMICDYN_LCP

/* ---- linear complementarity problems without a sim ----
   A x = b + w; w >= 0 where x = lo, w <= 0 where x = hi, else w = 0. The algorithms are those of
   >>lcp; these calls check the problem, divide up the scratch memory, and test the result. */

/* Solved in the scale D A D with 1/4 < D_i^2 A_ii <= 1, D_i a power of 2: exact. The scratch holds
   n (n + 11) numbers, then 4 n indices. MDYN_WARN_NO_SOLUTION is returned if the test of the result
   fails and a row that is driven without end proves it. */
MDYN_API int mdyn_lcp_dantzig(const mdyn_lcp *problem, mdyn_wide *x, mdyn_wide *w,
                              mdyn_lcp_cell *scratch, int cells, mdyn_lcp_report *report)
{
    md_lcp_work s;
    mdyn_lcp_report unwanted;
    int i, drives, code;
    if (!report) report = &unwanted;
    code = md_lcp_check(problem, x, scratch, cells, 0, report);
    if (code != MDYN_OK || problem->n == 0) return code;

    i = problem->n;
    md_lcp_carve_scratch(&s, i, (md_num *)(void *)scratch, (int *)(void *)(scratch + i * (i + 11)));
    code = md_lcp_scale_rows(&s, problem, report);
    if (code != MDYN_OK) return code;
    md_lcp_load(&s, problem);
    md_lcp_find_profile(&s);
    drives = md_lcp_solve(&s, problem);

    /* The test of the result takes place in the units of the problem, friction bounds included */
    md_lcp_unscale(&s, problem);
    if (problem->friction_law == MDYN_PYRAMID) md_lcp_bound_friction(&s, problem);
    code = md_lcp_write_results(&s, problem, x, w, report, drives);
    if (code == MDYN_OK) report->row = -1;
    for (i = 0; i < s.n && code == MDYN_WARN_NOT_CONVERGED; i++) {
        if (!(s.state[i] & MD_LCP_UNBOUNDED)) continue;
        if (!md_lcp_proves_no_solution(&s, problem, i)) continue;
        report->row = i;
        code = MDYN_WARN_NO_SOLUTION;
    }
    return code;
}

/* x_i := clamp(x_i + omega (b_i - sum_j A_ij x_j)/A_ii), row by row. Zeros in `solver` stand for
   100 iterations, omega 1 and a tolerance of 8 rounding errors. */
MDYN_API int mdyn_lcp_pgs(const mdyn_lcp *problem, const mdyn_solver *solver, mdyn_wide *x,
                          mdyn_wide *w, mdyn_lcp_cell *scratch, int cells,
                          mdyn_lcp_report *report)
{
    const int warm = solver && solver->start == MDYN_WARM;
    const int max_iterations = !solver || !solver->iterations ? 100
        : solver->iterations < 32767 ? (int)solver->iterations : 32767;
    md_num omega = MD_K(0), tolerance = MD_K(0);
    md_lcp_work s;
    mdyn_lcp_report unwanted;
    int i, code, iterations, moves;
    if (!report) report = &unwanted;
    code = md_lcp_check(problem, x, scratch, cells, 1, report);
    if (code != MDYN_OK || problem->n == 0) return code;

    /* Settings; with MDYN_WARM x is an input too */
    if (solver) {
        if (!md_wide_in_range(solver->relaxation) || !md_wide_in_range(solver->tolerance))
            return md_lcp_report_code(report, MDYN_ERR_SOLVER, -1);
        omega = md_of_wide(solver->relaxation);
        tolerance = md_of_wide(solver->tolerance);
        if (md_less(omega, MD_K(0)) || !md_less(omega, MD_K(2)) || md_less(tolerance, MD_K(0))
            || md_less(MD_K(0.1), tolerance) || (!warm && solver->start != MDYN_COLD))
            return md_lcp_report_code(report, MDYN_ERR_SOLVER, -1);
    }
    if (md_is_zero(omega)) omega = MD_K(1);
    if (md_is_zero(tolerance)) tolerance = MD_K(8 * MD_EPSILON);
    for (i = 0; i < problem->n && warm; i++)
        if (!md_wide_in_range(x[i])) return md_lcp_report_code(report, MDYN_ERR_NOT_FINITE, i);

    /* Rows are scaled only to find a matrix that is not positive semi-definite. The iteration is in
       the units of the problem, so x at a bound is that bound to the last digit; s.magnitude holds
       1/A_ii */
    md_lcp_carve_pgs_scratch(&s, problem->n, scratch);
    code = md_lcp_scale_rows(&s, problem, report);
    if (code != MDYN_OK) return code;
    for (i = 0; i < s.n; i++) {
        const md_num a = md_lcp_problem_element(problem, i, i);
        s.x[i] = warm ? md_of_wide(x[i]) : MD_K(0);
        s.magnitude[i] = md_is_zero(a) ? MD_K(1) : md_div(MD_K(1), a);
        s.state[i] = 0;
        md_lcp_set_bounds(&s, problem, i, MD_K(1));
    }

    /* Friction bounds follow x in each iteration; those of the last x test the result */
    iterations = md_lcp_iterate(&s, problem, omega, tolerance, max_iterations, &moves);
    md_lcp_bound_friction(&s, problem);
    code = md_lcp_write_results(&s, problem, x, w, report, iterations);
    if (code < 0) return code;
    if (moves) return MDYN_WARN_NOT_CONVERGED;
    report->row = -1;
    return MDYN_OK;
}

#endif

/* Code after this header is compiled with the user's own options for contraction. */
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#if defined(__clang__) || defined(__IAR_SYSTEMS_ICC__) || defined(__CC_ARM)
#pragma STDC FP_CONTRACT DEFAULT
#elif defined(MD_POPS_OPTIONS)
#pragma GCC pop_options
#endif

#endif /* MIMICDYN_IMPLEMENTATION */

/* =========================================================================== // >>license
   This software is available under two licenses; choose whichever you prefer.

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
