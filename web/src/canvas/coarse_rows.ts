// Rows with fewer and fewer boxes, for frames that show so many that memory alone would take too long. Each is made when it is first seen.

import type { Rows } from './rows.ts';

/** Fewer boxes are as fast without. */
const MANY = 1 << 15;
/** Cells of the whole range, from the most on: a fourth each time. */
const [MOST, LEVELS] = [1 << 20, 5];

export class CoarseRows {
  readonly #rows: Rows;
  readonly #length: number;
  /** From the finest on; those that are not made yet are missing. */
  readonly #made: Rows[] = [];

  constructor(rows: Rows, length: number) {
    this.#rows = rows;
    this.#length = length;
  }

  /** The rows with the widest cells that are half a pixel at most, so that boxes are merged only where they are one pixel anyway. */
  for(pixel: number): Rows {
    if (this.#rows.box.length < MANY) return this.#rows;
    let level = LEVELS - 1;
    while (level >= 0 && this.#cell(level) > pixel / 2) level -= 1;
    if (level < 0) return this.#rows;
    this.#made[level] ??= this.#finer(level).merged(this.#cell(level));
    return this.#made[level]!;
  }

  #cell(level: number): number {
    return (this.#length / MOST) * 4 ** level;
  }

  /** The coarsest rows that are finer, and made. */
  #finer(level: number): Rows {
    for (let finer = level - 1; finer >= 0; finer -= 1) if (this.#made[finer] !== undefined) return this.#made[finer]!;
    return this.#rows;
  }
}
