// Rows with fewer and fewer boxes, for frames that show so many that memory alone would take too long. They are made one by one while the
// page rests; until then frames draw finer rows.

import type { Rows } from './rows.ts';

/** Fewer boxes are as fast without. */
const MANY = 1 << 15;
/** The fewest cells of the whole range. */
const FEWEST = 1 << 12;
/** Between two of them the page answers. */
const REST = 60;

export class CoarseRows {
  readonly #rows: Rows;
  /** The width of the finest cells, about one for each box of a row; cells of each level are four times as wide. */
  readonly #finest: number;
  readonly #levels: number;
  /** From the finest on, as far as they are made. */
  readonly #made: Rows[] = [];

  constructor(rows: Rows, length: number) {
    this.#rows = rows;
    const boxes = rows.box.length / Math.max(1, rows.depths);
    this.#levels = 1 + Math.max(0, Math.floor(Math.log2(boxes / FEWEST) / 2));
    this.#finest = length / (FEWEST * 4 ** (this.#levels - 1));
    if (rows.box.length >= MANY) this.#later();
  }

  /** The rows with the widest cells of at most half a pixel, so that only boxes in the same pixel are merged. */
  for(pixel: number): Rows {
    let level = this.#made.length - 1;
    while (level >= 0 && this.#cell(level) > pixel / 2) level -= 1;
    return this.#made[level] ?? this.#rows;
  }

  #later(): void {
    setTimeout(() => {
      this.#made.push((this.#made.at(-1) ?? this.#rows).merged(this.#cell(this.#made.length)));
      if (this.#made.length < this.#levels) this.#later();
    }, REST);
  }

  #cell(level: number): number {
    return this.#finest * 4 ** level;
  }
}
