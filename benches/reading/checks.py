"""Section `checks`: checks that the programs of `peers` produce the same results for the export.

With ElementTree: rows, samples, total weight, and the self weight of every function, by name. Rust names, which traceparse and
inferno decode (`_$LT$A$u20$as$u20$B$GT$::f::h0123456789abcdef`), are also decoded here. With inferno: every stack and its number
of samples. inferno drops samples without a stack and does not distinguish threads, so traceparse runs with
`--metric samples --separate-by none`, and its line for samples without a stack is compared with the samples missing from inferno's
total. With itself: the bytes of three outputs, with one thread and with one per core.
"""

import json
import re
import subprocess
from collections import defaultdict
from hashlib import blake2b

from tools import HERE, Tools, output

NO_STACK = "[no stack recorded]"
RUST_HASH = re.compile(r"::h[0-9a-f]{16}$")
RUST_ESCAPES = {"$LT$": "<", "$GT$": ">", "$u20$": " ", "$RF$": "&", "$C$": ",", "$u7b$": "{", "$u7d$": "}", "..": "::"}
ESCAPED = re.compile(rb"%(3B|0A|0D|25)")


def section(tools: Tools, rounds: int, scale: float, is_quick: bool) -> bool:
    export = tools.export(round(1_200_000 * scale), round(300_000 * scale))
    print("\n### checks\n")
    script = None if is_quick else json.loads(tools.once([HERE / "iterparse.py", export]).out)
    is_same = is_quick or sums(tools, export, script)
    is_same &= stacks(tools, export)
    return is_same & (not tools.has_jobs or threads(tools, export))


def sums(tools: Tools, export, script: dict) -> bool:
    summary = json.loads(output(tools.traceparse, export, "--view", "summary", "--format", "json"))
    mine = {"rows": sum(table["rows"] for table in summary["tables"] if table["kind"] == "cpu"),
            "samples": sum(series["samples"] for series in summary["series"]),
            "weight": sum(series["all_weight"] for series in summary["series"])}
    is_same = True
    for what, number in mine.items():
        is_same &= report(f"{what}, with ElementTree", number, script[what])
    functions = defaultdict(int)
    for row in json.loads(output(tools.traceparse, export, "--view", "functions", "--format", "json"))["functions"]:
        if row["self_weight"]:
            functions[row["function"]] += row["self_weight"]
    theirs = defaultdict(int)
    for name, weight in script["functions"].items():
        theirs[readable(name)] += weight
    differing = {name for name in functions.keys() | theirs.keys() if functions.get(name) != theirs.get(name)}
    is_same &= report("names of functions with self weight, with ElementTree", len(functions), len(theirs))
    return is_same & report("names whose self weight differs", len(differing), 0)


def readable(name: str) -> str:
    if RUST_HASH.search(name):
        name = RUST_HASH.sub("", name).removeprefix("_")
        for escape, text in RUST_ESCAPES.items():
            name = name.replace(escape, text)
    return name


def stacks(tools: Tools, export) -> bool:
    options = ["--format", "folded", "--metric", "samples", "--separate-by", "none"]
    mine = folded([tools.traceparse, export, *options])
    theirs = folded([tools.inferno(), export])
    without = mine.pop(digest(NO_STACK.encode()), 0)
    total = json.loads(output(tools.traceparse, export, "--view", "summary", "--format", "json"))["series"][0]["samples"]
    is_same = report("samples without stack, with what inferno's total lacks", without, total - sum(theirs.values()))
    is_same &= report("distinct stacks of names, with inferno", len(mine), len(theirs))
    return is_same & report("stacks whose count differs", sum(theirs.get(key) != count for key, count in mine.items()), 0)


def threads(tools: Tools, export) -> bool:
    outputs = {"folded": ["--format", "folded"], "tree, JSON": ["--view", "tree", "--format", "json"],
               "samples, CSV": ["--view", "samples", "--format", "csv"]}
    differing = [name for name, options in outputs.items()
                 if hash_of(tools.ours(export, *options)) != hash_of(tools.ours(export, *options, jobs=1))]
    return report(f"outputs that differ with --jobs 1, of {', '.join(outputs)}", len(differing), 0)


def hash_of(command: list) -> bytes:
    hashed = blake2b()
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE) as process:
        while block := process.stdout.read(1 << 20):
            hashed.update(block)
    assert process.returncode == 0, command
    return hashed.digest()


def folded(command: list) -> dict:
    """Returns the number of samples of each stack, by a hash of its text. Undoes our escapes, which inferno does not have."""
    counts = defaultdict(int)
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, bufsize=1 << 20) as process:
        for text in process.stdout:
            stack, _, count = text.rpartition(b" ")
            if b"%" in stack:
                stack = ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), stack)
            counts[digest(stack)] += int(count)
    assert process.returncode == 0, command
    return counts


def digest(stack: bytes) -> bytes:
    return blake2b(stack, digest_size=16).digest()


def report(what: str, mine: int, theirs: int) -> bool:
    print(f"* {what}: {mine:,}{'' if mine == theirs else f' AND NOT {theirs:,}'}")
    return mine == theirs
