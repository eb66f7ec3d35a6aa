#!/bin/sh
# figures.sh check|write PART COMPILER SCRATCH [ROOT]: what a machine writes into pages of
# examples/guide (codes, knobs, recipes, misra, solve, rates) and tests/FIGURES.md (the others).
#   codes     the table of codes, from MDYN_CODES
#   knobs     the table of knobs, from the header's text and sizes of mdyn_sim
#   recipes   knobs of examples with the sizes of mdyn_sim that they make
#   misra     deviations by MISRA rule, from the addon of cppcheck
#   solve     instructions for a row and for an entry in an iteration, from tests/bench/iteration.c
#   accuracy  FIXED and F32 against F64, from tests/accuracy.c
#   measured  instructions and accuracy, from tests/bench/bench.sh; code size; stack
#   solvers   the solvers of a step on the same mechanisms, from tests/bench/solvers.c
#   boards    flash, RAM, stack and instructions on microcontrollers, from tests/firmware/size.sh
#   rates     control rates of parts, from tests/firmware/rates.sh
#   picture   examples/gripper.svg, from examples/demo.c in F64 (check: in all compilers here)
#   all       (write only) all of them
# `check` compares with a fresh one: to the letter,
# `measured`, `solvers`, `boards`, `rates`, `solve` within 2 percent, `misra` within 10.
# Exit 77: what is needed is not here, or the page's figures are another compiler's.
set -u
mode=$1
part=$2
cc=$3
scratch=$4/figures-$part
root=${5:-.}
case $part in
codes | misra | solve) page=$root/examples/guide/safety.md ;;
knobs | recipes | rates) page=$root/examples/guide/microcontroller.md ;;
*) page=$root/tests/FIGURES.md ;;
esac
picture=$root/examples/gripper.svg
mkdir -p "$scratch"

die() { echo "FAIL: $*"; exit 1; }
absent() { echo "not run: $*"; exit 77; }

# ---- codes ----

codes() {
    cat >"$scratch/codes.c" <<'END'
#include "mimicdyn.h"
#include <stdio.h>
#define ROW(name, value, sentence, remedy) \
    printf("| %d | `MDYN_" #name "` | %s | %s |\n", value, sentence, remedy);
int main(void) {
    puts("| value | code | what it says | what to do |\n| ---: | --- | --- | --- |");
    MDYN_CODES(ROW)
    return 0;
}
END
    "$cc" -std=c99 -I"$root" "$scratch/codes.c" -o "$scratch/codes" || exit 1
    "$scratch/codes"
}

# ---- knobs ----

bytes() { # bytes KNOBS: of a sim; ends with 77 where pointers have other than 64 bits
    # shellcheck disable=SC2086 # knobs are words
    "$cc" -std=c99 -DMIMICDYN_SCALAR=$scalar $1 -I"$root" "$scratch/bytes.c" -o "$scratch/bytes" ||
        return 1
    "$scratch/bytes"
}

bytes_program() {
    cat >"$scratch/bytes.c" <<'END'
#include "mimicdyn.h"
#include <stdio.h>
int main(void) {
    printf("%lu\n", (unsigned long)sizeof(mdyn_sim));
    return sizeof(void *) == 8 ? 0 : 77;
}
END
}

# Sizes are taken 60 units apart, so that padding and the third coordinate of three speeds even out.
sizes() { # prints lines "KNOB SCALAR BYTES" of a unit
    bytes_program
    for scalar in F32 F64 FIXED; do
        set_to() { # set_to BODIES DOFS COUPLINGS ROWS TERMS ENTRIES
            echo "-DMIMICDYN_MAX_BODIES=$1 -DMIMICDYN_MAX_DOFS=$2 -DMIMICDYN_MAX_COUPLINGS=$3 \
                -DMIMICDYN_MAX_ROWS=$4 -DMIMICDYN_MAX_TERMS=$5 -DMIMICDYN_MAX_ENTRIES=$6"
        }
        base=$(bytes "$(set_to 60 60 60 60 4 60)") || return $?
        unit() { # unit KNOB UNITS KNOBS
            more=$(bytes "$3") || return $?
            awk -v name="$1" -v scalar=$scalar -v bytes=$((more - base)) -v units="$2" \
                'BEGIN { printf "%s %s %.0f\n", name, scalar, bytes / units }'
        }
        unit MAX_BODIES 60 "$(set_to 120 60 60 60 4 60)" || return $?
        unit MAX_DOFS 60 "$(set_to 60 120 60 60 4 60)" || return $?
        unit MAX_COUPLINGS 60 "$(set_to 60 60 120 60 4 60)" || return $?
        unit MAX_ROWS 60 "$(set_to 60 60 60 120 4 60)" || return $?
        unit MAX_TERMS 3600 "$(set_to 60 60 60 60 64 60)" || return $?
        unit MAX_ENTRIES 60 "$(set_to 60 60 60 60 4 120)" || return $?
        usual=$(bytes "") || return $?
        echo "default $scalar $usual"
        more=$(bytes -DMIMICDYN_MAX_BODIES=76) || return $?
        echo "each $scalar $(((more - usual) / 60))"
        least=$(bytes "-DMIMICDYN_MAX_BODIES=2 -DMIMICDYN_MAX_DOFS=2 \
            -DMIMICDYN_MAX_COUPLINGS=1 -DMIMICDYN_MAX_ROWS=1 -DMIMICDYN_MAX_TERMS=2") || return $?
        echo "least $scalar $least"
    done
}

knobs() {
    sizes >"$scratch/sizes" || return $?
    awk '
        FILENAME ~ /sizes$/ { bytes[$1, $2] = $3; next }
        /^#define MDYN_PASTE_/ { exit }
        /^\/\* MIMICDYN_[A-Z_]* - / { name = $2; text = ""; comment = 1; order[++n] = name }
        comment {
            text = text " " $0
            if (/\*\//) {
                sub(/^.* - /, "", text)
                gsub(/ +/, " ", text)
                sub(/\. .*$/, "", text)
                sub(/\.? *\*\/.*$/, "", text)
                about[name] = text
                comment = 0
            }
        }
        /^#define (MIMICDYN_|MDYN_[A-Z_]*_ )/ && !($2 in value) { # the first one is the default
            while (sub(/ *\\$/, "")) { getline line; $0 = $0 line }
            gsub(/ +/, " ")
            value[$2] = substr($0, length("#define " $2 " ") + 1)
            for (part in value)
                if (part ~ /^MDYN_/ && part != $2) gsub(part, value[part], value[$2])
            if ($2 in about && value[$2] ~ /^\(.*\)$/)
                value[$2] = substr(value[$2], 2, length(value[$2]) - 2)
        }
        END {
            print "| knob | what it is | range | default | bytes, F32 | F64 | FIXED |"
            print "| --- | --- | --- | --- | ---: | ---: | ---: |"
            for (i = 1; i <= n; i++) {
                name = order[i]
                while ((getline line <header) > 0)
                    if (line ~ "^(MDYN_RANGE_[(]|#error \")" name "(,| must be) ") {
                        gsub(/.* must be |MDYN_RANGE_[(][A-Z_]*, |[");]/, "", line)
                        if (!sub(/^0, 1$/, "0 or 1", line) && line !~ /F32/)
                            sub(/, /, " to ", line)
                        range[name] = line
                    }
                close(header)
                short = substr(name, 10)
                a = bytes[short, "F32"]
                b = bytes[short, "F64"]
                c = bytes[short, "FIXED"]
                per = short == "MAX_TERMS" ? " a coupling" : ""
                if (a == "") a = b = c = "-"
                printf "| `%s` | %s | %s | `%s` | %s%s | %s%s | %s%s |\n", name, about[name],
                    range[name], value[name], a, per, b, per, c, per
                if (about[name] == "" || range[name] == "" || value[name] == "") exit 1
            }
            print ""
            print "| `sizeof(mdyn_sim)` | F32 | F64 | FIXED |"
            print "| --- | ---: | ---: | ---: |"
            line = "| %s | %d | %d | %d |\n"
            printf line, "all knobs at their defaults", bytes["default", "F32"],
                bytes["default", "F64"], bytes["default", "FIXED"]
            printf line, "for each body more, the other knobs following", bytes["each", "F32"],
                bytes["each", "F64"], bytes["each", "FIXED"]
            printf line, "2 bodies, 2 speeds, 1 coupling of 2 terms, 1 row", bytes["least", "F32"],
                bytes["least", "F64"], bytes["least", "FIXED"]
            if (n < 8) exit 1
        }' header="$root/mimicdyn.h" "$scratch/sizes" "$root/mimicdyn.h"
}

# ---- recipes ----

# Each is the knobs of a file that the tests compile and run, so the mechanism does fit.
recipe() { # recipe FILE TEXT [EXAMPLE]
    awk '/#include "mimicdyn.h"/ { exit }
        $1 == "#define" && $2 ~ /^MIMICDYN_/ && $2 !~ /_(IMPLEMENTATION|SCALAR)$/ {
            print substr($2, 10), $3 }' "$root/$1" >"$scratch/recipe"
    [ -s "$scratch/recipe" ] || return 1
    flags=$(awk '{ printf " -DMIMICDYN_%s=%s", $1, $2 }' "$scratch/recipe")
    row=$(awk '{ printf "%s`%s %s`", (NR > 1 ? ", " : ""), $1, $2 }' "$scratch/recipe")
    row="| $2${3:+: [$3](../$3)} | $row |"
    for scalar in F32 F64 FIXED; do
        size=$(bytes "$flags") || return $?
        row="$row $size |"
    done
    echo "$row"
}

recipes() {
    bytes_program
    echo "| mechanism | knobs, each \`#define MIMICDYN_...\` | bytes, F32 | F64 | FIXED |"
    echo "| --- | --- | ---: | ---: | ---: |"
    recipe examples/guide/microcontroller.md "two motors, one link: the program above" &&
    recipe examples/actuators.c "electronic gearing of four motors, a drive" actuators.c &&
    recipe examples/planetary.c "planetary gear, two couplings" planetary.c &&
    recipe examples/gripper.c "two jaws, one coupling" gripper.c &&
    recipe examples/finger.c "three joints on a tendon" finger.c &&
    recipe examples/robots/robotiq_85.h "2F-85: five mimics, limits" robot_2f85.c &&
    recipe examples/fourbar.c "four-bar closed by a hinge" fourbar.c &&
    recipe examples/robots/panda_hand.h "arm of seven joints, hand" robot_panda.c
}

# ---- solve: what an iteration costs ----

# Instructions of ten iterations more, for chains of 8 and 32 links: those for a row and an entry.
solve() {
    command -v valgrind >/dev/null 2>&1 || return 77
    for scalar in F32 F64 FIXED; do
        "$cc" -std=c99 -O2 -DMIMICDYN_SCALAR=$scalar -DEXPECT_SCALAR_$scalar=1 -I"$root" \
            "$root/tests/bench/iteration.c" -lm -o "$scratch/iteration" || return 1
        for links in 8 32; do
            for iterations in 5 15; do
                counted=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null \
                    --toggle-collect=bench_step "$scratch/iteration" $links $iterations \
                    2>"$scratch/callgrind.log") || return 1
                awk -v what="$scalar $counted" '/Collected *:/ { print what, $NF }' \
                    "$scratch/callgrind.log"
            done
        done
    done >"$scratch/solve"
    compiler
    awk '
        { rows[$2] = $2; entries[$2] = $3; took[$1, $2, $4] = $5 }
        function each(scalar, links) {
            return (took[scalar, links, 15] - took[scalar, links, 5]) / 10
        }
        function entry(scalar) {
            return (each(scalar, 32) - 4 * each(scalar, 8)) / (entries[32] - 4 * entries[8])
        }
        function row(scalar) { return (each(scalar, 8) - entry(scalar) * entries[8]) / 8 }
        END {
            print "\n| instructions in an iteration | F32 | F64 | FIXED |"
            print "| --- | ---: | ---: | ---: |"
            printf "| a, for a row | %.0f | %.0f | %.0f |\n", row("F32"), row("F64"), row("FIXED")
            printf "| b, for an entry | %.1f | %.1f | %.1f |\n", entry("F32"), entry("F64"),
                entry("FIXED")
            if (!(entry("FIXED") > 0)) exit 1
        }' "$scratch/solve"
}

# ---- misra ----

misra() {
    command -v cppcheck >/dev/null 2>&1 || return 77
    printf '%s\n' '#define MIMICDYN_SCALAR F32' '#define MIMICDYN_IMPLEMENTATION' \
        '#include "mimicdyn.h"' >"$scratch/misra.c"
    cppcheck -q --language=c --std=c99 --max-configs=1 --addon=misra -I "$root" \
        --template='{id}' "$scratch/misra.c" 2>"$scratch/misra.log"
    grep -q '^misra-c2012-' "$scratch/misra.log" || return 77
    cppcheck --version | tr '[:upper:]' '[:lower:]' | sed 's/$/, F32, one configuration/'
    printf '\n| rule | places |\n| --- | ---: |\n'
    sed -n 's/^misra-c2012-//p' "$scratch/misra.log" | sort -t . -k 1,1n -k 2,2n | uniq -c |
        awk '{ print "| " $2 " | " $1 " |"; sum += $1 }
            END { print "| " NR " rules | " sum " |" }'
}

# ---- accuracy ----

accuracy() {
    for scalar in F64 F32 FIXED; do
        "$cc" -std=c99 -O2 -DMIMICDYN_SCALAR=$scalar -DEXPECT_SCALAR_$scalar=1 \
            "$root/tests/accuracy.c" -lm -o "$scratch/accuracy" || return 1
        "$scratch/accuracy" "$scratch/$scalar" || return 1
    done
    "$cc" -std=c99 -O2 "$root/tests/test_accuracy.c" -lm -o "$scratch/compare" || return 1
    "$scratch/compare" "$scratch/F64" "$scratch/F32" "$scratch/FIXED" | grep '^|'
}

# ---- measured ----

compiler() {
    if "$cc" -dM -E -x c /dev/null | grep -q '__clang__'; then
        version=$("$cc" --version | sed -n '1s/.*version \([0-9.]*\).*/clang \1/p')
    else
        version="gcc $("$cc" -dumpfullversion)"
    fi
    machine=$("$cc" -dumpmachine)
    echo "Compiler: $version, \`-std=c99 -O2\`, ${machine%%-*}. Instructions as callgrind counts."
}

measured() {
    command -v valgrind >/dev/null 2>&1 || return 77
    for scalar in F32 F64; do
        lower=$(echo $scalar | tr FR fr)
        "$cc" -std=c99 -O2 -DMIMICDYN_SCALAR=$scalar -DEXPECT_SCALAR_$scalar=1 -I"$root" \
            "$root/tests/bench/bench.c" -lm -o "$scratch/bench-$lower" || return 1
    done
    sh "$root/tests/bench/bench.sh" "$scratch" >"$scratch/bench" # its bounds are not judged here
    sh "$root/tests/stack.sh" "$cc" "$scratch" "$root" >"$scratch/stack"
    [ $? -ne 1 ] || return 1
    printf '#define MIMICDYN_IMPLEMENTATION\n#include "mimicdyn.h"\n' >"$scratch/code.c"
    printf '%s\n' '#define MIMICDYN_STATIC 1' '#define MIMICDYN_IMPLEMENTATION' \
        '#include "mimicdyn.h"' 'mdyn_sim sim;' 'extern const mdyn_model model;' \
        'int start(void) { return mdyn_init_configured(&sim, &model, 0); }' \
        'int tick(void) { return mdyn_step(&sim); }' >"$scratch/part.c"
    for scalar in F32 F64; do
        code() { # code FILE LEVEL TEXT
            "$cc" -std=c99 $2 -DMIMICDYN_SCALAR=$scalar -I"$root" -c "$scratch/$1.c" \
                -o "$scratch/$1.o" || return 1
            size "$scratch/$1.o" | awk -v what="$scalar $3" 'NR == 2 { print "code", $1, what }'
        }
        code code -O2 "code and constants, all functions, \`-O2\`" || return 1
        code code -Os "code and constants, all functions, \`-Os\`" || return 1
        code part -Os "the same, \`mdyn_init\` and \`mdyn_step\` only, \`-Os\`" || return 1
    done >"$scratch/code"
    compiler
    awk '
        function tell(kind, format,    i, a, b) {
            for (i = 1; i <= count[kind]; i++) {
                a = found[kind, i, "f32"]
                b = found[kind, i, "f64"]
                if (a == "" || b == "") bad = 1
                printf format, label[kind, i], a, b
            }
            if (count[kind] == 0) bad = 1
        }
        function short(value) { # 1.2e-07 as 1.2e-7
            return value ~ /e-0/ ? substr(value, 1, index(value, "e") + 1) substr(value, \
                index(value, "e") + 3) : value
        }
        function keep(kind, text, scalar, value) {
            if (!((kind, text) in at)) {
                at[kind, text] = ++count[kind]
                label[kind, count[kind]] = text
            }
            found[kind, at[kind, text], scalar] = value
        }
        BEGIN {
            called["fd"] = "`mdyn_forward_dynamics`, a chain of %d links"
            called["id"] = "`mdyn_inverse_dynamics`, a chain of %d links"
            called["mass"] = "`mdyn_mass_matrix`, a chain of %d links"
            called["chain"] = "`mdyn_step`, a chain of %d links"
            called["hand"] = "`mdyn_step`, a hand of %d joints, 10 couplings, limits"
            called["request"] = "the same of %d joints, `MDYN_ON_REQUEST`"
            called["gears"] = "`mdyn_step`, a train of %d gears"
            called["init"] = "`mdyn_init`, a train of %d gears"
        }
        $1 == "bench" {
            if ($6 !~ /^[0-9]+$/ || !($2 in called)) bad = 1 # asked before called[$2] makes it
            keep("speed", sprintf(called[$2], $3), $4, $6)
        }
        /^# accuracy/ { scalar = $3 }
        /^# (PASS|FAIL)/ && !/ against / {
            text = $0
            sub(/^# [A-Z]+ /, "", text)
            sub(/ [0-9]+: .*/, "", text)
            value = $0
            sub(/.*: /, "", value)
            sub(/,.*/, "", value)
            if (!((text, scalar) in worst) || value + 0 > worst[text, scalar] + 0) {
                worst[text, scalar] = value
                keep("accuracy", text, scalar, short(value))
            }
        }
        $1 == "code" {
            text = $0
            sub(/^code [0-9]+ F[0-9]+ /, "", text)
            keep("code", text, tolower($3), $2)
        }
        $1 == "stack" && $3 ~ /^mdyn_(init_configured|step|project)$/ {
            sub(/_configured/, "", $4)
            keep("stack", "deepest stack of `" $3 "`, `-O2`", tolower($2), $4)
        }
        END {
            print "\n| instructions for one call | F32 | F64 |\n| --- | ---: | ---: |"
            tell("speed", "| %s | %s | %s |\n")
            print "\n| largest error of all sizes | F32 | F64 |\n| --- | ---: | ---: |"
            tell("accuracy", "| %s | %s | %s |\n")
            print "\n| bytes | F32 | F64 |\n| --- | ---: | ---: |"
            tell("code", "| %s | %s | %s |\n")
            if (count["stack"] > 0) tell("stack", "| %s | %s | %s |\n")
            exit bad
        }' "$scratch/bench" "$scratch/code" "$scratch/stack"
}

# ---- solvers ----

solvers() {
    command -v valgrind >/dev/null 2>&1 || return 77
    "$cc" -std=c99 -O2 -DMIMICDYN_SCALAR=F64 -DEXPECT_SCALAR_F64=1 -I"$root" \
        "$root/tests/bench/solvers.c" -lm -o "$scratch/solvers" || return 1
    for m in stack1 stack5 stack10 jitter5 jitter10 chain drives; do
        for how in pgs pgs100 tgs dantzig exact; do
            figures=$("$scratch/solvers" run $m $how) || return 1
            steps=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null \
                --toggle-collect=bench_step "$scratch/solvers" count $m $how \
                2>"$scratch/callgrind.log") || return 1
            counted=$(awk '/Collected *:/ { print $NF }' "$scratch/callgrind.log")
            echo "$m $how $counted $steps $figures"
        done
    done >"$scratch/figures"
    compiler
    awk '
        function short(value) { sub(/e-0/, "e-", value); sub(/e\+0/, "e+", value); return value }
        function tell(m, column, what) { # a row of the second table
            if (!((m, column) in error)) bad = 1
            print "| " name[m] ": " what " |" error[m, column]
        }
        BEGIN {
            name["stack1"] = "box on the ground"
            name["stack5"] = "5 boxes on each other"
            name["stack10"] = "10 boxes on each other, which tip"
            name["jitter5"] = "5 boxes, moved, turned, sunk"
            name["jitter10"] = "10 boxes, moved, turned, sunk"
            name["chain"] = "chain of 20 hinges"
            name["drives"] = "8 drives, 100 kg on 1 kg"
            head = " | PGS, 20 iterations | PGS, 100 iterations | TGS, 20 substeps" \
                " | Dantzig, all rows | exact, Dantzig for the rest |"
        }
        {
            if (!($1 in rows)) order[++n] = $1
            rows[$1] = $6
            cost[$1] = cost[$1] sprintf(" %.0f |", $3 / $4)
            for (i = 7; i <= 9; i++) error[$1, i] = error[$1, i] " " short($i) " |"
        }
        END {
            print "\n| instructions a step | rows" head "\n| --- | ---: | ---: | ---: | ---: |" \
                " ---: | ---: |"
            for (i = 1; i <= n; i++)
                print "| " name[order[i]] " | " rows[order[i]] " |" cost[order[i]]
            print "\n| largest error in 200 steps" head "\n| --- | ---: | ---: | ---: | ---: |" \
                " ---: |"
            tell("stack1", 7, "off its place [m]")
            tell("stack5", 7, "off their places [m]")
            tell("stack10", 7, "off their places [m]")
            tell("jitter5", 8, "a row misses by [m/s]")
            tell("jitter10", 8, "a row misses by [m/s]")
            tell("chain", 7, "gap in a hinge [m]")
            tell("chain", 8, "energy gained or lost, of the kinetic one")
            tell("drives", 7, "speeds off after a step [m/s]")
            tell("stack10", 9, "steps left to iterations")
            tell("jitter5", 9, "steps left to iterations")
            tell("jitter10", 9, "steps left to iterations")
            exit bad
        }' "$scratch/figures"
}

# ---- boards ----

boards() {
    sh "$root/tests/firmware/size.sh" "$scratch" "$(getconf _NPROCESSORS_ONLN || echo 2)"
}

rates() { sh "$root/tests/firmware/rates.sh" "$scratch"; }

# ---- picture ----

draw() { # draw COMPILER FLAGS FILE
    "$1" -std=c99 $2 -DMIMICDYN_SCALAR=F64 "$root/examples/demo.c" -lm -o "$scratch/demo" &&
        "$scratch/demo" "$3" >"$scratch/demo.log" || { cat "$scratch/demo.log"; return 1; }
}

check_picture() {
    [ -f "$picture" ] || die "there is no $picture"
    drawn=0
    for one in "$cc" gcc clang; do
        command -v "$one" >/dev/null 2>&1 || continue
        for flags in -O0 -O2; do
            draw "$one" $flags "$scratch/demo.svg" || die "$one $flags: the demo failed"
            cmp "$scratch/demo.svg" "$picture" || die "$one $flags: the picture is another one"
            drawn=$((drawn + 1))
        done
    done
    echo "drawn $drawn times, always the same bytes"
}

# ---- the pages ----

block() { # block PART: as it stands in its page
    awk -v from="<!-- begin $1: written by tests/figures.sh -->" -v to="<!-- end $1 -->" '
        $0 == to { inside = 0 }
        inside
        $0 == from { inside = 1; found++ }
        END { if (found != 1 || inside) exit 1 }' "$page"
}

check_block() { # check_block PART TOLERANCE
    block "$1" >"$scratch/old" || die "$page has no block $1, or two, or one without an end"
    case $1 in measured | solvers | solve)
        if [ "$(head -n 1 "$scratch/old")" != "$(compiler)" ]; then
            absent "the page's figures are of: $(head -n 1 "$scratch/old")"
        fi ;;
    esac
    "$1" >"$scratch/new"
    case $? in
    0) ;;
    77) case $1 in
        knobs | recipes) absent "the page's sizes are for pointers of 64 bits" ;;
        misra) absent "no cppcheck with its addon for MISRA here" ;;
        boards | rates) absent "not all compilers and emulators are here" ;;
        esac
        absent "no valgrind here" ;;
    *) die "$1 could not be made" ;;
    esac
    case $1 in boards | misra)
        if [ "$(head -n 1 "$scratch/old")" != "$(head -n 1 "$scratch/new")" ]; then
            absent "the page's figures are of: $(head -n 1 "$scratch/old")"
        fi ;;
    esac
    awk -v tolerance="$2" '
        function number(text) { return text ~ /^[0-9.]+(e-?[0-9]+)?$/ }
        function close_to(a, b) {
            if (!number(a) || !number(b) || tolerance == 0) return a == b
            a += 0
            b += 0
            return (a > b ? a - b : b - a) <= tolerance * (a > b ? a : b)
        }
        NR == FNR { old[++n] = $0; next }
        {
            words = split($0, b)
            same = FNR <= n && split(old[FNR], a) == words
            for (i = 1; same && i <= words; i++) same = close_to(a[i], b[i])
            if (!same) { print "page:  " old[FNR] "\nfresh:  " $0; bad = 1 }
        }
        END {
            if (FNR != n) { print "the page has " n " lines, fresh are " FNR; bad = 1 }
            exit bad
        }' "$scratch/old" "$scratch/new" ||
        die "stale: tests/figures.sh write $1 $cc build writes it anew"
    echo "$(wc -l <"$scratch/new") lines of $(basename "$page") agree"
}

write_block() { # write_block PART
    block "$1" >/dev/null || die "$page has no block $1, or two, or one without an end"
    "$1" >"$scratch/new" || die "$1 could not be made (exit $?)"
    awk -v from="<!-- begin $1: written by tests/figures.sh -->" -v to="<!-- end $1 -->" '
        NR == FNR { fresh[++n] = $0; next }
        $0 == to { inside = 0 }
        !inside { print }
        $0 == from { inside = 1; for (i = 1; i <= n; i++) print fresh[i] }
        ' "$scratch/new" "$page" >"$scratch/page.md" && cat "$scratch/page.md" >"$page"
}

case $mode-$part in
check-picture) check_picture ;;
check-accuracy) check_block accuracy 0.02 ;;
write-accuracy) write_block accuracy ;;
check-codes | check-knobs | check-recipes) check_block "$part" 0 ;;
check-measured | check-solvers | check-boards | check-rates | check-solve)
    check_block "$part" 0.02 ;;
check-misra) check_block misra 0.1 ;;
write-picture) draw "$cc" -O2 "$picture" ;;
write-codes | write-knobs | write-recipes | write-misra | write-solve | write-measured | \
    write-solvers | write-boards | write-rates) write_block "$part" ;;
write-all)
    for one in codes knobs recipes misra solve accuracy measured solvers boards rates picture; do
        sh "$0" write $one "$cc" "$4" "$root" || exit 1
    done ;;
*)
    echo "usage: $0 check|write PART COMPILER SCRATCH [ROOT]"
    exit 2 ;;
esac
