//! Rows as datasets are read.

use traceparse::fleet::{DatasetRow, DatasetRun};

/// A row of a dataset; the names of a run are those of its file.
pub(crate) type SharedRow = DatasetRow<DatasetRun>;
