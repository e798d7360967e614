//! The reasons why rows of CPU tables are rejected, and their counts.

use std::fmt;

/// Why a row of a CPU table is not a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RejectReason {
    /// The row has more or fewer cells than the schema has columns.
    CellCount,
    /// The schema lacks a column that a sample needs (time, weight or stack).
    MissingColumn,
    /// The time is absent.
    NoTime,
    /// The weight is absent.
    NoWeight,
    /// A `ref` points to an id that was not defined before.
    UndefinedRef,
    /// A `ref` points to an id that was defined twice.
    AmbiguousRef,
    /// A cell, or an element in it, has neither a value nor a `ref`. (`<sentinel/>` would mean that no value was recorded.)
    EmptyCell,
    /// A number is missing, malformed or out of range.
    BadNumber,
    /// A cell or an element in it has the wrong type, or refers to a value with the wrong type.
    WrongType,
    /// The stack has an unknown form.
    UnknownStack,
    /// The stack is deeper than the limit.
    StackTooDeep,
    /// The weights of the table do not fit in 64 bits.
    WeightOverflow,
    /// The input ended inside the row.
    Cut,
    /// The thread is left out: a line of a report cannot be read, or contradicts the other lines of the thread.
    UnreadThread,
    /// The process is left out, for the same reasons.
    UnreadProcess,
    /// A line in a list of images cannot be read.
    UnreadImage,
}

impl RejectReason {
    /// All reasons, in the order in which they are reported.
    pub const ALL: [Self; 16] = [
        Self::CellCount,
        Self::MissingColumn,
        Self::NoTime,
        Self::NoWeight,
        Self::UndefinedRef,
        Self::AmbiguousRef,
        Self::EmptyCell,
        Self::BadNumber,
        Self::WrongType,
        Self::UnknownStack,
        Self::StackTooDeep,
        Self::WeightOverflow,
        Self::Cut,
        Self::UnreadThread,
        Self::UnreadProcess,
        Self::UnreadImage,
    ];

    /// Returns the name in machine-readable formats, such as `undefined-ref`.
    pub const fn name(self) -> &'static str {
        self.words().0
    }

    /// Returns a sentence for users.
    pub const fn sentence(self) -> &'static str {
        self.words().1
    }

    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::CellCount => {
                ("cell-count", "the number of cells in the row differs from the number of columns in the schema")
            }
            Self::MissingColumn => {
                ("missing-column", "the schema lacks a column that a sample needs (time, weight or stack)")
            }
            Self::NoTime => ("no-time", "the row has no time"),
            Self::NoWeight => ("no-weight", "the row has no weight"),
            Self::UndefinedRef => ("undefined-ref", "the row refers to an id that is not defined"),
            Self::AmbiguousRef => ("ambiguous-ref", "the row refers to an id that is defined twice"),
            Self::EmptyCell => (
                "empty-cell",
                "a cell of the row has neither a value nor a reference to one, and is not marked as absent",
            ),
            Self::BadNumber => ("bad-number", "a number in the row is missing, not a number, or out of range"),
            Self::WrongType => ("wrong-type", "a cell of the row contains or refers to the wrong kind of element"),
            Self::UnknownStack => {
                ("unknown-stack", "the stack of the row has a form that this version does not recognise")
            }
            Self::StackTooDeep => (
                "stack-too-deep",
                "the stack of the row is deeper than the limit (1,024 frames; only the library can raise it: \
                 `Limits::stack_depth`)",
            ),
            Self::WeightOverflow => ("weight-overflow", "the weights of the table do not fit in 64 bits"),
            Self::Cut => ("cut", "the input ends inside the row"),
            Self::UnreadThread => ("unread-thread", "a line of its thread cannot be read, or contradicts the others"),
            Self::UnreadProcess => {
                ("unread-process", "a line of its process cannot be read, or contradicts the others")
            }
            Self::UnreadImage => ("unread-image", "the line of a binary cannot be read, so it may lack a UUID"),
        }
    }
}

impl fmt::Display for RejectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence())
    }
}

/// The number of rejected rows, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rejected([u64; RejectReason::ALL.len()]);

impl Rejected {
    /// Returns the number of rows rejected for any reason.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns the number of rows rejected for `reason`.
    pub fn of(&self, reason: RejectReason) -> u64 {
        self.0[reason as usize]
    }

    /// Returns the reasons that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (RejectReason, u64)> + '_ {
        RejectReason::ALL.into_iter().map(|reason| (reason, self.of(reason))).filter(|&(_, count)| count > 0)
    }

    pub(crate) fn add(&mut self, reason: RejectReason) {
        self.0[reason as usize] += 1;
    }

    /// Adds rows, and returns how many were added. The total is capped, since an edited report may claim numbers whose sum overflows.
    pub(crate) fn add_rows(&mut self, reason: RejectReason, rows: u64) -> u64 {
        const MOST: u64 = 1 << 40;
        let count = &mut self.0[reason as usize];
        let added = rows.min(MOST.saturating_sub(*count));
        *count += added;
        added
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_own_place_and_name() {
        let mut rejected = Rejected::default();
        for (index, reason) in RejectReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index);
            rejected.add(reason);
        }
        assert_eq!(rejected.total(), RejectReason::ALL.len() as u64);
        assert_eq!(rejected.iter().count(), RejectReason::ALL.len());
    }
}
