//! Changed names: none may panic, and time, memory and output stay in bounds.
//!
//! `TRACEPARSE_DEMANGLE_NAMES` is a file with names, one per line, to change instead of the names in the tests;
//! `TRACEPARSE_DEMANGLE_MUTANTS_OUT` is a file to write them to, for other demanglers.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::{Duration, Instant};

use traceparse::demangle::{Demangler, Error};

/// xorshift64*
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit.max(1) as u64).unwrap_or(0)
    }
}

const MAX_OUTPUT: usize = 1 << 16;

const LETTERS: &[u8] = b"_ZNKSTIEJLXDPROFMCGAUQrlvijcbmd0123456789npstWBaxyz";

/// A name with one to four changes.
fn mutant(names: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut name = names[random.below(names.len())].clone();
    for _ in 0..=random.below(6) / 3 {
        let at = random.below(name.len());
        let length = random.below(24).min(name.len() - at);
        match random.below(8) {
            0 => name[at..].iter_mut().take(1).for_each(|byte| *byte = LETTERS[random.below(LETTERS.len())]),
            1 => name.insert(at, LETTERS[random.below(LETTERS.len())]),
            2 => drop(name.drain(at..at + length)),
            3 => name.truncate(at),
            // Again, once or many times.
            4 => {
                let part = name[at..at + length].repeat(1 + random.below(3) * random.below(20));
                name.splice(at..at, part);
            }
            5 => {
                let other = &names[random.below(names.len())];
                let start = random.below(other.len());
                let part = other[start..].iter().copied().take(length + 8).collect::<Vec<u8>>();
                name.splice(at..at, part);
            }
            6 => {
                let index = LETTERS[random.below(LETTERS.len())];
                name.splice(at..at, [b'S', index, b'_']);
            }
            _ => {
                let other = &names[random.below(names.len())];
                let start = random.below(other.len());
                name.truncate(at);
                name.extend_from_slice(&other[start..]);
            }
        }
        if name.len() < 2 {
            break;
        }
    }
    name
}

fn names() -> Vec<Vec<u8>> {
    let text = match std::env::var("TRACEPARSE_DEMANGLE_NAMES") {
        Ok(path) => std::fs::read_to_string(path).expect("the file of names can be read"),
        Err(_) => include_str!("../demangle/names.tsv").to_owned(),
    };
    let names = text.lines().map(|line| line.split('\t').next().unwrap_or("").as_bytes().to_vec());
    names.filter(|name| name.len() > 3).collect()
}

#[test]
fn mutants_keep_their_limits() {
    let names = names();
    let count = support::rounds(200_000);
    let mut out = std::env::var("TRACEPARSE_DEMANGLE_MUTANTS_OUT")
        .ok()
        .map(|path| BufWriter::new(File::create(path).expect("out")));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let demangler = Demangler::new(MAX_OUTPUT);
    let (mut read, mut deep, mut long) = (0_u64, 0_u64, 0_u64);
    let (mut slowest, mut slowest_name, mut largest) = (Duration::ZERO, String::new(), 0);
    for _ in 0..count {
        let name = String::from_utf8_lossy(&mutant(&names, &mut random)).into_owned();
        let start = Instant::now();
        match demangler.demangle_cpp(&name) {
            Ok(text) => {
                read += 1;
                largest = largest.max(text.len());
            }
            Err(Error::TooDeep) => deep += 1,
            Err(Error::TooLong) => long += 1,
            Err(_) => {}
        }
        if start.elapsed() > slowest {
            // Another program may have been in the way.
            let took = fastest_of_three(demangler, &name);
            if took > slowest {
                (slowest, slowest_name) = (took, name.clone());
            }
        }
        if let Some(out) = &mut out {
            writeln!(out, "{name}").expect("out");
        }
    }
    println!("{count} mutants: {read} read, {deep} too deep, {long} too long");
    println!("largest output: {largest} bytes");
    println!("slowest: {slowest:?} for {} bytes: {slowest_name}", slowest_name.len());
    assert!(read > 0, "some mutants are well-formed");
    assert!(largest <= MAX_OUTPUT);
    // Generous, since other tests run at the same time.
    assert!(slowest < Duration::from_millis(500), "{slowest:?}: {slowest_name}");
}

fn fastest_of_three(demangler: Demangler, name: &str) -> Duration {
    let mut took = Duration::MAX;
    for _ in 0..3 {
        let start = Instant::now();
        let _ = demangler.demangle_cpp(name);
        took = took.min(start.elapsed());
    }
    took
}
