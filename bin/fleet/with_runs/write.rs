//! Writes the pages of the runs that a report names first.

use anyhow::{Result, bail};
use traceparse::fleet::{FleetReport, RunRow};
use traceparse::output::RunPage;

use super::super::batch::total_bytes;
use super::super::control::{AtInterrupt, Control};
use super::super::failure::without_path;
use super::super::notes::Notes;
use super::super::settings::Settings;
use super::super::task::Task;
use super::args::WithRunsArgs;
use super::folder::{NewFolder, RunFolder};
use super::page::PageMaker;
use crate::redacted;

/// The pages that are wanted.
pub(in crate::fleet) struct Wanted<'a> {
    pub(in crate::fleet) args: &'a WithRunsArgs,
    pub(in crate::fleet) settings: &'a Settings<'a>,
    /// True if a run without a page is a failure.
    pub(in crate::fleet) is_strict: bool,
}

/// Pages that were written, in a folder that has not got its name yet.
pub(in crate::fleet) struct RunPages {
    pub(in crate::fleet) pages: Vec<RunPage>,
    pub(in crate::fleet) folder: NewFolder,
}

impl Wanted<'_> {
    /// Writes pages of the runs that a report names first, whose files `find` knows.
    ///
    /// # Errors
    /// When a page cannot be written; if `--strict` is given, also when a run cannot be read again.
    pub(in crate::fleet) fn write<'t>(
        &self,
        report: &FleetReport,
        folder: RunFolder,
        find: impl Fn(&RunRow) -> Option<std::borrow::Cow<'t, Task>>,
    ) -> Result<RunPages> {
        let mut wanted = RunPage::all(report);
        wanted.truncate(self.args.with_runs.map_or(0, |runs| runs as usize));
        let found: Vec<_> = wanted.into_iter().map(|page| (find(&report.runs[page.run]), page)).collect();
        let tasks: Vec<Task> = found.iter().filter_map(|(task, _)| Some(task.as_deref()?.clone())).collect();
        let control = Control::new(found.len(), total_bytes(&tasks), AtInterrupt::EndPages);
        let maker = PageMaker { report, settings: self.settings, control: &control, args: &self.args.page };
        let (mut folder, mut pages, mut notes) = (folder.begin()?, Vec::new(), Notes::default());
        for (index, (task, page)) in found.into_iter().enumerate() {
            let run = &report.runs[page.run];
            let said = match &task {
                None => Err("it is not there any more".to_owned()),
                Some(task) => add(&maker, task, page, &mut folder)?,
            };
            control.progress.add_file(0, said.is_err());
            match said {
                Ok((page, note)) => {
                    notes.add(index, &run.source, note.into_iter().collect());
                    pages.push(page);
                }
                Err(reason) if self.is_strict => {
                    control.progress.clear();
                    bail!("{}: no page of this run: {reason}; and --strict was given", run.source)
                }
                Err(reason) => notes.add(index, &run.source, vec![format!("no page of this run: {reason}")]),
            }
        }
        control.progress.clear();
        notes.print();
        Ok(RunPages { pages, folder })
    }
}

/// Writes a page into the folder: the page with its addresses, and what is left out of it; or the reason why there is none.
fn add(
    maker: &PageMaker<'_>,
    task: &Task,
    mut page: RunPage,
    folder: &mut NewFolder,
) -> Result<Result<(RunPage, Option<String>), String>> {
    let file = folder.next();
    let made = match maker.make(&page, task, &folder.path(&file))? {
        Ok(made) => made,
        Err(refused) => return Ok(Err(redacted::shown(without_path(&refused.reason, &task.path)).into_owned())),
    };
    let address = folder.place.address(&file);
    for (place, fragment) in made.fragments {
        page.places.insert(place, Some(format!("{address}{fragment}")));
    }
    folder.add(&file, &maker.report.runs[page.run]);
    Ok(Ok((page, made.note)))
}
