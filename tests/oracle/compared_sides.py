"""Invents two sides of runs, writes them as exports with manifests, and compares them with the command."""

import csv
import json
import math
import pathlib
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

PARENTS = {"g0": "main", "g1": "main", "g2": "worker", **{f"{kind}{i}": f"g{i % 3}" for kind in "fr" for i in range(8)}}
PARENTS["?"] = "g1"  # code without a name; "" is a sample without a stack
QUANTITIES = ["cpu-time", "cpu-use", "elapsed", "interval:Load"]
STATED = {"exited": "Target app exited", "stopped": "Time limit reached"}


def stack_of(name: str) -> list[str]:
    """From the leaf to the root."""
    return [name] + (stack_of(PARENTS[name]) if name in PARENTS else [])


def table(schema: str, columns: dict, rows: list) -> str:
    col = "<col><mnemonic>{}</mnemonic><engineering-type>{}</engineering-type></col>"
    columns = "".join(col.format(*names) for names in columns.items())
    return f'<node><schema name="{schema}">{columns}</schema>{"".join(rows)}</node>'


@dataclass
class Run:
    side: int
    source: str
    length: int
    load: int | None
    labels: dict
    counts: dict = field(default_factory=dict)
    sample: int = 0

    @property
    def samples(self) -> int:
        return sum(self.counts.values())

    @property
    def weight(self) -> int:
        return self.sample * self.samples

    def rate(self, weight: int) -> float:
        """Percent of a core, rounded to millionths of a percent, halves up."""
        return (2 * weight * 10**8 + self.length) // (2 * self.length) / 1e6

    def value(self, quantity: str) -> float | None:
        """0 of an idle run, None of one without the quantity."""
        times = {"cpu-time": self.weight, "cpu-use": self.rate(self.weight), "elapsed": self.length}
        return times.get(quantity, self.load)

    def document(self) -> str:
        rows, ids = [], 10
        for name, count in self.counts.items():
            frames = ""
            for frame in stack_of(name) if name else []:
                shown, ids = "0x1007" if frame == "?" else frame, ids + 1
                frames += f'<frame id="{ids}" name="{shown}" addr="0x1007"><binary id="{ids}9999" name="App" UUID="3D6F2C90-'
                frames += '8E4B-34A7-A5D1-C07B19E82F46" arch="arm64" load-addr="0x1000" path="/App"/></frame>'
            ids += 1
            first = f'<tagged-backtrace id="{ids}">{frames}</tagged-backtrace>' if name else "<sentinel/>"
            again = f'<tagged-backtrace ref="{ids}"/>' if name else "<sentinel/>"
            row = f"<row><sample-time>1000</sample-time><weight>{self.sample}</weight>{{}}</row>"
            rows += [row.format(again if i else first) for i in range(count)]
        load = f"<row><start-time>7</start-time><duration>{self.load}</duration><string>Load</string></row>"
        samples = table("time-profile", {"time": "sample-time", "weight": "weight", "stack": "tagged-backtrace"}, rows)
        columns = {"start": "start-time", "duration": "duration", "name": "string"}
        loads = table("os-signpost-interval", columns, [load] if self.load else [])
        return f'<?xml version="1.0"?>\n<trace-query-result><!-- {self.source} -->{samples}{loads}</trace-query-result>\n'


class Case:
    """Two sides, and the options of their comparison."""

    def __init__(self, seed: int):
        self.seed, self.rng = seed, (rng := np.random.default_rng(seed))
        pick = lambda *of: of[rng.integers(len(of))]  # noqa: E731
        self.alpha, self.min_effect = pick(0.05, 0.05, 0.2), pick(0.03, 0.03, 0.1, 0.25, 0.0)
        self.measures = [q for q in QUANTITIES if rng.random() < 0.3] if rng.random() < 0.4 else []
        self.block, self.unit = pick(None, "device"), pick(None, None, "user")
        self.broken, is_copied = [int(rng.random() < 0.03) for _ in "bn"], rng.random() < 0.02
        self.noise, self.is_poisson = pick(0.0, 0.003, 0.01, 0.01, 0.03, 0.1, 0.3), rng.random() < 0.25
        self.factor = pick(1.0, 1.0, 1.0, 1.0, 1.1, 1.5, 0.6)
        self.change = pick("", "double", "rename", "rename", "inline", "half", "unnamed")
        self.lengths = pick("one", "nearly", "window", "work", "work", "free", "shorter", "longer", "busy")
        self.idle, self.end = pick(0, 0, 0, 0.2, 0.6), pick("", "", "", "exited", "stopped")
        self.os, self.devices, self.is_dataset = pick("", "same", "same", "other"), pick(1, 1, 2, 3), rng.random() < 0.1
        if self.is_dataset:
            self.measures = [quantity for quantity in self.measures if quantity != "interval:Load"]
        self.means = {name: int(rng.integers(0, 12)) for name in ["main", "worker", "g0", "g1", "g2", "?", ""]}
        self.means |= {f"f{i}": int(rng.integers(3, 24)) for i in range(8)}
        if has_tails := seed % 1000 == 150:
            self.measures, self.unit, self.alpha, self.is_dataset, self.means = [], None, 0.2, False, {"f0": 2, "": 1}
        size = lambda: 1000 + pick(0, 7) if has_tails else pick(2, 3, 5, 6, 7, 8, 9, 12, 15, 25)  # noqa: E731
        self.runs = [self.run(side, i, bool(has_tails and side)) for side in (0, 1) for i in range(size())]
        self.copied = next((run for run in self.runs if is_copied and run.side == 0 and run.counts), None)
        if rng.random() < 0.03:
            for run in self.runs:
                run.labels["device"] = f"phone {run.side}"

    def run(self, side: int, index: int, has_tail: bool) -> Run:
        rng, device = self.rng, int(self.rng.integers(self.devices))
        scale = math.exp(self.noise * rng.normal() + 0.3 * device) * (self.factor if side else 1)
        scale *= 3 if has_tail and rng.random() < 0.03 else 1
        counts = Counter({n: int(rng.poisson(m)) if self.is_poisson else m for n, m in self.means.items()})
        if side:
            self.edit(counts)
        of_work, of_users = scale * math.exp(0.03 * rng.normal()), math.exp(0.6 * rng.normal())
        length = 10**9 * {"work": of_work, "free": of_users}.get(self.lengths, 1.0)
        length *= {"nearly": 1 + 0.004 * rng.random(), "window": math.exp(0.005 * rng.normal())}.get(self.lengths, 1)
        length *= {"shorter": 0.7, "longer": 1.4}.get(self.lengths, 1) if side else 1
        labels = {"device": f"phone {device}", "user": f"user {index // 2 if rng.random() < 0.7 else index}"}
        labels["os"] = {"": "", "same": "17", "other": f"{17 + side}"}[self.os]
        labels["end_reason"] = STATED.get(self.end, "") if rng.random() < 0.96 else ""
        load = int(10**7 * scale * math.exp(0.1 * rng.normal())) if rng.random() < 0.98 else None
        run = Run(side, f"{'bn'[side]}{index}.xml", int(length), load, labels)
        if rng.random() >= self.idle:
            run.counts, run.sample = {name: count for name, count in counts.items() if count}, int(10**6 * scale)
        if self.lengths == "busy" and run.weight:
            run.length = int(run.weight * (0.98 + 0.045 * rng.random()))
        return run

    def edit(self, counts: Counter) -> None:
        """Changes functions as the new version does."""
        f0 = counts["f0"]
        if self.change == "double":
            counts["f0"] *= 2
        elif self.change in ("rename", "inline"):
            counts["r0" if self.change == "rename" else "g0"] += counts.pop("f0")
        elif self.change == "half":
            counts["f0"], counts["f3"] = f0 - f0 // 2, counts["f3"] + f0 // 2 + 3
        elif self.change == "unnamed":
            counts["?"] += counts.pop("f1", 0) + 6

    def answer(self, command: str) -> tuple[dict, int]:
        """The document of the command, and its exit code."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            for run in self.runs:
                (path / run.source).write_text(run.document())
            for side in (0, 1):
                rows = [(run.source, run.length, run.labels) for run in self.runs if run.side == side]
                (path / "broken.xml").write_text("<?xml version='1.0'?><trace-query-result>")
                rows += [("broken.xml", 10**9, rows[0][2])] * self.broken[side]
                rows += [(self.copied.source, 10**9, self.copied.labels)] if self.copied and side else []
                with open(path / f"{side}.csv", "w", newline="") as file:
                    lines = csv.writer(file)
                    lines.writerow(["path", "duration", *rows[0][2]])
                    lines.writerows([source, f"{ns // 10**9}.{ns % 10**9:09}", *of.values()] for source, ns, of in rows)
                if self.is_dataset:
                    extract = [command, "fleet", "extract", f"{side}.csv", "-o", f"{side}"]
                    subprocess.run(extract, cwd=path, capture_output=True)
            base, new = ("0", "1") if self.is_dataset else ("0.csv", "1.csv")
            options = [option for quantity in self.measures for option in ("--measure", quantity)]
            options += ["--block", self.block] if self.block else []
            options += ["--unit", self.unit] if self.unit else []
            options += ["--alpha", str(self.alpha), f"--min-effect={self.min_effect * 100:g}%", "--format", "json"]
            ran = subprocess.run([command, "compare", base, "--against", new, *options], cwd=path, capture_output=True)
        assert ran.stdout, (self.seed, ran.stderr.decode())
        return json.loads(ran.stdout), ran.returncode
