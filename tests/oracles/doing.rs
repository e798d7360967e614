//! The activity of threads in the corpus reports with samples of waiting threads, compared with `tests/oracle/doing.py`.

use std::collections::BTreeMap;
use std::io::Read;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use traceparse::calltree::{Action, Metric, Operation};
use traceparse::decompress;
use traceparse::memory::MemoryBudget;
use traceparse::profile::{Meaning, Profile, Selection};
use traceparse::read;
use traceparse::recording::{Options, Recording};
use traceparse::report::{ReportOptions, View};

use crate::programs::{Server, corpus, files, has_python, in_corpus};

pub(crate) fn trials() -> Vec<Trial> {
    trials![if has_python() && corpus().is_some(); threads_do_what_the_oracle_counts]
}

/// By thread: its samples.
fn by_thread(profile: &Profile) -> BTreeMap<usize, u64> {
    profile.sums().fold(BTreeMap::new(), |mut sums, sum| {
        *sums.entry(sum.thread.index()).or_default() += sum.samples;
        sums
    })
}

/// The samples of a recording that waited, ran, were queued, or belong to an idle core, as the overview counts them.
fn overview(recording: &Recording) -> [u64; 4] {
    let report = recording.report(&ReportOptions { view: View::Overview, ..ReportOptions::default() });
    report.series.iter().fold([0; 4], |sum, series| {
        let shares = report.overview(series, 5, 1, 0).shares;
        let runs = [shares.own, shares.system, shares.unknown, shares.no_stack].iter().map(|share| share.samples).sum();
        let found = [shares.waiting.samples, runs, shares.queued.samples, shares.idle.samples];
        std::array::from_fn(|index| sum[index] + found[index])
    })
}

fn threads_do_what_the_oracle_counts() -> Result<(), Failed> {
    let mut oracle = Server::start("doing.py")?;
    let folders = ["inputs/spindump", "inputs/sample", "reproducers/causes"].map(in_corpus);
    let (mut compared, skip) = (Vec::new(), Operation { action: Action::SkipIdle, text: "--skip-idle".to_owned() });
    for path in folders.iter().flat_map(|folder| files(folder, "")) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut content = Vec::new();
        decompress(std::fs::File::open(&path)?, &MemoryBudget::unlimited())?.read_to_end(&mut content)?;
        let is_report = content.starts_with(b"Date/Time:")
            || content.windows(20).take(999).any(|part| part == b"Analysis of sampling");
        let Ok(recording) = read(content.as_slice(), "input", &Options::default()) else { continue };
        let profile = &recording.profile;
        let mut meanings = profile.series_ids().map(|id| profile.series(id).meaning);
        // The other reader has all rows.
        let is_whole = recording.rejected() == 0;
        if !is_report || !is_whole || meanings.any(|meaning| meaning != Meaning::Presence) {
            continue;
        }
        let expected = oracle.ask(&[format!("{}\n", content.len()).as_bytes(), &content].concat())?;
        let rows: Vec<[u64; 4]> = serde_json::from_value(expected)?;
        let total = |index: usize| rows.iter().map(|row| row[index]).sum::<u64>();
        let expected: [u64; 4] = std::array::from_fn(total);
        let found = overview(&recording);
        ensure!(found == expected, "{name}: {found:?} and {expected:?}");
        // By thread: what `--skip-idle` removes, and what it leaves.
        let (after, effects) =
            Selection::default().on(profile).operate(std::slice::from_ref(&skip), Metric::Samples)?;
        let (all, left) = (by_thread(profile), by_thread(&after));
        let left = |thread: &usize| left.get(thread).copied().unwrap_or_default();
        let mut found: Vec<[u64; 2]> = all.iter().map(|(thread, all)| [all - left(thread), left(thread)]).collect();
        let mut of_rows: Vec<[u64; 2]> = rows.iter().map(|row| [row[0] + row[3], row[1] + row[2]]).collect();
        found.sort_unstable();
        of_rows.sort_unstable();
        ensure!(found == of_rows, "{name}: {found:?} and {of_rows:?}");
        let removed: u64 = effects[0].changes.iter().map(|(_, change)| change.removed_samples).sum();
        ensure!(removed == expected[0] + expected[3], "{name}: {removed} removed");
        compared.push(json!([name, expected]));
    }
    let has = |name: &str, counts: [u64; 4]| compared.contains(&json!([name, counts]));
    ensure!(has("10.12-heavy.spindump.txt.gz", [319_007, 45, 7, 8_000]), "{}", Value::from(compared));
    ensure!(has("13.0-shutdown-stall.spindump.txt.gz", [19_860, 281, 28, 404]), "{}", Value::from(compared));
    ensure!(compared.len() >= 7, "{}", Value::from(compared));
    Ok(())
}
