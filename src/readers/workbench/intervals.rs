//! Signposts, hangs and hang risks.

use std::sync::Arc;

use super::head::{Head, HeadRow};
use crate::error::Error;
use crate::recording::{HangRisk, Interval, IntervalOrigin, Intervals};
use crate::units::Nanos;

/// Returns the intervals of a page, of which each occurs once.
pub(super) fn read(head: Head<'_>) -> Result<Intervals, Error> {
    Ok(Intervals {
        intervals: head.rows("intervals").map(interval).collect::<Result<_, Error>>()?,
        hang_risks: head.rows("hang_risks").map(hang_risk).collect::<Result<_, Error>>()?,
        ..Intervals::default()
    })
}

fn interval(row: HeadRow<'_>) -> Result<Interval, Error> {
    let origin = match row.text("kind")? {
        "hang" => IntervalOrigin::Hang,
        "region" => IntervalOrigin::Region,
        // An open `Signpost` would be a duplicate of one with an end, but a page has no duplicates.
        "signpost" => IntervalOrigin::SignpostEvents,
        _ => return Err(row.wrong("kind")),
    };
    Ok(Interval {
        origin,
        run: row.number_u32("run")?,
        start: Nanos::from_nanos(row.number("start_ns")?),
        end: row.optional_number("end_ns")?.map(Nanos::from_nanos),
        name: text(row, "name"),
        subsystem: text(row, "subsystem"),
        category: text(row, "category"),
        identifier: row.optional_number("identifier")?,
        process: text(row, "process"),
        pid: row.optional_number("pid")?,
        tid: row.optional_number("tid")?,
        hang_type: text(row, "hang_type"),
        table: None,
    })
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
