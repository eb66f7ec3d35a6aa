#!/bin/sh
# run.sh BUILD JOBS [CMAKE OPTION...]: configures and builds the tests, runs them, showing each
# file and each test as it is done; names those that could not be run here, and closes with the
# line "N passed, N failed".
set -u
build=$1
jobs=$2
shift 2
here=$(dirname "$0")
command -v cmake >/dev/null 2>&1 || { echo "the tests need CMake"; exit 1; }
mkdir -p "$build"
unset MAKEFLAGS MFLAGS # this build has its own -j
began=$(date +%s)
passed_time() { echo "$(($(date +%s) - began)) s"; }

echo "configuring in $build, $jobs at a time"
cmake -S "$here" -B "$build" -G "Unix Makefiles" "$@" >"$build/configure.log" 2>&1 ||
    { cat "$build/configure.log"; exit 1; }

# A program that does not compile shows as a failed test, beside those that do. (Lines are read by
# the shell, since awk and sed may keep them until there are more.)
echo "compiling"
{
    cmake --build "$build" -- -k -j "$jobs" 2>&1
    echo $? >"$build/built"
} | tee "$build/build.log" |
    while IFS= read -r line; do
        case $line in
        *"Built target"* | *Consolidate* | *Scanning* | *Linking* | *make*"ing directory"*) ;;
        *"Building C"*)
            part=${line%%]*}
            file=${line##*CMakeFiles/}
            echo "$part] ${file%%.dir/*}" ;;
        *) echo "$line" ;;
        esac
    done
built=$(cat "$build/built")

echo "running, after $(passed_time)"
log=$build/tests.log
rm -f "$log"
(cd "$build" && ctest --output-on-failure -j "$jobs" -O tests.log 2>&1) |
    while IFS= read -r line; do
        case $line in
        *Start*[0-9]:*) ;;
        "Unable to find"* | "Could not find"* | "Looked in"* | */*-f32 | */*-f64 | */*-fixed) ;;
        *) echo "$line" ;;
        esac
    done
echo "took $(passed_time)"
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
