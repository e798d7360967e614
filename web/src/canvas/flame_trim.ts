// The parts around the boxes of flame graphs and charts: an axis, the position in the height, a badge.

import { tickText, ticks } from './amounts.ts';
import type { Camera } from './camera.ts';
import { FONT, type Plot } from './flame_scene.ts';
import type { Pen } from './pen.ts';
import type { TextWidths } from './text.ts';
import type { Theme } from './theme.ts';

/** The height of the axis of time. */
export const AXIS = 22;

export function drawAxis(pen: Pen, camera: Camera, width: number, theme: Theme, top = 0): void {
  const axis = ticks(camera.from, camera.to, Math.max(2, width / 110));
  pen.fill(theme.raised);
  pen.rect(0, top, width, AXIS);
  pen.font(11, 400, theme.font);
  for (let index = 0; index < axis.count; index += 1) {
    const time = axis.first + index * axis.step;
    const x = ((time - camera.from) / camera.length) * width;
    pen.fill(theme.line);
    pen.rect(Math.round(x), top + AXIS - 7, 1, 7);
    pen.fill(theme.dim);
    // Otherwise, the last label would be cut off.
    if (x + 60 < width) pen.text(tickText(time, axis), x + 4, top + AXIS - 7);
  }
  pen.fill(theme.line);
  pen.rect(0, top + AXIS - 1, width, 1);
}

/** The visible part of the height, if only a part is visible. */
export function drawScroll(pen: Pen, { most, scroll }: Camera, plot: Plot, theme: Theme, isFlame: boolean): void {
  if (most <= 0) return;
  const length = Math.max(24, (plot.height / (plot.height + most)) * plot.height);
  const at = (scroll / most) * (plot.height - length);
  pen.fill(theme.dim);
  pen.rect(plot.left + plot.width - 4, plot.top + (isFlame ? plot.height - length - at : at), 3, length);
}

/** The total of the matches of a search. */
export function drawBadge(pen: Pen, text: string, width: number, height: number, theme: Theme, widths: TextWidths): void {
  if (text === '') return;
  // Bold letters are wider.
  const length = widths.of(text) * 1.12 + 18;
  pen.fill(theme.match);
  pen.rect(width - length - 12, height - 32, length, 22);
  pen.font(FONT, 600, theme.font);
  pen.fill(theme.matchText);
  pen.text(text, width - length / 2 - 12, height - 17, 'center');
}

export function drawNothing(pen: Pen, width: number, height: number, theme: Theme): void {
  pen.font(13, 400, theme.font);
  pen.fill(theme.dim);
  pen.text('No samples are selected.', width / 2, Math.max(24, height / 2), 'center');
}
