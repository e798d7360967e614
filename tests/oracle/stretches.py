"""Compares what `traceparse intervals` and `traceparse hangs` say of an export with what ElementTree and numpy find in it.

    stretches.py EXPORT.xml INTERVALS.json [HANGS.json TREES.json]

Each table with a start and a duration is read; names, numbers of intervals, totals, percentiles (numpy's inverted_cdf, which is the nearest
rank), CPU time within, the samples of each hang, its open signposts, its system calls and its heaviest stack, and the weight of the tree of
each signpost must be equal.
"""

import json
import sys
from collections import Counter, defaultdict

import numpy
from intervals import tables, text

QUANTILES = {"p50": 50, "p90": 90, "p95": 95, "p99": 99, "p99.9": 99.9}
NAMES = ["name", "narrative-description", "interval-type", "syscall", "state", "description", "label", "task"]


def main() -> None:
    export, intervals, *others = sys.argv[1:]
    samples, stretches = read(export)
    found = json.load(open(intervals))
    check_intervals(found["intervals"], samples, stretches)
    check_tasks(found, tasks(export))
    if others:
        hangs, trees = (json.load(open(path)) for path in others)
        check_hangs(hangs, samples, stretches)
        check_trees(trees, samples, stretches)
    print(f"{len(stretches)} intervals and {len(samples)} samples agree")


def read(path):
    """Samples as (time, tid, weight, state, functions from the root), and intervals as dictionaries."""
    samples, stretches = [], []
    for run, schema, rows, resolved in tables(path):
        for row in rows:
            thread = row.get("thread", row.get("start-thread"))
            tid = None if thread is None else int(resolved(thread.find("tid")).text)
            if schema == "time-profile":
                frames = [resolved(frame).get("name") for frame in row["stack"]] if "stack" in row else []
                samples.append((int(text(row, "time")), tid, int(text(row, "weight")), text(row, "thread-state"), frames[::-1]))
            elif "start" in row:
                start = int(text(row, "start"))
                length = int(text(row, "duration")) if "duration" in row else None
                name = next((named(column, row, resolved) for column in NAMES if column in row), "")
                is_hang = schema == "potential-hangs"
                table = "os-signpost" if schema == "os-signpost-interval" else schema
                name = text(row, "hang-type") if is_hang else name
                stretches.append({"table": table, "name": name or None, "start": start, "length": length, "tid": tid, "hang": is_hang})
    return samples, stretches


def named(column, row, resolved):
    """The name in a column; of a task, its function without the number."""
    if column == "task":
        number = resolved(row[column].find("swift-task-id")).text
        return row[column].get("fmt").removesuffix(f" ({number})")
    return row[column].get("fmt") if column == "syscall" else text(row, column)


def tasks(path):
    """By run and number of the task: its states as (start, end, state)."""
    states = defaultdict(list)
    for run, schema, rows, resolved in tables(path):
        for row in rows if schema == "SwiftTaskStateTable" else []:
            start = int(text(row, "start"))
            number = int(resolved(row["task"].find("swift-task-id")).text)
            states[run, number].append((start, start + int(text(row, "duration")), text(row, "state")))
    return states


def check_tasks(found, states):
    same({(row["run"], row["id"]) for row in found["tasks"]}, set(states), "tasks")
    for row in found["tasks"]:
        own = states[row["run"], row["id"]]
        times = defaultdict(int)
        for start, end, state in own:
            times[state] += end - start
        same((row["start_ns"], row["end_ns"]), (min(own)[0], max(end for _, end, _ in own)), row)
        same(row["states_ns"], dict(times), row)
    lives = [(row["run"], row["start_ns"], row["end_ns"]) for row in found["tasks"]]
    alive = [sum(run == other and start <= moment < end for run, start, end in lives) for other, moment, _ in lives]
    same(found["most_tasks_alive"], max(alive, default=0), "tasks alive")


def is_running(sample):
    return sample[3] in ("", "Running")


def check_intervals(found, samples, stretches):
    groups = defaultdict(list)
    for stretch in stretches:
        groups[stretch["table"], stretch["name"]].append(stretch)
    same([(row["table"], row["name"]) for row in found], sorted(groups, key=lambda key: (-total(groups[key]), key[0], key[1] or "")), "names")
    for row in found:
        group = groups[row["table"], row["name"]]
        closed = [stretch for stretch in group if stretch["length"] is not None]
        where = (row["table"], row["name"])
        same((row["count"], row["open"], row["total_ns"]), (len(closed), len(group) - len(closed), total(group)), where)
        lengths = [stretch["length"] for stretch in closed]
        expected = {name: int(numpy.percentile(lengths, percent, method="inverted_cdf")) for name, percent in QUANTILES.items() if lengths}
        same({name: instance["duration_ns"] for name, instance in row["quantiles"].items()}, expected, where)
        starts = {(stretch["start"], stretch["length"], stretch["tid"]) for stretch in closed}
        instances = [*row["quantiles"].values(), *([row["longest"]] if closed else [])]
        for instance in instances:
            assert (instance["start_ns"], instance["duration_ns"], instance["tid"]) in starts, (where, instance)
        if closed and samples:
            same(row["longest"]["duration_ns"], max(lengths), where)
            same(row["unsampled_ns"], sum(unsampled(samples, stretch) for stretch in closed), where)
        seen = [stretch for stretch in closed if samples and not 0 < unsampled(samples, stretch) >= stretch["length"]]
        same((row["cpu"] or {}).get("weight"), sum(within(samples, stretch, None) for stretch in seen) if seen else None, where)
        seen = [stretch for stretch in seen if stretch["tid"] is not None]
        same((row["thread_cpu"] or {}).get("weight"), sum(within(samples, stretch, stretch["tid"]) for stretch in seen) if seen else None, where)


def unsampled(samples, stretch):
    """The time of an interval that is more than 5 ms before the first or after the last sample of any thread."""
    first, last = min(sample[0] for sample in samples), max(sample[0] for sample in samples)
    start, end = stretch["start"], end_of(stretch)
    before = min(end, first) - start if first - start > 5_000_000 else 0
    return before + (end - max(start, last) if end - last > 5_000_000 else 0)


def total(group):
    return sum(stretch["length"] or 0 for stretch in group)


def inside(samples, stretch):
    end = None if stretch["length"] is None else stretch["start"] + stretch["length"]
    return [sample for sample in samples if stretch["start"] <= sample[0] and (end is None or sample[0] < end)]


def within(samples, stretch, tid):
    return sum(sample[2] for sample in inside(samples, stretch) if is_running(sample) and tid in (None, sample[1]))


def check_hangs(found, samples, stretches):
    assert found["is_recorded"]
    hangs = [stretch for stretch in stretches if stretch["hang"]]
    hangs.sort(key=lambda stretch: (-end_of_open(stretch, samples) + stretch["start"], stretch["start"]))
    same([hang["start_ns"] for hang in found["hangs"]], [hang["start"] for hang in hangs], "hangs")
    signposts = [stretch for stretch in stretches if stretch["table"] == "os-signpost"]
    for row, hang in zip(found["hangs"], hangs):
        activity = row["activity"]
        own = [sample for sample in inside(samples, hang) if sample[1] == hang["tid"]]
        running = [sample for sample in own if sample[3] == "Running"]
        waiting = [sample for sample in own if sample[3] == "Blocked"]
        expected = {"all": len(own), "running": len(running), "waiting": len(waiting), "runnable": 0}
        if any(sample[1] == hang["tid"] for sample in samples):
            same(activity["samples"], expected, row)
        low, high, uncovered = bounds(samples, hang)
        if activity["verdict"] != "unknown":
            for name, value in (("least_cpu_percent", low), ("most_cpu_percent", high), ("uncovered_percent", uncovered)):
                assert abs(activity[name] - 100 * value) < 1e-6, (name, value, row)
        same(activity["verdict"], word(low, high), (low, high, row))
        for name, part in (("heaviest_stack", running), ("off_cpu_stack", waiting)):
            same([frame["function"] for frame in activity[name] or []], heaviest(part), row)
        same({wait["name"]: (wait["count"], wait["total_ns"]) for wait in row["waits"]}, calls(hang, stretches), row)
        same(row["signposts"], sorted({other["name"] for other in signposts if overlap(hang, other)}), row)


def end_of_open(hang, samples):
    return end_of(hang) if hang["length"] is not None else max(sample[0] for sample in samples)


def bounds(samples, hang):
    """The least and the greatest share of the hang on the CPU, and the share that is not covered, if waiting threads were sampled."""
    weights = Counter(sample[2] for sample in samples)
    interval = min(weight for weight in weights if weights[weight] == max(weights.values()))
    own = sorted(sample for sample in samples if sample[1] == hang["tid"])
    start, end = hang["start"], end_of_open(hang, samples)
    if not own or end <= start:
        return 0, 1, 1
    moments = [sample[0] for sample in own]
    edge, hole = max(5 * interval, 5_000_000), max(3 * interval, 5_000_000)
    uncovered = min(moments[0], end) - start if moments[0] - start > edge else 0
    uncovered += end - max(moments[-1], start) if end - moments[-1] > edge else 0
    uncovered += sum(max(0, min(after, end) - max(before, start)) for before, after in zip(moments, moments[1:]) if after - before > hole)
    uncovered = min(1, uncovered / (end - start))
    here = [sample for sample in own if start <= sample[0] < end]
    on = [sample[0] for sample in here if sample[3] == "Running"]
    unknown = sum(sample[3] == "" for sample in here)
    count = max(1, len(here))
    share = len(on) / count
    error = 1.96 * (share * (1 - share) / count) ** 0.5 + (1 if 0 < share < 1 else 3) / count
    groups = 1 + sum(b - a > 1.5 * interval for a, b in zip(on, on[1:]))
    low, high = share - error, share + error
    if groups > 1 and len(on) / groups < 2:
        low, high = 0, 2 * share + error
    elif groups > 1 and (count - len(on)) / groups < 2:
        low, high = 2 * share - 1 - error, float("inf")
    covered = 1 - uncovered
    return max(0, low * covered), min(1, (high + unknown / count) * covered + uncovered), uncovered


def word(low, high):
    if low >= 0.7:
        return "busy"
    if high <= 0.2:
        return "waiting"
    if low >= 0.2 and high <= 0.7 and high - low <= 0.15:
        return "partly-busy"
    return "not-busy" if high <= 0.5 else "unknown"


def overlap(one, other):
    def is_before(first, second):
        return first["length"] is not None and first["start"] + first["length"] <= second["start"]

    return not is_before(one, other) and not is_before(other, one)


def end_of(stretch):
    return float("inf") if stretch["length"] is None else stretch["start"] + stretch["length"]


def calls(hang, stretches):
    found = defaultdict(lambda: (0, 0))
    for call in stretches:
        if call["table"] == "fs-syscall" and call["tid"] == hang["tid"] and overlap(hang, call):
            count, length = found[call["name"]]
            within = min(end_of(hang), end_of(call)) - max(hang["start"], call["start"])
            found[call["name"]] = (count + 1, length + max(within, 0))
    return dict(found)


def check_trees(found, samples, stretches):
    """Each sample looks at each signpost of its thread: the one that started last, and of those the one that ended first, has it."""
    weights = defaultdict(int)
    for time, tid, weight, state, _ in filter(is_running, samples):
        own = [post for post in stretches if post["table"] == "os-signpost" and post["tid"] == tid]
        own = [post for post in own if post["start"] <= time < end_of(post)]
        innermost = max(own, key=lambda post: (post["start"], -end_of(post)), default={"name": None})
        weights[innermost["name"]] += weight
    same({row["interval"]: row["all_weight"] for row in found["intervals"]}, dict(weights), "signposts")


def heaviest(samples):
    """Each function is the heaviest callee of the one before, unless more ends in that; of equal ones, the first by name."""
    path, stacks = [], [(sample[4], sample[2]) for sample in samples]
    while True:
        weights = defaultdict(int)
        for frames, weight in stacks:
            if len(frames) > len(path):
                weights[frames[len(path)]] += weight
        own = sum(weight for frames, weight in stacks) - sum(weights.values())
        if not weights or path and own > max(weights.values()):
            return path
        path.append(min(weights, key=lambda name: (-weights[name], name)))
        stacks = [stack for stack in stacks if stack[0][: len(path)] == path]


def same(found, expected, where):
    assert found == expected, f"{where}: {found} is not {expected}"


if __name__ == "__main__":
    main()
