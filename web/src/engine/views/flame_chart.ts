// Flame charts: the functions of each thread in order of time, with the rules of `src/report/flame_chart.rs`.
//
// A sample at time t that weighs w nanoseconds covers the time from t to t + w, and ends early where the next sample of its thread begins.
// Samples go on where the next one comes before t + 1.5 w. While they do, a function that stands at the same depth below the same callers
// is one span. Other weights are not time: there a sample covers the time until the next one of its thread, if that comes within twice
// the typical gap, else the typical gap. Samples that weigh nothing cover no time.

import { Sums } from '../exact.ts';
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
  /** By span: its node in the forest of functions, which tells its function and its depth. */
  readonly node: Int32Array;
  /** In nanoseconds, as doubles: places on a screen, exact for 104 days. */
  readonly start: Float64Array;
  readonly end: Float64Array;
  /** The samples in it, and those whose leaf it is. */
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
  const draft = new Draft();
  const path: number[] = [];
  const open: number[] = [];
  let goesOn = false;
  const sums = { all: new GrowingSums(view), own: new GrowingSums(view) };
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at]!;
    const start = Number(time[row]!);
    const next = at + 1 < rows.length ? Number(time[rows[at + 1]!]!) : null;
    const node = view.nodeOfRow(row);
    const depth = pathTo(view, node, path);
    let shared = 0;
    if (goesOn) while (shared < open.length && shared < depth && draft.node[open[shared]!] === path[shared]) shared += 1;
    const ending = endOf(chart, start, Number(view.recordedWeight(row)), next);
    open.length = shared;
    for (let level = shared; level < depth; level += 1) open.push(draft.add(path[level]!, start));
    for (const span of open) draft.end[span] = ending.end;
    sums.all.add(open, row);
    sums.own.add(open.slice(-1), row);
    goesOn = ending.goesOn;
  }
  return finish(draft, sums.all.finish(draft.node.length), sums.own.finish(draft.node.length));
}

/** Until when a sample lasts, and whether the next one goes on with it. */
function endOf(
  { typicalGap }: FlameChart,
  start: number,
  weight: number,
  next: number | null,
): { end: number; goesOn: boolean } {
  const gap = next === null ? null : next - start;
  if (typicalGap === null) {
    const length = gap === null ? weight : Math.min(gap, weight);
    return { end: start + length, goesOn: gap !== null && gap < weight + Math.floor(weight / 2) };
  }
  const isNear = gap !== null && gap <= 2 * typicalGap;
  return { end: start + (isNear ? gap : typicalGap), goesOn: isNear };
}

/** Puts the nodes on the way to a node into `path`, outermost first, and tells how many there are. */
function pathTo(view: View, node: number, path: number[]): number {
  const { depth, parent } = view.prepared.byFunction;
  // What is deeper is of stacks before the last one.
  path.length = Math.min(path.length, depth[node]!);
  for (let at = node; depth[at]! > 0; at = parent[at]!) {
    // What is above it is the same, too.
    if (path[depth[at]! - 1] === at) break;
    path[depth[at]! - 1] = at;
  }
  return depth[node]!;
}

class Draft {
  readonly node: number[] = [];
  readonly start: number[] = [];
  readonly end: number[] = [];

  add(node: number, start: number): number {
    this.node.push(node);
    this.start.push(start);
    this.end.push(start);
    return this.node.length - 1;
  }
}

/** Sums by span, while there are more and more spans. */
class GrowingSums {
  readonly #rows: Sums;
  #planes: Float64Array[];

  constructor(view: View) {
    this.#rows = view.rows;
    this.#planes = this.#rows.planes.map(() => new Float64Array(1_024));
  }

  add(spans: readonly number[], row: number): void {
    const last = spans[spans.length - 1] ?? 0;
    while (last >= this.#planes[0]!.length) this.#planes = this.#planes.map((plane) => resized(plane, 2 * plane.length));
    this.#planes.forEach((plane, index) => {
      const value = this.#rows.planes[index]![row]!;
      for (const span of spans) plane[span]! += value;
    });
  }

  finish(count: number): Sums {
    return new Sums(this.#rows.shape, count, this.#planes.map((plane) => resized(plane, count)));
  }
}

function resized(plane: Float64Array, length: number): Float64Array {
  const found = new Float64Array(length);
  found.set(plane.subarray(0, length));
  return found;
}

function finish({ node, start, end }: Draft, all: Sums, own: Sums): Spans {
  const numbers = { start: Float64Array.from(start), end: Float64Array.from(end) };
  return { count: node.length, node: Int32Array.from(node), ...numbers, all, own };
}
