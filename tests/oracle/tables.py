"""Compares the rows of every table that `traceparse table` writes with what two other readers find.

    tables.py export TRACEPARSE EXPORT
    tables.py bundle TRACEPARSE RECORDING.trace.zip READER
    tables.py formats TRACEPARSE INPUT NAME

Exports are read here, with ElementTree; bundles by READER, a script with a function `tables(folder)`. `formats` compares the other formats
with JSON: DuckDB and pyarrow read the Parquet, DuckDB and SQLite the SQL. Prints a line per table: schema, rows, and columns.

The value of an element, as docs/tables.md defines it:

* a thread, a process, a stack, a list of numbers: its fields
* no children: the text as a number if it is one, else the text, else the display string
* a name that is a code (LABELS): the display string
* a number with a name (NAMED): the first number and the last text among the children
* other children: the display string, else the texts of the children
"""

import importlib.util
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import exports

LABELS = {"syscall", "sockaddr", "uuid", "view-hierarchy", "description-set"}
NAMED = {"swift-task", "analysis-core-swift-task", "swift-actor", "swift-task-priority", "text-symbol", "return-location"}
LISTS = {"pmc-events", "text-addresses"}
KINDS = {
    **dict.fromkeys(exports.TIMES, "time"),
    **dict.fromkeys(["duration", "weight", "duration-on-core", "duration-waiting"], "duration"),
    **dict.fromkeys(["size-in-bytes", "network-size-in-bytes"], "bytes"),
    **dict.fromkeys(exports.STACKS, "stack"),
    **dict.fromkeys(LISTS, "numbers"),
    "cycle-weight": "cycles",
    "boolean": "boolean",
}
UNITS = {"time": "ns", "duration": "ns", "bytes": "bytes", "cycles": "cycles"}
NONE = object()


def ask(*arguments):
    done = subprocess.run(arguments, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{arguments}: {done.stderr}")
    return done.stdout, done.stderr


def table(program, path, name):
    text, said = ask(program, "table", path, name, "--format", "json", "--no-bundled-symbols")
    if "left out" in said:
        sys.exit(f"{path}: {said}")
    return json.loads(text)


class Export(exports.Document):
    """The values of cells, each a dictionary of fields: "" is the column itself."""

    def __init__(self):
        super().__init__()
        self.elements = {}

    def fields(self, cell):
        _, known = self.remembered(cell), self.value(cell)
        element = self.elements[int(cell.get("ref"))] if "ref" in cell.attrib else cell
        if element.tag in exports.STACKS:
            frames = self.stacks[known[1]] if known[1] is not None else None
            return {"": frames and [self.frames[frame] for frame in frames]}
        return self.plain(element)

    def remembered(self, element):
        for part in element.iter():
            if "id" in part.attrib:
                self.elements[int(part.get("id"))] = part

    def resolved(self, element):
        return self.elements[int(element.get("ref"))] if "ref" in element.attrib else element

    def plain(self, element):
        element = self.resolved(element)
        tag, shown, text = element.tag, element.get("fmt", ""), element.text or ""
        children = [self.resolved(child) for child in element]
        if tag == "sentinel":
            return {}
        if tag == "process":
            pid = next((int(child.text) for child in children if child.tag == "pid"), None)
            return {"": shown.removesuffix(f"({pid})").strip(), ".pid": pid}
        if tag == "thread":
            tid = next((int(child.text) for child in children if child.tag == "tid"), None)
            process = next((self.plain(child) for child in children if child.tag == "process"), {})
            return {"": thread_name(shown, tid), ".tid": tid, ".process": process.get(""), ".pid": process.get(".pid")}
        if tag in LISTS:
            return {"": [int(word) for word in text.split()]}
        if tag in LABELS:
            return {"": shown}
        values = [self.plain(child) for child in children if child.tag not in ("process", "thread")]
        if tag in NAMED:
            parts = [value.get("") for value in values]
            numbers = [part for part in parts if isinstance(part, int)]
            texts = [part for part in parts if isinstance(part, str)]
            name = texts[-1] if texts and numbers else shown or text
            return {"": numbers[0] if numbers else None, ".name": name}
        if not children:
            return {"": number_or_text(text, shown)}
        return {"": shown or "".join(str(value.get("", "")) for value in values)}


def number_or_text(text, shown):
    if re.fullmatch("0|[1-9][0-9]*", text) and int(text) < 2**64:
        return int(text)
    return text or shown


def thread_name(shown, tid):
    found = exports.THREAD_NAME.fullmatch(shown)
    if not found or int(found.group(2) or found.group(3), 16) != tid:
        return NONE
    return found.group(1).strip()


def read_export(path):
    """Of each table its run, schema, columns (mnemonic, type) and rows."""
    # Several documents may follow each other.
    parts = re.split(r"(?=<\?xml )", Path(path).read_text())
    for part in filter(str.strip, parts):
        document = Export()
        root = exports.parse(part.encode())
        for node in root.iter("node"):
            schema = node.find("schema")
            if schema is None:
                continue
            columns = [(col.findtext("mnemonic"), col.findtext("engineering-type")) for col in schema.iter("col")]
            run = re.search(r"/run\[([0-9]+)\]", node.get("xpath", ""))
            rows = [[document.fields(cell) for cell in row] for row in node.iter("row")]
            yield int(run.group(1)) if run else 1, schema.get("name"), columns, rows


def compare_export(program, path):
    found = list(read_export(path))
    listed = json.loads(ask(program, "tables", path, "--format", "json")[0])["inputs"][0]["tables"]
    counts = [(one["run"], one["schema"], one["rows"], one["rejected"]["total"]) for one in listed if one["schema"]]
    check("tables", counts, [(run, schema, len(rows), 0) for run, schema, _, rows in found])
    for schema in sorted({schema for _, schema, _, _ in found}):
        tables = [one for one in found if one[1] == schema]
        ours = table(program, path, schema)
        if len({tuple(columns) for _, _, columns, _ in tables}) > 1:
            sys.exit(f"{schema}: tables with different columns")
        columns = tables[0][2]
        check("columns", [one["name"] for one in ours["table"]["columns"] if one["type"]], [name for name, _ in columns])
        rows = [(run, row) for run, _, _, rows in tables for row in rows]
        check("rows", len(ours["rows"]), len(rows))
        stacks = stacks_of(ours)
        for index, (mnemonic, kind) in enumerate(columns):
            column = next(one for one in ours["table"]["columns"] if one["name"] == mnemonic)
            check("type", column["type"], kind)
            if kind in KINDS:
                check("kind", column["kind"], KINDS[kind])
            check("unit", column["unit"], UNITS.get(column["kind"]))
            for number, ((run, row), our) in enumerate(zip(rows, ours["rows"])):
                place = f"{path}: {schema} row {number} {mnemonic}"
                check(place, our["run"], run)
                compare_cell(place, row[index], our, column, stacks)
        print(schema, len(rows), len(columns))


def stacks_of(ours):
    stacks = {}
    for frame in ours.get("stacks", []):
        stacks.setdefault(frame["stack.id"], []).append(frame)
    return stacks


def compare_cell(place, fields, our, column, stacks):
    name, kind = column["name"], column["kind"]
    if kind == "stack":
        frames = fields.get("")
        check(place, our[name] is None, frames is None)
        if frames:
            check_frames(place, frames, our, name, stacks)
        return
    for suffix, value in fields.items() or [("", None)]:
        if value is NONE:
            continue
        if kind == "boolean" and value is not None:
            value = value != 0
        if kind == "text" and suffix == "" and isinstance(value, int):
            value = str(value)
        check(place + suffix, our[name + suffix], value)


def check_frames(place, frames, our, name, stacks):
    ours = stacks[our[name + ".id"]]
    check(place, [frame["address"] for frame in ours], [frame[1] for frame in frames])
    check(place, our[name], [frame["function"] for frame in ours])
    check(place, [frame["depth"] for frame in ours], list(range(len(frames))))
    for frame, (function, address, _, _, line, source) in zip(ours, frames):
        check(place, frame["function"], frame["function"] if function is None else function)
        check(place, (frame["source"], frame["line"] or 0), (source, line or 0))


def check(what, found, expected):
    # True is 1 for Python.
    if (found, type(found)) != (expected, type(expected)):
        sys.exit(f"{what}: {found!r} and not {expected!r}")


# Bundles


def compare_bundle(program, path, reader):
    spec = importlib.util.spec_from_file_location("reader", reader)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(path).extractall(folder)
        bundle = next(Path(folder).rglob("corespace")).parent
        found = list(module.tables(str(bundle)))
        listed = json.loads(ask(program, "tables", path, "--format", "json")[0])["inputs"][0]["tables"]
        key = lambda one: (one[0], one[1])
        ours = sorted(((one["run"], one["schema"], one["rows"], one["rejected"]["total"]) for one in listed), key=key)
        check("tables", ours, sorted(((one.run.number, one.schema, one.n, 0) for one in found), key=key))
        for schema in sorted({one.schema for one in found}):
            tables = [one for one in found if one.schema == schema]
            ours = table(program, path, schema)
            stacks = stacks_of(ours)
            expected = [(one.run.number, one.cols, row) for one in tables for row in by_time(one)]
            check(f"{schema} rows", len(ours["rows"]), len(expected))
            for number, ((run, columns, row), our) in enumerate(zip(expected, ours["rows"])):
                check(f"{schema} row {number}", our["run"], run)
                for mnemonic, kind, _, _ in columns:
                    compare_stored(f"{path}: {schema} row {number} {mnemonic}", mnemonic, kind, row[mnemonic], our, stacks)
            print(schema, len(expected), len(tables[0].cols))


def by_time(table):
    """Rows by the first column that is a time, as the readers keep it; rows with equal times keep their order."""
    times = [name for name, kind, _, _ in table.cols if kind in ("XRStartTimeTypeID", "XRRecordedEventTimestampTypeID", "XRSampleTimestampTypeID")]
    field = next((name for name, _, place, _ in table.cols if place == "XRTraceRelativeTimestampFieldID"), times[0] if times else None)
    return sorted(table.rows(), key=lambda row: row[field])


def compare_stored(place, name, kind, value, our, stacks):
    if value is None:
        return check(place, our[name], None)
    match kind.removeprefix("XR").removesuffix("TypeID"):
        case "Thread":
            check(place, (our[name + ".tid"], our[name + ".pid"]), (value["tid"], (value["process"] or {}).get("pid")))
        case "Process":
            check(place, our[name + ".pid"], value["pid"])
        case "ThreadName":
            check(place, our[name], value["name"])
        case "TextSymbol":
            check(place, our[name], int(value["address"], 16))
        case "Backtrace" | "CoreProfileCallstack":
            addresses = value if isinstance(value, list) else callers(value)
            frames = stacks[our[name + ".id"]] if our[name] is not None else []
            check(place, [frame["address"] for frame in frames], [int(address, 16) for address in addresses])
        case "NarrativeEntry" | "FormattedLabel" | "OSLogMetadata":
            check(place, our[name], message(kind, value))
        case _:
            check(place, our[name], value["raw"] if isinstance(value, dict) else value)


def callers(stack):
    """The program counter, then the callers: the list ends with 0, or begins with the program counter."""
    frames, pc = stack["frames"], stack["pc"]
    frames = frames[:-1] if frames[-1:] == ["0x0"] else frames[1:] if frames[:1] == [pc] else frames
    return [pc, *frames]


def message(kind, parts):
    texts = []
    for part in parts:
        value = part["value"]
        if isinstance(value, list):
            value = message(part["type"], value)
        elif isinstance(value, int):
            value = shown_number(part["type"], value)
        texts.append(value or "")
    return (" " if kind == "XROSLogMetadataTypeID" else "").join(texts)


def shown_number(kind, number):
    """A number in a message, as exports show it."""
    if kind == "XRPrototypeValueTypeID":
        return f"{number:,}"
    if kind != "XRDurationTypeID" or number < 1000:
        sys.exit(f"{kind} {number} in a message")
    unit, size = next((unit, size) for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)) if number >= size)
    hundredths = (number * 100 + size // 2) // size
    return f"{hundredths // 100}.{hundredths % 100:02} {unit}"


# Formats


def compare_formats(program, path, name):
    import duckdb
    import pyarrow.parquet

    with tempfile.TemporaryDirectory() as folder:
        out = {kind: f"{folder}/rows.{kind}" for kind in ("json", "ndjson", "csv", "parquet", "sql")}
        for file in out.values():
            ask(program, "table", path, name, "-o", file)
        ours = json.loads(Path(out["json"]).read_text())
        rows, columns = ours["rows"], [column["name"] for column in ours["table"]["columns"]]
        stacks = ours.get("stacks")
        lines = lambda file: [json.loads(line) for line in Path(file).read_text().splitlines()]
        check("ndjson", lines(out["ndjson"]), rows)
        check("pyarrow", pyarrow.parquet.read_table(out["parquet"]).to_pylist(), rows)
        meta = pyarrow.parquet.read_metadata(out["parquet"]).metadata[b"table"]
        check("metadata", json.loads(meta), ours["table"])
        tuples = [tuple(row.values()) for row in rows]
        check("duckdb", duckdb.sql(f"SELECT * FROM read_parquet('{out['parquet']}')").fetchall(), tuples)
        if stacks is not None:
            check("ndjson stacks", lines(f"{folder}/rows.stacks.ndjson"), stacks)
            check("pyarrow stacks", pyarrow.parquet.read_table(f"{folder}/rows.stacks.parquet").to_pylist(), stacks)
        in_text = [tuple(as_text(value) for value in row) for row in tuples]
        statements = Path(out["sql"]).read_text()
        database = duckdb.connect()
        database.execute(statements)
        loaded = database.execute(f'SELECT * FROM "{name}"').fetchall()
        check("duckdb sql", [tuple(plain_number(value) for value in row) for row in loaded], in_text)
        if stacks is not None:
            loaded = database.execute("SELECT * FROM stacks").fetchall()
            check("sql stacks", [tuple(plain_number(value) for value in row) for row in loaded], [tuple(one.values()) for one in stacks])
        database = sqlite3.connect(":memory:")
        database.executescript(statements)
        count = database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
        check("sqlite", count, len(rows))
        csv = duckdb.sql(f"SELECT * FROM read_csv('{out['csv']}', header=true, all_varchar=true, delim=',', quote='\"', escape='\"')")
        check("csv columns", csv.columns, columns)
        check("csv", csv.fetchall(), [tuple(None if value in (None, "") else csv_text(value) for value in row) for row in in_text])
        print(name, len(rows), len(columns))


def as_text(value):
    if isinstance(value, list):
        return " ".join(map(str, value)) if value and isinstance(value[0], int) else "\n".join(value)
    return value


def csv_text(value):
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def plain_number(value):
    return int(value) if type(value).__name__ == "Decimal" else value


if __name__ == "__main__":
    {"export": compare_export, "bundle": compare_bundle, "formats": compare_formats}[sys.argv[1]](*sys.argv[2:])
