// Places in a call tree: a node, identified by the functions on the way to it. Functions are identified by name and binary, so a place can
// be written into a link and found again in another page of the same recording.

import { RefusedError } from './error.ts';
import { type Profile, type Stacks, binaryName, functionName } from './profile.ts';

/** A place in the top-down tree, or in the bottom-up tree. */
export interface TreePlace {
  readonly direction: 'down' | 'up';
  /** From the root of that tree on: callers first going down, the leaf first going up. */
  readonly path: readonly Step[];
}

/** A function on a path. */
export interface Step {
  readonly name: string;
  readonly binary: string | null;
  /** Which binary, if several with one name have a function with this name. */
  readonly which?: string;
}

/** What names functions. */
export type FunctionNames = Pick<Profile, 'functions' | 'binaries' | 'texts'>;

/** A function as a step. With `isShared`, functions with the same name in binaries with the same name are one, as in comparisons. */
export function stepOf(of: FunctionNames, id: number, isShared: boolean): Step {
  const step = { name: functionName(of, id), binary: binaryName(of, id) };
  return isShared || ambiguous(of)[id] === 0 ? step : { ...step, which: binaryMark(of, id) };
}

const known = new WeakMap<FunctionNames['functions'], Uint8Array>();

/** For each function: 1 if another function has its name, in another binary with the same name. */
function ambiguous(of: FunctionNames): Uint8Array {
  const found = known.get(of.functions) ?? new Uint8Array(of.functions.count);
  if (known.has(of.functions)) return found;
  known.set(of.functions, found);
  const first = new Map<string, number>();
  for (let id = 0; id < found.length; id += 1) {
    const binary = binaryName(of, id);
    if (binary === null) continue;
    // Each text occurs only once.
    const key = `${of.functions.name[id]} ${binary}`;
    const other = first.get(key);
    if (other === undefined) first.set(key, id);
    else found[id] = found[other] = 1;
  }
  return found;
}

/** By step: the functions that it means. */
export function functionsOfSteps(of: FunctionNames, steps: readonly Step[]): Int32Array[] {
  const found: number[][] = steps.map(() => []);
  const byName = new Map<string, number[]>();
  steps.forEach(({ name }, place) => byName.set(name, [...(byName.get(name) ?? []), place]));
  for (let id = 0; id < of.functions.count; id += 1) {
    for (const place of byName.get(functionName(of, id)) ?? []) {
      const { binary, which } = steps[place]!;
      if (binaryName(of, id) === binary && (which === undefined || binaryMark(of, id) === which)) found[place]!.push(id);
    }
  }
  return found.map((ids) => Int32Array.from(ids));
}

/** Distinguishes binaries with the same name by a few letters. */
function binaryMark(of: FunctionNames, id: number): string {
  const binary = of.binaries[of.functions.binary[id]!];
  if (binary === undefined) return '';
  const { uuid, arch, load_address, path } = binary;
  return markOf(JSON.stringify([uuid, arch, load_address, path]));
}

/** Finds functions by the marks of their names and binaries. */
export class MarkedFunctions {
  readonly #of: FunctionNames;
  readonly #ids = new Map<string, number>();

  constructor(of: FunctionNames) {
    this.#of = of;
    for (let id = 0; id < of.functions.count; id += 1) {
      const mark = markOf(nameText({ name: functionName(of, id), binary: binaryName(of, id) }));
      const known = this.#ids.get(mark);
      const isOther = known !== undefined && (functionName(of, known) !== functionName(of, id) || binaryName(of, known) !== binaryName(of, id));
      this.#ids.set(mark, isOther ? SEVERAL : id);
    }
  }

  /** The step with a mark; null if there is none. */
  find(mark: string): Step | null {
    const id = this.#ids.get(mark);
    if (id === undefined) return null;
    if (id === SEVERAL) throw new RefusedError('a path of functions is ambiguous');
    return { name: functionName(this.#of, id), binary: binaryName(this.#of, id) };
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

/** A place prepared for a profile: the matching functions of each level. */
export interface KnownPlace {
  readonly direction: TreePlace['direction'];
  readonly levels: readonly Int32Array[];
}

export function knownPlace(profile: Profile, { direction, path }: TreePlace): KnownPlace {
  return { direction, levels: functionsOfSteps(profile, path) };
}

/** Top-down: for each stack, 1 if it ends in the node of the place. Frames called there have such a stack among their callers. */
export function stacksAt({ levels }: KnownPlace, { count, parent, frame }: Stacks, functionOf: Int32Array): Uint8Array {
  // By stack: the levels of the path that it is; -1 where it left it.
  const matched = new Int32Array(count).fill(-1);
  const isAt = new Uint8Array(count);
  for (let stack = 0; stack < count; stack += 1) {
    const above = parent[stack]!;
    const before = above < 0 ? 0 : matched[above]!;
    if (before < 0 || before === levels.length || !levels[before]!.includes(functionOf[frame[stack]!]!)) continue;
    matched[stack] = before + 1;
    if (before + 1 === levels.length) isAt[stack] = 1;
  }
  return isAt;
}

/** Bottom-up: the ancestor of a stack, or the stack itself, that ends at the function of the place; -1 if there is none. */
export function callerAt({ levels }: KnownPlace, { parent, frame }: Stacks, functionOf: Int32Array, stack: number): number {
  let at = stack;
  for (let level = 0; ; level += 1) {
    if (at < 0 || !levels[level]!.includes(functionOf[frame[at]!]!)) return -1;
    if (level + 1 === levels.length) return at;
    at = parent[at]!;
  }
}
