//! The logical recording: what happened, free of any export format.
//!
//! Everything is an index into a table of the [`Invented`]: a row names a thread, a thread names a process, a stack
//! is a list of frames, a frame names an image. Stacks are **root first**, leaf last, as everywhere in this project;
//! only the renderer reverses them.
//!
//! A [`Frame`] is one instruction, not one function: the same function stopped at two places is two frames. As the
//! leaf of a stack it is the instruction that was running; as a caller it is the call instruction that has not
//! returned yet.

/// A whole recording; possibly several runs of the same app.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Invented {
    pub images: Vec<Image>,
    pub frames: Vec<Frame>,
    pub processes: Vec<Process>,
    pub threads: Vec<Thread>,
    /// In time order within each run, unless a test shuffles them.
    pub rows: Vec<Row>,
}

/// A loaded Mach-O file. One file loaded by two processes is two images with one UUID.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    pub name: String,
    /// Upper case with hyphens.
    pub uuid: String,
    /// `arm64`, `arm64e`, `x86_64` or `x86_64h`.
    pub arch: String,
    /// Address of the Mach-O header in the process, page aligned.
    pub load_address: u64,
    pub path: String,
}

/// One instruction that appears in stacks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Demangled name; `None` when no symbol was found.
    pub function: Option<String>,
    /// First instruction of the function, where the image tells it. Newer exports name a frame without symbol by it.
    pub function_start: Option<u64>,
    /// `None` for code outside every known image (generated at run time, for example).
    pub image: Option<usize>,
    /// Absolute source path and line.
    pub source: Option<(String, u32)>,
    /// Address of the instruction; a multiple of four (arm64).
    pub pc: u64,
    /// Marks a function that the frame on its leaf side was inlined into: both have one address. Written by Xcode 27
    /// only; the other shapes leave such frames out.
    pub inlined: bool,
    /// Pointer-authentication bits (47..63) that leak into the address when this frame is a caller, if asked for.
    pub signature: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    pub pid: u32,
    pub name: String,
    /// Absolute path of the executable, for the table of contents.
    pub path: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Thread {
    pub tid: u64,
    pub process: usize,
    /// The names the thread is shown under over time; never empty.
    pub names: Vec<String>,
}

/// One sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Run number, from 1.
    pub run: u32,
    /// Nanoseconds since the run began.
    pub time_ns: u64,
    pub thread: usize,
    /// The position of the thread's name at that time.
    pub thread_name: usize,
    /// `None` when the thread was on no core.
    pub core: Option<(u32, CoreKind)>,
    /// `Running`, `Blocked`, ...
    pub state: &'static str,
    /// Nanoseconds in time tables, cycles in cpu tables. A pmi-triggered counters table has events here.
    pub weight: u64,
    /// Frame indices, root first; `None` when no stack could be taken.
    pub stack: Option<Vec<usize>>,
    /// The recorder gave up before the root (written by Xcode 27 only).
    pub truncated: bool,
    /// Counter deltas, for counters tables.
    pub counters: Vec<u64>,
    /// The reason why the sample was taken, for `time-sample` tables.
    pub kind: SampleKind,
}

/// The kind of a core, as far as the recorder knew it.
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
    /// Part of the snapshot of all threads when recording began; not processor time.
    Stackshot,
}

impl SampleKind {
    /// The number the export carries.
    pub fn code(self) -> u64 {
        match self {
            SampleKind::TimerFired => 0,
            SampleKind::Lpet => 2,
            SampleKind::Stackshot => 3,
        }
    }

    /// The words the export shows for it.
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
    /// A running sample of one millisecond with nothing else known; meant for `Row { .., ..Row::sample(..) }`.
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

    /// Indices of the rows of one run, in recording order.
    pub fn rows_of_run(&self, run: u32) -> Vec<usize> {
        (0..self.rows.len()).filter(|&row| self.rows[row].run == run).collect()
    }

    /// The run numbers present, ascending.
    pub fn runs(&self) -> Vec<u32> {
        let mut runs: Vec<u32> = self.rows.iter().map(|row| row.run).collect();
        runs.sort_unstable();
        runs.dedup();
        runs
    }
}
