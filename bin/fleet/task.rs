//! One export of a fleet, before it is measured.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    /// True if a manifest names it.
    pub(super) is_described: bool,
    /// The folder that was named, if it was found in one.
    pub(super) folder: Option<Arc<Path>>,
}

impl Task {
    /// The place among files with the same content: the first one counts, so that is the one of which most is known.
    pub(super) const fn rank(&self) -> Rank {
        rank(self.is_described, self.toc.is_some())
    }

    /// The name of a file with its intervals.
    pub(super) fn intervals_name(&self) -> String {
        export_names(&self.path).iter().flat_map(|name| intervals_names(name)).next().unwrap_or_default()
    }

    /// The file with its intervals, if it is another one.
    pub(super) fn intervals_file(&self) -> Option<&Path> {
        self.intervals.as_deref().or(self.intervals_beside.as_deref())
    }
}

/// Smaller for files of which more is known.
pub(super) type Rank = u8;

/// The rank of a file that a manifest describes, or not, and that has a table of contents beside it, or not.
pub(super) const fn rank(is_described: bool, has_toc: bool) -> Rank {
    match (is_described, has_toc) {
        (true, true) => 0,
        (true, false) => 1,
        (false, true) => 2,
        (false, false) => 3,
    }
}

/// Labels that differ are named up to this many.
const SAID_LABELS: usize = 8;

/// The labels in which manifests contradict each other about two exports that should be one: `app_version 1.1` and `app_version 1.0`. An
/// export without labels contradicts none.
pub(super) fn differing_labels(a: &[(String, String)], b: &[(String, String)]) -> Option<[String; 2]> {
    // Who is in no manifest contradicts none.
    if a.is_empty() || b.is_empty() || a == b {
        return None;
    }
    let map = |labels: &'_ [(String, String)]| -> BTreeMap<String, String> { labels.iter().cloned().collect() };
    let labels = [map(a), map(b)];
    let keys: BTreeSet<&str> = labels.iter().flat_map(|labels| labels.keys().map(String::as_str)).collect();
    let differing: Vec<&str> = keys.into_iter().filter(|key| labels[0].get(*key) != labels[1].get(*key)).collect();
    let say = |labels: &BTreeMap<String, String>| {
        let label = |key: &&str| labels.get(*key).map_or_else(|| format!("no {key}"), |value| format!("{key} {value}"));
        let more = differing.len().saturating_sub(SAID_LABELS);
        let more = (more > 0).then(|| format!("{} more", counted(more)));
        differing.iter().take(SAID_LABELS).map(label).chain(more).collect::<Vec<_>>().join(", ")
    };
    (!differing.is_empty()).then(|| labels.each_ref().map(say))
}

/// The reason why a file gives no run although it has one: another file with the same content counts.
pub(super) fn duplicate_reason(own: &[(String, String)], first: &str, of_first: &[(String, String)]) -> String {
    let differing = differing_labels(own, of_first)
        .map(|[own, of_first]| format!("; but its manifest line says {own}, and that of {first} {of_first}"));
    format!("it has the same content as {first}, which counts{}", differing.unwrap_or_default())
}
