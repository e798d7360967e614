//! The destination of output: standard output, or a file that appears only when it is complete.

use std::fs::Permissions;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Read, Write};
use std::path::Path;
#[cfg(unix)]
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::ColorChoice;
use anyhow::{Context, Result, ensure};
use traceparse::files::{FileSystem, Files};
use traceparse::output::{Style, Syntax};

use crate::guard;
use crate::interrupt::TemporaryFile;
use crate::resource_limits::{self, Limited};

/// True if the process was started without a standard output (`>&-`).
#[cfg(unix)]
static IS_STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Must run before `main`: std then replaces a closed stream with `/dev/null`, and writing to it would succeed.
#[cfg(unix)]
#[ctor::ctor]
fn look_at_stdout() {
    use std::os::fd::AsFd;
    IS_STDOUT_CLOSED.store(io::stdout().as_fd().try_clone_to_owned().is_err(), Ordering::Relaxed);
}

/// Calls `write` with `path` or standard output. Neither may be an input.
///
/// The file is written under a temporary name in the same folder and then renamed, so it is never incomplete.
pub(crate) fn write_to(path: Option<&Path>, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let Some(path) = path.filter(|path| path.as_os_str() != "-") else {
        guard::check_stdout()?;
        #[cfg(unix)]
        ensure!(
            !IS_STDOUT_CLOSED.load(Ordering::Relaxed),
            "standard output is closed; open it, or write to a file with -o"
        );
        return write_through(io::stdout().lock(), write).context("the output cannot be written");
    };
    let failed = || format!("{}: cannot be written", path.display());
    resource_limits::check_place(path).with_context(failed)?;
    match std::fs::metadata(path) {
        // A rename cannot replace a pipe or a device.
        Ok(metadata) if !metadata.is_file() => {
            let file = std::fs::OpenOptions::new().write(true).open(path).with_context(failed)?;
            write_through(file, write).with_context(failed)
        }
        existing => {
            guard::check(path)?;
            replace(path, existing.ok().map(|existing| existing.permissions()), write).with_context(failed)
        }
    }
}

fn write_through<W: Write>(out: W, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = BufWriter::with_capacity(256 << 10, Limited::new(out));
    let written = write(&mut out).and_then(|()| out.flush());
    // If the limit was exceeded, that caused any other error.
    out.get_ref().check()?;
    Ok(written?)
}

/// Writes a file under a temporary name in the same folder and renames it. Links are kept. The content is on disk before the rename, and the rename
/// before this returns, so after a power failure either the old or the new file exists.
pub(crate) fn replace(
    path: &Path,
    permissions: Option<Permissions>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    ensure!(folder.is_dir(), "the folder does not exist");
    // tempfile's own error would name the temporary file, which would confuse users.
    let file = TemporaryFile::new_in(folder).map_err(|error| io::Error::from(error.kind()))?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    write_through(file.as_file(), write)?;
    file.as_file().sync_all()?;
    file.rename(&target, || guard::check(&target))?;
    Ok(FileSystem.sync_folder(folder)?)
}

/// Replaces a file, unless it already has the content that `write` writes. Returns true if it was replaced.
pub(crate) fn replace_different(path: &Path, write: impl Fn(&mut dyn Write) -> io::Result<()>) -> Result<bool> {
    let is_same = |old| {
        let mut same = Same { old: BufReader::new(old) };
        Ok(write(&mut same).is_ok() && same.old.fill_buf()?.is_empty())
    };
    let is_same: io::Result<bool> = FileSystem.open(path).and_then(is_same);
    if is_same.is_ok_and(|is_same| is_same) {
        return Ok(false);
    }
    replace(path, None, write).map(|()| true)
}

/// A writer that fails at the first difference from existing content.
struct Same<R> {
    old: BufReader<R>,
}

impl<R: Read> Write for Same<R> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let old = self.old.fill_buf()?;
        let count = old.len().min(bytes.len());
        if old[..count] != bytes[..count] || (count == 0 && !bytes.is_empty()) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.old.consume(count);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// True if the output goes to a terminal.
pub(crate) fn is_terminal(path: Option<&Path>) -> bool {
    path.is_none_or(|path| path.as_os_str() == "-") && io::stdout().is_terminal()
}

/// Writes a machine-readable format, like [`write_to`]. A terminal gets control characters as escapes of this syntax; other destinations get the
/// output verbatim. Pass no syntax if the names in the output are already escaped.
pub(crate) fn write_inert(
    path: Option<&Path>,
    syntax: Option<Syntax>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    write_to(path, |out| match syntax.filter(|_| is_terminal(path)) {
        Some(syntax) => syntax.write_inert(out, write),
        None => write(out),
    })
}

/// The width that the environment requests, which also applies to pipes.
fn columns() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|&columns| columns >= LEAST_COLUMNS)
}

/// The minimum width: a narrower table has no space for its numbers.
const LEAST_COLUMNS: usize = 20;

/// The width and colour of text for `path` or standard output. `--color` sets the global choice.
pub(crate) fn style(path: Option<&Path>) -> Style {
    let is_stdout = path.is_none_or(|path| path.as_os_str() == "-");
    let of_terminal = || io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    let width = || columns().or_else(|| of_terminal().map(|(width, _)| usize::from(width.0)));
    let is_coloured = match ColorChoice::global() {
        ColorChoice::Auto => is_stdout && anstream::AutoStream::choice(&io::stdout()) != ColorChoice::Never,
        choice => choice != ColorChoice::Never,
    };
    Style { width: if is_stdout { width() } else { None }, is_coloured, ..Style::default() }
}
