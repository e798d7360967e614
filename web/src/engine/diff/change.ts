// Changes between two recordings, and the part of them that may be chance: see `src/report/diff/mod.rs` and docs/formats.md.

import type { Exact } from '../exact.ts';

/** The number of standard deviations from which a change is marked. */
export const BEYOND_NOISE = 1.96;

/** In the unit of the recordings: after × factor − before, and one standard deviation of it. */
export interface Change {
  readonly weight: number;
  readonly noise: number;
  readonly beyond_noise: boolean;
}

/** Weights and numbers of samples on one side. */
export interface Side {
  readonly self_weight: Exact;
  readonly all_weight: Exact;
  readonly self_samples: Exact;
  readonly samples: Exact;
}

/** A side, and the sums of squared sample weights. */
export interface SquaredSide extends Side {
  readonly self_squares: number;
  readonly all_squares: number;
}

export interface Changed {
  readonly presence: 'both' | 'new' | 'vanished';
  readonly before: Side;
  readonly after: Side;
  readonly self_change: Change;
  readonly all_change: Change;
}

/** Combines both sides of an item with its changes, for which weights after are multiplied by `factor`. */
export function changed(before: SquaredSide, after: SquaredSide, factor: number): Changed {
  const change = (weights: [Exact, Exact], squares: [number, number]): Change => {
    const weight = Number(weights[1]) * factor - Number(weights[0]);
    const noise = Math.hypot(Math.sqrt(squares[0]), Math.sqrt(squares[1]) * factor);
    return { weight, noise, beyond_noise: Math.abs(weight) > BEYOND_NOISE * noise };
  };
  return {
    presence: Number(before.samples) === 0 ? 'new' : Number(after.samples) === 0 ? 'vanished' : 'both',
    before: sideOf(before),
    after: sideOf(after),
    self_change: change([before.self_weight, after.self_weight], [before.self_squares, after.self_squares]),
    all_change: change([before.all_weight, after.all_weight], [before.all_squares, after.all_squares]),
  };
}

function sideOf({ self_weight, all_weight, self_samples, samples }: SquaredSide): Side {
  return { self_weight, all_weight, self_samples, samples };
}

/** With this noise: the smallest change that chance does not explain, and one that is detected in four of five pairs. */
export function smallestEffect({ noise }: Change): { marked: number; likely: number } {
  return { marked: BEYOND_NOISE * noise, likely: (BEYOND_NOISE + POWER) * noise };
}

/** The standard normal distribution's quantile of four in five. */
const POWER = 0.8416;

/** Orders changes, the largest first; then the larger weight on either side. */
export function bySize(a: Changed, b: Changed, change: 'self_change' | 'all_change'): number {
  return Math.abs(b[change].weight) - Math.abs(a[change].weight);
}

/** Orders by the all weight of the heavier side, the heaviest first. */
export function byHeavierSide(a: Changed, b: Changed): number {
  const [one, other] = [heavier(a), heavier(b)];
  return one > other ? -1 : Number(one < other);
}

function heavier({ before, after }: Changed): Exact {
  return before.all_weight > after.all_weight ? before.all_weight : after.all_weight;
}
