//! The events of a large recording, row by row: thread, core, duration and stack.
//!
//! They are the same for every format in which a recording can be written.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::RangeInclusive;

use super::large_code::{FUNCTIONS, Function, SITES, Step, callee, function, hash};
use super::random::Rng;

pub const THREADS: usize = 12;
pub const CORES: usize = 10;
pub const PID: u32 = 4_711;
/// Weights, and their text in exports.
pub const WEIGHTS: [(u64, &str); 3] = [(1_000_000, "1.00 ms"), (2_000_000, "2.00 ms"), (1_130_000, "1.13 ms")];
/// The number of small cores, which come first.
pub const EFFICIENCY_CORES: usize = 4;

/// The size of a recording.
#[derive(Clone, Debug)]
pub struct LargeSize {
    pub rows: u64,
    /// At most the number of rows.
    pub distinct_stacks: u64,
    pub seed: u64,
    /// The depths of stacks, each equally frequent.
    pub depths: RangeInclusive<usize>,
}

/// A row.
pub struct LargeRow {
    pub time_ns: u64,
    pub thread: usize,
    pub core: usize,
    /// The index in [`WEIGHTS`].
    pub weight: usize,
    pub stack: LargeStack,
}

pub enum LargeStack {
    None,
    /// The number of a stack that was new in an earlier row of the same thread.
    Earlier(usize),
    /// A new stack, root first, with the next number.
    New(Vec<Step>),
}

/// Produces the rows in order of time.
pub struct LargeModel {
    pub functions: Vec<Function>,
    size: LargeSize,
    rng: Rng,
    /// The thread of each stack so far.
    stacks: Vec<u8>,
    seen: HashSet<u64, BuildHasherDefault<Passthrough>>,
    paths: Vec<Vec<Step>>,
    time_ns: u64,
    row: u64,
}

impl LargeModel {
    /// # Panics
    ///
    /// If the depths contain 0 or are empty.
    pub fn new(size: LargeSize) -> LargeModel {
        assert!(*size.depths.start() > 0 && !size.depths.is_empty(), "a stack has a frame");
        let mut rng = Rng::new(size.seed);
        LargeModel {
            functions: (0..FUNCTIONS).map(|number| function(number, &mut rng)).collect(),
            size,
            rng,
            stacks: Vec::new(),
            seen: HashSet::default(),
            paths: vec![Vec::new(); THREADS],
            time_ns: 40_000_000,
            row: 0,
        }
    }

    /// The name of a thread.
    pub fn thread_name(thread: usize) -> String {
        if thread == 0 { "Main Thread".to_owned() } else { format!("worker #{thread} (pool)") }
    }

    pub fn tid(thread: usize) -> u64 {
        0x5_1000 + thread as u64 * 3
    }

    /// The running instruction if the function is the leaf.
    pub fn leaf_pc(&self, (function, site): Step) -> u64 {
        self.functions[function as usize].start + 0x100 + 4 * u64::from(site)
    }

    /// The active call instruction if the function is a caller.
    pub fn caller_pc(&self, (function, site): Step) -> u64 {
        self.functions[function as usize].start + 0x40 + 0x20 * u64::from(site)
    }

    fn is_new_stack_due(&self) -> bool {
        let LargeSize { rows, distinct_stacks, .. } = self.size;
        // New stacks are evenly spread over the rows.
        let due = u128::from(self.row) * u128::from(distinct_stacks.min(rows)) / u128::from(rows);
        (self.stacks.len() as u128) <= due && (self.stacks.len() as u64) < distinct_stacks
    }

    /// Selects an earlier stack, most often one of the first.
    fn earlier_stack(&mut self) -> usize {
        let limit = 1 + self.rng.index(self.stacks.len());
        self.rng.index(limit)
    }

    /// A path that no stack had before. It leaves the thread's last path near the leaf and continues to a new depth.
    fn new_path(&mut self, thread: usize) -> Vec<Step> {
        let mut path = std::mem::take(&mut self.paths[thread]);
        loop {
            let (start, end) = (self.size.depths.start(), self.size.depths.end());
            let depth = start + self.rng.index(end - start + 1);
            let kept = path.len().min(depth).saturating_sub(1 + self.rng.index(8));
            path.truncate(kept);
            while path.len() < depth {
                let site = (self.rng.index(SITES) * self.rng.index(SITES) / SITES) as u8;
                let function = match path.last() {
                    None => thread as u32,
                    Some(&caller) => callee(caller),
                };
                path.push((function, site));
            }
            let leaf = path.len() - 1;
            path[leaf].1 = self.rng.index(SITES) as u8;
            if self.seen.insert(hash(&path)) {
                self.paths[thread].clone_from(&path);
                return path;
            }
        }
    }
}

impl Iterator for LargeModel {
    type Item = LargeRow;

    fn next(&mut self) -> Option<LargeRow> {
        if self.row == self.size.rows {
            return None;
        }
        self.time_ns += 70_000 + self.rng.below(40_000);
        let is_new = self.is_new_stack_due();
        // About one row in 256 has no stack.
        let has_none = !is_new && (self.stacks.is_empty() || self.rng.one_in(256));
        let earlier = if is_new || has_none { None } else { Some(self.earlier_stack()) };
        let thread = earlier.map_or_else(|| self.rng.index(THREADS), |stack| usize::from(self.stacks[stack]));
        let core = self.rng.index(CORES);
        let weight = if self.rng.one_in(40) { self.rng.index(WEIGHTS.len()) } else { 0 };
        let stack = match earlier {
            Some(stack) => LargeStack::Earlier(stack),
            None if has_none => LargeStack::None,
            None => {
                self.stacks.push(thread as u8);
                LargeStack::New(self.new_path(thread))
            }
        };
        self.row += 1;
        Some(LargeRow { time_ns: self.time_ns, thread, core, weight, stack })
    }
}

/// A hasher for keys that are already hashes.
#[derive(Default)]
pub struct Passthrough(u64);

impl Hasher for Passthrough {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only u64 keys")
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}
