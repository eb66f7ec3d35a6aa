/* clutch.c - a slip clutch brings two shafts together: a coupling of speeds with a bounded effort.
   Then it is released and engaged again, and one that breaks.
   Checked: when and at which speed it locks, and the heat, against the closed form; that the heat
   is the energy that the shafts lose, step by step; that a broken coupling is gone.
   By hand: cc -O2 examples/clutch.c -lm -o clutch && ./clutch */

#define MIMICDYN_MAX_BODIES 2
#define MIMICDYN_MAX_COUPLINGS 1
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

enum { ENGINE, LOAD };
#define J_ENGINE 0.5 /* [kg m^2] */
#define J_LOAD 0.6
#define V_ENGINE 30.0 /* at the start [rad/s] */
#define V_LOAD -10.0
#define TORQUE 60.0 /* most that the clutch carries [N m] */
#define DT 1e-3

static const mdyn_body shafts[] = {
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE,
      .inertia = MDYN_INERTIA(0.3, 0.3, J_ENGINE, 0, 0, 0), .name = "engine" },
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE,
      .inertia = MDYN_INERTIA(0.3, 0.3, J_LOAD, 0, 0, 0), .name = "load" },
};
static const mdyn_coupling clutch[] = {
    { .terms = { MDYN_TERM(LOAD, 1), MDYN_TERM(ENGINE, -1) }, .level = MDYN_VELOCITY,
      .effort = MDYN_C(TORQUE), .name = "clutch" },
};
static const mdyn_coupling pin[] = { /* holds positions, until it is asked for more */
    { .terms = { MDYN_TERM(LOAD, 1), MDYN_TERM(ENGINE, -1) }, .effort = MDYN_C(TORQUE),
      .breaks = 1, .name = "shear pin" },
};
static mdyn_model model = {
    .bodies = shafts, .body_count = 2, .couplings = clutch, .coupling_count = 1, .dt = MDYN_C(DT),
};
static mdyn_sim sim;

static double energy(void)
{
    mdyn_wide kinetic, potential;
    must(&sim, mdyn_energy(&sim, &kinetic, &potential));
    return wide(kinetic);
}

static double slip(void) { return real(sim.v[LOAD]) - real(sim.v[ENGINE]); }

/* One step; returns the heat: the impulse against the mean of the slip before and after [J]. */
static double step(mdyn_row_report *row)
{
    const double before = slip();
    must(&sim, mdyn_step(&sim));
    must(&sim, mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, row));
    return -wide(row->impulse) * (before + slip()) / 2;
}

/* Until both turn at the same speed. */
static void lock(void)
{
    const double rate = TORQUE / J_ENGINE + TORQUE / J_LOAD, lost = V_ENGINE - V_LOAD;
    const double both = (J_ENGINE * V_ENGINE + J_LOAD * V_LOAD) / (J_ENGINE + J_LOAD);
    const double reduced = J_ENGINE * J_LOAD / (J_ENGINE + J_LOAD);
    double heat = 0, start, locked = 0, worst = 0;
    mdyn_row_report row;
    int k;

    must(&sim, mdyn_init(&sim, &model));
    sim.v[ENGINE] = MDYN_R(V_ENGINE);
    sim.v[LOAD] = MDYN_R(V_LOAD);
    start = energy();
    printf("  t [s]   engine [rad/s]   load [rad/s]   clutch [N m]   heat [J]\n");
    for (k = 1; k <= 250; k++) {
        heat += step(&row);
        worst = worse(worst, fabs(start - energy() - heat));
        if (locked == 0 && !(row.flags & MDYN_ROW_SATURATED)) {
            locked = k * DT;
        }
        if (k % 25 == 0) {
            printf("%7.3f %16.6f %14.6f %14.6f %10.4f\n", k * DT, real(sim.v[ENGINE]),
                   real(sim.v[LOAD]), wide(row.force), heat);
        }
    }
    CHECK("locks at [s]", locked, lost / rate, DT);
    CHECK("then both turn at [rad/s]", real(sim.v[ENGINE]), both, BY_SCALAR(1e-13, 2e-5, 6e-7));
    CHECK("slip that is left [rad/s]", slip(), 0, BY_SCALAR(1e-14, 2e-6, 1e-9));
    CHECK("heat [J]", heat, reduced * lost * lost / 2, BY_SCALAR(1e-11, 1e-4, 7e-6));
    CHECK("heat less what the shafts lost [J]", worst, 0, BY_SCALAR(1e-11, 1e-4, 5e-6));
}

/* Released, the engine races alone; engaged again it is braked by 60 N m. */
static void shift_gear(void)
{
    mdyn_row_report row;
    double v;
    int k;
    must(&sim, mdyn_engage(&sim, 0, 0));
    sim.tau[ENGINE] = MDYN_R(25.0);
    v = real(sim.v[LOAD]);
    for (k = 0; k < 100; k++) {
        step(&row);
    }
    CHECK("released, the load keeps [rad/s]", real(sim.v[LOAD]), v, 0);
    CHECK("... and the engine gains [rad/s]", real(sim.v[ENGINE]) - v, 0.1 * 25 / J_ENGINE,
          BY_SCALAR(1e-12, 5e-5, 2e-8));
    must(&sim, mdyn_engage(&sim, 0, 1));
    step(&row);
    CHECK("engaged, the load feels [N m]", wide(row.force), TORQUE,
          BY_SCALAR(1e-13, 1e-5, 2e-7));
}

/* A pin shears when it is asked for more than 60 N m, and stays sheared. */
static void shear(void)
{
    mdyn_row_report row;
    int k, broken_at = 0;
    model.couplings = pin;
    must(&sim, mdyn_init(&sim, &model));
    for (k = 1; k <= 400; k++) { /* 6/11 of the torque goes through the pin */
        sim.tau[ENGINE] = MDYN_R(0.5 * k);
        step(&row);
        if (sim.report.broken) {
            broken_at = k;
        }
    }
    CHECK("the pin shears at [N m]", 0.5 * broken_at, TORQUE * (J_ENGINE + J_LOAD) / J_LOAD, 0.5);
    CHECK("... and carries nothing after [N m]", wide(row.force), 0, 0);
    CHECK("... which its report says", row.flags, MDYN_ROW_RELEASED, 0);
}

int main(void)
{
    lock();
    shift_gear();
    shear();
    return check_result();
}
