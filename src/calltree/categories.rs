//! Sums the weights of code categories, and of calls from app code into other code.
//!
//! ```text
//! main (user) ─► sort (system) ─► compare (user) ─► release (runtime)
//!      └ transition ┘                  └── transition ──┘
//! ```
//!
//! Here, the first transition has no self weight, since the sample returned to app code; the second one has. The all weight of both includes the
//! sample.

use super::key_sums::KeySums;
use super::keyed::{WeighedStacks, sum_stacks_by_key};
use super::path_visitor::PathVisitor;
use super::tree::Label;
use super::tree::order_labels;
use crate::hash::HashMap;
use crate::profile::{Category, FrameId, FunctionId, Profile};

/// The weights of a code category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CategoryRow {
    /// The category; `None` for samples without a stack.
    pub category: Option<Category>,
    /// Self weight includes samples whose leaf is in the category; all weight includes samples with any frame in it.
    pub sums: KeySums,
}

/// A call from app code ([`Category::User`]) into any other code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransitionRow {
    /// The calling app function.
    pub caller: FunctionId,
    /// The called function.
    pub callee: FunctionId,
    /// The category of the callee.
    pub category: Category,
    /// The self weight covers samples that did not return from the callee to app code: the caller is the innermost app frame of their stack. The
    /// all weight covers samples whose leaf is in or below the callee, in any code. Each sample is counted once, even if its stack contains the
    /// transition several times.
    pub sums: KeySums,
}

/// Returns the categories of stacks, in the order of [`Category::ALL`], followed by samples without a stack.
pub(crate) fn categories_of_stacks(profile: &Profile, stacks: WeighedStacks<'_>) -> Vec<CategoryRow> {
    let of_function = Category::of_functions(profile);
    let place = |category| Category::ALL.iter().position(|&other| other == category).unwrap_or_default();
    let key_of_frame: Vec<usize> =
        profile.frame_ids().map(|id| place(of_function[profile.frame(id).function.index()])).collect();
    let (sums, no_stack) = sum_stacks_by_key(profile, stacks, &key_of_frame, Category::ALL.len());
    let rows = Category::ALL.into_iter().map(Some).zip(sums).chain([(None, no_stack)]);
    let rows = rows.filter(|(_, sums)| sums.all_samples > 0);
    rows.map(|(category, sums)| CategoryRow { category, sums }).collect()
}

/// Returns the transitions of stacks, sorted by self weight, then all weight, then caller and callee.
pub(crate) fn transitions_of_stacks(profile: &Profile, stacks: WeighedStacks<'_>) -> Vec<TransitionRow> {
    let of_function = Category::of_functions(profile);
    let mut visitor = Transitions {
        profile,
        of_function,
        path: Vec::new(),
        rows: Vec::new(),
        on_path: Vec::new(),
        row_of: HashMap::default(),
    };
    stacks.walk(profile, &mut visitor);
    let mut rows = visitor.rows;
    sort(profile, &mut rows);
    rows
}

/// Finds transitions on the paths of stacks.
struct Transitions<'p> {
    profile: &'p Profile,
    of_function: Vec<Category>,
    path: Vec<Call>,
    rows: Vec<TransitionRow>,
    /// For each row, how often the current path contains the transition.
    on_path: Vec<u32>,
    row_of: HashMap<(FunctionId, FunctionId), usize>,
}

/// A function on the path.
#[derive(Clone, Copy)]
struct Call {
    function: FunctionId,
    /// The row of the transition, if app code called this function and it is not app code itself.
    transition: Option<usize>,
    /// The row of the innermost transition, unless something returned to app code after it.
    innermost: Option<usize>,
}

impl PathVisitor for Transitions<'_> {
    fn enter(&mut self, frame: FrameId) {
        let function = self.profile.frame(frame).function;
        let category = self.of_function[function.index()];
        let caller = self.path.last().copied();
        let is_app = |function: FunctionId| self.of_function[function.index()] == Category::User;
        let from = caller.filter(|caller| category != Category::User && is_app(caller.function));
        let transition = from.map(|caller| {
            let (caller, callee) = (caller.function, function);
            *self.row_of.entry((caller, callee)).or_insert_with(|| {
                self.rows.push(TransitionRow { caller, callee, category, sums: KeySums::default() });
                self.on_path.push(0);
                self.rows.len() - 1
            })
        });
        if let Some(row) = transition {
            self.on_path[row] += 1;
        }
        let above = caller.and_then(|caller| caller.innermost).filter(|_| category != Category::User);
        self.path.push(Call { function, transition, innermost: transition.or(above) });
    }

    fn end(&mut self, _: FrameId, weight: u64, samples: u64) {
        if let Some(row) = self.path.last().and_then(|call| call.innermost) {
            self.rows[row].sums.add_self(weight, samples);
        }
    }

    fn leave(&mut self, _: FrameId, weight: u64, samples: u64) {
        let Some(row) = self.path.pop().and_then(|call| call.transition) else { return };
        self.on_path[row] -= 1;
        if self.on_path[row] == 0 {
            self.rows[row].sums.add_all(weight, samples);
        }
    }
}

fn sort(profile: &Profile, rows: &mut [TransitionRow]) {
    let order = |a, b| order_labels(profile, Label::Function(a), Label::Function(b));
    rows.sort_unstable_by(|a, b| {
        let by_weight = a.sums.heaviest_first().cmp(&b.sums.heaviest_first());
        by_weight.then_with(|| order(a.caller, b.caller)).then_with(|| order(a.callee, b.callee))
    });
}
