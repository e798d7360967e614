//! The statistics that alert rules can use.

use super::lexer::Part;
use super::topic::{AlertError, Topic};
#[cfg(feature = "fleet")]
use crate::stats::Quantile;

/// The statistic of a distribution that a rule uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AlertStatistic {
    /// The change between two recordings.
    Growth,
    /// A percentile.
    #[cfg(feature = "fleet")]
    Quantile(Quantile),
    /// The mean.
    Mean,
    /// The minimum.
    Min,
    /// The maximum.
    Max,
}

/// The percentile itself, or an end of its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum AlertBound {
    /// The percentile of the measured runs.
    #[default]
    Estimate,
    /// The lower end of the interval: the percentile of the population is at least this, with the confidence of the interval.
    Lower,
    /// The upper end of the interval.
    Upper,
}

#[cfg(feature = "fleet")]
impl AlertBound {
    /// The end of the interval: `lower` or `upper`; `None` for the percentile itself.
    pub(crate) const fn end(self) -> Option<&'static str> {
        match self {
            Self::Estimate => None,
            Self::Lower => Some("lower"),
            Self::Upper => Some("upper"),
        }
    }
}

impl AlertStatistic {
    /// Parses the last parts of a rule: `p95`, `mean`, `p95.lower`; growth if there are none.
    pub(super) fn parse(parts: &[Part<'_>], topic: &Topic) -> Result<(Self, AlertBound), AlertError> {
        let words: Vec<&str> = parts.iter().map(|part| part.word()).collect();
        let Some((name, end)) = words.split_first() else { return Ok((Self::Growth, AlertBound::Estimate)) };
        let wanted = "a statistic: p50, p99.9, median, mean, min or max";
        let statistic = Self::of_name(name).ok_or_else(|| topic.error(name, wanted))?;
        let bound = match end {
            [] => return Ok((statistic, AlertBound::Estimate)),
            &["lower"] => AlertBound::Lower,
            &["upper"] => AlertBound::Upper,
            &[word, ..] => return Err(topic.error(word, "an end of an interval, .lower or .upper, and the last word")),
        };
        if matches!(statistic, Self::Mean | Self::Min | Self::Max) {
            return Err(topic.error(&words.join("."), "known: only percentiles have intervals"));
        }
        Ok((statistic, bound))
    }

    fn of_name(name: &str) -> Option<Self> {
        match name {
            "mean" => Some(Self::Mean),
            "min" => Some(Self::Min),
            "max" => Some(Self::Max),
            #[cfg(feature = "fleet")]
            "median" => Some(Self::Quantile(Quantile::P50)),
            // Sort keys may write `P50`, but rules may not.
            #[cfg(feature = "fleet")]
            _ if name.starts_with('p') => Quantile::from_percent(name).map(Self::Quantile),
            _ => None,
        }
    }
}

#[cfg(feature = "fleet")]
impl AlertStatistic {
    /// The name: `p99`, `mean`, `min`, `max`.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Growth => "growth".to_owned(),
            Self::Quantile(quantile) => quantile.name(),
            Self::Mean => "mean".to_owned(),
            Self::Min => "min".to_owned(),
            Self::Max => "max".to_owned(),
        }
    }

    /// The name for display: `P99`.
    pub(crate) fn title(self) -> String {
        self.quantile().map_or_else(|| self.name(), |quantile| quantile.to_string())
    }

    /// The percentile; `None` for other statistics.
    pub(crate) const fn quantile(self) -> Option<Quantile> {
        match self {
            Self::Quantile(quantile) => Some(quantile),
            Self::Growth | Self::Mean | Self::Min | Self::Max => None,
        }
    }
}
