//! The fuzz targets in a loop, without guidance, on as many mutated seeds as time permits.
//!
//! ```text
//! cargo test --test fuzz                                     300 inputs of every target, always the same
//! TRACEPARSE_FUZZ_SECONDS=30 TRACEPARSE_FUZZ_SEED=7 cargo test --test fuzz -- --exact xml
//! TRACEPARSE_FUZZ_SEED=7 TRACEPARSE_FUZZ_FIRST=1234 TRACEPARSE_FUZZ_COUNT=1 cargo test --test fuzz -- --exact xml
//! ```
//!
//! An input depends only on the seed and its number, so a failure prints the command that repeats it. The input is also stored in
//! `target/fuzz`. An input that takes too long or too much memory ends the process, with the same command. If an input itself ends the
//! process (by a stack overflow, or C++ that aborts), its number remains in `target/fuzz/TARGET-SEED.number`.

mod corpus;
mod mutations;
mod seeds;
mod targets;

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::panic::catch_unwind;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use mutations::{Material, dictionary};
use peak_alloc::PeakAlloc;
use targets::{TARGETS, Target};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The number of inputs per target if neither a number nor a time is given.
const COUNT: u64 = 300;
/// The maximum time for one input on a busy machine.
const LONGEST: Duration = Duration::from_secs(30);
/// The number of failures after which a run ends.
const FAILURES: usize = 5;

fn main() {
    let arguments = Arguments::from_args();
    let trial = |target: Target| Trial::test(target.name, move || fuzz(&target).map_err(Failed::from));
    // One at a time, since memory is measured for the complete process.
    let arguments = Arguments { test_threads: Some(1), ..arguments };
    let trials = TARGETS.into_iter().map(trial).chain(corpus::trials());
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

/// Reads a number from the environment.
fn asked<T: FromStr<Err: Display>>(name: &str) -> Result<Option<T>, String> {
    let text = std::env::var(format!("TRACEPARSE_FUZZ_{name}")).ok();
    text.map(|text| text.parse().map_err(|error| format!("TRACEPARSE_FUZZ_{name}: {text:?}: {error}"))).transpose()
}

fn fuzz(target: &Target) -> Result<(), String> {
    let seed = asked("SEED")?.unwrap_or(1);
    let (first, count) = (asked("FIRST")?.unwrap_or(0), asked::<u64>("COUNT")?);
    let time = asked("SECONDS")?.map(Duration::from_secs);
    let count = count.unwrap_or(if time.is_some() { u64::MAX } else { COUNT });
    let material = material(target);
    // Initialises data that targets share, so that it is not attributed to an input.
    material.seeds.iter().for_each(|seed| (target.check)(seed));
    let run = Run {
        target,
        seed,
        material,
        number: AtomicU64::new(first),
        started: Instant::now(),
        since: AtomicU64::new(0),
    };
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| run.watch(&is_over));
        let result = run.try_inputs(first, count, time);
        is_over.store(true, Ordering::Relaxed);
        result
    })
}

fn material(target: &Target) -> Material {
    let folder = support::repository("tests/fuzz");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder.join("corpus").join(target.name))
        .expect("every target has a corpus")
        .map(|entry| entry.expect("the folder can be listed").path())
        .collect();
    paths.sort();
    let seeds = paths.iter().map(|path| fs::read(path).expect("a seed can be read")).collect();
    let words = fs::read_to_string(folder.join(format!("{}.dict", target.name)));
    Material { seeds, words: words.map(|text| dictionary(&text)).unwrap_or_default(), longest: target.longest }
}

/// Records the number of the next input.
fn note(last: &mut File, number: u64) -> io::Result<()> {
    last.seek(SeekFrom::Start(0))?;
    write!(last, "{number:020}")
}

/// The inputs to try, and the progress.
struct Run<'t> {
    target: &'t Target,
    seed: u64,
    material: Material,
    number: AtomicU64,
    started: Instant,
    /// The start time of the current input, in milliseconds since the start of the run.
    since: AtomicU64,
}

impl Run<'_> {
    fn try_inputs(&self, first: u64, count: u64, time: Option<Duration>) -> Result<(), String> {
        let (mut most, mut failures) = (0, Vec::new());
        let (mut number, journal) = (first, self.folder()?.join(format!("{}-{}.number", self.target.name, self.seed)));
        if count == 1 {
            println!("the input is {}", self.keep(&self.material.input(self.seed, first), first));
        }
        let mut last = File::create(&journal).map_err(|error| format!("{}: {error}", journal.display()))?;
        while number - first < count
            && time.is_none_or(|time| self.started.elapsed() < time)
            && failures.len() < FAILURES
        {
            self.since.store(self.started.elapsed().as_millis() as u64, Ordering::Relaxed);
            self.number.store(number, Ordering::Relaxed);
            note(&mut last, number).map_err(|error| format!("{}: {error}", journal.display()))?;
            let taken = self.try_input(number, &mut failures);
            most = most.max(taken);
            number += 1;
        }
        let _ = fs::remove_file(&journal);
        let (tried, seconds) = (number - first, self.started.elapsed().as_secs_f64());
        println!(
            "fuzz {}: {tried} inputs in {seconds:.1} s ({:.0} a second), seed {}, {} MiB at most, {} failures",
            self.target.name,
            tried as f64 / seconds,
            self.seed,
            most >> 20,
            failures.len()
        );
        if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
    }

    /// Tries an input and returns the memory that it took.
    fn try_input(&self, number: u64, failures: &mut Vec<String>) -> usize {
        let input = self.material.input(self.seed, number);
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let is_good = catch_unwind(|| (self.target.check)(&input)).is_ok();
        let taken = MEMORY.peak_usage().saturating_sub(before);
        if !is_good || taken > self.target.memory << 20 {
            let what = if is_good { format!("it took {} MiB", taken >> 20) } else { "a panic (above)".to_owned() };
            failures.push(format!(
                "{what}; to repeat it: {}; the input is {}",
                self.command(number),
                self.keep(&input, number)
            ));
        }
        taken
    }

    /// The command that repeats one input.
    fn command(&self, number: u64) -> String {
        let Self { target: Target { name, .. }, seed, .. } = self;
        format!(
            "TRACEPARSE_FUZZ_SEED={seed} TRACEPARSE_FUZZ_FIRST={number} TRACEPARSE_FUZZ_COUNT=1 cargo test --locked --test fuzz \
             -- --exact {name}"
        )
    }

    /// Stores a failed input and returns its path.
    fn keep(&self, input: &[u8], number: u64) -> String {
        let path = |folder: PathBuf| folder.join(format!("{}-{}-{number}", self.target.name, self.seed));
        let kept = self.folder().map(path).and_then(|path| match fs::write(&path, input) {
            Ok(()) => Ok(path.display().to_string()),
            Err(error) => Err(error.to_string()),
        });
        kept.unwrap_or_else(|error| format!("not kept: {error}"))
    }

    /// The folder in which inputs and numbers are stored.
    fn folder(&self) -> Result<PathBuf, String> {
        let folder = support::repository("target/fuzz");
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(folder)
    }

    /// Ends the process if an input takes too much time or memory.
    fn watch(&self, is_over: &AtomicBool) {
        while !is_over.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(20));
            let since = Duration::from_millis(self.since.load(Ordering::Relaxed));
            let took = self.started.elapsed().saturating_sub(since);
            let memory = MEMORY.current_usage() >> 20;
            // Up to twice the memory limit, the check after the input reports it, provided that it ends.
            if took > LONGEST || memory > 2 * self.target.memory {
                let number = self.number.load(Ordering::Relaxed);
                let input = self.material.input(self.seed, number);
                eprintln!(
                    "fuzz {}: an input took {took:?} and {memory} MiB; to repeat it: {}; the input is {}",
                    self.target.name,
                    self.command(number),
                    self.keep(&input, number)
                );
                std::process::exit(1);
            }
        }
    }
}
