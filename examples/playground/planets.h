/* planets.h - the planetary actuator of examples/robots/planetary.h, its ring let loose: sun of 12,
   planets of 18, ring of 48 teeth, each held by a brake or not. */

#ifndef PLAYGROUND_PLANETS_H
#define PLAYGROUND_PLANETS_H

#include "machine.h"

enum { PLANETS_RING = PLANETARY_BODIES, PLANETS_BODIES };
enum { PLANETS_TORQUE, PLANETS_HOLD_SUN, PLANETS_HOLD_RING, PLANETS_HOLD_CARRIER };
enum { PLANETS_MESHES = 4, PLANETS_BRAKES = 3 };
#define PLANETS_BRAKE 0.3 /* most that a brake gives [N m] */

static const hand planets_hand = { 0.4, 0.012, 0.25 };
static const mdyn_body planets_ring = {
    .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .mass = MDYN_C(0.2),
    .inertia = MDYN_INERTIA(6e-5, 6e-5, 1.2e-4, 0, 0, 0), .damping = MDYN_C(0.01), .name = "ring",
};

/* q of a planet is its turn on the carrier: sun and ring are geared to it as seen from there. */
static const mdyn_coupling planets_couplings[PLANETS_MESHES + PLANETS_BRAKES] = {
    MDYN_GEAR3(PLANETARY_MOTOR, 12, PLANETARY_OUTPUT, -12, PLANETARY_SPIN1, 18, 0),
    MDYN_GEAR3(PLANETS_RING, 48, PLANETARY_OUTPUT, -48, PLANETARY_SPIN1, -18, 0),
    MDYN_GEAR3(PLANETS_RING, 48, PLANETARY_OUTPUT, -48, PLANETARY_SPIN2, -18, 0),
    MDYN_GEAR3(PLANETS_RING, 48, PLANETARY_OUTPUT, -48, PLANETARY_SPIN3, -18, 0),
    { .terms = { MDYN_TERM(PLANETARY_MOTOR, 1) }, .level = MDYN_VELOCITY,
      .effort = MDYN_C(PLANETS_BRAKE), .name = "brake of the sun" },
    { .terms = { MDYN_TERM(PLANETS_RING, 1) }, .level = MDYN_VELOCITY,
      .effort = MDYN_C(PLANETS_BRAKE), .name = "brake of the ring" },
    { .terms = { MDYN_TERM(PLANETARY_OUTPUT, 1) }, .level = MDYN_VELOCITY,
      .effort = MDYN_C(PLANETS_BRAKE), .name = "brake of the carrier" },
};

static int planets_set(machine *m, int setting, double value)
{
    if (setting == PLANETS_TORQUE) {
        return mdyn_set_tau(&m->sim, PLANETARY_MOTOR, 0, mdyn_real_from(value));
    }
    if (setting < PLANETS_HOLD_SUN || setting > PLANETS_HOLD_CARRIER) return MDYN_ERR_INDEX;
    return mdyn_engage(&m->sim, PLANETS_MESHES + setting - PLANETS_HOLD_SUN,
                       value > 0 ? MDYN_ENGAGE_HERE : MDYN_RELEASE);
}

/* Carrier and ring have a load of 10 mN m for each rad/s. */
static void planets_start(machine *m)
{
    int i;
    m->model = planetary_model;
    m->model.body_count = PLANETS_BODIES;
    m->model.coupling_count = PLANETS_MESHES + PLANETS_BRAKES;
    for (i = 0; i < PLANETARY_BODIES; i++) m->bodies[i] = planetary_bodies[i];
    m->bodies[PLANETARY_OUTPUT].damping = MDYN_C(0.01);
    m->bodies[PLANETS_RING] = planets_ring;
    for (i = 0; i < PLANETS_MESHES + PLANETS_BRAKES; i++) m->couplings[i] = planets_couplings[i];
    machine_begin(m);
    if (m->code < 0) return;
    planets_set(m, PLANETS_HOLD_SUN, 0);
    planets_set(m, PLANETS_HOLD_CARRIER, 0);
}

/* For the hash: the ring is held, then the carrier. */
static void planets_script(machine *m, int step)
{
    if (step == 0) planets_set(m, PLANETS_TORQUE, 0.02);
    if (step == 500) planets_set(m, PLANETS_HOLD_RING, 0);
    if (step == 500) planets_set(m, PLANETS_HOLD_CARRIER, 1);
}

#endif
