/* fourbar.c - a gripper's finger on a four-bar linkage: driver, coupler that carries the fingertip,
   and rocker. The tree ends at the coupler; a hinge that closes the loop makes it a four-bar.
   Checked against the closed form of the linkage: angles of rocker and fingertip over the stroke,
   and the force at the fingertip that the driver's torque holds (virtual work). Of the hinge's
   five rows three hold in a plane anyway: the library finds and reports them.
   By hand: cc -O2 examples/fourbar.c -lm -o fourbar && ./fourbar */

#define MIMICDYN_MAX_BODIES 3
#define MIMICDYN_MAX_BODY_ROWS 5
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

enum { DRIVER, FINGER, ROCKER };
#define A 0.030 /* lengths: driver, coupler, rocker, ground [m] */
#define B 0.024
#define C 0.036
#define D 0.022

#define LINK(mass_, length) \
    .joint = MDYN_REVOLUTE, .mass = MDYN_C(mass_), .com = MDYN_V3((length) / 2, 0, 0), \
    .inertia = MDYN_INERTIA(1e-7, (mass_) * (length) * (length) / 12, \
                            (mass_) * (length) * (length) / 12, 0, 0, 0)
static const mdyn_body bodies[] = {
    { .parent = MDYN_WORLD, LINK(0.020, A), .damping = MDYN_C(2e-3), .effort = MDYN_C(1),
      .drive_kp = MDYN_C(50), .drive_kd = MDYN_C(0.5), .name = "driver" },
    { .parent = DRIVER, LINK(0.015, B), .position = MDYN_V3(A, 0, 0), .name = "finger" },
    { .parent = MDYN_WORLD, LINK(0.020, C), .position = MDYN_V3(D, 0, 0), .name = "rocker" },
};
static const mdyn_closure closures[] = {
    { .kind = MDYN_CLOSE_HINGE, .a = FINGER, .b = ROCKER, .point_a = MDYN_V3(B, 0, 0),
      .point_b = MDYN_V3(C, 0, 0), .name = "pin" }, /* axes: z, like the joints' */
};
static const mdyn_model finger = {
    .bodies = bodies, .body_count = 3, .closures = closures, .closure_count = 1,
    .dt = MDYN_C(0.001),
};
static mdyn_sim sim;

typedef struct linkage { double rocker, finger; } linkage; /* angles against the ground */

/* The end of the rocker is C from its pivot and B from the end of the driver. */
static linkage closed_form(double driver)
{
    const double x = A * cos(driver) - D, y = A * sin(driver), e2 = x * x + y * y;
    linkage l;
    l.rocker = atan2(y, x) - acos((C * C + e2 - B * B) / (2 * C * sqrt(e2)));
    l.finger = atan2(C * sin(l.rocker) - y, C * cos(l.rocker) - x);
    return l;
}

/* How far apart the pin's two halves are. */
static double gap(void)
{
    mdyn_row_report x, y;
    must(&sim, mdyn_report_row(&sim, MDYN_ROW_CLOSURE, 0, &x));
    must(&sim, mdyn_report_row(&sim, MDYN_ROW_CLOSURE, 1, &y));
    return hypot(wide(x.error), wide(y.error));
}

/* The driver moves to each angle and the others follow; at the end it presses. */
int main(void)
{
    const double start = 1.7, d = 1e-5, torque = 0.2;
    linkage l = closed_form(start), more, less;
    double worst_rocker = 0, worst_finger = 0, worst_gap = 0, hold;
    int n;

    must(&sim, mdyn_init(&sim, &finger));
    sim.q[DRIVER] = MDYN_R(start + 0.05); /* put together only roughly */
    sim.q[FINGER] = MDYN_R(l.finger - start + 0.05);
    sim.q[ROCKER] = MDYN_R(l.rocker - 0.05);
    must(&sim, mdyn_project(&sim, MDYN_MASS_METRIC));

    printf("driver [deg]   rocker   closed form   finger   closed form   gap [um]\n");
    for (n = 0; n < 1200; n++) {
        const double to = start - 0.8 * (n < 1000 ? n / 1000.0 : 1);
        double q, rocker, tip;
        sim.target[DRIVER] = MDYN_R(to);
        must(&sim, mdyn_step(&sim));
        q = real(sim.q[DRIVER]);
        l = closed_form(q);
        rocker = real(sim.q[ROCKER]) - l.rocker;
        tip = q + real(sim.q[FINGER]) - l.finger;
        worst_rocker = worse(worst_rocker, fabs(rocker));
        worst_finger = worse(worst_finger, fabs(tip));
        worst_gap = worse(worst_gap, gap());
        if (n % 200 == 199) {
            const double deg = 57.29577951308232;
            printf("%12.3f %8.3f %13.3f %8.3f %13.3f %10.4f\n", q * deg,
                   real(sim.q[ROCKER]) * deg, l.rocker * deg, (q + real(sim.q[FINGER])) * deg,
                   l.finger * deg, gap() * 1e6);
        }
    }
    CHECK("rocker against the closed form [rad]", worst_rocker, 0, 2e-5);
    CHECK("finger against the closed form [rad]", worst_finger, 0, 2e-5);
    CHECK("gap of the pin [m]", worst_gap, 0, 5e-7);
    CHECK("rows of the pin that hold anyway", sim.report.redundant, 3, 0);
    CHECK("rows that contradict", sim.report.contradictory, 0, 0);

    /* virtual work: torque d driver + hold d finger = 0 */
    l = closed_form(real(sim.q[DRIVER]));
    more = closed_form(real(sim.q[DRIVER]) + d);
    less = closed_form(real(sim.q[DRIVER]) - d);
    hold = -torque * 2 * d / (more.finger - less.finger);
    sim.target[DRIVER] = sim.q[DRIVER];
    for (n = 0; n < 3; n++) {
        sim.v[n] = MDYN_R(0);
    }
    sim.tau[DRIVER] = MDYN_R(torque);
    sim.wrench[FINGER].moment.z = MDYN_R(hold);
    must(&sim, mdyn_step(&sim));
    {
        mdyn_row_report x, y;
        must(&sim, mdyn_report_row(&sim, MDYN_ROW_CLOSURE, 0, &x));
        must(&sim, mdyn_report_row(&sim, MDYN_ROW_CLOSURE, 1, &y));
        printf("driver %.3f N m holds %.5f N m at the finger; the pin carries %.2f N\n", torque,
               hold, hypot(wide(x.force), wide(y.force)));
        CHECK("pin carries: moment over the rocker's arm [N m]",
              C * (cos(l.rocker) * wide(y.force) - sin(l.rocker) * wide(x.force)), 0, 2e-4);
    }
    CHECK("it stands: speed of the finger [rad/s]", real(sim.v[FINGER]), 0, 2e-3);
    return check_result();
}
