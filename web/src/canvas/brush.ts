// The state of a drag that selects time: where it began, and what it changes.

import { binNumber } from './amounts.ts';
import type { Range } from './types.ts';

export type Grip = 'start' | 'end' | 'move' | 'new';

/** The distance in pixels within which a press grabs an edge, for a mouse and for a finger. */
const [NEAR, FINGER] = [7, 24];

/** What a press grabs. `scale` is pixels per length of time; without `canMove`, a press inside draws a new range. */
export function gripAt(brush: Range | null, time: number, scale: number, canMove: boolean, isTouch = false): Grip {
  if (brush === null) return 'new';
  const [start, end] = [Math.abs(time - brush.start) * scale, Math.abs(time - brush.end) * scale];
  const isInside = canMove && time > brush.start && time < brush.end;
  const near = isTouch ? FINGER : NEAR;
  // A short brush keeps a part between its edges by which it can be moved.
  const reach = isInside ? Math.min(near, (start + end) / 3) : near;
  if (Math.min(start, end) <= reach) return start < end || (start === end && time < brush.start) ? 'start' : 'end';
  return isInside ? 'move' : 'new';
}

/** The times that a pointer can reach at this many nanoseconds per pixel: round times, about a pixel apart. */
export function snapTo(perPixel: number): (time: number) => number {
  const step = binNumber(perPixel / 2);
  return (time) => Math.round(time / step) * step;
}

/**
 * The brush after a drag from one time to another, within the range. Dragging an edge past the other swaps them. Only dragged
 * times are snapped.
 */
export function dragged(grip: Grip, before: Range | null, from: number, to: number, range: Range, snap = (time: number): number => time): Range {
  if (grip === 'new' || before === null) return ordered(snap(from), snap(to), range);
  const by = to - from;
  if (grip === 'move') return moved(before, snap(before.start + by) - before.start, range);
  return grip === 'start' ? ordered(snap(before.start + by), before.end, range) : ordered(before.start, snap(before.end + by), range);
}

/** Moves the brush without changing its length; it stops at the ends of the range. */
export function moved({ start, end }: Range, by: number, range: Range): Range {
  const length = Math.min(end - start, range.end - range.start);
  const at = Math.max(range.start, Math.min(start + by, range.end - length));
  return { start: at, end: at + length };
}

/** The end moved, but not over the start. */
export function resized({ start, end }: Range, by: number, least: number, range: Range): Range {
  return { start, end: Math.min(range.end, Math.max(start + least, end + by)) };
}

/** Whole nanoseconds, the precision of a selection. */
export function rounded({ start, end }: Range): Range {
  const first = Math.round(start);
  return { start: first, end: Math.max(first + 1, Math.round(end)) };
}

function ordered(a: number, b: number, range: Range): Range {
  const within = (time: number): number => Math.max(range.start, Math.min(time, range.end));
  return { start: within(Math.min(a, b)), end: within(Math.max(a, b)) };
}
