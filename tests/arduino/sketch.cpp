// The sketch of examples/ on the host: an encoder that turns through its 10 bits many times.
// The left jaw is where the counts say, the right one where the left one is.
#include "../../examples/gripper_sketch/gripper_sketch.ino"
#include <stdio.h>
#include <stdlib.h>

Port Serial;
static unsigned long now;
static int32_t turned, printed[2], lines;

void Port::begin(unsigned long) {}
void Port::print(int32_t number) { printed[0] = number; }
void Port::print(char) {}
void Port::println(int32_t number)
{
    printed[1] = number;
    lines++;
}
void Port::println(const char *text)
{
    printf("%s\n", text);
    exit(1);
}
unsigned long micros() { return now; }
void delay(unsigned long) { exit(1); }
int analogRead(int) { return static_cast<int>(turned & 1023); }

int main()
{
    int wrong = 0;
    setup();
    for (int k = 0; k < 5000; k++) {
        now += 5000;
        turned += k % 2 ? 0 : 37;
        loop();
        wrong += printed[0] != printed[1];
    }
    wrong += sim.q[RIGHT] != sim.q[LEFT] || mdyn_to_counts(sim.q[LEFT], COUNT) != turned;
    wrong += lines < 240 || printed[0] < 180000;
    printf("%ld lines, jaws at %ld and %ld um, %d wrong\n", static_cast<long>(lines),
           static_cast<long>(printed[0]), static_cast<long>(printed[1]), wrong);
    return wrong != 0;
}
