//! The sampling interval of a table.

use super::Recording;
use crate::profile::SeriesId;
use crate::units::{Nanos, Unit};

impl Recording {
    /// Returns the time between two samples of a busy thread in a table of CPU time: the most frequent weight of all samples, selected or
    /// not, and the smallest if several are equally frequent. A call that is shorter may fall between two samples. `None` in other units,
    /// which do not record the interval.
    pub fn sampling_interval(&self, series: SeriesId) -> Option<Nanos> {
        let is_time = self.profile.series(series).unit == Unit::Nanoseconds;
        self.profile.most_frequent_weight(series).filter(|_| is_time).map(Nanos::from_nanos)
    }
}
