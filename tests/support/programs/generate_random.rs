//! Writes random exports of every shape to a folder: recursion, several runs and tables, waiting threads, signposts and hangs, rows out of
//! order, and weights whose sums exceed 2^53.
//!
//! ```text
//! cargo run --example generate-random -- FOLDER COUNT SEED
//! ```

use std::path::Path;
use std::process::ExitCode;

use support::other_tables::Hang;
use support::{Content, Invented, Node, RenderOptions, Rng, Shape, Signpost, Size, Table, render};

const USAGE: &str = "usage: generate-random FOLDER COUNT SEED";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize| arguments.get(index)?.parse::<u64>().ok();
    let (Some(folder), Some(count), Some(seed)) = (arguments.first(), number(1), number(2)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let folder = Path::new(folder);
    let write = |index: u64| std::fs::write(folder.join(format!("random-{index}.xml")), export(seed + index));
    match std::fs::create_dir_all(folder).and_then(|()| (0..count).try_for_each(write)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("generate-random: {error}");
            ExitCode::FAILURE
        }
    }
}

fn export(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let recording = recording(&mut rng);
    let shape = *rng.pick(&Shape::ALL);
    let tables = [
        Table::TimeProfile,
        Table::TimeProfile,
        Table::CpuProfile,
        Table::CountersProfile { pmi: false },
        Table::CountersProfile { pmi: true },
        Table::TimeSample,
    ];
    let table = *rng.pick(&tables);
    let mut options = match table {
        Table::TimeSample => RenderOptions::new(Shape::TimeSample, table, &recording),
        _ => RenderOptions::new(shape, table, &recording),
    };
    if table != Table::TimeSample && rng.one_in(4) {
        let other = if table == Table::CpuProfile { Table::TimeProfile } else { Table::CpuProfile };
        options.nodes.push(Node::samples(1, other, &recording));
    }
    for run in recording.runs() {
        let rows = recording.rows_of_run(run);
        options.nodes.push(Node {
            run,
            table_index: 40,
            content: Content::SignpostIntervals(signposts(&mut rng, &recording, &rows)),
        });
        options.nodes.push(Node {
            run,
            table_index: 41,
            content: Content::PotentialHangs(hangs(&mut rng, &recording, &rows)),
        });
    }
    if rng.one_in(3) {
        options = options.shuffled(seed);
    }
    render(&recording, &options)
}

fn recording(rng: &mut Rng) -> Invented {
    let most_rows = if rng.one_in(8) { 1_500 } else { 150 };
    let most_frames = if rng.one_in(4) { 90 } else { 15 };
    let size = Size {
        processes: 1 + rng.index(4),
        threads_per_process: 1 + rng.index(6),
        images: 1 + rng.index(5),
        functions_per_image: 2 + rng.index(12),
        rows: 1 + rng.index(most_rows),
        depth: 1 + rng.index(most_frames),
        runs: if rng.one_in(4) { 2 } else { 1 },
        snapshots: rng.one_in(4),
        inlined: rng.one_in(2),
        waiting: !rng.one_in(4),
        ..Size::small()
    };
    let mut recording = Invented::random(rng.next_u64(), &size);
    if rng.one_in(6) {
        // Some sums exceed 2^53, but none 2^64.
        recording.rows.iter_mut().for_each(|row| row.weight = row.weight.saturating_mul(1 << 31).min(1 << 52) + 1);
    }
    if rng.one_in(4) {
        // The same for counter values.
        let values = recording.rows.iter_mut().flat_map(|row| &mut row.counters);
        values.for_each(|value| *value = value.saturating_mul(1 << 31));
    }
    recording
}

fn signposts(rng: &mut Rng, recording: &Invented, rows: &[usize]) -> Vec<Signpost> {
    (0..rng.index(6))
        .map(|_| {
            let (row, start, end) = stretch(rng, recording, rows);
            Signpost::new(["Layout", "Load", "Päint <&>"][rng.index(3)], start, end, row)
        })
        .collect()
}

fn hangs(rng: &mut Rng, recording: &Invented, rows: &[usize]) -> Vec<Hang> {
    (0..rng.index(3))
        .map(|_| {
            let (row, start_ns, end) = stretch(rng, recording, rows);
            Hang { start_ns, duration_ns: end - start_ns, row }
        })
        .collect()
}

/// A row, and a time range that begins and ends at samples, or a nanosecond before or after them.
fn stretch(rng: &mut Rng, recording: &Invented, rows: &[usize]) -> (usize, u64, u64) {
    let [one, other] = [*rng.pick(rows), *rng.pick(rows)];
    let [one_ns, other_ns] = [one, other].map(|row| recording.rows[row].time_ns + rng.below(2));
    (one, one_ns.min(other_ns), one_ns.max(other_ns))
}
