//! The CPU use over time as one line, and the hangs in it.

use super::{Page, command_lines, seconds};
use crate::output::hangs::did;
use crate::output::text::style::{Tone, wrap};
use crate::output::text::timeline::block;
use crate::recording::Interval;
use crate::report::{Activity, Busiest, HangVerdict, LineOfTime};
use crate::units::{Nanos, Weight, several};

/// A shorter timeline is not informative.
const LEAST_BINS: usize = 10;

impl Page<'_, '_> {
    /// The CPU use over time as a line of blocks, with hangs below.
    pub(super) fn line_of_time(&self) -> Vec<String> {
        let of_run = self.hangs_of_run();
        let hangs = self.hangs_in_time(&of_run);
        let mut lines = Vec::new();
        if let Some(activity) = &self.overview.activity {
            let (line, bins) = (&activity.line, &activity.line.weights);
            let most = bins.iter().copied().max().unwrap_or(0);
            if most > 0 && bins.len() >= LEAST_BINS {
                lines.extend(self.blocks(activity, most));
                let mut marks = vec![' '; bins.len()];
                for (_, (start, end)) in &hangs {
                    marks[bin_of(line, *start)..=bin_of(line, *end)].fill('━');
                }
                let marks: String = marks.into_iter().collect();
                lines.extend((!hangs.is_empty()).then(|| self.style.paint(Tone::Bad, marks.trim_end())));
            }
        }
        lines.extend(self.hang_lines(&of_run, &hangs));
        lines
    }

    /// A line of blocks, and its axis.
    fn blocks(&self, activity: &Activity, most: u64) -> [String; 2] {
        let (line, bins) = (&activity.line, &activity.line.weights);
        let block = |weight: u64| if weight == 0 { ' ' } else { block(weight, most) };
        // One number, since the busiest second may be spread over two bins, and a bin may be shorter or longer than a second.
        let peak = match self.busiest() {
            Some(busiest) => format!("▔ {}", self.busiest_text(busiest).trim_end_matches(" of one core")),
            None => {
                let (weight, length) = line.peak(&activity.time).unwrap_or_default();
                let rate = match Weight::new(weight, self.series.unit).percent_of_core(length) {
                    Some(percent) => format!("{}%", two_digits(percent)),
                    None => self.in_a_second(weight, length.as_nanos() as f64),
                };
                format!("peak {rate} in {}", seconds(length))
            }
        };
        let blocks: String = bins.iter().map(|&weight| block(weight)).collect();
        let blocks = format!("{}  {peak}", self.style.paint(Tone::Weight, &blocks));
        [blocks, self.style.paint(Tone::Dim, &axis(line, activity, self.busiest()))]
    }

    /// The number of hangs, and a description of the longest one.
    fn hang_lines(&self, of_run: &[&Interval], hangs: &[(&Interval, (Nanos, Nanos))]) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some((longest, (start, end))) = hangs.iter().max_by_key(|(_, (start, end))| end.since(*start)) {
            let activity = self.report.recording.activity_in(longest);
            let busy = match activity.verdict {
                HangVerdict::Unknown => String::new(),
                _ => format!(": {}", did(&activity)),
            };
            lines.push(format!(
                "{}; the longest takes {}{} from {} on{busy}",
                several(hangs.len() as u64, "potential hang"),
                if longest.end.is_none() { "at least " } else { "" },
                seconds(end.since(*start)),
                seconds(*start)
            ));
        }
        if let more @ 1.. = of_run.len() - hangs.len()
            && self.is_complete()
        {
            let are = if more == 1 { "is" } else { "are" };
            let has_times = self.report.selected_time(self.series).span().is_some();
            let outside = if has_times { format!(" {are} outside of the sampled time") } else { String::new() };
            lines.push(format!("{}{outside}: traceparse hangs FILE", several(more as u64, "potential hang")));
        }
        let lines = lines.iter().flat_map(|text| wrap(text, 0, Some(self.width)));
        lines.map(|line| self.style.paint(Tone::Bad, &line)).collect()
    }

    /// The command that explains the hangs, if there are any and nothing is selected.
    pub(super) fn command_for_hangs(&self) -> Option<String> {
        let (program, files) = self.context.command.split_first()?;
        if self.hangs().is_empty() || files.iter().any(|word| word.starts_with('-')) {
            return None;
        }
        let words: Vec<String> =
            [program, "hangs"].into_iter().chain(files.iter().map(String::as_str)).map(str::to_owned).collect();
        command_lines(&words, &[("", "why the app hung")], &self.style).pop()
    }

    /// Formats a weight per second, from the weight of a length in nanoseconds: `18.74 Mcycles/s`.
    pub(super) fn in_a_second(&self, weight: u64, nanos: f64) -> String {
        let weight = (weight as f64 * 1e9 / nanos).round() as u64;
        format!("{}/s", Weight::new(weight, self.series.unit))
    }

    /// The times of the run's potential hangs, limited to the selected time.
    pub(super) fn hangs(&self) -> Vec<(Nanos, Nanos)> {
        self.hangs_in_time(&self.hangs_of_run()).into_iter().map(|(_, times)| times).collect()
    }

    /// The run's potential hangs with their times, limited to the selected time.
    fn hangs_in_time<'h>(&self, of_run: &[&'h Interval]) -> Vec<(&'h Interval, (Nanos, Nanos))> {
        let Some((first, end)) = self.report.selected_time(self.series).span() else { return Vec::new() };
        let mut found = Vec::new();
        for &interval in of_run {
            let (start, until) = (interval.start, interval.end.unwrap_or(end));
            if start < end && until >= first {
                found.push((interval, (start, until)));
            }
        }
        found
    }

    fn hangs_of_run(&self) -> Vec<&Interval> {
        let Some(intervals) = self.context.intervals else { return Vec::new() };
        let run = self.profile.run(self.profile.series(self.series.series).run).number;
        intervals.distinct().into_iter().filter(|interval| interval.is_hang() && interval.run == run).collect()
    }
}

/// The index of the bin that contains a time.
fn bin_of(line: &LineOfTime, time: Nanos) -> usize {
    let bin = (time.as_nanos() / line.bin.as_nanos()).saturating_sub(line.first);
    usize::try_from(bin).unwrap_or(usize::MAX).min(line.weights.len() - 1)
}

/// Rounds a number to two significant digits, since a bin has only a few samples.
fn two_digits(number: f64) -> f64 {
    let unit = 10_f64.powf(number.log10().floor() - 1.0);
    (number / unit).round() * unit
}

/// The axis below a timeline: its start and end, and `▔` below the busiest second.
fn axis(line: &LineOfTime, activity: &Activity, busiest: Option<Busiest>) -> String {
    let count = line.weights.len();
    let mut columns = vec![' '; count];
    if let Some(Busiest { start, length, .. }) = busiest {
        let last = Nanos::from_nanos(start.saturating_add(length).as_nanos().saturating_sub(1));
        columns[bin_of(line, start)..=bin_of(line, last)].fill('▔');
    }
    let label = |time: Nanos| if time == Nanos::default() { "0 s".to_owned() } else { seconds(time) };
    // The first and the last bin may be selected only partly.
    let bins = (line.start(0), line.start(count));
    let (first, last) = activity.time.span().unwrap_or(bins);
    let [start, end] = [label(first.max(bins.0)), label(last.min(bins.1))];
    for (label, column) in [(&start, Some(0)), (&end, count.checked_sub(end.chars().count()))] {
        let Some(at) = column else { continue };
        let until = (at + label.chars().count()).min(count);
        // Show the label only if there is a space between it and the mark, which is more important.
        if columns[at.saturating_sub(1)..(until + 1).min(count)].iter().all(|&column| column == ' ') {
            columns[at..until].iter_mut().zip(label.chars()).for_each(|(column, letter)| *column = letter);
        }
    }
    columns.into_iter().collect::<String>().trim_end().to_owned()
}
