"""Reads reports of spindump and its relatives, and tells what is in each: its samples by thread, state and stack, and its labels.

    spindump.py < REQUESTS > ANSWERS

A request is a line with a number of bytes, and as many bytes of an input. The answer is a line of JSON: {"refused": why}, or a list with
an object for each report: "schema", "meaning" (null without samples), "device", "process", "summary" and "processes", "threads", which has the
names of each thread and whether it is a main thread, "left_out", which has the numbers of samples that are left out with threads and processes,
and of images, and "stacks", which has the samples by "PROCESS|THREAD|STATE" and frames, outermost first. A frame @ADDRESS, or NAME@BINARY+OFFSET,UUID with the offset to look up, and NAME is ? if the report has none.

A thread with a line that has an unknown form, or with counts that contradict each other or the first line of the thread, is left out. So is
a process of powerstats with such a thread, or without its number of samples, and a process whose first line is missing.

Nothing of this was taken from the reader that it is compared with.
"""

import re
import uuid

from exports import serve

SECTION = re.compile(r"(Process|Powerstats for):\s*(.*)")
FIELD = re.compile(r"([^\s:][^:]*):[ \t]*(.*?)\s*")
NODE = re.compile(r"( *)(\*?)([0-9]+) +(\S.*)")
IMAGE = re.compile(r"\s*\**\s*0x([0-9a-f]+) - +(0x[0-9a-f]+|\?\?\?)(?: (.*))?", re.DOTALL)
FIELD_OF_THREAD = re.compile(r'DispatchQueue (?:"((?:(?!"\().)*)"\(([0-9]+)\)|([0-9]+)(?!\S)|<\S*>(?!\S))|Thread name "(.*?)"(?: |$)')
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
        if self.low > MASK or (self.high or 0) > MASK:
            raise ValueError(f"no address: {line}")
        for mark in re.finditer("<(?=([^>]*)>)", rest):
            try:
                self.uuid = str(uuid.UUID(mark[1])).upper() if mark[1].strip("?") not in ("", "Unknown") else None
            except ValueError:
                continue
            break
        else:
            raise ValueError(f"no UUID: {line}")
        after = rest[mark.end(1) + 1 :].strip()
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
        # No function is longer than 256 KiB, so this is the nearest name of a stripped binary.
        self.name, from_start = self.with_offset(text)
        if self.address is not None and (from_start or 0) > 1 << 18:
            self.name = "???"

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
        self.fields, self.threads, self.images, self.part, self.stated, self.share = {}, [], [], "fields", None, None
        self.open, self.odd_images, self.lost, self.is_odd, self.last_is_odd = [], 0, None, False, False

    def is_of_another(self, line):
        """True for a line of a process whose first line is missing."""
        field = re.match(r"[A-Za-z][A-Za-z ]*:", line)
        root = parts(line)
        stack = line.startswith("  Thread ") or (root and root[2].address is not None)
        return {"stacks": field, "images": field or stack, "behind": stack or line == "  Binary Images:"}.get(self.part)

    def take(self, line):
        if not line.strip():
            if self.part == "images" and self.images:
                self.part = "behind"
            return
        if self.is_of_another(line):
            self.part, self.lost = "another", 0
        if self.part == "behind":
            pass
        elif self.part == "another":
            root = parts(line)
            self.lost += root[1] if root and root[0] == 0 else 0
        elif self.part == "images":
            try:
                self.images.append(Image(line))
                self.last_is_odd = False
            except ValueError:
                self.odd_images += 1
                self.last_is_odd = True
        elif line == "  Binary Images:":
            self.part = "images"
        elif line.startswith("  Thread "):
            self.begin(line[9:].strip())
        elif self.part == "fields" and not line.startswith(" "):
            field = FIELD.fullmatch(line)
            if field and field[1] in ("Num samples", "Microstackshots"):
                self.stated = leading(field[2])
                share = re.search(r"^[^(]*\(([0-9]+)%\)$", field[2])
                self.share = int(share[1]) if share else None
                self.is_odd |= self.stated is None
            if field:
                self.fields[field[1]] = field[2]
        elif not line.lstrip().startswith("<"):
            if not self.threads:
                self.begin(None)
            self.part = "stacks"
            root = parts(line)
            if root is None and (len(line) - len(line.lstrip(" ")) <= 2 or line.lstrip().startswith("Thread ")):
                self.begin(None)
                self.threads[-1].is_odd = True
            thread = self.threads[-1]
            thread.total += root[1] if root and root[0] == 0 else 0
            try:
                if not thread.is_odd:
                    self.node(root)
            except ValueError:
                thread.is_odd = True

    def begin(self, text):
        self.part, self.open = "stacks", []
        self.threads.append(Thread(text, self.only))

    def node(self, root):
        if root is None or root[0] > len(self.open):
            raise ValueError("no frame")
        depth, count, frame = root
        del self.open[depth:]
        node = Node(count, frame, self.open[-1] if self.open else None)
        (self.open[-1].below if self.open else self.threads[-1].roots).append(node)
        if self.open and sum(below.count for below in self.open[-1].below) > self.open[-1].count:
            raise ValueError("callees exceed")
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
        """The samples of all threads, and of the process behind it whose first line is missing."""
        return self.own() + (max(self.lost, 1) if self.lost is not None else 0)

    def own(self):
        threads = sum(thread.samples() for thread in self.threads)
        return max(threads if self.stated is None else self.stated, 1) if self.is_left_out() else threads

    def is_left_out(self):
        if not self.is_sum or not self.threads:
            return False
        threads = sum(thread.samples() for thread in self.threads)
        return self.is_odd or any(thread.is_left_out() for thread in self.threads) or self.stated not in (None, threads)


class Thread:
    def __init__(self, text, only):
        self.roots, self.is_odd, self.total, self.stated = [], False, 0, None
        try:
            self.tid, self.name, self.is_main, self.stated, self.is_idle = of_thread(text, only)
        except ValueError:
            self.is_odd = True

    def is_left_out(self):
        return self.is_odd or self.stated not in (None, self.total)

    def samples(self):
        return max(self.total if self.stated is None else self.stated, 1) if self.is_left_out() else self.total


def parts(line):
    """The depth, number of samples and frame of a line of a stack."""
    found = NODE.fullmatch(line)
    column = len(found[1] + found[2]) - 2 if found else -1
    if column < 0 or column % 2 or int(found[3]) > MASK:
        return None
    return column // 2, int(found[3]), Frame(found[4])


def of_thread(text, only):
    """tid, name, whether it is a main thread, its number of samples, whether it is of an idle core."""
    if text is None:
        return only, "", False, None, False
    tid = re.match(r"0x([0-9a-fA-F]{1,16})(?!\S)", text)
    if not tid and not re.match(r"<multiple>(?!\S)|[^\s]*,", text):
        raise ValueError("no thread")
    label, serial, shown, rest = None, None, "", text[re.match(r"\S*", text).end() :].lstrip()
    while found := FIELD_OF_THREAD.match(rest):
        if found[0].startswith("Thread"):
            shown = found[4]
        else:
            label, serial = found[1], found[3]
        rest = rest[found.end() :].lstrip()
    if "DispatchQueue " in rest or "Thread name " in rest:
        raise ValueError("an unknown form")
    is_main = label == "com.apple.main-thread" or serial == "1"
    samples = re.match(r"(.*?) sample", rest)
    samples = samples and re.search(r"(\S*)$", samples[1])[1]
    if samples is not None and not re.fullmatch(r"\+?[0-9]+", samples):
        raise ValueError("no number of samples")
    shown = shown or ("Main Thread" if is_main else label or "")
    return int(tid[1], 16) if tid else None, shown, is_main, None if samples is None else number(samples), bool(re.search(r"  idle time |\tidle time ", rest))


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
        return "on-cpu" if self.is_triggered() else "presence"

    def is_triggered(self):
        return self.field("Data Source") == "Microstackshots" or any(process.is_sum for process in self.processes[:1])

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
            told = str(uuid.UUID(frame.binary[1:-1])).upper() if frame.binary[:1] + frame.binary[-1:] == "<>" else None
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
        has_states &= self.field("Data Source") in (None, "Stackshots")
        left_out = [0, 0, 0]
        for index, process in enumerate(self.processes):
            is_cut = self.is_cut and index == len(self.processes) - 1
            if is_cut and (process.part == "stacks" or process.part == "images" and (not process.images or process.last_is_odd)):
                raise ValueError("cut in the stacks")
            if is_cut and process.total() == 0 and samples:
                raise ValueError("cut in the last process")
            samples += process.total()
            left_out[2] += process.odd_images
            left_out[1] += max(process.lost, 1) if process.lost is not None else 0
            if process.is_left_out():
                left_out[1] += process.own()
                continue
            who = process.name if process.pid is None else str(process.pid)
            for thread in process.threads:
                if thread.is_left_out():
                    left_out[0] += thread.samples()
                    continue
                tid, name, is_main, is_idle, roots = thread.tid, thread.name, thread.is_main, thread.is_idle, thread.roots
                key = f"{who}|{name if tid is None else tid}"
                todo = [(root, [], None) for root in reversed(roots)]
                while todo:
                    node, path, state = todo.pop()
                    is_note = node.frame.is_note()
                    if not is_note:
                        shown, listed = self.frame(process, node)
                        if is_cut and not listed and not process.odd_images:
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
                        self.blocked[by, tid] = self.blocked.get((by, tid), 0) + own
                    if own:
                        label = ("Waiting" if state is None else state) if has_states else ""
                        place = ";".join([f"{key}|{label}", *path])
                        found[place] = found.get(place, 0) + own
                        known = threads.setdefault(key, {"names": [], "main": False})
                        known["main"] |= is_main
                        if name not in known["names"]:
                            known["names"].append(name)
                    todo += [(below, path, state) for below in reversed(node.below)]
        steps = leading(self.field("Steps"))
        if self.is_triggered() and steps is not None:
            self.check(steps, samples)
        return found, threads, left_out

    def check(self, steps, samples):
        lost = re.search("[,(] *([0-9]+) samples lost *[,)]", self.field("Steps"))
        kept = max(steps - int(lost[1]), 0) if lost else steps
        for process in self.processes:
            if process.stated is not None and process.share is not None:
                least, most = (process.stated * 100 / of if of else 0 for of in (steps, kept))
                if samples < steps and not least - 1 < process.share < most + 1:
                    raise ValueError("not its share of the steps")
        is_any_unknown = any(process.share is None and process.total() for process in self.processes)
        if samples and (samples > steps or (is_any_unknown and samples < kept)):
            raise ValueError("not the steps")

    def summary(self):
        fields = dict(self.fields)
        first = lambda key, end: (fields.get(key) or "").split(end)[0]
        fields["hang"] = first("Duration", " (") if "hang" in fields.get("Event", "").lower() else ""
        is_only = len(self.processes) == 1 and self.processes[0].lost is None
        only = self.processes[0].fields.get("CPU Time") if is_only else None
        time = next((value for value in (fields.get("CPU used"), fields.get("Total CPU Time"), only) if value is not None), "")
        fields["time"], fields["bytes"] = time.split(" (")[0], first("Writes", " of ")
        date = (fields.get("Date/Time") or "").split()
        found = [["start-date", f"{date[0]}T{date[1]}{date[2]}"]] if len(date) == 3 else []
        if fields.get("Version") and "Command" in fields:
            found.append(["app-version", fields["Version"]])
        return found + [[called, fields[key]] for key, called in SUMMARY if fields.get(key)]

    def told(self):
        stacks, threads, left_out = self.stacks()
        device = []
        if self.field("OS Version") is not None:
            system = self.field("OS Version").replace("(Build ", "(")
            digit = re.search("[0-9]", system)
            at = digit.start() if digit else len(system)
            device += [["platform", system[:at].strip()], ["os-version", system[at:]]]
        for key, called in (("Hardware model", "model"), ("Architecture", "architecture")):
            device += [[called, self.field(key)]] if self.field(key) is not None else []
        has_lost = any(process.lost is not None for process in self.processes)
        only = self.processes[0] if len(self.processes) == 1 and not has_lost else None
        number_of_app = leading(self.field("PID"))
        app = next((one for one in self.processes if one.pid is not None and one.pid == number_of_app), only)
        name = app.name if app else self.field("Command")
        blocked = sorted(self.blocked.items(), key=lambda item: (-item[1], item[0][0].encode(), item[0][1] is not None, item[0][1]))
        processes = [[one.name, one.pid, one.fields.get("Path", "")] for one in self.processes]
        for (by, _), _ in blocked:
            found = re.match(r"(?:.* (?:owned by|waiting for|on) )?(.*?) \[([0-9]+)\]", by)
            if found and int(found[2]) not in [pid for _, pid, _ in processes]:
                processes.append([found[1], int(found[2]), ""])
        pid = self.field("PID") if self.field("PID") is not None else only and only.pid
        process = [] if name is None else [["name", name]] + ([["pid", str(pid)]] if pid is not None else [])
        return {
            "schema": "microstackshots" if self.is_triggered() else "spindump",
            "left_out": [min(samples, 1 << 40) for samples in left_out],
            "meaning": self.meaning() if stacks else None,
            "device": device,
            "process": process,
            "summary": self.summary() + [["blocked-by", f"{by}, {own:,} sample" + "s" * (own != 1) + (f" of thread {tid:#x}" if tid is not None else "")] for (by, tid), own in blocked],
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
        elif line.startswith("  Thread ") or line.rstrip() == "  Binary Images:":
            raise ValueError("a process without its first line")
        else:
            field = FIELD.fullmatch(line)
            if field:
                report.fields.setdefault(field[1], field[2])
    if not reports or any(not report.processes for report in reports):
        raise ValueError("no report")
    return [report.told() for report in reports]


if __name__ == "__main__":
    serve(answer)
