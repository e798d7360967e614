//! Many runs: how CPU use is distributed over a fleet.
//!
//! ```text
//! Export + RunContext ─► RunMeasures ─► FleetBuilder ─► FleetReport
//!                        (a few rows a run: what a dataset keeps)
//! ```
//!
//! **CPU use of a run** is the weight of the samples of running threads over the recorded time; 100 % is one core that was
//! busy throughout, so a run of several threads may have more. A table that weighs cycles or events says nothing of time:
//! its measure is a rate (`cycles/s`), and runs of different units never stand in one distribution.
//!
//! **Two distributions, never mixed.** *Across runs*, a run is one number, and n is the number of runs. *Within runs*, the
//! numbers are windows of one second, pooled over the runs of a cohort; they say how bursty the runs are, and nothing
//! about how many users have a slow run.
//!
//! **Absent is zero.** A function that a run never sampled used 0 % there. Every row of a report counts those runs, and
//! says how many they are.

mod alert;
mod assemble;
mod builder;
mod columns;
#[cfg(feature = "dataset")]
pub mod dataset;
mod measure;
mod options;
mod options_json;
mod report;
mod run;
mod sql;
mod summary;
mod timeline;
mod verdict;
mod watch;
mod windows;

pub use alert::{
    AlertBound, AlertError, AlertMeasure, AlertRule, AlertStatistic, AlertSubject, Comparison, SYSTEM_CPU_LIMIT,
};
pub use builder::FleetBuilder;
pub use measure::{MeasureOptions, Measured, NotMeasured, RunContext, measure_runs};
pub use options::{FleetOptions, FleetScope, Measure, SortKey};
pub use report::{
    AlertOutcome, AlertRun, AlertState, Caution, Cohort, CohortReport, Contrast, ContrastRow, FleetReport, Inputs,
    RunRow, ScopeName, ScopeRow, ScopeTable, Summary, TimelinePoint, WindowReport,
};
pub use run::{
    BinaryRow, FailedInput, FailureKind, FrameRow, NO_STACK, NameId, NamesBuilder, RunMeasures, RunRecord, UNNAMED,
    WallSource, WindowRow, rate_of,
};
pub use sql::{SqlEngine, sql};
