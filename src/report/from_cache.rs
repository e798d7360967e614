//! The stacks of a report, which a cache has, or which are merged for one answer.

use super::cache::ReportCache;
use super::{Report, ReportOptions, SeriesReport};
use crate::calltree::{Forest, ForestWeights, StackNumbers, StackWeight, StackWeights, WeighedForest, WeighedStacks};
use crate::hash::HashMap;
use crate::profile::{Profile, Stack, StackId};
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
    /// [returns](ReportCache::weights) for these options, or a part of them.
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
    /// Calls `answer` with the function tree of a series. Without a cache, it ends at the first function that `is_heavy` excludes, and its weights
    /// include what is below.
    pub(super) fn with_forest<T>(
        &self,
        series: &SeriesReport,
        is_heavy: &[bool],
        answer: impl FnOnce(WeighedForest<'_>) -> T,
    ) -> T {
        let (profile, rows) = (&self.recording.profile, self.weights.of_series(series.series));
        let (own, cut);
        let (forest, rows) = match self.cache {
            Some(cache) => (cache.forest(profile), rows),
            None => {
                cut = cut_stacks(profile, rows, is_heavy);
                own = Forest::of_stacks(profile, cut.iter().map(|row| row.stack));
                (&own, cut.as_slice())
            }
        };
        answer(WeighedForest { profile, forest, weights: &forest.weigh(rows) })
    }

    /// The stacks of a series, in the form that is cheapest to sum.
    pub(super) fn stacks(&self, series: &SeriesReport) -> WeighedStacks<'_> {
        let rows = self.weights.of_series(series.series);
        let Some(cache) = self.cache else { return WeighedStacks::Rows(rows, self.options.jobs) };
        let forest = cache.by_frame(&self.recording.profile);
        let weights: &ForestWeights = self.merged[series.series.index()].get_or_init(|| forest.weigh(rows));
        WeighedStacks::Merged(forest, weights)
    }
}

/// Cuts each stack before the first function that `is_heavy` excludes, and sums equal stacks.
fn cut_stacks(profile: &Profile, rows: &[StackWeight], is_heavy: &[bool]) -> Vec<StackWeight> {
    // By stack: where it ends when it is cut.
    let mut ends: Vec<Option<StackId>> = Vec::with_capacity(profile.stack_ids().len());
    for id in profile.stack_ids() {
        let Stack { parent, frame } = profile.stack(id);
        let above = parent.and_then(|parent| ends[parent.index()]);
        let is_kept = above == parent && is_heavy[profile.frame(frame).function.index()];
        ends.push(if is_kept { Some(id) } else { above });
    }
    let mut sums: HashMap<Option<StackId>, StackWeight> = HashMap::default();
    for row in rows {
        let stack = row.stack.and_then(|stack| ends[stack.index()]);
        let sum = sums.entry(stack).or_insert(StackWeight { stack, weight: 0, samples: 0, ..*row });
        (sum.weight, sum.samples) = (sum.weight.saturating_add(row.weight), sum.samples + row.samples);
    }
    let mut cut: Vec<StackWeight> = sums.into_values().collect();
    cut.sort_unstable_by_key(|row| row.stack);
    cut
}
