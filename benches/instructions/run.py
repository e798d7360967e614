#!/usr/bin/env python3
"""Counts the instructions of reading and writing three documents, and compares them with the counts in counts.txt.

    benches/instructions/run.py [--update]

Unlike time, instruction counts do not depend on other work on the machine: two runs differ by less than 0.1 % (every
process seeds its hashes differently). `read` converts bytes to a profile, and `folded` a profile to folded stacks, both in
one thread; the cost of starting and of loading the file is subtracted. valgrind, which counts, must be installed.

An increase of more than 3 % fails. A decrease of more than 3 % is reported, so that you can record it: `--update` writes
counts.txt. Counts depend on the compiler and the processor, which the file names; counts from others are only printed.
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COUNTS = HERE / "counts.txt"
DOCUMENTS = ["frames-14.3", "frames-27", "time-sample"]
TOLERANCE = 0.03


def build(target: Path) -> Path:
    shutil.copyfile(ROOT / "Cargo.lock", HERE / "Cargo.lock")
    command = ["cargo", "build", "--release", "--quiet", "--manifest-path", HERE / "Cargo.toml", "--target-dir", target]
    # The caller's flags would change the counts.
    environment = {name: value for name, value in os.environ.items() if name not in ("RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS")}
    if subprocess.run([str(word) for word in command], cwd=HERE, env=environment).returncode != 0:
        sys.exit("run.py: the program does not build")
    return target / "release/instructions"


def count(program: Path, step: str, document: Path) -> int:
    """Returns the number of instructions of a process."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", program, step, document]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if done.returncode != 0 or found is None:
        sys.exit(f"run.py: valgrind {step} {document.name} ended with {done.returncode}\n{done.stderr}")
    return int(found[1].replace(",", ""))


def measure(program: Path, folder: Path) -> dict:
    """Instructions by document and step."""
    counts = {}
    for name in DOCUMENTS:
        document = folder / f"{name}.xml"
        subprocess.run([program, "write", name, document], check=True)
        start, read, folded = (count(program, step, document) for step in ["start", "read", "folded"])
        counts[name, "read"] = read - start
        counts[name, "folded"] = folded - read
        counts[name, "bytes"] = document.stat().st_size
    return counts


def built_for() -> str:
    """Returns what counts depend on besides the code: the compiler, and the processor features for which libraries have special code."""
    rustc = subprocess.run(["rustc", "--version"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    info = Path("/proc/cpuinfo")
    features = [name for name in ["avx2"] if info.exists() and re.search(rf"\b{name}\b", info.read_text())]
    return " ".join([rustc, platform.machine(), *features])


def save(counts: dict) -> None:
    lines = ["# Instructions by document and step; `benches/instructions/run.py --update` writes this file.", built_for()]
    lines += [f"{name} {step} {counts[name, step]}" for name, step in counts]
    COUNTS.write_text("\n".join(lines) + "\n")


def load() -> tuple:
    """Returns the compiler and processor of the counts in the file, and the counts."""
    if not COUNTS.exists():
        sys.exit("run.py: counts.txt is missing; run with --update")
    lines = COUNTS.read_text().splitlines()[1:]
    return lines[0], {tuple(line.split()[:2]): int(line.split()[2]) for line in lines[1:]}


def compare(counts: dict) -> bool:
    """Prints all counts next to the counts in the file. Returns false if one is too high."""
    known_for, known = load()
    is_same_build = known_for == built_for()
    if not is_same_build:
        print(f"counts.txt is for {known_for}, but this is {built_for()}: not compared")
    changed = [name for name in DOCUMENTS if known.get((name, "bytes")) != counts[name, "bytes"]]
    if changed:
        sys.exit(f"run.py: documents changed or are new: {', '.join(changed)}; run with --update")
    is_good = True
    print(f"{'document':14}{'step':8}{'instructions':>14}{'a byte':>9}{'counts.txt':>14}{'change':>9}")
    for (name, step), number in counts.items():
        if step == "bytes":
            continue
        change = number / known[name, step] - 1
        said = ""
        if is_same_build and change > TOLERANCE:
            is_good, said = False, "  MORE"
        elif is_same_build and change < -TOLERANCE:
            said = "  less: record it with --update"
        per_byte = number / counts[name, "bytes"]
        print(f"{name:14}{step:8}{number:14,}{per_byte:9.1f}{known[name, step]:14,}{change:+9.2%}{said}")
    return is_good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write counts.txt")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit("run.py: valgrind is missing; apt-get install --no-install-recommends valgrind")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    target = (target if target.is_absolute() else ROOT / target) / "instructions"
    counts = measure(build(target), target)
    if arguments.update:
        save(counts)
    if not compare(counts):
        sys.exit(f"run.py: more than {TOLERANCE:.0%} above counts.txt. If that is what it costs, run with --update and say why")


if __name__ == "__main__":
    main()
