#!/bin/sh
# readme.sh COMPILER SCRATCH [ROOT]: what the README and the pages of examples/guide show is so.
# The first C block of the README is a whole program that compiles without a warning and ends with
# 0, with floats, and prints the first text block. That of lcp.md is statements that solve a problem
# as they say, in every scalar. That of microcontroller.md is a program whose beam moves as one
# body, as C99 and as C++11. Names of the header, targets of the Makefile, files, headings and tests
# that the pages speak of are there. Lines are plain ASCII of at most 100 columns, but for tables.
. "$(dirname "$0")/common.sh"
cc=$1
scratch=$2
quick=$(quick "$cc")
root=${3:-.}
mkdir -p "$scratch"

block() { # block KIND PAGE FILE: the lines of the first block of a kind
    awk -v open="\`\`\`$1" '
        $0 == open { inside = ++n == 1; next }
        /^```/ { inside = 0 }
        inside' "$root/$2" >"$3"
    [ -s "$3" ] || { echo "no block in $2 begins with \`\`\`$1"; exit 1; }
}
block c README.md "$scratch/readme-shown.c"
block text README.md "$scratch/readme.expected"
block c examples/guide/lcp.md "$scratch/readme-problem.inc"
block c examples/guide/microcontroller.md "$scratch/readme-gantry.h"

# Both in one file, which is compiled once for each scalar: with an argument it solves the problem.
cat >"$scratch/readme.c" <<'END'
#if SHOWN
#define main shown
#include "readme-shown.c"
#undef main
#else
#define MIMICDYN_IMPLEMENTATION
#include "mimicdyn.h"
#endif
static int problem(void)
{
#include "readme-problem.inc"
    return code != MDYN_OK || x[0] != MDYN_C(1.5) || x[1] != MDYN_C(0) || w[0] != MDYN_C(0)
        || w[1] != MDYN_C(1.5);
}
int main(int argc, char **argv)
{
    (void)argv;
#if SHOWN
    if (argc == 1) return shown();
#endif
    return argc == 2 ? problem() : 2;
}
END
for scalar in F32 F64 FIXED; do
    program=$scratch/readme-$scalar
    shown=1
    [ $scalar != FIXED ] || shown=0
    # shellcheck disable=SC2086 # warnings are words
    "$cc" -std=c99 $warnings $quick -DSHOWN=$shown -DMIMICDYN_SCALAR=$scalar -I"$root" \
        "$scratch/readme.c" -lm -o "$program" ||
        { fail "its program or its problem does not compile, $scalar"; continue; }
    has_scalar "$program" $scalar
    "$program" problem || fail "its problem is solved otherwise, $scalar"
    [ $shown = 1 ] || continue
    "$program" >"$scratch/readme.printed" || fail "its program failed, $scalar"
    diff "$scratch/readme.expected" "$scratch/readme.printed" ||
        fail "its program prints otherwise, $scalar"
done

# Two motors of 2.1e-4 and 2.4e-4 kg m^2 under 0.01 N m: angle and force after a second.
cat >"$scratch/readme-gantry.c" <<'END'
#include "readme-gantry.h"
int main(void)
{
    mdyn_wide force = MDYN_C(0);
    int32_t encoder = 0, i;
    int code = gantry_init();
    for (i = 0; i < 1000 && code == MDYN_OK; i++)
        code = gantry_tick(MDYN_R(0.01), MDYN_R(0), &force, &encoder);
    /* 0.01/4.5e-4/2 rad are 7243.3 counts; 2.4e-4/4.5e-4 of the torque goes through the beam */
    return code != MDYN_OK || encoder != 7243
        || mdyn_to_counts(mdyn_real_of(force), MDYN_C(1e-8)) != 533333;
}
END
gantry() { # gantry COMPILER FLAGS...
    # shellcheck disable=SC2086 # warnings are words
    "$@" $warnings -I"$root" "$scratch/readme-gantry.c" -lm -o "$scratch/readme-gantry" ||
        { fail "the gantry does not compile: $*"; return; }
    "$scratch/readme-gantry" || fail "the gantry moves otherwise: $*"
}
# shellcheck disable=SC2086 # flags are words
gantry "$cc" $quick -std=c99
if command -v g++ >/dev/null 2>&1; then gantry g++ -x c++ -std=c++11; fi

# Codes by the list of codes, the other names anywhere in the header, macros of it also with the
# "_" that ends a private one.
word='\b(mdyn|MDYN|MIMICDYN|MD)_[A-Za-z0-9_]*[A-Za-z0-9]'
codes='^MDYN_(ERR_.*|WARN_.*|OK)$'
pages="README.md $(cd "$root" && echo examples/guide/*.md)"
all_pages=$scratch/readme.pages
for page in $pages; do cat "$root/$page"; done >"$all_pages"
names=$(grep -oE "$word" "$all_pages" | sort -u)
[ "$(echo "$names" | wc -l)" -ge 60 ] || fail "few names are found; the check went blind"
{
    grep -oE "$word" "$root/mimicdyn.h" | sort -u | grep -vE "$codes"
    sed -nE 's/^ *[xX]\(([A-Z_0-9]+),.*/MDYN_\1/p' "$root/mimicdyn.h" | grep -E "$codes"
} | sort -u >"$scratch/readme.names"
unknown=$(echo "$names" | grep -vxFf "$scratch/readme.names")
[ -z "$unknown" ] || fail "not in the header:" $unknown
targets=$(grep -oE '(`|^ +)make [a-z]+' "$all_pages" | sed 's/.*make //' | sort -u)
for target in demo test $targets; do
    grep -qE "^$target:" "$root/Makefile" || fail "make $target is no target"
done
for target in demo test; do
    echo "$targets" | grep -qx $target || fail "it does not speak of make $target"
done
# Files of links and pictures are named from the page, others from the top. A heading's name in
# links: lower case, blanks as "-", nothing else but letters and digits.
headings() { sed -nE 's/^#+ //p' "$1" | tr 'A-Z ' 'a-z-' | sed 's/[^a-z0-9_-]//g'; }
count=0
for page in $pages; do
    here=$root/$(dirname "$page")
    for link in $(grep -oE '\]\([^)]*\)|src(set)?="[^"]*"' "$root/$page" |
        sed -E 's/^\]\(|\)$|^src(set)?="|"$//g' | sort -u); do
        count=$((count + 1))
        case $link in
        http*://*) continue ;;
        '#'*) file=$root/$page ;;
        *) file=$here/${link%%#*} ;;
        esac
        [ -e "$file" ] || fail "$page: there is no $link"
        case $link in *'#'*)
            headings "$file" | grep -qx -e "${link#*#}" || fail "$page: no heading for $link" ;;
        esac
    done
    for file in $(sed -E 's/\]\([^)]*\)//g' "$root/$page" |
        grep -oE '`(tests|examples|fuzz)/[A-Za-z0-9_./-]*[A-Za-z0-9_]' | tr -d '`' | sort -u); do
        count=$((count + 1))
        [ -e "$root/$file" ] || fail "$page: there is no $file"
    done
    wide=$(awk 'length($0) > 100 && !/^\|/ { print FNR }' "$root/$page")
    [ -z "$wide" ] || fail "$page: more than 100 columns in lines" $wide
    odd=$(LC_ALL=C grep -n '[^ -~]' "$root/$page" | cut -d: -f1)
    [ -z "$odd" ] || fail "$page: not plain ASCII in lines" $odd
done
[ $count -gt 50 ] || fail "few files are found; the check went blind"

# Tests that hold a promise: functions of the test programs.
tests=$(grep -oE '`test_[a-z0-9_]+`' "$all_pages" | tr -d '`' | sort -u)
grep -ohE '^static (void|int) test_[a-z0-9_]+' "$root"/tests/*.c | sed 's/.* //' | sort -u \
    >"$scratch/readme.tests"
[ "$(echo "$tests" | wc -l)" -ge 40 ] || fail "few tests are found; the check went blind"
missing=$(echo "$tests" | grep -vxFf "$scratch/readme.tests")
[ -z "$missing" ] || fail "no such tests:" $missing
[ $failed -eq 0 ] && echo "$(echo "$names" | wc -l) names, $(echo "$targets" | wc -l) targets" \
    "$count files and $(echo "$tests" | wc -l) tests are there"
exit $failed
