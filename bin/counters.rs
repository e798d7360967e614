//! Uses performance counters as weights.

use anyhow::{Result, anyhow, bail};
use traceparse::Analysis;
use traceparse::profile::RebuildError;
use traceparse::recording::{Counter, Recording};
use traceparse::units::first_of;

use crate::filters::MetricArg;
use crate::{note, warning};

/// Weights samples by the events of the requested counter, if any, and reports the tables and samples without this counter.
pub(crate) fn weigh_by_counter(analysis: &mut Analysis, metric: &MetricArg) -> Result<()> {
    let MetricArg::Counter(counter) = metric else { return Ok(()) };
    let without = analysis.weigh_by_counter(counter).map_err(|error| match error {
        RebuildError::Full(_) => anyhow!("the values of this counter add up to more than 64 bits"),
        other => other.into(),
    })?;
    let recording = analysis.recording();
    let profile = &recording.profile;
    let schema = |id| profile.string(profile.series(id).schema);
    if without.iter().all(Option::is_none) {
        bail!("{}", no_counter(recording, counter));
    }
    for (id, without) in profile.series_ids().zip(without) {
        match without {
            None => note(&format!("{} has no such counter and is not used", schema(id))),
            Some(0) => {}
            Some(samples) => {
                warning(&format!(
                    "{samples} samples of {} have no value of this counter, so their weight is 0",
                    schema(id)
                ));
            }
        }
    }
    Ok(())
}

/// The error for an unknown counter, with a list of the counters in the tables.
fn no_counter(recording: &Recording, counter: &Counter) -> String {
    let profile = &recording.profile;
    let asked = match counter {
        Counter::Number(number) => format!("counter {number}"),
        Counter::Name(name) => format!("counter named {name}"),
    };
    let tables = recording.counter_names().into_iter().zip(recording.counter_counts()).zip(profile.series_ids());
    let tables = tables.filter(|((_, count), _)| *count > 0).map(|((names, count), id)| {
        let schema = profile.string(profile.series(id).schema);
        if names.is_empty() {
            format!("{schema} has {count}, whose names are unknown without its table of contents")
        } else {
            format!("{schema} has {}", first_of(&names))
        }
    });
    let tables: Vec<String> = tables.collect();
    if tables.is_empty() {
        return "no table has performance counters; record with the CPU Counters template".to_owned();
    }
    format!("no table has a {asked}: {}", tables.join("; "))
}
