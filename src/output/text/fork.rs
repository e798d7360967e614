//! The indentation of a tree's lines, which grows only where the tree forks.

use std::collections::VecDeque;

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
