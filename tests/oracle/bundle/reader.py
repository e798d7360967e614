"""Reads the samples and intervals of a .trace bundle, as docs/trace-bundles.md describes it, apart from the library.

A Bundle is read from its files; a mutant of it from those that were changed, and what was known of the others. Rows are texts that
the library's rows are compared with. A row that has a value which leads nowhere is "bad"; what contradicts something else is "odd".
"""

import re
import struct
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from xml.parsers.expat import ExpatError

import marks
from images import Images, numbered, spelled
from lists import Archive, Broken, strings

NONE32, NONE64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
PROFILES = ("time-profile", "cpu-profile", "counters-profile")
INTERVALS = tuple(marks.COLUMNS)
NEEDED = (*PROFILES, "time-sample", *INTERVALS, "thread-info", "process-info")
# A clock that counts beyond the end of its run is not that of the run.
LATE = 60_000_000_000


class Bad(Exception):
    """A value that leads nowhere."""


class Rejected(Bad):
    """A row that is well-formed, and is nothing."""


def guarded(make, *arguments):
    """A value, or what is wrong with it."""
    try:
        return make(*arguments)
    except Broken as broken:
        return broken
    except (struct.error, IndexError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        return Broken(f"{type(error).__name__}: {error}")


class Arrays:
    """The arrays of a run."""

    def __init__(self, index, data):
        self.data, self.odd, self.entries = data, [], []
        if not index:
            return
        if struct.unpack_from("<I", index)[0] != 0x01234567 or len(index) % 8 or any(index[32:40]):
            raise Broken("index of the arrays")
        if struct.unpack_from("<I", data)[0] != 0x01234567:
            raise Broken("data of the arrays")
        self.block = struct.unpack_from("<I", index, 28)[0]
        if self.block < 32:
            raise Broken("size of a block")
        entries = list(struct.iter_unpack("<II", index[40:]))
        while entries and entries[-1] == (0, 0):
            entries.pop()
        self.entries = entries
        if any(block * self.block >= len(data) for _, block in entries):
            raise Broken("an array behind the end of the data")
        self.check_places()

    def check_places(self):
        """Arrays lie in their order, and nothing lies between them."""
        end = 32
        for number, (offset, block) in enumerate(self.entries):
            at = block * self.block + offset
            if at < end or at + 4 > len(self.data) or any(self.data[end:at]):
                self.odd.append(f"array {number} is not where it should be")
                return
            end = at + 4 + 8 * struct.unpack_from("<I", self.data, at)[0]
            if end > (block + 1) * self.block or end > len(self.data):
                self.odd.append(f"array {number} leaves its block")
                return
        if any(self.data[end:]):
            self.odd.append("there is something behind the arrays")

    def __getitem__(self, number):
        if number >= len(self.entries):
            raise Bad(f"array {number} is not there")
        offset, block = self.entries[number]
        at = block * self.block + offset
        if at < 32 or offset + 4 > self.block or at + 4 > len(self.data):
            raise Bad(f"array {number} is nowhere")
        count = struct.unpack_from("<I", self.data, at)[0]
        if offset + 4 + 8 * count > self.block or at + 4 + 8 * count > len(self.data):
            raise Bad(f"array {number} leaves its block")
        return struct.unpack_from(f"<{count}Q", self.data, at + 4)


# Fields of a topology: name, first bit, bits.
TIME, DURATION, ONE, TWO = (f"XR{name}FieldID" for name in ("TraceRelativeTimestamp", "Duration", "Category1", "Category2"))
TOPOLOGIES = {
    4: {TIME: (0, 50), ONE: (50, 22)},
    5: {TIME: (0, 50), DURATION: (50, 50), ONE: (100, 22), TWO: (122, 22)},
    6: {TIME: (0, 64), DURATION: (64, 64), ONE: (128, 32), TWO: (160, 32)},
    7: {TIME: (0, 64), ONE: (64, 32), TWO: (96, 32)},
}


class Layout:
    """Where the columns of a table are: schema.xml and bulkstore_descriptor, which must agree."""

    def __init__(self, schema, descriptor):
        try:
            root = ElementTree.fromstring(schema)
        except (ExpatError, ElementTree.ParseError, ValueError, LookupError) as error:
            raise Broken(f"schema.xml: {error}") from None
        if root.tag != "schema" or any(child.tag != "column" or len(child) for child in root):
            raise Broken("schema.xml is a schema with columns")
        self.name = root.attrib["name"]
        archive = Archive(descriptor)
        event = archive.member(archive.top("root"), "$0")
        member = lambda name: archive.member(event, name)
        fields = []
        for field in archive.items(member("_fields")):
            field = archive.member(field, "$0")
            number = lambda name: archive.number(archive.member(field, name))
            if number("_multi") != 1:
                raise Broken("a field stands in a row once")
            fields.append((number("_index"), archive.text(archive.member(field, "_name")), number("_type")))
        fields.sort()
        if [field[0] for field in fields] != list(range(len(fields))):
            raise Broken("indices of fields")
        topology = TOPOLOGIES[fields[0][2]]
        at, fields, self.columns = sum(bits for _, bits in topology.values()), fields[1:], {}
        for column in root:
            name, kind, place = (column.attrib.get(key, "") for key in ("mnemonic", "engineeringType", "topologyField"))
            if not name or not kind or name in self.columns:
                raise Broken(f"column {name!r}")
            if place:
                self.columns[name] = (*topology[place], kind)
                continue
            _, field, width = fields.pop(0)
            bits = {1: 32, 2: 64}[width]
            if field != name:
                raise Broken(f"field {field} of column {name}")
            self.columns[name] = (at, bits, kind)
            at += bits
        places = [column[:2] for column in self.columns.values()]
        if fields or len(set(places)) < len(places):
            raise Broken("fields without a column, or columns in one place")
        self.size = archive.number(member("_maxEventSize"))
        if self.size != at // 8 or archive.number(member("_minEventSize")) != self.size:
            raise Broken("size of a row")
        if archive.text(member("_identifier")) != self.name:
            raise Broken("identifier")
        self.count = archive.number(archive.member(member("_props"), "next_event_id"))
        if self.count is None:
            raise Broken("number of rows")

    def has(self, name, kind):
        """Whether there is such a column; it must be of this type, or the table is not one that is known."""
        if name not in self.columns:
            return False
        if self.columns[name][2] != kind:
            raise Broken(f"type of {name}")
        return True

    def value(self, row, name):
        """The value of a column that is there; None where it is absent."""
        if name not in self.columns:
            return None
        first, bits, _ = self.columns[name]
        number = int.from_bytes(row[first // 8 : (first + bits + 7) // 8], "little") >> first % 8 & (1 << bits) - 1
        return None if number == (1 << bits) - 1 else number

    def renamed(self, wanted):
        """Columns of a type that is needed under a name that is not known."""
        kinds = {column[2] for column in self.columns.values()}
        return [name for name, kind in wanted if name not in self.columns and kind in kinds]


def rows(layout, store, is_cpu, odd):
    """The rows of a bulkstore."""
    magic, three, header, start, size, block, in_block = struct.unpack_from("<7I", store)
    if (magic, three, header, size) != (0x12340A0A, 3, 40, layout.size) or block != size * in_block or start < 40:
        raise Broken("header of the rows")
    end = start + layout.count * size
    if end > len(store) or any(store[40:start]) or any(store[end:]):
        raise Broken("there are more or fewer rows")
    if block and (len(store) - start) % block:
        odd.append("rows are no whole number of blocks")
    found = [store[at : at + size] for at in range(start, end, size)]
    if is_cpu and any(not any(row) for row in found):
        raise Broken("an empty row")
    return start, found


class Template:
    """What form.template knows of runs."""

    def __init__(self, archive):
        self.archive, self.images, self.runs = archive, Images(archive), {}

    def run(self, number):
        if number not in self.runs:
            self.runs[number] = guarded(TemplateRun, self.archive, number) if self.archive else NoRun()
        if isinstance(self.runs[number], Broken):
            raise self.runs[number]
        return self.runs[number]


class NoRun:
    """Nothing is known."""

    threads, processes, cores, device, end, odd = {}, {}, {}, None, None, ()

    def thread(self, tid):
        return None


class TemplateRun:
    def __init__(self, archive, run):
        self.archive, self.odd = archive, []
        data = archive.top("com.apple.xray.run.data")
        node = numbered(archive, archive.field(data, "$1"), run) if data is not None else None
        if node is None:
            self.odd.append(f"run {run} is not known")
        member = lambda name: archive.member(node, name)
        self.threads = {}
        if node is not None and member("threadsByTID") is None:
            self.odd.append("threadsByTID")
        for key, thread in archive.entries(member("threadsByTID")):
            tid = archive.number(key)
            if tid in self.threads:
                raise Broken(f"two threads {tid}")
            self.threads[tid] = thread
        self.known_threads, self.processes = {}, defaultdict(set)
        if node is not None and member("processDatas") is None:
            self.odd.append("processDatas")
        for process in archive.items(member("processDatas")):
            pid, name = archive.whole(archive.member(process, "_pid")), archive.text(archive.member(process, "displayName"))
            if pid is not None and pid < 0:
                continue
            if pid is None or name is None:
                self.odd.append("a process without number or name")
            else:
                self.processes[pid].add(name)
        device = member("targetDevice")
        self.device = archive.text(archive.member(device, "_deviceIdentifier")) if device is not None else None
        kinds, objects = {}, archive.items(member("allObjects"))
        if node is not None and not any(archive.is_object(item) and archive.class_name(item) == "XRCore" for item in objects):
            self.odd.append("allObjects has no cores")
        for item in objects:
            if not archive.is_object(item):
                self.odd.append("allObjects has something else than objects")
            elif archive.class_name(item) == "XRCore":
                number = archive.number(archive.field(item, "$0"))
                topology = archive.field(item, "topology")
                flags = archive.number(archive.field(topology, "_clusterFlags")) if topology is not None else None
                if number is None:
                    self.odd.append("a core without a number")
                host = archive.text(archive.field(item, "$1"))
                kinds.setdefault(number, []).append((host == self.device, {1: "E Core", 2: "P Core"}.get(flags)))
        self.cores = {}
        for number, found in kinds.items():
            names = {name for _, name in found}
            if any(is_here for is_here, _ in found) and len(names) == 1:
                self.cores[number] = names.pop()
        info = member("runInfo")
        seconds = guarded(archive.real, archive.member(info, "_rawDuration")) if info is not None else None
        self.end = int(seconds * 1e9) + LATE if isinstance(seconds, float) and 0 <= seconds < 1e9 else None

    def thread(self, tid):
        """Name and pid of a thread; None where it is not listed."""
        if tid not in self.threads:
            return None
        if tid not in self.known_threads:
            member = lambda name: self.archive.member(self.threads[tid], name)
            number = self.archive.number
            own = number(member("tid"))
            if own not in (None, tid):
                raise Broken(f"thread {own} is listed as {tid}")
            name = self.archive.text(member("preferredName"))
            # Instruments 13.4 and 16.0 write `Main Thread  0x22c0cb`.
            name = re.sub(rf"\s*(0x{tid:x}|\(0x{tid:x}\))?\s*$", "", name) if name else name
            self.known_threads[tid] = name, number(member("pid"))
        return self.known_threads[tid]


class Names:
    """Names of threads and processes by reference, and who is listed."""

    def __init__(self):
        self.threads, self.processes, self.tids, self.pids, self.odd = {}, {}, set(), set(), []

    def add_all(self, run, folders):
        for folder in folders:
            layout = run.stores[folder]
            found = guarded(run.rows_of, folder, layout)
            odd, self.odd = self.odd, []
            try:
                if isinstance(found, Broken):
                    raise found
                self.add(run, layout, found[1])
            except (Bad, Broken) as bad:
                self.odd.append(f"{layout.name}: {bad}")
            self.odd = odd + [(folder, text) for text in self.odd]

    def add(self, run, layout, found):
        is_threads = layout.name == "thread-info"
        who, name = ("thread", "name") if is_threads else ("process", "process-name")
        kinds = ("XRThreadTypeID", "XRThreadNameTypeID") if is_threads else ("XRProcessTypeID", "XRPrototypeStringTypeID")
        if not (layout.has(who, kinds[0]) and layout.has(name, kinds[1])):
            self.odd.append(f"{layout.name} has no names")
            return
        for row in found:
            number, text = layout.value(row, who), layout.value(row, name)
            if number is None:
                continue
            tid, pid = run.thread(number) if is_threads else (None, run.process(number))
            if (is_threads and layout.value(row, "tid") not in (None, tid)) or layout.value(row, "pid") not in (None, pid):
                self.odd.append(f"{layout.name} says something else of array {number}")
            if is_threads:
                self.tids.add(tid)
            self.pids.add(pid)
            if text is None:
                continue
            if is_threads:
                text, of = text >> 32, text & NONE32
                if of != number:
                    self.odd.append(f"the name of thread {of} stands at {number}")
                if text == NONE32:
                    continue
            if run.string(text):
                (self.threads if is_threads else self.processes)[number] = run.string(text)


class Run:
    """A run of a mutant."""

    def __init__(self, mutant, number):
        self.mutant, self.number, self.core = mutant, number, f"corespace/run{number}/core"
        self.odd, self.known_stacks, self.known_pieces = [], {}, {}

    def open(self):
        mutant, core = self.mutant, self.core
        uniquing = f"{core}/uniquing"
        tables = mutant.made(listed_tables, f"{core}/table-manager/tables.plist")
        stores, self.tables = {}, []
        for store, schema in tables.items():
            if not store.startswith(f"run{self.number}/") or ".." in store:
                if schema in NEEDED:
                    self.fail(schema, core + "/table-manager", Broken(f"store {store} of {schema} is elsewhere"))
                continue
            folder = f"corespace/{store}"
            layout = guarded(mutant.made, Layout, f"{folder}/schema.xml", f"{folder}/bulkstore_descriptor")
            if schema not in NEEDED and getattr(layout, "name", None) not in NEEDED:
                continue
            if isinstance(layout, Broken) or layout.name != schema:
                self.fail(schema, folder, layout if isinstance(layout, Broken) else Broken(f"{layout.name} is listed as {schema}"))
            else:
                stores[folder] = layout
        for folder in sorted({path.rsplit("/", 1)[0] for path in mutant.paths() if path.startswith(f"{core}/stores/")}):
            layout = guarded(mutant.made, Layout, f"{folder}/schema.xml", f"{folder}/bulkstore_descriptor")
            if folder[len("corespace/") :] not in tables and getattr(layout, "name", None) in NEEDED:
                self.odd.append((folder, f"{layout.name} is not listed"))
        self.stores = dict(sorted(stores.items(), key=lambda store: int(store[0].rsplit("-", 1)[1])))
        if not any(layout.name in (*PROFILES, "time-sample", *INTERVALS) for layout in self.stores.values()):
            return
        self.strings = mutant.made(strings, f"{uniquing}/strings")
        self.arrays = mutant.made(Arrays, *(f"{uniquing}/arrayUniquer/integeruniquer.{name}" for name in ("index", "data")))
        self.odd += [("arrayUniquer", text) for text in self.arrays.odd]
        self.template = mutant.template().run(self.number)
        self.odd += [("form.template", text) for text in self.template.odd]
        lists = [folder for folder, layout in self.stores.items() if layout.name in ("thread-info", "process-info")]
        self.names = mutant.known_names(self, lists)
        self.odd += self.names.odd

    def fail(self, schema, place, broken):
        if schema in (*PROFILES, "time-sample"):
            raise broken
        self.odd.append((place, str(broken)))

    def rows_of(self, folder, layout):
        is_cpu = layout.name in (*PROFILES, "time-sample")
        found = self.mutant.made(lambda store: (*rows(layout, store, is_cpu, odd := []), odd), f"{folder}/bulkstore", also=layout)
        self.odd += [(folder, text) for text in found[2]]
        return found

    def string(self, number):
        if number >= len(self.strings):
            raise Bad(f"string {number} is not there")
        return self.strings[number]

    def process(self, number):
        array = self.arrays[number]
        is_short = len(array) == 2 and array[0] <= NONE32 and array[1] < len(self.strings)
        if not is_short and len(array) != 5:
            raise Bad(f"array {number} is no process")
        return array[0] & NONE32

    def thread(self, number):
        array = self.arrays[number]
        if len(array) != 2 or array[1] > NONE32:
            raise Bad(f"array {number} is no thread")
        return array[0], self.process(array[1])

    def cpu_tables(self):
        known = [(folder, layout) for folder, layout in self.stores.items() if layout.name in PROFILES]
        raw = [(folder, layout) for folder, layout in self.stores.items() if layout.name == "time-sample"]
        is_readable = lambda layout: not isinstance(guarded(columns, layout), Broken)
        has_rows = any(layout.count and is_readable(layout) for _, layout in known)
        return known if has_rows else known + raw

    def samples(self):
        return [self.table(folder, layout, columns, self.sample) for folder, layout in self.cpu_tables()]

    def intervals(self):
        found = [(folder, layout) for folder, layout in self.stores.items() if layout.name in INTERVALS]
        found.sort(key=lambda table: marks.RANKS[table[1].name])
        return [self.marks(folder, layout) for folder, layout in found]

    def marks(self, folder, layout):
        """A table of intervals, by their beginnings; what is rejected comes last."""
        events = []
        read = {
            "os-signpost": lambda layout, row, odd: self.event(layout, row, odd, events),
            "region-of-interest": self.region,
            "hang-risks": self.risk,
        }.get(layout.name, self.interval)
        table = self.table(folder, layout, marks.columns, read)
        rows = [row for row in enumerate(table["rows"]) if row[1] != ""]
        good = [row for row in rows if row[1] is not None]
        if layout.name == "os-signpost":
            good = [(row, self.spelled(event, end)) for row, end, event in marks.pairs(events)]
        good.sort(key=lambda row: int(row[1][0].split("\t")[0]))
        rows = good + [row for row in rows if row[1] is None]
        table["order"], table["rows"] = [index for index, _ in rows], [row for _, row in rows]
        if layout.name == "hang-risks" and any(index not in self.rejected for index in table["bad"]):
            table["left_out"] = "a message or a person that is none"
        return table

    def table(self, folder, layout, columns, read):
        table = {"store": folder, "schema": layout.name, "count": layout.count, "rows": [], "bad": {}, "odd": {}, "left_out": None}
        try:
            self.odd += [(folder, f"{name} is called something else") for name in columns(layout)]
        except Broken as broken:
            table["left_out"] = str(broken)
            return table
        self.rejected = set()
        start, found, _ = self.rows_of(folder, layout)
        table["start"], table["size"] = start, layout.size
        for self.index, row in enumerate(found):
            index, odd = self.index, []
            try:
                table["rows"].append(read(layout, row, odd))
            except Bad as bad:
                table["bad"][index] = str(bad)
                table["rows"].append(None)
                if isinstance(bad, Rejected):
                    self.rejected.add(index)
            if odd:
                table["odd"][index] = odd
        return table

    def person(self, tid, number, row_process, odd):
        """Number and names of the thread and the process of a row."""
        pid = self.process(number) if number is not None else None
        names, template = self.names, self.template
        if tid is not None and names.tids and tid not in names.tids and tid not in template.threads:
            odd.append(f"thread {tid} is not listed")
        if pid is not None and names.pids and pid not in names.pids and pid not in template.processes:
            odd.append(f"process {pid} is not listed")
        listed = template.thread(tid) if tid is not None else None
        if listed is not None and listed[1] != pid:
            odd.append(f"thread {tid} is listed in process {listed[1]}, and not in {pid}")
            listed = None
        named = names.processes.get(row_process if row_process is not None else number)
        others = template.processes.get(pid, set())
        if named is None and len(others) > 1:
            odd.append(f"process {pid} has several names")
        named = named or (next(iter(others)) if len(others) == 1 else "")
        return pid, named, listed[0] if listed is not None else None

    def sample(self, layout, row, odd):
        value = lambda name: layout.value(row, name)
        time, kind = value("time"), value("sample-type") or 0
        if time is None or ("weight" in layout.columns and value("weight") is None):
            raise Bad("no time or no weight")
        if self.template.end is not None and time > self.template.end:
            odd.append("it is later than the end of the run")
        weight, unit = int(kind != 3), "samples"
        if "weight" in layout.columns:
            weight, unit = value("weight"), {"XRCycleWeightTypeID": "cycles"}.get(layout.columns["weight"][2], "ns")
        thread, process = value("thread"), value("process")
        tid, name, own = None, "", process
        if thread is not None:
            tid, pid = self.thread(thread)
            own = self.arrays[thread][1]
            if process is not None and self.process(process) != pid:
                odd.append("it has a thread of another process")
                process = None
        pid, process_name, listed = self.person(tid, own, process, odd)
        if tid is not None:
            name = listed or self.names.threads.get(thread, "")
        core = value("core") if "core" in layout.columns else value("core-index")
        state = value("thread-state")
        state = self.string(state) if state is not None else None
        if state == "":
            raise Bad("an empty state")
        counters = value("counters-array")
        counters = self.arrays[counters] if counters is not None else ()
        stack_column = "stack" if "stack" in layout.columns else "cp-user-callstack"
        frames = [self.stack(layout, value(column), column) for column in ("cp-kernel-callstack", stack_column)]
        frames = [frame for part in frames if part is not None for frame in part] if any(frames) else None
        core = "" if core is None else f"{core} {self.template.cores.get(core) or ''}"
        cells = (time, weight, unit, tid, pid, core, state, kind if kind < 4 else 4, ",".join(map(str, counters)))
        cells = ["" if cell is None else str(cell) for cell in cells]
        return ["\t".join([*cells, "-" if frames is None else ",".join(frames)]), name, process_name]

    def stack(self, layout, number, column):
        """The frames of a stack, leaf first, each with its image."""
        if number is None:
            return None
        key = number, layout.columns[column][2]
        if key not in self.known_stacks:
            try:
                self.known_stacks[key] = self.frames(*key)
            except Bad as bad:
                self.known_stacks[key] = bad
        if isinstance(self.known_stacks[key], Bad):
            raise self.known_stacks[key]
        return self.known_stacks[key]

    def frames(self, number, kind):
        array = self.arrays[number]
        if kind == "XRCoreProfileCallstackTypeID":
            if len(array) < 3:
                raise Bad(f"array {number} is no callstack")
            callers, pc, process = array[:3]
            callers = () if callers in (NONE32, NONE64) else self.arrays[callers]
            # The list ends with 0, or is that of a snapshot, which may begin with the program counter.
            callers = callers[:-1] if callers[-1:] == (0,) else callers[1:] if callers[:1] == (pc,) else callers
            images = self.images(NONE32 if process == NONE64 else process)
            return [self.frame(images, pc, 0), *(self.frame(images, caller, 1) for caller in callers)]
        if kind == "XRTaggedBacktraceTypeID":
            if len(array) != 2:
                raise Bad(f"array {number} is no tagged backtrace")
            array = self.arrays[array[0]]
        if array and array[-1] & NONE32 == NONE32:
            array = array[:-1]
        found = [frame for piece in array for frame in self.piece(piece)]
        if not found:
            raise Bad(f"array {number} has no frames")
        return found

    def piece(self, piece):
        if piece not in self.known_pieces:
            images = self.images(piece >> 32)
            self.known_pieces[piece] = [self.frame(images, address, 1) for address in self.arrays[piece & NONE32]]
        return self.known_pieces[piece]

    def images(self, process):
        pid = 0 if process == NONE32 else self.process(process)
        images = self.mutant.template().images.of(self.number, pid, self.template.device)
        if images.is_odd:
            self.odd.append(("form.template", f"images of process {pid}"))
        return images

    def frame(self, images, address, back):
        return f"{address:x}{spelled(images.find(max(address - back, 0)))}"

    def whose(self, layout, row, odd):
        """Names, and the thread and the process of a row, which is that of its thread where there is none."""
        value = lambda name: layout.value(row, name)
        thread, process = value("start-thread" if layout.name not in HAVE_THREAD else "thread"), value("process")
        tid = self.thread(thread)[0] if thread is not None else None
        if process is None and thread is not None:
            process = self.arrays[thread][1]
        pid, named, _ = self.person(None, process, process, odd) if process is not None else (None, None, None)
        text = lambda name: self.string(value(name)) if value(name) is not None else None
        has_names = layout.name not in ("potential-hangs", "hang-risks")
        names = (text("name"), text("subsystem")) if has_names else (None, None)
        has_category = has_names and layout.name != "region-of-interest"
        names += (text("category"), value("identifier")) if has_category else (None, None)
        return names, tid, pid, named, text

    def interval(self, layout, row, odd):
        names, tid, pid, named, text = self.whose(layout, row, odd)
        kind = text("hang-type") if layout.name == "potential-hangs" else None
        start, duration = layout.value(row, "start"), layout.value(row, "duration")
        if start is None or (duration is not None and start + duration > NONE64):
            raise Rejected("no time")
        return row_of((start, None if duration is None else start + duration, *names, kind, tid, pid), named)

    def region(self, layout, row, odd):
        found = self.interval(layout, row, odd)
        kind = layout.value(row, "class")
        kind = self.string(kind) if kind is not None else None
        if kind not in ("Interval", "Point"):
            raise Rejected("no known class")
        return found if kind == "Interval" else ""

    def event(self, layout, row, odd, events):
        names, tid, pid, named, text = self.whose(layout, row, odd)
        time, kind, scope = layout.value(row, "time"), text("event-type"), text("scope")
        if time is None or kind not in ("Begin", "End", "Event"):
            raise Rejected("no event")
        events.append((self.index, time, kind, scope, names, pid, (tid, named)))
        return ""

    def spelled(self, event, end):
        _, time, _, _, names, pid, (tid, named) = event
        return row_of((time, end, *names, None, tid, pid), named)

    def risk(self, layout, row, odd):
        _, tid, pid, named, text = self.whose(layout, row, odd)
        time, message = layout.value(row, "time"), layout.value(row, "message")
        severity, kind = text("severity"), text("event-type")
        message = self.narrative(message) if message is not None else None
        if time is None:
            raise Rejected("no time")
        return row_of((time, None, message, severity, kind, None, None, tid, pid), named)

    def narrative(self, number):
        """What a message reads."""
        uniquing = f"{self.core}/uniquing"
        if not hasattr(self, "narratives"):
            paths = (f"{uniquing}/typedArrayUniquer/integeruniquer.{name}" for name in ("index", "data"))
            arrays = guarded(self.mutant.made, Arrays, *paths)
            types = guarded(self.mutant.made, marks.types, f"{uniquing}/EngineeringTypes.etypes")
            self.narratives = None
            if not isinstance(arrays, Broken) and not isinstance(types, Broken):
                self.narratives = marks.Narratives(arrays, types, self.string)
                self.odd += [("typedArrayUniquer", text) for text in arrays.odd]
        if self.narratives is None:
            raise Bad("no typed arrays")
        try:
            return self.narratives.text(number)
        except marks.NoText as bad:
            raise Bad(str(bad)) from None


# Tables whose rows have one thread.
HAVE_THREAD = ("os-signpost", "potential-hangs", "hang-risks")


def row_of(cells, process_name):
    return ["\t".join("" if cell is None else str(cell) for cell in cells), "", process_name or ""]


def columns(layout):
    """Whether rows are samples; gives columns that are called something else."""
    needed = ("time", "XRSampleTimestampTypeID"), ("thread", "XRThreadTypeID")
    core = "core" if "core" in layout.columns else "core-index"
    others = [("process", "XRProcessTypeID"), (core, "XRCPUCoreTypeID"), ("thread-state", "XRThreadStateTypeID")]
    others += [("counters-array", "XRCoreProfilePMCEventsArrayTypeID"), ("sample-type", "XRTimeSampleTypeID")]
    if not all([layout.has(*column) for column in needed]):
        raise Broken("a column is missing")
    for column in others:
        layout.has(*column)
    if "weight" not in layout.columns:
        if layout.name != "time-sample":
            raise Broken("a column is missing")
    elif layout.columns["weight"][2] not in ("XRTimeSampleWeightTypeID", "XRCycleWeightTypeID"):
        raise Broken("type of weight")
    stack = "stack" if "stack" in layout.columns else "cp-user-callstack"
    kinds = ("XRBacktraceTypeID", "XRTaggedBacktraceTypeID", "XRCoreProfileCallstackTypeID")
    if stack not in layout.columns or any(layout.columns[name][2] not in kinds for name in (stack, "cp-kernel-callstack") if name in layout.columns):
        raise Broken("stacks")
    read, unread = (stack, "cp-kernel-callstack"), []
    if "cp-kernel-callstack" not in layout.columns:
        unread = [name for name, column in layout.columns.items() if column[2] in kinds and name not in read]
    return layout.renamed(others) + unread


def listed_tables(data):
    """The schema of each store, by its path."""
    archive, found = Archive(data), {}
    details = archive.member(archive.top("root"), "tableDetails")
    if details is None:
        raise Broken("no tables")
    for _, table in archive.entries(details):
        path = archive.text(archive.member(table, "storeSubpath"))
        # Both sides of a table are listed; the first one counts.
        if not path or path in found:
            continue
        schema = archive.text(archive.member(archive.member(table, "spec"), "schemaName"))
        if schema is None:
            raise Broken("a table without a schema")
        found[path] = schema
    return found


class Bundle:
    """The files of a bundle, and what was made of them."""

    def __init__(self, files):
        self.files, self.memo = files, {}


class Mutant:
    """A bundle with other files, or none (None), at some paths."""

    def __init__(self, bundle, edited):
        self.bundle, self.edited, self.memo = bundle, edited, {}

    def paths(self):
        return [path for path in self.bundle.files if self.edited.get(path, b"") is not None]

    def has(self, path):
        return path in self.paths()

    def made(self, make, *paths, also=None):
        """What is made of some files; once, where they are as they were."""
        key = getattr(make, "__name__", ""), paths
        is_same = not any(path in self.edited for path in paths) and (also is None or id(also) in self.bundle.memo.get("kept", ()))
        memo = self.bundle.memo if is_same else self.memo
        if key not in memo:
            files = [self.edited.get(path, self.bundle.files.get(path)) for path in paths]
            missing = [path for path, file in zip(paths, files) if file is None]
            memo[key] = Broken(f"{missing} are missing") if missing else guarded(make, *files)
            if is_same:
                self.bundle.memo.setdefault("kept", set()).add(id(memo[key]))
        if isinstance(memo[key], Broken):
            raise memo[key]
        return memo[key]

    def known_names(self, run, lists):
        """The names that the tables of a run give; once, where these and what they refer to are as they were."""
        uniquing = f"{run.core}/uniquing/"
        parts = [path for path in self.edited if path.startswith(uniquing) or path.rsplit("/", 1)[0] in lists]
        memo = self.memo if parts else self.bundle.memo
        key = "names", run.number, tuple(lists)
        if key not in memo:
            memo[key] = Names()
            memo[key].add_all(run, lists)
        return memo[key]

    def template(self):
        if self.edited.get("form.template", self.bundle.files.get("form.template")) is None:
            return self.made(lambda: Template(None))
        return self.made(template, "form.template")

    def read(self):
        """All runs: what is wrong with the whole of it, or its tables, and what is odd."""
        numbers = {int(path.split("/")[1][3:]) for path in self.paths() if path.startswith("corespace/run")}
        found = []
        for number in sorted(numbers):
            run = Run(self, number)
            answer = {"run": number, "broken": None, "tables": [], "intervals": []}
            for attempt in (run.open, lambda: answer.update(tables=run.samples()), lambda: answer.update(intervals=run.intervals())):
                outcome = guarded(attempt)
                if isinstance(outcome, Broken):
                    answer["broken"] = str(outcome)
                    break
            found.append({**answer, "odd": run.odd})
        return found


def template(data):
    return Template(Archive(data))
