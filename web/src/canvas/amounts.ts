// Numbers for people: times, weights and shares, and the ticks of axes.

import { SCALES } from '../units.ts';
import type { Unit } from './types.ts';

/** The largest of these units in which a number is at least 1, or the smallest unit. */
export function scaleFor(unit: Unit, size: number): readonly [number, string] {
  return SCALES[unit].findLast(([factor]) => size >= factor) ?? SCALES[unit][0];
}

/** Formats a time with this many digits, in the unit in which it is at least 1: `1.25 s`. */
export function timeText(ns: number, digits = 3): string {
  const [factor, unit] = scaleFor('ns', Math.abs(ns));
  const value = ns / factor;
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.max(1, Math.abs(value)))));
  return `${trimmed(grouped(value.toFixed(Math.min(decimals, 9))))} ${unit}`;
}

/** Formats a time with all digits, in seconds or in the largest unit without decimals: `1.234567891 s`, `250 µs`. */
export function exactTimeText(ns: number): string {
  const [factor, unit] = scaleFor('ns', Math.abs(ns));
  const [whole, part] = [Math.trunc(ns / factor), Math.abs(ns % factor)];
  if (part === 0) return `${grouped(String(whole))} ${unit}`;
  const decimals = Number.isInteger(ns) ? String(part).padStart(String(factor).length - 1, '0') : part.toFixed(0);
  return `${trimmed(`${grouped(String(whole))}.${decimals}`)} ${unit}`;
}

const isTime = (unit: Unit): boolean => scaleFor(unit, 0)[1] === 'ns';

/** A weight as in reports: times in milliseconds, everything else in whole numbers. Exact up to 2^53. */
export function weightText(weight: number, unit: Unit): string {
  if (!isTime(unit)) return `${grouped(String(weight))} ${unitText(weight, scaleFor(unit, 0)[1])}`;
  const whole = Math.floor(Math.round(weight) / 1e6);
  const decimals = String(Math.round(weight) % 1e6).padStart(6, '0').replace(/0{1,4}$/, '');
  return `${grouped(String(whole))}.${decimals.padEnd(2, '0')} ms`;
}

/** Formats a weight per nanosecond as a weight per second: `2.91 Gcycles/s`, `997 samples/s`. */
export function rateText(weight: number, unit: Unit): string {
  const rate = weight * 1e9;
  if (isTime(unit)) return `${timeText(rate)}/s`;
  const [factor, name] = scaleFor(unit, rate);
  return `${grouped((rate / factor).toFixed(factor === 1 ? 0 : 2))} ${name}/s`;
}

/** Formats a share: `12.3%`. A share that is too small for a digit is `<0.1%`. */
export function shareText(part: number, whole: number): string {
  if (!(whole > 0)) return 'n/a';
  const share = (100 * part) / whole;
  if (share > 0 && share < 0.05) return '<0.1%';
  return `${share.toFixed(1)}%`;
}

/** A number with commas between groups of three digits. */
export function grouped(number: string): string {
  const [whole, part] = number.split('.');
  const text = whole!.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  return part === undefined ? text : `${text}.${part}`;
}

/** The unit of a number: `sample` of one, otherwise `samples`. */
export function unitText(value: number, unit: string): string {
  return value === 1 ? unit.replace(/(?<=..)s$/, '') : unit;
}

function trimmed(number: string): string {
  return number.includes('.') ? number.replace(/\.?0+$/, '') : number;
}

export interface Ticks {
  readonly first: number;
  readonly step: number;
  readonly count: number;
}

/** Ticks at 1, 2 or 5 times a power of ten, at most `most` of them in the range. */
export function ticks(start: number, end: number, most: number): Ticks {
  const length = end - start;
  if (!(length > 0) || most < 1) return { first: start, step: 1, count: 0 };
  const step = binNumber(length / most);
  // Never -0.
  const first = Math.ceil(start / step - 1e-9) * step + 0;
  return { first, step, count: Math.max(0, Math.floor((end - first) / step + 1e-9) + 1) };
}

/** The values of ticks. Products of fractions have errors: 3 × 0.1 is not 0.3. */
export function tickValues({ first, step, count }: Ticks): number[] {
  return Array.from({ length: count }, (_, tick) => rounded(first + tick * step));
}

export function rounded(value: number): number {
  return Number(value.toPrecision(9));
}

/** The text of a tick: all ticks of an axis have the unit of the largest tick, and the same number of decimals. */
export function tickText(value: number, { first, step, count }: Ticks): string {
  const size = Math.max(Math.abs(first), Math.abs(first + (count - 1) * step), step);
  const [factor, unit] = scaleFor('ns', size);
  const decimals = Math.max(0, -Math.floor(Math.log10(step / factor) + 1e-9));
  return `${grouped((value / factor).toFixed(Math.min(decimals, 9)))} ${unit}`;
}

/** The next larger of 1, 2 or 5 times a power of ten. */
export function binNumber(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((digit) => digit * power).find((value) => value >= least * (1 - 1e-9))!;
}
