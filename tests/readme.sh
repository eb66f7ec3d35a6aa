#!/bin/sh
# readme.sh COMPILER README SCRATCH [ROOT]: what the README shows is so. Its first C block is a
# whole program that compiles without a warning and ends with 0, in both scalars, and prints the
# first text block. Its second one is statements that solve a problem as they say, in every scalar.
# Names of the header, targets of the Makefile and files that it speaks of are there. Lines are
# plain ASCII of at most 100 columns, but for tables.
. "$(dirname "$0")/common.sh"
cc=$1
readme=$2
scratch=$3
root=${4:-.}
mkdir -p "$scratch"
[ -f "$readme" ] || { echo "there is no $readme"; exit 1; }

block() { # block KIND N: the lines of the block of a kind that is number N
    awk -v open="\`\`\`$1" -v wanted="$2" '
        $0 == open { inside = ++n == wanted; next }
        /^```/ { inside = 0 }
        inside' "$readme"
}
block c 1 >"$scratch/readme.c"
block text 1 >"$scratch/readme.expected"
block c 2 >"$scratch/readme-problem.inc"
[ -s "$scratch/readme.c" ] || { echo "$readme has no block that begins with \`\`\`c"; exit 1; }
[ -s "$scratch/readme.expected" ] || { echo "$readme has no block of kind text"; exit 1; }
for scalar in F32 F64; do
    # shellcheck disable=SC2086 # warnings are words
    "$cc" -std=c99 -O2 $warnings -DMIMICDYN_SCALAR=$scalar -I"$root" "$scratch/readme.c" -lm \
        -o "$scratch/readme-$scalar" || { fail "its program does not compile, $scalar"; continue; }
    has_scalar "$scratch/readme-$scalar" $scalar
    "$scratch/readme-$scalar" >"$scratch/readme.printed" || fail "its program failed, $scalar"
    diff "$scratch/readme.expected" "$scratch/readme.printed" ||
        fail "its program prints otherwise, $scalar"
done

cat >"$scratch/readme-problem.c" <<'END'
#define MIMICDYN_IMPLEMENTATION
#include "mimicdyn.h"
int main(void)
{
#include "readme-problem.inc"
    return code != MDYN_OK || x[0] != MDYN_C(1.5) || x[1] != MDYN_C(0) || w[0] != MDYN_C(0)
        || w[1] != MDYN_C(1.5);
}
END
for scalar in F32 F64 FIXED; do
    # shellcheck disable=SC2086 # warnings are words
    "$cc" -std=c99 -O2 $warnings -DMIMICDYN_SCALAR=$scalar -I"$root" -I"$scratch" \
        "$scratch/readme-problem.c" -o "$scratch/readme-problem" ||
        { fail "its problem does not compile, $scalar"; continue; }
    "$scratch/readme-problem" || fail "its problem is solved otherwise, $scalar"
done

names=$(grep -oE '\b(mdyn|MDYN|MIMICDYN|MD)_[A-Za-z0-9_]*[A-Za-z0-9]' "$readme" | sort -u)
[ "$(echo "$names" | wc -l)" -ge 60 ] || fail "few names are found; the check went blind"
for name in $names; do
    case $name in
    MDYN_ERR_* | MDYN_WARN_* | MDYN_OK) grep -qE "^ *X\(${name#MDYN_}," "$root/mimicdyn.h" ;;
    *) grep -qE "\b${name}_?\b" "$root/mimicdyn.h" ;;
    esac || fail "$name is not in the header"
done
targets=$(grep -oE '(`|^ +)make [a-z]+' "$readme" | sed 's/.*make //' | sort -u)
for target in demo test $targets; do
    grep -qE "^$target:" "$root/Makefile" || fail "make $target is no target"
done
for target in demo test; do
    echo "$targets" | grep -qx $target || fail "it does not speak of make $target"
done
files=$(grep -oE '(tests|examples|fuzz)/[A-Za-z0-9_./-]*[A-Za-z0-9_]|\]\([^)]*\)|src="[^"]*"' \
    "$readme" | sed -E 's/^\]\(|\)$|^src="|"$//g' | sort -u)
[ -n "$files" ] || fail "no files are found; the check went blind"
for file in $files; do
    [ -e "$root/$file" ] || fail "there is no $file"
done
wide=$(awk 'length($0) > 100 && !/^\|/ { print FNR }' "$readme")
[ -z "$wide" ] || fail "more than 100 columns in lines" $wide
odd=$(LC_ALL=C grep -n '[^ -~]' "$readme" | cut -d: -f1)
[ -z "$odd" ] || fail "not plain ASCII in lines" $odd
[ $failed -eq 0 ] && echo "$(echo "$names" | wc -l) names, $(echo "$targets" | wc -l) targets" \
    "and $(echo "$files" | wc -l) files are there"
exit $failed
