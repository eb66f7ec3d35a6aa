#!/bin/sh
# lint.sh [ROOT]: what the sources promise about their own shape; every offence is a line
# "file:line: what". The header's functions and the calls between its rooms are taken from clang's
# syntax tree (arrows.py), its measures held to their bars (measures.py). Needs awk, find, python3
# and clang; it fails where one of them is missing.
set -u
cd "${1:-.}" || exit 2
header=mimicdyn.h

sources() {
    find mimicdyn.h examples fuzz tests -name '*.[ch]' -o -name '*.cpp' -o -name '*.hpp' | sort
}
others() {
    find Makefile .ci tests fuzz examples/playground \( -name '*.sh' -o -name '*.py' \
        -o -name '*.js' -o -name '*.css' -o -name '*.html' -o -name CMakeLists.txt \
        -o -name Makefile -o -path '.ci/*' \) -type f | sort
}
pages() {
    find README.md examples tests fuzz -name '*.md' | sort
}

# Width, white space, unfinished work.
lines() {
    awk '
        length($0) > 100 { print FILENAME ":" FNR ": " length($0) " columns, at most 100" }
        /[ \t]$/ { print FILENAME ":" FNR ": white space at the end of the line" }
        /\t/ && FILENAME != "Makefile" { print FILENAME ":" FNR ": a tab" }
        $0 ~ "TO" "DO" || $0 ~ "FIX" "ME" { print FILENAME ":" FNR ": unfinished" }
        /[^ -~\t]/ { print FILENAME ":" FNR ": not plain ASCII" }
    ' "$@"
}

# What a merge leaves behind.
marks() {
    awk '/^(<<<<<<<|>>>>>>>)/ { print FILENAME ":" FNR ": the mark of a merge" }' "$@"
}

# Words that have another one in their place (first the word, then what to say), and British
# spelling. Not looked at:
# measures.py, which counts them in the header; examples/playground/, where it is the angle of an
# arc; tests/cases/, whose texts are others'.
words() {
    awk '
        BEGIN {
            instead["swe" "ep"] = "iteration"
            instead["own " "row"] = "user row"
            instead["impulse " "column"] = "column of M^-1"
            instead["coupled " "dynamics"] = "constrained dynamics"
            split("cent" "re,normal" "is,general" "is,optim" "is,linear" "is,initial" "is," \
                  "factor" "is,recogn" "is,stabil" "is,organ" "is,licen" "ce,millimet" "re," \
                  "cancel" "led,model" "led,behav" "iour,neighb" "our,col" "our", list, ",")
            for (k in list) instead[list[k]] = "it as American English spells it"
        }
        {
            line = tolower($0)
            for (word in instead) if (index(line, word))
                print FILENAME ":" FNR ": \"" word "\", say " instead[word]
        }
    ' "$@"
}

# Functions of at most 100 lines, no forward declaration of a static one: each part of a file
# uses only what stands above it. (The header is held to more, by arrows.py.) Comments, strings and
# preprocessor lines are taken out first; what is left at brace depth 0 is gathered up to its `;`
# or `{`.
functions() {
    awk '
        FNR == 1 { comment = depth = more = 0; text = "" }
        {
            line = $0
            gsub(/"([^"\\]|\\.)*"/, "s", line)
            gsub(/\047([^\047\\]|\\.)*\047/, "c", line)
            kept = ""
            while (line != "") {
                if (comment) {
                    at = index(line, "*/")
                    if (!at) break
                    line = substr(line, at + 2)
                    comment = 0
                } else {
                    at = index(line, "/*")
                    if (!at) { kept = kept line; break }
                    kept = kept substr(line, 1, at - 1)
                    line = substr(line, at + 2)
                    comment = 1
                }
            }
            sub(/\/\/.*/, "", kept)
            if (more || kept ~ /^[ \t]*#/) {
                more = kept ~ /\\$/
                next
            }
            for (i = 1; i <= length(kept); i++) {
                c = substr(kept, i, 1)
                if (c == "{") {
                    if (depth == 0) {
                        body = text ~ /\(/ && text !~ /=/ && text !~ /^(typedef|enum|struct) /
                    }
                    depth++
                } else if (c == "}") {
                    depth--
                    if (depth == 0 && body) {
                        if (FNR - first + 1 > 100) {
                            print FILENAME ":" first ": a function of " FNR - first + 1 \
                                " lines, at most 100"
                        }
                        text = ""
                        body = 0
                    }
                } else if (depth == 0 && c == ";") {
                    if (text ~ /^static / && text ~ /\)$/ && text !~ /=/) {
                        print FILENAME ":" first ": a static function is declared ahead"
                    }
                    text = ""
                } else if (depth == 0 && (text != "" || c !~ /[ \t]/)) {
                    if (text == "") first = FNR
                    text = text c
                }
            }
            if (depth == 0 && text != "") text = text " "
            sub(/ +$/, " ", text)
        }
        END { if (depth != 0) print FILENAME ": braces do not match; the check went blind" }
    ' "$@"
}

# The contents list at the top names every anchor once, in the order in which they stand.
anchors() {
    awk '
        /^#/ { listing = 0; code = 1 }
        /^ *CONTENTS/ { listing = 1 }
        /^ *UNITS/ { listing = 0 }
        listing {
            for (i = 1; i <= NF; i++) if ($i ~ /^>>/) named[++n] = substr($i, 3)
        }
        code && /\/\/ >>/ {
            name = $0
            sub(/.*\/\/ >>/, "", name)
            sub(/[^a-z_].*/, "", name)
            if (name in seen) print FILENAME ":" FNR ": a second anchor " name
            seen[name] = FNR
            if (named[++m] != name)
                print FILENAME ":" FNR ": anchor " name " where the contents list has " named[m]
        }
        END {
            if (n == 0) print FILENAME ": no contents list"
            for (i = 1; i <= n; i++)
                if (!(named[i] in seen)) print FILENAME ": no anchor // >>" named[i]
        }
    ' "$header"
}

# Every fault of fuzz/faults.txt can be planted in the header as it is now.
faults() {
    for name in $(sed -n 's/^fault: //p' fuzz/faults.txt); do
        awk -f fuzz/plant.awk fault="$name" fuzz/faults.txt "$header" 2>&1 >/dev/null
    done
}

# shellcheck disable=SC2046 # no file name of the project holds blanks
found=$(lines $(sources) $(others); functions $(sources); anchors; faults
    marks $(sources) $(others) $(pages)
    words $({ sources; others; pages; } | grep -vE 'tests/measures.py|/playground/|/cases/'))
if [ -n "$found" ]; then
    printf '%s\n' "$found"
fi
python3 tests/arrows.py test $header || found=$found.
measures=$(python3 tests/measures.py $header 2>&1) || { echo "$measures"; found=$found.; }
[ -z "$found" ] || exit 1
echo "$(sources | wc -l) sources and $(others | wc -l) scripts keep their shape"
