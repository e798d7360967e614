//! The open rows of a top-down or bottom-up tree, and the path to a match.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};

use traceparse::calltree::{CallerNode, Callers, KeySums, WeighedForest};

use super::label_number;
use crate::protocol::{
    Answer, Direction, Expand, FindAsk, Found, MatchPlace, NotFound, OpenRows, Rows, SeparateBy, TreeRows,
};
use crate::view::{Parts, View};
use crate::wire::{I32s, Refused, U8s};

/// The maximum number of rows in one answer.
const MOST_ROWS: usize = 50_000;
/// The maximum number of matches that are counted.
const MOST_MATCHES: u32 = 10_000;
/// The maximum number of rows opened by expanding everything below a row.
const MOST_OPENED: usize = 5_000;
/// The heaviest path is opened as long as its next row has at least this share of its parent.
const HEAVY: f64 = 0.5;
const MOST_HEAVY: usize = 24;

/// A tree whose rows are computed on demand.
pub(crate) trait Tree {
    type Row: Clone;

    fn roots(&self) -> Vec<Self::Row>;
    fn children(&self, row: &Self::Row) -> Vec<Self::Row>;
    fn label(&self, row: &Self::Row) -> i32;
    /// The weight that determines the heaviest path.
    fn weight(&self, row: &Self::Row) -> f64;
    /// True unless all samples of the row end in it.
    fn has_children(&self, row: &Self::Row) -> bool;
    fn is_match(&self, row: &Self::Row) -> bool;
    /// True if the row or a row below it matches.
    fn has_match(&self, row: &Self::Row) -> bool;
}

/// Open rows by label, each with the open rows below it.
#[derive(Debug, Default)]
struct Opened(BTreeMap<i32, Opened>);

/// The rows to show.
pub(crate) struct Shown<R> {
    /// The rows with their depths, from 1.
    pub(crate) rows: Vec<(u32, R)>,
    flags: Vec<u8>,
    is_cut: bool,
    found: Option<Found>,
    found_match: Option<MatchPlace>,
}

impl<R> Shown<R> {
    pub(crate) fn into_tree_rows(self, labels: I32s) -> TreeRows {
        TreeRows {
            depth: self.rows.iter().map(|&(depth, _)| depth as i32).collect(),
            label: labels,
            flags: U8s(self.flags),
            is_cut: self.is_cut,
            found: self.found,
            found_match: self.found_match,
        }
    }
}

/// Computes the open rows. By default, these are the rows of the heaviest path, if `opens_heaviest`.
pub(crate) fn open_rows<T: Tree>(tree: &T, opens_heaviest: bool, ask: &Rows) -> Shown<T::Row> {
    let roots = tree.roots();
    let mut opened = match &ask.open {
        Some(open) => opened_of(open),
        None if opens_heaviest => heavy_path(tree, &roots),
        None => Opened::default(),
    };
    if let Some(ask) = &ask.expand {
        expand(tree, &roots, &mut opened, ask);
    }
    let path = ask.find.as_ref().map(|find| path_to_match(tree, &roots, find));
    if let Some(Some(path)) = &path {
        path.split_last()
            .map_or(&[][..], |(_, above)| above)
            .iter()
            .fold(&mut opened, |at, &label| at.0.entry(label).or_default());
    }
    let mut shown = Shown { rows: Vec::new(), flags: Vec::new(), is_cut: false, found: None, found_match: None };
    shown.is_cut = !collect(tree, &roots, &opened, 1, &mut shown);
    shown.found_match = path.as_ref().and_then(Option::as_ref).map(|path| place_of_match(tree, &roots, path));
    shown.found = path.map(|path| match path {
        Some(path) => row_of_path(tree, &shown.rows, &path),
        None => Found::Not(NotFound::None),
    });
    shown
}

fn opened_of(OpenRows { depth, label }: &OpenRows) -> Opened {
    let mut top = Opened::default();
    let mut path: Vec<i32> = Vec::new();
    for (&depth, &label) in depth.iter().zip(label) {
        if depth as usize > path.len() + 1 {
            // The parent of this row is not open.
            continue;
        }
        path.truncate((depth as usize).saturating_sub(1));
        path.push(label);
        path.iter().fold(&mut top, |at, &label| at.0.entry(label).or_default());
    }
    top
}

fn heavy_path<T: Tree>(tree: &T, roots: &[T::Row]) -> Opened {
    let mut path = Vec::new();
    let (mut rows, mut above) = (roots.to_vec(), None);
    while let Some(heaviest) = rows.first().filter(|row| path.len() < MOST_HEAVY && tree.has_children(row)) {
        let weight = tree.weight(heaviest);
        if above.is_some_and(|above: f64| weight < HEAVY * above) {
            break;
        }
        path.push(tree.label(heaviest));
        above = Some(weight);
        rows = tree.children(heaviest);
    }
    let mut top = Opened::default();
    path.into_iter().fold(&mut top, |at, label| at.0.entry(label).or_default());
    top
}

/// Opens a row and everything below it, or only the chain that starts with it.
fn expand<T: Tree>(tree: &T, roots: &[T::Row], opened: &mut Opened, ask: &Expand) {
    let (mut rows, mut at) = (roots.to_vec(), opened);
    for &label in &ask.path {
        let Some(row) = rows.iter().find(|row| tree.label(row) == label) else { return };
        rows = tree.children(row);
        at = at.0.entry(label).or_default();
    }
    let mut left = MOST_OPENED;
    let mut todo = VecDeque::from([(rows, at)]);
    while let Some((rows, at)) = todo.pop_front() {
        if ask.only_chain && rows.len() > 1 {
            return;
        }
        for row in rows.iter().filter(|row| tree.has_children(row)) {
            if left == 0 {
                return;
            }
            left -= 1;
            at.0.entry(tree.label(row)).or_default();
        }
        let mut below: BTreeMap<i32, &mut Opened> = at.0.iter_mut().map(|(&label, below)| (label, below)).collect();
        for row in rows.iter().filter(|row| tree.has_children(row)) {
            if let Some(below) = below.remove(&tree.label(row)) {
                todo.push_back((tree.children(row), below));
            }
        }
    }
}

/// Adds the visible rows in preorder. Returns false if there are too many.
fn collect<T: Tree>(tree: &T, rows: &[T::Row], opened: &Opened, depth: u32, shown: &mut Shown<T::Row>) -> bool {
    // Iterative, since trees may be deeper than the program's stack.
    let mut todo: Vec<(u32, T::Row, Option<&Opened>)> = Vec::new();
    todo.extend(rows.iter().rev().map(|row| (depth, row.clone(), opened.0.get(&tree.label(row)))));
    while let Some((depth, row, below)) = todo.pop() {
        if shown.rows.len() == MOST_ROWS {
            return false;
        }
        let below = below.filter(|_| tree.has_children(&row));
        shown.flags.push(u8::from(tree.has_children(&row)) + 2 * u8::from(below.is_some()));
        if let Some(below) = below {
            let children = tree.children(&row);
            todo.extend(children.into_iter().rev().map(|row| (depth + 1, row.clone(), below.0.get(&tree.label(&row)))));
        }
        shown.rows.push((depth, row));
    }
    true
}

/// Finds the row of a path of labels, unless there are too many rows before it.
fn row_of_path<T: Tree>(tree: &T, rows: &[(u32, T::Row)], path: &[i32]) -> Found {
    let mut level = 0;
    for (place, (depth, row)) in rows.iter().enumerate() {
        if *depth as usize == level + 1 && path.get(level) == Some(&tree.label(row)) {
            level += 1;
            if level == path.len() {
                return Found::Row(place as u32);
            }
        }
    }
    Found::Not(NotFound::Beyond)
}

/// The place of a path among all matches, in the order of the tree.
fn place_of_match<T: Tree>(tree: &T, roots: &[T::Row], path: &[i32]) -> MatchPlace {
    let (mut at, mut of) = (None, 0);
    // The level of a row whose callers are on the path.
    let mut todo: Vec<(Option<usize>, T::Row)> = roots.iter().rev().map(|row| (Some(0), row.clone())).collect();
    while let Some((level, row)) = todo.pop() {
        if !tree.has_match(&row) {
            continue;
        }
        let level = level.filter(|&level| path.get(level) == Some(&tree.label(&row)));
        if tree.is_match(&row) {
            if of == MOST_MATCHES {
                return MatchPlace { at, of, is_all: false };
            }
            of += 1;
            at = at.or((level.is_some() && level == path.len().checked_sub(1)).then_some(of));
        }
        todo.extend(tree.children(&row).into_iter().rev().map(|child| (level.map(|level| level + 1), child)));
    }
    MatchPlace { at, of, is_all: true }
}

/// The rows of one level, and the index of the row on the path.
struct Level<R> {
    rows: Vec<R>,
    at: usize,
}

impl<R> Level<R> {
    fn row(&self) -> &R {
        &self.rows[self.at]
    }
}

/// The labels on the path to a match: the one that is `steps` matches after the row of a path, or before it if negative. Matches are counted in the
/// order of the tree, including closed rows, and wrap around at the ends. `None` if nothing matches.
fn path_to_match<T: Tree>(tree: &T, roots: &[T::Row], find: &FindAsk) -> Option<Vec<i32>> {
    let mut levels = levels_of(tree, roots, &find.path);
    let mut left = find.steps.unsigned_abs();
    if find.is_here && left > 0 && levels.last().is_some_and(|here| tree.is_match(here.row())) {
        left -= 1;
    }
    for _ in 0..left {
        levels = if find.steps > 0 {
            let first = || first_of(tree, roots.to_vec(), 0);
            next(tree, roots, levels).or_else(|| Some(first()).filter(|levels| !levels.is_empty()))?
        } else {
            let last = || last_of(tree, roots.to_vec(), roots.len());
            previous(tree, levels).or_else(|| Some(last()).filter(|levels| !levels.is_empty()))?
        };
    }
    Some(levels.iter().map(|level| tree.label(level.row())).collect())
}

/// The levels of a path, as far as the path exists in the tree.
fn levels_of<T: Tree>(tree: &T, roots: &[T::Row], path: &[i32]) -> Vec<Level<T::Row>> {
    let mut levels: Vec<Level<T::Row>> = Vec::new();
    for &label in path {
        let rows = levels.last().map_or_else(|| roots.to_vec(), |level| tree.children(level.row()));
        let Some(at) = rows.iter().position(|row| tree.label(row) == label) else { break };
        levels.push(Level { rows, at });
    }
    levels
}

/// The first match after a row: below it, or after it or one of its ancestors.
fn next<T: Tree>(tree: &T, roots: &[T::Row], mut levels: Vec<Level<T::Row>>) -> Option<Vec<Level<T::Row>>> {
    let below = levels.last().map_or_else(|| roots.to_vec(), |level| tree.children(level.row()));
    let found = first_of(tree, below, 0);
    if !found.is_empty() {
        levels.extend(found);
        return Some(levels);
    }
    while let Some(Level { rows, at }) = levels.pop() {
        let found = first_of(tree, rows, at + 1);
        if !found.is_empty() {
            levels.extend(found);
            return Some(levels);
        }
    }
    None
}

/// The last match before a row: below an earlier row, or one of its ancestors.
fn previous<T: Tree>(tree: &T, mut levels: Vec<Level<T::Row>>) -> Option<Vec<Level<T::Row>>> {
    while let Some(Level { rows, at }) = levels.pop() {
        let found = last_of(tree, rows, at);
        if !found.is_empty() {
            levels.extend(found);
            return Some(levels);
        }
        if levels.last().is_some_and(|above| tree.is_match(above.row())) {
            return Some(levels);
        }
    }
    None
}

/// The levels to the first match in or below these rows, starting at index `from`.
fn first_of<T: Tree>(tree: &T, mut rows: Vec<T::Row>, from: usize) -> Vec<Level<T::Row>> {
    let mut levels = Vec::new();
    let mut at = rows.iter().skip(from).position(|row| tree.has_match(row)).map(|at| at + from);
    while let Some(place) = at {
        let (is_match, children) = (tree.is_match(&rows[place]), tree.children(&rows[place]));
        levels.push(Level { rows, at: place });
        if is_match {
            break;
        }
        rows = children;
        at = rows.iter().position(|row| tree.has_match(row));
    }
    levels
}

/// The levels to the last match in or below the rows before index `before`. Rows precede the rows below them.
fn last_of<T: Tree>(tree: &T, mut rows: Vec<T::Row>, before: usize) -> Vec<Level<T::Row>> {
    let mut levels = Vec::new();
    let mut at = rows[..before].iter().rposition(|row| tree.has_match(row));
    while let Some(place) = at {
        let children = tree.children(&rows[place]);
        levels.push(Level { rows, at: place });
        rows = children;
        at = rows.iter().rposition(|row| tree.has_match(row));
    }
    levels
}

/// A top-down tree, from callers to callees.
struct Down<'v> {
    tree: WeighedForest<'v>,
    matches: Option<&'v [u8]>,
    towards: Vec<bool>,
}

impl Tree for Down<'_> {
    type Row = u32;

    fn roots(&self) -> Vec<u32> {
        self.tree.children(0, 0.0)
    }

    fn children(&self, &node: &u32) -> Vec<u32> {
        self.tree.children(node, 0.0)
    }

    fn label(&self, &node: &u32) -> i32 {
        label_number(self.tree.forest.label(node))
    }

    fn weight(&self, &node: &u32) -> f64 {
        self.tree.sums(node).all_weight as f64
    }

    fn has_children(&self, &node: &u32) -> bool {
        let KeySums { all_samples, self_samples, .. } = self.tree.sums(node);
        all_samples > self_samples
    }

    fn is_match(&self, node: &u32) -> bool {
        is_match(self.matches, self.label(node))
    }

    fn has_match(&self, &node: &u32) -> bool {
        self.towards.get(node as usize) == Some(&true)
    }
}

/// A bottom-up tree, from callees to callers.
struct Up<'v> {
    callers: RefCell<Callers<'v>>,
    matches: Option<&'v [u8]>,
    under: Vec<bool>,
}

impl Tree for Up<'_> {
    type Row = CallerNode;

    fn roots(&self) -> Vec<CallerNode> {
        let mut callers = self.callers.borrow_mut();
        let root = callers.root();
        callers.of(&root, 0.0)
    }

    fn children(&self, row: &CallerNode) -> Vec<CallerNode> {
        self.callers.borrow_mut().of(row, 0.0)
    }

    fn label(&self, row: &CallerNode) -> i32 {
        label_number(row.label)
    }

    fn weight(&self, row: &CallerNode) -> f64 {
        row.sums.all_weight as f64
    }

    fn has_children(&self, row: &CallerNode) -> bool {
        row.sums.all_samples > row.sums.self_samples
    }

    fn is_match(&self, row: &CallerNode) -> bool {
        is_match(self.matches, self.label(row))
    }

    fn has_match(&self, row: &CallerNode) -> bool {
        self.is_match(row) || row.nodes().any(|node| self.under.get(node as usize) == Some(&true))
    }
}

pub(crate) fn is_match(matches: Option<&[u8]>, label: i32) -> bool {
    let place = usize::try_from(label).ok();
    matches.zip(place).is_some_and(|(matches, place)| matches.get(place) == Some(&1))
}

/// `matches` contains the functions that are searched for.
pub(crate) fn tree(
    view: &View,
    series: usize,
    (direction, by, part): (Direction, SeparateBy, Option<i32>),
    ask: &Rows,
    matches: Option<&[u8]>,
) -> Result<Answer, Refused> {
    let Parts { parts, part, tree: weights } = view.part_and_tree(series, by, part)?;
    let total = super::tables::total(view, series);
    let empty = view.base.forest().weigh([]);
    let tree = view.weighed(weights.as_deref().unwrap_or(&empty));
    let is_chosen = |label| is_match(matches, label_number(label));
    let (rows, sums) = match direction {
        Direction::Down => {
            let towards = if matches.is_some() { tree.forest.towards(tree.weights, is_chosen) } else { Vec::new() };
            let tree = Down { tree, matches, towards };
            let shown = open_rows(&tree, true, ask);
            let labels = shown.rows.iter().map(|(_, row)| tree.label(row)).collect();
            let sums = shown.rows.iter().map(|&(_, node)| tree.tree.sums(node)).collect();
            (shown.into_tree_rows(labels), sums)
        }
        Direction::Up => {
            let under = if matches.is_some() { tree.forest.under(is_chosen) } else { Vec::new() };
            let tree = Up { callers: RefCell::new(Callers::new(tree)), matches, under };
            let shown = open_rows(&tree, false, ask);
            let labels = shown.rows.iter().map(|(_, row)| tree.label(row)).collect();
            let sums = shown.rows.iter().map(|(_, row)| row.sums).collect();
            (shown.into_tree_rows(labels), sums)
        }
    };
    Ok(Answer::Tree { total, parts, part, rows, sums })
}

/// The path from the outermost function through the heaviest callee of each function.
pub(crate) fn heaviest(view: &View, series: usize, by: SeparateBy, part: Option<i32>) -> Result<Answer, Refused> {
    let Parts { parts, part, tree: weights } = view.part_and_tree(series, by, part)?;
    let empty = view.base.forest().weigh([]);
    let tree = view.weighed(weights.as_deref().unwrap_or(&empty));
    let first = |node: u32| tree.children(node, 0.0).first().copied();
    let path: Vec<u32> = std::iter::successors(first(0), |&node| first(node)).collect();
    Ok(Answer::Heaviest {
        total: super::tables::total(view, series),
        parts,
        part,
        label: path.iter().map(|&node| label_number(tree.forest.label(node))).collect(),
        sums: path.iter().map(|&node| tree.sums(node)).collect(),
    })
}
