//! Chrome's trace event format for Perfetto and `chrome://tracing`: flame charts of threads over time.
//!
//! ```json
//! {"displayTimeUnit":"ms","otherData":{"series":["time-profile of run 1 in export.xml, in ns"]},"traceEvents":[
//! {"ph":"M","name":"thread_name","pid":4150,"tid":172289,"args":{"name":"Main Thread (0x2a101)"}},
//! {"ph":"X","name":"main","cat":"recorded","pid":4150,"tid":172289,"ts":312400.698,"dur":2999.638,"args":{…}}]}
//! ```
//!
//! A span is a complete event (`X`). Times are in microseconds with three decimals, so they are exact.

use std::collections::HashSet;
use std::io::{self, Write};

use super::byte_writer::{ByteWriter, LabelTexts, Put};
use crate::hash::{BuildHasher, HashMap};
use crate::profile::{ProcessId, Profile};
use crate::report::{Report, SeriesReport};
use crate::report::{Span, ThreadChart};
use crate::report::{binary_of, function_of, process_label, series_label, thread_label};
use crate::units::Nanos;

/// Writes the flame charts of a report, regardless of its view. A profile of sums has no times, so only names are written.
///
/// # Errors
/// If `out` fails.
pub(crate) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.recording.profile;
    let asked: Vec<&SeriesReport> = report.series.iter().filter(|series| !series.is_filtered_out()).collect();
    let mut writer = ByteWriter::new(out);
    writer.put(b"{\"displayTimeUnit\":\"ms\",\"otherData\":{\"series\":[");
    for (index, series) in asked.iter().enumerate() {
        writer.put(if index == 0 { b"" } else { b"," });
        writer.put_text(Some(&series_label(profile, series)));
    }
    writer.put(b"]},\"traceEvents\":[");
    let names = LabelTexts::new(profile, |label, out| {
        out.put_text(Some(function_of(profile, label)));
    });
    let binaries = LabelTexts::new(profile, |label, out| {
        out.put_text(binary_of(profile, label));
    });
    let mut events = Events { profile, names, binaries, writer, is_first: true };
    let mut numbers = Numbers::default();
    for series in &asked {
        let chart = report.flame_chart(series);
        let mut processes: HashMap<ProcessId, u64> = HashMap::default();
        for (rank, thread) in chart.threads().enumerate() {
            let process = profile.thread(thread.thread()).process;
            let pid = *processes.entry(process).or_insert_with(|| {
                let pid = numbers.take(None, profile.process(process).pid);
                events.process(process, (asked.len() > 1).then_some(series), pid);
                pid
            });
            let tid = numbers.take(Some(pid), profile.thread(thread.thread()).tid);
            events.thread(&thread, rank, pid, tid, chart.typical_gap().is_some())?;
        }
    }
    events.writer.put(b"]}\n");
    events.writer.finish()
}

/// Assigns numbers to processes and threads. Viewers identify a process by its pid and a thread by its pid and tid, so each number may be used only
/// once.
#[derive(Default)]
struct Numbers {
    /// The numbers in use: pids, and tids together with the pid of their process.
    taken: HashSet<(Option<u64>, u64), BuildHasher>,
    last: u64,
}

impl Numbers {
    /// Returns the recorded number if it is unused and viewers accept it, or else an unused number.
    fn take(&mut self, process: Option<u64>, recorded: Option<u64>) -> u64 {
        // Viewers treat 0 as the idle process. No real process has a number of 1 << 30 or more.
        let recorded = recorded.filter(|number| (1..1 << 30).contains(number));
        if let Some(number) = recorded.filter(|&number| self.taken.insert((process, number))) {
            return number;
        }
        self.last += 1;
        (1 << 30) + self.last
    }
}

/// Writes events.
struct Events<'p, 'o> {
    profile: &'p Profile,
    /// By label: `"name"`.
    names: LabelTexts,
    /// By label: `"binary"`, or `null`.
    binaries: LabelTexts,
    writer: ByteWriter<'o>,
    is_first: bool,
}

impl Events<'_, '_> {
    fn begin(&mut self, kind: &[u8]) {
        self.writer.put(if std::mem::replace(&mut self.is_first, false) { b"\n" } else { b",\n" });
        self.writer.put(b"{\"ph\":\"").put(kind).put(b"\"");
    }

    /// Writes the name of a process, followed by the name of `series` if there are several.
    fn process(&mut self, process: ProcessId, series: Option<&SeriesReport>, pid: u64) {
        let mut label = process_label(self.profile, self.profile.process(process));
        if let Some(series) = series {
            label = format!("{label} · {}", series_label(self.profile, series));
        }
        self.begin(b"M");
        self.writer.put(format!(",\"name\":\"process_name\",\"pid\":{pid},\"args\":{{\"name\":").as_bytes());
        self.writer.put_text(Some(&label)).put(b"}}");
    }

    /// Writes a thread with its spans. `rank` is its index among all threads.
    fn thread(
        &mut self,
        thread: &ThreadChart<'_>,
        rank: usize,
        pid: u64,
        tid: u64,
        is_estimated: bool,
    ) -> io::Result<()> {
        let place = format!(",\"pid\":{pid},\"tid\":{tid}");
        self.begin(b"M");
        self.writer.put(format!(",\"name\":\"thread_name\"{place},\"args\":{{\"name\":").as_bytes());
        self.writer.put_text(Some(&thread_label(self.profile, self.profile.thread(thread.thread())))).put(b"}}");
        self.begin(b"M");
        let order = format!(",\"name\":\"thread_sort_index\"{place},\"args\":{{\"sort_index\":{rank}}}}}");
        self.writer.put(order.as_bytes());
        let category = if is_estimated { "estimated" } else { "recorded" };
        let shared = format!(",\"cat\":\"{category}\"{place},\"ts\":");
        for span in thread.spans() {
            self.span(&span, shared.as_bytes());
            self.writer.flush_if_full()?;
        }
        Ok(())
    }

    fn span(&mut self, span: &Span, shared: &[u8]) {
        self.begin(b"X");
        let (name, binary) = (self.names.get(span.label), self.binaries.get(span.label));
        let writer = &mut self.writer;
        writer.put(b",\"name\":").put(name);
        writer.put(shared);
        put_micros(span.start, writer);
        writer.put(b",\"dur\":");
        put_micros(span.end.since(span.start), writer);
        writer.put(b",\"args\":{\"binary\":").put(binary);
        for (name, number) in [
            (&b",\"all_weight\":"[..], span.all_weight),
            (b",\"self_weight\":", span.self_weight),
            (b",\"samples\":", span.samples),
        ] {
            writer.put(name).put_number(number);
        }
        writer.put(b"}}");
    }
}

fn put_micros(time: Nanos, writer: &mut ByteWriter<'_>) {
    let nanos = time.as_nanos();
    writer.put_number(nanos / 1000);
    let fraction = nanos % 1000;
    writer.put(&[b'.', digit(fraction / 100), digit(fraction / 10), digit(fraction)]);
}

fn digit(number: u64) -> u8 {
    b'0' + (number % 10) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        for (nanos, text) in [(0, "0.000"), (7, "0.007"), (12_345_678, "12345.678"), (1_000, "1.000")] {
            let mut out = Vec::new();
            let mut writer = ByteWriter::new(&mut out);
            put_micros(Nanos::from_nanos(nanos), &mut writer);
            writer.finish().unwrap();
            assert_eq!(out, text.as_bytes());
        }
    }

    #[test]
    fn every_number_is_given_out_once() {
        let mut numbers = Numbers::default();
        assert_eq!(numbers.take(None, Some(7)), 7);
        let other = numbers.take(None, Some(7));
        assert_ne!(other, 7);
        assert_eq!((numbers.take(Some(7), Some(7)), numbers.take(Some(other), Some(7))), (7, 7));
        let unknown = [None, Some(0), Some(u64::MAX), Some((1 << 30) + 1)].map(|number| numbers.take(None, number));
        let distinct: HashSet<u64> = unknown.into_iter().chain([7, other]).collect();
        assert_eq!(distinct.len(), 6, "{unknown:?}");
    }
}
