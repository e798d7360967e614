//! Intervals of signposts, and potential hangs: `os-signpost-interval` and `potential-hangs`.
//!
//! Of a row the times, the name, the process and the thread are read. How subsystem, category, identifier and the kind of a hang
//! are written was not seen in a real recording, so they are left out. `os-signpost`, which has the same intervals as pairs of
//! events, is not read for the same reason.

use std::path::Path;
use std::sync::Arc;

use super::file::broken_at;
use super::layout::{Layout, Place};
use super::people::{self, Identity, Names, string_number};
use super::row_error::Unreadable;
use super::row_notes::RowNotes;
use super::rows::Rows;
use super::run_data::RunData;
use super::strings::Strings;
use super::uniquer::{Arrays, reference};
use crate::error::{Diagnostic, Error};
use crate::export::{Interval, IntervalOrigin, IntervalTable, RejectReason};
use crate::hash::HashMap;
use crate::symbols::Files;
use crate::units::Nanos;

/// Where the parts of an interval are in a row.
#[derive(Clone, Debug)]
pub(super) struct IntervalColumns {
    origin: IntervalOrigin,
    start: Place,
    duration: Place,
    name: Option<Place>,
    process: Option<Place>,
    thread: Option<Place>,
    /// Why intervals have no process or no thread.
    pub(super) unread: Vec<String>,
}

impl IntervalColumns {
    /// The columns of a table of intervals; else why its rows are none.
    pub(super) fn of(layout: &Layout) -> Result<Self, String> {
        let is_hangs = layout.schema.name == "potential-hangs";
        let typed = |mnemonic: &str, expected: &str| match layout.column(mnemonic) {
            Some((place, known)) if known == expected => Ok(place),
            Some((_, other)) => Err(super::columns::unknown(mnemonic, other)),
            None => Err(format!("it has no column {mnemonic}")),
        };
        let thread = if is_hangs { "thread" } else { "start-thread" };
        // Intervals are of use without them.
        let (process, thread) = (typed("process", "XRProcessTypeID"), typed(thread, "XRThreadTypeID"));
        let unread = [&process, &thread].into_iter().filter_map(|place| place.clone().err()).collect();
        Ok(Self {
            origin: if is_hangs { IntervalOrigin::Hang } else { IntervalOrigin::Signpost },
            start: typed("start", "XRStartTimeTypeID")?,
            duration: typed("duration", "XRDurationTypeID")?,
            name: if is_hangs { None } else { Some(typed("name", "XRPrototypeStringTypeID")?) },
            process: process.ok(),
            thread: thread.ok(),
            unread,
        })
    }
}

/// Reads rows of intervals with what they refer to.
pub(super) struct IntervalReader<'a> {
    pub(super) run: u32,
    pub(super) arrays: &'a Arrays,
    pub(super) strings: &'a Strings<'a>,
    pub(super) names: &'a Names<'a>,
    pub(super) recorded: &'a RunData,
    /// Names that were read, by number of the string.
    pub(super) texts: HashMap<u64, Arc<str>>,
    pub(super) notes: RowNotes,
}

impl IntervalReader<'_> {
    /// Adds the intervals of the store in this folder; says what is odd about it.
    pub(super) fn read(
        &mut self,
        files: &dyn Files,
        folder: &Path,
        layout: &Layout,
        columns: &IntervalColumns,
        table: &mut IntervalTable,
        intervals: &mut Vec<Interval>,
    ) -> Result<Vec<Diagnostic>, Error> {
        let mut rows = Rows::open(files, folder, layout)?;
        while let Some((piece, start)) = rows.next()? {
            for (row, index) in piece.chunks_exact(layout.row_size).zip(0_u64..) {
                let at = start + index * layout.row_size as u64;
                let interval = self.interval(row, columns, (folder, at));
                let interval = interval.map_err(|error| broken_at(&folder.join("bulkstore"), at, "row", error))?;
                table.rows += 1;
                match interval {
                    Ok(interval) => {
                        table.used += 1;
                        intervals.push(interval);
                    }
                    Err(reason) => {
                        table.rejected.add(reason);
                        self.notes.note(folder, at, reason.name(), || format!("row rejected: {reason}"));
                    }
                }
            }
        }
        Ok(rows.diagnostic().into_iter().chain(self.notes.take()).collect())
    }

    fn interval(
        &mut self,
        row: &[u8],
        columns: &IntervalColumns,
        (folder, at): (&Path, u64),
    ) -> Result<Result<Interval, RejectReason>, Unreadable> {
        let Some(start) = columns.start.value(row) else { return Ok(Err(RejectReason::NoTime)) };
        let end = match columns.duration.value(row).map(|duration| start.checked_add(duration)) {
            Some(None) => return Ok(Err(RejectReason::BadNumber)),
            end => end.flatten(),
        };
        let value = |place: Option<Place>| place.and_then(|place| place.value(row));
        let process = value(columns.process).and_then(reference);
        let process = process.map(|number| Identity::process(number, self.arrays, self.names, self.recorded));
        let process = process.transpose()?;
        if let Some(odd) = process.as_ref().and_then(|process| process.odd) {
            self.notes.note(folder, at, odd.topic(), || odd.to_string());
        }
        let thread = value(columns.thread).and_then(reference);
        let thread = thread.map(|number| self.thread(number)).transpose()?;
        let name = columns.name.and_then(|place| Some(string_number(place, place.value(row)?)));
        let name = name.map(|number| self.text(number)).transpose()?;
        Ok(Ok(Interval {
            origin: columns.origin,
            run: self.run,
            start: Nanos::from_nanos(start),
            end: end.map(Nanos::from_nanos),
            name,
            subsystem: None,
            category: None,
            identifier: None,
            process: process.as_ref().map(|process| Arc::from(process.name)),
            pid: process.as_ref().map(|process| process.number),
            tid: thread,
            hang_type: None,
        }))
    }

    /// The number of a thread, which must be one of a process.
    fn thread(&self, number: u32) -> Result<u64, Unreadable> {
        let (tid, process) = people::thread(self.arrays, number)?;
        people::pid(self.arrays, self.strings, process)?;
        Ok(tid)
    }

    fn text(&mut self, number: u64) -> Result<Arc<str>, Unreadable> {
        if let Some(text) = self.texts.get(&number) {
            return Ok(text.clone());
        }
        let text: Arc<str> = Arc::from(self.strings.get(number)?);
        self.texts.insert(number, text.clone());
        Ok(text)
    }
}
