#!/bin/sh
# header.sh COMPILER STANDARD BUILD [ROOT]: the header by itself: interface, implementation, the
# smallest ones, for all scalars, warnings are errors; and what is said of a configuration that
# cannot be. What does not depend on the standard is asked in the first one of a compiler, c99 or
# c++11: the header twice, before and behind the implementation, the implementation of static
# functions, and, of gcc, what only its optimizer warns of (clang's warnings are its front end's).
# Exit 77: there is no such compiler.
. "$(dirname "$0")/common.sh"
compiler=$1
standard=$2
build=$3
root=${4:-.}
need "$compiler"
case $standard in c++*) suffix=cpp ;; *) suffix=c ;; esac
scalars="F32 F64 FIXED"
target=
indentation=
case $compiler in gcc | g++) indentation=-Wmisleading-indentation ;; esac
look=-fsyntax-only
bodies=-DMIMICDYN_MAX_BODIES=3
entries=32767
first=no
case $standard in c99 | c++11) first=yes ;; esac
case $compiler in
avr-gcc) # its double has 32 bits
    scalars="F32 FIXED"
    bodies=
    entries=600 # it has 8 KB, and objects of at most 32767 bytes
    target="-mmcu=atmega2560 -DMIMICDYN_MAX_BODIES=4" ;;
arm-none-eabi-gcc) target="-mcpu=cortex-m0 -mthumb -ffreestanding" ;;
riscv64-unknown-elf-gcc) target="-march=rv32imc -mabi=ilp32 -ffreestanding" ;;
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
        "$compiler" -std="$standard" $warnings $(quick "$compiler") $target $flags \
            -DMIMICDYN_SCALAR=$scalar -DEXPECT_SCALAR_$scalar=1 -I"$root" -c "$file" -o "$file.o" ||
            fail "$compiler $standard $name $scalar"
    done
}

every="$bodies -DMIMICDYN_MAX_BODY_ROWS=3 -DMIMICDYN_MAX_CONTACTS=1 \
    -DMIMICDYN_MAX_DANTZIG=6 -DMIMICDYN_MAX_ENTRIES=$entries"
small="$look -DMIMICDYN_WARNINGS=0 -DMIMICDYN_SETTINGS=0 -DMIMICDYN_LOSSES=0 -DMIMICDYN_LCP=0"
smallest="$small -DMIMICDYN_EXACT=0 -DMIMICDYN_WARM=0 -DMIMICDYN_CHECKS=0"
check interface $look "$include"
check implementation "$look $indentation" "$implement" "$include"
check bodies "$look $every" "$implement" "$include"
check pure "$look -DMIMICDYN_LCP=0" "$implement" "$include"
check small "$small -DMIMICDYN_QUATERNIONS=0 -DMIMICDYN_WRENCHES=0" "$implement" "$include"
check smallest "$smallest -DMIMICDYN_QUATERNIONS=0" "$implement" "$include"
check rotors "$small -DMIMICDYN_TREE=0" "$implement" "$include"
check couplings "$smallest -DMIMICDYN_TREE=0" "$implement" "$include"
if [ $first = yes ]; then
    check twice $look "$include" "$include"
    check late $look "$include" "$implement" "$include"
    # as when a header of the user includes it too
    check again $look "$implement" "$include" "$include"
    case $compiler in
    gcc | g++) # an unused function is seen only when code is made
        check static "-O0 -DMIMICDYN_STATIC=1" "$implement" "$include" # nobody calls any of them
        [ "$compiler" = gcc ] || # of C: symbols.sh
            check optimized "-Os $every" "$implement" "$include" ;;
    *) check static "$look -DMIMICDYN_STATIC=1" "$implement" "$include" ;; # cross: firmware/
    esac
fi

more=
refuses() { # refuses TEXT FLAGS: the interface and $more do not compile so, and say TEXT
    text=$1
    shift
    printf '%s\n' "$include" "$more" >"$build/$compiler-$standard-refused.$suffix"
    file=$build/$compiler-$standard-refused
    # shellcheck disable=SC2086 # flags are words
    if "$compiler" -std="$standard" $target $look "$@" -I"$root" -c "$file.$suffix" -o "$file.o" \
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
refuses "MIMICDYN_WRENCHES needs MIMICDYN_TREE 1" -DMIMICDYN_TREE=0 -DMIMICDYN_WRENCHES=1
refuses "F64 needs a double of 64 bits" -DMIMICDYN_SCALAR=F64 -U__SIZEOF_DOUBLE__ \
    -D__SIZEOF_DOUBLE__=4
refuses MIMICDYN_WARNINGS_must_be_0_to_1 -DMIMICDYN_WARNINGS=2
refuses "MIMICDYN_WARNINGS needs MIMICDYN_EXACT 1" -DMIMICDYN_EXACT=0 -DMIMICDYN_WARNINGS=1
more='int is_heavy(const mdyn_body *b); int is_heavy(const mdyn_body *b) { return b->mass > 0; }'
refuses "no member named .mass" -DMIMICDYN_TREE=0
exit $failed
