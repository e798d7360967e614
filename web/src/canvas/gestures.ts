// Gestures that mean the same on all drawings: a wheel or a touchpad moves and zooms, and a press of the other button opens a menu.

/** The drawing that gestures act on. Places are in CSS pixels from the corner of the canvas. */
export interface GestureTarget {
  menu(x: number, y: number, clientX: number, clientY: number): void;
  /** Scrolls by pixels; true if anything moved. */
  pan(dx: number, dy: number): boolean;
  zoom(factor: number, x: number): void;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Adds a listener of a canvas. */
type On = <K extends keyof HTMLElementEventMap>(type: K, act: (event: HTMLElementEventMap[K]) => void, passive?: boolean) => void;

/** A menu follows its press within this time. */
const LONG_PRESS = 2_000;
const LINE = 16;

/** Listens until `stop` is called; `on` adds more listeners. */
export function listenGestures(canvas: HTMLCanvasElement, place: (event: MouseEvent) => Point, target: GestureTarget): { on: On; stop: () => void } {
  const stop = new AbortController();
  const on: On = (type, act, passive = true) => canvas.addEventListener(type, act, { signal: stop.signal, passive });
  let pressed = -Infinity;
  on('pointerdown', ({ timeStamp }) => (pressed = timeStamp));
  const openMenu = (event: MouseEvent): void => {
    event.preventDefault();
    // The menu key also fires this event, and has already opened its menu at the focused box.
    if (event.timeStamp - pressed > LONG_PRESS) return;
    const { x, y } = place(event);
    target.menu(x, y, event.clientX, event.clientY);
  };
  on('contextmenu', openMenu, false);
  on('wheel', (event) => wheel(event, place(event).x, target), false);
  return { on, stop: () => stop.abort() };
}

function wheel(event: WheelEvent, x: number, target: GestureTarget): void {
  const unit = event.deltaMode === 1 ? LINE : event.deltaMode === 2 ? 10 * LINE : 1;
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    // One notch of a wheel is 100 or 120; a pinch on a touchpad comes in small steps.
    const delta = Math.max(-120, Math.min(120, event.deltaY * unit));
    target.zoom(Math.exp(delta * (Math.abs(delta) < 20 ? 0.012 : 0.0025)), x);
    return;
  }
  const [dx, dy] = event.shiftKey && event.deltaX === 0 ? [event.deltaY, 0] : [event.deltaX, event.deltaY];
  // A wheel that moves nothing here scrolls the page.
  if (target.pan(dx * unit, dy * unit)) event.preventDefault();
}
