"""Compares `traceparse intervals --format json` with what ElementTree and numpy find in exports.

    interval_tables.py make FOLDER COUNT    Invents exports: FOLDER/000/a.xml, perhaps b.xml, and the pattern in `process`, if there is one
    interval_tables.py check CASES.tsv      Each line has the JSON, the pattern of --process, and the exports of one recording

Signposts of all tables are a multiset: each counts as often as in the table that has it most often. So do rows of the same table in two
exports. All other rows count. Times of invented rows are few, so that many begin or end together.
"""

import gzip
import json
import random
import re
import sys
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path
from xml.etree import ElementTree

import numpy

SIGNPOSTS = ["os-signpost-interval", "OSSignpostIntervals", "os-signpost"]
NAMES = """name channel-name narrative-description interval-type syscall operation state tool-name host view-name update-type transition
class period path description label task""".split()
LABELS = ["name", "description", "label", "task"]
NUMBERS = ["uint32", "uint64", "address", "event-count", "size-in-bytes", "boolean", "duration", "start-time", "event-time"]
NEEDED = {"p50": 2, "p90": 10, "p95": 20, "p99": 100, "p99.9": 1000}


def check(cases):
    rows = files = damaged = 0
    for line in Path(cases).read_text().splitlines():
        answer, pattern, *exports = line.split("\t")
        try:
            ends = {}
            found = [row for export in exports for row in read(export, ends)]
        except ElementTree.ParseError as error:
            print(f"left out: {exports}: {error}")
            damaged += 1
            continue
        if not Path(answer).exists():
            assert not only(pattern, distinct(found)), f"{exports} has intervals"
            continue
        expected = only(pattern, distinct(found))
        compare(json.loads(Path(answer).read_text())["intervals"], expected, ends, exports)
        rows, files = rows + len(expected), files + 1
    assert damaged <= 1 and files > 40, (damaged, files)
    print(f"{rows} intervals of {files} recordings agree")


def read(path, ends):
    """Tables with intervals, as (run, schema, place in the document, dictionaries). Adds the ends of runs."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        text = re.sub(rb"<\?xml[^>]*\?>", b"", file.read())
    for document in filter(bytes.strip, re.split(rb"(?=<trace-toc>|<trace-query-result>)", text)):
        root = ElementTree.fromstring(document)
        ends.update({int(run.get("number")): seconds(run) for run in root.iter("run") if seconds(run) is not None})
        yield from tables(root)


def seconds(run):
    """The length of a run in nanoseconds, if a table of contents has it."""
    text = run.findtext("info/summary/duration")
    return None if text is None else int(Decimal(text) * 10**9)


def tables(root):
    known = {element.get("id"): element for element in root.iter() if element.get("id")}

    def resolved(cell):
        return known[cell.get("ref")] if cell is not None and cell.get("ref") else cell

    for node in root.iter("node"):
        schema = node.find("schema")
        place = re.search(r"/run\[(\d+)\]/data\[\d+\]/table\[(\d+)\]", node.get("xpath", ""))
        if schema is None or place is None:
            continue
        columns = [(column.findtext("mnemonic"), column.findtext("engineering-type")) for column in schema.findall("col")]
        mnemonics, name = [mnemonic for mnemonic, _ in columns], schema.get("name")
        rows = []
        for row in node.findall("row"):
            cells = {mnemonic: resolved(cell) for mnemonic, cell in zip(mnemonics, row)}
            rows.append({mnemonic: cell for mnemonic, cell in cells.items() if cell.tag != "sentinel"})
        if name == "os-signpost":
            found = pairs(rows, resolved)
        elif name in SIGNPOSTS or name == "potential-hangs" or ("start", "start-time") in columns and length_of(columns) is not None:
            found = intervals(name, columns, rows, resolved)
        else:
            continue
        run = int(place.group(1))
        yield run, name, int(place.group(2)), [{**row, "run": run} for row in found]


def owner(row, resolved, *threads):
    thread = next((row[column] for column in threads if column in row), None)
    process = row["process"] if "process" in row else resolved(thread.find("process")) if thread is not None else None
    tid = None if thread is None else int(resolved(thread.find("tid")).text)
    if process is None:
        return {"process": None, "pid": None, "tid": tid}
    pid = resolved(process.find("pid")).text
    return {"process": process.get("fmt").removesuffix(f"({pid})").strip(), "pid": int(pid), "tid": tid}


def length_of(columns):
    """The column of durations: `duration`, or the only one that ends so, such as Core Data's `fetch-duration`."""
    found = [column for column in columns if column[0] == "duration"] or [column for column in columns if column[0].endswith("-duration")]
    return found[0][0] if len(found) == 1 and found[0][1] == "duration" else None


def number(row, column):
    return int(row[column].text) if column in row else None


def identity(row):
    return {column: row[column].get("fmt", row[column].text) if column in row else None for column in ["name", "subsystem", "category", "identifier"]}


def intervals(schema, columns, rows, resolved):
    named = None if schema in SIGNPOSTS or schema == "potential-hangs" else name_of(columns)
    found = []
    for row in rows:
        start, length = number(row, "start"), number(row, length_of(columns))
        cell = {"start": start, "end": None if length is None else start + length, "table": schema}
        if schema in SIGNPOSTS:
            found.append({**cell, **identity(row), **owner(row, resolved, "start-thread"), "table": "os-signpost"})
            continue
        column = "hang-type" if schema == "potential-hangs" else named
        text = row[column].get("fmt") if column in row else None
        if column == "task" and text:
            text = re.sub(r" \(\d+\)$", "", text)
        found.append({**cell, "name": text or None, **owner(row, resolved, "start-thread", "thread")})
    names = [row["name"] for row in found if row["name"] is not None]
    are_numbers = all(re.fullmatch(r"0x[0-9a-fA-F]*|\d+", name) for name in names)
    if named in LABELS and len(set(names)) > 0.9 * len(names) and (len(names) >= 10 or are_numbers):
        found = [{**row, "name": None} for row in found]
    return found


def name_of(columns):
    for name in NAMES:
        for mnemonic, kind in columns:
            if (mnemonic == name or name == "state" and kind.endswith("-state")) and kind not in NUMBERS:
                return mnemonic
    return None


def pairs(rows, resolved):
    found, begun = [], defaultdict(list)
    for row in sorted(rows, key=lambda row: number(row, "time")):
        who = owner(row, resolved, "thread")
        scope = row["scope"].text if "scope" in row else None
        where = {"Thread": (who["pid"], who["tid"]), "System": ()}.get(scope, (who["pid"],))
        key = (*identity(row).values(), scope, where)
        if row["event-type"].text == "Begin":
            found.append({"start": number(row, "time"), "end": None, "table": "os-signpost", **identity(row), **who})
            begun[key].append(found[-1])
        elif row["event-type"].text == "End" and begun[key]:
            begun[key].pop()["end"] = number(row, "time")
    return found


def distinct(tables):
    """The rows of all tables, those that several contain as often as the one that has them most often."""
    groups = defaultdict(list)
    for run, schema, place, rows in tables:
        groups[(run, "os-signpost") if schema in SIGNPOSTS else (run, schema, place)].append(rows)
    found = []
    for group in groups.values():
        frozen = [[tuple(sorted(row.items(), key=lambda pair: pair[0])) for row in rows] for rows in group]
        if len(group) == 1:
            found += frozen[0]
            continue
        ended = most(Counter(row for row in rows if dict(row)["end"] is not None) for rows in frozen)
        begun = most(Counter(beginning(row) for row in rows) for rows in frozen)
        begun.subtract(Counter(beginning(row) for row in ended.elements()))
        found += [*ended.elements(), *(+begun).elements()]
    return [dict(row) for row in found]


def most(counters):
    union = Counter()
    for counter in counters:
        union |= counter
    return union


def beginning(row):
    return tuple(sorted({**dict(row), "end": None}.items(), key=lambda pair: pair[0]))


def only(pattern, rows):
    if not pattern:
        return rows
    exact = [row for row in rows if pattern in (row["process"], str(row["pid"]))]
    return exact or [row for row in rows if row["process"] and pattern.lower() in row["process"].lower()]


def compare(found, rows, ends, where):
    groups = defaultdict(list)
    for row in rows:
        groups[row["table"], row["name"]].append(row)
    order = sorted(groups, key=lambda key: (-total(groups[key]), key[0], key[1] is not None, key[1] or ""))
    same([(row["table"], row["name"]) for row in found], order, where)
    for row in found:
        group = groups[row["table"], row["name"]]
        lengths = [one["end"] - one["start"] for one in group if one["end"] is not None]
        place = (where, row["table"], row["name"])
        counts = (len({one["run"] for one in group}), len(lengths), len(group) - len(lengths), total(group))
        same((row["runs"], row["count"], row["open"], row["total_ns"]), counts, place)
        percents = {name: float(name[1:]) for name in NEEDED} if lengths else {}
        expected = {name: int(numpy.percentile(lengths, percent, method="inverted_cdf")) for name, percent in percents.items()}
        same({name: one["duration_ns"] for name, one in row["quantiles"].items()}, expected, place)
        needed = {name: NEEDED[name] if len(lengths) < NEEDED[name] else None for name in expected}
        same({name: one["needed"] for name, one in row["quantiles"].items()}, needed, place)
        known = {(one["run"], one["start"], one["end"] and one["end"] - one["start"], one["pid"], one["tid"]) for one in group}
        for one in [*row["quantiles"].values(), *([row["longest"]] if lengths else [])]:
            assert (one["run"], one["start_ns"], one["duration_ns"], one["pid"], one["tid"]) in known, (place, one)
        same(row["longest"] and row["longest"]["duration_ns"], max(lengths, default=None), place)
        busy, gaps = swept(group, ends)
        same((row["busy_ns"], row["gaps"], row["idle_ns"]), (busy, len(gaps), sum(length for _, _, length in gaps)), place)
        longest = row["longest_gap"] and (row["longest_gap"]["run"], row["longest_gap"]["start_ns"], row["longest_gap"]["duration_ns"])
        same(longest, min(gaps, key=lambda gap: (-gap[2], gap), default=None), place)


def total(group):
    return sum(row["end"] - row["start"] for row in group if row["end"] is not None)


def swept(group, ends):
    """The time with an open interval, or None, and the gaps as (run, start, length), by looking at each moment at which one begins or ends."""
    busy, gaps = 0, []
    for run in sorted({row["run"] for row in group}):
        own = [row for row in group if row["run"] == run and row["start"] != row["end"]]
        change = Counter(row["start"] for row in own)
        change.subtract(Counter(row["end"] for row in own if row["end"] is not None))
        depth, last = 0, None
        for moment in sorted(change):
            if last is not None and depth > 0 and busy is not None:
                busy += moment - last
            elif last is not None and depth == 0 and change[moment] > 0:
                gaps.append((run, last, moment - last))
            # Where as many begin as end, nothing changes.
            last = moment if depth > 0 or change[moment] else last
            depth += change[moment]
        if depth > 0:
            busy = None if busy is None or run not in ends else busy + max(ends[run] - last, 0)
    return busy, gaps


def same(found, expected, where):
    assert found == expected, f"{where}: {found} is not {expected}"


# Inventing

PROCESSES = [("Orchard", 7), ("Orchard Helper", 8), ("Pear", 9)]
TABLES = {
    "metal-gpu-intervals": [("state", "gpu-state", ["Active"]), ("channel-name", "gpu-channel-name", ["Vertex", "Fragment", "Compute"])],
    "thread-state": [("state", "thread-state", ["Running", "Blocked", "Runnable"])],
    "gpu-performance-state-intervals": [("level", "gpu-performance-state", ["Minimum", "Maximum"])],
    "virtual-memory": [("address", "address", ["4096", "8192"]), ("operation", "vm-op", ["Zero Fill", "Page In"])],
    "dyld-library-load": [("path", "file-path", [f"/usr/lib/lib{number}.dylib" for number in range(40)])],
    "swiftui-updates": [("description", "string", ["Text", "Image"])],
    "custom-labels": [("label", "string", [f"{number:#x}" for number in range(99)])],
    "custom-numbers": [("label", "uint64", ["1", "2"])],
    "custom-descriptions": [("description", "string", [f"step {number}" for number in range(2000)])],
    "potential-hangs": [("hang-type", "hang-type", ["Hang", "Severe Hang"])],
    "os-signpost-interval": [("name", "string", ["Load", "Save"]), ("identifier", "os-signpost-identifier", ["1", "2"])],
    "OSSignpostIntervals": [("name", "signpost-name", ["Load", "Save"]), ("identifier", "os-signpost-identifier", ["1", "2"])],
}


def make(folder, count):
    for seed in range(int(count)):
        rng = random.Random(seed)
        case = Path(folder) / f"{seed:03}"
        case.mkdir()
        tables = [table(rng, run, place) for run in range(1, rng.randint(1, 2) + 1) for place in range(1, rng.randint(2, 7))]
        events = [of_events(rng, *other) for other in tables if other[1] in SIGNPOSTS and rng.random() < 0.7]
        (case / "a.xml").write_text(document(rng, tables + (events if rng.random() < 0.5 else [])))
        if rng.random() < 0.3:
            again = [other for other in tables if rng.random() < 0.5] + events
            (case / "b.xml").write_text(document(rng, again or tables))
        if rng.random() < 0.4:
            pattern = rng.choice(["7", "Orchard", "orchard h", "Pear"])
            (case / "process").write_text(pattern)


def table(rng, run, place):
    """Run, schema, place, columns, and rows of texts, of which None is absent."""
    schema = rng.choice(list(TABLES))
    thread = "start-thread" if schema in SIGNPOSTS else "thread"
    columns = [("start", "start-time"), ("duration", "duration"), *[column[:2] for column in TABLES[schema]], ("process", "process"), (thread, "thread")]
    rows = []
    for _ in range(rng.choice([1, 3, 12, 40, 120])):
        duration = None if rng.random() < 0.08 else str(100 * rng.randint(0, 12))
        own = [rng.choice(texts) if rng.random() > 0.05 or name == "name" else None for name, _, texts in TABLES[schema]]
        process = rng.randrange(3)
        thread = rng.choice([(process, 1), (process, 2), None])
        # A process of its own, or that of the thread.
        process = None if thread and rng.random() < 0.3 else process
        rows.append([str(1000 + 300 * rng.randint(0, 20)), duration, *own, process, thread])
        if rng.random() < 0.3:
            rows.append(list(rows[-1]))
    rows.sort(key=lambda row: int(row[0]))
    return run, schema, place, columns, rows


def of_events(rng, run, schema, place, columns, rows):
    """The ends of most signposts of a table."""
    events = []
    for start, duration, name, identifier, process, thread in rows:
        process = thread[0] if process is None else process
        if rng.random() < 0.1:
            continue
        events.append([int(start), "Begin", name, identifier, process, thread])
        if duration is not None and rng.random() > 0.1:
            events.append([int(start) + int(duration), "End", name, identifier, process, thread])
    events.sort(key=lambda event: event[0])
    columns = [("time", "event-time"), ("event-type", "event-type"), *columns[2:5], ("thread", "thread"), ("scope", "scope")]
    scope = rng.choice(["Process", "Thread", "System"])
    return run, "os-signpost", 20 + place, columns, [[str(time), *rest, scope] for time, *rest in events]


def document(rng, tables):
    ids, known, parts = iter(range(1, 10**9)), {}, []

    def cell(kind, value):
        if value is None:
            return "<sentinel/>"
        if (kind, value) in known and rng.random() < 0.7:
            return f'<{kind} ref="{known[kind, value]}"/>'
        known[kind, value] = own = next(ids)
        if kind == "process":
            name, pid = PROCESSES[value]
            return f'<process id="{own}" fmt="{name} ({pid})"><pid id="{next(ids)}" fmt="{pid}">{pid}</pid></process>'
        if kind == "thread":
            (name, pid), tid = PROCESSES[value[0]], 10 * value[0] + value[1]
            number = f'<tid id="{next(ids)}" fmt="{tid:#x}">{tid}</tid>'
            return f'<thread id="{own}" fmt="worker {tid:#x} ({name}, pid: {pid})">{number}{cell("process", value[0])}</thread>'
        return f'<{kind} id="{own}" fmt="{value}">{value}</{kind}>'

    for run, schema, place, columns, rows in tables:
        heads = "".join(f"<col><mnemonic>{name}</mnemonic><name>{name}</name><engineering-type>{kind}</engineering-type></col>" for name, kind in columns)
        parts.append(f"<node xpath='//trace-toc[1]/run[{run}]/data[1]/table[{place}]'><schema name=\"{schema}\">{heads}</schema>")
        parts += ["<row>" + "".join(cell(kind, value) for (_, kind), value in zip(columns, row)) + "</row>" for row in rows]
        parts.append("</node>")
    return "\n".join(['<?xml version="1.0"?>', "<trace-query-result>", *parts, "</trace-query-result>", ""])


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](*sys.argv[2:])
