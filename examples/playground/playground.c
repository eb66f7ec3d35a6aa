/* playground.c - the machines of the page and what its scripts may call: compiled to WebAssembly
   once in float and once in fixed point, and natively by native.c, which prints the same hashes.
   A machine is one of the enum below; angles in rad, lengths in m, forces in N and N m. */

#define MIMICDYN_MAX_BODIES 12
#define MIMICDYN_MAX_COUPLINGS 11
#define MIMICDYN_MAX_TERMS 3
#define MIMICDYN_MAX_ROWS 40
#define MIMICDYN_LCP 0
#define MIMICDYN_QUATERNIONS 0
#define MIMICDYN_STATIC 1
#define MIMICDYN_IMPLEMENTATION
#include "../../mimicdyn.h"
#include "../robots/robotiq_85.h"
#include "../robots/planetary.h"
#include "gripper.h"
#include "planets.h"
#include "train.h"
#include "hoist.h"
#include "pendulum.h"

#ifdef __wasm__
#define EXPORT(name) __attribute__((export_name(#name)))
#else
#define EXPORT(name)
#endif

enum { GRIPPER, PLANETS, TRAIN, TRAIN_ITERATED, HOIST, PENDULUM, MACHINES };

/* One of each for the page, and one to compute hashes with. */
static machine machines[MACHINES], hashed;

static void start(machine *m, int which)
{
    switch (which) {
    case GRIPPER: gripper_start(m, 0); break;
    case PLANETS: planets_start(m); break;
    case TRAIN: train_start(m, 0); break;
    case TRAIN_ITERATED: train_start(m, 1); break;
    case HOIST: hoist_start(m); break;
    default: pendulum_start(m); break;
    }
}

static int step(machine *m, int which)
{
    switch (which) {
    case GRIPPER: return gripper_step(m);
    case HOIST: return hoist_step(m);
    default: return machine_step(m);
    }
}

static void script(machine *m, int which, int at)
{
    switch (which) {
    case GRIPPER: gripper_script(m, at); break;
    case PLANETS: planets_script(m, at); break;
    case TRAIN:
    case TRAIN_ITERATED: train_script(m, at); break;
    case HOIST: hoist_script(m, at); break;
    default: break;
    }
}

static machine *machine_at(int which)
{
    return &machines[which >= 0 && which < MACHINES ? which : 0];
}

/* Returns the code of mdyn_init. */
EXPORT(play_start)
int play_start(int which)
{
    start(machine_at(which), which);
    return machine_at(which)->code;
}

/* Returns the last code other than 0. */
EXPORT(play_steps)
int play_steps(int which, int count)
{
    int result = MDYN_OK, i;
    for (i = 0; i < count; i++) {
        const int code = step(machine_at(which), which);
        if (code) result = code;
    }
    return result;
}

/* A setting is one of the enum in the machine's file. */
EXPORT(play_set)
int play_set(int which, int setting, double value)
{
    switch (which) {
    case GRIPPER: return gripper_set(machine_at(which), setting, value);
    case PLANETS: return planets_set(machine_at(which), setting, value);
    case TRAIN:
    case TRAIN_ITERATED: return train_set(machine_at(which), setting, value);
    case HOIST: return hoist_set(machine_at(which), setting, value);
    default: return MDYN_ERR_INDEX;
    }
}

/* Takes hold of a body's joint; -1 lets go. */
EXPORT(play_hold)
int play_hold(int which, int body)
{
    switch (which) {
    case GRIPPER: return gripper_hold(machine_at(which), body);
    case PLANETS: return machine_hold(machine_at(which), body, planets_hand);
    case TRAIN:
    case TRAIN_ITERATED: return machine_hold(machine_at(which), body, train_hand);
    default: return MDYN_ERR_INDEX;
    }
}

/* Where the hand pulls the joint that it holds, and how fast it moves. */
EXPORT(play_pull)
int play_pull(int which, double target, double velocity)
{
    machine *m = machine_at(which);
    if (m->held < 0) return MDYN_ERR_INDEX;
    mdyn_set_target_velocity(&m->sim, m->held, mdyn_real_from(velocity));
    return mdyn_set_target(&m->sim, m->held, mdyn_real_from(target));
}

EXPORT(play_q)
double play_q(int which, int body) { return real(mdyn_q(&machine_at(which)->sim, body, 0)); }
EXPORT(play_v)
double play_v(int which, int body) { return real(mdyn_v(&machine_at(which)->sim, body, 0)); }

/* Pose of a body: x, y, z, then w, x, y, z of its quaternion. */
EXPORT(play_pose)
double play_pose(int which, int body, int part)
{
    mdyn_real3 p = { 0, 0, 0 };
    mdyn_real4 r = { 0, 0, 0, 0 };
    if (mdyn_pose(&machine_at(which)->sim, body, &p, &r) < 0) return 0;
    switch (part) {
    case 0: return real(p.x);
    case 1: return real(p.y);
    case 2: return real(p.z);
    case 3: return real(r.w);
    case 4: return real(r.x);
    case 5: return real(r.y);
    default: return real(r.z);
    }
}

/* Of row `index` of a kind in the last step: force, error, velocity, flags. */
EXPORT(play_row)
double play_row(int which, int kind, int index, int part)
{
    const mdyn_row_report row = row_of(machine_at(which), (mdyn_row_kind)kind, index);
    switch (part) {
    case 0: return wide(row.force);
    case 1: return wide(row.error);
    case 2: return wide(row.velocity);
    default: return row.flags;
    }
}

/* Torque of a coupling on the joint of one of its terms. */
EXPORT(play_torque)
double play_torque(int which, int coupling, int term)
{
    mdyn_wide force;
    return mdyn_coupling_force(&machine_at(which)->sim, coupling, term, &force) < 0 ? 0
                                                                                    : wide(force);
}

EXPORT(play_joules)
double play_joules(int which, int sum) { return machine_at(which)->joules[sum & 7]; }

/* End 0 or 1 of what mdyn_range leaves of a joint. */
EXPORT(play_range)
double play_range(int which, int body, int end)
{
    mdyn_wide lower = 0, upper = 0;
    if (mdyn_range(&machine_at(which)->sim, body, &lower, &upper) < 0) return 0;
    return wide(end ? upper : lower);
}

/* Of mdyn_init: the index that it named. */
EXPORT(play_culprit)
int play_culprit(int which) { return machine_at(which)->culprit; }

/* Texts that end in 0. */
EXPORT(play_text)
const char *play_text(int code) { return mdyn_text(code); }
EXPORT(play_remedy)
const char *play_remedy(int code) { return mdyn_remedy(code); }
EXPORT(play_name)
const char *play_name(int which, int body)
{
    const machine *m = machine_at(which);
    const char *name = body >= 0 && body < m->model.body_count ? m->bodies[body].name : NULL;
    return name ? name : "";
}
/* What mdyn_explain says of a coupling. */
EXPORT(play_equation)
const char *play_equation(int which, int coupling)
{
    static char text[200];
    text[0] = 0;
    mdyn_explain(&machine_at(which)->sim, MDYN_ROW_COUPLING, coupling, text, sizeof text);
    return text;
}

/* Hash of all states since the start. */
EXPORT(play_hash)
uint64_t play_hash(int which) { return machine_at(which)->hash; }

/* Hash of `steps` steps with the commands of the machine's script. */
EXPORT(play_scripted_hash)
uint64_t play_scripted_hash(int which, int steps)
{
    int at;
    start(&hashed, which);
    for (at = 0; at < steps; at++) {
        script(&hashed, which, at);
        step(&hashed, which);
    }
    return hashed.hash;
}

/* Bytes of a sim. */
EXPORT(play_memory)
int play_memory(void) { return (int)sizeof(mdyn_sim); }
EXPORT(play_teeth)
int play_teeth(int wheel)
{
    return train_teeth[wheel >= 0 && wheel < TRAIN_WHEELS ? wheel : 0];
}
