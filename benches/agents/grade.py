#!/usr/bin/env python3
"""Grades files of answers that `run.py` wrote, and prints a table for each. Exit code 1: fewer than 15 right answers in a file.

A number is right within the tolerance of the question. Otherwise, the first known name in the answer decides: `accept` lists the right
ones, and `traps` the names that a careless reader finds.
"""

import json
import re
import statistics
import sys
from pathlib import Path

NUMBER = re.compile(r"[-+]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")
ENOUGH = 15


def is_right(question: dict, answer: str) -> bool:
    answer = answer.replace("\u2212", "-").replace("`", "")
    if "number" in question:
        found = NUMBER.search(answer)
        return bool(found) and abs(float(found[0].replace(",", "")) - question["number"]) <= question["tolerance"]
    first = {kind: min((found.start() for pattern in question[kind]
                        if (found := re.search(rf"(?<!\w)(?:{pattern})(?!\w)", answer, re.IGNORECASE))), default=len(answer))
             for kind in ("accept", "traps")}
    return first["accept"] < first["traps"]


def main() -> None:
    questions = {question["id"]: question for question in json.loads((Path(__file__).parent / "questions.json").read_text("utf-8"))}
    is_enough = True
    for path in sys.argv[1:]:
        answers = json.loads(Path(path).read_text("utf-8"))
        rights = [is_right(questions[answer["id"]], answer["answer"]) for answer in answers]
        print(f"\n### {path}\n\n| question | kind | answer | right | calls | bytes |\n|---|---|---|---|---|---|")
        for answer, right in zip(answers, rights):
            shown = answer["answer"].replace("|", "\\|")[:80]
            print(f"| {answer['id']} | {questions[answer['id']]['kind']} | {shown} | {'yes' if right else 'NO'} "
                  f"| {answer['calls']} | {answer['bytes']:,} |")
        calls, size = (statistics.median(answer[name] for answer in answers) for name in ("calls", "bytes"))
        print(f"\n{sum(rights)} of {len(questions)} right; median: {calls:g} calls, {size:,.0f} bytes")
        is_enough &= sum(rights) >= ENOUGH
    sys.exit(not is_enough)


if __name__ == "__main__":
    main()
