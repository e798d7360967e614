//! Finds out whether an export has a CPU table. Exports of other tables, such as hangs, accompany a recording.

use traceparse::recording::{Options, RecordingBuilder, RejectReason, Rejected, Row, TableKind};
use traceparse::tables::{Cell, RowValues, TableHead, TableVisitor};
use traceparse::{Diagnostic, Error, ErrorKind, Input};

/// True if the input has a CPU table, or if it cannot be read as an export, which its reader then reports. Reads only up to the first row of the first
/// CPU table.
pub(super) fn has_cpu_table(input: &Input<'_>, options: &Options) -> bool {
    let mut search = Search::default();
    let read = input.read_tables(&mut RecordingBuilder::new(options.clone()), "", &mut search);
    search.is_found || read.is_err()
}

#[derive(Debug, Default)]
struct Search {
    is_found: bool,
}

impl TableVisitor for Search {
    fn wants(&self, table: &TableHead) -> bool {
        TableKind::of_schema(&table.schema) == TableKind::Cpu
    }

    fn start(&mut self, _: &TableHead) {
        self.is_found = true;
    }

    fn needs(&self, _: &str) -> bool {
        false
    }

    /// Stops reading.
    fn row(&mut self, _: &[Cell], _: &RowValues<'_>) -> Result<Result<Option<Row>, RejectReason>, Error> {
        Err(Error::new(ErrorKind::Failed, None))
    }

    fn end(&mut self, _: u64, _: &Rejected) {}

    fn unreadable(&mut self, _: &TableHead, _: Option<u64>, error: Error) -> Result<(), Error> {
        Err(error)
    }

    fn note(&mut self, _: Diagnostic) {}
}
