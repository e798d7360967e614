//! Pages of the runs that numbers of a fleet's report name, next to the page of the report.
//!
//! ```text
//! report ─► the runs to open ─► each read again ─► its page in a folder ─► links in the report
//! ```
//!
//! A run is read and measured again with the same settings: a page whose numbers differ from those that link to it is not written.

mod page;
mod places;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{self, Write};

use crate::fleet::error::{FleetError, Result, bail};
use crate::fleet::extract::{Notes, total_bytes, without_path};
use crate::fleet::host::FleetHost;
use crate::fleet::{FleetReport, FleetSettings, RunRow, Task};
use crate::memory::Size;
use crate::output::{RunPage, WorkbenchOptions, WorkbenchReduction};
use page::PageMaker;

/// The folder of the pages.
pub trait PageFolder {
    /// The name of the folder next to the report.
    fn name(&self) -> &OsStr;

    /// Writes the page of a run, and returns the name of its file.
    ///
    /// # Errors
    /// If it cannot be written.
    fn add(
        &mut self,
        run: &RunRow,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<String, FleetError>;
}

/// The pages to write.
pub struct RunPages<'a> {
    /// The most runs that get a page.
    pub most: usize,
    /// The largest page, in bytes.
    pub max_size: u64,
    /// The settings with which the runs were measured.
    pub settings: &'a FleetSettings<'a>,
    /// True if a run without a page is a failure.
    pub is_strict: bool,
}

impl RunPages<'_> {
    /// Writes the pages of the runs that a report names first; `find` returns the file of a run.
    ///
    /// # Errors
    /// If a page cannot be written, or if a run cannot be read again and that is a failure.
    pub fn write<'t>(
        &self,
        host: &dyn FleetHost,
        report: &FleetReport,
        folder: &mut dyn PageFolder,
        find: impl Fn(&RunRow) -> Option<Cow<'t, Task>>,
    ) -> Result<Vec<RunPage>, FleetError> {
        let mut wanted = RunPage::all(report);
        wanted.truncate(self.most);
        let found: Vec<_> = wanted.into_iter().map(|page| (find(&report.runs[page.run]), page)).collect();
        let tasks: Vec<Task> = found.iter().filter_map(|(task, _)| Some(task.as_deref()?.clone())).collect();
        host.begin(found.len(), total_bytes(host, &tasks));
        let maker = PageMaker { report, settings: self.settings, host, max_size: self.max_size };
        let (mut pages, mut notes) = (Vec::new(), Notes::default());
        for (index, (task, page)) in found.into_iter().enumerate() {
            let run = &report.runs[page.run];
            let added = match &task {
                None => Err("it is not there any more".to_owned()),
                Some(task) => add(&maker, task, page, folder)?,
            };
            host.add_file(0, added.is_err());
            match added {
                Ok((page, note)) => {
                    notes.add(index, &run.source, note.into_iter().collect());
                    pages.push(page);
                }
                Err(reason) if self.is_strict => {
                    host.end();
                    bail!("{}: no page of this run: {reason}; and --strict was given", run.source)
                }
                Err(reason) => notes.add(index, &run.source, vec![format!("no page of this run: {reason}")]),
            }
        }
        host.end();
        host.warn_of(&notes.lines());
        Ok(pages)
    }
}

/// Writes a page into the folder: the page with its addresses, and a note on what is left out; or the reason why there is no page.
fn add(
    maker: &PageMaker<'_>,
    task: &Task,
    mut page: RunPage,
    folder: &mut dyn PageFolder,
) -> Result<Result<(RunPage, Option<String>), String>> {
    let made = match maker.make(&page, task, folder)? {
        Ok(made) => made,
        Err(refused) => return Ok(Err(maker.host.redacted(without_path(&refused.reason, &task.path)))),
    };
    page.places.extend(made.addresses.into_iter().map(|(place, address)| (place, Some(address))));
    Ok(Ok((page, made.note)))
}

/// The options with which a page has at most `size` bytes, as `fitting` finds them; and a note on what is left out.
///
/// # Errors
/// If no options are enough.
pub fn fit<'o>(
    size: u64,
    fitting: impl FnOnce(u64) -> io::Result<WorkbenchOptions<'o>>,
) -> io::Result<(WorkbenchOptions<'o>, Option<String>)> {
    let too_large = |error: io::Error| io::Error::new(error.kind(), format!("{error} (--max-size {})", Size(size)));
    let options = fitting(size).map_err(too_large)?;
    let is_reduced = options.reduction != WorkbenchReduction::None;
    let note = || format!("the page would be larger than {}: {} (--max-size)", Size(size), options.reduction);
    let note = is_reduced.then(note);
    Ok((options, note))
}

/// A text as a part of an address: everything but letters, digits and signs without a meaning there is percent-encoded.
fn encoded(bytes: &[u8]) -> String {
    let mut text = String::new();
    for &byte in bytes {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => text.push(char::from(byte)),
            byte => drop(write!(text, "%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_names_as_parts_of_addresses() {
        assert_eq!(encoded(b"fleet.runs"), "fleet.runs");
        assert_eq!(encoded(b"a:b #1?.v2.runs"), "a%3Ab%20%231%3F.v2.runs");
        assert_eq!(encoded("Größe%".as_bytes()), "Gr%C3%B6%C3%9Fe%25");
    }
}
