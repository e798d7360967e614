//! The overview of a comparison for people: a short answer of at most one screen.

use std::collections::HashSet;
use std::io::{self, Write};

use super::alerts;
use super::text::{ALERT, Text};
use crate::alert::AlertState;
use crate::output::text::table::write_left_out;
use crate::output::text::{Tone, base_text, command_lines, fit};
use crate::profile::{Meaning, StateFilter};
use crate::report::diff::{DiffRow, LackingNames, Normalize, Presence};
use crate::report::{Length, Report};
use crate::settings::{DSYM, NORMALIZE, OUTPUT, VIEW};
use crate::units::{Unit, Weight};

/// The maximum number of functions in a list.
const FUNCTIONS: usize = 5;
/// The maximum number of alert rules in the list.
const ALERTS: usize = 5;
/// With fewer samples, the share of a function is meaningless.
const FEW_SAMPLES: u64 = 30;
/// Rows with fewer samples, both sides together, are marked by chance less often than [`BY_CHANCE`].
const TESTABLE: u64 = 20;
/// Changes by this factor or more are not written as a percentage, which would be hard to read.
const MANY_TIMES: f64 = 10.0;
/// The share of rows that exceed [`Change::BEYOND_NOISE`](crate::report::diff::Change::BEYOND_NOISE) by chance alone.
const BY_CHANCE: f64 = 0.05;

const SAMPLING: &str = "sampling";

/// What two recordings cannot show.
const SCOPE: &str = "How much runs vary is unknown: to find out, use traceparse compare.";

#[cfg(feature = "compression")]
impl super::DiffReport<'_, '_> {
    /// The unwrapped sentences of the overview; empty if there is nothing to report.
    pub(in crate::output) fn sentences(&self) -> serde_json::Value {
        let style = crate::output::text::Style::default();
        let text = Text::new(self, &style);
        serde_json::json!({
            "answer": text.answer(),
            "activity": text.of_one_core().unwrap_or_default(),
            "functions": text.how_many().unwrap_or_default(),
        })
    }
}

impl Text<'_, '_, '_> {
    /// Writes both sides, the answer, the functions that changed most, and suggested commands, which start with the words of `command`.
    pub(super) fn overview(&self, command: &[String], out: &mut dyn Write) -> io::Result<()> {
        self.both_sides(out)?;
        self.some_alerts(out)?;
        writeln!(out)?;
        self.style.write_wrapped(Some(Tone::Title), 0, &self.answer(), out)?;
        let scope = (!self.is_too_few()).then(|| SCOPE.to_owned());
        for text in [self.of_one_core(), self.how_many(), scope].into_iter().flatten() {
            self.style.write_wrapped(None, 0, &text, out)?;
        }
        let tables = self.tables();
        if !tables.is_empty() {
            writeln!(out)?;
        }
        let mut hidden = Vec::new();
        for (title, rows) in &tables {
            self.style.write_wrapped(Some(Tone::Title), 0, title, out)?;
            hidden.extend(self.rows("Δ", "function", rows).write_rows(self.style, out)?);
        }
        if !tables.is_empty() {
            self.legend(out)?;
        }
        let mut seen = HashSet::new();
        hidden.retain(|title| seen.insert(title.clone()));
        write_left_out(&hidden, "", self.style, out)?;
        let next = [
            (&*format!("{VIEW} functions"), "all functions"),
            (&format!("{VIEW} tree"), "where in the calls"),
            (&format!("{OUTPUT} changes.svg"), "as a flame graph"),
        ];
        let lines = command_lines(command, &next, self.style);
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))
    }

    /// Writes the rules that fired or are undecided, then the others, up to a limit.
    fn some_alerts(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut lines = alerts::lines(self.report);
        lines.sort_by_key(|line| line.state == AlertState::Quiet);
        for line in lines.iter().take(ALERTS) {
            writeln!(out, "{}", line.lines(ALERT, self.style))?;
        }
        match lines.len().saturating_sub(ALERTS) {
            0 => Ok(()),
            more => writeln!(out, "{ALERT}… and {more} more; {VIEW} functions lists them"),
        }
    }

    /// The change, in sentences.
    fn answer(&self) -> String {
        if self.is_too_few() {
            return self.too_few();
        }
        let sentences = [self.total(), self.largest()].into_iter().chain(self.lacking_names());
        sentences.filter(|sentence| !sentence.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// The numbers of samples on both sides.
    fn samples(&self) -> [u64; 2] {
        let total = &self.report.diff.total;
        [total.before.sums.all_samples, total.after.sums.all_samples]
    }

    /// True if a side has too few samples to give an answer.
    pub(super) fn is_too_few(&self) -> bool {
        let are_counted =
            [self.report.before, self.report.after].iter().all(|side| side.table_without_sample_counts().is_none());
        are_counted && self.samples().into_iter().min() < Some(FEW_SAMPLES)
    }

    /// The sentence for a side with too few samples.
    fn too_few(&self) -> String {
        let total = &self.report.diff.total;
        let [before, after] = self.samples();
        let least = before.min(after);
        let which = if before <= after { "before" } else { "after" };
        let samples = if least == 1 { "is only 1 sample".to_owned() } else { format!("are only {least} samples") };
        let unit = self.report.diff.unit;
        let [before, after] =
            [total.before, total.after].map(|side| Weight::new(side.sums.all_weight, unit).to_string());
        format!("Too few to compare: there {samples} {which}. In all it is {before} before and {after} after.")
    }

    /// `CPU time changed from 9.58 s to 12.09 s (+26.2%), which is more than sampling explains; whether runs vary as much is unknown.`
    fn total(&self) -> String {
        let diff = self.report.diff;
        let change = diff.all_change(&diff.total);
        let what = if self.is_cpu_time() { "CPU time" } else { "The total" };
        if self.report.normalize == Normalize::Samples && self.report.diff.is_scaled {
            return "Shares are compared: both recordings are scaled to the same total.".to_owned();
        }
        let what = if diff.factor == 1.0 { what.to_owned() } else { format!("For the same length, {what}") };
        if change.weight.abs() < 0.5 {
            return format!("{what} did not change.");
        }
        let [before, after] = self.comparable(diff.total.before.sums.all_weight, diff.total.after.sums.all_weight);
        let share = match diff.total.before.sums.all_weight {
            0 => String::new(),
            before => match change.weight / before as f64 + 1.0 {
                times if times >= MANY_TIMES => format!(" ({times:.0} times as much)"),
                times => format!(" ({:+.1}%)", (times - 1.0) * 100.0),
            },
        };
        let changed = format!("{what} changed from {before} to {after}{share}");
        if change.noise.is_infinite() {
            return format!("{changed}. How much of it {} explains is unknown without sample counts.", self.noise());
        }
        if diff.unread_may_explain(&change) {
            return format!("{changed}, which the rows that could not be read may explain.");
        }
        if change.is_beyond_noise() {
            let and_runs = if self.noise() == SAMPLING { "; whether runs vary as much is unknown" } else { "" };
            return format!("{changed}, which is more than {} explains{and_runs}.", self.noise());
        }
        let noise = self.amount(change.noise);
        format!(
            "{changed}, which {} alone may explain: one standard deviation is {}.",
            self.noise(),
            noise.trim_start_matches('+')
        )
    }

    /// What may explain changes of functions: samples without a binary or a stack, and the binaries with unnamed code.
    pub(super) fn lacking_names(&self) -> impl Iterator<Item = String> {
        let found = &self.report.diff.lacking_names;
        let (binaries, lost): (Vec<_>, Vec<_>) = found.iter().partition(|lacking| lacking.binary.is_some());
        let shares = |lacking: &LackingNames| lacking.shares.map(|share| format!("{:.1}%", 100.0 * share));
        let lost = lost.first().map(|lacking| {
            let [before, after] = shares(lacking);
            format!(
                "{before} before and {after} after have no binary or no stack, which may explain changes of functions."
            )
        });
        let of_binary = binaries.first().map(|lacking| {
            let ([before, after], name) = (shares(lacking), lacking.binary.as_deref().unwrap_or_default());
            let more = match binaries.len() - 1 {
                0 => String::new(),
                1 => ", and so has 1 other binary".to_owned(),
                more => format!(", and so have {more} other binaries"),
            };
            format!(
                "{name} has unnamed code, {before} of it before and {after} after{more}, which may explain changes of its functions: pass the \
                 symbols of both builds with {DSYM}."
            )
        });
        lost.into_iter().chain(of_binary)
    }

    /// Both weights, with the second one scaled to the first recording.
    fn comparable(&self, before: u64, after: u64) -> [String; 2] {
        let after = (after as f64 * self.report.diff.factor).round() as u64;
        [before, after].map(|weight| Weight::new(weight, self.report.diff.unit).to_string())
    }

    /// The function with the largest change.
    fn largest(&self) -> String {
        let diff = self.report.diff;
        let (rows, are_own) = match diff.own_functions.is_empty() {
            false => (&diff.own_functions, true),
            true => (&diff.functions, false),
        };
        let is_known = diff.noise_factor.is_finite();
        let mut comparable = rows.iter().filter(|row| diff.is_comparable(row));
        let Some(row) = comparable.find(|row| !is_known || row.self_change.is_beyond_noise()) else {
            if !diff.lacking_names.is_empty() {
                return String::new();
            }
            let none = if are_own { "None of your functions" } else { "No function" };
            return format!("{none} changed by more than {} explains.", self.noise());
        };
        if diff.unread_may_explain(&row.self_change) {
            return "The rows that could not be read may explain the changes of functions.".to_owned();
        }
        let total = diff.all_change(&diff.total);
        let is_most = total.is_beyond_noise() && (0.5..=1.0).contains(&(row.self_change.weight / total.weight));
        let lead = match is_most {
            true => "Most of it is".to_owned(),
            false if !is_known => "The largest change is that of".to_owned(),
            false if are_own => format!("Your function with the largest change beyond {} is", self.noise()),
            false => format!("The function with the largest change beyond {} is", self.noise()),
        };
        let binary = row.function.owner().map(|binary| format!(" ({})", fit(binary, Some(24)))).unwrap_or_default();
        let function = self.style.name_in_text(row.function.title(), 60);
        format!("{lead} {function}{binary}: {}, {}.", self.amount(row.self_change.weight), self.both_weights(row))
    }

    /// `from 0.30 s to 2.20 s`.
    fn both_weights(&self, row: &DiffRow) -> String {
        let [before, after] = self.comparable(row.sides.before.sums.self_weight, row.sides.after.sums.self_weight);
        match row.sides.presence() {
            Presence::Both => format!("from {before} to {after}"),
            Presence::New => format!("from nothing to {after}"),
            Presence::Vanished => format!("from {before} to nothing"),
        }
    }

    /// `74% of one core over 10.2 s before, 93% over 12.0 s after.`
    fn of_one_core(&self) -> Option<String> {
        let report = self.report;
        let (before, after) = report.before.length().zip(report.after.length()).filter(|_| self.is_cpu_time())?;
        let total = &report.diff.total;
        let percent = |weight: u64, length: Length| {
            let percent = Weight::nanos(weight).percent_of_core(length.nanos).unwrap_or_default();
            format!("{percent:.1}% of one core over {}", base_text(length))
        };
        let mut text = format!(
            "{} before, {} after.",
            percent(total.before.sums.all_weight, before),
            percent(total.after.sums.all_weight, after)
        );
        if report.normalize == Normalize::None && before.differs_from(after) {
            text +=
                &format!(" One recording is longer, so its weights are larger: {NORMALIZE} duration compares rates.");
        }
        Some(text)
    }

    /// The number of functions that changed by more than chance explains, and the number expected by chance alone.
    fn how_many(&self) -> Option<String> {
        let diff = self.report.diff;
        if diff.noise_factor.is_infinite() {
            return None;
        }
        let (rows, whose) = match diff.own_functions.is_empty() {
            false => (&diff.own_functions, "of your functions"),
            true => (&diff.functions, "functions"),
        };
        // A row with fewer samples rarely exceeds the noise.
        let samples = |row: &&DiffRow| row.sides.before.sums.self_samples + row.sides.after.sums.self_samples;
        let is_tested = |row: &&DiffRow| samples(row) >= TESTABLE && diff.is_comparable(row);
        let rows: Vec<&DiffRow> = rows.iter().filter(is_tested).collect();
        let beyond = rows.iter().filter(|row| row.self_change.is_beyond_noise()).count();
        let by_chance = match (rows.len() as f64 * BY_CHANCE).round() {
            few if few < 1.0 => "less than one".to_owned(),
            many => format!("about {many}"),
        };
        let text = format!(
            "{beyond} of {} {whose} with {TESTABLE} samples or more changed by more than {noise} explains (*); \
             {noise} alone would mark {by_chance}.",
            rows.len(),
            noise = self.noise(),
        );
        (beyond > 0 && rows.len() > 1 && !self.is_too_few()).then_some(text)
    }

    /// What the change is compared with: how much sampling alone varies, or for sums of many runs, also how much these vary.
    pub(super) fn noise(&self) -> &'static str {
        let factor = self.report.diff.noise_factor;
        if factor == 1.0 || factor.is_infinite() { SAMPLING } else { "chance" }
    }

    fn is_cpu_time(&self) -> bool {
        let report = self.report.before;
        let counted = report.series.iter().filter(|series| series.counted.samples > 0);
        let is_running = |side: &Report<'_>| side.options.selection.states == StateFilter::Running;
        let is_on_cpu = |series| report.recording.profile.series(series).meaning == Meaning::OnCpu;
        is_running(report)
            && is_running(self.report.after)
            && self.report.diff.unit == Unit::Nanoseconds
            && counted.into_iter().all(|series| is_on_cpu(series.series))
    }

    /// The functions that changed most: app functions, and functions of all code if that list differs.
    fn tables(&self) -> Vec<(&'static str, Vec<&DiffRow>)> {
        let diff = self.report.diff;
        let own = self.most_changed(&diff.own_functions);
        let all = self.most_changed(&diff.functions);
        let is_same = own == all;
        let tables = [
            ("Your functions that changed most, including the system code they call", own),
            ("Functions that changed most in all code, by self weight", if is_same { Vec::new() } else { all }),
        ];
        tables.into_iter().filter(|(_, rows)| !rows.is_empty()).collect()
    }

    fn most_changed<'d>(&self, rows: &'d [DiffRow]) -> Vec<&'d DiffRow> {
        let changed = rows.iter().filter(|row| row.self_change.weight != 0.0);
        changed.take(self.report.top.unwrap_or(FUNCTIONS)).collect()
    }

    /// `+2.51 s`.
    fn amount(&self, weight: f64) -> String {
        let sign = if weight < 0.0 { "-" } else { "+" };
        format!("{sign}{}", Weight::new(weight.abs().round() as u64, self.report.diff.unit))
    }
}
