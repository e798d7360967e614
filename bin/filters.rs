//! Filters, which select samples of a recording, and the metric that weights them. The filters of fleets are in `fleet/filters.rs`.

use std::str::FromStr;

use clap::Args;
use traceparse::calltree::{Action, FunctionSet, Operation};
use traceparse::profile::{Matcher, Profile, Selection, StateFilter, TimeRange};
use traceparse::recording::{Counter, TableChoice, TableKind, TableWeight};

use crate::weight_limit::number;

#[derive(Debug, Args)]
pub(crate) struct SelectionArgs {
    /// Only this run of the recording (repeatable)
    #[arg(long, value_name = "N", value_parser = number::<u32>(0, None), help_heading = "Filters")]
    pub(crate) run: Vec<u32>,
    /// Make trees of this table, such as fs-syscall
    ///
    /// Its rows replace CPU samples. A row is weighted by its duration, or else by its size in bytes, or else as 1; --metric chooses. Elapsed time
    /// is not CPU time.
    #[arg(long, value_name = "SCHEMA", conflicts_with = "schema", help_heading = "Filters", hide_short_help = true)]
    pub(crate) table: Option<String>,
    #[command(flatten)]
    pub(crate) processes: ProcessArgs,
    /// Only threads with this name or number (repeatable)
    ///
    /// Numbers are decimal, or hex with 0x. If no thread has this name, names that contain it match, ignoring case. /REGEX/ is a regular
    /// expression.
    #[arg(long, value_name = "NAME|TID", value_parser = Matcher::parse)]
    pub(crate) thread: Vec<Matcher>,
    /// Only samples with this binary in their stack
    ///
    /// Names match as with --thread; a name with a slash is matched against paths. This and --leaf-binary look at stacks before operations
    /// change them. Repeatable.
    #[arg(long, value_name = "NAME", value_parser = Matcher::parse, help_heading = "Filters")]
    pub(crate) binary: Vec<Matcher>,
    /// Only samples taken in code of this binary (repeatable)
    #[arg(long, value_name = "NAME", value_parser = Matcher::parse, help_heading = "Filters", hide_short_help = true)]
    pub(crate) leaf_binary: Vec<Matcher>,
    #[command(flatten)]
    pub(crate) main: MainThreadArgs,
    /// Weight of each sample [default: as recorded]
    ///
    /// `weight`, `samples` (each weighs 1), or the events of a performance counter (`counter:2`, `counter:INST_ALL`). With --table:
    /// `duration`, `bytes` or `count`.
    #[arg(long, default_value = "weight", hide_default_value = true, help_heading = "Filters", hide_short_help = true)]
    pub(crate) metric: MetricArg,
}

/// The filter by process, of samples or of intervals.
#[derive(Debug, Args)]
pub(crate) struct ProcessArgs {
    /// Only processes with this name or number (repeatable)
    ///
    /// If no process has this name, names that contain it match, ignoring case. /REGEX/ is a regular expression.
    #[arg(long, value_name = "NAME|PID", value_parser = Matcher::parse)]
    pub(crate) process: Vec<Matcher>,
}

#[derive(Debug, Default, Args)]
pub(crate) struct MainThreadArgs {
    /// Only main threads
    ///
    /// With --thread, only threads that match both. If the recording does not mark main threads, these are the threads named Main Thread,
    /// and in processes without one, the threads named main.
    #[arg(long)]
    pub(crate) only_main_thread: bool,
}

/// The filters by table, time and thread state, which reports and fleets share.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct WhenArgs {
    /// Only this table, such as time-profile (repeatable)
    #[arg(long, value_name = "SCHEMA", help_heading = "Filters", hide_short_help = true)]
    pub(crate) schema: Vec<String>,
    /// Only this part, such as 1.5s..2s or 200ms..
    ///
    /// Also ..00:01.250, as Instruments shows times. Numbers without a unit are seconds. CPU use is relative to the selected part of the
    /// recorded time.
    #[arg(long, value_name = "START..END")]
    pub(crate) time: Option<TimeRange>,
    /// Only while a signpost with this name is open
    ///
    /// Repeatable. CPU use is relative to the time in these intervals. Fleet commands leave out recordings that have no such interval.
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    pub(crate) during: Vec<String>,
    /// Only during potential hangs
    #[arg(long, help_heading = "Filters")]
    pub(crate) during_hang: bool,
    /// Require all intervals of --during and --during-hang [default: any]
    #[arg(long, help_heading = "Filters", hide_short_help = true)]
    pub(crate) during_all: bool,
    /// Only threads in this state, such as Blocked
    ///
    /// Repeatable; `all` selects all states. By default, running threads are selected, and samples without a recorded state.
    #[arg(long, value_name = "STATE", help_heading = "Filters")]
    pub(crate) state: Vec<String>,
}

/// The number that a sample adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MetricArg {
    Weight,
    Samples,
    Counter(Counter),
    /// The weight of table rows.
    Table(TableWeight),
}

impl FromStr for MetricArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("counter:").filter(|counter| !counter.is_empty())) {
            ("weight", _) => Ok(Self::Weight),
            ("samples", _) => Ok(Self::Samples),
            ("duration", _) => Ok(Self::Table(TableWeight::Duration)),
            ("bytes", _) => Ok(Self::Table(TableWeight::Bytes)),
            ("count", _) => Ok(Self::Table(TableWeight::Rows)),
            (_, Some("0")) => Err("counters are numbered from 1".to_owned()),
            (_, Some(counter)) => {
                let Ok(counter) = counter.parse();
                Ok(Self::Counter(counter))
            }
            _ => Err("expected weight, samples, counter:N or counter:NAME; with --table, duration, bytes or count"
                .to_owned()),
        }
    }
}

impl WhenArgs {
    /// The first option that needs the time of each sample, if any.
    pub(crate) fn needs_times(&self) -> Option<&'static str> {
        let during = self.asks_intervals().then_some(if self.during_hang { "--during-hang" } else { "--during" });
        self.time.is_some().then_some("--time").or(during)
    }

    /// Checks that the options can be combined.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.during_all && !self.asks_intervals() {
            return Err("--during-all needs --during or --during-hang; add one of them, or remove it".to_owned());
        }
        Ok(())
    }

    /// True if samples are limited to intervals.
    pub(crate) fn asks_intervals(&self) -> bool {
        !self.during.is_empty() || self.during_hang
    }

    pub(crate) fn includes_all_states(&self) -> bool {
        self.state.iter().any(|state| state.eq_ignore_ascii_case("all"))
    }

    /// The selection without intervals, which are read from each recording.
    pub(crate) fn selection(&self) -> Selection {
        let states = match self.state.as_slice() {
            [] => StateFilter::Running,
            _ if self.includes_all_states() => StateFilter::All,
            states => StateFilter::Only(states.to_vec()),
        };
        Selection { time: self.time, states, ..Selection::default() }
    }
}

impl SelectionArgs {
    /// The operations that remove samples outside of the requested binaries.
    pub(crate) fn binary_filters(&self, profile: &Profile) -> Vec<Operation> {
        let filter = |option: &str, names: &[Matcher], action: fn(FunctionSet) -> Action| {
            let texts: Vec<String> = names.iter().map(|name| format!("{option} '{}'", name.text())).collect();
            let action = || action(FunctionSet::of_binaries(profile, names));
            (!names.is_empty()).then(|| Operation { action: action(), text: texts.join(" ") })
        };
        let binary = filter("--binary", &self.binary, Action::Focus);
        binary.into_iter().chain(filter("--leaf-binary", &self.leaf_binary, Action::FocusLeaves)).collect()
    }

    /// The table whose rows are used as samples.
    pub(crate) fn table(&self) -> Option<TableChoice> {
        let weight = if let MetricArg::Table(weight) = self.metric { Some(weight) } else { None };
        let is_other = |schema: &String| TableKind::of_schema(schema) == TableKind::Other;
        self.table.clone().filter(is_other).map(|schema| TableChoice { schema, weight })
    }
}
