//! What an app did in a day, as the system sums it up: no stacks, and durations in bins.

use crate::units::Nanos;

/// The metrics of an app over a day, or over several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppMetrics {
    /// The number of days.
    pub days: u64,
    /// The CPU time of the app.
    pub cpu_time: Option<Nanos>,
    /// The time in which the app ran, in the foreground and in the background.
    pub running: Option<Nanos>,
    /// The time by which frames were late, in each second of scrolling.
    pub scroll_hitches: Option<Nanos>,
    /// The most memory that the app took, in bytes.
    pub peak_memory: Option<u64>,
    /// How often the app ended, by reason and by where it was: `memory limit (foreground)`. Normal exits, and reasons that did not occur, are
    /// left out; `None` if the numbers are unknown.
    pub exits: Option<Vec<(String, u64)>>,
    /// Durations by kind.
    pub histograms: Vec<DurationHistogram>,
}

/// Durations of which the number in each bin is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurationHistogram {
    /// `hang`, `launch` (to the first drawing), `prewarmed-launch`, `extended-launch`, `resume`, or `signpost NAME (CATEGORY)`.
    pub name: String,
    /// The bins in the order of the document: the shortest duration, the longest one (`None` if the bin has all longer ones), and their number.
    pub bins: Vec<(Nanos, Option<Nanos>, u64)>,
}

impl DurationHistogram {
    /// The beginning of the name of a signpost's durations.
    pub(crate) const SIGNPOST: &str = "signpost ";
}
