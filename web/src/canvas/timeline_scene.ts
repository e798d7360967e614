// The whole timeline on the screen: axis, overview, names on the left, tracks, and the selected time over all of them.

import { tickText, ticks, timeText } from './amounts.ts';
import type { Pen } from './pen.ts';
import { type TimelineLayout, AXIS, OVERVIEW } from './timeline_layout.ts';
import { type Strip, drawTrack, xOf } from './track_scene.ts';
import type { TextWidths } from './text.ts';
import type { Theme } from './theme.ts';
import type { Range, TimelineModel, Track } from './types.ts';

/** A drawing, and the part of it that is visible. */
export interface Sighted {
  readonly model: TimelineModel;
  readonly layout: TimelineLayout;
  readonly visible: Range;
  readonly scroll: number;
  readonly brush: Range | null;
  /** The width of the left margin. */
  readonly margin: number;
  readonly width: number;
  readonly height: number;
  readonly ratio: number;
  /** The pointer's x in the plot; -1 without. */
  readonly pointer: number;
  /** The focused track; -1 without. */
  readonly focus: number;
}

const [FONT, SMALL, PAD] = [12, 10.5, 10];

/** Everything except the selected time and the pointer, which the user moves. */
export function drawGround(pen: Pen, sight: Sighted, theme: Theme, widths: TextWidths): void {
  const { width, height, margin, layout } = sight;
  pen.fill(theme.background);
  pen.rect(0, 0, width, height);
  pen.fill(theme.raised);
  pen.rect(0, 0, margin, height);
  const unclip = pen.clip(0, layout.head, width, Math.max(0, height - layout.head));
  drawTracks(pen, sight, theme, widths);
  unclip();
  drawHead(pen, sight, theme, widths);
  pen.fill(theme.line);
  pen.rect(margin - 1, 0, 1, height);
  drawScroll(pen, sight, theme);
}

/** The strip of a track, or of the overview, which always shows everything. */
export function stripOf({ model, layout, margin, width, ratio, visible, scroll }: Sighted, track: number): Strip {
  const plot = { left: margin, width: Math.max(1, width - margin), ratio };
  if (track < 0) return { ...plot, top: 0, height: OVERVIEW - 1, visible: model.range };
  return { ...plot, top: layout.head + layout.tops[track]! - scroll, height: layout.heightAt(track) - 1, visible };
}

function drawTracks(pen: Pen, sight: Sighted, theme: Theme, widths: TextWidths): void {
  const { layout, scroll, height, width, model, margin } = sight;
  if (layout.tracks.length === 0) return;
  for (let index = Math.max(0, layout.at(scroll)); index < layout.tracks.length; index += 1) {
    const strip = stripOf(sight, index);
    if (strip.top >= height) break;
    const track = layout.tracks[index]!;
    const unclip = pen.clip(margin, strip.top, strip.width, strip.height);
    drawTrack(pen, track, strip, theme, widths, model.range.end);
    unclip();
    drawName(pen, track, strip, sight, theme, widths, index === sight.focus);
    pen.fill(theme.line);
    pen.rect(0, strip.top + strip.height, width, 1);
  }
}

/** The name of a track with its details, and the meaning of its full height. */
function drawName(pen: Pen, track: Track, strip: Strip, { margin, layout }: Sighted, theme: Theme, widths: TextWidths, isFocused: boolean): void {
  const isTall = strip.height >= 29 && strip.height < 60;
  const left = PAD + (track.indent ?? 0) * 14 + (track.isOpen === undefined ? 0 : 12);
  if (track.isSelected === true) {
    pen.fill(theme.accent);
    pen.rect(0, strip.top, 3, strip.height);
  }
  if (track.isOpen !== undefined) drawTriangle(pen, left - 11, strip.top + (isTall ? 11 : strip.height / 2), track.isOpen, theme);
  const base = isTall ? strip.top + 14 : strip.top + Math.min(strip.height / 2, 11) + 4;
  const detail = track.detail ?? '';
  pen.font(SMALL, 400, theme.font);
  pen.fill(theme.dim);
  // A number that is cut off would be wrong. The scale explains the bars, so it is removed last.
  const room = margin - left - PAD;
  const widthOf = (text: string): number => (widths.of(text) * SMALL) / FONT;
  const wide = widthOf(detail);
  const full = track.bins === undefined || !isTall ? '' : `height: ${track.bins.fullText}`;
  const shown = widthOf(full) <= room ? full : '';
  const fits = wide <= (isTall ? room - (shown === '' ? 0 : widthOf(shown) + 6) : margin * 0.4);
  const beside = !isTall && fits && detail !== '' ? wide + 6 : 0;
  if (shown !== '') pen.text(shown, margin - PAD + 2, base + 13, 'right');
  if (fits && isTall) pen.text(detail, left, base + 13);
  else if (fits && detail !== '') pen.text(detail, margin - PAD + 2, base, 'right');
  const isStrong = track.kind === 'process' || track.isSelected === true;
  pen.font(FONT, isStrong ? 600 : 400, theme.font);
  pen.fill(track.isDim === true ? theme.dim : theme.text);
  // Widths are measured for normal letters, not bold letters.
  const width = (room + PAD - 4 - beside) * (isStrong ? 0.92 : 0.98);
  const [name, number] = widths.of(track.label) <= width ? [track.label, ''] : layout.shorter(track.label);
  pen.text((widths.beginning(name, width - widths.of(number)) + number).trimStart(), left, base);
  if (isFocused) pen.frame(1, strip.top, margin - 3, strip.height, theme.accent, 2);
}

function drawTriangle(pen: Pen, x: number, y: number, isOpen: boolean, theme: Theme): void {
  pen.fill(theme.dim);
  const corners = isOpen ? [x - 1, y - 3, x + 8, y - 3, x + 3.5, y + 3] : [x, y - 4.5, x + 6, y, x, y + 4.5];
  pen.area(Float32Array.from(corners), 3);
}

/** The fixed part at the top: the overview of the whole recording, and the axis of the visible time. */
function drawHead(pen: Pen, sight: Sighted, theme: Theme, widths: TextWidths): void {
  const { model, layout, margin, width, visible } = sight;
  const overview = layout.head - AXIS;
  pen.fill(theme.background);
  pen.rect(margin, 0, width - margin, layout.head);
  pen.fill(theme.raised);
  pen.rect(0, 0, margin, layout.head);
  if (model.overview !== null) {
    const strip = stripOf(sight, -1);
    drawTrack(pen, model.overview, strip, theme, widths, model.range.end);
    drawName(pen, model.overview, strip, sight, theme, widths, false);
    if (visible.start > model.range.start || visible.end < model.range.end) drawWindow(pen, sight, strip, theme);
    pen.fill(theme.line);
    pen.rect(0, overview - 1, width, 1);
  }
  drawAxis(pen, sight, overview, theme, widths);
}

/** The visible part of the whole. */
function drawWindow(pen: Pen, { visible, width }: Sighted, strip: Strip, theme: Theme): void {
  const [left, right] = [xOf(visible.start, strip), xOf(visible.end, strip)];
  pen.fill(theme.veil);
  pen.rect(strip.left, strip.top, left - strip.left, strip.height);
  pen.rect(right, strip.top, width - right, strip.height);
  pen.frame(left, strip.top, Math.max(3, right - left), strip.height, theme.dim, 1);
}

function drawAxis(pen: Pen, sight: Sighted, top: number, theme: Theme, widths: TextWidths): void {
  const { margin, width, visible, model } = sight;
  const strip: Strip = { ...stripOf(sight, -1), visible };
  pen.fill(theme.raised);
  pen.rect(0, top, width, AXIS);
  const axis = ticks(visible.start, visible.end, Math.max(2, strip.width / 100));
  pen.font(SMALL, 400, theme.font);
  for (let index = 0; index < axis.count; index += 1) {
    const time = axis.first + index * axis.step;
    const x = xOf(time, strip);
    pen.fill(theme.line);
    pen.rect(Math.round(x), top + AXIS - 7, 1, 6);
    pen.fill(theme.dim);
    const text = tickText(time, axis);
    // The first and the last label would be cut off.
    const isLast = x + 60 > width;
    if (!isLast) pen.text(text, x + 4, top + AXIS - 8);
  }
  pen.fill(theme.dim);
  const fits = (text: string): boolean => (widths.of(text) * SMALL) / FONT < margin - 2 * PAD;
  const length = visible.end - visible.start;
  const [shown, most] = [length, model.recorded ?? model.range.end - model.range.start].map((time) => timeText(time));
  // If only a part is visible, the row shows how much.
  const part = shown === most || length > (model.recorded ?? Infinity) ? [] : [`${shown} of ${most}${model.recorded === null ? '' : ' recorded'}`, `${shown} of ${most}`];
  const text = part.find(fits) ?? shown!;
  pen.text(text, margin - PAD + 2, top + AXIS - 8, 'right');
  if (fits(`time shown${text}`)) pen.text('time shown', PAD, top + AXIS - 8);
  pen.fill(theme.line);
  pen.rect(0, top + AXIS - 1, width, 1);
}

/** Dims the time that is not selected, and draws the two edges and the length between them. */
export function drawBrush(pen: Pen, sight: Sighted, theme: Theme): void {
  const { brush, layout, margin, width, height, visible, pointer } = sight;
  const unclip = pen.clip(margin, 0, width - margin, height);
  const overview = layout.head - AXIS;
  const bottom = Math.min(height, layout.head + layout.height - sight.scroll);
  const strip = stripOf(sight, -1);
  if (brush !== null) {
    if (overview > 0) drawEdges(pen, brush, strip, 0, overview - 1, theme, true);
    drawEdges(pen, brush, { ...strip, visible }, overview, bottom - overview, theme);
    drawLength(pen, brush, { ...strip, visible }, overview, theme);
  }
  if (pointer >= margin) {
    pen.fill(theme.dim);
    pen.rect(Math.round(pointer), overview, 1, bottom - overview);
  }
  unclip();
}

function drawEdges(pen: Pen, brush: Range, strip: Strip, top: number, height: number, theme: Theme, hasHandles = false): void {
  const [left, right] = [xOf(brush.start, strip), xOf(brush.end, strip)];
  const end = strip.left + strip.width;
  pen.fill(theme.veil);
  if (left > strip.left) pen.rect(strip.left, top, Math.min(left, end) - strip.left, height);
  if (right < end) pen.rect(Math.max(right, strip.left), top, end - Math.max(right, strip.left), height);
  pen.fill(theme.accent);
  for (const x of [left, right]) {
    pen.rect(Math.round(x) - 1, top, 2, height);
    if (hasHandles) pen.rect(Math.round(x) - 3, top + height / 2 - 9, 6, 18);
  }
}

/** Also a handle, by which the brush is moved. */
function drawLength(pen: Pen, brush: Range, strip: Strip, top: number, theme: Theme): void {
  const [left, right] = [Math.max(strip.left, xOf(brush.start, strip)), Math.min(strip.left + strip.width, xOf(brush.end, strip))];
  if (right < strip.left || left > strip.left + strip.width) return;
  pen.fill(theme.accent);
  pen.rect(left, top + 2, Math.max(2, right - left), AXIS - 4);
  const text = timeText(brush.end - brush.start);
  const long = `${timeText(brush.start, 4)} – ${timeText(brush.end, 4)} · ${text}`;
  const room = right - left - 8;
  const shown = room > long.length * 6 ? long : room > text.length * 6 ? text : '';
  pen.font(SMALL, 600, theme.font);
  pen.fill(theme.background);
  if (shown !== '') pen.text(shown, (left + right) / 2, top + AXIS - 8, 'center');
}

/** Draws the scroll bar between the names and the plot, so that it covers neither. */
function drawScroll(pen: Pen, { layout, scroll, height, margin }: Sighted, theme: Theme): void {
  const room = height - layout.head;
  if (layout.height <= room || room <= 0) return;
  const length = Math.max(24, (room / layout.height) * room);
  const top = layout.head + (scroll / (layout.height - room)) * (room - length);
  pen.fill(theme.dim);
  pen.rect(margin - 5, top, 3, length);
}
