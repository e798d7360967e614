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

/** The buffers of typed arrays in an answer that nothing else uses: all that this module and the answers made. */
export function buffersOf(answer: object): ArrayBuffer[] {
  const found = new Set<ArrayBuffer>();
  const visit = (value: unknown, depth: number): void => {
    if (ArrayBuffer.isView(value)) {
      if (value.byteLength > 0) found.add(value.buffer as ArrayBuffer);
    } else if (depth < 4 && Array.isArray(value)) {
      // Long arrays hold rows of plain values.
      if (value.length < 1_000) for (const one of value) visit(one, depth + 1);
    } else if (depth < 4 && typeof value === 'object' && value !== null) {
      for (const one of Object.values(value)) visit(one, depth + 1);
    }
  };
  visit(answer, 0);
  return [...found];
}
