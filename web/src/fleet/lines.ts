// The percentiles that plots over time draw.

import { statisticName } from './measure.ts';

export interface Line {
  /** The position among the percentiles of the report, and the name there. */
  readonly at: number;
  readonly name: string;
  readonly style: 'middle' | 'upper' | 'tail';
  /** The runs that the percentile needs: with fewer, it would be the largest run, and the line has a gap. */
  readonly needed: number;
}

/** The runs that a percentile needs: 2 for P50, 1,000 for P99.9. */
export function neededRuns(name: string): number {
  const millionths = Math.round(Number(name.slice(1)) * 1e4);
  const beyond = Math.min(millionths, 1e6 - millionths);
  return beyond === 0 ? 1 : Math.ceil(1e6 / beyond);
}

/** P50 and P90, or the requested percentiles instead, and the farthest percentile, if there are enough runs for them. */
export function linesOf(percentiles: readonly string[], runs: number): Line[] {
  const supported = percentiles.map((name, at) => ({ name, at, needed: neededRuns(name) })).filter(({ needed }) => needed <= runs);
  const position = (wanted: string): number => supported.findIndex(({ name }) => name === wanted);
  const middle = Math.max(0, position('p50'));
  const upper = position('p90') > middle ? position('p90') : middle + 1;
  const tail = supported.length - 1;
  const line = (place: number, style: Line['style']): Line[] => (supported[place] === undefined ? [] : [{ ...supported[place], style }]);
  return [...line(middle, 'middle'), ...line(upper, 'upper'), ...(tail > upper ? line(tail, 'tail') : [])];
}

/** The keys to the lines, with the largest value. */
export function keysOf(lines: readonly Line[], isBand: boolean): (readonly [string, string])[] {
  if (lines.length === 0) return [['middle', 'largest']];
  const keys = lines.map(({ style, name }) => [isBand ? `${style} band` : style, statisticName(name)] as const);
  return isBand ? [...keys, ['largest', 'max']] : keys;
}

/** The stretches between missing values. */
export function stretches<T>(values: readonly (T | null)[]): T[][] {
  const found: T[][] = [];
  let isOpen = false;
  for (const value of values) {
    if (value !== null && isOpen) found.at(-1)!.push(value);
    else if (value !== null) found.push([value]);
    isOpen = value !== null;
  }
  return found;
}
