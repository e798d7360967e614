// Two recordings in one page: the names of each and of both, and what is chosen in one of them as the same choice in another.

import { type DiffFacts, NO_STACK, ROOT, Texts, counterOf, counterpart } from '../engine/index.ts';
import type { MatchedColumns, PairTables, SideName } from '../host/diff_protocol.ts';
import type { Tables } from '../host/protocol.ts';
import type { Names } from './names.ts';
import { type State, mainSeries } from './state.ts';

export interface Sides {
  readonly compared: Names;
  readonly before: Names;
  readonly after: Names;
  readonly matching: MatchedColumns;
  readonly facts: DiffFacts;
}

/** The names of what is shown. */
export function namesOfSide(names: Names, side: SideName): Names {
  return names.sides?.[side] ?? names;
}

/** The names of both recordings. Their tables belong to the second one, except for functions and binaries, which are the matched ones. */
export function pairNames(after: Names, before: Names, { matching, facts }: PairTables): Names {
  const sides = { matching, facts } as { -readonly [K in keyof Sides]: Sides[K] };
  const known = comparedTables(after.tables, before.tables, matching);
  sides.compared = { ...known, sides };
  sides.before = { ...before, sides };
  sides.after = { ...after, sides };
  return sides.compared;
}

/** The functions of both as functions of one recording, in their order. */
function comparedTables(after: Tables, before: Tables, matching: MatchedColumns): Pick<Names, 'tables' | 'texts'> {
  const count = matching.name.length;
  const binaries: Tables['binaries'][number][] = [];
  const places = new Map<string, number>();
  const [binary, flags] = [new Int32Array(count).fill(-1), new Int32Array(count)];
  const shown = matching.name.map((name, id) => (name === '' ? (matching.binary[id] ?? '') : (name ?? '')));
  for (let id = 0; id < count; id += 1) {
    const [tables, own] = matching.after[id]! >= 0 ? [after, matching.after[id]!] : [before, matching.before[id]!];
    if (own < 0) continue;
    flags[id] = tables.functions.flags[own]!;
    const found = tables.binaries[tables.functions.binary[own]!];
    if (found === undefined || matching.name[id] === '') continue;
    const key = JSON.stringify([found.name, found.category, found.is_own]);
    const place = places.get(key) ?? binaries.push(found) - 1;
    places.set(key, place);
    binary[id] = place;
  }
  const { bytes, ends } = encoded(shown);
  const functions = { count, name: Int32Array.from(shown.keys()), binary, flags };
  return { tables: { ...after, functions, binaries, textBytes: bytes, textEnds: ends }, texts: new Texts(bytes, ends) };
}

function encoded(texts: readonly string[]): { bytes: Uint8Array; ends: Float64Array } {
  const encoder = new TextEncoder();
  const parts = texts.map((text) => encoder.encode(text));
  let length = 0;
  const ends = Float64Array.from(parts, (part) => (length += part.length));
  const bytes = new Uint8Array(length);
  parts.forEach((part, index) => bytes.set(part, ends[index]! - part.length));
  return { bytes, ends };
}

/** The matching function on another side; null if there is none. */
export function functionOn(sides: Sides, label: number, from: SideName, to: SideName): number | null {
  if (label < 0 || from === to) return label;
  const { matching } = sides;
  const number = from === 'compared' ? label : (from === 'before' ? matching.ofBefore : matching.ofAfter)[label]!;
  if (to === 'compared') return number;
  const found = matching[to][number]!;
  return found < 0 ? null : found;
}

/** True if operations by name have the same meaning in all shown recordings: unnamed code has no common name in two recordings. */
export function hasOwnName({ sides, tables }: Names, label: number): boolean {
  if (sides?.compared.tables !== tables) return label !== NO_STACK && label !== ROOT;
  return label >= 0 && sides.matching.isNamed[label] === 1;
}

/**
 * The state for another side: threads and processes are matched by their names, and those that the other recording lacks are dropped and
 * returned in `lost`.
 */
export function stateOnSide(state: State, sides: Sides, to: SideName): { state: State; lost: string[] } {
  const from = state.side;
  if (from === to) return { state, lost: [] };
  const lost: string[] = [];
  const chosen = state.chosen === null ? null : functionOn(sides, state.chosen, from, to);
  // Counters belong to one recording.
  const metric = counterOf(state.metric) === null ? state.metric : 'weight';
  const shown: State = { ...state, side: to, metric, chosen, part: null, chartThread: null, ...(to === 'compared' ? { by: 'none' as const } : {}) };
  const [own, other] = [sides[from].tables, sides[to].tables];
  // Both, and the second recording, have the same threads.
  if ((from === 'before') === (to === 'before')) return { state: shown, lost };
  const found = counterpart(own, other, {
    series: [state.series],
    ...(state.threads === null ? {} : { threads: state.threads }),
    ...(state.processes === null ? {} : { processes: state.processes }),
  });
  const kept = (ids: readonly number[] | undefined, what: string): readonly number[] | null => {
    if (ids?.length === 0) lost.push(what);
    return ids === undefined || ids.length === 0 ? null : ids;
  };
  return {
    state: {
      ...shown,
      series: found.series?.[0] ?? mainSeries(other),
      threads: kept(found.threads, 'thread'),
      processes: kept(found.processes, 'process'),
    },
    lost,
  };
}
