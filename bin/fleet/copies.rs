//! Files with the same content, of which one counts: their place among each other, and the failure of the others.

use traceparse::fleet::{FailedInput, FailureKind, RunRecord};

use super::task::{Rank, Task, duplicate_reason, rank};

/// The file that counts for a content, or may.
#[derive(Clone, Debug)]
pub(super) struct Counting {
    pub(super) rank: Rank,
    pub(super) source: String,
    pub(super) labels: Vec<(String, String)>,
}

impl Counting {
    /// A file whose run is there, by its name among others.
    pub(super) fn of(record: &RunRecord, source: String) -> Self {
        let labels = record.manifest_labels.clone();
        Self { rank: rank(labels.is_some(), record.has_toc_beside), source, labels: labels.unwrap_or_default() }
    }

    /// A file that is read.
    pub(super) fn of_task(task: &Task) -> Self {
        Self { rank: task.rank(), source: task.display.clone(), labels: task.labels.clone() }
    }

    /// True if it counts, and not the other one.
    pub(super) fn is_before(&self, other: &Self) -> bool {
        (self.rank, &self.source) < (other.rank, &other.source)
    }

    /// The reason why a file with these labels gives no run.
    pub(super) fn reason(&self, labels: &[(String, String)]) -> String {
        duplicate_reason(labels, &self.source, &self.labels)
    }

    /// The failure that an extract gives a file with this content.
    pub(super) fn failure(&self, record: &RunRecord, source: String) -> FailedInput {
        let labels = record.manifest_labels.clone().unwrap_or_default();
        FailedInput {
            source,
            source_bytes: record.source_bytes,
            run_id: Some(content(&record.run_id).to_owned()),
            fingerprint: record.fingerprint.clone(),
            kind: FailureKind::Duplicate,
            reason: self.reason(&labels),
            labels,
        }
    }
}

/// The hash of the file's content in the id of a run, which is followed by `-2`, `-3` … for further runs.
pub(super) fn content(run_id: &str) -> &str {
    run_id.split_once('-').map_or(run_id, |(content, _)| content)
}
