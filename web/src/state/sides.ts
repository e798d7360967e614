// Two recordings in one page: the names of each and of both, and the conversion of a choice in one of them to another.

import { type DiffFacts, type MatchedColumns, NO_STACK, type PairTables, ROOT, type Side, type Tables } from '../host/protocol.ts';
import { counterOf } from './counters.ts';
import type { Names } from './names.ts';
import { type State, mainSeries } from './state.ts';
import { Texts } from './texts.ts';

export interface Sides {
  readonly compared: Names;
  readonly before: Names;
  readonly after: Names;
  readonly matching: MatchedColumns;
  readonly facts: DiffFacts;
}

/** The names for the displayed recording, or for both. */
export function namesOfSide(names: Names, side: Side): Names {
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
  const texts = encoded(shown);
  const functions = { count, name: Int32Array.from(shown.keys()), binary, flags };
  return { tables: { ...after, functions, binaries, ...texts }, texts: new Texts(texts) };
}

function encoded(texts: readonly string[]): Pick<Tables, 'textBytes' | 'textEnds'> {
  const encoder = new TextEncoder();
  const parts = texts.map((text) => encoder.encode(text));
  let length = 0;
  const textEnds = Float64Array.from(parts, (part) => (length += part.length));
  const textBytes = new Uint8Array(length);
  parts.forEach((part, index) => textBytes.set(part, textEnds[index]! - part.length));
  return { textBytes, textEnds };
}

/** Operations apply to each recording of a comparison, so a function of either recording is enough. */
export function recordingsOf(names: Names): Names[] {
  const { sides } = names;
  return sides === undefined ? [names] : [sides.after, sides.before];
}

/** The matching function on another side; null if there is none. */
export function functionOn(sides: Sides, label: number, from: Side, to: Side): number | null {
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
export function stateOnSide(state: State, sides: Sides, to: Side): { state: State; lost: string[] } {
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
  const kept = (ids: readonly number[] | null, what: 'thread' | 'process'): readonly number[] | null => {
    if (ids === null) return null;
    const found = what === 'thread' ? namesakes(ids, own, other, 'threads', threadKey) : namesakes(ids, own, other, 'processes', ({ name }) => name);
    if (found.length === 0) lost.push(what);
    return found.length === 0 ? null : found;
  };
  const [series = mainSeries(other)] = namesakes([state.series], own, other, 'series', ({ schema, unit }) => `${schema} ${unit}`);
  return { state: { ...shown, series, threads: kept(state.threads, 'thread'), processes: kept(state.processes, 'process') }, lost };
}

/** The rows of another recording's table that have the same keys, by the engine's rules for comparisons. */
function namesakes<K extends 'series' | 'processes' | 'threads'>(
  ids: readonly number[],
  from: Tables,
  to: Tables,
  table: K,
  keyOf: (row: Tables[K][number], tables: Tables) => string,
): number[] {
  const keys = new Set(ids.map((id) => keyOf(from[table][id]!, from)));
  return to[table].flatMap((row, id) => (keys.has(keyOf(row, to)) ? [id] : []));
}

function threadKey({ name, process, is_main }: Tables['threads'][number], { processes }: Tables): string {
  return JSON.stringify([name, is_main, processes[process]!.name]);
}
