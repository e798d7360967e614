// Weights over time, in bins of one length. The whole weight of a sample belongs to the bin of its time.

import type { Exact, Sums } from '../exact.ts';
import { compareTexts } from '../text.ts';
import type { Amount, View } from '../view.ts';
import { type Part, type SeparateBy, nameOfPart, partCount, partOf, sortParts } from './tree.ts';

/** The samples of one line that are in one bin and of one state. */
export interface TimelinePart extends Amount {
  /** Counted from the start of the recording. */
  readonly bin: number;
  /** -1 if it was not recorded. */
  readonly state: number;
  readonly is_counted: boolean;
}

/** A thread, or another item with a separate line; its amount is the selected samples. */
export interface TimelineLine extends Part {
  readonly parts: TimelinePart[];
}

/** The lines of a series, heaviest first: of every state, unless states were named. `bin` is in nanoseconds. */
export function timeline(view: View, series: number, bin: number, by: SeparateBy): TimelineLine[] {
  const { profile, scope } = view;
  if (profile.form === 'sums') return [];
  const { time, state } = profile.samples;
  const rows = view.ofAllStates(series);
  const states = profile.states.length + 1;
  const width = partCount(profile, by) * states;
  const partOfRow = partOf(profile, by);
  const binOf =
    time instanceof BigUint64Array
      ? (row: number): number => Number(time[row]! / BigInt(bin))
      : (row: number): number => Math.floor(time[row]! / bin);
  const first = rows.length === 0 ? 0 : binOf(rows[0]!);
  const keyOf = (row: number): number => (binOf(row) - first) * width + partOfRow(row) * states + state[row]! + 1;
  const { keys, sums } = sumsByKey(view, rows, keyOf);
  const lines = new Map<number, { parts: TimelinePart[]; weight: Exact; samples: Exact }>();
  for (const [key, index] of keys) {
    const [place, bin] = [key % width, first + Math.floor(key / width)];
    const part = Math.floor(place / states);
    const found = (place % states) - 1;
    const line = lines.get(part) ?? { parts: [], weight: 0, samples: 0 };
    lines.set(part, line);
    const amount = { weight: sums.weight(index), samples: sums.samples(index) };
    const is_counted = scope.isStateCounted(found);
    line.parts.push({ bin, state: found, is_counted, ...amount });
    if (is_counted) {
      line.weight = plus(line.weight, amount.weight);
      line.samples = plus(line.samples, amount.samples);
    }
  }
  const stateName = (state: number): string => profile.states[state] ?? '';
  const named = [...lines].map(([part, line]) => {
    const id = by === 'state' || by === 'core-kind' ? part - 1 : by === 'none' ? -1 : part;
    line.parts.sort((a, b) => a.bin - b.bin || compareTexts(stateName(a.state), stateName(b.state)));
    return { id, name: nameOfPart(profile, by, id), ...line };
  });
  return sortParts(named);
}

/** Keys up to here have a place each, whether rows have them or not. */
const DENSE = 1 << 21;

/** The sums of rows by key: the keys that rows have, and where the sums of each are. */
function sumsByKey(view: View, rows: Int32Array, keyOf: (row: number) => number): { keys: [number, number][]; sums: Sums } {
  const keyOfRow = Float64Array.from(rows, keyOf);
  let largest = -1;
  for (const key of keyOfRow) if (key > largest) largest = key;
  if (largest < DENSE) {
    let at = 0;
    // Each plane visits all rows in their order.
    const sums = view.sumRows(rows, largest + 1, () => keyOfRow[at++ % rows.length]!);
    const keys: [number, number][] = [];
    for (let key = 0; key <= largest; key += 1) if (sums.isCounted(key)) keys.push([key, key]);
    return { keys, sums };
  }
  const places = new Map<number, number>();
  const placeOfRow = keyOfRow.map((key) => {
    const place = places.get(key) ?? places.size;
    places.set(key, place);
    return place;
  });
  let at = 0;
  return { keys: [...places], sums: view.sumRows(rows, places.size, () => placeOfRow[at++ % rows.length]!) };
}

/** The weight of each bin in a range, over all selected samples: the content of a brush. */
export function density(view: View, rows: Int32Array, start: number, bin: number, bins: number): Float64Array {
  const { time } = view.profile.samples;
  const sums = view.sumRows(rows, bins + 1, (row) => {
    const place = Math.floor((Number(time[row]!) - start) / bin);
    return place >= 0 && place < bins ? place : bins;
  });
  return Float64Array.from({ length: bins }, (_, index) => Number(sums.weight(index)));
}

function plus(a: Exact, b: Exact): Exact {
  if (typeof a === 'number' && typeof b === 'number') return a + b;
  return BigInt(a) + BigInt(b);
}
