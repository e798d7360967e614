// Functions as steps on a path through a call tree. They are identified by name and binary, so a path can be written into a link and found
// again in another page of the same recording. The engine distinguishes binaries with one name by the same marks.

import type { Step, Tables } from '../host/protocol.ts';
import { RefusedError } from '../host/refused.ts';
import { type Names, binaryOf, nameOf } from './names.ts';

/** A function as a step. With `isShared`, functions with the same name in binaries with the same name are one, as in comparisons. */
export function stepOf(names: Names, id: number, isShared: boolean): Step {
  const step = { name: nameOf(names, id), binary: binaryOf(names, id) };
  return isShared || ambiguous(names)[id] === 0 ? step : { ...step, which: binaryMark(names, id) };
}

const ambiguities = new WeakMap<Tables['functions'], Uint8Array>();

/** For each function: 1 if another function has its name, in another binary with the same name. */
function ambiguous(names: Names): Uint8Array {
  const { functions } = names.tables;
  const known = ambiguities.get(functions);
  if (known !== undefined) return known;
  const found = new Uint8Array(functions.count);
  ambiguities.set(functions, found);
  const first = new Map<string, number>();
  for (let id = 0; id < found.length; id += 1) {
    const binary = binaryOf(names, id);
    if (binary === null) continue;
    // Each string occurs only once.
    const key = `${functions.name[id]} ${binary}`;
    const other = first.get(key);
    if (other === undefined) first.set(key, id);
    else found[id] = found[other] = 1;
  }
  return found;
}

/** By step: the functions that it identifies. */
export function functionsOfSteps(names: Names, steps: readonly Step[]): Int32Array[] {
  const found: number[][] = steps.map(() => []);
  const byName = new Map<string, number[]>();
  steps.forEach(({ name }, place) => byName.set(name, [...(byName.get(name) ?? []), place]));
  for (let id = 0; id < names.tables.functions.count; id += 1) {
    for (const place of byName.get(nameOf(names, id)) ?? []) {
      const { binary, which } = steps[place]!;
      if (binaryOf(names, id) === binary && (which === undefined || binaryMark(names, id) === which)) found[place]!.push(id);
    }
  }
  return found.map((ids) => Int32Array.from(ids));
}

/** Distinguishes binaries with the same name by a few letters. */
function binaryMark(names: Names, id: number): string {
  const binary = names.tables.binaries[names.tables.functions.binary[id]!];
  if (binary === undefined) return '';
  const { uuid, arch, load_address, path } = binary;
  return markOf(JSON.stringify([uuid, arch, load_address, path]));
}

/** Finds functions by the marks of their names and binaries. */
export class MarkedFunctions {
  readonly #names: Names;
  readonly #ids = new Map<string, number>();

  constructor(names: Names) {
    this.#names = names;
    for (let id = 0; id < names.tables.functions.count; id += 1) {
      const mark = markOf(nameText({ name: nameOf(names, id), binary: binaryOf(names, id) }));
      const known = this.#ids.get(mark);
      const isOther = known !== undefined && (nameOf(names, known) !== nameOf(names, id) || binaryOf(names, known) !== binaryOf(names, id));
      this.#ids.set(mark, isOther ? SEVERAL : id);
    }
  }

  /** The step with a mark; null if there is none. */
  find(mark: string): Step | null {
    const id = this.#ids.get(mark);
    if (id === undefined) return null;
    if (id === SEVERAL) throw new RefusedError('a path of functions is ambiguous');
    return { name: nameOf(this.#names, id), binary: binaryOf(this.#names, id) };
  }
}

const SEVERAL = -1;

/** The mark of a step's name and binary. */
export function markOfStep(step: Step): string {
  return markOf(nameText(step));
}

function nameText({ name, binary }: Step): string {
  return JSON.stringify([name, binary]);
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** A hash of 48 bits as eight letters, with the mixing of cyrb53. */
function markOf(text: string): string {
  let [first, second] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    first = Math.imul(first ^ unit, 2_654_435_761);
    second = Math.imul(second ^ unit, 1_597_334_677);
  }
  const one = Math.imul(first ^ (first >>> 16), 2_246_822_507) ^ Math.imul(second ^ (second >>> 13), 3_266_489_909);
  const other = Math.imul(second ^ (second >>> 16), 2_246_822_507) ^ Math.imul(one ^ (one >>> 13), 3_266_489_909);
  return [one, other].map((bits) => [0, 6, 12, 18].map((shift) => LETTERS[(bits >>> shift) & 63]!).join('')).join('');
}
