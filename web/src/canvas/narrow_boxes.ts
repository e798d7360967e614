// Boxes of one row that are narrower than a pixel: each column of pixels is filled from the bottom in proportion to their share of it, so a
// thread that ran for a tenth of the time fills a tenth of the height.

import { CHANGES, MATCH } from './flame_fills.ts';
import type { Numbers } from './numbers.ts';
import { SHADES } from './theme.ts';

export class NarrowBoxes {
  /** By column: the covered part, the largest part of one box, and the fill of that box. */
  #covered = new Float32Array(0);
  #largest = new Float32Array(0);
  #fill = new Uint8Array(0);
  /** The columns with narrow boxes. */
  #first = 0;
  #last = -1;

  /** Begins a row of this many columns. */
  start(width: number): void {
    const count = Math.ceil(width) + 1;
    if (this.#covered.length < count) {
      this.#covered = new Float32Array(count);
      this.#largest = new Float32Array(count);
      this.#fill = new Uint8Array(count);
    }
    this.#covered.fill(0);
    this.#largest.fill(-1);
    [this.#first, this.#last] = [this.#covered.length, -1];
  }

  /** Adds a box from one place to another that covers this share of a column. */
  add(begin: number, end: number, covered: number, fill: number): void {
    const to = Math.min(this.#covered.length - 1, Math.max(Math.floor(begin), Math.ceil(end) - 1));
    for (let column = Math.max(0, Math.floor(begin)); column <= to; column += 1) {
      const share = end > begin ? (Math.min(end, column + 1) - Math.max(begin, column)) / (end - begin) : 1;
      const part = covered * share;
      this.#covered[column]! += part;
      this.#first = Math.min(this.#first, column);
      this.#last = Math.max(this.#last, column);
      // Matches of a search stay visible.
      const rank = fill === MATCH ? Infinity : part;
      if (rank <= this.#largest[column]!) continue;
      this.#largest[column] = rank;
      this.#fill[column] = fill;
    }
  }

  /** Adds the parts of columns that a wider box covers at its ends. */
  addEdges(begin: number, end: number): void {
    const [left, right] = [Math.floor(begin), Math.floor(end)];
    if (left >= 0) this.#covered[left]! += left + 1 - begin;
    if (right < this.#covered.length) this.#covered[right]! += end - right;
  }

  /** Adds the columns of narrow boxes to the rectangles of their fills. */
  finish(rects: readonly Numbers[], top: number, height: number, ratio: number): void {
    const pixel = 1 / ratio;
    for (let column = this.#first; column <= this.#last; column += 1) {
      if (this.#largest[column]! < 0) continue;
      const fill = this.#fill[column]!;
      const high = Math.max(1, Math.round(Math.min(1, this.#covered[column]!) * height * ratio)) / ratio;
      // Different shades of single pixels would flicker. With one shade for each kind, neighbouring pixels also form longer rectangles.
      rects[fill < CHANGES ? fill - (fill % SHADES) : fill]!.pushColumn(column * pixel, top + height - high, pixel, high);
    }
  }
}
