/* Runs all mechanisms for 2000 steps each, and prints for each one a line
       NAME TABLES MOTION SO_FAR
   of three hashes: of the numbers in the tables as the compiler made them, of every q and v after
   every step, and of all motions up to this one. With DETERMINISM_EVERY it also prints the hash of
   the motion after each so many steps: that finds the step in which two machines part. */
#define MIMICDYN_IMPLEMENTATION
#include "mechanisms/mechanism.h"
#include "port.h"

enum { STEPS = 2000 };

static const specimen *const mechanisms[] = {
    &mechanism_dyadic,
#if !defined(MECHANISMS_TINY) || MDYN_SCALAR == MDYN_SCALAR_F32
    &mechanism_jaws, &mechanism_planetary,
#endif
#ifndef MECHANISMS_TINY
    &mechanism_differential, &mechanism_spring, &mechanism_finger,
#ifndef MECHANISMS_SMALL
    &mechanism_robotiq, &mechanism_arm, &mechanism_floating,
#endif
#endif
};
static mdyn_sim sim;

/* ---- FNV-1a of 32 bits; the bytes of a number from low to high on every machine ---- */

static void hash_byte(uint32_t *hash, uint8_t byte) {
    *hash = (*hash ^ byte) * 16777619u;
}

static void hash_number(uint32_t *hash, const void *number, int size) {
    static const uint16_t one = 1;
    const uint8_t *bytes = (const uint8_t *)number;
    int little = *(const uint8_t *)&one, i;
    for (i = 0; i < size; i++) hash_byte(hash, bytes[little ? i : size - 1 - i]);
}

static void hash_state(uint32_t *hash) {
    int i;
    for (i = 0; i < mdyn_coordinates(&sim); i++) hash_number(hash, &sim.q[i], sizeof sim.q[i]);
    for (i = 0; i < mdyn_dofs(&sim); i++) hash_number(hash, &sim.v[i], sizeof sim.v[i]);
}

#define HASH_WIDES(hash, ...) \
    do { \
        const mdyn_wide numbers[] = { __VA_ARGS__ }; \
        unsigned n; \
        for (n = 0; n < sizeof numbers / sizeof numbers[0]; n++) \
            hash_number(hash, &numbers[n], sizeof numbers[n]); \
    } while (0)

static void hash_body(uint32_t *hash, const mdyn_body *b) {
    HASH_WIDES(hash, b->axis.x, b->axis.y, b->axis.z, b->pitch);
    HASH_WIDES(hash, b->position.x, b->position.y, b->position.z);
    HASH_WIDES(hash, b->rotation.w, b->rotation.x, b->rotation.y, b->rotation.z);
    HASH_WIDES(hash, b->mass, b->com.x, b->com.y, b->com.z);
    HASH_WIDES(hash, b->inertia.xx, b->inertia.yy, b->inertia.zz);
    HASH_WIDES(hash, b->inertia.xy, b->inertia.xz, b->inertia.yz);
    HASH_WIDES(hash, b->armature, b->damping, b->friction, b->lower, b->upper);
    HASH_WIDES(hash, b->effort, b->drive_kp, b->drive_kd);
}

static uint32_t hash_tables(const mdyn_model *model) {
    uint32_t hash = 2166136261u;
    int i, k;
    for (i = 0; i < model->body_count; i++) hash_body(&hash, &model->bodies[i]);
    for (i = 0; i < model->coupling_count; i++) {
        const mdyn_coupling *c = &model->couplings[i];
        for (k = 0; k < (int)(sizeof c->terms / sizeof c->terms[0]); k++)
            HASH_WIDES(&hash, c->terms[k].coefficient);
        HASH_WIDES(&hash, c->offset, c->softness.a, c->softness.b);
        HASH_WIDES(&hash, c->lower, c->upper, c->target_velocity, c->effort);
    }
    HASH_WIDES(&hash, model->gravity.x, model->gravity.y, model->gravity.z, model->dt);
    return hash;
}

/* ---- */

static void print_hash(const char *before, uint32_t hash) {
    char text[9];
    int i;
    for (i = 7; i >= 0; i--, hash >>= 4) text[i] = "0123456789abcdef"[hash & 15];
    text[8] = 0;
    port_text(before);
    port_text(text);
}

static int run(const specimen *m, uint32_t *so_far) {
    uint32_t hash = 2166136261u;
    int16_t step;
    if (mdyn_init(&sim, m->model) < 0) return 1;
    for (step = 0; step < STEPS; step++) {
        m->command(&sim, step);
        if (mdyn_step(&sim) < 0) return 2;
        hash_state(&hash);
#ifdef DETERMINISM_EVERY
        if (step % DETERMINISM_EVERY == DETERMINISM_EVERY - 1) print_hash("\n", hash);
#endif
    }
    port_text(m->name);
    print_hash(" ", hash_tables(m->model));
    print_hash(" ", hash);
    hash_number(so_far, &hash, sizeof hash);
    print_hash(" ", *so_far);
    port_text("\n");
    return 0;
}

int main(void) {
    uint32_t so_far = 2166136261u;
    unsigned i;
    for (i = 0; i < sizeof mechanisms / sizeof mechanisms[0]; i++) {
        int code = run(mechanisms[i], &so_far);
        if (code != 0) {
            port_text(mechanisms[i]->name);
            port_text(code == 1 ? " was refused\n" : " cannot step\n");
            return code;
        }
    }
    return 0;
}
