//! The schema of a table: its columns and the kind of its rows.

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// The mnemonic name, such as `thread-state`.
    pub mnemonic: String,
    /// The type of its cells, such as `sample-time`.
    pub engineering_type: String,
}

/// The kind of a table: CPU samples or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableKind {
    /// A table of CPU samples (`time-profile`, `cpu-profile`, `counters-profile`, `time-sample`): its rows become samples.
    Cpu,
    /// Another table: its rows are counted, but not read.
    #[default]
    Other,
}

impl TableKind {
    /// Returns the kind of a table with this schema.
    pub fn of_schema(name: &str) -> Self {
        match name {
            "time-profile" | "cpu-profile" | "counters-profile" | "time-sample" => Self::Cpu,
            _ => Self::Other,
        }
    }
}
