//! The names of a recording of a fleet, replaced by pseudonyms.

use traceparse::fleet::{FailureKind, RunContext};
use traceparse::recording::{Recording, Toc};
use traceparse::redact::Redactor;

use super::read_file::Refused;
use crate::redacted::Each;

/// Replaces the names of a recording, of its tables of contents and in what is said of it. Functions that operations chose stay those.
pub(super) fn redact(
    each: &Each,
    export: &mut Recording,
    context: &mut RunContext,
    notes: &mut [String],
) -> Result<(), Refused> {
    let mut redactor = Redactor::collective(each.rules.clone());
    let tocs: Vec<&Toc> = context.tocs.iter().collect();
    redactor.collect_with(export, &tocs);
    redactor
        .recording_with_ids(export)
        .map_err(|error| Refused { kind: FailureKind::Malformed, reason: error.to_string() })?;
    context.tocs.iter_mut().for_each(|toc| redactor.toc(toc));
    for (_, value) in &mut context.labels {
        *value = redactor.text(value);
    }
    for note in notes {
        *note = redactor.text(note);
    }
    Ok(())
}
