# Tables for the README from the lines that size.sh measured.

function fail(text) { print "FAIL: " text > "/dev/stderr"; bad = 1 }
function cell(value) { return " " (value == "" ? "-" : value) " |" }

$1 == "name" { name = $2; sub(/^name [^ ]* /, ""); title[name] = $0; order[++boards] = name }
$1 == "flash" { flash[$2, $3, $4] = $5; if (!(($2, $3) in seen)) { seen[$2, $3]; rows[$2] = rows[$2] " " $3 } }
$1 == "step" { step[$2, $3, $4] = $5 " / " $6 }
$1 == "stack" { painted[$2, $3, $4] = $5 }
$1 == "routine" { routine[$2, $3] = $4 }
$1 == "graph" { sub(/_configured/, "", $4); graph[$2, $3, $4] = $5 }
$1 == "sizeof" { sizeof[$2, $3] = $0; sub(/^sizeof [^ ]* [^ ]* /, "", sizeof[$2, $3]) }

# What the call graph allows, with the compiler's own routines below it; no graph: what was seen.
function stack(board, scalar, call,    most) {
    if (!((board, scalar, call) in graph)) return painted[board, scalar, call]
    most = graph[board, scalar, call] + routine[board, scalar]
    if (painted[board, scalar, call] > most)
        fail(board " " scalar ": painted " painted[board, scalar, call] " bytes of " call \
             ", the call graph allows " most)
    return most
}

function check_stack(board, scalar,    key, part) {
    for (key in painted) {
        split(key, part, SUBSEP)
        if (part[1] == board && part[2] == scalar) stack(board, scalar, part[3])
    }
    if ((board, scalar, "mdyn_step") in graph &&
        painted[board, scalar, "mdyn_step"] < 0.8 * graph[board, scalar, "mdyn_step"])
        fail(board " " scalar ": mdyn_step was seen only " painted[board, scalar, "mdyn_step"] \
             " bytes deep of " graph[board, scalar, "mdyn_step"])
}

function formula(board, scalar,    c, before) {
    split(sizeof[board, scalar], c, " ")
    before = sprintf("max(%d M, %d D) + %d B", c[11], c[12], c[13])
    return sprintf("%d + %d B + %d [B/2] + %d D + %d [D/6] + %d J + C (%d + %d T) + %d T + %d R" \
                   " + %d M + %d E + max(%s + %d J, max(%d E, %d M, %s) + %d + %d D + %d R + %d T" \
                   " + max(%d (D + R), %d D))", c[1], c[2], c[15], c[3], c[16], c[9], c[4], c[6], \
                   c[8], c[5], c[10], c[7], before, c[14], c[11], c[18], before, c[19], 2 * c[11], \
                   c[11], c[20], c[11], c[17])
}

END {
    print "\n| bytes | scalar | library, `-Os` | `-O2` | small tree, `-Os` | couplings only, `-Os` |" \
          " motors, `-Os` | 2F-85 program, `-Os` | its RAM | stack of `mdyn_init` | `mdyn_step` | `mdyn_project` |"
    print "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for (i = 1; i <= boards; i++) {
        b = order[i]
        n = split(rows[b], scalar, " ")
        for (k = 1; k <= n; k++) {
            s = scalar[k]
            check_stack(b, s)
            print "| " title[b] " |" cell(s) cell(flash[b, s, "library-Os"]) \
                cell(flash[b, s, "library-O2"]) cell(flash[b, s, "tree"]) \
                cell(flash[b, s, "couplings"]) cell(flash[b, s, "motors"]) \
                cell(flash[b, s, "application"]) cell(flash[b, s, "application-ram"]) \
                cell(stack(b, s, "mdyn_init")) cell(stack(b, s, "mdyn_step")) \
                cell(stack(b, s, "mdyn_project"))
        }
    }
    print "\n| one step, mean / most | scalar | two jaws | planetary gear | finger | 2F-85 |" \
          " arm | hand |"
    print "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for (i = 1; i <= boards; i++) {
        b = order[i]
        n = split(rows[b], scalar, " ")
        for (k = 1; k <= n; k++) {
            s = scalar[k]
            print "| " title[b] " |" cell(s) cell(step[b, s, "jaws"]) \
                cell(step[b, s, "planetary"]) cell(step[b, s, "finger"]) \
                cell(step[b, s, "robotiq"]) cell(step[b, s, "arm"]) cell(step[b, s, "hand"])
            if (step[b, s, "planetary"] == "") fail(b " " s ": no steps were counted")
        }
    }
    print "\n| `sizeof(mdyn_sim)`, from D = 16 on, D + C (T - 1) <= 127, at most; J = min(B, D)," \
          " M = min(E, D (D + 1)/2) | scalar | bytes |\n| --- | --- | --- |"
    n = split("F32 F64 FIXED", scalar, " ")
    for (k = 1; k <= n; k++) {
        s = scalar[k]
        if (sizeof["m0", s] != sizeof["rv32imc", s])
            fail("sizeof differs between Cortex-M and RV32, " s)
        if (sizeof["m0", s] != "") print "| 32-bit processors | " s " | " formula("m0", s) " |"
    }
    for (k = 1; k <= n; k++)
        if (sizeof["avr", scalar[k]] != "")
            print "| AVR | " scalar[k] " | " formula("avr", scalar[k]) " |"
    exit bad
}
