//! The intervals in a fleet's recordings that samples are selected by.
//!
//! Intervals come from the file named in the manifest. Otherwise they are in the recording itself, or in the export, if it has tables of
//! signposts or hangs. For any other export they are in a file next to it, named after it (`run7-intervals.xml` for `run7.xml`).

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::fleet_input::FleetInput;
use super::options::IntervalChoice;
use crate::fleet::NotMeasured;
use crate::fleet::host::{FleetHost, WatchedInputs};
use crate::fleet::inputs::Task;
use crate::profile::IntervalFilter;
use crate::recording::{Intervals, Options, Recording, Table};
use crate::units::several;

/// The maximum number of names listed; the rest are counted.
const NAMES: usize = 8;

/// The intervals that samples must be in.
#[derive(Debug)]
pub(crate) struct AskedIntervals {
    choice: IntervalChoice,
    /// The names that any recording has.
    seen: Mutex<BTreeSet<String>>,
}

impl AskedIntervals {
    pub(super) fn new(choice: IntervalChoice) -> Self {
        Self { choice, seen: Mutex::default() }
    }

    /// The names that no recording has.
    pub(crate) fn unseen(&self) -> Vec<&String> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        // If no name was found at all, every file reports it.
        self.choice.names.iter().filter(|name| !seen.is_empty() && !seen.contains(*name)).collect()
    }

    /// The tables that may contain them.
    fn schemas(&self) -> Vec<&'static str> {
        let signposts = if self.choice.names.is_empty() { &[][..] } else { &Intervals::SIGNPOSTS };
        let hangs = if self.choice.has_hangs { &Intervals::HANGS[..] } else { &[] };
        [signposts, hangs].concat()
    }

    /// The intervals of a recording that was read.
    ///
    /// # Errors
    /// If a file cannot be read, or contains no such intervals.
    pub(crate) fn of(
        &self,
        task: &Task,
        (export, input): (&Recording, &FleetInput<'_>),
        (files, host): (&dyn WatchedInputs, &dyn FleetHost),
        options: &Options,
        notes: &mut Vec<String>,
    ) -> Result<IntervalFilter, NotMeasured> {
        let (found, other) = read(&self.schemas(), task, (export, input), (files, host), options)?;
        note_unread(&found, notes);
        if !found.tables.iter().any(|table| self.schemas().contains(&table.schema.as_str())) {
            return Err(NotMeasured::not_selected(self.without_tables(task, input, other)));
        }
        let filter = found.filter(&self.choice.names, self.choice.has_hangs, self.choice.needs_all);
        if filter.count() == 0 {
            return Err(NotMeasured::not_selected(self.none_of(&found)));
        }
        let names = found.intervals.iter().filter_map(|interval| interval.name.as_deref());
        let asked = names.filter(|name| self.choice.names.iter().any(|asked| asked == name)).map(str::to_owned);
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).extend(asked);
        if filter.open() > 0 {
            let (open, count) = (filter.open(), filter.count());
            notes.push(format!(
                "{open} of {count} intervals have no recorded end; they are assumed to last until the recording ends"
            ));
        }
        Ok(filter)
    }

    fn without_tables(&self, task: &Task, input: &FleetInput<'_>, other: Option<&Path>) -> String {
        let schemas = self.schemas();
        let what = if self.choice.names.is_empty() { "potential hangs" } else { "signposts" };
        let command = Table::export_command("X.trace", None, &schemas[..1]);
        match other {
            Some(path) => format!("{} has no table of {what}; export them with: {command}", path.display()),
            None if input.bundle().is_some() => format!("It has no readable table of {what}; they were not recorded."),
            None => {
                let name = task.intervals_name();
                format!("It has no table of {what}, and there is no {name} next to it; export them with: {command}")
            }
        }
    }

    /// The error if no interval matches, with the names that exist.
    fn none_of(&self, found: &Intervals) -> String {
        let hang = "There is no potential hang.";
        if self.choice.names.is_empty() {
            return hang.to_owned();
        }
        let asked: Vec<String> = self.choice.names.iter().map(|name| format!("{name:?}")).collect();
        let mut names: Vec<&str> = found.intervals.iter().filter_map(|interval| interval.name.as_deref()).collect();
        names.sort_unstable();
        names.dedup();
        let more = names.len().saturating_sub(NAMES);
        let there_are = match (&names[..names.len().min(NAMES)], more) {
            ([], _) => "none has a name".to_owned(),
            (names, 0) => format!("known names: {}", names.join(", ")),
            (names, more) => format!("known names: {} and {more} more", names.join(", ")),
        };
        let and_hang = if self.choice.has_hangs { format!(" {hang}") } else { String::new() };
        format!("There is no interval named {}; {there_are}.{and_hang}", asked.join(" or "))
    }
}

/// All intervals of a recording.
///
/// # Errors
/// If a file cannot be read.
pub(crate) fn all_intervals(
    task: &Task,
    recording: (&Recording, &FleetInput<'_>),
    (files, host): (&dyn WatchedInputs, &dyn FleetHost),
    options: &Options,
) -> Result<Intervals, NotMeasured> {
    Ok(read(&[&Intervals::SIGNPOSTS[..], &Intervals::HANGS[..]].concat(), task, recording, (files, host), options)?.0)
}

/// Adds notes about unreadable interval rows.
pub(super) fn note_unread(found: &Intervals, notes: &mut Vec<String>) {
    notes.extend(found.diagnostics.iter().map(|diagnostic| diagnostic.message.clone()));
    let rejected: u64 = found.tables.iter().map(|table| table.rejected.total()).sum();
    if rejected > 0 {
        notes.push(format!("{} of intervals could not be read", several(rejected, "row")));
    }
}

/// Reads the intervals of a recording from the file with these tables. Also returns the file, if it is a separate one.
fn read<'t>(
    schemas: &[&str],
    task: &'t Task,
    (export, input): (&Recording, &FleetInput<'_>),
    (files, host): (&dyn WatchedInputs, &dyn FleetHost),
    options: &Options,
) -> Result<(Intervals, Option<&'t Path>), NotMeasured> {
    let has_own = input.bundle().is_some() || has_tables(export, schemas);
    let other = match (&task.intervals, &task.intervals_beside) {
        (Some(named), _) => Some(named.as_path()),
        (None, beside) if !has_own => beside.as_deref(),
        _ => None,
    };
    let found = match other {
        Some(path) => read_other(path, (files, host), options)?,
        None if !has_own => Intervals::default(),
        None => input.intervals(options, host)?,
    };
    Ok((found, other))
}

fn has_tables(export: &Recording, schemas: &[&str]) -> bool {
    export.tables().filter_map(|table| table.schema.as_deref()).any(|schema| schemas.contains(&schema))
}

/// Reads the intervals in the file next to an export.
fn read_other(
    path: &Path,
    (files, host): (&dyn WatchedInputs, &dyn FleetHost),
    options: &Options,
) -> Result<Intervals, NotMeasured> {
    let named = |refused: NotMeasured| {
        let reason = format!("the intervals in {}: {}", path.display(), refused.reason);
        NotMeasured { kind: refused.kind, reason }
    };
    let other = FleetInput::open(files, path, &options.memory).map_err(named)?;
    other.intervals(options, host).map_err(named)
}
