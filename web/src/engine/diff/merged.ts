// The call trees of two recordings, merged into one. Its shape depends on operations only; selections weigh it, each side by itself.

import { Sums, type Shape, scatter } from '../exact.ts';
import { type Forest, type Weighed, growForest, weigh } from '../forest.ts';
import { type KeyPlan, planKeys } from '../keyed.ts';
import { PairTable } from '../pair_table.ts';
import type { View } from '../view.ts';
import type { Matching } from './matching.ts';

/** The weights of one side, and the sums of squared sample weights. */
export interface SideWeights {
  readonly sums: Weighed;
  readonly squares: Weighed;
}

/** The tree of both sides. Labels of its forest are numbers of matched functions. */
export class Merged {
  readonly forest: Forest;
  readonly functions: KeyPlan;
  readonly binaries: KeyPlan;
  /** For each side and knot of its forest: the position of its node among the nodes in which samples may end. */
  readonly #places: readonly [Int32Array, Int32Array];
  readonly #count: number;

  constructor(matching: Matching, before: Forest, after: Forest) {
    const table = new PairTable(before.count + after.count);
    const merge = (side: 0 | 1, { count, parent, label, knotNode }: Forest): Int32Array => {
      // Parents precede their children; the root is not a pair.
      const place = new Int32Array(count).fill(-1);
      for (let node = 1; node < count; node += 1) {
        place[node] = table.add(place[parent[node]!]!, matching.number(side, label[node]!));
      }
      return knotNode.map((node) => place[node]!);
    };
    const knots = [merge(0, before), merge(1, after)] as const;
    const { count, first, second } = table.finish();
    const { ends, places } = endsOf(knots, count);
    [this.#places, this.#count] = [places, ends.length];
    // Pairs are what a table of stacks is made of, so each merged node is a stack that ends in it.
    this.forest = growForest({ count, parent: first, frame: second }, ends, (number) => number);
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

/** The merged nodes that are knots of a side, each once, and by side and knot the place among them; -1 of the root. */
function endsOf(knots: readonly [Int32Array, Int32Array], count: number): { ends: Int32Array; places: [Int32Array, Int32Array] } {
  const placeOf = new Int32Array(count).fill(-1);
  const ends = new Int32Array(knots[0].length + knots[1].length);
  let found = 0;
  const places = (nodes: Int32Array): Int32Array =>
    nodes.map((node) => {
      if (node < 0) return -1;
      if (placeOf[node]! < 0) {
        placeOf[node] = found;
        ends[found++] = node;
      }
      return placeOf[node]!;
    });
  const both: [Int32Array, Int32Array] = [places(knots[0]), places(knots[1])];
  return { ends: ends.slice(0, found), places: both };
}

/** Squares are rounded as doubles are, which noise can bear. */
const SQUARES: Shape = { weight: 1, count: 1 };
