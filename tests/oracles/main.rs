//! The library and the command, compared with other programs and their files: real recordings (`TRACEPARSE_CORPUS`), Python, DuckDB, Spark,
//! LLVM, browsers and viewers. If its corpus or program is missing, a test reports itself as ignored, which the standard runner cannot do.

use libtest_mimic::{Arguments, Trial};

/// A test whose name starts with its module.
macro_rules! trial {
    ($name:expr, $test:expr $(,)?) => {
        libtest_mimic::Trial::test(format!("{}::{}", support::module(module_path!()), $name), $test)
    };
}

/// Tests named after their functions, which are ignored if what they need is missing.
macro_rules! trials {
    (if $is_there:expr; $($test:path),+ $(,)?) => {
        vec![$(trial!(stringify!($test), || $test()).with_ignored_flag(!$is_there)),+]
    };
    ($($test:path),+ $(,)?) => { trials![if true; $($test),+] };
}

/// Tests that panic if they fail.
macro_rules! panicking {
    ($($test:path),+ $(,)?) => {
        vec![$(trial!(stringify!($test), || {
            $test();
            Ok(())
        })),+]
    };
}

/// Fails with a message unless a condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+).into());
        }
    };
}

mod bundle_finder;
mod bundle_oracle;
mod call_trees;
mod clock;
mod compare_cases;
mod compare_oracle;
mod corpus;
mod dart;
mod deep_copy;
mod doing;
mod dottrace;
mod dyld_caches;
mod export_mutants;
mod field_reports;
mod fleet_duckdb;
mod fleet_findings;
mod fleet_html;
mod fleet_selection;
mod hang_truth;
mod hostile;
mod interval_tables;
mod intervals;
mod metrickit;
mod programs;
mod quantities;
mod sample_reports;
mod spark;
mod spindump;
mod stats_oracle;
mod stretches;
mod svg;
mod symbols_apple;
mod symbols_breakpad;
mod symbols_build;
mod symbols_llvm;
mod table_mutants;
mod tables;
mod trend_oracle;
mod viewers;

fn main() {
    support::name_options();
    let trials = [
        bundle_finder::trials(),
        bundle_oracle::trials(),
        clock::trials(),
        compare_cases::trials(),
        compare_oracle::trials(),
        corpus::trials(),
        dart::trials(),
        deep_copy::trials(),
        doing::trials(),
        dottrace::trials(),
        dyld_caches::trials(),
        export_mutants::trials(),
        field_reports::trials(),
        fleet_duckdb::trials(),
        fleet_findings::trials(),
        fleet_html::trials(),
        fleet_selection::trials(),
        hang_truth::trials(),
        interval_tables::trials(),
        intervals::trials(),
        metrickit::trials(),
        quantities::trials(),
        sample_reports::trials(),
        spark::trials(),
        spindump::trials(),
        stats_oracle::trials(),
        stretches::trials(),
        svg::trials(),
        symbols_apple::trials(),
        symbols_breakpad::trials(),
        symbols_build::trials(),
        symbols_llvm::trials(),
        table_mutants::trials(),
        tables::trials(),
        trend_oracle::trials(),
        viewers::trials(),
    ];
    // Modules that are skipped in this turn of `.ci/run`.
    let skipped = std::env::var("TRACEPARSE_SKIP").unwrap_or_default();
    let is_skipped =
        |trial: &Trial| skipped.split_whitespace().any(|module| trial.name().split("::").next() == Some(module));
    let with_flag = |trial: Trial| if is_skipped(&trial) { trial.with_ignored_flag(true) } else { trial };
    libtest_mimic::run(&Arguments::from_args(), trials.into_iter().flatten().map(with_flag).collect::<Vec<Trial>>())
        .exit();
}
