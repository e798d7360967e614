//! The command, run on the fixtures: its output, on both streams, and its exit codes.
//!
//! Numbers in these tests were computed by another program (Python's XML reader on the fixture), never copied from the command's output.

// The command exists only with this feature.
#![cfg(feature = "cli")]

mod answer;
mod bounds;
mod bundle_case;
mod bundles;
// Needs signals, and the position of a process in a file.
#[cfg(target_os = "linux")]
mod changing;
mod colour;
mod command;
mod counters;
mod diff;
mod diff_alerts;
mod diff_answer;
mod diff_lengths;
// Needs a shell.
#[cfg(unix)]
mod documented;
mod documented_fields;
mod exchange;
mod filters;
mod fleet_batch;
mod fleet_case;
mod fleet_copies;
mod fleet_extract;
mod fleet_idle;
mod fleet_incomplete;
mod fleet_inputs;
mod fleet_kill;
mod fleet_merge;
mod fleet_output;
mod fleet_rewritten;
mod fleet_rows;
mod fleet_selection;
mod fleet_shards;
mod fleet_with_runs;
mod folded;
mod guard;
#[path = "../../bin/guarded.rs"]
mod guarded;
mod hidden_rows;
// File names may contain any character only there.
#[cfg(unix)]
mod inert;
// Needs signals.
#[cfg(unix)]
mod interrupted;
mod intervals;
mod json;
mod lines;
mod main_threads;
mod names;
mod operations;
mod overview;
mod pictures;
mod reading;
mod redact;
mod redact_case;
mod redact_names;
mod rejected;
mod rust_names;
mod sample_reports;
mod sort;
mod subcommands;
mod svg;
mod symbols;
mod symbols_cache;
mod symbols_case;
mod symbols_commands;
mod tables;
#[cfg(unix)]
mod terminal;
mod unusable;
mod urls;
mod usage;
mod viewers;
mod views;
mod widths;
mod workbench;
mod workbench_diff;
mod writing;
