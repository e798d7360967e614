// Selects samples.

import { type SelectedTime, selectedTime } from './clock.ts';
import { type Metric, counterOf, countersOf } from './counters.ts';
import { RefusedError } from './error.ts';
import { type Range, intervalRanges } from './intervals.ts';
import type { Profile } from './profile.ts';

/**
 * Lists are alternatives; the fields narrow each other. A missing field narrows nothing, except for states: by default,
 * only running threads are selected.
 */
export interface Selection {
  /** Indices of series. */
  readonly series?: readonly number[];
  /** Indices of runs. */
  readonly runs?: readonly number[];
  readonly processes?: readonly number[];
  readonly threads?: readonly number[];
  /** Main threads only. Another recording has other main threads, regardless of the names of their processes. */
  readonly mainOnly?: boolean;
  /** From `start` on, up to but without `end`, in nanoseconds of the run. */
  readonly time?: Range;
  /** Samples in an interval with one of these names; or, with `needsAll`, in one of each. */
  readonly during?: { readonly names: readonly string[]; readonly hangs: boolean; readonly needsAll: boolean };
  readonly states?: 'running' | 'all' | readonly string[];
  /** With a counter, tables without it do not count. */
  readonly metric?: Metric;
}

/** A selection made ready for the rows of a profile. */
export class Scope {
  readonly #profile: Profile;
  /** By thread: 1 if run, process and thread are selected. */
  readonly #threads: Uint8Array;
  /** For each state, plus one: 1 if it is selected. */
  readonly #states: Uint8Array;
  readonly #isSeries: (series: number) => boolean;
  readonly #selection: Selection;

  constructor(profile: Profile, selection: Selection) {
    if (profile.form === 'sums' && (selection.time !== undefined || selection.during !== undefined)) {
      throw new RefusedError('this recording does not record when samples were taken, so no time can be selected');
    }
    this.#profile = profile;
    this.#selection = selection;
    this.#threads = selectedThreads(profile, selection);
    this.#states = selectedStates(profile, selection.states ?? 'running');
    const counter = counterOf(selection.metric ?? 'weight');
    const has = profile.series.map((row) => counter === null || countersOf(row).some(({ number }) => number === counter));
    this.#isSeries = (series) => has[series]! && (selection.series?.includes(series) ?? true);
  }

  /** The rows of a series whose run, process, thread and time are selected, and whose state `isState` takes. */
  rows(series: number, isState: (state: number) => boolean): Int32Array {
    return this.#isSeries(series) ? this.rowsIn(this.#ranges(series), isState) : new Int32Array(0);
  }

  /** The only range of a series' rows in the selected time; null if there may be several, or none is selected. */
  oneRange(series: number): readonly [number, number] | null {
    return this.#isSeries(series) && this.#selection.during === undefined ? this.#ranges(series)[0]! : null;
  }

  /** The rows of ranges whose run, process and thread are selected, and whose state `isState` takes. */
  rowsIn(ranges: readonly (readonly [number, number])[], isState: (state: number) => boolean): Int32Array {
    const { thread, state } = this.#profile.samples;
    const states = Uint8Array.from({ length: this.#profile.states.length + 1 }, (_, place) => Number(isState(place - 1)));
    const found = new Int32Array(ranges.reduce((count, [from, to]) => count + to - from, 0));
    let count = 0;
    if (this.#threads.every((thread) => thread === 1) && states.every((state) => state === 1)) {
      for (const [from, to] of ranges) for (let row = from; row < to; row += 1) found[count++] = row;
      return found;
    }
    for (const [from, to] of ranges) {
      for (let row = from; row < to; row += 1) {
        if (this.#threads[thread[row]!] === 1 && states[state[row]! + 1] === 1) found[count++] = row;
      }
    }
    return found.subarray(0, count);
  }

  /** True if samples of a state are selected; -1 means no recorded state. */
  isStateCounted(state: number): boolean {
    return this.#states[state + 1] === 1;
  }

  /** True if states were left to the default: threads that run. */
  get countsRunningOnly(): boolean {
    return (this.#selection.states ?? 'running') === 'running';
  }

  /** True if only running threads were requested, so tables of states also show the others. */
  get showsAllStates(): boolean {
    return !Array.isArray(this.#selection.states);
  }

  /** The selected time of the run of a series. */
  selectedTime(series: number): SelectedTime {
    const run = this.#profile.runs[this.#profile.series[series]!.run]!;
    const { time, during } = this.#selection;
    const ranges = during === undefined ? [] : [intervalRanges(this.#profile.intervals, run.number, during)];
    return selectedTime(run.time, time === undefined ? ranges : [...ranges, [time]]);
  }

  /** The rows of a series in the selected time, as ranges. */
  #ranges(series: number): [number, number][] {
    const { start, end, run } = this.#profile.series[series]!;
    const { time, during } = this.#selection;
    const first = time === undefined ? start : this.#rowAt(time.start, start, end);
    const last = time === undefined || time.end === null ? end : this.#rowAt(time.end, start, end);
    if (during === undefined) return [[first, Math.max(first, last)]];
    const ranges = intervalRanges(this.#profile.intervals, this.#profile.runs[run]!.number, during);
    const rows = ranges.map((range): [number, number] => {
      const from = this.#rowAt(range.start, first, last);
      return [from, range.end === null ? Math.max(from, last) : this.#rowAt(range.end, from, Math.max(from, last))];
    });
    return rows.filter(([from, to]) => from < to);
  }

  /** The first row between two others whose time is not before this one. */
  #rowAt(time: number | bigint, from: number, to: number): number {
    const times = this.#profile.samples.time;
    let [low, high] = [from, Math.max(from, to)];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (times[middle]! < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function selectedThreads(profile: Profile, { runs, processes, threads, mainOnly = false }: Selection): Uint8Array {
  const isRun = setOf(runs);
  const isProcess = setOf(processes);
  const isThread = setOf(threads);
  return Uint8Array.from(profile.threads, ({ process, is_main }, thread) =>
    Number((is_main || !mainOnly) && isThread(thread) && isProcess(process) && isRun(profile.processes[process]!.run)),
  );
}

function setOf(indices: readonly number[] | undefined): (index: number) => boolean {
  if (indices === undefined) return () => true;
  const set = new Set(indices);
  return (index) => set.has(index);
}

function selectedStates(profile: Profile, states: 'running' | 'all' | readonly string[]): Uint8Array {
  if (states === 'all') return new Uint8Array(profile.states.length + 1).fill(1);
  if (states === 'running') return Uint8Array.from([null, ...profile.states], (name) => Number(name === null || name === 'Running'));
  const wanted = new Set(states.map(asciiLower));
  return Uint8Array.from([null, ...profile.states], (name) => Number(name !== null && wanted.has(asciiLower(name))));
}

function asciiLower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
