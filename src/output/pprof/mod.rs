//! The format of [pprof](https://github.com/google/pprof): one message of protobuf, compressed with gzip.
//!
//! ```text
//! Profile ─ sample_type: samples/count, cpu/nanoseconds     what the values of a sample are
//!         ├ sample: locations (leaf first), values, labels (thread, tid, process, pid, state)
//!         ├ location: address, lines (innermost first) ─► function
//!         │                                            ─► mapping: a binary, with its UUID
//!         └ string_table                                all strings
//! ```
//!
//! One sample represents all samples with the same stack, thread, state and kind, so a profile of sums results in the same bytes.
//! `docs/formats.md` has every field.

mod locations;

use std::borrow::Cow;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use locations::Locations;

use crate::calltree::Metric;
use crate::hash::{HashMap, IndexSet};
use crate::output::byte_writer::ByteWriter;
use crate::output::recorded::{Programs, recorded_run};
use crate::profile::{Profile, SampleSum, StringId, ThreadId};
use crate::report::{Report, SeriesReport, series_label};
use crate::units::Unit;
use crate::varint;

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

/// The names that pprof has for a weight and its unit.
fn value_type(unit: Unit) -> (&'static str, &'static str) {
    match unit {
        Unit::Nanoseconds => ("cpu", "nanoseconds"),
        Unit::Cycles => ("cycles", "count"),
        Unit::PmcEvents => ("events", "count"),
        Unit::Samples => ("samples", "count"),
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
    // Zero if it is unknown.
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

/// The weight of one sample, if all weigh the same.
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
    /// By thread: the labels of its samples; empty until they are needed.
    labels: Vec<Vec<u8>>,
    states: HashMap<StringId, Vec<u8>>,
    period: Period,
}

impl<'p> Samples<'p> {
    fn write(&mut self, report: &Report<'p>, strings: &mut Strings<'p>, writer: &mut ByteWriter<'_>) -> io::Result<()> {
        let (mut message, mut ids) = (Vec::new(), Vec::new());
        for sum in report.sums() {
            let weight = self.metric.of(sum);
            // Snapshots are samples that weigh nothing.
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

const NUMBER: u64 = 0;
const BYTES: u64 = 2;

/// Appends a field that is a number. Zero is omitted, since readers treat an absent field as zero.
pub(super) fn put_number(field: u64, number: u64, out: &mut Vec<u8>) {
    if number > 0 {
        varint::write(out, field << 3 | NUMBER);
        varint::write(out, number);
    }
}

/// Appends a field with a string or a message. Empty fields are written, since positions in a list matter.
pub(super) fn put_bytes(field: u64, bytes: &[u8], out: &mut Vec<u8>) {
    varint::write(out, field << 3 | BYTES);
    varint::write(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a field with many numbers, including zeros.
pub(super) fn put_numbers(field: u64, numbers: &[u64], out: &mut Vec<u8>) {
    if numbers.is_empty() {
        return;
    }
    varint::write(out, field << 3 | BYTES);
    varint::write(out, numbers.iter().map(|&number| varint::length(number)).sum());
    for &number in numbers {
        varint::write(out, number);
    }
}

/// The strings requested so far. The first one is empty.
pub(super) struct Strings<'p>(IndexSet<Cow<'p, str>>);

impl<'p> Strings<'p> {
    pub(super) fn new() -> Self {
        Self([Cow::Borrowed("")].into_iter().collect())
    }

    /// Returns the position of a string, and adds it if necessary.
    pub(super) fn id(&mut self, text: impl Into<Cow<'p, str>>) -> u64 {
        self.0.insert_full(text.into()).0 as u64
    }

    /// Writes all strings in the order of their positions.
    pub(super) fn write(&self, writer: &mut ByteWriter<'_>) -> io::Result<()> {
        for text in &self.0 {
            put_bytes(6, text.as_bytes(), &mut writer.text);
            writer.flush_if_full()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_encoding_are_met() {
        let mut out = Vec::new();
        put_number(1, 150, &mut out);
        put_bytes(2, b"testing", &mut out);
        put_numbers(6, &[3, 270, 86942], &mut out);
        put_number(7, 0, &mut out);
        let expected = [
            &[0x08, 0x96, 0x01][..],
            &[0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67],
            &[0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05],
        ];
        assert_eq!(out, expected.concat());
    }

    #[test]
    fn numbers_of_every_length_come_back() {
        for shift in 0..64 {
            for number in [1_u64 << shift, (1 << shift) - 1, u64::MAX >> shift] {
                let mut out = Vec::new();
                varint::write(&mut out, number);
                assert_eq!(out.len() as u64, varint::length(number), "{number}");
                let read = out.iter().rev().fold(0_u64, |read, &byte| read << 7 | u64::from(byte & 0x7f));
                assert_eq!(read, number);
                assert!(out[..out.len() - 1].iter().all(|byte| byte & 0x80 > 0) && out[out.len() - 1] < 0x80);
            }
        }
    }
}
