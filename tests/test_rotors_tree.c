/* The build without trees against the build with trees, and rows that stand against rows that are
   set up in every step: random mechanisms, changed on the way, move the same to the last bit. */
#define MIMICDYN_TREE 0
#define MIMICDYN_STATIC 1
#define MIMICDYN_MAX_BODIES 5
#define MIMICDYN_MAX_COUPLINGS 5
#define MIMICDYN_MAX_ROWS 32
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include "rotors_run.h"

static mdyn_sim sim;
static rotors_state now[ROTORS_STEPS], other[ROTORS_STEPS];
static int moved, rows;

/* Whether two motions are the same; says where not. */
static void compare(uint32_t seed, int a, int b) {
    CHECK_EQUAL(a, b);
    for (int n = 0; n < a && n < b; n++) {
        int same = memcmp(&now[n], &other[n], sizeof now[n]) == 0;
        CHECK(same);
        if (!same) {
            printf("mechanism %u, step %d, codes %d %d\n", (unsigned)seed, n, now[n].code,
                   other[n].code);
            return;
        }
        moved += now[n].code >= 0;
        rows += now[n].row_count;
    }
}

/* A sim is sound after each call that plans its rows anew, and after each step. */
static void verify(mdyn_sim *s) { CHECK_EQUAL(mdyn_verify(s), MDYN_OK); }

static void set_up_anew(mdyn_sim *s) { md_drop_factor(s); }

int main(int argc, char **argv) {
    const uint32_t count = TEST_SOAK ? 2000 : 150;
    check_begin(argc, argv);
    /* rows of an exact solve that an iterated one lays out anew and leaves out */
    CHECK_EQUAL(rotors_run(&sim, 1124521626, 0, now, verify, verify), ROTORS_STEPS);
    for (uint32_t seed = 1; seed <= count; seed++) {
        const uint32_t s = (uint32_t)random_int(1000000) + seed * 1000003u;
        int n = rotors_run(&sim, s, 0, now, verify, verify);
        compare(s, n, rotors_run(&sim, s, 0, other, set_up_anew, NULL));
        compare(s, n, rotors_run_tree(s, 0, other));
    }
    CHECK(moved > 100 * (int)count);
    CHECK(rows > 300 * (int)count);
    return check_end();
}
