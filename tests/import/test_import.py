#!/usr/bin/env python3
"""test_import.py WHAT: tests of examples/import.
    rules               every file of rules/ against expected.txt
    compile CC...       the tables of all files that convert, in one translation unit, as C99 and
                        C++11 in three scalars, by compilers such as gcc and clang
    check FILE...       import_robot.py --check: the header against plain Python
    names               hostile file names, output to a pipe, exit status
    mutants COUNT       damaged copies of the files of rules/: tables or an error, no traceback
    current             examples/robots holds what the importer makes of examples/import/robots
Ends with 77 if there is no compiler."""

import argparse
import glob
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
IMPORT = os.path.join(ROOT, "examples", "import")
sys.path.insert(0, IMPORT)
sys.dont_write_bytecode = True

import import_robot  # noqa: E402
from robot_xml import ImportFailed, Report  # noqa: E402

WARNINGS = ("-Wall -Wextra -pedantic -Wconversion -Wdouble-promotion -Wshadow -Wundef -Wvla "
            "-Werror").split()


def cases():
    """(file, options, [(kind, text)]) of expected.txt."""
    found = []
    with open(os.path.join(HERE, "expected.txt"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("#") or not line.strip():
                continue
            if line.startswith(" "):
                kind = re.match(r" +(error|left|note|table|no table) (.*)", line.rstrip())
                if not kind:
                    raise SystemExit("expected.txt: " + line)
                found[-1][2].append(kind.groups())
            else:
                words = line.split()
                found.append((words[0], words[1:], []))
    return found


def run(file, options):
    """Report and text of the tables, or None."""
    path = os.path.join(HERE, "rules", file)
    given = import_robot.options(options + [path])
    report = Report(path)
    try:
        tables = import_robot.convert(path, given, report)
        return report, import_robot.written(tables, report, path, given).text()
    except ImportFailed:
        return report, None


def one_blank(text):
    return re.sub(r"\s+", " ", text)


def judge(file, options, wanted):
    """What is wrong, as sentences."""
    report, text = run(file, options)
    wrong = []
    errors = ["%s; %s" % (e[1], e[2]) for e in report.errors]
    lists = {"error": errors, "left": [e[1] for e in report.dropped],
             "note": [e[1] for e in report.notes]}
    for kind in ("error", "left", "note"):
        texts = [t for k, t in wanted if k == kind]
        for each in texts:
            if not any(each in entry for entry in lists[kind]):
                wrong.append("no %s: %s" % (kind, each))
        for entry in lists[kind] if kind != "note" else []:
            if not any(each in entry for each in texts):
                wrong.append("unexpected %s: %s" % (kind, entry))
    if (text is None) != any(k == "error" for k, _ in wanted):
        wrong.append("refused" if text is None else "accepted")
    flat = one_blank(text or "")
    for kind, each in wanted:
        if kind == "table" and one_blank(each) not in flat:
            wrong.append("not in the tables: " + each)
        if kind == "no table" and one_blank(each) in flat:
            wrong.append("in the tables: " + each)
    wrong += ["%d columns: %s" % (len(s), s) for s in (text or "").splitlines() if len(s) > 100]
    wrong += ["not ASCII: " + s for s in (text or "").splitlines() if not s.isascii()]
    return wrong


def rules():
    bad, seen = 0, set()
    for file, options, wanted in cases():
        seen.add(file)
        wrong = judge(file, options, wanted)
        print("%-5s %s" % ("WRONG" if wrong else "ok", " ".join([file] + options)))
        for sentence in wrong:
            print("      " + sentence)
        bad += bool(wrong)
    for path in glob.glob(os.path.join(HERE, "rules", "*")):
        if os.path.basename(path) not in seen:
            print("WRONG %s is not in expected.txt" % os.path.basename(path))
            bad += 1
    print("%d cases, %d wrong" % (len(cases()), bad))
    return 1 if bad else 0


def compile_all(compilers):
    compilers = [c for c in compilers if shutil.which(c)]
    if not compilers:
        print("not run: no compiler here")
        return 77
    directory = tempfile.mkdtemp(prefix="import-test-")
    try:
        return compile_in(directory, compilers)
    finally:
        shutil.rmtree(directory)


def compile_in(directory, compilers):
    includes, count = [], 0
    for file, options, wanted in cases():
        if any(k == "error" for k, _ in wanted):
            continue
        report, text = run(file, options + ["--name", "robot%d" % count])
        with open(os.path.join(directory, "robot%d.h" % count), "w") as out:
            out.write(text)
        includes.append('#include "robot%d.h"' % count)
        count += 1
    knobs = ["#define MIMICDYN_MAX_%s 64" % k for k in (
        "BODIES", "DOFS", "COUPLINGS", "ROWS", "TERMS", "BODY_ROWS", "ENTRIES", "CURVES")]
    lines = knobs + ['#include "mimicdyn.h"'] + includes + [
        "int main(void)", "{", "    return robot0_model.body_count != ROBOT0_BODIES;", "}"]
    failed = 0
    for compiler in compilers:
        for language, standard in (("c", "c99"), ("c++", "c++11")):
            source = os.path.join(directory, "all." + language.replace("+", "x"))
            with open(source, "w") as out:
                out.write("\n".join(lines) + "\n")
            for scalar in ("F32", "F64", "FIXED"):
                command = [compiler, "-x", language, "-std=" + standard, "-fsyntax-only",
                           "-DMIMICDYN_SCALAR=" + scalar, "-I", ROOT, "-I", directory] \
                    + WARNINGS + [source]
                made = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      text=True, check=False)
                print("%-5s %d tables, %s, %s, %s" % ("WRONG" if made.returncode else "ok", count,
                                                      compiler, standard, scalar))
                if made.returncode:
                    print("\n".join(made.stdout.splitlines()[:8]))
                    failed = 1
    return failed


def check(files):
    if not shutil.which(os.environ.get("CC", "cc").split()[0]):
        print("not run: no C compiler here")
        return 77
    return import_robot.main(["--check"] + files)


def names():
    """The program as a command, on a copy with a name that a shell would run."""
    directory = tempfile.mkdtemp(prefix="import-test-")
    try:
        bad = os.path.join(directory, "$(touch pwned); *\"/'.urdf".replace("/", "_"))
        shutil.copy(os.path.join(HERE, "rules", "order.urdf"), bad)
        program = [sys.executable, "-B", os.path.join(IMPORT, "import_robot.py")]
        good = subprocess.run(program + [bad], cwd=directory, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        refused = subprocess.run(program + [os.path.join(HERE, "rules", "crossed.urdf")],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 check=False)
        tests = [
            ("converts", good.returncode == 0 and "mdyn_body" in good.stdout),
            ("runs nothing", os.listdir(directory) == [os.path.basename(bad)]),
            ("names no path", directory not in good.stdout),
            ("refuses with 1", refused.returncode == 1 and not refused.stdout),
            ("says where", "crossed.urdf:9: error: joint `one`" in refused.stderr)]
    finally:
        shutil.rmtree(directory)
    for what, fine in tests:
        print("%-5s %s" % ("ok" if fine else "WRONG", what))
    return 0 if all(fine for _, fine in tests) else 1


VALUES = ("", "0", "-1", "1e999", "nan", "inf", "abc", "1 2", "0 0 0", "1e-320", "1e37", "world",
          "__model__", "::", "a::b", "0x10", "1,5", "true", "free", "x" * 120, "9" * 40)
DEEP = "<mujoco>" + "<default>" * 2000 + "</default>" * 2000 + "</mujoco>"
ATTRIBUTE = re.compile(r'([\w:]+)="([^"]*)"')
TEXT = re.compile(r">([^<>]*[^<>\s][^<>]*)(?=<)")
ELEMENT = re.compile(r"<(\w[\w:]*)[^<>]*/>|<(\w[\w:]*)[^<>]*>[^<>]*</\2>")


def damaged(text, rng):
    """A copy with a value, an attribute, an element or some letters changed, doubled or lost."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        pattern = rng.choice((ATTRIBUTE, ATTRIBUTE, TEXT, ELEMENT, None))
        found = list(pattern.finditer(text)) if pattern else []
        if found:
            here, other = rng.choice(found), rng.choice(found)
            new = rng.choice(("", other.group(), here.group() + " " + other.group()))
            if pattern is not ELEMENT and rng.random() < 0.8:
                value = rng.choice(VALUES + (other.groups()[-1],))
                new = here.group().replace(here.groups()[-1], value)
            text = text[:here.start()] + new + text[here.end():]
        else:
            at, size = rng.randrange(len(text) + 1), rng.choice((0, 1, 1, 20))
            new = rng.choice(("", "<", ">", "&", '"', "<!--", "]]>", "\x00", "\u00e9"))
            text = text[:at] + new + text[at + size:]
    return text


def fate(path):
    """Whether a file was converted; raises what the importer may not raise."""
    report = Report(path)
    given = import_robot.options([path])
    try:
        tables = import_robot.convert(path, given, report)
        text = import_robot.written(tables, report, path, given).text()
    except ImportFailed:
        assert report.errors, "refused without an error"
        return False
    numbers = re.sub(r'"(\\.|[^"])*"|/\*.*?\*/', "", text, flags=re.S)
    assert not re.search(r"\b(nan|inf)\b", numbers), "not finite"
    return True


def mutants(count):
    rng, bad, converted = random.Random(1), 0, 0
    files = sorted(glob.glob(os.path.join(HERE, "rules", "*")))
    directory = tempfile.mkdtemp(prefix="import-test-")
    try:
        for k in range(count):
            with open(rng.choice(files), encoding="utf-8", errors="replace") as file:
                path, text = os.path.join(directory, os.path.basename(file.name)), file.read()
            text = damaged(text, rng) if k else DEEP
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            try:
                converted += fate(path)
            except Exception as fault:  # whatever it is, it is wrong
                print("WRONG mutant %d, %s: %r\n%s" % (k, os.path.basename(path), fault, text))
                bad += 1
    finally:
        shutil.rmtree(directory)
    print("%d mutants, %d converted, %d wrong" % (count, converted, bad))
    return 1 if bad or not converted else 0


def current():
    bad = 0
    for path in sorted(glob.glob(os.path.join(IMPORT, "robots", "*"))):
        name = os.path.splitext(os.path.basename(path))[0]
        _, text = run(path, [])
        with open(os.path.join(ROOT, "examples", "robots", name + ".h")) as file:
            same = file.read() == text
        print("%-5s examples/robots/%s.h" % ("ok" if same else "WRONG", name))
        bad += not same
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=(
        "rules", "compile", "check", "names", "mutants", "current"))
    parser.add_argument("rest", nargs="*")
    given = parser.parse_args()
    if given.what == "rules":
        return rules()
    if given.what == "compile":
        return compile_all(given.rest or ["cc"])
    if given.what == "check":
        return check(given.rest)
    if given.what == "mutants":
        return mutants(int(given.rest[0]))
    return names() if given.what == "names" else current()


if __name__ == "__main__":
    sys.exit(main())
