//! Sets of functions for operations.

use crate::profile::{Category, Doing, Doings, FunctionId, Matcher, Profile, StackId};

/// A set of functions of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionSet {
    /// Indexed by function.
    chosen: Vec<bool>,
}

impl FunctionSet {
    /// Creates the set of functions for which `is_chosen` returns true.
    pub fn new(profile: &Profile, is_chosen: impl FnMut(FunctionId) -> bool) -> Self {
        Self { chosen: profile.function_ids().map(is_chosen).collect() }
    }

    /// Creates the set of functions whose displayed names `is_chosen` accepts, for example by a regular expression.
    pub fn of_names(profile: &Profile, mut is_chosen: impl FnMut(&str) -> bool) -> Self {
        Self::new(profile, |id| is_chosen(profile.function_name(id)))
    }

    /// Creates the set of functions in binaries with this name.
    pub fn of_binary(profile: &Profile, name: &str) -> Self {
        Self::new(profile, |id| profile.binary_name(id) == Some(name))
    }

    /// Creates the set of functions in binaries that any matcher matches.
    pub fn of_binaries(profile: &Profile, matchers: &[Matcher]) -> Self {
        let mut is_matched = vec![false; profile.binary_ids().len()];
        for id in matchers.iter().flat_map(|matcher| matcher.binaries(profile)) {
            is_matched[id.index()] = true;
        }
        Self::new(profile, |id| profile.function(id).binary.is_some_and(|binary| is_matched[binary.index()]))
    }

    /// Creates the set of functions in the system, its runtimes and the kernel ([`Category`]), but not in unknown binaries.
    pub fn of_system(profile: &Profile) -> Self {
        let is_system = |category| matches!(category, Category::System | Category::Runtime | Category::Kernel);
        Self { chosen: Category::of_functions(profile).into_iter().map(is_system).collect() }
    }

    /// Creates the set of functions in which threads wait: most samples with this leaf are waiting.
    pub fn idle(profile: &Profile) -> Self {
        let doings = Doings::new(profile);
        let rows = profile.sums_or_samples().map(|sum| (sum.stack, doings.of(&sum), sum.samples));
        Self::of_waits(profile, rows, false)
    }

    /// Like [`idle`](Self::idle), from stacks with their thread's activity and number of samples. The last frame of an inverted stack is its
    /// original leaf.
    pub(crate) fn of_waits(
        profile: &Profile,
        rows: impl Iterator<Item = (Option<StackId>, Doing, u64)>,
        is_inverted: bool,
    ) -> Self {
        let mut sums = vec![(0, 0); profile.function_ids().len()];
        for (stack, doing, samples) in rows {
            let mut frames = profile.frames_leaf_first(stack);
            if let Some(leaf) = if is_inverted { frames.last() } else { frames.next() } {
                let (waits, all) = &mut sums[leaf.function.index()];
                *waits += if doing.is_idle() { samples } else { 0 };
                *all += samples;
            }
        }
        Self { chosen: sums.into_iter().map(|(waits, all)| 2 * waits > all).collect() }
    }

    /// True if the set is empty.
    pub fn is_empty(&self) -> bool {
        !self.chosen.contains(&true)
    }

    /// True if the set contains a function of its profile. Meaningless for ids from other profiles.
    pub fn contains(&self, function: FunctionId) -> bool {
        self.chosen.get(function.index()).copied().unwrap_or(false)
    }
}
