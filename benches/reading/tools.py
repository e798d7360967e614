"""The programs and their inputs: builds traceparse, the generator and the peers, and writes the exports."""

import os
import platform
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Optional

from measure import cores, measure, warm

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
INFERNO = "0.12.8"
LIBRARIES = ["memchr", "quick-xml", "flate2", "zlib-rs", "miniz_oxide", "zstd", "zstd-sys"]


class Tools:
    """The paths of the programs. A missing program is built or installed when it is first used."""

    def __init__(self, work: Path, traceparse: Optional[Path]):
        for need in ["cargo", "gzip"]:
            if shutil.which(need) is None:
                sys.exit(f"run.py: {need} is missing")
        target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        self.target = target if target.is_absolute() else ROOT / target
        self.work = work
        work.mkdir(parents=True, exist_ok=True)
        cargo("build", "--locked", "--release", "--quiet", "--example", "generate-export",
              "--example", "generate-bundle")
        self.generator = self.target / "release/examples/generate-export"
        self.bundler = self.target / "release/examples/generate-bundle"
        if traceparse is None:
            cargo("build", "--locked", "--release", "--quiet")
            traceparse = self.target / "release/traceparse"
        self.traceparse = traceparse.resolve()
        self.has_jobs = re.search(r"^\s+(-\w, )?--jobs", output(self.traceparse, "--help"), re.MULTILINE) is not None

    def inferno(self) -> Path:
        """inferno's collapser, installed from crates.io on the first run."""
        root = self.target / "peers"
        path = root / "bin/inferno-collapse-xctrace"
        if not path.exists():
            print(f"installing inferno {INFERNO}", file=sys.stderr)
            cargo("install", "--locked", "--quiet", "--root", root, f"inferno@{INFERNO}")
        return path

    def peer(self, name: str) -> Path:
        """One of `peers/`, with the versions of the repository's Cargo.lock."""
        target = self.target / "reading-peers"
        shutil.copyfile(ROOT / "Cargo.lock", HERE / "peers/Cargo.lock")
        cargo("build", "--release", "--quiet", "--manifest-path", HERE / "peers/Cargo.toml", "--target-dir", target)
        return target / "release" / name

    def ours(self, *arguments, jobs: Optional[int] = None) -> list:
        """A command line of traceparse. `jobs` is used only if this version has the option."""
        return [self.traceparse, *arguments, *(["--jobs", jobs] if jobs else [])]

    def counts_of_jobs(self) -> list:
        """The values for `jobs`: 1, 2, 4 … up to the number of cores; none if traceparse does not have the option."""
        if not self.has_jobs:
            return [None]
        return [1 << power for power in range(cores().bit_length()) if 1 << power <= cores()]

    def generate(self, rows: int, stacks: int, seed: int = 1, shape: str = "14.3", depths: tuple = ()) -> list:
        """The command that writes an export to standard output."""
        return [self.generator, rows, stacks, seed, shape, *depths]

    def export(self, *what, **more) -> Path:
        """The same as a file in the page cache. Files from earlier runs are reused."""
        command = self.generate(*what, **more)
        path = self.work / ("export-" + "-".join(str(word) for word in command[1:]) + ".xml")
        if not path.exists():
            write(path, command)
        warm(path)
        return path

    def bundle(self, rows: int, stacks: int, form: str, seed: int = 1) -> Path:
        """The recording whose export is `export(rows, stacks, shape="26.2")`, in the page cache."""
        path = self.work / f"recording-{rows}-{stacks}-{seed}-{form}.trace"
        if not path.exists():
            subprocess.run([str(word) for word in [self.bundler, path, rows, stacks, seed, form]], check=True)
        for file in path.rglob("*"):
            if file.is_file():
                warm(file)
        return path

    def exports(self, count: int, rows: int, stacks: int) -> list:
        """Many exports with different seeds, in a separate folder."""
        folder = self.work / f"many-{rows}-{stacks}"
        folder.mkdir(exist_ok=True)
        paths = [folder / f"run-{seed:05}.xml" for seed in range(1, count + 1)]
        missing = [path for path in paths if not path.exists()]
        if missing:
            print(f"writing {len(missing)} exports to {folder}", file=sys.stderr)
        with ThreadPoolExecutor(cores()) as pool:
            list(pool.map(lambda path: write(path, self.generate(rows, stacks, int(path.stem[4:]))), missing))
        for path in paths:
            warm(path)
        return paths

    def once(self, command: list):
        """The result of a slow program, which is kept for the next section."""
        if not hasattr(self, "done"):
            self.done = {}
        key = tuple(str(word) for word in command)
        if key not in self.done:
            self.done[key] = measure(command, is_kept=True)
        return self.done[key]

    def describe(self) -> None:
        """The machine and the versions."""
        model = platform.processor() or platform.machine()
        info = Path("/proc/cpuinfo")
        if info.exists():
            found = re.search(r"^model name\s*: (.*)$", info.read_text(), re.MULTILINE)
            model = found[1] if found else model
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
        commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
        print(f"machine: {cores()} cores, {model}, {memory:.0f} GiB, {platform.system()} {platform.release()}")
        print(f"load before the first round: {os.getloadavg()[0]:.1f} (wall time needs idle cores, CPU time does not)")
        print(f"{output(self.traceparse, '--version').strip()} ({commit.stdout.strip()}"
              f"{'' if self.has_jobs else ', without --jobs'}), {output('rustc', '--version').strip()}")
        print(f"inferno {INFERNO}, {', '.join(versions())}, {output('gzip', '--version').splitlines()[0]}, "
              f"Python {platform.python_version()}")


def versions() -> list:
    """The versions of the listed libraries that the command uses: the decompression backends may change."""
    tree = subprocess.run(["cargo", "tree", "--locked", "-e", "normal", "--prefix", "none", "--format", "{p}"], cwd=ROOT,
                          capture_output=True, text=True, check=True).stdout
    found = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
    return sorted(f"{name} {version.lstrip('v')}" for name, version in found if name in LIBRARIES)


def write(path: Path, command: list) -> None:
    """Runs `command` to write `path`, which exists only when it is complete."""
    part = path.with_name(path.name + ".part")
    with open(part, "wb") as out:
        subprocess.run([str(word) for word in command], stdout=out, check=True)
    part.rename(path)


def cargo(*arguments) -> None:
    done = subprocess.run(["cargo", *[str(word) for word in arguments]], cwd=ROOT)
    if done.returncode != 0:
        sys.exit(f"run.py: cargo {arguments[0]} failed")


def output(*command) -> str:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout
