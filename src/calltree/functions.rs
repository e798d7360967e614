//! A tree summed by function.

use super::merge::order_labels;
use super::tree::{CallTree, Label};
use super::weights::StackWeight;
use crate::hash::HashMap;
use crate::profile::{FunctionId, Profile, StackId};

/// What a function weighs over all places of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionRow {
    /// The function, or samples without stack.
    pub label: Label,
    /// Weight of samples whose leaf it is.
    pub self_weight: u64,
    /// Weight of samples that have it anywhere in their stack; once each, however often it recurs.
    pub all_weight: u64,
    /// Samples whose leaf it is.
    pub self_samples: u64,
    /// Samples that have it anywhere in their stack.
    pub all_samples: u64,
}

/// The functions of a whole tree, by self weight, then all weight, then name. What pruning hid in a tree is missing here.
pub fn functions(profile: &Profile, tree: &CallTree) -> Vec<FunctionRow> {
    let mut rows: Vec<FunctionRow> = Vec::new();
    let mut row_of: HashMap<Label, usize> = HashMap::default();
    // How often each row is on the path from the root to the node at hand.
    let mut on_path: Vec<u32> = Vec::new();
    let mut path: Vec<usize> = Vec::new();
    for node in &tree.nodes()[1..] {
        for row in path.drain(node.depth as usize - 1..) {
            on_path[row] -= 1;
        }
        let row = *row_of.entry(node.label).or_insert_with(|| {
            let (label, self_weight, all_weight, self_samples, all_samples) = (node.label, 0, 0, 0, 0);
            rows.push(FunctionRow { label, self_weight, all_weight, self_samples, all_samples });
            on_path.push(0);
            rows.len() - 1
        });
        rows[row].self_weight += node.self_weight;
        rows[row].self_samples += node.self_samples;
        if on_path[row] == 0 {
            rows[row].all_weight += node.all_weight;
            rows[row].all_samples += node.all_samples;
        }
        on_path[row] += 1;
        path.push(row);
    }
    sort(profile, &mut rows);
    rows
}

/// The functions of stacks, which is what [`functions`] says of their [`tree`](super::Merger::tree). No tree is made: it
/// takes memory for each function and not for each place in a tree.
pub fn functions_of_stacks(profile: &Profile, weights: &[StackWeight]) -> Vec<FunctionRow> {
    let mut order: Vec<&StackWeight> = weights.iter().collect();
    // The stacks of one thread, in the order of their first sight, share much of their path with the one before. Where
    // threads share their stacks, it is cheaper to have equal ones together.
    let mut is_seen = vec![false; profile.stack_ids().len()];
    let mut is_new = |row: &&StackWeight| row.stack.is_none_or(|id| !std::mem::replace(&mut is_seen[id.index()], true));
    if 2 * weights.iter().filter(|row| is_new(row)).count() < weights.len() {
        order.sort_by_key(|row| row.stack);
    }
    let mut sums = Sums {
        profile,
        function_of_frame: profile.frame_ids().map(|id| profile.frame(id).function).collect(),
        functions: vec![Open::default(); profile.function_ids().len()],
        path: Vec::new(),
        below: Vec::new(),
    };
    let mut no_stack = Sum::default();
    for row in order {
        match row.stack {
            Some(stack) => sums.add(stack, Sum { weight: row.weight, samples: row.samples, rows: 1 }),
            None => no_stack.add(Sum { weight: row.weight, samples: row.samples, rows: 1 }),
        }
    }
    sums.leave(0);
    let of_functions = profile.function_ids().zip(&sums.functions);
    let of_functions = of_functions.map(|(id, sums)| (Label::Function(id), sums.own, sums.all));
    let found = of_functions.chain([(Label::NoStack, no_stack, no_stack)]).filter(|(_, _, all)| all.rows > 0);
    let found = found.map(|(label, own, all)| FunctionRow {
        label,
        self_weight: own.weight,
        all_weight: all.weight,
        self_samples: own.samples,
        all_samples: all.samples,
    });
    let mut rows: Vec<FunctionRow> = found.collect();
    sort(profile, &mut rows);
    rows
}

/// Sums over stacks that are visited one after the other.
struct Sums<'p> {
    profile: &'p Profile,
    function_of_frame: Vec<FunctionId>,
    functions: Vec<Open>,
    /// From the root to the stack at hand: what stands below each and was not added to its function yet.
    path: Vec<Level>,
    /// Stacks that are about to be entered.
    below: Vec<StackId>,
}

/// What is known of a function, and how often it is on the path.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    on_path: u32,
    own: Sum,
    all: Sum,
}

/// A stack on the path.
struct Level {
    stack: StackId,
    function: FunctionId,
    sum: Sum,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    weight: u64,
    samples: u64,
    rows: u64,
}

impl Sum {
    fn add(&mut self, other: Self) {
        // The weights of one series fit; those of several are not to be added, but must not wrap either.
        self.weight = self.weight.saturating_add(other.weight);
        self.samples += other.samples;
        self.rows += other.rows;
    }
}

impl Sums<'_> {
    fn add(&mut self, stack: StackId, sum: Sum) {
        // Ids rise from the root to the leaf, so what is not above the stack is found by comparing ids.
        let mut next = Some(stack);
        let mut shared = self.path.len();
        while let Some(stack) = next {
            while shared > 0 && self.path[shared - 1].stack > stack {
                shared -= 1;
            }
            if shared > 0 && self.path[shared - 1].stack == stack {
                break;
            }
            self.below.push(stack);
            next = self.profile.stack(stack).parent;
        }
        self.leave(if next.is_some() { shared } else { 0 });
        while let Some(stack) = self.below.pop() {
            let function = self.function_of_frame[self.profile.stack(stack).frame.index()];
            self.functions[function.index()].on_path += 1;
            self.path.push(Level { stack, function, sum: Sum::default() });
        }
        if let Some(leaf) = self.path.last_mut() {
            leaf.sum.add(sum);
            self.functions[leaf.function.index()].own.add(sum);
        }
    }

    /// Shortens the path: what stands below goes to the functions, and to what is left of the path.
    fn leave(&mut self, length: usize) {
        while self.path.len() > length {
            let Some(level) = self.path.pop() else { return };
            let function = &mut self.functions[level.function.index()];
            function.on_path -= 1;
            // Further in, it is counted where the path meets it first.
            if function.on_path == 0 {
                function.all.add(level.sum);
            }
            if let Some(above) = self.path.last_mut() {
                above.sum.add(level.sum);
            }
        }
    }
}

fn sort(profile: &Profile, rows: &mut [FunctionRow]) {
    rows.sort_unstable_by(|a, b| {
        let by_weight = b.self_weight.cmp(&a.self_weight).then(b.all_weight.cmp(&a.all_weight));
        by_weight.then_with(|| order_labels(profile, a.label, b.label))
    });
}
