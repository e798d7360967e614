//! Options of the output that only some views have a use for.

use clap::ValueEnum;
use traceparse::report::View;

use crate::formats::Content;
use crate::report_args::{ReportArgs, SEPARATED, SeparateArg, SortArg};

/// An option, what it is for, and the views that have that.
struct Limit {
    option: &'static str,
    /// `--min-weight hides tree nodes …`.
    what: &'static str,
    views: &'static [View],
    is_given: fn(&ReportArgs) -> bool,
}

const LIMITS: [Limit; 8] = [
    Limit {
        option: "--min-weight",
        what: "hides tree nodes and rows of tables of weights",
        views: &[
            View::Full,
            View::Tree,
            View::Heaviest,
            View::FlameChart,
            View::Threads,
            View::Functions,
            View::Sandwich,
            View::Binaries,
            View::Lines,
            View::Transitions,
            View::Categories,
            View::Processes,
            View::States,
        ],
        is_given: |args| args.min_weight.is_some(),
    },
    Limit {
        option: "--min-percent",
        what: "hides tree nodes and rows of long tables",
        views: &[
            View::Full,
            View::Tree,
            View::Heaviest,
            View::FlameChart,
            View::Functions,
            View::Sandwich,
            View::Binaries,
            View::Lines,
            View::Transitions,
            View::Timeline,
        ],
        // 0 shows everything, as these views do anyway.
        is_given: |args| args.min_percent.is_some_and(|percent| percent > 0.0),
    },
    Limit {
        option: "--depth",
        what: "hides levels of call trees and flame charts",
        views: &[View::Full, View::Tree, View::FlameChart],
        is_given: |args| args.depth.is_some(),
    },
    Limit {
        option: "--top",
        what: "limits rows of tables, children of tree nodes and lists of the heaviest stacks",
        views: &[
            View::Overview,
            View::Full,
            View::Tree,
            View::Heaviest,
            View::Threads,
            View::Functions,
            View::Sandwich,
            View::Binaries,
            View::Lines,
            View::Transitions,
            // The calls below them.
            View::Categories,
            View::Processes,
            View::States,
        ],
        is_given: |args| args.top.is_some(),
    },
    Limit {
        option: "--sort",
        what: "orders functions, binaries, lines, categories, transitions, threads, processes and states",
        views: SORTED,
        is_given: |args| args.sort.is_some(),
    },
    Limit {
        option: "--sort self",
        what: "orders functions, binaries, lines, categories and transitions by their self weight",
        views: &[View::Functions, View::Binaries, View::Lines, View::Categories, View::Transitions],
        is_given: |args| args.sort == Some(SortArg::SelfWeight),
    },
    Limit {
        option: "--separate-by",
        what: SEPARATES,
        views: SEPARATED,
        is_given: |args| args.separate_by != SeparateArg::Thread,
    },
    Limit { option: "--no-threads", what: SEPARATES, views: SEPARATED, is_given: |args| args.no_threads },
];

const SORTED: &[View] = &[
    View::Functions,
    View::Binaries,
    View::Lines,
    View::Categories,
    View::Transitions,
    View::Threads,
    View::Processes,
    View::States,
];

const SEPARATES: &str = "splits call trees, heaviest stacks and timelines";

/// Checks that the view has a use for each of these options that was given.
pub(crate) fn check(args: &ReportArgs) -> Result<(), String> {
    let view = args.view();
    match LIMITS.iter().find(|limit| (limit.is_given)(args) && !limit.views.contains(&view)) {
        Some(Limit { option, what, .. }) => Err(format!("{option} {what}, and {} has none; leave it out", shown(args))),
        None => Ok(()),
    }
}

/// The name of the view, as it was asked for.
fn shown(args: &ReportArgs) -> String {
    match args.view.and_then(|view| view.to_possible_value()) {
        _ if args.format().content() != Content::Views => format!("--format {}", args.format().name()),
        _ if args.function.is_some() => "--function".to_owned(),
        Some(view) => format!("--view {}", view.get_name()),
        None if args.view() == View::Overview => "the overview".to_owned(),
        None => "the full view".to_owned(),
    }
}
