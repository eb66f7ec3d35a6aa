/* With link_a.c: uses a sim that it has not made. */
#include "../mimicdyn.h"

int other_file(mdyn_sim *sim, const mdyn_model *model);

int other_file(mdyn_sim *sim, const mdyn_model *model) {
    int code = mdyn_init(sim, model);
    return code < 0 ? code : mdyn_step(sim);
}
