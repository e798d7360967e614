// Interned stacks: each distinct pair of a parent and a frame.

import { PairTable } from './pair_table.ts';
import type { Stacks } from './profile.ts';

/** Grows as stacks are added. Stacks that come after each other share much of their paths, which needs no look-up. */
export class StackTable {
  readonly #pairs = new PairTable();
  #lastFrames = new Int32Array(0);
  #lastIds = new Int32Array(0);
  #lastLength = 0;

  /** The stack of a path, root first; -1 of an empty one. */
  add(path: Int32Array, length: number): number {
    if (this.#lastFrames.length < length) this.#grow(length * 2);
    const [frames, ids] = [this.#lastFrames, this.#lastIds];
    const most = Math.min(length, this.#lastLength);
    let at = 0;
    while (at < most && frames[at] === path[at]) at += 1;
    let id = at === 0 ? -1 : ids[at - 1]!;
    for (; at < length; at += 1) {
      const frame = path[at]!;
      id = this.#pairs.add(id, frame);
      frames[at] = frame;
      ids[at] = id;
    }
    this.#lastLength = length;
    return id;
  }

  finish(): Stacks {
    const { count, first, second } = this.#pairs.finish();
    return { count, parent: first, frame: second };
  }

  #grow(length: number): void {
    this.#lastFrames = grown(this.#lastFrames, length);
    this.#lastIds = grown(this.#lastIds, length);
  }
}

/** The same numbers in a longer array. */
export function grown(numbers: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(length);
  larger.set(numbers);
  return larger;
}
