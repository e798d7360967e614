//! Where the output goes: standard output, or a file that appears only when it is complete.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, Result};
use traceparse::output::text::Style;

use crate::cli::Colour;

/// Writes through `write`, to `path` or standard output.
///
/// A file is written beside its target and renamed, so that nobody sees half of it.
pub(crate) fn write_to(path: Option<&Path>, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    const BUFFER: usize = 256 << 10;
    let Some(path) = path.filter(|path| path.as_os_str() != "-") else {
        let mut out = BufWriter::with_capacity(BUFFER, io::stdout().lock());
        write(&mut out)?;
        return Ok(out.flush()?);
    };
    let name = path.display();
    if !path.is_file() && path.exists() {
        // A pipe or device (`/dev/stdout`) cannot be replaced by a renamed file.
        let file = std::fs::OpenOptions::new().write(true).open(path);
        let mut out = BufWriter::with_capacity(BUFFER, file.with_context(|| format!("{name}: cannot be written"))?);
        write(&mut out)?;
        return Ok(out.flush()?);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    // The permissions of a usual new file, not those of a secret one; the process's mask still applies.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(folder);
    let file = file.with_context(|| format!("{name}: cannot be written"))?;
    let mut out = BufWriter::with_capacity(BUFFER, file);
    write(&mut out).with_context(|| format!("{name}: cannot be written"))?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error).context("the output cannot be written")?;
    file.persist(path).with_context(|| format!("{name}: cannot be written"))?;
    Ok(())
}

/// Width and colour for text that goes to `path` or standard output.
pub(crate) fn style(path: Option<&Path>, colour: Colour) -> Style {
    let is_stdout = path.is_none_or(|path| path.as_os_str() == "-");
    let width = if is_stdout && io::stdout().is_terminal() { terminal_size::terminal_size() } else { None };
    let is_coloured = match colour {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => is_stdout && anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never,
    };
    Style { width: width.map(|(width, _)| usize::from(width.0)), is_coloured }
}
