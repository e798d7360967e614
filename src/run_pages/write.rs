//! Writes the pages of the runs to which a report refers first.

use std::borrow::Cow;

use super::folder::PageFolder;
use super::page::PageMaker;
use crate::fleet::error::{Result, bail};
use crate::fleet::extract::{Notes, total_bytes, without_path};
use crate::fleet::host::FleetHost;
use crate::fleet::{FleetError, FleetReport, FleetSettings, RunRow, Task};
use crate::output::RunPage;
use crate::settings::STRICT;

/// The pages to write.
pub struct RunPages<'a> {
    /// The maximum number of runs with a page.
    pub most: usize,
    /// The maximum size of a page, in bytes.
    pub max_size: u64,
    /// The settings with which the runs were measured.
    pub settings: &'a FleetSettings<'a>,
    /// True if a run without a page is an error.
    pub is_strict: bool,
}

impl RunPages<'_> {
    /// Writes the pages of the runs to which a report refers first. `find` returns the file of a run.
    ///
    /// # Errors
    /// If a page cannot be written, or if `is_strict` is set and a run cannot be read again.
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
                None => Err("it no longer exists".to_owned()),
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
                    bail!("{}: this run has no page: {reason} ({STRICT} makes this an error)", run.source)
                }
                Err(reason) => notes.add(index, &run.source, vec![format!("this run has no page: {reason}")]),
            }
        }
        host.end();
        host.warn_of(&notes.lines());
        Ok(pages)
    }
}

/// Writes a page into the folder. Returns the page with its addresses and a note about omitted content, or the reason why there is no page.
fn add(
    maker: &PageMaker<'_>,
    task: &Task,
    mut page: RunPage,
    folder: &mut dyn PageFolder,
) -> Result<Result<(RunPage, Option<String>), String>> {
    let (addresses, note) = match maker.make(&page, task, folder)? {
        Ok(made) => made,
        Err(refused) => return Ok(Err(maker.host.redacted(without_path(&refused.reason, &task.path)))),
    };
    page.places.extend(addresses.into_iter().map(|(place, address)| (place, Some(address))));
    Ok(Ok((page, note)))
}
