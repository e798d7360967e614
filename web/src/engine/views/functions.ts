// Functions over all threads.

import { compareExact } from '../exact.ts';
import { type RowSums, countedKeys, rowOf, sumKeys } from '../keyed.ts';
import { NO_STACK, labelOrder } from '../order.ts';
import type { View } from '../view.ts';

/** A function; `label` is `NO_STACK` for samples without stack. */
export interface FunctionRow extends RowSums {
  readonly label: number;
}

/** The functions of a series, by self weight, then all weight, then name. */
export function functions(view: View, series: number): FunctionRow[] {
  const { count } = view.profile.functions;
  const forest = view.prepared.byFunction;
  // The last key is for samples without a stack.
  const plan = view.prepared.plan('functions', forest, count + 1, (label) => (label === NO_STACK ? count : label));
  const sums = sumKeys(view.byFunction(series), plan);
  const rows = countedKeys(sums).map((key) => ({ label: key === count ? NO_STACK : key, ...rowOf(sums, key) }));
  const order = labelOrder(view.profile);
  return rows.sort((a, b) => bySelf(a, b) || order(a.label, b.label));
}

/** Orders rows by self weight, then all weight, heaviest first. */
export function bySelf(a: RowSums, b: RowSums): number {
  return compareExact(b.self_weight, a.self_weight) || compareExact(b.all_weight, a.all_weight);
}
