//! DWARF: edit scripts on the sections of small dSYMs, and look-ups of code with inlined functions.
//!
//! ```text
//! base [script]      which dSYM, then edits (`edits.rs`); parts are the DWARF sections, in the order of the file
//! ```
//!
//! A section that grows moves to the end of the file, and its header is updated.

use std::ops::Range;
use std::sync::LazyLock;

use traceparse::files::FileBytes;
use traceparse::symbols::Slice;

use super::{edits, look_ups};

macro_rules! dsym {
    ($path:literal) => {
        include_bytes!(concat!("../../../fixtures/symbols/built/", $path))
    };
}

/// DWARF 4 and 5, of C, C++, Objective-C and Rust.
const DSYMS: [&[u8]; 8] = [
    dsym!("inlining/Inlining.dSYM/Contents/Resources/DWARF/Inlining"),
    dsym!("names/Names.dSYM/Contents/Resources/DWARF/Names"),
    dsym!("noreturn/NoReturn.dSYM/Contents/Resources/DWARF/NoReturn"),
    dsym!("arm64-dwarf4/Demo.dSYM/Contents/Resources/DWARF/Demo"),
    dsym!("arm64-dwarf5/Demo5.dSYM/Contents/Resources/DWARF/Demo5"),
    dsym!("x86_64-dwarf4/Demo.dSYM/Contents/Resources/DWARF/Demo"),
    dsym!("rust/Shapes.dSYM/Contents/Resources/DWARF/Shapes"),
    dsym!("objcxx/Widgets.dSYM/Contents/Resources/DWARF/Widgets"),
];

/// The number of bases.
pub(crate) const BASE_COUNT: usize = DSYMS.len();

/// A section: where it is in the file, and where its header is.
struct Section {
    range: Range<usize>,
    header: usize,
}

struct Base {
    file: &'static [u8],
    sections: Vec<Section>,
    parts: Vec<Vec<u8>>,
    /// Addresses of functions, inlined ones most of all; sorted.
    addresses: Vec<u64>,
}

static BASES: LazyLock<Vec<Base>> = LazyLock::new(|| DSYMS.iter().map(|file| base(file)).collect());

fn base(file: &'static [u8]) -> Base {
    let sections = sections(file);
    let parts = sections.iter().map(|section| file[section.range.clone()].to_vec()).collect();
    let every: Vec<u64> = (0..0x9000).step_by(4).collect();
    let bytes = FileBytes::from(file);
    let symbols = slice(file).symbols(&bytes).expect("a whole dSYM");
    let (answers, notes) = look_ups::look_up(&symbols, &every);
    assert!(notes.is_empty(), "{notes:?}");
    let depths = answers.iter().map(|answer| answer.as_ref().map_or(0, Vec::len));
    let known: Vec<(u64, usize)> = every.iter().copied().zip(depths).filter(|&(_, depth)| depth > 0).collect();
    let inlined = known.iter().filter(|&&(_, depth)| depth > 1);
    let mut addresses: Vec<u64> = inlined.step_by(3).take(12).map(|&(at, _)| at).collect();
    addresses.extend(known.iter().step_by(known.len().div_ceil(12)).map(|&(at, _)| at));
    addresses.extend([0, 1, u64::from(u32::MAX), u64::MAX]);
    addresses.sort_unstable();
    addresses.dedup();
    assert!(addresses.len() > 12, "a base answers something");
    Base { file, sections, parts, addresses }
}

fn slice(file: &[u8]) -> Slice {
    Slice::all(file).expect("headers are whole").swap_remove(0)
}

fn number(file: &[u8], at: usize) -> usize {
    u32::from_le_bytes(*file[at..].first_chunk().expect("headers are whole")) as usize
}

/// The sections of the segment `__DWARF` of a thin file of 64 bits.
fn sections(file: &[u8]) -> Vec<Section> {
    let (mut command, mut found) = (32, Vec::new());
    for _ in 0..number(file, 16) {
        if number(file, command) == 0x19 && file[command + 8..].starts_with(b"__DWARF\0") {
            let headers = (0..number(file, command + 64)).map(|index| command + 72 + index * 80);
            found.extend(headers.map(|header| {
                let (size, offset) = (number(file, header + 40), number(file, header + 48));
                Section { range: offset..offset + size, header }
            }));
        }
        command += number(file, command + 4);
    }
    assert!(found.len() > 4, "a dSYM has sections");
    found
}

/// The file with these sections.
fn assembled(base: &Base, parts: &[Vec<u8>]) -> Vec<u8> {
    let mut file = base.file.to_vec();
    for (section, part) in base.sections.iter().zip(parts) {
        let offset = if part.len() <= section.range.len() { section.range.start } else { file.len() };
        file.resize(file.len().max(offset + part.len()), 0);
        file[offset..offset + part.len()].copy_from_slice(part);
        file[section.header + 40..][..8].copy_from_slice(&(part.len() as u64).to_le_bytes());
        file[section.header + 48..][..4].copy_from_slice(&(offset as u32).to_le_bytes());
    }
    file
}

/// # Panics
/// When something does not hold.
pub(crate) fn check(input: &[u8]) {
    let Some((&base, script)) = input.split_first() else { return };
    let base = &BASES[usize::from(base) % BASES.len()];
    let mut parts = base.parts.clone();
    edits::apply(script, &mut parts);
    let file = assembled(base, &parts);
    let bytes = FileBytes::from(file.as_slice());
    let Ok(symbols) = slice(&file).symbols(&bytes) else { return };
    look_ups::check(&symbols, &base.addresses, script.len());
}
