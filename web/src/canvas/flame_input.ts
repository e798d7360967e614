// Gestures on a flame graph or chart, translated into actions of the plot.

import { type GestureTarget, type Point, listenGestures } from './gestures.ts';

export interface FlameTarget extends GestureTarget {
  hover(x: number, y: number, clientX: number, clientY: number): void;
  leave(): void;
  click(x: number, y: number): void;
  doubleClick(x: number, y: number): void;
}

/** A shorter movement is a click. */
const SLIP = 4;

/** Listens until the returned function is called. */
export function listenFlame(canvas: HTMLCanvasElement, place: (event: MouseEvent) => Point, target: FlameTarget): () => void {
  const { on, stop } = listenGestures(canvas, place, target);
  const pointers = new Map<number, Point>();
  let [moved, isDragging] = [0, false];

  on('pointerdown', (event) => {
    if (event.button !== 0) return;
    if (pointers.size === 0) [moved, isDragging] = [0, false];
    pointers.set(event.pointerId, place(event));
    target.leave();
  });
  on('pointermove', (event) => {
    const before = pointers.get(event.pointerId);
    const { x, y } = place(event);
    if (before === undefined) {
      if (event.pointerType !== 'touch') target.hover(x, y, event.clientX, event.clientY);
      return;
    }
    moved += Math.abs(x - before.x) + Math.abs(y - before.y);
    if (!isDragging && moved < SLIP && pointers.size < 2) return;
    if (!isDragging) canvas.setPointerCapture(event.pointerId);
    isDragging = true;
    canvas.style.cursor = 'grabbing';
    if (pointers.size >= 2) pinch(event.pointerId, before, { x, y });
    else target.pan(before.x - x, before.y - y);
    pointers.set(event.pointerId, { x, y });
  });
  const pinch = (id: number, before: Point, now: Point): void => {
    const other = [...pointers].find(([other]) => other !== id)![1];
    const [was, is] = [Math.hypot(before.x - other.x, before.y - other.y), Math.hypot(now.x - other.x, now.y - other.y)];
    if (was > 0 && is > 0) target.zoom(was / is, (now.x + other.x) / 2);
  };
  const release = (event: PointerEvent): void => {
    if (!pointers.delete(event.pointerId)) return;
    canvas.style.cursor = '';
    if (!isDragging && event.type === 'pointerup') {
      const { x, y } = place(event);
      target.click(x, y);
    }
  };
  on('pointerup', release);
  on('pointercancel', release);
  on('pointerleave', () => target.leave());
  on('dblclick', (event) => {
    const { x, y } = place(event);
    target.doubleClick(x, y);
  });
  return stop;
}
