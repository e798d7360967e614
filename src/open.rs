//! The one door of the library to files: a path in, an analysis out.

use std::path::Path;

use crate::analysis::Analysis;
use crate::error::Error;
use crate::files::FileSystem;
use crate::readers::input::{Input, InputFiles};
use crate::recording::{Options, RecordingBuilder};

/// Opens the recording at a path: an export, a report of `sample`, and with the feature `bundle` a `.trace` bundle, as a folder or in a zip
/// or tar, whose own symbols name its functions. Its content tells the format, never its name. With the feature `compression` it may be
/// compressed with gzip or zstd. Input that needs a feature which this build lacks is an error that names the feature.
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
    let mut files = InputFiles::new(&FileSystem, &options.memory);
    let place = files.find(path)?;
    let input = Input::open(&files, &place, options)?;
    let mut recording = RecordingBuilder::new(options.clone());
    input.read_into(&mut recording, &path.display().to_string())?;
    let analysis = Analysis::new(recording.finish()?);
    match input.symbol_stores() {
        #[cfg(feature = "bundle")]
        Some(stores) => name_frames(analysis, &files, &stores),
        _ => Ok(analysis),
    }
}

/// The same recording with the names that it keeps.
#[cfg(feature = "bundle")]
fn name_frames(mut analysis: Analysis, files: &InputFiles<'_>, stores: &Path) -> Result<Analysis, Error> {
    use crate::error::ErrorKind;
    use crate::profile::RebuildError;
    use crate::symbolicate::SymbolicateOptions;
    use crate::symbols::{Index, Locator};

    let mut locator = Locator::new(files).within(analysis.recording().profile.budget());
    locator.add(stores, &mut Index::default()).map_err(|source| {
        let kind = ErrorKind::Unreadable { file: stores.display().to_string() };
        Error { source: Some(Box::new(source)), ..Error::new(kind, None) }
    })?;
    match analysis.symbolicate(&locator, &SymbolicateOptions::default()) {
        Ok(_) => Ok(analysis),
        Err(RebuildError::Memory(over)) => Err(Error::memory(over, None)),
        Err(other) => Err(Error::new(ErrorKind::Limit(other.to_string()), None)),
    }
}
