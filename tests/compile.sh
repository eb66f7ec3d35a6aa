#!/bin/sh
# compile.sh BUILD [ROOT]: what compilers make of the header.
#   contraction   no fused multiply-add in the header, in GNU C and ISO C++; in the user's code
#                 behind it as many as without it
#   names         the macros that Windows and Arduino headers define
#   bounds        no warning of arrays of one element
# gcc's optimizer does with -Os what is asked for here, in half the time of -O2.
# Exit 77: no compiler, or no x86-64.
. "$(dirname "$0")/common.sh"
build=$1
root=${2:-.}
need gcc g++ clang
mkdir -p "$build"
gcc -dM -E -march=x86-64-v3 -x c /dev/null 2>/dev/null | grep -q __FP_FAST_FMA ||
    { echo "not run: no fused multiply-add here"; exit 77; }

# count FILE FUNCTION: fused multiply-adds of a function, of all functions if it is empty
count() {
    sed -n "/^_*Z*[0-9]*$2.*:/,/ret/p" "$1" | grep -c 'vfn*m'
}
user='double user_dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1]; }'
contraction() { # contraction COMPILER STANDARD LANGUAGE
    printf '%s\n' '#define MIMICDYN_IMPLEMENTATION' '#include "mimicdyn.h"' "$user" >"$build/fma"
    echo "$user" >"$build/fma_alone"
    for file in fma fma_alone; do
        "$1" "-std=$2" -x "$3" -Os -march=x86-64-v3 -DMIMICDYN_SCALAR=F64 -I"$root" -S \
            "$build/$file" -o "$build/$file.s" || fail "$1 $2: $file"
    done
    all=$(grep -c 'vfn*m' "$build/fma.s")
    own=$(count "$build/fma.s" user_dot)
    alone=$(count "$build/fma_alone.s" user_dot)
    [ "$all" = "$own" ] || fail "$1 $2: $all fused multiply-adds, $own of them the user's"
    [ "$alone" -gt 0 ] || fail "$1 $2: contracts nothing; the test went blind"
    [ "$own" = "$alone" ] || fail "$1 $2: user's code: $own fused multiply-adds, $alone alone"
}
contraction g++ c++11 c++
contraction gcc gnu99 c
contraction clang gnu99 c

# Names that are macros of windows.h or Arduino.h.
names="-Dfar= -Dnear= -DFAR= -DNEAR= -Dsmall=char -Dhyper=__int64 -Dinterface=struct -DIN= -DOUT="
names="$names -Dpascal=__stdcall -Dcdecl=__cdecl -DCONST=const -DVOID=void -DERROR=0 -DSTRICT=1"
names="$names -DPI=3.14 -DHIGH=1 -DLOW=0 -DINPUT=0 -DOUTPUT=1 -DDEFAULT=1 -DEULER=2.7 -DB0=0"
printf '%s\n' '#define MIMICDYN_IMPLEMENTATION' '#include "mimicdyn.h"' >"$build/names.c"
for scalar in F32 FIXED; do
    # shellcheck disable=SC2086 # flags are words
    clang -std=c99 $warnings -fsyntax-only $names -DMIMICDYN_SCALAR=$scalar \
        -DMIMICDYN_MAX_CONTACTS=2 -DMIMICDYN_MAX_BODY_ROWS=4 -DMIMICDYN_MAX_DANTZIG=4 \
        -DMIMICDYN_MAX_CURVES=4 -I"$root" \
        "$build/names.c" || fail "names $scalar"
    # shellcheck disable=SC2086
    for knobs in "ROWS COUPLINGS" "BODIES DOFS"; do
        gcc -std=c99 $warnings $(quick gcc) -Os -DMIMICDYN_SCALAR=$scalar \
            -DMIMICDYN_MAX_${knobs% *}=1 -DMIMICDYN_MAX_${knobs#* }=1 -I"$root" \
            -c "$build/names.c" -o "$build/names.o" || fail "bounds $knobs $scalar"
    done
done
# The default of MIMICDYN_MAX_ENTRIES, of any number of bodies.
for bodies in 1 1000 4096; do
    clang -std=c99 -fsyntax-only -DMIMICDYN_MAX_BODIES=$bodies -I"$root" "$build/names.c" ||
        fail "$bodies bodies"
done
exit $failed
