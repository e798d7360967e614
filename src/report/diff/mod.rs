//! The changes between two recordings, by function, by binary and by call tree node.
//!
//! Both sides are reports of selected samples after the same operations. Their functions are matched (`matching`), their stacks are merged into
//! one tree (`tree`), and every row has its weights before and after.
//!
//! # Numbers
//!
//! The weights on both sides are the recorded integers, which add up in each tree. For a *change*, the weights of the second recording are first
//! multiplied by a factor that is the same in every row ([`Normalize`]):
//!
//! ```text
//! change = after × factor − before
//! ```
//!
//! Changes therefore add up like weights, apart from the rounding of floating-point numbers.
//!
//! # Noise
//!
//! Sampling is random: a function with n samples might as well have had n ± √n. The weights w form a compound Poisson process, whose variance is
//! estimated by the sum of the squared weights (Campbell's theorem). The standard deviation of a change is
//!
//! ```text
//! noise = √(Σw₁² + factor² × Σw₂²)
//! ```
//!
//! For n equal weights, the sum of squares of a side is W² / n. For unequal weights, as in tables of cycles, it is larger. If samples were summed
//! while reading ([`SampleDetail::Summed`](crate::profile::SampleDetail::Summed)), the weights within each stack are assumed to be equal.
//!
//! A change of more than [`Change::BEYOND_NOISE`] standard deviations is marked. The mark is a hint, not a test: among a thousand functions,
//! about fifty are marked by chance; consecutive samples are not independent; and recordings differ for more reasons than sampling. To compare
//! many runs, use `fleet report`. Sums of many runs vary more than sampling explains, by a [known factor](Diff::noise_factor).

mod alert;
mod change_and_noise;
mod lacking_names;
mod likeness;
mod matching;
mod tree;

use std::cmp::Reverse;
use std::sync::Arc;

pub use change_and_noise::{Change, Presence, Side, Sides};
pub use likeness::{Normalize, Unlike};
pub use matching::{Function, FunctionKey, Functions};
pub use tree::{DiffNode, DiffTree};

use super::Report;
use crate::calltree::Forest;
use crate::units::Unit;
pub(crate) use lacking_names::LackingNames;
use lacking_names::lacking_names;
use tree::{WeighedTree, change_of, own_code};

/// A row of a table: a function or a binary.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DiffRow {
    /// The number of the function among the [functions](Functions::iter) of both recordings or, for a binary, among their binaries.
    pub number: usize,
    /// The function or binary. A binary has no function name.
    pub function: Function,
    /// The weights of the row.
    pub sides: Sides,
    /// The change in its self weight.
    pub self_change: Change,
    /// The change in its total weight.
    pub all_change: Change,
}

/// The changes between two recordings.
#[derive(Clone, Debug)]
pub struct Diff {
    /// The unit of every weight.
    pub unit: Unit,
    /// The factor by which weights of the second recording are multiplied for changes.
    pub factor: f64,
    /// True if weights are scaled as requested. Otherwise the factor is 1, since a side lacks the length or weight to scale by.
    pub is_scaled: bool,
    /// By how much the noise of every change exceeds sampling noise: 1, except for sums of runs that differ from each other.
    pub noise_factor: f64,
    /// For each side, the total weight of unreadable rows, assuming the mean weight of a sample.
    pub(crate) unread: [f64; 2],
    /// The binaries whose functions cannot be compared.
    pub(crate) lacking_names: Vec<LackingNames>,
    /// All selected samples.
    pub total: Sides,
    /// The functions, by descending change of self weight. Samples without a stack form one entry.
    pub functions: Vec<DiffRow>,
    /// The functions of app code. Their self weight includes the system code that they call, as in
    /// [`Overview::answers`](crate::report::Overview::answers).
    pub own_functions: Vec<DiffRow>,
    /// The binaries, by descending change of self weight. A sample counts once in the total weight of a binary.
    pub binaries: Vec<DiffRow>,
    weighed: WeighedTree,
}

impl Diff {
    /// Compares two reports, which must be [comparable](Unlike::between). Sums all selected samples of all their series.
    pub fn new<'e>(before: &Report<'e>, after: &Report<'e>, normalize: Normalize) -> Self {
        let reports = [before, after];
        let functions = Functions::new(reports.map(|report| &report.recording.profile));
        let forests = reports.map(|report| {
            Forest::of_stacks(&report.recording.profile, report.weights.rows().iter().map(|row| row.stack))
        });
        let forests = forests.each_ref();
        let tree = DiffTree::new(&Arc::new(functions), forests);
        Self::of_tree(&Arc::new(tree), reports, forests, normalize)
    }

    /// Like [`Diff::new`], for programs that compare many selections of the same recordings: they can reuse `tree` and the forests from which it was
    /// created.
    pub fn of_tree<'e>(
        tree: &Arc<DiffTree>,
        reports: [&Report<'e>; 2],
        forests: [&Forest; 2],
        normalize: Normalize,
    ) -> Self {
        let weighed = WeighedTree::new(tree, reports, forests);
        let [before, after] = reports;
        let total = weighed.sides(0);
        let found = normalize.factor(before, after, &total);
        let factor = found.unwrap_or(1.0);
        let change =
            |sides: &Sides| (Change::new(sides.before.own(), sides.after.own(), factor), change_of(sides, factor));
        let name = |number: usize| tree.functions.names()[number].clone();
        let by_function = weighed.by_function();
        let own = match tree.functions.has_binaries {
            true => own_code(reports, forests, &tree.functions),
            false => Default::default(),
        };
        let own = own.into_iter().map(|(number, own)| {
            let all = &by_function[number];
            let sides = Sides { before: all.before.with_self(own.before), after: all.after.with_self(own.after) };
            (number, name(number), sides)
        });
        let own: Vec<(usize, Function, Sides)> = own.collect();
        let functions = by_function.iter().enumerate().filter(|(_, sides)| sides.has_samples());
        let functions = functions.map(|(number, sides)| (number, name(number), *sides)).collect();
        let binaries = weighed.by_binary().into_iter().enumerate();
        let binaries = binaries.map(|(number, (binary, sides))| (number, binary, sides)).collect();
        let rows = |rows: Vec<(usize, Function, Sides)>| {
            let rows = rows.into_iter().filter(|(_, _, sides)| sides.has_samples()).map(|(number, function, sides)| {
                let (self_change, all_change) = change(&sides);
                DiffRow { number, function, sides, self_change, all_change }
            });
            let mut rows: Vec<DiffRow> = rows.collect();
            rows.sort_by(|a, b| {
                let size = |row: &DiffRow| (row.self_change.weight.abs(), row.all_change.weight.abs());
                let (a_size, b_size) = (size(a), size(b));
                let by_size = b_size.0.total_cmp(&a_size.0).then(b_size.1.total_cmp(&a_size.1));
                let heaviest = |row: &DiffRow| Reverse(row.sides.heavier());
                by_size.then_with(|| heaviest(a).cmp(&heaviest(b))).then_with(|| a.function.cmp(&b.function))
            });
            rows
        };
        let functions = rows(functions);
        let sides = functions.iter().map(|row| (&row.function, &row.sides));
        let diff = Self {
            lacking_names: lacking_names(sides, (factor, tree.functions.has_binaries)),
            unit: likeness::counted(before).next().map_or(Unit::Samples, |series| series.unit),
            factor,
            is_scaled: found.is_some(),
            noise_factor: 1.0,
            unread: [(before, total.before, 1.0), (after, total.after, factor)].map(
                |(report, Side { sums, .. }, factor)| {
                    let mean = sums.all_weight as f64 / sums.all_samples.max(1) as f64;
                    report.rejected() as f64 * mean * factor
                },
            ),
            total,
            own_functions: rows(own),
            functions,
            binaries: rows(binaries),
            weighed,
        };
        // Without sample counts, any change may come from a single sample.
        let are_counted = reports.iter().all(|report| report.table_without_sample_counts().is_none());
        if are_counted { diff } else { diff.with_noise_factor(f64::INFINITY) }
    }

    /// Returns the same changes for sums of runs, which vary more than sampling explains by this factor.
    #[must_use]
    pub fn with_noise_factor(mut self, noise_factor: f64) -> Self {
        let by = if noise_factor.is_finite() { noise_factor / self.noise_factor } else { noise_factor };
        for row in self.functions.iter_mut().chain(&mut self.own_functions).chain(&mut self.binaries) {
            row.self_change = row.self_change.with_noise_times(by);
            row.all_change = row.all_change.with_noise_times(by);
        }
        self.noise_factor = noise_factor;
        self
    }

    /// True if a change is no larger than the weight of unreadable rows.
    pub(crate) fn unread_may_explain(&self, change: &Change) -> bool {
        let unread: f64 = self.unread.iter().sum();
        unread > 0.0 && change.weight.abs() <= unread
    }

    /// True if the change of a function or binary is its own: not for samples without a stack, nor if names that one side lacks may explain it.
    pub(crate) fn is_comparable(&self, row: &DiffRow) -> bool {
        let has_binaries = self.weighed.tree.functions.has_binaries;
        let may_explain = |lacking: &LackingNames| lacking.may_explain(&row.function, &row.self_change, has_binaries);
        row.function.key != FunctionKey::NoStack && !self.lacking_names.iter().any(may_explain)
    }

    /// The call tree over all threads in preorder, the root first. Siblings are sorted by descending change in total weight. Nodes are not stored.
    pub fn nodes(&self) -> impl Iterator<Item = DiffNode> + '_ {
        self.weighed.nodes(self.factor)
    }

    /// The tree to which node numbers for [`children`](Self::children) and [`sides`](Self::sides) refer.
    pub fn tree(&self) -> &DiffTree {
        &self.weighed.tree
    }

    /// The children of a tree node that have samples, by descending change in total weight.
    pub fn children(&self, node: u32) -> Vec<u32> {
        self.weighed.children(node, self.factor)
    }

    /// The weights of a tree node.
    pub fn sides(&self, node: u32) -> Sides {
        self.weighed.sides(node)
    }

    /// The function of a tree node; `None` for the root.
    pub fn function(&self, node: &DiffNode) -> Option<&Function> {
        self.weighed.tree.functions.names().get_index(node.function?)
    }

    /// The change between the self weights of two sides.
    pub fn self_change(&self, sides: &Sides) -> Change {
        Change::new(sides.before.own(), sides.after.own(), self.factor).with_noise_times(self.noise_factor)
    }

    /// The change between the total weights of two sides.
    pub fn all_change(&self, sides: &Sides) -> Change {
        change_of(sides, self.factor).with_noise_times(self.noise_factor)
    }
}
