//! Edit scripts: changes to intact data, for formats that random bytes would never match.
//!
//! A changed byte in a compressed or checksummed file only results in a checksum error. An input is therefore not a file, but a list of changes
//! to the *parts* of a file (inflated files, sections, tables), which are then combined again:
//!
//! ```text
//! op part place place [more]     one edit; a script is any number of them
//! 03 01 10 00 09                 part 1, at byte 16: write the edge number 9, 4 bytes wide
//! ```
//!
//! Every sequence of bytes is a script: numbers are taken modulo the number of choices, and a truncated edit is skipped.

/// Numbers that are often on the wrong side of a check.
const EDGES: [u64; 16] = [
    0,
    1,
    2,
    0x28,
    0x7f,
    0xff,
    0x1000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
    0x1_0000_0000,
    i64::MAX as u64,
    u64::MAX - 1,
    u64::MAX,
];

/// The remaining bytes of a script.
struct Script<'s>(&'s [u8]);

impl Script<'_> {
    fn byte(&mut self) -> Option<usize> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(usize::from(byte))
    }

    fn word(&mut self) -> Option<usize> {
        Some(self.byte()? | self.byte()? << 8)
    }

    fn take(&mut self, count: usize) -> Option<&[u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }
}

/// Applies a script to the parts. A part never grows by more than the length of the script and of the other parts.
pub(crate) fn apply(script: &[u8], parts: &mut [Vec<u8>]) {
    let mut script = Script(script);
    while !parts.is_empty() && edit(&mut script, parts).is_some() {}
}

/// The next edit; `None` at the end.
fn edit(script: &mut Script<'_>, parts: &mut [Vec<u8>]) -> Option<()> {
    let (op, part, place) = (script.byte()?, script.byte()?, script.word()?);
    let part = part % parts.len();
    let length = parts[part].len();
    let at = place % (length + 1);
    match op % 14 {
        0 => write(&mut parts[part], at, &[script.byte()? as u8]),
        1 => {
            let bit = 1 << (script.byte()? % 8);
            parts[part].get_mut(at).into_iter().for_each(|byte| *byte ^= bit);
        }
        wide @ 2..=5 => {
            let width = [1, 4, 8, 4][wide - 2];
            // Most numbers are at multiples of four.
            let at = if wide == 5 { at } else { at & !3 };
            let number = EDGES[script.byte()? % EDGES.len()].to_le_bytes();
            write(&mut parts[part], at, &number[..width]);
        }
        6 => add(&mut parts[part], at & !3, script.byte()? as u8 as i8),
        7 => {
            let count = script.byte()? % 17;
            write(&mut parts[part], at, script.take(count)?);
        }
        8 => {
            let count = script.byte()? % 17;
            drop(parts[part].splice(at..at, script.take(count)?.to_vec()));
        }
        9 => drop(parts[part].drain(at..(at + script.byte()?).min(length))),
        10 => {
            let (from, count) = (script.word()? % (length + 1), script.byte()?);
            let piece = parts[part][from..(from + count).min(length)].to_vec();
            write(&mut parts[part], at, &piece);
        }
        11 => {
            let (other, from, count) = (script.byte()? % parts.len(), script.word()?, script.byte()?);
            let from = from % (parts[other].len() + 1);
            let piece = parts[other][from..(from + count).min(parts[other].len())].to_vec();
            drop(parts[part].splice(at..at, piece));
        }
        12 => parts[part].truncate(at),
        _ => swap_words(&mut parts[part], at & !3, script.word()? & !3),
    }
    Some(())
}

/// Overwrites the existing bytes, up to the end of the part.
fn write(part: &mut [u8], at: usize, bytes: &[u8]) {
    let place = &mut part[at..];
    let count = bytes.len().min(place.len());
    place[..count].copy_from_slice(&bytes[..count]);
}

/// Slightly increases or decreases a four-byte number.
fn add(part: &mut [u8], at: usize, change: i8) {
    if let Some(word) = part.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<4>()) {
        *word = u32::from_le_bytes(*word).wrapping_add_signed(change.into()).to_le_bytes();
    }
}

/// Exchanges two words: references of rows, entries of an index.
fn swap_words(part: &mut [u8], one: usize, other: usize) {
    let other = (other % part.len().max(1)) & !3;
    for byte in 0..4 {
        if one.max(other) + byte < part.len() {
            part.swap(one + byte, other + byte);
        }
    }
}
