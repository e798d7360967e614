// The time that intervals of signposts and hangs cover.

import type { Interval } from './profile.ts';

/** From `start` on, up to but without `end`; null is the end of the recording. */
export interface Range {
  readonly start: number | bigint;
  readonly end: number | bigint | null;
}

interface During {
  readonly names: readonly string[];
  readonly hangs: boolean;
  readonly needsAll: boolean;
}

/** The time of a run in which samples count, sorted; no range touches the next. */
export function intervalRanges(intervals: readonly Interval[], run: number, during: During): Range[] {
  const names = [...new Set(during.names)];
  const ofRun = intervals.filter((interval) => interval.run === run);
  const signposts = names.map((name) => ofRun.filter((row) => row.kind !== 'hang' && row.name === name));
  const hangs = during.hangs ? [ofRun.filter((row) => row.kind === 'hang')] : [];
  const groups = [...signposts, ...hangs].map((group) => group.map(rangeOf));
  if (!during.needsAll) return merge(groups.flat());
  return groups.map(merge).reduce((shared, group) => intersect(shared, group), groups.length > 0 ? [EVER] : []);
}

const EVER: Range = { start: 0, end: null };

function rangeOf({ start_ns, end_ns }: Interval): Range {
  return { start: exact(start_ns), end: end_ns === null ? null : exact(end_ns) };
}

function exact(time: number | string): number | bigint {
  return typeof time === 'number' ? time : BigInt(time);
}

/** Sorts ranges and joins adjacent ones; an empty range covers nothing. */
function merge(ranges: readonly Range[]): Range[] {
  const sorted = ranges.filter(({ start, end }) => end === null || end > start);
  sorted.sort((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0));
  const merged: Range[] = [];
  for (const range of sorted) {
    const last = merged.at(-1);
    if (last !== undefined && (last.end === null || last.end >= range.start)) {
      merged[merged.length - 1] = { start: last.start, end: later(last.end, range.end) };
    } else {
      merged.push(range);
    }
  }
  return merged;
}

function later(a: Range['end'], b: Range['end']): Range['end'] {
  if (a === null || b === null) return null;
  return a > b ? a : b;
}

/** The ranges that two sorted lists share; in each, no range touches the next. */
export function intersect(one: readonly Range[], other: readonly Range[]): Range[] {
  const shared: Range[] = [];
  for (let [at, beside] = [0, 0]; at < one.length && beside < other.length; ) {
    const [a, b] = [one[at]!, other[beside]!];
    const start = a.start > b.start ? a.start : b.start;
    const isFirst = a.end !== null && (b.end === null || a.end < b.end);
    const end = isFirst ? a.end : b.end;
    if (end === null || end > start) shared.push({ start, end });
    if (isFirst) at += 1;
    else beside += 1;
  }
  return shared;
}
