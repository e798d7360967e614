//! The settings that sentences name, and how a program writes them.
//!
//! Sentences, such as warnings and advice, name the setting to change. By default, they name the field or function of this crate. A program
//! installs its own way to write settings, such as the options of a command:
//!
//! ```
//! use traceparse::settings::Program;
//!
//! Program { command: Some("traceparse"), write: |setting, f| write!(f, "--{}", setting.name) }.install();
//! ```
//!
//! The program is set once for the process, like a logger. Sentences are also written by the `Display` of errors and deep inside readers, so
//! passing the names to each of them would add a parameter to most functions.

use std::fmt;
use std::sync::OnceLock;

/// A setting that a sentence names. `Display` writes it as the [`Program`] does, or else as the field in backticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The name in lower case, such as `min-percent`.
    pub name: &'static str,
    /// The field or function of this crate that has this effect, such as `Pruning::min_percent`.
    pub field: &'static str,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match PROGRAM.get() {
            Some(program) => (program.write)(self, f),
            None => write!(f, "`{}`", self.field),
        }
    }
}

/// The program whose users read the sentences.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The command in suggested command lines. Without a command, none are suggested.
    pub command: Option<&'static str>,
    /// Writes a setting.
    pub write: fn(&Setting, &mut fmt::Formatter<'_>) -> fmt::Result,
}

static PROGRAM: OnceLock<Program> = OnceLock::new();

impl Program {
    /// From now on, all sentences in this process name settings as this program writes them. Only the first call has an effect.
    pub fn install(self) {
        let _ = PROGRAM.set(self);
    }
}

/// The command of the installed program.
pub(crate) fn command() -> Option<&'static str> {
    PROGRAM.get()?.command
}

/// True if the installed program has no command.
pub(crate) fn is_without_command() -> bool {
    PROGRAM.get().is_some_and(|program| program.command.is_none())
}

/// Returns advice that mentions a command. Returns nothing for a program without a command, whose users cannot follow the advice.
pub(crate) fn for_command(advice: &str) -> &str {
    if is_without_command() { "" } else { advice }
}

macro_rules! settings {
    ($($setting:ident = $name:literal, $field:literal;)*) => {
        $(pub(crate) const $setting: Setting = Setting { name: $name, field: $field };)*

        /// All settings that sentences name.
        pub const ALL: &[Setting] = &[$($setting),*];
    };
}

settings! {
    ACCEPTED = "accepted", "TrendOptions::accepted";
    ALLOW_INCOMPLETE = "allow-incomplete", "Datasets::merge";
    ALLOW_TRUNCATED = "allow-truncated", "recording::Options::allow_truncated";
    BASE = "base", "Comparison::new";
    BEYOND = "beyond", "FleetReport::runs_beyond";
    BLOCK = "block", "CompareOptions::blocks";
    COLUMNS = "columns", "TableQuery::columns";
    DSYM = "dsym", "Analysis::add_symbols";
    DURING = "during", "Selection::intervals";
    FORMAT = "format", "output::Format";
    FUNCTION = "function", "ReportOptions::function";
    HELP = "help", "FleetInputs";
    IMAGE = "image", "SymbolicateOptions::images";
    MAX_SIZE = "max-size", "RunPages::max_size";
    MEASURE = "measure", "CompareOptions::measures";
    MEMORY = "memory", "MemoryBudget";
    METRIC = "metric", "ReportOptions::metric";
    MIN_PERCENT = "min-percent", "Pruning::min_percent";
    NEW = "new", "Comparison::new";
    NO_BUNDLED_SYMBOLS = "no-bundled-symbols", "ReadingOptions::with_bundled_symbols";
    NO_INLINES = "no-inlines", "ReadingOptions::with_inlines";
    NORMALIZE = "normalize", "Normalize";
    ONLY_MAIN_THREAD = "only-main-thread", "Selection::only_main_threads";
    OUTPUT = "output", "output::write";
    OVER = "over", "TrendOptions::label";
    PLAN = "plan", "ShardRequest::plan";
    PROCESS = "process", "Selection::processes";
    REMOVE_OTHERS = "remove-others", "Extract::removes_others";
    RUN = "run", "Selection::runs";
    SCHEMA = "schema", "ReportOptions::schemas";
    SHARD = "shard", "Extract::shard";
    SORT = "sort", "TableQuery::sort";
    STACKS = "stacks", "MeasureOptions::with_stacks";
    STATE = "state", "Selection::states";
    STRICT = "strict", "ReadingOptions::is_strict";
    SYMBOLS = "symbols", "Analysis::add_symbols";
    THREAD = "thread", "Selection::threads";
    TIME = "time", "Selection::time";
    TOP = "top", "TableQuery::top";
    UNIT = "unit", "CompareOptions::unit";
    VIEW = "view", "ReportOptions::view";
    WEIGHTED = "weighted", "FleetOptions::is_weighted";
    WHERE = "where", "FleetOptions::only";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_name_fields_by_default() {
        assert_eq!(format!("choose one with {SCHEMA}"), "choose one with `ReportOptions::schemas`");
        assert_eq!(command(), None);
    }
}
