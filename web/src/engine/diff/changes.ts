// Tables and trees of what changed.

import { Sums } from '../exact.ts';
import { type Weighed, childrenOf, ownKnot } from '../forest.ts';
import { type KeyPlan, sumKeys } from '../keyed.ts';
import type { View } from '../view.ts';
import { NO_BINARY, NO_STACK_NAME } from '../views/binaries.ts';
import { type Boxes, type Frame, boxesOf } from '../views/flame_graph.ts';
import { nodesTowards } from '../views/matches.ts';
import { type Changed, type SquaredSide, byHeavierSide, bySize, changed } from './change.ts';
import { type Matching, STACKLESS, compareNullable } from './matching.ts';
import type { Merged, SideWeights } from './merged.ts';
import { type OwnSums, ownSums } from './own.ts';

/** A function or a binary: its displayed name, and its number in `Matching`. */
export interface DiffRow extends Changed {
  readonly number: number;
  readonly name: string;
  readonly binary: string | null;
}

/** A node of the merged tree; `number` is the number of its function, and -1 for the root. */
export interface DiffNode extends Changed {
  readonly node: number;
  readonly number: number;
  readonly depth: number;
}

/** The changes between two selections. */
export class Changes {
  readonly matching: Matching;
  readonly before: View;
  readonly after: View;
  /** The factor by which weights after are multiplied for changes. */
  readonly factor: number;
  /** False if a side has nothing to scale by, so that the factor is 1. */
  readonly isScaled: boolean;
  readonly #merged: Merged;
  readonly #weights: readonly [SideWeights, SideWeights];
  readonly #series: readonly [readonly number[], readonly number[]];

  constructor(
    matching: Matching,
    merged: Merged,
    weights: readonly [SideWeights, SideWeights],
    views: { before: View; after: View; series: readonly [readonly number[], readonly number[]] },
    factor: number | null,
  ) {
    this.#series = views.series;
    this.matching = matching;
    [this.before, this.after] = [views.before, views.after];
    [this.factor, this.isScaled] = [factor ?? 1, factor !== null];
    [this.#merged, this.#weights] = [merged, weights];
  }

  /** The functions, the largest changes of self weight first. */
  functions(): DiffRow[] {
    return this.#sorted(this.#rows(this.#merged.functions, (number) => this.#named(number)));
  }

  /** The functions in app code, whose self weight includes the system code they call; the largest changes first. */
  ownFunctions(): DiffRow[] {
    const own = ([0, 1] as const).map((side) => ownSums(this.matching, side, side === 0 ? this.before : this.after, this.#series[side]));
    const rows = this.#rows(this.#merged.functions, (number) => this.#named(number), own as [OwnSums, OwnSums]);
    return this.#sorted(rows.filter(({ number }) => own.some(({ sums }) => sums.isCounted(number))));
  }

  #sorted(rows: DiffRow[]): DiffRow[] {
    const { order } = this.matching;
    return rows.sort((a, b) => bySelfChange(a, b) || order[a.number]! - order[b.number]!);
  }

  #named(number: number): Pick<DiffRow, 'number' | 'name' | 'binary'> {
    const { name, binary } = this.matching.functions[number]!;
    if (name === '') return { number, name: binary ?? NO_BINARY, binary: null };
    return { number, name: name ?? NO_STACK_NAME, binary };
  }

  /** The binaries, the largest changes of self weight first. */
  binaries(): DiffRow[] {
    const { binaries } = this.matching;
    const rows = this.#rows(this.#merged.binaries, (number) => {
      const name = number === STACKLESS ? NO_STACK_NAME : (binaries[number] ?? NO_BINARY);
      return { number, name, binary: null };
    });
    // If changes are equal, code in no binary comes first, followed by samples without a stack.
    const order = (a: number, b: number): number => compareNullable(binaries[a]!, binaries[b]!) || b - a;
    return rows.sort((a, b) => bySelfChange(a, b) || order(a.number, b.number));
  }

  /** A row for each key that is counted; `own` has other self weights. */
  #rows(
    plan: KeyPlan,
    named: (key: number) => Pick<DiffRow, 'number' | 'name' | 'binary'>,
    own?: readonly [OwnSums, OwnSums],
  ): DiffRow[] {
    const [before, after] = this.#weights.map(({ sums, squares }, index) => {
      const [weights, squared] = [sumKeys(sums, plan), sumKeys(squares, plan)];
      const side = (key: number): SquaredSide => {
        const found = sideOf(weights, squared, key, key);
        return own === undefined ? found : { ...found, ...ownSide(own[index]!, key) };
      };
      return { counts: weights.all, side };
    }) as [KeyedSide, KeyedSide];
    const rows: DiffRow[] = [];
    for (let key = 0; key < plan.keys; key += 1) {
      if (!before.counts.isCounted(key) && !after.counts.isCounted(key)) continue;
      rows.push({ ...named(key), ...changed(before.side(key), after.side(key), this.factor) });
    }
    return rows;
  }

  /** The total of the selected samples. */
  get total(): DiffNode {
    return this.at(0);
  }

  /** A node of the tree of both; 0 is the root. */
  at(node: number): DiffNode {
    const { forest } = this.#merged;
    const [knot, own] = [forest.knotOf[node]!, ownKnot(forest, node)];
    const [before, after] = this.#weights.map(({ sums, squares }) => sideOf(sums, squares, own, knot)) as [SquaredSide, SquaredSide];
    return { node, number: node === 0 ? -1 : forest.label[node]!, depth: forest.depth[node]!, ...changed(before, after, this.factor) };
  }

  /** The children that samples of either side pass through, the largest changes of all weight first. */
  children(node: number): DiffNode[] {
    const { forest } = this.#merged;
    const { order } = this.matching;
    const isCounted = (child: number): boolean =>
      this.#weights.some(({ sums }) => sums.all.isCounted(forest.knotOf[child]!));
    const rows = childrenOf(forest, node).filter(isCounted).map((child) => this.at(child));
    return rows.sort((a, b) => bySize(a, b, 'all_change') || byHeavierSide(a, b) || order[a.number]! - order[b.number]!);
  }

  /** For each node: 1 if it or a node below it has one of these numbers, with samples of either side. */
  nodesTowards(matches: Uint8Array): Uint8Array {
    return nodesTowards(this.#merged.forest, matches, (knot) => this.#weights.some(({ sums }) => sums.all.isCounted(knot)));
  }

  /** The left-heavy flame graph of one side, with the nodes of the tree: `at(node)` has their changes. */
  flameGraph(side: 'before' | 'after', frame: Frame): Boxes {
    const { sums } = this.#weights[side === 'before' ? 0 : 1];
    const { order } = this.matching;
    return boxesOf(sums, frame, (a, b) => order[a]! - order[b]!);
  }
}

interface KeyedSide {
  readonly counts: Sums;
  readonly side: (key: number) => SquaredSide;
}

function bySelfChange(a: DiffRow, b: DiffRow): number {
  return bySize(a, b, 'self_change') || bySize(a, b, 'all_change') || byHeavierSide(a, b);
}

function ownSide({ sums, squares }: OwnSums, key: number): Pick<SquaredSide, 'self_weight' | 'self_samples' | 'self_squares'> {
  return { self_weight: sums.weight(key), self_samples: sums.samples(key), self_squares: squares[key]! };
}

/** The sums of a side; no samples end where `own` is -1. */
function sideOf(weights: Pick<Weighed, 'own' | 'all'>, squares: Pick<Weighed, 'own' | 'all'>, own: number, all: number): SquaredSide {
  const ends = own >= 0;
  return {
    self_weight: ends ? weights.own.weight(own) : 0,
    all_weight: weights.all.weight(all),
    self_samples: ends ? weights.own.samples(own) : 0,
    samples: weights.all.samples(all),
    self_squares: ends ? Number(squares.own.weight(own)) : 0,
    all_squares: Number(squares.all.weight(all)),
  };
}
