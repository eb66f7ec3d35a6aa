#!/usr/bin/env python3
"""make_packages.py FOLDER [--url URL] [--check]: a package for each ecosystem, under FOLDER.

Each folder beside this file is a package as its ecosystem wants it, but for what stands between
@ signs, and for the files that COMMON adds. URL is where the archive will lie and the project is
found. Version and summary are those of the first line of mimicdyn.h, the license is its last
comment. Needs Python 3.8 and nothing else; --check builds what it made, see check_packages.py."""

import argparse
import gzip
import hashlib
import io
import os
import re
import shutil
import sys
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FIRST_LINE = re.compile(r"/\* mimicdyn\.h - (.+)\. v(\d+\.\d+(?:\.\d+)?)$")

# What a package contains besides its own files: folder -> files of the archive.
ARCHIVE = {"": ("mimicdyn.h", "LICENSE", "README.md", "CMakeLists.txt", "meson.build")}
COMMON = {
    "arduino": {"": ("LICENSE", "README.md"), "src": ("mimicdyn.h",),
                "examples/gripper_sketch": ("gripper_sketch.ino",)},
    "platformio": {"": ("LICENSE", "README.md"), "include": ("mimicdyn.h",)},
    "esp-idf": {"": ("mimicdyn.h", "LICENSE", "README.md")},
    "zephyr": {"": ("mimicdyn.h", "LICENSE")},
    "cmsis": {"": ("mimicdyn.h", "LICENSE", "README.md")},
    "vcpkg": {},
    "conan": {"all/test_package": ("gripper.c",)},
    "meson": {},
}


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def write(text, *path):
    path = os.path.join(*path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def facts(header):
    """Summary and version with three parts of the header's first line."""
    found = FIRST_LINE.match(header.split("\n", 1)[0])
    if not found:
        raise SystemExit("the first line of mimicdyn.h has no summary and version")
    summary, version = found.groups()
    return summary[0].upper() + summary[1:], version + ".0" * (2 - version.count("."))


def license(header):
    """The text of the last comment, which is that of both licenses."""
    text = header[header.index("// >>license\n"):].split("\n", 1)[1]
    lines = text[:text.index("*/")].rstrip().split("\n")
    return "\n".join(line[3:] for line in lines) + "\n"


def filled(text, values):
    """The text with values for the words between @ signs."""
    return re.sub(r"@([A-Z0-9]+)@", lambda found: values[found.group(1)], text)


def packed_tar(folder, files):
    """The bytes of a .tar.gz that depend on names and texts only."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(files):
            data = files[name].encode()
            entry = tarfile.TarInfo(folder + "/" + name)
            entry.size, entry.mode = len(data), 0o644
            tar.addfile(entry, io.BytesIO(data))
    return gzip.compress(raw.getvalue(), mtime=0)


def packed_zip(folder, path):
    """A zip of all files of a folder."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        for base, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                inside = os.path.relpath(os.path.join(base, name), folder)
                zipped.writestr(zipfile.ZipInfo(inside.replace(os.sep, "/")), read(base, name),
                                zipfile.ZIP_DEFLATED)


def copied(source, target, values):
    """The files of a package's folder, filled in."""
    for base, _, names in os.walk(source):
        for name in names:
            inside = os.path.relpath(os.path.join(base, name), source)
            write(filled(read(base, name), values), target, inside)


def make(folder, url):
    """Makes all packages; returns the values that were filled in."""
    header = read(ROOT, "mimicdyn.h")
    summary, version = facts(header)
    name = "mimicdyn-" + version
    values = {"SUMMARY": summary, "VERSION": version, "URL": url.rstrip("/"), "FOLDER": name,
              "ARCHIVE": name + ".tar.gz"}
    files = {"mimicdyn.h": header, "LICENSE": license(header), "README.md": read(ROOT, "README.md"),
             "CMakeLists.txt": read(HERE, "cmake", "CMakeLists.txt"),
             "meson.build": filled(read(HERE, "meson", "meson.build"), values),
             "gripper.c": read(HERE, "gripper.c"), "gripper_sketch.ino": read(
                 ROOT, "examples", "gripper_sketch", "gripper_sketch.ino")}

    archive = packed_tar(name, {n: files[n] for n in ARCHIVE[""]})
    values["SHA256"] = hashlib.sha256(archive).hexdigest()
    values["SHA512"] = hashlib.sha512(archive).hexdigest()
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with open(os.path.join(folder, values["ARCHIVE"]), "wb") as file:
        file.write(archive)

    for package, common in COMMON.items():
        target = os.path.join(folder, package, "mimicdyn")
        copied(os.path.join(HERE, package), target, values)
        for inside, added in common.items():
            for each in added:
                write(files[each], target, inside, each)
    os.remove(os.path.join(folder, "meson", "mimicdyn", "meson.build"))
    packed_zip(os.path.join(folder, "cmsis", "mimicdyn"),
               os.path.join(folder, "cmsis", "mimicdyn.mimicdyn.%s.pack" % version))
    return values


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--url", default="https://example.invalid/mimicdyn")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args(arguments)
    values = make(given.folder, given.url)
    print("version %s, sha256 %s, in %s" % (values["VERSION"], values["SHA256"], given.folder))
    if not given.check:
        return 0
    from check_packages import check
    return check(given.folder, values)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
