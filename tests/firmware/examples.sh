#!/bin/sh
# examples.sh BUILD JOBS [BOARDS]: four examples on microcontrollers, as they stand, without a libc,
# with -Os: the gripper, the planetary gear, and actuators.c and spindle.c, whose ticks come from
# the timer's interrupt. They check themselves; what they print is in BUILD. Fails if one fails.
#   examples.sh one BUILD BOARD SCALAR EXAMPLE       one of them
set -u
here=$(dirname "$0")
board=$here/board.sh

one() { # one BUILD BOARD SCALAR EXAMPLE: leaves a line in a file
    out=$1/$4-$2-$3
    set -- "$2" "$out.program" -Os -DMIMICDYN_STATIC=1 "-DMIMICDYN_SCALAR=$3" \
        "$here/../../examples/$4.c" "$here/print.c"
    case $out in */actuators-* | */spindle-*) set -- "$@" -DON_TIMER ;; esac
    case $1 in
    avr) # simulated cycle by cycle: fewer turns, fewer ticks; -flto and few entries, for its RAM
        set -- "$@" -flto -DTURNS=20 -DRATE=50 -DMIMICDYN_MAX_ENTRIES=20
        [ "${out##*/gripper*}" ] || set -- "$@" -DMIMICDYN_MAX_COUPLINGS=1 -DMIMICDYN_MAX_ROWS=1 \
            -DMIMICDYN_MAX_TERMS=2 -DMIMICDYN_QUATERNIONS=0 -DMIMICDYN_LCP=0 \
            -DMIMICDYN_LOSSES=0 -DMIMICDYN_SETTINGS=0 ;;
    *) set -- "$@" -DTURNS=1000 ;;
    esac
    if ! sh "$board" build "$@" >"$out.log" 2>&1; then
        echo "FAILED does not build; see $out.log" >"$out"
    else
        sh "$board" count "$1" "$2" >"$out.log" 2>&1
        code=$?
        if [ $code -eq 0 ]; then
            echo "passed $(grep -c '^  ok ' "$out.log") checks" >"$out"
        else
            echo "FAILED with exit code $code; see $out.log" >"$out"
        fi
    fi
}

if [ "$1" = one ]; then
    shift
    one "$@"
    exit
fi

build=$1
jobs=$2
mkdir -p "$build"
rm -f "$build"/*-F*
scalars=$(sh "$board" scalars)
for name in ${3:-m0 m3 m4f rv32imc avr}; do
    missing=$(sh "$board" missing "$name" "$build")
    if [ -n "$missing" ]; then
        echo "not run: $name, for there is no" $missing >&2
        continue
    fi
    for scalar in $scalars; do
        for example in gripper planetary actuators spindle; do
            case $name-$scalar-$example in
            avr-F64-*) ;; # no double
            avr-*-spindle) ;; # a plant in a double of 32 bits
            *) echo "$name $scalar $example" ;;
            esac
        done
    done
done >"$build/jobs"
[ -s "$build/jobs" ] || { echo "not run: no board has its tools here"; exit 77; }
xargs -P "$jobs" -L 1 sh "$0" one "$build" <"$build/jobs"
while read -r name scalar example; do
    about=$(sh "$board" about "$name")
    echo "$scalar|${about%%|*}|$example|$(cat "$build/$example-$name-$scalar")"
done <"$build/jobs" | awk -F'|' '
    { printf "%-16s %-5s %-10s %s\n", $2, $1, $3, $4 }
    $4 ~ /^passed [1-9]/ { passed++; next }
    { failed++ }
    END {
        printf "%d examples ran on microcontrollers, %d failed\n", passed + failed, failed
        exit failed || !passed
    }'
