#!/usr/bin/env python3
"""A typical script for exports: it uses xml.etree.ElementTree.iterparse, resolves ids, and sums weights by leaf function.

    benches/reading/iterparse.py EXPORT

Prints JSON: rows, samples (rows with a weight), their total weight, and the self weight of each function. It
supports `time-profile` tables whose stacks have `frame` elements, like the exports of `generate-export`. It shares no code with
traceparse, so their results are independent.
"""

import json
import sys
from collections import defaultdict
from xml.etree import ElementTree

NO_STACK = "[no stack recorded]"


def read(path: str) -> dict:
    weights, leaves, names = {}, {}, {}
    rows, samples, total, functions = 0, 0, 0, defaultdict(int)
    for event, element in ElementTree.iterparse(path, events=("start", "end")):
        if event == "start":
            if element.tag == "node":
                node = element
            continue
        tag, attributes = element.tag, element.attrib
        if tag == "frame" and "id" in attributes:
            names[attributes["id"]] = attributes["name"]
        elif tag == "weight" and "id" in attributes:
            weights[attributes["id"]] = int(element.text)
        elif tag in ("backtrace", "tagged-backtrace") and "id" in attributes:
            leaf = element.find(".//frame")
            leaves[attributes["id"]] = names[leaf.get("id") or leaf.get("ref")]
        elif tag == "row":
            rows += 1
            weight = element.find("weight")
            if weight is not None:
                samples += 1
                weight = weights[weight.get("id") or weight.get("ref")]
                stack = element.find("tagged-backtrace")
                stack = element.find("backtrace") if stack is None else stack
                leaf = NO_STACK if stack is None else leaves[stack.get("id") or stack.get("ref")]
                functions[leaf] += weight
                total += weight
            # Drops the row and its place in the table, to save memory.
            node.clear()
    return {"rows": rows, "samples": samples, "weight": total, "functions": functions}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    json.dump(read(sys.argv[1]), sys.stdout)
