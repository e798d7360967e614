"""Reads reports of dotTrace's Reporter with call stacks, and tells the own time of each stack.

    dottrace.py < REQUESTS > ANSWERS

A request is a line with a number of bytes, and as many bytes of an input. The answer is a line of JSON: {"refused": why}, or
{"unit", "meaning", "stacks"}: nanoseconds by the names of functions, outermost first, one on each line.

Stacks are split by trying all ways to do it with the names of the report. Nothing of this was taken from the reader that it is compared
with.
"""

import re
import xml.etree.ElementTree as ElementTree
from fractions import Fraction

from exports import serve


def nanos(text):
    if text is None or not re.fullmatch(r"([0-9]+|[0-9]{1,3}(,[0-9]{3})+)(\.[0-9]+)?", text):
        raise ValueError(f"{text!r} is no time")
    value = Fraction(text.replace(",", "")) * 10**6
    if value.denominator != 1:
        raise ValueError(f"{text!r} is too fine")
    return int(value)


def ways(text, names, are_plain):
    """All lists of names that make this text, if names are those of the report or, in a report without slashes, any."""
    if are_plain:
        return [text.split("/")]
    found = [[text]] if text in names else []
    for at, letter in enumerate(text):
        if letter == "/" and text[:at] in names:
            found += [[text[:at], *rest] for rest in ways(text[at + 1 :], names, False)]
    return found


def answer(content):
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise ValueError(str(error)) from None
    functions = root.findall("Function")
    names = {function.get("FQN") for function in functions}
    are_plain = not any("/" in name for name in names)
    stacks, has_instances = {}, False
    for function in functions:
        if function.get("Calls") is not None:
            raise ValueError("tracing")
        for instance in function.findall("Instance"):
            has_instances = True
            found = [way for way in ways(instance.get("CallStack"), names, are_plain) if way[-1] == function.get("FQN")]
            if len(found) != 1:
                raise ValueError(f"{len(found)} stacks")
            own = nanos(instance.get("OwnTime"))
            if own:
                key = "\n".join(found[0])
                stacks[key] = stacks.get(key, 0) + own
    if not has_instances:
        raise ValueError("flat")
    return {"unit": "elapsed_ns", "meaning": "presence", "stacks": stacks}


if __name__ == "__main__":
    serve(answer)
