/* mechanism.h - mechanisms for any machine: a model and commands for it. Those of the examples
   take the example's own tables: its file is included, and its main given another name.

   MECHANISMS_SMALL: only those that fit into 16 KB of RAM together. MECHANISMS_TINY: only those of
   three bodies and one coupling, in 8 KB of RAM and 256 KB of flash. */
#ifndef MECHANISM_H
#define MECHANISM_H

/* Knobs for all mechanisms together, whatever the examples ask for themselves. */
#if defined(MECHANISMS_TINY)
#define MIMICDYN_MAX_BODIES 3
#define MIMICDYN_MAX_COUPLINGS 1
#define MIMICDYN_QUATERNIONS 0
#define MIMICDYN_LCP 0
#elif defined(MECHANISMS_SMALL)
#define MIMICDYN_MAX_BODIES 4
#define MIMICDYN_MAX_ROWS 5
#define MIMICDYN_MAX_ENTRIES 40
#else
#define MIMICDYN_MAX_BODIES 20
#define MIMICDYN_MAX_COUPLINGS 10
#define MIMICDYN_MAX_ROWS 32
#endif
#include "mimicdyn.h"

#ifndef MIMICDYN_IMPLEMENTATION
/* Now the header has been read. An example may define its own knobs and ask for the
   implementation, to no effect; but mdyn_init names the knobs, so it is bound to them here. */
static inline int mechanism_init(mdyn_sim *sim, const mdyn_model *model) {
    return mdyn_init(sim, model);
}
#undef mdyn_init
#define mdyn_init mechanism_init
#undef MIMICDYN_MAX_BODIES
#undef MIMICDYN_MAX_DOFS
#undef MIMICDYN_MAX_COUPLINGS
#undef MIMICDYN_MAX_ROWS
#undef MIMICDYN_MAX_TERMS
#define MDYN_IMPLEMENTED_
#endif

typedef struct specimen {
    const char *name;
    const mdyn_model *model;
    void (*command)(mdyn_sim *sim, int16_t step); /* sets sim->tau and the like before a step */
    void (*make)(void); /* fills the model in; NULL: it is constant */
} specimen;

extern const specimen mechanism_dyadic;
extern const specimen mechanism_jaws, mechanism_planetary, mechanism_differential,
    mechanism_spring, mechanism_finger; /* of the examples */
extern const specimen mechanism_robotiq, mechanism_arm, mechanism_floating;
extern const specimen mechanism_hand; /* of tests/bench */
extern const specimen mechanism_drives; /* for the stack of parallel rows */

/* Commands are constants that take turns, so that FIXED needs no float, and dyadic fractions, so
   that compilers with a double of 32 bits have the same ones. */
#define IN_TURN(values, period, step) \
    (values)[(step) / (period) % (int16_t)(sizeof(values) / sizeof(values)[0])]

#endif
