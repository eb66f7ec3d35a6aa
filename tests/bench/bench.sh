#!/bin/sh
# bench.sh BUILD [COMPILER [bounded]]: runs BUILD/bench-f64 and BUILD/bench-f32, prints a line a
#     workload, `bounded`: those that have a bound alone,
#     bench WORKLOAD N SCALAR NANOSECONDS INSTRUCTIONS
# (per call; instructions by callgrind, "-" without valgrind), accuracy as lines that start with
# "#", and PASS or FAIL for each bound. Ends non-zero when a bound is missed. With a COMPILER also
# the solvers of a step, BUILD/solvers-SCALAR, held against bounds.txt, and ODE where it is
# installed, not held against anything:
#     solver MECHANISM METHOD SCALAR NANOSECONDS ROWS ROWS_PER_SECOND PLACE ROW UNSOLVED
set -u
build=$1
bounded=${3:-}
scalars="f32 f64"
[ -z "$bounded" ] || scalars=f64 # which the bounds are of
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
    for scalar in $scalars; do
        ns=$("$build/bench-$scalar" time "$1" "$2") || { echo "$ns"; ns=-; failed=1; }
        counted=$(instructions "$scalar" "$1" "$2" "$3")
        echo "bench $1 $2 $scalar $ns $counted"
    done
}

show() { # show WORKLOAD N CALLS: has no bound
    [ -n "$bounded" ] || measure "$@"
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

workloads() {
    show fd 3 160
    measure fd 7 160;  at_most 10000 "forward dynamics of 7 links, f64"
    measure fd 20 160; at_most 29000 "forward dynamics of 20 links, f64"
    measure fd 50 160; at_most 75000 "forward dynamics of 50 links, f64"
    show id 3 160
    measure id 7 160;  at_most 5500 "inverse dynamics of 7 links, f64"
    measure id 20 160; at_most 15000 "inverse dynamics of 20 links, f64"
    show id 50 160
    measure mass 20 160; at_most 25000 "mass matrix of 20 links, f64"
    measure chain 20 160; at_most 35200 "step of a chain of 20 links, f64"
    measure chain 50 160; at_most 90000 "step of a chain of 50 links, f64"
    measure hand 20 1000; at_most 32000 "step of the hand, f64"
    measure request 20 1000; at_most 31000 "step of the hand, forces on request, f64"
    show gears 2 500
    show gears 8 500
    measure gears 32 500; at_most 10000 "step of 32 gears, f64"; train=$counted
    measure gears 128 500; at_most 38000 "step of 128 gears, f64"
    [ "$train" != - ] || train=0
    at_most $((5 * train)) "step of 128 gears, f64, against 5 times 32"
    measure init 128 1;  at_most 4000000 "set-up of 128 gears, f64"
    for scalar in f32 f64; do
        echo "# accuracy, $scalar"
        "$build/bench-$scalar" check || failed=1
    done
    return $failed
}

tell() { # tell MECHANISM METHOD SCALAR NANOSECONDS ROWS PLACE ROW UNSOLVED
    awk -v a="$1 $2 $3 $4 $5" -v ns="$4" -v rows="$5" -v errors="$6 $7 $8" \
        'BEGIN { printf "solver %s %.0f %s\n", a, 1e9 * rows / (ns > 0 ? ns : 1), errors }'
}

judge() { # judge MECHANISM METHOD SCALAR NANOSECONDS ROWS PLACE ROW UNSOLVED
    awk -v what="$1 $2 $3" -v found="$6 $7 $8" '
        $1 " " $2 " " $3 == what {
            met = split(found, got) == 3
            for (i = 1; i <= 3; i++)
                met = met && (got[i] ~ /^[0-9.]+(e[-+][0-9]+)?$/ && got[i] + 0 <= $(3 + i) + 0 ||
                    got[i] == "-" && $(3 + i) == "-")
            bound = $4 " " $5 " " $6
        }
        END { if (!met) print what ": " found ", allowed: " bound; exit !met }' "$bounds" ||
        failed=1
}

solve() { # solve PROGRAM SCALAR MECHANISM METHOD PREFIX: leaves the line in $figures
    figures=$("$1" run "$3" "$4") || failed=1
    # shellcheck disable=SC2086 # figures are words
    tell "$3" "$5$4" "$2" $figures
}

stacks() { # stacks PREFIX SIZE...: names
    prefix=$1
    shift
    for n; do echo "$prefix$n"; done
}

solvers() { # solvers COMPILER
    bounds=$(dirname "$0")/bounds.txt
    mechanisms="$(stacks stack 1 2 3 4 5 6 7 8 9 10) $(stacks jitter 1 2 3 5 10) chain"
    for scalar in f32 f64 fixed; do
        for m in $mechanisms drives; do
            for how in pgs pgs100 tgs dantzig exact; do
                case $how-$m in exact-stack* | exact-jitter*) continue ;; esac # as dantzig
                solve "$build/solvers-$scalar" $scalar "$m" $how ""
                # shellcheck disable=SC2086 # figures are words
                judge "$m" $how $scalar $figures
            done
        done
    done
    if echo '#include <ode/ode.h>' | "$1" -E -x c - >/dev/null 2>&1 &&
        "$1" -std=c99 -O2 "$(dirname "$0")/ode.c" -lode -lm -o "$build/ode" 2>"$build/ode.log"; then
        echo "# $("$build/ode" version)"
        for m in $mechanisms; do
            for how in step quick quick100; do
                solve "$build/ode" f64 "$m" $how ode-
            done
        done
    else
        echo "# not run: ODE is not installed (Debian: libode-dev)"
    fi
    return $failed
}

# side by side: instructions are the same on a busy processor
workloads >"$build/bench.workloads" &
[ $# -lt 2 ] || solvers "$2" || failed=1
wait $! || failed=1
cat "$build/bench.workloads"
exit $failed
