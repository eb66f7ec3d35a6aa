/* planetary.c - a planetary gear as one coupling of three joints: sun, ring, carrier.
   Checked: torque shares against Willis (ring braked), accelerations against the closed form of
   three coupled inertias (nothing held), and 10000 turns of the sun without the teeth slipping
   more than the last digit of the coordinates.
   By hand: cc -O2 examples/planetary.c -lm -o planetary && ./planetary */

#define MIMICDYN_MAX_BODIES 3
#define MIMICDYN_MAX_COUPLINGS 2
#define MIMICDYN_MAX_TERMS 3
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

enum { SUN, RING, CARRIER };
#define TEETH_SUN 24
#define TEETH_RING 72
#define TURN 6.283185307179586 /* [rad] */
#ifndef TURNS
#define TURNS 10000 /* of the sun */
#endif

/* The planets' own spin is left out: their mass goes round with the carrier. */
#define J_SUN 2e-5 /* [kg m^2] */
#define J_RING 3e-4
#define J_CARRIER 1.5e-4
static const mdyn_body shafts[] = {
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE,
      .inertia = MDYN_INERTIA(1e-5, 1e-5, J_SUN, 0, 0, 0), .name = "sun" },
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE,
      .inertia = MDYN_INERTIA(2e-4, 2e-4, J_RING, 0, 0, 0), .name = "ring" },
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE,
      .inertia = MDYN_INERTIA(1e-4, 1e-4, J_CARRIER, 0, 0, 0), .name = "carrier" },
};
static const mdyn_coupling couplings[] = {
    /* 24 q_sun + 72 q_ring - 96 q_carrier = 0: Willis, multiplied out. All three angles in the
       same sense of rotation; the ring's inner teeth are in the sign already. */
    MDYN_GEAR3(SUN, TEETH_SUN, RING, TEETH_RING, CARRIER, -(TEETH_SUN + TEETH_RING), 0),
    /* The brake on the ring: a coupling of one joint. Models that count one coupling have none. */
    { .terms = { MDYN_TERM(RING, 1) } },
};
static const mdyn_model with_brake = {
    .bodies = shafts, .body_count = 3, .couplings = couplings, .coupling_count = 2,
    .dt = MDYN_C(0.001),
};
static const mdyn_model without_brake = {
    .bodies = shafts, .body_count = 3, .couplings = couplings, .coupling_count = 1,
    .dt = MDYN_C(0.001),
};
static mdyn_sim sim;

static double share(int term)
{
    mdyn_wide force;
    must(&sim, mdyn_coupling_force(&sim, 0, term, &force));
    return wide(force);
}

/* Ring braked, 2 N m on the sun, and the load on the carrier that just holds it. Torques on the
   housing add up to nothing, so the brake holds load - 2 N m. */
static void torque_shares(void)
{
    const double sun = 2.0, load = sun * (TEETH_SUN + TEETH_RING) / TEETH_SUN;
    mdyn_row_report brake;

    must(&sim, mdyn_init(&sim, &with_brake));
    sim.tau[SUN] = MDYN_R(sun);
    sim.tau[CARRIER] = MDYN_R(-load);
    must(&sim, mdyn_step(&sim));
    must(&sim, mdyn_report_row(&sim, MDYN_ROW_COUPLING, 1, &brake));

    printf("ring braked    sun %+.4f  ring %+.4f  carrier %+.4f  brake %+.4f N m\n", share(SUN),
           share(RING), share(CARRIER), wide(brake.force));
    CHECK("gear on the sun [N m]", share(SUN), -sun, BY_SCALAR(1e-14, 2e-6, 1e-7));
    CHECK("gear on the ring [N m]", share(RING), -sun * TEETH_RING / TEETH_SUN,
          BY_SCALAR(1e-14, 6e-6, 3e-7));
    CHECK("gear on the carrier [N m]", share(CARRIER), load, BY_SCALAR(1e-14, 8e-6, 4e-7));
    CHECK("brake on the ring [N m]", wide(brake.force), load - sun, BY_SCALAR(1e-14, 6e-6, 3e-7));
    CHECK("it stands: speed of the carrier [rad/s]", real(sim.v[CARRIER]), 0,
          BY_SCALAR(1e-14, 5e-6, 3e-7));
}

/* Nothing held: a = M^-1 (tau + z lambda) with lambda = -z.M^-1 tau / z.M^-1 z, by hand. */
static void accelerations(void)
{
    static const double J[3] = { J_SUN, J_RING, J_CARRIER }, tau[3] = { 0.5, -0.1, -0.8 };
    static const double z[3] = { TEETH_SUN, TEETH_RING, -(TEETH_SUN + TEETH_RING) };
    static const char *const names[3] = { "sun accelerates [rad/s^2]",
                                          "ring accelerates [rad/s^2]",
                                          "carrier accelerates [rad/s^2]" };
    mdyn_wide a[3];
    double zt = 0, zz = 0;
    int i;

    must(&sim, mdyn_init(&sim, &without_brake));
    for (i = 0; i < 3; i++) {
        sim.tau[i] = MDYN_R(tau[i]);
        zt += z[i] * tau[i] / J[i];
        zz += z[i] * z[i] / J[i];
    }
    must(&sim, mdyn_constrained_dynamics(&sim, a));
    printf("nothing held   sun %+.2f  ring %+.2f  carrier %+.2f rad/s^2\n", wide(a[SUN]),
           wide(a[RING]), wide(a[CARRIER]));
    for (i = 0; i < 3; i++) {
        const double exact = (tau[i] - z[i] * zt / zz) / J[i];
        CHECK(names[i], wide(a[i]), exact, BY_SCALAR(2e-11, 1e-2, 5e-4));
    }
}

/* The sun at up to some 1000 rad/s, driven unevenly; the ring turns backwards, the carrier is
   loaded. sum(z q) / TURN is the slip in teeth; the last digits of the three coordinates alone
   make `digit` of it. */
static void many_turns(void)
{
    const double ulp = BY_SCALAR(2.3e-16, 1.2e-7, 6e-9);
    double turns = 0, print_at = 10, worst = 0;
    int step;

    printf("  turns: sun      ring   carrier   slip [teeth]   last digits\n");
    must(&sim, mdyn_init(&sim, &without_brake));
    for (step = 0; turns < TURNS && step < 200000; step++) {
        double sun, ring, carrier, slip, digit;
        sim.tau[SUN] = MDYN_R(2e-4 * (1000 - real(sim.v[SUN])) + 0.05 * ((step / 700) % 3 - 1));
        sim.tau[RING] = MDYN_R(1e-3 * (-137 - real(sim.v[RING])));
        sim.tau[CARRIER] = MDYN_R(-1e-4 * real(sim.v[CARRIER]));
        must(&sim, mdyn_step(&sim));

        turns = real(sim.q[SUN]) / TURN;
        sun = TEETH_SUN * turns;
        ring = TEETH_RING * real(sim.q[RING]) / TURN;
        carrier = (TEETH_SUN + TEETH_RING) * real(sim.q[CARRIER]) / TURN;
        slip = sun + ring - carrier;
        digit = ulp / 2 * (fabs(sun) + fabs(ring) + fabs(carrier));
        worst = worse(worst, fabs(slip) / digit);
        if (turns >= print_at) {
            printf("%12.1f %9.1f %9.1f %14.1e %13.1e\n", turns, real(sim.q[RING]) / TURN,
                   real(sim.q[CARRIER]) / TURN, slip, digit);
            print_at *= 10;
        }
    }
    CHECK("turns of the sun", turns, TURNS, 0.2);
    /* where double is no wider than mdyn_real, the sums above round about as much again */
    CHECK("largest slip, in last digits", worst, 0, BY_SCALAR(3, sizeof(double) > 4 ? 2 : 3, 3));
}

int main(void)
{
    torque_shares();
    accelerations();
    many_turns();
    return check_result();
}
