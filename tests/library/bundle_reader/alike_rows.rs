//! Equal rows are counted together: with more kinds of rows than are cached, and with weights that do not fit.

use std::collections::BTreeMap;

use traceparse::profile::{Profile, SampledTime};
use traceparse::read;
use traceparse::recording::{Options, Recording, RejectReason, SampleDetail};

use super::{Case, assert_rows, export_of, read_files, without_changed_names, without_function_names};
use support::bundle::{BundleOptions, found, write_bundle};
use support::{Invented, Rng, Shape, Size, Table};

const ROWS: usize = 12_000;

/// A recording whose weights are drawn by `weight`.
fn case(seed: u64, mut weight: impl FnMut(&mut Rng) -> u64) -> Case {
    let mut rng = Rng::new(seed);
    let mut recording = Invented::random(seed, &Size { rows: ROWS, processes: 4, ..Size::small() });
    recording.rows.iter_mut().for_each(|row| row.weight = weight(&mut rng));
    let options = BundleOptions::new(Table::TimeProfile, &recording);
    Case { recording, options }
}

fn read_both(case: &Case, samples: SampleDetail, jobs: usize) -> [Recording; 2] {
    let options = Options { samples, jobs, ..Options::default() };
    let bundle = read_files(&write_bundle(&case.recording, &case.options), &options).unwrap();
    let xml = export_of(case, Shape::Xcode26_2);
    [bundle, read(xml.as_bytes(), "orchard", &options).unwrap()]
}

/// Rows, samples and rejected weights of each table.
fn counts(export: &Recording) -> Vec<(u64, u64, u64)> {
    export.tables().map(|table| (table.rows, table.samples, table.rejected.of(RejectReason::WeightOverflow))).collect()
}

/// By all that is summed apart: weight and samples; first and last time, and the end of what they cover.
type Sums = BTreeMap<String, ((u64, u64), Option<SampledTime>)>;

fn sums(profile: &Profile) -> Sums {
    let by_key = profile.sums().map(|sum| {
        let thread = profile.thread(sum.thread);
        let frames = profile.frames_leaf_first(sum.stack).map(|frame| found::frame(profile, frame).address);
        let stack: Option<Vec<_>> = sum.stack.map(|_| frames.collect());
        let state = sum.state.map(|state| profile.string(state));
        let key = format!("{:?} {:?} {state:?} {stack:?}", profile.process(thread.process).pid, thread.tid);
        (key, ((sum.weight, sum.samples), sum.times))
    });
    by_key.collect()
}

fn assert_alike(case: &Case, rejected: u64, what: &str) {
    for jobs in [1, 2] {
        let what = format!("{what}, {jobs} jobs");
        let [bundle, export] = read_both(case, SampleDetail::Each, jobs);
        let rows = |profile: &Profile| {
            without_function_names(without_changed_names(super::found_rows(profile), &case.recording))
        };
        assert_rows(&rows(&bundle.profile), &rows(&export.profile), &what);
        assert_eq!(counts(&bundle), counts(&export), "{what}");
        assert_eq!(counts(&bundle), [(ROWS as u64, ROWS as u64 - rejected, rejected)], "{what}");
        let [bundle, export] = read_both(case, SampleDetail::Summed, jobs);
        assert_eq!(counts(&bundle), counts(&export), "{what}, summed");
        assert_eq!(sums(&bundle.profile), sums(&export.profile), "{what}, summed");
    }
}

#[test]
fn more_kinds_of_rows_than_are_remembered() {
    for seed in 0..3 {
        // Sometimes the value of an idle thread; otherwise any counter value.
        let usual = |rng: &mut Rng| if rng.one_in(4) { 1_000_000 } else { rng.below(1 << 20) };
        assert_alike(&case(seed, usual), 0, &format!("seed {seed}"));
        assert_alike(&case(seed, |_| 1_000_000), 0, &format!("seed {seed}, one weight"));
    }
}

#[test]
fn weights_that_do_not_fit_are_rejected_one_by_one() {
    for seed in 0..3 {
        // A few thousand of these fit, and small ones in between always do.
        let large = u64::MAX / 5_000;
        let case = case(seed, |rng| if rng.one_in(8) { 1 } else { large });
        let mut total = 0_u64;
        let fits = |weight: u64| total.checked_add(weight).inspect(|&sum| total = sum).is_some();
        let weights: Vec<u64> = case.recording.rows.iter().map(|row| row.weight).collect();
        let rejected = weights.iter().copied().map(fits).filter(|fits| !fits).count() as u64;
        assert!(rejected > 1_000, "{rejected}");
        assert_alike(&case, rejected, &format!("seed {seed}"));
    }
}
