#!/usr/bin/env python3
"""Measures how fast addresses are named, compared with llvm-symbolizer and with a simple loop over the crate addr2line.

    benches/symbols/run.py [--work FOLDER] [--rounds N] [--traceparse FILE]

The symbol files are dSYMs of the SQLite amalgamation (crate libsqlite3-sys), compiled for arm64 macOS by `zig cc` (it
has the headers), linked by ld64.lld and collected by dsymutil. All of it, and the loop (peer.rs), is built into FOLDER
once (about 500 MB, two minutes). Needs python3 with venv, cargo, and Debian's llvm-19 and lld-19; the first run
uses PyPI and crates.io. Every process is started anew, files are in the page cache, output goes to files, and the tools
take turns. Ratios are medians over the rounds. CPU is user + system time; CPU and wall time are the best of all rounds.
Exits with 1 if the tools disagree on more than 1 address in 1,000, or a target is missed.
"""

import argparse
import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ZIG = "ziglang==0.17.0"
SQLITE = 'libsqlite3-sys = "=0.39.1"'
PEER = 'addr2line = { version = "=0.27.1", default-features = false, features = ["std"] }\ngimli = "=0.34.0"\n' \
       'memmap2 = "=0.9.12"\nobject = { version = "=0.40.0", default-features = false, features = ["read", "std"] }'
PACKAGE = '[package]\nname = "{}"\nversion = "0.0.0"\nedition = "2024"\n\n[workspace]\n\n[dependencies]\n{}\n\n' \
          '[profile.release]\nlto = "thin"\ncodegen-units = 1\n'
MORE = [f"-DSQLITE_ENABLE_{name}" for name in
        ["FTS3", "FTS4", "FTS5", "RTREE", "GEOPOLY", "SESSION", "PREUPDATE_HOOK", "DBSTAT_VTAB", "STAT4"]]
# zig does not distinguish -O1 to -O3.
IMAGES = {"sqlite-a": ["-O2", *MORE], "sqlite-b": ["-O2"], "sqlite-c": ["-Os", *MORE], "sqlite-d": ["-O2", *MORE[:5]]}
SEED = 20260921
TARGETS = {("one", "llvm-symbolizer", "cpu"): 0.3, ("one", "addr2line loop", "cpu"): 1.1,
           ("several", "addr2line loop", "wall"): 1.0}


def need(name: str) -> str:
    found = shutil.which(f"{name}-19") or shutil.which(name)
    if found is None:
        sys.exit(f"run.py: {name} is missing; apt-get install --no-install-recommends llvm-19 lld-19, and cargo")
    return found


def call(*command, **more) -> str:
    done = subprocess.run([str(one) for one in command], capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"run.py: {' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def package(folder: Path, name: str, dependencies: str, source: str, target: str) -> None:
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "Cargo.toml").write_text(PACKAGE.format(name, dependencies))
    (folder / "src" / target).write_text(source)


def sqlite(work: Path) -> Path:
    """The folder with sqlite3.c in cargo's registry."""
    folder = work / "sqlite"
    package(folder, "published-source", SQLITE, "", "lib.rs")
    metadata = call("cargo", "metadata", "--format-version=1", cwd=folder)
    manifest = re.search(r'"manifest_path":"([^"]*/libsqlite3-sys-[^"]*)/Cargo.toml"', metadata)
    return Path(manifest[1]) / "sqlite3"


def build_images(work: Path) -> dict:
    """The path of each image's DWARF file."""
    python = work / "venv" / "bin" / "python"
    dwarf = {name: work / f"{name}.dSYM" / "Contents" / "Resources" / "DWARF" / name for name in IMAGES}
    if all(path.exists() for path in dwarf.values()):
        return dwarf
    lld, dsymutil = need("ld64.lld"), need("dsymutil")
    if not (work / "venv" / "lib").exists() or call(python, "-m", "pip", "list").find("ziglang") < 0:
        print("installing", ZIG, flush=True)
        call(sys.executable, "-m", "venv", work / "venv")
        call(python, "-m", "pip", "install", "--quiet", ZIG)
    source, jobs = sqlite(work), []
    environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(work / "zig"), "ZIG_LOCAL_CACHE_DIR": str(work / "zig")}
    print("compiling SQLite", len(IMAGES), "times", flush=True)
    for name, options in IMAGES.items():
        command = [python, "-m", "ziglang", "cc", "-target", "aarch64-macos", "-g", *options]
        command += ["-c", source / "sqlite3.c", "-o", work / f"{name}.o"]
        jobs.append(subprocess.Popen([str(one) for one in command], env=environment))
        if len(jobs) % (os.cpu_count() or 1) == 0 and any(job.wait() for job in jobs):
            sys.exit("run.py: zig cc failed")
    if any(job.wait() for job in jobs):
        sys.exit("run.py: zig cc failed")
    for name in IMAGES:
        call(lld, "-arch", "arm64", "-platform_version", "macos", "13.0", "13.0", "-dylib",
             "-undefined", "dynamic_lookup", "-o", work / name, work / f"{name}.o")
        call(dsymutil, work / name, "-o", work / f"{name}.dSYM")
    return dwarf


def build_peer(work: Path) -> Path:
    folder = work / "peer"
    package(folder, "addr2line-loop", PEER, (HERE / "peer.rs").read_text(), "main.rs")
    call("cargo", "build", "--release", "--quiet", cwd=folder,
         env={**os.environ, "CARGO_TARGET_DIR": str(folder / "target")})
    return folder / "target" / "release" / "addr2line-loop"


def text_section(path: Path) -> range:
    """The instructions of an image; __TEXT is at 0, as in all libraries."""
    found = re.search(r"__text\s+([0-9a-f]+)\s+([0-9a-f]+)", call(need("llvm-objdump"), "--section-headers", path))
    size, start = int(found[1], 16), int(found[2], 16)
    return range(start, start + size, 4)


def uuid(path: Path) -> str:
    return re.search(r"UUID: (\S+)", call(need("llvm-dwarfdump"), "--uuid", path))[1]


def export(path: Path, images: dict, picked: dict) -> bool:
    """A time profile in the form of Xcode 26.4, in which each chosen instruction is one frame, in stacks of 20."""
    frames = [(name, pc) for name, places in picked.items() for pc in places]
    random.Random(SEED).shuffle(frames)
    columns = ["time:sample-time", "thread:thread", "weight:weight", "stack:tagged-backtrace"]
    columns = "".join(f"<col><mnemonic>{one.split(':')[0]}</mnemonic><name>{one.split(':')[0]}</name>"
                      f"<engineering-type>{one.split(':')[1]}</engineering-type></col>" for one in columns)
    last, thread, binaries = 0, "", {}

    def new() -> str:
        nonlocal last
        last += 1
        return f'id="{last}"'

    with path.open("w") as out:
        out.write("<?xml version=\"1.0\"?>\n<trace-query-result>\n<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>"
                  f'<schema name="time-profile">{columns}</schema>')
        for row in range(0, len(frames), 20):
            ms = 1_000_000
            if not thread:
                thread = f'<thread ref="{last + 1}"/>'
                first = f'<thread {new()} fmt="Main Thread (0x1) (Bench, pid: 1)"><tid {new()} fmt="0x1">1</tid>' \
                        f'<process {new()} fmt="Bench (1)"><pid {new()} fmt="1">1</pid></process></thread>'
            else:
                first = thread
            out.write(f'<row><sample-time {new()} fmt="0">{row * ms}</sample-time>{first}<weight {new()} fmt="1.00 ms">'
                      f'{ms}</weight><tagged-backtrace {new()} fmt="stack"><backtrace {new()}>')
            for position, (name, pc) in enumerate(frames[row:row + 20]):
                base = (1 + list(images).index(name)) << 32
                # The leaf's address is one byte after its start; callers have the address after their call.
                address = base + pc + (1 if position == 0 else 4)
                identity = new()
                binary = f'<binary ref="{binaries[name]}"/>' if name in binaries else \
                    f'<binary {new()} name="{name}" UUID="{images[name][1]}" arch="arm64" ' \
                    f'load-addr="{base:#x}" path="/{name}"/>'
                binaries.setdefault(name, last)
                out.write(f'<frame {identity} name="{address:#x}" addr="{address:#x}">{binary}</frame>')
            out.write("</backtrace></tagged-backtrace></row>")
        out.write("</node></trace-query-result>\n")
    return True


def measure(command: list, given: Path, out: Path) -> tuple:
    """Returns CPU and wall time in seconds, and peak memory in MB."""
    streams = [(os.POSIX_SPAWN_OPEN, 0, str(given), os.O_RDONLY, 0),
               (os.POSIX_SPAWN_OPEN, 1, str(out), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)]
    start = time.perf_counter()
    process = os.posix_spawn(command[0], command, os.environ, file_actions=streams)
    _, status, usage = os.wait4(process, 0)
    wall = time.perf_counter() - start
    if status != 0:
        sys.exit(f"run.py: {' '.join(command)}: status {status}")
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024


def compare(title: str, kind: str, tools: dict, given: Path, work: Path, rounds: int) -> bool:
    """Measures the tools in turn, and prints the table. Returns true if all targets are met."""
    results = {name: [] for name in tools}
    for index in range(rounds + 1):
        for name, command in tools.items():
            result = measure(command, given, work / f"out-{name.replace(' ', '-')}")
            # The first round warms the page cache.
            if index > 0:
                results[name].append(result)
    print(f"\n{title}; {rounds} rounds\n")
    print(f"{'':34}{'CPU s':>8}{'wall s':>8}{'peak MB':>9}   traceparse to it: {'CPU':>6}{'wall':>7}")
    is_met = True
    for name, rows in results.items():
        cpu, wall, peak = (min(row[field] for row in rows) for field in range(3))
        ratios = {what: statistics.median(ours[field] / row[field] for ours, row in zip(results["traceparse"], rows))
                  for field, what in enumerate(["cpu", "wall"])}
        said = ""
        for what, ratio in ratios.items():
            target = TARGETS.get((kind, name, what))
            if target is not None:
                said += f"  {what} target {target}: {'met' if ratio <= target else 'MISSED'}"
                is_met &= ratio <= target
        print(f"{name:34}{cpu:8.4f}{wall:8.4f}{peak:9.1f}{'':21}{ratios['cpu']:6.2f}{ratios['wall']:7.2f}{said}")
    return is_met


def answers(path: Path, is_llvm: bool) -> list:
    """By address: file:line of each frame, innermost first."""
    rows = []
    for block in path.read_text().rstrip("\n").split("\n\n"):
        lines = block.split("\n")
        if is_llvm:
            places = [line.rpartition(":")[0] for line in lines[1::2]]
        else:
            places = [(re.search(r" \((/.*:\d+)\)$", line) or ["", "??:0"])[1] for line in lines]
        rows.append([(os.path.normpath(place.rpartition(":")[0]), place.rpartition(":")[2]) for place in places])
    return rows


def apart(check, *arguments) -> bool:
    """Runs a check in a separate process: otherwise, its memory would count towards the peak of the tools."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        is_good = check(*arguments)
        sys.stdout.flush()
        os._exit(0 if is_good else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def agree(tools: list, count: int, work: Path) -> bool:
    """Prints for how many addresses the tools agree. Returns true if they agree for nearly all."""
    by_tool = {name: answers(work / f"out-{name.replace(' ', '-')}", name == "llvm-symbolizer") for name in tools}
    ours, is_same = by_tool.pop("traceparse"), True
    for name, theirs in by_tool.items():
        if len(ours) != count or len(theirs) != count:
            sys.exit(f"run.py: {len(ours)} and {len(theirs)} answers ({name}) to {count} addresses")
        pairs = list(zip(ours, theirs))
        same = sum(one == other for one, other in pairs)
        first = sum(one[0] == other[0] for one, other in pairs)
        depth = sum(len(one) == len(other) for one, other in pairs)
        print(f"{name} agrees: innermost file and line {first}, depth {depth}, all frames {same} of {count}")
        is_same &= same * 1000 >= count * 999
    return is_same


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "traceparse-bench-symbols")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--traceparse", type=Path, help="the command to measure; built from this repository if missing")
    args = parser.parse_args()
    work = args.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    need("cargo")
    symbolizer = need("llvm-symbolizer")
    images = {name: (path, uuid(path)) for name, path in build_images(work).items()}
    peer = str(build_peer(work))
    ours = args.traceparse
    if ours is None:
        call("cargo", "build", "--release", "--quiet", cwd=ROOT)
        target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        ours = (target if target.is_absolute() else ROOT / target) / "release" / "traceparse"
    ours = str(ours.resolve())
    file = str(images["sqlite-a"][0])
    megabytes = os.path.getsize(file) / 1e6
    if megabytes < 4:
        sys.exit(f"run.py: the dSYM has {megabytes:.1f} MB, which is less than 4")
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f} before the first round"
          f"{'; wall time needs idle cores, CPU time does not' if load > 1 else ''}")
    print(f"peaks are at least this script's own {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    print("; ".join(f"{name} {os.path.getsize(path) / 1e6:.1f} MB" for name, (path, _) in images.items()))
    is_good = True
    for count in [2_000, 20_000]:
        picked = random.Random(SEED + count).sample(text_section(images["sqlite-a"][0]), count)
        given = work / f"addresses-{count}"
        given.write_text("".join(f"{address:#x}\n" for address in picked))
        tools = {
            "traceparse": [ours, "symbolicate", "-o", file, "--offset", "-i", "--full-path"],
            "llvm-symbolizer": [symbolizer, f"--obj={file}"],
            "addr2line loop": [peer, file, str(given)],
            "addr2line loop, file read": [peer, "--read", file, str(given)],
        }
        title = f"one image of {megabytes:.1f} MB, {count:,} distinct addresses"
        is_good &= compare(title, "one", tools, given, work, args.rounds)
        is_good &= apart(agree, ["traceparse", "llvm-symbolizer", "addr2line loop"], count, work)
    # The command searches one folder, which contains nothing else.
    folder = work / "symbols"
    folder.mkdir(exist_ok=True)
    for name, (path, _) in images.items():
        if not (folder / f"{name}.dSYM").exists():
            (folder / f"{name}.dSYM").symlink_to(work / f"{name}.dSYM", target_is_directory=True)
    for count in [500, 5_000]:
        rng = random.Random(SEED + count)
        picked = {name: rng.sample(text_section(path), count) for name, (path, _) in images.items()}
        document, pairs = work / f"export-{count}.xml", []
        is_good &= apart(export, document, images, picked)
        for name, (path, _) in images.items():
            given = work / f"addresses-{name}-{count}"
            given.write_text("".join(f"{address:#x}\n" for address in picked[name]))
            pairs += [str(path), str(given)]
        # A loop, not a thread pool: one image at a time.
        tools = {
            "traceparse": [ours, str(document), "--symbols", str(folder), "--view", "summary"],
            "traceparse without symbols": [ours, str(document), "--view", "summary"],
            "addr2line loop": [peer, *pairs],
            "addr2line loop, file read": [peer, "--read", *pairs],
        }
        title = f"{len(images)} images, {len(images) * count:,} distinct addresses, an export of " \
                f"{document.stat().st_size / 1e6:.1f} MB"
        is_good &= compare(title, "several", tools, Path(os.devnull), work, args.rounds)
        said = re.search(r"symbols: .*", (work / "out-traceparse").read_text())
        print(said[0] if said else "no symbols were used")
        is_good &= said is not None and f"{len(images) * count} of {len(images) * count} frames" in said[0]
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
