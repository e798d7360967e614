//! The rows of the profile's tables.

use super::ids::Id;
use crate::units::{Address, Nanos, Unit, Uuid};

/// The id of a string of the profile ([`Profile::string`](super::Profile::string)).
pub(crate) type StringId = Id<str>;
/// The id of a run of a recording ([`Profile::run`](super::Profile::run)).
pub(crate) type RunId = Id<Run>;
/// The id of the samples of one table in one unit ([`Profile::series`](super::Profile::series)).
pub(crate) type SeriesId = Id<Series>;
/// The id of a process of a run ([`Profile::process`](super::Profile::process)).
pub(crate) type ProcessId = Id<Process>;
/// The id of a thread of a process ([`Profile::thread`](super::Profile::thread)).
pub(crate) type ThreadId = Id<Thread>;
/// The id of a CPU core ([`Profile::core`](super::Profile::core)).
pub(crate) type CoreId = Id<Core>;
/// The id of a binary at a load address ([`Profile::binary`](super::Profile::binary)).
pub(crate) type BinaryId = Id<Binary>;
/// The id of a function of a binary ([`Profile::function`](super::Profile::function)).
pub(crate) type FunctionId = Id<Function>;
/// The id of a frame: an address in a function ([`Profile::frame`](super::Profile::frame)).
pub(crate) type FrameId = Id<Frame>;
/// The id of a stack: a parent stack and a frame ([`Profile::stack`](super::Profile::stack)).
pub(crate) type StackId = Id<Stack>;

/// One run of a recording, described by one document. A run exported to two files becomes two runs: nothing identifies them as the same, so their
/// weights are never added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    /// The name of the input that contains it.
    pub input: StringId,
    /// The number of the document, over all inputs, from 0. An input of concatenated exports contains several.
    pub document: u32,
    /// The run's number in the recording, from 1; 0 for the sum of several runs of a fleet.
    pub number: u32,
}

impl Run {
    /// True for the sum of several runs; the input name describes them.
    pub(crate) fn is_several(&self) -> bool {
        self.number == 0
    }
}

/// What weights measure. Weights with different meanings are never added or compared, even in the same unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Meaning {
    /// CPU time, cycles or events of a running thread.
    #[default]
    OnCpu,
    /// A thread was present, running or waiting, when all threads were sampled. This does not measure CPU use: most samples of an idle program
    /// are waiting.
    Presence,
    /// A thread wrote to storage; each sample represents a number of bytes. This does not measure CPU use.
    Writes,
    /// A thread was present when a process crashed or a report was written. These samples are only a list of stacks, and measure nothing.
    Stop,
}

impl Meaning {
    /// Returns the meaning with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::OnCpu, Self::Presence, Self::Writes, Self::Stop].into_iter().find(|meaning| meaning.name() == name)
    }

    /// Returns the meaning of values in reports from the field, for their unit.
    #[cfg(feature = "fleet")]
    pub(crate) const fn of_unit(unit: Unit) -> Self {
        match unit {
            Unit::HangTime | Unit::LaunchTime => Self::Presence,
            Unit::WrittenBytes => Self::Writes,
            _ => Self::OnCpu,
        }
    }

    /// Returns the name in machine-readable formats: `on-cpu`, `presence`, `writes`, `stop`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OnCpu => "on-cpu",
            Self::Presence => "presence",
            Self::Writes => "writes",
            Self::Stop => "stop",
        }
    }
}

/// The samples of one table in one unit, which is the largest set of samples whose weights can be added.
///
/// The `time-profile` and `counters-profile` of a run measure the same CPU time, and two runs are separate recordings, so all of them are
/// different series. A table with mixed units, which no real one has, becomes one series per unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Series {
    /// The run that was recorded.
    pub run: RunId,
    /// The schema of the table, such as `time-profile`.
    pub schema: StringId,
    /// The number of the table in the document, from 0 in document order.
    pub table: u32,
    /// The unit of all its weights.
    pub unit: Unit,
    /// The meaning of all its weights.
    pub meaning: Meaning,
    /// True if sample times are known. Otherwise, the series contains only sums without [times](super::SampleSum::times).
    pub has_times: bool,
    /// The index of the performance counter whose values replace the recorded weights
    /// ([`Analysis::weigh_by_counter`](crate::Analysis::weigh_by_counter)).
    pub counter: Option<u32>,
}

impl Series {
    /// Creates a series of samples taken on the CPU at known times.
    pub const fn new(run: RunId, schema: StringId, table: u32, unit: Unit) -> Self {
        Self { run, schema, table, unit, meaning: Meaning::OnCpu, has_times: true, counter: None }
    }

    /// Replaces the meaning of its weights.
    #[must_use]
    pub const fn with_meaning(self, meaning: Meaning) -> Self {
        Self { meaning, ..self }
    }

    /// Marks the times of its samples as unknown.
    #[must_use]
    pub const fn without_times(self) -> Self {
        Self { has_times: false, ..self }
    }

    /// True if the number of samples is known. Otherwise each sum counts as one sample.
    pub(crate) const fn has_sample_counts(&self) -> bool {
        self.has_times || matches!(self.unit, Unit::Samples) || self.unit.is_of_reports()
    }
}

/// A process of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// The run that it belongs to.
    pub run: RunId,
    /// The process id; `None` if not recorded.
    pub pid: Option<u64>,
    /// The name, or the most frequent one if it changed; empty if not recorded.
    pub name: StringId,
}

/// A thread: a tid within a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The process of the thread.
    pub process: ProcessId,
    /// The thread id; `None` if not recorded.
    pub tid: Option<u64>,
    /// The name, or the most frequent one if it changed; empty if not recorded. Instruments often uses the outermost function as the name.
    pub name: StringId,
    /// True for the main thread of its process. If the format marks main threads, readers pass the mark on. In a process without marked threads,
    /// threads named `Main Thread` are main threads, or else threads named `main`.
    pub is_main: bool,
}

/// A CPU core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Core {
    /// The core number, from 0.
    pub index: u32,
    /// The recorded core type (`P Core`, `E Core`, `Performance`, `SMT Core` …).
    pub kind: Option<StringId>,
}

/// A binary (executable, framework, dylib) at its load address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Binary {
    /// The name, such as `libdispatch.dylib`.
    pub name: StringId,
    /// The UUID, which identifies the binary on every machine and finds its symbol files.
    pub uuid: Option<Uuid>,
    /// The architecture, such as `arm64e`.
    pub arch: Option<StringId>,
    /// The address of its Mach-O header in the process.
    pub load_address: Address,
    /// The path on the recorded machine.
    pub path: StringId,
}

/// A function. Call trees merge frames with the same function, which is defined by its name and the UUID of its binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    /// The name, or the address in hexadecimal.
    pub name: StringId,
    /// The binary; the first one, if its UUID has several load addresses. An unnamed function is a different function at each load address.
    pub binary: Option<BinaryId>,
    /// True for a real name; false for a hexadecimal address.
    pub is_named: bool,
}

/// A line of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceLine {
    /// The path on the machine that compiled the file.
    pub path: StringId,
    /// The line number, from 1; 0 for compiler-generated code.
    pub line: u32,
}

/// A frame: an address in a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The function.
    pub function: FunctionId,
    /// The binary at its load address; `None` for code outside every known binary, such as JIT code.
    pub binary: Option<BinaryId>,
    /// The recorded address, with the bias and authentication bits of its Xcode version.
    pub address: Address,
    /// The address to look up in symbol files: of the sampled instruction for a leaf, inside the call instruction for a caller.
    pub lookup_address: Address,
    /// The source line, if it was recorded.
    pub source: Option<SourceLine>,
    /// True if the recording marks the frame as inlined: Xcode 27 marks the outer one of two frames with the same address. In a symbolicated
    /// profile, true if the function was inlined into the next frame towards the root.
    pub is_inlined: bool,
}

impl Frame {
    /// True if the recording lists this frame as inlined next to `callee`. Both have the same address, so a symbol file that contains it supplies
    /// both functions.
    pub fn is_inlined_beside(&self, callee: &Self) -> bool {
        self.is_inlined && self.binary == callee.binary && self.address == callee.address
    }
}

/// A call stack: `frame`, called by the stack `parent`. The outermost frame of a thread has no parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stack {
    /// The callers.
    pub parent: Option<StackId>,
    /// The innermost frame.
    pub frame: FrameId,
}

/// How a sample was triggered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SampleKind {
    /// By the sampling timer or counter; the usual kind.
    #[default]
    Periodic,
    /// The profile-every-thread timer (`PET`).
    EveryThread,
    /// The lightweight PET, which samples only threads that ran (`LPET`).
    EveryThreadLightweight,
    /// In the snapshot of all threads at the start. It shows what each thread was doing; its weight is 0, so it adds no CPU time.
    Stackshot,
    /// Any other kind.
    Other,
}

impl SampleKind {
    /// Converts the number that Instruments uses.
    pub(crate) fn of_number(number: u64) -> Self {
        match number {
            0 => Self::Periodic,
            1 => Self::EveryThread,
            2 => Self::EveryThreadLightweight,
            3 => Self::Stackshot,
            _ => Self::Other,
        }
    }
}

/// One row of a CPU table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The time since the start of the recording.
    pub time: Nanos,
    /// The weight in the unit of its series.
    pub weight: u64,
    /// The series that contains it.
    pub series: SeriesId,
    /// The thread that was sampled.
    pub thread: ThreadId,
    /// The stack of the thread; `None` if it was not recorded, in which case the weight is still valid.
    pub stack: Option<StackId>,
    /// The core that the thread ran on; `None` for threads that did not run.
    pub core: Option<CoreId>,
    /// The thread's state (`Running`, `Blocked` …), if it was recorded.
    pub state: Option<StringId>,
    /// How the sample was triggered.
    pub kind: SampleKind,
    /// The number of recorded samples: 1, or more if a page merged samples with the same properties. The merged sample has the first one's time
    /// and the sum of the weights.
    pub samples: u16,
}

/// Where the counter values of a sample begin. They end where those of the next row begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct CounterRow {
    pub(super) sample: usize,
    pub(super) start: usize,
}
