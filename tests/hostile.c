/* Names that boards (Arduino, AVR), <complex.h>, <ctype.h> of newlib, <windows.h> and old systems
   define as macros. The header must not use any of them as a name of its own. */
#define min(a, b) a min b
#define max(a, b) a max b
#define abs(x) abs of x
#define round(x) round of x
#define radians(x) radians of x
#define degrees(x) degrees of x
#define sq(x) sq of x
#define bit(b) bit b
#define constrain(x, a, b) x constrain
#define F(x) F of x
#define PI a pie
#define I an imaginary thing
#define B0 a bit
#define B1 a bit
#define B01 a bit
#define _B blank
#define _C control
#define _L lower case
#define _N number
#define _P punctuation
#define _S space
#define _U upper case
#define _X hexadecimal
#define near not far
#define far not near
#define small not large
#define interface a class
#define DEFAULT a fault
#define OUTPUT an output
#define INTERNAL a reference
#define EXTERNAL a reference
#define HALF_PI half a pie
#define TWO_PI two pies
#define EULER a mathematician
#define DEG_TO_RAD a factor
#define lowByte(w) low of w
#define highByte(w) high of w
#define word(x) word of x
#define _BV(b) bit b
#define major(x) a scale
#define minor(x) a scale
#define makedev(a, b) a device
#define HIGH 0x1
#define LOW 0x0
#define INPUT an input
#define EPS a small number
#define EPSILON a small number
#define TRUE truth
#define FALSE falsehood
#define unix not windows
#define linux not windows
#define index(s, c) an old function
#define isnan(x) isnan of x
#define SP a register

#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "expect.h"

int main(void) {
    static const mdyn_body bodies[] = {
        { .parent = MDYN_WORLD, .joint = MDYN_PRISMATIC, .mass = MDYN_C(2) },
        { .parent = MDYN_WORLD, .joint = MDYN_PRISMATIC, .mass = MDYN_C(2) },
    };
    static const mdyn_coupling couplings[] = { MDYN_MIMIC(1, 0, 1, 0) };
    static const mdyn_model model = {
        .bodies = bodies, .body_count = 2, .couplings = couplings, .coupling_count = 1,
        .gravity = MDYN_V3(0, 0, -9.81), .dt = MDYN_C(0.001)
    };
    static mdyn_sim sim;
    if (mdyn_init(&sim, &model) != MDYN_OK) {
        return 1;
    }
    for (int i = 0; i < 100; i++) {
        if (mdyn_step(&sim) != MDYN_OK) {
            return 1;
        }
    }
    return !(sim.q[0] < MDYN_R(0) && sim.q[0] == sim.q[1]);
}
