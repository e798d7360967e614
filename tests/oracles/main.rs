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

mod call_trees;
mod hostile;
mod programs;

/// Modules, and the function `modules` with their names and tests.
macro_rules! modules {
    ($(mod $module:ident;)+) => {
        $(mod $module;)+

        fn modules() -> impl Iterator<Item = (&'static str, fn() -> Vec<Trial>)> {
            [$((stringify!($module), $module::trials as fn() -> Vec<Trial>)),+].into_iter()
        }
    };
}

modules! {
    mod bundle_finder;
    mod bundle_oracle;
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
    mod interval_tables;
    mod intervals;
    mod metrickit;
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
}

fn main() {
    support::name_options();
    // Modules that are skipped in this turn of `.ci/run`.
    let skipped = std::env::var("TRACEPARSE_SKIP").unwrap_or_default();
    let trials =
        modules().flat_map(|(module, trials)| match skipped.split_whitespace().any(|skipped| skipped == module) {
            true => vec![Trial::test(module, || Ok(())).with_ignored_flag(true)],
            false => trials(),
        });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}
