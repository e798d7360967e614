// The states of threads, whether they count or not.

import { compareExact } from '../exact.ts';
import { compareTexts } from '../text.ts';
import type { Amount, View } from '../view.ts';

export interface StateRow extends Amount {
  /** Null if it was not recorded. */
  readonly state: string | null;
  readonly is_counted: boolean;
}

/** The states of a series, heaviest first. */
export function states(view: View, series: number): StateRow[] {
  const { profile, scope } = view;
  const { state } = profile.samples;
  const sums = view.sumRows(view.inScope(series), profile.states.length + 1, (row) => state[row]! + 1);
  const rows: StateRow[] = [];
  for (let key = 0; key < sums.size; key += 1) {
    if (!sums.isCounted(key)) continue;
    const is_counted = scope.isStateCounted(key - 1);
    rows.push({ state: profile.states[key - 1] ?? null, is_counted, weight: sums.weight(key), samples: sums.samples(key) });
  }
  return rows.sort((a, b) => {
    const byWeight = compareExact(b.weight, a.weight) || compareExact(b.samples, a.samples);
    return byWeight || compareTexts(a.state ?? '', b.state ?? '');
  });
}
