#!/bin/sh
# rates.sh BUILD: what control rates parts reach, as a table: from the instructions of the worst
# step of 500, as the emulator counts them, by a model of cycles and wait states; then the
# constants of the worst case. Exit 77: a tool is missing.
#   rates.sh worst BUILD BOARD SCALAR MECHANISM       what rates.c prints of one
# The model, per instruction: 1.5 cycles on Cortex-M0+, 1.65 on M3, 1.35 on M4F and ESP32-C3; a
# part's flash makes that longer by the factor beside it. ATmega: cycles, as simavr counts them.
set -u
here=$(dirname "$0")
board=$here/board.sh

worst() { # worst BOARD SCALAR MECHANISM
    out=$build/rates-$3-$1
    lto=
    [ "$1" != avr ] || lto=-flto
    # shellcheck disable=SC2086 # no word or one
    sh "$board" build "$1" "$out" -O2 $lto "-DMIMICDYN_SCALAR=$2" "-DRATES_$3" "$here/rates.c" \
        >"$out.log" 2>&1 || { echo "- - - - -"; return; }
    timeout 120 sh "$board" count "$1" "$out" 2>"$out.log" | sed -n 's/^rate //p' | grep . ||
        echo "- - - - -"
}

if [ "$1" = worst ]; then
    build=$2
    worst "$3" "$4" "$5"
    exit
fi
build=$1
mkdir -p "$build"
rm -f "$build"/rates-*.line
for name in m0 m3 m4f rv32imc avr; do
    missing=$(sh "$board" missing "$name" "$build")
    [ -z "$missing" ] || { echo "not run: there is no" $missing >&2; exit 77; }
done

# part|board|scalar|MHz|cycles per instruction|factor of wait states
parts="RP2040, from RAM|m0|FIXED|133|1.5|1
STM32G0|m0|FIXED|64|1.5|1.15
STM32F103|m3|FIXED|72|1.65|1.2
STM32G4, F4|m4f|F32|168|1.35|1
ESP32-C3|rv32imc|FIXED|160|1.35|1
ATmega2560|avr|F32|16|1|1"
printf '| control rate, Hz | MHz | gear pair | gantry, 4 axes | planetary gear | 2F-85 |\n'
printf '| --- | ---: | ---: | ---: | ---: | ---: |\n'
echo "$parts" | while IFS='|' read -r part name scalar clock cycles wait; do
    printf '| %s, %s | %s |' "$part" "$scalar" "$clock"
    for mechanism in GEAR GANTRY GEARBOX GRIPPER; do
        line=$build/rates-$name-$scalar-$mechanism.line
        [ -s "$line" ] || worst "$name" "$scalar" "$mechanism" >"$line" </dev/null
        awk -v clock="$clock" -v cycles="$cycles" -v wait="$wait" '
            { if ($2 + 0 > 0) printf " %d |", 0.8e6 * clock / ($2 * cycles * wait)
              else printf " - |" }' "$line"
    done
    printf '\n'
done

printf '\n| A + S k | gear pair | gantry, 4 axes | planetary gear | 2F-85 |\n'
printf '| --- | ---: | ---: | ---: | ---: |\n'
while IFS='|' read -r text name scalar; do
    printf '| %s |' "$text"
    for mechanism in GEAR GANTRY GEARBOX GRIPPER; do
        awk '{ if ($2 + 0 > 0) printf " %d + %d k |", $4, $5; else printf " - |" }' \
            "$build/rates-$name-$scalar-$mechanism.line"
    done
    printf '\n'
done <<'END'
Cortex-M0, FIXED|m0|FIXED
Cortex-M3, FIXED|m3|FIXED
Cortex-M4F, F32|m4f|F32
RV32IMC, FIXED|rv32imc|FIXED
ATmega2560, F32, cycles|avr|F32
END
