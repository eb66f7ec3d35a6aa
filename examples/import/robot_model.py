"""A robot as its file describes it, and its kinematics and mass matrix in plain Python.

A link has a pose in its parent at the reference position of its joints, and joints that move it
in the order of the list: each turns or shifts it about an axis and an anchor in the link's own
axes. This is the truth that `--check` compares the header with; the tables of the header are
made from it by robot_tables.py with other formulae.
"""

import math

from robot_math import (NO_ROTATION, ZERO, Pose, about, cross, dot, length, mat_of, normalize, qmul,
                        rotate, scale, solve, sub, unit)

ONE_DOF = ("revolute", "prismatic", "helical")
DOFS = {"revolute": 1, "prismatic": 1, "helical": 1, "spherical": 3, "free": 6}


class Joint:
    """One joint of a link; `lower` and `upper` None: no limit; `effort` None: no bound."""

    def __init__(self, name, kind, axis=(0.0, 0.0, 1.0), anchor=ZERO, line=0):
        self.name, self.kind, self.line = name, kind, line
        self.axis, self.anchor, self.pitch, self.ref = axis, anchor, 0.0, 0.0
        self.lower = self.upper = self.effort = self.velocity = None
        self.damping = self.friction = self.armature = self.kp = self.kd = 0.0
        self.stiffness = self.springref = 0.0
        self.locked = None   # the coordinate at which the joint stands for ever
        self.link = None
        self.first = -1      # index of its first degree of freedom
        self.start = None    # wanted start of the coordinate, or pose of a free joint

    def dofs(self):
        return 0 if self.locked is not None else DOFS[self.kind]


class Link:
    def __init__(self, name, line=0):
        self.name, self.line = name, line
        self.parent, self.rel, self.joints = None, Pose(), []
        self.mass, self.com, self.inertia = 0.0, ZERO, (0.0,) * 6


class Coupling:
    """lower <= sum of coefficient times coordinate + offset <= upper; both bounds None: = 0."""

    def __init__(self, name, terms, offset=0.0, line=0, what=""):
        self.name, self.terms, self.offset, self.line, self.what = name, terms, offset, line, what
        self.lower = self.upper = None
        self.softness = None    # (macro, a, b)
        self.effort = None
        self.velocity = False   # bounds or holds the rate only
        self.mimic = None       # multiplier, offset of the file: terms are follower, leader
        self.curve = None       # (a_0 ... a_4), ref_1, ref_2: terms are follower 1, leader -1

    def follows(self):
        return bool(self.mimic or self.curve)

    def is_hard(self):
        return not (self.velocity or self.softness or self.effort or self.lower is not None)


class Closure:
    """kind: point, hinge, weld, distance; points and axes in the links' own frames."""

    def __init__(self, name, kind, a, b, point_a, point_b, line=0):
        self.name, self.kind, self.a, self.b, self.line = name, kind, a, b, line
        self.point_a, self.point_b = point_a, point_b
        self.axis_a = self.axis_b = (0.0, 0.0, 1.0)
        self.rotation = NO_ROTATION   # of a in the axes of b
        self.distance = 0.0
        self.softness = None          # (macro, a, b)

    def rows(self):
        return {"point": 3, "hinge": 5, "weld": 6, "distance": 1}[self.kind]


class Robot:
    def __init__(self, name, format_name):
        self.name, self.format = name, format_name
        self.links, self.couplings, self.closures = [], [], []
        self.gravity, self.dt = (0.0, 0.0, -9.81), 0.001
        self.base, self.start_of = "", "nearest to 0"
        self.rotors = []   # comments about transmissions

    def add_mimic(self, coupling, report):
        """A follower with the multiplier 0 stands."""
        follower = coupling.terms[0][0]
        if coupling.mimic[0] == 0:
            follower.locked = coupling.mimic[1]
            report.note(coupling.line, "joint `%s`: multiplier 0: locked at its offset"
                        % follower.name)
        else:
            self.couplings.append(coupling)

    def joints(self):
        return [j for link in self.links for j in link.joints]

    def sort(self, report):
        """Parents before children, otherwise in the order of the file."""
        children, placed = {}, []
        for link in self.links:
            children.setdefault(id(link.parent), []).append(link)
        stack = list(reversed(children.get(id(None), [])))
        while stack:
            link = stack.pop()
            placed.append(link)
            stack.extend(reversed(children.get(id(link), [])))
        if len(placed) != len(self.links):
            lost = [k for k in self.links if k not in placed]
            report.error(lost[0], "the joints form a cycle through link `%s`" % lost[0].name,
                         "one of the links must be the root")
            report.stop_on_errors()
        self.links = placed
        for link in self.links:
            for joint in link.joints:
                joint.link = link

    def number_dofs(self):
        n = 0
        for joint in self.joints():
            joint.first = n
            n += joint.dofs()
        return n


def motion(joint, q):
    """The pose that a joint makes of the coordinate, in the axes of its link at the anchor."""
    if joint.kind == "spherical":
        return Pose(ZERO, q)
    if joint.kind == "free":
        return q
    axis, angle = unit(joint.axis), q - joint.ref
    if joint.kind == "revolute":
        return Pose(ZERO, about(axis, angle))
    if joint.kind == "prismatic":
        return Pose(scale(axis, angle))
    return Pose(scale(axis, angle * joint.pitch), about(axis, angle))


def coordinate(joint, q):
    """Of a dictionary joint -> coordinate; a joint that is not in it is at its reference."""
    if joint.locked is not None:
        return joint.locked
    if joint in q:
        return q[joint]
    if joint.kind == "spherical":
        return NO_ROTATION
    return Pose() if joint.kind == "free" else joint.ref


def poses(robot, q):
    """link -> pose in the world; joint -> (axis, anchor, rotation of its link) in the world."""
    placed, lines = {}, {}
    for link in robot.links:
        x = (placed[link.parent] if link.parent else Pose()) * link.rel
        for joint in link.joints:
            anchor = x.at(joint.anchor)
            move = motion(joint, coordinate(joint, q))
            x = Pose(anchor, x.rotation) * move * Pose(scale(joint.anchor, -1))
            x = Pose(x.position, normalize(x.rotation))
            lines[joint] = (x.turn(unit(joint.axis)), x.at(joint.anchor), x.rotation)
        placed[link] = x
    return placed, lines


def twists(robot, lines):
    """link -> list of (dof, angular velocity, velocity at the world's origin) for unit speeds."""
    moving = {}
    for link in robot.links:
        own = list(moving[link.parent]) if link.parent else []
        for joint in link.joints:
            if joint.locked is not None:
                continue
            axis, anchor, rotation = lines[joint]
            own.extend((joint.first + k, w, v) for k, (w, v) in
                       enumerate(joint_twists(joint, axis, anchor, rotation)))
        moving[link] = own
    return moving


def joint_twists(joint, axis, anchor, rotation):
    if joint.kind == "revolute":
        return [(axis, cross(anchor, axis))]
    if joint.kind == "prismatic":
        return [(ZERO, axis)]
    if joint.kind == "helical":
        shift = scale(axis, joint.pitch)
        return [(axis, tuple(a + b for a, b in zip(cross(anchor, axis), shift)))]
    ways = [rotate(rotation, e) for e in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
    turns = [(w, cross(anchor, w)) for w in ways]
    return turns if joint.kind == "spherical" else turns + [(ZERO, w) for w in ways]


def velocity_at(twist, point):
    _, w, v = twist
    return tuple(a + b for a, b in zip(v, cross(w, point)))


def mass_matrix(robot, q, n):
    """Sum over the links of m J_v^T J_v + J_w^T R I R^T J_w, and the armatures."""
    placed, lines = poses(robot, q)
    moving = twists(robot, lines)
    m = [[0.0] * n for _ in range(n)]
    for link in robot.links:
        if link.mass == 0 and not any(link.inertia):
            continue
        x, inertia = placed[link], mat_of(link.inertia)
        com = x.at(link.com)
        columns = []
        for twist in moving[link]:
            w = x.turn_back(twist[1])
            columns.append((twist[0], velocity_at(twist, com), w,
                            tuple(dot(row, w) for row in inertia)))
        for i, vi, wi, _ in columns:
            for j, vj, _, iwj in columns:
                m[i][j] += link.mass * dot(vi, vj) + dot(wi, iwj)
    for joint in robot.joints():
        if joint.dofs() == 1:
            m[joint.first][joint.first] += joint.armature
    return m


def massless(robot, n):
    """Joints whose pivot in M = L^T L at q = 0 is zero: nothing gives them inertia."""
    zero = {j: 0.0 for j in robot.joints() if j.kind in ONE_DOF and j.locked is None}
    m = mass_matrix(robot, zero, n)
    owner = {}
    for joint in robot.joints():
        for k in range(joint.dofs()):
            owner[joint.first + k] = joint
    found = []
    for k in reversed(range(n)):
        if m[k][k] <= 0 or m[k][k] < 1e-13 * mass_scale(robot, owner[k]):
            if owner[k] not in found:
                found.insert(0, owner[k])
            continue
        for i in range(k):
            f = m[k][i] / m[k][k]
            if f:
                for j in range(i + 1):
                    m[i][j] -= f * m[k][j]
                    m[j][i] = m[i][j]
    return found


def mass_scale(robot, joint):
    """A magnitude to compare a pivot with: what hangs on the joint, about it."""
    total = 0.0
    inside = {joint.link}
    for link in robot.links:
        if link in inside or link.parent in inside:
            inside.add(link)
            arm = length(link.com) + length(sub(link.com, joint.anchor))
            total += link.mass * max(arm * arm, 1e-6) + sum(abs(x) for x in link.inertia[:3])
    return total


def on_term(coupling, joint, at):
    """The coordinate of a joint as a coupling takes it: the leader of a curve on that curve."""
    if not coupling.curve or joint is not coupling.terms[1][0]:
        return at
    (a_0, a_1, a_2, a_3, a_4), ref_1, ref_2 = coupling.curve
    x = at - ref_2
    return ref_1 + a_0 + a_1 * x + a_2 * x * x + a_3 * x * x * x + a_4 * x * x * x * x


def term_slope(coupling, joint, q):
    if not coupling.curve or joint is not coupling.terms[1][0]:
        return 1.0
    (_, a_1, a_2, a_3, a_4), _, ref_2 = coupling.curve
    x = coordinate(joint, q) - ref_2
    return a_1 + 2 * a_2 * x + 3 * a_3 * x * x + 4 * a_4 * x * x * x


def coupling_parts(coupling, q):
    """The summands of C."""
    return [c * on_term(coupling, j, coordinate(j, q)) for j, c in coupling.terms] \
        + [coupling.offset]


def coupling_error(coupling, q):
    value = sum(coupling_parts(coupling, q))
    if coupling.lower is None and coupling.upper is None:
        return value
    low = coupling.lower if coupling.lower is not None else -math.inf
    high = coupling.upper if coupling.upper is not None else math.inf
    return value - min(max(value, low), high)


def closure_frames(closure, placed):
    a = placed[closure.a] if closure.a else Pose()
    b = placed[closure.b] if closure.b else Pose()
    return a, b, a.at(closure.point_a), b.at(closure.point_b)


def closure_residual(closure, placed):
    """List of (direction, residual, kind): kind v of points, w of rotations."""
    a, b, pa, pb = closure_frames(closure, placed)
    gap = sub(pa, pb)
    if closure.kind == "distance":
        far = length(gap)
        return [(scale(gap, 1 / far), far - closure.distance, "v")]
    rows = [(e, dot(e, gap), "v") for e in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
    if closure.kind == "hinge":
        axis_a, axis_b = a.turn(unit(closure.axis_a)), b.turn(unit(closure.axis_b))
        if dot(axis_a, axis_b) < 0:
            axis_a = scale(axis_a, -1)
        turn = cross(axis_b, axis_a)
        side = unit(cross(axis_b, (1, 0, 0) if abs(axis_b[0]) < 0.7 else (0, 1, 0)))
        rows += [(e, dot(e, turn), "w") for e in (side, cross(axis_b, side))]
    if closure.kind == "weld":
        want = qmul(b.rotation, normalize(closure.rotation))
        off = qmul(a.rotation, (want[0], -want[1], -want[2], -want[3]))
        sign = 2.0 if off[0] >= 0 else -2.0
        rows += [(e, sign * dot(e, off[1:]), "w") for e in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
    return rows


def closure_rows(robot, q, n):
    """Jacobian rows and residuals of all closures."""
    placed, lines = poses(robot, q)
    moving = twists(robot, lines)
    rows, errors = [], []
    for closure in robot.closures:
        _, _, pa, pb = closure_frames(closure, placed)
        for direction, error, kind in closure_residual(closure, placed):
            row = [0.0] * n
            for link, point, sign in ((closure.a, pa, 1), (closure.b, pb, -1)):
                for twist in moving[link] if link else []:
                    v = velocity_at(twist, point) if kind == "v" else twist[1]
                    row[twist[0]] += sign * dot(direction, v)
            rows.append(row)
            errors.append(error)
    return rows, errors


def closure_error(robot, q):
    placed, _ = poses(robot, q)
    return max([abs(e) for c in robot.closures for _, e, _ in closure_residual(c, placed)] or [0.0])


def moved(robot, q, step):
    """The coordinates after a small step of the joint velocities."""
    new = dict(q)
    for joint in robot.joints():
        if joint.dofs() == 1:
            new[joint] = coordinate(joint, q) + step[joint.first]
            if joint.lower is not None:
                new[joint] = max(joint.lower, new[joint])
            if joint.upper is not None:
                new[joint] = min(joint.upper, new[joint])
        elif joint.dofs() == 3:
            turn = step[joint.first:joint.first + 3]
            size = length(turn)
            if size:
                new[joint] = normalize(qmul(coordinate(joint, q), about(turn, size)))
        elif joint.dofs() == 6:
            new[joint] = displaced(coordinate(joint, q), step[joint.first:joint.first + 6])
    return new


def displaced(pose, step):
    """The pose of a free joint after a small turn and a small shift, both in its own axes."""
    turn = step[:3]
    size = length(turn)
    rotation = normalize(qmul(pose.rotation, about(turn, size))) if size else pose.rotation
    return Pose(pose.at(step[3:]), rotation)


def hard_rows(robot, q, n):
    """Rows and errors of closures and hard couplings."""
    rows, errors = closure_rows(robot, q, n)
    for coupling in robot.couplings:
        error = coupling_error(coupling, q)
        if coupling.velocity or coupling.softness or (not coupling.is_hard() and not error):
            continue
        row = [0.0] * n
        for joint, c in coupling.terms:
            row[joint.first] += c * term_slope(coupling, joint, q)
        rows.append(row)
        errors.append(error)
    return rows, errors


def onto_constraints(robot, q, n, rounds=150):
    """The nearest position by damped least squares that holds loops, couplings and limits, or the
    best found; and its largest error."""
    best, least, damping = q, math.inf, 1e-6
    for _ in range(rounds):
        rows, errors = hard_rows(robot, q, n)
        worst = max([abs(e) for e in errors] or [0.0])
        if worst < least:
            best, least, damping = q, worst, max(damping * 0.3, 1e-14)
        else:
            damping = min(damping * 4, 1e-1)
        if worst < 1e-13:
            break
        q = moved(robot, q, least_step(robot, q, rows, errors, damping, n))
    return best, least


def least_step(robot, q, rows, errors, damping, n):
    """-J^T (J J^T + damping)^-1 e over the joints that are free to move that way."""
    held = set()
    step = [0.0] * n
    for _ in range(4):
        active = [[0.0 if k in held else x for k, x in enumerate(row)] for row in rows]
        sparse = [[(k, x) for k, x in enumerate(row) if x] for row in active]
        gram = [[sum(x * b[k] for k, x in a) for b in active] for a in sparse]
        for k in range(len(gram)):
            gram[k][k] += damping
        impulse = solve(gram, list(errors))
        step = [0.0] * n
        for a, f in zip(sparse, impulse):
            for k, x in a:
                step[k] -= x * f
        new = {j.first for j in robot.joints() if j.dofs() == 1 and stopped(j, q, step)} - held
        if not new:
            break
        held |= new
    largest = max([abs(x) for x in step] or [0.0])
    return [x * 0.5 / largest for x in step] if largest > 0.5 else step


def stopped(joint, q, step):
    at, by = coordinate(joint, q), step[joint.first]
    return (joint.lower is not None and at <= joint.lower and by < 0
            or joint.upper is not None and at >= joint.upper and by > 0)
