//! Broken copies of symbol files: whatever comes of reading them, it is no panic, takes no long time and little memory.

// Each test binary uses a part of it.
#![allow(dead_code, unreachable_pub)]

use std::time::{Duration, Instant};

use traceparse::symbols::{AppleImage, Symbols};

use support::apple_symbols_rng::Rng;

use crate::MEMORY;

/// The outcomes of mutated files.
#[derive(Debug, Default)]
pub struct Outcome {
    pub read: u64,
    pub refused: u64,
    /// The most memory that one took, in percent of the file's size.
    pub peak: usize,
    pub slowest: Duration,
}

/// Numbers that are often on the wrong side of a check.
const EDGES: [u32; 12] =
    [0, 1, 2, 3, 0x10, 0xff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0x4000_0000, u32::MAX - 1, u32::MAX];

/// Changes bytes, words, the length, or moves a piece.
fn mutate(rng: &mut Rng, good: &[u8]) -> Vec<u8> {
    let mut file = good.to_vec();
    for _ in 0..1 + rng.below(4) {
        let at = rng.below(file.len() as u64) as usize;
        // The headers, which everything hangs on, are a small part of a file.
        let at = if rng.once_in(3) { at % 0x200.min(file.len()) } else { at };
        match rng.below(8) {
            0 => file[at] = rng.next() as u8,
            1 => file[at] ^= 1 << rng.below(8),
            2 => file.truncate(at.max(1)),
            3 => {
                let from = rng.below(file.len() as u64) as usize;
                let length = (rng.below(64) as usize).min(file.len() - from.max(at));
                file.copy_within(from..from + length, at);
            }
            _ => {
                let at = (at & !3).min(file.len().saturating_sub(4));
                let word = match rng.below(3) {
                    0 => rng.next() as u32,
                    1 => rng.below(file.len() as u64) as u32,
                    _ => EDGES[rng.below(12) as usize],
                };
                let end = (at + 4).min(file.len());
                file[at..end].copy_from_slice(&word.to_le_bytes()[..end - at]);
            }
        }
    }
    file
}

/// Reads `count` mutated copies of these files and looks up addresses in what can be read.
pub fn try_mutations(files: &[Vec<u8>], count: u64, seed: u64) -> Outcome {
    let mut rng = Rng(seed);
    let mut outcome = Outcome::default();
    let addresses: Vec<u64> = (0..0x10_000).step_by(16).chain([u64::from(u32::MAX), u64::MAX]).collect();
    for number in 0..count {
        let file = mutate(&mut rng, &files[number as usize % files.len()]);
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let start = Instant::now();
        match AppleImage::all(&file) {
            Ok(images) => {
                outcome.read += 1;
                for symbols in images.iter().filter_map(|image| image.symbols.as_ref()) {
                    let mut frames_seen = 0;
                    symbols.look_up(&addresses, &mut |_, frames| frames_seen += frames.len());
                    assert!(frames_seen < 1_000 * addresses.len());
                    symbols.candidates(addresses[rng.below(addresses.len() as u64) as usize]);
                    assert!(symbols.sections().count() + symbols.symbol_ranges().len() < file.len());
                }
            }
            Err(error) => {
                outcome.refused += 1;
                assert!(error.message.contains("at 0x") && error.at <= file.len() as u64, "{error:?}");
            }
        }
        outcome.slowest = outcome.slowest.max(start.elapsed());
        let taken = MEMORY.peak_usage().saturating_sub(before);
        outcome.peak = outcome.peak.max(100 * taken / file.len().max(1_024));
    }
    outcome
}
