// The questions of the page and the answers of the engine, written from the types in `web/engine/src/`. After changing them:
//
//   TRACEPARSE_BLESS=1 cargo test -p traceparse-engine

import type { FlameModel } from '../canvas/types.ts';
import type { Column, Exact, Metric } from './protocol.ts';
import type { Category } from './tables.ts';

/**
 * A weight and a number of samples.
 */
export type Amount = { weight: Exact, samples: Exact, };

export type Answer = { "kind": "totals" } & Totals
  | { "kind": "overview" } & OverviewAnswer
  | { "kind": "intervals" } & IntervalsAnswer
  | { "kind": "hangs", hangs: ReadonlyArray<HangDoing>, }
  | { "kind": "functions", total: Amount, label: Int32Array, sums: SumColumns, }
  | { "kind": "binaries", total: Amount, name: ReadonlyArray<string>, 
/**
 * The first of the binaries with the same identity; -1 for none.
 */
binary: Int32Array, sums: SumColumns, }
  | { "kind": "categories", total: Amount, category: readonly (Category | null)[], sums: SumColumns, transitions: Transitions, }
  | { "kind": "lines", total: Amount, label: Int32Array, path: ReadonlyArray<string | null>, line: Int32Array, sums: SumColumns, files: ReadonlyArray<SourceFile>, }
  | { "kind": "threads", total: Amount, threads: ReadonlyArray<Part>, processes: ReadonlyArray<ProcessPart>, }
  | { "kind": "states", total: Amount, states: ReadonlyArray<StateRow>, }
  | { "kind": "cores", total: Amount, cores: ReadonlyArray<CoreKind>, }
  | { "kind": "tree", total: Amount, parts: ReadonlyArray<Part>, part: number | null, sums: SumColumns, depth: Int32Array, label: Int32Array, 
/**
 * By row: 1 if it has children, and 2 if it is open.
 */
flags: Uint8Array, isCut: boolean, found: Found | null, match: MatchPlace | null, }
  | { "kind": "flame", total: Amount, parts: ReadonlyArray<Part>, part: number | null, model: FlameModel, }
  | { "kind": "heaviest", total: Amount, parts: ReadonlyArray<Part>, part: number | null, label: Int32Array, sums: SumColumns, }
  | { "kind": "sandwich", total: Amount, self: Amount, all: Amount, 
/**
 * The total of samples that contain the function several times.
 */
recursive: Amount, callers: Neighbours, callees: Neighbours, }
  | { "kind": "search" } & Search
  | { "kind": "file", bytes: Uint8Array, }
  | { "kind": "chart", total: Amount, threads: ReadonlyArray<Part>, thread: number | null, 
/**
 * The typical time between two samples, from which lengths are estimated; null if weights are durations.
 */
typicalGap: number | null, 
/**
 * Without labels, which the page already has. Null if samples have no times.
 */
model: FlameModel | null, }
  | { "kind": "tracks" } & Tracks
  | { "kind": "diff-table", total: DiffTotal, 
/**
 * -1 for binaries.
 */
label: Int32Array, name: ReadonlyArray<string>, rows: ChangedRows, }
  | { "kind": "diff-overview", total: DiffTotal, own: LabelledRows, all: LabelledRows, 
/**
 * The number of functions (app functions, if there are any), of functions with enough samples for a test, and of functions that changed.
 */
functions: number, isOwn: boolean, told: number, changed: number, }
  | { "kind": "diff-tree", total: DiffTotal, rows: ChangedRows, depth: Int32Array, label: Int32Array, 
/**
 * By row: 1 if it has children, and 2 if it is open.
 */
flags: Uint8Array, isCut: boolean, found: Found | null, match: MatchPlace | null, }
  | { "kind": "diff-flame", total: DiffTotal, model: FlameModel, 
/**
 * By box.
 */
rows: ChangedRows, }
  | { "kind": "diff-of", total: DiffTotal, rows: ChangedRows, };

export type Answered = { shares: SharesAnswer, 
/**
 * App code with the system code that it calls; or all code by self weight, if no app code except its entry point ran.
 */
answersIn: 'own' | 'all', answers: ReadonlyArray<OverviewFunction>, };

export type Ask = { "kind": "totals" }
  | { "kind": "overview" }
  | { "kind": "intervals" }
  | { "kind": "hangs", hangs: ReadonlyArray<HangSpan>, }
  | { "kind": "functions" }
  | { "kind": "binaries" }
  | { "kind": "categories" }
  | { "kind": "lines" }
  | { "kind": "threads" }
  | { "kind": "states" }
  | { "kind": "cores" }
  | { "kind": "tree", direction: Direction, by: SeparateBy, part: number | null, 
/**
 * Null opens the heaviest path.
 */
open: OpenRows | null, expand: Expand | null, find: FindAsk | null, }
  | { "kind": "flame", direction: Direction, by: SeparateBy, part: number | null, unit: FlameModel['unit'], 
/**
 * Identifies the model; see `FlameModel`.
 */
key: string, tree: string, pixels: number, 
/**
 * The minimum weight of boxes (in a chart, the time below which spans are merged), and the part of the drawing; null for all boxes that are
 * visible in the complete drawing.
 */
least: number | null, from: number | null, to: number | null, }
  | { "kind": "heaviest", by: SeparateBy, part: number | null, }
  | { "kind": "sandwich", label: number, }
  | { "kind": "search", text: string, }
  | { "kind": "file", format: FileFormat, }
  | { "kind": "chart", 
/**
 * Null for the heaviest thread.
 */
thread: number | null, 
/**
 * The time range in the recording.
 */
range: Range, unit: FlameModel['unit'], 
/**
 * Identifies the model; see `FlameModel`.
 */
key: string, tree: string, pixels: number, 
/**
 * The minimum weight of boxes (in a chart, the time below which spans are merged), and the part of the drawing; null for all boxes that are
 * visible in the complete drawing.
 */
least: number | null, from: number | null, to: number | null, }
  | { "kind": "tracks", unit: FlameModel['unit'], range: Range, pixels: number, }
  | { "kind": "diff-table", of: DiffTableOf, normalize: Normalize, }
  | { "kind": "diff-overview", normalize: Normalize, }
  | { "kind": "diff-tree", normalize: Normalize, 
/**
 * Null opens the heaviest path.
 */
open: OpenRows | null, expand: Expand | null, find: FindAsk | null, }
  | { "kind": "diff-flame", normalize: Normalize, 
/**
 * The recording whose weights are shown as widths.
 */
widths: Widths, unit: FlameModel['unit'], 
/**
 * Identifies the model; see `FlameModel`.
 */
key: string, tree: string, pixels: number, 
/**
 * The minimum weight of boxes (in a chart, the time below which spans are merged), and the part of the drawing; null for all boxes that are
 * visible in the complete drawing.
 */
least: number | null, from: number | null, to: number | null, }
  | { "kind": "diff-of", normalize: Normalize, label: number, };

/**
 * Both weights, their difference, and one standard deviation of the difference.
 */
export type ChangeColumns = { before: Column, after: Column, change: Float64Array, noise: Float64Array, 
/**
 * 1 if the change is larger than chance explains.
 */
isBeyond: Uint8Array, };

export type ChangedRows = { count: number, self: ChangeColumns, all: ChangeColumns, 
/**
 * 0 in both recordings, 1 new, 2 vanished.
 */
presence: Uint8Array, };

export type CoreKind = { kind: string | null, 
/**
 * Sorted by number; samples without a core come last.
 */
cores: ReadonlyArray<CoreRow>, weight: Exact, samples: Exact, };

export type CoreRow = { 
/**
 * The number of the core; null if it was not recorded.
 */
core: number | null, weight: Exact, samples: Exact, };

export type CounterSum = { 
/**
 * Counted from 1.
 */
number: number, name: string | null, events: Exact, };

export type DiffTableOf = "functions" | "own" | "binaries";

/**
 * The total as a single row, and the scaling of the second recording.
 */
export type DiffTotal = { rows: ChangedRows, 
/**
 * The numbers of samples before and after.
 */
samples: [number, number], normalize: Normalize, factor: number, 
/**
 * False if a recording lacks the length or weight to scale by. The factor is then 1.
 */
isScaled: boolean, };

export type Direction = "down" | "up";

export type During = { names: ReadonlyArray<string>, hangs: boolean, needsAll: boolean, };

/**
 * The effect of an operation on the selected samples of one series.
 */
export type Effect = { operation: string, removed: Amount, changed_samples: Exact, moved: Amount, };

/**
 * A row to open, with everything below it.
 */
export type Expand = { 
/**
 * The labels on the path to the row.
 */
path: ReadonlyArray<number>, 
/**
 * True to stop where the tree branches.
 */
onlyChain: boolean, };

/**
 * A format for other programs, named like the command's.
 */
export type FileFormat = "folded" | "csv" | "firefox" | "speedscope" | "pprof";

/**
 * Requests a matching row, and opens closed rows on the way to it.
 */
export type FindAsk = { text: string, 
/**
 * The labels on the path to the row at which the search starts.
 */
path: ReadonlyArray<number>, 
/**
 * The number of matches to move forward; negative for backward.
 */
steps: number, 
/**
 * True to include the row at which the search starts.
 */
isHere: boolean, };

/**
 * The row that was found; `none` if nothing matches in this tree; `beyond` if the row is after the first rows, which are the only ones shown.
 */
export type Found = number | NotFound;

export type FunctionColumns = { count: number, name: Int32Array, binary: Int32Array, 
/**
 * Bits: 1 if the function has a real name, 2 if threads wait in it.
 */
flags: Int32Array, };

/**
 * What the threads of a hang did during it.
 */
export type HangDoing = { onCpu: Amount, offCpu: Amount, 
/**
 * The labels of the heaviest stack on the CPU and of the heaviest stack off the CPU.
 */
heaviest: Int32Array, waiting: Int32Array, };

/**
 * A hang, and its threads.
 */
export type HangSpan = { threads: ReadonlyArray<number>, start: Time, 
/**
 * Null if the hang was open at the end.
 */
end: Time | null, };

/**
 * Intervals, with indices of their labels and owners in the lists of the head.
 */
export type IntervalColumns = { run: Int32Array, start: Float64Array, 
/**
 * Infinite if the interval was open at the end.
 */
end: Float64Array, label: Int32Array, owner: Int32Array, };

/**
 * The CPU time within each interval of the recording.
 */
export type IntervalsAnswer = { 
/**
 * The unit of CPU time; null if there is no CPU time.
 */
unit: FlameModel['unit'] | null, 
/**
 * By interval: the CPU time within it, of its thread and of all threads. NaN if it has no thread, or if nothing was sampled.
 */
thread: Float64Array, all: Float64Array, };

export type LabelledRows = { label: Int32Array, rows: ChangedRows, };

/**
 * A line of the timeline: weights in bins of equal length.
 */
export type Line = { id: number, weight: Exact, 
/**
 * The bins of selected samples, and of samples in other states.
 */
bins: Float64Array, waiting: Float64Array | null, };

/**
 * The place of the found match among all matches of a tree.
 */
export type MatchPlace = { 
/**
 * From 1; null if it is after the counted ones.
 */
at: number | null, of: number, 
/**
 * False if there are more.
 */
isAll: boolean, };

/**
 * The functions of both recordings without duplicates. The first entry is not a function: it represents samples without a stack.
 */
export type MatchedColumns = { name: ReadonlyArray<string | null>, binary: ReadonlyArray<string | null>, 
/**
 * 1 if operations find the function by this name in both recordings.
 */
isNamed: Uint8Array, 
/**
 * The index of the function in each recording; -1 if it is missing.
 */
before: Int32Array, after: Int32Array, 
/**
 * By function of each recording: its index among the functions of both.
 */
ofBefore: Int32Array, ofAfter: Int32Array, };

export type Neighbours = { label: Int32Array, weight: Column, samples: Column, };

export type Normalize = "none" | "duration" | "samples";

export type NotFound = "none" | "beyond";

/**
 * The open rows of a tree in preorder, which are enough to open them again in another selection.
 */
export type OpenRows = { depth: ReadonlyArray<number>, label: ReadonlyArray<number>, };

/**
 * An operation, named after the command's option.
 */
export type Operation = { "kind": "focus", pattern: string, }
  | { "kind": "focus-leaves", pattern: string, }
  | { "kind": "root-at", pattern: string, }
  | { "kind": "prune", pattern: string, }
  | { "kind": "prune-leaves", pattern: string, }
  | { "kind": "charge", pattern: string, }
  | { "kind": "collapse", pattern: string, }
  | { "kind": "charge-binary", binary: string, }
  | { "kind": "flatten-binary", binary: string, }
  | { "kind": "binary", names: ReadonlyArray<string>, }
  | { "kind": "leaf-binary", names: ReadonlyArray<string>, }
  | { "kind": "root-at-place", place: TreePlace, }
  | { "kind": "prune-place", place: TreePlace, }
  | { "kind": "charge-place", place: TreePlace, }
  | { "kind": "charge-system" }
  | { "kind": "hide-system" }
  | { "kind": "flatten-recursion" }
  | { "kind": "skip-idle" }
  | { "kind": "invert" };

/**
 * The overview of a recording, with the facts shown next to it.
 */
export type OverviewAnswer = { total: Amount, answer: Answered, 
/**
 * The command's sentences. A function in them is `\u{1}LABEL\u{2}NAME\u{3}`.
 */
sentences: Sentences, threads: ReadonlyArray<Part>, cores: ReadonlyArray<CoreKind>, 
/**
 * The counters of the selected samples.
 */
counters: ReadonlyArray<CounterSum>, };

/**
 * One of the heaviest functions.
 */
export type OverviewFunction = { label: number, 
/**
 * The weight of all samples with the function in their stack.
 */
all: Exact, weight: Exact, samples: Exact, };

/**
 * An item with a separate tree or timeline.
 */
export type Part = { 
/**
 * The index of the thread, process or state; for kinds of core, the index of one core of this kind. -1 means not recorded, or everything.
 */
id: number, name: string | null, weight: Exact, samples: Exact, };

/**
 * The part of a recording to which a question refers.
 */
export type Place = { 
/**
 * The index of the series.
 */
series: number, selection: Selection, operations: ReadonlyArray<Operation>, 
/**
 * Set on pages with two recordings. For both, the selection refers to the second one.
 */
side?: Side, };

export type ProcessPart = { 
/**
 * The number of its threads with samples.
 */
threads: number, 
/**
 * The index of the thread, process or state; for kinds of core, the index of one core of this kind. -1 means not recorded, or everything.
 */
id: number, name: string | null, weight: Exact, samples: Exact, };

export type Range = { start: number, end: number, };

export type Search = { total: Amount, 
/**
 * The regular expression used for the search, which operations accept.
 */
pattern: string, 
/**
 * True if the text was searched literally, because it is not a regular expression with a match.
 */
isPlain: boolean, 
/**
 * By function: 1 if its name matches.
 */
matches: Uint8Array, functions: number, 
/**
 * The total of samples with a match in their stack.
 */
all: Amount, 
/**
 * In a comparison: the totals of the first recording.
 */
before?: SearchBefore, };

export type SearchBefore = { total: Amount, all: Amount, };

/**
 * Fields restrict each other; the elements of a list are alternatives. A missing field restricts nothing, except for states: by default, only
 * running threads are selected.
 */
export type Selection = { 
/**
 * Indices of series, runs, processes and threads.
 */
series?: ReadonlyArray<number>, runs?: ReadonlyArray<number>, processes?: ReadonlyArray<number>, threads?: ReadonlyArray<number>, 
/**
 * Only main threads. In another recording, these are its own main threads, even if process names differ.
 */
mainOnly?: boolean, 
/**
 * From `start` to `end` (exclusive), in nanoseconds of the run.
 */
time?: TimeSpan, 
/**
 * Samples in an interval with one of these names (`Interval::is_named`); with `needsAll`, in an interval of each name.
 */
during?: During, states?: 'running' | 'all' | readonly string[], 
/**
 * With a counter, tables without this counter are ignored.
 */
metric?: Metric, };

/**
 * A sentence is empty if it does not apply.
 */
export type Sentences = { activity: string, leftOut: string, answer: ReadonlyArray<string>, shares: string, advice: string, };

export type SeparateBy = "thread" | "process" | "state" | "core-kind" | "none";

export type SharesAnswer = { own: Amount, system: Amount, unknown: Amount, queued: Amount, waiting: Amount, idle: Amount, noStack: Amount, };

/**
 * A recording of a page with two; a page with one recording shows `after`.
 */
export type Side = "compared" | "after" | "before";

export type SourceFile = { path: string, self_weight: Exact, all_weight: Exact, line: Int32Array, sums: SumColumns, };

export type StateLine = { id: number, bins: Float64Array, };

export type StateRow = { 
/**
 * Null if it was not recorded.
 */
state: string | null, is_counted: boolean, weight: Exact, samples: Exact, };

/**
 * A function on a path.
 */
export type Step = { name: string, binary: string | null, 
/**
 * Identifies the binary, if several binaries with the same name contain a function with this name.
 */
which?: string, };

/**
 * The sums of each row.
 */
export type SumColumns = { self: Column, all: Column, selfSamples: Column, samples: Column, };

/**
 * Nanoseconds. Fractions are rounded up, which selects the same samples.
 */
export type Time = Exact;

export type TimeSpan = { start: Time, end: Time | null, };

export type Totals = { 
/**
 * The totals of the selection after operations, and of the complete series before selection and operations, in the same states.
 */
total: Amount, whole: Amount, effects: ReadonlyArray<Effect>, 
/**
 * In a comparison: the totals of the first recording.
 */
before?: TotalsBefore, };

export type TotalsBefore = { kind: string, total: Amount, whole: Amount, effects: ReadonlyArray<Effect>, };

export type Tracks = { start: number, bin: number, overall: Float64Array, threads: ReadonlyArray<Line>, processes: ReadonlyArray<Line>, cores: ReadonlyArray<Line>, 
/**
 * -1 means that no state was recorded.
 */
states: ReadonlyArray<StateLine>, };

export type Transitions = { caller: Int32Array, callee: Int32Array, category: readonly Category[], sums: SumColumns, };

/**
 * A node of a call tree. It is identified by names, so that a link finds it in another page of the same recording.
 */
export type TreePlace = { direction: Direction, 
/**
 * The path from the root of that tree: callers first in a top-down tree, the leaf first in a bottom-up tree.
 */
path: ReadonlyArray<Step>, };

export type Widths = "before" | "after";
