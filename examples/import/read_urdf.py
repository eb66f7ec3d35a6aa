"""URDF. Rules that surprise: an axis that is not given is x; limits that are not given are 0 in
the format's text and forgotten in practice, so they are an error here; a mimic joint may stand
before its leader, follow another follower, or hang on a fixed joint."""

from robot_math import Num, Pose, is_identity, length, normalize, of_rpy, turned, unit
from robot_model import Coupling, Joint, Link, Robot
from robot_xml import XACRO_REMEDY, nearest, number, numbers

TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
DIFFERENTIALS = ("/WristTransmission", "/DifferentialTransmission")
HARMLESS = {"visual", "collision", "material", "gazebo", "safety_controller", "calibration",
            "ros2_control", "mujoco", "sensor", "contact", "self_collision_checking", "group",
            "disable_collisions", "drake:collision_filter_group", "verbose", "version",
            "kinematic", "surface", "projection", "joint_properties", "compliance"}

# What <gazebo> says about the motion, each with the values that change nothing.
ON, OFF, NONE = ("true", "1"), ("false", "0"), ("0", "0.0")
GAZEBO = {"turnGravityOff": OFF, "gravity": ON, "kinematic": OFF, "joint": (), "link": (),
          "springStiffness": NONE, "springReference": NONE,
          "dampingFactor": NONE, "stopKp": (), "stopKd": (), "stopCfm": (), "stopErp": (),
          "initial_joint_position": NONE}


def harmless(node, attribute):
    if attribute is not None:
        return attribute in ("version", "verbose", "type") and node.tag in ("robot", "link")
    return node.tag in HARMLESS


class Reader:
    def __init__(self, root, report, options):
        self.root, self.report, self.options = root, report, options
        self.robot = Robot(root.get("name", "robot"), "URDF")
        self.links, self.joints, self.kinds = {}, {}, {}
        self.laws = {}   # follower -> (leader, multiplier, offset), names of joints

    def read(self):
        self.refuse_xacro()
        for node in self.root.all("link"):
            self.link(node)
        nodes = self.root.all("joint")
        for node in nodes:
            self.joint(node)
        self.roots()
        for node in nodes:
            self.mimic(node)
        for node in self.root.all("transmission"):
            self.transmission(node)
        for node in self.root.children:
            if node.tag == "gazebo":
                self.gazebo(node)
        return self.robot

    def refuse_xacro(self):
        harmless_tags = ("xacro:property", "xacro:arg")
        for node in self.root.walk():
            if node.tag.startswith("xacro:"):
                if node.tag not in harmless_tags:
                    self.report.error(node, "<%s> is not expanded" % node.tag, XACRO_REMEDY)
                    self.report.stop_on_errors()
                node.skip()
            for value in node.attributes.values():
                if "${" in value or "$(arg" in value:
                    self.report.error(node, "`%s` is not expanded" % value[:40], XACRO_REMEDY)
                    self.report.stop_on_errors()

    def vector(self, node, name, default, what):
        text = node.get(name) if node is not None else None
        return default if text is None else numbers(text, 3, node, what, self.report)

    def value(self, node, name, what, default=None):
        text = node.get(name) if node is not None else None
        return default if text is None else number(text, node, what, self.report)

    def origin(self, node, what):
        origin = node.first("origin")
        if origin is None:
            return Pose()
        zero = (Num("0"),) * 3
        rpy = self.vector(origin, "rpy", zero, what + ", rpy")
        xyz, quat = self.vector(origin, "xyz", zero, what + ", xyz"), origin.get("quat_xyzw")
        if quat is None:
            return Pose(xyz, of_rpy(*rpy))
        x, y, z, w = numbers(quat, 4, origin, what + ", quat_xyzw", self.report)
        return Pose(xyz, normalize((w, x, y, z)))

    def link(self, node):
        name = node.get("name", "")
        if name in self.links:
            self.report.error(node, "a second link `%s`" % name, "names of links are unique")
            return
        link = self.links[name] = Link(name, node.line)
        self.robot.links.append(link)
        for contact in node.all("contact"):   # Bullet's
            contact.skip()
            for part in contact.all("inertia_scaling"):
                self.report.drop(part, "inertia_scaling %s of link `%s`"
                                 % (part.get("value", ""), name))
        inertial = node.first("inertial")
        if inertial is None:
            return
        what = "inertial of link `%s`" % name
        pose = self.origin(inertial, what)
        link.mass = self.value(inertial.first("mass"), "value", what + ", mass", Num("0"))
        link.com = pose.position
        tensor = inertial.first("inertia")
        if tensor is not None:
            link.inertia = turned(tuple(self.value(tensor, k, what + ", " + k, Num("0")) for k in (
                "ixx", "iyy", "izz", "ixy", "ixz", "iyz")), pose.rotation)
            self.other_half(tensor, what)
        if not is_identity(pose.rotation):
            self.report.note(inertial, "link `%s`: its inertia was turned into the axes of the "
                             "link" % name)

    def other_half(self, tensor, what):
        """Products of inertia that some exporters write twice."""
        for again, counts in (("iyx", "ixy"), ("izx", "ixz"), ("izy", "iyz")):
            value = self.value(tensor, again, what + ", " + again, Num("0"))
            if value and value != self.value(tensor, counts, what + ", " + counts, Num("0")):
                self.report.note(tensor, "%s: %s differs from %s, which counts"
                                 % (what, again, counts))

    def joint(self, node):
        name, kind = node.get("name", ""), node.get("type", "")
        if kind not in TYPES:
            self.report.error(node, "joint `%s`: unknown type `%s`" % (name, kind),
                              "one of " + ", ".join(TYPES))
            self.report.spoiled = True
            return
        if name in self.kinds:
            self.report.error(node, "a second joint `%s`" % name, "names of joints are unique")
            return
        self.kinds[name] = kind
        child = self.end(node, "child", name)
        parent = self.end(node, "parent", name)
        if child is None or parent is None:
            return
        if child.parent is not None:
            self.report.error(node, "joint `%s`: link `%s` already has a parent joint"
                              % (name, child.name), "URDF is a tree: write the loop as SDF or MJCF")
            return
        child.parent, child.rel = parent, self.origin(node, "origin of joint `%s`" % name)
        self.axis_and_limits(node, name, kind, child)

    def end(self, node, which, name):
        tag = node.first(which)
        link = tag.get("link", "") if tag is not None else ""
        if link in self.links:
            return self.links[link]
        if which == "parent" and link:
            self.report.note(node, "joint `%s`: its parent link `%s` is not in the file: a frame "
                             "on the world" % (name, link))
            made = self.links[link] = Link(link, node.line)
            self.robot.links.append(made)
            return made
        self.report.error(node, "joint `%s`: its %s link `%s` does not exist%s"
                          % (name, which, link, nearest(link, self.links)), "correct the name")
        self.report.spoiled = True
        return None

    def axis_and_limits(self, node, name, kind, child):
        tag = node.first("axis")
        axis = self.vector(tag, "xyz", None, "axis of joint `%s`" % name)
        limit, dynamics = node.first("limit"), node.first("dynamics")
        if kind == "fixed":
            for other in (limit, dynamics):
                if other is not None:
                    other.skip()
            self.joints[name] = None
            return
        if axis is None and kind != "floating":
            axis = (Num("1"), Num("0"), Num("0"))
            self.report.note(node, "joint `%s` has no axis: x, as URDF says" % name)
        if kind == "floating":
            made = [Joint(name, "free", line=node.line)]
        elif kind == "planar":
            made = self.planar(name, unit(axis) if any(axis) else (0.0, 0.0, 1.0), node)
        else:
            made = [Joint(name, "prismatic" if kind == "prismatic" else "revolute", axis,
                          line=node.line)]
            self.check_axis(node, name, made[0])
            self.limits(node, limit, made[0], kind)
        for joint in made:
            joint.damping = self.value(dynamics, "damping", "damping", joint.damping)
            joint.friction = self.value(dynamics, "friction", "friction", joint.friction)
        child.joints = made
        self.joints[name] = made[0]

    def check_axis(self, node, name, joint):
        size = length(joint.axis)
        if size < 1e-9:
            self.report.error(node, "joint `%s`: its axis has no length" % name,
                              "give a direction")
            joint.axis = (0.0, 0.0, 1.0)
        elif abs(size - 1) > 1e-3:
            self.report.note(node, "joint `%s`: its axis has the length %.4g; only its direction "
                             "counts" % (name, size))

    def planar(self, name, axis, node):
        side = (0.0, 1.0, 0.0) if abs(axis[0]) > 0.7 else (1.0, 0.0, 0.0)
        across = tuple(a - b for a, b in zip(side, (x * sum(
            p * r for p, r in zip(side, axis)) for x in axis)))
        third = (axis[1] * across[2] - axis[2] * across[1],
                 axis[2] * across[0] - axis[0] * across[2],
                 axis[0] * across[1] - axis[1] * across[0])
        self.report.note(node, "planar joint `%s`: two prismatic joints and a revolute one" % name)
        return [Joint(name + "_x", "prismatic", across, line=node.line),
                Joint(name + "_y", "prismatic", third, line=node.line),
                Joint(name, "revolute", axis, line=node.line)]

    def limits(self, node, limit, joint, kind):
        name = joint.name
        has = limit is not None and limit.has("lower") and limit.has("upper")
        lower = self.value(limit, "lower", "lower of joint `%s`" % name)
        upper = self.value(limit, "upper", "upper of joint `%s`" % name)
        if kind != "continuous" and not has and lower is None and upper is None:
            if self.options.unlimited:
                self.report.note(node, "joint `%s` has no limits (--unlimited)" % name)
            else:
                self.report.error(node, "%s joint `%s` has no lower and upper limit"
                                  % (kind, name), "URDF requires them (lower = upper = 0 would "
                                  "lock it); --unlimited lets such joints turn without limit")
        elif kind == "continuous" and (lower or upper):
            self.report.note(node, "joint `%s` is continuous: its limits [%s, %s] do not count"
                             % (name, lower, upper))
        elif kind != "continuous":
            joint.lower = Num("0") if lower is None else lower
            joint.upper = Num("0") if upper is None else upper
        joint.effort = self.value(limit, "effort", "effort of joint `%s`" % name)
        joint.velocity = self.value(limit, "velocity", "velocity of joint `%s`" % name)
        if joint.effort is not None and joint.effort >= 1000:
            self.report.note(node, "joint `%s`: effort %s, perhaps a placeholder; kept"
                             % (name, joint.effort.text))
        if joint.effort is not None and joint.effort <= 0:
            self.report.note(node, "joint `%s`: effort %s: no bound" % (name, joint.effort.text))
            joint.effort = None

    def roots(self):
        roots = [k for k in self.robot.links if k.parent is None]
        free = self.options.base == "free"
        if len(roots) > 1:
            self.report.note(roots[1].line, "%d root links (%s): each stands on the world" % (
                len(roots), ", ".join("`%s`" % k.name for k in roots[:6])))
        for link in roots:
            if free:
                joint = Joint(link.name + "_free", "free", line=link.line)
                link.joints.insert(0, joint)
        self.robot.base = "free" if free else "fixed to the world"

    def mimic(self, node):
        mimic = node.first("mimic")
        name = node.get("name", "")
        if mimic is None or name not in self.kinds:
            return
        leader = mimic.get("joint", "")
        ratio = self.value(mimic, "multiplier", "multiplier of joint `%s`" % name, Num("1"))
        offset = self.value(mimic, "offset", "offset of joint `%s`" % name, Num("0"))
        self.follow(name, leader, ratio, offset, mimic)

    def follow(self, name, leader, ratio, offset, mimic):
        """Joint `name` at ratio times the coordinate of joint `leader` + offset."""
        follower = self.joints.get(name)
        self.laws[name] = (leader, ratio, offset)
        if not leader:
            self.report.error(mimic, "a mimic of joint `%s` without a leader" % name,
                              "name it: <mimic joint=...>")
        elif leader not in self.kinds:
            self.report.error(mimic, "joint `%s`: its leader `%s` does not exist%s"
                              % (name, leader, nearest(leader, self.kinds, name)),
                              "correct the name")
        elif leader == name:
            self.report.error(mimic, "joint `%s` mimics itself" % name, "name another leader")
        elif name in self.joints and follower is None:
            self.report.note(mimic, "mimic on the fixed joint `%s`: left out" % name)
        elif leader not in self.joints or name not in self.joints:
            return   # its own error is in the report
        elif self.joints[leader] is None:
            follower.locked = float(offset)
            self.report.note(mimic, "joint `%s` follows the fixed joint `%s`: locked at its "
                             "offset %s" % (name, leader, offset.text))
        elif {self.kinds[name], self.kinds[leader]} & {"floating", "planar"}:
            self.report.error(mimic, "joint `%s`: a floating or planar joint in a mimic" % name,
                              "only joints with one coordinate can mimic")
        else:
            self.couple(name, follower, self.joints[leader], ratio, offset, mimic)

    def couple(self, name, follower, leader, ratio, offset, node):
        coupling = Coupling(name, [(follower, Num("1")), (leader, -ratio)], -offset, node.line,
                            "mimic of joint `%s`" % name)
        coupling.mimic = (ratio, offset)
        self.robot.add_mimic(coupling, self.report)

    def transmission(self, node):
        kind = node.get("type") or node.text_of("type") or ""
        node.skip()
        joints, ratios = [], []
        for part in node.walk():
            if part is node:
                continue
            if "joint" in part.tag.lower() and part.attributes.get("name"):
                joints.append(part.attributes["name"])
            ratio = part.attributes.get("mechanicalReduction") or (
                part.text.strip() if part.tag in ("mechanicalReduction", "mechanical_reduction")
                else "")
            if ratio:
                ratios.append(ratio)
        label = "%s: %s: reduction %s" % (kind.split("/")[-1], ", ".join(joints[:6]) or "no joint",
                                          " ".join(ratios) or "not given")
        if self.options.rotor and self.differential(node, kind):
            return
        simple = len(joints) == 1 and len(ratios) == 1 and "Simple" in kind
        if not simple and ("ifferential" in kind or "Wrist" in kind or "Gripper" in kind
                           or "FourBar" in kind or len(joints) > 1):
            self.report.drop(node, "transmission %s; %s" % (label, advice(kind)))
            return
        joint = self.joints.get(joints[0]) if joints else None
        ratio, rotor = self.of_drake(node)
        if rotor is None and self.options.rotor and ratios:
            ratio, rotor = ratios[0], self.options.rotor
        if joint is not None and rotor is not None:
            n, j = (number(x, node, "rotor", self.report) for x in (ratio, rotor))
            joint.armature = float(n) * float(n) * float(j)
            label += "; armature N^2 J = %g" % joint.armature
        self.robot.rotors.append(label)

    def of_drake(self, node):
        """Gear ratio and rotor inertia that Drake reads in an actuator; the latter may be None."""
        found = {part.tag: part.attributes.get("value", "") for part in node.walk()}
        return found.get("drake:gear_ratio", "1"), found.get("drake:rotor_inertia")

    def gazebo(self, node):
        """What one simulator is told beside the robot: what changes the motion is listed."""
        stack = list(reversed(node.children))
        while stack:
            part = stack.pop()
            value = (part.text.strip() or part.attributes.get("value", "")).lower()
            if part.tag.startswith("joint:") or value not in GAZEBO.get(part.tag, (value,)):
                self.report.drop(part, "<%s> in <gazebo>" % part.tag)
            elif part.tag == "plugin":
                self.mimic_plugin(part)
            elif part.tag != "sensor" and not part.tag.startswith("sensor:"):
                stack += reversed(part.children)

    def mimic_plugin(self, node):
        """roboticsgroup's MimicJointPlugin for Gazebo, and plugins with the same elements: <joint>
        leads, <mimicJoint> = multiplier <joint> + offset, with the defaults 1 and 0. Source: the
        plugin's README. A <mimic> of the same joint counts before it."""
        given = {part.tag: part.text.strip() for part in node.children}
        name, leader = given.get("mimicJoint"), given.get("joint")
        if name is None:
            return
        if name not in self.kinds or leader not in self.kinds:
            self.report.drop(node, "<mimicJoint> `%s` in <gazebo>: its <joint> or itself is no "
                             "joint of the file: write a <mimic>" % name)
            return
        ratio, offset = (number(given.get(field) or default, node, "%s of <mimicJoint> `%s`"
                                % (field, name), self.report)
                         for field, default in (("multiplier", "1"), ("offset", "0")))
        if self.laws.get(name) == (leader, ratio, offset):
            self.report.note(node, "a <mimicJoint> in <gazebo> says what its joint's <mimic> says")
        elif name in self.laws:
            self.report.drop(node, "<mimicJoint> `%s` in <gazebo>: another law than that of the "
                             "joint's <mimic>, which counts: correct one of them" % name)
        else:
            self.report.note(node, "joint `%s` follows `%s` by a <mimicJoint> in <gazebo>: a hard "
                             "coupling" % (name, leader))
            self.follow(name, leader, ratio, offset, node)

    # ---- differentials: motors (a, b), joints (p, q) ----

    def differential(self, node, kind):
        """Two motor bodies and two couplings of three joints; False if it is none or not whole."""
        motors, joints = self.ends_of(node, kind)
        if len(motors) != 2 or len(joints) != 2 or None in [j for j, _, _ in joints]:
            return False
        (p, np, op), (q, nq, oq) = joints
        # motor / reduction = s np (p - op) + t nq (q - oq)
        signs = ((1, -1), (-1, -1)) if "Wrist" in kind else ((1, 1), (1, -1))
        carrier = next(k for k in self.robot.links if p in k.joints).parent
        for (name, reduction), (s, t) in zip(motors, signs):
            motor = self.motor(name, carrier, node)
            a, b = -s * reduction * np, -t * reduction * nq
            self.robot.couplings.append(Coupling(
                "differential " + name, [(motor, Num("1")), (p, a), (q, b)],
                -(a * op + b * oq), node.line, "differential, motor `%s`" % name))
        self.report.note(node, "%s: two motor bodies with the inertia --rotor=%s, and two couplings"
                         % (kind.split("/")[-1], self.options.rotor))
        return True

    def ends_of(self, node, kind):
        """Motors as (name, reduction), joints as (joint, reduction, offset), in their roles."""
        def value(part, name, default="1"):
            text = part.attributes.get(name) or part.text_of(name) or default
            return number(text, part, name, self.report)
        motors, joints = {}, {}
        for part in node.children:
            role = part.text_of("role") or part.tag
            name = part.attributes.get("name", "")
            if role in ("actuator1", "actuator2", "rightActuator", "leftActuator"):
                motors[role] = (name, value(part, "mechanicalReduction"))
            elif role in ("joint1", "joint2", "flexJoint", "rollJoint"):
                joints[role] = (self.joints.get(name), value(part, "mechanicalReduction"),
                                value(part, "offset", "0"))
        if not any(kind.endswith(name) for name in DIFFERENTIALS):
            return [], []
        order = ("rightActuator", "leftActuator", "flexJoint", "rollJoint") if "Wrist" in kind \
            else ("actuator1", "actuator2", "joint1", "joint2")
        return [motors[r] for r in order[:2] if r in motors], \
            [joints[r] for r in order[2:] if r in joints]

    def motor(self, name, carrier, node):
        j = float(self.options.rotor)
        link = Link(name + " (rotor)", node.line)
        link.parent, link.inertia = carrier, (j, j, j, 0.0, 0.0, 0.0)
        link.joints = [Joint(name, "revolute", (1.0, 0.0, 0.0), line=node.line)]
        self.robot.links.append(link)
        return link.joints[0]


def advice(kind):
    if "PR2Gripper" in kind:
        return "its law is nonlinear: write it as a user row with row_function"
    if any(kind.endswith(name) for name in DIFFERENTIALS):
        return "--rotor=J makes two motor bodies and two couplings of a differential"
    return "write its law as couplings of the joints and of motor bodies"


def read(root, report, options):
    return Reader(root, report, options).read()
