/* Blocks on rails along x, to be coupled. Included after check.h and truth.h. */
#ifndef RAILS_H
#define RAILS_H

static mdyn_sim sim;
static mechanism mech;

/* `count` blocks of 2 kg on rails along x. */
static inline void blocks(int count, double dt) {
    memset(&mech, 0, sizeof mech);
    for (int i = 0; i < count; i++) {
        mech.body[i].parent = MDYN_WORLD;
        mech.body[i].joint = MDYN_PRISMATIC;
        mech.body[i].axis.x = wide(1);
        mech.body[i].mass = wide(2);
    }
    mech.model.bodies = mech.body;
    mech.model.body_count = count;
    mech.model.couplings = mech.coupling;
    mech.model.dt = wide(dt);
}

static inline void couple(mdyn_coupling c) {
    mech.coupling[mech.model.coupling_count++] = c;
}

#endif
