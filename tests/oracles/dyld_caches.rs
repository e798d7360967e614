//! dyld shared caches, compared with a reader in Python after the documented structures (`tests/oracle/dyld_cache.py`): two that Apple's builder
//! made, of the corpus, whose symbols llvm-nm also printed, and invented ones of every form.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};
use object::read::macho::DyldCache;
use object::{Endianness, Object, ObjectSymbol, SymbolKind};
use support::Rng;
use support::dyld_cache_writer::{CODE, CacheForm, CacheModel, CachedFunction, CachedImage, Visible};
use traceparse::files::{Entry, FileSystem, Files};
use traceparse::memory::MemoryBudget;
use traceparse::symbols::{Index, Locator, SymbolFinder};
use traceparse::units::Uuid;

use crate::programs::{corpus, has_python, in_corpus, oracle, python, said};

/// The caches of the corpus, and the number of functions that each must name.
const CACHES: [(&str, usize); 2] =
    [("dyld_shared_cache_arm64-macOS-1042.1", 4), ("dyld_shared_cache_arm64e-macOS-objc", 400)];
const MUTANTS: u64 = 2_000;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials![if corpus().is_some() && has_python(); both_readers_find_what_nm_printed];
    trials.extend(trials![if corpus().is_some(); object_finds_the_same_names, mutants_give_no_wrong_names]);
    trials.extend(trials![if has_python(); both_read_invented_caches_alike]);
    trials
}

fn in_cache(name: &str) -> PathBuf {
    in_corpus("symbols/dyld").join(name)
}

/// The names at each address of the code of an image, relative to its Mach-O header.
type Names = BTreeMap<u64, BTreeSet<String>>;

/// The UUID and path of an image.
type Key = (Uuid, String);

/// Reads a table with a header: path, address and name of each function in code.
fn expected(cache: &Path) -> Result<Vec<(String, u64, String)>, Failed> {
    let text = fs::read_to_string(format!("{}.expected.tsv", cache.display()))?;
    let row = |line: &str| match line.split('\t').collect::<Vec<_>>()[..] {
        [path, address, "T" | "t", name] => Some((path.to_owned(), hex(address), without_underscore(name))),
        _ => None,
    };
    Ok(text.lines().filter_map(row).collect())
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("a hexadecimal number")
}

fn without_underscore(name: &str) -> String {
    name.strip_prefix('_').unwrap_or(name).to_owned()
}

/// Queries the Python reader.
fn in_python(cache: &Path) -> Result<BTreeMap<Key, Names>, Failed> {
    let text = said(python().arg(crate::programs::repository("tests/oracle/dyld_cache.py")).arg(cache))?;
    let mut images: BTreeMap<Key, Names> = BTreeMap::new();
    for line in text.lines() {
        let [path, uuid, header, address, kind, name] = line.split('\t').collect::<Vec<_>>()[..] else {
            return Err(format!("not a row: {line}").into());
        };
        let uuid = Uuid::parse(uuid).ok_or("not a UUID")?;
        let names = images.entry((uuid, path.to_owned())).or_default();
        if matches!(kind, "T" | "t") {
            names.entry(hex(address) - hex(header)).or_default().insert(without_underscore(name));
        }
    }
    Ok(images)
}

/// The start and the names of the function at each address of an image.
type Answers = BTreeMap<u64, (u64, BTreeSet<String>)>;

fn answers(locator: &Locator<'_>, uuid: Uuid, size: u64) -> Result<(Answers, bool), Failed> {
    let addresses: Vec<u64> = (0..size).step_by(4).collect();
    let mut answers = Answers::new();
    let asked = locator.look_up(uuid, &addresses, &MemoryBudget::unlimited(), &mut |index, frames| {
        answers.remove(&addresses[index]);
        if let [frame] = frames {
            let names = frame.function.iter().chain(frame.aliases).map(|&name| name.to_owned()).collect();
            answers.insert(addresses[index], (addresses[index] - frame.offset.unwrap_or(0), names));
        }
    });
    let is_whole = asked.iter().all(|asked| asked.result.as_ref().is_ok_and(Vec::is_empty));
    Ok((answers, is_whole))
}

/// Checks that each start has the names of Python, that its function extends to the next start, and that all starts are found.
fn compare(cache: &Path) -> Result<usize, Failed> {
    let python = in_python(cache)?;
    let mut locator = Locator::new(&FileSystem);
    locator.add(cache, &mut Index::default())?;
    ensure!(locator.notes().is_empty(), "{:?}", locator.notes());
    ensure!(locator.found().len() >= python.len(), "{} images", locator.found().len());
    let mut count = 0;
    for ((uuid, path), names) in &python {
        let found = locator.found().iter().find(|found| found.uuid == *uuid).ok_or_else(|| format!("no {path}"))?;
        ensure!(found.image_path.as_ref() == Some(path), "{:?} for {path}", found.image_path);
        let (answers, is_whole) = answers(&locator, *uuid, found.text_size.unwrap_or(0))?;
        ensure!(is_whole, "{path} has a note");
        for (address, (start, ours)) in &answers {
            let theirs = names.get(start).cloned().unwrap_or_default();
            ensure!(*ours == theirs, "{path} {address:#x}, from {start:#x}: {ours:?}, {theirs:?}");
            let between = names.range((Bound::Excluded(start), Bound::Included(address))).next();
            ensure!(between.is_none(), "{path} {address:#x}: {ours:?} from {start:#x}, but {between:?}");
        }
        for (start, theirs) in names {
            ensure!(answers.get(start).is_some_and(|(own, _)| own == start), "{path} {start:#x}: no {theirs:?}");
            count += theirs.len();
        }
    }
    Ok(count)
}

fn both_readers_find_what_nm_printed() -> Result<(), Failed> {
    for (name, least) in CACHES {
        let cache = in_cache(name);
        let table = PathBuf::from(format!("{}.expected.tsv", cache.display()));
        oracle("dyld_cache.py", [&cache, &table])?;
        let count = compare(&cache)?;
        let mut locator = Locator::new(&FileSystem);
        locator.add(&cache, &mut Index::default())?;
        let rows = expected(&cache)?;
        ensure!(count >= least && rows.len() >= least, "{name}: {count} names, {} rows", rows.len());
        for (path, address, expected) in rows {
            let found = locator.found().iter().find(|found| found.image_path.as_ref() == Some(&path));
            let found = found.ok_or_else(|| format!("{name}: no {path}"))?;
            let offset = address - found.text_address.unwrap_or(0);
            let mut names = Vec::new();
            locator.look_up(found.uuid, &[offset], &MemoryBudget::unlimited(), &mut |_, frames| {
                let frame = frames[0];
                names = frame.function.iter().chain(frame.aliases).map(|&name| name.to_owned()).collect();
                names.retain(|_| frame.offset == Some(0));
            });
            ensure!(names.contains(&expected), "{path} {address:#x}: {names:?}, not {expected}");
        }
        println!("{name}: {count} names");
    }
    Ok(())
}

/// The crate `object` reads the symbol tables of images, without local symbols.
fn object_finds_the_same_names() -> Result<(), Failed> {
    for (name, least) in CACHES {
        let data = fs::read(in_cache(name))?;
        let cache: DyldCache<'_, Endianness> = DyldCache::parse(&*data, &[])?;
        let mut locator = Locator::new(&FileSystem);
        locator.add(&in_cache(name), &mut Index::default())?;
        let mut count = 0;
        for image in cache.images() {
            let object = image.parse_object()?;
            let uuid = object.mach_uuid()?.and_then(|uuid| Uuid::parse(&hexadecimal(&uuid))).ok_or("no UUID")?;
            let found = locator.found().iter().find(|found| found.uuid == uuid).ok_or("the image is not found")?;
            let start = found.text_address.ok_or("no address")?;
            let (answers, _) = answers(&locator, uuid, found.text_size.unwrap_or(0))?;
            for symbol in object.symbols().filter(|symbol| symbol.is_definition() && symbol.kind() == SymbolKind::Text)
            {
                let name = without_underscore(symbol.name()?);
                let Some((own, names)) = answers.get(&(symbol.address() - start)) else {
                    return Err(format!("{name} at {:#x} has no name", symbol.address()).into());
                };
                ensure!(start + own == symbol.address() && names.contains(&name), "{name}: {names:?} from {own:#x}");
                count += 1;
            }
        }
        ensure!(count > 0 && count <= least.max(1) * 4, "{name}: {count} symbols");
        println!("{name}: {count} symbols of object");
    }
    Ok(())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn both_read_invented_caches_alike() -> Result<(), Failed> {
    let visible = [Visible::External, Visible::Exported, Visible::Local, Visible::Stripped];
    for form in CacheForm::ALL {
        for has_locals in [true, false] {
            let mut rng = Rng::new(3);
            let image = |index: u8| CachedImage {
                path: format!("/System/Library/Image{index}"),
                uuid: [index; 16],
                functions: (0..200)
                    .map(|number| CachedFunction {
                        name: format!("_ZN{}image{index}{number}Ev", "x".repeat(number as usize % 7)),
                        offset: CODE + 16 * number,
                        visible: visible[rng.below(4) as usize],
                    })
                    .collect(),
            };
            let images = (1..6).map(image).collect();
            let model = CacheModel { form, images, has_locals, stride: 0x4000 };
            let folder = tempfile::tempdir()?;
            let path = folder.path().join("dyld_shared_cache_arm64e");
            for file in model.write() {
                fs::write(format!("{}{}", path.display(), file.suffix), file.bytes())?;
            }
            let count = compare(&path)?;
            ensure!(count > 400, "{form:?}: {count} names");
        }
    }
    Ok(())
}

/// One file in memory.
struct OneFile(Vec<u8>);

impl Files for OneFile {
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        match path == Path::new("cache") {
            true => Ok(Entry::File { length: self.0.len() as u64, modified: 1, changed: 1 }),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }

    fn list(&self, _: &Path) -> io::Result<Vec<PathBuf>> {
        Err(io::ErrorKind::NotADirectory.into())
    }

    fn read(&self, _: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        Ok(self.0.iter().skip(offset as usize).take(length).copied().collect())
    }
}

/// Changes a byte of a cache. An image with intact parts has the same names as before, or none.
fn mutants_give_no_wrong_names() -> Result<(), Failed> {
    for (name, _) in CACHES {
        let whole = OneFile(fs::read(in_cache(name))?);
        let mut first = Locator::new(&whole);
        first.add(Path::new("cache"), &mut Index::default())?;
        // Half of the changes are in nonzero bytes of the structures that describe the images.
        let busy: Vec<usize> = (0..whole.0.len()).filter(|&at| whole.0[at] != 0).collect();
        let images: Vec<_> = first.found().iter().map(|found| (found.uuid, found.text_size.unwrap_or(0))).collect();
        let mut right = BTreeMap::new();
        for &(uuid, size) in &images {
            right.insert(uuid, answers(&first, uuid, size.min(0x8000))?.0);
        }
        let (mut rng, mut same, mut fewer, mut other) = (Rng::new(9), 0, 0, 0);
        for _ in 0..MUTANTS {
            let at = match rng.one_in(2) {
                true => rng.below(0x600) as usize,
                false => busy[rng.below(busy.len() as u64) as usize],
            };
            let mut mutant = OneFile(whole.0.clone());
            mutant.0[at] ^= 1 << rng.below(8);
            let is_shared = at < 0x600;
            let mut locator = Locator::new(&mutant);
            locator.add(Path::new("cache"), &mut Index::default())?;
            for &(uuid, size) in &images {
                let (now, _) = answers(&locator, uuid, size.min(0x8000))?;
                match &right[&uuid] {
                    before if *before == now => same += 1,
                    before if now.iter().all(|(address, answer)| before.get(address) == Some(answer)) => fewer += 1,
                    _ => {
                        // Only changes in an image's own structures may change its names.
                        ensure!(!is_shared, "{name}: {uuid} has other names after a change at {at:#x}");
                        other += 1;
                    }
                }
            }
        }
        println!("{name}: {same} images with the same names, {fewer} with fewer, {other} with changed ones");
        ensure!(same > MUTANTS && other < same / 10, "{name}: {same}, {fewer}, {other}");
    }
    Ok(())
}
