//! Varied recordings from a seed: the same seed and size give the same recording on every machine.
//!
//! They contain what real recordings contain and readers get wrong: recursion, deep stacks, threads with the same name in several
//! processes, threads that change their names, names that need escaping, functions without symbols, code outside every image, one file at
//! two load addresses, rows without stacks, rows of waiting threads, rows with the same time, repeated stacks and uneven weights.

use super::names::{NameStyle, PROCESS_NAMES, STATES, THREAD_NAMES, function_name, image_name, uuid};
use super::recording::{CoreKind, Frame, Image, Invented, Process, Row, SampleKind, Thread};

/// splitmix64: small, fast and good enough to vary test data.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng { state: seed }
    }

    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number in `0..limit`; `limit` must not be 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next_u64() % limit
    }

    /// An index in `0..length`.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// True about once in `n` calls.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.index(choices.len())]
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.index(last + 1));
        }
    }
}

/// The size and the unusual features of a random recording.
#[derive(Clone, Debug)]
pub struct Size {
    pub processes: usize,
    pub threads_per_process: usize,
    /// The number of images per process, in addition to one that all processes share at the same address.
    pub images: usize,
    pub functions_per_image: usize,
    pub rows: usize,
    /// The maximum number of frames per stack; at least 1.
    pub depth: usize,
    pub runs: u32,
    /// The number of counter values per row.
    pub counters: usize,
    /// Include waiting threads and unusual states.
    pub waiting: bool,
    /// Include marked inlined frames, which only Xcode 27 documents show.
    pub inlined: bool,
    /// Include rows that belong to the snapshot at the start of a recording.
    pub snapshots: bool,
}

impl Size {
    /// A few dozen rows.
    pub fn small() -> Size {
        Size {
            processes: 2,
            threads_per_process: 3,
            images: 3,
            functions_per_image: 6,
            rows: 60,
            depth: 12,
            runs: 1,
            counters: 2,
            waiting: true,
            inlined: false,
            snapshots: false,
        }
    }

    /// Some thousand rows with stacks up to 120 frames.
    pub fn medium() -> Size {
        Size {
            processes: 3,
            threads_per_process: 6,
            images: 6,
            functions_per_image: 30,
            rows: 3_000,
            depth: 120,
            ..Size::small()
        }
    }
}

impl Invented {
    /// A varied recording; see the module documentation for what it contains.
    pub fn random(seed: u64, size: &Size) -> Invented {
        let mut generator = Generator { rng: Rng::new(seed), size, recording: Invented::default(), code: Vec::new() };
        generator.images_and_frames();
        generator.processes_and_threads();
        for run in 1..=size.runs {
            generator.rows(run);
        }
        generator.recording
    }
}

struct Generator<'a> {
    rng: Rng,
    size: &'a Size,
    recording: Invented,
    /// The frames that stacks of each process may use.
    code: Vec<Vec<usize>>,
}

impl Generator<'_> {
    fn images_and_frames(&mut self) {
        let slide = self.rng.below(64) * 0x4000;
        let shared = self.image(0, 0x1_8000_0000 + slide);
        let shared_code = self.functions(Some(shared), 0);
        for process in 0..self.size.processes {
            let mut code = shared_code.clone();
            for number in 1..=self.size.images {
                // Every process has the same files at different addresses.
                let address = 0x1_0000_0000 + (process as u64 * 64 + number as u64) * 0x10_0000;
                let image = self.image(number, address);
                code.extend(self.functions(Some(image), number));
            }
            code.extend(self.functions(None, 900 + process));
            self.code.push(code);
        }
    }

    fn image(&mut self, number: usize, load_address: u64) -> usize {
        let (name, path) = image_name(number);
        let arch = if number.is_multiple_of(2) { "arm64e" } else { "arm64" };
        let mut identity = Rng::new(number as u64);
        let uuid = uuid(identity.next_u64(), identity.next_u64());
        self.recording.images.push(Image { name, uuid, arch: arch.to_owned(), load_address, path });
        self.recording.images.len() - 1
    }

    /// Adds the functions of an image, each with up to four sampled instructions.
    fn functions(&mut self, image: Option<usize>, number: usize) -> Vec<usize> {
        let base = image.map_or(0x3_0000_0000 + number as u64 * 0x10_0000, |image| {
            self.recording.images[image].load_address + 0x1000
        });
        // The file and not its address determines the names, so both loads of a file have the same functions.
        let mut file = Rng::new(7_000 + number as u64);
        let mut added = Vec::new();
        for function in 0..self.size.functions_per_image as u64 {
            let start = base + function * 0x200;
            let style = *file.pick(&NameStyle::ALL);
            let named = image.is_some() && !file.one_in(6);
            let name = function_name(style, function + 100 * file.below(3));
            let source = (named && file.one_in(3))
                .then(|| (format!("/Users/dev/Orchard/Sources/{}.cpp", file.below(9)), file.below(900) as u32));
            let has_start = image.is_some() && (named || !file.one_in(4));
            for _ in 0..1 + file.below(4) {
                let inlined = self.size.inlined && named && file.one_in(9);
                self.recording.frames.push(Frame {
                    function: named.then(|| name.clone()),
                    function_start: has_start.then_some(start),
                    image,
                    source: source.clone(),
                    pc: start + 4 * file.below(100),
                    inlined,
                    signature: if file.one_in(20) { (1 + file.below(0xfffe)) << 47 } else { 0 },
                });
                added.push(self.recording.frames.len() - 1);
            }
        }
        added
    }

    fn processes_and_threads(&mut self) {
        for process in 0..self.size.processes {
            let name = PROCESS_NAMES[process % PROCESS_NAMES.len()].to_owned();
            // The kernel has the pid 0.
            let pid = if name == "kernel_task" { 0 } else { 700 + 37 * process as u32 };
            let path = format!("/Users/dev/Orchard/Build/{name}");
            self.recording.processes.push(Process { pid, name, path });
            for thread in 0..self.size.threads_per_process {
                let names = 1 + self.rng.index(3);
                let names = (0..names).map(|_| self.rng.pick(&THREAD_NAMES).to_string()).collect();
                let tid = 0x1000 + (process * 0x100 + thread) as u64;
                self.recording.threads.push(Thread { tid, process, names });
            }
        }
    }

    fn rows(&mut self, run: u32) {
        let mut time_ns = 50_000_000 + self.rng.below(1_000_000);
        let mut earlier: Vec<(usize, Vec<usize>)> = Vec::new();
        for position in 0..self.size.rows {
            if !self.rng.one_in(8) {
                time_ns += 900_000 + self.rng.below(200_000);
            }
            let thread = self.rng.index(self.recording.threads.len());
            let process = self.recording.threads[thread].process;
            let stack = (!self.rng.one_in(15)).then(|| self.stack(process, &mut earlier));
            let row = self.row(run, time_ns, thread, stack);
            let in_snapshot = self.size.snapshots && position < self.size.rows / 10;
            self.recording.rows.push(if in_snapshot { snapshot(row) } else { row });
        }
    }

    fn row(&mut self, run: u32, time_ns: u64, thread: usize, stack: Option<Vec<usize>>) -> Row {
        let waits = self.size.waiting && self.rng.one_in(6);
        let state = if waits { *self.rng.pick(&STATES) } else { "Running" };
        let kind = *self.rng.pick(&[CoreKind::Performance, CoreKind::Efficiency, CoreKind::Unknown]);
        let core = (state != "Blocked").then(|| (self.rng.below(10) as u32, kind));
        let weight = if self.rng.one_in(3) { 1 + self.rng.below(3_000_000) } else { 1_000_000 };
        let counters = (0..self.size.counters).map(|_| self.rng.below(4) * self.rng.below(900_000)).collect();
        Row {
            run,
            core,
            state,
            weight,
            counters,
            thread_name: self.rng.index(self.recording.threads[thread].names.len()),
            truncated: self.rng.one_in(30),
            ..Row::sample(time_ns, thread, stack)
        }
    }

    /// An earlier stack of the process, a branch of an earlier one, or a new one; often with recursion.
    fn stack(&mut self, process: usize, earlier: &mut Vec<(usize, Vec<usize>)>) -> Vec<usize> {
        let known: Vec<usize> = (0..earlier.len()).rev().take(50).filter(|&at| earlier[at].0 == process).collect();
        let mut stack = match known.is_empty() || self.rng.one_in(5) {
            true => Vec::new(),
            false => earlier[*self.rng.pick(&known)].1.clone(),
        };
        if !stack.is_empty() && self.rng.one_in(2) {
            return stack;
        }
        stack.truncate(self.rng.index(stack.len() + 1));
        let depth = 1 + self.rng.index(self.size.depth);
        while stack.len() < depth {
            let frame = *self.rng.pick(&self.code[process]);
            let times = if self.rng.one_in(12) { 2 + self.rng.index(9) } else { 1 };
            stack.extend(std::iter::repeat_n(frame, times.min(depth - stack.len())));
        }
        self.keep_leaf_physical(process, &mut stack);
        earlier.push((process, stack.clone()));
        stack
    }

    /// An inlined frame needs a frame on its leaf side to share an address with.
    fn keep_leaf_physical(&mut self, process: usize, stack: &mut Vec<usize>) {
        if self.recording.frames[*stack.last().expect("a frame")].inlined {
            let frames = &self.recording.frames;
            let physical = self.code[process].iter().find(|&&frame| !frames[frame].inlined);
            stack.push(*physical.expect("code that is not inlined"));
        }
    }
}

/// The row in the snapshot of all threads: waiting, on no core, without CPU time.
fn snapshot(row: Row) -> Row {
    Row { kind: SampleKind::Stackshot, state: "Blocked", core: None, ..row }
}
