"""Reads CPU profiles of Dart, and tells what is in each: its samples, its labels and what is wrong with it.

    dart.py < REQUESTS > ANSWERS

A request is a line with a number of bytes, and as many bytes of an input. The answer is a line of JSON: {"refused": why}, or a list with
an object for each profile: "process" and "summary" as pairs, "rows", "rejected" by reason, "samples" as [ns, pid, tid, frames] with the outermost
frame first, "tags" with the samples of each user tag, "ticks" (functions whose ticks differ) and "left_out" (samples that DevTools left out). A frame is
NAME|BINARY|LINE.

Nothing of this was taken from the reader that it is compared with.
"""

import collections
import json

from exports import serve

ROOT = "cpuProfileRoot"
INSIDE = ("result", "cpu-profiler", "cpuProfileData", "cpuProfilerData")


class Number(str):
    """A number as it is written."""


def refuse(condition, why):
    if condition:
        raise ValueError(why)


def scalar(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str) else None


def whole(value):
    return int(value) if isinstance(value, Number) and value.isdigit() and int(value) < 1 << 64 else None


def stated(value):
    refuse(value is not None and whole(value) is None, "not a whole number")
    return whole(value)


def text(value):
    refuse(value is not None and (isinstance(value, Number) or not isinstance(value, str)), "not a string")
    return value


def member(value, *keys):
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def count(value):
    written = scalar(value)
    return int(written) if written and written.isdigit() else None


class Code:
    """A function of the protocol, or a frame of DevTools."""

    def __init__(self, value):
        own = member(value, "function")
        own = own if isinstance(own, dict) else {}
        name = scalar(own.get("name"))
        if name is None:
            name = scalar(member(value, "name"))
        refuse(name is None, "no name")
        names, owner = [name], own.get("owner")
        while scalar(member(owner, "type")) in ("@Class", "@Function") and scalar(member(owner, "name")) is not None:
            names.append(scalar(owner["name"]))
            owner = owner.get("owner")
        self.name = ".".join(part for part in reversed(names) if part)
        self.kind = scalar(member(value, "kind")) or ""
        script = scalar(member(own, "location", "script", "uri"))
        script = script if script is not None else scalar(member(value, "packageUri"))
        resolved = scalar(member(value, "resolvedUrl"))
        is_package = (script or "").startswith(("package:", "dart:"))
        self.url = script if is_package else resolved or script or ""
        line = count(member(own, "location", "line"))
        line = line if line is not None else count(member(value, "sourceLine"))
        self.line = line if line and line < 1 << 32 and self.url else 0
        self.parent = scalar(member(value, "parent"))
        self.ticks = [count(member(value, key)) for key in ("inclusiveTicks", "exclusiveTicks")]

    def binary(self):
        if self.kind in ("Stub", "Collected") or self.name.startswith(("[Stub] ", "[Collected] ")):
            return "Dart VM"
        if self.name.startswith("[Native] "):
            path, has_offset, _ = self.name.removeprefix("[Native] ").rpartition("+0x")
            return last_part(path) if has_offset else ""
        package = self.url.partition("/")[0]
        if "flutter/packages/flutter/lib/" in self.url:
            return "package:flutter"
        if package.startswith("dart:"):
            return package.removesuffix("-patch")
        if package.startswith("package:"):
            return package
        return "org-dartlang-sdk" if package.startswith("org-dartlang-sdk:") else last_part(self.url)

    def shown(self):
        return f"{self.name}|{self.binary()}|{self.line}"


def last_part(path):
    return path.replace("\\", "/").rpartition("/")[2] or path


def profiles(value):
    if not isinstance(value, dict):
        return
    for key in value:
        if key in INSIDE:
            yield from profiles(value[key])
    kind = scalar(value.get("type"))
    if kind == "CpuSamples":
        yield samples(value)
    elif kind == "_CpuProfileTimeline":
        yield timeline(value)


def told(value, rows, ticks=0, left_out=0):
    """`rows` are [time, pid, tid, user tag, frames or the name of what is wrong]."""
    origin, pid, period = (stated(value.get(key)) for key in ("timeOriginMicros", "pid", "samplePeriod"))
    if origin is None:
        origin = min((row[0] for row in rows if row[0] is not None), default=0)
    rejected, found, tags = collections.Counter(), [], collections.Counter()
    for time, of_process, tid, tag, frames in rows:
        nanos = None if time is None else (time - origin) * 1000
        if nanos is None:
            rejected["no-time"] += 1
        elif not 0 <= nanos < 1 << 64:
            rejected["bad-number"] += 1
        elif isinstance(frames, str):
            rejected[frames] += 1
        else:
            found.append([nanos, pid if of_process is None else of_process, tid, frames])
            tags[tag if tag and tag != "Default" else "in none"] += 1
    return {
        "process": [["pid", str(pid)]] if pid is not None else [],
        "summary": [["sample-period", f"{period} µs"]] if period is not None else [],
        "rows": len(rows),
        "rejected": dict(rejected),
        "samples": found,
        "tags": dict(tags) if set(tags) - {"in none"} else {},
        "ticks": ticks,
        "left_out": left_out,
    }


def samples(value):
    functions = [Code(function) for function in value.get("functions") or []]
    refuse(not isinstance(value.get("samples"), list), "no samples")
    refuse(stated(value.get("sampleCount")) not in (None, len(value["samples"])), "another number of samples")
    rows, through, ends = [], collections.Counter(), collections.Counter()
    for sample in value["samples"]:
        refuse("identityHashCode" in sample or "classId" in sample, "an allocation")
        refuse(not isinstance(sample.get("truncated", False), (bool, type(None))), "truncated")
        row = [whole(sample.get("timestamp")), None, whole(sample.get("tid")), text(sample.get("userTag"))]
        if "stack" not in sample:
            rows.append([*row, "empty-cell"])
            continue
        stack = [whole(index) for index in sample["stack"]]
        refuse(any(index is None or index >= len(functions) for index in stack), "a missing function")
        through.update(set(stack))
        ends.update(stack[:1])
        frames = [functions[index].shown() for index in reversed(stack) if functions[index].kind != "Tag"]
        rows.append([*row, ["<truncated backtrace>||0"] * bool(sample.get("truncated")) + frames])
    of_code = [(code, [through[at], ends[at]]) for at, code in enumerate(functions) if code.kind not in ("Stub", "Tag")]
    differs = [any(one not in (None, other) for one, other in zip(code.ticks, found)) for code, found in of_code]
    return told(value, rows, sum(differs))


def timeline(value):
    frames = {key: Code(frame) for key, frame in (value.get("stackFrames") or {}).items()}
    refuse(not isinstance(value.get("traceEvents"), list), "no samples")
    rows = []
    for event in value["traceEvents"]:
        if text(event.get("ph")) != "P":
            continue
        leaf, tag = text(event.get("sf")), member(event, "args", "userTag")
        path, at = [], leaf
        while at is not None and at != ROOT and at in frames and len(path) <= len(frames):
            path.append(frames[at].shown())
            at = frames[at].parent
        if leaf is None:
            path = "empty-cell"
        elif len(path) > len(frames):
            path = "stack-too-deep"
        elif at is not None and at != ROOT:
            path = "undefined-ref"
        rows.append([whole(event.get("ts")), whole(event.get("pid")), whole(event.get("tid")), scalar(tag), path if isinstance(path, str) else path[::-1]])
    left_out = (stated(value.get("sampleCount")) or 0) - len(rows) if value.get("sampleCount") is not None else 0
    refuse(left_out < 0, "more samples than there were")
    return told(value, rows, left_out=left_out)


def answer(content):
    document, found, at = content.decode("utf-8-sig"), [], 0
    decoder = json.JSONDecoder(parse_int=Number, parse_float=Number)
    while document[at:].strip(" \t\r\n"):
        at += len(document[at:]) - len(document[at:].lstrip(" \t\r\n"))
        value, at = decoder.raw_decode(document, at)
        try:
            found += profiles(value)
        except (AttributeError, KeyError, TypeError) as reason:
            raise ValueError("an unexpected kind of value") from reason
    refuse(not found, "no profile")
    return found


if __name__ == "__main__":
    serve(answer)
