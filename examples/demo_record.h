/* demo_record.h - what demo.c writes down, and the table that it prints as it runs. */

#ifndef EXAMPLES_DEMO_RECORD_H
#define EXAMPLES_DEMO_RECORD_H

#define DEMO_DT 0.001 /* [s] */
#define DEMO_STEPS 2000
#define DEMO_OPENS 1200 /* the step that begins to open */
#define DEMO_SHOTS 2 /* of the postures: open, and closed on the object */
static const int demo_shots[DEMO_SHOTS] = { 0, 1099 }; /* the steps */

typedef struct demo_record {
    double time[DEMO_STEPS], target[DEMO_STEPS], leader[DEMO_STEPS];
    double follower[ROBOTIQ_MIMICS][DEMO_STEPS], error[DEMO_STEPS];
    double share[ROBOTIQ_MIMICS][DEMO_STEPS], drive[DEMO_STEPS], grip[DEMO_STEPS];
    mdyn_real3 origin[DEMO_SHOTS][ROBOTIQ_BODIES];
    mdyn_real4 turn[DEMO_SHOTS][ROBOTIQ_BODIES];
} demo_record;

/* Keeps the poses of the steps in demo_shots. */
static void demo_snapshot(demo_record *r, mdyn_sim *sim, int step)
{
    int shot, i;
    for (shot = 0; shot < DEMO_SHOTS; shot++) {
        for (i = 0; i < ROBOTIQ_BODIES && demo_shots[shot] == step; i++) {
            must(sim, mdyn_pose(sim, i, &r->origin[shot][i], &r->turn[shot][i]));
        }
    }
}

static void demo_header(void)
{
    printf("followers: L left, R right; .ik inner knuckle, .if inner finger, .ok outer knuckle\n"
           "  t [s]  angles [mrad]                                 error  torques of the couplings"
           " [mN m]           drive   grip\n"
           "        leader   L.ik   L.if   R.ik   R.if   R.ok      [rad]    L.ik    L.if    R.ik"
           "    R.if    R.ok [mN m]    [N]\n");
}

static void demo_row(const demo_record *r, int step)
{
    int k;
    printf("%7.1f %6.1f", r->time[step], 1e3 * r->leader[step]);
    for (k = 0; k < ROBOTIQ_MIMICS; k++) {
        printf(" %6.1f", 1e3 * r->follower[k][step]);
    }
    printf("  %9.0e", r->error[step]);
    for (k = 0; k < ROBOTIQ_MIMICS; k++) {
        printf(" %7.1f", 1e3 * r->share[k][step]);
    }
    printf(" %6.0f %6.2f\n", 1e3 * r->drive[step], r->grip[step]);
    fflush(stdout);
}

#endif
