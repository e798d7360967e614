//! Detects compressed input by its first bytes, and decompresses it.

use std::io::{self, BufReader, Chain, Cursor, Read};

use crate::memory::{MemoryBudget, Reservation};

#[cfg(target_family = "wasm")]
mod zstd_in_rust;
#[cfg(target_family = "wasm")]
use zstd_in_rust as zstd;

/// Decompresses `source` if it starts like gzip (with any number of members) or zstd. Other input is passed on unchanged. The zstd window is reserved
/// from the budget. If it does not fit, reading fails with [`OverBudget`](crate::memory::OverBudget) as the cause.
///
/// # Errors
/// If the first bytes cannot be read.
pub fn decompress<'a, R: Read + Send + 'a>(
    mut source: R,
    memory: &MemoryBudget,
) -> io::Result<Box<dyn Read + Send + 'a>> {
    let mut head = Vec::with_capacity(MAGIC.len());
    source.by_ref().take(MAGIC.len() as u64).read_to_end(&mut head)?;
    let is_zstd = head == MAGIC;
    let is_gzip = head.starts_with(&[0x1f, 0x8b]);
    let all = Cursor::new(head).chain(source);
    Ok(match () {
        () if is_gzip => Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(1 << 17, all))),
        () if is_zstd => {
            let source = BufReader::with_capacity(1 << 17, all);
            Box::new(Frames { frame: frame(Cursor::default(), source)?, window: memory.nothing() })
        }
        () => Box::new(all),
    })
}

/// The first bytes of a zstd frame.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The maximum length of a zstd frame's header.
const HEADER: u64 = 18;

/// Decompresses one zstd frame after another, so each window is reserved before it is allocated.
struct Frames<R> {
    /// `None` after the last frame.
    frame: Option<Frame<R>>,
    window: Reservation,
}

/// A frame whose header is already read.
type Frame<R> = zstd::Decoder<'static, Chain<Cursor<Vec<u8>>, BufReader<R>>>;

/// Returns the next frame; `None` at the end. `head` contains the bytes of it that were already read.
fn frame<R: Read>(head: Cursor<Vec<u8>>, mut source: BufReader<R>) -> io::Result<Option<Frame<R>>> {
    let mut header = head.get_ref()[head.position() as usize..].to_vec();
    source.by_ref().take(HEADER - header.len() as u64).read_to_end(&mut header)?;
    let is_end = header.is_empty();
    let decoder = zstd::Decoder::with_buffer(Cursor::new(header).chain(source))?.single_frame();
    Ok((!is_end).then_some(decoder))
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(frame) = &mut self.frame {
            let (header, _) = frame.get_ref().get_ref();
            if header.position() == 0 {
                self.window.resize(window(header.get_ref())).map_err(io::Error::other)?;
            }
            let count = frame.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let (head, source) = self.frame.take().expect("it was just read").finish().into_inner();
            self.frame = self::frame(head, source)?;
        }
        Ok(0)
    }
}

/// Returns the window size of a zstd frame in bytes, from its header (RFC 8878, 3.1.1.1).
fn window(header: &[u8]) -> u64 {
    let Some(&[descriptor, ref rest @ ..]) = header.strip_prefix(&MAGIC) else { return 0 };
    let is_single_segment = descriptor & 0x20 != 0;
    if !is_single_segment {
        let window = rest.first().copied().unwrap_or_default();
        let base = 1 << (10 + (window >> 3));
        return base + base / 8 * u64::from(window & 7);
    }
    // The window is the complete content. Its size follows the dictionary id.
    let (dictionary, size) = ([0, 1, 2, 4][usize::from(descriptor & 3)], 1 << (descriptor >> 6));
    let size = rest.get(dictionary..dictionary + size).unwrap_or_default();
    size.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
