// Names of the items in the page's tables.

import type { Kind } from '../canvas/types.ts';
import { type Binary, type Category, NO_STACK, ROOT, type Tables } from '../host/protocol.ts';
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

const IS_IDLE = 2;
export const NO_STACK_NAME = '[no stack recorded]';

/** The name of a function, or its replacement. */
export function nameOf({ tables, texts }: Names, label: number): string {
  if (label === NO_STACK) return NO_STACK_NAME;
  if (label === ROOT) return '[root]';
  return texts.at(tables.functions.name[label]!);
}

function binaryAt({ tables }: Names, label: number): Binary | undefined {
  return label < 0 ? undefined : tables.binaries[tables.functions.binary[label]!];
}

export function binaryOf(names: Names, label: number): string | null {
  return binaryAt(names, label)?.name ?? null;
}

export function kindOf(names: Names, label: number): Kind {
  const isIdle = label >= 0 && (names.tables.functions.flags[label]! & IS_IDLE) !== 0;
  return isIdle ? 'idle' : kindOfBinary(binaryAt(names, label));
}

export function kindOfBinary(binary: Binary | undefined): Kind {
  return binary?.is_own ? 'own' : kindOfCategory(binary?.category);
}

export function kindOfCategory(category: Category | null = null): Kind {
  return category === 'user' ? 'own' : (category ?? 'unknown');
}

/** `NAME (0xTID)`, as Instruments writes it, or the part that is known. */
export function threadName({ tables }: Names, id: number): string {
  const { name, tid } = tables.threads[id]!;
  return labelled(name, tid === null ? null : `0x${BigInt(tid).toString(16)}`, 'unknown thread');
}

/** `NAME (PID)`, or the part that is known. */
export function processName({ tables }: Names, id: number): string {
  const { name, pid } = tables.processes[id]!;
  return labelled(name, pid === null ? null : String(pid), 'unknown process');
}

/** `NAME (NUMBER)`, or the part that is known. */
export function labelled(name: string, number: string | null, unknown: string): string {
  if (name === '') return number ?? unknown;
  return number === null ? name : `${name} (${number})`;
}
