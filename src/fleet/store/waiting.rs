//! Rows that are not in a data file yet. They are written together, since a data file of one run costs several times as
//! much as measuring the run.

use std::time::{Duration, Instant};

use crate::fleet::{DatasetRow, KnownRun};

use super::index::{Replaced, known_of_failure, known_of_run};

/// The time that rows wait, and how many times as long as the last batch took. So a slow disk, or a machine with too few cores, spends a
/// small part of the time on writing.
const TIME: Duration = Duration::from_secs(1);
const TIMES: u32 = 10;
/// The most memory that waiting rows take, and the most puts that wait.
const BYTES: u64 = 16 << 20;
const PUTS: u64 = 1024;

/// The result of some puts.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) rows: Vec<DatasetRow>,
    /// The exports and runs that these rows replace.
    pub(super) replaced: Replaced,
    pub(super) puts: u64,
    bytes: u64,
}

impl Batch {
    /// The rows of one put.
    pub(super) fn new(rows: Vec<DatasetRow>, replaced: Replaced) -> Self {
        let bytes = rows.iter().map(|row| match row {
            DatasetRow::Run(run) => run.memory(),
            DatasetRow::Failed(_) => 0,
        });
        Self { bytes: bytes.sum(), rows, replaced, puts: 1 }
    }

    /// Adds a later batch, whose rows replace rows of this one.
    pub(super) fn extend(&mut self, later: Self) {
        self.rows.retain(|row| later.replaced.leaves(row));
        self.rows.extend(later.rows);
        self.replaced.extend(&later.replaced);
        self.puts += later.puts;
        self.bytes += later.bytes;
    }

    /// The rows, for the index.
    pub(super) fn known(&self) -> Vec<KnownRun> {
        let known = |row: &DatasetRow| match row {
            DatasetRow::Run(run) => known_of_run(run),
            DatasetRow::Failed(failure) => known_of_failure(failure),
        };
        self.rows.iter().map(known).collect()
    }
}

/// The next batch.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    batch: Batch,
    /// The time of the first put of the batch.
    since: Option<Instant>,
    /// The time that writing the last batch took.
    cost: Duration,
    /// The number of puts whose rows are not in a data file: those of the batch, and of a batch that is being written.
    unwritten: u64,
    /// Files that an extract is done with.
    done: u64,
}

impl Waiting {
    /// Adds a put.
    pub(super) fn put(&mut self, rows: Vec<DatasetRow>, replaced: Replaced) {
        self.batch.extend(Batch::new(rows, replaced));
        self.since.get_or_insert_with(Instant::now);
        self.unwritten += 1;
    }

    /// True if it is time to write the batch.
    pub(super) fn is_due(&self) -> bool {
        self.is_full() || self.since.is_some_and(|since| since.elapsed() >= TIME.max(self.cost.saturating_mul(TIMES)))
    }

    /// True if no more rows may wait.
    pub(super) fn is_full(&self) -> bool {
        self.batch.bytes >= BYTES || self.batch.puts >= PUTS
    }

    /// Removes and returns the batch.
    pub(super) fn take(&mut self) -> Batch {
        self.since = None;
        std::mem::take(&mut self.batch)
    }

    /// Returns a batch that could not be written.
    pub(super) fn give_back(&mut self, batch: Batch) {
        let later = std::mem::replace(&mut self.batch, batch);
        self.batch.extend(later);
        self.since.get_or_insert_with(Instant::now);
    }

    /// Counts puts that a data file has now, and which took this long.
    pub(super) fn count_written(&mut self, puts: u64, cost: Duration) {
        self.unwritten -= puts;
        self.cost = cost;
    }

    /// Counts files that are done.
    pub(super) fn count_done(&mut self, done: u64) {
        // Another thread may be ahead.
        self.done = self.done.max(done);
    }

    /// The number of files that are done and whose rows a data file has.
    pub(super) fn done(&self) -> u64 {
        self.done.saturating_sub(self.unwritten)
    }
}
