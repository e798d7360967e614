//! Rows that tables leave out because of their weight or position.

use super::{HiddenTotal, Report};

/// The limit that leaves rows out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HidingLimit {
    /// None of their weights reaches [`min_weight`](crate::calltree::Pruning::min_weight).
    MinWeight,
    /// The row is after the [first rows](super::ReportOptions::top).
    Top,
}

/// Rows that a table of a report leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HiddenRows {
    /// The name of the JSON array of the rows: `functions`.
    pub table: &'static str,
    /// The position of the series in [`Report::series`].
    pub series: usize,
    /// The limit that leaves them out.
    pub limit: HidingLimit,
    /// The number and weight of the rows.
    pub total: HiddenTotal,
}

impl Report<'_> {
    /// The rows that the tables of the view leave out because of a minimum weight or a number of rows. Tables that show all rows have no
    /// entry. Trees report hidden children in each node.
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
