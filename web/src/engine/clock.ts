// The clock: the selected part of a run's recorded time, by which every rate is divided. The rules are the same as in
// `src/recording/clock.rs`; the command passes the time that its samples cover.

import { type Range, intersect } from './intervals.ts';

/** The recorded time of a run, as far as the command selected it. */
export interface RecordedTime {
  readonly parts: readonly (readonly [number | string, number | string])[];
  readonly source: 'toc' | 'manifest' | 'samples';
  readonly is_part: boolean;
}

/** The selected time of a run: sorted parts that do not touch, none if it is unknown or nothing is selected. */
export interface SelectedTime {
  readonly parts: readonly Range[];
  /** The sum of the parts, in nanoseconds. */
  readonly length: number;
  /** Whether the recorded time was recorded, or estimated from the samples. */
  readonly isRecorded: boolean;
  /** True if a time or intervals were selected. */
  readonly isPart: boolean;
}

/** The recorded time in each of some lists of ranges. */
export function selectedTime(recorded: RecordedTime | undefined, selected: readonly (readonly Range[])[]): SelectedTime {
  const { parts = [], source = 'samples', is_part = false } = recorded ?? {};
  const all: readonly Range[] = parts.map(([start, end]) => ({ start: BigInt(start), end: BigInt(end) }));
  const left = selected.reduce(intersect, all);
  return { parts: left, length: lengthOf(left), isRecorded: source !== 'samples', isPart: is_part || selected.length > 0 };
}

/** The length of what the parts have in common with a range. */
export function lengthWithin({ parts }: SelectedTime, range: Range): number {
  return lengthOf(intersect(parts, [range]));
}

function lengthOf(parts: readonly Range[]): number {
  return Number(parts.reduce((sum, { start, end }) => sum + BigInt(end ?? start) - BigInt(start), 0n));
}
