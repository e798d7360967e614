// Operations done to the distinct stacks that samples have, with the rules of `src/calltree/operations/`.
//
// Parents precede their stacks in the table, so most operations take one pass: the result for a stack follows from the result for its
// parent. Only `invert` needs complete stacks.

import type { Action } from './operations.ts';
import { PairTable } from './pair_table.ts';
import type { Profile, Stacks } from './profile.ts';
import { StackTable } from './stack_table.ts';
import { type KnownPlace, callerAt, stacksAt } from './tree_place.ts';

/** Samples of a stack are removed. */
export const REMOVED = -2;
/** No frames: samples whose stack was not recorded. */
const EMPTY = -1;

/** Bits for the effect of an operation on a stack. */
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

/** The distinct stacks of samples, in ascending order, after -1 for samples without a stack. */
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
  const stacks = new Int32Array(count).fill(EMPTY);
  for (let id = 0; id < place.length; id += 1) {
    if (place[id]! > 0) stacks[place[id]!] = id;
  }
  const ofRow = new Int32Array(stack.length);
  for (let row = 0; row < stack.length; row += 1) {
    if (stack[row]! >= 0) ofRow[row] = place[stack[row]!]!;
  }
  return { stacks, ofRow };
}

/** Applies actions in order to each used stack. */
export function operate(profile: Profile, used: UsedStacks, actions: readonly Action[]): Operated {
  const functionOf = profile.frames.function;
  let stacks: Stacks = profile.stacks;
  let stackOf = used.stacks;
  const effects = actions.map((action) => {
    const step = act(action, stacks, stackOf, functionOf);
    const [before, after] = [new Leaves(stacks, functionOf), new Leaves(step.stacks, functionOf)];
    const effect = new Uint8Array(stackOf.length);
    stackOf = stackOf.map((stack, place) => {
      if (stack === REMOVED) return REMOVED;
      const now = step.become(stack);
      effect[place] = now === REMOVED ? DID_REMOVE : effectOf(action, before, stack, after, now);
      return now;
    });
    stacks = step.stacks;
    return effect;
  });
  return { stacks, stackOf, effects };
}

/** True if actions only remove samples, so that stacks stay what they are. */
export function areFilters(actions: readonly Action[]): boolean {
  return actions.every(({ kind }) => ['focus', 'focus-leaves', 'prune', 'prune-leaves'].includes(kind));
}

/** A table of stacks after an action, and the new stack for each old one. */
interface Step {
  readonly stacks: Stacks;
  readonly become: (stack: number) => number;
}

/** The depths and the leaves of a table of stacks. */
class Leaves {
  readonly #frame: Int32Array;
  readonly #functionOf: Int32Array;
  readonly #depth: Int32Array;

  constructor({ count, parent, frame }: Stacks, functionOf: Int32Array) {
    this.#frame = frame;
    this.#functionOf = functionOf;
    this.#depth = new Int32Array(count);
    for (let stack = 0; stack < count; stack += 1) {
      const above = parent[stack]!;
      this.#depth[stack] = above < 0 ? 1 : this.#depth[above]! + 1;
    }
  }

  depth(stack: number): number {
    return stack < 0 ? 0 : this.#depth[stack]!;
  }

  leaf(stack: number): number {
    return stack < 0 ? -1 : this.#functionOf[this.#frame[stack]!]!;
  }
}

function effectOf({ kind }: Action, before: Leaves, stack: number, after: Leaves, now: number): number {
  const isMoved = kind !== 'invert' && after.leaf(now) !== before.leaf(stack);
  return (after.depth(now) < before.depth(stack) ? DID_CHANGE : 0) | (isMoved ? DID_MOVE : 0);
}

function act({ kind, functions, place }: Action, stacks: Stacks, stackOf: Int32Array, functionOf: Int32Array): Step {
  if (place?.direction === 'up') return actUp(kind, place, stacks, stackOf, functionOf);
  const isAt = place && stacksAt(place, stacks, functionOf);
  const isChosen = (stack: number): boolean => (isAt === undefined ? functions[functionOf[stacks.frame[stack]!]!] : isAt[stack]) === 1;
  const filter = (isKept: (stack: number) => boolean): Step => ({
    stacks,
    become: (stack) => (isKept(stack) ? stack : REMOVED),
  });
  switch (kind) {
    case 'focus': {
      const has = havingOne(stacks, isChosen);
      return filter((stack) => stack >= 0 && has[stack] === 1);
    }
    case 'focus-leaves':
      return filter((stack) => stack >= 0 && isChosen(stack));
    case 'prune': {
      const has = havingOne(stacks, isChosen);
      return filter((stack) => stack < 0 || has[stack] === 0);
    }
    case 'prune-leaves':
      return filter((stack) => stack < 0 || !isChosen(stack));
    case 'root-at':
      return rebuilt(stacks, REMOVED, (stack, above, table) => {
        if (above === REMOVED) return isChosen(stack) ? table.add(EMPTY, stacks.frame[stack]!) : REMOVED;
        return table.add(above, stacks.frame[stack]!);
      });
    case 'charge':
      return charged(stacks, isChosen);
    case 'collapse': {
      const has = havingOne(stacks, isChosen);
      return rebuilt(stacks, EMPTY, (stack, above, table) => {
        const caller = stacks.parent[stack]!;
        return caller >= 0 && has[caller] === 1 ? above : table.add(above, stacks.frame[stack]!);
      });
    }
    case 'hide': {
      const step = rebuilt(stacks, EMPTY, (stack, above, table) =>
        isChosen(stack) ? above : table.add(above, stacks.frame[stack]!),
      );
      return { ...step, become: (stack) => (stack >= 0 && step.become(stack) === EMPTY ? REMOVED : step.become(stack)) };
    }
    case 'flatten':
      return rebuilt(stacks, EMPTY, (stack, above, table) => {
        const caller = stacks.parent[stack]!;
        const isInside = isChosen(stack) && caller >= 0 && isChosen(caller);
        return isInside ? above : table.add(above, stacks.frame[stack]!);
      });
    case 'flatten-recursion':
      return rebuilt(stacks, EMPTY, (stack, above, table) => {
        const frame = stacks.frame[stack]!;
        const first = firstCall(table, above, functionOf, functionOf[frame]!);
        // The part below the first call is dropped, and this frame replaces it.
        return table.add(first === REMOVED ? above : first, frame);
      });
    case 'invert':
      return inverted(stacks, stackOf);
  }
}

/** The same at a place of the bottom-up tree: applied to reversed stacks. */
function actUp(kind: Action['kind'], place: KnownPlace, stacks: Stacks, stackOf: Int32Array, functionOf: Int32Array): Step {
  const at = (stack: number): number => (stack < 0 ? EMPTY : callerAt(place, stacks, functionOf, stack));
  switch (kind) {
    case 'root-at':
      return { stacks, become: (stack) => (at(stack) < 0 ? REMOVED : at(stack)) };
    case 'prune':
      return { stacks, become: (stack) => (at(stack) < 0 ? stack : REMOVED) };
    case 'charge':
      return chargedAt(stacks, stackOf, at);
    default:
      throw new Error(`${kind} does not apply to a place`);
  }
}

/** Removes one frame from used stacks: the innermost that `at` returns. A stack with no other frame keeps it. */
function chargedAt(stacks: Stacks, stackOf: Int32Array, at: (stack: number) => number): Step {
  const table = new PairTable(stacks.count);
  const now = new Int32Array(stacks.count);
  for (let stack = 0; stack < stacks.count; stack += 1) {
    const above = stacks.parent[stack]!;
    now[stack] = table.add(above < 0 ? EMPTY : now[above]!, stacks.frame[stack]!);
  }
  const become = new Map<number, number>();
  for (const stack of stackOf) {
    const charged = at(stack);
    if (charged < 0 || become.has(stack)) continue;
    const callees: number[] = [];
    for (let id = stack; id !== charged; id = stacks.parent[id]!) callees.push(stacks.frame[id]!);
    const above = stacks.parent[charged]!;
    if (above < 0 && callees.length === 0) continue;
    become.set(stack, callees.reduceRight((caller, frame) => table.add(caller, frame), above < 0 ? EMPTY : now[above]!));
  }
  const { count, first, second } = table.finish();
  return { stacks: { count, parent: first, frame: second }, become: (stack) => (stack < 0 ? EMPTY : (become.get(stack) ?? now[stack]!)) };
}

/** By stack: 1 if a frame of it is chosen. */
function havingOne({ count, parent }: Stacks, isChosen: (stack: number) => boolean): Uint8Array {
  const has = new Uint8Array(count);
  for (let stack = 0; stack < count; stack += 1) {
    const above = parent[stack]!;
    has[stack] = (above >= 0 && has[above] === 1) || isChosen(stack) ? 1 : 0;
  }
  return has;
}

/** A table of what each stack becomes; `next` has it by the stack and what became of its parent, which of none is `start`. */
function rebuilt(
  { count, parent }: Stacks,
  start: number,
  next: (stack: number, above: number, table: PairTable) => number,
): Step {
  const table = new PairTable(count);
  const now = new Int32Array(count);
  for (let stack = 0; stack < count; stack += 1) {
    const above = parent[stack]!;
    now[stack] = next(stack, above < 0 ? start : now[above]!, table);
  }
  const { count: found, first, second } = table.finish();
  // A stack that was not recorded has no function.
  return { stacks: { count: found, parent: first, frame: second }, become: (stack) => (stack < 0 ? start : now[stack]!) };
}

/** Removes chosen frames; a stack with only such frames keeps its outermost frame. */
function charged(stacks: Stacks, isChosen: (stack: number) => boolean): Step {
  const root = new Int32Array(stacks.count);
  const table = new PairTable(stacks.count);
  const now = new Int32Array(stacks.count);
  for (let stack = 0; stack < stacks.count; stack += 1) {
    const above = stacks.parent[stack]!;
    root[stack] = above < 0 ? stacks.frame[stack]! : root[above]!;
    const before = above < 0 ? EMPTY : now[above]!;
    now[stack] = isChosen(stack) ? before : table.add(before, stacks.frame[stack]!);
  }
  for (let stack = 0; stack < stacks.count; stack += 1) {
    if (now[stack] === EMPTY) now[stack] = table.add(EMPTY, root[stack]!);
  }
  const { count, first, second } = table.finish();
  // An outermost frame that stays was added last, but has no parent.
  return { stacks: { count, parent: first, frame: second }, become: (stack) => (stack < 0 ? EMPTY : now[stack]!) };
}

/** The parent of the stack in which a function is called first, from a stack on up; `REMOVED` if it is not called there. */
function firstCall(table: PairTable, stack: number, functionOf: Int32Array, id: number): number {
  for (let at = stack; at >= 0; at = table.first(at)) {
    if (functionOf[table.second(at)] === id) return table.first(at);
  }
  return REMOVED;
}

/** Reverses used stacks, one after the other. */
function inverted(stacks: Stacks, stackOf: Int32Array): Step {
  const table = new StackTable();
  const now = new Int32Array(stacks.count).fill(REMOVED);
  let path = new Int32Array(1_024);
  for (const stack of stackOf) {
    let length = 0;
    for (let id = stack; id >= 0; id = stacks.parent[id]!) {
      if (length === path.length) {
        const larger = new Int32Array(2 * length);
        larger.set(path);
        path = larger;
      }
      path[length++] = stacks.frame[id]!;
    }
    if (stack >= 0) now[stack] = table.add(path, length);
  }
  return { stacks: table.finish(), become: (stack) => (stack < 0 ? EMPTY : now[stack]!) };
}
