//! Runs the steps whose instructions are counted: one process for each step of each document.
//!
//! ```text
//! instructions write NAME FILE     writes the document NAME; not counted
//! instructions start FILE          reads the file into memory, which the next two also do
//! instructions read FILE           also reads the document
//! instructions folded FILE         also builds the trees, and writes them as folded stacks
//! ```
//!
//! Everything runs in one thread, and the output is discarded.


use std::hint::black_box;
use std::{env, fs, io};

use support::{Invented, RenderOptions, Shape, Size, Table, render, write_large_as};
use traceparse::read;
use traceparse::recording::{Recording, Options};
use traceparse::output::{self, Format};
use traceparse::report::{ReportOptions, View};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", name, file] => fs::write(file, document(name)).expect("the document can be written"),
        ["start", file] => drop(black_box(bytes(file))),
        ["read", file] => drop(black_box(export(&bytes(file)))),
        ["folded", file] => write_folded(&export(&bytes(file))),
        _ => panic!("usage: instructions write NAME FILE | start FILE | read FILE | folded FILE"),
    }
}

/// Documents of 1 to 2 MB that never change.
fn document(name: &str) -> Vec<u8> {
    let mut document = Vec::new();
    match name {
        "frames-14.3" => {
            write_large_as(&mut document, Shape::Xcode14_3, 3_000, 500, 1).expect("a vector takes everything")
        }
        "frames-27" => write_large_as(&mut document, Shape::Xcode27, 3_000, 500, 1).expect("a vector takes everything"),
        "time-sample" => {
            let recording = Invented::random(1, &Size::medium());
            let options = RenderOptions::new(Shape::TimeSample, Table::TimeSample, &recording);
            return render(&recording, &options).into_bytes();
        }
        _ => panic!("no document has the name {name}"),
    }
    document
}

fn bytes(file: &str) -> Vec<u8> {
    fs::read(file).expect("the document can be read")
}

fn export(document: &[u8]) -> Recording {
    // Counts must not depend on how work is divided.
    let options = Options { jobs: 1, ..Options::default() };
    read(document, "document", &options).expect("the document is an export")
}

fn write_folded(export: &Recording) {
    let report = export.report(&ReportOptions { view: View::Tree, ..ReportOptions::default() });
    output::write(&report, &Format::Folded, &mut io::sink()).expect("nowhere takes everything");
}
