// Bottom-up call trees: functions by self weight, with their callers below. It is the tree of inverted stacks, but is built from the
// top-down tree, one level at a time and on demand: inverting many stacks takes seconds.

import { type Exact, Sums, compareExact } from '../exact.ts';
import type { Weighed } from '../forest.ts';
import { ROOT, labelOrder } from '../order.ts';
import type { Profile } from '../profile.ts';

/**
 * A function, and the callers above it. Its all weight is the weight of samples whose leaf is the first function and
 * that took this path.
 */
export interface BottomUpNode {
  readonly label: number;
  readonly depth: number;
  /** The weight of samples whose outermost function it is. */
  readonly self_weight: Exact;
  readonly all_weight: Exact;
  readonly self_samples: Exact;
  readonly samples: Exact;
  /** Where the samples end, and the matching nodes of the tree. */
  readonly knots: Int32Array;
  readonly nodes: Int32Array;
}

export class BottomUpTree {
  readonly #weighed: Weighed;
  readonly #order: (a: number, b: number) => number;
  readonly root: BottomUpNode;

  constructor(profile: Profile, weighed: Weighed) {
    this.#weighed = weighed;
    this.#order = labelOrder(profile);
    const { forest, own, all } = weighed;
    const knots = Int32Array.from(forest.knotNode.keys()).filter((knot) => own.isCounted(knot));
    this.root = {
      label: ROOT,
      depth: 0,
      self_weight: 0,
      all_weight: all.weight(0),
      self_samples: 0,
      samples: all.samples(0),
      knots,
      nodes: knots.map((knot) => forest.knotNode[knot]!),
    };
  }

  /** The leaf functions, or the callers of a node, heaviest first. */
  children(node: BottomUpNode): BottomUpNode[] {
    const { forest } = this.#weighed;
    // The nodes of the root are the leaves themselves.
    const nodes = node.depth === 0 ? node.nodes : node.nodes.map((at) => forest.parent[at]!);
    const groups = new Map<number, { knots: number[]; nodes: number[] }>();
    nodes.forEach((at, index) => {
      if (at === 0) return;
      const label = forest.label[at]!;
      let group = groups.get(label);
      if (group === undefined) groups.set(label, (group = { knots: [], nodes: [] }));
      group.knots.push(node.knots[index]!);
      group.nodes.push(at);
    });
    const found = [...groups].map(([label, group]) => this.#node(label, node.depth + 1, group));
    return found.sort((a, b) => this.#compare(a, b));
  }

  #node(label: number, depth: number, group: { knots: number[]; nodes: number[] }): BottomUpNode {
    const { forest, own } = this.#weighed;
    const [all, outermost] = [new Sums(own.shape, 1), new Sums(own.shape, 1)];
    group.knots.forEach((knot, index) => {
      all.add(0, own, knot);
      if (forest.parent[group.nodes[index]!] === 0) outermost.add(0, own, knot);
    });
    return {
      label,
      depth,
      self_weight: outermost.weight(0),
      all_weight: all.weight(0),
      self_samples: outermost.samples(0),
      samples: all.samples(0),
      knots: Int32Array.from(group.knots),
      nodes: Int32Array.from(group.nodes),
    };
  }

  #compare(a: BottomUpNode, b: BottomUpNode): number {
    const byWeight = compareExact(b.all_weight, a.all_weight) || compareExact(b.samples, a.samples);
    return byWeight || this.#order(a.label, b.label);
  }
}
