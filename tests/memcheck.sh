#!/bin/sh
# memcheck.sh COMPILER BUILD [ROOT]: no step depends on memory that nobody has written: the
# mechanisms of make determinism under valgrind, in every scalar. Exit 77: there is no valgrind.
. "$(dirname "$0")/common.sh"
compiler=$1
build=$2
root=${3:-.}
need "$compiler" valgrind
mkdir -p "$build"
set --
for name in dyadic jaws planetary differential spring finger robotiq arm floating; do
    set -- "$@" "$root/tests/firmware/mechanisms/$name.c"
done
for scalar in F32 F64 FIXED; do
    "$compiler" -std=c99 -Os -g -DMIMICDYN_SCALAR=$scalar -I"$root" "$@" \
        "$root/tests/firmware/determinism.c" "$root/tests/firmware/port_host.c" -lm \
        -o "$build/memcheck-$scalar" ||
        { fail "does not build, $scalar"; continue; }
    valgrind -q --error-exitcode=1 "$build/memcheck-$scalar" >"$build/memcheck.log" 2>&1 ||
        { cat "$build/memcheck.log"; fail "$scalar"; }
done
exit $failed
