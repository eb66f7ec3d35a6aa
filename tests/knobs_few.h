/* Capacities of a few bodies, as knobs.h has those of many: for programs that start, copy and
   forge sims by the thousand, and the fuzzing harnesses. */
#ifndef KNOBS_FEW_H
#define KNOBS_FEW_H

#define MIMICDYN_MAX_BODIES 7
#define MIMICDYN_MAX_DOFS 14
#define MIMICDYN_MAX_COUPLINGS 6
#define MIMICDYN_MAX_TERMS 4
#define MIMICDYN_MAX_CURVES 6
#define MIMICDYN_MAX_BODY_ROWS 9
#define MIMICDYN_MAX_CONTACTS 4
#define MIMICDYN_MAX_ROWS 38
#define MIMICDYN_MAX_ENTRIES 480
#define MIMICDYN_MAX_DANTZIG 38
#if !defined(TEST_SHARES_IMPLEMENTATION) && !defined(MIMICDYN_IMPLEMENTATION)
#define MIMICDYN_IMPLEMENTATION
#endif
#include "mimicdyn.h" /* in the root, or one that is tried in its place */

#endif
