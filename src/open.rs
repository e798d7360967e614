//! The one door of the library to files: a path in, an analysis out.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::analysis::Analysis;
use crate::error::{Error, ErrorKind};
use crate::files::{Entry, FileSystem, Files};
#[cfg(feature = "bundle")]
use crate::readers::bundle::{ArchiveLimits, Bundle, BundleFiles};
use crate::recording::Options;

/// Opens the recording at a path: an export, a report of `sample`, and with the feature `bundle` a `.trace` bundle, as a folder or in a zip
/// or tar, whose own symbols name its functions. Its content tells the format, never its name. With the feature `compression` it may be
/// compressed with gzip or zstd.
///
/// The usual options count: each sample is kept, one thread reads.
///
/// ```no_run
/// use traceparse::report::{ReportOptions, View};
///
/// let analysis = traceparse::open("Recording.trace")?;
/// let report = analysis.report(&ReportOptions { view: View::Functions, ..ReportOptions::default() });
/// for function in report.series.iter().flat_map(|series| report.named_functions(series)).take(5) {
///     println!("{:>12} {}  {}", function.self_weight, function.unit, function.name.unwrap_or("[no stack recorded]"));
/// }
/// # Ok::<(), traceparse::Error>(())
/// ```
///
/// # Errors
/// When there is no file, when no reader knows its format, and when it breaks the rules of its format or passes a limit.
pub fn open(path: impl AsRef<Path>) -> Result<Analysis, Error> {
    open_with(path, &Options::default())
}

/// The same with these options.
///
/// # Errors
/// As [`open`].
pub fn open_with(path: impl AsRef<Path>, options: &Options) -> Result<Analysis, Error> {
    let path = path.as_ref();
    #[cfg(feature = "bundle")]
    if let Some(analysis) = open_bundle(path, options)? {
        return Ok(analysis);
    }
    let name = path.display().to_string();
    match FileSystem.entry(path) {
        Ok(Entry::Folder) => {
            Err(Error::new(ErrorKind::NotAnExport(format!("{name} is a folder, and no recording")), None))
        }
        Ok(_) => read_file(path, &name, options),
        Err(error) => Err(unreadable(&name, error)),
    }
}

/// Reads a file that is no bundle.
fn read_file(path: &Path, name: &str, options: &Options) -> Result<Analysis, Error> {
    let file = FileReader { path: path.to_owned(), offset: 0 };
    #[cfg(feature = "compression")]
    let file = crate::decompress(file).map_err(|error| unreadable(name, error))?;
    Ok(Analysis::new(crate::readers::read(file, name, options)?))
}

/// The recording at a path with the names that it keeps; `None` for what is no bundle.
#[cfg(feature = "bundle")]
fn open_bundle(path: &Path, options: &Options) -> Result<Option<Analysis>, Error> {
    let limits = ArchiveLimits { memory: options.memory.clone(), ..ArchiveLimits::default() };
    let mut files = BundleFiles::with_limits(&FileSystem, limits);
    let Some(found) = files.mount(path)? else { return Ok(None) };
    let bundle = Bundle::open(&files, &found, options)?;
    let mut recording = crate::recording::RecordingBuilder::new(options.clone());
    bundle.read_into(&mut recording, &path.display().to_string())?;
    let mut analysis = Analysis::new(recording.finish()?);
    let stores = bundle.symbol_stores();
    if matches!(files.entry(&stores), Ok(Entry::Folder)) {
        name_frames(&mut analysis, &files, &stores)?;
    }
    Ok(Some(analysis))
}

#[cfg(feature = "bundle")]
fn name_frames(analysis: &mut Analysis, files: &dyn Files, stores: &Path) -> Result<(), Error> {
    use crate::profile::RebuildError;
    use crate::symbols::{Index, Locator};

    let mut locator = Locator::new(files).within(analysis.recording().profile.budget());
    let found = locator.add(stores, &mut Index::default());
    found.map_err(|error| unreadable(&stores.display().to_string(), error))?;
    match analysis.symbolicate(&locator, &crate::symbolicate::SymbolicateOptions::default()) {
        Ok(_) => Ok(()),
        Err(RebuildError::Memory(over)) => Err(Error::memory(over, None)),
        Err(other) => Err(Error::new(ErrorKind::Limit(other.to_string()), None)),
    }
}

fn unreadable(file: &str, source: io::Error) -> Error {
    let kind = ErrorKind::Unreadable { file: file.to_owned() };
    Error { source: Some(Box::new(source)), ..Error::new(kind, None) }
}

/// A file from its start to its end.
struct FileReader {
    path: PathBuf,
    offset: u64,
}

impl Read for FileReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = FileSystem.read_into(&self.path, self.offset, buffer)?;
        self.offset += count as u64;
        Ok(count)
    }
}
