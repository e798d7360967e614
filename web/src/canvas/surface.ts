// A canvas that fills its host: sized in device pixels, drawn at most once a frame, and drawn again when its size or its colours change.

import { type Theme, readTheme, watchTheme } from './theme.ts';

export class Surface {
  readonly host: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly context: CanvasRenderingContext2D;
  theme: Theme;
  /** In CSS pixels. */
  width = 0;
  height = 0;
  /** The live region for screen readers. */
  readonly #live: HTMLElement;
  readonly #draw: (time: number) => void;
  readonly #resized: () => void;
  readonly #observer: ResizeObserver;
  readonly #stopTheme: () => void;
  #frame = 0;
  #ratio = 0;

  constructor(host: HTMLElement, role: string, draw: (time: number) => void, resized: () => void) {
    this.host = host;
    this.#draw = draw;
    this.#resized = resized;
    this.canvas = document.createElement('canvas');
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute('role', 'application');
    this.canvas.setAttribute('aria-roledescription', role);
    const { style } = this.canvas;
    style.display = 'block';
    style.position = 'absolute';
    style.inset = '0';
    style.outlineOffset = '-2px';
    style.userSelect = 'none';
    if (getComputedStyle(host).position === 'static') host.style.position = 'relative';
    this.#live = liveText();
    // When a user returns to the canvas, the last announcement describes it.
    this.canvas.setAttribute('aria-describedby', this.#live.id);
    host.append(this.canvas, this.#live);
    this.context = this.canvas.getContext('2d', { alpha: false })!;
    this.theme = readTheme(host);
    this.#observer = new ResizeObserver(() => this.#measure());
    this.#observer.observe(host);
    this.#stopTheme = watchTheme(() => {
      this.theme = readTheme(host);
      this.schedule();
    });
  }

  /** Draws for the first time, once everything is ready. */
  start(): void {
    this.#measure();
  }

  /** Draws with the next frame. */
  schedule(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame((time) => {
      this.#frame = 0;
      this.paint(time);
    });
  }

  /** Draws now. */
  paint(time = performance.now()): void {
    if (this.#ratio !== devicePixelRatio) this.#measure();
    if (this.width === 0 || this.height === 0) return;
    this.context.setTransform(this.#ratio, 0, 0, this.#ratio, 0, 0);
    this.#draw(time);
  }

  /** Makes an announcement to screen readers. The last announcement remains the description of the canvas. */
  say(text: string): void {
    if (this.#live.textContent !== text) this.#live.textContent = text;
  }

  /** The place of a pointer on the canvas. */
  place(event: { clientX: number; clientY: number }): { x: number; y: number } {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  destroy(): void {
    cancelAnimationFrame(this.#frame);
    this.#observer.disconnect();
    this.#stopTheme();
    this.canvas.remove();
    this.#live.remove();
  }

  #measure(): void {
    const [width, height] = [this.host.clientWidth, this.host.clientHeight];
    if (width === this.width && height === this.height && this.#ratio === devicePixelRatio) return;
    this.#ratio = devicePixelRatio;
    this.width = width;
    this.height = height;
    this.canvas.width = Math.round(width * this.#ratio);
    this.canvas.height = Math.round(height * this.#ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.#resized();
    // Resizing cleared the canvas; waiting for the next frame would cause flicker.
    this.paint();
  }
}

let made = 0;

function liveText(): HTMLElement {
  const element = document.createElement('div');
  made += 1;
  element.id = `canvas-text-${made}`;
  element.setAttribute('aria-live', 'polite');
  const { style } = element;
  style.position = 'absolute';
  style.width = '1px';
  style.height = '1px';
  style.overflow = 'hidden';
  style.clipPath = 'inset(50%)';
  style.whiteSpace = 'nowrap';
  return element;
}

/** True if the user prefers reduced motion. */
export function isStill(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}
