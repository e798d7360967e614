//! Checks that two recordings can be compared, and finds the factor between them.

use std::collections::BTreeSet;
use std::fmt;

use super::change_and_noise::Sides;
use crate::profile::Meaning;
use crate::recording::lookup;
use crate::report::{Report, SeriesReport};
use crate::units::Unit;

/// The rule for the factor by which the weights of the second recording are multiplied before they are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
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
    /// The factor; `None` if a side has nothing to scale by.
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

/// The reason why two recordings should not be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unlike {
    /// One side, named here, has no selected samples.
    Nothing(String),
    /// One side has weights in several units or from several tables: its name, and the units and tables.
    Mixed(String, Vec<String>),
    /// Other units.
    Units(Unit, Unit),
    /// Other meanings of weights, such as CPU time and presence.
    Meanings(Meaning, Meaning),
    /// Other tables.
    Schemas(String, String),
    /// Other sampling intervals, in nanoseconds.
    Intervals(u64, u64),
    /// Other models of device.
    Devices(String, String),
}

impl Unlike {
    /// True if `--force` may pass over it: units are never added together.
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
                    "{side} has several measurements that cannot be summed: {}; choose one with --schema",
                    series.join(", ")
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
                let micros = |nanos: &u64| *nanos as f64 / 1e3;
                write!(f, "a sample was taken every {} µs before and every {} µs after", micros(before), micros(after))
            }
            Self::Devices(before, after) => write!(f, "the device is {before} before and {after} after"),
        }
    }
}

impl Unlike {
    /// Returns the reasons why these reports should not be compared, as far as the inputs record them.
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

/// The series with selected samples.
pub(super) fn counted<'r>(report: &'r Report<'_>) -> impl Iterator<Item = &'r SeriesReport> {
    report.series.iter().filter(|series| series.counted.samples > 0)
}

/// The tables and units of what counts.
fn kinds(report: &Report<'_>) -> BTreeSet<(String, &'static str)> {
    let profile = &report.recording.profile;
    let kind =
        |series: &SeriesReport| (profile.string(profile.series(series.series).schema).to_owned(), series.unit.name());
    counted(report).map(kind).collect()
}

/// True if no run has two selected tables, which would cover the same time twice.
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

/// The models of the devices that were recorded, if tables of contents record them.
fn device(report: &Report<'_>) -> Option<String> {
    let tocs = report.runs().into_iter().filter_map(|run| report.recording.toc_of_run(run));
    let models: BTreeSet<&str> = tocs.filter_map(|run| lookup(&run.device, "model")).collect();
    (!models.is_empty()).then(|| models.into_iter().collect::<Vec<_>>().join(", "))
}
