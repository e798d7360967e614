// Performance counters: what samples weigh by the events that one of them counted.
//
// The values of samples are differences, so they add up. Samples of tables without the counter weigh nothing that could be added to it;
// no row of these counts.

import { RefusedError } from './error.ts';
import { type Exact, type Shape, Sums, planesFor, planesOf } from './exact.ts';
import type { Profile, Series } from './profile.ts';

/** The number that samples count for: their weight, one, or the events of a counter by its number, from 1. */
export type Metric = 'weight' | 'samples' | `counter:${number}`;

/** The values of a counter, by row. */
export interface CounterColumn {
  readonly number: number;
  readonly shape: Shape['weight'];
  readonly planes: readonly Float64Array[];
}

/** A column of the payload with the planes that its sum needs. */
export function counterColumn(number: number, values: Float64Array | BigUint64Array, sum: bigint): CounterColumn {
  const shape = planesFor(sum);
  return { number, shape, planes: planesOf(values, shape) };
}

/** The number of a counter; null of other metrics. */
export function counterOf(metric: Metric): number | null {
  const number = /^counter:([1-9]\d{0,8})$/.exec(metric);
  return number === null ? null : Number(number[1]);
}

/** The counters of a series by which it can be weighed, by number. */
export function countersOf({ counters }: Pick<Series, 'counters'>): { readonly number: number; readonly name: string | null }[] {
  return (counters ?? []).flatMap(({ name, has_column }, place) => (has_column ? [{ number: place + 1, name }] : []));
}

/** By row: the events of a counter and the number of samples. */
export function eventSums(profile: Profile, number: number): Sums {
  const { shape, samples, count, counters } = profile.samples;
  const column = counters.find((counter) => counter.number === number);
  if (column === undefined) throw new RefusedError(`this recording has no counter ${number}`);
  return new Sums({ weight: column.shape, count: shape.count }, count, [...column.planes, ...samples]);
}

/** The sums of all counters of a series over some rows. */
export function counterSums(profile: Profile, series: number, rows: Int32Array): CounterSum[] {
  return countersOf(profile.series[series]!).map(({ number, name }) => {
    const from = eventSums(profile, number);
    const sums = new Sums(from.shape, 1);
    for (const row of rows) sums.add(0, from, row);
    return { number, name, events: sums.weight(0) };
  });
}

export interface CounterSum {
  readonly number: number;
  readonly name: string | null;
  readonly events: Exact;
}
