#!/bin/sh
# checked.sh CXX SCRATCH [ROOT]: the implementation does its arithmetic by the functions of the
# number rooms alone. checked.cpp, which compiles it on classes that refuse raw operations, runs in
# every scalar (by g++); every line of checked_refused.cpp that must be refused has an error of its
# own. Exit 77: there is no such compiler.
. "$(dirname "$0")/common.sh"
cxx=$1
scratch=$2/refused-$cxx
root=${3:-.}
need "$cxx"
mkdir -p "$scratch"
[ "$cxx" != g++ ] || for scalar in F32 F64 FIXED; do
    "$cxx" -std=c++11 $warnings $(quick "$cxx") -DMIMICDYN_SCALAR=$scalar \
        -DEXPECT_SCALAR_$scalar=1 -I"$root" "$root/tests/checked.cpp" -o "$scratch/checked" ||
        { fail "checked.cpp does not compile, $scalar"; continue; }
    has_scalar "$scratch/checked" $scalar
    "$scratch/checked" || fail "checked.cpp, $scalar"
done

file=$root/tests/checked_refused.cpp
case $("$cxx" --version) in
*clang*) all_errors=-ferror-limit=0 ;;
*) all_errors=-fmax-errors=0 ;;
esac
try() { # try REFUSED
    "$cxx" -std=c++11 -fsyntax-only -Wno-unused-function $all_errors -DMIMICDYN_SCALAR=F64 \
        -DREFUSED="$1" "$file" >"$scratch/refused.log" 2>&1
}
try 0 || { cat "$scratch/refused.log"; echo "FAIL: the file itself does not compile"; exit 1; }
lines=$(awk '/^#endif/ { inside = 0 } inside { print FNR } /^#if REFUSED/ { inside = 1 }' "$file")
# shellcheck disable=SC2086 # lines are words
set -- $lines
[ $# -ge 18 ] || { echo "FAIL: only $# lines to refuse"; exit 1; }
try 1 && fail "$cxx accepts $file"
for n; do
    grep -q "checked_refused.cpp:$n:.*error" "$scratch/refused.log" ||
        fail "$cxx accepts line $n:$(sed -n "${n}p" "$file")"
done
echo "$# raw operations tried"
exit $failed
