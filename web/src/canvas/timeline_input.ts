// Gestures on the timeline.

import { type GestureTarget, type Point, listenGestures } from './gestures.ts';

/** A place on it: a track, the overview (-1) or the axis (-2); in the margin, or in the plot at a time. */
export interface Spot extends Point {
  readonly track: number;
  readonly isMargin: boolean;
  readonly time: number;
  /** The spot of a finger, which is less exact. */
  readonly isTouch: boolean;
}

export interface TimelineTarget extends Pick<GestureTarget, 'pan' | 'zoom'> {
  spot(x: number, y: number, isTouch?: boolean): Spot;
  hover(spot: Spot, clientX: number, clientY: number): void;
  leave(): void;
  cursor(spot: Spot): string;
  /** A drag in the plot: start, move and end. */
  press(spot: Spot): void;
  drag(spot: Spot): void;
  drop(): void;
  cancel(): void;
  click(spot: Spot, isAdditive: boolean): void;
  doubleClick(spot: Spot): void;
  menu(spot: Spot, clientX: number, clientY: number): void;
}

/** A shorter movement is a click. */
const SLIP = 3;

type Hold = 'none' | 'press' | 'brush' | 'scroll' | 'pinch';

/** Listens until the returned function is called. */
export function listenTimeline(canvas: HTMLCanvasElement, place: (event: MouseEvent) => Point, target: TimelineTarget): () => void {
  const { on, stop } = listenGestures(canvas, place, {
    pan: target.pan,
    zoom: target.zoom,
    menu: (x, y, clientX, clientY) => target.menu(target.spot(x, y), clientX, clientY),
  });
  const pointers = new Map<number, Point>();
  let hold: Hold = 'none';
  let origin = { x: 0, y: 0 };

  on('pointerdown', (event) => {
    if (event.button !== 0) return;
    pointers.set(event.pointerId, place(event));
    target.leave();
    if (pointers.size > 1) {
      if (hold === 'brush') target.cancel();
      hold = 'pinch';
      return;
    }
    hold = 'press';
    origin = place(event);
  });
  on('pointermove', (event) => {
    const now = place(event);
    const before = pointers.get(event.pointerId);
    if (before === undefined) {
      if (event.pointerType === 'touch') return;
      const spot = target.spot(now.x, now.y);
      canvas.style.cursor = target.cursor(spot);
      target.hover(spot, event.clientX, event.clientY);
      return;
    }
    if (hold === 'press') hold = begin(event, now);
    if (hold === 'brush') target.drag(target.spot(now.x, now.y));
    else if (hold === 'scroll') target.pan(0, before.y - now.y);
    else if (hold === 'pinch') pinch(event.pointerId, before, now);
    pointers.set(event.pointerId, now);
  });
  /** A horizontal drag selects time; with a finger, a vertical drag scrolls. */
  const begin = (event: PointerEvent, now: Point): Hold => {
    const [across, down] = [Math.abs(now.x - origin.x), Math.abs(now.y - origin.y)];
    if (Math.max(across, down) < SLIP) return 'press';
    canvas.setPointerCapture(event.pointerId);
    const isTouch = event.pointerType === 'touch';
    const spot = target.spot(origin.x, origin.y, isTouch);
    if (spot.isMargin || (isTouch && down > across)) return 'scroll';
    target.press(spot);
    return 'brush';
  };
  const pinch = (id: number, before: Point, now: Point): void => {
    const other = [...pointers].find(([other]) => other !== id)?.[1];
    if (other === undefined) return;
    const [was, is] = [Math.abs(before.x - other.x), Math.abs(now.x - other.x)];
    if (was > 8 && is > 8) target.zoom(was / is, (now.x + other.x) / 2);
  };
  const release = (event: PointerEvent): void => {
    if (!pointers.delete(event.pointerId)) return;
    const { x, y } = place(event);
    if (hold === 'brush') (event.type === 'pointerup' ? target.drop : target.cancel)();
    else if (hold === 'press' && event.type === 'pointerup') {
      target.click(target.spot(x, y), event.ctrlKey || event.metaKey || event.shiftKey);
    }
    hold = 'none';
  };
  on('pointerup', release);
  on('pointercancel', release);
  on('pointerleave', () => target.leave());
  on('dblclick', (event) => {
    const { x, y } = place(event);
    target.doubleClick(target.spot(x, y));
  });
  return stop;
}
