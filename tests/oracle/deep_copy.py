"""Reads call trees copied out of Instruments (Deep Copy), and tells the self weight of each stack.

    deep_copy.py < REQUESTS > ANSWERS

A request is a line with a number of bytes, and as many bytes of an input. The answer is a line of JSON: {"refused": why}, or
{"unit", "meaning", "stacks"}: the weights by the names of functions, outermost first, one on each line.

A number is read as in English and as in German. If both readings are possible, the percentage beside it decides. Nothing of this was
taken from the reader that it is compared with.
"""

import re
from fractions import Fraction

from exports import serve

TIMES = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
CYCLES = {"c": 1, "cycles": 1, "Kc": 10**3, "Mc": 10**6, "Gc": 10**9}
BYTES = {"B": 1, "Bytes": 1}
UNITS = [("ns", TIMES), ("cycles", CYCLES), ("bytes", BYTES)]
BLANK = "[\u00a0\u202f]"
FORMS = {
    ".": re.compile(rf"(?:[0-9]+|[1-9][0-9]{{0,2}}(?:(?:,[0-9]{{3}})+|(?:{BLANK}[0-9]{{3}})+))(?:\.[0-9]+)?"),
    ",": re.compile(rf"(?:[0-9]+|[1-9][0-9]{{0,2}}(?:(?:\.[0-9]{{3}})+|(?:{BLANK}[0-9]{{3}})+))(?:,[0-9]+)?"),
}


def number(text, language):
    readings = {}
    for mark, form in FORMS.items():
        if language in (None, mark) and form.fullmatch(text):
            plain = re.sub(BLANK, "", text.replace("," if mark == "." else ".", ""))
            readings[mark] = Fraction(plain.replace(",", "."))
    if len(set(readings.values())) != 1:
        raise ValueError(f"{text!r} is {len(readings)} numbers")
    return next(iter(readings.values()))


def weight(text, unit, language):
    found = re.fullmatch(r"([0-9][^A-Za-zµμ]*?)\s*([A-Za-zµμ]*)", text)
    if not found:
        raise ValueError(f"{text!r} is no weight")
    for name, scales in UNITS:
        scale = scales.get(found[2] or unit)
        if scale:
            value = number(found[1], language) * scale
            if value.denominator != 1 or value >= 1 << 64:
                raise ValueError(f"{text!r} is not whole")
            return name, int(value)
    raise ValueError(f"{text!r} has no unit")


def decode(content):
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16")
    return content.decode("utf-8-sig")


def answer(content):
    lines = [line.removesuffix("\r") for line in decode(content).split("\n")]
    columns = [name.strip() for name in lines[0].split("\t")]
    has_names = not re.match(r"\s*[0-9][^\t]*%\s*\t", lines[0])
    in_bytes = "Bytes" in columns[0] and columns[1] != ""
    if not has_names:
        columns, lines = (["Bytes Used", "Count"] if in_bytes else ["Weight", "Self Weight"]) + columns[2:], [""] + lines
    in_column = re.fullmatch(r"Self \((.+)\)", columns[1])
    rows, above, units = [], [], set()
    for line in lines[1:]:
        if not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) != len(columns):
            raise ValueError("cells")
        amount, percentage = re.fullmatch(r"\s*(.*?)(?:\s+(\S+)\s*%)?\s*", cells[0]).groups()
        mark = re.search(r"[.,](?=[^.,]*$)", percentage or "")
        language = mark[0] if mark else None
        unit, total = weight(amount, None, language)
        units.add(unit)
        own = cells[1].strip()
        if columns[:2] == ["Bytes Used", "Count"]:
            own = None
        elif own == "-":
            own = 0
        else:
            amount = re.fullmatch(r"(.*?)(?:\s+\S+\s*%)?", own)[1]
            written = re.fullmatch(r".*?([A-Za-zµμ]*)", re.fullmatch(r"\s*(.*?)(?:\s+(\S+)\s*%)?\s*", cells[0])[1])[1]
            unit, own = weight(amount, in_column[1] if in_column else written, language)
            units.add(unit)
        name = cells[-1].lstrip(" ")
        indent = len(cells[-1]) - len(name)
        above = [row for row in above if row[0] < indent]
        row = (indent, above[-1] if above else None, name.strip(), total, own, [])
        if above:
            above[-1][5].append(total)
        above.append(row)
        rows.append(row)
    if len(units) != 1:
        raise ValueError(f"units {units}")
    stacks = {}
    for row in rows:
        own = row[3] - sum(row[5]) if row[4] is None else row[4]
        names, at = [], row
        while at:
            names.insert(0, at[2])
            at = at[1]
        if own < 0:
            raise ValueError("callees exceed")
        if own:
            key = "\n".join(names)
            stacks[key] = stacks.get(key, 0) + own
    return {"unit": units.pop(), "meaning": "on-cpu", "stacks": stacks}


if __name__ == "__main__":
    serve(answer)
