// Sums by whatever nodes have in common: a function, a binary, a line. A sample counts once in the all weight of a key, however often
// the key recurs in its stack: only the outermost node with a key on each path adds to it.

import { type Exact, Sums, scatter } from './exact.ts';
import type { Forest, Weighed } from './forest.ts';

/** The part of keyed sums that no selection changes. */
export interface KeyPlan {
  readonly keys: number;
  /** The nodes that are the outermost ones with their key on their path: the knot that each belongs to, … */
  readonly knots: Int32Array;
  /** … and its key. */
  readonly outermost: Int32Array;
  /** By knot: the key of its node; -1 for none. */
  readonly leaf: Int32Array;
}

/** Self and all sums by key. */
export interface KeyedSums {
  readonly own: Sums;
  readonly all: Sums;
}

/** Weights and numbers of samples of a row of a table. */
export interface RowSums {
  readonly self_weight: Exact;
  readonly all_weight: Exact;
  readonly self_samples: Exact;
  readonly samples: Exact;
}

/** A plan for keys below `keys`, which `keyOf` has for each node; -1 is none. */
export function planKeys(forest: Forest, keys: number, keyOf: (node: number) => number): KeyPlan {
  const { count, depth } = forest;
  const knots = new Int32Array(count);
  const outermost = new Int32Array(count);
  let found = 0;
  const keyOfNode = new Int32Array(count).fill(-1);
  const open = new Int32Array(keys);
  const path: number[] = [];
  for (let node = 1; node < count; node += 1) {
    while (path.length >= depth[node]!) {
      const key = path.pop()!;
      if (key >= 0) open[key]! -= 1;
    }
    const key = keyOf(node);
    keyOfNode[node] = key;
    path.push(key);
    if (key < 0) continue;
    if (open[key] === 0) {
      knots[found] = forest.knotOf[node]!;
      outermost[found++] = key;
    }
    open[key]! += 1;
  }
  return { keys, knots: knots.slice(0, found), outermost: outermost.slice(0, found), leaf: forest.knotNode.map((node) => keyOfNode[node]!) };
}

/** The sums of keys for these weights. */
export function sumKeys(weighed: Weighed, plan: KeyPlan): KeyedSums {
  const sums = { own: new Sums(weighed.own.shape, plan.keys), all: new Sums(weighed.all.shape, plan.keys) };
  scatter(weighed.all, sums.all, plan.knots, plan.outermost);
  scatter(weighed.own, sums.own, null, plan.leaf);
  return sums;
}

/** The sums of a key as a row. */
export function rowOf({ own, all }: KeyedSums, key: number): RowSums {
  return {
    self_weight: own.weight(key),
    all_weight: all.weight(key),
    self_samples: own.samples(key),
    samples: all.samples(key),
  };
}

/** The keys that a sample has, whatever it weighs. */
export function countedKeys({ all }: KeyedSums): number[] {
  const found = [];
  for (let key = 0; key < all.size; key += 1) if (all.isCounted(key)) found.push(key);
  return found;
}
