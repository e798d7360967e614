//! The table of each view, sorted and limited as requested.

use super::listing::{Listing, ListingKind, RowLimits};
use super::{
    Report, SeriesReport, SortBy, View, binaries, categories, cores, functions, heaviest, lines, processes, sandwich,
    states, threads, timeline,
};

impl SortBy {
    /// True if the rows of a view have this column.
    pub fn applies_to(self, view: View) -> bool {
        view.listing_kind().is_some_and(|kind| kind.limits != RowLimits::None && self.column(kind).is_some())
    }
}

impl View {
    /// The table that the view shows; `None` for views that are not tables.
    pub fn listing_kind(self) -> Option<&'static ListingKind> {
        match self {
            Self::Threads => Some(&threads::KIND),
            Self::Functions => Some(&functions::KIND),
            Self::Binaries => Some(&binaries::KIND),
            Self::Heaviest => Some(&heaviest::KIND),
            Self::Sandwich => Some(&sandwich::KIND),
            Self::Categories => Some(&categories::KIND),
            Self::Transitions => Some(&categories::TRANSITIONS),
            Self::Lines => Some(&lines::KIND),
            Self::Processes => Some(&processes::KIND),
            Self::States => Some(&states::KIND),
            Self::Cores => Some(&cores::KIND),
            Self::Timeline => Some(&timeline::KIND),
            Self::Full | Self::Overview | Self::Summary | Self::Tree | Self::Samples | Self::FlameChart => None,
        }
    }

    /// A second table, which text (its first rows) and JSON show with the first one.
    pub fn second_listing_kind(self) -> Option<&'static ListingKind> {
        (self == Self::Categories).then_some(&categories::TRANSITIONS)
    }
}

impl Report<'_> {
    /// The rows of a series in a view that [is a table](super::View::listing_kind); `None` in other views.
    pub fn listing(&self, series: &SeriesReport) -> Option<Listing> {
        self.options.view.listing_kind().map(|kind| self.listing_of(kind, series))
    }

    /// The rows of a series in a table of any view.
    pub fn listing_of(&self, kind: &ListingKind, series: &SeriesReport) -> Listing {
        let mut listing = self.heavy_rows(kind, series);
        if let Some(top) = self.options.top.filter(|_| !matches!(kind.limits, RowLimits::Weight | RowLimits::None)) {
            listing.keep_first(top);
        }
        listing
    }

    /// The sorted rows of a series that weigh enough, of which none is left out for its position.
    pub(crate) fn heavy_rows(&self, kind: &ListingKind, series: &SeriesReport) -> Listing {
        let mut listing = (kind.make)(self, series);
        if let Some(sort) = self.options.sort.filter(|sort| sort.applies_to(self.options.view)) {
            listing.sort(kind, sort);
        }
        if kind.limits != RowLimits::None {
            listing.leave_out_light(self.options.pruning.min_weight);
        }
        listing
    }
}
