"""Reads all tables of a bundle with all columns, as docs/trace-bundles.md and docs/tables.md describe them.

A table has its schema, columns as [mnemonic, type], and rows by time. A cell is null, a number, a text, or [a kind, parts …]. "bad" has rows
with a value that leads nowhere, "odd" those that contradict something else, and "broken" says why nothing of the table can be read.
"""

import fractions
import re
import uuid

import marks
from lists import Broken, strings
from reader import NONE32, NONE64, Arrays, Bad, Layout, Run, guarded, listed_tables

# How types are stored: the type, and its name in exports if it is known.
STORED = {
    "number": "StartTime=start-time RecordedEventTimestamp=event-time SampleTimestamp=sample-time Duration=duration "
    "DurationOnCPU=duration-on-core DurationWaiting=duration-waiting TimeSampleWeight=weight CycleWeight=cycle-weight CPUCore=core KDebugClass "
    "KDebugSubclass KDebugCode KDebugFunction=kdebug-func KDebugStringID GenericUInt32=uint32 ProcessID=pid ThreadID=tid LayoutID=layout-id "
    "ContainmentLayoutID=containment-level OSSignpostIdentifier=os-signpost-identifier TimeSample=time-sample-kind Boolean=boolean "
    "EventCount=event-count SizeInBytes=size-in-bytes UnsignedIntegerHexLowercase=uint64-hex-lowercase TextSegmentAddress=text-address "
    "MachOVMOffset=mach-o-vm-offset SchedulingPriority PackedID=packed-identifier NetworkSizeInBytes=network-size-in-bytes DiskSizeInBytes",
    "fixed point": "SystemCPUPercentage Percentage PercentageLoads FramesPerSecond EventsPerSecond",
    "wide": "KDebugArgument=kdebug-arg PrototypeValue=uint64 VirtualMemoryAddress=address",
    "text": "ThreadState=thread-state PrototypeString=string PrototypeShortString=short-string PrototypeMediumLengthString=medium-length-string "
    "PrototypeWordString=word-string RawString=raw-string NarrativeText=narrative-text SignpostName=signpost-name OSLogEvent=event-type "
    "OSLogFormatString=format-string OSLogSubsystem=subsystem OSLogCategory=category EventConcept=event-concept FilePath=file-path "
    "ThermalState=thermal-state ApplicationPeriod RegionOfInterestKind RegionOfInterestClass RegionOfInterestScope HangType=hang-type "
    "KDebugSignpostVariant DomainName=domain-name DisplayName=display-name SwiftTaskState=swift-task-state VSyncEvent=vsync-event "
    "NetworkProtocol=network-protocol NetworkInterface=network-interface MetalObjectLabel=metal-object-label VMOperationName=vm-op",
    "thread": "Thread=thread",
    "process": "Process=process",
    "thread name": "ThreadName",
    "uuid": "UUID=uuid",
    "symbol": "TextSymbol=text-symbol",
    "numbers": "CoreProfilePMCEventsArray=pmc-events",
    "stack": "Backtrace=backtrace TaggedBacktrace=tagged-backtrace CoreProfileCallstack=kperf-bt",
    "message": "NarrativeEntry=narrative FormattedLabel=formatted-label",
    "log": "OSLogMetadata=os-log-metadata",
}
TYPES = {}
for storage, names in STORED.items():
    for name in names.split():
        name, _, exported = name.partition("=")
        TYPES[f"XR{name}TypeID"] = storage, exported or f"XR{name}TypeID"


def without_tid(name, tid):
    return re.sub(rf"\s*(0x{tid:x}|\(0x{tid:x}\))?\s*$", "", name)


class AnyRun(Run):
    """A run of which everything is read."""

    def open(self):
        mutant, core = self.mutant, self.core
        self.tables, self.stores, layouts = [], {}, {}
        for store, schema in mutant.made(listed_tables, f"{core}/table-manager/tables.plist").items():
            folder, table = f"corespace/{store}", {"store": f"corespace/{store}", "schema": schema, "broken": None}
            self.tables.append(table)
            if not store.startswith(f"run{self.number}/") or {"", ".", ".."} & set(store.split("/")):
                table["broken"] = "it is elsewhere"
                continue
            layout = guarded(mutant.made, Layout, f"{folder}/schema.xml", f"{folder}/bulkstore_descriptor")
            if isinstance(layout, Broken) or layout.name != schema:
                table["broken"] = str(layout) if isinstance(layout, Broken) else f"{layout.name} is listed as {schema}"
                continue
            layouts[folder] = layout
        number = lambda store: int(store[0].rsplit("-", 1)[1]) if store[0].rsplit("-", 1)[1].isdigit() else -1
        self.stores = dict(sorted(layouts.items(), key=number))
        if not any(layout.count for layout in layouts.values()):
            return
        uniquing = f"{core}/uniquing"
        self.strings = mutant.made(strings, f"{uniquing}/strings")
        self.arrays = self.uniquer("arrayUniquer")
        self.template = mutant.template().run(self.number)
        self.odd += [("form.template", text) for text in self.template.odd]
        lists = [folder for folder, layout in self.stores.items() if layout.name in ("thread-info", "process-info")]
        self.names = mutant.known_names(self, lists)
        self.odd += self.names.odd

    def uniquer(self, name):
        arrays = self.mutant.made(Arrays, *(f"{self.core}/uniquing/{name}/integeruniquer.{part}" for part in ("index", "data")))
        self.odd += [(name, text) for text in arrays.odd]
        return arrays

    def all_tables(self):
        return [table if table["broken"] else self.any_table(table) for table in self.tables]

    def any_table(self, table):
        folder = table["store"]
        layout = self.stores[folder]
        table["columns"] = [[name, TYPES.get(kind, (None, kind))[1]] for name, (_, _, kind) in layout.columns.items()]
        table.update(rows=[], order=[], bad={}, odd={}, start=0, size=layout.size)
        try:
            table["start"], found, _ = self.rows_of(folder, layout)
        except Broken as broken:
            table["broken"] = str(broken)
            return table
        time = next((name for name, (at, _, _) in layout.columns.items() if at == 0), None)
        when = lambda index: (layout.value(found[index], time) if time else 0, index)
        table["order"] = sorted(range(len(found)), key=lambda index: (NONE64 if when(index)[0] is None else when(index)[0], index))
        for index in table["order"]:
            odd = []
            try:
                cells = guarded(lambda: [self.cell(layout, name, found[index], odd) for name in layout.columns])
            except Bad as bad:
                cells = bad
            if not isinstance(cells, list):
                table["bad"][index], cells = str(cells), None
            table["rows"].append(cells)
            if odd:
                table["odd"][index] = odd
        return table

    def cell(self, layout, name, row, odd):
        _, bits, kind = layout.columns[name]
        storage, value = TYPES.get(kind, ("number", kind))[0], layout.value(row, name)
        if value is None:
            return (1 << bits) - 1 if storage == "wide" else None
        match storage:
            case "text":
                return self.string(value)
            case "fixed point":
                number = fractions.Fraction(value - (2**63 - 1), 10**9)
                return int(number) if number >= 0 and number.denominator == 1 else f"{float(number):.9f}".rstrip("0")
            case "thread name":
                value = value >> 32 if bits == 64 else value
                return None if value == NONE32 else self.string(value)
            case "thread":
                tid, process = self.thread(value)[0], self.arrays[value][1]
                pid, owner, listed = self.person(tid, process, None, odd)
                name = listed or without_tid(self.names.threads.get(value, ""), tid)
                return ["thread", tid, name, pid, owner]
            case "process":
                return ["process", *self.person(None, value, None, odd)[:2]]
            case "uuid":
                return str(uuid.UUID(bytes=b"".join(half.to_bytes(8, "big") for half in self.pair(value)))).upper()
            case "symbol":
                return ["named", self.pair(value)[1], f"{self.pair(value)[1]:#x}"]
            case "numbers":
                return ["numbers", *self.arrays[value]]
            case "stack":
                return self.any_stack(layout, value, name)
            case "message" | "log":
                return self.message(value, " " if storage == "log" else "")
        return int(value != 0) if kind == "XRBooleanTypeID" else value

    def pair(self, number):
        if len(self.arrays[number]) != 2:
            raise Bad(f"array {number} is no pair")
        return self.arrays[number]

    def any_stack(self, layout, number, name):
        try:
            return ["stack", *self.stack(layout, number, name)]
        except Bad as bad:
            # A stack of nothing is none.
            if str(bad).endswith("has no frames"):
                return None
            raise

    def message(self, number, joint):
        if not hasattr(self, "narratives"):
            types = guarded(self.mutant.made, marks.types, f"{self.core}/uniquing/EngineeringTypes.etypes")
            arrays = types if isinstance(types, Broken) else guarded(self.uniquer, "typedArrayUniquer")
            self.narratives = None if isinstance(arrays, Broken) else marks.Narratives(arrays, types, self.string)
        if self.narratives is None:
            raise Bad("no typed arrays")
        try:
            self.narratives.parts = 0
            text = self.narratives.joined(number, joint, 0)
        except marks.NoText as bad:
            raise Bad(str(bad)) from None
        if len(text.encode()) > 1 << 14:
            raise Bad("too long")
        return text


def read(mutant):
    """The tables of all runs."""
    numbers = {int(path.split("/")[1][3:]) for path in mutant.paths() if path.startswith("corespace/run")}
    found = []
    for number in sorted(numbers):
        run = AnyRun(mutant, number)
        answer = {"run": number, "broken": None, "tables": []}
        for attempt in (run.open, lambda: answer.update(tables=run.all_tables())):
            outcome = guarded(attempt)
            if isinstance(outcome, Broken):
                answer["broken"] = str(outcome)
                break
        found.append({**answer, "odd": run.odd})
    return found
