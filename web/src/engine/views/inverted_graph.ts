// Inverted flame graphs: leaf functions by self weight, with their callers below, as boxes that are wide enough to be seen. The nodes are
// those of `bottom_up.ts`, and only visible ones are built.

import { type Exact, Sums, compareExact } from '../exact.ts';
import type { Weighed } from '../forest.ts';
import { ROOT, labelOrder } from '../order.ts';
import { PairTable } from '../pair_table.ts';
import type { Profile } from '../profile.ts';
import type { Boxes, Frame } from './flame_graph.ts';

/** Boxes whose nodes are numbered by a `PathNumbers`. */
export interface InvertedBoxes extends Boxes {
  readonly label: Int32Array;
  readonly weight: readonly Exact[];
  /** The weights of samples whose outermost function it is. */
  readonly self: readonly Exact[];
}

/** Numbers of paths from the leaf up, the same from graph to graph. The root is 0. */
export class PathNumbers {
  readonly #pairs = new PairTable();

  below(path: number, label: number): number {
    return this.#pairs.add(path, label) + 1;
  }
}

/** The samples that end in some knots, and for each knot the node on the way up that a box represents. */
interface Ends {
  readonly knots: Int32Array;
  readonly nodes: Int32Array;
}

interface Open extends Ends {
  readonly path: number;
  readonly label: number;
  readonly depth: number;
  readonly start: number;
  readonly width: number;
  readonly weight: Exact;
  readonly self: Exact;
}

/** The boxes of the inverted tree, in the order and at the places that the tree from the leaves up has them. */
export function invertedGraph(profile: Profile, weighed: Weighed, frame: Omit<Frame, 'root'>, numbers: PathNumbers): InvertedBoxes {
  const { least, from = 0, to = Infinity } = frame;
  const callers = new Callers(profile, weighed);
  const found: Open[] = [];
  const open: Open[] = [callers.root()];
  while (open.length > 0) {
    const box = open.pop()!;
    found.push(box);
    let next = box.start;
    const seen = callers.heavyOf(box, least).flatMap((group) => {
      const [start, width] = [next, Number(group.weight)];
      next += width;
      return next >= from && start <= to ? [{ ...group, path: numbers.below(box.path, group.label), depth: box.depth + 1, start, width }] : [];
    });
    const ends = callers.endsOf(box, seen);
    for (let at = seen.length - 1; at >= 0; at -= 1) open.push({ ...seen[at]!, ...ends[at]! });
  }
  const numbersOf = (of: (box: Open) => number): Int32Array => Int32Array.from(found, of);
  return {
    count: found.length,
    node: numbersOf(({ path }) => path),
    depth: numbersOf(({ depth }) => depth),
    label: numbersOf(({ label }) => label),
    start: Float64Array.from(found, ({ start }) => start),
    width: Float64Array.from(found, ({ width }) => width),
    weight: found.map(({ weight }) => weight),
    self: found.map(({ self }) => self),
  };
}

interface Group {
  readonly label: number;
  readonly count: number;
  readonly weight: Exact;
  readonly samples: Exact;
  readonly self: Exact;
}

/** Groups samples by their next callers. Sums by label are kept from group to group, and cleared where they were touched. */
class Callers {
  readonly #weighed: Weighed;
  readonly #order: (a: number, b: number) => number;
  /** By label, one higher: what comes this way, what begins here, and the number of knots. */
  readonly #all: Sums;
  readonly #outermost: Sums;
  readonly #counts: Int32Array;

  constructor(profile: Profile, weighed: Weighed) {
    const labels = profile.functions.count + 1;
    [this.#weighed, this.#order] = [weighed, labelOrder(profile)];
    [this.#all, this.#outermost] = [new Sums(weighed.own.shape, labels), new Sums(weighed.own.shape, labels)];
    this.#counts = new Int32Array(labels);
  }

  root(): Open {
    const { forest, own, all } = this.#weighed;
    const [knots, nodes] = [new Int32Array(own.size), new Int32Array(own.size)];
    let count = 0;
    for (let knot = 0; knot < own.size; knot += 1) {
      if (!own.isCounted(knot)) continue;
      knots[count] = knot;
      nodes[count++] = forest.knotNode[knot]!;
    }
    const weight = all.weight(0);
    return { knots: knots.subarray(0, count), nodes: nodes.subarray(0, count), path: 0, label: ROOT, depth: 0, start: 0, width: Number(weight), weight, self: 0 };
  }

  /** The callers of a box that weigh enough, heaviest first. */
  heavyOf(box: Open, least: number): Group[] {
    const touched = this.#add(box);
    const groups: Group[] = [];
    for (const place of touched) {
      const weight = this.#all.weight(place);
      if (Number(weight) < least) continue;
      groups.push({ label: place - 1, count: this.#counts[place]!, weight, samples: this.#all.samples(place), self: this.#outermost.weight(place) });
    }
    for (const place of touched) this.#clear(place);
    const byWeight = (a: Group, b: Group): number => compareExact(b.weight, a.weight) || compareExact(b.samples, a.samples);
    return groups.sort((a, b) => byWeight(a, b) || this.#order(a.label, b.label));
  }

  /** The samples of a box that come from each of some callers. */
  endsOf({ knots, nodes, depth }: Open, groups: readonly Group[]): Ends[] {
    const { forest } = this.#weighed;
    const found = groups.map(({ count }) => ({ knots: new Int32Array(count), nodes: new Int32Array(count) }));
    // No counts are left of it, so this holds the places of groups, from 1.
    groups.forEach(({ label }, group) => (this.#counts[label + 1] = group + 1));
    const filled = new Int32Array(groups.length);
    for (let index = 0; index < knots.length; index += 1) {
      const at = depth === 0 ? nodes[index]! : forest.parent[nodes[index]!]!;
      const group = at === 0 ? -1 : this.#counts[forest.label[at]! + 1]! - 1;
      if (group < 0) continue;
      const place = filled[group]!++;
      found[group]!.knots[place] = knots[index]!;
      found[group]!.nodes[place] = at;
    }
    for (const { label } of groups) this.#counts[label + 1] = 0;
    return found;
  }

  #add({ knots, nodes, depth }: Open): number[] {
    const { parent, label } = this.#weighed.forest;
    const { own } = this.#weighed;
    const [counts, all, outermost] = [this.#counts, this.#all, this.#outermost];
    // Most sums have two planes, which are added up at once.
    const isPlain = own.planes.length === 2;
    const [weight, samples] = own.planes as [Float64Array, Float64Array];
    const [weights, numbers] = all.planes as [Float64Array, Float64Array];
    const touched: number[] = [];
    for (let index = 0; index < knots.length; index += 1) {
      // The nodes of the root are the leaves themselves.
      const at = depth === 0 ? nodes[index]! : parent[nodes[index]!]!;
      if (at === 0) continue;
      const [place, knot] = [label[at]! + 1, knots[index]!];
      if (counts[place] === 0) touched.push(place);
      counts[place]! += 1;
      if (isPlain) {
        weights[place]! += weight[knot]!;
        numbers[place]! += samples[knot]!;
      } else all.add(place, own, knot);
      if (parent[at] === 0) outermost.add(place, own, knot);
    }
    return touched;
  }

  #clear(place: number): void {
    this.#counts[place] = 0;
    for (const sums of [this.#all, this.#outermost]) for (const plane of sums.planes) plane[place] = 0;
  }
}
