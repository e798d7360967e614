//! Files of a batch without runs, and the reasons.

use std::path::Path;

use crate::fleet::{FailedInput, FailureKind};

use super::content::Refused;
use super::fleet_input::size_on_disk;
use super::outcome::{Finished, Outcome};
use crate::fleet::fingerprint::{of_unread, short};
use crate::fleet::host::FleetHost;
use crate::fleet::inputs::{Task, duplicate_reason};

/// The failure of a file that was not measured.
pub(crate) fn failed(
    host: &dyn FleetHost,
    task: &Task,
    bytes: u64,
    run_id: Option<String>,
    fingerprint: String,
    refused: Refused,
) -> FailedInput {
    let Refused { kind, reason } = refused;
    let reason = host.redacted(&host.shown(without_path(&reason, &task.path)));
    let labels = task.labels.iter().map(|(name, value)| (name.clone(), host.redacted(value))).collect();
    FailedInput { source: task.display.clone(), source_bytes: bytes, run_id, fingerprint, kind, reason, labels }
}

/// Removes the name of the file from a reason, which is printed next to it. For a file in a recording, the path inside
/// the recording stays.
pub(crate) fn without_path<'r>(reason: &'r str, path: &Path) -> &'r str {
    let rest = reason.strip_prefix(&*path.display().to_string());
    rest.and_then(|rest| rest.strip_prefix(": ").or_else(|| rest.strip_prefix('/'))).unwrap_or(reason)
}

/// The failure of a file with the content of one before it.
pub(crate) fn duplicate(host: &dyn FleetHost, task: &Task, finished: &Finished, first: &Task) -> FailedInput {
    let bytes = size_on_disk(host.files(), &task.path);
    let fingerprint = match &finished.outcome {
        Outcome::Runs(runs) => runs.first().map(|run| run.record.fingerprint.clone()),
        Outcome::Failed(failed) => Some(failed.fingerprint.clone()),
        Outcome::Kept(kept) => Some(kept.fingerprint.clone()),
    };
    let reason = duplicate_reason(&task.labels, &first.display, &first.labels);
    let fingerprint = fingerprint.unwrap_or_else(|| of_unread(&task.display));
    failed(
        host,
        task,
        bytes,
        finished.content.map(short),
        fingerprint,
        Refused { kind: FailureKind::Duplicate, reason },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_does_not_repeat_its_file() {
        let path = Path::new("runs/a.trace");
        for (reason, shown) in [
            ("runs/a.trace: it is empty", "it is empty"),
            ("runs/a.trace/form.template: trailer at 0x7b0", "form.template: trailer at 0x7b0"),
            ("runs/a.trace.zip: it is empty", "runs/a.trace.zip: it is empty"),
            ("it is empty", "it is empty"),
        ] {
            assert_eq!(without_path(reason, path), shown);
        }
    }
}
