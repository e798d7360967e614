// Matches names that users type, by the command's rules: a number or a complete name; if nothing matches, a part of names in any case;
// `/REGEX/` is a regular expression.

import { RefusedError } from './error.ts';
import { compilePattern } from './pattern.ts';
import type { Profile } from './profile.ts';

interface Named {
  readonly number: number | string | null;
  readonly name: string;
}

/** The threads that a text matches. */
export function matchThreads(profile: Profile, text: string): number[] {
  return match(text, profile.threads.map(({ tid, name }) => ({ number: tid, name })));
}

/** The processes that a text matches. */
export function matchProcesses(profile: Profile, text: string): number[] {
  return match(text, profile.processes.map(({ pid, name }) => ({ number: pid, name })));
}

/** The binaries that a text matches: by name, or by path if the text contains a slash. */
export function matchBinaries(profile: Profile, text: string): number[] {
  const inner = innerPattern(text) ?? text;
  const isPath = inner.includes('/');
  return match(text, profile.binaries.map((row) => ({ number: null, name: isPath ? row.path : row.name })));
}

/** The regular expression of `/…/`, if it is one. */
function innerPattern(text: string): string | null {
  return text.length >= 2 && text.startsWith('/') && text.endsWith('/') ? text.slice(1, -1) : null;
}

function match(text: string, rows: readonly Named[]): number[] {
  if (text === '') throw new RefusedError('an empty name would match everything; use /^$/ to match items without a name');
  const inner = innerPattern(text);
  if (inner === '') throw new RefusedError('an empty regular expression would match everything');
  if (inner !== null) {
    const regex = compilePattern(inner);
    return indicesOf(rows, (row) => regex.test(row.name));
  }
  const number = numberOf(text);
  const exact = indicesOf(rows, (row) => row.name === text || (row.number !== null && BigInt(row.number) === number));
  if (exact.length > 0 || number !== null) return exact;
  const part = text.toLowerCase();
  return indicesOf(rows, (row) => row.name.toLowerCase().includes(part));
}

/** A number of 64 bits in decimal, or in hex with `0x`. */
function numberOf(text: string): bigint | null {
  const isNumber = /^(\+?[0-9]+|0[xX]\+?[0-9a-fA-F]+)$/.test(text);
  if (!isNumber) return null;
  const number = BigInt(text.replace('+', ''));
  return number < 1n << 64n ? number : null;
}

function indicesOf<T>(rows: readonly T[], isMeant: (row: T) => boolean): number[] {
  return rows.flatMap((row, index) => (isMeant(row) ? [index] : []));
}
