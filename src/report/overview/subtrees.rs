//! The subtrees with most of the weight: where to look if no function stands out.

use super::origin::{Origin, is_entry_point, is_run_loop};
use super::owners::Owners;
use crate::calltree::{Label, StackWeight, WeighedForest};
use crate::hash::HashMap;
use crate::profile::{Category, FunctionId, Profile, StackId, ThreadId};
use crate::report::Amount;
use crate::units::{Unit, Weight};

/// At most this many subtrees are an answer.
const MOST: usize = 3;
/// A subtree with a smaller share of the weight is no answer.
const LEAST: f64 = 0.1;
/// A function that holds this part of the weight of its callers is a better answer than they are.
const HOLDS: f64 = 0.75;
/// A caller is named if it holds this much more.
const CLEARLY_MORE: f64 = 1.03;
/// Nodes with a smaller part of the weight are not looked at.
const LIGHT: f64 = 0.01;

/// A function with much of the weight below it, but little of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Subtree {
    /// The function.
    pub function: FunctionId,
    /// The innermost caller that holds clearly more.
    pub caller: Option<FunctionId>,
    /// The callee with most of the weight, where it is a tenth of all weight or more, and the weight that the function calls it with.
    pub callee: Option<(FunctionId, Amount)>,
    /// The thread on which it weighs most.
    pub thread: ThreadId,
    /// Its samples on that thread.
    pub on_thread: Amount,
    /// What made it run, if the system functions around it identify that.
    pub origin: Option<Origin>,
}

/// The subtrees of a series: of app code, or of all code if no app code has enough weight. `all` has the weight of each function.
pub(super) fn subtrees(
    tree: WeighedForest<'_>,
    owners: &Owners,
    rows: &[StackWeight],
    all: &[(u64, u64)],
    unit: Unit,
) -> Vec<Subtree> {
    let heavy = Heavy::new(tree);
    let of_app =
        |id: FunctionId, category| category == Category::User && !is_entry_point(tree.profile.function_name(id));
    let found = heavy.subtrees(&eligible(tree.profile, of_app), all);
    let found = if found.is_empty() {
        heavy.subtrees(&eligible(tree.profile, |id, _| is_no_machinery(tree.profile, id)), all)
    } else {
        found
    };
    found.into_iter().map(|found| heavy.subtree(&found, owners, rows, unit)).collect()
}

/// By function: true if it can be an answer. Functions without names cannot.
fn eligible(profile: &Profile, is_wanted: impl Fn(FunctionId, Category) -> bool) -> Vec<bool> {
    let categories = Category::of_functions(profile);
    let is_eligible = |id: FunctionId| profile.function(id).is_named && is_wanted(id, categories[id.index()]);
    profile.function_ids().map(is_eligible).collect()
}

/// True unless a function only gets work started: threads, queues, run loops, entry points.
fn is_no_machinery(profile: &Profile, id: FunctionId) -> bool {
    let name = profile.function_name(id);
    let binary = profile.binary_name(id).unwrap_or_default();
    !is_entry_point(name)
        && !is_run_loop(name)
        && Origin::of_function(name).is_none()
        && !["libdispatch.dylib", "libsystem_pthread.dylib", "dyld"].contains(&binary)
}

/// The rows whose samples end in one of these nodes, or below one. The nodes are in ascending order, and none is below another.
pub(super) fn rows_below<'r>(
    tree: WeighedForest<'r>,
    nodes: &'r [u32],
    rows: &'r [StackWeight],
) -> impl DoubleEndedIterator<Item = &'r StackWeight> {
    let ranges: Vec<(u32, u32)> = nodes.iter().map(|&node| tree.forest.range(node)).collect();
    rows.iter().filter(move |row| {
        let node = tree.forest.node_of(row.stack);
        let before = ranges.partition_point(|&(start, _)| start <= node);
        before.checked_sub(1).is_some_and(|last| node < ranges[last].1)
    })
}

/// The thread with most of the weight of some rows, and its weight and samples.
pub(super) fn heaviest_thread<'r>(rows: impl Iterator<Item = &'r StackWeight>) -> Option<(ThreadId, (u64, u64))> {
    let mut threads: HashMap<ThreadId, (u64, u64)> = HashMap::default();
    for row in rows {
        let sum = threads.entry(row.thread).or_default();
        *sum = (sum.0.saturating_add(row.weight), sum.1 + row.samples);
    }
    threads.into_iter().max_by_key(|&(thread, sum)| (sum, std::cmp::Reverse(thread)))
}

/// A node of the tree with at least a hundredth of the weight.
struct HeavyNode {
    node: u32,
    /// The place of its parent in the list; the root is its own.
    parent: usize,
    function: FunctionId,
    weight: u64,
}

/// The heavy nodes, in preorder, without the root.
struct Heavy<'t> {
    tree: WeighedForest<'t>,
    nodes: Vec<HeavyNode>,
}

/// A subtree as places of nodes.
struct Found {
    function: FunctionId,
    /// The outermost nodes of the function.
    places: Vec<usize>,
    caller: Option<FunctionId>,
}

impl<'t> Heavy<'t> {
    fn new(tree: WeighedForest<'t>) -> Self {
        let mut heavy = Self { tree, nodes: Vec::new() };
        let least = (LIGHT * tree.weights.total().all_weight as f64).max(1.0);
        let mut open: Vec<(u32, usize)> =
            tree.children(0, least).into_iter().rev().map(|node| (node, usize::MAX)).collect();
        while let Some((node, parent)) = open.pop() {
            let Label::Function(function) = tree.forest.label(node) else { continue };
            let place = heavy.nodes.len();
            heavy.nodes.push(HeavyNode { node, parent, function, weight: tree.sums(node).all_weight });
            open.extend(tree.children(node, least).into_iter().rev().map(|child| (child, place)));
        }
        heavy
    }

    /// The places of the callers of a node, innermost first.
    fn above(&self, place: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(self.nodes[place].parent), |&at| self.nodes.get(at).map(|node| node.parent))
            .take_while(|&at| at < self.nodes.len())
    }

    /// The outermost nodes of each function, and their weight. `left` has what is left of each node.
    fn by_function(&self, left: &[u64], is_eligible: &[bool]) -> HashMap<FunctionId, (u64, Vec<usize>)> {
        let mut sums: HashMap<FunctionId, (u64, Vec<usize>)> = HashMap::default();
        for (place, node) in self.nodes.iter().enumerate() {
            if is_eligible[node.function.index()] && left[place] > 0 && self.tree.forest.is_outermost(node.node) {
                let (weight, places) = sums.entry(node.function).or_default();
                *weight += left[place];
                places.push(place);
            }
        }
        sums
    }

    /// By place: true if it is one of these places, or below one.
    fn below(&self, places: &[usize]) -> Vec<bool> {
        let mut is_below = vec![false; self.nodes.len()];
        for &place in places {
            is_below[place] = true;
        }
        for place in 0..self.nodes.len() {
            is_below[place] |= is_below.get(self.nodes[place].parent).is_some_and(|&is_below| is_below);
        }
        is_below
    }

    /// At most three subtrees, heaviest first. At most a tenth of the samples of one are in another.
    fn subtrees(&self, is_eligible: &[bool], all: &[(u64, u64)]) -> Vec<Found> {
        let mut is_open = is_eligible.to_vec();
        let mut left: Vec<u64> = self.nodes.iter().map(|node| node.weight).collect();
        let least = LEAST * self.tree.weights.total().all_weight as f64;
        let mut found: Vec<Found> = Vec::new();
        while found.len() < MOST {
            let Some((function, places)) = self.deepest(&left, &is_open, least) else { break };
            let own: u64 = places.iter().map(|&place| left[place]).sum();
            is_open[function.index()] = false;
            for &place in &places {
                for above in self.above(place) {
                    left[above] = left[above].saturating_sub(left[place]);
                    is_open[self.nodes[above].function.index()] = false;
                }
            }
            for (left, is_below) in left.iter_mut().zip(self.below(&places)) {
                *left = if is_below { 0 } else { *left };
            }
            // Its whole weight is shown, so it must not have much of it in another subtree.
            let weight = all[function.index()].0;
            if own as f64 >= 0.9 * weight as f64 {
                let is_caller = |id: FunctionId| {
                    is_eligible[id.index()] && all[id.index()].0 as f64 >= CLEARLY_MORE * weight as f64
                };
                let caller = self.above(places[0]).map(|above| self.nodes[above].function).find(|&id| is_caller(id));
                found.push(Found { function, places, caller });
            }
        }
        found
    }

    /// The deepest function that holds most of the heaviest function's weight, and its nodes.
    fn deepest(&self, left: &[u64], is_open: &[bool], least: f64) -> Option<(FunctionId, Vec<usize>)> {
        let mut sums = self.by_function(left, is_open);
        // Of equal functions, the outermost.
        let (weight, outer) = sums.values().max_by_key(|(weight, places)| (*weight, std::cmp::Reverse(places[0])))?;
        if (*weight as f64) < least {
            return None;
        }
        let is_below = self.below(outer);
        let holds =
            |places: &[usize]| -> u64 { places.iter().filter(|&&place| is_below[place]).map(|&at| left[at]).sum() };
        let deep = sums.iter().map(|(&id, (_, places))| (holds(places), std::cmp::Reverse(places[0]), id));
        let (.., id) = deep.filter(|(held, ..)| *held as f64 >= HOLDS * *weight as f64).min()?;
        sums.remove(&id).map(|(_, places)| (id, places))
    }

    /// All that is shown of a subtree.
    fn subtree(&self, found: &Found, owners: &Owners, rows: &[StackWeight], unit: Unit) -> Subtree {
        let mut nodes: Vec<u32> = found.places.iter().map(|&place| self.nodes[place].node).collect();
        nodes.sort_unstable();
        let within = || rows_below(self.tree, &nodes, rows);
        let (thread, on_thread) = heaviest_thread(within()).unwrap_or((rows[0].thread, (0, 0)));
        let amount = |(weight, samples)| Amount { weight: Weight::new(weight, unit), samples };
        // Of equal rows, the first.
        let heaviest = within().rev().max_by_key(|row| row.weight);
        let outermost = heaviest.and_then(|row| self.outermost(row.stack?, found.function));
        Subtree {
            function: found.function,
            caller: found.caller,
            callee: self.callee(found).map(|(id, sum)| (id, amount(sum))),
            thread,
            on_thread: amount(on_thread),
            origin: outermost.and_then(|stack| super::answers::origin(self.tree.profile, owners, stack)),
        }
    }

    /// The stack that ends in the outermost frame of a function.
    fn outermost(&self, stack: StackId, function: FunctionId) -> Option<StackId> {
        let profile = self.tree.profile;
        let stacks = std::iter::successors(Some(stack), |&at| profile.stack(at).parent);
        stacks.filter(|&at| profile.frame(profile.stack(at).frame).function == function).last()
    }

    /// The heaviest callee, with its weight and samples, if it has a tenth of all weight.
    fn callee(&self, found: &Found) -> Option<(FunctionId, (u64, u64))> {
        let mut sums: HashMap<FunctionId, (u64, u64)> = HashMap::default();
        for node in
            self.nodes.iter().filter(|node| found.places.contains(&node.parent) && node.function != found.function)
        {
            let sum = sums.entry(node.function).or_default();
            *sum = (sum.0 + node.weight, sum.1 + self.tree.sums(node.node).all_samples);
        }
        let (id, sum) = sums.into_iter().max_by_key(|&(id, sum)| (sum, std::cmp::Reverse(id)))?;
        (sum.0 as f64 >= LEAST * self.tree.weights.total().all_weight as f64).then_some((id, sum))
    }
}
