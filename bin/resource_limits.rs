//! The limits of a run of the command: memory, bytes of files that are read at once, and bytes that it writes.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::OnceLock;

use anyhow::{Result, bail};
use clap::Args;
use traceparse::memory::{MemoryBudget, Size};

/// Largest list of files: ten million lines of 100 bytes.
pub(crate) const FILE_LIST: u64 = 1 << 30;
/// Largest file of the command's own, such as the index of a folder of symbols.
pub(crate) const OWN_FILE: u64 = 256 << 20;
/// Largest text of addresses on standard input.
pub(crate) const ADDRESSES: u64 = 64 << 20;

/// The memory that the tree of one stack takes in addition to the stack.
const TREE_BYTES: u64 = 32;

/// Output beyond the limit is counted up to this multiple of the limit.
const COUNTED: u64 = 16;

#[derive(Debug, Args)]
pub(crate) struct BoundArgs {
    /// Memory limit, such as 2G [default: 768M; more for very large fleets]
    ///
    /// The limit covers inputs, inflated archives and names together. A fleet report keeps about 1K of each one-minute run in memory, and
    /// moves the values of functions to a temporary file if there are many. Without this option, it may keep another 64K of each run.
    #[arg(long, global = true, value_parser = parse_size, value_name = "SIZE", help_heading = None)]
    memory: Option<Size>,
    /// Largest output to write, such as 2G
    #[arg(long, global = true, value_parser = parse_size, default_value = "1G", value_name = "SIZE", help_heading = None)]
    max_output: Size,
    /// Limit for temporary copies of objects on disk
    #[cfg(feature = "object-store")]
    #[arg(long, global = true, value_parser = parse_size, default_value = "16G", value_name = "SIZE", help_heading = None)]
    object_space: Size,
}

/// `512M`: a number with K, M, G or T for 1,024 bytes and its powers, or of bytes.
pub(crate) fn parse_size(text: &str) -> Result<Size, String> {
    let wrong = || "not a size; give a number with K, M, G or T, such as 512M or 2G".to_owned();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let bits = match text[digits.len()..].to_ascii_uppercase().trim_end_matches('B').trim_end_matches('I') {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let bytes = number.checked_mul(1 << bits).filter(|&bytes| bytes > 0);
    bytes.map(Size).ok_or_else(|| "out of range; a size is between 1 byte and 16,777,215T".to_owned())
}

/// The default memory limit of a command.
const MEMORY: u64 = 768 << 20;
/// The additional memory for each run of a fleet report. Values of functions move to a temporary file if there are many. About half a KiB
/// and 3 bytes per second stay in memory, so this is enough for any number of six-hour runs.
const MEMORY_OF_RUN: u64 = 64 << 10;

struct Bounds {
    memory: MemoryBudget,
    of_run: u64,
    limit: u64,
    max_output: u64,
    #[cfg(feature = "object-store")]
    object_space: u64,
}

/// The limits are global, like standard output, since code without access to the arguments needs them.
static BOUNDS: OnceLock<Bounds> = OnceLock::new();

/// Sets the bounds of the process, once, before anything is read.
pub(crate) fn set(args: &BoundArgs) {
    let (limit, of_run) = args.memory.map_or((MEMORY, MEMORY_OF_RUN), |Size(limit)| (limit, 0));
    let Size(max_output) = args.max_output;
    BOUNDS.get_or_init(|| Bounds {
        memory: MemoryBudget::new(limit),
        of_run,
        limit,
        max_output,
        #[cfg(feature = "object-store")]
        object_space: args.object_space.0,
    });
}

/// The space for copies of objects.
#[cfg(feature = "object-store")]
pub(crate) fn object_space() -> u64 {
    BOUNDS.get().map_or(u64::MAX, |bounds| bounds.object_space)
}

/// The budget for everything except batches.
pub(crate) fn memory() -> MemoryBudget {
    BOUNDS.get().map(|bounds| bounds.memory.clone()).unwrap_or_default()
}

fn limit() -> u64 {
    BOUNDS.get().map_or(u64::MAX, |bounds| bounds.limit)
}

/// The memory of each run of a fleet beside [`of_kept`].
pub(crate) fn of_run() -> u64 {
    BOUNDS.get().map_or(0, |bounds| bounds.of_run)
}

/// The memory for the list of files that have symbols for a batch, and for one of them while it is looked at.
pub(crate) fn of_found_symbols() -> MemoryBudget {
    memory().part(limit() / 8)
}

/// The memory that the trees of this many stacks take.
pub(crate) fn of_trees(stacks: usize) -> u64 {
    stacks as u64 * TREE_BYTES
}

/// Reads a file of at most `most` bytes.
pub(crate) fn read_file(path: impl AsRef<Path>, most: u64) -> io::Result<Vec<u8>> {
    read_all(File::open(path)?, most)
}

/// Everything that can be read, if it is at most this many bytes and fits in the budget.
pub(crate) fn read_all(source: impl Read, most: u64) -> io::Result<Vec<u8>> {
    traceparse::files::read_all(source, most, &memory())
}

/// An output that is not written any further than it may be, but counted.
pub(crate) struct Limited<W> {
    out: W,
    written: u64,
    most: u64,
}

impl<W: Write> Limited<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, written: 0, most: BOUNDS.get().map_or(u64::MAX, |bounds| bounds.max_output) }
    }

    /// Fails if the output exceeded the limit, and reports its size.
    pub(crate) fn check(&self) -> Result<()> {
        if self.written <= self.most {
            return Ok(());
        }
        let (most, double) = (Size(self.most), Size(self.most.saturating_mul(2)));
        let is_counted = self.written < self.most.saturating_mul(COUNTED);
        let (size, enough) = match is_counted {
            true => (format!("{} bytes", self.written), Size(self.written.div_ceil(1 << 20) << 20)),
            false => (format!("more than {} bytes", self.written), double),
        };
        bail!(
            "the output would take {size}, but the limit is {most}; show less, or raise the limit with --max-output {enough}"
        )
    }
}

impl<W: Write> Write for Limited<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.most.saturating_sub(self.written);
        if room >= bytes.len() as u64 {
            let count = self.out.write(bytes)?;
            self.written += count as u64;
            return Ok(count);
        }
        // Nothing of what goes beyond is written, not even a part of it.
        self.written = self.written.saturating_add(bytes.len() as u64);
        match self.written < self.most.saturating_mul(COUNTED) {
            true => Ok(bytes.len()),
            false => Err(io::ErrorKind::FileTooLarge.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in
            [("1", 1), ("512M", 512 << 20), ("2g", 2 << 30), ("3GiB", 3 << 30), ("10KB", 10 << 10), ("1T", 1 << 40)]
        {
            assert_eq!(parse_size(text), Ok(Size(bytes)), "{text}");
        }
        for text in ["", "M", "1.5G", "-1", "0", "0M", "20000000T", "1X", "1 M", "1MM"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_beyond_the_bound_is_counted_and_not_written() {
        let mut out = Limited { out: Vec::new(), written: 0, most: 10 };
        out.write_all(b"12345").unwrap();
        assert!(out.check().is_ok());
        out.write_all(b"67890").unwrap();
        assert!(out.check().is_ok(), "within the limit");
        out.write_all(b"abc").unwrap();
        let error = out.check().unwrap_err().to_string();
        assert!(error.contains("13 bytes") && error.contains("--max-output 1M"), "{error}");
        assert_eq!(out.out, b"1234567890");
        let endless = (0..10_000).try_for_each(|_| out.write_all(b"1234567890"));
        assert!(endless.is_err() && out.check().unwrap_err().to_string().contains("more than"), "it ends");
    }

    #[test]
    fn files_without_an_end_are_refused() {
        assert_eq!(read_all(&b"12345"[..], 5).unwrap(), b"12345");
        let error = read_all(io::repeat(0), 1 << 20).unwrap_err();
        assert_eq!(error.to_string(), "it is larger than 1M");
    }
}
