//! Decodes zstd frames without C code, for WebAssembly. The interface is the part of the crate `zstd` that [`decompress`](super::decompress) uses.

use std::error::Error;
use std::io::{self, Read};
use std::marker::PhantomData;

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The largest window, which is also the default limit of the C library.
const MAX_WINDOW: u64 = 1 << 27;

/// Decodes one frame. Nothing is read or allocated before the first read.
pub(crate) struct Decoder<'a, S> {
    source: S,
    decoder: FrameDecoder,
    progress: Progress,
    _lifetime: PhantomData<&'a ()>,
}

#[derive(PartialEq)]
enum Progress {
    Before,
    Inside,
    After,
}

impl<S: Read> Decoder<'_, S> {
    #[expect(clippy::unnecessary_wraps, reason = "the C library allocates here")]
    pub(crate) fn with_buffer(source: S) -> io::Result<Self> {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_WINDOW);
        Ok(Self { source, decoder, progress: Progress::Before, _lifetime: PhantomData })
    }

    /// A decoder of this kind always ends with its frame.
    pub(crate) fn single_frame(self) -> Self {
        self
    }

    pub(crate) fn get_ref(&self) -> &S {
        &self.source
    }

    pub(crate) fn finish(self) -> S {
        self.source
    }

    /// Reads the header. A skippable frame has no content.
    fn start(&mut self) -> io::Result<()> {
        self.progress = Progress::Inside;
        let skipped = match self.decoder.init(&mut self.source) {
            Ok(()) => return Ok(()),
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => length,
            Err(error) => return Err(failed(error)),
        };
        let found = io::copy(&mut self.source.by_ref().take(skipped.into()), &mut io::sink())?;
        self.progress = Progress::After;
        if found < u64::from(skipped) { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    fn check(&self) -> io::Result<()> {
        let stated = self.decoder.get_checksum_from_data();
        if stated.is_none() || stated == self.decoder.get_calculated_checksum() { Ok(()) } else { Err(damaged()) }
    }
}

impl<S: Read> Read for Decoder<'_, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.progress == Progress::Before {
            self.start()?;
        }
        if self.progress == Progress::After {
            return Ok(0);
        }
        while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
            self.decoder.decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1)).map_err(failed)?;
        }
        let count = self.decoder.read(buffer)?;
        if count == 0 && !buffer.is_empty() {
            self.check()?;
            self.progress = Progress::After;
        }
        Ok(count)
    }
}

/// Returns the read error that is the cause, as a reader recognises a cut input by its kind; or an error about damaged data.
fn failed(error: FrameDecoderError) -> io::Error {
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(inner) = cause {
        if let Some(read) = inner.downcast_ref::<io::Error>() {
            return io::Error::new(read.kind(), read.to_string());
        }
        cause = inner.source();
    }
    damaged()
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the zstd data is damaged")
}
