//! Readers convert bytes to a recording. Each format has its own folder, which does not depend on the others.

#[cfg(feature = "bundle")]
pub mod bundle;
pub(crate) mod crash;
pub(crate) mod dart;
pub(crate) mod deep_copy;
pub(crate) mod dottrace;
pub(crate) mod export;
mod formats;
mod images;
pub(crate) mod input;
pub(crate) mod json;
mod lines;
pub(crate) mod metrickit;
pub(crate) mod names;
mod rounded;
pub(crate) mod sample;
pub(crate) mod spindump;
mod stack_sums;
mod stop;
mod well_formed;
pub(crate) mod workbench;
mod xml;

use std::io::{self, Read};

use crate::error::{Error, ErrorKind, Position};
use crate::recording::{Intervals, Options, Recording, RecordingBuilder};
use crate::tables::{IntervalVisitor, TableVisitor};
use formats::Reader;

impl RecordingBuilder {
    /// Reads an input in any format, which is recognised by its first bytes. `name` identifies the input in results and errors.
    ///
    /// Decompress compressed inputs first, for example with `decompress` from the feature `compression`. Compressed input is rejected with an error
    /// that explains what to do.
    ///
    /// # Errors
    /// If the format is unknown, or the input violates its format or exceeds a limit. Do not use the builder after an error.
    pub fn read<R: Read + Send>(&mut self, mut source: R, name: &str) -> Result<(), Error> {
        let mut head = Vec::with_capacity(formats::HEAD);
        let failure = source.by_ref().take(formats::HEAD as u64).read_to_end(&mut head).err();
        let reader = Reader::of(&head);
        // A table can be chosen only in exports and recordings.
        let lacks_table = reader != Reader::Export && self.options.table.is_some();
        if let Some(what) = if lacks_table { formats::describe(&head) } else { formats::packed(&head) } {
            let at = Position { input: name.to_owned(), line: 1, byte: 0 };
            return Err(Error::new(ErrorKind::NotAnExport(what), Some(at)));
        }
        // The bytes before a failure are passed on, so an incomplete input is reported as incomplete.
        let source = head.as_slice().chain(Failure(failure)).chain(source);
        let result = match reader {
            Reader::Crash => crash::read_into(source, name, self),
            Reader::Dart => dart::read_into(source, name, self),
            Reader::DeepCopy => deep_copy::read_into(source, name, self),
            Reader::DotTrace => dottrace::read_into(source, name, self),
            Reader::Export => export::read_into(source, name, self),
            Reader::MetricKit => metrickit::read_into(source, name, self),
            Reader::Sample => sample::read_into(source, name, self),
            Reader::Spindump => spindump::read_into(source, name, self),
        };
        if result.is_err() {
            self.fail();
        }
        result
    }
}

impl RecordingBuilder {
    /// Passes the rows of all tables of an export to a visitor. Adds the objects that rows refer to, and the samples that the visitor creates, to
    /// the recording. `name` identifies the input in results and errors.
    ///
    /// # Errors
    /// As [`read`](Self::read), and if the visitor fails.
    pub fn read_tables(&mut self, source: impl Read, name: &str, visitor: &mut dyn TableVisitor) -> Result<(), Error> {
        export::read_tables(source, name, self, visitor)
    }
}

#[cfg(feature = "dataset")]
pub(crate) const HEAD: usize = formats::HEAD;

/// Judges a file by its first bytes: `Some(true)` for a report that fleets measure, `Some(false)` for a report that only other commands read, and
/// `None` for anything else.
#[cfg(feature = "dataset")]
pub(crate) fn is_report_measured(head: &[u8]) -> Option<bool> {
    match Reader::of(head) {
        Reader::Crash | Reader::Dart | Reader::MetricKit => Some(true),
        Reader::DeepCopy | Reader::DotTrace | Reader::Sample | Reader::Spindump => Some(false),
        Reader::Export => None,
    }
}

/// Fails once with the source's read error, if there was one, and is empty otherwise.
struct Failure(Option<io::Error>);

impl Read for Failure {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Reads one input in any format. `name` identifies it in results and errors.
///
/// # Errors
/// As [`RecordingBuilder::read`].
pub fn read<R: Read + Send>(source: R, name: &str, options: &Options) -> Result<Recording, Error> {
    let mut recording = RecordingBuilder::new(options.clone());
    recording.read(source, name)?;
    recording.finish()
}

impl Intervals {
    /// Reads the intervals and hang risks of all documents of an export. `name` identifies it in results and errors.
    ///
    /// Unreadable rows are counted, with a diagnostic. An interval has no end if none was recorded. Only the options `buffer_size`,
    /// `allow_truncated` and the limits apply. Exports without such tables, and tables of contents, have no intervals.
    ///
    /// # Errors
    /// As [`RecordingBuilder::read`].
    pub fn read(source: impl Read, name: &str, options: &Options) -> Result<Self, Error> {
        Self::read_tables(source, name, false, options)
    }

    /// Like [`read`](Self::read), but reads all tables that have a start and a duration.
    ///
    /// # Errors
    /// As [`RecordingBuilder::read`].
    pub fn read_all(source: impl Read, name: &str, options: &Options) -> Result<Self, Error> {
        Self::read_tables(source, name, true, options)
    }

    fn read_tables(source: impl Read, name: &str, is_of_all: bool, options: &Options) -> Result<Self, Error> {
        let mut visitor = IntervalVisitor::new(name, is_of_all, &options.memory);
        RecordingBuilder::new(options.clone()).read_tables(source, name, &mut visitor)?;
        Ok(visitor.finish())
    }
}
