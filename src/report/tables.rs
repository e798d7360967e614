//! The table of each view, sorted and limited as requested, and the totals of hidden rows.

use super::code_tables::{BINARIES, CATEGORIES, FUNCTIONS, LINES, TRANSITIONS};
use super::listing::{Listing, ListingKind, RowLimits};
use super::stack_tables::{HEAVIEST, SANDWICH};
use super::thread_tables::{CORES, PROCESSES, STATES, THREADS};
use super::{HiddenTotal, Report, SeriesReport, SortBy, View, timeline};

impl SortBy {
    /// True if the rows of a view can be sorted by this column.
    pub fn applies_to(self, view: View) -> bool {
        view.listing_kind().is_some_and(|kind| kind.limits != RowLimits::None && self.column(kind).is_some())
    }
}

impl View {
    /// The table that the view shows; `None` for views without a table.
    pub fn listing_kind(self) -> Option<&'static ListingKind> {
        match self {
            Self::Threads => Some(&THREADS),
            Self::Functions => Some(&FUNCTIONS),
            Self::Binaries => Some(&BINARIES),
            Self::Heaviest => Some(&HEAVIEST),
            Self::Sandwich => Some(&SANDWICH),
            Self::Categories => Some(&CATEGORIES),
            Self::Transitions => Some(&TRANSITIONS),
            Self::Lines => Some(&LINES),
            Self::Processes => Some(&PROCESSES),
            Self::States => Some(&STATES),
            Self::Cores => Some(&CORES),
            Self::Timeline => Some(&timeline::KIND),
            Self::Full | Self::Overview | Self::Summary | Self::Tree | Self::Samples | Self::FlameChart => None,
        }
    }

    /// A second table that follows the first, in JSON and (only its first rows) in text.
    pub fn second_listing_kind(self) -> Option<&'static ListingKind> {
        (self == Self::Categories).then_some(&TRANSITIONS)
    }
}

impl Report<'_> {
    /// The rows of a series in a view that [is a table](super::View::listing_kind); `None` in other views.
    pub fn listing(&self, series: &SeriesReport) -> Option<Listing> {
        self.options.view.listing_kind().map(|kind| self.listing_of(kind, series))
    }

    /// The rows of a series in any table, regardless of the report's view.
    pub fn listing_of(&self, kind: &ListingKind, series: &SeriesReport) -> Listing {
        self.listing_above(kind, series, 0.0)
    }

    /// Like [`listing_of`](Self::listing_of), without rows below a percentage of the total.
    pub(crate) fn listing_above(&self, kind: &ListingKind, series: &SeriesReport, min_percent: f64) -> Listing {
        let mut listing = self.heavy_rows(kind, series);
        listing.leave_out_below(min_percent);
        if !matches!(kind.limits, RowLimits::Weight | RowLimits::None) {
            listing.keep_first(self.options.most_rows());
        }
        listing
    }

    /// The sorted rows of a series within the weight limits, before the number of rows is limited.
    pub(crate) fn heavy_rows(&self, kind: &ListingKind, series: &SeriesReport) -> Listing {
        let mut listing = (kind.make)(self, series);
        if let Some(sort) = self.options.sort.filter(|sort| sort.applies_to(self.options.view)) {
            listing.sort(kind, sort);
        }
        if kind.limits != RowLimits::None {
            listing.leave_out(|weight| weight < self.options.pruning.min_weight);
        }
        listing
    }
}

/// The limit that hides rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HidingLimit {
    /// No weight of the row reaches [`min_weight`](crate::calltree::Pruning::min_weight).
    MinWeight,
    /// The row is beyond the [maximum number of rows](super::ReportOptions::top).
    Top,
}

/// The hidden rows of a table in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HiddenRows {
    /// The name of the JSON array of the rows: `functions`.
    pub table: &'static str,
    /// The index of the series in [`Report::series`].
    pub series: usize,
    /// The limit that hides the rows.
    pub limit: HidingLimit,
    /// The number and weight of the rows.
    pub total: HiddenTotal,
}

impl Report<'_> {
    /// The rows that the view's tables hide because of a minimum weight or a maximum number of rows. Tables without hidden rows have no entry.
    /// Trees record hidden children in each node.
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
