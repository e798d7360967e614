// Boxes by depth, and within a depth from left to right: what is visible and what is under the pointer are found by halving.

/** An index of boxes. Those of one depth do not overlap, and come in the order in which they begin. */
export class Rows {
  /** By depth: where its boxes begin in `order`; one more than there are depths. */
  readonly first: Int32Array;
  readonly order: Int32Array;
  readonly depths: number;

  constructor(count: number, depth: Int32Array) {
    let deepest = -1;
    for (let box = 0; box < count; box += 1) if (depth[box]! > deepest) deepest = depth[box]!;
    this.depths = deepest + 1;
    this.first = new Int32Array(this.depths + 1);
    for (let box = 0; box < count; box += 1) this.first[depth[box]! + 1]! += 1;
    for (let level = 0; level < this.depths; level += 1) this.first[level + 1]! += this.first[level]!;
    const next = this.first.slice();
    this.order = new Int32Array(count);
    for (let box = 0; box < count; box += 1) this.order[next[depth[box]!]!++] = box;
  }
}

/** Boxes with their places, as models have them. */
export interface Placed {
  readonly rows: Rows;
  readonly start: Float64Array;
  readonly width: Float64Array;
}

/** The place in `order`, between two, of the first box that ends behind a place. */
export function firstEndingAfter({ rows, start, width }: Placed, place: number, from: number, to: number): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const box = rows.order[middle]!;
    if (start[box]! + width[box]! <= place) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The box of a depth that covers a place; -1 for none. */
export function boxAt(placed: Placed, depth: number, place: number): number {
  const { rows, start } = placed;
  if (depth < 0 || depth >= rows.depths) return -1;
  const [from, to] = [rows.first[depth]!, rows.first[depth + 1]!];
  const at = firstEndingAfter(placed, place, from, to);
  if (at >= to) return -1;
  const box = rows.order[at]!;
  return start[box]! <= place ? box : -1;
}

/**
 * The box above one; -1 of the outermost. A span's caller covers where the span begins, which holds for spans that weigh nothing, too.
 */
export function parentOf(placed: Placed, depth: Int32Array, box: number): number {
  return boxAt(placed, depth[box]! - 1, placed.start[box]!);
}

/** The widest box right below one, the leftmost of equals; -1 without. */
export function widestChild(placed: Placed, depth: Int32Array, box: number): number {
  const { rows, start, width } = placed;
  const level = depth[box]! + 1;
  if (level >= rows.depths) return -1;
  const end = start[box]! + width[box]!;
  let found = -1;
  for (let at = firstEndingAfter(placed, start[box]!, rows.first[level]!, rows.first[level + 1]!); at < rows.first[level + 1]!; at += 1) {
    const child = rows.order[at]!;
    if (start[child]! >= end) break;
    if (found < 0 || width[child]! > width[found]!) found = child;
  }
  return found;
}

/** The next box of the same depth to the right (1) or left (-1); -1 at the end of the row. */
export function neighbourOf({ rows, start, width }: Placed, depth: Int32Array, box: number, direction: 1 | -1): number {
  const level = depth[box]!;
  const [from, to] = [rows.first[level]!, rows.first[level + 1]!];
  let at = firstEndingAfter({ rows, start, width }, start[box]!, from, to);
  while (at < to && rows.order[at] !== box) at += 1;
  const next = at + direction;
  return next < from || next >= to ? -1 : rows.order[next]!;
}
