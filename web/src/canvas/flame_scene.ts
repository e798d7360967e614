// Draws the visible boxes: first by colour, then their names, then the marked ones.

import type { Camera } from './camera.ts';
import { FILLS, MATCH, fillColor, fillText, fillsOfChanges, fillsOfLabels, isSearched } from './flame_fills.ts';
import { NarrowBoxes } from './narrow_boxes.ts';
import { Numbers } from './numbers.ts';
import type { Pen } from './pen.ts';
import { Rows } from './rows.ts';
import type { TextWidths } from './text.ts';
import type { Theme } from './theme.ts';
import type { FlameModel } from './types.ts';

export const ROW = 18;
const [FONT, BASE, PAD] = [11.5, 12.5, 5];
/** Narrower boxes have no text. */
const LEAST_TEXT = 26;

/** Where boxes are drawn. */
export interface Plot {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly ratio: number;
}

/** Marked boxes, by their number in the model; -1 means none. */
export interface Marks {
  readonly focus: number;
  readonly hover: number;
}

/** A model prepared for drawing. */
export class FlameScene {
  readonly model: FlameModel;
  readonly rows: Rows;
  /** By label, or by box where boxes are compared. */
  readonly #fills: Uint8Array;

  /** `before` has earlier scenes. Their rows and colours are reused if the model shares them, as when only marks or matches change. */
  constructor(model: FlameModel, before: readonly (FlameScene | null)[]) {
    this.model = model;
    const same = before.find((scene) => scene !== null && hasSameBoxes(scene.model, model));
    this.rows = same?.rows ?? Rows.of(model.count, model.depth, model.start, model.width);
    const { change, labels } = model;
    const known = before.find((scene) => scene !== null && scene.model.labels === labels && scene.fillsOfLabels !== null);
    this.#fills = isChange(change) ? fillsOfChanges(change) : (known?.fillsOfLabels ?? fillsOfLabels(labels));
  }

  get fillsOfLabels(): Uint8Array | null {
    return isChange(this.model.change) ? null : this.#fills;
  }

  /** The top of a row, from the top of the plot. */
  rowTop(depth: number, camera: Camera, plot: Plot): number {
    const y = depth * ROW - camera.scroll;
    return this.model.direction === 'flame' ? plot.height - ROW - y : y;
  }

  /** The box under a point of the plot; -1 for none. */
  hit(x: number, y: number, camera: Camera, plot: Plot): number {
    if (x < 0 || y < 0 || x >= plot.width || y >= plot.height) return -1;
    const down = this.model.direction === 'flame' ? plot.height - y : y;
    const depth = Math.floor((down + camera.scroll) / ROW);
    return this.rows.boxAt(depth, camera.from + (x / plot.width) * camera.length);
  }

  draw(pen: Pen, camera: Camera, plot: Plot, theme: Theme, widths: TextWidths, marks: Marks): void {
    const shown = collect(this, this.#fills, camera, plot);
    const isMatched = isSearched(this.model);
    for (let fill = 0; fill < MATCH; fill += 1) drawRects(pen, shown.rects[fill]!, plot, fillColor(theme, fill));
    if (theme.isForced) drawOutlines(pen, shown, plot, theme);
    if (isMatched) {
      pen.fill(theme.veil);
      pen.rect(plot.left, plot.top, plot.width, plot.height);
    }
    drawRects(pen, shown.rects[MATCH]!, plot, theme.match);
    drawNames(pen, this, shown, plot, theme, widths);
    this.#drawMarks(pen, camera, plot, theme, marks);
  }

  #drawMarks(pen: Pen, camera: Camera, plot: Plot, theme: Theme, { focus, hover }: Marks): void {
    const mark = (box: number, color: string, thickness: number): void => {
      const { start, width } = this.model;
      const x = this.#x(start[box]!, camera, plot);
      const end = this.#x(start[box]! + width[box]!, camera, plot);
      const [left, right] = [Math.max(-4, x), Math.min(plot.width + 4, end)];
      if (right < 0 || left > plot.width) return;
      const y = this.rowTop(this.model.depth[box]!, camera, plot);
      pen.frame(plot.left + left, plot.top + y, Math.max(right - left, 2 * thickness), ROW - 1, color, thickness);
    };
    const { selected } = this.model;
    if (hover >= 0) mark(hover, theme.hover, 1);
    if (selected !== undefined && selected !== null) {
      for (let at = 0; at < names.count; at += 1) {
        if (this.model.label[names.box[at]!] === selected) mark(names.box[at]!, theme.hover, 1.5);
      }
    }
    if (focus >= 0) mark(focus, theme.hover, 2.5);
  }

  #x(place: number, camera: Camera, plot: Plot): number {
    return ((place - camera.from) / camera.length) * plot.width;
  }
}

function hasSameBoxes(one: FlameModel, other: FlameModel): boolean {
  return one.count === other.count && one.depth === other.depth && one.start === other.start && one.width === other.width;
}

function isChange(change: FlameModel['change']): change is Float32Array {
  return change !== undefined && change !== null;
}

/** The boxes that are wide enough for a name. */
const names = { count: 0, box: new Int32Array(1 << 10), fill: new Uint8Array(1 << 10), place: new Numbers() };
const rects = Array.from({ length: FILLS }, () => new Numbers());

interface Shown {
  readonly rects: readonly Numbers[];
  readonly names: typeof names;
}

const narrow = new NarrowBoxes();

/** The visible boxes. Boxes narrower than a pixel are added up in its column. */
function collect(scene: FlameScene, fills: Uint8Array, camera: Camera, plot: Plot): Shown {
  for (const numbers of rects) numbers.count = 0;
  names.count = 0;
  names.place.count = 0;
  const rowsShown = Math.ceil(plot.height / ROW) + 1;
  const first = Math.max(0, Math.floor(camera.scroll / ROW));
  const last = Math.min(scene.rows.depths, first + rowsShown);
  for (let depth = first; depth < last; depth += 1) collectRow(scene, fills, camera, plot, depth);
  return { rects, names };
}

function collectRow(scene: FlameScene, fills: Uint8Array, camera: Camera, plot: Plot, depth: number): void {
  const { model, rows } = scene;
  const { label, covered, spans } = model;
  const matches = model.matches ?? null;
  const isByBox = isChange(model.change);
  const [from, to] = [rows.first[depth]!, rows.first[depth + 1]!];
  // In pixels of the screen.
  const scale = (plot.width * plot.ratio) / camera.length;
  const width = plot.width * plot.ratio;
  const y = scene.rowTop(depth, camera, plot);
  narrow.start(width);
  for (let at = rows.after(camera.from, from, to); at < to; at += 1) {
    if (rows.start[at]! >= camera.to) break;
    const box = rows.box[at]!;
    const begin = Math.max(-1, (rows.start[at]! - camera.from) * scale);
    const end = Math.min(width + plot.ratio, (rows.end[at]! - camera.from) * scale);
    const fill = matches !== null && matches[label[box]!] === 1 ? MATCH : fills[isByBox ? box : label[box]!]!;
    // Between merged spans are gaps, even if they are zoomed before they arrive separately.
    if (end - begin < 1 || (spans !== undefined && spans[box]! > 1)) {
      narrow.add(begin, end, covered === undefined ? 1 : covered[box]! * scale, fill);
      continue;
    }
    narrow.addEdges(begin, end);
    const left = Math.round(begin) / plot.ratio;
    const right = Math.max(Math.round(begin) + 1, Math.round(end)) / plot.ratio;
    // A gap marks the end of boxes that are wide enough.
    rects[fill]!.push(left, y, right - left > 3 ? right - left - 1 : right - left, ROW - 1);
    if (right - left >= LEAST_TEXT) pushName(box, fill, Math.max(0, left), y, Math.min(plot.width, right));
  }
  narrow.finish(rects, y, ROW - 1, plot.ratio);
}

function pushName(box: number, fill: number, left: number, y: number, right: number): void {
  if (names.count === names.box.length) {
    const [box, fill] = [new Int32Array(2 * names.count), new Uint8Array(2 * names.count)];
    box.set(names.box);
    fill.set(names.fill);
    [names.box, names.fill] = [box, fill];
  }
  names.box[names.count] = box;
  names.fill[names.count] = fill;
  names.count += 1;
  names.place.push(left, y, right - left, ROW - 1);
}

function drawRects(pen: Pen, { values, count }: Numbers, plot: Plot, color: string): void {
  if (count === 0) return;
  pen.fill(color);
  for (let at = 0; at < count; at += 4) {
    pen.rect(plot.left + values[at]!, plot.top + values[at + 1]!, values[at + 2]!, values[at + 3]!);
  }
}

/** If the user forces colours, lines separate the boxes. */
function drawOutlines(pen: Pen, shown: Shown, plot: Plot, theme: Theme): void {
  const { values, count } = shown.names.place;
  for (let at = 0; at < count; at += 4) {
    pen.frame(plot.left + values[at]!, plot.top + values[at + 1]!, values[at + 2]!, ROW, theme.line, 1);
  }
}

function drawNames(pen: Pen, { model }: FlameScene, { names }: Shown, plot: Plot, theme: Theme, widths: TextWidths): void {
  const { values } = names.place;
  const isMatched = isSearched(model);
  pen.font(FONT, 400, theme.font);
  for (let at = 0; at < names.count; at += 1) {
    const text = widths.fit(model.labels.names[model.label[names.box[at]!]!]!, values[4 * at + 2]! - 2 * PAD);
    if (text === '') continue;
    const fill = names.fill[at]!;
    pen.fill(isMatched && fill !== MATCH ? theme.dim : fillText(theme, fill));
    pen.text(text, plot.left + values[4 * at]! + PAD, plot.top + values[4 * at + 1]! + BASE);
  }
}

export { FONT };
