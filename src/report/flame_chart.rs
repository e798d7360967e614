//! Flame charts: what each thread executed, in order of time.
//!
//! ```text
//! time ──►   0    1    2    3    4    5 ms
//! samples    A    A    A         A         main main main      main
//!            B    B    C         C         work work rest      rest
//!
//! spans      main──────────     main─
//!            work─────rest─     rest─
//! ```
//!
//! # The time that a sample covers
//!
//! A sample at time t with a weight of w nanoseconds covers the half-open range from t to t + w ([`SampledTime`](crate::profile::SampledTime)). A
//! time range contains the samples whose t is in it, and fleets assign samples to seconds in the same way. A sample ends early when the next one
//! of its thread begins, so spans of a thread never overlap.
//!
//! Other weights are not durations. A sample of cycles or events is taken after a number of them, so it covers the time before it: back to the
//! thread's previous sample, if that is at most twice the typical gap away; otherwise, and for the first sample of a thread, the typical gap. The
//! typical gap is the lower median of the times between consecutive samples of one thread, over all threads of the series. This is an estimate
//! ([`FlameChart::typical_gap`]). In real recordings, the cycles of a sample divided by the time since the previous one are at most a core's
//! clock rate; divided by the time until the next one, they exceed it.
//!
//! # Spans
//!
//! The next sample of a thread continues a sample if it comes before t + 1.5 w (for other weights: within twice the typical gap). If a sample
//! were missing in between, the gap would be longer. While samples continue, a function at the same depth below the same callers is one span,
//! which includes the small pauses of an uneven timer. The weight of a span is the weight of its samples, regardless of its length.
//!
//! Samples without weight (snapshots) cover no time and are omitted. A profile of sums
//! ([`SampleDetail::Summed`](crate::profile::SampleDetail::Summed)) has no times, so its charts are empty.

use std::collections::VecDeque;
use std::ops::Range;

use super::{Report, SeriesReport, ThreadReport};
use crate::calltree::{Label, Metric, Pruning};
use crate::profile::{Profile, Sample, StackId, ThreadId};
use crate::units::{Nanos, Unit};

/// A continuous period in which a function was on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The function, or the label for samples without a stack.
    pub label: Label,
    /// The number of levels below the thread; the outermost function is 1.
    pub depth: u32,
    /// The time when it began.
    pub start: Nanos,
    /// The end: at or after its start, and equal to it if the length of its samples is unknown.
    pub end: Nanos,
    /// The weight of the samples in it.
    pub all_weight: u64,
    /// The weight of samples whose leaf is the span's function.
    pub self_weight: u64,
    /// The number of samples in it.
    pub samples: u64,
}

/// The flame chart of a series: its threads with their spans, heaviest first. It takes four bytes per sample.
#[derive(Clone, Debug)]
pub struct FlameChart<'r> {
    profile: &'r Profile,
    pruning: &'r Pruning,
    metric: Metric,
    /// The estimated length of a sample; `None` if weights are durations.
    typical_gap: Option<Nanos>,
    threads: Vec<(&'r ThreadReport, Range<usize>)>,
    /// Indices of samples, sorted by thread and time.
    order: Vec<u32>,
}

/// The flame chart of one thread.
#[derive(Clone, Copy, Debug)]
pub struct ThreadChart<'c> {
    /// The thread and its selected samples.
    pub row: &'c ThreadReport,
    chart: &'c FlameChart<'c>,
    order: &'c [u32],
}

impl Report<'_> {
    /// The flame chart of a series: what each thread executed over time. Empty if samples were summed
    /// ([`SampleDetail::Summed`](crate::profile::SampleDetail::Summed)).
    pub fn flame_chart<'r>(&'r self, series: &'r SeriesReport) -> FlameChart<'r> {
        FlameChart::new(self, series)
    }
}

impl<'r> FlameChart<'r> {
    fn new(report: &'r Report<'_>, series: &'r SeriesReport) -> Self {
        let profile = &report.recording.profile;
        let selected = report.options.selection.on(profile);
        let counted = || selected.indexed().filter(|(_, sample)| sample.series == series.series && sample.weight > 0);
        // By thread: its number of samples, and the index for its next one.
        let (mut counts, mut places) = (vec![0; profile.thread_ids().len()], vec![None; profile.thread_ids().len()]);
        for (_, sample) in counted() {
            counts[sample.thread.index()] += 1;
        }
        let mut start = 0;
        let threads = series.all_threads().map(|row| {
            let first = start;
            places[row.thread.index()] = Some(first);
            start += counts[row.thread.index()];
            (row, first..start)
        });
        let threads: Vec<_> = threads.collect();
        let mut order = vec![0; start];
        for (index, sample) in counted() {
            let Some(place) = &mut places[sample.thread.index()] else { continue };
            // A profile never has more samples than a `u32` can count.
            order[*place] = index as u32;
            *place += 1;
        }
        let time = |&index: &u32| profile.samples()[index as usize].time;
        for (_, range) in &threads {
            // The samples of a thread were nearly always recorded in order.
            if !order[range.clone()].is_sorted_by_key(time) {
                order[range.clone()].sort_by_key(time);
            }
        }
        let typical_gap = match profile.series(series.series).unit {
            Unit::Nanoseconds => None,
            _ => Some(typical_gap(profile, &order)),
        };
        let Report { options, .. } = report;
        Self { profile, pruning: &options.pruning, metric: options.metric, typical_gap, threads, order }
    }

    /// The typical time between two samples of a thread, which is the estimated length of samples whose weights are not durations. Zero if no
    /// thread has two samples; `None` if weights are durations.
    pub fn typical_gap(&self) -> Option<Nanos> {
        self.typical_gap
    }

    /// The threads, heaviest first.
    pub fn threads(&self) -> impl Iterator<Item = ThreadChart<'_>> {
        self.threads.iter().map(|(row, range)| ThreadChart { row, chart: self, order: &self.order[range.clone()] })
    }

    /// The start of a sample. If it continues the previous one, `last` is that one's end.
    fn start(&self, sample: &Sample, last: Option<Nanos>) -> Nanos {
        match self.typical_gap {
            None => sample.time,
            Some(typical) => last.unwrap_or(sample.time.since(typical)),
        }
    }

    /// The end of a sample, and true if the thread's next sample, at `next`, continues it.
    fn end(&self, sample: &Sample, next: Option<Nanos>) -> (Nanos, bool) {
        let gap = next.map(|next| next.since(sample.time).as_nanos());
        match self.typical_gap {
            None => {
                let length = gap.map_or(sample.weight, |gap| gap.min(sample.weight));
                let goes_on = gap.is_some_and(|gap| gap < sample.weight.saturating_add(sample.weight / 2));
                (sample.time.saturating_add(Nanos::from_nanos(length)), goes_on)
            }
            Some(typical) => (sample.time, gap.is_some_and(|gap| gap <= typical.as_nanos().saturating_mul(2))),
        }
    }
}

/// The lower median of the times between consecutive samples of one thread, ignoring simultaneous samples.
fn typical_gap(profile: &Profile, order: &[u32]) -> Nanos {
    let sample = |index: u32| &profile.samples()[index as usize];
    let pairs = order.windows(2).map(|pair| (sample(pair[0]), sample(pair[1])));
    let pairs = pairs.filter(|(one, next)| one.thread == next.thread && one.time < next.time);
    let mut gaps: Vec<Nanos> = pairs.map(|(one, next)| next.time.since(one.time)).collect();
    let Some(middle) = gaps.len().checked_sub(1).map(|last| last / 2) else { return Nanos::default() };
    *gaps.select_nth_unstable(middle).1
}

impl<'c> ThreadChart<'c> {
    /// The thread.
    pub fn thread(&self) -> ThreadId {
        self.row.thread
    }

    /// The spans by start time, callers before callees. Omits spans below [`Pruning::min_percent`] of the thread's weight, or deeper than
    /// [`Pruning::depth`].
    ///
    /// Memory is limited to the spans between two pauses of the thread.
    pub fn spans(&self) -> impl Iterator<Item = Span> + use<'c> {
        Spans {
            chart: self.chart,
            total: self.row.counted.weight.value,
            order: self.order,
            next: 0,
            goes_on: false,
            path: None,
            labels: Vec::new(),
            is_whole: true,
            open: Vec::new(),
            spans: VecDeque::new(),
        }
    }
}

/// The spans of a thread ([`ThreadChart::spans`]).
#[derive(Clone, Debug)]
struct Spans<'c> {
    chart: &'c FlameChart<'c>,
    total: u64,
    order: &'c [u32],
    /// The position of the next sample, and true if it continues the last one.
    next: usize,
    goes_on: bool,
    /// The stack to which `labels` belongs.
    path: Option<Option<StackId>>,
    /// The functions from the outermost to the requested depth.
    labels: Vec<Label>,
    /// True if `labels` includes the leaf.
    is_whole: bool,
    /// The open spans, outermost first, as indices of `spans`. Spans are returned only while none is open.
    open: Vec<usize>,
    spans: VecDeque<Span>,
}

impl Iterator for Spans<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        loop {
            if self.open.is_empty() {
                while let Some(span) = self.spans.pop_front() {
                    if self.chart.pruning.shows(span.all_weight, self.total) {
                        return Some(span);
                    }
                }
                if self.next == self.order.len() {
                    return None;
                }
            }
            self.step();
        }
    }
}

impl Spans<'_> {
    /// Ends all spans if the next sample does not continue them. Otherwise consumes that sample.
    fn step(&mut self) {
        let chart = self.chart;
        let sample_at = |place: usize| self.order.get(place).map(|&index| &chart.profile.samples()[index as usize]);
        let (Some(sample), following) = (sample_at(self.next), sample_at(self.next + 1)) else {
            return self.open.clear();
        };
        self.set_labels(sample.stack);
        let pairs = self.open.iter().zip(&self.labels);
        let shared = pairs.take_while(|&(&open, &label)| self.spans[open].label == label).count();
        let shared = if self.goes_on { shared } else { 0 };
        if shared == 0 && !self.open.is_empty() {
            return self.open.clear();
        }
        let last = self.next.checked_sub(1).filter(|_| self.goes_on).and_then(sample_at);
        let start = chart.start(sample, last.map(|last| last.time));
        let (end, goes_on) = chart.end(sample, following.map(|next| next.time));
        self.open.truncate(shared);
        for (&label, depth) in self.labels[shared..].iter().zip(shared as u32 + 1..) {
            self.open.push(self.spans.len());
            self.spans.push_back(Span { label, depth, start, end, all_weight: 0, self_weight: 0, samples: 0 });
        }
        let weight = chart.metric.of(sample);
        for &open in &self.open {
            let span = &mut self.spans[open];
            span.end = end;
            span.all_weight += weight;
            span.samples += u64::from(sample.samples);
        }
        if let Some(&leaf) = self.open.last().filter(|_| self.is_whole) {
            self.spans[leaf].self_weight += weight;
        }
        self.next += 1;
        self.goes_on = goes_on;
    }

    fn set_labels(&mut self, stack: Option<StackId>) {
        if self.path == Some(stack) {
            return;
        }
        self.path = Some(stack);
        self.labels.clear();
        match stack {
            None => self.labels.push(Label::NoStack),
            Some(_) => {
                let functions = self.chart.profile.frames_leaf_first(stack).map(|frame| frame.function);
                self.labels.extend(functions.map(Label::Function));
                self.labels.reverse();
            }
        }
        let depth = self.chart.pruning.depth.map_or(usize::MAX, |depth| depth as usize);
        self.is_whole = self.labels.len() <= depth;
        self.labels.truncate(depth);
    }
}
