//! Stacks separated by thread state or kind of core.
//!
//! [`StackWeights`](crate::calltree::StackWeights) are by thread, over all its states and cores. For trees of states and kinds, they are
//! added up again.

use std::ops::Range;

use super::{Scope, SeparateBy};
use crate::calltree::{Metric, StackWeight};
use crate::hash::HashMap;
use crate::profile::{CoreId, Profile, Sample, SampleSum, SelectedSamples, SeriesId, StackId, StringId, ThreadId};

/// The scope of a sample. The core of a sum of samples is not known.
pub(super) fn scope_of(profile: &Profile, separate_by: SeparateBy, sum: &SampleSum, core: Option<CoreId>) -> Scope {
    match separate_by {
        SeparateBy::Thread => Scope::Thread(sum.thread),
        SeparateBy::Process => Scope::Process(profile.thread(sum.thread).process),
        SeparateBy::State => Scope::State(sum.state),
        SeparateBy::CoreKind => Scope::CoreKind(core.and_then(|core| profile.core(core).kind)),
        SeparateBy::Nothing => Scope::All,
    }
}

/// The selected stacks of one series, grouped by scope.
#[derive(Clone, Debug, Default)]
pub(super) struct SeparatedStacks {
    pub(super) weights: Vec<StackWeight>,
    /// Each scope, and where its stacks are.
    pub(super) scopes: Vec<(Scope, Range<usize>)>,
}

/// By series: the stacks apart by state or kind of core; nothing where the weights by thread will do.
pub(super) fn separated_stacks(
    selected: &SelectedSamples<'_>,
    metric: Metric,
    separate_by: SeparateBy,
) -> Option<Vec<SeparatedStacks>> {
    match separate_by {
        SeparateBy::Thread | SeparateBy::Process | SeparateBy::Nothing => return None,
        SeparateBy::State | SeparateBy::CoreKind => {}
    }
    let profile = selected.profile();
    let mut sums = Sums::default();
    let mut add = |sum: &SampleSum, core: Option<CoreId>| {
        let scope = scope_of(profile, separate_by, sum, core);
        let (weight, samples) = sums.entry((sum.series, part(scope), sum.thread, sum.stack)).or_default();
        *weight += metric.of(*sum);
        *samples += sum.samples;
    };
    match separate_by {
        SeparateBy::CoreKind if profile.sums().len() == 0 => {
            selected.iter().for_each(|sample: &Sample| add(&sample.into(), sample.core));
        }
        _ => selected.sums().for_each(|sum| add(&sum, None)),
    }
    let scope_of_part = |part| match separate_by {
        SeparateBy::State => Scope::State(part),
        _ => Scope::CoreKind(part),
    };
    Some(by_series(profile, sums, scope_of_part))
}

/// By stack of a thread in a state or on a kind of core: weight and number of samples.
type Sums = HashMap<(SeriesId, Option<StringId>, ThreadId, Option<StackId>), (u64, u64)>;

/// The state or the kind of core.
fn part(scope: Scope) -> Option<StringId> {
    match scope {
        Scope::State(part) | Scope::CoreKind(part) => part,
        Scope::Thread(_) | Scope::Process(_) | Scope::All => None,
    }
}

fn by_series(profile: &Profile, sums: Sums, scope_of_part: impl Fn(Option<StringId>) -> Scope) -> Vec<SeparatedStacks> {
    let mut all = vec![SeparatedStacks::default(); profile.series_ids().len()];
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_unstable_by_key(|&(key, _)| key);
    for rows in sums.chunk_by(|(a, _), (b, _)| (a.0, a.1) == (b.0, b.1)) {
        let (series, part, _, _) = rows[0].0;
        let SeparatedStacks { weights, scopes } = &mut all[series.index()];
        let start = weights.len();
        weights.extend(rows.iter().map(|&((series, _, thread, stack), (weight, samples))| StackWeight {
            series,
            thread,
            stack,
            weight,
            samples,
        }));
        scopes.push((scope_of_part(part), start..weights.len()));
    }
    all
}
