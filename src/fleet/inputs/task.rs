//! One export of a fleet before it is measured, and its rank among files with the same content, of which one is used.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::folders::{export_names, intervals_names};
use crate::fleet::host::FleetHost;
use crate::fleet::{FailedInput, FailureKind, RunRecord};
use crate::units::{Millionths, Nanos, counted};

/// An export to be measured, with its metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The file or folder of the export.
    pub path: PathBuf,
    /// The name that people and reports use for it.
    pub display: String,
    pub(crate) toc: Option<PathBuf>,
    /// The file with its intervals, of a manifest.
    pub(crate) intervals: Option<PathBuf>,
    /// The neighbouring file with intervals that is named after the export.
    pub(crate) intervals_beside: Option<PathBuf>,
    /// The labels in a manifest.
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) run_weight: Millionths,
    pub(crate) duration: Option<Nanos>,
    /// True if a manifest names it.
    pub(crate) is_described: bool,
    /// The folder that was named, if it was found in one.
    pub(crate) folder: Option<Arc<Path>>,
}

impl Task {
    /// A file of which nothing is known besides its path and its name in reports.
    pub(crate) fn new(path: PathBuf, display: String) -> Self {
        Self {
            path,
            display,
            toc: None,
            intervals: None,
            intervals_beside: None,
            labels: Vec::new(),
            run_weight: Millionths::ONE,
            duration: None,
            is_described: false,
            folder: None,
        }
    }

    /// The export's file, and the neighbouring files that are read with it.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let beside = [&self.toc, &self.intervals, &self.intervals_beside];
        [self.path.as_path()].into_iter().chain(beside.into_iter().flatten().map(PathBuf::as_path))
    }

    /// The rank among files with the same content: the first one is used, so it is the one with the most metadata.
    pub(crate) const fn rank(&self) -> Rank {
        rank(self.is_described, self.toc.is_some())
    }

    /// The name of a file with its intervals.
    pub(crate) fn intervals_name(&self) -> String {
        export_names(&self.path).iter().flat_map(|name| intervals_names(name)).next().unwrap_or_default()
    }

    /// The file with its intervals, if it is another one.
    pub(crate) fn intervals_file(&self) -> Option<&Path> {
        self.intervals.as_deref().or(self.intervals_beside.as_deref())
    }
}

/// A path as text. Bytes that are not UTF-8 are written as `\xff`: two files must not have one name.
pub(super) fn display(host: &dyn FleetHost, path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    host.shown(&text).into_owned()
}

/// Smaller for files of which more is known.
pub(crate) type Rank = u8;

/// The rank of a file, by whether a manifest describes it and whether it has a table of contents.
pub(crate) const fn rank(is_described: bool, has_toc: bool) -> Rank {
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
pub(crate) fn differing_labels(a: &[(String, String)], b: &[(String, String)]) -> Option<[String; 2]> {
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

/// The reason why a file has no runs: another file with the same content is used.
pub(crate) fn duplicate_reason(own: &[(String, String)], first: &str, of_first: &[(String, String)]) -> String {
    let differing = differing_labels(own, of_first)
        .map(|[own, of_first]| format!("; but its manifest line has {own}, and the line of {first} has {of_first}"));
    format!("it has the same content as {first}, which is used{}", differing.unwrap_or_default())
}

/// The file that counts for a content, or may.
#[derive(Clone, Debug)]
pub(crate) struct Counting {
    pub(crate) rank: Rank,
    pub(crate) source: String,
    pub(crate) labels: Vec<(String, String)>,
}

impl Counting {
    /// A file whose run is there, by its name among others.
    pub(crate) fn of(record: &RunRecord, source: String) -> Self {
        let labels = record.manifest_labels.clone();
        Self { rank: rank(labels.is_some(), record.has_toc_beside), source, labels: labels.unwrap_or_default() }
    }

    /// A file that is read.
    pub(crate) fn of_task(task: &Task) -> Self {
        Self { rank: task.rank(), source: task.display.clone(), labels: task.labels.clone() }
    }

    /// True if this file is used instead of the other one.
    pub(crate) fn is_before(&self, other: &Self) -> bool {
        (self.rank, &self.source) < (other.rank, &other.source)
    }

    /// The reason why a file with these labels produces no run.
    pub(crate) fn reason(&self, labels: &[(String, String)]) -> String {
        duplicate_reason(labels, &self.source, &self.labels)
    }

    /// The failure that an extract gives a file with this content.
    pub(crate) fn failure(&self, record: &RunRecord, source: String) -> FailedInput {
        let labels = record.manifest_labels.clone().unwrap_or_default();
        let run_id = Some(content(&record.run_id).to_owned());
        FailedInput {
            source,
            run_id,
            labels: labels.clone(),
            ..record.failure(FailureKind::Duplicate, self.reason(&labels))
        }
    }
}

/// The hash of the file's content in a run id, which is followed by `-2`, `-3` … for the second run and later ones.
pub(crate) fn content(run_id: &str) -> &str {
    run_id.split_once('-').map_or(run_id, |(content, _)| content)
}
