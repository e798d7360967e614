//! The names that a function has: in DWARF, and in answers.

/// The names of a function. Empty names do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Names<'data> {
    /// `DW_AT_linkage_name`.
    pub(super) linkage: Option<&'data str>,
    /// `DW_AT_name`; not looked for any further than the linkage name.
    pub(super) plain: Option<&'data str>,
}

impl<'data> Names<'data> {
    /// The better one.
    pub(super) fn best(self) -> Option<&'data str> {
        self.linkage.or(self.plain)
    }
}

/// The names of a function in answers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Called<'data> {
    /// The name.
    pub(super) function: Option<&'data str>,
    /// Its linkage name, where that is not the name.
    pub(super) linkage_name: Option<&'data str>,
}

impl<'data> Called<'data> {
    /// Of the names that DWARF has, the linkage name is the name.
    pub(super) fn new(function: Option<&'data str>, names: Names<'data>) -> Self {
        Self { function, linkage_name: names.linkage.filter(|_| names.linkage != function) }
    }
}
