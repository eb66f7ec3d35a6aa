"""Checks of what make_packages.py makes. Each package is built once and the built program, a
gripper, is run: by the ecosystem's own tool where it is here, otherwise by a stand-in for what the
tool does with the package's files. The last column says which."""

import ast
import configparser
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import types
import xml.etree.ElementTree as ElementTree
import zipfile
from concurrent.futures import ThreadPoolExecutor

from make_packages import HERE, ROOT, read, write

SOURCES = (".c", ".cc", ".cpp", ".cxx", ".S", ".s", ".ino")
ARDUINO = "/usr/share/arduino/hardware"
ARDUINO_FIELDS = ("name version author maintainer sentence paragraph category url "
                  "architectures").split()
ARDUINO_CATEGORIES = ("Display", "Communication", "Signal Input/Output", "Sensors",
                      "Device Control", "Timing", "Data Storage", "Data Processing", "Other")
PDSC = "vendor name description url license releases keywords components".split()
COMPILER = shlex.split(os.environ.get("CC", "cc"))
CMAKE = ["-DCMAKE_C_COMPILER=" + COMPILER[0]]
PROGRAM = "add_executable(gripper gripper.c)\nset_property(TARGET gripper PROPERTY C_STANDARD 99)\n"
LINK = "target_link_libraries(gripper PRIVATE mimicdyn::mimicdyn)\n"


class Failed(Exception):
    """What is wrong with a package."""


def require(good, what):
    if not good:
        raise Failed(what)


def run(command, folder=None):
    """Output of a command that must end with 0."""
    ran = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, check=False, timeout=300)
    require(ran.returncode == 0, "%s ends with %d:\n%s" % (
        " ".join(command[:3]), ran.returncode, "\n".join(ran.stdout.splitlines()[-15:])))
    return ran.stdout


def files_of(folder):
    """All files under a folder, without builds and what begins with a dot."""
    found = []
    for base, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f != "build" and not f.startswith("."))
        found += [os.path.relpath(os.path.join(base, n), folder) for n in sorted(names)]
    return found


def compile_and_run(include, folder):
    """gripper.c as a compiler sees it that is only told where the header lies."""
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, "gripper")
    run(COMPILER + ["-std=c99", "-I", include, os.path.join(HERE, "gripper.c"), "-o", program])
    run([program])


def cmake_and_run(folder, text, *arguments):
    """A CMake project of gripper.c, with the text that must make the header known."""
    write("cmake_minimum_required(VERSION 3.16)\nproject(app C)\n" + text, folder, "CMakeLists.txt")
    shutil.copy(os.path.join(HERE, "gripper.c"), folder)
    run(["cmake", "-S", folder, "-B", folder + "/build"] + CMAKE + list(arguments))
    run(["cmake", "--build", folder + "/build"])
    run([folder + "/build/gripper"])


def mapping(text):
    """YAML of nested mappings with plain or quoted values, as dictionaries."""
    root = {}
    stack = [(-1, root)]
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = re.match(r'( *)("[^"]*"|[\w-]+):(?: +(.*))?$', line)
        require(found, "not read as YAML: " + line)
        depth, key, value = len(found.group(1)), found.group(2).strip('"'), found.group(3)
        while stack[-1][0] >= depth:
            stack.pop()
        stack[-1][1][key] = value.strip('"') if value else {}
        if not value:
            stack.append((depth, stack[-1][1][key]))
    return root


# ---- what is checked of every package ----

def check_files(package, version):
    """No file with words left to fill in; nothing that would be compiled unasked; the license where
    the header is."""
    names = files_of(package)
    for name in names:
        text = read(package, name)
        require(name.endswith(".h") or not re.search(r"@[A-Z0-9]+@", text), name + " is not filled")
    stray = [n for n in names if n.endswith(SOURCES)
             and not re.match(r"examples/|template/|all/test_package/", n)]
    require(not stray, "would be compiled: " + ", ".join(stray))
    if any(n.endswith("mimicdyn.h") for n in names):
        require("MIT License" in read(package, "LICENSE"), "LICENSE has no license")
    require(version in "".join(read(package, n) for n in names if not n.endswith(".h"))
            or package.endswith(os.path.join("zephyr", "mimicdyn")), "no file has the version")


# ---- with the ecosystem's own tool ----

def check_cmake(folder, values, work):
    archive = os.path.join(os.path.abspath(folder), values["ARCHIVE"])
    cmake_and_run(work + "/fetched", "include(FetchContent)\n"
                  "FetchContent_Declare(mimicdyn URL %s URL_HASH SHA256=%s)\n"
                  "FetchContent_MakeAvailable(mimicdyn)\n" % (archive, values["SHA256"])
                  + PROGRAM + LINK)
    cmake_and_run(work + "/repository", "add_subdirectory(%s mimicdyn)\n"
                  % os.path.join(HERE, "cmake") + PROGRAM + LINK)
    build, prefix = work + "/build", os.path.abspath(work) + "/prefix"
    run(["cmake", "-S", work + "/fetched/build/_deps/mimicdyn-src", "-B", build,
         "-DCMAKE_INSTALL_PREFIX=" + prefix])
    run(["cmake", "--install", build])
    cmake_and_run(work + "/installed", "find_package(mimicdyn %s REQUIRED CONFIG)\n"
                  % values["VERSION"] + PROGRAM + LINK, "-DCMAKE_PREFIX_PATH=" + prefix)
    return "tool", "FetchContent of archive and repository, find_package when installed"


def check_meson(folder, values, work):
    package = os.path.join(folder, "meson", "mimicdyn")
    wrap = configparser.ConfigParser()
    wrap.read(os.path.join(package, "subprojects", "mimicdyn.wrap"))
    with open(os.path.join(folder, wrap["wrap-file"]["source_filename"]), "rb") as file:
        require(hashlib.sha256(file.read()).hexdigest() == wrap["wrap-file"]["source_hash"],
                "source_hash is not that of the archive")
    if not shutil.which("meson"):
        return "structure", "the wrap's fields and hash; meson is not here"
    shutil.copytree(package, work)
    os.makedirs(work + "/subprojects/packagecache")
    shutil.copy(os.path.join(folder, values["ARCHIVE"]), work + "/subprojects/packagecache")
    shutil.copy(os.path.join(HERE, "gripper.c"), work)
    write("project('app', 'c', default_options: ['c_std=c99'])\n"
          "executable('gripper', 'gripper.c', dependencies: dependency('mimicdyn'))\n",
          work, "meson.build")
    run(["meson", "setup", "build"], work)
    run(["meson", "compile", "-C", "build"], work)
    run([work + "/build/gripper"])
    return "tool", "subproject from the wrap, archive in its cache"


def build_sketch(libraries, sketch, build):
    """The sketch for the Mega 2560; fails if a warning names the header."""
    os.makedirs(build)
    # Debian's core for AVR needs DECIMAL_DIG, which its compiler has in C only.
    text = run(["arduino-builder", "-compile", "-hardware", "/usr/share/arduino-builder",
                "-hardware", ARDUINO, "-tools", "/usr/bin", "-libraries", libraries, "-fqbn",
                "arduino:avr:mega:cpu=atmega2560", "-build-path", build, "-warnings", "all",
                "-prefs=runtime.tools.avr-gcc.path=/usr",
                "-prefs=compiler.cpp.extra_flags=-DDECIMAL_DIG=9", sketch])
    require("mimicdyn.h:" not in text and "gripper_sketch.ino:" not in text, "warnings:\n" + text)
    compiled = [n for n in files_of(build + "/libraries") if n.endswith(".o")]
    require(not compiled, "files of the library were compiled: " + ", ".join(compiled))
    return re.search(r"Sketch uses (\d+) bytes", text).group(1)


def check_arduino(folder, values, work):
    package = os.path.join(folder, "arduino", "mimicdyn")
    fields = dict(line.split("=", 1) for line in read(package, "library.properties").splitlines())
    missing = [f for f in ARDUINO_FIELDS if not fields.get(f)]
    require(not missing, "library.properties lacks " + ", ".join(missing))
    require(fields["category"] in ARDUINO_CATEGORIES, "there is no such category")
    require(fields["version"] == values["VERSION"], "another version")
    require(os.path.exists(os.path.join(package, "src", fields["includes"])), "no such header")
    sketch = os.path.join(package, "examples", "gripper_sketch", "gripper_sketch.ino")
    if not shutil.which("arduino-builder") or not os.path.isdir(ARDUINO):
        compiler = shutil.which("c++")
        require(compiler, "neither arduino-builder nor a C++ compiler is here")
        run([compiler, "-std=c++11", "-fsyntax-only", "-I", package + "/src", "-x", "c++",
             os.path.join(package, "src", "mimicdyn.h")])
        return "structure", "library.properties, header as C++; arduino-builder is not here"
    flash = build_sketch(os.path.join(folder, "arduino"), sketch, work + "/package")
    for name in files_of(ROOT):   # the repository as it is: a library of the oldest kind
        target = os.path.join(work, "libraries", "mimicdyn", name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(os.path.join(ROOT, name), target)
    build_sketch(work + "/libraries", sketch, work + "/repository")
    return "tool", "the sketch for the Mega 2560, %s bytes; with package and repository" % flash


# ---- with a stand-in ----

def check_platformio(folder, values, work):
    package = os.path.join(folder, "platformio", "mimicdyn")
    manifest = json.loads(read(package, "library.json"))
    for field, longest in (("name", 50), ("version", 20), ("description", 255)):
        require(0 < len(manifest[field]) <= longest, "%s has no or too many letters" % field)
    require(manifest["version"] == values["VERSION"], "another version")
    require(manifest["build"]["srcFilter"] == ["-<*>"], "would compile files")
    require(os.path.exists(os.path.join(package, "include", manifest["headers"])), "no header")
    compile_and_run(package + "/include", work)
    repository_in_platformio(work)
    return "stand-in", "manifest; header compiled; repository: no symbols from unasked files"


def repository_in_platformio(work):
    """Without a manifest PlatformIO compiles every file of a repository that is not in a folder of
    examples or tests: then none of them may define anything."""
    for name in files_of(ROOT):
        if not name.endswith(SOURCES) or {"example", "examples", "test", "tests"} & set(
                name.split(os.sep)[:1]):
            continue
        made = work + "/unasked.o"
        run(COMPILER + ["-DPLATFORMIO=60116", "-I", ROOT, "-c", os.path.join(ROOT, name),
                        "-o", made])
        symbols = run(["nm", "--defined-only", made]).split()
        require(not symbols, "%s would be compiled into firmware: %s" % (name, symbols[2:3]))


def check_esp_idf(folder, values, work):
    package = os.path.join(os.path.abspath(folder), "esp-idf", "mimicdyn")
    manifest = mapping(read(package, "idf_component.yml"))
    for field in ("version", "description", "url", "license"):
        require(manifest.get(field), "idf_component.yml lacks " + field)
    require(manifest["version"] == values["VERSION"], "another version")
    cmake_and_run(work, PROGRAM + """
function(idf_component_register)
    cmake_parse_arguments(PARSE_ARGV 0 given "" "" "SRCS;INCLUDE_DIRS")
    foreach(each ${given_INCLUDE_DIRS})
        target_include_directories(gripper PRIVATE ${CMAKE_CURRENT_LIST_DIR}/${each})
    endforeach()
endfunction()
add_subdirectory(%s component)
""" % package)
    return "stand-in", "manifest; cmake with its own idf_component_register"


def check_zephyr(folder, _values, work):
    package = os.path.join(os.path.abspath(folder), "zephyr", "mimicdyn")
    build = mapping(read(package, "zephyr", "module.yml"))["build"]
    options = re.findall(r"^config (\w+)\n\tbool ", read(package, build["kconfig"]), re.M)
    require(options == ["MIMICDYN"], "Kconfig has the options " + " ".join(options))
    cmake_and_run(work, PROGRAM + """
function(zephyr_include_directories)
    target_include_directories(gripper PRIVATE ${ARGV})
endfunction()
set(CONFIG_%s y)
add_subdirectory(%s/%s module)
""" % (options[0], package, build["cmake"]))
    return "stand-in", "module.yml, Kconfig; cmake with its own zephyr_include_directories"


def check_cmsis(folder, values, work):
    pack = os.path.join(folder, "cmsis", "mimicdyn.mimicdyn.%s.pack" % values["VERSION"])
    with zipfile.ZipFile(pack) as zipped:
        zipped.extractall(work)
    names = files_of(work)
    package = ElementTree.parse(os.path.join(work, "mimicdyn.mimicdyn.pdsc")).getroot()
    require([e.tag for e in package] == PDSC, "elements are not " + " ".join(PDSC))
    require(package.find("releases/release").get("version") == values["VERSION"], "another version")
    require(package.find("url").text.startswith("https://"), "its url must be https")
    listed = [f.get("name") for f in package.iter("file")] + [package.find("license").text]
    for name in listed:
        require(name in names, "the pack has no file " + name)
    require(set(names) == set(listed) | {"mimicdyn.mimicdyn.pdsc"}, "the pack has other files")
    compile_and_run(work, work + "-program")
    arm = shutil.which("arm-none-eabi-gcc")
    if arm:
        run([arm, "-mcpu=cortex-m4", "-mthumb", "-std=c99", "-Os", "-I", work, "-c",
             os.path.join(work, "template", "mimicdyn.c"), "-o", work + "-program/arm.o"])
    return "stand-in", "description and files of the pack; compiled%s" % (
        " for Cortex-M4 too" if arm else "")


VCPKG = """
function(vcpkg_download_distfile out)
    cmake_parse_arguments(PARSE_ARGV 1 given "" "FILENAME;SHA512" "URLS")
    file(SHA512 ${FOLDER}/${given_FILENAME} sum)
    if(NOT sum STREQUAL given_SHA512)
        message(FATAL_ERROR "SHA512 is not that of the archive")
    endif()
    set(${out} ${FOLDER}/${given_FILENAME} PARENT_SCOPE)
endfunction()
function(vcpkg_extract_source_archive out)
    cmake_parse_arguments(PARSE_ARGV 1 given "" "ARCHIVE" "")
    file(ARCHIVE_EXTRACT INPUT ${given_ARCHIVE} DESTINATION ${WORK}/source)
    file(GLOB inside ${WORK}/source/*)
    set(${out} ${inside} PARENT_SCOPE)
endfunction()
function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 given "" "SOURCE_PATH" "")
    execute_process(COMMAND ${CMAKE_COMMAND} -S ${given_SOURCE_PATH} -B ${WORK}/build
        -DCMAKE_INSTALL_PREFIX=${WORK}/installed COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_install)
    execute_process(COMMAND ${CMAKE_COMMAND} --install ${WORK}/build COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_config_fixup) # moves nothing where share/PORT is its place already
    if(NOT EXISTS ${WORK}/installed/share/mimicdyn/mimicdyn-config.cmake)
        message(FATAL_ERROR "no share/mimicdyn/mimicdyn-config.cmake")
    endif()
endfunction()
function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 given "" "" "FILE_LIST")
    file(COPY_FILE ${given_FILE_LIST} ${WORK}/installed/share/mimicdyn/copyright)
endfunction()
include(${PORT}/portfile.cmake)
"""


def check_vcpkg(folder, values, work):
    port = os.path.join(os.path.abspath(folder), "vcpkg", "mimicdyn")
    manifest = json.loads(read(port, "vcpkg.json"))
    require(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", manifest["name"]), "not a name for a port")
    require(manifest["version"] == values["VERSION"], "another version")
    work = os.path.abspath(work)
    write(VCPKG, work, "stand_in.cmake")
    run(["cmake", "-DFOLDER=" + os.path.abspath(folder), "-DWORK=" + work, "-DPORT=" + port,
         "-P", work + "/stand_in.cmake"])
    require(files_of(work + "/installed") == [
        "include/mimicdyn.h", "share/mimicdyn/copyright",
        "share/mimicdyn/mimicdyn-config-version.cmake",
        "share/mimicdyn/mimicdyn-config.cmake"], "installs other files")
    cmake_and_run(work + "/app", "find_package(mimicdyn REQUIRED CONFIG)\n" + PROGRAM + LINK,
                  "-DCMAKE_PREFIX_PATH=%s/installed" % work)
    return "stand-in", "manifest; portfile run by cmake with its own vcpkg_ functions"


def conan_modules(folder):
    """What the recipe uses of Conan: the base class, and get and copy of real files."""
    def get(_recipe, url, sha256, destination, strip_root):
        path = os.path.join(folder, url.rsplit("/", 1)[1])
        with open(path, "rb") as file:
            require(hashlib.sha256(file.read()).hexdigest() == sha256, "sha256 of the archive")
        with tarfile.open(path) as tar:
            for entry in tar.getmembers():
                name = entry.name.split("/", 1)[1] if strip_root else entry.name
                write(tar.extractfile(entry).read().decode(), destination, name)

    def copy(_recipe, pattern, source, target):
        os.makedirs(target, exist_ok=True)
        shutil.copy(os.path.join(source, pattern), target)

    made = {"conan": {"ConanFile": object}, "conan.tools": {},
            "conan.tools.files": {"get": get, "copy": copy},
            "conan.tools.layout": {"basic_layout": lambda recipe, src_folder: None}}
    for name, content in made.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(content)


def check_conan(folder, values, work):
    package = os.path.join(folder, "conan", "mimicdyn")
    version = values["VERSION"]
    place = mapping(read(package, "config.yml"))["versions"][version]["folder"]
    for name in ("conanfile.py", "test_package/conanfile.py"):
        ast.parse(read(package, place, name), name)
    conan_modules(folder)
    scope = {}
    exec(compile(read(package, place, "conanfile.py"), "conanfile.py", "exec"), scope)
    recipe = scope["MimicdynConan"]()
    recipe.version, recipe.conan_data = version, mapping(read(package, place, "conandata.yml"))
    recipe.source_folder, recipe.package_folder = work + "/source", work + "/package"
    recipe.cpp_info = types.SimpleNamespace(set_property=lambda name, value: None)
    recipe.source()
    recipe.package()
    recipe.package_info()
    require(files_of(work + "/package") == ["include/mimicdyn.h", "licenses/LICENSE"],
            "packages other files")
    compile_and_run(work + "/package/include", work)
    return "stand-in", "recipe run with its own get and copy; test_package: syntax"


CHECKS = {"arduino": check_arduino, "platformio": check_platformio, "esp-idf": check_esp_idf,
          "zephyr": check_zephyr, "cmsis": check_cmsis, "vcpkg": check_vcpkg,
          "conan": check_conan, "meson": check_meson, "cmake": check_cmake}


def judged(name, folder, values):
    """How a package was built, and what was done."""
    work = os.path.join(os.path.abspath(folder), "checked", name)
    try:
        if os.path.isdir(os.path.join(folder, name)):
            check_files(os.path.join(folder, name, "mimicdyn"), values["VERSION"])
        return CHECKS[name](folder, values, work)
    except (Failed, KeyError, OSError, ValueError, SyntaxError, ElementTree.ParseError,
            subprocess.TimeoutExpired) as fault:
        return "FAILED", "%s: %s" % (type(fault).__name__, fault)


def check(folder, values):
    """Prints a line for each package; 0 if all are well."""
    ways = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, (way, text) in zip(CHECKS, pool.map(
                lambda name: judged(name, folder, values), CHECKS)):
            print("%-11s %-10s %s" % (name, way, text), flush=True)
            ways.append(way)
    print("%d packages built by their own tool, %d by a stand-in, %d looked at, %d failed" % tuple(
        ways.count(way) for way in ("tool", "stand-in", "structure", "FAILED")))
    return 1 if "FAILED" in ways else 0
