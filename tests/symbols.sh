#!/bin/sh
# symbols.sh COMPILER BUILD [ROOT]: the implementation compiles without a warning, for all scalars,
# without optimization and with it; its object file must ask the linker for nothing but memcpy and
# memset, must hold no writable data, and must give away no name that does not begin with mdyn_ or
# mimicdyn_. A program of one file whose tables have names does not link the sentences of the codes.
# Exit 77: the tools are not there.
. "$(dirname "$0")/common.sh"
cc=$1
build=$2
root=${3:-.}
need nm size
mkdir -p "$build"

printf '#define MIMICDYN_IMPLEMENTATION\n#include "mimicdyn.h"\n' >"$build/implementation.c"
for scalar in F32 F64 FIXED; do
    for level in -O0 \
        "-O2 -DMIMICDYN_MAX_BODY_ROWS=6 -DMIMICDYN_MAX_CONTACTS=4 -DMIMICDYN_MAX_DANTZIG=9 \
            -DMIMICDYN_MAX_CURVES=4"; do
        what="$scalar $level"
        object=$build/implementation.o
        # shellcheck disable=SC2086 # warnings, a level and knobs are words
        "$cc" -std=c99 $warnings $(quick "$cc") $level -DMIMICDYN_SCALAR=$scalar -I"$root" -c \
            "$build/implementation.c" -o "$object" || { fail "$what does not compile"; continue; }
        has_scalar "$object" $scalar
        # the compiler's own: stack protection, position independence
        wanted=$(nm -u "$object" | awk '{ print $NF }' | grep -vxE \
            'memcpy|memset|__stack_chk_fail|__stack_chk_guard|_GLOBAL_OFFSET_TABLE_')
        [ -z "$wanted" ] || fail "$what asks the linker for $(echo $wanted)"
        given=$(nm -g "$object" | awk '$2 != "U" && NF == 3 { print $3 }')
        [ -n "$given" ] || fail "$what defines nothing"
        foreign=$(echo "$given" | grep -vE '^(mdyn_|mimicdyn_)')
        [ -z "$foreign" ] || fail "$what gives away $(echo $foreign)"
        data=$(size "$object" | awk 'NR == 2 { print $2 + $3 }')
        [ "$data" = 0 ] || fail "$what: $data bytes of writable data"
        size "$object" | awk -v what="$what" 'NR == 2 { print what ": " $1 " bytes" }'
    done
done

cat >"$build/one_file.c" <<'END'
#define MIMICDYN_IMPLEMENTATION
#include "mimicdyn.h"
static const mdyn_body bodies[] = { { .name = "rotor", .parent = MDYN_WORLD, .armature = 1 } };
static const mdyn_model model = { .bodies = bodies, .body_count = 1, .dt = MDYN_C(0.001) };
static mdyn_sim sim;
int main(void) { return mdyn_init(&sim, &model); }
END
"$cc" -std=c99 -w -Os -fno-pie -no-pie -ffunction-sections -fdata-sections -Wl,--gc-sections \
    -I"$root" "$build/one_file.c" -o "$build/one_file" || fail "one file does not link"
grep -q "rotor" "$build/one_file" || fail "the program has no names"
sentence="nothing to do"
grep -q "$sentence" "$root/mimicdyn.h" || fail "no code says: $sentence"
if grep -q "$sentence" "$build/one_file"; then fail "one file links the sentences"; fi
exit $failed
