/* The number layer of fixed point: every operation against long double at many points, its
   constants, its sums of 128 bits, its blocks. The bounds asserted here are those that the header's
   comments promise. */
#define MIMICDYN_MAX_BODIES 1
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

#if MDYN_SCALAR != MDYN_SCALAR_FIXED || LDBL_MANT_DIG < 64
#error "this is the test of FIXED, and needs a long double with more digits than double"
#endif

enum { POINTS = TEST_SOAK ? 1000000 : 100000 };
typedef long double ld;

static ld value(md_num x) { return ldexpl((ld)md_mantissa(x), md_exponent(x)); }
static ld exact(mdyn_real x) { return ldexpl((ld)x, -40); }

/* The nearest md_num; made without the operations under test. */
static md_num number(double x) {
    int e;
    int64_t m = llround(ldexp(frexp(x, &e), 31));
    if (m == 0) {
        return 0;
    }
    if (m == (int64_t)1 << 31 || m == -((int64_t)1 << 31)) {
        m /= 2;
        e++;
    }
    return md_pack((int32_t)m, e - 31);
}

/* Positive or negative, of very different sizes. */
static double random_size(int bits) {
    double size = random_in(0.5, 1);
    int exponent = random_int(2 * bits) - bits;
    return ldexp(random_int(2) ? size : -size, exponent);
}

static void is_normal(md_num x) {
    int32_t m = md_mantissa(x);
    CHECK(m == 0 ? x == 0 : m > -INT32_MAX - 1 && labs((long)m) >= 1 << 30);
}

/* ---- words: exact, by 64 bits; test_fixed_short builds them of products of 16 bits ---- */

/* Whole words, and those next to where a sign or a bit changes. */
static int32_t random_word(void) {
    static const int32_t edges[] = { 0, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x3FFFFFFF, 0x40000000,
                                     0x7FFFFFFF };
    int32_t word = (int32_t)(random_in(-1, 1) * 2147483647);
    if (random_int(2)) word = edges[random_int(8)] - random_int(2);
    if (word < 0) word = -word;
    return random_int(2) ? word : -word;
}

static int32_t random_mantissa(void) {
    int32_t word = random_word();
    word = (word < 0 ? -word : word) | 0x40000000;
    return random_int(2) ? word : -word;
}

/* a b as an md_num: the product of the mantissas shifted right by 30 or 31, rounded upwards. */
static md_num product(int32_t a, int32_t b) {
    int64_t p = (int64_t)a * b, size = p < 0 ? -p : p;
    int up = p >= 0 ? size >> 61 != 0 : size > (int64_t)1 << 61;
    int64_t r = (p + ((int64_t)1 << (29 + up))) >> (30 + up);
    if (r > INT32_MAX) r = INT32_MAX;
    if (r < -INT32_MAX) r = -INT32_MAX;
    return md_pack((int32_t)r, 30 + up);
}

static void test_words(void) {
    for (int k = 0; k < POINTS; k++) {
        int32_t a = random_word(), b = random_word(), m = random_mantissa(), n = random_mantissa();
        uint32_t u = (uint32_t)a, v = (uint32_t)b, rest;
        int64_t p = (int64_t)a * b;
        CHECK(md_mul_s32(a, b) == p);
        CHECK(md_mul_u32(u, v) == (uint64_t)u * v);
        CHECK(md_mul_high(u, v, 30) == (uint32_t)((uint64_t)u * v >> 30));
        CHECK(md_mul_high(u, v, 31) == (uint32_t)((uint64_t)u * v >> 31));
        CHECK(md_mul_floor(a, b, &rest) == (uint32_t)(uint64_t)(p >> 30));
        CHECK_EQUAL(rest, p >> 29 & 1);
        CHECK(md_unit_product(a, b) == (uint32_t)(uint64_t)((p + (1 << 29)) >> 30));
        CHECK(md_mul(md_pack(m, 0), md_pack(n, 0)) == product(m, n));
    }
}

static void test_turns(void) {
    for (int k = 0; k < POINTS; k++) {
        mdyn_real q = (mdyn_real)(random_in(-8, 8) * 1099511627776.0);
        int axis = random_int(3), i = (axis + 1) % 3, j = (axis + 2) % 3, r;
        int32_t s, c;
        md_mat from, to, back;
        md_turn turn = MD_NO_TURN;
        for (r = 0; r < 9; r++) from.m[r] = random_word() / 4;
        md_sincos_units(q, &s, &c);
        md_mat_rotate_about(&to, &from, axis, q, 0, &turn);
        md_mat_rotate_about(&back, &to, axis, ~q, 0, &turn);
        CHECK(turn.q == q && turn.sine == s && turn.cosine == c);
        for (r = 0; r < 9; r += 3) {
            int64_t a = from.m[r + i], b = from.m[r + j], half = 1 << 29;
            if (a * a + b * b > (int64_t)1 << 58) continue; /* no row of a rotation */
            CHECK_EQUAL(to.m[r + i], (c * a + s * b + half) >> 30);
            CHECK_EQUAL(to.m[r + j], (c * b - s * a + half) >> 30);
            CHECK_EQUAL(to.m[r + axis], from.m[r + axis]);
            CHECK_NEAR(back.m[r + i], from.m[r + i], 4);
            CHECK_NEAR(back.m[r + j], from.m[r + j], 4);
        }
    }
}

/* ---- sums, products, quotients, roots, comparison ---- */

static void test_arithmetic(void) {
    double add = 0, mul = 0, div = 0, sqr = 0, inv = 0;
    for (int k = 0; k < POINTS; k++) {
        double a = random_size(30), b = random_size(30);
        if (k % 3 == 0) {
            b = -a * (1 + random_size(30) / 1073741824); /* nearly cancel */
        }
        md_num x = number(a), y = number(b), z = md_abs(x);
        ld p = value(x), q = value(y);
        add = worse(add, (double)(fabsl(value(md_add(x, y)) - (p + q)) / (fabsl(p) + fabsl(q))));
        mul = worse(mul, (double)fabsl(value(md_mul(x, y)) / (p * q) - 1));
        div = worse(div, (double)fabsl(value(md_div(x, y)) / (p / q) - 1));
        sqr = worse(sqr, (double)fabsl(value(md_sqrt(z)) / sqrtl(value(z)) - 1));
        inv = worse(inv, (double)fabsl(value(md_rsqrt(z)) * sqrtl(value(z)) - 1));
        is_normal(md_add(x, y));
        is_normal(md_mul(x, y));
        is_normal(md_div(x, y));
        CHECK_EQUAL(md_less(x, y), p < q);
        CHECK_EQUAL(md_less(x, x), 0);
        CHECK(md_is_zero(md_sub(x, x)));
    }
    CHECK_NEAR(add, 0, 4.66e-10); /* half of the last of 31 digits of 2 */
    CHECK_NEAR(mul, 0, 4.66e-10);
    CHECK_NEAR(div, 0, 1.6e-9);
    CHECK_NEAR(sqr, 0, 2e-9);
    CHECK_NEAR(inv, 0, 1.5e-9);
    CHECK(md_is_zero(md_sqrt(0)) && md_is_zero(md_sqrt(number(-2))));
    CHECK(md_less(number(1e50), md_div(number(1), 0))); /* larger than all in use, no trap */
    CHECK(md_less(md_div(number(-1), 0), number(-1e50)));
    CHECK(md_is_one(number(1)) && md_is_one(MD_K(1)) && md_is_one(md_mul(number(2), number(0.5))));
}

/* ---- angles: over each range, and where quadrants and octants meet ---- */

static void test_angles(void) {
    static const double size[] = { 0.8, 7, 100, 1e4, 1e6, 8388607 };
    double worst = 0, sum = 0;
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < POINTS; k++) {
            mdyn_real q = real(k % 2 ? random_in(-size[i], size[i])
                                     : round(size[i] * random_in(-1, 1) / 0.7853981633974483)
                                           * 0.7853981633974483);
            md_num s, c;
            md_sincos(q, 0, &s, &c);
            worst = worse(worst, (double)fabsl(value(s) - sinl(exact(q))));
            worst = worse(worst, (double)fabsl(value(c) - cosl(exact(q))));
            sum += (double)(value(s) - sinl(exact(q)));
        }
    }
    CHECK_NEAR(worst, 0, 2e-9);
    CHECK_NEAR(sum / (6.0 * POINTS), 0, 1e-10); /* no bias */
}

/* ---- constants, and the two public formats ---- */

static const mdyn_wide constants[] = {
    MDYN_C(1), MDYN_C(0), MDYN_C(-256), MDYN_C(65536), MDYN_C(1e12), MDYN_C(0.015), MDYN_C(1e-7),
    MDYN_C(-9.81), MDYN_C(3.0 / 7), MDYN_C(1e-12), MDYN_C(22.0 / 7), MDYN_C(-4095), MDYN_C(1e30)
};
static const double wanted[] = { 1, 0, -256, 65536, 1e12, 0.015, 1e-7, -9.81, 3.0 / 7, 1e-12,
                                 22.0 / 7, -4095, 1e30 };
static const mdyn_real states[] = { MDYN_R(0.35), MDYN_R(-8388607.5), MDYN_R(0), MDYN_R(2) };

static void test_formats(void) {
    for (int i = 0; i < (int)(sizeof wanted / sizeof *wanted); i++) {
        CHECK_NEAR(of_wide(constants[i]), wanted[i], fabs(wanted[i]) * 1e-12);
        CHECK(constants[i] == wide(wanted[i]));
    }
    CHECK(of_wide(constants[0]) == 1 && of_wide(constants[2]) == -256 && constants[1] == 0);
    CHECK(of_wide(constants[11]) == -4095 && of_wide(constants[4]) == 1e12); /* integers: exactly */
    CHECK_NEAR(of_real(states[0]), 0.35, 4.6e-13);
    CHECK(of_real(states[1]) == -8388607.5 && states[2] == 0 && of_real(states[3]) == 2);
    CHECK(MDYN_R(8388608.0) == INT64_MIN && MDYN_R(-1e30) == INT64_MIN); /* no state */
    CHECK(of_wide(-MDYN_UNLIMITED) == -1e12);
    double worst = 0;
    for (int k = 0; k < POINTS; k++) {
        double x = random_size(60);
        mdyn_wide w = wide(x);
        md_num n = md_of_wide(w);
        is_normal(n);
        worst = worse(worst, (double)fabsl(value(n) / (ld)of_wide(w) - 1));
        CHECK(of_wide(md_to_wide(n)) == (double)value(n)); /* no digit is lost on the way back */
        CHECK(md_of_wide(md_to_wide(n)) == n);
        CHECK_EQUAL(md_wide_is_negative(w), x < 0);
        CHECK_EQUAL(md_wide_in_range(w), fabs(of_wide(w)) < ldexp(1, 50));
        mdyn_real r = real(random_in(-8388608, 8388607) * (k % 2 ? 1 : 1e-6));
        CHECK(fabsl(value(md_of_real(r)) - exact(r)) <= fabsl(exact(r)) * 4.66e-10L);
        CHECK(fabsl(exact(md_to_real(md_of_real(r))) - value(md_of_real(r))) <= 4.6e-13L);
    }
    CHECK_NEAR(worst, 0, 4.66e-10);
    CHECK(md_to_real(number(1e30)) == INT64_MAX && md_to_real(number(-1e30)) == -INT64_MAX);
    CHECK(!md_in_range(INT64_MIN) && md_in_range(INT64_MAX) && md_in_range(-INT64_MAX));
    for (int i = 0; i < CHECK_BAD_WIDES; i++) {
        mdyn_wide x;
        bad_wide(&x, i);
        CHECK(!md_wide_in_range(x));
    }
}

/* ---- sums of products, of which nothing is cut off ---- */

static void test_sums(void) {
    double worst = 0;
    for (int k = 0; k < POINTS; k++) {
        int64_t a = random_int(400) - 200, b = random_int(400) - 200, n = random_int(1 << 20);
        mdyn_real q = (mdyn_real)(random_bits() >> 1) >> random_int(20), r;
        md_sum s;
        if (a == 0 || b == 0) {
            continue;
        }
        /* a q + b r with r = -(a q + n)/b: integers, so the sum is known */
        r = -((q / 512 * a) / b);
        q /= 512;
        md_sum_set(&s, wide((double)n));
        md_sum_add_product(&s, wide((double)a), q, 0);
        md_sum_add_product(&s, wide((double)b), r, 0);
        ld want = ldexpl((ld)(a * q + b * r), -40) + (ld)n;
        worst = worse(worst, (double)(fabsl(value(md_sum_to_num(&s)) - want)
                                      / (fabsl(want) + ldexpl(1, -62))));
        worst = worse(worst, (double)(fabsl(value(md_sum_minus(&s, wide((double)n)))
                                            - (want - (ld)n))
                                      / (fabsl(want - (ld)n) + ldexpl(1, -62))));
    }
    CHECK_NEAR(worst, 0, 4.66e-10); /* right to the last digit, though nearly all cancels */
    md_sum s; /* what does not fit is clamped, and says so as a number out of range */
    md_sum_set(&s, wide(0));
    for (int k = 0; k < 8; k++) {
        md_sum_add_product(&s, wide(ldexp(1, 45)), INT64_MAX, 0);
    }
    CHECK(md_less(number(8388608), md_sum_to_num(&s)));
}

/* Increments below the last digit of the state, and products with the step, add up exactly. */
static void test_slow(void) {
    mdyn_real x = real(1000), q = 0;
    md_tail tail = 0, tail_q = 0;
    for (int k = 0; k < 1000000; k++) {
        md_accumulate(&x, &tail, number(1e-14));
        md_accumulate_product(&q, &tail_q, wide(0.001), real(300.123456));
    }
    CHECK_NEAR((of_real(x) - 1000) + ldexp((double)tail, -64), 1e-8, 1e-13);
    CHECK_NEAR(of_real(q), of_real(real(300.123456)) * 1000, 2e-9);
    for (int k = 0; k < 100 && md_in_range(q); k++) {
        md_accumulate(&q, &tail_q, number(1e5));
    }
    CHECK(!md_in_range(q)); /* out of the range: no state, not another one */
}

/* ---- blocks ---- */

static void test_units(void) {
    for (int k = 0; k < POINTS; k++) {
        md_unit a = (md_unit)(random_bits() >> 33), b = (md_unit)(random_bits() >> 33);
        ld x, y, most = 2 - ldexpl(1, -30);
        a = random_int(2) ? a : -a;
        b = random_int(2) ? b : -b;
        x = ldexpl((ld)a, -30);
        y = ldexpl((ld)b, -30);
        ld sum = fmaxl(-most, fminl(most, x + y)), product = fmaxl(-most, fminl(most, x * y));
        CHECK(fabsl(ldexpl((ld)md_unit_add(a, b), -30) - sum) == 0);
        CHECK(fabsl(ldexpl((ld)md_unit_mul(a, b), -30) - product) <= ldexpl(1, -31));
        CHECK_EQUAL(md_unit_mul((1 << 30) - 1, INT32_MAX - k % 2), INT32_MAX - 2 - k % 2);
        ld by = fmaxl(-most, fminl(most, x * 3));
        CHECK(fabsl(ldexpl((ld)md_unit_mul_num(a, number(3)), -30) - by) <= ldexpl(1, -30));
        CHECK_EQUAL(md_has_overflowed(md_overflow_of(a)), a >= 1 << 30 || a < -(1 << 30));
        CHECK(value(md_of_unit(a, 5)) == x * 32 && md_unit_of(md_of_unit(a, 5), 5) == a);
    }
}

/* ---- counts ---- */

static void test_counts(void) {
    const mdyn_wide line = MDYN_C(6.283185307179586 / 4096);
    for (int k = 0; k < 100000; k++) {
        int32_t n = (int32_t)(random_bits() >> 40) - (1 << 23);
        mdyn_real q = mdyn_of_counts(n, line);
        CHECK(fabsl(exact(q) - n * (ld)of_wide(line)) <= 4.6e-13L);
        CHECK_EQUAL(mdyn_to_counts(q, line), n);
        CHECK_EQUAL(mdyn_unwrap(n, (uint32_t)(n + 5) & 0xFFF, 12), n + 5);
        CHECK_EQUAL(mdyn_unwrap(n, (uint32_t)(n - 2000) & 0xFFF, 12), n - 2000);
    }
    CHECK_EQUAL(mdyn_to_counts(real(1e6), wide(1e-9)), INT32_MAX);
    CHECK_EQUAL(mdyn_to_counts(real(-1e6), wide(1e-9)), -INT32_MAX);
    CHECK_EQUAL(mdyn_to_counts(real(1), wide(0)), 0);
    CHECK_EQUAL(mdyn_to_counts(mdyn_real_from((double)NAN), line), 0);
    CHECK_EQUAL(mdyn_to_counts(real(1), mdyn_wide_from((double)NAN)), 0);
    CHECK(mdyn_of_counts(INT32_MAX, wide(1)) == INT64_MAX);
    CHECK(mdyn_of_counts(-INT32_MAX, wide(1e9)) == -INT64_MAX);
    CHECK(mdyn_of_counts(1 << 25, MDYN_C(281474976710656.0)) == INT64_MAX);
    CHECK(mdyn_of_counts(-(1 << 25), MDYN_C(281474976710656.0)) == -INT64_MAX);
    /* beyond the range by products whose lower 64 bits end in a row of ones */
    CHECK(mdyn_of_counts(1 << 19, ((((int64_t)1 << 52) - 1) * 256) | 254) == INT64_MAX);
    CHECK(mdyn_of_counts(INT32_MAX, wide(70368744210432.0)) == INT64_MAX);
    CHECK(mdyn_of_counts(INT32_MAX, wide(-70368744210432.0)) == -INT64_MAX);
    CHECK(mdyn_real_of(wide(0.25)) == real(0.25) && mdyn_real_of(wide(-1e20)) == -INT64_MAX);
    CHECK(mdyn_wide_of(real(-0.375)) == wide(-0.375));
}

/* The same number, with `zeros` more zeros before its mantissa. */
static mdyn_wide written_with(mdyn_wide x, int zeros) {
    const int64_t m = (x >> 8) / ((int64_t)1 << zeros);
    return m * 256 + (uint8_t)(md_wide_exponent(x) + zeros);
}

/* c (q + tail) is right to a few units of 2^-64 beside the upper digits of c times the tail. */
static void test_products(void) {
    for (int i = 0; i < POINTS; i++) {
        const mdyn_wide whole = random_int(2) ? wide(random_size(20)) : wide(random_int(99) - 49);
        const mdyn_wide c = written_with(whole, random_int(40));
        const mdyn_real q = (mdyn_real)(random_bits() >> 40);
        const md_tail tail = (md_tail)(random_bits() >> 40);
        const ld factor = ldexpl((ld)(c >> 8), md_wide_exponent(c));
        const ld want = factor * ldexpl((ld)q * 16777216 + (ld)tail, -64);
        md_sum s;
        md_sum_set_product(&s, c, q, tail);
        CHECK(fabsl((ld)s.hi + ldexpl((ld)s.lo, -64) - want)
              <= ldexpl(3, -64) + ldexpl(fabsl(factor), -54) + ldexpl(fabsl(want), -62));
    }
}

/* Two numbers, however they are written, compare as their exact values do. */
static void test_compare(void) {
    for (int i = 0; i < POINTS; i++) {
        const mdyn_wide a = wide(random_size(50));
        mdyn_wide b = random_int(2) ? a + 256 * (random_int(3) - 1) : wide(random_size(50));
        if (random_int(2)) b = written_with(b, random_int(20));
        if (random_int(9) == 0) b = 256 * (random_int(3) - 1) + random_int(256);
        const ld x = ldexpl((ld)(a >> 8), md_wide_exponent(a));
        const ld y = ldexpl((ld)(b >> 8), md_wide_exponent(b));
        CHECK_EQUAL(mdyn_compare(a, b), (x > y) - (x < y));
        CHECK_EQUAL(mdyn_compare(b, a), (y > x) - (y < x));
    }
}

/* What is told to be far within its bounds is, however these are written; most of it is told. */
static void test_well_within(void) {
    int told = 0, far = 0;
    for (int i = 0; i < POINTS; i++) {
        const double start = random_size(12), width = fabs(random_size(12));
        const mdyn_wide from = written_with(wide(start), random_int(2) ? 0 : random_int(40));
        const mdyn_wide to = written_with(wide(start + width), random_int(2) ? 0 : random_int(40));
        const double lower = of_wide(from), upper = of_wide(to);
        const double q = start + width * random_in(-0.2, 1.2), h = random_in(1e-5, 0.1);
        const double v = random_size(10), dv = random_size(10), next = q + h * (v + dv);
        const double margin = (1 + fabs(q)) / 1024, reach = h * (fabs(v) + fabs(dv));
        if (md_is_well_within(real(q), real(v), number(dv), number(h), from, to)) {
            told++;
            CHECK(lower < next - margin && next + margin < upper);
        } else {
            const double away = 8 * margin + 2 * reach + 0.1;
            far += lower < q - away && q + away < upper;
        }
    }
    CHECK(told > POINTS / 20 && far < told);
}

/* A sum that is told to be below a bound is, and all that are by a thousandth are told. */
static void test_sum_is_below(void) {
    int told = 0;
    for (int i = 0; i < POINTS; i++) {
        const int n = random_int(20), size = random_int(80) - 40;
        const double most = ldexp(random_in(0.5, 1), size + random_int(8));
        md_num x[20];
        ld sum = 0;
        for (int k = 0; k < n; k++) {
            x[k] = random_int(9) ? number(ldexp(random_size(4), size - 4)) : 0;
            sum += fabsl(value(x[k]));
        }
        const int is_told = md_sum_is_below(x, n, number(most));
        told += is_told;
        CHECK(!is_told || sum < (ld)most);
        CHECK(is_told || sum > (ld)(0.999 * most));
    }
    CHECK(told > POINTS / 20 && told < POINTS - POINTS / 20);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_compare();
    test_sum_is_below();
    test_products();
    test_well_within();
    test_words();
    test_turns();
    test_arithmetic();
    test_angles();
    test_formats();
    test_sums();
    test_slow();
    test_units();
    test_counts();
    return check_end();
}
