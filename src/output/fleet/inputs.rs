//! Sentences about inputs that are not used or only partly used, for text and the page.

use super::definitions::{NAMED, first_few};
use super::many;
use crate::fleet::Inputs;
use crate::output::text::style::Tone;

/// The sentences, except those about files that produced no run.
pub(super) fn inputs(inputs: &Inputs) -> Vec<(Option<Tone>, String)> {
    let warning = |count: u64, noun: &str, text: &str| {
        (count > 0).then(|| (Some(Tone::Warning), format!("{} {text}", many(count, noun))))
    };
    let idle = "in which no thread was on the CPU: 0 in every percentile and mean";
    let idle = (inputs.idle > 0).then(|| (None, format!("{}, {idle}", many(inputs.idle, "idle run"))));
    let without_time =
        format!("without recorded time, so without CPU use, not counted: {}", first_few(&inputs.without_time, NAMED));
    let estimated =
        "with estimated time (the time that samples cover): CPU use is too high if the app was idle before or after";
    let rejected = "of CPU tables or values of reports could not be read and are not used";
    let unread: u64 = inputs.damaged.iter().map(|damaged| u64::from(damaged.unread_runs)).sum();
    let sources: Vec<String> = inputs.damaged.iter().map(|damaged| damaged.source.clone()).collect();
    let damaged = format!("of recordings, not read and not counted: {}", first_few(&sources, NAMED));
    let damaged = format!("{} {damaged}", many(unread, "damaged run"));
    let excluded = "outside the selection, from files with other runs; not used";
    let sentences = [
        idle,
        warning(inputs.without_time.len() as u64, "run", &without_time),
        warning(inputs.estimated_time, "run", estimated),
        warning(inputs.rejected_rows, "row", rejected),
        (!sources.is_empty()).then_some((Some(Tone::Warning), damaged)),
        warning(inputs.excluded_runs, "run", excluded),
    ];
    sentences.into_iter().flatten().collect()
}
