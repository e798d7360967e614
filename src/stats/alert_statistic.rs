//! The statistics that alert rules name.

use super::Quantile;

/// The number of a distribution that a rule takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AlertStatistic {
    /// A percentile.
    Quantile(Quantile),
    /// The mean.
    Mean,
    /// The smallest.
    Min,
    /// The largest.
    Max,
}

impl AlertStatistic {
    /// What errors say is missing.
    pub(crate) const WANTED: &str = "a statistic: p50, p99.9, median, mean, min or max";

    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "mean" => Some(Self::Mean),
            "min" => Some(Self::Min),
            "max" => Some(Self::Max),
            "median" => Some(Self::Quantile(Quantile::P50)),
            // P50 is another spelling of what follows --sort, and none of rules.
            _ if text.starts_with('p') => Quantile::from_percent(text).map(Self::Quantile),
            _ => None,
        }
    }

    /// The name: `p99`, `mean`, `min`, `max`.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Quantile(quantile) => quantile.name(),
            Self::Mean => "mean".to_owned(),
            Self::Min => "min".to_owned(),
            Self::Max => "max".to_owned(),
        }
    }

    /// The percentile; `None` for other statistics.
    pub(crate) const fn quantile(self) -> Option<Quantile> {
        match self {
            Self::Quantile(quantile) => Some(quantile),
            Self::Mean | Self::Min | Self::Max => None,
        }
    }
}
