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
    /// The path of the export.
    pub source: String,
    /// The size of the export in bytes.
    pub source_bytes: u64,
    /// The labels in a manifest, which override the labels in a table of contents. An empty value is ignored.
    pub labels: Vec<(String, String)>,
    /// The number of runs that each run of the file represents; 1 unless a manifest sets it.
    pub run_weight: Millionths,
    /// The length of the recording of each run of the file, if set by a manifest; 0 means unset.
    pub duration: Option<Nanos>,
    /// Tables of contents in neighbouring files. Tables inside the export are used first.
    pub tocs: Vec<Toc>,
}

/// The options of measuring.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeasureOptions {
    /// The only tables that may be measured, by schema; empty is every CPU table.
    pub schemas: Vec<String>,
    /// The selected samples. By default, these are the samples of running threads in every process. A time range and
    /// intervals limit the recorded time of a run to the selected part, in which overlapping intervals are counted
    /// once. An estimated time covers at least the samples in a range. Intervals apply to all threads of their run, in
    /// any process.
    pub selection: Selection,
}

impl MeasureOptions {
    /// True if tables of this schema may be measured.
    pub(super) fn wants(&self, schema: &str) -> bool {
        self.schemas.is_empty() || self.schemas.iter().any(|wanted| wanted == schema)
    }
}
