//! The definitions of a report's numbers and of its restrictions, for text and the page.

use super::sentences::{counted_threads, measure_of_reports};
use super::thousands;
use crate::fleet::{FleetReport, Measure};
use crate::stats::QuantileMethod;
use crate::units::Unit;

/// The maximum number of names in a sentence.
pub(super) const NAMED: usize = 3;

/// A sentence for each restriction; empty if runs are used completely.
pub(super) fn narrowed(report: &FleetReport) -> Vec<String> {
    let processes = &report.options.processes;
    let processes =
        (!processes.is_empty()).then(|| format!("only these processes are included: {}", processes.join(", ")));
    let threads = counted_threads(&report.options, |names| first_few(names, NAMED));
    let threads = threads.map(|threads| format!("only these threads are included: {threads}"));
    let selection = (!report.selection.is_whole())
        .then(|| format!("only the selected part of each run is included: {}", report.selection));
    processes.into_iter().chain(threads).chain(selection).collect()
}

/// The meaning of the numbers.
pub(super) fn measure(report: &FleetReport) -> String {
    if let Some(measure) = measure_of_reports(report) {
        return measure.to_owned();
    }
    let has = |is_time: bool| report.cohorts.iter().any(|row| (row.cohort.unit == Unit::Nanoseconds) == is_time);
    let what = match (has(true), has(false)) {
        (true, true) => {
            "CPU time per recorded time, where 100 % is one core that was busy throughout; else units per second"
        }
        _ if report.selection.counts_waiting() => {
            "Thread time of a run: time (or weight) of threads in the selected states, running or not, per recorded time; \
             100 % is one thread that was in them throughout"
        }
        (false, true) => "CPU use of a run: the weight of its samples per second of recorded time",
        _ => "CPU use of a run: CPU time per recorded time; 100 % is one core that was busy throughout",
    };
    let of = match report.options.measure {
        Measure::Cpu | Measure::SelfWeight => "samples with them as the leaf",
        Measure::AllWeight => "samples with them anywhere in the stack",
    };
    format!("{what}; of binaries and functions, {of}")
}

/// The definition of percentiles.
pub(super) fn method(report: &FleetReport) -> String {
    let options = &report.options;
    let rule = match options.method {
        QuantileMethod::NearestRank => "by nearest rank",
        QuantileMethod::Linear => "by linear interpolation",
    };
    let is_exact = report.cohorts.iter().all(|cohort| cohort.across_runs.is_exact);
    let exact = if is_exact { "exact" } else { "from buckets" };
    let sure = if options.is_weighted {
        "by run weight, without intervals".to_owned()
    } else {
        format!("{} order-statistic intervals{}", options.confidence, report.assumption())
    };
    let means = "mean: every run counts once; by time: mean over all recorded time";
    format!("percentiles across runs {rule}, {exact}; {sure}; a function absent from a run counts as 0; {means}")
}

/// The first `count` names of a list, and the number of the others.
pub(super) fn first_few(names: &[String], count: usize) -> String {
    let shown = names[..count.min(names.len())].join(", ");
    match names.len().saturating_sub(count) {
        0 => shown,
        more => format!("{shown} and {} more", thousands(more as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
        assert_eq!((first_few(&names, 3), first_few(&names, 2)), ("a, b, c".into(), "a, b and 1 more".into()));
        assert_eq!(first_few(&[], 2), "");
    }
}
