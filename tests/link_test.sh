#!/bin/sh
# link_test.sh COMPILER SCRATCH [ROOT]: two files with equal knobs link and run; with any knob
# different they do not link, and the message spells the configuration of the file that asks
# (of both, where the compiler can put a symbol into a section of its own name: gcc with ELF).
# Exit 77: there is no such compiler.
. "$(dirname "$0")/common.sh"
compiler=$1
scratch=$2
root=${3:-.}
need "$compiler"
mkdir -p "$scratch"
name=$scratch/link-$(basename "$compiler")
both=no
if "$compiler" -dM -E -x c /dev/null | grep -q '__ELF__' &&
    ! "$compiler" -dM -E -x c /dev/null | grep -q '__clang__'; then
    both=yes
fi
rm -f "$name"-*.o
object() { # object a|b KNOBS: compiles link_a.c or link_b.c, once for each set of knobs
    made=$name-$1$(echo "$2" | tr -dc 'A-Z0-9=').o
    # shellcheck disable=SC2086 # knobs are words
    [ -f "$made" ] || "$compiler" -std=c99 -O0 $2 -c "$root/tests/link_$1.c" -o "$made" || exit 1
}
link() { # link KNOBS_OF_A KNOBS_OF_B: 0 if both files compile and link
    object a "$1"
    first=$made
    object b "$2"
    "$compiler" "$first" "$made" -o "$name" >"$name.log" 2>&1
}
equal() { # equal KNOBS PATTERN: the program prints the configuration that it was built with
    link "$1" "$1" || { cat "$name.log"; fail "$compiler: equal knobs do not link: $1"; }
    "$name" >"$name.log" || fail "$compiler: equal knobs do not run: $1"
    grep -q "^$2" "$name.log" || fail "$compiler: '$1' is spelled $(cat "$name.log"), not $2"
}
differ() { # differ KNOBS_A KNOBS_B SPELLED_A SPELLED_B
    if link "$1" "$2"; then
        fail "$compiler links with '$1' and '$2'"
        return
    fi
    grep -q "$4" "$name.log" || fail "$compiler: '$1' and '$2': the message lacks $4"
    if [ $both = yes ]; then
        grep -q "$3" "$name.log" || fail "$compiler: '$1' and '$2': the message lacks $3"
    fi
}
equal "" mimicdyn_F32_tree_1_bodies_16_dofs_default_
equal "-DMIMICDYN_SCALAR=F64" mimicdyn_F64_tree_1_bodies_16_dofs_default_
equal "-DMIMICDYN_SCALAR=F64 -DMIMICDYN_MAX_BODIES=3 -DMIMICDYN_MAX_TERMS=7" \
    'mimicdyn_F64_tree_1_bodies_3_.*_terms_7_'
differ "-DMIMICDYN_SCALAR=F64" "" mimicdyn_F64_tree_1_bodies_16 mimicdyn_F32_tree_1_bodies_16
differ "" "-DMIMICDYN_SCALAR=F64" mimicdyn_F32_tree_1_bodies_16 mimicdyn_F64_tree_1_bodies_16
differ "-DMIMICDYN_MAX_BODIES=20" "" bodies_20_ bodies_16_
differ "" "-DMIMICDYN_MAX_DOFS=9" dofs_default_ dofs_9_
differ "-DMIMICDYN_MAX_COUPLINGS=2" "-DMIMICDYN_MAX_COUPLINGS=3" couplings_2_ couplings_3_
differ "-DMIMICDYN_MAX_ROWS=12" "" rows_12_ rows_default_
differ "" "-DMIMICDYN_MAX_TERMS=5" terms_4_ terms_5_
differ "" "-DMIMICDYN_MAX_ENTRIES=99" entries_default entries_99
differ "" "-DMIMICDYN_MAX_BODY_ROWS=5" body_rows_0 body_rows_5
differ "-DMIMICDYN_MAX_CONTACTS=5" "" contacts_5 contacts_0
differ "-DMIMICDYN_MAX_DANTZIG=8" "" dantzig_8 dantzig_0
differ "-DMIMICDYN_MAX_CURVES=3" "" curves_3 curves_0
differ "-DMIMICDYN_QUATERNIONS=0" "" quaternions_0 quaternions_1
differ "" "-DMIMICDYN_WRENCHES=0" wrenches_1 wrenches_0
exit $failed
