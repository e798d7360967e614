//! Converts the values of rows to intervals, for exports and recordings.

use std::collections::HashSet;
use std::sync::Arc;

use super::super::RejectReason;
use super::pairs::{Event, Identity, Pairs};
use super::{HangRisk, Interval, IntervalOrigin, IntervalTable, Intervals, LoneEnd};
use crate::hash::HashMap;
use crate::memory::{of_map, of_vec};
use crate::units::Nanos;

/// In a table with at least this many rows, labels that all differ are not names.
const MANY: usize = 10;

/// The kind of a table's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RowKind {
    /// Signpost intervals.
    Signpost,
    /// Signpost events: beginnings and ends of intervals, and points in time.
    SignpostEvent,
    /// Regions and points of interest.
    Region,
    /// Potential hangs.
    Hang,
    /// Moments at which the app did something that may lead to hangs.
    HangRisk,
    /// Intervals of any other kind.
    Table,
}

impl RowKind {
    /// Returns the kind of the rows in a table with this schema; `None` for tables without intervals, hangs or hang risks.
    pub(crate) fn of_schema(schema: &str) -> Option<Self> {
        match schema {
            // Instruments of Xcode 27 writes the second one, with the same columns.
            "os-signpost-interval" | "OSSignpostIntervals" => Some(Self::Signpost),
            "os-signpost" => Some(Self::SignpostEvent),
            "region-of-interest" => Some(Self::Region),
            "potential-hangs" => Some(Self::Hang),
            "hang-risks" => Some(Self::HangRisk),
            _ => None,
        }
    }
}

/// The values of a row. Strings are interned numbers, and absent values are `None`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowValues {
    /// When it begins or happens, in nanoseconds.
    pub(crate) start: Option<u64>,
    /// In nanoseconds.
    pub(crate) duration: Option<u64>,
    pub(crate) identity: Identity,
    /// The value that classifies the row: the type of an event or hang, or the class of a region.
    pub(crate) kind: Option<u32>,
    /// Only for events.
    pub(crate) scope: Option<u32>,
    /// Only for hang risks.
    pub(crate) message: Option<u32>,
    /// Only for hang risks.
    pub(crate) severity: Option<u32>,
}

/// Collects the intervals and hang risks of one table.
#[derive(Debug)]
pub(crate) struct TableValues {
    pub(crate) table: IntervalTable,
    kind: RowKind,
    /// The schema; `None` for signposts and hangs.
    schema: Option<Arc<str>>,
    /// True if its names are labels, which may differ in every row.
    has_labels: bool,
    intervals: Vec<Interval>,
    risks: Vec<HangRisk>,
    pairs: Pairs,
}

impl TableValues {
    pub(crate) fn new(table: IntervalTable, kind: RowKind, has_labels: bool) -> Self {
        let schema = (kind == RowKind::Table).then(|| table.schema.as_str().into());
        let (intervals, risks, pairs) = (Vec::new(), Vec::new(), Pairs::default());
        Self { table, kind, schema, has_labels, intervals, risks, pairs }
    }

    /// Returns the approximate size in bytes.
    pub(crate) fn memory(&self) -> u64 {
        of_vec(&self.intervals) + of_vec(&self.risks) + self.pairs.memory()
    }

    /// Adds a row that starts at the byte offset `at`, or counts it as rejected.
    pub(crate) fn add(&mut self, values: &RowValues, texts: &Texts, at: u64) -> Result<(), RejectReason> {
        let result = self.take(values, texts, at);
        match result {
            Ok(()) => self.table.rows += 1,
            Err(reason) => self.reject(reason),
        }
        result
    }

    /// Counts a row that could not be read.
    pub(crate) fn reject(&mut self, reason: RejectReason) {
        self.table.rows += 1;
        self.table.rejected.add(reason);
    }

    fn take(&mut self, values: &RowValues, texts: &Texts, at: u64) -> Result<(), RejectReason> {
        let start = values.start.ok_or(RejectReason::NoTime)?;
        let text = |text: Option<u32>| text.map(|text| texts.text(text));
        // An interval without a duration was open when the recording ended.
        let end = match values.duration {
            Some(duration) => Some(start.checked_add(duration).ok_or(RejectReason::BadNumber)?),
            None => None,
        };
        let (origin, hang_type) = match self.kind {
            RowKind::SignpostEvent => {
                let kind = text(values.kind).ok_or(RejectReason::WrongType)?;
                let scope = text(values.scope);
                let event = Event { time: start, at, identity: values.identity };
                return self.pairs.add(event, &kind, scope.as_deref()).then_some(()).ok_or(RejectReason::WrongType);
            }
            RowKind::HangRisk => {
                self.add_risk(start, values, texts);
                return Ok(());
            }
            RowKind::Region => match text(values.kind).as_deref() {
                Some("Interval") => (IntervalOrigin::Region, None),
                Some("Point") => {
                    self.table.unused += 1;
                    return Ok(());
                }
                _ => return Err(RejectReason::WrongType),
            },
            RowKind::Signpost => (IntervalOrigin::Signpost, None),
            RowKind::Hang => (IntervalOrigin::Hang, text(values.kind)),
            RowKind::Table => (IntervalOrigin::Table, None),
        };
        self.table.used += 1;
        self.push(origin, (start, end), &values.identity, hang_type, texts);
        Ok(())
    }

    fn add_risk(&mut self, time: u64, values: &RowValues, texts: &Texts) {
        let text = |text: Option<u32>| text.map(|text| texts.text(text));
        let identity = &values.identity;
        self.table.used += 1;
        self.risks.push(HangRisk {
            run: self.table.run,
            time: Nanos::from_nanos(time),
            message: text(values.message),
            severity: text(values.severity),
            event_type: text(values.kind),
            process: text(identity.process.map(|process| process.name)),
            pid: identity.process.and_then(|process| process.pid),
            tid: identity.tid,
        });
    }

    fn push(
        &mut self,
        origin: IntervalOrigin,
        (start, end): (u64, Option<u64>),
        identity: &Identity,
        hang_type: Option<Arc<str>>,
        texts: &Texts,
    ) {
        let text = |text: Option<u32>| text.map(|text| texts.text(text));
        self.intervals.push(Interval {
            origin,
            run: self.table.run,
            start: Nanos::from_nanos(start),
            end: end.map(Nanos::from_nanos),
            name: text(identity.name),
            label: None,
            subsystem: text(identity.subsystem),
            category: text(identity.category),
            identifier: identity.identifier,
            process: text(identity.process.map(|process| process.name)),
            pid: identity.process.and_then(|process| process.pid),
            tid: identity.tid,
            hang_type,
            table: self.schema.clone(),
        });
    }

    /// Ends the table, and adds its intervals and hang risks to `found`, sorted by time. The sort is stable.
    pub(crate) fn finish(mut self, texts: &Texts, found: &mut Intervals) {
        let paired = std::mem::take(&mut self.pairs).finish();
        for (identity, start, end) in &paired.intervals {
            self.table.used += if end.is_some() { 2 } else { 1 };
            self.push(IntervalOrigin::SignpostEvents, (*start, *end), identity, None, texts);
        }
        self.table.unused += paired.points + paired.lone_ends.len() as u64;
        let run = self.table.run;
        found.lone_ends.extend(paired.lone_ends.iter().map(|event| LoneEnd {
            run,
            time: Nanos::from_nanos(event.time),
            name: event.identity.name.map(|name| texts.text(name)),
        }));
        if self.has_labels && are_unique(self.intervals.iter().filter_map(|interval| interval.name.as_deref())) {
            self.intervals.iter_mut().for_each(|interval| interval.label = interval.name.take());
        }
        self.intervals.sort_by_key(|interval| interval.start);
        self.risks.sort_by_key(|risk| risk.time);
        self.table.intervals = self.intervals.len();
        found.intervals.append(&mut self.intervals);
        found.hang_risks.append(&mut self.risks);
        found.tables.push(self.table);
    }
}

/// True if labels identify single rows rather than kinds of rows: nearly every row has a different one. With few rows, only numbers such as
/// addresses and counters count.
fn are_unique<'l>(labels: impl Iterator<Item = &'l str>) -> bool {
    let is_number = |label: &str| label.strip_prefix("0x").is_some_and(is_hexadecimal) || label.parse::<u64>().is_ok();
    let (mut all, mut distinct, mut are_numbers) = (0_usize, HashSet::new(), true);
    for label in labels {
        all += 1;
        distinct.insert(label);
        are_numbers &= is_number(label);
    }
    (all >= MANY || are_numbers) && distinct.len() * 10 > all * 9
}

fn is_hexadecimal(digits: &str) -> bool {
    digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// Interned strings.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    all: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
    /// The total size of all strings in bytes.
    bytes: u64,
}

impl Texts {
    /// Returns the approximate size in bytes.
    pub(crate) fn memory(&self) -> u64 {
        self.bytes + of_vec(&self.all) + of_map(&self.numbers)
    }

    /// Interns a string and returns its number. 32 bits suffice, since 2³² strings would not fit in memory.
    pub(crate) fn number_of(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let text: Arc<str> = text.into();
        let number = self.all.len() as u32;
        self.bytes += text.len() as u64 + 2 * size_of::<usize>() as u64;
        self.all.push(text.clone());
        self.numbers.insert(text, number);
        number
    }

    pub(crate) fn text(&self, number: u32) -> Arc<str> {
        self.all[number as usize].clone()
    }
}
