#!/bin/sh
# determinism.sh BUILD JOBS [LEVELS [BOARDS]]: the same mechanisms (determinism.c) on every board of
# board.sh, in every scalar that the board and the header have, with three levels of optimization,
# or on those boards, with those levels, that are given (m3:FIXED: in this scalar). Prints a table
# of hashes; fails if two of one scalar differ, or if a program does not build or run.
# What is not installed here is listed as not run.
#   determinism.sh one BUILD BOARD LEVEL SCALAR      one of them
set -u
here=$(dirname "$0")
board=$here/board.sh

small="dyadic jaws planetary differential spring finger"
large="robotiq arm floating"

one() { # one BUILD BOARD LEVEL SCALAR: leaves a file of lines, the last of which says how it went
    out=$1/$2$3-$4
    mechanisms="$small $large"
    set -- "$2" "$out.program" "$3" "-DMIMICDYN_SCALAR=$4"
    case $1-$4 in
    avr-*FIXED) # no room for more
        set -- "$@" -flto -DMECHANISMS_TINY
        mechanisms=dyadic ;;
    avr-*) # link-time optimization leaves out texts that nobody asks for: constants take its RAM
        set -- "$@" -flto -DMECHANISMS_TINY
        mechanisms="dyadic jaws planetary" ;;
    microbit-*)
        set -- "$@" -DMECHANISMS_SMALL
        mechanisms=$small ;;
    esac
    for name in $mechanisms determinism; do
        case $name in determinism) ;; *) name=mechanisms/$name ;; esac
        set -- "$@" "$here/$name.c"
    done
    case $1-$4 in
    m3*F64 | m4f*F64 | m33*F64) # libgcc 12 subtracts doubles wrongly on ARMv7-M, not on v6-M
        set -- "$@" -Wl,--no-warn-mismatch "$(arm-none-eabi-gcc -mcpu=cortex-m0 -mthumb \
            -print-libgcc-file-name)" ;;
    esac
    if ! sh "$board" build "$@" >"$out.log" 2>&1; then
        echo "end does not build" >"$out"
    else
        sh "$board" run "$1" "$2" >"$out" 2>>"$out.log"
        code=$?
        tr -d '\r' <"$out" >"$out.log2" && mv "$out.log2" "$out"
        if [ $code -eq 0 ]; then echo "end ok"; else echo "end exit code $code"; fi >>"$out"
    fi
    rm -f "$2"
}

if [ "$1" = one ]; then
    shift
    one "$@"
    exit
fi

build=$1
jobs=$2
asked=${3:--O0 -O2 -Os}
mkdir -p "$build"
rm -f "$build"/*-O*
scalars=$(sh "$board" scalars)
for name in ${4:-$(sh "$board" list)}; do
    only=${name#*:}
    name=${name%%:*}
    missing=$(sh "$board" missing "$name" "$build")
    if [ -n "$missing" ]; then
        echo "not run: $name, for there is no" $missing
        continue
    fi
    levels=$asked
    [ "$name" != avr ] || levels=$(echo "$asked" | sed 's/-O0/-O1/')
    for level in $levels; do
        for scalar in $scalars; do
            case $name$level-$scalar in
            avr*-F64 | microbit-O0-F64 | microbit-O0-FIXED) ;;
            *) case $only in "$name" | "$scalar") echo "$name $level $scalar" ;; esac ;;
            esac
        done
    done
done >"$build/list"
grep '^not run' "$build/list"
grep -v '^not run' "$build/list" >"$build/jobs"
[ -s "$build/jobs" ] || { echo "not run: no board has its tools here"; exit 77; }
xargs -P "$jobs" -L 1 sh "$0" one "$build" <"$build/jobs"

while read -r name level scalar; do
    about=$(sh "$board" about "$name")
    sed "s/^/$scalar $name $level /" "$build/$name$level-$scalar" |
        awk -v about="$about" '{ print about "|" $0 }'
done <"$build/jobs" | sort -s -t'|' -k4,4.4 | awk -F'|' -v wanted="$(grep -c . "$build/jobs")" '
    {
        split($4, word, " ")
        scalar = word[1]
        where = scalar " " word[2] " " word[3]
        options = word[3] ($3 == "" ? "" : " " $3)
        if (word[4] == "end") {
            result = $4
            sub(/.* end /, "", result)
            printf "%-22s %-13s %-5s  %-8s %-8s %-8s  %s%s\n", $1, $2, scalar, first_one, few, \
                all, options, result == "ok" ? "" : "  FAILED: " result
            runs++
            if (result != "ok") bad++
            first_one = few = all = "-"
            next
        }
        if (word[4] == "dyadic") first_one = word[7]
        if (word[4] == "finger") few = word[7]
        if (word[4] == "floating") all = word[7]
        for (i = 5; i <= 6; i++) {
            key = scalar " " word[4] " " (i == 5 ? "tables" : "motion")
            if (!(key in hash)) { hash[key] = word[i]; first[key] = where }
            else if (hash[key] != word[i])
                differ[++differs] = sprintf("DIFFERENT: %s: %s on %s, %s on %s", key, word[i], \
                    where, hash[key], first[key])
        }
        lines++
    }
    BEGIN {
        first_one = few = all = "-"
        printf "%-22s %-13s %-5s %-8s %-8s %-8s  %s\n", "processor", "compiler", "scalar", "1", \
            "6", "9 of them", "options"
    }
    END {
        for (i = 1; i <= differs; i++) print differ[i]
        print ""
        print "Hashes of all q and v after each of 2000 steps: of a cart with a pendulum; with it"
        print "jaws, planetary gear, differential, spring, finger; with these a 2F-85 gripper, an"
        print "arm, a free body."
        print "ATmega2560: -O1 in place of -O0, whose code is larger than its flash; no F64, for"
        print "its double has 32 bits. The tables are compared too: its literals are the same"
        print "bits in F32; for FIXED the cart has only constants that are exact in 24 bits."
        print "F64 on M3, M4F, M33: with the double arithmetic of the M0, for libgcc 12 rounds"
        print "wrongly on ARMv7-M (1 - x for some x near 2^-33: one unit in the last place off)."
        print "Cortex-M0 with 16 KB, F64 and FIXED: not with -O0, whose code its flash cannot hold."
        printf "%d runs, %d hashes compared: %d failed, %d different\n", runs, 2 * lines, bad, \
            differs
        if (runs != wanted) printf "FAILED: %d runs were wanted\n", wanted
        exit bad || differs || runs != wanted
    }'
