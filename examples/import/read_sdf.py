"""SDF 1.4 to 1.11. Poses are resolved in the frames that `relative_to` names, axes in those of
`expressed_in` or `use_parent_model_frame`; a joint to a link that already has its place closes a
loop; gearboxes and mimics become couplings; a model that is neither static nor fixed to the world
has a free base."""

import math
import re

from robot_math import Num, Pose, cross, dot, is_identity, length, normalize, of_rpy, scale, sub, \
    turned, unit
from robot_model import Closure, Coupling, Joint, Link, Robot
from robot_xml import nearest, number, numbers

HARMLESS = {"visual", "collision", "sensor", "material", "light", "gui", "scene", "state",
            "self_collide", "plugin", "projector", "audio_source", "audio_sink", "provide_feedback",
            "real_time_factor", "real_time_update_rate", "max_contacts", "spherical_coordinates",
            "atmosphere", "magnetic_field", "enable_wind", "allow_auto_disable", "particle_emitter",
            "must_be_base_link", "max_step_size", "ode", "road", "population", "grasp",
            "enable_orientation", "light_type", "actor", "battery", "bullet", "simbody", "dart"}
JOINTS = ("revolute", "continuous", "prismatic", "ball", "screw", "universal", "revolute2", "fixed",
          "gearbox")


def harmless(node, attribute):
    if attribute is not None:
        return node.tag in ("physics", "world", "sdf", "gazebo")
    if node.tag == "velocity_decay":
        return not any(any(c in "123456789" for c in n.text) for n in node.walk())
    return node.tag in HARMLESS or node.tag.startswith("gz:")


class Scope:
    """A model: its frames by name, each as (node, kind, owner)."""

    def __init__(self, node, name, outer):
        self.node, self.name, self.outer = node, name, outer
        self.models, self.solved = {}, {}
        self.nodes = {}         # name -> its link, frame or joint, in this order of preference
        self.prefix = ""

    def full(self, name):
        return self.prefix + name


class Reader:
    def __init__(self, root, report, options):
        self.root, self.report, self.options = root, report, options
        self.robot = Robot("robot", "SDF %s" % root.get("version", "")[:8])
        version = re.match(r"1\.(\d+)", root.get("version", ""))
        self.minor = int(version.group(1)[:3]) if version else 11
        self.links, self.zero, self.frames_of = {}, {}, {}
        self.joints = {}        # full name -> list of Joint
        self.edges, self.gearboxes, self.mimics = [], [], []
        self.on_world = set()

    # ---- reading ----

    def read(self):
        worlds = self.root.all("world")
        for world in worlds:
            self.world(world)
        holders = worlds or [self.root]
        models = [m for h in holders for m in h.all("model")]
        for holder in holders:
            self.list_includes(holder)
        if not models:
            self.report.error(self.root, "there is no <model>", "import a file with a model")
            self.report.stop_on_errors()
        self.many = len(models) > 1
        for node in models:
            self.model(node, None)
        self.report.stop_on_errors()
        self.connect()
        self.report.stop_on_errors()
        for scope, node in self.gearboxes:
            self.gearbox(scope, node)
        for item in self.mimics:
            self.mimic(*item)
        return self.robot

    def list_includes(self, node):
        for include in node.all("include"):
            uri = include.text_of("uri", "?")
            include.skip()
            self.report.drop(include, "<include> of `%s`, another file: expand it with `gz sdf -p "
                             "model.sdf` and import the result" % uri)

    def world(self, world):
        physics = world.first("physics")
        gravity = world.first("gravity")
        if gravity is None and physics is not None and self.minor < 6:
            gravity = physics.first("gravity")
        self.robot.gravity = (0.0, 0.0, -9.8)
        if gravity is not None:
            self.robot.gravity = numbers(gravity.text, 3, gravity, "gravity", self.report)
        step = physics.text_of("max_step_size") if physics is not None else None
        if step:
            self.robot.dt = number(step, physics, "max_step_size", self.report)
        for child in world.all("joint", "frame"):
            child.skip()
            self.report.drop(child, "<%s> of the world" % child.tag)

    def flag(self, node, tag):
        return (node.text_of(tag) or "0").lower() in ("1", "true")

    def model(self, node, outer):
        scope = Scope(node, node.get("name", "model"), outer)
        if outer is None:
            scope.prefix = scope.name + "::" if self.many else ""
        else:
            scope.prefix = outer.full(scope.name) + "::"
            outer.models[scope.name] = scope
        if self.flag(node, "static"):
            node.skip()
            self.report.note(node, "model `%s` is static: it does not move and is left out"
                             % scope.name)
            return
        self.list_includes(node)
        node.get("canonical_link")
        for tag in ("joint", "frame", "link"):
            names = set()
            for child in node.all(tag):
                name = child.get("name", "")
                if name in names:
                    self.report.error(child, "a second %s `%s` in model `%s`" % (
                        tag, name, scope.name), "names are unique")
                names.add(name)
                scope.nodes[name] = child
        for child in node.all("model"):
            self.model(child, scope)
        for child in node.all("link"):
            self.link(scope, child)
        for child in node.all("joint"):
            self.joint(scope, child)
        for child in node.all("plugin"):
            self.plugin(scope, child)
        for child in node.all("frame"):
            self.frame(scope, child.get("name", ""), child)

    def pose(self, node, what):
        """The pose of a node as it is written, and the name of the frame it is relative to."""
        tag = node.first("pose")
        if tag is None:
            return Pose(), ""
        relative = tag.get("relative_to") or tag.get("frame") or ""
        return self.pose_text(tag, what), relative

    def pose_text(self, tag, what):
        quat = tag.get("rotation_format") == "quat_xyzw"
        degrees = (tag.get("degrees") or "false") in ("1", "true")
        values = numbers(tag.text, None, tag, "pose of " + what, self.report)
        if not values:
            return Pose()
        if len(values) != (7 if quat else 6):
            self.report.error(tag, "pose of %s has %d numbers" % (what, len(values)),
                              "write x y z roll pitch yaw")
            return Pose()
        if quat:
            return Pose(values[:3], normalize((values[6],) + values[3:6]))
        angles = [math.radians(a) for a in values[3:]] if degrees else values[3:]
        return Pose(values[:3], of_rpy(*angles))

    # ---- frames ----

    def model_pose(self, scope):
        """In the world; the models outside included."""
        if "" not in scope.solved:
            pose, relative = self.pose(scope.node, "model `%s`" % scope.name)
            placement = scope.node.get("placement_frame")
            scope.solved[""] = Pose()
            if placement:
                pose = pose * self.frame(scope, placement, scope.node).inverse()
            scope.solved.clear()
            if scope.outer:
                base = self.frame(scope.outer, relative, scope.node) if relative \
                    else self.model_pose(scope.outer)
                pose = base * pose
            scope.solved[""] = pose
        return scope.solved[""]

    def joint_frame(self, scope, node):
        """Of a joint, whose name a link may have too."""
        pose, relative = self.pose(node, "joint `%s`" % node.get("name"))
        return self.frame(scope, relative or node.text_of("child") or "", node) * pose

    def frame(self, scope, name, asker, depth=0):
        """The pose of a frame in the world at the zero position."""
        if name in ("", "__model__"):
            return self.model_pose(scope)
        if name == "world":
            return Pose()
        if name in scope.solved:
            return scope.solved[name]
        if "::" in name and depth < 200:
            first, _, rest = name.partition("::")
            if first in scope.models:
                return self.frame(scope.models[first], rest, asker, depth + 1)
            if first == scope.name:
                return self.frame(scope, rest, asker, depth + 1)
        if name in scope.models:
            return self.model_pose(scope.models[name])
        node = scope.nodes.get(name)
        if node is None or depth > 200:
            why = "poses refer to each other in a circle at" if node is not None \
                else "there is no frame"
            self.report.error(asker, "%s `%s`%s" % (why, name, nearest(name, scope.nodes)
                                                    if node is None else ""), "correct the name")
            return Pose()
        pose, relative = self.pose(node, "`%s`" % name)
        if not relative and node.tag == "joint":
            relative = node.text_of("child") or ""
        elif not relative and node.tag == "frame":
            relative = node.get("attached_to") or ""
        found = self.frame(scope, relative, node, depth + 1) * pose
        scope.solved[name] = found
        return found

    def carrier(self, scope, name, asker, depth=0):
        """The link that a frame name stands for; None for the world."""
        if name == "world":
            return None
        if "::" in name and depth < 200:
            first, _, rest = name.partition("::")
            if first in scope.models:
                return self.carrier(scope.models[first], rest, asker, depth + 1)
            if first == scope.name:
                return self.carrier(scope, rest, asker, depth + 1)
        if name in scope.models or name == "__model__":
            inner = scope.models.get(name, scope)
            return self.canonical(inner, asker, depth + 1)
        node = scope.nodes.get(name)
        if node is not None and node.tag == "link":
            return self.links.get(scope.full(name))
        if node is not None and node.tag == "frame" and depth < 200:
            node.seen = True
            attached = node.get("attached_to")
            if attached:
                return self.carrier(scope, attached, asker, depth + 1)
            return self.canonical(scope, asker, depth + 1)
        if node is not None and node.tag == "joint" and depth < 200:
            return self.carrier(scope, node.text_of("child") or "", asker, depth + 1)
        why = "there is no link" if node is None else "frames refer to each other in a circle at"
        self.report.error(asker, "joint `%s`: %s `%s`%s" % (
            asker.get("name"), why, name, nearest(name, scope.nodes) if node is None else ""),
            "correct the name")
        return None

    def canonical(self, scope, asker, depth):
        """The link that a model's own frame moves with."""
        name = scope.node.get("canonical_link")
        if name and depth < 200:
            return self.carrier(scope, name, asker, depth + 1)
        links = scope.node.all("link")
        if links:
            return self.links.get(scope.full(links[0].get("name", "")))
        inner = list(scope.models.values())
        return self.canonical(inner[0], asker, depth + 1) if inner else None

    # ---- links and joints ----

    def link(self, scope, node):
        name = scope.full(node.get("name", ""))
        link = self.links[name] = Link(name, node.line)
        self.robot.links.append(link)
        self.zero[link] = self.frame(scope, node.get("name", ""), node)
        inertial = node.first("inertial")
        if self.flag_off(node, "gravity"):
            self.report.drop(node, "link `%s` without gravity: all bodies have it" % name)
        if self.flag(node, "kinematic"):
            self.report.drop(node, "link `%s` is kinematic" % name)
        if inertial is None:
            link.mass, link.inertia = 1.0, (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
            self.report.note(node, "link `%s` has no <inertial>: 1 kg and 1 kg m^2, as SDF says"
                             % name)
            return
        self.inertial(link, inertial)

    def flag_off(self, node, tag):
        return (node.text_of(tag) or "1").lower() in ("0", "false")

    def inertial(self, link, node):
        what = "link `%s`" % link.name
        if (node.get("auto") or "false").lower() in ("1", "true"):
            self.report.error(node, "%s: its inertia is to be computed from its shapes" % what,
                              "write <mass> and <inertia>; `gz sdf --inertial-stats` prints them")
        pose, _ = self.pose(node, what)
        mass, tensor = node.text_of("mass"), node.first("inertia")
        if mass is None:
            self.report.note(node, "%s: no <mass>: 1 kg, as SDF says" % what)
        if tensor is None:
            self.report.note(node, "%s: no <inertia>: 1 kg m^2, as SDF says" % what)
        link.mass = Num("1") if mass is None else number(mass, node, "mass of " + what, self.report)
        link.com = pose.position
        defaults = ("1", "1", "1", "0", "0", "0")
        values = [(tensor.text_of(k) if tensor is not None else None) or d
                  for k, d in zip(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), defaults)]
        link.inertia = turned(tuple(number(v, node, "inertia of " + what, self.report)
                                    for v in values), pose.rotation)
        if not is_identity(pose.rotation):
            self.report.note(node, "%s: its inertia was turned into the axes of the link" % what)

    def joint(self, scope, node):
        name, kind = node.get("name", ""), node.get("type", "")
        if kind not in JOINTS:
            self.report.error(node, "joint `%s`: unknown type `%s`" % (name, kind),
                              "one of " + ", ".join(JOINTS))
            return
        parent_name, child_name = node.text_of("parent", ""), node.text_of("child", "")
        parent = self.carrier(scope, parent_name, node)
        child = self.carrier(scope, child_name, node)
        if kind == "gearbox":
            self.gearboxes.append((scope, node))
            return
        if child is None and child_name != "world":
            return
        if parent is None and parent_name != "world":
            return
        if parent is child:
            self.report.error(node, "joint `%s` joins %s to itself" % (
                name, "link `%s`" % child.name if child else "the world"),
                "name another link as its child")
            return
        place = self.joint_frame(scope, node)
        frame = child if child is not None else parent
        made = self.make(scope, node, name, kind, self.zero[frame], place, parent_name)
        self.joints[scope.full(name)] = made
        if child is None:   # the world as child: the same joint seen from the world
            made = [reversed_joint(j, Pose(), Pose()) for j in reversed(made)]
            self.edges.append((None, parent, made, node, scope.full(name), False))
        else:
            self.edges.append((parent, child, made, node, scope.full(name), True))

    def make(self, scope, node, name, kind, link_zero, place, parent_name):
        """The joints of an SDF joint, in the axes of the child link."""
        raw, relative = self.pose(node, "joint `%s`" % name)
        child_node = scope.nodes.get(node.text_of("child") or "")
        anchor = raw.position if not relative and child_node is not None \
            and child_node.tag == "link" else (link_zero.inverse() * place).position
        full, line = scope.full(name), node.line
        kinds = {"fixed": [], "ball": ["spherical"], "screw": ["helical"],
                 "prismatic": ["prismatic"], "universal": ["revolute"] * 2,
                 "revolute2": ["revolute"] * 2}.get(kind, ["revolute"])
        made = []
        for tag, each in zip(("axis", "axis2"), kinds):
            joint = Joint(full if len(kinds) == 1 else "%s_%s" % (full, tag), each, anchor=anchor,
                          line=line)
            axis = node.first(tag)
            if each != "spherical":
                joint.axis = self.axis(scope, axis, link_zero, place, joint, parent_name)
            if axis is not None:
                self.axis_values(axis, joint, kind)
                for mimic in axis.all("mimic"):
                    self.mimics.append((scope, joint, mimic))
            made.append(joint)
        if made:   # Drake's mimic: of the joint, all in attributes
            self.mimics += [(scope, made[0], m) for m in node.all("drake:mimic")]
        if kind in ("fixed", "ball"):
            for tag in node.all("axis", "axis2"):
                if kind == "fixed":
                    if tag.all("mimic"):
                        self.report.note(tag, "mimic on the fixed joint `%s`: left out" % full)
                    tag.skip()
                else:
                    xyz = tag.first("xyz")
                    if xyz is not None:
                        xyz.skip()
                    tag.text_of("use_parent_model_frame")
        if kind == "screw":
            made[0].pitch = self.pitch(node, full)
        return made

    def axis(self, scope, node, link_zero, place, joint, parent_name):
        xyz = node.first("xyz") if node is not None else None
        if xyz is None:
            self.report.note(joint.line, "joint `%s` has no axis: z, as SDF says" % joint.name)
            return place_turn(link_zero, place, (0.0, 0.0, 1.0))
        axis = numbers(xyz.text, 3, xyz, "axis of joint `%s`" % joint.name, self.report)
        if length(axis) < 1e-9:
            self.report.error(xyz, "joint `%s`: its axis has no length" % joint.name,
                              "give a direction")
            return (0.0, 0.0, 1.0)
        return place_turn(link_zero, self.axis_frame(scope, node, xyz, place), axis)

    def axis_frame(self, scope, node, xyz, place):
        """The frame of the axis of a joint that has its own frame at `place`; before SDF 1.5 that
        of the model."""
        expressed, of_model = xyz.get("expressed_in"), self.flag(node, "use_parent_model_frame")
        if of_model or self.minor < 5:
            return self.model_pose(scope)
        return self.frame(scope, expressed, xyz) if expressed else place

    def axis_values(self, node, joint, kind):
        limit, dynamics = node.first("limit"), node.first("dynamics")
        what = " of joint `%s`" % joint.name
        if limit is not None:
            low, high = limit.text_of("lower"), limit.text_of("upper")
            joint.lower = self.bound(low, limit, "lower" + what) if kind != "continuous" else None
            joint.upper = self.bound(high, limit, "upper" + what) if kind != "continuous" else None
            effort, velocity = limit.text_of("effort"), limit.text_of("velocity")
            joint.effort = self.bound(effort, limit, "effort" + what)
            joint.velocity = self.bound(velocity, limit, "velocity" + what)
            if joint.effort is not None and joint.effort <= 0:
                if joint.effort == 0:
                    self.report.note(limit, "joint `%s`: effort 0: no bound" % joint.name)
                joint.effort = None
            if joint.velocity is not None and joint.velocity <= 0:
                joint.velocity = None
            for tag in limit.all("stiffness", "dissipation"):
                tag.skip()
                self.report.drop(tag, "<%s> of the stop%s" % (tag.tag, what))
        if dynamics is not None:
            for field, tag in (("damping", "damping"), ("friction", "friction"),
                               ("stiffness", "spring_stiffness"),
                               ("springref", "spring_reference")):
                text = dynamics.text_of(tag)
                if text is not None:
                    setattr(joint, field, number(text, dynamics, tag + what, self.report))
            if joint.kind == "spherical" and joint.stiffness:
                joint.stiffness = 0.0
                self.report.drop(dynamics, "spring" + what + ": a ball has no single coordinate")
        if joint.kind == "spherical":
            joint.lower = joint.upper = joint.effort = None
        if joint.damping < 0:
            self.report.drop(node, "negative damping" + what)
            joint.damping = 0.0

    def bound(self, text, node, what):
        if text is None:
            return None
        value = number(text, node, what, self.report, unbounded=True)
        return None if abs(value) >= 1e12 else value

    def pitch(self, node, name):
        """[m/rad], right-handed positive."""
        new, old = node.text_of("screw_thread_pitch"), node.text_of("thread_pitch")
        if new is not None:
            if old is not None:
                self.report.note(node, "joint `%s`: screw_thread_pitch counts, thread_pitch does "
                                 "not" % name)
            return number(new, node, "screw_thread_pitch", self.report) / (2 * math.pi)
        if old is not None:
            value = number(old, node, "thread_pitch", self.report)
            if value == 0:
                self.report.error(node, "joint `%s`: thread_pitch 0" % name,
                                  "give rad/m, or a prismatic joint")
                return 0.0
            self.report.note(node, "joint `%s`: thread_pitch is %s rad/m, left-handed positive: "
                             "pitch %.6g m/rad" % (name, old, -1 / value))
            return -1 / value
        self.report.note(node, "joint `%s` has no pitch: 1 m per turn, as SDF says" % name)
        return 1 / (2 * math.pi)

    # ---- the tree ----

    def connect(self):
        """Walks from the roots along the joints; a joint between placed links closes a loop."""
        placed, waiting = {None}, list(self.edges)
        children = {e[1] for e in self.edges if e[5] and e[0] is not None}
        self.grow(placed, waiting)
        for link in [k for k in self.robot.links if k not in children] + self.robot.links:
            if link in placed:
                continue
            self.root_link(link)
            placed.add(link)
            self.grow(placed, waiting)
        self.loops(waiting)
        self.robot.base = "free" if any(j.kind == "free" for j in self.robot.joints()) \
            else "fixed to the world"

    def root_link(self, link):
        link.rel = self.zero[link]
        if self.options.base == "fixed":
            return
        joint = Joint(link.name + "_free", "free", line=link.line)
        joint.start, link.rel = link.rel, Pose()
        link.joints = [joint]

    def grow(self, placed, waiting):
        """Attaches links, first along the direction of the joints, else against it."""
        while True:
            edge = next((e for e in waiting if e[0] in placed and e[1] not in placed), None)
            against = edge is None
            if against:
                edge = next((e for e in waiting if e[1] in placed and e[0] not in placed), None)
            if edge is None:
                return
            waiting.remove(edge)
            parent, child, made, node, name, _ = edge
            if against:
                self.report.note(node, "joint `%s` is taken from its child to its parent: its "
                                 "coordinate keeps its sign" % name)
                made[:] = [reversed_joint(j, self.zero[child], self.zero[parent])
                           for j in reversed(made)]
                parent, child = child, parent
            self.attach(parent, child, made)
            placed.add(child)

    def attach(self, parent, child, made):
        child.parent, child.joints = parent, made
        base = self.zero[parent] if parent else Pose()
        child.rel = self.zero[child] if is_plain(base) else base.inverse() * self.zero[child]

    def loops(self, waiting):
        halves = {}
        for edge in waiting:
            if not self.close(edge) and not self.nut(edge):
                halves.setdefault(edge[1], []).append(edge)
        for link, edges in halves.items():
            share = 1.0 / (len(edges) + 1)
            if link is not None:
                link.mass *= share
                link.inertia = tuple(i * share for i in link.inertia)
            for parent, _, made, node, name, _ in edges:
                self.half(link, parent, made, node, name, share)

    def close(self, edge):
        """A loop joint without forces of its own as a closure; False if it needs a coordinate."""
        parent, child, made, node, name, _ = edge
        kinds = [j.kind for j in made]
        if child is None or kinds not in ([], ["revolute"], ["spherical"]):
            return False
        own = any(has_forces(j) or any(m[1] is j for m in self.mimics) for j in made)
        if own or self.is_leader(name):
            return False
        kind = {0: "weld"}.get(len(kinds)) or ("hinge" if kinds[0] == "revolute" else "point")
        anchor = made[0].anchor if made else (0.0, 0.0, 0.0)
        base = self.zero[parent] if parent else Pose()
        across = base.inverse() * self.zero[child]
        closure = Closure(name, kind, child, parent, anchor, across.at(anchor), node.line)
        closure.rotation = across.rotation
        if kind == "hinge":
            closure.axis_a, closure.axis_b = made[0].axis, across.turn(made[0].axis)
        self.robot.closures.append(closure)
        self.report.note(node, "joint `%s` closes a loop: a closure (%s)" % (name, kind))
        return True

    def nut(self, edge):
        """A screw in a loop whose two links only turn about its axis and slide along it: then its
        law is a coupling of those joints."""
        parent, child, made, node, name, _ = edge
        if len(made) != 1 or made[0].kind != "helical" or child is None or parent is None \
                or has_forces(made[0]):
            return False
        axis, anchor = self.line_of(child, made[0])
        terms = []
        for link, sign in self.way(parent, child):
            for joint in link.joints:
                own, at = self.line_of(link, joint)
                along = dot(own, axis)
                offset = cross(sub(at, anchor), axis)
                if abs(along) < 1 - 1e-6 or joint.kind not in ("revolute", "prismatic") \
                        or joint.kind == "revolute" and length(offset) > 1e-6:
                    return False
                way = sign if along > 0 else -sign
                terms.append((joint, float(way) if joint.kind == "prismatic"
                              else -way * made[0].pitch))
        if len(terms) < 2:
            return False
        self.robot.couplings.append(Coupling("screw " + name, terms, 0.0, node.line,
                                             "screw `%s`" % name))
        self.report.note(node, "screw `%s` closes a loop of joints along its axis: a coupling"
                         % name)
        return True

    def line_of(self, link, joint):
        """Direction and anchor of a joint in the world at the zero position."""
        return self.zero[link].turn(unit(joint.axis)), self.zero[link].at(joint.anchor)

    def way(self, start, end):
        """Links whose joints lie between two links: (link, 1 towards the end, -1 back)."""
        path = []
        for link, sign in ((end, 1), (start, -1)):
            while link is not None:
                path.append((link, sign))
                link = link.parent
        common = {k for k, s in path if s == 1} & {k for k, s in path if s == -1}
        return [(k, s) for k, s in path if k not in common]

    def is_leader(self, name):
        return any((m[2].get("joint") or m[2].text_of("joint") or "") == name.split("::")[-1]
                   for m in self.mimics)

    def half(self, link, parent, made, node, name, share):
        """A loop joint with a coordinate: it carries a share of the child's mass, welded on."""
        copy = Link("%s (share of %s)" % (link.name if link else "world", name), node.line)
        self.zero[copy] = self.zero[link] if link else Pose()
        if link:
            copy.mass, copy.com = link.mass, link.com
            copy.inertia = link.inertia
        self.robot.links.append(copy)
        self.attach(parent, copy, made)
        point = copy.com
        self.robot.closures.append(Closure(name, "weld", copy, link, point, point, node.line))
        self.report.note(node, "joint `%s` closes a loop and has a coordinate of its own: it "
                         "carries %.3g of its child's mass, welded to the rest" % (name, share))

    # ---- couplings ----

    def plugin(self, scope, node):
        """roboticsgroup's MimicJointPlugin as in URDF's <gazebo>; other plugins are named."""
        name = node.text_of("mimicJoint")
        made = self.joints.get(scope.full(name or ""))
        node.skip()
        if name is None:
            self.report.note(node, "<plugin> `%s`: what it does to the motion is not converted"
                             % node.get("filename", node.get("name", "")))
        elif not made:
            self.report.drop(node, "<mimicJoint> `%s` of a plugin: it is no joint that moves"
                             % name)
        elif any(m[1] is made[0] for m in self.mimics):
            self.report.drop(node, "<mimicJoint> `%s` of a plugin: the joint has a <mimic>, which "
                             "counts: correct one of them" % name)
        else:
            self.report.note(node, "joint `%s` follows `%s` by a <mimicJoint> of a plugin: a hard "
                             "coupling" % (name, node.text_of("joint", "")))
            self.mimics.append((scope, made[0], node))

    def lookup(self, scope, name):
        while scope is not None:
            found = self.joints.get(scope.full(name))
            if found is not None:
                return found
            scope = scope.outer
        return self.joints.get(name)

    def mimic(self, scope, follower, node):
        leader_name = node.get("joint") or node.text_of("joint") or ""
        which = 1 if node.get("axis", "axis") == "axis2" else 0
        made = self.lookup(scope, leader_name)
        ratio, offset = self.law(follower, node)
        if made is None:
            known = [n[len(scope.prefix):] for n in self.joints if n.startswith(scope.prefix)]
            self.report.error(node, "joint `%s`: its leader `%s` does not exist%s" % (
                follower.name, leader_name, nearest(leader_name, known, follower.name)),
                "correct the name")
        elif not made:
            follower.locked = float(offset)
            self.report.note(node, "joint `%s` follows the fixed joint `%s`: locked at %g"
                             % (follower.name, leader_name, offset))
        elif which >= len(made):
            self.report.error(node, "joint `%s`: its leader `%s` has no %s" % (
                follower.name, leader_name, node.get("axis", "axis")), "name its other axis")
        elif made[which] is follower:
            self.report.error(node, "joint `%s` mimics itself" % follower.name,
                              "name another leader")
        elif "spherical" in (made[which].kind, follower.kind):
            self.report.error(node, "joint `%s`: a ball joint in a mimic" % follower.name,
                              "only joints with one coordinate can mimic")
        else:
            c = Coupling("mimic of " + follower.name, [(follower, Num("1")),
                                                       (made[which], -ratio)], -offset,
                         node.line, "mimic of joint `%s`" % follower.name)
            c.mimic = (ratio, offset)
            self.robot.add_mimic(c, self.report)

    def law(self, follower, node):
        """Multiplier and offset, with the reference in it: of elements, or Drake's attributes."""
        ratio, offset, reference = (
            number(node.text_of(tag) or node.get(tag) or default, node, tag, self.report)
            for tag, default in (("multiplier", "1"), ("offset", "0"), ("reference", "0")))
        if reference:
            offset = offset - ratio * reference
            self.report.note(node, "joint `%s`: the reference %s of its mimic is in the offset"
                             % (follower.name, reference.text))
        return ratio, offset

    def gearbox(self, scope, node):
        """theta_2 + ratio theta_1 = 0, angles of the child and of the parent from the reference."""
        name = scope.full(node.get("name", ""))
        parent = self.carrier(scope, node.text_of("parent", ""), node)
        child = self.carrier(scope, node.text_of("child", ""), node)
        reference = self.carrier(scope, node.text_of("gearbox_reference_body", ""), node)
        ratio = number(node.text_of("gearbox_ratio") or "1", node, "gearbox_ratio", self.report)
        place, sum_of = self.joint_frame(scope, node), {}
        for link, tag, factor in ((parent, "axis", ratio), (child, "axis2", Num("1"))):
            axis = self.gear_axis(scope, node, tag, place)
            if axis is None:
                return
            chain = self.chain(reference, link, axis, node, name)
            if chain is None:
                return
            for joint, sign in chain:
                sum_of[joint] = sum_of[joint] + sign * factor if joint in sum_of else \
                    factor if sign > 0 else -factor
        terms = [(j, c) for j, c in sum_of.items() if c != 0]
        if not terms:
            self.report.error(node, "gearbox `%s` turns no joint" % name,
                              "joints must carry its parent and child")
            return
        terms.sort(key=lambda t: abs(t[1]) == abs(ratio) and abs(ratio) != 1)
        self.robot.couplings.append(Coupling("gearbox " + name, terms, 0.0, node.line,
                                             "gearbox `%s`" % name))

    def gear_axis(self, scope, node, tag, place):
        """In world axes."""
        axis = node.first(tag)
        xyz = axis.first("xyz") if axis is not None else None
        if xyz is None:
            return place.turn((0.0, 0.0, 1.0))
        for extra in axis.all("limit", "dynamics"):
            extra.skip()
        v = numbers(xyz.text, 3, xyz, "axis of the gearbox", self.report)
        frame = self.axis_frame(scope, axis, xyz, place)
        return unit(frame.turn(v)) if length(v) > 1e-9 else None

    def chain(self, reference, link, axis, node, name):
        """Joints from the reference to the link that turn about the axis, with their signs."""
        found = []
        for each, sign in self.way(reference, link):
            for joint in each.joints:
                along = dot(self.line_of(each, joint)[0], axis)
                if joint.kind != "revolute" or abs(along) < 1 - 1e-5:
                    self.report.error(node, "gearbox `%s`: joint `%s` on its way does not turn "
                                      "about its axis" % (name, joint.name),
                                      "its angle is then no sum of joint angles")
                    return None
                found.append((joint, sign if along > 0 else -sign))
        return found


def has_forces(joint):
    return joint.lower is not None or joint.upper is not None or joint.damping \
        or joint.friction or joint.stiffness


def is_plain(pose):
    return is_identity(pose.rotation) and not any(pose.position)


def place_turn(link_zero, frame, axis):
    """A direction of a frame in the axes of a link."""
    if link_zero.rotation == frame.rotation:
        return axis
    return link_zero.turn_back(frame.turn(axis))


def reversed_joint(joint, child_zero, parent_zero):
    """The same coordinate with the parent as the link that moves."""
    across = parent_zero.inverse() * child_zero
    joint.axis = scale(across.turn(joint.axis), -1)
    joint.anchor = across.at(joint.anchor)
    return joint


def read(root, report, options):
    return Reader(root, report, options).read()
