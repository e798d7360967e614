//! The memory that inputs take. The allocator counts for the complete process, so one test runs at a time. Broken inputs are tested by
//! the fuzzers (`tests/fuzz`), which limit the memory of each.

use libtest_mimic::{Arguments, Trial};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// A test of a function that panics if it fails.
macro_rules! trial {
    ($module:ident::$test:ident) => {
        Trial::test(concat!(stringify!($module), "::", stringify!($test)), || {
            $module::$test();
            Ok(())
        })
    };
}

mod allocations;
mod bounds;
mod costly;
mod growth;
mod memory;
mod memory_budget;
mod memory_fleet;

/// The result of `run`, and the peak number of bytes while it ran.
fn peak<T>(run: impl FnOnce() -> T) -> (T, u64) {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let result = run();
    (result, (MEMORY.peak_usage() - before) as u64)
}

fn main() {
    support::name_options();
    let trials = vec![
        trial!(allocations::a_profile_takes_what_the_documentation_says),
        // Only Linux limits the data of a process.
        trial!(bounds::commands_stay_within_their_limit).with_ignored_flag(cfg!(not(target_os = "linux"))),
        trial!(growth::twice_the_input_takes_twice_the_instructions).with_ignored_flag(!growth::has_valgrind()),
        trial!(memory::a_large_export_takes_a_part_of_its_size),
        trial!(memory_budget::bombs_stay_below_the_budget),
        trial!(memory_fleet::a_million_rows_take_24_mib_at_most),
    ];
    libtest_mimic::run(&Arguments { test_threads: Some(1), ..Arguments::from_args() }, trials).exit();
}
