//! The logical recording: the events, independent of any export format.
//!
//! References are indices into tables of the [`Invented`] recording: a row refers to a thread, a thread to a process, a stack to a list of
//! frames, a frame to an image. Stacks are **root first**, leaf last, as everywhere in this project; only the renderer reverses them.
//!
//! A [`Frame`] is one instruction, not one function: two instructions of the same function are two frames. As the leaf of a stack, it is
//! the running instruction; as a caller, it is the call instruction that has not returned yet.

/// A complete recording, possibly with several runs of the same app.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Invented {
    pub images: Vec<Image>,
    pub frames: Vec<Frame>,
    pub processes: Vec<Process>,
    pub threads: Vec<Thread>,
    /// In order of time within each run, unless a test shuffles them.
    pub rows: Vec<Row>,
}

/// A loaded Mach-O file. One file loaded by two processes is two images with one UUID.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    pub name: String,
    /// In upper case with hyphens.
    pub uuid: String,
    /// `arm64`, `arm64e`, `x86_64` or `x86_64h`.
    pub arch: String,
    /// The address of the Mach-O header in the process, page aligned.
    pub load_address: u64,
    pub path: String,
}

/// One instruction that appears in stacks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// The demangled name; `None` if there is no symbol.
    pub function: Option<String>,
    /// The first instruction of the function, if the image contains it. Newer exports use it as the name of a frame without a symbol.
    pub function_start: Option<u64>,
    /// `None` for code outside every known image, such as code generated at run time.
    pub image: Option<usize>,
    /// The absolute source path and line.
    pub source: Option<(String, u32)>,
    /// The address of the instruction; a multiple of four (arm64).
    pub pc: u64,
    /// Marks a function into which the frame on its leaf side was inlined: both have one address. Only Xcode 27 writes such frames; the
    /// other shapes omit them.
    pub inlined: bool,
    /// The pointer authentication bits (47..63) that leak into the address if this frame is a caller and the document has them.
    pub signature: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    pub pid: u32,
    pub name: String,
    /// The absolute path of the executable, for the table of contents.
    pub path: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Thread {
    pub tid: u64,
    pub process: usize,
    /// The names of the thread over time; never empty.
    pub names: Vec<String>,
}

/// One sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The run number, from 1.
    pub run: u32,
    /// Nanoseconds since the run began.
    pub time_ns: u64,
    pub thread: usize,
    /// The index of the thread's name at that time.
    pub thread_name: usize,
    /// `None` if the thread was on no core.
    pub core: Option<(u32, CoreKind)>,
    /// `Running`, `Blocked`, ...
    pub state: &'static str,
    /// Nanoseconds in time tables, cycles in CPU tables, and events in a pmi-triggered counters table.
    pub weight: u64,
    /// Frame indices, root first; `None` if no stack was recorded.
    pub stack: Option<Vec<usize>>,
    /// True if the recorder stopped before the root (written only by Xcode 27).
    pub truncated: bool,
    /// Counter differences, for counters tables.
    pub counters: Vec<u64>,
    /// The reason why the sample was taken, for `time-sample` tables.
    pub kind: SampleKind,
}

/// The kind of a core, as recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CoreKind {
    Unknown,
    Performance,
    Efficiency,
    /// A hyper-threaded sibling (x86).
    Smt,
    Super,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SampleKind {
    #[default]
    TimerFired,
    Lpet,
    /// Part of the snapshot of all threads when recording began; not CPU time.
    Stackshot,
}

impl SampleKind {
    /// The number in the export.
    pub fn code(self) -> u64 {
        match self {
            SampleKind::TimerFired => 0,
            SampleKind::Lpet => 2,
            SampleKind::Stackshot => 3,
        }
    }

    /// The text in the export.
    pub fn label(self) -> &'static str {
        match self {
            SampleKind::TimerFired => "Timer Fired",
            SampleKind::Lpet => "LPET",
            SampleKind::Stackshot => "Stackshot",
        }
    }
}

impl Frame {
    /// The address at which execution continues when the call made by this frame returns.
    pub fn return_address(&self) -> u64 {
        self.pc + 4
    }
}

impl Row {
    /// A running sample of one millisecond, without any other data; for use in `Row { .., ..Row::sample(..) }`.
    pub fn sample(time_ns: u64, thread: usize, stack: Option<Vec<usize>>) -> Row {
        Row {
            run: 1,
            time_ns,
            thread,
            thread_name: 0,
            core: Some((0, CoreKind::Performance)),
            state: "Running",
            weight: 1_000_000,
            stack,
            truncated: false,
            counters: Vec::new(),
            kind: SampleKind::TimerFired,
        }
    }
}

impl Invented {
    pub fn thread_of(&self, row: &Row) -> &Thread {
        &self.threads[row.thread]
    }

    pub fn process_of(&self, row: &Row) -> &Process {
        &self.processes[self.thread_of(row).process]
    }

    pub fn thread_name_of(&self, row: &Row) -> &str {
        &self.thread_of(row).names[row.thread_name]
    }

    /// The indices of the rows of one run, in recording order.
    pub fn rows_of_run(&self, run: u32) -> Vec<usize> {
        (0..self.rows.len()).filter(|&row| self.rows[row].run == run).collect()
    }

    /// The run numbers, ascending.
    pub fn runs(&self) -> Vec<u32> {
        let mut runs: Vec<u32> = self.rows.iter().map(|row| row.run).collect();
        runs.sort_unstable();
        runs.dedup();
        runs
    }
}
