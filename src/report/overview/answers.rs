//! The heaviest functions, each with its thread and its trigger.

use super::origin::Origin;
use super::own_code::Place;
use super::owners::{Owner, Owners};
use crate::calltree::StackWeight;
use crate::hash::{HashMap, IndexMap};
use crate::profile::{FunctionId, Profile, StackId, ThreadId};
use crate::report::Amount;
use crate::units::{Unit, Weight};

/// A function, and how it came to run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// The function.
    pub function: FunctionId,
    /// Samples of the function, including system functions that it called: its self weight after [charging](crate::calltree::Action::Charge)
    /// system functions to it.
    pub amount: Amount,
    /// The thread on which it weighs most.
    pub thread: ThreadId,
    /// Samples of the function on that thread.
    pub on_thread: Amount,
    /// What triggered most of these samples, if the system functions around the outermost app function show that.
    pub origin: Option<Origin>,
}

/// A trigger is reported if it has more than this share of the samples.
const MOST: f64 = 0.5;

/// The samples of one function, in one stack of one thread.
#[derive(Clone, Copy)]
struct Part {
    /// The part of the stack that ends in the function.
    place: StackId,
    row: StackWeight,
}

/// The heaviest functions, at most `count`. `places` maps each stack to the function that its time belongs to.
pub(super) fn heaviest<'r>(
    profile: &Profile,
    owners: &Owners,
    places: impl Iterator<Item = (&'r StackWeight, Place)> + Clone,
    unit: Unit,
    count: usize,
) -> Vec<Answer> {
    if count == 0 {
        return Vec::new();
    }
    let mut sums = vec![(0_u64, 0_u64); profile.function_ids().len()];
    for (row, place) in places.clone() {
        let sum = &mut sums[place.function.index()];
        *sum = (sum.0.saturating_add(row.weight), sum.1 + row.samples);
    }
    let mut weights: Vec<(FunctionId, (u64, u64))> =
        profile.function_ids().zip(sums).filter(|(_, sum)| sum.0 > 0).collect();
    let name = |id: FunctionId| (profile.function_name(id), id);
    weights.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| name(a.0).cmp(&name(b.0))));
    weights.truncate(count);
    let mut parts: Vec<Vec<Part>> = vec![Vec::new(); weights.len()];
    let mut ranks = vec![None; profile.function_ids().len()];
    for (rank, (id, _)) in weights.iter().enumerate() {
        ranks[id.index()] = Some(rank);
    }
    for (row, Place { stack: place, function }) in places {
        if let Some(rank) = ranks[function.index()] {
            parts[rank].push(Part { place, row: *row });
        }
    }
    let amount = |(weight, samples)| Amount { weight: Weight::new(weight, unit), samples };
    let answers = weights.into_iter().zip(parts).map(|((function, sum), parts)| {
        let (thread, on_thread) = heaviest_key(&parts, |part| part.row.thread);
        let outermost =
            |place| std::iter::successors(Some(place), |&at| owners.caller(profile, at)).last().unwrap_or(place);
        let mut known: HashMap<StackId, Option<Origin>> = HashMap::default();
        let (origin, triggered) = heaviest_key(&parts, |part| {
            let outermost = outermost(part.place);
            *known.entry(outermost).or_insert_with(|| origin(profile, owners, outermost))
        });
        let origin = origin.filter(|_| triggered.0 as f64 > MOST * sum.0 as f64);
        Answer { function, amount: amount(sum), thread, on_thread: amount(on_thread), origin }
    });
    answers.collect()
}

/// What triggered the outermost app frame: the nearest system function above it that shows a trigger.
pub(super) fn origin(profile: &Profile, owners: &Owners, stack: StackId) -> Option<Origin> {
    let mut above = profile.stack(stack).parent;
    while let Some(stack) = above {
        let row = profile.stack(stack);
        if matches!(owners.of(profile, stack), Owner::Own(own) if own == stack) {
            return None;
        }
        let name = profile.function_name(profile.frame(row.frame).function);
        if let Some(origin) = Origin::of_function(name) {
            return Some(origin);
        }
        above = row.parent;
    }
    None
}

/// The heaviest group by a key, with its weight and samples; the first one in a tie.
fn heaviest_key<K: Copy + Eq + std::hash::Hash>(parts: &[Part], mut key: impl FnMut(&Part) -> K) -> (K, (u64, u64)) {
    let mut sums: IndexMap<K, (u64, u64)> = IndexMap::default();
    for part in parts {
        let sum = sums.entry(key(part)).or_default();
        *sum = (sum.0.saturating_add(part.row.weight), sum.1 + part.row.samples);
    }
    let heaviest = sums.into_iter().reduce(|best, next| if next.1 > best.1 { next } else { best });
    heaviest.expect("a function has parts")
}
