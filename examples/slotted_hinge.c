/* slotted_hinge.c - a joint made of user rows: a pin slides and turns in the slot of a plate that
   spins. It flies outwards to the end of the slot; the plate turns about it for more than a turn,
   until that ends at a stop as well. The wrenches of the rows are in slotted_hinge.h.
   Checked against the equation of motion r'' = r w^2, (I + m r^2) w = constant; the speed after
   each stop, from the angular momentum; that the pin stays in the slot; the derivatives of the
   wrenches against their differences.
   By hand: cc -O2 examples/slotted_hinge.c -lm -o slotted_hinge && ./slotted_hinge */

#define MIMICDYN_MAX_BODIES 2
#define MIMICDYN_MAX_DOFS 7
#define MIMICDYN_MAX_BODY_ROWS 6
#define MIMICDYN_MAX_ENTRIES 240
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include "slotted_hinge.h"

enum { PLATE, PIN };
#define I_PLATE 0.02 /* [kg m^2] */
#define I_PIN 2e-4
#define M_PIN 0.5 /* [kg] */
#define SLOT_BEGIN 0.05 /* [m] */
#define SLOT_END 0.3
#define TURN_END 8.0 /* [rad] */
#define DT 0.0005

static const mdyn_body bodies[] = {
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE,
      .inertia = MDYN_INERTIA(0.01, 0.01, I_PLATE, 0, 0, 0), .name = "plate" },
    { .parent = MDYN_WORLD, .joint = MDYN_FREE, .mass = MDYN_C(M_PIN),
      .inertia = MDYN_INERTIA(I_PIN, I_PIN, I_PIN, 0, 0, 0), .name = "pin" },
};

typedef struct joint {
    slot now;
    double theta;    /* over all turns */
    double G[3][3];  /* axes of frame G in the world, as columns */
    double arm[2][3]; /* from the origins of plate and pin to that of G */
} joint;
static joint hinge;

static void pose(mdyn_sim *s, int body, double p[3], double R[3][3])
{
    mdyn_real3 at;
    mdyn_real4 q;
    double w, x, y, z;
    must(s, mdyn_pose(s, body, &at, &q));
    p[0] = real(at.x), p[1] = real(at.y), p[2] = real(at.z);
    w = real(q.w), x = real(q.x), y = real(q.y), z = real(q.z);
    R[0][0] = 1 - 2 * (y * y + z * z), R[0][1] = 2 * (x * y - w * z), R[0][2] = 2 * (x * z + w * y);
    R[1][0] = 2 * (x * y + w * z), R[1][1] = 1 - 2 * (x * x + z * z), R[1][2] = 2 * (y * z - w * x);
    R[2][0] = 2 * (x * z - w * y), R[2][1] = 2 * (y * z + w * x), R[2][2] = 1 - 2 * (x * x + y * y);
}

/* Where the pin is in the slot; theta goes on from where it was, over all turns. */
static void hinge_look(joint *j, mdyn_sim *s)
{
    double p[2][3], R[2][3][3], off[3], q[3], T[3][3], c, sn;
    int i, k;
    pose(s, PLATE, p[0], R[0]);
    pose(s, PIN, p[1], R[1]);
    for (k = 0; k < 3; k++) {
        off[k] = p[1][k] - p[0][k];
        for (i = 0; i < 3; i++) {
            T[k][i] = R[0][0][k] * R[1][0][i] + R[0][1][k] * R[1][1][i] + R[0][2][k] * R[1][2][i];
        }
    }
    slot_turn_back(q, R[0], off);
    slot_find(&j->now, q, T);
    j->theta = real(mdyn_nearest_angle(MDYN_R(j->now.theta), MDYN_R(j->theta)));
    c = cos(j->theta);
    sn = sin(j->theta);
    for (k = 0; k < 3; k++) {
        j->G[k][0] = c * R[0][k][0] + sn * R[0][k][1];
        j->G[k][1] = c * R[0][k][1] - sn * R[0][k][0];
        j->G[k][2] = R[0][k][2];
        j->arm[PLATE][k] = R[0][k][0] * j->now.x;
        j->arm[PIN][k] = j->arm[PLATE][k] - off[k];
    }
}

static void hinge_row(mdyn_sim *s, int index, mdyn_user_row *row, void *user)
{
    joint *j = (joint *)user;
    double angular[3], linear[3], value;
    int body;
    if (index == 0) { /* once for all rows */
        hinge_look(j, s);
    }
    for (body = PLATE; body <= PIN; body++) {
        const double sign = body == PIN ? 1 : -1;
        mdyn_body_term *part = &row->terms[body];
        slot_parts(j->now.wrench[index], j->G, j->arm[body], angular, linear);
        part->body = (int16_t)body;
        part->angular.x = MDYN_C(sign * angular[0]);
        part->angular.y = MDYN_C(sign * angular[1]);
        part->angular.z = MDYN_C(sign * angular[2]);
        part->linear.x = MDYN_C(sign * linear[0]);
        part->linear.y = MDYN_C(sign * linear[1]);
        part->linear.z = MDYN_C(sign * linear[2]);
    }
    for (body = PIN + 1; body < MIMICDYN_MAX_TERMS; body++) {
        row->terms[body].body = MDYN_WORLD;
    }
    value = index == SLOT_X ? j->now.x : index == SLOT_THETA ? j->theta
                                                           : slot_distance(&j->now, index);
    row->value = MDYN_C(value);
    if (index == SLOT_X) {
        row->lower = MDYN_C(SLOT_BEGIN);
        row->upper = MDYN_C(SLOT_END);
    } else if (index == SLOT_THETA) {
        row->lower = MDYN_C(-TURN_END);
        row->upper = MDYN_C(TURN_END);
    }
}

static const mdyn_model model = {
    .bodies = bodies, .body_count = 2, .dt = MDYN_C(DT), .user_row_count = SLOT_ROWS,
    .row_function = hinge_row, .user_data = &hinge,
};
static mdyn_sim sim;

/* r'' = r w^2 with (I + m r^2) w = momentum, by Runge and Kutta's fourth order. */
static void fly(double *r, double *v, double momentum, double h)
{
    static const double at[] = { 0, 0.5, 0.5, 1 }, weight[] = { 1, 2, 2, 1 };
    double dr = 0, dv = 0, sum_r = 0, sum_v = 0;
    int k;
    for (k = 0; k < 4; k++) {
        const double x = *r + at[k] * h * dr, u = *v + at[k] * h * dv;
        const double w = momentum / (I_PLATE + M_PIN * x * x);
        dr = u;
        dv = x * w * w;
        sum_r += weight[k] * dr / 6;
        sum_v += weight[k] * dv / 6;
    }
    *r += h * sum_r;
    *v += h * sum_v;
}

int main(void)
{
    const double w0 = 6;
    double r = 0.1, v = 0, momentum = (I_PLATE + M_PIN * r * r) * w0, at_end, at_last;
    double worst_r = 0, worst_w = 0, worst_gap = 0, worst_rate = 0;
    int n, k, row, flying = 1;

    must(&sim, mdyn_init(&sim, &model));
    must(&sim, mdyn_set_q(&sim, PIN, 0, MDYN_R(r)));
    must(&sim, mdyn_set_v(&sim, PLATE, 0, MDYN_R(w0)));
    must(&sim, mdyn_set_v(&sim, PIN, 4, MDYN_R(r * w0))); /* goes along with the slot, no turn */
    printf("t [s]   x [mm]   r''=r w^2   plate [rad/s]   closed   theta [rad]\n");
    at_end = momentum / (I_PLATE + M_PIN * SLOT_END * SLOT_END);
    at_last = momentum / (I_PLATE + M_PIN * SLOT_END * SLOT_END + I_PIN);
    for (n = 0; n < 8000; n++) {
        const joint before = hinge;
        double w = momentum / (I_PLATE + M_PIN * r * r);
        must(&sim, mdyn_step(&sim));
        hinge_look(&hinge, &sim);
        slot_differentiate(&hinge.now, (hinge.theta - before.theta) / DT);
        for (k = 0; k < 6; k++) {
            worst_gap = worse(worst_gap, fabs(hinge.now.error[k]));
        }
        for (row = 0; n > 0 && row < SLOT_ROWS; row++) { /* difference: the derivative midway */
            slot midway = hinge.now;
            const double half = (hinge.theta + before.theta) / 2;
            midway.wrench[SLOT_Y][0] = sin(half);
            midway.wrench[SLOT_Y][1] = cos(half);
            slot_differentiate(&midway, (hinge.theta - before.theta) / DT);
            for (k = 0; k < 6; k++) {
                const double d = (hinge.now.wrench[row][k] - before.now.wrench[row][k]) / DT;
                worst_rate = worse(worst_rate, fabs(d - midway.derivative[row][k]));
            }
        }
        fly(&r, &v, momentum, DT);
        flying = flying && r < SLOT_END - 0.005;
        w = flying ? momentum / (I_PLATE + M_PIN * r * r)
            : hinge.theta > -TURN_END + 0.01 ? at_end : at_last;
        if (flying) {
            worst_r = worse(worst_r, fabs(hinge.now.x - r));
            worst_w = worse(worst_w, fabs(real(mdyn_v(&sim, PLATE, 0)) - w));
        }
        if (n % 100 == 99 && (n < 600 || n % 1000 == 999)) {
            printf("%5.3f %8.2f %11.2f %15.4f %8.4f %13.4f\n", (n + 1) * DT, hinge.now.x * 1e3,
                   (flying ? r : SLOT_END) * 1e3, real(mdyn_v(&sim, PLATE, 0)), w, hinge.theta);
        }
        if (n == 4000) {
            CHECK("speed with the pin at the end [rad/s]", real(mdyn_v(&sim, PLATE, 0)), at_end,
                  2e-4);
        }
    }
    CHECK("way along the slot [m]", worst_r, 0, 5e-5);
    CHECK("speed of the plate on the way [rad/s]", worst_w, 0, 1e-2);
    CHECK("speed after the turn has ended [rad/s]", real(mdyn_v(&sim, PLATE, 0)), at_last, 3e-3);
    CHECK("the pin turns with the plate [rad/s]", real(mdyn_v(&sim, PIN, 2)),
          real(mdyn_v(&sim, PLATE, 0)), 5e-3);
    CHECK("theta, more than a turn [rad]", hinge.theta, -TURN_END, 1e-4);
    CHECK("end of the slot [m]", hinge.now.x, SLOT_END, 1e-4);
    CHECK("the pin stays in the slot [m, rad]", worst_gap, 0, 2e-5);
    CHECK("derivatives of the wrenches [1/s]", worst_rate, 0, BY_SCALAR(1e-4, 5e-3, 1e-4));
    return check_result();
}
