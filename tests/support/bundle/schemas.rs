//! The written tables: their columns with engineering types as bundles name them.

/// The position of a column in the topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Time,
    Duration,
    Category1,
    Category2,
}

impl Place {
    pub fn name(self) -> &'static str {
        match self {
            Place::Time => "XRTraceRelativeTimestampFieldID",
            Place::Duration => "XRDurationFieldID",
            Place::Category1 => "XRCategory1FieldID",
            Place::Category2 => "XRCategory2FieldID",
        }
    }
}

/// The start of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// A time and two categories.
    Moment,
    /// A time, a duration and two categories.
    Stretch,
    /// A time of 50 bits and a category of 22.
    PackedMoment,
    /// A time and a duration of 50 bits each, and two categories of 22.
    PackedStretch,
}

impl Topology {
    /// The places, each with its number of bits.
    pub fn fields(self) -> &'static [(Place, usize)] {
        match self {
            Topology::Moment => &[(Place::Time, 64), (Place::Category1, 32), (Place::Category2, 32)],
            Topology::Stretch => {
                &[(Place::Time, 64), (Place::Duration, 64), (Place::Category1, 32), (Place::Category2, 32)]
            }
            Topology::PackedMoment => &[(Place::Time, 50), (Place::Category1, 22)],
            Topology::PackedStretch => {
                &[(Place::Time, 50), (Place::Duration, 50), (Place::Category1, 22), (Place::Category2, 22)]
            }
        }
    }

    /// The size of the topology in bytes.
    pub fn size(self) -> usize {
        self.fields().iter().map(|field| field.1).sum::<usize>() / 8
    }
}

/// Versions of Instruments that write tables differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    V13,
    V16,
    V26,
}

#[derive(Clone, Debug)]
pub struct Column {
    pub mnemonic: &'static str,
    pub title: &'static str,
    pub kind: &'static str,
    pub place: Option<Place>,
}

impl Column {
    /// The number of bytes in a row after the topology.
    pub fn width(&self) -> usize {
        let is_wide = matches!(
            self.kind,
            "XRThreadIDTypeID"
                | "XRThreadNameTypeID"
                | "XRPrototypeValueTypeID"
                | "XRTimeSampleWeightTypeID"
                | "XRCycleWeightTypeID"
                | "XRDurationTypeID"
                | "XRStartTimeTypeID"
                | "XRKDebugArgumentTypeID"
                | "XROSSignpostIdentifierTypeID"
                | "XRReturnLocationTypeID"
        );
        if is_wide { 8 } else { 4 }
    }
}

#[derive(Clone, Debug)]
pub struct Schema {
    pub name: &'static str,
    pub topology: Topology,
    pub columns: Vec<Column>,
}

type Described = (&'static str, &'static str, &'static str);

fn schema(name: &'static str, topology: Topology, first: &[(Described, Place)], others: &[Described]) -> Schema {
    let column = |&(mnemonic, title, kind): &Described, place| Column { mnemonic, title, kind, place };
    let columns = first
        .iter()
        .map(|(described, place)| column(described, Some(*place)))
        .chain(others.iter().map(|described| column(described, None)))
        .collect();
    Schema { name, topology, columns }
}

const SAMPLE_TIME: (Described, Place) = (("time", "Sample Time", "XRSampleTimestampTypeID"), Place::Time);
const EVENT_TIME: (Described, Place) = (("time", "Timestamp", "XRRecordedEventTimestampTypeID"), Place::Time);
const START: (Described, Place) = (("start", "Start", "XRStartTimeTypeID"), Place::Time);
const DURATION: (Described, Place) = (("duration", "Duration", "XRDurationTypeID"), Place::Duration);
const THREAD: Described = ("thread", "Thread", "XRThreadTypeID");
const PROCESS: Described = ("process", "Process", "XRProcessTypeID");
const CORE: Described = ("core", "Core", "XRCPUCoreTypeID");
const STATE: Described = ("thread-state", "State", "XRThreadStateTypeID");

/// The type of a column with stacks.
fn stack(is_tagged: bool) -> Described {
    ("stack", "Backtrace", if is_tagged { "XRTaggedBacktraceTypeID" } else { "XRBacktraceTypeID" })
}

pub fn time_profile(is_tagged: bool) -> Schema {
    let weight = ("weight", "Weight", "XRTimeSampleWeightTypeID");
    let others = [PROCESS, CORE, STATE, weight, stack(is_tagged)];
    schema("time-profile", Topology::Moment, &[SAMPLE_TIME, (THREAD, Place::Category1)], &others)
}

pub fn cpu_profile(is_tagged: bool) -> Schema {
    let weight = ("weight", "Cycles", "XRCycleWeightTypeID");
    let others = [PROCESS, CORE, STATE, weight, stack(is_tagged)];
    schema("cpu-profile", Topology::Moment, &[SAMPLE_TIME, (THREAD, Place::Category1)], &others)
}

/// The table of a recording that samples by time.
pub fn counters_profile(is_tagged: bool) -> Schema {
    let weight = ("weight", "Weight", "XRTimeSampleWeightTypeID");
    let counters = ("counters-array", "Counter Value Array", "XRCoreProfilePMCEventsArrayTypeID");
    let others = [PROCESS, CORE, STATE, stack(is_tagged), weight, counters];
    schema("counters-profile", Topology::Moment, &[SAMPLE_TIME, (THREAD, Place::Category1)], &others)
}

pub fn time_sample() -> Schema {
    let others = [
        ("core-index", "Core Index", "XRCPUCoreTypeID"),
        ("thread-state", "Thread State", "XRThreadStateTypeID"),
        ("cp-kernel-callstack", "Kernel Callstack ID", "XRCoreProfileCallstackTypeID"),
        ("cp-user-callstack", "User Callstack ID", "XRCoreProfileCallstackTypeID"),
        ("sample-type", "Sample type", "XRTimeSampleTypeID"),
    ];
    let time = (("time", "Timestamp", "XRSampleTimestampTypeID"), Place::Time);
    schema("time-sample", Topology::Moment, &[time, (THREAD, Place::Category1)], &others)
}

pub fn thread_info() -> Schema {
    let others = [
        ("tid", "Thread ID", "XRThreadIDTypeID"),
        PROCESS,
        THREAD,
        ("name", "Thread Name", "XRThreadNameTypeID"),
        ("main-thread", "Main Thread", "XRBooleanTypeID"),
    ];
    let pid = ("pid", "Process ID", "XRProcessIDTypeID");
    schema("thread-info", Topology::Moment, &[EVENT_TIME, (pid, Place::Category1)], &others)
}

pub fn process_info() -> Schema {
    let others = [
        ("unique-id", "Unique Process ID", "XRPrototypeValueTypeID"),
        PROCESS,
        ("process-name", "Process Name", "XRPrototypeStringTypeID"),
    ];
    let pid = ("pid", "Process ID", "XRProcessIDTypeID");
    schema("process-info", Topology::Moment, &[EVENT_TIME, (pid, Place::Category1)], &others)
}

/// Kernel events; most of its tables are empty.
pub fn kdebug() -> Schema {
    let others = [
        ("core-index", "Core Index", "XRCPUCoreTypeID"),
        ("thread-state", "Thread State", "XRThreadStateTypeID"),
        ("cp-kernel-callstack", "CP Kernel Callstack", "XRCoreProfileCallstackTypeID"),
        ("cp-user-callstack", "CP User Callstack", "XRCoreProfileCallstackTypeID"),
        ("class", "Class", "XRKDebugClassTypeID"),
        ("subclass", "Subclass", "XRKDebugSubclassTypeID"),
        ("code", "Code", "XRKDebugCodeTypeID"),
        ("function", "Qualifier", "XRKDebugFunctionTypeID"),
        ("arg1", "Argument 1", "XRKDebugArgumentTypeID"),
        ("arg2", "Argument 2", "XRKDebugArgumentTypeID"),
        ("arg3", "Argument 3", "XRKDebugArgumentTypeID"),
        ("arg4", "Argument 4", "XRKDebugArgumentTypeID"),
    ];
    schema("kdebug", Topology::Moment, &[EVENT_TIME, (THREAD, Place::Category1)], &others)
}

pub fn tick() -> Schema {
    let time = (("time", "Timestamp", "XRSampleTimestampTypeID"), Place::Time);
    schema("tick", Topology::Moment, &[time], &[])
}

pub fn potential_hangs() -> Schema {
    let others = [("hang-type", "Hang Type", "XRHangTypeTypeID"), THREAD, PROCESS];
    schema("potential-hangs", Topology::Stretch, &[START, DURATION], &others)
}

/// `is_recent` selects the name in Xcode 27.
pub fn signpost_intervals(is_recent: bool) -> Schema {
    let layout = (("layout-qualifier", "Layout ID", "XRLayoutIDTypeID"), Place::Category2);
    let (table, name) = match is_recent {
        true => ("OSSignpostIntervals", "XRSignpostNameTypeID"),
        false => ("os-signpost-interval", "XRPrototypeStringTypeID"),
    };
    let others = [
        ("name", "Name", name),
        ("category", "Category", "XROSLogCategoryTypeID"),
        ("subsystem", "Subsystem", "XROSLogSubsystemTypeID"),
        ("identifier", "Identifier", "XROSSignpostIdentifierTypeID"),
        PROCESS,
        ("end-process", "End Process", "XRProcessTypeID"),
        ("start-thread", "Start Thread", "XRThreadTypeID"),
        ("end-thread", "End Thread", "XRThreadTypeID"),
        ("start-message", "Start Message", "XROSLogMetadataTypeID"),
        ("end-message", "End Message", "XROSLogMetadataTypeID"),
        ("start-backtrace", "Start Backtrace", "XRTextBacktraceTypeID"),
        ("end-backtrace", "End Backtrace", "XRTextBacktraceTypeID"),
        ("start-emit-location", "Start Emit Location", "XRReturnLocationTypeID"),
        ("end-emit-location", "End Emit Location", "XRReturnLocationTypeID"),
        ("signature", "Signature", "XROSLogMetadataTypeID"),
    ];
    schema(table, Topology::Stretch, &[START, DURATION, layout], &others)
}

/// 60 bytes, and 68 if the position of the call is included.
pub fn signpost_events(version: Version) -> Schema {
    let mut others = vec![
        PROCESS,
        ("event-type", "Event Type", "XROSLogEventTypeID"),
        ("scope", "Scope", "XRPrototypeStringTypeID"),
        ("identifier", "Identifier", "XROSSignpostIdentifierTypeID"),
        ("name", "Name", "XRSignpostNameTypeID"),
        ("format-string", "Format String", "XROSLogFormatStringTypeID"),
        ("backtrace", "Backtrace", "XRTextBacktraceTypeID"),
        ("subsystem", "Subsystem", "XROSLogSubsystemTypeID"),
        ("category", "Category", "XROSLogCategoryTypeID"),
        ("message", "Message", "XROSLogMetadataTypeID"),
    ];
    if version == Version::V26 {
        others.push(("emit-location", "Emit Location", "XRReturnLocationTypeID"));
    }
    let schema = schema("os-signpost", Topology::Moment, &[EVENT_TIME, (THREAD, Place::Category1)], &others);
    assert_eq!(schema.row_size(), if version == Version::V26 { 68 } else { 60 });
    schema
}

/// 76, 88 and 104 bytes; the order of the topology's columns differs.
pub fn regions(version: Version) -> Schema {
    let class = (("class", "Class", "XRRegionOfInterestClassTypeID"), Place::Category1);
    let name = (("name", "Name", "XRSignpostNameTypeID"), Place::Category2);
    let first = if version == Version::V26 { [START, class, name, DURATION] } else { [START, DURATION, class, name] };
    let is_old = version == Version::V13;
    let mut others = vec![
        ("kind", "Kind", "XRRegionOfInterestKindTypeID"),
        ("scope", "Scope", "XRRegionOfInterestScopeTypeID"),
        ("concept", "Concept", "XREventConceptTypeID"),
        ("subsystem", "Subsystem", "XROSLogSubsystemTypeID"),
        ("start-message", "Start Message", "XROSLogMetadataTypeID"),
        ("end-message", "End Message", "XROSLogMetadataTypeID"),
        ("process", "Start Process", "XRProcessTypeID"),
    ];
    others.extend((!is_old).then_some(("end-process", "End Process", "XRProcessTypeID")));
    others.extend([
        THREAD,
        ("start-thread", "Start Thread", "XRThreadTypeID"),
        ("end-thread", "End Thread", "XRThreadTypeID"),
        CORE,
        ("start-backtrace", "Start Backtrace", "XRBacktraceTypeID"),
        ("end-backtrace", "End Backtrace", "XRBacktraceTypeID"),
    ]);
    if !is_old {
        others.push(("start-user-backtrace", "Start User Backtrace", "XRTextBacktraceTypeID"));
        others.push(("end-user-backtrace", "End User Backtrace", "XRTextBacktraceTypeID"));
    }
    if version == Version::V26 {
        others.push(("start-emit-location", "Start Emit Location", "XRReturnLocationTypeID"));
        others.push(("end-emit-location", "End Emit Location", "XRReturnLocationTypeID"));
    }
    let schema = schema("region-of-interest", Topology::Stretch, &first, &others);
    assert_eq!(schema.row_size(), [76, 88, 104][version as usize]);
    schema
}

pub fn hang_risks() -> Schema {
    let process = (PROCESS, Place::Category1);
    let others = [
        ("message", "Message", "XRNarrativeEntryTypeID"),
        ("severity", "Severity", "XRPrototypeShortStringTypeID"),
        ("event-type", "Event Type", "XROSLogEventTypeID"),
        ("backtrace", "Backtrace", "XRTextBacktraceTypeID"),
        THREAD,
    ];
    schema("hang-risks", Topology::Moment, &[EVENT_TIME, process], &others)
}
