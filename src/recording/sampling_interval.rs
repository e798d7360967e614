//! The sampling interval of a table.

use super::Recording;
use crate::profile::SeriesId;
use crate::units::{Nanos, Unit};

impl Recording {
    /// The time between two samples of a busy thread in a table of CPU time: the most frequent weight of a sample, selected or not, and the
    /// smallest of equally frequent ones. A shorter call may fall between two samples. `None` in other units, which do not record it.
    pub fn sampling_interval(&self, series: SeriesId) -> Option<Nanos> {
        let is_time = self.profile.series(series).unit == Unit::Nanoseconds;
        self.profile.most_frequent_weight(series).filter(|_| is_time).map(Nanos::from_nanos)
    }
}
