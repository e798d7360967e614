// The questions that the page asks the engine, and the answers. All data is sent to a worker: plain objects of texts, typed arrays and
// exact numbers.

import type {
  Amount,
  Category,
  CoreKind,
  CounterSum,
  Effect,
  Exact,
  Operation,
  Overview,
  Part,
  ProcessRow,
  Profile,
  SelectedTime,
  Selection,
  SeparateBy,
  StateRow,
} from '../engine/index.ts';

import type { FlameModel, Range } from '../canvas/types.ts';
import type { DiffAnswer, DiffAsk, PairTables, SideName } from './diff_protocol.ts';

/** The part of a recording that every answer is about. */
export interface Place {
  readonly series: number;
  readonly selection: Selection;
  readonly operations: readonly Operation[];
  /** On pages with two recordings. For both, the selection refers to the second one. */
  readonly side?: SideName;
}

/** One number for each row: doubles, or exact numbers where sums reach 2^53. */
export type Column = Float64Array | readonly Exact[];

export interface SumColumns {
  readonly self: Column;
  readonly all: Column;
  readonly selfSamples: Column;
  readonly samples: Column;
}

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

export interface OverviewAnswer {
  readonly kind: 'overview';
  readonly total: Amount;
  readonly answer: Overview;
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

export type AnswerTo<A extends Ask> = Extract<Answer, { kind: A['kind'] }>;

/** The tables of a profile that the page itself reads: all but samples, stacks and frames. */
export type Tables = Omit<Profile, 'samples' | 'stacks' | 'frames' | 'texts'> & {
  readonly textBytes: Uint8Array;
  readonly textEnds: Float64Array;
  /** By series: its first and last time; null without times. */
  readonly spans: readonly ({ readonly start: number; readonly end: number } | null)[];
};

/** What a page holds: the recording, and of a comparison the first recording and what the command found. */
export interface Payloads {
  readonly payload: string;
  readonly before: string | null;
  readonly facts: string | null;
}

/** The data that the page reads directly once everything is open. */
export interface Opened {
  readonly tables: Tables;
  readonly pair: PairTables | null;
}

export type ToWorker =
  | { readonly kind: 'open'; readonly payloads: Payloads }
  | { readonly kind: 'ask'; readonly id: number; readonly place: Place; readonly ask: Ask };

export type FromWorker =
  | { readonly kind: 'opened'; readonly opened: Opened }
  | { readonly kind: 'answered'; readonly id: number; readonly answer: Answer }
  | { readonly kind: 'refused'; readonly id: number; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string };
