#!/bin/sh
# bench.sh BUILD [COMPILER]: runs BUILD/bench-f64 and BUILD/bench-f32, prints a line a workload,
#     bench WORKLOAD N SCALAR NANOSECONDS INSTRUCTIONS
# (per call; instructions by callgrind, "-" without valgrind), accuracy as lines that start with
# "#", and PASS or FAIL for each bound. Ends non-zero when a bound is missed. With a COMPILER also
# the solvers of a step, BUILD/solvers-SCALAR, and ODE where it is installed:
#     solver MECHANISM METHOD SCALAR NANOSECONDS ROWS ROWS_PER_SECOND ERROR
set -u
build=$1
failed=0

verdict() { # verdict PASSED TEXT
    if [ "$1" -eq 1 ]; then echo "PASS $2"; else echo "FAIL $2"; failed=1; fi
}

# What runs between entry to and exit from bench_call, which wraps one call of the library.
instructions() { # instructions SCALAR WORKLOAD N CALLS
    command -v valgrind >/dev/null 2>&1 || { echo -; return; }
    log=$build/callgrind.log
    if valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=bench_call \
        "$build/bench-$1" count "$2" "$3" "$4" >"$log" 2>&1; then
        awk -v calls="$4" '/Collected *:/ { printf "%.0f\n", $NF / calls; found = 1 }
            END { if (!found) print "-" }' "$log"
    else
        echo -
    fi
}

measure() { # measure WORKLOAD N CALLS: leaves the F64 instructions in $counted
    for scalar in f32 f64; do
        ns=$("$build/bench-$scalar" time "$1" "$2") || { echo "$ns"; ns=-; failed=1; }
        counted=$(instructions "$scalar" "$1" "$2" "$3")
        echo "bench $1 $2 $scalar $ns $counted"
    done
}

at_most() { # at_most BOUND WHAT: judges $counted
    if [ "$counted" = - ] && ! command -v valgrind >/dev/null 2>&1; then
        echo "NOT MEASURED (no valgrind here): $2"
    elif [ "$counted" = - ]; then
        verdict 0 "$2: valgrind could not count"
    else
        verdict "$((counted <= $1))" "$2: $counted instructions, at most $1"
    fi
}

measure fd 3 160
measure fd 7 160;  at_most 10000 "forward dynamics of 7 links, f64"
measure fd 20 160; at_most 29000 "forward dynamics of 20 links, f64"
measure fd 50 160; at_most 75000 "forward dynamics of 50 links, f64"
for n in 3 7 20 50; do measure id "$n" 160; done
measure hand 20 1000; at_most 45000 "step of the hand, f64"
measure gears 2 500
measure gears 8 500
measure gears 32 500; train=$counted
measure gears 128 500
[ "$train" != - ] || train=0
at_most $((5 * train)) "step of 128 gears, f64, against 5 times 32"

tell() { # tell MECHANISM METHOD SCALAR NANOSECONDS ROWS ERROR
    awk -v a="$1 $2 $3 $4 $5" -v ns="$4" -v rows="$5" -v error="$6" \
        'BEGIN { printf "solver %s %.0f %s\n", a, 1e9 * rows / (ns > 0 ? ns : 1), error }'
}

if [ $# -ge 2 ]; then
    for scalar in f32 f64 fixed; do
        for m in stack1 stack2 stack3 stack4 stack5 stack6 stack7 stack8 stack9 stack10 chain \
            drives; do
            for how in pgs pgs100 tgs dantzig exact; do
                figures=$("$build/solvers-$scalar" run $m $how)
                [ $? -eq 0 ] || verdict 0 "$m by $how, $scalar: the error is too large"
                # shellcheck disable=SC2086 # figures are words
                tell $m $how $scalar $figures
            done
        done
    done
    if echo '#include <ode/ode.h>' | "$2" -E -x c - >/dev/null 2>&1 &&
        "$2" -std=c99 -O2 "$(dirname "$0")/ode.c" -lode -lm -o "$build/ode" 2>"$build/ode.log"; then
        for m in stack1 stack2 stack5 stack10 chain; do
            for how in step quick quick100; do
                "$build/ode" run $m $how >"$build/ode.log"
                # shellcheck disable=SC2046 # figures are words
                tell $m ode-$how f64 $(head -n 1 "$build/ode.log")
                grep '^#' "$build/ode.log"
            done
        done
    else
        echo "# not run: ODE is not installed (Debian: libode-dev)"
    fi
fi

for scalar in f32 f64; do
    echo "# accuracy, $scalar"
    "$build/bench-$scalar" check || failed=1
done
exit $failed
