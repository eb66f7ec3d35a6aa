/* robot_cassie_leg.c - a leg like Cassie's from its description: motors behind gearboxes of 16:1,
   two leaf springs and a rod that closes a loop over the knee. The knee's motor pushes for half a
   second.
   Checked: both motors turn 16 times as far as their joints, the other way round; the rod ends
   where the heel spring holds it.
   By hand: cc -O2 examples/robot_cassie_leg.c -lm -o robot && ./robot */

#include "robots/cassie_leg.h"
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "robots/cassie_leg.h"
#include "check.h"

static mdyn_sim sim;

static double of_joint(int coordinate) { return real(sim.q[coordinate]); }

/* How far the two ends of the loop are apart: the closure's own points, by the poses. */
static double gap(void)
{
    const mdyn_closure *loop = &cassie_leg_closures[0];
    const int body[2] = { loop->a, loop->b };
    const mdyn_wide3 point[2] = { loop->point_a, loop->point_b };
    double at[2][3], d[3];
    int i;
    for (i = 0; i < 2; i++) {
        mdyn_real3 p, local = { mdyn_real_of(point[i].x), mdyn_real_of(point[i].y),
                                mdyn_real_of(point[i].z) };
        mdyn_real4 r;
        double w, x, y, z, px = real(local.x), py = real(local.y), pz = real(local.z);
        must(&sim, mdyn_pose(&sim, body[i], &p, &r));
        w = real(r.w); x = real(r.x); y = real(r.y); z = real(r.z);
        at[i][0] = real(p.x) + (1 - 2 * (y * y + z * z)) * px + 2 * (x * y - w * z) * py
                   + 2 * (x * z + w * y) * pz;
        at[i][1] = real(p.y) + 2 * (x * y + w * z) * px + (1 - 2 * (x * x + z * z)) * py
                   + 2 * (y * z - w * x) * pz;
        at[i][2] = real(p.z) + 2 * (x * z - w * y) * px + 2 * (y * z + w * x) * py
                   + (1 - 2 * (x * x + y * y)) * pz;
    }
    for (i = 0; i < 3; i++) d[i] = at[0][i] - at[1][i];
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

int main(void)
{
    double pitch = 0, knee = 0, open = 0;
    int step;

    must(&sim, mdyn_init(&sim, &cassie_leg_model));
    for (step = 0; step < 500; step++) {
        sim.tau[CASSIE_LEG_DOF_KNEE_IP] = MDYN_R(0.5);
        must(&sim, mdyn_step(&sim));
        pitch = worse(pitch, fabs(0.0625 * of_joint(CASSIE_LEG_Q_PITCH_IP)
                                  + of_joint(CASSIE_LEG_Q_PITCH_OP)));
        knee = worse(knee, fabs(0.0625 * of_joint(CASSIE_LEG_Q_KNEE_IP)
                                + of_joint(CASSIE_LEG_Q_KNEE_OP)));
        open = worse(open, gap());
    }
    printf("  knee %.4f rad, tarsus %.4f rad, shin spring %.4f rad, heel spring %.4f rad\n",
           of_joint(CASSIE_LEG_Q_KNEE_OP), of_joint(CASSIE_LEG_Q_SHIN_TARSUS),
           of_joint(CASSIE_LEG_Q_KNEE_SHIN), of_joint(CASSIE_LEG_Q_TARSUS_SPRING));
    CHECK("gearbox of the hip is off by [rad]", pitch, 0, BY_SCALAR(1e-14, 1e-6, 1e-11));
    CHECK("gearbox of the knee is off by [rad]", knee, 0, BY_SCALAR(1e-14, 1e-6, 1e-11));
    CHECK("the rod's end is off by [m]", open, 0, BY_SCALAR(1e-5, 1e-5, 1e-5));
    return check_result();
}
