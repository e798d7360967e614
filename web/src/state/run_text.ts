// Runs as parts of a link, and as words.

import type { Tables } from '../host/protocol.ts';

const texts = new WeakMap<Tables, readonly string[]>();

/** `2` for the first run 2. Other files and documents may have a run with the same number: `2.2` for the second run 2. */
export function runText(tables: Tables, run: number): string {
  const known = texts.get(tables) ?? textsOf(tables);
  texts.set(tables, known);
  return known[run]!;
}

function textsOf({ runs }: Tables): readonly string[] {
  const counts = new Map<number, number>();
  return runs.map(({ number }) => {
    const count = (counts.get(number) ?? 0) + 1;
    counts.set(number, count);
    return count === 1 ? String(number) : `${number}.${count}`;
  });
}
