//! A call tree as indented lines.
//!
//! Levels are indented only if the tree forks. Most levels of a real stack have one child, and lines with the same indentation read as a
//! chain of calls.
//!
//! ```text
//!      all ms  thread  total      self  function
//!      85.000  100.0%  85.0%     0.000  start
//!      85.000  100.0%  85.0%     2.000 *main
//!      60.000   70.6%  60.0%    60.000 *├─ fast
//!      22.500   26.5%  22.5%     0.500 *└─ slow  … 3 more calls, 0.6%
//!      22.000   25.9%  22.0%    22.000     helper
//! ```
//!
//! Nodes hidden by pruning are counted in the line of their parent, so that they make no fork. A subtree that does not fit on the terminal
//! follows the tree, and both places have the same number.

use std::collections::VecDeque;
use std::io::{self, Write};

use super::style::{MIN_NAME, Style, Tone, cut, fit};
use super::words::{Scale, count, share};
use crate::calltree::{CallTree, FunctionSet, Label, Node, percent};
use crate::profile::{Category, Profile};
use crate::report::{Report, Scope, SeriesReport, binary_of, function_of};
use crate::units::Weight;

/// Columns left of the names.
const LEFT: usize = 11 + 1 + 7 + 1 + 6 + 1 + 9 + 2;
/// In narrower text the share of the scope gives way to names.
const NARROW: usize = 80;
/// The least width of a name at any depth, if the terminal is wide enough.
const NAME: usize = 26;
/// The least width of text that describes hidden weight in words.
const WIDE: usize = 100;

/// Writes a tree. In inverted trees, the first level has the leaf functions of samples. Threads wait in the functions `idle`.
pub(super) fn write(
    report: &Report<'_>,
    scope: Scope,
    tree: &CallTree,
    (series, idle): (&SeriesReport, &FunctionSet),
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let profile = &report.recording.profile;
    let total = tree.root().all_weight;
    let scale = Scale::of(Weight::new(total, series.unit));
    let writer = TreeWriter { profile, tree, series, idle, style, scale, total, is_inverted: report.is_inverted() };
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
    let share = if writer.has_share() { format!(" {whole:>7}") } else { String::new() };
    let header = format!("{:>11}{share} {:>6} {own:>9}  {what}", format!("all {}", scale.title()), "total");
    writeln!(out, "{}", style.paint(Tone::Dim, &fit(&header, style.width)))?;
    writer.nodes(out)
}

struct TreeWriter<'a> {
    profile: &'a Profile,
    tree: &'a CallTree,
    series: &'a SeriesReport,
    idle: &'a FunctionSet,
    style: &'a Style,
    scale: Scale,
    total: u64,
    is_inverted: bool,
}

impl TreeWriter<'_> {
    /// True if the share of the scope fits.
    fn has_share(&self) -> bool {
        self.style.width.is_none_or(|width| width >= NARROW)
    }

    /// The columns left of the names.
    fn left(&self) -> usize {
        if self.has_share() { LEFT } else { LEFT - 8 }
    }

    /// The shares of a weight: of the scope, if it fits, and of the series.
    fn shares(&self, weight: u64) -> String {
        let scope = if self.has_share() { format!(" {:>6.1}%", percent(weight, self.total)) } else { String::new() };
        format!("{scope} {:>5.1}%", share(weight, self.series))
    }

    fn nodes(&self, out: &mut dyn Write) -> io::Result<()> {
        let room = self.style.width.map_or(usize::MAX, |width| width.saturating_sub(self.left() + NAME));
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
            let left = format!("{:>11}{}", self.scale.number(root.hidden_weight), self.shares(root.hidden_weight));
            let line = format!("{left} {:>9}  … {}", "", self.hidden(root));
            writeln!(out, "{}", self.style.paint(Tone::Dim, &cut(&line, self.style.width)))?;
        }
        Ok(())
    }

    fn node(&self, node: &Node, lead: &str, part: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
        let all = percent(node.all_weight, self.total);
        let heat = self.style.paint(Tone::of_heat(all), &format!("{:>11}", self.scale.number(node.all_weight)));
        let shares = self.shares(node.all_weight);
        let own = format!("{:>9}", self.scale.number(node.self_weight));
        let own = match node.self_weight {
            0 => self.style.paint(Tone::Dim, &own),
            weight => self.style.paint(Tone::of_heat(percent(weight, self.total)), &own),
        };
        let behind = self.behind(node, part);
        let name = function_of(self.profile, node.label);
        let binary = binary_of(self.profile, node.label).unwrap_or_default();
        let used = self.left() + lead.chars().count() + behind.chars().count();
        let (name, binary) = self.style.two_parts(name, binary, used);
        let code = Code::of(self.profile, self.idle, node.label);
        let (mark, name) = (code.mark(), self.style.paint(code.tone(), &name));
        let (lead, behind) = (self.style.paint(Tone::Dim, lead), self.style.paint(Tone::Dim, &behind));
        writeln!(out, "{heat}{shares} {own} {mark}{lead}{name}{binary}{behind}")
    }

    /// The text after a name: the weight hidden below it, and the place of its subtree.
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

    /// The number of nodes that pruning hid below one, in words.
    fn hidden(&self, node: &Node) -> String {
        count(u64::from(node.hidden_children), if self.is_inverted { "more caller" } else { "more call" })
    }

    /// The line that a part begins with.
    fn part(&self, node: &Node, part: usize, out: &mut dyn Write) -> io::Result<()> {
        let left = format!("{:>width$} below ", format!("▶{part}"), width = self.left() - 7);
        let name = function_of(self.profile, node.label);
        let room = self.style.width.map(|width| width.saturating_sub(self.left()).max(MIN_NAME));
        writeln!(out, "{}", self.style.paint(Tone::Title, &(left + &self.style.name(name, room))))
    }
}

/// The owner of a function, if it is known.
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

    /// The column before names, which shows the owner without colours.
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

/// The columns of a level of indentation.
const LEVEL: usize = 3;

/// The text before the name on a line, and before the names on the lines below it.
#[derive(Clone, Debug, Default)]
pub(in crate::output) struct Lead {
    /// Before the name.
    pub(in crate::output) lead: String,
    below: String,
}

impl Lead {
    /// True if this many lines directly below this one are indented by at most `room` columns. A single line is not indented at all.
    pub(in crate::output) fn has_room(&self, count: usize, room: usize) -> bool {
        count < 2 || self.below.chars().count() + LEVEL <= room
    }

    /// The leads of this many lines directly below this one.
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

/// The lines of a tree, in the order they are written. A subtree that does not fit follows the others without indentation. It begins with a
/// line that has the same number as the line of its root.
pub(in crate::output) struct Lines {
    /// The rows to be written, the next one last.
    todo: Vec<(usize, Lead)>,
    /// The rows whose subtrees follow, with their numbers.
    later: VecDeque<(usize, usize)>,
    parts: usize,
    /// The most columns of indentation.
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
        /// The number of the part with the node's subtree, if it follows later.
        part: Option<usize>,
    },
    /// The start of a part.
    Part {
        /// The node whose subtree it is.
        index: usize,
        /// The number of the part, from 1.
        part: usize,
    },
}

impl Lines {
    /// The lines below a root, which has no line.
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
