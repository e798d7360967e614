// The time that the weight of a sample covers, for bars over time. If weights are times, it begins with the sample. Other weights end with
// it: a sample of cycles is taken when a number of cycles have passed. In real recordings, cycles divided by the time since the thread's
// last sample reach the clock rate of a core and do not exceed it; divided by the time until the next sample, they do.

import type { Profile } from '../profile.ts';
import { rowSums } from '../view.ts';

/** How long the samples of a series took. */
export interface Lengths {
  /** The index of the first row of the series. */
  readonly first: number;
  /** By sample, in nanoseconds. */
  readonly length: Float64Array;
  /** True if this time ends with the sample; otherwise it begins with it. */
  readonly isBefore: boolean;
}

const known = new WeakMap<Profile, Map<number, Lengths>>();

/**
 * The weight of each sample, if it is a time. Otherwise the time since the last sample of its thread. If the weight is less than half of
 * what is typical for such a time, the thread did not run all of it, and the typical time for the weight is used. Selections do not change
 * it.
 */
export function lengthsOf(profile: Profile, series: number): Lengths {
  const found = known.get(profile) ?? new Map<number, Lengths>();
  known.set(profile, found);
  const lengths = found.get(series) ?? computed(profile, series);
  found.set(series, lengths);
  return lengths;
}

function computed(profile: Profile, series: number): Lengths {
  const { start, end, unit } = profile.series[series]!;
  const sums = rowSums(profile, 'weight');
  const weights = Float64Array.from({ length: end - start }, (_, at) => Number(sums.weight(start + at)));
  if (unit === 'ns') return { first: start, length: weights, isBefore: false };
  const gaps = gapsBefore(profile, start, end);
  const usual = usualRate(weights, gaps);
  const length = gaps.map((gap, at) => {
    const weight = weights[at]!;
    if (gap > 0 && weight >= (usual / 2) * gap) return gap;
    return usual > 0 ? weight / usual : 0;
  });
  return { first: start, length, isBefore: true };
}

/** By sample: the time since the last one of its thread; 0 for the first. */
function gapsBefore({ samples, threads }: Profile, start: number, end: number): Float64Array {
  const { time, thread } = samples;
  const last = new Float64Array(threads.length).fill(NaN);
  const gaps = new Float64Array(end - start);
  for (let row = start; row < end; row += 1) {
    const [of, now] = [thread[row]!, Number(time[row]!)];
    const gap = now - last[of]!;
    if (gap > 0) gaps[row - start] = gap;
    last[of] = now;
  }
  return gaps;
}

/** The lower median of weights by time, of samples that have both; 0 without any. */
function usualRate(weights: Float64Array, gaps: Float64Array): number {
  const rates = gaps.map((gap, at) => (gap > 0 ? weights[at]! / gap : 0)).filter((rate) => rate > 0);
  rates.sort();
  return rates[Math.floor((rates.length - 1) / 2)] ?? 0;
}
