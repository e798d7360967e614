// Where a search leads in a tree: nodes that are not on the way to a match need not be looked at.

import type { Forest } from '../forest.ts';

/** By node: 1 if it, or a node below it, has one of these labels and samples. */
export function nodesTowards(forest: Forest, matches: Uint8Array, isCounted: (knot: number) => boolean): Uint8Array {
  const { count, parent, label, knotOf } = forest;
  const found = new Uint8Array(count);
  // Parents precede their children.
  for (let node = count - 1; node > 0; node -= 1) {
    if (found[node] === 0 && matches[label[node]!] === 1 && isCounted(knotOf[node]!)) found[node] = 1;
    if (found[node] === 1) found[parent[node]!] = 1;
  }
  return found;
}

/** By node: 1 if a node above it has one of these labels, which is below it in the tree from the leaves up. */
export function nodesUnder({ count, parent, label }: Forest, matches: Uint8Array): Uint8Array {
  const found = new Uint8Array(count);
  for (let node = 1; node < count; node += 1) {
    const above = parent[node]!;
    if (found[above] === 1 || matches[label[above]!] === 1) found[node] = 1;
  }
  return found;
}
