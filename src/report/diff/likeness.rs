//! Checks whether two recordings are comparable, and computes the scale factor between them.

use std::collections::BTreeSet;
use std::fmt;

use super::change_and_noise::Sides;
use crate::profile::Meaning;
use crate::recording::lookup;
use crate::report::{Report, SeriesReport};
use crate::settings::SCHEMA;
use crate::units::{Unit, Weight, first_of};

/// The rule for the factor by which the second recording's weights are multiplied before the comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Normalize {
    /// Do not scale: compare weights unchanged
    #[default]
    None,
    /// Scale to the length of the first recording
    ///
    /// See [`length`](Report::length).
    Duration,
    /// Scale to the total weight of the first recording, so that shares are compared
    Samples,
}

impl Normalize {
    /// The name of the rule: `none`, `duration`, `samples`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Duration => "duration",
            Self::Samples => "samples",
        }
    }

    /// Returns the factor; `None` if a side lacks the length or weight that it requires.
    pub(super) fn factor<'e>(self, before: &Report<'e>, after: &Report<'e>, total: &Sides) -> Option<f64> {
        let (before, after) = match self {
            Self::None => return Some(1.0),
            Self::Samples => (total.before.sums.all_weight as f64, total.after.sums.all_weight as f64),
            Self::Duration => {
                let nanos = |report: &Report<'e>| report.length().map_or(0.0, |length| length.nanos.as_nanos() as f64);
                (nanos(before), nanos(after))
            }
        };
        (before > 0.0 && after > 0.0).then(|| before / after)
    }
}

/// Why two recordings should not be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unlike {
    /// This side has no selected samples.
    Nothing(String),
    /// This side has weights in these units or from these tables.
    Mixed(String, Vec<String>),
    /// The units differ.
    Units(Unit, Unit),
    /// The meanings of weights differ, such as CPU time and presence.
    Meanings(Meaning, Meaning),
    /// The tables differ.
    Schemas(String, String),
    /// The sampling intervals, in nanoseconds, differ.
    Intervals(u64, u64),
    /// The device models differ.
    Devices(String, String),
}

impl Unlike {
    /// True if the user may force the comparison. Different units are never compared.
    pub fn is_forcible(&self) -> bool {
        matches!(self, Self::Schemas(..) | Self::Intervals(..) | Self::Devices(..))
    }
}

impl fmt::Display for Unlike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing(side) => write!(f, "{side}: no sample counts"),
            Self::Mixed(side, series) => {
                write!(
                    f,
                    "{side} has several measurements that cannot be summed: {}; choose one with {SCHEMA}",
                    first_of(series)
                )
            }
            Self::Units(before, after) => {
                write!(f, "weights are in {before} in the first recording and in {after} in the second")
            }
            Self::Meanings(before, after) => {
                let meaning = |meaning: &Meaning| match meaning {
                    Meaning::OnCpu => "use of the CPU",
                    Meaning::Presence => "threads that were there, running or waiting,",
                    Meaning::Writes => "threads that wrote to storage,",
                    Meaning::Stop => "the stacks of a crash or memory exception,",
                };
                write!(f, "samples show {} before and {} after", meaning(before), meaning(after).trim_end_matches(','))
            }
            Self::Schemas(before, after) => write!(f, "the table is {before} before and {after} after"),
            Self::Intervals(before, after) => {
                let [before, after] = [before, after].map(|nanos| Weight::nanos(*nanos));
                write!(f, "a sample was taken every {before} before and every {after} after")
            }
            Self::Devices(before, after) => write!(f, "the device is {before} before and {after} after"),
        }
    }
}

impl Unlike {
    /// Returns the reasons against comparing these reports. A property can differ only if both inputs record it.
    pub fn between<'e>(before: &Report<'e>, after: &Report<'e>) -> Vec<Self> {
        let sides = [(before, "the first recording"), (after, "the second recording")];
        let mut found = Vec::new();
        for (report, name) in sides {
            let kinds = kinds(report);
            match kinds.len() {
                0 => found.push(Unlike::Nothing(name.to_owned())),
                1 if has_one_table_a_run(report) => {}
                _ => found.push(Unlike::Mixed(
                    name.to_owned(),
                    kinds.into_iter().map(|(schema, unit)| format!("{schema} ({unit})")).collect(),
                )),
            }
        }
        let (first, second) = (counted(before).next(), counted(after).next());
        let (Some(first), Some(second)) = (first, second) else { return found };
        if first.unit != second.unit {
            found.push(Unlike::Units(first.unit, second.unit));
        }
        let meaning =
            |report: &Report<'_>, series: &SeriesReport| report.recording.profile.series(series.series).meaning;
        let meanings = (meaning(before, first), meaning(after, second));
        if meanings.0 != meanings.1 {
            found.push(Unlike::Meanings(meanings.0, meanings.1));
        }
        let schema = |report: &Report<'_>, series: &SeriesReport| {
            let profile = &report.recording.profile;
            profile.string(profile.series(series.series).schema).to_owned()
        };
        let interval = |report: &Report<'_>, series: &SeriesReport| report.sampling_interval(series);
        let schemas = (schema(before, first), schema(after, second));
        if schemas.0 != schemas.1 {
            found.push(Unlike::Schemas(schemas.0, schemas.1));
        }
        if let (Some(first), Some(second)) = (interval(before, first), interval(after, second))
            && first.as_nanos().abs_diff(second.as_nanos()) > first.min(second).as_nanos() / 10
        {
            found.push(Unlike::Intervals(first.as_nanos(), second.as_nanos()));
        }
        if let (Some(first), Some(second)) = (device(before), device(after))
            && first != second
        {
            found.push(Unlike::Devices(first, second));
        }
        found
    }
}

pub(super) fn counted<'r>(report: &'r Report<'_>) -> impl Iterator<Item = &'r SeriesReport> {
    report.series.iter().filter(|series| series.counted.samples > 0)
}

/// The tables and units of selected samples.
fn kinds(report: &Report<'_>) -> BTreeSet<(String, &'static str)> {
    let profile = &report.recording.profile;
    let kind =
        |series: &SeriesReport| (profile.string(profile.series(series.series).schema).to_owned(), series.unit.name());
    counted(report).map(kind).collect()
}

/// True if no run has two selected tables, which would count its time twice.
fn has_one_table_a_run(report: &Report<'_>) -> bool {
    let profile = &report.recording.profile;
    let mut runs = counted(report).map(|series| profile.series(series.series).run);
    let mut seen = Vec::new();
    runs.all(|run| {
        !seen.contains(&run) && {
            seen.push(run);
            true
        }
    })
}

/// The device models of the runs, if tables of contents record them.
fn device(report: &Report<'_>) -> Option<String> {
    let tocs = report.runs().into_iter().filter_map(|run| report.recording.toc_of_run(run));
    let models: BTreeSet<&str> = tocs.filter_map(|run| lookup(&run.device, "model")).collect();
    (!models.is_empty()).then(|| first_of(&models.into_iter().collect::<Vec<_>>()))
}
