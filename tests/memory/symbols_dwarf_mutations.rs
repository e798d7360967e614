//! Thousands of broken copies of the corpus' dSYMs: no panic, no hang, memory within a multiple of the file.
//!
//! Each copy is cut, has bytes flipped, or has a part written over another part, at places drawn from a seed. Load
//! commands and DWARF are small parts of a file, so a part of the changes goes to them on purpose.

use support::dsym;

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use object::{Object, ObjectSection};
use traceparse::symbols::Slice;

use crate::MEMORY;

const MUTATIONS: u64 = 10_000;
/// Longest time for one copy, on a busy machine without optimisation of the crates below.
const LONGEST: Duration = Duration::from_secs(10);
/// Most memory beyond the file itself: a fixed part, and a multiple of the file.
const FIXED_MEMORY: usize = 16 << 20;
const MEMORY_PER_BYTE: usize = 16;

pub(crate) fn trials() -> Vec<Trial> {
    let corpus = std::env::var_os("TRACEPARSE_CORPUS").map(PathBuf::from);
    let files = corpus.as_ref().map(|corpus| dsym::files(&corpus.join("dsym"))).unwrap_or_default();
    let wanted = support::rounds(MUTATIONS) as usize;
    let is_missing = files.is_empty();
    // One test, since memory is measured for the whole process.
    let trial = trial!("mutations", move || {
        for (index, path) in files.iter().enumerate() {
            mutate(path, index as u64, wanted.div_ceil(files.len()))?;
        }
        Ok(())
    });
    vec![trial.with_ignored_flag(is_missing)]
}

/// Numbers from a seed (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16) as usize % limit.max(1)
    }

    fn within(&mut self, range: &Range<usize>) -> usize {
        range.start + self.below(range.len())
    }
}

/// The parts of a file that are worth breaking: all of it, its first KB, and each DWARF section.
fn targets(file: &[u8]) -> Vec<Range<usize>> {
    let mut targets = vec![0..file.len(), 0..file.len().min(1024)];
    for slice in Slice::all(file).unwrap_or_default() {
        let start = slice.range.start as usize;
        targets.push(start..(start + 2048).min(file.len()));
        let Ok(object) = object::File::parse(dsym::bytes_of(file, &slice)) else { continue };
        for section in object.sections().filter(|section| section.segment_name() == Ok(Some("__DWARF"))) {
            let (offset, size) = section.file_range().unwrap_or_default();
            let range = start + offset as usize..start + (offset + size) as usize;
            if !range.is_empty() {
                targets.push(range);
            }
        }
    }
    targets
}

fn broken_copy(file: &[u8], targets: &[Range<usize>], random: &mut Random) -> Vec<u8> {
    let mut copy = file.to_vec();
    match random.below(8) {
        0 => copy.truncate(random.below(file.len())),
        1 | 2 => {
            let (from, to) = (&targets[random.below(targets.len())], &targets[random.below(targets.len())]);
            let (from, to) = (random.within(from), random.within(to));
            let length = (1 + random.below(4096)).min(file.len() - from).min(file.len() - to);
            copy[to..to + length].copy_from_slice(&file[from..from + length]);
        }
        _ => {
            let target = &targets[random.below(targets.len())];
            for _ in 0..1 + random.below(32) {
                let at = random.within(target);
                // Values at the edges find more than a flipped bit.
                copy[at] = match random.below(4) {
                    0 => 0,
                    1 => 0xFF,
                    2 => random.below(256) as u8,
                    _ => copy[at] ^ (1 << random.below(8)),
                };
            }
        }
    }
    copy
}

fn mutate(path: &Path, seed: u64, count: usize) -> Result<(), Failed> {
    let file = fs::read(path)?;
    let targets = targets(&file);
    let wanted: Vec<Vec<u64>> = Slice::all(&file)?.iter().map(|slice| dsym::addresses(&file, slice, 200)).collect();
    let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ (seed + 1));
    let (mut opened, mut noted, mut frames, mut slowest, mut largest) = (0, 0, 0, Duration::ZERO, 0);
    for index in 0..count {
        let copy = broken_copy(&file, &targets, &mut random);
        let (before, start) = (MEMORY.current_usage(), Instant::now());
        MEMORY.reset_peak_usage();
        for (slice, addresses) in Slice::all(&copy).unwrap_or_default().iter().zip(&wanted) {
            if let Ok((answers, notes)) = dsym::look_up(&copy, slice, addresses) {
                opened += 1;
                noted += usize::from(!notes.is_empty());
                frames += answers.iter().map(Vec::len).sum::<usize>();
            }
        }
        let (used, took) = (MEMORY.peak_usage().saturating_sub(before), start.elapsed());
        (slowest, largest) = (slowest.max(took), largest.max(used));
        let limit = FIXED_MEMORY + MEMORY_PER_BYTE * copy.len();
        if took > LONGEST || used > limit {
            return Err(format!("{}: copy {index} took {took:?} and {used} bytes", path.display()).into());
        }
    }
    println!(
        "{}: {count} copies, {opened} slices opened, {noted} with notes, {frames} frames, slowest {slowest:?}, most \
         memory {} KB for {} KB",
        path.file_name().unwrap_or_default().to_string_lossy(),
        largest / 1024,
        file.len() / 1024
    );
    Ok(())
}
