//! The events of a thread other than samples: signpost intervals, hangs, and the states in which it waited.
//!
//! A marker belongs to its thread, or to the main thread if only the process is known.

use std::collections::HashSet;
use std::io;

use super::columns::{column, length, push_millis};
use super::tables::Tables;
use crate::hash::HashMap;
use crate::output::byte_writer::{ByteWriter, Put, push_number};
use crate::profile::{Profile, Sample, SampledTime, SeriesId, StringId, ThreadId, TimeRange};
use crate::recording::{Interval, Intervals};
use crate::report::Report;
use crate::units::{Nanos, Unit};

/// The marker schemas with their fields.
pub(super) const SCHEMAS: &str = "[\
    {\"name\":\"Signpost\",\"tableLabel\":\"{marker.name}\",\"display\":[\"marker-chart\",\"marker-table\"],\"fields\":[\
        {\"key\":\"subsystem\",\"label\":\"Subsystem\",\"format\":\"string\"},\
        {\"key\":\"category\",\"label\":\"Category\",\"format\":\"string\"},\
        {\"key\":\"identifier\",\"label\":\"Identifier\",\"format\":\"string\"}]},\
    {\"name\":\"Hang\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],\"fields\":[]},\
    {\"name\":\"ThreadState\",\"display\":[\"marker-chart\",\"marker-table\"],\"fields\":[]}]";

/// The names of unnamed intervals.
const SIGNPOST: &str = "signpost";
const HANG: &str = "Hang";
/// This state has no markers, since samples show when a thread runs.
const RUNNING: &str = "Running";
/// The samples of a waiting thread follow each other at the pace of the timer. After a longer pause, the thread ran in between.
const MAX_PAUSE: Nanos = Nanos::from_millis(20);

/// A thread in a table, to which markers are assigned.
type Place = (SeriesId, ThreadId);

/// A period that a thread spent in one state.
#[derive(Clone, Copy, Debug)]
struct Stay {
    state: StringId,
    start: Nanos,
    end: Nanos,
}

/// The markers of a report's threads.
#[derive(Debug, Default)]
pub struct Markers<'i> {
    intervals: HashMap<Place, Vec<&'i Interval>>,
    stays: HashMap<Place, Vec<Stay>>,
    /// All states with their names, in the order of the first samples.
    states: Vec<(StringId, &'i str)>,
    left_out: u64,
}

impl<'i> Markers<'i> {
    /// Assigns the intervals, each [once](Intervals::distinct), to the threads with samples in the report. Intervals outside of the selected time
    /// range are ignored. The states of all samples in scope are included, selected or not, since they show when a thread waited, if that was
    /// recorded.
    pub fn new(report: &Report<'i>, intervals: &'i Intervals) -> Self {
        let mut markers = Self::default();
        markers.place(report, intervals);
        markers.add_stays(report);
        markers
    }

    /// The number of intervals that are not shown because their process has no samples in the report. Intervals outside of the selection are not
    /// counted: intervals in other runs and times, and all intervals if processes, threads or intervals are selected.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    fn place(&mut self, report: &Report<'_>, intervals: &'i Intervals) {
        let threads = Threads::new(report);
        let selection = &report.options.selection;
        let is_narrowed = !selection.processes.is_empty()
            || !selection.threads.is_empty()
            || selection.only_main_threads
            || selection.intervals.is_some();
        let is_selected = |interval: &Interval| {
            let is_of_run = selection.runs.is_empty() || selection.runs.contains(&interval.run);
            let is_in = |range: TimeRange| {
                range.end.is_none_or(|end| interval.start < end) && interval.end.is_none_or(|end| end > range.start)
            };
            is_of_run && selection.time.is_none_or(is_in)
        };
        for interval in intervals.distinct().into_iter().filter(|interval| is_selected(interval)) {
            match threads.find(interval) {
                Some(place) => self.intervals.entry(place).or_default().push(interval),
                None if is_narrowed => {}
                None => self.left_out += 1,
            }
        }
        for intervals in self.intervals.values_mut() {
            intervals.sort_by_key(|interval| interval.start);
        }
    }

    fn add_stays(&mut self, report: &Report<'i>) {
        let profile = &report.recording.profile;
        let is_waiting = |sample: &Sample| sample.state.is_some_and(|state| profile.string(state) != RUNNING);
        let mut samples: HashMap<Place, Vec<&Sample>> = HashMap::default();
        for (_, sample) in report.samples().filter(|(_, sample)| is_waiting(sample)) {
            samples.entry((sample.series, sample.thread)).or_default();
        }
        for (_, sample) in report.samples() {
            if let Some(of_thread) = samples.get_mut(&(sample.series, sample.thread)) {
                of_thread.push(sample);
            }
        }
        for (place, mut samples) in samples {
            samples.sort_by_key(|sample| sample.time);
            let unit = profile.series(place.0).unit;
            let stays: Vec<Stay> = stays(&samples, unit).filter(|stay| profile.string(stay.state) != RUNNING).collect();
            self.stays.insert(place, stays);
        }
        let mut states: Vec<StringId> = self.stays.values().flatten().map(|stay| stay.state).collect();
        states.sort_unstable();
        states.dedup();
        self.states = states.into_iter().map(|state| (state, profile.string(state))).collect();
    }

    /// The names of all markers.
    pub(super) fn names(&self) -> impl Iterator<Item = &'i str> + '_ {
        // The order must not depend on the iteration order of the map.
        let mut names: Vec<&'i str> = self.intervals.values().flatten().map(|interval| name(interval)).collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().chain(self.states.iter().map(|&(_, name)| name))
    }

    /// Writes the markers of a thread: `"markers":{…},`.
    pub(super) fn write(
        &self,
        series: SeriesId,
        thread: ThreadId,
        tables: &Tables<'_>,
        writer: &mut ByteWriter<'_>,
    ) -> io::Result<()> {
        let place = (series, thread);
        let intervals = self.intervals.get(&place).into_iter().flatten().map(|&interval| Row::Interval(interval));
        let stays = self.stays.get(&place).into_iter().flatten();
        let state = |stay: &Stay| self.states.iter().find(|(id, _)| *id == stay.state).map_or("", |&(_, name)| name);
        let mut rows: Vec<Row<'_>> = intervals.chain(stays.map(|stay| Row::Stay(*stay, state(stay)))).collect();
        rows.sort_by_key(|row| row.start());
        let rows = || rows.iter().copied();
        writer.put(b"\"markers\":{");
        length(rows().count(), writer);
        column(writer, "name", rows(), |row, out| push_number(tables.string(row.name()), out))?;
        column(writer, "startTime", rows(), |row, out| push_millis(row.start().as_nanos(), out))?;
        column(writer, "endTime", rows(), |row, out| match row.end() {
            Some(end) => push_millis(end.as_nanos(), out),
            None => out.extend_from_slice(b"null"),
        })?;
        // 1 is an interval with start and end, 2 an interval that did not end.
        column(writer, "phase", rows(), |row, out| push_number(if row.end().is_some() { 1 } else { 2 }, out))?;
        column(writer, "category", rows().map(|_| 0), push_number)?;
        column(writer, "data", rows(), Row::push_data)?;
        writer.put(b"},\n");
        Ok(())
    }
}

fn name(interval: &Interval) -> &str {
    let (name, unknown) = if interval.is_hang() { (&interval.hang_type, HANG) } else { (&interval.name, SIGNPOST) };
    name.as_deref().filter(|name| !name.is_empty()).unwrap_or(unknown)
}

/// Splits the samples of a thread, sorted by time, into stays: each lasts from the first sample in a state to the next sample in another state, or to
/// the end of the time that the last sample covers.
fn stays<'s>(samples: &'s [&Sample], unit: Unit) -> impl Iterator<Item = Stay> + 's {
    let is_one = |pair: &[&Sample]| pair[0].state == pair[1].state && pair[1].time.since(pair[0].time) <= MAX_PAUSE;
    let mut rest = samples;
    std::iter::from_fn(move || {
        let (first, length) = (rest.first()?, 1 + rest.windows(2).take_while(|pair| is_one(pair)).count());
        let (stay, later) = rest.split_at(length);
        rest = later;
        Some((first, stay[length - 1], later.first()))
    })
    .filter_map(move |(first, last, next)| {
        let covered = SampledTime::of(last, unit).end;
        let end = match next.map(|next| next.time) {
            Some(next) if next.since(last.time) <= MAX_PAUSE => next,
            Some(next) => covered.min(next),
            None => covered,
        };
        Some(Stay { state: first.state?, start: first.time, end })
    })
}

/// A marker of the file.
#[derive(Clone, Copy)]
enum Row<'m> {
    Interval(&'m Interval),
    Stay(Stay, &'m str),
}

impl<'m> Row<'m> {
    fn name(self) -> &'m str {
        match self {
            Self::Interval(interval) => name(interval),
            Self::Stay(_, state) => state,
        }
    }

    fn start(self) -> Nanos {
        match self {
            Self::Interval(interval) => interval.start,
            Self::Stay(stay, _) => stay.start,
        }
    }

    fn end(self) -> Option<Nanos> {
        match self {
            Self::Interval(interval) => interval.end,
            Self::Stay(stay, _) => Some(stay.end),
        }
    }

    fn push_data(self, out: &mut Vec<u8>) {
        let interval = match self {
            Self::Interval(interval) if interval.is_hang() => return out.extend_from_slice(b"{\"type\":\"Hang\"}"),
            Self::Interval(interval) => interval,
            Self::Stay(..) => return out.extend_from_slice(b"{\"type\":\"ThreadState\"}"),
        };
        out.put(b"{\"type\":\"Signpost\"");
        let identifier = interval.identifier.map(|identifier| format!("{identifier:#x}"));
        let fields = [
            ("subsystem", interval.subsystem.as_deref()),
            ("category", interval.category.as_deref()),
            ("identifier", identifier.as_deref()),
        ];
        for (key, text) in fields.into_iter().filter_map(|(key, text)| Some((key, text?))) {
            out.put(b",").put_text(Some(key));
            out.put(b":").put_text(Some(text));
        }
        out.put(b"}");
    }
}

/// Finds the threads of a report by the properties that intervals record: the run number, and the thread or process identifier.
struct Threads<'p> {
    profile: &'p Profile,
    /// All threads, including threads without samples in the report.
    known: HashSet<(u32, u64)>,
    by_tid: HashMap<(u32, u64), Vec<Place>>,
    /// The main thread of each process. If it is missing, the first thread in the report, which is the heaviest.
    by_pid: HashMap<(u32, u64), (bool, Place)>,
}

impl<'p> Threads<'p> {
    fn new(report: &Report<'p>) -> Self {
        let profile = &report.recording.profile;
        let known = profile.thread_ids().filter_map(|id| {
            let thread = profile.thread(id);
            Some((profile.run(profile.process(thread.process).run).number, thread.tid?))
        });
        let mut threads =
            Self { profile, known: known.collect(), by_tid: HashMap::default(), by_pid: HashMap::default() };
        for series in &report.series {
            let run = profile.run(profile.series(series.series).run).number;
            for row in series.all_threads() {
                let thread = profile.thread(row.thread);
                let place = (series.series, row.thread);
                if let Some(tid) = thread.tid {
                    threads.by_tid.entry((run, tid)).or_default().push(place);
                }
                if let Some(pid) = profile.process(thread.process).pid {
                    let known = threads.by_pid.entry((run, pid)).or_insert((thread.is_main, place));
                    if thread.is_main && !known.0 {
                        *known = (true, place);
                    }
                }
            }
        }
        threads
    }

    /// The thread on which an interval is shown. If the thread is in several tables, the first one is used.
    fn find(&self, interval: &Interval) -> Option<Place> {
        let pid = |place: &Place| self.profile.process(self.profile.thread(place.1).process).pid;
        let is_of_process =
            |place: &&Place| interval.pid.is_none() || pid(place).is_none() || pid(place) == interval.pid;
        let by_tid = interval.tid.and_then(|tid| self.by_tid.get(&(interval.run, tid)));
        let thread = by_tid.into_iter().flatten().find(is_of_process).copied();
        // Intervals of excluded threads are also excluded.
        let is_left_out = interval.tid.is_some_and(|tid| self.known.contains(&(interval.run, tid)));
        let process = || self.by_pid.get(&(interval.run, interval.pid?)).map(|&(_, place)| place);
        thread.or_else(|| if is_left_out { None } else { process() })
    }
}
