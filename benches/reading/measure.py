"""Runs programs, and measures entire processes."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from typing import NamedTuple, Optional

# Linux counts peak memory in KiB, macOS in bytes.
RSS_UNIT = 1 if sys.platform == "darwin" else 1024
MIB = 1 << 20


class Run(NamedTuple):
    """One process: seconds of wall time and of CPU time (user and system, all threads), peak memory in bytes."""
    wall: float
    cpu: float
    peak: int
    # Its output, if it is kept.
    out: str = ""


def cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def measure(command: list, feed: Optional[list] = None, is_kept: bool = False) -> Run:
    """Runs `command` until it ends. Its output goes to /dev/null, or into the result. `feed` is a command that writes its standard input."""
    words = [str(word) for word in command]
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as out:
        feeder = subprocess.Popen([str(word) for word in feed], stdout=subprocess.PIPE) if feed else None
        start = time.monotonic()
        process = subprocess.Popen(words, stdin=feeder.stdout if feeder else subprocess.DEVNULL,
                                   stdout=out if is_kept else subprocess.DEVNULL, stderr=said)
        if feeder:
            feeder.stdout.close()
        _, status, used = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        # Otherwise, Popen would wait for a process that has ended.
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0 or (feeder and feeder.wait() != 0):
            said.seek(0)
            sys.exit(f"run.py: {' '.join(words)} ended with {process.returncode}\n{said.read().decode()}")
        out.seek(0)
        return Run(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * RSS_UNIT, out.read().decode())


def in_turn(programs: dict, rounds: int) -> dict:
    """Returns the medians of each program, a command by name. Programs take turns: A B C A B C. Keeps the output of the last round."""
    runs = {name: [] for name in programs}
    for _ in range(rounds):
        for name, command in programs.items():
            runs[name].append(measure(command, is_kept=is_short(command)))
    return {name: median(of_one) for name, of_one in runs.items()}


def is_short(command: list) -> bool:
    """True if a command prints the time that it took."""
    return "reading-peers" in str(command[0])


def median(runs: list) -> Run:
    """Returns the median of each number separately; for programs that print `NUMBER SECONDS`, also the median of the seconds."""
    middle = [statistics.median(run[field] for run in runs) for field in range(3)]
    out = runs[-1].out
    if out:
        seconds = statistics.median(float(run.out.split()[1]) for run in runs)
        out = f"{out.split()[0]} {seconds}"
    return Run(*middle, out)


def own_seconds(run: Run) -> float:
    """Returns the seconds that a program printed."""
    return float(run.out.split()[1])


def size_of_output(command: list) -> int:
    """Returns the number of bytes that a command prints."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, bufsize=0)
    buffer, size = bytearray(MIB), 0
    while count := process.stdout.readinto(buffer):
        size += count
    if process.wait() != 0:
        sys.exit(f"run.py: {command} ended with {process.returncode}")
    return size


def warm(path) -> None:
    """Reads a file, so that it is in the page cache."""
    buffer = bytearray(MIB)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def apart(check, *arguments) -> bool:
    """Runs a check in a separate process: otherwise, its memory would count towards the peak of the programs."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if check(*arguments) else 1
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def table(title: str, header: list, rows: list) -> None:
    """Prints a Markdown table; all columns except the first are numbers."""
    cells = [header, *[[str(cell) for cell in row] for row in rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    rule = ["-" * widths[0]] + ["-" * (width - 1) + ":" for width in widths[1:]]
    print(f"\n{title}\n")
    for row in [cells[0], rule, *cells[1:]]:
        line = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("| " + " | ".join(line) + " |")
    sys.stdout.flush()
