//! The library: readers, names, trees, reports and fleets, on recordings invented by `tests/support`, compared with slow and obvious
//! implementations.

mod bundle_reader;
mod cached;
mod call_trees;
mod calltree;
mod categories;
mod compare;
mod crash;
mod dart;
mod demangle;
mod demangle_mutants;
mod diff;
mod fixtures;
mod fleet_alerts;
mod fleet_approximate;
mod fleet_dataset;
mod fleet_measure;
mod fleet_narrow;
mod fleet_output;
mod fleet_pooled;
mod fleet_recorded_time;
mod fleet_report;
mod fleet_rewritten;
mod fleet_spill;
mod fleet_text;
mod hostile;
mod metrickit;
mod open;
mod operations;
mod other_toc;
mod page;
mod sandwich;
mod scanner;
mod shapes;
mod spindump;
mod stats;
mod summed;
mod symbolicate;
mod symbols_apple_round_trip;
mod symbols_breakpad;
mod symbols_cut;
mod symbols_dyld;
mod symbols_locate;
mod table_cells;
mod trend;
mod units;
mod unreadable;
mod viewers_json;
mod views;

/// Runs before `main`, since all tests share a process.
#[ctor::ctor]
fn name_options() {
    support::name_options();
}
