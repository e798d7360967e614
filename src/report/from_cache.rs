//! The stacks of a report: taken from a cache, or merged for one answer.

use super::cache::ReportCache;
use super::{Report, ReportOptions, SeriesReport};
use crate::calltree::{ForestWeights, StackNumbers, StackWeights, WeighedStacks};
use crate::profile::Profile;
use crate::recording::Recording;

impl ReportCache {
    /// Returns the weights of the selected stacks.
    pub fn weights(&self, profile: &Profile, options: &ReportOptions) -> StackWeights {
        let numbers = self.numbers.get_or_init(|| StackNumbers::new(profile));
        numbers.weigh(&options.selection.on(profile), options.metric)
    }
}

impl Recording {
    /// Like [`report`](Self::report), for programs that make many reports of one recording. `weights` must be the weights that the cache
    /// [returns](ReportCache::weights) for these options, or part of them.
    pub fn report_cached<'e>(
        &'e self,
        options: &ReportOptions,
        weights: StackWeights,
        cache: &'e ReportCache,
    ) -> Report<'e> {
        Report { cache: Some(cache), ..self.report_of(options, weights) }
    }
}

impl Report<'_> {
    /// The stacks of a series, in the form that is cheapest to sum.
    pub(super) fn stacks(&self, series: &SeriesReport) -> WeighedStacks<'_> {
        let rows = self.weights.of_series(series.series);
        let Some(cache) = self.cache else { return WeighedStacks::Rows(rows, self.options.jobs) };
        let forest = cache.by_frame(&self.recording.profile);
        let weights: &ForestWeights = self.merged[series.series.index()].get_or_init(|| forest.weigh(rows));
        WeighedStacks::Merged(forest, weights)
    }
}
