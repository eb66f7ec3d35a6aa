#!/bin/sh
# stack.sh COMPILER SCRATCH [ROOT [FLAG...]]: follows every path through the call graph that gcc
# writes with -O2 and prints, for each scalar,
#     stack SCALAR CALL BYTES
# the deepest stack of every public call. Fails if a function can reach itself, calls what the
# compiler cannot name, or has a frame that is not bounded. Exit 77: the compiler writes no call
# graph.
set -u
cc=$1
scratch=$2
root=${3:-.}
shift $(($# < 3 ? $# : 3))
mkdir -p "$scratch"
source=$scratch/stack.c
printf '#define MIMICDYN_IMPLEMENTATION\n#include "mimicdyn.h"\n' >"$source"
echo 'int main(void) { return 0; }' >"$scratch/probe.c"
"$cc" -std=c99 -fcallgraph-info=su -c "$scratch/probe.c" -o "$scratch/stack.o" 2>/dev/null &&
    [ -s "$scratch/stack.ci" ] || { echo "not run: $cc writes no call graph"; exit 77; }

failed=0
for scalar in F32 F64 FIXED; do
    rm -f "$scratch/stack.ci"
    "$cc" -std=c99 -O2 -ftrack-macro-expansion=0 "$@" -DMIMICDYN_SCALAR=$scalar \
        -fcallgraph-info=su,da -I"$root" -c "$source" -o "$scratch/stack.o" || exit 1
    # Names are FILE:FUNCTION for static ones; a call's own bytes count its frame.
    awk -v what="$scalar" '
        function quoted(line, key) {
            line = substr(line, index(line, key ": \"") + length(key) + 3)
            return substr(line, 1, index(line, "\"") - 1)
        }
        function fail(text) { print "FAIL " what ": " text; bad = 1 }
        function deepest(name,    i, most, below) { # locals behind the gap
            if (name in known) return known[name]
            if (name in open) { fail(name " can reach itself"); return 0 }
            open[name] = 1
            most = 0
            for (i = 1; i <= calls[name]; i++) {
                below = deepest(callee[name, i])
                if (below > most) most = below
            }
            delete open[name]
            return known[name] = frame[name] + most
        }
        /^node:/ {
            name = quoted($0, "title")
            label = quoted($0, "label")
            if (name == "__indirect_call") fail("a call that the compiler cannot name")
            if (match(label, /[0-9]+ bytes \([a-z, ]*\)/)) {
                text = substr(label, RSTART, RLENGTH)
                frame[name] = text + 0
                if (text !~ /\((static|dynamic,bounded)\)/) fail("no bounded frame: " name)
                nodes++
            }
        }
        /^edge:/ {
            name = quoted($0, "sourcename")
            callee[name, ++calls[name]] = quoted($0, "targetname")
            edges++
        }
        END {
            for (name in frame) deepest(name)
            if (nodes < 50 || edges < 100) fail("only " nodes " functions, " edges " calls")
            n = split("mdyn_init_configured mdyn_step mdyn_project", first, " ")
            for (i = 1; i <= n; i++) {
                if (first[i] in known) print "stack", what, first[i], known[first[i]]
                else fail("there is no " first[i])
                known[first[i]] = ""
            }
            for (name in frame) {
                if (name !~ /^mdyn_/ || known[name] == "") continue
                print "stack", what, name, known[name]
                shown++
            }
            if (shown < 20) fail("only " shown " other public calls")
            exit bad
        }' "$scratch/stack.ci" || failed=1
done
exit $failed
