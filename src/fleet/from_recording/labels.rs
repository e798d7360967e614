//! The metadata of a run: what determines its measures in addition to the export, and the labels that form cohorts.
//!
//! ```xml
//! <device platform="macOS" model="MacBook Pro" name="…" os-version="15.7.3 (24G419)" uuid="…"/>
//! <process type="attached" name="Finder" pid="751"/>
//! ```
//!
//! becomes `app` Finder, `device` MacBook Pro, `os` macOS 15.7.3, `os_build` 24G419. The summary provides the labels `instruments` (the version
//! of Instruments) and `end_reason`. Reports from the field also have `diagnostic`, `app_version`, `app_build`, `region`, `testflight`,
//! `low_power`, and, as `state.DOMAIN`, the last state that the app reported for each domain. A device's name and UUID identify a person, and are
//! never kept. A recording's table of contents lacks the app's version, but a manifest may have it.

use std::collections::BTreeMap;

use crate::fleet::run::RunRecord;
use crate::profile::Selection;
use crate::recording::{Recording, TimeSource, Toc, TocRun, lookup};
use crate::units::{Millionths, Nanos, Unit};
use unicode_normalization::UnicodeNormalization;

impl RunRecord {
    /// Normalises a label's key or value to NFC, like [`labels`](Self::labels), so that equal labels from different sources compare equal.
    pub fn composed(label: &str) -> String {
        label.nfc().collect()
    }
}

/// The labels of a run, sorted by key. Manifest labels have precedence. All are normalised to NFC, since file names from a Mac are often
/// decomposed.
pub(super) fn labels(toc: Option<&TocRun>, manifest: &[(String, String)]) -> Vec<(String, String)> {
    let pair = |(key, value): (String, String)| (RunRecord::composed(&key), RunRecord::composed(&value));
    let mut labels: BTreeMap<String, String> = toc.map(of_toc).unwrap_or_default().into_iter().map(pair).collect();
    labels.extend(manifest.iter().filter(|(_, value)| !value.is_empty()).cloned().map(pair));
    labels.into_iter().collect()
}

impl Recording {
    /// The labels of a single report from the field, combined with a manifest's. `None` for other recordings, and for several reports.
    #[cfg(feature = "dataset")]
    pub(crate) fn labels_of_report(&self, manifest: &[(String, String)]) -> Option<Vec<(String, String)>> {
        let mut tocs = self.tocs().flat_map(|toc| &toc.runs);
        let toc = tocs.next().filter(|toc| toc.summary_field("diagnostic").is_some())?;
        tocs.next().is_none().then(|| labels(Some(toc), manifest))
    }
}

/// The labels from a table of contents. If a Mac recorded a phone, the device is the phone.
fn of_toc(toc: &TocRun) -> BTreeMap<String, String> {
    let device = |key| known(lookup(&toc.device, key));
    let (version, build) = split_version(device("os-version").unwrap_or_default());
    let os = [device("platform").unwrap_or_default(), version].join(" ");
    let models = ["model", "product-type", "hardware-model"];
    let app = known(lookup(&toc.process, "name")).filter(|_| !toc.is_all_processes);
    // The exit status is meaningless if the recording ended for another reason.
    let has_exited = toc.summary_field("end-reason").is_some_and(|reason| reason.to_lowercase().contains("exited"));
    let pairs = [
        ("exit_status", known(lookup(&toc.process, "return-exit-status")).filter(|_| has_exited)),
        ("app", app),
        ("device", models.into_iter().find_map(device)),
        ("os", known(Some(os.as_str()))),
        ("os_build", known(Some(build))),
    ];
    let pairs = pairs.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.to_owned())));
    pairs
        .chain(toc.summary.iter().filter_map(|(key, value)| Some((of_summary(key)?, known(Some(value))?.to_owned()))))
        .collect()
}

/// The label for a field of the summary.
fn of_summary(key: &str) -> Option<String> {
    let label = match key {
        "diagnostic" => "diagnostic",
        "app-version" => "app_version",
        "app-build" => "app_build",
        "region" => "region",
        "is-testflight" => "testflight",
        "is-low-power" => "low_power",
        "instruments-version" => "instruments",
        "end-reason" => "end_reason",
        _ => return key.strip_prefix("state ").map(|domain| format!("state.{domain}")),
    };
    Some(label.to_owned())
}

/// The trimmed string, unless it is empty.
fn known(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

/// Splits `15.7.3 (24G419)` into version and build; a missing part is empty.
fn split_version(text: &str) -> (&str, &str) {
    match text.split_once('(') {
        Some((version, build)) => (version.trim(), build.trim_end().trim_end_matches(')').trim()),
        None => (text, ""),
    }
}

/// Facts about an export that its content does not include.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunContext {
    /// The prefix of the [ids of its runs](crate::fleet::RunRecord::run_id).
    pub run_id: String,
    /// See [`RunRecord::fingerprint`](crate::fleet::RunRecord::fingerprint).
    pub fingerprint: String,
    /// The path of the export.
    pub source: String,
    /// The size of the export in bytes.
    pub source_bytes: u64,
    /// The labels from a manifest, which override those from a table of contents. Empty values are ignored.
    pub labels: Vec<(String, String)>,
    /// The number of runs that each of the file's runs represents; 1 unless a manifest sets it.
    pub run_weight: Millionths,
    /// The recorded length of each of the file's runs, if a manifest sets it; 0 counts as unset.
    pub duration: Option<Nanos>,
    /// Tables of contents from files next to the export. Those inside the export have precedence.
    pub tocs: Vec<Toc>,
}

impl Default for RunContext {
    /// No labels, no tables of contents, and a weight of 1. Set [`run_id`](Self::run_id), since a fleet treats runs with equal ids as copies.
    fn default() -> Self {
        Self {
            run_id: String::new(),
            fingerprint: String::new(),
            source: String::new(),
            source_bytes: 0,
            labels: Vec::new(),
            run_weight: Millionths::ONE,
            duration: None,
            tocs: Vec::new(),
        }
    }
}

impl RunContext {
    /// The record of a run that has not been measured.
    pub(super) fn record(&self, run_id: String, number: u32, toc: Option<&TocRun>) -> RunRecord {
        let start = toc.and_then(|toc| toc.summary_field("start-date")).map(str::to_owned);
        RunRecord {
            run_id,
            fingerprint: self.fingerprint.clone(),
            source: self.source.clone(),
            source_bytes: self.source_bytes,
            number,
            labels: labels(toc, &self.labels),
            run_weight: self.run_weight,
            start: start.filter(|date| !date.is_empty()),
            wall: None,
            wall_source: TimeSource::Report,
            wall_start: Nanos::default(),
            parts: Vec::new(),
            schema: String::new(),
            unit: Unit::Nanoseconds,
            weight: 0,
            samples: 0,
            effective_samples: 0,
            rejected: 0,
            unread_runs: 0,
            excluded_runs: 0,
            cores: 0,
            usual_weight: 0,
            parser_version: env!("CARGO_PKG_VERSION").to_owned(),
            notes: Vec::new(),
        }
    }
}

/// The options for measuring a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeasureOptions {
    /// The schemas of tables that may be measured; empty for every CPU table.
    pub schemas: Vec<String>,
    /// The selected samples; by default, those of running threads in every process. A time range and intervals limit a run's recorded time to the
    /// selected part, counting overlaps once. An estimated time covers at least the samples in a range. Intervals apply to all threads of their
    /// run, in every process.
    pub selection: Selection,
    /// True to keep the call trees of runs ([`RunMeasures::stacks`](crate::fleet::RunMeasures::stacks)).
    pub with_stacks: bool,
    /// True to keep the signposts and hangs of runs ([`RunMeasures::intervals`](crate::fleet::RunMeasures::intervals)).
    pub with_intervals: bool,
}

impl MeasureOptions {
    /// True if tables of this schema may be measured.
    pub(super) fn wants(&self, schema: &str) -> bool {
        self.schemas.is_empty() || self.schemas.iter().any(|wanted| wanted == schema)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn a_device_is_described_without_its_owner() {
        let toc = TocRun {
            device: pairs(&[
                ("uuid", "00000000-0000-0000-0000-000000000001"),
                ("model", "iPhone 17"),
                ("product-type", "iPhone18,3"),
                ("name", "Dana's phone"),
                ("os-version", "26.3.1 (23D771330a)"),
                ("platform", "iOS"),
            ]),
            host_device: pairs(&[("model", "MacBook Pro"), ("os-version", "26.4 (25E246)"), ("platform", "macOS")]),
            process: pairs(&[("name", "Orchard"), ("pid", "7")]),
            ..TocRun::default()
        };
        let expected =
            pairs(&[("app", "Orchard"), ("device", "iPhone 17"), ("os", "iOS 26.3.1"), ("os_build", "23D771330a")]);
        assert_eq!(labels(Some(&toc), &[]), expected);
        let all = TocRun { is_all_processes: true, ..toc };
        assert_eq!(labels(Some(&all), &[]), expected[1..]);
    }

    #[test]
    fn labels_have_the_version_of_instruments_and_the_end() {
        let summary = pairs(&[
            ("start-date", "2026-02-04T10:12:13.123-08:00"),
            ("end-reason", "Time limit reached"),
            ("instruments-version", "16.0 (17F42)"),
        ]);
        let toc = TocRun { summary, ..TocRun::default() };
        let expected = pairs(&[("end_reason", "Time limit reached"), ("instruments", "16.0 (17F42)")]);
        assert_eq!(labels(Some(&toc), &[]), expected);
    }

    #[test]
    fn what_is_not_known_is_absent() {
        assert_eq!(labels(None, &[]), []);
        assert_eq!(labels(Some(&TocRun::default()), &[]), []);
        let toc = |device: &[(&str, &str)]| TocRun { device: pairs(device), ..TocRun::default() };
        assert_eq!(labels(Some(&toc(&[("name", "Dana's phone"), ("model", " ")])), &[]), []);
        assert_eq!(labels(Some(&toc(&[("os-version", "17.4")])), &[]), pairs(&[("os", "17.4")]));
        assert_eq!(labels(Some(&toc(&[("platform", "iOS")])), &[]), pairs(&[("os", "iOS")]));
        assert_eq!(labels(Some(&toc(&[("os-version", "(21E219)")])), &[]), pairs(&[("os_build", "21E219")]));
        assert_eq!(labels(Some(&toc(&[("product-type", "Mac15,3")])), &[]), pairs(&[("device", "Mac15,3")]));
    }

    #[test]
    fn the_manifest_wins_where_it_says_something() {
        let toc = TocRun { device: pairs(&[("model", "Mac Studio"), ("platform", "macOS")]), ..TocRun::default() };
        let manifest = pairs(&[("ring", "beta"), ("device", "lab 4"), ("os", ""), ("app_version", "5.1")]);
        let expected = pairs(&[("app_version", "5.1"), ("device", "lab 4"), ("os", "macOS"), ("ring", "beta")]);
        assert_eq!(labels(Some(&toc), &manifest), expected);
    }
}
