//! CPU time within intervals, and the activity of threads during hangs. All samples are used, regardless of the selection.

use std::rc::Rc;

use serde::Serialize;
use traceparse::recording::{Intervals, Recording};
use ts_rs::TS;

use super::trees;
use crate::protocol::{Amount, Answer, HangSpan, Selection, SeparateBy, States, TimeSpan};
use crate::view::{Base, View};
use crate::wire::{F64s, I32s, Refused};

/// The CPU time within each interval of the recording.
#[derive(Debug, Serialize, TS)]
pub(crate) struct IntervalsAnswer {
    /// The unit of CPU time; null if there is no CPU time.
    #[ts(type = "FlameModel['unit'] | null")]
    unit: Option<&'static str>,
    /// By interval: the CPU time within it, of its thread and of all threads. NaN if it has no thread, or if nothing was sampled.
    thread: F64s,
    all: F64s,
}

/// What the threads of a hang did during it.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HangDoing {
    on_cpu: Amount,
    off_cpu: Amount,
    /// The labels of the heaviest stack on the CPU and of the heaviest stack off the CPU.
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

pub(crate) fn hang(base: &Rc<Base>, series: usize, hang: &HangSpan) -> Result<HangDoing, Refused> {
    let in_states = |states: Option<Vec<String>>| {
        let time = Some(TimeSpan { start: hang.start, end: hang.end });
        let (threads, states) = (Some(hang.threads.clone()), states.map(States::Only));
        let selection = Selection { threads, time, states, ..Selection::default() };
        let view = View::new(Rc::clone(base), &selection, &Intervals::default())?;
        match trees::heaviest(&view, series, SeparateBy::None, None)? {
            Answer::Heaviest { total, label, .. } => Ok((total, label)),
            _ => Err(Refused("a hang has no stack".to_owned())),
        }
    };
    let (on_cpu, heaviest) = in_states(None)?;
    let profile = base.profile();
    let others = base
        .states
        .iter()
        .map(|&state| profile.string(state))
        .filter(|name| !["Running", "Interrupted"].contains(name));
    let (off_cpu, waiting) = in_states(Some(others.map(str::to_owned).collect()))?;
    Ok(HangDoing { on_cpu, off_cpu, heaviest, waiting })
}
