// One track on the screen: areas of weights, bars, and moments.

import { BAR } from './timeline_layout.ts';
import { laneOf } from './lanes.ts';
import type { Pen } from './pen.ts';
import type { TextWidths } from './text.ts';
import type { Theme } from './theme.ts';
import type { Bins, LaneMarks, LaneSpans, Range, Tone, Track } from './types.ts';

/** A strip of the plot and the time that it shows. */
export interface Strip {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly visible: Range;
  readonly ratio: number;
}

const [FONT, LEAST_TEXT] = [11, 24];

export function xOf(time: number, { left, width, visible }: Strip): number {
  return left + ((time - visible.start) / (visible.end - visible.start)) * width;
}

function timeOf(x: number, { left, width, visible }: Strip): number {
  return visible.start + ((x - left) / width) * (visible.end - visible.start);
}

/** Draws all parts of a track; `end` is the end of the recording. */
export function drawTrack(pen: Pen, track: Track, strip: Strip, theme: Theme, widths: TextWidths, end: number): void {
  if (track.bins !== undefined) drawBins(pen, track.bins, strip, theme);
  if (track.spans !== undefined) drawSpans(pen, track.spans, track.tone ?? 'signpost', strip, theme, widths, end);
  if (track.marks !== undefined) drawMarks(pen, track.marks, track.tone ?? 'risk', strip, theme);
  if (track.isDim === true) {
    pen.fill(theme.veil);
    pen.rect(strip.left, strip.top, strip.width, strip.height);
  }
}

let points = new Float32Array(1 << 10);
let floors = new Float64Array(1 << 10);

/** Layers from the bottom up, each bin as a step. Values above the full height end at the top. */
function drawBins(pen: Pen, bins: Bins, strip: Strip, theme: Theme): void {
  const { start, bin, layers, full } = bins;
  const count = layers[0]?.values.length ?? 0;
  const first = Math.max(0, Math.floor((strip.visible.start - start) / bin));
  const last = Math.min(count, Math.ceil((strip.visible.end - start) / bin));
  if (last <= first || !(full > 0)) return;
  if (points.length < 8 * (last - first)) {
    points = new Float32Array(16 * (last - first));
    floors = new Float64Array(2 * (last - first));
  }
  floors.fill(0, 0, last - first);
  const scale = (strip.height - 3) / full;
  for (const { tone, values } of layers) {
    pen.fill(theme.tones[tone]);
    for (let at = first; at < last; ) {
      // Empty bins draw nothing: each run of non-empty bins is one area.
      while (at < last && !(values[at]! > 0)) at += 1;
      const from = at;
      while (at < last && values[at]! > 0) at += 1;
      if (at > from) drawRun(pen, values, [from, at, first], bins, strip, scale);
    }
  }
}

function drawRun(
  pen: Pen,
  values: Float64Array,
  [from, to, first]: readonly [number, number, number],
  { start, bin, full }: Bins,
  strip: Strip,
  scale: number,
): void {
  const bottom = strip.top + strip.height - 1;
  let count = 0;
  // The first bin may begin before the visible time, in the margin.
  const push = (x: number, y: number): void => {
    points[2 * count] = Math.max(strip.left, x);
    points[2 * count + 1] = y;
    count += 1;
  };
  for (let at = from; at < to; at += 1) {
    // At least a pixel, so that it is visible.
    const y = bottom - Math.max(floors[at - first]! * scale + 1, Math.min(full, floors[at - first]! + values[at]!) * scale);
    push(xOf(start + at * bin, strip), y);
    push(xOf(start + (at + 1) * bin, strip), y);
  }
  for (let at = to - 1; at >= from; at -= 1) {
    const y = bottom - Math.min(full, floors[at - first]!) * scale;
    push(xOf(start + (at + 1) * bin, strip), y);
    push(xOf(start + at * bin, strip), y);
    floors[at - first]! += values[at]!;
  }
  pen.area(points, count);
}

function drawSpans(pen: Pen, spans: LaneSpans, tone: Tone, strip: Strip, theme: Theme, widths: TextWidths, last: number): void {
  const lane = laneOf(spans, last);
  const { rows, index } = lane;
  const names: { name: string; left: number; right: number; y: number }[] = [];
  pen.fill(theme.tones[tone]);
  for (let level = 0; level < lane.levels; level += 1) {
    const [from, to] = [rows.first[level]!, rows.first[level + 1]!];
    const y = strip.top + 3 + level * BAR;
    for (let at = rows.after(strip.visible.start, from, to); at < to; at += 1) {
      if (rows.start[at]! >= strip.visible.end) break;
      const left = Math.max(strip.left - 1, xOf(rows.start[at]!, strip));
      const right = Math.max(left + 1, Math.min(strip.left + strip.width + 1, xOf(rows.end[at]!, strip)));
      pen.rect(left, y, right - left > 3 ? right - left - 1 : right - left, BAR - 2);
      if (right - left >= LEAST_TEXT) names.push({ name: spans.names[index[rows.box[at]!]!]!, left: Math.max(left, strip.left), right, y });
      else if (right - left <= 1) at = Math.max(at, rows.soonAfter(timeOf(right, strip), at + 1, to) - 1);
    }
  }
  pen.font(FONT, 400, theme.font);
  pen.fill(theme.laneText);
  for (const { name, left, right, y } of names) {
    const text = widths.fit(name, right - left - 8);
    if (text !== '') pen.text(text, left + 4, y + BAR - 5);
  }
  if (lane.leftOut === 0) return;
  pen.fill(theme.dim);
  pen.text(`${lane.leftOut} more overlap these`, strip.left + 6, strip.top + lane.levels * BAR + BAR);
}

function drawMarks(pen: Pen, marks: LaneMarks, tone: Tone, strip: Strip, theme: Theme): void {
  pen.fill(theme.tones[tone]);
  let last = -Infinity;
  for (const time of marks.time) {
    if (time < strip.visible.start || time > strip.visible.end) continue;
    const x = Math.round(xOf(time, strip));
    if (x === last) continue;
    last = x;
    pen.rect(x - 1, strip.top + 4, 3, strip.height - 8);
  }
}

/** The number of the bar at a point, in the model; -1 for none. */
export function spanAt(track: Track, x: number, y: number, strip: Strip, last: number): number {
  if (track.spans === undefined) return -1;
  const lane = laneOf(track.spans, last);
  const level = Math.floor((y - strip.top - 3) / BAR);
  if (level < 0 || level >= lane.levels) return -1;
  const slack = (2 * (strip.visible.end - strip.visible.start)) / strip.width;
  const time = timeOf(x, strip);
  const { rows, index } = lane;
  const to = rows.first[level + 1]!;
  // Bars are at least a pixel wide, and pointing is not more exact than two pixels.
  let at = rows.after(time - slack, rows.first[level]!, to);
  if (at >= to) return -1;
  if (rows.end[at]! <= time && at + 1 < to && rows.start[at + 1]! <= time) at += 1;
  return rows.start[at]! <= time + slack ? index[rows.box[at]!]! : -1;
}

/** The number of the moment nearest to a point, within a few pixels; -1 for none. */
export function markAt(track: Track, x: number, strip: Strip): number {
  let [found, distance] = [-1, 5];
  track.marks?.time.forEach((time, index) => {
    const away = Math.abs(xOf(time, strip) - x);
    if (away < distance) [found, distance] = [index, away];
  });
  return found;
}
