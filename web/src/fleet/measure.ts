// Measures and counts as the command writes them in sentences: one unit and one number of decimals for a table or plot, and commas between
// thousands.

import { grouped, scaleFor } from '../canvas/amounts.ts';
import type { Unit } from '../canvas/types.ts';
import { SCALES } from '../units.ts';
import type { Cohort, Summary } from './document.ts';

/** The unit of a table or plot, and the decimals of its numbers. */
export interface Measures { readonly unit: string; readonly divisor: number; readonly decimals: number }

const CORE = '% of one core';

/** By unit in the JSON, without the part after its slash: the scale, and the number of its smallest units. */
const BASES: Readonly<Record<string, readonly [scale: Unit, size: number]>> = {
  cycles: ['cycles', 1], events: ['events', 1], 'elapsed ns': ['elapsed_ns', 1], bytes: ['bytes', 1], ms: ['ns', 1e6], MB: ['bytes', 1e6],
};

/** For values up to `largest`. In the chosen unit, `largest` is at least 1 and below 1000, if such a unit exists. */
export function measuresOf(unit: string, largest: number): Measures {
  if (unit === 'percent-of-one-core') return { unit: CORE, divisor: 1, decimals: largest < 1 ? 3 : 2 };
  const [base, per] = unit.split('/') as [string, string | undefined];
  if (BASES[base] === undefined) return { unit, divisor: 1, decimals: 2 };
  const [scale, size] = BASES[base];
  const [factor, name] = scaleFor(scale, largest * size);
  return { unit: per === 's' ? `${name}/s` : name, divisor: factor / size, decimals: 2 };
}

/** For the largest value of summaries of these cohorts, which have one unit. */
export function measuresOfCohorts(cohorts: readonly Cohort[], of: (cohort: Cohort) => Summary | undefined = ({ across_runs: summary }) => summary): Measures {
  return measuresOf(cohorts[0]?.value_unit ?? '', Math.max(0, ...cohorts.map((cohort) => of(cohort)?.max ?? 0)));
}

/** A measure without its unit: `12.34`, `1,250.00`, `<0.01`. */
export function measure(value: number, { divisor, decimals }: Measures): string {
  if (value === 0) return '0';
  const [scaled, least] = [value / divisor, 10 ** -decimals];
  return scaled < least / 2 ? `<${least.toFixed(decimals)}` : rounded(scaled, decimals);
}

/** A measure with its unit: `12.34 %`, `1.25 Gcycles/s`. */
export function measureWithUnit(value: number, measures: Measures): string {
  return `${measure(value, measures)} ${measures.unit === CORE ? '%' : measures.unit}`;
}

/** Ties are rounded to even digits, as in the command's sentences. */
function rounded(value: number, decimals: number): string {
  const isTieBelow = Number.isInteger(value * 2 ** (decimals + 1)) && (value * 2 * 10 ** decimals) % 4 === 1;
  return grouped((isTieBelow ? value - 10 ** -decimals / 2 : value).toFixed(decimals));
}

/** A weight or a time with its unit: `343.23 kcycles`, `4.20 ms`. Counts have no decimals, and 999,996 cycles are 1.00 Mcycles. */
export function weightText(weight: number, unit: string): string {
  const scale = unit.endsWith('bytes') ? 'bytes' : unit.endsWith('ns') ? 'ns' : unit;
  if (!(scale in SCALES) || scale === 'samples') return `${count(weight)} ${unit}`;
  const [factor, name] = scaleFor(scale as Unit, weight / 0.999_995);
  return `${factor === 1 ? count(weight) : rounded(weight / factor, 2)} ${name}`;
}

/** `1,234`. */
export function count(value: number): string {
  return grouped(String(value));
}

/** `1 run`, `1,234 runs`. */
export function many(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** `P99` for `p99`, `weighted mean` for `weighted-mean`. */
export function statisticName(name: string): string {
  return name.replace(/^p(?=\d)/, 'P').replace('-', ' ');
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A name without its middle if it is too long: ends of names are more informative. */
export function cut(text: string, longest = 240): string {
  const letters = [...text];
  if (letters.length <= longest) return text;
  const tail = Math.floor(longest / 3);
  return `${letters.slice(0, longest - tail - 1).join('')}…${letters.slice(letters.length - tail).join('')}`;
}
