//! One export of a fleet, before it is measured.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use traceparse::units::{Millionths, Nanos};

use super::names::{export_names, intervals_names};
use super::notes::counted;

/// An export to be measured, and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) path: PathBuf,
    /// The name that people and reports use for it.
    pub(super) display: String,
    pub(super) toc: Option<PathBuf>,
    /// The file with its intervals, of a manifest.
    pub(super) intervals: Option<PathBuf>,
    /// The file beside it that is named after it.
    pub(super) intervals_beside: Option<PathBuf>,
    /// Of a manifest.
    pub(super) labels: Vec<(String, String)>,
    pub(super) run_weight: Millionths,
    pub(super) duration: Option<Nanos>,
}

impl Task {
    /// The name of a file with its intervals.
    pub(super) fn intervals_name(&self) -> String {
        export_names(&self.path).iter().flat_map(|name| intervals_names(name)).next().unwrap_or_default()
    }

    /// The file with its intervals, if it is another one.
    pub(super) fn intervals_file(&self) -> Option<&Path> {
        self.intervals.as_deref().or(self.intervals_beside.as_deref())
    }

    fn labels(&self) -> BTreeMap<&str, &str> {
        self.labels.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect()
    }
}

/// Labels that differ are named up to this many.
const SAID_LABELS: usize = 8;

/// The labels in which manifests contradict each other about two exports that should be one: `app_version 1.1` and `app_version 1.0`. An
/// export without labels contradicts none.
pub(super) fn differing_labels(a: &Task, b: &Task) -> Option<[String; 2]> {
    // Who is in no manifest contradicts none.
    if a.labels.is_empty() || b.labels.is_empty() || a.labels == b.labels {
        return None;
    }
    let labels = [a, b].map(Task::labels);
    let keys: BTreeSet<&str> = labels.iter().flat_map(|labels| labels.keys().copied()).collect();
    let differing: Vec<&str> = keys.into_iter().filter(|key| labels[0].get(key) != labels[1].get(key)).collect();
    let say = |labels: &BTreeMap<&str, &str>| {
        let label = |key: &&str| labels.get(key).map_or_else(|| format!("no {key}"), |value| format!("{key} {value}"));
        let more = differing.len().saturating_sub(SAID_LABELS);
        let more = (more > 0).then(|| format!("{} more", counted(more)));
        differing.iter().take(SAID_LABELS).map(label).chain(more).collect::<Vec<_>>().join(", ")
    };
    (!differing.is_empty()).then(|| labels.each_ref().map(say))
}
