// The questions of the page and the answers of the engine, written from the types in `web/engine/src/`. After changing them:
//
//   cd web/engine && TRACEPARSE_BLESS=1 cargo test

import type { FlameModel } from '../canvas/types.ts';
import type { Column, Exact, Metric } from './protocol.ts';
import type { Category } from './tables.ts';

/**
 * Weight and number of samples.
 */
export type Amount = { weight: Exact, samples: Exact, };

export type Answer = { "kind": "totals" } & Totals
  | { "kind": "overview" } & OverviewAnswer
  | { "kind": "intervals" } & IntervalsAnswer
  | { "kind": "hangs", hangs: ReadonlyArray<HangDoing>, }
  | { "kind": "functions", total: Amount, label: Int32Array, sums: SumColumns, }
  | { "kind": "binaries", total: Amount, name: ReadonlyArray<string>, 
/**
 * The first of the binaries that are one; -1 for none.
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
flags: Uint8Array, isCut: boolean, found: Found | null, }
  | { "kind": "flame", total: Amount, parts: ReadonlyArray<Part>, part: number | null, model: FlameModel, }
  | { "kind": "heaviest", total: Amount, parts: ReadonlyArray<Part>, part: number | null, label: Int32Array, sums: SumColumns, }
  | { "kind": "sandwich", total: Amount, self: Amount, all: Amount, 
/**
 * The amount of samples that contain the function several times.
 */
recursive: Amount, callers: Neighbours, callees: Neighbours, }
  | { "kind": "search" } & Search
  | { "kind": "chart", total: Amount, threads: ReadonlyArray<Part>, thread: number | null, 
/**
 * The typical time between two samples, by which times are estimated; null where weights are time.
 */
typicalGap: number | null, 
/**
 * Without labels, which the page has; null where samples have no times.
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
 * The number of functions (app functions, if there are any), of those with enough samples for a test, and of those that changed.
 */
functions: number, isOwn: boolean, told: number, changed: number, }
  | { "kind": "diff-tree", total: DiffTotal, rows: ChangedRows, depth: Int32Array, label: Int32Array, 
/**
 * By row: 1 if it has children, and 2 if it is open.
 */
flags: Uint8Array, isCut: boolean, found: Found | null, }
  | { "kind": "diff-flame", total: DiffTotal, model: FlameModel, 
/**
 * By box.
 */
rows: ChangedRows, }
  | { "kind": "diff-of", total: DiffTotal, rows: ChangedRows, };

export type Answered = { shares: SharesAnswer, 
/**
 * App code with the system code it calls, or all code by self weight if no app code except its entry point ran.
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
 * The weight from which on boxes are there, and the part of the graph; null is what can be seen of all.
 */
least: number | null, from: number | null, to: number | null, }
  | { "kind": "heaviest", by: SeparateBy, part: number | null, }
  | { "kind": "sandwich", label: number, }
  | { "kind": "search", text: string, }
  | { "kind": "chart", 
/**
 * Null is the heaviest.
 */
thread: number | null, unit: FlameModel['unit'], key: string, 
/**
 * The time of the recording.
 */
range: Range, }
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
 * The recording whose weights are the widths.
 */
widths: Widths, unit: FlameModel['unit'], 
/**
 * Identifies the model; see `FlameModel`.
 */
key: string, tree: string, pixels: number, 
/**
 * The weight from which on boxes are there, and the part of the graph; null is what can be seen of all.
 */
least: number | null, from: number | null, to: number | null, }
  | { "kind": "diff-of", normalize: Normalize, label: number, };

/**
 * Both weights, their difference, and one standard deviation of it.
 */
export type ChangeColumns = { before: Column, after: Column, change: Float64Array, noise: Float64Array, 
/**
 * 1 if the change is more than chance explains.
 */
isBeyond: Uint8Array, };

export type ChangedRows = { count: number, self: ChangeColumns, all: ChangeColumns, 
/**
 * 0 in both, 1 new, 2 vanished.
 */
presence: Uint8Array, };

export type CoreKind = { kind: string | null, 
/**
 * In the order of their numbers, at last samples without core.
 */
cores: ReadonlyArray<CoreRow>, weight: Exact, samples: Exact, };

export type CoreRow = { 
/**
 * The number of the core; null if it was not recorded.
 */
core: number | null, weight: Exact, samples: Exact, };

export type CounterSum = { 
/**
 * From 1.
 */
number: number, name: string | null, events: Exact, };

export type DiffTableOf = "functions" | "own" | "binaries";

/**
 * The sum of everything, as the only row, and the scaling of what comes after.
 */
export type DiffTotal = { rows: ChangedRows, 
/**
 * Before and after.
 */
samples: [number, number], normalize: Normalize, factor: number, 
/**
 * False if a recording has nothing to scale by; then the factor is 1.
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
 * Stops where the tree forks.
 */
onlyChain: boolean, };

/**
 * Requests a matching row, and opens closed rows on the way.
 */
export type FindAsk = { text: string, 
/**
 * The labels on the path to the row to start from.
 */
path: ReadonlyArray<number>, 
/**
 * The number of matches to move; negative for backwards.
 */
steps: number, 
/**
 * The row to start from counts, if it matches.
 */
isHere: boolean, };

/**
 * The row that was found; or `none` if nothing matches in this tree, or `beyond` if the row is after the first rows, which are the only
 * ones shown.
 */
export type Found = number | NotFound;

export type FunctionColumns = { count: number, name: Int32Array, binary: Int32Array, 
/**
 * Bits: 1 has a real name, 2 is one in which threads wait.
 */
flags: Int32Array, };

/**
 * What the threads of a hang did in it.
 */
export type HangDoing = { onCpu: Amount, offCpu: Amount, 
/**
 * The labels of the heaviest stack on the CPU, and off it.
 */
heaviest: Int32Array, waiting: Int32Array, };

/**
 * A hang, and its threads.
 */
export type HangSpan = { threads: ReadonlyArray<number>, start: Time, 
/**
 * Null if it was open at the end.
 */
end: Time | null, };

/**
 * Intervals, and the places of their labels and owners in the lists of the head.
 */
export type IntervalColumns = { run: Int32Array, start: Float64Array, 
/**
 * Infinite if it was open at the end.
 */
end: Float64Array, label: Int32Array, owner: Int32Array, };

/**
 * The CPU time within each interval of the recording.
 */
export type IntervalsAnswer = { 
/**
 * The unit of CPU time; null if there is none.
 */
unit: FlameModel['unit'] | null, 
/**
 * By interval: the CPU time of its thread within it, and of all threads. NaN if it has no thread, or nothing was sampled.
 */
thread: Float64Array, all: Float64Array, };

export type LabelledRows = { label: Int32Array, rows: ChangedRows, };

/**
 * Weights in bins of one length, of one line of the timeline.
 */
export type Line = { id: number, weight: Exact, 
/**
 * The bins of selected samples, and of other states.
 */
bins: Float64Array, waiting: Float64Array | null, };

/**
 * The functions of both recordings, each once. The first is not a function: it represents samples without a stack.
 */
export type MatchedColumns = { name: ReadonlyArray<string | null>, binary: ReadonlyArray<string | null>, 
/**
 * 1 if operations find the function by this name in both recordings.
 */
isNamed: Uint8Array, 
/**
 * The function of each recording; -1 for none.
 */
before: Int32Array, after: Int32Array, 
/**
 * For each function of each recording: its index among the functions of both.
 */
ofBefore: Int32Array, ofAfter: Int32Array, };

export type Neighbours = { label: Int32Array, weight: Column, samples: Column, };

export type Normalize = "none" | "duration" | "samples";

export type NotFound = "none" | "beyond";

/**
 * The rows that are open in a tree, in preorder: all that is needed to show it again over another selection.
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
 * The first answer about a recording, and the facts next to it.
 */
export type OverviewAnswer = { total: Amount, answer: Answered, 
/**
 * The command's sentences, in which a function is `\u{1}LABEL\u{2}NAME\u{3}`.
 */
sentences: Sentences, threads: ReadonlyArray<Part>, cores: ReadonlyArray<CoreKind>, 
/**
 * The counters of the selected samples.
 */
counters: ReadonlyArray<CounterSum>, };

/**
 * A function, and how it came to run.
 */
export type OverviewFunction = { label: number, 
/**
 * The weight of all samples that have the function in their stack.
 */
all: Exact, weight: Exact, samples: Exact, };

/**
 * An item with a separate tree or line of time.
 */
export type Part = { 
/**
 * The index of the thread, process or state; for kinds of core, one core of this kind. -1 means not recorded, or everything.
 */
id: number, name: string | null, weight: Exact, samples: Exact, };

/**
 * The part of a recording that an answer is about.
 */
export type Place = { 
/**
 * The index of the series.
 */
series: number, selection: Selection, operations: ReadonlyArray<Operation>, 
/**
 * On pages with two recordings. For both, the selection refers to the second one.
 */
side?: Side, };

export type ProcessPart = { 
/**
 * The number of its threads that have samples.
 */
threads: number, 
/**
 * The index of the thread, process or state; for kinds of core, one core of this kind. -1 means not recorded, or everything.
 */
id: number, name: string | null, weight: Exact, samples: Exact, };

export type Range = { start: number, end: number, };

export type Search = { total: Amount, 
/**
 * The regular expression that was read, as operations have it.
 */
pattern: string, 
/**
 * The text is not a regular expression with a match, and was taken literally.
 */
isPlain: boolean, 
/**
 * By function: 1 if its name matches.
 */
matches: Uint8Array, functions: number, 
/**
 * The amount of samples with a match in their stack.
 */
all: Amount, 
/**
 * In a comparison: the amounts of the first recording.
 */
before?: SearchBefore, };

export type SearchBefore = { total: Amount, all: Amount, };

/**
 * Lists are alternatives; the fields narrow each other. A missing field narrows nothing, except for states: by default, only running
 * threads are selected.
 */
export type Selection = { 
/**
 * Indices of series, runs, processes and threads.
 */
series?: ReadonlyArray<number>, runs?: ReadonlyArray<number>, processes?: ReadonlyArray<number>, threads?: ReadonlyArray<number>, 
/**
 * Main threads only. Another recording has other main threads, whatever their processes are called.
 */
mainOnly?: boolean, 
/**
 * From `start` on, up to but without `end`, in nanoseconds of the run.
 */
time?: TimeSpan, 
/**
 * Samples in an interval with one of these names (`Interval::is_named`); or, with `needsAll`, in one of each.
 */
during?: During, states?: 'running' | 'all' | readonly string[], 
/**
 * With a counter, tables without it do not count.
 */
metric?: Metric, };

/**
 * A sentence is empty if it does not apply.
 */
export type Sentences = { activity: string, leftOut: string, answer: string, caution: string, shares: string, advice: string, };

export type SeparateBy = "thread" | "process" | "state" | "core-kind" | "none";

export type SharesAnswer = { own: Amount, system: Amount, unknown: Amount, queued: Amount, waiting: Amount, idle: Amount, noStack: Amount, };

/**
 * A recording of a page with two; a page with one shows `after`.
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
 * Which binary, if several with one name have a function with this name.
 */
which?: string, };

/**
 * Sums by row.
 */
export type SumColumns = { self: Column, all: Column, selfSamples: Column, samples: Column, };

/**
 * Nanoseconds. A sample is not before a fraction of one if it is not before the next whole one.
 */
export type Time = Exact;

export type TimeSpan = { start: Time, end: Time | null, };

export type Totals = { 
/**
 * For the selection after operations, and for the complete series before both, in the same states.
 */
total: Amount, whole: Amount, effects: ReadonlyArray<Effect>, 
/**
 * In a comparison: the totals of the first recording.
 */
before?: TotalsBefore, };

export type TotalsBefore = { kind: string, total: Amount, whole: Amount, effects: ReadonlyArray<Effect>, };

export type Tracks = { start: number, bin: number, overall: Float64Array, threads: ReadonlyArray<Line>, processes: ReadonlyArray<Line>, cores: ReadonlyArray<Line>, 
/**
 * -1 means no recorded state.
 */
states: ReadonlyArray<StateLine>, };

export type Transitions = { caller: Int32Array, callee: Int32Array, category: readonly Category[], sums: SumColumns, };

/**
 * A place in a call tree: a node. It is identified by names, so a link finds it in another page of the same recording.
 */
export type TreePlace = { direction: Direction, 
/**
 * From the root of that tree on: callers first going down, the leaf first going up.
 */
path: ReadonlyArray<Step>, };

export type Widths = "before" | "after";
