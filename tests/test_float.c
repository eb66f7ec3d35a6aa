/* The number layer of float and double (test_fixed.c: of fixed point): roots, sine and cosine
   against long double at many points, ranges by bit patterns, sums that keep their digits. The
   bounds asserted here are those that the header's comments promise. */
#define MIMICDYN_MAX_BODIES 1
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

#if LDBL_MANT_DIG < 64
#error "these tests need a long double with more digits than double"
#endif

enum { POINTS = TEST_SOAK ? 1000000 : 100000 };
typedef long double ld;

/* The scalars' shape, numbers that suit it, and what is allowed. */
/*                           F64              F32 */
TOLERANCE(DIGITS,            53,              24, 0);
TOLERANCE(EXPONENTS,         2048,            256, 0);
TOLERANCE(FIRST_EXPONENT,    DBL_MIN_EXP,     FLT_MIN_EXP, 0);
TOLERANCE(LAST_EXPONENT,     DBL_MAX_EXP,     FLT_MAX_EXP, 0);
TOLERANCE(SQUARES,           1000,            120, 0); /* powers of 2 whose squares are numbers */
TOLERANCE(SMALL_ANGLES,      -300,            -30, 0); /* as powers of 2 */
TOLERANCE(INCREMENT,         1e-14,           1e-6, 0);
TOLERANCE(LARGE_INCREMENT,   1e-3,            0.3, 0);
TOLERANCE(SUM_OF_INCREMENTS, 1e-14,           2e-6, 0);
TOLERANCE(BACK_AGAIN,        1e-16,           1e-8, 0);
TOLERANCE(FAR,               1e6 + 1.0 / 3,   1e6, 0);
TOLERANCE(LARGEST_COUNT,     2147483646.0,    2147483520.0, 0);
TOLERANCE(TAIL,              1e-12,           1e-4, 0);
TOLERANCE(SUM_OF_TAILS,      4e-14,           5e-7, 0);

static ld exact(mdyn_real x) { return (ld)of_real(x); }

/* Error in units in the last place of the exact value. */
static double in_units(md_num got, ld want) {
    int exponent;
    frexpl(want, &exponent);
    ld unit = ldexpl((ld)check_epsilon, exponent - 1);
    return (double)(fabsl(exact(md_to_real(got)) - want) / unit);
}

/* A random number of any size whose square, and whose root's inverse, is a number too. */
static mdyn_real random_magnitude(int largest) {
    int exponent = random_int(2 * largest) - largest;
    return real(ldexp(random_in(0.5, 1), exponent));
}

/* ---- roots ---- */

static void test_roots(void) {
    int largest = (int)SQUARES;
    double worst_sqrt = 0, worst_rsqrt = 0;
    for (int k = 0; k < POINTS; k++) {
        mdyn_real x = k % 2 ? random_magnitude(largest) : real(random_in(1, 4));
        ld root = sqrtl(exact(x));
        worst_sqrt = worse(worst_sqrt, in_units(md_sqrt(md_of_real(x)), root));
        worst_rsqrt = worse(worst_rsqrt, in_units(md_rsqrt(md_of_real(x)), 1 / root));
    }
    CHECK_NEAR(worst_sqrt, 0, 1);
    CHECK_NEAR(worst_rsqrt, 0, 2.5);
    for (int k = 0; k < 2000; k++) { /* exact for squares */
        CHECK_NEAR(of_real(md_to_real(md_sqrt(md_of_real(real((double)k * k))))), k, 0);
    }
    /* The ends of the normal numbers, powers of 2 and their neighbors. */
    int first = (int)FIRST_EXPONENT, last = (int)LAST_EXPONENT;
    for (int e = first; e < last; e++) {
        for (int k = -1; k <= 1; k++) {
            if (e == first && k < 0) {
                continue;
            }
            mdyn_real x = real(ldexp(0.5 + k * check_epsilon, e));
            ld root = sqrtl(exact(x));
            CHECK(in_units(md_sqrt(md_of_real(x)), root) <= 1);
            CHECK(in_units(md_rsqrt(md_of_real(x)), 1 / root) <= 2.5);
        }
    }
    CHECK_NEAR(of_real(md_to_real(md_sqrt(md_of_real(real(0))))), 0, 0);
    CHECK_NEAR(of_real(md_to_real(md_sqrt(md_of_real(real(-1))))), 0, 0);
    CHECK(isnan(of_real(md_to_real(md_sqrt(md_of_real(md_no_number()))))));
}

/* ---- sine and cosine ---- */

/* sin(q + tail) without losing the tail in the sum; the error in units of the last place of 1. */
static double angle_error(mdyn_real q, md_tail tail) {
    md_num sine, cosine;
    ld s = sinl(exact(q)), c = cosl(exact(q)), ds = sinl(exact(tail)), dc = cosl(exact(tail));
    md_sincos(q, tail, &sine, &cosine);
    ld es = fabsl(exact(md_to_real(sine)) - (s * dc + c * ds));
    ld ec = fabsl(exact(md_to_real(cosine)) - (c * dc - s * ds));
    return worse((double)es, (double)ec) / check_epsilon;
}

static double worst_angle(double size) {
    double worst = 0;
    for (int k = 0; k < POINTS; k++) {
        mdyn_real q = real(random_in(-size, size));
        int exponent;
        frexp(of_real(q), &exponent); /* a tail is at most half of the last digit */
        double half = ldexp(check_epsilon, exponent - 1) / 2;
        worst = worse(worst, angle_error(q, real(k % 2 ? random_in(-half, half) : 0)));
    }
    return worst;
}

static void test_angles(void) {
    static const double size[] = { 0.8, 7, 100, 1e4, 1e6, 8388607.999 };
    for (int i = 0; i < 6; i++) {
        double worst = worst_angle(size[i]);
        if (!CHECK_NEAR(worst, 0, 1.5)) {
            CHECK_NOTE("for angles up to %g\n", size[i]);
        }
    }
    /* Where the quadrants meet: multiples of pi/2 as near as the scalar has them. */
    double worst = 0;
    for (int k = 0; k < POINTS; k++) {
        ld at = (random_int(10680000) - 5340000) * 1.57079632679489661923132L;
        mdyn_real q = real((double)at);
        worst = worse(worst, angle_error(q, real((double)(at - exact(q)))));
        worst = worse(worst, angle_error(q, real(0)));
    }
    CHECK_NEAR(worst, 0, 1.5);
    /* Small angles keep their digits, and the signs of zero do no harm. */
    for (int e = -1; e > (int)SMALL_ANGLES; e--) {
        md_num s, c;
        mdyn_real q = real(ldexp(-0.75, e));
        md_sincos(q, real(0), &s, &c);
        CHECK(in_units(s, sinl(exact(q))) <= 1.5);
        CHECK(fabs(of_real(md_to_real(c)) - (double)cosl(exact(q))) <= 1.5 * check_epsilon);
    }
    for (int sign = -1; sign <= 1; sign += 2) {
        md_num s, c;
        md_sincos(real(sign * 0.0), real(0), &s, &c);
        CHECK_NEAR(of_real(md_to_real(s)), 0, 0);
        CHECK_NEAR(of_real(md_to_real(c)), 1, 0);
    }
}

/* ---- ranges ---- */

static mdyn_real of_bits(uint64_t bits) {
    mdyn_real x;
    md_bits b = (md_bits)bits;
    memcpy(&x, &b, sizeof x);
    return x;
}

/* Numbers by their bits: md_in_range is |x| < 2^23, md_wide_in_range |x| < 2^50, and no NaN
   passes. */
static void test_ranges(void) {
    int fraction = (int)DIGITS - 1, exponents = (int)EXPONENTS, bias = exponents / 2 - 1;
    for (int e = 0; e < exponents; e++) {
        for (int k = 0; k < 40; k++) {
            uint64_t mask = ((uint64_t)1 << fraction) - 1, f = random_bits() & mask;
            f = k == 0 ? 0 : k == 1 ? mask : k == 2 ? 1 : k == 3 ? (mask + 1) / 2 : f;
            uint64_t bits = (uint64_t)e << fraction | f;
            uint64_t negative = bits | (uint64_t)exponents << fraction;
            int below_23 = e - bias < 23, below_50 = e - bias < 50;
            CHECK_EQUAL(md_in_range(of_bits(bits)), below_23);
            CHECK_EQUAL(md_in_range(of_bits(negative)), below_23);
            CHECK_EQUAL(md_wide_in_range(of_bits(bits)), below_50);
            CHECK_EQUAL(md_wide_in_range(of_bits(negative)), below_50);
        }
    }
    for (int k = 0; k < CHECK_BAD_WIDES; k++) {
        mdyn_real x;
        bad_wide(&x, k);
        CHECK(!md_in_range(x) && !md_wide_in_range(x));
        CHECK(md_bits_equal(x, x)); /* by bits, so that a NaN that was seen is seen again */
    }
    CHECK(md_in_range(real(0)) && md_in_range(real(-0.0)));
    CHECK(!md_in_range(real(8388608)) && !md_in_range(real(-8388608)));
    CHECK(md_in_range(real(8388607.5)) && md_in_range(real(-8388607.5)));
    CHECK(!md_bits_equal(real(0), real(-0.0)));

    /* whether v + dv and q + dt (v + dv) surely stay in range: near it, nobody knows */
    for (int k = 0; k < POINTS; k++) {
        mdyn_real q = random_magnitude(25), v = random_magnitude(25);
        md_num dv = md_of_real(random_magnitude(25)), dt = MD_K(0.9), w = md_add(md_of_real(v), dv);
        if (!md_surely_stays_in_range(q, v, dv)) continue;
        CHECK(md_stays_in_range(v, dv) && md_stays_in_range(q, md_mul(dt, w)));
    }
    CHECK(md_surely_stays_in_range(real(1e6), real(-1e6), MD_K(10)));
    CHECK(!md_surely_stays_in_range(real(1), real(4e6), MD_K(4e6)));
    CHECK(!md_surely_stays_in_range(real((double)NAN), real(0), MD_K(0)));
}

/* ---- sums that keep their digits ---- */

/* Increments that are each below the last digit of the sum. */
static void test_accumulate(void) {
    mdyn_real x = real(1000), plain = real(1000);
    md_tail tail = real(0);
    mdyn_real small = real(INCREMENT), large = real(LARGE_INCREMENT);
    const int count = 10 * POINTS;
    for (int k = 0; k < count; k++) {
        md_accumulate(&x, &tail, md_of_real(small));
        plain = real(of_real(plain) + of_real(small));
    }
    double gain = (of_real(x) - 1000) + of_real(tail), want = count * of_real(small);
    CHECK_NEAR(gain / want, 1, SUM_OF_INCREMENTS);
    CHECK_NEAR(of_real(plain), 1000, 0); /* what it guards against: the plain sum has stalled */
    /* Back and forth over many digits: nothing is left behind. */
    x = real(0.125);
    tail = real(0);
    for (int k = 0; k < 100000; k++) {
        md_accumulate(&x, &tail, md_of_real(large));
    }
    for (int k = 0; k < 100000; k++) {
        md_accumulate(&x, &tail, md_of_real(real(-of_real(large))));
    }
    CHECK_NEAR(of_real(x) + of_real(tail), 0.125, BACK_AGAIN);
}

/* Sums of products of coordinates against integers: coordinates of all the scalar's bits times
   tooth counts, so chosen that the sum nearly cancels. */
static void test_sum_product(void) {
    int digits = (int)DIGITS, shift = 23 - digits; /* of q = n 2^shift, |q| < 2^23 */
    double worst = 0;
    for (int k = 0; k < POINTS; k++) {
        int64_t a = random_int(200) + 1, b = random_int(200) + 1;
        int64_t n = (int64_t)(random_bits() >> (64 - digits)), m;
        n -= (int64_t)1 << (digits - 1);
        m = n / b * a + random_int(1 << random_int(20)); /* a n - b m is small beside both */
        if (m >= (int64_t)1 << digits || m <= -((int64_t)1 << digits)) {
            continue;
        }
        md_sum s;
        s.hi = s.lo = 0;
        md_sum_add_product(&s, wide((double)a), real(ldexp((double)n, shift)), real(0));
        md_sum_add_product(&s, wide(-(double)b), real(ldexp((double)m, shift)), real(0));
        ld want = ldexpl((ld)(a * n - b * m), shift);
        double size = fabs((double)want) * check_epsilon;
        double error = (double)fabsl(exact(md_to_real(md_sum_to_num(&s))) - want);
        worst = worse(worst, size > 0 ? error / size : error);
    }
    CHECK_NEAR(worst, 0, 1); /* right to the last digit, though nearly all cancels */
    /* A tail counts as what it is: 3 (q + tail) - 3 q = 3 tail. */
    md_sum s;
    s.hi = s.lo = 0;
    double q = FAR, tail = TAIL;
    md_sum_add_product(&s, wide(3), real(q), real(tail));
    md_sum_add_product(&s, wide(-3), real(q), real(0));
    CHECK_NEAR(of_real(md_to_real(md_sum_to_num(&s))) / (3 * tail), 1, SUM_OF_TAILS);
}

/* ---- decimals, as mdyn_explain prints them ---- */

static void test_decimal(void) {
    for (int k = 0; k < 100000; k++) {
        double x = of_real(real(pow(10, random_in(-9, 9))));
        int exponent = 0;
        int32_t n = md_decimal(md_of_real(real(x)), &exponent);
        CHECK(n >= 100000 && n < 1000000);
        double error = fabs(n * pow(10, exponent - 5) / x - 1);
        CHECK(error <= 0.51e-5 + 20 * check_epsilon);
    }
}

/* ---- quotients ---- */

/* Of any two numbers to 2.5 units; by a power of 2 exactly. */
static void test_quotients(void) {
    double worst = 0;
    for (int k = 0; k < POINTS; k++) {
        md_num a = md_of_wide(wide(random_in(-1000, 1000))), b = md_of_wide(wide(random_in(1, 2)));
        md_num q = md_div(a, b), near = md_max(md_abs(a), md_of_wide(wide(1)));
        double error = fabs(of_wide(md_to_wide(md_sub(md_mul(q, b), a))));
        worst = worse(worst, error / (check_epsilon * of_wide(md_to_wide(near))));
    }
    CHECK_NEAR(worst, 0, 2.5);
    for (int k = 0; k < 2000; k++) {
        int e = random_int(60) - 30, sign = random_int(2) ? 1 : -1;
        md_num a = md_of_wide(wide(random_in(-1000, 1000)));
        md_num q = md_div(a, md_of_wide(wide(sign * ldexp(1, e))));
        md_num want = md_mul(a, md_of_wide(wide(sign * ldexp(1, -e))));
        CHECK(!md_less(q, want) && !md_less(want, q));
    }
}

/* ---- counts ---- */

/* Floats from 2^23 on have no digit for a half: x + 0.5 is another integer for every second one.
   Below 1/2 it may be 1. */
static void test_counts(void) {
    const int32_t largest = (int32_t)LARGEST_COUNT;
    const mdyn_wide one = MDYN_C(1);
    for (int32_t n = 1; n < largest - n; n += n / 2 + 1) {
        for (int32_t d = 0; d < 3; d++) {
            mdyn_real x = (mdyn_real)(n + d);
            CHECK_EQUAL(mdyn_to_counts(x, one), (int32_t)x);
            CHECK_EQUAL(mdyn_to_counts(-x, one), -(int32_t)x);
        }
    }
    for (int n = -5; n <= 5; n++) {
        mdyn_real half = (mdyn_real)(n + 0.5), part = (mdyn_real)(1 - check_epsilon);
        CHECK_EQUAL(mdyn_to_counts(half, one), n < 0 ? n : n + 1);
        CHECK_EQUAL(mdyn_to_counts(half * part, one), n < 0 ? n + 1 : n);
    }
    CHECK_EQUAL(mdyn_to_counts(real(LARGEST_COUNT), one), largest);
    CHECK_EQUAL(mdyn_to_counts(-real(LARGEST_COUNT), one), -largest);
    CHECK_EQUAL(mdyn_to_counts(real(2147483648.0), one), INT32_MAX);
    CHECK_EQUAL(mdyn_to_counts(real(-1e30), one), -INT32_MAX);
    CHECK_EQUAL(mdyn_to_counts(real(1), MDYN_C(0)), 0);
    CHECK_EQUAL(mdyn_to_counts((mdyn_real)NAN, one), 0);
    CHECK_EQUAL(mdyn_to_counts(real(1), (mdyn_wide)NAN), 0);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_roots();
    test_angles();
    test_ranges();
    test_accumulate();
    test_sum_product();
    test_decimal();
    test_quotients();
    test_counts();
    return check_end();
}
