//! Engineering types: how their values are stored, and their names in exports.
//!
//! A table's schema does not record which numbers are references: the engineering types decide. Each type was derived from recordings with known
//! exports or, for types without recorded rows, from what exports write (`docs/trace-bundles.md`).

use crate::tables::ColumnKind;

/// How a column stores call stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum StackKind {
    Pieces,
    Tagged,
    Raw,
}

impl StackKind {
    /// Returns the kind for an engineering type.
    pub(super) fn of_type(engineering_type: &str) -> Option<Self> {
        Some(match engineering_type {
            "XRBacktraceTypeID" => Self::Pieces,
            "XRTaggedBacktraceTypeID" => Self::Tagged,
            "XRCoreProfileCallstackTypeID" => Self::Raw,
            _ => return None,
        })
    }
}

/// How values of a type are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    /// A number, with all bits set for no value.
    Number,
    /// A number with no reserved value.
    WideNumber,
    /// A decimal number, stored as 2⁶³ − 1 + 10⁹ × value.
    FixedPoint,
    /// The index of a string.
    Text,
    /// The index of an array: tid, process.
    Thread,
    /// The index of an array: pid, device.
    Process,
    /// The upper half is the index of a string, the lower half the thread.
    ThreadName,
    /// The index of an array with the two halves of the UUID.
    Uuid,
    /// The index of an array: process, address.
    TextSymbol,
    /// The index of an array of numbers.
    Numbers,
    /// The index of an array with a call stack.
    Stack(StackKind),
    /// The index of a typed array whose parts are concatenated.
    Narrative,
    /// The index of a typed array whose parts are joined with spaces.
    Metadata,
    /// Never decoded, since nothing uses it.
    NotWanted,
    /// Unknown type: the raw number is shown.
    Unknown,
}

/// The part of the name between `XR` and `TypeID`, the name in exports (empty if there is none), and the storage.
const TYPES: [(&str, &str, Storage); 80] = {
    use Storage::{
        FixedPoint, Metadata, Narrative, Number, Numbers, Process, Stack, Text, TextSymbol, Thread, ThreadName, Uuid,
        WideNumber,
    };
    [
        ("StartTime", "start-time", Number),
        ("RecordedEventTimestamp", "event-time", Number),
        ("SampleTimestamp", "sample-time", Number),
        ("Duration", "duration", Number),
        ("DurationOnCPU", "duration-on-core", Number),
        ("DurationWaiting", "duration-waiting", Number),
        ("TimeSampleWeight", "weight", Number),
        ("CycleWeight", "cycle-weight", Number),
        ("CPUCore", "core", Number),
        ("KDebugClass", "", Number),
        ("KDebugSubclass", "", Number),
        ("KDebugCode", "", Number),
        ("KDebugFunction", "kdebug-func", Number),
        ("KDebugStringID", "", Number),
        ("KDebugArgument", "kdebug-arg", WideNumber),
        ("PrototypeValue", "uint64", WideNumber),
        ("VirtualMemoryAddress", "address", WideNumber),
        ("GenericUInt32", "uint32", Number),
        ("ProcessID", "pid", Number),
        ("ThreadID", "tid", Number),
        ("LayoutID", "layout-id", Number),
        ("ContainmentLayoutID", "containment-level", Number),
        ("OSSignpostIdentifier", "os-signpost-identifier", Number),
        ("TimeSample", "time-sample-kind", Number),
        ("Boolean", "boolean", Number),
        ("EventCount", "event-count", Number),
        ("SizeInBytes", "size-in-bytes", Number),
        ("NetworkSizeInBytes", "network-size-in-bytes", Number),
        ("DiskSizeInBytes", "", Number),
        ("SystemCPUPercentage", "", FixedPoint),
        ("Percentage", "", FixedPoint),
        ("PercentageLoads", "", FixedPoint),
        ("FramesPerSecond", "", FixedPoint),
        ("EventsPerSecond", "", FixedPoint),
        ("UnsignedIntegerHexLowercase", "uint64-hex-lowercase", Number),
        ("TextSegmentAddress", "text-address", Number),
        ("MachOVMOffset", "mach-o-vm-offset", Number),
        ("SchedulingPriority", "", Number),
        ("PackedID", "packed-identifier", Number),
        ("ThreadState", "thread-state", Text),
        ("PrototypeString", "string", Text),
        ("PrototypeShortString", "short-string", Text),
        ("PrototypeMediumLengthString", "medium-length-string", Text),
        ("PrototypeWordString", "word-string", Text),
        ("RawString", "raw-string", Text),
        ("NarrativeText", "narrative-text", Text),
        ("SignpostName", "signpost-name", Text),
        ("OSLogEvent", "event-type", Text),
        ("OSLogFormatString", "format-string", Text),
        ("OSLogSubsystem", "subsystem", Text),
        ("OSLogCategory", "category", Text),
        ("EventConcept", "event-concept", Text),
        ("FilePath", "file-path", Text),
        ("ThermalState", "thermal-state", Text),
        ("ApplicationPeriod", "", Text),
        ("RegionOfInterestKind", "", Text),
        ("RegionOfInterestClass", "", Text),
        ("RegionOfInterestScope", "", Text),
        ("HangType", "hang-type", Text),
        ("KDebugSignpostVariant", "", Text),
        ("DomainName", "domain-name", Text),
        ("DisplayName", "display-name", Text),
        ("SwiftTaskState", "swift-task-state", Text),
        ("VSyncEvent", "vsync-event", Text),
        ("NetworkProtocol", "network-protocol", Text),
        ("NetworkInterface", "network-interface", Text),
        ("MetalObjectLabel", "metal-object-label", Text),
        ("VMOperationName", "vm-op", Text),
        ("Thread", "thread", Thread),
        ("Process", "process", Process),
        ("ThreadName", "", ThreadName),
        ("UUID", "uuid", Uuid),
        ("TextSymbol", "text-symbol", TextSymbol),
        ("CoreProfilePMCEventsArray", "pmc-events", Numbers),
        ("Backtrace", "backtrace", Stack(StackKind::Pieces)),
        ("TaggedBacktrace", "tagged-backtrace", Stack(StackKind::Tagged)),
        ("CoreProfileCallstack", "kperf-bt", Stack(StackKind::Raw)),
        ("NarrativeEntry", "narrative", Narrative),
        ("FormattedLabel", "formatted-label", Narrative),
        ("OSLogMetadata", "os-log-metadata", Metadata),
    ]
};

fn find(engineering_type: &str) -> Option<&'static (&'static str, &'static str, Storage)> {
    let name = engineering_type.strip_prefix("XR")?.strip_suffix("TypeID")?;
    TYPES.iter().find(|(known, ..)| *known == name)
}

/// Returns how values of a type are stored.
pub(super) fn storage(engineering_type: &str) -> Storage {
    find(engineering_type).map_or(Storage::Unknown, |(.., storage)| *storage)
}

/// Returns the type's name in the XML of an export, or its own name if the export name is unknown.
pub(super) fn exported_type(engineering_type: &str) -> &str {
    find(engineering_type).map(|(_, name, _)| *name).filter(|name| !name.is_empty()).unwrap_or(engineering_type)
}

/// Returns the kind of cells in a column of this type.
pub(super) fn kind(engineering_type: &str) -> ColumnKind {
    match ColumnKind::of_type(exported_type(engineering_type)) {
        ColumnKind::Unknown => match storage(engineering_type) {
            Storage::Text | Storage::ThreadName => ColumnKind::Text,
            // Exports do not show the type, so it is unknown for them as well.
            Storage::FixedPoint => ColumnKind::Unknown,
            _ if engineering_type == "XRDiskSizeInBytesTypeID" => ColumnKind::Bytes,
            _ => ColumnKind::Number,
        },
        known => known,
    }
}

/// Formats a [`Storage::FixedPoint`] value as a decimal number.
pub(super) fn fixed_point(stored: u64) -> String {
    const BILLION: u64 = 1_000_000_000;
    let offset = i64::MAX.unsigned_abs();
    let (sign, billionths) = (if stored < offset { "-" } else { "" }, stored.abs_diff(offset));
    let digits = format!("{sign}{}.{:09}", billionths / BILLION, billionths % BILLION);
    digits.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_point_values_have_all_their_digits() {
        for (stored, expected) in [
            (9_223_372_077_854_775_807, "41"),
            (9_223_372_317_555_035_526, "280.700259719"),
            (9_223_372_084_472_352_278, "47.617576471"),
            (9_223_372_036_854_775_807, "0"),
            (9_223_372_036_854_775_806, "-0.000000001"),
            (9_223_372_036_854_775_817, "0.00000001"),
            (9_223_372_137_854_775_807, "101"),
            (9_223_372_126_854_775_807, "90"),
            (0, "-9223372036.854775807"),
        ] {
            assert_eq!(fixed_point(stored), expected);
        }
    }

    #[test]
    fn sizes_are_bytes_and_fixed_point_values_are_numbers_or_texts() {
        for name in ["SizeInBytes", "NetworkSizeInBytes", "DiskSizeInBytes"] {
            assert_eq!(kind(&format!("XR{name}TypeID")), ColumnKind::Bytes, "{name}");
        }
        assert_eq!(kind("XRFramesPerSecondTypeID"), ColumnKind::Unknown);
        assert_eq!(kind("XRCauseSetTypeID"), ColumnKind::Number);
    }
}
