"""Answers what this reader makes of bundles and their mutants, one JSON document a line.

    {"bundle": "name", "files": {path: hex, …}}                         remembers a bundle, and reads it
    {"of": "name", "edits": {path: [[offset, length, hex], …] or null}}   reads a mutant: stretches replaced, or the file removed

Files are inflated before they come here. Stretches are replaced one after the other. The answer to a bundle also has the numbers of
the objects of form.template that were looked at: changes elsewhere in it tell nothing. With "tables", all tables are read instead of
samples and intervals.
"""

import json
import sys

import any_table
from reader import Bundle, Mutant


def main():
    bundles = {}
    for line in sys.stdin:
        asked = json.loads(line)
        if "bundle" in asked:
            files = {path: bytes.fromhex(data) for path, data in asked["files"].items()}
            bundle = bundles[asked["bundle"]] = Bundle(files)
            mutant = Mutant(bundle, {})
            runs = any_table.read(mutant) if asked.get("tables") else mutant.read()
            answer = {"runs": runs, "seen": sorted(mutant.template().archive.list.known)}
        else:
            bundle, edited = bundles[asked["of"]], {}
            for path, edits in asked["edits"].items():
                if edits is None:
                    edited[path] = None
                    continue
                data = bytearray(bundle.files[path])
                for at, length, new in edits:
                    data[at : at + length] = bytes.fromhex(new)
                edited[path] = bytes(data)
            mutant = Mutant(bundle, edited)
            answer = {"runs": any_table.read(mutant) if asked.get("tables") else mutant.read()}
        print(json.dumps(answer, separators=(",", ":")), flush=True)


if __name__ == "__main__":
    main()
