/* With link_b.c: two files of one program. link_test.sh gives them equal or different knobs, and
   reads the configuration that it prints. */
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include <stdio.h>

int other_file(mdyn_sim *sim, const mdyn_model *model);

int main(void) {
    static const mdyn_body bodies[] = {
        { .parent = MDYN_WORLD, .joint = MDYN_PRISMATIC, .mass = MDYN_C(2) },
    };
    static const mdyn_model model = {
        .bodies = bodies, .body_count = 1, .gravity = MDYN_V3(0, 0, -9.81), .dt = MDYN_C(0.001)
    };
    static mdyn_sim here, there;
    puts(MDYN_SPELL(MDYN_CONFIGURATION));
    if (mdyn_init(&here, &model) != MDYN_OK || other_file(&there, &model) != MDYN_OK) {
        return 1;
    }
    return mdyn_step(&here) != MDYN_OK || here.v[0] != there.v[0];
}
