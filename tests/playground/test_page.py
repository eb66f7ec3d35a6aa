#!/usr/bin/env python3
"""test_page.py PAGE [--write DIRECTORY]: opens the page in Chromium from its file, takes hold of
the machines with mouse, finger and keys, and reads what it shows. The hashes of 1,000 steps must be
those that the C programs print (build/playground-fixed, build/playground-f32). --write stores
pictures instead. Needs chromium and chromedriver (Debian: chromium-driver)."""

import base64
import contextlib
import pathlib
import re
import shutil
import subprocess
import sys
import time

from webdriver import Browser

MACHINES = ("gripper", "planetary gear", "train, exact", "train, iterated", "hoist", "chain")
failures = []


def check(what, condition, seen=""):
    print(f"  {'ok   ' if condition else 'WRONG'} {what}{f': {seen}' if seen != '' else ''}")
    if not condition:
        failures.append(what)


def number(text):
    """The first number of a text of the page, whose minus is U+2212."""
    found = re.search(r"-?\d+(\.\d+)?(e[+-]?\d+)?", text.replace("\u2212", "-").replace(",", ""))
    return float(found.group()) if found else float("nan")


class Page(Browser):
    """The page, opened anew by each test."""

    def open_page(self, path):
        self.open(pathlib.Path(path).resolve().as_uri())
        self.wait("return document.body.dataset.ready === 'yes'", "the page to start")

    def shown(self, selector):
        return number(self.text(selector))

    def settle(self, script, what):
        """Waits until a number on the page is as it must be."""
        try:
            self.wait("const number = (id) => parseFloat(document.getElementById(id).textContent"
                      ".replace('\\u2212', '-')); return " + script, what)
        except TimeoutError as late:
            check(str(late), False)

    def show(self, section):
        self.run("document.querySelector('#' + arguments[0]).scrollIntoView()", section)
        self.wait("return " + section + ".visible", section + " to be visible")
        time.sleep(0.2)

    def pass_time(self, section, seconds):
        """Steps a machine faster than the page does."""
        self.run(f"for (let k = 0; k < arguments[0]; k++) {section}.step(10, 0.01);"
                 f"drawScene({section})", round(100 * seconds))

    def freeze(self, section):
        """From now on only pass_time steps the machine."""
        self.run(section + ".visible = false")

    def handle(self, section):
        """Where a machine can be taken hold of, in the window."""
        return self.run(f"const [x, y] = {section}.handle();"
                        f"const box = {section}.canvas.getBoundingClientRect();"
                        "return [Math.round(box.left + x), Math.round(box.top + y)]")

    def slide(self, selector, value):
        self.run("const input = document.querySelector(arguments[0]); input.value = arguments[1];"
                 "input.dispatchEvent(new Event('input', { bubbles: true }))", selector, value)


def printed_hashes(build):
    """Of each machine, (fixed, float), as the C programs print them now."""
    columns = [subprocess.run([build / f"playground-{scalar}"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.split() for scalar in ("fixed", "f32")]
    return list(zip(*columns))


def test_file(page, path):
    size = pathlib.Path(path).stat().st_size
    check("bytes of the file, at most 250 kB", size <= 250_000, size)
    text = pathlib.Path(path).read_text()
    check("no address of a network in it", not re.search(r"https?://|@import|url\(", text))
    loaded = page.run("return performance.getEntriesByType('resource').map((e) => e.name)")
    check("nothing was loaded", [name for name in loaded if not name.startswith("data:")] == [])


def test_hashes(page, path):
    expected = printed_hashes(pathlib.Path(path).parent)
    check("machines hashed in C", len(expected) == len(MACHINES), len(expected))
    rows = page.run("return [...document.querySelectorAll('.hashes tbody tr')].map((row) =>"
                    "[...row.cells].map((cell) => cell.textContent))")
    check("machines on the page", tuple(row[0] for row in rows) == MACHINES, len(rows))
    for row, hashes in zip(rows, expected):
        check(f"hash of 1,000 steps, {row[0]}", (row[1], row[3]) == hashes, " ".join(hashes))
        check("... and the page says so", (row[2], row[4]) == ("same in C", "same in C"))
    check("hashes are of different states", len({h for pair in expected for h in pair}) == 12)
    page.show("scalars")
    page.settle("number('scalars-steps') > 1000", "1,000 steps of the chain")
    shown = (page.text("#scalars-fixed"), page.text("#scalars-float"))
    check("hash of the chain that swings on the page", shown == expected[-1], shown[0])
    check("... and what it says", "both are those" in page.text("#scalars-said"))


def test_changed(page, path):
    """The comparison can fail: a page with another hash says so."""
    text = pathlib.Path(path).read_text()
    first = re.search(r'id="native">([0-9a-f])', text)
    digit = "0" if first.group(1) != "0" else "1"
    changed = pathlib.Path(path).with_name("playground-changed.html")
    changed.write_text(text[:first.start(1)] + digit + text[first.end(1):])
    page.open_page(changed)
    said = page.run("return [...document.querySelectorAll('.hashes td.bad')].map((cell) =>"
                    "cell.textContent)")
    changed.unlink()
    check("a hash of other steps is found", said == ["differs in C"], said)


def test_gripper(page, exact, touch):
    page.show("gripper")
    page.run("document.querySelector('#gripper-object').click()")
    page.slide("#gripper-goal", 0)
    page.pass_time("gripper", 1)
    at = page.handle("gripper")
    page.press(at, touch)
    page.move((at[0] + 60, at[1] + 5), touch)
    page.settle("number('gripper-q') > 0.3", "the finger to follow")
    pull = page.run("return gripper.held")
    error = page.shown("#gripper-error")
    page.release(touch)
    q = page.shown("#gripper-q")
    check("held while pressed", pull is True)
    check("finger dragged by 60 pixels [rad]", 0.3 < q < 0.7, q)
    check("couplings hold [rad]", error < exact, error)
    page.pass_time("gripper", 0.4)
    check("stays where it was put [rad]", abs(page.shown("#gripper-q") - q) < 0.02)
    page.press((at[0] + 300, at[1]), touch)
    check("nothing to hold beside it", page.run("return gripper.held") is False)
    page.release(touch)
    page.run("document.querySelector('#gripper-object').click()")


def test_grip(page):
    page.show("gripper")
    page.keys("#gripper canvas", "ArrowRight", 14)
    page.pass_time("gripper", 3)
    check("the motor at its limit [N m]", page.shown("#gripper-drive") == 5)
    grip, q = page.shown("#gripper-grip"), page.shown("#gripper-q")
    spring = 20e3 * 2 * 0.05585 * (q - 0.4368)
    check("grip is the object's spring [N]", abs(grip - spring) < 0.3, f"{grip}, {spring:.1f}")


def test_frozen(page):
    page.show("gripper")
    page.run("document.querySelector('#gripper-limits').click()")
    said = page.text("#gripper-said")
    check("the header says why it is frozen", "leave its leader one position" in said)
    check("... who", "left_inner_finger_joint" in said)
    check("... and the range", "from 0.000 to 0.000 rad" in said)
    at = page.handle("gripper")
    page.press(at)
    page.move((at[0] + 60, at[1] + 5))
    page.pass_time("gripper", 0.5)
    force = abs(page.shown("#gripper-drive"))
    q = page.shown("#gripper-q")
    page.release()
    check("the hand pulls [N m]", force > 3, force)
    check("... and nothing moves [rad]", q == 0, q)
    page.run("document.querySelector('#gripper-limits').click()")
    check("free again", page.text("#gripper-said") == "")
    page.press(at)
    page.move((at[0] + 60, at[1] + 5))
    page.settle("number('gripper-q') > 0.3", "the finger to follow again")
    page.release()
    check("the equation of a coupling", page.text("#gripper .equation").startswith(
        "coupling 3: q(right_inner_finger_joint) - q(finger_joint) = 0 [rad]"))


def torques(page):
    rows = page.run("return [...document.querySelectorAll('#planets tbody tr')].map((row) =>"
                    "[row.cells[1].textContent, row.cells[2].textContent])")
    return [number(v) for v, _ in rows], [number(t) for _, t in rows]


def test_planets(page, zero):
    page.show("planets")
    page.slide("#planets-torque", 10)
    page.pass_time("planets", 2)
    velocities, pushes = torques(page)
    check("ring held: sun turns 5 times as fast as the carrier",
          velocities[1] == 0 and abs(velocities[0] - 5 * velocities[2]) < 0.06, velocities)
    check("torques 1 : 4 : 5 [mN m]", all(abs(a - b) < 0.05 for a, b in
                                        zip(pushes, (-10, -40, 50))), pushes)
    check("their sum [mN m]", abs(page.shown("#planets-rest")) < zero, page.text("#planets-rest"))
    page.run("document.querySelector('[data-hold=\"2\"]').click()")
    page.run("document.querySelector('[data-hold=\"3\"]').click()")
    page.pass_time("planets", 2)
    velocities, pushes = torques(page)
    check("carrier held: the ring turns back, a quarter as fast",
          velocities[2] == 0 and abs(velocities[0] + 4 * velocities[1]) < 0.06, velocities)
    check("their sum [mN m]", abs(page.shown("#planets-rest")) < zero, page.text("#planets-rest"))
    page.slide("#planets-torque", 0)
    page.pass_time("planets", 2)
    at = page.handle("planets")
    before = page.run("return play().play_q(1, 0)")
    page.press(at)
    page.move((at[0], at[1] - 40))
    page.pass_time("planets", 0.6)
    page.release()
    turned = page.run("return play().play_q(1, 0)") - before
    check("sun turned by hand [rad]", 0.5 < turned < 1.5, f"{turned:.3f}")


def test_train(page, exact):
    page.show("train")
    page.keys("#train canvas", "ArrowRight", 6)
    speed = page.shown("#train output")
    check("keys set the motor [rad/s]", speed == 6, speed)
    page.run("document.querySelector('#train-far').click()")
    page.settle("Math.abs(number('train-first')) > 150", "150 turns")
    first, last = map(number, page.run("return ['first', 'last'].map((name) =>"
                                       "document.getElementById('train-' + name).textContent)"))
    check("wheels of 24 and 21 teeth", abs(24 * first + 21 * last) < 0.5, f"{first}, {last}")
    worst, iterated = page.shown("#train-exact"), page.shown("#train-iterated")
    check("exact, worst error [teeth]", worst < exact, worst)
    check("iterated, worst error [teeth]", iterated > 1e-5, iterated)


def test_train_by_hand(page):
    page.show("train")
    before = page.run("return play().play_q(2, 0)")
    at = page.handle("train")
    page.press(at)
    page.move((at[0] - 20, at[1] - 40))
    page.pass_time("train", 0.5)
    page.release()
    turned = page.run("return play().play_q(2, 0)") - before
    check("wheel turned by hand [rad]", turned > 0.3, f"{turned:.3f}")
    check("the motor let go", page.shown("#train output") == 0)


def powers(page):
    return [number(text) for text in page.run(
        "return [...document.querySelectorAll('#hoist tbody td:last-child')].map((cell) =>"
        "cell.textContent)")]


def test_hoist(page, zero):
    page.show("hoist")
    page.freeze("hoist")
    page.run("hoist.start(); document.querySelector('[data-drive=\"60\"]').click()")
    page.pass_time("hoist", 0.4)
    height = page.run("return play().play_q(4, 3)")
    check("the weight rises [m]", 0.1 < height < 0.29, f"{height:.3f}")
    supplied, stored, clutch, gear, stops = powers(page)
    check("power [W]", supplied > 10 and stored > 5 and gear > 1,
          f"{supplied} = {stored} + {clutch} + {gear} + {stops}")
    check("the bars close [W]", abs(supplied - stored - clutch - gear - stops) < 0.04)
    check("the difference [W]", abs(page.shown("#hoist-balance")) < zero,
          page.text("#hoist-balance"))
    page.pass_time("hoist", 1.5) # at the top stop the clutch slips
    supplied, stored, clutch, gear, stops = powers(page)
    check("stalled: all is lost in the clutch [W]", abs(supplied - clutch) < 0.1, clutch)
    page.run("document.querySelector('[data-drive=\"0\"]').click()")
    page.slide("#hoist-slip", 0.1)
    page.pass_time("hoist", 1)
    check("a weak clutch lets the weight down [m]", page.run("return play().play_q(4, 3)") < 0.01)


def test_efficiency(page):
    page.slide("#hoist-slip", 0.6)
    page.slide("#hoist-efficiency", 1)
    page.slide("#hoist-play", 0)
    page.run("document.querySelector('[data-drive=\"60\"]').click()")
    page.pass_time("hoist", 0.35)
    supplied = powers(page)[0]
    check("lifts again [W]", supplied > 5, supplied)
    check("without loss and play the gear takes nothing [W]", abs(powers(page)[3]) < 0.02,
          powers(page)[3])


def test_looks(page):
    for dark in (False, True):
        page.prefer(dark)
        ink = page.run("return getComputedStyle(document.body).color")
        shade = number(ink[4:])
        check("dark" if dark else "light", (shade > 128) == dark, ink)
    page.prefer(False)
    for width in (360, 768, 1280):
        page.resize(width, 900)
        wide = page.run("return document.documentElement.scrollWidth - innerWidth")
        check(f"{width} pixels wide: nothing sticks out", wide <= 0, wide)


def test_scalar(page, value):
    page.run("document.querySelector(`[name=scalar][value=${arguments[0]}]`).click()", value)
    fixed = page.run("return play().play_memory() > modules.F32.play_memory()")
    check("computed in " + value, fixed == (value == "FIXED"))


def run_tests(page, path):
    page.open_page(path)
    test_file(page, path)
    test_hashes(page, path)
    # About five times the worst rounding error in 5,000 and more steps: coupling [rad], sum of
    # torques [mN m] (0 in float), mesh [teeth], power balance [W].
    bounds = {"FIXED": (1e-12, 2e-7, 3e-11, 2e-5), "F32": (1e-8, 1e-5, 3e-7, 2e-5)}
    for value, (joint, torque, mesh, power) in bounds.items():
        page.open_page(path)
        test_scalar(page, value)
        test_gripper(page, joint, touch=value == "F32")
        test_grip(page)
        test_planets(page, torque)
        test_train_by_hand(page)
        test_train(page, mesh)
        test_hoist(page, power)
        test_efficiency(page)
    page.open_page(path)
    test_frozen(page)
    test_looks(page)
    test_changed(page, path)
    check("nothing in the console", page.console() == [], page.console())


def write_pictures(page, path, directory):
    """Of the four machines, at 0.7 of their size."""
    page.resize(1120, 900, 0.7)
    page.open_page(path)
    for section in ("gripper", "planets", "train", "hoist"):
        page.show(section)
        page.freeze(section)
        page.run(section + ".start()")
        page.pass_time(section, 0.35 if section == "hoist" else 1.6)
        picture = base64.b64decode(page.picture("#" + section))
        (pathlib.Path(directory) / (section + ".png")).write_bytes(picture)
        print(f"{section}.png: {len(picture) / 1000:.0f} kB")


def main(path, *options):
    for tool in ("chromedriver", "chromium"):
        if not shutil.which(tool):
            sys.exit(f"there is no {tool} here; Debian's packages chromium and chromium-driver")
    began = time.time()
    with contextlib.closing(Page()) as page:
        if options[:1] == ("--write",):
            write_pictures(page, path, options[1])
            return
        run_tests(page, path)
    print(f"{len(failures)} checks failed, {time.time() - began:.0f} s" if failures
          else f"all checks passed, {time.time() - began:.0f} s")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
