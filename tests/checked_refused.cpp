// Each line between #if REFUSED and #endif must be refused by the compiler, and the rest of the
// file (REFUSED 0) must compile: see checked.sh.
#define MIMICDYN_STATIC 1
#define MIMICDYN_IMPLEMENTATION
#include "checked.hpp"
#include "../mimicdyn.h"

void refused(md_num a, md_num b, md_unit u, mdyn_real x);
void refused(md_num a, md_num b, md_unit u, mdyn_real x) {
    md_num c = md_mul(a, b);
    md_unit v = md_unit_mul(u, u);
#if REFUSED
    c = a * b;
    c = a / b;
    c = a + b;
    c = a - b;
    c = -a;
    if (a < b) c = a;
    if (a == b) c = a;
    c = 2 * a;
    c = x;
    x = a;
    c = u;
    v = u * u;
    v = u + u;
    v = md_unit_mul(u, a);
    c += b;
    if (a) c = b;
    c = 0;
    c = md_num::of(1);
#endif
    (void)c;
    (void)v;
    (void)x;
}

int main() { return 0; }
