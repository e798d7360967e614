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

/// One run of a recording, as one document tells of it. The same run exported into two files gives two of these:
/// nothing says that they are one, and adding them up would count time twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    /// The name of the input that holds it.
    pub input: StringId,
    /// The number of the document, over all inputs, from 0; an input of concatenated exports holds several.
    pub document: u32,
    /// The run's number in the recording, from 1.
    pub number: u32,
}

/// The meaning of weights. Weights of two meanings are never added up or compared, whatever their unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Meaning {
    /// CPU time, cycles or events of a thread that ran.
    #[default]
    OnCpu,
    /// A thread that was there when all threads were looked at, running or waiting. It says nothing of CPU use: most samples of an idle
    /// program wait.
    Presence,
}

impl Meaning {
    /// The name that machine formats use: `on-cpu`, `presence`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OnCpu => "on-cpu",
            Self::Presence => "presence",
        }
    }
}

/// The samples of one table in one unit: the largest set of samples whose weights may be added up.
///
/// A `time-profile` and a `counters-profile` of one run saw the same CPU time, and two runs are two recordings, so
/// neither pair shares a series. A table that mixes units (no real one does) gives one series a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Series {
    /// The run that was recorded.
    pub run: RunId,
    /// The schema of the table, such as `time-profile`.
    pub schema: StringId,
    /// The number of the table in the document, from 0 in document order.
    pub table: u32,
    /// The unit of every weight in it.
    pub unit: Unit,
    /// The meaning of every weight in it.
    pub meaning: Meaning,
    /// True if it is known when samples were taken. Where it is not, there are sums only, and their
    /// [times](super::SampleSum::times) are absent.
    pub has_times: bool,
    /// The performance counter, from 0, whose values the samples weigh instead of what was recorded as their weight
    /// ([`Analysis::weigh_by_counter`](crate::Analysis::weigh_by_counter)).
    pub counter: Option<u32>,
}

impl Series {
    /// The samples of a table that were taken on the CPU, at known times.
    pub const fn new(run: RunId, schema: StringId, table: u32, unit: Unit) -> Self {
        Self { run, schema, table, unit, meaning: Meaning::OnCpu, has_times: true, counter: None }
    }

    /// The same of samples that mean something else.
    #[must_use]
    pub const fn with_meaning(self, meaning: Meaning) -> Self {
        Self { meaning, ..self }
    }

    /// The same of samples that were taken at unknown times.
    #[must_use]
    pub const fn without_times(self) -> Self {
        Self { has_times: false, ..self }
    }
}

/// A process of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// The run it was seen in.
    pub run: RunId,
    /// Its number; `None` where the export names none.
    pub pid: Option<u64>,
    /// Its name; the one most samples carried where it changed, empty where the export has none.
    pub name: StringId,
}

/// A thread: a tid within a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The process it belongs to.
    pub process: ProcessId,
    /// Its number; `None` where the export names none.
    pub tid: Option<u64>,
    /// Its name; the one most samples carried where it changed, empty where the export has none. Instruments often
    /// shows the outermost function here.
    pub name: StringId,
    /// True for a main thread of its process. The reader marks it, if the format does. In a process without a marked thread these are the
    /// threads named `Main Thread`, and in a process without those the threads named `main`.
    pub is_main: bool,
}

/// A CPU core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Core {
    /// Its number, from 0.
    pub index: u32,
    /// Its kind as recorded (`P Core`, `E Core`, `Performance`, `SMT Core` …), where it was.
    pub kind: Option<StringId>,
}

/// A binary (executable, framework, dylib) at the address it was loaded at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Binary {
    /// Its name, such as `libdispatch.dylib`.
    pub name: StringId,
    /// Its UUID, which names it across machines and finds its symbols.
    pub uuid: Option<Uuid>,
    /// Its architecture, such as `arm64e`.
    pub arch: Option<StringId>,
    /// The address of its Mach-O header in the process.
    pub load_address: Address,
    /// Its path on the recorded machine.
    pub path: StringId,
}

/// A function: the key by which frames are merged in trees. Same binary (by UUID) and same name is the same function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    /// Its name; an address in hex where it has none.
    pub name: StringId,
    /// Its binary: of several load addresses of one UUID, the first seen. A function that is known by its address is
    /// another one at each load address.
    pub binary: Option<BinaryId>,
    /// True for a real name; false for an address in hex that stands for one.
    pub is_named: bool,
}

/// A line of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceLine {
    /// Path of the file on the machine that compiled it.
    pub path: StringId,
    /// Line, from 1; 0 is code that the compiler made up.
    pub line: u32,
}

/// A frame: an address in a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The function.
    pub function: FunctionId,
    /// The binary at its load address; `None` for code outside every known binary (JIT, say).
    pub binary: Option<BinaryId>,
    /// The address exactly as recorded, with the bias and authentication bits of its Xcode version.
    pub address: Address,
    /// The address to look up in symbol files: of the sampled instruction in a leaf, inside the call in a caller.
    pub lookup_address: Address,
    /// The source line, where the recording had it.
    pub source: Option<SourceLine>,
    /// True if the recording marks the frame as inlined: Xcode 27 does so with the outer of two frames of one address. In a profile that
    /// was symbolicated: true if this function was inlined into the next frame towards the root.
    pub is_inlined: bool,
}

impl Frame {
    /// True if a recording lists this frame as inlined beside `callee`: both have one address, so anyone who knows the functions at that
    /// address knows both.
    pub fn is_inlined_beside(&self, callee: &Self) -> bool {
        self.is_inlined && self.binary == callee.binary && self.address == callee.address
    }
}

/// A stack: the frame, called from the parent stack. `None` as the parent is the root of the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stack {
    /// The callers.
    pub parent: Option<StackId>,
    /// The innermost frame.
    pub frame: FrameId,
}

/// The source of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SampleKind {
    /// The sampling timer or counter, the usual kind.
    #[default]
    Periodic,
    /// The profile-every-thread timer (`PET`).
    EveryThread,
    /// Its lightweight form, which samples only threads that ran (`LPET`).
    EveryThreadLightweight,
    /// The snapshot of all threads at the start: it shows where they stood, and counts no CPU time (weight 0).
    Stackshot,
    /// A kind this version does not know.
    Other,
}

impl SampleKind {
    /// The kind that Instruments means by a number.
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
    /// When, counted from the start of the recording.
    pub time: Nanos,
    /// The number of units of its series that it stands for.
    pub weight: u64,
    /// The table it is a row of.
    pub series: SeriesId,
    /// The thread that was sampled.
    pub thread: ThreadId,
    /// The stack of the thread; `None` if none was recorded, although the weight is real.
    pub stack: Option<StackId>,
    /// The core that the thread ran on; `None` for threads that did not run.
    pub core: Option<CoreId>,
    /// The thread's state (`Running`, `Blocked` …), where recorded.
    pub state: Option<StringId>,
    /// Its source.
    pub kind: SampleKind,
}

/// The start of a sample's counter values; they end where the next row's start.
#[derive(Clone, Copy, Debug)]
pub(super) struct CounterRow {
    pub(super) sample: usize,
    pub(super) start: usize,
}
