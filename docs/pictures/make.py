#!/usr/bin/env python3
"""Makes the README's pictures: the command's output for the invented app in fixtures/27/orchard.

    cargo build && python3 docs/pictures/make.py target/debug/traceparse

A second argument names a different output folder. Needs only Python's standard library.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RECORDING = "fixtures/27/orchard/input.xml"
COLUMNS = 80
# The approximate width of a README on GitHub, in pixels.
FLAME_GRAPH_WIDTH = 840

CELL, LINE, MARGIN = 7.8, 19, 18
FONT = "13px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
STYLE = f"""
text {{ font: {FONT}; fill: #dfe3e8; white-space: pre; }}
.bold {{ font-weight: 700; fill: #ffffff; }}
.dim {{ fill: #98a2ae; }}
.red {{ fill: #ff8f85; }}
.green {{ fill: #7fd48c; }}
.yellow {{ fill: #e8c15a; }}
.cyan {{ fill: #6cc7dc; }}
"""
CLASSES = {"1": "bold", "2": "dim", "31": "red", "32": "green", "33": "yellow", "36": "cyan"}
ESCAPE = re.compile(r"\x1b\[([0-9;]*)m")


def run(command, *arguments):
    """Returns what the command prints, as on a terminal of 80 columns."""
    unset = ("NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    environment["COLUMNS"] = str(COLUMNS)
    done = subprocess.run([command, *arguments], cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE)
    return done.stdout.decode()


def spans(line):
    """Yields the parts of a line with the class of each."""
    kind = ""
    for index, part in enumerate(ESCAPE.split(line)):
        if index % 2 == 0:
            if part:
                yield kind, part
        elif part in ("", "0"):
            kind = ""
        else:
            kind = CLASSES[part]


def text(line, y):
    """Returns a line as an element. Its length depends on its columns, not on the font."""
    parts = list(spans(line))
    columns = sum(len(part) for _, part in parts)
    if columns == 0:
        return ""
    marked = "".join(
        f'<tspan class="{kind}">{escape(part)}</tspan>' if kind else escape(part) for kind, part in parts
    )
    length = f'textLength="{columns * CELL:.1f}" lengthAdjust="spacingAndGlyphs"'
    return f'<text x="{MARGIN}" y="{y}" {length} xml:space="preserve">{marked}</text>\n'


def terminal(command_line, output):
    """Returns a picture of a terminal that shows a command and its output."""
    lines = [f"\x1b[32m$\x1b[0m \x1b[1m{command_line}\x1b[0m", *output.rstrip("\n").split("\n")]
    columns = max(len(ESCAPE.sub("", line)) for line in lines)
    width = round(2 * MARGIN + columns * CELL)
    height = 2 * MARGIN + LINE * len(lines)
    texts = "".join(text(line, MARGIN + LINE * index + 14) for index, line in enumerate(lines))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">\n'
        f"<title>{escape(command_line)}</title>\n<style>{STYLE}</style>\n"
        f'<rect width="{width}" height="{height}" rx="10" fill="#14171b"/>\n{texts}</svg>\n'
    )


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    command = str(Path(sys.argv[1]).resolve())
    folder = Path(sys.argv[2]) if len(sys.argv) == 3 else HERE
    overview = run(command, RECORDING, "--color", "always")
    look = ("--format", "svg", "--no-threads", "--width", str(FLAME_GRAPH_WIDTH))
    flame_graph = run(command, RECORDING, *look)
    pictures = {"overview.svg": terminal(f"traceparse {RECORDING}", overview), "flame-graph.svg": flame_graph}
    for name, picture in pictures.items():
        (folder / name).write_bytes(picture.encode())


main()
