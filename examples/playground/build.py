#!/usr/bin/env python3
"""build.py OUT FIXED.wasm FIXED.hashes F32.wasm F32.hashes: makes one HTML file of page.html, its
style and scripts, both WebAssembly modules (gzip, base64) and the hashes that the C programs
printed. Fails if the file is larger than 250 KB."""

import base64
import gzip
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
SCRIPTS = ("core", "gripper", "planets", "train", "hoist", "scalars", "start")
MOST = 250_000


def packed(path):
    return base64.b64encode(gzip.compress(pathlib.Path(path).read_bytes(), mtime=0)).decode()


def main(out, wasm_fixed, hashes_fixed, wasm_f32, hashes_f32):
    scripts = [(HERE / (name + ".js")).read_text() for name in SCRIPTS]
    parts = {
        "STYLE": (HERE / "page.css").read_text(),
        "SCRIPTS": "\n".join(scripts),
        "NATIVE": pathlib.Path(hashes_fixed).read_text() + pathlib.Path(hashes_f32).read_text(),
        "WASM_FIXED": packed(wasm_fixed),
        "WASM_F32": packed(wasm_f32),
    }
    page = (HERE / "page.html").read_text()
    for name, text in parts.items():
        before, mark, after = page.partition("@" + name + "@")
        if not mark:
            sys.exit("page.html has no @" + name + "@")
        page = before + text + after
    size = len(page.encode())
    if size > MOST:
        sys.exit(f"the page has {size} bytes, at most {MOST}")
    pathlib.Path(out).write_text(page)
    print(f"{out}: {size / 1000:.0f} kB, open it in a browser")


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
