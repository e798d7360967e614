//! Reads intervals and hang risks.

use std::sync::Arc;

use super::columns::Columns;
use super::head::{Head, HeadRow};
use crate::error::Error;
use crate::recording::{HangRisk, Interval, IntervalOrigin, Intervals};
use crate::units::Nanos;

/// Returns the intervals of a page, each once.
pub(super) fn read(head: Head<'_>, columns: &Columns<'_>) -> Result<Intervals, Error> {
    let labels = head.rows("interval_labels").map(label).collect::<Result<Vec<Interval>, Error>>()?;
    let owners = head.rows("interval_owners").map(owner).collect::<Result<Vec<Owner>, Error>>()?;
    Ok(Intervals {
        // A page without intervals has no columns for them.
        intervals: if labels.is_empty() { Vec::new() } else { rows(columns, &labels, &owners)? },
        hang_risks: head.rows("hang_risks").map(hang_risk).collect::<Result<_, Error>>()?,
        ..Intervals::default()
    })
}

/// A process with its pid, and a tid.
type Owner = (Option<Arc<str>>, Option<u64>, Option<u64>);

#[inline(never)]
fn rows(columns: &Columns<'_>, labels: &[Interval], owners: &[Owner]) -> Result<Vec<Interval>, Error> {
    let names = ["run", "start", "duration", "label", "owner", "identifier"];
    let (count, found) = columns.table(names.map(|name| format!("intervals.{name}")).each_ref().map(String::as_str))?;
    let [mut run, mut start, mut duration, mut label, mut owner, mut identifier] = found;
    let row = |_| {
        let begin = start.next()?;
        let end = duration
            .next()?
            .checked_sub(1)
            .map(|length| begin.checked_add(length).ok_or_else(|| duration.wrong("it ends too late")));
        let (process, pid, tid) = owners[owner.id::<Owner>(owners.len())?.index()].clone();
        Ok(Interval {
            run: run.next_u32()?,
            start: Nanos::from_nanos(begin),
            end: end.transpose()?.map(Nanos::from_nanos),
            identifier: identifier.next()?.checked_sub(1),
            process,
            pid,
            tid,
            ..labels[label.id::<Interval>(labels.len())?.index()].clone()
        })
    };
    (0..count).map(row).collect()
}

/// An interval with this label.
fn label(row: HeadRow<'_>) -> Result<Interval, Error> {
    let origin = match row.text("kind")? {
        "hang" => IntervalOrigin::Hang,
        "region" => IntervalOrigin::Region,
        // Pages do not record which signpost table an interval is from.
        "signpost" => IntervalOrigin::SignpostEvents,
        "table" => IntervalOrigin::Table,
        _ => return Err(row.wrong("kind")),
    };
    Ok(Interval {
        name: text(row, "name"),
        subsystem: text(row, "subsystem"),
        category: text(row, "category"),
        hang_type: text(row, "hang_type"),
        table: text(row, "table"),
        ..Interval::new(origin, 0, Nanos::default(), None)
    })
}

fn owner(row: HeadRow<'_>) -> Result<Owner, Error> {
    Ok((text(row, "process"), row.optional_number("pid")?, row.optional_number("tid")?))
}

fn hang_risk(row: HeadRow<'_>) -> Result<HangRisk, Error> {
    Ok(HangRisk {
        run: row.number_u32("run")?,
        time: Nanos::from_nanos(row.number("time_ns")?),
        message: text(row, "message"),
        severity: text(row, "severity"),
        event_type: text(row, "event_type"),
        process: text(row, "process"),
        pid: row.optional_number("pid")?,
        tid: row.optional_number("tid")?,
    })
}

fn text(row: HeadRow<'_>, field: &str) -> Option<Arc<str>> {
    row.optional_text(field).map(Arc::from)
}
