// Names of the tables that the page has.

import { NO_STACK, ROOT, type Category, type Tables } from '../host/protocol.ts';
import type { Sides } from './sides.ts';
import type { Texts } from './texts.ts';

export interface Names {
  readonly tables: Tables;
  readonly texts: Texts;
  /** On pages with two recordings: the names of each, and of both. */
  readonly sides?: Sides;
}

/** The number of a table's run. */
export function runOf(tables: Tables, series: number): number {
  return tables.runs[tables.series[series]!.run]!.number;
}

/** The kinds of code, by their colours. */
export type Kind = 'own' | 'system' | 'runtime' | 'kernel' | 'unknown' | 'idle';

const IS_IDLE = 2;
export const NO_STACK_NAME = '[no stack recorded]';

/** The name of a function, or its replacement. */
export function nameOf({ tables, texts }: Names, label: number): string {
  if (label === NO_STACK) return NO_STACK_NAME;
  if (label === ROOT) return '[root]';
  return texts.at(tables.functions.name[label]!);
}

export function binaryOf({ tables }: Names, label: number): string | null {
  const binary = label < 0 ? -1 : tables.functions.binary[label]!;
  return binary < 0 ? null : tables.binaries[binary]!.name;
}

export function categoryOf({ tables }: Names, label: number): Category {
  const binary = label < 0 ? -1 : tables.functions.binary[label]!;
  return binary < 0 ? 'unknown' : tables.binaries[binary]!.category;
}

export function kindOf(names: Names, label: number): Kind {
  const { tables } = names;
  if (label >= 0 && (tables.functions.flags[label]! & IS_IDLE) !== 0) return 'idle';
  const binary = label < 0 ? -1 : tables.functions.binary[label]!;
  if (binary >= 0 && tables.binaries[binary]!.is_own) return 'own';
  const category = categoryOf(names, label);
  return category === 'user' ? 'own' : category;
}

/** `NAME (0xTID)`, as Instruments writes it, or what of it there is. */
export function threadName({ tables }: Names, id: number): string {
  const { name, tid } = tables.threads[id]!;
  return labelled(name, tid === null ? null : `0x${BigInt(tid).toString(16)}`, 'unknown thread');
}

/** `NAME (PID)`, or what of it there is. */
export function processName({ tables }: Names, id: number): string {
  const { name, pid } = tables.processes[id]!;
  return labelled(name, pid === null ? null : String(pid), 'unknown process');
}

/** `NAME (NUMBER)`, or what of it there is. */
export function labelled(name: string, number: string | null, unknown: string): string {
  if (name === '') return number ?? unknown;
  return number === null ? name : `${name} (${number})`;
}
