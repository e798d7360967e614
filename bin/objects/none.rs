//! Replaces the other modules if the feature `object-store` is disabled. No path belongs to an object, since URLs among the arguments are refused.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::arguments::no_feature;
use super::url::{SCHEMES, scheme_of};

/// Returns the text unchanged.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(text)
}

/// Returns the path unchanged.
pub(crate) fn located(path: &Path) -> Cow<'_, Path> {
    Cow::Borrowed(path)
}

/// Returns the path unchanged.
pub(crate) fn here(path: &Path) -> io::Result<Cow<'_, Path>> {
    Ok(Cow::Borrowed(path))
}

/// Does nothing.
pub(crate) fn place(_: &Path) -> Result<()> {
    Ok(())
}

/// Returns the path for a line of a list in a folder.
///
/// # Errors
/// If the line is a URL.
pub(crate) fn beside(folder: &Path, name: &str) -> Result<PathBuf> {
    match scheme_of(Path::new(name)) {
        Some(scheme) if SCHEMES.contains(&scheme) => bail!("{name}: {}", no_feature()),
        _ => Ok(folder.join(name)),
    }
}

/// Returns the path unchanged.
pub(crate) fn local(path: &Path) -> Result<PathBuf> {
    Ok(path.to_owned())
}

/// A dataset in an object store, which never exists without the feature.
#[derive(Debug)]
pub(crate) struct Target;

impl Target {
    /// Returns `None`, since every path is a local folder.
    pub(crate) fn open(_: &mut PathBuf) -> Result<Option<Self>> {
        Ok(None)
    }

    /// Does nothing.
    pub(crate) fn finish(self) -> Result<()> {
        Ok(())
    }
}

/// The downloaded objects that a task reads, of which there are none.
#[derive(Debug)]
pub(crate) struct Use;

impl Use {
    /// Does nothing.
    pub(crate) fn begin<'p>(_: impl IntoIterator<Item = &'p Path>) -> Result<Self> {
        Ok(Self)
    }
}

/// Does nothing.
pub(crate) fn end() {}
