//! Call trees from the leaves up: functions by self weight, with their callers below.
//!
//! It is the tree of inverted stacks ([`Action::Invert`](super::Action::Invert)), but each level is made from the tree of callees when it is
//! looked at: inverting hundreds of thousands of stacks takes seconds.

use super::forest::WeighedForest;
use super::keyed::KeySums;
use super::tree::{Label, order_labels};

/// A node of the tree from the leaves up: a function, below the callees on the way from a leaf.
#[derive(Clone, Debug)]
pub struct CallerNode {
    /// The function; [`Label::Root`] above all leaves.
    pub label: Label,
    /// The number of levels below the root.
    pub depth: u32,
    /// All weight is the weight of samples that end this way; self weight is the part of it whose outermost function this is.
    pub sums: KeySums,
    /// Where samples end, and the node of the forest that this node is for them.
    ends: Vec<(u32, u32)>,
}

impl CallerNode {
    /// Returns the nodes of the forest that it consists of.
    pub fn nodes(&self) -> impl Iterator<Item = u32> + '_ {
        self.ends.iter().map(|&(_, node)| node)
    }
}

/// Finds callers. Its tables are as long as the list of functions, and are reused.
#[derive(Debug)]
pub struct Callers<'f> {
    tree: WeighedForest<'f>,
    /// By label: the callers that are being collected, and the number of their ends.
    groups: Vec<(KeySums, u32)>,
}

impl<'f> Callers<'f> {
    /// Prepares for a tree.
    pub fn new(tree: WeighedForest<'f>) -> Self {
        Self { tree, groups: vec![(KeySums::default(), 0); tree.forest.label_count()] }
    }

    /// Returns the root, of which the leaves are the children.
    pub fn root(&self) -> CallerNode {
        let sums = KeySums { self_weight: 0, self_samples: 0, ..self.tree.weights.total() };
        CallerNode { label: Label::Root, depth: 0, sums, ends: self.tree.ends().collect() }
    }

    /// Returns the callers of a node that weigh at least this much, heaviest first.
    pub fn of(&mut self, node: &CallerNode, least: f64) -> Vec<CallerNode> {
        let Self { tree, groups } = self;
        let forest = tree.forest;
        // The nodes of the root are the leaves themselves.
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
