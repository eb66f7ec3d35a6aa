#!/usr/bin/env python3
"""import_robot.py - a robot description (URDF, SDF, MJCF) as tables for mimicdyn.h.

    python3 import_robot.py robot.urdf > robot.h           the tables; the report goes to stderr
    python3 import_robot.py --check robot.urdf [...]       one line a file: the header against this
                                                           program's own kinematics and masses
Python 3.8 or later, no other package. Exit status: 0 converted, 1 errors (nothing is written),
2 wrong arguments. README.md in this directory has the rules.
"""

import argparse
import os
import sys

import read_mjcf
import read_sdf
import read_urdf
import robot_tables
from robot_math import DECIMAL
from robot_model import Coupling, Link
from robot_xml import ImportFailed, Report, left_over, parse
from write_c import Writer

READERS = {"robot": read_urdf, "sdf": read_sdf, "gazebo": read_sdf, "mujoco": read_mjcf}


def positive(text):
    if not DECIMAL.match(text) or not 0 < float(text) < 1e6:
        raise argparse.ArgumentTypeError("`%s` is not a positive decimal" % text)
    return text


def options(arguments):
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("files", nargs="+", metavar="FILE")
    p.add_argument("--name", help="name of the tables; default: the file's")
    p.add_argument("--strict", action="store_true",
                   help="what influences the motion and is not converted is an error")
    p.add_argument("--check", action="store_true",
                   help="compile the tables with $CC or cc and compare; prints one line a file")
    p.add_argument("--follower-limits", choices=("keep", "drop"), default="keep",
                   help="limits of joints that follow others: keep (default; an error if they "
                   "leave the leader one position), or drop")
    p.add_argument("--armature", metavar="X", type=positive,
                   help="inertia for joints that move none [kg m^2 or kg]")
    p.add_argument("--rotor", metavar="J", type=positive,
                   help="rotor inertia of all motors: URDF transmissions give armature N^2 J")
    p.add_argument("--unlimited", action="store_true",
                   help="URDF: revolute and prismatic joints without limits have none")
    p.add_argument("--velocity-limits", action="store_true",
                   help="a coupling of one joint for each velocity limit of the file")
    p.add_argument("--base", choices=("fixed", "free"),
                   help="root links: on the world or free; default: URDF fixed, SDF and MJCF as "
                   "the file says")
    p.add_argument("--keep", action="append", default=[], metavar="LINK",
                   help="do not merge this fixed link: it stays a body, e.g. a tool frame")
    p.add_argument("--keyframe", metavar="NAME",
                   help="MJCF: start from this keyframe; `none`: from the reference position")
    p.add_argument("--hard-loops", action="store_true",
                   help="MJCF: connect and weld without the softness of their solref")
    p.add_argument("--dt", type=positive, help="time step [s]; default: the file's, or 0.001")
    return p.parse_args(arguments)


def read_robot(path, given, report):
    """The robot of a file, before anything is merged."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as fault:
        report.error(0, fault.strerror, "name a file that can be read")
        raise ImportFailed() from None
    root = parse(data, report)
    reader = READERS.get(root.tag)
    if reader is None:
        report.error(root, "<%s> is no robot description" % root.tag,
                     "the root element is <robot>, <sdf> or <mujoco>")
        raise ImportFailed()
    root.seen = True
    given.directory = os.path.dirname(path)
    robot = reader.read(root, report, given)
    if not report.errors:
        left_over(root, report, reader.harmless)
    return robot


def add_velocity_limits(robot, given, report):
    with_bound = [j for j in robot.joints() if j.velocity and j.velocity > 0
                  and j.locked is None]
    if with_bound and not given.velocity_limits:
        report.note(0, "velocity limits of the file: %d; the tables have no field for them; "
                    "--velocity-limits makes couplings of them" % len(with_bound))
    for joint in with_bound if given.velocity_limits else []:
        c = Coupling("velocity of " + joint.name, [(joint, 1.0)], 0.0, joint.line,
                     "velocity limit of joint `%s`" % joint.name)
        c.velocity, c.lower, c.upper = True, -joint.velocity, joint.velocity
        robot.couplings.append(c)


def add_springs(robot, report):
    for joint in robot.joints():
        if joint.stiffness and joint.locked is None:
            c = Coupling("spring of " + joint.name, [(joint, 1.0)], -joint.springref, joint.line,
                         "spring of joint `%s`" % joint.name)
            c.softness = ("MDYN_SPRING", joint.stiffness, 0)
            robot.couplings.append(c)
            report.note(joint.line, "joint `%s`: its spring is a soft coupling of one joint"
                        % joint.name)


def convert(path, given, report):
    """Tables of a file; raises ImportFailed with the errors in the report."""
    robot = read_robot(path, given, report)
    if given.dt:
        robot.dt = float(given.dt)
    robot.sort(report)
    robot_tables.check_values(robot, report)
    robot_tables.check_limits(robot, report)
    robot_tables.lock_fixed(robot, report)
    groups = robot_tables.check_ranges(robot, report, given.follower_limits)
    robot_tables.check_masses(robot, report)
    add_springs(robot, report)
    add_velocity_limits(robot, given, report)
    if not report.spoiled:
        robot_tables.check_massless(robot, report, given.armature)
    if given.strict and report.dropped:
        report.error(0, "%d elements were not converted (--strict)" % len(report.dropped),
                     "see the lines above")
    report.stop_on_errors()
    tables = robot_tables.build(robot, report, given.keep)
    robot_tables.drop_rigid_closures(tables, report)
    unknown = [k for k in given.keep if k not in [b.name for b in tables.bodies if not b.joint]]
    if unknown:
        report.error(0, "--keep %s: no such fixed link" % unknown[0], "name a link of the file")
    robot_tables.check_sizes(tables, report)
    report.stop_on_errors()
    robot_tables.find_start(tables, groups, report)
    return tables


def written(tables, report, path, given):
    stem = os.path.splitext(os.path.basename(path))[0]
    robot = tables.robot
    moving = sum(b.mass for b in tables.bodies)
    total = sum(k.mass for k in robot.links)
    facts = "Mass %.6g kg, of which %.6g kg moves." % (total, moving)
    return Writer(tables, report, given.name or stem, os.path.basename(path), facts)


def main(arguments):
    given = options(arguments)
    if len(given.files) > 1 and not given.check:
        sys.stderr.write("several files need --check\n")
        return 2
    status = 0
    for path in given.files:
        report = Report(path)
        try:
            tables = convert(path, given, report)
            writer = written(tables, report, path, given)
            text = writer.text()
        except ImportFailed:
            if given.check:
                line, what, _ = sorted(report.errors)[0]
                print("%s: refused, %d errors: line %d: %s" % (os.path.basename(path),
                                                               len(report.errors), line, what))
            report.show(strict=given.strict)
            status = 1
            continue
        if given.check:
            from check_c import check
            line, good = check(tables, writer, text)
            print("%s: %s" % (os.path.basename(path), line), flush=True)
            status = status if good else 1
        else:
            report.show(strict=given.strict)
            sys.stdout.write(text)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
