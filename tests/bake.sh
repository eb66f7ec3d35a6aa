#!/bin/sh
# bake.sh COMPILER SCRATCH ROOT SCALAR: what examples/bake writes moves as mdyn_init leaves it, to
# the last bit: in the same program, without the set-up of rows (MIMICDYN_BAKED), and, where cross
# compilers and emulators are, on Cortex-M0 and RV32IMC, whose structs are laid out otherwise; also
# where all is left out that the sim does not have (MIMICDYN_HAS). A bake of another version, scalar
# or knob, or of a sim that has more, does not compile. Of all models but the first, clang builds
# what gcc has built otherwise, where it is: in a third of the time. Exit 77: there is no python3.
set -u
cc=$1
scratch=$2/bake-$4
root=$3
scalar=$4
board=$root/tests/firmware/board.sh
failed=0
command -v python3 >/dev/null 2>&1 || { echo "not run: there is no python3"; exit 77; }
mkdir -p "$scratch"
other=x86-64 # of the first model

fail() {
    echo "FAIL: $*"
    failed=1
}

bake() { # bake MODEL
    CC="$cc" python3 -B "$root/examples/bake/bake.py" "$root/tests/bake/$1.c" "$1" \
        "$scratch/$1.h" "-DMIMICDYN_SCALAR=$scalar" || fail "bake.py $1"
}

build() { # build BOARD MODEL FLAG...
    name=$1
    model=$2
    shift 2
    case $name in *clang) level=-O0 ;; *) level=-Og ;; esac
    sh "$board" build "$name" "$scratch/$model-$name" $level "-DMIMICDYN_SCALAR=$scalar" \
        "-DBAKE_SOURCE=\"tests/bake/$model.c\"" "-DBAKE_HEADER=\"$scratch/$model.h\"" \
        "-DBAKE_MODEL=$model" "-DBAKE_BEGIN=${model}_begin" "$@" "$root/tests/bake/run.c"
}

check() { # check BOARD MODEL HASH FLAG...: HASH of the motion; empty: any
    on=$1
    of=$2
    wanted=$3
    shift 3
    build "$on" "$of" "$@" || { fail "$of for $on does not build"; return; }
    hash=$(timeout 60 sh "$board" run "$on" "$scratch/$of-$on") || fail "$of on $on: exit code $?"
    [ -z "$wanted" ] || [ "$hash" = "$wanted" ] || fail "$of on $on: $hash, not $wanted"
    echo "$of on $on $*: $hash"
}

refused() { # refused WORD FLAG...: the compiler refuses the bake of the gear, by this word
    word=$1
    shift
    if build x86-64 gear "$@" 2>"$scratch/refused.log"; then
        fail "the bake compiles with $*"
    elif ! grep -q "$word.*the bake" "$scratch/refused.log"; then
        fail "no word of $word with $*"
        cat "$scratch/refused.log"
    fi
}

# Rotors of every kind of row, and bodies: as mdyn_init leaves them; without the set-up of rows;
# with only what the bake says that the sim has. F64 has the laws of F32: a model of each kind; and
# RV32IMC lays out structs as the M0 does.
models="gear pair planet gantry clutch gripper press cam"
[ "$scalar" != F64 ] || models="gear gripper"
for model in $models; do
    bake "$model"
    if [ "$model" = gear ]; then # the same text from each run
        mv "$scratch/gear.h" "$scratch/first.h"
        bake gear
        cmp "$scratch/first.h" "$scratch/gear.h" || fail "bake.py writes another text"
    fi
    check x86-64 "$model" ""
    host=$hash
    baked=
    case $model in
    gripper | press | cam) ;;
    *)
        baked=-DMIMICDYN_BAKED=1
        check $other "$model" "$host" $baked ;;
    esac
    # shellcheck disable=SC2086 # none is no flag
    check $other "$model" "$host" $baked -DBAKE_FIRST
    case $model in gear | planet | clutch) check $other "$model" "$host" -DBAKE_FIRST ;; esac
    [ -n "$(sh "$board" missing x86-64-clang "$scratch")" ] || other=x86-64-clang
    [ "$scalar" = FIXED ] || continue
    boards=m0
    [ "$model" != gear ] || boards="m0 rv32imc"
    for name in $boards; do
        [ -z "$(sh "$board" missing "$name" "$scratch")" ] || continue
        # shellcheck disable=SC2086
        check "$name" "$model" "$host" $baked -DBAKE_FIRST
    done
done
wrong=F32
[ "$scalar" != F32 ] || wrong=F64
refused MIMICDYN_SCALAR -UMIMICDYN_SCALAR -DMIMICDYN_SCALAR=$wrong
refused MIMICDYN_WARM -DMIMICDYN_WARM=0
refused MIMICDYN_MAX_DOFS -DMIMICDYN_MAX_DOFS=5
refused MIMICDYN_HAS -DMIMICDYN_HAS=1
sed 's/MDYN_VERSION != /&1/' "$scratch/gear.h" >"$scratch/other.h"
mv "$scratch/other.h" "$scratch/gear.h"
refused version
exit $failed
