//! The library's entry point for paths: takes a path and returns an analysis.

use std::path::Path;

use crate::analysis::Analysis;
use crate::error::Error;
use crate::files::FileSystem;
use crate::readers::input::{Input, InputFiles};
use crate::recording::{Options, RecordingBuilder};

/// Opens the recording at a path: an export, a `sample` report, or (with the feature `bundle`) a `.trace` bundle, as a folder or in a zip or tar
/// archive. Functions are named by the symbols in a bundle. The format is recognised by the content, not by the file name. With the feature
/// `compression`, the file may be compressed with gzip or zstd. If the input needs a feature that this build lacks, the error contains the line to
/// add to `Cargo.toml`.
///
/// Uses the default options: each sample is kept, and one thread reads.
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
/// If the file does not exist, has an unknown format, violates its format, or exceeds a limit.
pub fn open(path: impl AsRef<Path>) -> Result<Analysis, Error> {
    Analysis::open(path, &Options::default())
}

impl Analysis {
    /// Opens and reads an input like [`open`](fn@crate::open), with the given options.
    ///
    /// # Errors
    /// See [`open`](fn@crate::open).
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self, Error> {
        let path = path.as_ref();
        let mut files = InputFiles::new(&FileSystem, &options.memory);
        let place = files.find(path)?;
        let input = Input::open(&files, &place, options)?;
        let mut recording = RecordingBuilder::new(options.clone());
        input.read_into(&mut recording, &path.display().to_string())?;
        let mut analysis = Self::new(recording.finish()?);
        if let Some(stores) = input.symbol_stores() {
            let locator = analysis.locate(&files, &stores)?;
            analysis.add_located(&locator)?;
        }
        Ok(analysis)
    }
}
