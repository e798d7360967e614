//! The strings and arrays that the rows of a run refer to.

use std::path::{Path, PathBuf};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use super::file::{Content, Inflated, Room, broken_file, failed};
use super::strings::Strings;
use super::uniquer::{ArrayData, Arrays};
use crate::error::{Diagnostic, Error};
use crate::files::Files;

/// The files with the values, relative to the folder of a run.
pub(super) const FILES: [&str; 3] =
    ["uniquing/strings", "uniquing/arrayUniquer/integeruniquer.index", "uniquing/arrayUniquer/integeruniquer.data"];

pub(super) struct Values {
    strings_path: PathBuf,
    strings: Inflated,
    pub(super) arrays: Arrays,
}

impl Values {
    /// Opens the values of a run. The arrays must then be [filled](Self::fill).
    pub(super) fn open<'f>(files: &'f dyn Files, folder: &Path, room: &Room) -> Result<(Self, ArrayData<'f>), Error> {
        let uniquing = folder.join("uniquing");
        let strings_path = uniquing.join("strings");
        let strings = Content::require(files, &strings_path)?.read_all(room)?;
        let (arrays, data) = Arrays::open(files, &uniquing.join("arrayUniquer"), room)?;
        Ok((Self { strings_path, strings, arrays }, data))
    }

    pub(super) fn strings(&self) -> Result<Strings<'_>, Error> {
        Strings::read(&self.strings).map_err(|broken| broken_file(&self.strings_path, &broken))
    }

    /// Reads the arrays, in the background if there are several jobs.
    pub(super) fn fill<'s>(
        &'s self,
        data: ArrayData<'s>,
        jobs: usize,
        scope: &'s Scope<'s, '_>,
    ) -> Result<Filling<'s>, Error> {
        if jobs <= 1 {
            return Ok(Filling { thread: None, odd: self.arrays.fill(data)? });
        }
        let thread = Builder::new().spawn_scoped(scope, move || self.arrays.fill(data));
        let thread = thread.map_err(|error| failed(&self.strings_path, error))?;
        Ok(Filling { thread: Some(thread), odd: None })
    }
}

/// Arrays that have been read, or that a thread is reading.
pub(super) struct Filling<'s> {
    thread: Option<ScopedJoinHandle<'s, Result<Option<Diagnostic>, Error>>>,
    odd: Option<Diagnostic>,
}

impl Filling<'_> {
    /// Waits until all arrays are read.
    pub(super) fn wait(&mut self) -> Result<(), Error> {
        if let Some(thread) = self.thread.take() {
            self.odd = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        Ok(())
    }

    /// Waits, and returns a diagnostic if the arrays are out of order.
    pub(super) fn finish(mut self) -> Result<Option<Diagnostic>, Error> {
        self.wait()?;
        Ok(self.odd)
    }
}
