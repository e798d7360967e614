// Formats numbers like the command: with one unit for an entire column, named in its heading.

import { grouped as groupedText, scaleFor, unitText } from '../canvas/amounts.ts';
import type { Exact } from '../host/protocol.ts';
import type { Unit } from '../host/tables.ts';

export type { Unit } from '../host/tables.ts';

/** A unit in which numbers of one column are written. */
export interface Scale {
  readonly unit: string;
  readonly divisor: bigint;
  readonly decimals: number;
}

/** The scale in which a total is at least 1 and below 1000, if there is such a unit. */
export function scaleOf(total: Exact, unit: Unit): Scale {
  const [factor, name] = scaleFor(unit, Number(total));
  return { unit: name, divisor: BigInt(factor), decimals: factor === 1 ? 0 : 3 };
}

/** A weight without its unit. Halves are rounded up, exactly. */
export function inScale(weight: Exact, { divisor, decimals }: Scale): string {
  if (decimals === 0) return grouped(BigInt(weight));
  const power = 10n ** BigInt(decimals);
  const value = (BigInt(weight) * power + divisor / 2n) / divisor;
  return `${grouped(value / power)}.${String(value % power).padStart(decimals, '0')}`;
}

/** A weight with its unit, or with the unit of a larger weight next to it: `3.55 s`, `53.00 ms`. */
export function withUnit(weight: Exact, unit: Unit, larger = weight): string {
  const scale = scaleOf(larger, unit);
  return `${inScale(weight, { ...scale, decimals: scale.decimals === 0 ? 0 : 2 })} ${scale.divisor === 1n ? unitText(Number(weight), scale.unit) : scale.unit}`;
}

/** A time of a recording: `2.5 s`, `120 ms`. */
export function timeText(nanos: number): string {
  const [factor, unit] = scaleFor('ns', nanos);
  return `${Number((nanos / factor).toFixed(3))} ${unit}`;
}

/** A share in percent: one decimal, two below 1. */
export function percent(part: Exact, total: Exact): string {
  if (Number(total) === 0) return '–';
  const share = (100 * Number(part)) / Number(total);
  if (share === 0) return '0.0%';
  if (share < 0.01) return '<0.01%';
  return `${share.toFixed(share < 0.995 ? 2 : 1)}%`;
}

/** A share in percent, as a bare number for tables that programs read; empty without a total. */
export function plainShare(part: Exact, total: Exact): string {
  return Number(total) === 0 ? '' : String(Number(((100 * Number(part)) / Number(total)).toFixed(4)));
}

/** A count with commas between groups of three digits, as in the command. */
export function grouped(value: Exact): string {
  return groupedText(String(value));
}

/** A number for tables that programs read. */
export function ungrouped(text: string): string {
  return text.replaceAll(',', '');
}

/** `1 sample`, `3 samples`. */
export function counted(value: Exact, one: string, many = `${one}s`): string {
  return `${grouped(value)} ${Number(value) === 1 ? one : many}`;
}
