/* Support of the test programs. Included after mimicdyn.h.

   A failed check prints file, line and both values, and the program goes on; the last line says
   how many passed, and the exit status is 1 if any failed. `test_x -m` also prints the worst
   error of each CHECK_NEAR beside its tolerance: that is how the tolerances were found, about ten
   times the worst of `test_x -s 1` (the default), -s 2 and -s 3, which use other random numbers. */
#ifndef CHECK_H
#define CHECK_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

#ifndef TEST_SOAK
#define TEST_SOAK 0 /* 1 (make soak): more repeats of what is random */
#endif
#ifndef TEST_SANITIZED
#define TEST_SANITIZED 0 /* 1 (make sanitize): fewer repeats where there are thousands */
#endif

/* ---- the scalar: the only place of the tests that knows what it is ---- */

#if MDYN_SCALAR == MDYN_SCALAR_FIXED
/* The header's formats, written from their description and not with its macros: x 2^40, and
   m 2^8 + (e mod 2^8), of which MDYN_C takes one e for each range of magnitudes. Both to nearest;
   what is too large becomes the largest, NaN what no state may hold. Products with powers of two
   are exact; ldexp took a quarter of the time of a test. */
static inline double power_of_two(int e) { /* of normal numbers */
    const uint64_t bits = (uint64_t)(1023 + e) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline mdyn_real real(double x) {
    if (isnan(x)) {
        return INT64_MIN;
    }
    return x >= 8388608 ? INT64_MAX : x <= -8388608 ? -INT64_MAX : llround(x * power_of_two(40));
}
static inline mdyn_wide wide(double x) {
    static const int top[] = { -64, -48, -32, -16, -8, 0, 8, 16, 32, 48, 64, 80, 96, 112 };
    int exponent, i = 0;
    frexp(x, &exponent);
    if (!(fabs(x) < power_of_two(112))) {
        return x < 0 ? MDYN_WIDE_NEGATIVE_HUGE_ : MDYN_WIDE_HUGE_;
    }
    while (exponent > top[i]) {
        i++;
    }
    int64_t m = llround(x * power_of_two(55 - top[i]));
    return m == 0 ? 0 : m * 256 + ((top[i] - 55) & 255);
}
static inline double of_real(mdyn_real x) { return (double)x * power_of_two(-40); }
static inline double of_wide(mdyn_wide x) {
    int e = (int)(x & 255);
    return (double)(x >> 8) * power_of_two(e < 128 ? e : e - 256);
}
static const double check_epsilon = 1.0 / (1 << 30);
#else
static inline mdyn_real real(double x) { return (mdyn_real)x; }
static inline mdyn_wide wide(double x) { return (mdyn_wide)x; }
static inline double of_real(mdyn_real x) { return (double)x; }
static inline double of_wide(mdyn_wide x) { return (double)x; }
#if MDYN_SCALAR == MDYN_SCALAR_F64
static const double check_epsilon = DBL_EPSILON;
#else
static const double check_epsilon = (double)FLT_EPSILON;
#endif
#endif

static inline mdyn_wide3 wide3(double x, double y, double z) {
    mdyn_wide3 v;
    v.x = wide(x);
    v.y = wide(y);
    v.z = wide(z);
    return v;
}

/* One line of a test's table of tolerances: what each scalar is held to. */
#define BY_SCALAR(f64, f32, fixed) \
    (MDYN_SCALAR == MDYN_SCALAR_F64 ? (f64) : MDYN_SCALAR == MDYN_SCALAR_F32 ? (f32) : (fixed))
#define TOLERANCE(name, f64, f32, fixed) static const double name = BY_SCALAR(f64, f32, fixed)

/* Numbers that no model may hold: infinities, and NaN of every kind, made of bits because moving
   a signalling NaN as a number may quieten it. In fixed point, where every pattern is a number,
   those that are too large for any use. */
enum { CHECK_BAD_WIDES = 8 };
static inline void bad_wide(void *number, int i) {
#if MDYN_SCALAR == MDYN_SCALAR_FIXED
    static const int64_t bits[CHECK_BAD_WIDES] = {
        MDYN_WIDE_HUGE_, MDYN_WIDE_NEGATIVE_HUGE_, INT64_MAX, INT64_MIN, INT64_MIN + 127,
        INT64_MAX - 255, 256 + 50, -256 + 50 /* 2^50 and -2^50 */
    };
#elif MDYN_SCALAR == MDYN_SCALAR_F64
    static const uint64_t bits[CHECK_BAD_WIDES] = {
        0x7FF0000000000000u, 0xFFF0000000000000u, 0x7FF8000000000000u, 0xFFF8000000000000u,
        0x7FF0000000000001u, 0xFFF0000000000001u, 0x7FFFFFFFFFFFFFFFu, 0xFFF7FFFFFFFFFFFFu
    };
#else
    static const uint32_t bits[CHECK_BAD_WIDES] = {
        0x7F800000u, 0xFF800000u, 0x7FC00000u, 0xFFC00000u,
        0x7F800001u, 0xFF800001u, 0x7FFFFFFFu, 0xFFBFFFFFu
    };
#endif
    memcpy(number, &bits[i], sizeof bits[i]);
}

/* Numbers that no state and no command may hold: the same, and the ends of their range. In fixed
   point one pattern is no number; all others are in the range. */
#if MDYN_SCALAR == MDYN_SCALAR_FIXED
enum { CHECK_BAD_REALS = 1 };
static inline void bad_real(void *number, int i) {
    int64_t bits = INT64_MIN;
    (void)i;
    memcpy(number, &bits, sizeof bits);
}
#else
enum { CHECK_BAD_REALS = CHECK_BAD_WIDES + 2 };
static inline void bad_real(void *number, int i) {
    if (i < CHECK_BAD_WIDES) {
        bad_wide(number, i);
    } else {
        mdyn_real end = real(i % 2 ? 8388608 : -8388608);
        memcpy(number, &end, sizeof end);
    }
}
#endif

/* Whether the part of two sims that is the user's is the same, to the last bit. */
#define check_same_sim(a, b) \
    (memcmp((const char *)(a) + offsetof(mdyn_sim, q), (const char *)(b) + offsetof(mdyn_sim, q), \
            offsetof(mdyn_sim, culprit) + sizeof(mdyn_culprit) - offsetof(mdyn_sim, q)) == 0)

/* ---- checks ---- */

enum { CHECK_SITES = 1024, CHECK_SHOWN = 20 };

typedef struct check_site {
    const char *file;
    int line, count;
    double worst, error, tolerance; /* worst: error over tolerance */
} check_site;

static struct {
    long passed, failed;
    int measure, sites;
    uint64_t seed, random;
    check_site site[CHECK_SITES];
} check;

static inline int check_count(int passed) {
    if (passed) {
        check.passed++;
    } else {
        check.failed++;
    }
    return !passed && check.failed <= CHECK_SHOWN;
}

static inline int check_true(const char *file, int line, const char *text, int passed) {
    if (check_count(passed)) {
        printf("%s:%d: not so: %s\n", file, line, text);
    }
    return passed;
}

static inline int check_equal(const char *file, int line, const char *text, long got, long want) {
    if (check_count(got == want)) {
        printf("%s:%d: %s is %ld, not %ld\n", file, line, text, got, want);
    }
    return got == want;
}

static inline int check_text(const char *file, int line, const char *got, const char *want) {
    int same = strcmp(got, want) == 0;
    if (check_count(same)) {
        printf("%s:%d: text is\n    \"%s\", not\n    \"%s\"\n", file, line, got, want);
    }
    return same;
}

static inline void check_measure(const char *file, int line, double error, double tolerance) {
    int i = 0;
    while (i < check.sites && (check.site[i].line != line || check.site[i].file != file)) {
        i++;
    }
    if (i == CHECK_SITES) {
        return;
    }
    if (i == check.sites) {
        check.sites++;
        check.site[i].file = file;
        check.site[i].line = line;
        check.site[i].worst = -1;
    }
    check.site[i].count++;
    double ratio = tolerance > 0 ? error / tolerance : error > 0 ? HUGE_VAL : 0;
    if (ratio > check.site[i].worst) {
        check.site[i].worst = ratio;
        check.site[i].error = error;
        check.site[i].tolerance = tolerance;
    }
}

/* The larger error. Not fmax, which forgets a NaN. */
static inline double worse(double a, double b) {
    return a >= b || isnan(a) ? a : b;
}

/* Not `error > tolerance`: that would let NaN pass. */
static inline int check_near(const char *file, int line, const char *text, double got, double want,
                             double tolerance) {
    double error = fabs(got - want);
    int passed = error <= tolerance;
    if (check_count(passed)) {
        printf("%s:%d: %s is %.17g, not %.17g: off by %.3g, allowed %.3g\n", file, line, text,
               got, want, error, tolerance);
    }
    if (check.measure) {
        check_measure(file, line, error, tolerance);
    }
    return passed;
}

/* More words on the failure just shown. */
#define CHECK_NOTE(...) \
    do { \
        if (check.failed <= CHECK_SHOWN) { \
            printf("    " __VA_ARGS__); \
        } \
    } while (0)

/* The arguments of CHECK_NEAR are double, with no cast: a compiler that warns of conversions
   then finds every mdyn_real and mdyn_wide that did not go through the functions above. */
#define CHECK(condition) check_true(__FILE__, __LINE__, #condition, (condition) ? 1 : 0)
#define CHECK_EQUAL(got, want) check_equal(__FILE__, __LINE__, #got, (got), (want))
#define CHECK_TEXT(got, want) check_text(__FILE__, __LINE__, (got), (want))
#define CHECK_NEAR(got, want, tolerance) \
    check_near(__FILE__, __LINE__, #got, (got), (want), (tolerance))

/* ---- random numbers: xorshift64*, the same on every machine; so no two of them among the
   arguments of one call, which compilers evaluate in any order ---- */

static inline uint64_t random_bits(void) {
    uint64_t x = check.random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    check.random = x;
    return x * 0x2545F4914F6CDD1Du;
}
static inline double random_in(double low, double high) {
    return low + (high - low) * ((double)(random_bits() >> 11) / 9007199254740992.0);
}
static inline int random_int(int below) {
    return (int)((random_bits() >> 33) % (uint64_t)below);
}

/* Each group of checks starts its own sequence: adding one does not change the others. */
static inline void random_seed(uint64_t group) {
    check.random = (check.seed * 0x9E3779B97F4A7C15u) ^ (group * 0xD1B54A32D192ED03u);
    check.random += check.random == 0;
    for (int i = 0; i < 8; i++) {
        random_bits();
    }
}

/* ---- begin and end ---- */

static inline void check_begin(int argc, char **argv) {
    check.seed = 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-m") == 0) {
            check.measure = 1;
        } else if (strcmp(argv[i], "-s") == 0 && i + 1 < argc) {
            check.seed = strtoull(argv[++i], NULL, 10);
        } else {
            fprintf(stderr, "usage: %s [-m] [-s seed]\n", argv[0]);
            exit(2);
        }
    }
    random_seed(0);
}

static inline int check_end(void) {
    for (int i = 0; i < check.sites; i++) {
        const check_site *s = &check.site[i];
        printf("%s:%d: worst %.2g of tolerance: error %.3g, allowed %.3g, %d checks\n", s->file,
               s->line, s->worst, s->error, s->tolerance, s->count);
    }
    if (check.failed > CHECK_SHOWN) {
        printf("... and %ld more failures\n", check.failed - CHECK_SHOWN);
    }
    printf("%ld passed, %ld failed\n", check.passed, check.failed);
    return check.failed != 0;
}

/* The code of mdyn_init in tests that set the coordinates after it: q = 0 is not their start. */
static inline int but_for_start(int code) {
    return code == MDYN_WARN_START || code == MDYN_WARN_OFF_COUPLING ? MDYN_OK : code;
}

#endif
