#!/bin/sh
# size.sh BUILD JOBS: what the library takes of a microcontroller, as tables for the README:
# flash by the linker, RAM by sizeof, stack by gcc's call graph, and by painting in the emulator,
# instructions of a step as the emulator counts them.
# Fails if a painted stack is deeper than the call graph allows (or the deepest calls come nowhere
# near it), or if sizeof(mdyn_sim) is not what the formula says. Exit 77: a tool is missing.
#   size.sh one BUILD BOARD       measures one board
#   size.sh sizes BUILD BOARD     derives and verifies the formula of one board
set -u
here=$(dirname "$0")
root=$here/../..
board=$here/board.sh
boards="m0 m3 m4f m7 rv32imc rv32imafc avr"

scalars_of() { # scalars_of BOARD
    for scalar in $(sh "$board" scalars 2>/dev/null); do
        [ "$1-$scalar" = avr-F64 ] || echo "$scalar"
    done
}

# ---- flash, steps, stack ----

link() { # link OUT LEVEL SCALAR FLAG|SOURCE...: leaves flash and RAM in $flash, $ram
    out=$1
    level=$2
    scalar=$3
    shift 3
    [ "$name" != avr ] || set -- -flto "$@"
    sh "$board" build "$name" "$out" "$level" -DMIMICDYN_SCALAR="$scalar" "$@" || exit 1
    # shellcheck disable=SC2046 # three numbers
    set -- $(size "$out" | awk 'NR == 2 { print $1 + $2, $2 + $3 }')
    flash=$1
    ram=$2
}

# What a small program calls, with all that can be left out left out.
small="-DMIMICDYN_EXACT=0 -DMIMICDYN_WARM=0 -DMIMICDYN_CHECKS=0 -DMIMICDYN_WARNINGS=0 \
    -DMIMICDYN_SETTINGS=0 -DMIMICDYN_LOSSES=0 -DMIMICDYN_LCP=0"
small_tree="$small -DMIMICDYN_QUATERNIONS=0"
small_couplings="$small -DMIMICDYN_TREE=0"
# Geared motors with drives, friction and effort, exactly solved: what the program's sims have.
motors="$small_couplings -UMIMICDYN_EXACT -UMIMICDYN_WARM -DMIMICDYN_HAS=(MDYN_HAS_BOUNDED+\
MDYN_HAS_COUPLING+MDYN_HAS_DRIVE+MDYN_HAS_FRICTION+MDYN_HAS_SOFT+MDYN_HAS_SPARE)"
keep() { # keep CALL...: flags for the linker
    printf ' -Wl,--undefined=mdyn_%s' "$@"
}

small_flash_of() { # small_flash_of SCALAR: lines like those of flash_of
    link "$build/$name.program" -Os "$1" "$here/library.c"
    empty=$flash
    # shellcheck disable=SC2046,SC2086 # flags are words
    link "$build/$name.program" -Os "$1" -DWITH_LIBRARY $small_tree \
        $(keep init_configured step report_row set_coupling project reset) "$here/library.c"
    echo "flash $name $1 tree $((flash - empty))"
    # shellcheck disable=SC2046,SC2086
    link "$build/$name.program" -Os "$1" -DWITH_LIBRARY $small_couplings \
        $(keep init_configured step report_row coupling_force) "$here/library.c"
    echo "flash $name $1 couplings $((flash - empty))"
    # shellcheck disable=SC2046,SC2086
    link "$build/$name.program" -Os "$1" -DWITH_LIBRARY $motors \
        $(keep init_configured step report_row coupling_force) "$here/library.c"
    echo "flash $name $1 motors $((flash - empty))"
}

flash_of() { # flash_of SCALAR: lines "flash BOARD SCALAR WHAT BYTES"
    kept=$(printf '#define MIMICDYN_IMPLEMENTATION\n#include "mimicdyn.h"\n' |
        cc -std=c99 -x c -I"$root" -DMIMICDYN_SCALAR="$1" -c - -o "$out.o" &&
        nm "$out.o" | awk '$2 == "T" && $3 ~ /^mdyn_/ { printf " -Wl,--undefined=%s", $3 }')
    rm -f "$out.o"
    [ -n "$kept" ] || exit 1
    for level in -Os -O2; do
        link "$build/$name.program" $level "$1" "$here/library.c"
        empty=$flash
        link "$build/$name.program" $level "$1" -DWITH_LIBRARY $kept "$here/library.c"
        echo "flash $name $1 library$level $((flash - empty))"
    done
    small_flash_of "$1"
    link "$build/$name.program" -Os "$1" "$here/application.c"
    echo "flash $name $1 application $flash"
    echo "flash $name $1 application-ram $ram"
}

measure() { # measure SCALAR: what measure.c prints, with board and scalar after the first word
    mechanisms="jaws planetary finger"
    set -- "$1" "$here/print.c" "$here/trigonometry.c" "$here/measure.c"
    case $name-$1 in
    avr-FIXED)
        set -- "$@" -DMECHANISMS_TINY
        mechanisms="jaws planetary" ;;
    avr-*) set -- "$@" -DMECHANISMS_SMALL ;;
    *) mechanisms="$mechanisms robotiq arm hand drives" ;;
    esac
    for one in $mechanisms; do set -- "$@" "$here/mechanisms/$one.c"; done
    scalar=$1
    shift
    level=-O2
    [ "$name" != avr ] || level=-Os # more does not fit
    link "$build/$name.program" $level "$scalar" "-DEXPECT_SCALAR_$scalar=1" "$@"
    sh "$board" count "$name" "$build/$name.program" >"$build/$name.measured" || exit 1
    tr -d '\r' <"$build/$name.measured" | sed "s/^[a-z]*/& $name $scalar/"
}

call_graph() { # call_graph [FLAG...]: lines "graph BOARD SCALAR CALL BYTES"
    about=$(sh "$board" about "$name")
    # shellcheck disable=SC2086 # flags are words
    sh "$root/tests/stack.sh" "$(sh "$board" compiler "$name")" "$build/$name-graph" "$root" \
        ${about##*|} -ffreestanding -DMIMICDYN_MAX_BODIES=20 -DMIMICDYN_MAX_COUPLINGS=10 \
        -DMIMICDYN_MAX_ROWS=32 "$@" >"$build/$name.graph"
    code=$?
    [ $code -eq 0 ] || [ $code -eq 77 ] || { cat "$build/$name.graph"; exit 1; }
    awk -v name="$name" '$1 == "stack" { print "graph", name, $2, $3, $4 }' \
        "$build/$name.graph"
}

one() { # one BUILD BOARD
    build=$1
    name=$2
    out=$build/$name
    for scalar in $(scalars_of "$name"); do
        flash_of "$scalar"
        measure "$scalar"
    done
    call_graph
}

# ---- sizeof(mdyn_sim) ----

sizeof() { # sizeof BODIES DOFS COUPLINGS ROWS TERMS ENTRIES
    sh "$board" compile "$name" "$out.o" -DMIMICDYN_SCALAR="$scalar" -DMIMICDYN_MAX_BODIES="$1" \
        -DMIMICDYN_MAX_DOFS="$2" -DMIMICDYN_MAX_COUPLINGS="$3" -DMIMICDYN_MAX_ROWS="$4" \
        -DMIMICDYN_MAX_TERMS="$5" -DMIMICDYN_MAX_ENTRIES="$6" "$build/$name-sizeof.c" || exit 1
    size "$out.o" | awk 'NR == 2 { print $3 }'
}

# The part of a solve that grows: vectors, the terms of a row, and scratch. That is a whitened
# vector, or the terms of a row with two numbers for each DoF, whichever is larger.
solve() { # solve DOFS ROWS TERMS
    terms_at=$(((int + 2 * $1 + align - 1) / align * align + 2 * num * $1))
    echo $((unit * (2 * $1 + $2) + solve_term * $3 + $(most $((unit * ($1 + $2))) $terms_at)))
}

# What a sim of many entries has beside it.
plain() { # plain BODIES DOFS COUPLINGS ROWS TERMS ENTRIES
    echo $(($(sizeof "$@") - $(solve "$2" "$4" "$5")))
}

least() { if [ "$1" -lt "$2" ]; then echo "$1"; else echo "$2"; fi; }
most() { if [ "$1" -gt "$2" ]; then echo "$1"; else echo "$2"; fi; }

# What is added up by differences of 6 or 12 units, so that padding and the third coordinate of
# three speeds even out; what takes turns in shared memory by making each part the larger one:
#    sizeof = constant + body B + pair [B/2] + dof D + tree [D/6] + joint J + C (coupling + term T)
#             + terms T + row R + mass M + entry E + max(before + stage J,
#             max(unit E, factor M, before) + solve + unit (2 D + R) + solve_term T
#             + max(unit (D + R), reduced D))
# with before = max(unit M, column D) + wrench B, the joints J = min(B, D) and the numbers of the
# mass matrix M = min(E, D (D + 1)/2). It may be above what the compiler says, by padding, but never
# below, for sims of 16 DoFs or more and D + C (T - 1) <= 127. In smaller ones places have a byte
# less, and other parts of unions are the larger ones; in larger ones indices have a byte more.
# Lines "sizeof BOARD SCALAR CONSTANT BODY DOF COUPLING ROW TERM ENTRY
# TERMS JOINT MASS UNIT COLUMN WRENCH STAGE PAIR TREE REDUCED FACTOR SOLVE SOLVE_TERM"
says() { # says BODIES DOFS COUPLINGS ROWS TERMS ENTRIES: by the formula
    j=$(least "$1" "$2")
    m=$(least "$6" $(($2 * ($2 + 1) / 2)))
    before=$(($(most $((unit * m)) $((column * $2))) + wrench * $1))
    rows=$(($(most $((unit * $6)) "$(most $((factor * m)) $before)") + solve + \
        unit * (2 * $2 + $4) + solve_term * $5 + \
        $(most $((unit * ($2 + $4))) $((reduced * $2)))))
    echo $((constant + $1 * body + $1 / 2 * pair + $2 * dof + $2 / 6 * tree + j * joint + \
        $3 * (coupling + $5 * term) + $5 * terms + $4 * row + m * mass + $6 * entry + \
        $(most $rows $((before + stage * j)))))
}

sizes() { # sizes BUILD BOARD
    build=$1
    name=$2
    out=$build/$name-sizeof
    mkdir -p "$build"
    printf '#include "mimicdyn.h"\nmdyn_sim sim;\n' >"$build/$name-sizeof.c"
    for scalar in $(scalars_of "$name"); do
        unit=4
        mass=10 # and the place of each element
        [ "$scalar" != F64 ] || unit=8
        [ "$scalar" != F32 ] || mass=6
        num=8
        [ "$scalar" != F32 ] || num=4
        reduced=$((2 + 2 * num))
        factor=$((unit + num))
        solve_term=$((10 + num))
        int=4
        align=$num
        [ "$name" != avr ] || { int=2; align=1; }

        # entries are the larger part
        base=$(plain 18 18 12 12 4 1200)
        pair=$(($(plain 20 18 12 12 4 1200) - 2 * $(plain 19 18 12 12 4 1200) + base))
        tree=$(($(plain 18 24 12 12 4 1200) - 2 * $(plain 18 21 12 12 4 1200) + base - 9 * mass))
        body=$((($(plain 30 18 12 12 4 1200) - base - 6 * pair) / 12))
        row=$((($(plain 18 18 12 24 4 1200) - base) / 12))
        terms=$((($(plain 18 18 12 12 7 1200) - base) / 3)) # of 12 couplings, and of a row
        term=$((($(plain 18 18 18 12 7 1200) - $(plain 18 18 18 12 4 1200)) / 3 - terms))
        term=$((term / 6))
        terms=$((terms - 12 * term))
        coupling=$((($(plain 18 18 24 12 4 1200) - base) / 12 - 4 * term))
        entry=$((($(plain 18 18 12 12 4 1212) - base) / 12 - unit))
        joint=$((($(plain 24 24 12 12 4 1200) - $(plain 18 24 12 12 4 1200) - 3 * pair) / 6))
        joint=$((joint - body))
        dof=$((($(plain 18 24 12 12 4 1200) - base - mass * (300 - 171) - tree) / 6))

        # bodies are the larger part, and DoFs of what stands before the bodies
        few=$(sizeof 30 24 12 12 4 130)
        wrench=$((($(sizeof 42 24 12 12 4 130) - few - 6 * pair) / 12 - body))
        column=$((($(sizeof 24 30 12 12 4 130) - $(sizeof 24 24 12 12 4 130) - tree) / 6 - dof))
        stage=$((($(sizeof 30 30 12 12 4 130) - few - tree) / 6 - dof - joint - column))
        usual=$((12 * (coupling + row) + 48 * term + 4 * terms)) # of couplings and rows
        constant=$((few - usual - 30 * (body + wrench) - 24 * (dof + joint + stage + column) - \
            130 * (mass + entry) - 15 * pair - 4 * tree))
        solve=$((base - usual - constant - 18 * (body + dof + joint) - 171 * mass - \
            1200 * (entry + unit) - 9 * pair - 3 * tree))
        constant=$((constant + 16)) # padding
        while read -r b d c r t e; do
            is=$(sizeof "$b" "$d" "$c" "$r" "$t" "$e")
            says=$(says "$b" "$d" "$c" "$r" "$t" "$e")
            if [ $says -lt "$is" ] || [ $says -gt $((is + 80)) ]; then
                echo "FAIL: sizeof $name $scalar $b $d $c $r $t $e is $is, formula says $says" >&2
                exit 1
            fi
        done <<'END'
16 16 16 32 4 384
20 23 10 30 4 500
24 16 6 40 2 300
9 18 5 11 3 150
END
        echo "sizeof $name $scalar $constant $body $dof $coupling $row $term $entry $terms" \
            "$joint $mass $unit $column $wrench $stage $pair $tree $reduced $factor $solve" \
            "$solve_term"
    done
}

case $1 in
one) one "$2" "$3"; exit ;;
sizes) sizes "$2" "$3"; exit ;;
esac

# ---- all of them, as tables ----

build=$1
jobs=$2
mkdir -p "$build"
rm -f "$build"/*.lines
for name in $boards; do
    missing=$(sh "$board" missing "$name" "$build")
    [ -z "$missing" ] || { echo "not run: there is no" $missing >&2; exit 77; }
done
for name in $boards; do echo "one $name"; done >"$build/jobs"
for name in m0 rv32imc avr; do echo "sizes $name"; done >>"$build/jobs"
xargs -P "$jobs" -L 1 sh -c \
    'sh "$0" "$2" "$1" "$3" >"$1/$2-$3.lines" 2>"$1/$2-$3.log" || echo failed >>"$1/failed.lines"' \
    "$0" "$build" <"$build/jobs"
if [ -f "$build/failed.lines" ]; then
    cat "$build"/*.log
    exit 1
fi
printf 'Compilers:'
for name in m0 rv32imc avr; do
    about=$(sh "$board" about "$name")
    about=${about#*|}
    printf ' %s %s,' "$(sh "$board" compiler "$name")" "${about%%|*}"
done | sed 's/ gcc / /g; s/,$/, `-std=c99`./'
printf '\n'
for name in $boards; do
    about=$(sh "$board" about "$name")
    echo "name $name ${about%%|*}"
    cat "$build/one-$name.lines"
done | cat - "$build"/sizes-*.lines | awk -f "$here/size.awk"
