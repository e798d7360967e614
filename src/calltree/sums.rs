//! Sums of the stacks that a selection counts, without a tree.

use super::categories::{CategoryRow, TransitionRow, categories_of_stacks, transitions_of_stacks};
use super::functions::{FunctionRow, functions, functions_of_stacks};
use super::keyed::{KeySums, sum_stacks_by_key};
use super::lines::{LineRow, SourceFileRow, lines_of_stacks, source_files_of_stacks};
use super::tree::CallTree;
use super::weights::StackWeights;
use crate::profile::{Frame, Profile};

impl StackWeights {
    /// The functions, by self weight, then all weight, then name: those of the [tree](super::Merger::tree) of the same stacks. It
    /// takes memory for each function and not for each place in a tree. So many `jobs` share the work where there are very many stacks.
    pub fn functions(&self, profile: &Profile, jobs: usize) -> Vec<FunctionRow> {
        functions_of_stacks(profile, self.rows(), jobs)
    }

    /// The lines, by self weight, then all weight, then path and line, then function.
    pub fn lines(&self, profile: &Profile) -> Vec<LineRow> {
        lines_of_stacks(profile, self.rows())
    }

    /// The source files, by self weight, then all weight, then path. Frames without a source are in none.
    pub fn source_files(&self, profile: &Profile) -> Vec<SourceFileRow> {
        source_files_of_stacks(profile, self.rows())
    }

    /// The categories, in the order of [`Category::ALL`](crate::profile::Category::ALL), and at last samples without stack.
    pub fn categories(&self, profile: &Profile) -> Vec<CategoryRow> {
        categories_of_stacks(profile, self.rows())
    }

    /// The calls from the program's own code into any other, by self weight, then all weight, then caller and callee.
    pub fn transitions(&self, profile: &Profile) -> Vec<TransitionRow> {
        transitions_of_stacks(profile, self.rows())
    }

    /// The sums by whatever frames have in common: `key` has a number below `key_count` for each frame. Behind the sums by key stand
    /// those of samples without stack.
    ///
    /// # Panics
    /// When a key is not below `key_count`.
    pub fn by_key(
        &self,
        profile: &Profile,
        key_count: usize,
        key: impl Fn(&Frame) -> usize,
    ) -> (Vec<KeySums>, KeySums) {
        let keys: Vec<usize> = profile.frame_ids().map(|id| key(profile.frame(id))).collect();
        sum_stacks_by_key(profile, self.rows(), &keys, key_count, 1)
    }
}

impl CallTree {
    /// The functions of the whole tree, by self weight, then all weight, then name. Weights that pruning hid are missing here.
    pub fn functions(&self, profile: &Profile) -> Vec<FunctionRow> {
        functions(profile, self)
    }
}
