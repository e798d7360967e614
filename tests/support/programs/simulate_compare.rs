//! Counts how often `traceparse compare` is wrong, and how often it finds what is there: `benches/compare/README.md`.
//!
//! ```text
//! cargo run --release --example simulate-compare -- COMMAND COUNT [SCENARIO…]
//! cargo run --release --example simulate-compare -- target/release/traceparse 2000 same renamed
//! ```

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use support::compare_command::{Outcome, compared};
use support::compared_runs::{Change, Devices, FIRST, Length, Sides, Work};

const USAGE: &str = "usage: simulate-compare COMMAND COUNT [SCENARIO…]";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(command), Some(count)) = (arguments.next(), arguments.next().and_then(|count| count.parse().ok())) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let only: Vec<String> = arguments.collect();
    match simulate(Path::new(&command), count, &only) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("simulate-compare: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints a line for each scenario whose name starts with one of these.
fn simulate(command: &Path, count: u64, only: &[String]) -> io::Result<()> {
    println!("| {:<36} | comparisons | any claim | slower | faster | named | first | exit 0 | exit 1, 4 |", "scenario");
    println!("|{}|", ["---"; 9].join("|"));
    for (name, sides) in identical().into_iter().chain(different()) {
        if only.is_empty() || only.iter().any(|only| name.starts_with(only.as_str())) {
            println!("{}", row(&name, &outcomes(command, &sides, count)?));
        }
    }
    if let Some(seconds) = cpu_seconds() {
        println!("\nCPU time: {seconds:.0} s");
    }
    Ok(())
}

const EQUAL: [[u32; 2]; 3] = [[5, 5], [10, 10], [30, 30]];
const UNEQUAL: [[u32; 2]; 4] = [[2, 20], [20, 2], [30, 3], [50, 5]];
const SHARES: [(f64, &str); 3] = [(0.005, "0.5 %"), (0.017, "1.7 %"), (0.14, "14 %")];

/// A scenario for each pair of numbers of runs.
fn each(name: &str, runs: &[[u32; 2]], sides: Sides) -> Vec<(String, Sides)> {
    runs.iter().map(|&runs| (format!("{name}, {} v {}", runs[0], runs[1]), Sides { runs, ..sides })).collect()
}

/// Scenarios of identical code.
fn identical() -> Vec<(String, Sides)> {
    let usual = Sides::default();
    let works = [
        ("normal, CV 20 %", Work::Normal(0.2)),
        ("log-normal, CV 20 %", Work::LogNormal(0.2)),
        ("outliers", Work::Outliers),
        ("bimodal", Work::Bimodal),
        ("30 % idle", Work::Idle),
    ];
    let lengths = [("free lengths", Length::Users), ("launch to exit", Length::LaunchToExit)];
    let changes = [("renamed", Change::Renamed), ("inlined", Change::Inlined)];
    let mut cells = each("same", &EQUAL, usual);
    cells.extend(each("40 functions", &UNEQUAL, Sides { functions: 40, ..usual }));
    cells.extend(each("160 functions", &UNEQUAL, usual));
    cells.extend(each("blocks", &[[40, 4]], Sides { devices: Devices::Blocks, ..usual }));
    cells.extend(each("units of 3", &[[15, 15], [30, 30]], Sides { devices: Devices::Units(3), ..usual }));
    cells.extend(works.map(|(name, work)| each(name, &EQUAL, Sides { work, ..usual })).concat());
    cells.extend(each("new CV 15 %", &[[10, 10], [50, 5]], Sides { work: Work::Unequal, ..usual }));
    cells.extend(lengths.map(|(name, length)| each(name, &EQUAL, Sides { length, ..usual })).concat());
    for ((kind, change), (share, percent)) in changes.into_iter().flat_map(|kind| SHARES.map(|share| (kind, share))) {
        for (is_flat, caller) in [(true, "main"), (false, "8 callers")] {
            let sides = Sides { change, share, is_flat, ..usual };
            cells.extend(each(&format!("{kind}, {percent}, {caller}"), &EQUAL[1..], sides));
        }
    }
    cells
}

/// Scenarios whose new side takes longer.
fn different() -> Vec<(String, Sides)> {
    let usual = Sides::default();
    let first = |share: f64| Sides { change: Change::First(2.0), share, ..usual };
    let all = |factor: f64, length: Length| Sides { change: Change::Everything(factor), length, ..usual };
    [
        each("function × 2, 1.7 %", &[[10, 10]], first(0.017)),
        each("function × 2, 0.5 %", &[[10, 10]], first(0.005)),
        each("work +5 %, launch to exit", &EQUAL[1..], all(1.05, Length::LaunchToExit)),
        each("work × 2, window", &[[3, 3]], all(2.0, Length::Window)),
        each("work × 2, jitter", &[[3, 3]], all(2.0, Length::Jitter)),
        each("work × 2, launch to exit", &[[3, 3]], all(2.0, Length::LaunchToExit)),
        each("work × 2, free lengths", &[[3, 3]], all(2.0, Length::Users)),
        each("work +10 %, window", &[[30, 30]], all(1.1, Length::Window)),
    ]
    .concat()
}

/// Comparisons with different seeds, on all cores.
fn outcomes(command: &Path, sides: &Sides, count: u64) -> io::Result<Vec<Outcome>> {
    let workers = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64).min(count);
    let part = |worker: u64| -> io::Result<Vec<Outcome>> {
        let folder = folder(worker);
        let seeds = (worker..count).step_by(workers as usize);
        let outcomes = seeds.map(|seed| compared(command, &folder, sides, seed)).collect();
        std::fs::remove_dir_all(&folder)?;
        outcomes
    };
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..workers).map(|worker| scope.spawn(move || part(worker))).collect();
        let parts = handles.into_iter().map(|handle| handle.join().expect("a comparison does not panic"));
        Ok(parts.collect::<io::Result<Vec<_>>>()?.concat())
    })
}

/// A folder in memory, if there is such a file system.
fn folder(worker: u64) -> PathBuf {
    let memory = Path::new("/dev/shm");
    let temporary = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    temporary.join(format!("simulate-compare-{}-{worker}", std::process::id()))
}

/// A row of a table, with shares in percent.
fn row(name: &str, outcomes: &[Outcome]) -> String {
    let cell = |is: &dyn Fn(&Outcome) -> bool| {
        let count = outcomes.iter().filter(|outcome| is(outcome)).count();
        format!("{count} ({:.1} %)", 100.0 * count as f64 / outcomes.len() as f64)
    };
    let verdict = |name: &'static str| cell(&move |outcome| outcome.verdict == name);
    let cells = [
        cell(&Outcome::claims),
        verdict("slower"),
        verdict("faster"),
        cell(&|outcome| !outcome.named.is_empty()),
        cell(&|outcome| outcome.names(FIRST)),
        cell(&|outcome| outcome.exit_code == 0),
        cell(&|outcome| ![0, 3].contains(&outcome.exit_code)),
    ];
    format!("| {name:<36} | {} | {} |", outcomes.len(), cells.join(" | "))
}

/// The CPU time of this process and the commands that it ran.
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the name in parentheses, the 12th to 15th fields are times in hundredths of a second.
    let fields = text.rsplit_once(')')?.1.split_whitespace().skip(11).take(4);
    fields.map(|field| field.parse::<f64>().ok()).sum::<Option<f64>>().map(|ticks| ticks / 100.0)
}
