"""Reads all tables of exports as strictly as the format asks for, and answers what each row contains.

    table_rows.py < REQUESTS > ANSWERS

Requests are those of exports.py. An answer is {"ill": why} or {"tables": [...]}. A table has its schema, its run, its columns as
[mnemonic, type], "odd" if it contains something besides a schema and rows, and its rows as [byte, cells]; cells are null if the row
cannot be read. A cell is null, a number, a text, [a kind, parts …], or true if any value is right.

docs/tables.md defines values. A cell that contradicts the type of its column makes a row unreadable.
"""

import re
from xml.parsers.expat import ExpatError

import exports
from exports import STACKS, Unreadable
from tables import KINDS, LABELS, LISTS, NAMED, NONE, thread_name

ANY = True
STRUCTURE = {"trace-query-result", "node", "schema", "col", "mnemonic", "engineering-type", "row"}
NUMBERS = set(
    "core uint64 uint32 uint64-hex-lowercase address vnode syscall-arg syscall-return kdebug-arg kdebug-func fd tid pid event-count pmc-event "
    "layout-id containment-level os-signpost-identifier packed-identifier connection-uuid64 mach-o-vm-offset mach-port text-address "
    "register-content swift-task-id swift-actor-id time-sample-kind render-buffer-depth displayed-surface-swap metal-workload-priority "
    "metal-nesting-level cfrunloop-result".split()
)
TEXTS = LABELS | set(
    "string short-string medium-length-string word-string raw-string narrative-text narrative formatted-label os-log-metadata typed-array "
    "thread-state signpost-name event-type format-string subsystem category event-concept file-path hang-type thermal-state display-name "
    "vsync-event display-event-name network-protocol network-interface swift-task-state swift-actor-class swiftui-update domain-name "
    "metal-object-label vm-op size-in-pixels".split()
)


def kind(tag):
    """The kind of a column of this type; None if the type is unknown."""
    if tag in KINDS or tag in ("process", "thread"):
        return KINDS.get(tag, tag)
    for name, tags in (("number", NUMBERS), ("text", TEXTS), ("named", NAMED)):
        if tag in tags:
            return name
    return None


def is_number(tag):
    return kind(tag) in ("time", "duration", "bytes", "cycles", "boolean", "number")


class Reader(exports.Document):
    """A value is (name of its element, cell), or Unreadable."""

    def value(self, element):
        children = [self.value(child) for child in element]
        tag = element.tag
        if tag == "sentinel":
            return tag, None
        if "ref" in element.attrib:
            value = self.ids.get(int(element.get("ref")), Unreadable("undefined"))
            return value if isinstance(value, Unreadable) or value[0] == tag else Unreadable("another name")
        try:
            value = tag, self.read(element, children)
        except Unreadable as reason:
            value = reason
        if "id" in element.attrib:
            self.define(element, value)
        return value

    def read(self, element, children):
        tag, shown, text = element.tag, element.get("fmt", ""), element.text or ""
        bad = next((child for child in children if isinstance(child, Unreadable)), None)
        if tag in STRUCTURE:
            raise Unreadable("a table in a row")
        # A view hierarchy has parts that its display string, which may be empty, does not show.
        is_shown = shown or tag in LABELS and "id" in element.attrib
        if bad and not (is_shown and kind(tag) in (None, "text")):
            raise bad
        children = [child for child in children if child is not bad]
        if is_number(tag):
            return exports.number(element)
        if tag in LISTS:
            return ["numbers", *exports.numbers(element)]
        if tag == "process":
            pid = self.only(children, "pid")
            name = shown.removesuffix(f"({pid})")
            return ["process", pid, ANY if name == shown and shown.endswith(")") else name.strip()]
        if tag == "thread":
            tid, process = self.only(children, "tid"), self.only(children, "process", needed=False)
            name = thread_name(shown, tid)
            return ["thread", tid, ANY if name is NONE else name, *(process or ["process", None, None])[1:]]
        if tag in STACKS or tag in ("frame", "binary", "source", "path"):
            return self.code(element, children)
        if tag in LABELS:
            return self.code_name(element, shown)
        return self.cell(element, children)

    @staticmethod
    def code_name(element, shown):
        if not shown and "id" not in element.attrib and (len(element) or not element.text):
            raise Unreadable("a code without a name")
        return shown or ("" if len(element) else element.text or "")

    def code(self, element, children):
        """A stack, or a part of one."""
        plain = lambda name, value: value[1:] if name in LISTS else value
        return super().read(element, [("stack" if name in STACKS else name, plain(name, value)) for name, value in children])

    def cell(self, element, children):
        """A value of a type without rules of its own."""
        tag, shown, text = element.tag, element.get("fmt", ""), element.text or ""
        if tag in NAMED:
            cells = [cell for name, cell in children if name not in ("process", "thread")]
            numbers = [cell[1] if isinstance(cell, list) else cell for cell in cells if is_plain_number(cell)]
            texts = [cell for cell in cells if isinstance(cell, str)]
            if numbers:
                return ["named", numbers[0], texts[-1] if texts else shown]
            if not len(element) and not shown and not text and "id" not in element.attrib:
                raise Unreadable("empty")
        elif not len(element):
            if re.fullmatch("0|[1-9][0-9]*", text) and int(text) < 2**64:
                return int(text)
            if not text and not shown and "id" not in element.attrib:
                raise Unreadable("empty")
            return text or shown
        if shown or not len(element):
            return shown or text
        if any(name in STACKS or name == "frame" for name, _ in children):
            raise Unreadable("a stack in another element")
        return "".join(self.shown(cell) for _, cell in children)

    @staticmethod
    def shown(cell):
        if isinstance(cell, list):
            return cell[2] if cell[0] == "named" else ""
        return "" if cell is None else str(cell)

    # Tables

    def table(self, node):
        schema, rows, odd = node.find("schema"), [], False
        columns = []
        for column in schema.findall("col") if schema is not None else []:
            parts = column.findall("mnemonic"), column.findall("engineering-type")
            odd = odd or any(len(part) > 1 or any(map(len, part)) for part in parts)
            columns.append([part[0].text or "" if part else "" for part in parts])
        for child in node:
            if child.tag == "row":
                cells = [self.value(cell) for cell in child]
                try:
                    rows.append([child.get(exports.AT), self.row(columns, cells)])
                except Unreadable:
                    rows.append([child.get(exports.AT), None])
            elif child is not schema:
                odd, _ = True, self.value(child)
        run = re.search(r"/run\[([0-9]+)\]", node.get("xpath", ""))
        name = schema.get("name") or "" if schema is not None else None
        # Run 1 is a guess, unless there are no attributes at all.
        odd = odd or not run and bool(node.attrib)
        return {"schema": name, "run": int(run.group(1)) if run else 1, "columns": columns, "rows": rows, "odd": odd}

    def row(self, columns, cells):
        if len(cells) != len(columns):
            raise Unreadable("number of cells")
        return [self.checked(of_column, cell) for (_, of_column), cell in zip(columns, cells)]

    def checked(self, of_column, value):
        if isinstance(value, Unreadable):
            raise value
        tag, cell = value
        expected, found = kind(of_column), kind(tag)
        if tag == "sentinel":
            return None
        if tag in ("frame", "binary", "source"):
            raise Unreadable("part of a stack")
        # A text says nothing about its kind. A number does so by its element.
        is_text = isinstance(cell, str) and expected in ("text", "named")
        if expected not in (None, found) and not is_text and not (expected == "text" and found is None):
            raise Unreadable("another kind")
        if found == "stack":
            frames = [self.frames[frame] for frame in self.stacks[cell]] if cell is not None else []
            return ["stack", *frames] if frames else None
        return int(cell != 0) if "boolean" in (of_column, tag) and expected == found else cell


def is_plain_number(cell):
    return isinstance(cell, int) or isinstance(cell, list) and cell[0] == "named"


def answer(document):
    try:
        root = exports.parse(document)
    except (ExpatError, ValueError) as reason:
        return {"ill": str(reason)}
    reader, tables, odd = Reader(), [], False
    if root.tag == "trace-query-result":
        for child in root:
            if child.tag == "node":
                tables.append(reader.table(child))
            else:
                odd, _ = True, reader.value(child)
    return {"tables": tables, "odd": odd}


if __name__ == "__main__":
    exports.serve(answer)
