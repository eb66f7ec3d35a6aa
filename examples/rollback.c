/* rollback.c - a game, or a robot whose commands arrive late: the last 64 sims are kept, a command
   that comes 20 steps too late is put where it belongs, and the steps since then are taken again.
   Then the sim is saved as bytes and goes on in another one.
   With --log FILE it writes a log of that sim, which tests/replay.c plays again.
   What to see: the corrected sim has the bits of one that knew the command in time.
   Checked: that; what the sim would have been without rollback; that damaged bytes are refused.
   By hand: cc -O2 examples/rollback.c -lm -o rollback && ./rollback */

#define MIMICDYN_MAX_BODIES 3
#define MIMICDYN_MAX_COUPLINGS 1
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include <string.h>
#include "log.h"

enum { CART, POLE, TIP, KEPT = 64, LATE = 20, STEPS = 400, PUSH = 150 };

static const mdyn_body bodies[] = {
    MDYN_BODY(MDYN_WORLD, MDYN_SLIDES(1, 0, 0), MDYN_AT(0, 0, 0), MDYN_POINT_MASS(1),
              MDYN_JOINT(0, 0.5, 0.2, -1, 1, 0, 0, 0), "cart"),
    MDYN_BODY(CART, MDYN_TURNS(0, 1, 0), MDYN_AT(0, 0, 0),
              MDYN_RIGID(0.3, 0, 0, 0.25, MDYN_INERTIA(0.006, 0.006, 0, 0, 0, 0)),
              MDYN_PASSIVE, "pole"),
    MDYN_BODY(POLE, MDYN_TURNS(0, 1, 0), MDYN_AT(0, 0, 0.5),
              MDYN_RIGID(0.1, 0, 0, 0.1, MDYN_INERTIA(0.001, 0.001, 0.001, 0, 0, 0)),
              MDYN_PASSIVE, "tip"),
};
static const mdyn_coupling couplings[] = { MDYN_MIMIC(TIP, POLE, -2.0, 0.0) };
static const mdyn_model model = MDYN_MODEL(bodies, 3, couplings, 1, MDYN_V3(0, 0, -9.81), 0.002);
static mdyn_sim in_time, game, deaf, past[KEPT], other;
static unsigned char bytes[MDYN_SAVED_SIZE];

static void step(mdyn_sim *sim, int k, int pushed)
{
    sim->tau[CART] = pushed && k >= PUSH && k < PUSH + 60 ? MDYN_R(8) : MDYN_R(-0.5);
    must(sim, mdyn_step(sim));
}

static int same(const mdyn_sim *a, const mdyn_sim *b)
{
    return memcmp(a->q, b->q, sizeof a->q) == 0 && memcmp(a->v, b->v, sizeof a->v) == 0;
}

int main(int argc, char **argv)
{
    FILE *file = argc > 2 && strcmp(argv[1], "--log") == 0 ? fopen(argv[2], "w") : NULL;
    log_file log;
    int k, j;
    must(&in_time, mdyn_init(&in_time, &model));
    in_time.q[POLE] = MDYN_R(0.1);
    in_time.q[TIP] = MDYN_R(-0.2);
    game = deaf = in_time;
    if (file && !log_begin(&log, file, &in_time, &model, "rollback")) return puts(log.error), 1;
    printf("  t [s]   cart in time   game [m]   without rollback\n");
    for (k = 0; k < STEPS; k++) {
        step(&in_time, k, 1);
        if (file) {
            log_commands(&log, &in_time, k);
            log_state(&log, &in_time, k + 1);
        }
        step(&deaf, k, 0);

        /* the game hears of the push LATE steps after it: back to where it began, and again */
        past[k % KEPT] = game;
        if (k == PUSH + LATE) {
            game = past[PUSH % KEPT];
            for (j = PUSH; j < k; j++) {
                step(&game, j, 1);
            }
        }
        step(&game, k, k >= PUSH + LATE);
        if (k % 50 == 49) {
            printf("%7.3f %13.6f %10.6f %13.6f\n", 0.002 * (k + 1), real(in_time.q[CART]),
                   real(game.q[CART]), real(deaf.q[CART]));
        }
    }
    if (file) {
        log_end(&log);
        fclose(file);
    }
    CHECK("bits of the game, corrected 20 steps late", same(&game, &in_time), 1, 0);
    CHECK("without rollback they differ", same(&deaf, &in_time), 0, 0);

    must(&game, mdyn_save(&game, bytes, MDYN_SAVED_SIZE));
    must(&other, mdyn_restore(&other, &model, bytes, MDYN_SAVED_SIZE));
    for (k = STEPS; k < 2 * STEPS; k++) {
        step(&game, k, 0);
        step(&other, k, 0);
    }
    CHECK("bits of a sim from bytes, 400 steps later", same(&other, &game), 1, 0);
    bytes[500] ^= 1;
    CHECK("one bit changed: MDYN_ERR_SAVED",
          mdyn_restore(&other, &model, bytes, MDYN_SAVED_SIZE), MDYN_ERR_SAVED, 0);
    return check_result();
}
