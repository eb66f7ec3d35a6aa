/* The capacities of the test programs. Included instead of mimicdyn.h: programs of equal knobs
   share one implementation, compiled once for each scalar (implementation.c). A program compiles by
   itself too, with its own implementation, unless -DTEST_SHARES_IMPLEMENTATION=1 says otherwise:
       cc -std=c99 -DMIMICDYN_SCALAR=F64 -DEXPECT_SCALAR_F64=1 tests/test_lcp.c -lm
   Programs of other knobs, and those that look into the implementation, have their own block. */
#ifndef KNOBS_H
#define KNOBS_H

#define MIMICDYN_MAX_BODIES 128   /* trains of gears */
#define MIMICDYN_MAX_COUPLINGS 128
#define MIMICDYN_MAX_BODY_ROWS 22
#define MIMICDYN_MAX_CONTACTS 44  /* stacks of 11 boxes */
#define MIMICDYN_MAX_DANTZIG 132  /* their rows */
#define MIMICDYN_MAX_CURVES 24
#define MIMICDYN_MAX_TERMS 8
#define MIMICDYN_MAX_ENTRIES 8000
#if !defined(TEST_SHARES_IMPLEMENTATION) && !defined(MIMICDYN_IMPLEMENTATION)
#define MIMICDYN_IMPLEMENTATION
#endif
#include "../mimicdyn.h"

#endif
