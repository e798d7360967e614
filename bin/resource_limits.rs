//! The limits of the process: memory, sizes of files that are read completely, and size of the output.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueHint};
use traceparse::memory::{MemoryBudget, Size};

/// The maximum size of a list of files: ten million lines of 100 bytes.
pub(crate) const FILE_LIST: u64 = 1 << 30;
/// The maximum size of a file written by the command, such as the index of a symbol folder.
pub(crate) const OWN_FILE: u64 = 256 << 20;
/// The maximum size of the addresses on standard input.
pub(crate) const ADDRESSES: u64 = 64 << 20;

/// The memory that a tree takes per stack, in addition to the stack.
const TREE_BYTES: u64 = 32;

/// Output beyond the limit is still counted, up to this size or, if the limit is larger, this multiple of it.
const COUNTED: (u64, u64) = (1 << 30, 16);

#[derive(Debug, Args)]
pub(crate) struct BoundArgs {
    /// Memory limit, such as 2GB [default: 800MB; more for very large fleets]
    ///
    /// The limit covers inputs, inflated archives and names together. A fleet report keeps about 1 kB for each one-minute run in memory, and
    /// moves the values of functions to a temporary file if there are many. Without this option, it may keep another 64 kB for each run.
    #[arg(long, global = true, value_name = "SIZE", help_heading = None, hide_short_help = true)]
    memory: Option<Size>,
    /// Largest output to write, such as 2GB
    #[arg(long, global = true, default_value = "1GB", value_name = "SIZE", help_heading = None, hide_short_help = true)]
    max_output: Size,
    /// Only read and write files below this folder (repeatable)
    ///
    /// For programs that pass on paths from others, such as the clients of `traceparse mcp`. Links and lists of files cannot lead outside of it,
    /// and no cache is used. It is no sandbox: whether a file exists is not hidden, and files may be exchanged while they are checked.
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = None, hide_short_help = true)]
    only_below: Vec<PathBuf>,
    /// End when standard input does, as if by SIGTERM
    #[arg(long, global = true, hide = true)]
    end_with_input: bool,
    /// Limit for temporary copies of objects on disk
    #[cfg(feature = "object-store")]
    #[arg(long, global = true, default_value = "16GB", value_name = "SIZE", help_heading = None)]
    object_space: Size,
}

impl BoundArgs {
    pub(crate) fn ends_with_input(&self) -> bool {
        self.end_with_input
    }
}

/// The default memory limit of a command.
const MEMORY: u64 = 800_000_000;
/// The additional memory for each run of a fleet report. If there are many values of functions, they are moved to a temporary file. About
/// half a KiB and 3 bytes per second stay in memory, so this is enough for any number of six-hour runs.
const MEMORY_OF_RUN: u64 = 64_000;

struct Bounds {
    memory: MemoryBudget,
    of_run: u64,
    limit: u64,
    max_output: u64,
    only_below: Vec<PathBuf>,
    is_served: bool,
    #[cfg(feature = "object-store")]
    object_space: u64,
}

/// The limits are global, like standard output, since code without access to the arguments needs them.
static BOUNDS: OnceLock<Bounds> = OnceLock::new();

/// Sets the limits of the process. Must be called once, before anything is read.
///
/// # Errors
/// If there is no folder to which the process is restricted.
pub(crate) fn set(args: &BoundArgs) -> Result<()> {
    let canonical = |folder: &PathBuf| {
        let real = fs::canonicalize(folder).ok().filter(|real| real.is_dir());
        real.with_context(|| format!("--only-below {}: there is no such folder", folder.display()))
    };
    let only_below = args.only_below.iter().map(canonical).collect::<Result<_>>()?;
    let (limit, of_run) = args.memory.map_or((MEMORY, MEMORY_OF_RUN), |Size(limit)| (limit, 0));
    let Size(max_output) = args.max_output;
    BOUNDS.get_or_init(|| Bounds {
        memory: MemoryBudget::new(limit),
        of_run,
        limit,
        max_output,
        only_below,
        is_served: args.end_with_input,
        #[cfg(feature = "object-store")]
        object_space: args.object_space.0,
    });
    Ok(())
}

/// The disk space for copies of objects.
#[cfg(feature = "object-store")]
pub(crate) fn object_space() -> u64 {
    BOUNDS.get().map_or(u64::MAX, |bounds| bounds.object_space)
}

/// The memory budget of the process.
pub(crate) fn memory() -> MemoryBudget {
    BOUNDS.get().map(|bounds| bounds.memory.clone()).unwrap_or_default()
}

/// The memory limit of the process, in bytes.
pub(crate) fn limit() -> u64 {
    BOUNDS.get().map_or(u64::MAX, |bounds| bounds.limit)
}

/// The largest output of the process, in bytes.
pub(crate) fn max_output() -> u64 {
    BOUNDS.get().map_or(u64::MAX, |bounds| bounds.max_output)
}

/// The folders to which the process is restricted; empty if it is not.
pub(crate) fn only_below() -> &'static [PathBuf] {
    BOUNDS.get().map_or(&[], |bounds| &bounds.only_below)
}

/// The reason for refusing a path.
pub(crate) const OUTSIDE: &str = "it is outside of the folders that may be used";

/// Fails if a path, or the file to which it leads, is not below the folders to which the process is restricted. A process that works for a server
/// reads no pipes and devices: reading them may never end.
pub(crate) fn check_place(path: &Path) -> io::Result<()> {
    let refused = |reason| Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
    if !only_below().is_empty() && !is_below(path)? {
        return refused(OUTSIDE);
    }
    match BOUNDS.get().is_some_and(|bounds| bounds.is_served) && is_special(path) {
        true => refused("it is neither a file nor a folder"),
        false => Ok(()),
    }
}

fn is_below(path: &Path) -> io::Result<bool> {
    let absolute = std::path::absolute(path)?;
    // What does not exist is where it would be created. A link that leads nowhere could lead anywhere.
    let known = absolute.ancestors().find(|known| known.symlink_metadata().is_ok()).unwrap_or(&absolute);
    let rest = absolute.strip_prefix(known).unwrap_or(Path::new(""));
    let is_up = |part: Component<'_>| part == Component::ParentDir;
    let real = fs::canonicalize(known).ok().filter(|_| !rest.components().any(is_up)).map(|known| known.join(rest));
    Ok(real.is_some_and(|real| only_below().iter().any(|folder| real.starts_with(folder))))
}

/// True for pipes, sockets and devices.
pub(crate) fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// The same with the path in the error.
pub(crate) fn check_named_place(path: &Path) -> Result<()> {
    check_place(path).with_context(|| path.display().to_string())
}

/// The memory for each run of a fleet, in addition to [`memory`].
pub(crate) fn of_run() -> u64 {
    BOUNDS.get().map_or(0, |bounds| bounds.of_run)
}

/// The memory for the list of symbol files and for the file being examined.
pub(crate) fn of_found_symbols() -> MemoryBudget {
    memory().part(limit() / 8)
}

/// The memory needed for trees with this many stacks.
pub(crate) fn of_trees(stacks: usize) -> u64 {
    stacks as u64 * TREE_BYTES
}

/// Reads a file of at most `most` bytes.
pub(crate) fn read_file(path: impl AsRef<Path>, most: u64) -> io::Result<Vec<u8>> {
    read_all(File::open(path)?, most)
}

/// Reads everything. Fails if it exceeds `most` bytes or the memory budget.
pub(crate) fn read_all(source: impl Read, most: u64) -> io::Result<Vec<u8>> {
    memory().read_all(source, most)
}

/// A writer that stops writing at a limit but continues to count.
pub(crate) struct Limited<W> {
    out: W,
    written: u64,
    most: u64,
}

impl<W: Write> Limited<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, written: 0, most: max_output() }
    }

    /// Fails if the output exceeded the limit, and reports its size.
    pub(crate) fn check(&self) -> Result<()> {
        if self.written <= self.most {
            return Ok(());
        }
        let limit = Size(self.most);
        if self.written >= self.counted() {
            // It is unknown which limit would be enough.
            bail!(
                "the output is larger than {}, and the limit is {limit} (--max-output); show less",
                Size(self.counted())
            );
        }
        let enough = Size::in_megabytes(self.written);
        let written = self.written;
        bail!(
            "the output would take {written} bytes, and the limit is {limit}; show less, or pass --max-output {enough}"
        )
    }

    /// The number of bytes up to which dropped output is still counted.
    fn counted(&self) -> u64 {
        let (least, factor) = COUNTED;
        least.max(self.most.saturating_mul(factor))
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
        // A write that would exceed the limit is dropped completely.
        self.written = self.written.saturating_add(bytes.len() as u64);
        match self.written < self.counted() {
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
        let block = vec![0; 1 << 20];
        assert!(
            (0..1000).all(|_| out.write_all(&block).is_ok()),
            "still counted, so the error can suggest a sufficient limit"
        );
        assert!(out.check().unwrap_err().to_string().contains("--max-output 1049M"));
        assert!((0..100).any(|_| out.write_all(&block).is_err()), "it ends");
        assert!(out.check().unwrap_err().to_string().contains("larger than 1GiB"));
    }

    #[test]
    fn files_without_an_end_are_refused() {
        assert_eq!(read_all(&b"12345"[..], 5).unwrap(), b"12345");
        let error = read_all(io::repeat(0), 1 << 20).unwrap_err();
        assert_eq!(error.to_string(), "it is larger than 1MiB");
    }
}
