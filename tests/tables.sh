#!/bin/sh
# tables.sh BUILD [ROOT]: tables as users write them, in C and C++.
#   README     its program compiles without a warning as C99, and as C++11 to C++20 in g++, clang++
#              and avr-g++ with -Wold-style-cast; no code runs before main to fill its tables, at
#              -O0 too; its tables are in read-only sections
#   sketch     the one of examples/, for AVR, ARM and the host, where it runs
#   examples   in every scalar, without the library
#   msvc       the header and the tables in clang's MSVC mode
#   pragmas    what IAR, armcc and MSVC are told of contraction
#   knobs      a misspelled one is an error
# Exit 77: no compiler.
. "$(dirname "$0")/common.sh"
build=$1
root=${2:-.}
need gcc g++ objdump
mkdir -p "$build"
common="-Wall -Wextra -Werror -I$root"

awk '$0 == "```c" { inside = ++n == 1; next } /^```/ { inside = 0 } inside' "$root/README.md" \
    >"$build/tables.cpp"
[ -s "$build/tables.cpp" ] || { echo "README.md has no program"; exit 1; }
program() { # program COMPILER FLAGS...: compiles it, looks at its sections
    object=$build/tables.o
    # shellcheck disable=SC2086 # flags are words
    "$@" $common -c "$build/tables.cpp" -o "$object" || { fail "the README's program: $*"; return; }
    objdump -h "$object" >"$build/tables.sections" 2>/dev/null ||
        avr-objdump -h "$object" >"$build/tables.sections"
    if grep -E '\.(init_array|ctors|preinit)' "$build/tables.sections"; then
        fail "$*: code before main"
    fi
}
# The tables of a file of their own are constants: no writable byte but the sim.
sed -n '/^enum/,/^static mdyn_sim/p' "$build/tables.cpp" | grep -v '^static mdyn_sim' >"$build/own"
{
    echo '#include "mimicdyn.h"'
    cat "$build/own"
    echo 'extern const mdyn_model *const the_gripper;'
    echo 'const mdyn_model *const the_gripper = &gripper;'
} >"$build/own.cpp"
constants() { # constants COMPILER FLAGS...
    # shellcheck disable=SC2086 # flags are words
    "$@" $common -fno-pic -c "$build/own.cpp" -o "$build/own.o" || { fail "tables: $*"; return; }
    data=$(size "$build/own.o" | awk 'NR == 2 { print $2 + $3 }')
    [ "$data" = 0 ] || fail "$*: $data writable bytes in tables"
}
for scalar in F32 FIXED; do
    program gcc -x c -std=c99 -pedantic -O0 -DMIMICDYN_SCALAR=$scalar
    for compiler in g++ clang++; do
        command -v $compiler >/dev/null 2>&1 || continue
        for standard in 11 14 17 20; do
            constants $compiler -std=c++$standard -pedantic -Wold-style-cast -O0 \
                -DMIMICDYN_SCALAR=$scalar
        done
        program $compiler -std=c++11 -pedantic -Wold-style-cast -O0 -DMIMICDYN_SCALAR=$scalar
    done
done
if command -v avr-g++ >/dev/null 2>&1; then
    program avr-g++ -mmcu=atmega2560 -std=c++11 -Wold-style-cast -Os
fi

for example in "$root"/examples/*.c; do
    grep -vE '^#define MIMICDYN_(IMPLEMENTATION|STATIC)' "$example" >"$build/example.c"
    for scalar in F32 F64 FIXED; do
        # shellcheck disable=SC2086 # flags are words
        gcc -std=c99 $warnings -fsyntax-only -DMIMICDYN_SCALAR=$scalar -I"$root/examples" \
            -I"$root" "$build/example.c" || fail "$example $scalar"
    done
done

# The sketch: its form is that of Arduino, C++11 and GNU extensions.
sketch="$common -I$root/tests/arduino -std=gnu++11 -Wold-style-cast -x c++"
for compiler in "avr-g++ -mmcu=atmega2560 -Og" "arm-none-eabi-g++ -mcpu=cortex-m0 -mthumb -Og"; do
    command -v "${compiler%% *}" >/dev/null 2>&1 || { echo "no ${compiler%% *} here"; continue; }
    for scalar in F32 FIXED; do
        sed "s/SCALAR F32/SCALAR $scalar/" "$root/examples/gripper_sketch/gripper_sketch.ino" \
            >"$build/sketch.ino"
        # shellcheck disable=SC2086 # flags are words
        $compiler $sketch -ffreestanding -c "$build/sketch.ino" -o "$build/sketch.o" ||
            fail "the sketch: $compiler $scalar"
    done
done
# shellcheck disable=SC2086 # flags are words
g++ $sketch "$root/tests/arduino/sketch.cpp" -o "$build/sketch" && "$build/sketch" ||
    fail "the sketch does not run"

if command -v clang >/dev/null 2>&1; then
    printf '#define MIMICDYN_IMPLEMENTATION\n#include "mimicdyn.h"\n' >"$build/msvc.c"
    for scalar in F32 FIXED; do
        # shellcheck disable=SC2086 # flags are words
        clang --driver-mode=cl --target=x86_64-pc-windows-msvc /clang:-ffreestanding /W4 /WX \
            -I"$root" -DMIMICDYN_SCALAR=$scalar -fsyntax-only "$build/msvc.c" ||
            fail "clang as cl: C, $scalar"
        clang --driver-mode=cl --target=x86_64-pc-windows-msvc /clang:-ffreestanding /W4 /WX \
            -I"$root" -DMIMICDYN_SCALAR=$scalar -DMIMICDYN_IMPLEMENTATION -fsyntax-only \
            "$build/own.cpp" || fail "clang as cl: C++, $scalar"
    done
fi

# told FLAGS PRAGMA: what the preprocessor leaves for a compiler that is not here
told() {
    # shellcheck disable=SC2086 # flags are words
    gcc -E -std=c99 -U__GNUC__ $1 -I"$root" -DMIMICDYN_IMPLEMENTATION -x c "$root/mimicdyn.h" |
        grep -q "^#pragma $2" || fail "$1 is not told: #pragma $2"
}
told "-D__IAR_SYSTEMS_ICC__=9" "STDC FP_CONTRACT OFF"
told "-D__CC_ARM=1 -D__FP_IEEE=1" "STDC FP_CONTRACT OFF"
told "-D_MSC_VER=1930" "fp_contract(off)"

refused() { # refused TEXT FLAGS...: the interface does not compile with these, and says TEXT
    text=$1
    shift
    gcc "$@" -fsyntax-only -x c "$root/mimicdyn.h" 2>"$build/refused.log" && fail "compiles: $*"
    grep -q "error.*$text" "$build/refused.log" || fail "$* does not say: $text"
}
refused "armcc has it with" -D__CC_ARM=1
refused "MIMICDYN_KNOBS is not the number" -DMIMICDYN_KNOBS=1 -DMIMICDYN_MAX_BODEIS=8
refused "MIMICDYN_KNOBS is not the number" -DMIMICDYN_KNOBS=1 -DMIMICDYN_MAX_BODIES=8 \
    -DMIMICDYN_TREE=1
refused "this is no knob" -DMIMICDYN_MAX_BODYS=8
refused "this is no knob" -DMDYN_MAX_BODIES=8
gcc -fsyntax-only -DMIMICDYN_KNOBS=2 -DMIMICDYN_MAX_BODIES=8 -DMIMICDYN_MAX_DOFS=9 -x c \
    "$root/mimicdyn.h" || fail "two knobs, counted, do not compile"
for knob in $(grep -oE '^#ifn?def MIMICDYN_[A-Z_]+' "$root/mimicdyn.h" | awk '{ print $2 }' |
    grep -v -e IMPLEMENTATION -e '_H$' | sort -u); do
    case $knob in
    MIMICDYN_SCALAR) value=F64 ;;
    MIMICDYN_MAX_*) value=8 ;;
    MIMICDYN_BAKED) value=0 ;; # 1 needs others
    *) value=1 ;;
    esac
    gcc -fsyntax-only -DMIMICDYN_KNOBS=1 "-D$knob=$value" -x c "$root/mimicdyn.h" ||
        fail "$knob is not counted"
    refused "MIMICDYN_KNOBS is not the number" -DMIMICDYN_KNOBS=2 "-D$knob=$value"
done
exit $failed
