//! The memory that inputs take: valid ones, and thousands of broken ones. The allocator counts for the complete process, so one test runs
//! at a time.

// Every reader of another format is a feature.
#![cfg(feature = "cli")]

use libtest_mimic::{Arguments, Trial};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// A test whose name starts with its module.
macro_rules! trial {
    ($name:expr, $test:expr $(,)?) => {
        libtest_mimic::Trial::test(format!("{}::{}", support::module(module_path!()), $name), $test)
    };
}

/// A test of a function that panics if it fails.
macro_rules! plain {
    ($test:ident) => {
        trial!(stringify!($test), || {
            $test();
            Ok(())
        })
    };
}

mod allocations;
mod apple_mutations;
mod bundle_mutations;
mod memory;
mod memory_budget;
mod memory_fleet;
mod symbols_apple_corpus;
mod symbols_apple_mutations;
mod symbols_dwarf_mutations;

fn main() {
    let trials = [
        allocations::trials(),
        bundle_mutations::trials(),
        memory::trials(),
        memory_budget::trials(),
        memory_fleet::trials(),
        symbols_apple_corpus::trials(),
        symbols_apple_mutations::trials(),
        symbols_dwarf_mutations::trials(),
    ];
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    libtest_mimic::run(&arguments, trials.into_iter().flatten().collect::<Vec<Trial>>()).exit();
}
