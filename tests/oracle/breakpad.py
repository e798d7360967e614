"""Reads the Breakpad files that `traceparse symbols` writes, after the format's documentation, and compares them with llvm-symbolizer.

    breakpad.py TRACEPARSE BUILT

Each symbol file of the fixtures below BUILT is packed alone. Every address of the tables `expected.tsv`, which llvm-symbolizer wrote, is
looked up in the packed file here: functions, inlined functions, files and lines are equal. The tables also say where llvm goes too far.
"""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

TRACEPARSE, BUILT = sys.argv[1], Path(sys.argv[2])
PLACEHOLDERS = ("<name omitted>", "<unknown>")


class Module:
    """A Breakpad file, read line by line."""

    def __init__(self, path):
        self.files, self.origins, self.functions = {}, {}, []
        lines = path.read_text(encoding="utf-8").split("\n")
        keyword, self.os, self.arch, self.id, self.name = lines[0].split(" ", 4)
        assert keyword == "MODULE" and lines[-1] == "", path
        for line in lines[1:-1]:
            keyword, rest = line.split(" ", 1)
            if keyword == "FILE":
                number, name = rest.split(" ", 1)
                self.files[int(number)] = name
            elif keyword == "INLINE_ORIGIN":
                number, name = rest.split(" ", 1)
                self.origins[int(number)] = name
            elif keyword == "FUNC":
                address, size, _, name = rest.removeprefix("m ").split(" ", 3)
                start = int(address, 16)
                assert int(size, 16) > 0, line
                # Of the functions in a file of ours, none overlap.
                assert not self.functions or self.functions[-1]["end"] <= start, line
                function = {"start": start, "end": start + int(size, 16), "name": name, "lines": [], "inlines": []}
                self.functions.append(function)
            elif keyword == "INLINE":
                depth, call_line, call_file, origin, *ranges = rest.split(" ")
                ranges = [int(number, 16) for number in ranges]
                for start, size in zip(ranges[::2], ranges[1::2], strict=True):
                    function = self.functions[-1]
                    assert function["start"] <= start and start + size <= function["end"], line
                    call = (int(call_line), self.files[int(call_file)])
                    function["inlines"].append((int(depth), start, start + size, self.origins[int(origin)], call))
            elif keyword == "PUBLIC":
                # Other names of functions.
                address, _, name = rest.removeprefix("m ").split(" ", 2)
                assert any(function["start"] == int(address, 16) for function in self.functions), line
            else:
                address, size, number, file = int(keyword, 16), *rest.split(" ")
                start = address
                function = self.functions[-1]
                assert function["start"] <= start and start + int(size, 16) <= function["end"], line
                function["lines"].append((start, start + int(size, 16), int(number), self.files[int(file)]))

    def frames(self, address):
        """Functions, files and lines, innermost first."""
        found = [function for function in self.functions if function["start"] <= address < function["end"]]
        if not found:
            return []
        (function,) = found
        lines = [(line, file) for start, end, line, file in function["lines"] if start <= address < end]
        assert len(lines) <= 1, hex(address)
        place = lines[0] if lines else (0, "-")
        chain = sorted(inline for inline in function["inlines"] if inline[1] <= address < inline[2])
        # Exactly one call at each depth.
        assert [inline[0] for inline in chain] == list(range(len(chain))), (hex(address), chain)
        if function["name"] in PLACEHOLDERS and place[1] == "-" and not chain:
            # Only the start of the function is known.
            return []
        frames = []
        for _, _, _, name, call in reversed(chain):
            frames.append((name, place[1], place[0]))
            place = call
        return frames + [(function["name"], place[1], place[0])]


def same_name(ours, theirs):
    """llvm strips one more underscore from names that only the symbol table has."""
    return ours == theirs or ours.lstrip("_") == theirs.lstrip("_")


def is_right(found, rows):
    note = rows[0]["note"]
    if note == "outside" or note.startswith("unnamed"):
        return not found
    if note.startswith("padding after "):
        return not found or (len(found) == 1 and same_name(found[0][0], note.removeprefix("padding after ")))
    expected = [(row["function"], row["file"], int(row["line"])) for row in rows]
    return len(found) == len(expected) and all(
        same_name(ours[0], theirs[0]) and ours[1:] == theirs[1:] for ours, theirs in zip(found, expected)
    )


def main():
    compared = inlined = 0
    for table in sorted(BUILT.glob("*/expected.tsv")):
        by_file = {}
        with open(table, encoding="utf-8", newline="") as rows:
            for row in csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE):
                by_address = by_file.setdefault((row["symbols"], row["uuid"]), {})
                by_address.setdefault(int(row["address"], 16), []).append(row)
        for (symbols, uuid), by_address in by_file.items():
            with tempfile.TemporaryDirectory() as folder:
                command = [TRACEPARSE, "symbols", table.parent / symbols, "-o", folder]
                subprocess.run(command, check=True, stdout=subprocess.PIPE)
                identity = uuid.replace("-", "") + "0"
                packed = list(Path(folder).glob(f"*/{identity}/*.sym"))
                if not packed:
                    # A file without names is left out.
                    assert all(not rows[0]["file"].strip("-") for rows in by_address.values()), (table, symbols)
                    continue
                (path,) = packed
                module = Module(path)
                assert (module.os, module.id, module.name) == ("mac", identity, path.parts[-3]), path
                for address, rows in by_address.items():
                    found = module.frames(address)
                    assert is_right(found, rows), (table, symbols, hex(address), found, rows)
                    compared += 1
                    inlined += len(found) > 1
    assert compared > 700 and inlined > 50, (compared, inlined)
    print(f"{compared} addresses as llvm-symbolizer, {inlined} of them with inlined functions")


main()
