/* A program of firmware with the model BAKE_MODEL, as mdyn_init sets it up or as it was baked. Only
   its size is measured. */
#define MIMICDYN_STATIC 1
#define MIMICDYN_CHECKS 0
#define MIMICDYN_IMPLEMENTATION
#ifdef BAKE_HEADER
#include BAKE_HEADER
#endif
#include BAKE_SOURCE
#ifdef BAKE_HEADER
#include BAKE_HEADER
#endif

static mdyn_sim sim;

int main(void) {
#ifdef BAKE_HEADER
    if (BAKE_BEGIN(&sim, NULL) < 0) return 1;
#else
    if (mdyn_init(&sim, &BAKE_MODEL) < 0) return 1;
#endif
    sim.target[0] = MDYN_R(0.5);
    while (mdyn_step(&sim) >= 0) {
    }
    return 2;
}
