//! Invented fleets, as rows: the result of measuring thousands of recordings.
//!
//! Every run is an app with a main thread and workers, a few common functions and many rare ones. In the last cohort, one run in thirty
//! spends much more time in `Cache::evict`: a regression that the mean does not show.

use super::random::Rng;
use traceparse::fleet::{FrameRow, NameId, NamesBuilder, RunContext, RunMeasures, RunRecord, StackRow, WindowRow};
use traceparse::profile::Category;
use traceparse::recording::{TimeSource, Toc};
use traceparse::units::{Millionths, Nanos, Unit};

/// The function with the regression, and its binary.
pub const SLOW: (&str, &str) = ("Orchard", "Cache::evict");

const DEVICES: [&str; 3] = ["iPhone 15", "iPhone SE", "iPad Air"];
const THREADS: [&str; 3] = ["Main Thread", "Render", "Worker"];
const SECOND: u64 = 1_000_000_000;
const MILLI: u64 = 1_000_000;

/// A number from a distribution with a long tail, with `scale` as the approximate middle.
fn skewed(rng: &mut Rng, scale: u64) -> u64 {
    let uniform = (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    (scale as f64 * 0.35 / (1.0 - 0.97 * uniform)) as u64
}

/// `count` runs of versions 1.0 to 1.3 of an app. The last version has the regression.
pub fn runs(seed: u64, count: u32) -> Vec<RunMeasures> {
    (0..count).map(|index| run(seed, index)).collect()
}

/// One of these runs.
pub fn run(seed: u64, index: u32) -> RunMeasures {
    let mut rng = Rng::new(seed ^ (u64::from(index) << 32));
    let version = index % 4;
    let seconds = 20 + rng.below(15);
    let is_slow = version == 3 && rng.below(30) == 0;
    let mut names = NamesBuilder::default();
    let process = names.id("Orchard");
    let (mut frames, mut binaries, mut windows) = (Vec::new(), Vec::new(), Vec::new());
    for (number, thread) in THREADS.into_iter().enumerate() {
        let (thread, is_main_thread) = (names.id(thread), thread == "Main Thread");
        let first = frames.len();
        functions(&mut rng, is_slow, number, &mut |binary, function, milliseconds| {
            let (binary, function) = (names.id(binary), names.id(function));
            frames.push(FrameRow { is_main_thread, ..frame(process, thread, binary, function, milliseconds) });
        });
        sum_binaries(&frames[first..], &mut binaries);
        let weight = frames[first..].iter().map(|row| row.self_weight).sum();
        spread(&mut rng, weight, seconds, &mut |second, weight| {
            windows.push(WindowRow { process, thread, is_main_thread, second, weight, samples: weight / MILLI });
        });
    }
    let names = names.finish();
    let text = |id: NameId| names[id.0 as usize].clone();
    frames.sort_by_key(|row| (text(row.thread), text(row.binary), text(row.function)));
    binaries.sort_by_key(|row| (text(row.thread), text(row.binary)));
    windows.sort_by_key(|row| (text(row.thread), row.second));
    let weight: u64 = frames.iter().map(|row| row.self_weight).sum();
    // No function is in more samples than exist.
    let most = |weights: &mut u64, samples: &mut u64| {
        (*weights, *samples) = ((*weights).min(weight), (*samples).min(weight / MILLI))
    };
    frames.iter_mut().for_each(|row| most(&mut row.all_weight, &mut row.all_samples));
    binaries.iter_mut().for_each(|row| most(&mut row.all_weight, &mut row.all_samples));
    let record = record(index, version, weight, seconds * SECOND + rng.below(SECOND));
    let stacks = frames.iter().map(stack).collect();
    RunMeasures { record, names, frames, binaries, windows, stacks, intervals: None, histograms: Vec::new() }
}

/// A stack of one function.
fn stack(row: &FrameRow) -> StackRow {
    let FrameRow { process, thread, is_main_thread, binary, function, self_weight, self_samples, .. } = *row;
    let (parent, category) = (None, Category::Unknown);
    StackRow { process, thread, is_main_thread, parent, binary, category, function, self_weight, self_samples }
}

fn functions(rng: &mut Rng, is_slow: bool, thread: usize, add: &mut dyn FnMut(&str, &str, u64)) {
    let scale = [120, 400, 60][thread];
    add("Orchard", "main", 0);
    add("Orchard", "Orchard::run()", skewed(rng, scale));
    add("Orchard", "Tree::layout(Rect const&)", skewed(rng, scale * 2));
    add("UIKitCore", "-[UIView layoutSubviews]", skewed(rng, scale));
    add("libsystem_malloc.dylib", "malloc", skewed(rng, scale / 2));
    add("", FrameRow::STACKLESS, rng.below(4));
    add(SLOW.0, SLOW.1, if is_slow && thread == 1 { 3_000 + rng.below(3_000) } else { rng.below(6) });
    for index in 0..20 {
        if rng.below(5) == 0 {
            add("Orchard", &format!("Rare::job{index}()"), 1 + rng.below(10));
        }
    }
}

fn frame(process: NameId, thread: NameId, binary: NameId, function: NameId, milliseconds: u64) -> FrameRow {
    // Its callees add the same amount.
    let (self_samples, all_samples) = (milliseconds, milliseconds * 2);
    let (self_weight, all_weight) = (self_samples * MILLI, all_samples * MILLI);
    let is_main_thread = false;
    FrameRow { process, thread, is_main_thread, binary, function, self_weight, all_weight, self_samples, all_samples }
}

/// Adds the binaries of the functions of a thread.
pub(super) fn sum_binaries(frames: &[FrameRow], binaries: &mut Vec<FrameRow>) {
    let first = binaries.len();
    for row in frames {
        let own = binaries[first..].iter().position(|known| known.binary == row.binary).map(|index| first + index);
        let index = own.unwrap_or_else(|| {
            let (self_weight, all_weight, self_samples, all_samples) = (0, 0, 0, 0);
            let function = NameId::NONE;
            binaries.push(FrameRow { function, self_weight, all_weight, self_samples, all_samples, ..*row });
            binaries.len() - 1
        });
        let sum = &mut binaries[index];
        sum.self_weight += row.self_weight;
        sum.self_samples += row.self_samples;
        sum.all_weight = sum.all_weight.max(row.all_weight).max(sum.self_weight);
        sum.all_samples = sum.all_samples.max(row.all_samples).max(sum.self_samples);
    }
}

/// Distributes a weight over seconds, in complete samples of 1 ms; some seconds stay idle.
fn spread(rng: &mut Rng, weight: u64, seconds: u64, add: &mut dyn FnMut(u32, u64)) {
    let mut left = weight / MILLI;
    for second in 0..seconds {
        let share = if second + 1 == seconds { left } else { (left * (rng.below(4) + 1) / 30).min(left) };
        left -= share;
        if share > 0 {
            add(second as u32, share * MILLI);
        }
    }
}

/// A run with this length in nanoseconds, with samples of 1 ms.
pub(super) fn record(index: u32, version: u32, weight: u64, wall: u64) -> RunRecord {
    let label = |key: &str, value: String| (key.to_owned(), value);
    let samples = weight / MILLI;
    RunRecord {
        run_id: format!("{index:032x}"),
        fingerprint: format!("{index:032x}"),
        source: format!("runs/{index:05}.xml"),
        source_bytes: 1_000_000,
        number: 1,
        labels: vec![
            label("app", "Orchard".to_owned()),
            label("app_version", format!("1.{version}")),
            label("device", DEVICES[(index / 4 % 3) as usize].to_owned()),
            label("os", "iOS 26.1".to_owned()),
        ],
        run_weight: Millionths::ONE,
        start: None,
        wall: Some(Nanos::from_nanos(wall)),
        wall_source: TimeSource::Toc,
        wall_start: Nanos::default(),
        parts: Vec::new(),
        schema: "time-profile".to_owned(),
        unit: Unit::Nanoseconds,
        weight,
        samples,
        effective_samples: samples,
        rejected: 0,
        unread_runs: 0,
        excluded_runs: 0,
        cores: 6,
        usual_weight: MILLI,
        parser_version: "test".to_owned(),
        notes: Vec::new(),
    }
}

/// The facts about a run that are not in its recording, with these tables of contents beside it.
pub fn context(tocs: Vec<Toc>) -> RunContext {
    RunContext {
        run_id: "c0ffee".to_owned(),
        fingerprint: "f1".to_owned(),
        source: "runs/test.xml".to_owned(),
        source_bytes: 7,
        tocs,
        ..RunContext::default()
    }
}
