//! A real recording: its export without a single name, named again from the archives that the recording itself holds,
//! against the names that Instruments gave it.
//!
//! The files are those of `TRACEPARSE_CORPUS`; without it the tests report themselves as ignored.

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};
use traceparse::files::{Entry, Files};
use traceparse::profile::Profile;
use traceparse::read;
use traceparse::recording::{Options, Recording};
use traceparse::symbolicate::SymbolicateOptions;
use traceparse::symbols::{Index, Locator, SourceKind};

pub(crate) fn trials() -> Vec<Trial> {
    let corpus = std::env::var_os("TRACEPARSE_CORPUS").map(PathBuf::from);
    let (is_missing, folder) = (corpus.is_none(), corpus.unwrap_or_default().join("xctrace/26.2"));
    let other = folder.clone();
    let trials = vec![
        trial!("archives_name_what_instruments_named", move || archives_name_the_frames(&folder)),
        trial!("names_of_the_export_stay", move || names_of_the_export_stay(&other)),
    ];
    trials.into_iter().map(|trial| trial.with_ignored_flag(is_missing)).collect()
}

/// The files of a zip archive, in memory.
struct Archive(HashMap<PathBuf, Vec<u8>>);

impl Archive {
    fn open(path: &Path) -> Result<Self, Failed> {
        let mut zip = zip::ZipArchive::new(std::fs::File::open(path)?)?;
        let mut files = HashMap::new();
        for index in 0..zip.len() {
            let mut file = zip.by_index(index)?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            if file.is_file() {
                files.insert(PathBuf::from(file.name()?.into_owned()), bytes);
            }
        }
        Ok(Self(files))
    }
}

impl Files for Archive {
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        match self.0.get(path) {
            Some(bytes) => Ok(Entry::File { length: bytes.len() as u64, modified: 1, changed: 1 }),
            None if self.0.keys().any(|file| file.starts_with(path)) => Ok(Entry::Folder),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let below = self.0.keys().filter_map(|file| file.strip_prefix(folder).ok()?.components().next());
        let mut paths: Vec<PathBuf> = below.map(|name| folder.join(name)).collect();
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    fn read(&self, path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let bytes = self.0.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(bytes.iter().skip(offset as usize).take(length).copied().collect())
    }
}

macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+).into());
        }
    };
}

/// The export; with `is_nameless`, every frame under its address.
fn export(folder: &Path, is_nameless: bool) -> Result<Recording, Failed> {
    let text = std::fs::read_to_string(folder.join("finder_cpu_profile.xml"))?;
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find("<frame id=").filter(|_| is_nameless) {
        let name = at + rest[at..].find("name=\"").ok_or("a frame without name")? + 6;
        let end = name + rest[name..].find('"').ok_or("an open name")?;
        let address = end + rest[end..].find("addr=\"").ok_or("a frame without address")? + 6;
        let address_end = address + rest[address..].find('"').ok_or("an open address")?;
        out.push_str(&rest[..name]);
        out.push_str(&rest[address..address_end]);
        out.push_str(&rest[end..address_end]);
        rest = &rest[address_end..];
    }
    out.push_str(rest);
    Ok(read(out.as_bytes(), "finder", &Options::default())?)
}

/// The names of the frames of every stack, leaf first, with their addresses.
fn names(profile: &Profile) -> Vec<(u64, String)> {
    let samples = profile.samples().iter().flat_map(|sample| profile.frames_leaf_first(sample.stack));
    samples.map(|frame| (frame.address.get(), profile.function_name(frame.function).to_owned())).collect()
}

fn named(folder: &Path, is_nameless: bool) -> Result<(Profile, Profile), Failed> {
    let archive = Archive::open(&folder.join("finder.trace.zip"))?;
    let mut locator = Locator::new(&archive);
    let found = locator.add(Path::new("finder.trace"), &mut Index::default())?;
    ensure!(found == 19, "{found} archives");
    ensure!(locator.found().iter().all(|found| found.kind == SourceKind::SymbolsArchive), "{:?}", locator.found());
    let given = export(folder, false)?.profile;
    let asked = if is_nameless { export(folder, true)?.profile } else { export(folder, false)?.profile };
    let (profile, summary) = asked.symbolicate(&locator, &SymbolicateOptions::default())?;
    let frames: u64 = summary.binaries.iter().map(|binary| binary.frames).sum();
    let now: u64 = summary.binaries.iter().map(|binary| binary.named_now).sum();
    ensure!((frames, now) == (433, 430), "{now} of {frames} named");
    let disagreements: u64 = summary.binaries.iter().map(|binary| binary.disagreements).sum();
    ensure!(disagreements == 0, "{disagreements} disagreements");
    Ok((given, profile))
}

/// 430 of the 433 distinct frames get a name, and the other 3 the address at which their function starts, as
/// Instruments has it: the archives know no more.
fn archives_name_the_frames(folder: &Path) -> Result<(), Failed> {
    let (given, profile) = named(folder, true)?;
    let (given, found) = (names(&given), names(&profile));
    ensure!(given.len() == found.len(), "{} frames, {} in the export", found.len(), given.len());
    let differing: Vec<_> = given.iter().zip(&found).filter(|(given, found)| given != found).collect();
    ensure!(differing.is_empty(), "{differing:#?}");
    Ok(())
}

fn names_of_the_export_stay(folder: &Path) -> Result<(), Failed> {
    let (given, profile) = named(folder, false)?;
    ensure!(names(&given) == names(&profile), "names changed");
    Ok(())
}
