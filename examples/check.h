/* check.h - what the examples share: numbers as double, and checks that print both sides.
   Firmware needs none of this. Include after mimicdyn.h. */

#ifndef EXAMPLES_CHECK_H
#define EXAMPLES_CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The project's build says by a second name which scalar it wants: a misspelled first one would
   quietly run the default. */
#if (defined(EXPECT_SCALAR_F32) && MDYN_SCALAR != MDYN_SCALAR_F32) || \
    (defined(EXPECT_SCALAR_F64) && MDYN_SCALAR != MDYN_SCALAR_F64) || \
    (defined(EXPECT_SCALAR_FIXED) && MDYN_SCALAR != MDYN_SCALAR_FIXED)
#error "this is not the scalar that the build asked for"
#endif

/* What depends on the scalar: a bound of rounding errors, mostly. A double of 32 bits, the AVR's,
   reads and shows FIXED no better than F32. */
#define BY_SCALAR(f64, f32, fixed) \
    (MDYN_SCALAR == MDYN_SCALAR_F64                         ? (f64) \
     : MDYN_SCALAR == MDYN_SCALAR_F32 || sizeof(double) < 8 ? (f32) \
                                                            : (fixed))

/* The header's numbers as double: the only places where the examples look inside them. */
#if MDYN_SCALAR == MDYN_SCALAR_FIXED
static inline double real(mdyn_real x) { return ldexp((double)x, -40); }
static inline double wide(mdyn_wide x)
{
    int e = (int)(x & 255);
    return ldexp((double)(x >> 8), e < 128 ? e : e - 256);
}
#else
static inline double real(mdyn_real x) { return (double)x; }
static inline double wide(mdyn_wide x) { return (double)x; }
#endif

/* For calls that have no reason to fail or to warn in an example. */
static inline void must(const mdyn_sim *sim, int code)
{
    if (code == MDYN_OK) {
        return;
    }
    fprintf(stderr, "mimicdyn: %s (index %d): %s\n", mdyn_text(code), sim->culprit.index,
            mdyn_remedy(code));
    exit(2);
}

/* The larger of two errors, and NaN if one is: fmax would forget it. */
static inline double worse(double a, double b)
{
    return a >= b || isnan(a) ? a : b;
}

static int check_failures;

static inline void check_at(const char *file, int line, const char *what, double got,
                            double wanted, double within)
{
    if (fabs(got - wanted) <= within) { /* false for NaN */
        printf("  ok    %-42s %13.7g, expected %.7g +- %.1g\n", what, got, wanted, within);
        return;
    }
    printf("  WRONG %-42s %.17g, expected %.17g +- %.1g (%s:%d)\n", what, got, wanted, within,
           file, line);
    check_failures++;
}
#define CHECK(what, got, wanted, within) check_at(__FILE__, __LINE__, what, got, wanted, within)

/* The exit code of main. */
static inline int check_result(void)
{
    printf(check_failures ? "%d checks FAILED\n" : "all checks passed\n", check_failures);
    return check_failures ? 1 : 0;
}

#endif
