//! Sums of the selected stacks, without a tree.

use super::categories::{CategoryRow, TransitionRow, categories_of_stacks, transitions_of_stacks};
use super::functions::{FunctionRow, functions, functions_of_stacks};
use super::keyed::{KeySums, WeighedStacks, sum_stacks_by_key};
use super::lines::{LineRow, SourceFileRow, lines_of_stacks, source_files_of_stacks};
use super::tree::CallTree;
use super::weights::StackWeights;
use crate::profile::{Frame, Profile};

impl StackWeights {
    /// Returns the functions, by self weight, then all weight, then name: the same as in the [tree](super::Merger::tree) of these stacks.
    /// Memory grows with the functions, and not with the nodes of a tree. If there are very many stacks, they are divided among `jobs`
    /// threads.
    pub fn functions(&self, profile: &Profile, jobs: usize) -> Vec<FunctionRow> {
        functions_of_stacks(profile, WeighedStacks::Rows(self.rows(), jobs))
    }

    /// Returns the lines, by self weight, then all weight, then path and line, then function.
    pub fn lines(&self, profile: &Profile) -> Vec<LineRow> {
        lines_of_stacks(profile, WeighedStacks::Rows(self.rows(), 1))
    }

    /// Returns the source files, by self weight, then all weight, then path. Frames without a source are not included.
    pub fn source_files(&self, profile: &Profile) -> Vec<SourceFileRow> {
        source_files_of_stacks(profile, WeighedStacks::Rows(self.rows(), 1))
    }

    /// Returns the categories, in the order of [`Category::ALL`](crate::profile::Category::ALL), followed by samples without a stack.
    pub fn categories(&self, profile: &Profile) -> Vec<CategoryRow> {
        categories_of_stacks(profile, WeighedStacks::Rows(self.rows(), 1))
    }

    /// Returns the calls from app code into any other code, by self weight, then all weight, then caller and callee.
    pub fn transitions(&self, profile: &Profile) -> Vec<TransitionRow> {
        transitions_of_stacks(profile, WeighedStacks::Rows(self.rows(), 1))
    }

    /// Returns the sums by any property of frames: `key` returns a number below `key_count` for each frame. The last sums are for samples
    /// without a stack.
    ///
    /// # Panics
    /// If a key is not below `key_count`.
    pub fn by_key(
        &self,
        profile: &Profile,
        key_count: usize,
        key: impl Fn(&Frame) -> usize,
    ) -> (Vec<KeySums>, KeySums) {
        let keys: Vec<usize> = profile.frame_ids().map(|id| key(profile.frame(id))).collect();
        sum_stacks_by_key(profile, WeighedStacks::Rows(self.rows(), 1), &keys, key_count)
    }
}

impl CallTree {
    /// Returns the functions of the tree, by self weight, then all weight, then name. Weights hidden by pruning are not included.
    pub fn functions(&self, profile: &Profile) -> Vec<FunctionRow> {
        functions(profile, self)
    }
}
