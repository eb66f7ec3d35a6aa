"""Numbers, vectors, quaternions and rigid poses in plain Python.

A number of a robot file is a Num: a float that keeps its decimals, so that what the importer
does not change is printed as the file has it. Every operation gives a plain float.
Quaternions are (w, x, y, z); an inertia is (xx, yy, zz, xy, xz, yz).
"""

import math
import re

DECIMAL = re.compile(r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
NO_ROTATION = (1.0, 0.0, 0.0, 0.0)
ZERO = (0.0, 0.0, 0.0)


class Num(float):
    """A decimal of a file: its value and its text."""

    def __new__(cls, text):
        number = float.__new__(cls, text)
        number.text = text
        return number


def add(a, b):
    if not any(b):
        return a
    if not any(a):
        return b
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def sub(a, b):
    if not any(b):
        return a
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def scale(a, s):
    return (a[0] * s, a[1] * s, a[2] * s)


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def length(a):
    return math.sqrt(dot(a, a))


def unit(a):
    """a / |a|; readers refuse directions without a length."""
    n = length(a) or 1.0
    return (a[0] / n, a[1] / n, a[2] / n)


def is_identity(q):
    return q[1] == 0 and q[2] == 0 and q[3] == 0


def qmul(a, b):
    if is_identity(a):
        return b
    if is_identity(b):
        return a
    return (a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
            a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
            a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0])


def conjugate(q):
    return q if is_identity(q) else (q[0], -q[1], -q[2], -q[3])


def normalize(q):
    n = math.sqrt(sum(x * x for x in q))
    if n == 0:
        return NO_ROTATION
    return (q[0] / n, q[1] / n, q[2] / n, q[3] / n)


def matrix(q):
    """The rotation of a quaternion of any length, row by row."""
    w, x, y, z = normalize(q)
    return ((1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)))


def rotate(q, v):
    if is_identity(q) or not any(v):
        return v
    m = matrix(q)
    return (dot(m[0], v), dot(m[1], v), dot(m[2], v))


def about(axis, angle):
    """The rotation by an angle about an axis of any length."""
    if angle == 0:
        return NO_ROTATION
    s = math.sin(angle / 2) / length(axis)
    return (math.cos(angle / 2), axis[0] * s, axis[1] * s, axis[2] * s)


def of_rpy(roll, pitch, yaw):
    """URDF and SDF: rotations about the fixed axes x, y, z in this order."""
    return qmul(about((0, 0, 1), yaw), qmul(about((0, 1, 0), pitch), about((1, 0, 0), roll)))


def of_axes(x, y):
    """The rotation whose columns are x, y made orthogonal to it, and their product."""
    x = unit(x)
    y = unit(sub(y, scale(x, dot(x, y))))
    return of_matrix(tuple(zip(x, y, cross(x, y))))


def of_matrix(m):
    trace = m[0][0] + m[1][1] + m[2][2]
    candidates = ((trace, (1 + trace, m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1])),
                  (m[0][0], (m[2][1] - m[1][2], 1 + 2 * m[0][0] - trace, m[0][1] + m[1][0],
                             m[0][2] + m[2][0])),
                  (m[1][1], (m[0][2] - m[2][0], m[0][1] + m[1][0], 1 + 2 * m[1][1] - trace,
                             m[1][2] + m[2][1])),
                  (m[2][2], (m[1][0] - m[0][1], m[0][2] + m[2][0], m[1][2] + m[2][1],
                             1 + 2 * m[2][2] - trace)))
    return normalize(max(candidates)[1])


def between(a, b):
    """The shortest rotation that takes direction a to direction b."""
    a, b = unit(a), unit(b)
    if dot(a, b) < -1 + 1e-12:
        return about(cross(a, (0, 1, 0) if abs(a[0]) > 0.9 else (1, 0, 0)), math.pi)
    return normalize((1 + dot(a, b),) + cross(a, b))


class Pose:
    """A frame in another: x_outer = rotation x + position."""

    def __init__(self, position=ZERO, rotation=NO_ROTATION):
        self.position, self.rotation = tuple(position), tuple(rotation)

    def __mul__(self, other):
        return Pose(add(self.position, rotate(self.rotation, other.position)),
                    qmul(self.rotation, other.rotation))

    def at(self, point):
        return add(self.position, rotate(self.rotation, point))

    def turn(self, direction):
        return rotate(self.rotation, direction)

    def turn_back(self, direction):
        return rotate(conjugate(self.rotation), direction)

    def inverse(self):
        back = conjugate(self.rotation)
        return Pose(scale(rotate(back, self.position), -1) if any(self.position) else ZERO, back)


def mat_of(inertia):
    xx, yy, zz, xy, xz, yz = inertia
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


def turned(inertia, q):
    """R I R^T."""
    if is_identity(q):
        return tuple(inertia)
    r, i = matrix(q), mat_of(inertia)
    half = [[sum(r[a][k] * i[k][b] for k in range(3)) for b in range(3)] for a in range(3)]
    full = [[sum(half[a][k] * r[b][k] for k in range(3)) for b in range(3)] for a in range(3)]
    return (full[0][0], full[1][1], full[2][2], full[0][1], full[0][2], full[1][2])


def of_point(mass, d):
    """The inertia of a point mass at d about the origin."""
    return (mass * (d[1] * d[1] + d[2] * d[2]), mass * (d[0] * d[0] + d[2] * d[2]),
            mass * (d[0] * d[0] + d[1] * d[1]), -mass * d[0] * d[1], -mass * d[0] * d[2],
            -mass * d[1] * d[2])


def combined(parts):
    """Mass, center of mass and inertia about it of (mass, com, inertia) in common axes."""
    parts = [p for p in parts if p[0] != 0 or any(p[2])]
    if not parts:
        return 0.0, ZERO, (0.0,) * 6
    if len(parts) == 1:
        return parts[0]
    mass = math.fsum(p[0] for p in parts)
    com = ZERO if mass == 0 else tuple(
        math.fsum(p[0] * p[1][k] for p in parts) / mass for k in range(3))
    inertia = [0.0] * 6
    for m, c, i in parts:
        moved = of_point(m, sub(c, com))
        inertia = [a + b + d for a, b, d in zip(inertia, i, moved)]
    return mass, com, tuple(inertia)


def eigenvalues(inertia):
    return [value for value, _ in principal(inertia)]


def principal(inertia):
    """Eigenvalues, ascending, and axes of a symmetric matrix by Jacobi rotations."""
    m = [list(row) for row in mat_of(inertia)]
    axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]   # one a row
    for _ in range(30):
        for a, b in ((0, 1), (0, 2), (1, 2)):
            if m[a][b] == 0:
                continue
            t = 0.5 * math.atan2(2 * m[a][b], m[b][b] - m[a][a])
            c, s = math.cos(t), math.sin(t)
            for k in range(3):
                m[k][a], m[k][b] = c * m[k][a] - s * m[k][b], s * m[k][a] + c * m[k][b]
            for k in range(3):
                m[a][k], m[b][k] = c * m[a][k] - s * m[b][k], s * m[a][k] + c * m[b][k]
            axes[a], axes[b] = [c * x - s * y for x, y in zip(axes[a], axes[b])], \
                [s * x + c * y for x, y in zip(axes[a], axes[b])]
    return sorted((m[k][k], tuple(axes[k])) for k in range(3))


def of_principal(values):
    """The inertia with these (moment, axis)."""
    return tuple(sum(i * n[a] * n[b] for i, n in values)
                 for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))


def breaks_triangle(inertia):
    """Whether the largest principal moment exceeds the sum of the others; that of no body does."""
    least, middle, most = eigenvalues(inertia)
    return least + middle < most * (1 - 1e-6)


def solve(a, b):
    """x with a x = b, by elimination with pivots; a and b are overwritten."""
    n = len(b)
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(a[i][k]))
        a[k], a[pivot], b[k], b[pivot] = a[pivot], a[k], b[pivot], b[k]
        if a[k][k] == 0:
            continue
        for i in range(k + 1, n):
            f = a[i][k] / a[k][k]
            if f:
                row, top = a[i], a[k]
                for j in range(k, n):
                    row[j] -= f * top[j]
                b[i] -= f * b[k]
    for k in reversed(range(n)):
        s = b[k] - sum(a[k][j] * b[j] for j in range(k + 1, n))
        b[k] = s / a[k][k] if a[k][k] else 0.0
    return b
