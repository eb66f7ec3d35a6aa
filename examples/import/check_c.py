"""--check: compiles the tables with the header and compares poses, masses and motion."""

import math
import os
import random
import shutil
import subprocess
import tempfile

import robot_model as model
from robot_math import Pose, length, normalize, sub
from robot_tables import entries
from write_c import coordinates

POSES, STEPS = 5, 1000
HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Wdouble-promotion", "-Wshadow",
            "-Wundef", "-Wvla", "-Werror"]

PROGRAM = r"""
#define MIMICDYN_IMPLEMENTATION
#include "robot.h"
#include "mimicdyn.h"
#include "robot.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#if MDYN_SCALAR == MDYN_SCALAR_FIXED
static double real(mdyn_real x) { return ldexp((double)x, -40); }
static mdyn_real of(double x) { return (mdyn_real)floor(ldexp(x, 40) + 0.5); }
static double wide(mdyn_wide x)
{
    int e = (int)(x & 255);
    return ldexp((double)(x >> 8), e < 128 ? e : e - 256);
}
#else
static double real(mdyn_real x) { return (double)x; }
static mdyn_real of(double x) { return (mdyn_real)x; }
static double wide(mdyn_wide x) { return (double)x; }
#endif

static mdyn_sim sim, copy;
static mdyn_wide mass[MIMICDYN_MAX_DOFS * MIMICDYN_MAX_DOFS];

static void fail(const char *what, int code)
{
    printf("fail %s %d %s (index %d)\n", what, code, mdyn_text(code), sim.culprit.index);
    exit(0);
}

static void print_pose(int body)
{
    mdyn_real3 p;
    mdyn_real4 r;
    int code = mdyn_pose(&sim, body, &p, &r);
    if (code < 0) fail("mdyn_pose", code);
    printf("%.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", real(p.x), real(p.y), real(p.z),
           real(r.w), real(r.x), real(r.y), real(r.z));
}

/* C of each coupling at the present position: what MDYN_ENGAGE_HERE takes from its offset. */
static void print_couplings(void)
{
    int i;
    for (i = 0; i < robot_model.coupling_count; i++) {
        int code;
        copy = sim;
        code = mdyn_engage(&copy, i, MDYN_ENGAGE_HERE);
        if (code < 0) fail("mdyn_engage", code);
        printf("%.17g ", wide(sim.coupling[i].offset) - wide(copy.coupling[i].offset));
    }
    printf("\n");
}

static void print_position(void)
{
    int i, n = mdyn_dofs(&sim), code;
    for (i = 0; i < ROBOT_BODIES; i++) print_pose(i);
    code = mdyn_mass_matrix(&sim, mass);
    if (code < 0) fail("mdyn_mass_matrix", code);
    for (i = 0; i < n * n; i++) printf("%.17g ", wide(mass[i]));
    printf("\n");
    print_couplings();
}

static void walk(int steps)
{
    double fastest = 0;
    int i, k, worst = 0, code = mdyn_init(&sim, &robot_model);
    if (code < 0) fail("mdyn_init", code);
    for (i = 0; i < ROBOT_BODIES; i++)
        if (mdyn_first_dof(&sim, i) >= 0 && robot_bodies[i].joint >= MDYN_REVOLUTE
            && robot_bodies[i].joint <= MDYN_HELICAL)
            sim.target[mdyn_first_dof(&sim, i)] = sim.q[mdyn_first_coordinate(&sim, i)];
    if (OFF_START) code = mdyn_project(&sim, MDYN_MASS_METRIC);
    if (code < 0) fail("mdyn_project", code);
    printf("project %d\n", OFF_START ? code : 0);
    for (i = 0; i < steps; i++) {
        code = mdyn_step(&sim);
        if (code < 0) fail("mdyn_step", code);
        if (code > worst) worst = code;
        for (k = 0; k < mdyn_dofs(&sim); k++)
            if (fabs(real(sim.v[k])) > fastest) fastest = fabs(real(sim.v[k]));
    }
    printf("steps %d %.17g %d\n", worst, fastest, (int)sim.report.entries);
    for (i = 0; i < mdyn_coordinates(&sim); i++) printf("%.17g ", real(sim.q[i]));
    printf("\n");
}

int main(void)
{
    int poses, i, code = mdyn_init(&sim, &robot_model);
    double x;
    if (code < 0) fail("mdyn_init", code);
    printf("init %d %d %s\n", code, mdyn_coordinates(&sim), mdyn_text(code));
    if (scanf("%d", &poses) != 1) return 1;
    while (poses-- > 0) {
        for (i = 0; i < mdyn_coordinates(&sim); i++) {
            if (scanf("%lf", &x) != 1) return 1;
            sim.q[i] = of(x);
        }
        print_position();
    }
    walk(STEPS);
    return 0;
}
"""


def random_position(robot, start, rng):
    """Anywhere inside the limits, or within a turn; couplings are not held."""
    q = {}
    for joint in start:
        if joint.kind == "spherical":
            q[joint] = normalize(tuple(rng.gauss(0, 1) for _ in range(4)))
        elif joint.kind == "free":
            q[joint] = Pose(tuple(rng.uniform(-1, 1) for _ in range(3)),
                            normalize(tuple(rng.gauss(0, 1) for _ in range(4))))
        else:
            low = -3.0 if joint.lower is None else max(joint.lower, -50)
            high = 3.0 if joint.upper is None else min(joint.upper, 50)
            q[joint] = rng.uniform(low, max(low, high))
    return q


def flat(tables, q):
    values = []
    for body in tables.bodies:
        if body.joint:
            values += coordinates(body.joint, q[body.joint])
    return values


def build_and_run(text, low, scalar, values, off_start, directory):
    with open(os.path.join(directory, "robot.h"), "w") as file:
        file.write(text)
    with open(os.path.join(directory, "check.c"), "w") as file:
        file.write(PROGRAM.replace("ROBOT_", low.upper() + "_").replace("robot_", low + "_")
                   .replace("STEPS", str(STEPS)))
    program = os.path.join(directory, "check-" + scalar)
    compiler = os.environ.get("CC", "cc").split()
    command = compiler + ["-std=c99", "-O0"] + WARNINGS + [
        "-DMIMICDYN_SCALAR=" + scalar, "-DOFF_START=%d" % off_start, "-I", HEADER, "-I", directory,
        "-o", program,
        os.path.join(directory, "check.c"), "-lm"]
    made = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if made.returncode:
        errors = [s for s in made.stdout.splitlines() if "error" in s] or ["?"]
        return "does not compile: " + errors[0], []
    ran = subprocess.run([program], input=values, stdout=subprocess.PIPE, text=True, check=False,
                         timeout=600)
    lines = ran.stdout.splitlines()
    failure = [s for s in lines if s.startswith("fail")]
    if failure or ran.returncode:
        return failure[0][5:] if failure else "ended with %d" % ran.returncode, []
    return "", lines


def compare(tables, positions, lines):
    """Largest error of a pose of any link of the file [m or quaternion], of M relative to its
    diagonal, and of C of a hard coupling relative to its summands."""
    robot, at = tables.robot, 1
    worst_pose = worst_mass = worst_c = 0.0
    for q in positions:
        got = [Pose(v[:3], v[3:]) for v in (
            [float(x) for x in s.split()] for s in lines[at:at + len(tables.bodies)])]
        at += len(tables.bodies)
        placed, _ = model.poses(robot, q)
        for link in robot.links:
            body, offset = tables.place[link]
            pose = (got[body] if body >= 0 else Pose()) * offset
            worst_pose = max(worst_pose, pose_error(pose, placed[link]))
        want = model.mass_matrix(robot, q, tables.dofs)
        flat_m = [float(x) for x in lines[at].split()]
        worst_mass = max(worst_mass, mass_error(want, flat_m, tables.dofs))
        for coupling, c in zip(robot.couplings, lines[at + 1].split()):
            if coupling.is_hard():
                worst_c = max(worst_c, coupling_mismatch(coupling, q, float(c)))
        at += 2
    return worst_pose, worst_mass, worst_c, at


def coupling_mismatch(coupling, q, c):
    parts = model.coupling_parts(coupling, q)
    return abs(c - math.fsum(parts)) / max(1.0, max(abs(x) for x in parts))


def pose_error(a, b):
    p, r = normalize(a.rotation), normalize(b.rotation)
    sign = 1 if sum(x * y for x, y in zip(p, r)) >= 0 else -1
    turn = max(abs(x - sign * y) for x, y in zip(p, r))
    return max(turn, length(sub(a.position, b.position)) / max(1.0, length(b.position)))


def mass_error(want, got, n):
    worst = 0.0
    for i in range(n):
        for j in range(n):
            size = (want[i][i] * want[j][j]) ** 0.5
            worst = max(worst, abs(got[i * n + j] - want[i][j]) / size)
    return worst


def coordinates_back(tables, values):
    q, at = {}, 0
    for body in tables.bodies:
        if not body.joint:
            continue
        kind = body.joint.kind
        n = {"spherical": 4, "free": 7}.get(kind, 1)
        part = values[at:at + n]
        at += n
        q[body.joint] = Pose(part[:3], part[3:]) if kind == "free" else \
            tuple(part) if kind == "spherical" else part[0]
    return q


def reach(tables):
    placed, _ = model.poses(tables.robot, tables.start)
    points = [p.position for k, p in placed.items() if tables.place[k][0] >= 0]
    return max([length(sub(a, b)) for a in points for b in points] or [0.0])


def check(tables, writer, text):
    """One line, and whether all is well."""
    rng = random.Random(1)
    positions = [tables.start] + [random_position(tables.robot, tables.start, rng)
                                  for _ in range(POSES)]
    values = "%d\n" % len(positions) + "\n".join(
        " ".join(repr(float(x)) for x in flat(tables, q)) for q in positions) + "\n"
    robot = tables.robot
    parts = ["%d bodies, %d dof, %d couplings, %d loops, %.6g kg, reach %.3g m" % (
        len(tables.bodies), tables.dofs, len(robot.couplings), len(robot.closures),
        sum(k.mass for k in robot.links), reach(tables))]
    good = True
    directory = tempfile.mkdtemp(prefix="import-robot-")
    try:
        for scalar in ("F64", "F32", "FIXED"):
            fault, lines = build_and_run(text, writer.low, scalar, values,
                                         tables.start_error > 1e-9, directory)
            if fault:
                parts.append("%s: FAILED: %s" % (scalar, fault))
                good = False
                continue
            part, fine = judged(tables, scalar, positions, lines)
            parts.append(part)
            good = good and fine
    finally:
        shutil.rmtree(directory)
    return "; ".join(parts), good


def judged(tables, scalar, positions, lines):
    pose, mass, c_at_random, at = compare(tables, positions, lines)
    init = int(lines[0].split()[1])
    words = lines[at + 1].split()
    q = coordinates_back(tables, [float(x) for x in lines[at + 2].split()])
    couplings = max([abs(model.coupling_error(c, q)) for c in tables.robot.couplings
                     if c.is_hard()] or [0.0])
    loops = model.closure_error(tables.robot, q)
    bounds = {"F64": 1e-12, "F32": 1e-3, "FIXED": 1e-4}
    fine = max(pose, mass, c_at_random) <= bounds[scalar]
    text = "%s: poses %.1e, M %.1e, C %.1e, %d steps: couplings %.1e" % (
        scalar, pose, mass, c_at_random, STEPS, couplings)
    if tables.robot.closures:
        text += ", loops %.1e" % loops
    text += ", vmax %.3g" % float(words[2])
    if scalar == "F64":
        text += ", entries %s of %d" % (words[3], entries(tables))
    warned = ["init: " + lines[0].split(" ", 3)[3]] if init else []
    warned += ["project: %s" % lines[at].split()[1]] if lines[at] != "project 0" else []
    warned += ["steps: warning %s" % words[1]] if words[1] != "0" else []
    return text + (" (" + "; ".join(warned) + ")" if warned else "") \
        + ("" if fine else " WRONG"), fine

