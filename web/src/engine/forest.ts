// Stacks merged by their common callers: the shape of call trees, without weights.
//
// The shape depends only on operations, so it is made once for each list of operations; a selection adds weights to it. Most nodes have one
// child and no self weight, so they have the weight of their child. Only *knots* are added up: nodes where samples end or paths split. Each
// other node belongs to the knot below it.

import { Sums, scatter } from './exact.ts';
import { REMOVED } from './operate.ts';
import { NO_STACK, ROOT } from './order.ts';
import { PairTable } from './pair_table.ts';
import type { Stacks } from './profile.ts';

/** Nodes in preorder: a node, then its children with all below them. Node 0 is the root, and knot 0 its own. */
export interface Forest {
  readonly count: number;
  readonly parent: Int32Array;
  /** By node: a function, or a frame; or `ROOT`, or `NO_STACK`. */
  readonly label: Int32Array;
  /** By node: the levels below the root. */
  readonly depth: Int32Array;
  /** For each node: the node after the last one below it. */
  readonly end: Int32Array;
  readonly knotOf: Int32Array;
  /** By knot: its node. */
  readonly knotNode: Int32Array;
  /** By knot: the knot above it; -1 of the root's. */
  readonly knotParent: Int32Array;
  /** For each used stack: the node where its samples end; -1 if they are removed. */
  readonly nodeOf: Int32Array;
  /** By used stack: the knot of that node. */
  readonly knotOfStack: Int32Array;
}

/** The children of a node, in no particular order. */
export function childrenOf(forest: Forest, node: number): number[] {
  const found = [];
  for (let child = node + 1; child < forest.end[node]!; child = forest.end[child]!) found.push(child);
  return found;
}

/** The forest of these stacks, whose frames with one label are one node below one parent. */
export function growForest(stacks: Stacks, stackOf: Int32Array, labelOfFrame: ((frame: number) => number) | null): Forest {
  const draft = new Draft();
  const node = neededStacks(stacks, stackOf);
  for (let stack = 0; stack < stacks.count; stack += 1) {
    if (node[stack] === 0) continue;
    const parent = stacks.parent[stack]!;
    const frame = stacks.frame[stack]!;
    node[stack] = draft.child(parent < 0 ? 0 : node[parent]!, labelOfFrame === null ? frame : labelOfFrame(frame));
  }
  const noStack = draft.child(0, NO_STACK);
  const nodeOf = stackOf.map((stack) => (stack === REMOVED ? -1 : stack < 0 ? noStack : node[stack]!));
  return arrange(draft, nodeOf);
}

/** By stack: 1 if samples end in it, or below it. */
function neededStacks(stacks: Stacks, stackOf: Int32Array): Int32Array {
  const needed = new Int32Array(stacks.count);
  for (const stack of stackOf) {
    for (let id = stack; id >= 0 && needed[id] === 0; id = stacks.parent[id]!) needed[id] = 1;
  }
  return needed;
}

/** Nodes during construction. */
class Draft {
  parent = new Int32Array(1 << 12);
  label = new Int32Array(1 << 12);
  count = 1;
  /** Children that do not directly follow their parent, by parent and label. */
  readonly #pairs = new PairTable();
  #nodeOfPair = new Int32Array(1 << 12);

  constructor() {
    this.parent[0] = -1;
    this.label[0] = ROOT;
  }

  /** The child of a node with a label; created if missing. */
  child(parent: number, label: number): number {
    const next = parent + 1;
    // The newest node has no children, and the first child directly follows its parent.
    if (next === this.count) return this.#add(parent, label);
    if (this.parent[next] === parent && this.label[next] === label) return next;
    const known = this.#pairs.count;
    const pair = this.#pairs.add(parent, label);
    if (pair < known) return this.#nodeOfPair[pair]!;
    if (pair === this.#nodeOfPair.length) this.#nodeOfPair = doubled(this.#nodeOfPair);
    const node = this.#add(parent, label);
    this.#nodeOfPair[pair] = node;
    return node;
  }

  #add(parent: number, label: number): number {
    const node = this.count++;
    if (node === this.parent.length) {
      this.parent = doubled(this.parent);
      this.label = doubled(this.label);
    }
    this.parent[node] = parent;
    this.label[node] = label;
    return node;
  }
}

function doubled(numbers: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * numbers.length);
  larger.set(numbers);
  return larger;
}

/** Puts the nodes in preorder, and ties the knots. `nodeOf` is renumbered in place. */
function arrange(draft: Draft, nodeOf: Int32Array): Forest {
  const { count } = draft;
  const place = preorder(draft);
  const parent = new Int32Array(count);
  const label = new Int32Array(count);
  const depth = new Int32Array(count);
  for (let node = 0; node < count; node += 1) {
    const at = place[node]!;
    const above = draft.parent[node]!;
    parent[at] = above < 0 ? -1 : place[above]!;
    label[at] = draft.label[node]!;
  }
  const end = new Int32Array(count);
  const children = new Int32Array(count);
  for (let node = 1; node < count; node += 1) {
    depth[node] = depth[parent[node]!]! + 1;
    children[parent[node]!]! += 1;
  }
  for (let node = count - 1; node >= 0; node -= 1) {
    if (end[node] === 0) end[node] = node + 1;
    const above = parent[node]!;
    if (above >= 0 && end[above] === 0) end[above] = end[node]!;
  }
  for (let index = 0; index < nodeOf.length; index += 1) {
    if (nodeOf[index]! >= 0) nodeOf[index] = place[nodeOf[index]!]!;
  }
  const knots = tieKnots(parent, children, nodeOf);
  return { count, parent, label, depth, end, nodeOf, ...knots, knotOfStack: knotsOfStacks(knots.knotOf, nodeOf) };
}

function knotsOfStacks(knotOf: Int32Array, nodeOf: Int32Array): Int32Array {
  return nodeOf.map((node) => (node < 0 ? -1 : knotOf[node]!));
}

/** The same forest without the samples of stacks that are removed, whose nodes stay and weigh nothing. */
export function withoutStacks(forest: Forest, stackOf: Int32Array): Forest {
  const nodeOf = forest.nodeOf.map((node, place) => (stackOf[place] === REMOVED ? -1 : node));
  return { ...forest, nodeOf, knotOfStack: knotsOfStacks(forest.knotOf, nodeOf) };
}

/** By node of a draft: its place in preorder. Children stay in the order in which they were made. */
function preorder(draft: Draft): Int32Array {
  const { count, parent } = draft;
  // The sizes of subtrees determine the positions: a parent is created before its children.
  const size = new Int32Array(count).fill(1);
  for (let node = count - 1; node > 0; node -= 1) size[parent[node]!]! += size[node]!;
  const place = new Int32Array(count);
  const next = new Int32Array(count);
  next[0] = 1;
  for (let node = 1; node < count; node += 1) {
    const above = parent[node]!;
    const at = next[above]!;
    place[node] = at;
    next[above] = at + size[node]!;
    next[node] = at + 1;
  }
  return place;
}

function tieKnots(
  parent: Int32Array,
  children: Int32Array,
  nodeOf: Int32Array,
): Pick<Forest, 'knotOf' | 'knotNode' | 'knotParent'> {
  const count = parent.length;
  const isKnot = new Uint8Array(count);
  isKnot[0] = 1;
  for (let node = 0; node < count; node += 1) if (children[node] !== 1) isKnot[node] = 1;
  for (const node of nodeOf) if (node >= 0) isKnot[node] = 1;
  const knotOf = new Int32Array(count);
  let knots = 0;
  for (let node = 0; node < count; node += 1) if (isKnot[node] === 1) knotOf[node] = knots++;
  const knotNode = new Int32Array(knots);
  const knotParent = new Int32Array(knots).fill(-1);
  for (let node = count - 1; node >= 0; node -= 1) {
    if (isKnot[node] === 1) knotNode[knotOf[node]!] = node;
    else knotOf[node] = knotOf[node + 1]!;
  }
  for (let node = 1; node < count; node += 1) {
    const above = parent[node]!;
    if (isKnot[above] === 1) knotParent[knotOf[node]!] = knotOf[above]!;
  }
  return { knotOf, knotNode, knotParent };
}

/** The weights of a forest. */
export interface Weighed {
  readonly forest: Forest;
  /** By knot: the samples that end in its node. */
  readonly own: Sums;
  /** By knot: these, and all below; so do all nodes that belong to the knot weigh. */
  readonly all: Sums;
}

/** Adds up samples, by used stack, from the leaves to the root. */
export function weigh(forest: Forest, byStack: Sums): Weighed {
  const knots = forest.knotNode.length;
  const own = new Sums(byStack.shape, knots);
  const all = new Sums(byStack.shape, knots);
  scatter(byStack, own, null, forest.knotOfStack);
  own.planes.forEach((mine, plane) => all.planes[plane]!.set(mine));
  addUpwards(all, forest.knotParent);
  return { forest, own, all };
}

/** Adds each knot to the one above it, starting with the last. Most sums have two planes, which are added together. */
function addUpwards({ planes }: Sums, parent: Int32Array): void {
  if (planes.length !== 2) {
    for (const sum of planes) for (let knot = parent.length - 1; knot > 0; knot -= 1) sum[parent[knot]!]! += sum[knot]!;
    return;
  }
  const [weights, counts] = planes as [Float64Array, Float64Array];
  for (let knot = parent.length - 1; knot > 0; knot -= 1) {
    const above = parent[knot]!;
    weights[above]! += weights[knot]!;
    counts[above]! += counts[knot]!;
  }
}

/** The knot with a node's self weight; -1 if no samples end in it. */
export function ownKnot(forest: Forest, node: number): number {
  const knot = forest.knotOf[node]!;
  return forest.knotNode[knot] === node ? knot : -1;
}
