//! An export of a fleet before it is measured.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::folders::{export_names, intervals_names};
use crate::fleet::host::FleetHost;
use crate::units::{Millionths, Nanos, counted};

/// An export to measure, with its metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The file or folder of the export.
    pub path: PathBuf,
    /// The name in reports and messages.
    pub display: String,
    pub(crate) toc: Option<PathBuf>,
    /// The file with its intervals, according to a manifest.
    pub(crate) intervals: Option<PathBuf>,
    /// The file with intervals next to the export, named after it.
    pub(crate) intervals_beside: Option<PathBuf>,
    /// The labels from a manifest.
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) run_weight: Millionths,
    pub(crate) duration: Option<Nanos>,
    /// The specified folder that the export was found in, if any.
    pub(crate) folder: Option<Arc<Path>>,
}

impl Task {
    /// Creates a task without metadata.
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
            folder: None,
        }
    }

    /// The export's file, and the files next to it that are read as well.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let beside = [&self.toc, &self.intervals, &self.intervals_beside];
        [self.path.as_path()].into_iter().chain(beside.into_iter().flatten().map(PathBuf::as_path))
    }

    /// The preferred name of a file with its intervals.
    pub(crate) fn intervals_name(&self) -> String {
        export_names(&self.path).iter().flat_map(|name| intervals_names(name)).next().unwrap_or_default()
    }

    /// The file with its intervals, if that is a separate file.
    pub(crate) fn intervals_file(&self) -> Option<&Path> {
        self.intervals.as_deref().or(self.intervals_beside.as_deref())
    }
}

/// Converts a path to text. Bytes that are not UTF-8 become `\xff`, since names must be unique.
pub(super) fn display(host: &dyn FleetHost, path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    host.shown(&text).into_owned()
}

/// The maximum number of differing labels to list.
const SAID_LABELS: usize = 8;

/// Describes how the labels in two manifest lines for one export contradict each other: `app_version 1.1` and `app_version 1.0`. `None` if they
/// agree.
pub(crate) fn differing_labels(a: &[(String, String)], b: &[(String, String)]) -> Option<[String; 2]> {
    // An export without labels contradicts nothing.
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
