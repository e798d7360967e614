//! Rows of tables that weigh too little to be shown.

use super::{Report, SeriesReport, ThreadReport, View};
use crate::calltree::FunctionRow;

/// Rows that a table leaves out, since none of their weights reaches [`min_weight`](crate::calltree::Pruning::min_weight).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LightRows {
    /// How many.
    pub rows: u64,
    /// What they weigh together, in the unit of the series: their self weights, where rows have them, which add up.
    pub weight: u64,
}

/// The light rows of a table of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HiddenRows {
    /// What the rows are, and the name of the array in JSON: `functions`.
    pub table: &'static str,
    /// The position of the series in [`Report::series`].
    pub series: usize,
    /// How many they are.
    pub light: LightRows,
}

impl LightRows {
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
        // The heaviest stand first.
        series.threads.split_at(series.threads.partition_point(|thread| thread.counted.weight.value >= least))
    }

    /// The rows that the tables of the view leave out for their weight, where a weight was asked for; tables without any have no
    /// entry. Trees say it of each node themselves.
    pub fn hidden_rows(&self) -> Vec<HiddenRows> {
        let mut hidden = Vec::new();
        if self.options.pruning.min_weight == 0 {
            return hidden;
        }
        for (index, series) in self.series.iter().enumerate() {
            let tables = self.light_rows(series).into_iter().filter(|(_, light)| light.rows > 0);
            hidden.extend(tables.map(|(table, light)| HiddenRows { table, series: index, light }));
        }
        hidden
    }

    fn light_rows(&self, series: &SeriesReport) -> Vec<(&'static str, LightRows)> {
        let (view, least) = (self.options.view, self.options.pruning.min_weight);
        match view {
            View::Threads => {
                let (_, light) = self.threads_by_weight(series);
                vec![("threads", LightRows::of(light.iter().map(|thread| thread.counted.weight.value)))]
            }
            View::Functions => {
                let light = series.functions.iter().filter(|row| row.all_weight < least);
                vec![("functions", LightRows::of(light.map(|row| row.self_weight)))]
            }
            _ => {
                let kinds = [view.listing_kind(), view.second_listing_kind()].into_iter().flatten();
                kinds.map(|kind| (kind.name, self.listing_of(kind, series).light)).collect()
            }
        }
    }
}
