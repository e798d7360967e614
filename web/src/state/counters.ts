// Performance counters, by which samples can be weighted.

import type { Metric, Series } from '../host/protocol.ts';

/** The number of a counter; null of other metrics. */
export function counterOf(metric: Metric): number | null {
  const number = /^counter:([1-9]\d{0,8})$/.exec(metric);
  return number === null ? null : Number(number[1]);
}

/** The counters of a series by which it can be weighted, by number. */
export function countersOf({ counters }: Series): { readonly number: number; readonly name: string | null }[] {
  return (counters ?? []).flatMap(({ name, has_column }, place) => (has_column ? [{ number: place + 1, name }] : []));
}
