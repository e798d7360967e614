//! Answers about two recordings.

use std::rc::Rc;
use std::sync::Arc;

use traceparse::calltree::KeySums;
use traceparse::output::FlameBox;
use traceparse::report::diff::{Change, Diff, DiffRow, FunctionKey, Functions, Presence, Sides};

use super::flame::{Frame, PathNumbers, model, place, set_boxes};
use super::trees::{Tree, is_match, open_rows};
use super::{NO_STACK, ROOT};
use crate::protocol::{
    Answer, Boxes, ChangeColumns, ChangedRows, DiffTableOf, DiffTotal, LabelledRows, Normalize, Range, Rows, Widths,
};
use crate::view::View;

const TOP: usize = 12;
/// Functions with fewer samples in both recordings in total are rarely marked. The command uses the same limit.
const TOLD: u64 = 20;

/// The changes between two selections.
pub(crate) struct Changes {
    pub(crate) before: Rc<View>,
    pub(crate) after: Rc<View>,
    pub(crate) diff: Diff,
    pub(crate) functions: Arc<Functions>,
    pub(crate) normalize: Normalize,
}

impl Changes {
    fn total(&self) -> DiffTotal {
        let Sides { before, after, .. } = self.diff.total;
        DiffTotal {
            rows: self.rows([&self.diff.total]),
            samples: [before.sums.all_samples as f64, after.sums.all_samples as f64],
            normalize: self.normalize,
            factor: self.diff.factor,
            is_scaled: self.diff.is_scaled,
        }
    }

    fn rows<'s>(&self, rows: impl IntoIterator<Item = &'s Sides>) -> ChangedRows {
        let mut found = ChangedRows::default();
        for sides in rows {
            found.count += 1;
            let (own, all) = (self.diff.self_change(sides), self.diff.all_change(sides));
            found.own.push(sides, own, |sums| sums.self_weight);
            found.all.push(sides, all, |sums| sums.all_weight);
            found.presence.0.push(match sides.presence() {
                Presence::Both => 0,
                Presence::New => 1,
                Presence::Vanished => 2,
            });
        }
        found
    }

    /// The label of a matched function. The first number represents samples without a stack.
    fn label(number: Option<usize>) -> i32 {
        match number {
            None => ROOT,
            Some(0) => NO_STACK,
            Some(number) => number as i32,
        }
    }

    /// The label of a node.
    fn label_of(&self, node: u32) -> i32 {
        Self::label(self.diff.tree().function(node))
    }
}

impl ChangeColumns {
    fn push(&mut self, sides: &Sides, change: Change, weight: impl Fn(&KeySums) -> u64) {
        self.before.0.push(weight(&sides.before.sums));
        self.after.0.push(weight(&sides.after.sums));
        self.change.0.push(change.weight);
        self.noise.0.push(change.noise);
        self.is_beyond.0.push(change.is_beyond_noise().into());
    }
}

pub(crate) fn table(changes: &Changes, of: DiffTableOf) -> Answer {
    let rows = match of {
        DiffTableOf::Functions => &changes.diff.functions,
        DiffTableOf::Own => &changes.diff.own_functions,
        DiffTableOf::Binaries => &changes.diff.binaries,
    };
    let is_binary = of == DiffTableOf::Binaries;
    let label = |row: &DiffRow| if is_binary { NO_STACK } else { Changes::label(Some(row.number)) };
    let name = |row: &DiffRow| match (&row.function.key, &row.function.binary) {
        (FunctionKey::NoStack, _) => traceparse::report::Report::NO_STACK.to_owned(),
        (_, Some(binary)) => binary.clone(),
        (_, None) => traceparse::report::Report::NO_BINARY.to_owned(),
    };
    Answer::DiffTable {
        total: changes.total(),
        label: rows.iter().map(label).collect(),
        name: rows.iter().filter(|_| is_binary).map(name).collect(),
        rows: changes.rows(rows.iter().map(|row| &row.sides)),
    }
}

pub(crate) fn overview(changes: &Changes) -> Answer {
    let Diff { functions, own_functions, .. } = &changes.diff;
    let is_own = !own_functions.is_empty();
    let tried = if is_own { own_functions } else { functions };
    let is_told = |row: &&DiffRow| row.sides.before.sums.self_samples + row.sides.after.sums.self_samples >= TOLD;
    let told = tried.iter().filter(is_told);
    let top = |rows: &[DiffRow]| {
        let changed: Vec<&DiffRow> = rows.iter().filter(|row| row.self_change.weight != 0.0).take(TOP).collect();
        let label = changed.iter().map(|row| Changes::label(Some(row.number))).collect();
        LabelledRows { label, rows: changes.rows(changed.iter().map(|row| &row.sides)) }
    };
    Answer::DiffOverview {
        total: changes.total(),
        own: top(own_functions),
        all: top(functions),
        functions: tried.len(),
        is_own,
        told: told.clone().count(),
        changed: told.filter(|row| row.self_change.is_beyond_noise()).count(),
    }
}

/// The change of a function; no row if no selected sample contains it.
pub(crate) fn of_function(changes: &Changes, label: i32) -> Answer {
    let found = changes.diff.functions.iter().filter(|row| Changes::label(Some(row.number)) == label);
    Answer::DiffOf { total: changes.total(), rows: changes.rows(found.map(|row| &row.sides)) }
}

/// The merged tree of both recordings.
struct Both<'c> {
    changes: &'c Changes,
    matches: Option<&'c [u8]>,
    towards: Vec<bool>,
}

impl Tree for Both<'_> {
    type Row = u32;

    fn roots(&self) -> Vec<u32> {
        self.changes.diff.children(0)
    }

    fn children(&self, &node: &u32) -> Vec<u32> {
        self.changes.diff.children(node)
    }

    fn label(&self, &node: &u32) -> i32 {
        self.changes.label_of(node)
    }

    /// The heaviest path follows the largest changes.
    fn weight(&self, &node: &u32) -> f64 {
        self.changes.diff.all_change(&self.changes.diff.sides(node)).weight.abs()
    }

    fn has_children(&self, &node: &u32) -> bool {
        let Sides { before, after, .. } = self.changes.diff.sides(node);
        before.sums.all_samples + after.sums.all_samples > before.sums.self_samples + after.sums.self_samples
    }

    fn is_match(&self, node: &u32) -> bool {
        is_match(self.matches, self.label(node))
    }

    fn has_match(&self, &node: &u32) -> bool {
        self.towards.get(node as usize) == Some(&true)
    }
}

/// `matches` contains the functions of both recordings that are searched for.
pub(crate) fn tree(changes: &Changes, ask: &Rows, matches: Option<&[u8]>) -> Answer {
    let mut towards = vec![false; if matches.is_some() { changes.diff.tree().len() } else { 0 }];
    for node in (1..towards.len() as u32).rev() {
        if towards[node as usize] || is_match(matches, changes.label_of(node)) && changes.diff.sides(node).has_samples()
        {
            towards[node as usize] = true;
            towards[changes.diff.tree().parent(node) as usize] = true;
        }
    }
    let tree = Both { changes, matches, towards };
    let shown = open_rows(&tree, true, ask);
    let labels = shown.rows.iter().map(|(_, row)| tree.label(row)).collect();
    let sides: Vec<Sides> = shown.rows.iter().map(|&(_, node)| changes.diff.sides(node)).collect();
    let rows = changes.rows(&sides);
    Answer::DiffTree { total: changes.total(), tree: shown.into_tree_rows(labels), rows }
}

/// The minimum changes for each colour step, in percent of the weight before, as in the command's differential flame graphs.
const STEPS: [f64; 4] = [0.0, 1.0, 3.0, 10.0];

/// The change of a node as a number for the colour scale of canvases: between -1 and 1, and 0 for noise.
fn shade(change: Change, before: f64) -> f32 {
    if !change.is_beyond_noise() {
        return 0.0;
    }
    let percent = 100.0 * change.weight.abs() / before.max(1.0);
    // Allow for rounding: 3.3 - 2.3 is slightly less than 1.
    let step = STEPS.iter().filter(|&&from| percent >= from - 1e-9).count() as f64;
    // Squared, since canvases take the square root.
    (change.weight.signum() * ((step - 0.5) / STEPS.len() as f64).powi(2)) as f32
}

pub(crate) fn flame(changes: &Changes, widths: Widths, ask: &Boxes, numbers: &mut PathNumbers) -> Answer {
    let side = |sides: &Sides| match widths {
        Widths::Before => sides.before.sums,
        Widths::After => sides.after.sums,
    };
    let of = |node: u32| side(&changes.diff.sides(node));
    let total = of(0).all_weight as f64;
    let range = Range { start: 0.0, end: total };
    let frame = Frame::new(ask, range);
    let name = |node: u32| changes.diff.tree().function(node).and_then(|number| changes.functions.iter().nth(number));
    let children = |node: u32| {
        let shown = changes.diff.children(node).into_iter().map(|child| (of(child), child));
        let is_shown = |(sums, _): &(KeySums, u32)| sums.all_samples > 0 && sums.all_weight as f64 >= frame.least;
        let mut children: Vec<(KeySums, u32)> = shown.filter(is_shown).collect();
        let key = |sums: &KeySums| (sums.all_weight, sums.all_samples);
        children.sort_unstable_by(|a, b| key(&b.0).cmp(&key(&a.0)).then_with(|| name(a.1).cmp(&name(b.1))));
        children.into_iter().map(|(_, node)| node)
    };
    let boxes = place(
        (0, 0),
        frame,
        |&(node, _)| of(node).all_weight,
        |&(node, path)| children(node).map(|child| (child, numbers.below(path, changes.label_of(child)))).collect(),
    );
    let found: Vec<Sides> = boxes.iter().map(|placed| changes.diff.sides(placed.what.0)).collect();
    let sides = || found.iter();
    let functions = changes.functions.iter().len() as i32;
    let label = |placed: &FlameBox<(u32, i32)>| match changes.diff.tree().function(placed.what.0) {
        None => functions + 1,
        Some(0) => functions,
        Some(number) => number as i32,
    };
    let before = changes.diff.total.before.sums.all_weight as f64;
    let mut model = model(ask, total, range, frame);
    model.own = sides().map(|sides| side(sides).self_weight as f64).collect();
    model.label = boxes.iter().map(label).collect();
    model.change = Some(sides().map(|sides| shade(changes.diff.all_change(sides), before)).collect());
    let nodes = boxes.iter().map(|placed| placed.what.1).collect();
    set_boxes(&mut model, nodes, &boxes);
    Answer::DiffFlame { total: changes.total(), model, rows: changes.rows(sides()) }
}
