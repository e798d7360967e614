// The call trees of two recordings, merged into one. Its shape depends on operations only; selections weigh it, each side by itself.

import { Sums, type Shape, scatter } from '../exact.ts';
import { type Forest, type Weighed, growForest, weigh } from '../forest.ts';
import { type KeyPlan, planKeys } from '../keyed.ts';
import { PairTable } from '../pair_table.ts';
import type { View } from '../view.ts';
import type { Matching } from './matching.ts';

/** The weights of one side, and the sums of the squares of those of single samples. */
export interface SideWeights {
  readonly sums: Weighed;
  readonly squares: Weighed;
}

/** The tree of both sides. Labels of its forest are numbers of matched functions. */
export class Merged {
  readonly forest: Forest;
  readonly functions: KeyPlan;
  readonly binaries: KeyPlan;
  /** By side, then by knot of the side's own forest: the place of its node among the merged ones. */
  readonly #places: readonly [Int32Array, Int32Array];
  readonly #count: number;

  constructor(matching: Matching, before: Forest, after: Forest) {
    const table = new PairTable(before.count + after.count);
    const merge = (side: 0 | 1, { count, parent, label, knotNode }: Forest): Int32Array => {
      // A parent stands before its children; the root is no pair.
      const place = new Int32Array(count).fill(-1);
      for (let node = 1; node < count; node += 1) {
        place[node] = table.add(place[parent[node]!]!, matching.number(side, label[node]!));
      }
      return knotNode.map((node) => place[node]!);
    };
    this.#places = [merge(0, before), merge(1, after)];
    const { count, first, second } = table.finish();
    this.#count = count;
    // Pairs are what a table of stacks is made of, so each merged node is a stack that ends in it.
    const stacks = { count, parent: first, frame: second };
    this.forest = growForest(stacks, Int32Array.from({ length: count }, (_, stack) => stack), (number) => number);
    const { label } = this.forest;
    const number = (node: number): number => label[node]!;
    this.functions = planKeys(this.forest, matching.functions.length, number);
    this.binaries = planKeys(this.forest, matching.binaries.length, (node) =>
      number(node) < 0 ? -1 : matching.binaryOf[number(node)]!,
    );
  }

  /** The weights of a side, over these series. */
  weigh(side: 0 | 1, view: View, series: readonly number[]): SideWeights {
    const sums = new Sums(view.rows.shape, this.#count);
    for (const index of series) scatter(view.byFunction(index).own, sums, null, this.#places[side]);
    return { sums: weigh(this.forest, sums), squares: this.#squares(side, view, series) };
  }

  #squares(side: 0 | 1, view: View, series: readonly number[]): Weighed {
    const { byFunction } = view.prepared;
    const byKnot = new Float64Array(byFunction.knotNode.length);
    for (const index of series) view.addSquares(index, byKnot);
    const squares = new Sums(SQUARES, this.#count);
    scatter(new Sums(SQUARES, byKnot.length, [byKnot, new Float64Array(byKnot.length)]), squares, null, this.#places[side]);
    return weigh(this.forest, squares);
  }
}

/** Squares are rounded as doubles are, which noise can bear. */
const SQUARES: Shape = { weight: 1, count: 1 };
