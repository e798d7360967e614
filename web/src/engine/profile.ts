// A recording in the form of the payload: tables of plain columns that refer to each other by index. -1 means none.

import type { RecordedTime } from './clock.ts';
import type { CounterColumn } from './counters.ts';
import type { Shape } from './exact.ts';
import type { Texts } from './text.ts';

export interface Run {
  readonly input: string;
  readonly document: number;
  readonly number: number;
  /** The recorded time, as far as the command selected it; absent if unknown. */
  readonly time?: RecordedTime;
  /** The facts in its table of contents. Numbers above 2^53 are texts. */
  readonly duration_ns?: number | string;
  readonly start_date?: string;
  readonly device?: Readonly<Partial<Record<'name' | 'model' | 'platform' | 'os_version', string>>>;
}

/** A maximal set of samples whose weights may be added up: the samples from `start` to before `end`. */
export interface Series {
  readonly run: number;
  readonly schema: string;
  readonly table: number;
  readonly unit: 'ns' | 'cycles' | 'events' | 'samples';
  readonly meaning: 'on-cpu' | 'presence';
  readonly has_times: boolean;
  /** The performance counters, if samples have values of some: their names, if they are known, and whether each has a column. */
  readonly counters?: readonly { readonly name: string | null; readonly sum: string; readonly has_column: boolean }[];
  readonly rows: number;
  readonly start: number;
  readonly end: number;
}

export interface Process {
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

/** A signpost, a region of interest or a hang. Numbers above 2^53 are texts. */
export interface Interval {
  readonly kind: 'signpost' | 'region' | 'hang';
  readonly run: number;
  readonly start_ns: number | string;
  readonly end_ns: number | string | null;
  readonly name: string | null;
  readonly subsystem: string | null;
  readonly category: string | null;
  readonly identifier: number | string | null;
  readonly process: string | null;
  readonly pid: number | string | null;
  readonly tid: number | string | null;
  readonly hang_type: string | null;
}

/** The text of a source file, or the reason why it is missing. */
export type Source =
  | { readonly path: string; readonly file: string; readonly text: string }
  | { readonly path: string; readonly missing: string };

export interface Functions {
  readonly count: number;
  readonly name: Int32Array;
  readonly binary: Int32Array;
  /** Bits: 1 has a real name, 2 is one in which threads wait, 4 is a run loop, 8 is where a program starts. */
  readonly flags: Int32Array;
}

export interface Frames {
  readonly count: number;
  readonly function: Int32Array;
  readonly binary: Int32Array;
  readonly address: Float64Array | BigUint64Array;
  readonly path: Int32Array;
  readonly line: Int32Array;
  readonly inlined: Int32Array;
}

/** Distinct stacks: a parent, which precedes them, and the innermost frame. */
export interface Stacks {
  readonly count: number;
  readonly parent: Int32Array;
  readonly frame: Int32Array;
}

/** Samples, by series and time; or their sums, which have no time and no core. */
export interface Samples {
  readonly count: number;
  readonly time: Float64Array | BigUint64Array;
  /** The planes of weights and of sample counts; see `exact.ts`. */
  readonly shape: Shape;
  readonly weight: readonly Float64Array[];
  readonly samples: readonly Float64Array[];
  readonly thread: Int32Array;
  readonly stack: Int32Array;
  readonly state: Int32Array;
  readonly core: Int32Array;
  /** 0 timer, 1 every thread, 2 every thread that ran, 3 snapshot at the start, 4 other. */
  readonly kind: Int32Array;
  readonly counters: readonly CounterColumn[];
}

export const STACKSHOT = 3;
export const IS_NAMED = 1;
export const IS_IDLE = 2;
export const IS_RUN_LOOP = 4;
export const IS_ENTRY_POINT = 8;

/** The content of the overview; docs/workbench.md and docs/formats.md describe every field. */
export interface Answer {
  /** The index of the series that it is about; null if no sample counts. */
  readonly series: number | null;
  readonly overview: readonly RecordedOverview[];
}

export interface RecordedOverview {
  readonly series: number;
  readonly unit: string;
  readonly activity: {
    readonly start_ns: number;
    readonly length_ns: number;
    readonly is_recorded: boolean;
    readonly cpu_percent: number | null;
    readonly busiest: { readonly start_ns: number; readonly length_ns: number; readonly weight: number; readonly cpu_percent: number | null } | null;
    readonly bins_start_ns: number;
    readonly bin_ns: number;
    readonly bins: readonly number[];
  } | null;
  readonly shares: Readonly<Record<'own' | 'system' | 'unknown' | 'waiting' | 'no_stack', OverviewAmount>>;
  readonly answers_in: 'own' | 'all';
  readonly answers: readonly OverviewFunction[];
  readonly leaves: readonly OverviewFunction[];
  readonly nameless: OverviewAmount;
  readonly wait: {
    readonly thread: OverviewThread;
    readonly waiting: OverviewAmount;
    readonly function: string;
    readonly asked_by: string | null;
  } | null;
  readonly threads: readonly OverviewThread[];
  /** Null if filters leave nothing of the series. */
  readonly sentences: Sentences | null;
}

export interface OverviewAmount {
  readonly weight: number;
  readonly samples: number;
}

export interface OverviewFunction extends OverviewAmount {
  readonly function: string;
  readonly binary: string | null;
  readonly heaviest_thread: OverviewThread;
  readonly callers: readonly string[];
  readonly origin: string | null;
}

export interface OverviewThread {
  readonly process: string;
  readonly pid: number | null;
  readonly thread: string;
  readonly tid: number | null;
  readonly samples: number;
  readonly all_weight: number;
}

/** The sentences of the overview; a sentence is empty if it does not apply. */
export interface Sentences extends Readonly<Record<'title' | 'activity' | 'left_out' | 'answer' | 'caution' | 'shares' | 'advice', string>> {
  readonly hangs: number;
  readonly longest_hang: { readonly start_ns: number; readonly end_ns: number } | null;
}

/**
 * What the command left out because the page would have been too large: samples within a bin of time have the time of
 * the first, or all times are unknown.
 */
export type Reduction = { readonly kind: 'bins'; readonly bin_ns: number } | { readonly kind: 'sums' };

export interface Profile {
  readonly form: 'samples' | 'sums';
  readonly reduction: Reduction | null;
  readonly runs: readonly Run[];
  readonly series: readonly Series[];
  readonly processes: readonly Process[];
  readonly threads: readonly Thread[];
  readonly cores: readonly Core[];
  readonly states: readonly string[];
  readonly categories: readonly Category[];
  readonly binaries: readonly Binary[];
  readonly intervals: readonly Interval[];
  readonly hangRisks: readonly unknown[];
  readonly sources: readonly Source[];
  /** The command's JSON summary of what was read. */
  readonly summary: Readonly<Record<string, unknown>>;
  readonly answer: Answer;
  readonly texts: Texts;
  readonly functions: Functions;
  readonly frames: Frames;
  readonly stacks: Stacks;
  readonly samples: Samples;
}

export function functionName(profile: Pick<Profile, 'functions' | 'texts'>, id: number): string {
  return profile.texts.at(profile.functions.name[id]!);
}

/** The name of a function's binary; null if it has none. */
export function binaryName(profile: Pick<Profile, 'functions' | 'binaries'>, id: number): string | null {
  const binary = profile.functions.binary[id]!;
  return binary < 0 ? null : profile.binaries[binary]!.name;
}

/** The category of each function, by its place among `categories`. */
export function categoriesOfFunctions(profile: Profile): Int32Array {
  const ofBinaries = profile.binaries.map((binary) => profile.categories.indexOf(binary.category));
  const unknown = profile.categories.indexOf('unknown');
  return profile.functions.binary.map((binary) => (binary < 0 ? unknown : ofBinaries[binary]!));
}
