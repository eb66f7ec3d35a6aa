#!/bin/sh
# log.sh ROLLBACK LOGGED REPLAY NAME    logs are played again to the same states, and one changed
# digit and one missing line are found. ROLLBACK is examples/rollback.c, LOGGED is tests/logged.c:
# both write NAME.cases, of which REPLAY makes NAME.results.
set -eu
rollback=$1
logged=$2
replay=$3
name=$4
"$rollback" --log "$name.cases" >"$name.text"
states=$(grep -c '^state ' "$name.cases")
[ "$states" -eq 400 ] || { echo "$states states in $name.cases, not 400"; exit 1; }
"$replay" "$name.cases" "$name.results"
cmp "$name.cases" "$name.results"

sed 's/^state 300 /state 300 1/' "$name.cases" >"$name.changed"
if "$replay" "$name.changed" "$name.results" >"$name.text"; then
    echo "a changed state was not found"
    exit 1
fi
grep -q '^rollback: after 300 steps q 0 is ' "$name.text"
cmp "$name.cases" "$name.results"

sed 's/^command 150 tau 8 /command 151 tau 8 /' "$name.cases" >"$name.changed"
if "$replay" "$name.changed" "$name.results" >"$name.text"; then
    echo "a command that comes a step late was not found"
    exit 1
fi
grep -q '^rollback: after 151 steps ' "$name.text"
echo "$states states are played again; a changed one and a late command are found"

# Without the first line of KEY, of the model or from step 60 on, the motion is another.
missing() { # missing KEY...
    for key; do
        awk -v key="$key" '
            !gone && index($0, key " ") == 1 && ($1 !~ /^co(mmand|ntact)$/ || $2 >= 60) {
                gone = 1; next }
            !gone && $1 == "command" && $3 == key && $2 >= 60 { gone = 1; next }
            { print }
            END { exit !gone }' "$name.cases" >"$name.changed"
        if "$replay" "$name.changed" "$name.other" >"$name.text"; then
            echo "$kind: it was not found that a line '$key' is missing"
            exit 1
        fi
    done
}

for kind in loop rows curves box; do
    "$logged" $kind "$name.cases"
    "$replay" "$name.cases" "$name.results" >"$name.text"
    cmp "$name.cases" "$name.results"
    [ "$(grep -c '^state ' "$name.results")" -eq 200 ] || { echo "$kind: not 200 states"; exit 1; }
    case $kind in
    loop) missing closure target wrench 'closure 3' ;;
    rows) missing user_row 'user_row 4 1' wrench ;;
    curves) missing curve 'curve 0' curved coupling_target engage ;;
    box) missing contact wrench ;;
    esac
    echo "$kind: 200 states are played again, a missing line is found"
done
"$logged" refused "$name.cases"
