#!/bin/sh
# Builds programs for the boards of boards.txt and runs them.
#   board.sh list [KIND]                       names of the boards
#   board.sh scalars                           those that the header has; says so of the others
#   board.sh about BOARD                       "processor | compiler and version | flags"
#   board.sh compiler BOARD
#   board.sh missing BOARD BUILD               what is not installed here; nothing if all is
#   board.sh build BOARD OUT FLAG|SOURCE...    compiles and links with the board's port
#   board.sh compile BOARD OUT FLAG|SOURCE...  compiles only
#   board.sh run BOARD PROGRAM                 runs it; ends with its exit code
#   board.sh count BOARD PROGRAM               the same while the emulator counts instructions: they
#                                              are its clock, and it does not wait for timers
# BUILD, and the folder of OUT and PROGRAM, is where what it makes for itself is kept.
set -u
here=$(dirname "$0")
root=$here/../..

boards() {
    grep -v '^#' "$here/boards.txt"
}

board() { # board NAME: its row as variables
    row=$(boards | grep "^$1|") || { echo "no board $1" >&2; exit 2; }
    IFS='|' read -r name kind processor compiler flags flash flash_size ram ram_size emulator \
        systick <<END
$row
END
    quick= # how macros expanded is for messages, and takes a tenth of the time
    case $compiler in *gcc) quick=-ftrack-macro-expansion=0 ;; esac
}

qemu() { # qemu SYSTEM OPTIONS...
    timeout 600 "$@" -display none -monitor none </dev/null
}

icount=6 # an instruction takes 2^6 ns when Cortex-M boards count: a tick of SysTick and more

start() { # start PROGRAM COUNTING
    case $kind-$2 in
    host-*) if [ "$emulator" = - ]; then timeout 600 "$1"; else timeout 600 "$emulator" "$1"; fi ;;
    wasm-*) timeout 600 node "$here/wasm.js" "$1" ;;
    arm-*)
        if [ "$2" = 1 ]; then set -- "$1" -icount shift=$icount,sleep=off; else set -- "$1"; fi
        program=$1
        shift
        qemu qemu-system-arm -M "$emulator" -serial none -chardev stdio,id=out,signal=off \
            -semihosting-config enable=on,target=native,chardev=out "$@" -kernel "$program" ;;
    riscv-*)
        if [ "$2" = 1 ]; then set -- "$1" -icount shift=0,sleep=off; else set -- "$1"; fi
        program=$1
        shift
        qemu qemu-system-riscv32 -M virt -bios none -cpu "$emulator" -serial stdio "$@" \
            -kernel "$program" ;;
    avr-*) timeout 600 "$(dirname "$1")/avr_runner" "$emulator" "$1" ;;
    esac
}

runner() { # the simavr runner, made once in folder $1
    [ -x "$1/avr_runner" ] || {
        cc -O2 "$here/avr_runner.c" -lsimavr -lelf -o "$1/avr_runner.$$" 2>"$1/avr_runner.log" &&
            mv "$1/avr_runner.$$" "$1/avr_runner"
    }
}

missing() { # missing BUILD
    command -v "$compiler" >/dev/null 2>&1 || echo "$compiler"
    case $kind in
    arm) tool=qemu-system-arm ;;
    riscv) tool=qemu-system-riscv32 ;;
    avr) tool=cc; runner "$1" || echo "libsimavr and libelf with headers" ;;
    *) tool=$emulator ;;
    esac
    [ "$tool" = - ] || command -v "$tool" >/dev/null 2>&1 || echo "$tool"
    [ "$kind" != wasm ] || command -v wasm-ld >/dev/null 2>&1 || echo "wasm-ld"
}

# No libc where there is no operating system: the compiler's own routines (libgcc; avr-gcc has its
# float arithmetic in avr-libc's libm) and memory.c.
build() { # build OUT FLAG|SOURCE...
    out=$1
    shift
    bare="-ffreestanding -ffunction-sections -fdata-sections -nostdlib -I$here/bare"
    case $kind in
    host) set -- "$@" "$here/port_host.c" -lm ;;
    wasm) set -- $bare -Wl,--no-entry,--export=main "$@" "$here/port_wasm.c" "$here/memory.c" ;;
    arm) set -- -mthumb $bare -Wl,--gc-sections -T "$here/cortex_m.ld" \
        -Wl,--defsym=flash=$flash,--defsym=flash_size=$flash_size \
        -Wl,--defsym=ram=$ram,--defsym=ram_size=$ram_size \
        -DPORT_TICK_PS=${systick}u -DPORT_ICOUNT_NS=$((1 << icount))u \
        "$@" "$here/port_arm.c" "$here/memory.c" -lgcc ;;
    riscv) # without -misa-spec=2.2 csr instructions need _zicsr, for which there is no libgcc
        set -- -misa-spec=2.2 $bare -Wl,--gc-sections,--no-warn-rwx-segments -T "$here/riscv.ld" \
        -Wl,--defsym=ram=$ram,--defsym=ram_size=$ram_size \
        "$@" "$here/port_riscv.c" "$here/memory.c" -lgcc ;;
    avr) set -- $bare -Wl,--gc-sections,--undefined=main,--defsym=port_stack_top=0x21FF \
        -DF_CPU=16000000UL "$@" "$here/port_avr.c" "$here/memory.c" -lm -lgcc ;;
    esac
    # shellcheck disable=SC2086 # flags are words
    "$compiler" -std=c99 $flags $quick -DPORT_$kind=1 -I"$here" -I"$root" "$@" -o "$out"
}

scalars() {
    for scalar in F32 F64 FIXED; do
        if printf '#include "mimicdyn.h"\n' | cc -std=c99 -x c -fsyntax-only -I"$root" \
            -DMIMICDYN_SCALAR=$scalar - 2>/dev/null; then
            echo "$scalar"
        else
            echo "not run: scalar $scalar, which this header does not have" >&2
        fi
    done
}

command=$1
[ $# -lt 2 ] || [ "$command" = list ] || board "$2"
case $command in
list) boards | awk -F'|' -v kind="${2:-}" 'kind == "" || kind == $2 { print $1 }' ;;
about)
    version=$("$compiler" -dumpfullversion 2>/dev/null) || version=$("$compiler" -dumpversion)
    case $compiler in *clang) what=clang ;; *) what=gcc ;; esac
    echo "$processor|$what $version|$flags" ;;
scalars) scalars ;;
compiler) echo "$compiler" ;;
compile)
    out=$3
    shift 3
    # shellcheck disable=SC2086 # flags are words
    "$compiler" -std=c99 $flags $quick -ffreestanding -fno-common -I"$root" -c "$@" -o "$out" ;;
missing) missing "$3" ;;
build) shift 2; build "$@" ;;
run) start "$3" 0 ;;
count) start "$3" 1 ;;
*) echo "usage: $0 list|about|missing|build|run|count ..." >&2; exit 2 ;;
esac
