//! Interval statistics by name, for one recording or many: sums, alert rules, Swift tasks, and the CPU time within intervals.

#[cfg(feature = "fleet")]
mod alert;
mod cpu_within;
#[cfg(feature = "fleet")]
mod instance;
#[cfg(feature = "fleet")]
mod run_intervals;
#[cfg(feature = "fleet")]
mod summary;
#[cfg(feature = "fleet")]
mod swift_tasks;
#[cfg(feature = "fleet")]
mod union;

pub(crate) use cpu_within::EDGE;
#[cfg(feature = "fleet")]
pub use instance::IntervalInstance;
#[cfg(feature = "fleet")]
pub use run_intervals::RunIntervals;
#[cfg(feature = "dataset")]
pub(crate) use summary::IntervalPool;
#[cfg(feature = "fleet")]
pub use summary::{IntervalSummary, IntervalTotals};
#[cfg(feature = "fleet")]
pub use swift_tasks::SwiftTask;
