// Operations done to the distinct stacks that samples have, with the rules of `src/calltree/operations/`.

import type { Action } from './operations.ts';
import type { Profile, Stacks } from './profile.ts';
import { StackTable } from './stack_table.ts';

/** Samples of a stack are removed. */
export const REMOVED = -2;

/** Bits that tell what an operation did to a stack. */
export const DID_REMOVE = 1;
export const DID_CHANGE = 2;
export const DID_MOVE = 4;

/** The stacks after operations. */
export interface Operated {
  readonly stacks: Stacks;
  /** By used stack ([`UsedStacks`]): its stack now, -1 for none recorded, or `REMOVED`. */
  readonly stackOf: Int32Array;
  /** By operation, then by used stack: the bits of what it did. */
  readonly effects: readonly Uint8Array[];
}

/** The stacks that samples have, each once: in ascending order, behind -1 for samples without stack. */
export interface UsedStacks {
  readonly stacks: Int32Array;
  /** By row of samples: the place of its stack. */
  readonly ofRow: Int32Array;
}

export function usedStacks(profile: Profile): UsedStacks {
  const { stack } = profile.samples;
  const place = new Int32Array(profile.stacks.count);
  for (let row = 0; row < stack.length; row += 1) {
    if (stack[row]! >= 0) place[stack[row]!] = 1;
  }
  let count = 1;
  for (let id = 0; id < place.length; id += 1) {
    if (place[id] === 1) place[id] = count++;
  }
  const stacks = new Int32Array(count).fill(-1);
  for (let id = 0; id < place.length; id += 1) {
    if (place[id]! > 0) stacks[place[id]!] = id;
  }
  return { stacks, ofRow: stack.map((id) => (id < 0 ? 0 : place[id]!)) };
}

/** Does actions in their order to each used stack. */
export function operate(profile: Profile, used: UsedStacks, actions: readonly Action[]): Operated {
  if (actions.length === 0) return { stacks: profile.stacks, stackOf: used.stacks, effects: [] };
  const work = new Work(profile);
  const table = new StackTable();
  const stackOf = new Int32Array(used.stacks.length);
  const effects = actions.map(() => new Uint8Array(used.stacks.length));
  for (let place = 0; place < used.stacks.length; place += 1) {
    work.load(used.stacks[place]!);
    const isKept = actions.every((action, index) => {
      const effect = work.act(action);
      effects[index]![place] = effect;
      return effect !== DID_REMOVE;
    });
    stackOf[place] = isKept ? table.add(work.path, work.length) : REMOVED;
  }
  return { stacks: table.finish(), stackOf, effects };
}

/** A stack that is changed, root first, in room that is used again. */
class Work {
  path = new Int32Array(1_024);
  length = 0;
  readonly #profile: Profile;
  readonly #functionOf: Int32Array;
  /** By function: where it stands in the stack at hand; beyond its end where it does not. */
  readonly #lastAt: Int32Array;

  constructor(profile: Profile) {
    this.#profile = profile;
    this.#functionOf = profile.frames.function;
    this.#lastAt = new Int32Array(profile.functions.count).fill(-1);
  }

  load(stack: number): void {
    const { parent, frame } = this.#profile.stacks;
    let length = 0;
    for (let id = stack; id >= 0; id = parent[id]!) {
      if (length === this.path.length) this.#grow();
      this.path[length++] = frame[id]!;
    }
    this.length = length;
    this.path.subarray(0, length).reverse();
  }

  /** Does one action, and tells its effect. */
  act(action: Action): number {
    const [length, leaf] = [this.length, this.#leaf()];
    if (!this.#apply(action)) return DID_REMOVE;
    const isMoved = action.kind !== 'invert' && this.#leaf() !== leaf;
    return (this.length < length ? DID_CHANGE : 0) | (isMoved ? DID_MOVE : 0);
  }

  #grow(): void {
    const larger = new Int32Array(this.path.length * 2);
    larger.set(this.path);
    this.path = larger;
  }

  #leaf(): number {
    return this.length === 0 ? -1 : this.#functionOf[this.path[this.length - 1]!]!;
  }

  /** False where the samples are removed. */
  #apply({ kind, functions }: Action): boolean {
    switch (kind) {
      case 'focus':
        return this.#find(functions) >= 0;
      case 'focus-leaves':
        return this.length > 0 && functions[this.#leaf()] === 1;
      case 'root-at':
        return this.#rootAt(this.#find(functions));
      case 'prune':
        return this.#find(functions) < 0;
      case 'prune-leaves':
        return this.length === 0 || functions[this.#leaf()] !== 1;
      case 'charge':
        this.#without(functions, true);
        return true;
      case 'hide':
        return this.#without(functions, false);
      case 'flatten':
        this.#flatten(functions);
        return true;
      case 'flatten-recursion':
        this.#flattenRecursion();
        return true;
      case 'invert':
        this.path.subarray(0, this.length).reverse();
        return true;
    }
  }

  /** The place of the outermost chosen function; -1 without any. */
  #find(functions: Uint8Array): number {
    for (let at = 0; at < this.length; at += 1) {
      if (functions[this.#functionOf[this.path[at]!]!] === 1) return at;
    }
    return -1;
  }

  #rootAt(root: number): boolean {
    if (root < 0) return false;
    this.path.copyWithin(0, root, this.length);
    this.length -= root;
    return true;
  }

  /** Takes out chosen functions; false if nothing is left of what was there. `keepsRoot` leaves the outermost one then. */
  #without(functions: Uint8Array, keepsRoot: boolean): boolean {
    if (this.length === 0) return true;
    const root = this.path[0]!;
    let kept = 0;
    for (let at = 0; at < this.length; at += 1) {
      const frame = this.path[at]!;
      if (functions[this.#functionOf[frame]!] !== 1) this.path[kept++] = frame;
    }
    if (kept === 0 && keepsRoot) this.path[kept++] = root;
    this.length = kept;
    return kept > 0;
  }

  #flatten(functions: Uint8Array): void {
    let [kept, wasChosen] = [0, false];
    for (let at = 0; at < this.length; at += 1) {
      const frame = this.path[at]!;
      const isChosen = functions[this.#functionOf[frame]!] === 1;
      if (!(isChosen && wasChosen)) this.path[kept++] = frame;
      wasChosen = isChosen;
    }
    this.length = kept;
  }

  /** Takes out what lies between two calls of one function. */
  #flattenRecursion(): void {
    const lastAt = this.#lastAt;
    let kept = 0;
    for (let at = 0; at < this.length; at += 1) {
      const frame = this.path[at]!;
      const id = this.#functionOf[frame]!;
      const known = lastAt[id]!;
      // What was below the first call is left behind; places beyond the end count no more.
      if (known >= 0 && known < kept && this.#functionOf[this.path[known]!] === id) kept = known;
      lastAt[id] = kept;
      this.path[kept++] = frame;
    }
    this.length = kept;
  }
}
