//! The samples of one series, of which a recording may have thousands: everything that takes a look at all samples is made once.

use std::ops::Range;

use super::{Report, SeriesReport};
use crate::profile::{Sample, SelectedSamples, StateFilter};
use crate::units::Nanos;

impl<'e> Report<'e> {
    /// The selection made ready for the samples.
    pub(super) fn selected(&self) -> &SelectedSamples<'e> {
        self.made_once.selected.get_or_init(|| self.options.selection.on(&self.recording.profile))
    }

    /// The selected samples of a series, in the order of the input; none if they were added up.
    pub(super) fn samples_of<'r>(&'r self, series: &'r SeriesReport) -> impl Iterator<Item = &'e Sample> + 'r {
        let selected = self.selected();
        self.in_scope_of(series).filter(|sample| selected.is_state_counted(*sample))
    }

    /// The same in every state, unless states were named, as [`samples`](Self::samples) has them.
    pub(super) fn samples_to_list<'r>(&'r self, series: &'r SeriesReport) -> impl Iterator<Item = &'e Sample> + 'r {
        let (selected, is_any_state) = (self.selected(), self.options.selection.states == StateFilter::Running);
        self.in_scope_of(series).filter(move |sample| is_any_state || selected.is_state_counted(*sample))
    }

    fn in_scope_of<'r>(&'r self, series: &'r SeriesReport) -> impl Iterator<Item = &'e Sample> + 'r {
        let profile = &self.recording.profile;
        let ranges = self.made_once.ranges.get_or_init(|| {
            let mut ranges = vec![0..0; profile.series_ids().len()];
            for (index, sample) in profile.samples().iter().enumerate() {
                let range: &mut Range<usize> = &mut ranges[sample.series.index()];
                *range = if range.end == 0 { index..index + 1 } else { range.start..index + 1 };
            }
            ranges
        });
        let selected = self.selected();
        let samples = &profile.samples()[ranges[series.series.index()].clone()];
        samples.iter().filter(move |&sample| sample.series == series.series && selected.is_in_scope(sample))
    }

    /// The time between two samples of a busy thread; `None` in other units than time.
    pub fn sampling_interval(&self, series: &SeriesReport) -> Option<Nanos> {
        self.recording.sampling_interval(series.series)
    }
}
