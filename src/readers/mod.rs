//! Readers: bytes in, a recording out. Each format has a folder of its own, and none of them knows another one.

#[cfg(feature = "bundle")]
pub mod bundle;
pub(crate) mod export;
mod formats;
pub(crate) mod input;
pub(crate) mod sample;
mod well_formed;

use std::io::{self, Read};

use crate::error::{Error, ErrorKind, Position};
use crate::recording::{Intervals, Options, Recording, RecordingBuilder};
use formats::Format;

impl RecordingBuilder {
    /// Reads an input of any format; its first bytes tell the format. `name` is how results and errors call it.
    ///
    /// Compressed inputs are decompressed before, by `decompress` of the feature `compression`; the error of one that was not says so.
    ///
    /// # Errors
    /// When no reader knows the format, or the input breaks its rules or passes a limit. The builder is of no use after that.
    pub fn read<R: Read + Send>(&mut self, mut source: R, name: &str) -> Result<(), Error> {
        let mut head = Vec::with_capacity(formats::HEAD);
        let failure = source.by_ref().take(formats::HEAD as u64).read_to_end(&mut head).err();
        if let Some(what) = formats::packed(&head) {
            let at = Position { input: name.to_owned(), line: 1, byte: 0 };
            return Err(Error::new(ErrorKind::NotAnExport(what.to_owned()), Some(at)));
        }
        let format = Format::of(&head);
        // What was read before a failure counts: an input that is cut is told as one.
        let source = head.as_slice().chain(Failure(failure)).chain(source);
        match format {
            Format::Sample => sample::read_into(source, name, self),
            Format::Export => export::read_into(source, name, self),
        }
    }
}

/// Fails as the source below failed, if it did; else it is empty.
struct Failure(Option<io::Error>);

impl Read for Failure {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Reads one input of any format. `name` is how results and errors call it.
///
/// # Errors
/// As [`RecordingBuilder::read`].
pub fn read<R: Read + Send>(source: R, name: &str, options: &Options) -> Result<Recording, Error> {
    let mut recording = RecordingBuilder::new(options.clone());
    recording.read(source, name)?;
    recording.finish()
}

impl Intervals {
    /// Reads the intervals and hang risks of an export with all its documents. `name` is how results and errors call it.
    ///
    /// Rows that cannot be read are diagnostics, and are counted. An interval whose end was not recorded has no end. Of the options,
    /// `buffer_size`, `allow_truncated` and the limits count. An export without such tables has no intervals, and neither has a table of
    /// contents.
    ///
    /// # Errors
    /// As [`RecordingBuilder::read`].
    pub fn read(source: impl Read, name: &str, options: &Options) -> Result<Self, Error> {
        export::read_intervals(source, name, options)
    }
}
