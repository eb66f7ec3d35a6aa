/* Numbers that are known at run time only: mdyn_real_from, mdyn_wide_from.

   The truth: the formats, written from their description in check.h; and MDYN_R and MDYN_C. */
#define MIMICDYN_MAX_BODIES 1
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

static int calls;

static double counted(void) {
    calls++;
    return 0.1;
}

static void compare(double x) {
    const mdyn_real r = mdyn_real_from(x), want_real = real(x);
    const mdyn_wide w = mdyn_wide_from(x), want_wide = wide(x);
    if (fabs(x) < 8388608) {
        CHECK(memcmp(&r, &want_real, sizeof r) == 0);
    }
    CHECK(memcmp(&w, &want_wide, sizeof w) == 0);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    random_seed(1);
    for (int i = 0; i < 200000; i++) {
        const double x = ldexp(random_in(-1, 1), random_int(i % 2 ? 30 : 180) - (i % 2 ? 10 : 90));
        compare(x);
    }
    for (int e = -130; e < 125; e++) {
        compare(ldexp(1, e));
        compare(-ldexp(1, e));
        compare(nextafter(ldexp(1, e), 0));
    }
    compare(0);
    CHECK(mdyn_real_from(0.25) == MDYN_R(0.25) && mdyn_real_from(-1.5) == MDYN_R(-1.5));
    CHECK(mdyn_wide_from(1e-7) == MDYN_C(1e-7) && mdyn_wide_from(-2e9) == MDYN_C(-2e9));
#if MDYN_SCALAR == MDYN_SCALAR_FIXED
    const double none[] = { HUGE_VAL, -HUGE_VAL, (double)NAN, 8388608, -8388608, 1e300 };
    for (int i = 0; i < 6; i++) {
        CHECK(mdyn_real_from(none[i]) == INT64_MIN);
    }
    CHECK(mdyn_wide_from(1e300) == MDYN_WIDE_HUGE_);
    CHECK(mdyn_wide_from(-1e300) == MDYN_WIDE_NEGATIVE_HUGE_);
    CHECK(mdyn_wide_from((double)NAN) == MDYN_WIDE_HUGE_);
    CHECK(mdyn_real_from(5e-324) == 0);
#endif
    (void)mdyn_wide_from(counted());
    (void)mdyn_real_from(counted());
    CHECK_EQUAL(calls, 2); /* each evaluates its argument once */
    return check_end();
}
