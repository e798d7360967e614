//! Inverted call trees: functions by self weight, with their callers below.
//!
//! The tree is the same as the tree of inverted stacks ([`Action::Invert`](super::Action::Invert)), but each level is computed on demand from the
//! tree of callees, since inverting hundreds of thousands of stacks takes seconds.

use super::forest::WeighedForest;
use super::key_sums::KeySums;
use super::tree::{Label, order_labels};

/// A node of the inverted tree: a function, below its callees on the path from a leaf.
#[derive(Clone, Debug)]
pub struct CallerNode {
    /// The function; [`Label::Root`] for the root above all leaves.
    pub label: Label,
    /// The number of levels below the root.
    pub depth: u32,
    /// The all weight covers samples whose stacks end with this path; the self weight, the part of them in which this function is outermost.
    pub sums: KeySums,
    /// For each knot where samples end, the forest node that this node represents for these samples.
    ends: Vec<(u32, u32)>,
}

impl CallerNode {
    /// Returns the forest nodes that this node represents.
    pub fn nodes(&self) -> impl Iterator<Item = u32> + '_ {
        self.ends.iter().map(|&(_, node)| node)
    }
}

/// Computes callers. Its tables have one entry per function, and are reused.
#[derive(Debug)]
pub struct Callers<'f> {
    tree: WeighedForest<'f>,
    /// For each label, the callers collected so far, and the number of their ends.
    groups: Vec<(KeySums, u32)>,
}

impl<'f> Callers<'f> {
    /// Prepares for a tree.
    pub fn new(tree: WeighedForest<'f>) -> Self {
        Self { tree, groups: vec![(KeySums::default(), 0); tree.forest.label_count()] }
    }

    /// Returns the root, whose children are the leaves.
    pub fn root(&self) -> CallerNode {
        let sums = KeySums { self_weight: 0, self_samples: 0, ..self.tree.weights.total() };
        CallerNode { label: Label::Root, depth: 0, sums, ends: self.tree.ends().collect() }
    }

    /// Returns the callers of a node with at least the weight `least`, heaviest first.
    pub fn of(&mut self, node: &CallerNode, least: f64) -> Vec<CallerNode> {
        let Self { tree, groups } = self;
        let forest = tree.forest;
        // For the root, the next nodes are the leaves.
        let next = |at: u32| if node.depth == 0 { at } else { forest.parent(at) };
        let mut touched = Vec::new();
        for &(knot, at) in &node.ends {
            let at = next(at);
            if at == 0 {
                continue;
            }
            let own = tree.own(knot);
            let (sums, count) = &mut groups[forest.label_number(at)];
            if *count == 0 {
                touched.push(forest.label_number(at));
            }
            *count += 1;
            sums.add_all(own.self_weight, own.self_samples);
            if forest.parent(at) == 0 {
                sums.add_self(own.self_weight, own.self_samples);
            }
        }
        let heavy = touched.iter().filter(|&&label| groups[label].0.all_weight as f64 >= least);
        let mut found: Vec<(usize, CallerNode)> = heavy
            .map(|&label| {
                let (sums, count) = groups[label];
                let ends = Vec::with_capacity(count as usize);
                (label, CallerNode { label: forest.numbered_label(label), depth: node.depth + 1, sums, ends })
            })
            .collect();
        for &label in &touched {
            groups[label] = (KeySums::default(), 0);
        }
        found.sort_unstable_by(|(_, a), (_, b)| {
            let key = |node: &CallerNode| (node.sums.all_weight, node.sums.all_samples);
            key(b).cmp(&key(a)).then_with(|| order_labels(tree.profile, a.label, b.label))
        });
        for (place, (label, _)) in (1..).zip(&found) {
            groups[*label].1 = place;
        }
        for &(knot, at) in &node.ends {
            let at = next(at);
            let place = if at == 0 { 0 } else { groups[forest.label_number(at)].1 };
            if let Some(place) = (place as usize).checked_sub(1) {
                found[place].1.ends.push((knot, at));
            }
        }
        for (label, _) in &found {
            groups[*label].1 = 0;
        }
        found.into_iter().map(|(_, node)| node).collect()
    }
}
