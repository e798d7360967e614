//! The heaviest subtrees, which are starting points if no function stands out.

use super::callers::{NEARLY_ALL, outermost};
use super::origin::{Origin, is_entry_point, is_run_loop};
use super::owners::Owners;
use crate::calltree::{HeavyNode, StackWeight, heavy_tree};
use crate::hash::HashMap;
use crate::profile::{Category, FunctionId, Profile, ThreadId};
use crate::report::{Amount, Report, SeriesReport};
use crate::units::{Unit, Weight};

/// The maximum number of subtrees.
const MOST: usize = 3;
/// The minimum share of the weight for a subtree.
const LEAST: f64 = 0.1;
/// A function with this share of its caller's weight is a better answer than the caller.
const HOLDS: f64 = 0.75;
/// A caller is reported if it has at least this multiple of the weight.
const CLEARLY_MORE: f64 = 1.03;
/// Nodes below this share of the weight are skipped.
const LIGHT: f64 = 0.01;

/// A function with a large all weight and a small self weight.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Subtree {
    /// The function.
    pub function: FunctionId,
    /// The innermost caller with clearly more weight that nearly all calls come from, directly or indirectly.
    pub caller: Option<FunctionId>,
    /// The heaviest callee, if it has at least a tenth of all weight, and the weight of its calls from this function.
    pub callee: Option<(FunctionId, Amount)>,
    /// The thread on which it weighs most.
    pub thread: ThreadId,
    /// The samples on that thread.
    pub on_thread: Amount,
    /// The trigger, if the system functions around it show one.
    pub origin: Option<Origin>,
}

impl Report<'_> {
    /// The functions of the subtrees of a series: of app code, or of all code if no app code is heavy enough. `all` contains the weight of each
    /// function.
    pub(super) fn heavy_functions(&self, series: &SeriesReport, all: &[(u64, u64)]) -> Vec<Found> {
        let profile = &self.recording.profile;
        let least = (LIGHT * series.counted.weight.value as f64).max(1.0);
        // No node of any other function can be heavy.
        let is_heavy: Vec<bool> = all.iter().map(|(weight, _)| *weight as f64 >= least).collect();
        let of_app =
            |id: FunctionId, category| category == Category::User && !is_entry_point(profile.function_name(id));
        let nodes = heavy_tree(profile, self.weights.of_series(series.series), &is_heavy, least);
        let heavy = Heavy { nodes, total: series.counted.weight.value as f64 };
        let found = heavy.subtrees(&eligible(profile, of_app), all);
        match found.is_empty() {
            true => heavy.subtrees(&eligible(profile, |id, _| is_no_machinery(profile, id)), all),
            false => found,
        }
    }

    /// Collects the data of a subtree. `rows` are those that contain it.
    pub(super) fn subtree(
        &self,
        series: &SeriesReport,
        owners: &Owners,
        found: &Found,
        rows: &[StackWeight],
    ) -> Option<Subtree> {
        let profile = &self.recording.profile;
        let (thread, on_thread) = heaviest_thread(rows, series.unit)?;
        // The first one in a tie.
        let heaviest = rows.iter().rev().max_by_key(|row| row.weight);
        let outermost = heaviest.and_then(|row| outermost(profile, row.stack?, found.function));
        let callees = self.calls(series, found.function, rows).callees;
        let callee = callees.into_iter().max_by_key(|&(id, sum)| (sum, std::cmp::Reverse(id)));
        let least = LEAST * series.counted.weight.value as f64;
        let amount = |(weight, samples)| Amount { weight: Weight::new(weight, series.unit), samples };
        Some(Subtree {
            function: found.function,
            caller: found.caller,
            callee: callee.filter(|(_, sum)| sum.0 as f64 >= least).map(|(id, sum)| (id, amount(sum))),
            thread,
            on_thread,
            origin: outermost.and_then(|stack| super::answers::origin(profile, owners, stack)),
        })
    }
}

/// By function: true if it can be an answer. Unnamed functions cannot.
fn eligible(profile: &Profile, is_wanted: impl Fn(FunctionId, Category) -> bool) -> Vec<bool> {
    let categories = Category::of_functions(profile);
    let is_eligible = |id: FunctionId| profile.function(id).is_named && is_wanted(id, categories[id.index()]);
    profile.function_ids().map(is_eligible).collect()
}

/// True unless a function only starts work: threads, queues, run loops, entry points.
fn is_no_machinery(profile: &Profile, id: FunctionId) -> bool {
    let name = profile.function_name(id);
    let binary = profile.binary_name(id).unwrap_or_default();
    !is_entry_point(name)
        && !is_run_loop(name)
        && Origin::of_function(name).is_none()
        && !["libdispatch.dylib", "libsystem_pthread.dylib", "dyld"].contains(&binary)
}

/// The thread with most of these rows' weight, and its samples.
fn heaviest_thread(rows: &[StackWeight], unit: Unit) -> Option<(ThreadId, Amount)> {
    let threads = rows.chunk_by(|a, b| a.thread == b.thread);
    let threads = threads.map(|rows| (rows[0].thread, Amount::of_rows(rows.iter(), unit)));
    threads.max_by_key(|(thread, sum)| (sum.weight.value, sum.samples, std::cmp::Reverse(*thread)))
}

/// A function with its caller.
pub(super) struct Found {
    pub(super) function: FunctionId,
    caller: Option<FunctionId>,
}

/// The nodes with at least a hundredth of the weight.
struct Heavy {
    nodes: Vec<HeavyNode>,
    /// The weight of all samples.
    total: f64,
}

impl Heavy {
    /// The callers of a node, innermost first.
    fn above(&self, place: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.nodes[place].parent, |&at| self.nodes[at].parent)
    }

    /// The outermost nodes of each function and their weight. `left` is the remaining weight of each node.
    fn by_function(&self, left: &[u64], is_eligible: &[bool]) -> HashMap<FunctionId, (u64, Vec<usize>)> {
        let mut sums: HashMap<FunctionId, (u64, Vec<usize>)> = HashMap::default();
        for (place, node) in self.nodes.iter().enumerate() {
            if is_eligible[node.function.index()] && left[place] > 0 && node.is_outermost {
                let (weight, places) = sums.entry(node.function).or_default();
                *weight += left[place];
                places.push(place);
            }
        }
        sums
    }

    /// By node: true for `places` and everything below.
    fn below(&self, places: &[usize]) -> Vec<bool> {
        let mut is_below = vec![false; self.nodes.len()];
        for &place in places {
            is_below[place] = true;
        }
        for place in 0..self.nodes.len() {
            is_below[place] |= self.nodes[place].parent.is_some_and(|parent| is_below[parent]);
        }
        is_below
    }

    /// True if a function calls these nodes with at least nine tenths of the weight.
    fn is_below(&self, places: &[usize], caller: FunctionId, weight: u64) -> bool {
        let is_called = |place: &&usize| self.above(**place).any(|above| self.nodes[above].function == caller);
        let called: u64 = places.iter().filter(is_called).map(|&place| self.nodes[place].all.0).sum();
        called as f64 >= NEARLY_ALL * weight as f64
    }

    /// Finds up to three subtrees, heaviest first. At most a tenth of a subtree's samples are in another one.
    fn subtrees(&self, is_eligible: &[bool], all: &[(u64, u64)]) -> Vec<Found> {
        let mut is_open = is_eligible.to_vec();
        let mut left: Vec<u64> = self.nodes.iter().map(|node| node.all.0).collect();
        let least = LEAST * self.total;
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
            // The subtree is shown with its complete weight, so little of that may already be in another one.
            let weight = all[function.index()].0;
            if own as f64 >= NEARLY_ALL * weight as f64 {
                let is_caller = |id: FunctionId| {
                    is_eligible[id.index()] && all[id.index()].0 as f64 >= CLEARLY_MORE * weight as f64
                };
                let mut callers = self.above(places[0]).map(|above| self.nodes[above].function);
                let caller = callers.find(|&id| is_caller(id) && self.is_below(&places, id, weight));
                found.push(Found { function, caller });
            }
        }
        found
    }

    /// The deepest function with most of the heaviest function's weight, and its nodes.
    fn deepest(&self, left: &[u64], is_open: &[bool], least: f64) -> Option<(FunctionId, Vec<usize>)> {
        let mut sums = self.by_function(left, is_open);
        // The outermost one in a tie.
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
}
