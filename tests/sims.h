/* What the tests do with sims and couplings time and again. Included after check.h. */
#ifndef SIMS_H
#define SIMS_H

/* q_follower = multiplier q_leader + offset, of numbers that are known at run time only. */
static inline mdyn_coupling mimic_of(int follower, int leader, double multiplier, double offset) {
    mdyn_coupling c = MDYN_MIMIC(0, 0, 0, 0);
    c.terms[0].body = (int16_t)follower;
    c.terms[1].body = (int16_t)leader;
    c.terms[1].coefficient = wide(-multiplier);
    c.offset = wide(-offset);
    return c;
}

/* All that a user gives to a sim. */
static inline void copy_inputs(mdyn_sim *to, const mdyn_sim *from) {
    memcpy(to->q, from->q, sizeof to->q);
    memcpy(to->v, from->v, sizeof to->v);
    memcpy(to->tau, from->tau, sizeof to->tau);
    memcpy(to->target, from->target, sizeof to->target);
    memcpy(to->target_velocity, from->target_velocity, sizeof to->target_velocity);
    memcpy(to->wrench, from->wrench, sizeof to->wrench);
}

/* Two sims that should not differ by a bit, for a number of steps. */
static inline void steps_agree(mdyn_sim *a, mdyn_sim *b, int steps) {
    for (int s = 0; s < steps; s++) {
        int code = mdyn_step(a);
        if (!CHECK_EQUAL(mdyn_step(b), code) ||
            !CHECK(code == MDYN_OK || code == MDYN_WARN_NOT_CONVERGED) ||
            !CHECK(memcmp(a->q, b->q, sizeof a->q) == 0) ||
            !CHECK(memcmp(a->v, b->v, sizeof a->v) == 0)) {
            break;
        }
    }
}

#endif
