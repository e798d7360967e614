//! Many runs: how CPU use is distributed over a fleet.
//!
//! ```text
//! Recording + RunContext ─► RunMeasures ─► FleetBuilder ─► FleetReport
//!                        (a few rows per run, as in a dataset)
//! ```
//!
//! **The CPU use of a run** is the weight of the samples of running threads divided by the recorded time. 100 % is one core that was busy
//! throughout, so a run with several threads may have more. Tables weighted by cycles or events do not record CPU time. Their measure is a rate
//! (`cycles/s`), and a distribution contains only runs of one unit.
//!
//! **There are two kinds of distributions, which are never mixed.** *Across runs*, each run is one number, and n is the number of runs. *Within
//! runs*, the numbers are windows of one second, pooled over the runs of a cohort. These show how bursty runs are, but not how many users have a
//! slow run.
//!
//! **Absent is zero.** A run in which a function was never sampled used 0 % there. Every row of a report includes such runs, and shows their
//! number.
//!
//! ```
//! use traceparse::read;
//! use traceparse::recording::Options;
//! use traceparse::fleet::{FleetBuilder, FleetOptions, MeasureOptions, RunContext};
//! use traceparse::stats::Support;
//! # let export_of = |busy: u64| {
//! #     let rows: String = (0..busy).map(|row| format!("<row><sample-time>{}</sample-time><weight>1000000</weight>\
//! #         <backtrace><frame name=\"work\" addr=\"0x1001\"/></backtrace></row>", row * 1_000_000)).collect();
//! #     format!("<?xml version=\"1.0\"?>\n<trace-query-result>\n<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>\
//! #         <schema name=\"time-profile\"><col><mnemonic>time</mnemonic></col><col><mnemonic>weight</mnemonic></col>\
//! #         <col><mnemonic>stack</mnemonic></col></schema>{rows}</node></trace-query-result>")
//! # };
//! use traceparse::units::Nanos;
//!
//! let mut fleet = FleetBuilder::new(FleetOptions::default());
//! for user in 0..100 {
//!     // 99 users whose app ran for 10 ms of each second, and one user whose app was busy nearly all the time.
//!     let export = export_of(if user == 17 { 990 } else { 10 });
//!     let duration = Some(Nanos::from_millis(1_000));
//!     let context = RunContext { run_id: user.to_string(), duration, ..RunContext::default() };
//!     let export = read(export.as_bytes(), "export.xml", &Options::default())?;
//!     for run in export.measure(&context, &MeasureOptions::default())?.runs {
//!         fleet.add(&run);
//!     }
//! }
//! let report = fleet.finish();
//! let cpu = &report.cohorts[0].across_runs;
//! assert_eq!((cpu.count, cpu.mean, cpu.max), (100, Some(1.98), Some(99.0)));
//! let [p50, _, _, p99, p999] = &cpu.estimates[..] else { unreachable!("there are five percentiles by default") };
//! assert_eq!((p50.value, p99.value), (Some(1.0), Some(1.0)));
//! assert_eq!(p999.support, Support::TooFew { needed: 1_000 }, "a hundred users are not enough");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alert_evaluation;
mod alert_series;
mod assemble;
mod builder;
mod cohort_runs;
mod columns;
#[cfg(feature = "dataset")]
mod combine;
pub mod compare;
#[cfg(feature = "dataset")]
mod dataset;
mod differences;
mod entries;
#[cfg(feature = "dataset")]
pub(crate) mod error;
#[cfg(feature = "dataset")]
pub(crate) mod extract;
mod finding;
mod findings;
#[cfg(feature = "dataset")]
pub(crate) mod fingerprint;
mod from_recording;
#[cfg(feature = "dataset")]
pub(crate) mod host;
pub(crate) mod identity;
#[cfg(feature = "dataset")]
pub(crate) mod inputs;
mod label_order;
mod measures;
mod options;
mod pooled;
mod report;
mod run;
#[cfg(feature = "dataset")]
mod runs_of;
mod scope;
mod scope_tables;
mod selection;
mod shared_label;
#[cfg(feature = "dataset")]
mod store;
mod stored_run;
mod summary;
mod tail;
mod trend;
mod trend_options;
mod trend_report;
mod trend_series;
mod unmeasured;
mod windows;

pub use builder::FleetBuilder;
#[cfg(feature = "dataset")]
pub use combine::Datasets;
#[cfg(feature = "dataset")]
pub use dataset::{DatasetError, DatasetErrorKind, DatasetRow, DatasetRun, DatasetTable, KnownRun, RewrittenRuns};
#[cfg(feature = "dataset")]
pub use error::FleetError;
#[cfg(feature = "dataset")]
pub use extract::{Collector, Extract, FleetSettings, IntervalChoice, ReadingOptions, ThreadChoice};
pub use finding::{CohortDifference, Finding};
pub use from_recording::{MeasureOptions, Measured, NotMeasured, RunContext};
#[cfg(feature = "dataset")]
pub use host::{FleetHost, InputStream, WatchedInputs};
#[cfg(feature = "dataset")]
pub use inputs::{FleetInputs, InputRequest, Shard, ShardRequest, Task};
pub use measures::Measure;
pub use options::{FleetOptions, SortKey};
pub use pooled::{PoolError, PooledStacks};
pub(crate) use report::DamagedRecording;
pub use report::{
    Caution, Cohort, CohortReport, Completeness, Contrast, ContrastRow, FleetReport, HistogramReport, Inputs, RunRow,
    ScopeRow, ScopeTable, Summary, TimelinePoint, Trend, TrendOver, TrendPoint, WindowReport,
};
pub use run::{FailedInput, FailureKind, FrameRow, NameId, NamesBuilder, RunMeasures, RunRecord, StackRow, WindowRow};
pub use scope::{FleetScope, ScopeName};
pub use selection::FleetSelection;
#[cfg(feature = "dataset")]
pub use store::{InputKind, InputState, Known, MadeWith, MergedFacts, NamedFiles, ShardPlan, Shards, Store};
pub use trend_options::TrendOptions;
pub use trend_report::{TrendDoubt, TrendReport, TrendSeries, TrendVerdict};
pub use trend_series::{TrendChange, TrendShift, TrendValue};
