#!/bin/sh
# Plants the faults of fuzz/faults.txt in the header, one by one, and counts those that
# fuzz/fuzz_motion.c finds: selfcheck.sh DIRECTORY COMPILER SECONDS WANTED [NAME...]
# The header as it is runs first, on the same inputs: what it passes is no finding. A fault that is
# missed is shown to the test program that its record names.
set -eu
cd "$(dirname "$0")/.."
directory=$1 compiler=$2 seconds=$3 wanted=$4
shift 4
seed=5 found=0 missed=0 unnoticed=0
mkdir -p "$directory"

record() { # NAME FIELD
    awk -v name="$1" -v field="$2" '/^fault: / { here = $2 == name }
        here && index($0, field ":") == 1 { print substr($0, length(field) + 3) }' fuzz/faults.txt
}

build() { # SOURCE... SCALAR INCLUDE OUTPUT
    $compiler -std=c99 -O1 -DMIMICDYN_SCALAR="$2" -DEXPECT_SCALAR_"$2"=1 -I"$3" -I. $1 -lm -o "$4"
}

last_number() {
    sed -n "s/^.*random input \([0-9]*\)$/\1/p; s/^\([0-9]*\) random inputs$/\1/p" "$1" | tail -1
}

for test in $(sed -n 's/^test: //p' fuzz/faults.txt); do
    [ -f "tests/$test.c" ] || { echo "no tests/$test.c, which faults.txt names"; exit 1; }
done

for scalar in F32 FIXED; do
    clean="$directory/clean-$scalar"
    build "fuzz/standalone.c fuzz/fuzz_motion.c" "$scalar" . "$clean"
    if ! "$clean" --seconds "$seconds" "$seed" >"$clean.txt" 2>&1; then
        echo "the header as it is, $scalar:"
        tail -5 "$clean.txt"
    fi
    echo "no fault, $scalar: $(tail -1 "$clean.txt"); $(grep executions "$clean.txt" || true)"
done

for name in ${*:-$(sed -n 's/^fault: //p' fuzz/faults.txt)}; do
    scalar=$(record "$name" scalar) test=$(record "$name" test)
    place="$directory/$name"
    mkdir -p "$place"
    awk -f fuzz/plant.awk fault="$name" fuzz/faults.txt mimicdyn.h >"$place/mimicdyn.h"
    build "fuzz/standalone.c fuzz/fuzz_motion.c" "$scalar" "$place" "$place/fuzz_motion"
    began=$(date +%s)
    if timeout $((seconds + 20)) "$place/fuzz_motion" --seconds "$seconds" "$seed" \
        >"$place/out.txt" 2>&1; then
        code=0
    else
        code=1
    fi
    number=$(last_number "$place/out.txt") clean=$(last_number "$directory/clean-$scalar.txt")
    took=$(($(date +%s) - began))
    if [ $code -ne 0 ] && [ "${number:-0}" -lt "${clean:-0}" ]; then
        found=$((found + 1))
        echo "found   $name, $scalar: input $number, $took s:" \
            "$(grep -m1 'not so' "$place/out.txt" || tail -1 "$place/out.txt")"
        continue
    fi
    missed=$((missed + 1))
    build "tests/$test.c" "$scalar" "$place" "$place/$test"
    if timeout 300 "$place/$test" >"$place/test.txt" 2>&1; then
        unnoticed=$((unnoticed + 1))
        echo "MISSED  $name, $scalar: $(record "$name" what); nor does $test notice it"
    else
        echo "missed  $name, $scalar: $(record "$name" what);" \
            "$test notices: $(tail -1 "$place/test.txt")"
    fi
    rm -f "$place/mimicdyn.h"
done
echo "$found of $((found + missed)) faults found by fuzzing, $unnoticed noticed by nothing;" \
    "at least $wanted wanted"
[ "$found" -ge "$wanted" ] && [ "$unnoticed" -eq 0 ]
