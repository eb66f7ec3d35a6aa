/* Sims of the tests that state the step of the documents. Included after check.h. */
#ifndef EXPLICIT_H
#define EXPLICIT_H

static inline int init_explicit(mdyn_sim *to, mdyn_model *explicit_model) {
    explicit_model->solver.scheme = MDYN_EXPLICIT;
    return but_for_start(mdyn_init(to, explicit_model));
}

#endif
