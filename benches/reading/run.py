#!/usr/bin/env python3
"""Measures how fast exports are read, compared with other programs, and checks that the results are the same.

    benches/reading/run.py [SECTION ...] [--rounds N] [--quick] [--scale X] [--work FOLDER] [--traceparse FILE]

    peers    an export of 459 MB: traceparse, inferno, quick-xml, memchr, ElementTree
    checks   compares their sums, functions and stacks
    memory   5 GB through a pipe: peak memory
    gzip     a compressed export, compared with only decompressing it
    batch    500 exports of 5 MB, compared with the rate of one core
    shapes   only reading, by Xcode and number of threads
    bundles  recordings, compared with exports of the same rows
    growth   the cost of more rows, distinct stacks, depth and files

Without SECTION, all sections run, which takes about 20 minutes and 7 GB in FOLDER (target/bench). Needs cargo, gzip and python3,
and on the first run crates.io, to build the peers. Every process is started anew, files are in the page cache, output goes to
/dev/null, and programs take turns (A B C A B C). Each number is a separate median over the rounds, and ratios are ratios of
medians. Nothing is pinned to a core. Exits with 1 if a check fails or a target is missed.
"""

import argparse
import resource
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import batch  # noqa: E402
import bundles  # noqa: E402
import checks  # noqa: E402
import compare  # noqa: E402
import compressed  # noqa: E402
import growth  # noqa: E402
import memory  # noqa: E402
from measure import MIB, RSS_UNIT, apart  # noqa: E402
from tools import ROOT, Tools  # noqa: E402

SECTIONS = {"peers": compare.section, "checks": checks.section, "memory": memory.section, "gzip": compressed.section,
            "batch": batch.section, "shapes": growth.shapes, "bundles": bundles.section, "growth": growth.growth}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="the sections to run; all by default")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="leave out ElementTree, which takes half a minute")
    parser.add_argument("--scale", type=float, default=1.0, help="multiply all sizes by this, to try the script")
    parser.add_argument("--work", type=Path, default=ROOT / "target/bench", help="folder for the exports")
    parser.add_argument("--traceparse", type=Path, help="the command to measure; built from this repository if missing")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.sections if name not in SECTIONS]:
        parser.error(f"no section has the name {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    tools = Tools(arguments.work.resolve(), arguments.traceparse)
    tools.describe()
    print(f"peaks are at least this script's own {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_UNIT / MIB:.0f} MiB")
    is_good = True
    for name in arguments.sections or SECTIONS:
        section = SECTIONS[name]
        what = (tools, arguments.rounds, arguments.scale, arguments.quick)
        # Checks need much memory.
        is_good &= apart(section, *what) if section is checks.section else section(*what)
    if not is_good:
        sys.exit("run.py: a check failed or a target is missed")


if __name__ == "__main__":
    main()
