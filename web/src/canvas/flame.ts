// Flame graphs and flame charts: one canvas that differs in what its horizontal axis is, weight or time.

import { boxStack } from './box_stack.ts';
import { Camera } from './camera.ts';
import { type Sheet, pngOf, svgOf } from './flame_export.ts';
import { type FlameTarget, listenFlame } from './flame_input.ts';
import { type FlameWalk, flameKeys } from './flame_keys.ts';
import { FONT, FlameScene, type Plot, ROW } from './flame_scene.ts';
import { speechOfBox, tipOfBox } from './flame_texts.ts';
import { AXIS, drawAxis, drawBadge, drawNothing, drawScroll } from './flame_trim.ts';
import { ZOOMING, press } from './keys.ts';
import { CanvasPen, type Pen, fontText } from './pen.ts';
import type { Rows } from './rows.ts';
import { Surface, isStill } from './surface.ts';
import { TextWidths } from './text.ts';
import { Tooltip } from './tooltip.ts';
import type { FlameCallbacks, FlameModel } from './types.ts';

/** Boxes are requested after this long without input. */
const REST = 70;
/** Rows that stay visible above a zoomed box. */
const ABOVE = 3;
/** Fewer rows above the first fork are shown, and a box with this share of the one above leaves too little for a fork. */
const [MANY_ABOVE, NEARLY_ALL] = [5, 0.9];

export class FlameCanvas {
  readonly #surface: Surface;
  readonly #camera = new Camera();
  readonly #callbacks: FlameCallbacks;
  /** One thread, ordered by time; otherwise weights from left to right, the heaviest first. */
  readonly #isChart: boolean;
  /** The complete range, and the part that was requested last. */
  #whole: FlameScene | null = null;
  #part: FlameScene | null = null;
  /** Nodes of the focused and the zoomed boxes. */
  #focus = -1;
  #zoomed: number[] = [];
  #hover = -1;
  readonly #tooltip: Tooltip;
  readonly #stop: (() => void)[];
  readonly #widths: TextWidths;
  #timer = 0;
  #asked = '';
  #told = '';
  /** The initial scroll position of a tree, while its height may still change; null once the user scrolls. */
  #opening: number | null = null;

  constructor(host: HTMLElement, callbacks: FlameCallbacks, isChart: boolean) {
    this.#callbacks = callbacks;
    this.#isChart = isChart;
    this.#tooltip = new Tooltip(host);
    this.#surface = new Surface(host, isChart ? 'flame chart' : 'flame graph', (time) => this.#draw(time), () => this.#resized());
    const { canvas, theme } = this.#surface;
    this.#widths = new TextWidths(fontText(FONT, 400, theme.font));
    const key = (event: KeyboardEvent): void => {
      const scene = this.#scene();
      if (scene !== null) press(event, flameKeys(this.#walk(scene), event.shiftKey), ZOOMING);
    };
    canvas.addEventListener('keydown', key);
    canvas.style.touchAction = 'none';
    this.#stop = [
      listenFlame(canvas, (event) => this.#surface.place(event), this.#target()),
      () => canvas.removeEventListener('keydown', key),
    ];
    this.#surface.start();
  }

  update(model: FlameModel): void {
    const before = this.#whole;
    const { from, to } = model.detail;
    const isPart = before?.model.key === model.key && (from > model.range.start || to < model.range.end);
    const scene = new FlameScene(model, [this.#part, before]);
    if (isPart) this.#part = scene;
    else [this.#whole, this.#part] = [scene, null];
    this.#surface.canvas.setAttribute('aria-label', model.title);
    this.#measure();
    if (before?.model.key !== model.key) this.#reframe(scene, before);
    this.#hover = -1;
    this.#tooltip.hide();
    this.#surface.schedule();
  }

  destroy(): void {
    clearTimeout(this.#timer);
    for (const stop of this.#stop) stop();
    this.#tooltip.destroy();
    this.#surface.destroy();
  }

  /** The visible part of the width at full height, as an SVG; `caption` contains the lines above it. */
  exportSvg(caption: readonly string[] = []): string {
    return svgOf(this.#sheet(caption));
  }

  /** Exports the drawing as a picture. */
  exportPng(caption: readonly string[] = []): Promise<Blob> {
    return pngOf(this.#sheet(caption));
  }

  /** Goes to a box that matches the search, or only scrolls to it. Reports its position among the matches, or null if there are none. */
  seek(matches: Uint8Array | null, step: 1 | -1, toWidest: boolean, isTyping: boolean): string | null {
    const scene = this.#scene();
    const { label, width, count } = scene?.model ?? {};
    const found = matches === null || scene === null ? [] : Array.from({ length: count! }, (_, box) => box).filter((box) => matches[label![box]!] === 1);
    if (scene === null || found.length === 0) return null;
    const here = this.#boxOf(scene, this.#focus);
    const next = step > 0 ? (found.find((box) => box > here) ?? found[0]!) : (found.findLast((box) => box < here) ?? found.at(-1)!);
    const box = toWidest ? found.reduce((best, box) => (width![box]! > width![best]! ? box : best)) : next;
    if (isTyping) this.#reveal(scene, box);
    else {
      this.#walkTo(scene, box);
      this.#surface.canvas.focus();
    }
    return `${found.indexOf(box) + 1} of ${found.length}`;
  }

  #sheet(caption: readonly string[]): Sheet {
    const { theme, width } = this.#surface;
    const { from, to } = this.#camera.goal;
    return { scene: this.#scene(), sight: { start: from, end: to }, width, isChart: this.#isChart, theme, widths: this.#widths, caption };
  }

  /** Shows everything, as the key 0 does. */
  showWhole(): void {
    this.#zoomOut(0);
    this.#surface.canvas.focus();
  }

  /** A new tree, or new weights: the camera stays at the zoomed node, if it still has one. */
  #reframe(scene: FlameScene, before: FlameScene | null): void {
    const { model } = scene;
    const isSameTree = before?.model.tree === model.tree && !this.#isChart;
    const { range } = model;
    const keeps = this.#isChart && before !== null && before.model.range.start === range.start && before.model.range.end === range.end;
    this.#camera.range = range;
    this.#camera.least = this.#isChart ? 100 : Math.max((range.end - range.start) * 1e-9, 1e-9);
    if (!isSameTree) [this.#focus, this.#zoomed] = [-1, []];
    this.#asked = '';
    if (keeps) return;
    this.#zoomed = this.#zoomed.filter((id) => this.#boxOf(scene, id) >= 0);
    const id = this.#zoomed.at(-1);
    const box = id === undefined ? -1 : this.#boxOf(scene, id);
    if (!isSameTree) this.#opening = this.#isChart ? 0 : ROW * firstFork(scene.rows);
    const scroll = this.#opening ?? this.#camera.goal.scroll;
    if (box < 0) this.#camera.go({ from: range.start, to: range.end, scroll }, false);
    else this.#camera.go({ from: model.start[box]!, to: model.start[box]! + model.width[box]!, scroll }, false);
  }

  /** The scene that covers the visible range: the requested part, or else everything. */
  #scene(): FlameScene | null {
    const part = this.#part;
    if (part === null) return this.#whole;
    const { from, to } = part.model.detail;
    return this.#camera.from >= from && this.#camera.to <= to ? part : this.#whole;
  }

  #boxOf(scene: FlameScene, id: number): number {
    return id < 0 ? -1 : scene.model.node.subarray(0, scene.model.count).indexOf(id);
  }

  #plot(): Plot {
    const top = this.#isChart ? AXIS : 0;
    return { left: 0, top, width: this.#surface.width, height: Math.max(0, this.#surface.height - top), ratio: devicePixelRatio };
  }

  #measure(): void {
    const depths = this.#whole?.rows.depths ?? 0;
    this.#camera.most = Math.max(0, Math.max(depths, this.#part?.rows.depths ?? 0) * ROW - this.#plot().height);
    this.#camera.go(this.#opening === null ? {} : { scroll: this.#opening }, false);
  }

  #resized(): void {
    this.#measure();
    this.#ask();
  }

  #draw(time: number): void {
    if (this.#camera.step(time)) this.#surface.schedule();
    this.#drawWith(new CanvasPen(this.#surface.context));
    const { isWhole, goal } = this.#camera;
    const told = `${isWhole} ${Math.round(goal.scroll / ROW)}`;
    if (told === this.#told) return;
    this.#told = told;
    this.#callbacks.onWhole?.(isWhole, Math.round(goal.scroll / ROW));
  }

  #drawWith(pen: Pen): void {
    const { theme, width, height } = this.#surface;
    pen.fill(theme.background);
    pen.rect(0, 0, width, height);
    const scene = this.#scene();
    if (scene === null || scene.model.count === 0 || !(scene.model.total > 0)) {
      drawNothing(pen, width, height, theme);
      return;
    }
    const plot = this.#plot();
    const unclip = pen.clip(plot.left, plot.top, plot.width, plot.height);
    const marks = { focus: this.#boxOf(scene, this.#focus), hover: this.#hover };
    scene.draw(pen, this.#camera, plot, theme, this.#widths, marks);
    drawScroll(pen, this.#camera, plot, theme, scene.model.direction === 'flame');
    unclip();
    if (this.#isChart) drawAxis(pen, this.#camera, width, theme);
    drawBadge(pen, scene.model.matchText ?? '', width, height, theme, this.#widths);
  }

  #target(): FlameTarget {
    const at = (x: number, y: number): { scene: FlameScene | null; box: number } => {
      const [scene, plot] = [this.#scene(), this.#plot()];
      return { scene, box: scene?.hit(x - plot.left, y - plot.top, this.#camera, plot) ?? -1 };
    };
    return {
      hover: (x, y, clientX, clientY) => {
        const { scene, box } = at(x, y);
        if (box !== this.#hover) this.#surface.schedule();
        this.#hover = box;
        const tip = box < 0 || scene === null ? null : tipOfBox(scene.model, scene.rows, box, this.#isChart);
        this.#tooltip.show(tip, clientX, clientY, this.#surface.theme);
      },
      leave: () => this.#leave(),
      click: (x, y) => {
        const { scene, box } = at(x, y);
        if (scene !== null) this.#pick(scene, box);
      },
      doubleClick: (x, y) => {
        const { scene, box } = at(x, y);
        if (scene !== null && box >= 0) this.#zoomTo(scene, box);
      },
      menu: (x, y, clientX, clientY) => {
        const { scene, box } = at(x, y);
        if (scene === null || box < 0) return;
        this.#tooltip.hide();
        this.#pick(scene, box);
        this.#callbacks.onMenu?.(scene.model.label[box]!, clientX, clientY, () => boxStack(scene.model, box));
      },
      pan: (dx, dy) => this.#pan(dx, dy),
      zoom: (factor, x) => this.#zoomBy(factor, x),
    };
  }

  #leave(): void {
    this.#tooltip.hide();
    if (this.#hover >= 0) this.#surface.schedule();
    this.#hover = -1;
  }

  #pan(dx: number, dy: number): boolean {
    const camera = this.#camera;
    const { from, to, scroll } = camera.goal;
    const by = (dx / Math.max(1, this.#plot().width)) * (to - from);
    const down = this.#whole?.model.direction === 'flame' ? -dy : dy;
    camera.go({ from: from + by, to: to + by, scroll: scroll + down }, false);
    if (camera.from === from && camera.scroll === scroll) return false;
    this.#moved();
    return true;
  }

  #zoomBy(factor: number, x: number): void {
    const camera = this.#camera;
    const place = camera.from + (x / Math.max(1, this.#plot().width)) * camera.length;
    camera.go(camera.zoomed(factor, place), false);
    this.#zoomed = [];
    this.#moved();
  }

  #moved(): void {
    this.#opening = null;
    this.#leave();
    this.#surface.schedule();
    this.#ask();
  }

  #pick(scene: FlameScene, box: number): void {
    this.#focus = box < 0 ? -1 : scene.model.node[box]!;
    this.#surface.schedule();
    if (box >= 0) this.#surface.say(speechOfBox(scene.model, scene.rows, box, this.#isChart));
    if (box < 0) this.#callbacks.onPick?.(null, () => []);
    else this.#callbacks.onPick?.(scene.model.label[box]!, () => boxStack(scene.model, box));
  }

  #zoomTo(scene: FlameScene, box: number): void {
    const { start, width, depth, node } = scene.model;
    const id = node[box]!;
    this.#zoomed = [...this.#zoomed.filter((other) => other !== id), id];
    // Some callers of the zoomed box stay visible.
    const top = Math.max(0, depth[box]! - ABOVE) * ROW;
    const scroll = top < this.#camera.scroll || depth[box]! * ROW > this.#camera.scroll + this.#plot().height / 2 ? top : this.#camera.scroll;
    this.#camera.go({ from: start[box]!, to: start[box]! + width[box]!, scroll }, !isStill());
    this.#moved();
  }

  /** Goes back until this many zoomed boxes are left. */
  #zoomOut(left: number): void {
    const scene = this.#whole;
    if (scene === null) return;
    this.#zoomed = this.#zoomed.slice(0, left);
    const id = this.#zoomed.at(-1);
    const box = id === undefined ? -1 : this.#boxOf(scene, id);
    const { range, start, width } = scene.model;
    if (box < 0) this.#camera.go({ from: range.start, to: range.end, scroll: 0 }, !isStill());
    else this.#camera.go({ from: start[box]!, to: start[box]! + width[box]! }, !isStill());
    this.#moved();
  }

  /** Requests missing boxes once there is no input. */
  #ask(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const { from, to } = this.#camera.goal;
      this.#askDetail(from, to);
    }, REST);
  }

  #askDetail(from: number, to: number): void {
    const has = [this.#part, this.#whole].some((scene) => {
      if (scene === null) return true;
      const { detail } = scene.model;
      return detail.from <= from && detail.to >= to && detail.least <= (to - from) / Math.max(1, this.#surface.width);
    });
    const { start, end } = this.#camera.range;
    const least = (to - from) / Math.max(1, this.#surface.width) / 2;
    const wanted = [Math.max(start, 2 * from - to), Math.min(end, 2 * to - from), least] as const;
    if (has || this.#asked === wanted.join(' ')) return;
    this.#asked = wanted.join(' ');
    this.#callbacks.onDetail?.(...wanted);
  }

  #walk(scene: FlameScene): FlameWalk {
    const isFlame = scene.model.direction === 'flame';
    const centre = this.#plot().width / 2;
    return {
      rows: scene.rows,
      isFlame,
      focus: this.#boxOf(scene, this.#focus),
      origin: scene.hit(centre, isFlame ? this.#plot().height - 1 : 1, this.#camera, this.#plot()),
      walkTo: (box) => this.#walkTo(scene, box),
      zoomTo: (box) => this.#zoomTo(scene, box),
      zoomBack: () => {
        if (this.#camera.isWhole) return false;
        this.#zoomOut(Math.max(0, this.#zoomed.length - 1));
        return true;
      },
      zoomWhole: () => this.#zoomOut(0),
      zoomBy: (factor) => this.#zoomBy(factor, centre),
      panBy: (share) => this.#pan(share * this.#plot().width, 0),
      page: (direction) => this.#pan(0, direction * this.#plot().height * 0.8),
      menuAt: (box) => this.#menuAt(scene, box),
    };
  }

  #walkTo(scene: FlameScene, box: number): void {
    this.#pick(scene, box);
    this.#reveal(scene, box);
  }

  /** Scrolls just far enough to show a box. */
  #reveal(scene: FlameScene, box: number): void {
    const { model } = scene;
    const { height } = this.#plot();
    const { from, to, scroll } = this.#camera.goal;
    const y = model.depth[box]! * ROW;
    const down = y < scroll ? y : y + ROW > scroll + height ? y + ROW - height : scroll;
    const [start, end] = [model.start[box]!, model.start[box]! + model.width[box]!];
    const isSeen = start < to && end > from;
    const middle = (start + end) / 2 - (to - from) / 2;
    this.#camera.go(isSeen ? { scroll: down } : { from: middle, to: middle + to - from, scroll: down }, !isStill());
    this.#moved();
  }

  #menuAt(scene: FlameScene, box: number): void {
    const bounds = this.#surface.canvas.getBoundingClientRect();
    const plot = this.#plot();
    const x = ((scene.model.start[box]! - this.#camera.from) / this.#camera.length) * plot.width;
    const y = plot.top + scene.rowTop(scene.model.depth[box]!, this.#camera, plot) + ROW;
    const left = bounds.left + Math.max(0, Math.min(x, plot.width - 20)) + 8;
    this.#callbacks.onMenu?.(scene.model.label[box]!, left, bounds.top + y, () => boxStack(scene.model, box));
  }
}

/** The depth at which the widest boxes begin to be divided; 0 if it is near the root. */
function firstFork(rows: Rows): number {
  const widthOf = (box: number): number => rows.end[rows.placeOf(box)]! - rows.start[rows.placeOf(box)]!;
  let [depth, box] = [0, rows.depths > 0 ? rows.box[0]! : -1];
  for (let next = box < 0 ? -1 : rows.widestChild(box); next >= 0 && widthOf(next) >= NEARLY_ALL * widthOf(box); next = rows.widestChild(box)) [depth, box] = [depth + 1, next];
  return depth < MANY_ABOVE ? 0 : depth;
}
