/* log.h - writes what a sim was given as text: model, start, commands, and the state every so many
   steps. tests/replay.c plays it again, on another machine or with next year's header, and compares
   the states. Include after check.h.

       log_begin(&log, file, &sim, &model, "arm");     after mdyn_init; the state may be set.
                                                       Calls mdyn_reset
       log_commands(&log, &sim, k);                    before step k
       log_contacts(&log, contacts, count, k);         beside mdyn_set_contacts, before step k
       log_coupling_target(&log, coupling, target, target_velocity, k);   beside
                                                       mdyn_set_coupling_target; so log_engage
       log_state(&log, &sim, k);                       after k steps, as often as wanted
       log_end(&log);

   The format is that of tests/cases/README. A log has no functions and no other changes of the
   model: log_begin returns 0, and log.error says why, for a model with a row_function or a curve
   that is a function. Numbers have the 17 digits of a double: with FIXED, states below 2^13 have
   all of theirs. */

#ifndef EXAMPLES_LOG_H
#define EXAMPLES_LOG_H

#include <string.h>

typedef struct log_file {
    FILE *to;
    const char *error; /* why log_begin returned 0 */
    mdyn_real tau[MIMICDYN_MAX_DOFS], target[MIMICDYN_MAX_DOFS];
    mdyn_real target_velocity[MIMICDYN_MAX_DOFS];
#if MIMICDYN_TREE
    mdyn_wrench wrench[MIMICDYN_MAX_BODIES];
#endif
} log_file;

static inline void log_wides(const log_file *f, const mdyn_wide *x, int n)
{
    for (int k = 0; k < n; k++) fprintf(f->to, " %.17g", wide(x[k]));
}

static inline void log_reals(const log_file *f, const mdyn_real *x, int n)
{
    for (int k = 0; k < n; k++) fprintf(f->to, " %.17g", real(x[k]));
}

static inline void log_body(const log_file *f, const mdyn_body *b, int i)
{
    fprintf(f->to, "link %d %d %d", i, b->parent, (int)b->joint);
    log_wides(f, &b->axis.x, 3);
    log_wides(f, &b->pitch, 1);
    log_wides(f, &b->armature, 1);
    log_wides(f, &b->position.x, 3);
    log_wides(f, &b->rotation.w, 4);
    log_wides(f, &b->mass, 1);
    log_wides(f, &b->com.x, 3);
    log_wides(f, &b->inertia.xx, 6);
    fprintf(f->to, "\njoint %d", i);
    log_wides(f, &b->damping, 7); /* damping, friction, lower, upper, effort, gains */
    fprintf(f->to, "\n");
}

static inline void log_coupling(const log_file *f, const mdyn_sim *sim, const mdyn_coupling *c)
{
    int n = 0;
    for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) n += wide(c->terms[k].coefficient) != 0;
    fprintf(f->to, "coupling %d", n);
    for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        if (wide(c->terms[k].coefficient) != 0) {
            fprintf(f->to, " %d", mdyn_first_dof(sim, c->terms[k].body) + c->terms[k].axis);
            log_wides(f, &c->terms[k].coefficient, 1);
        }
    }
    log_wides(f, &c->offset, 1);
    fprintf(f->to, " %d", (int)c->softness.kind);
    log_wides(f, &c->softness.a, 2);
    log_wides(f, &c->lower, 4); /* lower, upper, target velocity, effort */
    fprintf(f->to, " %d", (int)c->level);
    log_wides(f, &c->efficiency, 2); /* efficiency, mu */
    fprintf(f->to, " %d %d\n", c->mu_of, c->breaks);
}

/* Which terms of coupling k name a curve. */
static inline void log_curved_terms(const log_file *f, const mdyn_sim *sim, const mdyn_coupling *c,
                                    int k)
{
    for (int i = 0; i < MIMICDYN_MAX_TERMS; i++) {
        const mdyn_term *t = &c->terms[i];
        if (t->curve > 0 && wide(t->coefficient) != 0)
            fprintf(f->to, "curved %d %d %d\n", k, mdyn_first_dof(sim, t->body) + t->axis,
                    t->curve);
    }
}

static inline void log_curve(const log_file *f, const mdyn_curve *c)
{
    const int knots = c->kind == MDYN_CURVE_SPLINE ? c->knot_count : 0;
    fprintf(f->to, "curve %d", (int)c->kind);
    log_wides(f, &c->reference, 1);
    log_wides(f, c->a, 5);
    fprintf(f->to, " %d", knots);
    for (int k = 0; k < knots; k++) log_wides(f, &c->knots[k].q, 3); /* q, value, curvature */
    fprintf(f->to, "\n");
}

static inline void log_softness(const log_file *f, const mdyn_softness *s)
{
    fprintf(f->to, " %d", (int)s->kind);
    log_wides(f, &s->a, 2);
}

static inline void log_closure(const log_file *f, const mdyn_closure *c)
{
    fprintf(f->to, "closure %d %d %d", (int)c->kind, c->a, c->b);
    log_wides(f, &c->point_a.x, 3);
    log_wides(f, &c->point_b.x, 3);
    log_wides(f, &c->axis_a.x, 3);
    log_wides(f, &c->axis_b.x, 3);
    log_wides(f, &c->rotation.w, 4);
    log_wides(f, &c->distance, 1);
    log_softness(f, &c->softness);
    log_wides(f, &c->effort, 1);
    fprintf(f->to, "\n");
}

static inline void log_user_row(const log_file *f, const mdyn_user_row *r)
{
    fprintf(f->to, "user_row %d", MIMICDYN_MAX_TERMS);
    for (int k = 0; k < MIMICDYN_MAX_TERMS; k++) {
        fprintf(f->to, " %d %d", r->terms[k].body, (int)r->terms[k].axes);
        log_wides(f, &r->terms[k].angular.x, 3);
        log_wides(f, &r->terms[k].linear.x, 3);
    }
    log_wides(f, &r->value, 1);
    log_softness(f, &r->softness);
    log_wides(f, &r->lower, 6); /* lower, upper, target velocity, forces, mu */
    fprintf(f->to, " %d %d\n", r->mu_of, (int)r->level);
}

/* Why a model cannot be logged; NULL: it can. */
static inline const char *log_refuses(const mdyn_model *model)
{
    if (model->user_row_count > 0 && model->row_function)
        return "a log cannot hold a row_function: give the user rows as a table";
    if (model->user_row_count > 0 && !model->user_rows) return "the user rows have no table";
    for (int k = 0; k < model->curve_count; k++) {
        if (model->curves[k].kind > MDYN_CURVE_SPLINE)
            return "a log cannot hold a curve that is a function: give a table, MDYN_SPLINE";
    }
    return NULL;
}

static inline void log_solver(const log_file *f, const mdyn_solver *s)
{
    fprintf(f->to, "solver %d %d %d %d", (int)s->method, (int)s->equality, (int)s->start,
            s->iterations);
    log_wides(f, &s->relaxation, 3); /* relaxation, tolerance, accuracy */
    fprintf(f->to, " %d %d %d", (int)s->correction, s->substeps, (int)s->limits);
    log_wides(f, &s->deadband, 1);
    fprintf(f->to, " %d %d %d %d\n", (int)s->friction_law, (int)s->scheme, s->corrections,
            (int)s->forces);
}

/* The reset forgets digits beyond q and v, which a projection or steps have left: the text has
   none of them. */
static inline int log_begin(log_file *f, FILE *to, mdyn_sim *sim, const mdyn_model *model,
                            const char *id)
{
    memset(f, 0, sizeof *f);
    f->to = to;
    f->error = log_refuses(model);
    if (f->error) return 0;
    must(sim, mdyn_reset(sim));
    fprintf(to, "oracle-cases 1 log\nconventions free=child_wv sph=child quat=wxyz\n");
    fprintf(to, "case %s log\ngravity", id);
    log_wides(f, &model->gravity.x, 3);
    fprintf(to, "\n");
    for (int i = 0; i < model->body_count; i++) log_body(f, &model->bodies[i], i);
    for (int i = 0; i < model->coupling_count; i++) log_coupling(f, sim, &model->couplings[i]);
    for (int i = 0; i < model->coupling_count; i++)
        log_curved_terms(f, sim, &model->couplings[i], i);
    for (int i = 0; i < model->curve_count; i++) log_curve(f, &model->curves[i]);
    for (int i = 0; i < model->closure_count; i++) log_closure(f, &model->closures[i]);
    for (int i = 0; i < model->user_row_count; i++) log_user_row(f, &model->user_rows[i]);
    log_solver(f, &model->solver);
    fprintf(to, "dims %d %d\nq", mdyn_coordinates(sim), mdyn_dofs(sim));
    log_reals(f, sim->q, mdyn_coordinates(sim));
    fprintf(to, "\nv");
    log_reals(f, sim->v, mdyn_dofs(sim));
    fprintf(to, "\ntau");
    log_reals(f, f->tau, mdyn_dofs(sim)); /* 0: commands are lines of their own */
    fprintf(to, "\ndt %.17g\n", wide(model->dt));
    return 1;
}

static inline void log_changes(const log_file *f, const char *what, const mdyn_real *x,
                               mdyn_real *last, int n, int step)
{
    if (n <= 0 || memcmp(x, last, (size_t)n * sizeof *x) == 0) return;
    memcpy(last, x, (size_t)n * sizeof *x);
    fprintf(f->to, "command %d %s", step, what);
    log_reals(f, x, n);
    fprintf(f->to, "\n");
}

static inline void log_commands(log_file *f, const mdyn_sim *sim, int step)
{
    log_changes(f, "tau", sim->tau, f->tau, mdyn_dofs(sim), step);
    log_changes(f, "target", sim->target, f->target, mdyn_dofs(sim), step);
    log_changes(f, "target_velocity", sim->target_velocity, f->target_velocity, mdyn_dofs(sim),
                step);
#if MIMICDYN_TREE
    for (int i = 0; i < sim->bodies; i++) {
        mdyn_wrench *last = &f->wrench[i];
        if (memcmp(&sim->wrench[i], last, sizeof *last) == 0) continue;
        *last = sim->wrench[i];
        fprintf(f->to, "command %d wrench %d", step, i);
        log_reals(f, &last->moment.x, 3);
        log_reals(f, &last->force.x, 3);
        fprintf(f->to, "\n");
    }
#endif
}

static inline void log_contacts(const log_file *f, const mdyn_contact *contacts, int count,
                                int step)
{
    for (int k = 0; k < count; k++) {
        const mdyn_contact *c = &contacts[k];
        fprintf(f->to, "contact %d %d %d %u", step, c->a, c->b, (unsigned)c->key);
        log_reals(f, &c->point.x, 3);
        log_reals(f, &c->normal.x, 3);
        log_reals(f, &c->depth, 1);
        log_wides(f, &c->mu, 1);
        log_softness(f, &c->softness);
        fprintf(f->to, "\n");
    }
}

static inline void log_coupling_target(const log_file *f, int coupling, mdyn_real target,
                                       mdyn_real target_velocity, int step)
{
    fprintf(f->to, "command %d coupling_target %d", step, coupling);
    log_reals(f, &target, 1);
    log_reals(f, &target_velocity, 1);
    fprintf(f->to, "\n");
}

static inline void log_engage(const log_file *f, int coupling, int on, int step)
{
    fprintf(f->to, "command %d engage %d %d\n", step, coupling, on);
}

static inline void log_state(const log_file *f, const mdyn_sim *sim, int step)
{
    fprintf(f->to, "state %d", step);
    log_reals(f, sim->q, mdyn_coordinates(sim));
    log_reals(f, sim->v, mdyn_dofs(sim));
    fprintf(f->to, "\n");
}

static inline void log_end(const log_file *f) { fprintf(f->to, "end\neof\n"); }

#endif
