//! The library and the command, compared with other programs and their files: real recordings (`TRACEPARSE_CORPUS`), Python, DuckDB, Spark,
//! LLVM, browsers and viewers. If its corpus or program is missing, a test reports itself as ignored, which the standard runner cannot do.

// The command exists only with this feature.
#![cfg(feature = "cli")]

use libtest_mimic::{Arguments, Trial};

/// A test whose name starts with its module.
macro_rules! trial {
    ($name:expr, $test:expr $(,)?) => {
        libtest_mimic::Trial::test(format!("{}::{}", support::module(module_path!()), $name), $test)
    };
}

mod bundle_finder;
mod bundle_oracle;
mod bundle_writer;
mod corpus;
mod export_mutants;
mod fleet_duckdb;
mod fleet_findings;
mod fleet_html;
mod fleet_selection;
mod intervals;
mod lines;
mod sample_reports;
mod spark;
mod stats_oracle;
mod svg;
mod symbols_build;
mod symbols_finder;
mod symbols_llvm;
mod timeline_oracle;
mod viewers;

fn main() {
    let trials = [
        bundle_finder::trials(),
        bundle_oracle::trials(),
        bundle_writer::trials(),
        corpus::trials(),
        export_mutants::trials(),
        fleet_duckdb::trials(),
        fleet_findings::trials(),
        fleet_html::trials(),
        fleet_selection::trials(),
        intervals::trials(),
        lines::trials(),
        sample_reports::trials(),
        spark::trials(),
        stats_oracle::trials(),
        svg::trials(),
        symbols_build::trials(),
        symbols_finder::trials(),
        symbols_llvm::trials(),
        timeline_oracle::trials(),
        viewers::trials(),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials.into_iter().flatten().collect::<Vec<Trial>>()).exit();
}
