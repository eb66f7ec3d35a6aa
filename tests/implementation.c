/* What the test programs with the capacities of knobs.h share. */
#include "knobs.h"
#include "expect.h"
