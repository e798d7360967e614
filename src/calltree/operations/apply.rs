//! Applies operations to stacks, one by one.

use super::{Action, Change, FunctionSet, Operation, OperationSummary};
use crate::calltree::{Metric, StackWeight, StackWeights};
use crate::profile::{Doings, FrameId, FunctionId, Profile, RebuildError, SelectedSamples, SeriesId, place};
use crate::ranked_bits::RankedBits;

/// The effects of operations on each stack, which add up to the effects on any selection.
#[derive(Debug)]
pub struct OperationEffects {
    /// The [places](place) of sampled stacks in the original profile.
    places: RankedBits,
    /// For each of these places, the effect of each operation.
    effects: Vec<Effect>,
    /// The summaries without changes: text, whether functions are missing, and whether it inverts.
    operations: Vec<OperationSummary>,
}

/// The effect of an operation on a stack.
#[derive(Clone, Copy, Debug, Default)]
struct Effect {
    is_removed: bool,
    is_shorter: bool,
    has_other_leaf: bool,
}

impl OperationEffects {
    /// Applies operations in order. Only the ids of stacks and samples change in the resulting profile.
    ///
    /// # Errors
    /// If the new profile exceeds its tables or the memory budget.
    pub fn apply(profile: &Profile, operations: &[Operation]) -> Result<(Profile, Self), RebuildError> {
        let (mut places, mut effects, mut sampled) = (RankedBits::default(), Vec::new(), 0);
        let mut work = Work { profile, rest: Vec::new(), last_at: vec![usize::MAX; profile.function_ids().len()] };
        let after = profile.with_stacks(|stack, waits, path| {
            let place = place(stack, waits);
            places.grow(place + 1, sampled);
            places.insert(place);
            sampled += 1;
            let first = effects.len();
            effects.resize(first + operations.len(), Effect::default());
            let effects = &mut effects[first..];
            operations.iter().zip(effects).all(|(operation, effect)| {
                let (depth, leaf) = (path.len(), work.leaf(path));
                effect.is_removed = !work.act(&operation.action, waits, path);
                if !effect.is_removed {
                    effect.is_shorter = path.len() < depth;
                    effect.has_other_leaf = operation.action != Action::Invert && work.leaf(path) != leaf;
                }
                !effect.is_removed
            })
        })?;
        let operations = operations.iter().map(|operation| OperationSummary {
            text: operation.text.clone(),
            is_without_function: match &operation.action {
                Action::AtPlace(place) => place.is_without_function(),
                action => action.functions().is_some_and(FunctionSet::is_empty),
            },
            inverts: operation.action == Action::Invert,
            changes: Vec::new(),
        });
        Ok((after, Self { places, effects, operations: operations.collect() }))
    }

    /// Returns, for each sample of the original profile, whether the operations keep it.
    pub fn keeps<'a>(&'a self, before: &'a Profile) -> impl Iterator<Item = bool> + 'a {
        let doings = Doings::new(before);
        before.samples().iter().map(move |sample| {
            let place = place(sample.stack, doings.of(&sample.into()).is_idle());
            !self.at(place).iter().any(|effect| effect.is_removed)
        })
    }

    /// The effect of each operation at a place.
    fn at(&self, place: usize) -> &[Effect] {
        let count = self.operations.len();
        &self.effects[self.places.before(place) * count..][..count]
    }

    /// Returns the effect of each operation on these stacks of the original profile.
    pub fn summaries(&self, before: &StackWeights) -> Vec<OperationSummary> {
        let mut summaries = self.operations.clone();
        for rows in before.rows().chunk_by(|a, b| a.series == b.series) {
            let mut changes = vec![Change::default(); summaries.len()];
            for row in rows {
                let place = place(row.stack, row.doing.is_idle());
                changes.iter_mut().zip(self.at(place)).for_each(|(change, effect)| change.add(*effect, row));
            }
            let changed = summaries.iter_mut().zip(changes).filter(|(_, change)| !change.is_nothing());
            changed.for_each(|(summary, change)| summary.changes.push((rows[0].series, change)));
        }
        summaries
    }
}

impl Change {
    fn add(&mut self, effect: Effect, row: &StackWeight) {
        if effect.is_removed {
            self.removed_weight += row.weight;
            self.removed_samples += row.samples;
        }
        if effect.is_shorter {
            self.changed_samples += row.samples;
        }
        if effect.has_other_leaf {
            self.moved_weight += row.weight;
            self.moved_samples += row.samples;
        }
    }
}

impl SelectedSamples<'_> {
    /// Applies operations in order. Returns the resulting profile, and the effect of each operation on the selected samples, measured by
    /// `metric`. Other samples are changed and removed in the same way.
    ///
    /// # Errors
    /// If the new profile exceeds its tables or the memory budget.
    pub fn operate(
        &self,
        operations: &[Operation],
        metric: Metric,
    ) -> Result<(Profile, Vec<OperationSummary>), RebuildError> {
        let (after, effects) = OperationEffects::apply(self.profile(), operations)?;
        Ok((after, effects.summaries(&StackWeights::new(self, metric))))
    }
}

impl Action {
    /// Returns the functions that the operation looks for, if any.
    fn functions(&self) -> Option<&FunctionSet> {
        match self {
            Self::Focus(functions)
            | Self::FocusLeaves(functions)
            | Self::RootAt(functions)
            | Self::Prune(functions)
            | Self::PruneLeaves(functions)
            | Self::Charge(functions)
            | Self::Hide(functions)
            | Self::Collapse(functions)
            | Self::Flatten(functions) => Some(functions),
            Self::AtPlace(_) | Self::FlattenRecursion | Self::SkipIdle | Self::Invert => None,
        }
    }
}

/// Buffers that are reused for each stack.
struct Work<'p> {
    profile: &'p Profile,
    rest: Vec<FrameId>,
    /// For each function, its last position in the current stack. Stale entries are past the end, or point to another function.
    last_at: Vec<usize>,
}

impl Work<'_> {
    fn function(&self, frame: FrameId) -> FunctionId {
        self.profile.frame(frame).function
    }

    fn leaf(&self, path: &[FrameId]) -> Option<FunctionId> {
        path.last().map(|&frame| self.function(frame))
    }

    /// Changes a stack, or returns false to remove its samples. `waits` is true for samples of waiting threads.
    fn act(&mut self, action: &Action, waits: bool, path: &mut Vec<FrameId>) -> bool {
        let profile = self.profile;
        let is_in = |functions: &FunctionSet, frame: FrameId| functions.contains(profile.frame(frame).function);
        match action {
            Action::Focus(functions) => path.iter().any(|&frame| is_in(functions, frame)),
            Action::FocusLeaves(functions) => path.last().is_some_and(|&frame| is_in(functions, frame)),
            Action::RootAt(functions) => {
                let root = path.iter().position(|&frame| is_in(functions, frame));
                path.drain(..root.unwrap_or(0));
                root.is_some()
            }
            Action::Prune(functions) => !path.iter().any(|&frame| is_in(functions, frame)),
            Action::PruneLeaves(functions) => !path.last().is_some_and(|&frame| is_in(functions, frame)),
            Action::SkipIdle => !waits,
            Action::Charge(functions) => {
                let root = path.first().copied();
                path.retain(|&frame| !is_in(functions, frame));
                if path.is_empty() {
                    path.extend(root);
                }
                true
            }
            Action::Hide(functions) => {
                let had_frames = !path.is_empty();
                path.retain(|&frame| !is_in(functions, frame));
                !(had_frames && path.is_empty())
            }
            Action::Collapse(functions) => {
                if let Some(end) = path.iter().position(|&frame| is_in(functions, frame)) {
                    path.truncate(end + 1);
                }
                true
            }
            Action::Flatten(functions) => {
                path.dedup_by(|frame, caller| is_in(functions, *frame) && is_in(functions, *caller));
                true
            }
            Action::AtPlace(place) => place.act(profile, path),
            Action::FlattenRecursion => {
                self.flatten_recursion(path);
                true
            }
            Action::Invert => {
                path.reverse();
                true
            }
        }
    }

    /// Removes everything between two calls of the same function.
    fn flatten_recursion(&mut self, path: &mut Vec<FrameId>) {
        self.rest.clear();
        for &frame in path.iter() {
            let function = self.function(frame);
            let known = self.last_at[function.index()];
            let is_known = self.rest.get(known).is_some_and(|&frame| self.function(frame) == function);
            // Removes the first call and the frames below it. Entries past the end become stale.
            if is_known {
                self.rest.truncate(known);
            }
            self.last_at[function.index()] = self.rest.len();
            self.rest.push(frame);
        }
        path.clone_from(&self.rest);
    }
}

/// The combined effect of operations on the samples of a series.
impl OperationSummary {
    /// Returns the weight and the number of samples that operations removed from a series.
    pub fn removed(summaries: &[Self], series: SeriesId) -> (u64, u64) {
        summaries.iter().map(|summary| summary.change(series)).fold((0, 0), |(weight, samples), change| {
            (weight.saturating_add(change.removed_weight), samples + change.removed_samples)
        })
    }
}
