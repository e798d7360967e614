"""Compares every output that shows a time, or what divides by it, with each other and with the export itself.

    clock.py TRACEPARSE RECORDING

One table of the recording is read by the XML reader of exports.py, and its rows are selected here. Each quantity must be the same in
every output of the command: the length of the selected time, its source, CPU time in percent of one core, the weight, and the sampling
interval. Each recording is read whole, and with every third selection, or every ninth for bundles; which ones is up to its name. Recordings that are not XML, and rows that exports.py cannot read, leave out the comparison with the export. The same is done
again with a table of contents that gives a longer recorded time.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from pathlib import Path

import exports

TRACEPARSE = sys.argv[1]
UNITS = {"ns": 1, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
# `24.4% of one core over 2.00 s selected`, or `24.4% of one core: 488.00 ms in 488 samples over 2.00 s selected`, also where a line was wrapped.
RATE = re.compile(
    r"([0-9.]+)%\s+of\s+one\s+core(?::[^·]*?)?\s+over\s+([0-9.]+)\s+(ns|µs|ms|s)\s+(recorded|selected|sampled)", re.DOTALL
)
EVER = (0, 2**64)
RUNNING = ("Running", "Interrupted", None)


def run(*arguments):
    done = subprocess.run([TRACEPARSE, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def document(*arguments):
    code, out, errors = run(*arguments, "--format", "json")
    return (json.loads(out) if code == 0 else None), errors


class Table:
    """The rows of the table that is measured, and the recorded time of its run."""

    def __init__(self, read, series, toc):
        tables = [table for table in read["tables"] if table["run"] == series["run"]]
        self.rows = [row for table in tables if table["schema"] == series["schema"] for _, row in table["rows"] if row]
        self.unit = series["unit"]
        covered = [
            (time, time + (weight if unit == "ns" else 0))
            for table in tables
            for _, row in table["rows"]
            if row
            for time, weight, unit in [row[:3]]
        ]
        first, last = min(time for time, _ in covered), max(time for time, _ in covered)
        end = max(end for _, end in covered)
        self.recorded, self.source = (first, end), "samples"
        if toc is not None:
            self.recorded, self.source = (0, end if last > toc else toc), "toc"
        weights = Counter(row[1] for row in self.rows if row[1] > 0)
        self.interval = None
        if self.unit == "ns" and weights:
            self.interval = min(weights, key=lambda weight: (-weights[weight], weight))

    def expected(self, case):
        """Selected length and weight."""
        parts = [clip(clip(self.recorded, case.time), part) for part in case.during or [EVER]]
        length = sum(end - start for start, end in parts if start < end)
        return length, sum(row[1] for row in self.rows if case.counts(row))


def clip(one, other):
    return max(one[0], other[0]), min(one[1], other[1])


class Case:
    """A selection: options of the command, and what they mean."""

    def __init__(self, name, options=(), time=EVER, during=None, tids=None, states=RUNNING):
        self.name, self.options, self.time, self.during = name, list(options), time, during
        self.tids, self.states = tids, states

    def counts(self, row):
        time, weight, unit, pid, tid, core, kind, state, *_ = row
        return (
            self.time[0] <= time < self.time[1]
            and (self.during is None or any(start <= time < end for start, end in self.during))
            and (self.tids is None or tid in self.tids)
            and (self.states is None or state in self.states)
        )

    def plus(self, other):
        time = clip(self.time, other.time)
        during = other.during if self.during is None else self.during
        tids = self.tids if other.tids is None else other.tids
        states = other.states if self.states == RUNNING else self.states
        return Case(f"{self.name}, {other.name}", self.options + other.options, time, during, tids, states)


def cases(series, threads, start, end, intervals):
    """Selections of a recording with samples from `start` to `end`. The thread is chosen by its number, which all outputs know."""
    third = (end - start) // 3
    middle = (start + third, max(start + 2 * third, start + third + 1))
    time = Case("time", ["--time", f"{middle[0]}ns..{middle[1]}ns"], middle)
    later = Case("later", ["--time", f"{start + third}ns.."], (start + third, EVER[1]))
    earlier = Case("earlier", ["--time", f"..{middle[1]}ns"], (0, middle[1]))
    beyond = Case("beyond", ["--time", f"{start}ns..{end + 5 * 10**9}ns"], (start, end + 5 * 10**9))
    every = Case("all states", ["--state", "all"], states=None)
    states = [name for name in {thread["state"] for thread in threads if "state" in thread} if name]
    quarter = max((end - start) // 4, 1)
    during = [(start + quarter // 2, start + quarter), (start + 2 * quarter, start + 3 * quarter)]
    spans = Case("during", ["--during", "Work", "--intervals", intervals], during=during)
    found = [Case("everything"), time, later, earlier, beyond, every, spans, spans.plus(time), time.plus(every)]
    owned = [row for row in threads if row.get("tid") is not None]
    if owned:
        # Of several processes, one may have a thread of the same number.
        heaviest = owned[0]["tid"]
        thread = Case("thread", ["--thread", str(heaviest)], tids={heaviest})
        found += [thread, thread.plus(time), spans.plus(thread), thread.plus(every)]
    main = [row["tid"] for row in owned if re.fullmatch(r"Main Thread( .*)?", row["thread"])]
    if main:
        only = Case("main thread", ["--only-main-thread"], tids=set(main))
        found += [only, only.plus(time), spans.plus(only)]
    pids = {row["pid"] for row in threads if row["pid"] is not None}
    if len(pids) == 1:
        process = Case("process", ["--process", str(pids.pop())])
        found += [process, process.plus(time), process.plus(spans)]
    return found


def write_intervals(path, during, number):
    rows = "".join(
        f'<row><start-time id="{4 * index + 1}">{start}</start-time><duration id="{4 * index + 2}">{end - start}</duration>'
        f'<string id="{4 * index + 3}" fmt="Work">Work</string></row>'
        for index, (start, end) in enumerate(during)
    )
    columns = [("start", "start-time"), ("duration", "duration"), ("name", "string")]
    columns = "".join(f"<col><mnemonic>{a}</mnemonic><engineering-type>{b}</engineering-type></col>" for a, b in columns)
    path.write_text(
        f"<?xml version=\"1.0\"?><trace-query-result><node xpath='//trace-toc[1]/run[{number}]/data[1]/table[2]'>"
        f'<schema name="os-signpost-interval">{columns}</schema>{rows}</node></trace-query-result>'
    )


def write_toc(path, numbers, nanos):
    summary = f"<info><summary><duration>{nanos // 10**9}.{nanos % 10**9:09}</duration></summary></info>"
    runs = "".join(f'<run number="{number}">{summary}</run>' for number in sorted(numbers))
    path.write_text(f'<?xml version="1.0"?><trace-toc>{runs}</trace-toc>')


class Found:
    """What the outputs say of a case, by quantity and output; rounded as they are printed."""

    def __init__(self):
        self.faults, self.count, self.has_nothing = [], 0, False

    def check(self, case, output, quantity, found, expected):
        self.count += 1
        if found != expected:
            self.faults.append(f"{case.name}: {output}: {quantity} is {found}, not {expected}")


def compare(found, case, inputs, chosen, series, table, redirect):
    """All outputs of one selection. `inputs` are files of one run, `chosen` the options that select its table."""
    options = [*inputs, *chosen, *case.options]
    summary, errors = document(*options, "--view", "summary")
    if summary is None:
        assert "no sample passes " in errors or "no samples are left" in errors, errors
        return
    [row] = [row for row in summary["series"] if (row["run"], row["schema"], row["unit"]) == series]
    length, percent, weight = row["length_ns"], row["cpu_percent"], row["all_weight"]
    is_time = row["unit"] == "ns" and row["meaning"] == "on-cpu" and case.states == RUNNING
    check = lambda output, quantity, value, expected: found.check(case, output, quantity, value, expected)
    if table is not None:
        expected, sum_of_rows = table.expected(case)
        check("summary JSON", "length", length, expected or None)
        check("summary JSON", "weight", weight, sum_of_rows)
        check("summary JSON", "source", row["length_source"], table.source if expected else None)
        check("summary JSON", "interval", row["sampling_interval_ns"], table.interval)
        check("summary JSON", "CPU use", percent, sum_of_rows * 100.0 / expected if is_time and expected else None)
    if is_time and length:
        check("summary JSON", "CPU use", percent, weight * 100.0 / length)
    base = "selected" if {"--time", "--during"} & set(case.options) else "recorded" if row["length_source"] == "toc" else "sampled"
    for name, text in [
        ("overview", run(*options)[1]),
        ("summary", run(*options, "--view", "summary")[1]),
        ("flame graph", title_of(run(*options, "--format", "svg")[1])),
        ("diff", compared(inputs, chosen, case, redirect) if table is not None else None),
    ]:
        if text is None:
            continue
        rates = RATE.findall(text)
        check(name, "number of rates", len(rates) > 0, percent is not None)
        for printed, number, unit, word in rates:
            check(name, "CPU use", printed, f"{percent:.1f}")
            check(name, "length", abs(float(number) * UNITS[unit] - length) <= 0.0051 * UNITS[unit], True)
            check(name, "base", word, base)
    views = {name: document(*options, "--view", name)[0] for name in ["overview", "threads", "processes", "cores", "functions", "timeline"]}
    at = [(row["run"], row["schema"], row["unit"]) for row in summary["series"]].index(series)
    [activity] = [row["activity"] for row in views["overview"]["overview"] if row["series"] == at]
    if percent is not None:
        check("overview JSON", "CPU use", activity["cpu_percent"], percent)
        check("overview JSON", "length", activity["length_ns"], length)
        check("overview JSON", "line of time", sum(activity["bins"]), weight)
    for name in ["overview", "threads", "functions", "timeline"]:
        rows = [row for row in views[name]["series"] if (row["run"], row["schema"], row["unit"]) == series]
        check(f"{name} JSON", "CPU use", [row["cpu_percent"] for row in rows], [percent])
        check(f"{name} JSON", "length", [row["length_ns"] for row in rows], [length])
    sums = [("threads", "all_weight"), ("processes", "all_weight"), ("functions", "self_weight")]
    for name, field in sums:
        without_stack = row["no_stack"]["weight"] if name == "functions" else 0
        check(name, "weight", sum(line[field] for line in views[name][name] if line["series"] == at) in (weight, weight - without_stack), True)
    cores = [line for line in views["cores"]["cores"] if line["series"] == at and line["level"] == "core"]
    check("cores", "weight", sum(line["all_weight"] for line in cores), weight)
    tree, _ = document(*options, "--view", "tree", "--no-threads")
    check("tree", "weight", sum(line["all_weight"] for line in tree["trees"] if line["series"] == at), weight)
    bins = [line for line in views["timeline"]["timeline"] if line["series"] == at]
    counted = [line for line in bins if case.states is None or line["state"] in RUNNING]
    check("timeline", "weight", sum(line["weight"] for line in counted), weight)
    for line in bins:
        is_rate = line["unit"] == "ns" and line["state"] in RUNNING and line["selected_ns"] > 0
        check("timeline", "CPU use", line["cpu_percent"], line["weight"] * 100.0 / line["selected_ns"] if is_rate else None)
        check("timeline", "length", line["selected_ns"] <= min(line["bin_ns"], length or 0), True)
    if percent is not None and row["meaning"] == "on-cpu":
        mean = re.search(r"^ *[0-9.]+ +([0-9.]+)%", run(*options, "--view", "timeline")[1], re.MULTILINE)
        check("timeline", "mean", mean and mean.group(1), f"{percent:.1f}")
    fleet(check, case, chosen, series, row, redirect)
    if not case.options:
        # The facts that a page computes with are the command's; its own sums are compared in web/test.
        code, page, errors = run(*options, "--format", "html")
        assert code == 0, errors
        check("page", "is a page", "Content-Security-Policy" in page, True)


def title_of(picture):
    """The text of the lines above the frames."""
    return " ".join(re.findall(r'<text class="line"[^>]*>([^<]*)<', picture)) if picture else None


def compared(inputs, chosen, case, folder):
    """What a comparison of the recording with itself says."""
    code, out, errors = run("diff", inputs[0], inputs[0], *chosen, *[word for toc in inputs[1:] for side in ("before", "after") for word in (f"--{side}-toc", toc)], *[word for option in case.options for word in ([option] if option != "--intervals" else ["--before-intervals"])], *(["--after-intervals", case.options[case.options.index("--intervals") + 1]] if "--intervals" in case.options else []))
    return out if code == 0 else None


def fleet(check, case, chosen, series, row, folder):
    """The only run of a fleet. It names threads, not their numbers."""
    if "--thread" in case.options or "--process" in case.options or row["meaning"] != "on-cpu":
        return
    [recording, *_] = [path for path in folder.iterdir() if not re.search(r"-(toc|intervals)\.xml$", path.name)]
    if "--during" in case.options and recording.suffix != ".xml":
        return
    words = [word for word in case.options]
    if "--intervals" in words:
        at = words.index("--intervals")
        del words[at : at + 2]
    schema = [word for pair in zip(chosen, chosen[1:]) if pair[0] == "--schema" for word in pair]
    report, errors = document("fleet", "report", str(folder), *schema, *words)
    runs = (report or {"runs": []})["runs"]
    # Intervals inside of the recording count before those in a file beside it.
    if "There is no interval named" in errors:
        return
    # A fleet measures all runs of a file.
    runs = [run for run in runs if (run["wall_ns"], run["weight"]) == (row["length_ns"], row["all_weight"])] or runs
    # Samples at the very moment in which a recording ends have no time that could be selected.
    if not runs and not row["length_ns"]:
        check("fleet", "reason for no run", "does not overlap the selected" in errors, True)
        return
    check("fleet", "number of runs", (len(runs) > 0, errors) if not runs else True, True)
    if not runs:
        return
    [only, *_] = runs
    check("fleet", "length", only["wall_ns"], row["length_ns"])
    check("fleet", "source", only["wall_source"], row["length_source"])
    check("fleet", "weight", only["weight"], row["all_weight"])
    if row["cpu_percent"] is not None:
        check("fleet", "CPU use", abs(only["value"] - row["cpu_percent"]) <= 5.1e-7, True)


def check_recording(found, path, toc):
    contents, errors = document(path, "--view", "summary")
    if contents is None or not any(row["samples"] and row["first_time_ns"] is not None for row in contents["series"]):
        found.has_nothing = True
        return
    read = None
    if path.endswith(".xml"):
        answer = exports.answer(Path(path).read_bytes())
        read = answer if "tables" in answer else None
    every = [(row["run"], row["schema"], row["unit"]) for row in contents["series"]]
    for number, schema, unit in every:
        if [(run, name) for run, name, _ in every].count((number, schema)) > 1:
            found.has_nothing = True
            continue
        [row] = [row for row in contents["series"] if (row["run"], row["schema"]) == (number, schema)]
        if row["first_time_ns"] is None or row["samples"] == 0:
            continue
        start, end = row["first_time_ns"], row["last_time_ns"] + 1
        chosen = ["--run", str(number), "--schema", schema]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            fleet_folder = folder / "fleet"
            fleet_folder.mkdir()
            copy = fleet_folder / Path(path).name
            os.symlink(Path(path).resolve(), copy)
            inputs = [path]
            length = None
            if toc:
                length = max(row["last_time_ns"] for row in contents["series"]) + 1_234_567_890
                numbers = {run for run, _, _ in every}
                write_toc(folder / "toc.xml", numbers, length)
                write_toc(fleet_folder / f"{Path(path).stem}-toc.xml", numbers, length)
                inputs.append(str(folder / "toc.xml"))
            threads, _ = document(path, *chosen, "--view", "threads")
            every_case = cases(row, threads["threads"], start, end, str(folder / "intervals.xml"))
            during = next(case.during for case in every_case if case.during)
            write_intervals(folder / "intervals.xml", during, number)
            write_intervals(fleet_folder / f"{Path(path).stem}-intervals.xml", during, number)
            table = Table(read, row, length) if read is not None else None
            first = zlib.crc32(f"{Path(path).parent.name}/{Path(path).name} {chosen} {toc}".encode()) % 3
            # Bundles are slower to read, and have several tables and runs.
            step = 3 if path.endswith(".xml") else 9
            for case in every_case[:1] + every_case[1 + first :: step]:
                compare(found, case, inputs, chosen, (number, schema, unit), table, fleet_folder)


def main():
    found = Found()
    for path in sys.argv[2:]:
        check_recording(found, path, toc=False)
        if path.endswith(".xml"):
            check_recording(found, path, toc=True)
    print(f"{found.count} comparisons")
    assert found.count > 0 or found.has_nothing, "nothing was compared"
    if found.faults:
        print("\n".join(found.faults[:20]))
        sys.exit(f"{len(found.faults)} differ")


main()
