"""The tables as C that compiles as C99 and as C++11, in every scalar."""

import re
import textwrap

from robot_math import ZERO, Num, breaks_triangle, is_identity
from robot_model import ONE_DOF
from robot_tables import closure_in_tables, curve_table, sizes
from robot_xml import gathered

KINDS = {"revolute": "MDYN_REVOLUTE", "prismatic": "MDYN_PRISMATIC", "helical": "MDYN_HELICAL",
         "spherical": "MDYN_SPHERICAL", "free": "MDYN_FREE"}
CLOSURES = {"point": "MDYN_CLOSE_POINT", "hinge": "MDYN_CLOSE_HINGE", "weld": "MDYN_CLOSE_WELD",
            "distance": "MDYN_CLOSE_DISTANCE"}


def decimal(x):
    """The file's own decimals where the number is unchanged; a C literal without octal zeros."""
    if not isinstance(x, Num):
        x = float(x)
        return "0" if x == 0 else repr(int(x)) if x == int(x) and abs(x) < 1e9 else repr(x)
    sign = "-" if x.text.startswith("-") and x != 0 else ""
    mantissa, _, exponent = x.text.lstrip("+-").lower().partition("e")
    whole, point, part = mantissa.partition(".")
    whole = whole.lstrip("0") or "0"
    if not point and not exponent and len(whole) > 9:
        point = "."
    return sign + whole + (point + (part or "0") if point else "") \
        + ("e" + exponent if exponent else "")


def constant(x):
    return "MDYN_C(%s)" % decimal(x)


def limit(x, sign):
    if x is None or abs(x) >= 1e12:
        return "MDYN_UNLIMITED" if sign > 0 else "-MDYN_UNLIMITED"
    return constant(x)


def macro(name, values):
    return "%s(%s)" % (name, ", ".join(decimal(x) for x in values))


def softness(given):
    return macro(given[0], given[1:]) if given else "{ MDYN_DEFAULT, MDYN_C(0), MDYN_C(0) }"


def quoted(text):
    """A C string: escapes, no trigraphs, bytes that are not ASCII as octal."""
    out = ""
    for byte in text.encode("utf-8"):
        c = chr(byte)
        if c in "\"\\?":
            out += "\\" + c
        elif 32 <= byte < 127:
            out += c
        else:
            out += "\\%03o" % byte
    return '"%s"' % out


def plain(text):
    """Text for a comment."""
    text = "".join(c if 32 <= ord(c) < 127 else "?" for c in text)
    return text.replace("*/", "* /").replace("/*", "/ *").replace("\\", "/").replace("??", "?")


def identifier(text, taken):
    """A C identifier of upper case that no other name has, also with Q_ or DOF_ in front."""
    word = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_").upper() or "X"
    unique, n = word, 2
    while taken & {unique, "Q_" + unique, "DOF_" + unique}:
        unique, n = "%s_%d" % (word, n), n + 1
    taken |= {unique, "Q_" + unique, "DOF_" + unique}
    return unique


def wrapped(text, indent="   ", width=96):
    return textwrap.wrap(plain(text), width, initial_indent=indent,
                         subsequent_indent=" " * len(indent)) or [indent]


def filled(items, indent, end):
    """Comma-separated items in lines of at most 100 columns."""
    lines, line = [], indent
    pieces = [piece for item in items for piece in (
        item.split(", ") if len(item) > 98 - len(indent) else [item])]
    for i, item in enumerate(pieces):
        item += "," if i + 1 < len(pieces) else end
        if len(line) + len(item) + 1 > 100 and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += item + " "
    return lines + [line.rstrip()]


class Writer:
    def __init__(self, tables, report, name, source, facts):
        self.tables, self.report, self.source, self.facts = tables, report, source, facts
        self.robot = tables.robot
        self.low = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_").lower() or "robot"
        if self.low[0].isdigit() or self.low in ("mdyn", "mimicdyn"):
            self.low = "robot_" + self.low
        self.up = self.low.upper()
        taken = {"BODIES", "COUPLINGS", "CLOSURES", "DOFS", "COORDINATES", "TABLES", "ROBOT_H"}
        self.names = [identifier(n, taken) for n in self.short([b.name for b in tables.bodies])]

    def short(self, names):
        """Without the name of the robot in front, if all have it."""
        words = [re.sub(r"[^A-Za-z0-9]+", "_", n).strip("_") for n in names]
        if all(w.upper().startswith(self.up + "_") for w in words):
            return [w[len(self.up) + 1:] for w in words]
        return names

    def text(self):
        lines = self.head() + self.knobs() + self.indices() + self.bodies() + self.curves() \
            + self.couplings() + self.closures() + self.start() + self.model()
        lines += ["", "#endif"]
        return "\n".join(lines) + "\n"

    # ---- the opening comment ----

    def head(self):
        r, t = self.robot, self.tables
        lines = ["/* %s.h - model tables made by import_robot.py from %s (%s)."
                 % (self.low, plain(self.source), plain(r.format))]
        lines += wrapped("%d links, %d bodies, %d degrees of freedom, %d couplings, %d loop "
                         "closures; base %s." % (len(r.links), len(t.bodies), t.dofs,
                                                 len(r.couplings), len(r.closures), r.base))
        lines += wrapped(self.facts)
        lines += ["", "   Include it before mimicdyn.h, for the knobs, and again after it, for the "
                  "tables."]
        lines += self.listed("Merged into the body that carries them", self.merged())
        lines += self.listed("Transmissions of the file, not part of the model", r.rotors)
        lines += self.listed("Changed or noted", gathered(self.report.notes))
        lines += self.listed("NOT CONVERTED", gathered(self.report.dropped))
        lines += self.listed("Left out, without influence on the motion", [", ".join(
            "%s %d" % (k, n) for k, n in sorted(self.report.ignored.items()))]
            if self.report.ignored else [])
        lines[-1] += " */"
        return lines

    def listed(self, title, entries):
        if not entries:
            return []
        lines = ["", "   %s:" % title]
        for entry in entries:
            lines += wrapped(entry, "   - ")
        return lines

    def merged(self):
        found = []
        for body, name in zip(self.tables.bodies, self.names):
            others = [k.name for k in body.links[1:]]
            if others:
                found.append("%s_%s: %s" % (self.up, name, ", ".join(others)))
        world = [k.name for k in self.robot.links if self.tables.place[k][0] < 0]
        if world:
            found.append("the world: " + ", ".join(world))
        return found

    # ---- knobs and indices ----

    def knobs(self):
        lines = ["", "#if !defined(MIMICDYN_H)"]
        needed = sizes(self.tables)
        for knob, value in needed.items():
            lines += ["#ifndef MIMICDYN_MAX_" + knob, "#define MIMICDYN_MAX_%s %d" % (knob, value),
                      "#endif"]
        lines += ["", "#elif !defined(%s_TABLES)" % self.up, "#define %s_TABLES" % self.up, ""]
        for knob in ("BODIES", "DOFS", "COUPLINGS", "ROWS", "TERMS", "BODY_ROWS", "CURVES"):
            if needed.get(knob):
                lines += ["#if MIMICDYN_MAX_%s < %d" % (knob, needed[knob]),
                          "#error \"%s needs MIMICDYN_MAX_%s %d\"" % (self.low, knob, needed[knob]),
                          "#endif"]
        return lines

    def joint_comment(self, body):
        joint = body.joint
        if joint is None:
            return "frame of link %s" % plain(body.name)
        return "%s joint%s" % (joint.kind, ", link %s" % plain(body.links[0].name)
                               if body.links else "")

    def indices(self):
        lines = ["", "enum {"]
        for body, name in zip(self.tables.bodies, self.names):
            lines += ["    %s_%s, /* %s */" % (self.up, name, self.joint_comment(body))] \
                if len(name) + len(self.joint_comment(body)) + len(self.up) < 85 else \
                ["    %s_%s," % (self.up, name)]
        lines += ["    %s_BODIES" % self.up, "};"]
        plain_tree = all(b.joint and b.joint.kind in ONE_DOF for b in self.tables.bodies)
        if plain_tree:
            return lines + ["/* Bodies, coordinates and degrees of freedom have the same index. */"]
        lines += ["", "/* The first coordinate (q) and the first degree of freedom (v, tau) of "
                  "each joint. */", "enum {"]
        for body, name in zip(self.tables.bodies, self.names):
            if body.joint:
                lines += filled(["%s_Q_%s = %d" % (self.up, name, self.coordinate(body)),
                                 "%s_DOF_%s = %d" % (self.up, name, body.joint.first)], "    ", ",")
        lines += ["    %s_COORDINATES = %d," % (self.up, self.coordinate(None)),
                  "    %s_DOFS = %d" % (self.up, self.tables.dofs), "};"]
        return lines

    def coordinate(self, until):
        n = 0
        for body in self.tables.bodies:
            if body is until:
                return n
            if body.joint:
                n += {"spherical": 4, "free": 7}.get(body.joint.kind, 1)
        return n

    # ---- tables ----

    def index(self, body):
        return "MDYN_WORLD" if body < 0 else "%s_%s" % (self.up, self.names[body])

    def bodies(self):
        lines = ["", "/* parent, joint, axis, pitch, position, rotation, mass, com, inertia, "
                 "armature, damping, friction,", "   lower, upper, effort, drive_kp, drive_kd, "
                 "name, inertia_as_given */",
                 "static const mdyn_body %s_bodies[%s_BODIES] = {" % (self.low, self.up)]
        for body, name in zip(self.tables.bodies, self.names):
            lines += ["    { /* %s_%s */" % (self.up, name)]
            lines += filled(self.body(body), "      ", " },")
        if not self.tables.dofs:
            self.report.error(0, "no joint of the file moves", "there is nothing to simulate")
            self.report.stop_on_errors()
        return lines + ["};"]

    def body(self, body):
        j = body.joint
        turn = body.pose.rotation
        one = j is not None and j.kind in ONE_DOF
        low, high = self.limits(j) if one else ("MDYN_C(0)", "MDYN_C(0)")
        return [self.index(body.parent), KINDS[j.kind] if j else "MDYN_FIXED",
                macro("MDYN_V3", j.axis if one else ZERO),
                constant(j.pitch if one else 0),
                macro("MDYN_V3", body.pose.position),
                macro("MDYN_QUATERNION", (0, 0, 0, 0) if is_identity(turn) else turn),
                constant(body.mass), macro("MDYN_V3", body.com),
                macro("MDYN_INERTIA", body.inertia),
                constant(j.armature if one else 0), constant(j.damping if j else 0),
                constant(j.friction if j else 0), low, high,
                constant(j.effort if j and j.effort else 0), constant(j.kp if one else 0),
                constant(j.kd if one else 0), quoted(body.name),
                "1" if breaks_triangle(body.inertia) else "0"]

    def limits(self, joint):
        low, high = joint.lower, joint.upper
        low = None if low is not None and low <= -1e12 else low
        high = None if high is not None and high >= 1e12 else high
        if low is None and high is None:
            return "MDYN_C(0)", "MDYN_C(0)"
        return limit(low, -1), limit(high, 1)

    def term(self, joint, factor):
        body = self.index(self.tables.body_of[joint])
        return "MDYN_TERM(%s, %s)" % (body, decimal(factor))

    def curves(self):
        laws = curve_table(self.robot)
        if not laws:
            return []
        lines = ["", "/* a_0, a_1, a_2, a_3, a_4, ref_1, ref_2 */",
                 "static const mdyn_curve %s_curves[] = {" % self.low]
        for powers, ref_1, ref_2 in laws:
            lines += filled([macro("MDYN_MUJOCO_POLYCOEF", powers + (ref_1, ref_2))], "    ", ",")
        return lines + ["};"]

    def couplings(self):
        if not self.robot.couplings:
            return []
        lines = ["", "static const mdyn_coupling %s_couplings[] = {" % self.low]
        for coupling in self.robot.couplings:
            what = wrapped(coupling.what + self.composed(coupling), "    /* ")
            lines += what[:-1] + [what[-1] + " */"] + self.coupling(coupling)
        return lines + ["};"]

    def composed(self, coupling):
        """The whole ratio of a follower of a follower."""
        by_follower = {c.terms[0][0]: c for c in self.robot.couplings if c.mimic}
        if not coupling.mimic or coupling.terms[1][0] not in by_follower:
            return ""
        ratio, leader, seen = 1.0, coupling.terms[0][0], set()
        while leader in by_follower and leader not in seen:
            seen.add(leader)
            ratio *= by_follower[leader].mimic[0]
            leader = by_follower[leader].terms[1][0]
        return "; %.6g of %s" % (ratio, leader.name)

    def coupling(self, c):
        if c.curve:
            joints = [self.index(self.tables.body_of[j]) for j, _ in c.terms]
            return filled(["MDYN_FOLLOWS(" + joints[0], joints[1],
                           "%d)" % curve_table(self.robot).index(c.curve)], "    ", ",")
        if c.mimic:
            joints = [self.index(self.tables.body_of[j]) for j, _ in c.terms]
            return filled(["MDYN_MIMIC(" + joints[0], joints[1], decimal(c.mimic[0]),
                           decimal(c.mimic[1]) + ")"], "    ", ",")
        names = {2: "MDYN_GEAR", 3: "MDYN_GEAR3"}
        if c.is_hard() and len(c.terms) in names:
            parts = [names[len(c.terms)] + "("]
            for j, f in c.terms:
                parts += [self.index(self.tables.body_of[j]), decimal(f)]
            parts[0:2] = [parts[0] + parts[1]]
            return filled(parts + [decimal(c.offset) + ")"], "    ", ",")
        terms = [self.term(j, f) for j, f in c.terms]
        terms[0] = "{ { " + terms[0]
        terms[-1] += " }"
        bounds = ["MDYN_C(0)", "MDYN_C(0)"] if c.lower is None and c.upper is None else \
            [limit(c.lower, -1), limit(c.upper, 1)]
        rest = [constant(c.offset), softness(c.softness)] + bounds + [
            "MDYN_C(0)", constant(c.effort or 0),
            "MDYN_VELOCITY" if c.velocity else "MDYN_POSITION", quoted(c.name),
            "MDYN_C(0)", "MDYN_C(0)", "0", "0"]
        return filled(terms + rest, "    ", " },")

    def closures(self):
        if not self.robot.closures:
            return []
        lines = ["", "/* kind, a, b, point_a, point_b, axis_a, axis_b, rotation, distance, "
                 "softness, effort, name */",
                 "static const mdyn_closure %s_closures[] = {" % self.low]
        for c in self.robot.closures:
            a, b, pa, pb, xa, xb, turn = closure_in_tables(self.tables, c)
            if is_identity(turn) or c.kind != "weld":
                turn = (0, 0, 0, 0)
            if c.kind != "hinge":
                xa = xb = ZERO
            lines += filled(["{ " + CLOSURES[c.kind], self.index(a), self.index(b),
                             macro("MDYN_V3", pa), macro("MDYN_V3", pb), macro("MDYN_V3", xa),
                             macro("MDYN_V3", xb), macro("MDYN_QUATERNION", turn),
                             constant(c.distance), softness(c.softness),
                             "MDYN_C(0)", quoted(c.name)], "    ", " },")
        return lines + ["};"]

    # ---- start and model ----

    def start(self):
        lines = ["", "/* Start position: inside the limits, on couplings and loops,",
                 "   %s. mdyn_init sets it." % plain(self.robot.start_of)[:80]]
        if self.tables.start_error > 1e-9:
            lines += ["   It misses them by %.1e: call mdyn_project(&sim, MDYN_MASS_METRIC) after "
                      "mdyn_init." % self.tables.start_error]
        if any(j.kp for j in self.robot.joints()):
            lines += ["   The drives go to sim.target, 0 after mdyn_init: set it too."]
        lines[-1] += " */"
        lines += ["static const mdyn_real %s_start[] = {" % self.low]
        for body in self.tables.bodies:
            if body.joint:
                values = coordinates(body.joint, self.tables.start[body.joint])
                lines += filled(["MDYN_R(%s)" % decimal(x) for x in values], "    ", ",")
        return lines + ["};"]

    def model(self):
        r = self.robot

        def table(name, entries):
            return ["%s_%s" % (self.low, name), str(len(entries))] if entries else ["NULL", "0"]

        parts = [self.low + "_bodies", self.up + "_BODIES"] + table("couplings", r.couplings) \
            + [macro("MDYN_V3", r.gravity), constant(r.dt), "MDYN_DEFAULT_SOLVER"] \
            + table("closures", r.closures) + ["NULL", "0", "NULL", "NULL", self.low + "_start"] \
            + table("curves", curve_table(r))
        return ["", "/* bodies, couplings, gravity, dt, solver, closures, user rows, row_function, "
                "user_data, start,", "   curves */",
                "static const mdyn_model %s_model = {" % self.low] \
            + filled(parts, "    ", ",") + ["};"]


def coordinates(joint, value):
    if joint.kind == "free":
        return list(value.position) + list(value.rotation)
    return list(value) if joint.kind == "spherical" else [value]
