/* The tables and the sim: a change made through its call is that of a fresh mdyn_init with the new
   number, to the last bit, or is refused whole; an edit of a table in place has no effect, leaves
   numbers finite, and is reported by mdyn_verify. Calls from inside a call are refused. */
#define MIMICDYN_MAX_BODIES 6
#define MIMICDYN_MAX_DOFS 12
#define MIMICDYN_MAX_BODY_ROWS 8
#define MIMICDYN_MAX_DANTZIG 16
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include "sims.h"

static mdyn_sim sim, fresh, kept;
static mdyn_body body[6];
static mdyn_coupling coupling[2];
static mdyn_closure closure[1];
static mdyn_user_row user_row[1];
static mdyn_model model;

/* ---- a mechanism with a joint of each kind of row ---- */

static void make_model(void) {
    memset(body, 0, sizeof body);
    memset(&model, 0, sizeof model);
    for (int i = 0; i < 5; i++) {
        body[i].parent = (int16_t)(i == 3 ? MDYN_WORLD : i - 1);
        body[i].joint = MDYN_REVOLUTE;
        body[i].axis = i == 1 ? wide3(0.3, 0.4, 0.5) : wide3(0, 1, 0);
        body[i].position = wide3(0.3, 0, 0.1);
        body[i].mass = wide(1 + i);
        body[i].com = wide3(0.1, 0.02, 0.2);
        body[i].inertia.xx = body[i].inertia.yy = body[i].inertia.zz = wide(0.1);
        body[i].armature = wide(0.05);
    }
    body[3].joint = MDYN_PRISMATIC;
    body[4].parent = 3;
    coupling[0] = mimic_of(4, 2, 0.5, 0);
    model.bodies = body;
    model.body_count = 5;
    model.couplings = coupling;
    model.coupling_count = 1;
    model.gravity = wide3(0, 0, -9.81);
    model.dt = wide(0x1p-10);
}

static void push(mdyn_sim *s) {
    static const double q[] = { 0.3, -0.2, 0.4, 0.1, 0.3 }, v[] = { 1, -2, 0.5, 0.3, 0.25 };
    for (int k = 0; k < mdyn_dofs(s); k++) {
        s->q[k] = real(q[k]);
        s->v[k] = real(v[k]);
        s->tau[k] = real(0.7 * k - 1);
        s->target[k] = real(0.2);
        s->target_velocity[k] = real(0.1);
    }
}

/* The same state without what earlier steps left, in both. */
static void match(mdyn_sim *a, mdyn_sim *b) {
    copy_inputs(b, a);
    CHECK_EQUAL(mdyn_reset(a), MDYN_OK);
    CHECK_EQUAL(mdyn_reset(b), MDYN_OK);
}

/* ---- numbers of a body ---- */

typedef struct field {
    const char *name;
    size_t offset;
    double before, other;
    int signs; /* may be negative */
} field;

#define FIELD(name, before, other, signs) { #name, offsetof(mdyn_body, name), before, other, signs }
static const field fields[] = {
    FIELD(mass, 2, 3.5, 0), FIELD(com.x, 0.1, -0.3, 1), FIELD(com.z, 0.2, 0, 1),
    FIELD(inertia.xx, 0.1, 0.12, 0), FIELD(inertia.yz, 0.01, -0.01, 1),
    FIELD(armature, 0.05, 0.5, 0), FIELD(armature, 0, 0.5, 0), FIELD(friction, 0, 3, 0),
    FIELD(friction, 3, 0, 0), FIELD(friction, 3, 0.5, 0), FIELD(effort, 0, 1, 0),
    FIELD(effort, 50, 1, 0), FIELD(effort, 1, 0, 0), FIELD(drive_kp, 0, 100, 0),
    FIELD(drive_kp, 100, 0, 0), FIELD(drive_kp, 100, 40, 0), FIELD(drive_kd, 0, 20, 0),
    FIELD(drive_kd, 20, 0, 0), FIELD(upper, 0, 0.5, 1), FIELD(upper, 0.5, 0, 1),
    FIELD(upper, 0.9, 0.45, 1), FIELD(lower, 0, -0.5, 1), FIELD(lower, -1, -0.25, 1),
    FIELD(damping, 0, 0.5, 0), FIELD(damping, 0.5, 0, 0), FIELD(damping, 0.5, 5, 0)
};
enum { FIELDS = sizeof fields / sizeof *fields };

static mdyn_wide *number(mdyn_body *b, const field *f) {
    return (mdyn_wide *)(void *)((char *)b + f->offset);
}

/* Another method, other rows beside that of the field: drives, limits, losses. */
static void vary(int n) {
    static const mdyn_method methods[] = { MDYN_PGS, MDYN_TGS, MDYN_DANTZIG };
    model.solver.method = methods[n % 3];
    if (n % 2) {
        body[0].drive_kp = wide(50);
        body[0].drive_kd = wide(5);
        body[0].effort = wide(20);
        body[4].upper = wide(1);
        body[2].friction = wide(0.1);
    }
}

static void test_changes(void) {
    for (int n = 0; n < FIELDS * 12; n++) {
        const field *f = &fields[n % FIELDS];
        const int i = n / FIELDS % 2 ? 2 : 1;
        make_model();
        vary(n / FIELDS);
        *number(&body[i], f) = wide(f->before);
        /* damping is weighted by M at q = 0, or where it changes: there the bits are the same */
        const int at_0 = f->offset == offsetof(mdyn_body, damping);
        CHECK(mdyn_init(&sim, &model) >= 0);
        if (!at_0) {
            push(&sim);
        }
        for (int s = 0; s < 20 * !at_0; s++) {
            int code = mdyn_step(&sim); /* of TGS with one iteration */
            CHECK(code == MDYN_OK || (model.solver.method == MDYN_TGS
                                      && code == MDYN_WARN_NOT_CONVERGED));
        }
        mdyn_body b = body[i];
        *number(&b, f) = wide(f->other);
        mdyn_real q = sim.q[i], v = sim.v[i];
        CHECK(mdyn_set_body(&sim, i, &b) >= 0);
        CHECK(sim.q[i] == q && sim.v[i] == v);
        CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
        body[i] = b;
        CHECK(mdyn_init(&fresh, &model) >= 0);
        if (at_0) {
            push(&sim);
        }
        match(&sim, &fresh);
        steps_agree(&sim, &fresh, 20);
        for (int kind = MDYN_ROW_DRIVE; kind <= MDYN_ROW_LIMIT; kind++) {
            mdyn_row_report a, c;
            int code = mdyn_report_row(&fresh, (mdyn_row_kind)kind, i, &c);
            CHECK_EQUAL(mdyn_report_row(&sim, (mdyn_row_kind)kind, i, &a), code);
            CHECK(code != MDYN_OK || (a.force == c.force && a.flags == c.flags));
        }
    }
}

/* Whatever is refused leaves the next steps as they were, to the last bit. */
static void refuse_body(int code, int i, const mdyn_body *b) {
    CHECK_EQUAL(mdyn_set_body(&sim, i, b), code);
    CHECK_EQUAL(sim.culprit.code, code);
    kept.culprit = sim.culprit;
    steps_agree(&sim, &kept, 2);
    CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
}

static void test_refusals(void) {
    mdyn_body b;
    make_model();
    vary(1);
    body[1].lower = wide(-1);
    body[1].upper = wide(1);
    CHECK(mdyn_init(&sim, &model) >= 0);
    push(&sim);
    int told = 0;
    for (int s = 0; s < 10; s++) {
        const int code = mdyn_step(&sim); /* of TGS with one iteration */
        told += code == MDYN_WARN_NOT_CONVERGED;
        CHECK(code == MDYN_OK || code == MDYN_WARN_NOT_CONVERGED);
    }
    CHECK(told <= 2);
    kept = sim;
    for (int n = 0; n < FIELDS; n++) {
        for (int bad = 0; bad < CHECK_BAD_WIDES; bad++) {
            b = body[1];
            bad_wide(number(&b, &fields[n]), bad);
            refuse_body(MDYN_ERR_NOT_FINITE, 1, &b);
        }
        if (fields[n].signs) {
            continue;
        }
        b = body[1];
        *number(&b, &fields[n]) = wide(-1);
        refuse_body(fields[n].offset == offsetof(mdyn_body, mass) ? MDYN_ERR_MASS
                    : fields[n].offset == offsetof(mdyn_body, inertia.xx) ? MDYN_ERR_INERTIA
                                                                          : MDYN_ERR_NEGATIVE,
                    1, &b);
    }
    b = body[1];
    b.lower = wide(2);
    refuse_body(MDYN_ERR_LIMITS, 1, &b); /* crossing */
    b = body[1];
    b.position.x = wide(0.31);
    refuse_body(MDYN_ERR_FROZEN, 1, &b);
    b = body[1];
    b.axis.x = wide(0.31);
    refuse_body(MDYN_ERR_FROZEN, 1, &b);
    b = body[1];
    b.joint = MDYN_PRISMATIC;
    refuse_body(MDYN_ERR_FROZEN, 1, &b);
    b = body[4];
    b.parent = 2;
    refuse_body(MDYN_ERR_FROZEN, 4, &b);
    b = body[1];
    b.rotation.w = b.rotation.x = wide(1);
    refuse_body(MDYN_ERR_FROZEN, 1, &b);
    refuse_body(MDYN_ERR_INDEX, -1, &b);
    refuse_body(MDYN_ERR_INDEX, 5, &b);
    refuse_body(MDYN_ERR_NULL, 1, NULL);
}

/* The velocity that a damper shares between two shafts of inertia 1, one of which turns at 1 rad/s.
   At MDYN_VELOCITY kd alone acts in a midpoint step, by the mean velocity to second order of dt;
   with MDYN_EXPLICIT kp too, dt kp + kd at the end of the step. */
static void check_damper(double kp, double kd, int is_explicit) {
    const double h = of_wide(model.dt), gain = h * (is_explicit ? h * kp + kd : kd);
    const double share = gain / (1 + (is_explicit ? 2 : 1) * gain);
    const double error = 4 * check_epsilon + (is_explicit ? 0 : gain * gain * gain);
    mdyn_row_report report;
    sim.v[0] = real(1);
    sim.v[1] = real(0);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR(of_real(sim.v[0]), 1 - share, error);
    CHECK_NEAR(of_real(sim.v[1]), share, error);
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &report), MDYN_OK);
    CHECK_NEAR(of_wide(report.impulse), share, error);
    CHECK_EQUAL(report.flags, 0);
    CHECK_EQUAL(sim.report.redundant, 0);
}

/* A damper without a force is not redundant, and has one as soon as the scheme or its gain says
   so. */
static void test_damper_begins(void) {
    for (int n = 0; n < 4; n++) {
        make_model();
        memset(body, 0, sizeof body);
        for (int i = 0; i < 2; i++) {
            body[i].parent = MDYN_WORLD;
            body[i].joint = MDYN_REVOLUTE;
            body[i].armature = wide(1);
        }
        coupling[0] = mimic_of(1, 0, 1, 0);
        coupling[0].level = MDYN_VELOCITY;
        coupling[0].softness.kind = MDYN_KP_KD;
        coupling[0].softness.a = wide(2000);
        model.body_count = 2;
        model.solver.correction = n % 2 ? MDYN_BAUMGARTE : MDYN_CORRECTION_DEFAULT;
        model.solver.scheme = n / 2 ? MDYN_EXPLICIT : MDYN_MIDPOINT;
        mdyn_solver solver = model.solver;
        mdyn_coupling c = coupling[0];
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
        check_damper(2000, 0, n / 2);
        solver.scheme = n / 2 ? MDYN_MIDPOINT : MDYN_EXPLICIT;
        CHECK_EQUAL(mdyn_set_solver(&sim, &solver), MDYN_OK);
        check_damper(2000, 0, !(n / 2));
        c.softness.b = wide(3);
        CHECK_EQUAL(mdyn_set_coupling(&sim, 0, &c), MDYN_OK);
        check_damper(2000, 3, !(n / 2));
        CHECK_EQUAL(mdyn_set_coupling(&sim, 0, &coupling[0]), MDYN_OK);
        CHECK_EQUAL(mdyn_set_solver(&sim, &model.solver), MDYN_OK);
        check_damper(2000, 0, n / 2);
    }
}

/* Dry friction of 0.1 brakes a shaft of inertia 1 that 1 N m turn; a damper to the world beside it
   has no force but with MDYN_EXPLICIT, where it is dt kp. */
static void test_damper_beside_friction(void) {
    for (int n = 0; n < 4; n++) {
        make_model();
        memset(body, 0, sizeof body);
        body[0].parent = MDYN_WORLD;
        body[0].joint = MDYN_REVOLUTE;
        body[0].armature = wide(1);
        body[0].friction = wide(0.1);
        memset(coupling, 0, sizeof coupling);
        coupling[0].terms[0].coefficient = wide(2);
        coupling[0].level = MDYN_VELOCITY;
        coupling[0].softness.kind = MDYN_KP_KD;
        coupling[0].softness.a = wide(2000);
        model.body_count = model.coupling_count = 1;
        model.solver.correction = n % 2 ? MDYN_BAUMGARTE : MDYN_CORRECTION_DEFAULT;
        model.solver.scheme = n / 2 ? MDYN_EXPLICIT : MDYN_MIDPOINT;
        mdyn_solver solver = model.solver;
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
        for (int i = 0; i < 2; i++) {
            const double h = of_wide(model.dt), gain = (n / 2) ^ i ? 4 * 2000 * h * h : 0;
            sim.v[0] = real(0);
            sim.tau[0] = real(1);
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            CHECK_NEAR(of_real(sim.v[0]), h * 0.9 / (1 + gain), 4 * check_epsilon);
            solver.scheme = n / 2 ? MDYN_MIDPOINT : MDYN_EXPLICIT;
            CHECK_EQUAL(mdyn_set_solver(&sim, &solver), MDYN_OK);
        }
    }
}

/* A joint left without inertia is refused, after the rows were changed already. */
static void test_massless(void) {
    make_model();
    model.body_count = 1;
    model.coupling_count = 0;
    body[0].friction = wide(0.1);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    push(&sim);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    kept = sim;
    mdyn_body b = body[0];
    b.mass = b.inertia.xx = b.inertia.yy = b.inertia.zz = b.armature = b.friction = wide(0);
    b.upper = wide(1);
    refuse_body(MDYN_ERR_MASSLESS, 0, &b);
}

/* The same of a body in motion: the step after it extrapolates v as before, and damping keeps its
   weight, which was chosen in another pose. */
static void test_massless_in_motion(void) {
    make_model();
    model.body_count = 2;
    model.coupling_count = 0;
    body[0].joint = MDYN_FREE;
    body[0].armature = wide(0);
    body[0].damping = wide(0.3);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    for (int k = 0; k < 7; k++) {
        sim.v[k] = real(2 - 0.5 * k);
    }
    for (int s = 0; s < 50; s++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    kept = sim;
    mdyn_body b = body[1];
    b.mass = b.inertia.xx = b.inertia.yy = b.inertia.zz = b.armature = wide(0);
    refuse_body(MDYN_ERR_MASSLESS, 1, &b);
}

/* A point mass behind two hinges, whose M is singular where they are in a line with it; and two
   shafts of inertia 1, of which the second turns twice as fast. */
static void make_pose_singular(void) {
    make_model();
    model.body_count = 4;
    model.coupling_count = 1;
    coupling[0] = mimic_of(3, 2, 2, 0);
    memset(body, 0, sizeof body);
    for (int i = 0; i < 4; i++) {
        body[i].parent = i == 1 ? 0 : MDYN_WORLD;
        body[i].joint = MDYN_REVOLUTE;
        body[i].armature = wide(i > 1);
    }
    body[1].position.x = wide(1);
    body[1].com.y = wide(1);
    body[1].mass = wide(1);
    model.gravity = wide3(0, 0, 0);
}

/* Changes that are refused because M is singular in the pose at hand. In another pose all is as it
   was: the shafts have the inertia 1 + 4. */
static void test_singular_pose(void) {
    mdyn_solver solver;
    mdyn_body b;
    make_pose_singular();
    solver = model.solver;
    solver.scheme = MDYN_EXPLICIT;
    b = body[2];
    b.friction = wide(1);
    for (int n = 0; n < 3; n++) {
        mdyn_coupling c = mimic_of(3, 2, 3, 0);
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
        kept = sim;
        sim.q[1] = real(-1.5707963267948966);
        int code = n == 0 ? mdyn_set_coupling(&sim, 0, &c)
                 : n == 1 ? mdyn_set_body(&sim, 2, &b) : mdyn_set_solver(&sim, &solver);
        CHECK_EQUAL(code, n == 1 ? MDYN_ERR_MASSLESS : MDYN_ERR_SINGULAR);
        CHECK_EQUAL(sim.culprit.code, code);
        CHECK(of_real(sim.q[1]) < -1.57);
        CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
        sim.q[1] = 0;
        kept.tau[2] = sim.tau[2] = real(1);
        steps_agree(&sim, &kept, 4);
        CHECK_NEAR(of_real(sim.v[2]), 4 * of_wide(model.dt) / 5, 4 * check_epsilon);
        CHECK_NEAR(of_real(sim.v[3]), 8 * of_wide(model.dt) / 5, 4 * check_epsilon);
    }
}

/* A user's v that a tie does not allow, given right before a call that is refused once it has
   planned: the step still shares the momentum of shaft 2 with shaft 3, which turns twice as
   fast. */
static void test_refused_at_new_velocity(void) {
    mdyn_body b;
    mdyn_coupling c = mimic_of(3, 2, 3, 0);
    mdyn_solver solver;
    make_pose_singular();
    solver = model.solver;
    solver.scheme = MDYN_EXPLICIT;
    for (int n = 0; n < 5; n++) {
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        kept = sim;
        sim.v[2] = kept.v[2] = real(1);
        if (n > 1) {
            sim.q[1] = real(-1.5707963267948966);
        }
        b = body[n == 1 ? 3 : 2];
        b.friction = wide(1);
        b.armature = wide(n > 1);
        int code = n < 3 ? mdyn_set_body(&sim, n == 1 ? 3 : 2, &b)
                 : n == 3 ? mdyn_set_coupling(&sim, 0, &c) : mdyn_set_solver(&sim, &solver);
        CHECK_EQUAL(code, n < 3 ? MDYN_ERR_MASSLESS : MDYN_ERR_SINGULAR);
        sim.q[1] = 0;
        steps_agree(&sim, &kept, 2);
        CHECK_NEAR(of_real(sim.v[2]), 0.2, 4 * check_epsilon);
        CHECK_NEAR(of_real(sim.v[3]), 0.4, 4 * check_epsilon);
    }
}

/* More rows than MDYN_DANTZIG holds, 16: a drive, friction and a limit of five joints, the coupling
   and its loss. The last body's are refused after the plan has failed, and all is as before. */
static void test_capacity(void) {
    make_model();
    model.solver.method = MDYN_DANTZIG;
    coupling[0].efficiency = wide(0.9);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    push(&sim);
    for (int i = 0; i < 5; i++) {
        mdyn_body b = body[i];
        b.friction = b.drive_kp = wide(1);
        b.effort = wide(5);
        b.upper = wide(2);
        if (i < 4) {
            CHECK_EQUAL(mdyn_set_body(&sim, i, &b), MDYN_OK);
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        } else {
            kept = sim;
            refuse_body(MDYN_ERR_CAPACITY_DANTZIG, i, &b);
        }
    }
}

/* ---- numbers of the model ---- */

static void test_model_numbers(void) {
    static const mdyn_solver settings[] = {
        { MDYN_TGS, MDYN_EXACT, MDYN_WARM, 0, 0, 0, 0, MDYN_CORRECTION_DEFAULT, 3,
          MDYN_SPECULATIVE, 0, MDYN_PYRAMID, MDYN_MIDPOINT, 0, MDYN_EVERY_STEP },
        { MDYN_DANTZIG, MDYN_EXACT, MDYN_WARM, 0, 0, 0, 0, MDYN_RELAX, 0,
          MDYN_ENGAGED, 0, MDYN_PYRAMID, MDYN_MIDPOINT, 0, MDYN_EVERY_STEP },
        { MDYN_PGS, MDYN_ITERATED, MDYN_COLD, 7, 0, 0, 0, MDYN_BAUMGARTE, 0,
          MDYN_SPECULATIVE, 0, MDYN_PYRAMID, MDYN_EXPLICIT, 0, MDYN_EVERY_STEP }
    };
    for (int n = 0; n < 5; n++) {
        make_model();
        vary(1);
        model.solver.method = MDYN_PGS;
        CHECK(mdyn_init(&sim, &model) >= 0);
        push(&sim);
        for (int s = 0; s < 10; s++) {
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        }
        if (n == 0) {
            model.gravity = wide3(1, 2, 3);
            CHECK_EQUAL(mdyn_set_gravity(&sim, &model.gravity), MDYN_OK);
        } else if (n == 1) {
            model.dt = wide(0x1.8p-9);
            CHECK_EQUAL(mdyn_set_dt(&sim, model.dt), MDYN_OK);
        } else {
            model.solver = settings[n - 2];
            CHECK_EQUAL(mdyn_set_solver(&sim, &model.solver), MDYN_OK);
        }
        CHECK_EQUAL(mdyn_verify(&sim), MDYN_ERR_TABLES); /* the model was edited as well */
        CHECK_EQUAL(sim.culprit.index, -1);
        CHECK(mdyn_init(&fresh, &model) >= 0);
        match(&sim, &fresh);
        steps_agree(&sim, &fresh, 20);
    }
}

/* Forces of the last step do not change with dt, and a shorter step begins warm. */
static void test_dt_keeps_forces(void) {
    mdyn_row_report r;
    mdyn_wide force, after;
    make_model();
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 0, &force), MDYN_OK);
    CHECK_EQUAL(mdyn_set_dt(&sim, wide(0x1p-12)), MDYN_OK);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 0, &after), MDYN_OK);
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &r), MDYN_OK);
    CHECK(fabs(of_wide(force)) > 1);
    CHECK_NEAR(of_wide(after), of_wide(force), 4 * check_epsilon * fabs(of_wide(force)));
}

static void test_model_refusals(void) {
    mdyn_wide3 g = wide3(0, 0, 0);
    mdyn_wide bad;
    mdyn_solver s;
    make_model();
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    push(&sim);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    kept = sim;
    for (int i = 0; i < CHECK_BAD_WIDES; i++) {
        bad_wide(&g.y, i);
        CHECK_EQUAL(mdyn_set_gravity(&sim, &g), MDYN_ERR_NOT_FINITE);
        bad_wide(&bad, i);
        CHECK_EQUAL(mdyn_set_dt(&sim, bad), MDYN_ERR_DT);
    }
    CHECK_EQUAL(mdyn_set_dt(&sim, wide(0)), MDYN_ERR_DT);
    CHECK_EQUAL(mdyn_set_dt(&sim, wide(-0.001)), MDYN_ERR_DT);
    CHECK_EQUAL(mdyn_set_dt(&sim, wide(1.5)), MDYN_ERR_DT);
    memset(&s, 0, sizeof s);
    s.relaxation = wide(2);
    CHECK_EQUAL(mdyn_set_solver(&sim, &s), MDYN_ERR_SOLVER);
    CHECK_EQUAL(mdyn_set_solver(&sim, NULL), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_set_gravity(&sim, NULL), MDYN_ERR_NULL);
    kept.culprit = sim.culprit;
    steps_agree(&sim, &kept, 3);
    sim.v[0] = real((double)NAN);
    mdyn_row_report r;
    CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_STATE);
    CHECK_EQUAL(mdyn_set_body(&sim, 0, &body[0]), MDYN_ERR_STATE);
    CHECK_EQUAL(mdyn_set_dt(&sim, wide(0.001)), MDYN_ERR_STATE);
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &r), MDYN_ERR_STATE);
}

/* ---- edits in place ---- */

/* Every byte of the bodies' and couplings' tables and of the model, one after the other: no effect
   on steps and queries, and told. */
static void test_edits(void) {
    struct {
        char *at;
        size_t size;
    } parts[4];
    static char saved[MDYN_SAVED_SIZE];
    parts[0].at = (char *)body;
    parts[0].size = 5 * sizeof *body;
    parts[1].at = (char *)coupling;
    parts[1].size = sizeof *coupling;
    parts[2].at = (char *)&model;
    parts[2].size = sizeof model;
    make_model();
    vary(1);
    body[1].axis = wide3(0, 1, 0); /* that of an oblique joint is read by queries */
    CHECK(mdyn_init(&sim, &model) >= 0);
    push(&sim);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    fresh = kept = sim;
    steps_agree(&fresh, &kept, 2);
    for (int p = 0; p < 3; p++) {
        for (size_t k = 0; k < parts[p].size; k++) {
            mdyn_sim s = sim;
            mdyn_real3 x, y;
            mdyn_real4 r;
            char before = parts[p].at[k];
            parts[p].at[k] = (char)(before ^ (1 << k % 8));
            CHECK_EQUAL(mdyn_save(&s, saved, (int32_t)sizeof saved), MDYN_ERR_TABLES);
            CHECK_EQUAL(mdyn_verify(&s), MDYN_ERR_TABLES);
            CHECK_EQUAL(s.culprit.index, p == 0 ? (int)(k / sizeof *body) : -1);
            CHECK_EQUAL(mdyn_step(&s), MDYN_OK);
            CHECK_EQUAL(mdyn_step(&s), MDYN_OK);
            CHECK(memcmp(s.q, kept.q, sizeof s.q) == 0 && memcmp(s.v, kept.v, sizeof s.v) == 0);
            CHECK_EQUAL(mdyn_pose(&s, 4, &x, &r), MDYN_OK);
            parts[p].at[k] = before;
            CHECK_EQUAL(mdyn_pose(&kept, 4, &y, &r), MDYN_OK);
            CHECK(memcmp(&x, &y, sizeof x) == 0);
        }
    }
    CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
}

/* A closure and a user row are read in each step: what an edit makes of them is done or refused. */
static void test_closure_edits(void) {
    make_model();
    memset(closure, 0, sizeof closure);
    memset(user_row, 0, sizeof user_row);
    closure[0].kind = MDYN_CLOSE_POINT;
    closure[0].a = 2;
    closure[0].b = 4;
    closure[0].softness.kind = MDYN_KP_KD;
    closure[0].softness.a = closure[0].softness.b = wide(10);
    user_row[0].terms[0].body = 1;
    user_row[0].terms[0].angular.x = wide(1);
    for (int k = 1; k < MIMICDYN_MAX_TERMS; k++) {
        user_row[0].terms[k].body = MDYN_WORLD;
    }
    user_row[0].force_min = wide(-1);
    user_row[0].force_max = wide(1);
    model.closures = closure;
    model.closure_count = 1;
    model.user_rows = user_row;
    model.user_row_count = 1;
    CHECK(mdyn_init(&sim, &model) >= 0);
    push(&sim);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    const mdyn_closure good = closure[0];
    const mdyn_user_row good_row = user_row[0];
    const mdyn_model good_model = model;
#define EDIT(edit, code) \
    do { \
        mdyn_sim s = sim; \
        char text[200]; \
        mdyn_coupling c = coupling[0]; \
        edit; \
        CHECK_EQUAL(mdyn_step(&s), code); \
        CHECK_EQUAL(mdyn_verify(&s), MDYN_ERR_TABLES); \
        mdyn_explain(&s, MDYN_ROW_CLOSURE, 0, text, (int)sizeof text); \
        CHECK(mdyn_project(&s, MDYN_MASS_METRIC) == code || code == MDYN_ERR_USER_ROW || !code); \
        c.offset = wide(0.2); \
        CHECK(mdyn_set_coupling(&s, 0, &c) >= 0); \
        closure[0] = good; \
        user_row[0] = good_row; \
        model = good_model; \
        CHECK_EQUAL(mdyn_step(&s), MDYN_OK); \
    } while (0)
    EDIT(closure[0].kind = MDYN_CLOSE_WELD, MDYN_ERR_CLOSURE);
    EDIT(closure[0].kind = MDYN_CLOSE_HINGE, MDYN_ERR_CLOSURE);
    EDIT(closure[0].kind = MDYN_CLOSE_DISTANCE, MDYN_ERR_CLOSURE);
    EDIT(closure[0].kind = (mdyn_closure_kind)77, MDYN_ERR_CLOSURE);
    EDIT(closure[0].a = 99, MDYN_ERR_CLOSURE);
    EDIT(closure[0].a = -7, MDYN_ERR_CLOSURE);
    EDIT(closure[0].b = 30000, MDYN_ERR_CLOSURE);
    EDIT(closure[0].effort = wide(-1), MDYN_ERR_NEGATIVE);
    EDIT(bad_wide(&closure[0].point_a.x, 0), MDYN_ERR_NOT_FINITE);
    EDIT(closure[0].softness.kind = (mdyn_softness_kind)9, MDYN_ERR_SOFTNESS);
    EDIT(closure[0].effort = wide(3), MDYN_OK);
    EDIT(user_row[0].terms[0].body = 77, MDYN_ERR_USER_ROW);
    EDIT(user_row[0].mu_of = 77; user_row[0].mu = wide(1), MDYN_ERR_USER_ROW);
    EDIT(model.closure_count = 6, MDYN_OK);
    EDIT(model.user_row_count = 30, MDYN_OK);
    EDIT(model.closures = NULL, MDYN_OK);
    EDIT(model.bodies = NULL, MDYN_OK);
    EDIT(model.couplings = NULL, MDYN_OK);
    EDIT(model.user_rows = NULL, MDYN_OK);
    EDIT(model.dt = wide(1), MDYN_OK);
#undef EDIT
}

static int all_finite(const mdyn_sim *s) {
    for (int k = 0; k < 5; k++) {
        if (!(fabs(of_real(s->q[k])) < 8388608 && fabs(of_real(s->v[k])) < 8388608)) {
            return 0;
        }
    }
    return 1;
}

/* The joint of a body whose axis is not x, y or z, edited to one that has no axis: queries go on
   with the frame of its axis, and its child can be replaced. */
static void test_edited_joint(void) {
    mdyn_real3 before, after, point;
    point.x = point.y = point.z = real(0.5);
    make_model();
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    push(&sim);
    CHECK_EQUAL(mdyn_point(&sim, 1, &point, &before), MDYN_OK);
    body[1].joint = MDYN_FIXED;
    CHECK_EQUAL(mdyn_point(&sim, 1, &point, &after), MDYN_OK);
    CHECK(memcmp(&before, &after, sizeof before) == 0);
    CHECK_EQUAL(mdyn_set_body(&sim, 2, &body[2]), MDYN_OK);
}

/* Every byte of a closure, of a user row and of an axis that is not x, y or z, which calls read
   from the tables: told, numbers stay finite, and a step that refuses it leaves the state. What is
   read elsewhere the sanitizers tell. */
static void test_every_byte(void) {
    struct {
        void *at;
        size_t size;
    } parts[] = {
        { closure, sizeof *closure }, { user_row, sizeof *user_row },
        { &body[1].axis, sizeof body[1].axis }
    };
    test_closure_edits(); /* leaves that mechanism, whose second axis is oblique */
    CHECK(mdyn_init(&sim, &model) >= 0);
    push(&sim);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    for (int p = 0; p < 3; p++) {
        for (size_t k = 0; k < 8 * parts[p].size; k++) {
            unsigned char *byte = (unsigned char *)parts[p].at + k / 8;
            mdyn_wide numbers[30];
            mdyn_real3 x;
            mdyn_real4 r;
            fresh = sim;
            *byte ^= (unsigned char)(1 << k % 8);
            CHECK_EQUAL(mdyn_verify(&fresh), MDYN_ERR_TABLES);
            CHECK_EQUAL(fresh.culprit.index, p == 2 ? 1 : -1);
            int code = mdyn_step(&fresh);
            /* of a spring with an arm of 2^15 m nothing is left of one row beside the others; the
               loop is far open for rows of another kind, which are hard */
            const int is_open = p == 0
                && ((k / 8 >= offsetof(mdyn_closure, point_a)
                     && k / 8 < offsetof(mdyn_closure, point_a) + sizeof closure->point_a)
                    || k / 8 == offsetof(mdyn_closure, softness.kind));
            CHECK(code == MDYN_OK || code == MDYN_WARN_DIGITS
                          || (is_open && code == MDYN_WARN_NOT_CONVERGED)
                      ? all_finite(&fresh)
                      : code < 0 && memcmp(fresh.q, sim.q, sizeof sim.q) == 0);
            CHECK_EQUAL(mdyn_pose(&fresh, 2, &x, &r), MDYN_OK);
            CHECK(fabs(of_real(r.w)) <= 1.001 && fabs(of_real(x.x)) < 10);
            CHECK(mdyn_jacobian(&fresh, 2, NULL, numbers) == MDYN_OK);
            mdyn_constrained_dynamics(&fresh, numbers);
            mdyn_project(&fresh, MDYN_MASS_METRIC);
            CHECK(all_finite(&fresh));
            *byte ^= (unsigned char)(1 << k % 8);
        }
    }
    CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
}

/* ---- calls from inside a call ---- */

enum { REFUSED = 18 };
static int callbacks, codes_inside[REFUSED];

static void meddle(mdyn_sim *s, int index, mdyn_user_row *row, void *user) {
    mdyn_wide3 g = wide3(0, 0, 1);
    mdyn_wide m[144];
    mdyn_real3 p, w;
    mdyn_real4 r;
    int n = 0;
    (void)index;
    (void)row;
    (void)user;
    callbacks++;
    codes_inside[n++] = mdyn_step(s);
    codes_inside[n++] = mdyn_init(s, &model);
    codes_inside[n++] = mdyn_reset(s);
    codes_inside[n++] = mdyn_project(s, MDYN_MASS_METRIC);
    codes_inside[n++] = mdyn_set_coupling(s, 0, &coupling[0]);
    codes_inside[n++] = mdyn_engage(s, 0, 0);
    codes_inside[n++] = mdyn_set_body(s, 0, &body[0]);
    codes_inside[n++] = mdyn_set_gravity(s, &g);
    codes_inside[n++] = mdyn_set_dt(s, wide(0.01));
    codes_inside[n++] = mdyn_set_solver(s, &model.solver);
    codes_inside[n++] = mdyn_set_contacts(s, NULL, 0);
    codes_inside[n++] = mdyn_mass_matrix(s, m);
    codes_inside[n++] = mdyn_verify(s);
    codes_inside[n++] = mdyn_set_q(s, 0, 0, real(1));
    codes_inside[n++] = mdyn_set_v(s, 0, 0, real(1));
    codes_inside[n++] = mdyn_set_tau(s, 0, 0, real(1));
    codes_inside[n++] = mdyn_set_target(s, 0, real(1));
    codes_inside[n++] = mdyn_set_target_velocity(s, 0, real(1));
    CHECK_EQUAL(n, REFUSED);
    CHECK(mdyn_q(s, 1, 0) == s->q[1] && mdyn_v(s, 1, 0) == s->v[1]);
    CHECK_EQUAL(mdyn_pose(s, 2, &p, &r), MDYN_OK);
    CHECK_EQUAL(mdyn_velocity(s, 2, NULL, &p, &w), MDYN_OK);
    CHECK_EQUAL(mdyn_dofs(s), 5);
}

static void look_only(mdyn_sim *s, int index, mdyn_user_row *row, void *user) {
    (void)s;
    (void)index;
    (void)row;
    (void)user;
}

static void test_reentry(void) {
    static mdyn_model other;
    test_closure_edits(); /* leaves that mechanism */
    model.user_rows = user_row;
    model.row_function = meddle;
    other = model;
    other.row_function = look_only;
    CHECK(mdyn_init(&sim, &model) >= 0);
    CHECK(mdyn_init(&fresh, &other) >= 0);
    push(&sim);
    push(&fresh);
    steps_agree(&sim, &fresh, 5);
    CHECK(callbacks >= 5);
    for (int n = 0; n < REFUSED; n++) {
        CHECK_EQUAL(codes_inside[n], MDYN_ERR_BUSY);
    }
    CHECK_EQUAL(sim.culprit.code, fresh.culprit.code);
    CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
}

/* ---- couplings ---- */

static void test_replaced_force(void) {
    mdyn_wide f;
    mdyn_row_report r;
    make_model();
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 0, &f), MDYN_OK);
    mdyn_coupling c = coupling[0];
    c.offset = wide(0.2);
    CHECK_EQUAL(mdyn_set_coupling(&sim, 0, &c), MDYN_OK);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 0, &f), MDYN_OK); /* its force is still its own */
    c.terms[1].coefficient = wide(-3);
    CHECK_EQUAL(mdyn_set_coupling(&sim, 0, &c), MDYN_OK);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 0, &f), MDYN_ERR_REPLACED);
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &r), MDYN_ERR_REPLACED);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 0, &f), MDYN_OK);

    /* a released one takes no part in the next step */
    c.terms[1].coefficient = wide(-2);
    CHECK_EQUAL(mdyn_set_coupling(&sim, 0, &c), MDYN_OK);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 0, &f), MDYN_ERR_REPLACED);
    CHECK_EQUAL(mdyn_engage(&sim, 0, MDYN_RELEASE), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 0, &f), MDYN_OK);
    CHECK(of_wide(f) == 0);
}

/* The impulse of a coupling is no warm start of what replaces it: here it would be of the order of
   200 N s of a range that bears nothing, beside which friction of 1e-6 N m s must count. */
static void test_replaced_impulse(void) {
    static mdyn_body rotor[3];
    memset(rotor, 0, sizeof rotor);
    for (int i = 0; i < 3; i++) {
        rotor[i].parent = MDYN_WORLD;
        rotor[i].joint = MDYN_REVOLUTE;
        rotor[i].axis.z = wide(1);
        rotor[i].armature = wide(1);
    }
    rotor[2].friction = wide(1e-3);
    coupling[0] = mimic_of(0, 1, 1, 0);
    coupling[0].effort = wide(1e6);
    memset(&model, 0, sizeof model);
    model.bodies = rotor;
    model.body_count = 3;
    model.couplings = coupling;
    model.coupling_count = 1;
    model.dt = wide(0.001);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    sim.tau[0] = real(2e5);
    sim.tau[1] = real(-2e5);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);

    mdyn_coupling range = coupling[0];
    range.terms[0].coefficient = wide(1000);
    range.terms[1].coefficient = wide(-1000);
    range.lower = wide(-1);
    range.upper = wide(1);
    range.softness.kind = MDYN_KP_KD;
    range.softness.a = wide(1);
    range.softness.b = wide(1e-3);
    CHECK_EQUAL(mdyn_set_coupling(&sim, 0, &range), MDYN_OK);
    sim.tau[0] = sim.tau[1] = 0;
    sim.v[2] = real(0.5);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_NEAR((0.5 - of_real(sim.v[2])) * 1e6, 1, MDYN_SCALAR == MDYN_SCALAR_F32 ? 0.1 : 1e-3);
}

/* An engaged range that becomes an equality has no bound any more to be at. */
static void test_replaced_range(void) {
    mdyn_row_report r;
    make_model();
    model.solver.limits = MDYN_ENGAGED;
    coupling[0].lower = wide(-0.1);
    coupling[0].upper = wide(0.1);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    push(&sim);
    sim.q[4] = real(0);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &r), MDYN_OK);
    CHECK_EQUAL(r.flags, MDYN_ROW_AT_LOWER);
    coupling[0] = mimic_of(4, 2, 0.5, 0);
    coupling[0].softness.kind = MDYN_ERP_CFM;
    coupling[0].softness.a = wide(0.2);
    CHECK_EQUAL(mdyn_set_coupling(&sim, 0, &coupling[0]), MDYN_OK);
    CHECK_EQUAL(mdyn_reset(&sim), MDYN_OK);
    CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &r), MDYN_OK);
    CHECK_EQUAL(r.flags, 0);
    CHECK_EQUAL(sim.culprit.sticky, 0);
}

/* Of two sliders that a mimic ties, a second coupling of the same ratio moves nothing. With another
   ratio it holds them, as long as its effort suffices, or is a spring, as if it had been there from
   the start. */
static void test_ratio_of_tied_joints(void) {
    for (int is_spring = 0; is_spring < 2; is_spring++) {
        make_model();
        for (int i = 0; i < 2; i++) {
            body[i].parent = MDYN_WORLD;
            body[i].joint = MDYN_PRISMATIC;
        }
        coupling[0] = coupling[1] = mimic_of(1, 0, 2, 0);
        coupling[1].effort = wide(5);
        if (is_spring) {
            coupling[1].effort = wide(0);
            coupling[1].softness.kind = MDYN_KP_KD;
            coupling[1].softness.a = wide(100);
            coupling[1].softness.b = wide(10);
        }
        model.body_count = model.coupling_count = 2;
        model.gravity = wide3(0, 0, 0);
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
        coupling[1].terms[1].coefficient = wide(-1);
        CHECK_EQUAL(mdyn_set_coupling(&sim, 1, &coupling[1]), MDYN_OK);
        CHECK_EQUAL(mdyn_init(&fresh, &model), MDYN_OK);
        sim.tau[0] = real(3);
        match(&sim, &fresh);
        for (int n = 0; n < 100; n++) {
            CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
            CHECK_EQUAL(mdyn_step(&fresh), MDYN_OK);
            CHECK(memcmp(sim.v, fresh.v, sizeof sim.v) == 0);
            if (!is_spring) {
                CHECK_NEAR(of_real(sim.v[0]), 0, 1e-12);
            }
        }
    }
}

/* ---- forces on request ---- */

static mdyn_wide result[64];
static mdyn_real3 vector[2];
static mdyn_wide3 wide_vector[2];

/* A call that may overwrite what the force of the last step follows from; its code, -1: no more. */
static int call_any(int n) {
    static char text[1000];
    const mdyn_real3 *tip = NULL;
    mdyn_solver solver = model.solver;
    mdyn_real4 rotation;
    int32_t turns;
    switch (n) {
    case 0: return mdyn_set_coupling(&sim, 0, &coupling[0]);
    case 1: return mdyn_set_coupling_target(&sim, 0, real(0.1), real(0));
    case 2: return mdyn_engage(&sim, 0, MDYN_ENGAGE_HERE);
    case 3: return mdyn_set_body(&sim, 0, &body[0]);
    case 4: return mdyn_settle(&sim);
    case 5: return mdyn_rebase(&sim, 0, &turns);
    case 6: return mdyn_set_gravity(&sim, &model.gravity);
    case 7: return mdyn_set_dt(&sim, wide(0x1p-9));
    case 8: return mdyn_set_solver(&sim, &solver);
    case 9: return mdyn_project(&sim, MDYN_FOLLOWERS);
    case 10: return mdyn_project(&sim, MDYN_MASS_METRIC);
    case 11: return mdyn_reset(&sim);
    case 12: return mdyn_set_contacts(&sim, NULL, 0);
    case 13: return mdyn_range(&sim, 0, &result[0], &result[1]);
    case 14: return mdyn_explain_body(&sim, 0, text, sizeof text);
    case 15: return mdyn_forward_dynamics(&sim, result);
    case 16: return mdyn_constrained_dynamics(&sim, result);
    case 17: return mdyn_stabilized_dynamics(&sim, wide(0.1), result);
    case 18: return mdyn_expand_velocity(&sim, result + 32, result);
    case 19: return mdyn_expand_acceleration(&sim, result + 32, result);
    case 20: return mdyn_reduced_force(&sim, result + 32, result);
    case 21: return mdyn_reduced_mass_matrix(&sim, result);
    case 22: return mdyn_reduced_bias_force(&sim, result);
    case 23: return mdyn_reduced_inverse_dynamics(&sim, result + 32, result);
    case 24: return mdyn_pose(&sim, 0, &vector[0], &rotation);
    case 25: return mdyn_velocity(&sim, 0, tip, &vector[0], &vector[1]);
    case 26: return mdyn_acceleration(&sim, 0, tip, result + 32, &wide_vector[0], &wide_vector[1]);
    case 27: return mdyn_jacobian(&sim, 0, tip, result);
    case 28: return mdyn_mass_matrix(&sim, result);
    case 29: return mdyn_bias_force(&sim, result);
    case 30: return mdyn_inverse_dynamics(&sim, result + 32, result);
    case 31: return mdyn_center_of_mass(&sim, 0, &result[0], &vector[0]);
    case 32: return mdyn_impulse_response(&sim, 0, 1, result);
    case 33: return mdyn_inverse_mass_column(&sim, 0, result);
    case 34: return mdyn_energy(&sim, &result[0], &result[1]);
    case 35: coupling[0].softness = (mdyn_softness)MDYN_HARD(0.2);
             return mdyn_set_coupling(&sim, 0, &coupling[0]);
    default: return -1;
    }
}

/* A step of sim with MDYN_ON_REQUEST, and of fresh without. */
static void step_both(void) {
    CHECK(mdyn_init(&fresh, &model) >= 0);
    model.solver.forces = MDYN_ON_REQUEST;
    CHECK(mdyn_init(&sim, &model) >= 0);
    push(&sim);
    push(&fresh);
    CHECK_EQUAL(mdyn_step(&fresh), mdyn_step(&sim));
}

/* The code of both calls that give the force; if it is known, it is that of fresh. */
static int force_code(void) {
    mdyn_wide f, want;
    mdyn_row_report r, wanted;
    const int code = mdyn_coupling_force(&sim, 0, 0, &f);
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &r), code);
    CHECK_EQUAL(mdyn_coupling_force(&fresh, 0, 0, &want), MDYN_OK);
    CHECK_EQUAL(mdyn_report_row(&fresh, MDYN_ROW_COUPLING, 0, &wanted), MDYN_OK);
    if (code == MDYN_OK) {
        CHECK(mdyn_compare(f, want) == 0 && mdyn_compare(r.impulse, wanted.impulse) == 0);
        CHECK(of_wide(f) != 0);
    }
    return code;
}

/* The force of an eliminated coupling that is asked for too late is an error, not another force;
   calls that only read, or store a number, leave time. */
static void test_late_force(void) {
    static unsigned char bytes[MDYN_SAVED_SIZE];
    char text[400];
    int n = 0;
    for (;; n++) {
        make_model();
        step_both();
        CHECK_EQUAL(force_code(), MDYN_OK);
        if (call_any(n) < 0) {
            break;
        }
        if (n == 11) { /* a reset sets it to 0 */
            CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 0, &result[0]), MDYN_OK);
            CHECK(of_wide(result[0]) == 0);
        } else {
            CHECK_EQUAL(force_code(), MDYN_ERR_REPLACED);
        }
        CHECK(mdyn_step(&sim) >= 0);
        CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 0, &result[0]), MDYN_OK);
    }
    CHECK_EQUAL(n, 36);

    /* released: lost, and none in the next step */
    make_model();
    step_both();
    CHECK_EQUAL(mdyn_engage(&sim, 0, MDYN_RELEASE), MDYN_OK);
    CHECK_EQUAL(force_code(), MDYN_ERR_REPLACED);
    CHECK(mdyn_step(&sim) >= 0);
    CHECK_EQUAL(mdyn_coupling_force(&sim, 0, 0, &result[0]), MDYN_OK);
    CHECK(of_wide(result[0]) == 0);

    make_model();
    step_both();
    /* a step that is refused at its start, or after it has found other forces */
    sim.v[0] = real(1e7);
    CHECK(mdyn_step(&sim) < 0);
    CHECK_EQUAL(force_code(), MDYN_ERR_REPLACED);

    make_model();
    step_both();
    CHECK_EQUAL(mdyn_set_q(&sim, 0, 0, real(0.7)), MDYN_OK);
    CHECK_EQUAL(mdyn_set_v(&sim, 1, 0, real(0.7)), MDYN_OK);
    CHECK_EQUAL(mdyn_set_tau(&sim, 2, 0, real(7)), MDYN_OK);
    CHECK_EQUAL(mdyn_explain(&sim, MDYN_ROW_COUPLING, 0, text, sizeof text), MDYN_OK);
    CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
    CHECK_EQUAL(force_code(), MDYN_OK);
    CHECK_EQUAL(mdyn_save(&sim, bytes, sizeof bytes), MDYN_OK);
    CHECK_EQUAL(mdyn_mass_matrix(&sim, result), MDYN_OK);
    CHECK_EQUAL(force_code(), MDYN_ERR_REPLACED);
    CHECK_EQUAL(mdyn_restore(&sim, &model, bytes, sizeof bytes), MDYN_OK);
    CHECK_EQUAL(force_code(), MDYN_OK);
}

/* Steps with rows on bodies work the forces out: after other calls they are still known. */
static void test_force_beside_closure(void) {
    mdyn_real4 rotation;
    make_model();
    model.closures = closure;
    model.closure_count = 1;
    step_both();
    CHECK(sim.tie_count == 1 && sim.rows > sim.joint_row_count);
    CHECK_EQUAL(force_code(), MDYN_OK);
    CHECK_EQUAL(mdyn_pose(&sim, 0, &vector[0], &rotation), MDYN_OK);
    CHECK_EQUAL(force_code(), MDYN_OK);
}

/* Engaged where it is, or where it was. */
static void test_engage(void) {
    make_model();
    for (int n = 0; n < 2; n++) {
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
        CHECK_EQUAL(mdyn_engage(&sim, 0, MDYN_RELEASE), MDYN_OK);
        sim.q[4] = real(0.6);
        CHECK_EQUAL(mdyn_engage(&sim, 0, n ? MDYN_ENGAGE_OFFSET : MDYN_ENGAGE_HERE), MDYN_OK);
        CHECK_EQUAL(mdyn_project(&sim, MDYN_FOLLOWERS), MDYN_OK);
        CHECK_NEAR(of_real(sim.q[4]), n ? 0.0 : 0.6, 4 * check_epsilon);
    }
    CHECK_EQUAL(mdyn_engage(&sim, 0, 3), MDYN_ERR_INDEX);
}

/* ---- whole turns ---- */

/* q with its tail. */
static long double whole(int c) {
#if MDYN_SCALAR == MDYN_SCALAR_FIXED
    return ldexpl((long double)sim.q[c], -40) + ldexpl((long double)sim.q_tail[c], -64);
#else
    return (long double)sim.q[c] + (long double)sim.q_tail[c];
#endif
}

static long double wide_to_long(mdyn_wide x) {
#if MDYN_SCALAR == MDYN_SCALAR_FIXED
    int e = (int)(x & 255);
    return ldexpl((long double)(x >> 8), e < 128 ? e : e - 256);
#else
    return (long double)x;
#endif
}

/* C of the pair of wheels, from the sim's own numbers. */
static long double pair_error(void) {
    const md_coupling_values *c = &sim.coupling[0];
    return wide_to_long(c->offset) + wide_to_long(sim.offset_rest[0])
           + 22 * whole(0) + 7 * whole(1);
}

/* Two wheels, 22:7, at 1000 rad/s with steps of half a second, rebased as a spindle would be: 2^24
   rad and more, and the teeth stay where they are. */
static void test_turns(void) {
    int32_t turns;
    double sum[2] = { 0, 0 };
    long double worst = 0;
    const long double turn = 6.283185307179586476925286766559L;
    make_model();
    model.body_count = 2;
    body[0].parent = body[1].parent = MDYN_WORLD;
    body[1].axis = wide3(0, 1, 0);
    body[0].com = body[1].com = wide3(0, 0, 0);
    memset(&coupling[0], 0, sizeof coupling[0]);
    coupling[0].terms[0].body = 0;
    coupling[0].terms[0].coefficient = wide(22);
    coupling[0].terms[1].body = 1;
    coupling[0].terms[1].coefficient = wide(7);
    model.dt = wide(0.5);
    CHECK(mdyn_init(&sim, &model) >= 0);
    sim.v[0] = real(350);
    sim.v[1] = real(-1100);
    for (int n = 0; n < 40000; n++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        if (n % 100 == 57) {
            for (int i = 0; i < 2; i++) {
                long double before = whole(i), C = pair_error();
                CHECK_EQUAL(mdyn_rebase(&sim, i, &turns), MDYN_OK);
                sum[i] += turns;
                CHECK_NEAR((double)(before - whole(i) - turns * turn), 0.0,
                           BY_SCALAR(2e-11, 2e-8, 1e-13));
                CHECK_NEAR((double)(pair_error() - C), 0.0, BY_SCALAR(2e-13, 2e-8, 2e-13));
                CHECK(fabs(of_real(sim.q[i])) < 3.15);
                CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
            }
            worst = fmaxl(worst, fabsl(pair_error()));
        }
    }
    CHECK(sum[1] * -6.28 > 16777216);
    /* from any number of turns at once */
    for (int n = 0; n < 500; n++) {
        const long double from = (long double)of_real(sim.q[0] = real(random_in(-8e6, 8e6)));
        CHECK_EQUAL(mdyn_rebase(&sim, 0, &turns), MDYN_OK);
        CHECK(fabs(of_real(sim.q[0])) <= 3.141592653589793 + BY_SCALAR(2e-15, 1e-6, 1e-8));
        CHECK_NEAR((double)(from - whole(0) - turns * turn), 0.0, BY_SCALAR(2e-9, 2e-7, 2e-9));
    }
    CHECK((double)worst < BY_SCALAR(1e-10, 2e-3, 1e-8));
    CHECK_NOTE("C after %g turns: %Lg\n", sum[1], worst);
    CHECK_EQUAL(mdyn_rebase(&sim, 2, &turns), MDYN_ERR_INDEX);
    CHECK_EQUAL(mdyn_rebase(&sim, 0, NULL), MDYN_ERR_NULL);
    mdyn_body b = body[0];
    b.upper = wide(10);
    CHECK(mdyn_set_body(&sim, 0, &b) >= 0);
    CHECK_EQUAL(mdyn_rebase(&sim, 0, &turns), MDYN_ERR_LIMITS);
    make_model();
    CHECK(mdyn_init(&sim, &model) >= 0);
    CHECK_EQUAL(mdyn_rebase(&sim, 3, &turns), MDYN_ERR_JOINT);
}

/* ---- start ---- */

/* Whether limits and couplings hold, by the model's own numbers. */
static void check_settled(double allowed) {
    for (int i = 0; i < model.body_count; i++) {
        double lower = of_wide(body[i].lower), upper = of_wide(body[i].upper);
        double q = of_real(sim.q[i]);
        if (lower != 0 || upper != 0) {
            CHECK(q >= lower - allowed && q <= upper + allowed);
            CHECK(q > lower || of_real(sim.v[i]) >= -allowed);
            CHECK(q < upper || of_real(sim.v[i]) <= allowed);
        }
    }
    for (int i = 0; i < model.coupling_count; i++) {
        double C = of_wide(coupling[i].offset), rate = 0;
        for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
            double f = of_wide(coupling[i].terms[k].coefficient);
            C += f * of_real(sim.q[coupling[i].terms[k].body]);
            rate += f * of_real(sim.v[coupling[i].terms[k].body]);
        }
        CHECK_NEAR(C, 0.0, allowed);
        CHECK_NEAR(rate, 0.0, allowed);
    }
}

static void test_start(void) {
    static mdyn_real start[5];
    mdyn_wide kinetic, potential, before;
    make_model();
    body[1].lower = wide(-3); /* as of a joint that is never at 0 */
    body[1].upper = wide(-0.07);
    for (int given = 0; given < 2; given++) { /* q = 0, by default or as model.start */
        model.start = given ? start : NULL;
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_WARN_START);
        CHECK_EQUAL(sim.culprit.index, 1);
    }
    CHECK_EQUAL(mdyn_settle(&sim), MDYN_OK);
    check_settled(4 * check_epsilon);
    CHECK_NEAR(of_real(sim.q[1]), -0.07, 4 * check_epsilon);
    CHECK_EQUAL(mdyn_energy(&sim, &kinetic, &before), MDYN_OK);
    for (int s = 0; s < 10; s++) {
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    CHECK_EQUAL(mdyn_energy(&sim, &kinetic, &potential), MDYN_OK);
    CHECK_NEAR(of_wide(kinetic) + of_wide(potential), of_wide(before), 1e-3); /* no kick */
    start[1] = real(-1);
    start[2] = real(0.4);
    model.start = start;
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_WARN_OFF_COUPLING);
    CHECK_EQUAL(sim.culprit.index, 0);
    start[4] = real(0.2);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    CHECK(sim.q[1] == start[1] && sim.q[4] == start[4]);
    for (int i = 0; i < CHECK_BAD_REALS; i++) {
        bad_real(&start[3], i);
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_ERR_STATE);
        CHECK_EQUAL(sim.culprit.index, 3);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_ERR_NOT_READY);
    }
}

/* Any state: chains of mimic joints with limits, and a coupling of three joints. */
static void test_settle(void) {
    int settled = 0;
    for (int n = 0; n < 400; n++) {
        random_seed(9000 + (uint64_t)n);
        make_model();
        model.coupling_count = 2;
        coupling[0] = mimic_of(1, 0, random_in(-2, 2), random_in(-0.3, 0.3));
        coupling[1] = mimic_of(2, 1, random_in(0.5, 2), random_in(-0.3, 0.3));
        if (n % 2) {
            memset(&coupling[1], 0, sizeof coupling[1]);
            for (int k = 0; k < 3; k++) {
                coupling[1].terms[k].body = (int16_t)(k + 2);
                coupling[1].terms[k].coefficient = wide(random_in(0.5, 1.5));
            }
        }
        for (int i = 0; i < 5; i++) {
            body[i].lower = wide(random_in(-1.5, -0.5));
            body[i].upper = wide(random_in(0.5, 1.5));
        }
        CHECK(mdyn_init(&sim, &model) >= 0);
        for (int k = 0; k < 5; k++) {
            sim.q[k] = real(random_in(-4, 4));
            sim.v[k] = real(random_in(-4, 4));
        }
        int code = mdyn_settle(&sim);
        CHECK(code == MDYN_OK || code == MDYN_WARN_START || code == MDYN_WARN_EMPTY_RANGE);
        if (code == MDYN_OK) {
            check_settled(BY_SCALAR(1e-9, 1e-4, 1e-5));
            settled++;
        }
    }
    CHECK(settled >= 380);
    CHECK_NOTE("%d of 400 settled\n", settled);
}

/* Three rotors, a distance between two others if `closures`, and two couplings of the first
   joint. */
static void make_rotors(mdyn_level level, int closures) {
    static mdyn_closure rod[1];
    make_model();
    memset(body, 0, sizeof body);
    memset(coupling, 0, sizeof coupling);
    memset(rod, 0, sizeof rod);
    for (int i = 0; i < 5; i++) {
        body[i].parent = MDYN_WORLD;
        body[i].joint = MDYN_REVOLUTE;
        body[i].position.x = wide(i);
        body[i].armature = wide(1);
    }
    for (int i = 0; i < 2; i++) {
        coupling[i] = mimic_of(0, 1 + i, 1, 0);
        coupling[i].level = level;
    }
    rod->kind = MDYN_CLOSE_DISTANCE;
    rod->a = 3;
    rod->b = 4;
    rod->point_a.y = rod->point_b.y = rod->distance = wide(1);
    model.coupling_count = 2;
    model.closures = rod;
    model.closure_count = closures;
}

/* Velocities that cannot be put right by the first joint alone, which both couplings name first:
   the least change makes all of them equal. And velocities that nothing puts right, beside a
   loop. */
static void test_settled_velocities(void) {
    for (int n = 0; n < 4; n++) {
        make_rotors((mdyn_level)(n % 2), n / 2);
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
        sim.v[1] = real(1);
        sim.v[2] = real(3);
        CHECK_EQUAL(mdyn_settle(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.v[1]), of_real(sim.v[0]), 8 * check_epsilon);
        CHECK_NEAR(of_real(sim.v[2]), of_real(sim.v[0]), 8 * check_epsilon);

        make_rotors(MDYN_VELOCITY, n / 2);
        coupling[1].terms[1].body = 1;
        coupling[n % 2].target_velocity = wide(1);
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_WARN_CONTRADICTION);
        CHECK_EQUAL(mdyn_project(&sim, MDYN_MASS_METRIC), MDYN_WARN_CONTRADICTION);
        CHECK_EQUAL(mdyn_settle(&sim), MDYN_WARN_CONTRADICTION);
    }
}

/* A joint with one position goes there from both sides, and stands: any velocity leads out. Its own
   limits leave one, or those of a follower that turns the other way. */
static void test_settled_in_one_position(void) {
    for (int n = 0; n < 4; n++) {
        const double place = n < 2 ? 0.5 : 0, from = n % 2 ? place + 0.25 : place - 0.25;
        make_rotors(MDYN_POSITION, 0);
        model.coupling_count = n < 2 ? 0 : 1;
        coupling[0] = mimic_of(4, 3, -1, 0);
        body[3].lower = wide(place);
        body[3].upper = wide(n < 2 ? place : 0.75);
        if (n >= 2) {
            body[4].lower = wide(0);
            body[4].upper = wide(0.75);
        }
        CHECK_EQUAL(mdyn_init(&sim, &model), n < 2 ? MDYN_WARN_START : MDYN_WARN_FROZEN_RANGE);
        sim.q[3] = real(from);
        sim.v[3] = real(n % 2 ? -1 : 1);
        sim.q[4] = real(n < 2 ? 0 : -from);
        sim.v[4] = real(n < 2 ? 0 : -of_real(sim.v[3]));
        CHECK_EQUAL(mdyn_settle(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.q[3]), place, 0);
        CHECK_NEAR(of_real(sim.v[3]), 0, 0);
        CHECK_NEAR(of_real(sim.v[4]), 0, 0);
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
        CHECK_NEAR(of_real(sim.q[3]), place, 0);
    }
}

/* Two couplings in a ring with a third joint: q_1 = 2 q_2 + q_0, q_2 = 3 q_1, so q = (-5, 1, 3) t.
   Putting each right by its first joint in turn leads far away; from (1, 0, 0) the nearest solution
   is that of t = -1/7, and that in which q_0 stays has t = -1/5. */
static void test_settled_ring(void) {
    for (int n = 0; n < 2; n++) {
        make_rotors(MDYN_POSITION, 0);
        model.solver.equality = n ? MDYN_ITERATED : MDYN_EXACT;
        coupling[0] = mimic_of(1, 2, 2, 0);
        coupling[0].terms[2].body = 0;
        coupling[0].terms[2].coefficient = wide(-1);
        coupling[1] = mimic_of(2, 1, 3, 0);
        CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
        sim.q[0] = sim.v[0] = real(1);
        CHECK_EQUAL(mdyn_settle(&sim), MDYN_OK);
        CHECK_EQUAL(sim.culprit.code, MDYN_OK);
        for (int k = 0; k < 2; k++) {
            const mdyn_real *x = k ? sim.v : sim.q;
            const double t = of_real(x[1]);
            CHECK(t >= -1.0 / 5 - check_epsilon && t <= -1.0 / 7 + check_epsilon);
            CHECK_NEAR(of_real(x[0]), -5 * t, 16 * check_epsilon);
            CHECK_NEAR(of_real(x[2]), 3 * t, 16 * check_epsilon);
        }
    }
    model.solver.equality = MDYN_EXACT;
}

/* A chain from its end to its leader, which has moved by a few digits alone: all joints follow. */
static void test_few_digits(void) {
    const double large = 1000000, moved = large + BY_SCALAR(1e-9, 0.5, 0.001);
    make_rotors(MDYN_POSITION, 0);
    coupling[0] = mimic_of(2, 1, 1, 0);
    coupling[1] = mimic_of(1, 0, 1, 0);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_OK);
    sim.q[0] = real(moved);
    sim.q[1] = sim.q[2] = real(large);
    CHECK_EQUAL(mdyn_project(&sim, MDYN_FOLLOWERS), MDYN_OK);
    CHECK(sim.q[0] == real(moved) && sim.q[1] == sim.q[0] && sim.q[2] == sim.q[0]);
}

/* Limits beyond the range of coordinates: a joint that cannot reach them stays where it was. */
static void test_limits_out_of_range(void) {
    make_rotors(MDYN_POSITION, 0);
    body[3].lower = wide(1e7);
    body[3].upper = wide(2e7);
    CHECK_EQUAL(mdyn_init(&sim, &model), MDYN_WARN_START);
    CHECK_EQUAL(mdyn_settle(&sim), MDYN_ERR_OVERFLOW);
    CHECK_EQUAL(sim.culprit.index, 3);
    CHECK_NEAR(of_real(sim.q[3]), 0.0, 0.0);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_changes();
    test_refusals();
    test_damper_begins();
    test_damper_beside_friction();
    test_massless();
    test_massless_in_motion();
    test_singular_pose();
    test_refused_at_new_velocity();
    test_capacity();
    test_model_numbers();
    test_dt_keeps_forces();
    test_model_refusals();
    test_edits();
    test_closure_edits();
    test_edited_joint();
    test_every_byte();
    test_reentry();
    test_replaced_force();
    test_replaced_impulse();
    test_replaced_range();
    test_ratio_of_tied_joints();
    test_late_force();
    test_force_beside_closure();
    test_engage();
    test_turns();
    test_start();
    test_settle();
    test_settled_velocities();
    test_settled_ring();
    test_settled_in_one_position();
    test_few_digits();
    test_limits_out_of_range();
    return check_end();
}
