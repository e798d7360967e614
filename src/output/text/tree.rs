//! A call tree as indented lines.
//!
//! Lines are indented only where the tree branches. Most nodes of a real tree have one child, and lines with the same indentation read as a chain of
//! calls.
//!
//! ```text
//!    total ms  thread      %      self  function
//!      85.000  100.0%  85.0%     0.000  start
//!      85.000  100.0%  85.0%     2.000 *main
//!      60.000   70.6%  60.0%    60.000 *├─ fast
//!      22.500   26.5%  22.5%     0.500 *└─ slow  … 3 more calls, 0.6%
//!      22.000   25.9%  22.0%    22.000     helper
//! ```
//!
//! Nodes hidden by pruning are counted in the line of their parent, so they do not cause a branch. A subtree that does not fit on the terminal is
//! printed after the tree. The same number marks both places.

use std::collections::VecDeque;
use std::io::{self, Write};

use super::style::{MIN_NAME, Style, Tone, cut};
use super::table::{Cell, Column, FUNCTIONS, KEPT, Table};
use super::words::share;
use crate::calltree::{CallTree, FunctionSet, Label, Node, percent};
use crate::profile::{Category, Profile};
use crate::report::{Report, Scope, SeriesReport, binary_of, function_of};
use crate::units::{Scale, Weight, several};

/// The minimum width of a name at any depth, if the terminal is wide enough.
const NAME: usize = 26;
/// Text of at least this width describes hidden weight in words.
const WIDE: usize = 100;

/// Writes a tree, and returns the titles of the columns that did not fit. The first level of an inverted tree contains the leaf functions of samples.
/// `idle` are functions in which threads wait.
pub(super) fn write(
    report: &Report<'_>,
    scope: Scope,
    tree: &CallTree,
    (series, idle): (&SeriesReport, &FunctionSet),
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<Vec<String>> {
    let profile = &report.recording.profile;
    let total = tree.root().all_weight;
    let scale = Scale::of(Weight::new(total, series.unit));
    let whole = match scope {
        Scope::Thread(_) => "thread",
        Scope::Process(_) => "process",
        Scope::State(_) => "state",
        Scope::CoreKind(_) => "kind",
        Scope::Label(_) => "label",
        Scope::All => "tree",
    };
    let (own, what) =
        if report.is_inverted() { ("outermost", "function, its callers below") } else { ("self", "function") };
    // The table does not know its rows yet.
    let width = |weight: u64| scale.number(weight).len();
    let heaviest = tree.nodes().iter().map(|node| node.self_weight).max().unwrap_or(0);
    let columns = vec![
        Column::new(&format!("total {}", scale.short()), KEPT).sized(width(total).max(style.least(11)), 1),
        // In narrow text, names take the space of the percentage of the scope.
        Column::new(whole, 1).sized(7, 1),
        Column::new("%", KEPT).sized(6, 1),
        Column::new(own, KEPT).sized(width(heaviest).max(style.least(9)), 1),
    ];
    let mut table = Table::new(columns, what, FUNCTIONS, Vec::new());
    let left_out = table.fit(style.width);
    writeln!(out, "{}", table.header(style))?;
    let is_inverted = report.is_inverted();
    let writer = TreeWriter { profile, tree, series, idle, style, table, scale, total, is_inverted };
    writer.nodes(out)?;
    Ok(left_out)
}

struct TreeWriter<'a> {
    profile: &'a Profile,
    tree: &'a CallTree,
    series: &'a SeriesReport,
    idle: &'a FunctionSet,
    style: &'a Style,
    table: Table,
    scale: Scale,
    total: u64,
    is_inverted: bool,
}

impl TreeWriter<'_> {
    /// The columns to the left of the names, up to the mark before a name.
    fn numbers(&self, weight: u64, tone: Option<Tone>, own: Cell) -> String {
        let shares = [percent(weight, self.total), share(weight, self.series)];
        let [scope, series] = shares.map(|share| Cell::from(format!("{share:.1}%")));
        let all = Cell { tone, ..self.scale.number(weight).into() };
        let mut numbers = self.table.numbers(&[all, scope, series, own], self.style);
        numbers.truncate(numbers.len() - 1);
        numbers
    }

    fn nodes(&self, out: &mut dyn Write) -> io::Result<()> {
        let room = self.style.width.map_or(usize::MAX, |width| width.saturating_sub(self.table.used() + NAME));
        let children = |index: usize| self.tree.children(index).collect::<Vec<usize>>();
        let mut lines = Lines::below(&children(0), room);
        while let Some(line) = lines.next(children) {
            match line {
                TreeLine::Node { index, lead, part } => self.node(&self.tree.nodes()[index], &lead, part, out)?,
                TreeLine::Part { index, part } => self.part(&self.tree.nodes()[index], part, out)?,
            }
        }
        let root = self.tree.root();
        if root.hidden_children > 0 {
            let line =
                self.numbers(root.hidden_weight, None, String::new().into()) + &format!(" … {}", self.hidden(root));
            writeln!(out, "{}", self.style.paint(Tone::Dim, &cut(&line, self.style.width)))?;
        }
        Ok(())
    }

    fn node(&self, node: &Node, lead: &str, part: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
        let heat = |weight| Tone::of_heat(percent(weight, self.total));
        let tone = if node.self_weight == 0 { Tone::Dim } else { heat(node.self_weight) };
        let own = Cell { tone: Some(tone), ..self.scale.number(node.self_weight).into() };
        let numbers = self.numbers(node.all_weight, Some(heat(node.all_weight)), own);
        let behind = self.behind(node, part);
        let name = function_of(self.profile, node.label);
        let binary = binary_of(self.profile, node.label).unwrap_or_default();
        let used = self.table.used() + lead.chars().count() + behind.chars().count();
        let (name, binary) = self.style.two_parts(name, binary, used);
        let code = Code::of(self.profile, self.idle, node.label);
        let (mark, name) = (code.mark(), self.style.paint(code.tone(), &name));
        let (lead, behind) = (self.style.paint(Tone::Dim, lead), self.style.paint(Tone::Dim, &behind));
        writeln!(out, "{numbers}{mark}{lead}{name}{binary}{behind}")
    }

    /// The text after a name: the weight hidden below it, and the number of the part with its subtree.
    fn behind(&self, node: &Node, part: Option<usize>) -> String {
        let is_wide = self.style.width.is_none_or(|width| width >= WIDE);
        let hidden = match node.hidden_children {
            0 => String::new(),
            _ if is_wide => {
                format!("  … {}, {:.1}%", self.hidden(node), percent(node.hidden_weight, self.total))
            }
            count => format!(" …+{count}"),
        };
        part.map_or(hidden.clone(), |part| format!("{hidden} ▶{part}"))
    }

    /// The number of nodes that pruning hid below a node, as text.
    fn hidden(&self, node: &Node) -> String {
        several(u64::from(node.hidden_children), if self.is_inverted { "more caller" } else { "more call" })
    }

    /// The first line of a part.
    fn part(&self, node: &Node, part: usize, out: &mut dyn Write) -> io::Result<()> {
        let left = format!("{:>width$} below ", format!("▶{part}"), width = self.table.used() - 7);
        let name = function_of(self.profile, node.label);
        let room = self.style.width.map(|width| width.saturating_sub(self.table.used()).max(MIN_NAME));
        writeln!(out, "{}", self.style.paint(Tone::Title, &(left + &self.style.name(name, room))))
    }
}

/// The owner of a function, if known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Code {
    Own,
    Waiting,
    Other,
}

impl Code {
    fn of(profile: &Profile, idle: &FunctionSet, label: Label) -> Self {
        let Label::Function(id) = label else { return Self::Other };
        if Category::of_function(profile, id) == Category::User {
            Self::Own
        } else if idle.contains(id) {
            Self::Waiting
        } else {
            Self::Other
        }
    }

    /// The character before a name, which shows the owner even without colours.
    fn mark(self) -> char {
        match self {
            Self::Own => '*',
            Self::Waiting => '~',
            Self::Other => ' ',
        }
    }

    fn tone(self) -> Tone {
        match self {
            Self::Own => Tone::Title,
            Self::Waiting | Self::Other => Tone::Dim,
        }
    }
}

/// The width of one level of indentation.
const LEVEL: usize = 3;

/// The text before a name, and before the names on the lines below it.
#[derive(Clone, Debug, Default)]
pub(in crate::output) struct Lead {
    /// The text before the name.
    pub(in crate::output) lead: String,
    below: String,
}

impl Lead {
    /// True if `count` lines directly below this one need at most `room` columns of indentation. A single line is not indented further.
    pub(in crate::output) fn has_room(&self, count: usize, room: usize) -> bool {
        count < 2 || self.below.chars().count() + LEVEL <= room
    }

    /// The leads of `count` lines directly below this one.
    pub(in crate::output) fn children(&self, count: usize) -> impl Iterator<Item = Self> + '_ {
        (0..count).map(move |position| {
            let below = &self.below;
            let (lead, below) = if count == 1 {
                (below.clone(), below.clone())
            } else if position + 1 == count {
                (format!("{below}└─ "), format!("{below}   "))
            } else {
                (format!("{below}├─ "), format!("{below}│  "))
            };
            Self { lead, below }
        })
    }
}

/// The lines of a tree in output order. A subtree that does not fit is moved after the others and is not indented. It begins with a line that has the
/// same number as the line of its root.
pub(in crate::output) struct Lines {
    /// The rows to write, the next one last.
    todo: Vec<(usize, Lead)>,
    /// The rows whose subtrees come later, with the numbers of their parts.
    later: VecDeque<(usize, usize)>,
    parts: usize,
    /// The maximum indentation in columns.
    room: usize,
}

/// A line of a tree.
pub(in crate::output) enum TreeLine {
    /// A node.
    Node {
        /// The index of the node.
        index: usize,
        /// The text before its name.
        lead: String,
        /// The number of the part with the node's subtree, if that comes later.
        part: Option<usize>,
    },
    /// The start of a part.
    Part {
        /// The root of the part.
        index: usize,
        /// The number of the part, from 1.
        part: usize,
    },
}

impl Lines {
    /// The lines below a root, which itself has no line.
    pub(in crate::output) fn below(children: &[usize], room: usize) -> Self {
        let mut lines = Self { todo: Vec::new(), later: VecDeque::new(), parts: 0, room };
        lines.push(children, &Lead::default());
        lines
    }

    fn push(&mut self, children: &[usize], lead: &Lead) {
        let first = self.todo.len();
        self.todo.extend(children.iter().copied().zip(lead.children(children.len())));
        self.todo[first..].reverse();
    }

    /// The next line; `children` returns the visible children of a node.
    pub(in crate::output) fn next(&mut self, children: impl Fn(usize) -> Vec<usize>) -> Option<TreeLine> {
        let Some((index, lead)) = self.todo.pop() else {
            let (index, part) = self.later.pop_front()?;
            self.push(&children(index), &Lead::default());
            return Some(TreeLine::Part { index, part });
        };
        let children = children(index);
        let has_room = lead.has_room(children.len(), self.room);
        if has_room {
            self.push(&children, &lead);
        } else {
            self.parts += 1;
            self.later.push_back((index, self.parts));
        }
        Some(TreeLine::Node { index, lead: lead.lead, part: (!has_room).then_some(self.parts) })
    }
}
