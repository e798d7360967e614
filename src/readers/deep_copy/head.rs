//! The first line: the names of the columns.

/// The columns of a table. The first one is the total weight, the last one the symbol.
pub(super) struct Head {
    /// The number of columns.
    pub(super) columns: usize,
    /// True if the second column is the weight of the function alone.
    pub(super) has_own: bool,
    /// The unit of the numbers in the second column, if its name contains one.
    pub(super) unit_of_own: Option<String>,
}

impl Head {
    /// Parses the first line; `None` for other columns.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let columns: Vec<&str> = line.split('\t').map(str::trim).collect();
        let [total, own, .., _] = columns.as_slice() else { return None };
        let has_own = match (*total, *own) {
            ("Bytes Used", "Count") => false,
            ("Weight" | "Running Time", own) if own.starts_with("Self") => true,
            _ => return None,
        };
        let unit = own.strip_prefix("Self (").and_then(|unit| unit.strip_suffix(')'));
        if has_own && unit.is_none() && !matches!(*own, "Self" | "Self Weight") {
            return None;
        }
        Some(Self { columns: columns.len(), has_own, unit_of_own: unit.map(str::to_owned) })
    }
}
