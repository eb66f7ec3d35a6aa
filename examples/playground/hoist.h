/* hoist.h - a motor lifts a weight through a clutch that slips and a gear with play and loss; every
   joule of it is counted. */

#ifndef PLAYGROUND_HOIST_H
#define PLAYGROUND_HOIST_H

#include "machine.h"

enum { HOIST_MOTOR, HOIST_PINION, HOIST_DRUM, HOIST_WEIGHT, HOIST_BODIES };
enum { HOIST_CLUTCH, HOIST_MESH, HOIST_ROPE, HOIST_COUPLINGS };
enum { HOIST_SPEED, HOIST_PLAY, HOIST_EFFICIENCY, HOIST_SLIP };
/* machine.joules */
enum { HOIST_IN, HOIST_STORED, HOIST_LOST_CLUTCH, HOIST_LOST_MESH, HOIST_LOST_STOPS };

static const mdyn_body hoist_bodies[HOIST_BODIES] = {
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .armature = MDYN_C(2e-4),
      .drive_kd = MDYN_C(0.05), .effort = MDYN_C(1), .name = "motor" },
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .armature = MDYN_C(1e-4), .name = "pinion" },
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .armature = MDYN_C(1e-3), .name = "drum" },
    { .parent = MDYN_WORLD, .joint = MDYN_PRISMATIC, .mass = MDYN_C(2), .lower = MDYN_C(0),
      .upper = MDYN_C(0.3), .name = "weight" },
};
/* C of the mesh in rad of the pinion, 20 and 40 teeth; the rope lies at a radius of 30 mm. */
static const mdyn_coupling hoist_couplings[HOIST_COUPLINGS] = {
    { .terms = { MDYN_TERM(HOIST_PINION, 1), MDYN_TERM(HOIST_MOTOR, -1) },
      .level = MDYN_VELOCITY, .effort = MDYN_C(0.6), .name = "clutch" },
    { .terms = { MDYN_TERM(HOIST_PINION, 1), MDYN_TERM(HOIST_DRUM, 2) },
      .lower = MDYN_C(-0.05), .upper = MDYN_C(0.05), .efficiency = MDYN_C(0.8), .name = "mesh" },
    { .terms = { MDYN_TERM(HOIST_WEIGHT, 1), MDYN_TERM(HOIST_DRUM, -0.03) }, .name = "rope" },
};

static void hoist_start(machine *m)
{
    static const mdyn_model empty = { .gravity = MDYN_V3(0, 0, -9.81), .dt = MDYN_C(0.001) };
    int i;
    m->model = empty;
    m->model.body_count = HOIST_BODIES;
    m->model.coupling_count = HOIST_COUPLINGS;
    for (i = 0; i < HOIST_BODIES; i++) m->bodies[i] = hoist_bodies[i];
    for (i = 0; i < HOIST_COUPLINGS; i++) m->couplings[i] = hoist_couplings[i];
    machine_begin(m);
    for (i = 0; i < 8; i++) m->joules[i] = 0;
}

static int hoist_set(machine *m, int setting, double value)
{
    mdyn_coupling *mesh = &m->now[HOIST_MESH], *clutch = &m->now[HOIST_CLUTCH];
    switch (setting) {
    case HOIST_SPEED: /* upwards; the pinion turns the drum the other way */
        return mdyn_set_target_velocity(&m->sim, HOIST_MOTOR, mdyn_real_from(-value));
    case HOIST_PLAY:
        mesh->lower = mdyn_wide_from(-value / 2);
        mesh->upper = mdyn_wide_from(value / 2);
        return mdyn_set_coupling(&m->sim, HOIST_MESH, mesh);
    case HOIST_EFFICIENCY:
        mesh->efficiency = mdyn_wide_from(value);
        return mdyn_set_coupling(&m->sim, HOIST_MESH, mesh);
    case HOIST_SLIP:
        clutch->effort = mdyn_wide_from(value);
        return mdyn_set_coupling(&m->sim, HOIST_CLUTCH, clutch);
    default:
        return MDYN_ERR_INDEX;
    }
}

static double hoist_energy(machine *m)
{
    mdyn_wide kinetic, potential;
    if (mdyn_energy(&m->sim, &kinetic, &potential) < 0) return 0;
    return wide(kinetic) + wide(potential);
}

/* The rows that do work, and which sum each goes to. */
static const struct { mdyn_row_kind kind; int index, sum; double sign; } hoist_rows[] = {
    { MDYN_ROW_DRIVE, HOIST_MOTOR, HOIST_IN, 1 },
    { MDYN_ROW_COUPLING, HOIST_CLUTCH, HOIST_LOST_CLUTCH, -1 },
    { MDYN_ROW_COUPLING, HOIST_MESH, HOIST_LOST_MESH, -1 },
    { MDYN_ROW_LOSS, HOIST_MESH, HOIST_LOST_MESH, -1 },
    { MDYN_ROW_LIMIT, HOIST_WEIGHT, HOIST_LOST_STOPS, -1 },
};
enum { HOIST_ROWS = sizeof hoist_rows / sizeof hoist_rows[0] };

/* The work of a row is its impulse times the mean of its velocity before and after the step. */
static int hoist_step(machine *m)
{
    double before[HOIST_ROWS];
    const double energy = hoist_energy(m);
    int i, code;
    for (i = 0; i < HOIST_ROWS; i++) {
        before[i] = wide(row_of(m, hoist_rows[i].kind, hoist_rows[i].index).velocity);
    }
    code = machine_step(m);
    for (i = 0; i < HOIST_ROWS; i++) {
        const mdyn_row_report row = row_of(m, hoist_rows[i].kind, hoist_rows[i].index);
        m->joules[hoist_rows[i].sum] += hoist_rows[i].sign * wide(row.impulse)
                                        * (before[i] + wide(row.velocity)) / 2;
    }
    m->joules[HOIST_STORED] += hoist_energy(m) - energy;
    return code;
}

/* For the hash: up, until the clutch slips at the top stop, and down. */
static void hoist_script(machine *m, int step)
{
    if (step == 0) hoist_set(m, HOIST_SPEED, 60);
    if (step == 600) hoist_set(m, HOIST_SPEED, -40);
}

#endif
