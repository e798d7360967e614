//! Checks that a view has a use for the options of the output.

use clap::ValueEnum;
use traceparse::report::{SeparateBy, SortBy, View};

use crate::formats::Content;
use crate::report_args::{ReportArgs, is_separated};

/// An option that only some views have a use for.
struct Limit {
    option: &'static str,
    /// The effect of the option: `hides tree nodes …`.
    what: &'static str,
    applies_to: fn(View) -> bool,
    is_given: fn(&ReportArgs) -> bool,
}

const LIMITS: [Limit; 8] = [
    Limit {
        option: "--min-weight",
        what: "hides tree nodes and rows of tables of weights",
        applies_to: |view| has_nodes(view) || is_sorted(view),
        is_given: |args| args.min_weight.is_some(),
    },
    Limit {
        option: "--min-percent",
        what: "hides tree nodes and rows of long tables",
        applies_to: |view| {
            let is_long =
                matches!(view, View::Functions | View::Binaries | View::Lines | View::Transitions | View::Timeline);
            has_nodes(view) || is_long
        },
        // 0 shows everything, which is the default of the other views.
        is_given: |args| args.min_percent.is_some_and(|percent| percent > 0.0),
    },
    Limit {
        option: "--depth",
        what: "hides levels of call trees and flame charts",
        applies_to: |view| matches!(view, View::Full | View::Tree | View::FlameChart),
        is_given: |args| args.depth.is_some(),
    },
    Limit {
        option: "--top",
        what: "limits rows of tables, children of tree nodes and lists of the heaviest stacks",
        applies_to: |view| view == View::Overview || view != View::FlameChart && has_nodes(view) || is_sorted(view),
        is_given: |args| args.top.is_some(),
    },
    Limit {
        option: "--sort",
        what: "orders functions, binaries, lines, categories, transitions, threads, processes and states",
        applies_to: is_sorted,
        is_given: |args| args.sort.is_some(),
    },
    Limit {
        option: "--sort self",
        what: "orders functions, binaries, lines, categories and transitions by their self weight",
        applies_to: |view| SortBy::SelfWeight.applies_to(view),
        is_given: |args| args.sort == Some(SortBy::SelfWeight),
    },
    Limit {
        option: "--separate-by",
        what: SEPARATES,
        applies_to: is_separated,
        is_given: |args| args.separate_by != SeparateBy::Thread,
    },
    Limit { option: "--no-threads", what: SEPARATES, applies_to: is_separated, is_given: |args| args.no_threads },
];

const SEPARATES: &str = "splits call trees, heaviest stacks and timelines";

/// True for views of trees.
fn has_nodes(view: View) -> bool {
    matches!(view, View::Full | View::Tree | View::Heaviest | View::FlameChart | View::Sandwich)
}

/// True for tables whose rows are in the order of their weights.
fn is_sorted(view: View) -> bool {
    SortBy::AllWeight.applies_to(view)
}

/// Checks that the view has a use for each option that was given.
pub(crate) fn check(args: &ReportArgs) -> Result<(), String> {
    let view = args.view();
    match LIMITS.iter().find(|limit| (limit.is_given)(args) && !(limit.applies_to)(view)) {
        Some(Limit { option, what, .. }) => Err(format!("{option} {what}, and {} has none; leave it out", shown(args))),
        None => Ok(()),
    }
}

/// The option that selected the view.
fn shown(args: &ReportArgs) -> String {
    match args.view.and_then(|view| view.to_possible_value()) {
        _ if args.format().content() != Content::Views => format!("--format {}", args.format().name()),
        _ if args.function.is_some() => "--function".to_owned(),
        Some(view) => format!("--view {}", view.get_name()),
        None if args.has_default_table() => format!("--format {} without --view", args.format().name()),
        None if args.view() == View::Overview => "the overview".to_owned(),
        None => "the full view".to_owned(),
    }
}
