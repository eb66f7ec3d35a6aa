# Plants one fault of fuzz/faults.txt in a header: awk -f plant.awk fault=NAME faults.txt mimicdyn.h
# Prints the header with the edits made; fails if one of them does not apply.

function value(line) { sub(/^[a-z]+:[ ]?/, "", line); return line }

FNR == 1 { file++ }
file == 1 && /^fault: / { here = value($0) == fault; found += here }
file == 1 && here && /^in:/ { edits++; where[edits] = value($0) }
file == 1 && here && /^from:/ { from[edits] = value($0) }
file == 1 && here && /^to:/ { to[edits] = value($0) }
file == 1 { next }

# A definition starts at the margin and ends with a brace at the margin; a name is a function's if
# a bracket follows.
/^[A-Za-z_].*\(/ {
    head = $0
    sub(/\(.*/, "", head)
    sub(/.*[ *]/, "", head)
    if ($0 !~ /;[ ]*$/) name = head
}
{
    line = $0
    for (i = 1; i <= edits; i++) {
        if (name != where[i]) continue
        at = index(line, from[i])
        if (at == 0) continue
        line = substr(line, 1, at - 1) to[i] substr(line, at + length(from[i]))
        done[i]++
    }
    print line
}
/^}/ { name = "" }
END {
    status = 0
    if (!found) { print "no fault " fault > "/dev/stderr"; status = 1 }
    for (i = 1; i <= edits; i++)
        if (!done[i]) {
            print fault ": the edit no longer applies: in " where[i] ": " from[i] > "/dev/stderr"
            status = 1
        }
    exit status
}
