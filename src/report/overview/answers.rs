//! The heaviest functions, each with its thread, its callers, and what called those; and the function that the main thread waits in.

use super::origin::Origin;
use super::own_code::{Found, OwnCode, Place};
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
    /// Samples of the function, including samples of system functions that it called: its self weight after `--charge-system`.
    pub amount: Amount,
    /// The thread on which it weighs most.
    pub thread: ThreadId,
    /// Samples of the function on that thread.
    pub on_thread: Amount,
    /// The functions of the program that called it, the outermost first, by the heaviest caller of each; it is not among them, and
    /// neither are entry points (`main`), nor the system's functions between.
    pub callers: Vec<FunctionId>,
    /// The trigger of the outermost caller, if the system functions around it identify one.
    pub origin: Option<Origin>,
}

/// The samples of one function in one stack and one thread.
#[derive(Clone, Copy)]
struct Part {
    /// The stack that ends in the function.
    place: StackId,
    /// The stack that ends in its caller that was found last; at first `place`.
    at: StackId,
    row: StackWeight,
}

/// The heaviest functions, at most `count`. `places` has the function that the time of each stack belongs to.
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
            parts[rank].push(Part { place, at: place, row: *row });
        }
    }
    let amount = |(weight, samples)| Amount { weight: Weight::new(weight, unit), samples };
    let answers = weights.into_iter().zip(parts).map(|((function, sum), parts)| {
        let (thread, on_thread) = heaviest_key(&parts, |part| part.row.thread);
        let (callers, origin) = callers(profile, owners, parts);
        Answer { function, amount: amount(sum), thread, on_thread: amount(on_thread), callers, origin }
    });
    answers.collect()
}

/// The callers of a function, outermost first, and their trigger. Each caller is the heaviest caller of the next function; samples with
/// other callers are ignored.
fn callers(profile: &Profile, owners: &Owners, mut parts: Vec<Part>) -> (Vec<FunctionId>, Option<Origin>) {
    let function = |stack: StackId| profile.frame(profile.stack(stack).frame).function;
    let mut callers = Vec::new();
    loop {
        let (next, _) = heaviest_key(&parts, |part| owners.caller(profile, part.at).map(function));
        parts.retain(|part| owners.caller(profile, part.at).map(function) == next);
        let Some(next) = next else { break };
        // Recursion adds no information.
        if callers.last() != Some(&next) {
            callers.push(next);
        }
        for part in &mut parts {
            part.at = owners.caller(profile, part.at).unwrap_or(part.at);
        }
    }
    let called = parts.first().map(|part| function(part.place));
    if callers.first() == called.as_ref() {
        callers.remove(0);
    }
    callers.reverse();
    let entries = callers.iter().take_while(|&&id| owners.is_entry_point(id)).count();
    callers.drain(..entries);
    let (origin, _) = heaviest_key(&parts, |part| origin(profile, owners, part.at));
    (callers, origin)
}

/// The trigger of the outermost frame of app code: the nearest system function above it that identifies one.
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

/// The heaviest group by a key, with its weight and samples. Among equal groups, it is the group of the first part.
fn heaviest_key<K: Copy + Eq + std::hash::Hash>(parts: &[Part], key: impl Fn(&Part) -> K) -> (K, (u64, u64)) {
    let mut sums: HashMap<K, (u64, u64)> = HashMap::default();
    for part in parts {
        let sum = sums.entry(key(part)).or_default();
        *sum = (sum.0.saturating_add(part.row.weight), sum.1 + part.row.samples);
    }
    let mut best = (key(&parts[0]), sums[&key(&parts[0])]);
    for part in parts {
        let sum = sums[&key(part)];
        if sum > best.1 {
            best = (key(part), sum);
        }
    }
    best
}

/// A main thread that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wait {
    /// The main thread with most samples.
    pub thread: ThreadId,
    /// All samples of the thread.
    pub of_thread: Amount,
    /// Samples in which the thread waits.
    pub waiting: Amount,
    /// The function that it waits in most.
    pub function: FunctionId,
    /// The function of app code that called it in most of these samples; `None` if there is no such function.
    pub asked_by: Option<FunctionId>,
}

/// The main thread with most samples, if it waits.
pub(super) fn wait<'r>(
    profile: &Profile,
    code: &OwnCode<'_>,
    rows: impl Iterator<Item = (&'r StackWeight, &'r Option<Found>)> + Clone,
    unit: Unit,
) -> Option<Wait> {
    let is_main = |row: &StackWeight| profile.thread(row.thread).is_main;
    let of_thread = most_sampled(rows.clone().filter(|(row, _)| is_main(row)), |row, _| Some(row.thread))?;
    let of_main = || rows.clone().filter(|(row, _)| row.thread == of_thread);
    let waits = |(_, found): &(&StackWeight, &Option<Found>)| found.is_some_and(|found| found.waits);
    let leaf = |found: &Option<Found>| found.map(|found| found.leaf.function);
    let function = most_sampled(of_main().filter(waits), |_, found| leaf(found))?;
    let asked_by = |row: &StackWeight| match code.owners.of(profile, row.stack?) {
        Owner::Own(place) => Some(Some(code.function(place))),
        Owner::Unknown(_) | Owner::System => Some(None),
    };
    let in_it = of_main().filter(|(_, found)| leaf(found) == Some(function));
    Some(Wait {
        thread: of_thread,
        of_thread: Amount::of_rows(of_main().map(|(row, _)| row), unit),
        waiting: Amount::of_rows(of_main().filter(waits).map(|(row, _)| row), unit),
        function,
        asked_by: most_sampled(in_it, |row, _| asked_by(row)).flatten(),
    })
}

/// The key with the most samples; the first one among equal keys.
fn most_sampled<'r, K: Copy + Eq + std::hash::Hash>(
    rows: impl Iterator<Item = (&'r StackWeight, &'r Option<Found>)>,
    key: impl Fn(&StackWeight, &Option<Found>) -> Option<K>,
) -> Option<K> {
    let mut sums: IndexMap<K, u64> = IndexMap::default();
    for (row, key) in rows.filter_map(|(row, found)| Some((row, key(row, found)?))) {
        *sums.entry(key).or_default() += row.samples;
    }
    sums.into_iter().rev().max_by_key(|&(_, samples)| samples).map(|(key, _)| key)
}
