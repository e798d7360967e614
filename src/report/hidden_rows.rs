//! Rows of tables that are not shown: those that weigh too little, and those after the first ones.

use super::{Cell, Report};

/// Rows that a table leaves out, by one limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HiddenTotal {
    /// The number of rows.
    pub rows: u64,
    /// Their weight together, in the unit of the series: their self weights, if rows have them, since these add up.
    pub weight: u64,
}

/// The limit that leaves rows out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HidingLimit {
    /// None of their weights reaches [`min_weight`](crate::calltree::Pruning::min_weight).
    MinWeight,
    /// They stand after the [first](super::ReportOptions::top).
    Top,
}

/// Rows that a table of a report leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HiddenRows {
    /// The name of the rows, which is that of the array in JSON: `functions`.
    pub table: &'static str,
    /// The position of the series in [`Report::series`].
    pub series: usize,
    /// The limit that leaves them out.
    pub limit: HidingLimit,
    /// Their number and weight.
    pub total: HiddenTotal,
}

impl HiddenTotal {
    /// Adds rows with the first of their weights, since self weights come first and add up.
    pub(crate) fn add<'r>(&mut self, rows: impl IntoIterator<Item = &'r [Cell]>) {
        for row in rows {
            self.rows += 1;
            self.weight = self.weight.saturating_add(row.iter().find_map(Cell::weight).unwrap_or(0));
        }
    }
}

impl Report<'_> {
    /// The rows that the tables of the view leave out, where a least weight or a number of rows was asked for; tables that leave out
    /// none have no entry. Trees say it of each node themselves.
    pub fn hidden_rows(&self) -> Vec<HiddenRows> {
        let mut hidden = Vec::new();
        if self.options.pruning.min_weight == 0 && self.options.top.is_none() {
            return hidden;
        }
        for (index, series) in self.series.iter().enumerate() {
            let kinds = [self.options.view.listing_kind(), self.options.view.second_listing_kind()];
            for kind in kinds.into_iter().flatten() {
                let listing = self.listing_of(kind, series);
                let limits = [(HidingLimit::MinWeight, listing.hidden), (HidingLimit::Top, listing.after)];
                let limits = limits.into_iter().filter(|(_, total)| total.rows > 0);
                hidden.extend(limits.map(|(limit, total)| HiddenRows {
                    table: kind.name,
                    series: index,
                    limit,
                    total,
                }));
            }
        }
        hidden
    }
}
