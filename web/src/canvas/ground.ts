// The timeline without its brush, kept as an image: while the user drags or points, nothing else changes.

import { CanvasPen } from './pen.ts';
import type { TextWidths } from './text.ts';
import type { Theme } from './theme.ts';
import { type Sighted, drawGround } from './timeline_scene.ts';

export class Ground {
  readonly #canvas = document.createElement('canvas');
  readonly #context = this.#canvas.getContext('2d', { alpha: false })!;
  #drawn: readonly unknown[] = [];

  /** Copies the image of a view to a context. Draws it again first if anything in it changed. */
  put(context: CanvasRenderingContext2D, sight: Sighted, theme: Theme, widths: TextWidths): void {
    const { model, layout, visible, scroll, width, height, ratio, focus } = sight;
    const { tracks, overview, range, unit } = model;
    const now = [tracks, overview, range.start, range.end, unit, visible.start, visible.end, scroll, width, height, ratio, focus, theme, widths];
    // Layouts depend only on the tracks of the model, so equal tracks have equal layouts.
    if (layout.tracks !== tracks || now.some((value, at) => value !== this.#drawn[at])) this.#draw(sight, theme, widths);
    this.#drawn = now;
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.#canvas, 0, 0);
    context.restore();
  }

  #draw(sight: Sighted, theme: Theme, widths: TextWidths): void {
    const [width, height] = [Math.round(sight.width * sight.ratio), Math.round(sight.height * sight.ratio)];
    // Setting the size clears the canvas and allocates memory.
    if (this.#canvas.width !== width) this.#canvas.width = width;
    if (this.#canvas.height !== height) this.#canvas.height = height;
    this.#context.setTransform(sight.ratio, 0, 0, sight.ratio, 0, 0);
    drawGround(new CanvasPen(this.#context), sight, theme, widths);
  }
}
