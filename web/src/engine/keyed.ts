// Sums over nodes with the same key: a function, a binary, a line. A sample is counted once in the all weight of a key, even if the key is
// repeated in its stack: only the outermost node with the key on each path adds to it.

import { type Exact, Sums, scatter, split } from './exact.ts';
import type { Forest, Weighed } from './forest.ts';

/** The part of keyed sums that no selection changes. */
export interface KeyPlan {
  readonly keys: number;
  /** The keys of nodes that are outermost with their key on their path, knot by knot: knot k starts at `first[k]`. */
  readonly first: Int32Array;
  readonly outermost: Int32Array | Uint16Array;
  /** By knot: the key of its node; -1 for none. */
  readonly leaf: Int32Array;
}

/** Self and all sums by key. */
export interface KeyedSums {
  readonly own: Sums;
  readonly all: Sums;
}

/** The weights and sample counts of a row. */
export interface RowSums {
  readonly self_weight: Exact;
  readonly all_weight: Exact;
  readonly self_samples: Exact;
  readonly samples: Exact;
}

/** A plan for keys below `keys`; `keyOf` is the key of each node, and -1 means none. */
export function planKeys(forest: Forest, keys: number, keyOf: (node: number) => number): KeyPlan {
  const { count, depth, knotOf } = forest;
  const first = new Int32Array(forest.knotNode.length + 1);
  // If there are few keys, half as much memory is read, which these sums wait for.
  const outermost = keys < 1 << 16 ? new Uint16Array(count) : new Int32Array(count);
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
      // Nodes of one knot are adjacent, and knots are in the order of their nodes.
      first[knotOf[node]! + 1] = found + 1;
      outermost[found++] = key;
    }
    open[key]! += 1;
  }
  for (let knot = 1; knot < first.length; knot += 1) first[knot] = Math.max(first[knot]!, first[knot - 1]!);
  return { keys, first, outermost: outermost.slice(0, found), leaf: forest.knotNode.map((node) => keyOfNode[node]!) };
}

/** The sums of keys for these weights. */
export function sumKeys(weighed: Weighed, plan: KeyPlan): KeyedSums {
  const sums = { own: new Sums(weighed.own.shape, plan.keys), all: new Sums(weighed.all.shape, plan.keys) };
  addByKnot(weighed.all, sums.all, plan);
  scatter(weighed.own, sums.own, null, plan.leaf);
  return sums;
}

/** Adds each knot to the keys of its nodes. */
function addByKnot(from: Sums, to: Sums, { first, outermost }: KeyPlan): void {
  if (from.planes.length !== 2) {
    from.planes.forEach((values, plane) => {
      const sums = to.planes[plane]!;
      for (let knot = 0; knot < values.length; knot += 1) {
        for (let at = first[knot]!; at < first[knot + 1]!; at += 1) sums[outermost[at]!]! += values[knot]!;
      }
    });
    return;
  }
  const [weight, count] = from.planes as [Float64Array, Float64Array];
  // Both sums of a key side by side, so that memory is waited for once.
  const pairs = new Float64Array(2 * to.size);
  for (let knot = 0; knot < weight.length; knot += 1) {
    const [mine, samples] = [weight[knot]!, count[knot]!];
    // Most knots have nothing where little is selected.
    if (mine === 0 && samples === 0) continue;
    const end = first[knot + 1]!;
    for (let at = first[knot]!; at < end; at += 1) {
      const place = 2 * outermost[at]!;
      pairs[place]! += mine;
      pairs[place + 1]! += samples;
    }
  }
  split(pairs, to.planes as [Float64Array, Float64Array]);
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

/** The keys with samples, regardless of their weights. */
export function countedKeys({ all }: KeyedSums): number[] {
  const found = [];
  for (let key = 0; key < all.size; key += 1) if (all.isCounted(key)) found.push(key);
  return found;
}
