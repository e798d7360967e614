//! The format of [pprof](https://github.com/google/pprof): one protobuf message, compressed with gzip.
//!
//! ```text
//! Profile ─ sample_type: samples/count, cpu/nanoseconds     the meaning of a sample's values
//!         ├ sample: locations (leaf first), values, labels (thread, tid, process, pid, state)
//!         ├ location: address, lines (innermost first) ─► function
//!         │                                            ─► mapping: a binary, with its UUID
//!         └ string_table                                all strings
//! ```
//!
//! One sample represents all samples with the same stack, thread, state and kind, so a profile of sums results in the same bytes. `docs/formats.md`
//! describes every field.

mod locations;
mod message;

use std::borrow::Cow;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use locations::Locations;
use message::{Strings, put_bytes, put_number, put_numbers};

use crate::calltree::Metric;
use crate::hash::HashMap;
use crate::output::byte_writer::ByteWriter;
use crate::output::recorded::{Programs, recorded_run};
use crate::profile::{Profile, SampleSum, StringId, ThreadId};
use crate::report::{Report, SeriesReport, series_label};
use crate::units::Unit;

/// Writes the selected samples, regardless of the view. No trees are made, and nothing is pruned.
///
/// # Errors
/// If `out` fails, or the series of the report cannot be added up ([`Report::check_one_measurement`]).
pub(crate) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    report.check_one_measurement()?;
    let mut packed = GzEncoder::new(out, Compression::default());
    write_message(report, &mut packed)?;
    packed.finish()?;
    Ok(())
}

/// The pprof names of a measure and its unit.
fn value_type(unit: Unit) -> (&'static str, &'static str) {
    match unit {
        Unit::Nanoseconds => ("cpu", "nanoseconds"),
        Unit::Cycles => ("cycles", "count"),
        Unit::PmcEvents => ("events", "count"),
        Unit::Samples => ("samples", "count"),
        Unit::Elapsed => ("elapsed", "nanoseconds"),
        Unit::Bytes => ("space", "bytes"),
        Unit::HangTime => ("hang", "nanoseconds"),
        Unit::LaunchTime => ("launch", "nanoseconds"),
        Unit::ExceptionTime => ("exception", "nanoseconds"),
        Unit::WrittenBytes => ("written", "bytes"),
        Unit::DayTime => ("cpu", "nanoseconds"),
        Unit::HitchTime => ("hitch", "nanoseconds"),
        Unit::PeakBytes => ("peak", "bytes"),
        Unit::Exits => ("exits", "count"),
    }
}

fn write_message(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.recording.profile;
    let asked: Vec<&SeriesReport> = report.series.iter().filter(|series| !series.is_filtered_out()).collect();
    let unit = asked.first().map_or(Unit::Samples, |series| series.unit);
    let mut strings = Strings::new();
    let mut writer = ByteWriter::new(out);
    let mut types = vec![value_type(Unit::Samples)];
    if unit != Unit::Samples {
        types.push(value_type(unit));
    }
    for &(name, unit) in &types {
        put_value_type(1, name, unit, &mut strings, &mut writer.text);
    }
    let mut samples = Samples {
        profile,
        metric: report.options.metric,
        has_weights: types.len() > 1,
        has_runs: asked.len() > 1,
        locations: Locations::new(profile),
        labels: vec![Vec::new(); profile.thread_ids().len()],
        states: HashMap::default(),
        period: Period::Unknown,
    };
    samples.write(report, &mut strings, &mut writer)?;
    samples.locations.write(&Programs::new(report), &mut strings, &mut writer)?;
    if let Some(run) = recorded_run(report) {
        put_number(9, run.start().unwrap_or_default().as_nanos(), &mut writer.text);
    }
    // Zero if unknown.
    put_number(10, report.length().map_or(0, |length| length.nanos.as_nanos()), &mut writer.text);
    if let (Period::Of(weight), &[_, (name, unit)]) = (samples.period, types.as_slice()) {
        put_value_type(11, name, unit, &mut strings, &mut writer.text);
        put_number(12, weight, &mut writer.text);
    }
    for series in &asked {
        put_number(13, strings.id(series_label(profile, series)), &mut writer.text);
    }
    put_number(14, strings.id(value_type(unit).0), &mut writer.text);
    strings.write(&mut writer)?;
    writer.finish()
}

fn put_value_type(field: u64, name: &'static str, unit: &'static str, strings: &mut Strings<'_>, out: &mut Vec<u8>) {
    let mut message = Vec::new();
    put_number(1, strings.id(name), &mut message);
    put_number(2, strings.id(unit), &mut message);
    put_bytes(field, &message, out);
}

/// The weight of one sample, if all samples have the same weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Period {
    Unknown,
    Of(u64),
    Different,
}

impl Period {
    fn add(&mut self, sum: &SampleSum) {
        let own =
            if sum.weight.is_multiple_of(sum.samples) { Self::Of(sum.weight / sum.samples) } else { Self::Different };
        if sum.weight > 0 {
            *self = if *self == Self::Unknown || *self == own { own } else { Self::Different };
        }
    }
}

/// Writes samples.
struct Samples<'p> {
    profile: &'p Profile,
    metric: Metric,
    /// True if samples have a weight in addition to their number.
    has_weights: bool,
    has_runs: bool,
    locations: Locations<'p>,
    /// By thread: the labels of its samples; empty until first use.
    labels: Vec<Vec<u8>>,
    states: HashMap<StringId, Vec<u8>>,
    period: Period,
}

impl<'p> Samples<'p> {
    fn write(&mut self, report: &Report<'p>, strings: &mut Strings<'p>, writer: &mut ByteWriter<'_>) -> io::Result<()> {
        let (mut message, mut ids) = (Vec::new(), Vec::new());
        for sum in report.sums() {
            let weight = self.metric.of(sum);
            // Snapshots are samples without weight.
            if weight == 0 && (!self.has_weights || sum.samples == 0) {
                continue;
            }
            self.period.add(&sum);
            message.clear();
            ids.clear();
            self.locations.push(sum.stack, &mut ids);
            put_numbers(1, &ids, &mut message);
            let values = if self.has_weights { &[sum.samples, weight][..] } else { &[weight] };
            put_numbers(2, &values.iter().map(|&value| value.min(i64::MAX as u64)).collect::<Vec<_>>(), &mut message);
            message.extend_from_slice(self.labels_of(sum.thread, strings));
            if let Some(state) = sum.state {
                message.extend_from_slice(self.label_of(state, strings));
            }
            put_bytes(2, &message, &mut writer.text);
            writer.flush_if_full()?;
        }
        Ok(())
    }

    fn labels_of(&mut self, thread: ThreadId, strings: &mut Strings<'p>) -> &[u8] {
        let (profile, labels) = (self.profile, &mut self.labels[thread.index()]);
        if labels.is_empty() {
            let row = profile.thread(thread);
            let process = profile.process(row.process);
            put_text_label("thread", profile.string(row.name), strings, labels);
            put_number_label("tid", row.tid, strings, labels);
            put_text_label("process", profile.string(process.name), strings, labels);
            put_number_label("pid", process.pid, strings, labels);
            if self.has_runs {
                put_number_label("run", Some(profile.run(process.run).number.into()), strings, labels);
            }
        }
        labels
    }

    fn label_of(&mut self, state: StringId, strings: &mut Strings<'p>) -> &[u8] {
        let profile = self.profile;
        self.states.entry(state).or_insert_with(|| {
            let mut label = Vec::new();
            put_text_label("state", profile.string(state), strings, &mut label);
            label
        })
    }
}

/// Appends a label with a string, unless it is empty.
fn put_text_label<'p>(key: &'static str, text: &'p str, strings: &mut Strings<'p>, out: &mut Vec<u8>) {
    if !text.is_empty() {
        let mut message = Vec::new();
        put_number(1, strings.id(Cow::Borrowed(key)), &mut message);
        put_number(2, strings.id(text), &mut message);
        put_bytes(3, &message, out);
    }
}

/// Appends a label with a number, if there is one.
fn put_number_label(key: &'static str, number: Option<u64>, strings: &mut Strings<'_>, out: &mut Vec<u8>) {
    if let Some(number) = number {
        let mut message = Vec::new();
        put_number(1, strings.id(key), &mut message);
        put_number(3, number, &mut message);
        put_bytes(3, &message, out);
    }
}
