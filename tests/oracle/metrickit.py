"""Reads diagnostics of MetricKit, and tells what is in each: its samples by stack, and its labels.

    metrickit.py < REQUESTS > ANSWERS

A request is a line with a number of bytes, and as many bytes of an input. The answer is a line of JSON: {"refused": why}, or a list with
an object for each diagnostic: "schema", "meaning" (null without samples), "device", "process" and "summary" as pairs, and "stacks", which has the samples by
thread and frames, outermost first, and "left_out", the numbers of samples of damaged threads, of diagnostics of unknown kinds, and of UUIDs
of unknown forms. A frame is BINARY+OFFSET, with the offset to look up in hex, or an address.

Nothing of this was taken from the reader that it is compared with.
"""

import datetime
import json
import math
import re
import uuid

from exports import serve

KINDS = {
    "crash": ("crash-diagnostic", "stop"),
    "hang": ("hang-diagnostic", "presence"),
    "cpuException": ("cpu-exception-diagnostic", "on-cpu"),
    "diskWriteException": ("disk-write-exception-diagnostic", "writes"),
    "appLaunch": ("app-launch-diagnostic", "presence"),
    "memoryException": ("memory-exception-diagnostic", "stop"),
}
STOPS = {"crash", "memoryException"}
LABELS = {
    "crash": "crash",
    "hang": "hang",
    "cpuException": "cpu-exception",
    "diskWriteException": "disk-write",
    "appLaunch": "launch",
    "memoryException": "memory-exception",
}
TOLD_BY = {
    "hangDuration": "hang",
    "totalCPUTime": "cpuException",
    "writesCaused": "diskWriteException",
    "totalBytesWritten": "diskWriteException",
    "launchDuration": "appLaunch",
    "exceptionType": "crash",
    "signal": "crash",
    "terminationReason": "crash",
}
SUMMARY = [
    ("appVersion", "app-version"),
    ("applicationVersion", "app-version"),
    ("appBuildVersion", "app-build"),
    ("applicationBuildVersion", "app-build"),
    ("regionFormat", "region"),
    ("isTestFlightApp", "is-testflight"),
    ("lowPowerModeEnabled", "is-low-power"),
    ("hangDuration", "hang-duration"),
    ("totalCPUTime", "cpu-time"),
    ("totalSampledTime", "sampled-time"),
    ("writesCaused", "bytes-written"),
    ("totalBytesWritten", "bytes-written"),
    ("launchDuration", "launch-duration"),
]
MACH = "BAD_ACCESS BAD_INSTRUCTION ARITHMETIC EMULATION SOFTWARE BREAKPOINT SYSCALL MACH_SYSCALL RPC_ALERT CRASH RESOURCE GUARD CORPSE_NOTIFY"
DARWIN = {1: "HUP", 2: "INT", 3: "QUIT", 4: "ILL", 5: "TRAP", 6: "ABRT", 7: "EMT", 8: "FPE", 9: "KILL", 10: "BUS", 11: "SEGV", 12: "SYS",
          13: "PIPE", 14: "ALRM", 15: "TERM"}
STARTS = {"dyld", "libdyld.dylib", "libsystem_pthread.dylib"}


class Number(str):
    """A number as it is written."""


class Object(list):
    """The members of an object, in order."""

    def get(self, *keys):
        found = [value for key, value in self if key in keys and value is not None]
        if len(found) > 1:
            raise ValueError(f"{keys} twice")
        return found[0] if found else None


def place(value):
    """A number, or a text that may be one."""
    if isinstance(value, str) and not isinstance(value, Number):
        return int(value) if value.isascii() and value.isdigit() and int(value) < 1 << 64 else None
    return whole(value)


def whole(value):
    if value is None:
        return None
    if not isinstance(value, Number) or not value.isdigit() or int(value) >= 1 << 64:
        raise ValueError(f"{value} is no count")
    return int(value)


def text(value):
    if value is not None and (not isinstance(value, str) or isinstance(value, Number)):
        raise ValueError(f"{value} is no text")
    return value


# The forms of RFC 9562, and those of Microsoft. `uuid.UUID` also takes hyphens anywhere.
GROUPS = "-".join(f"[0-9a-fA-F]{{{digits}}}" for digits in (8, 4, 4, 4, 12))
UUID = re.compile(rf"(?:urn:uuid:)?{GROUPS}|\{{{GROUPS}\}}|[0-9a-fA-F]{{32}}")


def identifier(value, odd=()):
    """A UUID; one that cannot be read is added to a list."""
    if not text(value):
        return None
    found = UUID.fullmatch(value.strip())
    if not found:
        odd.append(value)
        return None
    found = uuid.UUID(found[0])
    return str(found).upper() if found.int else None


def scalar(value):
    """A fact in words, or None."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str) else None


def parts(value):
    """The facts of an object."""
    for key, inner in value:
        if key == "unit" and isinstance(inner, Object):
            yield from ((name, scalar(item)) for name, item in inner if scalar(item) is not None)
        elif scalar(inner) is not None:
            yield key, scalar(inner)


def fact(value):
    if not isinstance(value, Object):
        return scalar(value)
    known = {}
    for key, inner in parts(value):
        known.setdefault(key, inner)
    unit = known.get("unit", known.get("symbol"))
    if "value" in known and unit is not None:
        return known["value"] + " " + unit
    if "exceptionName" in known:
        return known["exceptionName"] + (": " + known["composedMessage"] if "composedMessage" in known else "")
    if "number" in known and "platform" in known:
        build = f" ({known['buildNumber']})" if "buildNumber" in known else ""
        return f"{known['platform']} {known['number']}{build}"
    return None


class Diagnostic:
    def __init__(self, kind, trees, facts, unknown=0):
        self.kind, self.trees, self.facts, self.unknown = kind, trees, facts, unknown


def members_of_trees(value):
    """The members of a call tree, with those of trees in it."""
    found = Object()
    if isinstance(value, list) and not isinstance(value, Object):
        trees = [members_of_trees(one) for one in value]
        for key in ("callStackPerThread", "callStacks", "binaryInfo"):
            known = [tree.get(key, "callStackThreads") if key == "callStacks" else tree.get(key) for tree in trees]
            known = [one for one in known if one is not None]
            if known:
                found.append((key, known[0] if key == "callStackPerThread" else [item for one in known for item in one]))
        return found
    if not isinstance(value, Object):
        raise ValueError("a tree that is none")
    for key, inner in value:
        if key == "callStackTree":
            found += members_of_trees(inner)
        else:
            found.append((key, inner))
    return found


def diagnostics(value, kind=None):
    if isinstance(value, Object):
        yield from of_object(value, kind)
    elif isinstance(value, list):
        for inner in value:
            yield from diagnostics(inner, kind)


def of_object(value, kind):
    tree, facts, inner, has_tree = Object(), [], [], False
    for key, member in value:
        name = key.removesuffix("s").removesuffix("Diagnostic") if key.removesuffix("s").endswith("Diagnostic") else None
        if key in ("payload", "productData", "diagnosticLogs"):
            inner += diagnostics(member)
        elif key == "callStackTree":
            has_tree = True
            tree += members_of_trees(member)
        elif key in ("callStacks", "callStackThreads", "callStackPerThread", "binaryInfo"):
            has_tree = True
            tree.append((key, member))
        elif key in ("diagnosticMetaData", "environment", "metaData", "timeRange"):
            facts += of_facts(member) if isinstance(member, Object) else []
        elif name in KINDS:
            inner += diagnostics(member, name)
        elif name is not None and (member is None or isinstance(member, (list, bool, Number))):
            unknown = len(member) if isinstance(member, list) and not isinstance(member, Object) else 1
            inner += [Diagnostic(None, Object(), [], unknown)] if unknown else []
        elif key not in ("intervalEntries", "stateEntries") and fact(member) is not None:
            facts.append((NAMES.get(key, key), fact(member)))
    for one in inner:
        one.facts += facts
    yield from inner
    if has_tree or kind:
        told = [TOLD_BY[key] if key in TOLD_BY else of_event(value) for key, value in facts if key in TOLD_BY or key == "event"]
        kind = kind or next((one for one in told if one), None)
        details = [at for at, (key, _) in enumerate(facts) if key == "eventDetail"]
        if details and kind in DETAILS:
            facts[details[0]] = (DETAILS[kind], facts[details[0]][1])
        yield Diagnostic(kind, tree, facts)


DETAILS = {"hang": "hangDuration", "appLaunch": "launchDuration", "diskWriteException": "writesCaused"}
NAMES = {"bundleId": "bundleIdentifier", "buildVersion": "appBuildVersion"}


def of_event(event):
    words = {"hang": "hang", "launch": "appLaunch", "disk": "diskWriteException", "write": "diskWriteException"}
    return next((kind for word, kind in words.items() if word in event.lower()), None)


def of_facts(value):
    found = []
    for key, member in value:
        if key == "states" and isinstance(member, list) and not isinstance(member, Object):
            for state in member:
                known = dict(reversed(list(parts(state)))) if isinstance(state, Object) else {}
                if "domain" in known and "label" in known:
                    found.append(("state " + known["domain"], known["label"]))
        elif fact(member) is not None:
            found.append((NAMES.get(key, key), fact(member)))
    return found


class Tree:
    """The frames of a diagnostic as [depth, frame, caller]."""

    def __init__(self, diagnostic, first_names):
        tree, self.first_names = diagnostic.trees, first_names
        self.per_thread = tree.get("callStackPerThread")
        if self.per_thread is not None and not isinstance(self.per_thread, bool):
            raise ValueError("callStackPerThread")
        self.names = {}
        info = tree.get("binaryInfo")
        self.odd = []
        self.threads = []
        for thread in tree.get("callStacks", "callStackThreads") or []:
            if not isinstance(thread, Object):
                raise ValueError("a thread")
            self.threads.append((thread.get("threadAttributed") is True, self.roots(thread)))
        for binary in info if isinstance(info, list) and not isinstance(info, Object) else []:
            if not isinstance(binary, Object):
                raise ValueError("a binary")
            identity = identifier(binary.get("uuid"), self.odd)
            if identity and text(binary.get("name")) is not None:
                self.names[identity] = binary.get("name")

    def roots(self, thread):
        if thread.get("callStackFrames") is not None:
            raise ValueError("flattened")
        return [self.frame(frame) for frame in thread.get("callStackRootFrames", "rootFrames") or []]

    def frame(self, value):
        """Without recursion: a frame is [uuid, name, address, offset, count, callees]."""
        top = []
        todo = [(value, top)]
        while todo:
            value, into = todo.pop(0)
            if not isinstance(value, Object):
                raise ValueError("a frame")
            below = value.get("subFrames")
            below = below if isinstance(below, list) and not isinstance(below, Object) else []
            callees = []
            identity, name = identifier(value.get("binaryUUID"), self.odd), text(value.get("binaryName"))
            if identity and name is not None:
                self.names.setdefault(identity, name)
            offset = place(value.get("offsetIntoBinaryTextSegment", "offsetAddress"))
            symbol = text(value.get("symbolName"))
            into.append([identity, name, place(value.get("address")), offset, whole(value.get("sampleCount")), callees, symbol])
            todo += [(inner, callees) for inner in below]
        return top[0]

    def every(self):
        todo = [(0, root) for _, roots in self.threads for root in roots]
        while todo:
            depth, frame = todo.pop()
            yield depth, frame
            todo += [(depth + 1, callee) for callee in frame[5]]

    def name(self, frame):
        return self.names.get(frame[0], frame[1] if not frame[0] else None)


def is_stop(kind, tree):
    branches = any(len(frame[5]) > 1 for _, frame in tree.every())
    if kind in STOPS:
        return True
    if kind or branches:
        return False
    if all(depth == 0 for depth, _ in tree.every()):
        return False
    begins = any(depth == 0 and frame[5] and tree.name(frame) in STARTS for depth, frame in tree.every())
    ends = any(depth and not frame[5] and tree.name(frame) in STARTS for depth, frame in tree.every())
    if begins == ends:
        raise ValueError("an unknown order")
    return ends


def shown(tree, frame, caller, stop):
    identity, name, address, offset = frame[:4]
    name = tree.name(frame) if tree.name(frame) is not None else identity
    if frame[6]:
        name = tree.first_names.setdefault(identity, name) if identity else name
        return f"{name}+0x0" if name is not None else "0x0"
    if offset is None or name is None or (address is not None and offset > address):
        return hex(max((address or 0) - caller, 0))
    # A binary keeps the name of its first document.
    name = tree.first_names.setdefault(identity, name) if identity else name
    if address is not None and offset >= 1 << 32:
        return f"{name}+{hex(max(address - offset - caller, 0))}"
    page = (address - offset) % 4096 if address is not None else None
    is_raw = page == 0 or (page != 1 and stop)
    return f"{name}+{hex(max(offset - 1, 0) if caller and is_raw else offset)}"


def stacks(tree, stop, kind):
    found, left_out = {}, 0

    def add(thread, frames, count):
        if count:
            key = ";".join([thread, *frames])
            found[key] = found.get(key, 0) + count

    for index, (attributed, roots) in enumerate(tree.threads):
        thread = "all threads" if tree.per_thread is False else f"Thread {index}" + ", attributed" * attributed
        if attributed and kind == "hang" and tree.per_thread is not False:
            thread = "Main Thread"
        if is_damaged(roots, stop):
            left_out += max(sum(1 for frame in below(roots) if not frame[5]) if stop else sum(root[4] or 0 for root in roots), 1)
            continue
        todo = [(root, []) for root in roots]
        while todo:
            frame, above = todo.pop()
            caller = bool(above) if stop else bool(frame[5])
            path = above + [shown(tree, frame, caller, stop)]
            todo += [(callee, path) for callee in frame[5]]
            if stop:
                add(thread, path[::-1], not frame[5])
            else:
                add(thread, path, frame[4] - sum(callee[4] for callee in frame[5]))
    return found, left_out


def below(roots):
    """All frames of a thread."""
    todo = list(roots)
    while todo:
        frame = todo.pop()
        yield frame
        todo += frame[5]


def is_damaged(roots, stop):
    """True if counts are missing or contradict each other, or a frame of a stopped thread has two callers."""
    for frame in below(roots):
        if frame[4] is not None and sum(callee[4] or 0 for callee in frame[5]) > frame[4]:
            return True
        if len(frame[5]) > 1 if stop else frame[4] is None:
            return True
    return False


def date(begin):
    try:
        seconds = float(begin)
    except ValueError:
        return begin
    millis = (seconds + 978307200) * 1e3 if seconds < 1.2e9 else seconds * 1e3 if seconds < 1e11 else seconds
    at = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=math.floor(millis + 0.5))
    return at.isoformat(timespec="milliseconds") + "Z"


def stopped(diagnostic, known, tree):
    """What a crash states of itself, with the names of numbers."""
    types = {str(at): "EXC_" + name for at, name in enumerate(MACH.split(), 1)}
    codes = {"1": "KERN_INVALID_ADDRESS", "2": "KERN_PROTECTION_FAILURE"} if known.get("exceptionType") == "1" else {}
    signals = {str(number): "SIG" + name for number, name in DARWIN.items()}
    found = []
    for key, called, names in (
        ("exceptionType", "exception-type", types),
        ("exceptionCode", "exception-code", codes),
        ("signal", "signal", signals),
        ("terminationReason", "termination-reason", {}),
        ("terminationCategory", "termination-category", {}),
        ("exceptionReason", "exception-reason", {}),
        ("objectiveCexceptionReason", "exception-reason", {}),
        ("virtualMemoryRegionInfo", "memory-region", {}),
    ):
        value = (known.get(key) or "").split("\n")[0].strip()
        if value:
            found.append([called, f"{names[value]} ({value})" if value in names else value])
    attributed = [index for index, (is_attributed, _) in enumerate(tree.threads) if is_attributed]
    if diagnostic.kind in STOPS and tree.per_thread is not False and len(attributed) == 1:
        found.append(["attributed-thread", str(attributed[0])])
    return found


def told(diagnostic, first_names):
    tree = Tree(diagnostic, first_names)
    stop = is_stop(diagnostic.kind, tree)
    known = {}
    for key, value in diagnostic.facts:
        known.setdefault(key, value)
    known = {key: value for key, value in known.items() if value}
    device = []
    if "osVersion" in known:
        digit = next((at for at, letter in enumerate(known["osVersion"]) if letter in "0123456789"), len(known["osVersion"]))
        device += [["platform", known["osVersion"][:digit].strip()], ["os-version", known["osVersion"][digit:]]]
    device += [[called, known[key]] for key, called in (("deviceType", "model"), ("platformArchitecture", "architecture")) if key in known]
    process = [["name", known.get("bundleIdentifier", "app")]] + ([["pid", known["pid"]]] if "pid" in known else [])
    summary = [["start-date", date(known["begin"])]] if "begin" in known else []
    if diagnostic.kind in LABELS:
        summary.append(["diagnostic", LABELS[diagnostic.kind]])
    summary += [[called, known[key]] for key, called in SUMMARY if key in known]
    summary += stopped(diagnostic, known, tree)
    summary += [[key, value] for key, value in diagnostic.facts if key.startswith("state ")]
    schema, meaning = KINDS.get(diagnostic.kind, ("call-stack-tree", "presence"))
    schema = "unknown-diagnostic" if diagnostic.unknown else schema
    found, left_out = stacks(tree, stop, diagnostic.kind)
    left_out = [min(left_out, 1 << 40), diagnostic.unknown, len(tree.odd)]
    return dict(left_out=left_out, schema=schema, meaning=meaning if found else None, device=device, process=process, summary=summary, stacks=found)


def answer(content):
    document, found, at = content.decode("utf-8-sig"), [], 0
    decoder = json.JSONDecoder(object_pairs_hook=Object, parse_int=Number, parse_float=Number)
    while document[at:].strip(" \t\r\n"):
        at += len(document[at:]) - len(document[at:].lstrip(" \t\r\n"))
        value, at = decoder.raw_decode(document, at)
        found += diagnostics(value)
    if not found:
        raise ValueError("no diagnostic")
    first_names = {}
    return [told(diagnostic, first_names) for diagnostic in found]


if __name__ == "__main__":
    serve(answer)
