//! The roles of columns in CPU tables.

use crate::recording::Column;

/// The columns of a CPU table in every known version, in any order.
fn usual_columns(schema: &str) -> &'static [&'static str] {
    match schema {
        "time-sample" => {
            &["time", "thread", "core-index", "thread-state", "cp-kernel-callstack", "cp-user-callstack", "sample-type"]
        }
        "counters-profile" => {
            &["time", "thread", "process", "core", "thread-state", "weight", "stack", "counters-array"]
        }
        _ => &["time", "thread", "process", "core", "thread-state", "weight", "stack"],
    }
}

/// Returns the first usual column that is missing, if the table also has an unusual or repeated column. The next Xcode may have renamed it, and
/// the value would silently be absent in every row.
pub(super) fn renamed_column(schema: &str, columns: &[Column]) -> Option<&'static str> {
    let usual = usual_columns(schema);
    let is_there = |name: &str| columns.iter().any(|column| column.mnemonic == name);
    let missing = usual.iter().copied().find(|name| !is_there(name))?;
    let known = usual.iter().filter(|name| is_there(name)).count();
    (columns.len() > known).then_some(missing)
}

/// The indices of the columns that make up a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Roles {
    pub(super) columns: usize,
    pub(super) time: Option<usize>,
    pub(super) thread: Option<usize>,
    pub(super) process: Option<usize>,
    pub(super) core: Option<usize>,
    pub(super) state: Option<usize>,
    pub(super) weight: Option<usize>,
    pub(super) stack: Option<usize>,
    pub(super) kernel_stack: Option<usize>,
    pub(super) user_stack: Option<usize>,
    pub(super) kind: Option<usize>,
    pub(super) counters: Option<usize>,
    /// `time-sample` has no weight column: each row is one sample.
    pub(super) counts_rows: bool,
}

impl Roles {
    /// Finds the roles of the columns in the table `schema`.
    pub(super) fn of(schema: &str, columns: &[Column]) -> Self {
        let mut roles = Self { columns: columns.len(), counts_rows: schema == "time-sample", ..Self::default() };
        for (index, column) in columns.iter().enumerate() {
            let role = match column.mnemonic.as_str() {
                "time" => &mut roles.time,
                "thread" => &mut roles.thread,
                "process" => &mut roles.process,
                "core" | "core-index" => &mut roles.core,
                "thread-state" => &mut roles.state,
                "weight" => &mut roles.weight,
                "stack" => &mut roles.stack,
                "cp-kernel-callstack" => &mut roles.kernel_stack,
                "cp-user-callstack" => &mut roles.user_stack,
                "sample-type" => &mut roles.kind,
                "counters-array" => &mut roles.counters,
                _ => continue,
            };
            role.get_or_insert(index);
        }
        roles
    }

    /// True if rows have enough columns to become samples.
    pub(super) fn are_complete(&self) -> bool {
        let has_stack = self.stack.is_some() || self.user_stack.is_some() || self.kernel_stack.is_some();
        self.time.is_some() && has_stack && (self.weight.is_some() || self.counts_rows)
    }
}
