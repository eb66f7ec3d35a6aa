#!/bin/sh
# nofloat.sh SCRATCH [ROOT]: in FIXED nothing of float or double is left for the processor.
#   - gcc's -mgeneral-regs-only refuses every float: the library, and a program with tables made by
#     MDYN_C and MDYN_R, compile with it and run;
#   - on processors without a float unit the objects ask the linker for no routine of float.
# That F32 fails both, at one level, shows that the test can see. Exit 77: no compiler for either is
# here.
. "$(dirname "$0")/common.sh"
scratch=$1
root=${2:-.}
mkdir -p "$scratch"
tried=0

cat >"$scratch/nofloat.c" <<'END'
#define MIMICDYN_IMPLEMENTATION
#include "mimicdyn.h"
enum { MOTOR, ARM, JAW };
static const mdyn_body bodies[] = {
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .armature = MDYN_C(1e-7) },
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .axis = MDYN_V3(0, 1, 0),
      .mass = MDYN_C(0.35), .com = MDYN_V3(0.1, -2.5e-3, 0), .friction = MDYN_C(1e-3),
      .inertia = MDYN_INERTIA(1e-4, 2e-4, 2e-4, 0, 0, 0), .lower = MDYN_C(-1), .upper = MDYN_C(1) },
    { .parent = ARM, .joint = MDYN_PRISMATIC, .mass = MDYN_C(15e-3),
      .position = MDYN_V3(0.2, 0, 0), .rotation = MDYN_QUATERNION(1, 0.5, 0, 0),
      .drive_kp = MDYN_C(20), .drive_kd = MDYN_C(0.5) },
};
static const mdyn_coupling couplings[] = { MDYN_GEAR(MOTOR, 1, ARM, -100, 0) };
static const mdyn_model model = {
    .bodies = bodies, .body_count = 3, .couplings = couplings, .coupling_count = 1,
    .gravity = MDYN_V3(0, 0, -9.81), .dt = MDYN_C(0.001),
};
static mdyn_sim sim;
static mdyn_wide many[18];
static int close_to(mdyn_real a, mdyn_real b)
{
    return a - b < MDYN_R(1e-9) && b - a < MDYN_R(1e-9);
}
int main(void)
{
    int32_t turns = 0;
    mdyn_real3 place, spin;
    mdyn_real4 turn;
    int k;
    if (mdyn_init(&sim, &model) != MDYN_OK) return 1;
    for (k = 0; k < 300; k++) {
        sim.tau[MOTOR] = MDYN_R(0.008);
        sim.target[JAW] = k < 150 ? MDYN_R(0.01) : MDYN_R(-0.01);
        if (mdyn_step(&sim) != MDYN_OK) return 2;
        turns = mdyn_unwrap(turns, (uint32_t)mdyn_to_counts(sim.q[MOTOR], MDYN_C(1e-3)) & 4095, 12);
    }
    if (!close_to(sim.q[MOTOR], 100 * sim.q[ARM])) return 3;
    if (turns != mdyn_to_counts(sim.q[MOTOR], MDYN_C(1e-3)) || turns == 0) return 4;
    if (mdyn_pose(&sim, JAW, &place, &turn) != MDYN_OK) return 5;
    if (mdyn_velocity(&sim, JAW, &place, &spin, &place) != MDYN_OK) return 6;
    if (mdyn_mass_matrix(&sim, many) || mdyn_bias_force(&sim, many)) return 7;
    if (mdyn_energy(&sim, many, many + 1) || mdyn_project(&sim, MDYN_MASS_METRIC)) return 8;
    return 0;
}
END

compile() { # compile COMPILER SCALAR OUTPUT FLAGS...: quietly
    compiler=$1
    scalar=$2
    output=$3
    shift 3
    "$compiler" -std=c99 -DMIMICDYN_SCALAR="$scalar" -I"$root" "$@" "$scratch/nofloat.c" \
        -o "$output" >"$scratch/nofloat.log" 2>&1
}

if [ "$(uname -m)" = x86_64 ] && command -v gcc >/dev/null 2>&1; then
    for level in -O0 -Os; do
        tried=$((tried + 1))
        if compile gcc FIXED "$scratch/nofloat" $level -mgeneral-regs-only; then
            "$scratch/nofloat" || fail "gcc $level: the program ends with $?"
        else
            cat "$scratch/nofloat.log"
            fail "gcc $level -mgeneral-regs-only: there are floats"
        fi
    done
    ! compile gcc F32 "$scratch/nofloat" -O0 -mgeneral-regs-only ||
        fail "gcc -mgeneral-regs-only lets F32 pass; the test went blind"
fi

# Routines of float by their names: ARM's, and those of gcc's other targets.
floats='__aeabi_(c?[fd]|u?[il]2)|__[a-z]+([sdtx]f|[sdt]i[sd]f)[a-z0-9]*$'
soft() { # soft COMPILER FLAGS...
    command -v "$1" >/dev/null 2>&1 || return 0
    compiler=$1
    shift
    tried=$((tried + 1))
    compile "$compiler" FIXED "$scratch/nofloat.o" -O0 -c -ffreestanding "$@" ||
        { cat "$scratch/nofloat.log"; fail "$compiler $* does not compile"; return; }
    found=$(nm -u "$scratch/nofloat.o" | awk '{ print $NF }' | grep -E "$floats")
    [ -z "$found" ] || fail "$compiler $* asks for" $found
    compile "$compiler" F32 "$scratch/nofloat.o" -O0 -c -ffreestanding "$@" &&
        nm -u "$scratch/nofloat.o" | grep -qE "$floats" ||
        fail "$compiler $*: F32 has no floats either; the test went blind"
}
soft arm-none-eabi-gcc -mcpu=cortex-m0 -mthumb
soft riscv64-unknown-elf-gcc -march=rv32imc -mabi=ilp32
soft avr-gcc -mmcu=atmega2560 -DMIMICDYN_MAX_BODIES=4
[ $tried -gt 0 ] || { echo "not run: no compiler for a processor without floats here"; exit 77; }
echo "$tried objects are without float"
exit $failed
