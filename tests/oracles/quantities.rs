//! Quantities in MetricKit reports in all locales of CLDR, written by Babel (`tests/oracle/quantities.py`).

use std::collections::BTreeMap;
use std::path::PathBuf;

use libtest_mimic::{Failed, Trial};
use traceparse::read;
use traceparse::recording::Options;

use crate::programs::{Server, number, python, repository, runs, said};

pub(crate) fn trials() -> Vec<Trial> {
    let has_babel = || runs(python().args(["-c", "import babel"]));
    let has_cldr = || modules().join("cldr-units-full").is_dir();
    let mut trials = trials![if has_babel(); quantities_of_all_locales_are_read_or_counted];
    trials.extend(trials![if has_babel() && has_cldr(); names_of_units_are_those_of_cldr]);
    trials
}

fn modules() -> PathBuf {
    std::env::var_os("TRACEPARSE_NODE_MODULES").map(PathBuf::from).unwrap_or_default()
}

/// Values of a locale.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    read: u64,
    unread: u64,
}

fn quantities_of_all_locales_are_read_or_counted() -> Result<(), Failed> {
    let (count, seed) = (support::rounds(200), number("TRACEPARSE_SEED").unwrap_or(1));
    println!("{count} values of each locale; to repeat: TRACEPARSE_SEED={seed}");
    let mut oracle = Server::start("quantities.py")?;
    let locales: Vec<String> = serde_json::from_value(oracle.ask(b"locales\n")?)?;
    ensure!(locales.len() > 700, "{} locales", locales.len());
    let (mut counts, mut wrong): (BTreeMap<&str, Count>, Vec<String>) = Default::default();
    for locale in &locales {
        let reports = oracle.ask(format!("{locale} {count} {seed}\n").as_bytes())?;
        for report in reports.as_array().ok_or("no reports")? {
            let text = report["report"].as_str().ok_or("no report")?;
            let values: Vec<u64> = serde_json::from_value(report["values"].clone())?;
            let count = counts.entry(locale).or_default();
            wrong.extend(check(text, &values, count)?.map(|error| format!("{locale}: {error}: {text}")));
        }
    }
    let (read, unread) = counts.values().fold((0, 0), |(read, unread), of| (read + of.read, unread + of.unread));
    let mut worst: Vec<_> = counts.iter().filter(|(_, of)| of.unread > 0).collect();
    worst.sort_by_key(|(_, of)| std::cmp::Reverse(of.unread));
    println!("{read} of {} values are read; most unread: {:?}", read + unread, &worst[..worst.len().min(40)]);
    let some: Vec<String> = wrong.iter().step_by(1 + wrong.len() / 40).cloned().collect();
    ensure!(wrong.is_empty(), "{} reports are read wrongly: {}", wrong.len(), some.join("\n"));
    // 0.97 to 1.02 % of 700,000 values with the seeds that were tried, and more with fewer values.
    ensure!(unread * 1_000 <= 13 * (read + unread), "{unread} of {} values are not read", read + unread);
    Ok(())
}

/// Compares a report with the values in it, and counts them. Returns the first difference.
fn check(text: &str, values: &[u64], count: &mut Count) -> Result<Option<String>, Failed> {
    let options = Options { metrics: true, ..Options::default() };
    let recording = read(text.as_bytes(), "input", &options)?;
    let run = recording.tocs().flat_map(|toc| &toc.runs).next().ok_or("no run")?;
    let mut found: Vec<Option<u64>> = vec![run.stated.map(|weight| weight.value)];
    if let Some(metrics) = &run.metrics {
        found = [metrics.cpu_time, metrics.running].map(|time| time.map(|time| time.as_nanos())).to_vec();
        let bins = metrics.histograms.first().map_or([].as_slice(), |histogram| &histogram.bins);
        // The reader rounds ends up.
        let ends = |end: u64| end.saturating_sub(1_000_000);
        found.extend(
            bins.iter()
                .flat_map(|(lower, upper, _)| [Some(lower.as_nanos()), upper.map(|upper| ends(upper.as_nanos()))]),
        );
        found.resize(values.len(), None);
    }
    for (found, value) in found.iter().zip(values) {
        match found {
            None => count.unread += 1,
            Some(found) => {
                if found != value {
                    return Ok(Some(format!("{found} instead of {value}")));
                }
                count.read += 1;
            }
        }
    }
    let is_counted = run.unread_quantities > 0 && !recording.diagnostics.is_empty();
    ensure!(
        is_counted == found.contains(&None),
        "{} unread quantities, {:?}",
        run.unread_quantities,
        recording.diagnostics
    );
    Ok(None)
}

/// The data of the crate is what its generator makes of CLDR.
fn names_of_units_are_those_of_cldr() -> Result<(), Failed> {
    let made = said(python().arg(repository("tests/support/programs/quantities.py")).arg(modules()))?;
    let kept = std::fs::read_to_string(repository("src/readers/metrickit/quantities.txt"))?;
    ensure!(made == kept, "run tests/support/programs/quantities.py again");
    Ok(())
}
