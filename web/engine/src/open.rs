//! Opens the payloads of a page: one recording, or two to compare.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use traceparse::Payload;
use traceparse::calltree::FunctionSet;
use traceparse::profile::Profile;
use traceparse::recording::Interval;
use traceparse::units::Unit;
use ts_rs::TS;

use crate::desk::Desk;
use crate::pair::{MatchedColumns, Pair, facts_of};
use crate::protocol::{Answer, Ask, Question, Range};
use crate::search::{self, Reading};
use crate::wire::{F64s, I32s, Refused, U8s};

/// The desks that answer questions.
enum Desks {
    One(Box<Desk>),
    Two(Box<Pair>),
}

pub(crate) struct Opened {
    desks: Desks,
    /// The last search, cached since it is repeated with every selection and for each step between matches.
    search: Option<(String, Result<Reading, Refused>)>,
}

/// The tables that the page itself reads: everything except samples, stacks and frames.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenedTables {
    pub(crate) tables: Tables,
    pub(crate) pair: Option<PairTables>,
}

#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PairTables {
    pub(crate) before: Tables,
    #[ts(type = "DiffFacts")]
    pub(crate) facts: Value,
    pub(crate) matching: MatchedColumns,
}

#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tables {
    /// The head of the payload.
    #[ts(type = "Head")]
    pub(crate) head: Box<RawValue>,
    pub(crate) functions: FunctionColumns,
    /// The concatenated names of functions, and the end of each.
    pub(crate) text_bytes: U8s,
    pub(crate) text_ends: F64s,
    /// By series: its first and last time; null without times.
    pub(crate) spans: Vec<Option<Range>>,
    pub(crate) intervals: IntervalColumns,
}

/// Intervals, with indices of their labels and owners in the lists of the head.
#[derive(Debug, Default, Serialize, TS)]
pub(crate) struct IntervalColumns {
    pub(crate) run: I32s,
    pub(crate) start: F64s,
    /// Infinite if the interval was open at the end.
    pub(crate) end: F64s,
    pub(crate) label: I32s,
    pub(crate) owner: I32s,
}

#[derive(Debug, Default, Serialize, TS)]
pub(crate) struct FunctionColumns {
    pub(crate) count: usize,
    pub(crate) name: I32s,
    pub(crate) binary: I32s,
    /// Bits: 1 if the function has a real name, 2 if threads wait in it.
    pub(crate) flags: I32s,
}

impl Opened {
    /// Opens a recording and, for a comparison, the recording before. Missing parts are empty.
    pub(crate) fn new(payload: &[u8], before: &[u8], facts: &[u8]) -> Result<(Self, OpenedTables), Refused> {
        let (desk, tables) = desk_of(payload)?;
        let (desks, pair) = match (before, facts) {
            ([], []) => (Desks::One(Box::new(desk)), None),
            ([], _) | (_, []) => return Err(Refused("a part of the comparison is missing".to_owned())),
            _ => {
                let (first, before) = desk_of(before)?;
                let facts = facts_of(facts)?;
                let pair = Pair::new(first, desk, &facts);
                let tables = PairTables { before, facts, matching: pair.matching() };
                (Desks::Two(Box::new(pair)), Some(tables))
            }
        };
        Ok((Self { desks, search: None }, OpenedTables { tables, pair }))
    }

    pub(crate) fn answer(&mut self, Question { place, ask }: &Question) -> Result<Answer, Refused> {
        if let Some(typed) = searched(ask)
            && self.search.as_ref().is_none_or(|(known, _)| known != typed)
        {
            let read = match &self.desks {
                Desks::One(desk) => search::read(&[desk.profile()], typed),
                Desks::Two(pair) => search::read(&pair.profiles(), typed),
            };
            self.search = Some((typed.to_owned(), read));
        }
        let reading = match (&self.search, searched(ask)) {
            (Some((_, Ok(reading))), Some(_)) => Some(reading),
            (Some((_, Err(refused))), Some(_)) => return Err(refused.clone()),
            _ => None,
        };
        match &mut self.desks {
            Desks::One(desk) => desk.answer(place, ask, reading.map(|reading| (reading, 0))),
            Desks::Two(pair) => pair.answer(place, ask, reading),
        }
    }
}

/// The text for which a question searches.
fn searched(ask: &Ask) -> Option<&str> {
    match ask {
        Ask::Search { text } => Some(text),
        Ask::Tree { rows, .. } | Ask::DiffTree { rows, .. } => rows.find.as_ref().map(|find| find.text.as_str()),
        _ => None,
    }
}

fn desk_of(payload: &[u8]) -> Result<(Desk, Tables), Refused> {
    let payload = Payload::read(payload, "the page").map_err(|error| Refused(error.to_string()))?;
    let known: KnownHead = serde_json::from_str(payload.head).map_err(|error| Refused(error.to_string()))?;
    let counters = known.series.into_iter().map(|series| series.counters.unwrap_or_default());
    let counters = counters.map(|counters| counters.iter().map(|counter| counter.has_column).collect()).collect();
    let head = RawValue::from_string(payload.head.to_owned()).map_err(|error| Refused(error.to_string()))?;
    let tables = Tables::new(&payload.recording.profile, &payload.intervals.intervals, head);
    Ok((Desk::new(payload, counters), tables))
}

/// The part of the head that the recording does not contain.
#[derive(Deserialize)]
struct KnownHead {
    series: Vec<KnownSeries>,
}

#[derive(Deserialize)]
struct KnownSeries {
    counters: Option<Vec<KnownCounter>>,
}

#[derive(Deserialize)]
struct KnownCounter {
    has_column: bool,
}

impl Tables {
    fn new(profile: &Profile, intervals: &[Interval], head: Box<RawValue>) -> Self {
        let idle = FunctionSet::idle(profile);
        let mut texts: HashMap<&str, i32> = HashMap::new();
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        let mut functions = FunctionColumns::default();
        for id in profile.function_ids() {
            let (function, name) = (profile.function(id), profile.function_name(id));
            let next = texts.len() as i32;
            let place = *texts.entry(name).or_insert_with(|| {
                bytes.extend(name.bytes());
                ends.push(bytes.len() as f64);
                next
            });
            functions.count += 1;
            functions.name.0.push(place);
            functions.binary.0.push(function.binary.map_or(-1, |binary| binary.index() as i32));
            functions.flags.0.push(i32::from(function.is_named) + 2 * i32::from(idle.contains(id)));
        }
        let (spans, intervals) = (spans(profile), IntervalColumns::new(intervals));
        Self { head, functions, text_bytes: U8s(bytes), text_ends: F64s(ends), spans, intervals }
    }
}

impl IntervalColumns {
    /// Collects columns. The lists of the head are in the order of first use.
    fn new(rows: &[Interval]) -> Self {
        let (mut labels, mut owners) = (HashMap::new(), HashMap::new());
        let mut columns = Self::default();
        for row in rows {
            let Interval { table, name, subsystem, category, hang_type, .. } = row;
            let label = (row.origin, [table, name, subsystem, category, hang_type]);
            let next = labels.len() as i32;
            columns.label.0.push(*labels.entry(label).or_insert(next));
            let next = owners.len() as i32;
            columns.owner.0.push(*owners.entry((&row.process, row.pid, row.tid)).or_insert(next));
            columns.run.0.push(row.run as i32);
            columns.start.0.push(row.start.as_nanos() as f64);
            columns.end.0.push(row.end.map_or(f64::INFINITY, |end| end.as_nanos() as f64));
        }
        columns
    }
}

/// By series: its first and last time; `None` without times.
#[inline(never)]
fn spans(profile: &Profile) -> Vec<Option<Range>> {
    let mut spans: Vec<Option<Range>> = profile.series_ids().map(|_| None).collect();
    for sample in profile.samples() {
        let series = profile.series(sample.series);
        // The last sample of a time profile lasts as long as its weight.
        let length = if series.unit == Unit::Nanoseconds { (sample.weight as f64).min(1e9) } else { 0.0 };
        let time = sample.time.as_nanos() as f64;
        let span = &mut spans[sample.series.index()];
        *span = Some(Range { start: span.map_or(time, |span| span.start), end: time + length });
    }
    let has_times = |(span, id): (Option<Range>, _)| span.filter(|_| profile.series(id).has_times);
    spans.into_iter().zip(profile.series_ids()).map(has_times).collect()
}
