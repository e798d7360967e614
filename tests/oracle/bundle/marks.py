"""Signposts, hangs and hang risks: which columns their tables have, how ends are paired, and what messages read."""

from collections import defaultdict

from lists import Archive, Broken

NONE32, NONE64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF

START, DURATION, MOMENT = ("start", "XRStartTimeTypeID"), ("duration", "XRDurationTypeID"), ("time", "XRRecordedEventTimestampTypeID")
NAME = ("name", "XRSignpostNameTypeID", "XRPrototypeStringTypeID")
SUBSYSTEM, CATEGORY = ("subsystem", "XROSLogSubsystemTypeID"), ("category", "XROSLogCategoryTypeID")
IDENTIFIER, EVENT_TYPE = ("identifier", "XROSSignpostIdentifierTypeID"), ("event-type", "XROSLogEventTypeID")
PROCESS, THREAD, START_THREAD = ("process", "XRProcessTypeID"), ("thread", "XRThreadTypeID"), ("start-thread", "XRThreadTypeID")

INTERVAL = [START, DURATION, NAME], [SUBSYSTEM, CATEGORY, IDENTIFIER, PROCESS, START_THREAD]
# By schema, in the order in which tables are read: the columns without which rows tell nothing, and others.
COLUMNS = {
    "os-signpost-interval": INTERVAL,
    "OSSignpostIntervals": INTERVAL,
    "os-signpost": ([MOMENT, EVENT_TYPE, NAME, SUBSYSTEM, CATEGORY, IDENTIFIER, PROCESS, ("scope", "XRPrototypeStringTypeID"), THREAD], []),
    "region-of-interest": ([START, DURATION, ("class", "XRRegionOfInterestClassTypeID"), NAME], [SUBSYSTEM, PROCESS, START_THREAD]),
    "potential-hangs": ([START, DURATION], [("hang-type", "XRHangTypeTypeID"), PROCESS, THREAD]),
    "hang-risks": ([MOMENT], [("message", "XRNarrativeEntryTypeID"), ("severity", "XRPrototypeShortStringTypeID"), EVENT_TYPE, PROCESS, THREAD]),
}
RANKS = {"os-signpost-interval": 0, "OSSignpostIntervals": 0, "os-signpost": 1, "region-of-interest": 2, "potential-hangs": 3, "hang-risks": 4}


def columns(layout):
    """Whether the table can be read; gives columns that are absent or of another type."""
    # The two modules need each other.
    from any_table import TYPES

    needed, others = COLUMNS[layout.name]
    # A value of an unknown type is the number that is stored, which is what an identifier is.
    is_number = lambda name, kind: name == "identifier" and kind not in TYPES
    is_there = lambda name, *kinds: name in layout.columns and (layout.columns[name][2] in kinds or is_number(name, layout.columns[name][2]))
    if not all(is_there(*column) for column in needed):
        raise Broken("a column is missing")
    # Of another type they are as good as missing.
    missing = [column[0] for column in others if not is_there(*column)]
    for name in missing:
        layout.columns.pop(name, None)
    return missing


def pairs(events):
    """Intervals of events, each (row, time, type, scope, names, process, thread): (row of the beginning, end, the event)."""
    open_since, found = defaultdict(list), []
    for event in sorted(events, key=lambda event: event[1:2] + event[:1]):
        row, time, kind, scope, names, process, thread = event
        where = {"thread": (process, thread), "system": ()}.get((scope or "").lower(), (process,))
        key = (names, (scope or "").lower() if (scope or "").lower() in ("thread", "system") else "process", where)
        if kind == "Begin":
            found.append([row, None, event])
            open_since[key].append(found[-1])
        elif kind == "End" and open_since[key]:
            open_since[key].pop()[1] = time
    return found


def types(data):
    archive = Archive(data)
    root = archive.top("root")
    if root is None:
        raise Broken("no types")
    names = [archive.text(item) for item in archive.items(root)]
    if None in names or len(set(names)) < len(names) or not all(name.startswith("XR") and name.endswith("TypeID") for name in names):
        raise Broken("names of types")
    return names


STRINGS = {
    f"XR{name}TypeID"
    for name in (
        "NarrativeText PrototypeString PrototypeShortString PrototypeMediumLengthString PrototypeWordString RawString SignpostName OSLogEvent "
        "OSLogFormatString OSLogSubsystem OSLogCategory EventConcept FilePath ThreadState ThermalState ApplicationPeriod RegionOfInterestKind "
        "RegionOfInterestClass RegionOfInterestScope HangType KDebugSignpostVariant DomainName DisplayName SwiftTaskState VSyncEvent "
        "NetworkProtocol NetworkInterface MetalObjectLabel VMOperationName"
    ).split()
}
TEXTS = {"XRNarrativeEntryTypeID": "", "XRFormattedLabelTypeID": "", "XROSLogMetadataTypeID": " "}


class NoText(Exception):
    """A typed array that is no text."""


class Narratives:
    """Texts of typed arrays. `string` gives strings by number."""

    def __init__(self, arrays, types, string):
        self.arrays, self.types, self.string = arrays, types, string

    def text(self, number):
        self.parts = 0
        text = self.joined(number, "", 0)
        if len(text.encode()) > 1 << 14:
            raise NoText("too long")
        return text

    def joined(self, number, joint, depth):
        if number > NONE32:
            raise NoText(f"typed array {number}")
        words = self.arrays[number]
        self.parts += len(words) // 2
        if len(words) % 2 or depth > 16 or self.parts > 1_000:
            raise NoText(f"typed array {number} of {len(words)} numbers")
        if any(place >= len(self.types) for place in words[::2]):
            raise NoText("no such type")
        return joint.join(self.part(self.types[place], value, depth) for place, value in zip(words[::2], words[1::2]))

    def part(self, kind, value, depth):
        is_reference = kind in STRINGS or kind in TEXTS
        if kind == "XRPrototypeValueTypeID":
            return f"{value:,}"
        if value == NONE64 or (is_reference and value == NONE32):
            return ""
        if kind in STRINGS:
            return self.string(value)
        if kind in TEXTS:
            return self.joined(value, TEXTS[kind], depth + 1)
        return length(value) if kind == "XRDurationTypeID" else f"<{kind} {value}>"


def length(nanoseconds):
    """With two decimals in the largest unit that leaves at least 1."""
    if nanoseconds < 1_000:
        return f"{nanoseconds} ns"
    for divisor, unit in ((1_000, "µs"), (1_000_000, "ms"), (1_000_000_000, "s")):
        hundredths = (200 * nanoseconds + divisor) // (2 * divisor)
        if hundredths < 100_000 or unit == "s":
            return f"{hundredths // 100}.{hundredths % 100:02} {unit}"
