// Some of the rows of an answer.

import type { ChangeColumns, ChangedRows } from '../../host/protocol.ts';

export function pickRows(rows: ChangedRows, places: Int32Array): ChangedRows {
  if (places.length === rows.count) return rows;
  const of = ({ before, after, change, noise, isBeyond }: ChangeColumns): ChangeColumns => ({
    before: Array.from(places, (row) => before[row]!),
    after: Array.from(places, (row) => after[row]!),
    change: Float64Array.from(places, (row) => change[row]!),
    noise: Float64Array.from(places, (row) => noise[row]!),
    isBeyond: Uint8Array.from(places, (row) => isBeyond[row]!),
  });
  return { count: places.length, self: of(rows.self), all: of(rows.all), presence: Uint8Array.from(places, (row) => rows.presence[row]!) };
}
