/* Included after mimicdyn.h by every test program. A misspelled -DMIMICDYN_SCALAR would quietly
   test the default scalar twice: so the build says by another name what it wants, and the
   compiler compares both. */
#ifndef EXPECT_H
#define EXPECT_H

#if defined(EXPECT_SCALAR_F32) + defined(EXPECT_SCALAR_F64) + defined(EXPECT_SCALAR_FIXED) != 1
#error "say -DEXPECT_SCALAR_F32=1, _F64=1 or _FIXED=1, beside -DMIMICDYN_SCALAR"
#endif
#if defined(EXPECT_SCALAR_F32)
enum { EXPECT_SCALAR = MDYN_SCALAR_F32, EXPECT_SIZE = 4 };
#elif defined(EXPECT_SCALAR_F64)
enum { EXPECT_SCALAR = MDYN_SCALAR_F64, EXPECT_SIZE = 8 };
#else
enum { EXPECT_SCALAR = MDYN_SCALAR_FIXED, EXPECT_SIZE = 8 };
#endif
typedef char the_scalar_is_the_expected_one[MDYN_SCALAR == EXPECT_SCALAR &&
                                            sizeof(mdyn_real) == EXPECT_SIZE &&
                                            sizeof(mdyn_wide) == EXPECT_SIZE ? 1 : -1];

#endif
