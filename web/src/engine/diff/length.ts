// The length of a recording: what its tables of contents tell, or else the time that the samples that count cover.

import { type View } from '../view.ts';
import type { Selection } from '../selection.ts';

/** The recorded time of a run, as far as the command was asked for it; without end where nothing tells it. */
export interface RecordedRun {
  readonly number: number;
  readonly start_ns: number;
  readonly end_ns: number | null;
}

/** Nanoseconds; null if nothing tells the length. */
export function lengthOf(view: View, selection: Selection, recorded: readonly RecordedRun[]): number | null {
  return recordedLength(view, selection, recorded) ?? coveredLength(view);
}

function recordedLength(view: View, selection: Selection, recorded: readonly RecordedRun[]): number | null {
  const { runs, series } = view.profile;
  const isAsked = (run: number): boolean => selection.runs?.includes(run) ?? true;
  const asked = series.filter((_, index) => selection.series?.includes(index) ?? true).map(({ run }) => run);
  const numbers = new Set(asked.filter(isAsked).map((run) => runs[run]!.number));
  let sum = 0;
  for (const number of numbers) {
    const run = recorded.find((run) => run.number === number);
    if (run === undefined || run.end_ns === null) return null;
    const start = Math.max(run.start_ns, Number(selection.time?.start ?? 0));
    const end = Math.min(run.end_ns, Number(selection.time?.end ?? run.end_ns));
    sum += Math.max(0, end - start);
  }
  return sum > 0 ? sum : null;
}

/** By run, from the first sample to the end of what they cover: a sample of time covers as much as it weighs. */
function coveredLength(view: View): number | null {
  const { profile } = view;
  const { time } = profile.samples;
  if (profile.form === 'sums') return null;
  const covered = new Map<number, { first: number; end: number }>();
  profile.series.forEach(({ run }, index) => {
    const rows = view.counted(index);
    if (rows.length === 0) return;
    const { first, end } = covered.get(run) ?? { first: Infinity, end: 0 };
    let last = end;
    // Where samples weigh the events of a counter, the command knows only when they were taken.
    const isTime = view.weighsTime(index);
    for (const row of rows) {
      const length = isTime ? Number(view.recordedWeight(row)) : 0;
      last = Math.max(last, Number(time[row]!) + length);
    }
    covered.set(run, { first: Math.min(first, Number(time[rows[0]!]!)), end: last });
  });
  let sum = 0;
  for (const { first, end } of covered.values()) sum += end - first;
  return sum > 0 ? sum : null;
}
