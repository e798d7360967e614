//! The `traceparse` command: arguments, files, progress and exit codes. The library computes the results.

mod arguments;
mod choices;
mod cli;
mod contents;
mod counters;
mod demangle;
mod diff;
mod exit_codes;
mod filters;
mod fleet;
mod formats;
mod function;
mod given;
mod guard;
#[cfg(test)]
mod guarded;
mod hangs;
mod inputs;
mod interrupt;
mod interval_totals;
mod intervals;
mod manual;
mod matched;
#[cfg(feature = "mcp")]
mod mcp;
mod messages;
mod mistakes;
mod next;
mod objects;
mod operations;
mod output;
mod output_args;
mod parent;
mod progress;
mod pruning;
mod recording;
mod redact;
mod redacted;
mod report;
mod report_args;
mod report_plan;
mod resource_limits;
mod run;
mod settings;
mod short_json;
mod sink;
mod sources;
mod symbol_store;
mod symbolicate;
mod symbolicate_report;
mod symbols;
mod table;
mod unchanged;
mod uuid;
mod weight_limit;

use std::process::ExitCode;

use cli::Cli;
use exit_codes::{EXIT_INPUT, EXIT_USAGE};
use function::Candidates;

pub(crate) use exit_codes::{
    EXIT_ALERT, EXIT_DONE, EXIT_INTERRUPTED, EXIT_UNDECIDED, Failure, exit_code_of_alerts, is_closed_pipe,
};
pub(crate) use messages::{complain, note, note_once, print_few_warnings, printable, warning};

fn main() -> ExitCode {
    settings::name_options();
    let result = run::run(Cli::from_process());
    messages::end_warnings(result.is_ok());
    let code = exit_code(result);
    interrupt::delete_rest();
    objects::end();
    code
}

/// Prints the reason for a failure, and returns the exit code.
fn exit_code(result: Result<u8, Failure>) -> ExitCode {
    match result {
        Ok(code) => ExitCode::from(code),
        Err(Failure::Usage(message)) => {
            complain(&format!("{}: {}\n\nFor more information, try '--help'.", error_label(), printable(&message)));
            ExitCode::from(EXIT_USAGE)
        }
        // The reader closed the pipe (`traceparse … | head`).
        Err(Failure::Input(error)) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(Failure::Input(error)) => {
            complain(&format!("{}: {}", error_label(), printable(&error.to_string())));
            for line in error.downcast_ref::<Candidates>().into_iter().flat_map(|candidates| &candidates.lines) {
                complain(&printable(line));
            }
            for cause in error.chain().skip(1) {
                complain(&format!("  caused by: {}", printable(&cause.to_string())));
            }
            ExitCode::from(EXIT_INPUT)
        }
    }
}

fn error_label() -> String {
    format!("{0}error{0:#}", anstyle::AnsiColor::Red.on_default().bold())
}
