// The functions in app code, with the system code they call, by the rules of `src/report/overview/owners.rs`.

import { Sums, scatter } from '../exact.ts';
import type { Forest } from '../forest.ts';
import { IS_ENTRY_POINT, IS_IDLE, IS_RUN_LOOP, type Profile, categoriesOfFunctions } from '../profile.ts';
import type { View } from '../view.ts';
import type { Matching } from './matching.ts';

/** For each function: the samples that belong to app code. */
export interface OwnSums {
  readonly sums: Sums;
  readonly squares: Float64Array;
}

/** Sums of one side over these series. */
export function ownSums(matching: Matching, side: 0 | 1, view: View, series: readonly number[]): OwnSums {
  const found = { sums: new Sums(view.rows.shape, matching.functions.length), squares: new Float64Array(matching.functions.length) };
  for (const index of series) {
    const weighed = view.byFunction(index);
    const { forest } = weighed;
    // If only running threads are selected, a thread that is about to wait still has CPU time that belongs to a function.
    const mayWait = view.profile.series[index]!.meaning === 'presence' || !view.scope.countsRunningOnly;
    const owner = ownersOf(view.profile, forest, mayWait);
    const number = forest.knotNode.map((node) => (owner[node]! < 0 ? -1 : matching.number(side, owner[node]!)));
    scatter(weighed.own, found.sums, null, number);
    const squares = new Float64Array(number.length);
    view.addSquares(index, squares);
    squares.forEach((square, knot) => {
      if (number[knot]! >= 0) found.squares[number[knot]!]! += square;
    });
  }
  return found;
}

const known = new WeakMap<Forest, Map<boolean, Int32Array>>();

/** The owners of a forest, found once. */
function ownersOf(profile: Profile, forest: Forest, mayWait: boolean): Int32Array {
  const found = known.get(forest) ?? new Map<boolean, Int32Array>();
  known.set(forest, found);
  const owners = found.get(mayWait) ?? findOwners(profile, forest, mayWait);
  found.set(mayWait, owners);
  return owners;
}

/** For each node: the app function that owns the samples ending there; -1 if there is none. */
function findOwners(profile: Profile, { count, parent, label }: Forest, mayWait: boolean): Int32Array {
  const kinds = kindsOf(profile);
  const flags = (id: number): number => profile.functions.flags[id]!;
  /** For each node: the innermost node of app code with only system code below it. */
  const place = new Int32Array(count).fill(-1);
  const owner = new Int32Array(count).fill(-1);
  for (let node = 1; node < count; node += 1) {
    const id = label[node]!;
    if (id < 0) continue;
    if (kinds[id] === OWN) place[node] = node;
    else if (kinds[id] === SYSTEM && (flags(id) & IS_RUN_LOOP) === 0) place[node] = place[parent[node]!]!;
    const at = place[node]!;
    if (at < 0 || (mayWait && (flags(id) & IS_IDLE) !== 0)) continue;
    // Below an entry point, only its self weight belongs to it.
    if (at === node || (flags(label[at]!) & IS_ENTRY_POINT) === 0) owner[node] = label[at]!;
  }
  return owner;
}

const OWN = 1;
const SYSTEM = 2;

/** For each function: app code, system code, or neither. */
function kindsOf(profile: Profile): Uint8Array {
  const categories = categoriesOfFunctions(profile);
  const kinds = profile.categories.map((name) => (name === 'user' ? OWN : name === 'unknown' ? 0 : SYSTEM));
  return Uint8Array.from(categories, (category) => kinds[category]!);
}
