"""Reads exports as strictly as the format asks for, and tells what each row of their CPU tables holds.

    exports.py < REQUESTS > ANSWERS

A request is a line with a number of bytes, and as many bytes of a document. The answer is a line of JSON: {"ill": why} for a
document that is not well-formed XML, otherwise {"tables": [...], "frames": [...], "threads": [...]}. A table is a CPU table
with its schema, its run, and its rows. A row is [byte, null] where it cannot be read, else [byte, [time, weight, unit, pid,
tid, core, kind of core, state, kind, counters, frames]]: the byte where it starts, and null for whatever was not recorded.
Frames are indices of "frames", leaf first; each is [name, address, UUID, load address, line, path of the source], with the
name null where only the address is known. A thread is [pid, tid, name], under each name that is shown for it, null where the
display string is of no known form.

Nothing of this was taken from the reader that it is compared with. The rules are those that every known file keeps:

* an element defines a value under its id, or refers to one of its own kind that was defined before, once;
* a cell without a value is <sentinel/>, and nothing else is;
* elements hold the children, and text, that they hold in every known file.
"""

import json
import re
import sys
import xml.parsers.expat as expat
from xml.etree.ElementTree import TreeBuilder

CPU_TABLES = {"time-profile", "cpu-profile", "counters-profile", "time-sample"}
STACKS = {"backtrace", "tagged-backtrace", "text-backtrace", "kperf-bt"}
TIMES = {"sample-time", "event-time", "start-time"}
UNITS = {"weight": "ns", "cycle-weight": "cycles", "pmc-event": "events"}
NUMBER = re.compile(r"[ \t\r\n]*[0-9]+[ \t\r\n]*")
HEX = re.compile(r"(0[xX])?[0-9a-fA-F]+")
UUID = re.compile(r"[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")
THREAD_NAME = re.compile(r"(.*?) {1,2}(?:0x([0-9a-f]+)|\(0x([0-9a-f]+)\)) \(.*, pid: [0-9]+\)", re.DOTALL)
ESCAPES = {"SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ","}
# No attribute has this name.
AT = "byte of the document"
PASSED_BY = {"device-session", "uint64", "boolean", "register-content"}


class Unreadable(Exception):
    """An element without a value that can be told."""


def parse(document):
    """The root of a document, by expat: the parser below ElementTree, without namespaces, which exports do not have."""
    builder = TreeBuilder()
    parser = expat.ParserCreate()

    def start(tag, attributes):
        builder.start(tag, {**attributes, AT: parser.CurrentByteIndex} if tag == "row" else attributes)

    parser.StartElementHandler = start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.buffer_text = True
    parser.Parse(document, True)
    return builder.close()


def number(element, limit=2**64):
    if len(element) or not NUMBER.fullmatch(element.text or "") or int(element.text) >= limit:
        raise Unreadable(element.tag)
    return int(element.text)


def numbers(element):
    words = (element.text or "").split()
    if len(element) or not words or not all(NUMBER.fullmatch(word) and int(word) < 2**64 for word in words):
        raise Unreadable(element.tag)
    return [int(word) for word in words]


def address(text):
    if text is None or not HEX.fullmatch(text) or int(text, 16) >= 2**64:
        raise Unreadable("address")
    return int(text, 16)


def kind_of(tag):
    """Elements that may refer to each other."""
    return "stack" if tag in STACKS else "time" if tag in TIMES else tag


def function_name(name):
    """What Rust's demangler makes of the paths that Instruments leaves half mangled; other names as they are."""
    path = re.fullmatch(r"(.+)::h[0-9a-f]{16}(?: \((\.[!-~]*)\))?", name, re.DOTALL)
    if not path or not name.isascii() or any(element[:1].isdigit() for element in path.group(1).split("::")):
        return name
    suffix = re.sub(r"\.llvm\.[0-9A-F@]*$", "", path.group(2) or "")

    def plain(element):
        element = element[1:] if element.startswith("_$") else element
        out = ""
        while found := re.search(r"\.\.|\.|\$(?:([A-Z]+)|u([0-9a-f]+))\$|\$", element):
            mark = found.group()
            code = int(found.group(2), 16) if found.group(2) else None
            if mark == "..":
                text = "::"
            elif mark == ".":
                text = "."
            elif found.group(1) in ESCAPES:
                text = ESCAPES[found.group(1)]
            elif code is not None and code < 0x110000 and not 0xD800 <= code < 0xE000 and not is_control(code):
                text = chr(code)
            else:
                break
            out += element[: found.start()] + text
            element = element[found.end() :]
        return out + element

    return "::".join(map(plain, path.group(1).split("::"))) + suffix


def is_control(code):
    return code < 32 or 127 <= code < 160


def shown_name(name):
    """The name of a function; None for one that has an address in place of a name."""
    return None if not name or re.fullmatch("0x[0-9a-f]+", name) else function_name(name)


class Document:
    def __init__(self):
        self.ids = {}
        self.frames, self.stacks, self.threads = [], [], set()

    # The value of an element is (its kind, what it holds), or Unreadable.

    def value(self, element):
        children = [self.value(child) for child in element]
        if element.tag in PASSED_BY:
            if "id" in element.attrib:
                self.define(element, (element.tag, None))
            return element.tag, None
        if "ref" in element.attrib:
            return self.referred(element)
        try:
            value = (kind_of(element.tag), self.read(element, children))
        except Unreadable as reason:
            value = reason
        if "id" in element.attrib:
            self.define(element, value)
        return value

    def define(self, element, value):
        key = int(element.get("id"))
        self.ids[key] = Unreadable("ambiguous") if key in self.ids else value

    def referred(self, element):
        value = self.ids.get(int(element.get("ref")), Unreadable("undefined"))
        if not isinstance(value, Unreadable) and value[0] != kind_of(element.tag):
            return Unreadable("other kind")
        return value

    @staticmethod
    def only(children, kind, needed=True):
        found = [child[1] for child in children if child[0] == kind]
        is_absent = any(child[0] == "sentinel" for child in children)
        if len(found) > 1 or (needed and not found and not is_absent):
            raise Unreadable(kind)
        return found[0] if found else None

    def read(self, element, children):
        tag = element.tag
        if tag == "sentinel":
            return None
        for child in children:
            if isinstance(child, Unreadable):
                raise child
        if tag in TIMES or tag in UNITS or tag in ("tid", "pid", "text-address", "time-sample-kind"):
            return number(element)
        if tag in ("text-addresses", "pmc-events"):
            return numbers(element)
        if tag == "core":
            kind = re.fullmatch(r"[^(]*\((.*)\)", element.get("fmt", ""), re.DOTALL)
            return number(element, 2**32), kind.group(1).strip() or None if kind else None
        if tag == "thread-state":
            if len(element) or not (element.text or "").strip():
                raise Unreadable(tag)
            return element.text.strip()
        if tag == "process":
            return self.only(children, "pid")
        if tag == "thread":
            tid, process = self.only(children, "tid"), self.only(children, "process", needed=False)
            name = THREAD_NAME.fullmatch(element.get("fmt", ""))
            is_known = name and int(name.group(2) or name.group(3), 16) == tid
            return tid, process, name.group(1).strip() if is_known else None
        if tag == "path":
            if len(element) or not element.text:
                raise Unreadable(tag)
            return element.text
        if tag == "source":
            line = element.get("line", "").strip(" \t\r\n")
            if not NUMBER.fullmatch(line) or int(line) >= 2**32:
                raise Unreadable(tag)
            path = self.only(children, "path")
            return None if path is None else (int(line), path)
        if tag == "binary":
            uuid = element.get("UUID")
            uuid = uuid and uuid.strip(" \t\r\n")
            # Without one of both no symbol file can be found, but names and weights are readable.
            try:
                load_address = address(element.get("load-addr"))
            except Unreadable:
                if element.get("name") is None and element.get("path") is None:
                    raise
                load_address = None
            is_known = uuid and UUID.fullmatch(uuid) and load_address is not None
            return uuid.replace("-", "").upper() if is_known else None, load_address or 0
        if tag == "frame":
            return self.frame(element, children)
        if tag == "kperf-bt":
            return self.stack(self.raw_stack(children))
        if tag in STACKS:
            return self.frames_of(children, element.get("fmt", ""))
        # An element of another name that holds frames is a stack as well.
        if any(child[0] in ("frame", "text-addresses", "stack") for child in children):
            raise Unreadable(tag)
        return None

    def frame(self, element, children):
        binary = self.only(children, "binary", needed=False)
        source = self.only(children, "source", needed=False)
        row = [shown_name(element.get("name")), address(element.get("addr")), *(binary or (None, None)), *(source or (None, None))]
        self.frames.append(row)
        return len(self.frames) - 1

    def bare(self, address):
        self.frames.append([None, address, None, None, None, None])
        return len(self.frames) - 1

    def stack(self, frames):
        self.stacks.append(frames)
        return len(self.stacks) - 1

    def frames_of(self, children, shown):
        frames = [child[1] for child in children if child[0] == "frame"]
        nested = [child[1] for child in children if child[0] == "stack"]
        fragments = [child[1] for child in children if child[0] == "text-addresses"]
        # No Xcode writes two of them together, so nobody knows which called which, or whose name the display string has.
        if len(nested) + bool(frames) + bool(fragments) > 1:
            raise Unreadable("stack of two kinds")
        if nested:
            return nested[0]
        for fragment in fragments:
            # The root of a stack of Xcode 12 is followed by a zero.
            addresses = fragment[:-1] if fragment[-1] == 0 else fragment
            frames += [self.bare(address) for address in addresses]
        if fragments and frames:
            # The display string has the name of the leaf, which stands nowhere else.
            self.frames[frames[0]][0] = shown_name(re.sub(" \u2190 \\(.*", "", shown, flags=re.DOTALL).strip())
        if not frames and not fragments:
            if not any(child[0] == "sentinel" for child in children):
                raise Unreadable("no frames")
            return None
        return self.stack(frames) if frames else None

    def raw_stack(self, children):
        counters = [child[1] for child in children if child[0] == "text-address"]
        lists = [child[1] for child in children if child[0] == "text-addresses"]
        if len(counters) > 1 or not counters + lists:
            raise Unreadable("kperf-bt")
        addresses = list(counters)
        for callers in lists:
            if callers[-1] == 0:
                callers = callers[:-1]
            elif len(addresses) == 1 and callers[0] == addresses[0] and counters:
                callers = callers[1:]
            addresses += callers
        return [self.bare(address) for address in addresses]

    # Tables

    def table(self, node):
        schema = node.find("schema")
        name = schema.get("name") if schema is not None else None
        columns = [(column.findtext("mnemonic") or "") for column in schema.findall("col")] if schema is not None else []
        rows = []
        for child in node:
            if child.tag == "schema":
                continue
            cells = [self.value(cell) for cell in child] if child.tag == "row" else self.value(child)
            if child.tag == "row" and name in CPU_TABLES:
                try:
                    rows.append([child.get(AT), self.row(name, columns, cells)])
                except Unreadable:
                    rows.append([child.get(AT), None])
        if name not in CPU_TABLES:
            return None
        run = re.search(r"/run\[([0-9]+)\]", node.get("xpath", ""))
        return {"schema": name, "run": int(run.group(1)) if run else 1, "rows": rows}

    def row(self, schema, columns, cells):
        if len(cells) != len(columns):
            raise Unreadable("number of cells")

        def cell(*kinds, of):
            """What the cell of a column holds, if it is of one of these kinds; None where there is none."""
            index = next((columns.index(name) for name in of if name in columns), None)
            if index is None:
                return None
            value = cells[index]
            if isinstance(value, Unreadable):
                raise value
            if value[0] != "sentinel" and value[0] not in kinds:
                raise Unreadable(of[0])
            return None if value[0] == "sentinel" else value if len(kinds) > 1 else value[1]

        time = cell("time", of=["time"])
        kind = cell("time-sample-kind", of=["sample-type"])
        weight = cell(*UNITS, of=["weight"])
        if time is None or (weight is None and (schema != "time-sample" or "weight" in columns)):
            raise Unreadable("time or weight")
        if not {"stack", "cp-user-callstack", "cp-kernel-callstack"} & set(columns):
            raise Unreadable("stack")
        weight, unit = (weight[1], UNITS[weight[0]]) if weight else (int(kind != 3), "samples")
        thread = cell("thread", of=["thread"])
        process = cell("process", of=["process"])
        tid, owner, name = thread or (None, None, None)
        if owner is None or process == owner:
            owner = process
        if thread:
            self.threads.add((owner, tid, name))
        core, core_kind = cell("core", of=[name for name in columns if name in ("core", "core-index")]) or (None, None)
        user = cell("stack", of=["stack", "cp-user-callstack"])
        kernel = cell("stack", of=["cp-kernel-callstack"])
        frames = [frame for stack in (kernel, user) if stack is not None for frame in self.stacks[stack]]
        state = cell("thread-state", of=["thread-state"])
        counters = cell("pmc-events", of=["counters-array"])
        return [time, weight, unit, owner, tid, core, core_kind, state, kind or 0, counters or [], frames]


def answer(document):
    try:
        root = parse(document)
    except (expat.ExpatError, ValueError) as reason:
        return {"ill": str(reason)}
    reader = Document()
    tables = []
    if root.tag == "trace-query-result":
        for node in root:
            table = reader.table(node) if node.tag == "node" else reader.value(node) and None
            tables += [table] if table else []
    return {"tables": tables, "frames": reader.frames, "threads": sorted(reader.threads, key=repr)}


def serve(answer):
    """Answers each document on standard input, which follows a line with its length."""
    while line := sys.stdin.buffer.readline():
        try:
            reply = answer(sys.stdin.buffer.read(int(line)))
        # A document of another form may break a script anywhere.
        except (ValueError, RecursionError, AttributeError, TypeError, IndexError, KeyError) as reason:
            reply = {"refused": str(reason)}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    serve(answer)
