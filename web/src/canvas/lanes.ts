// Arranges the bars of a lane in levels, so that bars of one level do not overlap.

import { Rows } from './rows.ts';
import type { LaneSpans } from './types.ts';

/** Deeper bars are left out; the lane shows their number. */
const MOST = 12;

export interface Lane {
  readonly rows: Rows;
  readonly spans: LaneSpans;
  readonly levels: number;
  readonly leftOut: number;
  /** By bar as drawn: its number in the model. */
  readonly index: Int32Array;
}

const known = new WeakMap<LaneSpans, Lane>();

/** Assigns each bar to the first level that is free when it begins: earlier bars, and then longer bars, are on top. */
export function laneOf(spans: LaneSpans, end: number): Lane {
  const found = known.get(spans) ?? pack(spans, end);
  known.set(spans, found);
  return found;
}

function pack(spans: LaneSpans, last: number): Lane {
  const endOf = (span: number): number => Math.min(spans.end[span]!, Math.max(last, spans.start[span]!));
  const order = Array.from(spans.start.keys());
  order.sort((a, b) => spans.start[a]! - spans.start[b]! || endOf(b) - endOf(a) || a - b);
  const free: number[] = [];
  const [index, level]: [number[], number[]] = [[], []];
  for (const span of order) {
    let at = free.findIndex((end) => end <= spans.start[span]!);
    if (at < 0) at = free.length;
    if (at >= MOST) continue;
    free[at] = endOf(span);
    index.push(span);
    level.push(at);
  }
  const start = Float64Array.from(index, (span) => spans.start[span]!);
  const width = Float64Array.from(index, (span) => endOf(span) - spans.start[span]!);
  const levels = Int32Array.from(level);
  return {
    spans, rows: Rows.of(index.length, levels, start, width), levels: free.length, leftOut: order.length - index.length,
    index: Int32Array.from(index),
  };
}
