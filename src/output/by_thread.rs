//! The selected samples by thread and time, for viewers that show one thread at a time.

use std::io;

use crate::hash::HashMap;
use crate::profile::{Profile, Sample, SeriesId, ThreadId};
use crate::report::{Report, SeriesReport};
use crate::report::{process_label, thread_label};

/// The selected samples of one thread in one series.
pub(super) struct ThreadSamples<'p> {
    pub(super) series: SeriesId,
    pub(super) thread: ThreadId,
    /// Sorted by time; samples with the same time are in the order of the input.
    pub(super) samples: Vec<&'p Sample>,
    /// The total weight of all samples.
    pub(super) weight: u64,
}

/// The selected samples by series and thread in the order of the report: in each series, the heaviest thread comes first.
///
/// # Errors
/// If samples were summed while reading ([`SampleDetail::Summed`](crate::profile::SampleDetail::Summed)).
pub(super) fn samples_by_thread<'e>(report: &Report<'e>) -> io::Result<Vec<ThreadSamples<'e>>> {
    if report.recording.profile.sums().len() > 0 {
        let text = "the samples were summed while being read, but this format needs each one (SampleDetail::Each)";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let mut threads: Vec<ThreadSamples<'e>> = Vec::new();
    let mut place: HashMap<(SeriesId, ThreadId), usize> = HashMap::default();
    for series in &report.series {
        for row in series.all_threads() {
            place.insert((series.series, row.thread), threads.len());
            let weight = row.counted.weight.value;
            threads.push(ThreadSamples { series: series.series, thread: row.thread, samples: Vec::new(), weight });
        }
    }
    for sample in report.counted_samples() {
        if let Some(&place) = place.get(&(sample.series, sample.thread)) {
            threads[place].samples.push(sample);
        }
    }
    for thread in &mut threads {
        thread.samples.sort_by_key(|sample| sample.time);
    }
    Ok(threads)
}

/// The index of the heaviest thread. If there are several units, only threads with the unit of the first one are compared.
pub(super) fn heaviest(report: &Report<'_>, threads: &[ThreadSamples<'_>]) -> Option<usize> {
    let unit = |row: &ThreadSamples<'_>| report.recording.profile.series(row.series).unit;
    let first = unit(threads.first()?);
    let comparable = threads.iter().enumerate().filter(|(_, row)| unit(row) == first);
    comparable.max_by_key(|&(index, row)| (row.weight, std::cmp::Reverse(index))).map(|(index, _)| index)
}

/// By index in [`Report::series`]: a label that distinguishes series with selected samples, such as `time-profile, run 1`. `None` if there is only
/// one such series.
pub(super) fn series_labels(report: &Report<'_>) -> Vec<Option<String>> {
    let counts = |series: &&SeriesReport| series.counted.samples > 0;
    let asked = report.series.iter().filter(counts).count();
    let profile = &report.recording.profile;
    let short = |series: &SeriesReport| {
        let row = profile.series(series.series);
        format!("{}, run {}", profile.string(row.schema), profile.run(row.run).number)
    };
    let long = |series: &SeriesReport| {
        let row = profile.series(series.series);
        let run = profile.run(row.run);
        let (schema, input) = (profile.string(row.schema), profile.string(run.input));
        // Documents and tables are numbered from 1 in output for people.
        let (document, table) = (run.document + 1, row.table + 1);
        format!("{schema}, run {}, table {table} of document {document}, {input}, {}", run.number, row.unit)
    };
    let mut labels: Vec<String> = report.series.iter().filter(counts).map(short).collect();
    labels.sort_unstable();
    let is_ambiguous = labels.windows(2).any(|pair| pair[0] == pair[1]);
    let label = |series: &SeriesReport| match asked {
        0 | 1 => None,
        _ => Some(if is_ambiguous { long(series) } else { short(series) }),
    };
    report.series.iter().map(label).collect()
}

/// `PROCESS (PID), THREAD (0xTID)`, followed by the label of the series, if any.
pub(super) fn thread_title(profile: &Profile, thread: ThreadId, series: Option<&str>) -> String {
    let thread = profile.thread(thread);
    let process = process_label(profile, profile.process(thread.process));
    let title = format!("{process}, {}", thread_label(profile, thread));
    match series {
        Some(series) => format!("{title} [{series}]"),
        None => title,
    }
}

/// The title of the file: the name of the heaviest thread's process.
pub(super) fn file_title<'e>(report: &Report<'e>, threads: &[ThreadSamples<'_>]) -> &'e str {
    let profile = &report.recording.profile;
    let Some(heaviest) = heaviest(report, threads) else { return "" };
    profile.string(profile.process(profile.thread(threads[heaviest].thread).process).name)
}
