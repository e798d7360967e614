"""Reads reports of spindump and its relatives, and tells what is in each: its samples by thread, state and stack, and its labels.

    spindump.py < REQUESTS > ANSWERS

A request is a line with a number of bytes, and as many bytes of an input. The answer is a line of JSON: {"refused": why}, or a list with
an object for each report: "schema", "meaning" (null without samples), "device", "process", "summary" and "processes", "threads", which has the
names of each thread and whether it is a main thread, and "stacks", which has the samples by "PROCESS|THREAD|STATE" and frames, outermost first. A frame
is NAME@ADDRESS, or NAME@BINARY+OFFSET,UUID with the offset to look up, and NAME is ? if the report has none.

Nothing of this was taken from the reader that it is compared with.
"""

import re
import uuid

from exports import serve

SECTION = re.compile(r"(Process|Powerstats for):\s*(.*)")
FIELD = re.compile(r"([^\s:][^:]*):[ \t]*(.*?)\s*")
NODE = re.compile(r"( *)(\*?)([0-9]+) +(\S.*)")
IMAGE = re.compile(r"\s*\**\s*0x([0-9a-f]+) - +(0x[0-9a-f]+|\?\?\?)(?: (.*))?", re.DOTALL)
NUMBERS = re.compile(r"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*")
MASK = (1 << 64) - 1
STATES = {"running": "Running", "runnable": "Runnable", "blocked": "Blocked", "suspended": "Suspended"}
SUMMARY = [
    ("Event", "event"),
    ("Reason", "reason"),
    ("Action taken", "action"),
    ("hang", "hang-duration"),
    ("Duration", "event-duration"),
    ("Duration Sampled", "sampled-time"),
    ("Steps", "steps"),
    ("time", "cpu-time"),
    ("CPU", "cpu-limit"),
    ("bytes", "bytes-written"),
    ("Writes", "writes-limit"),
    ("Wakeups", "wakeups"),
    ("Note", "note"),
]


def number(text):
    if int(text) >= 1 << 64:
        raise ValueError(f"{text} is too large")
    return int(text)


def leading(text):
    digits = re.match("[0-9]+", text or "")
    return int(digits[0]) if digits else None


class Image:
    def __init__(self, line):
        found = IMAGE.fullmatch(line)
        if not found:
            raise ValueError(f"no image: {line}")
        self.low = int(found[1], 16)
        self.high = None if found[2] == "???" else int(found[2], 16)
        rest = found[3] or ""
        for mark in re.finditer("<([^>]*)>", rest):
            try:
                self.uuid = str(uuid.UUID(mark[1])).upper() if mark[1].strip("?") else None
            except ValueError:
                continue
            break
        else:
            raise ValueError(f"no UUID: {line}")
        after = rest[mark.end() :].strip()
        self.segment = after.split()[0] if after.startswith("__") else ""
        path = after[len(self.segment) :].strip()
        self.path = path or re.split(r" \(", rest[: mark.start()].lstrip("+ "))[0].strip()
        self.name = self.path.split("/")[-1]

    def has(self, address):
        return self.low <= address and (self.high is None or address <= self.high)


class Frame:
    """The parts of a line behind its count, from its end to its start."""

    def __init__(self, text):
        steps = re.fullmatch(r"(.*[\])>]) ([0-9,-]+)", text)
        self.steps = None
        if steps and steps[2][0].isdigit():
            text, self.steps = steps[1], steps[2]
        found = re.match(r"(.*?) \[(0x[0-9a-fA-F]{1,16}|0)\](.*)", text)
        self.address, rest = (int(found[2], 16), found[3]) if found else (None, "")
        text = found[1] if found else text
        if not found and text.startswith("<") and "> (" in text:
            text, rest = text[: text.index("> (") + 1], text[text.index("> (") + 1 :]
        state = re.fullmatch(r"\s*\((.*)\)\s*", rest)
        self.state = state[1] if state else None
        self.binary = self.offset = self.line = None
        if text.endswith(")"):
            open_ones = 0
            for at in range(len(text) - 1, -1, -1):
                open_ones += {")": 1, "(": -1}.get(text[at], 0)
                if open_ones == 0:
                    break
            if open_ones == 0 and at > 0 and text[at - 1] == " ":
                self.of_binary(text[at + 1 : -1])
                text = text[: at - 1]
        self.name = self.with_offset(text)[0]

    @staticmethod
    def with_offset(text):
        found = re.fullmatch(r"(.*) \+ ([0-9]+)", text)
        return (found[1], int(found[2])) if found and int(found[2]) <= MASK else (text, None)

    def of_binary(self, text):
        self.binary, self.offset = self.with_offset(text)
        left, between, right = self.binary.partition(" in ")
        if between and re.search("[.<]", left):
            self.binary = right
            place = re.fullmatch(r"(.*):([0-9]+)(?:,[^:]*)?", left)
            self.line = f"{place[1]}:{place[2]}" if place and int(place[2]) < 1 << 32 else None

    def is_note(self):
        is_one = re.fullmatch("<.*>", self.name) and self.address is None and self.binary is None
        return is_one and self.name != "<truncated backtrace>"


class Node:
    def __init__(self, count, frame, above):
        self.count, self.frame, self.above, self.below = count, frame, above, []


class Process:
    def __init__(self, kind, title):
        found = re.search(r" \[([0-9]+)\](.*)", title)
        self.is_sum = kind != "Process"
        self.name, self.pid = (title[: found.start()], number(found[1])) if found else (title, None)
        only = re.fullmatch(r"\s*thread 0x([0-9a-f]+)\s*", found[2]) if found else None
        self.only = int(only[1], 16) if only else None
        self.fields, self.threads, self.images, self.part, self.stated = {}, [], [], "fields", None
        self.open = []

    def take(self, line):
        if not line.strip():
            if self.part == "images" and self.images:
                self.part = "behind"
        elif self.part == "behind":
            pass
        elif self.part == "images":
            self.images.append(Image(line))
        elif line == "  Binary Images:":
            self.part = "images"
        elif line.startswith("  Thread "):
            self.part, self.open = "stacks", []
            self.threads.append((line[9:].strip(), []))
        elif self.part == "fields" and not line.startswith(" "):
            field = FIELD.fullmatch(line)
            if field and field[1] in ("Num samples", "Microstackshots"):
                self.stated = leading(field[2])
                if self.stated is None:
                    raise ValueError("no number of samples")
            if field:
                self.fields[field[1]] = field[2]
        elif not line.lstrip().startswith("<"):
            if not self.threads:
                self.threads.append((None, []))
            self.part = "stacks"
            self.node(line)

    def node(self, line):
        found = NODE.fullmatch(line)
        column = len(found[1] + found[2]) - 2 if found else -1
        if column < 0 or column % 2 or column // 2 > len(self.open):
            raise ValueError(f"no frame: {line}")
        del self.open[column // 2 :]
        node = Node(number(found[3]), Frame(found[4]), self.open[-1] if self.open else None)
        (self.open[-1].below if self.open else self.threads[-1][1]).append(node)
        self.open.append(node)
        if node.frame.steps:
            if not NUMBERS.fullmatch(node.frame.steps):
                raise ValueError("steps")
            pairs = [(part.split("-")[0], part.split("-")[-1]) for part in node.frame.steps.split(",")]
            if any(int(last) < int(first) for first, last in pairs):
                raise ValueError("steps")
            if sum(int(last) - int(first) + 1 for first, last in pairs) != node.count:
                raise ValueError("steps that are not the count")

    def total(self):
        return sum(node.count for _, roots in self.threads for node in roots)


def of_thread(text, only):
    """tid, name, whether it is a main thread, its number of samples, whether it is of an idle core."""
    if text is None:
        return only, "", False, None, False
    tid = re.match(r"0x([0-9a-f]{1,16})(?!\S)", text)
    queue = re.search(r'DispatchQueue (?:"(.*?)"\(([0-9]+)\)|([0-9]+))', text)
    label, serial = (queue[1], queue[3]) if queue else (None, None)
    name = re.search(r'Thread name "(.*?)"(?= |$)', text)
    is_main = label == "com.apple.main-thread" or serial == "1"
    plain = re.sub('"[^"]*"', "", text)
    samples = re.search(r"([0-9]+) samples? ?", plain)
    shown = name[1] if name and name[1] else "Main Thread" if is_main else label or ""
    return int(tid[1], 16) if tid else None, shown, is_main, samples and number(samples[1]), bool(re.search(r"[ \t][ \t]idle time |\tidle time ", plain))


class Report:
    def __init__(self, first_names):
        self.fields, self.processes, self.is_cut = {}, [], True
        self.first_names = first_names

    def field(self, key):
        return self.fields.get(key)

    def meaning(self):
        event = self.field("Event") or ""
        if event.startswith("disk writes"):
            return "writes"
        is_triggered = self.field("Data Source") == "Microstackshots"
        return "on-cpu" if event.startswith("cpu usage") and is_triggered else "presence"

    def frame(self, process, node):
        """The text of a frame, and whether its image is listed."""
        frame = node.frame
        caller = any(not below.frame.is_note() for below in node.below)
        name = "?" if frame.name in ("???", "") and frame.address is not None else frame.name
        plain = f"{name}@{(frame.address or 0):#x}"
        if frame.binary is None:
            return plain, True
        images = sorted(process.images, key=lambda image: image.low)
        start = None
        if frame.address is not None and frame.offset is not None:
            start = (frame.address - frame.offset) & MASK
            image = next((image for image in images if image.low == start), None)
        elif frame.address is not None:
            image = next((image for image in reversed(images) if image.low <= frame.address), None)
            image = image if image and image.has(frame.address) and image.name == frame.binary else None
        else:
            image = None
        listed = image is not None or start is None
        if image and not image.has(frame.address) or (not image and start is not None and start > frame.address):
            return plain, listed
        try:
            told = str(uuid.UUID(frame.binary[1:-1])).upper() if frame.binary[0] + frame.binary[-1] == "<>" else None
        except ValueError:
            told = None
        base, identity = start or 0, told
        if image:
            header = [other for other in images if other.uuid == image.uuid and other.segment == "__TEXT"]
            if image.segment in ("", "__TEXT"):
                header = [image]
            base, identity = (header[0].low, image.uuid) if header else (image.low, None)
        called = image.name if image and told else frame.binary
        # A binary keeps its first name.
        called = self.first_names.setdefault((identity or (image.path if image else called,), base), called)
        # Without a load address, or between the addresses of programs and of the kernel, nothing can be looked up.
        is_between = base >> 47 and (frame.address or 0) >> 47 != MASK >> 47
        look_up = max((frame.address or 0) - (caller if base and not is_between else 0), 0)
        source = f" {frame.line}" if frame.line and name != "?" else ""
        return f"{name}@{called}+{look_up - base:#x},{identity}{source}", listed

    def stacks(self):
        found, threads, samples = {}, {}, 0
        self.blocked = {}
        version = leading(self.field("Report Version"))
        has_states = self.meaning() == "presence" and version is not None and version >= 25
        for index, process in enumerate(self.processes):
            is_cut = self.is_cut and index == len(self.processes) - 1
            if is_cut and (process.part == "stacks" or process.part == "images" and not process.images):
                raise ValueError("cut in the stacks")
            if is_cut and process.total() == 0 and samples:
                raise ValueError("cut in the last process")
            if process.is_sum and process.threads and process.stated not in (None, process.total()):
                raise ValueError("not the samples of the process")
            samples += process.total()
            who = process.name if process.pid is None else str(process.pid)
            for text, roots in process.threads:
                tid, name, is_main, stated, is_idle = of_thread(text, process.only)
                if stated is not None and stated != sum(node.count for node in roots):
                    raise ValueError("not the samples of the thread")
                key = f"{who}|{name if tid is None else tid}"
                todo = [(root, [], None) for root in reversed(roots)]
                while todo:
                    node, path, state = todo.pop()
                    is_note = node.frame.is_note()
                    if not is_note:
                        shown, listed = self.frame(process, node)
                        if is_cut and not listed:
                            raise ValueError("cut in the images")
                        path = path + [shown]
                    word = node.frame.state.split(" ")[0] if node.frame.state is not None else None
                    own_state = STATES.get(word, word)
                    if is_idle and word in ("running", "runnable"):
                        own_state = "Idle"
                    state = state if is_note and own_state is None else own_state
                    own = node.count - sum(below.count for below in node.below)
                    if own < 0:
                        raise ValueError("callees exceed")
                    if own and (node.frame.state or "").startswith("blocked by "):
                        by = node.frame.state[len("blocked by ") :]
                        self.blocked[by] = self.blocked.get(by, 0) + own
                    if own:
                        label = (state or "Waiting") if has_states else ""
                        place = ";".join([f"{key}|{label}", *path])
                        found[place] = found.get(place, 0) + own
                        known = threads.setdefault(key, {"names": [], "main": False})
                        known["main"] |= is_main
                        if name not in known["names"]:
                            known["names"].append(name)
                    todo += [(below, path, state) for below in reversed(node.below)]
        steps = leading(self.field("Steps"))
        if self.field("Data Source") == "Microstackshots" and samples and steps not in (None, samples):
            raise ValueError("not the steps")
        return found, threads

    def summary(self):
        fields = dict(self.fields)
        first = lambda key, end: (fields.get(key) or "").split(end)[0]
        fields["hang"] = first("Duration", " (") if "hang" in fields.get("Event", "").lower() else ""
        only = self.processes[0].fields.get("CPU Time") if len(self.processes) == 1 else None
        time = next((value for value in (fields.get("CPU used"), fields.get("Total CPU Time"), only) if value is not None), "")
        fields["time"], fields["bytes"] = time.split(" (")[0], first("Writes", " of ")
        date = (fields.get("Date/Time") or "").split()
        found = [["start-date", f"{date[0]}T{date[1]}{date[2]}"]] if len(date) == 3 else []
        if fields.get("Version") and "Command" in fields:
            found.append(["app-version", fields["Version"]])
        return found + [[called, fields[key]] for key, called in SUMMARY if fields.get(key)]

    def told(self):
        stacks, threads = self.stacks()
        device = []
        if self.field("OS Version") is not None:
            system = self.field("OS Version").replace("(Build ", "(")
            digit = re.search("[0-9]", system)
            at = digit.start() if digit else len(system)
            device += [["platform", system[:at].strip()], ["os-version", system[at:]]]
        for key, called in (("Hardware model", "model"), ("Architecture", "architecture")):
            device += [[called, self.field(key)]] if self.field(key) is not None else []
        only = self.processes[0] if len(self.processes) == 1 else None
        number_of_app = leading(self.field("PID"))
        app = next((one for one in self.processes if one.pid is not None and one.pid == number_of_app), only)
        name = app.name if app else self.field("Command")
        blocked = sorted(self.blocked.items(), key=lambda item: (-item[1], item[0].encode()))
        processes = [[one.name, one.pid, one.fields.get("Path", "")] for one in self.processes]
        for by, _ in blocked:
            found = re.match(r"(?:.* (?:owned by|waiting for|on) )?(.*?) \[([0-9]+)\]", by)
            if found and int(found[2]) not in [pid for _, pid, _ in processes]:
                processes.append([found[1], int(found[2]), ""])
        pid = self.field("PID") if self.field("PID") is not None else only and only.pid
        process = [] if name is None else [["name", name]] + ([["pid", str(pid)]] if pid is not None else [])
        is_micro = self.field("Data Source") == "Microstackshots"
        return {
            "schema": "microstackshots" if is_micro else "spindump",
            "meaning": self.meaning() if stacks else None,
            "device": device,
            "process": process,
            "summary": self.summary() + [["blocked-by", f"{by}, {own:,} sample" + "s" * (own != 1)] for by, own in blocked],
            "processes": processes,
            "threads": threads,
            "stacks": stacks,
        }


def answer(content):
    reports, process, first_names = [], None, {}
    text = content.decode("utf-8-sig", "replace")
    for line in (line.removesuffix("\r") for line in text.split("\n")):
        section = SECTION.match(line)
        if line.startswith("Date/Time:"):
            if reports:
                reports[-1].is_cut = False
            reports.append(Report(first_names))
            process = None
        if not reports:
            continue
        report = reports[-1]
        if section:
            process = Process(section[1], section[2].strip())
            report.processes.append(process)
        elif line.startswith(("Kextstat", "Custom Output")):
            report.is_cut = False
            break
        elif process:
            process.take(line.rstrip())
        else:
            field = FIELD.fullmatch(line)
            if field:
                report.fields.setdefault(field[1], field[2])
    if not reports or any(not report.processes for report in reports):
        raise ValueError("no report")
    return [report.told() for report in reports]


if __name__ == "__main__":
    serve(answer)
