//! The command, run on the fixtures: its output, on both streams, and its exit codes.
//!
//! Transcripts (`transcripts.rs`) contain complete outputs. Numbers in the other tests were computed by another program (Python's XML reader on the
//! fixture), never copied from the command's output.

mod answer;
mod answer_shares;
mod bounds;
mod bundle_case;
mod bundles;
// Needs signals, and the position of a process in a file.
#[cfg(target_os = "linux")]
mod changing;
mod colour;
mod command;
mod compare;
mod crash_reports;
mod diff_answer;
// Needs a shell.
#[cfg(unix)]
mod documented;
mod documented_fields;
mod dyld_cache;
mod field_reports;
mod fleet_case;
mod fleet_idle;
// Needs signals.
#[cfg(unix)]
mod fleet_incomplete;
mod fleet_kill;
mod fleet_rows;
mod fleet_shards;
mod fleet_tree;
mod fleet_with_runs;
mod guard;
#[path = "../../bin/guarded.rs"]
mod guarded;
mod hangs;
// File names may contain any character only there.
#[cfg(unix)]
mod inert;
// Needs signals.
#[cfg(unix)]
mod interrupted;
mod main_threads;
mod mistakes;
mod narrow;
mod overview;
mod pictures;
mod redact;
mod redact_case;
mod redact_names;
mod rust_names;
mod short_json;
mod skill;
mod subcommands;
mod symbol_store;
mod symbols;
mod symbols_cache;
mod symbols_case;
mod tables;
#[cfg(unix)]
mod terminal;
// Need programs of a shell.
#[cfg(target_os = "linux")]
mod transcripts;
mod trend;
mod urls;
mod viewers;
mod waiting;
mod widths;
mod workbench;
mod workbench_diff;
// Needs a shell.
#[cfg(unix)]
mod workflows;
mod writing;
