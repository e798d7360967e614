// Functions, taken as one, between their callers and their callees.
//
// If they are in a stack several times, what is above the outermost one belongs to the callers, and what is below the innermost one to
// the callees. So each sample has one caller and one callee at most.

import { Sums, compareExact } from '../exact.ts';
import type { Forest } from '../forest.ts';
import type { RowSums } from '../keyed.ts';
import { ROOT, labelOrder } from '../order.ts';
import type { Amount, View } from '../view.ts';

/** A caller or a callee. A caller that is `ROOT` means that the functions are outermost. */
export interface Neighbour extends Amount {
  readonly label: number;
}

export interface Sandwich {
  readonly own: RowSums;
  /** The amount of samples with recursive calls; such calls are in neither list. */
  readonly recursive: Amount;
  readonly callers: Neighbour[];
  readonly callees: Neighbour[];
}

/** The function that is itself the leaf, in the place of its callee. */
const ITSELF = -3;
/** No chosen function is on the path. */
const ABSENT = -4;

/** The sandwich of chosen functions (1 by function) in a series. */
export function sandwich(view: View, series: number, chosen: Uint8Array): Sandwich {
  const { forest, own } = view.byFunction(series);
  const { caller, callee, isRecursive } = neighbours(forest, chosen);
  const { count } = view.profile.functions;
  // For each function; then the root, then the functions themselves.
  const callers = new Sums(own.shape, count + 1);
  const callees = new Sums(own.shape, count + 1);
  const [all, recursive] = [new Sums(own.shape, 1), new Sums(own.shape, 1)];
  forest.knotNode.forEach((node, knot) => {
    if (caller[node] === ABSENT || !own.isCounted(knot)) return;
    all.add(0, own, knot);
    if (isRecursive[node] === 1) recursive.add(0, own, knot);
    callers.add(caller[node] === ROOT ? count : caller[node]!, own, knot);
    callees.add(callee[node] === ITSELF ? count : callee[node]!, own, knot);
  });
  return {
    own: {
      self_weight: callees.weight(count),
      all_weight: all.weight(0),
      self_samples: callees.samples(count),
      samples: all.samples(0),
    },
    recursive: { weight: recursive.weight(0), samples: recursive.samples(0) },
    callers: rows(view, callers, count + 1),
    callees: rows(view, callees, count),
  };
}

/** By node: the caller of the outermost chosen function on its path, the callee of the innermost, and 1 if they are several. */
function neighbours(forest: Forest, chosen: Uint8Array): { caller: Int32Array; callee: Int32Array; isRecursive: Uint8Array } {
  const caller = new Int32Array(forest.count).fill(ABSENT);
  const callee = new Int32Array(forest.count).fill(ABSENT);
  const isRecursive = new Uint8Array(forest.count);
  for (let node = 1; node < forest.count; node += 1) {
    const above = forest.parent[node]!;
    const label = forest.label[node]!;
    caller[node] = caller[above]!;
    callee[node] = callee[above] === ITSELF ? label : callee[above]!;
    isRecursive[node] = isRecursive[above]!;
    if (label >= 0 && chosen[label] === 1) {
      if (caller[above] === ABSENT) caller[node] = forest.label[above]!;
      else isRecursive[node] = 1;
      callee[node] = ITSELF;
    }
  }
  return { caller, callee, isRecursive };
}

function rows(view: View, sums: Sums, keys: number): Neighbour[] {
  const found: Neighbour[] = [];
  const { count } = view.profile.functions;
  for (let key = 0; key < keys; key += 1) {
    if (!sums.isCounted(key)) continue;
    found.push({ label: key === count ? ROOT : key, weight: sums.weight(key), samples: sums.samples(key) });
  }
  const order = labelOrder(view.profile);
  return found.sort(
    (a, b) => compareExact(b.weight, a.weight) || compareExact(b.samples, a.samples) || order(a.label, b.label),
  );
}
