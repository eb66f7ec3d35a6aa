#!/bin/sh
# readme.sh COMPILER README BUILD [ROOT]: the first C block of the README is a whole program that
# compiles without a warning and ends with 0, in both scalars.
set -u
cc=$1
readme=$2
build=$3
root=${4:-.}
mkdir -p "$build"
[ -f "$readme" ] || { echo "there is no $readme"; exit 1; }
awk '/^```c$/ && !n { n = inside = 1; next } /^```/ { inside = 0 } inside' "$readme" \
    >"$build/readme.c"
[ -s "$build/readme.c" ] || { echo "$readme has no block that begins with \`\`\`c"; exit 1; }
warnings="-Wall -Wextra -pedantic -Wconversion -Wdouble-promotion -Wshadow -Wundef -Wvla -Werror"
for scalar in F32 F64; do
    # shellcheck disable=SC2086 # warnings are words
    "$cc" -std=c99 -O2 $warnings -DMIMICDYN_SCALAR=$scalar -I"$root" "$build/readme.c" -lm \
        -o "$build/readme-$scalar" || exit 1
    "$build/readme-$scalar" || { echo "the README's program failed in $scalar"; exit 1; }
done
