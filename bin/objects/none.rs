//! The command without the feature `object-store`: no path belongs to an object, since URLs were refused among the
//! arguments.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::arguments::no_feature;
use super::url::{SCHEMES, scheme_of};

/// The text, which names no object.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(text)
}

/// The path itself.
pub(crate) fn located(path: &Path) -> Cow<'_, Path> {
    Cow::Borrowed(path)
}

/// The path itself.
pub(crate) fn here(path: &Path) -> io::Result<Cow<'_, Path>> {
    Ok(Cow::Borrowed(path))
}

/// Nothing has to be looked for.
pub(crate) fn place(_: &Path) -> Result<()> {
    Ok(())
}

/// The path that a line of a list in a folder names.
///
/// # Errors
/// For a URL.
pub(crate) fn beside(folder: &Path, name: &str) -> Result<PathBuf> {
    match scheme_of(Path::new(name)) {
        Some(scheme) if SCHEMES.contains(&scheme) => bail!("{name}: {}", no_feature()),
        _ => Ok(folder.join(name)),
    }
}

/// The path itself.
pub(crate) fn local(path: &Path) -> Result<PathBuf> {
    Ok(path.to_owned())
}

/// A dataset in an object store, which does not exist without the feature.
#[derive(Debug)]
pub(crate) struct Target;

impl Target {
    /// Returns `None`: every path is a folder.
    pub(crate) fn open(_: &mut PathBuf) -> Result<Option<Self>> {
        Ok(None)
    }

    /// Nothing is put anywhere.
    pub(crate) fn finish(self) -> Result<()> {
        Ok(())
    }
}

/// The copies of objects that a task reads: none.
#[derive(Debug)]
pub(crate) struct Use;

impl Use {
    /// Nothing is copied.
    pub(crate) fn begin<'p>(_: impl IntoIterator<Item = &'p Path>) -> Result<Self> {
        Ok(Self)
    }
}

/// There is nothing to remove.
pub(crate) fn end() {}
