//! Compares two recordings, like `traceparse diff` writes a page.

use traceparse::output::{DiffReport, DiffView, WorkbenchOptions};
use traceparse::report::ReportOptions;
use traceparse::report::diff::{Diff, Normalize, Unlike};
use traceparse::units::Nanos;
use traceparse::{Error, ErrorKind};

use super::Reading;
use super::recording::Loaded;
use crate::wire::U8s;

/// Compares the earlier recording with the later one, or the other way round.
///
/// # Errors
/// If their weights cannot be compared. Other differences are warnings, since a drop has no options.
pub(super) fn compare(both: [Loaded; 2], is_swapped: bool, mut reading: Reading) -> Result<Reading, Error> {
    let ([before, after], order) = in_order(both, is_swapped);
    let options = ReportOptions::default();
    let reports = [&before, &after].map(|loaded| loaded.analysis.report(&options));
    let [first, second] = reports.each_ref();
    for unlike in Unlike::between(first, second) {
        if !unlike.is_forcible() {
            let text = format!("these recordings cannot be compared: {unlike}");
            return Err(Error::new(ErrorKind::NotAnExport(text), None));
        }
        reading.warnings.push(format!("{unlike}: this alone may explain the changes"));
    }
    if let Some(table) = first.table_without_sample_counts().or(second.table_without_sample_counts()) {
        reading
            .warnings
            .push(format!("{table} does not record sample counts, so it is unknown how much chance explains"));
    }
    let diff = &Diff::new(first, second, Normalize::None);
    let diff = DiffReport {
        before: first,
        after: second,
        diff,
        normalize: Normalize::None,
        view: DiffView::Overview,
        top: None,
        min_percent: 0.0,
        alerts: &[],
    };
    let (intervals, before_intervals) = (Some(&after.intervals), Some(&before.intervals));
    let page = WorkbenchOptions { intervals, before_intervals, ..WorkbenchOptions::default() };
    let ([earlier, later], facts) = page.comparison(&diff).map_err(|error| Error::io(error, None))?;
    reading.payload = U8s(later);
    reading.before = Some(U8s(earlier));
    reading.facts = Some(facts);
    reading.notes.insert(0, order);
    reading.title = format!("{} → {}", before.name, after.name);
    Ok(reading)
}

/// Sorts the recordings by date if both have one, otherwise by name, and leaves files with one name in the order of the drop. Also returns a
/// sentence about the order.
fn in_order(both: [Loaded; 2], is_swapped: bool) -> ([Loaded; 2], String) {
    let [first, second] = both;
    let (is_earlier, why) = match [&first, &second].map(start) {
        [Some(a), Some(b)] if a != b => (a < b, "by the dates of the recordings"),
        _ if dropped_name(&first.name).0 == dropped_name(&second.name).0 => {
            (dropped_name(&first.name).1 <= dropped_name(&second.name).1, "as dropped")
        }
        _ => (first.name <= second.name, "by name"),
    };
    let why = if is_swapped { "swapped" } else { why };
    let order = if is_earlier == is_swapped { [second, first] } else { [first, second] };
    let text = format!("Before: {}; after: {} ({why}).", order[0].name, order[1].name);
    (order, text)
}

/// The time at which the first run was started.
fn start(loaded: &Loaded) -> Option<Nanos> {
    let recording = loaded.analysis.recording();
    recording.profile.run_ids().filter_map(|run| recording.toc_of_run(run)?.start()).min()
}

/// The original name of a file: `cpu.xml` for `2/cpu.xml` and `cpu (1).xml`, which the page and the browser call a second file with that name. Also
/// returns its place among these: the number of the page and that of the browser.
fn dropped_name(name: &str) -> (String, [u64; 2]) {
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    let folder = name.split_once('/').and_then(|(folder, rest)| Some((number(folder)?, rest)));
    let (drop, name) = folder.unwrap_or((1, name));
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let counted = stem.strip_suffix(')').and_then(|stem| stem.rsplit_once(" ("));
    let (count, stem) = counted.and_then(|(stem, count)| Some((number(count)?, stem))).unwrap_or((0, stem));
    (format!("{stem}.{extension}"), [drop, count])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_the_browser_counted_are_one_name() {
        for name in ["cpu.xml", "2/cpu.xml", "cpu (1).xml", "3/cpu (12).xml"] {
            assert_eq!(dropped_name(name).0, "cpu.xml", "{name}");
        }
        for name in ["cpu (a).xml", "cpu(1).xml", "new/cpu.xml", "cpu ().xml"] {
            assert_eq!(dropped_name(name), (name.to_owned(), [1, 0]));
        }
        let places =
            ["cpu.xml", "cpu (1).xml", "cpu (10).xml", "2/cpu.xml", "10/cpu.xml"].map(|name| dropped_name(name).1);
        assert!(places.is_sorted(), "{places:?}");
    }
}
