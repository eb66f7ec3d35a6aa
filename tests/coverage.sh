#!/bin/sh
# coverage.sh CLANG BUILD: which lines and branches of the header the test programs, the
# reference cases and the fuzzing corpus reach, in all scalars together. Run from the root.
set -eu
clang=$1
build=$2
for tool in "$clang" llvm-profdata llvm-cov; do
    command -v "$tool" >/dev/null 2>&1 || { echo "coverage needs $tool; it is not here"; exit 1; }
done
rm -rf "$build"
mkdir -p "$build"
objects=
for scalar in F32 F64 FIXED; do
    compile() { # compile PROGRAM SOURCE...
        program=$build/$1-$scalar
        shift
        "$clang" -std=c99 -O1 -fprofile-instr-generate -fcoverage-mapping -I. \
            -DMIMICDYN_SCALAR=$scalar -DEXPECT_SCALAR_$scalar=1 "$@" -lm -o "$program"
        objects="$objects -object $program"
        LLVM_PROFILE_FILE=$program-%p.profraw
        export LLVM_PROFILE_FILE
    }
    for source in tests/test_*.c; do
        name=$(basename "$source" .c)
        case $name-$scalar in
        test_cases-* | test_accuracy-* | test_fixed-F32 | test_fixed-F64 | test_float-FIXED)
            continue ;;
        esac
        case $name in
        test_knobs | test_iterated) compile "$name" "$source" tests/knobs_all.c ;;
        *) compile "$name" "$source" ;;
        esac
        "$program" >"$program.log" || echo "$name $scalar fails"
    done
    compile replay tests/replay.c
    for cases in tests/cases/*.cases; do
        "$program" "$cases" "$program.results" >>"$program.log" || echo "replay $scalar fails"
    done
    for harness in fuzz_model fuzz_lcp; do
        compile "$harness" fuzz/standalone.c "fuzz/$harness.c"
        "$program" fuzz/corpus/"$harness"/* >"$program.log" || echo "$harness $scalar fails"
    done
done
llvm-profdata merge -sparse "$build"/*.profraw -o "$build/all.profdata"
# shellcheck disable=SC2086 # a list of options
llvm-cov show ${objects# -object } -instr-profile="$build/all.profdata" \
    -show-branches=count mimicdyn.h >"$build/mimicdyn.h.txt"
# shellcheck disable=SC2086
llvm-cov report ${objects# -object } -instr-profile="$build/all.profdata" mimicdyn.h
echo "line by line: $build/mimicdyn.h.txt"
