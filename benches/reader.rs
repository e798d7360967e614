//! Measures how many bytes of an export are read per second.
//!
//! ```text
//! cargo bench --bench reader                  everything, about four minutes
//! cargo bench --bench reader -- 'frames/27'   one benchmark
//! ```
//!
//! * `frames/…`: 20 MB of `time-profile` with a `frame` element for each frame, as written by Xcode 14.3 to 27. One row in four
//!   has a new stack. The shapes differ in how stacks are wrapped.
//! * `addresses/…`: 20 MB of documents whose stacks are lists of addresses: Xcode 12 and 14.0, and raw `time-sample`.
//! * `skip/fs-syscall`: a table without samples, whose rows are only counted.
//! * `jobs/…`: 100 MB of `frames/27` with this many threads.
//! * `count`: counting `<` in the same document, the minimum work of a reader.
//! * `buffer/…`: 100 MB of `frames/27` with an initial buffer of this many KiB.
//!
//! Everything is read from memory, so files and decompression are not measured. All options except the one that a group varies have their
//! defaults.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use support::{Content, Invented, Node, RenderOptions, Shape, Size, Table, concatenate, render, write_large_as};
use traceparse::read;
use traceparse::recording::Options;

/// The approximate size of each input.
const BYTES: usize = 20_000_000;

fn frames(criterion: &mut Criterion) {
    let shapes =
        [("14.3", Shape::Xcode14_3), ("26.2", Shape::Xcode26_2), ("26.4", Shape::Xcode26_4), ("27", Shape::Xcode27)];
    for (name, shape) in shapes {
        let mut document = Vec::new();
        write_large_as(&mut document, shape, 52_000, 13_000, 1).expect("a vector takes everything");
        bench(criterion, "frames", name, &document);
    }
}

fn addresses(criterion: &mut Criterion) {
    let shapes = [
        ("12", Shape::Xcode12, Table::TimeProfile),
        ("14.0", Shape::Xcode14_0, Table::TimeProfile),
        ("time-sample", Shape::TimeSample, Table::TimeSample),
    ];
    for (name, shape, table) in shapes {
        let recording = Invented::random(1, &Size::medium());
        let document = render(&recording, &RenderOptions::new(shape, table, &recording));
        bench(criterion, "addresses", name, repeat(document).as_bytes());
    }
}

fn jobs(criterion: &mut Criterion) {
    let document = large();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for jobs in (0..).map(|power| 1 << power).take_while(|&jobs| jobs <= cores) {
        let options = Options { jobs, ..Options::default() };
        bench_with(criterion, "jobs", &jobs.to_string(), &document, &options);
    }
}

fn count(criterion: &mut Criterion) {
    let document = large();
    let mut group = criterion.benchmark_group("count");
    group.sample_size(10).throughput(Throughput::Bytes(document.len() as u64));
    group.bench_function("lt", |bencher| bencher.iter(|| memchr::memchr_iter(b'<', black_box(&document)).count()));
    group.finish();
}

fn buffer(criterion: &mut Criterion) {
    let document = large();
    for kibibytes in [64, 256, 1_024, 4_096] {
        let options = Options { buffer_size: kibibytes << 10, ..Options::default() };
        bench_with(criterion, "buffer", &kibibytes.to_string(), &document, &options);
    }
}

/// 100 MB, as Xcode 27 writes them.
fn large() -> Vec<u8> {
    let mut document = Vec::new();
    write_large_as(&mut document, Shape::Xcode27, 260_000, 65_000, 1).expect("a vector takes everything");
    document
}

fn skip(criterion: &mut Criterion) {
    let recording = Invented::random(1, &Size::medium());
    let rows = (0..recording.rows.len()).collect();
    let node = Node { run: 1, table_index: 8, content: Content::FileCalls(rows) };
    let document = render(&recording, &RenderOptions::with_nodes(Shape::Xcode27, vec![node]));
    bench(criterion, "skip", "fs-syscall", repeat(document).as_bytes());
}

/// Repeats the document until the input is large enough.
fn repeat(document: String) -> String {
    let count = BYTES.div_ceil(document.len());
    concatenate(&vec![document; count])
}

fn bench(criterion: &mut Criterion, group: &str, name: &str, input: &[u8]) {
    bench_with(criterion, group, name, input, &Options::default());
}

fn bench_with(criterion: &mut Criterion, group: &str, name: &str, input: &[u8], options: &Options) {
    let mut group = criterion.benchmark_group(group);
    group.sample_size(10).throughput(Throughput::Bytes(input.len() as u64));
    group.bench_function(name, |bencher| {
        bencher.iter(|| read(black_box(input), name, options).expect("the input is an export"));
    });
    group.finish();
}

criterion_group!(benches, frames, addresses, skip, jobs, count, buffer);
criterion_main!(benches);
