//! The spelling of an export in each Xcode: one [`Shape`] per form of stacks, and the tables ([`Table`]) that it can contain.
//!
//! | shape | stack cell |
//! |---|---|
//! | `Xcode12`, `Xcode14_0` | `backtrace` with decimal `text-addresses` fragments |
//! | `Xcode14_3`, `Xcode26_2` | `backtrace` with `frame` elements |
//! | `Xcode26_4` | `tagged-backtrace` around a `backtrace` and a `uint64` |
//! | `Xcode27` | `tagged-backtrace` with `frame` elements directly inside |
//! | `TimeSample` | raw `kperf-bt`; the rest as in `Xcode26_4` |

use super::recording::{CoreKind, Frame};
use super::xml::Layout;

/// One column: mnemonic, name, engineering type.
pub type Column = (&'static str, &'static str, &'static str);

/// The spelling of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    Xcode12,
    Xcode14_0,
    Xcode14_3,
    Xcode26_2,
    Xcode26_4,
    Xcode27,
    /// The raw samples; only for [`Table::TimeSample`].
    TimeSample,
}

/// A table with processor samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Table {
    TimeProfile,
    CpuProfile,
    /// `pmi`: triggered by a counter (weights are events), otherwise by time (weights are nanoseconds).
    CountersProfile {
        pmi: bool,
    },
    TimeSample,
}

/// The form of the stack cell of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StackCell {
    Fragments,
    Frames,
    TaggedAroundFrames,
    TaggedFrames,
    Kperf,
}

const TIME: Column = ("time", "Sample Time", "sample-time");
const THREAD: Column = ("thread", "Thread", "thread");
const PROCESS: Column = ("process", "Process", "process");
const CORE: Column = ("core", "Core", "core");
const STATE: Column = ("thread-state", "State", "thread-state");

impl Shape {
    /// Every shape that writes ordinary stacks, oldest first.
    pub const ALL: [Shape; 6] =
        [Shape::Xcode12, Shape::Xcode14_0, Shape::Xcode14_3, Shape::Xcode26_2, Shape::Xcode26_4, Shape::Xcode27];

    /// The shape whose address rules apply to a table: the rules for raw samples are the same in every document.
    pub fn for_table(self, table: Table) -> Shape {
        if table == Table::TimeSample { Shape::TimeSample } else { self }
    }

    pub fn stack_cell(self) -> StackCell {
        match self {
            Shape::Xcode12 | Shape::Xcode14_0 => StackCell::Fragments,
            Shape::Xcode14_3 | Shape::Xcode26_2 => StackCell::Frames,
            Shape::Xcode26_4 => StackCell::TaggedAroundFrames,
            Shape::Xcode27 => StackCell::TaggedFrames,
            Shape::TimeSample => StackCell::Kperf,
        }
    }

    /// True if frames carry `inlined="true"`.
    pub fn marks_inlined(self) -> bool {
        self == Shape::Xcode27
    }

    /// True if `schema` has a `documentation` attribute.
    pub fn documents_schema(self) -> bool {
        matches!(self, Shape::Xcode26_4 | Shape::Xcode27 | Shape::TimeSample)
    }

    /// The white space in documents of this Xcode.
    pub fn layout(self) -> Layout {
        match self {
            Shape::Xcode12 | Shape::Xcode14_0 => Layout::Indented,
            _ => Layout::Raw,
        }
    }

    /// `instruments-version` of the table of contents.
    pub fn instruments_version(self) -> &'static str {
        match self {
            Shape::Xcode12 => "12.5 (12E262)",
            Shape::Xcode14_0 => "14.0.1 (14A400)",
            Shape::Xcode14_3 => "14.3.1 (14E300c)",
            Shape::Xcode26_2 => "26.0 (17C529)",
            Shape::Xcode26_4 | Shape::TimeSample => "16.0 (17E202)",
            Shape::Xcode27 => "27.0 (17A456)",
        }
    }

    /// The display string of a thread.
    pub fn thread_label(self, name: &str, tid: u64, process: &str, pid: u32) -> String {
        match self {
            Shape::Xcode12 | Shape::Xcode14_0 | Shape::Xcode14_3 => {
                format!("{name}  {tid:#x} ({process}, pid: {pid})")
            }
            Shape::Xcode26_2 => format!("{name} {tid:#x} ({process}, pid: {pid})"),
            Shape::Xcode26_4 | Shape::Xcode27 | Shape::TimeSample => {
                format!("{name} ({tid:#x}) ({process}, pid: {pid})")
            }
        }
    }

    /// The display string of a core.
    pub fn core_label(self, index: u32, kind: CoreKind) -> String {
        let long = matches!(self, Shape::Xcode12 | Shape::Xcode14_0);
        let kind = match kind {
            CoreKind::Unknown => "",
            CoreKind::Performance if long => " (Performance)",
            CoreKind::Performance => " (P Core)",
            CoreKind::Efficiency if long => " (Efficiency)",
            CoreKind::Efficiency => " (E Core)",
            CoreKind::Smt => " (SMT Core)",
            CoreKind::Super => " (S Core)",
        };
        format!("CPU {index}{kind}")
    }

    /// The display string of a number of cycles or events.
    pub fn count_label(self, count: u64) -> String {
        let unit = if matches!(self, Shape::Xcode12 | Shape::Xcode14_0 | Shape::Xcode14_3) { "c" } else { "" };
        let scaled = |by: f64, prefix: &str| format!("{:.2} {prefix}{unit}", count as f64 / by);
        match count {
            0..1_000 if unit.is_empty() => count.to_string(),
            0..1_000 => format!("{count} {unit}"),
            1_000..1_000_000 => scaled(1e3, if unit.is_empty() { "k" } else { "K" }),
            1_000_000..1_000_000_000 => scaled(1e6, "M"),
            _ => scaled(1e9, "G"),
        }
    }

    /// The `name` of a frame recorded at `address`. A frame without a symbol has a hexadecimal name: up to 14.3 its address, later the
    /// start of the function. Code outside every image is named by its address, and in 26.2 to 26.5, callers there by the address minus
    /// one.
    pub fn frame_name(self, frame: &Frame, address: u64, leaf: bool) -> String {
        if let Some(function) = &frame.function {
            return function.clone();
        }
        let by_start = matches!(self, Shape::Xcode26_2 | Shape::Xcode26_4 | Shape::Xcode27);
        let one_earlier = matches!(self, Shape::Xcode26_2 | Shape::Xcode26_4);
        let named = match (frame.image, frame.function_start) {
            (Some(_), Some(start)) if by_start => start,
            (None, _) if one_earlier && !leaf => address - 1,
            _ => address,
        };
        format!("{named:#x}")
    }
}

impl Table {
    pub fn schema(self) -> &'static str {
        match self {
            Table::TimeProfile => "time-profile",
            Table::CpuProfile => "cpu-profile",
            Table::CountersProfile { .. } => "counters-profile",
            Table::TimeSample => "time-sample",
        }
    }

    /// The usual table number in such a recording.
    pub fn usual_index(self) -> u32 {
        match self {
            Table::TimeProfile => 11,
            Table::CpuProfile => 14,
            Table::CountersProfile { .. } => 3,
            Table::TimeSample => 39,
        }
    }

    /// An explanation such as newer exports have on `schema`.
    pub fn documentation(self) -> &'static str {
        match self {
            Table::TimeProfile => "Samples taken at a steady pace; together they show where the time goes.",
            Table::CpuProfile => "Samples taken every so many cycles; together they show where the cycles go.",
            Table::CountersProfile { .. } => "Samples with the values of the chosen counters.",
            Table::TimeSample => "One sample as the kernel took it.",
        }
    }

    /// The columns in document order.
    pub fn columns(self, shape: Shape) -> Vec<Column> {
        let stack = ("stack", "Backtrace", stack_type(shape));
        let cycles =
            if matches!(shape, Shape::Xcode12 | Shape::Xcode14_0 | Shape::Xcode14_3) { "Weight" } else { "Cycles" };
        let weight = |name, kind| ("weight", name, kind);
        match self {
            Table::TimeProfile => vec![TIME, THREAD, PROCESS, CORE, STATE, weight("Weight", "weight"), stack],
            Table::CpuProfile => vec![TIME, THREAD, PROCESS, CORE, STATE, weight(cycles, "cycle-weight"), stack],
            Table::CountersProfile { .. } => {
                let counters = ("counters-array", "Counter Value Array", "pmc-events");
                vec![TIME, THREAD, PROCESS, CORE, STATE, stack, weight("Weight", "any"), counters]
            }
            Table::TimeSample => vec![
                ("time", "Timestamp", "sample-time"),
                THREAD,
                ("core-index", "Core Index", "core"),
                ("thread-state", "Thread State", "thread-state"),
                ("cp-kernel-callstack", "Kernel Callstack ID", "kperf-bt"),
                ("cp-user-callstack", "User Callstack ID", "kperf-bt"),
                ("sample-type", "Sample type", "time-sample-kind"),
            ],
        }
    }
}

fn stack_type(shape: Shape) -> &'static str {
    match shape.stack_cell() {
        StackCell::TaggedAroundFrames | StackCell::TaggedFrames => "tagged-backtrace",
        _ => "backtrace",
    }
}
