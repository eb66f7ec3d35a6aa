#!/usr/bin/env python3
"""Writes an initialized sim as C: firmware that starts it needs no mdyn_init.

    bake.py MODEL.c NAME OUT.h [--cc CC] [--include DIR] [FLAG...]

MODEL.c is a program or a part of one: it includes mimicdyn.h with the knobs of the firmware, and
has the mdyn_model NAME. FLAGs go to the host's compiler CC, such as -DMIMICDYN_SCALAR=FIXED. OUT.h
is included after mimicdyn.h, where MIMICDYN_IMPLEMENTATION is, in place of mdyn_init; it has

    int NAME_begin(mdyn_sim *sim, const mdyn_model *model);

The numbers are C initializers with the names of the fields, so they fit the layout of any
processor. Floats are written in hexadecimal, to the last bit. A header of another version, and
knobs with other values, are errors of the compiler.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

# Rewritten by every step before it reads them.
WORKSPACES = {
    "lasting", "solve", "body_state", "shared", "bias_velocity", "dv", "joint_force", "off", "mark",
    "last_use", "iterations", "residual", "free_motion", "overflow", "culprit", "report",
    "tail_start", "lambda_sum",
}
# Addresses and what is found of them, which NAME_begin sets; rooms of closures and user rows.
TABLES = {"model", "body_table", "coupling_table", "table_sum", "constants_sum"}
# Knobs that change neither the layout of a sim nor its steps.
FREE_KNOBS = {"MIMICDYN_SCALAR", "MIMICDYN_BAKED", "MIMICDYN_CHECKS", "MIMICDYN_WARNINGS", "MIMICDYN_LCP",
              "MIMICDYN_STATIC", "MIMICDYN_HAS"}

PRINTER = r"""
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static FILE *bake_out;
#if !MIMICDYN_TREE
/* Factor and rows of steps, which then stand. Returns a row that cannot, or -1. */
static int bake_rows(mdyn_sim *sim)
{
    int k, left = -1;
    if (md_factor_LtL(sim, sim->dt) < 0 || md_prepare_rows(sim, MD_MODE_STEP) < 0) return 0;
    for (k = 0; k < sim->rows; k++) {
        md_row *row = md_row_at(sim, k);
        if (md_row_is_eliminated(sim, row)) continue;
        if (!(row->standing & MD_STANDING)) md_set_up_row(sim, k, MD_MODE_STEP, 0);
        if (!(row->standing & MD_STANDING)) left = k;
    }
    md_clear_solve(sim);
    for (k = sim->entries; k < MIMICDYN_MAX_ENTRIES; k++) sim->shared.entry[k] = 0;
    return left;
}
#else
/* Of the entries the rows of L stay. Poses of bodies do not: the first call finds them again. */
static int bake_rows(mdyn_sim *sim)
{
    int i;
    sim->kinematics_stale = 1;
    for (i = sim->L_first[sim->dofs]; i < MIMICDYN_MAX_ENTRIES; i++) sim->shared.entry[i] = 0;
    return 0;
}
#endif
/* Leaves in a row what a step reads before it writes it. */
static void bake_keep_row(md_row *row)
{
    const md_row all = *row;
    memset(row, 0, sizeof *row);
    row->index = all.index;
    row->kind = all.kind;
    row->unbounded = all.unbounded;
    row->is_implied = all.is_implied;
    row->standing = (uint8_t)(all.standing & MD_STANDING ? all.standing : 0);
    row->first = all.first;
    row->lone = all.lone;
    row->shared = all.shared;
    row->end = all.end;
    row->pivot = all.pivot;
    if (!row->standing) return;

    /* vector, compliance and bounds, which are set up once */
    row->is_spring = all.is_spring;
    row->owned_count = all.owned_count;
    row->cfm = all.cfm;
    row->lambda_min = all.lambda_min;
    row->lambda_max = all.lambda_max;
    row->scale = all.scale;
    row->inverse_rest = all.inverse_rest;
    row->length = all.length;
    row->along = all.along;
    row->beside = all.beside;
}
static int bake_zero(const void *p, size_t n)
{
    const unsigned char *b = p;
    while (n--) if (*b++) return 0;
    return 1;
}
static void bake_int(long long x)
{
    if (x == INT64_MIN) fprintf(bake_out, "(-9223372036854775807LL - 1)");
    else fprintf(bake_out, x > INT32_MAX || x <= INT32_MIN ? "%lldLL" : "%lld", x);
}
static void bake_unsigned(unsigned long long x)
{
    fprintf(bake_out, x > UINT32_MAX ? "%lluULL" : x > 32767 ? "%lluUL" : "%llu", x);
}
static void bake_double(double x) { fprintf(bake_out, "%a", x); }
static void bake_float(float x) { fprintf(bake_out, "%af", (double)x); }
#define bake_put(x) _Generic((x), float: bake_float, double: bake_double, \
    uint8_t: bake_unsigned, uint16_t: bake_unsigned, uint32_t: bake_unsigned, \
    unsigned long: bake_unsigned, unsigned long long: bake_unsigned, default: bake_int)(x)
#define bake_count(a) ((int)(sizeof(a) / sizeof((a)[0])))
typedef void bake_writer(const void *);
#define bake_write(type) bake_write_##type
#define bake_make_writer(type) \
    static void bake_write_##type(const void *p) { bake_put(*(const type *)p); }
static int bake_used(const void *p, size_t all, size_t one)
{
    size_t n = all / one;
    while (n > 0 && bake_zero((const char *)p + (n - 1) * one, one)) n--;
    return (int)n;
}
/* A column: the same field of `count` structs, or a field or array of the sim (stride 0). */
typedef struct bake_column {
    const char *type, *within; /* of the field; of the structs */
    char path[96];
    const char *from;
    size_t one, stride;
    int length, count; /* elements of the field; structs */
    bake_writer *write;
} bake_column;
static bake_column bake_columns[1000];
static int bake_column_count, bake_longest, bake_widest;
static void bake_add(const char *type, bake_writer *write, const char *within, const char *path,
                     const char *name, const void *from, size_t one, int length, size_t stride,
                     int count)
{
    bake_column *c = &bake_columns[bake_column_count];
    int k, used = 0;
    for (k = 0; k < count; k++) {
        const int n = bake_used((const char *)from + k * stride, length * one, one);
        if (n > used) used = n;
    }
    if (!used) return;
    if (bake_column_count == 1000) exit(2);
    bake_column_count++;
    snprintf(c->path, sizeof c->path, "%s%s", path, name);
    c->type = type;
    c->within = within;
    c->from = (const char *)from;
    c->one = one;
    c->stride = stride;
    c->length = used;
    c->count = count;
    c->write = write;
    if (count > bake_longest) bake_longest = count;
    if (stride > bake_widest) bake_widest = stride;
}
/* Statements for fields whose type is an enum. */
static char bake_sets[20000];
static void bake_set(const char *path, const char *type, const char *name, const void *from,
                     size_t one, size_t stride, int count)
{
    int k, value;
    for (k = 0; k < count; k++) {
        const char *p = (const char *)from + k * stride, *rest = strchr(path, '[');
        const size_t n = strlen(bake_sets);
        if (bake_zero(p, one)) continue;
        if (one != sizeof value || n > sizeof bake_sets - 200) exit(2);
        memcpy(&value, p, sizeof value);
        if (rest) snprintf(bake_sets + n, 200, "    sim->%.*s[%d]%s%s = (%s)%d;\n",
                           (int)(rest - path), path, k, strchr(rest, ']') + 1, name, type, value);
        else snprintf(bake_sets + n, 200, "    sim->%s%s = (%s)%d;\n", path, name, type, value);
    }
}
static const char *bake_path(char *to, const char *path, const char *name, int k)
{
    if (k < 0) snprintf(to, 96, "%s%s.", path, name);
    else snprintf(to, 96, "%s%s[%d].", path, name, k);
    return to;
}
/* The larger elements first: then no compiler leaves a gap between columns. */
static int bake_larger(const void *a, const void *b)
{
    const bake_column *x = a, *y = b;
    return x->one != y->one ? (x->one < y->one) - (x->one > y->one) : x < y ? -1 : x > y;
}
static void bake_data(const char *name)
{
    const char *small = bake_longest < 256 && bake_widest < 256 ? "uint8_t" : "uint16_t";
    int i, k, j;
    qsort(bake_columns, bake_column_count, sizeof bake_columns[0], bake_larger);
    fprintf(bake_out, "\n/* The numbers of the sim that are not 0, field by field. */\n"
            "static const struct {\n");
    for (i = 0; i < bake_column_count; i++)
        fprintf(bake_out, "    %s x%d[%d];\n", bake_columns[i].type, i,
                bake_columns[i].count * bake_columns[i].length);
    fprintf(bake_out, "} %s_data = {\n", name);
    for (i = 0; i < bake_column_count; i++) {
        const bake_column *c = &bake_columns[i];
        fprintf(bake_out, "    { ");
        for (k = 0; k < c->count; k++)
            for (j = 0; j < c->length; j++) {
                c->write(c->from + k * c->stride + j * c->one);
                fprintf(bake_out, ", ");
            }
        fprintf(bake_out, "}, /* %s */\n", c->path);
    }
    fprintf(bake_out, "};\n\n/* Where they belong: `count` pieces of `size` bytes, `stride` apart."
            " */\nstatic const struct { uint16_t at, size; %s stride, count; } %s_place[%d] = {\n",
            small, name, bake_column_count);
    for (i = 0; i < bake_column_count; i++) {
        const bake_column *c = &bake_columns[i];
        fprintf(bake_out, "    { (uint16_t)offsetof(mdyn_sim, %s), %d * sizeof(%s), ", c->path,
                c->length, c->type);
        if (c->stride) fprintf(bake_out, "sizeof(%s)", c->within);
        else fprintf(bake_out, "0");
        fprintf(bake_out, ", %d },\n", c->count);
    }
    fprintf(bake_out, "};\ntypedef char %s_fits[sizeof(mdyn_sim) < 65536 ? 1 : -1];\n", name);
}
"""


def stop(text):
    sys.exit("bake: " + text)


def find_structs(text):
    """{name: [(type, field, is array, is pointer)]} of the structs of preprocessed C."""
    structs = {}
    for match in re.finditer(r"typedef struct(?: \w+)? ?\{([^{}]*)\} ?(\w+) ?;", text):
        fields = []
        for line in match.group(1).split(";"):
            found = re.match(r"(?:const |volatile |struct |enum )*(\w+) (.*)", line.strip())
            if not found:
                continue
            for name in re.sub(r"\[[^\]]*\]", "[]", found.group(2)).split(","):
                name = name.strip()
                fields.append((found.group(1), name.strip("*[] "), "[" in name, "*" in name))
        structs[match.group(2)] = fields
    return structs


def preprocess(cc, flags, source):
    done = subprocess.run(cc + ["-E", "-P"] + flags + [source], stdout=subprocess.PIPE)
    if done.returncode:
        stop("the model does not compile")
    return re.sub(r"\s+", " ", done.stdout.decode())


def reachable(structs, name, into):
    for kind, _, _, pointer in structs[name]:
        if kind in structs and not pointer and kind not in into:
            reachable(structs, kind, into)
    if name not in into:
        into.append(name)
    return into


# Types of one size on all processors; fields of other types, enums, are set by statements.
SIZED = {"int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t",
         "md_num", "md_unit", "md_scale", "md_place", "md_place_if_any", "md_index", "md_number",
         "md_count", "md_mass_index", "md_overflow", "md_tail", "md_traits", "mdyn_wide",
         "mdyn_real"}


def write_visitors(structs, out):
    """A function for each struct that a sim is made of: it adds the columns of `count` structs."""
    for kind in sorted(SIZED):
        out.append("bake_make_writer(%s)" % kind)
    for name in reachable(structs, "mdyn_sim", []):
        if name == "mdyn_sim":
            continue
        out.append("static void bake_visit_%s(const char *within, const char *path, const %s *x,"
                   " size_t stride, int count)\n{\n    char to[96];\n    int k;"
                   "\n    (void)to; (void)k;" % (name, name))
        for kind, field, array, pointer in structs[name]:
            if pointer or field in TABLES:
                continue
            if kind in structs and array:
                out.append("    for (k = 0; k < bake_count(x->%s); k++) bake_visit_%s(within,"
                           " bake_path(to, path, \"%s\", k), &x->%s[k], stride, count);" %
                           (field, kind, field, field))
            elif kind in structs:
                out.append("    bake_visit_%s(within, bake_path(to, path, \"%s\", -1), &x->%s,"
                           " stride, count);" % (kind, field, field))
            elif kind in SIZED:
                at = "x->%s" % field if array else "&x->%s" % field
                one = "x->%s[0]" % field if array else "x->%s" % field
                length = "bake_count(x->%s)" % field if array else "1"
                out.append("    bake_add(\"%s\", bake_write(%s), within, path, \"%s\", %s,"
                           " sizeof %s, %s, stride, count);" % (kind, kind, field, at, one, length))
            elif array:
                stop("an array of enums: " + field)
            else:
                out.append("    bake_set(path, \"%s\", \"%s\", &x->%s, sizeof x->%s, stride,"
                           " count);" % (kind, field, field, field))
        out.append("}")


def write_members(structs, name, out):
    """The columns of the sim as constants, then NAME_begin."""
    entries = ("md_unit", "shared.entry", True, False) # of a union, of which it is kept
    for kind, field, array, pointer in structs["mdyn_sim"] + [entries]:
        if pointer or field in WORKSPACES | TABLES | {"ready_mark"}:
            continue
        if kind in structs and array:
            out.append("    bake_visit_%s(\"%s\", \"%s[0].\", sim->%s, sizeof sim->%s[0],"
                       " bake_used(sim->%s, sizeof sim->%s, sizeof sim->%s[0]));" %
                       (kind, kind, field, field, field, field, field, field))
        elif kind in structs:
            out.append("    bake_visit_%s(\"%s\", \"%s.\", &sim->%s, 0, 1);" %
                       (kind, kind, field, field))
        elif kind not in SIZED:
            stop("an enum in the sim: " + field)
        elif array:
            out.append("    bake_add(\"%s\", bake_write(%s), \"\", \"\", \"%s\", sim->%s,"
                       " sizeof sim->%s[0], bake_count(sim->%s), 0, 1);" %
                       (kind, kind, field, field, field, field))
        else:
            out.append("    bake_add(\"%s\", bake_write(%s), \"\", \"\", \"%s\", &sim->%s,"
                       " sizeof sim->%s, 1, 0, 1);" % (kind, kind, field, field, field))
    out += ["    bake_data(\"%s\");" % name, "    fputs(bake_begin, bake_out);",
            "    fputs(bake_sets, bake_out);"]


BEGIN = """
/* A sim as mdyn_init leaves it. `model` may be NULL if no call reads the tables: mdyn_step,
   mdyn_report_row and mdyn_coupling_force read curves alone. A model of other counts is
   MDYN_ERR_SAVED_MODEL; the sim is not ready then. */
static int NAME_begin(mdyn_sim *sim, const mdyn_model *model)
{
    volatile unsigned char *to = (volatile unsigned char *)sim; /* or compilers call memcpy */
    const unsigned char *from = (const unsigned char *)&NAME_data;
    size_t i, k, j;
    if (!sim) return MDYN_ERR_NULL;
    for (k = 0; k < sizeof *sim; k++) to[k] = 0;
    for (i = 0; i < sizeof NAME_place / sizeof NAME_place[0]; i++) {
        to = (volatile unsigned char *)sim + NAME_place[i].at;
        for (k = NAME_place[i].count; k > 0; k--) {
            for (j = 0; j < NAME_place[i].size; j++) to[j] = *from++;
            to += NAME_place[i].stride;
        }
    }
    if (model && (model->body_count != sim->bodies || model->coupling_count != sim->couplings
        || (MD_HAS_CURVES && model->curve_count != MD_CURVES(sim)->count)))
        return MDYN_ERR_SAVED_MODEL;
    if (model) md_adopt_tables(sim, model);
    else if (MD_HAS_CURVES && MD_CURVES(sim)->count > 0) return MDYN_ERR_NULL;
"""


def knob_checks(text, out):
    """#error for each knob that has another value than here."""
    names = re.findall(r"defined\((MIMICDYN_\w+)\)", text[:text.index("#error")])
    out.append("    fprintf(bake_out, \"#if MDYN_VERSION != %ld\\n#error \\\"mimicdyn.h has another"
               " version than the bake\\\"\\n#endif\\n\", (long)MDYN_VERSION);")
    out.append("    fprintf(bake_out, \"#if MDYN_SCALAR != %d\\n#error \\\"MIMICDYN_SCALAR is not"
               " that of the bake\\\"\\n#endif\\n\", MDYN_SCALAR);")
    out.append("    fprintf(bake_out, \"#ifndef MDYN_IMPLEMENTED_\\n#error \\\"the bake belongs"
               " into the file with MIMICDYN_IMPLEMENTATION\\\"\\n#endif\\n\");")
    for name in dict.fromkeys(names):
        if name in FREE_KNOBS or name == "MIMICDYN_KNOBS":
            continue
        out.append("    fprintf(bake_out, \"#if %s != %%d\\n#error \\\"%s is not that of the"
                   " bake\\\"\\n#endif\\n\", (int)(%s));" % (name, name, name))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("name")
    parser.add_argument("out")
    parser.add_argument("--cc", default=os.environ.get("CC") or "cc")
    parser.add_argument("--include", default=os.path.join(os.path.dirname(__file__), "..", ".."))
    options, flags = parser.parse_known_args()
    header = os.path.join(options.include, "mimicdyn.h")
    cc = options.cc.split()
    flags = flags + ["-I", options.include, "-DMIMICDYN_STATIC=1",
                     "-DMIMICDYN_BAKED=0", "-w"]
    with open(header, encoding="ascii") as file:
        knobs = file.read().split("#if defined(MIMICDYN_KNOBS)")[1]
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "bake.c")
        source = os.path.abspath(options.source)
        with open(program, "w", encoding="ascii") as file:
            file.write('#define MIMICDYN_IMPLEMENTATION\n#include "%s"\n' % source)
        structs = find_structs(preprocess(cc, flags, program))
        if any(name == "closure_table" for _, name, _, _ in structs.get("mdyn_sim", [])):
            stop("closures, user rows and contacts are left out")
        # unions, of which these are kept
        structs["md_mass"] = [("md_num", "M", True, False)]
        structs["md_row_slot"] = [("md_row", "row", False, False)]
        if "mdyn_sim" not in structs:
            stop("the model does not include mimicdyn.h")
        lines = ["#define MIMICDYN_IMPLEMENTATION", "#define main bake_main",
                 '#include "%s"' % source, "#undef main", PRINTER]
        write_visitors(structs, lines)
        lines.append("static const char bake_begin[] = \"%s\";" %
                     BEGIN.replace("NAME", options.name).replace("\n", "\\n"))
        lines += ["static mdyn_sim bake_sim;", "int main(int argc, char **argv)\n{",
                  "    mdyn_sim *sim = &bake_sim;", "    int k, n, code, left;", "    long has;",
                  "    if (argc != 2) return 2;",
                  "    code = mdyn_init(sim, &%s);" % options.name,
                  "    if (code != MDYN_OK)",
                  "        fprintf(stderr, \"bake: mdyn_init: %s (index %d): %s\\n\", mdyn_text(code),"
                  " sim->culprit.index, mdyn_remedy(code));", "    if (code < 0) return 1;",
                  "    left = bake_rows(sim);", "    md_find_implied_limits(sim);",
                  "    bake_out = fopen(argv[1], \"w\");", "    if (!bake_out) return 2;",
                  "    has = MIMICDYN_MAX_CURVES > 0 ? MDYN_HAS_ALL : (long)mdyn_has(sim);",
                  "    for (k = 0; k < sim->rows; k++) bake_keep_row(&sim->slot[k].row);",
                  "    /* states of bodies may stand in the others */",
                  "    for (; k < MIMICDYN_MAX_ROWS; k++) memset(&sim->slot[k], 0, sizeof sim->slot[k]);",
                  "    fprintf(bake_out, \"/* %s: written by bake.py; included before mimicdyn.h, and"
                  " after it. */\\n\");" % options.name,
                  "    fprintf(bake_out, \"#ifndef MIMICDYN_H\\n#define MIMICDYN_HAS %ld\\n#else\\n\","
                  " has);",
                  "    fprintf(bake_out, \"#if (MIMICDYN_HAS & %ld) != %ld\\n#error"
                  " \\\"MIMICDYN_HAS lacks what the bake has\\\"\\n#endif\\n\", has, has);"]
        knob_checks(knobs, lines)
        lines.append("    if (left >= 0) fprintf(bake_out, \"#if MIMICDYN_BAKED\\n#error"
                     " \\\"MIMICDYN_BAKED: this model has rows that a step sets up\\\"\\n#endif"
                     "\\n\");")
        write_members(structs, options.name, lines)
        lines += ["    fprintf(bake_out, \"    sim->ready_mark = %luUL;\\n    return MDYN_OK;\\n"
                  "}\\n#endif\\n\", (unsigned long)sim->ready_mark);",
                  "    return fclose(bake_out) == 0 ? 0 : 2;\n}"]
        with open(program, "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")
        binary = os.path.join(folder, "bake")
        if subprocess.call(cc + ["-std=gnu11"] + flags + [program, "-lm", "-o", binary]):
            stop("the model does not compile")
        code = subprocess.call([binary, options.out])
        if code:
            sys.exit(code)


if __name__ == "__main__":
    main()
