// A logarithmic axis, on which equal ratios have equal lengths.

import { tickValues, ticks as roundTicks } from '../../canvas/amounts.ts';

export interface LogAxis {
  /** The place of a value, as a percentage of the axis; values beyond the ends are at the ends. */
  readonly at: (value: number) => string;
  /** Below 0 before the start of the axis, above 0 beyond its end. */
  readonly beyond: (value: number) => number;
  readonly ticks: readonly number[];
}

/** Free space at the ends, in percent, so that dots are not cut off. */
const MARGIN = 2.5;
/** Ticks are at least this many percent apart. */
const APART = 10;

export function logAxis(low: number, high: number): LogAxis {
  const [from, length] = [Math.log(low), Math.log(high / low) || 1];
  const place = (value: number): number => MARGIN + (100 - 2 * MARGIN) * Math.min(1, Math.max(0, (Math.log(value) - from) / length));
  const beyond = (value: number): number => (value < low * (1 - 1e-9) ? -1 : value > high * (1 + 1e-9) ? 1 : 0);
  const ticks: number[] = [];
  for (const tick of candidates(low, high)) {
    if (ticks.every((other) => Math.abs(place(other) - place(tick)) >= APART)) ticks.push(tick);
  }
  return { at: (value) => `${place(value).toFixed(2)}%`, beyond, ticks: ticks.sort((a, b) => a - b) };
}

/** Round numbers between both, the roundest first. */
function candidates(low: number, high: number): number[] {
  const powers: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) powers.push(power);
  // Products of fractions have errors: 3e-1 is 0.3, and 3 × 0.1 is not.
  const found = [1, 2, 5].flatMap((digit) => powers.map((power) => Number(`${digit}e${power}`))).filter((tick) => tick >= low && tick <= high);
  if (found.length >= 3) return found;
  return tickValues(roundTicks(low, high, 6));
}
