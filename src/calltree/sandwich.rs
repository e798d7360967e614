//! The callers and callees of a function.

use std::cmp::Ordering;

use super::key_sums::KeySums;
use super::operations::FunctionSet;
use super::tree::Label;
use super::tree::order_labels;
use super::weights::StackWeight;
use crate::hash::HashMap;
use crate::profile::{FunctionId, Profile, Stack, StackId};

/// One or more functions, treated as one, between their callers and callees.
///
/// If a stack contains the functions several times, the part above the outermost belongs to the callers, and the part below the innermost to the
/// callees. A sample therefore has at most one caller and one callee, and
///
/// ```text
/// all weight = Σ callers + weight of samples without a caller = Σ callees + self weight
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sandwich {
    /// The weights of the functions themselves.
    pub own: KeySums,
    /// The callers, heaviest first, with the weight and number of samples in which they call the functions. `None` for samples without a caller:
    /// the functions are outermost.
    pub callers: Vec<(Option<FunctionId>, u64, u64)>,
    /// The callees, heaviest first, with the weight and number of samples.
    pub callees: Vec<(FunctionId, u64, u64)>,
    /// The weight and number of samples whose stack contains the functions several times.
    pub recursive: (u64, u64),
}

impl Sandwich {
    /// Finds the callers and callees of the chosen functions. The cost depends on the number of stacks, not of samples.
    pub fn new(profile: &Profile, weights: &[StackWeight], chosen: &FunctionSet) -> Self {
        let mut own = KeySums::default();
        let mut callers: HashMap<Option<FunctionId>, (u64, u64)> = HashMap::default();
        let mut callees: HashMap<FunctionId, (u64, u64)> = HashMap::default();
        let mut recursive = (0, 0);
        let of_stacks = neighbours(profile, chosen);
        for row in weights {
            let found = row.stack.and_then(|stack| of_stacks[stack.index()]);
            let Some(Neighbours { caller, callee, is_recursive }) = found else { continue };
            own.add_all(row.weight, row.samples);
            add(callers.entry(caller).or_default(), row);
            if is_recursive {
                add(&mut recursive, row);
            }
            match callee {
                Some(callee) => add(callees.entry(callee).or_default(), row),
                None => own.add_self(row.weight, row.samples),
            }
        }
        let label = |id: Option<FunctionId>| id.map_or(Label::Root, Label::Function);
        let callers = sorted(callers, |&a, &b| order_labels(profile, label(a), label(b)));
        let callees = sorted(callees, |&a, &b| order_labels(profile, label(Some(a)), label(Some(b))));
        Self { own, callers, callees, recursive }
    }
}

/// Sorts functions by weight in descending order, then by `order`.
fn sorted<K>(sums: HashMap<K, (u64, u64)>, order: impl Fn(&K, &K) -> Ordering) -> Vec<(K, u64, u64)> {
    let mut rows: Vec<_> = sums.into_iter().map(|(id, (weight, samples))| (id, weight, samples)).collect();
    rows.sort_unstable_by(|a, b| (b.1, b.2).cmp(&(a.1, a.2)).then_with(|| order(&a.0, &b.0)));
    rows
}

fn add(sum: &mut (u64, u64), row: &StackWeight) {
    *sum = (sum.0.saturating_add(row.weight), sum.1 + row.samples);
}

/// The neighbours of the chosen functions in a stack.
#[derive(Clone, Copy)]
struct Neighbours {
    /// The caller of the outermost chosen function.
    caller: Option<FunctionId>,
    /// The callee of the innermost chosen function.
    callee: Option<FunctionId>,
    is_recursive: bool,
}

/// The neighbours in each stack; `None` for a stack without a chosen function. Callers precede their callees, so one pass suffices.
fn neighbours(profile: &Profile, chosen: &FunctionSet) -> Vec<Option<Neighbours>> {
    let function = |frame| profile.frame(frame).function;
    let caller = |parent: Option<StackId>| parent.map(|parent| function(profile.stack(parent).frame));
    profile.stack_rows().derive(|_, Stack { parent, frame }, above: Option<Option<Neighbours>>| {
        match (above.flatten(), chosen.contains(function(frame))) {
            (None, false) => None,
            (None, true) => Some(Neighbours { caller: caller(parent), callee: None, is_recursive: false }),
            (Some(above), true) => Some(Neighbours { callee: None, is_recursive: true, ..above }),
            (Some(above), false) => Some(Neighbours { callee: above.callee.or(Some(function(frame))), ..above }),
        }
    })
}
