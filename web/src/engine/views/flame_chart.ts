// Flame charts: the functions of each thread in order of time, with the rules of `src/report/flame_chart.rs`.
//
// A sample at time t that weighs w nanoseconds covers the time from t to t + w, and ends early if the next sample of its thread begins.
// Samples are continuous if the next one comes before t + 1.5 w. During continuous samples, a function at the same depth below the same
// callers is one span. Other weights are not times: a sample then covers the time before it, from the last sample of its thread, if that is
// at most twice the typical gap, else the typical gap. Samples without weight cover no time.

import { Sums } from '../exact.ts';
import { grown } from '../stack_table.ts';
import { type Part, parts } from './tree.ts';
import type { View } from '../view.ts';

export interface FlameChart {
  /** The typical time between two samples of a thread, by which lengths are estimated; null where weights are time. */
  readonly typicalGap: number | null;
  /** Heaviest first. */
  readonly threads: readonly Part[];
}

/** The spans of a thread, in the order in which they begin, callers before callees. */
export interface Spans {
  readonly count: number;
  /** For each span: its node in the forest of functions, which gives its function and depth. */
  readonly node: Int32Array;
  /** In nanoseconds, as doubles: places on a screen, exact for 104 days. */
  readonly start: Float64Array;
  readonly end: Float64Array;
  /** The samples in it, and the samples whose leaf it is. */
  readonly all: Sums;
  readonly own: Sums;
}

/** The threads of a series, and the typical gap between their samples. */
export function flameChart(view: View, series: number): FlameChart {
  const isTime = view.profile.series[series]!.unit === 'ns';
  return { typicalGap: isTime ? null : typicalGap(view, series), threads: parts(view, series, 'thread') };
}

/** The lower median of the times between two samples of one thread that are not at one time; 0 without any. */
function typicalGap(view: View, series: number): number {
  const { time, thread } = view.profile.samples;
  const last = new Map<number, number>();
  const gaps: number[] = [];
  for (const row of weighing(view, view.counted(series))) {
    const before = last.get(thread[row]!);
    last.set(thread[row]!, row);
    if (before !== undefined && time[before]! < time[row]!) gaps.push(Number(time[row]!) - Number(time[before]!));
  }
  gaps.sort((a, b) => a - b);
  return gaps[Math.floor((gaps.length - 1) / 2)] ?? 0;
}

function weighing(view: View, rows: Int32Array): Int32Array {
  return rows.filter((row) => view.recordedWeight(row) > 0);
}

/** The spans of a thread of a chart. */
export function spansOf(view: View, series: number, chart: FlameChart, thread: number): Spans {
  const { time, thread: threadOf } = view.profile.samples;
  const rows = weighing(view, view.counted(series).filter((row) => threadOf[row] === thread));
  const draft = new Draft(view, rows);
  const path: number[] = [];
  let before: Covered = { time: 0, end: 0, goesOn: false };
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at]!;
    const now = Number(time[row]!);
    const start = startOf(chart, now, before);
    const next = at + 1 < rows.length ? Number(time[rows[at + 1]!]!) : null;
    const depth = pathTo(view, view.nodeOfRow(row), path);
    draft.keep(before.goesOn ? draft.shared(path, depth) : 0, at, before.end);
    for (let level = draft.depth; level < depth; level += 1) draft.open(path[level]!, start, at);
    draft.end(at);
    before = coveredBy(chart, now, Number(view.recordedWeight(row)), next);
  }
  draft.keep(0, rows.length, before.end);
  return draft.finish();
}

/** A sample, its end, and whether the next one continues it. */
interface Covered {
  readonly time: number;
  readonly end: number;
  readonly goesOn: boolean;
}

/** The start of a sample that follows another one of its thread. */
function startOf({ typicalGap }: FlameChart, time: number, before: Covered): number {
  if (typicalGap === null) return time;
  return before.goesOn ? before.time : Math.max(0, time - typicalGap);
}

function coveredBy({ typicalGap }: FlameChart, time: number, weight: number, next: number | null): Covered {
  const gap = next === null ? null : next - time;
  if (typicalGap !== null) return { time, end: time, goesOn: gap !== null && gap <= 2 * typicalGap };
  const length = gap === null ? weight : Math.min(gap, weight);
  return { time, end: time + length, goesOn: gap !== null && gap < weight + Math.floor(weight / 2) };
}

/** Writes the nodes on the way to a node into `path`, outermost first. Returns their number. */
function pathTo(view: View, node: number, path: number[]): number {
  const { depth, parent } = view.prepared.byFunction;
  // Deeper entries belong to earlier stacks.
  path.length = Math.min(path.length, depth[node]!);
  for (let at = node; depth[at]! > 0; at = parent[at]!) {
    // The entries above it are also the same.
    if (path[depth[at]! - 1] === at) break;
    path[depth[at]! - 1] = at;
  }
  return depth[node]!;
}

/** Builds spans. Only spans that begin or end are touched; the weight of a span is the difference of two sums of samples. */
class Draft {
  readonly #shape: Sums['shape'];
  /** For each plane and sample: the sum of the samples before; one more entry than there are samples. */
  readonly #before: Float64Array[];
  #count = 0;
  #node = new Int32Array(1_024);
  #start = new Float64Array(1_024);
  #end = new Float64Array(1_024);
  /** For each span: its first sample, and the one after its last. */
  #first = new Int32Array(1_024);
  #behind = new Int32Array(1_024);
  /** By sample: the span where it ends; -1 without one. */
  readonly #leaf: Int32Array;
  readonly #open: number[] = [];

  constructor(view: View, rows: Int32Array) {
    this.#shape = view.rows.shape;
    this.#before = view.rows.planes.map((plane) => {
      const sums = new Float64Array(rows.length + 1);
      for (let at = 0; at < rows.length; at += 1) sums[at + 1] = sums[at]! + plane[rows[at]!]!;
      return sums;
    });
    this.#leaf = new Int32Array(rows.length);
  }

  get depth(): number {
    return this.#open.length;
  }

  /** The number of levels that a path shares with the open one. */
  shared(path: readonly number[], depth: number): number {
    let shared = 0;
    while (shared < this.#open.length && shared < depth && this.#node[this.#open[shared]!] === path[shared]) shared += 1;
    return shared;
  }

  /** Ends all levels after this one, before a sample. */
  keep(levels: number, at: number, end: number): void {
    while (this.#open.length > levels) {
      const span = this.#open.pop()!;
      this.#end[span] = end;
      this.#behind[span] = at;
    }
  }

  open(node: number, start: number, at: number): void {
    if (this.#count === this.#node.length) this.#grow();
    this.#node[this.#count] = node;
    this.#start[this.#count] = start;
    this.#first[this.#count] = at;
    this.#open.push(this.#count++);
  }

  /** The sample ends in the innermost span. */
  end(at: number): void {
    this.#leaf[at] = this.#open.at(-1) ?? -1;
  }

  finish(): Spans {
    const count = this.#count;
    const [first, behind] = [this.#first, this.#behind];
    const [all, own] = [new Sums(this.#shape, count), new Sums(this.#shape, count)];
    this.#before.forEach((before, plane) => {
      const [sums, mine] = [all.planes[plane]!, own.planes[plane]!];
      for (let span = 0; span < count; span += 1) sums[span] = before[behind[span]!]! - before[first[span]!]!;
      this.#leaf.forEach((span, at) => {
        if (span >= 0) mine[span]! += before[at + 1]! - before[at]!;
      });
    });
    const [start, end] = [this.#start.slice(0, count), this.#end.slice(0, count)];
    return { count, node: this.#node.slice(0, count), start, end, all, own };
  }

  #grow(): void {
    this.#node = grown(this.#node, 2 * this.#count);
    this.#first = grown(this.#first, 2 * this.#count);
    this.#behind = grown(this.#behind, 2 * this.#count);
    this.#start = longer(this.#start);
    this.#end = longer(this.#end);
  }
}

function longer(numbers: Float64Array): Float64Array<ArrayBuffer> {
  const found = new Float64Array(2 * numbers.length);
  found.set(numbers);
  return found;
}
