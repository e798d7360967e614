//! The library's entry point for paths: takes a path and returns an analysis.

#[cfg(feature = "fleet")]
use std::io;
use std::path::Path;

use crate::analysis::Analysis;
use crate::error::{Diagnostic, Error, ErrorKind};
use crate::files::FileSystem;
#[cfg(feature = "fleet")]
use crate::fleet::{FleetBuilder, FleetOptions, MeasureOptions, RunContext, compare::Side};
use crate::readers::input::{Input, InputFiles};
use crate::recording::{Options, RecordingBuilder};
use crate::tables::{EachRow, FieldValue, TableQuery};

/// Opens the recording at a path: an export, a `sample` report, or (with the feature `bundle`) a `.trace` bundle, as a folder or in a zip or tar
/// archive. If a bundle contains symbols, they name its functions. The format is recognised by the content, not by the file name. With the feature
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
///     println!("{:>12}  {}", function.self_weight, function.name.unwrap_or("[no stack recorded]"));
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

#[cfg(feature = "fleet")]
impl Side {
    /// Opens and measures the recordings at these paths, with default options.
    ///
    /// # Errors
    /// If a recording cannot be [opened](fn@crate::open) or has nothing to measure.
    pub fn of_files<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Self, Error> {
        let mut fleet = FleetBuilder::for_comparison(FleetOptions::default(), &[]);
        let options = MeasureOptions { with_stacks: true, ..MeasureOptions::default() };
        for path in paths {
            let source = path.as_ref().display().to_string();
            let context = RunContext { run_id: source.clone(), source: source.clone(), ..RunContext::default() };
            let measured = open(path)?.recording().measure(&context, &options);
            let measured = measured.map_err(|reason| Error::unreadable(source, io::Error::other(reason)))?;
            measured.runs.iter().for_each(|run| fleet.add(run));
        }
        Self::new(fleet).map_err(|error| Error::io(error, None))
    }
}

impl TableQuery {
    /// Reads the input at a path once, and calls `each` with the fields of every row that satisfies the conditions, by name. Rows have the
    /// order and the fields of their tables. Numbers have the unit of their [`Column`](crate::recording::Column), such as nanoseconds, and a stack
    /// is a string with its functions, leaf first. Returns diagnostics about everything that could not be read.
    ///
    /// ```no_run
    /// use traceparse::tables::TableQuery;
    ///
    /// let hangs = TableQuery { schema: "potential-hangs".to_owned(), ..TableQuery::default() };
    /// let notes = hangs.read("Recording.trace", |row| println!("{row:?}"))?;
    /// assert!(notes.is_empty(), "{notes:?}");
    /// # Ok::<(), traceparse::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`open`](fn@crate::open). Also [`ErrorKind::Query`] if there is no such table, if a table lacks a field of the query, or if the query
    /// sorts or limits rows, since that requires all rows.
    pub fn read(
        &self,
        path: impl AsRef<Path>,
        each: impl FnMut(&[(&str, FieldValue<'_>)]),
    ) -> Result<Vec<Diagnostic>, Error> {
        let fails = |reason: String| Error::new(ErrorKind::Query(reason), None);
        if self.sort.is_some() || self.top.is_some() {
            return Err(fails("rows are passed on as they are read; sort or limit them afterwards".to_owned()));
        }
        let (path, options) = (path.as_ref(), Options::default());
        let mut files = InputFiles::new(&FileSystem, &options.memory);
        let place = files.find(path)?;
        let input = Input::open(&files, &place, &options)?;
        let name = path.display().to_string();
        let mut rows = EachRow::new(self, &name, each);
        let mut recording = RecordingBuilder::new(options.clone());
        input.read_tables(&mut recording, &name, &mut rows)?;
        let found = rows.finish();
        let unreadable = found.check(self).map_err(fails)?.into_iter().map(Diagnostic::new);
        Ok(recording.finish()?.diagnostics.into_iter().chain(found.diagnostics).chain(unreadable).collect())
    }
}
