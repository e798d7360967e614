// Threads and processes with their weights.

import type { View } from '../view.ts';
import { type Part, parts, sortParts } from './tree.ts';

/** The threads of a series, heaviest first. */
export function threads(view: View, series: number): Part[] {
  return parts(view, series, 'thread');
}

export interface ProcessRow extends Part {
  /** The number of its threads that have samples. */
  readonly threads: number;
}

/** The processes of a series, heaviest first. */
export function processes(view: View, series: number): ProcessRow[] {
  const counts = new Map<number, number>();
  for (const { id } of threads(view, series)) {
    const { process } = view.profile.threads[id]!;
    counts.set(process, (counts.get(process) ?? 0) + 1);
  }
  return sortParts(parts(view, series, 'process').map((row) => ({ ...row, threads: counts.get(row.id) ?? 0 })));
}
