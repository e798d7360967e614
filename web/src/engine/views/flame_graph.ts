// Left heavy flame graphs: boxes to draw, of all nodes that are wide enough to be seen.

import type { Weighed } from '../forest.ts';
import { childrenOf } from '../forest.ts';
import { labelOrder } from '../order.ts';
import type { Profile } from '../profile.ts';

/** Boxes, a node before its children. Places and widths are weights as doubles: places on a screen. */
export interface Boxes {
  readonly count: number;
  readonly node: Int32Array;
  readonly depth: Int32Array;
  readonly start: Float64Array;
  readonly width: Float64Array;
}

/** The part to draw: boxes below `root` that weigh at least `least`, between two positions. */
export interface Frame {
  readonly root?: number;
  readonly least: number;
  readonly from?: number;
  readonly to?: number;
}

/** The boxes of a tree. The heaviest child is first; children that are too light to be seen leave a gap at the end. */
export function flameGraph(profile: Profile, weighed: Weighed, frame: Frame): Boxes {
  return boxesOf(weighed, frame, labelOrder(profile));
}

/** The same of a tree whose labels have this order. */
export function boxesOf({ forest, all }: Weighed, frame: Frame, order: (a: number, b: number) => number): Boxes {
  const { root = 0, least, from = 0, to = Infinity } = frame;
  const weight = (node: number): number => Number(all.weight(forest.knotOf[node]!));
  const samples = (node: number): number => Number(all.samples(forest.knotOf[node]!));
  const [node, start, width]: [number[], number[], number[]] = [[], [], []];
  const open: [number, number][] = [[root, 0]];
  while (open.length > 0) {
    const [at, place] = open.pop()!;
    node.push(at);
    start.push(place);
    width.push(weight(at));
    const seen = childrenOf(forest, at).filter((child) => all.isCounted(forest.knotOf[child]!) && weight(child) >= least);
    seen.sort((a, b) => weight(b) - weight(a) || samples(b) - samples(a) || order(forest.label[a]!, forest.label[b]!));
    const below: [number, number][] = [];
    let next = place;
    for (const child of seen) {
      const end = next + weight(child);
      if (end >= from && next <= to) below.push([child, next]);
      next = end;
    }
    open.push(...below.reverse());
  }
  const depth = Int32Array.from(node, (at) => forest.depth[at]! - forest.depth[root]!);
  return { count: node.length, node: Int32Array.from(node), depth, start: Float64Array.from(start), width: Float64Array.from(width) };
}
