//! The indentation of a tree's lines: where it forks, and nowhere else.

/// The text before the name on a line, and before the names on the lines below it.
#[derive(Clone, Debug, Default)]
pub(in crate::output) struct Lead {
    /// Before the name.
    pub(in crate::output) lead: String,
    below: String,
}

impl Lead {
    /// The leads of so many lines right below this one. Forks deeper than fit in `room` columns are not indented further.
    pub(in crate::output) fn children(&self, count: usize, room: usize) -> impl Iterator<Item = Self> + '_ {
        let is_deep = self.below.chars().count() + 3 > room;
        (0..count).map(move |position| {
            let below = &self.below;
            let (lead, below) = if count == 1 {
                (below.clone(), below.clone())
            } else if is_deep {
                (format!("{below}·"), below.clone())
            } else if position + 1 == count {
                (format!("{below}└─ "), format!("{below}   "))
            } else {
                (format!("{below}├─ "), format!("{below}│  "))
            };
            Self { lead, below }
        })
    }
}
