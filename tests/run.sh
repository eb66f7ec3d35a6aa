#!/bin/sh
# run.sh BUILD JOBS [CMAKE OPTION...]: configures and builds the tests, runs them, names those
# that could not be run here, and closes with the line "N passed, N failed".
set -u
build=$1
jobs=$2
shift 2
here=$(dirname "$0")
command -v cmake >/dev/null 2>&1 || { echo "the tests need CMake"; exit 1; }
mkdir -p "$build"
unset MAKEFLAGS MFLAGS # this build has its own -j
cmake -S "$here" -B "$build" -G "Unix Makefiles" "$@" >"$build/configure.log" 2>&1 ||
    { cat "$build/configure.log"; exit 1; }
log=$build/tests.log
rm -f "$log"
# A program that does not compile shows as a failed test, beside those that do.
cmake --build "$build" -- -k -j "$jobs" >"$build/build.log" 2>&1
built=$?
[ $built -eq 0 ] || cat "$build/build.log"
(cd "$build" && ctest --output-on-failure -j "$jobs" -O tests.log)
awk -v built=$built '
    /^ *[0-9]+\/[0-9]+ +Test +#[0-9]+: / {
        name = $0
        sub(/.*#[0-9]+: /, "", name)
        sub(/ .*/, "", name)
        if (/ Passed +[0-9]/) passed++
        else if (/\*\*\*(Skipped|Not Run \(Disabled\))/) skipped = skipped "\n    " name
        else failed++
    }
    END {
        if (skipped != "") print "\nNot run, for what they need is not here:" skipped
        if (built != 0) print "\nThe build failed."
        printf "\n%d passed, %d failed\n", passed, failed
        exit passed == 0 || failed > 0 || built != 0
    }' "$log"
