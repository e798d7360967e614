// The questions of the page and the answers of the engine, as plain objects of texts, typed arrays and exact numbers. For two recordings,
// labels are places among the functions of both: see `state/sides.ts`.

import type { FlameModel, Range } from '../canvas/types.ts';
import type { Column, Exact, Metric, SideName } from './protocol.ts';
import type { Category } from './tables.ts';

/** The part of a recording that every answer is about. */
export interface Place {
  readonly series: number;
  readonly selection: Selection;
  readonly operations: readonly Operation[];
  /** On pages with two recordings. For both, the selection refers to the second one. */
  readonly side?: SideName;
}

/**
 * Lists are alternatives; the fields narrow each other. A missing field narrows nothing, except for states: by default,
 * only running threads are selected.
 */
export interface Selection {
  /** Indices of series, runs, processes and threads. */
  readonly series?: readonly number[];
  readonly runs?: readonly number[];
  readonly processes?: readonly number[];
  readonly threads?: readonly number[];
  /** Main threads only. Another recording has other main threads, regardless of the names of their processes. */
  readonly mainOnly?: boolean;
  /** From `start` on, up to but without `end`, in nanoseconds of the run. */
  readonly time?: { readonly start: Exact; readonly end: Exact | null };
  /** Samples in an interval with one of these names; or, with `needsAll`, in one of each. */
  readonly during?: { readonly names: readonly string[]; readonly hangs: boolean; readonly needsAll: boolean };
  readonly states?: 'running' | 'all' | readonly string[];
  /** With a counter, tables without it do not count. */
  readonly metric?: Metric;
}

/** An operation, named after the command's option; the command has no operations on one place of the tree. */
export type Operation =
  | OfPlace
  | { readonly kind: 'focus' | 'focus-leaves' | 'root-at' | 'prune' | 'prune-leaves' | 'charge' | 'collapse'; readonly pattern: string }
  | { readonly kind: 'charge-binary' | 'flatten-binary'; readonly binary: string }
  | { readonly kind: 'binary' | 'leaf-binary'; readonly names: readonly string[] }
  | { readonly kind: 'charge-system' | 'hide-system' | 'flatten-recursion' | 'skip-idle' | 'invert' };

/** An operation on one place of the tree, as it is after the operations before. */
export interface OfPlace {
  readonly kind: 'root-at-place' | 'prune-place' | 'charge-place';
  readonly place: TreePlace;
}

/** A place in the top-down tree, or in the bottom-up tree. */
export interface TreePlace {
  readonly direction: 'down' | 'up';
  /** From the root of that tree on: callers first going down, the leaf first going up. */
  readonly path: readonly Step[];
}

/** A function on a path, identified by name and binary, so that a link finds it in another page of the same recording. */
export interface Step {
  readonly name: string;
  readonly binary: string | null;
  /** Which binary, if several with one name have a function with this name. */
  readonly which?: string;
}

export type SeparateBy = 'thread' | 'process' | 'state' | 'core-kind' | 'none';
export type Normalize = 'none' | 'duration' | 'samples';

/** The rows that are open in a tree, in preorder: all that is needed to show it again over another selection. */
export interface OpenRows {
  readonly depth: readonly number[];
  readonly label: readonly number[];
}

/** Requests a matching row, and opens closed rows on the way. */
export interface FindAsk {
  readonly text: string;
  /** The labels on the path to the row to start from. */
  readonly path: readonly number[];
  /** The number of matches to move; negative for backwards. */
  readonly steps: number;
  /** The row to start from counts, if it matches. */
  readonly isHere: boolean;
}

/**
 * The row; or `none` if nothing matches in this tree, or `beyond` if the row is after the first rows, which are the only
 * ones shown. Null if no row was requested.
 */
export type Found = number | 'none' | 'beyond' | null;

export interface TreeAsk {
  readonly kind: 'tree';
  readonly direction: 'down' | 'up';
  readonly by: SeparateBy;
  readonly part: number | null;
  /** Null opens the heaviest path. */
  readonly open: OpenRows | null;
  /** The labels on the path to a row below which everything is opened. */
  readonly expand: readonly number[] | null;
  readonly find: FindAsk | null;
}

export interface FlameAsk {
  readonly kind: 'flame';
  readonly direction: 'down' | 'up';
  readonly by: SeparateBy;
  readonly part: number | null;
  readonly unit: FlameModel['unit'];
  /** Identifies the model; see `FlameModel`. */
  readonly key: string;
  readonly tree: string;
  readonly pixels: number;
  /** The weight from which on boxes are there, and the part of the graph; null is what can be seen of all. */
  readonly least: number | null;
  readonly from: number | null;
  readonly to: number | null;
}

export interface ChartAsk {
  readonly kind: 'chart';
  /** Null is the heaviest. */
  readonly thread: number | null;
  readonly unit: FlameModel['unit'];
  readonly key: string;
  /** The time of the recording. */
  readonly range: Range;
}

export interface TracksAsk {
  readonly kind: 'tracks';
  readonly unit: FlameModel['unit'];
  readonly range: Range;
  readonly pixels: number;
}

export interface DiffTableAsk {
  readonly kind: 'diff-table';
  readonly of: 'functions' | 'own' | 'binaries';
  readonly normalize: Normalize;
}

export interface DiffOverviewAsk {
  readonly kind: 'diff-overview';
  readonly normalize: Normalize;
}

export interface DiffTreeAsk {
  readonly kind: 'diff-tree';
  readonly normalize: Normalize;
  readonly open: OpenRows | null;
  readonly expand: readonly number[] | null;
  readonly find: FindAsk | null;
}

export interface DiffFlameAsk extends Omit<FlameAsk, 'kind' | 'direction' | 'by' | 'part'> {
  readonly kind: 'diff-flame';
  readonly normalize: Normalize;
  /** The recording whose weights are the widths. */
  readonly widths: 'before' | 'after';
}

export interface DiffOfAsk {
  readonly kind: 'diff-of';
  readonly normalize: Normalize;
  readonly label: number;
}

export type Ask =
  | { readonly kind: 'totals' | 'overview' | 'functions' | 'binaries' | 'categories' | 'lines' | 'threads' | 'states' | 'cores' }
  | TreeAsk
  | FlameAsk
  | { readonly kind: 'heaviest'; readonly by: SeparateBy; readonly part: number | null }
  | { readonly kind: 'sandwich'; readonly label: number }
  | { readonly kind: 'search'; readonly text: string }
  | ChartAsk
  | TracksAsk
  | DiffAsk;

export type DiffAsk = DiffTableAsk | DiffOverviewAsk | DiffTreeAsk | DiffFlameAsk | DiffOfAsk;

/** Weight and number of samples. */
export interface Amount {
  readonly weight: Exact;
  readonly samples: Exact;
}

/** The effect of an operation on the selected samples of one series. */
export interface Effect {
  readonly operation: string;
  readonly removed: Amount;
  readonly changed_samples: Exact;
  readonly moved: Amount;
}

/** An item with a separate tree or time line. */
export interface Part extends Amount {
  /** The index of the thread, process or state; for kinds of core, one core of this kind. -1 means not recorded, or everything. */
  readonly id: number;
  readonly name: string | null;
}

export interface ProcessRow extends Part {
  /** The number of its threads that have samples. */
  readonly threads: number;
}

export interface StateRow extends Amount {
  /** Null if it was not recorded. */
  readonly state: string | null;
  readonly is_counted: boolean;
}

export interface CoreKind extends Amount {
  readonly kind: string | null;
  /** In the order of their numbers, at last samples without core. */
  readonly cores: readonly CoreRow[];
}

export interface CoreRow extends Amount {
  /** The number of the core; null if it was not recorded. */
  readonly core: number | null;
}

export interface CounterSum {
  readonly number: number;
  readonly name: string | null;
  readonly events: Exact;
}

export interface SumColumns {
  readonly self: Column;
  readonly all: Column;
  readonly selfSamples: Column;
  readonly samples: Column;
}

export interface TotalsAnswer {
  readonly kind: 'totals';
  /** For the selection after operations, and for the complete series before both, in the same states. */
  readonly total: Amount;
  readonly whole: Amount;
  readonly effects: readonly Effect[];
  /** In a comparison: the totals of the first recording. */
  readonly before?: TotalsAnswer;
}

export interface FunctionsAnswer {
  readonly kind: 'functions';
  readonly total: Amount;
  readonly label: Int32Array;
  readonly sums: SumColumns;
}

export interface BinariesAnswer {
  readonly kind: 'binaries';
  readonly total: Amount;
  readonly name: readonly string[];
  /** The first of the binaries that are one; -1 for none. */
  readonly binary: Int32Array;
  readonly sums: SumColumns;
}

export interface CategoriesAnswer {
  readonly kind: 'categories';
  readonly total: Amount;
  readonly category: readonly (Category | null)[];
  readonly sums: SumColumns;
  readonly transitions: {
    readonly caller: Int32Array;
    readonly callee: Int32Array;
    readonly category: readonly Category[];
    readonly sums: SumColumns;
  };
}

export interface LinesAnswer {
  readonly kind: 'lines';
  readonly total: Amount;
  readonly label: Int32Array;
  readonly path: readonly (string | null)[];
  readonly line: Int32Array;
  readonly sums: SumColumns;
  readonly files: readonly FileAnswer[];
}

export interface FileAnswer {
  readonly path: string;
  readonly self_weight: Exact;
  readonly all_weight: Exact;
  readonly line: Int32Array;
  readonly sums: SumColumns;
}

export interface ThreadsAnswer {
  readonly kind: 'threads';
  readonly total: Amount;
  readonly threads: readonly Part[];
  readonly processes: readonly ProcessRow[];
}

export interface StatesAnswer {
  readonly kind: 'states';
  readonly total: Amount;
  readonly states: readonly StateRow[];
}

export interface CoresAnswer {
  readonly kind: 'cores';
  readonly total: Amount;
  readonly cores: readonly CoreKind[];
}

export interface TreeAnswer {
  readonly kind: 'tree';
  readonly total: Amount;
  readonly parts: readonly Part[];
  readonly part: number | null;
  readonly depth: Int32Array;
  readonly label: Int32Array;
  readonly sums: SumColumns;
  /** By row: 1 if it has children, and 2 if it is open. */
  readonly flags: Uint8Array;
  readonly isCut: boolean;
  readonly found: Found;
}

export interface FlameAnswer {
  readonly kind: 'flame';
  readonly total: Amount;
  readonly parts: readonly Part[];
  readonly part: number | null;
  /** Without labels, which the page has. */
  readonly model: FlameModel;
}

export interface HeaviestAnswer {
  readonly kind: 'heaviest';
  readonly total: Amount;
  readonly parts: readonly Part[];
  readonly part: number | null;
  readonly label: Int32Array;
  readonly sums: SumColumns;
}

export interface SandwichAnswer {
  readonly kind: 'sandwich';
  readonly total: Amount;
  readonly self: Amount;
  readonly all: Amount;
  /** The amount of samples that contain the function several times. */
  readonly recursive: Amount;
  readonly callers: { readonly label: Int32Array; readonly weight: Column; readonly samples: Column };
  readonly callees: { readonly label: Int32Array; readonly weight: Column; readonly samples: Column };
}

export interface SearchAnswer {
  readonly kind: 'search';
  readonly total: Amount;
  /** The regular expression that was read, as operations have it. */
  readonly pattern: string;
  /** The text is not a regular expression with a match, and was taken literally. */
  readonly isPlain: boolean;
  /** By function: 1 if its name matches. */
  readonly matches: Uint8Array;
  readonly functions: number;
  /** The amount of samples with a match in their stack. */
  readonly all: Amount;
  /** In a comparison: the amounts of the first recording. */
  readonly before?: { readonly total: Amount; readonly all: Amount };
}

export interface Overview {
  readonly shares: Readonly<Record<'own' | 'system' | 'unknown' | 'waiting' | 'noStack', Amount>>;
  /** App code with the system code it calls, or all code by self weight if no app code except its entry point ran. */
  readonly answersIn: 'own' | 'all';
  readonly answers: readonly OverviewFunction[];
  readonly wait: Wait | null;
}

/** A function, and how it came to run. */
export interface OverviewFunction extends Amount {
  readonly label: number;
  /** The thread on which it weighs most. */
  readonly thread: number;
  readonly onThread: Amount;
  /** The functions of the program that called it, outermost first, without entry points and the system's functions between. */
  readonly callers: readonly number[];
  readonly origin: Origin | null;
}

/** What caused app code to run. */
export type Origin =
  | 'main-queue'
  | 'queue'
  | 'swift-task'
  | 'timer'
  | 'display-link'
  | 'input'
  | 'layout'
  | 'notification'
  | 'run-loop'
  | 'launch'
  | 'initializer'
  | 'thread';

/** A main thread that waits. */
export interface Wait {
  readonly thread: number;
  readonly samples: Exact;
  readonly waiting: Exact;
  readonly label: number;
  /** The app function that requested most of it. */
  readonly askedBy: number | null;
}

/** The selected time of a run. */
export interface SelectedTime {
  /** In nanoseconds; 0 if it is unknown or nothing is selected. */
  readonly length: number;
  /** Whether the recorded time was recorded, or estimated from the samples. */
  readonly isRecorded: boolean;
  /** True if a time or intervals were selected. */
  readonly isPart: boolean;
}

export interface OverviewAnswer {
  readonly kind: 'overview';
  readonly total: Amount;
  readonly answer: Overview;
  /** The command's sentences, in which a function is `\u{1}LABEL\u{2}NAME\u{3}`; empty if they do not apply. */
  readonly sentences: Readonly<Record<'activity' | 'leftOut' | 'answer' | 'caution' | 'shares' | 'advice', string>>;
  readonly threads: readonly Part[];
  readonly cores: readonly CoreKind[];
  /** The selected time, of which its length is the base of the CPU use. */
  readonly time: SelectedTime;
  readonly cpuPercent: number | null;
  /** The counters of the selected samples. */
  readonly counters: readonly CounterSum[];
}

export interface ChartAnswer {
  readonly kind: 'chart';
  readonly total: Amount;
  readonly threads: readonly Part[];
  readonly thread: number | null;
  /** The typical time between two samples, by which times are estimated; null where weights are time. */
  readonly typicalGap: number | null;
  /** Without labels, which the page has; null where samples have no times. */
  readonly model: FlameModel | null;
}

/** Weights in bins of one length, of one line of the timeline. */
export interface LineBins {
  readonly id: number;
  readonly weight: Exact;
  /** The bins of selected samples, and of other states. */
  readonly bins: Float64Array;
  readonly waiting: Float64Array | null;
}

export interface TracksAnswer {
  readonly kind: 'tracks';
  readonly start: number;
  readonly bin: number;
  readonly overall: Float64Array;
  readonly threads: readonly LineBins[];
  readonly processes: readonly LineBins[];
  readonly cores: readonly LineBins[];
  /** -1 means no recorded state. */
  readonly states: readonly { readonly id: number; readonly bins: Float64Array }[];
}

/** Both weights, their difference, and one standard deviation of it. */
export interface ChangeColumns {
  readonly before: Column;
  readonly after: Column;
  readonly change: Float64Array;
  readonly noise: Float64Array;
  /** 1 if the change is more than chance explains. */
  readonly isBeyond: Uint8Array;
}

export interface ChangedRows {
  readonly count: number;
  readonly self: ChangeColumns;
  readonly all: ChangeColumns;
  /** 0 in both, 1 new, 2 vanished. */
  readonly presence: Uint8Array;
}

/** The sum of everything, as the only row, and the scaling of what comes after. */
export interface DiffTotal {
  readonly rows: ChangedRows;
  /** Before and after. */
  readonly samples: readonly [number, number];
  readonly normalize: Normalize;
  readonly factor: number;
  /** False if a recording has nothing to scale by; then the factor is 1. */
  readonly isScaled: boolean;
}

export interface DiffTableAnswer {
  readonly kind: 'diff-table';
  readonly total: DiffTotal;
  /** -1 for binaries. */
  readonly label: Int32Array;
  readonly name: readonly string[];
  readonly rows: ChangedRows;
}

export interface DiffOverviewAnswer {
  readonly kind: 'diff-overview';
  readonly total: DiffTotal;
  readonly own: { readonly label: Int32Array; readonly rows: ChangedRows };
  readonly all: { readonly label: Int32Array; readonly rows: ChangedRows };
  /** The number of functions (app functions, if there are any), of those with enough samples for a test, and of those that changed. */
  readonly functions: number;
  readonly isOwn: boolean;
  readonly told: number;
  readonly changed: number;
}

export interface DiffTreeAnswer {
  readonly kind: 'diff-tree';
  readonly total: DiffTotal;
  readonly depth: Int32Array;
  readonly label: Int32Array;
  readonly rows: ChangedRows;
  readonly flags: Uint8Array;
  readonly isCut: boolean;
  readonly found: Found;
}

export interface DiffFlameAnswer {
  readonly kind: 'diff-flame';
  readonly total: DiffTotal;
  readonly model: FlameModel;
  /** By box. */
  readonly rows: ChangedRows;
}

export interface DiffOfAnswer {
  readonly kind: 'diff-of';
  readonly total: DiffTotal;
  /** One row, or none if no selected sample has the function. */
  readonly rows: ChangedRows;
}

export type Answer =
  | TotalsAnswer
  | OverviewAnswer
  | FunctionsAnswer
  | BinariesAnswer
  | CategoriesAnswer
  | LinesAnswer
  | ThreadsAnswer
  | StatesAnswer
  | CoresAnswer
  | TreeAnswer
  | FlameAnswer
  | HeaviestAnswer
  | SandwichAnswer
  | SearchAnswer
  | ChartAnswer
  | TracksAnswer
  | DiffAnswer;

export type DiffAnswer = DiffTableAnswer | DiffOverviewAnswer | DiffTreeAnswer | DiffFlameAnswer | DiffOfAnswer;
