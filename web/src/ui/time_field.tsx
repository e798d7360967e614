// The selected time, to read and to type: `2s..3s`, `120ms..1.5s`.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Range } from '../host/protocol.ts';
import { binNumber } from '../canvas/amounts.ts';
import { spanText } from '../state/time.ts';
import { useApp, useStore } from './app_context.ts';
import { timeText } from './format.ts';

export function TimeField(): JSX.Element | null {
  const { store, say, names } = useApp();
  const { time, series } = useStore();
  const shown = time === null ? '' : spanText(time);
  const [typed, setTyped] = useState(shown);
  const [isWrong, setWrong] = useState(false);
  useEffect(() => {
    setTyped(shown);
    setWrong(false);
  }, [shown]);
  const whole = names.tables.spans[series];
  if (whole == null) return null;
  const example = spanText(exampleSpan(whole));
  const take = (): void => {
    if (typed === shown) return;
    const span = typed.trim() === '' ? null : readTyped(typed, whole);
    const isOutside = span != null && (span.end <= whole.start || span.start > whole.end);
    setWrong(span === undefined || isOutside);
    if (span === undefined) say(`Times look like ${example}, or 120ms..1.5s; the end must be after the start.`);
    else if (isOutside) say(`The recording has samples from ${timeText(whole.start)} to ${timeText(whole.end)} only. Numbers without a unit are seconds.`);
    else store.set({ time: span });
  };
  return (
    <input
      class="time-field"
      type="text"
      size={16}
      placeholder="Drag or type a time"
      aria-label={`Selected time, such as ${example}`}
      title={`The selected time. Drag in the timeline, or type ${example}`}
      aria-invalid={isWrong}
      spellcheck={false}
      autocomplete="off"
      data-part="time"
      value={typed}
      onInput={(event) => setTyped(event.currentTarget.value)}
      onBlur={take}
      onKeyDown={(event) => {
        if (event.key === 'Enter') take();
        if (event.key === 'Escape') setTyped(shown);
      }}
    />
  );
}

const NANOS: Record<string, number> = { s: 1e9, ms: 1e6, us: 1e3, µs: 1e3, ns: 1 };

const MOMENT = String.raw`([0-9]+(?:\.[0-9]+)?)\s*(s|ms|us|µs|ns)?`;
const TYPED = new RegExp(String.raw`^\s*(?:${MOMENT})?\s*(?:\.\.|–|-|to)\s*(?:${MOMENT})?\s*$`);

/**
 * Parses a typed time; undefined if it is invalid. Numbers without a unit are seconds. A missing side defaults to the complete recording,
 * as in the command's `--time 300ms..`.
 */
export function readTyped(text: string, whole: Range): Range | undefined {
  const found = TYPED.exec(text);
  if (found === null || (found[1] === undefined && found[3] === undefined)) return undefined;
  const [, first, firstUnit, last, lastUnit] = found;
  // In `2..3 ms`, the unit applies to both times.
  const nanos = (number: string, unit: string): number => Math.round(Number(number) * NANOS[unit]!);
  const start = first === undefined ? Math.floor(whole.start) : nanos(first, firstUnit ?? lastUnit ?? 's');
  // The last sample is included.
  const end = last === undefined ? Math.ceil(whole.end) + 1 : nanos(last, lastUnit ?? 's');
  return start < end && end < 2 ** 53 ? { start, end } : undefined;
}

/** An example: a short time range near the middle of the recording. */
export function exampleSpan({ start, end }: Range): Range {
  const step = binNumber(Math.max(1, (end - start) / 5));
  const first = Math.max(0, Math.round((start + (end - start) / 3) / step)) * step;
  return { start: first, end: first + step };
}
