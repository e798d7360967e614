// The sums of the last selection. While hands drag a time, the next selection differs from it in a few rows, and only these are added up.

import { Sums, changeByRows } from './exact.ts';

/** Rows of samples from one on, up to but without another. */
export type RowRange = readonly [number, number];

/** How to add up the rows of one kind of selection, for any time. */
export interface Adding {
  /** Equal keys mean that selections differ in their times only. */
  readonly key: string;
  readonly rows: Sums;
  /** By row: its place in the sums. */
  readonly target: Int32Array;
  /** The selected rows of a range. */
  readonly counted: (range: RowRange) => Int32Array;
  /** The sums of rows, from nothing. */
  readonly sumsOf: (rows: Int32Array) => Sums;
}

interface Last {
  readonly key: string;
  readonly range: RowRange;
  readonly sums: Sums;
}

export class RecentSums {
  #last: Last | null = null;

  /** The sums of the selected rows of a range. */
  of(range: RowRange, adding: Adding): Sums {
    const sums = this.#changed(range, adding) ?? adding.sumsOf(adding.counted(range));
    this.#last = { key: adding.key, range, sums };
    return sums;
  }

  /** The last sums plus added rows and minus removed ones; null if that is more than half the work of adding up everything. */
  #changed([from, to]: RowRange, { key, rows, target, counted }: Adding): Sums | null {
    const last = this.#last;
    if (last === null || last.key !== key) return null;
    const [start, end] = last.range;
    // Ranges that do not touch share nothing.
    if (start >= to || from >= end) return null;
    const steps: readonly (readonly [RowRange, 1 | -1])[] = [
      [[from, start], 1],
      [[end, to], 1],
      [[start, from], -1],
      [[to, end], -1],
    ];
    const changes = steps.filter(([[first, behind]]) => first < behind);
    if (changes.reduce((count, [[first, behind]]) => count + behind - first, 0) > (to - from) / 2) return null;
    const sums = new Sums(last.sums.shape, last.sums.size, last.sums.planes.map((plane) => plane.slice()));
    for (const [range, sign] of changes) changeByRows(sums, rows, counted(range), target, sign);
    return sums;
  }
}
