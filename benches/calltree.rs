//! Measures building trees from a profile, and writing trees as bytes.
//!
//! ```text
//! cargo bench --bench calltree               everything, about two minutes
//! cargo bench --bench calltree -- write/     only the writers
//! ```
//!
//! The profile has 200,000 samples of 12 threads with 50,000 distinct stacks of 12 to 62 frames (Xcode 27).
//!
//! * `trees/…`: summing samples by stack, then merging the sums: a tree for each thread, one tree over all, and a report
//!   of functions. `weights` and `functions` are in samples per second, the others are in distinct stacks per second.
//! * `samples/…`: folded stacks of 50,000 distinct stacks that were sampled once and ten times each. Only the time of
//!   `weights` depends on the number of samples; `folded` measures the steps after it.
//! * `write/…`: writing a finished report, in bytes of output per second.

use std::hint::black_box;
use std::io;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use support::{Shape, write_large_as};
use traceparse::calltree::{Merger, Metric, StackWeights};
use traceparse::output::{self, Cells, Format, Style};
use traceparse::profile::Selection;
use traceparse::read;
use traceparse::recording::{Options, Recording};
use traceparse::report::{ReportOptions, View};

fn export() -> Recording {
    export_of(200_000)
}

fn export_of(rows: u64) -> Recording {
    let mut document = Vec::new();
    write_large_as(&mut document, Shape::Xcode27, rows, 50_000, 1).expect("a vector takes everything");
    read(document.as_slice(), "generated", &Options::default()).expect("the input is an export")
}

fn trees(criterion: &mut Criterion) {
    let export = export();
    let profile = &export.profile;
    let selected = Selection::default().on(profile);
    let weights = StackWeights::new(&selected, Metric::Weight);
    let rows = weights.rows();

    let mut group = criterion.benchmark_group("trees");
    group.sample_size(20).throughput(Throughput::Elements(profile.samples().len() as u64));
    group.bench_function("weights", |bencher| {
        bencher.iter(|| StackWeights::new(black_box(&selected), Metric::Weight));
    });
    let functions = ReportOptions { view: View::Functions, ..ReportOptions::default() };
    group.bench_function("functions", |bencher| bencher.iter(|| black_box(&export).report(&functions)));
    group.throughput(Throughput::Elements(rows.len() as u64));
    group.bench_function("threads", |bencher| {
        bencher.iter(|| {
            let mut merger = Merger::new(profile);
            let threads = black_box(rows).chunk_by(|a, b| a.thread == b.thread);
            threads.map(|rows| merger.tree(rows).nodes().len()).sum::<usize>()
        });
    });
    group.bench_function("merged", |bencher| bencher.iter(|| Merger::new(profile).tree(black_box(rows))));
    group.finish();
}

fn samples(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("samples");
    group.sample_size(10);
    for rows in [50_000, 500_000] {
        let export = export_of(rows);
        let selected = Selection::default().on(&export.profile);
        group.bench_function(format!("weights of {rows}"), |bencher| {
            bencher.iter(|| StackWeights::new(black_box(&selected), Metric::Weight));
        });
        let report = export.report(&ReportOptions { view: View::Tree, ..ReportOptions::default() });
        group.bench_function(format!("folded of {rows}"), |bencher| {
            bencher.iter(|| output::write(black_box(&report), &Format::Folded, &mut io::sink()));
        });
    }
    group.finish();
}

fn writers(criterion: &mut Criterion) {
    let export = export();
    let rows: [(&str, View, Format<'_>); 6] = [
        ("tree.folded", View::Tree, Format::Folded),
        ("tree.json", View::Tree, Format::Json),
        ("tree.csv", View::Tree, Format::Csv(Cells::AsTheyAre)),
        ("samples.json", View::Samples, Format::Json),
        ("samples.csv", View::Samples, Format::Csv(Cells::AsTheyAre)),
        ("samples.txt", View::Samples, Format::Text(Style::default())),
    ];
    let mut group = criterion.benchmark_group("write");
    group.sample_size(10);
    for (name, view, format) in rows {
        let report = export.report(&ReportOptions { view, ..ReportOptions::default() });
        let mut out = Vec::new();
        output::write(&report, &format, &mut out).expect("a vector takes everything");
        group.throughput(Throughput::Bytes(out.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| output::write(black_box(&report), &format, &mut io::sink()))
        });
    }
    group.finish();
}

criterion_group!(benches, trees, samples, writers);
criterion_main!(benches);
