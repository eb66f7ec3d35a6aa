/* What the test programs with the capacities of knobs.h share, or with those of knobs_few.h. */
#ifdef TEST_FEW
#include "knobs_few.h"
#else
#include "knobs.h"
#endif
#include "expect.h"
