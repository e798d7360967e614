// Converts a displayed stack to a place in its tree, for operations at this place only.

import { ROOT, type TreePlace } from '../host/protocol.ts';
import type { Names } from './names.ts';
import { hasOwnName, recordingsOf } from './sides.ts';
import { functionsOfSteps, stepOf } from './steps.ts';

/** The place of a stack, outermost function first; null if a function on the path has no name to identify it. */
export function treePlaceOf(names: Names, direction: TreePlace['direction'], stack: readonly number[]): TreePlace | null {
  const labels = stack.filter((label) => label !== ROOT);
  if (labels.length === 0 || labels.some((label) => label < 0 || !hasOwnName(names, label))) return null;
  const path = labels.map((label) => stepOf(names, label, names.sides !== undefined));
  if (names.sides !== undefined) {
    // A function in both recordings may have a different name in each.
    const known = recordingsOf(names).map((recording) => functionsOfSteps(recording, path));
    if (path.some((_, place) => known.every((found) => found[place]!.length === 0))) return null;
  }
  if (direction === 'up') path.reverse();
  return { direction, path };
}
