#!/bin/sh
# checked.sh CXX SCRATCH [ROOT]: the lines of checked_refused.cpp are refused one by one.
# Exit 77: there is no such compiler.
. "$(dirname "$0")/common.sh"
cxx=$1
scratch=$2
root=${3:-.}
need "$cxx"
mkdir -p "$scratch"
try() { # try NUMBER
    "$cxx" -std=c++11 -fsyntax-only -Wno-unused-function -DMIMICDYN_SCALAR=F64 -DREFUSED="$1" \
        "$root/tests/checked_refused.cpp" >"$scratch/refused.log" 2>&1
}
try 0 || { cat "$scratch/refused.log"; echo "FAIL: the file itself does not compile"; exit 1; }
cases=$(grep -c 'REFUSED ==' "$root/tests/checked_refused.cpp")
[ "$cases" -ge 18 ] || { echo "FAIL: only $cases lines to refuse"; exit 1; }
n=1
while [ "$n" -le "$cases" ]; do
    if try "$n"; then
        fail "$cxx accepts line REFUSED == $n"
    fi
    n=$((n + 1))
done
echo "$cases raw operations tried"
exit $failed
