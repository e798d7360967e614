// The visible part of a range and of a height, and the animation from one view to another.

import type { Range } from './types.ts';

interface Sight {
  readonly from: number;
  readonly to: number;
  readonly scroll: number;
}

const DURATION = 180;

export class Camera {
  from = 0;
  to = 1;
  scroll = 0;
  /** The complete range, and the height through which it scrolls. */
  range: Range = { start: 0, end: 1 };
  most = 0;
  /** Less than this is never shown. */
  least = 1;
  #goal: Sight | null = null;
  #origin: Sight = { from: 0, to: 1, scroll: 0 };
  #start = -1;

  get length(): number {
    return this.to - this.from;
  }

  get isWhole(): boolean {
    const { from, to } = this.goal;
    return from <= this.range.start && to >= this.range.end;
  }

  /** The current sight, or the target of the animation. */
  get goal(): Sight {
    return this.#goal ?? { from: this.from, to: this.to, scroll: this.scroll };
  }

  /** Moves to a sight, immediately or gradually. */
  go(sight: Partial<Sight>, isSmooth: boolean): void {
    const goal = this.#clamped({ ...this.goal, ...sight });
    if (isSmooth) {
      this.#origin = { from: this.from, to: this.to, scroll: this.scroll };
      this.#goal = goal;
      this.#start = -1;
      return;
    }
    this.#goal = null;
    Object.assign(this, goal);
  }

  /** Advances the animation; true until it is finished. */
  step(time: number): boolean {
    if (this.#goal === null) return false;
    if (this.#start < 0) this.#start = time;
    const share = Math.min(1, (time - this.#start) / DURATION);
    const eased = 1 - (1 - share) ** 3;
    const between = (a: number, b: number): number => a + (b - a) * eased;
    this.from = between(this.#origin.from, this.#goal.from);
    this.to = between(this.#origin.to, this.#goal.to);
    this.scroll = between(this.#origin.scroll, this.#goal.scroll);
    if (share < 1) return true;
    Object.assign(this, this.#goal);
    this.#goal = null;
    return false;
  }

  /** The view zoomed by a factor around a fixed place. */
  zoomed(factor: number, place: number): Partial<Sight> {
    const { from, to } = this.goal;
    const length = Math.min(this.range.end - this.range.start, Math.max(this.least, (to - from) * factor));
    const share = (place - from) / (to - from);
    const start = place - share * length;
    return { from: start, to: start + length };
  }

  #clamped(sight: Sight): Sight {
    const { start, end } = this.range;
    const length = Math.min(end - start, Math.max(sight.to - sight.from, Math.min(this.least, end - start)));
    const from = Math.max(start, Math.min(sight.from, end - length));
    return { from, to: from + length, scroll: Math.max(0, Math.min(sight.scroll, this.most)) };
  }
}
