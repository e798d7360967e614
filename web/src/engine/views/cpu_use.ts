// The CPU use of a series: its CPU time over the selected time.

import type { View } from '../view.ts';

/** In percent of one core; null in other units, if waiting threads are counted, and if no time is known. */
export function cpuPercent(view: View, series: number): number | null {
  const { meaning, has_times } = view.profile.series[series]!;
  if (!view.weighsTime(series) || meaning !== 'on-cpu' || !has_times || !view.scope.countsRunningOnly) return null;
  const { length } = view.scope.selectedTime(series);
  // The root of the tree contains all samples, including those without a stack.
  return length > 0 ? (Number(view.byFunction(series).all.weight(0)) * 100) / length : null;
}
