// What is selected of a recording, after operations: rows of samples by series, and their weights by stack.

import { type Metric, counterOf, eventSums } from './counters.ts';
import { type Exact, Sums, scatterRows } from './exact.ts';
import { type Forest, type Weighed, weigh } from './forest.ts';
import { DID_CHANGE, DID_MOVE, DID_REMOVE, REMOVED, type UsedStacks } from './operate.ts';
import { operationText } from './operations.ts';
import { type Profile, STACKSHOT } from './profile.ts';
import { RecentSums } from './recent.ts';
import { Scope, type Selection } from './selection.ts';
import type { Prepared } from './workbench.ts';

/** Weight and number of samples. */
export interface Amount {
  readonly weight: Exact;
  readonly samples: Exact;
}

/** The effect of an operation on the selected samples of one series. */
export interface Effect {
  readonly operation: string;
  readonly removed: Amount;
  readonly changed_samples: Exact;
  readonly moved: Amount;
}

/** A view; it computes on demand, and keeps intermediate results that several tables need. */
export class View {
  readonly profile: Profile;
  readonly prepared: Prepared;
  readonly scope: Scope;
  readonly #used: UsedStacks;
  readonly #selection: Selection;
  readonly #recent: RecentSums;
  /** Planes of weights and of sample counts, by row: recorded weights, or samples as weights. */
  readonly rows: Sums;
  readonly #counted = new Map<number, Int32Array>();
  readonly #ofAllStates = new Map<number, Int32Array>();
  readonly #byStack = new Map<number, Sums>();
  readonly #weighed = new Map<string, Weighed>();

  constructor(profile: Profile, used: UsedStacks, prepared: Prepared, selection: Selection, recent = new RecentSums()) {
    this.profile = profile;
    this.prepared = prepared;
    this.scope = new Scope(profile, selection);
    this.#used = used;
    this.#selection = selection;
    this.#recent = recent;
    this.rows = rowSums(profile, selection.metric ?? 'weight');
  }

  /** The rows of a series that count and that no operation removed. */
  counted(series: number): Int32Array {
    return remember(this.#counted, series, () => this.#kept(this.scope.rows(series, (state) => this.scope.isStateCounted(state))));
  }

  /** The same of every state, unless states were named. */
  ofAllStates(series: number): Int32Array {
    if (!this.scope.showsAllStates) return this.counted(series);
    return remember(this.#ofAllStates, series, () => this.inScope(series));
  }

  /** The same of every state, whether states were named or not. */
  inScope(series: number): Int32Array {
    return this.#kept(this.scope.rows(series, () => true));
  }

  #kept(rows: Int32Array): Int32Array {
    const { stackOf } = this.prepared.operated;
    if (this.prepared.operations.length === 0) return rows;
    return rows.filter((row) => stackOf[this.#used.ofRow[row]!] !== REMOVED);
  }

  /** Sums rows by key; `keyOf` has the key of each row. */
  sumRows(rows: Int32Array, keys: number, keyOf: (row: number) => number): Sums {
    const sums = new Sums(this.rows.shape, keys);
    this.rows.planes.forEach((from, plane) => {
      const to = sums.planes[plane]!;
      for (let at = 0; at < rows.length; at += 1) {
        const row = rows[at]!;
        to[keyOf(row)]! += from[row]!;
      }
    });
    return sums;
  }

  /** The weight and the number of samples of one row. */
  amount(row: number): Amount {
    return { weight: this.rows.weight(row), samples: this.rows.samples(row) };
  }

  /** The node of the forest of functions in which a row's stack ends; -1 where an operation removed it. */
  nodeOfRow(row: number): number {
    return this.prepared.byFunction.nodeOf[this.#used.ofRow[row]!]!;
  }

  /** The same for keys by node, which are below 0 for nodes without one, together with `also`, which is below `many`. */
  sumByNode(rows: Int32Array, keys: number, keyOfNode: Int32Array, many: number, also: Int32Array): Sums {
    const { nodeOf } = this.prepared.byFunction;
    const { ofRow } = this.#used;
    const keyOfStack = nodeOf.map((node) => (node < 0 ? -1 : keyOfNode[node]!));
    const sums = new Sums(this.rows.shape, keys * many);
    for (let at = 0; at < rows.length; at += 1) {
      const row = rows[at]!;
      const key = keyOfStack[ofRow[row]!]!;
      if (key >= 0) sums.add(key * many + also[row]!, this.rows, row);
    }
    return sums;
  }

  /** True if rows of a series count with the time that they weigh. */
  weighsTime(series: number): boolean {
    return this.profile.series[series]!.unit === 'ns' && (this.#selection.metric ?? 'weight') === 'weight';
  }

  /** The recorded weight of a row, even if samples are weighed differently. */
  recordedWeight(row: number): Exact {
    return rowSums(this.profile, 'weight').weight(row);
  }

  /** Adds the squared weights of selected samples to the knots in which their stacks end, in the forest of functions. */
  addSquares(series: number, byKnot: Float64Array): void {
    const { knotOfStack } = this.prepared.byFunction;
    const { ofRow } = this.#used;
    const squares = squaresOf(this.profile, this.rows);
    for (const row of this.counted(series)) byKnot[knotOfStack[ofRow[row]!]!]! += squares[row]!;
  }

  /** The sum of rows. */
  total(rows: Int32Array): Amount {
    const sums = this.sumRows(rows, 1, () => 0);
    return { weight: sums.weight(0), samples: sums.samples(0) };
  }

  /** Rows added up by used stack. */
  byStack(rows: Int32Array): Sums {
    const { ofRow, stacks } = this.#used;
    const sums = new Sums(this.rows.shape, stacks.length);
    scatterRows(this.rows, sums, rows, ofRow);
    return sums;
  }

  /** The whole call tree of a series, over all threads. */
  byFunction(series: number): Weighed {
    return remember(this.#weighed, `function ${series}`, () => weigh(this.prepared.byFunction, this.#stacksOf(series)));
  }

  /** The sums by frame. */
  byFrame(series: number): Weighed {
    return remember(this.#weighed, `frame ${series}`, () => weigh(this.prepared.byFrame, this.#stacksOf(series)));
  }

  /** The call tree of some rows, such as the rows of one thread. */
  treeOf(rows: Int32Array, forest: Forest = this.prepared.byFunction): Weighed {
    return weigh(forest, this.byStack(rows));
  }

  #stacksOf(series: number): Sums {
    return remember(this.#byStack, series, () => {
      const range = this.scope.oneRange(series);
      if (range === null) return this.byStack(this.counted(series));
      return this.#recent.of(range, {
        key: this.#keyBesidesTime(series),
        rows: this.rows,
        target: this.#used.ofRow,
        counted: (range) => this.#kept(this.scope.rowsIn([range], (state) => this.scope.isStateCounted(state))),
        sumsOf: (rows) => this.byStack(rows),
      });
    });
  }

  #keyBesidesTime(series: number): string {
    const { time: _, ...others } = this.#selection;
    return JSON.stringify([series, others, this.prepared.operations]);
  }

  /** The effect of each operation on the selected samples of a series. */
  effects(series: number): Effect[] {
    const rows = this.scope.rows(series, (state) => this.scope.isStateCounted(state));
    const { effects } = this.prepared.operated;
    return this.prepared.operations.map((operation, index) => {
      const of = (bit: number): Amount =>
        this.total(rows.filter((row) => (effects[index]![this.#used.ofRow[row]!]! & bit) !== 0));
      return {
        operation: operationText(operation),
        removed: of(DID_REMOVE),
        changed_samples: of(DID_CHANGE).samples,
        moved: of(DID_MOVE),
      };
    });
  }
}

const known = new WeakMap<Profile, Map<string, Sums>>();

/** By row: what it weighs and its number of samples. As samples, a snapshot at the start weighs nothing. */
export function rowSums(profile: Profile, metric: Metric): Sums {
  const ofProfile = known.get(profile) ?? new Map<string, Sums>();
  known.set(profile, ofProfile);
  const { shape, weight, samples, kind, count } = profile.samples;
  return remember(ofProfile, metric, () => {
    if (metric === 'weight') return new Sums(shape, count, [...weight, ...samples]);
    const counter = counterOf(metric);
    if (counter !== null) return eventSums(profile, counter);
    const asWeight = samples.map((plane) => plane.map((value, row) => (kind[row] === STACKSHOT ? 0 : value)));
    return new Sums({ weight: shape.count, count: shape.count }, count, [...asWeight, ...samples]);
  });
}

const squares = new WeakMap<Sums, Float64Array>();

/** By row: the square of its weight. Samples that were added up are taken to weigh the same. */
function squaresOf({ samples: { count } }: Profile, rows: Sums): Float64Array {
  const known = squares.get(rows);
  if (known !== undefined) return known;
  const found = new Float64Array(count);
  for (let row = 0; row < count; row += 1) {
    const [weight, samples] = [Number(rows.weight(row)), Number(rows.samples(row))];
    found[row] = samples > 0 ? (weight * weight) / samples : 0;
  }
  squares.set(rows, found);
  return found;
}

function remember<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}
