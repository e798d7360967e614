//! Applies operations, one stack after the other.

use super::{Action, Change, FunctionSet, Operation, OperationSummary};
use crate::calltree::{Metric, StackWeight, StackWeights};
use crate::profile::{FrameId, FunctionId, Profile, RebuildError, SelectedSamples, SeriesId, StackId};

impl SelectedSamples<'_> {
    /// Applies operations in their order. Returns the resulting recording, and the effect of each operation on the selected samples,
    /// measured by `metric`. Samples that are not selected are changed and removed in the same way.
    ///
    /// Only the ids of stacks and samples change.
    ///
    /// # Errors
    /// If the new profile does not fit its tables or the memory budget.
    pub fn operate(
        &self,
        operations: &[Operation],
        metric: Metric,
    ) -> Result<(Profile, Vec<OperationSummary>), RebuildError> {
        let profile = self.profile();
        let mut counted = StackWeights::new(self, metric).into_rows();
        counted.sort_by_key(|row| (row.stack, row.series));
        let mut counted = counted.as_slice();
        let mut changes: Vec<Vec<Change>> = vec![vec![Change::default(); profile.series_ids().len()]; operations.len()];
        let mut work = Work { profile, rest: Vec::new(), last_at: vec![usize::MAX; profile.function_ids().len()] };
        let after = profile.with_stacks(|stack, path| {
            let rows = take_rows(&mut counted, stack);
            for (operation, changes) in operations.iter().zip(&mut changes) {
                let (depth, leaf) = (path.len(), work.leaf(path));
                if !work.act(&operation.action, path) {
                    count(rows, changes, |change, row| {
                        change.removed_weight += row.weight;
                        change.removed_samples += row.samples;
                    });
                    return false;
                }
                if path.len() < depth {
                    count(rows, changes, |change, row| change.changed_samples += row.samples);
                }
                if operation.action != Action::Invert && work.leaf(path) != leaf {
                    count(rows, changes, |change, row| {
                        change.moved_weight += row.weight;
                        change.moved_samples += row.samples;
                    });
                }
            }
            true
        })?;
        let summaries = operations.iter().zip(changes).map(|(operation, changes)| OperationSummary {
            text: operation.text.clone(),
            is_without_function: operation.action.functions().is_some_and(FunctionSet::is_empty),
            inverts: operation.action == Action::Invert,
            changes: profile.series_ids().zip(changes).filter(|(_, change)| !change.is_nothing()).collect(),
        });
        Ok((after, summaries.collect()))
    }
}

/// Takes the rows of a stack from the front. Rows and stacks have the same order, but not every stack has rows.
fn take_rows<'w>(counted: &mut &'w [StackWeight], stack: Option<StackId>) -> &'w [StackWeight] {
    let count = counted.iter().take_while(|row| row.stack == stack).count();
    let (rows, rest) = counted.split_at(count);
    *counted = rest;
    rows
}

fn count(rows: &[StackWeight], changes: &mut [Change], add: impl Fn(&mut Change, &StackWeight)) {
    rows.iter().for_each(|row| add(&mut changes[row.series.index()], row));
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
            Self::FlattenRecursion | Self::Invert => None,
        }
    }
}

/// Tables that are reused for each stack.
struct Work<'p> {
    profile: &'p Profile,
    rest: Vec<FrameId>,
    /// For each function, its last position in the current stack. Stale entries are past the end, or have another function.
    last_at: Vec<usize>,
}

impl Work<'_> {
    fn function(&self, frame: FrameId) -> FunctionId {
        self.profile.frame(frame).function
    }

    fn leaf(&self, path: &[FrameId]) -> Option<FunctionId> {
        path.last().map(|&frame| self.function(frame))
    }

    /// Changes a stack. Returns `false` to remove its samples.
    fn act(&mut self, action: &Action, path: &mut Vec<FrameId>) -> bool {
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

    /// Removes everything between two calls of one function.
    fn flatten_recursion(&mut self, path: &mut Vec<FrameId>) {
        self.rest.clear();
        for &frame in path.iter() {
            let function = self.function(frame);
            let known = self.last_at[function.index()];
            let is_known = self.rest.get(known).is_some_and(|&frame| self.function(frame) == function);
            // Removes the frames below the first call. Positions past the end become stale.
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
