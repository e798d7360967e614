//! Reads the rows of an answer, and either passes them on one by one or keeps the first ones.

use std::cell::Cell;
use std::fmt;
use std::io;

use super::wanted::WantedTables;
use super::{Cell as TableCell, Field, FieldValue, RowPlan, RowValues, TableHead, TableVisitor};
use crate::error::{Diagnostic, Error, ErrorKind};
use crate::memory::{MemoryBudget, Reservation};
use crate::profile::StackId;
use crate::recording::{RejectReason, Rejected, Row};

/// A row of an answer: `file`, `run`, and the fields.
type OutputRow<'v> = Vec<FieldValue<'v>>;

/// Receives the rows of an answer.
type Each<'p> = dyn FnMut(OutputRow<'_>) -> io::Result<()> + 'p;

/// The destination of the rows.
enum RowTarget<'p> {
    Each(&'p mut Each<'p>),
    Kept(KeptRows),
}

/// Reads the rows of an answer.
pub struct RowReader<'p> {
    plan: &'p RowPlan,
    target: RowTarget<'p>,
    wanted: WantedTables,
    /// The number of wanted tables so far.
    count: Cell<usize>,
    /// The number of the current table, and its field for each column once a row was read.
    table: usize,
    fields: Vec<Option<&'p Field>>,
    is_open: bool,
    /// True to count all rows, even after enough rows are kept.
    counts: bool,
    /// The number of rows that satisfy the conditions or, without conditions, that are readable.
    passed: u64,
    rejected: Vec<(TableHead, u64, Rejected)>,
    current: TableHead,
    failure: Option<io::Error>,
    diagnostics: Vec<Diagnostic>,
}

impl fmt::Debug for RowReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowReader").field("plan", &self.plan).finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct KeptRows {
    /// The rows so far, with their sort keys.
    rows: Vec<(OutputRow<'static>, FieldValue<'static>)>,
    limit: usize,
    bytes: u64,
    reserved: Reservation,
}

impl<'p> RowReader<'p> {
    /// Calls `each` for every row. The plan must not sort or limit the rows.
    pub fn each(plan: &'p RowPlan, each: &'p mut Each<'p>) -> Self {
        Self::new(plan, RowTarget::Each(each), false)
    }

    /// Keeps the first rows in the order of the plan. `counts` is true if the total number of rows is needed.
    pub fn keeping(plan: &'p RowPlan, budget: &MemoryBudget, counts: bool) -> Self {
        let limit = plan.query.top.unwrap_or(usize::MAX);
        let kept = KeptRows { rows: Vec::new(), limit, bytes: 0, reserved: budget.nothing() };
        Self::new(plan, RowTarget::Kept(kept), counts && plan.query.has_conditions())
    }

    fn new(plan: &'p RowPlan, target: RowTarget<'p>, counts: bool) -> Self {
        Self {
            plan,
            target,
            wanted: WantedTables::default(),
            count: Cell::new(0),
            table: 0,
            fields: Vec::new(),
            is_open: false,
            counts,
            passed: 0,
            rejected: Vec::new(),
            current: TableHead::default(),
            failure: None,
            diagnostics: Vec::new(),
        }
    }

    /// Returns the tables with rejected rows, each with its total number of rows.
    pub fn rejected(&self) -> &[(TableHead, u64, Rejected)] {
        &self.rejected
    }

    /// Returns diagnostics about the inputs.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Returns the error with which a row could not be passed on, if that stopped reading.
    pub fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// Returns the kept rows, their distinct stacks, and the number of all rows that satisfy the conditions.
    pub fn finish(self) -> (Vec<OutputRow<'static>>, Vec<StackId>, u64) {
        let rows = match self.target {
            RowTarget::Each(_) => Vec::new(),
            RowTarget::Kept(mut kept) => {
                kept.shorten(self.plan);
                kept.rows.into_iter().map(|(row, _)| row).collect()
            }
        };
        let stacks = stacks_of(&rows);
        (rows, stacks, self.passed)
    }

    fn add(&mut self, cells: &[TableCell], values: &RowValues<'_>) -> io::Result<()> {
        if self.fields.is_empty() {
            self.fields = self.plan.fields_of(self.table);
        }
        let Some((row, key)) = self.plan.row(self.table, &self.fields, cells, values) else { return Ok(()) };
        self.passed += u64::from(self.plan.query.has_conditions());
        match &mut self.target {
            RowTarget::Each(each) => each(row),
            RowTarget::Kept(kept) => kept.add(row, key, self.plan),
        }
    }
}

impl KeptRows {
    fn add(&mut self, row: OutputRow<'_>, key: FieldValue<'_>, plan: &RowPlan) -> io::Result<()> {
        if plan.keeps_order() && self.rows.len() >= self.limit {
            return Ok(());
        }
        let row: OutputRow<'static> = row.into_iter().map(FieldValue::into_owned).collect();
        self.bytes += size_of_row(&row);
        self.rows.push((row, key.into_owned()));
        // Shortening only at twice the limit moves each row a constant number of times on average.
        if self.rows.len() >= self.limit.saturating_mul(2).max(1 << 10) {
            self.shorten(plan);
        }
        if self.bytes > self.reserved.bytes() {
            self.reserved.resize(self.bytes.saturating_add(1 << 20)).map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// Sorts the rows and drops those beyond the limit.
    fn shorten(&mut self, plan: &RowPlan) {
        if !plan.keeps_order() {
            self.rows.sort_by(|(_, left), (_, right)| plan.compare(left, right));
        }
        if self.rows.len() > self.limit {
            self.rows.truncate(self.limit);
            self.bytes = self.rows.iter().map(|(row, _)| size_of_row(row)).sum();
        }
    }
}

fn size_of_row(row: &OutputRow<'_>) -> u64 {
    let inner = |value: &FieldValue<'_>| match value {
        FieldValue::Text(text) => text.len(),
        FieldValue::Numbers(numbers) => size_of_val(numbers.as_ref()),
        _ => 0,
    };
    let values = row.iter().map(|value| size_of::<FieldValue<'_>>() + inner(value));
    // The row and its sort key.
    values.sum::<usize>() as u64 + 128
}

fn stacks_of(rows: &[OutputRow<'_>]) -> Vec<StackId> {
    let stack = |value: &FieldValue<'_>| if let FieldValue::Stack(stack) = *value { Some(stack) } else { None };
    let stacks: indexmap::IndexSet<StackId> = rows.iter().flatten().filter_map(stack).collect();
    stacks.into_iter().collect()
}

impl TableVisitor for RowReader<'_> {
    fn wants(&self, table: &TableHead) -> bool {
        let is_wanted = self.plan.query.is_about(table);
        if is_wanted {
            self.wanted.add(self.count.replace(self.count.get() + 1), table);
        }
        is_wanted
    }

    fn start(&mut self, table: &TableHead) {
        self.table = self.wanted.take(table).unwrap_or(self.table);
        self.fields = Vec::new();
        self.is_open = true;
        self.current.clone_from(table);
    }

    fn row(&mut self, cells: &[TableCell], values: &RowValues<'_>) -> Result<Result<Option<Row>, RejectReason>, Error> {
        self.add(cells, values).map_err(|failure| {
            self.failure = Some(failure);
            Error::new(ErrorKind::Failed, None)
        })?;
        Ok(Ok(None))
    }

    fn rows_left(&self) -> Option<usize> {
        let RowTarget::Kept(kept) = &self.target else { return None };
        let left = kept.limit.saturating_sub(kept.rows.len());
        // With conditions, it is unknown how many rows are needed.
        let is_known = left == 0 || !self.plan.query.has_conditions();
        (self.plan.keeps_order() && !self.counts && is_known).then_some(left)
    }

    fn end(&mut self, rows: u64, rejected: &Rejected) {
        self.is_open = false;
        if !self.plan.query.has_conditions() {
            self.passed += rows - rejected.total();
        }
        if rejected.total() > 0 {
            self.rejected.push((std::mem::take(&mut self.current), rows, *rejected));
        }
    }

    /// [`TableLook`](super::TableLook) has reported unreadable tables. A table that becomes unreadable in the middle is an error.
    fn unreadable(&mut self, table: &TableHead, _: Option<u64>, error: Error) -> Result<(), Error> {
        self.wanted.take(table);
        if self.is_open && self.current == *table { Err(error) } else { Ok(()) }
    }

    fn note(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }
}
