// Sorts boxes by depth, then from left to right, so that binary search finds visible boxes and the box under the pointer.

/** An index of boxes. Boxes of one depth do not overlap, and are sorted by their start. */
export class Rows {
  /** By depth: the position of its first box in the rows, with one extra entry for the end. */
  readonly first: Int32Array;
  /** By position in the rows: the box, its start and its end. */
  readonly box: Int32Array;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly depths: number;
  readonly #depth: Int32Array;

  private constructor(first: Int32Array, box: Int32Array, start: Float64Array, end: Float64Array, depth: Int32Array) {
    this.depths = first.length - 1;
    this.first = first;
    this.box = box;
    this.start = start;
    this.end = end;
    this.#depth = depth;
  }

  static of(count: number, depth: Int32Array, start: Float64Array, width: Float64Array): Rows {
    let deepest = -1;
    for (let box = 0; box < count; box += 1) if (depth[box]! > deepest) deepest = depth[box]!;
    const first = new Int32Array(deepest + 2);
    for (let box = 0; box < count; box += 1) first[depth[box]! + 1]! += 1;
    for (let level = 0; level <= deepest; level += 1) first[level + 1]! += first[level]!;
    const next = first.slice();
    const [boxes, starts, ends] = [new Int32Array(count), new Float64Array(count), new Float64Array(count)];
    for (let box = 0; box < count; box += 1) {
      const place = next[depth[box]!]!++;
      boxes[place] = box;
      starts[place] = start[box]!;
      ends[place] = start[box]! + width[box]!;
    }
    return new Rows(first, boxes, starts, ends, depth);
  }

  /** The first position in part of a row whose box ends after a point. */
  after(point: number, from: number, to: number): number {
    const { end } = this;
    let [low, high] = [from, to];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (end[middle]! <= point) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Like `after`, but fast if the position is near: steps double until one is too far. */
  soonAfter(point: number, from: number, to: number): number {
    const { end } = this;
    let [low, step] = [from, 1];
    while (low + step < to && end[low + step]! <= point) {
      low += step;
      step *= 2;
    }
    return this.after(point, low, Math.min(to, low + step + 1));
  }

  /** The box of a depth that covers a point; -1 for none. */
  boxAt(depth: number, point: number): number {
    if (depth < 0 || depth >= this.depths) return -1;
    const [from, to] = [this.first[depth]!, this.first[depth + 1]!];
    const at = this.after(point, from, to);
    return at < to && this.start[at]! <= point ? this.box[at]! : -1;
  }

  /** The box above a box; -1 for the outermost. */
  parentOf(box: number): number {
    const depth = this.#depth[box]!;
    return this.boxAt(depth - 1, this.start[this.placeOf(box)]!);
  }

  /** The widest box directly below a box, or the leftmost of several equally wide boxes; -1 for none. */
  widestChild(box: number): number {
    const level = this.#depth[box]! + 1;
    if (level >= this.depths) return -1;
    const place = this.placeOf(box);
    const [begin, end] = [this.start[place]!, this.end[place]!];
    const to = this.first[level + 1]!;
    let [found, widest] = [-1, -1];
    for (let at = this.after(begin, this.first[level]!, to); at < to && this.start[at]! < end; at += 1) {
      const width = this.end[at]! - this.start[at]!;
      if (width > widest) [found, widest] = [this.box[at]!, width];
    }
    return found;
  }

  /** The next box of the same depth to the right (1) or left (-1); -1 at the end of the row. */
  neighbourOf(box: number, direction: 1 | -1): number {
    const level = this.#depth[box]!;
    const next = this.placeOf(box) + direction;
    return next < this.first[level]! || next >= this.first[level + 1]! ? -1 : this.box[next]!;
  }

  /** The position of a box: within a row, boxes are sorted by number. */
  placeOf(box: number): number {
    const level = this.#depth[box]!;
    let [low, high] = [this.first[level]!, this.first[level + 1]!];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.box[middle]! < box) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
