//! Daily metrics of an app, as the system adds them up: without stacks, and with durations only as histograms.

use crate::units::Nanos;

/// The metrics of an app for one or more days.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppMetrics {
    /// The number of days.
    pub days: u64,
    /// The CPU time of the app.
    pub cpu_time: Option<Nanos>,
    /// The total time that the app ran, in the foreground and in the background.
    pub running: Option<Nanos>,
    /// The total delay of frames per second of scrolling.
    pub scroll_hitches: Option<Nanos>,
    /// The peak memory use of the app in bytes.
    pub peak_memory: Option<u64>,
    /// The number of exits by reason and app state, such as `memory limit (foreground)`. Normal exits and reasons that did not occur are omitted.
    /// `None` if unknown.
    pub exits: Option<Vec<(String, u64)>>,
    /// Histograms of durations.
    pub histograms: Vec<DurationHistogram>,
}

/// A histogram of durations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurationHistogram {
    /// `hang`, `launch` (until the first drawing), `prewarmed-launch`, `extended-launch`, `resume`, or `signpost NAME (CATEGORY)`.
    pub name: String,
    /// The bins in document order: the shortest duration, the longest one (`None` if unbounded), and the count.
    pub bins: Vec<(Nanos, Option<Nanos>, u64)>,
}

impl DurationHistogram {
    /// The prefix of the name for a signpost's durations.
    pub(crate) const SIGNPOST: &str = "signpost ";
}
