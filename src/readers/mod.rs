//! Readers: bytes in, a recording out. Each format has a folder of its own, and none of them knows another one.

#[cfg(feature = "bundle")]
pub mod bundle;
mod bundle_folder;
pub mod export;
mod formats;
pub mod input;
pub mod sample;

use std::io::{self, Read};

use crate::error::{Error, ErrorKind, Position};
use crate::recording::{Options, Recording, RecordingBuilder};
use formats::Format;

/// Reads an input of any format into a recording; its first bytes tell the format. `name` is how results and errors call it.
///
/// Compressed inputs are decompressed before, by `decompress` of the feature `compression`; the error of one that was not says so.
///
/// # Errors
/// When no reader knows the format, or the input breaks its rules or passes a limit. The builder is of no use after that.
pub fn read_into<R: Read + Send>(mut source: R, name: &str, recording: &mut RecordingBuilder) -> Result<(), Error> {
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
        Format::Sample => sample::read_into(source, name, recording),
        Format::Export => export::read_into(source, name, recording),
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
/// As [`read_into`].
pub fn read<R: Read + Send>(source: R, name: &str, options: &Options) -> Result<Recording, Error> {
    let mut recording = RecordingBuilder::new(options.clone());
    read_into(source, name, &mut recording)?;
    recording.finish()
}
