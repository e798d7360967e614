//! 10,000 broken copies of bundles: no panic, no hang, bounded memory, and no row that is wrong without a word.
//!
//! Nearly nothing of a bundle has a checksum. Everything that breaks a rule of the format is told; a number, a reference or a name that was
//! exchanged for another good one cannot be noticed. So each change that is not told is looked at: the parts that it left well-formed are
//! put back (`changes`), and the rest must not have changed a single row.
//!
//! Part of it needs `TRACEPARSE_CORPUS=<folder>`.

mod changes;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use support::bundle::{
    BUNDLE, BundleOptions, Files, Memory, found_rows, from_zip, mutate_bundle, nodes_of_marks, write_bundle,
};
use support::{Invented, Rng, Size, Table, rounds};
use traceparse::bundle::Bundle;
use traceparse::recording::{Limits, Options, RecordingBuilder};

use crate::MEMORY;

const WRITTEN: u64 = 8_000;
const REAL: u64 = 2_000;
/// Longest time for one copy, on a busy machine.
const LONGEST: Duration = Duration::from_secs(20);

pub(crate) fn trials() -> Vec<Trial> {
    let corpus = std::env::var_os("TRACEPARSE_CORPUS").map(PathBuf::from);
    let is_missing = corpus.is_none();
    let written = trial!("written_bundles", move || try_mutations(&written_bundles(), rounds(WRITTEN), 100));
    let real = trial!("a_real_bundle", move || {
        let path = corpus.ok_or("no corpus")?.join("xctrace/26.2/finder.trace.zip");
        let files = from_zip(&std::fs::read(path)?, "finder.trace");
        try_mutations(&[files], rounds(REAL), 450)
    });
    let trials = vec![written, real.with_ignored_flag(is_missing)];
    trials
}

/// Small bundles of every kind of table and every form.
fn written_bundles() -> Vec<Files> {
    let tables = [Table::TimeProfile, Table::CpuProfile, Table::CountersProfile { pmi: false }, Table::TimeSample];
    let bundle = |seed: u64| {
        let size = Size { rows: 10, depth: 5, runs: 1 + (seed % 2) as u32, ..Size::small() };
        let recording = Invented::random(seed, &size);
        let mut nodes = BundleOptions::new(tables[seed as usize % tables.len()], &recording).nodes;
        nodes.extend(nodes_of_marks());
        let options = BundleOptions::random(nodes, seed);
        let options = BundleOptions { packed: seed % 5 == 4, array_block_size: 2_000, ..options };
        write_bundle(&recording, &BundleOptions { rows_per_block: 1 + (7 * seed as usize) % 16, ..options })
    };
    (0..24).map(bundle).collect()
}

/// The outcome of reading a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Error(String),
    /// And why not all is as it should be.
    Told(String),
    Read(Checksum),
}

/// The number of rows and of intervals, and a checksum over all that is known of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Checksum {
    rows: usize,
    intervals: usize,
    checksum: u64,
}

fn outcome(files: &Files) -> Outcome {
    match read(files) {
        Ok((content, told)) => told.map_or(Outcome::Read(content), Outcome::Told),
        Err(error) => Outcome::Error(error.to_string()),
    }
}

fn read(files: &Files) -> Result<(Checksum, Option<String>), traceparse::Error> {
    let limits = Limits { file_bytes: 64 << 20, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let memory = Memory::of_bundle(files);
    let bundle = Bundle::open(&memory, Path::new(BUNDLE), &options)?;
    let mut recording = RecordingBuilder::new(options);
    bundle.read_into(&mut recording, "orchard")?;
    let export = recording.finish()?;
    let intervals = bundle.intervals("orchard")?;
    let rows = found_rows(&export.profile);
    // Of a run that is left out nothing is there.
    assert!(export.unread_runs().all(|run| rows.iter().all(|row| row.run != run.number)));
    let lost = &intervals.unread_runs;
    assert!(intervals.intervals.iter().all(|interval| !lost.contains(&interval.run)));
    for table in export.tables() {
        assert_eq!(table.rows, table.samples + table.rejected.total(), "{table:?}");
    }
    let mut hasher = DefaultHasher::new();
    (&rows, &intervals.intervals, &intervals.hang_risks).hash(&mut hasher);
    let content = Checksum { rows: rows.len(), intervals: intervals.intervals.len(), checksum: hasher.finish() };
    let told = export.diagnostics.iter().chain(&intervals.diagnostics).next();
    assert!(told.is_some() || (export.unread_runs().next().is_none() && lost.is_empty()));
    Ok((content, told.map(|told| told.message.clone())))
}

/// The number of changes with each end.
#[derive(Debug, Default)]
struct Counts {
    errors: u64,
    told: u64,
    equal: u64,
    content: u64,
    slowest: Duration,
    /// Changes that went by without a word: which one, and what was wrong.
    silent: Vec<String>,
}

/// Breaks copies of the bundles, in all threads that there are. `most` is how many MiB
/// each of them may take.
fn try_mutations(bundles: &[Files], count: u64, most: usize) -> Result<(), Failed> {
    let expected: Vec<Checksum> = bundles
        .iter()
        .map(|files| match outcome(files) {
            Outcome::Read(content) => Ok(content),
            other => Err(format!("{other:?}")),
        })
        .collect::<Result<_, _>>()?;
    assert!(expected.iter().all(|content| content.rows > 0));
    let (counts, next) = (Mutex::new(Counts::default()), AtomicU64::new(0));
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let jobs = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(seed) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&seed| seed < count) {
                    let bundle = seed as usize % bundles.len();
                    let started = Instant::now();
                    let test = AssertUnwindSafe(|| try_one(&bundles[bundle], expected[bundle], seed));
                    let result = catch_unwind(test).unwrap_or_else(|_| Err(format!("seed {seed}: panic")));
                    let mut counts = counts.lock().expect("no panic with the lock");
                    counts.add(result, started.elapsed());
                }
            });
        }
    });
    let counts = counts.into_inner().expect("no panic with the lock");
    let peak = (MEMORY.peak_usage() - before) >> 20;
    println!("{count} of {} bundles in {jobs} threads, {peak} MiB at most: {}", bundles.len(), counts.line());
    let silent: Vec<&str> = counts.silent.iter().take(20).map(String::as_str).collect();
    assert!(silent.is_empty(), "{} went by without a word:\n{}", counts.silent.len(), silent.join("\n"));
    assert!(counts.errors > count / 8 && counts.equal > count / 50, "{}", counts.line());
    assert!(counts.slowest < LONGEST, "{}", counts.line());
    assert!(peak < most * jobs, "{peak} MiB, more than {most} in each of {jobs} threads");
    Ok(())
}

/// The end of a change.
enum End {
    Error,
    Told,
    Equal,
    Content,
}

impl Counts {
    fn add(&mut self, result: Result<End, String>, time: Duration) {
        match result {
            Ok(End::Error) => self.errors += 1,
            Ok(End::Told) => self.told += 1,
            Ok(End::Equal) => self.equal += 1,
            Ok(End::Content) => self.content += 1,
            Err(silent) => self.silent.push(silent),
        }
        self.slowest = self.slowest.max(time);
    }

    fn line(&self) -> String {
        let Counts { errors, told, equal, content, slowest, silent } = self;
        let silent = silent.len();
        format!(
            "{errors} errors, {told} diagnostics, {equal} without effect, {content} that changed well-formed content, {silent} \
             silent; the slowest took {slowest:?}"
        )
    }
}

/// Breaks a copy of a bundle of which `expected` was read.
fn try_one(files: &Files, expected: Checksum, seed: u64) -> Result<End, String> {
    let mut rng = Rng::new(seed);
    let mut broken = files.clone();
    mutate_bundle(&mut broken, &mut rng);
    let found = match outcome(&broken) {
        Outcome::Error(_) => return Ok(End::Error),
        Outcome::Told(_) => return Ok(End::Told),
        Outcome::Read(found) if found == expected => return Ok(End::Equal),
        Outcome::Read(found) => found,
    };
    let (restored, left) = changes::without_content(files, &broken);
    let silent = |what: String| Err(format!("seed {seed}: {what}: {left:?}"));
    if (found.rows, found.intervals) != (expected.rows, expected.intervals) {
        return silent(format!("{found:?} and not {expected:?}"));
    }
    match outcome(&restored) {
        Outcome::Read(again) if again != expected => silent("rows are wrong".to_owned()),
        _ => Ok(End::Content),
    }
}
