/* The three solvers of a step on the same mechanisms. bench.sh runs it; by hand:

   cc -std=c99 -O2 -DMIMICDYN_SCALAR=F64 -DEXPECT_SCALAR_F64=1 -I. tests/bench/solvers.c -lm
   solvers run MECHANISM METHOD       "NANOSECONDS ROWS ERROR" of a step; ends with 1 if the error
                                      is more than the method is held to
   solvers count MECHANISM METHOD     the first 60 steps only, for a tool that counts what
                                      bench_step executes; prints how many they were

   METHOD: pgs, pgs100, tgs (all rows by 20 sweeps, by 100, by 20 substeps of one), dantzig (all
   rows by pivoting), exact (those without a bound exactly, pivoting for the others)

   stackN    N boxes, 1 to 10, of 1 kg, exactly aligned and just touching, four contacts and 12
             rows a box; error: how far a box comes from where it was [m]
   chain     20 bodies, held by hinges of 5 rows in a chain that swings from the world; error: how
             far points of a hinge come apart [m]
   drives    8 slides on each other, the last of 100 kg, with drives of bounded effort, each for a
             speed of its own; error: of the speeds after the first step [m/s] */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#endif
#define MIMICDYN_MAX_BODIES 20
#define MIMICDYN_MAX_DOFS 120
#define MIMICDYN_MAX_COUPLINGS 1
#define MIMICDYN_MAX_BODY_ROWS 100
#define MIMICDYN_MAX_CONTACTS 40
#define MIMICDYN_MAX_DANTZIG 132
#define MIMICDYN_MAX_ENTRIES 32767
#define MIMICDYN_IMPLEMENTATION
#include "mimicdyn.h"
#include "boxes.h"
#include "tests/check.h"

#include <time.h>

enum { STEPS = 300, COUNTED = 60, LINKS = 20, SLIDES = 8 };
#define STEP 1e-3

static mdyn_body body[MIMICDYN_MAX_BODIES];
static mdyn_closure closure[LINKS];
static mdyn_model model;
static mdyn_sim sim;
static int boxes;

static void must(int code) {
    if (code < 0) {
        printf("cannot go on: %s\n", mdyn_text(code));
        exit(2);
    }
}

/* ---- methods ---- */

typedef struct method {
    const char *name;
    mdyn_equality equality;
    mdyn_method method;
    int substeps, sweeps;
} method;

static const method methods[] = {
    { "pgs", MDYN_ITERATED, MDYN_PGS, 0, 20 },
    { "pgs100", MDYN_ITERATED, MDYN_PGS, 0, 100 },
    { "tgs", MDYN_ITERATED, MDYN_TGS, 20, 1 },
    { "dantzig", MDYN_ITERATED, MDYN_DANTZIG, 0, 0 },
    { "exact", MDYN_EXACT, MDYN_DANTZIG, 0, 0 }
};

/* ---- mechanisms ---- */

static void begin(int bodies) {
    memset(body, 0, sizeof body);
    model.bodies = body;
    model.body_count = bodies;
    model.dt = wide(STEP);
    model.gravity.z = wide(-9.81);
}

static void make_stack(void) {
    begin(boxes);
    for (int i = 0; i < boxes; i++) {
        body[i].parent = MDYN_WORLD;
        body[i].joint = MDYN_FREE;
        body[i].mass = wide(1);
        body[i].inertia.xx = body[i].inertia.yy = wide(BOX_ACROSS);
        body[i].inertia.zz = wide(BOX_UPRIGHT);
    }
    must(mdyn_init(&sim, &model));
    for (int i = 0; i < boxes; i++) {
        sim.q[7 * i + 2] = real(BOX_H + 2 * BOX_H * i);
    }
}

static void place_of(int i, double *p, double *q) {
    for (int k = 0; k < 3; k++) {
        p[k] = of_real(sim.q[7 * i + k]);
    }
    for (int k = 0; k < 4; k++) {
        q[k] = of_real(sim.q[7 * i + 3 + k]);
    }
}

static void touch(void) {
    mdyn_contact contact[MIMICDYN_MAX_CONTACTS];
    memset(contact, 0, sizeof contact);
    for (int i = 0; i < boxes; i++) {
        double p[3], q[4], top = 0, corner[BOX_CORNERS][3];
        if (i > 0) {
            place_of(i - 1, p, q);
            top = p[2] + BOX_H;
        }
        place_of(i, p, q);
        box_corners(p, q, corner);
        for (int k = 0; k < BOX_CORNERS; k++) {
            mdyn_contact *c = &contact[BOX_CORNERS * i + k];
            c->a = (int16_t)i;
            c->b = (int16_t)(i - 1);
            c->key = (uint16_t)k;
            c->point.x = real(corner[k][0]);
            c->point.y = real(corner[k][1]);
            c->point.z = real(corner[k][2]);
            c->normal.z = real(1);
            c->depth = real(top - corner[k][2]);
            c->friction = wide(BOX_FRICTION);
            c->softness.kind = MDYN_ERP_CFM;
            c->softness.a = wide(BOX_ERP);
        }
    }
    must(mdyn_set_contacts(&sim, contact, BOX_CORNERS * boxes));
}

static double stack_error(void) {
    double worst = 0;
    for (int i = 0; i < boxes; i++) {
        double p[3], q[4];
        place_of(i, p, q);
        worst = worse(worst, hypot(hypot(p[0], p[1]), p[2] - BOX_H - 2 * BOX_H * i));
    }
    return worst;
}

/* Free bodies, each a rod of LINK along x, held at its end. */
static void make_chain(void) {
    begin(LINKS);
    memset(closure, 0, sizeof closure);
    for (int i = 0; i < LINKS; i++) {
        body[i].parent = MDYN_WORLD;
        body[i].joint = MDYN_FREE;
        body[i].mass = wide(1);
        body[i].inertia.xx = wide(LINK_ALONG);
        body[i].inertia.yy = body[i].inertia.zz = wide(LINK_ACROSS);
        closure[i].kind = MDYN_CLOSE_HINGE;
        closure[i].a = (int16_t)i;
        closure[i].b = (int16_t)(i - 1);
        closure[i].point_a.x = wide(-LINK / 2);
        closure[i].point_b.x = wide(i > 0 ? LINK / 2 : 0);
        closure[i].axis_a.y = closure[i].axis_b.y = wide(1);
    }
    model.closures = closure;
    model.closure_count = LINKS;
    must(mdyn_init(&sim, &model));
    for (int i = 0; i < LINKS; i++) {
        sim.q[7 * i] = real(LINK * (i + 0.5));
    }
}

static double chain_error(void) {
    double end[3] = { 0, 0, 0 }, worst = 0;
    for (int i = 0; i < LINKS; i++) {
        double p[3], q[4];
        place_of(i, p, q);
        worst = worse(worst, rod_gap(p, q, end));
    }
    return worst;
}

static void make_drives(void) {
    begin(SLIDES);
    memset(&model.gravity, 0, sizeof model.gravity);
    for (int i = 0; i < SLIDES; i++) {
        body[i].parent = (int16_t)(i - 1);
        body[i].joint = MDYN_PRISMATIC;
        body[i].axis.x = wide(1);
        body[i].mass = wide(i + 1 < SLIDES ? 1 : 100);
        body[i].drive_kd = wide(1e14);
        body[i].effort = wide(1e9);
    }
    must(mdyn_init(&sim, &model));
    for (int i = 0; i < SLIDES; i++) {
        sim.target_speed[i] = real(0.5 + i);
    }
}

static double drives_error(void) {
    double worst = 0;
    for (int i = 0; i < SLIDES; i++) {
        worst = worse(worst, fabs(of_real(sim.v[i]) - 0.5 - i));
    }
    return worst;
}

typedef struct mechanism {
    const char *name;
    int steps, rows; /* rows: of the whole, or of a box */
    void (*make)(void);
    double (*error)(void);
    double swept, pivoted; /* errors allowed: generous, so that other bits pass too */
} mechanism;

static const mechanism mechanisms[] = {
    { "stack", STEPS, 12, make_stack, stack_error, 0.1,
      BY_SCALAR(1e-12, 1e-5, 1e-7) },
    { "chain", STEPS, 5 * LINKS, make_chain, chain_error, 1e-3, 1e-4 },
    { "drives", 1, SLIDES, make_drives, drives_error, 20, BY_SCALAR(1e-6, 2e-2, 2e-3) }
};

/* ---- runs ---- */

int bench_step(void);
int bench_step(void) { return mdyn_step(&sim); }
static int (*volatile called)(void) = bench_step;

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int run(const mechanism *m, const method *how, int only_count) {
    double took = 0, error = 0;
    double allowed = how->method == MDYN_DANTZIG ? m->pivoted : m->swept;
    memset(&model, 0, sizeof model);
    model.solver.equality = how->equality;
    model.solver.method = how->method;
    model.solver.substeps = (uint16_t)how->substeps;
    model.solver.sweeps = (uint16_t)how->sweeps;
    m->make();
    const int steps = only_count && m->steps > COUNTED ? COUNTED : m->steps;
    for (int k = 0; k < steps; k++) {
        if (boxes > 0) {
            touch();
        }
        double begun = only_count ? 0 : now_ns();
        must(called());
        took += only_count ? 0 : now_ns() - begun;
        error = worse(error, m->error());
    }
    if (only_count) {
        printf("%d\n", steps);
        return 0;
    }
    printf("%.0f %d %.1e\n", took / m->steps, m->rows * (boxes > 0 ? boxes : 1), error);
    return error <= allowed ? 0 : 1;
}

int main(int argc, char **argv) {
    const mechanism *m = NULL;
    const method *how = NULL;
    for (size_t i = 0; argc == 4 && i < sizeof mechanisms / sizeof *mechanisms; i++) {
        size_t length = strlen(mechanisms[i].name);
        m = strncmp(argv[2], mechanisms[i].name, length) == 0 ? &mechanisms[i] : m;
    }
    if (m == &mechanisms[0]) {
        boxes = atoi(argv[2] + strlen(m->name));
        m = boxes >= 1 && boxes <= MIMICDYN_MAX_CONTACTS / BOX_CORNERS ? m : NULL;
    }
    for (size_t i = 0; argc == 4 && i < sizeof methods / sizeof *methods; i++) {
        how = strcmp(argv[3], methods[i].name) == 0 ? &methods[i] : how;
    }
    if (m == NULL || how == NULL) {
        fprintf(stderr, "usage: %s run|count MECHANISM METHOD\n", argv[0]);
        return 2;
    }
    return run(m, how, strcmp(argv[1], "count") == 0);
}
