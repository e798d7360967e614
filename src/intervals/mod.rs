//! Sums of intervals by name, of a recording or of many; rules about them; Swift tasks; and the CPU time within intervals.

#[cfg(feature = "fleet")]
mod alert;
mod cpu_within;
#[cfg(feature = "fleet")]
mod summary;
#[cfg(feature = "fleet")]
mod swift_tasks;
#[cfg(feature = "fleet")]
mod union;

#[cfg(feature = "fleet")]
pub use alert::{IntervalAlert, IntervalOutcome};
pub(crate) use cpu_within::EDGE;
#[cfg(feature = "dataset")]
pub(crate) use summary::IntervalPool;
#[cfg(feature = "fleet")]
pub use summary::{IntervalInstance, IntervalSummary, IntervalTotals};
#[cfg(feature = "fleet")]
pub use swift_tasks::{SwiftTask, SwiftTasks};
