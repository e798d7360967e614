//! The dSYMs of the corpus, and addresses to look up in them.

use std::fs;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind};
use traceparse::Diagnostic;
use traceparse::files::FileBytes;
use traceparse::symbols::{Slice, SymbolFrame, Symbols};

/// A frame in our answer, with owned strings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    pub function: Option<String>,
    pub linkage_name: Option<String>,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub is_inlined: bool,
}

impl From<&SymbolFrame<'_>> for Frame {
    fn from(frame: &SymbolFrame<'_>) -> Self {
        Self {
            function: frame.function.map(str::to_owned),
            linkage_name: frame.linkage_name.map(str::to_owned),
            file: frame.file.map(str::to_owned),
            line: frame.line,
            column: frame.column,
            is_inlined: frame.is_inlined,
        }
    }
}

/// All Mach-O files below a folder, sorted.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if fs::read(&path).is_ok_and(|bytes| Slice::all(&bytes).is_ok()) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The frames of each address; empty if nothing is known.
pub fn look_up(file: &[u8], slice: &Slice, addresses: &[u64]) -> std::io::Result<(Vec<Vec<Frame>>, Vec<Diagnostic>)> {
    let mut answers = vec![Vec::new(); addresses.len()];
    let file = FileBytes::from(file);
    let notes = slice.symbols(&file)?.look_up(addresses, &mut |index, frames| {
        assert!(answers[index].is_empty(), "two answers for one address");
        assert!(!frames.is_empty(), "an answer without frames");
        answers[index] = frames.iter().map(Frame::from).collect();
    });
    Ok((answers, notes))
}

/// The bytes of a slice.
pub fn bytes_of<'a>(file: &'a [u8], slice: &Slice) -> &'a [u8] {
    &file[slice.range.start as usize..slice.range.end as usize]
}

/// About `count` addresses of a slice, relative to its `__TEXT`, sorted and distinct. Half of them are starts of symbols of any kind (and
/// one byte around them). The others are spread over sections with instructions, at odd distances, so they have all alignments.
pub fn addresses(file: &[u8], slice: &Slice, count: usize) -> Vec<u64> {
    let object = object::File::parse(bytes_of(file, slice)).expect("a Mach-O file");
    let mut symbols: Vec<u64> =
        object.symbols().filter(|s| s.kind() != SymbolKind::Unknown).map(|s| s.address()).collect();
    symbols.sort_unstable();
    symbols.dedup();
    let stride = (symbols.len() * 3 / count).max(1);
    let mut found: Vec<u64> =
        symbols.iter().step_by(stride).flat_map(|&start| [start.saturating_sub(1), start, start + 1]).collect();
    found.truncate(count / 2);
    let code: Vec<(u64, u64)> = object
        .sections()
        .filter(|section| matches!(section.flags(), SectionFlags::MachO { flags, .. } if flags.0 & 0x8000_0400 != 0))
        .map(|section| (section.address(), section.size()))
        .collect();
    let total: u64 = code.iter().map(|section| section.1).sum();
    let wanted = (count - found.len()) as u64;
    for (start, size) in code {
        let share = (wanted * size / total.max(1)).min(size);
        found.extend((0..share).map(|index| start + (u128::from(index) * u128::from(size) / u128::from(share)) as u64));
    }
    found.sort_unstable();
    found.dedup();
    found.into_iter().filter_map(|address| address.checked_sub(slice.text_address)).collect()
}
