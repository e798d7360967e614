// Call trees: over everything, or of each thread, process, state or kind of core.

import { type Exact, type Sums, compareExact } from '../exact.ts';
import { type Weighed, childrenOf, ownKnot } from '../forest.ts';
import { labelOrder } from '../order.ts';
import type { Profile } from '../profile.ts';
import { compareTexts } from '../text.ts';
import type { Amount, View } from '../view.ts';

/** A node of a tree. `label` is a function, or `ROOT`, or `NO_STACK`. */
export interface TreeNode {
  readonly node: number;
  readonly label: number;
  readonly depth: number;
  readonly self_weight: Exact;
  readonly all_weight: Exact;
  readonly self_samples: Exact;
  readonly samples: Exact;
}

/** A tree whose nodes are made when they are looked at. */
export class CallTree {
  readonly weighed: Weighed;
  readonly #order: (a: number, b: number) => number;

  constructor(profile: Profile, weighed: Weighed) {
    this.weighed = weighed;
    this.#order = labelOrder(profile);
  }

  get root(): TreeNode {
    return this.at(0);
  }

  at(node: number): TreeNode {
    const { forest, own, all } = this.weighed;
    const knot = forest.knotOf[node]!;
    const mine = ownKnot(forest, node);
    return {
      node,
      label: forest.label[node]!,
      depth: forest.depth[node]!,
      self_weight: mine < 0 ? 0 : own.weight(mine),
      all_weight: all.weight(knot),
      self_samples: mine < 0 ? 0 : own.samples(mine),
      samples: all.samples(knot),
    };
  }

  /** The children that samples pass through, heaviest first. */
  children(node: number): TreeNode[] {
    const { forest, all } = this.weighed;
    const counted = childrenOf(forest, node).filter((child) => all.isCounted(forest.knotOf[child]!));
    return counted.map((child) => this.at(child)).sort((a, b) => this.#compare(a, b));
  }

  /** From the node below the root down, always the heaviest child. */
  heaviest(): TreeNode[] {
    const path: TreeNode[] = [];
    for (let next = this.children(0)[0]; next !== undefined; next = this.children(next.node)[0]) path.push(next);
    return path;
  }

  #compare(a: TreeNode, b: TreeNode): number {
    const byWeight = compareExact(b.all_weight, a.all_weight) || compareExact(b.samples, a.samples);
    return byWeight || this.#order(a.label, b.label);
  }
}

export type SeparateBy = 'thread' | 'process' | 'state' | 'core-kind' | 'none';

/** An item with a separate tree or time line. */
export interface Part extends Amount {
  /** The index of the thread, process or state; for kinds of core, one core of this kind. -1 means not recorded, or everything. */
  readonly id: number;
  readonly name: string | null;
}

/** The parts of a series, heaviest first. The command counts all states where it separates by state, which a selection has to say. */
export function parts(view: View, series: number, by: SeparateBy): Part[] {
  const rows = view.counted(series);
  const sums = view.sumRows(rows, partCount(view.profile, by), partOf(view.profile, by));
  return sortParts(partsOf(view.profile, sums, by));
}

/** The call tree of a part. */
export function treeOfPart(view: View, series: number, by: SeparateBy, part: Part): CallTree {
  if (by === 'none') return new CallTree(view.profile, view.byFunction(series));
  const of = partOf(view.profile, by);
  const rows = view.counted(series);
  const key = by === 'state' || by === 'core-kind' ? part.id + 1 : part.id;
  return new CallTree(view.profile, view.treeOf(rows.filter((row) => of(row) === key)));
}

/** The number of keys that rows may have. */
export function partCount(profile: Profile, by: SeparateBy): number {
  switch (by) {
    case 'thread':
      return profile.threads.length;
    case 'process':
      return profile.processes.length;
    case 'state':
      return profile.states.length + 1;
    case 'core-kind':
      return profile.cores.length + 1;
    case 'none':
      return 1;
  }
}

/** The part of a row; states and kinds of core are one higher, since a sample may have none. */
export function partOf(profile: Profile, by: SeparateBy): (row: number) => number {
  const { thread, state, core } = profile.samples;
  switch (by) {
    case 'thread':
      return (row) => thread[row]!;
    case 'process': {
      const ofThread = profile.threads.map(({ process }) => process);
      return (row) => ofThread[thread[row]!]!;
    }
    case 'state':
      return (row) => state[row]! + 1;
    case 'core-kind': {
      const kinds = firstOfKind(profile);
      return (row) => kinds[core[row]! + 1]!;
    }
    case 'none':
      return () => 0;
  }
}

/** For each core, plus one: the first core of its kind, plus one; 0 if no kind was recorded. */
function firstOfKind(profile: Profile): number[] {
  const first = ({ kind }: { kind: string | null }): number =>
    kind === null ? 0 : profile.cores.findIndex((core) => core.kind === kind) + 1;
  return [0, ...profile.cores.map(first)];
}

function partsOf(profile: Profile, sums: Sums, by: SeparateBy): Part[] {
  const found: Part[] = [];
  for (let key = 0; key < sums.size; key += 1) {
    if (!sums.isCounted(key)) continue;
    const id = by === 'state' || by === 'core-kind' ? key - 1 : by === 'none' ? -1 : key;
    found.push({ id, name: nameOfPart(profile, by, id), weight: sums.weight(key), samples: sums.samples(key) });
  }
  return found;
}

export function nameOfPart(profile: Profile, by: SeparateBy, id: number): string | null {
  switch (by) {
    case 'thread':
      return profile.threads[id]!.name;
    case 'process':
      return profile.processes[id]!.name;
    case 'state':
      return profile.states[id] ?? null;
    case 'core-kind':
      return profile.cores[id]?.kind ?? null;
    case 'none':
      return null;
  }
}

/** Heaviest first; then by name, then in order of first sight. */
export function sortParts<T extends Part>(found: T[]): T[] {
  return found.sort((a, b) => {
    const byWeight = compareExact(b.weight, a.weight) || compareExact(b.samples, a.samples);
    return byWeight || compareTexts(a.name ?? '', b.name ?? '') || a.id - b.id;
  });
}
