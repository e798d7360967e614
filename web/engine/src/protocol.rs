//! The page's questions and the engine's answers. `types.rs` declares them in TypeScript.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::wire::{Column, Exact, F32s, F64s, I32s, U8s};

/// A question about a part of a recording.
#[derive(Debug, Deserialize)]
pub(crate) struct Question {
    pub(crate) place: Place,
    pub(crate) ask: Ask,
}

/// The part of a recording to which a question refers.
#[derive(Clone, Debug, Deserialize, TS)]
pub(crate) struct Place {
    /// The index of the series.
    pub(crate) series: usize,
    pub(crate) selection: Selection,
    pub(crate) operations: Vec<Operation>,
    /// Set on pages with two recordings. For both, the selection refers to the second one.
    #[ts(optional)]
    pub(crate) side: Option<Side>,
}

/// A recording of a page with two; a page with one recording shows `after`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Side {
    Compared,
    After,
    Before,
}

/// Fields restrict each other; the elements of a list are alternatives. A missing field restricts nothing, except for states: by default, only
/// running threads are selected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
#[ts(optional_fields)]
pub(crate) struct Selection {
    /// Indices of series, runs, processes and threads.
    pub(crate) series: Option<Vec<usize>>,
    pub(crate) runs: Option<Vec<usize>>,
    pub(crate) processes: Option<Vec<usize>>,
    pub(crate) threads: Option<Vec<usize>>,
    /// Only main threads. In another recording, these are its own main threads, even if process names differ.
    pub(crate) main_only: Option<bool>,
    /// From `start` to `end` (exclusive), in nanoseconds of the run.
    pub(crate) time: Option<TimeSpan>,
    /// Samples in an interval with one of these names (`Interval::is_named`); with `needsAll`, in an interval of each name.
    pub(crate) during: Option<During>,
    #[ts(optional, type = "'running' | 'all' | readonly string[]")]
    pub(crate) states: Option<States>,
    /// With a counter, tables without this counter are ignored.
    #[ts(optional, type = "Metric")]
    pub(crate) metric: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, TS)]
pub(crate) struct TimeSpan {
    pub(crate) start: Time,
    pub(crate) end: Option<Time>,
}

/// Nanoseconds. Fractions are rounded up, which selects the same samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, TS)]
#[ts(type = "Exact")]
pub(crate) struct Time(pub(crate) u64);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Number<'n> {
            Whole(u64),
            Double(f64),
            Text(#[serde(borrow)] std::borrow::Cow<'n, str>),
        }
        Ok(Self(match Number::deserialize(deserializer)? {
            Number::Whole(number) => number,
            // Negative numbers become 0.
            Number::Double(number) => number.ceil() as u64,
            Number::Text(text) => text.parse().map_err(serde::de::Error::custom)?,
        }))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct During {
    pub(crate) names: Vec<String>,
    pub(crate) hangs: bool,
    pub(crate) needs_all: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(untagged)]
pub(crate) enum States {
    Named(StatesName),
    Only(Vec<String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StatesName {
    Running,
    All,
}

/// An operation, named after the command's option.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Operation {
    Focus { pattern: String },
    FocusLeaves { pattern: String },
    RootAt { pattern: String },
    Prune { pattern: String },
    PruneLeaves { pattern: String },
    Charge { pattern: String },
    Collapse { pattern: String },
    ChargeBinary { binary: String },
    FlattenBinary { binary: String },
    Binary { names: Vec<String> },
    LeafBinary { names: Vec<String> },
    RootAtPlace { place: TreePlace },
    PrunePlace { place: TreePlace },
    ChargePlace { place: TreePlace },
    ChargeSystem,
    HideSystem,
    FlattenRecursion,
    SkipIdle,
    Invert,
}

/// A node of a call tree. It is identified by names, so that a link finds it in another page of the same recording.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, TS)]
pub(crate) struct TreePlace {
    pub(crate) direction: Direction,
    /// The path from the root of that tree: callers first in a top-down tree, the leaf first in a bottom-up tree.
    pub(crate) path: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Direction {
    Down,
    Up,
}

/// A function on a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, TS)]
pub(crate) struct Step {
    pub(crate) name: String,
    pub(crate) binary: Option<String>,
    /// Identifies the binary, if several binaries with the same name contain a function with this name.
    #[ts(optional)]
    pub(crate) which: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SeparateBy {
    Thread,
    Process,
    State,
    CoreKind,
    #[default]
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, TS)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Normalize {
    None,
    Duration,
    Samples,
}

/// The open rows of a tree in preorder, which are enough to open them again in another selection.
#[derive(Clone, Debug, Deserialize, TS)]
pub(crate) struct OpenRows {
    pub(crate) depth: Vec<u32>,
    pub(crate) label: Vec<i32>,
}

/// Requests a matching row, and opens closed rows on the way to it.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FindAsk {
    pub(crate) text: String,
    /// The labels on the path to the row at which the search starts.
    pub(crate) path: Vec<i32>,
    /// The number of matches to move forward; negative for backward.
    pub(crate) steps: i32,
    /// True to include the row at which the search starts.
    pub(crate) is_here: bool,
}

/// A row to open, with everything below it.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Expand {
    /// The labels on the path to the row.
    pub(crate) path: Vec<i32>,
    /// True to stop where the tree branches.
    pub(crate) only_chain: bool,
}

/// The rows to open and to find in a tree.
#[derive(Clone, Debug, Deserialize, TS)]
pub(crate) struct Rows {
    /// Null opens the heaviest path.
    pub(crate) open: Option<OpenRows>,
    pub(crate) expand: Option<Expand>,
    pub(crate) find: Option<FindAsk>,
}

/// The requested boxes of a flame graph or chart.
#[derive(Clone, Debug, Deserialize, TS)]
pub(crate) struct Boxes {
    #[ts(type = "FlameModel['unit']")]
    pub(crate) unit: String,
    /// Identifies the model; see `FlameModel`.
    pub(crate) key: String,
    pub(crate) tree: String,
    pub(crate) pixels: f64,
    /// The minimum weight of boxes (in a chart, the time below which spans are merged), and the part of the drawing; null for all boxes that are
    /// visible in the complete drawing.
    pub(crate) least: Option<f64>,
    pub(crate) from: Option<f64>,
    pub(crate) to: Option<f64>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, TS)]
pub(crate) struct Range {
    pub(crate) start: f64,
    pub(crate) end: f64,
}

/// A hang, and its threads.
#[derive(Clone, Debug, Deserialize, TS)]
pub(crate) struct HangSpan {
    pub(crate) threads: Vec<usize>,
    pub(crate) start: Time,
    /// Null if the hang was open at the end.
    pub(crate) end: Option<Time>,
}

#[derive(Clone, Debug, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Ask {
    Totals,
    Overview,
    /// The CPU time within all intervals, regardless of the selection.
    Intervals,
    /// What threads did during hangs, regardless of the selection.
    Hangs {
        hangs: Vec<HangSpan>,
    },
    Functions,
    Binaries,
    Categories,
    Lines,
    Threads,
    States,
    Cores,
    Tree {
        direction: Direction,
        by: SeparateBy,
        part: Option<i32>,
        #[serde(flatten)]
        rows: Rows,
    },
    Flame {
        direction: Direction,
        by: SeparateBy,
        part: Option<i32>,
        #[serde(flatten)]
        boxes: Boxes,
    },
    Heaviest {
        by: SeparateBy,
        part: Option<i32>,
    },
    Sandwich {
        label: i32,
    },
    Search {
        text: String,
    },
    /// A file with the selection after operations. Only with the feature `reader`: reports would be larger by 0.1 MB.
    #[cfg(feature = "reader")]
    File {
        format: FileFormat,
    },
    Chart {
        /// Null for the heaviest thread.
        thread: Option<i32>,
        /// The time range in the recording.
        range: Range,
        #[serde(flatten)]
        boxes: Boxes,
    },
    Tracks {
        #[ts(type = "FlameModel['unit']")]
        unit: String,
        range: Range,
        pixels: f64,
    },
    DiffTable {
        of: DiffTableOf,
        normalize: Normalize,
    },
    DiffOverview {
        normalize: Normalize,
    },
    DiffTree {
        normalize: Normalize,
        #[serde(flatten)]
        rows: Rows,
    },
    DiffFlame {
        normalize: Normalize,
        /// The recording whose weights are shown as widths.
        widths: Widths,
        #[serde(flatten)]
        boxes: Boxes,
    },
    DiffOf {
        normalize: Normalize,
        label: i32,
    },
}

/// A format for other programs, named like the command's.
#[cfg(feature = "reader")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FileFormat {
    Folded,
    /// The table of functions.
    Csv,
    Firefox,
    Speedscope,
    Pprof,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DiffTableOf {
    Functions,
    Own,
    Binaries,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Widths {
    Before,
    After,
}

/// A weight and a number of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, TS)]
pub(crate) struct Amount {
    pub(crate) weight: Exact,
    pub(crate) samples: Exact,
}

/// The effect of an operation on the selected samples of one series.
#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct Effect {
    pub(crate) operation: String,
    pub(crate) removed: Amount,
    pub(crate) changed_samples: Exact,
    pub(crate) moved: Amount,
}

/// An item with a separate tree or timeline.
#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct Part {
    /// The index of the thread, process or state; for kinds of core, the index of one core of this kind. -1 means not recorded, or everything.
    pub(crate) id: i32,
    pub(crate) name: Option<String>,
    #[serde(flatten)]
    pub(crate) amount: Amount,
}

/// The sums of each row.
#[derive(Clone, Debug, Default, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SumColumns {
    #[serde(rename = "self")]
    pub(crate) own: Column,
    pub(crate) all: Column,
    pub(crate) self_samples: Column,
    pub(crate) samples: Column,
}

/// The row that was found; `none` if nothing matches in this tree; `beyond` if the row is after the first rows, which are the only ones shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(untagged)]
pub(crate) enum Found {
    Row(u32),
    Not(NotFound),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "lowercase")]
pub(crate) enum NotFound {
    None,
    Beyond,
}

#[derive(Debug, Serialize, TS)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Answer {
    Totals(Totals),
    Overview(Box<crate::answers::overview::OverviewAnswer>),
    Intervals(crate::answers::intervals::IntervalsAnswer),
    Hangs {
        hangs: Vec<crate::answers::intervals::HangDoing>,
    },
    Functions {
        total: Amount,
        label: I32s,
        sums: SumColumns,
    },
    Binaries {
        total: Amount,
        name: Vec<String>,
        /// The first of the binaries with the same identity; -1 for none.
        binary: I32s,
        sums: SumColumns,
    },
    Categories {
        total: Amount,
        #[ts(type = "readonly (Category | null)[]")]
        category: Vec<Option<&'static str>>,
        sums: SumColumns,
        transitions: Transitions,
    },
    Lines {
        total: Amount,
        label: I32s,
        path: Vec<Option<String>>,
        line: I32s,
        sums: SumColumns,
        files: Vec<SourceFile>,
    },
    Threads {
        total: Amount,
        threads: Vec<Part>,
        processes: Vec<ProcessPart>,
    },
    States {
        total: Amount,
        states: Vec<StateRow>,
    },
    Cores {
        total: Amount,
        cores: Vec<CoreKind>,
    },
    Tree {
        total: Amount,
        parts: Vec<Part>,
        part: Option<i32>,
        #[serde(flatten)]
        rows: TreeRows,
        sums: SumColumns,
    },
    Flame {
        total: Amount,
        parts: Vec<Part>,
        part: Option<i32>,
        #[ts(type = "FlameModel")]
        model: Model,
    },
    Heaviest {
        total: Amount,
        parts: Vec<Part>,
        part: Option<i32>,
        label: I32s,
        sums: SumColumns,
    },
    Sandwich {
        total: Amount,
        #[serde(rename = "self")]
        own: Amount,
        all: Amount,
        /// The total of samples that contain the function several times.
        recursive: Amount,
        callers: Neighbours,
        callees: Neighbours,
    },
    Search(Search),
    #[cfg(feature = "reader")]
    File {
        bytes: U8s,
    },
    #[serde(rename_all = "camelCase")]
    Chart {
        total: Amount,
        threads: Vec<Part>,
        thread: Option<i32>,
        /// The typical time between two samples, from which lengths are estimated; null if weights are durations.
        typical_gap: Option<f64>,
        /// Without labels, which the page already has. Null if samples have no times.
        #[ts(type = "FlameModel | null")]
        model: Option<Model>,
    },
    Tracks(crate::answers::tracks::Tracks),
    DiffTable {
        total: DiffTotal,
        /// -1 for binaries.
        label: I32s,
        name: Vec<String>,
        rows: ChangedRows,
    },
    #[serde(rename_all = "camelCase")]
    DiffOverview {
        total: DiffTotal,
        own: LabelledRows,
        all: LabelledRows,
        /// The number of functions (app functions, if there are any), of functions with enough samples for a test, and of functions that changed.
        functions: usize,
        is_own: bool,
        told: usize,
        changed: usize,
    },
    DiffTree {
        total: DiffTotal,
        #[serde(flatten)]
        tree: TreeRows,
        rows: ChangedRows,
    },
    DiffFlame {
        total: DiffTotal,
        #[ts(type = "FlameModel")]
        model: Model,
        /// By box.
        rows: ChangedRows,
    },
    /// One row, or none if no selected sample contains the function.
    DiffOf {
        total: DiffTotal,
        rows: ChangedRows,
    },
}

#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct Totals {
    /// The totals of the selection after operations, and of the complete series before selection and operations, in the same states.
    pub(crate) total: Amount,
    pub(crate) whole: Amount,
    pub(crate) effects: Vec<Effect>,
    /// In a comparison: the totals of the first recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub(crate) before: Option<Box<TotalsBefore>>,
}

#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct TotalsBefore {
    pub(crate) kind: &'static str,
    pub(crate) total: Amount,
    pub(crate) whole: Amount,
    pub(crate) effects: Vec<Effect>,
}

#[derive(Debug, Serialize, TS)]
pub(crate) struct Transitions {
    pub(crate) caller: I32s,
    pub(crate) callee: I32s,
    #[ts(type = "readonly Category[]")]
    pub(crate) category: Vec<&'static str>,
    pub(crate) sums: SumColumns,
}

#[derive(Debug, Serialize, TS)]
pub(crate) struct SourceFile {
    pub(crate) path: String,
    pub(crate) self_weight: Exact,
    pub(crate) all_weight: Exact,
    pub(crate) line: I32s,
    pub(crate) sums: SumColumns,
}

#[derive(Debug, Serialize, TS)]
pub(crate) struct ProcessPart {
    #[serde(flatten)]
    pub(crate) part: Part,
    /// The number of its threads with samples.
    pub(crate) threads: u64,
}

#[derive(Debug, Serialize, TS)]
pub(crate) struct StateRow {
    /// Null if it was not recorded.
    pub(crate) state: Option<String>,
    pub(crate) is_counted: bool,
    #[serde(flatten)]
    pub(crate) amount: Amount,
}

#[derive(Debug, Serialize, TS)]
pub(crate) struct CoreKind {
    pub(crate) kind: Option<String>,
    /// Sorted by number; samples without a core come last.
    pub(crate) cores: Vec<CoreRow>,
    #[serde(flatten)]
    pub(crate) amount: Amount,
}

#[derive(Debug, Serialize, TS)]
pub(crate) struct CoreRow {
    /// The number of the core; null if it was not recorded.
    pub(crate) core: Option<u32>,
    #[serde(flatten)]
    pub(crate) amount: Amount,
}

/// The visible rows of a tree in preorder.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TreeRows {
    pub(crate) depth: I32s,
    pub(crate) label: I32s,
    /// By row: 1 if it has children, and 2 if it is open.
    pub(crate) flags: U8s,
    pub(crate) is_cut: bool,
    pub(crate) found: Option<Found>,
    #[serde(rename = "match")]
    pub(crate) found_match: Option<MatchPlace>,
}

/// The place of the found match among all matches of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MatchPlace {
    /// From 1; null if it is after the counted ones.
    pub(crate) at: Option<u32>,
    pub(crate) of: u32,
    /// False if there are more.
    pub(crate) is_all: bool,
}

#[derive(Debug, Default, Serialize, TS)]
pub(crate) struct Neighbours {
    pub(crate) label: I32s,
    pub(crate) weight: Column,
    pub(crate) samples: Column,
}

#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Search {
    pub(crate) total: Amount,
    /// The regular expression used for the search, which operations accept.
    pub(crate) pattern: String,
    /// True if the text was searched literally, because it is not a regular expression with a match.
    pub(crate) is_plain: bool,
    /// By function: 1 if its name matches.
    pub(crate) matches: U8s,
    pub(crate) functions: usize,
    /// The total of samples with a match in their stack.
    pub(crate) all: Amount,
    /// In a comparison: the totals of the first recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub(crate) before: Option<SearchBefore>,
}

#[derive(Debug, Serialize, TS)]
pub(crate) struct SearchBefore {
    pub(crate) total: Amount,
    pub(crate) all: Amount,
}

/// The boxes of a flame graph or the spans of a flame chart, without labels, which the page already has. It becomes a `FlameModel` of the page.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Model {
    pub(crate) key: String,
    pub(crate) tree: String,
    pub(crate) unit: String,
    pub(crate) total: f64,
    pub(crate) range: Option<Range>,
    pub(crate) detail: Option<Detail>,
    pub(crate) labels: NoLabels,
    pub(crate) title: &'static str,
    pub(crate) count: usize,
    pub(crate) node: I32s,
    pub(crate) depth: I32s,
    pub(crate) start: F64s,
    pub(crate) width: F64s,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) weight: Option<F64s>,
    /// In a chart, by box: the number of spans in it, and the time that they cover.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) spans: Option<I32s>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) covered: Option<F64s>,
    #[serde(rename = "self")]
    pub(crate) own: F64s,
    /// By box: the index of its label in `labels`.
    pub(crate) label: I32s,
    /// The weights with all their digits, if doubles cannot represent them exactly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) texts: Option<Texts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) is_inverted: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) change: Option<F32s>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Detail {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) least: f64,
}

#[derive(Debug, Serialize)]
pub(crate) struct Texts {
    pub(crate) weight: Vec<String>,
    #[serde(rename = "self")]
    pub(crate) own: Vec<String>,
}

/// Empty, since the page has all names itself.
#[derive(Debug, Default, Serialize)]
pub(crate) struct NoLabels {
    pub(crate) names: [String; 0],
    pub(crate) binaries: [String; 0],
    pub(crate) kinds: U8s,
}

/// Both weights, their difference, and one standard deviation of the difference.
#[derive(Debug, Default, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangeColumns {
    pub(crate) before: Column,
    pub(crate) after: Column,
    pub(crate) change: F64s,
    pub(crate) noise: F64s,
    /// 1 if the change is larger than chance explains.
    pub(crate) is_beyond: U8s,
}

#[derive(Debug, Default, Serialize, TS)]
pub(crate) struct ChangedRows {
    pub(crate) count: usize,
    #[serde(rename = "self")]
    pub(crate) own: ChangeColumns,
    pub(crate) all: ChangeColumns,
    /// 0 in both recordings, 1 new, 2 vanished.
    pub(crate) presence: U8s,
}

#[derive(Debug, Serialize, TS)]
pub(crate) struct LabelledRows {
    pub(crate) label: I32s,
    pub(crate) rows: ChangedRows,
}

/// The total as a single row, and the scaling of the second recording.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DiffTotal {
    pub(crate) rows: ChangedRows,
    /// The numbers of samples before and after.
    pub(crate) samples: [f64; 2],
    pub(crate) normalize: Normalize,
    pub(crate) factor: f64,
    /// False if a recording lacks the length or weight to scale by. The factor is then 1.
    pub(crate) is_scaled: bool,
}
