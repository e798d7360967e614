// Axes of plots, in pixels of a picture that is 520 wide.

import type { JSX } from 'preact';
import { grouped, rounded, tickValues, ticks as roundTicks } from '../canvas/amounts.ts';
import { type Measures, measuresOf } from './measure.ts';

/** The width of every plot, which the page scales. */
export const WIDTH = 520;
/** The width of a letter in pixels. */
export const LETTER = 10;
/** The largest number of steps on an axis. */
const MOST_STEPS = 6;
/** Plots get separate axes if the largest value of one is less than this share of another's. */
const SHARED = 0.25;

/** The pixels of a plot without its labels. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface Axis {
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly number[];
  readonly measures: Measures;
}

/** An axis from zero to the next tick above the largest value. */
export function axisTo(largest: number, unit = ''): Axis {
  const end = Number.isFinite(largest) && largest > 0 ? largest : 1;
  const { step } = roundTicks(0, end, MOST_STEPS);
  const count = Math.ceil(end / step - 1e-9);
  const ticks = tickValues({ first: 0, step, count: count + 1 });
  return { low: 0, high: ticks.at(-1)!, ticks, measures: measuresOf(unit, largest) };
}

export function countAxis(largest: number): Axis {
  const axis = axisTo(Math.max(1, largest));
  return { ...axis, ticks: axis.ticks.filter(Number.isInteger) };
}

export function secondsAxis(from: number, to: number): Axis {
  const high = Math.max(to, from + 1);
  const ticks = tickValues(roundTicks(from, high, MOST_STEPS)).filter(Number.isInteger);
  return { low: from, high, ticks, measures: measuresOf('s', high) };
}

/** A common axis for adjacent plots, or one for each plot if a common axis would make some plots too small to see. */
export function axesOf(largest: readonly number[], axis: (largest: number) => Axis): { common: Axis; of: (plot: number) => Axis; isShared: boolean } {
  const high = Math.max(0, ...largest);
  const common = axis(high);
  const isShared = largest.every((value) => value >= high * SHARED);
  const own = isShared ? [] : largest.map(axis);
  return { common, of: (plot) => own[plot] ?? common, isShared };
}

/** The pixel of a value between two others. */
export function place({ low, high }: Axis, value: number, from: number, to: number): number {
  const share = Math.min(1, Math.max(0, (value - low) / (high - low)));
  return from + Math.round(share * (to - from));
}

export const xOf = (axis: Axis, area: Area, value: number): number => place(axis, value, area.left, area.right);
export const yOf = (axis: Axis, area: Area, value: number): number => place(axis, value, area.bottom, area.top);

function label(tick: number, { measures: { divisor } }: Axis): string {
  return grouped(String(rounded(tick / divisor)));
}

/** The area of a plot with the labels of an axis left of it, which may be long. */
export function besideLabels(area: Area, ...axes: readonly Axis[]): Area {
  const letters = axes.flatMap((axis) => axis.ticks.map((tick) => label(tick, axis).length));
  return { ...area, left: Math.max(area.left, 10 + LETTER * Math.max(0, ...letters)) };
}

/** Lines at the ticks of an axis below a plot, with their labels unless another plot below has them. */
export function AxisBelow({ axis, area, hasLabels = true }: { axis: Axis; area: Area; hasLabels?: boolean }): JSX.Element {
  const { left, top, right, bottom } = area;
  return (
    <>
      {axis.ticks.map((tick) => {
        const x = xOf(axis, area, tick);
        return <line key={tick} class="grid" x1={x} y1={top} x2={x} y2={bottom} />;
      })}
      {hasLabels && <LabelsBelow y={bottom + 8} labels={axis.ticks.map((tick) => [xOf(axis, area, tick), label(tick, axis)])} />}
      <line class="base" x1={left} y1={bottom} x2={right} y2={bottom} />
    </>
  );
}

/** The axis left of a plot, with lines through it, and its title above. */
export function AxisLeft({ axis, area, title = axis.measures.unit }: { axis: Axis; area: Area; title?: string }): JSX.Element {
  const { left, top, right } = area;
  return (
    <>
      {axis.ticks.map((tick) => {
        const y = yOf(axis, area, tick);
        return [<line key={tick} class="grid" x1={left} y1={y} x2={right} y2={y} />, <Label key={`${tick} label`} x={left - 8} y={y} at="left">{label(tick, axis)}</Label>];
      })}
      <Label x={8} y={top - 24} at="right">{title}</Label>
    </>
  );
}

/** The labels below an axis that fit next to each other: the last, the first, then the others from the right. Labels stay within the picture. */
export function LabelsBelow({ y, labels }: { y: number; labels: readonly (readonly [x: number, text: string, title?: string])[] }): JSX.Element {
  const placed: (readonly [left: number, right: number])[] = [];
  const last = labels.at(-1);
  const ordered = last === undefined ? [] : [last, ...labels.slice(0, 1), ...labels.slice(1, -1).toReversed()];
  const elements = ordered.map(([x, text, title]) => {
    const half = Math.floor((text.length * LETTER) / 2);
    const middle = Math.min(WIDTH - half, Math.max(half, x));
    if (placed.some(([left, right]) => middle + half + 8 > left && middle - half - 8 < right)) return null;
    placed.push([middle - half, middle + half]);
    return <Label key={x} x={middle} y={y} at="below" title={title}>{text}</Label>;
  });
  return <>{elements}</>;
}

const ANCHORS = { right: ['start', '0.5ex'], left: ['end', '0.5ex'], below: ['middle', '0.76em'] } as const;

/** A label to the left or right of a point, or below it. */
export function Label({ x, y, at, isStrong = false, title, children }: { x: number; y: number; at: keyof typeof ANCHORS; isStrong?: boolean; title?: string | undefined; children: string }): JSX.Element {
  const [anchor, down] = ANCHORS[at];
  return <text x={x} y={y} dy={down} text-anchor={anchor} class={isStrong ? 'strong' : undefined}>{title !== undefined && <title>{title}</title>}{children}</text>;
}
