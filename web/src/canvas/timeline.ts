// The timeline: an overview, tracks, and a brush that selects a time.

import { exactTimeText, timeText } from './amounts.ts';
import { type Grip, dragged, gripAt, moved, resized, rounded, snapTo } from './brush.ts';
import { Camera } from './camera.ts';
import { Ground } from './ground.ts';
import { ZOOMING, press } from './keys.ts';
import { CanvasPen, fontText } from './pen.ts';
import { Surface, isStill } from './surface.ts';
import { TextWidths } from './text.ts';
import { type Spot, type TimelineTarget, listenTimeline } from './timeline_input.ts';
import { type TimelineWalk, timelineKeys } from './timeline_keys.ts';
import { TimelineLayout, marginOf } from './timeline_layout.ts';
import { type Sighted, drawBrush, stripOf } from './timeline_scene.ts';
import { tipAt } from './timeline_texts.ts';
import { Tooltip } from './tooltip.ts';
import { spanAt } from './track_scene.ts';
import type { Range, TimelineCallbacks, TimelineModel } from './types.ts';

const [OVERVIEW_TRACK, AXIS_TRACK] = [-1, -2];
/** Bins are requested after this long without input. */
const REST = 70;

export class TimelineCanvas {
  readonly #surface: Surface;
  readonly #callbacks: TimelineCallbacks;
  readonly #tooltip: Tooltip;
  readonly #camera = new Camera();
  readonly #stop: (() => void)[];
  readonly #ground = new Ground();
  #model: TimelineModel | null = null;
  #layout = new TimelineLayout(null);
  #brush: Range | null = null;
  /** A drag in progress. */
  #drag: { grip: Grip; before: Range | null; from: number } | null = null;
  #pointer = -1;
  #focus = -1;
  #hasFocus = false;
  #timer = 0;
  readonly #widths: TextWidths;

  constructor(host: HTMLElement, callbacks: TimelineCallbacks = {}) {
    this.#callbacks = callbacks;
    this.#tooltip = new Tooltip(host);
    this.#surface = new Surface(host, 'timeline', (time) => this.#draw(time), () => this.#resized());
    const { canvas, theme } = this.#surface;
    this.#widths = new TextWidths(fontText(12, 400, theme.font));
    const stop = new AbortController();
    const on = <K extends 'keydown' | 'focus' | 'blur'>(type: K, act: (event: HTMLElementEventMap[K]) => void): void =>
      canvas.addEventListener(type, act, { signal: stop.signal });
    on('keydown', (event) => press(event, timelineKeys(this.#walk(), event), [...ZOOMING, 'Enter', ' ']));
    on('focus', () => this.#setFocus(true));
    on('blur', () => this.#setFocus(false));
    canvas.style.touchAction = 'pan-y';
    this.#stop = [listenTimeline(canvas, (event) => this.#surface.place(event), this.#target()), () => stop.abort()];
    this.#surface.start();
  }

  update(model: TimelineModel): void {
    const before = this.#model;
    this.#model = model;
    this.#layout = new TimelineLayout(model);
    // The current drag is newer than the answer to an earlier selection.
    if (this.#drag === null) this.#brush = model.brush;
    this.#camera.range = model.range;
    this.#camera.least = 1_000;
    const isNew = before === null || before.range.start !== model.range.start || before.range.end !== model.range.end;
    if (isNew) {
      this.#camera.go({ from: model.range.start, to: model.range.end }, false);
      this.#ask();
    }
    this.#focus = Math.min(this.#focus, model.tracks.length - 1);
    this.#surface.canvas.setAttribute('aria-label', model.title);
    this.#resized(false);
    this.#surface.schedule();
  }

  /** The height at which all tracks are visible without scrolling. */
  get contentHeight(): number {
    return this.#layout.head + this.#layout.height;
  }

  /** The initial height, at most this: complete rows up to the last busy row. */
  usualHeight(most: number): number {
    return this.#layout.usual(most);
  }

  /** Shows the selected time, or everything, as the keys z and 0 do. */
  zoom(to: 'brush' | 'whole'): void {
    const walk = this.#walk();
    if (to === 'brush') walk.zoomToBrush();
    else walk.zoomWhole();
    this.#surface.canvas.focus();
  }

  get #visible(): Range {
    return { start: this.#camera.from, end: this.#camera.to };
  }

  destroy(): void {
    clearTimeout(this.#timer);
    for (const stop of this.#stop) stop();
    this.#tooltip.destroy();
    this.#surface.destroy();
  }

  #sight(): Sighted | null {
    const { width, height } = this.#surface;
    if (this.#model === null) return null;
    return {
      model: this.#model, layout: this.#layout, visible: this.#visible, scroll: this.#camera.scroll, brush: this.#brush,
      margin: marginOf(width), width, height, ratio: devicePixelRatio, pointer: this.#pointer, focus: this.#hasFocus ? this.#focus : -1,
    };
  }

  #draw(time: number): void {
    if (this.#camera.step(time)) this.#surface.schedule();
    const sight = this.#sight();
    const pen = new CanvasPen(this.#surface.context);
    if (sight === null) {
      pen.fill(this.#surface.theme.background);
      pen.rect(0, 0, this.#surface.width, this.#surface.height);
      return;
    }
    this.#ground.put(this.#surface.context, sight, this.#surface.theme, this.#widths);
    drawBrush(pen, sight, this.#surface.theme);
  }

  #resized(asks = true): void {
    const room = this.#surface.height - this.#layout.head;
    this.#camera.most = Math.max(0, this.#layout.height - room);
    this.#camera.go({}, false);
    this.#surface.canvas.style.touchAction = this.#camera.most > 0 ? 'none' : 'pan-y';
    if (asks) this.#ask();
  }

  #setFocus(hasFocus: boolean): void {
    this.#hasFocus = hasFocus;
    this.#surface.schedule();
  }

  #ask(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const { from, to } = this.#camera.goal;
      const pixels = this.#surface.width - marginOf(this.#surface.width);
      if (this.#model !== null && pixels > 0) this.#callbacks.onVisible?.({ start: from, end: to }, pixels);
    }, REST);
  }

  #setBrush(brush: Range | null, isFinal: boolean): void {
    this.#brush = brush === null ? null : rounded(brush);
    this.#surface.schedule();
    if (isFinal && this.#brush !== null) {
      const { start, end } = this.#brush;
      this.#surface.say(`selected ${timeText(start, 4)} to ${timeText(end, 4)}, ${exactTimeText(end - start)}`);
    } else if (isFinal) this.#surface.say('no time is selected');
    this.#callbacks.onBrush?.(this.#brush, isFinal);
  }

  #spot(x: number, y: number, isTouch = false): Spot {
    const sight = this.#sight();
    const margin = marginOf(this.#surface.width);
    const overview = sight?.model.overview === null ? 0 : this.#layout.head - 24;
    const isTrack = y >= this.#layout.head;
    const below = this.#layout.at(y - this.#layout.head + this.#camera.scroll);
    const track = isTrack ? below : y < overview ? OVERVIEW_TRACK : AXIS_TRACK;
    const { start, end } = track === OVERVIEW_TRACK && !isTrack ? this.#camera.range : this.#visible;
    const time = start + ((x - margin) / Math.max(1, this.#surface.width - margin)) * (end - start);
    return { track: isTrack && track < 0 ? Infinity : track, isMargin: x < margin, x, y, time, isTouch };
  }

  /** The width in pixels of a length of time at a spot. */
  #scaleAt({ track }: Spot): number {
    const { start, end } = track === OVERVIEW_TRACK ? this.#camera.range : this.#visible;
    return (this.#surface.width - marginOf(this.#surface.width)) / (end - start);
  }

  #gripAt(spot: Spot): Grip {
    return gripAt(this.#brush, spot.time, this.#scaleAt(spot), spot.track < 0, spot.isTouch);
  }

  #target(): TimelineTarget {
    return {
      spot: (x, y, isTouch) => this.#spot(x, y, isTouch),
      hover: (spot, clientX, clientY) => this.#hover(spot, clientX, clientY),
      leave: () => this.#leave(),
      cursor: (spot) => {
        if (spot.isMargin) return spot.track >= 0 ? 'pointer' : 'default';
        return { start: 'ew-resize', end: 'ew-resize', move: 'grab', new: 'crosshair' }[this.#gripAt(spot)];
      },
      press: (spot) => {
        this.#drag = { grip: this.#gripAt(spot), before: this.#brush, from: spot.time };
      },
      drag: (spot) => this.#dragTo(spot, false),
      drop: () => {
        this.#drag = null;
        this.#setBrush(this.#brush, true);
      },
      cancel: () => {
        const before = this.#drag?.before ?? null;
        this.#drag = null;
        this.#setBrush(before, true);
      },
      click: (spot, isAdditive) => this.#click(spot, isAdditive),
      doubleClick: (spot) => {
        if (!spot.isMargin && this.#brush !== null) this.#setBrush(null, true);
      },
      menu: (spot, clientX, clientY) => {
        const track = this.#layout.tracks[spot.track];
        this.#leave();
        if (track !== undefined) this.#callbacks.onMenu?.(track.id, clientX, clientY);
      },
      pan: (dx, dy) => this.#pan(dx, dy),
      zoom: (factor, x) => this.#zoom(factor, x),
    };
  }

  #dragTo(spot: Spot, isFinal: boolean): void {
    if (this.#drag === null) return;
    const { grip, before, from } = this.#drag;
    this.#setBrush(dragged(grip, before, from, spot.time, this.#camera.range, snapTo(1 / this.#scaleAt(spot))), isFinal);
  }

  #hover(spot: Spot, clientX: number, clientY: number): void {
    const sight = this.#sight();
    if (sight === null) return;
    this.#pointer = spot.isMargin ? -1 : spot.x;
    this.#surface.schedule();
    const track = spot.track === OVERVIEW_TRACK ? sight.model.overview : (this.#layout.tracks[spot.track] ?? null);
    if (track === null || spot.isMargin) {
      const text = track === null ? null : { title: track.label, rows: track.detail === undefined ? [] : [['', track.detail] as const] };
      this.#tooltip.show(text, clientX, clientY, this.#surface.theme);
      return;
    }
    const tip = tipAt(sight.model, track, stripOf(sight, spot.track), spot.x, spot.y, spot.time);
    this.#tooltip.show(tip, clientX, clientY, this.#surface.theme);
  }

  #leave(): void {
    this.#tooltip.hide();
    if (this.#pointer >= 0) this.#surface.schedule();
    this.#pointer = -1;
  }

  #click(spot: Spot, isAdditive: boolean): void {
    const sight = this.#sight();
    const track = this.#layout.tracks[spot.track];
    if (sight === null || track === undefined) return;
    this.#focus = spot.track;
    const left = 12 + (track.indent ?? 0) * 14;
    if (track.isOpen !== undefined && spot.x < left + 14) {
      this.#callbacks.onToggle?.(track.id);
      return;
    }
    const span = spot.isMargin ? -1 : spanAt(track, spot.x, spot.y, stripOf(sight, spot.track), sight.model.range.end);
    if (span >= 0) this.#callbacks.onPickSpan?.(track.id, span);
    else this.#callbacks.onPickTracks?.([track.id], isAdditive);
    this.#surface.schedule();
  }

  #pan(dx: number, dy: number): boolean {
    const camera = this.#camera;
    const { from, to, scroll } = camera.goal;
    const by = (dx / Math.max(1, this.#surface.width - marginOf(this.#surface.width))) * (to - from);
    camera.go({ from: from + by, to: to + by, scroll: scroll + dy }, false);
    if (camera.from === from && camera.scroll === scroll) return false;
    this.#moved();
    return true;
  }

  #zoom(factor: number, x: number): void {
    const margin = marginOf(this.#surface.width);
    const share = Math.max(0, Math.min(1, (x - margin) / Math.max(1, this.#surface.width - margin)));
    this.#camera.go(this.#camera.zoomed(factor, this.#camera.from + share * this.#camera.length), false);
    this.#moved();
  }

  #moved(): void {
    this.#leave();
    this.#surface.schedule();
    this.#ask();
  }

  #walk(): TimelineWalk {
    const { range } = this.#camera;
    const length = (): number => this.#camera.goal.to - this.#camera.goal.from;
    const track = (): string | null => this.#layout.tracks[this.#focus]?.id ?? null;
    const change = (change: (brush: Range) => Range): boolean => {
      const { from, to } = this.#camera.goal;
      const first = { start: from + (to - from) * 0.4, end: from + (to - from) * 0.6 };
      this.#setBrush(this.#brush === null ? first : change(this.#brush), true);
      return true;
    };
    return {
      move: (share) => change((brush) => moved(brush, share * length(), range)),
      resize: (share) => change((brush) => resized(brush, share * length(), Math.min(brush.end - brush.start, length() / 500), range)),
      walk: (by) => this.#walkTo(Math.max(0, Math.min(this.#layout.tracks.length - 1, this.#focus + by))),
      pick: (isAdditive) => {
        const id = track();
        if (id !== null) this.#callbacks.onPickTracks?.([id], isAdditive);
        return id !== null;
      },
      toggle: () => {
        const found = this.#layout.tracks[this.#focus];
        if (found?.isOpen === undefined) return false;
        this.#callbacks.onToggle?.(found.id);
        return true;
      },
      clear: () => {
        if (this.#drag !== null) this.#target().cancel();
        else if (this.#brush !== null) this.#setBrush(null, true);
        else return false;
        return true;
      },
      zoomBy: (factor) => {
        this.#camera.go(this.#camera.zoomed(factor, (this.#camera.goal.from + this.#camera.goal.to) / 2), !isStill());
        this.#moved();
      },
      zoomWhole: () => this.#show(range),
      zoomToBrush: () => {
        if (this.#brush !== null) this.#show(this.#brush);
        return this.#brush !== null;
      },
      menu: () => this.#menu(),
    };
  }

  #show({ start, end }: Range): void {
    this.#camera.go({ from: start, to: end }, !isStill());
    this.#moved();
  }

  #walkTo(index: number): void {
    const track = this.#layout.tracks[index];
    if (track === undefined) return;
    this.#focus = index;
    const room = this.#surface.height - this.#layout.head;
    const [top, bottom] = [this.#layout.tops[index]!, this.#layout.tops[index + 1]!];
    const { scroll } = this.#camera.goal;
    this.#camera.go({ scroll: top < scroll ? top : bottom > scroll + room ? bottom - room : scroll }, !isStill());
    const place = `track ${index + 1} of ${this.#layout.tracks.length}`;
    const texts = [track.label, track.detail ?? '', track.isSelected === true ? 'selected' : '', place];
    this.#surface.say(texts.filter((text) => text !== '').join(', '));
    this.#surface.schedule();
  }

  #menu(): boolean {
    const sight = this.#sight();
    const track = this.#layout.tracks[this.#focus];
    if (sight === null || track === undefined) return false;
    const bounds = this.#surface.canvas.getBoundingClientRect();
    const strip = stripOf(sight, this.#focus);
    this.#callbacks.onMenu?.(track.id, bounds.left + 24, bounds.top + strip.top + Math.min(strip.height, 28));
    return true;
  }
}
