//! Everything that decides the measures of a run, besides the export itself.

use crate::profile::Selection;
use crate::recording::Toc;
use crate::units::{Millionths, Nanos};

/// The facts about an export that are not in its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunContext {
    /// The hash of the file's content, in hex.
    pub run_id: String,
    /// As [`RunRecord::fingerprint`](crate::fleet::RunRecord::fingerprint).
    pub fingerprint: String,
    /// The path of the export, as it was found.
    pub source: String,
    /// Its size in bytes.
    pub source_bytes: u64,
    /// Labels of a manifest, which override those of a table of contents. One with an empty value is ignored.
    pub labels: Vec<(String, String)>,
    /// The number of runs that each run of the file stands for; 1 without a manifest that says so.
    pub run_weight: Millionths,
    /// The length of the recording of each run of the file, if a manifest gives it; 0 counts as not given.
    pub duration: Option<Nanos>,
    /// Tables of contents beside the export. Those inside it count, too, and before these.
    pub tocs: Vec<Toc>,
}

/// The options of measuring.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeasureOptions {
    /// The only tables that may be measured, by schema; empty is every CPU table.
    pub schemas: Vec<String>,
    /// The samples that count. The default counts running threads of every process. A range of time and intervals shorten the recorded
    /// time of a run to the part that they select, where they overlap once; an estimated time ends no earlier than the time that the samples
    /// in a range cover. Intervals count for all threads of their run, whichever process they are of.
    pub selection: Selection,
}

impl MeasureOptions {
    /// True if tables of this schema may be measured.
    pub(super) fn wants(&self, schema: &str) -> bool {
        self.schemas.is_empty() || self.schemas.iter().any(|wanted| wanted == schema)
    }
}
