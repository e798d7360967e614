//! Rows of tables that are not shown: those that weigh too little, and those after the first ones.

use super::{Report, SeriesReport, ThreadReport, View};
use crate::calltree::FunctionRow;

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
    /// Of rows with these weights, of which the first are those that add up.
    pub(super) fn of(weights: impl Iterator<Item = u64>) -> Self {
        weights
            .fold(Self::default(), |sum, weight| Self { rows: sum.rows + 1, weight: sum.weight.saturating_add(weight) })
    }
}

impl Report<'_> {
    /// The functions of a series that a table shows: those that weigh enough, and of them the [first](super::ReportOptions::top).
    pub(crate) fn shown_functions<'r>(&self, series: &'r SeriesReport) -> impl Iterator<Item = &'r FunctionRow> {
        let least = self.options.pruning.min_weight;
        let heavy = series.functions.iter().filter(move |row| row.all_weight >= least);
        heavy.take(self.options.top.unwrap_or(usize::MAX))
    }

    /// The same of its threads.
    pub(crate) fn shown_threads<'r>(&self, series: &'r SeriesReport) -> &'r [ThreadReport] {
        let (heavy, _) = self.threads_by_weight(series);
        &heavy[..heavy.len().min(self.options.top.unwrap_or(usize::MAX))]
    }

    /// The threads of a series that weigh enough, and the others.
    pub(crate) fn threads_by_weight<'r>(&self, series: &'r SeriesReport) -> (&'r [ThreadReport], &'r [ThreadReport]) {
        let least = self.options.pruning.min_weight;
        // These stand first, in any order.
        series.threads.split_at(series.threads.partition_point(|thread| thread.counted.weight.value >= least))
    }

    /// The rows that the tables of the view leave out, where a least weight or a number of rows was asked for; tables that leave out
    /// none have no entry. Trees say it of each node themselves.
    pub fn hidden_rows(&self) -> Vec<HiddenRows> {
        let mut hidden = Vec::new();
        if self.options.pruning.min_weight == 0 && self.options.top.is_none() {
            return hidden;
        }
        for (index, series) in self.series.iter().enumerate() {
            for (table, light, after) in self.left_out_rows(series) {
                let limits = [(HidingLimit::MinWeight, light), (HidingLimit::Top, after)];
                let limits = limits.into_iter().filter(|(_, total)| total.rows > 0);
                hidden.extend(limits.map(|(limit, total)| HiddenRows { table, series: index, limit, total }));
            }
        }
        hidden
    }

    /// By table: the light rows, and those after the first ones.
    fn left_out_rows(&self, series: &SeriesReport) -> Vec<(&'static str, HiddenTotal, HiddenTotal)> {
        let (view, least) = (self.options.view, self.options.pruning.min_weight);
        let top = self.options.top.unwrap_or(usize::MAX);
        match view {
            View::Threads => {
                let (heavy, light) = self.threads_by_weight(series);
                let sum = |threads: &[ThreadReport]| {
                    HiddenTotal::of(threads.iter().map(|thread| thread.counted.weight.value))
                };
                vec![("threads", sum(light), sum(&heavy[heavy.len().min(top)..]))]
            }
            View::Functions => {
                let (heavy, light): (Vec<&FunctionRow>, Vec<&FunctionRow>) =
                    series.functions.iter().partition(|row| row.all_weight >= least);
                let sum = |rows: &[&FunctionRow]| HiddenTotal::of(rows.iter().map(|row| row.self_weight));
                vec![("functions", sum(&light), sum(&heavy[heavy.len().min(top)..]))]
            }
            _ => {
                let kinds = [view.listing_kind(), view.second_listing_kind()].into_iter().flatten();
                let rows = kinds.map(|kind| (kind.name, self.listing_of(kind, series)));
                rows.map(|(name, listing)| (name, listing.hidden, listing.after)).collect()
            }
        }
    }
}
