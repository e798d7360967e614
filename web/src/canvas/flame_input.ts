// Gestures on a flame graph or chart, translated into actions of the plot.

/** What gestures act on. Places are in CSS pixels from the canvas' corner. */
export interface FlameTarget {
  hover(x: number, y: number, clientX: number, clientY: number): void;
  leave(): void;
  click(x: number, y: number): void;
  doubleClick(x: number, y: number): void;
  menu(x: number, y: number, clientX: number, clientY: number): void;
  /** Moves what is seen by pixels; true if anything moved. */
  pan(dx: number, dy: number): boolean;
  zoom(factor: number, x: number): void;
}

/** Less is a click. */
const SLIP = 4;
/** A menu follows its press within this time. */
const LONG_PRESS = 2_000;
const LINE = 16;

/** Listens until the function that it returns is called. */
export function listenFlame(
  canvas: HTMLCanvasElement,
  place: (event: MouseEvent) => { x: number; y: number },
  target: FlameTarget,
): () => void {
  const stop = new AbortController();
  const on = <K extends keyof HTMLElementEventMap>(type: K, act: (event: HTMLElementEventMap[K]) => void, passive = true): void =>
    canvas.addEventListener(type, act, { signal: stop.signal, passive });
  const pointers = new Map<number, { x: number; y: number }>();
  let [moved, isDragging, pressed] = [0, false, -Infinity];

  on('pointerdown', (event) => {
    pressed = event.timeStamp;
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
  const pinch = (id: number, before: { x: number; y: number }, now: { x: number; y: number }): void => {
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
  on(
    'contextmenu',
    (event) => {
      event.preventDefault();
      // The menu key also fires this event, and has already opened its menu at the focused box.
      if (event.timeStamp - pressed > LONG_PRESS) return;
      const { x, y } = place(event);
      target.menu(x, y, event.clientX, event.clientY);
    },
    false,
  );
  on('wheel', (event) => wheel(event, place(event).x, target), false);
  return () => stop.abort();
}

function wheel(event: WheelEvent, x: number, target: FlameTarget): void {
  const unit = event.deltaMode === 1 ? LINE : event.deltaMode === 2 ? 10 * LINE : 1;
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    // One notch of a wheel is 100 or 120; a pinch on a touchpad comes in small steps.
    const delta = Math.max(-120, Math.min(120, event.deltaY * unit));
    target.zoom(Math.exp(delta * (Math.abs(delta) < 20 ? 0.012 : 0.0025)), x);
    return;
  }
  const [dx, dy] = event.shiftKey && event.deltaX === 0 ? [event.deltaY, 0] : [event.deltaX, event.deltaY];
  // What cannot move here moves the page.
  if (target.pan(dx * unit, dy * unit)) event.preventDefault();
}
