//! Symbol files of every kind: found by a locator, and used for look-ups.
//!
//! ```text
//! base [script]      edits (`edits.rs`) on one of `BASES`; parts are the first 4 KiB of each slice, and what follows. Of a dyld shared cache in
//!                    several files, parts are the files
//! 80   bytes         the file itself; any first byte from 80 on
//! ```

use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use traceparse::files::{Entry, Files};
use traceparse::memory::MemoryBudget;
use traceparse::symbols::{AppleImage, BreakpadFile, Found, Index, Locator, Slice, SourceKind, SymbolFinder, Symbols};
use traceparse::units::Uuid;

use super::{edits, look_ups};
use support::Rng;
use support::apple_symbols_model::random_image;
use support::bundle::apple_symbols_writer::{Form, write_container, write_record};
use support::dyld_cache_writer::{CODE, CacheForm, CacheModel, CachedFunction, CachedImage, Visible};

/// Mach-O files: with DWARF, with a symbol table, with only function starts; thin and fat.
const MACHO: [&[u8]; 5] = [
    include_bytes!("../../../fixtures/symbols/built/several-files/Several.dSYM/Contents/Resources/DWARF/Second"),
    include_bytes!("../../../fixtures/symbols/built/fat/FatDemo.dSYM/Contents/Resources/DWARF/FatDemo"),
    include_bytes!("../../../fixtures/symbols/built/x86_64-dwarf4/Demo"),
    include_bytes!("../../../fixtures/symbols/built/bare/Inlining"),
    include_bytes!("../../../fixtures/symbols/built/bare/Demo-stripped"),
];

/// An intact file, and addresses for which it has an answer.
struct Base {
    /// The names of the files; empty if the parts are one file.
    names: Vec<String>,
    parts: Vec<Vec<u8>>,
    addresses: Vec<u64>,
}

static BASES: LazyLock<Vec<Base>> = LazyLock::new(|| {
    let mut files: Vec<Vec<u8>> = MACHO.iter().map(|file| file.to_vec()).collect();
    for (seed, form) in Form::ALL.into_iter().enumerate() {
        let mut rng = Rng::new(seed as u64);
        files.push(write_record(&random_image(&mut rng, 4), form));
        let images = [random_image(&mut rng, 2), random_image(&mut rng, 3)];
        files.push(write_container(&images, form, 7));
    }
    // A Breakpad file, made from the first one.
    files.push(written(&files[0]));
    files.into_iter().map(base).chain(CacheForm::ALL.map(cache)).collect()
});

/// The Breakpad file of the first image.
fn written(file: &[u8]) -> Vec<u8> {
    let file = support::breakpad::OneFile(file.to_vec());
    let locator = file.locator();
    support::breakpad::written(&locator, locator.found()[0].uuid).expect("a whole file")
}

/// The number of bases.
pub(crate) fn base_count() -> usize {
    BASES.len()
}

const HEAD: usize = 4_096;

fn base(file: Vec<u8>) -> Base {
    let starts = Slice::all(&file).unwrap_or_default();
    let mut cuts: Vec<usize> = starts.iter().map(|slice| slice.range.start as usize).collect();
    cuts.extend(cuts.clone().into_iter().map(|start| start + HEAD));
    // Edits rarely hit the first line of a text file. Without this line, it is not a symbol file.
    let line = file.iter().position(|&byte| byte == b'\n').filter(|_| file.starts_with(b"MODULE "));
    cuts.extend([0, line.map_or(0, |end| end + 1), file.len()]);
    cuts.retain(|&cut| cut <= file.len());
    cuts.sort_unstable();
    cuts.dedup();
    let parts = cuts.windows(2).map(|cuts| file[cuts[0]..cuts[1]].to_vec()).collect();
    Base { names: Vec::new(), parts, addresses: answered(&[(FILE.to_owned(), file)]) }
}

/// A dyld shared cache of two images.
fn cache(form: CacheForm) -> Base {
    let visible = [Visible::External, Visible::Exported, Visible::Local, Visible::Stripped];
    let image = |number: u8| CachedImage {
        path: format!("/usr/lib/lib{number}.dylib"),
        uuid: [number + 1; 16],
        functions: visible
            .into_iter()
            .enumerate()
            .map(|(index, visible)| CachedFunction {
                name: format!("function_{number}_{index}"),
                offset: CODE + 0x100 * index as u64,
                visible,
            })
            .collect(),
    };
    let model = CacheModel { form, images: vec![image(0), image(1)], has_locals: true, stride: 0x3000 };
    let files: Vec<(String, Vec<u8>)> =
        model.write().iter().map(|file| (format!("{FILE}{}", file.suffix), file.bytes())).collect();
    let addresses = answered(&files);
    let (names, parts) = files.into_iter().unzip();
    Base { names, parts, addresses }
}

/// Some addresses for which an intact file has an answer, and some without an answer. A file without names answers none of them.
fn answered(files: &[(String, Vec<u8>)]) -> Vec<u64> {
    let every: Vec<u64> = (0..0x9000).step_by(4).collect();
    let mut found = Vec::new();
    for_each_image(files, &mut |_, symbols| {
        let (answers, _) = look_ups::look_up(symbols, &every);
        let known: Vec<u64> = every.iter().zip(answers).filter_map(|(&at, answer)| answer.map(|_| at)).collect();
        found.extend(known.iter().copied().step_by(known.len().div_ceil(8).max(1)));
    });
    if found.is_empty() {
        found.extend((0..0x9000).step_by(0xa00));
    }
    with_edges(found)
}

fn with_edges(mut addresses: Vec<u64>) -> Vec<u64> {
    addresses.extend([0, 1, 0x7fff_ffff, u64::from(u32::MAX), u64::MAX]);
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

/// # Panics
/// If a check fails.
pub(crate) fn check(input: &[u8]) {
    let Some((&form, rest)) = input.split_first() else { return };
    if form >= 0x80 {
        let file = vec![(FILE.to_owned(), rest.to_vec())];
        return check_files(&file, &with_edges((0..0x1000).step_by(0x150).collect()), rest.len());
    }
    let base = &BASES[usize::from(form) % BASES.len()];
    let mut parts = base.parts.clone();
    edits::apply(rest, &mut parts);
    let files = match base.names.is_empty() {
        true => vec![(FILE.to_owned(), parts.concat())],
        // A part that was removed takes the last file away.
        false => base.names.iter().cloned().zip(parts).collect(),
    };
    check_files(&files, &base.addresses, rest.len());
}

fn check_files(files: &[(String, Vec<u8>)], addresses: &[u64], choice: usize) {
    for (_, file) in files {
        let _ = Slice::all(file);
        if let Err(error) = AppleImage::all(file) {
            assert!(error.at <= file.len() as u64, "{error:?}");
        }
    }
    for_each_image(files, &mut |_, symbols| look_ups::check(symbols, addresses, choice));
    check_finder(files, addresses);
}

/// Opens the files that a locator finds, if they are not broken.
fn for_each_image(files: &[(String, Vec<u8>)], ask: &mut dyn FnMut(&Found, &dyn Symbols)) {
    let files = InMemory(files);
    let mut locator = Locator::new(&files);
    let count = locator.add(Path::new(FOLDER), &mut Index::default()).expect("a folder");
    assert_eq!(count, locator.found().len());
    for found in locator.found().iter().take(4) {
        // A broken file is refused with a reason.
        let asked = found.with_symbols(&files, &MemoryBudget::unlimited(), |symbols| {
            ask(found, symbols);
            Vec::new()
        });
        asked.err().into_iter().for_each(|error| assert!(!error.to_string().is_empty()));
    }
}

/// Checks that an index of files finds the same as the files themselves, and that every image is found by its UUID.
fn check_finder(files: &[(String, Vec<u8>)], addresses: &[u64]) {
    let files = InMemory(files);
    let find = |index: &mut Index| {
        let mut locator = Locator::new(&files);
        locator.add(Path::new(FOLDER), index).expect("a folder");
        (locator.found().to_vec(), locator.notes().to_vec())
    };
    let mut index = Index::default();
    let first = find(&mut index);
    assert_eq!(find(&mut Index::from_bytes(index.to_bytes())), first, "with what was remembered");
    let mut locator = Locator::new(&files);
    for (name, _) in files.0 {
        locator.add(Path::new(name), &mut index).expect("a file");
    }
    assert_eq!(locator.found(), first.0, "as a file");
    for found in first.0.iter().take(2) {
        let mut answered = 0;
        let asked = locator.look_up(found.uuid, addresses, &MemoryBudget::unlimited(), &mut |_, frames| {
            answered += frames.len();
        });
        assert!(asked.iter().any(|asked| asked.found == *found) || answered > 0, "{found:?}");
        check_written(&locator, found.uuid, addresses);
    }
}

/// Checks that a written Breakpad file can be read, and contains the names of its sources that are intact.
fn check_written(locator: &Locator<'_>, uuid: Uuid, addresses: &[u64]) {
    let Ok(file) = BreakpadFile::read(locator, uuid, &MemoryBudget::unlimited(), &mut |_, _| {}) else { return };
    let mut bytes = Vec::new();
    file.write(&mut bytes).expect("memory can be written");
    let written = support::breakpad::OneFile(bytes);
    let expected = support::breakpad::answers(locator, uuid, addresses).expect("it was read");
    let found = support::breakpad::answers(&written.locator(), uuid, addresses).expect("a file of ours");
    // Segments of broken `.symbols` files may overlap, so that one address in the file is several in the image.
    let is_apple = |found: &Found| matches!(found.kind, SourceKind::Symbols | SourceKind::SymbolsArchive);
    let is_whole = file.notes().is_empty() && !locator.find(uuid).iter().any(is_apple);
    for ((address, expected), found) in addresses.iter().zip(&expected).zip(&found).filter(|_| is_whole) {
        let is_same = support::breakpad::is_same(expected, found);
        assert!(is_same, "{address:#x}: {found:?} was written for {expected:?}");
    }
}

const FOLDER: &str = "/symbols";
const FILE: &str = "/symbols/file";

/// A folder with files that never change.
struct InMemory<'a>(&'a [(String, Vec<u8>)]);

impl InMemory<'_> {
    fn file(&self, path: &Path) -> io::Result<&[u8]> {
        let found = self.0.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, bytes)| bytes.as_slice()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Files for InMemory<'_> {
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        match path.to_str() {
            Some(FOLDER) => Ok(Entry::Folder),
            _ => Ok(Entry::File { length: self.file(path)?.len() as u64, modified: 1, changed: 1 }),
        }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }

    fn list(&self, _: &Path) -> io::Result<Vec<PathBuf>> {
        Ok(self.0.iter().map(|(name, _)| PathBuf::from(name)).collect())
    }

    fn read(&self, path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let rest =
            usize::try_from(offset).ok().and_then(|offset| self.file(path).ok()?.get(offset..)).unwrap_or_default();
        Ok(rest[..rest.len().min(length)].to_vec())
    }
}
