//! Arguments whose values are defined by the library, with a help text for each value.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use traceparse::fleet::Measure;
use traceparse::output::{ColourBy, DiffView};
use traceparse::report::diff::Normalize;
use traceparse::report::{SeparateBy, SortBy, View};
use traceparse::stats::QuantileMethod;

/// A parser for named values, each with its help text.
fn parser<T: Copy + Send + Sync + 'static>(
    choices: impl IntoIterator<Item = &'static (T, &'static str)>,
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let choices: Vec<_> = choices.into_iter().copied().collect();
    let possible = choices.iter().map(|&(value, help)| PossibleValue::new(name(value)).help(help));
    PossibleValuesParser::new(possible.collect::<Vec<_>>())
        .try_map(move |text| choices.iter().map(|choice| choice.0).find(|&value| name(value) == text).ok_or("unknown"))
}

pub(crate) fn measure() -> impl TypedValueParser<Value = Measure> {
    const CHOICES: &[(Measure, &str)] = &[
        (
            Measure::Cpu,
            "CPU use: all samples of a run, process or thread; for a binary or function, the samples in which it is the leaf",
        ),
        (Measure::SelfWeight, "Samples whose leaf is in the scope, the same as cpu"),
        (
            Measure::AllWeight,
            "Samples that have the binary or function anywhere in their stack, each counted once; otherwise the same as cpu",
        ),
    ];
    parser(CHOICES, Measure::name)
}

pub(crate) fn quantile_method() -> impl TypedValueParser<Value = QuantileMethod> {
    const CHOICES: &[(QuantileMethod, &str)] = &[
        (QuantileMethod::NearestRank, "The value of rank ⌈q·n⌉: numpy's `inverted_cdf`, SQL's `percentile_disc`"),
        (QuantileMethod::Linear, "Linear interpolation between two values: numpy's `linear`, SQL's `percentile_cont`"),
    ];
    parser(CHOICES, QuantileMethod::name)
}

pub(crate) fn normalize() -> impl TypedValueParser<Value = Normalize> {
    const CHOICES: &[(Normalize, &str)] = &[
        (Normalize::None, "Do not scale: compare weights unchanged"),
        (Normalize::Duration, "Scale to the length of the first recording"),
        (Normalize::Samples, "Scale to the total weight of the first recording, so that shares are compared"),
    ];
    parser(CHOICES, Normalize::name)
}

pub(crate) fn colour_by() -> impl TypedValueParser<Value = ColourBy> {
    const CHOICES: &[(ColourBy, &str)] = &[
        (ColourBy::Function, "By function, in warm colours"),
        (ColourBy::Binary, "By binary, one colour each"),
        (ColourBy::Category, "By owner of the code: the program, the system, a runtime or the kernel"),
    ];
    parser(CHOICES, ColourBy::name)
}

pub(crate) fn diff_view() -> impl TypedValueParser<Value = DiffView> {
    const CHOICES: &[(DiffView, &str)] = &[
        (
            DiffView::Overview,
            "The short answer: the change in the total, and the functions that changed most [default for text]",
        ),
        (DiffView::Functions, "Functions across all threads, by change in self weight"),
        (DiffView::Binaries, "Binaries, by change in self weight"),
        (DiffView::Tree, "The call tree across all threads, by change in total weight"),
    ];
    parser(CHOICES, DiffView::name)
}

pub(crate) fn separate_by() -> impl TypedValueParser<Value = SeparateBy> {
    const CHOICES: &[(SeparateBy, &str)] = &[
        (SeparateBy::Thread, "By thread"),
        (SeparateBy::Process, "By process"),
        (SeparateBy::State, "By thread state; all states are included unless --state is given"),
        (SeparateBy::CoreKind, "By kind of core, such as P Core"),
        (SeparateBy::Interval, "By signpost: the innermost one that was open on the thread"),
        (SeparateBy::Task, "By Swift task that the thread ran"),
        (SeparateBy::Nothing, "Do not split: one tree for all threads"),
    ];
    parser(CHOICES, SeparateBy::name)
}

pub(crate) fn sort_by() -> impl TypedValueParser<Value = SortBy> {
    const CHOICES: &[(SortBy, &str)] = &[
        (SortBy::SelfWeight, "Self weight"),
        (SortBy::AllWeight, "Total weight: the weight of all samples with the item anywhere in their stack"),
        (SortBy::Samples, "The number of samples"),
        (SortBy::Name, "Names, from A to Z"),
    ];
    parser(CHOICES, SortBy::name)
}

/// A view, or the bottom-up tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ViewArg {
    Of(View),
    BottomUp,
}

impl ViewArg {
    fn name(self) -> &'static str {
        match self {
            Self::Of(view) => view.name(),
            Self::BottomUp => "bottom-up",
        }
    }
}

/// A parser for the offered views and [`ViewArg::BottomUp`].
pub(crate) fn view(is_offered: fn(View) -> bool) -> impl TypedValueParser<Value = ViewArg> {
    const CHOICES: &[(ViewArg, &str)] = &[
        (
            ViewArg::Of(View::Overview),
            "The short answer: how busy the app was, your heaviest functions, the busiest threads [default for text]",
        ),
        (
            ViewArg::Of(View::Full),
            "Summary, threads, and the call tree of each thread [default for other formats, and with options for trees]",
        ),
        (ViewArg::Of(View::Summary), "Inputs, tables and their rows, totals, and what was left out"),
        (ViewArg::Of(View::Threads), "Threads with their weights"),
        (ViewArg::Of(View::Tree), "The call tree of each thread"),
        (ViewArg::BottomUp, "The call tree from the leaves up: functions by self weight, with their callers below"),
        (ViewArg::Of(View::Functions), "Functions across all threads, by self weight"),
        (ViewArg::Of(View::Heaviest), "The heaviest stack of each thread"),
        (ViewArg::Of(View::Binaries), "Binaries across all threads, by self weight"),
        (
            ViewArg::Of(View::Categories),
            "Your code, the system, runtimes and the kernel, and the calls from your code into the others",
        ),
        (ViewArg::Of(View::Transitions), "Every call from your code into other code"),
        (ViewArg::Of(View::Lines), "Source lines across all threads, by self weight; --source shows the source"),
        (ViewArg::Of(View::Processes), "Processes with their weights"),
        (ViewArg::Of(View::States), "Thread states with their weights, including states that are not selected"),
        (ViewArg::Of(View::Cores), "Cores and kinds of core, with the weight of the samples on them"),
        (ViewArg::Of(View::Timeline), "CPU use over time, by thread or as --separate-by splits it"),
        (ViewArg::Of(View::Samples), "One line for each sample, in the order of the input"),
        (ViewArg::Of(View::FlameChart), "The functions that each thread ran, over time"),
    ];
    let is_offered = move |(view, _): &&(ViewArg, _)| match view {
        ViewArg::Of(view) => is_offered(*view),
        ViewArg::BottomUp => true,
    };
    parser(CHOICES.iter().filter(is_offered), ViewArg::name)
}
