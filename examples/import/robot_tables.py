"""From a robot to bodies, couplings and closures as the header wants them: locked joints folded,
fixed links merged, mass properties and limits checked, a start position found."""

import math

import robot_model as model
from robot_math import (NO_ROTATION, ZERO, Num, Pose, about, add, combined, dot, eigenvalues,
                        length, scale, sub, turned, unit)


class Body:
    def __init__(self, name, parent, pose, joint=None):
        self.name, self.parent, self.pose, self.joint = name, parent, pose, joint
        self.parts = []            # (mass, com, inertia) in the body's axes
        self.links = []            # links that move with it
        self.mass, self.com, self.inertia = 0.0, ZERO, (0.0,) * 6


class Tables:
    def __init__(self, robot):
        self.robot, self.bodies = robot, []
        self.place = {}            # link -> (body index or -1, pose of the link in the body)
        self.body_of = {}          # joint -> body index
        self.on_world = []         # links with mass that do not move
        self.dofs = 0
        self.start = {}            # joint -> coordinate
        self.start_error = 0.0


# ---- joints that do not move ----

def lock_fixed(robot, report):
    """Joints with equal limits stand; a follower of a joint that stands does so too."""
    for joint in robot.joints():
        if joint.locked is None and joint.kind in model.ONE_DOF and joint.lower is not None \
                and joint.lower == joint.upper:
            joint.locked = joint.lower
            report.note(joint.line, "joint `%s`: lower = upper = %s: locked at that position"
                        % (joint.name, show(joint.lower)))
    changed = True
    while changed:
        changed = False
        for coupling in list(robot.couplings):
            changed |= substitute_locked(robot, coupling, report)


def substitute_locked(robot, coupling, report):
    standing = [t for t in coupling.terms if t[0].locked is not None]
    if not standing:
        return False
    if coupling.follows() and coupling.terms[0][0].locked is not None:
        report.note(coupling.line, "%s: joint `%s` does not move: left out"
                    % (coupling.what, coupling.terms[0][0].name))
        robot.couplings.remove(coupling)
        return True
    moving = [t for t in coupling.terms if t[0].locked is None]
    offset = coupling.offset + math.fsum(
        c * model.on_term(coupling, j, j.locked) for j, c in standing)
    if coupling.velocity:
        offset = 0.0
    if coupling.is_hard() and len(moving) == 1:
        follower, factor = moving[0]
        follower.locked = -offset / factor
        report.note(coupling.line, "joint `%s` follows a joint that does not move: locked at %s"
                    % (follower.name, show(follower.locked)))
        robot.couplings.remove(coupling)
    elif not moving:
        report.note(coupling.line, "%s joins only joints that do not move: left out"
                    % coupling.what)
        robot.couplings.remove(coupling)
    else:
        coupling.terms, coupling.offset, coupling.mimic = moving, offset, None
        report.note(coupling.line, "%s: joints that do not move are in the offset" % coupling.what)
    return True


def show(x):
    return x.text if isinstance(x, Num) else repr(float(x))


# ---- values ----

def check_values(robot, report):
    """What the header would refuse: negative losses, a joint twice in a coupling; and mimics that
    follow each other in a circle."""
    for joint in robot.joints():
        for field in ("damping", "friction", "armature", "stiffness", "kp", "kd"):
            if getattr(joint, field) < 0:
                report.error(joint.line, "joint `%s`: its %s is negative" % (joint.name, field),
                             "give it as a positive number")
    leaders = {c.terms[0][0]: c.terms[1][0] for c in robot.couplings if c.follows()}
    for coupling in robot.couplings:
        joints = [j for j, _ in coupling.terms]
        if len(set(joints)) < len(joints):
            report.error(coupling.line, "%s names a joint twice" % coupling.what,
                         "add up its coefficients")
        elif coupling.follows() and goes_round(joints[0], leaders):
            report.error(coupling.line, "%s: its leaders follow each other in a circle"
                         % coupling.what, "one joint of them must follow none")
    if len(curve_table(robot)) > 255:
        report.error(0, "%d different curves" % len(curve_table(robot)), "a model holds 255")


def goes_round(joint, leaders):
    at = leaders[joint]
    for _ in leaders:
        if at is joint:
            return True
        if at not in leaders:
            return False
        at = leaders[at]
    return False


# ---- limits ----

def check_limits(robot, report):
    for joint in robot.joints():
        if joint.locked is not None or joint.lower is None or joint.upper is None:
            continue
        if joint.lower > joint.upper:
            report.error(joint.line, "joint `%s`: lower %s is above upper %s"
                         % (joint.name, show(joint.lower), show(joint.upper)), "swap them")


def pair_groups(robot):
    """Groups of joints that hard two-joint couplings tie: root -> {joint: (a, b)}, q = a root + b.
    Also the couplings that close a cycle inside a group."""
    ties, followers = {}, set()
    for coupling in robot.couplings:
        terms = [(j, c) for j, c in coupling.terms if c != 0]
        if not coupling.is_hard() or coupling.curve or len(terms) != 2 \
                or any(j.dofs() != 1 for j, _ in terms):
            continue
        (f, cf), (l, cl) = terms
        ties.setdefault(f, []).append((l, -cf / cl, -coupling.offset / cl, coupling))
        ties.setdefault(l, []).append((f, -cl / cf, -coupling.offset / cf, coupling))
        followers.add(f)
    groups, seen, cycles = {}, set(), []
    order = [j for j in robot.joints() if j in ties]
    for root in [j for j in order if j not in followers] + order:
        if root in seen:
            continue
        groups[root] = {root: (1.0, 0.0)}
        seen.add(root)
        used, stack = set(), [root]
        while stack:
            joint = stack.pop()
            a, b = groups[root][joint]
            for other, ratio, offset, coupling in ties[joint]:
                if coupling in used:
                    continue
                used.add(coupling)
                law = (ratio * a, ratio * b + offset)
                if other in groups[root]:
                    cycles.append((coupling, law, groups[root][other]))
                else:
                    groups[root][other] = law
                    seen.add(other)
                    stack.append(other)
    return groups, cycles


def image(joint, a, b):
    """The range of the root that a joint's limits allow."""
    low = -math.inf if joint.lower is None else joint.lower
    high = math.inf if joint.upper is None else joint.upper
    if abs(a) < 1e-30:   # the joint stands at b
        return (-math.inf, math.inf) if low <= b <= high else (math.inf, -math.inf)
    ends = sorted(((low - b) / a, (high - b) / a))
    return ends[0], ends[1]


def check_ranges(robot, report, follower_limits):
    """What the limits of followers leave of their leader's range."""
    groups, cycles = pair_groups(robot)
    for coupling, law, other in cycles:
        same = abs(law[0] - other[0]) <= 1e-9 * abs(other[0]) and abs(law[1] - other[1]) <= 1e-9
        report.note(coupling.line, "%s closes a cycle of couplings%s" % (
            coupling.what, ": it says nothing new" if same else
            " and contradicts the others"))
    for root, laws in groups.items():
        if follower_limits == "drop":
            drop_limits(root, laws, report)
        narrow_range(root, laws, report)
    return groups


def drop_limits(root, laws, report):
    for joint in laws:
        if joint is not root and (joint.lower is not None or joint.upper is not None):
            report.note(joint.line, "joint `%s`: its limits [%s, %s] are left out "
                        "(--follower-limits=drop)" % (joint.name, bound(joint.lower),
                                                      bound(joint.upper)))
            joint.lower = joint.upper = None


def bound(x):
    return "none" if x is None else show(x)


def narrow_range(root, laws, report):
    own = image(root, 1.0, 0.0)
    low, high = own
    culprits = []
    for joint, (a, b) in laws.items():
        ends = image(joint, a, b)
        if ends[0] > low + 1e-12 or ends[1] < high - 1e-12:
            culprits.append("`%s`" % joint.name)
        low, high = max(low, ends[0]), min(high, ends[1])
    width, left = own[1] - own[0], high - low
    if not culprits or left == math.inf:
        return
    whole = math.isinf(width)
    if left <= 1e-6 * (1.0 if whole else max(width, 1e-9)):
        report.error(root.line, "the limits of the followers %s leave joint `%s` %s of its range "
                     "[%s, %s]" % (", ".join(culprits), root.name,
                                   "one position" if left >= -1e-9 else "no position",
                                   bound(root.lower), bound(root.upper)),
                     "--follower-limits=drop leaves their limits out; or correct them in the file")
    elif whole or left < 0.99 * width:
        share = "" if whole else " (%.0f %%)" % (100 * left / width)
        report.note(root.line, "joint `%s`: the limits of %s leave [%.6g, %.6g] of [%s, %s]%s; "
                    "they are kept" % (root.name, ", ".join(culprits), low, high,
                                       bound(root.lower), bound(root.upper), share))


# ---- masses ----

def check_masses(robot, report):
    for link in robot.links:
        if link.mass < 0:
            report.error(link.line, "link `%s`: its mass is negative" % link.name,
                         "give it in kg")
        if not any(link.inertia):
            if link.mass > 0:
                report.note(link.line, "link `%s`: inertia zero with mass %s: a point mass"
                            % (link.name, show(link.mass)))
            continue
        least, middle, most = eigenvalues(link.inertia)
        if least < -1e-9 * abs(most):
            report.error(link.line, "link `%s`: its inertia is not positive (eigenvalues %.3g, "
                         "%.3g, %.3g)" % (link.name, least, middle, most),
                         "correct ixx, iyy, izz or the signs of the products")
        elif least + middle < most * (1 - 1e-6):
            report.note(link.line, "link `%s`: its inertia breaks the triangle inequality "
                        "(eigenvalues %.3g + %.3g < %.3g): no body has it; kept"
                        % (link.name, least, middle, most))


def check_massless(robot, report, armature):
    """All joints that move no inertia at once."""
    found = model.massless(robot, robot.number_dofs())
    for joint in found:
        if armature and joint.dofs() == 1:
            joint.armature = Num(armature)
            report.note(joint.line, "joint `%s` moves no inertia: armature %s (--armature)"
                        % (joint.name, armature))
            continue
        what = "no mass below the moving joint `%s` (link `%s`)"
        if carried_mass(robot, joint.link):
            what = "joint `%s` (link `%s`) moves no inertia that later joints do not move"
        remedy = "give the link an inertia, or --armature=1e-4 to give such joints one of that size"
        if joint.dofs() != 1:
            remedy = "give the link a mass and an inertia"
        if joint.kind == "free":
            remedy += ", or fix the base (--base=fixed)"
        report.error(joint.line, what % (joint.name, joint.link.name), remedy)


def carried_mass(robot, link):
    below, mass = {link}, 0.0
    for each in robot.links:
        if each in below or each.parent in below:
            below.add(each)
            mass += each.mass
    return mass


# ---- merging ----

def build(robot, report, keep=()):
    """Bodies: one for each joint that moves; links in between are merged into them."""
    tables = Tables(robot)
    for link in robot.links:
        body, pose = tables.place[link.parent] if link.parent else (-1, Pose())
        pose = pose * link.rel
        for joint in link.joints:
            body, pose = carry(tables, body, pose, joint)
        if link.name in keep and not any(j.locked is None for j in link.joints):
            tables.bodies.append(Body(link.name, body, pose))
            body, pose = len(tables.bodies) - 1, Pose()
        tables.place[link] = (body, pose)
        put_mass(tables, link, body, pose)
    for body in tables.bodies:
        body.mass, body.com, body.inertia = combined(body.parts)
    tables.dofs = robot.number_dofs()
    return tables


def carry(tables, body, pose, joint):
    """The frame after a joint: a new body, or the same one if the joint stands."""
    pose = pose * Pose(joint.anchor)
    back = Pose(scale(joint.anchor, -1) if any(joint.anchor) else ZERO)
    if joint.locked is not None:
        return body, pose * model.motion(joint, joint.locked) * back
    if joint.kind in model.ONE_DOF and joint.ref:
        pose = pose * model.motion(joint, 0.0)
    tables.bodies.append(Body(joint.name, body, pose, joint))
    tables.body_of[joint] = len(tables.bodies) - 1
    return len(tables.bodies) - 1, back


def put_mass(tables, link, body, pose):
    if body < 0:
        if link.mass:
            tables.on_world.append(link)
        return
    tables.bodies[body].links.append(link)
    if link.mass or any(link.inertia):
        com = link.com if not any(pose.position) and not any(pose.rotation[1:]) \
            else pose.at(link.com)
        tables.bodies[body].parts.append((link.mass, com, turned(link.inertia, pose.rotation)))


def closure_in_tables(tables, closure):
    """Bodies, points, axes and rotation of a closure in the axes of the bodies."""
    def side(link, point, axis):
        body, pose = tables.place[link] if link else (-1, Pose())
        return body, pose.at(point), pose.turn(axis), pose.rotation
    a, point_a, axis_a, turn_a = side(closure.a, closure.point_a, closure.axis_a)
    b, point_b, axis_b, turn_b = side(closure.b, closure.point_b, closure.axis_b)
    # R_a turn_a = R_b turn_b rotation of the links, so R_b^T R_a = turn_b rotation turn_a^T
    rotation = model.qmul(model.qmul(turn_b, closure.rotation), conj(turn_a))
    return a, b, point_a, point_b, axis_a, axis_b, rotation


def conj(q):
    return (q[0], -q[1], -q[2], -q[3])


def drop_rigid_closures(tables, report):
    """Closures inside one body hold by themselves, or not at all."""
    robot = tables.robot
    place = lambda link: tables.place[link][0] if link else -1
    for closure in list(robot.closures):
        if place(closure.a) == place(closure.b):
            report.note(closure.line, "loop `%s` joins two links of one rigid body: left out"
                        % closure.name)
            robot.closures.remove(closure)


# ---- the start position ----

def find_start(tables, groups, report):
    """The position nearest to the wanted one (the file's, or 0) that holds limits, couplings and
    loops."""
    robot, q = tables.robot, {}
    for joint in robot.joints():
        if joint.locked is None:
            q[joint] = wanted(joint)
    for root, laws in groups.items():
        ends = [image(j, a, b) for j, (a, b) in laws.items()]
        q[root] = clamp(q[root], max(e[0] for e in ends), min(e[1] for e in ends))
        for joint, (a, b) in laws.items():
            if joint is not root:
                q[joint] = a * q[root] + b
    for coupling in [c for c in robot.couplings if c.curve]:
        follower, leader = coupling.terms[0][0], coupling.terms[1][0]
        at = model.on_term(coupling, leader, q[leader])
        q[follower] = at if abs(at) < 1e6 else q[follower]
    largest = hard_error(robot, q)
    if largest > 1e-12:
        q, largest = model.onto_constraints(robot, q, tables.dofs)
    tables.start, tables.start_error = q, largest
    if largest > 1e-9:
        report.note(0, "the start position found misses loops or couplings by %.1e: call "
                    "mdyn_project after setting it" % largest)
    moved = [j for j in robot.joints() if j.dofs() == 1 and outside(j, 0.0)]
    if moved:
        report.note(0, "q = 0 is outside the limits of %s: begin at the start position"
                    % shortened([j.name for j in moved]))


def shortened(names, most=6):
    more = " and %d more" % (len(names) - most) if len(names) > most else ""
    return ", ".join("`%s`" % n for n in names[:most]) + more


def outside(joint, value):
    return joint.lower is not None and value < joint.lower \
        or joint.upper is not None and value > joint.upper


def wanted(joint):
    if joint.kind == "spherical":
        return joint.start or NO_ROTATION
    if joint.kind == "free":
        return joint.start or Pose()
    low = -math.inf if joint.lower is None else joint.lower
    high = math.inf if joint.upper is None else joint.upper
    return clamp(joint.start if joint.start is not None else 0.0, low, high)


def clamp(x, low, high):
    if low > high:
        return x
    return low if x < low else high if x > high else x


def hard_error(robot, q):
    errors = [abs(model.coupling_error(c, q)) for c in robot.couplings
              if not (c.velocity or c.softness)]
    return max(errors + [model.closure_error(robot, q)])


# ---- sizes ----

LARGEST = {"BODIES": 4096, "DOFS": 8192, "COUPLINGS": 4096, "ROWS": 8192, "TERMS": 64,
           "BODY_ROWS": 4096, "CURVES": 1024}   # MDYN_RANGE_ of the header
MOST_ENTRIES = 32767


def sizes(tables, soft_rows=0):
    """The knobs: exact counts, and an upper bound for the entries."""
    robot = tables.robot
    body_rows = sum(c.rows() for c in robot.closures)
    single = [j for j in robot.joints() if j.dofs() == 1]
    drives = sum(1 for j in single if j.kp or j.kd)
    friction = sum(j.dofs() for j in robot.joints() if j.friction)
    limits = sum(1 for j in single if j.lower is not None or j.upper is not None)
    rows = len(robot.couplings) + drives + friction + limits + body_rows + soft_rows
    knobs = {"BODIES": max(1, len(tables.bodies)), "DOFS": max(1, tables.dofs),
             "COUPLINGS": max(1, len(robot.couplings)), "ROWS": max(1, rows),
             "TERMS": max([2] + [len(c.terms) for c in robot.couplings]),
             "BODY_ROWS": body_rows, "ENTRIES": min(entries(tables), MOST_ENTRIES)}
    curves = sum(1 for c in robot.couplings if c.curve)
    return dict(knobs, CURVES=curves) if curves else knobs


def check_sizes(tables, report):
    """Whether the header takes that many."""
    for knob, value in sizes(tables).items():
        if value > LARGEST.get(knob, value):
            report.error(0, "%d for MIMICDYN_MAX_%s, which ends at %d" % (value, knob,
                                                                         LARGEST[knob]),
                         "import a part of the file")
    if entries(tables) > MOST_ENTRIES:
        report.note(0, "at most %d entries, of which the header can hold %d: mdyn_init says "
                    "whether they are enough" % (entries(tables), MOST_ENTRIES))


def curve_table(robot):
    """The curves of the couplings, each once."""
    return list(dict.fromkeys(c.curve for c in robot.couplings if c.curve))


def ancestors(tables, body):
    found = []
    while body >= 0:
        joint = tables.bodies[body].joint
        if joint:
            found += range(joint.first, joint.first + joint.dofs())
        body = tables.bodies[body].parent
    return set(found)


def entries(tables):
    """A bound: non-zeros of L; and each row with all degrees of freedom of the rows without a bound
    on their force that it shares some with, and a private column for each soft one."""
    robot, patterns, boundless, n = tables.robot, [], [], 8
    for joint in robot.joints():
        if joint.locked is not None:
            continue
        above = ancestors(tables, tables.body_of[joint])
        n += sum(len(above) - k for k in range(joint.dofs()))
        if joint.friction:
            patterns.append((above, joint.dofs()))
        if joint.dofs() == 1 and not (joint.lower is None and joint.upper is None):
            patterns.append((above, 1))
        if joint.dofs() == 1 and (joint.kp or joint.kd):
            (patterns if joint.effort else boundless).append((above | {("drive", joint)}, 1))
    for c in robot.couplings:
        columns = set().union(*(ancestors(tables, tables.body_of[j]) for j, _ in c.terms))
        columns |= {("soft", c)} if c.softness else set()
        bounded = c.effort or c.lower is not None or c.upper is not None
        (patterns if bounded else boundless).append((columns, 1))
    for closure in robot.closures:
        a, b = closure_in_tables(tables, closure)[:2]
        private = {("soft", closure, k) for k in range(closure.rows())} if closure.softness \
            else set()
        boundless.append((ancestors(tables, a) | ancestors(tables, b) | private, closure.rows()))
    clusters = united([columns for columns, _ in boundless])
    for columns, rows in patterns + boundless:
        n += rows * len(set(columns).union(*(c for c in clusters if c & columns)))
    return n + n // 10


def united(sets):
    """The unions of sets that share elements."""
    found = []
    for columns in sets:
        merged = set(columns)
        for other in [c for c in found if c & merged]:
            merged |= other
            found.remove(other)
        found.append(merged)
    return found
