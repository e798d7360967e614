//! Crashes: runs without measurements, counted by the innermost app function in the thread that crashed.

use super::labels::RunContext;
use super::metrics;
use crate::fleet::run::{FrameRow, RunMeasures, RunRecord};
use crate::profile::{Category, FunctionId, Meaning, RunId};
use crate::recording::{CRASH, Recording};
use crate::units::Unit;

/// The runs for all crashes in an input.
pub(super) fn runs(recording: &Recording, context: &RunContext) -> Vec<RunMeasures> {
    let profile = &recording.profile;
    let crashes = profile.series_ids().map(|id| profile.series(id)).filter(|series| series.meaning == Meaning::Stop);
    let crashes = crashes.filter_map(|series| Some((series.run, recording.toc_of_run(series.run)?)));
    let crashes = crashes.filter(|(_, toc)| toc.summary_field("diagnostic") == Some(CRASH));
    let run = |(run, toc)| {
        let id = format!("{}-crash-{}", context.run_id, profile.run(run).number);
        let mut measures = metrics::run((id, Unit::DayTime, &[(FrameRow::STACKLESS, 0)], None), toc, context);
        measures.record.labels.push((RunRecord::CRASHED_IN.to_owned(), place(recording, run)));
        measures.record.labels.sort();
        measures
    };
    crashes.map(run).collect()
}

/// The innermost app function in the thread that crashed, with its binary.
fn place(recording: &Recording, run: RunId) -> String {
    let profile = &recording.profile;
    let Some(thread) = recording.attributed_thread(run) else { return "an unknown thread".to_owned() };
    let Some(sum) = profile.sums().find(|sum| sum.thread == thread) else {
        return "a thread without a stack".to_owned();
    };
    let is_own = |id: &FunctionId| Category::of_function(profile, *id) == Category::User;
    let functions: Vec<FunctionId> = profile.frames_leaf_first(sum.stack).map(|frame| frame.function).collect();
    let own = functions.iter().copied().find(is_own);
    let Some(function) = own.or(functions.first().copied()) else { return "a thread without a stack".to_owned() };
    let is_named = profile.function(function).is_named;
    let name = if is_named { profile.function_name(function) } else { FrameRow::UNNAMED };
    let binary = profile.binary_name(function).unwrap_or("no known binary");
    if own.is_some() { format!("{name} ({binary})") } else { format!("{name} ({binary}), without app code") }
}
