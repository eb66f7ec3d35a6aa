/* The hand of tests/bench: five fingers of four joints, ten couplings, pulled past their stops. */
#include "mechanism.h"
#include "../../bench/workloads.h"

static mechanism hand;

static void make(void) {
    make_hand(&hand);
}

static void command(mdyn_sim *s, int16_t step) {
    hand_torques(STEP * step, s->q, s->v, s->tau);
}

const specimen mechanism_hand = { "hand", &hand.model, command, make };
