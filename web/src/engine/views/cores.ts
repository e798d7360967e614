// Cores and kinds of core, with what they ran.

import { compareExact } from '../exact.ts';
import { compareTexts } from '../text.ts';
import type { Amount, View } from '../view.ts';

export interface CoreRow extends Amount {
  /** The number of the core; null if it was not recorded. */
  readonly core: number | null;
}

export interface CoreKind extends Amount {
  readonly kind: string | null;
  /** In the order of their numbers, at last samples without core. */
  readonly cores: readonly CoreRow[];
}

/** The kinds of core of a series, heaviest first. Sums of samples do not record a core. */
export function cores(view: View, series: number): CoreKind[] {
  const { profile } = view;
  if (profile.form === 'sums') return [];
  const kinds = [...new Set([null, ...profile.cores.map(({ kind }) => kind)])];
  const ofCore = [0, ...profile.cores.map(({ kind }) => kinds.indexOf(kind))];
  const { core } = profile.samples;
  const rows = view.counted(series);
  const byCore = view.sumRows(rows, profile.cores.length + 1, (row) => core[row]! + 1);
  const byKind = view.sumRows(rows, kinds.length, (row) => ofCore[core[row]! + 1]!);
  const found: CoreKind[] = [];
  kinds.forEach((kind, key) => {
    if (!byKind.isCounted(key)) return;
    const cores: CoreRow[] = [];
    ofCore.forEach((its, place) => {
      if (its !== key || !byCore.isCounted(place)) return;
      const number = place === 0 ? null : profile.cores[place - 1]!.index;
      cores.push({ core: number, weight: byCore.weight(place), samples: byCore.samples(place) });
    });
    cores.sort((a, b) => (a.core ?? Infinity) - (b.core ?? Infinity));
    found.push({ kind, cores, weight: byKind.weight(key), samples: byKind.samples(key) });
  });
  return found.sort((a, b) => {
    const byWeight = compareExact(b.weight, a.weight) || compareExact(b.samples, a.samples);
    if (byWeight !== 0 || a.kind === null || b.kind === null) return byWeight || Number(a.kind !== null) - Number(b.kind !== null);
    return compareTexts(a.kind, b.kind);
  });
}
