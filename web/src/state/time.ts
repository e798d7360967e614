// Times in fragments: seconds with as many decimals as needed, exact to the nanosecond.

import type { Range } from '../host/protocol.ts';
import { RefusedError } from '../host/refused.ts';

const NANOS = 1e9;

export function spanText({ start, end }: Range): string {
  return `${secondsText(start)}..${secondsText(end)}`;
}

function secondsText(nanos: number): string {
  const whole = Math.floor(nanos / NANOS);
  const rest = String(Math.round(nanos - whole * NANOS)).padStart(9, '0').replace(/0+$/, '');
  return rest === '' ? `${whole}s` : `${whole}.${rest}s`;
}

export function readSpan(text: string): Range {
  const found = /^([0-9]{1,6})(?:\.([0-9]{1,9}))?s\.\.([0-9]{1,6})(?:\.([0-9]{1,9}))?s$/.exec(text);
  if (found === null) throw new RefusedError('this link has a time range that cannot be read; times look like t=2s..3.5s');
  const nanos = (whole: string, rest = ''): number => Number(whole) * NANOS + Number(rest.padEnd(9, '0'));
  const span = { start: nanos(found[1]!, found[2]), end: nanos(found[3]!, found[4]) };
  if (span.start > span.end) throw new RefusedError('this link has a time range that ends before it begins');
  if (span.start === span.end) throw new RefusedError('this link has a time range of length zero');
  return span;
}
