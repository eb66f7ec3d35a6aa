"""MJCF. Default classes, several joints on a body, `ref`, equality joints with any polycoef,
fixed tendons with range, equality, spring and actuators, connect and weld; masses of primitive
geoms where there is no <inertial>. Couplings are hard, their solref is named in the report; loops
with a solref have its frequency and damping ratio."""

import math
import os
import re

from robot_math import DECIMAL, NO_ROTATION, ZERO, Num, Pose, about, between, combined, conjugate, \
    cross, length, normalize, of_axes, of_principal, principal, qmul, scale, sub, turned
from robot_model import Closure, Coupling, Joint, Link, Robot, poses
from robot_xml import ImportFailed, Node, Report, nearest, number, numbers, parse

HARMLESS = {"asset", "visual", "statistic", "sensor", "camera", "light", "custom", "contact",
            "size", "exclude", "extension", "flag", "texture", "material", "mesh", "geom", "site",
            "skin", "user", "pair"}
HARMLESS_ATTRIBUTES = {
    "compiler": {"meshdir", "texturedir", "assetdir", "discardvisual", "strippath", "fusestatic",
                 "usethread", "alignfree", "fitaabb", "convexhull", "saveinertial",
                 "exactmeshinertia"},
    "option": {"integrator", "cone", "jacobian", "solver", "iterations", "tolerance", "impratio",
               "ls_iterations", "ls_tolerance", "noslip_iterations", "noslip_tolerance",
               "ccd_iterations", "ccd_tolerance", "o_margin", "o_solref", "o_solimp", "o_friction",
               "apirate", "mpr_iterations", "mpr_tolerance", "sdf_iterations", "sdf_initpoints",
               "collision"},
    "joint": {"solimplimit", "solreflimit", "solreffriction", "solimpfriction", "margin", "group",
              "user"},
    "fixed": {"width", "rgba", "group", "user", "material", "solimplimit", "solreflimit", "margin"},
    "body": {"user", "name"}, "mujoco": {"model"}, "key": {"ctrl", "time", "qvel", "act", "mpos",
                                                           "mquat", "name"},
}
ACTUATORS = ("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder",
             "muscle", "adhesion", "plugin")
ACTUATOR = {"name", "class", "group", "user", "joint", "jointinparent", "tendon", "site", "refsite",
            "body", "cranksite", "slidersite", "cranklength", "gear", "gaintype", "gainprm",
            "biastype", "biasprm", "dyntype", "dynprm", "actdim", "actlimited", "actrange",
            "actearly", "forcelimited", "forcerange", "ctrllimited", "ctrlrange", "inheritrange",
            "lengthrange", "kp", "kv", "dampratio", "timeconst"}
CLASSED = {"joint", "geom", "site", "mesh", "material", "camera", "light", "pair", "equality",
           "tendon", "spatial", "fixed"}
JOINT = {"type", "name", "pos", "axis", "range", "limited", "ref", "stiffness", "springref",
         "damping", "frictionloss", "armature", "actuatorfrcrange", "actuatorfrclimited"}
TENDON = {"limited", "range", "stiffness", "springlength", "damping", "frictionloss", "armature"}
SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}
FLAGS = ("constraint", "equality", "frictionloss", "limit", "passive", "spring", "damper",
         "actuation")
READ = {"joint": JOINT, "tendon": TENDON, "equality": {"solref", "solimp", "active"}}


def harmless(node, attribute):
    if attribute is None:
        return node.tag in HARMLESS
    if node.tag in HARMLESS or attribute in ("user", "rgba", "group"):
        return True
    return attribute in HARMLESS_ATTRIBUTES.get(node.tag, ())


class Reader:
    def __init__(self, root, report, options):
        self.root, self.report, self.options = root, report, options
        self.robot = Robot(root.get("model", "robot"), "MJCF")
        self.robot.dt = 0.002
        self.compiler = {"angle": "degree", "eulerseq": "xyz", "autolimits": "true",
                         "inertiafromgeom": "auto", "inertiagrouprange": "0 5",
                         "boundmass": "0", "boundinertia": "0", "balanceinertia": "false",
                         "settotalmass": "-1"}
        self.classes = {"main": {}}
        self.bodies, self.joints, self.sites, self.tendons = {}, {}, {}, {}
        self.order = []   # joints in the order of qpos
        self.unknown_mass = {}
        self.groups = (0, 5)   # of geoms that have mass

    # ---- sections ----

    def read(self):
        self.includes(self.root, 0)
        for node in self.root.all("compiler"):
            for name in list(self.compiler) + ["coordinate"]:
                if node.has(name):
                    self.compiler[name] = node.get(name)
            if self.compiler.get("coordinate") == "global":
                self.report.error(node, "coordinate=\"global\"", "save the model with local "
                                  "coordinates")
            if not re.match(r"[xyzXYZ]{3}$", self.compiler["eulerseq"]):
                self.report.error(node, "eulerseq `%s`" % self.compiler["eulerseq"],
                                  "three of the letters x, y, z, X, Y, Z")
                self.compiler["eulerseq"] = "xyz"
        self.groups = numbers(self.compiler["inertiagrouprange"], 2, self.root,
                              "inertiagrouprange", self.report)
        for node in self.root.all("option"):
            self.option(node)
        for node in self.root.all("default"):
            self.default(node, "main", None)
        self.world()
        self.report.stop_on_errors()
        self.check_unknown_masses()
        self.adjust_masses()
        self.report.stop_on_errors()
        for section in self.root.all("tendon"):
            self.read_tendons(section)
        for section in self.root.all("equality"):
            self.equalities(section)
        self.pair_connects()
        for section in self.root.all("actuator"):
            self.actuators(section)
        self.keyframe()
        return self.robot

    def includes(self, node, depth):
        """<include file> in place, for files beside the first one."""
        for child in list(node.children):
            if child.tag != "include":
                self.includes(child, depth)
                continue
            path = os.path.join(self.options.directory, child.get("file", ""))
            at = node.children.index(child)
            try:
                if depth > 20:
                    raise OSError("files include each other")
                with open(path, "rb") as file:
                    inner = parse(file.read(), Report(path))
            except (OSError, ImportFailed) as fault:
                child.skip()
                why = getattr(fault, "strerror", None) or str(fault) or "it cannot be read"
                self.report.drop(child, "include of `%s`: %s: put the file beside this one"
                                 % (child.get("file", ""), why))
                continue
            self.includes(inner, depth + 1)
            node.children[at:at + 1] = inner.children
            self.report.note(child, "include of `%s` was read" % child.get("file", ""))

    def option(self, node):
        if node.has("timestep"):
            self.robot.dt = number(node.get("timestep"), node, "timestep", self.report)
        if node.has("gravity"):
            self.robot.gravity = numbers(node.get("gravity"), 3, node, "gravity", self.report)
        for flag in node.all("flag"):
            if flag.get("gravity") == "disable":
                self.robot.gravity = ZERO
            for name in FLAGS:
                if flag.attributes.get(name) == "disable":
                    self.report.drop(flag, "flag %s=\"disable\"" % name)

    def default(self, node, name, outer):
        """Each class has its own attributes of each tag on top of those of the class around it."""
        name = node.get("class", name)
        if outer:
            mine = {t: dict(a) for t, a in self.classes.get(outer, {}).items()}
        else:
            mine = self.classes["main"]   # whatever the name of the outermost class
        self.classes[name] = mine
        for child in node.children:
            child.seen = True
            if child.tag == "default":
                continue
            child.used.update(child.attributes)
            if child.tag in ACTUATORS:
                mine["actuator"] = self.general(child, mine.get("actuator", {}))
                self.unread_of(child, "<%s> in class `%s`" % (child.tag, name))
            elif child.tag not in CLASSED:
                self.report.drop(child, "<%s> in class `%s`" % (child.tag, name))
            else:
                tag = "tendon" if child.tag in ("tendon", "spatial", "fixed") else child.tag
                mine.setdefault(tag, {}).update(child.attributes)
                for unread in set(child.attributes) - READ.get(tag, set(child.attributes)):
                    if not harmless(Node("fixed" if tag == "tendon" else tag, {}, 0), unread):
                        self.report.drop(child, "attribute %s of <%s> in class `%s`"
                                         % (unread, child.tag, name))
        for child in node.all("default"):
            self.default(child, "main_%d" % child.line, name)

    def merged(self, node, tag, childclass):
        """The attributes of an element with those of its class."""
        name = node.get("class") or childclass or "main"
        if name not in self.classes:
            self.report.error(node, "there is no default class `%s`%s"
                              % (name, nearest(name, self.classes)), "correct the name")
            name = "main"
        found = dict(self.classes[name].get(tag, {}))
        found.update(node.attributes)
        return found

    # ---- frames ----

    def angle(self, x):
        return x if self.compiler["angle"] == "radian" or x == 0 else math.radians(x)

    def rotation(self, node, attributes):
        def values(name, count):
            node.get(name)
            return numbers(attributes[name], count, node, name, self.report)
        if "quat" in attributes:
            q = values("quat", 4)
            return NO_ROTATION if not any(q) or not any(q[1:]) else normalize(q)
        if "axisangle" in attributes:
            a = values("axisangle", 4)
            return about(a[:3], self.angle(a[3])) if any(a[:3]) else NO_ROTATION
        if "xyaxes" in attributes:
            a = values("xyaxes", 6)
            if length(cross(a[:3], a[3:])) < 1e-9:
                self.report.error(node, "xyaxes %s span no plane" % attributes["xyaxes"],
                                  "give two directions")
                return NO_ROTATION
            return of_axes(a[:3], a[3:])
        if "zaxis" in attributes:
            axis = values("zaxis", 3)
            return between((0, 0, 1), axis) if any(axis) else NO_ROTATION
        if "euler" in attributes:
            return self.euler([self.angle(x) for x in values("euler", 3)])
        return NO_ROTATION

    def euler(self, angles):
        q = NO_ROTATION
        for letter, angle in zip(self.compiler["eulerseq"], angles):
            turn = about({"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}[letter.lower()], angle)
            q = qmul(q, turn) if letter.islower() else qmul(turn, q)
        return q

    def pose(self, node, attributes=None):
        attributes = node.attributes if attributes is None else attributes
        node.get("pos")
        position = numbers(attributes["pos"], 3, node, "pos", self.report) \
            if "pos" in attributes else ZERO
        return Pose(position, self.rotation(node, attributes))

    # ---- bodies ----

    def world(self):
        inside = {"joint": [], "inertial": [], "geom": [], "body": []}
        for world in self.root.all("worldbody"):
            self.contents(world, None, Pose(), None, inside)
        stack = [(None,) + entry for entry in reversed(inside["body"])]
        while stack:
            parent, node, before, childclass = stack.pop()
            stack += self.body(node, parent, before, childclass)
        if not self.bodies:
            self.report.error(self.root, "there is no body", "import a file with a <worldbody>")
        free = any(j.kind == "free" for j in self.robot.joints())
        self.robot.base = "free" if free else "fixed to the world"

    def contents(self, node, link, before, childclass, inside):
        """Sorts what is in a body or a <frame>, in the order of the file: joints, inertials, geoms
        and bodies, each with the pose of its frame and its class."""
        for child in node.children:
            if child.tag == "frame":
                child.seen = True
                self.contents(child, link, before * self.pose(child),
                              child.get("childclass", childclass), inside)
            elif child.tag in ("body", "joint", "freejoint", "inertial", "geom"):
                child.seen = True
                inside["joint" if child.tag == "freejoint" else child.tag].append(
                    (child, before, childclass))
            elif child.tag == "site" and child.get("name"):
                merged = self.merged(child, "site", childclass)
                self.sites[child.get("name")] = (link, before * self.pose(child, merged))
            elif child.tag in ("composite", "flexcomp", "replicate", "attach"):
                self.report.error(child, "<%s> is not expanded" % child.tag,
                                  "save the compiled model from MuJoCo and import that")
                child.skip()
        return inside

    def body(self, node, parent, before, childclass):
        """Reads a body; returns the bodies in it, the last one first."""
        name = node.get("name") or unused("body_%d" % node.line, self.bodies)
        childclass = node.get("childclass", childclass)
        if name in self.bodies:
            self.report.error(node, "a second body `%s`" % name, "names of bodies are unique")
        link = self.bodies[name] = Link(name, node.line)
        link.parent, link.rel = parent, before * self.pose(node)
        self.robot.links.append(link)
        if number(node.get("gravcomp", "0"), node, "gravcomp", self.report):
            self.report.drop(node, "gravcomp of body `%s`" % name)
        if node.get("mocap") == "true":
            self.report.note(node, "mocap body `%s`: fixed" % name)
        inside = self.contents(node, link, Pose(), childclass, {
            "joint": [], "inertial": [], "geom": [], "body": []})
        for child, pose, cls in inside["joint"]:
            self.joint(child, pose, cls, link)
        self.mass(link, inside["inertial"], inside["geom"])
        return [(link,) + entry for entry in reversed(inside["body"])]

    def joint(self, node, before, childclass, link):
        a = dict(node.attributes) if node.tag == "freejoint" else \
            self.merged(node, "joint", childclass)
        for field in JOINT:
            node.get(field)
        kind = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical",
                "free": "free"}.get("free" if node.tag == "freejoint" else a.get("type", "hinge"))
        name = a.get("name") or unused("%s_%s" % (
            link.name, "free" if node.tag == "freejoint" else a.get("type", "hinge")), self.joints)
        if kind is None:
            self.report.error(node, "joint `%s`: unknown type `%s`" % (name, a.get("type")),
                              "hinge, slide, ball or free")
            return
        value = lambda field, d="0": number(a.get(field, d), node, field, self.report)
        joint = Joint(name, kind, line=node.line)
        if kind == "free":
            joint.start, link.rel = link.rel, Pose()
            for field in ("armature", "stiffness"):
                if value(field):
                    self.report.drop(node, "%s of the free joint `%s`" % (field, name))
            joint.damping, joint.friction = value("damping"), value("frictionloss")
        else:
            self.turning(node, joint, a, value, before)
        if name in self.joints:
            self.report.error(node, "a second joint `%s`" % name, "names of joints are unique")
        self.joints[name] = joint
        self.order.append(joint)
        link.joints.append(joint)

    def turning(self, node, joint, a, value, before):
        joint.anchor = before.at(numbers(a.get("pos", "0 0 0"), 3, node, "pos", self.report))
        joint.axis = before.turn(numbers(a.get("axis", "0 0 1"), 3, node, "axis", self.report))
        if length(joint.axis) < 1e-9:
            self.report.error(node, "joint `%s`: its axis has no length" % joint.name,
                              "give a direction")
            joint.axis = (0.0, 0.0, 1.0)
        joint.damping, joint.friction = value("damping"), value("frictionloss")
        joint.armature, joint.stiffness = value("armature"), value("stiffness")
        angle = self.angle if joint.kind == "revolute" else (lambda x: x)
        limited = a.get("limited", "auto")
        if limited == "true" or (limited == "auto" and "range" in a
                                 and self.compiler["autolimits"] == "true"):
            self.limits(node, joint, a.get("range", ""), angle)
        elif limited == "auto" and "range" in a:
            self.report.note(node, "joint `%s`: its range does not count (autolimits off)"
                             % joint.name)
        if joint.kind == "spherical":
            if joint.stiffness or joint.armature:
                self.report.drop(node, "stiffness or armature of the ball joint `%s`" % joint.name)
                joint.stiffness = joint.armature = 0.0
            return
        joint.ref, joint.springref = angle(value("ref")), angle(value("springref"))
        force = a.get("actuatorfrcrange")
        if force and a.get("actuatorfrclimited", "auto") != "false":
            joint.effort = self.both_sides(
                node, numbers(force, 2, node, "actuatorfrcrange", self.report),
                "actuatorfrcrange of joint `%s`" % joint.name)

    def both_sides(self, node, ends, what):
        """The bound of a range of forces; a bound here has the same size on both sides."""
        if ends[0] != -ends[1]:
            self.report.drop(node, "%s: [%s, %s] is not symmetric: its larger side bounds both"
                             % (what, text_of(ends[0]), text_of(ends[1])))
        return larger(*ends)

    def limits(self, node, joint, text, angle):
        low, high = numbers(text, 2, node, "range of joint `%s`" % joint.name, self.report)
        if joint.kind == "spherical":
            self.report.drop(node, "range of the ball joint `%s`" % joint.name)
            return
        joint.lower, joint.upper = angle(low), angle(high)

    # ---- masses ----

    def mass(self, link, inertials, geoms):
        if inertials and self.compiler["inertiafromgeom"] != "true":
            self.inertial(inertials[0][0], inertials[0][1], link)
            return
        if self.compiler["inertiafromgeom"] == "false":
            return
        for child, _, _ in inertials:
            child.skip()
        parts = []
        for child, before, cls in geoms:
            part = self.geom(child, before, cls, link)
            if part:
                parts.append(part)
        link.mass, link.com, link.inertia = combined(parts)
        if parts:
            self.report.note(link.line, "body `%s`: mass %.6g kg from its geoms"
                             % (link.name, link.mass))

    def inertial(self, node, before, link):
        node.seen = True
        pose = before * self.pose(node)
        what = "inertial of body `%s`" % link.name
        link.mass = number(node.get("mass", "0"), node, what, self.report)
        link.com = pose.position
        if node.has("fullinertia"):
            tensor = numbers(node.get("fullinertia"), 6, node, what, self.report)
        elif node.has("diaginertia"):
            tensor = numbers(node.get("diaginertia"), 3, node, what, self.report) + (Num("0"),) * 3
        else:
            tensor = (Num("0"),) * 6
        link.inertia = turned(tensor, pose.rotation)

    def geom(self, node, before, cls, link):
        """(mass, com, inertia) in the body's axes; None without mass. Meshes are remembered."""
        a = self.merged(node, "geom", cls)
        kind = a.get("type", "mesh" if "mesh" in a else "sphere")
        given = float(number(a["mass"], node, "mass", self.report)) if "mass" in a else None
        density = float(number(a.get("density", "1000"), node, "density", self.report))
        least, most = self.groups
        group = number(a.get("group", "0"), node, "group", self.report)
        if given == 0 or (given is None and density == 0) or kind in ("plane", "hfield") \
                or not least <= group <= most:
            return None
        if kind in ("mesh", "sdf") or "mesh" in a:
            self.unknown_mass.setdefault(link, []).append((node, a.get("mesh", "?")))
            return None
        size = numbers(a.get("size", ""), None, node, "size", self.report)
        pose = self.pose(node, a)
        if "fromto" in a:
            ends = numbers(a["fromto"], 6, node, "fromto", self.report)
            along = sub(ends[:3], ends[3:])
            pose = Pose(scale(tuple(p + q for p, q in zip(ends[:3], ends[3:])), 0.5),
                        between((0, 0, 1), along))
            size = size[:1] * (1 if kind in ("capsule", "cylinder") else 2) + (length(along) / 2,)
        size = size[:SIZES.get(kind, 0)]
        shape = solid(kind, size) if size and all(x > 0 for x in size) else None
        if shape is None:
            self.report.error(node, "geom of body `%s`: type %s with %d sizes, or with one "
                              "that is not positive" % (link.name, kind, len(size)),
                              "correct the sizes")
            return None
        if a.get("shellinertia") == "true":
            self.report.drop(node, "shellinertia of a geom of body `%s`: it is solid here"
                             % link.name)
        volume, unit_inertia = shape
        mass = given if given is not None else density * volume
        pose = before * pose
        return mass, pose.position, turned(tuple(mass * i for i in unit_inertia) + (0.0,) * 3,
                                           pose.rotation)

    def adjust_masses(self):
        """What <compiler> says about the masses and inertias of all bodies."""
        least, moment, total = (float(number(self.compiler[k], self.root, k, self.report))
                                for k in ("boundmass", "boundinertia", "settotalmass"))
        balance = self.compiler["balanceinertia"] == "true"
        for link in self.robot.links:
            link.mass = max(link.mass, least) if least > 0 else link.mass
            axes = principal(link.inertia)
            wrong = balance and axes[0][0] + axes[1][0] < axes[2][0]
            if axes[0][0] < moment or wrong:
                axes = [(max(i, moment), n) for i, n in axes]
                mean = math.fsum(i for i, _ in axes) / 3
                wrong = balance and axes[0][0] + axes[1][0] < axes[2][0]
                link.inertia = (mean,) * 3 + (0.0,) * 3 if wrong else of_principal(axes)
                self.report.note(link.line, "body `%s`: its inertia is that of %s" % (
                    link.name, "balanceinertia" if wrong else "boundinertia"))
        if total > 0:
            self.scale_masses(total)

    def scale_masses(self, total):
        if self.unknown_mass:
            link, geoms = next(iter(self.unknown_mass.items()))
            self.report.error(link.line, "settotalmass %g: body `%s` has no <inertial>, its mass "
                              "is the volume of mesh `%s`" % (total, link.name, geoms[0][1]),
                              "write an <inertial>; MuJoCo saves them with mj_saveLastXML")
            return
        factor = total / (math.fsum(link.mass for link in self.robot.links) or 1.0)
        for link in self.robot.links:
            link.mass *= factor
            link.inertia = tuple(i * factor for i in link.inertia)
        self.report.note(0, "settotalmass %g: masses and inertias times %.6g" % (total, factor))

    def check_unknown_masses(self):
        """Masses that only a mesh has: an error where nothing else gives the joint inertia."""
        carries = {}
        for link in reversed(self.robot.links):
            known = link.mass > 0 or carries.get(link, False)
            carries[link] = known
            if not link.joints and link.parent is not None and known:
                carries[link.parent] = True
        for link, geoms in self.unknown_mass.items():
            node, mesh = geoms[0]
            moving = link
            while moving is not None and not moving.joints:
                moving = moving.parent
            if moving is None:
                self.report.note(link.line, "body `%s` stands on the world: the mass of its mesh "
                                 "is not needed" % link.name)
            elif carries[moving] and not link.joints:
                self.report.drop(link.line, "mass of body `%s`: it has no <inertial> and is the "
                                 "volume of mesh `%s`; 0 is used, `%s` carries it"
                                 % (link.name, mesh, moving.name))
            else:
                self.report.error(link.line, "body `%s` moves and has no <inertial>: its mass is "
                                  "the volume of mesh `%s`" % (link.name, mesh),
                                  "write an <inertial>; MuJoCo saves them with mj_saveLastXML")

    # ---- equality ----

    def lookup(self, node, name, table, what):
        if name in table:
            return table[name]
        self.report.error(node, "there is no %s `%s`%s" % (what, name, nearest(name or "", table)),
                          "correct the name")
        return None

    def equalities(self, section):
        for node in section.all("joint", "connect", "weld", "tendon", "distance", "flex"):
            a = self.merged(node, "equality", None)
            for name in ("solref", "solimp", "active", "name"):
                node.get(name)
            if a.get("active", "true") == "false":
                node.skip()
                self.report.drop(node, "inactive equality <%s>" % node.tag)
                continue
            if a.get("solref") and node.tag in ("joint", "tendon"):
                self.report.note(node, "solref %s of the equality: the coupling is hard here"
                                 % a["solref"])
            getattr(self, "equal_" + node.tag)(node, a)

    def polycoef(self, node, a):
        """The five numbers of a law; those that are not given have their defaults."""
        node.get("polycoef")
        given = numbers(a.get("polycoef", ""), None, node, "polycoef", self.report)
        return given[:5] + (Num("0"), Num("1"), Num("0"), Num("0"), Num("0"))[len(given):]

    def equal_joint(self, node, a):
        law = self.polycoef(node, a)
        first = self.lookup(node, node.get("joint1"), self.joints, "joint")
        second = self.lookup(node, node.get("joint2"), self.joints, "joint") \
            if node.has("joint2") else None
        if first is None or (node.has("joint2") and second is None):
            return
        if any(j is not None and j.kind in ("spherical", "free") for j in (first, second)):
            self.report.error(node, "an equality of a ball or free joint",
                              "only hinges and slides have one coordinate")
            return
        if second is None:
            first.locked = first.ref + law[0] if first.ref else law[0]
            self.report.note(node, "joint `%s`: an equality without joint2 locks it" % first.name)
            return
        name, what = "equality %s" % first.name, "equality of `%s` and `%s`" % (
            first.name, second.name)
        if any(law[2:]):
            c = Coupling(name, [(first, Num("1")), (second, -1.0)], 0.0, node.line, what)
            c.curve = (law, first.ref, second.ref)
            self.robot.couplings.append(c)
            return
        ratio = law[1]
        offset = law[0] + first.ref - ratio * second.ref if first.ref or second.ref else law[0]
        c = Coupling(name, [(first, Num("1")), (second, -ratio)], -offset, node.line, what)
        c.mimic = (ratio, offset)
        self.robot.add_mimic(c, self.report)

    def end(self, node, a, number_of, point):
        """Link and pose of one end of a connect or weld."""
        site = a.get("site%d" % number_of)
        node.get("site%d" % number_of)
        node.get("body%d" % number_of)
        if site:
            found = self.lookup(node, site, self.sites, "site")
            return found if found else (None, Pose())
        name = a.get("body%d" % number_of, "world")
        link = None if name == "world" else self.lookup(node, name, self.bodies, "body")
        return link, Pose(point)

    def equal_connect(self, node, a):
        anchor = numbers(a["anchor"], 3, node, "anchor", self.report) if "anchor" in a else ZERO
        node.get("anchor")
        (first, pose_a), (second, pose_b) = self.end(node, a, 1, anchor), self.end(node, a, 2, ZERO)
        point_b = pose_b.position
        if "site1" not in a:
            zero = self.zero_poses()
            world = (zero[first] if first else Pose()).at(anchor)
            point_b = (zero[second] if second else Pose()).inverse().at(world)
        self.close(node, "point", first, second, pose_a.position, point_b)

    def pair_connects(self):
        """Two connects of the same bodies are a hinge through both points: five rows, not six of
        which one says again, or otherwise, how far the points are apart."""
        found = {}
        for closure in list(self.robot.closures):
            other = found.setdefault((closure.a, closure.b), closure)
            if other is closure or "point" != closure.kind or "point" != other.kind:
                continue
            line_a = sub(closure.point_a, other.point_a)
            line_b = sub(closure.point_b, other.point_b)
            size = length(line_a)
            if size < 1e-9 or abs(length(line_b) - size) > 1e-3 * size:
                continue
            other.kind, other.axis_a, other.axis_b = "hinge", line_a, line_b
            self.robot.closures.remove(closure)
            self.report.note(closure.line, "two connects of `%s` and `%s`: one hinge through both "
                             "points" % (closure.a.name if closure.a else "world",
                                         closure.b.name if closure.b else "world"))

    def zero_poses(self):
        q = {j: j.start for j in self.robot.joints() if j.kind == "free"}
        return poses(self.robot, q)[0]

    def close(self, node, kind, first, second, point_a, point_b):
        name = "%s %s - %s" % (node.tag, first.name if first else "world",
                               second.name if second else "world")
        closure = Closure(name, kind, first, second, point_a, point_b, node.line)
        closure.softness = self.frequency(node)
        if first is second:
            self.report.note(node, "%s: both ends are the same body: left out" % name)
            return closure
        self.robot.closures.append(closure)
        return closure

    def frequency(self, node):
        """solref as frequency and damping ratio; not given: hard."""
        text = self.merged(node, "equality", None).get("solref")
        if not text or self.options.hard_loops:
            return None
        given = numbers(text, None, node, "solref", self.report)[:2]
        first, second = given + (0.02, 1.0)[len(given):]
        if (first > 0) != (second > 0):
            first, second = 0.02, 1.0   # as MuJoCo does with a mixed one
        if first == 0:
            self.report.drop(node, "solref %s of a loop has no stiffness: hard here" % text)
            return None
        if first > 0:
            omega, zeta = 1 / (first * second), second
        else:
            omega = math.sqrt(-first)
            zeta = -second / (2 * omega)
        self.report.note(node, "solref %s of a loop: MDYN_FREQUENCY(%.6g, %.6g); --hard-loops "
                         "leaves it out" % (text, omega, zeta))
        return "MDYN_FREQUENCY", omega, zeta

    def equal_weld(self, node, a):
        for name in ("relpose", "anchor"):
            node.get(name)
        node.get("torquescale")
        torques = number(a.get("torquescale", "1"), node, "torquescale", self.report)
        kind = "weld" if torques else "point"
        if torques not in (0, 1):
            self.report.drop(node, "torquescale %s of a weld: 1 here" % torques.text)
        anchor = numbers(a["anchor"], 3, node, "anchor", self.report) if "anchor" in a else ZERO
        (first, pose_a), (second, pose_b) = self.end(node, a, 1, ZERO), self.end(node, a, 2, anchor)
        if "site1" in a:
            turn = (pose_a * pose_b.inverse()).rotation   # of body 2 in body 1
            closure = self.close(node, kind, first, second, pose_a.position, pose_b.position)
        else:
            turn, point = self.relative_pose(node, a, first, second, anchor)
            closure = self.close(node, kind, first, second, point, anchor)
        closure.rotation = conjugate(turn)

    def relative_pose(self, node, a, first, second, anchor):
        """Rotation of body 2 and place of its anchor, in body 1. A relpose has the place of the
        anchor, not of the origin, as MuJoCo takes it."""
        text = a.get("relpose", "0 1 0 0 0 0 0")
        rel = numbers(text, 7, node, "relpose", self.report)
        if any(rel[3:]):
            return normalize(rel[3:]), rel[:3]
        zero = self.zero_poses()
        across = (zero[first] if first else Pose()).inverse() * (zero[second] if second else Pose())
        return across.rotation, across.at(anchor)

    def equal_tendon(self, node, a):
        law = self.polycoef(node, a)
        first = self.tendons.get(node.get("tendon1"))
        second = self.tendons.get(node.get("tendon2")) if node.has("tendon2") else []
        if first is None or second is None:
            self.report.drop(node, "equality of tendons `%s`: not both are fixed tendons"
                             % a.get("tendon1"))
            return
        if any(law[2:]) and second:
            self.report.drop(node, "equality of tendon `%s`: polycoef %s is not linear: write it "
                             "as a coupling with MDYN_COUPLER" % (a.get("tendon1"), a["polycoef"]))
            return
        terms = {}
        for (joint, c), factor in [(t, 1.0) for t in first] + [(t, -law[1]) for t in second]:
            terms[joint] = terms[joint] + factor * c if joint in terms else \
                (c if factor == 1 else factor * c)
        offset = -math.fsum(c * j.ref for j, c in terms.items()) - law[0]
        name = "equality of tendon `%s`" % a.get("tendon1")
        terms = [(j, c) for j, c in terms.items() if c != 0]
        if terms:
            self.robot.couplings.append(Coupling(a.get("tendon1"), terms, offset, node.line, name))

    def equal_distance(self, node, _a):
        node.skip()
        self.report.drop(node, "equality <distance> of geoms")

    def equal_flex(self, node, _a):
        node.skip()
        self.report.drop(node, "equality <flex>")

    # ---- tendons ----

    def read_tendons(self, section):
        for node in section.all("spatial"):
            self.report.drop(node, "spatial tendon `%s`" % node.get("name", ""))
            node.skip()
        for node in section.all("fixed"):
            self.tendon(node)

    def tendon(self, node):
        a, name = self.merged(node, "tendon", None), node.get("name", "")
        terms = []
        for part in node.all("joint"):
            joint = self.lookup(part, part.get("joint"), self.joints, "joint")
            if joint is not None and joint.kind in ("spherical", "free"):
                self.report.error(part, "tendon `%s` over the %s joint `%s`"
                                  % (name, joint.kind, joint.name), "only hinges and slides")
            elif joint is not None:
                terms.append((joint, number(part.get("coef", "1"), part, "coef", self.report)))
        self.tendons[name] = terms
        for field in TENDON:
            node.get(field)
        if not terms:
            return
        value = lambda field: number(a.get(field, "0"), node, field, self.report)
        limited = a.get("limited", "auto")
        if "range" in a and (limited == "true" or (
                limited == "auto" and self.compiler["autolimits"] == "true")):
            c = self.on_tendon(node, "range of tendon", name, terms)
            c.lower, c.upper = numbers(a["range"], 2, node, "range", self.report)
        self.tendon_spring(node, a, name, terms, value)
        if value("frictionloss"):
            c = self.on_tendon(node, "friction of tendon", name, terms)
            c.velocity, c.effort = True, value("frictionloss")
        if value("armature"):
            self.report.drop(node, "armature of tendon `%s`" % name)

    def on_tendon(self, node, what, name, terms):
        c = Coupling("%s %s" % (what, name), list(terms), 0.0, node.line, "%s `%s`" % (what, name))
        self.robot.couplings.append(c)
        return c

    def tendon_spring(self, node, a, name, terms, value):
        stiffness, damping = value("stiffness"), value("damping")
        if not stiffness and not damping:
            return
        ends = numbers(a.get("springlength", "-1"), None, node, "springlength", self.report)
        rest = ends[0]
        if rest == -1:
            rest = math.fsum(c * j.springref for j, c in terms)
        c = self.on_tendon(node, "spring of tendon", name, terms)
        c.offset, c.softness = -rest, ("MDYN_SPRING", stiffness, damping)
        if len(ends) > 1 and ends[1] > ends[0]:
            c.offset, c.lower, c.upper = 0.0, ends[0], ends[1]
            if damping:   # acts inside of the band too, where a range has no force
                c.softness = ("MDYN_SPRING", stiffness, 0)
                self.on_tendon(node, "damper of tendon", name, terms).softness = \
                    ("MDYN_SPRING", 0, damping)

    # ---- actuators ----

    def general(self, node, base):
        """Any actuator as the attributes of <general>."""
        for name in ("gainprm", "biasprm", "gear", "forcerange", "ctrlrange", "kp", "kv",
                     "timeconst"):
            if node.has(name):
                numbers(node.attributes[name], None, node, name, self.report)
        a = dict(base)
        a.update(node.attributes)
        gain = list_of(base.get("gainprm", "1"))
        bias = list_of(base.get("biasprm", "0 0 0")) + [Num("0")] * 3
        kp, kv = node.attributes.get("kp"), node.attributes.get("kv")
        if node.tag == "motor":
            a.update(gainprm="1", biasprm="0 0 0", biastype="none", gaintype="fixed")
        elif node.tag in ("position", "intvelocity"):
            gain = kp or text_of(gain[0])
            damp = negated(kv) if kv else text_of(bias[2])
            a.update(gainprm=gain, biasprm="0 %s %s" % (negated(gain), damp), biastype="affine",
                     gaintype="fixed")
            if "dampratio" in node.attributes:
                a["dampratio"] = node.attributes["dampratio"]
        elif node.tag == "velocity":
            gain = kv or text_of(gain[0])
            a.update(gainprm=gain, biasprm="0 0 " + negated(gain), biastype="affine",
                     gaintype="fixed")
        a["shortcut"] = node.tag
        return a

    def actuators(self, section):
        driven = set()
        for node in section.children:
            node.seen = True
            cls = node.get("class") or "main"
            base = self.classes.get(cls, {}).get("actuator", {})
            node.used.update(node.attributes)
            name = node.attributes.get("name", node.tag)
            a = self.general(node, base)
            self.unread_of(node, "actuator `%s`" % name)
            why = self.unsupported(node, a)
            if why:
                self.report.drop(node, "actuator `%s`: %s" % (name, why))
                continue
            self.actuate(node, a, name, driven)

    def unread_of(self, node, what):
        for unread in sorted(set(node.attributes) - ACTUATOR):
            self.report.drop(node, "attribute %s of %s" % (unread, what))

    def unsupported(self, node, a):
        target = a.get("joint") or a.get("jointinparent")
        if node.tag not in ("general", "motor", "position", "velocity"):
            return "a <%s> has no counterpart" % node.tag
        if a.get("dyntype", "none") != "none" or any(list_of(a.get("timeconst", "0"))):
            return "its activation dynamics (%s)" % a.get("dyntype", "timeconst")
        if a.get("gaintype", "fixed") != "fixed" or a.get("biastype", "none") not in (
                "none", "affine"):
            return "gain %s, bias %s" % (a.get("gaintype"), a.get("biastype"))
        bias = list_of(a.get("biasprm", "0")) if a.get("biastype") == "affine" else [0]
        if max(bias[1:3] + [0]) > 0:
            return "its biasprm %s pushes away from the target" % a["biasprm"]
        if "dampratio" in a:
            return "its dampratio depends on the mass matrix: give kv"
        if a.get("tendon") and a["tendon"] not in self.tendons:
            return "its tendon `%s` is not a fixed tendon" % a["tendon"]
        if not target and not a.get("tendon"):
            return "it acts on no joint or fixed tendon"
        return ""

    def actuate(self, node, a, name, driven):
        gear = list_of(a.get("gear", "1"))[0]
        bias = (list_of(a.get("biasprm", "0 0 0")) + [Num("0")] * 3)[:3] \
            if a.get("biastype", "none") == "affine" else [0.0] * 3
        gain = list_of(a.get("gainprm", "1"))[0]
        kp, kd = absolute(bias[1]), absolute(bias[2])
        bound = self.force_bound(node, a, name, gain, kp, kd)
        if bound is not None:
            bound = times(bound, abs(gear))
        if a.get("tendon"):
            self.pull(node, a["tendon"], name, kp, kd, bound, gear)
            self.describe(node, name, "tendon `%s`" % a["tendon"], gain, kp, kd, bias, gear)
            return
        target = a.get("joint") or a.get("jointinparent")
        joint = self.lookup(node, target, self.joints, "joint")
        if joint is None:
            return
        if joint.kind in ("spherical", "free"):
            self.report.drop(node, "actuator `%s` on the %s joint `%s`: command sim.tau"
                             % (name, joint.kind, joint.name))
            return
        if joint in driven:
            self.report.drop(node, "actuator `%s`: joint `%s` has another one"
                             % (name, joint.name))
            return
        driven.add(joint)
        square = gear * gear
        joint.kp, joint.kd = times(kp, square), times(kd, square)
        if bound is not None:
            joint.effort = bound if joint.effort is None else min(joint.effort, bound)
        self.describe(node, name, "joint `%s`" % joint.name, gain, kp, kd, bias, gear)

    def force_bound(self, node, a, name, gain, kp, kd):
        limited = a.get("forcelimited", "auto")
        if "forcerange" in a and limited != "false":
            ends = (list_of(a["forcerange"]) * 2)[:2]
            return self.both_sides(node, ends, "forcerange of actuator `%s`" % name) \
                if kp or kd else larger(*ends)
        if kp == 0 and kd == 0 and "ctrlrange" in a and a.get("ctrllimited", "auto") != "false":
            return times(larger(*(list_of(a["ctrlrange"]) * 2)[:2]), abs(gain))
        return None

    def describe(self, node, name, what, gain, kp, kd, bias, gear):
        """Notes what a ctrl commands, unless it is the target itself, or a torque."""
        k = kp or kd
        if bias[0] or k and (k != gain or gear != 1):
            self.report.note(node, "actuator `%s` of %s: %s = (%g ctrl + %g) %s" % (
                name, what, "target" if kp else "target velocity" if kd else "sim.tau", gain,
                bias[0], "/ (%g gear %g)" % (k, gear) if k else "gear %g" % gear))

    def pull(self, node, tendon, name, kp, kd, bound, gear):
        if not kp and not kd:
            self.report.drop(node, "actuator `%s`: a force on tendon `%s`: add coefficient times "
                             "force to sim.tau of its joints" % (name, tendon))
            return
        c = self.on_tendon(node, "actuator of tendon", tendon, self.tendons[tendon])
        c.name = name
        square = gear * gear
        c.softness = ("MDYN_SPRING", times(kp, square), times(kd, square))
        c.effort = bound
        c.velocity = not kp
        self.report.note(node, "actuator `%s` of tendon `%s`: a spring coupling towards 0; "
                         "mdyn_set_coupling_target commands it" % (name, tendon))

    # ---- start ----

    def keyframe(self):
        keys = [k for section in self.root.all("keyframe") for k in section.all("key")]
        wanted = self.options.keyframe
        for key in keys:
            key.get("qpos")
        named = [k for k in keys if k.get("name") == wanted] if wanted else \
            [k for k in keys if k.has("qpos")][:1]
        if wanted and wanted != "none" and not named:
            self.report.error(self.root, "there is no keyframe `%s`%s" % (
                wanted, nearest(wanted, [k.get("name", "") for k in keys])), "correct the name")
        for joint in self.order:
            if joint.start is None and joint.kind != "spherical":
                joint.start = joint.ref
        if not named or not named[0].has("qpos"):
            return
        key = named[0]
        size = {"free": 7, "spherical": 4}
        count = sum(size.get(j.kind, 1) for j in self.order)
        qpos = numbers(key.get("qpos"), None, key, "qpos", self.report)
        if len(qpos) != count:
            self.report.error(key, "keyframe `%s` has %d numbers for %d coordinates"
                              % (key.get("name"), len(qpos), count), "--keyframe=none")
            return
        at = 0
        for joint in self.order:
            part = qpos[at:at + size.get(joint.kind, 1)]
            at += len(part)
            joint.start = Pose(part[:3], normalize(part[3:])) if joint.kind == "free" else \
                normalize(part) if joint.kind == "spherical" else part[0]
        self.robot.start_of = "nearest to keyframe `%s`" % key.get("name", "")


def unused(name, taken):
    """The name, with a number if another element has it."""
    number_of, unique = 2, name
    while unique in taken:
        unique, number_of = "%s_%d" % (name, number_of), number_of + 1
    return unique


def list_of(text):
    """Numbers that were checked before; 0 for what is none."""
    return [Num(t) if DECIMAL.match(t) else Num("0") for t in text.split()] or [Num("0")]


def text_of(x):
    return x.text if isinstance(x, Num) else repr(x)


def negated(text):
    text = text.strip()
    return text[1:] if text.startswith("-") else "-" + text.lstrip("+")


def absolute(x):
    return Num(x.text.lstrip("+-")) if isinstance(x, Num) else abs(x)


def larger(low, high):
    return absolute(max(low, high, key=abs))


def times(x, factor):
    return x if factor == 1 else x * factor


def solid(kind, size):
    """Volume, and the diagonal of the inertia for 1 kg."""
    if len(size) < SIZES.get(kind, 1):
        return None
    if kind == "sphere":
        r = size[0]
        return 4 / 3 * math.pi * r ** 3, (0.4 * r * r,) * 3
    if kind == "box":
        x, y, z = size
        return 8 * x * y * z, ((y * y + z * z) / 3, (x * x + z * z) / 3, (x * x + y * y) / 3)
    if kind == "ellipsoid":
        x, y, z = size
        return 4 / 3 * math.pi * x * y * z, ((y * y + z * z) / 5, (x * x + z * z) / 5,
                                             (x * x + y * y) / 5)
    if kind == "cylinder":
        r, h = size[0], 2 * size[1]
        side = (3 * r * r + h * h) / 12
        return math.pi * r * r * h, (side, side, r * r / 2)
    return capsule(size[0], 2 * size[1])


def capsule(r, h):
    tube, ball = math.pi * r * r * h, 4 / 3 * math.pi * r ** 3
    volume = tube + ball
    t, b = tube / volume, ball / volume
    side = t * (3 * r * r + h * h) / 12 + b * (0.4 * r * r + h * h / 4 + 3 * h * r / 8)
    return volume, (side, side, t * r * r / 2 + b * 0.4 * r * r)


def read(root, report, options):
    return Reader(root, report, options).read()
