/* The links of chains, and numbers drawn at random: for what runs without a libc too. */
#ifndef RODS_H
#define RODS_H

#include <stdint.h>

/* Rods along z, one on the end of the other; they turn about x, y, z in turn. */
#define LINK 0.1
#define LINK_MASS 0.5
#define LINK_FALL 9.81 /* gravity, against x */
static const double link_com[3] = { 0.005, -0.004, 0.05 };
static const double link_inertia[6] = { /* xx, yy, zz, xy, xz, yz */
    5.21e-4, 4.83e-4, 1.71e-4, 2.0e-5, -1.5e-5, 3.0e-5
};

/* Steele, Lea, Flood: splitmix64; to [-1, 1). */
static inline double uniform(uint64_t *state) {
    *state += 0x9E3779B97F4A7C15u;
    uint64_t x = *state;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    x ^= x >> 31;
    return (double)(x >> 11) * 0x1p-52 - 1;
}

#endif
