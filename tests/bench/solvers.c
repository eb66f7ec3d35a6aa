/* The three solvers of a step on the same mechanisms. bench.sh runs it; by hand:

   cc -std=c99 -O2 -DMIMICDYN_SCALAR=F64 -DEXPECT_SCALAR_F64=1 -I. tests/bench/solvers.c -lm
   solvers run MECHANISM METHOD       "NANOSECONDS ROWS PLACE ROW UNSOLVED" of a step; bench.sh
                                      holds the last three against bounds.txt
   solvers count MECHANISM METHOD     the first 60 steps only, for a tool that counts what
                                      bench_step executes; prints how many they were

   METHOD: pgs, pgs100, tgs (all rows by 20 iterations, by 100, by 20 substeps of one), dantzig (all
   rows by pivoting), exact (those without a bound exactly, pivoting for the others)
   UNSOLVED: steps that pivoting left to the iterations. PLACE and ROW, the largest of all steps:

   stackN    N boxes, 1 to 10, exactly aligned and just touching, four contacts and 12 rows a box;
             PLACE: how far a box is from where it belongs [m]; ROW: by how much a row misses [m/s]
   jitterN   the same, moved, turned and sunk a little; PLACE: how far a box is from where the same
             stack by dantzig has it [m], "-" for dantzig itself
   chain     20 bodies, held by hinges of 5 rows in a chain that falls from the world; PLACE: how
             far points of a hinge come apart [m]; ROW: energy that came from nowhere, as part of
             the kinetic one
   drives    8 slides on each other, the last of 100 kg, with drives of bounded effort, each for a
             speed of its own; PLACE: error of the speeds after the first step [m/s]; ROW: 0 */
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
#include "bodies.h"
#include "scenes.h"

enum { COUNTED = 60, SLIDES = 8 };

static mdyn_body body[MIMICDYN_MAX_BODIES];
static mdyn_closure closure[LINKS];
static mdyn_model model, pivoted; /* `pivoted`: what jittered stacks are held against */
static mdyn_sim sim, twin;
static int boxes, jitter;

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
    int substeps, iterations;
} method;

static const method methods[] = {
    { "pgs", MDYN_ITERATED, MDYN_PGS, 0, 20 },
    { "pgs100", MDYN_ITERATED, MDYN_PGS, 0, 100 },
    { "tgs", MDYN_ITERATED, MDYN_TGS, 20, 1 },
    { "dantzig", MDYN_ITERATED, MDYN_DANTZIG, 0, 0 },
    { "exact", MDYN_EXACT, MDYN_DANTZIG, 0, 0 }
};

/* ---- mechanisms ---- */

typedef struct errors {
    double place, row;
} errors;

static void begin(int bodies) {
    memset(body, 0, sizeof body);
    model.bodies = body;
    model.body_count = bodies;
    model.dt = wide(SCENE_STEP);
}

static place placed(const mdyn_sim *s, int i) {
    double p[3], q[4];
    for (int k = 0; k < 3; k++) {
        p[k] = of_real(s->q[7 * i + k]);
    }
    for (int k = 0; k < 4; k++) {
        q[k] = of_real(s->q[7 * i + 3 + k]);
    }
    return place_of(p, q);
}

static void start_stack(mdyn_sim *s, const mdyn_model *m) {
    must(mdyn_init(s, m));
    for (int i = 0; i < boxes; i++) {
        double at[3], turn;
        box_start(i, jitter, at, &turn);
        for (int k = 0; k < 3; k++) {
            s->q[7 * i + k] = real(at[k]);
        }
        s->q[7 * i + 3] = real(cos(turn / 2));
        s->q[7 * i + 6] = real(sin(turn / 2));
    }
}

static void make_stack(void) {
    begin(boxes);
    model.gravity = wide3(BOX_ASIDE, 0, -BOX_DOWN);
    for (int i = 0; i < boxes; i++) {
        body[i].parent = MDYN_WORLD;
        body[i].joint = MDYN_FREE;
        body[i].mass = wide(BOX_MASS);
        set_inertia(&body[i], box_inertia);
    }
    start_stack(&sim, &model);
    pivoted = model;
    memset(&pivoted.solver, 0, sizeof pivoted.solver);
    pivoted.solver.method = MDYN_DANTZIG;
    start_stack(&twin, &pivoted);
}

static void touch_all(mdyn_sim *s, double erp, touch t[BOX_MOST][BOX_TOUCHES]) {
    mdyn_contact contact[MIMICDYN_MAX_CONTACTS];
    memset(contact, 0, sizeof contact);
    for (int i = 0; i < boxes; i++) {
        const place box = placed(s, i), below = placed(s, i > 0 ? i - 1 : 0);
        box_touch(&box, i > 0 ? &below : NULL, t[i]);
        for (int k = 0; k < BOX_TOUCHES; k++) {
            mdyn_contact *c = &contact[BOX_TOUCHES * i + k];
            c->a = (int16_t)i;
            c->b = (int16_t)(i - 1);
            c->key = (uint16_t)k;
            c->point.x = real(t[i][k].point[0]);
            c->point.y = real(t[i][k].point[1]);
            c->point.z = real(t[i][k].point[2]);
            c->normal.x = real(t[i][k].normal[0]);
            c->normal.y = real(t[i][k].normal[1]);
            c->normal.z = real(t[i][k].normal[2]);
            c->depth = real(t[i][k].depth);
            c->mu = wide(BOX_FRICTION);
            c->softness.kind = MDYN_ERP_CFM;
            c->softness.a = wide(erp);
        }
    }
    must(mdyn_set_contacts(s, contact, BOX_TOUCHES * boxes));
}

/* A gap may close within the step. */
static double contact_miss(int i, double depth) {
    double impulse[3], speed[3];
    for (int k = 0; k < 3; k++) {
        mdyn_row_report r;
        must(mdyn_report_row(&sim, MDYN_ROW_CONTACT, 3 * i + k, &r));
        impulse[k] = of_wide(r.impulse);
        speed[k] = of_wide(r.velocity);
    }
    return touch_miss(impulse, speed, (depth > 0 ? BOX_ERP : 1) * depth / SCENE_STEP);
}

static void stack_errors(touch t[BOX_MOST][BOX_TOUCHES], tilt *lean, errors *worst) {
    if (jitter) {
        touch ignored[BOX_MOST][BOX_TOUCHES];
        touch_all(&twin, BOX_ERP, ignored);
        must(mdyn_step(&twin));
    } else {
        tilt_step(lean, boxes);
    }
    for (int i = 0; i < boxes; i++) {
        const place box = placed(&sim, i), same = placed(&twin, i);
        double at[3];
        tilted(lean, i, at);
        worst->place = larger(distance(box.at, jitter ? same.at : at), worst->place);
        for (int k = 0; k < BOX_TOUCHES; k++) {
            worst->row = larger(contact_miss(BOX_TOUCHES * i + k, t[i][k].depth), worst->row);
        }
    }
}

/* The rods as free bodies. */
static void make_chain(void) {
    begin(LINKS);
    memset(closure, 0, sizeof closure);
    model.gravity = wide3(-LINK_FALL, 0, 0);
    for (int i = 0; i < LINKS; i++) {
        body[i].parent = MDYN_WORLD;
        body[i].joint = MDYN_FREE;
        set_rod(&body[i]);
        closure[i].kind = MDYN_CLOSE_HINGE;
        closure[i].a = (int16_t)i;
        closure[i].b = (int16_t)(i - 1);
        closure[i].point_b.z = wide(i > 0 ? LINK : 0);
        closure[i].axis_a = closure[i].axis_b = rod_axis(i);
    }
    model.closures = closure;
    model.closure_count = LINKS;
    must(mdyn_init(&sim, &model));
    for (int i = 0; i < LINKS; i++) {
        sim.q[7 * i + 2] = real(LINK * i);
    }
}

static void chain_errors(errors *worst) {
    double kinetic = 0, potential = 0;
    for (int i = 0; i < LINKS; i++) {
        const place rod = placed(&sim, i), before = placed(&sim, i > 0 ? i - 1 : 0);
        double angular[3], linear[3], turning[3];
        for (int k = 0; k < 3; k++) {
            angular[k] = of_real(sim.v[6 * i + k]);
        }
        cross(angular, link_com, turning);
        for (int k = 0; k < 3; k++) {
            linear[k] = of_real(sim.v[6 * i + 3 + k]) + turning[k];
        }
        rod_energy(&rod, linear, angular, &kinetic, &potential);
        worst->place = larger(hinge_gap(&rod, i > 0 ? &before : NULL, i), worst->place);
    }
    worst->row = energy_error(kinetic, potential);
}

static void make_drives(void) {
    begin(SLIDES);
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
        sim.target_velocity[i] = real(0.5 + i);
    }
}

static void drives_errors(errors *worst) {
    for (int i = 0; i < SLIDES; i++) {
        worst->place = larger(fabs(of_real(sim.v[i]) - 0.5 - i), worst->place);
    }
}

typedef struct mechanism {
    const char *name;
    int steps, rows; /* rows: of the whole, or of a box */
    void (*make)(void);
    void (*judge)(errors *worst); /* NULL: a stack */
} mechanism;

static const mechanism mechanisms[] = {
    { "stack", SCENE_STEPS, BOX_ROWS, make_stack, NULL },
    { "jitter", SCENE_STEPS, BOX_ROWS, make_stack, NULL },
    { "chain", SCENE_STEPS, LINK_ROWS * LINKS, make_chain, chain_errors },
    { "drives", 1, SLIDES, make_drives, drives_errors }
};

/* ---- runs ---- */

int bench_step(void);
int bench_step(void) { return mdyn_step(&sim); }
static int (*volatile called)(void) = bench_step;

static int run(const mechanism *m, const method *how, int only_count) {
    const int steps = only_count && m->steps > COUNTED ? COUNTED : m->steps;
    /* a substep has its own, that a step takes back the same */
    const double erp = how->substeps > 0 ? 1 - pow(1 - BOX_ERP, 1.0 / how->substeps) : BOX_ERP;
    touch touches[BOX_MOST][BOX_TOUCHES];
    tilt lean = { 0, 0 };
    errors worst = { 0, 0 };
    double took = 0;
    int unsolved = 0;
    memset(&model, 0, sizeof model);
    /* That of ODE and of what judges here: tilt_step is Euler's, touch_miss asks for the erp as a
       velocity. Against both at the middle of the step, without erp in v, MDYN_MIDPOINT with
       pivoting is off by 1.5e-6 m in a stack of ten (against Euler's 3.4e-5) and 3.4e-16 m/s in
       the rows of five jittered boxes (1e-2, which is BOX_ERP BOX_SINK/SCENE_STEP). */
    model.solver.scheme = MDYN_EXPLICIT;
    model.solver.equality = how->equality;
    model.solver.method = how->method;
    model.solver.substeps = (uint16_t)how->substeps;
    model.solver.iterations = (uint16_t)how->iterations;
    m->make();
    for (int k = 0; k < steps; k++) {
        if (m->judge == NULL) {
            touch_all(&sim, erp, touches);
        }
        double begun = now_ns();
        int code = called();
        took += now_ns() - begun;
        must(code);
        unsolved += sim.report.unsolved > 0;
        if (m->judge != NULL) {
            m->judge(&worst);
        } else if (!only_count) {
            stack_errors(touches, &lean, &worst);
        }
    }
    if (only_count) {
        printf("%d\n", steps);
        return 0;
    }
    printf("%.0f %d ", took / steps, m->rows * (boxes > 0 ? boxes : 1));
    printf(jitter && how->method == MDYN_DANTZIG ? "-" : "%.1e", worst.place);
    printf(" %.1e %d\n", worst.row, unsolved);
    return 0;
}

int main(int argc, char **argv) {
    const mechanism *m = NULL;
    const method *how = NULL;
    for (size_t i = 0; argc == 4 && i < sizeof mechanisms / sizeof *mechanisms; i++) {
        size_t length = strlen(mechanisms[i].name);
        m = strncmp(argv[2], mechanisms[i].name, length) == 0 ? &mechanisms[i] : m;
    }
    if (m != NULL && m->judge == NULL) {
        jitter = m == &mechanisms[1];
        boxes = atoi(argv[2] + strlen(m->name));
        m = boxes >= 1 && boxes <= BOX_MOST ? m : NULL;
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
