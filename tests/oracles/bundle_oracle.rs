//! Well-formed mutants of bundles: compares the library with an independent reader (`tests/oracle/bundle`, Python).
//!
//! A mutant is a bundle with a few changed values: a word of a row, a number of an array, a string, an object of an archive, or a
//! column. Both readers must return the same rows, threads, states, weights, stacks, images and intervals. If a value refers to nothing,
//! or contradicts another value, the library must report it with an error, a rejection of this row, or a diagnostic that names this row
//! or place. Other warnings do not count.
//!
//! `TRACEPARSE_THOROUGH` increases the number of mutants (10 results in up to 3,000 of both kinds together). `TRACEPARSE_ORACLE_SEED`
//! chooses the mutants (default 1; `.ci/run` uses a different seed for each commit). Each run prints its seed. Without Python, the tests
//! report themselves as ignored; without `TRACEPARSE_CORPUS`, so do the tests on real bundles.

pub(crate) mod compare;
pub(crate) mod library;
mod lists;
pub(crate) mod mutants;
pub(crate) mod oracle;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use compare::End;
use libtest_mimic::{Failed, Trial};
use mutants::{Base, Mutant};
use oracle::Oracle;
use support::bundle::{BundleOptions, from_zip, write_bundle};
use support::other_tables::Hang;
use support::writer::Content;
use support::{HangRisk, Invented, Node, Part, Rng, Signpost, Size, Table};

use crate::programs::{corpus, has_python, in_corpus, number};

/// The default number of mutants.
const USUAL: u64 = 3_000;
/// The percentage of mutants that are made of real bundles.
const REAL: u64 = 2;

pub(crate) fn trials() -> Vec<Trial> {
    let (seed, count) = (number("TRACEPARSE_ORACLE_SEED").unwrap_or(1), support::rounds(USUAL));
    let invented = trial!("invented_bundles", move || try_mutants(
        invented(seed, false),
        count * (100 - REAL) / 100,
        seed,
        SAMPLES
    ));
    let real = trial!("real_bundles", move || try_mutants(real(false)?, count * REAL / 100, seed, SAMPLES));
    let is_there = has_python();
    vec![invented.with_ignored_flag(!is_there), real.with_ignored_flag(!is_there || corpus().is_none())]
}

/// Small bundles with every kind of table, in every form.
pub(crate) fn invented(seed: u64, is_of_all_tables: bool) -> Vec<Base> {
    let tables = [Table::TimeProfile, Table::CpuProfile, Table::CountersProfile { pmi: false }, Table::TimeSample];
    let bundle = |index: u64| {
        let size = Size { rows: 12, depth: 6, runs: 1 + (index % 2) as u32, snapshots: true, ..Size::small() };
        let recording = Invented::random(seed ^ index, &size);
        let mut nodes = BundleOptions::new(tables[index as usize % tables.len()], &recording).nodes;
        let hang = |start_ns| Hang { start_ns, duration_ns: 600_000_000, row: start_ns as usize };
        nodes.push(Node { run: 1, table_index: 80, content: Content::PotentialHangs((0..3).map(hang).collect()) });
        nodes.extend(marks(index as usize));
        let options = BundleOptions::random(nodes, seed ^ index);
        let options = BundleOptions { packed: index % 8 == 7, symbols: None, array_block_size: 2_000, ..options };
        let options = BundleOptions { rows_per_block: 1 + (7 * index as usize) % 16, ..options };
        let (name, files) = (format!("invented {index}"), write_bundle(&recording, &options));
        if is_of_all_tables { Base::of_all_tables(name, &files, usize::MAX) } else { Base::new(name, &files) }
    };
    (0..32).map(bundle).collect()
}

/// Tables of signposts and hang risks. Some intervals are in several tables.
fn marks(index: usize) -> Vec<Node> {
    let point = |name: &str, start, end, row| Signpost {
        category: "PointsOfInterest".to_owned(),
        identifier: start % 3,
        scope: ["Process", "Thread", "System"][(start as usize / 10) % 3],
        ..Signpost::new(name, start, end, row)
    };
    let open = Signpost { end_ns: None, ..point("load", 50, 0, 3) };
    let late = Signpost { start_ns: None, ..point("late", 0, 15, 4) };
    let signposts = vec![point("load", 10, 90, 1), point("store", 20, 30, 2), point("load", 20, 25, 1), open, late];
    let told = vec![Part::Name("load".to_owned()), Part::Number(4_770), Part::Duration(1_280_000_000), Part::None];
    let risk = |time_ns: u64| HangRisk {
        time_ns,
        message: vec![Part::Text("waited: ".to_owned()), Part::Log(told.clone()), Part::Number(time_ns)],
        severity: "High",
        event_type: "Wait",
        row: time_ns as usize,
    };
    let contents = [
        Content::SignpostEvents(signposts.clone()),
        Content::HangRisks((0..3).map(risk).collect()),
        if index.is_multiple_of(2) {
            Content::SignpostIntervals(signposts.clone())
        } else {
            Content::Regions(signposts.clone())
        },
        if index.is_multiple_of(3) { Content::RecentIntervals(signposts) } else { Content::SignpostEvents(signposts) },
    ];
    let node = |(content, table_index)| Node { run: 1, table_index, content };
    contents.into_iter().zip(81..).map(node).collect()
}

pub(crate) fn real(is_of_all_tables: bool) -> Result<Vec<Base>, Failed> {
    let read = |path: &str, folder: &str| -> Result<Base, Failed> {
        let (name, files) = (folder.to_owned(), from_zip(&std::fs::read(in_corpus(path))?, folder));
        Ok(if is_of_all_tables { Base::of_all_tables(name, &files, 20) } else { Base::new(name, &files) })
    };
    let four_runs = read("xctrace/16.0/four-runs.trace.zip", "four-runs.trace")?;
    Ok(vec![read("xctrace/26.2/finder.trace.zip", "finder.trace")?, four_runs])
}

/// The comparison of two readings.
#[derive(Clone, Copy)]
pub(crate) struct Judge {
    /// Checks that both readers agree about the unchanged bundle.
    pub(crate) base: fn(&mut Base) -> Result<(), Failed>,
    pub(crate) mutant: fn(&Base, &Mutant, &mut Oracle, &mut Rng) -> End,
}

/// Compares samples and intervals.
const SAMPLES: Judge = Judge { base: compare::base, mutant: compare::mutant };

/// Makes mutants and compares them, on all cores.
pub(crate) fn try_mutants(mut bases: Vec<Base>, count: u64, seed: u64, judge: Judge) -> Result<(), Failed> {
    let mut oracles = (0..job_count(count)).map(|_| Oracle::start()).collect::<Result<Vec<_>, _>>()?;
    for base in &mut bases {
        for oracle in &mut oracles {
            base.know(oracle.remember(base)?);
        }
        (judge.base)(base)?;
    }
    let ends = in_threads(&mut oracles, count, seed, |index, rng, oracle| {
        let base = &bases[rng.index(bases.len())];
        let mutant = mutants::mutant(base, rng);
        let compared = || (judge.mutant)(base, &mutant, oracle, rng);
        let end = catch_unwind(AssertUnwindSafe(compared)).unwrap_or_else(|_| End::Wrong("panic", String::new()));
        (end, mutant.kind.to_owned(), format!("mutant {index} of {}: {}", base.name, mutant.described))
    });
    println!("{count} mutants of {} bundles, seed {seed}: {:?}", bases.len(), ends.counts);
    ends.check(count)
}

/// The number of threads, each of which starts an oracle.
pub(crate) fn job_count(count: u64) -> usize {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    jobs.min(count.div_ceil(10) as usize)
}

/// Compares this many mutants, with an oracle in each thread. `compare` returns the outcome, the kind of the change, and a description.
pub(crate) fn in_threads<O: Send>(
    oracles: &mut [O],
    count: u64,
    seed: u64,
    compare: impl Fn(u64, &mut Rng, &mut O) -> (End, String, String) + Sync,
) -> Ends {
    let (next, ends) = (AtomicU64::new(0), Mutex::new(Ends::default()));
    std::thread::scope(|scope| {
        for oracle in oracles {
            scope.spawn(|| {
                while let Some(index) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&index| index < count) {
                    let mut rng = Rng::new(seed.wrapping_mul(0x1_0000_0001) ^ index);
                    let (end, kind, described) = compare(index, &mut rng, oracle);
                    ends.lock().expect("no panic with the lock").add(end, &kind, &described);
                }
            });
        }
    });
    ends.into_inner().expect("no panic with the lock")
}

/// The outcomes of all mutants.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    pub(crate) counts: BTreeMap<&'static str, u64>,
    /// By class: the number of mutants, and the first mutants.
    wrong: BTreeMap<String, (u64, Vec<String>)>,
}

impl Ends {
    fn add(&mut self, end: End, kind: &str, described: &str) {
        *self.counts.entry(end.name()).or_default() += 1;
        if let End::Wrong(class, what) = end {
            let (count, first) = self.wrong.entry(format!("{class} ({kind})")).or_default();
            *count += 1;
            if first.len() < 3 {
                first.push(format!("{described}: {what}"));
            }
        }
    }

    /// Fails if a mutant was read wrongly, or if the mutants are not diverse enough.
    pub(crate) fn check(&self, count: u64) -> Result<(), Failed> {
        if !self.wrong.is_empty() {
            let class = |(class, (count, first)): (&String, &(u64, Vec<String>))| {
                format!("{count} × {class}\n  {}", first.join("\n  "))
            };
            return Err(self.wrong.iter().map(class).collect::<Vec<_>>().join("\n").into());
        }
        let of = |name| self.counts.get(name).copied().unwrap_or(0);
        let is_worth_it =
            count < 500 || [End::Changed, End::Told, End::Error].iter().all(|end| of(end.name()) > count / 60);
        is_worth_it.then_some(()).ok_or_else(|| format!("too few of a kind: {:?}", self.counts).into())
    }
}
