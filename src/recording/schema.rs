//! The schema of a table: its columns, and what its rows are.

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// The name by which the column is known, such as `thread-state`.
    pub mnemonic: String,
    /// The type of its cells, such as `sample-time`.
    pub engineering_type: String,
}

/// The kind of a table: CPU samples or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableKind {
    /// A table of CPU samples (`time-profile`, `cpu-profile`, `counters-profile`, `time-sample`): rows become samples.
    Cpu,
    /// Another table: rows are counted, not read.
    #[default]
    Other,
}

impl TableKind {
    /// The kind of a table by the name of its schema.
    pub fn of_schema(name: &str) -> Self {
        match name {
            "time-profile" | "cpu-profile" | "counters-profile" | "time-sample" => Self::Cpu,
            _ => Self::Other,
        }
    }
}
