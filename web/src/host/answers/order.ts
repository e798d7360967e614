// The order of functions by one weight.

import { type Exact, type Profile, compareExact } from '../../engine/index.ts';
import { labelOrder } from '../../engine/order.ts';

/** Heaviest first; of equal weight by name. */
export function byWeight(profile: Profile, weightOf: (label: number) => Exact): (a: number, b: number) => number {
  const byName = labelOrder(profile);
  return (a, b) => compareExact(weightOf(b), weightOf(a)) || byName(a, b);
}
