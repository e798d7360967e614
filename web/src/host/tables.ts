// The tables of a recording that the page itself reads: the payload's head (`docs/workbench.md`), functions and their names. Rows refer to
// each other by index; -1 means none.

import type { SCALES } from '../units.ts';
import type { FunctionColumns, IntervalColumns, MatchedColumns, Normalize } from './exchange.ts';

/** The data that the page reads directly once everything is open. */
export interface Opened {
  readonly tables: Tables;
  readonly pair: PairTables | null;
}

export interface Tables {
  readonly form: 'samples' | 'sums';
  readonly reduction: Reduction | null;
  readonly runs: readonly Run[];
  readonly series: readonly Series[];
  /** By series: its first and last time; null without times. */
  readonly spans: readonly ({ readonly start: number; readonly end: number } | null)[];
  readonly processes: readonly Process[];
  readonly threads: readonly Thread[];
  readonly cores: readonly Core[];
  readonly states: readonly string[];
  readonly binaries: readonly Binary[];
  readonly intervals: IntervalColumns;
  /** The lists to which the columns of intervals refer; missing without intervals. */
  readonly hangs?: readonly HangText[];
  readonly interval_labels?: readonly IntervalLabel[];
  readonly interval_owners?: readonly IntervalOwner[];
  /** Tables with too many rows: the page has only the longest ones. */
  readonly intervals_left_out?: readonly { readonly table: string; readonly rows: number }[];
  readonly hangRisks: readonly HangRisk[];
  readonly sources: readonly Source[];
  readonly summary: Summary;
  /** The columns in the head of the payload (`docs/workbench.md`). */
  readonly columns?: readonly { readonly name: string; readonly value?: number }[];
  readonly functions: FunctionColumns;
  readonly textBytes: Uint8Array;
  readonly textEnds: Float64Array;
}

/**
 * The reduction that the command made because the page would have been too large: the samples of a time bin have the
 * time of the first, or all times are unknown.
 */
export type Reduction = { readonly kind: 'bins'; readonly bin_ns: number } | { readonly kind: 'sums' };

export interface Run {
  readonly number: number;
  /** The facts in its table of contents. Numbers above 2^53 are strings. */
  readonly duration_ns?: number | string;
  readonly start_date?: string;
  readonly process?: string;
  readonly device?: Readonly<Partial<Record<'name' | 'model' | 'platform' | 'os_version', string>>>;
}

/** The units of weights: CPU time, cycles, counter events, samples, elapsed time, and bytes. */
export type Unit = keyof typeof SCALES;

/** A maximal set of samples whose weights may be added up. */
export interface Series {
  readonly run: number;
  readonly schema: string;
  readonly table: number;
  readonly unit: Unit;
  readonly meaning: 'on-cpu' | 'presence';
  /** The performance counters, if samples have values of some: their names, if they are known, and whether each has a column. */
  readonly counters?: readonly { readonly name: string | null; readonly has_column: boolean }[];
  readonly rows: number;
}

interface Process {
  readonly run: number;
  readonly pid: number | string | null;
  readonly name: string;
}

export interface Thread {
  readonly process: number;
  readonly tid: number | string | null;
  readonly name: string;
  readonly is_main: boolean;
}

export interface Core {
  readonly index: number;
  readonly kind: string | null;
}

export type Category = 'user' | 'system' | 'runtime' | 'kernel' | 'unknown';

export interface Binary {
  readonly name: string;
  readonly uuid: string | null;
  readonly arch: string | null;
  readonly load_address: string;
  readonly path: string;
  readonly category: Category;
  readonly is_own: boolean;
}

/** The activity of a hang's thread. Numbers above 2^53 are strings. */
interface HangText {
  readonly run: number;
  readonly start_ns: number | string;
  readonly tid: number | string | null;
  readonly text: string;
}

/** A moment that may lead to a hang. Numbers above 2^53 are strings. */
export interface HangRisk {
  readonly run: number;
  readonly time_ns: number | string;
  readonly message: string | null;
  readonly severity: string | null;
}

/** The label that several intervals share. */
export interface IntervalLabel {
  readonly kind: 'signpost' | 'region' | 'hang' | 'table';
  /** The schema of another table. */
  readonly table: string | null;
  readonly name: string | null;
  readonly subsystem: string | null;
  readonly category: string | null;
  readonly hang_type: string | null;
}

/** The process and thread of an interval. Numbers above 2^53 are strings. */
export interface IntervalOwner {
  readonly process: string | null;
  readonly pid: number | string | null;
  readonly tid: number | string | null;
}

/** The command's JSON summary of what was read. */
export interface Summary {
  /** Both by the numbers of series. */
  readonly series?: readonly { readonly filtered_out: { readonly samples: number } }[];
  readonly operations?: readonly { readonly series: readonly { readonly series: number; readonly removed: { readonly samples: number } }[] }[];
  readonly tables?: readonly TableSummary[];
  readonly documents?: readonly { readonly input: string }[];
  readonly unnamed?: Unnamed;
  readonly diagnostics?: readonly (string | { readonly message?: string })[];
}

export interface TableSummary {
  readonly run: number;
  readonly position: number;
  readonly schema: string;
  readonly rows: number;
  readonly samples: number;
  readonly rejected: { readonly total: number; readonly reasons: Readonly<Record<string, number>> };
}

/** The addresses without a name, by binary; they add up. */
export interface Unnamed {
  readonly frames: number;
  readonly unnamed: number;
  readonly without_binary: number;
  readonly binaries: readonly { readonly name: string; readonly uuid: string | null; readonly frames: number }[];
}

/** The text of a source file, or the reason why it is missing. */
export type Source =
  | { readonly path: string; readonly file: string; readonly text: string }
  | { readonly path: string; readonly missing: string };

export interface PairTables {
  readonly before: Tables;
  readonly facts: DiffFacts;
  readonly matching: MatchedColumns;
}

/** The content of the page's `<script id="diff">`; docs/workbench.md describes every field. */
export interface DiffFacts {
  readonly normalize: Normalize;
  /** The comparison of the runs whose sums the page has; null for two recordings. */
  readonly comparison: RunsComparison | null;
  readonly sentences: { readonly answer: string; readonly activity: string; readonly functions: string };
  /** The results of `--alert`. */
  readonly alerts?: readonly { readonly rule: string; readonly state: string }[];
}

/** A value of the base, and of the new version. */
type OfSides<T> = Readonly<Record<'base' | 'new', T>>;

/** The JSON of `traceparse compare` (docs/fleet-formats.md), with the words of the command. */
export interface RunsComparison {
  readonly verdict: 'slower' | 'faster' | 'no-slowdown' | 'unknown' | 'invalid';
  readonly sentence: string;
  readonly scope: string;
  readonly differences: readonly string[];
  readonly warnings: readonly string[];
  /** The quantity and why it is compared, in sentences. */
  readonly compared: readonly string[];
  /** The name of the quantity, such as CPU time. */
  readonly quantity: string;
  readonly levels: { readonly functions: number };
  readonly block: readonly string[];
  readonly blocks: readonly RunsBlock[];
  /** The address that sources of runs are relative to; null if there are no links. */
  readonly root: string | null;
  /** How values of runs are written. */
  readonly shown_unit: MeasureUnit;
  /** How values of functions are written. */
  readonly function_unit: MeasureUnit;
  /** The tested functions; null if none were tested. */
  readonly family: { readonly size: number } | null;
  /** The functions that changed. */
  readonly functions: readonly ComparedFunction[] | null;
}

export type MeasureUnit = { readonly name: string } & Readonly<Record<'divisor' | 'decimals', number>>;

export interface RunsBlock {
  readonly name: string;
  /** Sorted by value, lowest first. If there are many, some are left out. */
  readonly runs: OfSides<readonly ComparedRun[]>;
  readonly count: OfSides<number>;
  readonly summary: OfSides<RunsSummary>;
}

export interface ComparedRun {
  /** The path, with the number of the run if the file has several. */
  readonly source: string;
  readonly path: string;
  readonly value: number;
}

/** The geometric mean is null if all runs are idle. */
type RunsSummary = Readonly<Record<'p25' | 'p50' | 'p75', number>> & { readonly geometric_mean: number | null };

export interface ComparedFunction {
  readonly binary: string | null;
  readonly function: string | null;
  /** The name in words, if the function has none. */
  readonly name: string;
  readonly is_slower: boolean;
  readonly presence: 'both' | 'new' | 'vanished';
  /** The functions from which its cost moved. */
  readonly moved_from: readonly unknown[];
  readonly mean: OfSides<number>;
  readonly ratio: number;
  readonly lower: number;
  /** Null if it is unknown. */
  readonly upper: number | null;
  readonly p_holm: number;
}
