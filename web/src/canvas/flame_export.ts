// A flame graph or chart as a file: all of its height, below a caption of what it shows.

import { exactTimeText, weightText } from './amounts.ts';
import { Camera } from './camera.ts';
import { FONT, type FlameScene, type Plot, ROW } from './flame_scene.ts';
import { tipOfBox } from './flame_texts.ts';
import { AXIS, drawAxis, drawNothing } from './flame_trim.ts';
import { CanvasPen, type Pen } from './pen.ts';
import { SvgPen } from './svg.ts';
import type { TextWidths } from './text.ts';
import type { Theme } from './theme.ts';
import type { Range } from './types.ts';

export interface Sheet {
  readonly scene: FlameScene | null;
  /** The visible part of the range. */
  readonly sight: Range;
  readonly width: number;
  readonly isChart: boolean;
  readonly theme: Theme;
  readonly widths: TextWidths;
  /** Lines below the model's description. */
  readonly caption: readonly string[];
}

const [LINE, PAD] = [17, 8];
/** Pixels of a picture per pixel of the page. */
const RATIO = 2;
/** Only this many boxes get a tooltip, the widest first, so that files stay small. */
const TOLD = 4_000;
/** Browsers draw nothing on larger canvases. */
const [MOST_PIXELS, MOST_SIDE] = [16_000_000, 16_000];

export function svgOf(sheet: Sheet): string {
  const laid = layOut(sheet);
  const pen = new SvgPen(sheet.width, laid.height, laid.lines.join('\n'));
  drawSheet(pen, sheet, laid);
  tellBoxes(pen, sheet, laid);
  return pen.finish();
}

export async function pngOf(sheet: Sheet): Promise<Blob> {
  const laid = layOut(sheet);
  const area = sheet.width * laid.height;
  const ratio = Math.min(RATIO, MOST_SIDE / Math.max(sheet.width, laid.height), Math.sqrt(MOST_PIXELS / area));
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [Math.ceil(sheet.width * ratio), Math.ceil(laid.height * ratio)];
  const context = canvas.getContext('2d', { alpha: false })!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawSheet(new CanvasPen(context), sheet, laid);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
  if (blob === null) throw new Error('This browser cannot create the picture; save it as SVG instead.');
  return blob;
}

interface Laid {
  readonly lines: readonly string[];
  readonly camera: Camera;
  readonly plot: Plot;
  readonly height: number;
}

function layOut({ scene, sight, width, isChart, widths, caption }: Sheet): Laid {
  const texts = [...(scene === null ? [] : ownCaption(scene, sight, isChart)), ...caption];
  const lines = texts.flatMap((text) => wrapped(text, width - 2 * PAD, widths));
  const top = lines.length * LINE + 2 * PAD + (isChart ? AXIS : 0);
  const height = Math.max(3, scene === null ? 0 : depthOf(scene, sight, width)) * ROW;
  const camera = new Camera();
  Object.assign(camera, { from: sight.start, to: sight.end, scroll: 0 });
  return { lines, camera, plot: { left: 0, top, width, height, ratio: RATIO }, height: top + height };
}

/** The drawing, its total, and its visible part. */
function ownCaption({ model }: FlameScene, sight: Range, isChart: boolean): string[] {
  const { title, total, unit, range, matchText } = model;
  const isWhole = sight.start <= range.start && sight.end >= range.end;
  const shown = isChart
    ? `Shown: ${exactTimeText(sight.start)} – ${exactTimeText(sight.end)}`
    : `Shown: ${weightText(sight.end - sight.start, unit)} of the width`;
  const matched = matchText === undefined || matchText === '' ? [] : [`Marked: ${matchText}`];
  return [`${title}: ${weightText(total, unit)}`, ...(isWhole && !isChart ? [] : [shown]), ...matched];
}

/** The rows with visible boxes. */
function depthOf({ model }: FlameScene, sight: Range, width: number): number {
  // Narrow boxes of a chart cover parts of columns.
  const least = model.covered === undefined ? (sight.end - sight.start) / width / RATIO : 0;
  let found = 0;
  for (let box = 0; box < model.count; box += 1) {
    const start = model.start[box]!;
    if (model.width[box]! < least || start >= sight.end || start + model.width[box]! <= sight.start) continue;
    found = Math.max(found, model.depth[box]! + 1);
  }
  return found;
}

/** Breaks text at spaces into lines of at most this width. */
function wrapped(text: string, width: number, widths: TextWidths): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line === '' || widths.of(longer) <= width) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}

function drawSheet(pen: Pen, { scene, width, isChart, theme, widths }: Sheet, { lines, camera, plot, height }: Laid): void {
  pen.fill(theme.background);
  pen.rect(0, 0, width, height);
  lines.forEach((line, index) => {
    pen.font(FONT, index === 0 ? 600 : 400, theme.font);
    pen.fill(index === 0 ? theme.text : theme.dim);
    pen.text(line, PAD, PAD + index * LINE + 13);
  });
  if (scene === null || scene.model.count === 0 || !(scene.model.total > 0)) {
    drawNothing(pen, width, height, theme);
    return;
  }
  const unclip = pen.clip(plot.left, plot.top, plot.width, plot.height);
  scene.draw(pen, camera, plot, theme, widths, { focus: -1, hover: -1 });
  unclip();
  if (isChart) drawAxis(pen, camera, width, theme, plot.top - AXIS);
}

/** Adds tooltips to boxes, the widest first. */
function tellBoxes(pen: SvgPen, { scene, isChart }: Sheet, { camera, plot }: Laid): void {
  if (scene === null) return;
  const { model, rows } = scene;
  const scale = plot.width / camera.length;
  const seen: { box: number; left: number; width: number }[] = [];
  for (let box = 0; box < model.count; box += 1) {
    const left = Math.max(0, (model.start[box]! - camera.from) * scale);
    const width = Math.min(plot.width, (model.start[box]! + model.width[box]! - camera.from) * scale) - left;
    if (width >= 1) seen.push({ box, left, width });
  }
  if (seen.length > TOLD) seen.sort((one, other) => other.width - one.width).splice(TOLD);
  for (const { box, left, width } of seen) {
    const { title, subtitle, rows: amounts } = tipOfBox(model, rows, box, isChart);
    const text = [title, subtitle, ...amounts.map((pair) => pair.join(' ').trim())].filter((line) => line !== '').join('\n');
    pen.tells(plot.left + left, plot.top + scene.rowTop(model.depth[box]!, camera, plot), width, ROW - 1, text);
  }
}
