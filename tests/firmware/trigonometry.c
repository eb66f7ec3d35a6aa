/* sin and cos for the hand of tests/bench, where there is no libm: Taylor's series near 0. For the
   commands of a mechanism, not for arithmetic that is compared with another machine's. */
#include <math.h>

double cos(double x) {
    double term = 1, sum = 1;
    int k;
    const double turn = 6.283185307179586;
    while (x > turn / 2) x -= turn;
    while (x < -turn / 2) x += turn;
    for (k = 1; k < 30; k += 2) {
        term *= -x * x / (k * (k + 1));
        sum += term;
    }
    return sum;
}

double sin(double x) {
    return cos(x - 1.5707963267948966);
}
