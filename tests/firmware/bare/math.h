/* What the examples use of <math.h>, where there is no libc. Those without a body are used only by
   examples of which the boards take the tables alone; sin and cos are in trigonometry.c. */
#ifndef BARE_MATH_H
#define BARE_MATH_H

#define HUGE_VAL __builtin_huge_val()
#define isnan(x) __builtin_isnan(x)

static inline double fabs(double x) {
    return x < 0 ? -x : x;
}
static inline double fmax(double x, double y) {
    return x < y ? y : x;
}
static inline double fmin(double x, double y) {
    return y < x ? y : x;
}
static inline double ldexp(double x, int exponent) {
    for (; exponent > 0; exponent--) x *= 2;
    for (; exponent < 0; exponent++) x /= 2;
    return x;
}
static inline double frexp(double x, int *exponent) {
    *exponent = 0;
    if (x == 0) return x;
    for (; fabs(x) >= 1; ++*exponent) x /= 2;
    for (; fabs(x) < 0.5; --*exponent) x *= 2;
    return x;
}
static inline long long llround(double x) { /* |x| < 2^62 */
    return (long long)(x < 0 ? x - 0.5 : x + 0.5);
}
double sqrt(double x);
double exp(double x);
double cos(double x);
double sin(double x);

#endif
