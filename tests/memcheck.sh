#!/bin/sh
# memcheck.sh BUILD [ROOT]: no result depends on memory that nobody has written: clang's
# MemorySanitizer looks at the mechanisms of make determinism and at each fuzzing harness, over its
# corpus and random inputs, in FIXED and in F64, whose code F32 shares. Exit 77: there is no clang,
# or none of its runtime.
. "$(dirname "$0")/common.sh"
build=$1/memcheck
root=${2:-.}
need clang
mkdir -p "$build"

# build SCALAR OUTPUT ARGUMENTS...
build() {
    scalar=$1
    output=$build/$2-$1
    shift 2
    clang -std=c99 -O0 -fsanitize=memory -fsanitize-ignorelist="$build/sums.txt" \
        -D_GNU_SOURCE -DMIMICDYN_SCALAR="$scalar" -DEXPECT_SCALAR_"$scalar"=1 -I"$root" "$@" \
        -o "$output" ||
        { fail "does not build: $output"; return 1; }
}
# run COMMAND...
run() {
    "$@" >"$build/log" 2>&1 || { cat "$build/log"; fail "$*"; }
}

# sums over the user's tables, whose padding counts
printf '[memory]\nfun:md_sum_bytes\nfun:md_crc\n' >"$build/sums.txt"
printf '#include <stdlib.h>\nint main(void) { int *x = malloc(sizeof *x); return *x ? 1 : 0; }\n' \
    >"$build/planted.c"
clang -fsanitize=memory "$build/planted.c" -o "$build/planted" 2>"$build/log" ||
    { cat "$build/log"; exit 77; }
"$build/planted" 2>&1 | grep -q 'MemorySanitizer: use-of-uninit' || fail "a planted fault passes"
set --
for name in dyadic jaws planetary differential spring finger robotiq arm floating; do
    set -- "$@" "$root/tests/firmware/mechanisms/$name.c"
done
for scalar in F64 FIXED; do
    build $scalar mechanisms "$@" "$root/tests/firmware/determinism.c" \
        "$root/tests/firmware/port_host.c" -lm && run "$build/mechanisms-$scalar"
    build $scalar few.o -c "$root/tests/implementation.c" -DTEST_FEW=1 || continue
    for harness in model lcp motion restore curves rotors; do
        library=-DMIMICDYN_STATIC=1
        case $harness in
        model | motion | restore | curves)
            library="-DTEST_SHARES_IMPLEMENTATION=1 $build/few.o-$scalar" ;;
        esac
        # shellcheck disable=SC2086 # two arguments, or one
        build $scalar "$harness" "$root/fuzz/standalone.c" "$root/fuzz/fuzz_$harness.c" $library \
            -lm || continue
        run "$build/$harness-$scalar" "$root/fuzz/corpus/fuzz_$harness"/*
        run "$build/$harness-$scalar" --random 100 1
    done
done
exit $failed
