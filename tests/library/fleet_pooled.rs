//! Compares the summed call trees of runs with the samples of their recordings, added one by one.

use std::collections::BTreeMap;
use std::io::Cursor;

use support::fleet::context;
use support::stack_sums::{StackSums, merge, of_series, of_sums};
use traceparse::fleet::{DatasetError, DatasetRow, DatasetTable, MeasureOptions, PoolError, PooledStacks, RunMeasures};
use traceparse::memory::MemoryBudget;
use traceparse::profile::Category;
use traceparse::read;
use traceparse::recording::{Options, Recording};
use traceparse::units::{Nanos, Unit};

/// The runs of all fixtures, each with its stacks summed slowly.
fn runs() -> Vec<(RunMeasures, StackSums)> {
    let options = MeasureOptions { with_stacks: true, ..MeasureOptions::default() };
    let mut runs = Vec::new();
    for (index, (path, input)) in support::fixtures().into_iter().enumerate() {
        let recording = read(input.as_bytes(), path, &Options::default()).unwrap();
        let Ok(measured) = recording.measure(&context(Vec::new()), &options) else { continue };
        for (mut run, series) in measured.runs.into_iter().zip(measured.series) {
            run.record.run_id += &format!(" of {index}");
            runs.push((run, of_series(&recording, series)));
        }
    }
    assert!(runs.len() > 12, "{}", runs.len());
    runs
}

fn pooled<'r>(runs: impl IntoIterator<Item = &'r RunMeasures>) -> Result<Recording, PoolError> {
    let mut stacks = PooledStacks::new(&MemoryBudget::unlimited());
    runs.into_iter().try_for_each(|run| stacks.add(run, |_, _, _| true))?;
    stacks.finish("fixtures")
}

/// The runs as a dataset gives them back.
fn through_dataset(runs: &[RunMeasures]) -> Vec<RunMeasures> {
    let open = |table: DatasetTable| {
        let mut bytes = Vec::new();
        table.write(runs, &[], &mut bytes)?;
        Ok::<_, DatasetError>(Cursor::new(bytes))
    };
    let run = |row| match row {
        DatasetRow::Run(run) => run,
        DatasetRow::Failed(failed) => panic!("{failed:?}"),
    };
    DatasetRow::read(open).unwrap().map(|row| run(row.unwrap()).into_measures()).collect()
}

#[test]
fn the_tree_of_one_run_is_that_of_its_recording() {
    for (run, expected) in runs() {
        let own = of_sums(&pooled([&run]).unwrap());
        assert_eq!(own, expected, "{}", run.record.run_id);
        let weight: u64 = own.values().map(|[weight, _]| weight).sum();
        assert_eq!(weight, run.record.weight);
    }
}

#[test]
fn the_tree_of_all_runs_is_the_sum_of_their_trees() {
    let mut by_unit: BTreeMap<Unit, (Vec<RunMeasures>, StackSums)> = BTreeMap::new();
    for (run, expected) in runs() {
        let (runs, sums) = by_unit.entry(run.record.unit).or_default();
        runs.push(run);
        merge(sums, expected);
    }
    assert!(by_unit.len() > 1, "several units");
    for (runs, expected) in by_unit.into_values() {
        let all = pooled(&runs).unwrap();
        assert_eq!(of_sums(&all), expected);
        assert_eq!(of_sums(&pooled(runs.iter().rev()).unwrap()), expected, "in any order");
        assert_eq!(of_sums(&pooled(&through_dataset(&runs)).unwrap()), expected, "from a dataset");
        let wall = runs
            .iter()
            .map(|run| run.record.wall)
            .try_fold(Nanos::default(), |sum, wall| Some(sum.saturating_add(wall?)));
        let run = all.profile.run_ids().next().unwrap();
        assert_eq!(wall, Some(all.selected_time(run, &Default::default()).length()).filter(|_| wall.is_some()));
    }
}

#[test]
fn code_keeps_its_category() {
    let mut found = Vec::new();
    for (path, input) in support::fixtures() {
        let recording = read(input.as_bytes(), path, &Options::default()).unwrap();
        let options = MeasureOptions { with_stacks: true, ..MeasureOptions::default() };
        let Ok(measured) = recording.measure(&context(Vec::new()), &options) else { continue };
        let all = pooled(measured.runs.iter().take(1)).unwrap();
        let categories = |recording: &Recording| {
            let profile = &recording.profile;
            let category = |id| Category::of_binary(profile, Some(id));
            let of = |id| (profile.string(profile.binary(id).name).to_owned(), category(id));
            profile.binary_ids().map(of).collect::<BTreeMap<String, Category>>()
        };
        let recorded = categories(&recording);
        for (name, category) in categories(&all) {
            assert_eq!(recorded.get(&name), Some(&category), "{path}: {name}");
            found.push(category);
        }
    }
    assert!(found.contains(&Category::User) && found.contains(&Category::System), "{found:?}");
}

#[test]
fn units_are_never_mixed_and_nothing_is_missing() {
    let (mut runs, _): (Vec<RunMeasures>, Vec<StackSums>) = runs().into_iter().unzip();
    let message = pooled(&runs).unwrap_err().to_string();
    for unit in ["ns", "cycles", "time-profile", "cpu-profile", "--schema"] {
        assert!(message.contains(unit), "{message}");
    }
    assert_eq!(pooled([]).unwrap_err(), PoolError::Nothing);
    runs.retain(|run| run.record.unit == Unit::Nanoseconds);
    let count = runs.len() as u64;
    let last = runs.last_mut().unwrap();
    last.stacks.clear();
    let source = last.record.source.clone();
    assert_eq!(pooled(&runs).unwrap_err(), PoolError::WithoutStacks(1, count, source));
    // An idle run has no stacks.
    let last = runs.last_mut().unwrap();
    (last.record.samples, last.record.weight) = (0, 0);
    assert!(pooled(&runs).is_ok());
}

#[test]
fn threads_are_narrowed_with_their_stacks() {
    for (run, expected) in runs() {
        let is_main = run.of_threads(|_, is_main| is_main);
        let others = run.of_threads(|_, is_main| !is_main);
        let mut all = StackSums::new();
        for part in is_main.iter().chain(&others).filter(|part| part.record.samples > 0) {
            let own = of_sums(&pooled([part]).unwrap());
            assert_eq!(own.values().map(|[weight, _]| weight).sum::<u64>(), part.record.weight);
            merge(&mut all, own);
        }
        assert_eq!(all, expected);
    }
}
