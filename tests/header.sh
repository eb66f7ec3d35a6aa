#!/bin/sh
# header.sh COMPILER STANDARD BUILD [ROOT]: the header by itself: interface, interface twice,
# implementation, implementation of static functions, the smallest ones, for all scalars, warnings
# are errors; and what is said of a configuration that cannot be.
# Exit 77: there is no such compiler.
. "$(dirname "$0")/common.sh"
compiler=$1
standard=$2
build=$3
root=${4:-.}
need "$compiler"
case $standard in c++*) suffix=cpp ;; *) suffix=c ;; esac
scalars="F32 F64 FIXED"
target=-O2
case $compiler in
avr-gcc) # its double has 32 bits
    scalars="F32 FIXED"
    target="-fsyntax-only -mmcu=atmega2560" ;;
arm-none-eabi-gcc) target="-fsyntax-only -mcpu=cortex-m0 -mthumb -ffreestanding" ;;
riscv64-unknown-elf-gcc) target="-fsyntax-only -march=rv32imc -mabi=ilp32 -ffreestanding" ;;
esac
mkdir -p "$build"

include='#include "mimicdyn.h"'
implement='#define MIMICDYN_IMPLEMENTATION'
check() { # check NAME FLAGS LINE...: compiles a file of the lines for all scalars
    name=$1
    flags=$2
    shift 2
    file=$build/$compiler-$standard-$name.$suffix
    printf '%s\n' "$@" '#include "tests/expect.h"' 'int main(void) { return 0; }' >"$file"
    for scalar in $scalars; do
        # shellcheck disable=SC2086 # flags are words
        "$compiler" -std="$standard" $warnings $target $flags \
            -DMIMICDYN_SCALAR=$scalar -DEXPECT_SCALAR_$scalar=1 -I"$root" -c "$file" -o "$file.o" ||
            fail "$compiler $standard $name $scalar"
    done
}

check interface "" "$include"
check twice "" "$include" "$include"
check implementation "" "$implement" "$include"
check late "" "$include" "$implement" "$include"
check again "" "$implement" "$include" "$include" # as when a header of the user includes it too
check pure -DMIMICDYN_LCP=0 "$implement" "$include"
check bodies "-DMIMICDYN_MAX_BODIES=3 -DMIMICDYN_MAX_BODY_ROWS=3 -DMIMICDYN_MAX_CONTACTS=1 \
    -DMIMICDYN_MAX_DANTZIG=6" "$implement" "$include"
check static -DMIMICDYN_STATIC=1 "$implement" "$include" # nobody calls any of them
small="-O0 -DMIMICDYN_WARNINGS=0 -DMIMICDYN_SETTINGS=0 -DMIMICDYN_LOSSES=0 -DMIMICDYN_LCP=0"
smallest="$small -DMIMICDYN_EXACT=0 -DMIMICDYN_WARM=0 -DMIMICDYN_CHECKS=0"
check small "$small -DMIMICDYN_QUATERNIONS=0" "$implement" "$include"
check smallest "$smallest -DMIMICDYN_QUATERNIONS=0" "$implement" "$include"
check rotors "$small -DMIMICDYN_TREE=0" "$implement" "$include"
check couplings "$smallest -DMIMICDYN_TREE=0" "$implement" "$include"

refuses() { # refuses TEXT FLAGS: the interface does not compile with these, and says TEXT
    text=$1
    shift
    printf '%s\n' "$include" >"$build/$compiler-$standard-refused.$suffix"
    file=$build/$compiler-$standard-refused
    # shellcheck disable=SC2086 # flags are words
    if "$compiler" -std="$standard" $target "$@" -I"$root" -c "$file.$suffix" -o "$file.o" \
        2>"$file.log"; then
        fail "$compiler $standard compiles with $*"
    fi
    grep -q "error.*$text" "$file.log" ||
        fail "$compiler $standard with $* does not say: $text"
}
rows="MIMICDYN_MAX_BODY_ROWS and MIMICDYN_MAX_CONTACTS need MIMICDYN_TREE 1"
refuses "$rows" -DMIMICDYN_TREE=0 -DMIMICDYN_MAX_BODY_ROWS=1
refuses "$rows" -DMIMICDYN_TREE=0 -DMIMICDYN_MAX_CONTACTS=1
refuses "MIMICDYN_QUATERNIONS needs MIMICDYN_TREE 1" -DMIMICDYN_TREE=0 -DMIMICDYN_QUATERNIONS=1
refuses "F64 needs a double of 64 bits" -DMIMICDYN_SCALAR=F64 -U__SIZEOF_DOUBLE__ \
    -D__SIZEOF_DOUBLE__=4
refuses "MIMICDYN_WARNINGS must be 0 or 1" -DMIMICDYN_WARNINGS=2
refuses "MIMICDYN_WARNINGS needs MIMICDYN_EXACT 1" -DMIMICDYN_EXACT=0 -DMIMICDYN_WARNINGS=1
exit $failed
