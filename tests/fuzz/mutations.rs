//! Inputs without guidance: seeds that are changed, spliced and grown, by a number.
//!
//! A number always produces the same input, regardless of earlier inputs, so every input can be reproduced.

use support::Rng;

/// The material that inputs are made of.
pub(crate) struct Material {
    /// The corpus, in the order of names.
    pub(crate) seeds: Vec<Vec<u8>>,
    /// The words of the dictionary.
    pub(crate) words: Vec<Vec<u8>>,
    /// The longest input.
    pub(crate) longest: usize,
}

impl Material {
    /// The input of a number, in the series that `seed` begins.
    pub(crate) fn input(&self, seed: u64, number: u64) -> Vec<u8> {
        // Numbers next to each other give inputs that have nothing in common.
        let mut rng = Rng::new(Rng::new(seed).next_u64() ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut input = rng.pick(&self.seeds).clone();
        for _ in 0..1 << rng.below(5) {
            self.change(&mut input, &mut rng);
        }
        input.truncate(self.longest);
        input
    }

    fn change(&self, input: &mut Vec<u8>, rng: &mut Rng) {
        let length = input.len();
        let at = rng.index(length + 1);
        let end = (at + 1 + rng.index(32)).min(length).max(at);
        match rng.below(12) {
            0 | 1 => byte(input, at, |byte| byte ^ 1 << (at % 8)),
            2 => {
                let new = rng.next_u64() as u8;
                byte(input, at, |_| new);
            }
            3 => number(input, at, rng),
            4 => drop(input.drain(at..end)),
            5 => {
                let piece = input[at..end].to_vec();
                let to = rng.index(length + 1);
                drop(input.splice(to..to, piece));
            }
            6 => {
                let piece = input[at..end].to_vec();
                let to = rng.index(length + 1);
                let over = to..(to + piece.len()).min(length);
                drop(input.splice(over, piece));
            }
            7 => {
                let random: Vec<u8> = (0..1 + rng.below(12)).map(|_| rng.next_u64() as u8).collect();
                drop(input.splice(at..at, random));
            }
            8 | 9 if !self.words.is_empty() => {
                let word = rng.pick(&self.words).iter().copied();
                let end = if rng.one_in(2) { at } else { end };
                drop(input.splice(at..end, word));
            }
            10 => self.splice(input, at, rng),
            11 if rng.one_in(4) => input.truncate(at),
            _ => byte(input, at, |byte| byte.wrapping_add(if at.is_multiple_of(2) { 1 } else { 255 })),
        }
    }

    /// The start of this input, and the end of another seed.
    fn splice(&self, input: &mut Vec<u8>, at: usize, rng: &mut Rng) {
        let other = rng.pick(&self.seeds);
        let from = rng.index(other.len() + 1);
        input.truncate(at);
        input.extend_from_slice(&other[from..]);
    }
}

fn byte(input: &mut [u8], at: usize, new: impl FnOnce(u8) -> u8) {
    if let Some(byte) = input.get_mut(at) {
        *byte = new(*byte);
    }
}

/// Writes a number that is often on the wrong side of a check, in either order of bytes.
fn number(input: &mut [u8], at: usize, rng: &mut Rng) {
    let edges = [0, 1, 0x7f, 0x80, 0xff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, i64::MAX as u64, u64::MAX];
    let bytes = rng.pick(&edges).to_le_bytes();
    let width = 1 << rng.below(4);
    let is_reversed = rng.one_in(2);
    for index in 0..width {
        let new = bytes[if is_reversed { width - 1 - index } else { index }];
        byte(input, at + index, |_| new);
    }
}

/// The words of a dictionary as libFuzzer reads them: one a line, in quotes, with `\xNN`, `\\` and `\"`.
///
/// # Panics
/// When a line is not a word.
pub(crate) fn dictionary(text: &str) -> Vec<Vec<u8>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| word(line).unwrap_or_else(|| panic!("no word of a dictionary: {line}"))).collect()
}

fn word(line: &str) -> Option<Vec<u8>> {
    let quoted = line.get(line.find('"')? + 1..line.len() - 1).filter(|_| line.ends_with('"'))?;
    let (mut bytes, mut rest) = (Vec::new(), quoted.as_bytes());
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (b'\\', [b'x', high, low, after @ ..]) => {
                let digits = [*high, *low];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
                rest = after;
            }
            (b'\\', [escaped @ (b'\\' | b'"'), after @ ..]) => {
                bytes.push(*escaped);
                rest = after;
            }
            (b'\\', _) => return None,
            (byte, _) => bytes.push(*byte),
        }
    }
    Some(bytes)
}
