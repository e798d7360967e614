//! Parts of a batch: hashing, reading and measuring one export, and the report on many runs.
//!
//! Run it with `cargo bench --bench fleet`. `benches/fleet/run.py` measures the complete command.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use support::fleet_exports::fleet_export;
use traceparse::fleet::{FleetBuilder, FleetOptions, MeasureOptions, RunContext};
use traceparse::read;
use traceparse::recording::Options;

/// The number of rows in an export of about 1 MB.
const ROWS: u32 = 3_700;
const RUNS: u32 = 2_000;

fn context() -> RunContext {
    RunContext { run_id: "00".to_owned(), source: "run.xml".to_owned(), ..RunContext::default() }
}

fn one_export(criterion: &mut Criterion) {
    let xml = fleet_export(1, 3, ROWS).export;
    let mut group = criterion.benchmark_group("export of 1 MB");
    group.throughput(Throughput::Bytes(xml.len() as u64));
    let options = Options::default();
    group.bench_function("hash", |bencher| bencher.iter(|| blake3::hash(black_box(xml.as_bytes()))));
    group.bench_function("read", |bencher| bencher.iter(|| read(xml.as_bytes(), "run.xml", &options).unwrap()));
    let export = read(xml.as_bytes(), "run.xml", &options).unwrap();
    let (context, measure) = (context(), MeasureOptions::default());
    group.bench_function("measure", |bencher| bencher.iter(|| export.measure(&context, &measure).unwrap()));
    group.finish();
}

fn many_runs(criterion: &mut Criterion) {
    let runs = support::fleet::runs(1, RUNS);
    let options = || FleetOptions { by: vec!["app_version".to_owned()], ..FleetOptions::default() };
    let full = || {
        let mut builder = FleetBuilder::new(options());
        runs.iter().for_each(|run| builder.add(run));
        builder
    };
    let mut group = criterion.benchmark_group("2,000 runs");
    group.sample_size(10).throughput(Throughput::Elements(u64::from(RUNS)));
    group.bench_function("add", |bencher| bencher.iter(full));
    group.bench_function("finish", |bencher| bencher.iter_batched(full, FleetBuilder::finish, BatchSize::LargeInput));
    group.finish();
}

criterion_group!(benches, one_export, many_runs);
criterion_main!(benches);
