// The order of functions of equal weight: by name, then binary, then as first seen.

import { type Profile, binaryName, functionName } from './profile.ts';
import { compareTexts } from './text.ts';

/** The label for samples without a recorded stack. */
export const NO_STACK = -1;
/** The root of a tree. */
export const ROOT = -2;

const places = new WeakMap<Profile, Int32Array>();

/** The position of each function in that order, computed once. */
export function placesOfFunctions(profile: Profile): Int32Array {
  const known = places.get(profile);
  if (known !== undefined) return known;
  const order = Array.from({ length: profile.functions.count }, (_, id) => id);
  order.sort((a, b) => compareFunctions(profile, a, b));
  const found = new Int32Array(order.length);
  order.forEach((id, place) => {
    found[id] = place;
  });
  places.set(profile, found);
  return found;
}

function compareFunctions(profile: Profile, a: number, b: number): number {
  const byName = compareTexts(functionName(profile, a), functionName(profile, b));
  return byName || compareBinaries(binaryName(profile, a), binaryName(profile, b)) || a - b;
}

function compareBinaries(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  return compareTexts(a, b);
}

/** Orders labels of nodes: the root, then samples without stack, then functions. */
export function labelOrder(profile: Profile): (a: number, b: number) => number {
  const places = placesOfFunctions(profile);
  return (a, b) => (a < 0 || b < 0 ? a - b : places[a]! - places[b]!);
}
