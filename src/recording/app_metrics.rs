//! An app's daily metrics, as summed up by the system: no stacks, and durations only as histograms.

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
    /// How late frames were, per second of scrolling.
    pub scroll_hitches: Option<Nanos>,
    /// The peak memory use of the app in bytes.
    pub peak_memory: Option<u64>,
    /// How often the app exited, by reason and by where it was: `memory limit (foreground)`. Normal exits, and reasons that did not occur, are left
    /// out. `None` if the numbers are unknown.
    pub exits: Option<Vec<(String, u64)>>,
    /// Histograms of durations.
    pub histograms: Vec<DurationHistogram>,
}

/// A histogram of durations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurationHistogram {
    /// `hang`, `launch` (until the first drawing), `prewarmed-launch`, `extended-launch`, `resume`, or `signpost NAME (CATEGORY)`.
    pub name: String,
    /// The bins in document order: the shortest duration, the longest one (`None` if there is no upper bound), and the number of durations.
    pub bins: Vec<(Nanos, Option<Nanos>, u64)>,
}

impl DurationHistogram {
    /// The prefix of the name for a signpost's durations.
    pub(crate) const SIGNPOST: &str = "signpost ";
}
