// Tables of the engine as columns, which cross to the page without being copied.

import type { Exact, RowSums } from '../engine/index.ts';
import type { Column, SumColumns } from './protocol.ts';

/** Numbers as doubles where all are; exact numbers stay what they are. */
export function columnOf(values: readonly Exact[]): Column {
  return values.some((value) => typeof value === 'bigint') ? values : Float64Array.from(values as readonly number[]);
}

export function sumColumns(rows: readonly RowSums[]): SumColumns {
  return {
    self: columnOf(rows.map((row) => row.self_weight)),
    all: columnOf(rows.map((row) => row.all_weight)),
    selfSamples: columnOf(rows.map((row) => row.self_samples)),
    samples: columnOf(rows.map((row) => row.samples)),
  };
}
