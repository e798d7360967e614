//! CPU time within intervals, and hangs: of all samples, regardless of the selection.

use std::sync::Arc;

use serde::Serialize;
use traceparse::calltree::Node;
use traceparse::recording::{Intervals, Recording};
use traceparse::report::{Hang, HangActivity};
use ts_rs::TS;

use super::{amount, label_number};
use crate::protocol::Amount;
use crate::wire::{F64s, I32s};

/// Hangs that are described, the longest ones.
const HANGS: usize = 8;

/// The CPU time within each interval of the recording.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IntervalsAnswer {
    /// The unit of CPU time; null if there is none.
    #[ts(type = "FlameModel['unit'] | null")]
    unit: Option<&'static str>,
    /// By interval: the CPU time of its thread within it, and of all threads. NaN if it has no thread, or nothing was sampled.
    thread: F64s,
    all: F64s,
}

/// The longest hangs of a run, by time.
#[derive(Debug, Serialize, TS)]
pub(crate) struct HangsAnswer {
    /// The number of all.
    count: usize,
    hangs: Vec<HangRow>,
}

#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
struct HangRow {
    start: f64,
    /// Null if it was open at the end.
    duration: Option<f64>,
    hang_type: Option<String>,
    process: Option<String>,
    /// -1 if it has no samples.
    thread: i32,
    activity: Option<HangDoing>,
    signposts: Vec<String>,
}

/// What the thread did.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
struct HangDoing {
    #[ts(type = "FlameModel['unit']")]
    unit: &'static str,
    /// Null if samples do not tell.
    is_busy: Option<bool>,
    /// The share of time on the CPU; null if the table does not record time.
    percent: Option<f64>,
    on_cpu: Amount,
    off_cpu: Amount,
    /// The labels of the heaviest stack on the CPU, and off it.
    heaviest: I32s,
    waiting: I32s,
}

pub(crate) fn intervals(recording: &Recording, intervals: &Intervals) -> IntervalsAnswer {
    let cpu = recording.cpu_within(&intervals.intervals);
    let column =
        |place: usize| cpu.iter().map(|cpu| cpu[place].map_or(f64::NAN, |weight| weight.value as f64)).collect();
    let unit = cpu.iter().find_map(|[_, all]| Some((*all)?.unit.name()));
    IntervalsAnswer { unit, thread: column(0), all: column(1) }
}

pub(crate) fn hangs(recording: &Recording, intervals: &Intervals, run: u32) -> HangsAnswer {
    let (hangs, count) = recording.longest_hangs(intervals, run, HANGS);
    HangsAnswer { count, hangs: hangs.into_iter().map(hang).collect() }
}

fn hang(hang: Hang) -> HangRow {
    let Hang { interval, thread, activity, signposts } = hang;
    let text = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
    HangRow {
        start: interval.start.as_nanos() as f64,
        duration: interval.duration().map(|length| length.as_nanos() as f64),
        hang_type: text(&interval.hang_type),
        process: text(&interval.process),
        thread: thread.map_or(-1, |thread| thread.index() as i32),
        activity: activity.map(doing),
        signposts: signposts.iter().map(|name| name.to_string()).collect(),
    }
}

fn doing(activity: HangActivity) -> HangDoing {
    let HangActivity { on_cpu, percent, is_busy, heaviest, off_cpu, waiting } = activity;
    let labels = |nodes: &[Node]| nodes.iter().map(|node| label_number(node.label)).collect();
    HangDoing {
        unit: on_cpu.weight.unit.name(),
        is_busy,
        percent,
        on_cpu: amount(on_cpu),
        off_cpu: amount(off_cpu),
        heaviest: labels(&heaviest),
        waiting: labels(&waiting),
    }
}
