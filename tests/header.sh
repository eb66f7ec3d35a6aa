#!/bin/sh
# header.sh COMPILER STANDARD BUILD [ROOT]: the header by itself: interface, interface twice,
# implementation, implementation of static functions, for both scalars, warnings are errors.
# Exit 77: there is no such compiler.
. "$(dirname "$0")/common.sh"
compiler=$1
standard=$2
build=$3
root=${4:-.}
need "$compiler"
case $standard in c++*) suffix=cpp ;; *) suffix=c ;; esac
mkdir -p "$build"

include='#include "mimicdyn.h"'
implement='#define MIMICDYN_IMPLEMENTATION'
check() { # check NAME FLAGS LINE...: compiles a file of the lines for both scalars
    name=$1
    flags=$2
    shift 2
    file=$build/$compiler-$standard-$name.$suffix
    printf '%s\n' "$@" '#include "tests/expect.h"' 'int main(void) { return 0; }' >"$file"
    for scalar in F32 F64; do
        # shellcheck disable=SC2086 # flags are words
        "$compiler" -std="$standard" -O2 $warnings $flags -DMIMICDYN_SCALAR=$scalar \
            -DEXPECT_SCALAR_$scalar=1 -I"$root" -c "$file" -o "$file.o" ||
            fail "$compiler $standard $name $scalar"
    done
}

check interface "" "$include"
check twice "" "$include" "$include"
check implementation "" "$implement" "$include"
check late "" "$include" "$implement" "$include"
check again "" "$implement" "$include" "$include" # as when a header of the user includes it too
check static -DMIMICDYN_STATIC=1 "$implement" "$include" # nobody calls any of them
exit $failed
