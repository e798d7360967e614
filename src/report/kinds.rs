//! The views that are tables, and the kind of each.

use super::listing::ListingKind;
use super::{View, binaries, categories, cores, heaviest, lines, processes, sandwich, states, timeline};

impl View {
    /// The kind of table that the view is; `None` for the views that writers know one by one.
    pub fn listing_kind(self) -> Option<&'static ListingKind> {
        match self {
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
            Self::Full
            | Self::Overview
            | Self::Summary
            | Self::Threads
            | Self::Tree
            | Self::Functions
            | Self::Samples
            | Self::FlameChart => None,
        }
    }

    /// A second table, which text (its first rows) and JSON show with the first one.
    pub fn second_listing_kind(self) -> Option<&'static ListingKind> {
        match self {
            Self::Categories => Some(&categories::TRANSITIONS),
            _ => None,
        }
    }
}
