"""Compares intervals that were found in an export with those that ElementTree finds in it.

    intervals.py EXPORT.xml FOUND.tsv

A line of FOUND has origin (row, pair, hang, or risk with message, severity and type in place of the first names), run, start, end (empty: open), name, subsystem, category, identifier, process, pid,
tid and type of hang; an absent field is empty. Both are sorted, and must be equal, line by line. Says how many there are, and how
many pairs are a row of os-signpost-interval, too.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict


def tables(path):
    """Run, schema, and the rows as cells by mnemonic, of each table; a ref is what it refers to, a sentinel is None."""
    root = ElementTree.parse(path).getroot()
    known = {}

    def resolved(element):
        return known[element.get("ref")] if element.get("ref") else element

    for element in root.iter():
        if element.get("id"):
            known[element.get("id")] = element
    for node in root.findall("node"):
        schema = node.find("schema")
        if schema is None:
            continue
        run = int(re.search(r"/run\[(\d+)\]", node.get("xpath")).group(1))
        columns = [column.findtext("mnemonic") for column in schema.findall("col")]
        rows = []
        for row in node.findall("row"):
            cells = [resolved(cell) for cell in row]
            assert len(cells) == len(columns)
            rows.append({name: cell for name, cell in zip(columns, cells) if cell.tag != "sentinel"})
        yield run, schema.get("name"), rows, resolved


def text(row, column):
    return "" if column not in row else (row[column].text or "")


def owner(row, thread_column, resolved):
    thread = row.get(thread_column)
    tid = "" if thread is None else resolved(thread.find("tid")).text
    process = row.get("process")
    if process is None:
        return ["", "", tid]
    pid = resolved(process.find("pid")).text
    return [process.get("fmt").removesuffix(f"({pid})").strip(), pid, tid]


def intervals_of(run, rows, resolved):
    for row in rows:
        start = int(text(row, "start"))
        end = start + int(text(row, "duration")) if "duration" in row else ""
        names = [text(row, column) for column in ["name", "subsystem", "category", "identifier"]]
        yield ["row", run, start, end, *names, *owner(row, "start-thread", resolved), ""]


def hangs_of(run, rows, resolved):
    for row in rows:
        start = int(text(row, "start"))
        end = start + int(text(row, "duration"))
        yield ["hang", run, start, end, "", "", "", "", *owner(row, "thread", resolved), text(row, "hang-type")]


def pairs_of(run, rows, resolved):
    open_since = defaultdict(list)
    for row in sorted(rows, key=lambda row: int(text(row, "time"))):
        names = [text(row, column) for column in ["name", "subsystem", "category", "identifier"]]
        process, pid, tid = owner(row, "thread", resolved)
        scope = text(row, "scope")
        where = {"Thread": (pid, tid), "System": ()}.get(scope, (pid,))
        key = (*names, scope, where)
        kind = text(row, "event-type")
        if kind == "Begin":
            open_since[key].append((int(text(row, "time")), [process, pid, tid]))
        elif kind == "End" and open_since[key]:
            start, begun_by = open_since[key].pop()
            yield ["pair", run, start, int(text(row, "time")), *names, *begun_by, ""]
    for key, begun in open_since.items():
        for start, begun_by in begun:
            yield ["pair", run, start, "", *key[:4], *begun_by, ""]


def risks_of(run, rows, resolved):
    for row in rows:
        message = row["message"].get("fmt") if "message" in row else ""
        names = [message, text(row, "severity"), text(row, "event-type"), ""]
        yield ["risk", run, int(text(row, "time")), "", *names, *owner(row, "thread", resolved), ""]


READ = {
    "os-signpost-interval": intervals_of,
    "OSSignpostIntervals": intervals_of,
    "os-signpost": pairs_of,
    "potential-hangs": hangs_of,
    "hang-risks": risks_of,
}


def main():
    expected = []
    for run, schema, rows, resolved in tables(sys.argv[1]):
        if schema in READ:
            expected += READ[schema](run, rows, resolved)
    expected = sorted("\t".join(str(field) for field in line) for line in expected)
    with open(sys.argv[2], encoding="utf-8") as file:
        found = sorted(file.read().splitlines())
    for line in sorted(set(expected) ^ set(found)):
        print("missing" if line in expected else "not there", line)
    assert expected == found, f"{len(found)} intervals and not {len(expected)}"
    kinds = Counter(line.split("\t", 1)[0] for line in found)
    print(f"{len(found)} intervals: {dict(kinds)}")


if __name__ == "__main__":
    main()
