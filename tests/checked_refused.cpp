// Each of these lines must be refused by the compiler; checked.sh tries them one by one, and the
// rest of the file (REFUSED 0) must compile.
#define MIMICDYN_STATIC 1
#define MIMICDYN_IMPLEMENTATION
#include "checked.hpp"
#include "../mimicdyn.h"

void refused(md_num a, md_num b, md_unit u, mdyn_real x);
void refused(md_num a, md_num b, md_unit u, mdyn_real x) {
    md_num c = md_mul(a, b);
    md_unit v = md_unit_mul(u, u);
#if REFUSED == 1
    c = a * b;
#elif REFUSED == 2
    c = a / b;
#elif REFUSED == 3
    c = a + b;
#elif REFUSED == 4
    c = a - b;
#elif REFUSED == 5
    c = -a;
#elif REFUSED == 6
    if (a < b) c = a;
#elif REFUSED == 7
    if (a == b) c = a;
#elif REFUSED == 8
    c = 2 * a;
#elif REFUSED == 9
    c = x;
#elif REFUSED == 10
    x = a;
#elif REFUSED == 11
    c = u;
#elif REFUSED == 12
    v = u * u;
#elif REFUSED == 13
    v = u + u;
#elif REFUSED == 14
    v = md_unit_mul(u, a);
#elif REFUSED == 15
    c += b;
#elif REFUSED == 16
    if (a) c = b;
#elif REFUSED == 17
    c = 0;
#elif REFUSED == 18
    c = md_num::of(1);
#endif
    (void)c;
    (void)v;
    (void)x;
}

int main() { return 0; }
