// gripper_sketch.ino - the observer of a gripper on an Arduino: the motor's encoder measures one
// jaw, the model knows the other. Install mimicdyn as a library, or put mimicdyn.h in this folder.
// What to see: the serial monitor prints the position of both jaws in micrometers, ten times a
// second; they agree.
//
// The sketch is one file, so all functions are static; the knobs are what two jaws need. SCALAR may
// be FIXED: integers, the same bits on every processor. KNOBS counts those defined here: a
// misspelled one is an error. No comment follows a knob, since Arduino keeps comments in macros.
#include <Arduino.h>
#define MIMICDYN_SCALAR F32
#define MIMICDYN_STATIC 1
#define MIMICDYN_MAX_BODIES 2
#define MIMICDYN_MAX_COUPLINGS 1
#define MIMICDYN_MAX_ENTRIES 16
#define MIMICDYN_QUATERNIONS 0
#define MIMICDYN_LOSSES 0
#define MIMICDYN_SETTINGS 0
#define MIMICDYN_LCP 0
#define MIMICDYN_KNOBS 9
#define MIMICDYN_IMPLEMENTATION
#include "mimicdyn.h"

enum { LEFT, RIGHT };
static const mdyn_body bodies[] = {
    MDYN_BODY(MDYN_WORLD, MDYN_SLIDES(0, 1, 0), MDYN_AT(0, 0, 0), MDYN_POINT_MASS(0.015),
              MDYN_PASSIVE, NULL),
    MDYN_BODY(MDYN_WORLD, MDYN_SLIDES(0, -1, 0), MDYN_AT(0, 0, 0), MDYN_POINT_MASS(0.015),
              MDYN_PASSIVE, NULL),
};
static const mdyn_coupling couplings[] = { MDYN_MIMIC(RIGHT, LEFT, 1.0, 0.0) };
static const mdyn_model gripper = MDYN_MODEL(bodies, 2, couplings, 1, MDYN_V3(0, 0, -9.81), 0.01);
static mdyn_sim sim;

static const mdyn_wide COUNT = MDYN_C(2e-6); // meters of the left jaw in a count of its encoder
static unsigned long next_tick;
static int32_t counts;

static void stop(int code)
{
    Serial.println(mdyn_text(code));
    for (;;) {
        delay(1000);
    }
}

void setup()
{
    Serial.begin(115200);
    int code = mdyn_init(&sim, &gripper);
    if (code < 0) {
        stop(code);
    }
    next_tick = micros();
}

// The measured jaw overwrites the state, the other one follows.
void loop()
{
    if (static_cast<long>(micros() - next_tick) < 0) {
        return;
    }
    next_tick += 10000;
    counts = mdyn_unwrap(counts, static_cast<uint32_t>(analogRead(A0)), 10);
    sim.q[LEFT] = mdyn_of_counts(counts, COUNT);
    int code = mdyn_project(&sim, MDYN_FOLLOWERS);
    if (code < 0) {
        stop(code);
    }
    if (next_tick % 100000 < 10000) {
        Serial.print(mdyn_to_counts(sim.q[LEFT], MDYN_C(1e-6)));
        Serial.print(' ');
        Serial.println(mdyn_to_counts(sim.q[RIGHT], MDYN_C(1e-6)));
    }
}
