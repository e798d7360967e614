// The program's own functions, each with what it asked the system for, by the rules of `src/report/overview/owners.rs`.

import { Sums, scatter } from '../exact.ts';
import type { Forest } from '../forest.ts';
import { IS_ENTRY_POINT, IS_IDLE, IS_RUN_LOOP, type Profile, categoriesOfFunctions } from '../profile.ts';
import type { View } from '../view.ts';
import type { Matching } from './matching.ts';

/** By number of a function: the samples that are its own code's. */
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
    // Where only running threads count, a thread on its way to wait has CPU time that somebody is to answer for.
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

/** By node: the function of the program that samples belong to which end there; -1 where it is nobody's. */
function findOwners(profile: Profile, { count, parent, label }: Forest, mayWait: boolean): Int32Array {
  const kinds = kindsOf(profile);
  const flags = (id: number): number => profile.functions.flags[id]!;
  /** By node: the innermost node of own code, with nothing but the system below it. */
  const place = new Int32Array(count).fill(-1);
  const owner = new Int32Array(count).fill(-1);
  for (let node = 1; node < count; node += 1) {
    const id = label[node]!;
    if (id < 0) continue;
    if (kinds[id] === OWN) place[node] = node;
    else if (kinds[id] === SYSTEM && (flags(id) & IS_RUN_LOOP) === 0) place[node] = place[parent[node]!]!;
    const at = place[node]!;
    if (at < 0 || (mayWait && (flags(id) & IS_IDLE) !== 0)) continue;
    // Of what hangs below an entry point, only what it does by itself is its own.
    if (at === node || (flags(label[at]!) & IS_ENTRY_POINT) === 0) owner[node] = label[at]!;
  }
  return owner;
}

const OWN = 1;
const SYSTEM = 2;

/** By function: own code, the system's, or neither. */
function kindsOf(profile: Profile): Uint8Array {
  const categories = categoriesOfFunctions(profile);
  const kinds = profile.categories.map((name) => (name === 'user' ? OWN : name === 'unknown' ? 0 : SYSTEM));
  return Uint8Array.from(categories, (category) => kinds[category]!);
}
